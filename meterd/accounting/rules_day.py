"""Rules of the gaming day: what its reading adds up, and which awards the book no longer needs after it.

Rule 1: a reading moves no money, closes no table and ends no round.
Rule 2: a gaming day that does not follow the one before is one for which nobody was there, or a clock that went wrong.
        No reading by itself goes further than the machine can bear out; two people can (``ConfirmDay``).
Rule 3: a day's figures are what moved since the volume began, by the accounts and counts as they stood then.
Units: ``*_cents``, ``*_microcents``.

Choices where nothing says how:
* An award that is settled (paid, voided or disposed of) stays at hand until ``SETTLED_KEPT`` later ones are settled;
  one that took a share of a meter until ``SHARES_OF_METERS_KEPT`` such are. Those before that leave the book with the
  day's reading and stand in the sealed volumes. What was paid by them stands: an UNDO no longer knows them. A claim
  proved late is taken for any round the table ever had, whatever has left.
* An award that a round, a tie or a link's journal still names stays, and so do all awards of a round that is not over
  with (one of it is pending: limits are shared among them) and the newest of each hand of a link that was won from its
  meters: whether the highest award was ever won decides how a link may end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from meterd.accounting.answer import SETUP, Answer, entry, level_facts, not_authorised
from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.commands_day import ConfirmDay, ReadDay, SetKey
from meterd.accounting.entries import Kind
from meterd.accounting.journal import CapOp, ClaimOp, UndoOp
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.state import Award, AwardStatus, LinkState
from meterd.accounting.state_pools import ShareStatus
from meterd.accounting.two_people import people_refusal, signed
from meterd.accounting.when import HOUR_US, follows, is_day, microseconds, now

#: Settled awards that stay at hand. The next volume begins with them all while tables wait: a millisecond each 100.
SETTLED_KEPT: Final = 1_000
#: The same for awards that took a share of a meter: the jackpots of years.
SHARES_OF_METERS_KEPT: Final = 2_000


class Keeping(NamedTuple):
    """How much of what is settled stays at hand: what a version chose.

    ``settled``, ``shares_of_meters``: how many; ``clocks``: undone wins that tell since when a pool is at its cap.
    """

    settled: int
    shares_of_meters: int
    clocks: bool = True


#: What earlier versions chose. Their readings are right by that; whoever changes the choice adds what it was.
EARLIER: Final = (
    Keeping(1_000, 0, clocks=False),
    Keeping(200, 0, clocks=False),
    Keeping(3_000, 3_000, clocks=False),
    Keeping(1_000, 2_000, clocks=False),
)

_CLAIMED: Final = "claimed"


def read_day(book: Book, command: ReadDay) -> Answer:
    """The reading of a gaming day; the last entry of its volume."""
    refused = not_authorised(command.actor, SETUP)
    if refused:
        return refused
    for day in (command.day, command.next_day):
        if not is_day(day):
            return _no_day(day)
    if command.next_day <= max(command.day, book.gaming_day):
        return Refused(Refusal.NOT_YET, f"{command.next_day} does not follow {max(command.day, book.gaming_day)}")
    began = book.began
    levels = [level for link in book.links for level in book.money(link).levels.values()]
    moved = {account: amount - began.balances.get(account, 0) for account, amount in book.balances.items()}
    body: dict[str, Any] = {
        "day": command.day,
        "next_day": command.next_day,
        "since_seq": began.seq,
        "since_utc": began.at_utc,
        "levels": level_facts(levels),
        "pools": {
            f"{fund.settings.id}/{name}": {**state.to_json(), "microcents": fund.microcents(name)}
            for fund in book.funds.values()
            for name, state in fund.pools.items()
        },
        "links": {name: _link_day(book, link) for name, link in book.links.items()},
        "tables": {name: _table_day(book, name, moved) for name in book.tables},
        "moved": {account: amount for account, amount in moved.items() if amount},
        "left": leaving(book, Keeping(SETTLED_KEPT, SHARES_OF_METERS_KEPT)),
    }
    return (entry(command, Kind.DAY_READ, body),)


def _link_day(book: Book, link: LinkState) -> dict[str, Any]:
    """Wagers and hits of the day, awards by what became of them today, and what is owed now."""
    began = book.began
    name = link.settings.id
    wagers, units = began.taken.get(name, (0, 0))
    levels = {
        level: {
            "hits": counts.hits - began.won.get(f"{name}/{level}", (0, 0))[0],
            "won_cents": counts.won_cents - began.won.get(f"{name}/{level}", (0, 0))[1],
        }
        for level, counts in link.counts.items()
    }
    return {
        "wagers": link.wagers - wagers,
        "units": link.units - units,
        "wagered_cents": (link.units - units) * link.settings.wager_cents,
        "liability_microcents": book.liability_microcents(name),
        "levels": levels,
        "awards": _awards_day(book, (award for award in book.awards.values() if award.link == name)),
    }


def _awards_day(book: Book, awards: Iterable[Award]) -> dict[str, dict[str, int]]:
    """How many awards came to each state since the volume began, with their cents; ``claimed`` are new."""
    was = book.began.awards
    found: dict[str, dict[str, int]] = {}
    for award in awards:
        before = was.get(award.id)
        states = [] if before == award.status.value else [award.status.value]
        if before is None:
            states = [_CLAIMED, *(state for state in states if state != AwardStatus.PENDING.value)]
        for state in states:
            sums = found.setdefault(state, {"awards": 0, "cents": 0})
            sums["awards"] += 1
            sums["cents"] += award.amount_cents
    return found


def _table_day(book: Book, name: str, moved: dict[str, int]) -> dict[str, Any]:
    """Rounds of the day, what was dropped, handed out, held by the house and laid out by it."""
    table = book.tables[name]
    return {
        "state": table.state.value,
        "rounds": table.round - book.began.rounds.get(name, 0),
        "dropped_microcents": -moved.get(f"drop/{name}", 0),
        "paid_microcents": moved.get(f"paid/{name}", 0),
        "house_hold_microcents": moved.get(f"house/hold/{name}", 0),
        "house_pays_microcents": moved.get(f"house/pays/{name}", 0),
    }


def leaving(book: Book, keeping: Keeping) -> dict[str, list[str]]:
    """What leaves the book with a reading."""
    return {"awards": _leaving(book, keeping), "shares": _leaving_shares(book, keeping)}


def _leaving(book: Book, keeping: Keeping) -> list[str]:
    """Settled awards that leave the book, oldest first."""
    settled = [award for award in book.awards.values() if award.id not in book.open_awards]
    old = settled[: -keeping.settled]
    if not old:
        return []
    needed = _named(book)
    jackpots = [award.id for award in settled if award.has_percent]
    needed |= {name: name for name in jackpots[max(0, len(jackpots) - keeping.shares_of_meters) :]}
    for award in settled:  # the newest of each hand won from the meters comes last and stays
        if award.stands and not award.late:
            needed[award.link, award.hand, award.units] = award.id
    kept = {*needed.values()}
    return [award.id for award in old if award.id not in kept]


def _named(book: Book) -> dict[Any, str]:
    """Awards that a round, a tie or a journal names, each under its own id."""
    found: set[str] = set()
    for table in book.tables.values():
        found.update(table.awards)
    found.update(award.id for award in book.awards.values() if award.round in book.tables[award.table].past)
    for link in book.links.values():
        for mark in link.marks.values():
            for tie in mark.ties.values():
                found.update(tie.members, tie.late)
        for op in link.journal.ops if link.journal is not None else ():
            if isinstance(op, ClaimOp):
                found.add(op.facts.award)
            elif isinstance(op, UndoOp | CapOp):
                found.add(op.award)
    return {name: name for name in found}


def _leaving_shares(book: Book, keeping: Keeping) -> list[str]:
    """Shares of posted jackpots that leave: whole wins with nothing owed and no posting to give back."""
    settled = [share for share in book.fund_awards.values() if not share.owed]
    fallen = {(fund.settings.id, one.win) for fund in book.funds.values() for one in fund.fallen}
    old = settled[: -keeping.settled]
    kept = fallen | {(share.fund, share.win) for share in settled[-keeping.settled :]}
    kept |= {(share.fund, share.win) for share in book.fund_awards.values() if share.owed}
    if keeping.clocks:
        kept |= _clocks(book, {(share.fund, share.win) for share in old} - kept)
    return [share.id for share in old if (share.fund, share.win) not in kept]


def _clocks(book: Book, leaving: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """Undone wins that tell since when a pool has been at its cap, if the wins after them are undone as well.

    Not those before a win that stands and leaves: that one is undone no more.
    """
    found: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for share in book.fund_awards.values():
        pool, win = (share.fund, share.pool), (share.fund, share.win)
        if share.status is not ShareStatus.UNDONE and win in leaving:
            found[pool] = set()
        elif share.status is ShareStatus.UNDONE and share.capped_at is not None:
            found.setdefault(pool, set()).add(win)
    return {win for wins in found.values() for win in wins}


class Vouching(NamedTuple):
    """What two people can say of the day: what a version took.

    A moment in UTC that belongs to a gaming day is at least ``from_us`` behind its midnight, and less than
    ``until_us``. ``next_day``: whether the day that follows may be confirmed.
    """

    from_us: int
    until_us: int
    next_day: bool


#: Time zones (UTC-12 to UTC+14), and a day that begins as late as at its very end and lasts 24 hours.
_VOUCHING: Final = Vouching(-14 * HOUR_US, (24 + 24 + 12) * HOUR_US, next_day=False)
#: What earlier versions took. Their entries are right by that; whoever changes the rule adds what it was.
EARLIER_VOUCHING: Final = (Vouching(-24 * HOUR_US, 72 * HOUR_US, next_day=True),)


def confirm_day(book: Book, command: ConfirmDay, taken: Vouching = _VOUCHING) -> Answer:
    """Two people of two departments say which gaming day it is, where the clock alone is not believed.

    It has to be one that the clock may show by now (the books know no time zone: three or four days may be meant), and
    none that begins by itself: with a clock that is wrong there is nothing to confirm, only a clock to be set. Before
    the first reading it may be an earlier day than the floor believes, for no entry has told that one.
    """
    refused = people_refusal(command)
    if refused:
        return refused
    if not is_day(command.day):
        return _no_day(command.day)
    if command.day <= book.gaming_day:
        step = "A day is never taken back: set the clock right if it shows another one."
        return Refused(Refusal.ALREADY_DONE, f"the gaming day is {book.gaming_day}", step)
    if not taken.next_day and book.gaming_day and follows(command.day, book.gaming_day):
        return Refused(Refusal.NOT_YET, f"{command.day} follows {book.gaming_day}", "It begins by itself.")
    moment = now(book, command)
    if not taken.from_us <= microseconds(moment) - microseconds(f"{command.day}T00:00:00Z") < taken.until_us:
        step = "Name the day that the clock shows, or set the clock right."
        return Refused(Refusal.NOT_YET, f"the clock says {moment[:16]} UTC, not {command.day}", step)
    body = {"day": command.day, "was": book.gaming_day, **signed(command)}
    return (entry(command, Kind.DAY_CONFIRMED, body),)


def _no_day(text: str) -> Refused:
    """A text that is no day in the form that days have."""
    return Refused(Refusal.NOT_YET, f"{text} is no day such as 2026-12-01", "Name a day that the calendar has.")


def set_key(book: Book, command: SetKey) -> Answer:
    """Two people put another key in force for checkpoints; the first one likewise."""
    refused = people_refusal(command)
    if refused:
        return refused
    if book.keys and book.keys[-1] == command.key:
        return Refused(Refusal.ALREADY_DONE, "this key is in force")
    body = {"key": command.key, "replaces": book.keys[-1] if book.keys else None, **signed(command)}
    return (entry(command, Kind.KEY_SET, body),)


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {
    ReadDay: read_day,
    ConfirmDay: confirm_day,
    SetKey: set_key,
}
