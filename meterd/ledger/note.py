"""Checkpoints: what a ledger was at one moment, as a signed text of a few lines that fits on paper.

A checkpoint is origin, size and root, each on its line; a signed note is a text, a blank line, and one line for each
signature: an em dash, the key's name, and base64 of the key's identity (4 bytes) with the signature.
Rule 1: the signing itself is handed in; no key is read and no curve is reckoned here.
Sources: C2SP signed-note and tlog-checkpoint. Pure.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final, NamedTuple

#: The kind of a key and of its signatures: Ed25519 over the text.
ED25519: Final = b"\x01"
KEY_BYTES: Final = 32

_DASH: Final = "\u2014"
_ID_BYTES: Final = 4
_SIGNATURE: Final = re.compile(rf"{_DASH} (\S+) ([A-Za-z0-9+/]+={{0,2}})")
_NAME: Final = re.compile(r"[^\s+]+")
_SIZE: Final = re.compile(r"0|[1-9]\d{0,18}")


class NoteError(ValueError):
    """A text that is no signed note, no checkpoint or no key, with why."""


class PublicKey(NamedTuple):
    """A key's name and its 32 bytes."""

    name: str
    key: bytes

    @property
    def id(self) -> bytes:
        """The four bytes by which a signature names its key."""
        return key_id(self.name, self.key)

    def __str__(self) -> str:
        """The form in which a key is written down: ``name+id+key``."""
        return f"{self.name}+{self.id.hex()}+{base64(ED25519 + self.key)}"


class Signature(NamedTuple):
    """One signature of a note: the name it gives, the identity of its key, its bytes."""

    name: str
    key_id: bytes
    signature: bytes


class Note(NamedTuple):
    """A text (its last line ends with a newline) and its signatures."""

    text: str
    signatures: tuple[Signature, ...]


class Checkpoint(NamedTuple):
    """``size`` entries of the ledger ``origin`` have this Merkle root."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{base64(self.root)}\n"


def base64(data: bytes) -> str:
    """Standard base64 with padding."""
    return b2a_base64(data, newline=False).decode("ascii")


def from_base64(text: str) -> bytes:
    """The inverse of :func:`base64`; takes no other spelling of the same bytes.

    Raises:
        NoteError: it is no such text.
    """
    try:
        data = a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError) as cause:
        raise NoteError(f"{text!r} is no base64: {cause}") from cause
    if base64(data) != text:
        raise NoteError(f"{text!r} is not the usual spelling of its bytes")
    return data


def key_id(name: str, key: bytes) -> bytes:
    """The first four bytes of the hash of a key and its name."""
    return sha256(name.encode() + b"\n" + ED25519 + key).digest()[:_ID_BYTES]


def parse_key(text: str) -> PublicKey:
    """A key from its written form ``name+id+key``.

    Raises:
        NoteError: it is none, or its identity is another key's.
    """
    name, _, rest = text.strip().partition("+")
    identity, _, data = rest.partition("+")
    raw = from_base64(data)
    if not _NAME.fullmatch(name) or len(raw) != 1 + KEY_BYTES or raw[:1] != ED25519:
        raise NoteError(f"{text!r} is no Ed25519 key of the form name+id+key")
    found = PublicKey(name, raw[1:])
    if identity != found.id.hex():
        raise NoteError(f"the key {name} has the identity {found.id.hex()}, not {identity}: a character was mistyped")
    return found


def usable_name(name: str) -> bool:
    """Whether a key may have this name: no blank and no plus sign."""
    return _NAME.fullmatch(name) is not None


def sign(text: str, name: str, identity: bytes, signer: Callable[[bytes], bytes]) -> str:
    """A text with one signature, as it is stored."""
    if not text.endswith("\n") or not usable_name(name):
        raise NoteError("a note's text ends with a newline, and its key's name has no blank")
    line = f"{_DASH} {name} {base64(identity + signer(text.encode()))}\n"
    return f"{text}\n{line}"


def parse_note(stored: str) -> Note:
    """A stored note as its text and its signatures; whose they are is for :func:`signed_by` to say.

    Raises:
        NoteError: it is no signed note.
    """
    text, blank, lines = stored.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise NoteError("a signed note is a text, a blank line and its signatures, each line ended")
    if any(ord(character) < 0x20 and character != "\n" for character in stored):
        raise NoteError("a signed note has no control characters")
    signatures = []
    for line in lines[:-1].split("\n"):
        match = _SIGNATURE.fullmatch(line)
        if match is None:
            raise NoteError(f"{line!r} is no signature line")
        data = from_base64(match[2])
        if len(data) <= _ID_BYTES:
            raise NoteError(f"the signature of {match[1]} is cut short")
        signatures.append(Signature(match[1], data[:_ID_BYTES], data[_ID_BYTES:]))
    return Note(f"{text}\n", tuple(signatures))


def signed_by(
    note: Note, keys: Iterable[PublicKey], check: Callable[[bytes, bytes, bytes], bool]
) -> tuple[PublicKey, ...]:
    """The keys among ``keys`` that have signed a note.

    ``check`` is told a key, a signature and the bytes that were signed. A signature of an unknown key says nothing.

    Raises:
        NoteError: a signature names one of the keys and is not its own.
    """
    found = []
    for key in keys:
        for signature in note.signatures:
            if (signature.name, signature.key_id) == (key.name, key.id):
                if not check(key.key, signature.signature, note.text.encode()):
                    raise NoteError(f"the signature of {key.name} does not hold: the text was changed, or never signed")
                found.append(key)
                break
    return tuple(found)


def parse_checkpoint(text: str) -> Checkpoint:
    """The checkpoint in a note's text. Lines behind the first three are allowed and say nothing to us.

    Raises:
        NoteError: it is none.
    """
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
        raise NoteError("a checkpoint has a line each for origin, size and root")
    origin, size, root = lines[:3]
    if _SIZE.fullmatch(size) is None:
        raise NoteError(f"{size!r} is no number of entries")
    digest = from_base64(root)
    if len(digest) != sha256().digest_size:
        raise NoteError(f"a root has {sha256().digest_size} bytes, this one {len(digest)}")
    return Checkpoint(origin, int(size), digest)


def origin_of(site: str, first_hash: bytes) -> str:
    """The name of a ledger in its checkpoints: of its site, and of its first entry, so that no two share one."""
    return f"meterd/{re.sub(r'[^A-Za-z0-9._-]+', '-', site)}/{first_hash[:8].hex()}"
