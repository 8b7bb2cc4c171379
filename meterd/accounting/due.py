"""What is due: the clocks of the rules that have run out and on which nobody has acted.

Rule 1: pure, like the rules: the book and a moment in, a list out. Nothing is done here; people act, and only then does
        the ledger change.
Rule 2: what an act has settled is due no more: a share marked unclaimed, a pool won, a link ended, a day posted.
Units: moments as the ledger writes them.

Choices where the rules leave one:
* "At least once per gaming day, at about the same time" (CO 47.1-1046(2)): a posting is due a day and two hours after
  the last one, or after the fund was opened. The books know no time zone and so no gaming day.
* A site that names no days after which an award is unclaimed has none due.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from meterd.accounting.answer import site_of
from meterd.accounting.book import Book
from meterd.accounting.settings_pools import POSTED_GAMES
from meterd.accounting.state import AwardStatus
from meterd.accounting.state_pools import ShareStatus
from meterd.accounting.when import plus_days, plus_hours, reached

#: A gaming day, and what "about the same time" may come to.
POSTING_HOURS: Final = 26


class DueKind(StrEnum):
    """Which clock has run out, and so what somebody has to do."""

    AWARD_UNCLAIMED = "award_unclaimed"  # a confirmed award nobody collected in the site's days (CO 47.1-1046(1)(c))
    SHARE_UNCLAIMED = "share_unclaimed"  # a share of a jackpot nobody claimed in the fund's days (the same)
    PAY_OUT = "pay_out"  # a jackpot whose rake stopped at its cap six months ago (CO 47.1-1046(7)(c))
    NOTICE_OVER = "notice_over"  # a link whose notice has run and that has not ended
    GAMING_DAY = "gaming_day"  # the clock is days off the gaming day, and nothing but it says so
    POSTING = "posting"  # a jackpot whose amounts were not posted for a gaming day (CO 47.1-1046(2))


class Due(NamedTuple):
    """One thing that is due: an award, a share, a pool, a link or a fund, and since when."""

    kind: DueKind
    subject: str
    since_utc: str


def due(book: Book, now_utc: str) -> tuple[Due, ...]:
    """All that is due at a moment, by kind, each kind in the order of the books."""
    found = (*_awards(book), *_shares(book), *_pay_outs(book), *_notices(book), *_postings(book))
    return tuple(one for one in found if reached(now_utc, one.since_utc))


def _awards(book: Book) -> Iterator[Due]:
    days = site_of(book).unclaimed_days
    for name in book.open_awards if days is not None else ():
        award = book.awards[name]
        if award.status is AwardStatus.CONFIRMED and not award.unclaimed:
            yield Due(DueKind.AWARD_UNCLAIMED, name, plus_days(award.confirmed_at_utc, days or 0))


def _shares(book: Book) -> Iterator[Due]:
    for name in book.open_shares:
        share = book.fund_awards[name]
        if share.status is ShareStatus.CONFIRMED:
            days = book.funds[share.fund].settings.unclaimed_days
            yield Due(DueKind.SHARE_UNCLAIMED, name, plus_days(share.at_utc, days))


def _pay_outs(book: Book) -> Iterator[Due]:
    for name, fund in book.funds.items():
        for pool in fund.settings.pools:
            by = fund.pay_out_by(pool.name)
            if by is not None:
                yield Due(DueKind.PAY_OUT, f"{name}/{pool.name}", by)


def _notices(book: Book) -> Iterator[Due]:
    days = site_of(book).discontinue_notice_days
    for name, link in book.links.items():
        if link.notice_utc and not link.discontinued:
            yield Due(DueKind.NOTICE_OVER, name, plus_days(link.notice_utc, days))


def _postings(book: Book) -> Iterator[Due]:
    for name, fund in book.funds.items():
        last = fund.posted_at or fund.opened_at
        if fund.settings.game in POSTED_GAMES and not fund.closed and last:
            yield Due(DueKind.POSTING, name, plus_hours(last, POSTING_HOURS))
