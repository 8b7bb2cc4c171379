"""The book: the fold of all entries. What is true now, and nothing that an entry did not say.

Rule 1: ``apply`` adds postings and reads facts; it consults no rate and no pay table.
Rule 2: a level's display, reserve and overflow are its balances, so there is one truth. ``stored_levels(entry)`` is
        what an entry says they are after it; an audit compares that with ``Book.level_values`` (``check_levels``).
Rule 3: only ``apply`` changes a book. ``decide`` reads it.
Units: balances are microcents; what the house holds or laid out is negative, what it owes or handed out positive.
"""

from __future__ import annotations

from collections.abc import Mapping

from meterd.accounting.awards import LinkMoney
from meterd.accounting.entries import REQUEST, Entry, Kind
from meterd.accounting.fold import BEFORE_POSTINGS, HANDLERS
from meterd.accounting.fold_day import NOTHING, Began
from meterd.accounting.meter import LevelMoney
from meterd.accounting.settings import SiteSettings
from meterd.accounting.settings_pools import STRIKE_OUT
from meterd.accounting.state import Award, DeviceMark, LevelCounts, LinkState, TableState
from meterd.accounting.state_pools import FundAward, FundState


class Book:
    """All meters, tables, rounds, awards, device marks and parameters in force. Changed by ``apply`` alone."""

    def __init__(self) -> None:
        self.seq = 0
        self.at_utc = ""
        self.site_id = ""
        self.currency = ""
        self.demo = False
        self.site: SiteSettings | None = None
        self.links: dict[str, LinkState] = {}
        self.tables: dict[str, TableState] = {}
        self.awards: dict[str, Award] = {}
        self.open_awards: dict[str, None] = {}  # neither voided nor paid, oldest first
        self.balances: dict[str, int] = {}
        self.devices: dict[str, DeviceMark] = {}
        self.counts_by_key: dict[str, LevelCounts] = {}
        self.funds: dict[str, FundState] = {}
        self.fund_awards: dict[str, FundAward] = {}
        self.open_shares: dict[str, None] = {}  # shares of posted jackpots that are still owed, oldest first
        self.gaming_day = ""  # of the open volume; "" until the first day was read
        self.day_confirmed = ""  # the day that people vouched for since the open volume began; "" for none
        self.began: Began = NOTHING  # what stood when the open volume began
        self.gone_awards = 0  # settled so long ago that only sealed volumes hold them
        self.gone_shares = 0
        self.keys: tuple[str, ...] = ()  # that may sign checkpoints, the one in force last

    def apply(self, seq: int, at_utc: str, entry: Entry) -> None:
        """Take one entry in, in place. ``seq`` is its place in the ledger, ``at_utc`` its time."""
        self.seq = seq
        self.at_utc = at_utc
        handler = HANDLERS.get(entry.kind)
        before = handler in BEFORE_POSTINGS  # the journal keeps the link as it stood before the claim
        if before and handler is not None:
            handler(self, entry)
        balances = self.balances
        for account, microcents in entry.postings:
            balances[account] = balances.get(account, 0) + microcents
        levels = entry.body.get("levels")
        if levels and entry.kind is not Kind.LINK_OPENED:
            self.read_levels(levels)
        if entry.event_id is not None and not entry.event_id.startswith(REQUEST):
            self._mark_event(entry.event_id)
        if handler is not None and not before:
            handler(self, entry)

    def award_name(self, after: int = 0) -> str:
        """The name of the next award, or of one that many after it: numbered over the whole ledger."""
        return f"A{self.gone_awards + len(self.awards) + after + 1}"

    def residual_microcents(self) -> int:
        """Sum of all balances. Anything but 0 means that money no longer adds up."""
        return sum(self.balances.values())

    def liability_microcents(self, link: str) -> int:
        """What the house owes the players of a link: meters above standing seed, reserves, overflow, awards (M1).

        A fund answers with its pools and shares; it has its name among the links.
        """
        if link in self.funds:
            return self.fund_liability_microcents(link)
        state = self.links[link]
        total = self.balances.get(f"unclaimed/{link}", 0)
        for level in state.levels.values():
            total += level.display_microcents - level.standing_seed_microcents
            total += level.reserve_microcents + level.overflow_microcents
        for award in self.open_awards:
            if self.awards[award].link == link:
                total += self.balances.get(f"payable/{award}", 0)
        return total

    def fund_liability_microcents(self, fund: str) -> int:
        """What the house holds for the players of a fund: pools, wagers kept apart, shares not handed out (M1)."""
        settings = self.funds[fund].settings
        get = self.balances.get
        total = get(f"unclaimed/{fund}", 0) + get(settings.account(STRIKE_OUT), 0)
        total += sum(get(settings.account(pool.name), 0) for pool in settings.pools)
        for award in self.open_shares:
            if self.fund_awards[award].fund == fund:
                total += get(f"payable/{award}", 0)
        return total

    def level_values(self, key: str) -> dict[str, int]:
        """Display, reserve and overflow of ``link/level`` by this fold, in microcents, as entries store them."""
        get = self.balances.get
        return {
            "display_microcents": get(f"meter/{key}", 0),
            "reserve_microcents": get(f"reserve/{key}", 0),
            "overflow_microcents": get(f"overflow/{key}", 0),
        }

    def check_levels(self, entry: Entry) -> str | None:
        """After ``apply(entry)``: None where the entry's stored values are the fold's, else what differs."""
        for key, stored in stored_levels(entry).items():
            for name, value in self.level_values(key).items():
                if stored.get(name) != value:
                    return f"{key} {name}: stored {stored.get(name)}, by the postings {value}"
        for key, stored in entry.body.get("pools", {}).items():
            value = self.balances.get(f"pool/{key}", 0)
            if stored.get("microcents") != value:
                return f"{key}: stored {stored.get('microcents')}, by the postings {value}"
        return None

    def money(self, link: str) -> LinkMoney:
        """A working copy of a link as it stands, with the parts of its pending awards."""
        state = self.links[link]
        get = self.balances.get
        levels = {}
        for name, rules in state.rules.levels.items():
            counts = state.counts[name]
            levels[name] = LevelMoney(
                rules,
                get(rules.meter, 0),
                get(rules.reserve, 0),
                get(rules.overflow, 0),
                counts.standing,
                counts.resets,
                counts.hits,
                counts.won_cents,
                counts.adjusted,
            )
        parts = {award: self.awards[award].parts for award in state.pending}
        return LinkMoney(levels, dict(state.marks), parts)

    def read_levels(self, levels: Mapping[str, Mapping[str, int]]) -> None:
        """Take in what an entry says of levels beside their money. For the fold only."""
        for key, facts in levels.items():
            if "resets" in facts:
                counts = self.counts_by_key[key]
                counts.standing = facts["standing_seed_microcents"]
                counts.resets = facts["resets"]
                counts.hits = facts["hits"]
                counts.won_cents = facts["won_cents"]
                counts.adjusted = facts.get("adjusted_microcents", 0)

    def _mark_event(self, event_id: str) -> None:
        name, epoch, count = event_id.rsplit(":", 2)
        mark = DeviceMark(int(epoch), int(count))
        old = self.devices.get(name)
        if old is None or mark > old:
            self.devices[name] = mark


def stored_levels(entry: Entry) -> Mapping[str, Mapping[str, int]]:
    """The level values an entry stores: ``link/level`` → values after it. Empty where it moves none."""
    levels: Mapping[str, Mapping[str, int]] = entry.body.get("levels", {})
    return levels
