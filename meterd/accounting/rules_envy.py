"""Rules of envy after END GAME: what a hand confirmed then gives, and what waited for a higher one.

Sources: money rules M9; the round's highest hand alone (CO 47.1-1099.38, Envy Bonus (1)).
Units: cents.

Choice: a hand that is undone while its envy waits gives none, whatever becomes of the higher hand it waited for. Where
that one is voided, this is an exception to a void being as if never claimed: END GAME would have handed the envy out,
and what is handed out stands. But nobody has had it yet, and two people have said that the hand was none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from meterd.accounting import envy
from meterd.accounting.answer import entry
from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.state import Award, LinkState, TableState


def at_the_end(
    book: Book, table: TableState, link: LinkState, by_rule: Collection[str]
) -> tuple[envy.Handed, dict[str, bool]]:
    """What END GAME hands out, and which confirmed hands wait with theirs for a higher one that is disputed.

    ``by_rule`` are awards that END GAME itself confirms.
    """
    awards = [book.awards[name] for name in table.awards]
    winners = [award for award in awards if award.stands or award.id in by_rule]
    pending = [award.hand for award in awards if award.pending and award.id not in by_rule]
    best = [one for one in winners if not envy.waits(link.rules, one.hand, [other.hand for other in winners])]
    later = {award.id: True for award in best if envy.waits(link.rules, award.hand, pending)}
    ready = [award for award in winners if award.id not in later]
    given = [award for award in winners if award.id in later]
    return envy.handed_out(link.rules, table.seats, ready, given), later


def envy_of(
    book: Book, award: Award, members: Sequence[str], hands: Mapping[str, str]
) -> tuple[envy.Handed, dict[str, bool]]:
    """What the members hand out in a round that has ended, and of which awards the envy waits now, or no longer.

    ``hands`` are the link's pending awards, the members among them. A hand beaten by one that is confirmed waits for
    none: it would give nothing, whatever becomes of the pending ones.
    """
    rules = book.links[award.link].rules
    seats = book.tables[award.table].past.get(award.round)
    if seats is None:
        return envy.Handed((), ()), {}
    of_round = [book.awards[name] for name in seats.awards]
    mine = [book.awards[name] for name in members]
    pending = [hand for name, hand in hands.items() if name in seats.awards and name not in members]
    won = [one.hand for one in of_round if one.stands or one in mine]
    later = [one for one in mine if envy.waits(rules, one.hand, pending) and not envy.waits(rules, one.hand, won)]
    ready = [one for one in mine if one not in later]
    handed = envy.handed_late(rules, seats, ready, of_round, [*later, *(one for one in of_round if one.stands)])
    beaten = [one for one in of_round if one.envy_waits and envy.waits(rules, one.hand, [other.hand for other in mine])]
    return handed, {**{one.id: True for one in later}, **{one.id: False for one in beaten}}


def envy_that_waited(
    book: Book, command: Command, gone: Award, hands: Mapping[str, str], confirmed: Collection[str]
) -> tuple[Entry, ...]:
    """The envy of confirmed awards that waited for a higher hand which is voided or corrected now.

    ``hands`` are the pending awards after that, ``confirmed`` those that it confirms. An award undone since gives none.
    """
    rules = book.links[gone.link].rules
    seats = book.tables[gone.table].past.get(gone.round)
    if seats is None:
        return ()
    pending = [hand for name, hand in hands.items() if name in seats.awards]
    of_round = [book.awards[name] for name in seats.awards]
    ready = [one for one in of_round if one.envy_waits and one.stands and not envy.waits(rules, one.hand, pending)]
    if not ready:
        return ()
    given = [one for one in of_round if one.stands or one.id in confirmed]
    handed = envy.handed_late(rules, seats, ready, of_round, given)
    body = {
        "award": ready[0].id,
        "awards": [],
        "verified": False,
        "by": "rule",
        "second": None,
        "marks": {},
        **handed.facts(),
        "envy_waits": {one.id: False for one in ready},
    }
    moves = handed.moves(gone.table)
    return (entry(command, Kind.CONFIRMED, body, table=gone.table, link=gone.link, moves=moves, first=False),)
