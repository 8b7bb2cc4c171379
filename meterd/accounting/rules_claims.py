"""Rules of an award: claim and pay.

Sources: claims (money rules M4), pay (M5), ties (M7).
Units: ``*_cents``. A claim by cards is ranked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from meterd.accounting import envy
from meterd.accounting.answer import (
    CASHIERS,
    KEYS,
    Answer,
    award_facts,
    dead_hand,
    entry,
    level_facts,
    not_authorised,
    not_confirmed,
    rank_cards,
    revalued,
    round_refusal,
    site_of,
    table_for,
    words_of_streak,
)
from meterd.accounting.awards import ClaimFacts, LinkMoney, Settled, settle
from meterd.accounting.book import Book
from meterd.accounting.commands import Claim, Command, Pay
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.meter import LinkRules
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_limits import may_be_cut, waits_for_the_end
from meterd.accounting.settings import Settlement, SplitHand
from meterd.accounting.state import Award, AwardStatus, LinkState, RoundSeats, StreakMark, TableState
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
    found = table_for(book, command.actor, KEYS, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    refused = round_refusal(table, link) or still_running(table) or _seat_refusal(book, table, command.seat)
    if refused:
        return refused
    row = row_of(link.rules, command.hand, command.cards)
    if isinstance(row, Refused):
        return row
    refused = against_numbers(table.streak, row.hand)
    if refused:
        return refused
    facts = ClaimFacts(
        book.award_name(),
        command.table,
        table.round,
        command.seat,
        row.hand,
        table.wagers[command.seat].units,
        {name: command.signs[name] for name in link.rules.levels if name in command.signs},
        closed_ties(link, table.key),
        table.settings.lowest_chip_cents,
    )
    money = book.money(link.settings.id)
    settled = settle(money, link.rules, facts)
    if settled.cents > AMOUNT_CENTS_MAX:
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, facts.award)
    return _claimed(book, command, table, link, facts, settled, money)


def still_running(table: TableState) -> Refused | None:
    """No award before the numbers of a round have ended."""
    if table.streak is None or table.streak.ended:
        return None
    return Refused(Refusal.STREAK_RUNNING, words_of_streak(table))


def against_numbers(streak: StreakMark | None, hand: str) -> Refused | None:
    """A hand that is not what the numbers of its round have made.

    Choice: a round in which no number was keyed is one whose streak is kept on the layout; there the hand is keyed.
    """
    if streak is None or hand == streak.hand:
        return None
    return Refused(Refusal.CARDS_DISAGREE, f"{hand}: length {streak.length} after {streak.numbers[-1]}")


def _seat_refusal(book: Book, table: TableState, seat: int) -> Refused | None:
    if not 1 <= seat <= table.settings.seats:
        return Refused(Refusal.SEAT_UNKNOWN, str(seat))
    return wager_refusal(book, table, table.seats, seat, but=None)


def wager_refusal(book: Book, table: TableState, seats: RoundSeats, seat: int, *, but: str | None) -> Refused | None:
    """Why a seat of a round cannot have an award, ``but`` being the award that is to move there.

    A seat with two hands may have one for each; where a split hand is dead, it may have none.
    """
    if seat not in seats.wagers:
        return Refused(Refusal.SEAT_HAS_NO_WAGER, str(seat))
    if dead_hand(table, seats, seat):
        return Refused(Refusal.SEAT_FOLDED, str(seat))
    taken = [name for name in seats.awards if name != but and _has(book.awards[name], seat)]
    if len(taken) >= seats.hands(seat):
        return Refused(Refusal.SEAT_ALREADY_CLAIMED, f"seat {seat} has {', '.join(taken)}")
    if seat in seats.split and book.links[table.settings.link].settings.split_hand is SplitHand.DEAD:
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, f"seat {seat} is split: neither hand wins this wager")
    return None


def _has(award: Award, seat: int) -> bool:
    return award.seat == seat and award.status is not AwardStatus.VOIDED


def row_of(rules: LinkRules, hand: str | None, cards: Mapping[str, str] | None) -> Row | Refused:
    """The row keyed, by its key or by what it is also called, or dealt; a row that pays nothing cannot be claimed."""
    if hand is not None:
        key = hand_key(hand)
        row = rules.rows.get(key) or next((each for each in rules.rows.values() if each.called(key)), None)
        if row is not None and cards is not None:
            ranked = rank_cards(rules, cards)
            if isinstance(ranked, Refused):
                return ranked
            if ranked is None or ranked.hand != row.hand:
                return Refused(Refusal.CARDS_DISAGREE, f"{hand}: the cards make {ranked.hand if ranked else 'nothing'}")
    else:
        ranked = rank_cards(rules, cards or {})
        if isinstance(ranked, Refused):
            return ranked
        row = ranked
    if row is None or (not row.envy_cents and all(pay.kind is PayKind.LOSS for pay in row.pays)):
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, hand or "the cards pay nothing", _rows_of(rules))
    return row


def _rows_of(rules: LinkRules) -> str:
    """What there is to name, and where it is read."""
    paytable = rules.settings.paytable.id
    return f"{paytable} has {', '.join(rules.rows)}: `meterd paytable show {paytable}`."


def closed_ties(link: LinkState, key: str) -> tuple[str, ...]:
    """Levels whose tie of a round is confirmed: who claims now comes late to it."""
    mark = link.marks.get(key)
    return tuple(sorted(name for name, tie in mark.ties.items() if tie.closed)) if mark is not None else ()


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
        **_order_facts(book, table, facts.seat),
        "late": list(facts.late),
        **chip_facts(facts),
        **award_facts(settled),
        "awards": {name: award_facts(mate) for name, mate in mates.items()},
        "marks": {facts.key: mark.to_json()} if mark is not None and mark != link.marks.get(facts.key) else {},
        "levels": level_facts(money.levels[name] for name in touched(settled)),
    }
    if command.cards is not None:
        body["cards"] = dict(command.cards)
    entries = (
        entry(command, Kind.CLAIMED, body, table=command.table, link=link.settings.id, moves=money.moves),
        *revalued(command, [(book.awards[name], mate.cents) for name, mate in mates.items()], facts.award),
    )
    return (*entries, *confirmed_by_rule(book, command, facts, table, link, settled))


def _order_facts(book: Book, table: TableState, seat: int) -> dict[str, list[str]]:
    """Awards of the round whose seats the order of settlement puts behind this one: it is keyed out of order.

    The order is proposed and not forced (R53-R55): the claim is accepted, and its entry tells.
    """
    downwards = table.settings.settlement is Settlement.COUNTER_CLOCKWISE
    standing = [book.awards[name] for name in table.awards if book.awards[name].status is not AwardStatus.VOIDED]
    behind = [one.id for one in standing if (one.seat < seat if downwards else one.seat > seat)]
    return {"out_of_order_after": behind} if behind else {}


def chip_facts(facts: ClaimFacts) -> dict[str, int]:
    """The lowest chip of the table, told where it is more than a cent."""
    return {"chip_cents": facts.chip_cents} if facts.chip_cents > 1 else {}


def touched(settled: Settled) -> list[str]:
    """Levels that an award pays from, each once."""
    return list(dict.fromkeys(part.level for part in settled.parts if part.level is not None))


def confirmed_by_rule(
    book: Book, command: Command, facts: ClaimFacts, table: TableState, link: LinkState, settled: Settled
) -> tuple[Entry, ...]:
    """The entry by which an award confirms itself; empty where it waits for a supervisor.

    It does so with no share of a meter, below the threshold, where no sign promised more.
    """
    shares = any(part.kind == PayKind.METER_PERCENT.value for part in settled.parts)
    above = settled.sign_above_meter or settled.cents >= site_of(book).confirm_above_cents
    if shares or above or waits_for_the_end(book, table, facts, settled.parts):
        return ()
    return (confirmed_entry(command, facts.table, link.settings.id, facts.award, by="rule"),)


def confirmed_entry(command: Command, table: str, link: str, award: str, by: str, *, first: bool = False) -> Entry:
    """An award that confirms itself, by a rule and without a supervisor."""
    body = {"award": award, "awards": [award], "verified": False, "by": by, "marks": {}, "envy": [], "envy_cents": 0}
    return entry(command, Kind.CONFIRMED, body, table=table, link=link, first=first)


def pay(book: Book, command: Pay) -> Answer:
    """A confirmed award is handed out."""
    refused = not_authorised(command.actor, CASHIERS)
    if refused:
        return refused
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    if award.status is not AwardStatus.CONFIRMED:
        return not_confirmed(award)
    if may_be_cut(book, award, book.tables[award.table]):
        return Refused(Refusal.NOT_YET, f"{award.id}: an aggregate limit is reckoned at END GAME", "END GAME first.")
    amount = award.amount_cents * MICROCENTS_PER_CENT
    body = {
        "award": award.id,
        "amount_cents": award.amount_cents,
        "slip": command.slip,
        "method": command.method,
        "cashier": command.cashier,
        "payee": command.payee,
        "payee_sha256": command.payee_sha256,
    }
    moves = {award.owed_account: -amount, f"paid/{award.table}": amount}
    return (entry(command, Kind.PAID, body, table=award.table, link=award.link, moves=moves),)
