"""``meterd sas`` between the daemon and simulated games: figures, wins on disk first, silence when in doubt."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest
from floor_rig import Child, Floor, TableSpec, named, site_text

from meterd.app.verify import verify
from meterd.sim.plan import GamePlan
from meterd.sim.sas import SasGame, SasLine

TABLE = TableSpec("LIR-1", "let-it-ride", "nexus-1", 7, "pit-1", "keys-1")
CALM = {"lucky": 0.0, "late": 0.0, "take_back": 0.0, "mistype": 0.0, "void_seat": 0.0, "void_round": 0.0, "busy": 1.0}
SEATED = '{ address = 1, table = "LIR-1", seat = 3 }'


class Games:
    """Games at the far end of a line, in this process, so that a test decides when somebody wins."""

    def __init__(self, port: Path) -> None:
        self.game = SasGame(GamePlan(1, 3, (1, 2)))
        self.line = SasLine([self.game])
        self.lock = threading.Lock()
        self._fd = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._fd)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        os.close(self._fd)

    def hit(self, level: int) -> int:
        with self.lock:
            return self.game.hit(level, time.monotonic())

    def _serve(self) -> None:
        while not self._stop.is_set():
            ready, _, _ = select.select([self._fd], [], [], 0.05)
            with self.lock:
                answer = self.line.watch(time.monotonic())
                if ready:
                    answer += self.line.serve(os.read(self._fd, 4096), time.monotonic())
            if answer:
                os.write(self._fd, answer)


class Play:
    """A floor, its daemon, ``meterd sas`` and a game."""

    def __init__(self, floor: Floor, games: Games, stack: ExitStack) -> None:
        self.floor, self.games, self.game = floor, stack.enter_context(games), games.game
        self.run = floor.start_run()
        self.sas = self.start_sas()

    def start_sas(self) -> Child:
        floor = self.floor
        places = ("--config", str(floor.site_file), "--socket", str(floor.socket), "--state", str(floor.folder / "sas"))
        return floor.spawn("sas", sys.executable, "-m", "meterd", "sas", *places)

    def until(self, true: Callable[[], object], what: str) -> None:
        self.floor.until(true, f"{what}; the game knows {self.game.amounts}", self.run, self.sas)

    def display(self, level: str = "mega") -> int:
        return int(self.floor.snapshot()["links"]["nexus-1"]["levels"][level]["display_cents"])

    def wins(self) -> list[dict[str, Any]]:
        return [json.loads(record.body) for record in self.floor.of_kind("GameWin")]

    def until_locked(self, seat: int) -> None:
        def locked() -> bool:
            table = self.floor.snapshot()["tables"]["LIR-1"]
            return table["state"] == "LOCKED" and seat in table["accepted"]

        self.until(locked, f"a round with seat {seat}")


def with_sas(ports: Path, game: str) -> str:
    """A table, and a SAS line with two levels of its link."""
    return site_text(ports, (TABLE,), signs=False, levels_ms=100) + (
        f'[[bus]]\nid = "sas-1"\nkind = "sas"\nport = "{ports / "sas-1"}"\nbaud = 19200\n'
        '[[sas]]\nbus = "sas-1"\ngroup = 3\nlevels = ["nexus-1/mega", "nexus-1/major"]\n'
        f'games = [{game}]\nparity = "none-for-rehearsal"\n'
    )


@pytest.fixture
def make_play(make_floor: Callable[..., Floor], tmp_path: Path) -> Iterator[Callable[..., Play]]:
    """Plays a floor with a SAS line; people deal and bet."""
    with ExitStack() as stack:

        def make(game: str = "{ address = 1 }", speed: float = 20) -> Play:
            site = with_sas(tmp_path / "floor" / "ports", game)
            floor = make_floor(site=site, habits=CALM, speed=speed)
            for bus in floor.plan["buses"]:
                if bus["kind"] == "sas":
                    bus["device_port"] = f"{bus['port']}-device"
            floor.start_sim()
            return Play(floor, Games(floor.ports / "sas-1-device"), stack)

        yield make


def test_games_follow_the_meters_and_never_show_more(make_play: Callable[..., Play]) -> None:
    """What a game is told is a committed figure; the line goes quiet when the daemon is gone, and comes back."""
    play = make_play()
    play.until(lambda: play.game.amounts.get(1, 0) > 5_000_000, "a meter that moves")
    assert play.game.amounts[1] <= play.display()
    assert {1, 2} == set(play.game.amounts)
    os.kill(play.run.process.pid, signal.SIGKILL)
    play.run.wait()
    play.floor.until(lambda: 0x53 in play.game._exceptions or play.game._lapsed, "exception 53", play.sas)
    before = dict(play.game.amounts)
    play.run = play.floor.start_run()
    play.until(lambda: play.game.amounts[1] > before[1], "figures again")
    assert play.floor.end(play.sas) == 0
    assert play.floor.end(play.run) == 0


def test_a_win_is_claimed_at_its_seat_and_the_level_starts_again(make_play: Callable[..., Play]) -> None:
    """A game that is a seat of a table: its win is a pending award, and the first figure after it the reset one."""
    play = make_play(SEATED, speed=0.3)
    play.until(lambda: play.game.amounts.get(1, 0) >= 5_000_000, "figures")
    play.until_locked(3)
    told = play.games.hit(1)
    play.until(lambda: play.game.resets, "a reset")
    (win,) = play.wins()
    assert ("nexus-1", "mega", told, True) == (win["link"], win["level"], win["amount_cents"], win["said"])
    award = play.floor.snapshot()["awards"][0]
    assert ("LIR-1", 3, "royal-flush", "pending") == (award["table"], award["seat"], award["hand"], award["status"])
    assert award["amount_cents"] >= told
    (level, first) = play.game.resets[0]
    assert (1, True) == (level, first < award["amount_cents"])
    assert first <= play.display()
    assert verify(play.floor.ledger).ok


def test_a_win_without_a_seat_is_noted_and_its_level_is_not_said(make_play: Callable[..., Play]) -> None:
    """Nobody is shown a jackpot that is won: the level is silent, the other one goes on, somebody is told."""
    play = make_play()
    play.until(lambda: play.game.amounts.get(1, 0) > 5_000_000, "figures")
    told = play.games.hit(1)
    play.until(lambda: not play.game.wins and play.wins(), "the win in the ledger and let go")
    (win,) = play.wins()
    assert (told, None) == (win["amount_cents"], play.floor.snapshot()["awards"] or None)
    play.until(lambda: named(play.sas.log.read(), "sas.win_without_award"), "an alarm")
    major = play.game.amounts[2]
    play.until(lambda: play.game.amounts[2] > major and 1 in play.game._lapsed, "level 2 alone")
    assert play.game.amounts[1] == told or play.game.amounts[1] <= play.display()


def test_the_pack_of_a_round_has_what_passed_on_the_line_of_games(make_play: Callable[..., Play]) -> None:
    """A process of its own keeps its frames beside the daemon's; the pack takes both, and the win is among them."""
    play = make_play(SEATED, speed=0.3)
    play.until(lambda: play.game.amounts.get(1, 0) >= 5_000_000, "figures")
    play.until_locked(3)
    play.games.hit(1)
    play.until(lambda: play.game.resets, "a reset")
    (win,) = play.wins()
    number = play.floor.snapshot()["tables"]["LIR-1"]["round"]
    assert play.floor.end(play.sas) == 0
    assert play.floor.end(play.run) == 0
    folder, out = play.floor.folder, play.floor.folder / "round.json"
    kept = [folder / "ledger" / "frames", folder / "sas" / "frames"]
    words = ["dispute", str(play.floor.ledger), "LIR-1", str(number), "--out", str(out)]

    def pack(*frames: Path) -> tuple[str, list[dict[str, Any]]]:
        more = [word for each in frames for word in ("--frames", str(each))]
        done = subprocess.run(
            [sys.executable, "-m", "meterd", *words, *more], check=True, capture_output=True, text=True
        )
        return done.stderr, json.loads(out.read_text(encoding="utf-8"))["frames"]

    said, _ = pack()
    assert "no frame of sas-1" in said
    said, frames = pack(*kept)
    assert "no frame of" not in said
    assert {"pit-1", "sas-1"} <= {frame["line"] for frame in frames}
    assert frames == sorted(frames, key=lambda frame: frame["at_ns"])
    assert any(win["raw"] in frame["heard"] for frame in frames if frame["line"] == "sas-1")
    words += ["--line", "sas-2"]
    assert "no frame of sas-2 in" in pack(*kept)[0]


def test_a_win_that_may_be_lost_is_in_the_ledger_before_anything_is_said(make_play: Callable[..., Play]) -> None:
    """Died between the question and the number of its answer, away for more than 5 s: the game chirps and is deaf."""
    play = make_play()
    play.until(lambda: play.game.amounts.get(2, 0) > 500_000, "figures")
    play.until(lambda: play.games.line.counts["GeneralPoll"] > 5, "polls")
    assert play.floor.end(play.sas) == 0
    file = play.floor.folder / "sas" / "sas-1.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "asking": 1}), encoding="utf-8")
    with play.games.lock:
        assert play.game._addressed_s is not None
        play.game._addressed_s -= 10
    play.floor.until(lambda: not play.game._in_step, "a chirp", play.run)
    said = play.games.line.counts["MultiLevel"]
    play.sas = play.start_sas()
    play.until(lambda: play.games.line.counts["AskWins"] > 1 and play.wins(), "an entry")
    (win,) = play.wins()
    assert (None, None, b"lost 1".hex()) == (win["level"], win["amount_cents"], win["raw"])
    (alarm,) = named(play.sas.log.read(), "sas.win_may_be_lost")
    assert "claim what the ledger does not have" in alarm["advice"]
    play.until(lambda: play.games.line.counts["MultiLevel"] > said + 3 and play.game._in_step, "figures again")
    assert 1 == len(play.wins())
    assert verify(play.floor.ledger).ok


@pytest.mark.slow
def test_a_win_survives_a_kill_at_any_of_its_steps(make_play: Callable[..., Play]) -> None:
    """Kill -9 of ``meterd sas`` around a win, again and again: each hit is one entry in the ledger."""
    play = make_play()
    play.until(lambda: play.game.amounts.get(2, 0) > 500_000, "figures")
    chance = random.Random(5)
    for number in range(8):
        with play.games.lock:  # two wins alike around a crash cannot be told from one told twice
            play.game.amounts[2] = 500_000 + number
        play.games.hit(2)
        end = time.monotonic() + chance.uniform(0.0, 1.2)
        play.until(lambda: time.monotonic() > end or len(play.wins()) > number, "a moment")  # noqa: B023 - this round's
        os.kill(play.sas.process.pid, signal.SIGKILL)
        play.sas.wait()
        play.sas = play.start_sas()
        play.until(lambda: len(play.wins()) > number and not play.game.wins, f"win {number + 1}")  # noqa: B023
    assert [500_000 + number for number in range(8)] == [win["amount_cents"] for win in play.wins()]


def test_a_win_waits_for_a_daemon_that_is_away(make_play: Callable[..., Play]) -> None:
    """While nothing can be written the game keeps its win, and nothing else is said on the line."""
    play = make_play()
    play.until(lambda: play.game.amounts.get(2, 0) > 500_000, "figures")
    os.kill(play.run.process.pid, signal.SIGKILL)
    play.run.wait()
    told = play.games.hit(2)
    play.floor.until(lambda: named(play.sas.log.read(), "sas.win_not_on_disk"), "an alarm", play.sas)
    said = play.games.line.counts["MultiLevel"]
    again = play.games.line.counts["AskWins"]
    play.floor.until(lambda: play.games.line.counts["AskWins"] >= again + 3, "the same poll again", play.sas)
    assert (said, 1) == (play.games.line.counts["MultiLevel"], len(play.game.wins))
    play.run = play.floor.start_run()
    play.until(lambda: not play.game.wins, "the win let go")
    assert [told] == [win["amount_cents"] for win in play.wins()]


def test_a_pseudo_terminal_is_no_line_for_games(make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """Without the word for a rehearsal the port is refused, by name and with the next step; nothing is said on it."""
    site = with_sas(tmp_path / "floor" / "ports", "{ address = 1 }").replace('parity = "none-for-rehearsal"\n', "")
    floor = make_floor(site=site, people=False)
    floor.start_sim()
    run = floor.start_run()
    play = Play.__new__(Play)
    play.floor = floor
    sas = play.start_sas()
    assert 78 == sas.wait()
    said = sas.log.path.read_text("utf-8")
    assert "PARENB" in said
    assert "16550" in said
    assert str(floor.ports / "sas-1") in said
    assert floor.end(run) == 0


def test_a_rehearsal_needs_a_demo(make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """A real ledger's figures never go out without the wakeup bit."""
    floor = make_floor(site=with_sas(tmp_path / "floor" / "ports", "{ address = 1 }"), people=False, demo=False)
    floor.start_sim()
    run = floor.spawn_run(demo=False)
    floor.until(lambda: named(run.log.read(), "run.ready"), "run.ready", run)
    play = Play.__new__(Play)
    play.floor = floor
    sas = play.start_sas()
    assert 78 == sas.wait()
    assert "none-for-rehearsal" in sas.log.path.read_text("utf-8")
    assert floor.end(run) == 0
