"""Site text → frozen settings, or findings that name file, line and key. Pure: takes text, opens nothing.

* :mod:`~meterd.config.devices`: what a module or a sign can do (profiles)
* :mod:`~meterd.config.site`: a site, frozen
* :mod:`~meterd.config.shapes`: keys, types and bounds of a site file; :mod:`~meterd.config.profiles`: of a profile
* :mod:`~meterd.config.load`: the way from text to site; ``money_checks`` and ``wiring_checks`` see what no single value
  shows, :mod:`~meterd.config.budget` adds up the line time of each bus
* :mod:`~meterd.config.people`: who may act, from a file of its own
* :mod:`~meterd.config.lines`, :mod:`~meterd.config.findings`, :mod:`~meterd.config.explain`: where, what, and in words
"""

from __future__ import annotations

from meterd.config.budget import BusBudget, UnitBudget, line_budget
from meterd.config.devices import (
    KEY_NAMES,
    BitBlock,
    CounterBlock,
    IdentityBlock,
    ModuleRef,
    Profile,
    SafeState,
    SerialBlock,
    SignModel,
    TextBlock,
    UnitWanted,
)
from meterd.config.findings import Finding, SiteErrors
from meterd.config.load import load_site
from meterd.config.pads import PadProfile, PadRef, PadText
from meterd.config.people import NOBODY, People, Person, load_people
from meterd.config.profiles import load_profile, load_signs
from meterd.config.shapes import site_schema
from meterd.config.site import (
    BusConfig,
    Catalogue,
    PollConfig,
    SasConfig,
    SasGame,
    SignConfig,
    Site,
    TableConfig,
    WebConfig,
)

__all__ = [
    "KEY_NAMES",
    "NOBODY",
    "BitBlock",
    "BusBudget",
    "BusConfig",
    "Catalogue",
    "CounterBlock",
    "Finding",
    "IdentityBlock",
    "ModuleRef",
    "PadProfile",
    "PadRef",
    "PadText",
    "People",
    "Person",
    "PollConfig",
    "Profile",
    "SafeState",
    "SasConfig",
    "SasGame",
    "SerialBlock",
    "SignConfig",
    "SignModel",
    "Site",
    "SiteErrors",
    "TableConfig",
    "TextBlock",
    "UnitBudget",
    "UnitWanted",
    "WebConfig",
    "line_budget",
    "load_people",
    "load_profile",
    "load_signs",
    "load_site",
    "site_schema",
]
