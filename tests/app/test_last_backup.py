"""The newest volume is gone: what the dead link and the last backup tell is never passed over."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from test_loop import Rig

from meterd.accounting.entries import Kind
from meterd.app.backup import Backup, back_up, held
from meterd.app.compose import open_book
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.restore import restore
from meterd.app.signatures import Signatures
from meterd.app.verify import Report, verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.last_backup import LAST
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError

SIGNED = Signatures("adm-1", "acc-1", "R-9")


@pytest.fixture
def site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    create_ledger(tmp_path / "ledger", site)
    return tmp_path / "ledger"


def run(folder: Path, site: Site) -> None:
    """A daemon that starts and stops."""
    Rig(folder, site).end()


def start(folder: Path, site: Site) -> None:
    with closing(Store.open(folder)) as store:
        open_book(site, store, demo=False)


@pytest.fixture
def lost(folder: Path, site: Site, tmp_path: Path) -> Backup:
    """A ledger of two volumes, its backup, and then the newest volume deleted."""
    cut = tmp_path / "begun"
    back_up(folder, cut)
    run(folder, site)
    made = back_up(folder, tmp_path / "copy")
    put(cut / "ledger-1.db", folder / "ledger-1.db")
    for left in folder.glob("ledger-1.db-*"):
        left.unlink()
    assert made.entries > verify(cut).entries
    return made


def put(source: Path, goal: Path) -> None:
    goal.write_bytes(source.read_bytes())


def dead_link(folder: Path) -> None:
    (folder / "ledger.db").unlink()
    (folder / "ledger.db").symlink_to("ledger-578.db")


def test_a_dead_link_to_a_newer_volume_names_it(folder: Path, tmp_path: Path) -> None:
    """The file that is missing, what is lost with it, both ways back with the last backup; never a new link."""
    made = back_up(folder, tmp_path / "copy")
    dead_link(folder)
    with pytest.raises(LedgerError) as told:
        Store.open(folder)
    said = str(told.value)
    assert f"{folder / 'ledger-578.db'} is missing" in said
    assert "every entry from 578 on with it" in said
    assert f"`meterd restore BACKUP {folder}` (the last one is {tmp_path / 'copy'}, of {made.entries} entries)" in said
    assert "ln -sfn" not in said
    (folder / LAST).write_text("{", encoding="utf-8")
    with pytest.raises(LedgerError, match="is missing") as told:
        Store.open(folder)
    assert "the last one" not in str(told.value)


def test_no_link_and_a_backup_of_more(folder: Path, lost: Backup) -> None:
    """Where the link went too, the last backup tells that a volume is missing."""
    (folder / "ledger.db").unlink()
    with pytest.raises(LedgerError, match=rf"entries up to {lost.entries} at least") as told:
        Store.open(folder)
    assert "ln -sfn" not in str(told.value)


def test_a_start_behind_a_lost_volume(folder: Path, site: Site, lost: Backup) -> None:
    """Refused before anything is written, with the way back; which then leads to a start."""
    with pytest.raises(LedgerError, match=rf"holds {lost.entries} \({lost.path}\)") as told:
        start(folder, site)
    assert f"`meterd restore {lost.path} {folder}`" in str(told.value)
    assert verify(folder).entries < lost.entries
    restore(lost.path, folder)
    start(folder, site)


def test_the_next_backup_hides_no_loss(folder: Path, site: Site, lost: Backup, tmp_path: Path) -> None:
    """Finished, refused with what is missing, and the file goes on telling of the one before: no start either."""
    told = (folder / LAST).read_text(encoding="utf-8")
    with pytest.raises(LedgerError, match=rf"is finished .* the one before holds {lost.entries}"):
        back_up(folder, tmp_path / "nightly")
    assert told == (folder / LAST).read_text(encoding="utf-8")
    with pytest.raises(LedgerError, match=f"holds {lost.entries}"):
        start(folder, site)
    restore(lost.path, folder)
    assert lost.entries + 1 == back_up(folder, tmp_path / "again").entries
    start(folder, site)


def test_a_backup_that_began_before_a_longer_one(
    folder: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that overlap: the ledger lacks nothing, so both are finished, and the file goes on telling of the longer."""
    inner: list[Backup] = []

    def slow(where: Path) -> Report:
        monkeypatch.undo()
        run(folder, site)
        inner.append(back_up(folder, tmp_path / "by hand"))
        return held(where)

    monkeypatch.setattr("meterd.app.backup.held", slow)
    outer = back_up(folder, tmp_path / "nightly")
    assert outer.entries < inner[0].entries
    assert str(inner[0].path) == json.loads((folder / LAST).read_text(encoding="utf-8"))["path"]
    start(folder, site)


def test_a_finished_backup_is_what_its_manifest_names(folder: Path, site: Site, tmp_path: Path) -> None:
    """The second one, too, which is held against what was told of the first: no index and no WAL stay beside it."""
    for name in ("one", "two", "three"):
        run(folder, site)
        made = back_up(folder, tmp_path / name)
        assert {*made.files, "backup.json", "ledger.db"} == {path.name for path in made.path.iterdir()}


def test_the_long_question_is_asked_where_something_lacks(
    folder: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Restores are looked for in all entries only where the ledger has less than was told."""
    back_up(folder, tmp_path / "one")
    monkeypatch.setattr("meterd.edge.volume.bodies_of", lambda *_: pytest.fail("asked"))
    run(folder, site)
    assert back_up(folder, tmp_path / "two").entries > 0


def test_another_entry_than_the_backup_has(folder: Path, site: Site, tmp_path: Path) -> None:
    """As long as it was, and another: refused."""
    back_up(folder, tmp_path / "begun")
    run(folder, site)
    made = back_up(folder, tmp_path / "copy")
    put(tmp_path / "begun" / "ledger-1.db", folder / "ledger-1.db")
    run(folder, site)
    run(folder, site)
    with pytest.raises(LedgerError, match=f"holds another entry {made.entries}"):
        start(folder, site)


def test_what_two_people_gave_up_stops_nothing(folder: Path, site: Site, tmp_path: Path) -> None:
    """A restore says what the last backup held; approved it sets the file aside, and the floor starts."""
    back_up(folder, tmp_path / "begun")
    run(folder, site)
    made = back_up(folder, tmp_path / "copy")
    told = (folder / LAST).read_text(encoding="utf-8")
    for path in folder.glob("ledger*"):
        path.unlink()
    with pytest.raises(LedgerError, match=rf"{LAST} tells of a backup that holds {made.entries}"):
        restore(tmp_path / "begun", folder)
    _, aside = restore(tmp_path / "begun", folder, approval=SIGNED)
    assert aside is not None
    assert told == (aside / LAST).read_text(encoding="utf-8")
    last = list(read_records(folder))[-1]
    assert (Kind.RESTORED, True) == (last.kind, f"holds {made.entries}" in last.body)
    start(folder, site)
    (folder / LAST).write_text(told, encoding="utf-8")  # as an older meterd left it
    start(folder, site)
    back_up(folder, tmp_path / "behind it")
    (folder / LAST).write_text(told, encoding="utf-8")
    later = json.loads(told) | {"verified_at_utc": datetime.now(UTC).isoformat().replace("2", "9", 1)}
    (folder / LAST).write_text(json.dumps(later), encoding="utf-8")  # made behind that restore: not explained by it
    with pytest.raises(LedgerError, match=f"holds another entry {made.entries}"):
        start(folder, site)


@pytest.mark.parametrize(
    ("changed", "event"),
    [
        (None, "ledger.last_backup_unreadable"),
        ({"entries": "9"}, "ledger.last_backup_unreadable"),
        ({"head": None}, "ledger.last_backup_unreadable"),
        ({"origin": "meterd/elsewhere/0"}, "ledger.last_backup_of_another"),
        ({"origin": ""}, "ledger.last_backup_of_another"),
    ],
)
def test_a_bad_or_foreign_file_is_told_and_stops_nothing(
    folder: Path, site: Site, tmp_path: Path, changed: dict[str, object] | None, event: str
) -> None:
    """In the log; and the next backup writes it anew."""
    back_up(folder, tmp_path / "copy")
    told = json.loads((folder / LAST).read_text(encoding="utf-8")) | {"entries": 1_000_000}
    (folder / LAST).write_text("\0" if changed is None else json.dumps(told | changed), encoding="utf-8")
    with capture_logs() as logs:
        start(folder, site)
    assert [event] == [each["event"] for each in logs if "backup" in each["event"]]
