"""Somebody with the files changes a ledger of three volumes: both verifiers name where, or it carried no fact."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from tampering import CHANGES, DAYS, KEY, attempt, first_word, write

from meterd import second_verifier
from meterd.app.verify import verify

SEED = 20261130


@pytest.mark.parametrize(
    ("entries", "changes"),
    [pytest.param(900, 90, id="short"), pytest.param(2_000, 150, id="longer", marks=pytest.mark.slow)],
)
def test_every_change_is_named_or_carried_no_fact(tmp_path: Path, entries: int, changes: int) -> None:
    """Rows, bytes, triggers, files and checkpoints, changed one at a time."""
    print(f"seed {SEED}")
    numbers = random.Random(SEED)
    original = tmp_path / "original"
    write(original, entries, numbers)
    notes = sorted(original.glob("checkpoint-*.txt"))
    sound = first_word(original, notes)
    assert sound.ok
    assert DAYS == len(list(original.glob("ledger-*.db"))) == len(notes)
    second = second_verifier.check([original], notes, [str(KEY.public)])
    assert (True, sound.head.hex()) == (second["ok"], second["head"])
    wrong, tally = [], Counter[tuple[str, str]]()
    for n in range(changes):
        change = CHANGES[n % len(CHANGES)]
        what, outcome, words = attempt(original, tmp_path / "changed", change, numbers, sound.head)
        tally[change.__name__, outcome] += 1
        if words:
            wrong.append(f"{what}: {words}")
    print(dict(tally))
    assert [] == wrong
    # Without its first volume a ledger still proves its head, by the book and the tree that the second one carries.
    assert {"a_bit", "a_cut_file", "a_volume_less"} >= {name for name, outcome in tally if outcome == "no fact"}


def test_the_first_row_of_a_later_volume_that_cannot_be_read(tmp_path: Path) -> None:
    """It has no number that could be read, so it is named by its place: the entry behind the volume before."""
    write(tmp_path / "ledger", 300, random.Random(SEED))
    path = sorted((tmp_path / "ledger").glob("ledger-*.db"), key=lambda file: int(file.stem[7:]))[1]
    content = path.read_bytes()
    at = content.index(b'"balances":{')
    path.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
    first, second = verify(tmp_path / "ledger"), second_verifier.check([tmp_path / "ledger"])
    assert (int(path.stem[7:]), True) == (second["first_bad"]["seq"], first.first_bad is not None)
    assert first.first_bad is not None
    assert second["first_bad"]["seq"] == first.first_bad.seq
