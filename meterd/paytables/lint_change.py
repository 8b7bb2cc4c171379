"""A change of a live table: whatever a hand earns today it must earn tomorrow (CO 47.1-1046(6), 47.1-1099.11(3)(c)).

Hand by hand where both tables look at the same cards; else by chance: how often at least so much is earned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from meterd.paytables.lint_change_terms import terms_findings
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_law import Joint, Law, Laws, NoLaw, tried
from meterd.paytables.lint_worth import Terms, growing, money, one_in, pays_text, worth
from meterd.paytables.model import Game, PayKind, PayTable, Row

_OLD: Final = "old--"
_NEW: Final = "new--"


def change_findings(old: PayTable, new: PayTable, terms: Terms, laws: Laws) -> Iterator[Finding]:
    """What players of ``old``, which is live, would lose by ``new``; ``terms`` are those in force for both."""
    yield from terms_findings(old, new, terms)
    yield from _rows_by_name(old, new, terms)
    try:
        games = _same_cards(old, new)
        joint = laws.joint(_side_by_side(old, new, games)) if games else None
        if joint is not None:
            yield from _hand_by_hand(old, new, joint, terms)
        else:
            yield from _by_chance(old, new, (laws.law(old), laws.law(new)), terms)
    except NoLaw as reason:
        yield from _by_words(old, new, str(reason))


def _rows_by_name(old: PayTable, new: PayTable, terms: Terms) -> Iterator[Finding]:
    """Rows that both tables offer, pay against pay and envy against envy."""
    offered = {row.hand: row for row in tried(new)}
    for row in tried(old):
        now = offered.get(row.hand)
        if now is None:
            continue
        pays = _pays_as_much(now, new, row, old, terms), _pays_as_much(row, old, now, new, terms)
        if pays != (True, True):
            code = "EASIER_TO_WIN" if pays[0] else "PAYS_LESS"
            yield Finding(code, new.id, f"pays {_said(now, new)}, today {_said(row, old)}", row.hand)
        given, today = _envy(now, new, old), _envy(row, old, old)
        if given != today:
            code = "PAYS_LESS" if given < today else "EASIER_TO_WIN"
            yield Finding(code, new.id, f"gives {money(given)} envy, today {money(today)}", row.hand)


def _said(row: Row, table: PayTable) -> str:
    """The printed pay, with what it does not show: a part that does not grow with the wager, a wager that is kept."""
    still = any(pay.kind is PayKind.FIXED and not pay.scales for pay in row.pays)
    kept = not table.original_wager_returned and any(pay.kind is PayKind.ODDS_TO for pay in row.pays)
    grows = ", which does not grow with the wager" if still else ""
    return f"{pays_text(row)}{grows}{' without the wager back' if kept else ''}"


def _envy(row: Row | None, table: PayTable, old: PayTable) -> Fraction:
    """What a row gives, in cents, for the wager that the old table prints."""
    cents = row.envy_cents if row is not None and row.offered else 0
    return cents * (Fraction(old.wager_cents, table.wager_cents) if table.envy_scales else Fraction(1))


def _pays_as_much(new: Row | None, new_table: PayTable, old: Row | None, old_table: PayTable, terms: Terms) -> bool:
    """Whether ``new`` hands out at least as much, whatever the meters show or, failing that, at their seeds.

    At a larger wager too: what grows with the wager must be as much.
    """
    now, was = worth(new, new_table, terms), worth(old, old_table, terms)
    if growing(new, new_table) < growing(old, old_table):
        return False
    if (sure := now.at_least(was)) is not None:
        return sure
    values = now.value(terms), was.value(terms)
    return values[0] is not None and values[1] is not None and values[0] >= values[1]


def _same_cards(old: PayTable, new: PayTable) -> tuple[Game, ...]:
    """Games in which both tables rank the same cards, so that one hand can be held against both."""
    if _deck(old) != _deck(new):
        return ()
    dealt = {_dealt(game) for game in old.games}
    return tuple(game for game in new.games if _dealt(game) in dealt)


def _deck(table: PayTable) -> tuple[str | None, int, bool, str]:
    return table.evaluator, table.decks, table.joker, table.without_ranks


def _dealt(game: Game) -> tuple[int, ...]:
    return game.own_cards, game.own_most, game.community_cards, game.community_most, game.dealer_cards, game.dealer_most


def _side_by_side(old: PayTable, new: PayTable, games: tuple[Game, ...]) -> PayTable:
    """One table with the rows of both, so that one enumeration says which rows of each a hand holds."""
    rows = [
        replace(row, hand=f"{mark}{row.hand}", match=row.match or row.hand)
        for mark, table in ((_OLD, old), (_NEW, new))
        for row in tried(table)
    ]
    return replace(new, rows=tuple(rows), rows_printed="best-first", games=games)


def _hand_by_hand(old: PayTable, new: PayTable, joint: Joint, terms: Terms) -> Iterator[Finding]:
    moved: dict[tuple[str | None, str | None], int] = {}
    for held, number in joint.items():
        change = _first(tried(old), _OLD, held), _first(tried(new), _NEW, held)
        moved[change] = moved.get(change, 0) + number
    olds, news = {row.hand: row for row in old.rows}, {row.hand: row for row in new.rows}
    universe = sum(joint.values())
    for (before, after), number in sorted(moved.items(), key=lambda item: -item[1]):
        if before == after:
            continue
        was, now = olds.get(before or ""), news.get(after or "")
        hands = f"{number:,} of {universe:,} hands"
        if not _pays_as_much(now, new, was, old, terms):
            code = "HARDER_TO_WIN"
        else:
            code = "" if _pays_as_much(was, old, now, new, terms) else "EASIER_TO_WIN"
        if code:
            found = (
                f"today {before or 'no row'} ({pays_text(was)}), then {after or 'no row'} ({pays_text(now)}): {hands}"
            )
            yield Finding(code, new.id, found, before or after)
        given, today = _envy(now, new, old), _envy(was, old, old)
        if given != today:
            code = "HARDER_TO_WIN" if given < today else "EASIER_TO_WIN"
            found = f"today {before or 'no row'} gives {money(today)} envy, then {after or 'no row'} {money(given)}"
            yield Finding(code, new.id, f"{found}: {hands}", before or after)


def _first(rows: Sequence[Row], mark: str, hands: frozenset[str]) -> str | None:
    return next((row.hand for row in rows if f"{mark}{row.hand}" in hands), None)


def _by_chance(old: PayTable, new: PayTable, laws: tuple[Law, Law], terms: Terms) -> Iterator[Finding]:
    """For each row of today: how often at least as much is earned, or given as envy, today and tomorrow."""
    for row in tried(old):
        if row.loses:
            continue
        today, tomorrow = (_at_least(table, law, row, old, terms) for table, law in zip((old, new), laws, strict=True))
        if today != tomorrow:
            found = f"{pays_text(row)} or more is earned {one_in(tomorrow)}, today {one_in(today)}"
            yield Finding(_code(today, tomorrow), new.id, found, row.hand)
        if row.envy_cents:
            wanted = Fraction(row.envy_cents)
            today, tomorrow = (_giving(table, law, wanted, old) for table, law in zip((old, new), laws, strict=True))
            if today != tomorrow:
                found = f"{money(wanted)} envy or more is given {one_in(tomorrow)}, today {one_in(today)}"
                yield Finding(_code(today, tomorrow), new.id, found, row.hand)


def _code(today: Fraction, tomorrow: Fraction) -> str:
    return "HARDER_TO_WIN" if tomorrow < today else "EASIER_TO_WIN"


def _at_least(table: PayTable, law: Law, wanted: Row, old: PayTable, terms: Terms) -> Fraction:
    """The chance of this row (what it pays is judged elsewhere) or of another that pays at least as much.

    A list of wagers is compared row by row.
    """
    total = Fraction(0)
    for row in tried(table):
        chance = law.chances.get(row.hand)
        if chance is None:  # a row that pays a loss, or has no chance of its own
            continue
        if row.hand == wanted.hand or (not law.apart and _pays_as_much(row, table, wanted, old, terms)):
            total += chance
    return total


def _giving(table: PayTable, law: Law, wanted: Fraction, old: PayTable) -> Fraction:
    """The chance of a row that gives at least so much envy."""
    rows = [row for row in tried(table) if _envy(row, table, old) >= wanted]
    return sum((law.chances.get(row.hand, Fraction(0)) for row in rows), Fraction(0))


def _by_words(old: PayTable, new: PayTable, reason: str) -> Iterator[Finding]:
    """Without chances only unchanged words are known to be no harder."""
    offered = {row.hand: row for row in tried(new)}
    for row in tried(old):
        now = offered.get(row.hand)
        if now is None:
            yield Finding("HARDER_TO_WIN", new.id, "the row is gone", row.hand)
        elif (now.match, now.printed_hand) != (row.match, row.printed_hand) or old.evaluator != new.evaluator:
            found = f"{now.printed_hand!r} ({now.match or now.hand}), today {row.printed_hand!r}"
            yield Finding("NOT_COMPARABLE", new.id, f"{found} ({row.match or row.hand}): {reason}", row.hand)
    if [row.hand for row in tried(old)] != [row.hand for row in tried(new) if row.hand in {r.hand for r in old.rows}]:
        yield Finding("NOT_COMPARABLE", new.id, f"the rows stand in another order: {reason}")
