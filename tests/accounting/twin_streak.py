"""The twin's side of numbers, hands from the board, split hands and the envy of the games: from the money rules alone.

Imports nothing of meterd. Units: every amount is a Fraction of cents; ``cents`` are whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from twin import Twin
from twin_records import Round, Rules, Stake, Win
from twin_state import State

WHEEL = ("0", "00", *(str(number) for number in range(1, 37)))


@dataclass(frozen=True)
class StreakRules(Rules):
    """A link with what is printed about streaks, splits and envy. ``longest`` 0: cards make the hands."""

    longest: int = 0
    split: str = "no-effect"
    trigger: str = "all"
    envy_min: int = 0
    envy_to: str = "players"
    board_triggers: bool = False
    clockwise: bool = False


def streak(numbers: list[str], longest: int) -> tuple[int, bool]:
    """Length, and whether it has ended: by a number that is not greater, by 36, or at the longest."""
    length = 0
    for place, number in enumerate(numbers):
        if place and WHEEL.index(number) <= WHEEL.index(numbers[place - 1]):
            return length, True
        length += 1
        if number == "36" or length == longest:
            return length, True
    return length, False


class StreakState(State):
    """A link on which numbers may be keyed, boards read and hands split."""

    rules: StreakRules
    kept: frozenset[str] = frozenset()  # awards whose envy was handed out before the history was told again
    gone: frozenset[str] = frozenset()  # awards undone before it was

    def __init__(self, rules: Rules, pins: dict[str, list[int]] | None = None) -> None:
        super().__init__(rules, pins)
        self.numbers: dict[tuple[str, int], list[str]] = {}
        self.splits: dict[tuple[str, int], dict[int, bool]] = {}  # seat → whether it has a second wager
        self.common: dict[str, str] = {}  # award → the hand that all seats had
        self.tokes: dict[str, int] = dict.fromkeys(rules.tables, 0)
        self.gave: set[str] = set()
        self.had: list[tuple[tuple[str, int], int, int, str]] = []  # round, receiver (0 the dealer), cents, award
        self.full: dict[tuple[tuple[str, int], int, str], dict[str, int]] = {}  # what each hand gives in full

    def of(self, current: Round) -> list[str]:
        return self.numbers.setdefault(current.key, [])

    def hands(self, current: Round, seat: int) -> int:
        return 2 if self.splits.get(current.key, {}).get(seat) else 1

    def number(self, table: str, number: str) -> None:
        self.of(self.running(table)).append(number)

    def common_hand(self, award: str, hand: str) -> None:
        self.common[award] = hand

    def split(self, table: str, seat: int) -> None:
        current = self.running(table)
        stake = current.stakes[seat]
        second = self.rules.split == "two-hands"
        self.splits.setdefault(current.key, {})[seat] = second
        if second:
            self.wagers += 1
            self.units += stake.units
            self.move(f"drop/{table}", f"house/hold/{table}", Fraction(stake.cents))

    def void_wager(self, table: str, seat: int) -> None:
        current = self.running(table)
        stake = current.stakes[seat]
        if self.hands(current, seat) == 2:
            self.wagers -= 1
            self.units -= stake.units
            self.move(f"house/hold/{table}", f"drop/{table}", Fraction(stake.cents))
        super().void_wager(table, seat)

    def lock(self, table: str, units: dict[int, int], received: dict[str, Fraction]) -> None:
        self.tokes[table] = 0
        super().lock(table, units, received)

    # envy

    def end(self, table: str) -> None:
        if table not in self.shut_tables:
            self.tokes[table] = 0
        super().end(table)

    def close(self, award: str, level: str) -> None:
        """All of a tie are confirmed at once, so each sees the hands of the others."""
        for member in self.wins[award].round.ties[level].members:
            if self.wins[member].status == "pending":
                self.wins[member].status = "now"
        for member in self.wins[award].round.ties[level].members:
            if self.wins[member].status == "now":
                self._confirmed(self.wins[member])
        self.wins[award].round.ties[level].closed = True

    def _envy(self, win: Win) -> None:
        current, table = win.round, win.round.table
        amount = self.rules.rows[win.hand].envy
        if win.seat not in current.stakes or not amount or not self._gives(win):
            return
        self.gave.add(win.id)
        if self.rules.envy_to == "dealer":
            cents = self._still_due(win, 0, self._amount(amount, Stake(0, self._wager_of(win))))
            self._hand_out(table, cents)
            if current is self.rounds[table]:
                self.tokes[table] += cents
            return
        for seat, stake in sorted(current.stakes.items()):
            together = any({seat, win.seat} <= group for group in current.groups)
            if seat == win.seat or together or stake.cents < self.rules.envy_min:
                continue
            cents = self._still_due(win, seat, self._amount(amount, stake) * self.hands(current, seat))
            self._hand_out(table, cents)
            if cents:
                current.envy.append((seat, cents, win.id))

    def _still_due(self, win: Win, receiver: int, cents: int) -> int:
        """With ``highest`` nobody has more of a round than its highest hands give; what was handed out stays so."""
        order = list(self.rules.rows)
        due = lower = 0
        for key, who, had, award in self.had:
            if key == win.round.key and who == receiver and award in self.wins:
                other = self.wins[award]
                lower += had if order.index(other.hand) > order.index(win.hand) else 0
                due -= had if other.hand == win.hand and other.status != "voided" else 0
        for other in self.full.get((win.round.key, receiver, win.hand), {}).items():
            due += other[1] if self.wins[other[0]].status != "voided" else 0
        self.full.setdefault((win.round.key, receiver, win.hand), {})[win.id] = cents
        if self.rules.trigger != "all":
            cents = max(0, cents - max(0, lower - due))
        self.had.append((win.round.key, receiver, cents, win.id))
        return cents

    def _wager_of(self, win: Win) -> int:
        return win.round.stakes[win.seat].cents

    def _amount(self, envy: int, stake: Stake) -> int:
        return int(envy * Fraction(stake.cents, self.rules.printed)) if self.rules.envy_scales else envy

    def _hand_out(self, table: str, cents: int) -> None:
        self.move(f"house/pays/{table}", f"paid/{table}", Fraction(cents))
        self.handed_out += cents

    def _is_common(self, win: Win) -> bool:
        return self.common.get(win.id) == win.hand

    def _gives(self, win: Win) -> bool:
        """The board's hand is nobody's, unless the house says; with ``highest`` only the best envy hand gives.

        It gives none while a better hand is pending; what was handed out stays so.
        """
        if self._is_common(win) and not self.rules.board_triggers:
            return False
        if self.rules.trigger == "all":
            return True
        order = [hand for hand, row in self.rules.rows.items() if row.envy]
        standing = [self.wins[award] for award in win.round.awards if award in self.wins]
        held = [one.hand for one in standing if one.status in {"confirmed", "paid", "now"} and one.hand in order]
        may_come = [one.hand for one in standing if one.status == "pending" and one.hand in order]
        better_may_come = any(order.index(hand) < order.index(win.hand) for hand in may_come)
        if win.id not in self.kept and (better_may_come or win.id in self.gone):
            return False
        return order.index(win.hand) == min(order.index(hand) for hand in held)


class StreakTwin(Twin):
    """The history of such a link."""

    rules: StreakRules
    state: StreakState
    makes = StreakState

    def _again(self, table: str) -> None:
        """As every history; envy once handed out is not asked for again, and END GAME gave what it gave."""
        made, before = self.makes, self.state
        gone = frozenset(win.id for win in self.state.wins.values() if win.status == "voided")
        self.makes = type("Kept", (made,), {"kept": frozenset(self.state.gave), "gone": gone})
        super()._again(table)
        self.makes = made
        self.state.past_envy, self.state.tokes = before.past_envy, before.tokes

    def _carry_out(self, act: tuple[object, ...]) -> tuple[str, int] | None:
        verb, table = str(act[0]), str(act[1]) if len(act) > 1 else ""
        if verb == "number":
            self._add(act)
            numbers = self.state.of(self.state.running(table))
            length, ended = streak(numbers, self.rules.longest)
            if ended and f"streak-{length}" in self.rules.rows:
                self._claim_all(table, f"streak-{length}")
            return None
        if verb == "board":
            self._claim_all(table, str(act[2]))
            return None
        if verb == "void-spin":
            return self._void_spin(table)
        return super()._carry_out(act)

    def _order(self, current: Round) -> list[int]:
        return sorted(current.stakes, reverse=not self.rules.clockwise)

    def _claim_all(self, table: str, hand: str) -> None:
        current = self.state.running(table)
        for seat in [seat for seat in self._order(current) if self._seat_dead(current, seat) is None]:
            self.claims += 1
            self._add(("claim", f"A{self.claims}", table, seat, hand, {}))
            self._add(("common-hand", f"A{self.claims}", hand))

    def _void_spin(self, table: str) -> tuple[str, int] | None:
        current = self.state.running(table)
        gone = list(reversed(self.wins_of(current))) if self._over(current) else []
        for win in gone:
            self._void(win.id)
        last = max(place for place, act in enumerate(self.history) if act[:2] == ("number", table))
        del self.history[last]
        self.state.of(self.state.running(table)).pop()
        return current.key if gone else None

    def _correct(self, award: str, seat: object, hand: object) -> None:
        """Another hand is the seat's own, and so is one that it is corrected to after that."""
        if hand is not None and hand != self.state.wins[award].hand:
            self.history = [act for act in self.history if act[:2] != ("common-hand", award)]
        super()._correct(award, seat, hand)

    def _over(self, current: Round) -> bool:
        return streak(self.state.of(current), self.rules.longest)[1]

    # why not

    def _open_why_not(self, table: str, current: Round | None, verb: str) -> str | None:
        if verb in {"number", "void-spin"}:
            return "TABLE_NOT_LOCKED"
        return super()._open_why_not(table, current, verb)

    def _about_table_why_not(self, act: tuple[object, ...], table: str) -> str | None:
        verb = str(act[0])
        current = self.state.rounds[table]
        if current is None or table in self.state.shut_tables or verb not in {"number", "void-spin", "board", "claim"}:
            return super()._about_table_why_not(act, table)
        if verb in {"number", "void-spin"} and not self.rules.longest:
            return "HAND_NOT_IN_PAYTABLE"
        if verb == "number":
            return self._number_why_not(current, str(act[2]))
        if verb == "void-spin":
            return self._void_spin_why_not(current)
        if self.state.of(current) and not self._over(current):
            return "STREAK_RUNNING"
        hand = str(act[2] if verb == "board" else act[3])
        reason = self._board_why_not(current, hand) if verb == "board" else super()._about_table_why_not(act, table)
        return reason or self._against(current, hand)

    def _against(self, current: Round, hand: str) -> str | None:
        numbers = self.state.of(current)
        made = f"streak-{streak(numbers, self.rules.longest)[0]}"
        return "CARDS_DISAGREE" if numbers and hand != made else None

    def _number_why_not(self, current: Round, number: str) -> str | None:
        if self.wins_of(current) and not self.state.of(current):
            return "SEAT_ALREADY_CLAIMED"
        if number not in WHEEL:
            return "CARDS_DISAGREE"
        return "ALREADY_DONE" if self._over(current) else None

    def _void_spin_why_not(self, current: Round) -> str | None:
        if not self.state.of(current):
            return "ALREADY_DONE"
        stands = any(win.status != "pending" for win in self.wins_of(current))
        return "ROUND_HAS_CONFIRMED_AWARD" if self._over(current) and stands else None

    def _board_why_not(self, current: Round, hand: str) -> str | None:
        reasons = [self._seat_dead(current, seat) for seat in self._order(current)]
        if None not in reasons:
            return reasons[0] if reasons else "SEAT_HAS_NO_WAGER"
        return None if hand in self.rules.rows else "HAND_NOT_IN_PAYTABLE"

    def _seat_dead(self, current: Round, seat: int) -> str | None:
        """Why a seat with a wager can have no award."""
        if seat in current.folded and not self.rules.tables[current.table][1]:
            return "SEAT_FOLDED"
        mine = [win for win in self.wins_of(current) if win.seat == seat]
        if len(mine) >= self.state.hands(current, seat):
            return "SEAT_ALREADY_CLAIMED"
        dead = seat in self.state.splits.get(current.key, {}) and self.rules.split == "dead"
        return "HAND_NOT_IN_PAYTABLE" if dead else None

    def _deed_why_not(self, current: Round, verb: str, seat: int, hand: str) -> str | None:
        mine = [win for win in self.wins_of(current) if win.seat == seat]
        if verb == "claim":
            known = None if hand in self.rules.rows else "HAND_NOT_IN_PAYTABLE"
            return self._seat_dead(current, seat) or known
        if verb != "split":
            return super()._deed_why_not(current, verb, seat, hand)
        if seat in current.folded and not self.rules.tables[current.table][1]:
            return "SEAT_FOLDED"
        if mine and self.rules.split != "no-effect":
            return "SEAT_ALREADY_CLAIMED"
        return "ALREADY_DONE" if seat in self.state.splits.get(current.key, {}) else None

    def _round_why_not(self, current: Round, verb: str) -> str | None:
        running = self.state.of(current) and not self._over(current) and current.stakes
        return "STREAK_RUNNING" if verb == "end" and running else super()._round_why_not(current, verb)

    def _correct_why_not(self, win: Win, seat: object, hand: object) -> str | None:
        reason = super()._correct_why_not(win, seat, hand)
        if reason in {None, "AWARD_NOT_PENDING", "ALREADY_DONE"}:
            return self._against(win.round, str(hand or win.hand)) or reason
        return reason

    def _other_seat_why_not(self, win: Win, seat: int) -> str | None:
        reason = self._seat_why_not(win.round, seat)
        if reason is not None:
            return reason
        if seat in win.round.folded and not self.rules.tables[win.round.table][1]:
            return "SEAT_FOLDED"
        others = [one for one in self.wins_of(win.round) if one.seat == seat and one.id != win.id]
        if len(others) >= self.state.hands(win.round, seat):
            return "SEAT_ALREADY_CLAIMED"
        dead = seat in self.state.splits.get(win.round.key, {}) and self.rules.split == "dead"
        return "HAND_NOT_IN_PAYTABLE" if dead else None
