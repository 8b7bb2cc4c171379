"""Every printed table: a par sheet whose chances make up one, or the reason why it has none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from meterd.edge.files import load_paytables, universe_text
from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import NoParSheet, parsheet, seconds

#: Families of tables, so that two workers share them evenly.
FAMILIES = sorted({table_id.rpartition("/")[0] for table_id in load_paytables()})

#: Tables whose universe is neither small nor kept: about ten seconds.
BIG = ("co/bet-the-set-21/progressive",)


def check(table: PayTable) -> None:
    if table.evaluator is None or table.depends_on_play:
        with pytest.raises(NoParSheet, match=f"^{table.id} has no par sheet: .+"):
            parsheet(table, cached=universe_text)
        return
    sheet = parsheet(table, cached=universe_text)
    offered = {row.hand for row in table.rows if row.offered and not row.loses}
    assert {row.hand for row in sheet.rows} <= offered
    assert all(row.count == row.probability * sheet.universe for row in sheet.rows)
    if sheet.lose_probability is None:
        assert "wagers" == EVALUATORS[table.evaluator or ""].model
        assert all(0 < row.probability < 1 and row.returned is not None for row in sheet.rows)
        return
    assert offered == {row.hand for row in sheet.rows}
    assert 1 == sheet.lose_probability + sum(row.probability for row in sheet.rows)
    assert list(table.levels) == list(sheet.meters)
    for meter in sheet.meters.values():
        assert 0 <= meter.share_probability < 1
    document = sheet.to_json()
    assert [str(row.probability) for row in sheet.rows] == [row["probability"] for row in document["rows"]]
    assert Fraction(document["fixed_return"]) == sheet.fixed_return


@pytest.mark.parametrize("family", FAMILIES)
def test_chances_make_up_one_or_the_reason_is_given(family: str) -> None:
    """No table is left out in silence; only a table without evaluator or that depends on play has no par sheet."""
    for table_id, table in load_paytables().items():
        if table_id.rpartition("/")[0] == family and table_id not in BIG:
            check(table)


@pytest.mark.slow
@pytest.mark.parametrize("table_id", BIG)
def test_the_big_ones_too(table_id: str) -> None:
    """Counted whole, without a universe kept as data."""
    check(load_paytables()[table_id])


def test_it_is_known_beforehand_what_takes_long() -> None:
    """All but a few tables take a moment with the universes that are kept; without them seven cards take a while."""
    slow = []
    for table in load_paytables().values():
        try:
            if seconds(table, cached=universe_text) > 2:
                slow.append(table.id)
        except NoParSheet:
            continue
    assert list(BIG) == slow
    assert 10 < seconds(load_paytables()["co/champion-poker/seven-card-e"], cached=lambda _name: None)


@pytest.mark.parametrize("decks", [1, 2, 4, 6, 8])
def test_shoes_of_any_size(decks: int) -> None:
    """Chances make up one for every shoe; what cannot be dealt has no chance: three sevens of one suit of two decks."""
    table = load_paytables()["co/blazing-sevens/b7p1"]
    sheet = parsheet(table, decks=decks, cached=universe_text)
    assert decks == sheet.decks
    assert 1 == (sheet.lose_probability or 0) + sum(row.probability for row in sheet.rows)
    assert (decks > 2) == bool(sheet.rows[0].count)
