"""The keys of the OSDP pads: a file of its own, for the site file is read by many and this by nobody else.

One line a pad: its device, a blank, 32 hex digits: ``keys-1/5 00112233445566778899AABBCCDDEEFF``. ``#`` begins a
comment. No message repeats what stands in the place of a key.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from meterd.config import Site
from meterd.errors import ConfigError
from protocols.osdp_keys import DEFAULT_KEY, KEY_BYTES

NAME: Final = "osdp-keys"
MAKE_ONE: Final = "meterd keypad key"


def pads_of(site: Site) -> tuple[str, ...]:
    """The devices that need a key."""
    return tuple(pad.device for bus in site.buses if bus.kind == "osdp" for pad in site.pads_of(bus.id))


def keys_file(site_file: Path) -> Path:
    """Where the keys stand: among the service manager's credentials, else beside the site file."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    handed = Path(folder) / NAME if folder else None
    return handed if handed is not None and handed.exists() else site_file.parent / NAME


def read_keys(path: Path, pads: Iterable[str], *, demo: bool = False) -> Mapping[str, bytes]:
    """The keys of ``pads``.

    Raises:
        ConfigError: the file is missing, may be read by others, cannot be understood, lacks a pad, or holds the key
            that every pad has from the factory (which a demo may use).
    """
    needed = list(pads)
    if not needed:
        return {}
    text = _text(path, needed)
    keys = parse_keys(text, str(path))
    missing = [pad for pad in needed if pad not in keys]
    if missing:
        raise ConfigError(
            f"{path}: no key for {', '.join(missing)}: make one with `{MAKE_ONE} {missing[0]} --file {path}`"
        )
    known = [pad for pad in needed if keys[pad] == DEFAULT_KEY]
    if known and not demo:
        raise ConfigError(f"{path}: {', '.join(known)} has the key that every pad has from the factory: `{MAKE_ONE}`")
    return {pad: keys[pad] for pad in needed}


def parse_keys(text: str, filename: str) -> dict[str, bytes]:
    """Device → key. Raises :class:`ConfigError` with the line, never with what stands there."""
    keys: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        key = _key(words[1]) if len(words) == 2 else None
        if key is None:
            raise ConfigError(f"{filename}:{number}: expected a pad such as keys-1/5 and 32 hex digits")
        if words[0] in keys:
            raise ConfigError(f"{filename}:{number}: {words[0]} stands here twice")
        keys[words[0]] = key
    return keys


def add_key(path: Path, pad: str) -> None:
    """Make a key for a pad and add it to the file, which only its owner may read.

    Raises:
        ConfigError: the pad has one already, or the file cannot be written.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "r+", encoding="ascii") as file:
            _check_mode(path, os.fstat(fd).st_mode)
            text = file.read()
            if pad in parse_keys(text, str(path)):
                raise ConfigError(f"{path}: {pad} has a key already; take its line out first if the pad gets a new one")
            file.write(f"{'' if text.endswith(chr(10)) or not text else chr(10)}{pad} {secrets.token_hex(KEY_BYTES)}\n")
            file.flush()
            os.fsync(fd)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _key(written: str) -> bytes | None:
    try:
        key = bytes.fromhex(written)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES and len(written) == 2 * KEY_BYTES else None


def _text(path: Path, needed: list[str]) -> str:
    try:
        with path.open(encoding="ascii") as file:
            _check_mode(path, os.fstat(file.fileno()).st_mode)
            return file.read()
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file, so {', '.join(needed)} cannot be trusted: make it with "
            f"`{MAKE_ONE} {needed[0]} --file {path}`"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _check_mode(path: Path, mode: int) -> None:
    """Credentials that systemd hands out are 0400 or 0440 in a folder of ours alone."""
    others = stat.S_IRWXO | (0 if os.environ.get("CREDENTIALS_DIRECTORY") == str(path.parent) else stat.S_IRWXG)
    if stat.S_IMODE(mode) & others:
        raise ConfigError(f"{path}: others may read it: chmod 600 {path}")
