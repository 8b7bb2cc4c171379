"""The dealer's line: keys become a claim, or another act on the round, and nothing is taken before ENTER.

Rule 1: before ENTER the pad shows seat, hand, amount and envy as they would be decided now; showing changes nothing.
Rule 2: which presses count is :mod:`~meterd.floor.keys`' answer. Where they have no order nothing is taken, the line is
cleared, the pad says so.
Rule 3: each key changes the text, so that whoever pressed it sees that it was taken. Where the words would be the same
as before, a full stop behind them comes or goes.
Rule 4: a key that asks for an entry is answered when the entry is decided, not when the key is seen.
Rule 5: a supervisor's act is signed by the badges read on this pad, else by its key switch, which is a lock of its own
wired to an input. Where SUPERVISOR is a key like any other it signs nothing. A badge that was read shows who, then
ENTER shows the award, then ENTER takes it.
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
    Correct,
    Event,
    Fold,
    Hold,
    Join,
    Note,
    Pay,
    Role,
    Void,
    VoidRound,
    VoidSeat,
)
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import Kind
from meterd.accounting.settings import TableSettings
from meterd.accounting.state import AwardStatus, TableStatus
from meterd.floor import words
from meterd.floor.badges import Badges
from meterd.floor.keys import Press
from meterd.floor.previews import Preview, preview, preview_board, preview_correct
from meterd.floor.transitions import Act, Pad, Signal, apply
from protocols import pad_words

DIGITS_MAX: Final = 9  # every seat of a table may be joined; a line of 16 columns holds them
#: Acts that only say something.
_ANSWERS: Final[Mapping[Act, str]] = {
    Act.CLEAR: words.OK_CLEAR,
    Act.SAY_NO_SEAT: words.NO_SEAT,
    Act.SAY_NO_HAND: words.NO_HAND,
    Act.SAY_NO_LINE: words.NO_LINE,
    Act.SAY_NO_AWARD: words.NO_AWARD,
    Act.SAY_NO_BADGE: words.NO_BADGE,
    Act.SAY_BADGE_NEEDED: words.NO_BADGE_YET,
    Act.SAY_BADGE_OVER: words.NO_BADGE_TIME,
    Act.SAY_KEY_ALONE: words.NO_KEY_ALONE,
    Act.SAY_TOO_FAST: pad_words.KEYS_TOO_FAST,
}
_SUPERVISING: Final = frozenset({Pad.BADGE, Pad.SUPERVISOR, Pad.SUPERVISOR_DIGITS, Pad.CORRECT})
#: What is taken as it is although the badge's time is over: it signs nothing.
_UNSIGNED: Final = frozenset({Signal.LOCK_KEY, Signal.CLEAR, Signal.TOO_FAST, Signal.CARD, Signal.CARD_UNKNOWN})


class Asked(NamedTuple):
    """What a key asks for: commands of the pad, or a signal that the table itself must answer, and by whom."""

    commands: tuple[Command, ...]
    to_table: Signal | None
    actor: Actor


class _By(NamedTuple):
    """Who asks, and which press it was: what every command of it carries."""

    actor: Actor
    second: Actor | None
    event: Event
    device: str


class PadLine:
    """The line of one table's pad, and the answer that stands there when nothing is keyed."""

    def __init__(
        self,
        table: TableSettings,
        columns: int = words.COLUMNS,
        badges: Badges | None = None,
        *,
        key_switch: bool = True,
    ) -> None:
        self.state = Pad.EMPTY
        self.badges = badges or Badges()
        self._table = table
        self._key_switch = key_switch
        self._columns = columns
        self._width = columns - 1  # of an amount: the last column is kept for the mark, or the mark would cut it
        self._digits = ""
        self._hand = 0
        self._award: str | None = None
        self._by_badge = False
        self._answer: str | None = None
        self._mark = False
        self._shown_before: str | None = None
        self._previewed: tuple[tuple[int, Pad, str, int, str | None], Preview] | None = None

    # ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────

    def press(self, press: Press, event: Event, device: str, book: Book, at_ms: int = 0) -> Asked:
        """Take one key. Whoever calls this calls :meth:`answered` once the commands are decided."""
        self._shown_before = self._words(book)
        before, signal = self.state, press.signal
        signing = self.badges.actors(at_ms)
        if before in _SUPERVISING and self._by_badge and not signing and signal not in _UNSIGNED:
            signal = Signal.BADGE_OVER
        elif signal is Signal.SUPERVISOR and not signing and not self._key_switch:
            signal = Signal.BADGE_NEEDED
        by = self._by(signing, event, device)
        step = apply(before, signal)
        if step.act is Act.SAY_NO_HAND and before is not Pad.BOARD and self._numbers(book):
            commands = self._number(book, by)
        else:
            commands = self._act(step.act, press.number, book, by)
        if isinstance(step.then, Pad):
            self.state = step.then
        if self.state in _SUPERVISING and (before not in _SUPERVISING or signal is Signal.CARD):
            self._by_badge = bool(signing)
        if self.state is Pad.EMPTY:
            self._digits, self._hand, self._award = "", 0, None
        if signal in {Signal.CLEAR, Signal.BADGE_OVER, Signal.CARD_UNKNOWN}:
            self.badges.drop()
        to_table = {Act.TABLE_LOCK: Signal.LOCK, Act.TABLE_END: Signal.END_GAME}.get(step.act)
        return Asked(commands, to_table, by.actor)

    def card(self, badge: str, event: Event, device: str, book: Book, at_ms: int) -> None:
        """A card was held to the pad. It asks for nothing by itself."""
        shown = self._words(book)
        known = self.badges.read(badge, at_ms)
        half_keyed = self.state in {Pad.HAND, Pad.BOARD, Pad.BOARD_HAND}
        self.press(Press(Signal.CARD if known else Signal.CARD_UNKNOWN, 0), event, device, book, at_ms)
        if half_keyed:
            self.badges.drop()
        self._shown_before = shown
        self.answered(book)

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
        """The pad went away: what was half keyed is gone, and whoever held a badge to it."""
        self._drop()
        self.badges.drop()
        self._answer, self._mark, self._shown_before = None, False, None

    def _drop(self) -> None:
        self.state = Pad.EMPTY
        self._digits, self._hand, self._award = "", 0, None

    def _by(self, signing: tuple[Actor, ...], event: Event, device: str) -> _By:
        if self.state not in _SUPERVISING or (self._by_badge and not signing):
            return _By(Actor(f"dealer@{self._table.id}", Role.DEALER), None, event, device)
        if signing:
            return _By(signing[0], signing[1] if len(signing) > 1 else None, event, device)
        return _By(Actor(f"sup-key@{self._table.id}", Role.SUPERVISOR), None, event, device)

    def _act(self, act: Act, number: int, book: Book, by: _By) -> tuple[Command, ...]:
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
            case Act.SETTLE_AWARD | Act.VOID_AWARD | Act.HOLD_AWARD | Act.CORRECT_AWARD:
                return self._settle(act, book, by)
            case _:
                return self._commands(act, book, by)
        return ()

    def _commands(self, act: Act, book: Book, by: _By) -> tuple[Command, ...]:
        table = self._table.id
        actor, event, device = by.actor, by.event, by.device
        command: Command
        match act:
            case Act.CLAIM:
                hand = self._hand_key(book, self._hand)
                command = Claim(actor=actor, device=device, event=event, table=table, seat=self._seat, hand=hand)
            case Act.CLAIM_BOARD:
                hand = self._hand_key(book, self._hand)
                command = ClaimBoard(actor=actor, device=device, event=event, table=table, hand=hand)
            case Act.FOLD:
                command = Fold(actor=actor, device=device, event=event, table=table, seat=self._seat)
            case Act.SPLIT:
                command = Split(actor=actor, device=device, event=event, table=table, seat=self._seat)
            case Act.JOIN:
                command = Join(actor=actor, device=device, event=event, table=table, seats=self._seats())
            case Act.VOID_SEAT:
                command = VoidSeat(
                    actor=actor, device=device, event=event, table=table, seat=self._seat, second=by.second
                )
            case Act.VOID_ROUND:
                command = VoidRound(actor=actor, device=device, event=event, table=table, second=by.second)
            case Act.COUNT_MISMATCH:
                facts = {"accepted": len(book.tables[table].wagers)}
                command = Note(
                    actor=actor, device=device, event=event, kind=Kind.COUNT_MISMATCH, table=table, facts=facts
                )
            case _:
                return ()
        return (command,)

    def _number(self, book: Book, by: _By) -> tuple[Command, ...]:
        """Digits and ENTER where numbers make the hands: a spin, or for a supervisor the last one taken back.

        To take it back its number is keyed, so that nobody takes back another one than he sees.
        """
        table, keyed = self._table.id, self._number_keyed(book)
        if self.state is Pad.DIGITS:
            return (Number(actor=by.actor, device=by.device, event=by.event, table=table, number=keyed),)
        streak = book.tables[table].streak
        if streak is not None and streak.numbers[-1] != keyed:
            self._answer = f"{pad_words.REFUSED} LAST WAS {streak.numbers[-1]}"
            return ()
        return (VoidSpin(actor=by.actor, device=by.device, event=by.event, table=table, second=by.second),)

    def _settle(self, act: Act, book: Book, by: _By) -> tuple[Command, ...]:
        name, actor, event, device = self._award, by.actor, by.event, by.device
        if name is None:
            self._answer = words.NO_AWARD
            return ()
        match act:
            case Act.VOID_AWARD:
                return (Void(actor=actor, device=device, event=event, award=name, reason="keypad", second=by.second),)
            case Act.HOLD_AWARD:
                return (Hold(actor=actor, device=device, event=event, award=name),)
            case Act.CORRECT_AWARD:
                return (self._correction(book, name, by),)
            case _ if book.awards[name].pending:
                return (Confirm(actor=actor, device=device, event=event, award=name, second=by.second),)
            case _:
                return (Pay(actor=actor, device=device, event=event, award=name, cashier=actor.id),)

    def _correction(self, book: Book, award: str, by: _By) -> Correct:
        hand, seat = self._hand_key(book, self._hand), int(self._digits) if self._digits else None
        return Correct(actor=by.actor, device=by.device, event=by.event, award=award, hand=hand, seat=seat)

    # ── what was keyed ──────────────────────────────────────────────────────────────────────────────────────────

    def _numbers(self, book: Book) -> bool:
        """Digits may be a spin or roll: the table is locked, and numbers make its hands."""
        locked = book.tables[self._table.id].state is TableStatus.LOCKED
        return locked and book.links[self._table.link].rules.numbers

    def _number_keyed(self, book: Book) -> str:
        return words.number_keyed(book.links[self._table.link].settings.paytable, self._digits)

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
        if self.state in {Pad.HAND, Pad.BOARD_HAND, Pad.CORRECT}:
            envy = self._preview(book).envy_cents
            return (f"ENVY {envy // 100}" if envy % 100 == 0 else f"E {words.amount(envy)}", f"E{words.amount(envy)}")
        if self.state is Pad.SUPERVISOR and self._award is not None:
            cents, who = book.awards[self._award].amount_cents, self.badges.names if self._by_badge else ""
            named = (f"${words.amount(cents)} {who}",) if who else ()
            return (*named, f"${words.amount(cents)}", f"${cents // 100}")
        return ()

    def _words(self, book: Book) -> str:
        if self._answer is not None:
            return self._answer
        match self.state:
            case Pad.DIGITS | Pad.SUPERVISOR_DIGITS:
                sup = " SUP" if self.state is Pad.SUPERVISOR_DIGITS else ""
                return f"{'' if self._numbers(book) else 'S'}{self._digits}{sup}"
            case Pad.HAND | Pad.BOARD_HAND | Pad.CORRECT:
                return self._preview_words(book)
            case Pad.BOARD | Pad.BADGE:
                return pad_words.BOARD if self.state is Pad.BOARD else f"{pad_words.BADGE} {self.badges.names}"
            case Pad.SUPERVISOR:
                return self._award_words(book)
            case _:
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
        if self.state is Pad.CORRECT and self._award is None:
            return words.NO_AWARD
        what = {Pad.HAND: f"S{self._digits}", Pad.BOARD_HAND: pad_words.BOARD}.get(
            self.state, f"{self._award}{f' S{self._digits}' if self._digits else ''}"
        )
        found = self._preview(book)
        if found.refused is not None:
            return words.refused_preview_line(what, self._hand, found.refused, self._columns)
        return words.keyed_line(what, self._hand, found.amount_cents, self._width)

    def _preview(self, book: Book) -> Preview:
        """Decided once for each state of the book, however often it is looked at."""
        key = (book.seq, self.state, self._digits, self._hand, self._award)
        if self._previewed is None or self._previewed[0] != key:
            self._previewed = (key, self._decided(book))
        return self._previewed[1]

    def _decided(self, book: Book) -> Preview:
        hand = self._hand_key(book, self._hand)
        if self.state is Pad.BOARD_HAND:
            return preview_board(book, self._table, hand)
        if self.state is not Pad.CORRECT:
            return preview(book, self._table, self._seat, hand)
        if self._award is None:
            return Preview(0, 0, None)
        nobody = _By(Actor(f"sup-key@{self._table.id}", Role.SUPERVISOR), None, Event("", 0, 0), "")
        return preview_correct(book, self._correction(book, self._award, nobody))
