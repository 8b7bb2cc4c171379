"""The floors of the machine: which links and tables a history begins with."""

from __future__ import annotations

from dataclasses import replace

from machine_pools import random_funds
from machine_rules import Pick, random_rules
from machine_world import World


def random_world(pick: Pick) -> World:
    """Three times in four one link, else two with a few tables each; their awards share one numbering.

    On one floor in three there are pools too: a posted jackpot, a Home Run table and a Trips table.
    """
    funds = random_funds(pick) if not pick(3) else None
    if pick(4):
        return World([random_rules(pick)], funds=funds)
    first = random_rules(pick, "L", tables=1 + pick(4))
    second = random_rules(pick, "M", first_table=1 + len(first.tables), tables=1 + pick(4))
    second = replace(
        second, confirm_above=first.confirm_above, cards_above=first.cards_above, two_person=first.two_person
    )
    return World([first, second], funds=funds)
