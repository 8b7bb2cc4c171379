"""People play through bad cables; what they see and what the ledger says agree to the last chip."""

from __future__ import annotations

from pathlib import Path

import pytest
from noise_shift import noisy_floor, shift

ROUNDS = [
    (0.0, 40),
    pytest.param(1e-3, 40, marks=pytest.mark.slow),  # the other rates, and thousands of rounds: bench/noise.py
]


@pytest.mark.parametrize(("rate", "wanted"), ROUNDS)
def test_every_steady_lamp_is_one_wager_and_every_wager_one_lamp(tmp_path: Path, rate: float, wanted: int) -> None:
    """Flipped, lost and doubled bytes, each at this rate: no wager without a chip, no LOCK twice, no lamp that lies.

    How many rounds come about is no claim: a table behind a cable that loses every second frame stays closed.
    """
    with noisy_floor(tmp_path / "floor", 3, rate) as floor:
        found = shift(floor, wanted, 45.0)
    print(found)
    assert [] == found["findings"]
    assert found["frames_ok"] > 0
    assert (rate > 0) == (sum(found["frames_bad"].values()) > 0)
    assert rate or found["rounds"] >= wanted - 3


@pytest.mark.slow
def test_behind_a_cable_that_spares_no_long_reply_rounds_come_about_and_nothing_is_counted_wrong(
    tmp_path: Path,
) -> None:
    """3 in 100 bytes hit: a pad's counters arrive whole one time in nine, and in pieces often enough for a round.

    Tables close again and again, as they must; played until three rounds were, or for two minutes. One in all is the
    claim, and that every wager of them, also of those broken off, was a chip.
    """
    with noisy_floor(tmp_path / "floor", 4, 1e-2, levels_ms=100) as floor:
        found = shift(floor, 3, 120.0)
    print(found)
    assert [] == found["findings"]
    assert 0 == found["wagers_without_chip"]
    assert 0 == found["locks_unpressed"]
    assert found["rounds"] >= 1
