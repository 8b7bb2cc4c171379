"""Aggregate limits: what of an award they touch, and who gives up how much.

Rule 1: they touch what the house pays at odds of 50 to 1 and more, and nothing else: no share of a meter, no fixed pay
        from a meter, no envy, not the wager that comes back (CO 47.1-1047(2)).
Rule 2: per player first, then per table, there only with two or more winners; pro rata, whole cents down, odd cents to
        the earlier claims.
Units: cents.

Choices where the rules leave one:
* A pay "for 1" and a fixed pay hold the wager's price in them: 51 for 1 is 50 to 1.
* At Caribbean Stud and Let It Ride the progressive wager is touched by no limit (CO 47.1-1099.11(11), 1099.13(15)).
* Limits on tips are in ``rules_tips``: a tip is no wager that a sensor sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from meterd.accounting.awards import odds_cents
from meterd.accounting.marks import Part
from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import LinkSettings, TableSettings
from meterd.accounting.state import Award, Caps, RoundSeats
from meterd.accounting.steps import row_at, table_at
from meterd.paytables.model import Pay, PayKind, PayTable

ODDS: Final = 50
UNTOUCHED_GAMES: Final = frozenset({"caribbean-stud", "let-it-ride"})


def touched(paytable: PayTable, game: str, pay: Pay) -> bool:
    """Whether an aggregate limit touches this kind of pay where this game is dealt."""
    if paytable.kind == "progressive" and game in UNTOUCHED_GAMES:
        return False
    match pay.kind:
        case PayKind.ODDS_TO:
            return pay.n >= ODDS * pay.d
        case PayKind.ODDS_FOR:
            return pay.n >= (ODDS + 1) * pay.d
        case PayKind.FIXED:
            return not pay.from_meter and pay.cents >= (ODDS + 1) * paytable.wager_cents
        case _:
            return False


def at_wager(paytable: PayTable, pay: Pay, wager_cents: int, chip_cents: int = 1) -> int:
    """What a pay comes to at a wager, without the wager that comes back. ``chip_cents``: the table's lowest chip."""
    if pay.kind is PayKind.FIXED:
        return pay.cents * wager_cents // paytable.wager_cents if pay.scales else pay.cents
    return odds_cents(paytable, pay, wager_cents, chip_cents)


def smallest_cap(paytable: PayTable, game: str, wager_cents: int, chip_cents: int = 1) -> int:
    """The smallest limit a table may post: its smallest wager at the highest odds (CO 47.1-1047(1)); 1 for any."""
    pays = (pay for row in paytable.rows for pay in row.pays)
    found = (at_wager(paytable, pay, wager_cents, chip_cents) for pay in pays if touched(paytable, game, pay))
    return max(found, default=1)


def least_cap(link: LinkSettings, table: TableSettings) -> int:
    """The same for a table of a link, whose pay tables may go with the size of the bet."""
    found = [(link.paytable, link.wager_cents), *((step, step.wager_cents) for step in link.steps)]
    return max(smallest_cap(printed, table.game, cents, table.lowest_chip_cents) for printed, cents in found)


def cap_problem(link: LinkSettings, table: TableSettings, caps: Caps | None = None) -> str | None:
    """Why a table's limits, or ``caps`` posted at it, cannot be, in words; None where they can."""
    least = least_cap(link, table)
    player, whole = (table.cap_player_cents, table.cap_table_cents) if caps is None else caps[1:3]
    tip = table.cap_tip_cents if caps is None else caps.tip_cents
    if tip is not None and tip < 1:
        return "a limit on tips is a cent at least"
    for whose, cents in (("player", player), ("table", whole)):
        if cents is not None and cents < least:
            return f"the limit per {whose} is {cents} cents; the smallest wager at the highest odds comes to {least}"
    return None


def touched_parts(rules: LinkRules, table: TableSettings, award: Award) -> tuple[int, ...]:
    """Per part of an award the cents that a limit touches, less what one has cut off them already."""
    wager_cents = award.units * rules.wager_cents
    printed = table_at(rules.settings, wager_cents)
    row = rules.rows.get(award.hand)
    row = row_at(rules.settings, row, wager_cents) if row is not None else None
    pays = [pay for pay in row.pays if pay.kind is not PayKind.LOSS] if row is not None else []
    if len(pays) != len(award.parts):
        return (0,) * len(award.parts)
    back = wager_cents if printed.original_wager_returned else 0
    found = []
    for pay, part in zip(pays, award.parts, strict=True):
        returned = 0
        if pay.kind is PayKind.ODDS_TO:
            returned, back = back, 0
        found.append(part.cents - returned if touched(printed, table.game, pay) else 0)
    return tuple(found)


def touched_late(rules: LinkRules, table: TableSettings, hand: str, cents: int) -> int:
    """The cents that a limit touches of an award proved after END GAME, whose amount people state as one.

    Choices: where a part of its row is touched by no limit nothing is, for nobody told which part is how large; of the
    wager that comes back the largest there can be is taken off. Where pay tables go with the size of the bet the
    first of them is read: nobody told how large the bet was.
    """
    row = rules.rows.get(hand)
    pays = [pay for pay in row.pays if pay.kind is not PayKind.LOSS] if row is not None else []
    paytable = rules.settings.paytable
    if not pays or not all(touched(paytable, table.game, pay) for pay in pays):
        return 0
    comes_back = paytable.original_wager_returned and any(pay.kind is PayKind.ODDS_TO for pay in pays)
    return max(0, cents - (rules.units_max * rules.wager_cents if comes_back else 0))


def cuts(caps: Caps, seats: RoundSeats, claims: Sequence[tuple[Award, int]]) -> dict[str, int]:
    """What each award of a round gives up: ``claims`` in their order, each with the cents a limit touches."""
    left = {award.id: cents for award, cents in claims}
    if caps.player_cents is not None:
        for player in _players(seats, claims):
            left |= _held_to(caps.player_cents, {name: left[name] for name in player})
    winners = sum(1 for player in _players(seats, claims) if any(left[name] for name in player))
    if caps.table_cents is not None and winners > 1:
        left = _held_to(caps.table_cents, left)
    return {award.id: cents - left[award.id] for award, cents in claims if cents != left[award.id]}


def _players(seats: RoundSeats, claims: Sequence[tuple[Award, int]]) -> list[list[str]]:
    """Awards of each player, seats joined by the dealer being one."""
    players: dict[frozenset[int], list[str]] = {}
    for award, _ in claims:
        players.setdefault(_player(seats, award), []).append(award.id)
    return list(players.values())


def _player(seats: RoundSeats, award: Award) -> frozenset[int]:
    return next((group for group in seats.groups if award.seat in group), frozenset({award.seat}))


def _held_to(cap_cents: int, claims: Mapping[str, int]) -> dict[str, int]:
    """Amounts that together stay within a limit."""
    total = sum(claims.values())
    if total <= cap_cents:
        return dict(claims)
    shares = {name: cents * cap_cents // total for name, cents in claims.items()}
    odd = cap_cents - sum(shares.values())
    for name in [name for name, cents in claims.items() if cents][:odd]:
        shares[name] += 1
    return shares


def left_for(caps: Caps, seats: RoundSeats, award: Award, mine: int, others: Sequence[tuple[Award, int]]) -> int:
    """What the limits of a round leave for an award, the others keeping what they have."""
    left = mine
    player = _player(seats, award)
    if caps.player_cents is not None:
        left = min(left, caps.player_cents - sum(cents for other, cents in others if other.seat in player))
    two_win = mine and any(cents for other, cents in others if other.seat not in player)
    if caps.table_cents is not None and two_win:
        left = min(left, caps.table_cents - sum(cents for _, cents in others))
    return max(0, left)


def spread(parts: tuple[Part, ...], touched_cents: tuple[int, ...], cut: int) -> tuple[int, ...]:
    """A cut over the parts of an award, from its last part on."""
    found = [0] * len(parts)
    for index in reversed(range(len(parts))):
        found[index] = min(cut, touched_cents[index])
        cut -= found[index]
    return tuple(found)
