"""The worked examples of the money rules (M6), to the cent."""

from __future__ import annotations

import pytest
from accounting_build import Casino, level, link, put


@pytest.mark.parametrize(
    ("mode", "display", "house_tops_up"),
    [
        ("seed_plus_reserve", "14,938.24", "-20,000.00"),
        ("reserve_funds_seed", "10,000.00", "-15,061.76"),
        ("larger_of", "10,000.00", "-15,061.76"),
    ],
)
def test_example_1_a_level_is_won_and_starts_again(mode: str, display: str, house_tops_up: str) -> None:
    """123,456 wagers, 100 %: pays 34,691.20; the next start depends on the mode, the liability does not."""
    casino = Casino(link(level(reset=mode)))
    casino.rounds(30_864 - 1, (1, 2, 3, 4))
    casino.lock((1, 2, 3, 4))
    assert casino.display() == "34,691.20"
    assert casino.reserve() == "4,938.24"
    assert casino.liability() == "29,629.44"
    award = casino.claim(1, "royal-flush")
    assert casino.amount(award) == "34,691.20"
    assert casino.display() == display
    assert casino.reserve() == "0.00"
    assert casino.seed() == house_tops_up
    assert casino.liability() == "39,629.44"
    casino.confirm(award)
    casino.pay(award)
    assert casino.liability() == "4,938.24"


def test_example_2_the_order_of_a_tenth_and_of_all() -> None:
    """Sequential: 10 % first leaves 47,106.00; 100 % first leaves the tenth of the restarted meter."""
    for order, amounts in (
        (("straight-flush", "royal-flush"), ("5,234.00", "47,106.00")),
        (("royal-flush", "straight-flush"), ("52,340.00", "1,312.00")),
    ):
        casino = Casino()
        casino.lock((1, 2))
        put(casino, "52340", "3120")
        awards = [casino.claim(seat, hand) for seat, hand in zip((1, 2), order, strict=True)]
        assert amounts == tuple(casino.amount(award) for award in awards)


def test_example_2_two_royals_split() -> None:
    """Split: 26,170.00 each."""
    casino = Casino(link(level(ties="split")))
    casino.lock((1, 2))
    put(casino, "52340", "3120")
    first, second = casino.claim(1, "royal-flush"), casino.claim(2, "royal-flush")
    assert (casino.amount(first), casino.amount(second)) == ("26,170.00", "26,170.00")
    assert casino.display() == "13,120.00"


def test_example_3_envy() -> None:
    """Six wagers, a royal and a straight flush: everybody gets from every hand but the own."""
    casino = Casino()
    casino.lock((1, 2, 3, 4, 5, 6))
    first, second = casino.claim(3, "royal-flush"), casino.claim(5, "straight-flush")
    casino.confirm(first)
    casino.confirm(second)
    casino.end()
    got: dict[int, int] = {}
    for share in casino.book.tables["T1"].last_envy:
        got[share.seat] = got.get(share.seat, 0) + share.cents
    assert got == {1: 130_000, 2: 130_000, 3: 30_000, 4: 130_000, 5: 100_000, 6: 130_000}
    assert casino.account("paid/T1") == "6,500.00"
    assert casino.account("house/pays/T1") == "-6,500.00"


def test_example_4_a_limit() -> None:
    """A meter at 99,990 under a limit of 100,000 takes 10 of 200 and keeps 190 for the next."""
    casino = Casino(link(level(reserve=None, limit="100000", overflow="next_meter"), wager="5.00"))
    put(casino, "99990")
    casino.rounds(40, (1, 2, 3, 4, 5))
    assert (casino.display(), casino.overflow()) == ("100,000.00", "190.00")


def test_example_5_a_rate_finer_than_a_cent() -> None:
    """2.375 % of $1 over 1,000 wagers: up exactly 23.75."""
    casino = Casino(link(level(increment="2.375%", reserve=None)))
    casino.wagers(1000)
    assert casino.microcents("meter/nexus/main") == 1_002_375_000_000


def test_example_6_an_award_voided_after_500_wagers() -> None:
    """The meter stands as if the award had never been claimed."""
    casino = Casino()
    casino.rounds(30_863, (1, 2, 3, 4))
    casino.lock((1, 2, 3, 4))
    award = casino.claim(1, "royal-flush")
    casino.wagers(500)
    casino.void(award)
    assert (casino.display(), casino.reserve(), casino.seed()) == ("34,791.20", "4,958.24", "-10,000.00")
    assert casino.amount(award) == "34,691.20"
    assert casino.microcents(f"payable/{award}") == 0
