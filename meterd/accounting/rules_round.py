"""Rules of a round: LOCK, late bets, folded and split hands, joined seats, END GAME.

Sources: LOCK contributions (money rules M3), envy at END GAME (M9), who is in the round and what is refused (M13).
Units: ``*_cents``; levels in microcents.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from meterd.accounting.answer import (
    KEYS,
    PIT,
    Answer,
    closed_refusal,
    entry,
    postings,
    round_refusal,
    site_of,
    suspended_refusal,
    table_for,
    words_of_streak,
)
from meterd.accounting.book import Book
from meterd.accounting.commands import EndGame, Event, Fold, Join, LateBet, Lock, Role, WagerSeen
from meterd.accounting.commands_streak import Split
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.landing import landed_json
from meterd.accounting.meter import LevelMoney, contribute
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_claims import confirmed_entry
from meterd.accounting.rules_envy import at_the_end
from meterd.accounting.rules_limits import confirms_at_the_end, cut_round
from meterd.accounting.settings import SplitHand
from meterd.accounting.state import LinkState, TableState, TableStatus
from meterd.money import MICROCENTS_PER_CENT, PPM_PER_WHOLE


def lock(book: Book, command: Lock) -> Answer:
    """LOCK: all seats seen become wagers, in one entry.

    A wager that cannot be is refused for its seat alone, by an entry of its own behind the LOCK: NO_BASE_WAGER or
    UNREASONABLE_CONTRIBUTION. A LOCK on a table that is locked is ALREADY_DONE.
    """
    found = table_for(book, command.actor, PIT, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    if table.state is TableStatus.CLOSED:
        return closed_refusal(table)
    if link.suspended is not None:
        return suspended_refusal(link)
    if table.state is TableStatus.LOCKED:
        return Refused(Refusal.ALREADY_DONE, f"{command.table} is locked")
    accepted, refused = _sift(book, table, link, command.wagers)
    locked = _locked(book, table, link, command, accepted)
    if not refused:
        return (locked,)
    return (locked, *(_seat_refused(table, command, seen, why) for seen, why in refused))


def _sift(
    book: Book, table: TableState, link: LinkState, wagers: tuple[WagerSeen, ...]
) -> tuple[list[WagerSeen], list[tuple[WagerSeen, Refused]]]:
    """Wagers that stand, by seat, and those that cannot be, each with its reason."""
    accepted: dict[int, WagerSeen] = {}
    refused: list[tuple[WagerSeen, Refused]] = []
    counted: set[Event] = set()
    twice = {w.seat for w in wagers} if len({w.seat for w in wagers}) != len(wagers) else set()
    if twice:
        seats = [w.seat for w in wagers]
        twice = {seat for seat in twice if seats.count(seat) > 1}
    for seen in wagers:
        why = (
            _unreasonable(book, table, link, seen, twice, counted)
            or _not_payable(table, link, seen.units)
            or _beside_base(link, seen)
        )
        if not seen.base:
            refused.append((seen, Refused(Refusal.NO_BASE_WAGER, f"seat {seen.seat} had no base wager")))
        elif why:
            refused.append((seen, Refused(Refusal.UNREASONABLE_CONTRIBUTION, why)))
        else:
            accepted[seen.seat] = seen
        if seen.event is not None:
            counted.add(seen.event)
    return [accepted[seat] for seat in sorted(accepted)], refused


def _unreasonable(
    book: Book, table: TableState, link: LinkState, seen: WagerSeen, twice: Collection[int], counted: Collection[Event]
) -> str:
    """Why a wager cannot be, in words; nothing where it can."""
    if not 1 <= seen.seat <= table.settings.seats:
        return f"seat {seen.seat} of {table.settings.seats}"
    if seen.seat in twice:
        return f"two wagers on seat {seen.seat}"
    if not 1 <= seen.units <= link.rules.units_max:
        return f"{seen.units} units on seat {seen.seat}, at most {link.rules.units_max}"
    if seen.event is not None:
        mark = book.devices.get(seen.event.input)
        if seen.event in counted or (mark is not None and (seen.event.epoch, seen.event.count) <= mark):
            return f"seat {seen.seat}: this chip was counted before"
    return ""


def _not_payable(table: TableState, link: LinkState, units: int) -> str:
    """Why a wager of craps cannot be paid at the odds because of its amount (CO 47.1-2306(4)), in words.

    Choices: it is no whole number of the lowest chips; or the odds on it come to less than one such chip whichever bet
    it lies on (which one that is, no sensor says).
    """
    paytable, chip = link.rules.settings.paytable, table.settings.lowest_chip_cents
    if paytable.kind != "craps" or chip == 1:
        return ""
    cents = units * link.rules.wager_cents
    if cents % chip:
        return f"{cents} cents are no whole number of chips of {chip} cents"
    odds = [pay for row in paytable.rows for pay in row.pays if pay.n]
    if odds and all(pay.n * cents < pay.d * chip for pay in odds):
        return f"the odds on {cents} cents come to less than a chip of {chip} cents"
    return ""


def _beside_base(link: LinkState, seen: WagerSeen) -> str:
    """Why a wager does not stand in proportion to the base wager beside it, in words (R15-R17, R19).

    Choice: where nothing tells the size of the base wager, nothing is asked: the dealer sees it, a sensor does not.
    """
    paytable = link.rules.settings.paytable
    if seen.base_cents is None:
        return ""
    cents = seen.units * link.rules.wager_cents
    for times, sign, word in ((paytable.base_least, -1, "least"), (paytable.base_most, 1, "most")):
        whole, _, parts = times.partition("/")
        if times and sign * (cents * int(parts or 1) - seen.base_cents * int(whole)) > 0:
            return f"{cents} cents beside a base wager of {seen.base_cents}: at {word} {times} times that"
    return ""


def _locked(book: Book, table: TableState, link: LinkState, command: Lock, accepted: list[WagerSeen]) -> Entry:
    rules = link.rules
    wager_cents = rules.wager_cents
    body: dict[str, Any] = {"round": table.round + 1}
    seats: list[dict[str, Any]] = []
    wagers: list[tuple[int, int]] = []
    units = 0
    for seen in accepted:
        seat, count, event = seen.seat, seen.units, seen.event
        fact: dict[str, Any] = {"seat": seat, "units": count, "cents": count * wager_cents, **_base_facts(seen)}
        if event is not None:
            fact["event"] = f"{event.input}:{event.epoch}:{event.count}"
        seats.append(fact)
        wagers.append((seat, count))
        units += count
    body["wagers"] = seats
    moves: dict[str, int] = {}
    if wagers:
        get = book.balances.get
        levels = {
            name: LevelMoney(level, get(level.meter, 0), get(level.reserve, 0), get(level.overflow, 0))
            for name, level in rules.levels.items()
        }
        moves[f"drop/{command.table}"] = -units * wager_cents * PPM_PER_WHOLE
        done = contribute(rules, levels, wagers, moves)
        moves[f"house/hold/{command.table}"] = done.hold_microcents
        body["levels"] = {
            level.rules.key: {
                "display_microcents": level.meter,
                "reserve_microcents": level.reserve,
                "overflow_microcents": level.overflow,
            }
            for level in levels.values()
        }
        if done.over:
            body["over"] = {n: {str(seat): amount for seat, amount in by.items()} for n, by in done.over.items()}
        if done.sent:
            body["sent"] = done.sent
            body["landed"] = landed_json(done.landed)
    event_id = command.event
    return Entry(
        Kind.LOCKED,
        command.actor.id,
        command.table,
        rules.id,
        command.device,
        None if event_id is None else f"{event_id.input}:{event_id.epoch}:{event_id.count}",
        body,
        postings(moves),
    )


def _base_facts(seen: WagerSeen) -> dict[str, int]:
    return {} if seen.base_cents is None else {"base_cents": seen.base_cents}


def _seat_refused(table: TableState, command: Lock, seen: WagerSeen, why: Refused) -> Entry:
    kind = Kind.UNREASONABLE if why.refusal is Refusal.UNREASONABLE_CONTRIBUTION else Kind.REFUSED
    body = {
        "command": "Lock",
        "refusal": why.refusal.value,
        "detail": why.detail,
        "keyed": {"table": table.settings.id, "seat": seen.seat, "units": seen.units, **_base_facts(seen)},
        "round": table.round + 1,
    }
    return entry(command, kind, body, table=table.settings.id, link=table.settings.link, first=False)


def late_bet(book: Book, command: LateBet) -> Answer:
    """A wager after LOCK: noted, nothing moves."""
    found = table_for(book, command.actor, PIT, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    refused = round_refusal(table, link)
    if refused:
        return refused
    if not 1 <= command.seat <= table.settings.seats:
        return Refused(Refusal.SEAT_UNKNOWN, str(command.seat))
    body = {"round": table.round, "seat": command.seat, "ms_min": command.ms_min, "ms_max": command.ms_max}
    return (entry(command, Kind.LATE_BET, body, table=command.table, link=link.settings.id),)


def _seat_of_round(table: TableState, link: LinkState, seat: int) -> Refused | None:
    refused = round_refusal(table, link)
    if refused:
        return refused
    if not 1 <= seat <= table.settings.seats:
        return Refused(Refusal.SEAT_UNKNOWN, str(seat))
    if seat not in table.wagers:
        return Refused(Refusal.SEAT_HAS_NO_WAGER, str(seat))
    return None


def fold(book: Book, command: Fold) -> Answer:
    """A seat folded its hand. Whether a folded hand still wins is the table's setting.

    Choice: where it does not, a pending award of the seat is not voided by this key. It can no longer be confirmed
    (SEAT_FOLDED), so it pays nothing and gives no envy, and a supervisor voids it, or moves it to the seat it belongs
    to. A confirmed one refuses the fold: two people undo it first.
    """
    found = table_for(book, command.actor, KEYS, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    refused = _seat_of_round(table, link, command.seat)
    if refused:
        return refused
    if command.seat in table.folded:
        return Refused(Refusal.SEAT_FOLDED, str(command.seat))
    for award in (book.awards[name] for name in table.awards):
        if award.seat == command.seat and award.stands and not table.settings.folded_live:
            return Refused(Refusal.ROUND_HAS_CONFIRMED_AWARD, f"{award.id} is {award.state_word}")
    body = {"round": table.round, "seat": command.seat}
    return (entry(command, Kind.FOLDED, body, table=command.table, link=link.settings.id),)


def split(book: Book, command: Split) -> Answer:
    """A seat splits its hand in two; what that means for the wager is the link's setting.

    With two hands the seat puts up an equal second wager, booked here; a link with a meter has no such setting, because
    a meter takes nothing after LOCK.
    """
    found = table_for(book, command.actor, KEYS, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    seat, means = command.seat, link.settings.split_hand
    refused = _seat_of_round(table, link, seat)
    if refused:
        return refused
    if seat in table.folded and not table.settings.folded_live:
        return Refused(Refusal.SEAT_FOLDED, str(seat))
    for award in (book.awards[name] for name in table.awards):
        if means is not SplitHand.NO_EFFECT and award.seat == seat and (award.pending or award.stands):
            return Refused(Refusal.SEAT_ALREADY_CLAIMED, f"seat {seat} has {award.id}")
    if seat in table.split:
        return Refused(Refusal.ALREADY_DONE, f"seat {seat} is split")
    wager = table.wagers[seat]
    body: dict[str, Any] = {"round": table.round, "seat": seat, "means": means.value, "units": 0, "cents": 0}
    moves = {}
    if means is SplitHand.TWO_HANDS:
        body |= {"units": wager.units, "cents": wager.wager_cents}
        amount = wager.wager_cents * MICROCENTS_PER_CENT
        moves = {f"drop/{command.table}": -amount, f"house/hold/{command.table}": amount}
    return (entry(command, Kind.HAND_SPLIT, body, table=command.table, link=link.settings.id, moves=moves),)


def join(book: Book, command: Join) -> Answer:
    """Seats played by one person, for this round: from the first wager to END GAME, so before LOCK as well as after.

    A seat without a wager may be joined: it changes nothing.
    """
    found = table_for(book, command.actor, KEYS, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    if table.state is not TableStatus.OPEN:
        refused = round_refusal(table, link)
        if refused:
            return refused
    for seat in command.seats:
        if not 1 <= seat <= table.settings.seats:
            return Refused(Refusal.SEAT_UNKNOWN, str(seat))
    round_ = table.round + 1 if table.state is TableStatus.OPEN else table.round
    body = {"round": round_, "seats": sorted(set(command.seats))}
    return (entry(command, Kind.JOINED, body, table=command.table, link=link.settings.id),)


def _may_not_end(
    book: Book, command: EndGame, table: TableState, link: LinkState, envy_cents: int, by_rule: Collection[str]
) -> Refused | None:
    """Why a round does not end, in order of precedence. ``by_rule`` are awards that END GAME itself confirms."""
    ceiling = site_of(book).envy_confirm_above_cents
    if command.actor.role is not Role.SUPERVISOR and ceiling is not None and envy_cents > ceiling:
        return Refused(Refusal.NOT_AUTHORISED, "envy above the threshold", "A supervisor ends the round.")
    if table.state is TableStatus.CLOSED and not table.needs_end_game:
        return closed_refusal(table)
    if link.suspended is not None and table.wagers:
        return suspended_refusal(link, "Void the round, or let two people resume the link: a winner could not claim.")
    if table.state is TableStatus.OPEN:
        return Refused(Refusal.TABLE_NOT_LOCKED, command.table)
    if table.streak is not None and not table.streak.ended and table.wagers:
        return Refused(Refusal.STREAK_RUNNING, words_of_streak(table))
    awards = [book.awards[name] for name in table.awards if name not in by_rule]
    waits = next((award.id for award in awards if award.pending and not award.held), None)
    return None if waits is None else Refused(Refusal.ROUND_HAS_OPEN_AWARD, f"{waits} is pending")


def end_game(book: Book, command: EndGame) -> Answer:
    """END GAME: the round's envy is handed out, the table opens again.

    With ``highest``, the envy of a confirmed hand waits while a higher one of the round is disputed.
    A CLOSED table that waits for END GAME opens; one closed for another reason answers TABLE_CLOSED. With envy above
    the site's threshold a supervisor has to end the round. Choice: while the link is suspended a round that has wagers
    does not end, so that no winner loses a claim by it; its wagers can go back. A
    streak that cannot be finished ends by VOID ROUND.
    """
    found = table_for(book, command.actor, PIT, command.table)
    if isinstance(found, Refused):
        return found
    table, link = found
    by_rule = {name for name in table.awards if confirms_at_the_end(book, table, book.awards[name])}
    handed, waits = at_the_end(book, table, link, by_rule)
    refused = _may_not_end(book, command, table, link, handed.cents, by_rule)
    if refused:
        return refused
    entries = cut_round(book, command, table)
    for name in sorted(by_rule, key=table.awards.index):
        done = confirmed_entry(command, command.table, link.settings.id, name, by="rule", first=not entries)
        entries = (*entries, done)
    body = {
        "round": table.round,
        "was": table.state.value,
        **handed.facts(),
        **({"envy_waits": waits} if waits else {}),
        "open_awards": [name for name in table.awards if book.awards[name].pending and name not in by_rule],
    }
    moves = handed.moves(command.table)
    ended = entry(
        command, Kind.GAME_ENDED, body, table=command.table, link=link.settings.id, moves=moves, first=not entries
    )
    return (*entries, ended)
