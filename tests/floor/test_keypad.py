"""The dealer's line and the supervisor's: what is shown before ENTER, what is taken, what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from meterd.accounting.commands import SYSTEM, Actor, Claim, DefineTable, Event, Join, Lock, OpenTable, Role, WagerSeen
from meterd.accounting.entries import Kind
from meterd.accounting.settings import TableSettings
from meterd.accounting.state import Award
from meterd.floor import words
from meterd.floor.claims import PadLine, Press
from meterd.floor.transitions import Phase, Signal
from protocols import pad_words

ENTER, CLEAR, END = pad_words.KEY_ENTER, pad_words.KEY_CLEAR, pad_words.KEY_END_GAME
SUPERVISOR, VOID_SEAT, VOID_ROUND = pad_words.KEY_SUPERVISOR, pad_words.KEY_VOID_SEAT, pad_words.KEY_VOID_ROUND


def award(floor: Any, name: str = "A1") -> Award:
    found: Award = floor.book.awards[name]
    return found


def test_seat_hand_amount_and_envy_are_shown_before_enter_and_nothing_is_written(floor: Any) -> None:
    """The preview is what a decision would be now: 100 % of 10,000.60 on three wagers, $1,000 to each of two others."""
    floor.locked(1, 3, 5)
    mark = len(floor.entries)
    floor.press("3")
    assert ("LOCKED 3 $3.00", "S3") == floor.text
    floor.press("hand-1")
    assert ("LOCKED ENVY 2000", "S3 H1 10000.60") == floor.text
    assert pad_words.Preview(3, 1, "10000.60") == pad_words.read_preview(floor.text[1])
    assert (mark, {}) == (len(floor.entries), floor.book.awards)


def test_enter_claims_what_was_shown_and_a_supervisor_confirms_and_pays_it(floor: Any) -> None:
    """Dealer, then the key switch: two identities, one award, the money at the claim."""
    floor.locked(1, 3, 5)
    (claim,) = floor.press("3", "hand-1", ENTER)
    assert ("dealer@T1", Role.DEALER, "royal-flush", 3) == (*claim.actor, claim.hand, claim.seat)
    assert ("LOCKED 3 $3.00", pad_words.WAIT_SUPERVISOR) == floor.text
    assert ("pending", 1_000_060) == (award(floor).state_word, award(floor).amount_cents)
    floor.press(SUPERVISOR)
    assert ("LOCKED $10000.60", "CONFIRM A1 S3H1") == floor.text
    assert ("CONFIRM", "A1") == pad_words.read_supervisor(floor.text[1])
    (confirm,) = floor.press(ENTER)
    assert ("sup-key@T1", Role.SUPERVISOR) == tuple(confirm.actor)
    assert ("confirmed", "OK A1 CONFIRMED") == (award(floor).state_word, floor.text[1])
    floor.press(SUPERVISOR)
    assert "PAY A1 10000.60" == floor.text[1]
    floor.press(ENTER)
    assert ("paid", "OK A1 PAID") == (award(floor).state_word, floor.text[1])
    floor.press(END)
    assert "OK ENVY 2000.00" == floor.text[1]


def test_a_small_award_confirms_itself_and_says_so(floor: Any) -> None:
    """A fixed pay below the threshold needs nobody else."""
    floor.locked(2)
    floor.press("2", "hand-3", ENTER)
    assert ("OK A1 25.00", "confirmed") == (floor.text[1], award(floor).state_word)


def test_a_claim_that_would_be_refused_shows_no_amount_and_is_refused_by_entry(floor: Any) -> None:
    """The line says why before ENTER; keyed all the same, the refusal is written down and said in words."""
    floor.locked(2)
    floor.press("4", "hand-1")
    assert "S4 H1 SEAT NO WA" == floor.text[1]
    assert pad_words.Preview(4, 1, "") == pad_words.read_preview(floor.text[1])
    floor.press(ENTER)
    assert ("NO SEAT NO WAGER", Kind.REFUSED, "SEAT_HAS_NO_WAGER") == (
        floor.text[1], floor.entries[-1].kind, floor.refusals[-1],
    )  # fmt: skip
    floor.press("2", "hand-9", ENTER)
    assert "HAND_NOT_IN_PAYTABLE" == floor.refusals[-1]


def test_clear_drops_the_line(floor: Any) -> None:
    """Mistyped: nothing was taken."""
    floor.locked(2)
    assert [] == floor.press("2", "hand-1", CLEAR)
    assert "OK CLEAR" == floor.text[1]
    floor.press(ENTER)
    assert "NO LINE KEYED" == floor.text[1]


def test_a_digit_after_a_hand_begins_a_new_line(floor: Any) -> None:
    """The dealer saw the wrong seat and types the right one."""
    floor.locked(2, 4)
    floor.press("2", "hand-3", "4")
    assert "S4" == floor.text[1]
    floor.press("hand-3", ENTER)
    assert 4 == award(floor).seat


@pytest.mark.parametrize("keys", [("hand-1", ENTER), (ENTER, END), ("3", "hand-1")])
def test_keys_with_no_order_take_nothing(floor: Any, keys: tuple[str, str]) -> None:
    """Two different keys in one snapshot: the line is cleared and the pad says so."""
    floor.locked(3)
    floor.press("3")
    mark = len(floor.entries)
    assert [] == floor.press_together(*keys)
    assert (pad_words.KEYS_TOO_FAST, mark) == (floor.text[1], len(floor.entries))
    floor.press("hand-1")
    assert "NO SEAT KEYED" == floor.text[1]


def test_one_digit_twice_in_one_snapshot_is_two_digits(floor: Any) -> None:
    """3 3 has only one order."""
    floor.locked(3)
    floor.press_together("3", "3")
    assert "S33" == floor.text[1]


def test_every_key_changes_the_text(floor: Any) -> None:
    """Whoever presses a key sees that it was taken, also when the words repeat."""
    floor.locked(3)
    seen = [floor.text]
    keys = [END, END, END, "3", "hand-1", "hand-1", "hand-1", ENTER, END, END, CLEAR, CLEAR, ENTER, ENTER]
    for key in (*keys, SUPERVISOR, SUPERVISOR, "hand-1", "hand-1", *"111111111111", CLEAR, VOID_ROUND, VOID_ROUND):
        floor.now_ms += 1_000  # longer than a key is taken for held
        floor.press(key)
        assert floor.text != seen[-1], (key, seen[-3:])
        assert all(len(line) <= 16 for line in floor.text)
        seen.append(floor.text)


def test_end_game_is_refused_while_a_hand_is_keyed_and_not_entered(floor: Any) -> None:
    """A forgotten ENTER must not cost a player the award."""
    floor.locked(3)
    assert [] == floor.press("3", "hand-1", END)
    assert ("NO KEY IT ALONE", "LOCKED") == (floor.text[1], floor.table.state.value)


def test_end_game_is_refused_while_an_award_is_open(floor: Any) -> None:
    """The refusal's words stand on the pad; confirmed, END GAME is taken."""
    floor.locked(3)
    floor.press("3", "hand-1", ENTER, END)
    assert ("NO AWARD OPEN", "ROUND_HAS_OPEN_AWARD") == (floor.text[1], floor.refusals[-1])
    floor.press(SUPERVISOR, ENTER, END)
    assert "OPEN" == floor.table.state.value


def test_a_supervisor_voids_the_award_shown(floor: Any) -> None:
    """VOID SEAT in supervisor mode without digits voids the award; the meter is as before the claim."""
    floor.locked(3)
    before = dict(floor.book.balances)
    floor.press("3", "hand-1", ENTER, SUPERVISOR, VOID_SEAT)
    assert ("voided", "OK A1 VOID") == (award(floor).state_word, floor.text[1])
    assert {k: v for k, v in before.items() if v} == {k: v for k, v in floor.book.balances.items() if v}


def test_the_supervisor_key_again_shows_the_next_award_and_clear_leaves(floor: Any) -> None:
    """Pending ones first, in ledger order; without any the pad says so."""
    floor.locked(3, 5)
    floor.press("3", "hand-1", ENTER, "5", "hand-2", ENTER, SUPERVISOR)
    assert "CONFIRM A1 S3H1" == floor.text[1]
    floor.press(SUPERVISOR)
    assert "CONFIRM A2 S5H2" == floor.text[1]
    floor.press(SUPERVISOR)
    assert "CONFIRM A1 S3H1" == floor.text[1]
    floor.press(CLEAR, SUPERVISOR, ENTER, SUPERVISOR, ENTER, SUPERVISOR)
    assert "PAY A1 10000.40" == floor.text[1]
    floor.press(ENTER, SUPERVISOR, ENTER, SUPERVISOR)
    assert "NO AWARD" == floor.text[1]


def test_no_dealer_key_confirms(floor: Any) -> None:
    """Without the key switch ENTER does nothing to an award."""
    floor.locked(3)
    floor.press("3", "hand-1", ENTER, ENTER)
    assert "pending" == award(floor).state_word


def test_fold_join_void_seat_void_round_and_mismatch(floor: Any) -> None:
    """Digits before FOLD, JOIN and VOID SEAT; the others stand alone."""
    floor.locked(1, 2, 3, 4)
    floor.press("1", pad_words.KEY_FOLD)
    assert ("OK FOLD S1", frozenset({1})) == (floor.text[1], floor.table.folded)
    floor.press("2", "3", pad_words.KEY_JOIN)
    assert ("OK JOIN 2 3", (frozenset({2, 3}),)) == (floor.text[1], floor.table.groups)
    floor.press(pad_words.KEY_COUNT_MISMATCH)
    assert ("OK MISMATCH", Kind.COUNT_MISMATCH) == (floor.text[1], floor.entries[-1].kind)
    floor.press("4", VOID_SEAT)
    assert ("OK VOID S4", "SSS....", "LOCKED 3 $3.00") == (floor.text[1], floor.lamps, floor.text[0])
    floor.press(VOID_ROUND)
    assert ("OK VOID ROUND", ".......") == (floor.text[1], floor.lamps)


def test_an_act_that_stands_alone_is_not_taken_with_digits(floor: Any) -> None:
    """3 VOID ROUND may have been meant as 3 VOID SEAT: nothing is taken."""
    floor.locked(3)
    assert [] == floor.press("3", VOID_ROUND)
    assert ("NO KEY IT ALONE", "..S....") == (floor.text[1], floor.lamps)


def test_the_preview_follows_the_meter(floor: Any) -> None:
    """What is shown is what ENTER would pay now, though another award was decided since."""
    floor.locked(3, 5)
    floor.press("5", "hand-2")
    assert "S5 H2 1000.04" == floor.text[1]
    floor.decide(Claim(actor=Actor("page-1", Role.DEALER), table="T1", seat=3, hand="straight-flush"))
    assert "S5 H2 900.03" == floor.text[1]


def test_a_pad_that_was_lost_forgets_a_half_keyed_line(floor: Any) -> None:
    """Somebody else may stand there when it comes back."""
    floor.locked(3)
    floor.press("3", "hand-1")
    floor.down(floor.keypad)
    floor.up(floor.keypad)
    assert [] == floor.press(ENTER)


@pytest.mark.parametrize("columns", [16, 20, 10])
def test_an_amount_is_never_cut(floor: Any, columns: int) -> None:
    """Where it does not fit it is shown in whole dollars or not at all."""
    for cents in (1, 123_456, 12_345_678_901):
        text = words.keyed_line("S12", 9, cents, columns)
        assert len(text) <= columns
        shown = text.split(" ")[2:]
        assert shown in ([], [words.amount(cents)], [str(cents // 100)])
    floor.locked(1)
    assert words.state_line(Phase.LOCKED, floor.table, 0, (), 9) == "LOCKED 1"


def test_the_supervisor_key_forgets_digits_keyed_before_it(floor: Any) -> None:
    """3, key switch, 5, VOID SEAT is about seat 5, and the supervisor did it."""
    floor.locked(3, 5)
    (command,) = floor.press("3", SUPERVISOR, "5", VOID_SEAT)
    assert ("sup-key@T1", 5) == (command.actor.id, command.seat)


def test_a_pad_shows_the_awards_of_its_own_table(floor: Any) -> None:
    """An award of the same link at another table is settled there."""
    dealer = Actor("dealer@T2", Role.DEALER)
    floor.decide(DefineTable(actor=SYSTEM, settings=TableSettings("T2", "nexus", "test-game", 7)))
    floor.decide(OpenTable(actor=SYSTEM, table="T2"))
    floor.decide(Lock(actor=dealer, table="T2", wagers=(WagerSeen(1),)))
    floor.decide(Claim(actor=dealer, table="T2", seat=1, hand="royal-flush"))
    assert "pending" == award(floor).state_word
    floor.press(SUPERVISOR)
    assert "NO AWARD" == floor.text[1]


def test_joined_seats_take_two_digits_each_where_the_table_has_more_than_nine(floor: Any) -> None:
    """0 3 1 2 JOIN joins seats 3 and 12."""
    line = PadLine(TableSettings("T1", "nexus", "test-game", 12))
    event = Event("keys/5/di0", 1, 1)
    for digit in (0, 3, 1, 2):
        line.press(Press(Signal.DIGIT, digit, 0), event, "keys/5", floor.book)
    (command,) = line.press(Press(Signal.JOIN, 0, 0), event, "keys/5", floor.book).commands
    assert isinstance(command, Join)
    assert (3, 12) == command.seats


def test_an_answer_takes_the_place_of_a_half_keyed_line(floor: Any) -> None:
    """Nobody may press ENTER on a line that is not shown."""
    floor.chips(3)
    floor.press("3", "hand-1")
    floor.lock_button()
    assert "OK LOCKED" == floor.text[1]
    assert [] == floor.press(ENTER)


def test_a_bounce_of_the_lock_button_leaves_the_line_alone(floor: Any) -> None:
    """It asks for nothing, so it answers nothing."""
    floor.locked(3)
    floor.press("3", "hand-1")
    floor.lock_button()
    assert "S3 H1 10000.20" == floor.text[1]
    assert ["Claim"] == floor.kinds(floor.press(ENTER))


def test_every_key_of_a_pad_is_explained(floor: Any) -> None:
    """The page for dealers names each key; digits and hands by their first and last."""
    page = (Path(__file__).parents[2] / "docs" / "keypad.md").read_text(encoding="utf-8")
    named = set(pad_words.KEYS) - set(pad_words.DIGITS[1:-1]) - set(pad_words.HANDS[1:-1])
    assert set() == {key for key in named if f"`{key}`" not in page}


def test_a_key_that_may_have_been_pressed_before_lock_is_not_for_the_round_of_this_lock(floor: Any) -> None:
    """END GAME pressed again for the last round, on a pad that was not heard until after the next LOCK: not taken.

    The press after it, by a pad that was heard in between, ends the round. Digits and VOID ROUND are no better.
    """
    for key in ("end-game", "void-round", "digit-3", "fold"):
        floor.chips(3)
        heard_ms = floor.keypad.ended_ms
        floor.lock_button()
        floor.keypad.pulse(pad_words.KEYS.index(key))
        floor.keypad.ended_ms = heard_ms
        mark = len(floor.entries)
        assert [] == floor.send(floor.keypad.reading(floor.now_ms + 100))
        assert (pad_words.KEYS_TOO_FAST, mark, "LOCKED") == (floor.text[1], len(floor.entries), floor.table.state.value)
        floor.now_ms += 1200  # a key that comes again within a second is the key held
        floor.press("end-game")
        assert "OPEN" == floor.table.state.value
        floor.chips(3, on=False)
