"""Which funds can be put in force: every bound met exactly, and passed by one; devices that come back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import SUPERVISOR, Casino, event, link

from meterd.accounting.commands import SYSTEM, CloseTable, EndGame, OpenTable, TrustDevice
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings_pools import DAYS_MAX, MOST_CENTS, AtCap, FundSettings, PoolGame, PoolSettings, problems

PPM = 1_000_000
POSTED = FundSettings("P1", PoolGame.POSTED, (PoolSettings("a", PPM),), 200)
HOME = FundSettings("T3", PoolGame.HOME_RUN, (PoolSettings("home-run", PPM),), None, seats=6)
TRIPS = FundSettings("T4", PoolGame.TRIPS, (PoolSettings("pot", PPM),), None, seats=6)
TWO = replace(
    POSTED,
    pools=(
        PoolSettings("a", 600_000, 5_000, AtCap.STOP, 0),
        PoolSettings("b", 400_000, None, None, PPM, "a", offered=True),
    ),
)


def pools(fund: FundSettings, *changed: PoolSettings) -> FundSettings:
    return replace(fund, pools=changed)


A, B = TWO.pools
GOOD = [
    POSTED,
    HOME,
    TRIPS,
    TWO,
    replace(POSTED, take_max_cents=1),
    replace(POSTED, take_max_cents=MOST_CENTS[PoolGame.POSTED]),
    replace(HOME, take_max_cents=1),
    replace(HOME, seats=1),
    replace(POSTED, unclaimed_days=1),
    replace(POSTED, unclaimed_days=DAYS_MAX),
    replace(TRIPS, high_hand_ppm=50_000),
    replace(TRIPS, high_hand_ppm=950_000),
    pools(TWO, replace(A, cap_cents=1), B),
    pools(TWO, replace(A, share_ppm=PPM), replace(B, share_ppm=0)),
]
BAD = [
    (replace(POSTED, take_max_cents=None), "needs the most"),
    (replace(POSTED, take_max_cents=0), "above nothing"),
    (replace(POSTED, take_max_cents=(MOST_CENTS[PoolGame.POSTED] or 0) + 1), "takes at most"),
    (replace(HOME, seats=0), "needs the seats"),
    (replace(POSTED, unclaimed_days=0), "stays claimable"),
    (replace(POSTED, unclaimed_days=DAYS_MAX + 1), "stays claimable"),
    (replace(TRIPS, high_hand_ppm=49_999), "high hand"),
    (replace(TRIPS, high_hand_ppm=1_000_000), "high hand"),
    (replace(HOME, high_hand_ppm=50_000), "high hand"),
    (pools(POSTED), "a pool at least"),
    (pools(HOME, replace(A, at_cap=None, cap_cents=None), replace(B, reseeds=None, offered=False)), "has one pool"),
    (pools(POSTED, PoolSettings("a", PPM - 1)), "100% together"),
    (pools(POSTED, PoolSettings("a", PPM + 1), PoolSettings("b", -1)), "below nothing"),
    (pools(TWO, replace(A, share_at_cap_ppm=-1), replace(B, share_at_cap_ppm=PPM + 1)), "below nothing"),
    (pools(TWO, A, replace(B, share_at_cap_ppm=PPM - 1)), "at a cap are 100%"),
    (pools(TWO, replace(A, cap_cents=0), B), "above nothing"),
    (pools(TWO, replace(A, at_cap=None), B), "a cap says what happens"),
    (pools(TWO, replace(A, cap_cents=None), B), "a cap says what happens"),
    (pools(TWO, A, replace(B, name="a")), "name of its own"),
    (pools(TWO, replace(A, name="house"), replace(B, reseeds="house")), "name of its own"),
    (pools(POSTED, replace(POSTED.pools[0], name="strike-out")), "name of its own"),
    (pools(HOME, replace(HOME.pools[0], cap_cents=5, at_cap=AtCap.STOP)), "belong to posted jackpots"),
    (pools(TWO, A, replace(B, reseeds=None)), "is offered after a win"),
    (pools(TWO, A, replace(B, reseeds="c")), "no such pool"),
    (pools(TWO, replace(A, reseeds="b"), B), "re-seeds itself"),
    (pools(TWO, A, replace(B, share_ppm=200_000), PoolSettings("c", 200_000, reseeds="a")), "one pool only"),
]


@pytest.mark.parametrize("fund", GOOD)
def test_a_fund_at_its_bounds_can_be(fund: FundSettings) -> None:
    """Nothing is wrong with it."""
    assert () == problems(fund)


@pytest.mark.parametrize(("fund", "said"), BAD)
def test_a_fund_beyond_its_bounds_is_told_why(fund: FundSettings, said: str) -> None:
    """One sentence at least names what is wrong."""
    assert any(said in problem for problem in problems(fund)), problems(fund)


def test_a_device_that_comes_back_closes_what_is_open() -> None:
    """T1 is open and closes until END GAME, T2 is locked and stays so; the press is told by the first entry alone."""
    casino = Casino(link())
    casino.lock((1,), "T2")
    trust = {"actor": SYSTEM, "tables": ("T1", "T2"), "modulus": 16}
    casino.do(TrustDevice(**trust, counts={"a": 15, "b": 3}))  # type: ignore[arg-type]
    decision = casino.do(TrustDevice(**trust, counts={"a": 1, "b": 3}, event=event(1, "pit/40/di9")))  # type: ignore[arg-type]
    kinds = [(entry.kind, entry.event_id) for entry in decision.entries]
    assert [(Kind.DEVICE_TRUSTED, "pit/40/di9:1:1"), (Kind.MISSED_WHILE_AWAY, None)] == kinds
    assert {"a": {"before": 15, "now": 1}} == decision.entries[1].body["inputs"]
    assert (2, 2) == (decision.entries[0].body["epoch"], casino.book.devices["a"].epoch)
    assert ("CLOSED", True, "LOCKED") == (
        casino.book.tables["T1"].state.value,
        casino.book.tables["T1"].needs_end_game,
        casino.book.tables["T2"].state.value,
    )
    assert Refusal.TABLE_CLOSED is casino.refuses(OpenTable(actor=SYSTEM, table="T1"))
    casino.do(EndGame(actor=SUPERVISOR, table="T1"))
    assert "OPEN" == casino.book.tables["T1"].state.value


@pytest.mark.parametrize(
    ("first", "second", "again"),
    [
        ("stopped", "device_lost", False),
        ("shift over", "device_lost", True),
        ("shift over", "stopped", False),
        ("device_lost", "crash", False),
    ],
)
def test_a_closed_table_can_only_gain_a_doubt(first: str, second: str, again: bool) -> None:
    """One closed by hand gains one; one that was stopped cleanly, or is in doubt already, does not close again."""
    casino = Casino(link())
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason=first))
    command = CloseTable(actor=SYSTEM, table="T1", reason=second)
    if again:
        casino.do(command)
        assert casino.book.tables["T1"].needs_end_game
    else:
        assert Refusal.ALREADY_DONE is casino.refuses(command)
