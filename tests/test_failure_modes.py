"""The list of failure modes against its tests: none without a test, none without a cure that can be taken out."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from cures import MODES, SWITCHES, WITH_S, WITHOUT_S, Switch, _must_fail, limit_s

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "wiring.md"


def _tested() -> dict[int, dict[str, tuple[str, ...]]]:
    """Mode → name of a test → the cures it is run without, as the decorators in all test files say."""
    found: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for path in sorted(TESTS.rglob("test_failure_modes_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "failure_mode":
                    number, *switches = (ast.literal_eval(argument) for argument in mark.args)
                    found[number][node.name] = tuple(switches)  # type: ignore[union-attr] # a decorated function
    return found


def test_every_failure_mode_has_a_test_that_fails_without_its_cure() -> None:
    """All 23; every switch is a cure of some mode."""
    tested = _tested()
    assert sorted(MODES) == sorted(tested)
    for number, tests in tested.items():
        assert all(tests.values()), number
    assert set(SWITCHES) == {name for tests in tested.values() for cures in tests.values() for name in cures}


def test_the_page_tells_every_mode() -> None:
    """docs/wiring.md has a row for each number, in order."""
    page = PAGE.read_text(encoding="utf-8")
    assert list(MODES) == [int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)]


def test_a_test_that_passes_without_its_cure_is_a_failure() -> None:
    """The proof of the proof: a body that needs no cure, and one that waits for what no longer comes."""
    nothing = Switch("nothing", "nothing is missing", lambda _: None)
    with pytest.raises(pytest.fail.Exception, match="the test shows nothing"):
        _must_fail(nothing, lambda: None)
    seen: list[float] = []

    def waits() -> None:
        seen.append(limit_s())
        raise TimeoutError

    _must_fail(nothing, waits)
    assert [WITHOUT_S] == seen
    assert limit_s() == WITH_S


def test_an_error_that_is_no_failed_claim_is_not_taken_for_the_missing_cure() -> None:
    """A typo in a test's body must not pass as proof."""
    nothing = Switch("nothing", "nothing is missing", lambda _: None)
    with pytest.raises(ZeroDivisionError):
        _must_fail(nothing, lambda: print(1 // 0))
