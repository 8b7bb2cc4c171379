"""The audit of a ledger with posted jackpots: what an entry says of its pools must be what the postings say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from meterd.accounting.entries import Entry, Kind
from meterd.app.commit import Stamp, draft_entry, entry_draft
from meterd.app.scenario_parse import parse_page
from meterd.app.scenario_pools import POOL_COMMANDS
from meterd.app.scenario_setup import Setup
from meterd.app.scenario_world import SITE_ID, World
from meterd.app.verify import Audit
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Record

PAGE = """
pool P1/primary share 75%
pool P1/secondary share 25%
rake P1 2.00
post P1
win P1/primary shares "100%" by sup-1
pay J1
pool T3/home-run game home-run-hold-em seats 6
strike-out T3 seats 1-2 each 1.00
hand T3 seat 2
"""


def played(tmp_path: Any) -> World:
    world = World.create()
    setup = Setup({}, tmp_path)
    for line in parse_page(PAGE, "page.scn"):
        if line.name == "pool":
            setup.add(line)
            continue
        for _, command in setup.commands():
            assert world.act(command).refusal is None
        assert world.act(POOL_COMMANDS[line.name](line)).refusal is None
    return world


def audited(entries: Sequence[Entry]) -> list[str]:
    """What an audit says of these entries, sealed into a chain that holds."""
    audit, head = Audit(), GENESIS
    for seq, entry in enumerate(entries, start=1):
        stamp = Stamp("2026-12-01T06:00:00.000000Z", SITE_ID, seq)
        record: Record = seal(entry_draft(entry, stamp, SITE_ID), seq, head)
        head = record.hash
        reason = audit.take(record)
        if reason is not None:
            return [reason]
    return []


def test_an_honest_ledger_holds(tmp_path: Any) -> None:
    """Every entry of every kind, as it was written."""
    assert [] == audited([draft_entry(record) for record in played(tmp_path).records])


@pytest.mark.parametrize("kind", [Kind.RAKED, Kind.POOL_WON, Kind.HAND_WON])
@pytest.mark.parametrize("leave_out", [False, True], ids=["another amount", "no amount"])
def test_a_pool_that_is_not_what_its_entry_says(tmp_path: Any, kind: Kind, leave_out: bool) -> None:
    """The first entry whose stored pools differ from the fold is named, however well its hash fits."""
    entries = [draft_entry(record) for record in played(tmp_path).records]
    at = next(index for index, entry in enumerate(entries) if entry.kind is kind)
    pools = {name: dict(facts) for name, facts in entries[at].body["pools"].items()}
    moved = next(p.account.removeprefix("pool/") for p in entries[at].postings if p.account.startswith("pool/"))
    if leave_out:
        del pools[moved]
    else:
        pools[moved]["microcents"] += 1
    entries[at] = replace(entries[at], body={**entries[at].body, "pools": pools})
    (said,) = audited(entries)
    assert moved in said
