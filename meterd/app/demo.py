"""``meterd demo``: a whole floor without hardware, as three children that know each other only by wires and sockets.

``sim`` owns the pseudo-terminals and the people; ``run --demo`` is the daemon, the code of a real floor; ``web``
serves the pages. The demo itself only starts them, tells what happens, and checks the ledger when they are gone.
"""

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
import threading
import time
import webbrowser
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from meterd.app.create import create_ledger
from meterd.app.demo_floor import plan, site_text
from meterd.app.demo_folder import DemoError, prepare
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.control import ask
from meterd.edge.store import read_records
from meterd.money import format_cents

PORT_WANTED: Final = 9477
START_LIMIT_S: Final = 20.0
STOP_LIMIT_S: Final = 10.0
LEVELS_MS_MIN: Final = 40
LEVELS_MS_USUAL: Final = 100
WORDS_KEPT: Final = 100  # lines of a child's output, for the screen where it dies; all of it is in its log
#: What a service manager tells its own child, and ours must not take for themselves.
NOT_INHERITED: Final = ("JOURNAL_STREAM", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the command line asked for. ``seconds`` None: until Ctrl-C."""

    seconds: float | None
    speed: float
    headless: bool
    data: Path | None


def open_listener(wanted: int = PORT_WANTED) -> socket.socket:
    """A listener on ``wanted`` if nobody listens there, else on any free port.

    The pages inherit it open, so that no other program can take the port in between.
    """
    for port in (wanted, 0):
        with contextlib.suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise DemoError("no free port on 127.0.0.1")


class Demo:
    """One run of the demo in one folder."""

    def __init__(self, options: DemoOptions, say: Say) -> None:
        """Writes the site file and the ledger; starts nothing yet."""
        self._options = options
        self._say = say
        self.folder = prepare(options.data)
        self.port = PORT_WANTED
        self.control = self.folder / "control.sock"
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._words: dict[str, deque[str]] = {}
        self._stop = threading.Event()
        levels_ms = max(LEVELS_MS_MIN, int(LEVELS_MS_USUAL / options.speed))
        text = site_text(self.folder / "ports", levels_ms, self.port)
        try:
            self._write(text)
        except OSError as error:
            raise DemoError(f"{error.filename or self.folder} cannot be written: {error.strerror or error}") from error

    def _write(self, text: str) -> None:
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
            with open_listener() as listener:
                self.port, fd = listener.getsockname()[1], listener.fileno()
                self._start("web", "web", "--socket", str(self.control), "--fd", str(fd), inherited=(fd,))
            url = f"http://127.0.0.1:{self.port}/"
            self._wait_for_web()
            if self.port != PORT_WANTED:
                self.tell(f"port {PORT_WANTED} is in use by another program: the pages are at port {self.port} instead")
            self.tell(f"DEMO, no real money. Pages: {url}  a sign: {url}sign/nexus-1  ledger: {self.folder}")
            self.tell(
                f"control socket: {self.control}  figures: meterd meters --socket {shlex.quote(str(self.control))}"
            )
            if not self._options.headless:
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            died = self._play(began)
            stats = self._stats()
        finally:
            people = self._stop_all()
        if died is not None:
            raise DemoError(f"{died} ended by itself{self._cause(died)}")
        return self._report(people, stats)

    def stop(self) -> None:
        """Ask the demo to end soon."""
        self._stop.set()

    def tell(self, line: str) -> None:
        """Say a line; where nobody takes it any more, there is nobody to play for: the demo ends soon."""
        try:
            self._say(line)
        except OSError:
            self._stop.set()

    # ── children ────────────────────────────────────────────────────────────────────────────────────────────────

    def _start(
        self, name: str, *arguments: str, stdout: int | None = None, inherited: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "meterd.cli.child", str(os.getpid()), "meterd", *arguments],
            env={key: value for key, value in os.environ.items() if key not in NOT_INHERITED},
            pass_fds=inherited,
            stdin=subprocess.DEVNULL,
            stdout=stdout or subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the demo; it stops its children in order
        )
        self._children[name] = child
        self._words[name] = deque(maxlen=WORDS_KEPT)
        thread = threading.Thread(target=self._listen, args=(name, child.stderr), daemon=True)
        thread.start()
        self._threads[name] = thread
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
            web = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(web):
                web.request("GET", "/healthz")
                web.getresponse()
                return
            self._check_started("web", until)

    def _check_started(self, name: str, until_s: float) -> None:
        """One short wait, or an error where the child is gone or the limit is reached."""
        if self._children[name].poll() is not None or time.monotonic() > until_s:
            raise DemoError(f"{name} did not start{self._cause(name)}")
        self._stop.wait(0.02)

    def _cause(self, name: str) -> str:
        """How a child ended and what it said last, as the rest of a sentence."""
        code = self._children[name].poll()
        if code is None:
            how = f" within {START_LIMIT_S:.0f} s"
        else:
            self._threads[name].join(2)  # it reads to the end of what a dead child wrote
            how = f" (signal {-code})" if code < 0 else f" (exit {code})"
        words = last_words(tuple(self._words[name]))
        return f"{how}{': ' if words else ''}{words}\nAll its output: {self.folder}/{name}.log"

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
        for thread in self._threads.values():
            thread.join(2)
        return people

    # ── telling ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _listen(self, name: str, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        words = self._words[name]
        with (self.folder / f"{name}.log").open("ab", buffering=0) as log:
            for line in stream:
                with contextlib.suppress(OSError):  # a full disk: the child must be able to go on writing
                    log.write(line)
                words.append(line.decode("utf-8", "replace").rstrip())
                if name == "run" and (told := _told(line)):
                    self.tell(told)

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
            "late_polls": sum(bus["late_polls"] for bus in stats["buses"].values()) if stats else None,
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


def last_words(lines: Iterable[str]) -> str:
    """What a child said last of a fault: its own sentence, a logged error, or the last line of a traceback."""
    words, in_sentence = "", False
    for line in lines:
        logged = _last_json(line.encode())
        if logged is not None:
            in_sentence = False
            if logged.get("level") in {"error", "critical"}:
                words = f"{logged.get('event')}: {logged.get('cause', '')}".rstrip(": ")
        elif line.startswith("meterd "):
            words, in_sentence = line, True
        elif line.strip():
            words = f"{words}\n{line}" if in_sentence else line.strip()
    return words


#: What a log line of the daemon is worth telling, and how.
_TELLS: Final = {
    "Locked": "{table}  LOCK",
    "LateBet": "{table}  late bet, seat {seat}: refused",
    "Claimed": "{table}  CLAIM {award}, seat {seat}, {hand}: {amount}",
    "CommonClaimed": "{table}  CLAIM for all live seats, {hand}",
    "NumberKeyed": "{table}  number {number}, length {length}",
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
    if isinstance(facts.get("seats"), list):
        facts["seats"] = ", ".join(map(str, facts["seats"]))
    with contextlib.suppress(KeyError):
        return template.format_map(facts)
    return f"{facts.get('table')}  {facts['event']}"
