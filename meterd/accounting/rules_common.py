"""Rules of an outcome that all seats share: the claims of all live seats, in one entry.

Sources: money rules M8; a finished streak (PA 617b.4(g), (h)), a hand on the board.
Units: ``*_cents``; levels in microcents.

Choices where the rules leave one:
* The claims are made in the table's order of settlement: from the highest seat down unless the table says otherwise.
* Live is a seat with an accepted, not voided wager, not dead by a fold or a split, and without an award of its own: who
  holds more than the board is keyed by seat, before or after.
* With two hands, a seat whose one hand has an award still has the board's for the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from meterd.accounting import envy
from meterd.accounting.answer import (
    KEYS,
    Answer,
    award_facts,
    entry,
    level_facts,
    revalued,
    round_refusal,
    table_for,
)
from meterd.accounting.awards import ClaimFacts, LinkMoney, Settled, settle
from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.commands_streak import ClaimBoard
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_claims import (
    against_numbers,
    chip_facts,
    closed_ties,
    confirmed_by_rule,
    row_of,
    still_running,
    touched,
    wager_refusal,
)
from meterd.accounting.settings import Settlement
from meterd.accounting.state import LinkState, TableState
from meterd.money import AMOUNT_CENTS_MAX


def claim_board(book: Book, command: ClaimBoard) -> Answer:
    """A hand that the board gives to every live seat, or a streak that is kept on the layout.

    Refused for the reason of the seat that is settled first where no seat is live.
    """
    found = table_for(book, command.actor, KEYS, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    seats = round_refusal(table, link) or still_running(table) or live_seats(book, table)
    if isinstance(seats, Refused):
        return seats
    row = row_of(link.rules, command.hand, command.cards)
    if isinstance(row, Refused):
        return row
    refused = against_numbers(table.streak, row.hand)
    if refused:
        return refused
    signs = signs_of(link, command.signs)
    return common_claims(book, command, table, link, row.hand, seats, signs, first=True)


def signs_of(link: LinkState, shown: Mapping[str, int]) -> dict[str, int]:
    """What the signs of a link's levels last showed."""
    return {name: shown[name] for name in link.rules.levels if name in shown}


def live_seats(book: Book, table: TableState) -> list[int] | Refused:
    """The seats that have an award by a common outcome, in order of settlement; or why none has."""
    order = sorted(table.wagers, reverse=table.settings.settlement is Settlement.COUNTER_CLOCKWISE)
    refusals = {seat: wager_refusal(book, table, table.seats, seat, but=None) for seat in order}
    live = [seat for seat in order if refusals[seat] is None]
    if live:
        return live
    why = next(iter(refusals.values()), None)
    return why or Refused(Refusal.SEAT_HAS_NO_WAGER, "no wager in this round")


def common_claims(
    book: Book,
    command: Command,
    table: TableState,
    link: LinkState,
    hand: str,
    seats: list[int],
    signs: dict[str, int],
    *,
    first: bool,
) -> tuple[Entry, ...] | Refused:
    """The claims of these seats, decided one on top of the other and told in one entry."""
    money = book.money(link.settings.id)
    ties = closed_ties(link, table.key)
    made: list[tuple[ClaimFacts, Settled]] = []
    befores: list[dict[str, Any]] = []
    for seat in seats:
        name = book.award_name(len(made))
        units = table.wagers[seat].units
        chip = table.settings.lowest_chip_cents
        facts = ClaimFacts(name, table.settings.id, table.round, seat, hand, units, signs, ties, chip)
        befores.append(_before(money, table.key))
        settled = settle(money, link.rules, facts)
        if settled.cents > AMOUNT_CENTS_MAX:
            return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, name)
        made.append((facts, settled))
    made = [(facts, settled._replace(parts=money.parts[facts.award])) for facts, settled in made]
    told = _told(book, table, link, made, befores, money)
    claimed = entry(
        command,
        Kind.COMMON_CLAIMED,
        told,
        table=table.settings.id,
        link=link.settings.id,
        moves=money.moves,
        first=first,
    )
    mates = [(book.awards[name], sum(p["cents"] for p in facts["parts"])) for name, facts in told["awards"].items()]
    sure = [one for facts, settled in made for one in confirmed_by_rule(book, command, facts, table, link, settled)]
    return (claimed, *revalued(command, mates, made[0][0].award), *sure)


def _before(money: LinkMoney, key: str) -> dict[str, Any]:
    """The link as it stands, with no more of its rounds than the one that these claims are of."""
    state = money.to_json()
    return {"levels": state["levels"], "marks": {name: mark for name, mark in state["marks"].items() if name == key}}


def _told(
    book: Book,
    table: TableState,
    link: LinkState,
    made: list[tuple[ClaimFacts, Settled]],
    befores: list[dict[str, Any]],
    money: LinkMoney,
) -> dict[str, Any]:
    """The body of the entry. The state before the first claim is the book's own and is not told."""
    claims = [
        {
            "award": facts.award,
            "seat": facts.seat,
            "units": facts.units,
            "envy_cents": envy.total_cents(link.rules, table.seats, facts.seat, facts.hand, common=True),
            "signs": dict(facts.signs),
            "late": list(facts.late),
            **chip_facts(facts),
            **award_facts(settled),
            **({"before": before} if index else {}),
        }
        for index, ((facts, settled), before) in enumerate(zip(made, befores, strict=True))
    ]
    mine = {facts.award for facts, _ in made}
    mates = {
        name: award_facts(Settled(parts, book.awards[name].sign_above_meter, book.awards[name].meter_empty))
        for name, parts in money.parts.items()
        if name not in mine and parts != book.awards[name].parts
    }
    mark = money.marks.get(table.key)
    levels = dict.fromkeys(name for _, settled in made for name in touched(settled))
    return {
        "round": table.round,
        "hand": made[0][0].hand,
        "claims": claims,
        "awards": mates,
        "marks": {table.key: mark.to_json()} if mark is not None and mark != link.marks.get(table.key) else {},
        "levels": level_facts(money.levels[name] for name in levels),
    }
