"""A change of a live table, apart from its rows: what folds, splits, envy, seeds and rates mean for its players."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from meterd.money import format_cents, format_rate
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_worth import Terms, money
from meterd.paytables.model import PayTable

_HARDER: Final = "HARDER_TO_WIN"
_LESS: Final = "PAYS_LESS"
_EASIER: Final = "EASIER_TO_WIN"
_UNKNOWN: Final = "NOT_COMPARABLE"

_DEAD: Final = "dead"


def terms_findings(old: PayTable, new: PayTable, terms: Terms) -> Iterator[Finding]:
    """What players of ``old`` lose or gain by the terms of ``new``, whatever its rows say."""
    for code, found in (*_hands(old, new), *_envy(old, new, terms), *_levels(old, new)):
        yield Finding(code, new.id, found)


def _hands(old: PayTable, new: PayTable) -> Iterator[tuple[str, str]]:
    """Hands that are folded or split."""
    for before in old.games:
        after = new.game_named(before.name)
        if after is not None and before.folded_live != after.folded_live:
            if before.folded_live:
                yield _HARDER, f"a folded hand of {before.name} wins nothing, today it stays live"
            else:
                yield _EASIER, f"a folded hand of {before.name} stays live, today it wins nothing"
    if old.split != new.split:
        change = f"a split is {new.split or 'not said'}, today {old.split or 'not said'}"
        if new.split == _DEAD:
            yield _HARDER, change
        elif old.split == _DEAD and new.split is not None:
            yield _EASIER, change
        else:
            yield _UNKNOWN, change


def _envy(old: PayTable, new: PayTable, terms: Terms) -> Iterator[tuple[str, str]]:
    """To whom envy goes, when, and how it grows."""
    if not any(row.envy_cents and row.offered for row in old.rows):
        return
    if old.envy_to != new.envy_to:
        yield (_LESS if old.envy_to == "players" else _EASIER), f"envy goes to {new.envy_to}, today to {old.envy_to}"
    if old.envy_trigger != new.envy_trigger:
        code = _LESS if old.envy_trigger == "every" else _EASIER
        yield code, f"envy is given for the {new.envy_trigger} hand of a round, today for {old.envy_trigger}"
    if old.envy_min_cents != new.envy_min_cents:
        code = _LESS if new.envy_min_cents > old.envy_min_cents else _EASIER
        change = f"envy needs a wager of {format_cents(new.envy_min_cents)}, today {format_cents(old.envy_min_cents)}"
        yield code, change
    if old.envy_scales and not new.envy_scales:
        yield _LESS, "envy does not grow with the wager, today it does"
    elif new.envy_scales and not old.envy_scales:
        code = _LESS if terms.wager_cents < new.wager_cents else _EASIER
        yield code, "envy grows with the wager, today it does not"


def _levels(old: PayTable, new: PayTable) -> Iterator[tuple[str, str]]:
    """What the print says of seeds and rates. A link of a site has its own, which is not the table's to change."""
    wagers = Fraction(old.wager_cents, new.wager_cents)
    for name, before, after, shown in (
        ("seed", old.seed_cents, _scaled(new, wagers), money),
        ("increment", old.increment_ppm, new.increment_ppm, _rate),
        ("reserve", _reserve(old), _reserve(new), _rate),
    ):
        if before is None or before == after:
            continue
        if after is None:
            yield _UNKNOWN, f"no {name} is printed, today {shown(before)}"
        else:
            change = f"the {name} is {shown(after)}, today {shown(before)}"
            yield (_LESS if after < before else _EASIER), change


def _scaled(new: PayTable, wagers: Fraction) -> Fraction | None:
    """The seed of ``new`` for the wager that the old table prints."""
    if new.seed_cents is None:
        return None
    return new.seed_cents * (wagers if new.seed_scales else Fraction(1))


def _reserve(table: PayTable) -> int | None:
    return None if table.reserve_ppm is None else max(table.reserve_ppm, 0)


def _rate(ppm: Fraction | int) -> str:
    return format_rate(int(ppm))
