"""Codes to keys, records to presses, bytes to badges: pure, in any pieces."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.config.pads import osdp_codes
from protocols.events import KEY_LOST, KEY_PART
from protocols.hid_keys import EV_KEY, EV_SYN, KEYS, RECORD, SYN_DROPPED, SYN_REPORT, Dropped, KeyRecords, Press
from protocols.key_sequences import KeySequences, ambiguous
from protocols.osdp_keys import DEFAULT_KEY, DeviceId, badge, codes

LAYOUT = {"digit-1": codes("1"), "hand-1": codes("B1"), "fold": codes("C1"), "join": codes("CC2"), "enter": codes("#")}


def test_sequences_make_keys_and_their_parts_are_told() -> None:
    """``B1`` is one key; a code that continues nothing begins anew; one that no key has is lost."""
    keys = KeySequences(LAYOUT)
    assert ("digit-1", "hand-1") == keys.take(codes("1B1"))
    assert ("enter", "fold") == keys.take(codes("B#BC1"))
    assert ("join", KEY_LOST, KEY_LOST, "digit-1") == keys.take(codes("CC29A1"))
    assert [(KEY_PART,), (KEY_PART,), ("join",)] == [keys.take(codes(one)) for one in "CC2"]
    assert ("digit-1", KEY_PART) == keys.take(codes("1B"))
    keys.take(codes("C"))
    keys.reset()
    assert ("digit-1",) == keys.take(codes("1"))


@given(st.lists(st.sampled_from("0123#*ABCD"), max_size=30), st.lists(st.integers(1, 4), max_size=30))
def test_pieces_do_not_matter(symbols: list[str], sizes: list[int]) -> None:
    """However a pad bundles its keys, the same keys come out."""
    whole = tuple(code for symbol in symbols for code in codes(symbol))
    expected = tuple(key for key in KeySequences(LAYOUT).take(whole) if key != KEY_PART)
    keys, rest, found = KeySequences(LAYOUT), whole, ()
    for size in sizes:
        found += keys.take(rest[:size])
        rest = rest[size:]
    found += keys.take(rest)
    assert expected == tuple(key for key in found if key != KEY_PART)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.text("12", min_size=1, max_size=3), max_size=6))
def test_a_layout_is_ambiguous_exactly_where_one_key_begins_another(layout: dict[str, str]) -> None:
    """Looked at pair by pair."""
    keys = {name: tuple(map(ord, text)) for name, text in layout.items()}
    names = list(layout)
    clash = any(layout[other].startswith(layout[one]) for one in names for other in names if one != other)
    assert clash == (ambiguous(keys) is not None)
    if clash:
        with pytest.raises(ValueError):
            KeySequences(keys)


def test_what_a_layout_writes_means_the_same_in_a_profile() -> None:
    """Config may not import wires; both read the same text."""
    for text in ("0", "9", "*", "#", "A", "H", "B3", "**1", "*#"):
        assert osdp_codes(text) == codes(text)
    for wrong in ("", "I", "a", "1 2", "é"):
        assert osdp_codes(wrong) is None
        with pytest.raises(ValueError):
            codes(wrong)


def test_badges_and_identities_as_files_write_them() -> None:
    """Bits, then the bytes; bits behind the last are nothing. Maker, model and serial number in hex."""
    assert "26:0123ABC0" == badge(26, bytes.fromhex("0123ABC0")) == badge(26, bytes.fromhex("0123ABFF99"))
    assert ("32:DEADBEEF", "1:80", None, None) == (
        badge(32, bytes.fromhex("DEADBEEF")), badge(1, b"\xff"), badge(26, b"\x01\x23\xab"), badge(0, b""),
    )  # fmt: skip
    assert "00BEBA-02-0000004D" == DeviceId(0x00BEBA, 2, 1, 77, 0x010203).identity
    assert (b"0123456789:;<=>?", False) == (DEFAULT_KEY, DeviceId(0, 0, 0, 0, 0).known)


# ── USB keyboards ───────────────────────────────────────────────────────────────────────────────────────────────────


def record(kind: int, code: int, value: int, ms: int = 0) -> bytes:
    return struct.pack("@qqHHi", ms // 1000, ms % 1000 * 1000, kind, code, value)


SYN = record(EV_SYN, SYN_REPORT, 0)
DROP = record(EV_SYN, SYN_DROPPED, 0)


def down(*pressed: int) -> bytes:
    state = bytearray(KEYS // 8)
    for code in pressed:
        state[code // 8] |= 1 << code % 8
    return bytes(state)


def test_a_press_is_value_1_and_nothing_else() -> None:
    """Held for two seconds it repeats fifty times: one press. Releases, lamps and moves of a mouse are none."""
    held = record(EV_KEY, 28, 1, 1_500) + SYN + b"".join(record(EV_KEY, 28, 2) + SYN for _ in range(50))
    others = record(EV_KEY, 28, 0) + SYN + record(4, 4, 458) + record(2, 0, 1) + record(17, 1, 1)
    assert [Press(28, 1_500)] == list(KeyRecords().feed(held + others))
    assert 24 == RECORD.size


def test_a_key_that_is_down_when_we_come_or_is_told_twice_is_no_press() -> None:
    """It has to come up first."""
    records = KeyRecords(down(28))
    assert [] == list(records.feed(record(EV_KEY, 28, 1) + SYN))
    assert [] == list(records.feed(record(EV_KEY, 28, 0)))
    assert [Press(28, 0)] == list(records.feed(record(EV_KEY, 28, 1) + record(EV_KEY, 28, 1)))


def test_behind_dropped_records_nothing_counts_until_the_next_report() -> None:
    """Then the state is read again: what went down meanwhile has no order and is no press."""
    records = KeyRecords()
    story = DROP + record(EV_KEY, 2, 1) + record(EV_KEY, 3, 0) + SYN
    assert [Dropped()] == list(records.feed(story))
    records.resync(down(2))
    assert [Press(4, 0)] == list(records.feed(record(EV_KEY, 2, 1) + record(EV_KEY, 4, 1) + SYN))


@pytest.mark.parametrize("seed", range(5))
def test_records_in_any_pieces(seed: int) -> None:
    """A read may end anywhere."""
    chance = random.Random(seed)
    data = b"".join(record(EV_KEY, chance.randrange(1, 60), chance.choice([0, 1, 2]), n) + SYN for n in range(200))
    whole = list(KeyRecords().feed(data))
    records, found, at = KeyRecords(), [], 0
    while at < len(data):
        size = chance.randrange(1, 60)
        found += list(records.feed(data[at : at + size]))
        at += size
    assert whole == found
    assert whole
