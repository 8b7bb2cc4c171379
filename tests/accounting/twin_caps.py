"""The twin's side of aggregate limits: written from the money rules alone.

Imports nothing of meterd. What a limit cuts at END GAME becomes an act of the history, so that a void leaves the others
as they were cut, and a correction cuts the award anew.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from twin_links import LinkState, LinkTwin
from twin_records import Round, Rules, Win

Limits = dict[str, tuple[int | None, int | None]]  # table → for a player, for the table


class CapState(LinkState):
    """A link with tables that have aggregate limits."""

    limits: ClassVar[Limits] = {}

    def __init__(self, rules: Rules, pins: dict[str, list[int]] | None = None) -> None:
        super().__init__(rules, pins)
        self.corrected_awards: set[str] = set()

    def touched(self, win: Win) -> list[int]:
        """Places of the parts that are paid at 50 to 1 and more; the wager that comes back is a part of its own."""
        if win.round.table not in self.limits or not win.round.stakes:
            return []
        return self.high(win.hand)

    def late_reach(self, hand: str, cents: int) -> int:
        """Of a late award, stated in one sum: all but the largest wager that may come back, if all of it is high."""
        pays = self.rules.rows[hand].pays
        if not pays or len(self.high(hand)) < len(pays):
            return 0
        back = self.rules.returned and any(pay[0] == "to" for pay in pays)
        return max(0, cents - back * self.rules.units_max * self.rules.wager)

    def high(self, hand: str) -> list[int]:
        found = []
        for place, pay in enumerate(self.rules.rows[hand].pays):
            if pay[0] in {"for", "to"}:
                high = Fraction(int(str(pay[1])), int(str(pay[2]))) >= (51 if pay[0] == "for" else 50)
            else:
                high = pay[0] == "house" and int(str(pay[1])) >= 51 * self.rules.printed
            if high:
                found.append(place)
        return found

    def reach(self, win: Win) -> int:
        return sum(win.slices[place].cents for place in self.touched(win))

    def claim(
        self, award: str, table: str, seat: int, hand: str, signs: dict[str, int], corrected: bool = False
    ) -> None:
        super().claim(award, table, seat, hand, signs, corrected)
        win = self.wins[award]
        if corrected:
            self.corrected_awards.add(award)
        if win.status == "confirmed" and self.touched(win):
            win.status = "pending"

    def cap(self, award: str, cents: int) -> None:
        win = self.wins[award]
        self.move(f"payable/{award}", f"house/pays/{win.round.table}", Fraction(cents))
        for place in reversed(self.touched(win)):
            part = win.slices[place]
            cut = min(cents, part.cents)
            part.cents -= cut
            cents -= cut


class CapTwin(LinkTwin):
    """The history of a link with aggregate limits."""

    state: CapState
    makes = CapState

    def _carry_out(self, act: tuple[object, ...]) -> tuple[str, int] | None:
        current = self.state.rounds.get(str(act[1])) if act[0] == "end" else None
        if current is not None:
            by_rule = [win.id for win in self.wins_of(current) if self._by_rule(win)]
            for win, kept in self._kept(current):
                if kept < self.state.reach(win):
                    self._add(("cap", win.id, self.state.reach(win) - kept))
            for award in by_rule:
                self._add(("confirm", award))
        return super()._carry_out(act)

    def _correct(self, award: str, seat: object, hand: object) -> None:
        self.history = [act for act in self.history if act[:2] != ("cap", award)]
        super()._correct(award, seat, hand)
        win = self.state.wins[award]
        if win.round.ended and win.round.table in self.state.limits:
            over = self.state.reach(win) - self._left(win)
            if over > 0:
                self._add(("cap", award, over))

    def _by_rule(self, win: Win) -> bool:
        """It would have confirmed itself if no limit could touch it."""
        small = win.amount < self.rules.confirm_above and not win.percent
        waits = win.status == "pending" and not win.held and not self.state.dead(win)
        return bool(small and waits and self.state.touched(win)) and win.id not in self.state.corrected_awards

    def _in_the_running(self, current: Round) -> list[Win]:
        wins = self.wins_of(current)
        return [win for win in wins if win.status != "pending" or not self.state.dead(win)]

    def _kept(self, current: Round) -> list[tuple[Win, int]]:
        """What each award of a round keeps of what limits touch: per player, then per table."""
        player, table = self.state.limits.get(current.table, (None, None))
        wins = self._in_the_running(current)
        owner = {win.id: _player(current, win.seat) for win in wins}
        kept = {win.id: self.state.reach(win) for win in wins}
        if player is not None:
            for who in set(owner.values()):
                kept |= _shared(player, {award: cents for award, cents in kept.items() if owner[award] == who})
        if table is not None and len({owner[award] for award, cents in kept.items() if cents}) >= 2:
            kept = _shared(table, kept)
        return [(win, kept[win.id]) for win in wins]

    def _left(self, win: Win) -> int:
        player, table = self.state.limits[win.round.table]
        me = _player(win.round, win.seat)
        others = [
            (_player(win.round, other.seat), self.state.reach(other))
            for other in self._in_the_running(win.round)
            if other.id != win.id
        ]
        others += [
            (_player(win.round, other.seat), self.state.late_reach(other.hand, other.amount))
            for other in self.state.wins.values()
            if other.round.key == win.round.key and not other.round.stakes and other.status != "voided"
        ]
        mine = left = self.state.reach(win)
        if player is not None:
            left = min(left, player - sum(cents for who, cents in others if who == me))
        if table is not None and mine and any(cents for who, cents in others if who != me):
            left = min(left, table - sum(cents for _, cents in others))
        return max(0, left)

    # why not

    def _round_why_not(self, current: Round, verb: str) -> str | None:
        if verb != "end":
            return super()._round_why_not(current, verb)
        open_ = [win for win in self.wins_of(current) if win.status == "pending" and not win.held]
        return "ROUND_HAS_OPEN_AWARD" if any(not self._by_rule(win) for win in open_) else None

    def _award_why_not(self, act: tuple[object, ...]) -> str | None:
        reason = super()._award_why_not(act)
        if act[0] == "pay" and reason is None and self._not_reckoned(str(act[1])):
            return "NOT_YET"
        return reason

    def _unclaimed_why_not(self, award: str, late: bool) -> str | None:
        reason = super()._unclaimed_why_not(award, late)
        return "NOT_YET" if reason is None and self._not_reckoned(award) else reason

    def _late_why_not(self, *what: object) -> str | None:
        """A late award within what the others of its round have left of the limits, every seat a player of its own."""
        reason = super()._late_why_not(*what)
        if reason in {None, "NOT_YET"}:
            table, hand = str(what[0]), str(what[3])
            number, seat, cents = (int(str(what[index])) for index in (1, 2, 4))
            player, whole = self.state.limits.get(table, (None, None))
            reach = self.state.late_reach(hand, cents)
            same, rest = 0, 0
            for win in self.state.wins.values():
                if win.round.key == (table, number) and win.status != "voided":
                    late = not win.round.stakes
                    theirs = self.state.late_reach(win.hand, win.amount) if late else self.state.reach(win)
                    same, rest = (same + theirs, rest) if win.seat == seat else (same, rest + theirs)
            over = player is not None and same + reach > player
            over = over or (whole is not None and rest > 0 and same + rest + reach > whole)
            if reach and over:
                return "AMOUNT_OUT_OF_BOUNDS"
        return reason

    def _not_reckoned(self, award: str) -> bool:
        win = self.state.wins[award]
        return bool(self.state.touched(win)) and not win.round.ended


def _player(current: Round, seat: int) -> tuple[int, ...]:
    return next((tuple(sorted(group)) for group in current.groups if seat in group), (seat,))


def _shared(cap: int, amounts: dict[str, int]) -> dict[str, int]:
    """Whole cents pro rata; the odd cents one each to the earlier claims that have any."""
    whole = sum(amounts.values())
    if whole <= cap:
        return amounts
    shares = {award: int(Fraction(cents * cap, whole)) for award, cents in amounts.items()}
    odd = cap - sum(shares.values())
    for award in [award for award, cents in amounts.items() if cents][:odd]:
        shares[award] += 1
    return shares
