"""The second stupid twin: puts each of 52 cards in the place of each wild card and asks the first twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from naive_ranks import DECK, named

from meterd.handrank import JOKER, Card, Ranking

#: Categories that a bug may complete; elsewhere it is an ace.
BUG_COMPLETES = {"straight", "flush", "straight-flush", "royal-flush"}

Best = tuple[int, tuple[int, ...], int]


def substituted(cards: Sequence[Card], ranking: Ranking) -> Best:
    """Place in the ranking (higher is better), deciding ranks, and minus the wild cards that play as another card."""
    found = [best for five in combinations(cards, 5) for best in _five(five, ranking)]
    if "three-pair" in ranking.order:
        found += _seven(cards, ranking)
    return max(found)


def _five(cards: Sequence[Card], ranking: Ranking) -> Iterator[Best]:
    """Everything that these five cards can be."""
    order = ranking.order[::-1]
    wild = [card for card in cards if card == JOKER or card.rank in ranking.wild_ranks]
    if sum(card.rank == 2 for card in cards) == 4 and "four-deuces" in order:
        yield order.index("four-deuces"), (), 0
    if len(wild) == 5 and "five-wilds" in order:
        yield order.index("five-wilds"), (), -4  # the joker alone has no rank of its own to play
    natural = [card for card in cards if card not in wild]
    for stand_ins in product(DECK, repeat=len(wild)):
        hand = [*natural, *stand_ins]
        name, ranks = named(hand)
        if len(set(hand)) < 5 and name != "five-of-a-kind":
            continue
        if ranking.wild == "bug" and wild and name not in BUG_COMPLETES and stand_ins[0].rank != 14:
            continue
        used = sum(card != stand_in for card, stand_in in zip(wild, stand_ins, strict=True))
        if name == "royal-flush" and not used and "natural-royal-flush" in order:
            name = "natural-royal-flush"
        if name not in order:
            continue
        yield order.index(name), _decide(name, ranks, ranking), -used


def _decide(name: str, ranks: tuple[int, ...], ranking: Ranking) -> tuple[int, ...]:
    """A-2-3-4-5 second highest: the ace counts, and then the card below it decides."""
    if ranking.wheel == "second" and name in BUG_COMPLETES - {"flush"}:
        return (14, 5) if ranks == (5,) else (ranks[0], ranks[0] - 1)
    return ranks


def _seven(cards: Sequence[Card], ranking: Ranking) -> Iterator[Best]:
    """What all seven cards of a Fortune bonus hand can be besides."""
    order = ranking.order[::-1]
    natural = [card.rank for card in cards if card != JOKER]
    for ace in (0, 1) if JOKER in cards else (0,):
        ranks = [*natural, *[14] * ace]
        pairs = sorted({rank for rank in ranks if ranks.count(rank) > 1}, reverse=True)
        if len(pairs) > 2:
            yield order.index("three-pair"), tuple(pairs[:3]), -ace
    for joker in [card for card in DECK if card not in cards] if JOKER in cards else [None]:
        hand = [joker if card == JOKER else card for card in cards]
        used = -int(joker is not None)
        name, top = named(hand)
        if name in {"straight-flush", "royal-flush"}:
            yield order.index("seven-card-straight-flush" + "-with-joker" * -used), top, used
        for two in combinations(hand, 2):
            rest = [card for card in hand if card not in two]
            match = {card.rank for card in two} == {12, 13} and len({card.suit for card in two}) == 1
            if match and joker not in two and named(rest)[0] == "royal-flush":
                yield order.index("royal-flush-and-suited-king-queen"), (14,), used
