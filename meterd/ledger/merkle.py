"""The Merkle tree over a ledger's entries, as RFC 6962 builds it: roots, inclusion proofs and consistency proofs.

Rule 1: entry ``seq`` is leaf ``seq - 1``; what is hashed as a leaf is the entry's own hash.
Rule 2: one tree grows over all volumes. A volume's first entry carries the frontier of all before it, so whoever has
        one volume can make every proof that ends in it.
Sources: RFC 6962 section 2.1 (hashes, proofs), RFC 9162 sections 2.1.3.2 and 2.1.4.2 (verification). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

#: Root of a tree without leaves.
EMPTY_ROOT: Final = sha256(b"").digest()

_LEAF: Final = b"\x00"
_NODE: Final = b"\x01"


def leaf_hash(data: bytes) -> bytes:
    """Hash of a leaf that holds ``data``; for a ledger, the hash of an entry."""
    return sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of the node above two others."""
    return sha256(_NODE + left + right).digest()


class Tree:
    """A growing tree of which only the frontier is kept: the largest whole subtrees, from the left."""

    __slots__ = ("frontier", "size")

    def __init__(self, size: int = 0, frontier: Iterable[bytes] = ()) -> None:
        """Begin empty, or with what :attr:`size` and :attr:`frontier` of another tree were.

        Raises:
            ValueError: a tree of this size has another number of whole subtrees.
        """
        self.size = size
        self.frontier = list(frontier)
        if size < 0 or size.bit_count() != len(self.frontier):
            raise ValueError(f"a tree of {size} leaves has no {len(self.frontier)} whole subtrees")

    def append(self, data: bytes) -> None:
        """Add a leaf that holds ``data``."""
        node = sha256(_LEAF + data).digest()
        frontier = self.frontier
        size = self.size
        while size & 1:
            node = sha256(_NODE + frontier.pop() + node).digest()
            size >>= 1
        frontier.append(node)
        self.size += 1

    def root(self) -> bytes:
        """The root over all leaves."""
        if not self.frontier:
            return EMPTY_ROOT
        root = self.frontier[-1]
        for left in reversed(self.frontier[:-1]):
            root = node_hash(left, root)
        return root


class Leaves:
    """The leaves of a tree from ``start`` on, behind the frontier of those before: enough to prove anything in them."""

    def __init__(self, before: Tree, data: Sequence[bytes]) -> None:
        """``before`` is the tree of all leaves ahead of ``data``; give an empty one where ``data`` is all."""
        self._start = before.size
        self._nodes: dict[tuple[int, int], bytes] = {}
        at = 0
        for node in before.frontier:
            width = 1 << ((before.size - at).bit_length() - 1)
            self._nodes[at, at + width] = node
            at += width
        self._hashes = [leaf_hash(one) for one in data]

    @property
    def end(self) -> int:
        """The size of the tree with all of them."""
        return self._start + len(self._hashes)

    def root(self, size: int) -> bytes:
        """The root of the tree of the first ``size`` leaves.

        Raises:
            ValueError: that tree ends before these leaves or behind them.
        """
        self._require(self._start <= size <= self.end, f"the tree of {size} leaves does not end here")
        return self._root(0, size) if size else EMPTY_ROOT

    def inclusion(self, leaf: int, size: int) -> list[bytes]:
        """The path from a leaf (counted from 0) to the root of the tree of the first ``size`` leaves.

        Raises:
            ValueError: leaf or size lie elsewhere.
        """
        self._require(self._start <= leaf < size <= self.end, f"leaf {leaf} of {size} does not lie here")
        path: list[bytes] = []
        low, high = 0, size
        while high - low > 1:
            middle = low + _split(high - low)
            if leaf < middle:
                path.append(self._root(middle, high))
                high = middle
            else:
                path.append(self._root(low, middle))
                low = middle
        return path[::-1]

    def consistency(self, first: int, second: int) -> list[bytes]:
        """The proof that the tree of ``second`` leaves begins with that of ``first``.

        Raises:
            ValueError: a size lies elsewhere, or ``first`` is 0 or above ``second``.
        """
        self._require(
            0 < first <= second <= self.end and first >= self._start, f"no proof from {first} to {second} here"
        )
        proof: list[bytes] = []
        low, high = 0, second
        whole = True  # the subtree in hand is one whose root the verifier has: that of the first tree
        while first != high:
            middle = low + _split(high - low)
            if first <= middle:
                proof.append(self._root(middle, high))
                high = middle
            else:
                proof.append(self._root(low, middle))
                low = middle
                whole = False
        if not whole:
            proof.append(self._root(low, high))
        return proof[::-1]

    def _root(self, low: int, high: int) -> bytes:
        if high - low == 1 and low >= self._start:
            return self._hashes[low - self._start]
        known = self._nodes.get((low, high))
        if known is not None:
            return known
        self._require(high > self._start and high - low > 1, f"leaves {low} to {high} lie in an earlier volume")
        middle = low + _split(high - low)
        return node_hash(self._root(low, middle), self._root(middle, high))

    @staticmethod
    def _require(held: bool, why: str) -> None:
        if not held:
            raise ValueError(why)


def included(data: bytes, leaf: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether ``path`` proves that ``data`` is leaf number ``leaf`` of the tree of ``size`` leaves with this root."""
    if not 0 <= leaf < size:
        return False
    node, at, last = leaf_hash(data), leaf, size - 1
    for other in path:
        if last == 0:
            return False
        if at & 1 or at == last:
            node = node_hash(other, node)
            while at and not at & 1:
                at >>= 1
                last >>= 1
        else:
            node = node_hash(node, other)
        at >>= 1
        last >>= 1
    return last == 0 and node == root


def consistent(first: int, second: int, proof: Sequence[bytes], first_root: bytes, second_root: bytes) -> bool:
    """Whether ``proof`` shows that the tree of ``second`` leaves begins with that of ``first``, by their roots."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not proof and first_root == second_root
    nodes = list(proof)
    if first & (first - 1) == 0:
        nodes.insert(0, first_root)
    if not nodes:
        return False
    at, last = first - 1, second - 1
    while at & 1:
        at >>= 1
        last >>= 1
    old = new = nodes[0]
    for other in nodes[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while at and not at & 1:
                at >>= 1
                last >>= 1
        else:
            new = node_hash(new, other)
        at >>= 1
        last >>= 1
    return last == 0 and old == first_root and new == second_root


def _split(count: int) -> int:
    """The largest power of two below ``count``."""
    return 1 << ((count - 1).bit_length() - 1)
