"""Site text → frozen settings, or findings that name file, line and key. Pure: takes text, opens nothing.

* :mod:`~meterd.config.devices`: what a module or a sign can do (profiles)
* :mod:`~meterd.config.site`: a site, frozen
* :mod:`~meterd.config.shapes`: keys, types and bounds of a site file; :mod:`~meterd.config.profiles`: of a profile
* :mod:`~meterd.config.lines`, :mod:`~meterd.config.findings`, :mod:`~meterd.config.explain`: where, what, and in words
"""

from __future__ import annotations

from meterd.config.devices import (
    KEY_NAMES,
    BitBlock,
    CounterBlock,
    IdentityBlock,
    ModuleRef,
    Profile,
    SignModel,
    TextBlock,
    UnitWanted,
)
from meterd.config.findings import Finding, SiteErrors
from meterd.config.profiles import load_profile, load_signs
from meterd.config.shapes import site_schema
from meterd.config.site import (
    BusConfig,
    Catalogue,
    PollConfig,
    SignConfig,
    Site,
    TableConfig,
    WebConfig,
)

__all__ = [
    "KEY_NAMES",
    "BitBlock",
    "BusConfig",
    "Catalogue",
    "CounterBlock",
    "Finding",
    "IdentityBlock",
    "ModuleRef",
    "PollConfig",
    "Profile",
    "SignConfig",
    "SignModel",
    "Site",
    "SiteErrors",
    "TableConfig",
    "TextBlock",
    "UnitWanted",
    "WebConfig",
    "load_profile",
    "load_signs",
    "site_schema",
]
