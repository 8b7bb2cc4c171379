"""Backups that count, and the way back: nothing that is known to have existed is lost quietly."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from verify_ledger import SUPERVISOR, a_few_rounds, tamper, write_ledger

from meterd import second_verifier
from meterd.accounting.book import Book
from meterd.accounting.commands import Note, OpenTable
from meterd.accounting.entries import Kind
from meterd.app.backup import LAST, MANIFEST, back_up
from meterd.app.commit import Committer, Stamp, draft_entry
from meterd.app.restore import restore
from meterd.app.signatures import Signatures
from meterd.app.verify import verify
from meterd.cli.main import main
from meterd.edge.openers import writers_of
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError, MisuseError
from meterd.ledger.chain import seal
from meterd.ledger.merkle import Tree
from meterd.ledger.note import Checkpoint
from meterd.ledger.record import Draft


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    write_ledger(tmp_path / "ledger")
    return tmp_path / "ledger"


def grow(folder: Path, times: int = 1) -> None:
    """More entries behind those there are."""
    with closing(Store.open(folder)) as store:
        book = Book()
        for record in store.records():
            book.apply(record.seq, record.at_utc, draft_entry(record))
        committer = Committer(book, store, lambda: Stamp("2026-12-01T14:00:00.000000Z", "boot-1", 1))
        for n in range(times):
            committer.decide(Note(actor=SUPERVISOR, kind=Kind.COUNT_MISMATCH, table="T1", facts={"accepted": n}))
            committer.commit()


def checkpoint(folder: Path, at: Path, size: int | None = None, origin: str = "meterd/riverside/0") -> Path:
    """A note of so many entries of a ledger, signed by nobody we know: a restore takes it as a warning all the same."""
    tree = Tree()
    for record in list(read_records(folder))[:size]:
        tree.append(record.hash)
    at.write_text(Checkpoint(origin, tree.size, tree.root()).text + "\n\u2014 paper AAAAAAAA\n", encoding="utf-8")
    return at


def test_a_backup_is_read_back_and_is_the_ledger(ledger: Path, tmp_path: Path) -> None:
    """Its chain, its head and its levels are the ledger's, and both verifiers take it alone."""
    made = back_up(ledger, tmp_path / "copy")
    report = verify(tmp_path / "copy")
    assert (verify(ledger).head, verify(ledger).levels) == (report.head, report.levels)
    assert (report.entries, report.head.hex()) == (made.entries, made.head)
    assert second_verifier.check([tmp_path / "copy"])["ok"]
    assert made.head == json.loads((ledger / LAST).read_text())["head"]


def test_a_backup_is_its_files_for_user_and_group(ledger: Path, tmp_path: Path) -> None:
    """What backup.json names, the list itself and the link; nothing that reading back left; nothing for others."""
    checkpoint(ledger, ledger / "checkpoint-5.txt", 5)
    before = os.umask(0o022)
    try:
        made = back_up(ledger, tmp_path / "copy")
    finally:
        os.umask(before)
    there = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in (tmp_path / "copy").iterdir()}
    assert {*made.files, MANIFEST, "ledger.db"} == there.keys()
    assert {0o640} == {mode for name, mode in there.items() if name != "ledger.db"}
    assert 0o750 == stat.S_IMODE((tmp_path / "copy").stat().st_mode)
    restored, _ = restore(tmp_path / "copy", tmp_path / "new")
    assert made.head == restored.head


def test_beside_a_writer(ledger: Path, tmp_path: Path) -> None:
    """A backup taken while entries are committed is one state of the ledger: a beginning of it, whole."""
    stop, going = threading.Event(), threading.Event()

    def write() -> None:
        with closing(Store.open(ledger)) as store:
            book = Book()
            for record in store.records():
                book.apply(record.seq, record.at_utc, draft_entry(record))
            committer = Committer(book, store, lambda: Stamp("2026-12-01T14:00:00.000000Z", "boot-1", 1))
            while not stop.is_set():
                committer.decide(Note(actor=SUPERVISOR, kind=Kind.COUNT_MISMATCH, table="T1", facts={"accepted": 0}))
                committer.commit()
                going.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert going.wait(20)
        made = [back_up(ledger, tmp_path / str(n)) for n in range(3)]
    finally:
        stop.set()
        writer.join()
    hashes = [record.hash.hex() for record in read_records(ledger)]
    assert [hashes[backup.entries - 1] for backup in made] == [backup.head for backup in made]


def test_what_does_not_hold_is_no_backup(ledger: Path, tmp_path: Path) -> None:
    """A ledger with a changed row is copied, found out, and never gets a backup.json."""
    tamper(ledger / "ledger-1.db", "UPDATE entry SET actor = 'x' WHERE seq = 9")
    with pytest.raises(LedgerError, match="entry 9: the hash does not match"):
        back_up(ledger, tmp_path / "copy")
    assert not (tmp_path / "copy" / MANIFEST).exists()
    with pytest.raises(LedgerError, match="is no finished backup"):
        restore(tmp_path / "copy", tmp_path / "new")


def test_restored_to_exactly_that_state(ledger: Path, tmp_path: Path) -> None:
    """The restored ledger is the backup and one entry that says so; a writer goes on behind it."""
    made = back_up(ledger, tmp_path / "copy")
    restored, aside = restore(tmp_path / "copy", tmp_path / "new")
    records = list(read_records(tmp_path / "new"))
    assert (None, made.head) == (aside, restored.head)
    assert [made.head, "Restored"] == [records[-2].hash.hex(), records[-1].kind]
    assert verify(ledger).levels == verify(tmp_path / "new").levels
    grow(tmp_path / "new")
    assert verify(tmp_path / "new").ok


def test_when_a_backup_was_finished_is_told_to_alerts(ledger: Path, tmp_path: Path) -> None:
    """In the text format, as seconds; a file that cannot be written is exit 74 beside a finished backup."""
    text = tmp_path / "meterd.prom"
    done = CliRunner().invoke(main, ["backup", str(ledger), str(tmp_path / "one"), "--metrics", str(text)])
    assert 0 == done.exit_code, done.output
    told = json.loads((tmp_path / "one" / MANIFEST).read_text())
    samples = {name.name: name.samples[0].value for name in text_string_to_metric_families(text.read_text())}
    finished = datetime.fromisoformat(told["verified_at_utc"]).timestamp()
    assert {"meterd_backup_entries": told["entries"], "meterd_backup_timestamp_seconds": round(finished)} == samples
    done = CliRunner().invoke(
        main, ["backup", str(ledger), str(tmp_path / "two"), "--metrics", str(tmp_path / "no" / "x")]
    )
    assert (74, True) == (done.exit_code, "is finished and was read back, but" in done.output)
    assert (tmp_path / "two" / MANIFEST).exists()


@pytest.mark.parametrize("where", ["told", "beside the ledger"])
def test_what_a_checkpoint_proves_is_not_lost_quietly(ledger: Path, tmp_path: Path, where: str) -> None:
    """A backup shorter than a known checkpoint is refused; two people with a reference may, and the ledger says who."""
    back_up(ledger, tmp_path / "copy")
    before = verify(ledger).entries
    grow(ledger, 3)
    note = checkpoint(ledger, ledger / "checkpoint-7.txt" if where != "told" else tmp_path / "paper.txt")
    shutil.move(ledger / "ledger-1.db", tmp_path / "burnt.db")
    known = [note] if where == "told" else []
    with pytest.raises(LedgerError, match=rf"ends with entry {before}, but {note.name} proves {before + 3}"):
        restore(tmp_path / "copy", ledger, known=known)
    with pytest.raises(MisuseError, match="SAME_PERSON: ADM-1  signs twice"):
        restore(tmp_path / "copy", ledger, known=known, approval=Signatures("adm-1", "ADM-1 ", "R-7"))
    restore(tmp_path / "copy", ledger, known=known, approval=Signatures("adm-1", "acc-1", "R-7"))
    last = list(read_records(ledger))[-1]
    assert ("adm-1+acc-1", "R-7") == (last.actor, json.loads(last.body)["reference"])
    assert [f"{note.name} proves {before + 3}"] == json.loads(last.body)["lost"]


def test_a_checkpoint_of_other_entries(ledger: Path, tmp_path: Path) -> None:
    """A backup that is long enough, but of another history than a checkpoint says, is refused as well."""
    write_ledger(tmp_path / "other", a_few_rounds()[:7])
    note = checkpoint(tmp_path / "other", tmp_path / "paper.txt")
    back_up(ledger, tmp_path / "copy")
    with pytest.raises(LedgerError, match="proves other entries up to"):
        restore(tmp_path / "copy", tmp_path / "new", known=[note])


def test_a_longer_ledger_is_not_overwritten(ledger: Path, tmp_path: Path) -> None:
    """What can still be read where the backup should go counts too; what was there is moved aside, not removed."""
    back_up(ledger, tmp_path / "copy")
    grow(ledger, 2)
    longer = verify(ledger)
    with pytest.raises(LedgerError, match=rf"goes to {longer.entries}"):
        restore(tmp_path / "copy", ledger)
    assert longer == verify(ledger)
    _, aside = restore(tmp_path / "copy", ledger, approval=Signatures("adm-1", "acc-1", "R-8"))
    assert aside is not None
    assert longer.head == verify(aside).head


def test_a_backup_that_changed_is_refused(ledger: Path, tmp_path: Path) -> None:
    """A file that is not the one that was read back when the backup was made is not restored."""
    back_up(ledger, tmp_path / "copy")
    tamper(tmp_path / "copy" / "ledger-1.db", "PRAGMA user_version = 1")
    with pytest.raises(LedgerError, match=r"ledger-1\.db of the backup .* changed since it was made"):
        restore(tmp_path / "copy", tmp_path / "new")
    assert not list((tmp_path / "new").glob("ledger*"))


def test_not_while_somebody_writes(ledger: Path, tmp_path: Path) -> None:
    """A restore keeps its hands off a ledger that a daemon holds."""
    back_up(ledger, tmp_path / "copy")
    with closing(Store.open(ledger)), pytest.raises(LedgerError, match="held by process"):
        restore(tmp_path / "copy", ledger)
    assert verify(ledger).ok


def test_the_verbs(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made, refused, approved: exit codes and words of the command line."""
    monkeypatch.setattr("meterd.cli.backup.USUAL_PEOPLE", tmp_path / "people.toml")
    run = CliRunner().invoke
    assert 0 == run(main, ["backup", str(ledger), str(tmp_path / "copy")]).exit_code
    again = run(main, ["backup", str(ledger), str(tmp_path / "copy")])
    assert (74, True) == (again.exit_code, "is there already" in again.output)
    grow(ledger)
    arguments = ["restore", str(tmp_path / "copy"), str(ledger)]
    assert 74 == run(main, arguments).exit_code
    assert 2 == run(main, [*arguments, "--by", "adm-1"]).exit_code
    done = run(main, [*arguments, "--by", "adm-1", "--and", "acc-1", "--reference", "R-9", "--unproven", "--json"])
    assert (0, str(ledger / "replaced-1")) == (done.exit_code, json.loads(done.stdout)["aside"])


SECOND_WRITER = """
import sqlite3, sys
c = sqlite3.connect(f"file:{sys.argv[1]}?mode={sys.argv[2]}", uri=True)
c.execute("PRAGMA user_version").fetchone()
print("open", flush=True)
if not sys.stdin.readline():
    sys.exit()
c.execute("CREATE TABLE IF NOT EXISTS harmless (x)") if sys.argv[2] == "rw" else None
c.commit()
print("wrote", flush=True)
sys.stdin.readline()
"""


@contextmanager
def second_program(path: Path, mode: str) -> Iterator[subprocess.Popen[str]]:
    """Another program that opens a volume, and writes into it when it is told to."""
    command = [sys.executable, "-c", SECOND_WRITER, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.communicate()


def test_a_second_writer_is_refused_at_the_start(ledger: Path) -> None:
    """A process that has a volume open for writing is named, and nothing is opened; one that reads disturbs nobody."""
    with second_program(ledger / "ledger-1.db", "rw") as process:
        with pytest.raises(LedgerError, match=rf"process {process.pid} .* open for writing: a ledger has one writer"):
            Store.open(ledger)
        assert [process.pid] == [opener.pid for opener in writers_of(frozenset({ledger / "ledger-1.db"}))]
    with second_program(ledger / "ledger-1.db", "ro"):
        Store.open(ledger).close()


def test_a_second_writer_is_found_by_what_it_wrote(ledger: Path) -> None:
    """A program that writes into the open ledger ends it at the next commit, before anything is told."""
    with closing(Store.open(ledger)) as store:
        entries = store.seq
        record = seal(following_draft(), store.seq + 1, store.head)
        with second_program(ledger / "ledger-1.db", "rw") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "wrote\n"
            with pytest.raises(LedgerError, match="another program wrote into the ledger"):
                store.commit([record])
    assert entries == len(list(rows_of(ledger / "ledger-1.db")))


def following_draft() -> Draft:
    """Any entry."""
    return Draft(
        "2026-12-01T14:00:00.000000Z", "boot-1", 1, "Stopped", None, None, "here", "meterd", None, None, "{}", ()
    )


def rows_of(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [seq for (seq,) in connection.execute("SELECT seq FROM entry")]


def test_opening_tables_goes_on(ledger: Path, tmp_path: Path) -> None:
    """A restored book decides like the one it was copied from."""
    back_up(ledger, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "new")
    with closing(Store.open(tmp_path / "new")) as store:
        book = Book()
        for record in store.records():
            book.apply(record.seq, record.at_utc, draft_entry(record))
        committer = Committer(book, store, lambda: Stamp("2026-12-01T14:00:00.000000Z", "boot-1", 1))
        decision = committer.decide(OpenTable(actor=SUPERVISOR, table="T1"))
        committer.commit()
    assert "ALREADY_DONE" == str(decision.refusal and decision.refusal.refusal.value)


RESTORE_KILLED = """
import os, signal, sys
from pathlib import Path
from meterd.app import restore
from meterd.edge import folder as folder_module
at, n = sys.argv[3], 0
def trace(event, arguments):
    global n
    if event in {"os.rename", "os.mkdir", "os.remove", "shutil.copyfile", "sqlite3.connect", "os.symlink"}:
        n += 1
        if n == int(at):
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(trace)
restore.restore(Path(sys.argv[1]), Path(sys.argv[2]))
print("done")
"""


@pytest.mark.parametrize("each", [4, pytest.param(1, marks=pytest.mark.slow)], ids=["some steps", "every step"])
def test_a_killed_restore_is_done_again(ledger: Path, tmp_path: Path, each: int) -> None:
    """Killed at a step: no daemon starts on half of it, an older backup is still refused, once more finishes it."""
    back_up(ledger, tmp_path / "old")
    grow(ledger, 3)
    made = back_up(ledger, tmp_path / "new")
    shutil.copytree(ledger, tmp_path / "kept", symlinks=True)
    finished = killed_marked = 0
    for step in range(1, 80, each):
        shutil.rmtree(ledger)
        shutil.copytree(tmp_path / "kept", ledger, symlinks=True)
        command = [sys.executable, "-c", RESTORE_KILLED, str(tmp_path / "new"), str(ledger), str(step)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        finished = done.stdout == "done\n"
        if finished:
            break
        assert done.returncode == -9, done.stderr
        with pytest.raises(LedgerError, match="ends with entry"):
            restore(tmp_path / "old", ledger)
        if (ledger / "restore-under-way.json").exists():
            killed_marked += 1
            with pytest.raises(LedgerError, match="was interrupted"):
                Store.open(ledger)
            with pytest.raises(LedgerError, match="is not empty of ledgers"):
                Store.create(ledger, [following_draft()])
            restore(tmp_path / "new", ledger)
        records = [record.hash.hex() for record in read_records(ledger)]
        assert made.head == records[made.entries - 1]
        assert verify(ledger).ok
    assert finished
    assert killed_marked >= 6 // each + 1


def test_an_approval_survives_a_kill(ledger: Path, tmp_path: Path) -> None:
    """What two people approved is told by the restore that finishes it, though nobody asks them again."""
    back_up(ledger, tmp_path / "copy")
    grow(ledger, 2)
    mark = {"head": json.loads((tmp_path / "copy" / MANIFEST).read_text())["head"], "lost": ["two"], "aside": None}
    approved = {"first": "adm-1", "second": "acc-1", "reference": "R-9"}
    (ledger / "restore-under-way.json").write_text(json.dumps({**mark, "approval": approved}))
    restore(tmp_path / "copy", ledger)
    last = list(read_records(ledger))[-1]
    assert ("Restored", "adm-1+acc-1", "R-9") == (last.kind, last.actor, json.loads(last.body)["reference"])
    assert "two" in json.loads(last.body)["lost"]


def test_another_ledger_or_branch_is_not_replaced_quietly(ledger: Path, tmp_path: Path) -> None:
    """A backup that is long enough, but of another ledger, is a loss like any other."""
    write_ledger(tmp_path / "other", a_few_rounds()[:9])
    grow(ledger, 5)
    back_up(ledger, tmp_path / "copy")
    with pytest.raises(LedgerError, match=r"is another: its entry .* is not the backup's"):
        restore(tmp_path / "copy", tmp_path / "other")


def test_folders_that_lie_in_each_other(ledger: Path, tmp_path: Path) -> None:
    """Nothing is moved where source and place are one, or one lies in the other."""
    back_up(ledger, tmp_path / "copy")
    shutil.copytree(tmp_path / "copy", ledger / "ledger-copy", symlinks=True)
    for source, place in ((ledger / "ledger-copy", ledger), (tmp_path / "copy", tmp_path / "copy"), (tmp_path, ledger)):
        with pytest.raises(MisuseError, match="lie in each other"):
            restore(source, place)
    with pytest.raises(MisuseError, match="lie in each other"):
        back_up(ledger, ledger / "backup")
    assert verify(ledger).ok
    assert verify(tmp_path / "copy").ok


def test_a_checkpoint_made_meanwhile_is_left_out(ledger: Path, tmp_path: Path) -> None:
    """A backup carries the checkpoints that it bears out, so that what is restored from it starts."""
    checkpoint(ledger, ledger / "checkpoint-5.txt", 5)
    grow(ledger, 1)
    longer = checkpoint(ledger, tmp_path / "later.txt")
    back_up(ledger, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy")
    (ledger / "checkpoint-9999.txt").write_text(longer.read_text().replace(f"\n{verify(ledger).entries}\n", "\n9999\n"))
    back_up(ledger, tmp_path / "copy")
    assert ["checkpoint-5.txt"] == [path.name for path in (tmp_path / "copy").glob("checkpoint-*")]


def test_a_full_disk_leaves_everything_as_it_was(ledger: Path, tmp_path: Path) -> None:
    """There is no room for the copy beside the ledger: the ledger stays, exit 74, and the same again works later."""
    back_up(ledger, tmp_path / "copy")
    before = verify(ledger)
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "from meterd.cli.main import main\n"
        f"main(['restore', {str(tmp_path / 'copy')!r}, {str(ledger)!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (74, True) == (done.returncode, "was not finished" in done.stderr), done.stderr
    assert before == verify(ledger)
    restore(tmp_path / "copy", ledger)
    assert verify(ledger).ok
