"""Anything a pad can tell, in any order: no exception, no identity twice, nobody signs without a badge."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_pads import ANN, BOB, DEE, PadFloor

from meterd.accounting.commands import Confirm, Correct, Hold, Pay, Void
from protocols import pad_words
from protocols.events import KEY_LOST, KEY_PART

KEY = st.sampled_from([*pad_words.KEYS, KEY_PART, KEY_LOST, "no-such-key"])
GAP_MS = st.sampled_from([0, 5, 30, 200, 200, 900, 16_000])
SEAT = st.integers(1, 7)
STEP = st.one_of(
    st.tuples(st.just("key"), KEY, GAP_MS),
    st.tuples(st.just("key"), KEY, GAP_MS),
    st.tuples(st.just("claim"), SEAT, st.integers(1, 4)),
    st.tuples(st.just("claim"), SEAT, st.integers(1, 4)),
    st.tuples(st.just("settle"), st.sampled_from([ANN, BOB, DEE])),
    st.tuples(st.just("card"), st.sampled_from([ANN, BOB, DEE, "26:FFFFFFC0"])),
    st.tuples(st.just("chips"), st.sets(SEAT, min_size=1), st.booleans()),
    st.tuples(st.just("lock")),
    st.tuples(st.just("end")),
    st.tuples(st.just("again")),
    st.tuples(st.just("skip"), st.integers(1, 3)),
    st.tuples(st.just("down")),
    st.tuples(st.just("up")),
    st.tuples(st.just("restart")),
)


def step(floor: PadFloor, what: str, *more: Any) -> list[Any]:  # noqa: PLR0911, C901 - one return a kind of step
    match what:
        case "key":
            return floor.press(more[0], gap_ms=more[1])
        case "claim":
            return floor.press(*str(more[0]), f"hand-{more[1]}", pad_words.KEY_ENTER)
        case "settle":
            return [*floor.card(more[0]), *floor.press(pad_words.KEY_ENTER, pad_words.KEY_ENTER)]
        case "card":
            return floor.card(more[0])
        case "chips":
            return floor.chips(*more[0], on=more[1])
        case "lock":
            return floor.lock_button()
        case "end":
            return floor.press(pad_words.KEY_END_GAME, gap_ms=2_000)
        case "again":
            floor.count = max(0, floor.count - 1)
            return floor.press("3")
        case "skip":
            floor.count += more[0]
            return []
        case "down":
            return floor.down(floor.keypad)
        case "up":
            return floor.pad_up()
        case _:
            floor.restart()
            return [*floor.up(floor.sensors), *floor.pad_up()]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEP, max_size=60))
def test_anything_a_pad_can_tell(steps: list[tuple[Any, ...]]) -> None:
    """Each press leads to one entry at most, a badge speaks for its time only, and the lines fit the display."""
    floor = PadFloor().open()
    badge_ms: dict[str, int] = {}
    for each in steps:
        if each[0] in {"card", "settle"}:
            badge_ms[{ANN: "s-ann", BOB: "s-bob", DEE: "d-dee"}.get(each[1], "")] = floor.now_ms + 200
        asked = step(floor, *each)
        for command in asked:
            if isinstance(command, Confirm | Correct | Hold | Pay | Void):
                names = {command.actor.id, getattr(command.second, "id", None) if hasattr(command, "second") else None}
                for name in names - {None}:
                    assert floor.now_ms - badge_ms[str(name)] <= 15_000 + 400, "a badge that was over"
                assert not names & {"dealer@T1", "sup-key@T1"}, "nobody signs without a badge"
        assert all(len(line) <= 20 for line in floor.text)
    identities = [entry.event_id for entry in floor.entries if entry.event_id is not None]
    assert len(identities) == len(set(identities)), "one press, two entries"
