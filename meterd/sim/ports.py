"""Ports of this end: those that exist are taken for us alone, those we make get a name that hides nothing.

Rule 1: a port that exists is opened exclusively (flock, and TIOCEXCL for programs that do not ask) and set to a stated
speed and mode, as the daemon does it. A port that somebody holds is refused: two programs on one line garble both.
Rule 2: a name is a symbolic link to a pseudo-terminal. Only such a link is ever replaced or removed.

Units: ``baud`` bits a second.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import termios
from pathlib import Path
from typing import Final, NamedTuple, Self

import serial

_MODE: Final = re.compile(r"([78])([NEOMS])([12])")
_HELD: Final = {11, 16}  # EAGAIN from flock, EBUSY from TIOCEXCL
_WORDS: Final = {
    2: "does not exist",
    13: "may not be opened by this user",
    21: "is no serial port",
    25: "is no serial port",
}
_FAULTS: Final = (OSError, serial.SerialException, termios.error, ValueError)
_PTS: Final = "/dev/pts/"


class PortRefusedError(OSError):
    """A port cannot be used, or its name is taken; the message says which and why. ``held``: by another program."""

    def __init__(self, message: str, *, held: bool = False) -> None:
        """``message``: a whole clause that begins with the path."""
        super().__init__(message)
        self.held = held


class Mode(NamedTuple):
    """How a line is set."""

    baud: int = 9600
    bits: int = 8
    parity: str = "N"
    stops: int = 1

    @classmethod
    def of(cls, baud: int, word: str) -> Self:
        """From a speed and a word such as ``8N1``. Raises :class:`ValueError`."""
        match = _MODE.fullmatch(word)
        if match is None:
            raise ValueError(
                f"{word!r} is no mode of a line: expected data bits, parity, stop bits, such as 8N1 or 8E1"
            )
        if not 0 < baud <= 4_000_000:
            raise ValueError(f"{baud} is no speed of a line")
        return cls(baud, int(match[1]), match[2], int(match[3]))


def open_port(path: Path, mode: Mode) -> serial.Serial:
    """Open a port that exists for us alone, non-blocking, set as ``mode`` says. Raises :class:`PortRefusedError`."""
    port = serial.Serial()
    port.port = str(path)
    port.exclusive = True
    port.timeout = port.write_timeout = 0
    try:
        port.baudrate, port.bytesize, port.parity, port.stopbits = mode
        port.open()
        fcntl.ioctl(port.fileno(), termios.TIOCEXCL)
    except _FAULTS as fault:
        close_port(port)
        number = _number(fault)
        if number in _HELD:
            raise PortRefusedError(f"{path} is held by another program", held=True) from fault
        raise PortRefusedError(f"{path} {_WORDS[number]}" if number in _WORDS else f"{path}: {fault}") from fault
    return port


def close_port(port: serial.Serial) -> None:
    """Give it back, without waiting for a silent line and without raising."""
    if port.fd is not None:
        with contextlib.suppress(*_FAULTS):
            termios.tcflush(port.fd, termios.TCOFLUSH)
        with contextlib.suppress(*_FAULTS):
            fcntl.ioctl(port.fd, termios.TIOCNXCL)  # else it outlives us where somebody else has the node open
    with contextlib.suppress(*_FAULTS):
        port.close()


def _number(fault: BaseException | None) -> int:
    """The system's error number; pyserial keeps that of termios only in what it was raised from."""
    while fault is not None:
        number = getattr(fault, "errno", None)
        if number is None and isinstance(fault, termios.error) and fault.args:
            number = fault.args[0]
        if isinstance(number, int):
            return number
        fault = fault.__cause__ or fault.__context__
    return 0


def give_name(path: Path, node: str) -> None:
    """Let ``path`` lead to the pseudo-terminal ``node``. Replaces such a link that an earlier run left behind.

    Raises :class:`PortRefusedError` where anything else is there, or the folder is not.
    """
    if not path.parent.is_dir():
        raise PortRefusedError(f"{path}: the folder {path.parent} does not exist")
    if _is_ours(path):
        path.unlink()
    try:
        path.symlink_to(node)
    except FileExistsError:
        raise PortRefusedError(f"{path} is there already, and no port of a simulation: it was left as it is") from None


def take_name(path: Path) -> None:
    """Remove what :func:`give_name` made; anything else stays."""
    if _is_ours(path):
        path.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    return path.is_symlink() and str(path.readlink()).startswith(_PTS)
