"""What a snapshot says of posted jackpots and pool tables."""

from __future__ import annotations

import json

from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.settings_pools import AtCap, FundSettings, PoolGame, PoolSettings
from meterd.app.scenario_world import World
from meterd.app.snapshot import fund_json

DEALER = Actor("dealer@P1", Role.DEALER)
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)


def test_a_jackpot_at_its_cap_with_a_share_to_pay() -> None:
    """Held, posted, the cap and its clock, the shares still owed; plain JSON."""
    world = World.create()
    pools = (PoolSettings("primary", 1_000_000, 200, AtCap.STOP),)
    asked: tuple[Command, ...] = (
        ask.OpenFund(actor=SYSTEM, settings=FundSettings("P1", PoolGame.POSTED, pools, 200)),
        ask.Rake(actor=DEALER, fund="P1", cents=150),
        ask.Post(actor=ACCOUNTANT, fund="P1"),
        ask.WinPool(actor=SUPERVISOR, fund="P1", pool="primary", shares=(ask.Share(500_000, 2),), second=DEALER),
        ask.PayShare(actor=SUPERVISOR, award="J1"),
        ask.Rake(actor=DEALER, fund="P1", cents=125),
    )
    for command in asked:
        assert world.act(command).refusal is None
    told = fund_json(world.book, "P1")
    assert told == json.loads(json.dumps(told))
    assert ("posted", False, True, 237_000_000) == (
        told["game"],
        told["closed"],
        told["rake_stopped"],
        told["liability_microcents"],
    )
    assert told["pools"]["primary"] == {
        "held_microcents": 200_000_000,
        "posted_cents": 75,
        "cap_cents": 200,
        "capped_at": "2020-01-01T06:00:07.000000Z",
        "pay_out_by": "2020-07-01T06:00:07.000000Z",
    }
    until = "2020-04-30T06:00:05.000000Z"  # 120 days
    share = {"id": "J2", "status": "confirmed", "amount_cents": 37, "claimable_until": until}
    assert [share] == told["shares"]
