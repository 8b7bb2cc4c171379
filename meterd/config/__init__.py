"""Site text → frozen settings, or findings that name file, line and key. Pure: takes text, opens nothing.

* :mod:`~meterd.config.devices`: what a module or a sign can do (profiles)
* :mod:`~meterd.config.site`: a site, frozen
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
    "IdentityBlock",
    "ModuleRef",
    "PollConfig",
    "Profile",
    "SignConfig",
    "SignModel",
    "Site",
    "TableConfig",
    "TextBlock",
    "UnitWanted",
    "WebConfig",
]
