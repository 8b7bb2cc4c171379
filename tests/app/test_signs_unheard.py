"""While the money thread is not heard of, its signs say CLOSED; once it is, they show the meters again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from meterd.app.compose import Daemon, Places
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.config import load_site
from meterd.edge.catalogue import catalogue

LIMIT_S = 20


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - a thread that stalls announces nothing
            await asyncio.sleep(0.01)


def test_a_stalled_money_thread_closes_the_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change is told to each line of signs once."""
    text = site_text(tmp_path / "ports", 100, 9477)
    site = load_site(text, "site.toml", catalogue())
    create_ledger(tmp_path / "ledger", site, demo=True)
    places = Places(tmp_path / "ledger", tmp_path / "control.sock", tmp_path / "memory")
    daemon = Daemon(site, text, places, demo=True)
    monkeypatch.setattr("meterd.app.compose.MONEY_STALE_S", 2.0)
    told: list[bool] = []
    for signs in daemon._signs.values():
        monkeypatch.setattr(signs, "unheard", told.append)

    async def work() -> None:
        running = asyncio.create_task(daemon.run())
        await until(lambda: (tmp_path / "control.sock").exists() and daemon.money.started.is_set())
        hears = daemon.money._alive
        daemon.money._alive = lambda: None
        await until(lambda: told)
        assert [True] * len(daemon._signs) == told
        daemon.money._alive = hears
        await until(lambda: not daemon._health.unheard)
        assert [True] * len(daemon._signs) + [False] * len(daemon._signs) == told
        daemon._stop.set()
        await running

    asyncio.run(work())
