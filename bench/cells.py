"""How many tables and cells of each rule stand in the catalogue, beside how many the second transcription counts.

    python bench/cells.py

Pay cells: one a printed row of a table, blank and N/A ones included. "printed" counts the blocks of
``tests/paytables/printed``, where a column that two tables store counts once; "stored" counts the catalogue likewise.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

from meterd.edge.files import load_paytables

PRINTED = Path(__file__).parent.parent / "tests" / "paytables" / "printed"


def printed() -> tuple[Counter[str], Counter[str], dict[str, set[str]]]:
    """Pay cells and envy cells of each rule in the transcription; tables that store a column already counted."""
    pays: Counter[str] = Counter()
    envies: Counter[str] = Counter()
    again: dict[str, set[str]] = defaultdict(set)
    for path in sorted(PRINTED.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
            head, *lines = part.strip().splitlines()
            rule, ids, columns = head.split(" == ")
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            rows = [row for row in rows if row[0] != "Seed Amount"]
            for place, column in enumerate(columns.split(", ")):
                pays[rule] += len(rows) if column.startswith("pay ") else 0
                envies[rule] += sum(1 for row in rows if row[place]) if column.startswith("envy ") else 0
            for group in ids.split():
                again[rule] |= set(group.split("=")[1:])
    return pays, envies, again


def main() -> int:
    """One line a rule, and the sum."""
    pays, envies, again = printed()
    tables: Counter[str] = Counter()
    cells: Counter[str] = Counter()
    blank: Counter[str] = Counter()
    envy: Counter[str] = Counter()
    unranked: Counter[str] = Counter()
    for table in load_paytables().values():
        for rule in {f"{source.jurisdiction} {source.rule}" for source in table.sources}:
            tables[rule] += 1
            unranked[rule] += table.evaluator is None
            if table.id in again[rule]:
                continue
            rows = [row for row in table.rows if not row.derived]
            cells[rule] += len(rows)
            blank[rule] += sum(1 for row in rows if not row.offered)
            envy[rule] += sum(1 for row in rows if row.printed_envy)
    print(f"{'rule':20} {'tables':>6} {'unranked':>8} {'printed':>8} {'stored':>7} {'no pay':>7} {'envy':>10}")
    for rule in sorted(tables | pays):
        print(_line(rule, tables[rule], unranked[rule], pays[rule], cells[rule], blank[rule], envies[rule], envy[rule]))
    sums = [sum(counter.values()) for counter in (tables, unranked, pays, cells, blank, envies, envy)]
    print(_line("all", *sums))
    print(f"{len(load_paytables())} tables; one that several rules print counts under each of them")
    return 0 if pays == cells and envies == envy else 1


def _line(rule: str, *numbers: int) -> str:
    tables, unranked, pays, cells, blank, envies, envy = numbers
    return f"{rule:20} {tables:6} {unranked:8} {pays:8} {cells:7} {blank:7} {envies:5}/{envy:4}"


if __name__ == "__main__":
    sys.exit(main())
