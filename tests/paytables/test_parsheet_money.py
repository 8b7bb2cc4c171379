"""What follows from the chances: returns, meters at which a wager is fair, mean awards, envy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from little_table import little_table

from meterd.edge.files import paytable, universe_text
from meterd.paytables.model import Pay, PayKind, PayTable
from meterd.paytables.parse import parse_paytables
from meterd.paytables.parsheet import NoParSheet, ParSheet, parsheet

#: Best hands of five cards, with any pays.
FIVE = """
[[paytable]]
id = "xx/five/table"
game = "Five"
wager = "progressive"
kind = "progressive"
basis = "five cards"
evaluator = "five-card"
games = [{{ name = "five", basis = "five cards", own_cards = 5 }}]
sources = [{{ jurisdiction = "XX", rule = "1", table = "Five" }}]
{keys}
rows = [
{rows}
]
"""


def five(*rows: tuple[str, list[str]], keys: str = "") -> PayTable:
    lines = [
        f'{{ printed_hand = "{match.split()[0]}", printed_pay = "x", match = "{match}", pays = {pays} }},'
        for match, pays in rows
    ]
    (table,) = parse_paytables(FIVE.format(keys=keys, rows="\n".join(lines)), "five.toml")
    return table


def sheet(table: PayTable | str, **known: dict[str, int]) -> ParSheet:
    found = paytable(table) if isinstance(table, str) else table
    return parsheet(found, cached=universe_text, **known)  # type: ignore[arg-type]


def test_roulette_up_long_run() -> None:
    """20 % of each dollar on $10,000, paid once in 38^9 / C(38, 9) streaks: $212,704.67; 19 % on $3,000: $19,892.06."""
    assert 21_270_467 == sheet("pa/roulette-up/progressive-1").meters["main"].mean_award_cents
    assert 1_989_206 == sheet("pa/roulette-up/progressive-7").meters["main"].mean_award_cents


@pytest.mark.parametrize(
    ("rows", "seed", "rate", "mean"),
    [
        (("royal-flush | straight-flush",), 100_000, 90_000, 684_766),
        (("royal-flush | straight-flush",), 600_000, 80_000, 1_119_792),
        (("royal-flush | straight-flush", "four-of-a-kind"), 50_000, 95_000, 89_568),
    ],
)
def test_published_mean_awards(rows: tuple[str, ...], seed: int, rate: int, mean: int) -> None:
    """Casino Hold 'Em's progressive: $6,847.66, $11,197.92, $895.68, the last exactly half a cent (Wizard of Odds)."""
    table = five(*((match, ["100% meter"] if match == rows[-1] else ["1 for 1"]) for match in rows))
    assert mean == sheet(table, seeds={"main": seed}, increments_ppm={"main": rate}).meters["main"].mean_award_cents


def test_smaller_shares_and_fixed_pays_out_of_the_meter_lower_the_mean_award() -> None:
    """The mean is that of a meter followed wager by wager: what wins, with its chance, after what the others took."""
    table = five(
        ("straight", ["100% meter"]),
        ("flush", ["10% meter"]),
        ("full-house", ["25% meter"]),
        ("four-of-a-kind", ["$2 from meter"]),
    )
    mean = sheet(table, seeds={"main": 10_000}, increments_ppm={"main": 300_000}).meters["main"].mean_award_cents
    chance = {row.hand: row.probability for row in sheet(table).rows}
    meter, award, alive = 10_000.0, 0.0, 1.0
    p = float(chance["straight"])
    share, fixed = float(chance["flush"] / 10 + chance["full-house"] / 4), float(chance["four-of-a-kind"] * 200)
    for _ in range(20_000):
        award += alive * p * (meter + 30)
        alive *= 1 - p
        meter = ((meter + 30) * (1 - p - share) - fixed) / (1 - p)
    assert round(award) == mean


def test_no_mean_award_without_seed_rate_or_a_whole_award() -> None:
    """Not known, not payable as a whole, or eaten up by fixed pays: no figure."""
    whole = five(("royal-flush", ["100% meter"]), ("straight", ["$10 from meter"]))
    tenth = five(("royal-flush", ["10% meter"]))
    assert sheet(whole).meters["main"].mean_award_cents is None
    assert sheet(whole, seeds={"main": 1}).meters["main"].mean_award_cents is None
    assert sheet(whole, seeds={"main": 1}, increments_ppm={"main": 1}).meters["main"].mean_award_cents is None
    assert sheet(tenth, seeds={"main": 1}, increments_ppm={"main": 1}).meters["main"].mean_award_cents is None


def test_break_even_meter_of_a_published_table() -> None:
    """Three Card Poker 1: 12,020 of 22,100 come back from the fixed pays; one hand wins the meter: $10,080."""
    found = sheet("co/three-card-poker/progressive-1")
    assert Fraction(12_020, 22_100) == found.fixed_return
    assert (Fraction(1, 22_100), 1_008_000) == (
        found.meters["main"].share_probability,
        found.meters["main"].break_even_cents,
    )
    assert 1 - Fraction(12_020 + 1_000, 22_100) == found.house_edge_at_seed


def test_break_even_is_rounded_down_and_reckons_other_levels_at_seed() -> None:
    """100 % of one level at 40 in 2,598,960 and of another, at $3,000.07, at 624."""
    table = five(("straight-flush", ["100% mega"]), ("four-of-a-kind", ["100% minor"]))
    assert {"mega": None, "minor": None} == {
        level: meter.break_even_cents for level, meter in sheet(table).meters.items()
    }
    known = sheet(table, seeds={"minor": 300_007}).meters
    exact = (100 - Fraction(300_007 * 624, 2_598_960)) * Fraction(2_598_960, 40)
    assert (int(exact), None) == (known["mega"].break_even_cents, known["minor"].break_even_cents)
    assert exact > int(exact)


def test_fixed_sums_from_a_meter_are_paid_in_full_whatever_it_holds() -> None:
    """What the meter lacks the house adds, so that the sum counts whole, at the seed and for the break-even meter.

    Three cards: 48 of 22,100 deals take $460 from a meter of $1, 52 take the meter: 100.14 % of the wager come back.
    """
    table = little_table("three-card", "own_cards = 3", ("straight-flush", ""), ("triple", "three-of-a-kind"))
    taken = Pay(PayKind.FIXED, cents=46_000, from_meter=True)
    pays = ((taken,), (Pay(PayKind.METER_PERCENT, percent_ppm=1_000_000),))
    rows = tuple(replace(row, pays=each) for row, each in zip(table.rows, pays, strict=True))
    found = sheet(replace(table, rows=rows), seeds={"main": 100}, increments_ppm={"main": 999_999})
    assert Fraction(48 * 460, 22_100) == found.from_meter_return
    assert 1 - Fraction(48 * 460 + 52, 22_100) == found.house_edge_at_seed
    assert (1 - Fraction(48 * 460, 22_100)) * 100 * 22_100 // 52 == found.meters["main"].break_even_cents
    assert found.meters["main"].mean_award_cents is None


def test_a_table_that_takes_only_fixed_sums_needs_no_seed() -> None:
    """There is no share to reckon: the edge is known, the meter breaks even nowhere or at once."""
    found = sheet(five(("straight", ["$2 from meter"])))
    assert 1 - 2 * found.rows[0].probability == found.house_edge_at_seed
    assert found.meters["main"].break_even_cents is None
    royal, straight = ("royal-flush", ["100% meter"]), ("straight", ["$10,000 from meter"])
    assert 0 == sheet(five(royal, straight)).meters["main"].break_even_cents
    assert 0 == sheet(five(("pair", ["9 for 1"]), royal)).meters["main"].break_even_cents


def test_the_edge_of_a_printed_table_with_sums_from_the_meter() -> None:
    """Texas Hold'em Bonus 6 for $5, at a seed of $1,000: 36.2376 % come back as fixed sums, 0.0585 % as shares."""
    found = sheet("co/texas-holdem-bonus/thbp-6", seeds={"main": 100_000})
    shares = found.meters["main"].share_probability * 100_000 / paytable("co/texas-holdem-bonus/thbp-6").wager_cents
    assert 1 - (found.fixed_return or 0) - (found.from_meter_return or 0) - shares == found.house_edge_at_seed
    assert "0.637039" == f"{float(found.house_edge_at_seed or 0):.6f}"


def test_the_wager_comes_back_once() -> None:
    """250 to 1 beside the meter gives the wager back once, 250 for 1 never, and never where the table keeps it."""
    odds, pair = ["100% meter", "250 to 1"], sheet(five(("pair", ["push"]))).rows[0].probability
    assert 251 * pair == sheet(five(("pair", odds))).fixed_return
    assert 250 * pair == sheet(five(("pair", odds), keys="original_wager_returned = false")).fixed_return
    assert 271 * pair == sheet(five(("pair", ["250 to 1", "$20"]))).fixed_return
    assert Fraction(5, 2) * pair == sheet(five(("pair", ["2.5 for 1"]))).fixed_return
    assert pair == sheet(five(("pair", ["push"]))).fixed_return
    assert 20 * pair == sheet(five(("pair", ["$100"]), keys="wager_cents = 500")).fixed_return


def test_a_loss_is_no_row_and_what_is_left_loses() -> None:
    """A printed loss counts with the hands that hold no row, so that all chances sum to one."""
    found = sheet(five(("pair", ["loss"]), ("high-card", ["1 to 1"])))
    assert [("high-card", 1_302_540)] == [(row.hand, row.count) for row in found.rows]
    assert 1 == found.rows[0].probability + (found.lose_probability or 0)


def test_envy_of_one_other_player() -> None:
    """$100 and $25 at 1 and 3 in 22,100, per dollar; nothing where the dealer gets it, nor in the house edge."""
    table = paytable("co/three-card-poker/progressive-1")
    assert Fraction(175, 22_100) == sheet(table).envy_return_per_other_player
    to_dealer = replace(table, envy_to="dealer")
    assert (0, sheet(table).house_edge_at_seed) == (
        sheet(to_dealer).envy_return_per_other_player,
        sheet(to_dealer).house_edge_at_seed,
    )


def test_a_level_that_the_table_lacks_is_refused() -> None:
    """With the levels there are; likewise decks and wheels that the table does not know."""
    with pytest.raises(NoParSheet, match="no level 'grand'; its levels: mega, major, minor"):
        sheet("co/nexus/pmg-ml-02", seeds={"grand": 1})
    with pytest.raises(NoParSheet, match="printed for 4, 5, 6, 7, 8 decks, not for 3"):
        parsheet(paytable("co/21-plus-3/standard"), decks=3, cached=universe_text)
    with pytest.raises(NoParSheet, match="printed for 1 deck, not for 8"):
        parsheet(paytable("co/bet-the-set-21/bts-01"), decks=8, cached=universe_text)
    with pytest.raises(NoParSheet, match="printed for 6 decks, not for 4"):
        parsheet(paytable("co/royal-match-21/progressive-2"), decks=4, cached=universe_text)
    with pytest.raises(NoParSheet, match="printed for 1 deck, not for 8"):
        parsheet(paytable("co/ultimate-texas-holdem/ultimate-pairs-1"), decks=8, cached=universe_text)
    with pytest.raises(NoParSheet, match="'main': a seed or an increment is not below zero"):
        sheet("co/three-card-poker/progressive-1", seeds={"main": -500})
    with pytest.raises(NoParSheet, match="not about a roulette wheel"):
        parsheet(paytable("co/three-card-poker/progressive-1"), wheel="single-zero", cached=universe_text)
    with pytest.raises(NoParSheet, match="9 decks: a shoe holds 1 to 8"):
        parsheet(paytable("co/blazing-sevens/b7p1"), decks=9, cached=universe_text)
    with pytest.raises(NoParSheet, match="not dealt from a shoe"):
        parsheet(paytable("co/nexus/pmg-ml-02"), decks=1, cached=universe_text)
    with pytest.raises(NoParSheet, match="there is no wheel 'triple-zero'"):
        parsheet(paytable("co/roulette/odds"), wheel="triple-zero", cached=universe_text)


def test_a_hand_that_is_drawn_to_has_no_par_sheet() -> None:
    """The row is named; a row about the first two cards, or about a blackjack, is fixed however the hand goes on."""
    drawn = "own_cards = 2, own_dealt = 21, dealer_cards = 1, dealer_dealt = 21"
    fixed = little_table("shoe", drawn, ("pair", "pair first:2"), ("blackjack", "any blackjack up:A"))
    assert 13 * 6 * 50 == next(row.count for row in sheet(fixed).rows if row.hand == "pair")
    for match, why in (
        ("any total:21", "'row' looks at the player's whole hand"),
        ("any of:dealer bust", "'row' looks at the dealer's whole hand"),
        ("any beats-dealer", "'row' looks at the dealer's hand against the player's"),
    ):
        with pytest.raises(NoParSheet, match=why):
            sheet(little_table("shoe", drawn, ("row", match)))


def test_the_game_is_named_where_it_makes_a_difference() -> None:
    """Two own cards and the flop, or three and two: a pair in hand is not as likely, a pair at all is."""
    table = little_table(
        "five-card", "own_cards = 2, community_cards = 3", ("pocket", "pair first:2"), ("pair", "pair")
    )
    stud = replace(table.games[0], name="stud", own_cards=3, community_cards=2)
    both = replace(table, games=(*table.games, stud))
    assert ("", "as dealt in little") == (sheet(table).note, sheet(both).note)
    anywhere = replace(both, rows=both.rows[1:])
    assert "" == sheet(anywhere).note
