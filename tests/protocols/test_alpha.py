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
    CallString,
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    Mode,
    Other,
    ReadInformation,
    ReadMemory,
    ReadString,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    SoftReset,
    StringFile,
    TextFile,
    Tone,
    Transmission,
    WriteString,
    WriteText,
    figure,
    quiet_ms,
    text_size,
    transmission,
)
from protocols.alpha_pages import Figure, pages, takeover
from protocols.alpha_parser import AlphaParser
from protocols.alpha_replies import Information, ReplyParser, reply, same_files
from protocols.errors import Cause, PeerError

FILE = json.loads((Path(protocols.__file__).parent / "vectors" / "alpha.json").read_text())
VECTORS = {vector["name"]: bytes.fromhex(vector["frame_hex"]) for vector in FILE["frames"]}
REPLIES = {vector["name"]: bytes.fromhex(vector["hex"]) for vector in FILE["replies"]}
STRING_A = StringFile("a", 16)
SAID: dict[str, Command] = {
    "write_text_A_rotate": WriteText("A", ("HELLO",), Mode.ROTATE),
    "write_text_A_red_flash": WriteText("A", (Code.RED, Code.FLASH_ON, "WIN!", Code.FLASH_OFF)),
    "write_string_a_12345_67": WriteString("a", "$12,345.67"),
    "memory_config_A256_a16_b16": ConfigureMemory((TextFile("A", 256), STRING_A, StringFile("b", 16))),
    "clear_memory": ClearMemory(),
    "priority_text": WriteText("0", (Code.RED, Code.FLASH_ON, "JACKPOT!"), Mode.FLASH),
    "priority_release": ReleasePriority(),
    "set_time_1430": SetTime(14, 30),
    "set_time_format_24h": SetTimeFormat(),
    "set_time_format_12h": SetTimeFormat(hours_24=False),
    "set_day_tuesday": SetDay(3),
    "beep_three": Tone(beeps=True),
    "tone": Tone(),
    "soft_reset": SoftReset(),
    "run_sequence_ABC": RunSequence("ABC"),
    "read_string_a": ReadString("a"),
    "read_information": ReadInformation(),
    "read_memory": ReadMemory(),
}
#: Vectors with a target of their own, or with checksums.
AIMED: dict[str, tuple[Command, str, str, bool]] = {
    "write_string_a_betabrite_type_addr01": (WriteString("a", "$12,345.67"), "^", "01", False),
    "clear_memory_betabrite_addr02": (ClearMemory(), "^", "02", False),
    "read_string_b_betabrite_addr02": (ReadString("b"), "^", "02", False),
    "string_a_with_checksum": (WriteString("a", "$12,345.67"), "Z", "00", True),
    "time_with_checksum": (SetTime(14, 30), "Z", "00", True),
    "prio_with_checksum": (
        WriteText("0", (Code.RED, Code.FLASH_ON, "JACKPOT!"), Mode.FLASH), "Z", "00", True,
    ),
}  # fmt: skip

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


@pytest.mark.parametrize("name", AIMED)
def test_targets_and_checksums_equal_the_vectors(name: str) -> None:
    """A sign's own type and address, and the checksum, stand where the vector has them; the sign reads them back."""
    command, type_code, address, checked = AIMED[name]
    frame = transmission(command, type_code, address, checked=checked)
    assert PREAMBLE + VECTORS[name] == frame
    assert [Transmission((command,), type_code, address)] == AlphaParser().receive(frame)


def test_every_vector_is_used() -> None:
    """Nothing lies in the file that no test compares."""
    assert set(VECTORS) == {*SAID, *AIMED, "nested_two_string_writes_with_checksums"}


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


RED, WIDTH = Code.RED, Code.FIXED_WIDTH_ON


def test_a_figure_shares_the_page_of_its_caption_where_there_is_room() -> None:
    """Fixed width first, then caption and figure, the colour named again behind the call."""
    (page,) = pages((Figure("MAJOR", STRING_A, 7),), 13)
    assert WriteText("A", (WIDTH, RED, "MAJOR ", CallString("a"), RED)) == page
    assert text_size(page) == len(transmission(page)) - len(transmission(WriteText("A", ())))


def test_a_wide_figure_has_a_page_of_its_own() -> None:
    """Thirteen columns: the word, then the figure, then the next; each can be read as it stands."""
    figures = (Figure("MEGA", STRING_A, 13), Figure("", StringFile("b", 16), 10))
    words, mega, major = pages(figures, 13)
    assert WriteText("A", (WIDTH, RED, "MEGA")) == words
    assert WriteText("B", (WIDTH, RED, CallString("a"), RED)) == mega
    assert WriteText("C", (WIDTH, RED, CallString("b"), RED)) == major
    assert (13, 13) == tuple(figure.room(13) for figure in figures)
    assert 7 == Figure("MAJOR", STRING_A, 6).room(13)


def test_a_notice_moves_through_behind_the_figures() -> None:
    """What players must be told is longer than any display."""
    *_, notice = pages((Figure("MEGA", STRING_A, 13),), 13, "Part may be kept by the house.")
    assert WriteText("C", (RED, "Part may be kept by the house."), Mode.ROTATE) == notice


@pytest.mark.parametrize(("caption", "widest"), [("MEGA", 14), ("THE MEGA JACKPOT", 3)])
def test_what_a_display_cannot_show_is_refused(caption: str, widest: int) -> None:
    """A page that stands still and is wider than the display would be cut, in the middle of a figure perhaps."""
    with pytest.raises(PeerError):
        pages((Figure(caption, STRING_A, widest),), 13)


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
    """Every kind of frame has its pause: where a sign restarts or sounds it hears nothing for seconds."""
    assert 2000 == quiet_ms(ClearMemory()) == quiet_ms(ConfigureMemory(()))
    assert 3000 == quiet_ms(Tone())
    assert 10_000 == quiet_ms(SoftReset())
    assert 250 == quiet_ms(WriteText("A", ())) == quiet_ms(WriteString("a", "")) == quiet_ms(ReleasePriority())


def test_a_takeover_carries_the_live_figure() -> None:
    """The priority message flashes its words and calls the STRING; it stands only where all of it can be seen."""
    assert b"A0\x1b a\x1c1\x071JACKPOT\x070 \x10a\x1c1" in transmission(takeover("JACKPOT", 13, STRING_A))
    assert Mode.HOLD is takeover("WIN LIR-1", 13).mode
    assert Mode.ROTATE is takeover("WIN LIR-1 $12,345.67", 13).mode


@pytest.mark.parametrize(
    "wrong", [SetTime(24, 0), SetTime(0, 60), SetDay(0), SetDay(8), RunSequence(""), RunSequence("AA")]
)
def test_no_such_time_or_sequence(wrong: Command) -> None:
    """A clock has no such hour; an empty sequence would freeze the display."""
    with pytest.raises(PeerError):
        transmission(wrong)


def test_a_checksum_measured_on_a_sign() -> None:
    """``GaREAD ME`` sums to 027B, as a BetaBrite Classic answered."""
    assert reply(b"GaREAD ME") == REPLIES["reply_read_string_a"]


def test_replies_are_read() -> None:
    """The three answers, each as its values."""
    ears = ReplyParser()
    assert [WriteString("a", "READ ME")] == ears.receive(REPLIES["reply_read_string_a"])
    assert [Information("10404402", "A", "06/99", "14:30", True, True, 0x7F00, 0x6A00)] == ears.receive(
        REPLIES["reply_general_information"]
    )
    (memory,) = ears.receive(REPLIES["reply_memory_config"])
    assert memory == ConfigureMemory((TextFile("A", 256), STRING_A, StringFile("b", 16)))
    assert not ears.skipped


def test_a_sign_without_a_revision_letter() -> None:
    """The letter stands in the middle and may be missing; nothing behind it moves."""
    (read,) = ReplyParser().receive(reply(b'E"1040440206991430SFF7F00,6A00'))
    assert Information("10404402", "", "06/99", "14:30", False, False, 0x7F00, 0x6A00) == read


def test_a_running_sign_gives_its_first_file_what_is_left() -> None:
    """The first size read back is larger than asked; any other difference is one."""
    asked = ConfigureMemory((TextFile("A", 64), STRING_A))
    assert same_files(asked, ConfigureMemory((TextFile("A", 9000), STRING_A)))
    assert not same_files(asked, ConfigureMemory((TextFile("A", 60), STRING_A)))
    assert not same_files(asked, ConfigureMemory((TextFile("A", 64), StringFile("a", 17))))
    assert not same_files(asked, ConfigureMemory((TextFile("A", 64),)))


@given(st.lists(st.integers(1, 7), max_size=20), st.binary(max_size=20))
def test_replies_in_any_pieces_behind_noise(cuts: list[int], noise: bytes) -> None:
    """Cut anywhere, behind anything; a bent or half answer is none."""
    ears, line, heard = ReplyParser(), noise + b"\x04" + REPLIES["reply_general_information"], []
    for cut in (*cuts, len(line)):
        heard += ears.receive(line[:cut])
        line = line[cut:]
    assert isinstance(heard[-1], Information)


@given(st.integers(24, 63), st.integers(0, 7))
def test_no_bent_reply_is_read(at: int, bit: int) -> None:
    """One flipped bit anywhere between the head and the checksum's end, and nothing is taken for an answer."""
    line = bytearray(REPLIES["reply_general_information"])
    at = min(at, len(line) - 2)
    line[at] ^= 1 << bit
    assert [] == ReplyParser().receive(bytes(line))


@given(st.sampled_from(sorted({*SAID} - {"read_memory"})), st.integers(0, 400), st.integers(0, 7))
def test_a_bent_command_with_a_checksum_changes_no_file(name: str, at: int, bit: int) -> None:
    """One flipped bit from the command to the end: the sign takes the command as it was said, or no typed command."""
    said = SAID[name]
    line = bytearray(transmission(said, checked=True))
    at = len(PREAMBLE) + 5 + at % (len(line) - len(PREAMBLE) - 5)
    line[at] ^= 1 << bit
    for heard in AlphaParser().receive(bytes(line)):
        for command in heard.commands:
            grown = isinstance(command, WriteString) and len(command.text) >= len(getattr(said, "text", "")) + 5
            assert command == said or isinstance(command, Other) or grown or _longer(said, command)


def _longer(said: Command, heard: Command) -> bool:
    """ETX itself was bent into a letter: the digits behind it became text, which is longer by five."""
    return isinstance(heard, WriteText | RunSequence | ConfigureMemory) and type(said) is type(heard)


@given(st.lists(commands, min_size=1, max_size=4), st.lists(st.integers(1, 30), max_size=40), st.booleans())
def test_round_trip_in_any_pieces(said: list[Command], cuts: list[int], checked: bool) -> None:
    """What the controller says is what the sign hears, cut anywhere, with checksums and without."""
    line, heard = b"".join(transmission(command, checked=checked) for command in said), []
    parser = AlphaParser()
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
