"""Streaks over many spins and hands from the board: one outcome, the claims of all live seats (money rules M8)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import (
    DEALER,
    OTHER,
    ROYAL,
    SUPERVISOR,
    Casino,
    event,
    frozen,
    level,
    link,
    paytable,
    percent,
    row,
)

from meterd.accounting.commands import Claim, Command, Correct, EndGame, LateBet, VoidRound, VoidSeat
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import Settlement, SiteSettings, TableSettings
from meterd.paytables.model import Pay, PayKind

#: Roulette Up with a longest streak of 4: all of the meter, 25 for 1, a push, a loss.
UP = paytable(
    row("streak-4", percent("100%")),
    row("streak-3", Pay(PayKind.ODDS_FOR, n=25)),
    row("streak-2", Pay(PayKind.PUSH)),
    row("streak-1", Pay(PayKind.LOSS)),
    evaluator="rising-streak",
    common_outcome=True,
)


def wheel(ties: str = "split", site: SiteSettings | None = None) -> Casino:
    """A $1,000 seed, 20 % and 4 % of $1, seats 1, 3 and 5 of T1 in the streak."""
    casino = Casino(link(level(seed="1000", ties=ties), table=UP), site=site)
    casino.lock((1, 3, 5))
    return casino


def spin(casino: Casino, *numbers: str) -> None:
    for number in numbers:
        casino.do(Number(actor=DEALER, table="T1", number=number))


def amounts(casino: Casino) -> list[tuple[int, str, str]]:
    return [(award.seat, award.hand, casino.amount(name)) for name, award in casino.book.awards.items()]


def test_the_longest_streak_is_shared_by_all_live_seats_from_the_highest_down() -> None:
    """1000.60 by three: the odd cent goes to the first that is settled, seat 5."""
    casino = wheel()
    spin(casino, "0", "00", "1", "35")
    assert [(5, "streak-4", "333.54"), (3, "streak-4", "333.53"), (1, "streak-4", "333.53")] == amounts(casino)
    assert [Kind.NUMBER_KEYED, Kind.COMMON_CLAIMED] == [entry.kind for entry in casino.entries[-2:]]
    assert "1,000.12" == casino.display()
    assert frozen(casino.book) == frozen(casino.folded())


def test_full_each_pays_all_of_the_meter_to_every_seat() -> None:
    """The meter gives what it has once, the house the rest."""
    casino = wheel("full_each")
    spin(casino, "1", "2", "3", "4")
    assert ["1,000.60"] * 3 == [amount for _, _, amount in amounts(casino)]
    assert "-2,001.20" == casino.account("house/pays/T1")


def test_sequential_takes_the_meter_as_it_then_stands() -> None:
    """Where a link says so, the seat settled first has the meter and the next ones what it restarts with."""
    casino = wheel("sequential")
    spin(casino, "1", "2", "3", "4")
    assert ["1,000.60", "1,000.12", "1,000.00"] == [amount for _, _, amount in amounts(casino)]
    assert frozen(casino.book) == frozen(casino.folded())


@pytest.mark.parametrize(
    ("numbers", "hand"),
    [
        (("36",), None),  # a start on 36 ends the streak at 1
        (("5", "5"), None),
        (("5", "4"), None),
        (("00", "0"), None),
        (("0", "00", "00"), "streak-2"),
        (("1", "36"), "streak-2"),
        (("1", "2", "36"), "streak-3"),
        (("1", "2", "3", "2"), "streak-3"),
        (("1", "2", "3", "36"), "streak-4"),
    ],
)
def test_a_streak_ends_as_the_regulation_says(numbers: tuple[str, ...], hand: str | None) -> None:
    """Not greater, 36, or the longest; a losing length makes no claims."""
    casino = wheel()
    spin(casino, *numbers[:-1])
    if len(numbers) > 1:
        assert Refusal.STREAK_RUNNING is casino.refuses(EndGame(actor=DEALER, table="T1"))
    assert [] == amounts(casino)
    spin(casino, numbers[-1])
    assert [hand] * 3 == [name for _, name, _ in amounts(casino)] if hand else not amounts(casino)
    assert Refusal.ALREADY_DONE is casino.refuses(Number(actor=DEALER, table="T1", number="7"))
    for award in casino.book.awards:
        casino.confirm(award)
    casino.end()
    assert casino.book.tables["T1"].streak is None


def test_a_streak_is_for_those_who_were_locked_in() -> None:
    """No seat joins while it runs; a late wager is noted; a seat whose wager went back has no award."""
    casino = wheel()
    spin(casino, "1", "2")
    casino.do(LateBet(actor=DEALER, table="T1", seat=2, ms_min=0, ms_max=100))
    casino.do(VoidSeat(actor=SUPERVISOR, table="T1", seat=3))
    spin(casino, "3", "3")
    assert [(5, "streak-3", "25.00"), (1, "streak-3", "25.00")] == amounts(casino)


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        (Number(actor=DEALER, table="T1", number="37"), Refusal.CARDS_DISAGREE),
        (Number(actor=DEALER, table="T1", number="1 2"), Refusal.CARDS_DISAGREE),
        (Number(actor=DEALER, table="T1", number=""), Refusal.CARDS_DISAGREE),
        (Number(actor=DEALER, table="T2", number="1"), Refusal.TABLE_NOT_LOCKED),
        (Number(actor=DEALER, table="T9", number="1"), Refusal.TABLE_UNKNOWN),
        (Claim(actor=DEALER, table="T1", seat=1, hand="streak-3"), Refusal.STREAK_RUNNING),
        (ClaimBoard(actor=DEALER, table="T1", hand="streak-3"), Refusal.STREAK_RUNNING),
        (VoidSpin(actor=SUPERVISOR, table="T2"), Refusal.TABLE_NOT_LOCKED),
        (VoidSpin(actor=DEALER, table="T1"), Refusal.NOT_AUTHORISED),
        (VoidSpin(actor=SUPERVISOR, table="T1", second=SUPERVISOR), Refusal.SAME_PERSON),
        (EndGame(actor=DEALER, table="T1"), Refusal.STREAK_RUNNING),
    ],
)
def test_what_a_running_streak_refuses(command: Command, refusal: Refusal) -> None:
    """Each for its reason, and nothing moves."""
    casino = wheel()
    spin(casino, "0")
    assert refusal is casino.refuses(command)


def test_a_streak_kept_on_the_layout_is_keyed_by_its_result() -> None:
    """Without a number the result is keyed, for a seat or for all; from then on no number is taken."""
    casino = wheel()
    assert Refusal.ALREADY_DONE is casino.refuses(VoidSpin(actor=SUPERVISOR, table="T1"))
    casino.claim(3, "streak-3")
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="streak-3"))
    assert [(3, "streak-3", "25.00"), (5, "streak-3", "25.00"), (1, "streak-3", "25.00")] == amounts(casino)
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(Number(actor=DEALER, table="T1", number="1"))
    casino.correct("A1", hand="streak-2")
    assert "1.00" == casino.amount("A1")


def test_an_open_table_has_no_numbers_also_after_a_round() -> None:
    """TABLE_NOT_LOCKED, whether or not a round was ever locked."""
    casino = wheel()
    casino.do(VoidRound(actor=SUPERVISOR, table="T1"))
    casino.end()
    assert Refusal.TABLE_NOT_LOCKED is casino.refuses(Number(actor=DEALER, table="T1", number="1"))


def test_a_streak_that_cannot_be_finished_ends_by_giving_the_wagers_back() -> None:
    """VOID ROUND in mid-streak, then END GAME."""
    casino = wheel()
    spin(casino, "1", "2", "3")
    casino.do(VoidRound(actor=SUPERVISOR, table="T1"))
    casino.end()
    assert ("0.00", "1,000.00", "0.00") == (casino.account("drop/T1"), casino.display(), casino.reserve())


def test_a_misread_number_is_taken_back_with_its_awards() -> None:
    """35 was keyed as 36: the awards are voided as if never claimed, the streak runs on and pays what it pays."""
    casino = wheel()
    spin(casino, "1", "2")
    before = dict(casino.book.balances)
    spin(casino, "36")
    assert 3 == len(casino.book.links["nexus"].pending)
    casino.do(VoidSpin(actor=SUPERVISOR, table="T1"))
    assert before == {name: amount for name, amount in casino.book.balances.items() if amount or name in before}
    assert ["voided"] * 3 == [award.state_word for award in casino.book.awards.values()]
    spin(casino, "35", "36")
    assert ["streak-4"] * 3 == [award.hand for award in casino.book.awards.values() if award.pending]
    assert frozen(casino.book) == frozen(casino.folded())


def test_a_number_that_made_a_confirmed_award_stays() -> None:
    """ROUND_HAS_CONFIRMED_AWARD; two people undo the award first."""
    casino = wheel()
    spin(casino, "1", "2", "36")
    casino.confirm("A1")
    assert Refusal.ROUND_HAS_CONFIRMED_AWARD is casino.refuses(VoidSpin(actor=SUPERVISOR, table="T1"))


def test_taking_back_a_number_asks_for_two_people_where_voiding_its_awards_does() -> None:
    """The threshold of a void holds for each of the awards."""
    casino = wheel("full_each", SiteSettings("test", two_person_cents=500_00))
    spin(casino, "1", "2", "3", "4")
    assert Refusal.SECOND_PERSON_REQUIRED is casino.refuses(VoidSpin(actor=SUPERVISOR, table="T1"))
    casino.do(VoidSpin(actor=SUPERVISOR, table="T1", second=OTHER))
    assert not casino.book.links["nexus"].pending


def test_the_numbers_decide_against_what_is_keyed() -> None:
    """A voided award may be claimed again by hand, but only as the numbers have it; a hand cannot be corrected."""
    casino = wheel()
    spin(casino, "1", "2", "36")
    assert Refusal.CARDS_DISAGREE is casino.refuses(Correct(actor=SUPERVISOR, award="A1", hand="streak-4"))
    casino.void("A1")
    assert Refusal.CARDS_DISAGREE is casino.refuses(Claim(actor=DEALER, table="T1", seat=5, hand="streak-4"))
    casino.claim(5, "streak-3")
    assert "25.00" == casino.amount("A4")


def test_voiding_one_of_the_common_claims_leaves_it_unclaimed() -> None:
    """Two of three share; what was divided by three is divided by two, and a fold of the ledger knows it."""
    casino = wheel()
    spin(casino, "1", "2", "3", "4")
    casino.void("A2")
    assert ["500.30", "333.53", "500.30"] == [casino.amount(name) for name in ("A1", "A2", "A3")]
    assert frozen(casino.book) == frozen(casino.folded())


def test_small_awards_confirm_themselves() -> None:
    """25 for 1 is below the threshold: nothing waits for a supervisor."""
    casino = wheel(site=SiteSettings("test", confirm_above_cents=100_00))
    spin(casino, "1", "2", "36")
    assert ["confirmed"] * 3 == [award.state_word for award in casino.book.awards.values()]
    casino.end()


def test_signs_that_showed_more_flag_the_awards() -> None:
    """A finished streak is a claim like any other: the sign's value is paid and a supervisor looks at it."""
    casino = wheel("full_each")
    spin(casino, "1", "2", "3")
    casino.do(Number(actor=DEALER, table="T1", number="4", signs={"main": 1_000_61}))
    assert ["1,000.61"] * 3 == [amount for _, _, amount in amounts(casino)]
    assert all(award.sign_above_meter for award in casino.book.awards.values())


# the board


def test_the_board_gives_every_live_seat_its_hand() -> None:
    """Who holds more is keyed by seat; who folded where that is dead has none; two hands of one seat are two claims."""
    table = replace(ROYAL, split="no-effect")
    casino = Casino(link(table=table))
    casino.lock((1, 2, 3, 6))
    casino.claim(2, "royal-flush")
    casino.do(VoidSeat(actor=SUPERVISOR, table="T1", seat=1))
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="fixed-fifty"))
    assert [(2, "royal-flush"), (6, "fixed-fifty"), (3, "fixed-fifty")] == [row[:2] for row in amounts(casino)]
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(ClaimBoard(actor=DEALER, table="T1", hand="fixed-fifty"))
    assert frozen(casino.book) == frozen(casino.folded())


def test_a_table_may_be_settled_clockwise() -> None:
    """Caribbean Draw pays its progressive winners from left to right (CO 47.1-1099.12(9))."""
    casino = Casino(link())
    settings = TableSettings("T1", "nexus", "Test", 7, settlement=Settlement.CLOCKWISE)
    casino.book.tables["T1"].settings = settings
    casino.lock((4, 2, 6))
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="fixed-fifty"))
    assert [2, 4, 6] == [seat for seat, _, _ in amounts(casino)]
    assert settings == TableSettings.from_json(settings.to_json())


@pytest.mark.parametrize(
    ("seats", "command", "refusal"),
    [
        ((), ClaimBoard(actor=DEALER, table="T1", hand="royal-flush"), Refusal.SEAT_HAS_NO_WAGER),
        ((1,), ClaimBoard(actor=DEALER, table="T1", hand="nothing"), Refusal.HAND_NOT_IN_PAYTABLE),
        ((1,), ClaimBoard(actor=DEALER, table="T1", hand="no-such"), Refusal.HAND_NOT_IN_PAYTABLE),
        ((1,), ClaimBoard(actor=DEALER, table="T2", hand="royal-flush"), Refusal.TABLE_NOT_LOCKED),
        ((1,), Number(actor=DEALER, table="T1", number="1"), Refusal.HAND_NOT_IN_PAYTABLE),
        ((1,), Split(actor=DEALER, table="T1", seat=2), Refusal.SEAT_HAS_NO_WAGER),
        ((1,), Split(actor=DEALER, table="T1", seat=9), Refusal.SEAT_UNKNOWN),
    ],
)
def test_what_a_card_table_refuses(seats: tuple[int, ...], command: Command, refusal: Refusal) -> None:
    """Each for its reason, and nothing moves."""
    casino = Casino(link())
    casino.lock(seats)
    assert refusal is casino.refuses(command)


def test_only_the_number_carries_the_event_of_its_key() -> None:
    """The claims that follow from it are of the same answer, and an event stands once in a ledger."""
    casino = wheel()
    spin(casino, "1", "2")
    casino.do(Number(actor=DEALER, table="T1", number="36", event=event(1)))
    assert [str(event(1)), None] == [entry.event_id for entry in casino.entries[-2:]]
