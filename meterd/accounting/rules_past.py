"""Rules that change what was: correct and void an award, give wagers back, undo a confirmed award.

Sources: money rules M5. A void or a correction is the link decided again from before the claim (``replay``); wagers
given back return what each level still holds of them; an undo re-values nothing.
Units: ``*_cents``; moves in microcents.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from meterd.accounting import envy
from meterd.accounting.answer import (
    KEYS,
    SECONDS,
    SUPERVISORS,
    Answer,
    entry,
    level_facts,
    not_authorised,
    not_confirmed,
    revalued,
    round_refusal,
    site_of,
    table_for,
)
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Correct, Undo, Void, VoidRound, VoidSeat
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.journal import UndoOp, WagersVoidedOp
from meterd.accounting.past import Retold, Timeline, corrected, without
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.replay import return_wagers, undo
from meterd.accounting.rules_claims import against_numbers, row_of, wager_refusal
from meterd.accounting.rules_confirm import award_refusal, complete_ties, second_refusal
from meterd.accounting.rules_limits import cut_corrected
from meterd.accounting.state import Award, AwardStatus, LinkState, TableState


def correct(book: Book, command: Correct) -> Answer:  # noqa: PLR0911 - one return per refusal
    """A pending award's hand or seat changes; the claim keeps its place, later pending awards are re-valued.

    Where numbers decide, a hand cannot be corrected against them: the number that was misread is taken back.
    """
    refused = not_authorised(command.actor, SUPERVISORS)
    award = book.awards.get(command.award)
    if refused or award is None:
        return refused or Refused(Refusal.AWARD_UNKNOWN, command.award)
    table = book.tables[award.table]
    seats = table.past.get(award.round, table.seats)
    seat = award.seat if command.seat is None else command.seat
    rules = book.links[award.link].rules
    if award.pending and command.seat is not None:
        if not 1 <= seat <= table.settings.seats:
            return Refused(Refusal.SEAT_UNKNOWN, str(seat))
        refused = wager_refusal(book, table, seats, seat, but=award.id)
        if refused:
            return refused
    row = row_of(rules, command.hand or award.hand, None)
    if isinstance(row, Refused):
        return row
    refused = against_numbers(seats.streak, row.hand) or award_refusal(book, command.award)
    if refused:
        return refused
    if (row.hand, seat) == (award.hand, award.seat):
        return Refused(Refusal.ALREADY_DONE, f"{award.id} is {row.hand} on seat {seat}")
    units = seats.wagers[seat].units
    told = corrected(Timeline.of(book, award.link), award, hand=row.hand, seat=seat, units=units)
    body: dict[str, Any] = {
        "award": award.id,
        "was": {"hand": award.hand, "seat": award.seat, "amount_cents": award.amount_cents},
        "hand": row.hand,
        "seat": seat,
        "units": units,
        "envy_cents": envy.total_cents(rules, seats, seat, row.hand, common=award.common and row.hand == award.hand),
        **told.facts,
    }
    told.revalued.pop(award.id, None)
    parts = told.after.money.parts[award.id]
    again = replace(
        award, hand=row.hand, seat=seat, units=units, parts=parts, amount_cents=told.after.amounts[award.id]
    )
    return (
        entry(command, Kind.CORRECTED, body, table=award.table, link=award.link, moves=told.moves),
        *_revalued(book, command, told, award.id),
        *cut_corrected(book, command, again),
        *complete_ties(book, command, award, told.after),
    )


def _revalued(book: Book, command: Command, told: Retold, because: str) -> tuple[Entry, ...]:
    return revalued(command, [(book.awards[name], cents) for name, cents in told.revalued.items()], because)


def _void_second(book: Book, award: Award, actor: Actor, second: Actor | None) -> Refused | None:
    """A second person has to be somebody else, and above the threshold there has to be one.

    Choice: the highest amount the award ever had is held against the threshold, so that a correction to a small hand
    is no way around the second person.
    """
    threshold = site_of(book).two_person_cents
    refused = second_refusal(actor, second)
    if refused is None and second is None and threshold is not None and award.highest_cents > threshold:
        return Refused(
            Refusal.SECOND_PERSON_REQUIRED, f"{award.id} is above what one person may void", "Name a second person."
        )
    return refused


def void(book: Book, command: Void) -> Answer:
    """A pending award is undone as if it had never been claimed."""
    award = book.awards.get(command.award)
    refused = (
        not_authorised(command.actor, SUPERVISORS)
        or (second_refusal(command.actor, command.second) if award is None else None)
        or (_void_second(book, award, command.actor, command.second) if award is not None else None)
        or award_refusal(book, command.award)
    )
    if refused or award is None:
        return refused or Refused(Refusal.AWARD_UNKNOWN, command.award)
    second = command.second.id if command.second is not None else None
    entries, _ = _void(book, command, Timeline.of(book, award.link), award, command.reason, second, first=True)
    return entries


def _void(
    book: Book,
    command: Command,
    timeline: Timeline,
    award: Award,
    reason: str,
    second: str | None,
    *,
    first: bool,
    going: Collection[str] = (),
) -> tuple[tuple[Entry, ...], Timeline]:
    """Void one award on a timeline: its entries, and the timeline after it.

    Where it was the last unverified member of a tie, the others are confirmed at once.
    """
    told = without(timeline, award)
    body = {
        "award": award.id,
        "amount_cents": timeline.amounts[award.id],
        "reason": reason,
        "second": second,
        **told.facts,
    }
    entries = (
        entry(command, Kind.VOIDED, body, table=award.table, link=award.link, moves=told.moves, first=first),
        *_revalued(book, command, told, award.id),
        *complete_ties(book, command, award, told.after, going),
    )
    return entries, told.after


def void_seat(book: Book, command: VoidSeat) -> Answer:
    """One seat's wager goes back; its pending award is voided first."""
    found = _round(book, command.actor, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    if not 1 <= command.seat <= table.settings.seats:
        return Refused(Refusal.SEAT_UNKNOWN, str(command.seat))
    if command.seat not in table.wagers:
        return Refused(Refusal.SEAT_HAS_NO_WAGER, str(command.seat))
    return _void_wagers(book, command, table, link, [command.seat])


def void_round(book: Book, command: VoidRound) -> Answer:
    """All wagers of the round go back; its pending awards are voided first, newest first."""
    found = _round(book, command.actor, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    if not table.wagers:
        return Refused(Refusal.SEAT_HAS_NO_WAGER, "no wager in this round")
    return _void_wagers(book, command, table, link, sorted(table.wagers))


def _round(book: Book, actor: Actor, table_id: str) -> tuple[TableState, LinkState] | Refused:
    """A round whose wagers may go back. Choice: also while its link is suspended, for nothing else ends it then."""
    found = table_for(book, actor, KEYS, table_id)
    if isinstance(found, Refused):
        return found
    return round_refusal(*found, suspended_too=True) or found


def void_awards(
    book: Book, command: Command, link: LinkState, awards: list[Award], reason: str, second: Actor | None
) -> tuple[tuple[Entry, ...], Timeline] | Refused:
    """Void the pending ones of these awards of one round, newest first: the entries, and the link after them.

    Refused where one is confirmed, asks for a second person that is not there, or is not this person's to void.
    """
    open_awards = [award for award in reversed(awards) if award.pending]
    refused = not_authorised(command.actor, SUPERVISORS) if open_awards else None
    if refused:
        return refused
    for award in open_awards:
        refused = _void_second(book, award, command.actor, second)
        if refused:
            return refused
    for award in awards:
        if award.stands:
            return Refused(Refusal.ROUND_HAS_CONFIRMED_AWARD, f"{award.id} is {award.state_word}")
    entries: tuple[Entry, ...] = ()
    timeline = Timeline.of(book, link.settings.id)
    threshold = site_of(book).two_person_cents
    signed = second.id if second is not None else None
    for index, award in enumerate(open_awards):
        going = {other.id for other in open_awards[index + 1 :]}
        if second is None and threshold is not None and timeline.amounts[award.id] > threshold:
            return Refused(Refusal.SECOND_PERSON_REQUIRED, f"{award.id}: what it shared is all its own now")
        more, timeline = _void(book, command, timeline, award, reason, signed, first=not entries, going=going)
        entries = (*entries, *more)
    return entries, timeline


def _void_wagers(
    book: Book, command: VoidSeat | VoidRound, table: TableState, link: LinkState, seats: list[int]
) -> Answer:
    """Void the seats' pending awards, newest first, then give the wagers back.

    Choice: a dealer gives wagers back alone; where that voids a pending award it takes who may void it, a supervisor,
    and above the site's threshold a second person.
    """
    awards = [book.awards[name] for name in table.awards if book.awards[name].seat in seats]
    voided = second_refusal(command.actor, command.second) or void_awards(
        book, command, link, awards, "wager voided", command.second
    )
    if isinstance(voided, Refused):
        return voided
    entries, timeline = voided
    money = timeline.money
    money.moves = {}
    hands = table.seats.hands
    gone = tuple((seat, table.wagers[seat].units * hands(seat)) for seat in seats)
    return_wagers(money, link.rules, WagersVoidedOp(table.settings.id, table.round, gone))
    body = {
        "round": table.round,
        "seats": seats,
        "cents": sum(table.wagers[seat].wager_cents * hands(seat) for seat in seats),
        "levels": level_facts(money.levels.values()),
    }
    given = entry(
        command,
        Kind.WAGER_VOIDED,
        body,
        table=table.settings.id,
        link=link.settings.id,
        moves=money.moves,
        first=not entries,
    )
    return (*entries, given)


def undo_award(book: Book, command: Undo) -> Answer:
    """A confirmed or paid award is undone by two people with a reference; nothing else is re-valued."""
    refused = not_authorised(command.actor, SECONDS)
    if refused:
        return refused
    refused = second_refusal(command.actor, command.second)
    if refused:
        return refused
    if command.second is None or not command.reference.strip():
        what = "a reference" if command.second is not None else "a second person"
        return Refused(Refusal.SECOND_PERSON_REQUIRED, f"{command.award}: {what} is needed", "Do it again with both.")
    award = book.awards.get(command.award)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, command.award)
    if award.status not in {AwardStatus.CONFIRMED, AwardStatus.PAID}:
        return not_confirmed(award)
    money = book.money(award.link)
    paid = award.status is AwardStatus.PAID
    undo(money, UndoOp(award.id, award.table, award.parts, paid, award.owed_account))
    body = {
        "award": award.id,
        "was": award.state_word,
        "amount_cents": award.amount_cents,
        "reference": command.reference,
        "second": command.second.id,
        "levels": level_facts(money.levels.values()),
    }
    return (entry(command, Kind.CORRECTION, body, table=award.table, link=award.link, moves=money.moves),)
