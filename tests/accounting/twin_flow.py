"""The twin's accounts and levels: where a wager goes, how a level starts again, how money comes back.

Imports nothing of meterd. Units: every amount is a Fraction of cents.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from twin_records import Put, Round, Rules, Stake, Win

NONE = Fraction(0)
Landed = list[tuple[str, str, Fraction]]


class Flow:
    """Accounts and levels of a link."""

    def __init__(self, rules: Rules, pins: dict[str, list[int]] | None = None) -> None:
        self.rules = rules
        self.pins = pins or {}
        self.accounts: dict[str, Fraction] = defaultdict(Fraction)
        self.standing: dict[str, Fraction] = {}
        self.resets: dict[str, int] = dict.fromkeys(rules.levels, 0)
        self.hits: dict[str, int] = dict.fromkeys(rules.levels, 0)
        self.won: dict[str, int] = dict.fromkeys(rules.levels, 0)
        self.wagers = self.units = 0
        self.locks: dict[str, int] = dict.fromkeys(rules.tables, 0)
        self.rounds: dict[str, Round | None] = dict.fromkeys(rules.tables)
        self.past_envy: dict[str, list[tuple[int, int, str]]] = {table: [] for table in rules.tables}
        self.joined: dict[str, list[set[int]]] = {table: [] for table in rules.tables}
        self.wins: dict[str, Win] = {}
        self.ended: set[str] = set()
        self.shut_tables: dict[str, bool] = {}  # closed tables: whether END GAME is waited for
        self.sent: dict[tuple[str, str], Fraction] = defaultdict(Fraction)  # from a level to another, by both names
        self.handed_out = 0
        self.shared = NONE  # shares of all wagers not given back
        for name, level in rules.levels.items():
            self.move(f"house/seed/{name}", f"meter/{name}", Fraction(level.seed))
            self.standing[name] = Fraction(level.seed)

    def move(self, source: str, target: str, amount: Fraction) -> None:
        self.accounts[source] -= amount
        self.accounts[target] += amount

    def meter(self, name: str) -> Fraction:
        return self.accounts[f"meter/{name}"]

    def fits(self, name: str, amount: Fraction) -> Fraction:
        limit = self.rules.levels[name].limit
        return amount if limit is None else min(amount, max(NONE, limit - self.meter(name)))

    def running(self, table: str) -> Round:
        found = self.rounds[table]
        assert found is not None
        return found

    def players(self) -> Fraction:
        """What the accounts of the players hold: levels with the house's seed in them, and awards owed."""
        kinds = ("meter/", "reserve/", "overflow/", "payable/", "unclaimed")
        return sum((amount for account, amount in self.accounts.items() if account.startswith(kinds)), NONE)

    def liability(self) -> Fraction:
        return self.players() - sum(self.standing.values())

    def receive(self, source: str, name: str, amount: Fraction) -> Landed:
        """Into a meter up to its limit, the rest where its overflow goes. Returns what came to lie where."""
        put = self.fits(name, amount)
        self.move(source, f"meter/{name}", put)
        rest = amount - put
        way = self.rules.levels[name].overflow or ""
        if way.startswith("level:"):
            return [(name, "meter", put), *self.receive(source, way.removeprefix("level:"), rest)]
        self.move(source, "house/revenue" if way == "house" else f"overflow/{name}", rest)
        return [(name, "meter", put), (name, "house" if way == "house" else "overflow", rest)]

    # LOCK

    def lock(self, table: str, units: dict[int, int], received: dict[str, Fraction]) -> None:
        """All own shares first, seat by seat; then what a level sends to another: ``received`` of it arrives now.

        ``received`` is filled in the first time. When the past is told again the target gets what it got then.
        """
        stakes = {seat: Stake(count, count * self.rules.wager) for seat, count in sorted(units.items())}
        over: dict[str, list[tuple[Stake, Fraction]]] = {}
        for stake in stakes.values():
            self.wagers += 1
            self.units += stake.units
            stake.hold = Fraction(stake.cents)
            for name in self.rules.levels:
                self._share(table, stake, name, over)
            self.move(f"drop/{table}", f"house/hold/{table}", stake.hold)
            self.shared += stake.cents - stake.hold
        for name, parts in over.items():
            total = sum((amount for _, amount in parts), NONE)
            target = (self.rules.levels[name].overflow or "").removeprefix("level:")
            self.sent[name, target] += total
            self.move(f"drop/{table}", "on the way", total)
        for name, level in self.rules.levels.items():
            kind, _, target = (level.overflow or "").partition(":")
            if kind == "level":
                amount = received.setdefault(name, sum((amount for _, amount in over.get(name, [])), NONE))
                self._attribute(over.get(name, []), target, self.receive("on the way", target, amount))
        self.locks[table] += 1
        self.rounds[table] = Round(table, self.locks[table], stakes, groups=self.joined[table])
        self.joined[table] = []

    def _share(self, table: str, stake: Stake, name: str, over: dict[str, list[tuple[Stake, Fraction]]]) -> None:
        level = self.rules.levels[name]
        grown, kept = stake.cents * level.rate, stake.cents * (level.reserve or NONE)
        put = self.fits(name, grown)
        self.move(f"drop/{table}", f"meter/{name}", put)
        self.move(f"drop/{table}", f"reserve/{name}", kept)
        stake.put.append(Put(name, "meter", self.resets[name], put))
        stake.put.append(Put(name, "reserve", self.resets[name], kept))
        stake.hold -= grown + kept
        rest = grown - put
        if level.overflow is not None and level.overflow.startswith("level:"):
            if rest:
                over.setdefault(name, []).append((stake, rest))
        elif level.overflow == "house":
            self.move(f"drop/{table}", "house/revenue", rest)
        elif rest:
            self.move(f"drop/{table}", f"overflow/{name}", rest)
            stake.put.append(Put(name, "overflow", self.resets[name], rest))

    def _attribute(self, parts: list[tuple[Stake, Fraction]], target: str, landed: Landed) -> None:
        """Whose is what arrived: the seats in their order fill what came to lie, in its order."""
        heap = [[name, kind, amount] for name, kind, amount in landed]
        for stake, amount in parts:
            missing = amount
            for place in heap:
                name, kind, there = str(place[0]), str(place[1]), Fraction(place[2])
                mine = min(missing, there)
                place[2] = there - mine
                missing -= mine
                if mine and kind != "house":
                    stake.put.append(Put(name, kind, self.resets[name], mine))
            if missing:  # a telling of the past sent more than arrived then: it followed later, by a shift
                stake.put.append(Put(target, "shifted", self.resets[target], missing))

    # giving back

    def void_wager(self, table: str, seat: int) -> None:
        stake = self.running(table).stakes.pop(seat)
        self.wagers -= 1
        self.units -= stake.units
        self.shared -= stake.cents - stake.hold
        given = NONE
        for put in stake.put:
            if put.resets == self.resets[put.level]:
                given += self.take_back(f"drop/{table}", put.level, put.kind, put.amount)
        self.move(f"house/hold/{table}", f"drop/{table}", stake.hold)
        self.move(f"house/pays/{table}", f"drop/{table}", stake.cents - stake.hold - given)

    def take_back(self, to: str, name: str, kind: str, amount: Fraction) -> Fraction:
        """What is still there of an amount. The house's standing seed is no player's money."""
        if kind == "shifted":
            back = self.take_back(to, name, "meter", amount)
            return back + self.take_back(to, name, "overflow", amount - back)
        account = f"{kind}/{name}"
        held = self.meter(name) - self.standing[name] if kind == "meter" else self.accounts[account]
        back = max(NONE, min(amount, held))
        self.move(account, to, back)
        return back

    def shift(self, target: str, amount: Fraction, table: str) -> None:
        """What a telling of the past sends more, or less, to another level than arrived there then."""
        if amount >= 0:
            self.receive("on the way", target, amount)
            return
        back = self.take_back("on the way", target, "shifted", -amount)
        self.move(f"house/pays/{table}", "on the way", -amount - back)

    # levels

    def lift(self, name: str) -> Fraction:
        level = self.rules.levels[name]
        missing = max(NONE, level.seed - self.meter(name)) if level.floor == "seed" else NONE
        self.move(f"house/seed/{name}", f"meter/{name}", missing)
        self.standing[name] += missing
        return missing

    def restart(self, name: str) -> Fraction:
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
            put = self.fits(name, max(NONE, seed - drawn))
            self.move(house, meter, put)
        if level.overflow == "next_meter":
            self.move(f"overflow/{name}", meter, self.fits(name, self.accounts[f"overflow/{name}"]))
        self.standing[name] = put
        self.resets[name] += 1
        return put
