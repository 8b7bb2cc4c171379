"""A second, stupid reckoning of the money rules: fractions of a cent, one step after the other, no cleverness.

Rule 1: written from the money rules alone; imports nothing of meterd, so that the two can only agree by being right.
Rule 2: a void is what its definition says: play the whole history again as if the claim had never been made.
Units: every amount is a Fraction of cents; ``*_cents`` are whole.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

WHOLE = Fraction(1)


@dataclass(frozen=True)
class Level:
    """One level's settings; ``reserve`` None is none, ``limit`` None is none."""

    seed: int
    rate: Fraction
    reserve: Fraction | None
    reset: str
    ties: str
    floor: str
    limit: int | None = None
    overflow: str | None = None
    share_scales: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a pay table.

    ``pays`` are ("percent", share, level), ("meter", cents, level), ("house", cents, scales), ("to", n, d),
    ("for", n, d) or ("push",).
    """

    pays: tuple[tuple[object, ...], ...]
    envy: int = 0


@dataclass(frozen=True)
class Rules:
    """A link with its tables: table name → (seats, folded hands live)."""

    wager: int
    units_max: int
    printed: int
    returned: bool
    envy_scales: bool
    levels: dict[str, Level]
    rows: dict[str, Row]
    tables: dict[str, tuple[int, bool]]


@dataclass
class Stake:
    """A seat's wager and exactly what it put where: level → (resets then, meter, overflow, reserve)."""

    units: int
    cents: int
    put: dict[str, tuple[int, Fraction, Fraction, Fraction]] = field(default_factory=dict)
    hold: Fraction = Fraction(0)


@dataclass
class Round:
    """A round of one table."""

    table: str
    stakes: dict[int, Stake]
    folded: set[int] = field(default_factory=set)
    groups: list[set[int]] = field(default_factory=list)
    awards: list[str] = field(default_factory=list)
    ended: bool = False
    basis: dict[str, int] = field(default_factory=dict)
    resets_at_basis: dict[str, int] = field(default_factory=dict)
    ties: dict[str, Tie] = field(default_factory=dict)
    envy: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass
class Tie:
    """The 100 % awards of one level in one round: what was frozen, who shares it, who came after it was closed."""

    frozen: int
    members: list[str]
    late: int = 0
    closed: bool = False


@dataclass
class Win:
    """An award. ``took`` is what each level gave, ``seeded`` the house's part of the reset it caused."""

    id: str
    round: Round
    seat: int
    hand: str
    status: str = "pending"
    held: bool = False
    verified: bool = False
    own: int = 0  # what is not a share of a tie
    shared: int = 0
    tied: set[str] = field(default_factory=set)
    levels: set[str] = field(default_factory=set)
    percent: bool = False
    took: dict[str, int] = field(default_factory=dict)
    house: int = 0
    seeded: dict[str, tuple[int, Fraction]] = field(default_factory=dict)
    carried: dict[str, Fraction] = field(default_factory=dict)

    @property
    def amount(self) -> int:
        return self.own + self.shared

    @property
    def word(self) -> str:
        return "held" if self.held and self.status == "pending" else self.status


class State:
    """Accounts, levels, rounds and awards as they stand after some history."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.accounts: dict[str, Fraction] = defaultdict(Fraction)
        self.standing: dict[str, Fraction] = {}
        self.resets: dict[str, int] = dict.fromkeys(rules.levels, 0)
        self.rounds: dict[str, Round | None] = dict.fromkeys(rules.tables)
        self.past_envy: dict[str, list[tuple[int, int, str]]] = {table: [] for table in rules.tables}
        self.joined: dict[str, list[set[int]]] = {table: [] for table in rules.tables}
        self.wins: dict[str, Win] = {}
        self.ended: set[str] = set()
        for name, level in rules.levels.items():
            self.move(f"house/seed/{name}", f"meter/{name}", Fraction(level.seed))
            self.standing[name] = Fraction(level.seed)

    def move(self, source: str, target: str, amount: Fraction) -> None:
        self.accounts[source] -= amount
        self.accounts[target] += amount

    def meter(self, name: str) -> Fraction:
        return self.accounts[f"meter/{name}"]

    def room(self, name: str) -> Fraction | None:
        limit = self.rules.levels[name].limit
        return None if limit is None else max(Fraction(0), limit - self.meter(name))

    def fits(self, name: str, amount: Fraction) -> Fraction:
        room = self.room(name)
        return amount if room is None else min(room, amount)

    def write_down(self, name: str) -> None:
        self.standing[name] = min(self.standing[name], self.meter(name))

    def liability(self) -> Fraction:
        owed = Fraction(0)
        for name in self.rules.levels:
            owed += self.meter(name) - self.standing[name]
            owed += self.accounts[f"reserve/{name}"] + self.accounts[f"overflow/{name}"]
        return owed + sum(amount for account, amount in self.accounts.items() if account.startswith("payable/"))

    def receive(self, source: str, name: str, amount: Fraction) -> Fraction:
        """Into a meter up to its limit, the rest where its overflow goes. Returns what the meter took."""
        put = self.fits(name, amount)
        self.move(source, f"meter/{name}", put)
        overflow = self.rules.levels[name].overflow or ""
        if overflow == "house":
            self.move(source, "house/revenue", amount - put)
        elif overflow.startswith("level:"):
            self.receive(source, overflow.removeprefix("level:"), amount - put)
        else:
            self.move(source, f"overflow/{name}", amount - put)
        return put

    # LOCK and void wager

    def lock(self, table: str, units: dict[int, int]) -> None:
        stakes = {}
        for seat in sorted(units):
            stake = Stake(units[seat], units[seat] * self.rules.wager)
            rest = Fraction(stake.cents)
            for name, level in self.rules.levels.items():
                grown = stake.cents * level.rate
                put = self.receive(f"drop/{table}", name, grown)
                over = grown - put if level.overflow == "next_meter" else Fraction(0)
                kept = stake.cents * (level.reserve or Fraction(0))
                self.move(f"drop/{table}", f"reserve/{name}", kept)
                stake.put[name] = (self.resets[name], put, over, kept)
                rest -= grown + kept
            stake.hold = rest
            self.move(f"drop/{table}", f"house/hold/{table}", rest)
            stakes[seat] = stake
        self.rounds[table] = Round(table, stakes, groups=self.joined[table])
        self.joined[table] = []

    def void_wager(self, table: str, seat: int) -> None:
        stake = self.running(table).stakes.pop(seat)
        given = Fraction(0)
        for name, (resets, put, over, kept) in stake.put.items():
            if resets != self.resets[name]:
                continue
            # "still held": the house's standing seed is no player's money, or the liability could turn negative
            players = self.meter(name) - self.standing[name]
            for account, part, held in (
                (f"meter/{name}", put, players),
                (f"overflow/{name}", over, self.accounts[f"overflow/{name}"]),
                (f"reserve/{name}", kept, self.accounts[f"reserve/{name}"]),
            ):
                back = min(part, held)
                self.move(account, f"drop/{table}", back)
                given += back
        self.move(f"house/hold/{table}", f"drop/{table}", stake.hold)
        self.move(f"house/pays/{table}", f"drop/{table}", stake.cents - stake.hold - given)

    def running(self, table: str) -> Round:
        found = self.rounds[table]
        assert found is not None
        return found

    # claims

    def claim(self, award: str, table: str, seat: int, hand: str) -> None:
        current = self.running(table)
        win = Win(award, current, seat, hand)
        stake = current.stakes[seat]
        self.wins[award] = win
        row = self.rules.rows[hand]
        for pay in row.pays:
            if pay[0] in {"percent", "meter"}:
                name = str(pay[2])
                current.basis.setdefault(name, int(self.meter(name)))
                current.resets_at_basis.setdefault(name, self.resets[name])
        for pay in row.pays:
            kind = pay[0]
            if kind == "percent":
                self._percent(win, stake, Fraction(str(pay[1])), str(pay[2]))
            elif kind == "meter":
                self._fixed(win, stake, int(str(pay[1])), str(pay[2]))
            elif kind == "house":
                scale = Fraction(stake.cents, self.rules.printed) if pay[2] else WHOLE
                self._from_house(win, int(int(str(pay[1])) * scale))
            elif kind in {"to", "for"}:
                self._from_house(win, int(Fraction(int(str(pay[1])), int(str(pay[2]))) * stake.cents))
            else:
                self._from_house(win, stake.cents)
        if any(pay[0] == "to" for pay in row.pays) and self.rules.returned:
            self._from_house(win, stake.cents)
        current.awards.append(award)

    def _owe(self, win: Win, cents: int) -> None:
        """The house's part of an award."""
        self.move(f"house/pays/{win.round.table}", f"payable/{win.id}", Fraction(cents))

    def _from_house(self, win: Win, cents: int) -> None:
        self._owe(win, cents)
        win.own += cents
        win.house += cents

    def _from_meter(self, win: Win, name: str, cents: int) -> None:
        self.move(f"meter/{name}", f"payable/{win.id}", Fraction(cents))
        win.took[name] = win.took.get(name, 0) + cents
        before = self.standing[name]
        self.write_down(name)
        win.carried[name] = before - self.standing[name]

    def _percent(self, win: Win, stake: Stake, share: Fraction, name: str) -> None:
        level = self.rules.levels[name]
        current = win.round
        win.levels.add(name)
        win.percent = True
        if level.share_scales:
            share = share * stake.units / self.rules.units_max
        if level.ties == "split" and share == 1:
            self._split(win, name)
            return
        if level.ties == "full_each":
            amount = int(current.basis[name] * share)
            fresh = self.resets[name] == current.resets_at_basis[name]
            given = min(amount, int(self.meter(name))) if fresh else 0
        else:
            amount = int(int(self.meter(name)) * share)
            given, fresh = amount, True
        self._from_meter(win, name, given)
        self._owe(win, amount - given)
        win.own += amount
        win.house += amount - given
        if fresh and (share == 1 or amount == 0):  # a share of nothing resets the level too
            self._reset(win, name)
        else:
            self._lift(win, name)

    def _split(self, win: Win, name: str) -> None:
        current = win.round
        tie = current.ties.get(name)
        if tie is None:
            frozen = int(self.meter(name))
            current.ties[name] = Tie(frozen, [win.id])
            win.tied.add(name)
            self._from_meter(win, name, frozen)
            win.shared = frozen
            self._reset(win, name)
        elif tie.closed:
            tie.late += 1
            self._from_house(win, tie.frozen // (len(tie.members) + tie.late))
        else:
            tie.members.append(win.id)
            win.tied.add(name)
            win.took[name] = 0
            self._divide(tie)

    def _divide(self, tie: Tie) -> None:
        """Whole cents to each, odd cents one each to the earlier claims."""
        each, odd = divmod(tie.frozen, len(tie.members))
        for place, award in enumerate(tie.members):
            win = self.wins[award]
            share = each + (1 if place < odd else 0)
            self.move("in-between", f"payable/{award}", Fraction(share - win.shared))
            win.shared = share

    def _fixed(self, win: Win, stake: Stake, cents: int, name: str) -> None:
        win.levels.add(name)
        amount = int(Fraction(cents * stake.cents, self.rules.printed))
        given = min(amount, int(self.meter(name)))
        self._from_meter(win, name, given)
        self._owe(win, amount - given)
        win.own += amount
        win.house += amount - given
        self._lift(win, name)

    def _lift(self, win: Win, name: str) -> None:
        level = self.rules.levels[name]
        if level.floor == "seed" and self.meter(name) < level.seed:
            lifted = level.seed - self.meter(name)
            self.move(f"house/seed/{name}", f"meter/{name}", lifted)
            self.standing[name] += lifted
            win.seeded[name] = (self.resets[name], lifted)

    def _reset(self, win: Win, name: str) -> None:
        level = self.rules.levels[name]
        meter, reserve, house = f"meter/{name}", f"reserve/{name}", f"house/seed/{name}"
        seed = Fraction(level.seed)
        if level.reset == "seed_plus_reserve":
            put = self.fits(name, seed)
            self.move(house, meter, put)
            self.move(reserve, meter, self.fits(name, self.accounts[reserve]))
        elif level.reset == "reserve_funds_seed":
            drawn = self.fits(name, min(seed, self.accounts[reserve]))
            self.move(reserve, meter, drawn)
            put = self.fits(name, seed - drawn)
            self.move(house, meter, put)
        else:
            drawn = self.fits(name, self.accounts[reserve])
            self.move(reserve, meter, drawn)
            put = self.fits(name, max(Fraction(0), seed - drawn))
            self.move(house, meter, put)
        if level.overflow == "next_meter":
            self.move(f"overflow/{name}", meter, self.fits(name, self.accounts[f"overflow/{name}"]))
        self.standing[name] = put
        self.resets[name] += 1
        win.seeded[name] = (self.resets[name], put)

    # afterwards

    def confirm(self, award: str) -> None:
        win = self.wins[award]
        ties = [tie for tie in win.round.ties.values() if award in tie.members]
        if not ties:
            self._confirmed(win)
            return
        win.verified = True
        for tie in ties:
            self._close(tie)

    def _close(self, tie: Tie) -> None:
        if all(self.wins[award].verified for award in tie.members):
            tie.closed = True
            for award in tie.members:
                if self.wins[award].status == "pending":
                    self._confirmed(self.wins[award])

    def _confirmed(self, win: Win) -> None:
        win.status = "confirmed"
        if win.round.ended:
            self._envy(win)

    def _envy(self, win: Win) -> None:
        current, table = win.round, win.round.table
        envy = self.rules.rows[win.hand].envy
        for seat, stake in sorted(current.stakes.items()):
            together = any({seat, win.seat} <= group for group in current.groups)
            if seat == win.seat or together or not envy:
                continue
            cents = int(envy * Fraction(stake.cents, self.rules.printed)) if self.rules.envy_scales else envy
            self.move(f"house/pays/{table}", f"paid/{table}", Fraction(cents))
            current.envy.append((seat, cents, win.id))

    def end(self, table: str) -> None:
        current = self.running(table)
        current.ended = True
        for award in current.awards:
            if self.wins[award].status in {"confirmed", "paid"}:
                self._envy(self.wins[award])
        self.past_envy[table] = list(current.envy)
        self.ended.add(table)
        self.rounds[table] = None

    def pay(self, award: str) -> None:
        win = self.wins[award]
        win.status = "paid"
        self.move(f"payable/{award}", f"paid/{win.round.table}", Fraction(win.amount))

    def undo(self, award: str) -> None:
        """Back to the meters, less the house's seed of that reset still standing; what it carried off stands again."""
        win = self.wins[award]
        table = win.round.table
        source = f"house/pays/{table}" if win.status == "paid" else f"payable/{award}"
        self.move(source, f"house/pays/{table}", Fraction(win.house))
        for name, first in win.took.items():
            taken = win.shared if name in win.tied else first
            if not taken:
                continue
            seed = Fraction(0)
            if name in win.seeded and win.seeded[name][0] == self.resets[name]:
                seed = min(win.seeded[name][1], self.standing[name])
            self.standing[name] -= seed
            back = Fraction(taken) - seed
            self.move(source, f"house/seed/{name}", seed)
            if back < 0:
                self.move(f"meter/{name}", source, -back)
            else:
                self.receive(source, name, back)
            self.standing[name] = min(self.standing[name] + win.carried.get(name, 0), self.meter(name))
        win.status = "voided"

    def apply(self, act: tuple[object, ...]) -> None:
        """Carry out one act that was accepted."""
        verb, *rest = act
        if verb == "fold":
            self.running(str(rest[0])).folded.add(int(str(rest[1])))
        elif verb == "hold":
            self.wins[str(rest[0])].held = True
        elif verb == "join":
            current, seats = self.running(str(rest[0])), set(rest[1])  # type: ignore[call-overload]
            seats = seats.union(*(group for group in current.groups if group & seats))
            current.groups = [group for group in current.groups if not group & seats] + [seats]
        else:
            getattr(self, str(verb).replace("-", "_"))(*rest)


class Twin:
    """The history so far and the state it leads to. ``do`` answers None, or why not."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.history: list[tuple[object, ...]] = []
        self.state = State(rules)
        self.voided: dict[str, Win] = {}
        self.claims = 0

    def do(self, act: tuple[object, ...]) -> str | None:
        reason = self.why_not(act)
        if reason is None:
            self._carry_out(act)
        return reason

    def _carry_out(self, act: tuple[object, ...]) -> None:
        verb = act[0]
        if verb == "claim":
            self.claims += 1
            act = ("claim", f"A{self.claims}", *act[1:])
        if verb == "void":
            self._void(str(act[1]))
        elif verb == "correct":
            self._correct(str(act[1]), act[2], act[3])
        elif verb == "void-seat":
            self._void_wagers(str(act[1]), [int(str(act[2]))])
        elif verb == "void-round":
            self._void_wagers(str(act[1]), sorted(self.state.running(str(act[1])).stakes))
        else:
            self.history.append(act)
            self.state.apply(act)

    def _again(self) -> None:
        self.state = State(self.rules)
        for act in self.history:
            self.state.apply(act)

    def _void(self, award: str) -> None:
        self.voided[award] = self.state.wins[award]
        self.voided[award].status = "voided"
        self.history = [act for act in self.history if act[1] != award]
        self._again()

    def _correct(self, award: str, seat: object, hand: object) -> None:
        for place, act in enumerate(self.history):
            if act[0] == "claim" and act[1] == award:
                self.history[place] = (*act[:3], seat or act[3], hand or act[4])
        # whoever verified it as a member of a tie verified another claim
        self.history = [act for act in self.history if act[:2] != ("confirm", award)]
        self._again()

    def _void_wagers(self, table: str, seats: list[int]) -> None:
        current = self.state.running(table)
        for win in reversed(self.wins_of(current)):
            if win.seat in seats:
                self._void(win.id)
        for seat in seats:
            act = ("void-wager", table, seat)
            self.history.append(act)
            self.state.apply(act)

    # why not

    def why_not(self, act: tuple[object, ...]) -> str | None:
        verb, *rest = act
        if verb in {"confirm", "hold", "void", "correct", "pay", "undo"}:
            return self._award_why_not(act)
        table = str(rest[0])
        current = self.state.rounds[table]
        if verb == "lock":
            return None if current is None else "ALREADY_DONE"
        if current is None:
            return "ROUND_CLOSED" if table in self.state.ended and verb != "end" else "TABLE_NOT_LOCKED"
        if verb in {"end", "void-round", "join"}:
            return self._round_why_not(current, str(verb))
        reason = self._seat_why_not(current, int(str(rest[1])))
        return reason or self._deed_why_not(current, str(verb), int(str(rest[1])), str(rest[-1]))

    def _round_why_not(self, current: Round, verb: str) -> str | None:
        wins = self.wins_of(current)
        if verb == "end" and any(win.status == "pending" and not win.held for win in wins):
            return "ROUND_HAS_OPEN_AWARD"
        if verb == "void-round" and not current.stakes:
            return "SEAT_HAS_NO_WAGER"
        if verb == "void-round" and any(win.status != "pending" for win in wins):
            return "ROUND_HAS_CONFIRMED_AWARD"
        return None

    def _seat_why_not(self, current: Round, seat: int) -> str | None:
        if seat > self.rules.tables[current.table][0]:
            return "SEAT_UNKNOWN"
        return None if seat in current.stakes else "SEAT_HAS_NO_WAGER"

    def _deed_why_not(self, current: Round, verb: str, seat: int, hand: str) -> str | None:
        mine = [win for win in self.wins_of(current) if win.seat == seat]
        folded, live = seat in current.folded, self.rules.tables[current.table][1]
        if verb == "void-seat":
            return "ROUND_HAS_CONFIRMED_AWARD" if any(win.status != "pending" for win in mine) else None
        if folded and (verb == "fold" or not live):
            return "SEAT_FOLDED"
        if verb == "fold":
            return None
        if mine:
            return "SEAT_ALREADY_CLAIMED"
        return None if hand in self.rules.rows else "HAND_NOT_IN_PAYTABLE"

    def _award_why_not(self, act: tuple[object, ...]) -> str | None:
        verb, award = str(act[0]), str(act[1])
        win = self.state.wins.get(award) or self.voided.get(award)
        if win is None:
            return "AWARD_UNKNOWN"
        if verb == "correct":
            return self._correct_why_not(win, act[2], act[3])
        needed = {"pay": ("confirmed",), "undo": ("confirmed", "paid")}.get(verb, ("pending",))
        if win.status not in needed:
            return "AWARD_NOT_PENDING"
        if verb == "hold" and win.held:
            return "ALREADY_DONE"
        return self._must_wait(win) if verb == "confirm" and win.percent else None

    def _must_wait(self, win: Win) -> str | None:
        """An earlier pending award on one of its levels. Where it ties, a member stands where the tie began."""
        ties = {name: tie.members for name, tie in win.round.ties.items() if win.id in tie.members}
        mates = {win.id}.union(*ties.values())
        for name in win.levels:
            place = min(int(mate[1:]) for mate in ties.get(name, [win.id]))
            for other in self.state.wins.values():
                earlier = int(other.id[1:]) < place and other.status == "pending"
                if earlier and other.id not in mates and name in other.levels:
                    return "EARLIER_AWARD_PENDING"
        return "ALREADY_DONE" if win.verified else None

    def _correct_why_not(self, win: Win, seat: object, hand: object) -> str | None:
        reason = None if seat is None else self._other_seat_why_not(win, int(str(seat)))
        if reason is not None:
            return reason
        if hand is not None and hand not in self.rules.rows:
            return "HAND_NOT_IN_PAYTABLE"
        if win.status != "pending":
            return "AWARD_NOT_PENDING"
        same = (seat or win.seat, hand or win.hand) == (win.seat, win.hand)
        return "ALREADY_DONE" if same else None

    def _other_seat_why_not(self, win: Win, seat: int) -> str | None:
        reason = self._seat_why_not(win.round, seat)
        if reason is not None:
            return reason
        if seat in win.round.folded and not self.rules.tables[win.round.table][1]:
            return "SEAT_FOLDED"
        taken = any(other.seat == seat and other.id != win.id for other in self.wins_of(win.round))
        return "SEAT_ALREADY_CLAIMED" if taken else None

    def wins_of(self, current: Round) -> list[Win]:
        """Awards of a round that still stand."""
        wins = [self.state.wins[award] for award in current.awards if award in self.state.wins]
        return [win for win in wins if win.status != "voided"]
