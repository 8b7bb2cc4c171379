"""Commands of the ledger's own life: the reading that ends a gaming day, the day that people vouch for, the key."""

from __future__ import annotations

from dataclasses import dataclass

from meterd.accounting.commands import Command
from meterd.accounting.commands_links import TwoPeople


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDay(Command):
    """A gaming day is over: read all meters, add up the day. ``day`` and ``next_day`` are dates, ``2026-12-01``."""

    day: str
    next_day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmDay(TwoPeople):
    """The gaming day is this one, though the wall clock has come to it over more than one border. A date."""

    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKey(TwoPeople):
    """From now on this key signs the ledger's checkpoints; it is written down here as ``name+id+key``."""

    key: str
