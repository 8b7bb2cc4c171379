"""The people file: who may act, what proves them, and what a bad one hears, all at once."""

from __future__ import annotations

import pytest

from meterd.accounting.commands import Actor, Role
from meterd.config import Finding, Person, SiteErrors, load_people

HASH = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQxMjM$" + "A" * 43

PAGE = f"""\
[[person]]
id = "sup-1"
role = "supervisor"
badge = "26:0123ABC0"
pin_hash = "{HASH}"

[[person]]
id = "adm-1"
role = "administrator"
pin_hash = "{HASH}"

[[person]]
id = "reg-1"
role = "regulator"
badge = "37:0123abc4d8"
"""


def _findings(text: str) -> tuple[Finding, ...]:
    with pytest.raises(SiteErrors) as caught:
        load_people(text, "people.toml")
    return caught.value.findings


def _page(old: str, new: str) -> str:
    assert old in PAGE, old
    return PAGE.replace(old, new, 1)


def test_people_are_found_by_id_and_by_badge_whatever_the_case() -> None:
    """``SUP-1`` is ``sup-1``, and a badge is the same in small hex digits; who is not there is nobody."""
    people = load_people(PAGE, "people.toml")
    sup = people.by_id("SUP-1")
    assert Person("sup-1", Role.SUPERVISOR, "26:0123ABC0", HASH) == sup
    assert Actor("sup-1", Role.SUPERVISOR) == (sup.actor if sup else None)
    assert sup == people.by_badge("26:0123abc0")
    assert people.by_id("reg-1") == people.by_badge("37:0123ABC4D8")
    assert (None, None) == (people.by_id("sup-2"), people.by_badge("26:0123ABC1"))
    assert () == people.warnings


def test_a_hash_is_not_shown_where_a_person_is_printed() -> None:
    """A log line with a person in it gives no hash away."""
    assert "argon2" not in repr(load_people(PAGE, "people.toml"))


PLANTED = [
    ('role = "supervisor"', 'role = "supervisr"', 3, "person[0].role", "supervisor"),
    ('role = "administrator"', 'role = "system"', 9, "person[1].role", None),
    ('id = "adm-1"', 'id = "adm 1"', 8, "person[1].id", None),
    ('id = "adm-1"', 'id = "meterd"', 8, "person[1].id", None),
    ('id = "adm-1"', 'name = "adm-1"', 8, "person[1].name", None),
    ('badge = "26:0123ABC0"', 'bagde = "26:0123ABC0"', 4, "person[0].bagde", "badge"),
    ('badge = "26:0123ABC0"', "badge = 26", 4, "person[0].badge", None),
    ('badge = "26:0123ABC0"', 'badge = "26:0123ABC"', 4, "person[0].badge", None),
    ('badge = "26:0123ABC0"', 'badge = "026:0123ABC0"', 4, "person[0].badge", None),
    ('badge = "26:0123ABC0"', 'badge = "999:0123ABC0"', 4, "person[0].badge", None),
    ('badge = "37:0123abc4d8"', 'badge = "26:0123abc0"', 15, "person[2].badge", None),
]


@pytest.mark.parametrize(("old", "new", "line", "key", "nearest"), PLANTED)
def test_a_finding_names_line_key_and_the_nearest_name(
    old: str, new: str, line: int, key: str, nearest: str | None
) -> None:
    """What a person has to repair, and where."""
    found = [(each.line, each.key, each.nearest) for each in _findings(_page(old, new))]
    assert (line, key, nearest) in found


@pytest.mark.parametrize("other", ["sup-1", "SUP-1", "Sup-1"])
def test_two_ids_that_differ_in_case_are_one_person(other: str) -> None:
    """A badge and a keyboard differ in the case of letters: nobody may be two people by it."""
    (finding,) = _findings(_page('id = "adm-1"', f'id = "{other}"'))
    assert (8, "person[1].id") == (finding.line, finding.key)
    assert "in line 2 already" in finding.message


@pytest.mark.parametrize(
    "wrong",
    [
        "4711",
        '"4711"',
        '["4711"]',
        '"$argon2i$v=19$m=65536,t=3,p=4$c29tZXNhbHQxMjM$' + "A" * 43 + '"',
        '"' + HASH.replace("t=3", "t=4711") + '"',
        '"' + HASH.replace("m=65536", "m=4711") + 'A A"',
        '"' + HASH.replace("m=65536", "m=16") + '"',
    ],
)
def test_only_an_argon2id_hash_of_bounded_cost_is_taken_and_never_repeated(wrong: str) -> None:
    """A PIN in clear is refused with the command that makes a hash; the message must not show the PIN."""
    (finding,) = _findings(_page(f'pin_hash = "{HASH}"', f"pin_hash = {wrong}"))
    assert (5, "person[0].pin_hash") == (finding.line, finding.key)
    assert "meterd person pin" in finding.message
    assert "4711" not in str(finding)


def test_a_pin_under_its_own_name_is_refused_with_the_command_that_makes_a_hash() -> None:
    """``pin = "4711"`` is what people write first."""
    (finding,) = _findings(_page(f'pin_hash = "{HASH}"', 'pin = "4711"'))
    assert (5, "person[0].pin") == (finding.line, finding.key)
    assert "meterd person pin" in finding.message
    assert "4711" not in str(finding)


def test_all_findings_come_at_once_in_order_of_lines() -> None:
    """One run of the check tells everything there is to repair."""
    text = PAGE.replace("supervisor", "supervizor").replace("adm-1", "SUP-1").replace("37:", "38.")
    assert [3, 8, 15] == [finding.line for finding in _findings(text)]


@pytest.mark.parametrize("text", ["", "[[person]\n", "person = 1\n", "[[persons]]\n", "person = []\n", "person = [1]"])
def test_what_is_no_people_file_is_a_finding(text: str) -> None:
    """Never a traceback."""
    assert _findings(text)


def test_somebody_whom_nothing_proves_is_a_warning() -> None:
    """Such a person can stand in the file, and act nowhere."""
    people = load_people(_page('badge = "37:0123abc4d8"\n', ""), "people.toml")
    assert [12] == [warning.line for warning in people.warnings]
