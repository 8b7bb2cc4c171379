"""Which serial ports there are: their stable names, their adapters, who holds them. Reads /dev, /sys and /proc only.

A name by-id comes from what the adapter says of itself, so two of one kind without serial numbers share one: it leads
to whichever was seen last. A name by-path says where it is plugged in, which no other adapter can be.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

#: Nodes that a driver makes for lines; consoles and pseudo-terminals are none.
_NOT_LINES: Final = ("console", "ptmx", "tty")


class Holder(NamedTuple):
    """A process that has a port open."""

    pid: int
    name: str

    def __str__(self) -> str:
        """For a message."""
        return f"process {self.pid} ({self.name})"


@dataclass(frozen=True, slots=True)
class PortSeen:
    """One port. ``twins``: the nodes of other adapters that say the same of themselves, so by-id names lead astray."""

    node: str
    by_path: tuple[str, ...] = ()
    by_id: tuple[str, ...] = ()
    driver: str = ""
    adapter: str = ""
    identity: str = ""
    serial: str = ""
    twins: tuple[str, ...] = ()
    holders: tuple[Holder, ...] = ()

    @property
    def stable(self) -> str:
        """The name to write into a site file."""
        names = self.by_path if self.twins or not self.by_id else self.by_id
        return (names or self.by_path or (self.node,))[0]


def seen_ports(dev: Path = Path("/dev"), sys: Path = Path("/sys"), proc: Path = Path("/proc")) -> tuple[PortSeen, ...]:
    """All serial ports with a driver behind them, in order of their names by-path."""
    by_path, by_id = _links(dev / "serial" / "by-path"), _links(dev / "serial" / "by-id")
    found = []
    for entry in _entries(sys / "class" / "tty"):
        device = entry / "device"
        node = dev / entry.name
        if entry.name in _NOT_LINES or not device.exists() or not node.exists():
            continue
        if _name(device / "driver") in {"", "serial8250", "port"} and _text(entry / "type") == "0":
            continue  # a port of the board that is not there
        found.append(_seen(device, node, by_path, by_id))
    found.sort(key=lambda port: (port.by_path or (port.node,), port.node))
    with_twins = [replace(port, twins=_twins(port, found)) for port in found]
    held = holders_of((port.node for port in found), proc)
    return tuple(replace(port, holders=held.get(port.node, ())) for port in with_twins)


def on_usb(port: str, sys: Path = Path("/sys")) -> bool:
    """Whether a port is that of an adapter on USB. Pseudo-terminals and ports of the board are none."""
    return _usb_of(sys / "class" / "tty" / Path(port).resolve().name / "device") is not None


def _usb_of(device: Path) -> Path | None:
    """The adapter behind the device of a port."""
    return next((each for each in (device.resolve(), *device.resolve().parents) if (each / "idVendor").exists()), None)


def _seen(device: Path, node: Path, by_path: dict[str, list[str]], by_id: dict[str, list[str]]) -> PortSeen:
    usb = _usb_of(device)
    target = str(node.resolve())
    port = PortSeen(
        str(node),
        tuple(sorted(by_path.get(target, ()))),
        tuple(sorted(by_id.get(target, ()))),
        _name(device / "driver"),
    )
    if usb is None:
        return port
    words = (_text(usb / "manufacturer"), _text(usb / "product"))
    return replace(
        port,
        adapter=" ".join(word for word in words if word),
        identity=f"{_text(usb / 'idVendor')}:{_text(usb / 'idProduct')}",
        serial=_text(usb / "serial"),
    )


def _twins(port: PortSeen, ports: Iterable[PortSeen]) -> tuple[str, ...]:
    """Other ports of the same kind that cannot be told apart by a serial number."""
    if not port.identity:
        return ()
    said = (port.identity, port.serial, port.adapter)
    others = [each for each in ports if said == (each.identity, each.serial, each.adapter)]
    # The ports of one adapter with several are told apart by their interface, in both kinds of names.
    return tuple(each.node for each in others if _place(each) != _place(port))


def _place(port: PortSeen) -> str:
    """The socket an adapter is plugged into: its name by-path without the interface and port of the adapter."""
    return port.by_path[0].rpartition(":")[0] if port.by_path else port.node


def holders_of(nodes: Iterable[str], proc: Path = Path("/proc")) -> dict[str, tuple[Holder, ...]]:
    """Who has these ports open, by the name asked for; other users' processes are seen by root only."""
    numbers: dict[int, list[str]] = {}
    for node in nodes:
        with suppress(OSError):
            numbers.setdefault(os.stat(node).st_rdev, []).append(node)  # noqa: PTH116 - of whatever it leads to
    numbers.pop(0, None)
    found: dict[str, tuple[Holder, ...]] = {}
    for folder in _entries(proc) if numbers else ():
        if folder.name.isdecimal():
            with suppress(OSError):  # it ended meanwhile, or is somebody else's
                holder = Holder(int(folder.name), _text(folder / "comm"))
                for node in sorted({node for number in _devices(folder) for node in numbers.get(number, ())}):
                    found[node] = (*found.get(node, ()), holder)
    return found


def held_by(node: str) -> str:
    """Who has a port open, in words to follow "held by another program"; empty where nobody is seen."""
    who = ", ".join(str(holder) for holder in holders_of([node]).get(node, ()))
    return f": {who}" if who else ""


def _devices(folder: Path) -> set[int]:
    """The device numbers of all terminals a process has open."""
    devices = set()
    for link in (folder / "fd").iterdir():
        with suppress(OSError):
            target = os.readlink(link)  # noqa: PTH115 - a plain text to look at first, for every descriptor
            if target.startswith("/dev/"):
                devices.add(os.stat(link).st_rdev)  # noqa: PTH116
    return devices


def _links(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for link in _entries(folder):
        found.setdefault(str(link.resolve()), []).append(str(link))
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _name(link: Path) -> str:
    """What a link of sysfs leads to."""
    return link.resolve().name if link.exists() else ""
