"""Random histories of posted jackpots and table pools, reckoned twice, to the microcent.

A history is a list of small numbers, so that hypothesis can shrink it. After every act rules and twin must give the
same answer, and every account, posting, share and base runner must be the same.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from pool_steps import (
    PPM,
    Act,
    Ways,
    home_run_settings,
    home_run_step,
    rules_of,
    same_home_run,
    same_jackpot,
    same_money,
    step,
    trips_settings,
    trips_step,
)
from pool_twin import HomeRun, Jackpot, Trips
from pools_build import CardRoom

from meterd.app.scenario_world import differences

acts = st.lists(st.builds(Act, *[st.integers(0, 99)] * 4), max_size=60)
ways = st.builds(Ways, *[st.integers(0, 99)] * 7)


@settings(max_examples=300)
@given(ways, acts)
def test_a_jackpot_and_its_twin(way: Ways, history: Sequence[Act]) -> None:
    """Random rakes, postings, wins, caps, transfers, clocks: the same answers and the same microcents."""
    fund, pools = rules_of(way)
    room = CardRoom(fund, strict=False)
    twin = Jackpot("P1", pools)
    for act in history:
        step(room, twin, act)
        same_jackpot(room, twin)
    assert [] == differences(room.book, room.folded())


@settings(max_examples=200)
@given(acts)
def test_a_home_run_table_and_its_twin(history: Sequence[Act]) -> None:
    """Random hands, base runners, leavings and closings."""
    room = CardRoom(home_run_settings(), strict=False)
    twin = HomeRun("T3", 6)
    for act in history:
        home_run_step(room, twin, act)
        same_money(room, twin.all_accounts())
        same_home_run(room, twin)
    assert [] == differences(room.book, room.folded())


@settings(max_examples=200)
@given(st.integers(0, 40), acts)
def test_a_trips_table_and_its_twin(posted: int, history: Sequence[Act]) -> None:
    """Random bets, rakes, roll-overs, ties and hands folded by mistake; who got what, to the cent."""
    high = posted * 50_000 if 1 <= posted <= 19 else None
    room = CardRoom(trips_settings(high), strict=False)
    twin = Trips("T4", 6, None if high is None else Fraction(high, PPM))
    paid: dict[int | None, int] = {}
    for act in history:
        trips_step(room, twin, act, high)
        for one in room.entries[-1][1].body.get("paid", ()):
            paid[one["seat"]] = paid.get(one["seat"], 0) + one["cents"]
        same_money(room, twin.all_accounts())
    assert {seat: cents for seat, cents in twin.paid_to.items() if cents} == {s: c for s, c in paid.items() if c}
    assert [] == differences(room.book, room.folded())


def test_the_twin_knows_nothing_of_the_rules() -> None:
    """It imports nothing of meterd: the two can only agree by being right."""
    tree = ast.parse((Path(__file__).parent / "pool_twin.py").read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert [] == [name for name in modules if name.startswith("meterd")]
