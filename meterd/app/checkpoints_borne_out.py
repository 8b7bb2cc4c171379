"""Whether the sealed volumes bear out a checkpoint that nobody has kept yet, before a key signs it.

A start reads the open volume alone and believes what that says of those before it; the next reading's checkpoint is
made of the same. A checkpoint of the last reading is the proof, signed by the key in force or by the one that was in
force at that reading. Where there is none, the volumes are gone through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from meterd.app.past_stood import ends
from meterd.app.volumes import opened
from meterd.edge import volume
from meterd.edge.chain_check import ChainCheck
from meterd.edge.store import SEAL
from meterd.errors import LedgerError
from meterd.ledger.chain import GENESIS
from meterd.ledger.merkle import Tree
from meterd.ledger.note import Checkpoint

_ADVICE = (
    "run `meterd ledger verify` over all volumes; if it is right, `meterd ledger checkpoint` signs it, and the next "
    "start goes on from there"
)


def not_borne_out(
    folder: Path, checkpoint: Checkpoint, kept: Sequence[Checkpoint], ours: Sequence[Checkpoint]
) -> str | None:
    """Why the volumes up to a reading do not make its checkpoint, or None.

    ``kept`` are all that lie somewhere, whoever signed them: none may say otherwise. ``ours`` are those among them that
    a key signed while it was in force: the walk begins behind the last of them that ends a volume, else with entry 1.
    """
    known = {one.size: one.root for one in kept if one.size <= checkpoint.size}
    try:
        tree = _walked(folder, checkpoint.size, known, {one.size for one in ours})
    except LedgerError as cause:
        return f"{cause}; {_ADVICE}"
    if tree.root() != checkpoint.root:
        return f"the entries before the open volume are not those that it says it follows; {_ADVICE}"
    return None


def _walked(folder: Path, size: int, known: Mapping[int, bytes], signed: set[int]) -> Tree:
    """The tree over all entries up to a reading.

    Raises:
        LedgerError: an entry does not hold, a volume is not at hand, or a kept checkpoint says otherwise.
    """
    sealed = [path for path in volume.readable_volumes(folder) if (volume.first_seq_of(path) or 0) <= size]
    begins = [n for n, path in enumerate(sealed) if (volume.first_seq_of(path) or 0) - 1 in {0, *signed}]
    if not begins:
        raise LedgerError("the volumes before the open one are not at hand")
    first, _ = ends(sealed[begins[-1]])
    tree, head = opened(first).tree, first.prev if first.seq > 1 else GENESIS
    for path in sealed[begins[-1] :]:
        _, last = ends(path)
        checked = ChainCheck(path, tree, head, frozenset(known), last.seq).result()
        for at, root in checked.roots.items():
            if root != known[at]:
                raise LedgerError(f"its first {at} entries are not those of checkpoint-{at}.txt")
        if last.kind != SEAL:
            raise LedgerError(f"{path} does not end with a reading")
        tree, head = checked.tree, last.hash
    if tree.size != size:
        raise LedgerError(f"the volumes before the open one end with entry {tree.size}")
    return tree
