"""sd_notify in a dozen lines: one datagram to the service manager, nothing where there is none."""

from __future__ import annotations

import contextlib
import os
import socket


def notify(message: str) -> bool:
    """Send ``READY=1``, ``STATUS=…``, ``WATCHDOG=1`` or ``STOPPING=1``. True when a manager listens."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect(address)
        sender.send(message.encode())
        return True
    return False


def watchdog_interval_s() -> float | None:
    """Half the time the manager grants between two signs of life, or None where it watches nobody."""
    usec = os.environ.get("WATCHDOG_USEC", "")
    owner = os.environ.get("WATCHDOG_PID", str(os.getpid()))
    if not usec.isdigit() or owner != str(os.getpid()):
        return None
    return int(usec) / 2_000_000
