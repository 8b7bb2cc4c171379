"""Envy: fixed pay to every other player's seat when one seat makes an envy hand (M9).

Rule 1: everyone with an accepted, not voided wager receives, folded or not; once per trigger; never for one's own hand.
Rule 2: seats joined by the dealer as one player get none from each other. A seat with two hands receives for each.
Rule 3: a scaling amount follows the *receiving* seat's wager ÷ the printed wager, whole cents down.
Rule 4: envy is for a hand that one seat has. What all seats have from the board, or by a streak, is nobody's hand
        unless the link says that it triggers (``board_triggers``; CO 47.1-1099.38, Envy Bonus (4)).
Rule 5: where the pay table prints it as the dealer's, it is a toke: the dealer receives it and no player does
        (CO 47.1-899.20(6)). A scaling toke follows the wager of the hand that won.
Rule 6: it is funded by the house and handed out at END GAME; for an award confirmed later, with its confirmation.
Rule 7: with ``highest``, a confirmed award waits with its envy while a higher hand of its round is pending, so that it
        does not matter which is confirmed first, nor whether before or after END GAME. The higher one confirmed, it
        gives none; that one voided or corrected, it is handed out then.
Rule 8: what has been handed out stands. Where a hand becomes the highest later (a disputed one corrected upwards), each
        seat receives what it has not had yet from the lower ones, so that nobody has more than the highest gives.
Units: cents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import EnvyTo, EnvyTrigger
from meterd.accounting.state import DEALER_SEAT, Award, EnvyShare, RoundSeats
from meterd.money import MICROCENTS_PER_CENT


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

    def facts(self) -> dict[str, Any]:
        """The same as an entry tells it."""
        return {
            "envy": [list(share) for share in self.shares],
            "envy_cents": self.share_cents,
            "tokes": [list(toke) for toke in self.tokes],
            "toke_cents": self.toke_cents,
        }

    def moves(self, table: str) -> dict[str, int]:
        """What it moves, in microcents: the house pays, at this table."""
        amount = self.cents * MICROCENTS_PER_CENT
        return {f"house/pays/{table}": -amount, f"paid/{table}": amount} if amount else {}


def handed_out(rules: LinkRules, seats: RoundSeats, triggers: Sequence[Award], given: Iterable[Award] = ()) -> Handed:
    """What each seat, or the dealer, receives from each trigger. Nothing for a trigger whose own wager was voided.

    ``given`` are awards of the round confirmed before.
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


def handed_late(
    rules: LinkRules, seats: RoundSeats, triggers: Sequence[Award], of_round: Sequence[Award], given: Iterable[Award]
) -> Handed:
    """The same after END GAME: with ``highest``, less what the receivers have had from lower hands of the round.

    ``of_round`` are all awards of the round; of them, or confirmed by the same answer, are those ``given`` before.
    """
    given = [award for award in given if award not in triggers]
    handed = handed_out(rules, seats, triggers, given)
    if rules.settings.envy.trigger is not EnvyTrigger.HIGHEST or not seats.handed or not handed.cents:
        return handed
    giving = {trigger for *_, trigger in handed.shares} | {trigger for _, trigger in handed.tokes}
    best = next(award.hand for award in triggers if award.id in giving)
    hands = {award.id: award.hand for award in of_round}
    equals = [award for award in given if award.hand == best]
    counts = {name for name, hand in hands.items() if waits(rules, hand, [best])} | {award.id for award in equals}
    too_much: dict[int, int] = {}
    for share in seats.handed:
        if share.trigger_award in counts:
            too_much[share.seat] = too_much.get(share.seat, 0) + share.cents
    for share in _as_shares(handed_out(rules, seats, equals, triggers)):
        too_much[share.seat] = too_much.get(share.seat, 0) - share.cents
    left = _less(_as_shares(handed), too_much)
    return Handed(
        tuple(share for share in left if share.seat != DEALER_SEAT),
        tuple((share.cents, share.trigger_award) for share in left if share.seat == DEALER_SEAT),
    )


def _as_shares(handed: Handed) -> list[EnvyShare]:
    """What is handed out, the dealer's with that of the seats."""
    return [*handed.shares, *(EnvyShare(DEALER_SEAT, cents, trigger) for cents, trigger in handed.tokes)]


def _less(shares: Iterable[EnvyShare], too_much: dict[int, int]) -> list[EnvyShare]:
    """Shares less what each receiver has had already."""
    left = []
    for share in shares:
        taken = max(0, min(share.cents, too_much.get(share.seat, 0)))
        too_much[share.seat] = too_much.get(share.seat, 0) - taken
        if share.cents > taken:
            left.append(share._replace(cents=share.cents - taken))
    return left


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
