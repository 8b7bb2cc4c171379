"""What the host of one SAS line says next, and what it makes of the answers: no port, no clock.

Rule 1: broadcasts and polls share one grid (200 ms), so no game is spoken to more often than it allows; they take
turns, so that each configured level is heard well within the 5 s after which a game gives it up.
Rule 2: a level is said only with the figure that the caller gives for this very moment. A level without one is left
out, and the games on it raise exception 53 themselves: nothing old is ever said.
Rule 3: any other transmission on the line tells a game that its answer was taken (implied ACK) and lets it forget.
So while the answer to a win poll is awaited, was garbled, or is not on disk yet, the same poll is repeated (implied
NACK) and nothing else is said on this line. Then the levels are said first of all, with the new figure. Where a game
may have answered before, or has said that it holds a win, its silence is no answer either: after 3 s the line goes on,
for the other games, and :class:`MaybeLost` says so before anything else is said.
Rule 4: an answer that is read once more may be the same win or its twin. It is the same until the game has answered
another poll in between, for then it has let the first one go; so a win poll follows another only after that. A game
that was not spoken to for 5 s may have kept it through the next word; what it answers is no proof before it was asked.
Rule 5: a line without addresses is broadcast only: it expects no answer of anybody.

Times are milliseconds of any clock that does not step.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from protocols.sas import (
    CENTS_MAX,
    EXTENDED,
    NO_ACTIVITY,
    RATE_MAX,
    SAS_LEVEL_HIT,
    SAS_WIN,
    SINGLE,
    TO_ALL,
    AskWins,
    Busy,
    ExtendedLevel,
    ExtendedLevels,
    GeneralPoll,
    LevelAmount,
    MultiLevel,
    Request,
    SingleLevel,
    Told,
    Wins,
    Word,
    encode,
)
from protocols.sas_read import answer_to

GRID_MS: Final = 200
LEVEL_LIMIT_MS: Final = 5000  # a game that hears nothing of a level for so long raises exception 53
TRIES: Final = 3  # a poll, and two repeats of it
REPEAT_MS: Final = 1000  # while a win is not on disk: often enough that no game thinks the line is dead
GARBLED_MS: Final = 3000  # how long a win that arrives garbled keeps the line to itself: the levels are not said
GARBLED_REST_MS: Final = 30_000  # before such a game is asked again: the others are served meanwhile
STALLED_MS: Final = 4000  # nothing was said: some games think by now, or soon, that the line is dead
QUIET_TRIES: Final = 3  # unanswered polls after which a game counts as away


class HostPlan(NamedTuple):
    """One line: its group, its levels (1 to 32), the games that are polled, and with which messages."""

    group: int
    levels: tuple[int, ...]
    addresses: tuple[int, ...] = ()
    broadcast: int = 0x86
    win_poll: int = SAS_WIN
    grid_ms: int = GRID_MS

    @property
    def cycle_ms(self) -> int:
        """The longest time between two words to one game, and between two broadcasts of one level."""
        broadcasts = len(self.levels) if self.broadcast == SINGLE else 1
        turns = 2 if self.addresses else 1
        return self.grid_ms * turns * max(broadcasts, len(self.addresses))


class Quote(NamedTuple):
    """What a level stands at now; base and rate for the extended broadcast."""

    cents: int
    base_cents: int = 0
    rate_ppm: int = 0


class Said(NamedTuple):
    """An exception a game told, other than "nothing"."""

    address: int
    code: int


class Won(NamedTuple):
    """Wins a game told. The line waits until :meth:`Host.durable`. ``answer`` is the same for the same answer."""

    address: int
    group: int
    wins: tuple[LevelAmount, ...]
    answer: bytes


class Settled(NamedTuple):
    """The game has let go of what it told last: from now on the same answer would be another win."""

    address: int


class Unread(NamedTuple):
    """A game has a win, and its answer could not be read in all this time. The line goes on."""

    address: int
    raw: bytes
    again: bool = False  # since the last such word nothing showed that it let go of what it had then


class MaybeLost(NamedTuple):
    """A game may have told a win that nobody read, and tells nothing now: whatever is said next lets it go."""

    address: int
    again: bool = False  # as above


class Odd(NamedTuple):
    """Words that are no answer, or another one than was asked for."""

    address: int
    cause: str
    raw: bytes


class Presence(NamedTuple):
    """A game answers again, or no longer."""

    address: int
    up: bool


Event = Said | Won | Settled | Unread | MaybeLost | Odd | Presence


@dataclass(slots=True)
class _Game:
    """What the host knows of one game."""

    up: bool | None = None
    silent: int = 0
    win_waits: bool = True  # until it was asked once: nobody knows what it won while we were away
    hit: bool = False  # it said that it holds a win, and has not told it yet
    ask_after_ms: int = 0
    settled: bool = True  # nothing it told may be told again as the same
    missed: bool = False  # it may still hold what was told of as unread or lost
    unsure: bool = False  # it may still hold what it told, though other words were said since


@dataclass(slots=True)
class _Hold:
    """A win poll whose answer must not be acknowledged yet. ``answer`` is what was read; None: nothing so far."""

    address: int
    since_ms: int
    tries: int = 0
    garbled: bool = False
    doubtful: bool = False  # a win may have been told that nobody read
    answer: bytes | None = None


@dataclass(slots=True)
class Host:
    """One line. Call :meth:`step` when :meth:`due_ms` has come, transmit what it gives, and tell :meth:`heard`."""

    plan: HostPlan
    said_ms: dict[int, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    _due_ms: int | None = None
    _steps: list[int] = field(default_factory=list)  # the last two
    _games: dict[int, _Game] = field(default_factory=dict)
    _first: deque[tuple[int, bool]] = field(default_factory=deque)
    _hold: _Hold | None = None
    _repeat: tuple[int, int] | None = None  # a general poll that was garbled, and how often it was
    _broadcast_turn: bool = True
    _polls: deque[int] = field(default_factory=deque)
    _singles: deque[int] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Every game may have a win from before."""
        self._games = {address: _Game() for address in self.plan.addresses}
        self._polls = deque(self.plan.addresses)
        self._singles = deque(self.plan.levels)

    def hold(self, address: int, *, doubtful: bool = False) -> None:
        """This game may still hold what it told (doubtful: unread): it is asked before anything else is said."""
        if address in self._games:
            self._first.append((address, doubtful))
            self._games[address].settled = False

    def durable(self, address: int, answer: bytes) -> None:
        """The wins in ``answer`` are on disk: whatever is said next may acknowledge them."""
        if self._hold is not None and self._hold.address == address and self._hold.answer == answer:
            self._hold = None
            self._games[address].settled = False
            self._broadcast_turn = True

    def unsaid(self) -> None:
        """What :meth:`step` gave was not transmitted after all; the game is asked in a later turn."""
        if self._hold is not None and self._hold.answer is None:
            self._hold = None
        del self._steps[-1:]

    def not_kept(self) -> None:
        """What was just told could not be kept: it is asked again, and told again as :class:`Won`."""
        if self._hold is not None:
            self._hold.answer, self._hold.doubtful = None, True

    @property
    def waiting(self) -> bool:
        """Whether the line waits for a win to be read or to be on disk."""
        return self._hold is not None

    @property
    def unread(self) -> bool:
        """Whether a game was asked for wins and may have told some that were not read yet."""
        return self._hold is not None and self._hold.answer is None

    def due_ms(self, now_ms: int) -> int:
        """When the next transmission may begin."""
        return now_ms if self._due_ms is None else self._due_ms

    def step(self, now_ms: int, quotes: Mapping[int, Quote]) -> Request | None:
        """What to say now, with the figures that hold now; None where there is nothing to say in this turn."""
        begun, grid = self.due_ms(now_ms), self.plan.grid_ms
        self._stalled(now_ms)
        self._steps = [*self._steps[-1:], now_ms]
        self._due_ms = begun + grid if now_ms - begun < grid else now_ms + grid
        if self._hold is None and self._first:
            address, doubtful = self._first.popleft()
            self._hold = _Hold(address, now_ms, doubtful=doubtful)
        if self._hold is not None:
            return self._again(self._hold, now_ms)
        if self._repeat is not None:
            return GeneralPoll(self._repeat[0])
        said = self._broadcast(now_ms, quotes) if self._broadcast_turn or not self._polls else None
        if said is None and self._polls:
            self._broadcast_turn = True
            return self._poll(now_ms)
        self._broadcast_turn = not self._polls
        return said

    def _stalled(self, now_ms: int) -> None:
        """Two words that follow each other leave after the step of the first one and before this."""
        if self._steps and now_ms - self._steps[0] >= STALLED_MS:
            self._doubt(*self._games)

    def _doubt(self, *addresses: int) -> None:
        """These games may have been out of step when they should have let go of what they told."""
        hold = self._hold
        for address, game in ((each, self._games[each]) for each in addresses):
            read = hold is not None and hold.address == address and hold.answer is not None
            game.unsure = read or not game.settled
            game.win_waits = game.win_waits or game.unsure

    def _again(self, hold: _Hold, now_ms: int) -> Request:
        """The poll whose answer we wait for, or wait to have on disk."""
        hold.tries += 1
        if hold.answer is not None:
            self._due_ms = now_ms + max(REPEAT_MS, self.plan.grid_ms)
        return AskWins(hold.address, self.plan.win_poll)

    def _poll(self, now_ms: int) -> Request:
        """The next game: its exceptions, or its wins where it has some."""
        address = self._polls.popleft()
        self._polls.append(address)
        game = self._games[address]
        if game.win_waits and (game.settled or game.unsure) and game.up is not False and now_ms >= game.ask_after_ms:
            self._hold = _Hold(address, now_ms, tries=1)
            return AskWins(address, self.plan.win_poll)
        return GeneralPoll(address)

    def _broadcast(self, now_ms: int, quotes: Mapping[int, Quote]) -> Request | None:
        usable = {level: quotes[level] for level in self.plan.levels if level in quotes and _fits(quotes[level])}
        if not usable:
            return None
        group, said = self.plan.group, tuple(usable)
        message: Request
        if self.plan.broadcast == SINGLE:
            while self._singles[0] not in usable:
                self._singles.rotate(-1)
            said = (self._singles[0],)
            self._singles.rotate(-1)
            message = SingleLevel(TO_ALL, group, LevelAmount(said[0], usable[said[0]].cents))
        elif self.plan.broadcast == EXTENDED:
            message = ExtendedLevels(TO_ALL, group, tuple(ExtendedLevel(level, *usable[level]) for level in said))
        else:
            message = MultiLevel(TO_ALL, group, tuple(LevelAmount(level, usable[level].cents) for level in said))
        self.said_ms.update(dict.fromkeys(said, now_ms))
        self.counts["broadcasts"] += 1
        return message

    # ---- answers

    def heard(self, request: Request, line: Sequence[Word], now_ms: int) -> list[Event]:
        """What came back until the line was quiet. A broadcast is never answered: whatever is heard then is odd."""
        raw = bytes(word.byte for word in line)
        heard = answer_to(request, line)
        self._stalled(now_ms)
        self.counts["chirps"] += len(heard.chirps)
        if request.address == TO_ALL:
            return [Odd(TO_ALL, str(heard.cause), raw)] if heard.cause is not None else []
        self.counts["polls"] += 1
        events = self._presence(request.address, answered=heard.answer is not None or heard.cause is not None)
        if heard.cause is not None:
            self.counts["garbled"] += 1
            events.append(Odd(request.address, heard.cause.value, raw))
        elif heard.answer is None:
            self.counts["unanswered"] += 1
        if isinstance(request, AskWins):
            wins = heard.answer if isinstance(heard.answer, Wins) else None
            if self._hold is not None and self._hold.address == request.address:
                self._hold.garbled |= heard.cause is not None  # a chirp is silence: such a game heard no poll
            return events + self._asked(request.address, wins, now_ms, raw, busy=isinstance(heard.answer, Busy))
        return events + self._told(request.address, heard.answer, garbled=heard.cause is not None)

    def _presence(self, address: int, *, answered: bool) -> list[Event]:
        game = self._games[address]
        game.silent = 0 if answered else game.silent + 1
        before = game.up
        if answered or game.silent >= QUIET_TRIES:
            game.up = answered
        if game.up == before or game.up is None:
            return []
        game.win_waits = game.win_waits or game.up
        return [Presence(address, game.up)]

    def _told(self, address: int, answer: object, *, garbled: bool) -> list[Event]:
        """An exception. A garbled one is asked for again at once; what it was then may have been a win."""
        tries = self._repeat[1] if self._repeat is not None and self._repeat[0] == address else 0
        self._repeat = None
        if garbled:
            if tries + 1 < TRIES:
                self._repeat = (address, tries + 1)
            else:
                self._games[address].win_waits = True
        if not isinstance(answer, Told):
            return []
        events = self._settle(address)
        self._games[address].missed &= answer.code == SAS_LEVEL_HIT
        if answer.code == SAS_LEVEL_HIT:
            self._games[address].win_waits = self._games[address].hit = True
            self._polls.remove(address)
            self._polls.appendleft(address)
            self.counts["hits"] += 1
        return [*events, Said(address, answer.code)] if answer.code != NO_ACTIVITY else events

    def _settle(self, address: int) -> list[Event]:
        game = self._games[address]
        if game.settled or game.unsure:
            return []
        game.settled = True
        return [Settled(address)]

    def _asked(self, address: int, wins: Wins | None, now_ms: int, raw: bytes, *, busy: bool) -> list[Event]:
        """The answer to a win poll: wins hold the line, what is garbled is repeated; anything else lets it go."""
        hold, game = self._hold, self._games[address]
        if hold is None or hold.address != address:
            return []
        game.missed = game.missed and wins is None
        if wins is not None and wins.wins:
            answer = encode(wins)
            if answer == hold.answer:
                return []
            hold.answer, hold.since_ms, game.hit, game.unsure = answer, now_ms, False, False
            game.win_waits = self.plan.win_poll == SAS_WIN  # the next of its queue, if there is one
            return [Won(address, wins.group, wins.wins, answer)]
        if hold.answer is None and wins is not None:
            game.win_waits, game.hit, game.unsure, game.settled = False, False, False, True
            self._hold = None
            return [Settled(address)]
        return self._not_read(hold, now_ms, raw, busy=busy) if hold.answer is None else []

    def _not_read(self, hold: _Hold, now_ms: int, raw: bytes, *, busy: bool) -> list[Event]:
        """What came was no answer. Silence and busy let the line go on, but where a win may have been told unread."""
        game = self._games[hold.address]
        hold.doubtful = hold.doubtful or (game.hit and not busy)
        if not hold.garbled and not hold.doubtful:
            if busy or hold.tries >= TRIES:
                self._hold = None
                self._doubt(hold.address)
            return []
        if now_ms - hold.since_ms < GARBLED_MS:
            return []
        if hold.garbled or game.hit:
            game.ask_after_ms = now_ms + GARBLED_REST_MS
        again, game.missed, game.hit, self._hold = game.missed, True, False, None
        self._doubt(hold.address)
        return [Unread(hold.address, raw, again) if hold.garbled else MaybeLost(hold.address, again)]


def _fits(quote: Quote) -> bool:
    return 0 <= quote.cents <= CENTS_MAX and 0 <= quote.base_cents <= CENTS_MAX and 0 <= quote.rate_ppm <= RATE_MAX
