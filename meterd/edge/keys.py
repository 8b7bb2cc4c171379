"""The ledger's signing key: Ed25519, read from a credential file, never made without being asked for.

A key file holds one line, ``PRIVATE+KEY+<name>+<id>+<base64 of 0x01 and the seed>``, the form in which tools for signed
notes write such keys. It is readable by its owner alone.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from meterd.errors import ConfigError
from meterd.ledger.note import ED25519, KEY_BYTES, NoteError, PublicKey, base64, from_base64, sign, usable_name

#: The name of the credential that a service manager hands over.
CREDENTIAL: Final = "ledger-key"

_PREFIX: Final = "PRIVATE+KEY"


class SigningKey:
    """A private key with its name. Its text form never shows it."""

    def __init__(self, name: str, seed: bytes) -> None:
        """From its 32 bytes."""
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = PublicKey(name, public)

    def sign_note(self, text: str) -> str:
        """A text with this key's signature."""
        return sign(text, self.public.name, self.public.id, self._key.sign)

    def __repr__(self) -> str:
        """Only what everybody may know."""
        return f"SigningKey({self.public})"


def signature_holds(key: bytes, signature: bytes, data: bytes) -> bool:
    """Whether a signature over some bytes is that of a public key."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def default_key_file() -> Path | None:
    """The credential of the service manager, if it handed one over."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    path = Path(folder) / CREDENTIAL if folder else None
    return path if path is not None and path.exists() else None


def new_key_file(path: Path, name: str) -> PublicKey:
    """Make a key and write it to a new file that its owner alone may read.

    Raises:
        ConfigError: something is there already, the file cannot be written, or the name cannot be a key's.
    """
    if not usable_name(name):
        raise ConfigError(f"{name!r} cannot be the name of a key: no blanks and no plus sign")
    private = Ed25519PrivateKey.generate()
    seed = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    key = SigningKey(name, seed)
    line = f"{_PREFIX}+{name}+{key.public.id.hex()}+{base64(ED25519 + seed)}\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as cause:
        raise ConfigError(f"no key was written to {path}: {cause.strerror}") from cause
    return key.public


def read_key(path: Path) -> SigningKey:
    """The key in a file.

    Raises:
        ConfigError: it cannot be read, is no key, or others may read it.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # a pipe would be waited for
            raise ConfigError(f"{path} is no regular file: the ledger's key is kept in one")
        others = mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IRGRP
        text = path.read_text(encoding="ascii")
    except (OSError, ValueError) as cause:
        raise ConfigError(f"the ledger's key cannot be read from {path}: {cause}") from cause
    if others:
        raise ConfigError(f"{path} may be read or changed by others than its owner: `chmod 600 {path}`")
    try:
        return _parse(text.strip())
    except NoteError as cause:
        raise ConfigError(f"{path} is no key for a ledger: {cause}") from cause


def _parse(text: str) -> SigningKey:
    prefix = f"{_PREFIX}+"
    name, _, rest = text.removeprefix(prefix).partition("+")
    identity, _, data = rest.partition("+")
    if not text.startswith(prefix) or not usable_name(name):
        raise NoteError(f"it does not begin with {prefix}<name>+")
    raw = from_base64(data)
    if len(raw) != 1 + KEY_BYTES or raw[:1] != ED25519:
        raise NoteError("it is of another kind than Ed25519")
    key = SigningKey(name, raw[1:])
    if identity != key.public.id.hex():
        raise NoteError("its identity does not belong to it: a character was mistyped")
    return key
