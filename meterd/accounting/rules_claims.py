"""Rules of an award: claim, confirm, hold, pay.

Sources: claims (money rules M4), confirm and pay (M5), ties (M7), envy of awards confirmed after END GAME (M9).
Units: ``*_cents``.

Choices where the rules leave one:
* Whoever corrects a claim has keyed it: somebody else confirms (SAME_PERSON).
* The members of a split tie do not wait for each other; each is verified alone, and all are confirmed together.
* A claim by cards is ranked at once; a confirmation above the cards threshold asks for the cards again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from meterd.accounting import envy
from meterd.accounting.answer import (
    CASHIERS,
    KEYS,
    SECONDS,
    SUPERVISORS,
    Answer,
    award_facts,
    entry,
    find_table,
    level_facts,
    not_authorised,
    revalued,
    round_refusal,
    site_of,
)
from meterd.accounting.awards import ClaimFacts, LinkMoney, RoundMark, Settled, settle
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Claim, Command, Confirm, Hold, Pay
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.meter import LinkRules, Moves, add
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings import Ties
from meterd.accounting.state import Award, AwardStatus, EnvyShare, LinkState, RoundSeats, TableState
from meterd.errors import MeterdError
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_PER_CENT
from meterd.paytables.model import PayKind, Row

_DIGITS = {
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
}


def hand_key(hand: str) -> str:
    """The key of a hand; the digit form ``4-of-a-kind`` is accepted for ``four-of-a-kind``."""
    key = hand.strip().lower()
    if key[1:].startswith("-of-a-kind") and key[0] in _DIGITS:
        return _DIGITS[key[0]] + key[1:]
    return key


def claim(book: Book, command: Claim) -> Answer:
    """A seat and a hand: what it pays is frozen now, the meter moves now, and it waits for a supervisor."""
    refused = not_authorised(command.actor, KEYS)
    if refused:
        return refused
    found = find_table(book, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    refused = round_refusal(table, link) or _seat_refusal(book, table, command.seat)
    if refused:
        return refused
    row = row_of(link.rules, command.hand, command.cards)
    if isinstance(row, Refused):
        return row
    facts = ClaimFacts(
        f"A{len(book.awards) + 1}",
        command.table,
        table.round,
        command.seat,
        row.hand,
        table.wagers[command.seat].units,
        {name: command.signs[name] for name in link.rules.levels if name in command.signs},
        _closed_ties(link, table.key),
    )
    money = book.money(link.settings.id)
    settled = settle(money, link.rules, facts)
    if settled.cents > AMOUNT_CENTS_MAX:
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, facts.award)
    return _claimed(book, command, table, link, facts, settled, money)


def _seat_refusal(book: Book, table: TableState, seat: int) -> Refused | None:
    if not 1 <= seat <= table.settings.seats:
        return Refused(Refusal.SEAT_UNKNOWN, str(seat))
    return wager_refusal(book, table, table.seats, table.round, seat, but=None)


def wager_refusal(
    book: Book, table: TableState, seats: RoundSeats, round_: int, seat: int, *, but: str | None
) -> Refused | None:
    """Why a seat of a round cannot have an award, ``but`` being the award that is to move there."""
    if seat not in seats.wagers:
        return Refused(Refusal.SEAT_HAS_NO_WAGER, str(seat))
    if seat in seats.folded and not table.settings.folded_live:
        return Refused(Refusal.SEAT_FOLDED, str(seat))
    link = book.links[table.settings.link]
    for name in {*table.awards, *link.pending}:
        award = book.awards[name]
        same = award.table == table.settings.id and award.round == round_ and award.seat == seat
        if same and award.status is not AwardStatus.VOIDED and name != but:
            return Refused(Refusal.SEAT_ALREADY_CLAIMED, f"{name} on seat {seat}")
    return None


def _rank(rules: LinkRules, cards: Mapping[str, str]) -> Row | Refused | None:
    """What the ranking core makes of the cards; CARDS_DISAGREE where it cannot read or rank them."""
    from meterd.paytables.outcome import outcome  # noqa: PLC0415 - the ranking core loads when cards are entered

    try:
        return outcome(
            rules.settings.paytable,
            cards=cards.get("cards", ""),
            community=cards.get("community", ""),
            dealer=cards.get("dealer", ""),
        ).row
    except (ValueError, MeterdError) as error:
        return Refused(Refusal.CARDS_DISAGREE, str(error))


def row_of(rules: LinkRules, hand: str | None, cards: Mapping[str, str] | None) -> Row | Refused:
    """The row keyed or dealt; a row that pays nothing cannot be claimed."""
    if hand is not None:
        row = rules.rows.get(hand_key(hand))
        if row is not None and cards is not None:
            ranked = _rank(rules, cards)
            if isinstance(ranked, Refused):
                return ranked
            if ranked is None or ranked.hand != row.hand:
                return Refused(Refusal.CARDS_DISAGREE, f"{hand}: the cards make {ranked.hand if ranked else 'nothing'}")
    else:
        ranked = _rank(rules, cards or {})
        if isinstance(ranked, Refused):
            return ranked
        row = ranked
    if row is None or (not row.envy_cents and all(pay.kind is PayKind.LOSS for pay in row.pays)):
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, hand or "the cards pay nothing")
    return row


def _closed_ties(link: LinkState, key: str) -> tuple[str, ...]:
    mark = link.marks.get(key)
    return tuple(name for name, tie in mark.ties.items() if tie.closed) if mark is not None else ()


def _claimed(
    book: Book,
    command: Claim,
    table: TableState,
    link: LinkState,
    facts: ClaimFacts,
    settled: Settled,
    money: LinkMoney,
) -> tuple[Entry, ...]:
    mates = {
        name: Settled(parts, book.awards[name].sign_above_meter, book.awards[name].meter_empty)
        for name, parts in money.parts.items()
        if name != facts.award and parts != book.awards[name].parts
    }
    mark = money.marks.get(facts.key)
    body: dict[str, Any] = {
        "award": facts.award,
        "round": facts.round,
        "seat": facts.seat,
        "hand": facts.hand,
        "units": facts.units,
        "envy_cents": envy.total_cents(link.rules, table.seats, facts.seat, facts.hand),
        "signs": dict(facts.signs),
        "late": list(facts.late),
        **award_facts(settled),
        "awards": {name: award_facts(mate) for name, mate in mates.items()},
        "marks": {facts.key: mark.to_json()} if mark is not None and mark != link.marks.get(facts.key) else {},
        "levels": level_facts(money.levels[name] for name in _touched(settled)),
    }
    if command.cards is not None:
        body["cards"] = dict(command.cards)
    entries = (
        entry(command, Kind.CLAIMED, body, table=command.table, link=link.settings.id, moves=money.moves),
        *revalued(command, [(book.awards[name], mate.cents) for name, mate in mates.items()], facts.award),
    )
    if _confirms_itself(book, settled):
        entries = (*entries, _confirmed_entry(command, facts.table, link.settings.id, facts.award, by="rule"))
    return entries


def _touched(settled: Settled) -> list[str]:
    return list(dict.fromkeys(part.level for part in settled.parts if part.level is not None))


def _confirms_itself(book: Book, settled: Settled) -> bool:
    """No share of a meter, below the threshold, and no sign that promised more."""
    shares = any(part.kind == PayKind.METER_PERCENT.value for part in settled.parts)
    return not shares and not settled.sign_above_meter and settled.cents < site_of(book).confirm_above_cents


def _confirmed_entry(command: Command, table: str, link: str, award: str, by: str) -> Entry:
    body = {"award": award, "awards": [award], "verified": False, "by": by, "marks": {}, "envy": [], "envy_cents": 0}
    return entry(command, Kind.CONFIRMED, body, table=table, link=link, first=False)


def second_refusal(actor: Actor, second: Actor | None) -> Refused | None:
    """A second person has to be authorised and somebody else."""
    if second is None:
        return None
    return not_authorised(second, SECONDS) or (
        Refused(Refusal.SAME_PERSON, second.id) if second.id == actor.id else None
    )


def confirm(book: Book, command: Confirm) -> Answer:
    """A supervisor who did not key it confirms a pending award; a member of a tie is verified until all are."""
    award = book.awards.get(command.award)
    refused = (
        not_authorised(command.actor, SUPERVISORS)
        or second_refusal(command.actor, command.second)
        or (_persons_refusal(book, command, award) if award is not None else None)
        or award_refusal(book, command.award, cards=command)
    )
    if refused or award is None:
        return refused or Refused(Refusal.AWARD_UNKNOWN, command.award)
    link = book.links[award.link]
    mates = tie_mates(link, award)
    for name in link.pending:
        if name == award.id:
            break
        if award.has_percent and name not in mates and book.awards[name].levels & award.levels:
            return Refused(Refusal.EARLIER_AWARD_PENDING, name)
    if award.verified_by is not None:
        return Refused(Refusal.ALREADY_DONE, f"{award.id} waits for {', '.join(sorted(mates))}")
    waiting = [name for name in mates if name != award.id and book.awards[name].verified_by is None]
    members = [] if waiting else [name for name in link.pending if name == award.id or name in mates]
    return (confirmation(book, command, award, members, link.marks),)


def confirmation(
    book: Book,
    command: Command,
    award: Award,
    members: list[str],
    marks: Mapping[str, RoundMark],
    *,
    first: bool = True,
) -> Entry:
    """The entry that verifies an award and confirms ``members`` (all of its tie, or none while one is missing).

    For a round that has ended it hands out the envy that waited for the confirmation.
    """
    table = book.tables[award.table]
    link = book.links[award.link]
    shares: tuple[EnvyShare, ...] = ()
    seats = table.past.get(award.round)
    if seats is not None:
        shares = envy.shares(link.rules, seats, [book.awards[name] for name in members])
    total = sum(share.cents for share in shares)
    moves: Moves = {}
    if total:
        add(moves, f"house/pays/{award.table}", -total * MICROCENTS_PER_CENT)
        add(moves, f"paid/{award.table}", total * MICROCENTS_PER_CENT)
    closed = {}
    key = f"{award.table}#{award.round}"
    mark = marks.get(key)
    if mark is not None and members:
        data = mark.to_json()
        for name in _split_levels(link.rules) & set(data["ties"]):
            tie = data["ties"][name]
            tie["closed"] = tie["closed"] or bool(set(tie["members"]) & set(members))
            closed[key] = data
    second = getattr(command, "second", None)
    cards = getattr(command, "cards", None)
    body: dict[str, Any] = {
        "award": award.id,
        "awards": members,
        "verified": first,
        "by": "supervisor",
        "second": second.id if second is not None else None,
        "marks": closed,
        "envy": [list(share) for share in shares],
        "envy_cents": total,
    }
    if cards is not None:
        body["cards"] = dict(cards)
    return entry(command, Kind.CONFIRMED, body, table=award.table, link=award.link, moves=moves, first=first)


def _persons_refusal(book: Book, command: Confirm, award: Award) -> Refused | None:
    """Whoever keyed the claim may not confirm it; without an evaluator a large award needs two."""
    keyers = {award.keyed_by, *award.corrected_by}
    for person in (command.actor, command.second):
        if person is not None and person.id in keyers:
            return Refused(Refusal.SAME_PERSON, f"{person.id} keyed {award.id}")
    needs_cards = _needs_cards(book, award)
    evaluator = book.links[award.link].settings.paytable.evaluator
    if needs_cards and evaluator is None and command.second is None:
        return Refused(Refusal.SECOND_PERSON_REQUIRED, f"{award.id}: these hands cannot be ranked from cards")
    return None


def _needs_cards(book: Book, award: Award) -> bool:
    threshold = site_of(book).cards_above_cents
    return threshold is not None and award.amount_cents >= threshold


def award_refusal(book: Book, award_id: str, *, cards: Confirm | None = None) -> Refused | None:
    """CARDS_DISAGREE, AWARD_UNKNOWN, AWARD_NOT_PENDING, in this order."""
    award = book.awards.get(award_id)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, award_id)
    if cards is not None:
        refused = _cards_refusal(book, award, cards.cards)
        if refused:
            return refused
    if not award.pending:
        return Refused(Refusal.AWARD_NOT_PENDING, f"{award_id} is {award.state_word}")
    return None


def _cards_refusal(book: Book, award: Award, cards: Mapping[str, str] | None) -> Refused | None:
    """Cards that were entered must make the hand; from the threshold up a pending award needs them."""
    rules = book.links[award.link].rules
    evaluator = rules.settings.paytable.evaluator
    if cards is None:
        if award.pending and evaluator is not None and _needs_cards(book, award):
            return Refused(Refusal.CARDS_DISAGREE, f"{award.id}: enter the cards")
        return None
    if evaluator is None:
        return None
    ranked = _rank(rules, cards)
    if isinstance(ranked, Refused):
        return ranked
    if ranked is None or ranked.hand != award.hand:
        return Refused(Refusal.CARDS_DISAGREE, f"{award.id}: the cards make {ranked.hand if ranked else 'nothing'}")
    return None


def tie_mates(link: LinkState, award: Award) -> set[str]:
    """Pending awards that are confirmed together with this one: members of its open ties, and of theirs."""
    mark = link.marks.get(f"{award.table}#{award.round}")
    split = _split_levels(link.rules)
    ties = [
        set(tie.members)
        for name, tie in (mark.ties if mark is not None else {}).items()
        if name in split and not tie.closed
    ]
    mates = {award.id}
    grown = True
    while grown:
        grown = False
        for tie in ties:
            if tie & mates and not tie <= mates:
                mates |= tie
                grown = True
    return {name for name in mates if name in link.pending}


def _split_levels(rules: LinkRules) -> set[str]:
    return {name for name, level in rules.levels.items() if level.ties is Ties.SPLIT}


def hold(book: Book, command: Hold) -> Answer:
    """A disputed award stays pending and in the queue; its round may end without it."""
    refused = not_authorised(command.actor, SUPERVISORS) or award_refusal(book, command.award)
    if refused:
        return refused
    award = book.awards[command.award]
    if award.held:
        return Refused(Refusal.ALREADY_DONE, f"{award.id} is held")
    return (entry(command, Kind.HELD, {"award": award.id}, table=award.table, link=award.link),)


def pay(book: Book, command: Pay) -> Answer:
    """A confirmed award is handed out."""
    refused = not_authorised(command.actor, CASHIERS)
    if refused:
        return refused
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    if award.status is not AwardStatus.CONFIRMED:
        return Refused(Refusal.AWARD_NOT_PENDING, f"{award.id} is {award.state_word}, not confirmed")
    amount = award.amount_cents * MICROCENTS_PER_CENT
    body = {
        "award": award.id,
        "amount_cents": award.amount_cents,
        "slip": command.slip,
        "method": command.method,
        "cashier": command.cashier,
    }
    moves = {f"payable/{award.id}": -amount, f"paid/{award.table}": amount}
    return (entry(command, Kind.PAID, body, table=award.table, link=award.link, moves=moves),)
