"""What goes to a sign, in which order and how far apart: the pure part, against the sign's own memory rules."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from meterd.config import BusConfig, SignConfig, SignModel
from meterd.config.signs import DISCLOSURE
from meterd.edge.sign_queue import (
    CLOCK_S,
    CLOSED,
    LOOK_S,
    REPUSH_S,
    Send,
    SignQueue,
    SignWanted,
    WallTime,
    amount_cents,
)
from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign
from protocols.alpha import (
    ClearMemory,
    ConfigureMemory,
    Mode,
    ReadMemory,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    TextFile,
    WriteString,
    WriteText,
    quiet_ms,
    transmission,
)
from protocols.alpha_parser import AlphaParser

BUS = BusConfig("sign-1", "alpha", "/dev/none", 9600)
MODEL = SignModel("betabrite", "^", "00", 13, 12, answers=False)


def sign(name: str = "pit", shows: int = 2, **model: Any) -> SignConfig:
    levels = tuple(("nexus", f"level-{n}") for n in range(shows))
    kind = SignModel(**{**{f: getattr(MODEL, f) for f in MODEL.__slots__}, **model})
    return SignConfig(name, "sign-1", kind, levels, tuple(f"L{n}" for n in range(shows)))


class Player:
    """Plays a queue on a clock of its own and shows every frame to a sign."""

    def __init__(self, *signs: SignConfig, remembered: bool = False) -> None:
        self.now = 1000.0
        self.queue = SignQueue(BUS, signs, lambda: WallTime(14, 30, 3))
        self.frames: list[tuple[float, Send]] = []
        self.signs = {
            s.id: AlphaSign(SignPlan(s.id, s.model.type_code, s.model.address, s.model.columns)) for s in signs
        }
        if remembered:
            for state in self.queue.signs.values():
                state.applied = state.plan
        self._parser = AlphaParser()
        self.queue.link_up(self.now)

    def play(self, seconds: float) -> list[Any]:
        """Let time pass; the commands that went out."""
        end, before = self.now + seconds, len(self.frames)
        while self.now < end:
            step = self.queue.next(self.now)
            if isinstance(step, float):
                self.now = min(end, self.now + max(step, 0.0001))
                continue
            self.frames.append((self.now, step))
            self.queue.sent(step, self.now)
            ended = self.now + len(step.data) * 10 / 9600
            for heard in self._parser.receive(step.data):
                for each in self.signs.values():
                    each.hear(heard, self.now, ended)
        return [step.command for _, step in self.frames[before:]]


def test_a_new_plan_clears_waits_configures_and_closes_before_any_value() -> None:
    """E$, two seconds, configuration, two seconds, CLOSED in every figure, the pages once, the clock, then values."""
    player = Player(sign())
    player.queue.signs["pit"].want(SignWanted(5, ("$1,000.00", "$2.00")))
    commands = player.play(12)
    kinds = [type(c).__name__ for c in commands]
    assert kinds == [
        *["ClearMemory", "ConfigureMemory", "WriteString", "WriteString"],
        *["ReleasePriority", "WriteText", "WriteText", "WriteText", "WriteText", "RunSequence"],
        *["SetTimeFormat", "SetDay", "SetTime", "WriteString", "WriteString"],
    ]
    assert [CLOSED, CLOSED, "$1,000.00", "$2.00"] == [c.text for c in commands if isinstance(c, WriteString)]
    assert ["L0", "$1,000.00", "L1", "$2.00"] == player.signs["pit"].pages()
    assert {} == player.signs["pit"].faults


def test_a_remembered_plan_is_not_sent_again() -> None:
    """Nothing erases a sign that already has its files."""
    player = Player(sign(), remembered=True)
    commands = player.play(10)
    assert not any(isinstance(c, ClearMemory | ConfigureMemory) for c in commands)


def test_every_frame_is_the_codecs_and_keeps_its_distance() -> None:
    """From the last byte of one to the first of the next: 2 s around a configuration, 250 ms otherwise."""
    player = Player(sign(), remembered=False)
    for n in range(20):
        player.queue.signs["pit"].want(SignWanted(n, (f"${n}.00", f"${n}.50"), "WIN T1 $5.00" if n % 7 == 3 else None))
        player.play(0.5)
    player.play(10)
    for (at, step), (following, _) in pairwise(player.frames):
        assert transmission(step.command, "^", "00", checked=True) == step.data
        assert following - (at + len(step.data) * 10 / 9600) >= quiet_ms(step.command) / 1000
    assert {} == player.signs["pit"].faults


def test_only_the_newest_value_is_sent_and_an_unchanged_one_never() -> None:
    """What changed many times while the line was busy travels once, as it last was."""
    player = Player(sign(), remembered=True)
    player.play(10)
    state = player.queue.signs["pit"]
    for n in range(50):
        state.want(SignWanted(n, (f"${n}.00", CLOSED)))
    state.want(SignWanted(3, ("$999.00", CLOSED)))
    assert [WriteString("a", "$49.00")] == player.play(5)
    state.want(SignWanted(60, ("$49.00", CLOSED)))
    assert [] == player.play(5)
    assert 60 == state.shown.seq


def test_what_does_not_fit_shows_closed() -> None:
    """A text longer than its STRING would empty it; one the sign cannot draw is no better."""
    player = Player(sign())
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$2.00")))
    player.play(10)
    state.want(SignWanted(2, ("$1,234,567,890.00", "€2.00")))
    assert [WriteString("a", CLOSED), WriteString("b", CLOSED)] == player.play(5)
    assert 2 == state.too_long
    assert {"a": CLOSED, "b": CLOSED} == player.signs["pit"].figures()


def test_closing_goes_first_then_wins_then_what_fell() -> None:
    """With one free place on the line, the safe direction is served before the pleasant one."""
    player = Player(sign(shows=3), remembered=True)
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$5.00", "$9.00")))
    player.play(10)
    state.want(SignWanted(2, ("$2.00", "$4.00", CLOSED), "WIN T1 $9.00"))
    commands = player.play(5)
    assert ["WriteString", "WriteText", "WriteString", "WriteString"] == [type(c).__name__ for c in commands]
    assert [CLOSED, "$4.00", "$2.00"] == [c.text for c in commands if isinstance(c, WriteString)]
    assert "0" == commands[1].label
    state.want(SignWanted(3, ("$2.00", "$4.00", CLOSED)))
    assert [ReleasePriority()] == player.play(5)


def test_everything_is_pushed_again_after_a_quarter_of_an_hour_without_closing() -> None:
    """A sign that missed a write shows the right figure at the latest then, and no CLOSED in between."""
    player = Player(sign(), remembered=True)
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$5.00")))
    player.play(10)
    commands = player.play(REPUSH_S)
    kinds = ["ReleasePriority", *["WriteText"] * 4, "RunSequence", "WriteString", "WriteString"]
    assert kinds == [type(c).__name__ for c in commands]
    assert ["$1.00", "$5.00"] == [c.text for c in commands if isinstance(c, WriteString)]


def test_a_line_that_comes_back_begins_with_closed() -> None:
    """Nobody knows what the sign did meanwhile; the wanted values follow."""
    player = Player(sign(), remembered=True)
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$5.00")))
    player.play(10)
    player.queue.link_up(player.now)
    assert state.shown.values == ("$1.00", "$5.00")  # the sign last got these, whatever it does now
    commands = player.play(10)
    assert [CLOSED, CLOSED, "$1.00", "$5.00"] == [c.text for c in commands if isinstance(c, WriteString)]


def test_signs_of_one_line_take_turns() -> None:
    """Two signs that change all the time each get half of the line."""
    player = Player(sign("a", 1, address="01"), sign("b", 1, address="02"))
    player.play(20)
    begun = len(player.frames)
    for n in range(200):
        for name in ("a", "b"):
            player.queue.signs[name].want(SignWanted(n, (f"${n}.00",)))
        player.play(0.1)
    turns = [step.sign for _, step in player.frames[begun:]]
    assert abs(turns.count("a") - turns.count("b")) <= 1
    assert player.signs["a"].faults == player.signs["b"].faults == {}


def test_what_was_shown_is_known_with_its_entry() -> None:
    """A claim records what the sign last got: the values, and the entry they have all caught up with."""
    player = Player(sign(), remembered=True)
    state = player.queue.signs["pit"]
    assert (None, None) == state.shown.values
    state.want(SignWanted(7, ("$12,345.67", "$2.00")))
    player.play(10)
    assert (("$12,345.67", "$2.00"), 7) == state.shown[:2]
    state.want(SignWanted(8, ("$12,346.00", "$3.00")))
    player.play(0.1)
    assert (("$12,346.00", "$2.00"), 7) == state.shown[:2]
    player.play(1)
    assert (("$12,346.00", "$3.00"), 8) == state.shown[:2]


@pytest.mark.parametrize(
    ("text", "cents"), [("$12,345.67", 1234567), ("$0.05", 5), (CLOSED, None), (None, None), ("", None), (",.00", None)]
)
def test_amounts_are_read_back(text: str | None, cents: int | None) -> None:
    """The text of a figure as cents, and nothing else as an amount."""
    assert cents == amount_cents(text)


def test_what_somebody_else_just_sent_is_given_its_distance() -> None:
    """A daemon that was killed may have written a moment ago, or erased the sign: the first word waits for that too."""
    fresh, known = Player(sign()), Player(sign(), remembered=True)
    assert 2.0 <= fresh.queue.wait_s(fresh.now) < 2.1
    assert 0.25 <= known.queue.wait_s(known.now) < 0.3


def test_the_clock_is_set_on_connect_and_every_hour() -> None:
    """Format, day, time: when nothing else is to be sent, and again after an hour; not on a sign without a clock."""
    player = Player(sign(address="01"), sign("other", address="02", clock=False), remembered=True)
    player.play(15)
    clock = [SetTimeFormat(), SetDay(3), SetTime(14, 30)]
    assert clock == player.signs["pit"].clock
    assert [] == player.signs["other"].clock
    commands = [c for c in player.play(CLOCK_S) if isinstance(c, SetTimeFormat | SetDay | SetTime)]
    assert clock == commands


def test_signs_that_show_one_meter_share_a_transmission() -> None:
    """One figure, one broadcast; the meter has the same file on each; a sign without it takes nothing."""
    here, there = ("nexus", "level-0"), ("nexus", "level-1")
    one, other, third = sign("one", 1, address="01"), sign("other", 2, address="02"), sign("third", 1, address="03")
    third = SignConfig("third", "sign-1", third.model, (there,), ("L1",))
    assert (here, there) == other.shows
    player = Player(one, other, third)
    for name, values in (("one", ("$1.00",)), ("other", ("$1.00", "$2.00")), ("third", ("$2.00",))):
        player.queue.signs[name].want(SignWanted(1, values))
    player.play(60)
    begun = len(player.frames)
    for name, values in (("one", ("$1.01",)), ("other", ("$1.01", "$2.02")), ("third", ("$2.02",))):
        player.queue.signs[name].want(SignWanted(2, values))
    sent: list[Any] = player.play(10)
    assert [WriteString("a", "$1.01"), WriteString("b", "$2.02")] == sorted(sent, key=lambda each: str(each.label))
    assert {"Z00"} == {step.data[7:10].decode() for _, step in player.frames[begun:]}
    assert {"a": "$1.01"} == player.signs["one"].figures()
    assert {"a": "$1.01", "b": "$2.02"} == player.signs["other"].figures()
    assert {"b": "$2.02"} == player.signs["third"].figures()
    assert all(state.shown.seq == 2 for state in player.queue.signs.values())


def test_what_should_differ_is_not_broadcast() -> None:
    """Where one of them should say another thing, or takes no broadcast, each has its own transmission."""
    one, other = sign("one", 1, address="01"), sign("other", 1, address="02")
    player = Player(one, other)
    player.queue.signs["one"].want(SignWanted(1, ("$1.00",)))
    player.queue.signs["other"].want(SignWanted(1, ("$2.00",)))
    player.play(60)
    assert [{"a": "$1.00"}, {"a": "$2.00"}] == [each.figures() for each in player.signs.values()]
    taking_none = Player(one, sign("other", 1, address="02", broadcast=False))
    taking_none.play(60)
    assert {"^01", "^02"} == {step.data[7:10].decode() for _, step in taking_none.frames}


def test_a_sign_is_not_sent_a_figure_it_would_show_cut() -> None:
    """One digit more than a page was laid out for: CLOSED, whatever the file would hold."""
    player = Player(SignConfig("pit", "sign-1", SignModel("b", "^", "00", 13, 16), (("n", "m"),), ("L",), (11,)))
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$999,999.99",)))
    player.play(12)
    assert ["L $999,999.99"] == player.signs["pit"].pages()
    state.want(SignWanted(2, ("$1,000,000.00",)))
    player.play(1)
    assert ["L CLOSED"] == player.signs["pit"].pages()
    assert 1 == state.too_long


def test_a_sign_without_checksums_is_spoken_to_without() -> None:
    """Whatever the model says: a site file may name a sign that hears only frames without."""
    player = Player(sign(checksum=False))
    player.play(12)
    assert all(transmission(step.command, "^", "00") == step.data for _, step in player.frames)


def test_the_plan_does_not_depend_on_the_checksum() -> None:
    """Another way of sending is no reason to erase a sign."""
    plans = [Player(sign(checksum=checksum)).queue.signs["pit"].plan for checksum in (True, False)]
    assert plans[0] == plans[1]


def test_money_that_is_not_heard_of_shows_closed() -> None:
    """A stalled money thread: CLOSED until it is back, then the newest."""
    player = Player(sign(), remembered=True)
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$2.00"), "WIN T1 $5.00"))
    player.play(12)
    state.unheard(True)
    commands = player.play(3)
    assert [WriteString("a", CLOSED), WriteString("b", CLOSED), ReleasePriority()] == commands
    state.want(SignWanted(2, ("$3.00", "$2.00")))
    assert [] == player.play(3)
    state.unheard(False)
    assert [WriteString("b", "$2.00"), WriteString("a", "$3.00")] == sorted(player.play(3), key=lambda c: -ord(c.label))


def test_a_notice_is_the_last_page() -> None:
    """Where the house may keep contributions the sign says so, moving, behind its figures."""
    config = sign()
    told = SignConfig(config.id, config.bus, config.model, config.shows, config.labels, (13, 13), "May be kept.")
    player = Player(told)
    texts = [c for c in player.play(12) if isinstance(c, WriteText)]
    assert (Mode.ROTATE, "May be kept.") == (texts[-1].mode, texts[-1].parts[-1])
    assert "May be kept." == player.signs["pit"].pages()[-1]
    assert RunSequence("ABCDE") in [step.command for _, step in player.frames]


def test_a_sign_without_its_files_is_set_up_again() -> None:
    """Asked once a minute, and at a re-push before its pages; only a whole answer that names other files counts."""
    player = Player(sign(answers=True))
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$2.00")))
    player.play(15)
    assert not any(isinstance(step.command, ReadMemory) for _, step in player.frames)
    kinds = [type(command) for command in player.play(REPUSH_S)]
    begun = kinds.index(ReleasePriority)
    assert [ReleasePriority, ReadMemory, WriteText] == kinds[begun : begun + 3]
    assert player.queue.answered(state.memory) is None
    assert player.queue.answered(ConfigureMemory(())) is None  # nobody was asked
    assert [ReadMemory()] == player.play(LOOK_S)
    assert player.queue.answered(state.memory) is None
    player.signs["pit"].power_cut()
    assert [ReadMemory()] == player.play(LOOK_S)
    assert "" == player.signs["pit"].shows()
    assert "pit" == player.queue.answered(ConfigureMemory(()))
    commands = player.play(15)
    assert [ClearMemory(), state.memory] == commands[:2]
    assert ["L0", "$1.00", "L1", "$2.00"] == player.signs["pit"].pages()


def test_a_sign_that_does_not_answer_is_left_alone() -> None:
    """Silence is no proof of anything: its files stay, and everything is written again."""
    player = Player(sign(answers=True), remembered=True)
    commands = player.play(15)
    kinds = [type(command) for command in commands]
    assert [WriteString, WriteString, ReleasePriority, ReadMemory, WriteText] == kinds[:5]
    assert not any(isinstance(c, ClearMemory) for c in commands)


def test_a_sign_that_lists_its_files_otherwise_is_not_erased_twice() -> None:
    """Set up once more, told the same again: it is not asked any more."""
    player = Player(sign(answers=True))
    player.play(15)
    for set_up_again in ("pit", None):
        player.play(REPUSH_S)
        assert set_up_again == player.queue.answered(ConfigureMemory((TextFile("A", 99),)))
    commands = player.play(2 * REPUSH_S)
    assert not any(isinstance(c, ClearMemory | ReadMemory) for c in commands)


def test_what_must_be_told_is_told_as_soon_as_it_must() -> None:
    """A level's overflow becomes the house's while the floor plays: the sign is set up with the notice, and without."""
    player = Player(sign())
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, ("$1.00", "$2.00"), None, False))
    player.play(15)
    assert ["L0", "$1.00", "L1", "$2.00"] == player.signs["pit"].pages()
    state.want(SignWanted(2, ("$1.00", "$2.00"), None, True))
    assert [ClearMemory(), state.memory] == player.play(15)[:2]
    assert ["L0", "$1.00", "L1", "$2.00", DISCLOSURE] == player.signs["pit"].pages()
    state.close()  # says nothing about it, so nothing is erased
    assert not any(isinstance(c, ClearMemory) for c in player.play(5))
    state.want(SignWanted(3, ("$1.00", "$2.00"), None, False))
    player.play(15)
    assert 4 == len(player.signs["pit"].pages())
    assert {} == player.signs["pit"].faults


def waited_s(player: Player, text: str) -> float:
    """How long a figure took to the end of its last byte, from now."""
    begun, at = player.now, len(player.frames)
    player.play(20)
    for moment, step in player.frames[at:]:
        if getattr(step.command, "text", None) == text:
            return moment + len(step.data) * 10 / 9600 - begun
    raise AssertionError(f"{text} was never sent")


def test_a_meter_that_fell_waits_for_no_upkeep() -> None:
    """In the middle of a push of many pages: the sign must not stand above its meter for long."""
    player = Player(sign(shows=8))
    state = player.queue.signs["pit"]
    state.want(SignWanted(1, tuple(f"${n + 1},000.00" for n in range(8))))
    player.play(30)
    while not player.play(0.1):  # until the push has begun
        pass
    state.want(SignWanted(2, ("$1.00", *[f"${n + 1},000.00" for n in range(1, 8)])))
    assert waited_s(player, "$1.00") < 0.7


def test_a_meter_that_fell_waits_for_no_other_sign() -> None:
    """While another sign of the line is set up, deaf for seconds, the rest of the line goes on; nothing is lost."""
    player = Player(sign("one", 1, address="01"), sign("other", 2, address="02", answers=True))
    for name in ("one", "other"):
        player.queue.signs[name].want(SignWanted(1, ("$5,000.00", "$2.00")))
    player.play(60)
    state = player.queue.signs["other"]
    state.applied, state._cleared = None, False
    assert isinstance(player.play(0.5)[0], ClearMemory)
    for name in ("one", "other"):
        player.queue.signs[name].want(SignWanted(2, ("$1.00", "$2.00")))
    assert waited_s(player, "$1.00") < 0.7
    player.play(20)
    assert {"a": "$1.00"} == player.signs["one"].figures()
    assert {"a": "$1.00", "b": "$2.00"} == player.signs["other"].figures()
    assert {} == player.signs["one"].faults == player.signs["other"].faults
