"""``meterd sas``: progressive levels to games on SAS lines, in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from meterd.cli.run import default_socket
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_DONE, ConfigError

LOOK_S: Final = 0.2
END_S: Final = 5.0
SAS_BITS: Final = 11  # start, eight data, the wakeup bit, stop

if TYPE_CHECKING:
    from meterd.config import Site
    from meterd.edge.trace import Recorder


def default_state() -> Path:
    """The service manager's state folder, or the usual place."""
    return Path(os.environ.get("STATE_DIRECTORY", "/var/lib/meterd-sas").split(":")[0])


@click.command()
@click.option("--config", required=True, type=click.Path(path_type=Path, dir_okay=False), help="the site file")
@click.option(
    "--socket", "control", type=click.Path(path_type=Path, dir_okay=False), help="the daemon's control socket"
)
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="folder for the wins that are open")
@click.option(
    "--record", type=click.Path(path_type=Path, file_okay=False), help="folder for what passes over the lines"
)
def sas(config: Path, control: Path | None, state: Path | None, record: Path | None) -> None:
    """Say the levels of [[sas]] lines to their games, and have their wins written down.

    A client of the running daemon: without it nothing is said, and the games notice by themselves.

    Exit codes: 0 stopped, 78 the site file cannot be used, or no port can carry the wakeup bit.
    """
    from meterd.edge import journal

    lines_out, _ = journal.start()
    code = EXIT_DONE
    try:
        _serve(config, control or default_socket(), state or default_state(), record)
    except ConfigError as error:
        complain("meterd sas", error)
        code = EXIT_CONFIG
    finally:
        lines_out.close()
    sys.exit(code)


def _serve(config: Path, socket: Path, state: Path, record: Path | None) -> None:
    """Until a signal, or until no line is left. Raises ConfigError where none could be served."""
    from meterd.edge.catalogue import read_site
    from meterd.edge.control import ask
    from meterd.edge.notify import notify
    from meterd.edge.sas import SasLine
    from meterd.edge.sas_values import Values

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    site, _ = read_site(config)
    if not site.sas:
        raise ConfigError(f"{config} has no [[sas]]: there is no line to serve")
    values = Values(socket)
    recorders = _recorders(site, record)

    def asked(request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        return ask(socket, request, limit_s)

    lines = [
        SasLine(site, each, values, asked, state / f"{each.bus}.json", recorders.get(each.bus, _not_recorded))
        for each in site.sas
    ]
    values.start()
    for line in lines:
        line.start()
    notify(f"READY=1\nSTATUS={len(lines)} lines")
    while not stop.wait(LOOK_S) and any(line.is_alive() for line in lines):
        pass
    notify("STOPPING=1")
    for line in lines:
        line.stop()
    values.stop()
    for line in lines:
        line.join(END_S)
    for recorder in recorders.values():
        recorder.close()
    refused = [line.refusal for line in lines if line.refusal is not None]
    if len(refused) == len(lines):
        raise ConfigError("; ".join(refused))


def _not_recorded(_way: str, _data: bytes) -> None:
    """Nobody listens."""


def _recorders(site: Site, folder: Path | None) -> dict[str, Recorder]:
    """A new file for each line, for ``meterd wire replay``; none without a folder. Raises ConfigError."""
    from meterd.edge.clock import Clock
    from meterd.edge.trace import Head, Recorder

    if folder is None:
        return {}
    clock = Clock()
    now = clock.now()
    found = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for bus_id in dict.fromkeys(each.bus for each in site.sas):
            bus = site.bus(bus_id)
            line = (bus.id, bus.kind, bus.port, bus.baud, SAS_BITS)
            head = Head(*line, site.settings.id, clock.boot, now.at_utc, now.mono_ns)
            found[bus.id] = Recorder(folder / f"{bus.id}-{now.at_utc.replace(':', '')}.jsonl", head)
    except OSError as error:
        raise ConfigError(f"{folder}: nothing can be recorded there ({error.strerror or error})") from error
    return found
