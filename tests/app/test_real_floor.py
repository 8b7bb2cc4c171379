"""The README's way to a real floor: its steps, the units and the users name the same things."""

from __future__ import annotations

import os
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
    assert "cp -r README.md docs schema systemd /usr/share/doc/meterd/" in steps
    assert "install -D -m 644 -t /usr/share/doc/meterd/protocols protocols/*.md" in steps
    assert "ln -s /opt/meterd/bin/meterd /usr/local/bin/" in steps


LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
INSTALLED = ("README.md", "docs/", "schema", "systemd", "protocols/")


def _pages() -> list[Path]:
    named = ("docs/*.md", "schema/**/*.md", "protocols/*.md")
    return [ROOT / "README.md", *(path for pattern in named for path in sorted(ROOT.glob(pattern)))]


def _links(page: Path) -> set[str]:
    """Where a page leads, from the root of the clone; not to other machines."""
    found = (match.group(1) for match in LINK.finditer(page.read_text(encoding="utf-8")))
    leads = {os.path.normpath(page.parent / path) for path in found if path and "://" not in path}
    return {str(Path(path).relative_to(ROOT)) for path in leads}


def test_every_page_is_found_from_the_first() -> None:
    """And each link leads somewhere, also where only these pages were installed."""
    for page in _pages():
        links = _links(page)
        assert set() == {path for path in links if not (ROOT / path).exists()}, page
        assert set() == {path for path in links if not path.startswith(INSTALLED)}, page
    reached, waiting = set[str](), {"README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= {path for path in _links(ROOT / page) if path.endswith(".md")} - reached
    assert reached == {str(page.relative_to(ROOT)) for page in _pages()}


def _anchors(page: Path) -> set[str]:
    """The headings of a page as a link names them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_heading_that_a_link_names_is_there() -> None:
    """A renamed heading is found."""
    for page in _pages():
        for path, heading in LINK.findall(page.read_text(encoding="utf-8")):
            if heading and "://" not in path:
                assert heading[1:] in _anchors(page.parent / path if path else page), f"{page}: {path}{heading}"


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
    assert all(step.startswith("sudo -u meterd meterd ledger") for step in ledger)
    owner = next(step for step in _steps() if step.endswith(" /var/lib/meterd"))
    assert f"-m {_unit('meterd.service')['StateDirectoryMode'][0].lstrip('0')}" in owner
    assert "-o meterd -g meterd" in owner
