"""The whole book as plain values, so that a volume can begin with it, and the book that such values make.

Rule 1: nothing of the book is left out; what other fields say already (rules worked out, shared balances) is made anew.
Rule 2: what a stranger needs to check money stands by itself: balances, levels and pools, as in any other entry. The
        rest is in the form of ``plain`` and for this program alone.
Rule 3: the same book always makes the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

from meterd.accounting.awards import ClaimFacts, LinkMoney
from meterd.accounting.journal import ClaimOp, Journal, Op
from meterd.accounting.meter import LinkRules
from meterd.accounting.plain import codec, fields_of, read_fields, write_fields
from meterd.accounting.settings import SiteSettings
from meterd.accounting.state import Award, DeviceMark, LinkState, TableState
from meterd.accounting.state_pools import FundAward, FundState

if TYPE_CHECKING:
    from meterd.accounting.book import Book

_WORDS: Final = ("site_id", "currency", "demo", "gone_awards", "gone_shares")
_LISTS: Final = {
    "tables": codec(dict[str, TableState]),
    "awards": codec(dict[str, Award]),
    "open_awards": codec(dict[str, None]),
    "devices": codec(dict[str, DeviceMark]),
    "fund_awards": codec(dict[str, FundAward]),
    "open_shares": codec(dict[str, None]),
}
_SITE: Final = codec(SiteSettings | None)
_LINK: Final = fields_of(LinkState, frozenset({"rules", "balances", "journal"}))
_FUND: Final = fields_of(FundState, frozenset({"balances"}))
_CLAIM: Final = codec(ClaimFacts)
_OPS: Final = {kind.__name__: codec(kind) for kind in get_args(Op) if kind is not ClaimOp}


def carried(book: Book) -> dict[str, Any]:
    """The facts of the entry with which a volume begins, as far as they are the book's."""
    levels = [level for link in book.links for level in book.money(link).levels.values()]
    return {
        "day": book.gaming_day,
        "balances": {account: amount for account, amount in book.balances.items() if amount},
        "levels": {level.rules.key: level.facts() for level in levels},
        "pools": {
            f"{fund.settings.id}/{name}": {**state.to_json(), "microcents": fund.microcents(name)}
            for fund in book.funds.values()
            for name, state in fund.pools.items()
        },
        "keys": list(book.keys),
        "book": {
            **{name: getattr(book, name) for name in _WORDS},
            **{name: write(getattr(book, name)) for name, (write, _) in _LISTS.items()},
            "site": _SITE.write(book.site),
            "links": [_link_json(link) for link in book.links.values()],
            "funds": [write_fields(_FUND, fund) for fund in book.funds.values()],
        },
    }


def take_over(book: Book, body: Mapping[str, Any]) -> None:
    """Fill an empty book with what another one carried. For the fold only.

    Raises:
        ValueError: a field that this version does not know.
        KeyError: a field is missing.
    """
    rest = body["book"]
    book.balances.update(body["balances"])
    book.gaming_day = body["day"]
    book.keys = tuple(body["keys"])
    for name in _WORDS:
        setattr(book, name, rest.get(name, getattr(book, name)))
    for name, (_, read) in _LISTS.items():
        if name in rest:
            setattr(book, name, read(rest[name]))
    book.site = _SITE.read(rest["site"])
    for data in rest["links"]:
        link = _link_from(book, data)
        book.links[link.settings.id] = link
        for name, level in link.rules.levels.items():
            book.counts_by_key[level.key] = link.counts[name]
    for data in rest["funds"]:
        fund = FundState(balances=book.balances, **read_fields(_FUND, data))
        book.funds[fund.settings.id] = fund


def _link_json(link: LinkState) -> dict[str, Any]:
    data = write_fields(_LINK, link)
    if link.journal is not None:
        data["journal"] = [_op_json(op) for op in link.journal.ops]
    return data


def _link_from(book: Book, data: Mapping[str, Any]) -> LinkState:
    plain = {name: value for name, value in data.items() if name != "journal"}
    facts = read_fields(_LINK, plain)
    rules = LinkRules.of(facts["settings"])
    journal = Journal([_op_from(rules, op) for op in data["journal"]]) if "journal" in data else None
    return LinkState(rules=rules, balances=book.balances, journal=journal, **facts)


def _op_json(op: Op) -> list[Any]:
    if isinstance(op, ClaimOp):
        return ["ClaimOp", _CLAIM.write(op.facts), op.before.to_json()]
    name = type(op).__name__
    return [name, _OPS[name].write(op)]


def _op_from(rules: LinkRules, data: list[Any]) -> Op:
    if data[0] == "ClaimOp":
        return ClaimOp(_CLAIM.read(data[1]), LinkMoney.from_json(rules, data[2]))
    op: Op = _OPS[data[0]].read(data[1])
    return op
