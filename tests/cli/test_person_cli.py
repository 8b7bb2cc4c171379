"""``meterd person``: hashes that a people file takes, and findings with line and key; nothing shows a PIN."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
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


#: Makes the terminal it is given its own, as a login does: PINs are asked for on that.
LOGIN = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from meterd.cli.main import main; main()"


def at_a_terminal(*words: str, typed: list[tuple[str, str]]) -> tuple[int, str]:
    """Exit code of ``meterd`` at a terminal, and all that could be seen there. ``typed``: prompt → what is typed."""
    terminal, its_end = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-c", LOGIN, *words], stdin=its_end, stdout=its_end, stderr=its_end, start_new_session=True
    )
    os.close(its_end)
    seen = b""
    with contextlib.suppress(OSError):  # Linux says so where the other end has closed
        for prompt, answer in [*typed, ("\0", "")]:
            while not seen.endswith(prompt.encode()) and select.select([terminal], [], [], 20.0)[0]:
                seen += os.read(terminal, 4096)
            os.write(terminal, answer.encode() + b"\n")
    code = program.wait(20)
    os.close(terminal)
    return code, seen.decode()


def test_at_a_terminal_the_pin_is_asked_twice_and_never_seen() -> None:
    """And another answer the second time is asked for again."""
    typed = [("PIN: ", "271828"), ("again: ", "271829"), ("PIN: ", "271828"), ("again: ", "271828")]
    code, seen = at_a_terminal("person", "pin", typed=typed)
    assert 0 == code, seen
    assert "pin_hash = " in seen
    assert "27182" not in seen


def test_an_act_asks_for_the_pin_of_each_person_without_showing_it(tmp_path: Path) -> None:
    """Then it looks for the daemon; here is none."""
    words = ("act", "confirm A1", "--by", "sup-1", "--and", "adm-1", "--socket", str(tmp_path / "none.sock"))
    code, seen = at_a_terminal(*words, typed=[("PIN of sup-1: ", "271828"), ("PIN of adm-1: ", "314159")])
    assert (2, True) == (code, "no daemon answers" in seen), seen
    assert not [pin for pin in ("271828", "314159") if pin in seen]
