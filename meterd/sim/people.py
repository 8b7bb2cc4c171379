"""The people of one table: players and a dealer, who know the game and read the pad, and the supervisor they call.

They act only through chips, buttons and keys, and only on what lamps, pad and cards tell them. They make mistakes, as
often as their habits say. A pause is human time, divided by the speed; waiting for a lamp or the pad is not.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final

from meterd.handrank import Card
from meterd.sim.cards import lucky_cards, read_hand, shuffled, stacked
from meterd.sim.modules import Lamp
from meterd.sim.pit import Pit
from meterd.sim.plan import Habits
from meterd.sim.supervisor import Layout, Supervisor
from meterd.sim.table import ANSWER_S, Table
from protocols import pad_words
from protocols.pad_words import read_preview

#: A late chip lies at least this long: nobody snatches it back faster.
LATE_CHIP_S: Final = 0.15
#: How long people wait for lamps before they begin the round again.
LAMPS_S: Final = 3.0
#: How long they watch a closed table before they look at it anew.
CLOSED_S: Final = 5.0
_END_GAME_TRIES: Final = 5
#: Of the rows of a pay table, those a stacked deck aims at: the first ones, which pay from the meters.
_HIGH_ROWS: Final = 3


class People:
    """Everybody at one table. ``play`` runs until it is cancelled; they sit down ``begin_s`` seconds late."""

    def __init__(
        self,
        table: Table,
        habits: Habits,
        chance: random.Random,
        speed: float,
        *,
        begin_s: float = 0.0,
        pit: Pit | None = None,
    ) -> None:
        self.table = table
        self.habits = habits
        self.chance = chance
        self.speed = speed
        self.begin_s = begin_s
        self._journal = table.journal
        self._layout = Layout()
        self._supervisor = Supervisor(table, pit, self._pause)

    async def play(self) -> None:
        """Round after round, as the pad allows."""
        await self._pause(self.begin_s)
        while True:
            if self.table.is_open():
                await self.round()
            elif self.table.is_locked():
                await self.end_round(ours=False)
            elif self.table.needs_end_game():
                await self._open_again()
            else:
                await self.table.until(self._something_to_do, CLOSED_S)

    async def round(self) -> None:
        """One round, from the first chip to END GAME; given up where lamps or pad do not answer."""
        accepted = await self._bet_and_lock()
        if accepted is None:
            await self._pause(0.3)
            return
        late = await self._bet_late(accepted)
        await self._pause(1.9)
        winners = self._deal(accepted)
        await self._pause(0.4)
        for seat in accepted:
            self.table.lift_chip(seat)
        if self._happens(self.habits.void_round):
            await self._void_round()
        else:
            await self._settle(accepted, winners)
        await self._push_back(late)
        await self.end_round(ours=True)

    # ---- betting

    async def _bet_and_lock(self) -> tuple[int, ...] | None:
        """Players put their chips, the dealer checks the lamps and presses LOCK.

        Returns the seats with a steady lamp; None where the round did not come about.
        """
        table = self.table
        self._layout = Layout()
        await self._clear_chips()
        players = [seat for seat in table.seats if self._happens(self.habits.busy)]
        for seat in players or [self.chance.choice(table.seats)]:
            await self._pause(self.chance.uniform(0.05, 0.2))
            table.put_chip(seat)
        if self._happens(self.habits.take_back):
            await self._take_back()
        chips = table.chips()
        if not await table.until(lambda: self._lamps_show(chips) or not table.is_open(), LAMPS_S):
            await self._clear_chips()
            return None
        await self._pause(0.9)
        if not chips or not table.is_open():
            return None
        await table.press_lock()
        if not await table.until(table.is_locked, LAMPS_S):
            return None
        await table.until(lambda: all(table.lamp(seat) is Lamp.STEADY for seat in chips), LAMPS_S)
        self._journal.counts["wagers"] += len(chips)
        return tuple(seat for seat in chips if table.lamp(seat) is Lamp.STEADY)

    async def _take_back(self) -> None:
        """A player thinks again, before LOCK: the chip goes, and sometimes comes back."""
        seat = self.chance.choice(sorted(self.table.chips()))
        if not await self.table.until(lambda: self.table.lamp(seat) is Lamp.FLASH, LAMPS_S):
            return
        await self._pause(0.2)
        self.table.lift_chip(seat)
        await self.table.until(lambda: self.table.lamp(seat) is Lamp.DARK, LAMPS_S)
        if self._happens(0.5) or not self.table.chips():
            self.table.put_chip(seat)

    async def _bet_late(self, accepted: tuple[int, ...]) -> int | None:
        """A player puts a chip after LOCK. Its lamp must stay dark."""
        free = sorted(set(self.table.seats) - self.table.chips() - set(accepted))
        if not free or not self._happens(self.habits.late):
            return None
        await self._pause(0.3)
        seat = self.chance.choice(free)
        self._journal.counts["late_bets"] += 1
        self._journal.note("late", table=self.table.plan.id, seat=seat, lock=self.table.locks)
        self.table.put_chip(seat)
        await self.table.until(lambda: self.table.lamp(seat) is not Lamp.DARK, LATE_CHIP_S)
        return seat

    async def _push_back(self, late: int | None) -> None:
        """The dealer returns a late chip, and looks at its lamp."""
        if late is not None:
            if self.table.lamp(late) is not Lamp.DARK:
                self._journal.counts["late_lamps_lit"] += 1
                self._journal.note("late_lamp_lit", table=self.table.plan.id, seat=late, lock=self.table.locks)
            self.table.lift_chip(late)

    async def _clear_chips(self) -> None:
        """Nothing lies on the sensors, and no lamp says otherwise."""
        for seat in self.table.chips():
            self.table.lift_chip(seat)
        await self.table.until(lambda: self._lamps_show(frozenset()) or not self.table.is_open(), LAMPS_S)

    def _lamps_show(self, chips: frozenset[int]) -> bool:
        return all((self.table.lamp(seat) is Lamp.FLASH) == (seat in chips) for seat in self.table.seats)

    # ---- cards

    def _deal(self, seats: tuple[int, ...]) -> dict[int, str]:
        """Deal from a shuffled deck, sometimes a stacked one; which seats made which row."""
        plan = self.table.plan
        deck = shuffled(self.chance, plan.decks)
        own, board = plan.own_cards, plan.community_cards
        at = {seat: list(range(n * own, n * own + own)) for n, seat in enumerate(seats)}
        community = list(range(len(seats) * own, len(seats) * own + board))
        if seats and self._happens(self.habits.lucky):
            wanted = lucky_cards(plan.evaluator, self.chance.choice(plan.hands[:_HIGH_ROWS]), self.chance)
            if wanted:
                deck = stacked(deck, wanted, at[self.chance.choice(seats)] + community)
        shared = [deck[place] for place in community]
        dealt = {seat: [deck[place] for place in places] for seat, places in at.items()}
        self._layout = Layout(_text(shared), {seat: _text(cards) for seat, cards in dealt.items()})
        self._journal.note(
            "dealt",
            table=plan.id,
            lock=self.table.locks,
            board=self._layout.board,
            seats={str(seat): cards for seat, cards in self._layout.seats.items()},
        )
        read = {seat: read_hand(plan.evaluator, [*cards, *shared], plan.hands) for seat, cards in dealt.items()}
        return {seat: hand for seat, hand in read.items() if hand is not None}

    # ---- the pad

    async def _settle(self, accepted: tuple[int, ...], winners: dict[int, str]) -> None:
        """Key the winners, from the highest seat down; then the supervisor."""
        if accepted and self._happens(self.habits.void_seat):
            seat = self.chance.choice(accepted)
            winners.pop(seat, None)
            await self._void_seat(seat)
        taken = 0
        for seat in sorted(winners, reverse=True):
            taken += await self._claim(seat, winners[seat])
        if taken:
            await self._supervisor.settle(self._layout)

    async def _claim(self, seat: int, hand: str) -> bool:
        """Key one winner: seat, hand, read, ENTER. What reads wrong is cleared and keyed again."""
        key = self.table.plan.hands.index(hand) + 1
        for _ in range(3):
            await self._key_line(*self._keyed(seat, key))
            shown = read_preview(self.table.line)
            await self._pause(0.4)
            if shown and (shown.seat, shown.hand) == (seat, key):
                await self.table.press(pad_words.KEY_ENTER)
                if not await self.table.until(lambda: read_preview(self.table.line) is None, ANSWER_S):
                    return False
                refused = self.table.line.startswith(pad_words.REFUSED)
                self._journal.counts["claims_refused" if refused else "claims"] += 1
                self._journal.note(
                    "claim",
                    table=self.table.plan.id,
                    seat=seat,
                    hand=hand,
                    shown=shown.amount,
                    answer=self.table.line,
                    lock=self.table.locks,
                )
                return not refused
            self._journal.counts["mistyped"] += 1
            await self.table.press(pad_words.KEY_CLEAR)
            await self._pause(0.3)
        return False

    def _keyed(self, seat: int, key: int) -> tuple[int, int]:
        """What the fingers press: now and then the wrong hand or the wrong seat."""
        if not self._happens(self.habits.mistype):
            return seat, key
        if self._happens(0.5) and len(self.table.plan.hands) > 1:
            return seat, self.chance.choice([n for n in range(1, len(self.table.plan.hands) + 1) if n != key])
        return self.chance.choice([other for other in self.table.seats if other != seat] or [seat]), key

    async def _key_line(self, seat: int, key: int) -> None:
        for digit in str(seat):
            await self.table.press(f"digit-{digit}")
            await self._pause(0.15)
        await self.table.press(f"hand-{key}")

    async def _void_seat(self, seat: int) -> None:
        for digit in str(seat):
            await self.table.press(f"digit-{digit}")
            await self._pause(0.15)
        await self.table.press(pad_words.KEY_VOID_SEAT)
        self._journal.counts["seats_voided"] += 1
        self._journal.note("void_seat", table=self.table.plan.id, seat=seat, answer=self.table.line)

    async def _void_round(self) -> None:
        await self.table.press(pad_words.KEY_VOID_ROUND)
        self._journal.counts["rounds_voided"] += 1
        self._journal.note("void_round", table=self.table.plan.id, answer=self.table.line)

    # ---- the end of a round

    async def end_round(self, *, ours: bool) -> None:
        """END GAME, and whatever the pad wants before it."""
        for _ in range(_END_GAME_TRIES):
            if self.table.line.startswith(pad_words.WAIT_SUPERVISOR):
                await self._supervisor.settle(self._layout)
            await self._pause(0.7)
            await self.table.press(pad_words.KEY_END_GAME)
            if await self.table.until(self.table.is_open, 0.5):
                self._journal.counts["rounds"] += ours
                self._journal.note("end_game", table=self.table.plan.id, lock=self.table.locks, answer=self.table.line)
                return
            if self.table.line.startswith(pad_words.REFUSED):
                await self._supervisor.settle(self._layout)
            if not self.table.is_locked():
                return

    async def _open_again(self) -> None:
        """After a fault: the dealer clears the layout and presses END GAME."""
        for seat in self.table.chips():
            self.table.lift_chip(seat)
        await self._pause(0.5)
        await self.table.press(pad_words.KEY_END_GAME)
        await self.table.until(self.table.is_open, ANSWER_S)

    def _something_to_do(self) -> bool:
        return self.table.is_open() or self.table.is_locked() or self.table.needs_end_game()

    def _happens(self, share: float) -> bool:
        return self.chance.random() < share

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.speed)


def _text(cards: list[Card]) -> str:
    return " ".join(map(str, cards))
