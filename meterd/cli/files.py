"""Paths that verbs take: what is no file to read, or no place to write, is said in one line before anything waits.

A pipe that nobody writes would be waited for without end, so a file is a regular one.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import click


class FileToRead(click.Path):
    """A regular file. Whether it is there and may be read is the reader's to say, in its own words."""

    def __init__(self, *, exists: bool = False) -> None:
        """``exists``: it must be there."""
        super().__init__(exists=exists, dir_okay=False, readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails where something else is there."""
        path = super().convert(value, param, ctx)
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            self.fail(f"{str(path)!r} is no regular file.", param, ctx)
        return path


class FileToWrite(click.Path):
    """A file to write; a device may be there, a pipe, a folder or a part of a ledger not."""

    def __init__(self, *, replaced: bool = False) -> None:
        """``replaced``: it is put in the place of what is there, so that a device would be lost."""
        super().__init__(dir_okay=False, path_type=Path)
        self._usable = (stat.S_ISREG,) if replaced else (stat.S_ISREG, stat.S_ISCHR)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails where a pipe, a socket, a folder or a part of a ledger is there, or in the place of one."""
        path = Path(str(super().convert(value, param, ctx)))
        mode = _mode(path)
        if mode is not None and not any(is_so(mode) for is_so in self._usable):
            self.fail(f"{str(path)!r} is no regular file.", param, ctx)
        from meterd.edge.ledger_files import is_of_a_ledger

        if is_of_a_ledger(path):
            self.fail(f"{str(path)!r} is a file of a ledger, which nothing else may write: name another.", param, ctx)
        return path


class Folder(click.Path):
    """A folder, or a place for one."""

    def __init__(self, *, exists: bool = False) -> None:
        """``exists``: it must be there."""
        super().__init__(exists=exists, file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails where something else is there."""
        path = super().convert(value, param, ctx)
        mode = _mode(path)
        if mode is not None and not stat.S_ISDIR(mode):
            self.fail(f"{str(path)!r} is no folder.", param, ctx)
        return path


def _mode(path: Any) -> int | None:
    """What is at a path, as far as that can be seen."""
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return None
