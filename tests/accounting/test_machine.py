"""Anything in any order: links of any settings, any interleaving of acts, reckoned by the rules, their fold and a twin.

What is checked after every step stands in ``machine_world``. ``bench/accounting_runs.py`` plays the same for hours.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from machine_acts import VERBS
from machine_floor import random_world

NUMBERS = st.integers(0, 255)
#: Each verb once, and as one strategy those that carry a history on.
CARRYING = st.sampled_from(["lock", "claim", "claim", "claim", "confirm", "end"])


def picks(draw: Callable[[st.SearchStrategy[int]], int]) -> Callable[[int], int]:
    return lambda below: draw(st.integers(0, below - 1))


class Floor(RuleBasedStateMachine):
    """One link with its tables, on which each rule is one act."""

    @initialize(data=st.data())
    def link(self, data: st.DataObject) -> None:
        self.world = random_world(picks(data.draw))

    @rule(verb=CARRYING, a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def play_on(self, verb: str, a: int, b: int, c: int) -> None:
        self.world.step(verb, a, b, c)

    @rule(verb=st.sampled_from(sorted(set(VERBS))), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def anything(self, verb: str, a: int, b: int, c: int) -> None:
        self.world.step(verb, a, b, c)

    @rule(verb=st.sampled_from(["void", "correct", "undo", "void-seat", "void-round"]), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def change_the_past(self, verb: str, a: int, b: int, c: int) -> None:
        self.world.step(verb, a, b, c)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.restart()


TestFloor = Floor.TestCase
TestFloor.settings = settings(max_examples=230, stateful_step_count=70)


def test_histories_reach_what_is_rare() -> None:
    """Random histories come to proofs and second persons that lack, presses told twice, devices back, pools."""
    counts: Counter[str] = Counter()
    for seed in range(2_000, 2_060):
        numbers = random.Random(seed).randrange
        world = random_world(numbers)
        for _ in range(100):
            world.step(VERBS[numbers(len(VERBS))], numbers(256), numbers(256), numbers(256))
        counts.update(world.counts)
    wanted = {
        *(f"{verb} SECOND_PERSON_REQUIRED" for verb in ("confirm", "void", "void-seat")),
        *("confirm CARDS_DISAGREE", "claim-by-cards", "press lock ALREADY_DONE", "press claim ALREADY_DONE"),
        *("trust", "late", "lost", "stopped", "fund", "lock SEAT", "crash"),
    }
    assert set() == wanted - set(counts), counts
