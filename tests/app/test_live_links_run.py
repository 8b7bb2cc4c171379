"""Changes of a live link on a running floor, and the site file afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_loop import Rig

from meterd.accounting.commands import Actor, Role
from meterd.accounting.commands_links import Adjust, Discontinue, GiveNotice, SetLimit, SuspendLink, Transfer
from meterd.app.compose import open_book
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import Store
from meterd.errors import ConfigError

SIGNED: dict[str, Any] = {
    "actor": Actor("adm-1", Role.ADMINISTRATOR),
    "second": Actor("acc-1", Role.ACCOUNTING),
    "reference": "petition 7",
}


@pytest.fixture
def site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    create_ledger(tmp_path / "ledger", site)
    return tmp_path / "ledger"


def _opened(folder: Path, site: Site) -> None:
    store = Store.open(folder)
    try:
        open_book(site, store, demo=False)
    finally:
        store.close()


def test_a_transfer_shows_on_both_links(folder: Path, site: Site) -> None:
    """The snapshot after it has the source and the target as they now stand, and so has the ledger."""
    rig = Rig(folder, site)
    assert rig.ask(Adjust(**SIGNED, level="nexus-1/minor", cents=500)).refusal is None
    assert rig.ask(Transfer(**SIGNED, level="nexus-1/minor", target="tcp-1/main", cents=500)).refusal is None
    last = rig.published[-1].snapshot["links"]
    shown = [last["nexus-1"]["levels"]["minor"], last["tcp-1"]["levels"]["main"]]
    assert [0, 500] == [level["display_cents"] - level["seed_cents"] for level in shown]
    assert [0, 500_000_000] == [last[link]["liability_microcents"] for link in ("nexus-1", "tcp-1")]
    rig.end()
    assert verify(folder).ok is True


def test_a_suspended_link_shows_no_meter_on_its_signs(folder: Path, site: Site) -> None:
    """The players see at once that nothing can be bet."""
    rig = Rig(folder, site)
    assert rig.ask(SuspendLink(actor=SIGNED["second"], link="nexus-1", reason="fund is short")).refusal is None
    assert "fund is short" == rig.published[-1].snapshot["links"]["nexus-1"]["suspended"]
    rig.end()


def test_the_site_file_follows_a_limit_and_may_forget_an_ended_link(folder: Path, site: Site) -> None:
    """What people changed by command is what the file must say; a link that ended may leave it with its tables."""
    rig = Rig(folder, site)
    limit = SetLimit(**SIGNED, level="tcp-1/main", limit_cents=9_000_000, overflow="next_meter")
    assert rig.ask(limit).refusal is None
    assert rig.ask(Discontinue(**SIGNED, link="bonus-1")).refusal is None
    rig.end()
    with pytest.raises(ConfigError, match="tcp-1"):
        _opened(folder, site)
    links = []
    for link in site.links:
        levels = tuple(replace(one, limit_cents=9_000_000, overflow="next_meter") for one in link.levels)
        links.append(replace(link, levels=levels) if link.id == "tcp-1" else link)
    _opened(folder, replace(site, links=tuple(links)))
    left = tuple(table for table in site.tables if table.settings.link != "bonus-1")
    _opened(folder, replace(site, links=tuple(link for link in links if link.id != "bonus-1"), tables=left))
    assert verify(folder).ok is True


def test_where_players_money_can_become_income_the_reading_says_so(tmp_path: Path, site: Site) -> None:
    """By the site's word, or by a level whose overflow is the house's; else there is nothing to say."""
    allowed = replace(site, settings=replace(site.settings, release_to_house=True))
    for folder, file, expected in (("a", site, False), ("b", allowed, True)):
        create_ledger(tmp_path / folder, file)
        rig = Rig(tmp_path / folder, file)
        rig.wait(lambda effects: "tcp-1" in effects.snapshot["links"])
        assert expected == bool(rig.published[-1].snapshot["links"]["tcp-1"]["disclosure"])
        if expected:
            limit = SetLimit(**SIGNED, level="tcp-1/main", limit_cents=9_000_000, overflow="house")
            assert rig.ask(limit).refusal is None
        rig.end()


def test_a_notice_that_has_run_is_due_in_the_snapshot(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The demonstration's site asks for no days: the link may end at once, and until it does the snapshot says so."""
    monkeypatch.setattr("meterd.app.clocks.MOVED_EVERY_S", 0.0)
    assert 0 == site.settings.discontinue_notice_days
    rig = Rig(folder, site)
    assert rig.ask(GiveNotice(**SIGNED, link="tcp-1")).refusal is None
    (one,) = rig.published[-1].snapshot["due"]
    assert ("notice_over", "tcp-1") == (one["kind"], one["subject"])
    assert rig.ask(Discontinue(**SIGNED, link="tcp-1", licensee=True)).refusal is None
    assert [] == rig.published[-1].snapshot["due"]
    rig.end()
