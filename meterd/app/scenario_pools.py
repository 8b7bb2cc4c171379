"""Posted jackpots and pools of table games on a page: what is set up, what is asked, what is expected.

Rule 1: a page may leave out what the regulations or the game fix; what is the house's choice it says.
Rule 2: a pool called ``secondary`` re-seeds the first one and is offered at once after a win, unless its line says not.
Units: ``*_cents``, ``*_ppm``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from meterd.accounting import commands_pools as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.settings_pools import (
    MOST_CENTS,
    POSTED_GAMES,
    UNCLAIMED_DAYS,
    FundSettings,
    PoolGame,
    PoolSettings,
    problems,
)
from meterd.accounting.state_pools import FundState
from meterd.app.scenario_parse import Finding, PageError, Statement
from meterd.money import PPM_PER_WHOLE

_SEATS: Final = 9  # of a pool table that a page gives no number of seats
_SECONDARY: Final = "secondary"


def _fault(statement: Statement, message: str) -> PageError:
    return PageError([Finding(statement.file, statement.line, message)])


@dataclass(slots=True)
class PoolSetup:
    """The pool lines read so far and not yet in force, by fund."""

    _lines: dict[str, dict[str, Statement]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def add(self, statement: Statement, taken: Mapping[str, object]) -> None:
        """Take one pool line; ``taken`` are the links of the page, which have the same names.

        Raises:
            PageError: the fund is in force already, or its name is that of a link, or the pool is set up twice.
        """
        fund, _, pool = statement["pool"].partition("/")
        if fund in self._known:
            raise _fault(statement, f"{fund} is in force already: write all its pools before the first line that plays")
        if fund in taken:
            raise _fault(statement, f"{fund} is a link; a jackpot has a name of its own")
        if pool in self._lines.get(fund, {}):
            raise _fault(statement, f"pool {fund}/{pool} is set up already")
        self._lines.setdefault(fund, {})[pool] = statement

    def commands(self) -> list[tuple[Statement | None, Command]]:
        """The commands that put the funds in force, each with its first line.

        Raises:
            PageError: a fund cannot be as written.
        """
        found: list[tuple[Statement | None, Command]] = []
        for fund, lines in self._lines.items():
            first = next(iter(lines.values()))
            settings = _settings(fund, lines)
            wrong = problems(settings)
            if wrong:
                raise _fault(first, wrong[0])
            found.append((first, ask.OpenFund(actor=SYSTEM, settings=settings)))
        self._known.update(self._lines)
        self._lines = {}
        return found


def _settings(fund: str, lines: Mapping[str, Statement]) -> FundSettings:
    said: dict[str, Statement] = {}
    for line in lines.values():
        for word in ("game", "most", "seats", "high_hand", "days"):
            if word in line.values:
                other = said.setdefault(word, line)
                if other[word] != line[word]:
                    raise _fault(line, f"{word} of {fund} is said in line {other.line} already, and differs")
    first = next(iter(lines))
    game = PoolGame(said["game"]["game"] if "game" in said else PoolGame.POSTED)
    seats = 0 if game in POSTED_GAMES else _SEATS
    return FundSettings(
        id=fund,
        game=game,
        pools=tuple(_pool(name, line, first, len(lines)) for name, line in lines.items()),
        take_max_cents=said["most"]["most"] if "most" in said else MOST_CENTS.get(game),
        unclaimed_days=said["days"]["days"] if "days" in said else UNCLAIMED_DAYS,
        seats=said["seats"]["seats"] if "seats" in said else seats,
        high_hand_ppm=said["high_hand"]["high_hand"] if "high_hand" in said else None,
    )


def _pool(name: str, line: Statement, first: str, count: int) -> PoolSettings:
    seeds = first if name == _SECONDARY and name != first else None
    reseeds = line.get("reseeds", seeds)
    return PoolSettings(
        name,
        line.get("share", PPM_PER_WHOLE if count == 1 else 0),
        line.get("cap"),
        line.get("at_cap"),
        line.get("then"),
        reseeds,
        line.get("offered", reseeds is not None and "reseeds" not in line.values),
    )


def _dealer(line: Statement) -> Actor:
    named: Actor | None = line.get("by")
    return named or Actor(f"dealer@{line['fund']}", Role.DEALER)


def _by(line: Statement, name: str, role: Role) -> Actor:
    named: Actor | None = line.get("by")
    return named or Actor(name, role)


def _pit(line: Statement) -> Actor:
    """Who hands out at a pool table: a supervisor, or the person the line names."""
    return _by(line, "sup-pit", Role.SUPERVISOR)


def _parts(name: str) -> tuple[str, str]:
    fund, _, pool = name.partition("/")
    return fund, pool


def _win(line: Statement) -> Command:
    fund, pool = _parts(line["pool"])
    second = line.get("and") or Actor(f"dealer@{fund}", Role.DEALER)
    return ask.WinPool(actor=line["by"], fund=fund, pool=pool, shares=line["shares"], second=second)


def _transfer(line: Statement) -> Command:
    fund, pool = _parts(line["pool"])
    to_fund, to_pool = _parts(line["to"]) if line["to"] is not None else (None, "")
    return ask.TransferPool(
        actor=line["by"],
        fund=fund,
        pool=pool,
        to_fund=to_fund,
        to_pool=to_pool,
        cents=line.get("amount"),
        second=line.get("and"),
        reference=line.get("ref", ""),
        game_ended=line.get("game_ended", False),
    )


def _pay(line: Statement) -> Command:
    cashier = _by(line, "sup-cage", Role.SUPERVISOR)
    return ask.PayShare(actor=cashier, award=line["share"], cashier=cashier.id)


#: Lines that are one command each.
POOL_COMMANDS: Final[Mapping[str, Callable[[Statement], Command]]] = {
    "rake": lambda s: ask.Rake(actor=_dealer(s), fund=s["fund"], cents=s["amount"], at_table=s.get("at", "")),
    "drop": lambda s: ask.DropWagers(actor=_dealer(s), fund=s["fund"], seats=s["seats"], cents=s["each"]),
    "post": lambda s: ask.Post(actor=_by(s, "acc-count", Role.ACCOUNTING), fund=s["fund"], gaming_day=s.get("day", "")),
    "win": _win,
    "pay-share": _pay,
    "unclaimed-share": lambda s: ask.UnclaimedShare(actor=_by(s, "acc-1", Role.ACCOUNTING), award=s["share"]),
    "dispose-share": lambda s: ask.DisposeShare(
        actor=s["by"], award=s["share"], to=s["to"], second=s.get("and"), reference=s.get("ref", "")
    ),
    "undo-win": lambda s: ask.UndoWin(
        actor=s["by"], fund=s["fund"], win=s["count"], second=s.get("and"), reference=s.get("ref", "")
    ),
    "transfer-pool": _transfer,
    "strike-out": lambda s: ask.StrikeOuts(actor=_dealer(s), fund=s["fund"], seats=s["seats"], cents=s["each"]),
    "hand": lambda s: ask.HandWon(actor=_dealer(s), fund=s["fund"], seat=s["seat"]),
    "runner": lambda s: ask.BaseRunner(actor=_pit(s), fund=s["fund"], seat=s["seat"]),
    "leave": lambda s: ask.LeaveTable(actor=_dealer(s), fund=s["fund"], seat=s["seat"]),
    "bet": lambda s: ask.PotBets(actor=_dealer(s), fund=s["fund"], seats=s["seats"], cents=s["each"]),
    "pot": lambda s: ask.PotWon(actor=_pit(s), fund=s["fund"], seats=s["seats"], rake_cents=s.get("rake", 0)),
    "rollover": lambda s: ask.RollOver(
        actor=_pit(s),
        fund=s["fund"],
        percent_ppm=s.get("rate"),
        seats=s.get("seats", ()),
        rake_cents=s.get("rake", 0),
    ),
    "undo-pot": lambda s: ask.UndoPot(
        actor=s["by"],
        fund=s["fund"],
        second=s.get("and"),
        reference=s.get("ref", ""),
        came_back=s.get("came_back", False),
    ),
    "return": lambda s: ask.ReturnBets(actor=_dealer(s), fund=s["fund"], seat=s["seat"]),
    "close": lambda s: ask.CloseFund(actor=_pit(s), fund=s["fund"]),
    "reopen": lambda s: ask.ReopenFund(actor=_pit(s), fund=s["fund"]),
}


def fund_of(book: Book, line: Statement, name: str) -> FundState:
    """A fund of the page by its name.

    Raises:
        PageError: there is none.
    """
    if name not in book.funds:
        raise _fault(line, f"there is no jackpot or pool table {name} on this page")
    return book.funds[name]


def pool_of(book: Book, line: Statement) -> tuple[FundState, str]:
    """A pool of the page and its fund.

    Raises:
        PageError: there is none.
    """
    name, pool = _parts(line["pool"])
    fund = fund_of(book, line, name)
    if pool not in fund.pools:
        raise _fault(line, f"{name} has no pool {pool}; it has {', '.join(fund.pools)}")
    return fund, pool
