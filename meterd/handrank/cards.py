"""Cards: what people write, and what the rankings read.

Rule 1: text becomes a card or an error; a card that a program made itself is checked where a hand is made of it.
Rule 2: an error names the card as written and says what was expected.
Units: ``rank`` is 2 to 14 (jack 11, queen 12, king 13, ace 14); ``suit`` is one of ``c d h s``. A joker is rank 0,
suit ``*``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
RANK_MIN: Final = 2
ACE: Final = 14

#: Cards of one colour, by suit.
RED: Final = frozenset("dh")

_RANK_OF: Final = {letter: number for number, letter in enumerate(RANKS, start=RANK_MIN)} | {"10": 10}
_EXPECTED: Final = "expected a rank (2 3 4 5 6 7 8 9 T J Q K A) and a suit (c d h s), such as As or Td, or Jkr"


class CardError(ValueError):
    """Text that is not a card, or cards that cannot lie on one table together. The message names the card."""


class Card(NamedTuple):
    """One card; prints itself as ``Td``."""

    rank: int
    suit: str

    def __str__(self) -> str:
        """Rank and suit as two characters, a joker as ``Jkr``."""
        return f"{RANKS[self.rank - RANK_MIN]}{self.suit}" if self.rank else "Jkr"


JOKER: Final = Card(0, "*")

_KNOWN: Final = frozenset({JOKER, *(Card(rank, suit) for rank in range(RANK_MIN, ACE + 1) for suit in SUITS)})

#: Most letters, and most cards, that a message repeats.
_LETTERS_SHOWN: Final = 40
_CARDS_SHOWN: Final = 21


def quoted(text: str) -> str:
    """What was written, as a message repeats it: a long text is cut."""
    return repr(text) if len(text) <= _LETTERS_SHOWN else f"{text[:_LETTERS_SHOWN]!r}… ({len(text)} characters)"


def listed(cards: Sequence[Card]) -> str:
    """Cards as a message repeats them: ``As Kd``, ``none``; of many only the first."""
    shown = " ".join(map(str, cards[:_CARDS_SHOWN])) or "none"
    return shown if len(cards) <= _CARDS_SHOWN else f"{shown} … ({len(cards)} cards)"


def parse_card(text: str) -> Card:
    """One card: ``As``, ``td``, ``10d`` or ``Jkr`` (``Jk`` is understood); case does not matter.

    Raises:
        CardError: names what was written and what was expected.
    """
    written = quoted(text)
    for place, character in enumerate(text, start=1):
        if not character.isascii():
            stranger = f"character {place} is U+{ord(character):04X}, not a plain letter or digit"
            raise CardError(f"{written} is not a card: {stranger}; {_EXPECTED}")
    lowered = text.lower()
    if lowered in {"jkr", "jk"}:
        return JOKER
    rank_text, suit = lowered[:-1].upper(), lowered[-1:]
    if len(text) not in {2, 3} or (len(text) == 3 and rank_text != "10"):
        raise CardError(f"{written} is not one card: {_EXPECTED}, with a space between cards")
    if rank_text not in _RANK_OF:
        raise CardError(f"{written} is not a card: there is no rank {rank_text!r}; {_EXPECTED}")
    if suit not in SUITS:
        raise CardError(f"{written} is not a card: there is no suit {suit!r}; {_EXPECTED}")
    return Card(_RANK_OF[rank_text], suit)


def parse_cards(text: str) -> tuple[Card, ...]:
    """Cards separated by spaces, in the order written. Repeats are allowed here: see :func:`check_decks`.

    Raises:
        CardError: names the first thing that is not a card.
    """
    return tuple(parse_card(word) for word in text.split())


def check_known(cards: Sequence[Card]) -> None:
    """Refuse a card that a program made itself and that is in no deck; text becomes only cards that are.

    Raises:
        CardError: names the stranger.
    """
    try:
        if _KNOWN.issuperset(cards):
            return
    except TypeError as error:
        raise CardError("not all of these are cards: expected Card(rank 2 to 14, suit c d h s) or JOKER") from error
    stranger = next(card for card in cards if card not in _KNOWN)
    raise CardError(f"{stranger!r} is no card: expected a rank of 2 to 14 and a suit c d h s, or JOKER")


def check_decks(cards: Iterable[Card], decks: int = 1, *, jokers: int = 0) -> None:
    """Refuse what ``decks`` decks with ``jokers`` jokers cannot hold.

    Raises:
        CardError: names the card that occurs too often, a joker where there is none, or what is no card at all.
    """
    cards = tuple(cards)
    check_known(cards)
    for card, times in Counter(cards).items():
        most = jokers if card == JOKER else decks
        if times > most:
            if card == JOKER:
                raise CardError(f"{card} occurs {_times(times)}, but this game is dealt with {_jokers(jokers)}")
            source = "one deck holds it once" if decks == 1 else f"{decks} decks hold it {decks} times"
            raise CardError(f"{card} occurs {_times(times)}, but {source}")


def _times(times: int) -> str:
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


def _jokers(jokers: int) -> str:
    return {0: "no joker", 1: "one joker"}.get(jokers, f"{jokers} jokers")
