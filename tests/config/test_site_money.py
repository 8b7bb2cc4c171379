"""Links and levels: what no single value of a site file shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from meterd.accounting.settings import NumbersFrom
from meterd.accounting.steps import misfit
from meterd.config import Catalogue, Finding, Site
from meterd.paytables.model import Game, Pay, PayKind, PayTable, Row, Source

Findings = Callable[..., tuple[Finding, ...]]
TCP = "co/three-card-poker/progressive-1"

#: The level of the second link, and what its lines say in the sample.
MAIN = "link[1].level[0]"
MAIN_AT = 'name = "main"                       # the level of a pay table that names none\nseed_cents = 100_000 '


def with_table(catalogue: Catalogue, **changes: object) -> Catalogue:
    """The catalogue with the sample's second pay table changed."""
    paytable = replace(catalogue.paytables[TCP], **changes)  # type: ignore[arg-type]
    return catalogue._replace(paytables={**catalogue.paytables, TCP: paytable})


def in_main(old: str, new: str, sample: str) -> tuple[str, str]:
    """An edit of the second link's level."""
    tail = sample[sample.index('id = "tcp-1"') :]
    tail = tail[: tail.index("# ---- tables")]
    assert old in tail, old
    return tail, tail.replace(old, new, 1)


def only(found: tuple[Finding, ...]) -> tuple[str, str, str | None]:
    (one,) = found
    return one.key, one.message, one.nearest


def test_a_wager_cannot_feed_more_than_itself(findings: Findings) -> None:
    """Increment and reserve of one level, and of all levels of a link together, are at most 100 % of a wager."""
    key, message, _ = only(findings(("increment_ppm = 120_000", "increment_ppm = 910_000")))
    assert ("link[0].level", True) == (key, "103%" in message)
    found = findings(("increment_ppm = 120_000", "increment_ppm = 980_000"))
    assert ["link[0].level[0].increment_ppm", "link[0].level"] == [
        each.key for each in sorted(found, key=lambda each: -len(each.key))
    ]


def test_exactly_all_of_a_wager_is_allowed(site: Callable[..., Site]) -> None:
    """12 + 3 + 5 + 4 % with the mega raised by 76 % is 100 %."""
    loaded = site(("increment_ppm = 120_000", "increment_ppm = 880_000"))
    levels = loaded.links[0].levels
    assert 1_000_000 == sum(level.increment_ppm + (level.reserve_ppm or 0) for level in levels)


def test_no_reserve_is_not_a_reserve_of_zero(site: Callable[..., Site]) -> None:
    """``"none"`` and 0 stay apart all the way into the settings."""
    assert 0 == site(("reserve_ppm = 30_000", "reserve_ppm = 0")).links[0].levels[0].reserve_ppm
    assert site(("reserve_ppm = 30_000", 'reserve_ppm = "none"')).links[0].levels[0].reserve_ppm is None


@pytest.mark.parametrize(
    ("edits", "key", "words"),
    [
        ([("limit_cents = 10_000_000", "limit_cents = 499_999")], "limit_cents", "below the seed 5,000.00"),
        ([('overflow = "level:mega"', 'overflow = "none"')], "overflow", "a limit needs"),
        ([("limit_cents = 10_000_000", 'limit_cents = "none"')], "overflow", "without a limit nothing overflows"),
        ([('overflow = "level:mega"', 'overflow = "level:major"')], "overflow", "into itself"),
    ],
)
def test_a_limit_and_its_overflow_come_together(
    edits: list[tuple[str, str]], key: str, words: str, findings: Findings
) -> None:
    """A limit is not below the seed, names where the rest goes, and without a limit nothing overflows."""
    found_key, message, _ = only(findings(*edits))
    assert (f"link[0].level[1].{key}", True) == (found_key, words in message)


def test_an_overflow_into_an_unknown_level_names_the_nearest(findings: Findings) -> None:
    """The target is another level of the same link."""
    key, _, near = only(findings(('overflow = "level:mega"', 'overflow = "level:mga"')))
    assert ("link[0].level[1].overflow", "level:mega") == (key, near)


def test_an_overflow_that_goes_in_a_circle_is_refused(findings: Findings) -> None:
    """Major into mega and mega into major would pass a cent for ever."""
    found = findings(
        ('limit_cents = "none"\noverflow = "none"', 'limit_cents = 9_000_000\noverflow = "level:major"'),
    )
    assert ["link[0].level[0].overflow", "link[0].level[1].overflow"] == [each.key for each in found]
    assert all("circle" in each.message for each in found)


def test_every_paid_level_exists_and_every_level_is_paid(findings: Findings) -> None:
    """A misspelt level is one mistake, whatever its name is like; a level too few is told where the levels stand."""
    for wrong in ("megga", "zzz"):
        found = {each.key: each for each in findings(('name = "mega"', f'name = "{wrong}"'))}
        assert "mega" == found["link[0].level[0].name"].nearest
        assert "link[0].level" not in found
    one_too_few = findings(('name = "mega"', 'name = "major"'), ('name = "major"\n', 'name = "minor"\n'))
    lacking = next(each for each in one_too_few if each.key == "link[0].level")
    assert 'pays royal-flush from level "mega", which the link lacks' in lacking.message


@pytest.mark.parametrize(
    ("old", "new", "key", "printed"),
    [
        ("seed_cents = 100_000", "seed_cents = 200_000", "seed_cents", "1,000.00 for each 1.00 wagered"),
        ("increment_ppm = 200_000", "increment_ppm = 180_000", "increment_ppm", "20%"),
        ("reserve_ppm = 40_000", "reserve_ppm = 0", "reserve_ppm", "4%"),
        ("reserve_ppm = 40_000", 'reserve_ppm = "none"', "reserve_ppm", "4%"),
    ],
)
def test_a_printed_figure_is_kept(
    old: str, new: str, key: str, printed: str, findings: Findings, catalogue: Catalogue, sample: str
) -> None:
    """Where the pay table prints a seed or rate, the site file says the same, or PRINTED_FIGURE_DIFFERS."""
    table = with_table(catalogue, increment_ppm=200_000, reserve_ppm=40_000)
    found_key, message, _ = only(findings(in_main(old, new, sample), catalogue=table))
    assert f"{MAIN}.{key}" == found_key
    assert message.startswith("PRINTED_FIGURE_DIFFERS")
    assert printed in message


def test_a_printed_seed_follows_the_wager(
    site: Callable[..., Site], findings: Findings, catalogue: Catalogue, sample: str
) -> None:
    """$1,000 for $1 is $5,000 for $5, and stays $1,000 where the table says that it does not scale."""
    wager = in_main("wager_cents = 100", "wager_cents = 500", sample)
    key, message, _ = only(findings(wager))
    assert (f"{MAIN}.seed_cents", True) == (key, "5,000.00 here" in message)
    both = (wager[0], wager[1].replace("seed_cents = 100_000", "seed_cents = 500_000"))
    assert 500_000 == site(both).links[1].levels[0].seed_cents
    fixed = with_table(catalogue, seed_scales=False)
    assert 100_000 == site(wager, catalogue=fixed).links[1].levels[0].seed_cents
    key, message, _ = only(findings(both, catalogue=fixed))
    assert (f"{MAIN}.seed_cents", True) == (key, "prints 1,000.00; the site file says 5,000.00" in message)


def test_a_seed_without_whole_cents_is_refused(findings: Findings, catalogue: Catalogue, sample: str) -> None:
    """A seed printed for a $3 wager has no whole cents at $1."""
    key, message, _ = only(findings(catalogue=with_table(catalogue, wager_cents=300)))
    assert ("link[1].wager_cents", True) == (key, "no whole cents" in message)


def test_a_reserve_printed_as_not_applicable_is_none(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """N/A agrees with "none" alone, not with 0."""
    table = with_table(catalogue, reserve_ppm=-1)
    for value in ("40_000", "0"):
        key, message, _ = only(findings(in_main("40_000", value, sample), catalogue=table))
        assert (f"{MAIN}.reserve_ppm", True) == (key, "N/A" in message)
    assert site(in_main("40_000", '"none"', sample), catalogue=table).links[1].levels[0].reserve_ppm is None


def test_a_common_outcome_cannot_be_paid_in_sequence(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """Where all seats win together, the order of keying must not decide: TIES_ORDER_DECIDES."""
    table = with_table(catalogue, common_outcome=True)
    key, message, _ = only(findings(catalogue=table))
    assert (f"{MAIN}.ties", True) == (key, message.startswith("TIES_ORDER_DECIDES"))
    assert site(in_main('"sequential"', '"split"', sample), catalogue=table)


FIXED = PayTable(
    id=TCP, game="Made Up", wager="progressive", kind="progressive",
    sources=(Source("PA", "617b.0", "made up"),), basis="three cards", evaluator="three-card",
    games=(Game("three-card-poker", "three cards", 3),),
    rows=(
        Row("flush", "Flush", "100%", None, (Pay(PayKind.METER_PERCENT, percent_ppm=1_000_000),)),
        Row("pair", "Pair", "$5", None, (Pay(PayKind.FIXED, cents=500, from_meter=True),)),
    ),
)  # fmt: skip


def test_fixed_pays_from_a_meter_need_a_floor_or_an_approval(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """Otherwise small awards could empty the meter on the sign."""
    table = catalogue._replace(paytables={**catalogue.paytables, TCP: FIXED})
    key, message, _ = only(findings(catalogue=table))
    assert (f"{MAIN}.floor", True) == (key, 'expected "seed"' in message)
    assert site(in_main('floor = "none"', 'floor = "seed"', sample), catalogue=table)
    approved = site(in_main("units_max = 1", 'units_max = 1\napproval = "DOG 2026-114"', sample), catalogue=table)
    assert {"tcp-1": "DOG 2026-114"} == approved.approvals


def test_another_reset_than_the_printed_one_needs_an_approval(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """Colorado prints seed plus reserve; elsewhere the mode is the house's choice."""
    reset = in_main('"seed_plus_reserve"', '"larger_of"', sample)
    key, _, _ = only(findings(reset))
    assert f"{MAIN}.reset" == key
    assert site((reset[0], reset[1].replace("units_max = 1", 'units_max = 1\napproval = "x"', 1)))
    elsewhere = with_table(catalogue, sources=(Source("PA", "617b.4", "made up"),))
    assert site(reset, catalogue=elsewhere)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('id = "tcp-1"', 'id = "nexus-1"', "link[1].id"),
        ('name = "minor"', 'name = "major"', "link[0].level[2].name"),
        ('id = "LIR-2"', 'id = "LIR-1"', "table[1].id"),
        ('id = "keys-1"', 'id = "pit-1"', "bus[1].id"),
        ('id = "tcp-sign"', 'id = "pit-sign"', "sign[1].id"),
    ],
)
def test_a_name_stands_for_one_thing(old: str, new: str, key: str, findings: Findings) -> None:
    """A second link, level, table, bus or sign of the same name is a finding that names the first one's line."""
    (mine,) = [each for each in findings((old, new)) if each.key == key]
    assert "already" in mine.message


@pytest.mark.parametrize("cents", ["-1", "10_000_000_000_000_000_000"])
@pytest.mark.parametrize("key", ["cards_above_cents", "two_person_cents", "envy_confirm_above_cents"])
def test_a_threshold_is_an_amount_that_can_be(key: str, cents: str, sample: str, findings: Findings) -> None:
    """A threshold below nothing, or beyond all money, was meant as something else."""
    (line,) = (line for line in sample.splitlines() if line.startswith(f"{key} ="))
    assert only(findings((line, f"{key} = {cents}"))) == (
        f"site.{key}",
        f'expected a whole number of cents, or "none", found {int(cents)}'
        + (": the largest amount is 9_000_000_000_000" if int(cents) > 0 else ""),
        None,
    )


def test_what_a_site_permits_is_forbidden_where_nothing_is_said(site: Callable[..., Site], sample: str) -> None:
    """Seed recovery and release are asked for by name; without a word no award becomes unclaimed and no notice runs."""
    said = [
        line for line in sample.splitlines() if line.startswith(("seed_recovery", "release_to", "unclaimed", "disco"))
    ]
    settings = site(*((f"{line}\n", "") for line in said)).settings
    assert (False, False) == (settings.seed_recovery, settings.release_to_house)
    assert (None, 0) == (settings.unclaimed_days, settings.discontinue_notice_days)
    allowed = site((said[0], 'seed_recovery = "yes"'), (said[1], 'release_to_house = "yes"')).settings
    assert (True, True) == (allowed.seed_recovery, allowed.release_to_house)
    assert (120, 30) == (allowed.unclaimed_days, allowed.discontinue_notice_days)


def test_an_aggregate_limit_is_not_below_the_smallest_wager_at_the_highest_odds(
    site: Callable[..., Site], findings: Findings
) -> None:
    """CO 47.1-1047(1): $1 at 500 for 1 is $500 at this table."""
    table = 'id = "TCP-1"\n'
    assert only(findings((table, f"{table}table_cap_cents = 499_99\n"))) == (
        "table[3].table_cap_cents",
        "below 500.00, which the smallest wager pays at the highest odds of the table",
        None,
    )
    settings = site((table, f"{table}table_cap_cents = 500_00\nplayer_cap_cents = 600_00\n")).tables[3].settings
    assert (500_00, 600_00) == (settings.cap_table_cents, settings.cap_player_cents)


def test_a_limit_on_tips_is_a_cent_at_least(site: Callable[..., Site], findings: Findings) -> None:
    """CO 47.1-1047(7); without a word there is none."""
    table = 'id = "TCP-1"\n'
    assert "table[3].tip_cap_cents" == only(findings((table, f"{table}tip_cap_cents = 0\n")))[0]
    assert 1 == site((table, f"{table}tip_cap_cents = 1\n")).tables[3].settings.cap_tip_cents
    assert site().tables[3].settings.cap_tip_cents is None


def test_a_wager_of_craps_lies_in_whole_chips(
    site: Callable[..., Site], findings: Findings, catalogue: Catalogue
) -> None:
    """CO 47.1-2306(4): a $1 wager cannot lie in chips of $5; elsewhere than at craps the chip does not matter."""
    table = 'id = "TCP-1"\n'
    fives = (table, f"{table}lowest_chip_cents = 500\n")
    assert 500 == site(fives).tables[3].settings.lowest_chip_cents
    craps = with_table(catalogue, kind="craps")
    assert only(findings(fives, catalogue=craps)) == (
        "table[3].lowest_chip_cents",
        "a wager of 1.00 is no whole number of chips of 5.00",
        None,
    )


def test_the_source_of_a_tables_numbers_is_the_dealer_unless_said(site: Callable[..., Site]) -> None:
    """``numbers = "device"`` is a wheel that reports by itself."""
    table = 'id = "TCP-1"\n'
    assert NumbersFrom.DEALER is site().tables[3].settings.numbers
    assert NumbersFrom.DEVICE is site((table, f'{table}numbers = "device"\n')).tables[3].settings.numbers


def test_caribbean_stud_and_straight_jack_know_one_reset(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """R69: there the rule itself prints seed plus reserve, and no approval helps."""
    old, new = in_main('"seed_plus_reserve"', '"reserve_funds_seed"', sample)
    approved = (old, new.replace("units_max = 1", 'units_max = 1\napproval = "x"', 1))
    for rule in ("47.1-1099.11", "47.1-2110"):
        printed = with_table(catalogue, sources=(Source("CO", rule, "made up"),))
        key, message, _ = only(findings(approved, catalogue=printed))
        assert (f"{MAIN}.reset", True) == (key, "no approval changes it" in message)
    assert site(approved)


@pytest.mark.parametrize(("wager", "units", "key"), [(100_01, 1, "wager_cents"), (50_00, 3, "units_max")])
def test_a_colorado_wager_is_at_most_a_hundred_dollars(
    wager: int, units: int, key: str, findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """R4 (CO 47.1-899.11(1) and parallels): wager times units, unless approved; elsewhere as the house likes."""
    old, _ = in_main("units_max = 1", "units_max = 1", sample)
    new = old.replace("wager_cents = 100", f"wager_cents = {wager}", 1)
    new = new.replace("units_max = 1", f"units_max = {units}", 1)
    new = new.replace("seed_cents = 100_000 ", f"seed_cents = {1000 * wager} ", 1)
    found, message, _ = only(findings((old, new)))
    assert (f"link[1].{key}", True) == (found, "at most 100.00 in Colorado" in message)
    assert site((old, new.replace(f"units_max = {units}", f'units_max = {units}\napproval = "x"', 1)))
    assert site((old, new), catalogue=with_table(catalogue, sources=(Source("PA", "617b.4", "made up"),)))


def test_a_fixed_wager_is_the_printed_one_and_one_unit(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """R9 (CO 47.1-899.11(17), progressive table 2): a fixed $1 or $2."""
    fixed = with_table(catalogue, wagers_allowed_cents=(100, 200))
    assert site(catalogue=fixed)
    dearer = with_table(catalogue, wagers_allowed_cents=(200, 300))
    assert only(findings(catalogue=dearer)) == (
        "link[1].wager_cents",
        "the pay table prints a fixed wager of 2.00 or 3.00",
        None,
    )
    two = in_main("units_max = 1", "units_max = 2", sample)
    assert only(findings(two, catalogue=fixed))[0] == "link[1].units_max"
    assert (100, 200) == catalogue.paytables["co/royal-match-21/progressive-2"].wagers_allowed_cents


def test_pay_tables_for_larger_bets_go_together(
    findings: Findings, site: Callable[..., Site], catalogue: Catalogue, sample: str
) -> None:
    """R92 (CO 47.1-899.16(10)): same hands, same envy, ascending wagers, no meter; unknown names have a nearest one."""
    steps = in_main("units_max = 1", f'units_max = 1\nsteps = ["{TCP}"]', sample)
    assert only(findings(steps))[:2] == (
        "link[1].steps",
        f"{TCP} is printed for 100 cents, not for more than {TCP}",
    )
    unknown = in_main("units_max = 1", 'units_max = 1\nsteps = ["co/spanish-21/super-bonus-52"]', sample)
    assert only(findings(unknown))[2] == "co/spanish-21/super-bonus-5"
    five, more = (catalogue.paytables[f"co/spanish-21/super-bonus-{size}"] for size in (5, 25))
    assert misfit(five, [more], 500) is None
    assert "bets below the 500 cents" in (misfit(five, [more], 100) or "")
    assert "not for more than" in (misfit(more, [five], 2500) or "")
    dearer = replace(more, rows=tuple(replace(row, envy_cents=1) for row in more.rows))
    assert "other envy" in (misfit(five, [dearer], 500) or "")
    metered = replace(five, rows=tuple(replace(row, pays=(Pay(PayKind.METER_PERCENT, 10),)) for row in five.rows))
    assert "no meter" in (misfit(metered, [more], 500) or "")
