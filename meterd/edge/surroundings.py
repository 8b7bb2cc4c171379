"""What a site file says of the machine it lies on, held against that machine; its text alone cannot show it.

Something that is not there yet is no finding: an adapter may be plugged in later.
"""

from __future__ import annotations

import stat
from pathlib import Path
from zoneinfo import available_timezones

from meterd.config import Finding, Site
from meterd.config.findings import Document, nearest
from meterd.edge.keypad_keys import keys_file, pads_of, read_keys
from meterd.errors import ConfigError


def surroundings(text: str, filename: str, site: Site) -> tuple[Finding, ...]:
    """Ports that can never be serial ports, and a time zone that does not exist.

    ``text`` is what ``site`` was read from; it gives the lines.
    """
    document = Document.parse(text, filename)
    zones = available_timezones()
    if zones and site.timezone not in zones:
        document.finding(
            ("site", "timezone"), f'there is no time zone "{site.timezone}"', nearest(site.timezone, zones)
        )
    for index, bus in enumerate(site.buses):
        what = _no_port(Path(bus.port))
        if what is not None:
            document.finding(("bus", index, "port"), f'"{bus.port}" is {what}, no serial port')
    return tuple(document.findings)


def pad_warnings(text: str, filename: str, site: Site) -> tuple[Finding, ...]:
    """What keeps OSDP pads from being trusted: a key file that is missing or lacks a pad. The command that makes it."""
    document = Document.parse(text, filename)
    try:
        read_keys(keys_file(Path(filename)), pads_of(site))
    except ConfigError as error:
        first = next(n for n, bus in enumerate(site.buses) if bus.kind == "osdp" and site.pads_of(bus.id))
        document.warning(("bus", first, "id"), str(error))
    return tuple(document.warnings)


def _no_port(path: Path) -> str | None:
    """What is there in place of a device."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if stat.S_ISCHR(mode):
        return None
    return "a folder" if stat.S_ISDIR(mode) else "a file" if stat.S_ISREG(mode) else "something else"
