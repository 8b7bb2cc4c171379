"""The dealer's line: keys become a claim, or another act on the round, and nothing is taken before ENTER.

Rule 1: before ENTER the pad shows seat, hand, amount and envy as they would be decided now; showing changes nothing.
Rule 2: two different keys in one snapshot, or one key twice outside digits, have no order: nothing is taken, the line
is cleared, the pad says so.
Rule 3: each key changes the text, so that whoever pressed it sees that it was taken. Where the words would be the same
as before, a full stop behind them comes or goes.
Rule 4: a key that asks for an entry is answered when the entry is decided, not when the key is seen.
Source: keying in a winner is what reduces the meter (CO 47.1-1099.11(10)(j)); one input per outcome and per position.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    Actor,
    Claim,
    Command,
    Confirm,
    Event,
    Fold,
    Join,
    Note,
    Pay,
    Role,
    Void,
    VoidRound,
    VoidSeat,
)
from meterd.accounting.commands_streak import Number, VoidSpin
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refused
from meterd.accounting.rules import decide
from meterd.accounting.settings import TableSettings
from meterd.accounting.state import AwardStatus, TableStatus
from meterd.floor import words
from meterd.floor.transitions import Act, Pad, Signal, apply
from protocols import pad_words

DIGITS_MAX: Final = 9  # every seat of a table may be joined; a line of 16 columns holds them
_SIGNALS: Final[Mapping[str, Signal]] = {
    **dict.fromkeys(pad_words.DIGITS, Signal.DIGIT),
    **dict.fromkeys(pad_words.HANDS, Signal.HAND),
    pad_words.KEY_LOCK: Signal.LOCK_KEY,
    pad_words.KEY_ENTER: Signal.ENTER,
    pad_words.KEY_CLEAR: Signal.CLEAR,
    pad_words.KEY_FOLD: Signal.FOLD,
    pad_words.KEY_JOIN: Signal.JOIN,
    pad_words.KEY_VOID_SEAT: Signal.VOID_SEAT,
    pad_words.KEY_VOID_ROUND: Signal.VOID_ROUND,
    pad_words.KEY_COUNT_MISMATCH: Signal.COUNT_MISMATCH,
    pad_words.KEY_SUPERVISOR: Signal.SUPERVISOR,
    pad_words.KEY_END_GAME: Signal.END_GAME_KEY,
}
#: Acts that only say something.
_ANSWERS: Final[Mapping[Act, str]] = {
    Act.CLEAR: words.OK_CLEAR,
    Act.SAY_NO_SEAT: words.NO_SEAT,
    Act.SAY_NO_HAND: words.NO_HAND,
    Act.SAY_NO_LINE: words.NO_LINE,
    Act.SAY_KEY_ALONE: words.NO_KEY_ALONE,
    Act.SAY_TOO_FAST: pad_words.KEYS_TOO_FAST,
}
_SUPERVISING: Final = frozenset({Pad.SUPERVISOR, Pad.SUPERVISOR_DIGITS})


class Press(NamedTuple):
    """A key taken from a snapshot: its meaning, the number on it (0 where it has none), and the index of its input."""

    signal: Signal
    number: int
    input: int


class Asked(NamedTuple):
    """What a key asks for: commands of the pad, or a signal that the table itself must answer, and by whom."""

    commands: tuple[Command, ...]
    to_table: Signal | None
    actor: Actor


class Preview(NamedTuple):
    """What ENTER would be answered now."""

    amount_cents: int
    envy_cents: int
    refused: Refused | None


def presses(keys: Mapping[str, int], moved: Mapping[int, int]) -> tuple[Press, ...]:
    """The keys of one snapshot, by rule 2.

    Args:
        keys: key name → index of its input.
        moved: index of an input → how often its counter moved.
    """
    pressed = [(name, index, moved[index]) for name, index in keys.items() if index in moved and name in _SIGNALS]
    if not pressed:
        return ()
    name, index, times = pressed[0]
    signal = _SIGNALS[name]
    if len(pressed) > 1 or (times > 1 and signal is not Signal.DIGIT):
        return (Press(Signal.TOO_FAST, 0, index),)
    number = int(name.rpartition("-")[2]) if signal in {Signal.DIGIT, Signal.HAND} else 0
    return (Press(signal, number, index),) * times


def preview(book: Book, table: TableSettings, seat: int, hand: str) -> Preview:
    """Decide a claim that nobody made, on the book as it stands, and look at the answer."""
    claim = Claim(actor=Actor(f"dealer@{table.id}", Role.DEALER), table=table.id, seat=seat, hand=hand)
    decision = decide(book, claim)
    for entry in decision.entries:
        if entry.kind is Kind.CLAIMED:
            return Preview(entry.body["amount_cents"], entry.body.get("envy_cents", 0), None)
    return Preview(0, 0, decision.refusal)


class PadLine:
    """The line of one table's pad, and the answer that stands there when nothing is keyed."""

    def __init__(self, table: TableSettings, columns: int = words.COLUMNS) -> None:
        self.state = Pad.EMPTY
        self._table = table
        self._columns = columns
        self._width = columns - 1  # of an amount: the last column is kept for the mark, or the mark would cut it
        self._digits = ""
        self._hand = 0
        self._award: str | None = None
        self._answer: str | None = None
        self._mark = False
        self._shown_before: str | None = None
        self._previewed: tuple[tuple[int, int, int], Preview] | None = None

    # ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────

    def press(self, press: Press, event: Event, device: str, book: Book) -> Asked:
        """Take one key. Whoever calls this calls :meth:`answered` once the commands are decided."""
        self._shown_before = self._words(book)
        actor = self._actor()
        step = apply(self.state, press.signal)
        if step.act is Act.SAY_NO_HAND and self._numbers(book):
            commands = self._number(book, actor, event, device)
        else:
            commands = self._act(step.act, press.number, book, actor, event, device)
        if isinstance(step.then, Pad):
            self.state = step.then
        if self.state is Pad.EMPTY:
            self._digits, self._hand, self._award = "", 0, None
        to_table = {Act.TABLE_LOCK: Signal.LOCK, Act.TABLE_END: Signal.END_GAME}.get(step.act)
        return Asked(commands, to_table, actor)

    @property
    def width(self) -> int:
        """Characters that an answer with an amount may take."""
        return self._width

    def say(self, answer: str | None) -> None:
        """Put an answer on the line; None leaves it to :meth:`text` to say what stands there.

        An answer takes the place of what was keyed: nobody may press ENTER on a line that is not shown.
        """
        if answer is not None:
            self._drop()
        self._answer = answer

    def answered(self, book: Book) -> None:
        """A key has had its answer: make sure that it can be seen (rule 3)."""
        if self._shown_before is not None:
            self._mark = not self._mark if self._shown_before == self._words(book) else False
            self._shown_before = None

    def reset(self) -> None:
        """The pad went away: what was half keyed is gone."""
        self._drop()
        self._answer, self._mark, self._shown_before = None, False, None

    def _drop(self) -> None:
        self.state = Pad.EMPTY
        self._digits, self._hand, self._award = "", 0, None

    def _actor(self) -> Actor:
        if self.state in _SUPERVISING:
            return Actor(f"sup-key@{self._table.id}", Role.SUPERVISOR)
        return Actor(f"dealer@{self._table.id}", Role.DEALER)

    def _act(self, act: Act, number: int, book: Book, actor: Actor, event: Event, device: str) -> tuple[Command, ...]:
        self._answer = _ANSWERS.get(act)
        match act:
            case Act.ADD_DIGIT:
                self._add_digit(number)
            case Act.NEW_LINE:
                self._digits, self._hand = str(number), 0
            case Act.PREVIEW:
                self._hand = number
            case Act.SHOW_AWARD:
                self._digits, self._hand = "", 0
                self._award = self._next_award(book)
            case _:
                return self._commands(act, book, actor, event, device)
        return ()

    def _commands(self, act: Act, book: Book, actor: Actor, event: Event, device: str) -> tuple[Command, ...]:
        table = self._table.id
        command: Command
        match act:
            case Act.CLAIM:
                hand = self._hand_key(book, self._hand)
                command = Claim(actor=actor, device=device, event=event, table=table, seat=self._seat, hand=hand)
            case Act.FOLD:
                command = Fold(actor=actor, device=device, event=event, table=table, seat=self._seat)
            case Act.JOIN:
                command = Join(actor=actor, device=device, event=event, table=table, seats=self._seats())
            case Act.VOID_SEAT:
                command = VoidSeat(actor=actor, device=device, event=event, table=table, seat=self._seat)
            case Act.VOID_ROUND:
                command = VoidRound(actor=actor, device=device, event=event, table=table)
            case Act.COUNT_MISMATCH:
                facts = {"accepted": len(book.tables[table].wagers)}
                command = Note(
                    actor=actor, device=device, event=event, kind=Kind.COUNT_MISMATCH, table=table, facts=facts
                )
            case Act.SETTLE_AWARD | Act.VOID_AWARD:
                return self._settle(act, book, actor, event, device)
            case _:
                return ()
        return (command,)

    def _number(self, book: Book, actor: Actor, event: Event, device: str) -> tuple[Command, ...]:
        """Digits and ENTER where numbers make the hands: a spin, or for a supervisor the last one taken back.

        To take it back its number is keyed, so that nobody takes back another one than he sees.
        """
        table = self._table.id
        if self.state is Pad.DIGITS:
            return (Number(actor=actor, device=device, event=event, table=table, number=self._digits),)
        streak = book.tables[table].streak
        if streak is not None and streak.numbers[-1] != self._digits:
            self._answer = f"{pad_words.REFUSED} LAST WAS {streak.numbers[-1]}"
            return ()
        return (VoidSpin(actor=actor, device=device, event=event, table=table),)

    def _settle(self, act: Act, book: Book, actor: Actor, event: Event, device: str) -> tuple[Command, ...]:
        if self._award is None:
            self._answer = words.NO_AWARD
            return ()
        if act is Act.VOID_AWARD:
            return (Void(actor=actor, device=device, event=event, award=self._award, reason="keypad"),)
        if book.awards[self._award].pending:
            return (Confirm(actor=actor, device=device, event=event, award=self._award),)
        return (Pay(actor=actor, device=device, event=event, award=self._award, cashier=actor.id),)

    # ── what was keyed ──────────────────────────────────────────────────────────────────────────────────────────

    def _numbers(self, book: Book) -> bool:
        """Digits may be a spin or roll: the table is locked, and numbers make its hands."""
        locked = book.tables[self._table.id].state is TableStatus.LOCKED
        return locked and book.links[self._table.link].rules.numbers

    def _add_digit(self, digit: int) -> None:
        if len(self._digits) >= DIGITS_MAX:
            self._answer = words.NO_TOO_LONG
        else:
            self._digits += str(digit)

    @property
    def _seat(self) -> int:
        return int(self._digits)

    def _seats(self) -> tuple[int, ...]:
        """The seats of JOIN: one digit each, or two where the table has more than nine seats."""
        width = 1 if self._table.seats <= 9 else 2
        groups = [self._digits[start : start + width] for start in range(0, len(self._digits), width)]
        return tuple(sorted({int(group) for group in groups}))

    def _hand_key(self, book: Book, number: int) -> str:
        """Hand key i is row i of the link's pay table; a key beyond it names a hand that no table has."""
        rows = book.links[self._table.link].settings.paytable.rows
        return rows[number - 1].hand if number <= len(rows) else f"hand-{number}"

    def _next_award(self, book: Book) -> str | None:
        """The award a supervisor is asked about: pending ones first, in ledger order; the key again, the next one."""
        mine = [award for award in book.awards.values() if award.table == self._table.id]
        queue = [award.id for award in mine if award.pending]
        queue += [award.id for award in mine if award.status is AwardStatus.CONFIRMED]
        if not queue:
            return None
        return queue[(queue.index(self._award) + 1) % len(queue)] if self._award in queue else queue[0]

    # ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────

    def text(self, book: Book) -> str:
        """Line 2."""
        shown = self._words(book)
        return shown[: self._width] + pad_words.MARK if self._mark else shown[: self._columns]

    def beside_locked(self, book: Book) -> tuple[str, ...]:
        """What line 1 shows beside LOCKED while something is keyed: the envy of a preview, the amount of an award."""
        if self.state is Pad.HAND:
            envy = self._preview(book).envy_cents
            return (f"ENVY {envy // 100}" if envy % 100 == 0 else f"E {words.amount(envy)}", f"E{words.amount(envy)}")
        if self.state is Pad.SUPERVISOR and self._award is not None:
            cents = book.awards[self._award].amount_cents
            return (f"${words.amount(cents)}", f"${cents // 100}")
        return ()

    def _words(self, book: Book) -> str:
        if self._answer is not None:
            return self._answer
        match self.state:
            case Pad.DIGITS:
                return f"{'' if self._numbers(book) else 'S'}{self._digits}"
            case Pad.SUPERVISOR_DIGITS:
                return f"{'' if self._numbers(book) else 'S'}{self._digits} SUP"
            case Pad.HAND:
                return self._preview_words(book)
            case Pad.SUPERVISOR:
                return self._award_words(book)
            case Pad.EMPTY:
                waits = any(book.awards[award].state_word == "pending" for award in book.tables[self._table.id].awards)
                return pad_words.WAIT_SUPERVISOR if waits else ""

    def _award_words(self, book: Book) -> str:
        if self._award is None:
            return words.NO_AWARD
        award = book.awards[self._award]
        rows = [row.hand for row in book.links[award.link].settings.paytable.rows]
        hand_key = rows.index(award.hand) + 1 if award.hand in rows else None
        return words.award_line(award, hand_key, self._width)

    def _preview_words(self, book: Book) -> str:
        found = self._preview(book)
        if found.refused is not None:
            return words.refused_preview_line(self._seat, self._hand, found.refused, self._columns)
        return words.preview_line(self._seat, self._hand, found.amount_cents, self._width)

    def _preview(self, book: Book) -> Preview:
        """Decided once for each state of the book, however often it is looked at."""
        key = (book.seq, self._seat, self._hand)
        if self._previewed is None or self._previewed[0] != key:
            self._previewed = (key, preview(book, self._table, self._seat, self._hand_key(book, self._hand)))
        return self._previewed[1]
