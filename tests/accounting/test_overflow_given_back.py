"""A wager given back takes out what it put in, wherever its overflow came to lie."""

from __future__ import annotations

import pytest
from accounting_build import Casino, fixed, frozen, level, link, paytable, percent, row

from meterd.accounting.settings import LevelSettings

ROWS = tuple(row(f"all-{name}", percent("100%", name)) for name in "abc")


def full(overflow: str, *more: LevelSettings, seed: str = "2.00", limit: str = "2.00") -> Casino:
    """Level a stands at its limit and sends 20 ¢ of a dollar to b, which takes no share of its own."""
    levels = (
        level("a", "10", "20%", None, limit="10", overflow="level:b"),
        level("b", seed, "0%", None, limit=limit, overflow=overflow),
        *more,
    )
    return Casino(link(*levels, table=paytable(*ROWS[: len(levels)])))


def money(casino: Casino) -> dict[str, int]:
    return {account: amount for account, amount in casino.book.balances.items() if amount}


@pytest.mark.parametrize("way", ["next_meter", "level:c"])
def test_a_full_second_level_keeps_its_meter(way: str) -> None:
    """What went through a full level into its overflow, or on to a third, comes back from there and not its meter."""
    more = [level("c", "0", "0%", None)] if way == "level:c" else []
    casino = full(way, *more, seed="0.00")
    casino.wagers(20)
    before = money(casino)
    behind = casino.display("nexus/c") if more else casino.overflow("nexus/b")
    assert ("2.00", "2.00") == (casino.display("nexus/b"), behind)
    casino.lock((1, 2))
    casino.void_round()
    assert before == money(casino)


def test_what_became_income_behind_a_full_level_is_laid_out_by_the_house() -> None:
    """Behind two limits the overflow is the house's; its return is the house's too, and no sign falls."""
    casino = full("house", seed="0.00")
    casino.wagers(20)
    casino.lock((1,))
    casino.void_round()
    assert "2.00" == casino.display("nexus/b")
    assert ("-0.20", "2.20") == (casino.account("house/pays/T1"), casino.account("house/revenue"))


def test_each_seat_takes_back_its_own_part() -> None:
    """The second level had room for 30 ¢: seat 1's 20 ¢ and half of seat 2's are in its meter, the rest above it."""
    casino = full("next_meter", limit="2.30")
    casino.lock((1, 2, 3))
    assert ("2.30", "0.30") == (casino.display("nexus/b"), casino.overflow("nexus/b"))
    casino.void_seat(3)
    assert ("2.30", "0.10") == (casino.display("nexus/b"), casino.overflow("nexus/b"))
    casino.void_seat(2)
    assert ("2.20", "0.00") == (casino.display("nexus/b"), casino.overflow("nexus/b"))
    casino.void_seat(1)
    assert "2.00" == casino.display("nexus/b")
    assert "0.00" == casino.account("house/pays/T1")


def test_also_where_the_past_is_decided_again() -> None:
    """With an award pending the return is decided again by a void, and the book is the fold of its entries."""
    casino = full("next_meter", limit="2.30")
    casino.lock((1,), "T2")
    award = casino.claim(1, "all-a", "T2")
    casino.lock((1, 2, 3))
    casino.void_seat(3)
    casino.void(award)
    casino.void_round()
    assert frozen(casino.folded()) == frozen(casino.book)
    assert 0 == casino.book.residual_microcents()


def test_what_followed_by_a_void_is_sought_behind_the_wagers_own_part() -> None:
    """Told again, 2 ¢ of the wager had gone on to b: its own 4 ¢ come out of b's meter, the 2 ¢ out of b's overflow."""
    third, half = row("third-a", percent("33.3333%", "a")), row("half-b", fixed("0.50", from_meter=True, level="b"))
    casino = Casino(
        link(
            level("a", "0.00", "4%", None, ties="full_each", limit="0.07", overflow="level:b"),
            level("b", "1.00", "4%", None, limit="1.00", overflow="next_meter"),
            table=paytable(*ROWS[:2], third, half),
        )
    )
    casino.lock((1, 2, 3, 4))
    casino.claim(3, "half-b")
    first, _ = casino.claim(1, "all-a"), casino.claim(2, "third-a")
    casino.lock((1,), "T2")
    casino.void_seat(1, "T2")
    casino.void(first)
    assert ("0.52", "0.23") == (casino.display("nexus/b"), casino.overflow("nexus/b"))
    assert "0.00" == casino.account("house/pays/T2")
    assert frozen(casino.folded()) == frozen(casino.book)


def test_a_restart_changes_nothing_where_two_levels_send_to_a_third() -> None:
    """Read back, the names of levels stand in another order; what lands first is as the settings order them."""
    full = {"limit": "10", "overflow": "level:c"}
    casino = Casino(
        link(
            level("z", "10", "10%", None, **full),
            level("a", "10", "30%", None, **full),
            level("c", "10", "0%", None, limit="10.60", overflow="house"),
            table=paytable(
                row("all-z", percent("100%", "z")), row("all-c", percent("100%", "c")), row("one", fixed("1"))
            ),
        ),
        tables=2,
    )
    casino.lock((1,), "T2")
    award = casino.claim(1, "one", "T2")
    casino.lock((1, 2))
    casino.book = casino.folded(by_name=True)
    casino.void(award)
    casino.void_seat(1)
    assert "10.50" == casino.display("nexus/c")
