"""A change of a live table: whatever a hand earns today it must earn tomorrow (CO 47.1-1046(6), 47.1-1099.11(3)(c)).

Hand by hand where both tables look at the same cards; else by chance: how often at least so much is earned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from meterd.money import format_cents
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_law import Joint, Law, Laws, NoLaw, tried
from meterd.paytables.lint_worth import Terms, Worth, money, one_in, pays_text, worth
from meterd.paytables.model import Game, PayTable, Row

_OLD: Final = "old--"
_NEW: Final = "new--"


def change_findings(old: PayTable, new: PayTable, terms: Terms, laws: Laws) -> Iterator[Finding]:
    """What players of ``old``, which is live, would lose by ``new``; ``terms`` are those in force for both."""
    yield from _rows_paying_less(old, new, terms)
    try:
        games = _same_cards(old, new)
        joint = laws.joint(_side_by_side(old, new, games)) if games else None
        if joint is not None:
            yield from _hand_by_hand(old, new, joint, terms)
        else:
            yield from _by_chance(old, new, (laws.law(old), laws.law(new)), terms)
    except NoLaw as reason:
        yield from _by_words(old, new, str(reason))


def _rows_paying_less(old: PayTable, new: PayTable, terms: Terms) -> Iterator[Finding]:
    """Rows that both tables offer, pay against pay and envy against envy."""
    offered = {row.hand: row for row in tried(new)}
    for row in tried(old):
        now = offered.get(row.hand)
        if now is None:
            continue
        if not _pays_as_much(worth(now, new, terms), worth(row, old, terms), terms):
            yield Finding("PAYS_LESS", new.id, f"pays {pays_text(now)}, today {pays_text(row)}", row.hand)
        envy = now.envy_cents * (Fraction(old.wager_cents, new.wager_cents) if new.envy_scales else 1)
        if envy < row.envy_cents:
            found = f"gives {money(envy)} envy, today {format_cents(row.envy_cents)}"
            yield Finding("PAYS_LESS", new.id, found, row.hand)


def _pays_as_much(new: Worth, old: Worth, terms: Terms) -> bool:
    """Whether ``new`` hands out at least as much, whatever the meters show or, failing that, at their seeds."""
    if (sure := new.at_least(old)) is not None:
        return sure
    values = new.value(terms), old.value(terms)
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
    for hands, number in joint.items():
        change = _first(tried(old), _OLD, hands), _first(tried(new), _NEW, hands)
        moved[change] = moved.get(change, 0) + number
    olds, news = {row.hand: row for row in old.rows}, {row.hand: row for row in new.rows}
    universe = sum(joint.values())
    for (before, after), number in sorted(moved.items(), key=lambda item: -item[1]):
        if before == after:
            continue
        was, now = olds.get(before or ""), news.get(after or "")
        tomorrow, today = worth(now, new, terms), worth(was, old, terms)
        less = not _pays_as_much(tomorrow, today, terms)
        code = "HARDER_TO_WIN" if less else "EASIER_TO_WIN"
        found = (
            f"today {before or 'no row'} ({pays_text(was)}), then {after or 'no row'} ({pays_text(now)}):"
            f" {number:,} of {universe:,} hands"
        )
        if less or not _pays_as_much(today, tomorrow, terms):
            yield Finding(code, new.id, found, before or after)


def _first(rows: Sequence[Row], mark: str, hands: frozenset[str]) -> str | None:
    return next((row.hand for row in rows if f"{mark}{row.hand}" in hands), None)


def _by_chance(old: PayTable, new: PayTable, laws: tuple[Law, Law], terms: Terms) -> Iterator[Finding]:
    """For each row of today: how often at least as much is earned, today and tomorrow."""
    for row in tried(old):
        if row.loses:
            continue
        wanted = worth(row, old, terms)
        today, tomorrow = (
            _at_least(table, law, row.hand, wanted, terms) for table, law in zip((old, new), laws, strict=True)
        )
        if today == tomorrow:
            continue
        code = "HARDER_TO_WIN" if tomorrow < today else "EASIER_TO_WIN"
        found = f"{pays_text(row)} or more is earned {one_in(tomorrow)}, today {one_in(today)}"
        yield Finding(code, new.id, found, row.hand)


def _at_least(table: PayTable, law: Law, hand: str, wanted: Worth, terms: Terms) -> Fraction:
    """The chance of this row (what it pays is judged elsewhere) or of another that pays at least ``wanted``.

    A list of wagers is compared row by row.
    """
    total = Fraction(0)
    for row in tried(table):
        chance = law.chances.get(row.hand)
        if chance is None:  # a row that pays a loss, or has no chance of its own
            continue
        if row.hand == hand or (not law.apart and _pays_as_much(worth(row, table, terms), wanted, terms)):
            total += chance
    return total


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
