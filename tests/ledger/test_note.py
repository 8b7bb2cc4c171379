"""Checkpoints are signed notes: the form others write and read, one changed character and it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.edge.keys import SigningKey, new_key_file, read_key, signature_holds
from meterd.errors import ConfigError
from meterd.ledger.merkle import Tree
from meterd.ledger.note import (
    Checkpoint,
    NoteError,
    PublicKey,
    from_base64,
    origin_of,
    parse_checkpoint,
    parse_key,
    parse_note,
    signed_by,
)

# The example key and note of Go's golang.org/x/mod/sumdb/note, whose form the signed-note specification took over.
KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
NOTE = (
    TEXT + "\n\u2014 PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
CHECKPOINT = Checkpoint("meterd/riverside/0011223344556677", 12345, bytes(range(32)))


def key_file(folder: Path, text: str = PRIVATE, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(text + "\n")
    path.chmod(mode)
    return path


def test_a_published_note_is_what_we_sign_and_take(tmp_path: Path) -> None:
    """The same key and text give the published note, byte for byte, and it verifies."""
    key = read_key(key_file(tmp_path))
    assert KEY == str(key.public)
    assert parse_key(KEY) == key.public
    assert NOTE == key.sign_note(TEXT)
    assert (key.public,) == signed_by(parse_note(NOTE), [key.public], signature_holds)


def test_a_checkpoint_goes_out_and_comes_back() -> None:
    """Origin, size and root stand in three lines, and more lines may follow them."""
    stored = SigningKey("meterd", bytes(32)).sign_note(CHECKPOINT.text)
    assert CHECKPOINT == parse_checkpoint(parse_note(stored).text)
    assert CHECKPOINT == parse_checkpoint(CHECKPOINT.text + "anything\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n1\n",
        "a\n01\n" + CHECKPOINT.text.split("\n")[2] + "\n",
        "a\n-1\nAA==\n",
        "a\n1\nAA==\n",
        "a\n1\n!\n",
        "a\n1\n\n",
    ],
)
def test_what_is_no_checkpoint_is_named(text: str) -> None:
    """Missing lines, a size that is no plain number, a root that is none."""
    with pytest.raises(NoteError):
        parse_checkpoint(text)


def test_one_changed_character_is_noticed_wherever_it_stands() -> None:
    """Each character of a signed checkpoint in turn: the note is refused, or no signature of the key is left."""
    key = SigningKey("meterd", bytes(32))
    stored = key.sign_note(CHECKPOINT.text)
    for place, character in enumerate(stored):
        changed = stored[:place] + ("B" if character != "B" else "C") + stored[place + 1 :]
        try:
            signers = signed_by(parse_note(changed), [key.public], signature_holds)
        except NoteError:
            continue
        assert () == signers, place


def test_a_stranger_s_signature_says_nothing() -> None:
    """A key is known by name and identity; a note signed by another key has no signer among ours."""
    stored = SigningKey("meterd", bytes(32)).sign_note(TEXT)
    other = SigningKey("meterd", bytes([1] * 32)).public
    assert () == signed_by(parse_note(stored), [other], signature_holds)
    forged = PublicKey("meterd", SigningKey("meterd", bytes(32)).public.key)
    assert (forged,) == signed_by(parse_note(stored), [other, forged], signature_holds)


@pytest.mark.parametrize("text", ["", "a\n", "a\n\n", "a\n\nb\n", "a\n\n\u2014 k AAAA\n", "a\t\n\n\u2014 k AAAAAAA=\n"])
def test_what_is_no_note_is_refused(text: str) -> None:
    """No blank line, no signature, a signature that is cut short, control characters."""
    with pytest.raises(NoteError):
        parse_note(text)


def test_a_mistyped_key_is_named() -> None:
    """The identity of a key guards against a slip of the pen."""
    with pytest.raises(NoteError, match="mistyped"):
        parse_key(KEY.replace("c74f20a3", "c74f20a4"))
    with pytest.raises(NoteError):
        from_base64("AB==")


def test_a_key_is_made_when_asked_for_and_never_over_another(tmp_path: Path) -> None:
    """A new file, for its owner alone; nothing is overwritten."""
    path = tmp_path / "ledger-key"
    public = new_key_file(path, "riverside-2026")
    assert 0o600 == path.stat().st_mode & 0o777
    assert public == read_key(path).public
    with pytest.raises(ConfigError, match="exists"):
        new_key_file(path, "riverside-2026")
    with pytest.raises(ConfigError, match="blank"):
        new_key_file(tmp_path / "other", "two words")
    assert str(public) in repr(read_key(path))
    assert path.read_text().split("+")[-1].strip() not in repr(read_key(path))


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """So are a file that is none and one that is not there."""
    with pytest.raises(ConfigError, match="chmod 600"):
        read_key(key_file(tmp_path, mode=0o644))
    with pytest.raises(ConfigError, match="no key"):
        read_key(key_file(tmp_path, KEY))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_key(tmp_path / "nothing")


def test_an_origin_names_one_ledger() -> None:
    """The site, as far as it can stand in one word, and the first entry."""
    assert "meterd/river-side/0101010101010101" == origin_of("river side", bytes([1] * 32))


def test_the_checkpoint_of_the_page_holds() -> None:
    """The example is of the entry that the page hashes, and its signature is that of the key it names."""
    page = (Path(__file__).parents[2] / "schema" / "README.md").read_text(encoding="utf-8")
    stored = page[page.index("meterd/riverside/") :].partition("```")[0]
    key = parse_key(page[page.index("riverside-1+") :].partition("`")[0])
    note = parse_note(stored)
    assert (key,) == signed_by(note, [key], signature_holds)
    head = bytes.fromhex(page[page.index("The hash is `") + 13 :][:64])
    tree = Tree()
    tree.append(head)
    assert Checkpoint(origin_of("riverside", head), 1, tree.root()) == parse_checkpoint(note.text)
