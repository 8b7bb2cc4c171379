"""The rules: a command in, entries or a refusal out. The heart of the product; no input or output in sight.

Rule 1: ``decide`` is pure. It reads the book and never changes it; a refusal leaves everything as it was.
Rule 2: what a rule leaves to choose stands in the docstring of the function that chooses.
Rule 3: a device event at or below the book's mark has been answered before: ALREADY_DONE, and no entry.

Where to read on: ``rules_site`` (links, tables, devices), ``rules_round`` (LOCK to END GAME), ``rules_claims``
(claim, pay), ``rules_confirm`` (confirm, hold), ``rules_past`` (correct, void, undo), ``rules_links`` (changes of a
live link, unclaimed and late awards, aggregate limits), ``rules_pools`` (posted jackpots, pools of table games); what
money does is in ``meter``, ``awards`` and ``replay``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from meterd.accounting import (
    rules_claims,
    rules_confirm,
    rules_day,
    rules_links,
    rules_past,
    rules_pools,
    rules_round,
    rules_settings,
    rules_site,
    rules_streak,
    rules_tips,
)
from meterd.accounting.answer import Answer, refused_entry
from meterd.accounting.book import Book
from meterd.accounting.commands import (
    Claim,
    CloseTable,
    Command,
    Confirm,
    Correct,
    CreateLedger,
    DefineTable,
    EndGame,
    Event,
    Fold,
    Hold,
    Join,
    LateBet,
    Lock,
    Note,
    OpenLink,
    OpenTable,
    Pay,
    SetSite,
    TrustDevice,
    Undo,
    Void,
    VoidRound,
    VoidSeat,
)
from meterd.accounting.entries import Entry
from meterd.accounting.refusals import Refusal, Refused
from meterd.errors import MisuseError
from meterd.money import MICROCENTS_MAX


class Decision(NamedTuple):
    """What a command leads to. With a refusal ``entries`` holds the one entry that says so.

    A repeated device event is refused ALREADY_DONE without an entry: the first answer stands.
    """

    entries: tuple[Entry, ...]
    refusal: Refused | None


def decide(book: Book, command: Command) -> Decision:
    """Decide one command against the book as it stands.

    Raises:
        MisuseError: a command that our own caller must not make (unknown kind, a link that cannot be).
        InvariantBroken: money would no longer add up.
    """
    event = command.event
    if event is not None and seen_before(book, event):
        return Decision((), Refused(Refusal.ALREADY_DONE, str(event)))
    rule = _RULES.get(type(command))
    if rule is None:
        raise MisuseError(f"no rule for {type(command).__name__}")
    answer = rule(book, command)
    if isinstance(answer, Refused):
        return Decision((refused_entry(command, answer),), answer)
    account = beyond_bounds(book, answer)
    if account is not None:
        refused = Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, account)
        return Decision((refused_entry(command, refused),), refused)
    return Decision(answer, None)


def beyond_bounds(book: Book, entries: tuple[Entry, ...]) -> str | None:
    """An account that these entries, one after the other, would carry beyond what the ledger's integers hold.

    Nor may one posting be larger, though an account that changes sides would hold the outcome.
    """
    get = book.balances.get
    after: dict[str, int] = {}
    for entry in entries:
        for account, microcents in entry.postings:
            if account not in after:
                after[account] = get(account, 0)
            after[account] += microcents
            if abs(after[account]) > MICROCENTS_MAX or abs(microcents) > MICROCENTS_MAX:
                return account
    return None


def seen_before(book: Book, event: Event) -> bool:
    """Whether an event is at or below the mark of its input, so that it counts no more."""
    mark = book.devices.get(event.input)
    return mark is not None and (event.epoch, event.count) <= mark


_RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {
    CreateLedger: rules_site.create_ledger,
    SetSite: rules_site.set_site,
    OpenLink: rules_site.open_link,
    DefineTable: rules_site.define_table,
    Note: rules_site.note,
    TrustDevice: rules_site.trust_device,
    OpenTable: rules_site.open_table,
    CloseTable: rules_site.close_table,
    Lock: rules_round.lock,
    LateBet: rules_round.late_bet,
    Fold: rules_round.fold,
    Join: rules_round.join,
    EndGame: rules_round.end_game,
    Claim: rules_claims.claim,
    Confirm: rules_confirm.confirm,
    Hold: rules_confirm.hold,
    Pay: rules_claims.pay,
    Correct: rules_past.correct,
    Void: rules_past.void,
    VoidSeat: rules_past.void_seat,
    VoidRound: rules_past.void_round,
    Undo: rules_past.undo_award,
    **rules_links.RULES,
    **rules_pools.RULES,
    **rules_streak.RULES,
    **rules_settings.RULES,
    **rules_tips.RULES,
    **rules_day.RULES,
}

#: Every kind of command that there is.
COMMANDS: Final = tuple(_RULES)
