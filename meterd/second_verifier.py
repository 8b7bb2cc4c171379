"""A second verifier for ledgers of meterd: this one file, Python's standard library, no code shared with meterd.

    python3 second_verifier.py [--since CHECKPOINT]… [--key KEY]… [--json] FOLDER | VOLUME…
    python3 second_verifier.py [--since CHECKPOINT]… [--key KEY]… [--json] --proof PROOF.json | --pack PACK.json

It is written from ``schema/README.md`` alone, so that a fault of the first verifier is not repeated here. Copy it to
any machine with Python 3.11. It writes nothing.

For every entry of every volume, in order: types, numbers without a gap, canonical body, hash, chain, postings that sum
to zero, and every value an entry stores about a level or a pool against the sums of the postings so far. The books that
volumes carry over are compared with those sums, their trees with the hashes, and each checkpoint (those in the folder
and those given) with the root at its size. What it prints besides (meter, reserve, overflow, seed of the house, what
is owed for awards, liability of each link) is summed from the postings by this file.

A checkpoint is only worth as much as its signature: give the key you were told with ``--key``; without it the keys are
those that the ledger itself says were in force.

Exit codes: 0 all of it holds, 1 something does not (the first bad row is named), 2 wrong use, or no answer written.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import sqlite3
import stat
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn

APPLICATION_ID = 0x4D455452  # "METR"
TEXTS = ["at_utc", "boot", "kind", "table_id", "link_id", "site", "actor", "device", "event_id", "body"]
COLUMNS = ["seq", "at_utc", "boot", "mono_ns", *TEXTS[2:], "prev", "hash"]
INTEGERS = {"seq", "mono_ns"}
BLOBS = {"prev", "hash"}
MICROCENTS = 1_000_000  # of a cent
MOMENT = re.compile("[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}[.][0-9]{6}Z")
LEVEL_PARTS = {"display": "meter", "reserve": "reserve", "overflow": "overflow"}
MAY_BE_NULL = {"table_id", "link_id", "device", "event_id"}

#: SHA-256 of the SQL of each table and trigger, as ``sqlite_schema`` shows it. The same in both formats.
SHAPE = {
    "table entry": "979d73050c764d87df6d0932d5c6991835eb7ffc79c58afe2e1fb972f22c81fd",
    "table posting": "a63e8be1e9850adde3644972257fd1ef3dedde34bded326d81d1fa45877ef60c",
    "trigger entry_continues": "22dccd92bd3e9b5bd980ee0c6f16526678be1fafcc7e52d701e8991bd4351da3",
    "trigger entry_no_delete": "417e2aa2f6242abc7858971da524fa936b043338c6d7ca17a678102b83d3684d",
    "trigger entry_no_update": "e88b63b41b519c046955a04a0a5ffe7f058b197d96fbcf44f6d2b1ca3eb3cf0c",
    "trigger posting_continues": "08bf2812b42411163962a9cedbb8912d5a592d3e58718282a797c10220a2539e",
    "trigger posting_no_delete": "59cbc5ec340c212a2ce5f8ce3b972171b33e94dd6477700da6ab8fa3b35967ca",
    "trigger posting_no_update": "b4c85c7c3fe010a0b927a2cdbe27a5028c3242ecf52fef5547627a86b5f73057",
}
FORMATS = {1, 2}

#: What each kind of entry tells: ``Kind [$] facts… [| facts…]``. ``$``: it may move money; behind the bar: what may be
#: missing. Any entry may tell who asked for it (``asked``).
KINDS = """
Adjusted $ cents from_microcents level levels reference second shifts
Adjustment $ amount_cents award hand reference round seat second | awards_left limits
BaseRunner $ count paid_cents pools runners seat
BetsReturned $ cents pools seat
BookCarried balances book day format keys levels origin pools sealed tree
Capped $ amount_cents award cuts from_cents parts player_cents table_cents
CapsPosted from_utc player_cents reference second table_cents | tip_cents
Claimed $ amount_cents award awards envy_cents flags hand late levels marks parts round seat signs units | cards chip_cents out_of_order_after
ClockStep now_utc step_ms
CommonClaimed $ awards claims hand levels marks round | cards
Confirmed $ award awards by envy envy_cents marks verified | cards envy_waits second toke_cents tokes
Corrected $ award awards before envy_cents hand late levels marks seat sent shifts units was
Correction $ amount_cents award levels reference second was
CountMismatch accepted
DayConfirmed day reference second was
DayRead day left levels links moved next_day pools since_seq since_utc tables
DeviceLost cause heard | device found
DeviceTrusted counts epoch modulus
Discontinued $ levels moved_microcents reference second shifts target top_award_won was | licensee
Disposed $ amount_cents award reference second shifts to | levels
Folded round seat
FundClosed $ paid pools
FundOpened settings sha256
FundReopened at_utc
GameEnded $ envy envy_cents open_awards round toke_cents tokes was | envy_waits
GameWin amount_cents level link raw said sas_group sas_level
HandSplit $ cents means round seat units
HandWon $ pools returned_cents seat to_pool_cents
Held award | verified
Joined round seats
KeySet key reference replaces second
LateBet ms_max ms_min round seat
LedgerCreated currency demo format site
LimitSet level limit_cents overflow reference second was
LinkOpened $ levels settings sha256
LinkResumed reference second was
LinkSuspended reason
Locked $ round wagers | landed levels over sent
MissedWhileAway epoch inputs modulus
NoticeGiven reference second until_utc
NumberKeyed ended hand length number numbers round
Paid $ amount_cents award cashier method payee payee_sha256 slip
PoolTransferred $ from game_ended microcents pools reference second to
PoolWinUndone $ awards pools postings_restored reference second win
PoolWon $ awards before pool pools posted_cents second shares source win
Posted $ at_utc gaming_day pools reseeded | days_missed
PotBets $ cents pools seats
PotUndone $ came_back paid_cents pools rake_cents reference runners second
PotWon $ paid pools rake_cents rolls_over_cents
Raked $ cents pools | at_table seats
Refused command detail keyed refusal | round step
Released $ cents level levels part reference second shifts
Restored backup entries lost reference verified_at_utc | second
Revalued amount_cents award because from_cents
RolledOver $ paid percent_ppm pools rake_cents rolls_over_cents
RulesEased findings paytable reference second sha256 verdict was
RunnersReturned count runners seat
SeedRecovered $ cents level levels reference second shifts
ShareDisposed $ amount_cents award reference second to | pools
SharePaid $ amount_cents award cashier method slip
ShareUnclaimed $ amount_cents award since
SiteSet settings | reference second was
SpinVoided ended hand length number numbers round
Started | boot site_sha256 version
Stopped | heard
StrikeOuts $ cents pools seats
TableChanged reference second settings was
TableClosed needs_end_game reason was
TableDefined settings
TableOpened
TipPaid $ amount_cents award cut_cents limit_cents seat tip_cents | second
TipUndone $ amount_cents award reason seat second
Transferred $ cents level levels reference second shifts target
Unclaimed $ amount_cents award confirmed_at_utc
UnreasonableContribution detail | command keyed reason refusal round step
Voided $ amount_cents award awards before levels marks reason second sent shifts
WagerVoided $ cents levels round seats
"""  # noqa: E501 - a line is a kind

#: What a level counts beside its money, as the book names it, and as an entry does where that is another name.
COUNTS = ("standing", "resets", "hits", "won_cents", "adjusted")
COUNTED = {"standing": "standing_seed_microcents", "adjusted": "adjusted_microcents"}
#: Kinds that are of the round in which their table is.
IN_A_ROUND = {"Locked", "LateBet", "GameEnded", "Folded", "WagerVoided", "HandSplit", "NumberKeyed"}
#: What a book tells of an award that an entry tells too, beside what became of it.
AWARD = ("link", "table", "round", "seat", "hand", "units", "amount_cents", "keyed_by", "at_utc")

#: The names in the book that a volume begins with.
BOOK = {"site_id", "currency", "demo", "gone_awards", "gone_shares", "site", "links", "funds"}
BOOK |= {"tables", "awards", "open_awards", "devices", "fund_awards", "open_shares"}


def _kinds() -> dict[str, tuple[bool, set[str], set[str]]]:
    found = {}
    for line in KINDS.strip().splitlines():
        always, _, may = line.partition("|")
        kind, *names = always.split()
        found[kind] = "$" in names, set(names) - {"$"}, {*may.split(), "asked"}
    return found


FACTS = _kinds()


class BadError(Exception):
    """The first thing that does not hold. ``seq`` is None where a file as a whole is at fault."""

    def __init__(self, seq: int | None, reason: str) -> None:
        """Name the entry and say why."""
        super().__init__(reason)
        self.seq = seq
        self.reason = reason


class Text(bytes):
    """A text of SQLite as its bytes: so it is told from a blob, and bytes that are no UTF-8 are blamed on their row."""


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
        # A change of volumes that is under way, or was cut short, has come to no more than the first entry.
        before, entries = found[-2:-1], _entries_in(found[-1])
        if entries > 1 or link.resolve() not in [path.resolve() for path in before]:
            raise BadError(None, f"{link} does not lead to the newest volume, {found[-1].name}")
        return found if entries else found[:-1]
    return found


def _entries_in(path: Path) -> int:
    """How many entries can be read from a file."""
    try:
        connection = connect(path)
    except (sqlite3.Error, OSError, BadError):
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM entry").fetchone()[0])
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open for reading only; also a file in a folder where SQLite may not make the index of a WAL that is not there."""
    require_file(path)
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True, isolation_level=None, timeout=10)
        try:
            connection.text_factory = Text
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


def require_file(path: Path) -> None:
    """A pipe would be waited for."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise BadError(None, f"{path} is no regular file")


def text_of(path: Path) -> str:
    """What a file of text says."""
    require_file(path)
    return path.read_text(encoding="utf-8")


def check_shape(connection: sqlite3.Connection) -> None:
    """The file is one of ours, and its tables and triggers are those of its format, no more and no less."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        raise BadError(None, f"this is no ledger of meterd (application_id {application_id})")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in FORMATS:
        raise BadError(None, f"format {version} is not one that this verifier knows")
    found = {}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"):
        found[f"{kind.decode()} {name.decode()}"] = hashlib.sha256(sql).hexdigest()
    for what in sorted(SHAPE.keys() | found.keys()):
        if what not in found:
            raise BadError(None, f"the {what} is missing")
        if SHAPE.get(what) != found[what]:
            raise BadError(None, f"the {what} " + ("was changed" if what in SHAPE else "is none of ours"))


def entries(connection: sqlite3.Connection) -> Iterator[Entry]:
    """The rows in order of ``seq``, each with its postings in the order they were written."""
    seq = None
    reading_postings = False
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
                reading_postings = True  # of this entry, or the first of the next
                waiting = postings.fetchone()
                reading_postings = False
            if waiting is not None and isinstance(waiting[0], int) and waiting[0] < seq:
                raise BadError(seq, f"a posting of entry {waiting[0]} stands behind its own")
            yield Entry(dict(zip(COLUMNS, row, strict=True)), mine)
        if waiting is not None:
            raise BadError(waiting[0], "it has postings, but the entry itself is missing")
    except sqlite3.Error as error:
        unread = None if seq is None else seq + (not reading_postings)
        raise BadError(unread, f"it or its postings cannot be read: {error}") from error


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


def check_types(seq: int, entry: Entry, known: set[bytes]) -> None:
    """Every column of what should be entry ``seq`` is of its type, every text UTF-8; ``known`` are such texts."""
    for name in sorted(INTEGERS):
        if type(entry.column[name]) is not int:
            raise BadError(seq, f"{name} is no whole number")
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
    if type(value) is not Text:
        raise BadError(seq, f"{name} is no text")
    if value in known:
        return
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


def check_facts(seq: int, entry: Entry, facts: dict[str, Any], site: bytes) -> None:
    """The entry is of a kind that there is, tells what such a one tells, and moves money only where such a one does."""
    kind = entry.column["kind"].decode()
    if kind not in FACTS:
        raise BadError(seq, f"{kind!r} is no kind of entry")
    money, always, may = FACTS[kind]
    if kind == "Confirmed" and facts.get("by") == "supervisor":
        always = always | {"second", "toke_cents", "tokes"}
    missing, unknown = sorted(always - facts.keys()), sorted(facts.keys() - always - may)
    if missing:
        raise BadError(seq, f"{kind} without {', '.join(missing)}")
    if unknown:
        raise BadError(seq, f"{kind} tells nothing of {', '.join(unknown)}")
    if entry.postings and not money:
        raise BadError(seq, f"{kind} moves no money")
    if not MOMENT.fullmatch(entry.column["at_utc"].decode()):
        raise BadError(seq, "at_utc is no moment such as 2026-12-01T13:00:00.000000Z")
    if entry.column["site"] != site:
        raise BadError(seq, f"it is of another site than the ledger, which is that of {site.decode()!r}")


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

    @staticmethod
    def of_one(entry: Entry, facts: dict[str, Any]) -> None:
        """What can be said of one entry without those before it: its postings sum to zero, each account once."""
        names = [name.decode() for name, _ in entry.postings]
        total = sum(microcents for _, microcents in entry.postings)
        if len(set(names)) != len(names) or total or not isinstance(facts.get("levels", {}), dict):
            raise BadError(entry.column["seq"], "its postings do not sum to zero, or two of them name one account")

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


# ── tree, checkpoints, signatures ────────────────────────────────────────────────────────────────────────────────────


class Tree:
    """The Merkle tree of RFC 6962 over the hashes of all entries, kept as its whole subtrees from the left."""

    def __init__(self) -> None:
        """Begin with no leaf."""
        self.size = 0
        self.subtrees: list[bytes] = []

    def add(self, entry_hash: bytes) -> None:
        """One more leaf."""
        node = hashlib.sha256(b"\x00" + entry_hash).digest()
        for _ in range((self.size ^ (self.size + 1)).bit_length() - 1):
            node = above(self.subtrees.pop(), node)
        self.subtrees.append(node)
        self.size += 1

    def root(self) -> bytes:
        """The root over all leaves."""
        if not self.subtrees:
            return hashlib.sha256().digest()
        *others, root = self.subtrees
        for left in reversed(others):
            root = above(left, root)
        return root


def above(left: bytes, right: bytes) -> bytes:
    """The node above two others."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_by_path(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root that a leaf's inclusion path leads to (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        raise BadError(None, f"there is no leaf {index} in a tree of {size}")
    here, last, node = index, size - 1, leaf
    for step in path:
        if last == 0:
            raise BadError(None, "the path is longer than the tree is high")
        if here & 1 or here == last:
            node = above(step, node)
            while not here & 1 and here:
                here, last = here >> 1, last >> 1
        else:
            node = above(node, step)
        here, last = here >> 1, last >> 1
    if last:
        raise BadError(None, "the path is shorter than the tree is high")
    return node


class Checkpoint(NamedTuple):
    """A signed note: of the ledger ``origin`` so many entries have this root. ``by`` are the keys that signed it."""

    origin: str
    size: int
    root: bytes
    by: list[str]


def read_checkpoint(stored: str, keys: list[str]) -> Checkpoint:
    """A signed note (C2SP), held against keys of the form ``name+id+base64``."""
    text, blank, signatures = stored.rpartition("\n\n")
    lines = text.split("\n")
    if not blank or len(lines) < 3 or not lines[1].isdecimal():
        raise BadError(None, "this is no checkpoint: three lines, a blank one, signatures")
    by = []
    for line in signatures.splitlines():
        match = re.fullmatch("\u2014 (\\S+) (\\S+)", line)
        if match is None:
            raise BadError(None, f"{line!r} is no signature")
        signature = decoded(match[2])
        for key in keys:
            name, identity, public = key_of(key)
            if (name, identity) == (match[1], signature[:4]):
                if not ed25519_holds(public, signature[4:], f"{text}\n".encode()):
                    raise BadError(None, f"the signature of {name} under the checkpoint does not hold")
                by.append(key)
    if not by:
        raise BadError(None, "no key that is known has signed this checkpoint (give yours with --key)")
    return Checkpoint(lines[0], int(lines[1]), decoded(lines[2]), by)


def key_of(written: str) -> tuple[str, bytes, bytes]:
    """Name, identity and public key of a key as it is written down."""
    name, _, rest = written.strip().partition("+")
    identity, _, data = rest.partition("+")
    raw = decoded(data)
    expected = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if len(raw) != 33 or raw[0] != 1:
        raise BadError(None, f"{written!r} is no Ed25519 key of the form name+id+base64")
    if identity != expected.hex():
        told = f"its name and the rest of it have the id {expected.hex()}, not {identity}"
        raise BadError(None, f"{written!r}: {told}: a character was mistyped, somewhere in it")
    return name, expected, raw[1:]


def decoded(data: str) -> bytes:
    """Base64, without other spellings."""
    try:
        raw = base64.b64decode(data, validate=True)
    except ValueError as error:
        raise BadError(None, f"{data!r} is no base64") from error
    if base64.b64encode(raw).decode() != data:
        raise BadError(None, f"{data!r} is no base64")
    return raw


P = 2**255 - 19  # the field of Curve25519
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]


def ed25519_holds(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether an Ed25519 signature holds (RFC 8032, 5.1.7). Nothing here is secret, so nothing need take equal time."""
    if len(signature) != 64:
        return False
    key, commitment = _point(public), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + data).digest(), "little") % ORDER
    base = _point(bytes.fromhex("58" + "66" * 31))
    assert base is not None  # noqa: S101 - a constant of the curve
    x, y, z, _ = _times(scalar, base)
    u, v, w, _ = _sum(commitment, _times(challenge, key))
    return (x * w - u * z) % P == 0 and (y * w - v * z) % P == 0


def _sum(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(scalar: int, point: Point) -> Point:
    found: Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            found = _sum(found, point)
        point = _sum(point, point)
        scalar >>= 1
    return found


def _point(data: bytes) -> Point | None:
    """The point that 32 bytes stand for."""
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return x, y, 1, x * y % P


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Ledger:
    """Takes volumes one by one. ``entries`` (the number of the last) and ``head`` tell what held so far."""

    def __init__(self, keys: list[str]) -> None:
        """Begin before entry 1. ``keys`` are those somebody vouched for; else the ledger's own are believed."""
        self.first = 1
        self.entries = 0
        self.head = bytes(hashlib.sha256().digest_size)
        self.money = Money()
        self.tree = Tree()
        self.origin: str | None = None
        self.roots: dict[int, bytes] = {}
        self.wanted: set[int] = set()
        self._vouched = keys
        self._keys: list[tuple[int, str]] = []  # each with the entry that put it in force, or carried it over
        self._reading: dict[str, Any] | None = None  # the facts of the day's reading that is the last entry
        self._day = ""
        self._tables: set[str] = set()
        self._began: tuple[int, str, dict[str, int]] = (1, "", {})  # this volume: first entry, its time, the balances
        self._known: set[bytes] = set()
        self._site: bytes | None = None
        self._book = Followed()

    @property
    def keys(self) -> list[str]:
        """The keys that a checkpoint may be signed with."""
        return self._vouched or [key for _, key in self._keys]

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
            except (sqlite3.Error, AttributeError, TypeError, UnicodeDecodeError) as error:
                shape = BadError(None, f"its schema cannot be read: {error}")
            except BadError as bad:
                shape = bad
            named = re.fullmatch(r"ledger-([1-9][0-9]*)\.db", path.name)
            try:
                for place, entry in enumerate(entries(connection)):
                    self.take(entry, first_of_file=place == 0)
                    if place == 0 and named and int(named[1]) != self.entries and shape is None:
                        shape = BadError(None, f"it is named so and begins with entry {self.entries}")
            except (sqlite3.Error, TypeError) as error:
                raise shape or BadError(None, f"it cannot be read: {error}") from error
            except BadError as bad:
                if bad.seq is not None or shape is None:
                    raise
            if shape is not None:
                raise shape

    def take(self, entry: Entry, *, first_of_file: bool) -> None:
        """Check one entry behind those before it."""
        alone = self.entries == 0 and first_of_file and entry.column["kind"] == b"BookCarried"
        seq = entry.column["seq"] if alone and type(entry.column["seq"]) is int else self.entries + 1
        check_types(seq, entry, self._known)
        if entry.column["seq"] != seq:
            raise BadError(seq, f"it is missing or not in its place: entry {entry.column['seq']} stands there")
        if entry.column["prev"] != self.head and not alone:
            raise BadError(seq, f"prev is not the hash of entry {seq - 1}")
        if entry.column["hash"] != hash_of(entry):
            raise BadError(seq, "the hash does not match: the entry or its postings were changed")
        facts = facts_of(entry)
        check_facts(seq, entry, facts, self._site or entry.column["site"])
        self._site = entry.column["site"]
        try:
            self._borders(seq, entry, facts, first_of_file=first_of_file, alone=alone)
            self.money.take(entry, facts)
            if self._reading is not None:
                self._read(seq, self._reading)
            if (wrong := self._book.take(entry, facts) or self._worth(entry, facts)) is not None:
                raise BadError(seq, wrong)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadError(seq, "what it tells of the ledger has not the form that it should have") from error
        if kind_of((entry, facts)) == "BookCarried":
            self._began = (seq, entry.column["at_utc"].decode(), dict(self.money.balance))
        self.entries, self.head = seq, entry.column["hash"]
        self.tree.add(self.head)
        if seq == 1:
            site = re.sub(r"[^A-Za-z0-9._-]+", "-", entry.column["site"].decode())
            self.origin = f"meterd/{site}/{self.head[:8].hex()}"
        if self.tree.size in self.wanted:
            self.roots[self.tree.size] = self.tree.root()

    def _borders(self, seq: int, entry: Entry, facts: dict[str, Any], *, first_of_file: bool, alone: bool) -> None:
        """A ledger begins once, and a volume ends with the day's reading and begins with the book it goes on with."""
        kind = entry.column["kind"].decode()
        if (kind == "LedgerCreated") != (seq == 1):
            raise BadError(seq, f"a ledger begins with LedgerCreated and holds no other; this is {kind}")
        sealed = self._reading is not None
        if (kind == "BookCarried") != (first_of_file and seq > 1) or (sealed and kind != "BookCarried"):
            raise BadError(seq, "a volume behind the first begins with BookCarried, behind the day's reading")
        if kind == "BookCarried":
            if not alone and not sealed:
                raise BadError(seq, "the volume before it was not closed by a day's reading")
            self._carried(seq, entry, facts, alone=alone)
        if kind == "TableDefined":
            self._tables.add(entry.column["table_id"].decode())
        if kind == "LedgerCreated" and (
            type(facts["format"]) is not int or facts["format"] not in FORMATS or facts["site"] != site_of(entry)
        ):
            raise BadError(seq, "it tells of another format or site than the ledger can be of")
        if kind == "KeySet":
            before = self._keys[-1][1] if self._keys else None
            key_of(facts["key"])
            if facts["key"] == before or facts["replaces"] != before:
                raise BadError(seq, f"it does not replace the key in force, {before}, by another")
            self._keys.append((seq, facts["key"]))
        if kind == "DayConfirmed" and not (is_day(facts["day"]) and facts["was"] == self._day):
            raise BadError(seq, f"the gaming day {facts['day']} is confirmed, and the one before it was {self._day}")
        self._reading = facts if kind == "DayRead" else None

    def _carried(self, seq: int, entry: Entry, facts: dict[str, Any], *, alone: bool) -> None:
        """The book that a volume begins with: the sums so far or, where no volume before is here, the beginning."""
        balances = {account: amount for account, amount in facts["balances"].items() if type(amount) is int}
        if len(balances) != len(facts["balances"]) or sum(balances.values()) != 0:
            raise BadError(seq, "the balances it carries over are no whole numbers that sum to zero")
        subtrees = [bytes.fromhex(node) for node in facts["tree"]["frontier"]]
        if alone:
            self.first = seq
            self.money.balance.update(balances)
            self.tree.size, self.tree.subtrees = facts["tree"]["size"], subtrees
            self.roots[self.tree.size] = self.tree.root()
            self._keys = [(seq, key) for key in facts["keys"]]
            self.origin = facts["origin"]
            self._began = (facts["sealed"]["first_seq"], "", {})
            self._day = facts["day"]
            self._reading = facts
            self._book.begin(facts)
        mine = {account: amount for account, amount in self.money.balance.items() if amount}
        sealed = {"first_seq": self._began[0], "last_seq": seq - 1, "head": entry.column["prev"].hex()}
        tree = {"size": seq - 1, "root": self.tree.root().hex(), "frontier": [one.hex() for one in self.tree.subtrees]}
        reading = self._reading or {}
        compared = {
            "format": facts["format"] == 2 and type(facts["format"]) is int,
            "number or hash of the last entry": same(facts["sealed"], sealed),
            "balances": balances == mine,
            "tree": same(facts["tree"], tree) and self.tree.size == seq - 1,
            "keys": facts["keys"] == [key for _, key in self._keys],
            "origin": facts["origin"] == self.origin,
            "day": facts["day"] == self._day,
            "levels": same(facts["levels"], reading["levels"])
            and accounts(mine, LEVEL_PARTS.values()) <= facts["levels"].keys(),
            "pools": same(facts["pools"], reading["pools"]) and pools_of(mine) <= facts["pools"].keys(),
        }
        for what, holds in compared.items():
            if not holds:
                raise BadError(seq, f"the {what} it carries over is not what the entries before make")
        if odd := self._book.unlike(facts["book"]):
            raise BadError(seq, f"of the book it carries over, {odd} is not what the entries before make")
        self._book.open_volume()

    def _worth(self, entry: Entry, facts: dict[str, Any]) -> str | None:
        """Whether what an entry tells in cents is what its postings move: a LOCK's wagers, what is owed for awards."""
        moved = {name.decode(): microcents for name, microcents in entry.postings}
        if entry.column["kind"] == b"Locked":
            cents = sum(one["cents"] for one in facts["wagers"])
            dropped = -moved.get(f"drop/{entry.column['table_id'].decode()}", 0)
            if dropped != cents * MICROCENTS:
                return f"its wagers come to {cents} cents, and {dropped} microcents were dropped"
        for account in moved:
            kind, _, name = account.partition("/")
            if kind == "payable" and (owed := self._book.owed(name)) is not None:
                held = self.money.balance[account]
                if held not in {owed * MICROCENTS, 0}:
                    return f"{name} is worth {owed} cents, and {held} microcents are owed for it"
        return None

    def _read(self, seq: int, facts: dict[str, Any]) -> None:
        """The reading of a gaming day tells what its postings have made, of everything there is."""
        since, since_utc, then = self._began
        now, get = self.money.balance, facts["moved"].get
        moved = {account: now[account] - then.get(account, 0) for account in now}
        owed = self.money.liability()
        tables = {"dropped": ("drop", -1), "paid": ("paid", 1), "house_hold": ("house/hold", 1)}
        tables["house_pays"] = ("house/pays", 1)
        compared = {
            "days": (self._day or facts["day"]) == facts["day"] < facts["next_day"]
            and is_day(facts["day"])
            and is_day(facts["next_day"]),
            "since_seq or since_utc": [facts["since_seq"], facts["since_utc"]] == [since, since_utc],
            "moved": same(facts["moved"], {account: amount for account, amount in moved.items() if amount}),
            "levels": facts["levels"].keys() == self.money.standing.keys(),
            "pools": pools_of(now) <= facts["pools"].keys(),
            "links": {key.partition("/")[0] for key in self.money.standing} <= facts["links"].keys(),
            "liability_microcents": self.first != 1
            or all(link["liability_microcents"] == owed.get(name, 0) for name, link in facts["links"].items()),
            "tables": self._tables <= facts["tables"].keys()
            and all(
                table[f"{part}_microcents"] == sign * get(f"{account}/{name}", 0)
                for name, table in facts["tables"].items()
                for part, (account, sign) in tables.items()
            ),
        }
        for what, holds in compared.items():
            if not holds:
                raise BadError(seq, f"{what} of the day's reading are not what the entries make")
        self._day = facts["next_day"]

    def hold(self, checkpoint: Checkpoint) -> None:
        """A checkpoint is true of this ledger, and a key signed it that the ledger had not replaced at its size."""
        if checkpoint.origin != self.origin:
            raise BadError(None, f"the checkpoint is of the ledger {checkpoint.origin}, this is {self.origin}")
        if checkpoint.size > self.entries:
            raise BadError(
                self.entries + 1, f"it is missing, and all behind it: a checkpoint proves {checkpoint.size} entries"
            )
        if checkpoint.size not in self.roots:
            raise BadError(None, f"the checkpoint of {checkpoint.size} entries is older than the volumes given here")
        if self.roots[checkpoint.size] != checkpoint.root:
            raise BadError(
                None, f"the first {checkpoint.size} entries are not those of the checkpoint: some were changed"
            )
        before = [key for seq, key in self._keys if seq <= checkpoint.size]
        if all(key in before[:-1] and key != before[-1] for key in checkpoint.by):
            raise BadError(None, f"it is signed with a key that the ledger had replaced before entry {checkpoint.size}")


class Followed:
    """What the entries make of the book that is carried over, as far as it follows from facts alone.

    Settings in force, of tables the round and the state, of links the wagers and what each level counts, of awards who
    keyed them and when, what they are worth and what became of them, of each input of a device the last press that
    counted. What else a book tells (journals, marks of rounds, limits posted, ties) is its writer's own.
    """

    def __init__(self) -> None:
        """Begin before entry 1."""
        self.about: dict[str, Any] = {}
        self.tables: dict[str, dict[str, Any]] = {}
        self.links: dict[str, dict[str, Any]] = {}
        self.awards: dict[str, dict[str, Any]] = {}
        self.shares: dict[str, dict[str, Any]] = {}
        self.funds: list[str] = []
        self.devices: dict[str, list[int]] = {}
        self.gone = {"gone_awards": 0, "gone_shares": 0}
        self.settings: dict[str, Any] = {"site": None}
        self._then: dict[str, Any] = {"links": {}, "tables": {}, "awards": {}}  # as the volume began
        self._wagers: dict[str, dict[int, int]] = {}  # table → seat → units of its hands
        self.doubled: set[tuple[str, int]] = set()  # table and seat of a split hand with a wager for each half

    def begin(self, facts: dict[str, Any]) -> None:
        """With a later volume alone: believe its book."""
        book = facts["book"]
        self.about = {name: book[name] for name in ("site_id", "currency", "demo")}
        self.gone = {name: book[name] for name in self.gone}
        told = self._told(book)
        self.tables, self.links, self.awards, self.shares = (
            told[n] for n in ("tables", "links", "awards", "fund_awards")
        )
        self.funds, self.devices, self.settings = told["funds"], told["devices"], told["settings"]
        for name, table in book["tables"]:
            twice = set(table.get("doubled", ()))
            self.doubled |= {(name, seat) for seat in twice}
            self._wagers[name] = {seat: one[0] * (1 + (seat in twice)) for seat, one in table.get("wagers", ())}

    def unlike(self, book: dict[str, Any]) -> str | None:
        """What in a book is not what the entries have made, or None."""
        if unlike := sorted(book.keys() ^ BOOK):
            return f"{unlike[0]!r}, which {'no' if unlike[0] in book else 'every'} book has,"
        told = self._told(book)
        mine: dict[str, Any] = {"tables": self.tables, "links": self.links, "awards": self.awards}
        mine |= {"fund_awards": self.shares, "funds": self.funds, "devices": self.devices}
        opens = {
            "open_awards": [name for name, one in self.awards.items() if one["status"] in {"pending", "confirmed"}]
        }
        opens["open_shares"] = [
            name for name, one in self.shares.items() if one["status"] in {"confirmed", "unclaimed"}
        ]
        for name, fact in {**self.about, **self.gone}.items():
            if not same(book.get(name), fact):
                return name
        for name, names in opens.items():
            if sorted(book.get(name, [])) != sorted(names):
                return name
        for name, things in mine.items():
            if not same(things, told[name]):
                return name
        found = told["settings"]
        odd = [
            name
            for name in sorted(self.settings.keys() | found)
            if not within(self.settings.get(name), found.get(name))
        ]
        return f"the settings of {odd[0]}" if odd else None

    def open_volume(self) -> None:
        """A volume begins: what its day brings counts from here."""
        self._then = json.loads(json.dumps({"links": self.links, "tables": self.tables, "awards": self.awards}))

    def unread(self, facts: dict[str, Any]) -> str | None:
        """What in a day's reading is not what the entries of its volume have brought, or None."""
        for name, told in facts["links"].items():
            if name in self.links and not same({**told, "liability_microcents": 0}, self._link_day(name)):
                return f"the day of {name}"
        for name, told in facts["tables"].items():
            rounds = self.tables[name]["round"] - self._then["tables"].get(name, {"round": 0})["round"]
            if not same([told["rounds"], told["state"]], [rounds, self.tables[name]["state"]]):
                return f"the day of {name}"
        return None

    def _link_day(self, name: str) -> dict[str, Any]:
        """Wagers, hits and awards of a day, in the form of a reading."""
        now, then = self.links[name], self._then["links"].get(name, {"wagers": 0, "units": 0, "levels": {}})
        units = now["units"] - then["units"]
        came: dict[str, dict[str, int]] = {}
        for award, one in self.awards.items():
            before = self._then["awards"].get(award, {"status": None})["status"]
            states = [one["status"]] if before != one["status"] else []
            if before is None:
                states = ["claimed", *(state for state in states if state != "pending")]
            for state in states if one["link"] == name else ():
                sums = came.setdefault(state, {"awards": 0, "cents": 0})
                sums["awards"] += 1
                sums["cents"] += one["amount_cents"]
        return {
            "wagers": now["wagers"] - then["wagers"],
            "units": units,
            "wagered_cents": units * self.settings[f"link {name}"]["wager_cents"],
            "liability_microcents": 0,
            "levels": {
                level: {
                    count: told[count] - then["levels"].get(level, {count: 0})[count] for count in ("hits", "won_cents")
                }
                for level, told in now["levels"].items()
            },
            "awards": came,
        }

    @staticmethod
    def _told(book: dict[str, Any]) -> dict[str, Any]:
        """What a book says of the things that are followed. Names at their defaults are left out of it."""
        return {
            "tables": {
                name: {"round": one.get("round", 0), "state": one.get("state", "CLOSED"), "late": one.get("late", 0)}
                for name, one in book.get("tables", [])
            },
            "links": {
                one["settings"]["id"]: {
                    "wagers": one.get("wagers", 0),
                    "units": one.get("units", 0),
                    "levels": {name: {count: kept.get(count, 0) for count in COUNTS} for name, kept in one["counts"]},
                }
                for one in book["links"]
            },
            "awards": {
                name: {
                    **{fact: one[fact] for fact in AWARD},
                    "status": one.get("status", "pending"),
                    "tip_cents": one.get("tip_cents", 0),
                }
                for name, one in book.get("awards", [])
            },
            "fund_awards": {
                name: {"fund": one["fund"], "cents": one["cents"], "status": one.get("status", "confirmed")}
                for name, one in book.get("fund_awards", [])
            },
            "funds": [one["settings"]["id"] for one in book["funds"]],
            "devices": dict(book.get("devices", [])),
            "settings": {
                "site": book["site"],
                **{f"table {name}": one["settings"] for name, one in book.get("tables", [])},
                **{f"link {one['settings']['id']}": one["settings"] for one in book["links"]},
                **{f"fund {one['settings']['id']}": one["settings"] for one in book["funds"]},
            },
        }

    def take(self, entry: Entry, facts: dict[str, Any]) -> str | None:
        """Take in what an entry tells; why it cannot stand behind those before it, or None."""
        kind = entry.column["kind"].decode()
        table, link, event = (
            None if entry.column[name] is None else entry.column[name].decode()
            for name in ("table_id", "link_id", "event_id")
        )
        if (wrong := self._place(kind, facts, table, link)) is not None:
            return wrong
        if kind == "DayRead" and (odd := self.unread(facts)) is not None:
            return f"the day's reading: {odd} is not what the entries make"
        if event is not None and not event.startswith("request:"):
            self._press(event)
        if kind != "BookCarried" and (wrong := self._count(kind, facts.get("levels", {}))) is not None:
            return wrong
        if kind in STATES:
            states, state = STATES[kind]
            (self.awards if states == "awards" else self.shares)[facts["award"]]["status"] = state
        if kind in self.STEPS:
            actor, at_utc = (entry.column[name].decode() for name in ("actor", "at_utc"))
            self.STEPS[kind](self, {"keyed_by": actor, "at_utc": at_utc, **facts}, table, link)
        if kind in {"SiteSet", "TableDefined", "TableChanged", "LinkOpened", "FundOpened"}:
            what = {"SiteSet": "site", "LinkOpened": f"link {link}", "FundOpened": f"fund {link}"}
            self.settings[what.get(kind, f"table {table}")] = facts["settings"]
        return None

    def _place(self, kind: str, facts: dict[str, Any], table: str | None, link: str | None) -> str | None:
        """What is put in force, and whether what an entry concerns is."""
        puts = {"TableDefined": table, "LinkOpened": link, "FundOpened": link}
        if kind in puts and (puts[kind] is None or facts["settings"]["id"] != puts[kind]):
            return f"it puts {facts['settings']['id']!r} in force and is of {puts[kind]!r}"
        if kind == "TableDefined":
            self.tables[str(table)] = {"round": 0, "state": "CLOSED", "late": 0}
        if kind == "LinkOpened":
            self.links[str(link)] = {"wagers": 0, "units": 0, "levels": {}}
        if kind == "FundOpened":
            self.funds.append(str(link))
        if table is not None and table not in self.tables and kind != "Refused":
            return f"there is no table {table!r}"
        if kind in IN_A_ROUND and facts["round"] != self.tables[str(table)]["round"] + (kind == "Locked"):
            return (
                f"a {kind} is of round {facts['round']}, and the table is in round {self.tables[str(table)]['round']}"
            )
        if link is not None and link not in self.links and link not in self.funds:
            return f"there is no link {link!r}"
        return None

    def _count(self, kind: str, levels: dict[str, Any]) -> str | None:
        """What levels count beside their money. A LOCK tells none of it, and a day's reading what was told before."""
        for key, stored in levels.items():
            names = {f"{name}_microcents" for name in LEVEL_PARTS}
            if kind != "Locked":
                names |= {COUNTED.get(count, count) for count in COUNTS}
            if stored.keys() - {"adjusted_microcents"} != names - {"adjusted_microcents"}:
                return f"what a {kind} tells of {key} is: {', '.join(sorted(stored))}"
            if kind != "Locked":
                link, _, level = key.partition("/")
                now = {count: stored.get(COUNTED.get(count, count), 0) for count in COUNTS}
                begins = dict.fromkeys(COUNTS, 0) | {"standing": stored["display_microcents"]}
                if kind == "LinkOpened" and now != begins:
                    return f"{key} begins with its seed and nothing counted"
                if kind == "DayRead" and now != self.links[link]["levels"].get(level):
                    return f"what {key} counts beside its money is not what was told before"
                self.links[link]["levels"][level] = now
        return None

    def owed(self, name: str) -> int | None:
        """What an award or a share is worth in cents, while it may be owed; None where it is not known."""
        one = self.awards.get(name) or self.shares.get(name)
        if one is None:
            return None
        cents: int = one["amount_cents"] if name in self.awards else one["cents"]
        return cents

    def _press(self, event: str) -> None:
        """An input has counted up to here; what is not above it counts no more."""
        name, epoch, count = event.rsplit(":", 2)
        self.devices[name] = max(self.devices.get(name, [0, 0]), [int(epoch), int(count)])

    def _created(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        self.about = {"site_id": facts["site"], "currency": facts["currency"], "demo": facts["demo"]}

    def _started(self, _facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for table in self.tables.values():
            table["state"] = "CLOSED" if table["state"] == "OPEN" else table["state"]

    def _trusted(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for name, count in facts["counts"].items():
            self.devices[name] = [facts["epoch"], count]

    def _heard(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for name, count in facts.get("heard", {}).items():
            self.devices[name] = [self.devices[name][0], max(self.devices[name][1], count)]

    def _opened(self, _facts: dict[str, Any], table: str, _link: Any) -> None:
        self.tables[table]["state"] = "OPEN"

    def _closed(self, _facts: dict[str, Any], table: str, _link: Any) -> None:
        if self.tables[table]["state"] != "LOCKED":
            self.tables[table]["state"] = "CLOSED"

    def _locked(self, facts: dict[str, Any], table: str, link: str) -> None:
        self.tables[table] = {"round": facts["round"], "state": "LOCKED", "late": 0}
        self._wagers[table] = {one["seat"]: one["units"] for one in facts["wagers"]}
        self.doubled = {one for one in self.doubled if one[0] != table}
        self.links[link]["wagers"] += len(facts["wagers"])
        self.links[link]["units"] += sum(one["units"] for one in facts["wagers"])
        for one in facts["wagers"]:
            if one.get("event") is not None:
                name, epoch, count = one["event"].rsplit(":", 2)
                self.devices[name] = [int(epoch), int(count)]

    def _late(self, _facts: dict[str, Any], table: str, _link: Any) -> None:
        self.tables[table]["late"] += 1

    def _split(self, facts: dict[str, Any], table: str, link: str) -> None:
        if facts["units"]:
            self._wagers[table][facts["seat"]] += facts["units"]
            self.doubled.add((table, facts["seat"]))
            self.links[link]["wagers"] += 1
            self.links[link]["units"] += facts["units"]

    def _given_back(self, facts: dict[str, Any], table: str, link: str) -> None:
        for seat in facts["seats"]:
            self.links[link]["units"] -= self._wagers[table].pop(seat)
            self.links[link]["wagers"] -= 1 + ((table, seat) in self.doubled)

    def _claimed(self, facts: dict[str, Any], table: str, link: str) -> None:
        for one in facts.get("claims", [facts]):
            self.awards[one["award"]] = {
                "link": link,
                "table": table,
                "round": facts["round"],
                "seat": one["seat"],
                "hand": facts["hand"],
                "units": one["units"],
                "amount_cents": one["amount_cents"],
                "keyed_by": facts["keyed_by"],
                "at_utc": facts["at_utc"],
                "status": "pending",
                "tip_cents": 0,
            }
        self._worth(facts, table, link)

    def _adjusted(self, facts: dict[str, Any], table: str, link: str) -> None:
        self._claimed({**facts, "units": 0, "awards": {}}, table, link)
        self.awards[facts["award"]]["status"] = "confirmed"

    def _worth(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for name, one in facts["awards"].items():
            self.awards[name]["amount_cents"] = one["amount_cents"]

    def _confirmed(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for name in facts["awards"]:
            self.awards[name]["status"] = "confirmed"

    def _corrected(self, facts: dict[str, Any], table: str, link: str) -> None:
        self._worth(facts, table, link)
        self.awards[facts["award"]] |= {name: facts[name] for name in ("hand", "seat", "units")}

    def _limit(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        link, _, level = facts["level"].partition("/")
        told = {"limit_cents": facts["limit_cents"], "overflow": facts["overflow"]}
        self.settings[f"link {link}"] = {
            **self.settings[f"link {link}"],
            "levels": [
                {**one, **told} if one["name"] == level else one for one in self.settings[f"link {link}"]["levels"]
            ],
        }

    def _eased(self, facts: dict[str, Any], _table: Any, link: str) -> None:
        self.settings[f"link {link}"] = {**self.settings[f"link {link}"], "paytable": facts["paytable"]}

    def _posted(self, facts: dict[str, Any], table: str, _link: Any) -> None:
        told = {f"cap_{name}": facts.get(name) for name in ("player_cents", "table_cents", "tip_cents")}
        self.settings[f"table {table}"] = {**self.settings[f"table {table}"], **told}

    def _capped(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        self.awards[facts["award"]]["amount_cents"] = facts["amount_cents"]

    def _tipped(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        self.awards[facts["award"]]["tip_cents"] = facts["amount_cents"]

    def _untipped(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        self.awards[facts["award"]]["tip_cents"] = 0

    def _won(self, facts: dict[str, Any], _table: Any, link: str) -> None:
        for name, cents in facts["awards"].items():
            self.shares[name] = {"fund": link, "cents": cents, "status": "confirmed"}

    def _not_won(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for name in facts["awards"]:
            self.shares[name]["status"] = "voided"

    def _left(self, facts: dict[str, Any], _table: Any, _link: Any) -> None:
        for name, kept in (("awards", self.awards), ("shares", self.shares)):
            for one in facts["left"][name]:
                del kept[one]
            self.gone[f"gone_{name}"] += len(facts["left"][name])

    STEPS: ClassVar[dict[str, Callable[..., None]]] = {
        "LedgerCreated": _created,
        "Started": _started,
        "Stopped": _heard,
        "DeviceLost": _heard,
        "DeviceTrusted": _trusted,
        "TableOpened": _opened,
        "GameEnded": _opened,
        "TableClosed": _closed,
        "Locked": _locked,
        "LateBet": _late,
        "HandSplit": _split,
        "WagerVoided": _given_back,
        "Claimed": _claimed,
        "CommonClaimed": _claimed,
        "Adjustment": _adjusted,
        "Confirmed": _confirmed,
        "Corrected": _corrected,
        "Voided": _worth,
        "LimitSet": _limit,
        "RulesEased": _eased,
        "CapsPosted": _posted,
        "Capped": _capped,
        "TipPaid": _tipped,
        "TipUndone": _untipped,
        "PoolWon": _won,
        "PoolWinUndone": _not_won,
        "DayRead": _left,
    }


#: What becomes of the award or share that an entry names.
STATES = {
    "Voided": ("awards", "voided"),
    "Correction": ("awards", "voided"),
    "Paid": ("awards", "paid"),
    "Disposed": ("awards", "disposed"),
    "SharePaid": ("shares", "paid"),
    "ShareUnclaimed": ("shares", "unclaimed"),
    "ShareDisposed": ("shares", "disposed"),
}


def is_day(text: Any) -> bool:
    """Whether it is a day that a calendar has, such as 2026-12-01."""
    try:
        return type(text) is str and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def accounts(balances: dict[str, int], kinds: Iterable[str]) -> set[str]:
    """What follows these kinds in the names of accounts that hold something."""
    found = [account.partition("/") for account, amount in balances.items() if amount]
    return {rest for kind, _, rest in found if kind in kinds}


def pools_of(balances: dict[str, int]) -> set[str]:
    """The pools that hold something. Strike-out wagers, which lie apart until a hand is won, are in none of them."""
    return {name for name in accounts(balances, ["pool"]) if not name.endswith("/strike-out")}


def within(told: Any, found: Any) -> bool:
    """Whether what was told stands in what was found; a later version may have found settings that were not told."""
    if isinstance(told, dict) and isinstance(found, dict):
        return all(name in found and within(one, found[name]) for name, one in told.items())
    if isinstance(told, list) and isinstance(found, list):
        return len(told) == len(found) and all(map(within, told, found))
    return same(told, found)


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types: ``1`` is not ``true``."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def report(ledger: Ledger, held: int, bad: BadError | None, file: Path) -> dict[str, Any]:
    """What ``--json`` prints; its first keys are those of ``meterd ledger verify --json``."""
    return {
        "ok": bad is None,
        "entries": max(0, ledger.entries - ledger.first + 1),
        "first_seq": ledger.first,
        "head": ledger.head.hex(),
        "first_bad": None if bad is None else {"file": str(file), "seq": bad.seq, "reason": bad.reason},
        "levels": ledger.money.levels(),
        "liability_microcents": ledger.money.liability(),
        "payable_microcents": ledger.money.payable(),
        "residual_microcents": sum(ledger.money.balance.values()),
        "checkpoints": held,
    }


def check(paths: list[Path], since: list[Path] | None = None, keys: list[str] | None = None) -> dict[str, Any]:
    """Check a ledger, and checkpoints against it, and say what was found. Whatever the files hold, this returns."""
    ledger = Ledger(keys or [])
    at = [paths[0]]  # the file being looked at
    try:
        return report(ledger, _check(ledger, paths, since or [], at), None, at[-1])
    except BadError as bad:
        return report(ledger, 0, bad, at[-1])
    except Exception as error:  # noqa: BLE001 - an unforeseen kind of damage is a finding, not a traceback
        return report(ledger, 0, BadError(None, f"{type(error).__name__}: {error}"), at[-1])


def _check(ledger: Ledger, paths: list[Path], since: list[Path], at: list[Path]) -> int:
    """All volumes, then all checkpoints; how many of these hold."""
    notes = [*since, *(sorted(paths[0].glob("checkpoint-*.txt")) if paths[0].is_dir() else [])]
    for note in notes:
        at.append(note)
        size = text_of(note).split("\n")[1:2]
        ledger.wanted |= {int(number) for number in size if re.fullmatch("[0-9]{1,18}", number)}
    at.append(paths[0])
    for file in volumes(paths):
        at.append(file)
        ledger.take_volume(file)
    if not ledger.entries:
        raise BadError(None, "there is no entry here")
    for note in notes:
        at.append(note)
        ledger.hold(read_checkpoint(text_of(note), ledger.keys))
    return len(notes)


def check_proof(path: Path, since: list[Path], keys: list[str]) -> dict[str, Any]:
    """Check that an entry is in the ledger whose checkpoint stands in the proof, or is given."""
    found: dict[str, Any] = {"ok": False, "seq": None, "checkpoints": [], "reason": None}
    try:
        notes = [text_of(note) for note in since]
        found["seq"], found["checkpoints"] = prove(json.loads(text_of(path)), notes, keys)
        found["ok"] = True
    except BadError as bad:
        found["seq"], found["reason"] = bad.seq, bad.reason
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        found["reason"] = f"this is no proof: {type(error).__name__}: {error}"
    return found


def prove(proof: dict[str, Any], notes: list[str], keys: list[str]) -> tuple[int, list[dict[str, Any]]]:
    """The number of the entry that a proof proves, and the checkpoints it is in."""
    entry, _ = proven(proof, proof["tree_size"], proof["root"])
    return entry.column["seq"], signed(proof, notes, keys)


def proven(kept: dict[str, Any], size: int, root: str) -> tuple[Entry, dict[str, Any]]:
    """An entry that its path proves to be in the tree of this size and root, with its facts."""
    entry = entry_of(kept["entry"])
    seq = entry.column["seq"]
    check_types(seq, entry, set())
    if hash_of(entry) != entry.column["hash"]:
        raise BadError(seq, "the hash does not match: the entry or its postings were changed")
    facts = facts_of(entry)
    Money.of_one(entry, facts)
    if kept["leaf_index"] != seq - 1:
        raise BadError(seq, "the proof is of another entry")
    leaf = hashlib.sha256(b"\x00" + entry.column["hash"]).digest()
    if root_by_path(leaf, seq - 1, size, [bytes.fromhex(step) for step in kept["path"]]).hex() != root:
        raise BadError(seq, "the path does not lead to the root")
    return entry, facts


def signed(document: dict[str, Any], notes: list[str], keys: list[str]) -> list[dict[str, Any]]:
    """The checkpoints that say of a document's tree that it is the ledger's: those given, else its own."""
    told = []
    size = document["tree_size"]
    if not notes and not document["checkpoint"]:
        raise BadError(
            None,
            "it carries no signed checkpoint, as it was made without a key; nothing is known against it. Give a"
            f" checkpoint of just {size} entries with --since, or have it made again with a key",
        )
    for note in notes or [document["checkpoint"]]:
        checkpoint = read_checkpoint(note, keys)
        if checkpoint.size != size:
            raise BadError(
                None,
                f"the checkpoint is of {checkpoint.size} entries and this document of {size}, so neither says anything"
                f" about the other: give a checkpoint of just {size} entries",
            )
        if (checkpoint.origin, checkpoint.size, checkpoint.root.hex()) != (
            document["origin"],
            document["tree_size"],
            document["root"],
        ):
            raise BadError(None, f"the checkpoint of {checkpoint.size} entries is of another ledger, or another tree")
        told.append({"origin": checkpoint.origin, "size": checkpoint.size, "by": checkpoint.by})
    return told


PACK_KEYS = {"meterd_pack", "table", "round", "link", "summary", "entries", "tree_size", "root", "origin"}
PACK_KEYS |= {"checkpoint", "frames", "notes"}
NOT_PROVEN = [
    "frames: what a recorder kept of the wires; no hash of the ledger covers them, and this program did not look",
    "pay table and site file: the newest entries in the pack tell them; a newer one may stand in the ledger",
    "awards after END GAME: what became of them is in the pack as far as somebody put it there",
]
Kept = tuple[Entry, dict[str, Any]]


# ── dispute packs ────────────────────────────────────────────────────────────────────────────────────────────────────


def check_pack(path: Path, since: list[Path], keys: list[str]) -> dict[str, Any]:
    """Check that all a dispute pack says of a round stands in, or follows from, entries of the signed ledger.

    Every entry from LOCK to END GAME must be there. What a pack cannot prove is told in ``not_proven``.
    """
    found: dict[str, Any] = {"ok": False, "seq": None, "checkpoints": [], "reason": None, "entries": 0}
    found["not_proven"] = NOT_PROVEN
    try:
        pack = json.loads(text_of(path), object_pairs_hook=_once)
        unknown = sorted(pack.keys() ^ PACK_KEYS)
        found["checkpoints"] = signed(pack, [text_of(note) for note in since], keys)
        kept = [proven(one, pack["tree_size"], pack["root"]) for one in pack["entries"]]
        numbers = [entry.column["seq"] for entry, _ in kept]
        told = of_round(pack["table"], pack["round"], pack["tree_size"], kept)
        plain = json.loads(json.dumps(told))
        unlike = [
            name
            for name in sorted(pack["summary"].keys() | plain)
            if not same(pack["summary"].get(name), plain.get(name))
        ]
        if unknown or pack["meterd_pack"] != 1:
            found["reason"] = f"it is not of the form that is known: {', '.join(unknown) or pack['meterd_pack']}"
        elif numbers != sorted(set(numbers)):
            found["reason"] = "its entries are not in order, or one is there twice"
        elif unlike or pack["link"] != told["link"]:
            found["reason"] = f"the entries say something else about: {', '.join(unlike) or 'link'}"
        found.update(ok=found["reason"] is None, entries=len(kept), summary=told)
    except BadError as bad:
        found["seq"], found["reason"] = bad.seq, bad.reason
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        found["reason"] = f"this is no pack: {type(error).__name__}: {error}"
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which every name stands once: a reader who takes the first must not see another thing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def of_round(table: str, number: int, size: int, kept: list[Kept]) -> dict[str, Any]:
    """What proven entries say of one round of a table."""
    by_seq = {entry.column["seq"]: (entry, facts) for entry, facts in kept}
    ours = [seq for seq in sorted(by_seq) if by_seq[seq][0].column["table_id"] == table.encode()]
    locks = [seq for seq in ours if kind_of(by_seq[seq]) == "Locked" and by_seq[seq][1].get("round") == number]
    if len(locks) != 1:
        raise BadError(None, f"there is no LOCK of round {number} at {table} among the entries")
    first, (lock, facts) = locks[0], by_seq[locks[0]]
    end = next((seq for seq in ours if seq >= first and kind_of(by_seq[seq]) == "GameEnded"), None)
    for seq in range(first, (end or size) + 1):
        if seq not in by_seq:
            raise BadError(seq, "it belongs to the time between LOCK and END GAME and was left out")
    within = [by_seq[seq] for seq in ours if first <= seq <= (end or size)]
    before = [by_seq[seq] for seq in sorted(by_seq) if seq < first]
    link = lock.column["link_id"].decode()
    accepted = [{"seat": wager["seat"], "cents": wager["cents"]} for wager in facts.get("wagers", [])]
    late = [
        {name: one[1][name] for name in ("seat", "ms_min", "ms_max")} for one in within if kind_of(one) == "LateBet"
    ]
    return {
        "link": link,
        "locked_seq": first,
        "locked_at_utc": lock.column["at_utc"].decode(),
        "locked_boot": lock.column["boot"].decode(),
        "locked_mono_ns": lock.column["mono_ns"],
        "ended_seq": end,
        "accepted": accepted,
        "late": late,
        "lamps": {str(bet["seat"]): "dark" for bet in late} | {str(wager["seat"]): "steady" for wager in accepted},
        "keys": [
            {"seq": one[0].column["seq"], "kind": kind_of(one), "event_id": one[0].column["event_id"].decode()}
            for one in within
            if one[0].column["event_id"] is not None
        ],
        "awards": sorted({award for one in within for award in awards_of(one)}),
        "levels_before": levels_found(lock, facts),
        "levels_after": levels_left(within, link),
        "paytable": newest(before, lambda one: paytable_of(one, link)),
        "site": newest(before, lambda one: one[1].get("site_sha256") if kind_of(one) == "Started" else None),
    }


def newest(kept: list[Kept], told: Callable[[Kept], str | None]) -> dict[str, Any] | None:
    """The last of these entries that tells something, with its number."""
    found = [(one[0].column["seq"], digest) for one in kept if (digest := told(one)) is not None]
    return {"seq": found[-1][0], "sha256": found[-1][1]} if found else None


def levels_found(lock: Entry, facts: dict[str, Any]) -> dict[str, dict[str, int]]:
    """What a LOCK found in the levels it moved: what it stores of them, less its postings."""
    moved = {name.decode(): microcents for name, microcents in lock.postings}
    return {
        key: {
            f"{name}_microcents": stored[f"{name}_microcents"] - moved.get(f"{account}/{key}", 0)
            for name, account in LEVEL_PARTS.items()
        }
        for key, stored in facts.get("levels", {}).items()
    }


def site_of(entry: Entry) -> str:
    """The site that wrote an entry."""
    found: str = entry.column["site"].decode()
    return found


def kind_of(one: Kept) -> str:
    """The kind of an entry."""
    found: str = one[0].column["kind"].decode()
    return found


def awards_of(one: Kept) -> set[str]:
    """The awards that an entry accepts."""
    entry, facts = one
    if kind_of(one) not in {"Claimed", "CommonClaimed"}:
        return set()
    named = {name.decode().partition("/")[2] for name, _ in entry.postings if name.startswith(b"payable/")}
    return named | ({facts["award"]} if isinstance(facts.get("award"), str) else set())


def levels_left(kept: list[Kept], link: str) -> dict[str, dict[str, int]]:
    """What the last of these entries store about each level of a link."""
    found = {}
    for _, facts in kept:
        for key, stored in facts.get("levels", {}).items():
            if key.startswith(f"{link}/"):
                found[key] = {f"{name}_microcents": stored[f"{name}_microcents"] for name in LEVEL_PARTS}
    return found


def paytable_of(one: Kept, link: str) -> str | None:
    """The SHA-256 of the pay table that an entry puts in force for a link."""
    entry, facts = one
    if entry.column["link_id"] != link.encode() or kind_of(one) not in {"LinkOpened", "RulesEased"}:
        return None
    settings = facts.get("settings")
    table = settings.get("paytable") if isinstance(settings, dict) else facts.get("paytable")
    if not isinstance(table, dict):
        return None
    plain = json.dumps(table, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def entry_of(stored: dict[str, Any]) -> Entry:
    """An entry from a proof, as a volume would give it."""
    column: dict[str, Any] = {}
    for name in COLUMNS:
        value = stored[name]
        if name in BLOBS:
            column[name] = bytes.fromhex(value)
        else:
            column[name] = Text(value.encode()) if isinstance(value, str) else value
    return Entry(column, [(Text(account.encode()), microcents) for account, microcents in stored["postings"]])


def words(found: dict[str, Any]) -> str:
    """The report for people; amounts in whole cents, rounded towards zero."""
    lines = []
    bad = found["first_bad"]
    if bad is None:
        since = "" if found["first_seq"] == 1 else f" from entry {found['first_seq']} on, what was before is not here"
        lines.append(f"ok: {found['entries']} entries hold{since}; head {found['head']}")
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
    parser.add_argument("paths", nargs="*", type=Path, metavar="FOLDER|VOLUME")
    parser.add_argument("--since", action="append", default=[], type=Path, help="a checkpoint that must hold too")
    parser.add_argument("--key", action="append", default=[], help="a key whose signatures count: name+id+base64")
    parser.add_argument("--proof", type=Path, help="a proof that an entry is in a ledger")
    parser.add_argument("--pack", type=Path, help="a dispute pack")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    _require_sense(parser, options)
    if options.proof or options.pack:
        document = options.proof or options.pack
        found = (check_proof if options.proof else check_pack)(document, options.since, options.key)
        of = ", ".join(f"{note['origin']} at {note['size']} entries" for note in found["checkpoints"])
        told = f"ok: {document} stands in {of}" if found["ok"] else f"NOT OK: {document}: {found['reason']}"
        told = "\n  not proven: ".join([told, *found.get("not_proven", [])])
    else:
        found = check(options.paths, options.since, options.key)
        told = words(found)
    try:
        print((json.dumps(found) if options.json else told).encode("utf-8", "backslashreplace").decode(), flush=True)
    except OSError as error:
        print(f"the answer could not be written: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nor will it be at the end
        return 2
    return 0 if found["ok"] else 1


def _require_sense(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with 2 where the arguments make no sense together."""
    documents = [one for one in (options.proof, options.pack) if one]
    if bool(options.paths) + len(documents) != 1:
        parser.error("give a ledger's folder or its volumes in order, or one proof, or one pack")
    one = {name: [path] if path else [] for name, path in (("proof", options.proof), ("pack", options.pack))}
    for name, given in (("paths", options.paths), ("since", options.since), *one.items()):
        for path in given:
            _require_place(parser, name, path, alone=len(given) == 1)
    for path in options.paths[:1] if options.paths[:1] and options.paths[0].is_dir() else []:
        if not list(path.glob("ledger*.db")):
            parser.error(f"there is no ledger in {path}")
    for key in options.key:
        try:
            key_of(key)
        except BadError as bad:
            parser.error(bad.reason)
    if documents and not options.key:
        parser.error("a document is as good as the key its checkpoint is signed with: give it with --key")


def _require_place(parser: argparse.ArgumentParser, name: str, path: Path, *, alone: bool) -> None:
    """End with 2 where a path cannot be what it was given as."""
    try:
        if name == "paths" and path.is_dir():
            if not alone:
                parser.error(f"{path} is a folder: give one folder alone, or the volumes of one ledger in order")
            next(path.iterdir(), None)  # a glob passes over what it may not read, and says nothing
            return
        require_file(path)
        what = misplaced(path, name)
    except OSError as error:
        parser.error(f"{path} cannot be read: {error.strerror}")
    except BadError as bad:
        parser.error(bad.reason)
    if what is not None:
        parser.error(f"{path} {what}")


def misplaced(path: Path, name: str) -> str | None:
    """What a file is that was given in the place of something else, and how it is given; None where it may be right.

    Only what surely is another thing: a volume or a checkpoint that was damaged is for the check to find.
    """
    with path.open("rb") as file:
        begins = file.read(4096)
    checkpoint, proof = begins.startswith(b"meterd/"), begins[:1] == b"{" and b'"meterd_proof"' in begins
    pack = begins[:1] == b"{" and not proof and b'"meterd_pack"' in begins
    if name == "since":
        return "is no checkpoint: it is a volume" if begins.startswith(b"SQLite format 3") else None
    if checkpoint:
        return f"is a checkpoint: give it with --since {path}, beside the ledger, a proof or a pack"
    if name == "pack" and proof:
        return f"is a proof: give it with --proof {path}"
    if name == "proof" and pack:
        return f"is a dispute pack: give it with --pack {path}"
    if name == "paths" and begins[:1] == b"{":
        return (
            f"is a proof: give it with --proof {path}" if proof else f"is JSON: give a dispute pack with --pack {path}"
        )
    return None


if __name__ == "__main__":
    sys.exit(main())
