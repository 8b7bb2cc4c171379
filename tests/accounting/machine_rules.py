"""Random links for long histories: any number of levels and tables, any settings, told to the twin and to the rules.

``pick(n)`` gives a number below n; where it comes from (hypothesis, a seed) is the caller's. Imports nothing of meterd
but the forms in which settings are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from twin_caps import Limits
from twin_records import Level, Row, Rules
from twin_streak import StreakRules

from meterd.accounting.settings import (
    EnvyTo,
    EnvyTrigger,
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    Settlement,
    SplitHand,
    TableSettings,
    Ties,
)
from meterd.paytables.model import Game, Pay, PayKind, PayTable
from meterd.paytables.model import Row as PrintedRow

PPM = 1_000_000
Pick = Callable[[int], int]
#: Five cards of each hand, best first.
CARDS = {
    "royal-flush": "As Ks Qs Js Ts",
    "straight-flush": "9h 8h 7h 6h 5h",
    "four-of-a-kind": "8s 8h 8d 8c 2s",
    "full-house": "Kd Kc Kh 3s 3d",
    "flush": "Ac Jc 9c 4c 2c",
    "straight": "9s 8h 7d 6c 5s",
    "three-of-a-kind": "Qs Qh Qd 7c 2s",
    "two-pair": "Js Jh 4d 4c 9s",
    "pair": "Ts Th 8d 6c 3s",
    "high-card": "As Jh 9d 6c 3s",
}
T = TypeVar("T")

#: Shares of a wager that are easily rounded wrongly, in ppm.
RATES = (0, 1, 7, 23_750, 40_000, 99_999, 200_000, 333_333, 500_001)
SHARES = ("1", "1", "0.1", "0.25", "0.333333", "0.000001", "0.5")


def one(pick: Pick, options: Sequence[T]) -> T:
    return options[pick(len(options))]


@dataclass(frozen=True)
class FloorRules(StreakRules):
    """A link with the aggregate limits of its tables, and the thresholds of its site.

    ``ranked``: five cards make its hands; its rows are called like them, best first.
    """

    limits: tuple[tuple[str, int | None, int | None], ...] = ()
    cards_above: int | None = None
    two_person: int | None = None
    ranked: bool = False


def limits_of(link: Rules) -> Limits:
    found = link.limits if isinstance(link, FloorRules) else ()
    return {table: (player, whole) for table, player, whole in found if (player, whole) != (None, None)}


def random_rules(pick: Pick, name: str = "L", first_table: int = 1, tables: int | None = None) -> FloorRules:
    """One to four levels, one to twelve tables, rows of every kind of pay; one link in five is a wheel's."""
    names = ["mega", "major", "minor", "mini"][: 1 + pick(4)]
    count = tables or one(pick, [1, 1, 2, 2, 3, 4, 5, 6, 8, 12])
    longest = 0 if pick(5) else 2 + pick(4)
    names_of_tables = [f"T{first_table + n}" for n in range(count)]
    wager = one(pick, [100, 500, 1, 33, 2_500])
    least = max(1_000 * wager, 5_000)  # no odds here are higher, and no limit may be lower
    ranked = not longest and not pick(3)
    rows = _streaks(pick, names, longest) if longest else _rows(pick, names)
    if ranked:
        rows = dict(zip(CARDS, rows.values(), strict=False))
    return FloorRules(
        wager=wager,
        units_max=1 + pick(5),
        printed=one(pick, [100, 500, 7]),
        returned=bool(pick(2)),
        envy_scales=bool(pick(2)),
        levels=random_levels(pick, names),
        rows=rows,
        tables={table: (1 + pick(7), bool(pick(2))) for table in names_of_tables},
        confirm_above=one(pick, [0, 0, 300, 2_500]),
        name=name,
        longest=longest,
        split=one(pick, ["no-effect", "dead"]),
        trigger=one(pick, ["all", "all", "highest"]),
        envy_min=one(pick, [0, 0, 300]),
        envy_to=one(pick, ["players", "players", "dealer"]),
        board_triggers=bool(pick(2)),
        clockwise=bool(pick(2)),
        limits=tuple(
            (table, one(pick, [None, least]), one(pick, [None, least, least + 9_001]))
            for table in names_of_tables
            if not pick(4)
        ),
        cards_above=one(pick, [None, None, None, 0, 700, 9_000]),
        two_person=one(pick, [None, None, 0, 700, 9_000]),
        ranked=ranked,
        craps=not longest and not ranked and not pick(4),
        chips=tuple((table, one(pick, [5, 100, 500])) for table in names_of_tables if pick(3)),
    )


def _streaks(pick: Pick, names: list[str], longest: int) -> dict[str, Row]:
    """A row for every length but the first, which loses; the longest takes a meter."""
    rows = {f"streak-{longest}": Row((("percent", "1", one(pick, names)),), envy=one(pick, [0, 100]))}
    for length in range(2, longest):
        rows[f"streak-{length}"] = Row((_pay(pick, names), _pay(pick, [])), envy=one(pick, [0, 30]))
    return rows


def random_levels(pick: Pick, names: list[str]) -> dict[str, Level]:
    """Rates that leave the house something, or nothing at all."""
    left = PPM
    levels = {}
    for place, name in enumerate(names):
        rate = min(left, one(pick, RATES))
        left -= rate
        reserve = None if not pick(3) else min(left, one(pick, RATES))
        left -= reserve or 0
        if place == len(names) - 1 and not pick(4):
            rate, left = rate + left, 0  # 100 % in all
        levels[name] = _level(pick, names[place + 1 :], rate, reserve)
    return levels


def _level(pick: Pick, lower: list[str], rate: int, reserve: int | None) -> Level:
    seed = one(pick, [0, 1, 500, 1_000, 1_999])
    limit = one(pick, [None, None, seed, seed + 7, seed + 300, 2_050])
    limit = None if limit is None else max(limit, seed)
    ways = ["next_meter", "house", *(f"level:{name}" for name in lower)]
    return Level(
        seed=seed,
        rate=Fraction(rate, PPM),
        reserve=None if reserve is None else Fraction(reserve, PPM),
        reset=one(pick, list(ResetMode)).value,
        ties=one(pick, list(Ties)).value,
        floor=one(pick, list(Floor)).value,
        limit=limit,
        overflow=None if limit is None else one(pick, ways),
        share_scales=not pick(4),
    )


def _rows(pick: Pick, names: list[str]) -> dict[str, Row]:
    rows = {f"all-{name}": Row((("percent", "1", name),), envy=one(pick, [0, 100, 3])) for name in names}
    for number in range(2 + pick(6)):
        pays: list[tuple[object, ...]] = []
        for _ in range(1 + pick(3)):
            free = [name for name in names if all(name not in pay for pay in pays)]
            pays.append(_pay(pick, free))
        rows[f"row-{number}"] = Row(tuple(pays), envy=one(pick, [0, 0, 30, 250]))
    return rows


def _pay(pick: Pick, names: list[str]) -> tuple[object, ...]:
    kind = pick(8)
    if kind < 3 and names:
        return ("percent", one(pick, SHARES), one(pick, names))
    if kind < 5 and names:
        return ("meter", one(pick, [1, 500, 70_000]), one(pick, names), bool(pick(4)))
    if kind == 5:
        return ("to", 1 + pick(50), 1 + pick(6))
    if kind == 6:
        return one(pick, [("for", 1 + pick(50), 1 + pick(6)), ("for", 60, 1), ("to", 50, 1), ("push",)])
    return ("house", one(pick, [1, 199, 5_000]), bool(pick(2)))


# the same link, told to the real rules


def printed(hand: str, row: Row) -> PrintedRow:
    return PrintedRow(hand, hand, "", None, tuple(_printed(pay) for pay in row.pays), row.envy)


def _printed(pay: tuple[object, ...]) -> Pay:
    match pay:
        case ("percent", str(share), str(level)):
            return Pay(PayKind.METER_PERCENT, percent_ppm=int(Fraction(share) * PPM), level=level)
        case ("meter", int(cents), str(level), bool(scales)):
            return Pay(PayKind.FIXED, cents=cents, from_meter=True, level=level, scales=scales)
        case ("house", int(cents), bool(scales)):
            return Pay(PayKind.FIXED, cents=cents, scales=scales)
        case ("to", int(n), int(d)):
            return Pay(PayKind.ODDS_TO, n=n, d=d)
        case ("for", int(n), int(d)):
            return Pay(PayKind.ODDS_FOR, n=n, d=d)
        case _:
            return Pay(PayKind.PUSH)


def link_settings(link: Rules) -> LinkSettings:
    paytable = PayTable(
        id="xx/twin/one",
        game="twin",
        wager="progressive",
        kind="craps" if link.craps else "progressive",
        sources=(),
        basis="",
        evaluator=None,
        games=(),
        rows=tuple(printed(hand, row) for hand, row in link.rows.items()),
        wager_cents=link.printed,
        original_wager_returned=link.returned,
        envy_scales=link.envy_scales,
    )
    plain = LinkSettings(link.name, link.wager, link.units_max, paytable, level_settings(link))
    if not isinstance(link, FloorRules):
        return plain
    wheel = replace(paytable, evaluator="rising-streak", common_outcome=True)
    cards = replace(paytable, evaluator="five-card", games=(Game("stud", "", 5),))
    return replace(
        plain,
        paytable=wheel
        if link.longest
        else cards
        if link.ranked
        else replace(paytable, kind="craps")
        if link.craps
        else paytable,
        envy_trigger=EnvyTrigger(link.trigger),
        envy_min_cents=link.envy_min,
        envy_to=EnvyTo(link.envy_to),
        board_triggers=link.board_triggers,
        split=SplitHand(link.split),
    )


def level_settings(link: Rules) -> tuple[LevelSettings, ...]:
    return tuple(
        LevelSettings(
            name=name,
            seed_cents=level.seed,
            increment_ppm=int(level.rate * PPM),
            reserve_ppm=None if level.reserve is None else int(level.reserve * PPM),
            reset=ResetMode(level.reset),
            ties=Ties(level.ties),
            floor=Floor(level.floor),
            limit_cents=level.limit,
            overflow=None if level.limit is None else level.overflow,
            share_scales=level.share_scales,
        )
        for name, level in link.levels.items()
    )


def table_settings(link: Rules) -> list[TableSettings]:
    limits = limits_of(link)
    clockwise = isinstance(link, FloorRules) and link.clockwise
    chips = dict(link.chips)
    return [
        TableSettings(
            table,
            link.name,
            "twin",
            seats,
            folded_live=live,
            cap_player_cents=limits.get(table, (None, None))[0],
            cap_table_cents=limits.get(table, (None, None))[1],
            lowest_chip_cents=chips.get(table, 1),
            settlement=Settlement.CLOCKWISE if clockwise else Settlement.COUNTER_CLOCKWISE,
        )
        for table, (seats, live) in link.tables.items()
    ]
