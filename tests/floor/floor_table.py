"""A table with a sensor module and a keypad, in memory: real sessions, real accounting, readings made by hand.

What a test does here is what a person does: chips down and up, keys pressed, polls. Time stands still between polls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Command,
    CreateLedger,
    DefineTable,
    Note,
    OpenLink,
    Role,
    SetSite,
)
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.rules import Decision, decide
from meterd.accounting.settings import (
    Floor as FloorMode,
)
from meterd.accounting.settings import (
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.accounting.state import TableState
from meterd.config import BitBlock, CounterBlock, ModuleRef, Profile, TableConfig, TextBlock
from meterd.floor.router import Router
from meterd.floor.session import DeviceEvent, Lamp, TableSession, TableView
from meterd.paytables.model import Game, Pay, PayKind, PayTable, Row, Source
from protocols import pad_words
from protocols.events import DeviceDown, DeviceUp, Reading

SEATS = 7
LOCK_INPUT = 7
SENSORS = Profile(
    id="test-sensors",
    kind="sensors",
    inputs=BitBlock(2, 0, SEATS + 1),
    counters=CounterBlock(4, 0, 16),
    outputs=BitBlock(1, 0, SEATS + 1),
    seats=tuple(range(SEATS)),
    lock=LOCK_INPUT,
    lamps=tuple(range(SEATS)),
    lockout=SEATS,
)
KEYPAD = Profile(
    id="test-keypad",
    kind="keypad",
    inputs=BitBlock(2, 0, len(pad_words.KEYS)),
    counters=CounterBlock(4, 0, 16),
    text=TextBlock(100, 2, 16),
    keys={name: index for index, name in enumerate(pad_words.KEYS)},
)


def _paytable() -> PayTable:
    """100 %, 10 %, and $25 fixed; the first two with envy."""
    return PayTable(
        id="test/table",
        game="Test Game",
        wager="progressive",
        kind="progressive",
        sources=(Source("TEST", "0", "Test"),),
        basis="five cards",
        evaluator=None,
        games=(Game("test-game", "five cards", 5),),
        rows=(
            Row("royal-flush", "Royal Flush", "100%", "$1000", (Pay(PayKind.METER_PERCENT, 1_000_000),), 100_000),
            Row("straight-flush", "Straight Flush", "10%", "$300", (Pay(PayKind.METER_PERCENT, 100_000),), 30_000),
            Row("full-house", "Full House", "$25", None, (Pay(PayKind.FIXED, cents=2_500, scales=False),)),
        ),
    )


@dataclass
class Module:
    """One module as its driver sees it: levels, raw counters, and the time of the last snapshot."""

    device: str
    size: int
    counts: list[int] = field(default_factory=list)
    levels: list[bool] = field(default_factory=list)
    ended_ms: int = 0
    modulus: int = 65_536

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * self.size
        self.levels = self.levels or [False] * self.size

    def pulse(self, index: int, times: int = 1) -> None:
        self.counts[index] = (self.counts[index] + times) % self.modulus

    def set(self, index: int, level: bool) -> None:
        if level and not self.levels[index]:
            self.pulse(index)
        self.levels[index] = level

    def reading(self, began_ms: int, took_ms: int = 10) -> Reading:
        previous, self.ended_ms = self.ended_ms, began_ms + took_ms
        return Reading(self.device, began_ms, self.ended_ms, previous, tuple(self.levels), tuple(self.counts))


class TestFloor:
    """One table, ``T1``, with everything real above the wire."""

    __test__ = False

    def __init__(
        self, keypad: bool = True, confirm_above_cents: int = 100_000, paytable: PayTable | None = None
    ) -> None:
        self.book = Book()
        self.entries: list[Entry] = []
        self.refusals: list[str] = []
        self.now_ms = 1_000
        self.confirm_above_cents = confirm_above_cents
        self.paytable = paytable or _paytable()
        self._set_up()
        settings = TableSettings("T1", "nexus", "test-game", SEATS)
        pad = ModuleRef("keys", 5, KEYPAD) if keypad else None
        self.config = TableConfig(settings, ModuleRef("pit", 40, SENSORS), pad)
        self.sensors = Module("pit/40", SEATS + 1)
        self.keypad = Module("keys/5", len(pad_words.KEYS))
        self.restart(first=True)

    def _set_up(self) -> None:
        level = LevelSettings(
            "main", 1_000_000, 200_000, 40_000, ResetMode.SEED_PLUS_RESERVE, Ties.SEQUENTIAL, FloorMode.NONE
        )
        admin = Actor("adm-1", Role.ADMINISTRATOR)
        for command in (
            CreateLedger(actor=SYSTEM, site="test", currency="USD", demo=False),
            SetSite(actor=SYSTEM, settings=SiteSettings("test", confirm_above_cents=self.confirm_above_cents)),
            OpenLink(actor=SYSTEM, settings=LinkSettings("nexus", 100, 1, self.paytable, (level,))),
            DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "test-game", SEATS)),
        ):
            decision = self.decide(command)
            assert decision.refusal is None, (command, decision, admin)

    # ── the machine ─────────────────────────────────────────────────────────────────────────────────────────────

    def decide(self, command: Command) -> Decision:
        decision = decide(self.book, command)
        for entry in decision.entries:
            self.book.apply(self.book.seq + 1, "2026-12-01T06:00:00.000000Z", entry)
            self.entries.append(entry)
        if decision.refusal is not None:
            self.refusals.append(decision.refusal.refusal.value)
        assert self.book.residual_microcents() == 0
        return decision

    def send(self, event: DeviceEvent) -> list[Command]:
        """Hand an event to the sessions and decide what they ask for, as the daemon's loop does."""
        asked: list[Command] = []
        for session in self.router.sessions_for(event.device):
            waiting = session.on_event(event, self.book)
            while waiting:
                command = waiting.pop(0)
                asked.append(command)
                waiting = session.on_decided(command, self.decide(command), self.book) + waiting
        return asked

    def restart(self, first: bool = False) -> None:
        """The daemon dies and comes back: sessions are new, modules and book go on."""
        self.router = Router([self.config])
        self.session: TableSession = self.router.sessions[0]
        if not first:
            self.decide(Note(actor=SYSTEM, kind=Kind.STARTED))

    # ── people and wires ────────────────────────────────────────────────────────────────────────────────────────

    def up(self, *modules: Module) -> list[Command]:
        asked = []
        for module in modules or (self.sensors, self.keypad):
            asked += self.send(DeviceUp(module.device, module.reading(self.now_ms), module.modulus))
            self.now_ms += 100
        return asked

    def down(self, module: Module, cause: str = "timeout") -> list[Command]:
        return self.send(DeviceDown(module.device, cause))

    def poll(self, module: Module) -> list[Command]:
        """Modules are polled ten times a second; the last poll before this one had nothing to tell."""
        self.now_ms += 100
        module.ended_ms = max(module.ended_ms, self.now_ms - 90)
        return self.send(module.reading(self.now_ms))

    def chips(self, *seats: int, on: bool = True) -> list[Command]:
        for seat in seats:
            self.sensors.set(seat - 1, on)
        return self.poll(self.sensors)

    def clear_chips(self) -> list[Command]:
        return self.chips(*range(1, SEATS + 1), on=False)

    def lock_button(self, times: int = 1) -> list[Command]:
        self.sensors.pulse(LOCK_INPUT, times)
        return self.poll(self.sensors)

    def press(self, *keys: str) -> list[Command]:
        """Each key in a poll of its own. Digits may be written as they are."""
        asked = []
        for key in keys:
            name = f"digit-{key}" if key.isdigit() else key
            self.keypad.pulse(KEYPAD.keys[name])
            asked += self.poll(self.keypad)
        return asked

    def press_together(self, *keys: str) -> list[Command]:
        for key in keys:
            self.keypad.pulse(KEYPAD.keys[f"digit-{key}" if key.isdigit() else key])
        return self.poll(self.keypad)

    # ── what can be seen ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def view(self) -> TableView:
        return self.session.view(self.book)

    @property
    def text(self) -> tuple[str, str]:
        return self.view.text

    @property
    def table(self) -> TableState:
        return self.book.tables["T1"]

    @property
    def lamps(self) -> str:
        """One letter a seat: dark ``.``, blink ``b``, steady ``S``."""
        return "".join({Lamp.DARK: ".", Lamp.BLINK: "b", Lamp.STEADY: "S"}[lamp] for lamp in self.view.lamps)

    def kinds(self, commands: Iterable[Command]) -> list[str]:
        return [type(command).__name__ for command in commands]

    def open(self) -> TestFloor:
        """Both modules up: the table opens by itself."""
        self.up()
        assert self.table.state.value == "OPEN"
        return self

    def locked(self, *seats: int) -> TestFloor:
        """Open, chips down, LOCK by the button, chips taken by the dealer."""
        self.chips(*seats)
        self.lock_button()
        self.clear_chips()
        assert self.table.state.value == "LOCKED"
        return self
