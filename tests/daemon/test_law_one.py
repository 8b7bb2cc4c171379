"""Nothing leaves before COMMIT: a slow disk makes the order of things visible from outside."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from floor_effects import Effect, effects_seen, figure_effects, figures_seen
from floor_laws import lamp_findings, ledger_findings, seconds
from floor_rig import LIMIT_S, Floor

from meterd.ledger.record import Record

pytestmark = pytest.mark.peer

SYNC_S = 0.3
SLOW_DISK = (
    "strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null",
    "-e", "trace=fdatasync", "-e", f"inject=fdatasync:delay_exit={int(SYNC_S * 1e6)}",
)  # fmt: skip
EARLY = str(Path(__file__).with_name("early_release.py"))


def early(effect: Effect) -> bool:
    """Seen before the sync of its entry can have returned."""
    return effect.decided_s is None or effect.seen_s - effect.decided_s < SYNC_S


def test_no_effect_before_its_sync_returned(make_floor: Callable[..., Floor]) -> None:
    """Every sync takes 0.3 s more: lamps, figures, answers and pages come at least so long after what decided them."""
    floor = make_floor(habits={"lucky": 0.6, "late": 0.3, "busy": 0.8})
    effects = play(floor)
    print({what: len(effects[what]) for what in effects})
    print({what: f"{min(e.seen_s - (e.decided_s or 0) for e in effects[what]):.3f} s" for what in effects})
    assert [] == [effect for each in effects.values() for effect in each if early(effect)]
    records = floor.records()
    assert [] == ledger_findings(floor.ledger, records) + lamp_findings(floor, records)


def test_control_effects_released_before_commit_are_noticed(make_floor: Callable[..., Floor]) -> None:
    """The same play with effects released first: every kind of effect is found early, so the test above can fail."""
    floor = make_floor(habits={"lucky": 0.6, "late": 0.3, "busy": 0.8})
    effects = play(floor, program=(EARLY,), enough=shows_an_early_figure)
    found = {what: sum(map(early, each)) for what, each in effects.items()}
    print(found)
    assert all(found.values())


def shows_an_early_figure(floor: Floor) -> bool:
    """A sign that was busy shows a figure late whatever the daemon does: wait for one that was not."""
    return any(map(early, figure_effects(floor, floor.records())))


def play(
    floor: Floor, program: Sequence[str] = ("-m", "meterd"), enough: Callable[[Floor], bool] = lambda _: True
) -> dict[str, list[Effect]]:
    """Until enough lamps, figures and answers were seen; all of them, by kind."""
    sim = floor.start_sim()
    run = floor.start_run(*SLOW_DISK, program=program)
    listener = Listener(floor.socket)
    floor.until_sim(8, "lamp", run, sim, lamp="steady")
    floor.until_sim(6, "claim", run, sim)
    floor.until_kinds(4, "GameEnded", run, sim)
    floor.until(lambda: len(figures_seen(floor)) >= 6, "six figures on signs", run, sim)
    floor.until(lambda: enough(floor), "what this play was to show", run, sim)
    assert floor.end(run) == 0
    assert floor.end(sim) == 0
    records = floor.records()
    return {**effects_seen(floor, records), "snapshot": listener.effects(records)}


class Listener:
    """A page's end of the control socket: every snapshot with the moment it came."""

    def __init__(self, path: Path) -> None:
        self._seen: list[tuple[float, int]] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(path))
        self._socket.sendall(b'{"op":"subscribe"}\n')
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def effects(self, records: Sequence[Record]) -> list[Effect]:
        """Each snapshot and its newest entry. The daemon has ended: nothing more comes."""
        self._thread.join(LIMIT_S)
        self._socket.close()
        decided = {record.seq: seconds(record) for record in records}
        return [Effect(f"snapshot {seq}", at_s, decided.get(seq)) for at_s, seq in self._seen]

    def _listen(self) -> None:
        with self._socket.makefile("rb") as stream:
            for line in stream:
                self._seen.append((time.monotonic(), json.loads(line)["seq"]))
