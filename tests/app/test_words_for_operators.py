"""What an operator is told when site file, ledger and user do not fit: one cause, and a next step that works."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from verify_ledger import tamper, write_ledger

from meterd.accounting.book import Book
from meterd.app.adopt import adopt
from meterd.app.create import create_bare, create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.parameters import differences, next_step
from meterd.app.verify import audited_book
from meterd.cli.main import main
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import Store, read_records
from meterd.errors import ConfigError, LedgerError


@pytest.fixture(scope="module")
def site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may look into; pytest's own are closed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def _book(folder: Path) -> Book:
    return audited_book(read_records(folder))


@contextmanager
def _without_rights() -> Iterator[None]:
    """As somebody whom permissions stop; root is not."""
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        yield
    finally:
        if root:
            os.seteuid(0)


def test_another_sites_ledger_is_one_difference(tmp_path: Path, site: Site) -> None:
    """Nothing else is compared, adopting is not advised, and adopt says the same."""
    create_ledger(tmp_path / "l", site)
    other = replace(site, settings=replace(site.settings, id="lakeside", two_person_cents=1), tables=site.tables[:1])
    book = _book(tmp_path / "l")
    assert ["site.id: the ledger belongs to 'demo', the site file says 'lakeside'"] == differences(other, book)
    assert "name the right ledger or the right site file" in next_step(other, book)
    with pytest.raises(ConfigError, match=r"(?s)nothing can be adopted: site\.id.*the right ledger"):
        adopt(tmp_path / "l", other, first="a", second="b", reference="r")


def test_a_ledger_without_parameters_is_one_difference(tmp_path: Path, site: Site) -> None:
    """Made with --site and --currency it holds nothing to compare, and the step is a new one."""
    create_bare(tmp_path / "l", site="demo", currency="USD")
    book = _book(tmp_path / "l")
    assert ["the ledger was made without a site file: it holds no parameters"] == differences(site, book)
    assert "meterd ledger create" in next_step(site, book)
    with pytest.raises(ConfigError, match="nothing can be adopted"):
        adopt(tmp_path / "l", site, first="a", second="b", reference="r")


def test_adopting_is_advised_only_where_it_can_help(tmp_path: Path, site: Site) -> None:
    """New links and tables: adopt. A changed value: the file is put back. "none" is the word of the file."""
    create_ledger(tmp_path / "l", replace(site, links=site.links[:3], tables=site.tables[:7]))
    book = _book(tmp_path / "l")
    assert next_step(site, book).startswith("Let two people adopt them")
    changed = replace(site, settings=replace(site.settings, two_person_cents=None, cards_above_cents=7))
    assert next_step(changed, book).startswith("Put the site file back")
    said = "\n".join(differences(changed, book))
    assert "the ledger holds none, the site file says 7" in said
    assert "None" not in said


def test_adopt_names_the_empty_option(tmp_path: Path) -> None:
    """An empty name is not "two different people"."""
    for option, people in (("--by", ("", "b", "r")), ("--and", ("a", " ", "r")), ("--reference", ("a", "b", ""))):
        first, second, reference = people
        result = run(
            "ledger", "adopt", tmp_path, "--config", "x", "--by", first, "--and", second, "--reference", reference
        )
        assert (2, True) == (result.exit_code, f"{option} is empty" in result.stderr)
    same = run("ledger", "adopt", tmp_path, "--config", "x", "--by", "a", "--and", "A ", "--reference", "r")
    assert "two different people" in same.stderr


def test_every_line_of_a_message_names_the_verb(tmp_path: Path) -> None:
    """A log that takes lines apart still says whose they are."""
    (tmp_path / "site.toml").write_text("[site]\nidd = 1\n")
    for verb, name in (
        (("ledger", "create", tmp_path / "l"), "meterd ledger create: "),
        (("run", "--ledger", tmp_path / "l"), "meterd run: "),
    ):
        result = run(*verb, "--config", tmp_path / "site.toml")
        lines = [line for line in result.stderr.splitlines() if not line.startswith("{")]
        assert 78 == result.exit_code
        assert len(lines) > 1
        assert {True} == {line.startswith(name) for line in lines}


def test_wrong_use_of_verify_is_no_finding(tmp_path: Path) -> None:
    """A path that is not there, an empty folder, two ledgers at once: exit 2, nothing on standard output."""
    write_ledger(tmp_path / "a")
    write_ledger(tmp_path / "b")
    (tmp_path / "empty").mkdir()
    for paths, says in (
        (("absent",), "does not exist"),
        (("empty",), "there is no ledger in"),
        (("a", "b"), "two folders are two ledgers"),
        (("a", "a/ledger-1.db"), "two folders are two ledgers"),
    ):
        result = run("ledger", "verify", "--json", *(tmp_path / path for path in paths))
        assert (2, "", True) == (result.exit_code, result.stdout, says in result.stderr)


def test_a_ledger_that_may_not_be_read_is_no_finding(public: Path) -> None:
    """Exit 2, in words of permission, for a folder and for a file."""
    tmp_path = public
    write_ledger(tmp_path / "a")
    (tmp_path / "a" / "ledger-1.db").chmod(0)
    with _without_rights():
        file = run("ledger", "verify", tmp_path / "a" / "ledger-1.db")
    (tmp_path / "a").chmod(0)
    with _without_rights():
        folder = run("ledger", "verify", tmp_path / "a")
    (tmp_path / "a").chmod(0o700)
    for result in (file, folder):
        assert (2, True) == (result.exit_code, "cannot be read by this user (Permission denied)" in result.stderr)


def test_what_verify_says_of_the_end(tmp_path: Path) -> None:
    """Ok asks for a comparison; after a fault the figures say of which entry they are; one entry is no entries."""
    write_ledger(tmp_path / "a")
    sound = run("ledger", "verify", tmp_path / "a")
    assert "Compare head and number with those noted elsewhere" in sound.stdout
    create_bare(tmp_path / "one", site="x", currency="USD")
    assert run("ledger", "verify", tmp_path / "one").stdout.startswith("ok: 1 entry holds; head ")
    tamper(tmp_path / "a" / "ledger-1.db", "UPDATE entry SET actor = 'me' WHERE seq = 9")
    bad = run("ledger", "verify", tmp_path / "a")
    assert 1 == bad.exit_code
    assert "8 entries before it hold; head " in bad.stdout
    assert "Levels as of entry 8, the last that holds:" in bad.stdout


def test_a_lost_link_is_put_back_and_nothing_is_removed(tmp_path: Path) -> None:
    """The step that is told works, and names the newest volume."""
    write_ledger(tmp_path / "a")
    (tmp_path / "a" / "ledger.db").unlink()
    with pytest.raises(LedgerError) as told:
        Store.open(tmp_path / "a")
    assert "remove nothing" in str(told.value)
    assert f"`ln -sfn ledger-1.db {tmp_path / 'a' / 'ledger.db'}`" in str(told.value)
    (tmp_path / "a" / "ledger.db").symlink_to("ledger-1.db")
    Store.open(tmp_path / "a").close()


def test_a_creation_cut_short_may_be_removed(tmp_path: Path) -> None:
    """Only a file that holds no entry; a link without its file asks for a backup."""
    (tmp_path / "ledger-1.db").touch()
    with pytest.raises(LedgerError, match="it holds no entry, its creation was cut short: remove it"):
        Store.open(tmp_path)
    (tmp_path / "ledger-1.db").write_bytes(b"x" * 5000)
    with pytest.raises(LedgerError, match="remove nothing"):
        Store.open(tmp_path)
    (tmp_path / "ledger-1.db").unlink()
    (tmp_path / "ledger.db").symlink_to("ledger-1.db")
    with pytest.raises(LedgerError, match=r"leads to ledger-1\.db, which is not there: restore the folder"):
        Store.open(tmp_path)


def test_a_folder_of_somebody_else_names_both_users(public: Path) -> None:
    """A ledger made as root and opened as the daemon's user: whose it is, who asked, what to do."""
    tmp_path = public
    write_ledger(tmp_path / "a")
    (tmp_path / "a").chmod(0o555)
    (tmp_path / "a" / "lock").unlink(missing_ok=True)
    with _without_rights(), pytest.raises(LedgerError) as opened:
        Store.open(tmp_path / "a")
    with _without_rights(), pytest.raises(LedgerError) as made:
        create_bare(tmp_path / "a" / "deeper", site="x", currency="USD")
    (tmp_path / "a").chmod(0o700)
    for told in (opened, made):
        assert f"{tmp_path / 'a'} belongs to " in str(told.value)
        assert "chown -R meterd:" in str(told.value)
