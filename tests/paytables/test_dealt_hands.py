"""Cards that cannot have been dealt: a hand that was finished draws no more, and no table pays for it."""

from __future__ import annotations

from itertools import product

import pytest
from little_table import little_table, refused

from meterd.edge.files import load_paytables
from meterd.handrank.cards import RANKS, CardError
from meterd.paytables.outcome import outcome

TABLES = load_paytables()


@pytest.mark.parametrize(
    ("table", "own", "dealer", "says"),
    [
        ("co/hit-and-run/hit-and-run", "As Ks", "Th 7c 4d", "Th 7c is 17 and draws no card; 4d cannot"),
        ("co/hit-and-run/hit-and-run", "As Ks", "As Ah 9c 5d 2c", "As Ah 9c is soft 21 and draws no card; 5d cannot"),
        ("co/blackjack-switch/buster-1", "", "Ts 9c 2d 5h", "Ts 9c is 19 and draws no card; 2d cannot"),
        ("co/buffalo-blackjack/bust-bonus", "", "Ts Tc 5d", "Ts Tc is 20 and draws no card; 5d cannot"),
        ("co/buffalo-blackjack/21-magic-six-deck-a", "As Ks 5h 5d", "Th 8c", "As Ks is soft 21 and draws no card"),
        ("co/buffalo-blackjack/21-magic-six-deck-a", "Ts 5s 6h 5d", "Th 8c", "Ts 5s 6h is 21 and draws no card"),
        ("co/straight-jack/sjp1", "As Ks Qs", "", "As Ks is soft 21 and draws no card; Qs cannot"),
        ("co/blazing-sevens/b7p1", "7s 7h 7d 2c", "", "7s 7h 7d is 21 and draws no card; 2c cannot"),
        ("co/spanish-21/match-up-2-deck", "8s 8h", "8d 9c Kc", "8d 9c is 17 and draws no card; Kc cannot"),
    ],
)
def test_a_finished_hand_draws_no_card(table: str, own: str, dealer: str, says: str) -> None:
    """Dealer: hard 17 or soft 18 and more; player: 21, a blackjack included. The card that came too late is named."""
    assert says in refused(TABLES[table], cards=own, dealer=dealer)


def test_a_dealer_may_draw_to_a_soft_17() -> None:
    """At the licensee's discretion, so both are hands; an ace that has come to count 1 is a hard total."""
    table = TABLES["co/blackjack-switch/buster-1"]
    for dealer in ("Ah 6c", "Ah 6c 2d", "Ah 6c Td", "Ah 6c 8d Ts", "Ah 2c 4d 9c 3h"):
        outcome(table, dealer=dealer)
    assert "Ah 6c Td is 17 and draws no card; 9s" in refused(table, dealer="Ah 6c Td 9s")
    assert "Ah 7c is soft 18 and draws no card; 9d" in refused(table, dealer="Ah 7c 9d")


def _totals(ranks: str) -> tuple[int, bool]:
    """Best total and whether an ace counts 11: worked out a second time, by trying every value of every ace."""
    totals = {
        sum(values) for values in product(*[(1, 11) if r == "A" else (min(RANKS.index(r) + 2, 10),) for r in ranks])
    }
    best = max((value for value in totals if value <= 21), default=min(totals))
    return best, best != min(totals)


@pytest.mark.parametrize("first", RANKS)
def test_every_third_card_of_a_dealer_is_dealt_or_refused_by_his_first_two(first: str) -> None:
    """All of the second and third ranks; the bust row asks only for what is missing."""
    table = little_table(
        "shoe",
        "own_cards = 0, dealer_cards = 2, dealer_dealt = 21",
        ("any-bust", "any of:dealer bust"),
        keys="decks = 8",
    )
    for second, third in product(RANKS, "2A"):
        value, soft = _totals(first + second)
        try:
            outcome(table, dealer=f"{first}s {second}h {third}c")
        except CardError as error:
            late = "draws no card" in str(error)
        else:
            late = False
        assert (value >= 18 or (value == 17 and not soft)) == late, f"{first} {second} {third}"


def test_a_wager_on_the_dealers_bust_is_made_by_a_live_hand() -> None:
    """A player who went over 21 could not make it (CO 47.1-899.09(8)), so there is nothing to pay."""
    table = TABLES["co/buffalo-blackjack/bust-bonus"]
    assert "Ts 9s 5h is 24" in refused(table, cards="Ts 9s 5h", dealer="Th 6c 9d")
    assert outcome(table, cards="Ts 9s 2h", dealer="Th 6c 9d").row is not None


def test_a_doubled_21_of_spanish_21_is_a_hand() -> None:
    """There a two-card 21 and a soft 21 may be doubled; elsewhere nobody draws to them."""
    rows = ("three", "any first:3 ranks:A6K")
    games = "own_cards = 2, own_dealt = 21"
    spanish = little_table("shoe", games, rows, keys='decks = 6\nwithout_ranks = "T"')
    assert "three" == (outcome(spanish, cards="As Ks 6d").row or pytest.fail("no row")).hand
    assert "As Ks is soft 21" in refused(little_table("shoe", games, rows, keys="decks = 6"), cards="As Ks 6d")


@pytest.mark.parametrize("cards", ["7h 8h", "7h 7d", "As Ks", "7h 7d 2h 5s", "8h 7d 2h 2s"])
def test_a_hand_whose_first_three_cards_decide_may_have_two_or_four(cards: str) -> None:
    """It loses, as with Blazing 7's; one card alone is no hand."""
    assert outcome(TABLES["co/spanish-21/super-bonus-5"], cards=cards, dealer="7s").row is None
    assert "takes 2 to 21 own cards" in refused(TABLES["co/spanish-21/super-bonus-5"], cards="7h", dealer="7s")


def test_the_first_three_cards_still_win() -> None:
    """Three sevens of a suit total 21, so nobody draws to them but to double."""
    table = TABLES["co/spanish-21/super-bonus-5"]
    assert outcome(table, cards="7h 7h 7h", dealer="7s").row is table.rows[0]
    assert outcome(table, cards="7h 7h 7h", dealer="8s").row is None
