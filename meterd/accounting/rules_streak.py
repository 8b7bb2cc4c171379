"""Rules of a round that numbers decide: spins of a wheel, rolls of dice, one after the other until they have ended.

Sources: money rules M8; PA 617b.4(d)-(h): the first number after LOCK starts the streak at length 1, each greater one
adds 1, and it ends with a number that is not greater, with 36, or at the longest length listed. What a number does is
the ranking core's answer.

Choices where the rules leave one:
* A valid spin is keyed, a void one is not: it is spun again in the same round, so nothing needs to be entered.
* A number misread, or of a spin found void later, is taken back by a supervisor, the last one first. If it had ended
  the streak, the awards it made are voided with it; a confirmed one refuses that.
* A table has one source of numbers (its setting ``numbers``): the dealer's key, or a wheel that reports by itself (the
  system). The other is NOT_AUTHORISED, a supervisor's key too, for one spin reported and keyed would be two numbers. A
  wheel that falls silent in mid-streak leaves the round to VOID ROUND.
* A number after the end is ALREADY_DONE: the streak's own answer stands.
* A house that keeps the streak on the layout keys the result instead, by seat or for all; then no number is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from meterd.accounting.answer import (
    PIT,
    SUPERVISORS,
    Answer,
    entry,
    find_table,
    not_authorised,
    round_refusal,
    words_of_streak,
)
from meterd.accounting.book import Book
from meterd.accounting.commands import Command, Role
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.numbers import Progress, progress
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_common import claim_board, common_claims, live_seats, signs_of
from meterd.accounting.rules_confirm import second_refusal
from meterd.accounting.rules_past import void_awards
from meterd.accounting.rules_round import split
from meterd.accounting.settings import NumbersFrom
from meterd.accounting.state import AwardStatus, LinkState, TableState, TableStatus


def number(book: Book, command: Number) -> Answer:
    """A spin or roll. One that ends the streak makes the claims of all live seats, where the outcome is common."""
    found = _not_the_source(book, command) or _by_numbers(book, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    before = table.streak.numbers if table.streak is not None else ()
    standing = [name for name in table.awards if book.awards[name].status is not AwardStatus.VOIDED]
    if standing and not before:
        return Refused(Refusal.SEAT_ALREADY_CLAIMED, f"{standing[0]}: the result of this round was keyed by hand")
    ended = table.streak is not None and table.streak.ended
    reached = progress(link.settings.paytable, (command.number,) if ended else (*before, command.number))
    if isinstance(reached, Refused):
        return reached
    if ended:
        return Refused(Refusal.ALREADY_DONE, f"the streak has ended, {words_of_streak(table)}")
    keyed = entry(
        command,
        Kind.NUMBER_KEYED,
        {"number": command.number, **_streak_facts(table, (*before, command.number), reached)},
        table=command.table,
        link=link.settings.id,
    )
    seats = live_seats(book, table)
    if reached.row is None or not link.settings.paytable.common_outcome or isinstance(seats, Refused):
        return (keyed,)
    signs = signs_of(link, command.signs)
    claims = common_claims(book, command, table, link, reached.row.hand, seats, signs, first=False)
    return claims if isinstance(claims, Refused) else (keyed, *claims)


def _not_the_source(book: Book, command: Number) -> Refused | None:
    """Who gives no numbers, or not at this table."""
    table = book.tables.get(command.table)
    refused = not_authorised(command.actor, PIT)
    if refused or table is None:
        return refused
    by_device = command.actor.role is Role.SYSTEM
    if by_device is (table.settings.numbers is NumbersFrom.DEVICE):
        return None
    source = f"{command.table}: its numbers come from the {table.settings.numbers.value}"
    return Refused(Refusal.NOT_AUTHORISED, source, "Nothing else may say one.")


def _by_numbers(book: Book, table_id: str) -> tuple[TableState, LinkState] | Refused:
    """A table whose round numbers decide now. One that is open always answers TABLE_NOT_LOCKED (M8)."""
    found = find_table(book, table_id)
    if isinstance(found, Refused):
        return found
    table, link = found
    if table.state is TableStatus.OPEN and link.suspended is None:
        return Refused(Refusal.TABLE_NOT_LOCKED, table_id)
    if not link.rules.numbers:
        no_numbers = Refused(Refusal.HAND_NOT_IN_PAYTABLE, f"{link.settings.paytable.id} looks at cards, not numbers")
        return round_refusal(table, link) or no_numbers
    return round_refusal(table, link) or found


def _streak_facts(table: TableState, numbers: tuple[str, ...], reached: Progress) -> dict[str, Any]:
    return {
        "round": table.round,
        "numbers": list(numbers),
        "length": reached.length,
        "ended": reached.ended,
        "hand": reached.row.hand if reached.row is not None else None,
    }


def void_spin(book: Book, command: VoidSpin) -> Answer:
    """The last number of the round is taken back, and with it the awards it made."""
    refused = not_authorised(command.actor, SUPERVISORS) or second_refusal(command.actor, command.second)
    found = refused or _by_numbers(book, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    if table.streak is None:
        return Refused(Refusal.ALREADY_DONE, "no number has been keyed in this round")
    voids: tuple[Entry, ...] = ()
    if table.streak.ended:
        awards = [book.awards[name] for name in table.awards]
        voided = void_awards(book, command, link, awards, "void spin", command.second)
        if isinstance(voided, Refused):
            return voided
        voids, _ = voided
    *rest, last = table.streak.numbers
    reached = progress(link.settings.paytable, rest) if rest else Progress(0, False, None)
    if isinstance(reached, Refused):
        return reached
    back = entry(
        command,
        Kind.SPIN_VOIDED,
        {"number": last, **_streak_facts(table, tuple(rest), reached)},
        table=command.table,
        link=link.settings.id,
        first=not voids,
    )
    return (*voids, back)


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {
    Number: number,
    VoidSpin: void_spin,
    ClaimBoard: claim_board,
    Split: split,
}
