"""A small real ledger for the tests of verify, and the tools of somebody who tampers with one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    Command,
    Confirm,
    CreateLedger,
    DefineTable,
    EndGame,
    Lock,
    OpenLink,
    OpenTable,
    Role,
    SetSite,
    Void,
    WagerSeen,
)
from meterd.accounting.settings import (
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.app.commit import Committer, Stamp, draft_entry
from meterd.app.create import create_with
from meterd.edge.files import load_paytables
from meterd.edge.store import Store, read_records
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Draft, Record

DEALER = Actor("dealer@T1", Role.DEALER)
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)


def opening() -> list[Command]:
    """A site with one link of three levels and two tables."""
    levels = tuple(
        LevelSettings(
            name,
            seed,
            rate,
            30_000 if name == "mega" else None,
            ResetMode.SEED_PLUS_RESERVE,
            Ties.SEQUENTIAL,
            Floor.NONE,
        )
        for name, seed, rate in (("mega", 5_000_000, 120_000), ("major", 500_000, 50_000), ("minor", 50_000, 20_000))
    )
    link = LinkSettings("nexus", 100, 1, load_paytables()["co/nexus/pmg-ml-02"], levels)
    return [
        CreateLedger(actor=SYSTEM, site="riverside", currency="USD", demo=False),
        SetSite(actor=SYSTEM, settings=SiteSettings("riverside")),
        OpenLink(actor=SYSTEM, settings=link),
        *(DefineTable(actor=SYSTEM, settings=TableSettings(t, "nexus", "let-it-ride", 7)) for t in ("T1", "T2")),
    ]


def a_few_rounds() -> list[Command]:
    """Rounds with and without awards, an award confirmed, one voided, a refusal."""
    commands: list[Command] = [OpenTable(actor=SYSTEM, table=table) for table in ("T1", "T2")]
    for n in range(4):
        for table in ("T1", "T2"):
            wagers = tuple(WagerSeen(seat) for seat in range(1, 5 + n % 3))
            commands.append(Lock(actor=DEALER, table=table, wagers=wagers))
            if n == 1:
                commands.append(Claim(actor=DEALER, table=table, seat=2, hand="royal-flush"))
                award = "A1" if table == "T1" else "A2"
                ends: Command = (
                    Confirm(actor=SUPERVISOR, award=award)
                    if table == "T1"
                    else Void(actor=SUPERVISOR, award=award, reason="misread")
                )
                commands.append(ends)
            commands.append(Claim(actor=DEALER, table=table, seat=7, hand="royal-flush"))
            commands.append(EndGame(actor=DEALER, table=table))
    return commands


def write_ledger(folder: Path, commands: Iterable[Command] | None = None) -> Path:
    """Make a ledger and commit what these commands lead to; the path of its volume."""
    create_with(folder, opening())
    with closing(Store.open(folder)) as store:
        book = Book()
        for record in store.records():
            book.apply(record.seq, record.at_utc, draft_entry(record))
        clock = iter(range(1, 10**9))

        def now() -> Stamp:
            n = next(clock)
            return Stamp(f"2026-12-01T13:00:00.{n:06d}Z", "boot-1", n)

        committer = Committer(book, store, now)
        for command in a_few_rounds() if commands is None else commands:
            committer.decide(command)
            committer.commit()
    return folder / "ledger-1.db"


def tamper(path: Path, *statements: str, keep: bool = False) -> None:
    """Change a file as root can: triggers away, statements, then (unless ``keep``) the triggers back word for word."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in [] if keep else triggers:
            connection.execute(sql)
        connection.commit()


def forge(path: Path, change: Callable[[Record], Record | None]) -> None:
    """The most that somebody with the file can do: change rows and hash the whole chain anew."""
    records = list(read_records(path))
    forged: list[Record] = []
    for record in records:
        changed = change(record)
        if changed is not None:
            draft = Draft(*changed[1:12], changed.postings)
            forged.append(seal(draft, len(forged) + 1, forged[-1].hash if forged else GENESIS))
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM posting")
        connection.execute("DELETE FROM entry")
        for record in forged:
            for n, (account, amount) in enumerate(record.postings, 1):
                connection.execute("INSERT INTO posting VALUES (?, ?, ?, ?)", (record.seq, n, account, amount))
            connection.execute("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", record[:14])
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
