"""What must hold of a hand besides its category: each qualifier is one word, read once and then asked of hands.

A qualifier that reads the dealer's cards says how many it needs; with fewer it is neither true nor false.
Ranks are 2 to 14. Card letters are read as people write them; ``T`` in ``up:T`` is any card that counts ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from meterd.handrank.blackjack import DEALER_STANDS, busts, compare, is_blackjack, total
from meterd.handrank.cards import ACE, JOKER, RANK_MIN, RANKS, SUITS, Card, CardError, parse_card
from meterd.handrank.poker import rank
from meterd.handrank.shoe import makers, same_color, same_suit
from meterd.handrank.values import HandValue

TEN: Final = 10


class Deal(NamedTuple):
    """The cards of one seat's hand as dealt: own, community, dealer's (up card first)."""

    own: tuple[Card, ...]
    board: tuple[Card, ...] = ()
    dealer: tuple[Card, ...] = ()


#: Asked of the value, of the cards looked at, and of the deal.
Test = Callable[[HandValue, Sequence[Card], Deal], bool]


class Condition(NamedTuple):
    """One qualifier of a row, read. ``dealer``: how many of the dealer's cards it must see."""

    word: str
    test: Test
    dealer: int = 0


class Qualifier(NamedTuple):
    """A kind of condition: an ``example`` of it, and how its argument is read (ValueError: it makes no sense)."""

    example: str
    read: Callable[[str], Test]
    dealer: int = 0


class Unfinished(CardError):  # noqa: N818 - a state of the hand
    """The dealer's hand is not all there."""


def read_condition(word: str, ranking: str = "") -> Condition:
    """One qualifier; ``ranking`` is that of poker hands, empty where hands are compared as blackjack.

    Raises:
        ValueError: no such qualifier, or its argument makes no sense.
    """
    name, _, argument = word.partition(":")
    if name not in CONDITIONS:
        raise ValueError(f"no qualifier {name!r}")
    qualifier = CONDITIONS[name]
    if ranking and name in _AGAINST_DEALER:
        return Condition(word, _flag(_poker_against(ranking, _AGAINST_DEALER[name]))(argument), qualifier.dealer)
    return Condition(word, qualifier.read(argument), qualifier.dealer)


def _flag(test: Test) -> Callable[[str], Test]:
    def read(argument: str) -> Test:
        if argument:
            raise ValueError("takes no argument")
        return test

    return read


def naturals(value: HandValue) -> list[Card]:
    """The cards that make the category, jokers left out."""
    return [card for card in makers(value) if card != JOKER]


def _top(argument: str) -> Test:
    low, high = _rank_range(argument)
    return lambda value, _looked, _deal: bool(value.tiebreak) and low <= value.tiebreak[0] <= high


def _suit(argument: str) -> Test:
    if not argument or not set(argument) <= set(SUITS):
        raise ValueError("expected suits (c d h s)")
    wanted = frozenset(argument)

    def test(value: HandValue, _looked: Sequence[Card], _deal: Deal) -> bool:
        used = naturals(value)
        return same_suit(used) and used[0].suit in wanted

    return test


def _ranks(argument: str) -> Test:
    wanted = _rank_choices(argument)
    return lambda _value, looked, _deal: _ranks_of(looked) in wanted


def _cards(argument: str) -> Test:
    wanted = Counter(_card_list(argument))
    return lambda _value, looked, _deal: Counter(looked) == wanted


def _holds(argument: str) -> Test:
    if len(argument) == 1:
        rank = _rank(argument)
        return lambda value, _looked, _deal: any(card.rank == rank for card in value.cards_used)
    if len(argument) != 2:
        raise ValueError("expected one card or one rank, such as As or A")
    card = parse_card(argument)
    return lambda value, _looked, _deal: card in value.cards_used


def _total(argument: str) -> Test:
    wanted = _number(argument)
    return lambda _value, looked, _deal: total(looked).value == wanted


def _count(argument: str) -> Test:
    low_text, dash, high_text = argument.removesuffix("+").partition("-")
    low = _number(low_text)
    if argument.endswith("+") and not dash:
        return lambda _value, looked, _deal: len(looked) >= low
    high = _number(high_text) if dash and not argument.endswith("+") else low
    if argument.endswith("+") or high < low:
        raise ValueError("expected 7, 8+ or 3-4")
    return lambda _value, looked, _deal: low <= len(looked) <= high


def _up(argument: str) -> Test:
    if len(argument) == 2:
        card = parse_card(argument)
        return lambda _value, _looked, deal: deal.dealer[0] == card
    wanted = frozenset(min(rank, TEN) if rank != ACE else ACE for rank in map(_rank, argument.split(",")))
    return lambda _value, _looked, deal: _counted(deal.dealer[0]) in wanted


def _dealer(argument: str) -> Test:
    if argument != "blackjack":
        raise ValueError("expected dealer:blackjack")
    return lambda _value, _looked, deal: is_blackjack(deal.dealer[:2])


def _dealer_ranks(argument: str) -> Test:
    wanted = _rank_choices(argument)
    return lambda _value, _looked, deal: _ranks_of(deal.dealer[:2]) in wanted


def _matches(place: int) -> Callable[[str], Test]:
    def read(argument: str) -> Test:
        unsuited, plus, suited = argument.partition("+")
        wanted = (_number(unsuited), _number(suited))
        if not plus or not 1 <= sum(wanted) <= 2:
            raise ValueError("expected unsuited+suited, such as 1+0 or 0+2")

        def test(_value: HandValue, _looked: Sequence[Card], deal: Deal) -> bool:
            against = deal.dealer[place]
            same_rank = [card for card in deal.own[:2] if card.rank == against.rank]
            same = sum(1 for card in same_rank if card.suit == against.suit)
            return (len(same_rank) - same, same) == wanted

        return test

    return read


def _blackjack_against(sign: int) -> Test:
    """A blackjack comparison; the dealer need not have drawn against a blackjack or a bust hand."""

    def test(_value: HandValue, _looked: Sequence[Card], deal: Deal) -> bool:
        if not is_blackjack(deal.own) and not busts(deal.own) and total(deal.dealer).value < DEALER_STANDS:
            raise Unfinished(f"the dealer's hand stands at {total(deal.dealer).value}: give all his cards")
        return compare(deal.own, deal.dealer) == sign

    return test


def _poker_against(ranking: str, sign: int) -> Test:
    """The best hand of own and community cards against the best of the dealer's and community cards."""

    def test(_value: HandValue, _looked: Sequence[Card], deal: Deal) -> bool:
        if len(deal.dealer) != len(deal.own):
            raise Unfinished(f"the dealer holds {len(deal.own)} cards like the player; given: {len(deal.dealer)}")
        ours, theirs = rank((*deal.own, *deal.board), ranking), rank((*deal.dealer, *deal.board), ranking)
        return (ours > theirs) - (ours < theirs) == sign

    return test


def _dealer_same_suit(_value: HandValue, looked: Sequence[Card], deal: Deal) -> bool:
    return same_suit([*looked, *deal.dealer[:2]])


#: Comparisons with the dealer's hand: what the comparison gives.
_AGAINST_DEALER: Final = {"beats-dealer": 1, "ties-dealer": 0}

#: Every condition by name. The match module adds the words that say which cards are looked at.
CONDITIONS: Final[dict[str, Qualifier]] = {
    "top": Qualifier("top:A top:J+ top:6-T", _top),
    "suit": Qualifier("suit:s suit:hdc", _suit),
    "suited": Qualifier("suited", _flag(lambda value, _looked, _deal: same_suit(naturals(value)))),
    "one-color": Qualifier("one-color", _flag(lambda value, _looked, _deal: same_color(naturals(value)))),
    "own": Qualifier("own", _flag(lambda value, _looked, deal: any(card in deal.own for card in value.cards_used))),
    "natural": Qualifier("natural", _flag(lambda value, _looked, _deal: value.wilds == 0)),
    "joker": Qualifier("joker", _flag(lambda value, _looked, _deal: JOKER in value.cards_used)),
    "ranks": Qualifier("ranks:AK,AQ ranks:777", _ranks),
    "cards": Qualifier("cards:AhAd", _cards),
    "holds": Qualifier("holds:As holds:A", _holds),
    "total": Qualifier("total:21", _total),
    "count": Qualifier("count:7 count:8+ count:3-4", _count),
    "blackjack": Qualifier("blackjack", _flag(lambda _value, _looked, deal: is_blackjack(deal.own))),
    "bust": Qualifier("bust", _flag(lambda _value, looked, _deal: busts(looked))),
    "up": Qualifier("up:A up:T up:2,3 up:7s", _up, 1),
    "dealer": Qualifier("dealer:blackjack", _dealer, 2),
    "dealer-ranks": Qualifier("dealer-ranks:KQ", _dealer_ranks, 2),
    "dealer-suited": Qualifier("dealer-suited", _flag(lambda _value, _looked, deal: same_suit(deal.dealer[:2])), 2),
    "dealer-same-suit": Qualifier("dealer-same-suit", _flag(_dealer_same_suit), 2),
    "beats-dealer": Qualifier("beats-dealer", _flag(_blackjack_against(1)), 2),
    "ties-dealer": Qualifier("ties-dealer", _flag(_blackjack_against(0)), 2),
    "matches": Qualifier("matches:1+0 matches:0+2", _matches(0), 1),
    "matches-down": Qualifier("matches-down:1+0", _matches(1), 2),
}


def _counted(card: Card) -> int:
    """The rank in blackjack: ten for a face card, an ace stays an ace."""
    return card.rank if card.rank == ACE else min(card.rank, TEN)


def _ranks_of(cards: Sequence[Card]) -> tuple[int, ...]:
    return tuple(sorted([card.rank for card in cards]))


def _rank(letter: str) -> int:
    if len(letter) != 1 or letter not in RANKS:
        raise ValueError(f"{letter!r} is no rank ({' '.join(RANKS)})")
    return RANKS.index(letter) + RANK_MIN


def _rank_choices(argument: str) -> frozenset[tuple[int, ...]]:
    """``AK,AQ`` as the sorted ranks of each choice."""
    choices = argument.split(",")
    if not all(choices):
        raise ValueError(f"expected ranks ({' '.join(RANKS)}), choices separated by commas")
    return frozenset(tuple(sorted(map(_rank, choice))) for choice in choices)


def _card_list(argument: str) -> list[Card]:
    """``AhAd`` as cards."""
    if not argument or len(argument) % 2:
        raise ValueError("expected cards of two letters each, such as AhAd")
    return [parse_card(argument[place : place + 2]) for place in range(0, len(argument), 2)]


def _number(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 2:
        raise ValueError(f"{text!r} is not a whole number below 100")
    return int(text)


def _rank_range(text: str) -> tuple[int, int]:
    """``A`` as 14-14, ``J+`` as 11-14, ``6-T`` as 6-10."""
    low, dash, high = text.removesuffix("+").partition("-")
    first = _rank(low)
    if text.endswith("+"):
        if dash:
            raise ValueError("expected A, J+ or 6-T")
        return first, ACE
    last = _rank(high) if dash else first
    if last < first:
        raise ValueError(f"{text} runs downwards")
    return first, last
