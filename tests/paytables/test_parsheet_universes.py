"""Universes kept as data: their totals, their questions, and that one hand speaks for its whole class."""

from __future__ import annotations

import random
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from little_table import little_table

from meterd.edge.files import load_paytables, schema_files, universe_text
from meterd.handrank.cards import ACE, JOKER, RANK_MIN, SUITS, Card
from meterd.paytables.decide import Decider
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import NoParSheet, UniverseError, parsheet
from meterd.paytables.parsheet.classes import Shoe, deals, mask_classes, universe
from meterd.paytables.parsheet.counting import Counting
from meterd.paytables.parsheet.universes import (
    PLANS,
    Ask,
    Plan,
    Universe,
    build,
    cards_of,
    parse_universe,
    signature,
)

#: Random hands are the same in every run.
SEED = 20_261_130


#: Digests of the files as they were made from all hands and compared with counts that others published. A changed count
#: shows here at once; who makes them anew (``bench/universes.py``, ``-m slow``) writes the new digest down.
DIGESTS = {
    "5-of-52-five-card": "73e5675995453e848eb7b92f7588cde171f8667b046bdfac4d88c6378180a42e",
    "5-of-52-four-card": "6d40679bca5b1c58229f6f176bf89b1fc518ae59f1f6eabcf5e083fa3d308b28",
    "7-against-8-beaten-straights": "f5b0dc6e264d8169362eaea29c808c45b8b3ca2b804623a545dce5632ec515d0",
    "7-of-52-five-card": "310707de18533691ba01e1c3c025c73cde1737188f85413e912a991689a78716",
    "7-of-53-five-card-bug": "a4c5f1406a57d141954011bfb981e6ecfe054f5ae6cba7d512eeca09f64de8f1",
    "7-of-53-pai-gow": "80e6b40309e1d4de78c1d74918ac96cafc9a6e378515504ba504bd3aed9d5fd7",
}


def kept(plan: Plan) -> Universe:
    text = universe_text(plan.name)
    assert text is not None, f"{plan.name} is not kept; bench/universes.py makes it"
    return parse_universe(text)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_totals_and_questions_are_those_of_the_plan(plan: Plan) -> None:
    """The weights make up all hands, the file answers what the plan lists, and is small."""
    found = kept(plan)
    assert plan == found.plan
    assert plan.total == sum(weight for _, weight in found.classes)
    text = universe_text(plan.name) or ""
    assert text == found.render()
    assert len(text) < 300_000


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_random_hands_are_answered_like_the_hand_of_their_class(plan: Plan) -> None:
    """Some thousand random hands: the class exists, and every printed table decides both alike."""
    classes = {signature(cards, plan): cards for cards, _ in kept(plan).classes}
    deciders = [Decider(table) for table in _tables_of(plan)]
    print(f"seed {SEED}, {len(deciders)} tables")
    dealt = random.Random(SEED)
    deck = [Card(rank, suit) for rank in range(RANK_MIN, ACE + 1) for suit in SUITS] + [JOKER] * plan.jokers
    for _ in range(2_000):
        hand = tuple(dealt.sample(deck, plan.size))
        same = classes[signature(hand, plan)]
        assert [decider.decide(same).row for decider in deciders] == [decider.decide(hand).row for decider in deciders]


def _tables_of(plan: Plan) -> list[PayTable]:
    """Tables that are counted by this universe and do not ask when a hand was complete."""
    found = []
    for table in load_paytables().values():
        if table.evaluator is None or table.depends_on_play or not table.games:
            continue
        try:
            counting = Counting.of(table, universe_text)
        except (NoParSheet, KeyError):
            continue
        if counting.uses(plan.name) and len(counting.looks.sizes) == 1:
            found.append(table)
    return found


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_suits_do_not_matter_while_none_is_long(plan: Plan) -> None:
    """The one thing taken for granted while universes are made: hands of the same ranks, suits dealt anew."""
    dealt = random.Random(SEED)
    deck = [Card(rank, suit) for rank in range(RANK_MIN, ACE + 1) for suit in SUITS] + [JOKER] * plan.jokers
    compared = 0
    while compared < 500:
        hand = tuple(dealt.sample(deck, plan.size))
        other = _other_suits(hand, dealt)
        if _longest(hand) < plan.flush_min and _longest(other) < plan.flush_min:
            compared += 1
            assert signature(hand, plan) == signature(other, plan), (hand, other)


def _other_suits(hand: tuple[Card, ...], dealt: random.Random) -> tuple[Card, ...]:
    found: list[Card] = []
    for rank in sorted({card.rank for card in hand if card != JOKER}):
        count = sum(card.rank == rank for card in hand)
        found += [Card(rank, suit) for suit in dealt.sample(SUITS, count)]
    return (*found, *(card for card in hand if card == JOKER))


def _longest(hand: tuple[Card, ...]) -> int:
    """Cards of the longest suit, the joker with it."""
    return max(sum(card.suit == suit for card in hand) for suit in SUITS) + hand.count(JOKER)


def test_a_question_that_is_not_answered_is_worked_out() -> None:
    """Two-pair of the whole hand is in the universe, a straight of four with its top is not."""
    asked = {str(ask) for ask in PLANS[2].asks}
    assert "two-pair/top" in asked
    assert "straight:4/top" not in asked
    assert Ask("straight", 4, top=True) == Ask.parse("straight:4/top")
    assert Ask("flush", None, wild=True) == Ask.parse(str(Ask("flush", None, wild=True)))


def test_no_count_of_any_kept_universe_has_changed() -> None:
    """Not even by cards that go from one class to its neighbour, which no total shows."""
    texts = schema_files("universes", ".txt")
    assert DIGESTS == {Path(name).stem: sha256(text.encode("ascii")).hexdigest() for name, text in texts.items()}


def test_what_is_no_universe_is_refused() -> None:
    """Whatever is wrong with the text: the error is the one of a damaged file, and names it."""
    text = universe_text("5-of-52-five-card") or ""
    table = load_paytables()["co/nexus/pmg-1"]
    for damaged in ("", "x", text[:40], text.replace("4 ", "four ", 1), text.replace("As", "Ax", 1), text[1:]):
        with pytest.raises(UniverseError):
            parse_universe(damaged)
        with pytest.raises(UniverseError, match=r"universes/5-of-52-five-card\.txt"):
            parsheet(replace(table, games=table.games[:1]), cached=lambda _name, damaged=damaged: damaged)
    with pytest.raises(UniverseError, match="holds the universe 5-of-52-five-card"):
        parsheet(little_table("best-five-of-seven", "own_cards = 7", ("flush", "")), cached=lambda _name: text)


def test_a_damaged_universe_is_refused() -> None:
    """A class lost, or a weight changed, no longer makes up the total."""
    text = universe_text("5-of-52-five-card") or ""
    for damaged in (text.rsplit("\n", 2)[0] + "\n", text.replace("\n4 ", "\n5 ", 1)):
        with pytest.raises(ValueError, match="do not make up"):
            parse_universe(damaged)


def test_classes_by_masks_and_by_deals_are_the_same() -> None:
    """Two generators, one number of classes (Burnside: 1,755 of three cards, 16,432 of four) and one total."""
    for size, number in ((3, 1_755), (4, 16_432)):
        masks = [(frozenset(cards_of(masks, jokers)), weight) for masks, jokers, weight in mask_classes(size)]
        whole = [(frozenset(deal[0]), weight) for deal, weight in deals((size,), Shoe())]
        assert number == len(masks) == len(whole)
        assert sorted(weight for _, weight in masks) == sorted(weight for _, weight in whole)


@pytest.mark.parametrize(
    ("blocks", "shoe", "groups"),
    [
        ((2, 3), Shoe(1, 0, (2, 3, 4, 5)), ("cdhs",)),
        ((3, 1), Shoe(6, 0, (7, 8, 9)), ("d", "ch", "s")),
        ((2, 1, 1), Shoe(2, 1, (2, 3, 14)), ("ch", "ds")),
        ((4,), Shoe(8, 2, (5, 6)), ("c", "d", "h", "s")),
    ],
)
def test_weights_of_any_shoe_make_up_all_its_deals(
    blocks: tuple[int, ...], shoe: Shoe, groups: tuple[str, ...]
) -> None:
    """Every class once, none twice, and all of them together are all deals."""
    found = list(deals(blocks, shoe, groups))
    assert universe(blocks, shoe) == sum(weight for _, weight in found)
    assert len(found) == len({tuple(tuple(sorted(block)) for block in deal) for deal, _ in found})


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_universes_worked_out_again(plan: Plan) -> None:
    """All hands of 52 or 53 cards through the evaluator: the file is what comes out, to the byte."""
    assert universe_text(plan.name) == build(plan).render()
