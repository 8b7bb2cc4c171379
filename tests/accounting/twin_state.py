"""Where the twin's money stands: one step after the other, written from the money rules alone.

Imports nothing of meterd, so that the two can only agree by being right.
Units: every amount is a Fraction of cents; ``*_cents`` are whole.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from twin_records import WHOLE, Round, Rules, Stake, Tie, Win


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

    def claim(self, award: str, table: str, seat: int, hand: str, corrected: bool = False) -> None:
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
        if not win.percent and win.amount < self.rules.confirm_above and not corrected:
            win.status = "confirmed"

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
        """Confirmed, or as the member of a tie only verified: the tie is closed by an act of its own."""
        win = self.wins[award]
        win.verified = any(award in tie.members for tie in win.round.ties.values())
        if not win.verified:
            self._confirmed(win)

    def open_ties(self) -> list[tuple[str, str]]:
        """(a member, level) of each tie in which nobody is left unverified."""
        found = {}
        for win in self.wins.values():
            for name, tie in win.round.ties.items():
                if not tie.closed and all(self.wins[award].verified for award in tie.members):
                    found[tie.members[0], name] = None
        return list(found)

    def close(self, award: str, level: str) -> None:
        """All of a tie are confirmed together."""
        tie = self.wins[award].round.ties[level]
        tie.closed = True
        for member in tie.members:
            if self.wins[member].status == "pending":
                self._confirmed(self.wins[member])

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
            table, seats = str(rest[0]), set(rest[1])  # type: ignore[call-overload]
            current = self.rounds[table]
            groups = self.joined[table] if current is None else current.groups
            seats = seats.union(*(group for group in groups if group & seats))
            groups[:] = [group for group in groups if not group & seats] + [seats]
        else:
            getattr(self, str(verb).replace("-", "_"))(*rest)
