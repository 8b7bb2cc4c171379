"""The twin's side of changes to a live link, of unclaimed and of late awards: written from the money rules alone.

Imports nothing of meterd. Units: every amount is a Fraction of cents; ``cents`` are whole.

An act that moves money of a level may be told again after a void or a correction. What comes goes to the meter up to
its limit; what leaves is what the level still has; the rest the house lays out at the table of the award that was the
earliest pending one when the act was done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from twin import Twin
from twin_flow import NONE
from twin_records import Round, Rules, Slice, Win
from twin_state import State

MOVES = ("adjust", "transfer", "recover-seed", "release")


class LinkState(State):
    """A link whose levels can be changed while it lives."""

    def __init__(self, rules: Rules, pins: dict[str, list[int]] | None = None) -> None:
        super().__init__(rules, pins)
        self.suspended = False
        self.adjusted: dict[str, Fraction] = dict.fromkeys(rules.levels, NONE)
        self.unclaimed_awards: set[str] = set()
        self.disposed: set[str] = set()

    def restart(self, name: str) -> Fraction:
        self.adjusted[name] = NONE
        return super().restart(name)

    def suspend(self) -> None:
        self.suspended = True

    def resume(self) -> None:
        self.suspended = False

    def limit(self, level: str, cents: int | None, overflow: str | None) -> None:
        old = self.rules.levels[level]
        new = replace(old, limit=cents, overflow=overflow)
        self.rules = replace(self.rules, levels={**self.rules.levels, level: new})

    def _leave(self, target: str, level: str, kind: str, amount: Fraction, table: str) -> None:
        """Money leaves a level for an account; what the level does not have, the house pays."""
        if kind == "seed":
            taken = min(amount, self.standing[level])
            self.move(f"meter/{level}", target, taken)
            self.standing[level] -= taken
        else:
            taken = self.take_back(target, level, "shifted" if kind == "meter" else kind, amount)
        self.move(f"house/pays/{table}", target, amount - taken)

    def adjust(self, level: str, cents: int, table: str) -> None:
        self.adjusted[level] += cents
        if cents >= 0:
            self.receive(f"house/seed/{level}", level, Fraction(cents))
        else:
            self._leave(f"house/seed/{level}", level, "meter", Fraction(-cents), table)

    def transfer(self, level: str, target: str, cents: int, table: str) -> None:
        self._leave("on the way", level, "meter", Fraction(cents), table)
        self.receive("on the way", target, Fraction(cents))

    def recover_seed(self, level: str, cents: int, table: str) -> None:
        self._leave(f"house/seed/{level}", level, "seed", Fraction(cents), table)

    def release(self, level: str, part: str, cents: int, table: str) -> None:
        self._leave("house/revenue", level, part, Fraction(cents), table)

    # awards outside their round

    def _unclaimed_account(self) -> str:
        return f"unclaimed/{self.rules.name}"

    def unclaimed(self, award: str) -> None:
        self.unclaimed_awards.add(award)
        self.move(f"payable/{award}", self._unclaimed_account(), Fraction(self.wins[award].amount))

    def _claimed_again(self, award: str) -> None:
        if award in self.unclaimed_awards:
            self.move(self._unclaimed_account(), f"payable/{award}", Fraction(self.wins[award].amount))

    def pay(self, award: str) -> None:
        self._claimed_again(award)
        super().pay(award)

    def undo(self, award: str) -> None:
        if self.wins[award].status == "confirmed":
            self._claimed_again(award)
        super().undo(award)

    def dispose(self, award: str, to: str) -> None:
        win = self.wins[award]
        amount = Fraction(win.amount)
        if to in self.rules.levels:
            self.receive(self._unclaimed_account(), to, amount)
        else:
            target = "house/revenue" if to == "house" else f"paid/{win.round.table}"
            self.move(self._unclaimed_account(), target, amount)
            self.handed_out += 0 if to == "house" else win.amount
        win.status = "disposed"

    def end(self, table: str) -> None:
        """A hand that was confirmed gives envy whatever has become of its award."""
        with self.as_paid():
            super().end(table)

    @contextmanager
    def as_paid(self) -> Iterator[None]:
        """Where only the hand matters, an award disposed of is as good as paid."""
        gone = [win for win in self.wins.values() if win.status == "disposed"]
        for win in gone:
            win.status = "paid"
        yield
        for win in gone:
            win.status = "disposed"

    def late_claim(self, award: str, table: str, number: int, seat: int, hand: str, cents: int) -> None:
        win = Win(award, Round(table, number, {}, ended=True), seat, hand, status="confirmed")
        win.slices.append(Slice(cents))
        self.wins[award] = win
        self._owe(win, cents)


class LinkTwin(Twin):
    """The history of a link that is changed while it lives."""

    state: LinkState
    makes = LinkState

    def _carry_out(self, act: tuple[object, ...]) -> tuple[str, int] | None:
        if act[0] in MOVES:
            pending = [win for win in self.state.wins.values() if win.status == "pending"]
            first = min(pending, key=lambda win: int(win.id[1:]), default=None)
            act = (*act, first.round.table if first is not None else "")
        elif act[0] == "late-claim":
            self.claims += 1
            act = ("late-claim", f"A{self.claims}", *act[1:])
        elif act[0] == "unclaimed":
            act = act[:2]
        return super()._carry_out(act)

    # why not

    def why_not(self, act: tuple[object, ...]) -> str | None:
        verb, *rest = act
        mine: Callable[[], str | None] | None = {
            "suspend": lambda: "ALREADY_DONE" if self.state.suspended else None,
            "resume": lambda: None if self.state.suspended else "ALREADY_DONE",
            "adjust": lambda: self._adjust_why_not(str(rest[0]), int(str(rest[1]))),
            "transfer": lambda: self._transfer_why_not(str(rest[0]), str(rest[1]), int(str(rest[2]))),
            "limit": lambda: self._limit_why_not(str(rest[0]), rest[1], rest[2]),
            "recover-seed": lambda: self._recover_why_not(str(rest[0]), int(str(rest[1]))),
            "release": lambda: self._release_why_not(str(rest[0]), str(rest[1]), int(str(rest[2]))),
            "unclaimed": lambda: self._unclaimed_why_not(str(rest[0]), bool(rest[1])),
            "dispose": lambda: self._dispose_why_not(str(rest[0]), str(rest[1])),
            "late-claim": lambda: self._late_why_not(*rest),
        }.get(str(verb))
        return super().why_not(act) if mine is None else mine()

    def _about_table_why_not(self, act: tuple[object, ...], table: str) -> str | None:
        current = self.state.rounds[table]
        stopped = {
            "lock": True,
            "claim": True,
            "fold": True,
            "join": current is not None,
            "end": current is not None and bool(current.stakes),
        }
        if self.state.suspended and table not in self.state.shut_tables and stopped.get(str(act[0])):
            return "LINK_SUSPENDED"
        return super()._about_table_why_not(act, table)

    def _deed_why_not(self, current: Round, verb: str, seat: int, hand: str) -> str | None:
        with self.state.as_paid():
            return super()._deed_why_not(current, verb, seat, hand)

    def _waits(self, *levels: str) -> str | None:
        """A pending award takes from one of these levels."""
        pending = [win for win in self.state.wins.values() if win.status == "pending"]
        return "LEVEL_HAS_PENDING_AWARD" if any(win.levels & set(levels) for win in pending) else None

    def _played(self) -> str | None:
        return "NOT_YET" if any(current is not None for current in self.state.rounds.values()) else None

    def _room(self, level: str, cents: int) -> bool:
        limit = self.state.rules.levels[level].limit
        return limit is None or self.state.meter(level) + cents <= limit

    def _players(self, level: str) -> Fraction:
        return self.state.meter(level) - self.state.standing[level]

    def _adjust_why_not(self, level: str, cents: int) -> str | None:
        down = min(self.state.adjusted[level], self._players(level))
        fits = self._room(level, cents) if cents > 0 else cents < 0 and -cents <= down
        return self._waits(level) or (None if fits else "AMOUNT_OUT_OF_BOUNDS") or self._played()

    def _transfer_why_not(self, level: str, target: str, cents: int) -> str | None:
        fits = level != target and 0 < cents <= self._players(level) and self._room(target, cents)
        return self._waits(level, target) or (None if fits else "AMOUNT_OUT_OF_BOUNDS") or self._played()

    def _limit_why_not(self, level: str, cents: object, overflow: object) -> str | None:
        reason = self._waits(level)
        if reason is not None:
            return reason
        old = self.state.rules.levels[level]
        stands = (None, None) if old.limit is None else (old.limit, old.overflow)
        over = bool(self.state.accounts[f"overflow/{level}"]) and overflow != stands[1]
        if cents is not None and int(str(cents)) < int(self.state.meter(level)):
            return "LIMIT_BELOW_METER"
        if over or (cents is not None and int(str(cents)) < old.seed):
            return "AMOUNT_OUT_OF_BOUNDS"
        return self._played() or ("ALREADY_DONE" if stands == (cents, overflow) else None)

    def _recover_why_not(self, level: str, cents: int) -> str | None:
        state = self.state
        fits = 0 < cents <= state.standing[level] and state.meter(level) - cents >= state.rules.levels[level].seed
        return self._waits(level) or (None if fits else "AMOUNT_OUT_OF_BOUNDS") or self._played()

    def _release_why_not(self, level: str, part: str, cents: int) -> str | None:
        fits = 0 < cents <= self.state.accounts[f"{part}/{level}"]
        return self._waits(level) or (None if fits else "AMOUNT_OUT_OF_BOUNDS") or self._played()

    def _unclaimed_why_not(self, award: str, late: bool) -> str | None:
        win = self.state.wins.get(award) or self.voided.get(award)
        if win is None:
            return "AWARD_UNKNOWN"
        if win.status != "confirmed":
            return "AWARD_NOT_PENDING"
        if not late:
            return "NOT_YET"
        return "ALREADY_DONE" if award in self.state.unclaimed_awards else None

    def _dispose_why_not(self, award: str, to: str) -> str | None:
        win = self.state.wins.get(award) or self.voided.get(award)
        if win is None:
            return "AWARD_UNKNOWN"
        if win.status != "confirmed" or award not in self.state.unclaimed_awards:
            return "AWARD_NOT_PENDING"
        if to not in self.state.rules.levels:
            return None
        fits = self._room(to, win.amount)
        return self._waits(to) or (None if fits else "AMOUNT_OUT_OF_BOUNDS") or self._played()

    def _late_why_not(self, *what: object) -> str | None:
        table, hand = str(what[0]), str(what[3])
        number, seat, cents = (int(str(what[index])) for index in (1, 2, 4))
        if not 1 <= number <= self.state.locks[table]:
            return "ROUND_CLOSED"
        if not 1 <= seat <= self.rules.tables[table][0]:
            return "SEAT_UNKNOWN"
        here = [win for win in self.state.wins.values() if win.round.key == (table, number) and win.seat == seat]
        if any(win.status != "voided" for win in here):
            return "SEAT_ALREADY_CLAIMED"
        if hand not in self.rules.rows:
            return "HAND_NOT_IN_PAYTABLE"
        current = self.state.rounds[table]
        running = current is not None and current.number == number
        return "AMOUNT_OUT_OF_BOUNDS" if cents <= 0 else "NOT_YET" if running else None
