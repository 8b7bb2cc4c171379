"""A site, frozen: what a site file says once everything in it has been checked.

Units: ``*_cents``, ``*_ms`` milliseconds, ``baud`` bits a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings
from meterd.accounting.settings_pools import FundSettings
from meterd.config.devices import ModuleRef, Profile, SignModel
from meterd.config.findings import Finding
from meterd.paytables.model import PayTable


class Catalogue(NamedTuple):
    """What comes with the program and a site file may name: pay tables, module profiles, sign models, each by id.

    ``paytable_sha256``: pay table id → SHA-256 (hex) of its file, for the entry that brings a link into force.
    """

    paytables: Mapping[str, PayTable]
    profiles: Mapping[str, Profile]
    signs: Mapping[str, SignModel]
    paytable_sha256: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TableConfig:
    """A table and the modules wired to it. ``keypad`` None: claims come from a page or the command line only."""

    settings: TableSettings
    sensors: ModuleRef
    keypad: ModuleRef | None = None

    @property
    def id(self) -> str:
        """The table's id."""
        return self.settings.id

    @property
    def modules(self) -> tuple[ModuleRef, ...]:
        """All modules of the table; it opens only when each is trusted."""
        return (self.sensors,) if self.keypad is None else (self.sensors, self.keypad)


@dataclass(frozen=True, slots=True)
class BusConfig:
    """One serial line. ``echo``: the adapter hears its own transmissions (two-wire RS-485 without echo suppression)."""

    id: str
    kind: Literal["modbus", "alpha"]
    port: str
    baud: int
    bytesize: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stopbits: Literal[1, 2] = 1
    echo: bool = False

    @property
    def bits_per_character(self) -> int:
        """Start bit, data, parity and stop bits: what one character takes of the line."""
        return 1 + self.bytesize + (self.parity != "N") + self.stopbits


@dataclass(frozen=True, slots=True)
class SignConfig:
    """One sign. ``shows`` are (link, level) pairs in the order they stand; ``labels`` the words before each figure."""

    id: str
    bus: str
    model: SignModel
    shows: tuple[tuple[str, str], ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PollConfig:
    """How often modules are asked, how long a reply may take, and how long an input may be on (``stuck_s``)."""

    levels_ms: int = 100
    counters_ms: int = 1000
    timeout_ms: int = 100
    stuck_s: int = 3600


@dataclass(frozen=True, slots=True)
class WebConfig:
    """Where ``meterd web`` listens."""

    listen: str = "127.0.0.1"
    port: int = 9477


@dataclass(frozen=True, slots=True)
class Site:
    """Everything a site file says.

    Attributes:
        link_sha256: link id → SHA-256 (hex) of its pay table's file, for the entry that brings the link into force.
        approvals: link id → reference of the approval for a setting that needs one.
        gaming_day_starts: ``HH:MM`` in ``timezone``.
        warnings: what works but is not advised.
    """

    settings: SiteSettings
    links: tuple[LinkSettings, ...]
    tables: tuple[TableConfig, ...]
    buses: tuple[BusConfig, ...]
    signs: tuple[SignConfig, ...] = ()
    link_sha256: Mapping[str, str] = field(default_factory=dict)
    timezone: str = "UTC"
    gaming_day_starts: str = "06:00"
    poll: PollConfig = field(default_factory=PollConfig)
    web: WebConfig = field(default_factory=WebConfig)
    warnings: tuple[Finding, ...] = ()
    approvals: Mapping[str, str] = field(default_factory=dict)
    funds: tuple[FundSettings, ...] = ()

    def bus(self, bus_id: str) -> BusConfig:
        """The bus of this id. Raises ``KeyError`` where there is none."""
        return {bus.id: bus for bus in self.buses}[bus_id]

    def modules_of(self, bus_id: str) -> tuple[ModuleRef, ...]:
        """All modules on one bus, in order of their tables."""
        return tuple(module for table in self.tables for module in table.modules if module.bus == bus_id)
