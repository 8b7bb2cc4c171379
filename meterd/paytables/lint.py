"""The linter of pay tables: everything that can be found about tables, links and changes before anybody plays.

Pure: tables, texts and a source of chances in, findings out. The closed list of findings is in ``lint_findings``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from meterd.paytables.lint_change import change_findings
from meterd.paytables.lint_envy import Hands, Round, dearest_round, envy_rows
from meterd.paytables.lint_findings import CODES, Finding, Severity, accept
from meterd.paytables.lint_law import Law, Laws, NoLaw
from meterd.paytables.lint_link import SEATS, Link, link_findings, read_links
from meterd.paytables.lint_money import Measured, money_findings
from meterd.paytables.lint_print import print_findings
from meterd.paytables.lint_rows import count_findings, joint_findings, text_findings
from meterd.paytables.lint_worth import Terms, printed_terms
from meterd.paytables.model import PayTable

__all__ = ["CODES", "SEATS", "Finding", "Link", "Severity", "lint_change", "lint_link", "lint_table", "read_links"]


def lint_table(table: PayTable, laws: Laws, *, seats: int = SEATS) -> tuple[Finding, ...]:
    """One table as printed, with a full table of so many seats."""
    return _linted(table, printed_terms(table, seats), laws)


def lint_link(link: Link, tables: Mapping[str, PayTable], laws: Laws) -> tuple[Finding, ...]:
    """One link of a site: its table with the link's wager, seeds and rates, and the games it joins."""
    return (*_linted(link.paytable, link.terms, laws), *link_findings(link, tables, laws))


def lint_change(old: PayTable, new: PayTable, laws: Laws, *, terms: Terms | None = None) -> tuple[Finding, ...]:
    """What becomes harder if ``new`` takes the place of the live ``old``; nothing of it can be accepted."""
    return tuple(change_findings(old, new, terms or printed_terms(old, SEATS), laws))


def _linted(table: PayTable, terms: Terms, laws: Laws) -> tuple[Finding, ...]:
    try:
        found = tuple(_measured(table, terms, laws))
        measured = True
    except NoLaw as reason:
        why = str(reason).removeprefix(f"{table.id} ").removesuffix(table.note).strip(" :")
        found = (*text_findings(table), Finding("NOT_MEASURED", table.id, why))
        measured = False
    return tuple(accept(table, (*print_findings(table), *found), measured=measured, link=terms.link))


def _measured(table: PayTable, terms: Terms, laws: Laws) -> Iterator[Finding]:
    law = laws.law(table)
    joint = None if law.apart else laws.joint(table)
    yield from count_findings(table, law) if joint is None else joint_findings(table, joint, terms)
    if joint is None:
        yield from text_findings(table)
    measured = Measured(table, terms, law, _dearest(table, terms, law, laws))
    yield from money_findings(measured)
    yield from _elsewhere(measured, laws)


def _elsewhere(measured: Measured, laws: Laws) -> Iterator[Finding]:
    """Faults of the money with other decks or another wheel that the table may be played with."""
    said = {(finding.code, finding.row) for finding in money_findings(measured)}
    try:
        for name, law in laws.others(measured.table):
            for finding in money_findings(replace(measured, law=law)):
                if finding.severity is Severity.FAULT and (finding.code, finding.row) not in said:
                    yield replace(finding, found=f"with {name}: {finding.found}")
    except NoLaw as reason:
        yield Finding("NOT_MEASURED", measured.table.id, str(reason))


def _dearest(table: PayTable, terms: Terms, law: Law, laws: Laws) -> Round | None:
    """The round with the most envy, over the games where the table stands."""
    rows = [row.hand for row in envy_rows(table)]
    if not rows or law.apart:
        return None
    games = [game for game in table.games if terms.games is None or game.name in terms.games]
    known: dict[int, Hands] = {}
    rounds = []
    for game in games:
        dealt = game.own_cards + game.community_cards
        if dealt not in known:
            known[dealt] = laws.hands(replace(table, games=(game,)), rows)
        rounds.append(dearest_round(table, game, terms.seats, law, known[dealt]))
    return max(rounds or [dearest_round(table, None, terms.seats, law, {})], key=lambda each: each.cents)
