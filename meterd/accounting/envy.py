"""Envy: fixed pay to every other player's seat when one seat makes an envy hand (M9).

Rule 1: everyone with an accepted, not voided wager receives, folded or not; once per trigger; never for one's own hand.
Rule 2: seats joined by the dealer as one player get none from each other.
Rule 3: a scaling amount follows the *receiving* seat's wager ÷ the printed wager, whole cents down.
Rule 4: what the pay table prints holds beside the link's settings: highest hand only, smallest wager, or an envy that
is the dealer's and no player's (CO 47.1-899.20(6)).
Rule 5: it is funded by the house and handed out at END GAME; for an award confirmed later, with its confirmation.
Units: cents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import EnvyTrigger
from meterd.accounting.state import Award, EnvyShare, RoundSeats


def shares(
    rules: LinkRules, seats: RoundSeats, triggers: Sequence[Award], given: Iterable[Award] = ()
) -> tuple[EnvyShare, ...]:
    """What each seat receives from each trigger, by seat. Nothing for a trigger whose own wager was voided.

    With ``highest`` only the hands of the highest row among ``triggers`` and ``given`` count; ``given`` are awards of
    the round confirmed before. Choice: envy handed out at END GAME stands when a higher hand is confirmed later.
    """
    chosen: Iterable[Award] = triggers
    if rules.settings.envy_trigger is EnvyTrigger.HIGHEST or rules.settings.paytable.envy_trigger == "highest":
        order = [hand for hand, row in rules.rows.items() if row.envy_cents]
        ranks = [order.index(award.hand) for award in (*triggers, *given) if award.hand in order]
        chosen = [award for award in triggers if award.hand in order and order.index(award.hand) == min(ranks)]
    found = [
        share
        for award in chosen
        if award.seat in seats.wagers
        for share in _from(rules, seats, award.seat, award.hand, award.id)
    ]
    return tuple(sorted(found, key=lambda share: share.seat))


def total_cents(rules: LinkRules, seats: RoundSeats, seat: int, hand: str) -> int:
    """What a hand at a seat gives to the others in all: what a keypad shows before ENTER."""
    return sum(share.cents for share in _from(rules, seats, seat, hand, ""))


def _from(rules: LinkRules, seats: RoundSeats, winner: int, hand: str, award: str) -> list[EnvyShare]:
    table = rules.settings.paytable
    row = rules.rows.get(hand)
    if row is None or not row.envy_cents or table.envy_to == "dealer":
        return []
    smallest = max(rules.settings.envy_min_cents, table.envy_min_cents)
    player = next((group for group in seats.groups if winner in group), frozenset({winner}))
    found = []
    for seat, wager in seats.wagers.items():
        if seat in player or wager.wager_cents < smallest:
            continue
        cents = row.envy_cents * wager.wager_cents // table.wager_cents if table.envy_scales else row.envy_cents
        if cents:
            found.append(EnvyShare(seat, cents, award))
    return found
