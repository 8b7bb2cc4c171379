"""Rounds: chips, LOCK, late bets, and what the lamps say."""

from __future__ import annotations

from typing import Any

from meterd.accounting.commands import Actor, LateBet, Lock, Role
from meterd.accounting.entries import Kind
from meterd.accounting.state import DeviceMark
from protocols import pad_words


def late(floor: Any) -> list[tuple[int, int, int]]:
    return [
        (entry.body["seat"], entry.body["ms_min"], entry.body["ms_max"])
        for entry in floor.entries
        if entry.kind is Kind.LATE_BET
    ]


def test_a_round_from_the_first_chip_to_end_game(floor: Any) -> None:
    """Blink when seen, steady when accepted, dark when over; the pad counts what was accepted."""
    floor.chips(1, 3)
    assert ("b.b....", "OPEN 2 BETS", False) == (floor.lamps, floor.text[0], floor.view.lockout)
    floor.lock_button()
    assert ("S.S....", "LOCKED 2 $2.00", True) == (floor.lamps, floor.text[0], floor.view.lockout)
    floor.clear_chips()
    assert "S.S...." == floor.lamps
    floor.press(pad_words.KEY_END_GAME)
    assert (".......", ("OPEN 0 BETS", "OK END GAME")) == (floor.lamps, floor.text)
    assert 1_000_000 * 1_000_000 + 2 * 100 * 200_000 == floor.book.balances["meter/nexus/main"]


def test_a_wager_carries_the_identity_of_its_edge(floor: Any) -> None:
    """Input, epoch of trust and count of the rising edge; the LOCK carries the button's."""
    floor.sensors.pulse(2, 3)  # three touches before the chip stays
    floor.chips(3)
    (command,) = floor.lock_button()
    assert isinstance(command, Lock)
    assert [(3, "pit/40/di2:1:4")] == [(wager.seat, str(wager.event)) for wager in command.wagers]
    assert "pit/40/di7:1:1" == str(command.event)
    assert ("pit/40/di2:1:4", "pit/40/di7:1:1") == (
        floor.entries[-1].body["wagers"][0]["event"], floor.entries[-1].event_id,
    )  # fmt: skip


def test_a_lock_without_wagers_is_a_round_without_wagers(floor: Any) -> None:
    """The dealer locks every hand; lamps stay dark."""
    floor.lock_button()
    assert (".......", "LOCKED 0 $0.00") == (floor.lamps, floor.text[0])


def test_a_lock_button_that_bounced_is_one_lock(floor: Any) -> None:
    """Several moves of its counter in one reading are one LOCK; more while locked are none."""
    floor.chips(1)
    assert ["Lock"] == floor.kinds(floor.lock_button(times=3))
    assert [] == floor.lock_button(times=2)
    assert (1, ("LOCKED 1 $1.00", "OK LOCKED")) == (floor.table.round, floor.text)


def test_a_lock_press_shorter_than_the_poll_counts(floor: Any) -> None:
    """The level was never seen; the counter was."""
    floor.chips(1)
    assert not floor.sensors.levels[7]
    floor.lock_button()
    assert "LOCKED" == floor.table.state.value


def test_a_seat_pulse_shorter_than_the_poll_is_no_wager_and_not_late(floor: Any) -> None:
    """Present is a level: a chip that touched and went is not there."""
    floor.sensors.pulse(4)
    floor.poll(floor.sensors)
    assert "......." == floor.lamps
    floor.lock_button()
    floor.sensors.pulse(4)
    assert [] == floor.poll(floor.sensors)
    assert {} == floor.table.wagers


def test_a_chip_and_lock_in_one_reply_is_in_time(floor: Any) -> None:
    """One snapshot has no order inside it."""
    floor.sensors.set(5, True)
    floor.lock_button()
    assert [6] == list(floor.table.wagers)


def test_a_chip_gone_in_the_reply_that_shows_lock_is_in_the_round(floor: Any) -> None:
    """It was on in the snapshot before."""
    floor.chips(6)
    floor.sensors.set(5, False)
    floor.lock_button()
    assert [6] == list(floor.table.wagers)


def test_a_late_chip_is_noted_with_its_interval_and_its_lamp_stays_dark(floor: Any) -> None:
    """LOCK in the poll [1300, 1310], the chip in the next [1400, 1410]: between 0 and 200 ms after."""
    floor.chips(1)
    floor.lock_button()
    at_lock = floor.book.balances["meter/nexus/main"]
    asked = floor.chips(2)
    assert ["LateBet"] == floor.kinds(asked)
    floor.poll(floor.sensors)
    floor.poll(floor.sensors)
    floor.chips(4)
    assert [2, 4] == [seat for seat, _, _ in late(floor)]
    first, second = late(floor)
    assert 0 == first[1]
    assert 100 <= first[2]
    assert second[1] < 400 <= second[2]
    assert ("S......", at_lock) == (floor.lamps, floor.book.balances["meter/nexus/main"])


def test_the_interval_reckons_with_the_polls_around_both(floor: Any) -> None:
    """LOCK seen as a level between two ends, the edge between two ends: the outer and the inner difference."""
    lock_after = floor.now_ms + 10  # the last poll before LOCK's
    floor.sensors.set(7, True)  # held: the level shows it
    floor.poll(floor.sensors)
    lock_by = floor.sensors.ended_ms
    for _ in range(3):
        floor.poll(floor.sensors)
    after = floor.sensors.ended_ms
    (command,) = floor.chips(2)
    assert isinstance(command, LateBet)
    assert (after - lock_by, floor.sensors.ended_ms - lock_after) == (command.ms_min, command.ms_max)


def test_a_chip_that_stays_from_before_is_not_late(floor: Any) -> None:
    """Only an edge is an event."""
    floor.chips(1)
    floor.lock_button()
    for _ in range(3):
        assert [] == floor.poll(floor.sensors)


def test_a_chip_lifted_and_put_back_after_lock_is_an_edge(floor: Any) -> None:
    """The level is the same in both polls, the counter moved: something was put down after LOCK."""
    floor.chips(1)
    floor.lock_button()
    floor.sensors.pulse(0)
    assert ["LateBet"] == floor.kinds(floor.poll(floor.sensors))


def test_a_chip_left_over_from_the_last_round_is_no_wager_until_it_was_lifted(floor: Any) -> None:
    """It does not blink, the pad names the seat, LOCK does not take it; lifted and put down again it counts."""
    floor.chips(3)
    floor.lock_button()
    floor.press(pad_words.KEY_END_GAME)
    assert ("OPEN CLEAR S3", ".......") == (floor.text[0], floor.lamps)
    assert (3,) == pad_words.read_clear(floor.text[0])
    floor.chips(1)
    floor.lock_button()
    assert [1] == list(floor.table.wagers)
    floor.press(pad_words.KEY_END_GAME)
    floor.clear_chips()
    assert "OPEN 0 BETS" == floor.text[0]
    floor.chips(3)
    assert ("OPEN 1 BET", "..b....") == (floor.text[0], floor.lamps)


def test_an_old_chip_lifted_and_put_back_within_one_poll_counts(floor: Any) -> None:
    """The counter proves that the level fell."""
    floor.chips(3)
    floor.lock_button()
    floor.press(pad_words.KEY_END_GAME)
    floor.sensors.pulse(2)
    floor.poll(floor.sensors)
    assert ("OPEN 1 BET", "..b....") == (floor.text[0], floor.lamps)


def test_a_late_chip_that_stays_is_not_in_the_next_round(floor: Any) -> None:
    """Its edge was answered as late; an edge is used once."""
    floor.lock_button()
    floor.chips(2)
    floor.press(pad_words.KEY_END_GAME)
    assert ("OPEN CLEAR S2", ".......") == (floor.text[0], floor.lamps)
    floor.lock_button()
    assert {} == floor.table.wagers


def test_many_chips_to_clear_are_counted(floor: Any) -> None:
    """Two seats fit on a line of 16; of more the first is named."""
    floor.chips(1, 2, 3, 4)
    floor.lock_button()
    floor.press(pad_words.KEY_END_GAME)
    assert "OPEN CLEAR S1 +3" == floor.text[0]
    floor.chips(1, 2, on=False)
    assert "OPEN CLEAR S3 S4" == floor.text[0]


def test_the_lock_key_takes_sensors_whose_snapshot_began_before_its_own(floor: Any) -> None:
    """Another module, another line: a snapshot that began with the key's or later is late, though it came first."""
    floor.chips(1)
    began = floor.now_ms + 100
    floor.sensors.set(1, True)
    assert [] == floor.send(floor.sensors.reading(began))
    floor.keypad.pulse(list(pad_words.KEYS).index(pad_words.KEY_LOCK))
    asked = floor.send(floor.keypad.reading(began))
    assert ["Lock", "LateBet"] == floor.kinds(asked)
    assert ([1], [2]) == (list(floor.table.wagers), [seat for seat, _, _ in late(floor)])


def test_the_lock_key_locks_like_the_button(floor: Any) -> None:
    """Same wagers, same lamps; the identity is the key's."""
    floor.chips(1, 7)
    (command,) = floor.press(pad_words.KEY_LOCK)
    assert command.event.input.startswith("keys/5/di")
    assert ("S.....S", ("LOCKED 2 $2.00", "OK LOCKED")) == (floor.lamps, floor.text)


def test_lock_on_a_closed_table_is_refused_and_written_down(floor: Any) -> None:
    """A dealer who locks a closed table must hear it, and a dispute must show it."""
    floor.down(floor.sensors)
    floor.press(pad_words.KEY_LOCK)
    assert "TABLE_CLOSED" == floor.refusals[-1]
    assert floor.text[1].startswith(pad_words.REFUSED)


def test_a_late_bet_after_a_restart_says_what_is_known(floor: Any) -> None:
    """Nobody alive saw the LOCK: the least time is known, the most is not."""
    floor.locked(1)
    floor.restart()
    floor.up()
    floor.chips(2)
    ((seat, ms_min, ms_max),) = late(floor)
    assert (2, -1) == (seat, ms_max)
    assert 0 <= ms_min


def test_a_suspended_link_takes_no_wager(floor: Any) -> None:
    """The table may be open, its progressive is not: lamps dark, betting closed, LOCK refused."""
    floor.chips(1)
    floor.book.links["nexus"].suspended = "sign fault"
    assert ("CLOSED SUSPENDED", ".......", True) == (floor.text[0], floor.lamps, floor.view.lockout)
    floor.lock_button()
    assert "LINK_SUSPENDED" == floor.refusals[-1]


def test_a_press_seen_by_its_counter_alone_came_after_the_last_word_of_the_module(floor: Any) -> None:
    """Polls without news are not handed over; the press may be as old as the last that was."""
    floor.chips(1)
    last_word = floor.now_ms  # when it was asked: its counters came at some moment of the reading
    floor.sensors.ended_ms = floor.now_ms + 500  # polls that changed nothing
    floor.now_ms += 500
    floor.lock_button()
    lock_by = floor.sensors.ended_ms
    floor.chips(2)
    assert [(2, 0, floor.sensors.ended_ms - last_word)] == late(floor)
    assert lock_by - last_word > 500


def test_a_lock_that_is_not_taken_makes_nobody_late(floor: Any) -> None:
    """The table is open as before: a chip in the same poll as the key is simply there."""
    index = list(pad_words.KEYS).index(pad_words.KEY_LOCK)
    floor.book.devices[f"keys/5/di{index}"] = DeviceMark(1, 99)
    began = floor.now_ms + 100
    floor.sensors.set(1, True)
    floor.send(floor.sensors.reading(began))
    floor.keypad.pulse(index)
    assert ["Lock"] == floor.kinds(floor.send(floor.keypad.reading(began)))
    assert (".b.....", "OPEN 1 BET", "NO ALREADY DONE") == (floor.lamps, *floor.text)


def test_a_round_locked_from_a_page_has_no_lock_that_this_session_saw(floor: Any) -> None:
    """The time of an earlier LOCK is not taken for this one's."""
    floor.locked(1)
    floor.press(pad_words.KEY_END_GAME)
    floor.decide(Lock(actor=Actor("page-1", Role.DEALER), table="T1", wagers=()))
    floor.chips(2)
    assert [(2, -1)] == [(seat, ms_max) for seat, _, ms_max in late(floor)]
