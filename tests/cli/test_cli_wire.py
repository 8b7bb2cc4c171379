"""``meterd monitor``, ``wire`` and ``ports`` as programs: against a real control socket with a real trace behind it."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from meterd.app.wire_modbus import ModbusReader
from meterd.app.wires import WireDesk, head_of
from meterd.cli.main import main
from meterd.config import BusConfig, Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.clock import Clock
from meterd.edge.control import Answer, ControlServer
from meterd.edge.ports import Holder, PortSeen
from meterd.edge.recorder import Recorder
from meterd.edge.serialport import close_port, open_port
from meterd.edge.trace import Piece
from protocols.modbus_crc import sealed

SAMPLE = Path(__file__).parents[2] / "docs" / "site.example.toml"
LIMIT_S = 20
ASK = sealed(bytes.fromhex("28 02 0000 0010"))
ANSWER = sealed(bytes.fromhex("28 02 02 05 01"))


class Daemon:
    """The part of a daemon these verbs speak to, in a thread of its own."""

    def __init__(self, site: Site, socket: Path) -> None:
        self.desk = WireDesk(site)
        self.socket = socket
        self.states: dict[str, dict[str, Any]] = {}
        self._loop = asyncio.new_event_loop()
        self.devices: dict[str, dict[str, Any]] = {}
        self._server = ControlServer(socket, lambda: {"devices": self.devices}, self._answer)
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,))
        self._thread.start()
        assert started.wait(LIMIT_S)

    async def _answer(self, request: dict[str, Any], _uid: int) -> Answer:
        if request["op"] == "wire":
            return self.desk.wire(request)
        return self.desk.ports(lambda bus: self.states.get(bus, {}))

    def _run(self, started: threading.Event) -> None:
        self._loop.run_until_complete(self._server.start())
        self._loop.call_soon(started.set)
        self._loop.run_forever()
        self._loop.run_until_complete(self._server.stop())
        self._loop.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LIMIT_S)


@pytest.fixture(scope="module")
def site() -> Site:
    return load_site(SAMPLE.read_text("utf-8"), "site.toml", catalogue())


@contextmanager
def daemon(site: Site, folder: Path) -> Iterator[Daemon]:
    made = Daemon(site, folder / "control.sock")
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def running(site: Site, tmp_path: Path) -> Iterator[Daemon]:
    with daemon(site, tmp_path) as made:
        yield made


def meterd(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def exchange(running: Daemon, times: int = 1) -> None:
    note = running.desk.tracer("pit-1")
    for _ in range(times):
        note("tx", ASK)
        note("rx", ANSWER)


def test_a_line_is_recorded_and_read_again(running: Daemon, tmp_path: Path) -> None:
    """What the daemon still has of it, then what follows; the file names line and site and is read in words."""
    exchange(running, 3)
    file = tmp_path / "wire.jsonl"
    recorded = meterd("wire", "record", file, "--port", "pit-1", "--socket", running.socket, "--seconds", "0.01")
    assert (0, "6 pieces in") == (recorded.exit_code, recorded.stderr[:11])
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert ("meterd-wire-1", "pit-1", "modbus", "riverside") == tuple(
        rows[0][key] for key in ("format", "bus", "kind", "site")
    )
    assert {"n", "at_ns", "port", "dir", "hex"} == set(rows[1])
    assert [ASK.hex(), ANSWER.hex()] * 3 == [row["hex"] for row in rows[1:]]

    replayed = meterd("wire", "replay", file, "--config", SAMPLE, "--hex")
    assert 0 == replayed.exit_code
    assert 3 == replayed.stdout.count("< pit-1/40: inputs on: seat 1, seat 3, lock button")
    assert ASK.hex(" ") in replayed.stdout
    document = json.loads(meterd("wire", "replay", file, "--json").stdout)
    assert "unit 40: inputs on: 0, 2, 8" == document["said"][1]["words"]
    assert 0 == document["lost"]


def test_the_site_file_is_found_in_its_usual_place(
    running: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names seats and keys without being asked for, if it is that of the recording; else the next step is said."""
    exchange(running)
    file = tmp_path / "wire.jsonl"
    meterd("wire", "record", file, "--port", "pit-1", "--socket", running.socket, "--seconds", "0.01")
    usual = tmp_path / "site.toml"
    monkeypatch.setattr("meterd.cli.wire.USUAL_SITE", usual)
    hint = "--config SITE names seats"
    none = meterd("wire", "replay", file)
    assert (True, True) == ("unit 40: inputs on: 0, 2, 8" in none.stdout, hint in none.stderr)
    usual.write_text(SAMPLE.read_text("utf-8").replace('id = "riverside"', 'id = "lakeside"'))
    another = meterd("wire", "replay", file)
    assert (True, True) == ("unit 40" in another.stdout, hint in another.stderr)
    usual.write_text(SAMPLE.read_text("utf-8"))
    other = meterd("wire", "replay", file, "--line", "keys-1")
    assert (2, True) == (other.exit_code, "a recording of pit-1 alone" in other.stderr)
    mine = meterd("wire", "replay", file, "--line", "pit-1")
    assert (True, "") == ("pit-1/40: inputs on: seat 1, seat 3, lock button" in mine.stdout, mine.stderr)


def test_frames_that_were_kept_are_read_in_words(running: Daemon, site: Site, tmp_path: Path) -> None:
    """The recorder's own files, which nobody asked for, are read as a recording is: one line of them at a time."""
    exchange(running)
    heads = {bus.id: head_of(bus, site, Clock()) for bus in site.buses}
    recorder = Recorder(running.desk.trace, heads, tmp_path / "frames", "boot", heads=heads)
    recorder.start()
    recorder.stop()
    (file,) = (tmp_path / "frames").iterdir()
    told = meterd("wire", "replay", file, "--line", "pit-1", "--config", SAMPLE)
    assert (0, 1) == (told.exit_code, told.stdout.count("< pit-1/40: inputs on: seat 1, seat 3, lock button"))
    which = meterd("wire", "replay", file)
    assert (2, True) == (which.exit_code, "there are pit-1, keys-1, sign-1: give --line" in which.stderr)


def test_a_fault_in_reading_costs_one_piece(running: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches a noisy line is not left in the middle of it."""
    exchange(running)
    file = tmp_path / "wire.jsonl"
    meterd("wire", "record", file, "--port", "pit-1", "--socket", running.socket, "--seconds", "0.01")
    plain = ModbusReader.read

    def faulty(self: ModbusReader, piece: Piece) -> list[str]:
        return [str(1 // 0)] if piece.way == "tx" else plain(self, piece)

    monkeypatch.setattr(ModbusReader, "read", faulty)
    told = meterd("wire", "replay", file)
    assert (0, True) == (
        told.exit_code,
        "bytes that this program cannot put in words: ZeroDivisionError" in told.stdout,
    )
    watched = meterd("monitor", "pit-1", "--all", "--hex", "--socket", running.socket, "--seconds", "0.01")
    assert 0 == watched.exit_code, watched.output


def test_the_daemons_frames_name_its_own_lines_alone(site: Site, tmp_path: Path) -> None:
    """A line of games is another process's: asked for here, its name is not among those there are."""
    buses = (*site.buses, BusConfig("sas-1", "sas", "/dev/ttyS9", 19200))
    desk = WireDesk(replace(site, buses=buses))

    async def keep() -> None:
        keeping = asyncio.create_task(desk.keep(tmp_path))
        await asyncio.sleep(0)
        desk.tracer("pit-1")("tx", ASK)
        keeping.cancel()
        await asyncio.wait([keeping])

    asyncio.run(keep())
    (file,) = tmp_path.iterdir()
    told = meterd("wire", "replay", file, "--line", "sas-1")
    assert (2, True) == (told.exit_code, "no line sas-1 in it: there are pit-1, keys-1, sign-1" in told.stderr)


def test_nothing_is_written_over_and_nothing_left_without_a_daemon(running: Daemon, tmp_path: Path) -> None:
    """A file that is there stays; without a daemon, or for no such line, none is made."""
    there, new = tmp_path / "there", tmp_path / "new"
    there.write_text("mine")
    to = ("--socket", running.socket, "--seconds", "0.01")
    kept = meterd("wire", "record", there, "--port", "pit-1", *to)
    assert (2, "mine") == (kept.exit_code, there.read_text())
    unknown = meterd("wire", "record", new, "--port", "pit-9", *to)
    assert (2, True) == (unknown.exit_code, "there are pit-1, keys-1, sign-1" in unknown.stderr)
    nobody = meterd("wire", "record", new, "--port", "pit-1", "--socket", tmp_path / "nobody")
    assert (2, True) == (nobody.exit_code, "no daemon answers" in nobody.stderr)
    assert 1 == nobody.stderr.count("meterd wire record")
    assert not new.exists()


def test_lines_that_are_not_the_daemons_own_say_whose_they_are(site: Site) -> None:
    """Games are served by another process; a keyboard is no line at all."""
    buses = tuple(replace(bus, kind=kind) for bus, kind in zip(site.buses, ("sas", "hid", "alpha"), strict=True))
    desk = WireDesk(replace(site, buses=buses))
    assert "meterd sas has the line" in desk.wire({"port": "pit-1"})["error"]
    assert "no line" in desk.wire({"port": "keys-1"})["error"]
    assert "is the number of a piece" in desk.wire({"port": "sign-1", "after": "x"})["error"]


def started(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "meterd", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines_until(child: subprocess.Popen[str], enough: Callable[[list[str]], bool]) -> list[str]:
    """What a program says, until it is enough; a watchdog ends it where it never is."""
    assert child.stdout is not None
    watchdog = threading.Timer(LIMIT_S, child.kill)
    watchdog.start()
    said: list[str] = []
    for line in child.stdout:
        said.append(line)
        if enough(said):
            break
    watchdog.cancel()
    child.kill()
    child.communicate()
    return said


def test_a_line_is_shown_as_it_happens(running: Daemon, tmp_path: Path) -> None:
    """Each change once, in words, with its question; what was before it began is not shown."""
    exchange(running, 4)
    going = threading.Event()

    def talk() -> None:
        note = running.desk.tracer("pit-1")
        while not going.wait(0.01):
            exchange(running)
            note("tx", ASK)
            note("rx", sealed(bytes.fromhex("28 02 02 00 00")))

    talking = threading.Thread(target=talk)
    talking.start()
    program = started("monitor", "pit-1", "--socket", running.socket, "--json", "--all")
    assert {"at_ns", "dir", "words"} == set(json.loads(lines_until(program, bool)[0]))
    child = started("monitor", "pit-1", "--socket", running.socket, "--config", SAMPLE)
    said = lines_until(child, lambda lines: len(lines) >= 6)
    going.set()
    talking.join()
    words = [line.split(" ", 1)[1].strip() for line in (each.strip() for each in said)]
    assert {"> pit-1/40: inputs 0-15?", "< pit-1/40: inputs on: none"} <= set(words)
    assert "< pit-1/40: inputs on: seat 1, seat 3, lock button" in words


def test_a_recording_without_its_daemon_is_kept(site: Site, tmp_path: Path) -> None:
    """The daemon goes away: exit 1, and the file holds what was heard."""
    with daemon(site, tmp_path) as running:
        exchange(running)
        file = tmp_path / "wire.jsonl"
        child = started("wire", "record", file, "--port", "pit-1", "--socket", running.socket)
        deadline = threading.Event()
        for _ in range(LIMIT_S * 50):
            if file.exists() and len(file.read_text().splitlines()) >= 3:
                break
            deadline.wait(0.02)
    _, err = child.communicate(timeout=LIMIT_S)
    assert (1, True) == (child.returncode, "the daemon has gone" in err)
    assert 3 == len(file.read_text().splitlines())


def test_what_is_no_recording_is_named(tmp_path: Path) -> None:
    """With its line; exit 2. A site file that cannot be used is 78."""
    file = tmp_path / "x"
    file.write_text("{}\n")
    assert (2, True) == (meterd("wire", "replay", file).exit_code, "line 1" in meterd("wire", "replay", file).stderr)
    assert 2 == meterd("wire", "replay", tmp_path / "absent").exit_code
    good = {"format": "meterd-wire-1", "bus": "b", "kind": "modbus", "port": "/dev/x", "baud": 9600, "bits": 10}
    file.write_text(json.dumps(good) + "\n")
    assert 0 == meterd("wire", "replay", file).exit_code
    assert 78 == meterd("wire", "replay", file, "--config", file).exit_code
    for wrong, says in (
        ({"kind": "morse"}, "kind is one of"),
        ({"baud": 0}, "baud is a whole"),
        ({"bits": "x"}, "bits is"),
    ):
        file.write_text(json.dumps({**good, **wrong}) + "\n")
        told = meterd("wire", "replay", file)
        assert (2, True) == (told.exit_code, says in told.stderr)
    file.write_text(json.dumps(good) + "\n")
    served = meterd("wire", "replay", file, "--serve", tmp_path / "port")
    assert (2, True) == (served.exit_code, "holds no question" in served.stderr)
    file.write_text('{"format": "meterd-wire-1", "bus": "b"}\n')
    assert "line 1: the head lacks kind, port, baud, bits" in meterd("wire", "replay", file).stderr


def test_a_line_that_is_not_in_a_file_or_said_nothing_is_named(tmp_path: Path) -> None:
    """``--line nope`` is no line, and a line without an exchange is not silence without a word."""
    head = {"bus": "b", "kind": "modbus", "port": "/dev/x", "baud": 9600, "bits": 10}
    file = tmp_path / "frames.jsonl"
    lines = {name: {**head, "bus": name} for name in ("pit-1", "sas-1")}
    file.write_text(json.dumps({"format": "meterd-frames-1", "boot": "b", "from_ns": 0, "lines": lines}) + "\n")
    told = meterd("wire", "replay", file, "--line", "nope")
    assert (2, True) == (told.exit_code, "there is no line nope in it: there are pit-1, sas-1" in told.stderr)
    told = meterd("wire", "replay", file, "--line", "sas-1")
    assert (0, True) == (told.exit_code, f"nothing that passed over sas-1 is in {file}" in told.stderr)


def test_a_recording_of_a_running_line_says_what_it_lacks(running: Daemon, tmp_path: Path) -> None:
    """Who the modules are was asked before it began: each question without an answer is named; a site file answers."""
    exchange(running)
    file = tmp_path / "wire.jsonl"
    meterd("wire", "record", file, "--port", "pit-1", "--socket", running.socket, "--seconds", "0.01")
    identity = sealed(bytes.fromhex("28 04 01 00 00 02"))
    asking = tmp_path / "asking.jsonl"
    piece = {"n": 1, "at_ns": 1, "port": "/dev/x", "dir": "tx", "hex": identity.hex()}
    asking.write_text(file.read_text().splitlines()[0] + "\n" + json.dumps(piece) + "\n")
    for config, back in ((), 0), (("--config", SAMPLE), 9):
        port = tmp_path / f"port{back}"
        serving = started("wire", "replay", file, "--serve", port, *config)
        assert serving.stdout is not None
        assert json.loads(serving.stdout.readline())["ready"]
        sent = meterd("wire", "replay", asking, "--send", port)
        serving.send_signal(signal.SIGINT)
        _, err = serving.communicate(timeout=LIMIT_S)
        if not config:
            assert "not in the recording, and not answered: unit 40: read input registers 256-257\n" in err
            assert "give --config SITE" in err
        else:
            assert "not in the recording" not in err
        assert f"1 piece sent, {back} bytes came back\n" == sent.stderr


def test_a_recording_is_served_and_said_again(running: Daemon, tmp_path: Path) -> None:
    """One program answers as the devices did, another asks what the daemon asked: both count the same."""
    exchange(running, 2)
    file, port = tmp_path / "wire.jsonl", tmp_path / "port"
    meterd("wire", "record", file, "--port", "pit-1", "--socket", running.socket, "--seconds", "0.01")
    serving = started("wire", "replay", file, "--serve", port)
    assert serving.stdout is not None
    assert json.loads(serving.stdout.readline())["ready"]
    sent = meterd("wire", "replay", file, "--send", port)
    assert (0, f"2 pieces sent, {2 * len(ANSWER)} bytes came back\n") == (sent.exit_code, sent.stderr)
    mine = open_port(BusConfig("b", "modbus", str(port), 9600))
    held = meterd("wire", "replay", file, "--send", port)
    assert (2, True) == (held.exit_code, f"{port} is held by another program: process " in held.stderr)
    close_port(mine)
    serving.terminate()
    serving.communicate(timeout=LIMIT_S)
    absent = meterd("wire", "replay", file, "--send", tmp_path / "nowhere")
    assert (2, 1) == (absent.exit_code, absent.stderr.count("\n"))


def site_with(folder: Path, port: str) -> Path:
    path = folder / "site.toml"
    path.write_text(re.sub(r'(id = "pit-1"\nkind = "modbus"\nport = )"[^"]*"', rf'\1"{port}"', SAMPLE.read_text()))
    return path


def test_ports_says_who_holds_what(tmp_path: Path) -> None:
    """Without a daemon: the ports of the site file that are not there, and who has the one that is."""
    master, slave = pty.openpty()
    told = meterd("ports", "--config", site_with(tmp_path, os.ttyname(slave)), "--socket", tmp_path / "none", "--json")
    os.close(slave)
    os.close(master)
    assert 1 == told.exit_code
    document = json.loads(told.stdout)
    assert [os.getpid()] == [holder["pid"] for holder in document["lines"]["pit-1"]["holders"]]
    assert None is document["lines"]["sign-1"]["node"]
    assert any(finding.startswith("bus sign-1: /dev/serial/by-path/") for finding in document["findings"])
    assert not any(finding.startswith("bus pit-1") for finding in document["findings"])


def test_advice_about_a_line_that_works_is_no_finding(running: Daemon) -> None:
    """A latency timer that could be set lower is told, and the exit code is 0."""
    exchange(running)
    for bus in ("pit-1", "keys-1"):
        running.states[bus] = {"up": True, "hint": "", "advice": "set the adapter's latency timer to 1 ms"}
    told = meterd("ports", "--socket", running.socket)
    assert "advice for bus pit-1: set the adapter's latency timer to 1 ms\n" in told.stderr
    document = json.loads(meterd("ports", "--json", "--socket", running.socket).stdout)
    assert 2 == len(document["advice"])
    assert not any("latency" in finding for finding in document["findings"])
    assert (1 if document["findings"] else 0) == told.exit_code


def test_ports_with_a_daemon(running: Daemon) -> None:
    """A line that is down is a finding with the daemon's cause; when a byte last passed is told."""
    exchange(running)
    running.states["pit-1"] = {"up": False, "cause": "held by another program"}
    running.states["keys-1"] = {"up": True, "hint": "/dev/x: this adapter hears what it sends"}
    running.devices = {
        "keys-1/50": {"up": True},
        "keys-1/51": {"up": False, "cause": "identity", "found": "registers 4D4B 3332"},
        "keys-1/52": {"up": False, "cause": "key", "found": "00BEBA-02-0000004D"},
        "keys-1/53": {"up": False, "cause": "timeout"},
        "pit-1/40": {"up": False, "cause": "port_lost"},
    }
    told = meterd("ports", "--socket", running.socket)
    assert 1 == told.exit_code
    assert "trusted: keys-1/50\n" in told.stdout
    assert re.search(r"down; heard \d+\.\d s ago, sent \d+\.\d s ago", told.stdout)
    assert "keys-1/51: identity, registers 4D4B 3332\n" in told.stderr
    assert "keys-1/52: key, 00BEBA-02-0000004D has another key than the file osdp-keys\n" in told.stderr
    assert "keys-1/53: timeout, nobody answers\n" in told.stderr
    assert "bus keys-1: /dev/x: this adapter hears what it sends\n" in told.stderr
    assert "bus pit-1: /dev/serial/by-path/" in told.stderr
    assert "pit-1/40" not in told.stderr  # its line is what is wrong


def test_ports_names_adapters_that_share_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the name that tells them apart, and whose bus is at risk."""
    by_id = "/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0"
    twins = (
        PortSeen(
            "/dev/ttyUSB0", ("/dev/serial/by-path/a",), (), "ch341", "USB Serial", "1a86:7523", "", ("/dev/ttyUSB1",)
        ),
        PortSeen(
            *("/dev/ttyUSB1", ("/dev/serial/by-path/b",), (by_id,), "ch341", "USB Serial", "1a86:7523", ""),
            twins=("/dev/ttyUSB0",),
            holders=(Holder(7, "minicom"),),
        ),
    )
    monkeypatch.setattr("meterd.edge.ports.seen_ports", lambda: twins)
    told = meterd("ports", "--config", site_with(tmp_path, by_id), "--socket", tmp_path / "none")
    assert 1 == told.exit_code
    assert "which bus pit-1 uses. Write /dev/serial/by-path/b into the site file" in told.stderr
    assert "held by process 7 (minicom)" in told.stdout
    assert "1a86:7523" in told.stdout
