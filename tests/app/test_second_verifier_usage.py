"""What the second verifier says to somebody who gives it the wrong thing, or a right one in the wrong place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from verify_ledger import write_ledger

from meterd import second_verifier
from meterd.app.checkpoints import keep
from meterd.app.past import checkpoint_now, prove
from meterd.edge.keys import SigningKey

KEY = SigningKey("riverside", bytes(range(32)))


def mistyped(place: int) -> str:
    """The key with one other character."""
    written = list(str(KEY.public))
    written[place] = "x" if written[place] != "x" else "y"
    return "".join(written)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger, a second one, a checkpoint and a proof."""
    base = tmp_path_factory.mktemp("usage")
    for name in ("ledger", "other"):
        write_ledger(base / name)
    made = checkpoint_now(base / "ledger")
    keep(made, KEY, [base]).rename(base / "cp.txt")
    proof = {**prove(base / "ledger", 3), "checkpoint": (base / "cp.txt").read_text()}
    (base / "proof.json").write_text(json.dumps(proof))
    (base / "pack.json").write_text('{"meterd_pack": 1}')
    (base / "empty").mkdir()
    (base / "notes.txt").write_text("notes\n")
    return base


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["ledger", "cp.txt"], "ledger is a folder: give one folder alone"),
        (["ledger/ledger-1.db", "cp.txt"], "cp.txt is a checkpoint: give it with --since"),
        (["cp.txt"], "cp.txt is a checkpoint: give it with --since"),
        (["proof.json"], "proof.json is a proof: give it with --proof"),
        (["pack.json"], "give a dispute pack with --pack"),
        (["ledger", "other"], "ledger is a folder: give one folder alone"),
        (["ledger/ledger-1.db", "other"], "other is a folder: give one folder alone"),
        (["empty"], "there is no ledger in"),
        (["gone"], "gone cannot be read"),
        ([], "give a ledger's folder"),
        (["--since", "ledger", "ledger"], "ledger is no regular file"),
        (["--since", "ledger/ledger-1.db", "ledger"], "ledger-1.db is no checkpoint: it is a volume"),
        (["--pack", "proof.json", "--key", str(KEY.public)], "proof.json is a proof: give it with --proof proof.json"),
        (
            ["--proof", "pack.json", "--key", str(KEY.public)],
            "is a dispute pack: give it with --pack pack.json",
        ),
        (["--key", mistyped(7), "ledger"], "a character was mistyped"),
        (["--key", mistyped(-9), "ledger"], "a character was mistyped"),
        (["--key", "riverside+7a4f162a+AQID", "ledger"], "is no Ed25519 key of the form name+id+base64"),
        (["--proof", "cp.txt", "--key", str(KEY.public)], "cp.txt is a checkpoint: give it with --since"),
    ],
)
def test_wrong_use_is_told_and_ends_with_2(
    folder: Path,
    given: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was given, and how it is given; never a word of SQLite's about a file that is no database."""
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        second_verifier.main(given)
    assert 2 == ended.value.code
    assert says in capsys.readouterr().err


def test_a_folder_that_may_not_be_read_is_not_said_to_hold_no_ledger(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's folder is for its user and group alone, and a glob is silent about that."""

    def refused(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.listdir", refused)
    with pytest.raises(SystemExit) as ended:
        second_verifier.main([str(folder / "empty")])
    assert 2 == ended.value.code
    assert "empty cannot be read: Permission denied" in capsys.readouterr().err


def test_what_was_never_signed_does_not_read_like_forgery(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A document made without a key: that is said, and which checkpoint it needs; one of another size says nothing."""
    key = ["--key", str(KEY.public)]
    proof = json.loads((folder / "proof.json").read_text())
    unsigned = tmp_path / "proof.json"
    unsigned.write_text(json.dumps({**proof, "checkpoint": None}))
    assert 1 == second_verifier.main(["--proof", str(unsigned), *key])
    told = capsys.readouterr().out
    assert "it carries no signed checkpoint" in told
    assert f"a checkpoint of just {proof['tree_size']} entries" in told
    assert 0 == second_verifier.main(["--proof", str(unsigned), "--since", str(folder / "cp.txt"), *key])
    capsys.readouterr()
    made = checkpoint_now(folder / "ledger")
    earlier = keep(made._replace(size=made.size - 1), KEY, [tmp_path])
    assert 1 == second_verifier.main(["--proof", str(unsigned), "--since", str(earlier), *key])
    told = capsys.readouterr().out
    assert f"is of {made.size - 1} entries and this document of {made.size}, so neither says anything" in told
    assert "another tree" not in told


def test_right_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same things in their places."""
    monkeypatch.chdir(folder)
    key = ["--key", str(KEY.public)]
    assert 0 == second_verifier.main(["--since", "cp.txt", *key, "ledger"])
    assert 0 == second_verifier.main(["--since", "cp.txt", *key, "ledger/ledger-1.db"])
    assert 0 == second_verifier.main(["--proof", "proof.json", *key])
    assert 1 == second_verifier.main(["--pack", "pack.json", *key])
    assert 1 == second_verifier.main(["--since", "notes.txt", "ledger"])
