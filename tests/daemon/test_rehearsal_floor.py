"""A rehearsal of the example site, run by the commands that ``meterd sim prepare`` prints: its floor plays on."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from floor_rig import Log

from meterd.app.verify import verify
from meterd.config import load_people
from meterd.edge.store import read_records

SAMPLE = Path(__file__).parents[2] / "docs" / "site.example.toml"
LIMIT_S = 60.0  # two cores play a whole floor
LOOK_S = 0.05
LUCKY = {"lucky": 1.0, "late": 0.05, "take_back": 0.0, "mistype": 0.1, "void_seat": 0.0, "void_round": 0.0}


class Rehearsal:
    """The folder, the printed commands, and the programs that were started by them."""

    def __init__(self, folder: Path, site: Path = SAMPLE) -> None:
        prepare = [sys.executable, "-m", "meterd", "sim", "prepare", "--config", str(site), str(folder)]
        out = subprocess.run(prepare, check=True, capture_output=True, text=True).stdout
        self.folder = folder
        self.commands = [shlex.split(line) for line in out.splitlines() if not line.startswith("#")]
        self.children: dict[str, subprocess.Popen[bytes]] = {}

    def said(self, verb: str) -> list[str]:
        """The printed command of a verb, without the program's name."""
        return next(words[1:] for words in self.commands if words[1] == verb)

    def start(self, verb: str, *more: str) -> None:
        """Start the printed command; its output goes to a log named after it."""
        with (self.folder / f"{verb}.log").open("wb") as out:
            self.children[verb] = subprocess.Popen(
                [sys.executable, "-m", "meterd", *self.said(verb), *more],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def ask(self, verb: str) -> subprocess.CompletedProcess[str]:
        """Run the printed command to its end."""
        words = [sys.executable, "-m", "meterd", *self.said(verb)]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)

    def until(self, true: Any, what: str) -> None:
        """Wait for a named event."""
        end_s = time.monotonic() + LIMIT_S
        while not true():
            for verb, child in self.children.items():
                assert child.poll() is None, f"{verb} ended: {(self.folder / f'{verb}.log').read_text()[-1000:]}"
            assert time.monotonic() < end_s, what
            time.sleep(LOOK_S)

    def end(self, verb: str) -> dict[str, Any]:
        """SIGTERM; the last line it printed."""
        child = self.children.pop(verb)
        child.send_signal(signal.SIGTERM)
        assert 0 == child.wait(LIMIT_S)
        last: dict[str, Any] = {}
        for line in (self.folder / f"{verb}.log").read_text().splitlines():
            with contextlib.suppress(ValueError):
                last = json.loads(line)
        return last


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path / "r")
    yield made
    for child in made.children.values():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def test_the_example_site_never_jams(rehearsal: Rehearsal) -> None:
    """At every table an award is proved by its cards at the pit and the round ends: the next one is played.

    Each deck is stacked for a high hand, so that awards beyond what a pad takes come in every round.
    """
    plan_file = rehearsal.folder / "plan.json"
    plan = json.loads(plan_file.read_text())
    plan_file.write_text(json.dumps({**plan, "habits": LUCKY}))
    log = Log(rehearsal.folder / "sim.jsonl")
    rehearsal.start("sim", "--log", str(log.path), "--speed", "20", "--seed", "20261130")
    rehearsal.until((rehearsal.folder / "ports" / "sign-1").is_symlink, "the ports")
    rehearsal.start("run")

    def ended_after_the_pit() -> set[str]:
        proved, ended = set(), set()
        for event in log.read():
            if event.get("what") == "pit" and event["answer"] == "OK":
                proved.add(event["table"])
            elif event.get("what") == "end_game" and event["table"] in proved:
                ended.add(event["table"])
        return ended

    rehearsal.until(lambda: {table["id"] for table in plan["tables"]} <= ended_after_the_pit(), "a round at each table")
    rehearsal.end("run")
    summary = rehearsal.end("sim")
    records = list(read_records(rehearsal.folder / "ledger"))
    bodies = [(record, json.loads(record.body)) for record in records]
    by_cards = [record for record, body in bodies if record.kind == "Confirmed" and "cards" in body]
    assert {"rehearsal-sup-1"} == {record.actor for record in by_cards}
    assert len(by_cards) >= len(plan["tables"])
    asked = [body for record, body in bodies if record.kind == "Refused" and "CARDS" in body["refusal"]]
    at_the_pit = [event for event in log.read() if event.get("what") == "pit"]
    assert len(asked) <= len(at_the_pit) + len(plan["tables"])  # somebody may be on the way there
    confirmed = sum(record.kind == "Confirmed" for record in records)
    assert summary["confirmed"] <= confirmed <= summary["claims"]
    assert verify(rehearsal.folder / "ledger").ok


def test_every_printed_command_works(rehearsal: Rehearsal) -> None:
    """Pages, figures, ports and an act, each as it was printed; the people are a rehearsal's, and so is the ledger."""
    folder = rehearsal.folder
    people = load_people((folder / "people.toml").read_text(), "people.toml").persons
    assert all(person.id.startswith("rehearsal-") for person in people)
    assert "REHEARSAL" in (folder / "people.toml").read_text().splitlines()[0]
    secret = [folder / "people.toml", folder / "plan.json", *(folder / "pins").iterdir()]
    assert {0o600} == {path.stat().st_mode & 0o777 for path in secret}
    rehearsal.start("sim")
    rehearsal.until((folder / "ports" / "sign-1").is_symlink, "the ports")
    rehearsal.start("run")
    rehearsal.until((folder / "control.sock").exists, "the control socket")
    figures = rehearsal.ask("meters")
    assert (0, True, True) == (figures.returncode, "DEMO" in figures.stderr, "mega" in figures.stdout)
    assert "there, up" in rehearsal.ask("ports").stdout
    held = rehearsal.ask("act")
    assert (2, True) == (held.returncode, "AWARD_UNKNOWN" in held.stderr), held.stderr  # the PIN was right
    web = rehearsal.said("web")
    assert ["--listen", "127.0.0.1", "--port", "9478"] == web[-4:]  # beside the real pages
    with socket.create_server(("127.0.0.1", 0)) as free:
        web[-1] = str(free.getsockname()[1])
    rehearsal.commands = [["meterd", *web]]
    rehearsal.start("web")
    rehearsal.until(lambda: page(int(web[-1])), "a page")


def page(port: int) -> bool:
    """Whether a page is served there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
