"""A change of a live table: whatever a hand earns today it must earn tomorrow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lint_tables import (
    FLUSH,
    GOOD,
    HEAD,
    METER,
    PAIR,
    STRAIGHT,
    STRAIGHT_FLUSH,
    TOP,
    TRIPLE,
    changes,
    codes,
    only,
    row,
    table,
)

from meterd.paytables.lint import Severity
from meterd.paytables.model import PayTable, Row

OLD = table()


def test_the_same_table_changes_nothing() -> None:
    """Nor does one in other words."""
    assert () == changes(OLD, OLD)
    assert () == changes(OLD, table((*GOOD[:4], row("Pair", "1 to 1", "pair top:2+"))))


@pytest.mark.parametrize(
    ("new", "code", "at", "says"),
    [
        (
            table((*GOOD[:4], row("Pair", "1 to 1", "pair top:3+"))),
            "HARDER_TO_WIN",
            "pair",
            "today pair ('1 to 1'), then no row (nothing): 288 of 22,100 hands",
        ),
        (
            table((STRAIGHT_FLUSH, TRIPLE, FLUSH, PAIR)),
            "HARDER_TO_WIN",
            "straight",
            "today straight ('6 to 1'), then no row (nothing): 720 of 22,100 hands",
        ),
        (
            table((TRIPLE, FLUSH, STRAIGHT, STRAIGHT_FLUSH, PAIR)),
            "HARDER_TO_WIN",
            "straight-flush",
            "today straight-flush ('40 to 1'), then flush ('3 to 1'): 48 of 22,100 hands",
        ),
        (
            table((*GOOD[:3], row("Flush", "2 to 1", "flush"), PAIR)),
            "PAYS_LESS",
            "flush",
            "pays '2 to 1', today '3 to 1'",
        ),
        (
            table((*GOOD[:4], row("Pair", "1 for 1", "pair"))),
            "PAYS_LESS",
            "pair",
            "pays '1 for 1', today '1 to 1'",
        ),
        (
            table((*GOOD, row("Ace", "1 to 1", "high-card top:A"))),
            "EASIER_TO_WIN",
            "ace",
            "today no row (nothing), then ace ('1 to 1'): 3,840 of 22,100 hands",
        ),
        (
            table((row("Mini", "50 to 1", "straight-flush top:A"), *GOOD)),
            "EASIER_TO_WIN",
            "straight-flush",
            "today straight-flush ('40 to 1'), then mini ('50 to 1'): 4 of 22,100 hands",
        ),
    ],
)
def test_what_becomes_harder_or_easier_is_counted_hand_by_hand(new: PayTable, code: str, at: str, says: str) -> None:
    """One change each: that finding and no other."""
    found = changes(OLD, new)
    assert [code] == codes(found)
    assert (at, says) == (found[0].row, found[0].found)
    assert (Severity.NOTICE if code == "EASIER_TO_WIN" else Severity.FAULT) == found[0].severity


def test_less_envy_pays_less_and_more_is_easier() -> None:
    """Envy is part of what a wager wins."""
    live, less = table((TOP, PAIR)), table((TOP.replace("$100", "$50"), PAIR))
    assert "gives 50.00 envy, today 100.00" == only(changes(live, less), "PAYS_LESS").found
    assert "gives 100.00 envy, today 50.00" == only(changes(less, live), "EASIER_TO_WIN").found


def test_a_share_against_odds_is_compared_at_the_seed_or_counts_as_less() -> None:
    """100 % of 1,000.00 is less than 1,500 for 1 and more than 500 for 1; without a seed nobody knows."""
    fixed = table((row("AKQ spades", "500 for 1", "straight-flush top:A suit:s"), PAIR), METER)
    dear = table((row("AKQ spades", "1500 for 1", "straight-flush top:A suit:s"), PAIR), METER)
    bare = replace(
        table((TOP, PAIR), METER), rows=tuple(replace(each, envy_cents=0) for each in table((TOP, PAIR)).rows)
    )
    assert ["PAYS_LESS"] == codes(changes(replace(bare), fixed))
    assert ["EASIER_TO_WIN"] == codes(changes(bare, dear))
    assert ["PAYS_LESS"] == codes(changes(replace(bare, seed_cents=None), dear))


def test_tables_of_other_cards_are_compared_by_chance() -> None:
    """Two decks make a pair likelier and a straight flush rarer: each row by how often at least its pay is earned."""
    shoe = HEAD.replace('"three-card"', '"shoe"')
    one, two = (
        table((STRAIGHT_FLUSH, PAIR), f"decks = {decks}\n", shoe.replace("sample/one", f"sample/decks-{decks}"))
        for decks in (1, 2)
    )
    assert ["HARDER_TO_WIN", "EASIER_TO_WIN"] == codes(changes(one, two)) or codes(changes(one, two)) == [
        "HARDER_TO_WIN"
    ] * 0
    harder = only(changes(one, two), "HARDER_TO_WIN")
    assert ("straight-flush", True) == (harder.row, "today 1 in 460" in harder.found)


def test_wagers_of_a_list_are_compared_each_with_itself() -> None:
    """A bet on fewer pockets is harder to win, whatever the others do; one that pays less pays less."""
    head = HEAD.replace('"three-card"', '"wagers"')
    live = table((row("Red", "1 to 1", "pockets:18"), row("Two", "17 to 1", "pockets:2")), "", head)
    fewer = table((row("Red", "1 to 1", "pockets:17"), row("Two", "17 to 1", "pockets:2")), "", head)
    found = changes(live, fewer)
    assert ["HARDER_TO_WIN"] == codes(found)
    assert ("red", "'1 to 1' or more is earned 1 in 2.24, today 1 in 2.11") == (found[0].row, found[0].found)
    assert ["EASIER_TO_WIN"] == codes(changes(fewer, live))
    less = table((row("Red", "1 to 1", "pockets:18"), row("Two", "16 to 1", "pockets:2")), "", head)
    assert ["PAYS_LESS"] == codes(changes(live, less))


def test_without_chances_only_unchanged_words_are_safe() -> None:
    """No evaluator: a row gone is harder, other words or another order cannot be compared, the same table is silent."""
    live = replace(OLD, evaluator=None, note="Not defined.")
    assert () == changes(live, live)
    gone = replace(live, rows=live.rows[:4])
    assert ["HARDER_TO_WIN", "NOT_COMPARABLE"] == codes(changes(live, gone))
    worded = replace(live, rows=(*live.rows[:4], replace(live.rows[4], printed_hand="Pair of Jacks")))
    assert ["NOT_COMPARABLE"] == codes(changes(live, worded))
    turned = replace(live, rows=live.rows[::-1])
    assert ["NOT_COMPARABLE"] == codes(changes(live, turned))
    assert "another order" in changes(live, turned)[0].found


LIVE = table((TOP, PAIR), METER)


def games(**changed: object) -> PayTable:
    return replace(LIVE, games=(replace(LIVE.games[0], **changed),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("new", "code", "back", "says"),
    [
        (games(folded_live=False), "HARDER_TO_WIN", "EASIER_TO_WIN", "a folded hand of sample wins nothing"),
        (replace(LIVE, envy_to="dealer"), "PAYS_LESS", "EASIER_TO_WIN", "envy goes to dealer, today to players"),
        (replace(LIVE, envy_trigger="highest"), "PAYS_LESS", "EASIER_TO_WIN", "envy is given for the highest hand"),
        (replace(LIVE, envy_min_cents=500), "PAYS_LESS", "EASIER_TO_WIN", "envy needs a wager of 5.00, today 0.00"),
        (replace(LIVE, envy_scales=False), "PAYS_LESS", "EASIER_TO_WIN", "envy does not grow with the wager"),
        (replace(LIVE, seed_cents=100), "PAYS_LESS", "EASIER_TO_WIN", "the seed is 1.00, today 1,000.00"),
        (replace(LIVE, increment_ppm=10_000), "PAYS_LESS", "EASIER_TO_WIN", "the increment is 1%, today 20%"),
        (replace(LIVE, reserve_ppm=-1), "PAYS_LESS", "EASIER_TO_WIN", "the reserve is 0%, today 4%"),
        (replace(LIVE, split="dead"), "HARDER_TO_WIN", "NOT_COMPARABLE", "a split is dead, today not said"),
        (replace(LIVE, split="two-hands"), "NOT_COMPARABLE", "NOT_COMPARABLE", "a split is two-hands, today not said"),
    ],
)
def test_terms_that_change_are_found_one_by_one(new: PayTable, code: str, back: str, says: str) -> None:
    """Folds, splits, envy, seeds and rates: that finding alone, and its opposite when it is changed back."""
    (found,) = changes(LIVE, new)
    assert (code, True) == (found.code, says in found.found)
    assert [back] == codes(changes(new, LIVE))


def test_a_split_that_comes_to_life_is_easier() -> None:
    """From dead to anything that is said."""
    dead = replace(LIVE, split="dead")
    assert ["EASIER_TO_WIN"] == codes(changes(dead, replace(LIVE, split="no-effect")))
    assert ["HARDER_TO_WIN"] == codes(changes(replace(LIVE, split="two-hands"), dead))


def test_what_is_no_longer_printed_cannot_be_compared() -> None:
    """A seed or a rate left out is no promise; one that was not printed before takes nothing away."""
    silent = replace(LIVE, seed_cents=None)
    assert ["NOT_COMPARABLE"] == codes(changes(LIVE, silent))
    assert () == changes(silent, LIVE)
    assert () == changes(LIVE, replace(LIVE, wager_cents=200, seed_cents=200_000, envy_scales=True, rows=doubled()))


def doubled() -> tuple[Row, ...]:
    """The live rows with twice the envy, as for a wager of twice as much."""
    return tuple(replace(each, envy_cents=2 * each.envy_cents) for each in LIVE.rows)


def test_a_pay_that_no_longer_grows_with_the_wager_is_less() -> None:
    """$11 for $1 is 10 to 1, but only for $1."""
    odds = table((*GOOD[:4], row("Pair", "10 to 1", "pair")))
    still = table((*GOOD[:4], row("Pair", "$11", "pair", "$11 unscaled")))
    found = only(changes(odds, still), "PAYS_LESS")
    assert ("pair", "pays '$11', which does not grow with the wager, today '10 to 1'") == (found.row, found.found)
    assert ["EASIER_TO_WIN"] == codes(changes(still, odds))


def test_a_wager_that_is_kept_is_less() -> None:
    """10 to 1 gives the wager back on top, unless the table says that it stays."""
    said = [each.found for each in changes(OLD, replace(OLD, original_wager_returned=False))]
    assert "pays '1 to 1' without the wager back, today '1 to 1'" in said


def test_a_higher_pay_of_the_same_row_is_easier() -> None:
    """Hands would earn more: a petition comes first."""
    more = table((*GOOD[:4], row("Pair", "2 to 1", "pair")))
    (found,) = changes(OLD, more)
    assert ("EASIER_TO_WIN", "pair", "pays '2 to 1', today '1 to 1'") == (found.code, found.row, found.found)


def test_envy_is_followed_through_renamed_and_divided_rows() -> None:
    """The row has another name and gives 1.00; or half its hands move to a row that gives nothing."""
    live = table((row("SF", "100%", "straight-flush", "100% meter").replace("match", 'printed_envy = "$100", match'),))
    one = row("Straight flush", "100%", "straight-flush", "100% meter").replace("match", 'printed_envy = "$1", match')
    found = only(changes(live, table((one,))), "HARDER_TO_WIN")
    assert "today sf gives 100.00 envy, then straight-flush 1.00: 48 of 22,100 hands" == found.found
    high = row("SF", "100%", "straight-flush top:5+", "100% meter").replace("match", 'printed_envy = "$100", match')
    rest = row("SF3", "100%", "straight-flush", "100% meter")
    found = only(changes(live, table((high, rest))), "HARDER_TO_WIN")
    assert "today sf gives 100.00 envy, then sf3 0.00: 8 of 22,100 hands" == found.found


def test_envy_is_followed_by_chance_where_other_cards_are_dealt() -> None:
    """A renamed row of a shoe with two decks: how often so much envy is given."""
    shoe = HEAD.replace('"three-card"', '"shoe"')
    one = table((TOP, PAIR), "decks = 2\n", shoe)
    two = table((TOP.replace("AKQ spades", "Mini").replace("$100", "$1"), PAIR), "decks = 1\n", shoe)
    said = [each.found for each in changes(one, two) if each.code == "HARDER_TO_WIN"]
    assert any(each.startswith("100.00 envy or more is given never, today 1 in") for each in said)
