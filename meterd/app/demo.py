"""``meterd demo``: a whole floor without hardware, as three children that know each other only by wires and sockets.

``sim`` owns the pseudo-terminals and the people; ``run --demo`` is the daemon, the code of a real floor; ``web``
serves the pages. The demo itself only starts them, tells what happens, and checks the ledger when they are gone.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from meterd.app.create import create_ledger
from meterd.app.demo_floor import plan, site_text
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.control import ask
from meterd.edge.store import read_records
from meterd.errors import MeterdError
from meterd.money import format_cents

PORT_WANTED: Final = 9477
START_LIMIT_S: Final = 20.0
STOP_LIMIT_S: Final = 10.0
LEVELS_MS_MIN: Final = 40
LEVELS_MS_USUAL: Final = 100

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the command line asked for. ``seconds`` None: until Ctrl-C."""

    seconds: float | None
    speed: float
    headless: bool
    data: Path | None


class DemoError(MeterdError):
    """The demo could not start or one of its children died; the message says which and where its output stands."""


def free_port(wanted: int = PORT_WANTED) -> int:
    """``wanted`` if nobody listens there, else any free port."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return int(probe.getsockname()[1])
    raise DemoError("no free port on 127.0.0.1")


class Demo:
    """One run of the demo in one folder."""

    def __init__(self, options: DemoOptions, say: Say) -> None:
        """Writes the site file and the ledger; starts nothing yet."""
        self._options = options
        self._say = say
        self.folder = (options.data or Path(tempfile.mkdtemp(prefix="meterd-demo-"))).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.control = self.folder / "control.sock"
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        ports = self.folder / "ports"
        ports.mkdir(exist_ok=True)
        levels_ms = max(LEVELS_MS_MIN, int(LEVELS_MS_USUAL / options.speed))
        text = site_text(ports, levels_ms, self.port)
        (self.folder / "site.toml").write_text(text, encoding="utf-8")
        self.site: Site = load_site(text, "site.toml", catalogue())
        (self.folder / "plan.json").write_text(json.dumps(plan(self.site)), encoding="utf-8")
        if not (self.folder / "ledger.db").exists():
            create_ledger(self.folder, self.site, demo=True)

    def run(self) -> dict[str, Any]:
        """Play until time is up, Ctrl-C, or a child dies; then stop all three, verify and report.

        Raises:
            DemoError: a child did not start, or died.
        """
        began = time.monotonic()
        ledger = str(self.folder)
        died: str | None = None
        try:
            self._start_sim()
            self._start(
                "run",
                "run",
                "--demo",
                "--config",
                f"{ledger}/site.toml",
                "--ledger",
                ledger,
                "--socket",
                str(self.control),
            )
            self._start("web", "web", "--socket", str(self.control), "--port", str(self.port))
            url = f"http://127.0.0.1:{self.port}/"
            self._wait_for_web()
            self._say(f"DEMO, no real money. Pages: {url}  a sign: {url}sign/nexus-1  ledger: {self.folder}")
            if not self._options.headless:
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            died = self._play(began)
            stats = self._stats()
        finally:
            people = self._stop_all()
        if died is not None:
            raise DemoError(f"{died} ended by itself; its output is {self.folder}/{died}.log")
        return self._report(people, stats)

    def stop(self) -> None:
        """Ask the demo to end soon."""
        self._stop.set()

    # ── children ────────────────────────────────────────────────────────────────────────────────────────────────

    def _start(self, name: str, *arguments: str, stdout: int | None = None) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "meterd", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout or subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the demo; it stops its children in order
        )
        self._children[name] = child
        thread = threading.Thread(target=self._listen, args=(name, child.stderr), daemon=True)
        thread.start()
        self._threads.append(thread)
        return child

    def _start_sim(self) -> None:
        folder = self.folder
        self._start(
            "sim", "sim", "--plan", f"{folder}/plan.json", "--log", f"{folder}/sim.jsonl",
            "--speed", str(self._options.speed),
            stdout=subprocess.PIPE,
        )  # fmt: skip
        until = time.monotonic() + START_LIMIT_S
        while not all(Path(bus.port).exists() for bus in self.site.buses):
            self._check_started("sim", until)

    def _wait_for_web(self) -> None:
        until = time.monotonic() + START_LIMIT_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            self._check_started("web", until)

    def _check_started(self, name: str, until_s: float) -> None:
        """One short wait, or an error where the child is gone or the limit is reached."""
        if self._children[name].poll() is not None or time.monotonic() > until_s:
            raise DemoError(f"{name} did not start; its output is {self.folder}/{name}.log")
        self._stop.wait(0.02)

    def _play(self, began_s: float) -> str | None:
        """Wait; returns the name of a child that ended by itself, or None."""
        while not self._stop.is_set():
            left = None if self._options.seconds is None else began_s + self._options.seconds - time.monotonic()
            if left is not None and left <= 0:
                return None
            for name, child in self._children.items():
                if child.poll() is not None:
                    return name
            self._stop.wait(0.1 if left is None else min(0.1, left))
        return None

    def _stats(self) -> dict[str, Any]:
        try:
            return ask(self.control, {"op": "stats"})
        except (OSError, ValueError):
            return {}

    def _stop_all(self) -> dict[str, Any]:
        """The daemon first, so that its last lamps and signs still find somebody; then the people; then the pages."""
        people: dict[str, Any] = {}
        for name in ("run", "sim", "web"):
            child = self._children.get(name)
            if child is None:
                continue
            child.send_signal(signal.SIGTERM)
            try:
                out, _ = child.communicate(timeout=STOP_LIMIT_S) if name == "sim" else (None, child.wait(STOP_LIMIT_S))
                people = _last_json(out) or people
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for thread in self._threads:
            thread.join(2)
        return people

    # ── telling ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _listen(self, name: str, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        with (self.folder / f"{name}.log").open("ab") as log:
            for line in stream:
                log.write(line)
                log.flush()
                if name == "run" and (told := _told(line)):
                    self._say(told)

    def _report(self, people: dict[str, Any], stats: dict[str, Any]) -> dict[str, Any]:
        kinds: Counter[str] = Counter()
        residual = 0
        for record in read_records(self.folder):
            kinds[record.kind] += 1
            residual += sum(microcents for _, microcents in record.postings)
            if record.kind == "Locked":
                kinds["wagers"] += len(json.loads(record.body)["wagers"])
        report = verify(self.folder)
        return {
            "rounds": kinds["GameEnded"],
            "wagers": kinds["wagers"],
            "awards": kinds["Claimed"],
            "late_bets": kinds["LateBet"],
            "residual_microcents": residual,
            "ledger_ok": report.ok,
            "head": report.head.hex(),
            "late_polls": sum(bus["late_polls"] for bus in stats.get("buses", {}).values()),
            "steady_lamps_seen": people.get("steady_lamps_seen", 0),
            "lamp_ms": people.get("lamp_ms", {"p50": None, "p99": None}),
        }


def _last_json(out: bytes | None) -> dict[str, Any] | None:
    for line in reversed((out or b"").splitlines()):
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict):
                return found
    return None


#: What a log line of the daemon is worth telling, and how.
_TELLS: Final = {
    "Locked": "{table}  LOCK",
    "LateBet": "{table}  late bet, seat {seat}: refused",
    "Claimed": "{table}  CLAIM {award}, seat {seat}, {hand}: {amount}",
    "Confirmed": "{table}  confirmed {award}",
    "Paid": "{table}  paid {award}",
    "Voided": "{table}  voided {award}",
    "WagerVoided": "{table}  wager void, seats {seats}",
    "GameEnded": "{table}  END GAME",
    "Refused": "{table}  refused: {refusal}",
    "TableOpened": "{table}  open",
    "TableClosed": "{table}  CLOSED: {reason}",
    "money.closed": "ALL CLOSED: {cause}",
}


def _told(line: bytes) -> str | None:
    try:
        facts = json.loads(line)
        template = _TELLS.get(facts["event"])
    except (ValueError, KeyError, TypeError):
        return None
    if template is None:
        return None
    if "amount_cents" in facts:
        facts["amount"] = format_cents(facts["amount_cents"])
    with contextlib.suppress(KeyError):
        return template.format_map(facts)
    return f"{facts.get('table')}  {facts['event']}"
