"""Disputed hands of one round, settled in any order: the envy of the highest hand, by the rules and by the twin."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from test_twin import COMMANDS, compare
from test_twin_streak import CARDS, STREAK_COMMANDS, Real, random_link
from twin_records import Row
from twin_streak import StreakRules, StreakTwin

#: Fixed pays with envy, so that every order of confirmations is possible; and hands on meters that tie.
HANDS = {
    **CARDS,
    "five-of-a-kind": Row((("house", 5_000, False),), envy=90),
    "four-aces": Row((("house", 4_000, False),), envy=60),
    "four-kings": Row((("house", 3_000, False),), envy=20),
}

FIXED = ["five-of-a-kind", "four-aces", "four-kings"]


class Round:
    """Both reckonings, and how many times a void or a correction handed out envy."""

    def __init__(self, link: StreakRules) -> None:
        self.twin, self.real, self.by_void = StreakTwin(link), Real(link), 0

    def do(self, *act: object) -> None:
        before = self.twin.state.handed_out
        command = {**COMMANDS, **STREAK_COMMANDS}[str(act[0])](*act[1:])
        assert self.twin.do(act) == self.real.act(command), (act, self.twin.history)
        compare(self.twin, self.real.book)
        self.by_void += act[0] in {"void", "correct"} and self.twin.state.handed_out > before

    def pending(self) -> list[str]:
        return [name for name, win in self.twin.state.wins.items() if win.status == "pending"]

    def until_the_end(self, pick: random.Random, hands: list[str]) -> list[str]:
        """Four hands, some confirmed, the others held; END GAME. The awards still pending."""
        self.do("lock", "T1", {seat: pick.choice([1, 3]) for seat in (1, 2, 3, 4)})
        for seat in (1, 2, 3, 4):
            self.do("claim", "T1", seat, pick.choice(hands), {})
        for award in self.pending():
            self.do(pick.choice(["hold", "hold", "hold", "confirm"]), award)
        mine = self.pending()
        for award in mine:
            self.do("hold", award)
        self.do("end", "T1")
        return mine

    def settle(self, pick: random.Random, mine: list[str]) -> None:
        """Confirm, void, correct and undo at random; a hand is corrected to another fixed pay."""
        for _ in range(12 if mine else 0):
            award = pick.choice(mine)
            hand = pick.choice(FIXED)
            win = self.twin.state.wins.get(award)
            if win is not None and win.status == "confirmed" and pick.random() < 0.3:
                self.do("undo", award)
                continue
            may = win is not None and win.status == "pending" and not win.percent and hand != win.hand
            if may and pick.random() < 0.25:
                self.do("correct", award, None, hand)
            else:
                self.do(pick.choice(["confirm", "confirm", "void"]), award)
        for award in self.pending():
            self.do("void", award)


@pytest.mark.parametrize("seed", range(4))
def test_envy_of_disputed_hands_agrees_whatever_the_order(seed: int) -> None:
    """Confirmed, voided, corrected at random after END GAME."""
    pick = random.Random(seed)
    hands = [*FIXED, *FIXED, *(hand for hand, row in CARDS.items() if row.envy)]
    by_void = 0
    for _ in range(6):
        both = Round(replace(random_link(pick, HANDS), trigger="highest", envy_min=0))
        for _ in range(6):
            both.settle(pick, both.until_the_end(pick, hands))
        assert vars(both.real.fold()) == vars(both.real.book)
        by_void += both.by_void
    assert 0 < by_void
