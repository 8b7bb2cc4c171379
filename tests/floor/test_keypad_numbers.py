"""A table whose hands are spins: the number is keyed like a seat, and ENTER takes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from meterd.accounting.commands_streak import Number
from meterd.accounting.entries import Kind
from meterd.paytables.model import Pay, PayKind, PayTable, Row
from protocols import pad_words

ENTER, END, SUPERVISOR = pad_words.KEY_ENTER, pad_words.KEY_END_GAME, pad_words.KEY_SUPERVISOR

UP = PayTable(
    id="test/up",
    game="Test Game",
    wager="progressive",
    kind="progressive",
    sources=(),
    basis="length of the rising streak",
    evaluator="rising-streak",
    games=(),
    rows=(
        Row("streak-4", "4", "100%", None, (Pay(PayKind.METER_PERCENT, 1_000_000),)),
        Row("streak-3", "3", "2 for 1", None, (Pay(PayKind.ODDS_FOR, n=2),)),
        Row("streak-2", "2", "Loss", None, (Pay(PayKind.LOSS),)),
        Row("streak-1", "1", "Loss", None, (Pay(PayKind.LOSS),)),
    ),
    common_outcome=True,
)


def test_digits_and_enter_are_a_number_and_the_pad_counts_the_streak(make_floor: Callable[..., Any]) -> None:
    """Line 1 shows length and last number; the number that ends the streak claims for every lit seat."""
    floor = make_floor(paytable=UP, confirm_above_cents=0).open()
    floor.locked(1, 3)
    floor.press("1", "7")
    assert ("LOCKED 2 $2.00", "17") == floor.text
    (number,) = floor.press(ENTER)
    assert isinstance(number, Number)
    assert ("17", ("LOCKED L1 AT 17", "OK 17 L1")) == (number.number, floor.text)
    floor.press(END)
    assert "NO STREAK RUNNIN" == floor.text[1]
    floor.press("1", "8", ENTER, "1", "9", ENTER, "4", ENTER)
    assert ("LOCKED END3 AT 4", pad_words.WAIT_SUPERVISOR) == floor.text
    assert [3, 1] == [award.seat for award in floor.book.awards.values()]


def test_a_streak_that_loses_says_so_and_the_round_can_end(make_floor: Callable[..., Any]) -> None:
    """No award, no supervisor."""
    floor = make_floor(paytable=UP, confirm_above_cents=0).open()
    floor.locked(2)
    floor.press("0", "0", ENTER, "0", ENTER)
    assert ("LOCKED END1 AT 0", "OK 0 END L1") == floor.text
    floor.press(END)
    assert ("OK END GAME", Kind.GAME_ENDED) == (floor.text[1], floor.entries[-1].kind)


def test_a_number_that_is_none_is_refused_in_words(make_floor: Callable[..., Any]) -> None:
    """37 is not on the wheel; the streak stands as it was."""
    floor = make_floor(paytable=UP, confirm_above_cents=0).open()
    floor.locked(2)
    floor.press("3", "7", ENTER)
    assert ("CARDS_DISAGREE", None) == (floor.refusals[-1], floor.book.tables["T1"].streak)


def test_digits_at_a_card_table_are_still_a_seat(floor: Any) -> None:
    """ENTER without a hand is answered as before."""
    floor.locked(2)
    floor.press("2")
    assert "S2" == floor.text[1]
    floor.press(ENTER)
    assert ("NO HAND KEYED", []) == (floor.text[1], floor.refusals)


def test_a_supervisor_takes_the_last_number_back_by_keying_it(make_floor: Callable[..., Any]) -> None:
    """Only the last one, and with it the awards it made."""
    floor = make_floor(paytable=UP, confirm_above_cents=0).open()
    floor.locked(1, 3)
    floor.press("1", ENTER, "2", ENTER, "3", "6", ENTER)
    floor.press(SUPERVISOR, "3", "5")
    assert "35 SUP" == floor.text[1]
    floor.press(ENTER)
    assert ("NO LAST WAS 36", 3) == (floor.text[1], floor.book.tables["T1"].streak.length)
    (back,) = floor.press(SUPERVISOR, "3", "6", ENTER)
    assert ("sup-key@T1", "OK VOID SPIN L2") == (back.actor.id, floor.text[1])
    assert ["voided", "voided"] == [award.state_word for award in floor.book.awards.values()]
    floor.press(SUPERVISOR, "2", ENTER, SUPERVISOR, "1", ENTER)
    assert ("OK VOID SPIN L0", None) == (floor.text[1], floor.book.tables["T1"].streak)
    floor.press(SUPERVISOR, "1", ENTER)
    assert "NO ALREADY DONE" == floor.text[1]


def test_a_number_counts_once_however_often_its_key_is_heard(make_floor: Callable[..., Any]) -> None:
    """The event of ENTER is the number's identity; the same event again is answered as before."""
    floor = make_floor(paytable=UP).open()
    floor.locked(1)
    (number,) = floor.press("5", ENTER)
    again = floor.decide(number)
    assert ("ALREADY_DONE", ()) == (again.refusal.refusal.value, again.entries)
    assert 1 == floor.book.tables["T1"].streak.length


def test_awards_that_confirm_themselves_leave_the_end_of_the_streak_on_the_line(make_floor: Callable[..., Any]) -> None:
    """2 for 1 is below the threshold: nobody is waited for."""
    floor = make_floor(paytable=UP).open()
    floor.locked(1)
    floor.press("1", ENTER, "2", ENTER, "3", "6", ENTER)
    assert ("OK 36 END L3", "confirmed") == (floor.text[1], floor.book.awards["A1"].state_word)
