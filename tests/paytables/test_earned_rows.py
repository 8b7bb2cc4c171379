"""Hands worked out by hand, table by table: the best row, a middle one, a loser, and the boundaries between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.edge.files import paytable
from meterd.paytables.outcome import outcome

FOLDER = Path(__file__).parent / "earned"

NO_PAY = "no pay"


def hands() -> list[tuple[str, str, str]]:
    """Table, what was dealt, and the row expected, from every file of the folder."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
            ids, *lines = part.strip().splitlines()
            for line in lines:
                dealt, _, expected = line.partition(" -> ")
                found += [(table_id, dealt.strip(), expected.strip()) for table_id in ids.split()]
    return found


@pytest.mark.parametrize(("table_id", "dealt", "expected"), hands())
def test_the_hand_earns_the_row_worked_out_by_hand(table_id: str, dealt: str, expected: str) -> None:
    """Own cards, then ``board …`` and ``dealer …`` where the game has them; ``no pay`` is a losing hand."""
    own, *others = dealt.split(" | ")
    given = dict(other.split(" ", 1) for other in others)
    result = outcome(paytable(table_id), cards=own, community=given.get("board", ""), dealer=given.get("dealer", ""))
    assert expected == (NO_PAY if result.row is None else result.row.hand)
