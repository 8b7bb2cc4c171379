"""The language of the pad reads back what it writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols import pad_words


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 10**9))
def test_previews_round_trip(seat: int, hand: int, cents: int) -> None:
    """A preview names seat, hand and amount, and fits a line of the pad as long as the amount is below a billion."""
    amount = f"{cents // 100}.{cents % 100:02}"
    assert (seat, hand, amount) == pad_words.read_preview(pad_words.preview_line(seat, hand, amount))
    assert (seat, hand, "") == pad_words.read_preview(pad_words.preview_line(seat, hand, ""))


@pytest.mark.parametrize("line", ["", "OK S3", "NO S3 H1", "S", "S3", "SEAT 3", "WAIT SUPERVISOR"])
def test_other_lines_are_no_previews(line: str) -> None:
    """Nothing else is mistaken for a claim that ENTER would make."""
    assert None is pad_words.read_preview(line)


def test_supervisor_lines() -> None:
    """What the supervisor is asked, and for which award."""
    assert ("CONFIRM", "A12") == pad_words.read_supervisor("CONFIRM A12 S3")
    assert ("PAY", "A7") == pad_words.read_supervisor("PAY A7")
    assert None is pad_words.read_supervisor("WAIT SUPERVISOR")
