"""The simulated sign keeps the memory rules that lose figures on a real one."""

from __future__ import annotations

from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign, SignLine
from protocols.alpha import (
    CallString,
    ClearMemory,
    Command,
    ConfigureMemory,
    Mode,
    ReadInformation,
    ReadMemory,
    ReadString,
    ReleasePriority,
    RunSequence,
    SetTime,
    SoftReset,
    StringFile,
    TextFile,
    Tone,
    Transmission,
    WriteString,
    WriteText,
    transmission,
)
from protocols.alpha_pages import takeover
from protocols.alpha_replies import Information, ReplyParser, same_files

A, B = StringFile("a", 16), StringFile("b", 16)
TEXT = WriteText("A", ("MEGA ", CallString("a"), "  MAJOR ", CallString("b")))
PLAN: tuple[Command, ...] = (ClearMemory(), ConfigureMemory((TextFile("A", 64), A, B)), TEXT)


class Wire:
    """A sender that leaves exactly the pause it is told."""

    def __init__(self, plan: SignPlan | None = None) -> None:
        self.sign = AlphaSign(plan or SignPlan("s"))
        self.now = 100.0

    def say(self, command: Command, pause_s: float, type_code: str = "Z", address: str = "00") -> str:
        self.now += pause_s
        began, self.now = self.now, self.now + 0.024
        return self.sign.hear(Transmission((command,), type_code, address), began, self.now).fate


def a_ready_sign() -> Wire:
    wire = Wire()
    for command in PLAN:
        assert wire.say(command, 2.0) == "taken"
    wire.now += 2.0
    return wire


def test_figures_change_in_place() -> None:
    """After clear, configuration and one TEXT, only STRINGs are written and the display follows."""
    wire = a_ready_sign()
    assert "MEGA   MAJOR" == wire.sign.shows()
    wire.say(WriteString("a", "$50,012.34"), 0.25)
    wire.say(WriteString("b", "CLOSED"), 0.25)
    assert "MEGA $50,012.34  MAJOR CLOSED" == wire.sign.shows()
    assert {"a": "$50,012.34", "b": "CLOSED"} == wire.sign.figures()
    assert not wire.sign.faults


def test_too_near_is_lost() -> None:
    """A write nearer than a quarter of a second after the last one changes nothing; one that keeps it counts."""
    wire = a_ready_sign()
    wire.say(WriteString("a", "1"), 0.25)
    assert "lost" == wire.say(WriteString("a", "2"), 0.2)
    assert "1" == wire.sign.figures()["a"]
    assert "taken" == wire.say(WriteString("a", "3"), 0.25)
    assert {"lost": 1} == wire.sign.faults


def test_a_late_reader_blames_nobody() -> None:
    """Bytes that were read late may have come earlier: what follows is lost only where it was certainly too near."""
    for doubt_s, fate in ((0.0, "lost"), (0.04, "lost"), (0.06, "taken")):
        wire = a_ready_sign()
        wire.sign.hear(Transmission((WriteString("a", "1"),)), wire.now - 0.024, wire.now, doubt_s)
        assert fate == wire.say(WriteString("a", "2"), 0.2)


def test_clearing_erases_and_deafens() -> None:
    """Clear and configuration each erase all files, and for two seconds nothing is heard."""
    wire = a_ready_sign()
    wire.say(WriteString("a", "1"), 0.25)
    wire.say(ClearMemory(), 0.25)
    assert ("", {}) == (wire.sign.shows(), wire.sign.figures())
    assert "deaf" == wire.say(PLAN[1], 1.9)
    assert "taken" == wire.say(PLAN[1], 2.0)
    assert "deaf" == wire.say(TEXT, 1.0)
    assert {"a": "", "b": ""} == wire.sign.figures()


def test_a_configuration_without_clearing_shows_nothing() -> None:
    """The plan is stored, files take values, and the display stays blank until memory is cleared first."""
    wire = Wire()
    wire.say(PLAN[1], 2.0)
    wire.say(TEXT, 2.0)
    wire.say(WriteString("a", "1"), 0.25)
    assert "1" == wire.sign.figures()["a"]
    assert "" == wire.sign.shows()
    assert 1 == wire.sign.faults["configured without clearing"]


def test_too_long_empties() -> None:
    """A text longer than its STRING empties it; a TEXT too long for its file and a file not there take nothing."""
    wire = a_ready_sign()
    wire.say(WriteString("a", "1"), 0.25)
    wire.say(WriteString("a", "9" * 17), 0.25)
    assert "" == wire.sign.figures()["a"]
    wire.say(WriteString("z", "1"), 0.25)
    wire.say(WriteText("A", ("9" * 99,)), 0.25)
    wire.say(WriteText("B", ("9",)), 0.25)
    assert {"emptied": 1, "no such file": 2, "text too long": 1} == wire.sign.faults
    assert wire.sign.shows().startswith("MEGA")


def test_priority_takes_the_screen_until_released() -> None:
    """A priority message needs no memory, carries the live figure, and only its release ends it."""
    wire = a_ready_sign()
    wire.say(takeover("JACKPOT", 13, A), 0.25)
    wire.say(WriteString("a", "$5"), 0.25)
    assert "JACKPOT $5" == wire.sign.shows()
    wire.say(WriteText("0", ()), 0.25)
    assert "" == wire.sign.shows()
    wire.say(ReleasePriority(), 0.25)
    assert "MEGA $5  MAJOR" == wire.sign.shows()


def test_a_sign_hears_its_own_type_and_address() -> None:
    """Another sign's frames are not taken, and their time on the line does not count against ours."""
    wire = Wire(SignPlan("s", "^", "01"))
    assert "other" == wire.say(ClearMemory(), 2.0, "^", "02")
    assert "other" == wire.say(ClearMemory(), 0.1, "a", "01")
    assert "taken" == wire.say(ClearMemory(), 0.1, "^", "01")
    assert "taken" == wire.say(PLAN[1], 2.0, "Z", "00")


def test_bytes_in_pieces_have_one_beginning() -> None:
    """A frame cut into pieces is timed from its first byte; two frames in one piece are too near."""
    sign = AlphaSign(SignPlan("s"))
    heard: list[tuple[float, str]] = []
    sign.listeners.append(lambda each: heard.append((each.at, each.fate)))
    line, frame = SignLine([sign], 0.001), transmission(ClearMemory())
    line.serve(frame[:5], 10.005)
    line.serve(frame[5:], 12.0)
    assert [(12.0, "taken")] == heard
    line.serve(frame, 14.0 + len(frame) * 0.001)
    line.serve(frame * 2, 20.0)
    assert ["taken", "taken", "taken", "deaf"] == [fate for _, fate in heard]


def test_pages_follow_the_run_sequence() -> None:
    """What the sequence names is shown in turn; what it leaves out is not."""
    wire = Wire()
    for command in (ClearMemory(), ConfigureMemory((TextFile("A", 64), TextFile("B", 64)))):
        wire.say(command, 2.0)
    wire.say(WriteText("A", ("ONE",)), 2.0)
    wire.say(WriteText("B", ("TWO",)), 0.25)
    assert ["ONE", "TWO"] == wire.sign.pages()
    wire.say(RunSequence("B"), 0.25)
    assert ["TWO"] == wire.sign.pages()


def test_deaf_while_it_starts_or_sounds() -> None:
    """After a tone its port is off for three seconds, after a reset until the tests are done; files stay."""
    wire = a_ready_sign()
    for command, deaf_s in ((Tone(), 3.0), (SoftReset(), 9.0)):
        wire.say(command, 0.25)
        assert "deaf" == wire.say(WriteString("a", "1"), deaf_s - 0.5)
        assert "taken" == wire.say(WriteString("a", "2"), 0.5)
        assert "2" == wire.sign.figures()["a"]


def test_what_stands_still_and_is_too_wide_is_cut() -> None:
    """A figure one digit wider than its display is noticed, wherever it came from."""
    wire = Wire(SignPlan("s", columns=13))
    for command in (ClearMemory(), ConfigureMemory((TextFile("A", 64), A))):
        wire.say(command, 2.0)
    wire.say(WriteText("A", (CallString("a"),)), 2.0)
    wire.say(WriteString("a", "$9,999,999.99"), 0.25)
    wire.say(takeover("WIN LIR-1 $12,345.67", 13), 0.25)
    assert not wire.sign.faults
    wire.say(WriteString("a", "$10,000,000.00"), 0.25)
    wire.say(WriteText("0", ("WIN LIR-1 $12,345.67",), Mode.HOLD), 0.25)
    assert {"cut off": 2} == wire.sign.faults


def test_it_answers_reads() -> None:
    """What it is, its files and its figures, as the controller's ear understands them; another address is silent."""
    sign = AlphaSign(SignPlan("s", "^", "01"))
    line, ears, now = SignLine([sign], 0.001), ReplyParser(), 10.0

    def say(command: Command, address: str = "01") -> bytes:
        nonlocal now
        now += 3.0
        return line.serve(transmission(command, "^", address, checked=True), now)

    memory = ConfigureMemory((TextFile("A", 64), A, B))
    for command in (ClearMemory(), memory, SetTime(14, 30), WriteString("a", "$1.00")):
        assert b"" == say(command)
    said = say(ReadInformation()) + say(ReadMemory()) + say(ReadString("a"))
    information, files, string = ears.receive(said)
    assert Information("10404402", "A", "06/99", "14:30", True, True, 0x7F00, 0x7F00 - 64 - 32 - 39) == information
    assert isinstance(files, ConfigureMemory)
    assert same_files(memory, files)
    assert WriteString("a", "$1.00") == string
    assert b"" == say(ReadInformation(), "02")
    assert not ears.skipped


def test_a_deaf_sign_hears_nothing() -> None:
    """Wrong data bits: neither writes nor reads."""
    sign = AlphaSign(SignPlan("s", deaf=True))
    line = SignLine([sign], 0.001)
    assert b"" == line.serve(transmission(ReadInformation()), 10.0)
    assert not sign.faults
