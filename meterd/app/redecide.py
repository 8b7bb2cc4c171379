"""The audit of the rules: each entry is decided again, on the book as it then stood, with the parameters then in force.

Rule 1: the command is read off the entry; what it leads to must be what the ledger holds, money and facts. Facts that
        only later versions write (a closed list) are not missed in an older entry; any other is.
Rule 2: an entry does not tell roles, so those are tried that may do it; who signed is compared, not what he was.
Rule 3: what is not decided again is counted by kind and said with the reason: notes, whose facts come from outside, and
        refusals that do not tell all that was asked. Of notes the table, the link and that they move nothing are held
        against the rules all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from meterd.accounting import rules_day
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Role
from meterd.accounting.commands_day import ConfirmDay
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules import Decision, decide
from meterd.accounting.rules_day import EARLIER, EARLIER_VOUCHING, Keeping, confirm_day, leaving
from meterd.accounting.when import microseconds
from meterd.app.redecide_commands import MAKERS, NOT_AGAIN, event_of
from meterd.app.redecide_refused import asked_again, told_in_part
from meterd.errors import MeterdError
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.record import Record

_LONGEST: Final = 200  # of a fact in a message

_PRECEDENCE: Final = tuple(Refusal)
#: Roles in the order in which they are tried, alone and in pairs of two departments.
_ALONE: Final = (Role.DEALER, Role.SUPERVISOR, Role.SYSTEM, Role.ADMINISTRATOR, Role.ACCOUNTING)
_PAIRS: Final = (
    (Role.ADMINISTRATOR, Role.ACCOUNTING),
    (Role.SUPERVISOR, Role.ACCOUNTING),
    (Role.SUPERVISOR, Role.SUPERVISOR),
    (Role.ADMINISTRATOR, Role.ADMINISTRATOR),
)
#: Facts about the asking, not about the decision; the words of a refusal, which each version finds anew; the format,
#: which each verification looks at; which settled awards leave with a reading: held against each version's choice.
_BESIDE: Final = frozenset({"asked", "format", "detail", "step", "left"})
#: Facts that hang on the very moment of deciding. An entry's own time is read a little later.
_MOMENTS: Final = frozenset({"from_utc", "until_utc", "at_utc"})
#: The same for names inside a fact: older versions read the clock once to decide and again for the entry.
_MOMENTS_WITHIN: Final = frozenset({"capped_at"})
_NEAR_US: Final = 60_000_000
_ANSWER_US: Final = 1_000_000
#: Facts that the first version did not tell; each that is added belongs here, or older ledgers lack it.
_LATER: Final = frozenset({"out_of_order_after", "days_missed"})
#: The same for names inside a fact, such as a setting.
_LATER_WITHIN: Final = frozenset(
    {"also", "numbers", "base_least", "base_most", "cap_tip_cents", "lowest_chip_cents", "wagers_allowed_cents"}
)


class _Why(NamedTuple):
    """Why a command does not lead to an entry. ``came`` is how far it got: of many, the one that got furthest is told.

    A refusal stands in the place that it has among all; who may not ask is refused first.
    """

    came: int
    words: str


_ANOTHER: Final = _Why(len(_PRECEDENCE), "decided again, it is another entry")


class Judging:
    """Decides entries again, one by one, and keeps count."""

    def __init__(self) -> None:
        """Nothing decided yet."""
        self.again: Counter[str] = Counter()
        self.not_again: Counter[str] = Counter()
        self._rests: list[list[Entry]] = [[]]  # how the answer in hand may go on, by each command it may be of

    def judge(self, book: Book, record: Record, entry: Entry) -> str | None:
        """Why an entry is not what the rules decide on this book, or None."""
        going_on = [rest for rest in self._rests if rest]
        differences = [_difference(rest[0], entry) for rest in going_on]
        if None in differences:
            self._rests = [rest[1:] for rest, wrong in zip(going_on, differences, strict=True) if wrong is None]
            self.again[entry.kind] += 1
            return None
        if len(going_on) == len(self._rests):
            return f"the answer that began before it goes on otherwise: {differences[0]}"
        self._rests = [[]]
        if entry.kind is Kind.REFUSED:
            return self._refused(book, record, entry)
        maker = MAKERS.get(entry.kind)
        if maker is None:
            self.not_again[entry.kind] += 1
            return _misplaced(book, entry) if entry.kind is not Kind.BOOK_CARRIED else None
        rests, why = _rests(book, entry, maker(entry, entry.body), record.at_utc)
        if rests:
            self._rests = rests
            self.again[entry.kind] += 1
            if entry.kind is Kind.DAY_READ:
                why = _wrong_left(book, entry)
        return why

    def _refused(self, book: Book, record: Record, entry: Entry) -> str | None:
        """A refusal is made again where it tells what was asked; else it is counted among those that are not."""
        why = _Why(-2, "it names no command")
        for command in asked_again(entry, record.at_utc):
            try:
                decision = decide(book, command)
            except MeterdError as cause:
                why = max(why, _Why(-1, f"it cannot be decided again: {cause}"), key=_came)
                continue
            if decision.refusal is None:
                why = max(why, _Why(len(_PRECEDENCE), "decided again, it is not refused"), key=_came)
            elif decision.entries:
                difference = _difference(decision.entries[0], entry)
                if difference is None:
                    self.again[entry.kind] += 1
                    return None
                came = _PRECEDENCE.index(decision.refusal.refusal)
                why = max(why, _Why(came, f"decided again, it differs: {difference}"), key=_came)
        if told_in_part(entry):
            self.not_again[entry.kind] += 1
            return None
        return why.words

    def unfinished(self) -> str | None:
        """What has still to come of the answer in hand, once there is no further entry; None where nothing has."""
        if not all(self._rests):
            return None
        return f"it is missing: the answer that began before it goes on with {self._rests[0][0].kind}"

    def to_json(self) -> dict[str, dict[str, int]]:
        """How many entries of each kind were decided again, and how many were not."""
        return {"again": dict(sorted(self.again.items())), "not_again": dict(sorted(self.not_again.items()))}

    def words(self) -> str:
        """The same for people."""
        again, not_again = (
            f"{n} {'entry' if n == 1 else 'entries'}" for n in map(Counter.total, (self.again, self.not_again))
        )
        told = [f"decided again: {again}; not decided again: {not_again}"]
        told += [f"  {kind} {count}: {NOT_AGAIN[Kind(kind)]}" for kind, count in sorted(self.not_again.items())]
        return "\n".join(told)


def _misplaced(book: Book, entry: Entry) -> str | None:
    """What is wrong with a note, whatever its facts: it moves money, or names a table of another link."""
    table = book.tables.get(entry.table or "")
    if entry.postings:
        return f"{entry.kind} moves money"
    if entry.table is not None and table is None:
        return f"there is no table {entry.table}"
    if entry.link != (table.settings.link if table is not None else None):
        return f"the link {entry.link} is not that of table {entry.table}"
    return None


def _wrong_left(book: Book, entry: Entry) -> str | None:
    """Why what leaves the book with a reading is what no version's rules let go, or None."""
    now = Keeping(rules_day.SETTLED_KEPT, rules_day.SHARES_OF_METERS_KEPT)
    if any(leaving(book, keeping) == entry.body["left"] for keeping in (now, *EARLIER)):
        return None
    return f"decided again, it differs: left {_short(leaving(book, now))}, not {_short(entry.body['left'])}"


def _rests(book: Book, entry: Entry, made: Iterator[Command], at_utc: str) -> tuple[list[list[Entry]], str | None]:
    """What must follow an entry by each of the commands that lead to it; else none, and why."""
    rests: list[list[Entry]] = []
    refused, differs = _Why(-1, "no command leads to it"), ""
    for plain in made:
        for command in _asked_by(plain, entry, at_utc):
            entries, why = _decided(book, command, entry)
            refused = max(refused, why, key=_came)
            difference = _difference(entries[0], entry) if entries else why.words
            if difference is None:
                rests.append(entries[1:])
                break
            if entries:
                differs = differs or f"decided again, it differs: {difference}"
    return rests, None if rests else differs or refused.words


def _came(why: _Why) -> int:
    return why.came


def _asked_by(plain: Command, entry: Entry, at_utc: str) -> Iterator[Command]:
    """A command as each pair of roles would ask for it, with what every command has."""
    second, reference = entry.body.get("second"), entry.body.get("reference")
    given: dict[str, Any] = {"device": entry.device, "event": event_of(entry.event_id), "now_utc": at_utc}
    if second is not None and hasattr(plain, "second"):
        if hasattr(plain, "reference") and reference is not None:
            given["reference"] = reference
        for one, other in _PAIRS:
            signed = {"actor": Actor(entry.actor, one), "second": Actor(second, other), **given}
            yield replace(plain, **signed)
    for role in _ALONE:
        yield replace(plain, actor=Actor(entry.actor, role), **given)


def _decided(book: Book, command: Command, entry: Entry) -> tuple[list[Entry], _Why]:
    """The entries of an answer from the first of this kind on, and a word on an answer that has none."""
    try:
        decision = decide(book, command)
    except MeterdError as cause:
        return [], _Why(0, f"it cannot be decided again: {cause}")
    if decision.refusal is not None and isinstance(command, ConfirmDay):
        decision = _as_earlier(book, command, decision)
    if decision.refusal is not None:
        refusal, detail = decision.refusal.refusal, decision.refusal.detail
        return [], _Why(_PRECEDENCE.index(refusal), f"decided again, it is refused: {refusal.value} {detail}")
    entries = list(decision.entries)
    while entries and entries[0].kind is Kind.REFUSED:
        entries.pop(0)
    return entries if entries and entries[0].kind is entry.kind else [], _ANOTHER


def _as_earlier(book: Book, command: ConfirmDay, decision: Decision) -> Decision:
    """What an earlier version took, where one did; else the decision of today. No money hangs on it."""
    for taken in EARLIER_VOUCHING:
        answer = confirm_day(book, command, taken)
        if not isinstance(answer, Refused):
            return Decision(answer, None)
    return decision


def _difference(expected: Entry, found: Entry) -> str | None:
    """What differs between two entries in what they say and move; None where nothing does."""
    for name in ("kind", "table", "link", "actor"):
        if getattr(expected, name) != getattr(found, name):
            return f"{name} {getattr(expected, name)}, not {getattr(found, name)}"
    if sorted(expected.postings) != sorted(found.postings):
        odd = dict(set(expected.postings) ^ set(found.postings))
        return f"its money: {', '.join(sorted(odd))}"
    body = parse(canonical(expected.body))
    missing = sorted(body.keys() - found.body.keys() - _BESIDE - _LATER)
    if missing:
        return f"{', '.join(missing)} missing"
    for name, fact in found.body.items():
        if name in _MOMENTS and _near(body.get(name), fact):
            continue
        if name not in _BESIDE and not _says(body.get(name), fact):
            return f"{name} {_short(body.get(name))}, not {_short(fact)}"
    return None


def _near(expected: Any, found: Any) -> bool:
    """Whether two moments are one, but for the time that deciding takes."""
    return -_NEAR_US <= _apart_us(expected, found) <= _NEAR_US


def _just_before(expected: Any, found: Any) -> bool:
    """Whether a moment lies as far before another as one answer takes."""
    return 0 <= _apart_us(expected, found) <= _ANSWER_US


def _apart_us(expected: Any, found: Any) -> int:
    """How much the expected moment is later; more than is near where one is none."""
    if not isinstance(expected, str) or not isinstance(found, str):
        return _NEAR_US + 1
    try:
        return microseconds(expected) - microseconds(found)
    except ValueError:
        return _NEAR_US + 1


def _says(expected: Any, found: Any) -> bool:
    """Whether what was found is expected; only facts that the first version did not tell may be missing from it."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return expected.keys() - found.keys() <= _LATER_WITHIN and all(
            name in expected
            and (_says(expected[name], fact) or (name in _MOMENTS_WITHIN and _just_before(expected[name], fact)))
            for name, fact in found.items()
        )
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_says, expected, found))
    return type(expected) is type(found) and bool(expected == found)


def _short(fact: Any) -> str:
    text = repr(fact)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
