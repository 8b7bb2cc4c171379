"""The hashes of one volume, checked in a process of their own while the starting daemon folds the same entries.

Hashing and folding take about as long as each other and know nothing of each other, so two cores halve the wait.
As a child: ``python -m meterd.edge.chain_check``; its question comes on standard input, its answer goes out as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.edge.store import read_records
from meterd.errors import LedgerError
from meterd.ledger.merkle import Tree
from meterd.ledger.record import Record
from meterd.ledger.verify import check_record

#: Entries from which on a second process is worth its own start.
MANY: Final = 40_000


class Checked(NamedTuple):
    """A volume whose hashes hold: the tree behind it, and the roots that were asked for, by size."""

    tree: Tree
    roots: Mapping[int, bytes]


def check(
    records: Iterable[Record], before: Tree, prev: bytes, asked: frozenset[int] = frozenset(), last_seq: int = 0
) -> Checked:
    """Hash entries that follow the tree ``before`` and the hash ``prev``, up to ``last_seq`` or, with 0, to the end.

    Raises:
        LedgerError: an entry does not hold, or one is missing at the end.
    """
    tree, head = Tree(before.size, before.frontier), prev
    roots = {tree.size: tree.root()} if tree.size in asked else {}
    for record in records:
        reason = check_record(record, tree.size + 1, head)
        if reason is not None:
            raise LedgerError(f"entry {tree.size + 1} does not hold: {reason}")
        tree.append(record.hash)
        head = record.hash
        if tree.size in asked:
            roots[tree.size] = tree.root()
        if tree.size == last_seq:
            return Checked(tree, roots)
    if last_seq:
        raise LedgerError(f"entry {tree.size + 1} does not hold: it is missing")
    return Checked(tree, roots)


class ChainCheck:
    """A check that runs beside us."""

    def __init__(self, path: Path, before: Tree, prev: bytes, asked: frozenset[int], last_seq: int) -> None:
        """Begin to check the volume at ``path``; the arguments are those of :func:`check`."""
        question = {
            "path": str(path),
            "size": before.size,
            "frontier": [node.hex() for node in before.frontier],
            "prev": prev.hex(),
            "asked": sorted(asked),
            "last_seq": last_seq,
        }
        command = [sys.executable, "-m", "meterd.edge.chain_check"]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ourselves
        if self._child.stdin is not None:
            self._child.stdin.write(json.dumps(question))
            self._child.stdin.close()
            self._child.stdin = None

    def give_up(self) -> None:
        """Nobody waits for the answer any more."""
        if self._child.poll() is None:
            self._child.kill()
            self._child.communicate()

    def result(self) -> Checked:
        """Wait for the end.

        Raises:
            LedgerError: an entry does not hold, or the check itself did not end.
        """
        out, _ = self._child.communicate()
        try:
            answer = json.loads(out)
        except ValueError as cause:
            raise LedgerError(f"the hashes could not be checked: exit code {self._child.returncode}") from cause
        if answer["error"] is not None:
            raise LedgerError(answer["error"])
        tree = Tree(answer["size"], [bytes.fromhex(node) for node in answer["frontier"]])
        return Checked(tree, {size: bytes.fromhex(root) for size, root in answer["roots"]})


def _answer(question: Mapping[str, Any]) -> dict[str, Any]:
    before = Tree(question["size"], [bytes.fromhex(node) for node in question["frontier"]])
    try:
        checked = check(
            read_records(Path(question["path"])),
            before,
            bytes.fromhex(question["prev"]),
            frozenset(question["asked"]),
            question["last_seq"],
        )
    except LedgerError as cause:
        return {"error": str(cause)}
    return {
        "error": None,
        "size": checked.tree.size,
        "frontier": [node.hex() for node in checked.tree.frontier],
        "roots": [[size, root.hex()] for size, root in checked.roots.items()],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_answer(json.load(sys.stdin))))
