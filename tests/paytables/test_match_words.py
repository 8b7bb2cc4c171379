"""The words of a row's match: each scope and each qualifier where it holds and where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from little_table import earned, little_table, refused

from meterd.handrank import parse_cards
from meterd.paytables.decide import NeedsDealer, decide_row, reads_dealer, rows_holding
from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.match import SCOPES, WAGERS, examples, parse_match
from meterd.paytables.qualifiers import CONDITIONS

SHOE = "own_cards = 2, own_dealt = 8, dealer_cards = 2, dealer_dealt = 10"

#: match, what holds, what does not. All on a shoe of six decks unless an evaluator stands first.
CASES: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
    ("shoe", "pair top:A", {"cards": "As Ad"}, {"cards": "Ks Kd"}),
    ("shoe", "pair top:J+", {"cards": "Js Jd"}, {"cards": "Ts Td"}),
    ("shoe", "pair top:6-T", {"cards": "6s 6d"}, {"cards": "5s 5d"}),
    ("shoe", "pair top:6-T", {"cards": "Ts Td"}, {"cards": "Js Jd"}),
    ("shoe", "any suit:s", {"cards": "Ks 2s"}, {"cards": "Kh 2h"}),
    ("shoe", "any suit:hdc", {"cards": "Kd 2d"}, {"cards": "Kd 2h"}),
    ("shoe", "any suited", {"cards": "Kd 2d"}, {"cards": "Kd 2h"}),
    ("shoe", "pair suited", {"cards": "Kd Kd 2h"}, {"cards": "Kd Kh 2h"}),
    ("shoe", "any one-color", {"cards": "Kd 2h"}, {"cards": "Kd 2c"}),
    ("shoe", "any ranks:AK,AQ", {"cards": "Qd Ah"}, {"cards": "Jd Ah"}),
    ("shoe", "any ranks:777", {"cards": "7d 7h 7h"}, {"cards": "7d 7h"}),
    ("shoe", "any ranks:KT", {"cards": "Kd Th"}, {"cards": "Kd Qh"}),
    ("shoe", "any cards:AhAd", {"cards": "Ad Ah"}, {"cards": "Ad As"}),
    ("shoe", "straight length:3 holds:As", {"cards": "As 2d 3c"}, {"cards": "Ah 2d 3c"}),
    ("shoe", "straight length:3 holds:4", {"cards": "4s 2d 3c"}, {"cards": "Ah 2d 3c"}),
    ("shoe", "any total:21", {"cards": "Ad Th"}, {"cards": "9d Th"}),
    ("shoe", "any total:21", {"cards": "Ad Ac 9h"}, {"cards": "Ad Ac 8h"}),
    ("shoe", "any count:3", {"cards": "2d 2c 2h"}, {"cards": "2d 2c"}),
    ("shoe", "any count:3+", {"cards": "2d 2c 2h 2s"}, {"cards": "2d 2c"}),
    ("shoe", "any count:3-4", {"cards": "2d 2c 2h 2s"}, {"cards": "2d 2c 2d 2d 2d"}),
    ("shoe", "any blackjack", {"cards": "Ad Kh"}, {"cards": "5d 6h Ts"}),
    ("shoe", "any bust", {"cards": "Td 6h Ts"}, {"cards": "Td Ts"}),
    ("shoe", "any of:dealer bust", {"cards": "2d 3d", "dealer": "Td 6h Ts"}, {"cards": "2d 3d", "dealer": "Td 7h"}),
    ("shoe", "any up:A", {"cards": "2d 3d", "dealer": "Ad"}, {"cards": "2d 3d", "dealer": "Kd Ad"}),
    ("shoe", "any up:T", {"cards": "2d 3d", "dealer": "Qd"}, {"cards": "2d 3d", "dealer": "9d"}),
    ("shoe", "any up:2,3", {"cards": "2d 3d", "dealer": "3d"}, {"cards": "2d 3d", "dealer": "4d"}),
    ("shoe", "any up:7s", {"cards": "2d 3d", "dealer": "7s"}, {"cards": "2d 3d", "dealer": "7d"}),
    ("shoe", "any dealer:blackjack", {"cards": "2d 3d", "dealer": "Kd Ad"}, {"cards": "2d 3d", "dealer": "5d 6d Td"}),
    ("shoe", "any dealer-ranks:KQ,QQ", {"cards": "2d 3d", "dealer": "Qd Kh"}, {"cards": "2d 3d", "dealer": "Qd Jh"}),
    ("shoe", "any dealer-suited", {"cards": "2h 3h", "dealer": "Qd Kd"}, {"cards": "2h 3h", "dealer": "Qd Kh"}),
    ("shoe", "any dealer-same-suit", {"cards": "2d 3d", "dealer": "Qd Kd"}, {"cards": "2h 3h", "dealer": "Qd Kd"}),
    ("shoe", "any beats-dealer", {"cards": "Kd Qd", "dealer": "9d Kd"}, {"cards": "Kd Qd", "dealer": "Td Kd"}),
    ("shoe", "any beats-dealer", {"cards": "Kd Ad", "dealer": "7d 7d"}, {"cards": "Kd Ad", "dealer": "Ad Td"}),
    ("shoe", "any beats-dealer", {"cards": "9d 8d", "dealer": "6d Td Kd"}, {"cards": "9d 8d 5d", "dealer": "7d Td"}),
    ("shoe", "any ties-dealer", {"cards": "Kd Qd", "dealer": "Td Kd"}, {"cards": "Kd Qd", "dealer": "9d Kd"}),
    ("shoe", "any matches:1+0", {"cards": "Kd 2d", "dealer": "Kh"}, {"cards": "Kd 2d", "dealer": "Kd"}),
    ("shoe", "any matches:0+2", {"cards": "Kd Kd", "dealer": "Kd"}, {"cards": "Kd Kh", "dealer": "Kd"}),
    ("shoe", "any matches:1+1", {"cards": "Kd Kh", "dealer": "Kd"}, {"cards": "Kd Kh", "dealer": "Qd"}),
    ("shoe", "any matches-down:0+1", {"cards": "Kd 2h", "dealer": "2d Kd"}, {"cards": "Kd 2h", "dealer": "Kd 3d"}),
    ("shoe", "pair first:2", {"cards": "2d 2h 5s"}, {"cards": "2d 5s 2h"}),
    ("shoe", "pair first:3", {"cards": "2d 5s 2h"}, {"cards": "2d 2h"}),
    ("shoe", "pair with:up", {"cards": "2d 5s", "dealer": "5d"}, {"cards": "2d 5s", "dealer": "6d 5d"}),
    ("shoe", "pair first:2 with:up", {"cards": "2d 5s 6h", "dealer": "5d"}, {"cards": "2d 5s 6h", "dealer": "6d"}),
    ("shoe", "pair with:dealer", {"cards": "2d 5s", "dealer": "6d 5d"}, {"cards": "2d 5s", "dealer": "6d 7d 5d"}),
    ("shoe", "any unbusted count:2", {"cards": "Td 6s Kd"}, {"cards": "Td 5s 6d"}),
    ("shoe", "straight length:3 unbusted", {"cards": "5c 6d 7h 8s"}, {"cards": "9c Td Jh"}),
    ("shoe", "straight length:4 | flush length:4", {"cards": "2d 2d 2d 2d"}, {"cards": "2d 2d 2d 2h"}),
    ("shoe", "straight length:4 | flush length:4", {"cards": "2d 3d 4d 5h"}, {"cards": "2d 3d 4d 6h"}),
    ("five-card", "straight-flush top:A suit:s", {"cards": "As Ks Qs Js Ts"}, {"cards": "Ah Kh Qh Jh Th"}),
    ("five-card", "flush one-color", {"cards": "Ah Kh Qh Jh 9h"}, {"cards": "Ah Kh Qh Jh 9d"}),
    ("five-card", "straight length:4", {"cards": "2h 3s 4d 5c Kd"}, {"cards": "2h 3s 4d 6c Kd"}),
    ("five-card", "straight-flush first:3", {"cards": "2h 3h 4h 5c Kd"}, {"cards": "2h 3h 5c 4h Kd"}),
    ("five-card-bug", "straight-flush natural", {"cards": "2h 3h 4h 5h 6h"}, {"cards": "2h 3h 4h 5h Jkr"}),
    ("five-card-bug", "straight-flush joker", {"cards": "2h 3h 4h 5h Jkr"}, {"cards": "2h 3h 4h 5h 6h"}),
    ("five-card-bug", "straight-flush natural", {"cards": "2h 3h 4h 5h 6h 7d Jkr"}, {"cards": "2h 3h 4h 5h 7h 7d Jkr"}),
    ("five-card-bug", "high-card top:A", {"cards": "2h 3d 4h 8h Jkr 9s Kd"}, {"cards": "2h 3d 4h 8h Jd 9s Kd"}),
    ("five-card-bug", "high-card top:K", {"cards": "2h 3d 4h 8h Jd 9s Kd"}, {"cards": "2h 3d 4h 8h Jkr 9s Kd"}),
    ("five-card-bug", "flush suit:h", {"cards": "2h 3h 9h 5h Jkr"}, {"cards": "2d 3d 9d 5d Jkr"}),
]
GAMES = {
    "shoe": SHOE,
    "five-card": "own_cards = 5",
    "five-card-bug": "own_cards = 5, own_dealt = 7",
}
KEYS = {"shoe": "decks = 6", "five-card-bug": "joker = true"}


@pytest.mark.parametrize(
    ("evaluator", "match", "holds", "fails"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES]
)
def test_a_word_holds_where_it_should_and_nowhere_else(
    evaluator: str, match: str, holds: dict[str, str], fails: dict[str, str]
) -> None:
    """One deal that the row means, and one that misses it by as little as can be."""
    table = little_table(evaluator, GAMES[evaluator], ("it", match), keys=KEYS.get(evaluator, ""))
    assert "it" == earned(table, **holds)
    assert None is earned(table, **fails)


def test_own_and_board_look_at_whose_cards_they_are() -> None:
    """``own``: an own card plays; ``board``: the community cards alone make it."""
    games = "own_cards = 2, community_cards = 5"
    table = little_table("best-five-of-seven", games, ("mine", "straight own"), ("theirs", "straight board"))
    assert "mine" == earned(table, cards="7d 2h", community="3s 4c 5d 6h Kd")
    assert "theirs" == earned(table, cards="Ad Kh", community="3s 4c 5d 6h 7d")
    assert None is earned(table, cards="Ad Kh", community="3s 4c 5d 6h 9d")


def test_a_poker_hand_is_compared_with_the_dealers() -> None:
    """Both hands are the best of their own cards and the shared ones."""
    games = "own_cards = 2, community_cards = 5, dealer_cards = 2"
    table = little_table("best-five-of-seven", games, ("win", "any beats-dealer"), ("tie", "any ties-dealer"))
    board = "Ah Kd 9s 8c 2d"
    assert "win" == earned(table, cards="As 3d", community=board, dealer="Ks 3h")
    assert "tie" == earned(table, cards="As 3d", community=board, dealer="Ac 3h")
    assert None is earned(table, cards="Ks 3d", community=board, dealer="As 3h")
    assert "the dealer's cards" in refused(table, cards="Ks 3d", community=board)


def test_every_word_has_a_case() -> None:
    """No qualifier and no scope is left out above."""
    spoken = {word.partition(":")[0] for case in CASES for word in case[1].split()[1:]} | {"own", "board"}
    assert spoken >= set(CONDITIONS) | {scope.partition(":")[0] for scope in SCOPES}


def test_every_example_reads_in_an_evaluator_that_knows_it() -> None:
    """What an error message proposes is legal somewhere."""
    for example in examples():
        name = example.partition(":")[0]
        evaluator = EVALUATORS["five-card-bug" if name in {"natural", "joker"} else "shoe"]
        assert parse_match(f"straight {example}", evaluator)


@pytest.mark.parametrize(
    ("evaluator", "match", "says"),
    [
        ("shoe", "pairs", "unknown category 'pairs'; did you mean 'pair'?"),
        ("shoe", "pair sited", "unknown qualifier 'sited'; did you mean 'suited'?"),
        ("shoe", "pair suited:s", "unknown qualifier 'suited:s' (takes no argument)"),
        ("shoe", "pair top:", "'' is no rank"),
        ("shoe", "pair top:T-6", "(T-6 runs downwards)"),
        ("shoe", "pair top:6-T+", "(expected A, J+ or 6-T)"),
        ("shoe", "any suit:x", "(expected suits (c d h s))"),
        ("shoe", "any ranks:A,", "choices separated by commas"),
        ("shoe", "any ranks:1K", "'1' is no rank"),
        ("shoe", "any cards:AhA", "expected cards of two letters each"),
        ("shoe", "any cards:AhAx", "there is no suit 'x'"),
        ("shoe", "any holds:AhAs", "expected one card or one rank"),
        ("shoe", "any total:x", "'x' is not a whole number"),
        ("shoe", "any count:4-3", "(expected 7, 8+ or 3-4)"),
        ("shoe", "any up:10", "did you mean 'up:T'?"),
        ("shoe", "any dealer:bust", "(expected dealer:blackjack)"),
        ("shoe", "any matches:2+1", "expected unsuited+suited"),
        ("shoe", "any matches:1", "is not a whole number"),
        ("shoe", "any with:down", "unknown qualifier 'with:down'"),
        ("shoe", "any with:up of:dealer", "with:up is said already"),
        ("shoe", "any unbusted board", "unbusted is about the player's own cards"),
        ("shoe", "pair length:3", "length:3 belongs to royal-flush, straight-flush, flush, straight"),
        ("shoe", "straight length:1", "(expected a number from 2 to 14)"),
        ("shoe", "any first:0", "(expected a number from 1 to 21)"),
        ("shoe", "pair | ", "unknown category ''"),
        ("shoe", "any joker", "unknown qualifier 'joker'"),
        ("three-card", "pair total:21", "unknown qualifier 'total:21'"),
        ("three-card", "full-house", "unknown category 'full-house'"),
        ("sevens", "three-sevens first:3", "unknown qualifier 'first:3'"),
        ("wagers", "pas", "unknown wager 'pas'; did you mean 'pass'?"),
        ("wagers", "pockets:39", "39 of 38 is more than the wheel has"),
        ("wagers", "roll:13", "'13' is not a total of two dice"),
        ("wagers", "hop:0-7", "is not two dice"),
        ("wagers", "unsaid | roll:7", "can be alternatives, not 'unsaid'"),
        ("wagers", "before:4/7 | roll:7", "only bets on one roll (roll, hop) can be alternatives"),
    ],
)
def test_a_word_that_means_nothing_is_named(evaluator: str, match: str, says: str) -> None:
    """The word, what is wrong with it, and the nearest known one."""
    with pytest.raises(ValueError) as caught:
        parse_match(match, EVALUATORS[evaluator])
    assert says in str(caught.value)


class TestDealersCards:
    """A row that depends on dealer's cards asks for them only where they can still decide."""

    table = little_table(
        "shoe",
        "own_cards = 2, dealer_cards = 2",
        ("four-of-a-color", "four-of-a-kind with:dealer one-color"),
        ("four", "four-of-a-kind with:dealer"),
        ("pair", "pair"),
        keys="decks = 6",
    )

    def test_cards_that_settle_it_need_no_dealer(self) -> None:
        """An own pair is needed for four of a kind; a third king that does not come up neither."""
        assert None is earned(self.table, cards="Ks 9h")
        assert "pair" == earned(self.table, cards="Ks Kh", dealer="9c")
        assert "pair" == earned(self.table, cards="Ks Kh", dealer="Kc 9c")

    @pytest.mark.parametrize(
        ("given", "row"), [({}, "'four'"), ({"dealer": "Ks"}, "'four'"), ({"dealer": "Kd"}, "'four-of-a-color'")]
    )
    def test_cards_that_can_still_decide_are_asked_for(self, given: dict[str, str], row: str) -> None:
        """The first row that they can still make is named; K K of hearts and diamonds against a red king is one."""
        cards = "Kh Kd" if "color" in row else "Ks Kh"
        says = refused(self.table, cards=cards, **given)
        assert f"xx/little/table: {row} depends on the dealer's cards: give at least 2 of them, up card first" in says

    def test_the_fast_way_asks_at_once(self) -> None:
        """decide_row checks nothing and guesses nothing."""
        with pytest.raises(NeedsDealer) as caught:
            decide_row(self.table, parse_cards("Ks 9h"))
        assert (0, 2) == (caught.value.row, caught.value.cards)
        assert 2 == decide_row(self.table, parse_cards("Ks Kh"), (), parse_cards("9c 8c")).row

    def test_the_hand_is_looked_at_only_where_rows_say_so(self) -> None:
        """A table knows whether the dealer can matter."""
        assert reads_dealer(self.table)
        assert not reads_dealer(little_table("three-card", "own_cards = 3", ("pair", "pair")))


def test_all_rows_that_hold_are_found_whatever_stands_above_them() -> None:
    """A royal flush is a straight flush, a flush and a straight too."""
    table = little_table(
        "five-card",
        "own_cards = 5",
        ("royal", "royal-flush"),
        ("quads", "four-of-a-kind"),
        ("straight", "straight"),
        ("flush", "flush"),
    )
    royal = parse_cards("As Ks Qs Js Ts")
    assert ["royal", "straight", "flush"] == [row.hand for row in rows_holding(table, royal)]
    assert ("royal-flush", royal, 0) == (
        decide_row(table, royal).category,
        decide_row(table, royal).cards_used,
        decide_row(table, royal).row,
    )


def test_a_dealers_hand_is_read_when_it_is_finished() -> None:
    """Bets on the dealer's hand: no card after the bust, and at least 17."""
    table = little_table(
        "shoe",
        "own_cards = 0, dealer_cards = 2, dealer_dealt = 10",
        ("888", "any of:dealer bust ranks:888"),
        ("three", "any of:dealer bust count:3+"),
        keys="decks = 6",
    )
    assert "888" == earned(table, dealer="8h 8c 8h")
    assert "three" == earned(table, dealer="9h 7c 8h")
    assert None is earned(table, dealer="9h 8c")
    assert "his hand stands at 16 (9h 7c): give the rest" in refused(table, dealer="9h 7c")
    assert "2c cannot have been dealt to it" in refused(table, dealer="9h 7c 8h 2c")
    assert "depends on the dealer's cards" in refused(table)


def test_a_bet_that_a_blackjack_opens_asks_no_dealer_of_others() -> None:
    """Without a blackjack the dealer's cards decide nothing."""
    games = "own_cards = 2, own_dealt = 8, dealer_cards = 2, dealer_dealt = 10"
    table = little_table("shoe", games, ("five", "any of:dealer blackjack count:5+"), keys="decks = 6")
    assert None is earned(table, cards="Kh 9h")
    assert "five" == earned(table, cards="Kh Ah", dealer="2c 3c 4c 5c 6c")
    assert "depends on the dealer's cards" in refused(table, cards="Kh Ah")


def test_rows_printed_worst_first_are_tried_from_the_last() -> None:
    """The print runs from the lowest pay up; the best row that holds still pays."""
    rows = (("flush", "flush"), ("straight", "straight"), ("straight-flush", "straight-flush"))
    best = little_table("three-card", "own_cards = 3", *rows)
    worst = little_table("three-card", "own_cards = 3", *rows, keys='rows_printed = "worst-first"')
    assert ("flush", "straight-flush") == (earned(best, cards="2h 3h 4h"), earned(worst, cards="2h 3h 4h"))
    assert ["flush", "straight", "straight-flush"] == [row.hand for row in worst.rows]


def test_cards_that_are_not_in_the_decks_are_refused() -> None:
    """Decks without tens, a choice of decks, no joker."""
    table = little_table(
        "shoe", "own_cards = 2", ("pair", "pair"), keys='without_ranks = "T"\ndecks = 2\ndecks_allowed = [2, 4]'
    )
    assert "Td is not in these decks: xx/little/table is dealt without T" == refused(table, cards="Td 2h")
    assert "pair" == earned(table, cards="2h 2h")
    assert "takes 2 own cards; given were 5 own" in refused(table, cards="2h 2h 3h 3h 3h")
    assert "2h occurs 5 times, but 4 decks hold it 4 times" == refused(table, cards="2h 2h 2h 2h 2h")
    assert "no joker" in refused(table, cards="2h Jkr")


def test_a_list_of_wagers_is_no_hand() -> None:
    """Each row is a bet of its own; the refusal says so."""
    table = little_table("wagers", "own_cards = 0", ("red", "pockets:18"))
    given: dict[str, Any] = {"number": "17"}
    with pytest.raises(Exception, match="xx/little/table is a list of wagers: each row is a bet of its own"):
        earned(table, **given)


@pytest.mark.parametrize(
    ("evaluator", "rows", "number", "expected"),
    [
        ("craps-points", ("points-3", "points-2"), "4 4 4 4 7", None),
        ("craps-points", ("points-3", "points-2"), "4 4 4 4 5 7", "points-2"),
        ("craps-points", ("points-3", "points-2"), "4 4 4 4 6 3+3", "points-3"),
        ("craps-distinct-points", ("points-3", "points-2"), "4 4 4 4 5 7", None),
        ("craps-distinct-points", ("points-3", "points-2"), "4 4 5 7", None),
        ("craps-distinct-points", ("points-3", "points-2"), "4 4 5 5 6 7", "points-2"),
        ("craps-all-numbers", ("all-numbers",), "2 3 4 5 6 8 9 10 11 12", "all-numbers"),
        ("craps-all-numbers", ("all-numbers",), "2 3 4 5 6 8 9 10 11 7", None),
        ("craps-all-numbers", ("all-numbers",), "7", None),
    ],
)
def test_rolls_end_in_a_row(evaluator: str, rows: tuple[str, ...], number: str, expected: str | None) -> None:
    """Points in a row, different points, all numbers."""
    table = little_table(evaluator, "own_cards = 0", *((row, row) for row in rows))
    if number == "4 4 4 4 7":  # the seven comes on the come-out
        assert "the streak still runs" in refused(table, number=number)
    else:
        assert expected == earned(table, number=number)


def test_the_lower_hand_of_a_bad_beat_pays() -> None:
    """Read on the lower of two straights; without the dealer only a hand that cannot be beaten or beat is settled."""
    table = little_table(
        "two-way-bad-beat",
        "own_cards = 7, dealer_cards = 8",
        ("five", "straight length:5"),
        ("four", "straight length:4"),
    )
    mine = "5c 6d 7h 8s 9c Kd Kh"
    assert "four" == earned(table, cards=mine, dealer="2c 3d 4h 5s Jc Jd Qh Qs")
    assert "five" == earned(table, cards=mine, dealer="4h 5s 6c 7d 8h 2c Jd Qs")
    assert None is earned(table, cards=mine, dealer="5h 6s 7c 8d 9s 2c 2d Qs")
    assert None is earned(table, cards="5c 6d 7h Ts 9c Kd Kh")
    assert "give at least 8 of them" in refused(table, cards=mine)


def test_the_documentation_names_every_word() -> None:
    """Each evaluator, category, qualifier and scope stands in docs/paytables.md."""
    text = (Path(__file__).parents[2] / "docs/paytables.md").read_text(encoding="utf-8")
    for evaluator in EVALUATORS.values():
        assert f"`{evaluator.name}`" in text
        assert all(category in text or category.startswith(("streak-", "points-")) for category in evaluator.categories)
    for name in {*CONDITIONS, *(scope.partition(":")[0] for scope in SCOPES)}:
        assert f"`{name}`" in text or f"`{name}:" in text, name
    assert all(f"`{wager}" in text for wager in WAGERS)


def test_a_shoe_flush_is_any_flush_of_the_cards() -> None:
    """A row asks for a card, a top or a suit: better cards of a suit beside it take nothing away."""
    games = "own_cards = 4"
    deuce = little_table("shoe", games, ("deuce", "flush length:3 holds:2s"), keys="decks = 8")
    king = little_table("shoe", games, ("king", "flush length:3 top:K"), keys="decks = 8")
    assert "deuce" == earned(deuce, cards="5h Ks Qs 2s")
    assert "deuce" == earned(deuce, cards="As Ks Qs 2s")
    assert "king" == earned(king, cards="As Ks Qs Js")
    assert None is earned(king, cards="As Ks Qs 2h")
    suit = little_table("shoe", "own_cards = 6", ("low", "flush length:3 suit:s top:9"), keys="decks = 8")
    assert "low" == earned(suit, cards="Ad Kd Qd 2s 3s 9s")


def test_of_dealer_first_looks_at_the_first_of_his_cards() -> None:
    """No later one, and nothing while fewer are known."""
    games = "own_cards = 2, dealer_cards = 3"
    table = little_table("shoe", games, ("pair", "pair of:dealer first:2"), keys="decks = 2")
    assert "pair" == earned(table, cards="2c 3d", dealer="8h 8c 2d")
    assert None is earned(table, cards="2c 3d", dealer="8h 2d 8c")
    assert None is earned(table, cards="2c 3d", dealer="8h")
    board = little_table(
        "shoe", "own_cards = 2, community_cards = 1, community_dealt = 3", ("pair", "pair board first:2")
    )
    assert "pair" == earned(board, cards="2c 3d", community="8h 8c 4d")
    assert None is earned(board, cards="2c 3d", community="8h 4d 8c")
    assert None is earned(board, cards="2c 3d", community="8h")


def test_first_with_the_up_card_needs_all_of_the_first() -> None:
    """The dealer's card stands in for none of them."""
    games = "own_cards = 2, own_dealt = 3, dealer_cards = 1"
    table = little_table("shoe", games, ("three", "any first:3 with:up"), keys="decks = 2")
    assert "three" == earned(table, cards="2c 3d 4h", dealer="8h")
    assert None is earned(table, cards="2c 3d", dealer="8h")


def test_dealer_same_suit_looks_at_every_card() -> None:
    """Own cards of two suits are no flush with the dealer, whichever of them is his suit."""
    table = little_table("shoe", "own_cards = 2, dealer_cards = 2", ("all", "any dealer-same-suit"), keys="decks = 2")
    assert "all" == earned(table, cards="Kh Qh", dealer="2h 3h")
    for cards, dealer in (("Kh Qs", "2h 3h"), ("Qs Kh", "2h 3h"), ("Kh Qh", "2h 3s"), ("Kh Qh", "2s 3h")):
        assert None is earned(table, cards=cards, dealer=dealer)


def test_the_dealers_cards_are_not_needed_where_another_word_decides() -> None:
    """In whichever order a row writes its words: an unchecked decision asks no more than a checked one."""
    for match in ("any up:A total:21", "any total:21 up:A", "any beats-dealer total:21"):
        table = little_table("shoe", "own_cards = 2, dealer_cards = 2", ("row", match), keys="decks = 2")
        assert None is decide_row(table, parse_cards("Kh 9h")).row
        with pytest.raises(NeedsDealer):
            decide_row(table, parse_cards("Kh Ah"))
