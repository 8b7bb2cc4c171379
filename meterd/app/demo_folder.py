"""The folder of a demo: made, or taken again.

What a demo would write over and no demo wrote is noticed before a byte is written, and the folder is left alone.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Final

from meterd.app.demo_floor import MARK
from meterd.edge.control import PATH_BYTES_MAX, answers
from meterd.edge.store import read_records
from meterd.errors import LedgerError, MeterdError

#: What a demo writes beside its ledger; ``site.toml`` is the one that says whose they are.
WRITES: Final = ("plan.json", "ports", "signs", "sim.jsonl", "sim.log", "run.log", "web.log", "control.sock")
_ELSEWHERE: Final = "Nothing was written. Give --data an empty or a new folder"


class DemoError(MeterdError):
    """The demo could not start or one of its children died; the message says which, why, and what to do."""


def prepare(data: Path | None) -> Path:
    """The absolute path of a folder that is a demo's to write in, with an empty folder ``ports``.

    Raises:
        DemoError: it cannot be made, holds something that is no demo's, or a demo plays there now.
    """
    try:
        folder = (data or Path(tempfile.mkdtemp(prefix="meterd-demo-"))).absolute()
        _require_ours(folder)
        ports = folder / "ports"
        ports.mkdir(parents=True, exist_ok=True)
        for port in ports.iterdir():
            if port.is_symlink():  # of a demo that was killed; by now it may point to somebody's terminal
                port.unlink()
    except OSError as error:
        raise DemoError(
            f"the folder {data or tempfile.gettempdir()} cannot be used: {error.strerror or error}."
            " Give --data a folder that you may write in"
        ) from error
    return folder


def _require_ours(folder: Path) -> None:
    control = folder / "control.sock"
    if len(os.fsencode(control)) > PATH_BYTES_MAX:
        raise DemoError(f"{control} is too long for a socket, by its bytes. Give --data a shorter path")
    if not folder.exists():
        return
    site = folder / "site.toml"
    if os.path.lexists(site):
        if not _says_demo(site):
            raise DemoError(f"{site} was not written by a demo. {_ELSEWHERE}")
    else:
        for name in WRITES:
            if os.path.lexists(folder / name):
                raise DemoError(f"{folder} holds {name}, and no site.toml of a demo beside it. {_ELSEWHERE}")
    if any(folder.glob("ledger*")):
        _require_demo_ledger(folder)
    if control.is_socket() and answers(control):
        raise DemoError(f"a demo plays in {folder} already. Stop it, or give --data another folder")


def _says_demo(site: Path) -> bool:
    if not site.is_file():
        return False
    with site.open("rb") as file:
        return file.read(len(MARK.encode())) == MARK.encode()


def _require_demo_ledger(folder: Path) -> None:
    try:
        first = next(read_records(folder), None)
    except LedgerError as error:
        raise DemoError(f"{error}. {_ELSEWHERE}") from error
    if first is None or json.loads(first.body).get("demo") is not True:
        raise DemoError(f"{folder} holds a ledger that is not a demo's. {_ELSEWHERE}")
