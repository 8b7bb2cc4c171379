"""What verification asks of entries that tell of the ledger itself: the day's reading and the keys of checkpoints.

Rule 1: figures of a reading that follow from the entries are what follows; one left out is as wrong as one changed.
Rule 2: times have one form, and a ledger is one site's.
Rule 3: a key signs from its entry on until another replaces it. A checkpoint of a size at which the ledger had replaced
        its key proves nothing: whoever found the old key can sign such a one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.rules_day import read_day
from meterd.accounting.when import is_day
from meterd.ledger.canonical import canonical
from meterd.ledger.note import NoteError, PublicKey, parse_key
from meterd.ledger.record import Record

#: What a reading tells that follows from the entries. Which awards leave the book, the version that wrote it chose.
_FIGURES: Final = ("since_seq", "since_utc", "levels", "pools", "moved", "links", "tables")

_MOMENT: Final = re.compile("[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}[.][0-9]{6}Z")

#: Keys of a ledger in order, each with the number of the entry that put it in force or carried it over.
KeysSet = list[tuple[int, str]]


def out_of_form(record: Record, site: str) -> str | None:
    """Why the columns of an entry are not in their form, or None. ``site``: of the ledger, "" where not yet known."""
    if not _MOMENT.fullmatch(record.at_utc):
        return f"at_utc {record.at_utc!r} is no moment such as 2026-12-01T13:00:00.000000Z"
    if site and record.site != site:
        return f"it is of the site {record.site!r}, and the ledger is that of {site!r}"
    return None


def wrong_about_itself(book: Book, entry: Entry) -> str | None:
    """Why an entry that tells of the ledger itself cannot follow on this book, or None."""
    if entry.kind is Kind.DAY_READ:
        return _wrong_reading(book, entry)
    if entry.kind is Kind.DAY_CONFIRMED and not (is_day(entry.body["day"]) and entry.body["was"] == book.gaming_day):
        return (
            f"the day {entry.body['day']} is confirmed after {entry.body['was']}; the gaming day is {book.gaming_day}"
        )
    if entry.kind is Kind.KEY_SET:
        return _wrong_key(book.keys, entry)
    return None


def _wrong_reading(book: Book, entry: Entry) -> str | None:
    """Why a day's reading is not that of this book, or None."""
    body = entry.body
    days = (body["day"], body["next_day"])
    if not all(is_day(day) for day in days) or (book.gaming_day and book.gaming_day != body["day"]):
        return f"the day's reading is of {days[0]}, and the gaming day is {book.gaming_day}"
    answer = read_day(book, ReadDay(actor=SYSTEM, day=body["day"], next_day=body["next_day"]))
    if not isinstance(answer, tuple):
        return f"the day's reading: {answer.detail}"
    expected = answer[0].body
    odd = [name for name in _FIGURES if name not in body or canonical(body[name]) != canonical(expected[name])]
    if odd:
        return f"the day's reading tells other figures than the entries of: {', '.join(odd)}"
    return _wrong_left(book, body["left"])


def _wrong_left(book: Book, left: Mapping[str, list[str]]) -> str | None:
    """Why what leaves the book with a reading may not, or None: nothing does of which anything may still become."""
    settled = {
        "awards": book.awards.keys() - set(book.open_awards),
        "shares": {name for name, share in book.fund_awards.items() if not share.owed},
    }
    for what, may in settled.items():
        if odd := sorted(set(left[what]) - may):
            return f"the day's reading lets {odd[0]} leave the book, and it is not settled"
        if len(set(left[what])) != len(left[what]):
            return f"the day's reading names one of the {what} twice that leave the book"
    return None


def _wrong_key(keys: tuple[str, ...], entry: Entry) -> str | None:
    """Why an entry cannot put a key in force behind these, or None."""
    before = keys[-1] if keys else None
    try:
        written = str(parse_key(entry.body["key"]))
    except (NoteError, AttributeError) as cause:
        return f"it puts a key in force that is none: {cause}"
    if written != entry.body["key"] or written == before or entry.body["replaces"] != before:
        return f"it replaces the key {entry.body['replaces']} by {written}, and in force is {before}"
    return None


def unsigned(signers: Iterable[PublicKey], keys: KeysSet, size: int) -> str | None:
    """Why a checkpoint of this size counts as signed by nobody, or None. ``signers`` are known keys that signed it."""
    names = []
    for key in signers:
        before = [written for seq, written in keys if seq <= size]
        if str(key) not in before or before[-1] == str(key):
            return None
        names.append(key.name)
    if names:
        return f"it is signed by {', '.join(names)}, which the ledger had replaced before entry {size}"
    return "no key that is known has signed this checkpoint (give yours with --key)"
