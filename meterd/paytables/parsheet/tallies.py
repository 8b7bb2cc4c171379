"""From a table to the number of deals in which each of its rows is the hand, whatever the game is played with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from meterd.handrank.badbeat import two_way_bad_beat
from meterd.handrank.cards import Card, parse_card
from meterd.paytables.decide import Decider, row_matches
from meterd.paytables.evaluators import BAD_BEAT_DEALER, BAD_BEAT_PLAYER, EVALUATORS
from meterd.paytables.model import PayTable, Row
from meterd.paytables.outcome import outcome
from meterd.paytables.parsheet.badbeat import TwoHands, run_pairs
from meterd.paytables.parsheet.counting import Cached, Tally, kept_text
from meterd.paytables.parsheet.numbers import (
    Reached,
    all_numbers_chances,
    distinct_points_chances,
    points_chances,
    streak_chances,
)
from meterd.paytables.parsheet.sheet import NoParSheet, UniverseError

#: The player's cards, the dealer's, and how many deals they stand for.
Beaten = tuple[tuple[Card, ...], tuple[Card, ...], int]

BAD_BEAT: TwoHands = TwoHands(BAD_BEAT_PLAYER, BAD_BEAT_DEALER)

#: The universe of beaten straights, kept as data.
BAD_BEAT_UNIVERSE = "7-against-8-beaten-straights"

#: Seconds to work it out.
BAD_BEAT_SECONDS = 5


def tally_bad_beat(table: PayTable, cached: Cached) -> Tally:
    """Deals of seven cards against eight, by what is beaten in them.

    Raises:
        NoParSheet: a game deals other numbers of cards.
        UniverseError: the universe kept as data is damaged.
    """
    for game in table.games:
        if (game.own_cards + game.community_most, game.dealer_most) != (BAD_BEAT_PLAYER, BAD_BEAT_DEALER):
            dealt = f"{game.own_cards + game.community_most} cards against {game.dealer_most}"
            raise NoParSheet(
                f"{table.id} has no par sheet: {game.name} deals {dealt}, and only"
                f" {BAD_BEAT_PLAYER} against {BAD_BEAT_DEALER} are counted"
            )
    decider = Decider(table)
    text = kept_text(cached, BAD_BEAT_UNIVERSE)
    found: Tally = {}
    for player, dealer, weight in beaten_classes() if text is None else parse_beaten(text):
        row = decider.decide(player, (), dealer).row
        found[row] = found.get(row, 0) + weight
    return found


def beaten_classes() -> list[Beaten]:
    """Deals with one beaten hand (or none) put together: a deal of each, and how many there are."""
    found: dict[tuple[object, ...], Beaten] = {}
    for player, dealer, weight in run_pairs(BAD_BEAT):
        beaten = two_way_bad_beat(player, dealer)
        key = () if beaten is None else (beaten.length, beaten.top, beaten.loser)
        first = found.get(key, (player, dealer, 0))
        found[key] = (*first[:2], first[2] + weight)
    return list(found.values())


def render_beaten(classes: Sequence[Beaten]) -> str:
    """The text of the universe: its name, total and number of classes, then weight, player's and dealer's cards."""
    lines = [f"universe {BAD_BEAT_UNIVERSE}", f"total {BAD_BEAT.deals}", f"classes {len(classes)}"]
    lines += [f"{weight} {''.join(map(str, player))} {''.join(map(str, dealer))}" for player, dealer, weight in classes]
    return "\n".join(lines) + "\n"


def parse_beaten(text: str) -> list[Beaten]:
    """The inverse of :func:`render_beaten`.

    Raises:
        UniverseError: it is none, or the weights do not make up the total.
    """
    try:
        _, total, _, *lines = text.splitlines()
        classes = [(_cards(player), _cards(dealer), int(weight)) for weight, player, dealer in map(str.split, lines)]
        whole = int(total.partition(" ")[2])
    except ValueError as error:
        raise UniverseError(f"universes/{BAD_BEAT_UNIVERSE}.txt cannot be read: {error}") from error
    if not whole == BAD_BEAT.deals == sum(weight for _, _, weight in classes):
        raise UniverseError(f"universes/{BAD_BEAT_UNIVERSE}.txt: its classes do not make up its total")
    return classes


def _cards(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(text[place : place + 2]) for place in range(0, len(text), 2))


def chances_of_numbers(table: PayTable, *, double_zero: bool) -> list[tuple[Row | None, Fraction]]:
    """What a game of spins or rolls can come to, with its chance, and the row that ``outcome`` gives it."""
    return [
        (outcome(table, number=numbers).row, chance) for numbers, chance in _reached(table, double_zero=double_zero)
    ]


def longest(table: PayTable) -> int:
    """The longest streak, or the most points, that the table lists."""
    categories = [match.category for row in table.rows if row.offered for match in row_matches(table, row)]
    return max(int(category.rpartition("-")[2]) for category in categories)


def _reached(table: PayTable, *, double_zero: bool) -> Reached:
    evaluator = EVALUATORS[table.evaluator or ""]
    if evaluator.name != "craps-all-numbers" and longest(table) < 1:
        raise NoParSheet(f"{table.id} has no par sheet: no row asks for a point")
    if evaluator.model == "spins":
        return streak_chances(longest(table), double_zero=double_zero)
    if evaluator.name == "craps-points":
        return points_chances(longest(table))
    if evaluator.name == "craps-distinct-points":
        return distinct_points_chances(longest(table))
    return all_numbers_chances()
