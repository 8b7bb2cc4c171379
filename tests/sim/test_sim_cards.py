"""The simulated dealer reads hands as the pay tables do, and a stacked deck is still a deck."""

from __future__ import annotations

import random

import pytest
from sim_floor import FIVE_CARD_ROWS

from meterd.edge.files import load_paytables
from meterd.handrank.blackjack import is_blackjack
from meterd.paytables.outcome import outcome
from meterd.sim.cards import lucky_cards, read_hand, shuffled, stacked

TABLES = load_paytables()
GAMES = [
    ("co/nexus/pmg-ml-02", 5, 1),
    ("co/texas-holdem-bonus/thbp-6", 5, 1),
    ("co/three-card-poker/progressive-1", 3, 1),
    ("co/blazing-sevens/b7p3", 3, 8),
]
SPLIT = {5: (3, 2), 3: (3, 0)}


@pytest.mark.parametrize(("table_id", "cards", "decks"), GAMES)
def test_the_dealer_reads_as_the_pay_table(table_id: str, cards: int, decks: int) -> None:
    """Over shuffled and stacked decks, the dealer's row is the pay table's, losing hands included."""
    seed = 11
    print("seed", seed)
    chance, table = random.Random(seed), TABLES[table_id]
    hands = [row.hand for row in table.rows if row.offered]
    own = 2 if "holdem" in table_id else SPLIT[cards][0]
    seen = set()
    for n in range(1500):
        deck = shuffled(chance, decks)
        if n % 2:
            wanted = lucky_cards(str(table.evaluator), chance.choice(hands), chance)
            assert wanted is not None
            deck = stacked(deck, wanted, range(cards))
        dealt = deck[:cards]
        if table.evaluator == "sevens" and is_blackjack(dealt[:2]):
            dealt = dealt[:2]  # a finished hand draws no third card
        text = [str(card) for card in dealt]
        won = outcome(table, cards=" ".join(text[:own]), community=" ".join(text[own:])).row
        read = read_hand(str(table.evaluator), dealt, hands)
        assert (won.hand if won else None) == read
        seen.add(read)
    assert {*hands, None} == seen


def test_a_stacked_deck_holds_every_card_once() -> None:
    """Stacking swaps cards: nothing is added or lost, and the wanted cards lie where they should."""
    chance = random.Random(5)
    for _ in range(200):
        wanted = lucky_cards("five-card", chance.choice(FIVE_CARD_ROWS), chance)
        assert wanted
        places = chance.sample(range(52), len(wanted))
        deck = stacked(shuffled(chance), wanted, places)
        assert wanted == [deck[place] for place in places]
        assert sorted(deck) == sorted(shuffled(chance))


def test_a_hand_nobody_can_make_is_not_made() -> None:
    """A row this dealer does not know gets no stacked deck."""
    for evaluator in ("five-card", "three-card", "sevens", "wheel"):
        assert None is lucky_cards(evaluator, "no-such-row", random.Random(1))
