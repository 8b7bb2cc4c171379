"""A second verifier for ledgers of meterd: this one file, Python's standard library, no code shared with meterd.

    python3 second_verifier.py [--json] FOLDER | VOLUME…

It is written from ``schema/README.md`` alone, so that a fault of the first verifier is not repeated here. Copy it to
any machine with Python 3.11. It writes nothing.

For every entry of every volume, in order: types, numbers without a gap, canonical body, hash, chain, postings that sum
to zero, and every value an entry stores about a level or a pool against the sums of the postings so far. What it prints
besides (meter, reserve, overflow, seed of the house, what is owed for awards, liability of each link) is summed from
the postings by this file.

Exit codes: 0 all of it holds, 1 something does not (the first bad row is named), 2 wrong use.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

APPLICATION_ID = 0x4D455452  # "METR"
TEXTS = ["at_utc", "boot", "kind", "table_id", "link_id", "site", "actor", "device", "event_id", "body"]
COLUMNS = ["seq", "at_utc", "boot", "mono_ns", *TEXTS[2:], "prev", "hash"]
INTEGERS = {"seq", "mono_ns"}
BLOBS = {"prev", "hash"}
MAY_BE_NULL = {"table_id", "link_id", "device", "event_id"}

#: Per format: SHA-256 of the SQL of each table and trigger, as ``sqlite_schema`` shows it.
SHAPES: dict[int, dict[str, str]] = {
    1: {
        "table entry": "979d73050c764d87df6d0932d5c6991835eb7ffc79c58afe2e1fb972f22c81fd",
        "table posting": "a63e8be1e9850adde3644972257fd1ef3dedde34bded326d81d1fa45877ef60c",
        "trigger entry_continues": "22dccd92bd3e9b5bd980ee0c6f16526678be1fafcc7e52d701e8991bd4351da3",
        "trigger entry_no_delete": "417e2aa2f6242abc7858971da524fa936b043338c6d7ca17a678102b83d3684d",
        "trigger entry_no_update": "e88b63b41b519c046955a04a0a5ffe7f058b197d96fbcf44f6d2b1ca3eb3cf0c",
        "trigger posting_continues": "08bf2812b42411163962a9cedbb8912d5a592d3e58718282a797c10220a2539e",
        "trigger posting_no_delete": "59cbc5ec340c212a2ce5f8ce3b972171b33e94dd6477700da6ab8fa3b35967ca",
        "trigger posting_no_update": "b4c85c7c3fe010a0b927a2cdbe27a5028c3242ecf52fef5547627a86b5f73057",
    },
}


class BadError(Exception):
    """The first thing that does not hold. ``seq`` is None where a file as a whole is at fault."""

    def __init__(self, seq: int | None, reason: str) -> None:
        """Name the entry and say why."""
        super().__init__(reason)
        self.seq = seq
        self.reason = reason


class Entry(NamedTuple):
    """One row of ``entry`` as it stands, by column name, with its postings."""

    column: dict[str, Any]
    postings: list[tuple[Any, Any]]


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def volumes(paths: list[Path]) -> list[Path]:
    """The files of a ledger in order. A folder's volumes carry the number of their first entry in their names."""
    if len(paths) != 1 or not paths[0].is_dir():
        return paths
    numbered = []
    for path in paths[0].iterdir():
        match = re.fullmatch(r"ledger-([1-9][0-9]*)\.db", path.name)
        if match:
            numbered.append((int(match[1]), path))
    found = [path for _, path in sorted(numbered)]
    link = paths[0] / "ledger.db"
    if found and link.resolve() != found[-1].resolve():
        raise BadError(None, f"{link} does not lead to the newest volume, {found[-1].name}")
    return found


def connect(path: Path) -> sqlite3.Connection:
    """Open for reading only; also a file in a folder where SQLite may not make the index of a WAL that is not there."""
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True, isolation_level=None, timeout=10)
        try:
            connection.text_factory = bytes
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if options != "mode=ro" or path.with_name(path.name + "-wal").exists():
                raise
            continue
        except BaseException:
            connection.close()
            raise
        return connection
    raise AssertionError("the loop returns or raises")


def check_shape(connection: sqlite3.Connection) -> None:
    """The file is one of ours, and its tables and triggers are those of its format, no more and no less."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        raise BadError(None, f"this is no ledger of meterd (application_id {application_id})")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in SHAPES:
        raise BadError(None, f"format {version} is not one that this verifier knows")
    found = {}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"):
        found[f"{text(kind)} {text(name)}"] = hashlib.sha256(bytes(sql)).hexdigest()
    for what in sorted(SHAPES[version].keys() | found.keys()):
        if what not in found:
            raise BadError(None, f"the {what} is missing")
        if SHAPES[version].get(what) != found[what]:
            raise BadError(None, f"the {what} " + ("was changed" if what in SHAPES[version] else "is none of ours"))


def entries(connection: sqlite3.Connection) -> Iterator[Entry]:
    """The rows in order of ``seq``, each with its postings in the order they were written."""
    seq = None
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM entry ORDER BY seq")  # noqa: S608 - constants
    postings = connection.execute("SELECT seq, n, account, microcents FROM posting ORDER BY rowid")
    try:
        waiting = postings.fetchone()
        for row in rows:
            before, seq = seq, row[0]
            mine: list[tuple[Any, Any]] = []
            if waiting is not None and not isinstance(waiting[0], int):
                raise BadError(seq, "a posting behind the entry before has no whole number")
            if waiting is not None and waiting[0] < seq and (before is None or waiting[0] > before):
                raise BadError(waiting[0], "it has postings, but the entry itself is missing")
            while waiting is not None and waiting[0] == seq:
                if waiting[1] != len(mine) + 1:
                    raise BadError(seq, "its postings are not numbered 1, 2, 3 …")
                mine.append((waiting[2], waiting[3]))
                waiting = postings.fetchone()
            if waiting is not None and isinstance(waiting[0], int) and waiting[0] < seq:
                raise BadError(seq, f"a posting of entry {waiting[0]} stands behind its own")
            yield Entry(dict(zip(COLUMNS, row, strict=True)), mine)
        if waiting is not None:
            raise BadError(waiting[0], "it has postings, but the entry itself is missing")
    except sqlite3.Error as error:
        raise BadError(None if seq is None else seq + 1, f"it cannot be read: {error}") from error


def text(value: Any) -> str:
    """A text of SQLite, read as bytes so that bytes which are no UTF-8 can be blamed on their row."""
    return bytes(value).decode()


# ── one entry ────────────────────────────────────────────────────────────────────────────────────────────────────────


def netstring(value: bytes) -> bytes:
    """A field of the hash: its length, ``:``, the bytes, ``,``."""
    return str(len(value)).encode() + b":" + value + b","


def hash_of(entry: Entry) -> bytes:
    """The SHA-256 that the entry should carry."""
    digest = hashlib.sha256(netstring(b"meterd-entry-v1"))
    for name in COLUMNS[:-1]:
        value = entry.column[name]
        if value is None:
            digest.update(b"-,")
        elif name in INTEGERS:
            digest.update(netstring(str(value).encode()))
        else:
            digest.update(netstring(bytes(value)))
    for account, microcents in entry.postings:
        digest.update(netstring(bytes(account)) + netstring(str(microcents).encode()))
    return digest.digest()


def check_types(entry: Entry, known: set[bytes]) -> None:
    """Every column is of its type, and every text is UTF-8. ``known`` holds short texts that were looked at before."""
    seq = entry.column["seq"]
    for name in sorted(INTEGERS):
        if type(entry.column[name]) is not int:
            raise BadError(seq if type(seq) is int else None, f"{name} is no whole number")
    for name in sorted(BLOBS):
        value = entry.column[name]
        if type(value) is not bytes or len(value) != hashlib.sha256().digest_size:
            raise BadError(seq, f"{name} is not what belongs there")
    for name in TEXTS:
        if entry.column[name] is not None or name not in MAY_BE_NULL:
            _require_text(seq, name, entry.column[name], known)
    for account, microcents in entry.postings:
        _require_text(seq, "the account of a posting", account, known)
        if type(microcents) is not int:
            raise BadError(seq, "the amount of a posting is no whole number")


def _require_text(seq: int, name: str, value: Any, known: set[bytes]) -> None:
    if value in known:
        return
    if type(value) is not bytes:
        raise BadError(seq, f"{name} is no text")
    try:
        value.decode()
    except UnicodeDecodeError as error:
        raise BadError(seq, f"{name} is no text in UTF-8") from error
    if name != "body":
        known.add(value)


def facts_of(entry: Entry) -> dict[str, Any]:
    """The body, which must be a JSON object in its one canonical form."""
    seq = entry.column["seq"]
    written = entry.column["body"].decode()
    try:
        facts = json.loads(written, parse_float=_no_number, parse_constant=_no_number)
        again = json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise BadError(seq, f"the body is no JSON: {error}") from error
    if not isinstance(facts, dict) or again != written:
        raise BadError(seq, "the body is not canonical JSON")
    return facts


def _no_number(found: str) -> NoReturn:
    raise ValueError(f"{found} is not a whole number")


# ── the money ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Money:
    """Sums of all postings so far, and what only facts tell: the seed that stands in a level, the link of an award."""

    def __init__(self) -> None:
        """Begin before entry 1."""
        self.balance: dict[str, int] = defaultdict(int)
        self.standing: dict[str, int] = {}
        self.owner: dict[str, str] = {}

    def take(self, entry: Entry, facts: dict[str, Any]) -> None:
        """Add the postings of one entry and compare what it says about levels and pools."""
        seq, link = entry.column["seq"], entry.column["link_id"]
        moved = set()
        total = 0
        for name, microcents in entry.postings:
            account = name.decode()
            if account in moved:
                raise BadError(seq, f"two postings name {account}")
            moved.add(account)
            total += microcents
            self.balance[account] += microcents
            if account.startswith("payable/") and link is not None:
                self.owner.setdefault(account, link.decode())
        if total != 0:
            raise BadError(seq, f"its postings sum to {total} microcents, not to zero")
        try:
            self._compare(seq, moved, facts.get("levels", {}), facts.get("pools", {}))
        except (AttributeError, TypeError, KeyError) as error:
            raise BadError(seq, "what it stores about levels or pools has not the form that it should have") from error

    def _compare(self, seq: int, moved: set[str], levels: dict[str, Any], pools: dict[str, Any]) -> None:
        for account in moved:
            kind, _, key = account.partition("/")
            if key not in {"meter": levels, "reserve": levels, "overflow": levels, "pool": pools}.get(kind, {key}):
                raise BadError(seq, f"it moves {account} and does not store what is there afterwards")
        for key, stored in levels.items():
            for kind, name in (("meter", "display"), ("reserve", "reserve"), ("overflow", "overflow")):
                self._same(seq, f"{kind}/{key}", stored[f"{name}_microcents"])
            self.standing[key] = stored.get("standing_seed_microcents", self.standing.get(key, 0))
        for key, stored in pools.items():
            self._same(seq, f"pool/{key}", stored["microcents"])

    def _same(self, seq: int, account: str, stored: int) -> None:
        if self.balance.get(account, 0) != stored:
            raise BadError(seq, f"{account}: stored {stored}, by the postings {self.balance.get(account, 0)}")

    def levels(self) -> dict[str, dict[str, int]]:
        """Of each level: meter, reserve, overflow, seed that stands in it, and what the house laid out for seeds."""
        get = self.balance.get
        return {
            key: {
                "display_microcents": get(f"meter/{key}", 0),
                "reserve_microcents": get(f"reserve/{key}", 0),
                "overflow_microcents": get(f"overflow/{key}", 0),
                "standing_seed_microcents": standing,
                "house_seed_microcents": get(f"house/seed/{key}", 0),
            }
            for key, standing in self.standing.items()
        }

    def liability(self) -> dict[str, int]:
        """What the house owes the players of each link: meters above their seeds, reserves, overflow, awards, pools."""
        owed: dict[str, int] = defaultdict(int)
        for account, microcents in self.balance.items():
            kind, _, rest = account.partition("/")
            if kind in {"meter", "reserve", "overflow", "pool", "unclaimed"}:
                owed[rest.partition("/")[0]] += microcents
            elif kind == "payable":
                owed[self.owner.get(account, "?")] += microcents
        for key, standing in self.standing.items():
            owed[key.partition("/")[0]] -= standing
        return dict(sorted(owed.items()))

    def payable(self) -> int:
        """What is owed for awards that were accepted and not yet paid."""
        return sum(amount for account, amount in self.balance.items() if account.startswith("payable/"))


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Ledger:
    """Takes volumes one by one. ``entries`` and ``head`` tell what held so far."""

    def __init__(self) -> None:
        """Begin before entry 1."""
        self.entries = 0
        self.head = bytes(hashlib.sha256().digest_size)
        self.money = Money()
        self._known: set[bytes] = set()

    def take_volume(self, path: Path) -> None:
        """Check one file. A row that does not hold is named before a fault of the file as a whole."""
        try:
            connection = connect(path)
        except (sqlite3.Error, OSError) as error:
            raise BadError(None, f"it cannot be read: {error}") from error
        with closing(connection):
            shape = None
            try:
                check_shape(connection)
            except (sqlite3.Error, TypeError, UnicodeDecodeError) as error:
                shape = BadError(None, f"its schema cannot be read: {error}")
            except BadError as bad:
                shape = bad
            try:
                for entry in entries(connection):
                    self.take(entry)
            except (sqlite3.Error, TypeError) as error:
                raise shape or BadError(None, f"it cannot be read: {error}") from error
            except BadError as bad:
                if bad.seq is not None or shape is None:
                    raise
            if shape is not None:
                raise shape

    def take(self, entry: Entry) -> None:
        """Check one entry behind those before it."""
        check_types(entry, self._known)
        seq = entry.column["seq"]
        if seq != self.entries + 1:
            raise BadError(self.entries + 1, f"it is missing or not in its place: entry {seq} stands there")
        if entry.column["prev"] != self.head:
            raise BadError(seq, f"prev is not the hash of entry {seq - 1}")
        if entry.column["hash"] != hash_of(entry):
            raise BadError(seq, "the hash does not match: the entry or its postings were changed")
        self.money.take(entry, facts_of(entry))
        self.entries, self.head = seq, entry.column["hash"]


def report(ledger: Ledger, bad: BadError | None, file: Path | None) -> dict[str, Any]:
    """What ``--json`` prints; its first keys are those of ``meterd ledger verify --json``."""
    return {
        "ok": bad is None,
        "entries": ledger.entries,
        "head": ledger.head.hex(),
        "first_bad": None if bad is None else {"file": str(file), "seq": bad.seq, "reason": bad.reason},
        "levels": ledger.money.levels(),
        "liability_microcents": ledger.money.liability(),
        "payable_microcents": ledger.money.payable(),
        "residual_microcents": sum(ledger.money.balance.values()),
    }


def check(paths: list[Path]) -> dict[str, Any]:
    """Check a ledger and say what was found. Whatever the files hold, this returns."""
    ledger = Ledger()
    file = paths[0]
    try:
        for file in volumes(paths):
            ledger.take_volume(file)
    except BadError as bad:
        return report(ledger, bad, file)
    except Exception as error:  # noqa: BLE001 - an unforeseen kind of damage is a finding, not a traceback
        return report(ledger, BadError(None, f"{type(error).__name__}: {error}"), file)
    return report(ledger, None if ledger.entries else BadError(None, "there is no entry here"), file)


def words(found: dict[str, Any]) -> str:
    """The report for people; amounts in whole cents, rounded towards zero."""
    lines = []
    bad = found["first_bad"]
    if bad is None:
        lines.append(f"ok: {found['entries']} entries hold; head {found['head']}")
    else:
        row = "the file" if bad["seq"] is None else f"entry {bad['seq']}"
        lines.append(f"NOT OK: {bad['file']}: {row}: {bad['reason']}")
        lines.append(f"{found['entries']} entries hold before it; head {found['head']}")
    for key, level in found["levels"].items():
        figures = ", ".join(f"{name.removesuffix('_microcents')} {money(value)}" for name, value in level.items())
        lines.append(f"  {key}: {figures}")
    for link, owed in found["liability_microcents"].items():
        lines.append(f"  owed to the players of {link}: {money(owed)}")
    return "\n".join(lines)


def money(microcents: int) -> str:
    """Whole cents of an amount, towards zero: ``-1,234.56``."""
    cents = abs(microcents) // 1_000_000
    return f"{'-' if microcents < 0 else ''}{cents // 100:,}.{cents % 100:02}"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FOLDER|VOLUME")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    for path in options.paths:
        if not path.exists():
            parser.error(f"{path} does not exist")
    found = check(options.paths)
    print(json.dumps(found) if options.json else words(found))
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
