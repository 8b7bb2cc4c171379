"""The README's way to a real floor: its steps, the units and the users name the same things."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _steps() -> list[str]:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## A real floor")[1].split("\n## ")[0]
    blocks = re.findall(r"^   ```\n(.*?)^   ```", section, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [command for line in lines for command in line.split(" && ")]


def _unit(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (ROOT / "systemd" / name).read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_every_file_that_is_installed_is_there() -> None:
    """Whatever a step takes from the clone exists in it, and each unit is installed."""
    words = [word for step in _steps() for word in shlex.split(step) if word.startswith(("systemd/", "docs"))]
    assert {"systemd/meterd.service", "systemd/meterd-web.service", "systemd/meterd.sysusers"} <= set(words)
    assert [] == [word for word in words if not (ROOT / word).exists()]


def test_steps_and_units_name_the_same_program_and_files() -> None:
    """The environment made, the site file and the ledger's folder are those that the units run with."""
    steps = "\n".join(_steps())
    daemon, pages, games = (_unit(f"{name}.service") for name in ("meterd", "meterd-web", "meterd-sas"))
    assert "python3 -m venv /opt/meterd\n" in steps
    for command in (*daemon["ExecStart"], *daemon["ExecStopPost"], *pages["ExecStart"], *games["ExecStart"]):
        assert command.startswith("/opt/meterd/bin/meterd ")
        assert "--config /etc/meterd/site.toml" in command
    assert ["meterd"] == daemon["StateDirectory"]  # /var/lib/meterd; the ledger lies below it
    assert "ledger create /var/lib/meterd/ledger --config /etc/meterd/site.toml" in steps
    assert ["file:///usr/share/doc/meterd/README.md"] == daemon["Documentation"] == pages["Documentation"]
    assert "cp -r README.md docs schema /usr/share/doc/meterd/" in steps


def test_the_ledger_is_made_by_the_user_that_writes_it() -> None:
    """Not by root: the daemon could not open it."""
    lines = [line.split() for line in (ROOT / "systemd" / "meterd.sysusers").read_text().splitlines()]
    users = [words[1] for words in lines if words[:1] == ["u"]]
    assert ["meterd", "meterd-web", "meterd-sas"] == users
    assert [["m", "meterd", "meterd-sas"]] == [words for words in lines if words[:1] == ["m"]]  # reads its frames
    assert (["0750"], ["0027"]) == tuple(_unit("meterd-sas.service")[key] for key in ("StateDirectoryMode", "UMask"))
    assert [[user] for user in users] == [_unit(f"{user}.service")["User"] for user in users]
    ledger = [step for step in _steps() if "meterd ledger" in step]
    assert ledger
    assert all(step.startswith("sudo -u meterd /opt/meterd/bin/meterd ledger") for step in ledger)
    owner = next(step for step in _steps() if step.endswith(" /var/lib/meterd"))
    assert f"-m {_unit('meterd.service')['StateDirectoryMode'][0].lstrip('0')}" in owner
    assert "-o meterd -g meterd" in owner
