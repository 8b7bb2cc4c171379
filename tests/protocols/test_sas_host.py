"""The host of a SAS line against a simulated game: what is said when, and when a win may be let go."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.sim.plan import GamePlan
from meterd.sim.sas import SasGame, SasLine
from protocols.sas import (
    EXTENDED,
    SAS_LEVEL_HIT,
    SAS_WIN,
    SAS_WINS,
    SINGLE,
    AskWins,
    ExtendedLevels,
    GeneralPoll,
    LevelAmount,
    MarkReader,
    MultiLevel,
    Request,
    SingleLevel,
    Word,
    encode,
    marked_stream,
    words,
)
from protocols.sas_host import Event, Host, HostPlan, MaybeLost, Odd, Presence, Quote, Said, Settled, Unread, Won

PLAN = HostPlan(group=3, levels=(1, 2), addresses=(1, 2))


class Line:
    """A host and its games, with a clock. ``cable`` may change what either side hears."""

    def __init__(self, plan: HostPlan = PLAN, cable: Callable[[bytes], bytes] = lambda data: data) -> None:
        self.host = Host(plan)
        self.games = {address: SasGame(GamePlan(address, 3, (1, 2))) for address in plan.addresses or (1, 2)}
        self.line = SasLine(list(self.games.values()))
        self.quotes = {1: Quote(5_000_000), 2: Quote(70_000)}
        self.cable = cable
        self.now_ms = 0
        self.said: list[tuple[int, Request | None]] = []
        self.events: list[Event] = []
        self.disk: Callable[[Won], bool] = lambda _: True
        self.taken: list[Won] = []

    def turn(self) -> list[Event]:
        """One transmission and its answer."""
        self.now_ms = max(self.now_ms, self.host.due_ms(self.now_ms))
        request = self.host.step(self.now_ms, self.quotes)
        self.said.append((self.now_ms, request))
        if request is None:
            return []
        at = self.now_ms / 1000
        answer = self.line.serve(self.cable(marked_stream(words(encode(request)))), at)
        events = self.host.heard(request, MarkReader().feed(self.cable(answer)), self.now_ms)
        self.events += events
        for event in events:
            if isinstance(event, Won) and self.disk(event):
                self.taken.append(event)
                self.host.durable(event.address, event.answer)
        self.line.watch(at)
        return events

    def turns(self, count: int) -> list[Event]:
        return [event for _ in range(count) for event in self.turn()]

    def until(self, *kinds: type[Event]) -> None:
        """Turns until such an event, 60 s of the line at most."""
        for _ in range(300):
            if any(self.of(kind) for kind in kinds):
                return
            self.turn()
        pytest.fail(f"none of {kinds} came of {self.events}")

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def test_broadcasts_and_polls_share_one_grid() -> None:
    """Never two words within 200 ms; each game is asked, and each level said, well within 5 s."""
    line = Line()
    line.turns(100)
    times = [at for at, _ in line.said]
    assert {200} == {b - a for a, b in pairwise(times)}
    for of in (MultiLevel, GeneralPoll):
        mine = [at for at, request in line.said if isinstance(request, of)]
        assert max(b - a for a, b in pairwise(mine)) <= PLAN.cycle_ms
    assert [] == [code for game in line.games.values() for code in game._exceptions]


@pytest.mark.parametrize("late_ms", [0, 150, 4_000])
def test_a_late_start_of_a_turn_shortens_no_later_one(late_ms: int) -> None:
    """A host that was kept waiting goes on from now, and makes up for nothing."""
    line = Line()
    line.turns(3)
    line.now_ms += 200 + late_ms
    line.turns(3)
    times = [at for at, _ in line.said]
    assert all(b - a >= 200 - (late_ms if late_ms < 200 else 0) for a, b in pairwise(times))


def test_a_level_without_a_figure_of_now_is_not_said() -> None:
    """It is left out; the games on it say exception 53 themselves, and the other level goes on."""
    line = Line()
    line.turns(4)
    del line.quotes[2]
    line.turns(60)
    assert {53} == {int(f"{event.code:x}") for event in line.of(Said)}  # type: ignore[union-attr]
    assert {1} == {
        amount.level for _, request in line.said[4:] if isinstance(request, MultiLevel) for amount in request.amounts
    }


def test_nothing_to_say_is_silence() -> None:
    """Without any figure, a broadcast-only line is silent; it asks nobody and expects nobody."""
    line = Line(replace_plan(addresses=()))
    line.turns(5)
    line.quotes = {}
    line.turns(5)
    said = [request for _, request in line.said]
    assert (5, 5) == (sum(isinstance(one, MultiLevel) for one in said), said.count(None))
    assert 0 == line.host.counts["polls"]


def replace_plan(**changes: object) -> HostPlan:
    return PLAN._replace(**changes)  # type: ignore[arg-type]


def test_single_and_extended_broadcasts() -> None:
    """80 says one level after the other, 7A base and rate with each."""
    line = Line(replace_plan(broadcast=SINGLE, addresses=()))
    line.turns(4)
    assert [1, 2, 1, 2] == [r.amount.level for _, r in line.said if isinstance(r, SingleLevel)]
    assert 400 == line.host.plan.cycle_ms
    line = Line(replace_plan(broadcast=EXTENDED, addresses=()))
    line.quotes[1] = Quote(1, 2, 3)
    line.turn()
    request = line.said[0][1]
    assert isinstance(request, ExtendedLevels)
    assert (1, 1, 2, 3) == request.levels[0]


def test_an_amount_that_sas_cannot_say_is_not_said() -> None:
    """An eleventh digit leaves the level out, not the line."""
    line = Line(replace_plan(addresses=()))
    line.quotes[2] = Quote(10_000_000_000)
    line.turn()
    assert MultiLevel(0, 3, (LevelAmount(1, 5_000_000),)) == line.said[0][1]


@pytest.mark.parametrize("poll", [SAS_WIN, SAS_WINS])
def test_a_win_holds_the_line_until_it_is_on_disk(poll: int) -> None:
    """Exception 56, the win; then only the same poll, however long the disk takes; then the new figure, before all."""
    line = Line(replace_plan(win_poll=poll))
    line.turns(8)
    line.games[1].hit(1, 0)
    line.disk = lambda _: False
    line.turns(12)
    (won,) = line.of(Won)
    assert (1, 3, (LevelAmount(1, 5_000_000),)) == won[:3]
    first = next(n for n, (_, request) in enumerate(line.said) if isinstance(request, AskWins) and n >= 8)
    held = line.said[first:]
    assert {AskWins(1, poll)} == {request for _, request in held}
    assert all(b - a <= 1000 for (a, _), (b, _) in pairwise(held))
    assert 1 == len(line.games[1].wins)
    line.quotes[1] = Quote(100)
    assert isinstance(won, Won)
    line.host.durable(1, won.answer)
    line.turn()
    assert isinstance(line.said[-1][1], MultiLevel)
    assert ([(1, 100)], 0) == (line.games[1].resets, len(line.games[1].wins))
    line.turns(20)
    assert (1, 0) == (len(line.of(Won)), line.said.count((0, None)))


def test_two_wins_alike_are_two() -> None:
    """The same level at the same amount twice: told apart, for the game answered another poll in between."""
    line = Line()
    line.turns(8)
    line.games[1].hit(1, 0)
    line.games[1].hit(1, 0)
    line.turns(30)
    assert [1, 1] == [won.address for won in line.taken]
    settled = [n for n, event in enumerate(line.events) if isinstance(event, Settled)]
    wins = [n for n, event in enumerate(line.events) if isinstance(event, Won)]
    assert any(wins[0] < n < wins[1] for n in settled)


def test_a_win_that_is_read_again_is_one() -> None:
    """A game that heard nothing of what followed tells its win once more; it is not asked before it answered a poll."""
    line = Line()
    line.turns(8)
    line.games[1].hit(1, 0)
    deaf = False
    line.cable = lambda data: b"" if deaf else data
    while not line.taken:
        line.turn()
    deaf = True
    line.turns(20)
    deaf = False
    line.turns(40)
    assert 1 == len(line.taken)
    asked = [n for n, (_, request) in enumerate(line.said) if isinstance(request, AskWins) and n > 8]
    assert all(not isinstance(line.said[n + 1][1], AskWins) for n in asked)


def test_a_garbled_win_is_asked_again_before_anything_else_is_said() -> None:
    """Anything else would let the game forget what nobody read."""
    line = Line()
    line.turns(8)
    line.games[2].hit(2, 0)
    line.games[2].wrong_check = 5
    line.turns(30)
    (won,) = line.of(Won)
    assert (2, (LevelAmount(2, 70_000),)) == (won[0], won[2])
    assert 5 == len([event for event in line.of(Odd) if event[0] == 2])


def test_a_win_that_is_never_readable_gives_the_line_back_and_says_so() -> None:
    """After 3 s the other games are served again, no level lapses by it; somebody has to look at the game."""
    line = Line()
    line.turns(8)
    line.games[2].hit(2, 0)
    line.games[2].wrong_check = 1000
    line.turns(120)
    assert 1 == len(line.of(Unread))
    assert 40 <= sum(isinstance(request, MultiLevel) for _, request in line.said[8:])
    assert not any(game._lapsed for game in line.games.values())
    line.games[2].wrong_check = 0
    line.games[2].hit(1, 0)  # the first one is let go of by now, read or not
    line.turns(80)
    assert [2] == [won.address for won in line.taken]


def test_a_chirp_is_no_garbled_win() -> None:
    """A game that was not spoken to for 5 s chirps in the window of its answer: that is silence, no win unread."""
    host, now_ms, events, polls = Host(PLAN), 0, list[Event](), 0
    host.hold(1)
    while now_ms < 10_000:
        request = host.step(now_ms, {1: Quote(5)})
        chirp = [Word(1, mark=True)] if polls < 2 else []
        if request is not None and request.address == 1:
            polls += 1
            events += host.heard(request, chirp, now_ms + 20)
        now_ms = max(now_ms + 1, host.due_ms(now_ms))
    assert [Presence(1, up=False)] == events
    assert 1 in host.said_ms, "the line went on"
    assert 2 == host.counts["chirps"]


def crashed(line: Line, away_ms: int) -> int:
    """A win is told to a host that dies of it and is away so long; the next one knows whom it had asked."""
    line.turns(8)
    line.games[1].hit(1, 0)
    line.disk = lambda _: False
    line.until(Won)
    line.disk = lambda _: True
    line.events.clear()
    line.now_ms += away_ms
    line.line.watch(line.now_ms / 1000)
    line.host = Host(line.host.plan)
    line.host.hold(1, doubtful=True)
    return len(line.said)


@pytest.mark.parametrize("away_ms", [500, 6_000])
def test_a_win_told_to_a_host_that_died_is_read_again_or_called_lost(away_ms: int) -> None:
    """A game that was not spoken to for 5 s takes no poll: before the next word lets its win go, that is told."""
    line = Line()
    begun = crashed(line, away_ms)
    line.until(Won, MaybeLost)
    assert {AskWins(1)} == {request for _, request in line.said[begun:]}
    assert 1 == len(line.games[1].wins), "nothing let it go so far"
    line.turns(80)
    expected = ([1], []) if away_ms < 5_000 else ([], [MaybeLost(1)])
    assert expected == ([won.address for won in line.taken], line.of(MaybeLost))
    assert isinstance(next(r for _, r in line.said[begun:] if not isinstance(r, AskWins)), MultiLevel)
    assert not line.games[1].wins


@pytest.mark.parametrize("restarted", [True, False])
def test_a_game_that_kept_its_win_through_the_next_word_has_let_go_of_nothing(restarted: bool) -> None:
    """Out of step when we spoke again, it tells the same win once more: not settled before it was asked."""
    line = Line(replace_plan(win_poll=SAS_WINS))
    line.turns(8)
    line.games[1].anew = True
    line.games[1].hit(1, 0)
    line.until(Won)
    line.events.clear()
    line.now_ms += 6_000  # a process that was dead, or stopped, before the word that acknowledges
    line.line.watch(line.now_ms / 1000)
    if restarted:
        line.host = Host(line.host.plan)
        line.host.hold(1)
    line.until(Won)
    assert Settled(1) not in line.events
    assert line.taken[0] == line.taken[1]
    line.turns(20)
    assert (1, 0) == (line.of(Settled).count(Settled(1)), len(line.games[1].wins))


@pytest.mark.parametrize("poll", [SAS_WIN, SAS_WINS])
@pytest.mark.parametrize("stall_ms", [0, 3_900, 4_500, 5_500])
def test_a_game_settles_after_a_stall_too(poll: int, stall_ms: int) -> None:
    """Time lost once a win is on disk: the game is asked once more, so that its next equal win is another one."""
    line = Line(replace_plan(win_poll=poll))
    line.turns(8)
    line.games[1].hit(1, 0)
    line.until(Won)
    line.events.clear()
    line.now_ms += 200 + stall_ms
    line.line.watch(line.now_ms / 1000)
    line.turns(40)
    assert Settled(1) in line.of(Settled)
    line.events.clear()
    line.games[1].hit(1, line.now_ms / 1000)
    line.turns(40)
    assert [1] == [event[0] for event in line.of(Won)]
    assert Settled(1) in line.of(Settled)


def test_two_short_stalls_around_one_word_are_a_long_one() -> None:
    """Behind the answer of one word, and before the next one leaves: the line was silent for both."""
    line = Line(replace_plan(win_poll=SAS_WINS))
    line.turns(8)
    line.games[1].anew = True
    line.games[1].hit(1, 0)
    line.until(Won)
    line.now_ms += 3_500
    request = line.host.step(line.now_ms, line.quotes)
    assert request is not None
    line.now_ms += 3_500
    line.line.watch(line.now_ms / 1000)
    line.line.serve(marked_stream(words(encode(request))), line.now_ms / 1000)
    line.events.clear()
    line.until(Won)
    assert Settled(1) not in line.events


def test_a_stall_while_the_disk_is_away_is_no_proof_either() -> None:
    """The game is out of step and keeps its win through the word behind it: the same win, not settled before."""
    line = Line(replace_plan(win_poll=SAS_WINS))
    line.turns(8)
    line.games[1].anew = True
    line.games[1].hit(1, 0)
    line.disk = lambda _: False
    line.until(Won)
    line.now_ms += 6_000
    line.line.watch(line.now_ms / 1000)
    line.turns(3)
    (won,) = line.of(Won)
    assert isinstance(won, Won)
    line.disk = lambda _: True
    line.events.clear()
    line.host.durable(1, won.answer)
    line.until(Won)
    assert Settled(1) not in line.events
    line.turns(20)
    assert (1, 0) == (line.of(Settled).count(Settled(1)), len(line.games[1].wins))


def test_a_loss_is_told_as_another_one_where_the_game_had_let_the_first_go() -> None:
    """It answered something else in between. While it says and says that it holds a win, that is the one it was."""
    line = Line()
    game = line.games[1]
    line.turns(8)
    game.hit(1, 0)
    line.until(Said)
    game.mute = True
    line.until(MaybeLost)
    game.mute = False
    line.turns(8)
    line.events.clear()
    line.turns(160)
    game.hit(1, line.now_ms / 1000)
    line.until(Said)
    game.mute = True
    line.until(MaybeLost)
    assert [MaybeLost(1)] == line.of(MaybeLost)


def test_a_game_that_never_tells_what_it_says_it_holds_is_one_loss() -> None:
    """Told each half minute, as the one before: a game that does not know the poll for wins fills no ledger."""
    host, now_ms, events = Host(PLAN), 0, list[Event]()
    while now_ms < 120_000:
        request = host.step(now_ms, {1: Quote(5)})
        mine = isinstance(request, GeneralPoll) and request.address == 1
        if request is not None and request.address:
            events += host.heard(request, [Word(SAS_LEVEL_HIT)] if mine else [], now_ms + 20)
        now_ms = max(now_ms + 1, host.due_ms(now_ms))
    losses = [event for event in events if isinstance(event, MaybeLost)]
    assert len(losses) > 2
    assert [MaybeLost(1), *[MaybeLost(1, again=True)] * (len(losses) - 1)] == losses


def test_a_busy_game_that_may_have_told_a_win_is_waited_for() -> None:
    """Busy is no answer to the question whether a win was told; the poll is repeated until there is one."""
    line = Line()
    line.host.hold(1, doubtful=True)
    line.games[1].busy = 6
    line.turns(6)
    assert {AskWins(1)} == {request for _, request in line.said}
    assert [Settled(1)] == [event for event in line.turn() if not isinstance(event, Presence)]
    line.turns(40)
    assert [] == line.of(MaybeLost)


def test_a_game_that_said_it_holds_a_win_and_falls_silent_is_told_of() -> None:
    """It may have told it to a cable that broke. Once; the other games are served, and it is asked again later."""
    line = Line()
    line.turns(8)
    line.games[1].hit(1, 0)
    line.until(Said)
    assert [Said(1, 0x56)] == line.of(Said)
    line.games[1].mute = True
    line.turns(120)
    assert [MaybeLost(1)] == line.of(MaybeLost)
    assert not any(game._lapsed for game in line.games.values()), "levels went on"
    line.games[1].mute = False
    line.games[1].hit(2, 0)
    line.turns(200)
    assert [1] == [won.address for won in line.taken]
    assert [MaybeLost(1)] == line.of(MaybeLost)


def test_what_was_read_and_could_not_be_kept_is_not_let_go_by_silence() -> None:
    """The disk is full, then the game is silent: its win is told as one that may be lost before the line goes on."""
    line = Line()
    line.turns(8)
    line.games[1].hit(1, 0)
    line.disk = lambda _: False
    line.until(Won)
    line.host.not_kept()
    line.games[1].mute = True
    begun = len(line.said)
    line.until(MaybeLost)
    assert {AskWins(1)} == {request for _, request in line.said[begun:]}


def test_a_game_that_is_off_has_lost_nothing() -> None:
    """Nobody knows of a win, and it never answered: no alarm."""
    line = Line()
    line.games[1].mute = True
    line.turns(200)
    assert ([], False) == (line.of(MaybeLost), line.host.waiting)


def test_silence_and_busy_do_not_hold_the_line() -> None:
    """A game that is off costs three turns; a busy one is asked again in its turn."""
    line = Line()
    line.games[1].mute = True
    line.games[2].busy = 2
    line.turns(30)
    assert [Presence(2, up=True), Presence(1, up=False)] == sorted(line.of(Presence), key=lambda one: one[0])[::-1]
    assert 10 < sum(isinstance(request, MultiLevel) for _, request in line.said)
    line.games[1].mute = False
    line.games[1].hit(1, 0)
    line.turns(12)
    assert [1] == [won.address for won in line.taken]


def test_a_restart_asks_first_for_what_may_not_be_on_disk() -> None:
    """Before anything is said, the poll that was open is repeated; a game that was told nothing tells it again."""
    line = Line()
    line.turns(8)
    line.games[1].hit(1, 0)
    line.disk = lambda _: False
    while not line.of(Won):
        line.turn()
    line.host = Host(PLAN)
    line.host.hold(1)
    line.disk = lambda _: True
    line.turn()
    assert AskWins(1) == line.said[-1][1]
    assert line.of(Won)[0] == line.of(Won)[1]
    assert [line.of(Won)[1]] == line.taken


@given(st.integers(0, 2**32), st.sampled_from((0.001, 0.01, 0.05)))
def test_under_noise_no_win_is_lost_or_taken_twice(seed: int, rate: float) -> None:
    """Flipped bits and lost bytes either way: each hit is read once and, once on disk, let go.

    The protocol itself has one hole: a word garbled into another valid one lets a game forget what nobody read.
    """
    chance = Random(seed)

    def cable(data: bytes) -> bytes:
        arrived = bytearray()
        for byte in data:
            if chance.random() < rate:
                if chance.random() < 0.5:
                    continue
                byte ^= 1 << chance.randrange(8)  # noqa: PLW2901 - what arrives
            arrived.append(byte)
        return bytes(arrived)

    line = Line(cable=cable)
    hits: list[int] = []
    holes = 0

    def note(what: str, _at: float | None, **facts: int) -> None:
        nonlocal holes
        if what == "sas_forgot" and line.host.waiting:
            holes += facts["wins"]

    for each in line.games.values():
        each.note = note
    for n in range(6):
        line.turns(20)
        game = line.games[1 + n % 2]
        if game.amounts.get(1):
            hits.append(game.hit(1, 0))
        line.quotes[1] = Quote(5_000_000 + n)
    line.turns(200)
    line.cable = lambda data: data
    line.turns(80)
    holes += len(line.of(Unread))
    taken = [win.cents for won in line.taken for win in won.wins]
    assert len(hits) - holes <= len(taken) <= len(hits)
    assert all(not game.wins for game in line.games.values())
    assert set(taken) <= set(hits)


@given(st.lists(st.lists(st.builds(Word, st.integers(0, 255), st.booleans()), max_size=20), max_size=40))
def test_no_answer_raises(answers: list[list[Word]]) -> None:
    """Whatever games say, the grid goes on."""
    host = Host(PLAN)
    now_ms = 0
    for answer in answers:
        now_ms = host.due_ms(now_ms)
        request = host.step(now_ms, {1: Quote(5), 2: Quote(7)})
        if request is not None:
            for event in host.heard(request, answer, now_ms):
                if isinstance(event, Won):
                    host.durable(event.address, event.answer)
    assert host.due_ms(now_ms) >= now_ms
