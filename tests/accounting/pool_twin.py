"""A second, stupid reckoning of posted jackpots and table pools, in fractions of a cent.

Rule 1: written from the money rules and the regulations alone; imports nothing of meterd.
Rule 2: every amount is a Fraction; odd cents are handed out one by one.
"""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction


@dataclass
class Kept:
    """A pool: its rules, its money, what the board says of it, and since when it is full."""

    name: str
    share: Fraction
    cap: int | None = None
    at_cap: str | None = None
    then: Fraction | None = None
    fills: str | None = None
    offered: bool = False
    money: Fraction = Fraction(0)
    board: int = 0
    board_of: str = ""  # whose money the board promises
    refill: bool = False
    full_since: datetime | None = None


@dataclass
class Part:
    """What one player is owed."""

    win: int
    pool: str
    cents: int
    since: datetime
    status: str = "confirmed"
    full_since: datetime | None = None  # of its pool, before it was won


def deal(cents: int, weights: Iterable[Fraction]) -> list[int]:
    """Whole cents by weights, the odd ones dealt out from the first."""
    weights = list(weights)
    out = [int(cents * weight) for weight in weights]
    odd = int(cents * sum(weights, Fraction(0))) - sum(out)
    for index in range(odd):
        out[index] += 1
    return out


def six_months_on(moment: datetime) -> datetime:
    month = moment.month + 6
    year = moment.year + (month > 12)
    month = month - 12 if month > 12 else month
    return moment.replace(year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1]))


@dataclass
class Jackpot:
    """One posted jackpot. Every act answers None, or why not."""

    name: str
    pools: list[Kept]
    most: int = 200
    days: int = 120
    accounts: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    parts: list[Part] = field(default_factory=list)
    wins: int = 0
    #: the board before each win since the last posting; with False a transfer has come since
    before: list[tuple[int, dict[str, tuple[int, str, bool]], bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for pool in self.pools:
            pool.board_of = pool.name

    def pool(self, name: str) -> Kept:
        return next(pool for pool in self.pools if pool.name == name)

    def filler(self, pool: Kept) -> Kept | None:
        return next((other for other in self.pools if other.fills == pool.name), None)

    def put(self, pool: Kept, cents: Fraction, now: datetime) -> None:
        pool.money += cents
        self.accounts[f"pool/{self.name}/{pool.name}"] += cents
        self.look(pool, now)

    def look(self, pool: Kept, now: datetime) -> None:
        full = pool.cap is not None and pool.money >= pool.cap
        pool.full_since = (pool.full_since or now) if full else None

    @property
    def stopped(self) -> bool:
        return any(pool.at_cap == "stop" and pool.full_since for pool in self.pools)

    def rake(self, cents: int, now: datetime) -> str | None:
        if self.stopped or cents > self.most:
            return "RAKE_TOO_HIGH"
        if cents <= 0:
            return "AMOUNT_OUT_OF_BOUNDS"
        growing = any(pool.at_cap == "grow" and pool.full_since for pool in self.pools)
        rates = [pool.then if growing and pool.then is not None else pool.share for pool in self.pools]
        for pool, rate in zip(self.pools, rates, strict=True):
            self.put(pool, cents * rate, now)
        self.accounts[f"drop/{self.name}"] -= cents
        return None

    def post(self, now: datetime) -> str | None:
        waiting = [pool for pool in self.pools if pool.fills is None]
        while waiting:
            pool = waiting.pop(0)
            filler = self.filler(pool)
            if filler is None:
                continue
            waiting.append(filler)
            amount = pool.board if pool.board_of == filler.name else filler.board
            if pool.refill and amount:
                filler.money -= amount
                pool.money += amount
                self.accounts[f"pool/{self.name}/{filler.name}"] -= amount
                self.accounts[f"pool/{self.name}/{pool.name}"] += amount
                filler.refill = True
        for pool in self.pools:
            self.look(pool, now)
            pool.board = int(pool.money)
            if pool.at_cap == "stop" and pool.cap is not None and pool.board > pool.cap:
                pool.board = pool.cap
            pool.board_of = pool.name
            pool.refill = False
        self.before = []
        return None

    def win(self, name: str, asked: list[tuple[Fraction, int]], now: datetime) -> str | None:
        pool = self.pool(name)
        whole = sum((rate for rate, _ in asked), Fraction(0))
        if not asked or whole > 1 or any(rate <= 0 or players < 1 for rate, players in asked):
            return "AMOUNT_OUT_OF_BOUNDS"
        if not pool.board:
            return "NOT_YET"
        shares = deal(pool.board, [rate for rate, _ in asked])
        players = [
            cents
            for share, (_, count) in zip(shares, asked, strict=True)
            for cents in deal(share, [Fraction(1, count)] * count)
        ]
        if 0 in players:
            return "AMOUNT_OUT_OF_BOUNDS"
        self.wins += 1
        source = self.pool(pool.board_of)
        board = {one.name: (one.board, one.board_of, one.refill) for one in self.pools}
        self.before.append((self.wins, board, True))
        for cents in players:
            self.parts.append(Part(self.wins, source.name, cents, now, full_since=source.full_since))
            self.accounts[f"payable/J{len(self.parts)}"] += cents
        paid = sum(players)
        if paid == pool.board:
            self.board_falls(pool)
            source.full_since = None
        else:
            pool.board -= paid
        self.put(source, Fraction(-paid), now)
        return None

    def board_falls(self, pool: Kept) -> None:
        filler = self.filler(pool)
        was_lent = pool.board_of != pool.name
        pool.board, pool.board_of = 0, pool.name
        if filler is None:
            return
        pool.refill = True
        if was_lent:
            filler.refill = True
        elif filler.offered and filler.board_of == filler.name and filler.board:
            pool.board, pool.board_of, filler.board = filler.board, filler.name, 0

    def part(self, number: int) -> Part | None:
        return self.parts[number - 1] if 1 <= number <= len(self.parts) else None

    def take_owed(self, number: int) -> None:
        part = self.parts[number - 1]
        where = f"payable/J{number}" if part.status == "confirmed" else f"unclaimed/{self.name}"
        self.accounts[where] -= part.cents

    def pay(self, number: int) -> str | None:
        part = self.part(number)
        if part is None:
            return "AWARD_UNKNOWN"
        if part.status not in {"confirmed", "unclaimed"}:
            return "AWARD_NOT_PENDING"
        self.take_owed(number)
        part.status = "paid"
        self.accounts[f"paid/{self.name}"] += part.cents
        return None

    def unclaimed(self, number: int, now: datetime) -> str | None:
        part = self.part(number)
        if part is None:
            return "AWARD_UNKNOWN"
        if part.status != "confirmed":
            return "AWARD_NOT_PENDING"
        if now - part.since < timedelta(days=self.days):
            return "NOT_YET"
        self.take_owed(number)
        part.status = "unclaimed"
        self.accounts[f"unclaimed/{self.name}"] += part.cents
        return None

    def dispose(self, number: int, to: str, now: datetime) -> str | None:
        part = self.part(number)
        if part is None:
            return "AWARD_UNKNOWN"
        if part.status != "unclaimed":
            return "NOT_YET" if part.status == "confirmed" else "AWARD_NOT_PENDING"
        self.take_owed(number)
        part.status = "disposed"
        if to == "house":
            self.accounts["house/revenue"] += part.cents
        elif to == "authority":
            self.accounts[f"paid/{self.name}"] += part.cents
        else:
            self.put(self.pool(to), Fraction(part.cents), now)
        return None

    def undo(self, win: int, now: datetime) -> str | None:
        mine = [(number, part) for number, part in enumerate(self.parts, start=1) if part.win == win]
        if not mine:
            return "AWARD_UNKNOWN"
        if any(part.status in {"voided", "disposed"} for _, part in mine):
            return "AWARD_NOT_PENDING"
        for number, part in mine:
            if part.status == "paid":
                self.accounts[f"house/pays/{self.name}"] -= part.cents
            else:
                self.take_owed(number)
            part.status = "voided"
            self.put(self.pool(part.pool), Fraction(part.cents), now)
        source = self.pool(mine[0][1].pool)
        standing = [part.win for part in self.parts if part.pool == source.name and part.status != "voided"]
        last = max(standing, default=0)
        for part in self.parts:
            if part.pool == source.name and part.win > last and part.full_since and source.full_since:
                source.full_since = min(source.full_since, part.full_since)
        known = [number for number, _, _ in self.before]
        if win in known:
            self._board_back(known.index(win))
        return None

    def _board_back(self, at: int) -> None:
        _, boards, whole = self.before.pop(at)
        if at < len(self.before):  # a later win stands: without it, the board is the one before both
            later, _, later_whole = self.before[at]
            self.before[at] = (later, boards, whole and later_whole)
            return
        for name, (board, board_of, refill) in boards.items():
            pool = self.pool(name)
            pool.refill = refill
            if whole:
                pool.board, pool.board_of = board, board_of

    def move(self, source: str, to: str | None, cents: int | None, now: datetime, *, ended: bool) -> str | None:
        pool = self.pool(source)
        promised = sum(one.board for one in self.pools if one.board_of == source)
        if cents is not None and not 0 < cents <= int(pool.money) - promised:
            return "AMOUNT_OUT_OF_BOUNDS"
        if not pool.money:
            return "AMOUNT_OUT_OF_BOUNDS"
        overdue = pool.at_cap == "stop" and pool.full_since is not None and now >= six_months_on(pool.full_since)
        if cents is None and not ended and not overdue:
            return "NOT_YET"
        if to == source:
            return "ALREADY_DONE"
        amount = pool.money if cents is None else Fraction(cents)
        if cents is None:
            for one in self.pools:
                if one.board_of == source:
                    one.board, one.board_of = 0, one.name
        self.put(pool, -amount, now)
        if to is None:
            self.accounts[f"paid/{self.name}"] += amount
        else:
            self.put(self.pool(to), amount, now)
        self.before = [(win, boards, False) for win, boards, _ in self.before]
        return None

    @property
    def owed(self) -> Fraction:
        held = sum((pool.money for pool in self.pools), Fraction(0))
        return held + sum(part.cents for part in self.parts if part.status in {"confirmed", "unclaimed"})


@dataclass
class HomeRun:
    """A Home Run table: wagers on the side, the pool, base runners."""

    name: str
    seats: int
    accounts: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    pool: int = 0
    aside: dict[int, int] = field(default_factory=dict)
    runners: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    closed: bool = False
    in_hand: set[int] = field(default_factory=set)
    #: what the last base runner took, and the base runners before it
    last: tuple[int, dict[int, int]] | None = None
    #: from here up a supervisor hands out
    confirm_above: int = 10**9

    def _bad_seats(self, seats: list[int]) -> str | None:
        if any(not 1 <= seat <= self.seats for seat in seats):
            return "SEAT_UNKNOWN"
        return "UNREASONABLE_CONTRIBUTION" if len(set(seats)) < len(seats) or not seats else None

    def gather(self, seats: list[int], cents: int) -> str | None:
        bad = "TABLE_CLOSED" if self.closed else self._bad_seats(seats)
        if bad:
            return bad
        if cents <= 0:
            return "AMOUNT_OUT_OF_BOUNDS"
        if any(seat in self.aside for seat in seats):
            return "UNREASONABLE_CONTRIBUTION"
        if not self.aside:
            self.in_hand = set()
        for seat in seats:
            self.aside[seat] = cents
            self.in_hand.add(seat)
        return None

    def hand(self, seat: int) -> str | None:
        if self.closed:
            return "TABLE_CLOSED"
        if not 1 <= seat <= self.seats:
            return "SEAT_UNKNOWN"
        if seat not in self.aside:
            return "SEAT_HAS_NO_WAGER"
        del self.aside[seat]
        self.pool += sum(self.aside.values())
        self.accounts[f"drop/{self.name}"] -= sum(self.aside.values())
        self.aside = {}
        return None

    def runner(self, seat: int, *, supervisor: bool = False) -> str | None:
        if self.closed:
            return "TABLE_CLOSED"
        if not 1 <= seat <= self.seats:
            return "SEAT_UNKNOWN"
        if seat not in self.in_hand:
            return "SEAT_HAS_NO_WAGER"
        if self.aside:
            return "ROUND_HAS_OPEN_AWARD"
        if self.runners[seat] == 3 and self.pool and self.pool >= self.confirm_above and not supervisor:
            return "NOT_AUTHORISED"
        self.last = (self.pool if self.runners[seat] == 3 else 0, {s: n for s, n in self.runners.items() if n})
        self.runners[seat] += 1
        if self.runners[seat] == 4:
            self.accounts[f"paid/{self.name}"] += self.pool
            self.pool = 0
            self.runners.clear()
        return None

    def leave(self, seat: int) -> str | None:
        if self.closed:
            return "TABLE_CLOSED"
        if not 1 <= seat <= self.seats:
            return "SEAT_UNKNOWN"
        self.runners.pop(seat, None)
        self.in_hand.discard(seat)
        if self.last is not None:
            self.last[1].pop(seat, None)
        return None

    def undo(self, *, came_back: bool) -> str | None:
        if self.closed:
            return "TABLE_CLOSED"
        if self.last is None:
            return "AWARD_UNKNOWN"
        cents, runners = self.last
        self.last = None
        self.pool += cents
        self.accounts[f"paid/{self.name}" if came_back else f"house/pays/{self.name}"] -= cents
        self.runners.clear()
        self.runners.update(runners)
        return None

    def give_back(self, seat: int) -> str | None:
        if self.closed:
            return "TABLE_CLOSED"
        if not 1 <= seat <= self.seats:
            return "SEAT_UNKNOWN"
        if self.aside.pop(seat, None) is None:
            return "SEAT_HAS_NO_WAGER"
        self.in_hand.discard(seat)
        return None

    def close(self) -> str | None:
        if self.closed:
            return "TABLE_CLOSED"
        if self.aside:
            return "ROUND_HAS_OPEN_AWARD"
        count = sum(self.runners.values())
        if self.pool and not count:
            return "TOP_AWARD_NOT_WON"
        self.accounts[f"paid/{self.name}"] += self.pool
        self.pool = 0
        self.runners.clear()
        self.in_hand = set()
        self.last = None
        self.closed = True
        return None

    def reopen(self) -> str | None:
        if not self.closed:
            return "ALREADY_DONE"
        self.closed = False
        return None

    def all_accounts(self) -> dict[str, Fraction]:
        aside = sum(self.aside.values())
        return {
            f"drop/{self.name}": self.accounts[f"drop/{self.name}"] - aside,
            f"pool/{self.name}/strike-out": Fraction(aside),
            f"pool/{self.name}/home-run": Fraction(self.pool),
            f"house/pays/{self.name}": self.accounts[f"house/pays/{self.name}"],
            f"paid/{self.name}": self.accounts[f"paid/{self.name}"],
        }


@dataclass
class Trips:
    """A Trips Poker table: one pot, and what each seat put in during the hand."""

    name: str
    seats: int
    posted: Fraction | None = None
    pot: int = 0
    bets: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    drop: int = 0
    hold: int = 0
    paid: int = 0
    paid_to: dict[int | None, int] = field(default_factory=lambda: defaultdict(int))
    made_good: int = 0
    #: pot, hold, paid and bets before the hand settled last
    last: tuple[int, int, int, dict[int, int]] | None = None
    #: from here up a supervisor hands out
    confirm_above: int = 10**9

    def _bad_seats(self, seats: list[int]) -> str | None:
        if any(not 1 <= seat <= self.seats for seat in seats):
            return "SEAT_UNKNOWN"
        return "UNREASONABLE_CONTRIBUTION" if len(set(seats)) < len(seats) else None

    def bet(self, seats: list[int], cents: int) -> str | None:
        bad = self._bad_seats(seats) or (None if seats else "UNREASONABLE_CONTRIBUTION")
        if bad:
            return bad
        if cents <= 0:
            return "AMOUNT_OUT_OF_BOUNDS"
        for seat in seats:
            self.bets[seat] += cents
            self.pot += cents
            self.drop += cents
        return None

    def _rake(self, seats: list[int], rake: int) -> str | None:
        bad = self._bad_seats(seats)
        if bad:
            return bad
        if any(self.bets.get(seat, 0) == 0 for seat in seats):
            return "SEAT_HAS_NO_WAGER"
        if Fraction(rake) > Fraction(self.pot, 10):
            return "RAKE_TOO_HIGH"
        return "AMOUNT_OUT_OF_BOUNDS" if rake < 0 or self.pot == 0 else None

    def _too_much(self, rake: int, share: Fraction, *, supervisor: bool) -> str | None:
        cents = int((self.pot - rake) * share)
        return "NOT_AUTHORISED" if cents and cents >= self.confirm_above and not supervisor else None

    def _hand_over(self, seats: list[int], rake: int, share: Fraction) -> None:
        self.last = (self.pot, self.hold, self.paid, dict(self.bets))
        self.pot -= rake
        self.hold += rake
        amount = int(self.pot * share)
        self.pot -= amount
        self.paid += amount
        who: list[int | None] = [*seats] or [None]
        for seat, cents in zip(who, deal(amount, [Fraction(1, len(who))] * len(who)), strict=True):
            self.paid_to[seat] += cents
        self.bets.clear()

    def won(self, seats: list[int], rake: int, *, supervisor: bool = False) -> str | None:
        bad = self._bad_seats(seats) or (None if seats else "UNREASONABLE_CONTRIBUTION") or self._rake(seats, rake)
        bad = bad or self._too_much(rake, Fraction(1), supervisor=supervisor)
        if bad:
            return bad
        self._hand_over(seats, rake, Fraction(1))
        return None

    def over(self, share: Fraction | None, seats: list[int], rake: int, *, supervisor: bool = False) -> str | None:
        bad = self._rake(seats, rake)
        if bad:
            return bad
        steps = [Fraction(n, 20) for n in range(1, 20)]
        if share is None and seats:
            return "AMOUNT_OUT_OF_BOUNDS"
        if share is not None and (share not in steps or self.posted not in {None, share}):
            return "AMOUNT_OUT_OF_BOUNDS"
        bad = self._too_much(rake, share or Fraction(0), supervisor=supervisor)
        if bad:
            return bad
        self._hand_over(seats, rake, share or Fraction(0))
        return None

    def undo(self, *, came_back: bool) -> str | None:
        if any(self.bets.values()):
            return "ROUND_CLOSED"
        if self.last is None:
            return "AWARD_UNKNOWN"
        self.pot, self.hold, paid, bets = self.last
        if came_back:
            self.paid = paid
        else:
            self.made_good += self.paid - paid
        self.bets.update(bets)
        self.last = None
        return None

    def give_back(self, seat: int) -> str | None:
        if not 1 <= seat <= self.seats:
            return "SEAT_UNKNOWN"
        if not self.bets.get(seat):
            return "SEAT_HAS_NO_WAGER"
        self.pot -= self.bets[seat]
        self.drop -= self.bets.pop(seat)
        return None

    def all_accounts(self) -> dict[str, Fraction]:
        return {
            f"drop/{self.name}": Fraction(-self.drop),
            f"pool/{self.name}/pot": Fraction(self.pot),
            f"house/hold/{self.name}": Fraction(self.hold),
            f"paid/{self.name}": Fraction(self.paid),
            f"house/pays/{self.name}": Fraction(-self.made_good),
        }
