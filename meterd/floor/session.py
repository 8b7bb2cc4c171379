"""One table: device events in, commands out, and what its lamps and its pad should show.

Rule 1: the session keeps only what is not yet money: trusted inputs, chips on sensors, keys typed. The round itself is
read from the book, so a steady lamp always means an accepted wager.
Rule 2: every step is a cell of :data:`~meterd.floor.transitions.TRANSITIONS`.
Rule 3: a device begins with a baseline. What moved before it opens nothing, locks nothing and is no wager.
Rule 4: no clock here. Times come in readings, in milliseconds of one monotonic clock.
Sources: the lit sensor is the record of participation (CO 47.1-1099.26(2)); betting opens again only by END GAME (CO
47.1-899.14(18)); nothing placed after "no more bets" is recognised (PA 617b.4(c)(2)).
"""

from __future__ import annotations

from collections.abc import Iterable

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    CloseTable,
    Command,
    EndGame,
    Event,
    LateBet,
    Lock,
    Note,
    OpenTable,
    Role,
    TrustDevice,
    WagerSeen,
)
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision
from meterd.accounting.state import TableState, TableStatus
from meterd.config import NOBODY, ModuleRef, PadRef, People, TableConfig
from meterd.floor import alarms, words
from meterd.floor.badges import Badges
from meterd.floor.claims import PadLine
from meterd.floor.devices import Devices
from meterd.floor.inputs import Inputs, Moves
from meterd.floor.keys import Press, Repeats, pressed, presses
from meterd.floor.presence import MS_UNKNOWN, Closing, Late, LockSeen, Seats, before_lock, interval
from meterd.floor.transitions import TRANSITIONS, Act, Pad, Phase, Signal, apply
from meterd.floor.view import Lamp, TableView, lamps
from protocols.events import CardRead, DeviceDown, DeviceUp, InputStuck, KeyPressed, Reading

__all__ = ["TRANSITIONS", "DeviceEvent", "Lamp", "TableSession", "TableView"]

DeviceEvent = DeviceUp | Reading | DeviceDown | InputStuck | KeyPressed | CardRead


class TableSession:
    """The floor's side of one table. All calls come from one thread, in the order things happened."""

    def __init__(self, table: TableConfig, people: People = NOBODY) -> None:
        self.table_id = table.settings.id
        self.present: frozenset[int] = frozenset()  # seats whose lamp blinks, as of the last call
        self._table = table
        self._devices = Devices(table)
        self.devices = self._devices.names
        self._repeats = Repeats()
        self._seats: Seats | None = None
        self._closing: Closing | None = None
        self._locked: tuple[int, LockSeen] | None = None  # round, and how its LOCK was seen
        display = table.keypad and table.keypad.profile.text
        self._columns = display.columns if display else words.COLUMNS
        badges, key_switch = Badges(people, table.badge_ms), not isinstance(table.keypad, PadRef)
        self._pad = PadLine(table.settings, self._columns, badges, key_switch=key_switch)

    @property
    def ready(self) -> bool:
        """Whether every device of the table is trusted."""
        return self._devices.ready

    @property
    def away(self) -> tuple[str, ...]:
        """The devices of the table that are not trusted."""
        return self._devices.away

    def phase(self, book: Book) -> Phase:
        """The state of the table in the book, with what the floor knows besides."""
        return self._phase(book, self.ready)

    def _phase(self, book: Book, ready: bool) -> Phase:
        table = self._state(book)
        match table.state:
            case TableStatus.LOCKED:
                return Phase.LOCKED
            case TableStatus.OPEN if ready:
                return Phase.OPEN if self._closing is None else Phase.CLOSING
            case TableStatus.CLOSED if not table.needs_end_game:
                return Phase.STOPPED if ready else Phase.STARTING
            case _:
                return Phase.WAITING if ready else Phase.BLIND

    # ── events ──────────────────────────────────────────────────────────────────────────────────────────────────

    def on_event(self, event: DeviceEvent, book: Book) -> list[Command]:
        """What a device event asks for, in the order in which it must be decided."""
        match event:
            case DeviceUp():
                commands = self.on_device_up(event, book)
            case DeviceDown():
                commands = self.on_device_down(event, book)
            case InputStuck():
                mine = event.device == self._table.sensors.device
                commands = [alarms.stuck(event, self.table_id, self._wired())] if mine else []
            case KeyPressed():
                commands = self.on_key(event, book)
            case CardRead():
                commands = self.on_card(event, book)
            case _:
                commands = self.on_reading(event, book)
        self._look(book)
        return commands

    def on_device_up(self, event: DeviceUp, book: Book) -> list[Command]:  # noqa: ARG002 - all handlers take the book
        """A device answers: ask the book to trust it from here on. It says nothing before that is decided."""
        if (trust := self._devices.up(event)) is None:
            return []
        found = self._devices.of(event.device)
        if event.device == self._table.sensors.device and isinstance(found, Inputs):
            self._seats = Seats(event.reading, self._levels(found))
        self._forget_pad(event.device)
        return [trust]

    def on_device_down(self, event: DeviceDown, book: Book) -> list[Command]:
        """A device is lost: note it; an open table closes until END GAME, a locked one stays locked; told once."""
        if event.device not in self.devices:
            return []
        act = apply(self.phase(book), Signal.DEVICE_LOST).act if self.ready else Act.NOTHING
        heard = self._devices.down(event.device, book.devices)
        if event.device == self._table.sensors.device:
            self._seats = None
        self._forget_pad(event.device)
        return [alarms.lost(event, self.table_id, heard), *self._close(act, event.cause)]

    def _forget_pad(self, device: str) -> None:
        """A device came or went; where it is the pad, nothing half keyed survives that, and no badge."""
        self._repeats.forget()
        if self._table.keypad is not None and device == self._table.keypad.device:
            self._pad.reset()

    def heard(self, book: Book) -> dict[str, int]:
        """Counts of the trusted inputs above the book's marks, for the entry of a clean stop."""
        return dict(self._devices.heard(book.devices))

    def on_reading(self, reading: Reading, book: Book) -> list[Command]:
        """Levels and counters of a trusted module. Chips, then LOCK, then keys: a chip in LOCK's reply is in time."""
        inputs = self._devices.inputs(reading.device)
        if inputs is None:
            return []
        moves = inputs.take(reading)
        if moves.broken:
            down = self.on_device_down(DeviceDown(reading.device, "counter_fell"), book)
            return [*down, *self.on_device_up(DeviceUp(reading.device, reading, inputs.modulus), book)]
        commands: list[Command] = []
        if reading.device == self._table.sensors.device:
            commands += self._sensors(reading, inputs, moves, book)
        if self._table.keypad is not None and reading.device == self._table.keypad.device:
            commands += self._keys(reading, inputs, moves, book)
        return commands

    def on_decided(self, command: Command, decision: Decision, book: Book) -> list[Command]:
        """The answer to a command of this session, already in the book: words for the pad, and what follows from it."""
        taken = decision.refusal is None
        following: list[Command] = []
        match command:
            case TrustDevice(device=str(device)) if taken:
                following = self._trusted(device, book)
            case TrustDevice() | OpenTable() | CloseTable() | LateBet():
                pass
            case Note(kind=kind) if kind is not Kind.COUNT_MISMATCH:
                pass
            case _:
                self._answer(command, decision, book)
                if isinstance(command, Lock):
                    following = self._after_lock(taken, book)
                elif isinstance(command, EndGame) and taken and not self.ready:
                    following = self._close(apply(Phase.OPEN, Signal.DEVICE_LOST).act, "device_lost")
        self._look(book)
        return following

    # ── devices ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _trusted(self, device: str, book: Book) -> list[Command]:
        found = self._devices.of(device)
        if found is None:
            return []
        found.trust(book.devices)
        if not self.ready:
            return []
        step = apply(self._phase(book, ready=False), Signal.DEVICES_READY)
        return [OpenTable(actor=SYSTEM, table=self.table_id)] if step.act is Act.ASK_OPEN else []

    def _close(self, act: Act, cause: str) -> list[Command]:
        if act is not Act.ASK_CLOSE:
            return []
        reason = "overrun" if cause == "overrun" else "device_lost"
        return [CloseTable(actor=SYSTEM, table=self.table_id, reason=reason)]

    # ── sensors ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _sensors(self, reading: Reading, inputs: Inputs, moves: Moves, book: Book) -> list[Command]:
        seats = self._seats
        if seats is None:
            return []
        edges = {
            seat: inputs.event(index)
            for seat, index in self._wired()
            if inputs.level(index) and (index in moves.rose or index in moves.moved)
        }
        step = apply(self.phase(book), Signal.CHIP)
        taken = step.act is Act.TAKE_CHIP and self._betting(book)
        round_open = self._state(book).round if taken else None
        seats.take(reading, self._levels(inputs), edges, round_open)
        commands: list[Command] = []
        if step.act is Act.LATE_CHIP:
            commands += self._late(reading, edges, seats, book)
        lock = self._table.sensors.profile.lock
        if lock is not None and lock in moves.moved:
            after_ms = reading.previous_ended_ms if lock in moves.rose else seats.before_last_ms
            seen = LockSeen(reading.began_ms, after_ms, reading.ended_ms)
            event, device = inputs.event(lock), reading.device
            commands += self._lock(seen, True, self._dealer, device, event, book)
        return commands

    def _late(self, reading: Reading, edges: dict[int, Event], seats: Seats, book: Book) -> list[Command]:
        """Chips put down while the table is locked. Where this session saw no LOCK, only ``ms_min`` is known."""
        lock = self._lock_seen(book)
        late = []
        for seat, event in edges.items():
            if lock is None:
                ms_min, ms_max = max(0, reading.previous_ended_ms - seats.trusted_ms), MS_UNKNOWN
            else:
                ms_min, ms_max = interval(lock, reading.previous_ended_ms, reading.ended_ms)
            late.append(Late(seat, event, ms_min, ms_max))
        return self._late_bets(late)

    def _late_bets(self, late: Iterable[Late]) -> list[Command]:
        return [
            LateBet(
                actor=SYSTEM,
                device=self._table.sensors.device,
                event=edge.event,
                table=self.table_id,
                seat=edge.seat,
                ms_min=edge.ms_min,
                ms_max=edge.ms_max,
            )
            for edge in late
        ]

    def _lock_seen(self, book: Book) -> LockSeen | None:
        if self._closing is not None:
            return self._closing.lock
        of_round, lock = self._locked or (0, None)
        return lock if of_round == self._state(book).round else None

    # ── the acts of the table ───────────────────────────────────────────────────────────────────────────────────

    def _lock(
        self, seen: LockSeen, same_reply: bool, actor: Actor, device: str, event: Event, book: Book
    ) -> list[Command]:
        """LOCK was pressed: the window closes at once, the wagers are decided in one entry."""
        step = apply(self.phase(book), Signal.LOCK)
        if step.act is Act.SAY_LOCKED:
            if self._pad.state is Pad.EMPTY:
                self._pad.say(words.OK_LOCKED)
            return []
        wagers: tuple[WagerSeen, ...] = ()
        late: tuple[Late, ...] = ()
        if step.then is Phase.CLOSING and self._seats is not None:
            round_open = self._state(book).round
            wagers = self._seats.wagers(seen, same_reply, round_open, book.devices)
            late = self._seats.after(seen, wagers, round_open)
        if step.then is Phase.CLOSING:
            self._closing = Closing(seen, late)
        return [Lock(actor=actor, device=device, event=event, table=self.table_id, wagers=wagers)]

    def _after_lock(self, taken: bool, book: Book) -> list[Command]:
        closing, self._closing = self._closing, None
        if closing is None or not taken:
            return []
        self._locked = (self._state(book).round, closing.lock)
        return self._late_bets(closing.late)

    def _end(self, actor: Actor, device: str, event: Event, book: Book) -> list[Command]:
        if apply(self.phase(book), Signal.END_GAME).act is Act.SAY_NO_DEVICE:
            self._pad.say(words.NO_DEVICE)
            return []
        return [EndGame(actor=actor, device=device, event=event, table=self.table_id)]

    # ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _keys(self, reading: Reading, inputs: Inputs, moves: Moves, book: Book) -> list[Command]:
        """The keys of a snapshot of a pad that is wired to inputs."""
        keys = self._table.keypad.profile.keys if isinstance(self._table.keypad, ModuleRef) else {}
        seen = LockSeen(reading.began_ms, reading.previous_ended_ms, reading.ended_ms)
        commands: list[Command] = []
        for press in presses(keys, moves.moved):
            commands += self._key(press, seen, inputs.event(press.input), reading.device, book)
        return commands

    def on_key(self, event: KeyPressed, book: Book) -> list[Command]:
        """One key of a pad that tells its presses one by one."""
        pad, press = self._devices.pad(event.device), pressed(event.key)
        steps = pad.take(event.count) if pad is not None else 0
        if pad is None or press is None or not steps:
            return []
        if steps > 1:  # what was lost may be what gives this key its sense
            press = Press(Signal.TOO_FAST, 0)
        seen = LockSeen(event.began_ms, event.after_ms, event.at_ms, event.device)
        return self._key(press, seen, pad.event(), event.device, book)

    def on_card(self, event: CardRead, book: Book) -> list[Command]:
        """A card held to the pad. It leads to no entry; the act that is keyed next does."""
        pad = self._devices.pad(event.device)
        if pad is not None and pad.take(event.count):
            self._pad.card(event.badge, pad.event(), event.device, book, event.at_ms)
            self._repeats.forget()
        return []

    def _key(self, press: Press, seen: LockSeen, event: Event, device: str, book: Book) -> list[Command]:
        if self._repeats.again(press, seen.by_ms):
            return []
        if press.signal is not Signal.LOCK_KEY and before_lock(self._lock_seen(book), seen):
            press = Press(Signal.TOO_FAST, 0)
        asked = self._pad.press(press, event, device, book, seen.by_ms)
        found = list(asked.commands)
        if asked.to_table is Signal.LOCK:
            same_reply = device == self._table.sensors.device
            found += self._lock(seen, same_reply, asked.actor, device, event, book)
        elif asked.to_table is Signal.END_GAME:
            found += self._end(asked.actor, device, event, book)
        if not found:
            self._pad.answered(book)
        return found

    def _answer(self, command: Command, decision: Decision, book: Book) -> None:
        table = self._state(book)
        refused = decision.refusal.refusal if decision.refusal is not None else None
        signed = command.actor != self._dealer and refused is not Refusal.SECOND_PERSON_REQUIRED
        if signed or (isinstance(command, EndGame) and refused is None):
            self._pad.badges.drop()
        if decision.refusal is not None:
            self._pad.say(words.refused_answer(command, decision.refusal))
        else:
            if isinstance(command, Lock):
                self._repeats.forget()
            self._pad.say(words.taken_answer(command, decision.entries, table, book.awards, self._pad.width))
        self._pad.answered(book)

    # ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────

    def view(self, book: Book) -> TableView:
        """Lamps, the lockout lamp and the pad, from the book as it stands. Steady lamps come from the book alone."""
        self._look(book)
        table, phase = self._state(book), self.phase(book)
        text = (self._line_1(phase, table, book), self._pad.text(book))
        return TableView(lamps(phase, table, self.present), not self._window_open(book), text)

    def _line_1(self, phase: Phase, table: TableState, book: Book) -> str:
        if phase is Phase.OPEN and not self._betting(book):
            return words.suspended_line(self._columns)
        beside = self._pad.beside_locked(book) if phase is Phase.LOCKED else ()
        if beside:
            return words.locked_line(*beside, columns=self._columns)
        to_clear = self._seats.to_clear(table.round, book.devices) if self._seats is not None else ()
        return words.state_line(phase, table, len(self.present), to_clear, self._columns)

    def _look(self, book: Book) -> None:
        """Which seats blink: those that LOCK would take now."""
        self.present = frozenset()
        if self._seats is not None and self._window_open(book):
            self.present = self._seats.present(self._state(book).round, book.devices)

    def _window_open(self, book: Book) -> bool:
        return self.phase(book) is Phase.OPEN and self._betting(book)

    def _betting(self, book: Book) -> bool:
        """A suspended link takes no wager, though its tables may be open."""
        return book.links[self._table.settings.link].suspended is None

    # ── small things ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _dealer(self) -> Actor:
        return Actor(f"dealer@{self.table_id}", Role.DEALER)

    def _state(self, book: Book) -> TableState:
        return book.tables[self.table_id]

    def _wired(self) -> Iterable[tuple[int, int]]:
        """(seat, input index) of the seats that the table has and the module wires."""
        return enumerate(self._table.sensors.profile.seats[: self._table.settings.seats], start=1)

    def _levels(self, inputs: Inputs) -> tuple[bool, ...]:
        return tuple(inputs.level(index) for _, index in self._wired())
