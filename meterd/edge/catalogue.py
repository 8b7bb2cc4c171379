"""All that a site file may name, read from ``schema/``: pay tables, module profiles, sign models."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from meterd.config import Catalogue, People, SignModel, Site, load_people, load_profile, load_signs, load_site
from meterd.edge.files import load_paytables, schema_files
from meterd.errors import ConfigError, MisuseError

_SIGNS = "profiles/signs.toml"
PEOPLE_FILE = "people.toml"


@cache
def catalogue() -> Catalogue:
    """The catalogue that comes with the program.

    Raises:
        ConfigError: a file of ours cannot be used; the message says where.
        MisuseError: a profile stands in a file of another name.
    """
    profiles = {}
    signs: dict[str, SignModel] = {}
    for name, text in schema_files("profiles", ".toml").items():
        if name == _SIGNS:
            signs = load_signs(text, name)
            continue
        profile = load_profile(text, name)
        if name != f"profiles/{profile.id}.toml":
            raise MisuseError(f"{name} holds the profile {profile.id!r}: it belongs into profiles/{profile.id}.toml")
        profiles[profile.id] = profile
    paytables = load_paytables()
    hashes = {
        name: hashlib.sha256(text.encode()).hexdigest() for name, text in schema_files("paytables", ".toml").items()
    }
    return Catalogue(paytables, profiles, signs, {each: hashes[_file_of(each)] for each in paytables})


def _file_of(paytable_id: str) -> str:
    """``co/nexus/pmg-ml-02`` stands in ``paytables/co/nexus.toml``."""
    return f"paytables/{'/'.join(paytable_id.split('/')[:2])}.toml"


def read_site(path: Path) -> tuple[Site, str]:
    """A site file from disk, checked against the catalogue, with its text.

    Raises:
        ConfigError: it cannot be read, or has findings.
    """
    text = _text(path, "site")
    return load_site(text, str(path), catalogue()), text


def people_beside(site_file: Path) -> Path | None:
    """The people file that belongs to a site file, where there is one."""
    path = site_file.parent / PEOPLE_FILE
    return path if path.exists() else None


def read_people(path: Path) -> People:
    """A people file from disk.

    Raises:
        ConfigError: it cannot be read, or has findings.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise ConfigError(f"{path}: the people file cannot be read (it is no regular file)")
    return load_people(_text(path, "people"), str(path))


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the {what} file cannot be read ({error})") from error
