"""``meterd person``: hashes that a people file takes, and findings with line and key; nothing shows a PIN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from meterd.cli.main import main
from meterd.config import load_people
from meterd.edge.secrets import verify_pin


def run(*words: str, typed: str = "") -> Result:
    return CliRunner().invoke(main, ["person", *words], input=typed)


def test_the_line_that_is_printed_is_the_line_of_the_file() -> None:
    """Pasted into a people file it proves the PIN and no other."""
    made = run("pin", typed="271828\n")
    assert (0, 1) == (made.exit_code, made.stdout.count("\n"))
    people = load_people(f'[[person]]\nid = "sup-1"\nrole = "supervisor"\n{made.stdout}', "people.toml")
    sup = people.by_id("sup-1")
    assert sup is not None
    assert sup.pin_hash is not None
    assert (True, False) == (verify_pin(sup.pin_hash, "271828"), verify_pin(sup.pin_hash, "271829"))


@pytest.mark.parametrize("typed", ["", "1234\n", "000000\n"])
def test_a_pin_that_is_easily_guessed_gets_no_hash(typed: str) -> None:
    """Exit 2, nothing on standard output, and the PIN is not repeated."""
    told = run("pin", typed=typed)
    assert (2, "") == (told.exit_code, told.stdout)
    assert not typed.strip() or typed.strip() not in told.stderr


def test_check_says_who_may_act_in_which_role(tmp_path: Path) -> None:
    """And who is proven by what; a file that others may read is warned of."""
    page = tmp_path / "people.toml"
    page.write_text('[[person]]\nid = "sup-1"\nrole = "supervisor"\nbadge = "26:0123ABC0"\n', encoding="utf-8")
    page.chmod(0o640)
    told = run("check", str(page))
    assert 0 == told.exit_code
    assert ["sup-1", "supervisor", "badge"] == told.stdout.splitlines()[1].split()
    assert "others may read" in told.stderr
    page.chmod(0o400)
    told = run("check", str(page), "--json")
    person = {"id": "sup-1", "role": "supervisor", "badge": True, "pin": False}
    assert {"ok": True, "people": [person]} == json.loads(told.stdout)
    assert "" == told.stderr


def test_check_names_line_and_key_of_what_is_wrong(tmp_path: Path) -> None:
    """All at once, exit 78; a PIN in clear is not shown."""
    page = tmp_path / "people.toml"
    page.write_text('[[person]]\nid = "sup-1"\nrole = "supervisr"\npin = "271828"\n', encoding="utf-8")
    told = run("check", str(page))
    assert 78 == told.exit_code
    assert f"{page}:3: person[0].role" in told.stdout
    assert "did you mean 'supervisor'" in told.stdout
    assert "meterd person pin" in told.stdout
    assert "271828" not in told.stdout
    assert [3, 4] == [each["line"] for each in json.loads(run("check", str(page), "--json").stdout)["findings"]]
    assert 78 == run("check", str(tmp_path / "none.toml")).exit_code
