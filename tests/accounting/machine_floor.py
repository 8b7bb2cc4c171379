"""The floors of the machine: which links and tables a history begins with."""

from __future__ import annotations

from dataclasses import replace

from machine_rules import Pick, random_rules
from machine_world import World


def random_world(pick: Pick) -> World:
    """Three times in four one link, else two with a few tables each; their awards share one numbering."""
    if pick(4):
        return World([random_rules(pick)])
    first = random_rules(pick, "L", tables=1 + pick(4))
    second = random_rules(pick, "M", first_table=1 + len(first.tables), tables=1 + pick(4))
    return World([first, replace(second, confirm_above=first.confirm_above)])
