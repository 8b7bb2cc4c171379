"""What an act led to, in words for whoever asked for it.

Rule 1: amounts are written as on a sign, in the ledger's currency; what an entry does not say is not said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from meterd.accounting.entries import Kind
from meterd.accounting.refusals import ADVICE, Refusal, Refused
from meterd.edge.requests import Told
from meterd.money import MICROCENTS_PER_CENT, format_cents, format_rate

_DONE: Final[Mapping[str, str]] = {
    Kind.CLAIMED: "claimed",
    Kind.COMMON_CLAIMED: "claimed for all seats",
    Kind.CONFIRMED: "confirmed",
    Kind.HELD: "held: it stays pending",
    Kind.CORRECTED: "corrected",
    Kind.VOIDED: "voided, as if it had never been claimed",
    Kind.REVALUED: "worth another amount now",
    Kind.PAID: "paid",
    Kind.CORRECTION: "undone",
    Kind.WAGER_VOIDED: "wagers given back",
    Kind.FOLDED: "folded",
    Kind.JOINED: "seats joined as one player",
    Kind.GAME_ENDED: "END GAME",
    Kind.TABLE_OPENED: "open",
    Kind.TABLE_CLOSED: "closed",
    Kind.LINK_SUSPENDED: "suspended: no wagers, no claims",
    Kind.LINK_RESUMED: "resumed",
    Kind.ADJUSTED: "adjusted",
    Kind.TRANSFERRED: "transferred",
    Kind.LIMIT_SET: "limit set",
    Kind.SEED_RECOVERED: "seed recovered",
    Kind.RELEASED: "released to the house",
    Kind.NOTICE_GIVEN: "notice given",
    Kind.DISCONTINUED: "discontinued",
    Kind.RULES_EASED: "rules eased",
    Kind.UNCLAIMED: "unclaimed",
    Kind.DISPOSED: "disposed of",
    Kind.ADJUSTMENT: "awarded late, paid by the house",
    Kind.CAPS_POSTED: "aggregate limits posted",
    Kind.CAPPED: "cut by an aggregate limit",
    Kind.FUND_CLOSED: "closed",
    Kind.FUND_REOPENED: "open again",
    Kind.RAKED: "raked",
    Kind.POSTED: "posted",
    Kind.POOL_WON: "won",
    Kind.POOL_WIN_UNDONE: "win undone",
    Kind.POOL_TRANSFERRED: "transferred",
    Kind.SHARE_PAID: "paid",
    Kind.SHARE_UNCLAIMED: "unclaimed",
    Kind.SHARE_DISPOSED: "disposed of",
    Kind.STRIKE_OUTS: "strike-outs gathered",
    Kind.HAND_WON: "hand won",
    Kind.BASE_RUNNER: "base runner",
    Kind.RUNNERS_RETURNED: "base runners returned",
    Kind.POT_BETS: "bets in the pot",
    Kind.POT_WON: "pot won",
    Kind.ROLLED_OVER: "rolled over",
    Kind.POT_UNDONE: "undone",
    Kind.BETS_RETURNED: "bets given back",
    Kind.NUMBER_KEYED: "number keyed",
    Kind.SPIN_VOIDED: "spin taken back",
    Kind.HAND_SPLIT: "hand split",
    Kind.TIP_PAID: "tip paid",
    Kind.TIP_UNDONE: "tip taken back",
    Kind.DAY_CONFIRMED: "gaming day confirmed",
}
#: Facts that a site file says as well, and its keys for them; at the next start the two must agree.
_IN_THE_FILE: Final[Mapping[str, Mapping[str, str]]] = {
    Kind.LIMIT_SET: {"limit_cents": "limit_cents", "overflow": "overflow"},
    Kind.CAPS_POSTED: {
        "player_cents": "player_cap_cents",
        "table_cents": "table_cap_cents",
        "tip_cents": "tip_cap_cents",
    },
}
#: Facts of a body that are said by their own name, in this order; amounts by ``_AMOUNTS``.
_FACTS: Final = (
    "seat",
    "seats",
    "hand",
    "number",
    "length",
    "target",
    "to",
    "part",
    "overflow",
    "reason",
    "day",
    "from_utc",
    "until_utc",
)
_AMOUNTS: Final[Mapping[str, str]] = {
    "amount_cents": "",
    "from_cents": "before",
    "cents": "",
    "limit_cents": "limit",
    "player_cents": "a player",
    "table_cents": "the table",
    "posted_cents": "of",
    "paid_cents": "paid",
    "returned_cents": "given back",
    "to_pool_cents": "to the pool",
    "rake_cents": "rake",
    "rolls_over_cents": "rolls over",
    "envy_cents": "envy",
    "toke_cents": "toke",
    "tip_cents": "tip",
}
#: Amounts that a null means something for: no limit.
_NONE_IS_SAID: Final = frozenset({"limit_cents", "player_cents", "table_cents"})


def refusal_words(refused: Refused) -> str:
    """A refusal: its particular cause and next step; what all of its kind have in common only where it has none.

    A detail without a blank is no cause but a name: of the table, the award, the seat that was asked about.
    """
    advice = ADVICE[refused.refusal]
    step = refused.step or advice.next_step
    if " " in refused.detail:
        return f"{refused.detail}. {step}"
    return f"{refused.detail + ': ' if refused.detail else ''}{advice.cause} {step}"


def refusal_of(told: Sequence[Told]) -> Refused | None:
    """The refusal that entries tell of; None where the act was done."""
    first = told[0]
    if first.kind != Kind.REFUSED or len(told) > 1:
        return None
    body = first.body
    return Refused(Refusal(body["refusal"]), str(body.get("detail", "")), str(body.get("step", "")))


def words(told: Sequence[Told], currency: str, amounts: Mapping[str, int]) -> str:
    """What happened, one line an entry, and what the meters show after it.

    ``amounts``: award → cents, for entries that name an award and not what it is worth.
    """
    lines = [_line(each, currency, amounts) for each in told]
    shown: dict[str, int] = {}
    pools: dict[str, Mapping[str, int]] = {}
    for each in told:
        for level, values in (each.body.get("levels") or {}).items():
            shown[level] = values["display_microcents"]
        pools.update(each.body.get("pools") or {})
    lines += [line for each in told for line in _for_the_file(each)]
    lines += [f"{level} shows {_amount(now, currency)}" for level, now in shown.items()]
    for pool, values in pools.items():
        posted = f", posted {currency} {format_cents(values['posted_cents'])}" if "posted_cents" in values else ""
        lines.append(f"{pool} holds {_amount(values['microcents'], currency)}{posted}")
    return "\n".join(lines)


def _for_the_file(told: Told) -> Iterator[str]:
    """What to write into the site file, by its keys, and where."""
    keys = _IN_THE_FILE.get(told.kind)
    if keys is None:
        return
    link, _, level = str(told.body.get("level", "")).partition("/")
    where = f'[[link.level]] name = "{level}" of the link "{link}"' if level else f'[[table]] id = "{told.table}"'
    said = "; ".join(f"{key} = {_as_written(told.body.get(fact))}" for fact, key in keys.items())
    yield f"write it into the site file, too, before the next start, under {where}: {said}"


def _as_written(value: Any) -> str:
    """A value as a site file has it."""
    return f'"{value if value is not None else "none"}"' if not isinstance(value, int) else str(value)


def _amount(microcents: int, currency: str) -> str:
    """Whole cents of an amount that is not negative, as a sign shows it."""
    return f"{currency} {format_cents(microcents // MICROCENTS_PER_CENT)}"


def _line(told: Told, currency: str, amounts: Mapping[str, int]) -> str:
    what = ", ".join(_awards(told.body)) or str(told.body.get("level") or told.table or told.link or "")
    worth = amounts.get(told.body.get("award", ""))
    if "amount_cents" not in told.body and worth is not None:
        facts_of_it: Mapping[str, Any] = {**told.body, "amount_cents": worth}
    else:
        facts_of_it = told.body
    facts = ", ".join([*_said(told.body), *_money(facts_of_it, currency)])
    where = f" at {told.table}" if told.table and told.table != what else ""
    done = _DONE.get(told.kind, told.kind)
    if told.kind == Kind.TABLE_CLOSED and told.body.get("was") == "LOCKED":
        done = "locked still: END GAME ends the round; close the table once more behind it"
    return f"{what}{where}: {done}{' (' + facts + ')' if facts else ''}".strip(": ")


def _awards(body: Mapping[str, Any]) -> Iterator[str]:
    if body.get("award"):
        yield body["award"]
    else:
        yield from (claim["award"] for claim in body.get("claims", ()))


def _said(body: Mapping[str, Any]) -> Iterator[str]:
    for name in _FACTS:
        value = body.get(name)
        if value not in {None, ""} if not isinstance(value, list) else value:
            said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield said if name in {"hand", "reason"} else f"{name.replace('_utc', '')} {said}"
    if isinstance(body.get("percent_ppm"), int):
        yield format_rate(body["percent_ppm"])


def _money(body: Mapping[str, Any], currency: str) -> Iterator[str]:
    for name, label in _AMOUNTS.items():
        value = body.get(name)
        if isinstance(value, int) and (value or not label):
            yield f"{label} {currency} {format_cents(value)}".strip()
        elif name in body and value is None and name in _NONE_IS_SAID:
            yield f"{label} none"
    for name in ("microcents", "moved_microcents"):
        if name in body:
            yield _amount(body[name], currency)
    for seat in body.get("paid", ()):
        yield f"seat {seat['seat']} {currency} {format_cents(seat['cents'])}"
    if isinstance(body.get("awards"), dict) and "win" in body:
        yield from (f"{share} {currency} {format_cents(cents)}" for share, cents in body["awards"].items())
    for claim in body.get("claims", ()):
        yield f"seat {claim['seat']} {currency} {format_cents(claim['amount_cents'])}"
