"""``meterd sas``: progressive levels to games on SAS lines, in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

import click

from meterd.cli.client import socket_option
from meterd.cli.run import default_socket
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_DONE, ConfigError

LOOK_S: Final = 0.2
END_S: Final = 5.0


def default_state() -> Path:
    """The service manager's state folder, or the usual place."""
    return Path(os.environ.get("STATE_DIRECTORY", "/var/lib/meterd-sas").split(":")[0])


@click.command()
@click.option("--config", required=True, type=click.Path(path_type=Path, dir_okay=False), help="the site file")
@socket_option
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="folder for the wins that are open")
@click.option(
    "--record", type=click.Path(path_type=Path, file_okay=False), help="folder for recordings of what passes from now"
)
@click.option(
    "--frames",
    help='where to keep what passes for the disputes of the last days, 512 MB at most; else "frames" in the state'
    ' folder; "none": nowhere',
)
def sas(config: Path, control: Path | None, state: Path | None, record: Path | None, frames: str | None) -> None:
    """Say the levels of [[sas]] lines to their games, and have their wins written down.

    A client of the running daemon: without it nothing is said, and the games notice by themselves.

    Exit codes: 0 stopped, 78 the site file cannot be used, or no port can carry the wakeup bit.
    """
    from meterd.edge import journal

    lines_out, _ = journal.start()
    code = EXIT_DONE
    try:
        folder = state or default_state()
        kept = None if frames == "none" else Path(frames) if frames else folder / "frames"
        _serve(config, control or default_socket(), folder, record, kept)
    except ConfigError as error:
        complain("meterd sas", error)
        code = EXIT_CONFIG
    finally:
        lines_out.close()
    sys.exit(code)


def _serve(config: Path, socket: Path, state: Path, record: Path | None, frames: Path | None) -> None:
    """Until a signal, or until no line is left. Raises ConfigError where none could be served."""
    from meterd.edge.catalogue import read_site
    from meterd.edge.control import ask
    from meterd.edge.notify import notify
    from meterd.edge.sas import SasLine
    from meterd.edge.sas_frames import SasFrames
    from meterd.edge.sas_values import Values

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    site, _ = read_site(config)
    if not site.sas:
        raise ConfigError(f"{config} has no [[sas]]: there is no line to serve")
    values = Values(socket)
    kept = SasFrames(site, frames, record)

    def asked(request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        return ask(socket, request, limit_s)

    lines = [SasLine(site, each, values, asked, state / f"{each.bus}.json", kept.tracer(each.bus)) for each in site.sas]
    kept.start()
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
    kept.close()
    refused = [line.refusal for line in lines if line.refusal is not None]
    if len(refused) == len(lines):
        raise ConfigError("; ".join(refused))
