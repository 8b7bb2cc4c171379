"""Deciding the past again: what a link would look like if a pending claim had not been made, or had been another hand.

A void is defined, not computed by differences (M5): every act on the link since the claim is decided again, with the
parameters then in force, from the link's state just before it; the void entry posts that outcome minus what stands.
To do so the book keeps a ``Journal`` per link while an award of it is pending: the state before the earliest pending
claim, and the acts since.

Rule 1: replaying a journal unchanged gives exactly the state the book holds; ``redecide`` insists.
Rule 2: amounts of confirmed and paid awards are pinned; only their funding may change.
Rule 3: what one level sent to another stays where it came from in time: the target is not decided again, the
        difference moves now, and what the target no longer holds is funded by the house (M5).
Units: microcents unless a name says cents.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from meterd.accounting.awards import LinkMoney, Settled, settle
from meterd.accounting.journal import CapOp, ClaimOp, LimitOp, LockOp, Op, ShiftOp, UndoOp, WagersVoidedOp
from meterd.accounting.marks import Part, RoundMark, cut_parts
from meterd.accounting.meter import (
    HOUSE,
    LevelMoney,
    LinkRules,
    Moves,
    add,
    contribute,
    give_back,
    receive,
)
from meterd.accounting.ties import confirmed_ties
from meterd.errors import InvariantBroken, require
from meterd.money import MICROCENTS_PER_CENT, PPM_PER_WHOLE

Pins = Mapping[str, tuple[Part, ...]]


def return_wagers(money: LinkMoney, rules: LinkRules, op: WagersVoidedOp) -> None:
    """Give wagers back (M5): each level returns what the wager put in, if not reset since and still held.

    The house lays out the rest. Choice: overflow that went to the house is no level's any more, so it stays income
    and the return is laid out.
    """
    mark = money.marks[f"{op.table}#{op.round}"]
    moves = money.moves
    for seat, units in op.wagers:
        cents = units * rules.wager_cents
        hold = cents * PPM_PER_WHOLE
        missing = 0
        for name, level in money.levels.items():
            set_ = level.rules
            over = mark.over.get(name, {}).get(seat, 0)
            put = cents * set_.increment_ppm
            kept = cents * set_.reserve_ppm
            hold -= put + kept
            if mark.resets[name] == level.resets:
                missing += put - over - give_back(level, put - over, moves)
                held = min(kept, level.reserve)
                level.reserve -= held
                add(moves, set_.reserve, -held)
                missing += kept - held
            else:
                missing += put - over + kept
        for name, level in money.levels.items():  # only then: what went on to another level may lie behind its own
            missing += mark.over.get(name, {}).get(seat, 0) - _return_over(money, level, mark, seat)
        add(moves, f"drop/{op.table}", cents * PPM_PER_WHOLE)
        add(moves, f"house/hold/{op.table}", -hold)
        add(moves, f"house/pays/{op.table}", -missing)


def _return_over(money: LinkMoney, level: LevelMoney, mark: RoundMark, seat: int) -> int:
    """Take back what a wager put above a limit, from where it went; returns what was still there."""
    set_ = level.rules
    seats = mark.over.get(set_.name, {})
    over = seats.get(seat, 0)
    if not over or set_.overflow_to == HOUSE:
        return 0
    if set_.spill_to is None:
        return _take_overflow(money, level, over) if mark.resets[set_.name] == level.resets else 0
    start = sum(amount for other, amount in seats.items() if other < seat)
    place = taken = found = 0
    for landing in mark.landed.get(set_.name, ()):
        mine = max(0, min(place + landing.microcents, start + over) - max(place, start))
        place += landing.microcents
        found += mine
        target = money.levels[landing.level]
        if not mine or mark.resets[landing.level] != target.resets:
            continue
        if landing.in_meter:
            taken += give_back(target, mine, money.moves)
        elif target.rules.overflow_to != HOUSE:
            taken += _take_overflow(money, target, mine)
    rest = over - found  # what deciding the past again has sent on since (a shift)
    target = money.levels[set_.spill_to]
    if rest and mark.resets[set_.spill_to] == target.resets:
        back = give_back(target, rest, money.moves)
        taken += back + _take_overflow(money, target, rest - back)
    return taken


def _take_overflow(money: LinkMoney, level: LevelMoney, microcents: int) -> int:
    held = min(microcents, level.overflow)
    level.overflow -= held
    add(money.moves, level.rules.overflow, -held)
    return held


def undo(money: LinkMoney, op: UndoOp) -> None:
    """Return an award's money (M5, Correction): to the level's meter, less the house seed of that reset still standing.

    Choice: the seed which the award had carried away stands again, so that the liability is what it was before the
    hit. An award already paid is out in cash: its return to the meter is funded by the house. What a meter at its limit
    does not take goes where all goes that arrives above the limit: with ``overflow = house`` it is the house's income,
    as the disclosure of such a link tells the players.
    """
    moves = money.moves
    parts = money.parts.get(op.award, op.parts)
    for name in {part.level for part in parts if part.level is not None}:
        money.levels[name].hits -= 1
    for part in parts:
        source = f"house/pays/{op.table}" if op.paid else op.account or f"payable/{op.award}"
        if not op.paid:
            add(moves, source, -part.house_cents * MICROCENTS_PER_CENT)
            add(moves, f"house/pays/{op.table}", part.house_cents * MICROCENTS_PER_CENT)
        if part.level is None:
            continue
        level = money.levels[part.level]
        level.won_cents -= part.meter_cents
        if not part.meter_cents:
            continue
        amount = part.meter_cents * MICROCENTS_PER_CENT
        add(moves, source, -amount)
        seed = min(part.seed_microcents, level.standing) if level.resets == part.resets else 0
        level.standing -= seed
        add(moves, level.rules.seed, seed)
        if amount >= seed:
            receive(money.levels, part.level, amount - seed, moves)
        else:
            level.meter -= seed - amount
            add(moves, level.rules.meter, amount - seed)
        level.standing = min(level.standing + part.lost_microcents, level.meter)


def shift(money: LinkMoney, op: ShiftOp) -> None:
    """Move a difference into or out of a level's meter; what it no longer holds is funded by the house."""
    level = money.levels[op.level]
    if op.what == "adjusted":
        level.adjusted += op.microcents
    if op.microcents >= 0:
        receive(money.levels, op.level, op.microcents, money.moves)
        return
    wanted = -op.microcents
    match op.what:
        case "seed":
            taken = min(wanted, level.standing)
            level.standing -= taken
            level.meter -= taken
            add(money.moves, level.rules.meter, -taken)
        case "reserve":
            taken = min(wanted, level.reserve)
            level.reserve -= taken
            add(money.moves, level.rules.reserve, -taken)
        case "overflow":
            taken = _take_overflow(money, level, wanted)
        case _:
            taken = give_back(level, wanted, money.moves)
            taken += _take_overflow(money, level, wanted - taken)
    add(money.moves, f"house/pays/{op.table}", -(wanted - taken))


def cap(money: LinkMoney, op: CapOp) -> None:
    """Cut an award that is told again; one claimed before the telling begins has been cut already."""
    parts = money.parts.get(op.award)
    if parts is None:
        return
    cents = sum(op.cuts)
    add(money.moves, f"payable/{op.award}", -cents * MICROCENTS_PER_CENT)
    add(money.moves, f"house/pays/{op.table}", cents * MICROCENTS_PER_CENT)
    money.parts[op.award] = cut_parts(parts, op.cuts)


@dataclass(slots=True)
class Played:
    """One telling of a journal: the link at its end, the acts with their states, what was settled.

    ``sent`` is what went from a level to another, by the names of both.
    """

    money: LinkMoney
    ops: list[Op]
    sent: dict[tuple[str, str], int]
    settled: dict[str, Settled]


def play(rules: LinkRules, base: LinkMoney, ops: Sequence[Op], pins: Pins, keep: Collection[str]) -> Played:
    """Decide a journal again from its base. Each returned op holds the state and the amounts of this telling.

    ``keep`` names the rounds whose marks the book still holds.
    """
    money = base.copy()
    told: list[Op] = []
    sent: dict[tuple[str, str], int] = {}
    settled: dict[str, Settled] = {}
    tied = confirmed_ties(rules, (op.facts for op in ops if isinstance(op, ClaimOp)), pins)
    for op in ops:
        match op:
            case LockOp():
                _forget(money, op, keep)
                told.append(_lock_again(money, rules, op, sent))
            case ClaimOp():
                told.append(ClaimOp(op.facts, money.copy()))
                stood = tied.get(op.facts.key)
                settled[op.facts.award] = settle(money, rules, op.facts, pins.get(op.facts.award), stood)
            case WagersVoidedOp():
                return_wagers(money, rules, op)
                told.append(op)
            case UndoOp():
                told.append(op._replace(parts=money.parts.get(op.award, op.parts)))
                undo(money, op)
            case ShiftOp():
                shift(money, op)
                told.append(op)
            case LimitOp():
                level = money.levels[op.level]
                level.rules = level.rules.limited_to(op.limit_microcents, op.overflow_to)
                told.append(op)
            case CapOp():
                cap(money, op)
                told.append(op)
    return Played(money, told, sent, settled)


def _forget(money: LinkMoney, op: LockOp, keep: Collection[str]) -> None:
    """A table's round is over when its next begins; its mark goes, unless the book still holds it."""
    before = f"{op.table}#{op.round - 1}"
    if before not in keep:
        money.marks.pop(before, None)


def _lock_again(money: LinkMoney, rules: LinkRules, op: LockOp, sent: dict[tuple[str, str], int]) -> LockOp:
    resets = {name: level.resets for name, level in money.levels.items()}
    if not op.wagers:
        money.marks[op.key] = RoundMark(resets)
        return op
    done = contribute(rules, money.levels, op.wagers, money.moves, op.received)
    for name, amount in done.sent.items():
        way = (name, money.levels[name].rules.spill_to or "")
        sent[way] = sent.get(way, 0) + amount
    cents = sum(units for _, units in op.wagers) * rules.wager_cents
    add(money.moves, f"drop/{op.table}", -cents * PPM_PER_WHOLE)
    add(money.moves, f"house/hold/{op.table}", done.hold_microcents)
    money.marks[op.key] = RoundMark(resets, done.over, landed=done.landed)
    return replace(op, sent=done.sent)


@dataclass(slots=True)
class Redecided:
    """The outcome of deciding a journal again: the link now, its acts, what to post, and what each award came to.

    ``changed`` are the awards of both tellings whose parts or flags differ, ``shifts`` what moved between levels now.
    """

    money: LinkMoney
    ops: list[Op]
    moves: Moves
    changed: dict[str, Settled]
    shifts: list[ShiftOp]


def redecide(
    rules: LinkRules, live: LinkMoney, old_ops: Sequence[Op], new_ops: Sequence[Op], pins: Pins, table: str
) -> Redecided:
    """Compare a journal as it stands with the journal as it should have been, both decided from the same base.

    ``live`` is the link as the book holds it: the unchanged journal must lead there. ``table`` is whose house account
    funds what a level no longer holds.
    """
    first = old_ops[0]
    if not isinstance(first, ClaimOp):
        raise InvariantBroken(f"a journal begins with a claim, not with {first}")
    old = play(rules, first.before, old_ops, pins, live.marks)
    for name, level in old.money.levels.items():
        require(level == live.levels[name], "a replay does not lead to the book", level=level, book=live.levels[name])
    new = play(rules, first.before, new_ops, pins, live.marks)
    money = new.money
    moves = dict(money.moves)
    for account, amount in old.money.moves.items():
        add(moves, account, -amount)
    changed = {
        award: replace_parts(new.settled[award], parts)
        for award, parts in money.parts.items()
        if award in old.money.parts and _differs(new.settled[award], parts, old.settled[award], old.money.parts[award])
    }
    money.moves = moves
    shifts = []
    order = list(rules.levels)
    for way in sorted({**old.sent, **new.sent}, key=lambda way: order.index(way[0])):
        delta = new.sent.get(way, 0) - old.sent.get(way, 0)
        if delta:
            op = ShiftOp(way[1], delta, table)
            shift(money, op)
            shifts.append(op)
    return Redecided(money, [*new.ops, *shifts], moves, changed, shifts)


def _differs(new: Settled, parts: tuple[Part, ...], old: Settled, stood: tuple[Part, ...]) -> bool:
    """Whether an award is another than it was: in its parts, or in what is said of it (a sign above the meter)."""
    return parts != stood or (new.sign_above_meter, new.meter_empty) != (old.sign_above_meter, old.meter_empty)


def replace_parts(settled: Settled, parts: tuple[Part, ...]) -> Settled:
    """What a claim came to in the end, where later members of its tie have changed its share since."""
    return settled._replace(parts=parts)
