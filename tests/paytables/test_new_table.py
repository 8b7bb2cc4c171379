"""A pay table that is in no catalogue: a file is all it takes to rank, lint and par-sheet it, and no code."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ACES = (
    '{ printed_hand = "4 Aces", printed_pay = "100%", printed_envy = "$50", pays = ["100% meter"],'
    ' match = "four-of-a-kind top:A" },'
)
QUADS = '{ printed_hand = "4 of a Kind", printed_pay = "$250", pays = ["$250 from meter"] },'

#: A game nobody prints: four of five own cards and a meter, judged by rows of its own.
NEW = f"""\
[shared]
game = "River Four"
wager = "progressive"
kind = "progressive"
basis = "best four of the player's five cards"
evaluator = "best-four-of-five"
games = [{{ name = "river-four", basis = "player's five cards", own_cards = 5 }}]
seed_cents = 50_000
increment = "25%"
reserve = "5%"

[[paytable]]
id = "xx/river-four/harbour"
sources = [{{ jurisdiction = "XX", rule = "12-4", table = "Harbour" }}]
rows = [
    {ACES}
    {QUADS}
    {{ printed_hand = "Straight Flush", printed_pay = "100 for 1", pays = ["100 for 1"] }},
    {{ printed_hand = "Three of a Kind", printed_pay = "8 for 1", pays = ["8 for 1"] }},
]
"""


def meterd(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "meterd", *words], capture_output=True, text=True, check=False, cwd="/"
    )


def fingerprint() -> str:
    """Of all that could be changed for the sake of one table."""
    files = sorted(path for folder in ("meterd", "schema") for path in (ROOT / folder).rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        if "__pycache__" not in path.parts:
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


@pytest.fixture
def new(tmp_path: Path) -> Path:
    path = tmp_path / "river-four.toml"
    path.write_text(NEW, encoding="utf-8")
    return path


def test_a_new_table_is_ranked_linted_and_par_sheeted(new: Path) -> None:
    """Through the command line, from a file outside, with no file of the program or its data changed."""
    before = fingerprint()
    ranked = meterd("rank", "xx/river-four/harbour", "--tables", str(new), "--cards", "As Ac Ad 2h Ah", "--json")
    assert (0, "") == (ranked.returncode, ranked.stderr)
    hand = json.loads(ranked.stdout)
    assert ("4-aces", 5_000) == (hand["hand"], hand["envy_cents"])
    assert ["Ac", "Ad", "Ah", "As"] == sorted(hand["cards_used"])

    linted = meterd("paytable", "lint", "--tables", str(new), "--json")
    assert 0 == linted.returncode, linted.stdout
    report = json.loads(linted.stdout)
    assert (True, 1, 0) == (report["ok"], report["tables"], report["faults"])
    assert {"ENVY_FULL_TABLE", "SEED_HORIZON", "BREAK_EVEN"} <= {finding["code"] for finding in report["findings"]}

    sheeted = meterd("paytable", "parsheet", "xx/river-four/harbour", "--tables", str(new), "--json")
    assert (0, "") == (sheeted.returncode, sheeted.stderr)
    sheet = json.loads(sheeted.stdout)
    assert ("2598960", "48") == (sheet["universe"], sheet["rows"][0]["count"])
    assert "1/54145" == sheet["rows"][0]["probability"]
    assert before == fingerprint()


def test_a_new_table_with_a_fault_is_found_and_its_file_named_where_it_cannot_be_read(new: Path) -> None:
    """Rows in a wrong order: exit 1 and the row. A misspelt word: exit 78 with file, line and key."""
    new.write_text(NEW.replace(f"{ACES}\n    {QUADS}", f"{QUADS}\n    {ACES}"), encoding="utf-8")
    linted = meterd("paytable", "lint", "xx/river-four/harbour", "--tables", str(new), "--json")
    assert (1, "") == (linted.returncode, linted.stderr)
    faults = [finding for finding in json.loads(linted.stdout)["findings"] if finding["severity"] == "fault"]
    assert ("ROW_NEVER_REACHED", "4-aces") == (faults[-1]["code"], faults[-1]["row"])
    new.write_text(NEW.replace("top:A", "tip:A"), encoding="utf-8")
    refused = meterd("paytable", "lint", "--tables", str(new))
    assert 78 == refused.returncode
    assert f"{new}:16: match: unknown qualifier 'tip:A'; did you mean 'top:A'?" in refused.stderr


def test_a_change_of_a_new_table_is_held_against_the_live_one(new: Path, tmp_path: Path) -> None:
    """A file against a file, and against an id of the catalogue."""
    live = tmp_path / "live.toml"
    live.write_text(NEW, encoding="utf-8")
    assert (
        0
        == meterd("paytable", "lint", "xx/river-four/harbour", "--tables", str(new), "--against", str(live)).returncode
    )
    new.write_text(NEW.replace('"8 for 1"', '"7 for 1"'), encoding="utf-8")
    changed = meterd("paytable", "lint", "xx/river-four/harbour", "--tables", str(new), "--against", str(live))
    assert 1 == changed.returncode
    assert "fault PAYS_LESS three-of-a-kind: pays '7 for 1', today '8 for 1'" in changed.stdout
    assert "next: keep the pay until the award has been won, or petition" in changed.stdout
    shipped = meterd("paytable", "lint", "xx/river-four/harbour", "--tables", str(new), "--against", "co/nexus/pmg-1")
    assert 1 == shipped.returncode
    assert "HARDER_TO_WIN full-house" in shipped.stdout
    unknown = meterd("paytable", "lint", "xx/river-four/harbour", "--tables", str(new), "--against", "co/nexus/pmg-0")
    assert 2 == unknown.returncode
    assert "did you mean" in unknown.stderr
