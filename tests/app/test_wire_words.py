"""A wire in words: what each line's codec reads, what a module's inputs mean at its table, and what was no frame."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.app.wire_words import Changes, Said, reader_for, words_of
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.trace import Head, Piece
from protocols import sas
from protocols.alpha import (
    ClearMemory,
    Code,
    ConfigureMemory,
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
    WriteString,
    WriteText,
    transmission,
)
from protocols.alpha_pages import takeover
from protocols.alpha_replies import reply
from protocols.modbus_crc import sealed

SAMPLE = Path(__file__).parents[2] / "docs" / "site.example.toml"
MODBUS = Head("pit-1", "modbus", "/dev/x", 115200, 10)


@pytest.fixture(scope="module")
def site() -> Site:
    return load_site(SAMPLE.read_text("utf-8"), "site.toml", catalogue())


def told(head: Head, moments: Sequence[tuple[str, bytes]], site: Site | None = None) -> list[str]:
    pieces = [Piece(n, n, way, data) for n, (way, data) in enumerate(moments, 1)]
    return [said.words for said in words_of(head, pieces, site)]


def frame(text: str) -> bytes:
    return sealed(bytes.fromhex(text))


ASK_INPUTS = ("tx", frame("28 02 0000 0010"))
ASK_COUNTERS = ("tx", frame("28 04 0000 0020"))


def counters(**moved: int) -> tuple[str, bytes]:
    """The counters of unit 40: 16 of 32 bits, high word first."""
    values = [moved.get(f"c{n}", 0) for n in range(16)]
    return "rx", frame("28 04 40" + "".join(f"{value:08x}" for value in values))


def test_a_module_is_named_by_what_is_wired_to_it(site: Site) -> None:
    """Seats, the lock button and lamps by their names; counters as what moved."""
    moments = [
        ASK_INPUTS,
        ("rx", frame("28 02 02 05 01")),
        ASK_COUNTERS,
        counters(c0=3),
        ASK_COUNTERS,
        counters(c0=4, c8=1),
        ASK_COUNTERS,
        counters(c0=4, c8=1),
        ("tx", frame("28 0f 0000 0008 01 05")),
        ("rx", frame("28 0f 0000 0008")),
    ]
    assert [
        "pit-1/40: inputs 0-15?",
        "pit-1/40: inputs on: seat 1, seat 3, lock button",
        "pit-1/40: input registers 0-31?",
        "pit-1/40: counters 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
        "pit-1/40: input registers 0-31?",
        "pit-1/40: counters moved: seat 1 +1 (4), lock button +1 (1)",
        "pit-1/40: input registers 0-31?",
        "pit-1/40: counters as before",
        "pit-1/40: set outputs 0-7: on: lamp 1, lamp 3",
        "pit-1/40: done",
    ] == told(MODBUS, moments, site)


@given(
    st.sampled_from([40, 41, 50]),
    st.sampled_from([1, 2, 3, 4]),
    st.sampled_from([0, 1, 2, 16, 100]),
    st.integers(1, 40),
    st.integers(0, 255),
)
def test_any_read_of_a_module_is_told(
    site: Site, unit: int, function: int, address: int, count: int, filled: int
) -> None:
    """A part of its counters too: after a late reply the daemon reads one register, half a counter of 32 bits."""
    size = (count + 7) // 8 if function in {1, 2} else 2 * count
    asked = sealed(bytes((unit, function, 0, address, 0, count)))
    answered = sealed(bytes((unit, function, size, *[filled] * size)))
    question, answer = told(MODBUS, [("tx", asked), ("rx", answered)], site)
    assert ("?", str(unit) in answer.partition(":")[0]) == (question[-1], True)


def test_half_a_counter_is_no_counter(site: Site) -> None:
    """It is told as the number it is, and what the counters stood at is still known afterwards."""
    half = [("tx", frame("28 04 0000 0001")), ("rx", frame("28 04 02 0007"))]
    moments = [ASK_COUNTERS, counters(c0=3), *half, ASK_COUNTERS, counters(c0=4)]
    words = told(MODBUS, moments, site)
    assert ["pit-1/40: 7", "pit-1/40: counters moved: seat 1 +1 (4)"] == [words[3], words[5]]


def test_without_a_site_file_units_and_numbers() -> None:
    """What the codec knows by itself; text in registers is shown as text."""
    moments = [
        ASK_INPUTS,
        ("rx", frame("28 02 02 05 01")),
        ("tx", frame("50 10 0000 0003 06 434c4f534544")),
        ("rx", frame("50 10 0000 0003")),
        ("tx", frame("28 03 0064 0002")),
        ("rx", frame("28 03 04 4d54 0001")),
    ]
    assert [
        "unit 40: inputs 0-15?",
        "unit 40: inputs on: 0, 2, 8",
        'unit 80: write registers 0-2: "CLOSED"',
        "unit 80: done",
        "unit 40: holding registers 100-101?",
        "unit 40: 19796 1",
    ] == told(MODBUS, moments)


def test_silence_and_noise_are_said() -> None:
    """No answer, an answer of another, a cut one, one behind a stray byte, an exception, bytes nobody asked for."""
    moments = [
        ("rx", b"\x28\x02"),  # the listening began between question and answer
        *(ASK_INPUTS, ASK_INPUTS),
        ("rx", frame("29 02 02 05 01")),
        *(ASK_INPUTS, ("rx", frame("28 02 02 05 01")[:4])),
        *(ASK_INPUTS, ("rx", b"\x00"), ("rx", frame("28 02 02 05 01")[:3]), ("rx", frame("28 02 02 05 01")[3:])),
        *(ASK_INPUTS, ("rx", frame("28 82 02")), ("rx", b"\x01")),
        ("tx", b"\x00"),
    ]
    assert [
        *("unit 40: inputs 0-15?", "unit 40: no answer"),
        *("unit 40: inputs 0-15?", "unit 40: no answer, but 7 bytes: wrong_unit"),
        *("unit 40: inputs 0-15?", "unit 40: no answer, but 4 bytes: cut"),
        *("unit 40: inputs 0-15?", "unit 40: inputs on: 0, 2, 8", "and besides: stray"),
        *("unit 40: inputs 0-15?", "unit 40 refuses function 2: no such address", "1 bytes nobody asked for"),
        *("1 bytes of no request", "unit 0: no answer"),
    ] == told(MODBUS, moments)


def test_the_same_answer_is_told_once(site: Site) -> None:
    """Of a line that is polled ten times a second only what changes, with its question."""
    changes, reader = Changes(), reader_for(MODBUS, site)
    quiet, seated = ("rx", frame("28 02 02 00 00")), ("rx", frame("28 02 02 01 00"))
    moments = [
        *(ASK_INPUTS, quiet, ASK_INPUTS, quiet, ASK_INPUTS, seated, ASK_INPUTS, seated),
        *(ASK_INPUTS, ASK_INPUTS, ASK_INPUTS, quiet),
    ]
    shown: list[str] = []
    for n, (way, data) in enumerate(moments):
        said = [Said(n, way, words) for words in reader.read(Piece(n, n, way, data))]
        shown += [each.words for each in changes.of(said)]
    question = "pit-1/40: inputs 0-15?"
    assert [
        *(question, "pit-1/40: inputs on: none", question, "pit-1/40: inputs on: seat 1"),
        *(question, "pit-1/40: no answer", question, "pit-1/40: inputs on: none"),
    ] == shown


def test_a_line_of_signs() -> None:
    """Every command and answer as a sentence; a bent one is not understood."""
    bent = bytearray(transmission(WriteString("a", "$1.00"), checked=True))
    bent[-8] ^= 1
    moments = [
        ("tx", transmission(command, "^", "01", checked=True))
        for command in (
            *(ClearMemory(), ConfigureMemory((TextFile("A", 30), StringFile("a", 16))), SoftReset(), Tone()),
            *(WriteText("A", (Code.RED, "MEGA")), takeover("WIN", 13, StringFile("a", 4)), ReleasePriority()),
            *(WriteString("a", "$12,345.67"), RunSequence("AB"), SetTime(9, 5), SetDay(1), SetTimeFormat()),
            *(Tone(beeps=True), ReadInformation(), ReadMemory(), ReadString("a")),
        )
    ]
    moments += [
        ("rx", reply(b'E"10404402A06991430M007F00,6A00')),
        ("rx", reply(b"E$AAU001EFFFFaBL00100000") + reply(b"GaREAD ME") + b"\x04"),
        ("tx", bytes(bent)),
        ("tx", transmission(WriteString("a", "x"))[:-1]),
    ]
    assert [
        "to sign 01: erase everything",
        "to sign 01: set up 2 files: A of 30 bytes, a of 16 bytes",
        "to sign 01: start anew",
        "to sign 01: a tone",
        "to sign 01: page A, hold: MEGA",
        "to sign 01: message, hold: WIN [figure a]",
        "to sign 01: end of the message",
        "to sign 01: figure a: $12,345.67",
        "to sign 01: show pages A B",
        "to sign 01: the time is 09:05",
        "to sign 01: today is Sunday",
        "to sign 01: show 24 hours",
        "to sign 01: three beeps",
        "to sign 01: what are you?",
        "to sign 01: which files have you?",
        "to sign 01: what is figure a?",
        "I am firmware 10404402A, my clock says 14:30",
        *("I have 2 files: A of 30 bytes, a of 16 bytes", "figure a is READ ME", "not understood"),
        "not understood by any sign",
        "a frame that does not end",
    ] == told(Head("sign-1", "alpha", "/dev/y", 9600, 10), moments)


def test_a_line_of_games() -> None:
    """Levels told, wins asked for, answers, exceptions; money as money; what is neither is said to be so."""
    head, won = Head("sas-1", "sas", "/dev/z", 19200, 11), (sas.LevelAmount(1, 1_234_567),)
    poll, asked = sas.encode(sas.GeneralPoll(1)), sas.encode(sas.AskWins(1, 0x85))
    single = sas.encode(sas.SingleLevel(0, 1, won[0]))
    assert "00800101000123456" == single.hex()[:17]  # the example of the protocol's descriptions
    words = told(
        head,
        [
            ("rx", b"\x01"),
            ("tx", single),
            ("tx", sas.encode(sas.MultiLevel(0, 3, (*won, sas.LevelAmount(2, 5))))),
            *(("tx", poll), ("rx", b"\x56"), ("tx", poll), ("rx", b"\x00"), ("tx", poll), ("rx", b"\x19")),
            *(("tx", asked), ("rx", sas.encode(sas.Wins(1, 0x85, 3, won)))),
            *(("tx", asked), ("rx", b"\x55\x55")),
        ],
    )
    assert [
        "1 bytes nobody asked for",
        "all games: group 1: level 1 $12,345.67",
        "all games: group 3: level 1 $12,345.67, level 2 $0.05",
        *("game 1: anything new?", "a level was hit", "game 1: anything new?", "nothing new"),
        *("game 1: anything new?", "exception 19"),
        *("game 1: which wins? (85)", "group 3: won level 1 $12,345.67"),
        "game 1: which wins? (85)",
    ] == words[:-1]
    assert words[-1].startswith("not understood: ")


def test_a_line_of_pads() -> None:
    """Which pad and what kind of message; what the secure channel holds stays there; stray bytes are told."""
    head = Head("keys-1", "osdp", "/dev/k", 9600, 10)
    poll, key = bytes.fromhex("ff 53 05 08 00 06 60 1122"), bytes.fromhex("53 85 0b 00 06 53 00 01 31 5d 3d")
    secured = bytes.fromhex("53 85 0e 00 0e 02 16 53 aabbccdd 1122")
    moments = [("tx", poll), ("rx", key[:5]), ("rx", key[5:]), ("rx", b"\x00\x01" + secured), ("rx", b"\x53\x01")]
    assert [
        "pad 5, 2: poll",
        "pad 5, 2: key",
        *("2 stray bytes", "pad 5, 2: key, secured"),
        "2 bytes of no packet",
    ] == told(head, moments)


def test_a_line_that_no_codec_reads() -> None:
    """The number of bytes, at least."""
    assert ["3 bytes"] == told(replace_kind("hid"), [("rx", b"abc")])


def replace_kind(kind: str) -> Head:
    return MODBUS._replace(kind=kind)


@given(
    st.sampled_from(["modbus", "alpha", "sas", "osdp", "hid"]),
    st.lists(st.tuples(st.sampled_from(["tx", "rx"]), st.binary(max_size=40)), max_size=20),
)
def test_any_bytes_in_any_pieces(kind: str, moments: list[tuple[str, bytes]]) -> None:
    """Words or none; never an exception."""
    told(replace_kind(kind), moments)


def test_a_bent_line_is_still_told(site: Site) -> None:
    """Frames of a real exchange with bytes flipped, cut and doubled: every piece is read or said to be none."""
    seed = 5
    print("seed", seed)
    chance = random.Random(seed)
    good = [ASK_INPUTS, ("rx", frame("28 02 02 05 01")), ASK_COUNTERS, counters(c0=1)]
    for _ in range(500):
        way, data = chance.choice(good)
        bent = bytearray(data)
        bent[chance.randrange(len(bent))] ^= 1 << chance.randrange(8)
        told(MODBUS, [good[0], (way, bytes(bent)), good[2], (way, data[: chance.randrange(len(data) + 1)])], site)
