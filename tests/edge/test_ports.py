"""What is plugged where: names, adapters that cannot be told apart, and who holds a port."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from meterd.edge.ports import Holder, PortSeen, holders_of, on_usb, seen_ports


class Machine:
    """A /dev and a /sys made of files."""

    def __init__(self, folder: Path) -> None:
        self.dev, self.sys, self.proc = folder / "dev", folder / "sys", folder / "proc"
        for each in (self.dev / "serial/by-path", self.dev / "serial/by-id", self.sys / "class/tty", self.proc):
            each.mkdir(parents=True)
        (self.sys / "class/tty/tty0").mkdir()  # a console: no device behind it

    def plug(self, node: str, place: str, driver: str, by_id: str = "", **said: str) -> None:
        usb = self.sys / "devices" / place
        interface = usb / f"{place}:1.0" / node
        (self.sys / "drivers" / driver).mkdir(parents=True, exist_ok=True)
        interface.mkdir(parents=True)
        for name, text in said.items():
            (usb / name).write_text(f"{text}\n")
        (interface / "driver").symlink_to(self.sys / "drivers" / driver)
        (self.sys / "class/tty" / node).mkdir()
        (self.sys / "class/tty" / node / "device").symlink_to(interface)
        (self.dev / node).touch()
        (self.dev / "serial/by-path" / f"pci-usb-0:{place}:1.0-port0").symlink_to(self.dev / node)
        if by_id:
            link = self.dev / "serial/by-id" / by_id
            link.unlink(missing_ok=True)
            link.symlink_to(self.dev / node)

    def seen(self) -> tuple[PortSeen, ...]:
        return seen_ports(self.dev, self.sys, self.proc)


FTDI = {"idVendor": "0403", "idProduct": "6001", "manufacturer": "FTDI", "product": "FT232R USB UART"}
CH340 = {"idVendor": "1a86", "idProduct": "7523", "product": "USB Serial"}


def test_an_adapter_with_a_serial_number_is_known_by_it(tmp_path: Path) -> None:
    """Two of one kind, each with its own number: neither is the other's twin, and by-id is the name to use."""
    machine = Machine(tmp_path)
    machine.plug("ttyUSB1", "1-2", "ftdi_sio", "usb-FTDI_A50285BI-if00-port0", **FTDI, serial="A50285BI")
    machine.plug("ttyUSB0", "1-1", "ftdi_sio", "usb-FTDI_A50285BJ-if00-port0", **FTDI, serial="A50285BJ")
    first, second = machine.seen()
    assert (str(machine.dev / "ttyUSB0"), str(machine.dev / "ttyUSB1")) == (first.node, second.node)
    assert ("ftdi_sio", "FTDI FT232R USB UART", "0403:6001", "A50285BJ") == (
        *(first.driver, first.adapter, first.identity, first.serial),
    )
    assert () == first.twins == second.twins
    assert str(machine.dev / "serial/by-id/usb-FTDI_A50285BJ-if00-port0") == first.stable


def test_only_an_adapter_on_usb_is_one(tmp_path: Path) -> None:
    """By any of its names; a port of the board and a pseudo-terminal are none."""
    machine = Machine(tmp_path)
    machine.plug("ttyUSB0", "1-1", "ftdi_sio", "usb-FTDI", **FTDI)
    machine.plug("ttyS0", "board", "serial8250")
    names = [machine.dev / name for name in ("ttyUSB0", "serial/by-id/usb-FTDI", "ttyS0", "pts/5")]
    assert [True, True, False, False] == [on_usb(str(name), machine.sys) for name in names]


def test_adapters_that_share_one_name_are_told(tmp_path: Path) -> None:
    """Two without serial numbers: the one link leads to the last; by-path is the name to use for both."""
    machine = Machine(tmp_path)
    machine.plug("ttyUSB0", "1-1", "ch341-uart", "usb-1a86_USB_Serial-if00-port0", **CH340)
    machine.plug("ttyUSB1", "1-2", "ch341-uart", "usb-1a86_USB_Serial-if00-port0", **CH340)
    first, second = machine.seen()
    assert ((second.node,), (first.node,)) == (first.twins, second.twins)
    assert () == first.by_id
    assert second.by_id
    assert [str(machine.dev / f"serial/by-path/pci-usb-0:{n}:1.0-port0") for n in ("1-1", "1-2")] == [
        first.stable,
        second.stable,
    ]


def test_a_machine_without_ports(tmp_path: Path) -> None:
    """No folders at all, as in a container: nothing, and no error."""
    assert () == seen_ports(tmp_path / "a", tmp_path / "b", tmp_path / "c")
    assert () == Machine(tmp_path).seen()


def test_who_holds_a_port() -> None:
    """This process has a pseudo-terminal open; the next one nobody has."""
    master, slave = pty.openpty()
    name, me = os.ttyname(slave), Holder(os.getpid(), Path("/proc/self/comm").read_text().strip())
    try:
        assert {name: (me,)} == holders_of([name, "/dev/null-and-void"])
    finally:
        os.close(slave)
    assert {} == holders_of([name])
    os.close(master)


@pytest.mark.parametrize("node", ["/dev/does-not-exist", __file__])
def test_what_is_no_device_has_no_holder(node: str) -> None:
    """An absent name, and a file that this process surely reads."""
    assert {} == holders_of([node])
