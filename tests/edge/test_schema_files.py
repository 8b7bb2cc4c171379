"""The door to what lies in ``schema/``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from meterd.edge import files
from meterd.errors import ConfigError, MisuseError
from meterd.paytables.parse import PaytableError

ROULETTE = files.schema_text("paytables/pa/roulette-up.toml")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place where the installation seems to be, empty."""
    monkeypatch.setattr(files, "_PACKAGE", tmp_path / "meterd")
    files.schema_root.cache_clear()
    yield tmp_path / "meterd"
    files.schema_root.cache_clear()


def test_every_table_stands_in_the_file_its_id_names() -> None:
    """One table is found without reading the other files."""
    for table_id, table in files.load_paytables().items():
        assert table == files.paytable(table_id)
        assert (files.schema_root() / f"paytables/{'/'.join(table_id.split('/')[:2])}.toml").is_file()


def test_texts_come_by_folder_and_suffix() -> None:
    """Names are paths below the schema folder, in order."""
    texts = files.schema_files("paytables", ".toml")
    assert sorted(texts) == list(texts)
    assert texts["paytables/co/nexus.toml"] == files.schema_text("paytables/co/nexus.toml")
    assert {} == files.schema_files("no-such-folder", ".toml")


@pytest.mark.parametrize("table_id", ["co/nexus/pmg-ml-2", "nexus", "", "co/nexus", "../schema/paytables/co/nexus"])
def test_an_unknown_table_is_named(table_id: str) -> None:
    """Whatever is asked for, the answer is a sentence."""
    with pytest.raises(ConfigError, match="there is no pay table"):
        files.paytable(table_id)


def test_a_missing_file_is_a_bug_of_ours() -> None:
    """Callers name files that the installation holds."""
    with pytest.raises(MisuseError, match=r"no file ledger/9999\.sql"):
        files.schema_text("ledger/9999.sql")


def test_the_wheel_and_the_checkout_are_both_found(package: Path) -> None:
    """A wheel carries the folder inside the package and wins; with neither, the message names where it looked."""
    with pytest.raises(MisuseError, match="looked for"):
        files.schema_root()
    for folder in (package.parent / "schema", package / "_schema"):
        (folder / "paytables").mkdir(parents=True)
        files.schema_root.cache_clear()
        assert folder == files.schema_root()


def test_a_table_in_the_wrong_file_is_an_error(package: Path) -> None:
    """An id that names another file could never be found, so it is refused when read."""
    (package / "_schema/paytables/co").mkdir(parents=True)
    (package / "_schema/paytables/co/wrong.toml").write_text(ROULETTE, encoding="utf-8")
    with pytest.raises(PaytableError, match=r"belongs into paytables/pa/roulette-up\.toml"):
        files.load_paytables()
