"""The money thread, on a real ledger, fed with the events of real modules' shape."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Claim, DefineTable, EndGame, Lock, OpenTable, Role, WagerSeen
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision
from meterd.app.commit import draft_entry
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.effects import Effects
from meterd.app.loop import Ask, MoneyLoop
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.clock import Clock
from meterd.edge.store import Store, read_records
from meterd.errors import InvariantBroken, LedgerError, MisuseError
from protocols.events import DeviceDown, DeviceUp, Reading

LIMIT_S = 20
DEALER = Actor("dealer@LIR-1", Role.DEALER)


class Rig:
    """A money loop in its thread, with everything it published."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder = folder
        self.store = Store.open(folder)
        book = Book()
        for record in self.store.records():
            book.apply(record.seq, record.at_utc, draft_entry(record))
        self.published: list[Effects] = []
        self._news = threading.Condition()
        self.overran: list[str] = []
        self.loop = MoneyLoop(site, book, self.store, Clock(), self._publish, overran=self.overran.append)
        self._thread = threading.Thread(target=self.loop.run, daemon=True)
        self._thread.start()

    def _publish(self, effects: Effects) -> None:
        with self._news:
            self.published.append(effects)
            self._news.notify_all()

    def wait(self, wanted: Any) -> Effects:
        """The first publication for which ``wanted`` holds."""
        with self._news:
            assert self._news.wait_for(lambda: any(wanted(e) for e in self.published), LIMIT_S)
            return next(e for e in self.published if wanted(e))

    def ask(self, command: Any) -> Decision:
        future: Future[Decision] = Future()
        assert self.loop.inbox.offer(Ask(command, future), "test")
        return future.result(LIMIT_S)

    def up(self, site: Site, table: str) -> None:
        """All modules of a table answer, with everything off and every counter at 7."""
        config = next(t for t in site.tables if t.settings.id == table)
        for module in config.modules:
            count = module.profile.inputs.count
            reading = Reading(module.device, 100, 105, 100, (False,) * count, (7,) * count)
            assert self.loop.inbox.offer(DeviceUp(module.device, reading, module.profile.modulus), module.bus)
        self.wait(lambda e: e.snapshot["tables"][table]["state"] == "OPEN")

    def end(self) -> None:
        self.loop.stop()
        self._thread.join(LIMIT_S)
        self.store.close()


@pytest.fixture
def site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    create_ledger(tmp_path / "ledger", site, demo=True)
    return tmp_path / "ledger"


def test_a_table_opens_when_all_its_modules_are_trusted_and_stops_clean(folder: Path, site: Site) -> None:
    """Baseline, open, and on the way out: windows closed, a last entry, the safe state published last."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    rig.end()
    assert rig.loop.failure is None
    last = rig.published[-1]
    assert last.snapshot["closed"] == "stopped"
    assert {wanted.values for wanted in last.signs.values()} == {("CLOSED",) * 3, ("CLOSED",)}
    lamps = [wanted.outputs[:8] for (bus, _), wanted in last.units.items() if bus.startswith("pit")]
    assert lamps == [(False,) * 8] * 8
    report = verify(folder)
    assert (report.ok, report.first_bad) == (True, None)


def test_an_answer_comes_after_the_commit_and_speaks_of_it(folder: Path, site: Site) -> None:
    """A command from outside is answered once it is on disk; a refusal is an answer too."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    seq = rig.store.seq
    decision = rig.ask(Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(3), WagerSeen(5))))
    assert decision.refusal is None
    assert rig.store.seq == seq + 1
    refused = rig.ask(Lock(actor=DEALER, table="NO-1", wagers=()))
    assert refused.refusal is not None
    assert refused.refusal.refusal is Refusal.TABLE_UNKNOWN
    rig.end()


def test_an_overrun_closes_the_tables_of_its_port_and_no_other(folder: Path, site: Site) -> None:
    """Events were lost on one line: its table closes until END GAME; the others play on; the line begins anew."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    rig.up(site, "TCP-1")
    bus = next(t for t in site.tables if t.settings.id == "LIR-1").sensors.bus
    rig.loop.inbox._overrun.add(bus)
    rig.loop.inbox.offer(DeviceDown("nobody/1", "timeout"), "nobody")
    closed = rig.wait(lambda e: e.snapshot["tables"]["LIR-1"]["closed_reason"] == "overrun")
    assert closed.snapshot["tables"]["TCP-1"]["state"] == "OPEN"
    assert rig.overran == [bus]
    assert rig.loop.stats.overruns == {bus: 1}
    assert rig.loop.book.tables["LIR-1"].needs_end_game is True
    rig.end()


def test_a_commit_that_raises_closes_the_floor_and_shows_nothing_of_it(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outcome is unknown: everything goes to the safe state, the asker hears an error, no newer seq is shown."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    seq = rig.store.seq

    def fail(_records: object) -> None:
        raise LedgerError("the commit's outcome is unknown")

    monkeypatch.setattr(rig.store, "commit", fail)
    with pytest.raises(LedgerError):
        rig.ask(Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(3),)))
    rig.end()
    assert isinstance(rig.loop.failure, LedgerError)
    last = rig.published[-1]
    assert last.seq == last.snapshot["seq"] == seq
    assert last.snapshot["closed"] == "the commit's outcome is unknown"
    assert all(wanted.values[0] == "CLOSED" for wanted in last.signs.values())
    assert rig.loop.inbox.offer("anything", "test") is False


def test_a_crash_closes_open_tables_until_end_game(folder: Path, site: Site) -> None:
    """Whoever was OPEN when the daemon died comes back CLOSED; a refused open says so."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    rig.loop._stopped = lambda: None  # type: ignore[method-assign] # die without a word
    rig.end()
    again = Rig(folder, site)
    from meterd.accounting.commands import Note  # noqa: PLC0415 - what compose says at every start
    from meterd.accounting.entries import Kind  # noqa: PLC0415

    again.ask(Note(actor=SYSTEM, kind=Kind.STARTED, facts={}))
    table = again.loop.book.tables["LIR-1"]
    assert (table.state.value, table.closed_reason, table.needs_end_game) == ("CLOSED", "crash", True)
    refused = again.ask(OpenTable(actor=SYSTEM, table="LIR-1")).refusal
    assert refused is not None
    assert refused.refusal is Refusal.TABLE_CLOSED
    again.end()


def test_whoever_asked_hears_of_a_floor_that_failed_and_whoever_left_stops_nobody(folder: Path, site: Site) -> None:
    """A cancelled question is passed over; a command that breaks the thread is an error for all who wait."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    left: Future[Decision] = Future()
    left.cancel()
    rig.loop.inbox.offer(Ask(Lock(actor=DEALER, table="LIR-1", wagers=()), left), "test")
    asked: list[Future[Decision]] = [Future(), Future()]
    stray = replace(site.tables[0].settings, id="NEW", link="nowhere")
    with rig.loop.inbox._changed:  # both before the thread looks again
        rig.loop.inbox.offer(Ask(DefineTable(actor=SYSTEM, settings=stray), asked[0]), "test")
        rig.loop.inbox.offer(Ask(Lock(actor=DEALER, table="LIR-1", wagers=()), asked[1]), "test")
    for future in asked:
        with pytest.raises(InvariantBroken):
            future.result(LIMIT_S)
    assert "nowhere" in str(rig.loop.failure)
    assert str(rig.loop.failure) == rig.published[-1].snapshot["closed"]
    rig.end()


def test_a_clean_end_writes_nothing_for_tables_that_are_closed(folder: Path, site: Site) -> None:
    """One open table: one TableClosed, then Stopped."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    seq = rig.store.seq
    rig.end()
    assert ["TableClosed", "Stopped"] == [record.kind for record in read_records(folder)][seq:]


def test_money_that_no_longer_adds_up_closes_the_floor(folder: Path, site: Site) -> None:
    """The sum of all accounts is looked at once a second, whether or not anything happens."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    rig.loop.book.balances["house/revenue"] = 1
    closed = rig.wait(lambda e: e.snapshot["closed"])
    assert "do not sum to zero" in closed.snapshot["closed"]
    assert isinstance(rig.loop.failure, InvariantBroken)
    rig.end()


def test_a_step_of_the_clock_is_an_entry_before_whatever_comes_next(folder: Path, site: Site) -> None:
    """An hour back: the entry says how far, and is decided before the command that waited."""
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    seq = rig.store.seq
    rig.loop._clock._offset_ns += 3_600_000_000_000
    assert rig.ask(Lock(actor=DEALER, table="LIR-1", wagers=())).refusal is None
    step, lock = list(read_records(folder))[seq:]
    assert ("ClockStep", "Locked") == (step.kind, lock.kind)
    assert 3_600_000 == pytest.approx(-json.loads(step.body)["step_ms"], abs=500)
    assert 1 == rig.loop.stats.clock_steps
    rig.end()


def test_the_write_ahead_log_is_emptied_when_nobody_waits(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a number of entries, between batches and in the thread that owns the connection."""
    monkeypatch.setattr("meterd.app.loop.TIDY_ENTRIES", 3)
    rig = Rig(folder, site)
    tidied: list[str] = []
    checkpoint = rig.store.checkpoint
    done = threading.Event()

    def noted() -> None:
        tidied.append(threading.current_thread().name)
        checkpoint()
        done.set()

    monkeypatch.setattr(rig.store, "checkpoint", noted)
    rig.up(site, "LIR-1")
    assert done.wait(LIMIT_S)
    assert {rig._thread.name} == set(tidied)
    rig.end()


def test_what_a_line_told_before_a_hole_is_not_decided_behind_it(folder: Path, site: Site) -> None:
    """Or a chip put down after LOCK, with the reply between the two lost, would stand in one reply with LOCK."""
    rig = Rig(folder, site)
    sensors = next(t for t in site.tables if t.settings.id == "LIR-1").sensors
    count = sensors.profile.inputs.count
    baseline = Reading(sensors.device, 100, 105, 100, (False,) * count, (7,) * count)
    later = Reading(sensors.device, 300, 305, 200, (True,) * count, (8,) * count)
    asked: Future[Decision] = Future()
    with rig.loop.inbox._changed:
        rig.loop.inbox.offer(DeviceUp(sensors.device, baseline, sensors.profile.modulus), sensors.bus)
        rig.loop.inbox._overrun.add(sensors.bus)
        rig.loop.inbox.offer(later, sensors.bus)
        rig.loop.inbox.offer(Ask(OpenTable(actor=SYSTEM, table="LIR-1"), asked), "test")
    assert asked.result(LIMIT_S).refusal is None
    kinds = [record.kind for record in read_records(folder)]
    assert ["DeviceLost", "TableOpened"] == kinds[-2:]
    rig.end()


def test_a_stop_gives_up_a_full_queue_after_its_time(folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody was told of may wait for the next start; whoever asked hears that no answer comes."""
    monkeypatch.setattr("meterd.app.loop.DRAIN_S", -1.0)
    rig = Rig(folder, site)
    rig.up(site, "LIR-1")
    hold = threading.Event()
    commit = rig.store.commit

    def slow(records: Any) -> None:
        assert hold.wait(LIMIT_S)
        commit(records)

    monkeypatch.setattr(rig.store, "commit", slow)
    first: Future[Decision] = Future()
    last: Future[Decision] = Future()
    assert rig.loop.inbox.offer(Ask(Lock(actor=DEALER, table="LIR-1", wagers=()), first), "test")
    while len(rig.loop.inbox):
        pass
    assert rig.loop.inbox.offer(Ask(EndGame(actor=DEALER, table="LIR-1"), last), "test")
    rig.loop.stop()
    hold.set()
    rig.end()
    assert first.result(LIMIT_S).refusal is None
    with pytest.raises(MisuseError, match="stopped"):
        last.result(LIMIT_S)
    assert "LOCKED" == rig.loop.book.tables["LIR-1"].state


def test_a_claim_records_a_sign_only_where_it_stands_above_the_meter(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sign at or below the display is no fault; one above it is recorded; one that a win has just outrun is not."""
    rig = Rig(folder, site)
    rig.up(site, "TCP-1")
    main = {"tcp-1": 100_000}
    rig.loop._signs_shown = lambda link: {"main": main[link]}
    assert {} == rig.loop._signs_above("TCP-1")
    main["tcp-1"] = 100_001
    assert {"main": 100_001} == rig.loop._signs_above("TCP-1")
    assert {} == rig.loop._signs_above("NO-1")
    dealer = Actor("dealer@TCP-1", Role.DEALER)
    rig.ask(Lock(actor=dealer, table="TCP-1", wagers=tuple(WagerSeen(seat) for seat in range(1, 8))))
    main["tcp-1"] = 100_140
    claimed = rig.ask(Claim(actor=dealer, table="TCP-1", seat=1, hand="akq-spades"))
    assert None is claimed.refusal
    assert {} == rig.loop._signs_above("TCP-1"), "the sign has not been told of the reset yet"
    monkeypatch.setattr("meterd.app.loop.SIGN_LAG_S", 0.0)
    assert {"main": 100_140} == rig.loop._signs_above("TCP-1"), "a sign that stays above for longer counts"
    rig.end()
