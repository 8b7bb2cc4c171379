"""Rules of confirmation: who may confirm what, on which proof; awards of a tie; hold.

Sources: confirm and hold (money rules M5), ties (M7), envy of awards confirmed after END GAME (M9).
Units: ``*_cents``; moves in microcents.

Choices where the rules leave one:
* Whoever corrects a claim has keyed it: somebody else confirms (SAME_PERSON).
* The members of a split tie do not wait for each other; each is verified alone, and all are confirmed together. They
  stand in the queue where the first of them was claimed.
* From the cards threshold up the cards are entered again at the confirmation, also where the claim was made by cards.
* Where numbers decide, those of the round are the proof: they stand in the ledger, and the ranking core has made the
  hand of them. A hand keyed without them, or one of a list of wagers, needs a second person, as without an evaluator.
* A tie that waits for an earlier award, because an earlier hand was corrected, is confirmed with that award's CONFIRM,
  void or correction: nothing else that happens on the link may do it, so that a void is as if never claimed. What END
  GAME confirms by rule frees no tie; CONFIRM on a member does.
* Whoever claims while a tie waits for a member is a member too, and stays one where that member is voided. This is one
  of two exceptions to a void being as if never claimed: had it not been there, the tie might have been confirmed before
  and the later claim paid by the house. A confirmation is a moment, and no moment is put into the past. (The other is
  in ``rules_envy``.)
* Each member of a tie needs the proof that its amount at the end asks for: one whose share has grown past the threshold
  since it was verified waits, as if unverified, for a CONFIRM with that proof.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from meterd.accounting.answer import (
    SECONDS,
    SUPERVISORS,
    Answer,
    dead_hand,
    entry,
    not_authorised,
    rank_cards,
    site_of,
)
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Confirm, Hold
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.journal import ClaimOp
from meterd.accounting.marks import RoundMark
from meterd.accounting.numbers import by_cards
from meterd.accounting.past import Timeline
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_envy import envy_of, envy_that_waited
from meterd.accounting.state import Award, LinkState
from meterd.accounting.ties import groups, mates, split_levels


class Proof(StrEnum):
    """What a large award needs besides the supervisor who confirms it."""

    CARDS = "cards"
    SECOND = "second"


def same_person(one: str, other: str) -> bool:
    """Whether two names are one person's: badges and keyboards differ in the case of letters and in blanks."""
    return one.strip().casefold() == other.strip().casefold()


def second_refusal(actor: Actor, second: Actor | None) -> Refused | None:
    """A second person has to be authorised and somebody else."""
    if second is None:
        return None
    return not_authorised(second, SECONDS) or (
        Refused(Refusal.SAME_PERSON, f"{second.id} signs twice", "Somebody else signs second.")
        if same_person(second.id, actor.id)
        else None
    )


def confirm(book: Book, command: Confirm) -> Answer:
    """A supervisor who did not key it confirms a pending award; a member of a tie is verified until all are."""
    award = book.awards.get(command.award)
    refused = (
        not_authorised(command.actor, SUPERVISORS)
        or second_refusal(command.actor, command.second)
        or (_persons_refusal(book, command, award) if award is not None else None)
        or (_dead_refusal(book, award) if award is not None and award.pending else None)
        or award_refusal(book, command.award, cards=command)
    )
    if refused or award is None:
        return refused or Refused(Refusal.AWARD_UNKNOWN, command.award)
    link = book.links[award.link]
    together = mates(link.rules, link.marks, award.key, award.id, link.pending)
    waiting = [name for name in together if name != award.id and not _verified(book, book.awards[name])]
    members = [] if waiting else [name for name in link.pending if name == award.id or name in together]
    for name in members:
        refused = _dead_refusal(book, book.awards[name])
        if refused:
            return refused
    for name in (award.id, *members):  # a member verified before may have to wait since: an earlier hand was corrected
        earlier = _earlier(book, link, book.awards[name], together)
        if earlier is not None:
            return Refused(Refusal.EARLIER_AWARD_PENDING, earlier)
    if waiting and _verified(book, award):
        return Refused(Refusal.ALREADY_DONE, f"{award.id} waits for {', '.join(sorted(waiting))}", "Confirm these.")
    hands = {name: book.awards[name].hand for name in link.pending}
    freed = _freed(book, award.link, members)
    together = {*members, *freed.pop(award.key, [])}
    members = [name for name in link.pending if name in together]
    left = Timeline.of(book, award.link)
    done = confirmation(book, command, award, members, link.marks, hands)
    return (done, *_confirmations(book, command, left, freed, hands))


def _freed(book: Book, link: str, confirmed: Collection[str]) -> dict[str, list[str]]:
    """Members of other ties, by round, that had only these awards to wait for."""
    if not confirmed or len(confirmed) == len(book.links[link].pending):
        return {}
    before, after = Timeline.of(book, link), Timeline.of(book, link)
    after.pending = [name for name in after.pending if name not in confirmed]
    return _completed(book, before, after)


def _dead_refusal(book: Book, award: Award) -> Refused | None:
    """A hand folded after its claim, at a table where a folded hand is dead, is not confirmed."""
    if not _dead(book, award):
        return None
    return Refused(Refusal.SEAT_FOLDED, f"{award.id}: the hand of seat {award.seat} is folded")


def _dead(book: Book, award: Award) -> bool:
    table = book.tables[award.table]
    return dead_hand(table, table.past.get(award.round, table.seats), award.seat)


def _earlier(book: Book, link: LinkState, award: Award, together: set[str]) -> str | None:
    """An earlier pending award on one of the levels of an award with a percent part; a fixed pay waits for none.

    Awards that are confirmed together stand where the first of them was claimed. So each group waits for earlier ones
    alone, and the first of all pending awards waits for none: no two can wait for each other, neither a smaller share
    claimed between two members and their tie, nor two ties of two tables with members on the same two levels.
    """
    levels = {other: book.awards[other].levels for other in link.pending}
    return _first_before(list(link.pending), award, together, levels)


def _first_before(
    order: Sequence[str], award: Award, together: Collection[str], levels: Mapping[str, Collection[str | None]]
) -> str | None:
    """The same on a timeline: ``order`` are the pending awards, ``levels`` what each of them takes from."""
    if not award.has_percent:
        return None
    first = next((place for place, other in enumerate(order) if other in together or other == award.id), len(order))
    for name in sorted(award.levels):
        for other in order[:first]:
            if name in levels[other]:
                return other
    return None


def confirmation(
    book: Book,
    command: Command,
    award: Award,
    members: list[str],
    marks: Mapping[str, RoundMark],
    hands: Mapping[str, str],
    *,
    first: bool = True,
) -> Entry:
    """The entry that verifies an award and confirms ``members`` (all of its tie, or none while one is missing).

    For a round that has ended it hands out the envy that waited for the confirmation. ``hands`` are the link's pending
    awards, these among them.
    """
    link = book.links[award.link]
    handed, waits = envy_of(book, award, members, hands)
    closed = {}
    key = award.key
    mark = marks.get(key)
    if mark is not None and members:
        data = mark.to_json()
        for name in split_levels(link.rules) & set(data["ties"]):
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
        **handed.facts(),
        **({"envy_waits": waits} if waits else {}),
    }
    if cards is not None:
        body["cards"] = dict(cards)
    return entry(
        command, Kind.CONFIRMED, body, table=award.table, link=award.link, moves=handed.moves(award.table), first=first
    )


def _persons_refusal(book: Book, command: Confirm, award: Award) -> Refused | None:
    """Whoever keyed the claim may not confirm it; without an evaluator a large award needs two."""
    keyers = {award.keyed_by, *award.corrected_by}
    for person in (command.actor, command.second):
        if person is not None and any(same_person(person.id, keyer) for keyer in keyers):
            return Refused(Refusal.SAME_PERSON, f"{person.id} keyed {award.id}")
    if command.second is None and _proof(book, award) is Proof.SECOND:
        why = f"{award.id}: these hands cannot be ranked from cards"
        return Refused(Refusal.SECOND_PERSON_REQUIRED, why, "Name a second person.")
    return None


def _proof(book: Book, award: Award) -> Proof | None:
    """What confirming a pending award needs at its present amount. None: a supervisor is enough."""
    threshold = site_of(book).cards_above_cents
    if threshold is None or award.amount_cents < threshold or not award.pending:
        return None
    if by_cards(book.links[award.link].settings.paytable):
        return Proof.CARDS
    table = book.tables[award.table]
    streak = table.past.get(award.round, table.seats).streak
    by_its_numbers = streak is not None and streak.ended and streak.hand == award.hand
    return None if by_its_numbers else Proof.SECOND


def _verified(book: Book, award: Award) -> bool:
    """Whether a member of a tie was verified, with the proof that its present amount asks for."""
    needed = _proof(book, award)
    return award.verified_by is not None and (needed is None or needed in award.shown)


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
        if _proof(book, award) is Proof.CARDS:
            step = f'Enter them: confirm {award.id} cards "…".'
            return Refused(Refusal.CARDS_DISAGREE, f"{award.id} is confirmed by its cards alone", step)
        return None
    if evaluator is None:
        return None
    ranked = rank_cards(rules, cards)
    if isinstance(ranked, Refused):
        return ranked
    if ranked is None or ranked.hand != award.hand:
        return Refused(Refusal.CARDS_DISAGREE, f"{award.id}: the cards make {ranked.hand if ranked else 'nothing'}")
    return None


def complete_ties(
    book: Book, command: Command, award: Award, after: Timeline, going: Collection[str] = ()
) -> tuple[Entry, ...]:
    """Confirm what a void or a correction of an award has left complete, and hand out the envy that waited for it.

    ``going`` are awards which the same answer voids next: only after the last of them is anything complete.
    """
    if going:
        return ()
    hands = {op.facts.award: op.facts.hand for op in after.ops if isinstance(op, ClaimOp)}
    hands = {name: hands.get(name, book.awards[name].hand) for name in after.pending}
    before = Timeline.of(book, award.link)
    entries = _confirmations(book, command, after, _completed(book, before, after, award.id), hands)
    confirmed = [name for done in entries for name in done.body["awards"]]
    left = {name: hand for name, hand in hands.items() if name not in confirmed}
    return (*entries, *envy_that_waited(book, command, award, left, confirmed))


def _confirmations(
    book: Book, command: Command, after: Timeline, completed: Mapping[str, list[str]], hands: Mapping[str, str]
) -> list[Entry]:
    """One entry for each round of which ties are complete now."""
    marks = {**book.links[after.link].marks, **after.money.marks}
    return [
        confirmation(book, command, book.awards[members[-1]], members, marks, hands, first=False)
        for members in completed.values()
    ]


def _completed(book: Book, before: Timeline, after: Timeline, changed: str = "") -> dict[str, list[str]]:
    """Members of ties that an act completes, by round, in the order of their claims.

    What was complete without the act is none of its business: a tie that a change of the site's thresholds left so is
    confirmed by CONFIRM on any of its members. ``changed`` is an award whose verification was of another claim.
    """
    was = {name for members in _complete(book, before).values() for name in members}
    now = _complete(book, after, changed)
    found = {
        key: [name for name in after.pending if name in members and name not in was] for key, members in now.items()
    }
    return {key: members for key, members in found.items() if members}


def _complete(book: Book, timeline: Timeline, changed: str = "") -> dict[str, set[str]]:
    """Members, by round, of ties in which none is left unverified and none has to wait.

    One after the other: what is confirmed keeps no other tie waiting.
    """
    marks = {**book.links[timeline.link].marks, **timeline.money.marks}
    pending = list(timeline.pending)
    unverified = {name for name in pending if book.awards[name].verified_by is None} | {changed}
    found: dict[str, set[str]] = {}
    more = True
    while more:
        more = False
        for key, mark in marks.items():
            for group in groups(timeline.rules, mark, pending):
                if group & unverified or any(_has_to_wait(book, timeline, pending, name, group) for name in group):
                    continue
                found.setdefault(key, set()).update(group)
                pending = [name for name in pending if name not in group]
                more = True
    return found


def _has_to_wait(book: Book, timeline: Timeline, pending: Sequence[str], name: str, group: set[str]) -> bool:
    """Whether a verified member of a tie may not be confirmed without being asked about again."""
    if _dead(book, book.awards[name]):
        return True
    parts = timeline.money.parts
    member = replace(book.awards[name], parts=parts[name], amount_cents=timeline.amounts[name])
    if not _verified(book, member):
        return True
    levels = {other: {part.level for part in parts[other]} for other in pending}
    return _first_before(pending, member, group, levels) is not None


def hold(book: Book, command: Hold) -> Answer:
    """A disputed award stays pending and in the queue; its round may end without it.

    A verified member of a tie is verified no more: the tie waits until somebody confirms it again.
    """
    refused = not_authorised(command.actor, SUPERVISORS) or award_refusal(book, command.award)
    if refused:
        return refused
    award = book.awards[command.award]
    verified = award.verified_by is not None
    if award.held and not verified:
        return Refused(Refusal.ALREADY_DONE, f"{award.id} is held")
    body = {"award": award.id, **({"verified": False} if verified else {})}
    return (entry(command, Kind.HELD, body, table=award.table, link=award.link),)
