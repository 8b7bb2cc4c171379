"""Envy: fixed pay to every other player's seat when one seat makes an envy hand (M9).

Rule 1: everyone with an accepted, not voided wager receives, folded or not; once per trigger; never for one's own hand.
Rule 2: seats joined by the dealer as one player get none from each other. A seat with two hands receives for each.
Rule 3: a scaling amount follows the *receiving* seat's wager ÷ the printed wager, whole cents down.
Rule 4: envy is for a hand that one seat has. What all seats have from the board, or by a streak, is nobody's hand
        unless the link says that it triggers (``board_triggers``; CO 47.1-1099.38, Envy Bonus (4)).
Rule 5: where the pay table prints it as the dealer's, it is a toke: the dealer receives it and no player does
        (CO 47.1-899.20(6)). A scaling toke follows the wager of the hand that won.
Rule 6: it is funded by the house and handed out at END GAME; for an award confirmed later, with its confirmation.
Rule 7: with ``highest``, an award confirmed after END GAME waits with its envy while a higher hand of its round is
        pending, so that it does not matter which is confirmed first. The higher one confirmed, it gives none; that one
        voided or corrected, it is handed out then. What END GAME has handed out stands.
Units: cents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import EnvyTo, EnvyTrigger
from meterd.accounting.state import Award, EnvyShare, RoundSeats


class Handed(NamedTuple):
    """What is handed out for the hands of a round: to seats, and to the dealer (cents and trigger)."""

    shares: tuple[EnvyShare, ...]
    tokes: tuple[tuple[int, str], ...]

    @property
    def share_cents(self) -> int:
        """What all seats receive together."""
        return sum(share.cents for share in self.shares)

    @property
    def toke_cents(self) -> int:
        """What the dealer receives."""
        return sum(cents for cents, _ in self.tokes)

    @property
    def cents(self) -> int:
        """All of it."""
        return self.share_cents + self.toke_cents


def handed_out(rules: LinkRules, seats: RoundSeats, triggers: Sequence[Award], given: Iterable[Award] = ()) -> Handed:
    """What each seat, or the dealer, receives from each trigger. Nothing for a trigger whose own wager was voided.

    ``given`` are awards of the round confirmed before. Choice: envy handed out at END GAME stands when a higher hand
    is confirmed later.
    """
    chosen = [award for award in _chosen(rules, triggers, given) if award.seat in seats.wagers]
    if rules.settings.envy.to is EnvyTo.DEALER:
        tokes = [(_toke_cents(rules, award.hand, award.units * rules.wager_cents), award.id) for award in chosen]
        return Handed((), tuple(toke for toke in tokes if toke[0]))
    found = [share for award in chosen for share in _from(rules, seats, award.seat, award.hand, award.id)]
    return Handed(tuple(sorted(found, key=lambda share: share.seat)), ())


def waits(rules: LinkRules, hand: str, pending: Iterable[str]) -> bool:
    """Whether, with ``highest``, one of these pending hands would give envy in place of this hand."""
    if rules.settings.envy.trigger is not EnvyTrigger.HIGHEST:
        return False
    order = [name for name, row in rules.rows.items() if row.envy_cents]
    return hand in order and any(other in order[: order.index(hand)] for other in pending)


def total_cents(rules: LinkRules, seats: RoundSeats, seat: int, hand: str, *, common: bool = False) -> int:
    """What a hand at a seat gives to the others in all: what a keypad shows before ENTER."""
    if common and not rules.settings.envy.board_triggers:
        return 0
    if rules.settings.envy.to is EnvyTo.DEALER:
        return _toke_cents(rules, hand, seats.wagers[seat].wager_cents)
    return sum(share.cents for share in _from(rules, seats, seat, hand, ""))


def _chosen(rules: LinkRules, triggers: Sequence[Award], given: Iterable[Award]) -> list[Award]:
    """The awards that give envy.

    With ``highest`` only those of the highest envy row that anybody holds. Where that row is the board's alone, nobody
    gives envy; a seat whose own hand was keyed in the same row holds a hand besides the board's.
    """
    envy = rules.settings.envy
    own = [award for award in triggers if envy.board_triggers or not award.common]
    if envy.trigger is not EnvyTrigger.HIGHEST:
        return own
    order = [hand for hand, row in rules.rows.items() if row.envy_cents]
    best = min((order.index(award.hand) for award in (*triggers, *given) if award.hand in order), default=None)
    return [award for award in own if award.hand in order and order.index(award.hand) == best]


def _toke_cents(rules: LinkRules, hand: str, wager_cents: int) -> int:
    row = rules.rows.get(hand)
    return _scaled(rules, row.envy_cents, wager_cents) if row is not None else 0


def _scaled(rules: LinkRules, cents: int, wager_cents: int) -> int:
    table = rules.settings.paytable
    return cents * wager_cents // table.wager_cents if table.envy_scales else cents


def _from(rules: LinkRules, seats: RoundSeats, winner: int, hand: str, award: str) -> list[EnvyShare]:
    row = rules.rows.get(hand)
    if row is None or not row.envy_cents:
        return []
    smallest = rules.settings.envy.min_cents
    player = next((group for group in seats.groups if winner in group), frozenset({winner}))
    found = []
    for seat, wager in seats.wagers.items():
        if seat in player or wager.wager_cents < smallest:
            continue
        cents = _scaled(rules, row.envy_cents, wager.wager_cents) * seats.hands(seat)
        if cents:
            found.append(EnvyShare(seat, cents, award))
    return found
