"""The command behind an entry: what somebody must have asked for, as far as the entry tells it.

Rule 1: an entry that several commands could have led to gives them all, the likeliest first.
Rule 2: each kind of entry is decided again by what stands here, or comes behind another entry in one answer, or
        stands among those that are not, with the reason.
Rule 3: of eased rules the decision is made again on the linter's word as it was told; the linter is not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from meterd.accounting import commands as ask
from meterd.accounting import commands_links as links
from meterd.accounting import commands_pools as pools
from meterd.accounting.commands import SYSTEM, Command, Event
from meterd.accounting.commands_day import ConfirmDay, ReadDay, SetKey
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, Tip, TipReason, UndoTip, VoidSpin
from meterd.accounting.entries import REQUEST, Entry, Kind
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings
from meterd.accounting.settings_pools import FundSettings
from meterd.money import MICROCENTS_PER_CENT
from meterd.paytables.model import PayTable

Facts = Mapping[str, Any]
Maker = Callable[[Entry, Facts], Iterator[Command]]

_SEATS: Final = range(1, 33)


def event_of(text: str | None) -> Event | None:
    """The identity of the device input behind an entry."""
    if text is None or text.startswith(REQUEST):
        return None
    name, epoch, count = text.rsplit(":", 2)
    return Event(name, int(epoch), int(count))


def _asks(kind: Callable[..., Command], *names: str, **fixed: Any) -> Maker:
    """A command whose fields stand in the entry under their own names; those it does not tell keep their default."""

    def made(entry: Entry, body: Facts) -> Iterator[Command]:
        beside = {"table": entry.table, "link": entry.link, "fund": entry.link}
        facts = {
            name: beside[name] if name in beside else body[name] for name in names if name in beside or name in body
        }
        yield kind(actor=SYSTEM, **{name: tuple(v) if isinstance(v, list) else v for name, v in facts.items()}, **fixed)

    return made


def _puts(settings: Any, kind: Callable[..., Command], *names: str) -> Maker:
    """A command that puts settings in force."""

    def made(_entry: Entry, body: Facts) -> Iterator[Command]:
        more = {name: body[name] for name in names if name in body}
        yield kind(actor=SYSTEM, settings=settings.from_json(body["settings"]), **more)

    return made


def _either(*makers: Maker) -> Maker:
    """Several commands lead to entries of a kind."""

    def made(entry: Entry, body: Facts) -> Iterator[Command]:
        for maker in makers:
            yield from maker(entry, body)

    return made


def _locked(entry: Entry, body: Facts) -> Iterator[Command]:
    seen = tuple(
        ask.WagerSeen(one["seat"], one["units"], event_of(one.get("event")), base_cents=one.get("base_cents"))
        for one in body["wagers"]
    )
    yield ask.Lock(actor=SYSTEM, table=entry.table or "", wagers=seen)


def _claimed(entry: Entry, body: Facts) -> Iterator[Command]:
    cards = body.get("cards")
    hand = None if cards else body["hand"]
    yield ask.Claim(
        actor=SYSTEM, table=entry.table or "", seat=body["seat"], signs=body["signs"], hand=hand, cards=cards
    )


def _common(entry: Entry, body: Facts) -> Iterator[Command]:
    cards = body.get("cards")
    hand = None if cards else body["hand"]
    yield ClaimBoard(
        actor=SYSTEM, table=entry.table or "", hand=hand, cards=cards, signs=body["claims"][0].get("signs", {})
    )


def _of_a_seat(entry: Entry, body: Facts) -> Iterator[Command]:
    """VOID ROUND, or VOID SEAT of any seat: what they void comes before the wagers and names no seat."""
    yield ask.VoidRound(actor=SYSTEM, table=entry.table or "")
    for seat in body.get("seats", _SEATS):
        yield ask.VoidSeat(actor=SYSTEM, table=entry.table or "", seat=seat)


def _number(entry: Entry, body: Facts) -> Iterator[Command]:
    yield Number(actor=SYSTEM, table=entry.table or "", number=body["number"])


def _raked(entry: Entry, body: Facts) -> Iterator[Command]:
    if "seats" in body:
        yield pools.DropWagers(actor=SYSTEM, fund=entry.link or "", seats=tuple(body["seats"]), cents=body["cents"])
    else:
        yield pools.Rake(actor=SYSTEM, fund=entry.link or "", cents=body["cents"], at_table=body["at_table"])


def _won(entry: Entry, body: Facts) -> Iterator[Command]:
    shares = tuple(pools.Share(one["percent_ppm"], one["players"]) for one in body["shares"])
    yield pools.WinPool(actor=SYSTEM, fund=entry.link or "", pool=body["pool"], shares=shares)


def _transferred(entry: Entry, body: Facts) -> Iterator[Command]:
    """An amount, or all of a pool: what was asked is not told, only what moved."""
    _, _, pool = body["from"].partition("/")
    fund, _, target = (body["to"] or "").partition("/")
    whole, rest = divmod(body["microcents"], MICROCENTS_PER_CENT)
    for cents in (None, whole) if not rest else (None,):
        yield pools.TransferPool(
            actor=SYSTEM,
            fund=entry.link or "",
            pool=pool,
            to_fund=fund or None,
            to_pool=target,
            cents=cents,
            game_ended=body["game_ended"],
        )


def _pot(entry: Entry, body: Facts) -> Iterator[Command]:
    """A pot that was won, or the best hands' part of one that rolls over; one hand's seat need not be keyed."""
    asked: dict[str, Any] = {
        "actor": SYSTEM,
        "fund": entry.link or "",
        "seats": tuple(one["seat"] for one in body["paid"] if one["seat"] is not None),
        "rake_cents": body["rake_cents"],
    }
    if entry.kind is Kind.POT_WON:
        yield pools.PotWon(**asked)
    else:
        yield pools.RollOver(**asked, percent_ppm=body["percent_ppm"])


def _eased(entry: Entry, body: Facts) -> Iterator[Command]:
    told = {"verdict": body["verdict"], "findings": tuple(body["findings"]), "sha256": body["sha256"]}
    table = PayTable.from_json(body["paytable"])
    yield links.EaseRules(actor=SYSTEM, link=entry.link or "", paytable=table, **told)


def _tip(_entry: Entry, body: Facts) -> Iterator[Command]:
    yield Tip(actor=SYSTEM, award=body["award"], cents=body["tip_cents"])


def _undone_tip(_entry: Entry, body: Facts) -> Iterator[Command]:
    yield UndoTip(actor=SYSTEM, award=body["award"], reason=TipReason(body["reason"]))


def _adjusted_claim(entry: Entry, body: Facts) -> Iterator[Command]:
    place = {name: body[name] for name in ("round", "seat", "hand")}
    yield links.AdjustClaim(actor=SYSTEM, table=entry.table or "", cents=body["amount_cents"], **place)


_end: Final = _asks(ask.EndGame, "table")

MAKERS: Final[dict[Kind, Maker]] = {
    Kind.LEDGER_CREATED: _asks(ask.CreateLedger, "site", "currency", "demo"),
    Kind.SITE_SET: _either(_puts(SiteSettings, ask.SetSite), _puts(SiteSettings, links.ChangeSite)),
    Kind.LINK_OPENED: _puts(LinkSettings, ask.OpenLink, "sha256"),
    Kind.TABLE_DEFINED: _puts(TableSettings, ask.DefineTable),
    Kind.TABLE_CHANGED: _puts(TableSettings, links.ChangeTable),
    Kind.DEVICE_TRUSTED: _asks(ask.TrustDevice, "counts", "modulus", tables=()),
    Kind.TABLE_OPENED: _asks(ask.OpenTable, "table"),
    Kind.TABLE_CLOSED: _asks(ask.CloseTable, "table", "reason"),
    Kind.LOCKED: _locked,
    Kind.LATE_BET: _asks(ask.LateBet, "table", "seat", "ms_min", "ms_max"),
    Kind.CLAIMED: _claimed,
    Kind.COMMON_CLAIMED: _common,
    Kind.CONFIRMED: _either(_asks(ask.Confirm, "award", "cards"), _end),
    Kind.HELD: _asks(ask.Hold, "award"),
    Kind.CORRECTED: _either(
        _asks(ask.Correct, "award", "hand", "seat"),
        _asks(ask.Correct, "award", "hand"),
        _asks(ask.Correct, "award", "seat"),
    ),
    Kind.VOIDED: _either(_asks(ask.Void, "award", "reason"), _of_a_seat),
    Kind.WAGER_VOIDED: _of_a_seat,
    Kind.PAID: _asks(ask.Pay, "award", "slip", "method", "cashier", "payee", "payee_sha256"),
    Kind.TIP_PAID: _tip,
    Kind.TIP_UNDONE: _undone_tip,
    Kind.CORRECTION: _asks(ask.Undo, "award", "reference", second=None),
    Kind.FOLDED: _asks(ask.Fold, "table", "seat"),
    Kind.JOINED: _asks(ask.Join, "table", "seats"),
    Kind.HAND_SPLIT: _asks(Split, "table", "seat"),
    Kind.NUMBER_KEYED: _number,
    Kind.SPIN_VOIDED: _asks(VoidSpin, "table"),
    Kind.CAPPED: _end,
    Kind.GAME_ENDED: _end,
    Kind.LINK_SUSPENDED: _asks(links.SuspendLink, "link", "reason"),
    Kind.LINK_RESUMED: _asks(links.ResumeLink, "link"),
    Kind.ADJUSTED: _asks(links.Adjust, "level", "cents"),
    Kind.TRANSFERRED: _asks(links.Transfer, "level", "target", "cents"),
    Kind.LIMIT_SET: _asks(links.SetLimit, "level", "limit_cents", "overflow"),
    Kind.SEED_RECOVERED: _asks(links.RecoverSeed, "level", "cents"),
    Kind.RELEASED: _asks(links.Release, "level", "part", "cents"),
    Kind.NOTICE_GIVEN: _asks(links.GiveNotice, "link"),
    Kind.DISCONTINUED: _asks(links.Discontinue, "link", "target", "licensee"),
    Kind.UNCLAIMED: _asks(links.MarkUnclaimed, "award"),
    Kind.DISPOSED: _asks(links.Dispose, "award", "to"),
    Kind.ADJUSTMENT: _adjusted_claim,
    Kind.CAPS_POSTED: _asks(links.PostCaps, "table", "player_cents", "table_cents", "tip_cents"),
    Kind.FUND_OPENED: _puts(FundSettings, pools.OpenFund, "sha256"),
    Kind.FUND_CLOSED: _asks(pools.CloseFund, "fund"),
    Kind.FUND_REOPENED: _asks(pools.ReopenFund, "fund"),
    Kind.RAKED: _raked,
    Kind.POSTED: _asks(pools.Post, "fund", "gaming_day"),
    Kind.POOL_WON: _won,
    Kind.SHARE_PAID: _asks(pools.PayShare, "award", "slip", "method", "cashier"),
    Kind.SHARE_UNCLAIMED: _asks(pools.UnclaimedShare, "award"),
    Kind.SHARE_DISPOSED: _asks(pools.DisposeShare, "award", "to"),
    Kind.POOL_WIN_UNDONE: _asks(pools.UndoWin, "fund", "win"),
    Kind.STRIKE_OUTS: _asks(pools.StrikeOuts, "fund", "seats", "cents"),
    Kind.HAND_WON: _asks(pools.HandWon, "fund", "seat"),
    Kind.BASE_RUNNER: _asks(pools.BaseRunner, "fund", "seat"),
    Kind.RUNNERS_RETURNED: _asks(pools.LeaveTable, "fund", "seat"),
    Kind.POT_BETS: _asks(pools.PotBets, "fund", "seats", "cents"),
    Kind.POT_WON: _pot,
    Kind.ROLLED_OVER: _pot,
    Kind.POOL_TRANSFERRED: _transferred,
    Kind.RULES_EASED: _eased,
    Kind.BETS_RETURNED: _asks(pools.ReturnBets, "fund", "seat"),
    Kind.POT_UNDONE: _asks(pools.UndoPot, "fund", "came_back"),
    Kind.DAY_CONFIRMED: _asks(ConfirmDay, "day"),
    Kind.DAY_READ: _asks(ReadDay, "day", "next_day"),
    Kind.KEY_SET: _asks(SetKey, "key"),
}

#: Entries that come only behind another one, in one answer with it, and are decided again with that.
BEHIND: Final = frozenset({Kind.REVALUED, Kind.MISSED_WHILE_AWAY})

_FROM_OUTSIDE: Final = "told from outside the rules; it moves no money"

#: Kinds that no rule decides, and why.
NOT_AGAIN: Final[dict[Kind, str]] = {
    Kind.STARTED: _FROM_OUTSIDE,
    Kind.STOPPED: _FROM_OUTSIDE,
    Kind.RESTORED: _FROM_OUTSIDE,
    Kind.CLOCK_STEP: _FROM_OUTSIDE,
    Kind.DEVICE_LOST: _FROM_OUTSIDE,
    Kind.UNREASONABLE: _FROM_OUTSIDE,
    Kind.COUNT_MISMATCH: _FROM_OUTSIDE,
    Kind.GAME_WIN: _FROM_OUTSIDE,
    Kind.BOOK_CARRIED: "held against the volume before by every verification",
    Kind.REFUSED: "what was asked is told in part, or hangs on what only the daemon knew; it moves no money",
}
