"""Rules of tips: a bet that a player puts up for the dealer beside his own, and that wins at his odds.

Sources: CO 47.1-899.11(1)(c) and parallels (R13), 1099.11(4) (no tip on the progressive), 1047(7) (a maximum tip pay
out); money rules M10.
Units: ``*_cents``; moves in microcents.

A controller sees no tip: no sensor lies under it, and one that loses leaves no trace here. What it can know is a tip
that won, where the dealer keys it beside the award of the seat.

Choices where the rules leave one:
* It is keyed in the round, beside an award that is confirmed and of which a part is paid at odds: a share of a meter
  and a fixed pay are the progressive wager's, and no tip rides on that.
* It is handed out at once, by the house: what wins at the seat's odds, and the tip itself, once, where the wager comes
  back. One tip for an award.
* The posted limit touches what is paid at 50 to 1 and more, as the other aggregate limits (CO 47.1-1047(2)); the limits
  per player and table count no tip. It is the one the round was locked under.
* It stays handed out where its award is undone later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from meterd.accounting.answer import KEYS, Answer, entry, not_authorised, round_refusal
from meterd.accounting.awards import odds_cents
from meterd.accounting.book import Book
from meterd.accounting.caps import touched
from meterd.accounting.commands import Command
from meterd.accounting.commands_streak import Tip
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.state import Award, LinkState, TableState
from meterd.accounting.steps import row_at, table_at
from meterd.accounting.two_people import amount_refusal
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_PER_CENT
from meterd.paytables.model import PayKind

ODDS_PAYS: Final = frozenset({PayKind.ODDS_TO, PayKind.ODDS_FOR})


def tip(book: Book, command: Tip) -> Answer:  # noqa: PLR0911 - one return per refusal
    """A tip that won beside an award is handed out, within the posted limit."""
    refused = not_authorised(command.actor, KEYS)
    if refused:
        return refused
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    table, link = book.tables[award.table], book.links[award.link]
    refused = round_refusal(table, link)
    if refused:
        return refused
    if award.round != table.round:
        return Refused(Refusal.ROUND_CLOSED, f"round {award.round} of {award.table}")
    if not any(pay.kind in ODDS_PAYS for pay in link.rules.rows[award.hand].pays):
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, f"{award.hand} pays no odds, and a tip wins at odds alone")
    if not award.stands:
        return Refused(Refusal.AWARD_NOT_PENDING, f"{award.id} is {award.state_word}, not confirmed")
    won, high = _won(table, link, award, command.cents)
    refused = amount_refusal(command.cents) or amount_refusal(min(won, AMOUNT_CENTS_MAX + 1))
    if refused:
        return refused
    if award.tip_cents:
        return Refused(Refusal.ALREADY_DONE, f"{award.id} has a tip of {award.tip_cents} cents")
    limit = table.round_tip_cents
    cut = 0 if limit is None else max(0, high - limit)
    cents = won - cut
    body: dict[str, Any] = {
        "award": award.id,
        "seat": award.seat,
        "tip_cents": command.cents,
        "amount_cents": cents,
        "cut_cents": cut,
        "limit_cents": limit,
    }
    amount = cents * MICROCENTS_PER_CENT
    moves = {f"house/pays/{award.table}": -amount, f"paid/{award.table}": amount}
    return (entry(command, Kind.TIP_PAID, body, table=award.table, link=award.link, moves=moves),)


def _won(table: TableState, link: LinkState, award: Award, cents: int) -> tuple[int, int]:
    """What a tip comes to at the odds of an award, and how much of it is paid at odds that a limit touches."""
    wager_cents = award.units * link.rules.wager_cents
    printed = table_at(link.settings, wager_cents)
    row = row_at(link.settings, link.rules.rows[award.hand], wager_cents)
    won = high = 0
    back = cents if printed.original_wager_returned else 0
    for pay in row.pays:
        if pay.kind in ODDS_PAYS:
            at_odds = odds_cents(printed, pay, cents, table.settings.lowest_chip_cents)
            high += at_odds if touched(printed, table.settings.game, pay) else 0
            won += at_odds + (back if pay.kind is PayKind.ODDS_TO else 0)
            back = 0 if pay.kind is PayKind.ODDS_TO else back
    return won, high


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {Tip: tip}
