"""``meterd`` whose ledger keeps hardly a page in memory: damage on the disk is read, and found, while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from meterd.cli.main import main
from meterd.edge import sqlite

_connect = sqlite._connect


def _small(path: Path, options: str, timeout: float) -> Any:
    connection = _connect(path, options, timeout)
    connection.execute("PRAGMA cache_size=1")
    return connection


sqlite._connect = _small
if __name__ == "__main__":
    main()
