"""The committed state as plain JSON values, for pages, metrics and the command line.

Built after a commit, by the money thread, part by part: only what a batch touched is made anew. A part is never changed
once it is handed out; it is replaced.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from meterd.accounting.book import Book
from meterd.accounting.when import plus_days
from meterd.config import Site
from meterd.config.signs import DISCLOSURE
from meterd.floor.session import TableSession
from meterd.money import MICROCENTS_PER_CENT

AWARDS_SHOWN: Final = 20  # what a page lists besides the open ones

#: States of an award that still ask for a person.
OPEN_STATES: Final = frozenset({"pending", "held", "confirmed"})


def about_json(site: Site, book: Book) -> dict[str, Any]:
    """Whose ledger it is. ``sas``: the last win that is written of each game on a SAS line, as [epoch, number]."""
    wins = {f"{sas.bus}/{game.address}": f"{sas.bus}/{game.address}/win" for sas in site.sas for game in sas.games}
    return {
        "site": book.site_id,
        "currency": book.currency,
        "demo": book.demo,
        "sas": {device: list(book.devices[name]) for device, name in wins.items() if name in book.devices},
    }


def link_json(book: Book, link_id: str) -> dict[str, Any]:
    """One link: its levels and what is owed on it."""
    link = book.links[link_id]
    levels = {}
    for settings in link.settings.levels:
        level = link.levels[settings.name]
        levels[settings.name] = {
            "display_cents": level.display_microcents // MICROCENTS_PER_CENT,
            "display_microcents": level.display_microcents,
            "reserve_microcents": level.reserve_microcents,
            "overflow_microcents": level.overflow_microcents,
            "seed_cents": settings.seed_cents,
            "limit_cents": settings.limit_cents,
            "wagers": level.wagers,
            "hits": level.hits,
        }
    return {
        "paytable": link.settings.paytable.id,
        "wager_cents": link.settings.wager_cents,
        "suspended": link.suspended,
        "disclosure": DISCLOSURE if link.gives_to_house(book.site) else None,
        "liability_microcents": book.liability_microcents(link_id),
        "pending": sum(1 for award in open_awards(book, link_id) if award["status"] in {"pending", "held"}),
        "levels": levels,
    }


def fund_json(book: Book, fund_id: str) -> dict[str, Any]:
    """One posted jackpot or pool table: what its pools hold, what is posted, which shares are still owed."""
    fund = book.funds[fund_id]
    pools = {}
    for settings in fund.settings.pools:
        state = fund.pools[settings.name]
        pools[settings.name] = {
            "held_microcents": fund.microcents(settings.name),
            "posted_cents": state.posted_cents,
            "cap_cents": settings.cap_cents,
            "capped_at": state.capped_at,
            "pay_out_by": fund.pay_out_by(settings.name),
        }
    shares = [book.fund_awards[name] for name in book.open_shares if book.fund_awards[name].fund == fund_id]
    return {
        "game": fund.settings.game.value,
        "closed": fund.closed,
        "posted_at": fund.posted_at,
        "rake_stopped": fund.stopped is not None,
        "liability_microcents": book.liability_microcents(fund_id),
        "pools": pools,
        "runners": {str(seat): count for seat, count in sorted(fund.runners.items())},
        "shares": [
            {
                "id": one.id,
                "status": one.state_word,
                "amount_cents": one.cents,
                "claimable_until": plus_days(one.at_utc, fund.settings.unclaimed_days),
            }
            for one in shares
        ],
    }


def award_json(book: Book, award_id: str) -> dict[str, Any]:
    """One award, with the words a page shows."""
    award = book.awards[award_id]
    return {
        "id": award.id,
        "link": award.link,
        "table": award.table,
        "round": award.round,
        "seat": award.seat,
        "hand": award.hand,
        "status": award.state_word,
        "amount_cents": award.amount_cents,
    }


def open_awards(book: Book, link_id: str | None = None) -> list[dict[str, Any]]:
    """Awards that still ask for a person, oldest first."""
    return [
        award_json(book, award_id)
        for award_id in book.open_awards
        if link_id is None or book.awards[award_id].link == link_id
    ]


def recent_awards(book: Book) -> list[dict[str, Any]]:
    """The open awards and the last ones, oldest first, each once."""
    last = [*islice(reversed(book.awards), AWARDS_SHOWN)][::-1]  # the book holds every award since the ledger began
    still_open = [award_id for award_id in book.open_awards if award_id not in last]
    return [award_json(book, award_id) for award_id in (*still_open, *last)]


def table_json(book: Book, table_id: str, session: TableSession) -> dict[str, Any]:
    """One table as its session and the book see it."""
    table = book.tables[table_id]
    return {
        "link": table.settings.link,
        "game": table.settings.game,
        "state": table.state.value,
        "closed_reason": table.closed_reason,
        "round": table.round,
        "seats": table.settings.seats,
        "present": sorted(session.present),
        "accepted": sorted(table.wagers),
        "wagers_cents": sum(wager.wager_cents for wager in table.wagers.values()),
        "pending": [award for award in table.awards if book.awards[award].state_word in {"pending", "held"}],
        "text": list(session.view(book).text),
        "streak": {"length": table.streak.length, "ended": table.streak.ended} if table.streak is not None else None,
    }
