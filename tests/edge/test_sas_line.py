"""One SAS line with its thread: a port that comes and goes, a daemon that does not answer, a game nobody can read."""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from meterd.app.demo_floor import site_text
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.sas import SasLine
from meterd.edge.sas_memory import Memory
from meterd.edge.sas_values import Newest
from meterd.sim.plan import GamePlan
from meterd.sim.sas import SasGame
from meterd.sim.sas import SasLine as SimLine
from protocols.sas_host import Host

LIMIT_S = 20.0
SAS = """
[[bus]]
id = "sas-1"
kind = "sas"
port = "{port}"
baud = 19200

[[sas]]
bus = "sas-1"
group = 3
levels = ["nexus-1/mega", "nexus-1/major"]
games = [{{ address = 1 }}]
parity = "none-for-rehearsal"
"""


class Cable:
    """A game behind a pseudo-terminal that can be pulled and put back."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.game = SasGame(GamePlan(1, 3, (1, 2)))
        self.line = SimLine([self.game])
        self._master: int | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def plug(self) -> None:
        master, slave = os.openpty()
        tty.setraw(slave)
        self.link.symlink_to(os.ttyname(slave))
        with self._lock:
            self._master = master
        self._slave = slave

    def unplug(self) -> None:
        self.link.unlink()
        with self._lock:
            master, self._master = self._master, None
        assert master is not None
        os.close(master)
        os.close(self._slave)

    def end(self) -> None:
        self._stop.set()
        self._thread.join()
        if self._master is not None:
            self.unplug()

    def _serve(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                if self._master is not None and select.select([self._master], [], [], 0.005)[0]:
                    with contextlib.suppress(OSError):
                        answer = self.line.serve(os.read(self._master, 4096), time.monotonic())
                        os.write(self._master, answer)
            self._stop.wait(0.002)


class Stage:
    """The line's thread, figures by hand, and a daemon that answers what the test says."""

    def __init__(self, folder: Path, more: str = "") -> None:
        self.cable = Cable(folder / "port")
        text = site_text(Path("/nonexistent"), 100, 9477) + SAS.format(port=folder / "port") + more
        self.site: Site = load_site(text, "site.toml", catalogue())
        self.snapshot: dict[str, Any] = {
            "seq": 5,
            "demo": True,
            "sas": {},
            "links": {
                "nexus-1": {
                    "suspended": None,
                    "levels": {
                        "mega": {"display_cents": 700, "seed_cents": 5, "hits": 0},
                        "major": {"display_cents": 300, "seed_cents": 5, "hits": 0},
                    },
                }
            },
            "tables": {"T": {"link": "nexus-1", "state": "OPEN"}},
        }
        self.asked: list[dict[str, Any]] = []
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: {"seq": 6, "award": "A1", "refused": None}
        self.folder = folder
        self.line = self.new_line()

    def new_line(self) -> SasLine:
        return SasLine(self.site, self.site.sas[0], self, self.ask, self.folder / "m.json")  # type: ignore[arg-type]

    @property
    def newest(self) -> Newest:
        return Newest(self.snapshot, time.monotonic())

    def first(self, _timeout_s: float) -> Newest:
        return self.newest

    def ask(self, request: dict[str, Any], _limit_s: float) -> dict[str, Any]:
        if request["op"] == "sas_status":
            return {}
        self.asked.append(request)
        return self.answer(request)

    def until(self, true: Callable[[], object], what: str) -> None:
        by_s = time.monotonic() + LIMIT_S
        while not true():
            assert time.monotonic() < by_s, f"{what}: {self.line.status()} {self.cable.line.counts}"
            time.sleep(0.01)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.line.stop()
    if made.line.ident is not None:
        made.line.join(LIMIT_S)
    made.cable.end()


def test_a_port_that_comes_and_goes(stage: Stage) -> None:
    """Absent at the start, pulled, put back: served whenever it is there, and the game is told the figures."""
    stage.line.start()
    stage.until(lambda: "port_losses" in stage.line.status()["counts"], "a status")
    assert not stage.line.up
    for losses in (0, 1):
        stage.cable.game.amounts.clear()
        stage.cable.plug()
        stage.until(lambda: stage.cable.game.amounts == {1: 700, 2: 300}, "figures")
        assert (True, losses) == (stage.line.up, stage.line.counts["port_losses"])
        stage.cable.unplug()
        stage.until(lambda: not stage.line.up, "the loss")
    stage.line.stop()
    stage.line.join(LIMIT_S)
    assert stage.line.refusal is None


def test_a_win_of_a_level_that_the_line_does_not_have_calls_somebody(stage: Stage) -> None:
    """A game whose level is set wrongly: the win is in the ledger, no award comes of it, and that is said at once."""
    stage.answer = lambda _: {"seq": 6, "award": None, "refused": None}
    stage.cable.plug()
    with capture_logs() as logs:
        stage.line.start()
        stage.until(lambda: stage.cable.game.amounts, "figures")
        stage.cable.game.hit(9, time.monotonic())
        stage.until(lambda: not stage.cable.game.wins, "the win let go")
        stage.line.stop()
        stage.line.join(LIMIT_S)
    (alarm,) = [line for line in logs if line["event"] == "sas.win_without_award"]
    assert ("critical", 1, 9) == (alarm["log_level"], alarm["address"], alarm["level"])
    assert "look at the group and level that are set in the game" in alarm["advice"]


def test_a_win_is_asked_of_the_daemon_until_it_is_written(stage: Stage) -> None:
    """No daemon, an error, an answer at last: the same identity each time, and the game keeps its win meanwhile."""
    answers: list[Any] = [OSError("nobody"), {"error": "full"}, {"seq": 6, "award": "A1", "refused": None}]

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        found = answers[0] if len(answers) == 1 else answers.pop(0)
        assert stage.cable.game.wins
        if isinstance(found, OSError):
            raise found
        return dict(found)

    stage.answer = answer
    stage.cable.plug()
    stage.line.start()
    stage.until(lambda: stage.cable.game.amounts, "figures")
    stage.cable.game.hit(1, time.monotonic())
    stage.until(lambda: not stage.cable.game.wins, "the win let go")
    assert 3 == len(stage.asked)
    assert 1 == len({(one["epoch"], one["count"]) for one in stage.asked})
    assert (1, 700, 3, True) == tuple(stage.asked[0][key] for key in ("level", "amount_cents", "group", "said"))
    before = stage.cable.line.counts["MultiLevel"]
    stage.until(lambda: stage.cable.line.counts["MultiLevel"] > before + 3, "broadcasts")
    assert [] == stage.cable.game.resets or stage.cable.game.resets[0][0] != 1
    stage.snapshot["seq"] = 6
    stage.snapshot["links"]["nexus-1"]["levels"]["mega"] = {"display_cents": 5, "seed_cents": 5, "hits": 1}
    stage.until(lambda: (1, 5) in stage.cable.game.resets, "the reset figure")


def test_a_restart_finishes_what_was_open(stage: Stage) -> None:
    """A win that was numbered and not written is asked for by the next process, under the same number."""
    stage.answer = lambda _: {"error": "not now"}
    stage.cable.plug()
    stage.line.start()
    stage.until(lambda: stage.cable.game.amounts, "figures")
    stage.cable.game.hit(2, time.monotonic())
    stage.until(lambda: stage.asked, "a question")
    stage.line.stop()
    stage.line.join(LIMIT_S)
    first = stage.asked[0]
    stage.asked.clear()
    stage.answer = lambda _: {"seq": 6, "award": None, "refused": None}
    stage.line = stage.new_line()
    stage.line.start()
    stage.until(lambda: not stage.cable.game.wins, "the win let go")
    assert [(first["epoch"], first["count"])] == [(one["epoch"], one["count"]) for one in stage.asked]
    assert not stage.asked[0]["said"]  # another process had said it: nobody knows that here


def test_a_win_that_nobody_can_read_is_told_without_an_amount(stage: Stage) -> None:
    """Three seconds of wrong checks: the line goes on, and the ledger says that somebody has to look."""
    stage.cable.plug()
    stage.line.start()
    stage.until(lambda: stage.cable.game.amounts, "figures")
    stage.cable.game.wrong_check = 1000
    stage.cable.game.hit(1, time.monotonic())
    stage.until(lambda: stage.asked, "a note")
    assert (None, None) == (stage.asked[0]["level"], stage.asked[0]["amount_cents"])
    before = stage.cable.line.counts["MultiLevel"]
    stage.until(lambda: stage.cable.line.counts["MultiLevel"] > before, "figures again")


def test_a_state_that_cannot_be_kept_acknowledges_nothing(stage: Stage) -> None:
    """Without a number on our own disk no game is asked for its wins."""
    (stage.folder / "m.json").mkdir()
    stage.cable.plug()
    stage.cable.game.amounts[1] = 700
    stage.cable.game.hit(1, time.monotonic())
    stage.line.start()
    stage.until(lambda: stage.cable.line.counts["MultiLevel"] > 5, "figures")
    assert (1, []) == (len(stage.cable.game.wins), stage.asked)


def remembered(stage: Stage) -> dict[str, Any]:
    return dict(json.loads((stage.folder / "m.json").read_text("utf-8")))


def test_a_win_that_a_crash_may_have_lost_is_in_the_ledger_first(stage: Stage) -> None:
    """Asked for wins before the crash, silent after it: an entry and an alarm before anything else is said; once."""
    memory = Memory.load(stage.folder / "m.json", {})
    memory.ask(1)
    stage.cable.game.mute = True
    said: list[int] = []
    heard = stage.cable.line.counts

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        said.append(heard["MultiLevel"] + heard["GeneralPoll"])
        return {"seq": 6, "award": None, "refused": None}

    stage.answer = answer
    stage.cable.plug()
    with capture_logs() as logs:
        stage.line.start()
        stage.until(lambda: heard["MultiLevel"] > 5, "figures")
        stage.line.stop()
        stage.line.join(LIMIT_S)
    assert [(None, None, b"lost 1".hex())] == [(one["level"], one["amount_cents"], one["raw"]) for one in stage.asked]
    assert [0] == said
    (alarm,) = [line for line in logs if line["event"] == "sas.win_may_be_lost"]
    assert ("critical", 1) == (alarm["log_level"], alarm["address"])
    assert remembered(stage)["asking"] is None, "told once"


def test_an_ordinary_end_leaves_no_doubt(stage: Stage) -> None:
    """All that was asked for was read: a game that is silent at the next start is off, and nothing more."""
    stage.cable.plug()
    stage.line.start()
    stage.until(lambda: stage.cable.game.amounts, "figures")
    stage.cable.game.hit(2, time.monotonic())
    stage.until(lambda: not stage.cable.game.wins, "the win let go")
    stage.line.stop()
    stage.line.join(LIMIT_S)
    assert remembered(stage)["asking"] is None
    stage.cable.game.mute = True
    before = stage.cable.line.counts["MultiLevel"]
    stage.line = stage.new_line()
    stage.line.start()
    stage.until(lambda: stage.cable.line.counts["MultiLevel"] > before + 12, "figures")
    assert 1 == len(stage.asked)


def test_a_list_that_is_made_anew_while_we_are_away_is_no_second_win(tmp_path: Path) -> None:
    """Poll 87: [A] is in the ledger, and before the word that lets it go the game says [A, B]: only B is new."""
    stage = Stage(tmp_path, 'win_poll = "87"\n')
    try:
        game = stage.cable.game
        game.anew = True
        stage.answer = lambda _: {"error": "not now"}
        stage.cable.plug()
        stage.line.start()
        stage.until(lambda: len(game.amounts) == 2, "figures")
        game.hit(2, time.monotonic())
        stage.until(lambda: stage.asked, "a question")
        stage.line.stop()
        stage.line.join(LIMIT_S)
        game.hit(1, time.monotonic())
        assert 2 == len(game.wins)
        assert game._addressed_s is not None
        game._addressed_s -= 10  # as long as it was not spoken to
        stage.answer = lambda _: {"seq": 6, "award": None, "refused": None}
        stage.line = stage.new_line()
        stage.line.start()
        stage.until(lambda: not game.wins, "both let go")
    finally:
        stage.line.stop()
        stage.line.join(LIMIT_S)
        stage.cable.end()
    told = {(one["epoch"], one["count"]): (one["level"], one["amount_cents"]) for one in stage.asked}
    assert [(2, 300), (1, 700)] == list(told.values())


def test_a_disk_that_is_full_for_a_while(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The game is asked again until its win could be numbered, and only then is the daemon."""
    told, full = Memory.told, [OSError("full")] * 3

    def maybe(self: Memory, *args: Any) -> Any:
        if full:
            assert stage.cable.game.wins
            raise full.pop()
        return told(self, *args)

    monkeypatch.setattr(Memory, "told", maybe)
    stage.cable.plug()
    stage.line.start()
    stage.until(lambda: stage.cable.game.amounts, "figures")
    stage.cable.game.hit(1, time.monotonic())
    stage.until(lambda: not stage.cable.game.wins, "the win let go")
    assert (1, []) == (len(stage.asked), full)


def test_garbage_on_the_line_is_counted_and_nothing_else(stage: Stage) -> None:
    """Any bytes in place of answers, at any time: figures go on, no win is made of them, nothing ends."""
    chance = Random(7)
    stage.cable.plug()
    stage.cable.line.serve = lambda _data, _at: chance.randbytes(chance.randrange(40))  # type: ignore[method-assign]
    said: list[dict[int, int]] = []
    note = stage.line._said.note
    stage.line._said.note = lambda figures: (said.append(dict(figures)), note(figures))[1]  # type: ignore[assignment]
    stage.line.start()
    stage.until(lambda: len(said) > 12, "figures")
    assert {1: 700, 2: 300} == said[-1]
    assert (True, 0, None) == (stage.line.up, stage.line.counts["port_losses"], stage.line.refusal)
    assert [] == [one for one in stage.asked if one["level"] is not None]


def test_a_fault_of_the_program_is_a_lost_port(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logged whole; the line begins again."""
    step, faults = Host.step, [ZeroDivisionError("a bug")]

    def faulty(self: Host, *args: Any) -> Any:
        if faults and self.said_ms:
            raise faults.pop()
        return step(self, *args)

    monkeypatch.setattr(Host, "step", faulty)
    stage.cable.plug()
    stage.line.start()
    stage.until(lambda: stage.line.counts["port_losses"] == 1 and stage.line.up, "up again")
    stage.until(lambda: stage.line.status()["games"]["1"], "the game")
