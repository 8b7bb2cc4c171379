"""Rules of tips: a bet that a player puts up for the dealer beside his own, and that wins at his odds.

Sources: CO 47.1-899.11(1)(c) and parallels (R13), 1099.11(4) (no tip on the progressive), 1047(7) (a maximum tip pay
out); money rules M10.
Units: ``*_cents``; moves in microcents.

A controller sees no tip: no sensor lies under it, and one that loses leaves no trace here. What it can know is a tip
that won, where the dealer keys it beside the award of the seat.

Choices where the rules leave one:
* It is keyed in the round, beside an award that is confirmed and of which a part is paid at odds: a share of a meter
  and a fixed pay are the progressive wager's, and no tip rides on that.
* It is at most the award's own wager: a player tips beside his bet, and no bet for the dealer stands above it (CO
  47.1-1099.11(4) says so of the ante).
* It is handed out at once, by the house: what wins at the seat's odds, and the tip itself, once, where the wager comes
  back. One tip for a seat and round, whatever becomes of the award; another only where the first was taken back.
* What it comes to is held against the thresholds of awards: from the first up a supervisor who did not key the award,
  above the other a second person. A dealer who keyed both cannot hand himself much.
* The posted limit touches what is paid at 50 to 1 and more, as the other aggregate limits (CO 47.1-1047(2)); the limits
  per player and table count no tip. It is the one the round was locked under.
* It stays handed out where its award is undone later. Keyed wrong, two people take it back, at any time, with a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from meterd.accounting.answer import (
    KEYS,
    SECONDS,
    SUPERVISORS,
    Answer,
    entry,
    not_authorised,
    not_confirmed,
    round_refusal,
    site_of,
)
from meterd.accounting.awards import odds_cents
from meterd.accounting.book import Book
from meterd.accounting.caps import touched
from meterd.accounting.commands import Command
from meterd.accounting.commands_streak import Tip, TipReason, UndoTip
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_confirm import same_person, second_refusal
from meterd.accounting.state import Award, LinkState, TableState
from meterd.accounting.steps import row_at, table_at
from meterd.accounting.two_people import amount_refusal
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_PER_CENT
from meterd.paytables.model import PayKind

#: Pays that a tip wins with.
ODDS: Final = frozenset({PayKind.ODDS_TO, PayKind.ODDS_FOR})


def tip(book: Book, command: Tip) -> Answer:
    """A tip that won beside an award is handed out, within the posted limit."""
    award = book.awards.get(command.award)
    refused = (
        not_authorised(command.actor, KEYS)
        or (_persons_refusal(book, command, award) if award is not None else None)
        or second_refusal(command.actor, command.second)
    )
    if refused or award is None:
        return refused or Refused(Refusal.AWARD_UNKNOWN, command.award)
    refused = _award_refusal(book, award) or _tip_refusal(book, award, command.cents)
    if refused:
        return refused
    won, cut, limit = _comes_to(book, award, command.cents)
    cents = won - cut
    body: dict[str, Any] = {
        "award": award.id,
        "seat": award.seat,
        "tip_cents": command.cents,
        "amount_cents": cents,
        "cut_cents": cut,
        "limit_cents": limit,
        **({"second": command.second.id} if command.second is not None else {}),
    }
    amount = cents * MICROCENTS_PER_CENT
    moves = {f"house/pays/{award.table}": -amount, f"paid/{award.table}": amount}
    return (entry(command, Kind.TIP_PAID, body, table=award.table, link=award.link, moves=moves),)


def undo_tip(book: Book, command: UndoTip) -> Answer:
    """Two people take back a tip that was keyed wrong: its money is in the tray again."""
    refused = not_authorised(command.actor, SECONDS) or second_refusal(command.actor, command.second)
    if refused:
        return refused
    if command.second is None:
        return Refused(
            Refusal.SECOND_PERSON_REQUIRED, f"{command.award}: a second person is needed", "Name a second person."
        )
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    if not award.tip_cents:
        return Refused(Refusal.ALREADY_DONE, f"{award.id} has no tip")
    body = {
        "award": award.id,
        "seat": award.seat,
        "amount_cents": award.tip_cents,
        "reason": TipReason(command.reason).value,
        "second": command.second.id,
    }
    amount = award.tip_cents * MICROCENTS_PER_CENT
    moves = {f"house/pays/{award.table}": amount, f"paid/{award.table}": -amount}
    return (entry(command, Kind.TIP_UNDONE, body, table=award.table, link=award.link, moves=moves),)


def _persons_refusal(book: Book, command: Tip, award: Award) -> Refused | None:
    """A large one is a supervisor's who did not key the award, and above the second threshold two people's.

    More than a tip can be is held against the thresholds as the most that it can be: it is refused for its amount.
    """
    won, cut, _ = _comes_to(book, award, min(command.cents, _wager_cents(book, award)))
    site = site_of(book)
    if not won or won - cut < site.confirm_above_cents:
        return None
    refused = not_authorised(command.actor, SUPERVISORS)
    if refused:
        return refused
    for person in (command.actor, command.second):
        if person is not None and any(same_person(person.id, keyer) for keyer in (award.keyed_by, *award.corrected_by)):
            return Refused(Refusal.SAME_PERSON, f"{person.id} keyed {award.id}")
    if command.second is None and site.two_person_cents is not None and won - cut > site.two_person_cents:
        return Refused(
            Refusal.SECOND_PERSON_REQUIRED, f"{award.id}: a tip of this amount takes two", "Name a second person."
        )
    return None


def _award_refusal(book: Book, award: Award) -> Refused | None:
    """Why no tip stands beside an award."""
    table, link = book.tables[award.table], book.links[award.link]
    refused = round_refusal(table, link)
    if refused:
        return refused
    if award.round != table.round:
        return Refused(Refusal.ROUND_CLOSED, f"round {award.round} of {award.table} is over")
    row = row_at(link.settings, link.rules.rows[award.hand], _wager_cents(book, award))
    if not any(pay.kind in ODDS for pay in row.pays):
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, f"{award.hand} pays no odds, and a tip wins at odds alone")
    if not award.stands:
        return not_confirmed(award)
    return None


def _tip_refusal(book: Book, award: Award, cents: int) -> Refused | None:
    """Why a tip cannot be of this amount, or is there already."""
    refused = amount_refusal(cents)
    most = _wager_cents(book, award)
    if not refused and cents > most:
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"the wager beside {award.id} is {most} cents")
    refused = refused or amount_refusal(min(_comes_to(book, award, cents)[0], AMOUNT_CENTS_MAX + 1))
    if refused:
        return refused
    for other in (book.awards[name] for name in book.tables[award.table].awards):
        if other.tip_cents and other.seat == award.seat:
            return Refused(Refusal.ALREADY_DONE, f"seat {award.seat} has its tip, beside {other.id}")
    return None


def _wager_cents(book: Book, award: Award) -> int:
    return award.units * book.links[award.link].rules.wager_cents


def _comes_to(book: Book, award: Award, cents: int) -> tuple[int, int, int | None]:
    """What a tip wins, how much of that the posted limit takes, and the limit."""
    table, link = book.tables[award.table], book.links[award.link]
    won, high = _won(table, link, award, cents)
    limit = table.round_tip_cents
    return won, 0 if limit is None else max(0, high - limit), limit


def _won(table: TableState, link: LinkState, award: Award, cents: int) -> tuple[int, int]:
    """What a tip comes to at the odds of an award, and how much of it is paid at odds that a limit touches."""
    wager_cents = award.units * link.rules.wager_cents
    printed = table_at(link.settings, wager_cents)
    row = row_at(link.settings, link.rules.rows[award.hand], wager_cents)
    won = high = 0
    back = cents if printed.original_wager_returned else 0
    for pay in row.pays:
        if pay.kind in ODDS:
            at_odds = odds_cents(printed, pay, cents, table.settings.lowest_chip_cents)
            high += at_odds if touched(printed, table.settings.game, pay) else 0
            won += at_odds + (back if pay.kind is PayKind.ODDS_TO else 0)
            back = 0 if pay.kind is PayKind.ODDS_TO else back
    return won, high


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {Tip: tip, UndoTip: undo_tip}
