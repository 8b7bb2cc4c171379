"""The hand-ranking core in another program: the folder is all it needs, whatever it is called there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HANDRANK = Path(__file__).resolve().parents[2] / "meterd" / "handrank"

#: What a second program does: rank hands of one deck, of a shoe, a joker hand, and compare them.
PROGRAM = textwrap.dedent(
    """
    import importlib, json, pkgutil, sys

    sys.path.insert(0, {folder!r})
    sys.dont_write_bytecode = True
    before = set(sys.modules)
    package = importlib.import_module({name!r})
    for each in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(each.name)
    rank, parse_cards = package.rank, package.parse_cards

    royal = rank(parse_cards("As Ks Qs Js Ts 2d 3c"), "five-card")
    wheel = rank(parse_cards("Ad 2c 3s 4h 5d"), "five-card")
    six = rank(parse_cards("6d 2c 3s 4h 5d"), "five-card")
    trips = rank(parse_cards("7c 7d 7h"), "three-card")
    try:
        rank(parse_cards("As As Ks Qs Js"), "five-card")
        refused = ""
    except package.CardError as error:
        refused = str(error)
    print(json.dumps({{
        "royal": [royal.category, [str(card) for card in royal.cards_used]],
        "trips": trips.category,
        "higher": six > wheel,
        "hashes": len({{royal, wheel, six}}),
        "refused": refused,
        "modules": sorted(set(sys.modules) - before),
    }}))
    """
)


@pytest.mark.parametrize("name", ["handrank", "cards_of_the_house"])
def test_a_second_program_needs_only_the_folder(name: str, tmp_path: Path) -> None:
    """Copied out under any name, in an isolated interpreter without site packages: it ranks, refuses, compares."""
    shutil.copytree(HANDRANK, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    program = PROGRAM.format(folder=str(tmp_path), name=name)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (0, "") == (done.returncode, done.stderr)
    said = json.loads(done.stdout)
    assert ["royal-flush", ["As", "Ks", "Qs", "Js", "Ts"]] == said["royal"]
    assert ("three-of-a-kind", True, 3) == (said["trips"], said["higher"], said["hashes"])
    assert "As" in said["refused"]
    foreign = {module.partition(".")[0] for module in said["modules"]} - set(sys.stdlib_module_names) - {name}
    assert set() == foreign


def test_importing_the_core_pulls_in_nothing_else_of_meterd() -> None:
    """All of its modules together load themselves, ``meterd`` itself, and the standard library."""
    program = textwrap.dedent(
        """
        import importlib, json, pkgutil, sys

        sys.path.insert(0, sys.argv[1])
        before = set(sys.modules)
        import meterd.handrank
        alone = sorted(set(sys.modules) - before)
        for each in pkgutil.walk_packages(meterd.handrank.__path__, "meterd.handrank."):
            importlib.import_module(each.name)
        print(json.dumps([alone, sorted(set(sys.modules) - before)]))
        """
    )
    root = str(HANDRANK.parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, root], capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    for modules in json.loads(done.stdout):
        ours = [module for module in modules if module.partition(".")[0] == "meterd"]
        assert [] == [module for module in ours if module != "meterd" and not module.startswith("meterd.handrank")]
        assert set() == {module.partition(".")[0] for module in modules} - set(sys.stdlib_module_names) - {"meterd"}
