"""The twin's side of proofs: cards or a second person for a large award, a second person to void one.

Imports nothing of meterd. Written from the money rules alone. ``confirm`` shows a hand of cards (a row's key, or None)
and a second person or none.
"""

from __future__ import annotations

import copy

from twin_records import Win
from twin_streak import StreakRules, StreakState, StreakTwin, streak


class ProofState(StreakState):
    """Who was verified with what."""

    def confirm(self, award: str, shown: tuple[str, ...] = ()) -> None:
        super().confirm(award)
        if self.wins[award].verified:
            self.wins[award].shown |= set(shown)


class ProofTwin(StreakTwin):
    """A link at a site with thresholds. ``None`` is no threshold."""

    rules: StreakRules
    state: ProofState
    makes = ProofState
    cards_above: int | None = None
    two_person: int | None = None
    ranked: bool = False  # cards make the hands, and can be ranked

    def __init__(self, rules: StreakRules) -> None:
        super().__init__(rules)
        self.highest: dict[str, int] = {}  # the most an award ever had

    def do(self, act: tuple[object, ...], claims: int | None = None) -> str | None:
        reason = super().do(act, claims)
        self._note_highest()
        return reason

    def _again(self, table: str) -> None:
        super()._again(table)
        self._note_highest()

    def _note_highest(self) -> None:
        for award, win in self.state.wins.items():
            self.highest[award] = max(self.highest.get(award, 0), win.amount)

    def _carry_out(self, act: tuple[object, ...]) -> tuple[str, int] | None:
        if act[0] == "confirm" and len(act) > 2:
            shown = (*(("cards",) if act[2] else ()), *(("second",) if act[3] else ()))
            act = (act[0], act[1], shown)
        return super()._carry_out(act)

    # what is needed

    def needed(self, win: Win) -> str | None:
        """What else than a supervisor a pending award needs at the amount it has now."""
        if self.cards_above is None or win.status != "pending" or win.amount < self.cards_above:
            return None
        if self.ranked:
            return "cards"
        length, ended = streak(self.state.of(win.round), self.rules.longest)
        return None if ended and win.hand == f"streak-{length}" else "second"

    def _verified(self, win: Win) -> bool:
        needed = self.needed(win)
        return win.verified and (needed is None or needed in win.shown)

    def needs_second(self, win: Win) -> bool:
        """Whether one person alone may not void it: by the most it ever had."""
        return self.two_person is not None and self.highest.get(win.id, 0) > self.two_person

    # why not

    def _award_why_not(self, act: tuple[object, ...]) -> str | None:
        win = self.state.wins.get(str(act[1])) or self.voided.get(str(act[1]))
        if win is not None and act[0] == "confirm":
            reason = self._unproven(win, *act[2:])
            if reason is not None:
                return reason
        if win is not None and act[0] == "void" and self.needs_second(win) and act[2:] != (True,):
            return "SECOND_PERSON_REQUIRED"
        return super()._award_why_not(act)

    def _unproven(self, win: Win, cards: object = None, second: object = False) -> str | None:
        if self.needed(win) == "second" and not second:
            return "SECOND_PERSON_REQUIRED"
        if win.status == "pending" and self.state.dead(win):
            return "SEAT_FOLDED"
        lacking = cards is None and self.needed(win) == "cards"
        other = self.ranked and cards is not None and cards != win.hand
        return "CARDS_DISAGREE" if lacking or other else None

    def _about_table_why_not(self, act: tuple[object, ...], table: str) -> str | None:
        reason = super()._about_table_why_not(act, table)
        verbs = {"void-seat": 3, "void-round": 2, "void-spin": 2}
        if (
            reason not in {None, "ROUND_HAS_CONFIRMED_AWARD"}
            or act[0] not in verbs
            or act[verbs[str(act[0])] :] == (True,)
        ):
            return reason
        current = self.state.running(table)
        gone = [win for win in reversed(self.wins_of(current)) if win.status == "pending"]
        if act[0] == "void-seat":
            gone = [win for win in gone if win.seat == act[2]]
        if act[0] == "void-spin" and not self._over(current):
            gone = []
        if any(self.needs_second(win) for win in gone) or (reason is None and self._comes_to_need(gone)):
            return "SECOND_PERSON_REQUIRED"
        return reason

    def _comes_to_need(self, gone: list[Win]) -> bool:
        """One of several comes to need a second person when those voided before it leave it what they shared."""
        if self.two_person is None or len(gone) < 2:
            return False
        other = copy.deepcopy(self)
        for win in gone:
            if other.state.wins[win.id].amount > self.two_person:
                return True
            other._void(win.id)
        return False
