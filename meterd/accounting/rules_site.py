"""Rules of the house around the rounds: ledger, site, links, tables, devices, and facts without money.

Sources: parameters enter by entries; a device is trusted by an entry with a new epoch; what moved while nobody
listened is one MissedWhileAway entry and nothing else.
Units: levels in microcents; counters are raw counts.
"""

from __future__ import annotations

from typing import Any, Final

from meterd.accounting.answer import (
    ANYBODY,
    DEVICES,
    SETUP,
    Answer,
    closed_refusal,
    entry,
    find_table,
    not_authorised,
    table_for,
)
from meterd.accounting.book import Book
from meterd.accounting.caps import cap_problem
from meterd.accounting.commands import (
    CloseTable,
    CreateLedger,
    DefineTable,
    Note,
    OpenLink,
    OpenTable,
    SetSite,
    TrustDevice,
)
from meterd.accounting.entries import Kind
from meterd.accounting.meter import LevelMoney, LinkRules, add, check_rates
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings import split_problem
from meterd.accounting.settings_pools import POSTED_GAMES
from meterd.accounting.state import TableStatus
from meterd.accounting.steps import steps_problem
from meterd.errors import MisuseError

FORMAT: Final = 2

#: Reasons for closing after which what lies on the sensors is in doubt: only END GAME opens the table again.
DOUBTFUL_REASONS: Final = frozenset(
    {"device_lost", "device_returned", "device_fault", "crash", "overrun", "clock_step", "stuck_input"}
)

_NOTES: Final = frozenset(
    {
        Kind.STARTED,
        Kind.STOPPED,
        Kind.RESTORED,
        Kind.CLOCK_STEP,
        Kind.DEVICE_LOST,
        Kind.COUNT_MISMATCH,
        Kind.GAME_WIN,
        Kind.UNREASONABLE,
    }
)


def create_ledger(book: Book, command: CreateLedger) -> Answer:
    """The first entry of a new ledger; a second one is ALREADY_DONE."""
    refused = not_authorised(command.actor, SETUP)
    if refused:
        return refused
    if book.seq:
        return Refused(Refusal.ALREADY_DONE, f"the ledger has {book.seq} entries")
    body = {"format": FORMAT, "site": command.site, "currency": command.currency, "demo": command.demo}
    return (entry(command, Kind.LEDGER_CREATED, body),)


def set_site(book: Book, command: SetSite) -> Answer:
    """Put the site's thresholds in force."""
    refused = not_authorised(command.actor, SETUP)
    if refused:
        return refused
    if book.site == command.settings:
        return Refused(Refusal.ALREADY_DONE, command.settings.id)
    return (entry(command, Kind.SITE_SET, {"settings": command.settings.to_json()}),)


def open_link(book: Book, command: OpenLink) -> Answer:
    """Put a link in force: the house puts up the seed of every level.

    Raises:
        MisuseError: settings that the configuration must have refused: a second wager for a split hand on a link with a
            meter, which takes nothing after LOCK; pay tables by the size of the bet that do not go together; rates
            above the whole wager; what LinkRules.of refuses.
    """
    refused = not_authorised(command.actor, SETUP)
    if refused:
        return refused
    settings = command.settings
    if settings.id in book.links or settings.id in book.funds:
        return Refused(Refusal.ALREADY_DONE, settings.id)
    rules = LinkRules.of(settings)
    check_rates(rules)
    problem = split_problem(settings) or steps_problem(settings)
    if problem is not None:
        raise MisuseError(f"link {settings.id}: {problem}")
    moves: dict[str, int] = {}
    levels: dict[str, dict[str, int]] = {}
    for level in rules.levels.values():
        seed = level.seed_microcents
        add(moves, level.seed, -seed)
        add(moves, level.meter, seed)
        levels[level.key] = LevelMoney(level, seed, 0, 0, standing=seed).facts()
    body = {"settings": settings.to_json(), "sha256": command.sha256, "levels": levels}
    return (entry(command, Kind.LINK_OPENED, body, link=settings.id, moves=moves),)


def define_table(book: Book, command: DefineTable) -> Answer:
    """Put a table in force. It begins CLOSED.

    Raises:
        MisuseError: its link is not in force, or its aggregate limits are below the smallest wager at the highest odds;
            a site file that says so must have been refused.
    """
    refused = not_authorised(command.actor, SETUP)
    if refused:
        return refused
    settings = command.settings
    fund = book.funds.get(settings.id)
    if settings.id in book.tables or (fund is not None and fund.settings.game in POSTED_GAMES):
        return Refused(Refusal.ALREADY_DONE, settings.id)
    if settings.link not in book.links:
        raise MisuseError(f"table {settings.id} names link {settings.link}, which is not in force")
    problem = cap_problem(book.links[settings.link].settings, settings)
    if problem is not None:
        raise MisuseError(f"table {settings.id}: {problem}")
    body = {"settings": settings.to_json()}
    return (entry(command, Kind.TABLE_DEFINED, body, table=settings.id, link=settings.link),)


def note(book: Book, command: Note) -> Answer:
    """A fact without money.

    Raises:
        MisuseError: a kind that only a rule may write.
    """
    refused = not_authorised(command.actor, ANYBODY)
    if refused:
        return refused
    if command.kind not in _NOTES:
        raise MisuseError(f"{command.kind} is not a note")
    link = None
    if command.table is not None:
        found = find_table(book, command.table)
        if isinstance(found, Refused):
            return found
        link = found[0].settings.link
    return (entry(command, command.kind, dict(command.facts), table=command.table, link=link),)


def trust_device(book: Book, command: TrustDevice) -> Answer:
    """Begin to trust a device: a new epoch and a baseline. Its open tables close; what it missed is one entry.

    Missed is what moved since the last entry that tells of the input: its loss, a clean stop, or, after a crash, the
    last press that led to an entry (what was heard since then and led to none is in there too).
    """
    refused = not_authorised(command.actor, DEVICES)
    if refused:
        return refused
    for name in command.tables:
        found = find_table(book, name)
        if isinstance(found, Refused):
            return found
    marks = {name: book.devices[name] for name in command.counts if name in book.devices}
    epoch = max((mark.epoch for mark in marks.values()), default=0) + 1
    missed = {
        name: {"before": mark.count % command.modulus, "now": command.counts[name]}
        for name, mark in marks.items()
        if mark.count % command.modulus != command.counts[name]
    }
    body: dict[str, Any] = {"epoch": epoch, "counts": dict(command.counts), "modulus": command.modulus}
    entries = [entry(command, Kind.DEVICE_TRUSTED, body)]
    if missed:
        facts = {"epoch": epoch, "modulus": command.modulus, "inputs": missed}
        entries.append(entry(command, Kind.MISSED_WHILE_AWAY, facts, first=False))
    for name in command.tables:
        table = book.tables[name]
        if table.state is TableStatus.OPEN:
            closed = {"reason": "device_returned", "was": table.state.value, "needs_end_game": True}
            link = table.settings.link
            entries.append(entry(command, Kind.TABLE_CLOSED, closed, table=name, link=link, first=False))
    return tuple(entries)


def open_table(book: Book, command: OpenTable) -> Answer:
    """CLOSED → OPEN, where nothing is in doubt."""
    found = table_for(book, command.actor, DEVICES, command.table)
    if isinstance(found, Refused):
        return found
    table, _ = found
    if table.state is not TableStatus.CLOSED:
        locked = table.state is TableStatus.LOCKED
        step = "END GAME ends the round, and the next begins." if locked else "Nothing to do."
        return Refused(Refusal.ALREADY_DONE, f"{command.table} is {table.state.value.lower()}", step)
    if table.needs_end_game:
        return closed_refusal(table)
    return (entry(command, Kind.TABLE_OPENED, {}, table=command.table, link=table.settings.link),)


def close_table(book: Book, command: CloseTable) -> Answer:
    """OPEN → CLOSED. A LOCKED table stays LOCKED and notes the reason; a CLOSED one may only gain a doubt."""
    found = table_for(book, command.actor, DEVICES, command.table)
    if isinstance(found, Refused):
        return found
    table, _ = found
    doubtful = command.reason in DOUBTFUL_REASONS
    gains_doubt = doubtful and not table.needs_end_game and table.closed_reason not in {"new", "stopped"}
    if table.state is TableStatus.CLOSED and not gains_doubt:
        return Refused(Refusal.ALREADY_DONE, f"{command.table} is closed ({table.closed_reason})", "Nothing to do.")
    body = {"reason": command.reason, "was": table.state.value, "needs_end_game": doubtful}
    return (entry(command, Kind.TABLE_CLOSED, body, table=command.table, link=table.settings.link),)
