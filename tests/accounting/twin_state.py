"""Where the twin's money stands: one step after the other, written from the money rules alone.

Imports nothing of meterd, so that the two can only agree by being right.
Units: every amount is a Fraction of cents; ``*_cents`` are whole.
"""

from __future__ import annotations

from fractions import Fraction

from twin_flow import Flow
from twin_records import WHOLE, Slice, Stake, Tie, Win


class State(Flow):
    """Rounds and awards on top of accounts and levels, as they stand after some history."""

    # claims

    def claim(
        self, award: str, table: str, seat: int, hand: str, signs: dict[str, int], corrected: bool = False
    ) -> None:
        current = self.running(table)
        win = Win(award, current, seat, hand)
        stake = current.stakes[seat]
        self.wins[award] = win
        row = self.rules.rows[hand]
        for name in self.levels_of(hand):
            current.basis.setdefault(name, int(self.meter(name)))
            current.resets_at_basis.setdefault(name, self.resets[name])
        for pay in row.pays:
            if pay[0] == "percent":
                name = str(pay[2])
                self._percent(win, stake, Fraction(str(pay[1])), name, signs.get(name, 0))
            elif pay[0] == "meter":
                self._fixed(win, int(int(str(pay[1])) * self._scale(stake, pay)), str(pay[2]))
            else:
                self._from_house(win, self._houses(pay, stake, table))
        if any(pay[0] == "to" for pay in row.pays) and self.rules.returned:
            self._from_house(win, stake.cents)
        for name in win.levels:
            self.hits[name] += 1
        current.awards.append(award)
        if not win.percent and win.amount < self.rules.confirm_above and not corrected:
            win.status = "confirmed"

    def levels_of(self, hand: str) -> list[str]:
        """Levels from whose meter a hand pays."""
        return [str(pay[2]) for pay in self.rules.rows[hand].pays if pay[0] in {"percent", "meter"}]

    def _houses(self, pay: tuple[object, ...], stake: Stake, table: str) -> int:
        """What a pay of the house comes to, whole cents down."""
        numbers = [int(str(number)) for number in pay[1:] if not isinstance(number, bool)]
        if pay[0] == "house":
            return int(numbers[0] * self._scale(stake, pay))
        return self.rules.odds(numbers, stake.cents, table) if numbers else stake.cents

    def _scale(self, stake: Stake, pay: tuple[object, ...]) -> Fraction:
        """A printed amount is for the printed wager, unless the pay says that it does not scale."""
        return WHOLE if pay[-1] is False else Fraction(stake.cents, self.rules.printed)

    def _owe(self, win: Win, cents: int) -> None:
        """The house's part of an award."""
        self.move(f"house/pays/{win.round.table}", f"payable/{win.id}", Fraction(cents))

    def _from_house(self, win: Win, cents: int) -> None:
        self._owe(win, cents)
        win.slices.append(Slice(cents))

    def _pay(self, win: Win, name: str, cents: int, given: int, *, reset: bool, tie: bool = False) -> None:
        """Pay a part of an award: ``given`` from the meter, the rest by the house; then restart or lift the level."""
        self.move(f"meter/{name}", f"payable/{win.id}", Fraction(given))
        self.won[name] += given
        before = self.standing[name]
        self.standing[name] = min(before, self.meter(name))
        carried = before - self.standing[name]
        self._owe(win, cents - given)
        put = self.restart(name) if reset else self.lift(name)
        win.slices.append(Slice(cents, name, given, put, carried, self.resets[name], tie))
        win.empty = win.empty or cents == 0

    def _percent(self, win: Win, stake: Stake, share: Fraction, name: str, sign: int) -> None:
        level = self.rules.levels[name]
        current = win.round
        win.percent = True
        if level.share_scales:
            share = share * stake.units / self.rules.units_max
        if level.ties == "split" and share == 1:
            self._split(win, name, sign)
            return
        shown, fresh = int(self.meter(name)), True
        if level.ties == "full_each":
            shown = current.basis[name]
            fresh = self.resets[name] == current.resets_at_basis[name]
        win.above = win.above or sign > shown
        amount = self.pinned(win, int(max(shown, sign) * share))
        given = min(int(shown * share), int(self.meter(name)), amount) if fresh else 0
        # a share of nothing resets the level too
        self._pay(win, name, amount, given, reset=fresh and (share == 1 or amount == 0))

    def pinned(self, win: Win, amount: int) -> int:
        """What a part of an award comes to: its amount stands once it is confirmed."""
        pins = self.pins.get(win.id)
        return amount if pins is None else pins[len(win.slices)]

    def _split(self, win: Win, name: str, sign: int) -> None:
        current = win.round
        tie = current.ties.get(name)
        if tie is None:
            shown = int(self.meter(name))
            win.above = win.above or sign > shown
            frozen = max(shown, sign)
            current.ties[name] = Tie(frozen, shown, [win.id])
            self._pay(win, name, frozen, shown, reset=True, tie=True)
        elif tie.closed:
            tie.late += 1
            cents = tie.frozen // (len(tie.members) + tie.late)
            self._pay(win, name, cents, 0, reset=False)
        else:
            win.above = win.above or sign > tie.frozen
            self.move(f"house/pays/{current.table}", "in-between", Fraction(max(0, sign - tie.frozen)))
            tie.frozen = max(tie.frozen, sign)
            tie.members.append(win.id)
            win.slices.append(Slice(0, name, resets=self.resets[name], tie=True))
            self._divide(tie, name)
            win.empty = win.empty or win.slices[-1].cents == 0

    def _divide(self, tie: Tie, name: str) -> None:
        """Whole cents to each, odd cents one each to the earlier claims; so too for what came from the meter."""
        for place, award in enumerate(tie.members):
            part = next(part for part in self.wins[award].slices if part.tie and part.level == name)
            share = _shares(tie.frozen, len(tie.members))[place]
            self.move("in-between", f"payable/{award}", Fraction(share - part.cents))
            part.cents = share
            part.given = _shares(tie.meter, len(tie.members))[place]

    def _fixed(self, win: Win, amount: int, name: str) -> None:
        given = min(amount, int(self.meter(name)))
        self._pay(win, name, amount, given, reset=amount == 0)

    # afterwards

    def confirm(self, award: str) -> None:
        """Confirmed, or as the member of a tie only verified: the tie is closed by an act of its own."""
        win = self.wins[award]
        win.verified = any(award in tie.members for tie in win.round.ties.values())
        if not win.verified:
            self._confirmed(win)

    def dead(self, win: Win) -> bool:
        """Folded, where a folded hand is dead."""
        return win.seat in win.round.folded and not self.rules.tables[win.round.table][1]

    def open_ties(self, key: tuple[str, int]) -> list[tuple[str, set[str]]]:
        """Ties of a round that are not confirmed: the level, and who is confirmed together with its members."""
        rounds = [win.round for win in self.wins.values() if win.round.key == key][:1]
        ties = {name: tie for current in rounds for name, tie in current.ties.items() if not tie.closed}
        return [(name, self.bound(tie, list(ties.values()))) for name, tie in ties.items()]

    def bound(self, tie: Tie, ties: list[Tie]) -> set[str]:
        """Whoever is confirmed together with the members of a tie: an award in two ties binds both."""
        together = set(tie.members)
        while True:
            more = together.union(*(other.members for other in ties if together & set(other.members)))
            if more == together:
                return together
            together = more

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
            self.handed_out += cents
            if cents:
                current.envy.append((seat, cents, win.id))

    def end(self, table: str) -> None:
        if table in self.shut_tables:
            del self.shut_tables[table]
            self.joined[table] = []
            return
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
        self.handed_out += win.amount

    def undo(self, award: str) -> None:
        """Back to the meters, less the house's seed of that reset still standing; what it carried off stands again."""
        win = self.wins[award]
        table = win.round.table
        paid = win.status == "paid"
        source = f"house/pays/{table}" if paid else f"payable/{award}"
        for name in win.levels:
            self.hits[name] -= 1
        for part in win.slices:
            self.move(source, f"house/pays/{table}", Fraction(part.cents - part.given))
            if not part.given:
                continue
            name = part.level
            self.won[name] -= part.given
            seed = min(part.seeded, self.standing[name]) if part.resets == self.resets[name] else Fraction(0)
            self.standing[name] -= seed
            self.move(source, f"house/seed/{name}", seed)
            back = part.given - seed
            if back < 0:
                self.move(f"meter/{name}", source, -back)
            else:
                self.receive(source, name, back)
            self.standing[name] = min(self.standing[name] + part.carried, self.meter(name))
        win.status = "voided"
        win.undone = True

    # tables

    def crash(self) -> None:
        """The daemon died: every table that was open waits for END GAME."""
        for table, current in self.rounds.items():
            if current is None:
                self.shut_tables.setdefault(table, True)

    def shut(self, table: str, doubtful: bool) -> None:
        if self.rounds[table] is None:
            self.shut_tables[table] = doubtful

    def open(self, table: str) -> None:
        del self.shut_tables[table]
        self.joined[table] = []

    def fold(self, table: str, seat: int) -> None:
        self.running(table).folded.add(seat)

    def hold(self, award: str) -> None:
        """Disputed: whoever had verified it for a tie has to be asked about it again."""
        self.wins[award].held = True
        self.wins[award].verified = False
        self.wins[award].shown = set()

    def join(self, table: str, seats: tuple[int, ...]) -> None:
        current = self.rounds[table]
        groups = self.joined[table] if current is None else current.groups
        joined = set(seats).union(*(group for group in groups if group & set(seats)))
        groups[:] = [group for group in groups if not group & joined] + [joined]

    def apply(self, act: tuple[object, ...]) -> None:
        """Carry out one act that was accepted."""
        verb, *rest = act
        getattr(self, str(verb).replace("-", "_"))(*rest)


def _shares(whole: int, count: int) -> list[int]:
    each, odd = divmod(whole, count)
    return [each + (place < odd) for place in range(count)]
