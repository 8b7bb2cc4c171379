"""Tables whose parts do not fit each other are refused when they are read, at the line and key of the fault."""

from __future__ import annotations

import pytest

from meterd.edge.files import load_paytables
from meterd.paytables.fits import misfits
from meterd.paytables.parse import PaytableError, parse_paytables

TABLE = """\
[[paytable]]
id = "xx/little/table"
game = "Little"
wager = "bonus"
kind = "bonus"
basis = "some cards"
evaluator = "{evaluator}"
{games}
sources = [{{ jurisdiction = "XX", rule = "1", table = "Little" }}]
{keys}
rows = [
    {{ printed_hand = "The hand", printed_pay = "1 to 1", pays = {pays}, match = "{match}" }},
]
"""

GAME = 'games = [{{ name = "little", basis = "cards", {} }}]'


def said(
    evaluator: str = "five-card",
    games: str = "own_cards = 5",
    match: str = "pair",
    keys: str = "",
    pays: str = '["1 to 1"]',
) -> str:
    """The refusal of a little table, or nothing."""
    games = games if games.startswith("games") else GAME.format(games)
    try:
        parse_paytables(TABLE.format(evaluator=evaluator, games=games, match=match, keys=keys, pays=pays), "l.toml")
    except PaytableError as error:
        return str(error)
    return ""


def test_what_fits_is_read() -> None:
    """The little table itself, and every table of the catalogue."""
    assert "" == said()
    assert [] == [misfit for table in load_paytables().values() for misfit in misfits(table)]


@pytest.mark.parametrize(
    ("evaluator", "games", "keys", "says"),
    [
        (
            "three-card",
            "own_cards = 6",
            "",
            "8: games.own_cards: 6 own and community cards count, but three-card",
        ),
        ("five-card", "own_cards = 2", "", "8: games.own_cards: five-card makes hands of 5 cards; 2 are dealt"),
        ("five-card", "own_cards = 0", "", "five-card makes hands of 5 cards; 0 are dealt"),
        ("five-card", "own_cards = 2, community_cards = 3, own_dealt = 7", "", "10 own and community cards count"),
        ("five-card", "own_cards = 500", "", "8: games.own_cards: no hand of any game has more than 21 cards"),
        ("shoe", "own_cards = 5, own_dealt = 2", "", "8: games.own_dealt: own_dealt = 2 is below own_cards = 5"),
        (
            "shoe",
            "own_cards = 2, dealer_cards = 2, dealer_dealt = 1",
            "",
            "dealer_dealt = 1 is below dealer",
        ),
        ("shoe", "own_cards = 2, own_dealt = 60", "", "8: games.own_dealt: no hand of any game has more than 21"),
        ("shoe", "own_cards = 0", "", "8: games.own_cards: no cards are dealt"),
        ("two-way-bad-beat", "own_cards = 3, dealer_cards = 2", "", "games.own_cards: two-way-bad-beat reads 7 own"),
        ("two-way-bad-beat", "own_cards = 7, dealer_cards = 2", "", "games.dealer_cards: two-way-bad-beat reads 8"),
        ("sevens", "own_cards = 1", "", "a blackjack hand has 2 cards or more"),
        ("five-card", "own_cards = 5", "decks = 8", "10: decks: the evaluator five-card reads hands of one deck"),
        ("five-card", "own_cards = 5", "decks_allowed = [1, 2]", "the evaluator five-card reads hands of one deck"),
        ("two-way-bad-beat", "own_cards = 7, dealer_cards = 8", "decks = 2", "reads hands of one deck"),
        ("pai-gow", "own_cards = 7", "", "1: joker: the evaluator pai-gow is for decks with a joker: joker = true"),
        ("shoe", "own_cards = 5", "decks = 8\ndecks_allowed = [2]", "11: decks_allowed: decks = 8 is none of those"),
        ("shoe", "own_cards = 5", "decks_allowed = [1, 1]", "10: decks_allowed: 1 stands twice"),
        ("shoe", "own_cards = 5", "decks_allowed = []", "10: decks_allowed: expected"),
        ("shoe", "own_cards = 5", 'without_ranks = "23456789TJQKA"', "the decks hold 0 cards, fewer than a game deals"),
        ("shoe", "own_cards = 5", 'without_ranks = "23456789TJQK"', "the decks hold 4 cards, fewer than a game deals"),
        ("shoe", "own_cards = 5", 'without_ranks = "TT"', "10: without_ranks: a rank stands twice"),
        ("shoe", "own_cards = 5", "wager_cents = 0", "10: wager_cents: a wager is at least 1 cent"),
        ("shoe", "own_cards = 5", "wagers_allowed_cents = [100, 0]", "10: wagers_allowed_cents: a wager is at least 1"),
        ("shoe", "own_cards = 5", 'wagers_allowed_cents = ["1"]', "10: wagers_allowed_cents: expected a whole number"),
        ("shoe", "own_cards = 5", 'base_least = "half"', "10: base_least: 'half' is no number of times"),
        ("shoe", "own_cards = 5", 'base_most = "1/0"', "10: base_most: '1/0' is no number of times"),
        ("shoe", "own_cards = 5", 'increment = "90%"\nreserve = "20%"', "11: reserve: increment and reserve together"),
    ],
)
def test_a_game_that_its_evaluator_cannot_read_is_refused(evaluator: str, games: str, keys: str, says: str) -> None:
    """Decks, numbers of cards, jokers and rates that contradict each other: nothing is decided on half of the cards."""
    match = {"sevens": "one-seven", "two-way-bad-beat": "straight"}.get(evaluator, "pair")
    assert says in said(evaluator, games, match, keys)


def test_two_games_are_two_names() -> None:
    """The second of one name would never be found; a name is not empty."""
    one = '{{ name = "{}", basis = "cards", own_cards = 5 }}'
    twice = f"games = [\n{one.format('a')},\n{one.format('a')},\n]".replace("{{", "{").replace("}}", "}")
    assert "l.toml:10: games.name: 'a' stands twice" in said(games=twice)
    assert "l.toml:8: games.name: a game has a name" in said(games=GAME.format("own_cards = 5").replace("little", " "))


def test_what_fits_exactly_is_read() -> None:
    """The bounds themselves are no misfit."""
    for evaluator, games, keys in (
        ("shoe", "own_cards = 2, own_dealt = 21", "decks = 8"),
        ("shoe", "own_cards = 5", "decks = 2\ndecks_allowed = [2, 8]"),
        ("shoe", "own_cards = 4", 'without_ranks = "23456789TJQK"'),
        ("five-card", "own_cards = 2, community_cards = 3, community_dealt = 5", 'increment = "90%"\nreserve = "10%"'),
        ("best-five-of-seven", "own_cards = 5", 'increment = "100%"\nreserve = "N/A"\nwager_cents = 1'),
        ("pai-gow", "own_cards = 7", "joker = true"),
    ):
        assert "" == said(evaluator, games, keys=keys)


@pytest.mark.parametrize(
    ("match", "says"),
    [
        ("flush first:4 first:5", "first is said already"),
        ("flush length:4 length:5", "length is said already"),
        ("pair top:A top:K", "top is said already"),
        ("pair suited suited", "suited is said already"),
        ("any board with:up", "said already"),
        ("any holds:As holds:As", "holds is said already"),
        ("any ranks:AK", "no hand can hold this: ranks:AK: 5 cards are looked at"),
        ("any ranks:AKQJT,AK", "no hand can hold this: ranks:AKQJT,AK: 5 cards"),
        ("any cards:AhAd", "cards:AhAd: 5 cards are looked at"),
        ("any first:2 cards:AsAs", "cards:AsAs: 1 of one card at most"),
        ("any first:2 cards:Asas", "1 of one card at most"),
        ("any count:9", "count:9: 5 cards are looked at"),
        ("any count:6+", "count:6+: 5 cards are looked at"),
        ("any board", "no game deals so many cards"),
        ("pair with:up", "it reads 1 of the dealer's cards, but no game has so many: dealer_cards"),
        ("any dealer-suited", "it reads 2 of the dealer's cards"),
        ("royal-flush top:K", "top:K: its highest card is an ace"),
        ("straight length:5 top:4", "top:4: a run of 5 cards is higher"),
        ("pair\\ttop:A", "one line of words with spaces between them"),
        ("pair\\ntop:A", "one line of words with spaces between them"),
    ],
)
def test_a_row_that_no_cards_can_hold_is_refused(match: str, says: str) -> None:
    """A word twice, or words that no cards of the game can satisfy, at the row's own line and key."""
    told = said(match=match)
    assert says in told
    assert told.startswith("l.toml:12: match: ")


@pytest.mark.parametrize(
    ("evaluator", "match", "keys", "says"),
    [
        ("shoe", "any total:51 blackjack", "", "total:51: 5 cards are looked at"),
        ("shoe", "any bust unbusted", "", "bust and unbusted"),
        ("shoe", "pair holds:T", 'without_ranks = "T"', "holds:T: the decks hold no T"),
        ("joker-wild", "pair natural joker", "joker = true", "natural and joker"),
        ("deuces-wild", "pair joker", "", "joker, but the decks hold none"),
    ],
)
def test_words_that_contradict_each_other_are_refused(evaluator: str, match: str, keys: str, says: str) -> None:
    """Or the decks."""
    assert f"l.toml:12: match: no hand can hold this: {says}" in said(evaluator, match=match, keys=keys).replace(
        "toml:13", "toml:12"
    )


def test_conditions_that_some_cards_hold_are_read() -> None:
    """Two cards at once, cards of several decks, and the bounds of numbers."""
    for evaluator, match, keys in (
        ("five-card", "any holds:As holds:Ks", ""),
        ("shoe", "any first:2 cards:AsAs", "decks = 2"),
        ("shoe", "any count:5", ""),
        ("shoe", "any first:2 ranks:AK,AQ", ""),
        ("shoe", "straight length:3 top:3", ""),
        ("shoe", "any total:21 bust", ""),
    ):
        assert "" == said(evaluator, match=match, keys=keys)


@pytest.mark.parametrize(
    ("pays", "says"),
    [
        ('["60% meter", "60% meter"]', "the same pay stands twice"),
        ('["60% meter", "50% meter"]', "the pays take more than all of the level meter"),
        ('["60% mega", "50% mega"]', "the pays take more than all of the level mega"),
        ('["100% meter", "$5 from meter"]', "the pays take more than all of the level meter"),
        ('["push", "loss"]', "push stands alone"),
        ('["loss", "100% meter"]', "loss stands alone"),
        ('["5 for 1", "5 for 1"]', "the same pay stands twice"),
        ('["5 for 1", "3 to 1"]', "a row has one pay in odds"),
        ('["5,00 for 1"]', "is not a pay; the forms are"),
        ('["1,2,3 to 1"]', "is not a pay; the forms are"),
        ('["$1,00"]', "is not a pay; the forms are"),
        ('[",, for 1"]', "is not a pay; the forms are"),
        (f'["{"9" * 5000} for 1"]', "(5006 characters)' is not a pay; the forms are"),
    ],
)
def test_pays_that_cannot_be_are_refused(pays: str, says: str) -> None:
    """Sums of what cannot be paid together, and commas that are in no thousand's place: at the row, under pays."""
    told = said(pays=pays)
    assert says in told
    assert told.startswith("l.toml:12: pays: ")
    assert len(told) < 400


def test_sums_that_can_be_are_read() -> None:
    """Odds beside a meter, two levels, a share and a fixed sum of what is left, thousands with commas."""
    for pays in (
        '["100% meter", "250 to 1"]',
        '["100% mega", "100% minor"]',
        '["90% meter", "$5 from meter"]',
        '["$1,000", "$50 from meter"]',
        '["50% meter", "50% mega"]',
        '["1,234,567.5 for 1"]',
        "[]",
    ):
        assert "" == said(pays=pays)
