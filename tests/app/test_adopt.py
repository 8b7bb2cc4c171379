"""The site file and the parameters in force: agreement, additions, nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from meterd.accounting.book import Book
from meterd.accounting.settings_pools import FundSettings, PoolGame, PoolSettings
from meterd.app.adopt import adopt
from meterd.app.compose import open_book
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import Store
from meterd.errors import ConfigError, LedgerError

JACKPOT = FundSettings("bad-beat", PoolGame.POSTED, (PoolSettings("primary", 1_000_000),), 200)


@pytest.fixture
def site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


def _opened(folder: Path, site: Site, *, demo: bool = False) -> Book:
    store = Store.open(folder)
    try:
        return open_book(site, store, demo=demo).book
    finally:
        store.close()


def test_a_ledger_agrees_with_the_file_it_was_made_from(tmp_path: Path, site: Site) -> None:
    """Every link stands at its seeds, every table is CLOSED, the whole sums to zero."""
    create_ledger(tmp_path / "l", site)
    book = _opened(tmp_path / "l", site)
    assert list(book.links) == ["nexus-1", "tcp-1", "sevens-1", "bonus-1"]
    assert {table.state.value for table in book.tables.values()} == {"CLOSED"}
    assert book.residual_microcents() == 0
    assert book.links["nexus-1"].levels["mega"].display_microcents == 5_000_000_000_000


def test_every_difference_is_named_and_nothing_starts(tmp_path: Path, site: Site) -> None:
    """A changed rate, a missing table and a new one are all named, with the command that could help."""
    create_ledger(tmp_path / "l", site)
    link = site.links[0]
    level = replace(link.levels[0], increment_ppm=130_000)
    changed = replace(link, levels=(level, *link.levels[1:]))
    tables = (replace(site.tables[0], settings=replace(site.tables[0].settings, id="NEW-1")), *site.tables[1:])
    with pytest.raises(ConfigError) as refused:
        _opened(tmp_path / "l", replace(site, links=(changed, *site.links[1:]), tables=tables))
    said = str(refused.value)
    assert "link nexus-1.levels[0].increment_ppm: the ledger holds 120000, the site file says 130000" in said
    assert "table LIR-1: in force in the ledger, missing in the site file" in said
    assert "table NEW-1: in the site file, not yet in the ledger" in said
    assert "meterd ledger adopt" in said


def test_additions_are_adopted_by_two_people_in_the_ledger(tmp_path: Path, site: Site) -> None:
    """A new link with its table comes into force by entries that name both people and the reference."""
    small = replace(site, links=site.links[:3], tables=site.tables[:7])
    create_ledger(tmp_path / "l", small)
    grown = replace(site, funds=(JACKPOT,))
    adopted = adopt(tmp_path / "l", grown, first="adm-1", second="acc-1", reference="DIV-7")
    assert adopted == (("bonus-1",), ("THB-2",), ("bad-beat",), ())
    assert _opened(tmp_path / "l", grown).funds["bad-beat"].settings == JACKPOT
    assert _opened(tmp_path / "l", grown).links["bonus-1"].levels["main"].display_microcents == 1_000_000_000_000
    assert verify(tmp_path / "l").ok is True


def test_one_thing_that_cannot_be_adopted_keeps_all_of_it_out(tmp_path: Path, site: Site) -> None:
    """A changed wager beside a new table and another threshold: nothing of it comes into force, and it says which."""
    small = replace(site, links=site.links[:3], tables=site.tables[:7])
    create_ledger(tmp_path / "l", small)
    before = verify(tmp_path / "l").head
    settings = replace(site.settings, confirm_above_cents=1)
    other = replace(site, settings=settings, links=(replace(site.links[0], wager_cents=200), *site.links[1:]))
    with pytest.raises(ConfigError, match=r"wager_cents.*open one with another id"):
        adopt(tmp_path / "l", other, first="adm-1", second="acc-1", reference="DIV-7")
    assert verify(tmp_path / "l").head == before


def test_demo_and_real_ledgers_never_meet(tmp_path: Path, site: Site) -> None:
    """A demo ledger is refused by the floor, a real one by the demo."""
    create_ledger(tmp_path / "demo", site, demo=True)
    create_ledger(tmp_path / "real", site)
    with pytest.raises(LedgerError, match="demo ledger"):
        _opened(tmp_path / "demo", site)
    with pytest.raises(LedgerError, match="real ledger"):
        _opened(tmp_path / "real", site, demo=True)


def test_a_jackpot_that_differs_is_named(tmp_path: Path, site: Site) -> None:
    """A changed, a missing and a new fund: the ledger's stands, and nothing starts."""
    create_ledger(tmp_path / "l", replace(site, funds=(JACKPOT, replace(JACKPOT, id="mini"))))
    changed = replace(site, funds=(replace(JACKPOT, take_max_cents=100), replace(JACKPOT, id="maxi")))
    with pytest.raises(ConfigError) as refused:
        _opened(tmp_path / "l", changed)
    said = str(refused.value)
    assert "fund bad-beat.take_max_cents: the ledger holds 200, the site file says 100" in said
    assert "fund mini: in force in the ledger, missing in the site file" in said
    assert "fund maxi: in the site file, not yet in the ledger" in said
