"""Alpha frames: byte for byte those of independent programs, both ways, from any bytes in any pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols
from protocols.alpha import (
    PREAMBLE,
    QUIET_MS,
    AlphaParser,
    CallString,
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    Figure,
    Mode,
    Other,
    ReleasePriority,
    StringFile,
    TextFile,
    Transmission,
    WriteString,
    WriteText,
    figure,
    figures_text,
    takeover,
    text_size,
    transmission,
)
from protocols.errors import Cause, PeerError

VECTORS = {
    vector["name"]: bytes.fromhex(vector["frame_hex"])
    for vector in json.loads((Path(protocols.__file__).parent / "vectors" / "alpha.json").read_text())["frames"]
}
STRING_A = StringFile("a", 16)
SAID: dict[str, Command] = {
    "write_text_A_rotate": WriteText("A", ("HELLO",), Mode.ROTATE),
    "write_text_A_red_flash": WriteText("A", (Code.RED, Code.FLASH_ON, "WIN!", Code.FLASH_OFF)),
    "write_string_a_12345_67": WriteString("a", "$12,345.67"),
    "memory_config_A256_a16_b16": ConfigureMemory((TextFile("A", 256), STRING_A, StringFile("b", 16))),
    "clear_memory": ClearMemory(),
    "priority_text": WriteText("0", (Code.RED, Code.FLASH_ON, "JACKPOT!"), Mode.FLASH),
    "priority_release": ReleasePriority(),
    "set_time_1430": Other(b"E 1430"),
}

texts = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=20)
labels = st.characters(min_codepoint=0x41, max_codepoint=0x7A)
parts = st.one_of(texts, st.sampled_from(Code), labels.map(CallString))
commands = st.one_of(
    st.just(ClearMemory()),
    st.just(ReleasePriority()),
    st.builds(WriteString, labels, texts),
    st.builds(
        WriteText,
        labels,
        # Two plain texts side by side are one text on the wire.
        st.lists(parts, max_size=6)
        .map(tuple)
        .filter(lambda row: not any(isinstance(a, str) and isinstance(b, str) for a, b in pairwise(row))),
        st.sampled_from(Mode),
    ),
    st.builds(
        ConfigureMemory,
        st.lists(
            st.one_of(
                st.builds(TextFile, labels, st.integers(1, 0xFFFF)), st.builds(StringFile, labels, st.integers(1, 125))
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda file: file.label,
        ).map(tuple),
    ),
)


@pytest.mark.parametrize("name", SAID)
def test_frames_equal_the_vectors(name: str) -> None:
    """What we build is byte for byte what the named programs build, behind six NULs."""
    assert PREAMBLE + VECTORS[name] == transmission(SAID[name])


def test_target_of_a_frame() -> None:
    """A sign's own type and address stand where the vector has them."""
    vector = VECTORS["write_string_a_betabrite_type_addr01"]
    assert PREAMBLE + vector == transmission(SAID["write_string_a_12345_67"], "^", "01")


@pytest.mark.parametrize("name", SAID)
def test_a_sign_hears_what_was_said(name: str) -> None:
    """The sign's side reads the vectors back to the same values."""
    assert [Transmission((SAID[name],))] == AlphaParser().receive(PREAMBLE + VECTORS[name])


def test_checksums_and_nested_commands_are_heard() -> None:
    """A frame with a checksum is read like one without; a wrong sum is not taken; nested commands come together."""
    parser = AlphaParser()
    assert [Transmission((WriteString("a", "$12,345.67"),))] == parser.receive(
        PREAMBLE + VECTORS["string_a_with_checksum"]
    )
    assert [2] == [
        len(heard.commands) for heard in parser.receive(PREAMBLE + VECTORS["nested_two_string_writes_with_checksums"])
    ]
    assert [] == parser.receive(PREAMBLE + VECTORS["string_a_with_checksum"].replace(b"0297", b"0298"))
    assert {Cause.CRC: 1} == parser.skipped


def test_a_sign_needs_five_nuls() -> None:
    """A frame without its preamble is not heard, and the next one is."""
    parser, frame = AlphaParser(), VECTORS["clear_memory"]
    assert [] == parser.receive(bytes(4) + frame)
    assert 1 == len(parser.receive(bytes(5) + frame))
    assert {Cause.CUT: 1} == parser.skipped


def test_a_text_of_figures() -> None:
    """Fixed width first, then each caption and its figure, the colour named again behind each call."""
    figures = (Figure("MEGA", STRING_A), Figure("MAJOR", StringFile("b", 16)))
    text = figures_text("A", figures)
    red, call = Code.RED, CallString
    assert (Code.FIXED_WIDTH_ON, red, "MEGA ", call("a"), red, "  MAJOR ", call("b"), red) == text.parts
    assert Mode.HOLD is text.mode
    assert text_size(text) == len(transmission(text)) - len(transmission(WriteText("A", ())))


def test_a_figure_too_long_is_refused() -> None:
    """A value longer than its STRING would empty it, so it is never built."""
    assert WriteString("a", "9" * 16) == figure(STRING_A, "9" * 16)
    with pytest.raises(PeerError) as refused:
        figure(STRING_A, "9" * 17)
    assert Cause.TOO_LONG is refused.value.cause


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (WriteString("a", "€5"), Cause.UNREADABLE_TEXT),
        (WriteString("a", "5\x04"), Cause.UNREADABLE_TEXT),
        (WriteText("A", ("\x1b",)), Cause.UNREADABLE_TEXT),
        (Other(b"E\x04"), Cause.UNREADABLE_TEXT),
        (Other(b""), Cause.UNREADABLE_TEXT),
        (WriteString("a", "5" * 126), Cause.TOO_LONG),
        (WriteText("0", ("5" * 126,)), Cause.TOO_LONG),
        (ConfigureMemory((StringFile("a", 126),)), Cause.TOO_LONG),
        (ConfigureMemory((TextFile("A", 0),)), Cause.TOO_LONG),
        (WriteString("0", "5"), Cause.BAD_LABEL),
        (WriteString("?", "5"), Cause.BAD_LABEL),
        (WriteText("AB", ()), Cause.BAD_LABEL),
        (ConfigureMemory(()), Cause.BAD_LABEL),
        (ConfigureMemory((TextFile("A", 9), StringFile("A", 9))), Cause.BAD_LABEL),
        (ConfigureMemory((TextFile("0", 9),)), Cause.BAD_LABEL),
    ],
    ids=repr,
)
def test_what_cannot_be_said(command: Command, cause: Cause) -> None:
    """Nothing leaves that would end its own frame, empty a file or name one that cannot exist."""
    with pytest.raises(PeerError) as refused:
        transmission(command)
    assert cause is refused.value.cause


def test_no_sign_of_that_name() -> None:
    """A type or address that the frame has no room for is refused."""
    for target in (("ZZ", "00"), ("\x01", "00"), ("Z", "0"), ("Z", "0g")):
        with pytest.raises(PeerError):
            transmission(ClearMemory(), *target)


def test_pauses() -> None:
    """Every kind of frame has its pause: two seconds where memory is erased, a quarter where a file is written."""
    assert 2000 == QUIET_MS[ClearMemory] == QUIET_MS[ConfigureMemory]
    assert 250 == QUIET_MS[WriteText] == QUIET_MS[WriteString] == QUIET_MS[ReleasePriority]


def test_a_takeover_carries_the_live_figure() -> None:
    """The priority message flashes its words and calls the STRING, so it needs no figure of its own."""
    assert b"A0\x1b b\x1c1\x071JACKPOT\x070 \x10a\x1c1" in transmission(takeover("JACKPOT", STRING_A))


@given(st.lists(commands, min_size=1, max_size=4), st.lists(st.integers(1, 30), max_size=40))
def test_round_trip_in_any_pieces(said: list[Command], cuts: list[int]) -> None:
    """What the controller says is what the sign hears, cut anywhere."""
    line, parser, heard = b"".join(transmission(command) for command in said), AlphaParser(), []
    for cut in (*cuts, len(line)):
        heard += parser.receive(line[:cut])
        line = line[cut:]
    assert [Transmission((command,)) for command in said] == heard
    assert not parser.skipped


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_any_bytes_in_any_pieces(pieces: list[bytes]) -> None:
    """Nothing raises, and a frame behind any noise that is not left open is heard."""
    parser = AlphaParser()
    for piece in pieces:
        parser.receive(piece)
    assert Transmission((ClearMemory(),)) == parser.receive(b"\x04" + transmission(ClearMemory()))[-1]


@given(st.binary(max_size=60))
def test_any_body_of_a_frame(body: bytes) -> None:
    """A frame with any inside is a typed value or counted, never an exception."""
    for command in (b"A", b"E$", b"G", b""):
        parser = AlphaParser()
        heard = parser.receive(PREAMBLE + b"\x01Z00\x02" + command + body + b"\x04")
        assert heard or parser.skipped


def test_a_line_of_noise_is_bounded() -> None:
    """A sender that never ends its frame fills no memory."""
    parser = AlphaParser()
    for _ in range(100):
        parser.receive(b"\x55" * 1000)
    assert {Cause.TOO_LONG: 11} == parser.skipped
