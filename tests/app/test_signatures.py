"""A key, and a restore that loses something, are signed by two people whose PINs prove them, or the ledger says not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner, Result
from verify_ledger import write_ledger

from meterd import second_verifier
from meterd.app.backup import back_up
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.cli.main import main
from meterd.edge.keys import new_key_file
from meterd.edge.store import read_records

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PINS = {"adm-1": "445566", "acc-1": "778899", "acc-2": "778890", "sup-1": "112233", "reg-1": "990011"}
ROLES = {"adm": "administrator", "acc": "accounting", "sup": "supervisor", "reg": "regulator"}


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this machine has its people file; nothing is there yet."""
    path = tmp_path / "etc" / "people.toml"
    path.parent.mkdir()
    for verb in ("backup", "ledger_key"):
        monkeypatch.setattr(f"meterd.cli.{verb}.USUAL_PEOPLE", path)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger with a key to adopt, and a backup that ends before it does."""
    folder = tmp_path / "ledger"
    write_ledger(folder)
    back_up(folder, tmp_path / "backup")
    new_key_file(tmp_path / "key", "riverside")
    return folder


def people(path: Path) -> Path:
    text = "".join(
        f'[[person]]\nid = "{name}"\nrole = "{ROLES[name[:3]]}"\npin_hash = "{CHEAP.hash(pin)}"\n'
        for name, pin in PINS.items()
    )
    path.write_text(text, encoding="utf-8")
    return path


def run(*words: object, typed: str = "") -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], input=typed)


def adopt(ledger: Path, first: str, second: str, *words: object, typed: str = "") -> Result:
    who = ("--by", first, "--and", second, "--reference", "K-1")
    return run("ledger", "key", "adopt", ledger, "--key", ledger.parent / "key", *who, *words, typed=typed)


def restore(ledger: Path, first: str, second: str, *words: object, typed: str = "") -> Result:
    who = ("--by", first, "--and", second, "--reference", "R-1")
    return run("restore", ledger.parent / "backup", ledger, *who, *words, typed=typed)


BOTH = (adopt, restore)
STDIN = ("--pins-from", "-")


def told(ledger: Path) -> tuple[str, str, dict[str, Any]]:
    """Kind, actor and body of the last entry."""
    *_, record = read_records(ledger)
    return record.kind, record.actor, json.loads(record.body)


@pytest.mark.parametrize(("verb", "kind", "actor"), [(adopt, "KeySet", "adm-1"), (restore, "Restored", "adm-1+acc-1")])
def test_two_pins_prove_two_people(ledger: Path, usual: Path, verb: Any, kind: str, actor: str) -> None:
    """The entry has both as the people file writes them, their roles, the uid, the reference, and what proved them."""
    people(usual)
    done = verb(ledger, "ADM-1", "acc-1", *STDIN, typed="445566\n778899\n")
    assert 0 == done.exit_code, done.output
    found = told(ledger)
    assert (kind, actor) == found[:2]
    asked = found[2]["asked"]
    assert (["adm-1", "acc-1"], ["administrator", "accounting"]) == (asked["by"], asked["roles"])
    assert ("pin", os.getuid(), None) == (asked["proof"], asked["uid"], asked["request"])
    assert str(usual) == asked["people"]
    assert found[2]["reference"] in asked["statement"]
    judging = Judging()
    assert verify(ledger, judge=judging.judge).ok
    assert second_verifier.check([ledger])["ok"]


@pytest.mark.parametrize("verb", BOTH)
@pytest.mark.parametrize(
    ("who", "typed", "says"),
    [
        (("adm-1", "acc-1"), "445566\n778890\n", "acc-1: the PIN is wrong"),
        (("nobody-1", "nobody-2"), "445566\n778899\n", "nobody-1 and nobody-2: the PIN is wrong, or nobody"),
        (("acc-1", "acc-2"), "778899\n778890\n", "SECOND_PERSON_REQUIRED: acc-2 is of the same department"),
        (("adm-1", "reg-1"), "445566\n990011\n", "NOT_AUTHORISED: reg-1 may not do this as regulator"),
        (("adm-1", "ADM-1 "), "445566\n445566\n", "two different people"),
        (("adm-1", "acc-1"), "445566\n", "2 people sign"),
    ],
)
def test_who_is_not_proven_or_may_not_changes_nothing(
    ledger: Path, usual: Path, verb: Any, who: tuple[str, str], typed: str, says: str
) -> None:
    """Exit 2, with the cause, and the ledger is as it was."""
    people(usual)
    head = verify(ledger).head
    refused = verb(ledger, *who, *STDIN, typed=typed)
    assert (2, True) == (refused.exit_code, says in refused.stderr), refused.output
    assert head == verify(ledger).head


def test_a_key_needs_an_administrator(ledger: Path, usual: Path) -> None:
    """It decides whose checkpoints count; a loss that is approved puts nothing new in force."""
    people(usual)
    pins = "112233\n778899\n"
    refused = adopt(ledger, "sup-1", "acc-1", *STDIN, typed=pins)
    assert (2, True) == (refused.exit_code, "is an administrator" in refused.stderr)
    assert 0 == restore(ledger, "sup-1", "acc-1", *STDIN, typed=pins).exit_code


@pytest.mark.parametrize("verb", BOTH)
def test_without_a_people_file_it_has_to_be_said(ledger: Path, usual: Path, verb: Any) -> None:
    """A fresh machine after a fire: --unproven, and the entry says that nothing proved the two."""
    head = verify(ledger).head
    refused = verb(ledger, "adm-1", "acc-1")
    assert (2, True) == (refused.exit_code, f"no people file {usual}" in refused.stderr), refused.output
    assert "--unproven" in refused.stderr
    assert head == verify(ledger).head
    assert 0 == verb(ledger, "adm-1", "acc-1", "--unproven").exit_code
    asked = told(ledger)[2]["asked"]
    assert ("none", [], ["adm-1", "acc-1"]) == (asked["proof"], asked["roles"], asked["by"])
    assert asked["people"] is None


@pytest.mark.parametrize("verb", BOTH)
def test_where_there_is_a_people_file_nobody_goes_unproven(ledger: Path, usual: Path, verb: Any) -> None:
    """At its usual place or named: it is used, or the verb refuses; one that has findings is exit 78."""
    named = people(usual.with_name("others.toml"))
    assert 2 == verb(ledger, "adm-1", "acc-1", "--unproven", "--people", named).exit_code
    people(usual)
    refused = verb(ledger, "adm-1", "acc-1", "--unproven")
    assert (2, True) == (refused.exit_code, "leave out --unproven" in refused.stderr)
    usual.write_text("[[person]]\n", encoding="utf-8")
    assert 78 == verb(ledger, "adm-1", "acc-1", *STDIN, typed="445566\n778899\n").exit_code
    done = verb(ledger, "adm-1", "acc-1", *STDIN, "--people", named, typed="445566\n778899\n")
    assert (0, "pin") == (done.exit_code, told(ledger)[2]["asked"]["proof"]), done.output
    assert str(named) == told(ledger)[2]["asked"]["people"], "a file of somebody's own is seen to be one"


@pytest.mark.parametrize("verb", BOTH)
def test_pins_that_are_no_text(ledger: Path, usual: Path, verb: Any) -> None:
    """A file of some other kind is wrong use, said in a line."""
    people(usual)
    pins = ledger.parent / "pins"
    pins.write_bytes(b"\xff\xfe4\n5\n")
    refused = verb(ledger, "adm-1", "acc-1", "--pins-from", pins)
    assert (2, True) == (refused.exit_code, "--pins-from is no text" in refused.stderr), refused.output


@pytest.mark.parametrize("verb", BOTH)
def test_words_that_no_entry_can_tell(ledger: Path, usual: Path, verb: Any) -> None:
    """Quotation marks and line breaks in a name, or one without end, are wrong use."""
    people(usual)
    for name in ('a"b', "a\nb", " ", "a" * 201):
        assert 2 == verb(ledger, name, "acc-1", *STDIN, typed="445566\n778899\n").exit_code


def test_a_restore_that_loses_nothing_asks_nobody(ledger: Path, usual: Path, tmp_path: Path) -> None:
    """Nobody signs it, and nobody is told to have."""
    done = run("restore", tmp_path / "backup", tmp_path / "new")
    assert 0 == done.exit_code, done.output
    kind, actor, body = told(tmp_path / "new")
    assert ("Restored", "meterd", False) == (kind, actor, "asked" in body)
    assert not usual.exists()
    assert verify(ledger).ok


@pytest.mark.parametrize(("found", "proof"), [({"roles": ["administrator", "accounting"]}, "pin"), ({}, "none")])
def test_an_interrupted_restore_keeps_what_proved_its_approval(
    ledger: Path, usual: Path, found: dict[str, Any], proof: str
) -> None:
    """Whoever finishes it tells what was proven then; a mark of a version that proved nobody says so."""
    head = json.loads((ledger.parent / "backup" / "backup.json").read_text())["head"]
    approval = {"first": "adm-1", "second": "acc-1", "reference": "R-9", **found}
    mark = {"head": head, "lost": ["two"], "aside": None, "approval": approval}
    (ledger / "restore-under-way.json").write_text(json.dumps(mark))
    done = run("restore", ledger.parent / "backup", ledger)
    assert 0 == done.exit_code, done.output
    kind, actor, body = told(ledger)
    assert ("Restored", "adm-1+acc-1", proof) == (kind, actor, body["asked"]["proof"])
    assert not usual.exists()
