"""The money thread: the one owner of the book, the table sessions and the ledger's only writing connection.

It takes what waits, decides each, writes all, commits once, then hands the effects back. Nothing leaves before COMMIT.
A commit that raises ends the daemon: its outcome is unknown, and only the ledger itself can say.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Final, NamedTuple

import structlog

from meterd.accounting.book import Book, stored_levels
from meterd.accounting.commands import SYSTEM, Claim, CloseTable, Command, Note
from meterd.accounting.commands_streak import ClaimBoard, Number
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.rules import Decision
from meterd.accounting.state import TableStatus
from meterd.app.asked import Asked, following, unheard
from meterd.app.clocks import Clocks
from meterd.app.commit import Committer
from meterd.app.days import Days, began
from meterd.app.effects import Effects, UnitKey, closed_outputs, sign_wanted, table_wanted
from meterd.app.inbox import Inbox
from meterd.app.rows import stamps
from meterd.app.snapshot import about_json, fund_json, link_json, recent_awards, table_json
from meterd.app.stats import Stats
from meterd.app.telling import facts_of, level_of
from meterd.app.volumes import Standing
from meterd.config import NOBODY, People, Site, UnitWanted
from meterd.edge.clock import Clock
from meterd.edge.sign import SignWanted
from meterd.edge.store import Store
from meterd.errors import InvariantBroken, LedgerError, MeterdError, MisuseError, require
from meterd.floor.router import Router
from meterd.floor.session import DeviceEvent, TableSession
from meterd.ledger.note import Checkpoint
from meterd.money import whole_cents
from protocols.events import DeviceDown, DeviceUp

HEARTBEAT_S: Final = 0.5  # how long the thread sleeps at most; it then checks the clock and the sum of all accounts

TIDY_ENTRIES: Final = 200  # below the thousand pages at which SQLite would do it by itself, in the middle of a commit

SIGN_LAG_S: Final = 2.0  # a line carries four writes a second; a win stands on every sign within this
DRAIN_S: Final = 2.0  # on the way out; a slow disk must not keep a stop waiting for a full queue

_LEVELS: Final = {"info": 20, "warning": 30}

log = structlog.get_logger()


class Ask(NamedTuple):
    """A command from outside (page, command line), where its answer goes, after commit, and who asked for it."""

    command: Command
    answer: Future[Decision]
    asked: Asked | None = None


class MoneyLoop:
    """Owns all state. Everybody else offers to :attr:`inbox` and receives :class:`Effects`."""

    def __init__(
        self,
        site: Site,
        book: Book,
        store: Store,
        clock: Clock,
        publish: Callable[[Effects], None],
        signs_shown: Callable[[str], Mapping[str, int]] = lambda _link: {},
        overran: Callable[[str], None] = lambda _bus: None,
        alive: Callable[[], None] = lambda: None,
        people: People = NOBODY,
        standing: Standing | None = None,
        day_read: Callable[[Checkpoint], None] = lambda _checkpoint: None,
    ) -> None:
        """Nothing starts before :meth:`run`. All callables are called from this thread.

        Args:
            site: the frozen site file, already compared with the book.
            book: the fold of the whole ledger.
            store: the open ledger.
            clock: the machine's clocks.
            publish: takes the effects after each commit.
            signs_shown: link → level → cents last written to a sign, so that a claim can record it.
            overran: told that a bus has lost events and must begin again with a baseline.
            people: whose badges count on the pads.
            standing: where the ledger stands; without it no gaming day ends.
            day_read: told the ledger up to each day's reading, to be signed.
            alive: called after each round of the thread, at least every ``HEARTBEAT_S`` and a commit.
        """
        self.site = site
        self.book = book
        self.inbox = Inbox()
        self.stats = Stats()
        self.failure: MeterdError | None = None
        self._store = store
        self._clock = clock
        self._publish = publish
        self._signs_shown = signs_shown
        self._overran = overran
        self._alive = alive
        self.started = threading.Event()
        self.committer = Committer(book, store, stamps(clock), standing)
        if store.sealed:
            self.committer.begin_volume()  # the last run did not come to it
        self._days: Days | None = None
        if standing is not None:
            self._days = Days(site, self.committer, day_read, began(store), clock.synchronised)
        self._router = Router(site.tables, people)
        self._configs = {table.settings.id: table for table in site.tables}
        self._sessions: dict[str, TableSession] = {s.table_id: s for s in self._router.sessions}
        self._touched: set[str] = set(self._configs)
        self._touched_links: set[str] = set(book.links)
        self._tables_json: dict[str, Any] = {}
        self._links_json: dict[str, Any] = {}
        self._funds_json: dict[str, Any] = {}
        self._devices_json: dict[str, Any] = {}
        self._units: dict[UnitKey, UnitWanted] = {}
        self._signs: dict[str, SignWanted] = {}
        self._awards_json: list[dict[str, Any]] = []
        self._displays = {  # link/level → display after its last entry
            f"{link}/{name}": level.display_microcents
            for link, state in book.links.items()
            for name, level in state.levels.items()
        }
        self._fell_s: dict[str, float] = {}  # link/level → when the display last fell
        self._stopping = threading.Event()
        self._stop_by_s = 0.0
        self._closed: str | None = None
        self._committed = (book.seq, book.at_utc)
        self._tidied_seq = book.seq
        self._asked: list[Future[Decision]] = []  # taken from the queue and not answered yet
        self._answers: list[tuple[Future[Decision], Decision]] = []
        self._residual = book.residual_microcents()
        self._checked_s = time.monotonic()
        self._clocks = Clocks(time.monotonic)

    # ── the thread ──────────────────────────────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """Until :meth:`stop`, or until the ledger fails. Afterwards :attr:`failure` says which."""
        try:
            self._after(self.committer.commit())
            self.started.set()
            while not self._drained_long_enough():
                overrun, items = self.inbox.take(HEARTBEAT_S)
                if not items and not overrun and self._stopping.is_set():
                    break
                self._batch(overrun, items)
                if not len(self.inbox):
                    self._tidy()
            self._stopped()
        except (LedgerError, InvariantBroken) as error:
            self._fail(error)
        except Exception as error:
            log.critical("money.fault", exc_info=True)
            self._fail(InvariantBroken(f"the money thread failed: {error!r}"))
        finally:
            self.started.set()

    def stop(self) -> None:
        """Ask the thread to take what waits, for ``DRAIN_S`` at most, close all windows and end."""
        self._stop_by_s = time.monotonic() + DRAIN_S
        self._stopping.set()
        self.inbox.close()

    def _drained_long_enough(self) -> bool:
        """Whether what still waits is given up: nobody was told of it, and its devices begin anew at the next start."""
        return self._stopping.is_set() and time.monotonic() > self._stop_by_s

    # ── one batch ───────────────────────────────────────────────────────────────────────────────────────────────

    def _batch(self, overrun: Collection[str], items: list[Any]) -> None:
        self._check_clock()
        if overrun:
            lost = _told_by(overrun)
            self.inbox.drop(lost)
            items = [item for item in items if not lost(item)]
        for bus in overrun:
            self.stats.overruns[bus] += 1
            for device in sorted(d for d in self._router.devices if d.startswith(f"{bus}/")):
                self._device(DeviceDown(device, "overrun"))
            self._overran(bus)
        self._asked = [item.answer for item in items if isinstance(item, Ask)]
        for item in items:
            if isinstance(item, Ask):
                self._answers.append((item.answer, self._asked_for(item)))
                self._touched |= {str(getattr(item.command, "table", ""))} & self._configs.keys()
            else:
                self._device(item)
        if self.committer.waiting:
            began = time.perf_counter()
            entries = self.committer.commit()
            self.stats.commit_seconds.observe(time.perf_counter() - began)
            self.stats.batch_entries.observe(len(entries))
        else:
            entries = ()
        self._after(entries)

    def _device(self, event: DeviceEvent) -> None:
        """One device event: sessions turn it into commands, each decided on the book the one before left."""
        if isinstance(event, DeviceUp):
            self._devices_json = {**self._devices_json, event.device: {"up": True, "cause": None}}
        elif isinstance(event, DeviceDown):
            lost = {"up": False, "cause": event.cause, **({"found": event.found} if event.found else {})}
            self._devices_json = {**self._devices_json, event.device: lost}
        for session in self._router.sessions_for(event.device):
            self._touched.add(session.table_id)
            waiting = list(session.on_event(event, self.book))
            while waiting:
                command = self._with_signs(waiting.pop(0))
                decision = self._decide(command)
                waiting = list(session.on_decided(command, decision, self.book)) + waiting

    def _asked_for(self, item: Ask) -> Decision:
        refused = unheard(item.command, self._sessions, self.book) if item.asked is not None else None
        if refused is None and self._days is not None:
            refused = self._days.refuses(item.command)
        if refused is not None:
            return self.committer.refuse(item.command, refused, item.asked)
        decision = self._decide(self._with_signs(item.command), item.asked)
        for command in following(item.command, decision, self._sessions) if item.asked is not None else ():
            self._decide(command)
        return decision

    def _with_signs(self, command: Command) -> Command:
        """A claim as it is decided: with what the signs show above the meters at this moment."""
        if isinstance(command, Claim | ClaimBoard | Number):
            return replace(command, signs={**self._signs_above(command.table), **command.signs})
        return command

    def _decide(self, command: Command, asked: Asked | None = None) -> Decision:
        decision = self.committer.decide(command, asked)
        for entry in decision.entries:
            for key, values in stored_levels(entry).items():
                shown = values["display_microcents"]
                if shown < self._displays.get(key, 0):
                    self._fell_s[key] = time.monotonic()
                self._displays[key] = shown
                self._touched_links.add(key.partition("/")[0])  # a transfer moves a level of another link too
            if entry.table in self._configs:
                self._touched.add(entry.table)
            if entry.link in self.book.links:
                self._touched_links.add(entry.link)
        return decision

    def _signs_above(self, table_id: str) -> dict[str, int]:
        """Levels whose sign stands above the meter a claim is about to be decided on, with the cents on the sign (M4).

        A sign that has not yet been told of a fall of the last ``SIGN_LAG_S`` does not count: the order of the ledger
        decides between two wins at nearly the same time, and the second must not be paid the first one's jackpot.
        """
        table = self.book.tables.get(table_id)
        if table is None:
            return {}
        link = table.settings.link
        levels = self.book.links[link].levels
        told_s = time.monotonic() - SIGN_LAG_S
        return {
            name: cents
            for name, cents in self._signs_shown(link).items()
            if cents > whole_cents(levels[name].display_microcents)
            and self._fell_s.get(f"{link}/{name}", told_s) <= told_s
        }

    # ── after the commit ────────────────────────────────────────────────────────────────────────────────────────

    def _after(self, entries: tuple[Entry, ...]) -> None:
        """Only here does anything leave: all of it is on disk."""
        self._committed = (self.book.seq, self.book.at_utc)
        for entry in entries:
            self.stats.count(entry)
            log.log(_LEVELS[level_of(entry)], entry.kind.value, **facts_of(entry, self.site))
        self._check_sum()
        self._alive()
        besides = self._days.waits if self._days is not None else ()
        other = self._clocks.look(self.book, self._clock.now().at_utc, moved=bool(entries), besides=besides)
        if self._touched or self._touched_links or entries or other:
            self._publish(self._effects(bool(entries)))
        for future, decision in self._answers:
            if future.set_running_or_notify_cancel():  # else the asker has gone
                future.set_result(decision)
        self._answers.clear()
        self._asked.clear()

    def _effects(self, moved: bool) -> Effects:
        seq = self.book.seq
        for link_id in self._touched_links:
            self._links_json[link_id] = link_json(self.book, link_id)
        units: dict[UnitKey, UnitWanted] = {}
        for table_id in self._touched:
            session = self._sessions[table_id]
            self._tables_json[table_id] = table_json(self.book, table_id, session)
            for key, wanted in table_wanted(seq, self._configs[table_id], session, self.book).items():
                held = self._units.get(key)
                if held is None or held[1:] != wanted[1:]:
                    self._units[key] = units[key] = wanted
        signs: dict[str, SignWanted] = {}
        if moved or not self._signs:
            self._awards_json = recent_awards(self.book)
            self._funds_json = {fund: fund_json(self.book, fund) for fund in self.book.funds}
            for sign in self.site.signs:
                wanted_sign = sign_wanted(seq, sign, self.book)
                if sign.id not in self._signs or self._signs[sign.id][1:] != wanted_sign[1:]:
                    self._signs[sign.id] = signs[sign.id] = wanted_sign
        self._touched.clear()
        self._touched_links.clear()
        return Effects(seq, units, signs, self._snapshot())

    def _snapshot(self) -> dict[str, Any]:
        return {
            "seq": self._committed[0],
            "at_utc": self._committed[1],
            **about_json(self.site, self.book),
            "residual_microcents": self._residual,
            "closed": self._closed,
            "links": {link: self._links_json[link] for link in self.book.links if link in self._links_json},
            "tables": {table: self._tables_json[table] for table in self._configs if table in self._tables_json},
            "awards": self._awards_json,
            "funds": self._funds_json,
            "devices": self._devices_json,
            "due": self._clocks.to_json(),
        }

    def _tidy(self) -> None:
        """Nobody waits: move what the write-ahead log holds into the ledger's file, rather than during a commit."""
        if self._committed[0] - self._tidied_seq >= TIDY_ENTRIES:
            self._store.checkpoint()
            self.committer.tidy()
            self._tidied_seq = self._committed[0]

    # ── watching itself ─────────────────────────────────────────────────────────────────────────────────────────

    def _check_clock(self) -> None:
        instant = self._clock.now()
        step_ms = self._clock.step_ms(instant)
        if step_ms:
            facts = {"step_ms": step_ms, "now_utc": instant.at_utc}
            self._decide(Note(actor=SYSTEM, kind=Kind.CLOCK_STEP, facts=facts))
        if self._days is not None and (entries := self._days.check(instant)):
            self._after(entries)

    def _check_sum(self) -> None:
        """Once a second the whole book must sum to zero. Each entry does already; this guards the fold itself."""
        if time.monotonic() - self._checked_s < 1.0:
            return
        self._checked_s = time.monotonic()
        self._residual = self.book.residual_microcents()
        require(self._residual == 0, "the accounts do not sum to zero", residual_microcents=self._residual)

    def _stopped(self) -> None:
        """A clean end: windows close, one last entry, and the floor shows it."""
        for table_id in self._configs:
            if self.book.tables[table_id].state is TableStatus.CLOSED:
                continue  # closed already, and for a reason that must stand
            self._decide(CloseTable(actor=SYSTEM, table=table_id, reason="stopped"))
        heard = {name: n for session in self._sessions.values() for name, n in session.heard(self.book).items()}
        self._decide(Note(actor=SYSTEM, kind=Kind.STOPPED, facts={"heard": heard}))
        entries = self.committer.commit()
        self._after(entries)
        self._close_all("stopped")
        self._give_up_waiting(MisuseError("the daemon has stopped"))

    def _fail(self, error: MeterdError) -> None:
        self.failure = error
        log.critical("money.closed", cause=str(error))
        self.inbox.close()
        self._close_all(str(error))
        self._give_up_waiting(error)

    def _give_up_waiting(self, error: MeterdError) -> None:
        """Whoever still waits for an answer hears that none will come."""
        while items := self.inbox.take(0)[1]:
            self._asked += [item.answer for item in items if isinstance(item, Ask)]
        for future in self._asked:
            if not future.done() and future.set_running_or_notify_cancel():
                future.set_exception(error)

    def _close_all(self, reason: str) -> None:
        """The safe state for every output; shows nothing that is not on disk."""
        self._closed = reason
        seq = self._committed[0]
        units, signs = closed_outputs(seq, self.site)
        self._publish(Effects(seq, units, signs, self._snapshot()))


def _told_by(buses: Collection[str]) -> Callable[[Any], bool]:
    """Whether an item of the queue was told by a device on one of these buses."""
    return lambda item: not isinstance(item, Ask) and item.device.partition("/")[0] in buses
