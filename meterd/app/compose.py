"""How a daemon is put together, started and stopped. The only file that knows all rooms.

Start: ledger's lock → open volume → fold → compare parameters → outputs safe → control socket → READY → ports.
Stop: windows close, the queue is drained, a last entry, outputs safe, the ledger's WAL is checkpointed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog

from meterd import __version__
from meterd.accounting.commands import SYSTEM, Note
from meterd.accounting.entries import Kind
from meterd.app.acts import ActDesk
from meterd.app.checkpoints import Kept, keeper_for, remembered, require_not_shorter, require_same
from meterd.app.effects import Effects
from meterd.app.last_backup import require_backed_up
from meterd.app.loop import MoneyLoop
from meterd.app.memory import settle
from meterd.app.pads import PadDesk
from meterd.app.parameters import differences, next_step
from meterd.app.sas import SasDesk
from meterd.app.stats import WireHealth
from meterd.app.volumes import Standing, open_standing
from meterd.app.wires import WireDesk
from meterd.config import NOBODY, People, Site
from meterd.edge.clock import Clock
from meterd.edge.control import Answer, ControlServer
from meterd.edge.keys import SigningKey
from meterd.edge.modbus import ModbusBus
from meterd.edge.modbus_identity import Identities
from meterd.edge.modbus_line import BusStats
from meterd.edge.notify import notify, watchdog_interval_s
from meterd.edge.secrets import SignIns
from meterd.edge.sign import SignBus, wall_time
from meterd.edge.store import Store
from meterd.errors import EXIT_DONE, EXIT_LEDGER, ConfigError, LedgerError
from meterd.ledger.record import Record
from protocols.events import DeviceDown, DeviceUp, InputStuck, Reading

TICK_S: Final = 0.25  # how often the wire loop shows that it lives
TICK_STALE_S: Final = 2.0  # a wire loop older than this no longer earns the watchdog's trust
MONEY_STALE_S: Final = 5.0  # a money thread not heard of for so long: signs say CLOSED until it is
TELL_ENTRIES: Final = 20_000  # read in about a second
TELL_EXTENDS_S: Final = 60
GRACE_S: Final = 8.0  # for the safe state on the way out; a sign whose memory is just being set up needs six of them

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Places:
    """Where a daemon keeps things: its ledger, its socket, what it remembers of its signs, frames of its wires.

    ``people``: where its people file is, or would be.
    """

    ledger: Path
    socket: Path
    memory: Path
    frames: Path | None = None
    people: Path | None = None


def _telling(records: Iterator[Record]) -> Iterator[Record]:
    """Pass entries on, and ask the service manager for more time now and then: a long ledger takes a while to read."""
    for record in records:
        if record.seq % TELL_ENTRIES == 0:
            notify(f"EXTEND_TIMEOUT_USEC={TELL_EXTENDS_S * 1_000_000}\nSTATUS=reading the ledger, entry {record.seq}")
        yield record


def open_book(site: Site, store: Store, *, demo: bool, kept: Sequence[Kept] = ()) -> Standing:
    """Fold the open volume and hold it against the site file, the checkpoints that were kept, and the last backup.

    Raises:
        LedgerError: a demo ledger in production, or the other way round; less than a checkpoint or a backup proves.
        ConfigError: the site file is not what the ledger has in force.
    """
    require_not_shorter(store.seq, kept)
    standing = open_standing(store, {one.checkpoint.size: one.checkpoint.root for one in kept}, _telling)
    require_same(standing, kept)
    require_backed_up(store, standing.origin)
    book = standing.book
    if book.demo and not demo:
        raise LedgerError("this is a demo ledger: no real wager may enter it. Point --ledger at the floor's own ledger")
    if demo and not book.demo:
        raise LedgerError("this is a real ledger: a demo may not write to it. Give the demo an empty folder")
    if found := differences(site, book):
        raise ConfigError(
            "the site file is not what the ledger has in force:\n  " + "\n  ".join(found) + f"\n{next_step(site, book)}"
        )
    return standing


class Daemon:
    """``meterd run``: the wire loop in the main thread, the money thread beside it."""

    def __init__(
        self,
        site: Site,
        site_text: str,
        places: Places,
        *,
        demo: bool,
        log_dropped: Callable[[], int] = lambda: 0,
        people: People | None = None,
        pad_keys: Mapping[str, bytes] | None = None,
        key: SigningKey | None = None,
    ) -> None:
        """Opens the ledger and folds it; touches no port yet. ``log_dropped`` counts the log lines nobody took.

        ``people`` None: there is no people file, and nobody may act over the socket. ``pad_keys``: one an OSDP pad.
        """
        self.site = site
        self._places = places
        self._log_dropped = log_dropped
        self._store = Store.open(places.ledger)
        self._clock = Clock()
        folders = [places.ledger, *([Path(site.checkpoints_to)] if site.checkpoints_to else [])]
        standing = open_book(site, self._store, demo=demo, kept=(kept := remembered(folders)))
        self._keeper = keeper_for(self._store, standing, key, folders, kept)
        settle()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._latest: dict[Any, Any] = {}
        self._scheduled = False
        self.snapshot: Mapping[str, Any] = {}
        self._health = WireHealth()
        self._watchdog_s = watchdog_interval_s()
        self._fed_s = 0.0
        self._stop = asyncio.Event()
        self._site_sha256 = hashlib.sha256(site_text.encode()).hexdigest()
        self.money = MoneyLoop(
            site,
            standing.book,
            self._store,
            self._clock,
            self._publish,
            signs_shown=self._signs_shown,
            overran=self._overran,
            alive=self._feed_watchdog,
            people=people or NOBODY,
            standing=standing,
            day_read=self._keeper.take,
        )
        self.money.committer.decide(Note(actor=SYSTEM, kind=Kind.STARTED, facts=self._about()))
        self._sign_ins = SignIns(people or NOBODY)
        self._acts = ActDesk(
            people, self._sign_ins, self.money.inbox, places.ledger, lambda: self.snapshot, places.people
        )
        self._bus_stats = {bus.id: BusStats() for bus in site.buses if bus.kind == "modbus"}
        self._wires = WireDesk(site)
        self._tells: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "stats": lambda _: self._stats(),
            "wire": self._wires.wire,
            "ports": lambda _: self._wires.ports(self._line_state),
        }
        self._buses = self._modbus_lines()
        self._pads = PadDesk(site, pad_keys or {}, self.money.inbox.offer, self._wires.tracer_of_port)
        self._signs = self._sign_lines()
        self._sas = SasDesk(site, self.money.inbox, lambda: int(self.snapshot.get("seq", 0)))
        self._sign_bus = {sign.id: self._signs[sign.bus] for sign in site.signs}

    def _modbus_lines(self) -> dict[str, ModbusBus]:
        site = self.site
        known = Identities.of(module for table in site.tables for module in table.modules)
        return {
            bus.id: ModbusBus(
                bus,
                site.modules_of(bus.id),
                site.poll,
                self._sink(bus.id),
                self._bus_stats[bus.id],
                identities=known,
                trace=self._wires.tracer(bus.id),
            )
            for bus in site.buses
            if bus.kind == "modbus"
        }

    def _sign_lines(self) -> dict[str, SignBus]:
        return {
            bus.id: SignBus(
                bus,
                [sign for sign in self.site.signs if sign.bus == bus.id],
                self._places.memory,
                wall=partial(wall_time, self.site.timezone),
                trace=self._wires.tracer(bus.id),
            )
            for bus in self.site.buses
            if bus.kind == "alpha"
        }

    def _about(self) -> dict[str, str]:
        return {"version": __version__, "site_sha256": self._site_sha256, "boot": self._clock.boot}

    # ── from the wires to the money thread ──────────────────────────────────────────────────────────────────────

    def _sink(self, bus: str) -> Callable[[DeviceUp | Reading | DeviceDown | InputStuck], None]:
        def offer(event: DeviceUp | Reading | DeviceDown | InputStuck) -> None:
            self.money.inbox.offer(event, bus)

        return offer

    def _overran(self, bus: str) -> None:
        if self._loop is None:
            return
        if bus in self._buses:
            self._loop.call_soon_threadsafe(self._buses[bus].rebaseline)
        elif self._pads.has(bus):
            self._loop.call_soon_threadsafe(self._pads.rebaseline, bus)

    def _signs_shown(self, link: str) -> dict[str, int]:
        """Cents that the signs of a link last got, by level; the highest where several signs show one level."""
        shown: dict[str, int] = {}
        for sign in self.site.signs:
            cents = self._sign_bus[sign.id].shown_cents(sign.id)
            for (link_id, level), value in zip(sign.shows, cents, strict=False):
                if link_id == link and value is not None:
                    shown[level] = max(shown.get(level, 0), value)
        return shown

    # ── from the money thread to the wires ──────────────────────────────────────────────────────────────────────

    def _publish(self, effects: Effects) -> None:
        """Called by the money thread after a commit: keep the newest of each, wake the wire loop once."""
        with self._lock:
            self._latest.update(effects.units)
            self._latest.update(effects.signs)
            self.snapshot = effects.snapshot
            if self._scheduled or self._loop is None:
                return
            self._scheduled = True
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to show anything
            self._loop.call_soon_threadsafe(self._apply)

    def _apply(self) -> None:
        with self._lock:
            latest, self._latest = self._latest, {}
            self._scheduled = False
        for key, wanted in latest.items():
            if isinstance(key, tuple):
                bus, unit = key
                if bus in self._buses:
                    self._buses[bus].want(unit, wanted)
                else:
                    self._pads.want(bus, unit, wanted)
            else:
                self._sign_bus[key].want(key, wanted)
        self._control.announce_soon()

    # ── life ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(self) -> int:
        """Until SIGTERM or a fault; the exit code says which."""
        self._loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stop.set)
        self._loop.add_signal_handler(
            signal.SIGHUP, lambda: log.warning("run.sighup_ignored", advice="a restart is the reload")
        )
        self._control = ControlServer(self._places.socket, lambda: dict(self.snapshot), self._answer)
        try:
            self._control.open()  # before the first entry: a start that cannot be asked anything leaves no trace
        except ConfigError:
            self._store.close()
            raise
        thread = threading.Thread(target=self._money_thread, name="money")
        thread.start()
        try:
            return await self._live(thread)
        finally:
            self.money.stop()  # whatever happened: a thread left alone would keep the process and the ledger's lock
            await asyncio.to_thread(thread.join)
            await self._control.stop()
            self._sign_ins.close()

    async def _live(self, thread: threading.Thread) -> int:
        """From the first commit to the exit code."""
        await asyncio.to_thread(self.money.started.wait)
        await self._control.start()
        if self.money.failure is None:  # else nothing begins but the way out
            notify(f"READY=1\nSTATUS={len(self.site.links)} links, {len(self.site.tables)} tables")
            log.info("run.ready", tables=len(self.site.tables), seq=self._store.seq)
        lives = [bus.run() for bus in self._buses.values()] + [bus.run() for bus in self._signs.values()]
        tasks = [
            asyncio.create_task(life)
            for life in (*lives, *self._pads.lives(), self._wires.keep(self._places.frames), self._tick())
        ]
        with self._lock:
            self._scheduled = True
        self._apply()
        await self._stop.wait()
        notify("STOPPING=1")
        self.money.stop()
        await asyncio.to_thread(thread.join)
        await self._go_safe()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._control.stop()
        failed = self.money.failure is not None
        try:
            self._store.close()
        except LedgerError as error:
            log.critical("run.not_closed_well", cause=str(error))
            failed = True
        log.info("run.ended", failed=failed)
        return EXIT_LEDGER if failed else EXIT_DONE

    def _money_thread(self) -> None:
        self.money.run()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)

    async def _go_safe(self) -> None:
        """Lamps dark, signs CLOSED, as far as the wires take it in ``GRACE_S``."""
        ends = [bus.go_safe() for bus in self._buses.values()] + [bus.go_closed() for bus in self._signs.values()]
        ends += self._pads.go_safe()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await asyncio.gather(*ends, return_exceptions=True)

    async def _tick(self) -> None:
        """Shows that the wire loop lives, and how late it wakes; closes the signs while the money thread does not."""
        self._health.money_s = time.monotonic()
        while True:
            due = time.monotonic() + TICK_S
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            self._health.lag_s_max = max(self._health.lag_s_max, now - due)
            self._health.tick_s = now
            unheard = now - self._health.money_s > MONEY_STALE_S
            if unheard != self._health.unheard:
                self._health.unheard = unheard
                log.critical("run.money_stalled" if unheard else "run.money_back")
                for signs in self._signs.values():
                    signs.unheard(unheard)

    def _feed_watchdog(self) -> None:
        """From the money thread: the manager hears of us only while both threads live."""
        now = self._health.money_s = time.monotonic()
        if self._watchdog_s is None or now - self._fed_s < self._watchdog_s / 2:
            return
        if now - self._health.tick_s < TICK_STALE_S:
            self._fed_s = now
            notify("WATCHDOG=1")

    async def _answer(self, request: dict[str, Any], uid: int) -> Answer:
        if (tell := self._tells.get(str(request.get("op")))) is not None:
            return tell(request)
        match request.get("op"):
            case "act":
                return await self._acts.act(request, uid)
            case "sas_win":
                return await self._sas.win(request, uid)
            case "sas_status":
                return self._sas.told(request, uid)
            case other:
                return {"error": f"unknown op {other!r}: ask for snapshot, subscribe, stats, wire, ports or act"}

    def _line_state(self, bus: str) -> Answer:
        """Whether the port of a bus is open, and if not why."""
        if (stats := self._bus_stats.get(bus)) is not None:
            return {"up": stats.port_up, "cause": stats.port_cause, **stats.hints()}
        if bus in self._signs:
            return {"up": self._signs[bus].up, "cause": self._signs[bus].cause}
        pads = self._pads.to_json().get(bus, {})
        return {"up": pads["port_up"], "cause": pads["port_cause"]} if "port_up" in pads else {}

    def _stats(self) -> Answer:
        return {
            **self.money.stats.to_json(),
            **self._about(),
            "checkpoints": self._keeper.state(),
            "queue": len(self.money.inbox),
            "log_dropped": self._log_dropped(),
            "loop_lag_seconds_max": self._health.lag_s_max,
            "frames": self._wires.kept(),
            "buses": {bus_id: stats.to_json() for bus_id, stats in self._bus_stats.items()},
            "pads": self._pads.to_json(),
            "signs": {sign.id: self._sign_bus[sign.id].status(sign.id) for sign in self.site.signs},
            "sas": self._sas.status(),
        }
