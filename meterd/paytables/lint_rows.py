"""The rows of a table against each other: which can be earned, which mean the same, which stand in a wrong order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_law import Joint, Law, tried
from meterd.paytables.lint_worth import Terms, Worth, pays_text, worth
from meterd.paytables.model import PayTable, Row


def count_findings(table: PayTable, law: Law) -> Iterator[Finding]:
    """Rows that no hand earns, seen from the par sheet alone. A row without a line there has no known chance."""
    for row in tried(table):
        if law.chances.get(row.hand) == 0:
            yield Finding("ROW_NEVER_REACHED", table.id, f"0 of {law.universe:,} hands earn it", row.hand)


def text_findings(table: PayTable) -> Iterator[Finding]:
    """Rows with the same words for what they mean, for tables whose hands cannot be counted."""
    seen: dict[str, Row] = {}
    model = EVALUATORS[table.evaluator].model if table.evaluator is not None else ""
    for row in tried(table) if model not in {"", "wagers"} else ():
        words = row.match or row.hand
        if words in seen:
            found = f"means {words!r}, as {seen[words].hand} does"
            yield Finding("TWO_ROWS_ONE_HAND", table.id, found, row.hand)
        seen.setdefault(words, row)


@dataclass(frozen=True, slots=True)
class _Counts:
    """``alone``: hands that hold a row whatever else they hold; ``both``; ``taken``: both, and the first earns it."""

    universe: int
    alone: dict[str, int]
    both: dict[tuple[str, str], int]
    taken: dict[tuple[str, str], int]
    first: dict[str, int]


def joint_findings(table: PayTable, joint: Joint, terms: Terms) -> Iterator[Finding]:
    """Everything that two rows can do to each other, hand by hand."""
    rows = tried(table)
    counts = _counted(rows, joint)
    same: set[str] = set()
    for earlier, later in combinations(rows, 2):
        for finding in _pair(table, earlier, later, counts, terms):
            if finding.code == "TWO_ROWS_ONE_HAND":
                same.add(later.hand)
            yield finding
    for position, row in enumerate(rows):
        if not counts.first.get(row.hand) and row.hand not in same:
            yield Finding("ROW_NEVER_REACHED", table.id, _why_never(row, rows[:position], counts), row.hand)


def _counted(rows: Sequence[Row], joint: Joint) -> _Counts:
    place = {row.hand: position for position, row in enumerate(rows)}
    counts = _Counts(sum(joint.values()), {}, {}, {}, {})
    for hands, number in joint.items():
        held = sorted(hands, key=place.__getitem__)
        for hand in held:
            counts.alone[hand] = counts.alone.get(hand, 0) + number
        for pair in combinations(held, 2):
            counts.both[pair] = counts.both.get(pair, 0) + number
        for later in held[1:]:
            counts.taken[held[0], later] = counts.taken.get((held[0], later), 0) + number
        if held:
            counts.first[held[0]] = counts.first.get(held[0], 0) + number
    return counts


def _pair(table: PayTable, earlier: Row, later: Row, counts: _Counts, terms: Terms) -> Iterator[Finding]:
    pair = (earlier.hand, later.hand)
    both, taken = counts.both.get(pair, 0), counts.taken.get(pair, 0)
    if not both:
        return
    alone = counts.alone[earlier.hand], counts.alone[later.hand]
    if alone == (both, both):
        found = f"the same {both:,} of {counts.universe:,} hands hold it and {earlier.hand}"
        yield Finding("TWO_ROWS_ONE_HAND", table.id, found, later.hand)
    elif taken and _pays_more(worth(later, table, terms), worth(earlier, table, terms), terms):
        found = (
            f"{taken:,} of its hands also hold {later.hand}, which pays more:"
            f" {pays_text(later)} against {pays_text(earlier)}"
        )
        yield Finding("LATER_ROW_PAYS_MORE", table.id, found, earlier.hand)
    elif taken and both < min(alone) and _categories(earlier) & _categories(later):
        found = f"{taken:,} of its hands also hold {later.hand}; all of them earn this row ({pays_text(earlier)})"
        yield Finding("ROWS_OVERLAP", table.id, found, earlier.hand)


def _pays_more(one: Worth, other: Worth, terms: Terms) -> bool:
    """Whether ``one`` hands out more, as far as can be said: whatever the meters show, or at their seeds."""
    sure = other.at_least(one)
    if sure is not None:
        return not sure
    values = one.value(terms), other.value(terms)
    return values[0] is not None and values[1] is not None and values[0] > values[1]


def _categories(row: Row) -> set[str]:
    """The categories that a row's words begin with."""
    return {part.split()[0] for part in (row.match or row.hand).split(" | ") if part.split()}


def _why_never(row: Row, earlier: Sequence[Row], counts: _Counts) -> str:
    alone = counts.alone.get(row.hand, 0)
    if not alone:
        return f"0 of {counts.universe:,} hands hold it"
    takers = [f"{each.hand} takes {n:,}" for each in earlier if (n := counts.taken.get((each.hand, row.hand), 0))]
    return f"all of the {alone:,} hands that hold it earn an earlier row: {', '.join(takers)}"
