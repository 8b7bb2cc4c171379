"""The audit of the rules: each entry is decided again, on the book as it then stood, with the parameters then in force.

Rule 1: the command is read off the entry; what it leads to must be what the ledger holds, money and facts. A fact that
        only later versions write is not missed in an older entry.
Rule 2: an entry does not tell roles, so those are tried that may do it; who signed is compared, not what he was.
Rule 3: what is not decided again is counted by kind and said. Refusals are (they moved nothing, and what was asked is
        told in part), notes, and kinds whose command asks for more than their entry tells.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from meterd.accounting import commands as ask
from meterd.accounting import commands_links as links
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Event, Role
from meterd.accounting.commands_day import ReadDay, SetKey
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import REQUEST, Entry, Kind
from meterd.accounting.rules import decide
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings
from meterd.app.volumes import says
from meterd.errors import MeterdError
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.record import Record

Facts = Mapping[str, Any]
_LONGEST: Final = 200  # of a fact in a message

#: Roles in the order in which they are tried, alone and in pairs of two departments.
_ALONE: Final = (Role.DEALER, Role.SUPERVISOR, Role.SYSTEM, Role.ADMINISTRATOR, Role.ACCOUNTING)
_PAIRS: Final = (
    (Role.ADMINISTRATOR, Role.ACCOUNTING),
    (Role.SUPERVISOR, Role.ACCOUNTING),
    (Role.SUPERVISOR, Role.SUPERVISOR),
    (Role.ADMINISTRATOR, Role.ADMINISTRATOR),
)
#: Facts about the asking, not about the decision; and those that tell the very moment of deciding.
_BESIDE: Final = frozenset({"asked", "format", "from_utc", "until_utc", "at_utc"})


def _event(text: str | None) -> Event | None:
    if text is None or text.startswith(REQUEST):
        return None
    name, epoch, count = text.rsplit(":", 2)
    return Event(name, int(epoch), int(count))


def _wagers(body: Facts) -> tuple[ask.WagerSeen, ...]:
    return tuple(ask.WagerSeen(one["seat"], one["units"], _event(one.get("event"))) for one in body["wagers"])


_SYSTEM: Final = ask.SYSTEM
_Maker = Callable[[Entry, Facts], Iterator[Command]]


def _locked(entry: Entry, body: Facts) -> Iterator[Command]:
    yield ask.Lock(actor=_SYSTEM, table=entry.table or "", wagers=_wagers(body))


def _claimed(entry: Entry, body: Facts) -> Iterator[Command]:
    place = {"table": entry.table or "", "seat": body["seat"], "signs": body["signs"]}
    cards = body.get("cards")
    yield ask.Claim(actor=_SYSTEM, **place, hand=None if cards else body["hand"], cards=cards)


def _common(entry: Entry, body: Facts) -> Iterator[Command]:
    signs = body["claims"][0]["signs"]
    cards = body.get("cards")
    yield ClaimBoard(
        actor=_SYSTEM, table=entry.table or "", hand=None if cards else body["hand"], cards=cards, signs=signs
    )


def _voided(entry: Entry, body: Facts) -> Iterator[Command]:
    yield ask.Void(actor=_SYSTEM, award=body["award"], reason=body["reason"])
    for seat in range(1, 33):
        yield ask.VoidSeat(actor=_SYSTEM, table=entry.table or "", seat=seat)
    yield ask.VoidRound(actor=_SYSTEM, table=entry.table or "")


def _wager_voided(entry: Entry, body: Facts) -> Iterator[Command]:
    yield ask.VoidRound(actor=_SYSTEM, table=entry.table or "")
    for seat in body["seats"]:
        yield ask.VoidSeat(actor=_SYSTEM, table=entry.table or "", seat=seat)


def _confirmed(entry: Entry, body: Facts) -> Iterator[Command]:
    yield ask.Confirm(actor=_SYSTEM, award=body["award"], cards=body.get("cards"))
    yield ask.EndGame(actor=_SYSTEM, table=entry.table or "")


def _number(entry: Entry, body: Facts) -> Iterator[Command]:
    yield Number(actor=_SYSTEM, table=entry.table or "", number=body["number"])


_MAKERS: Final[dict[Kind, _Maker]] = {
    Kind.LEDGER_CREATED: lambda _, b: iter(
        [ask.CreateLedger(actor=_SYSTEM, site=b["site"], currency=b["currency"], demo=b["demo"])]
    ),
    Kind.SITE_SET: lambda _, b: iter(
        [
            ask.SetSite(actor=_SYSTEM, settings=SiteSettings.from_json(b["settings"])),
            links.ChangeSite(actor=_SYSTEM, settings=SiteSettings.from_json(b["settings"])),
        ]
    ),
    Kind.LINK_OPENED: lambda _, b: iter(
        [ask.OpenLink(actor=_SYSTEM, settings=LinkSettings.from_json(b["settings"]), sha256=b["sha256"])]
    ),
    Kind.TABLE_DEFINED: lambda _, b: iter(
        [ask.DefineTable(actor=_SYSTEM, settings=TableSettings.from_json(b["settings"]))]
    ),
    Kind.DEVICE_TRUSTED: lambda _, b: iter(
        [ask.TrustDevice(actor=_SYSTEM, tables=(), counts=b["counts"], modulus=b["modulus"])]
    ),
    Kind.TABLE_OPENED: lambda e, _: iter([ask.OpenTable(actor=_SYSTEM, table=e.table or "")]),
    Kind.TABLE_CLOSED: lambda e, b: iter([ask.CloseTable(actor=_SYSTEM, table=e.table or "", reason=b["reason"])]),
    Kind.LOCKED: _locked,
    Kind.LATE_BET: lambda e, b: iter(
        [ask.LateBet(actor=_SYSTEM, table=e.table or "", seat=b["seat"], ms_min=b["ms_min"], ms_max=b["ms_max"])]
    ),
    Kind.CLAIMED: _claimed,
    Kind.COMMON_CLAIMED: _common,
    Kind.CONFIRMED: _confirmed,
    Kind.HELD: lambda _, b: iter([ask.Hold(actor=_SYSTEM, award=b["award"])]),
    Kind.CORRECTED: lambda _, b: iter([ask.Correct(actor=_SYSTEM, award=b["award"], hand=b["hand"], seat=b["seat"])]),
    Kind.VOIDED: _voided,
    Kind.WAGER_VOIDED: _wager_voided,
    Kind.PAID: lambda _, b: iter(
        [
            ask.Pay(
                actor=_SYSTEM,
                award=b["award"],
                **{name: b[name] for name in ("slip", "method", "cashier", "payee", "payee_sha256") if name in b},
            )
        ]
    ),
    Kind.CORRECTION: lambda _, b: iter(
        [ask.Undo(actor=_SYSTEM, award=b["award"], second=None, reference=b["reference"])]
    ),
    Kind.FOLDED: lambda e, b: iter([ask.Fold(actor=_SYSTEM, table=e.table or "", seat=b["seat"])]),
    Kind.JOINED: lambda e, b: iter([ask.Join(actor=_SYSTEM, table=e.table or "", seats=tuple(b["seats"]))]),
    Kind.HAND_SPLIT: lambda e, b: iter([Split(actor=_SYSTEM, table=e.table or "", seat=b["seat"])]),
    Kind.NUMBER_KEYED: _number,
    Kind.SPIN_VOIDED: lambda e, _: iter([VoidSpin(actor=_SYSTEM, table=e.table or "")]),
    Kind.CAPPED: lambda e, _: iter([ask.EndGame(actor=_SYSTEM, table=e.table or "")]),
    Kind.GAME_ENDED: lambda e, _: iter([ask.EndGame(actor=_SYSTEM, table=e.table or "")]),
    Kind.LINK_SUSPENDED: lambda e, b: iter([links.SuspendLink(actor=_SYSTEM, link=e.link or "", reason=b["reason"])]),
    Kind.LINK_RESUMED: lambda e, _: iter([links.ResumeLink(actor=_SYSTEM, link=e.link or "")]),
    Kind.UNCLAIMED: lambda _, b: iter([links.MarkUnclaimed(actor=_SYSTEM, award=b["award"])]),
    Kind.DISPOSED: lambda _, b: iter([links.Dispose(actor=_SYSTEM, award=b["award"], to=b["to"])]),
    Kind.DISCONTINUED: lambda e, b: iter(
        [links.Discontinue(actor=_SYSTEM, link=e.link or "", target=b["target"], licensee=b.get("licensee", False))]
    ),
    Kind.ADJUSTMENT: lambda e, b: iter(
        [
            links.AdjustClaim(
                actor=_SYSTEM,
                table=e.table or "",
                round=b["round"],
                seat=b["seat"],
                hand=b["hand"],
                cents=b["amount_cents"],
            )
        ]
    ),
    Kind.DAY_READ: lambda _, b: iter([ReadDay(actor=_SYSTEM, day=b["day"], next_day=b["next_day"])]),
    Kind.KEY_SET: lambda _, b: iter([SetKey(actor=_SYSTEM, key=b["key"])]),
}


class Judging:
    """Decides entries again, one by one, and keeps count."""

    def __init__(self) -> None:
        """Nothing decided yet."""
        self.again: Counter[str] = Counter()
        self.not_again: Counter[str] = Counter()
        self._expected: deque[Entry] = deque()

    def judge(self, book: Book, record: Record, entry: Entry) -> str | None:
        """Why an entry is not what the rules decide on this book, or None."""
        if self._expected:
            difference = _difference(self._expected.popleft(), entry)
            if difference is not None:
                return f"the answer that began before it goes on otherwise: {difference}"
            self.again[entry.kind] += 1
            return None
        maker = _MAKERS.get(entry.kind)
        if maker is None:
            self.not_again[entry.kind] += 1
            return None
        refused, differs = "no command leads to it", ""
        for command in _asked_by(maker(entry, entry.body), entry, record.at_utc):
            entries, refused = _decided(book, command, entry)
            if not entries:
                continue
            difference = _difference(entries[0], entry)
            if difference is None:
                self._expected.extend(entries[1:])
                self.again[entry.kind] += 1
                return None
            differs = differs or f"decided again, it differs: {difference}"
        return differs or refused

    def to_json(self) -> dict[str, dict[str, int]]:
        """How many entries of each kind were decided again, and how many were not."""
        return {"again": dict(sorted(self.again.items())), "not_again": dict(sorted(self.not_again.items()))}

    def words(self) -> str:
        """The same for people."""
        left = ", ".join(f"{kind} {count}" for kind, count in sorted(self.not_again.items())) or "none"
        return f"decided again: {self.again.total()} entries; not decided again: {left}"


def _asked_by(made: Iterator[Command], entry: Entry, at_utc: str) -> Iterator[Command]:
    """Each command as each pair of roles would ask for it, with what every command has."""
    second, reference = entry.body.get("second"), entry.body.get("reference")
    for plain in made:
        given: dict[str, Any] = {"device": entry.device, "event": _event(entry.event_id), "now_utc": at_utc}
        if second is not None and hasattr(plain, "second"):
            if hasattr(plain, "reference") and reference is not None:
                given["reference"] = reference
            for one, other in _PAIRS:
                signed = {"actor": Actor(entry.actor, one), "second": Actor(second, other), **given}
                yield replace(plain, **signed)
        for role in _ALONE:
            yield replace(plain, actor=Actor(entry.actor, role), **given)


def _decided(book: Book, command: Command, entry: Entry) -> tuple[list[Entry], str]:
    """The entries of an answer from the first of this kind on, and a word on an answer that has none."""
    try:
        decision = decide(book, command)
    except MeterdError as cause:
        return [], f"it cannot be decided again: {cause}"
    if decision.refusal is not None:
        return [], f"decided again, it is refused: {decision.refusal.refusal.value} {decision.refusal.detail}"
    entries = list(decision.entries)
    while entries and entries[0].kind is Kind.REFUSED:
        entries.pop(0)
    return (entries, "") if entries and entries[0].kind is entry.kind else ([], "decided again, it is another entry")


def _difference(expected: Entry, found: Entry) -> str | None:
    """What differs between two entries in what they say and move; None where nothing does."""
    for name in ("kind", "table", "link", "actor"):
        if getattr(expected, name) != getattr(found, name):
            return f"{name} {getattr(expected, name)}, not {getattr(found, name)}"
    if sorted(expected.postings) != sorted(found.postings):
        odd = dict(set(expected.postings) ^ set(found.postings))
        return f"its money: {', '.join(sorted(odd))}"
    body = parse(canonical(expected.body))
    for name, fact in found.body.items():
        if name not in _BESIDE and not says(body.get(name), fact):
            return f"{name} {_short(body.get(name))}, not {_short(fact)}"
    return None


def _short(fact: Any) -> str:
    text = repr(fact)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
