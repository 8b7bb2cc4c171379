"""Devices come and go: baselines, what was missed, and which table opens by what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from meterd.accounting.commands import SYSTEM, CloseTable
from meterd.accounting.entries import Kind
from meterd.errors import MisuseError
from meterd.floor.router import Router
from meterd.floor.session import Lamp
from protocols import pad_words
from protocols.events import DeviceDown, DeviceUp, Reading

MONEY_KINDS = {Kind.LOCKED, Kind.LATE_BET, Kind.GAME_ENDED, Kind.CLAIMED}


def kinds_since(floor: Any, mark: int) -> list[Kind]:
    return [entry.kind for entry in floor.entries[mark:]]


def test_a_table_opens_by_itself_when_its_last_module_is_trusted(closed_floor: Any) -> None:
    """One module alone opens nothing; the second one does, and no key is needed."""
    floor = closed_floor
    assert ["TrustDevice"] == floor.kinds(floor.up(floor.sensors))
    assert ("CLOSED NO DEVICE", "") == floor.text
    assert floor.view.lockout
    assert ["TrustDevice", "OpenTable"] == floor.kinds(floor.up(floor.keypad))
    assert ("OPEN 0 BETS", "") == floor.text
    assert not floor.view.lockout


def test_trust_begins_with_the_raw_counters_of_every_input(closed_floor: Any) -> None:
    """The command carries what the module said, under the names that entries use."""
    floor = closed_floor
    floor.sensors.counts[7] = 41
    (command,) = floor.up(floor.sensors)
    assert {f"pit/40/di{n}": 41 if n == 7 else 0 for n in range(8)} == dict(command.counts)
    assert (65_536, ("T1",), "pit/40") == (command.modulus, command.tables, command.device)


def test_without_a_keypad_the_sensors_alone_open_the_table(make_floor: Callable[..., Any]) -> None:
    """A table whose claims come from a page has one module to wait for."""
    floor = make_floor(keypad=False)
    floor.up(floor.sensors)
    assert "OPEN 0 BETS" == floor.text[0]


def test_what_moved_while_an_open_table_was_away_becomes_one_entry_and_nothing_else(floor: Any) -> None:
    """No wager, no LOCK and no END GAME from presses nobody heard; the table waits for END GAME."""
    floor.chips(1, 2)
    floor.down(floor.sensors)
    mark = len(floor.entries)
    floor.sensors.set(2, True)  # seat 3
    floor.sensors.pulse(7, 2)  # the lock button
    floor.up(floor.sensors)
    assert 1 == kinds_since(floor, mark).count(Kind.MISSED_WHILE_AWAY)
    assert not MONEY_KINDS & set(kinds_since(floor, mark))
    assert ("CLOSED END GAME", ".......") == (floor.text[0], floor.lamps)
    assert floor.view.lockout
    floor.press(pad_words.KEY_END_GAME)
    assert "OPEN" == floor.table.state.value
    assert ("OPEN CLEAR S1 +2", ".......") == (floor.text[0], floor.lamps)


def test_keys_pressed_while_the_pad_was_away_do_nothing(floor: Any) -> None:
    """A pad that comes back does not replay."""
    floor.locked(1)
    floor.down(floor.keypad)
    mark = len(floor.entries)
    floor.keypad.pulse(list(pad_words.KEYS).index(pad_words.KEY_END_GAME))
    floor.up(floor.keypad)
    floor.poll(floor.keypad)
    assert not MONEY_KINDS & set(kinds_since(floor, mark))
    assert "LOCKED" == floor.table.state.value


def test_a_locked_table_stays_locked_without_its_modules_and_after_a_crash(floor: Any) -> None:
    """Wagers, lamps and pending awards come back as they were."""
    floor.locked(1, 3)
    floor.press("3", "hand-1", pad_words.KEY_ENTER)
    floor.down(floor.sensors)
    assert ("LOCKED", "S.S....") == (floor.table.state.value, floor.lamps)
    floor.restart()
    floor.sensors.pulse(7)
    floor.up()
    assert ("LOCKED", "S.S....") == (floor.table.state.value, floor.lamps)
    assert ("LOCKED 2 $2.00", pad_words.WAIT_SUPERVISOR) == floor.text
    assert ["pending"] == [award.state_word for award in floor.book.awards.values()]


def test_a_locked_table_notes_once_that_its_modules_are_away(floor: Any) -> None:
    """Each module is told as lost; the table that is locked and stays so, with the first of them alone."""
    floor.locked(1, 3)
    mark = len(floor.entries)
    floor.down(floor.sensors)
    floor.down(floor.keypad)
    assert [Kind.DEVICE_LOST, Kind.TABLE_CLOSED, Kind.DEVICE_LOST] == kinds_since(floor, mark)
    floor.up()
    mark = len(floor.entries)
    floor.down(floor.keypad)
    assert [Kind.DEVICE_LOST, Kind.TABLE_CLOSED] == kinds_since(floor, mark)


def test_a_crash_while_open_asks_for_end_game(floor: Any) -> None:
    """Nobody knows what was put down meanwhile: chips that lie there are asked to be lifted."""
    floor.chips(4)
    floor.restart()
    floor.up()
    assert "CLOSED END GAME" == floor.text[0]
    floor.press(pad_words.KEY_END_GAME)
    assert ("OPEN CLEAR S4", ".......") == (floor.text[0], floor.lamps)
    floor.lock_button()
    assert {} == floor.table.wagers


def test_after_a_clean_stop_the_table_opens_by_itself(floor: Any) -> None:
    """A stop closes the windows; the next start needs no key."""
    floor.decide(CloseTable(actor=SYSTEM, table="T1", reason="stopped"))
    floor.restart()
    floor.up()
    assert "OPEN 0 BETS" == floor.text[0]


def test_end_game_with_a_module_missing_is_refused_on_the_pad(floor: Any) -> None:
    """A table must not open while nobody watches its sensors; no entry is written for the key."""
    floor.down(floor.sensors)
    mark = len(floor.entries)
    assert [] == floor.press(pad_words.KEY_END_GAME)
    assert ("CLOSED NO DEVICE", "NO DEVICE") == floor.text
    floor.now_ms += 1_000
    floor.press(pad_words.KEY_END_GAME)
    assert ("CLOSED NO DEVICE", "NO DEVICE.") == floor.text
    assert mark == len(floor.entries)


def test_a_round_can_be_ended_without_its_sensors_but_the_next_window_does_not_open(floor: Any) -> None:
    """END GAME of a locked round is taken, then the table closes at once."""
    floor.locked(1)
    floor.down(floor.sensors)
    assert ["EndGame", "CloseTable"] == floor.kinds(floor.press(pad_words.KEY_END_GAME))
    assert ("CLOSED", True) == (floor.table.state.value, floor.view.lockout)
    floor.up(floor.sensors)
    assert "CLOSED END GAME" == floor.text[0]
    floor.press(pad_words.KEY_END_GAME)
    assert "OPEN 0 BETS" == floor.text[0]


def test_a_lost_device_is_noted_with_its_cause(floor: Any) -> None:
    """DeviceLost names the module and why; the table closes for the fault."""
    floor.down(floor.sensors, "port_lost")
    lost = [entry for entry in floor.entries if entry.kind is Kind.DEVICE_LOST]
    assert [{"device": "pit/40", "cause": "port_lost"}] == [
        {key: entry.body[key] for key in ("device", "cause")} for entry in lost
    ]
    assert ("CLOSED", "device_lost", True) == (
        floor.table.state.value, floor.table.closed_reason, floor.table.needs_end_game,
    )  # fmt: skip


def test_only_what_moved_while_nobody_listened_is_missed(floor: Any) -> None:
    """Chips and digits that were heard and led to no entry are no MissedWhileAway; a move during the loss is one."""
    floor.chips(3)
    floor.press(pad_words.KEY_CLEAR)
    floor.down(floor.sensors)
    floor.down(floor.keypad)
    floor.up(floor.sensors)
    enter = pad_words.KEYS.index(pad_words.KEY_ENTER)
    floor.keypad.pulse(enter, 2)
    floor.up(floor.keypad)
    missed = [entry.body["inputs"] for entry in floor.entries if entry.kind is Kind.MISSED_WHILE_AWAY]
    name = f"{floor.keypad.device}/di{enter}"
    assert [[name]] == [list(inputs) for inputs in missed]
    assert 2 == missed[0][name]["now"] - missed[0][name]["before"]


def test_an_overrun_is_a_reason_of_its_own(floor: Any) -> None:
    """Events lost inside the machine close the table as a lost line would."""
    floor.down(floor.sensors, "overrun")
    assert ("overrun", True) == (floor.table.closed_reason, floor.table.needs_end_game)


def test_a_counter_that_fell_is_a_module_that_restarted(floor: Any) -> None:
    """Its reading is not taken; it is trusted again from a new baseline, and the table waits for END GAME."""
    floor.chips(1)
    floor.locked(2)
    floor.press(pad_words.KEY_END_GAME)
    floor.sensors.counts = [0] * 8
    floor.sensors.levels[0] = True
    asked = floor.kinds(floor.poll(floor.sensors))
    assert ["Note", "CloseTable", "TrustDevice"] == asked
    assert "CLOSED END GAME" == floor.text[0]
    assert 2 == floor.book.devices["pit/40/di0"].epoch


def test_a_device_that_comes_up_twice_is_trusted_anew(floor: Any) -> None:
    """The driver reconnected before anybody missed it: a new epoch, and the window closes."""
    floor.chips(1)
    floor.up(floor.sensors)
    assert ("CLOSED END GAME", ".......") == (floor.text[0], floor.lamps)


def test_a_reading_before_trust_says_nothing(closed_floor: Any) -> None:
    """A module that was never announced is not heard."""
    assert [] == closed_floor.lock_button()


def test_devices_of_no_table_are_ignored(floor: Any) -> None:
    """An unknown name reaches no session; a session ignores what is not wired to it."""
    reading = Reading("pit/99", 0, 10, 0, (True,), (1,))
    for event in (DeviceUp("pit/99", reading, 65_536), reading, DeviceDown("pit/99", "timeout")):
        assert [] == floor.router.sessions_for("pit/99")
        assert [] == floor.router.commands(event, floor.book)
        assert [] == floor.session.on_event(event, floor.book)


def test_one_device_on_two_tables_is_a_bug_of_the_caller(floor: Any) -> None:
    """The site file was checked before; here it would split one trust in two."""
    with pytest.raises(MisuseError, match="pit/40"):
        Router([floor.config, floor.config])


def test_a_table_that_is_away_shows_dark_lamps(closed_floor: Any) -> None:
    """Whatever is not certain is dark."""
    assert (Lamp.DARK,) * 7 == closed_floor.view.lamps


def test_a_chip_moved_while_the_table_is_closed_is_old(floor: Any) -> None:
    """The pad went away, the sensors did not: what lay still counts after END GAME, what was touched does not."""
    floor.chips(1, 2)
    floor.down(floor.keypad)
    floor.sensors.pulse(1)  # seat 2: lifted and put back within one poll
    floor.chips(3)
    floor.up(floor.keypad)
    floor.press(pad_words.KEY_END_GAME)
    assert ("b......", "OPEN CLEAR S2 S3") == (floor.lamps, floor.text[0])


def test_a_reading_between_announcement_and_trust_says_nothing(closed_floor: Any) -> None:
    """Until the entry that trusts a module is decided, its presses have no identity."""
    floor = closed_floor
    floor.session.on_event(DeviceUp("pit/40", floor.sensors.reading(0), 65_536), floor.book)
    floor.sensors.pulse(7)
    assert [] == floor.session.on_event(floor.sensors.reading(100), floor.book)
