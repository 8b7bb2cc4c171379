"""Whether the parts of a pay table fit each other: its games its evaluator, its decks its rows, its rates the wager.

Each value is of its kind already (``parse``); here is what only two of them together show. A game that its evaluator
cannot read, or a row that no cards of any of its games can hold, would be decided silently and wrongly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from meterd.handrank.cards import RANKS, SUITS
from meterd.handrank.rankings import RANKINGS
from meterd.money import PPM_PER_WHOLE
from meterd.paytables.evaluators import BAD_BEAT_DEALER, BAD_BEAT_PLAYER, BLACKJACK_CARDS_MAX, EVALUATORS, Evaluator
from meterd.paytables.match import Match, Scope, parse_match
from meterd.paytables.model import Game, PayTable


class Misfit(NamedTuple):
    """What does not fit: ``key`` in the file, ``message``, and the ``number`` of the row or game it is about."""

    key: str
    message: str
    number: int | None = None


_DEALT: Final = (("own_cards", "own_dealt"), ("community_cards", "community_dealt"), ("dealer_cards", "dealer_dealt"))

_TIMES: Final = re.compile(r"[1-9]\d{0,2}(/[1-9]\d{0,2})?")

#: Pairs of words of which a hand cannot have both.
_OPPOSITES: Final = (("natural", "joker"), ("bust", "unbusted"), ("beats-dealer", "ties-dealer"))


def misfits(table: PayTable) -> Iterator[Misfit]:
    """All that does not fit, in the order of the file format's keys."""
    yield from _money(table)
    yield from _decks(table)
    for number, game in enumerate(table.games):
        yield from _counts(table.games[:number], game, number)
    yield from _enough(table)
    evaluator = EVALUATORS[table.evaluator] if table.evaluator else None
    if evaluator is None or evaluator.model in {"spins", "rolls", "wagers"}:
        return
    yield from _for_evaluator(table, evaluator)
    if evaluator.model in {"single", "shoe"}:
        for number, row in enumerate(table.rows):
            for match in parse_match(row.match or row.hand, evaluator) if row.offered else ():
                why = impossible(table, evaluator, match)
                if why:
                    yield Misfit("match", f"no hand can hold this: {why}", number)


def _money(table: PayTable) -> Iterator[Misfit]:
    if not table.wager_cents:
        yield Misfit("wager_cents", "a wager is at least 1 cent; fixed pays grow with wager ÷ this")
    if max(table.increment_ppm or 0, 0) + max(table.reserve_ppm or 0, 0) > PPM_PER_WHOLE:
        yield Misfit("reserve", "increment and reserve together take more than 100% of each wager")
    if any(cents < 1 for cents in table.wagers_allowed_cents):
        yield Misfit("wagers_allowed_cents", "a wager is at least 1 cent")
    for key, times in (("base_least", table.base_least), ("base_most", table.base_most)):
        if times and not _TIMES.fullmatch(times):
            yield Misfit(key, f"{times!r} is no number of times, such as '1' or '1/2'")


def _decks(table: PayTable) -> Iterator[Misfit]:
    repeated = [str(decks) for decks, times in Counter(table.decks_allowed).items() if times > 1]
    if repeated:
        yield Misfit("decks_allowed", f"{repeated[0]} stands twice")
    elif table.decks_allowed and table.decks not in table.decks_allowed:
        allowed = ", ".join(map(str, table.decks_allowed))
        yield Misfit("decks_allowed", f"decks = {table.decks} is none of those allowed ({allowed})")
    if len(set(table.without_ranks)) < len(table.without_ranks):
        yield Misfit("without_ranks", f"a rank stands twice in {table.without_ranks!r}")


def _enough(table: PayTable) -> Iterator[Misfit]:
    held = max(table.decks, *table.decks_allowed, 0) * (len(RANKS) - len(set(table.without_ranks))) * len(SUITS)
    if any(held + table.joker < game.own_cards + game.community_cards + game.dealer_cards for game in table.games):
        key = "without_ranks" if table.without_ranks else "decks"
        yield Misfit(key, f"the decks hold {held} cards, fewer than a game deals")


def _counts(before: tuple[Game, ...], game: Game, number: int) -> Iterator[Misfit]:
    if not game.name.strip():
        yield Misfit("games.name", "a game has a name", number)
    if any(other.name == game.name for other in before):
        yield Misfit("games.name", f"{game.name!r} stands twice; write one game for all that it deals", number)
    for cards, dealt in _DEALT:
        least, most = getattr(game, cards), getattr(game, dealt)
        if max(least, most) > BLACKJACK_CARDS_MAX:
            key = cards if least > BLACKJACK_CARDS_MAX else dealt
            yield Misfit(f"games.{key}", f"no hand of any game has more than {BLACKJACK_CARDS_MAX} cards", number)
        elif 0 < most < least:
            yield Misfit(f"games.{dealt}", f"{dealt} = {most} is below {cards} = {least}; leave it out", number)


def _for_evaluator(table: PayTable, evaluator: Evaluator) -> Iterator[Misfit]:
    name = evaluator.name
    if evaluator.model in {"single", "bad-beat"} and max(table.decks, *table.decks_allowed, 0) > 1:
        yield Misfit("decks", f"the evaluator {name} reads hands of one deck; several need the evaluator shoe")
    if evaluator.jokers and not table.joker:
        yield Misfit("joker", f"the evaluator {name} is for decks with a joker: joker = true")
    for number, game in enumerate(table.games):
        own, counted = game.own_most, game.own_most + game.community_cards
        if evaluator.model == "single" and counted > evaluator.cards_max:
            said = f"{counted} own and community cards count, but {name} reads {evaluator.cards_max}"
            yield Misfit("games.own_cards", said, number)
        size = RANKINGS[evaluator.ranking].size if evaluator.ranking else 0
        if evaluator.model == "single" and game.own_cards + game.community_most < size:
            yield Misfit("games.own_cards", f"{name} makes hands of {size} cards; {counted} are dealt", number)
        if evaluator.model == "shoe" and not 0 < counted + game.dealer_most <= 2 * BLACKJACK_CARDS_MAX:
            yield Misfit("games.own_cards", "no cards are dealt", number)
        if evaluator.model == "sevens" and not 2 <= own <= BLACKJACK_CARDS_MAX:
            yield Misfit("games.own_cards", "a blackjack hand has 2 cards or more", number)
        if evaluator.model == "bad-beat" and counted != BAD_BEAT_PLAYER:
            yield Misfit("games.own_cards", f"{name} reads {BAD_BEAT_PLAYER} own and community cards", number)
        if evaluator.model == "bad-beat" and game.dealer_cards != BAD_BEAT_DEALER:
            yield Misfit("games.dealer_cards", f"{name} reads {BAD_BEAT_DEALER} of the dealer's cards", number)


def impossible(table: PayTable, evaluator: Evaluator, match: Match) -> str:
    """Why no cards of any of the games can hold this alternative of a row; empty if some may."""
    words = [condition.word for condition in match.conditions]
    names = {word.partition(":")[0] for word in words} | ({"unbusted"} if match.scope.unbusted else set())
    for one, other in _OPPOSITES:
        if {one, other} <= names:
            return f"{one} and {other}"
    if "joker" in names and not table.joker:
        return "joker, but the decks hold none"
    needed = max([match.scope.dealer, *(condition.dealer for condition in match.conditions)])
    if needed and not any(game.dealer_most >= needed for game in table.games):
        return f"it reads {needed} of the dealer's cards, but no game has so many: dealer_cards"
    counts = set().union(*(looked(match.scope, game, evaluator.cards_max) for game in table.games))
    if not counts or (match.length or 0) > max(counts):
        return "no game deals so many cards"
    for word in words:
        why = _cannot(table, match, word, counts)
        if why:
            return f"{word}: {why}"
    return ""


def looked(scope: Scope, game: Game, cards_max: int) -> set[int]:
    """How many cards a scope can look at in a game."""
    if scope.place == "of:dealer":
        least, most = 1, game.dealer_most
    elif scope.place == "board":
        least, most = game.community_cards, game.community_most
    else:
        least = min(game.own_cards + game.community_cards, cards_max)
        most = min(game.own_most + game.community_most, cards_max)
    counts = set(range(max(least, 0 if scope.place.startswith("with:") else 1), most + 1))
    if scope.first:
        counts = {scope.first} if scope.first <= most else set()
    return {count + scope.dealer for count in counts} if scope.place.startswith("with:") else counts


def _cannot(table: PayTable, match: Match, word: str, counts: set[int]) -> str:
    """What stands against one condition."""
    name, _, argument = word.partition(":")
    without = sorted(set(argument) & set(table.without_ranks))
    if without and name in {"ranks", "dealer-ranks", "cards", "holds"}:
        return f"the decks hold no {without[0]}"
    if name == "dealer-ranks" and any(len(choice) != 2 for choice in argument.split(",")):
        return "the dealer's first two cards are looked at"
    if name == "cards":
        cards = Counter(argument[place : place + 2].upper() for place in range(0, len(argument), 2))
        most = max(table.decks, *table.decks_allowed, 0)
        if max(cards.values()) > most:
            return f"{most} of one card at most"
    if name == "top":
        return _no_top(match, argument)
    return "" if _counts_fit(name, argument, counts) else f"{_number(counts)} cards are looked at"


def _counts_fit(name: str, argument: str, counts: set[int]) -> bool:
    """Whether so many cards can be looked at as a condition names or needs."""
    if name == "ranks":
        return all(len(choice) in counts for choice in argument.split(","))
    if name == "cards":
        return len(argument) // 2 in counts
    if name == "count":
        return any(_counted(argument, count) for count in counts)
    return name != "total" or 1 <= int(argument) <= max(11 if max(counts) == 1 else 21, 10 * max(counts))


def _counted(argument: str, count: int) -> bool:
    low, dash, high = argument.removesuffix("+").partition("-")
    if argument.endswith("+"):
        return count >= int(low)
    return int(low) <= count <= int(high if dash else low)


def _no_top(match: Match, argument: str) -> str:
    """A run of so many cards has a rank below which its highest card cannot be; a royal flush has an ace."""
    high = argument.removesuffix("+").partition("-")[2] or argument[0]
    highest = len(RANKS) - 1 if argument.endswith("+") else RANKS.index(high)
    if match.category == "royal-flush" and highest < RANKS.index("A"):
        return "its highest card is an ace"
    if match.category in {"straight", "straight-flush"} and match.length and highest + 2 < match.length:
        return f"a run of {match.length} cards is higher"
    return ""


def _number(counts: set[int]) -> str:
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
