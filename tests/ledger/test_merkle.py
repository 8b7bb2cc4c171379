"""The Merkle tree is that of RFC 6962: its published vectors, and an independent library on trees of many sizes."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pymerkle import InmemoryTree, verify_consistency, verify_inclusion

from meterd.ledger.merkle import EMPTY_ROOT, Leaves, Tree, consistent, included, leaf_hash

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("rfc6962_vectors.json").read_text())
LEAVES = [bytes.fromhex(leaf) for leaf in VECTORS["leaves"]]
ROOTS = [bytes.fromhex(root) for root in VECTORS["roots"]]


def data(count: int) -> list[bytes]:
    return [sha256(b"%d" % n).digest() for n in range(count)]


def tree_of(leaves: list[bytes]) -> Tree:
    tree = Tree()
    for leaf in leaves:
        tree.append(leaf)
    return tree


def test_the_published_roots_grow_leaf_by_leaf() -> None:
    """A tree that keeps its frontier alone has the published root at each size; so has one that keeps its leaves."""
    tree = Tree()
    assert bytes.fromhex(VECTORS["empty"]) == tree.root() == EMPTY_ROOT
    for size, (leaf, root) in enumerate(zip(LEAVES, ROOTS, strict=True), 1):
        tree.append(leaf)
        assert root == tree.root()
        assert root == Leaves(Tree(), LEAVES).root(size)


@pytest.mark.parametrize("case", VECTORS["inclusion"])
def test_the_published_inclusion_proofs(case: dict[str, Any]) -> None:
    """The published path is the one made, and it verifies."""
    path = [bytes.fromhex(node) for node in case["path"]]
    assert path == Leaves(Tree(), LEAVES).inclusion(case["leaf"], case["size"])
    assert included(LEAVES[case["leaf"]], case["leaf"], case["size"], path, ROOTS[case["size"] - 1])


@pytest.mark.parametrize("case", VECTORS["consistency"])
def test_the_published_consistency_proofs(case: dict[str, Any]) -> None:
    """The published proof is the one made, and it verifies."""
    proof = [bytes.fromhex(node) for node in case["proof"]]
    assert proof == Leaves(Tree(), LEAVES).consistency(case["first"], case["second"])
    assert consistent(case["first"], case["second"], proof, ROOTS[case["first"] - 1], ROOTS[case["second"] - 1])


def test_another_library_has_the_same_roots_and_the_same_proofs() -> None:
    """A stranger (pymerkle) has our root at every size, our inclusion paths; each side takes the other's proofs."""
    leaves = data(70)
    ours, theirs = Leaves(Tree(), leaves), InmemoryTree(algorithm="sha256")
    for leaf in leaves:
        theirs.append_entry(leaf)
    for size in range(1, 71):
        assert theirs.get_root(size) == ours.root(size)
    for leaf, size in ((0, 1), (0, 70), (69, 70), (3, 7), (31, 32), (32, 33), (40, 70)):
        path = theirs.prove_inclusion(leaf + 1, size)
        verify_inclusion(leaf_hash(leaves[leaf]), ours.root(size), path)
        mine = {node.hex() for node in ours.inclusion(leaf, size)}
        assert {*path.serialize()["path"]} == mine | {leaf_hash(leaves[leaf]).hex()}
    for first, second in ((1, 70), (2, 3), (3, 7), (6, 64), (31, 33), (64, 65), (33, 70), (69, 70)):
        proven = theirs.prove_consistency(first, second)
        verify_consistency(ours.root(first), ours.root(second), proven)
        proof = ours.consistency(first, second)
        assert consistent(first, second, proof, theirs.get_root(first), theirs.get_root(second))


def test_every_proof_of_every_small_tree_verifies_and_none_for_another_claim() -> None:
    """All leaves and sizes up to 17: own proofs hold; another leaf, place, size, root or a cut path does not."""
    leaves = data(17)
    whole = Leaves(Tree(), leaves)
    for size in range(1, 18):
        root = whole.root(size)
        for leaf in range(size):
            path = whole.inclusion(leaf, size)
            assert included(leaves[leaf], leaf, size, path, root)
            assert not included(b"x", leaf, size, path, root)
            assert not included(leaves[leaf], leaf, size, [*path, root], root)
            assert not included(leaves[leaf], leaf, size, path, whole.root(17) if size < 17 else whole.root(1))
            if path:
                assert not included(leaves[leaf], leaf, size, path[:-1], root)
            other = (leaf + 1) % size
            assert size == 1 or not included(leaves[leaf], other, size, path, root)
        for first in range(1, size + 1):
            proof = whole.consistency(first, size)
            assert consistent(first, size, proof, whole.root(first), root)
            assert first == size or not consistent(first, size, proof, whole.root(size), root)
            assert first == size or not consistent(first, size, proof, whole.root(first), whole.root(first))
            assert not consistent(first, size, [*proof, root], whole.root(first), root)


def test_a_volume_proves_what_ends_in_it_without_the_leaves_before() -> None:
    """With the frontier of what went before and its own leaves, a volume gives the same proofs as the whole tree."""
    leaves = data(45)
    whole = Leaves(Tree(), leaves)
    for start in range(45):
        volume = Leaves(tree_of(leaves[:start]), leaves[start:])
        for size in range(start + 1, 46):
            assert whole.root(size) == volume.root(size)
            for leaf in range(start, size):
                assert whole.inclusion(leaf, size) == volume.inclusion(leaf, size)
        if start:
            assert whole.consistency(start, 45) == volume.consistency(start, 45)
            with pytest.raises(ValueError, match="does not lie here"):
                volume.inclusion(start - 1, 45)


def test_a_tree_goes_on_from_its_frontier() -> None:
    """Size and frontier are all there is to carry; a frontier of another size is refused."""
    leaves = data(100)
    random = Random("frontier")
    for cut in random.sample(range(100), 20):
        first = tree_of(leaves[:cut])
        again = Tree(first.size, first.frontier)
        for leaf in leaves[cut:]:
            again.append(leaf)
        assert tree_of(leaves).root() == again.root()
    with pytest.raises(ValueError, match="whole subtrees"):
        Tree(3, [EMPTY_ROOT])
