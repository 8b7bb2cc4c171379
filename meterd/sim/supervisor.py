"""The supervisor of a simulated table: key switch or badge, and the way to the pit where an award needs its cards.

Whoever is called reads the pad and does what it says. What a pad cannot take is done at the terminal of the pit, with
the cards that lie on the layout; where they do not prove the award, two of the pit void it, so that the game goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from meterd.sim.pit import Pit, Said
from meterd.sim.table import Table
from protocols import pad_words
from protocols.pad_words import read_supervisor

_STEPS: Final = 24
#: How often a supervisor looks again while an earlier award, of another table too, is still to be settled.
_PATIENCE: Final = 20
_EARLIER_ON_PAD: Final = f"{pad_words.REFUSED} EARLIER"
_EARLIER: Final = "EARLIER_AWARD_PENDING"


class Layout(NamedTuple):
    """The cards on a table's layout: the board, and each seat's own; empty where nobody has seen them."""

    board: str = ""
    seats: Mapping[int, str] = {}


class Supervisor:
    """Whoever comes to one table when its pad calls. ``pit`` None: there is no terminal, what a pad refuses stays."""

    def __init__(self, table: Table, pit: Pit | None, pause: Callable[[float], Awaitable[None]]) -> None:
        self.table = table
        self._pit = pit
        self._pause = pause
        self._journal = table.journal

    async def settle(self, layout: Layout) -> None:
        """Turn the key, read, and confirm and pay until nothing of this table is open."""
        await self._pause(0.8)
        refused = waited = 0
        for _ in range(_STEPS + _PATIENCE):
            asked = await self._turn_key()
            if asked is None:
                break
            await self._pause(0.4)
            # Refused twice, the award cannot be settled here: it is voided, so that the game can go on.
            voided = refused > 1
            await self.table.press(pad_words.KEY_VOID_SEAT if voided else pad_words.KEY_ENTER)
            answer = self.table.line
            self._journal.note("supervisor", table=self.table.plan.id, asked=list(asked), answer=answer)
            if answer.startswith(pad_words.TAKEN):
                refused = 0
                self._count("paid" if asked[0] == pad_words.PAY else "awards_voided" if voided else "confirmed")
                continue
            earlier = answer.startswith(_EARLIER_ON_PAD)
            if answer.startswith(pad_words.CARDS_AT_THE_PIT) and self._pit is not None:
                earlier = await self._at_the_pit(self._pit, asked[1], layout)
            elif voided and self._pit is not None:
                await self._void_by_two(self._pit, asked[1])
            elif not earlier:
                refused += 1
            if earlier and waited < _PATIENCE:
                waited += 1
                await self._pause(1.0)
            elif earlier:
                break  # END GAME asks for it again
        await self.table.press(pad_words.KEY_CLEAR)

    async def _turn_key(self) -> tuple[str, str] | None:
        """The key, or the badge and ENTER; what the pad asks about then."""
        await self.table.press(pad_words.KEY_SUPERVISOR)
        if self.table.line.startswith(pad_words.BADGE):
            await self._pause(0.3)
            await self.table.press(pad_words.KEY_ENTER)
        return read_supervisor(self.table.line)

    async def _at_the_pit(self, pit: Pit, award: str, layout: Layout) -> bool:
        """Enter the cards of an award, or void it by two. True: wait, for an earlier one or for the daemon."""
        await self._pause(1.5)
        seat = await pit.seat_of(award)
        own = layout.seats.get(seat, "") if seat is not None else ""
        if own:
            shared = f' community "{layout.board}"' if layout.board else ""
            said = await self._say(pit, f'confirm {award} cards "{own}"{shared}', award)
            self._count("confirmed" if said.done else "")
            if said.refused in {"", _EARLIER}:
                return not said.done
        return not await self._void_by_two(pit, award)

    async def _void_by_two(self, pit: Pit, award: str) -> bool:
        said = await self._say(pit, f"void {award} reason no-proof", award, people=2)
        self._count("awards_voided" if said.done else "")
        return bool(said.done or said.refused)

    async def _say(self, pit: Pit, statement: str, award: str, people: int = 1) -> Said:
        said = await pit.act(statement, people)
        self._journal.note("pit", table=self.table.plan.id, award=award, statement=statement, answer=said.text)
        return said

    def _count(self, done: str) -> None:
        if done:
            self._journal.counts[done] += 1
