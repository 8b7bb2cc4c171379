"""Rules of changed settings of a house that plays: thresholds of the site, settings of a table.

Source: money rules M12 (two people of two departments, a reference, never in play); CO 47.1-1046(6).

Choices where the rules leave one:
* Thresholds change between awards: one that waits was claimed under those in force, and is confirmed under them.
* A period that has begun to run for players is not shortened: not the notice of a link, nor the days to collect an
  award that is owed.
* A table changes between rounds and with none of its awards waiting. It keeps its link: awards of its past rounds are
  owed by that one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Final

from meterd.accounting import when
from meterd.accounting.answer import Answer, entry, find_table
from meterd.accounting.book import Book
from meterd.accounting.caps import cap_problem
from meterd.accounting.commands import Command
from meterd.accounting.commands_links import ChangeSite, ChangeTable
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.accounting.state import AwardStatus, TableStatus
from meterd.accounting.two_people import in_play, out_of_bounds, people_refusal, signed
from meterd.errors import MisuseError


def change_site(book: Book, command: ChangeSite) -> Answer:
    """Other thresholds and permissions.

    Raises:
        MisuseError: another site or currency; whoever reads a site file must have refused that.
    """
    was, now = book.site, command.settings
    if was is None or (was.id, was.currency) != (now.id, now.currency):
        raise MisuseError("a ledger is one site's and in one currency")
    refused = people_refusal(command)
    if refused:
        return refused
    refused = _award_waits(book) or _shortened(book, was, now) or in_play(book, list(book.links)) or _hand_in_play(book)
    if refused:
        return refused
    if was == now:
        return Refused(Refusal.ALREADY_DONE, now.id)
    body = {"settings": now.to_json(), "was": was.to_json(), **signed(command)}
    return (entry(command, Kind.SITE_SET, body),)


def _hand_in_play(book: Book) -> Refused | None:
    """Bets of a hand are out at a table with a pool of its own: what it pays is held against the thresholds."""
    for name, fund in book.funds.items():
        if fund.bets or fund.strike_outs:
            return Refused(Refusal.NOT_YET, f"{name} is in play", "Key who won the hand first.")
    return None


def _award_waits(book: Book, table: str | None = None) -> Refused | None:
    """An award is pending, anywhere or at one table."""
    for award in book.open_awards:
        held = book.awards[award]
        if held.pending and (table is None or held.table == table):
            return Refused(Refusal.LEVEL_HAS_PENDING_AWARD, f"{award} at {held.table} is pending")
    return None


def _shortened(book: Book, was: SiteSettings, now: SiteSettings) -> Refused | None:
    """A period that runs for players would end earlier."""
    if now.discontinue_notice_days < was.discontinue_notice_days:
        running = [name for name, link in book.links.items() if link.notice_utc and not link.discontinued]
        if running:
            notice = f"the notice of {running[0]} runs {was.discontinue_notice_days} days"
            return Refused(Refusal.NOT_YET, notice, "It may become longer, or shorter once it has run.")
    days_now, days_was = now.unclaimed_days, was.unclaimed_days
    if days_now is not None and (days_was is None or days_now < days_was):
        owed = [name for name in book.open_awards if book.awards[name].status is AwardStatus.CONFIRMED]
        if owed:
            promised = "without a last day" if days_was is None else f"for {days_was} days"
            step = "The days may become more, or fewer once it is paid."
            return Refused(Refusal.NOT_YET, f"{owed[0]} may be collected {promised}", step)
    return None


def change_table(book: Book, command: ChangeTable) -> Answer:
    """Other settings of a table; its aggregate limits stay as they are.

    Raises:
        MisuseError: another link; whoever reads a site file must have refused that.
    """
    refused = people_refusal(command)
    if refused:
        return refused
    found = find_table(book, command.settings.id)
    if isinstance(found, Refused):
        return found
    table, _ = found
    was = table.settings
    if was.link != command.settings.link:
        raise MisuseError(f"table {was.id} keeps its link {was.link}")
    now = replace(command.settings, **_caps(was))
    refused = _award_waits(book, was.id) or _limits_too_small(book, command, now)
    if not refused and table.state is TableStatus.LOCKED:
        refused = Refused(Refusal.NOT_YET, f"{was.id} is in play", "Press END GAME first.")
    if not refused and was == now:
        refused = Refused(Refusal.ALREADY_DONE, was.id)
    if refused:
        return refused
    body = {"settings": now.to_json(), "was": was.to_json(), **signed(command)}
    return (entry(command, Kind.TABLE_CHANGED, body, table=was.id, link=was.link),)


def _caps(settings: TableSettings) -> dict[str, Any]:
    """The aggregate limits among a table's settings: what players were told when it was put in force."""
    return {each.name: getattr(settings, each.name) for each in fields(settings) if each.name.startswith("cap_")}


def _limits_too_small(book: Book, command: ChangeTable, now: TableSettings) -> Refused | None:
    """An aggregate limit that holds, or will, stays at or above the smallest wager at the highest odds."""
    table = book.tables[now.id]
    moment = when.now(book, command)
    held = table.caps_at(moment)
    for posted in [held] * (held is not None) + [caps for caps in table.caps if caps.from_utc > moment]:
        problem = cap_problem(book.links[now.link].settings, now, posted)
        if problem is not None:
            return out_of_bounds(f"{now.id}: {problem}")
    return None


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {
    ChangeSite: change_site,
    ChangeTable: change_table,
}
