"""A second, stupid reckoning of the money rules: the history of a link, and why an act is refused.

Rule 1: written from the money rules alone; imports nothing of meterd, so that the two can only agree by being right.
Rule 2: a void is what its definition says: play the whole history again as if the claim had never been made.
"""

from __future__ import annotations

from twin_records import Round, Rules, Win
from twin_state import State


class Twin:
    """The history so far and the state it leads to. ``do`` answers None, or why not."""

    makes: type[State] = State

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.history: list[tuple[object, ...]] = []
        self.state = self.makes(rules)
        self.voided: dict[str, Win] = {}
        self.claims = 0

    def do(self, act: tuple[object, ...], claims: int | None = None) -> str | None:
        """Answer None, or why not. ``claims`` so far, where other links share their numbers."""
        self.claims = self.claims if claims is None else claims
        reason = self.why_not(act)
        if reason is None:
            settles = self._carry_out(act) is not None
            while settles and self._close_one():
                pass
        return reason

    def _close_one(self) -> bool:
        """Close one tie that waits for nobody any more, in whatever round: one of its own was asked for, or went.

        Or another that it stood behind.
        """
        for key in dict.fromkeys(win.round.key for win in self.state.wins.values()):
            for level, together in self.state.open_ties(key):
                wins = [self.state.wins[award] for award in together]
                dead = any(self.state.dead(win) for win in wins)
                if not dead and all(self._verified(win) and not self._stands_behind(win, together) for win in wins):
                    self._add(("close", min(together, key=lambda award: int(award[1:])), level))
                    return True
        return False

    def _add(self, act: tuple[object, ...]) -> None:
        self.history.append(act)
        self.state.apply(act)

    def _carry_out(self, act: tuple[object, ...]) -> tuple[str, int] | None:
        """Do it. Tells the round whose ties may be complete by it."""
        verb = act[0]
        key = self.state.wins[str(act[1])].round.key if verb in {"confirm", "void", "correct"} else None
        if verb == "claim":
            self.claims += 1
            act = ("claim", f"A{self.claims}", *act[1:])
        if verb == "lock":
            act = (*act, {})
        if verb == "void":
            self._void(str(act[1]))
        elif verb == "correct":
            self._correct(str(act[1]), act[2], act[3])
        elif verb == "void-seat":
            key = self._void_wagers(str(act[1]), [int(str(act[2]))])
        elif verb == "void-round":
            key = self._void_wagers(str(act[1]), sorted(self.state.running(str(act[1])).stakes))
        else:
            self._add(act)
        return key

    def _again(self, table: str) -> None:
        """Tell the history again. Awards settled stand; what a level sends on otherwise than then, it sends now."""
        old = self.state
        pins = {win.id: [part.cents for part in win.slices] for win in old.wins.values() if win.status != "pending"}
        self.state = self.makes(self.rules, pins)
        for act in self.history:
            self.state.apply(act)
        self.state.pins = {}
        ways = {**old.sent, **self.state.sent}
        for source in self.rules.levels:
            for way in [way for way in ways if way[0] == source]:
                more = self.state.sent[way] - old.sent[way]
                if more:
                    self._add(("shift", way[1], more, table))

    def _void(self, award: str) -> None:
        gone = self.state.wins[award]
        self.voided[award] = gone
        gone.status = "voided"
        self.history = [act for act in self.history if act[1:2] != (award,)]
        self._again(gone.round.table)

    def _correct(self, award: str, seat: object, hand: object) -> None:
        table = self.state.wins[award].round.table
        for place, act in enumerate(self.history):
            if act[0] == "claim" and act[1] == award:
                self.history[place] = (*act[:3], seat or act[3], hand or act[4], act[5], True)
        # whoever verified it as a member of a tie verified another claim
        self.history = [act for act in self.history if act[:2] != ("confirm", award)]
        self._again(table)

    def _void_wagers(self, table: str, seats: list[int]) -> tuple[str, int] | None:
        current = self.state.running(table)
        gone = [win for win in reversed(self.wins_of(current)) if win.seat in seats]
        for win in gone:
            self._void(win.id)
        for seat in seats:
            self._add(("void-wager", table, seat))
        return current.key if gone else None

    # why not

    def why_not(self, act: tuple[object, ...]) -> str | None:
        verb, *rest = act
        if verb in {"confirm", "hold", "void", "correct", "pay", "undo"}:
            return self._award_why_not(act)
        return None if verb == "crash" else self._about_table_why_not(act, str(rest[0]))

    def _about_table_why_not(self, act: tuple[object, ...], table: str) -> str | None:
        verb, _, *rest = act
        current = self.state.rounds[table]
        waits = self.state.shut_tables.get(table)
        if verb in {"shut", "open"}:
            return self._table_why_not(current, waits, str(verb))
        if waits is not None:
            return None if verb == "end" and waits else "TABLE_CLOSED"
        if current is None or verb == "lock":
            return self._open_why_not(table, current, str(verb))
        if verb in {"end", "void-round", "join"}:
            return self._round_why_not(current, str(verb))
        seat, hand = int(str(rest[0])), str(rest[1]) if verb == "claim" else ""
        return self._seat_why_not(current, seat) or self._deed_why_not(current, str(verb), seat, hand)

    def _open_why_not(self, table: str, current: Round | None, verb: str) -> str | None:
        if verb == "lock":
            return None if current is None else "ALREADY_DONE"
        if verb == "join":
            return None
        return "ROUND_CLOSED" if table in self.state.ended and verb != "end" else "TABLE_NOT_LOCKED"

    def _table_why_not(self, current: Round | None, waits: bool | None, verb: str) -> str | None:
        if verb == "shut":
            return None if waits is None else "ALREADY_DONE"
        if waits is None or current is not None:
            return "ALREADY_DONE"
        return "TABLE_CLOSED" if waits else None

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
        if not 1 <= seat <= self.rules.tables[current.table][0]:
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
            stands = any(win.status in {"confirmed", "paid"} for win in mine)
            return "ROUND_HAS_CONFIRMED_AWARD" if stands and not live else None
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
        if verb == "confirm" and win.status == "pending" and self.state.dead(win):
            return "SEAT_FOLDED"
        needed = {"pay": ("confirmed",), "undo": ("confirmed", "paid")}.get(verb, ("pending",))
        if win.status not in needed:
            return "AWARD_NOT_PENDING"
        if verb == "hold" and win.held and not win.verified:
            return "ALREADY_DONE"
        return self._must_wait(win) if verb == "confirm" and win.percent else None

    def _must_wait(self, win: Win) -> str | None:
        """An earlier pending award on a level of it, or of a mate that would be confirmed with it."""
        mates = next((mates for _, mates in self.state.open_ties(win.round.key) if win.id in mates), {win.id})
        others = [self.state.wins[mate] for mate in mates if mate != win.id]
        last = all(self._verified(other) for other in others)
        if last and any(self.state.dead(other) for other in others):
            return "SEAT_FOLDED"
        if any(self._stands_behind(one, mates) for one in [win, *(others if last else [])]):
            return "EARLIER_AWARD_PENDING"
        return "ALREADY_DONE" if self._verified(win) and not last else None

    def _verified(self, win: Win) -> bool:
        """Whether it only waits for the others of its tie."""
        return win.verified

    def _stands_behind(self, win: Win, mates: set[str]) -> bool:
        """Whoever is confirmed together stands where the first of them was claimed."""
        place = min(int(mate[1:]) for mate in {win.id, *mates})
        return win.percent and any(
            int(other.id[1:]) < place and other.status == "pending" and win.levels & other.levels
            for other in self.state.wins.values()
        )

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
