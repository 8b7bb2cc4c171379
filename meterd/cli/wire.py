"""``meterd wire`` and ``meterd monitor``: what passes over a line, recorded, in words, played again."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from meterd.cli.client import nobody_answers, socket_option
from meterd.cli.words import Finite, NamingGroup, complain, counted
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_FINDING, EXIT_USAGE

if TYPE_CHECKING:
    from meterd.app.wire_words import Said
    from meterd.config import Site
    from meterd.edge.trace import Head, Piece, Recording
    from meterd.sim.replay import Moment
    from meterd.sim.replay_modbus import Taught

ASK_S: Final = 0.2  # the daemon keeps seconds of each line
FEW: Final = 100  # more at once is a line that must be followed closely
_MODES: Final = {11: "8E1"}  # of a recording that tells only how long a character is
_QUESTIONS: Final = ("modbus", "osdp")  # lines on which everything said is a question or its answer
NO_START: Final = (
    "A daemon asks each module what it is before anything else. A recording begun while the line was up does not hold"
    " that: give --config SITE, and they are what the site file says, or take the frames-….jsonl of a start"
)
USUAL_SITE: Final = Path("/etc/meterd/site.toml")

config_option = click.option(
    "--config",
    "config",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"the site file: names seats and keys; {USUAL_SITE} if that is of this site",
)


@click.group(cls=NamingGroup)
def wire() -> None:
    """What passes over a line: record it, read it, play it again."""


@click.command()
@click.argument("line")
@socket_option
@config_option
@click.option("--all", "everything", is_flag=True, help="also answers that are the same as the last time")
@click.option("--hex", "as_hex", is_flag=True, help="every piece with its bytes")
@click.option("--json", "as_json", is_flag=True, help="one JSON document a line")
@click.option("--seconds", type=Finite(0, min_open=True), help="stop by itself")
def monitor(
    line: str,
    control: Path | None,
    config: Path | None,
    seconds: float | None,
    *,
    everything: bool,
    as_hex: bool,
    as_json: bool,
) -> None:
    """Show what passes over LINE (a bus or its port) in words, as it happens; Ctrl-C ends it. Changes nothing.

    Questions whose answer is the same as the last time are left out, unless asked for with --all or --hex.

    Exit codes: 0 ended, 1 the daemon went away, 2 no daemon or no such line, 78 the site file cannot be used.
    """
    from meterd.app.wire_words import Changes, Said, in_words, reader_for

    site = _site("meterd monitor", config)
    changes, reader = Changes(), None
    try:
        for head, piece, lost in _pieces("monitor", control, line, -1, seconds):
            reader = reader or reader_for(head, site or _usual_site("meterd monitor", head))
            if lost:
                click.echo(f"… {counted(lost, 'piece')} too fast to be shown", err=as_json)
            if piece is None:
                continue
            said = [Said(piece.at_ns, piece.way, words) for words in in_words(reader, piece)]
            if not (everything or as_hex) and head.kind in _QUESTIONS:
                said = changes.of(said)
            if as_json:
                for each in said:
                    click.echo(json.dumps(_said_json(each)))
            else:
                _show(said, piece if as_hex else None)
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    sys.exit(EXIT_DONE)


@wire.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--port", "line", required=True, help="the bus, or its port")
@socket_option
@click.option("--seconds", type=Finite(0, min_open=True), help="stop by itself")
@click.option("--from-now", is_flag=True, help="without the seconds the daemon still has")
def record(file: Path, line: str, control: Path | None, seconds: float | None, *, from_now: bool) -> None:
    """Write what passes over a line into FILE, from what the daemon still has of it on; Ctrl-C ends it.

    Exit codes: 0 ended, 1 the daemon went away (what was recorded is kept), 2 no daemon, no such line, FILE exists.
    """
    from contextlib import ExitStack

    from meterd.edge.trace import piece_json

    count = missed = 0
    out = None
    try:
        with ExitStack() as files:
            for head, piece, lost in _pieces("wire record", control, line, -1 if from_now else 0, seconds):
                if out is None:  # not before somebody answered
                    out = files.enter_context(file.open("x", encoding="utf-8"))
                    out.write(head.to_json() + "\n")
                if lost:
                    out.write(json.dumps({"lost": lost}) + "\n")
                    missed += lost
                if piece is not None:
                    out.write(piece_json(piece, head.port) + "\n")
                    count += 1
                out.flush()
    except KeyboardInterrupt:
        pass
    except OSError as error:  # also a disk that is full, when the file is closed
        complain("meterd wire record", f"{file}: {error.strerror or error}")
        sys.exit(EXIT_USAGE)
    click.echo(f"{counted(count, 'piece')} in {file}{f', {missed} lost' if missed else ''}", err=True)
    sys.exit(EXIT_DONE)


@wire.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@config_option
@click.option("--line", help="which line, of a file of frames with several")
@click.option("--hex", "as_hex", is_flag=True, help="the bytes of each piece too")
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
@click.option(
    "--serve",
    type=click.Path(path_type=Path),
    help="make a port there and answer as the devices did; a link, and nothing is replaced by it",
)
@click.option(
    "--send", type=click.Path(path_type=Path), help="say to that port what the daemon said; set as the recording tells"
)
@click.option("--speed", type=Finite(0.1, 1000), default=1.0, show_default=True, help="of --send")
@click.option("--seconds", type=Finite(0, min_open=True), help="stop --serve by itself")
def replay(
    file: Path,
    config: Path | None,
    line: str | None,
    serve: Path | None,
    send: Path | None,
    speed: float,
    seconds: float | None,
    *,
    as_hex: bool,
    as_json: bool,
) -> None:
    """Read a recording: every frame in words, what was no frame, what was not answered; or play it at a port.

    --serve is for a rehearsal of the daemon without its devices, --send for one of a device without the daemon.
    FILE may be one of the frames that the daemon and `meterd sas` keep by themselves (frames-….jsonl): --line then says
    which line. What repeated the last answer was not kept there. With --config the modules that --serve plays say of
    themselves what the site file wants, where the recording does not tell.

    Exit codes: 0 done, 2 FILE is no recording or a port cannot be used, 78 the site file cannot be used.
    """
    recording = _recording(file, line)
    if not recording.pieces:
        complain("meterd wire replay", f"nothing that passed over {recording.head.bus} is in {file}")
    if serve is not None or send is not None:
        _play(recording, serve, send, speed, seconds, _site("meterd wire replay", config))
    site = _site("meterd wire replay", config)
    from meterd.app.wire_words import Said, in_words, reader_for

    reader = reader_for(recording.head, site or _usual_site("meterd wire replay", recording.head))
    told: list[Said] = []
    for piece in recording.pieces:
        said = [Said(piece.at_ns, piece.way, words) for words in in_words(reader, piece)]
        if as_json:
            told += said
        else:
            _show(said, piece if as_hex else None)
    ended_ns = recording.pieces[-1].at_ns if recording.pieces else recording.head.mono_ns
    left = [Said(ended_ns, "rx", words) for words in reader.end()]
    if as_json:
        rows = [_said_json(each) for each in (*told, *left)]
        click.echo(json.dumps({"head": recording.head._asdict(), "lost": recording.lost, "said": rows}))
    else:
        _show(left, None)
        if recording.lost:
            click.echo(f"{counted(recording.lost, 'piece')} lost while it was recorded", err=True)
    sys.exit(EXIT_DONE)


def _recording(file: Path, line: str | None) -> Recording:
    from meterd.edge.recorder import recording_of
    from meterd.edge.trace import WireFileError, read_wire

    try:
        with file.open(encoding="utf-8") as lines:
            frames = recording_of(lines, line)
            if frames is not None:
                return frames
            lines.seek(0)
            return _of_line(read_wire(lines), line)
    except OSError as error:
        complain("meterd wire replay", f"{file}: {error.strerror or error}")
    except (WireFileError, UnicodeDecodeError) as error:
        complain("meterd wire replay", f"{file}: {error}")
    sys.exit(EXIT_USAGE)


def _of_line(recording: Recording, line: str | None) -> Recording:
    """A recording, where it is of the line that was asked for. Raises WireFileError."""
    from meterd.edge.trace import WireFileError

    if line not in {None, recording.head.bus, recording.head.port}:
        raise WireFileError(f"this is a recording of {recording.head.bus} alone, not of {line}")
    return recording


def _play(
    recording: Recording,
    serve: Path | None,
    send: Path | None,
    speed: float,
    seconds: float | None,
    site: Site | None,
) -> None:
    """Be one end of the recorded wire; ends the program."""
    import asyncio

    from meterd.edge.ports import held_by
    from meterd.sim.ports import Mode, PortRefusedError
    from meterd.sim.replay import say

    moments = _moments(recording)
    if send is None and not any(moment.sent for moment in moments):
        complain("meterd wire replay", "the recording holds no question: there is nothing to answer")
        sys.exit(EXIT_USAGE)
    try:
        if send is not None:
            head = recording.head
            mode = Mode.of(head.baud, head.mode or ("8S1" if head.kind == "sas" else _MODES.get(head.bits, "8N1")))
            back = asyncio.run(say(send, moments, speed, mode))
            click.echo(f"{counted(sum(m.sent for m in moments), 'piece')} sent, {back} bytes came back", err=True)
        elif serve is not None:
            asyncio.run(_serve(serve, moments, seconds, recording.head, site))
    except KeyboardInterrupt:
        pass
    except PortRefusedError as refused:
        complain("meterd wire replay", f"{refused}{held_by(str(send)) if refused.held else ''}")
        sys.exit(EXIT_USAGE)
    except (OSError, ValueError) as error:
        complain("meterd wire replay", error)
        sys.exit(EXIT_USAGE)
    sys.exit(EXIT_DONE)


def _taught(site: Site | None, bus: str) -> Iterator[Taught]:
    """What the modules of a line say of themselves, by the site file: what they are, and which."""
    for module in site.modules_of(bus) if site is not None else ():
        identity, serial = module.profile.identity, module.profile.serial
        if identity is not None:
            yield module.unit, identity.function, identity.address, identity.expected
        if serial is not None and module.serial is not None:
            raw = module.serial.encode("ascii", "replace").ljust(2 * serial.words)[: 2 * serial.words]
            words = tuple(int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2))
            yield module.unit, serial.function, serial.address, words


async def _serve(path: Path, moments: list[Moment], seconds: float | None, head: Head, site: Site | None) -> None:
    import asyncio

    from meterd.sim.replay import Devices
    from meterd.sim.replay_modbus import words

    def told(request: bytes) -> None:
        complain("meterd wire replay", f"not in the recording, and not answered: {words(request)}")

    modbus = head.kind == "modbus"
    devices = Devices(path, moments, modbus=modbus, taught=_taught(site, head.bus), told=told)
    click.echo(json.dumps({"ready": True, "port": str(path)}))
    sys.stdout.flush()
    try:
        await asyncio.sleep(seconds if seconds is not None else 1e9)
    finally:
        devices.close()
        click.echo(f"asked {devices.asked}, answered {devices.answered}, never heard {devices.unknown}", err=True)
        if devices.unknown and modbus and site is None:
            click.echo(NO_START, err=True)


def _moments(recording: Recording) -> list[Moment]:
    from meterd.sim.replay import Moment

    return [Moment(piece.at_ns / 1e9, piece.way == "tx", piece.data) for piece in recording.pieces]


def _site(verb: str, config: Path | None) -> Site | None:
    from meterd.edge.catalogue import read_site
    from meterd.errors import ConfigError

    try:
        return read_site(config)[0] if config is not None else None
    except ConfigError as error:
        complain(verb, error)
        sys.exit(EXIT_CONFIG)


def _usual_site(verb: str, head: Head) -> Site | None:
    """The site file in its usual place, where it is that of a recording; else a hint, where it would say more."""
    from meterd.edge.catalogue import read_site
    from meterd.errors import ConfigError

    try:
        site = read_site(USUAL_SITE)[0]
    except ConfigError:
        site = None
    if site is not None and site.settings.id == head.site:
        return site
    if head.kind == "modbus":
        complain(verb, "inputs have numbers here: --config SITE names seats, lamps and keys")
    return None


def _pieces(
    verb: str, control: Path | None, line: str, after: int, seconds: float | None
) -> Iterator[tuple[Head, Piece | None, int]]:
    """What the daemon hears of a line: its head first, then each piece and how many were missed before it."""
    from meterd.cli.run import default_socket
    from meterd.edge.control import ask
    from meterd.edge.trace import Head, Piece

    path = control or default_socket()
    end_s = time.monotonic() + seconds if seconds is not None else float("inf")
    head: Head | None = None
    while True:
        try:
            told = ask(path, {"op": "wire", "port": line, "after": after})
        except (OSError, ValueError) as error:
            if head is None:
                click.echo(nobody_answers(verb, path, error), err=True)
            else:
                complain(f"meterd {verb}", "the daemon has gone")
            sys.exit(EXIT_USAGE if head is None else EXIT_FINDING)
        if "error" in told:
            complain(f"meterd {verb}", told["error"])
            sys.exit(EXIT_USAGE)
        lost = told["lost"] if head is not None else 0
        if head is None:
            head = Head(**told["head"])
            yield head, None, 0
        for number, at_ns, way, data in told["pieces"]:
            yield head, Piece(number, at_ns, way, bytes.fromhex(data)), lost
            lost = 0
        after = told["last"]
        if time.monotonic() >= end_s:
            return
        if len(told["pieces"]) < FEW:
            time.sleep(min(ASK_S, max(0.0, end_s - time.monotonic())))


def _said_json(said: Said) -> dict[str, Any]:
    return {"at_ns": said.at_ns, "dir": said.way, "words": said.words}


def _show(said: list[Said], piece: Piece | None) -> None:
    """One line for each thing said, and the bytes of ``piece``; ``>`` is ours, ``<`` theirs. Monotonic seconds."""
    for each in said:
        click.echo(f"{each.at_ns / 1e9:14.3f} {_ARROWS[each.way]} {each.words}")
    if piece is not None:
        click.echo(f"{piece.at_ns / 1e9:14.3f} {_ARROWS[piece.way]} {piece.data.hex(' ')}")


_ARROWS: Final = {"tx": ">", "rx": "<"}
