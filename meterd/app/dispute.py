"""A dispute pack: everything about one round of one table in one file that somebody else can check.

Rule 1: what the pack says of the round is either an entry of the ledger with the path that proves it, or follows from
        such entries by plain rules (``meterd/second_verifier.py`` follows them again, from its own reading).
Rule 2: every entry from LOCK to END GAME is in the pack, those of other tables too: none can be left out unseen.
Rule 3: a ledger that does not hold makes no pack: its first bad row is the dispute.
Rule 4: raw frames are what the wire recorder kept. They are not in the chain, and the pack says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from meterd.accounting.entries import Kind
from meterd.app.verify import Audit
from meterd.errors import LedgerError, MisuseError
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.merkle import Leaves, Tree
from meterd.ledger.note import Checkpoint, origin_of
from meterd.ledger.record import Record

FORMAT: Final = 1
#: What a pack cannot prove by itself, in it and in what the verifier says.
NOTES: Final = (
    "of the settings the newest known to the pack are told, with their numbers; that none is newer, the ledger proves",
    "entries behind END GAME are those of the round's awards up to the checkpoint; that none was left out, it proves",
)
WARNING: Final = "frames are what the recorder on this server kept of the wires; no hash in the ledger covers them"

#: Frames this long before the first and behind the last entry of a round go into its pack.
BEFORE_NS: Final = 60_000_000_000
AFTER_NS: Final = 10_000_000_000

_PARTS: Final = (("display", "meter"), ("reserve", "reserve"), ("overflow", "overflow"))
_OF_A_LINK: Final = frozenset({Kind.LINK_OPENED, Kind.RULES_EASED, Kind.LIMIT_SET, Kind.LINK_SUSPENDED})
_BY_REASON: Final = ("round", "award", "settings", "between")


@dataclass(slots=True)
class Found:
    """What a walk over the ledger keeps for one round: entries by why they are kept."""

    table: str
    round: int
    link: str = ""
    origin: str = ""
    before: Tree = field(default_factory=Tree)
    hashes: list[bytes] = field(default_factory=list)
    kept: dict[str, list[Record]] = field(default_factory=lambda: {why: [] for why in _BY_REASON})
    since_end: list[Record] = field(default_factory=list)
    latest: dict[str, Record] = field(default_factory=dict)
    awards: set[str] = field(default_factory=set)
    devices: set[str] = field(default_factory=set)
    locked: bool = False
    ended: bool = False


def find_round(records: Iterable[Record], table: str, number: int) -> Found:
    """Walk a whole ledger, checking every entry, and keep what concerns one round.

    Raises:
        LedgerError: an entry does not hold.
        MisuseError: the ledger knows no such table, or the table no such round.
    """
    audit = Audit()
    found = Found(table, number)
    for record in records:
        if record.kind == Kind.BOOK_CARRIED:
            audit.begin_volume()
        reason = audit.take(record)
        if reason is not None:
            raise LedgerError(f"entry {audit.next_seq} does not hold: {reason}. There is no pack of such a ledger")
        body = parse(record.body)
        if not found.hashes:
            _begin(found, record, body)
        found.hashes.append(record.hash)
        _keep(found, record, body)
    if not found.locked:
        state = audit.book.tables.get(table)
        if state is None:
            raise MisuseError(f"the ledger knows no table {table}. It has: {', '.join(sorted(audit.book.tables))}")
        raise MisuseError(f"table {table} has no round {number}; its last is {state.round}")
    return found


def pack(
    found: Found, *, sign: Callable[[str], str] | None, frames: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The document. ``sign`` signs a checkpoint over the whole ledger as it was read; without it there is none."""
    leaves = Leaves(found.before, found.hashes)
    size = leaves.end
    root = leaves.root(size)
    entries = []
    seen: set[int] = set()
    for why in _BY_REASON:
        for record in found.kept[why]:
            if record.seq not in seen:
                seen.add(record.seq)
                path = [step.hex() for step in leaves.inclusion(record.seq - 1, size)]
                entries.append({"why": why, "entry": entry_json(record), "leaf_index": record.seq - 1, "path": path})
    checkpoint = Checkpoint(found.origin, size, root)
    return {
        "meterd_pack": FORMAT,
        "table": found.table,
        "round": found.round,
        "link": found.link,
        "summary": summary(found),
        "entries": sorted(entries, key=lambda kept: kept["leaf_index"]),
        "tree_size": size,
        "root": root.hex(),
        "origin": found.origin,
        "checkpoint": None if sign is None else sign(checkpoint.text),
        "frames": [dict(frame) for frame in frames],
        "notes": [WARNING, *NOTES],
    }


def summary(found: Found) -> dict[str, Any]:
    """What the kept entries say of the round, for people: nothing in it that does not follow from them."""
    locked = next(record for record in found.kept["round"] if record.kind == Kind.LOCKED)
    bodies = [(record, parse(record.body)) for record in found.kept["round"] if record.seq >= locked.seq]
    accepted = [{"seat": wager["seat"], "cents": wager["cents"]} for wager in bodies[0][1].get("wagers", ())]
    late = [
        {"seat": body["seat"], "ms_min": body["ms_min"], "ms_max": body["ms_max"]}
        for record, body in bodies
        if record.kind == Kind.LATE_BET
    ]
    lamps = {str(bet["seat"]): "dark" for bet in late} | {str(wager["seat"]): "steady" for wager in accepted}
    return {
        "link": found.link,
        "locked_seq": locked.seq,
        "locked_at_utc": locked.at_utc,
        "locked_boot": locked.boot,
        "locked_mono_ns": locked.mono_ns,
        "ended_seq": next((record.seq for record, _ in bodies if record.kind == Kind.GAME_ENDED), None),
        "accepted": accepted,
        "late": late,
        "lamps": lamps,
        "keys": [
            {"seq": record.seq, "kind": record.kind, "event_id": record.event_id}
            for record, _ in bodies
            if record.event_id is not None
        ],
        "awards": sorted(found.awards),
        "levels_before": _levels_before(locked, bodies[0][1]),
        "levels_after": _levels_after(bodies, found.link),
        "paytable": _settings(found.kept["settings"], _paytable_sha256),
        "site": _settings(found.kept["settings"], _site_sha256),
    }


def frames_span(found: Found) -> tuple[str, int, int, frozenset[str]]:
    """Boot, beginning and end of the round on the wires, with some time around it; the lines of the table's devices.

    These are all that any entry of the table names: a pad of which nothing was heard in this round is one of them.
    """
    ours = [record for record in found.kept["round"] if record.table_id == found.table]
    locked = next(record for record in ours if record.kind == Kind.LOCKED)
    moments = [record.mono_ns for record in ours if record.boot == locked.boot]
    lines = frozenset(device.partition("/")[0] for device in found.devices)
    return locked.boot, min(moments) - BEFORE_NS, max(moments) + AFTER_NS, lines


def entry_json(record: Record) -> dict[str, Any]:
    """An entry with all its columns, hashes as hexadecimal digits, as proofs and packs carry it."""
    columns = record._asdict()
    return {
        **columns,
        "prev": record.prev.hex(),
        "hash": record.hash.hex(),
        "postings": [list(posting) for posting in record.postings],
    }


def _begin(found: Found, record: Record, body: dict[str, Any]) -> None:
    """The ledger's name, and the tree of what lies in volumes before the first one here."""
    if record.kind == Kind.BOOK_CARRIED:
        found.origin = body["origin"]
        found.before = Tree(body["tree"]["size"], [bytes.fromhex(node) for node in body["tree"]["frontier"]])
    else:
        found.origin = origin_of(record.site, record.hash)


def _keep(found: Found, record: Record, body: dict[str, Any]) -> None:
    """Take one entry in: is it of the round, of its awards, or what stood before it?"""
    device = record.device or (record.event_id or "").partition(":")[0]
    if record.table_id == found.table and "/" in device:
        found.devices.add(device)
    if _is_lock(record, found.table) and body.get("round") == found.round:
        found.locked, found.link = True, record.link_id or ""
        found.kept["settings"] = [
            one
            for key, one in sorted(found.latest.items())
            if key in {"started", "site", f"table {found.table}"} or key.startswith(f"link {found.link} ")
        ]
        found.kept["round"] = [*found.since_end, record]
    elif found.locked and not found.ended and record.table_id == found.table:
        found.kept["round"].append(record)
    elif found.locked and _names(body, record, found.awards):
        found.kept["award"].append(record)
    elif found.locked and not found.ended:
        found.kept["between"].append(record)
    if found.locked and not found.ended and record.table_id == found.table:
        found.awards |= _awards(record, body)
        found.ended = record.kind == Kind.GAME_ENDED
    if not found.locked:
        _remember(found, record)


def _remember(found: Found, record: Record) -> None:
    """What may stand before the round: the settings in force, the table's latest entries."""
    if record.kind == Kind.STARTED:
        found.latest["started"] = record
    elif record.kind == Kind.SITE_SET:
        found.latest["site"] = record
    elif record.kind == Kind.TABLE_DEFINED:
        found.latest[f"table {record.table_id}"] = record
    elif record.kind in _OF_A_LINK:
        found.latest[f"link {record.link_id} {record.kind}"] = record
    if record.table_id == found.table:
        found.since_end = [] if record.kind == Kind.GAME_ENDED else [*found.since_end, record]


def _is_lock(record: Record, table: str) -> bool:
    return record.kind == Kind.LOCKED and record.table_id == table


def _awards(record: Record, body: dict[str, Any]) -> set[str]:
    """The awards that an entry of the round accepts."""
    if record.kind not in {Kind.CLAIMED, Kind.COMMON_CLAIMED}:
        return set()
    return {account.partition("/")[2] for account, _ in record.postings if account.startswith("payable/")} | (
        {body["award"]} if isinstance(body.get("award"), str) else set()
    )


def _names(body: dict[str, Any], record: Record, awards: set[str]) -> bool:
    """Whether a later entry concerns one of these awards."""
    named = {body.get("award")} if isinstance(body.get("award"), str) else set()
    named |= {account.partition("/")[2] for account, _ in record.postings if account.startswith("payable/")}
    return bool(named & awards)


def _levels_before(locked: Record, body: dict[str, Any]) -> dict[str, dict[str, int]]:
    """What the LOCK found in each level that it moved: what it left there, less what it put in."""
    moved = dict(locked.postings)
    return {
        key: {
            f"{part}_microcents": stored[f"{part}_microcents"] - moved.get(f"{account}/{key}", 0)
            for part, account in _PARTS
        }
        for key, stored in sorted(body.get("levels", {}).items())
    }


def _levels_after(bodies: Sequence[tuple[Record, dict[str, Any]]], link: str) -> dict[str, dict[str, int]]:
    """What the table's last entries of the round left in each level of its link."""
    found: dict[str, dict[str, int]] = {}
    for _, body in bodies:
        for key, stored in body.get("levels", {}).items():
            if key.startswith(f"{link}/"):
                found[key] = {f"{part}_microcents": stored[f"{part}_microcents"] for part, _ in _PARTS}
    return found


def _settings(records: Sequence[Record], told: Callable[[Record], str | None]) -> dict[str, Any] | None:
    """The newest of the kept settings that tells this, with its number: the reader can look whether a later one is."""
    found = [(record.seq, digest) for record in records if (digest := told(record)) is not None]
    return {"seq": max(found)[0], "sha256": max(found)[1]} if found else None


def _site_sha256(record: Record) -> str | None:
    return parse(record.body).get("site_sha256") if record.kind == Kind.STARTED else None


def _paytable_sha256(record: Record) -> str | None:
    """The hash of the pay table that an entry puts in force."""
    body = parse(record.body)
    settings = body.get("settings")
    found = settings.get("paytable") if isinstance(settings, dict) else body.get("paytable")
    if record.kind not in {Kind.LINK_OPENED, Kind.RULES_EASED} or not isinstance(found, dict):
        return None
    return sha256(canonical(found).encode()).hexdigest()
