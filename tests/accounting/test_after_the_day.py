"""What can still be put right after a gaming day was read, however much happened on it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import ACCOUNTANT, ADMINISTRATOR, OTHER, SUPERVISOR, Casino, level, link
from pools_build import CardRoom, fund, pool, winning
from test_caps import casino as limited

from meterd.accounting import rules_day
from meterd.accounting.commands import SYSTEM, Correct, Hold, Undo
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.commands_links import AdjustClaim, ChangeTable, Discontinue
from meterd.accounting.commands_pools import PayShare, UndoWin
from meterd.accounting.refusals import Refusal

TWO = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "case 7"}


@pytest.fixture(autouse=True)
def few_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two settled awards stay at hand, and two that took a share of a meter."""
    monkeypatch.setattr(rules_day, "SETTLED_KEPT", 2)
    monkeypatch.setattr(rules_day, "SHARES_OF_METERS_KEPT", 2)


def read(house: Casino, day: int = 1) -> list[str]:
    decision = house.do(ReadDay(actor=SYSTEM, day=f"2026-01-{day:02d}", next_day=f"2026-01-{day + 1:02d}"))
    left: list[str] = decision.entries[0].body["left"]["awards"]
    return left


def win(house: Casino, hand: str, seat: int = 1) -> str:
    """A round in which a seat wins, is confirmed and paid."""
    house.lock([1, 2])
    award = house.claim(seat, hand)
    if house.book.awards[award].pending:
        house.confirm(award)
    house.pay(award)
    house.end()
    return award


def test_a_claim_of_any_round_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy evening later two people still pay the player of round 1; the entry says that awards have left since."""
    house = Casino(link())
    for _ in range(6):
        win(house, "push")
    assert len(read(house)) >= 3
    claim = AdjustClaim(**TWO, table="T1", round=1, seat=2, hand="straight-flush", cents=1000)
    told = house.do(claim).entries[0]
    assert (True, 1000) == (told.body["awards_left"], told.body["amount_cents"])


def test_a_jackpot_can_be_undone_the_next_day() -> None:
    """An award that took a share of a meter stays at hand, whatever number of small ones came after it."""
    house = Casino(link())
    jackpot = win(house, "royal-flush")
    win(house, "royal-flush")
    for _ in range(6):
        win(house, "push")
    assert jackpot not in read(house)
    house.do(Undo(actor=SUPERVISOR, second=ACCOUNTANT, award=jackpot, reference="case 7"))
    assert house.book.awards[jackpot].undone


def test_the_highest_award_stays_won() -> None:
    """A newer one that is undone does not hide the one before it: the link may end without a petition."""
    house = Casino(link(), link(level(reserve=None), name="other"))
    win(house, "royal-flush")
    for _ in range(6):
        win(house, "push")
    second = win(house, "royal-flush")
    read(house)
    house.do(Undo(actor=SUPERVISOR, second=ACCOUNTANT, award=second, reference="case 7"))
    asked = replace(Discontinue(**TWO, link="nexus", target="other/main"), reference="")
    refused = house.decide(asked).refusal
    assert refused is None or refused.refusal is not Refusal.TOP_AWARD_NOT_WON


def test_a_seat_that_was_taken_away_is_paid_what_it_won() -> None:
    """A table with fewer seats than it had takes the late claims of those it had, and of no others."""
    house = Casino(link())
    house.lock([1, 7])
    house.end()
    fewer = replace(house.book.tables["T1"].settings, seats=5)
    house.do(ChangeTable(**TWO, settings=fewer))
    claim = AdjustClaim(**TWO, table="T1", round=1, seat=7, hand="straight-flush", cents=1000)
    beyond = house.decide(replace(claim, seat=8)).refusal
    assert beyond is not None
    assert Refusal.SEAT_UNKNOWN is beyond.refusal
    assert house.do(claim).refusal is None


@pytest.mark.parametrize("day_read", [False, True])
def test_a_reading_changes_no_limit(day_read: bool) -> None:
    """A late award of a round that is still disputed stays at hand: what it took of the limit is not paid again."""
    house = limited(player=None, table=1500_00, confirm_above=1_00)
    house.lock((1, 2, 3))
    disputed = house.claim(1, "forty-nine")
    house.do(Hold(actor=SUPERVISOR, award=disputed))
    house.end()
    house.do(AdjustClaim(**TWO, table="T1", round=1, seat=2, hand="thousand", cents=1000_00))
    house.pay("A2")
    for _ in range(4):
        house.lock((1,))
        small = house.claim(1, "forty-nine")
        house.confirm(small)
        house.pay(small)
        house.end()
    if day_read:
        assert "A2" not in read(house)
    house.do(Correct(actor=OTHER, award=disputed, hand="thousand"))
    assert "500.00" == house.amount(disputed)


def test_an_undone_win_still_tells_a_pool_s_clock_after_the_reading() -> None:
    """Six months of a capped pool run on from before the first of two wins that both were none."""
    clocks = []
    for reading in (False, True):
        room = CardRoom(fund(pool("main", cap="10.00", at_cap="stop"), name="P"), fund(name="Q"))
        room.rake(200, 5, name="P")
        room.post("P")
        since = room.state("P").pools["main"].capped_at
        for number in (1, 2):
            room.do(winning(pool_name="main", name="P"))
            for _ in range(3 if number == 2 else 0):
                room.rake(100, name="Q")
                room.post("Q")
                room.do(winning(name="Q"))
                room.do(PayShare(actor=SUPERVISOR, award=list(room.book.fund_awards)[-1]))
            if number == 2 and reading:
                day = room.do(ReadDay(actor=SYSTEM, day="2026-12-01", next_day="2026-12-02"))
                assert ["J3"] == day.entries[0].body["left"]["shares"]
            room.do(UndoWin(**TWO, fund="P", win=number))
        clocks.append(room.state("P").pools["main"].capped_at == since)
    assert [True, True] == clocks
