"""A scripted floor for tests of the other end: it speaks to modules in real bytes and knows a few rules."""

from __future__ import annotations

import asyncio
import io
import json
import random
from typing import Any

from meterd.sim.journal import Journal
from meterd.sim.modules import SimModule
from meterd.sim.people import People
from meterd.sim.pit import Pit
from meterd.sim.plan import Habits, Plan, TablePlan
from meterd.sim.table import Table
from meterd.sim.world import ModuleLine
from protocols import pad_words
from protocols.modbus_crc import sealed
from protocols.modbus_slave import pack_bits, unpack_bits

LIMIT_S = 20.0
SENSORS: dict[str, Any] = {
    "inputs": {"function": 2, "address": 0, "count": 16},
    "counters": {"function": 4, "address": 0, "bits": 32},
    "outputs": {"function": 1, "address": 0, "count": 16},
    "flash": {"function": 1, "address": 16, "count": 16},
    "identity": {"function": 4, "address": 256, "expected": [0x4D53, 0x3136]},
    "turnaround_ms": 2,
    "seats": [0, 1, 2, 3, 4, 5, 6, 7],
    "lock": 8,
    "lamps": [0, 1, 2, 3, 4, 5, 6, 7],
    "lockout": 8,
}
KEYPAD: dict[str, Any] = {
    "inputs": {"function": 2, "address": 0, "count": 32},
    "counters": {"function": 4, "address": 0, "bits": 16},
    "text": {"address": 0, "lines": 2, "columns": 16},
    "turnaround_ms": 2,
    "keys": {key: index for index, key in enumerate(pad_words.KEYS)},
}
FIVE_CARD_ROWS = [
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
]


def plan_json(ports: str = "/nonexistent", *, tables: bool = True, **bus: Any) -> dict[str, Any]:
    """One table on one line, as a plan."""
    return {
        "buses": [
            {
                "id": "pit-1",
                "kind": "modbus",
                "port": f"{ports}/pit-1",
                "baud": 115200,
                "modules": [{"unit": 60, "profile": SENSORS}, {"unit": 80, "profile": KEYPAD}],
                **bus,
            }
        ],
        "tables": [
            {
                "id": "T1",
                "game": "let-it-ride",
                "seats": 7,
                "sensors": ["pit-1", 60],
                "keypad": ["pit-1", 80],
                "evaluator": "five-card",
                "own_cards": 3,
                "community_cards": 2,
                "hands": FIVE_CARD_ROWS,
            }
        ]
        if tables
        else [],
    }


def the_plan(**changes: Any) -> Plan:
    return Plan.parse(json.dumps(plan_json(**changes)))


class ScriptedFloor:
    """Answers one table: chips flash, LOCK makes them steady, keys become text. Keeps what it took.

    ``confirm``: every claim waits for a supervisor. ``refuse_end_games``: that many END GAMEs are refused first.
    """

    def __init__(self, sensors: SimModule, keypad: SimModule, *, confirm: bool = True) -> None:
        self.line = ModuleLine([sensors, keypad])
        self.confirm = confirm
        self.claims: list[tuple[int, int]] = []
        self.rounds = 0
        self.late: list[int] = []
        self.voided: list[int] = []
        self.refused_confirms = 0
        self.needs_cards = False
        self.keyed: list[str] = []
        self._names = list(keypad.shape.keys or {})
        self._counts = [0] * 32
        self._at = 0.0
        self._state, self._accepted, self._line2, self._digits, self._hand = pad_words.OPEN, set[int](), "", "", 0
        self._awards: list[list[str]] = []
        self._mode: str | None = None
        self._mark, self._button = False, 0
        self._first = ""
        self._shown: tuple[object, ...] = ()

    def settle_at_the_pit(self, award: str, state: str) -> None:
        """The terminal confirmed an award (``PAY`` comes next) or voided it (empty)."""
        self._awards = [[name, state if name == award else was] for name, was in self._awards]
        self._awards = [each for each in self._awards if each[1]]

    def open_awards(self) -> dict[str, int]:
        """Award → seat, of those that are not paid yet."""
        return {name: self.claims[int(name[1:]) - 1][0] for name, _ in self._awards}

    async def serve(self) -> None:
        """Poll for ever, a poll each turn of the loop."""
        while True:
            self._poll()
            await asyncio.sleep(0)

    def begin_with(self, state: str) -> None:
        """The table stands as after a fault: this text on line 1, until END GAME."""
        self._first = state
        self._state = "fault"

    def ask(self, body: str) -> bytes:
        """One request of the wire; the reply's data."""
        self._at = asyncio.get_running_loop().time()
        reply = self.line.serve(sealed(bytes.fromhex(body)), self._at)
        assert len(reply) >= 5
        return reply[2:-2]

    def _poll(self) -> None:
        bits = unpack_bits(self.ask("3c0200000010")[1:], 16)
        chips = {seat for seat in range(1, 8) if bits[seat - 1]}
        pressed, self._button = bits[8] and not self._button, bits[8]
        if self._state == pad_words.OPEN and pressed:
            self._state, self._accepted = pad_words.LOCKED, chips
        if self._state == pad_words.LOCKED:
            self.late += sorted(chips - self._accepted - set(self.late))
        registers = self.ask("500400000020")[1:]
        counts = [registers[2 * n] << 8 | registers[2 * n + 1] for n in range(32)]
        moved = [name for name, old, new in zip(self._names, self._counts, counts, strict=False) if old != new]
        self._counts = counts
        for name in moved:
            self._key(name)
        self._show(chips)

    def _key(self, name: str) -> None:
        before = self._line2
        self.keyed.append(name)
        kind, _, number = name.partition("-")
        if kind == "digit":
            self._digits += number
            self._line2 = f"S{self._digits}"
        elif kind == "hand":
            self._hand = int(number)
            self._line2 = pad_words.preview_line(int(self._digits or 0), self._hand, "30.00")
        else:
            self._act(name)
            self._digits, self._hand = "", 0
        self._mark = not self._mark if self._line2 == before else False

    def _act(self, name: str) -> None:
        mode, self._mode = self._mode, None
        pending = any(state == pad_words.CONFIRM for _, state in self._awards)
        self._line2 = f"OK {name}"[:15]
        if name == pad_words.KEY_ENTER and mode:
            self._settle()
        elif name == pad_words.KEY_ENTER:
            self.claims.append((int(self._digits), self._hand))
            self._awards.append([f"A{len(self.claims)}", pad_words.CONFIRM if self.confirm else pad_words.PAY])
            self._line2 = pad_words.WAIT_SUPERVISOR if self.confirm else "OK A1 30.00"
        elif name == pad_words.KEY_SUPERVISOR:
            self._mode = next((f"{state} {award}" for award, state in self._awards if state), None)
            self._line2 = self._mode or "NO AWARD"
        elif name == pad_words.KEY_VOID_SEAT and not mode:
            self.voided.append(int(self._digits))
        elif name == pad_words.KEY_VOID_SEAT:
            self._awards.pop(0)
        elif name == pad_words.KEY_END_GAME:
            if pending:
                self._line2 = "NO OPEN AWARD"
            else:
                self.rounds += self._state == pad_words.LOCKED
                self._state, self._accepted = pad_words.OPEN, set()

    def _settle(self) -> None:
        if self.refused_confirms:
            self.refused_confirms -= 1
            self._line2 = "NO CARDS NEEDED"
            return
        award = self._awards[0]
        if self.needs_cards and award[1] == pad_words.CONFIRM:
            self._line2 = pad_words.CARDS_AT_THE_PIT
            return
        award[1] = pad_words.PAY if award[1] == pad_words.CONFIRM else ""
        self._awards = [each for each in self._awards if each[1]]
        self._line2 = f"OK {award[0]}"

    def _show(self, chips: set[int]) -> None:
        opened = self._state == pad_words.OPEN
        steady = bytes(int(not opened and n + 1 in self._accepted) for n in range(16))
        flash = bytes(int(opened and n + 1 in chips) for n in range(16))
        first = f"OPEN {len(chips)} BETS" if opened else f"LOCKED {len(self._accepted)}"
        first = self._first if self._state == "fault" else first
        shown = (steady, flash, first, self._line2, self._mark)
        if shown != self._shown:
            self._shown = shown
            self.ask("3c0f0000002004" + pack_bits(steady + flash).hex())
            second = self._line2 + ("." if self._mark else "")
            self.ask("50100000001020" + (first.ljust(16) + second.ljust(16)).encode().hex())


class CountingJournal(Journal):
    """Tells when enough rounds were played."""

    def __init__(self, log: io.StringIO) -> None:
        super().__init__(log)
        self.wanted = 0
        self.enough = asyncio.Event()

    def note(self, what: str, at: float | None = None, **facts: Any) -> None:
        super().note(what, at, **facts)
        if what == "end_game" and self.counts["rounds"] >= self.wanted:
            self.enough.set()


class Stage:
    """A table, its people, a scripted floor and the log, in the running loop."""

    def __init__(
        self, habits: Habits, seed: int, *, confirm: bool = True, pit: Pit | None = None, **table: Any
    ) -> None:
        raw = plan_json()["tables"][0] | table
        plan = the_plan()
        modules = [SimModule(each.unit, each.shape) for each in plan.lines[0].modules]
        self.out = io.StringIO()
        self.journal = CountingJournal(self.out)
        table_plan = TablePlan(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
        )
        self.floor = ScriptedFloor(*modules, confirm=confirm)
        self.table = Table(table_plan, *modules, self.journal, lock_held_s=0)
        self.people = People(self.table, habits, random.Random(seed), 1000.0, pit=pit)

    def events(self, what: str) -> list[dict[str, Any]]:
        """What was logged under one name."""
        return [line for line in map(json.loads, self.out.getvalue().splitlines()) if line["what"] == what]

    async def play(self, rounds: int) -> None:
        """Play whole rounds."""
        self.journal.wanted = rounds
        waiting = asyncio.create_task(self.journal.enough.wait())
        tasks = [asyncio.create_task(self.floor.serve()), asyncio.create_task(self.people.play()), waiting]
        done, _ = await asyncio.wait(tasks, timeout=LIMIT_S, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for task in done:
            task.result()
        assert waiting in done, f"{self.journal.counts} {self.out.getvalue()[-2000:]}"
