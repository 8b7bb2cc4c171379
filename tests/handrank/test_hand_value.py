"""What a value is: it prints, compares, and knows the cards that made it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from meterd.handrank import RANKINGS, Ranking, parse_cards, rank
from meterd.handrank.masks import straight_tops

ROOT = Path(__file__).resolve().parents[2]


def test_a_value_prints_category_ranks_and_cards() -> None:
    """What the pit reads is one line."""
    assert "full-house 9 K (9c Kd 9d 9s Kh)" == str(rank(parse_cards("9c Kd 9d 9s Kh"), "five-card"))
    assert "straight 3 (Ah 2d 3h)" == str(rank(parse_cards("Ah 2d 3h"), "three-card"))


def test_values_of_different_rankings_do_not_compare() -> None:
    """A three-card straight and a five-card straight are different things."""
    three, five = rank(parse_cards("4c 5d 6s"), "three-card"), rank(parse_cards("4c 5d 6s 7s 8s"), "five-card")
    assert three != five
    with pytest.raises(TypeError):
        assert three < five
    assert three != "straight"


def test_the_same_ranks_in_two_rankings_are_no_tie() -> None:
    """Two orders of one shape and different names: unequal, and apart in a set."""
    cards = parse_cards("4c 5d 6s 7s 8s")
    one, other = (rank(cards, Ranking(name, 5, ("straight", "high-card"))) for name in ("one", "other"))
    assert (one.strength, one.tiebreak) == (other.strength, other.tiebreak)
    assert one != other
    assert 2 == len({one, other})


def test_values_work_as_keys_and_in_max() -> None:
    """Higher is better; ties collapse in a set."""
    texts = ("2c 3d 4h 5s 7c", "2d 3h 4s 5c 7d", "Ac Ad Kh Qs Jc")
    values = [rank(parse_cards(text), "five-card") for text in texts]
    assert 2 == len(set(values))
    assert "pair" == max(values).category


def test_a_new_category_order_is_data() -> None:
    """An order in which a flush beats a full house needs no code."""
    order = Ranking("odd", 5, ("flush", "full-house", "pair", "high-card"))
    house, flush = (rank(parse_cards(text), order) for text in ("2c 2d 2h 3s 3c", "2h 4h 6h 8h Th"))
    assert flush > house
    assert "high-card" == rank(parse_cards("2c 3d 4h 5s 6c"), order).category


def test_an_order_without_an_end_is_a_bug_of_its_author() -> None:
    """A ranking must have a category for every hand, and says so."""
    with pytest.raises(ValueError, match="high-card"):
        rank(parse_cards("2c 3d 4h 5s 7c"), Ranking("gap", 5, ("flush",)))


@pytest.mark.parametrize("length", [3, 5])
def test_the_straight_table_agrees_with_reading_the_ranks(length: int) -> None:
    """All 8,192 sets of ranks: the top of the highest run, with the ace also below the deuce."""
    for mask in range(1 << 13):
        ranks = {bit + 2 for bit in range(13) if mask >> bit & 1}
        ranks |= {1} if 14 in ranks else set()
        tops = [top for top in range(length, 15) if ranks >= set(range(top - length + 1, top + 1))]
        assert max(tops, default=0) == straight_tops(length)[mask]


def test_every_ranking_ends_in_a_category_that_always_holds() -> None:
    """No hand of any listed order is without a name, and no category stands twice."""
    for ranking in RANKINGS.values():
        assert "high-card" == ranking.order[-1]
        assert len(set(ranking.order)) == len(ranking.order)


def test_the_core_is_importable_alone() -> None:
    """Importing it pulls in the standard library and nothing else of meterd."""
    code = (
        "import sys, meterd.handrank\n"
        "print(sorted(name for name in sys.modules if name.startswith('meterd') and 'handrank' not in name))\n"
        "print([n for n in {m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) if n != 'meterd'"
        " and not n.startswith('_')])"
    )
    printed = subprocess.run(  # -S: no site hooks of the test environment
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert "['meterd']\n[]\n" == printed


def test_the_folder_copied_out_is_all_another_program_needs(tmp_path: Path) -> None:
    """A second program with nothing but this folder on its path ranks a hand."""
    shutil.copytree(ROOT / "meterd/handrank", tmp_path / "meterd/handrank")
    code = "from meterd.handrank import parse_cards, rank; print(rank(parse_cards('9h Th Jh Qh Kh'), 'five-card'))"
    printed = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout
    assert "straight-flush K (9h Th Jh Qh Kh)\n" == printed
