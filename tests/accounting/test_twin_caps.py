"""Random histories at tables with aggregate limits, reckoned by the rules and by the twin, account by account."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from test_twin import ACTS, LEVELS, ROWS, Act, rules
from test_twin_links import play
from twin_caps import CapState, CapTwin, Limits
from twin_records import Level, Row

#: The rows of the other histories, some of them at 50 to 1 and more: 16,000 is the smallest limit there can be.
HIGH = {
    **ROWS,
    "flush": Row((("for", 80, 1),), envy=40),
    "straight": Row((("to", 60, 1),)),
    "trips": Row((("percent", "0.1", "small"), ("to", 55, 1), ("for", 51, 1))),
    "pair": Row((("house", 6_000, False),)),
    "ace": Row((("to", 99, 2),)),
}
LIMITS = st.sampled_from([None, 16_000, 20_001, 30_000])


def twin_with(limits: Limits) -> type[CapTwin]:
    class State(CapState):
        pass

    class Twin(CapTwin):
        makes = State

    State.limits = {table: caps for table, caps in limits.items() if caps != (None, None)}
    return Twin


@given(
    big=LEVELS,
    small=LEVELS,
    returned=st.booleans(),
    confirm_above=st.sampled_from([0, 20_000, 1_000_000]),
    first=st.tuples(LIMITS, LIMITS),
    second=st.tuples(LIMITS, LIMITS),
    acts=ACTS,
)
@settings(max_examples=200)
def test_limits_agree_account_by_account(
    big: Level,
    small: Level,
    returned: bool,
    confirm_above: int,
    first: tuple[int | None, int | None],
    second: tuple[int | None, int | None],
    acts: list[Act],
) -> None:
    """Any limits at either table, any acts between and after rounds: the same answers and the same money."""
    link = rules(big, small, returned=returned, envy_scales=True, confirm_above=confirm_above)
    limits = {"T1": first, "T2": second}
    play(replace(link, rows=HIGH), acts, twin_with(limits), limits)
