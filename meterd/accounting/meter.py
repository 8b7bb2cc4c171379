"""The level: what the sign shows, what stands behind it, and the few ways in which it moves.

Rule 1: everything here is whole microcents; a share of a wager is exact (cents × ppm), so nothing is ever rounded in.
Rule 2: a verb changes the working ``LevelMoney`` and notes in ``moves`` what each account gained or lost.
Rule 3: nothing here knows of rounds, awards, seats' owners, devices or time.
Sources: level settings, LOCK contributions and reset order of the money rules (M2, M3, M4); CO 47.1-1099.11(10)(j).
Units: ``*_microcents``, ``*_cents``, ``*_ppm``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from meterd.accounting.landing import Landing
from meterd.accounting.numbers import by_numbers
from meterd.accounting.settings import Floor, LevelSettings, LinkSettings, ResetMode, Ties
from meterd.errors import MisuseError
from meterd.money import MICROCENTS_PER_CENT, PPM_PER_WHOLE
from meterd.paytables.model import Pay, PayKind, Row

REVENUE: Final = "house/revenue"
NEXT_METER: Final = "next_meter"
HOUSE: Final = "house"
LEVEL_PREFIX: Final = "level:"
_NO_LIMIT: Final = 1 << 80  # above any amount a 64-bit ledger can hold

Moves = dict[str, int]


@dataclass(frozen=True, slots=True)
class LevelRules:
    """One level's settings worked out once: its account names, its amounts in microcents, where overflow goes.

    ``spill_to`` is the level that takes the overflow, None where it goes to the next meter or the house.
    """

    name: str
    key: str
    meter: str
    reserve: str
    overflow: str
    seed: str
    seed_microcents: int
    increment_ppm: int
    reserve_ppm: int
    reset: ResetMode
    ties: Ties
    floor: Floor
    limit_microcents: int
    limited: bool
    overflow_to: str | None
    spill_to: str | None
    share_scales: bool

    @classmethod
    def of(cls, link: str, level: LevelSettings) -> LevelRules:
        """Work out one level of a link."""
        key = f"{link}/{level.name}"
        to = level.overflow
        limited = level.limit_cents is not None
        return cls(
            name=level.name,
            key=key,
            meter=f"meter/{key}",
            reserve=f"reserve/{key}",
            overflow=f"overflow/{key}",
            seed=f"house/seed/{key}",
            seed_microcents=level.seed_cents * MICROCENTS_PER_CENT,
            increment_ppm=level.increment_ppm,
            reserve_ppm=level.reserve_ppm or 0,
            reset=level.reset,
            ties=level.ties,
            floor=level.floor,
            limit_microcents=_NO_LIMIT if level.limit_cents is None else level.limit_cents * MICROCENTS_PER_CENT,
            limited=limited,
            overflow_to=to,
            spill_to=_spill_to(to),
            share_scales=level.share_scales,
        )

    def limited_to(self, limit_microcents: int | None, overflow_to: str | None) -> LevelRules:
        """The same level with another limit, None for none, and another way for what arrives above it."""
        return replace(
            self,
            limit_microcents=_NO_LIMIT if limit_microcents is None else limit_microcents,
            limited=limit_microcents is not None,
            overflow_to=overflow_to,
            spill_to=_spill_to(overflow_to),
        )


def _spill_to(overflow: str | None) -> str | None:
    """The level an overflow goes to, None where it goes to the next meter or the house."""
    return overflow.removeprefix(LEVEL_PREFIX) if overflow is not None and overflow.startswith(LEVEL_PREFIX) else None


@dataclass(frozen=True, slots=True)
class LinkRules:
    """A link worked out once. ``only_level``: meant where a pay names none; ``numbers``: spins decide, not cards."""

    id: str
    settings: LinkSettings
    wager_cents: int
    units_max: int
    levels: Mapping[str, LevelRules]
    rows: Mapping[str, Row]
    only_level: str | None
    numbers: bool = False

    @classmethod
    def of(cls, link: LinkSettings) -> LinkRules:
        """Work out a link.

        Raises:
            MisuseError: settings that the configuration must have refused before: a row paying from a level the
                link lacks, a limit without an overflow, an overflow to an unknown level or in a circle. Rates are no
                matter of the fold: see :func:`check_rates`.
        """
        levels = {level.name: LevelRules.of(link.id, level) for level in link.levels}
        rules = cls(
            id=link.id,
            settings=link,
            wager_cents=link.wager_cents,
            units_max=link.units_max,
            levels=levels,
            rows={row.hand: row for row in map(link.paytable.rows.__getitem__, link.paytable.trial_order)},
            only_level=next(iter(levels)) if len(levels) == 1 else None,
            numbers=by_numbers(link.paytable),
        )
        _check_rows(rules)
        _check_overflow(levels)
        return rules

    def level_named(self, name: str | None) -> LevelRules:
        """The level a pay speaks of; None is the link's only one."""
        found = self.levels.get(name or self.only_level or "")
        if found is None:
            raise MisuseError(f"link {self.id} has no level {name!r} to pay from")
        return found


def share_of(rules: LinkRules, level: LevelRules, pay: Pay, units: int) -> tuple[int, int]:
    """A percent pay as a share and the whole it is a share of; with ``share_scales`` five units take more than one."""
    if level.share_scales:
        return pay.percent_ppm * units, PPM_PER_WHOLE * rules.units_max
    return pay.percent_ppm, PPM_PER_WHOLE


def _check_rows(rules: LinkRules) -> None:
    for row in rules.rows.values():
        for pay in row.pays:
            if pay.kind is PayKind.METER_PERCENT or (pay.kind is PayKind.FIXED and pay.from_meter):
                rules.level_named(pay.level)


def check_rates(rules: LinkRules) -> None:
    """Refuse rates that take more than the whole wager, where a link is put in force; one that is in a ledger stays.

    Raises:
        MisuseError: the configuration must have refused them before.
    """
    taken = sum(level.increment_ppm + level.reserve_ppm for level in rules.levels.values())
    if taken > PPM_PER_WHOLE:
        raise MisuseError(f"link {rules.id}: its rates take {taken} millionths of a wager, more than all of it")


def _check_overflow(levels: Mapping[str, LevelRules]) -> None:
    for level in levels.values():
        if level.limited != (level.overflow_to is not None):
            raise MisuseError(f"level {level.key}: a limit needs an overflow, and an overflow a limit")
        seen = {level.name}
        step = level
        while step.spill_to is not None:
            if step.spill_to not in levels or step.spill_to in seen:
                raise MisuseError(f"level {level.key}: overflow to level {step.spill_to!r}, unknown or in a circle")
            seen.add(step.spill_to)
            step = levels[step.spill_to]


@dataclass(slots=True)
class LevelMoney:
    """A working copy of one level. ``standing`` is the house's seed still standing in the display.

    ``adjusted`` is what adjustments have put into this meter since its restart, less what they took back.
    """

    rules: LevelRules
    meter: int
    reserve: int
    overflow: int
    standing: int = 0
    resets: int = 0
    hits: int = 0
    won_cents: int = 0
    adjusted: int = 0

    def copy(self) -> LevelMoney:
        """An independent copy."""
        return LevelMoney(
            self.rules,
            self.meter,
            self.reserve,
            self.overflow,
            self.standing,
            self.resets,
            self.hits,
            self.won_cents,
            self.adjusted,
        )

    @property
    def display_cents(self) -> int:
        """What the sign shows: whole cents, rounded down."""
        return self.meter // MICROCENTS_PER_CENT

    def facts(self) -> dict[str, int]:
        """The level's values as an entry stores them."""
        return {
            "display_microcents": self.meter,
            "reserve_microcents": self.reserve,
            "overflow_microcents": self.overflow,
            "standing_seed_microcents": self.standing,
            "resets": self.resets,
            "hits": self.hits,
            "won_cents": self.won_cents,
            "adjusted_microcents": self.adjusted,
        }

    def limit_facts(self) -> dict[str, int | str | None]:
        """The limit then in force, for a state that is stored to be told again."""
        rules = self.rules
        return {"limit_microcents": rules.limit_microcents if rules.limited else None, "overflow_to": rules.overflow_to}


def add(moves: Moves, account: str, microcents: int) -> None:
    """Note that an account gained (or, negative, lost) an amount."""
    moves[account] = moves.get(account, 0) + microcents


class Contribution(NamedTuple):
    """What one LOCK did beyond plain shares.

    ``hold_microcents`` the house's part; ``over`` per level and seat what arrived above the limit; ``sent`` per
    level what went on to another level, ``landed`` where that came to lie. All are empty where no limit was reached.
    """

    hold_microcents: int
    over: dict[str, dict[int, int]]
    sent: dict[str, int]
    landed: dict[str, tuple[Landing, ...]]


def contribute(
    rules: LinkRules,
    levels: Mapping[str, LevelMoney],
    wagers: Sequence[tuple[int, int]],
    moves: Moves,
    received: Mapping[str, int] | None = None,
) -> Contribution:
    """Book the wagers of one LOCK, given as (seat, units), into the levels (M3).

    Own shares of all levels come first, in the order of the seats; then what one level sends to another.
    ``received`` is given when the past is decided again: what the receiving levels got then stands (M5).
    """
    cents = 0
    for _, units in wagers:
        cents += units
    cents *= rules.wager_cents
    hold = cents * PPM_PER_WHOLE
    over: dict[str, dict[int, int]] = {}
    sent: dict[str, int] = {}
    for name, level in levels.items():
        set_ = level.rules
        share = cents * set_.increment_ppm
        kept = cents * set_.reserve_ppm
        hold -= share + kept
        if kept:
            level.reserve += kept
            moves[set_.reserve] = moves.get(set_.reserve, 0) + kept
        if level.meter + share > set_.limit_microcents:
            share = _fill(rules, level, wagers, over)
            surplus = sum(over[name].values())
            if set_.spill_to is not None:
                sent[name] = surplus
            else:
                _put_over(level, surplus, moves)
        if share:
            level.meter += share
            moves[set_.meter] = moves.get(set_.meter, 0) + share
    landed = {}
    arrives = sent if received is None else received
    for name in rules.levels if arrives else ():  # by the settings: an entry read back has its names in another order
        target = levels[name].rules.spill_to
        if target is not None and name in arrives:
            landed[name] = receive(levels, target, arrives[name], moves)
    return Contribution(hold, over, sent, landed)


def _fill(
    rules: LinkRules, level: LevelMoney, wagers: Sequence[tuple[int, int]], over: dict[str, dict[int, int]]
) -> int:
    """Fill the meter seat by seat up to its limit: what fits in all; each seat's surplus goes into ``over``."""
    room = max(0, level.rules.limit_microcents - level.meter)
    fits = 0
    surplus: dict[int, int] = {}
    for seat, units in wagers:
        share = units * rules.wager_cents * level.rules.increment_ppm
        part = min(share, room - fits)
        fits += part
        if share > part:
            surplus[seat] = share - part
    over[level.rules.name] = surplus
    return fits


def _put_over(level: LevelMoney, microcents: int, moves: Moves) -> None:
    """Put an amount above the limit where the level's settings say, other levels excepted."""
    if level.rules.overflow_to == HOUSE:
        add(moves, REVENUE, microcents)
    else:
        level.overflow += microcents
        add(moves, level.rules.overflow, microcents)


def receive(levels: Mapping[str, LevelMoney], name: str, microcents: int, moves: Moves) -> tuple[Landing, ...]:
    """Bring an amount into a level's meter up to its limit; the rest goes the way of its overflow."""
    level = levels[name]
    fits = min(microcents, max(0, level.rules.limit_microcents - level.meter))
    landed: tuple[Landing, ...] = ()
    if fits:
        level.meter += fits
        add(moves, level.rules.meter, fits)
        landed = (Landing(name, in_meter=True, microcents=fits),)
    rest = microcents - fits
    if not rest:
        return landed
    if level.rules.spill_to is not None:
        return landed + receive(levels, level.rules.spill_to, rest, moves)
    _put_over(level, rest, moves)
    return (*landed, Landing(name, in_meter=False, microcents=rest))


def give_back(level: LevelMoney, microcents: int, moves: Moves) -> int:
    """Take back up to ``microcents`` from a meter, never the house's standing seed. Returns what was taken.

    Choice: "still held" means above the standing seed, so that a liability can never become negative.
    """
    taken = max(0, min(microcents, level.meter - level.standing))
    if taken:
        level.meter -= taken
        add(moves, level.rules.meter, -taken)
    return taken


def take(level: LevelMoney, cents: int, moves: Moves) -> int:
    """Pay whole cents out of a meter. Returns the standing seed (microcents) that went with them."""
    amount = cents * MICROCENTS_PER_CENT
    level.meter -= amount
    add(moves, level.rules.meter, -amount)
    lost = max(0, level.standing - level.meter)
    level.standing -= lost
    return lost


def restart(level: LevelMoney, moves: Moves) -> int:
    """Reset a level (M4). Returns what the house put up, in microcents.

    The sub-cent rest is already in the meter and stays. Each step goes only up to the limit, and what does not fit
    stays where it is: seed and reserve by the level's mode, then, with ``next_meter``, the overflow.
    """
    rules = level.rules
    room = max(0, rules.limit_microcents - level.meter)
    seed = rules.seed_microcents
    match rules.reset:
        case ResetMode.SEED_PLUS_RESERVE:
            house = min(seed, room)
            reserve = min(level.reserve, room - house)
        case ResetMode.RESERVE_FUNDS_SEED:
            reserve = min(level.reserve, seed, room)
            house = min(seed - reserve, room - reserve)
        case ResetMode.LARGER_OF:
            reserve = min(level.reserve, room)
            house = min(max(0, seed - reserve), room - reserve)
    overflow = min(level.overflow, room - house - reserve) if rules.overflow_to == NEXT_METER else 0
    level.meter += house + reserve + overflow
    level.reserve -= reserve
    level.overflow -= overflow
    level.standing = house
    level.adjusted = 0
    level.resets += 1
    add(moves, rules.seed, -house)
    add(moves, rules.reserve, -reserve)
    add(moves, rules.overflow, -overflow)
    add(moves, rules.meter, house + reserve + overflow)
    return house


def top_up(level: LevelMoney, moves: Moves) -> int:
    """With ``floor = seed``, lift the display back to the seed, by the house alone. Returns what it put up."""
    if level.rules.floor is not Floor.SEED:
        return 0
    missing = max(0, level.rules.seed_microcents - level.meter)
    if missing:
        level.meter += missing
        level.standing += missing
        add(moves, level.rules.meter, missing)
        add(moves, level.rules.seed, -missing)
    return missing
