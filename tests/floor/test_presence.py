"""Which chips are wagers: edges seen while open, and what one poll cannot order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meterd.accounting.commands import Event
from meterd.accounting.state import DeviceMark
from meterd.floor.presence import Late, LockSeen, Seats, interval
from protocols.events import Reading

MARKS = {"pit/40/di0": DeviceMark(1, 0), "pit/40/di1": DeviceMark(1, 0)}
BASELINE = Reading("pit/40", 0, 10, 0, (False, False), (0, 0))


def reading(began_ms: int) -> Reading:
    return Reading("pit/40", began_ms, began_ms + 10, began_ms - 90, (), ())


def edge(seat: int, count: int) -> dict[int, Event]:
    return {seat: Event(f"pit/40/di{seat - 1}", 1, count)}


def lock(began_ms: int) -> LockSeen:
    return LockSeen(began_ms, began_ms - 90, began_ms + 10)


def wagers(seats: Seats, seen: LockSeen, *, same_reply: bool, round_open: int = 0) -> list[int]:
    return [wager.seat for wager in seats.wagers(seen, same_reply, round_open, MARKS)]


def test_a_chip_in_the_reply_that_shows_lock_is_in_the_round() -> None:
    """One reply has no order inside it: the wager stands."""
    seats = Seats(BASELINE, (False, False))
    seats.take(reading(100), (True, False), edge(1, 1), 0)
    assert [1] == wagers(seats, lock(100), same_reply=True)


def test_a_chip_that_was_on_in_the_snapshot_before_lock_is_in_the_round() -> None:
    """On in the poll before and gone in the reply with LOCK: the dealer may have taken it in between."""
    seats = Seats(BASELINE, (False, False))
    seats.take(reading(100), (True, True), edge(1, 1) | edge(2, 1), 0)
    seats.take(reading(200), (False, True), {}, 0)
    assert [1, 2] == wagers(seats, lock(200), same_reply=True)


def test_a_chip_taken_back_before_the_last_snapshot_is_no_wager() -> None:
    """A chip removed before lock leaves no wager."""
    seats = Seats(BASELINE, (False, False))
    seats.take(reading(100), (True, True), edge(1, 1) | edge(2, 1), 0)
    seats.take(reading(200), (False, True), {}, 0)
    seats.take(reading(300), (False, True), {}, 0)
    assert [2] == wagers(seats, lock(300), same_reply=True)


def test_a_lock_of_another_module_takes_only_snapshots_that_began_before_its_own() -> None:
    """Two lines have no common order but their clock; a chip whose snapshot began with LOCK's or later is late."""
    seats = Seats(BASELINE, (False, False))
    seats.take(reading(100), (True, False), edge(1, 1), 0)
    seats.take(reading(150), (True, True), edge(2, 1), 0)
    assert [1] == wagers(seats, lock(150), same_reply=False)
    assert [1, 2] == wagers(seats, lock(151), same_reply=False)
    taken = seats.wagers(lock(150), False, 0, MARKS)
    assert (Late(2, Event("pit/40/di1", 1, 1), 0, 100),) == seats.after(lock(150), taken, 0)


def test_a_chip_that_lay_there_at_the_baseline_is_no_wager_until_it_was_lifted() -> None:
    """What moved while nobody listened is no event."""
    seats = Seats(BASELINE, (True, False))
    assert ((), (1,)) == (tuple(seats.present(0, MARKS)), seats.to_clear(0, MARKS))
    seats.take(reading(100), (False, False), {}, 0)
    seats.take(reading(200), (True, False), edge(1, 1), 0)
    assert ((1,), ()) == (tuple(seats.present(0, MARKS)), seats.to_clear(0, MARKS))


def test_a_chip_put_down_while_closed_or_in_an_earlier_round_is_old() -> None:
    """The edge must be seen while the table is open, and in this round."""
    seats = Seats(BASELINE, (False, False))
    seats.take(reading(100), (True, False), edge(1, 1), None)
    seats.take(reading(200), (True, True), edge(2, 1), 0)
    assert (1,) == seats.to_clear(0, MARKS)
    assert (1, 2) == seats.to_clear(1, MARKS)


def test_an_edge_that_an_entry_carries_counts_no_more() -> None:
    """The book's mark and the epoch decide: not above it, or of another epoch, is no wager."""
    seats = Seats(BASELINE, (False, False))
    seats.take(reading(100), (True, False), edge(1, 1), 0)
    assert frozenset() == seats.present(0, {"pit/40/di0": DeviceMark(1, 1)})
    assert frozenset() == seats.present(0, {"pit/40/di0": DeviceMark(2, 0)})
    assert {1} == seats.present(0, MARKS)


@given(st.lists(st.integers(0, 1_000), min_size=4, max_size=4).map(sorted))
def test_the_interval_of_a_late_bet_holds_the_true_time(times: list[int]) -> None:
    """Wherever between their two polls lock and edge were, the time from one to the other is inside the interval."""
    after_lock, by_lock, after_edge, by_edge = times
    seen = LockSeen(0, after_lock, by_lock)
    ms_min, ms_max = interval(seen, after_edge, by_edge)
    for pressed in (after_lock, by_lock):
        for put_down in (after_edge, by_edge):
            assert ms_min <= max(0, put_down - pressed) <= ms_max
