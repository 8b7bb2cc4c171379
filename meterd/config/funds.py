"""Posted jackpots and pools of table games in a site file: from their shapes to their settings.

Source of the rules: money rules M11; what cannot be is told by ``accounting.settings_pools.problems``.
"""

from __future__ import annotations

from meterd.accounting.settings_pools import AtCap, FundSettings, PoolGame, PoolSettings, problems
from meterd.config.findings import Node, check_unique
from meterd.config.shapes import FundShape, PoolShape


def check_funds(root: Node, funds: tuple[FundShape, ...]) -> None:
    """Note everything about ``[[fund]]`` that single values cannot show: names that are taken, pools that cannot be."""
    nodes = list(root.nodes("fund"))
    check_unique(nodes, "id", "fund")
    taken = {node.text("id") for kind in ("link", "table") for node in root.nodes(kind)}
    for node, shape in zip(nodes, funds, strict=True):
        if shape.id in taken:
            node.finding("id", f'"{shape.id}" is a link or table: a jackpot and its drop box have a name of their own')
        for problem in problems(fund_settings(shape)):
            node.finding("pool", problem)


def fund_settings(fund: FundShape) -> FundSettings:
    """A fund as accounting takes it."""
    return FundSettings(
        id=fund.id,
        game=PoolGame(fund.game),
        pools=tuple(_pool(pool) for pool in fund.pool),
        take_max_cents=None if fund.take_max_cents == "none" else fund.take_max_cents,
        unclaimed_days=fund.unclaimed_days,
        seats=fund.seats,
        high_hand_ppm=None if fund.high_hand_ppm == "none" else fund.high_hand_ppm,
    )


def _pool(pool: PoolShape) -> PoolSettings:
    return PoolSettings(
        name=pool.name,
        share_ppm=pool.share_ppm,
        cap_cents=None if pool.cap_cents == "none" else pool.cap_cents,
        at_cap=None if pool.at_cap == "none" else AtCap(pool.at_cap),
        share_at_cap_ppm=None if pool.share_at_cap_ppm == "same" else pool.share_at_cap_ppm,
        reseeds=None if pool.reseeds == "none" else pool.reseeds,
        offered=pool.offered == "yes",
    )
