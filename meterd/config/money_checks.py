"""Cross checks of links and levels: rates, limits, and the site file against the printed pay table.

Source of the rules: money rules M2. Each check reads what is there and stays silent about what the shapes reported.
"""

from __future__ import annotations

from typing import Any, Final

from meterd.accounting.caps import smallest_cap
from meterd.accounting.steps import misfit
from meterd.config.envy_checks import check_common, check_envy
from meterd.config.findings import Node, all_named, check_unique, nearest
from meterd.config.site import Catalogue
from meterd.money import PPM_PER_WHOLE, format_cents, format_rate
from meterd.paytables.model import PayKind, PayTable

#: Stands for "printed N/A" in a pay table's ``reserve_ppm``: the table says that there is no reserve.
RESERVE_NOT_APPLICABLE: Final = -1


def check_links(root: Node, catalogue: Catalogue) -> None:
    """Note everything about ``[[link]]`` that single values cannot show."""
    for link in root.nodes("link"):
        levels = list(link.nodes("level"))
        check_unique(levels, "name", "level")
        _check_rates(link, levels)
        for level in levels:
            _check_limit(level)
            _check_overflow(level, levels)
        wanted = link.text("paytable")
        paytable = catalogue.paytables.get(wanted) if wanted is not None else None
        if paytable is not None:
            _check_levels_paid(link, levels, paytable)
            _check_printed(link, levels, paytable)
            _check_modes(link, levels, paytable)
            _check_wager(link, paytable)
            _check_steps(link, paytable, catalogue)
            check_common(levels, paytable)
            check_envy(link, levels, paytable)
        elif wanted is not None:
            link.finding("paytable", f'there is no pay table "{wanted}"', nearest(wanted, catalogue.paytables))


def check_caps(root: Node, catalogue: Catalogue) -> None:
    """Note aggregate limits of tables below the smallest wager at the highest odds (CO 47.1-1047(1))."""
    links = {link.text("id"): link for link in root.nodes("link")}
    for table in root.nodes("table"):
        link = links.get(table.text("link"))
        chip = table.number("lowest_chip_cents") or 1
        wager = link.number("wager_cents") if link is not None else None
        paytable = catalogue.paytables.get(link.text("paytable") or "") if link is not None else None
        if wager is None or paytable is None:
            continue
        least = smallest_cap(paytable, table.text("game") or "", wager, chip)
        if table.number("tip_cap_cents") == 0:
            table.finding("tip_cap_cents", 'a limit on tips is a cent at least; none is "none"')
        for key in ("player_cap_cents", "table_cap_cents"):
            cents = table.number(key)
            if cents is not None and cents < least:
                table.finding(
                    key, f"below {format_cents(least)}, which the smallest wager pays at the highest odds of the table"
                )


def check_chips(root: Node, catalogue: Catalogue) -> None:
    """Note tables of craps whose wager cannot lie in chips of the lowest denomination (CO 47.1-2306(4))."""
    links = {link.text("id"): link for link in root.nodes("link")}
    for table in root.nodes("table"):
        link = links.get(table.text("link"))
        paytable = catalogue.paytables.get(link.text("paytable") or "") if link is not None else None
        chip, wager = table.number("lowest_chip_cents"), link.number("wager_cents") if link is not None else None
        if paytable is None or paytable.kind != "craps" or not chip or wager is None:
            continue
        if wager % chip:
            table.finding(
                "lowest_chip_cents",
                f"a wager of {format_cents(wager)} is no whole number of chips of {format_cents(chip)}",
            )


def _check_rates(link: Node, levels: list[Node]) -> None:
    """No wager can feed more than itself into its meters."""
    total = 0
    for level in levels:
        mine = (level.number("increment_ppm") or 0) + (level.number("reserve_ppm") or 0)
        total += mine
        if mine > PPM_PER_WHOLE and max(level.number("increment_ppm") or 0, level.number("reserve_ppm") or 0) <= (
            PPM_PER_WHOLE
        ):
            level.finding("increment_ppm", f"increment and reserve are {format_rate(mine)} of a wager: at most 100%")
    if total > PPM_PER_WHOLE and len(levels) > 1:
        link.finding("level", f"the levels take {format_rate(total)} of each wager together: at most 100%")


def _check_limit(level: Node) -> None:
    """A limit and what happens above it come together; a limit is never below the seed."""
    limit, overflow, seed = level.number("limit_cents"), level.text("overflow"), level.number("seed_cents")
    if limit is not None and seed is not None and limit < seed:
        level.finding("limit_cents", f"the limit {format_cents(limit)} is below the seed {format_cents(seed)}")
    if limit is not None and overflow == "none":
        level.finding("overflow", 'a limit needs "next_meter", "house" or "level:NAME" for what arrives above it')
    overflows = overflow in {"next_meter", "house"} or _overflow_target(level) is not None
    if level.text("limit_cents") == "none" and overflows:
        level.finding("overflow", 'without a limit nothing overflows: expected "none"')


def _check_overflow(level: Node, levels: list[Node]) -> None:
    """``level:NAME`` names another level of the link, and the chain ends somewhere."""
    targets = {each.text("name"): _overflow_target(each) for each in levels}
    name, target = level.text("name"), _overflow_target(level)
    if target is None or not all_named(levels, "name"):
        return
    others = [each for each in targets if each is not None and each != name]
    if target == name:
        level.finding("overflow", "a level cannot overflow into itself")
    elif target not in others:
        level.finding("overflow", f'the link has no level "{target}"', _prefixed(nearest(target, others)))
    else:
        chain = {name}
        step: str | None = target
        while step is not None and step not in chain:
            chain.add(step)
            step = targets.get(step)
        if step == name:
            level.finding("overflow", "the overflow goes in a circle and would never come to rest")


def _overflow_target(level: Node) -> str | None:
    overflow = level.text("overflow")
    return overflow.removeprefix("level:") if overflow is not None and overflow.startswith("level:") else None


def _prefixed(name: str | None) -> str | None:
    return None if name is None else f"level:{name}"


def _check_levels_paid(link: Node, levels: list[Node], paytable: PayTable) -> None:
    """Every level that a row pays from exists, and every level is paid from by a row."""
    names = [name for level in levels if (name := level.text("name")) is not None]
    lacking = [wanted for wanted in paytable.levels if wanted not in names]
    for level in levels:
        name = level.text("name")
        if name is not None and name not in paytable.levels:
            near = nearest(name, lacking or paytable.levels) or (lacking[0] if len(lacking) == 1 else None)
            lacking = [wanted for wanted in lacking if wanted != near]  # misnamed is one finding, not two
            level.finding("name", f'no row of "{paytable.id}" pays from level "{name}"', near)
    for wanted in lacking if len(names) == len(levels) else ():
        hands = ", ".join(_hands_paying(paytable, wanted)[:3])
        link.finding("level", f'"{paytable.id}" pays {hands} from level "{wanted}", which the link lacks')


def _hands_paying(paytable: PayTable, level: str) -> list[str]:
    return [
        row.hand
        for row in paytable.rows
        for pay in row.pays
        if (pay.kind is PayKind.METER_PERCENT or pay.from_meter) and (pay.level or "main") == level
    ]


def _check_printed(link: Node, levels: list[Node], paytable: PayTable) -> None:
    """A figure the pay table prints stands in the site file as printed, the seed in step with the wager.

    A table prints one seed and one rate, so this is known only where the table has a single level.
    """
    if len(paytable.levels) != 1 or len(levels) != 1:
        return
    level = levels[0]
    _check_printed_seed(link, level, paytable)
    rate = level.number("increment_ppm")
    if paytable.increment_ppm is not None and rate is not None and rate != paytable.increment_ppm:
        _differs(level, "increment_ppm", format_rate(paytable.increment_ppm), format_rate(rate))
    _check_printed_reserve(level, paytable)


def _check_printed_seed(link: Node, level: Node, paytable: PayTable) -> None:
    wager, seed = link.number("wager_cents"), level.number("seed_cents")
    if paytable.seed_cents is None or wager is None or seed is None:
        return
    printed = format_cents(paytable.seed_cents)
    if not paytable.seed_scales:
        if seed != paytable.seed_cents:
            _differs(level, "seed_cents", printed, format_cents(seed))
        return
    scaled, rest = divmod(paytable.seed_cents * wager, paytable.wager_cents)
    words = f"{printed} for each {format_cents(paytable.wager_cents)} wagered"
    if rest:
        link.finding("wager_cents", f"the seed is printed as {words}: no whole cents for this wager")
    elif seed != scaled:
        _differs(level, "seed_cents", f"{words}, so {format_cents(scaled)} here", format_cents(seed))


def _check_printed_reserve(level: Node, paytable: PayTable) -> None:
    raw: Any = level.value("reserve_ppm")
    if paytable.reserve_ppm is None or not (raw == "none" or type(raw) is int):
        return
    here = '"none"' if raw == "none" else format_rate(raw)
    if paytable.reserve_ppm == RESERVE_NOT_APPLICABLE:
        if raw != "none":
            _differs(level, "reserve_ppm", 'N/A, so "none" here', here)
    elif raw != paytable.reserve_ppm:
        _differs(level, "reserve_ppm", format_rate(paytable.reserve_ppm), here)


def _differs(level: Node, key: str, printed: str, here: str) -> None:
    level.finding(key, f"PRINTED_FIGURE_DIFFERS: the pay table prints {printed}; the site file says {here}")


def _check_modes(link: Node, levels: list[Node], paytable: PayTable) -> None:
    """What a level may be set to, given what its rows pay."""
    approved = link.text("approval") is not None
    fixed = {pay.level or "main" for row in paytable.rows for pay in row.pays if pay.from_meter}
    in_colorado = any(source.jurisdiction == "CO" for source in paytable.sources)
    only_one = any(source.jurisdiction == "CO" and source.rule in RESET_PRINTED for source in paytable.sources)
    for level in levels:
        if level.text("floor") == "none" and level.text("name") in fixed and not approved:
            level.finding(
                "floor", 'rows pay fixed amounts from this meter: expected "seed", or an approval for the link'
            )
        _check_reset(level, in_colorado=in_colorado, only_one=only_one, approved=approved)


#: The rules that print what a reset is, and leave no other (R69).
RESET_PRINTED: Final = frozenset({"47.1-1099.11", "47.1-2110"})


def _check_reset(level: Node, *, in_colorado: bool, only_one: bool, approved: bool) -> None:
    if not in_colorado or level.text("reset") not in {"reserve_funds_seed", "larger_of"}:
        return
    if only_one:
        printed = "CO 47.1-1099.11(10)(j), 2110(16)"
        level.finding("reset", f'the rule prints one reset, "seed_plus_reserve" ({printed}): no approval changes it')
    elif not approved:
        level.finding(
            "reset",
            'Colorado prints "seed_plus_reserve" (CO 47.1-1099.11(10)(j)): another mode needs an approval',
        )


def _check_steps(link: Node, paytable: PayTable, catalogue: Catalogue) -> None:
    """Pay tables for larger bets are known and go together with the link's own (CO 47.1-899.16(10))."""
    steps, wager = link.texts("steps"), link.number("wager_cents")
    known = [catalogue.paytables[step] for step in steps if step is not None and step in catalogue.paytables]
    for index, step in enumerate(steps):
        if step is not None and step not in catalogue.paytables:
            link.finding(("steps", index), f'there is no pay table "{step}"', nearest(step, catalogue.paytables))
    problem = misfit(paytable, known, wager) if wager is not None and len(known) == len(steps) else None
    if problem is not None:
        link.finding("steps", problem)


#: The house maximum of a wager in Colorado (CO 47.1-899.11(1) and parallels; R4).
MOST_WAGER_CENTS: Final = 100_00


def _check_wager(link: Node, paytable: PayTable) -> None:
    """A wager within the house maximum, and one that the print allows where it fixes them (R4, R9)."""
    wager, units = link.number("wager_cents"), link.number("units_max")
    if wager is None or units is None:
        return
    in_colorado = any(source.jurisdiction == "CO" for source in paytable.sources)
    if in_colorado and wager * units > MOST_WAGER_CENTS and link.text("approval") is None:
        key = "units_max" if wager <= MOST_WAGER_CENTS else "wager_cents"
        most = format_cents(MOST_WAGER_CENTS)
        link.finding(
            key,
            f"a seat could bet {format_cents(wager * units)}: the house maximum is at most {most} in Colorado "
            "(CO 47.1-899.11(1)), more needs an approval",
        )
    fixed = paytable.wagers_allowed_cents
    words = " or ".join(format_cents(each) for each in fixed)
    if fixed and wager not in fixed:
        link.finding("wager_cents", f"the pay table prints a fixed wager of {words}")
    elif fixed and units > 1:
        link.finding("units_max", f"the pay table prints a fixed wager of {words}: one unit a seat")
