"""What a page may expect, each checked against the book as it stands.

Rule 1: amounts of levels are rounded down to the cent; accounts, house seeds and liabilities towards zero.
Rule 2: an unmet expectation says what was expected and what is, in the words of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from meterd.accounting.book import Book
from meterd.accounting.settings_pools import STRIKE_OUT
from meterd.accounting.state import LevelState, LinkState
from meterd.app.scenario_links import link_state
from meterd.app.scenario_parse import Statement
from meterd.app.scenario_pools import fund_of, pool_of
from meterd.app.scenario_setup import fault, near
from meterd.app.scenario_streak import streak_length, table_of
from meterd.money import MICROCENTS_PER_CENT, format_cents, whole_cents


class Unmet(Exception):  # noqa: N818 - it is an outcome of a page, not an error of the program
    """An expectation that does not hold. ``statement`` is the line at fault where it is not the line being played."""

    def __init__(self, expected: str, actual: str, statement: Statement | None = None) -> None:
        super().__init__(f"expected {expected}, is {actual}")
        self.expected, self.actual, self.statement = expected, actual, statement


def money(cents: int) -> str:
    """An amount as a page writes it: no thousands separators."""
    return format_cents(cents).replace(",", "")


def towards_zero(microcents: int) -> int:
    """Whole cents of an amount that may be negative."""
    cents = abs(microcents) // MICROCENTS_PER_CENT
    return cents if microcents >= 0 else -cents


def _require(expected: str, actual: str) -> None:
    if expected != actual:
        raise Unmet(expected, actual)


def _link(book: Book, line: Statement, name: str) -> LinkState:
    if name not in book.links:
        raise fault(line, f"there is no link {name} on this page")
    return book.links[name]


def _level(book: Book, line: Statement) -> LevelState:
    link, _, level = line["level"].partition("/")
    levels = _link(book, line, link).levels
    if level not in levels:
        raise fault(line, f"link {link} has no level {level}; it has {', '.join(levels)}")
    return levels[level]


def _meter(book: Book, line: Statement) -> None:
    _require(money(line["money"]), money(whole_cents(_level(book, line).display_microcents)))


def _reserve(book: Book, line: Statement) -> None:
    state = _level(book, line)
    link, _, level = line["level"].partition("/")
    settings = next(one for one in book.links[link].settings.levels if one.name == level)
    actual = "none" if settings.reserve_ppm is None else money(whole_cents(state.reserve_microcents))
    _require("none" if line["money"] is None else money(line["money"]), actual)


def _overflow(book: Book, line: Statement) -> None:
    _require(money(line["money"]), money(whole_cents(_level(book, line).overflow_microcents)))


def _microcents(book: Book, line: Statement) -> None:
    _require(str(line["whole"]), str(_level(book, line).display_microcents))


def _count(book: Book, line: Statement) -> None:
    _require(str(line["whole"]), str(_level(book, line).wagers))


def _award(book: Book, line: Statement) -> None:
    award = book.awards.get(line["award"])
    status: str = line["status"]
    if award is None:
        raise Unmet(status, "no such award")
    if "money" in line.values:
        _require(f"{status} {money(line['money'])}", f"{award.state_word} {money(award.amount_cents)}")
    else:
        _require(status, award.state_word)


def _flag(book: Book, line: Statement) -> None:
    award = book.awards.get(line["award"])
    if award is None:
        raise Unmet(line["flag"], "no such award")
    flags = {
        "METER_EMPTY": award.meter_empty,
        "OUT_OF_ORDER": award.out_of_order,
        "SIGN_ABOVE_METER": award.sign_above_meter,
    }
    _require("yes" if line["yes"] else "no", "yes" if flags[line["flag"]] else "no")


def _table_state(book: Book, line: Statement) -> None:
    _require(line["round"], table_of(book, line).state.value.lower())


def _envy(book: Book, line: Statement) -> None:
    shares = table_of(book, line).last_envy
    _require(money(line["money"]), money(sum(share.cents for share in shares if share.seat == line["seat"])))


def _toke(book: Book, line: Statement) -> None:
    _require(money(line["money"]), money(table_of(book, line).last_toke_cents))


def _streak(book: Book, line: Statement) -> None:
    _require(str(line["whole"]), str(streak_length(book, line)))


def _account(book: Book, line: Statement) -> None:
    account = line["account"]
    if account not in book.balances:
        _require_known(book, line, account)
    _require(money(line["money"]), money(towards_zero(book.balances.get(line["account"], 0))))


def _require_known(book: Book, line: Statement, account: str) -> None:
    """An account that has held nothing yet is 0; one that nothing on the page can have is a slip of the pen.

    Raises:
        PageError: no account is called so, or what it names is not set up.
        Unmet: it is of an award that there is not.
    """
    kind = next((kind for kind in _ACCOUNTS if account.startswith(kind)), "")
    name = account.removeprefix(kind)
    if kind == "payable/":
        if name not in book.awards and name not in book.fund_awards:
            raise Unmet(money(line["money"]), f"no such award {name}")
        return
    if not kind or name not in _ACCOUNTS[kind](book):
        raise fault(line, f"nothing on this page has an account {account}{near(account, _all_accounts(book))}")


def _levels(book: Book) -> list[str]:
    return [f"{link}/{level}" for link, state in book.links.items() for level in state.levels]


def _pools(book: Book) -> list[str]:
    return [f"{fund}/{pool}" for fund, state in book.funds.items() for pool in (*state.pools, STRIKE_OUT)]


#: The accounts of a ledger: how each kind begins, and what may follow.
_ACCOUNTS: Final[Mapping[str, Callable[[Book], list[str]]]] = {
    "drop/": lambda book: [*book.tables, *book.funds],
    "meter/": _levels,
    "reserve/": _levels,
    "overflow/": _levels,
    "payable/": lambda book: [*book.awards, *book.fund_awards],
    "paid/": lambda book: [*book.tables, *book.links, *book.funds],
    "pool/": _pools,
    "unclaimed/": lambda book: [*book.links, *book.funds],
    "house/hold/": lambda book: [*book.tables, *book.funds],
    "house/pays/": lambda book: [*book.tables, *book.funds],
    "house/seed/": _levels,
    "house/revenue": lambda _book: [""],
}


def _all_accounts(book: Book) -> list[str]:
    return [kind + name for kind, names in _ACCOUNTS.items() for name in names(book)]


def _house_seed(book: Book, line: Statement) -> None:
    _level(book, line)
    _require(money(line["money"]), money(towards_zero(book.balances.get(f"house/seed/{line['level']}", 0))))


def _liability(book: Book, line: Statement) -> None:
    if line["link"] not in book.funds:
        _link(book, line, line["link"])
    _require(money(line["money"]), money(towards_zero(book.liability_microcents(line["link"]))))


def _standing(book: Book, line: Statement) -> None:
    _link(book, line, line["link"])
    _require(line["standing"], link_state(book, line["link"]))


def _sum(book: Book, line: Statement) -> None:
    wanted = line["money"] * MICROCENTS_PER_CENT
    if book.residual_microcents() != wanted:
        raise Unmet(money(line["money"]), f"{book.residual_microcents()} microcents")


def _posted(book: Book, line: Statement) -> None:
    fund, pool = pool_of(book, line)
    _require(money(line["money"]), money(fund.pools[pool].posted_cents))


def _pool(book: Book, line: Statement) -> None:
    fund, pool = pool_of(book, line)
    _require(money(line["money"]), money(towards_zero(fund.microcents(pool))))


def _share(book: Book, line: Statement) -> None:
    share = book.fund_awards.get(line["share"])
    status: str = line["state"]
    if share is None:
        raise Unmet(status, "no such share")
    if "money" in line.values:
        _require(f"{status} {money(line['money'])}", f"{share.state_word} {money(share.cents)}")
    else:
        _require(status, share.state_word)


def _runners(book: Book, line: Statement) -> None:
    _require(str(line["whole"]), str(fund_of(book, line, line["fund"]).runners.get(line["seat"], 0)))


EXPECT: Final[Mapping[str, Callable[[Book, Statement], None]]] = {
    "expect-meter": _meter,
    "expect-reserve": _reserve,
    "expect-overflow": _overflow,
    "expect-microcents": _microcents,
    "expect-count": _count,
    "expect-award": _award,
    "expect-flag": _flag,
    "expect-table": _table_state,
    "expect-envy": _envy,
    "expect-house-seed": _house_seed,
    "expect-liability": _liability,
    "expect-account": _account,
    "expect-accounts-sum": _sum,
    "expect-link": _standing,
    "expect-posted": _posted,
    "expect-pool": _pool,
    "expect-share": _share,
    "expect-runners": _runners,
    "expect-streak": _streak,
    "expect-toke": _toke,
}
