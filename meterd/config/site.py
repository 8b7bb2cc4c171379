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
from meterd.config.pads import PadProfile, PadRef
from meterd.paytables.model import PayTable


class Catalogue(NamedTuple):
    """What comes with the program and a site file may name: pay tables, module profiles, sign models, each by id.

    ``paytable_sha256``: pay table id → SHA-256 (hex) of its file, for the entry that brings a link into force.
    """

    paytables: Mapping[str, PayTable]
    profiles: Mapping[str, Profile | PadProfile]
    signs: Mapping[str, SignModel]
    paytable_sha256: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TableConfig:
    """A table and what is wired to it. ``keypad`` None: claims come from a page or the command line only.

    ``badge_ms``: how long a badge held to its pad speaks for its holder.
    """

    settings: TableSettings
    sensors: ModuleRef
    keypad: ModuleRef | PadRef | None = None
    badge_ms: int = 15_000

    @property
    def id(self) -> str:
        """The table's id."""
        return self.settings.id

    @property
    def modules(self) -> tuple[ModuleRef, ...]:
        """All modules of the table that are read and written by Modbus."""
        return tuple(each for each in self.devices if isinstance(each, ModuleRef))

    @property
    def devices(self) -> tuple[ModuleRef | PadRef, ...]:
        """Everything wired to the table; it opens only when each is trusted."""
        return (self.sensors,) if self.keypad is None else (self.sensors, self.keypad)


@dataclass(frozen=True, slots=True)
class BusConfig:
    """One serial line. ``echo``: the adapter hears its own transmissions (two-wire RS-485 without echo suppression).

    A USB keyboard (``hid``) has a path and no speed: ``baud`` 0.
    """

    id: str
    kind: Literal["modbus", "alpha", "sas", "osdp", "hid"]
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
    """One sign. ``shows`` are (link, level) pairs in the order they stand; ``labels`` the words before each figure.

    ``widest``: the characters of the widest value of each figure. ``notice``: what players must be told besides.
    """

    id: str
    bus: str
    model: SignModel
    shows: tuple[tuple[str, str], ...]
    labels: tuple[str, ...] = ()
    widest: tuple[int, ...] = ()
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class SasGame:
    """A game on a SAS line. ``table`` and ``seat``: where its win is claimed; None: it is only noted."""

    address: int
    table: str | None = None
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class SasConfig:
    """What ``meterd sas`` says on one line, and whom it asks there.

    Attributes:
        levels: SAS level 1, 2, … as (link, level); None where a number is left out.
        stale_ms: a figure older than this is not said.
        settle_ms: from the first byte of a message to the rest, for adapters that say too early that it has left.
        loopback: the port of a second adapter on the line, for the test at start.
        rehearsal: no ninth bit; a demo on pseudo-terminals.
    """

    bus: str
    group: int
    levels: tuple[tuple[str, str] | None, ...]
    games: tuple[SasGame, ...] = ()
    broadcast: int = 0x86
    win_poll: int = 0x85
    grid_ms: int = 200
    stale_ms: int = 2500
    settle_ms: int = 0
    loopback: str | None = None
    rehearsal: bool = False

    @property
    def numbered(self) -> Mapping[int, tuple[str, str]]:
        """SAS level → (link, level)."""
        return {number: level for number, level in enumerate(self.levels, 1) if level is not None}


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
        checkpoints_to: a second folder, on another disk or machine, that keeps every checkpoint.
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
    checkpoints_to: str | None = None
    poll: PollConfig = field(default_factory=PollConfig)
    web: WebConfig = field(default_factory=WebConfig)
    warnings: tuple[Finding, ...] = ()
    approvals: Mapping[str, str] = field(default_factory=dict)
    funds: tuple[FundSettings, ...] = ()
    sas: tuple[SasConfig, ...] = ()

    def bus(self, bus_id: str) -> BusConfig:
        """The bus of this id. Raises ``KeyError`` where there is none."""
        return {bus.id: bus for bus in self.buses}[bus_id]

    def modules_of(self, bus_id: str) -> tuple[ModuleRef, ...]:
        """All modules on one Modbus line, in order of their tables."""
        return tuple(module for table in self.tables for module in table.modules if module.bus == bus_id)

    def pads_of(self, bus_id: str) -> tuple[PadRef, ...]:
        """All pads on one bus that tell their presses one by one, in order of their tables."""
        return tuple(
            each for table in self.tables for each in table.devices if isinstance(each, PadRef) and each.bus == bus_id
        )
