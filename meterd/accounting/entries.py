"""Entries: what the ledger will say. A fact with its movement of money, never edited.

Rule 1: the postings of an entry sum to zero; one posting per account; zeros are left out.
Rule 2: an entry says everything the fold needs; the fold consults no rate and no pay table.
Rule 3: each entry that moves a level stores the level's values after it (``body["levels"]``).
Sign of a posting (M1): what the house holds or has laid out is negative, what it owes or handed out is positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from meterd.errors import InvariantBroken

#: How the ``event_id`` of an act that a person asked for begins; it is the identity of a request and marks no device.
REQUEST: Final = "request:"


class Kind(StrEnum):
    """Every kind of entry. The value is what stands in the ledger's ``kind`` column."""

    LEDGER_CREATED = "LedgerCreated"
    SITE_SET = "SiteSet"
    LINK_OPENED = "LinkOpened"
    TABLE_DEFINED = "TableDefined"
    TABLE_CHANGED = "TableChanged"
    STARTED = "Started"
    STOPPED = "Stopped"
    RESTORED = "Restored"
    CLOCK_STEP = "ClockStep"
    DEVICE_TRUSTED = "DeviceTrusted"
    DEVICE_LOST = "DeviceLost"
    MISSED_WHILE_AWAY = "MissedWhileAway"
    TABLE_OPENED = "TableOpened"
    TABLE_CLOSED = "TableClosed"
    LOCKED = "Locked"
    LATE_BET = "LateBet"
    UNREASONABLE = "UnreasonableContribution"
    CLAIMED = "Claimed"
    CONFIRMED = "Confirmed"
    HELD = "Held"
    CORRECTED = "Corrected"
    VOIDED = "Voided"
    REVALUED = "Revalued"
    PAID = "Paid"
    CORRECTION = "Correction"
    WAGER_VOIDED = "WagerVoided"
    FOLDED = "Folded"
    JOINED = "Joined"
    COUNT_MISMATCH = "CountMismatch"
    GAME_WIN = "GameWin"
    LINK_SUSPENDED = "LinkSuspended"
    LINK_RESUMED = "LinkResumed"
    ADJUSTED = "Adjusted"
    TRANSFERRED = "Transferred"
    LIMIT_SET = "LimitSet"
    SEED_RECOVERED = "SeedRecovered"
    RELEASED = "Released"
    NOTICE_GIVEN = "NoticeGiven"
    DISCONTINUED = "Discontinued"
    RULES_EASED = "RulesEased"
    UNCLAIMED = "Unclaimed"
    DISPOSED = "Disposed"
    ADJUSTMENT = "Adjustment"
    CAPS_POSTED = "CapsPosted"
    CAPPED = "Capped"
    GAME_ENDED = "GameEnded"
    FUND_OPENED = "FundOpened"
    FUND_CLOSED = "FundClosed"
    FUND_REOPENED = "FundReopened"
    RAKED = "Raked"
    POSTED = "Posted"
    POOL_WON = "PoolWon"
    POOL_WIN_UNDONE = "PoolWinUndone"
    POOL_TRANSFERRED = "PoolTransferred"
    SHARE_PAID = "SharePaid"
    SHARE_UNCLAIMED = "ShareUnclaimed"
    SHARE_DISPOSED = "ShareDisposed"
    STRIKE_OUTS = "StrikeOuts"
    HAND_WON = "HandWon"
    BASE_RUNNER = "BaseRunner"
    RUNNERS_RETURNED = "RunnersReturned"
    POT_BETS = "PotBets"
    POT_WON = "PotWon"
    ROLLED_OVER = "RolledOver"
    POT_UNDONE = "PotUndone"
    BETS_RETURNED = "BetsReturned"
    NUMBER_KEYED = "NumberKeyed"
    SPIN_VOIDED = "SpinVoided"
    COMMON_CLAIMED = "CommonClaimed"
    HAND_SPLIT = "HandSplit"
    TIP_PAID = "TipPaid"
    TIP_UNDONE = "TipUndone"
    DAY_CONFIRMED = "DayConfirmed"
    DAY_READ = "DayRead"
    BOOK_CARRIED = "BookCarried"
    KEY_SET = "KeySet"
    REFUSED = "Refused"


class Posting(NamedTuple):
    """One movement of money inside an entry."""

    account: str
    microcents: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact. ``table``, ``link``, ``device`` and ``event_id`` are None where they have no meaning."""

    kind: Kind
    actor: str
    table: str | None = None
    link: str | None = None
    device: str | None = None
    event_id: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    postings: tuple[Posting, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an entry whose money does not sum to zero or names an account twice."""
        if self.postings:
            total = 0
            for posting in self.postings:
                total += posting.microcents
            if total != 0 or len({p.account for p in self.postings}) != len(self.postings):
                raise InvariantBroken(f"{self.kind}: postings do not balance: {self.postings}")
