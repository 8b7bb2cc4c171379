"""Each category asked on its own: at least, with the cards that make it, natural, and apart from the ranking."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from naive_ranks import DECK

from meterd.handrank import CATEGORIES, FIVE_CARD, RANKINGS, Card, PokerHand, Ranking, parse_cards, rank

SEED = 20261130


def holds(cards: Sequence[Card], category: str) -> bool:
    """Whether the cards hold the category at least, by counting ranks and walking runs."""
    by_rank = Counter(card.rank for card in cards)
    pairs = sum(times >= 2 for times in by_rank.values())
    trips = sum(times >= 3 for times in by_rank.values())
    suits = [[card.rank for card in cards if card.suit == suit] for suit in "cdhs"]
    return {
        "royal-flush": any({10, 11, 12, 13, 14} <= set(ranks) for ranks in suits),
        "straight-flush": any(run(ranks) for ranks in suits),
        "four-of-a-kind": 4 in by_rank.values(),
        "full-house": trips > 0 and pairs > 1,
        "flush": any(len(ranks) >= 5 for ranks in suits),
        "straight": run(list(by_rank)),
        "three-of-a-kind": trips > 0,
        "three-pair": pairs > 2,
        "two-pair": pairs > 1,
        "pair": pairs > 0,
    }[category]


def run(ranks: list[int]) -> bool:
    all_ranks = {*ranks, *[1 for rank_ in ranks if rank_ == 14]}
    return any(all_ranks >= set(range(low, low + 5)) for low in range(1, 11))


def test_every_category_is_found_exactly_where_it_is_held() -> None:
    """5,000 hands of five to seven cards, half of them narrow: found or not, with cards that hold it themselves."""
    chooser = random.Random(SEED)
    asked = [name for name in FIVE_CARD if name != "high-card"]
    for place in range(5_000):
        pool = [card for card in DECK if card.suit == "h" or card.rank > 10] if place % 2 else DECK
        cards = chooser.sample(pool, chooser.randrange(5, 8))
        hand = PokerHand(cards, "five-card")
        for name in asked:
            value = hand.find(name)
            assert holds(cards, name) == (value is not None), (SEED, name, cards)
            if value is not None:
                assert holds(value.cards_used, name), (SEED, name, cards)
                assert 5 == len(value.cards_used)
        three = hand.find("three-pair")
        assert holds(cards, "three-pair") == (three is not None)


def test_the_best_category_found_is_the_rank() -> None:
    """For every ranking: nothing above the rank is found, and the rank itself is."""
    chooser = random.Random(SEED)
    for ranking in RANKINGS.values():
        for _ in range(300):
            cards = chooser.sample(DECK, 7)
            value, hand = rank(cards, ranking), PokerHand(cards, ranking)
            above = ranking.order[: ranking.order.index(value.category)]
            assert all(hand.find(name) is None for name in above)
            found = hand.find(value.category)
            assert found == value
            assert found is not None
            assert (value.cards_used, value.strength) == (found.cards_used, found.strength)


def test_four_of_a_kind_are_also_three_and_a_pair() -> None:
    """A table that offers no row for quads pays them as what it does offer, with the fourth card as a kicker."""
    hand = PokerHand(parse_cards("Kc Kd Kh Ks 9c"), "five-card")
    three, pair = hand.find("three-of-a-kind"), hand.find("pair")
    assert three is not None
    assert pair is not None
    assert ((13, 13, 9), (13, 13, 13, 9)) == (three.tiebreak, pair.tiebreak)
    assert hand.find("two-pair") is None
    assert hand.find("full-house") is None


def test_high_card_is_found_only_where_nothing_else_is() -> None:
    """It is what is left: with a pair in the hand there is no high-card hand."""
    assert PokerHand(parse_cards("Kc Kd 7h 5s 9c"), "five-card").find("high-card") is None
    value = PokerHand(parse_cards("Kc Qd 7h 5s 9c"), "five-card").find("high-card")
    assert value is not None
    assert (13, 12, 9, 7, 5) == value.tiebreak


def test_a_natural_hand_uses_no_wild_card_as_another() -> None:
    """With ``natural`` the joker does not play and a deuce is a deuce."""
    hand = PokerHand(parse_cards("Jkr 9h 8h 7h 6h 5h 2c"), "pai-gow")
    best, natural = hand.find("straight-flush"), hand.find("straight-flush", natural=True)
    assert best is not None
    assert natural is not None
    assert ("straight-flush T 9", 1) == (str(best).split(" (")[0], best.wilds)
    assert ("straight-flush 9 8", 0) == (str(natural).split(" (")[0], natural.wilds)
    deuces = PokerHand(parse_cards("2c 2d 2h 9s 9c"), "deuces-wild")
    assert "five-of-a-kind" == deuces.best().category
    house = deuces.find("full-house", natural=True)
    assert house is not None
    assert ((2, 9), 0) == (house.tiebreak, house.wilds)
    assert deuces.find("five-of-a-kind", natural=True) is None


def test_of_equal_hands_the_natural_one_is_taken() -> None:
    """A joker is left out where it adds nothing, and a wild deuce that plays as a deuce is natural."""
    royal = rank(parse_cards("Jkr As Ks Qs Js Ts 4d"), "pai-gow")
    assert ("As Ks Qs Js Ts", 0) == (" ".join(map(str, royal.cards_used)), royal.wilds)
    wheel = rank(parse_cards("2c 3c 4c 5c Ac"), "deuces-wild")
    assert ("straight-flush", 0) == (wheel.category, wheel.wilds)
    lower = rank(parse_cards("2d 3c 4c 5c Ac"), "deuces-wild")
    assert ("straight-flush", 1) == (lower.category, lower.wilds)


def test_of_two_suits_the_natural_one_is_taken_and_else_the_one_dealt_first() -> None:
    """Equal runs or flushes in two suits: no joker rather than one, then the dealer's order."""
    hand = PokerHand(parse_cards("Jkr Ah Kh As Ks Qs 2c"), "pai-gow")
    for name in ("straight-flush", "flush"):
        value = hand.find(name, 3)
        assert value is not None
        assert ("As Ks Qs", 0) == (" ".join(map(str, value.cards_used)), value.wilds)
    both = PokerHand(parse_cards("5d 6h 5h 7h 6d 7d 2c"), "five-card")
    for name in ("straight-flush", "flush"):
        value = both.find(name, 3)
        assert value is not None
        assert "5d 6d 7d" == " ".join(map(str, value.cards_used))


def test_only_a_run_of_five_has_the_wheel_second() -> None:
    """Pai gow's note is about A-2-3-4-5; a run of four from the ace stays the lowest."""
    value = PokerHand(parse_cards("Ac 2d 3h 4s 5c 9d Jh"), "pai-gow").find("straight", 4)
    assert value is not None
    assert "2d 3h 4s 5c" == " ".join(map(str, value.cards_used))


def test_five_aces_are_five_of_a_kind_of_aces() -> None:
    """With a fully wild joker five kings are not meant."""
    aces, kings = (PokerHand(parse_cards(f"{r}c {r}d {r}h {r}s Jkr"), "joker-wild") for r in "AK")
    assert aces.find("five-aces") is not None
    assert kings.find("five-aces") is None
    assert kings.find("five-of-a-kind") is not None


@pytest.mark.parametrize(("deuces", "count"), [(1, 400), (2, 25)])
def test_each_category_of_a_wild_hand_is_the_best_that_substitution_finds(deuces: int, count: int) -> None:
    """Also those below the best: deciding ranks of two pair, a pair or a flush where the hand could be more.

    Five of a kind is left out, since no natural hand holds it; so are hands that could be that.
    """
    chooser = random.Random(SEED)
    names = [name for name in FIVE_CARD if name != "high-card"]
    for _ in range(count):
        natural = chooser.sample([card for card in DECK if card.rank > 2], 5 - deuces)
        wild = [Card(2, suit) for suit in "cdhs"[:deuces]]
        hand = PokerHand([*natural, *wild], "deuces-wild")
        if hand.find("five-of-a-kind"):
            continue
        best: dict[str, tuple[int, ...]] = {}
        for stand_ins in combinations([card for card in DECK if card not in natural], deuces):
            tried = PokerHand([*natural, *stand_ins], "five-card")
            for name in names:
                value = tried.find(name)
                if value is not None:
                    best[name] = max(best.get(name, ()), value.tiebreak)
        values = {name: hand.find(name) for name in names}
        assert best == {name: value.tiebreak for name, value in values.items() if value}, (SEED, natural)


def test_wild_cards_alone_make_groups_of_aces() -> None:
    """As many wild cards as the group has cards are aces, and those left over are ace kickers."""
    hand = PokerHand(parse_cards("2c 2d 2h 9s 7c"), "deuces-wild")
    for name, ranks in (("three-of-a-kind", (14, 9, 7)), ("pair", (14, 14, 9, 7)), ("four-of-a-kind", (9, 7))):
        value = hand.find(name)
        assert value is not None
        assert ranks == value.tiebreak
        assert 3 == value.wilds


def test_a_value_of_another_size_compares_only_with_its_like() -> None:
    """A three-card flush in seven cards is no hand of the five-card order."""
    hand = PokerHand(parse_cards("2h 5h 9h Jc Kd 3s 4c"), "five-card")
    three = hand.find("flush", 3)
    better = PokerHand(parse_cards("2h 5h Th Jc Kd 3s 4c"), "five-card").find("flush", 3)
    assert three is not None
    assert better is not None
    assert three < better
    assert three != hand.best()
    with pytest.raises(TypeError):
        assert three < hand.best()


def test_what_no_hand_has_is_refused() -> None:
    """An unknown category and an impossible size say what there is; an unknown ranking is a KeyError."""
    hand = PokerHand(parse_cards("2h 5h 9h Jc Kd"), "five-card")
    with pytest.raises(ValueError, match=r"no category 'flsh'; there are royal-flush"):
        hand.find("flsh")
    with pytest.raises(ValueError, match="14 cards: expected 1 to 13"):
        hand.find("straight", 14)
    with pytest.raises(KeyError):
        PokerHand(hand.cards, "five-crad")


def test_every_listed_category_can_be_asked_of_every_ranking() -> None:
    """A question is never an error, whatever the ranking's wild cards."""
    chooser = random.Random(SEED)
    for ranking in RANKINGS.values():
        for name in CATEGORIES:
            for natural in (False, True):
                PokerHand(chooser.sample(DECK, 7), ranking).find(name, natural=natural)


def test_an_order_of_ones_own_with_a_bug_is_data() -> None:
    """A ranking that no list has: four cards, a bug, flushes below straights."""
    order = Ranking("own", 4, ("four-of-a-kind", "straight", "flush", "pair", "high-card"), wild="bug")
    assert "straight" == rank(parse_cards("Jkr 4h 5h 6h"), order).category
    assert "flush" == rank(parse_cards("Jkr 4h 5h 9h"), order).category
    assert "pair" == rank(parse_cards("Jkr Ah 5c 9h"), order).category
    assert "high-card" == rank(parse_cards("Jkr Kh 5c 9h"), order).category
