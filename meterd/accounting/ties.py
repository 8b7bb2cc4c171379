"""Which awards are confirmed together: the members of a tie whose level splits (M7).

Rule 1: CONFIRM verifies one member; when none of a tie is left unverified, all are confirmed.
Rule 2: an award in the ties of two levels binds the members of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from meterd.accounting.awards import ClaimFacts
from meterd.accounting.marks import Part, RoundMark
from meterd.accounting.meter import LinkRules, share_of
from meterd.accounting.settings import Ties
from meterd.paytables.model import PayKind


def split_levels(rules: LinkRules) -> set[str]:
    """Levels whose 100 % awards of one round share one amount."""
    return {name for name, level in rules.levels.items() if level.ties is Ties.SPLIT}


def groups(rules: LinkRules, mark: RoundMark | None, pending: Collection[str]) -> list[set[str]]:
    """Pending awards of a round that are confirmed together. An award in no open tie is in no group."""
    split = split_levels(rules)
    ties = mark.ties if mark is not None else {}
    found: list[set[str]] = []
    for name in (name for name in rules.levels if name in split and name in ties):
        tie = ties[name]
        members = {award for award in tie.members if award in pending}
        if tie.closed or not members:
            continue
        apart = []
        for group in found:
            if group & members:
                members |= group
            else:
                apart.append(group)
        found = [*apart, members]
    return found


def mates(rules: LinkRules, marks: Mapping[str, RoundMark], key: str, award: str, pending: Collection[str]) -> set[str]:
    """Awards confirmed together with this one, itself among them."""
    return next((group for group in groups(rules, marks.get(key), pending) if award in group), {award})


def confirmed_ties(
    rules: LinkRules, claims: Iterable[ClaimFacts], pins: Mapping[str, tuple[Part, ...]]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Ties of confirmed awards among ``claims``, by round and level: their cents and how many members.

    Who came late to a tie is no member of it.
    """
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for claim in claims:
        pays = [pay for pay in rules.rows[claim.hand].pays if pay.kind is not PayKind.LOSS]
        for pay, part in zip(pays, pins.get(claim.award, ()), strict=False):
            name = part.level
            if pay.kind is not PayKind.METER_PERCENT or name is None or name in claim.late:
                continue
            level = rules.levels[name]
            share, whole = share_of(rules, level, pay, claim.units)
            if level.ties is Ties.SPLIT and share >= whole:
                ties = found.setdefault(claim.key, {})
                before = ties.get(name, (0, 0))
                ties[name] = (before[0] + part.cents, before[1] + 1)
    return found
