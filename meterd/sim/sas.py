"""Simulated games on a SAS line: they hear broadcasts, tell exceptions and wins, and forget what was acknowledged.

* A game takes part in those levels of its group that it is set to. One it has not heard of for 5 s is exception 53.
* A level that is hit waits in a queue with its amount as last heard; exception 56 says so until the queue is read.
* An answer is repeated for the same poll said again (implied NACK) and let go by anything else said on the line.
* After 5 s without an address byte a game chirps, and takes no poll until another address was spoken to.
* It may be busy, mute, refuse (NACK), or answer with a wrong check.

A pseudo-terminal has no ninth bit. Here marks travel, both ways, as a real terminal with ``PARMRK`` hands them over: a
marked byte as ``FF 00 byte``, a plain FF as ``FF FF``. The daemon's end of a rehearsal does the same.
Times are seconds of the monotonic clock.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from meterd.sim.plan import GamePlan
from protocols.sas import (
    BUSY,
    NO_ACTIVITY,
    NO_PROGRESSIVE_5_S,
    PROGRESSIVE_WIN,
    SAS_LEVEL_HIT,
    SAS_WIN,
    SAS_WINS,
    Ack,
    Answer,
    AskCumulative,
    AskWins,
    Cumulative,
    ExtendedLevels,
    GeneralPoll,
    LevelAmount,
    MarkReader,
    MultiLevel,
    Nack,
    Request,
    SingleLevel,
    Told,
    Wins,
    Word,
    encode,
    marked_stream,
)
from protocols.sas_read import Misheard, RequestReader

LIMIT_S: Final = 5.0
#: Words that come this long after the last ones begin a new message.
GAP_S: Final = 0.05
CHIRP_S: Final = 0.2

Listener = Callable[..., None]


@dataclass
class SasGame:
    """One game. ``amounts``: level → cents last heard; ``faults``: what was wrong with what it heard, by cause."""

    plan: GamePlan
    note: Listener = lambda *_args, **_facts: None
    amounts: dict[int, int] = field(default_factory=dict)
    busy: int = 0  # long polls that it still has no time for
    mute: bool = False
    anew: bool = False  # after 5 s without an address byte an answer is made anew, of all that waits by then
    wrong_check: int = 0  # answers that still go out with a wrong check
    resets: list[tuple[int, int]] = field(default_factory=list)  # level and the first amount heard after its hit

    def __post_init__(self) -> None:
        """Begin with nothing heard."""
        self.wins: deque[LevelAmount] = deque()
        self.cumulative_cents = 0
        self._exceptions: deque[int] = deque()
        self._told: tuple[Request, bytes, Callable[[], None]] | None = None
        self._heard_s: dict[int, float] = {}
        self._lapsed: set[int] = set()
        self._await_reset: set[int] = set()
        self._addressed_s: float | None = None
        self._chirped_s = 0.0
        self._in_step = True

    # ---- what happens at the game

    def hit(self, level: int, at: float) -> int:
        """A player hits a level: what it pays, as last heard."""
        cents = self.amounts.get(level, 0)
        self.wins.append(LevelAmount(level, cents))
        self.cumulative_cents += cents
        self._exceptions.append(PROGRESSIVE_WIN)
        self.note("sas_hit", at, address=self.plan.address, level=level, cents=cents)
        return cents

    def watch(self, at: float) -> bytes:
        """Time passes: levels lapse, and a dead line makes it chirp."""
        for level in self.plan.levels:
            if level in self._heard_s and at - self._heard_s[level] > LIMIT_S and level not in self._lapsed:
                self._lapsed.add(level)
                self._exceptions.append(NO_PROGRESSIVE_5_S)
                self.note("sas_lapsed", at, address=self.plan.address, level=level)
        dead = self._addressed_s is not None and at - self._addressed_s > LIMIT_S
        if not dead or self.mute or at - self._chirped_s < CHIRP_S:
            return b""
        self._in_step, self._chirped_s = False, at
        return marked_stream([Word(self.plan.address, mark=True)])

    # ---- what it hears

    def hear(self, request: Request | Misheard, at: float) -> bytes:
        """A message on the line, to whomever; what this game answers."""
        if self.anew and self._addressed_s is not None and at - self._addressed_s > LIMIT_S:
            self._told = None
        self._addressed_s = at
        mine = request.address == self.plan.address
        if not mine:
            self._in_step = True
        if mine and not self._in_step:
            return b""
        if self._told is not None and not isinstance(request, Misheard):
            asked, answer, forget = self._told
            if request == asked:
                self.note("sas_repeated", at, address=self.plan.address)
                return self._out(answer)
            self._told = None
            forget()
        if isinstance(request, Misheard):
            return self._out(encode(Nack(self.plan.address))) if mine else b""
        self._take(request, at)
        if not mine:
            return b""
        return self._out(self._answer(request, at))

    def _take(self, request: Request, at: float) -> None:
        """The levels of a broadcast, if it is of this game's group."""
        heard: Sequence[LevelAmount] = ()
        match request:
            case SingleLevel(_, group, amount) if group == self.plan.group:
                heard = (amount,)
            case MultiLevel(_, group, amounts) if group == self.plan.group:
                heard = amounts
            case ExtendedLevels(_, group, levels) if group == self.plan.group:
                heard = [LevelAmount(one.level, one.cents) for one in levels]
        for level, cents in heard:
            if level in self.plan.levels:
                self._heard_s[level] = at
                self._lapsed.discard(level)
                if level in self._await_reset:
                    self._await_reset.discard(level)
                    self.resets.append((level, cents))
                    self.note("sas_reset", at, address=self.plan.address, level=level, cents=cents)
                if self.amounts.get(level) != cents:
                    self.note("sas_level", at, address=self.plan.address, level=level, cents=cents)
                self.amounts[level] = cents

    def _answer(self, request: Request, at: float) -> bytes:
        if not isinstance(request, GeneralPoll) and self.busy:
            self.busy -= 1
            return bytes((self.plan.address, BUSY))
        answer: Answer | None = None
        forget: Callable[[], None] = lambda: None  # noqa: E731 - the case that forgets nothing
        match request:
            case GeneralPoll():
                code = SAS_LEVEL_HIT if self.wins else self._exceptions[0] if self._exceptions else NO_ACTIVITY
                answer = Told(code)
                if not self.wins and self._exceptions:
                    forget = self._drop
            case AskWins(address, poll):
                told = tuple(self.wins) if poll == SAS_WINS else tuple(self.wins)[:1]
                answer = Wins(address, poll, self.plan.group if told else 0, told)
                forget = self._forgetting(len(told)) if poll in {SAS_WIN, SAS_WINS} else forget
                self.note("sas_told", at, address=address, wins=[list(win) for win in told])
            case AskCumulative(address, game):
                answer = Cumulative(address, game, self.cumulative_cents % 100_000_000)
            case SingleLevel() | MultiLevel() | ExtendedLevels():
                answer = Ack(self.plan.address)
            case _:
                return b""
        if answer != Told(NO_ACTIVITY):
            self._told = (request, encode(answer), forget)
        return encode(answer)

    def _drop(self) -> None:
        self._exceptions.popleft()

    def _forgetting(self, number: int) -> Callable[[], None]:
        def forget() -> None:
            for _ in range(number):
                self._await_reset.add(self.wins.popleft().level)
            self.note("sas_forgot", None, address=self.plan.address, wins=number)

        return forget

    def _out(self, answer: bytes) -> bytes:
        """As it leaves: nothing from a mute game, a wrong check from a bad one."""
        if self.mute:
            return b""
        if self.wrong_check and len(answer) > 2:
            self.wrong_check -= 1
            answer = answer[:-1] + bytes((answer[-1] ^ 1,))
        return marked_stream([Word(byte) for byte in answer])


class SasLine:
    """The games of one line, behind its bytes. A line without games still counts what is said on it."""

    def __init__(self, games: Sequence[SasGame], note: Listener = lambda *_args, **_facts: None) -> None:
        self.games = {game.plan.address: game for game in games}
        self.counts: Counter[str] = Counter()
        self._note = note
        self._marks = MarkReader()
        self._reader = RequestReader()
        self._heard_s = 0.0

    @property
    def faults(self) -> Counter[Any]:
        """What was wrong with what was heard, by cause."""
        return self._reader.faults

    def serve(self, data: bytes, at: float) -> bytes:
        """Bytes of the host in, answers out."""
        if at - self._heard_s > GAP_S:
            self._hear([*self._reader.feed(self._marks.silence()), *self._reader.silence()], at)
        self._heard_s = at
        return self._hear(self._reader.feed(self._marks.feed(data)), at)

    def watch(self, at: float) -> bytes:
        """Time passes for all games."""
        return b"".join(game.watch(at) for game in self.games.values())

    def _hear(self, requests: Any, at: float) -> bytes:
        answers = []
        for request in requests:
            self.counts[type(request).__name__] += 1
            if not isinstance(request, GeneralPoll | Misheard):
                self._note("sas_heard", at, says=repr(request))
            answers += [game.hear(request, at) for game in self.games.values()]
        return b"".join(answers)
