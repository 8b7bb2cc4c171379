"""The page on the hand-ranking core says what it does."""

from __future__ import annotations

import doctest
from pathlib import Path

import meterd.handrank

PAGE = Path(__file__).resolve().parents[2] / "docs/handrank.md"


def test_the_examples_of_the_page_give_what_stands_there() -> None:
    """Every example on the page, and the one of the package itself."""
    on_page = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert (0, True) == (on_page.failed, on_page.attempted > 10)
    in_package = doctest.testmod(meterd.handrank)
    assert (0, True) == (in_package.failed, in_package.attempted > 0)


def test_the_page_lists_every_ranking() -> None:
    """No ranking is left out of its table, and none is listed that is not there."""
    rows = [line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert sorted(meterd.handrank.RANKINGS) == sorted(rows)
