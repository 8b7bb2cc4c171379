"""The simulated game: what it takes from a line, when it lets a win go, and how it says that something is missing."""

from __future__ import annotations

from meterd.sim.plan import GamePlan
from meterd.sim.sas import SasGame, SasLine
from protocols.sas import (
    SAS_WINS,
    Ack,
    Answer,
    AskCumulative,
    AskWins,
    Busy,
    Cumulative,
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
    words,
)
from protocols.sas_read import answer_to

MEGA = LevelAmount(1, 5_000_000)


class Table:
    """A line with two games, and a hand to talk to them."""

    def __init__(self) -> None:
        self.one, self.two = SasGame(GamePlan(1, 3, (1, 2))), SasGame(GamePlan(2, 3, (1,)))
        self.line = SasLine([self.one, self.two])
        self.at = 100.0

    def say(self, request: Request, frame: bytes | None = None) -> Answer | None:
        self.at += 0.2
        line = words(encode(request) if frame is None else frame)
        answer = self.line.serve(marked_stream(line), self.at)
        return answer_to(request, MarkReader().feed(answer)).answer

    def broadcast(self, *amounts: LevelAmount) -> None:
        assert self.say(MultiLevel(0, 3, amounts or (MEGA,))) is None


def test_a_game_takes_the_levels_of_its_group() -> None:
    """A broadcast is not answered; levels of other groups, and levels it does not have, are not its own."""
    table = Table()
    table.broadcast(MEGA, LevelAmount(2, 700), LevelAmount(9, 1))
    assert table.say(MultiLevel(0, 4, (LevelAmount(1, 1),))) is None
    assert ({1: 5_000_000, 2: 700}, {1: 5_000_000}) == (table.one.amounts, table.two.amounts)
    assert Ack(2) == table.say(SingleLevel(2, 3, LevelAmount(1, 6)))
    assert 6 == table.two.amounts[1]
    assert Nack(2) == table.say(SingleLevel(2, 3, MEGA), encode(SingleLevel(2, 3, MEGA))[:-1] + b"\x00")


def test_a_win_is_told_until_something_else_is_said() -> None:
    """The same poll again brings the same answer; any other word on the line lets the game forget it."""
    table = Table()
    table.broadcast()
    assert Told(0) == table.say(GeneralPoll(1))
    assert 5_000_000 == table.one.hit(1, table.at)
    won = Wins(1, 0x85, 3, (MEGA,))
    assert [Told(0x56), won, won, won] == [table.say(GeneralPoll(1)), *(table.say(AskWins(1)) for _ in range(3))]
    table.broadcast(LevelAmount(1, 10))
    assert ([], [(1, 10)]) == (list(table.one.wins), table.one.resets)
    assert Wins(1, 0x85, 0, ()) == table.say(AskWins(1))
    assert Told(0x54) == table.say(GeneralPoll(1))
    assert Told(0) == table.say(GeneralPoll(2))
    assert Told(0) == table.say(GeneralPoll(1))


def test_a_poll_to_another_game_acknowledges_too() -> None:
    """Also a word to a neighbour lets a win go."""
    table = Table()
    table.broadcast()
    table.one.hit(1, table.at)
    table.one.hit(1, table.at)
    assert Wins(1, SAS_WINS, 3, (MEGA, MEGA)) == table.say(AskWins(1, SAS_WINS))
    table.say(GeneralPoll(2))
    assert Wins(1, SAS_WINS, 0, ()) == table.say(AskWins(1, SAS_WINS))
    assert Cumulative(1, 0, 10_000_000) == table.say(AskCumulative(1))


def test_busy_mute_and_a_wrong_check() -> None:
    """The other ways in which a poll gets no win."""
    table = Table()
    table.broadcast()
    table.one.hit(1, table.at)
    table.one.busy = 1
    assert Busy(1) == table.say(AskWins(1))
    table.one.wrong_check = 1
    assert [None, Wins(1, 0x85, 3, (MEGA,))] == [table.say(AskWins(1)), table.say(AskWins(1))]
    table.one.mute = True
    assert table.say(AskWins(1)) is None


def test_a_level_that_is_not_heard_is_an_exception() -> None:
    """Five seconds without a level: exception 53, once."""
    table = Table()
    table.broadcast(MEGA, LevelAmount(2, 7))
    for _ in range(26):
        table.broadcast(MEGA)
        assert table.line.watch(table.at) == b""
    assert [Told(0x53), Told(0), Told(0)] == [table.say(GeneralPoll(address)) for address in (1, 2, 1)]


def test_a_dead_line_makes_games_chirp_and_fall_out_of_step() -> None:
    """After 5 s without an address a game says its own, marked; it takes polls again after a word to somebody else."""
    table = Table()
    table.broadcast()
    table.at += 5.1
    chirps = MarkReader().feed(table.line.watch(table.at))
    assert [Word(1, mark=True), Word(2, mark=True)] == chirps
    assert table.say(GeneralPoll(1)) is None
    table.broadcast()
    assert Told(0x53) == table.say(GeneralPoll(1))


def test_a_cut_message_is_counted_and_the_next_one_heard() -> None:
    """A message that breaks off costs itself alone."""
    table = Table()
    assert table.line.serve(marked_stream(words(encode(SingleLevel(2, 3, MEGA))[:6])), table.at) == b""
    table.broadcast()
    assert (1, 5_000_000) == (sum(table.line.faults.values()), table.one.amounts[1])
