"""Rules of awards outside their round: nobody collects one, or one is proved after END GAME.

Sources: money rules M4 (a claim after END GAME) and M5 (unclaimed awards).
Units: ``*_cents``; moves in microcents.
"""

from __future__ import annotations

from typing import Any

from meterd.accounting import when
from meterd.accounting.answer import (
    SECONDS,
    Answer,
    entry,
    find_table,
    level_facts,
    not_authorised,
    not_confirmed,
    site_of,
)
from meterd.accounting.book import Book
from meterd.accounting.commands import Role
from meterd.accounting.commands_links import AdjustClaim, Dispose, MarkUnclaimed
from meterd.accounting.entries import Kind
from meterd.accounting.meter import REVENUE, LevelMoney, Moves
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_claims import row_of
from meterd.accounting.rules_limits import late_limits, may_be_cut
from meterd.accounting.state import Award, AwardStatus, LinkState, TableState, TableStatus
from meterd.accounting.two_people import (
    amount_refusal,
    does_not_fit,
    ended,
    in_play,
    level_of,
    out_of_bounds,
    pending_on,
    people_refusal,
    shifts,
    signed,
)
from meterd.money import MICROCENTS_PER_CENT

AUTHORITY = "authority"
HOUSE = "house"


def mark_unclaimed(book: Book, command: MarkUnclaimed) -> Answer:  # noqa: PLR0911 - one return per refusal
    """A confirmed award was not collected within the site's days: it is still owed, and now lies with the unclaimed.

    The days run from the confirmation. Choice: a site that names no number of days has no unclaimed awards (NOT_YET).
    It can still be paid, for whoever proves to be the winner.
    """
    refused = not_authorised(command.actor, SECONDS | {Role.SYSTEM})
    if refused:
        return refused
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    if award.status is not AwardStatus.CONFIRMED:
        return not_confirmed(award)
    days = site_of(book).unclaimed_days
    if days is None:
        return Refused(Refusal.NOT_YET, "this site names no days after which an award is unclaimed", "Pay it.")
    until = when.plus_days(award.confirmed_at_utc, days)
    if not when.reached(when.now(book, command), until):
        return Refused(Refusal.NOT_YET, f"{award.id}: not before {until}", "Wait until then.")
    if may_be_cut(book, award, book.tables[award.table]):
        return Refused(Refusal.NOT_YET, f"{award.id}: an aggregate limit is reckoned at END GAME", "END GAME first.")
    if award.unclaimed:
        return Refused(Refusal.ALREADY_DONE, f"{award.id} is unclaimed")
    amount = award.amount_cents * MICROCENTS_PER_CENT
    body = {"award": award.id, "amount_cents": award.amount_cents, "confirmed_at_utc": award.confirmed_at_utc}
    moves: Moves = {f"payable/{award.id}": -amount, f"unclaimed/{award.link}": amount}
    return (entry(command, Kind.UNCLAIMED, body, table=award.table, link=award.link, moves=moves),)


def dispose(book: Book, command: Dispose) -> Answer:  # noqa: PLR0911 - one return per refusal
    """What becomes of an unclaimed award, by two people of two departments with a reference.

    Choices: it goes to the meter of a level within its limit (and not while that link is in play), to the authority
    that takes unclaimed money (handed out: ``paid``), or to the house where the site may release players' money.
    """
    if command.to == HOUSE and not site_of(book).release_to_house:
        return Refused(Refusal.NOT_AUTHORISED, "this site gives no players' money to the house", "Nobody may.")
    refused = people_refusal(command)
    if refused:
        return refused
    goal = None if command.to in {AUTHORITY, HOUSE} else level_of(book, command.to)
    if isinstance(goal, Refused):
        return goal
    refused = ended(goal[0]) if goal is not None else None
    if refused:
        return refused
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    if award.status is not AwardStatus.CONFIRMED or not award.unclaimed:
        return Refused(Refusal.AWARD_NOT_PENDING, f"{award.id} is {award.state_word}, not unclaimed")
    refused = _may_not_take(book, goal, award) if goal is not None else None
    return refused or _disposed(command, award, goal)


def _may_not_take(book: Book, goal: tuple[LinkState, LevelMoney], award: Award) -> Refused | None:
    link, level = goal
    return (
        pending_on(book, link, [level.rules.name])
        or does_not_fit(level, award.amount_cents * MICROCENTS_PER_CENT)
        or in_play(book, [link.settings.id])
    )


def _disposed(command: Dispose, award: Award, goal: tuple[LinkState, LevelMoney] | None) -> Answer:
    amount = award.amount_cents * MICROCENTS_PER_CENT
    account = REVENUE if command.to == HOUSE else f"paid/{award.table}"
    body = {"award": award.id, "amount_cents": award.amount_cents, "to": command.to, "shifts": [], **signed(command)}
    if goal is not None:
        level = goal[1]
        level.meter += amount
        account = level.rules.meter
        body |= {"shifts": shifts((level, amount, "meter")), "levels": level_facts([level])}
    moves: Moves = {award.owed_account: -amount, account: amount}
    return (entry(command, Kind.DISPOSED, body, table=award.table, link=award.link, moves=moves),)


def adjust_claim(book: Book, command: AdjustClaim) -> Answer:  # noqa: PLR0911 - one return per refusal
    """An award proved after END GAME of its round: two people name it, the house pays it, no meter moves.

    Choices: the two state the amount, for the display of that moment stands in the ledger and in no account; the award
    takes the next number and is confirmed by its two signatures. Whether the seat had a wager is theirs to prove, for
    the book forgets a round that has ended; where awards of that round or of later ones have left the book for the
    sealed volumes, the entry says so, and whether the seat was paid then is for the two to look up. Beyond what the
    aggregate limits of the round leave it is refused, and the entry tells those limits. It gives no envy by itself.
    The running round takes claims, so it answers NOT_YET; one the table never had, ROUND_CLOSED.
    """
    refused = people_refusal(command)
    if refused:
        return refused
    found = find_table(book, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    refused = _no_late_claim(book, command, table)
    if refused:
        return refused
    row = row_of(link.rules, command.hand, None)
    if isinstance(row, Refused):
        return row
    place = (command.round, command.seat)
    limits = late_limits(book, table, link, place, row.hand, command.cents)
    refused = amount_refusal(command.cents) or _beyond_limits(command, limits)
    if refused:
        return refused
    if command.round == table.round and table.state is TableStatus.LOCKED:
        played = f"round {command.round} of {command.table} still takes claims"
        return Refused(Refusal.NOT_YET, played, "Key the claim at the table.")
    award = book.award_name()
    amount = command.cents * MICROCENTS_PER_CENT
    body = {
        "award": award,
        "round": command.round,
        "seat": command.seat,
        "hand": row.hand,
        "amount_cents": command.cents,
        **({"limits": limits} if limits is not None else {}),
        **({"awards_left": True} if command.round <= table.left_round else {}),
        **signed(command),
    }
    moves: Moves = {f"house/pays/{command.table}": -amount, f"payable/{award}": amount}
    return (entry(command, Kind.ADJUSTMENT, body, table=command.table, link=link.settings.id, moves=moves),)


def _beyond_limits(command: AdjustClaim, limits: dict[str, Any] | None) -> Refused | None:
    if limits is None or limits["touched_cents"] <= limits["left_cents"]:
        return None
    left = limits["left_cents"]
    return out_of_bounds(f"the limits of round {command.round} at {command.table} leave {left} cents at these odds")


def _no_late_claim(book: Book, command: AdjustClaim, table: TableState) -> Refused | None:
    """The round was played, the table has or had the seat, and the seat has no award of that round."""
    if not 1 <= command.round <= table.round:
        return Refused(
            Refusal.ROUND_CLOSED, f"{command.table} has had {table.round} rounds, not a round {command.round}"
        )
    if not 1 <= command.seat <= max(table.settings.seats, table.seats_before):
        return Refused(Refusal.SEAT_UNKNOWN, str(command.seat))
    for award in book.awards.values():
        place = (award.table, award.round, award.seat)
        if place == (command.table, command.round, command.seat) and award.status is not AwardStatus.VOIDED:
            return Refused(Refusal.SEAT_ALREADY_CLAIMED, f"seat {command.seat} has {award.id}")
    return None
