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
