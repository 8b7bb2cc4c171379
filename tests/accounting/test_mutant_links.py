"""Changes of a live link at their edges: what may be posted, taken back, moved, ended, and what the entry tells."""

from __future__ import annotations

from typing import Any

import pytest
from accounting_build import ACCOUNTANT, ADMINISTRATOR, SUPERVISOR, Casino, fixed, level, link, paytable, percent, row

from meterd.accounting.commands import Hold, Undo
from meterd.accounting.commands_links import Adjust, AdjustClaim, Discontinue, PostCaps, RecoverSeed, Transfer
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules_links import top_award_won
from meterd.accounting.settings import SiteSettings
from meterd.money import AMOUNT_CENTS_MAX
from meterd.paytables.model import Pay, PayKind

EASY = SiteSettings("test", seed_recovery=True, release_to_house=True)
PEOPLE: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R-1"}
NOW: dict[str, Any] = {**PEOPLE, "now_utc": "2026-01-01T00:00:00.000000Z"}


def casino(**facts: Any) -> Casino:
    return Casino(link(level(reserve=None, **facts)), link(level(reserve=None), name="other"), site=EASY)


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({"player_cents": AMOUNT_CENTS_MAX}, True),
        ({"player_cents": AMOUNT_CENTS_MAX + 1}, False),
        ({"table_cents": AMOUNT_CENTS_MAX}, True),
        ({"table_cents": AMOUNT_CENTS_MAX + 1}, False),
        ({"tip_cents": 1}, True),
        ({"tip_cents": 0}, False),
        ({"tip_cents": AMOUNT_CENTS_MAX}, True),
        ({"tip_cents": AMOUNT_CENTS_MAX + 1}, False),
    ],
)
def test_a_limit_is_posted_up_to_the_largest_amount(limits: dict[str, int], fits: bool) -> None:
    """One cent above it, or no cent for a tip, is out of bounds."""
    house = casino()
    facts: dict[str, Any] = {"player_cents": None, "table_cents": None, **limits}
    command = PostCaps(**NOW, table="T1", **facts)
    if fits:
        house.do(command)
    else:
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is house.refuses(command)


def test_the_least_limit_can_be_posted_and_no_smaller_one() -> None:
    """250 to 1 on $1 is $250.00."""
    for cents, fits in ((250_00, True), (249_99, False)):
        house = casino()
        refusal = house.decide(PostCaps(**NOW, table="T1", player_cents=cents, table_cents=None)).refusal
        assert (None if fits else Refusal.AMOUNT_OUT_OF_BOUNDS) == (refusal and refusal.refusal)


@pytest.mark.parametrize(("first", "back", "fits"), [(50, -50, True), (50, -51, False), (0, -1, False)])
def test_an_adjustment_takes_back_what_adjustments_put_in(first: int, back: int, fits: bool) -> None:
    """All of it, and not a cent of what players or the house's seed put in."""
    house = casino()
    house.wagers(5)
    if first:
        house.do(Adjust(**PEOPLE, level="nexus/main", cents=first))
    refusal = house.decide(Adjust(**PEOPLE, level="nexus/main", cents=back)).refusal
    assert (None if fits else Refusal.AMOUNT_OUT_OF_BOUNDS) == (refusal and refusal.refusal)


def test_an_adjustment_is_not_taken_back_out_of_the_seed() -> None:
    """Two shares of a tenth took of the meter what was above the seed: what was adjusted went with them."""
    house = casino(seed="10")
    house.do(Adjust(**PEOPLE, level="nexus/main", cents=100))
    house.lock((1,))
    award = house.claim(1, "straight-flush")
    assert "1.12" == house.amount(award)
    house.confirm(award)
    house.end()
    # 10.08 and a part of a cent are left, of which 10.00 are the seed's
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is house.refuses(Adjust(**PEOPLE, level="nexus/main", cents=-9))
    house.do(Adjust(**PEOPLE, level="nexus/main", cents=-8))
    assert "10.00" == house.display()


@pytest.mark.parametrize("cents", [0, -1, AMOUNT_CENTS_MAX + 1])
def test_amounts_that_cannot_be_moved(cents: int) -> None:
    """Nothing, less than nothing, and more than the largest."""
    house = casino()
    house.wagers(5)
    for command in (
        Transfer(**PEOPLE, level="nexus/main", target="other/main", cents=cents),
        RecoverSeed(**PEOPLE, level="nexus/main", cents=cents),
    ):
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is house.refuses(command)
    if cents >= 0:
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is house.refuses(Adjust(**PEOPLE, level="nexus/main", cents=cents))


def test_all_of_the_players_money_can_be_transferred_and_no_more() -> None:
    """1.00 of five wagers: to the cent, and the entry tells both levels."""
    house = casino()
    house.wagers(5)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is house.refuses(
        Transfer(**PEOPLE, level="nexus/main", target="other/main", cents=101)
    )
    decision = house.do(Transfer(**PEOPLE, level="nexus/main", target="other/main", cents=100))
    assert {"nexus/main", "other/main"} == set(decision.entries[0].body["levels"])
    assert ("10,000.00", "10,001.00") == (house.display(), house.display("other/main"))


@pytest.mark.parametrize("licensee", [False, True])
def test_the_end_of_a_link_tells_where_its_money_went(licensee: bool) -> None:
    """To a level, which the entry then tells too; or to another licensee, and the money is handed out."""
    house = casino()
    house.wagers(5)
    target = None if licensee else "other/main"
    decision = house.do(Discontinue(**NOW, link="nexus", target=target, licensee=licensee))
    body = decision.entries[0].body
    assert (licensee or None, 100_000_000, False) == (
        body.get("licensee"),
        body["moved_microcents"],
        body["top_award_won"],
    )
    assert {"nexus/main"} | (set() if licensee else {"other/main"}) == set(body["levels"])
    assert ("0.00", "1.00" if licensee else "0.00") == (house.display(), house.account("paid/nexus"))
    assert ("10,000.00" if licensee else "10,001.00") == house.display("other/main")
    assert Refusal.ALREADY_DONE is house.refuses(Discontinue(**NOW, link="nexus", target=None))
    assert house.folded().balances == house.book.balances


def test_an_ended_link_ends_again_where_money_came_back() -> None:
    """An award undone afterwards puts money into one of its two levels: that alone is enough to end it once more."""
    table = paytable(row("a", percent("100%", "a")), row("b", percent("10%", "b")))
    levels = (level("a", seed="10", increment="1%"), level("b", seed="10", increment="1%"))
    house = Casino(link(*levels, table=table), link(level(reserve=None), name="other"), site=EASY)
    house.lock((1,))
    award = house.claim(1, "b")
    house.confirm(award)
    house.end()
    house.do(Discontinue(**NOW, link="nexus", target="other/main"))
    house.do(Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="R"))
    assert ("0.00", "1.00") == (house.display("nexus/a"), house.display("nexus/b"))
    house.do(Discontinue(**NOW, link="nexus", target="other/main"))
    assert ("0.00", "0.00") == (house.display("nexus/b"), house.account("payable/A1"))
    assert Refusal.ALREADY_DONE is house.refuses(Discontinue(**NOW, link="nexus", target="other/main"))


def test_the_highest_award_is_won_in_full_or_not_at_all() -> None:
    """With shares that go with the units, one unit of five wins a part of it."""
    table = paytable(row("top", percent("100%"), Pay(PayKind.ODDS_TO, n=2)), row("low", fixed("1.00")))
    for scales, units, won in ((True, 5, True), (True, 1, False), (False, 1, True)):
        house = Casino(link(level(share_scales=scales), table=table))
        house.lock({1: units, 2: 5})
        house.confirm(house.claim(1, "top"))
        assert won == top_award_won(house.book, house.book.links["nexus"])
    house = Casino(link(level(), table=table))
    house.lock((1,))
    house.do(Hold(actor=SUPERVISOR, award=house.claim(1, "top")))
    assert not top_award_won(house.book, house.book.links["nexus"])


def test_a_late_award_has_no_units_and_is_no_highest_award() -> None:
    """The house paid it on the word of two people: it is confirmed, late, of no wager, and the meter is not won."""
    house = casino()
    house.lock((1,))
    house.end()
    claim = AdjustClaim(**PEOPLE, table="T1", round=1, seat=1, hand="royal-flush", cents=500_00)
    house.do(claim)
    award = house.book.awards["A1"]
    assert (0, True, "confirmed", 500_00) == (award.units, award.late, award.state_word, award.amount_cents)
    assert not top_award_won(house.book, house.book.links["nexus"])
