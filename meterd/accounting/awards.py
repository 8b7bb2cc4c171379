"""Awards: what a hand pays, out of which meter, and how several awards of one round share a level.

Rule 1: a percent award is a share of the whole cents on display, rounded down to whole cents.
Rule 2: what the meter does not hold, the house pays; nothing is paid twice.
Rule 3: the order of the claims is the order of the calls; nothing here looks for another.
Sources: claims, resets, fixed and odds pays (money rules M4), ties (M7).
Units: ``*_cents`` whole cents, ``*_microcents``.

Choices where the rules leave one:
* With ``split`` only 100 % awards are one tie; a smaller share in the same round takes the display as it stands.
* With ``full_each`` a claim of any kind on the level fixes the round's basis.
* An award of nothing is one whose amount is 0 cents; it restarts the level and carries the flag METER_EMPTY.
* The wager returned by ``odds_to`` is part of the first such pay of the row.
* Odds of craps that come to no even dollars are rounded up to the lowest chip of the table; an even amount of dollars
  stays, whatever that chip is (CO 47.1-2306(4)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from meterd.accounting.marks import Part, RoundMark, Tie
from meterd.accounting.meter import LevelMoney, LevelRules, LinkRules, Moves, add, restart, share_of, take, top_up
from meterd.accounting.settings import Ties
from meterd.accounting.steps import row_at, table_at
from meterd.money import MICROCENTS_PER_CENT
from meterd.paytables.model import Pay, PayKind, PayTable

CENTS_PER_DOLLAR: Final = 100


@dataclass(slots=True)
class LinkMoney:
    """A working copy of a link: its levels, its rounds' marks, the parts of awards, and what moved so far."""

    levels: dict[str, LevelMoney]
    marks: dict[str, RoundMark]
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    moves: Moves = field(default_factory=dict)

    def copy(self) -> LinkMoney:
        """An independent copy with the same money and marks, in which nothing has moved yet."""
        return LinkMoney({name: level.copy() for name, level in self.levels.items()}, dict(self.marks))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "levels": {name: {**level.facts(), **level.limit_facts()} for name, level in self.levels.items()},
            "marks": {key: mark.to_json() for key, mark in self.marks.items()},
        }

    @classmethod
    def from_json(cls, rules: LinkRules, data: Mapping[str, Any]) -> LinkMoney:
        """The inverse of :meth:`to_json`."""
        levels = {
            name: LevelMoney(
                _limit_then(rules.levels[name], facts),
                facts["display_microcents"],
                facts["reserve_microcents"],
                facts["overflow_microcents"],
                facts["standing_seed_microcents"],
                facts["resets"],
                facts["hits"],
                facts["won_cents"],
                facts.get("adjusted_microcents", 0),
            )
            for name, facts in ((name, data["levels"][name]) for name in rules.levels)
        }
        return cls(levels, {key: RoundMark.from_json(mark) for key, mark in data["marks"].items()})


def _limit_then(rules: LevelRules, facts: Mapping[str, Any]) -> LevelRules:
    """A level's rules with the limit that a stored state had; one stored before limits could change has today's."""
    return rules.limited_to(facts["limit_microcents"], facts["overflow_to"]) if "overflow_to" in facts else rules


class ClaimFacts(NamedTuple):
    """A claim as it is decided, now or again.

    ``signs``: cents last shown per level; ``late``: levels whose tie was closed before it; ``chip_cents``: the lowest
    chip at the table.
    """

    award: str
    table: str
    round: int
    seat: int
    hand: str
    units: int
    signs: Mapping[str, int]
    late: tuple[str, ...] = ()
    chip_cents: int = 1

    @property
    def key(self) -> str:
        """Name of the round for the marks."""
        return f"{self.table}#{self.round}"


class Settled(NamedTuple):
    """What a claim came to."""

    parts: tuple[Part, ...]
    sign_above_meter: bool
    meter_empty: bool

    @property
    def cents(self) -> int:
        """The award's amount."""
        return amount_cents(self.parts)


def amount_cents(parts: tuple[Part, ...]) -> int:
    """Sum of an award's parts."""
    return sum(part.cents for part in parts)


def divide(cents: int, count: int) -> list[int]:
    """Whole cents over ``count`` shares; the odd cents go one each to the earlier."""
    base, odd = divmod(cents, count)
    return [base + (index < odd) for index in range(count)]


def settle(
    money: LinkMoney,
    rules: LinkRules,
    claim: ClaimFacts,
    pinned: tuple[Part, ...] | None = None,
    tied: Mapping[str, tuple[int, int]] | None = None,
) -> Settled:
    """Decide a claim on a working copy: take from meters, restart or top up levels, owe the award.

    ``pinned`` are the parts of an award already confirmed: when the past is decided again its amounts stay, and only
    their funding may change. ``tied`` are the confirmed ties of its round by level, as cents and members: their
    shares stay likewise.
    """
    wager_cents = claim.units * rules.wager_cents
    parts: list[Part] = []
    above = empty = returned = False
    for pay in row_at(rules.settings, rules.rows[claim.hand], wager_cents).pays:
        if pay.kind is PayKind.LOSS:
            continue
        pin = pinned[len(parts)].cents if pinned is not None and len(parts) < len(pinned) else None
        if pay.kind is PayKind.METER_PERCENT:
            part, sign_is_above = _percent_part(money, rules, claim, pay, pin, tied or {})
            above = above or sign_is_above
            empty = empty or part.cents == 0
        elif pay.kind is PayKind.FIXED and pay.from_meter:
            part = _fixed_part(money, rules, claim, pay)
            empty = empty or part.cents == 0
        else:
            cents = _house_cents(rules, pay, wager_cents, claim.chip_cents, returned=returned)
            returned = returned or pay.kind is PayKind.ODDS_TO
            part = Part(pay.kind.value, cents, house_cents=cents)
            _owe(money, claim, cents, cents)
        parts.append(part)
    for name in {part.level for part in parts if part.level is not None}:
        money.levels[name].hits += 1
    money.parts[claim.award] = tuple(parts)
    return Settled(tuple(parts), above, empty)


def _owe(money: LinkMoney, claim: ClaimFacts, cents: int, house_cents: int) -> None:
    """Owe the award ``cents``, of which the house lays out ``house_cents`` (the rest has been taken from a meter)."""
    add(money.moves, f"payable/{claim.award}", cents * MICROCENTS_PER_CENT)
    add(money.moves, f"house/pays/{claim.table}", -house_cents * MICROCENTS_PER_CENT)


def _house_cents(rules: LinkRules, pay: Pay, wager_cents: int, chip_cents: int, *, returned: bool) -> int:
    """Odds, push and fixed pays of the house in whole cents. ``returned``: the wager came back already."""
    table = table_at(rules.settings, wager_cents)
    match pay.kind:
        case PayKind.ODDS_TO:
            back = wager_cents if table.original_wager_returned and not returned else 0
            return odds_cents(table, pay, wager_cents, chip_cents) + back
        case PayKind.ODDS_FOR:
            return odds_cents(table, pay, wager_cents, chip_cents)
        case PayKind.PUSH:
            return wager_cents
        case _:
            return _fixed_cents(rules, pay, wager_cents)


def odds_cents(paytable: PayTable, pay: Pay, wager_cents: int, chip_cents: int = 1) -> int:
    """Odds on a wager, whole cents down; those of craps alone are rounded up to the lowest chip of the table (M1).

    An even amount of dollars is paid as it is (CO 47.1-2306(4)).
    """
    if paytable.kind == "craps" and pay.n * wager_cents % (pay.d * CENTS_PER_DOLLAR):
        return -(-pay.n * wager_cents // (pay.d * chip_cents)) * chip_cents
    return pay.n * wager_cents // pay.d


def _fixed_cents(rules: LinkRules, pay: Pay, wager_cents: int) -> int:
    """A printed pay, times the seat's wager ÷ the printed wager where it scales."""
    return pay.cents * wager_cents // table_at(rules.settings, wager_cents).wager_cents if pay.scales else pay.cents


def _mark(money: LinkMoney, claim: ClaimFacts) -> RoundMark:
    found = money.marks.get(claim.key)
    return found if found is not None else RoundMark({name: level.resets for name, level in money.levels.items()})


def _set_tie(money: LinkMoney, claim: ClaimFacts, level: LevelMoney, tie: Tie) -> None:
    mark = _mark(money, claim)
    money.marks[claim.key] = replace(mark, ties={**mark.ties, level.rules.name: tie})


def _fixed_part(money: LinkMoney, rules: LinkRules, claim: ClaimFacts, pay: Pay) -> Part:
    """A fixed pay from the meter: what the meter has in whole cents, the house pays what is short (M4)."""
    level = money.levels[rules.level_named(pay.level).name]
    if level.rules.ties is Ties.FULL_EACH and level.rules.name not in _mark(money, claim).ties:
        _set_tie(money, claim, level, Tie(level.display_cents, 0, level.resets))
    cents = _fixed_cents(rules, pay, claim.units * rules.wager_cents)
    meter_cents = min(cents, level.display_cents)
    return _pay_from(money, claim, level, PayKind.FIXED, cents, meter_cents, restarts=cents == 0)


def _percent_part(
    money: LinkMoney,
    rules: LinkRules,
    claim: ClaimFacts,
    pay: Pay,
    pin: int | None,
    tied: Mapping[str, tuple[int, int]],
) -> tuple[Part, bool]:
    """A share of a meter, by the level's way with ties. Also says whether the sign showed more than the basis."""
    level = money.levels[rules.level_named(pay.level).name]
    share, whole = share_of(rules, level.rules, pay, claim.units)
    sign = claim.signs.get(level.rules.name, 0)
    if level.rules.ties is Ties.SPLIT and share >= whole:
        return _split_part(money, claim, level, sign, pin, tied.get(level.rules.name))
    shown = level.display_cents
    untouched = True
    if level.rules.ties is Ties.FULL_EACH:
        tie = _mark(money, claim).ties.get(level.rules.name)
        if tie is None:
            tie = Tie(shown, 0, level.resets)
        shown = tie.frozen_cents
        untouched = level.resets == tie.resets
        _set_tie(money, claim, level, replace(tie, members=(*tie.members, claim.award)))
    cents = max(shown, sign) * share // whole if pin is None else pin
    meter_cents = min(shown * share // whole, level.display_cents, cents) if untouched else 0
    restarts = untouched and (share >= whole or cents == 0)
    part = _pay_from(money, claim, level, PayKind.METER_PERCENT, cents, meter_cents, restarts=restarts)
    return part, sign > shown


def _pay_from(
    money: LinkMoney,
    claim: ClaimFacts,
    level: LevelMoney,
    kind: PayKind,
    cents: int,
    meter_cents: int,
    *,
    restarts: bool,
) -> Part:
    """Take ``meter_cents`` from the level and the rest from the house; restart the level, or lift it to its floor."""
    moves = money.moves
    lost = take(level, meter_cents, moves)
    level.won_cents += meter_cents
    seed = restart(level, moves) if restarts else top_up(level, moves)
    house_cents = cents - meter_cents
    _owe(money, claim, cents, house_cents)
    return Part(kind.value, cents, level.rules.name, meter_cents, house_cents, restarts, seed, lost, level.resets)


def _split_part(
    money: LinkMoney, claim: ClaimFacts, level: LevelMoney, sign: int, pin: int | None, stood: tuple[int, int] | None
) -> tuple[Part, bool]:
    """A 100 % award of a level whose ties split: the first freezes the amount, the others divide it (M7)."""
    name = level.rules.name
    tie = _mark(money, claim).ties.get(name)
    late = tie.late if tie is not None else ()
    if name in claim.late and (tie is not None or stood is not None):
        if tie is None or not tie.members:  # claimed before a tie that was confirmed before this hand was keyed
            frozen, members = stood or (0, 0)
            tie = Tie(frozen, 0, level.resets, late=late)
        else:
            frozen, members = tie.frozen_cents, len(tie.members)
        cents = frozen // (members + len(late) + 1) if pin is None else pin
        _set_tie(money, claim, level, replace(tie, late=(*late, claim.award)))
        part = _pay_from(money, claim, level, PayKind.METER_PERCENT, cents, 0, restarts=False)
        return part, False
    if pin is None:
        stood = None
    if tie is None or not tie.members:
        shown = level.display_cents
        cents = max(shown, sign) if stood is None else stood[0]
        meter_cents = min(shown, cents)
        part = _pay_from(money, claim, level, PayKind.METER_PERCENT, cents, meter_cents, restarts=True)
        _set_tie(money, claim, level, Tie(cents, meter_cents, level.resets, (claim.award,), late=late))
        return part, sign > shown
    if stood is not None and tie.members[0] in money.parts:
        sign = 0  # the tie began in this telling, with all it came to
    raised = max(tie.frozen_cents, sign)
    add(money.moves, f"house/pays/{claim.table}", (tie.frozen_cents - raised) * MICROCENTS_PER_CENT)
    grown = replace(tie, frozen_cents=raised, members=(*tie.members, claim.award))
    _set_tie(money, claim, level, grown)
    mine = Part(PayKind.METER_PERCENT.value, 0, name, resets=level.resets)
    return _share_out(money, grown, name, claim.award, mine), raised > tie.frozen_cents


def _share_out(money: LinkMoney, tie: Tie, name: str, newest: str, mine: Part) -> Part:
    """Give every member of a tie its share; returns the newest member's part, changes the others' in place."""
    shares = divide(tie.frozen_cents, len(tie.members))
    meters = divide(tie.meter_cents, len(tie.members))
    for award, cents, meter_cents in zip(tie.members, shares, meters, strict=True):
        if award == newest:
            mine = mine._replace(cents=cents, meter_cents=meter_cents, house_cents=cents - meter_cents)
            add(money.moves, f"payable/{award}", cents * MICROCENTS_PER_CENT)
            continue
        if award not in money.parts:
            continue  # confirmed before the journal begins: its share stands, and is the same in every telling
        parts = list(money.parts[award])
        index = next(i for i, p in enumerate(parts) if p.level == name and p.kind == PayKind.METER_PERCENT.value)
        add(money.moves, f"payable/{award}", (cents - parts[index].cents) * MICROCENTS_PER_CENT)
        parts[index] = parts[index]._replace(cents=cents, meter_cents=meter_cents, house_cents=cents - meter_cents)
        money.parts[award] = tuple(parts)
    return mine
