"""Par sheets against figures that others have published. The source stands with each figure."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from little_table import little_table

from meterd.edge.files import paytable, universe_text
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import ParSheet, parsheet


def sheet(table: PayTable | str, decks: int | None = None, wheel: str = "double-zero") -> ParSheet:
    return parsheet(
        paytable(table) if isinstance(table, str) else table, decks=decks, wheel=wheel, cached=universe_text
    )


def counts(table: PayTable | str, decks: int | None = None) -> dict[str, int]:
    return {row.hand: row.count for row in sheet(table, decks).rows}


def shown(value: Fraction | None, places: int) -> str:
    """Rounded half up, as tables print it."""
    scaled = abs(value or Fraction(0)) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    text = f"{whole:0{places + 1}d}"
    sign = "-" if value is not None and value < 0 else ""
    return f"{sign}{text[:-places]}.{text[-places:]}" if places else f"{sign}{text}"


def any_decks(table: str) -> PayTable:
    """The table as if it were allowed for any shoe: others publish figures for shoes that the rule does not name."""
    return replace(paytable(table), decks_allowed=tuple(range(1, 9)))


def test_five_cards() -> None:
    """All 2,598,960 hands (Wikipedia, "Poker probability"), as one rule book lists them with its pair of jacks."""
    assert {
        "royal-flush": 4,
        "straight-flush": 36,
        "four-of-a-kind": 624,
        "full-house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three-of-a-kind": 54_912,
        "two-pair": 123_552,
        "pair-of-jacks-or-better": 1_098_240 * 4 // 13,
        "pair-of-6s-of-10s": 1_098_240 * 5 // 13,
    } == counts("co/mississippi-stud/pay-schedule-01")


def test_three_cards() -> None:
    """All 22,100 hands, and the house edge of pays 40-30-6-4-1 (Wizard of Odds, Three Card Poker: 2.32 %)."""
    assert {
        "straight-flush-pays": 48,
        "three-of-a-kind-pays": 52,
        "straight-pays": 720,
        "flush-pays": 1_096,
        "pair-pays": 3_744,
    } == counts("co/let-it-ride/3-card-bonus-1")
    assert Fraction(512, 22_100) == sheet("co/let-it-ride/3-card-bonus-1").house_edge_at_seed


def test_three_cards_with_a_mini_royal() -> None:
    """Pays 40-30-6-3-1 keep 7.28 %, with 50 for a mini royal 7.10 % (J. Grochowski, tunicatravel.com)."""
    assert "0.0728" == shown(sheet("co/let-it-ride/3-card-bonus-3").house_edge_at_seed, 4)
    with_royal = little_table(
        "three-card",
        "own_cards = 3",
        ("mini-royal", "straight-flush top:A"),
        ("straight-flush", "straight-flush"),
        ("three-of-a-kind", "three-of-a-kind"),
        ("straight", "straight"),
        ("flush", "flush"),
        ("pair", "pair"),
    )
    pays = {"mini-royal": 50, "straight-flush": 40, "three-of-a-kind": 30, "straight": 6, "flush": 3, "pair": 1}
    found = counts(with_royal)
    returned = sum(Fraction(found[hand] * (pay + 1), 22_100) for hand, pay in pays.items())
    assert (4, "0.0710") == (found["mini-royal"], shown(1 - returned, 4))


def test_best_five_of_seven() -> None:
    """All 133,784,560 hands (Wikipedia, "Poker probability"), two pair counted where they are tens or better."""
    found = counts("co/champion-poker/seven-card-e")
    assert {
        "royal-flush": 4_324,
        "straight-flush": 37_260,
        "four-of-a-kind": 224_848,
        "full-house": 3_473_184,
        "flush": 4_047_644,
        "straight": 6_180_020,
        "three-of-a-kind": 6_461_620,
    } == found


def test_two_pair_and_less_of_seven_cards() -> None:
    """31,433,400 two pair, 58,627,800 pairs, 23,294,460 without (Wikipedia; B. Alspach, 7-Card Poker Hands)."""
    names = ("royal-flush", "straight-flush", "four-of-a-kind", "full-house", "flush", "straight", "three-of-a-kind")
    table = little_table(
        "best-five-of-seven",
        "own_cards = 7",
        *((name, name) for name in (*names, "two-pair", "pair", "high-card")),
    )
    found = counts(table)
    assert [31_433_400, 58_627_800, 23_294_460] == [found[name] for name in ("two-pair", "pair", "high-card")]
    assert 133_784_560 == sum(found.values())


def test_best_five_of_six() -> None:
    """All 20,358,520 hands (B. Alspach, Pai Gow Poker Computations, table 2); this universe is worked out, not kept."""
    names = (
        "straight-flush",
        "four-of-a-kind",
        "full-house",
        "flush",
        "straight",
        "three-of-a-kind",
        "two-pair",
        "pair",
    )
    table = little_table("best-five-of-six", "own_cards = 6", *((name, name) for name in (*names, "high-card")))
    assert {
        "straight-flush": 1_844,
        "four-of-a-kind": 14_664,
        "full-house": 165_984,
        "flush": 205_792,
        "straight": 361_620,
        "three-of-a-kind": 732_160,
        "two-pair": 2_532_816,
        "pair": 9_730_740,
        "high-card": 6_612_900,
    } == counts(table)


def test_seven_of_fifty_three_with_the_bug() -> None:
    """All 154,143,080 hands (B. Alspach, 7-Card Poker Hands with Joker, 2003).

    His 26,124 royals are eight short: 12 + 1,560 + 24,560 stand in Wizard of Odds, Pai Gow Poker Side Bets (Jackpot),
    and 11,748 + 173,084 other straight flushes; the sum, 210,964, is the same in both.
    """
    order = (
        "five-of-a-kind",
        "royal-flush",
        "straight-flush",
        "four-of-a-kind",
        "full-house",
        "flush",
        "straight",
        "three-of-a-kind",
        "two-pair",
        "pair",
        "high-card",
    )
    table = little_table("pai-gow", "own_cards = 7", *((name, name) for name in order), keys="joker = true")
    assert {
        "five-of-a-kind": 1_128,
        "royal-flush": 12 + 1_560 + 24_560,
        "straight-flush": 11_748 + 173_084,
        "four-of-a-kind": 307_472,
        "full-house": 4_188_528,
        "flush": 6_172_088,
        "straight": 11_236_028,
        "three-of-a-kind": 7_470_676,
        "two-pair": 35_553_816,
        "pair": 64_221_960,
        "high-card": 24_780_420,
    } == counts(table)


def test_fortune_bonus() -> None:
    """The house edge of pay schedule 02 before envy is 7.8 % (M. Shackelford after J. Grochowski, Casino City Times).

    Three of a kind stand above a straight here, so that together they are as many as in the usual order.
    """
    found = counts("co/fortune-pai-gow/fortune-bonus-02")
    assert "0.0777" == shown(sheet("co/fortune-pai-gow/fortune-bonus-02").house_edge_at_seed, 4)
    assert 11_236_028 + 7_470_676 == found["straight"] + found["three-of-a-kind"]
    assert 210_964 == sum(count for hand, count in found.items() if "flush" in hand) - found["flush"]


def test_high_five_is_dealt_like_pai_gow() -> None:
    """The bug makes five aces 1,128 times (B. Alspach); the five-high straight does not matter to the counts."""
    found = counts("co/high-five-poker/trips-01")
    assert (1_128, 26_132, 184_832) == (found["five-aces"], found["royal-flush"], found["straight-flush"])
    assert 4_188_528 == found["full-house-aces-up"] + found["full-house-other"]


@pytest.mark.parametrize(("decks", "edge"), [(1, "0.1330"), (2, "0.0726"), (4, "0.0424"), (6, "0.0324"), (8, "0.0274")])
def test_twenty_one_plus_three(decks: int, edge: str) -> None:
    """House edge at 9 to 1 (Wizard of Odds, 21+3, version 1)."""
    assert edge == shown(sheet(any_decks("co/21-plus-3/standard"), decks).house_edge_at_seed, 4)


def test_twenty_one_plus_three_of_six_decks() -> None:
    """5,013,320 combinations of three cards (Wizard of Odds, 21+3); a flush may hold a pair."""
    assert {
        "straight-flush": 10_368,
        "three-of-a-kind": 26_312,
        "straight": 155_520,
        "flush": 236_736 + 56_160,
    } == counts("co/21-plus-3/standard", 6)
    assert 5_013_320 == sheet("co/21-plus-3/standard", 6).universe


@pytest.mark.parametrize(
    ("table", "decks", "edge"),
    [
        ("co/royal-match-21/pay-table-4", 1, "0.108597"),
        ("co/royal-match-21/pay-table-4", 2, "0.083271"),
        ("co/royal-match-21/pay-table-4", 4, "0.070792"),
        ("co/royal-match-21/pay-table-4", 6, "0.066658"),
        ("co/royal-match-21/pay-table-4", 8, "0.064597"),
        ("co/royal-match-21/pay-table-1", 1, "0.037707"),
        ("co/royal-match-21/pay-table-1", 2, "0.008215"),
        ("co/royal-match-21/pay-table-1", 4, "-0.006317"),
        ("co/royal-match-21/pay-table-1", 8, "-0.013531"),
    ],
)
def test_royal_match(table: str, decks: int, edge: str) -> None:
    """House edge of 25 and 2.5, and of 10 and 3, to 1 (Wizard of Odds, Royal Match, versions 1 and 2), no treasure."""
    whole = any_decks(table)
    only = replace(whole, rows=tuple(row for row in whole.rows if "treasure" not in row.hand))
    assert edge == shown(sheet(only, decks).house_edge_at_seed, 6)


def test_match_the_dealer() -> None:
    """Two and four decks, of 5,253 and 21,321 pairs of cards against one up card (Wizard of Odds, Match the Dealer)."""
    two, four = ({row.hand: row.probability for row in sheet(f"co/match-the-dealer/{n}-deck").rows} for n in (2, 4))
    assert [Fraction(n, 5_253) for n in (576, 15, 96, 6)] == [
        two[f"{hand}-match"]
        for hand in ("one-card-unsuited", "two-card-unsuited", "one-card-suited", "1-unsuited-and-1-suited")
    ]
    assert [Fraction(n, 21_321) for n in (2_304, 66, 576, 3, 36)] == [
        four[f"{hand}-match"]
        for hand in (
            "one-card-unsuited",
            "two-card-unsuited",
            "one-card-suited",
            "two-card-suited",
            "1-unsuited-and-1-suited",
        )
    ]
    assert "0.033124" == shown(sheet("co/match-the-dealer/2-deck").house_edge_at_seed, 6)


def test_match_the_dealer_in_spanish_21() -> None:
    """Six decks without tens: 3.055 % and a hit in 15.411 % (E. Jacobson, Match the Dealer in Spanish 21)."""
    six = sheet("co/spanish-21/match-up-6-deck")
    assert ("0.03055", "0.15411") == (shown(six.house_edge_at_seed, 5), shown(1 - (six.lose_probability or 0), 5))
    down = sheet("co/spanish-21/match-down-6-deck")
    assert six.house_edge_at_seed == down.house_edge_at_seed


def test_lucky_lucky() -> None:
    """Six decks (Wizard of Odds, Lucky Lucky, pay table 1: combinations of 5,013,320)."""
    found = counts("co/lucky-lucky/table-1", 6)
    assert [80, 864, 1_944, 12_960, 26_568, 406_296, 377_568, 364_320] == list(found.values())


def test_kings_bounty() -> None:
    """Six decks at 1000-100-30-20-9-6-4 to 1 keep 23.164 % (E. Jacobson, King's Bounty: 6 Decks)."""
    found = sheet("co/kings-bounty/kb03", 6)
    pays = (1000, 100, 30, 20, 9, 6, 4)
    returned = sum(row.probability * (pay + 1) for row, pay in zip(found.rows, pays, strict=True))
    assert "0.23164" == shown(1 - returned, 5)


def test_sevens() -> None:
    """Six decks, 30,079,920 orders of three cards (Wizard of Odds, Super Sevens, three cards guaranteed).

    480 suited and 11,664 other three sevens; 34,560 and 124,416 pairs of them whose third card is no seven.
    """
    found = {row.hand: row.probability for row in sheet("co/blazing-sevens/b7p1", 6).rows}
    assert [Fraction(480, 30_079_920), Fraction(12_144, 30_079_920)] == [
        found["three-7s-same-suit"],
        sum(chance for hand, chance in found.items() if hand.startswith("three")),
    ]
    assert Fraction(34_560 + 124_416, 30_079_920) == found["first-two-cards-7"]


def test_sevens_of_diamonds() -> None:
    """Five decks, 17,373,720 orders of three cards: 60, 180 and 6,600 (Wizard of Odds, Ask the Wizard 71)."""
    found = [row.probability * 17_373_720 for row in sheet("co/blazing-sevens/b7p2", 5).rows]
    assert [60, 180, 6_600] == [found[0], found[1], found[2] + found[3]]


def test_roulette_up_is_worked_out_as_published_streaks_are() -> None:
    """Nine rising numbers come once in 1,013,523 streaks, eight once in 88,906, on a wheel with 38 pockets."""
    nine = sheet("pa/roulette-up/progressive-1").rows[0]
    eight = next(row for row in sheet("pa/roulette-up/progressive-4").rows if row.hand == "streak-8")
    assert ("1013523", "88906") == (shown(1 / nine.probability, 0), shown(1 / eight.probability, 0))


def test_single_zero_wheel() -> None:
    """Roulette keeps 1/37 of everything, and has no five numbers to bet on; with a double zero it keeps 2/38."""
    single = sheet("co/roulette/odds", wheel="single-zero")
    assert {Fraction(1, 37)} == {row.house_edge for row in single.rows}
    assert "first-five-numbers" not in {row.hand for row in single.rows}
    assert "left out, as this wheel does not have them: First Five Numbers" == single.note
    double = {row.hand: row.house_edge for row in sheet("co/roulette/odds").rows}
    assert (Fraction(3, 38), {Fraction(1, 19)}) == (double.pop("first-five-numbers"), set(double.values()))


def test_craps() -> None:
    """Pass 7/495, don't pass 3/220, the field 1/18, place bets, hard ways (Wizard of Odds, Craps)."""
    edges = {row.hand: row.house_edge for row in sheet("co/craps/odds").rows}
    assert {
        "pass-bet": Fraction(7, 495),
        "dont-pass-bet": Fraction(3, 220),
        "field-bet": Fraction(1, 18),
        "place-bet-4-to-win": Fraction(1, 15),
        "place-bet-5-to-win": Fraction(1, 25),
        "place-bet-6-to-win": Fraction(1, 66),
        "four-the-hardway": Fraction(1, 9),
        "six-the-hardway": Fraction(1, 11),
        "any-seven": Fraction(1, 6),
        "any-craps": Fraction(1, 9),
    } == {hand: edge for hand, edge in edges.items() if hand in KNOWN_EDGES}


KNOWN_EDGES = (
    "pass-bet",
    "dont-pass-bet",
    "field-bet",
    "place-bet-4-to-win",
    "place-bet-5-to-win",
    "place-bet-6-to-win",
    "four-the-hardway",
    "six-the-hardway",
    "any-seven",
    "any-craps",
)


def test_fire_bet_and_all_numbers() -> None:
    """Four points once in 113 shooters (J. Stickman, Casino City Times), all numbers in 190.2 (Wizard of Odds)."""
    four = next(row for row in sheet("co/fire-bet/fb-1").rows if row.hand == "4")
    assert "113.7" == shown(1 / four.probability, 1)
    assert "190.2" == shown(1 / sheet("co/bonus-craps/make-em-all").rows[0].probability, 1)


def test_royals_by_the_card_that_completed_them() -> None:
    """A royal after five cards 4 in C(52, 5); with six cards to choose from six times as often, with seven 21 times."""
    found = {row.hand: row.probability for row in sheet("co/texas-holdem-bonus/thbp-8").rows}
    five = Fraction(4, 2_598_960)
    assert [five, 5 * five, 14 * five, five] == [
        found[hand] for hand in ("royal-after-5", "royal-after-6", "royal-after-7", "community-royal")
    ]
