"""Rules of aggregate limits: posting another one, and cutting the awards of a round at its END GAME.

Sources: money rules M10; CO 47.1-1047(1), (2), (5), (6). What a limit touches and who gives up how much is in ``caps``.
Units: ``*_cents``; moves in microcents.

Choices where the rules leave one:
* A round plays under the limits that were in force when it was locked: those the players saw.
* Every award of the round counts that can still be paid, a held one too. What END GAME has cut stays cut when a held
  award is voided later; one corrected later gets at most what the others have left.
* An award proved after END GAME gets at most what the limits of its round leave, each seat being a player: who was
  joined is forgotten by then. No reference lets it pass them, for nobody else of the round could either; it cuts no
  award that stands.
* An award that a limit can touch is paid out after END GAME only (NOT_YET): before, its amount is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from meterd.accounting import caps, when
from meterd.accounting.answer import Answer, dead_hand, entry, find_table, site_of
from meterd.accounting.awards import ClaimFacts, amount_cents
from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.commands_links import PostCaps
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.marks import Part, cut_parts
from meterd.accounting.meter import LinkRules, Moves
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.state import Award, AwardStatus, Caps, LinkState, RoundSeats, TableState, TableStatus
from meterd.accounting.two_people import out_of_bounds, people_refusal, signed
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_PER_CENT

NOTICE_HOURS: Final = 24


def post_caps(book: Book, command: PostCaps) -> Answer:
    """Another aggregate limit is posted at a table and holds 24 hours later (CO 47.1-1047(6)).

    Never below the smallest wager at the highest odds (CO 47.1-1047(1)).
    """
    refused = people_refusal(command)
    if refused:
        return refused
    found = find_table(book, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    least = caps.least_cap(link.settings, table.settings)
    for cents in (command.player_cents, command.table_cents):
        if cents is not None and not least <= cents <= AMOUNT_CENTS_MAX:
            return out_of_bounds(f"a limit at {command.table} is at least {least} cents")
    if command.tip_cents is not None and not 0 < command.tip_cents <= AMOUNT_CENTS_MAX:
        return out_of_bounds(f"a limit on tips at {command.table} is a cent at least")
    newest = table.caps[-1] if table.caps else Caps("", None, None)
    if newest[1:] == (command.player_cents, command.table_cents, command.tip_cents):
        return Refused(Refusal.ALREADY_DONE, f"{command.table} has these limits")
    body = {
        "player_cents": command.player_cents,
        "table_cents": command.table_cents,
        **({"tip_cents": command.tip_cents} if command.tip_cents is not None else {}),
        "from_utc": when.plus_hours(when.now(book, command), NOTICE_HOURS),
        **signed(command),
    }
    return (entry(command, Kind.CAPS_POSTED, body, table=command.table, link=link.settings.id),)


def may_be_cut(book: Book, award: Award, table: TableState) -> bool:
    """Whether a limit of the running round can touch an award of it."""
    if table.round_caps is None or award.round != table.round or table.state is not TableStatus.LOCKED:
        return False
    return any(caps.touched_parts(book.links[award.link].rules, table.settings, award))


def waits_for_the_end(book: Book, table: TableState, facts: ClaimFacts, parts: tuple[Part, ...]) -> bool:
    """Whether a claim must not confirm itself before END GAME."""
    place = (facts.award, table.settings.link, facts.table, facts.round, facts.seat, facts.hand, facts.units)
    return may_be_cut(book, Award(*place, amount_cents(parts), "", "", parts=parts), table)


def cut_round(book: Book, command: Command, table: TableState) -> tuple[Entry, ...]:
    """At END GAME: one Capped entry for each award that gives up something."""
    limits = table.round_caps
    if limits is None:
        return ()
    rules = book.links[table.settings.link].rules
    awards = [book.awards[name] for name in table.awards]
    cut = _cuts(book, table, table.seats, limits, awards)
    entries: list[Entry] = []
    for award in awards:
        if award.id in cut:
            touched = caps.touched_parts(rules, table.settings, award)
            parts = caps.spread(award.parts, touched, cut[award.id])
            entries.append(capped(command, award, parts, limits, first=not entries))
    return tuple(entries)


def _cuts(book: Book, table: TableState, seats: RoundSeats, limits: Caps, awards: Iterable[Award]) -> dict[str, int]:
    rules = book.links[table.settings.link].rules
    claims = [
        (award, sum(caps.touched_parts(rules, table.settings, award)))
        for award in awards
        if _counts(table, seats, award)
    ]
    return caps.cuts(limits, seats, claims)


def _counts(table: TableState, seats: RoundSeats, award: Award) -> bool:
    """Whether an award is one of its round's: not voided, and not of a hand folded where a folded hand is dead."""
    return award.stands or (award.pending and not dead_hand(table, seats, award.seat))


def capped(command: Command, award: Award, cut: tuple[int, ...], limits: Caps, *, first: bool) -> Entry:
    """One award cut by an aggregate limit: what the house owes less of it."""
    parts = cut_parts(award.parts, cut)
    cents = sum(cut)
    body: dict[str, Any] = {
        "award": award.id,
        "from_cents": award.amount_cents,
        "amount_cents": amount_cents(parts),
        "cuts": list(cut),
        "parts": [part.to_json() for part in parts],
        "player_cents": limits.player_cents,
        "table_cents": limits.table_cents,
    }
    amount = cents * MICROCENTS_PER_CENT
    moves: Moves = {f"payable/{award.id}": -amount, f"house/pays/{award.table}": amount}
    return entry(command, Kind.CAPPED, body, table=award.table, link=award.link, moves=moves, first=first)


def confirms_at_the_end(book: Book, table: TableState, award: Award) -> bool:
    """An award that would have confirmed itself at the claim had a limit not been able to touch it.

    Choice: its amount before the cut is held against the threshold, as at the claim.
    """
    return (
        award.pending
        and may_be_cut(book, award, table)
        and not award.held
        and not award.has_percent
        and not award.corrected_by
        and not award.sign_above_meter
        and not dead_hand(table, table.seats, award.seat)
        and award.amount_cents < site_of(book).confirm_above_cents
    )


def cut_corrected(book: Book, command: Command, award: Award) -> tuple[Entry, ...]:
    """After a correction that follows END GAME: ``award`` as corrected gets at most what the others have left.

    Those proved after END GAME are among the others.
    """
    table = book.tables[award.table]
    seats = table.past.get(award.round)
    if seats is None or seats.caps is None:
        return ()
    rules = book.links[award.link].rules
    touched = caps.touched_parts(rules, table.settings, award)
    mine = sum(touched)
    others = [
        (other, _touched(rules, table, other))
        for other in book.awards.values()
        if _of_round(award, other) and other.id != award.id and _counts(table, seats, other)
    ]
    left = caps.left_for(seats.caps, seats, award, mine, others)
    if left >= mine:
        return ()
    cut = caps.spread(award.parts, touched, mine - left)
    return (capped(command, award, cut, seats.caps, first=False),)


def _of_round(award: Award, other: Award) -> bool:
    return (other.table, other.round) == (award.table, award.round)


def _touched(rules: LinkRules, table: TableState, award: Award) -> int:
    """The cents that a limit touches of an award, also of one proved after END GAME."""
    if award.late:
        return caps.touched_late(rules, table.settings, award.hand, award.amount_cents)
    return sum(caps.touched_parts(rules, table.settings, award))


def late_limits(
    book: Book, table: TableState, link: LinkState, place: tuple[int, int], hand: str, cents: int
) -> dict[str, Any] | None:
    """What the limits of a round, ``place`` being its number and a seat, leave for a late award.

    As facts for its entry, in cents; None where no limit touches it.
    """
    number, seat = place
    limits = table.caps_of_round(number)
    reach = caps.touched_late(link.rules, table.settings, hand, cents)
    if limits is None or not reach:
        return None
    mine = others = 0
    for award in book.awards.values():
        if (award.table, award.round) == (table.settings.id, number) and award.status is not AwardStatus.VOIDED:
            touched = _touched(link.rules, table, award)
            if award.seat == seat:
                mine += touched
            else:
                others += touched
    left = reach
    if limits.player_cents is not None:
        left = min(left, limits.player_cents - mine)
    if limits.table_cents is not None and others:
        left = min(left, limits.table_cents - mine - others)
    facts = {"player_cents": limits.player_cents, "table_cents": limits.table_cents}
    return {**facts, "touched_cents": reach, "others_cents": mine + others, "left_cents": max(0, left)}
