"""How the daemon ends where something around it fails: with the right code, and with nothing left behind."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from meterd.app.compose import Daemon, Places
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.cli.run import run
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.journal import Journal
from meterd.edge.store import Store
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_LEDGER, ConfigError, InvariantBroken, LedgerError

LIMIT_S = 20


@pytest.fixture
def make(tmp_path: Path) -> Callable[[Path], Daemon]:
    """A daemon over a fresh ledger; its ports do not exist."""
    text = site_text(tmp_path / "ports", 100, 9477)
    (tmp_path / "site.toml").write_text(text)
    site = load_site(text, "site.toml", catalogue())
    create_ledger(tmp_path / "ledger", site, demo=True)

    def made(socket: Path) -> Daemon:
        places = Places(tmp_path / "ledger", socket, tmp_path / "memory")
        return Daemon(site, text, places, demo=True, log_dropped=lambda: 7)

    return made


async def _ended(daemon: Daemon) -> int:
    """Run until it is ready, then end it as SIGTERM does."""
    running = asyncio.create_task(daemon.run())
    async with asyncio.timeout(LIMIT_S):
        while not running.done() and not daemon._places.socket.exists():  # noqa: ASYNC110 - a file announces nothing
            await asyncio.sleep(0.01)
        daemon._stop.set()
        return await running


def test_a_socket_that_cannot_be_opened_ends_the_daemon_and_its_money_thread(
    make: Callable[[Path], Daemon], tmp_path: Path
) -> None:
    """A path too long for a socket: a cause, and no thread that would keep the process and the ledger for ever."""
    daemon = make(tmp_path / ("x" * 120) / "control.sock")
    with pytest.raises(ConfigError, match="control socket"):
        asyncio.run(_ended(daemon))
    assert "money" not in {thread.name for thread in threading.enumerate()}


def test_the_socket_is_open_to_owner_and_group_alone(make: Callable[[Path], Daemon], tmp_path: Path) -> None:
    """0660 while it runs, gone afterwards; a clean end is exit 0."""
    daemon = make(tmp_path / "control.sock")
    modes = []
    before = os.umask(0)

    async def work() -> int:
        running = asyncio.create_task(daemon.run())
        async with asyncio.timeout(LIMIT_S):
            while not daemon._places.socket.exists():  # noqa: ASYNC110 - a file announces nothing
                await asyncio.sleep(0)
            modes.append(stat.S_IMODE(daemon._places.socket.stat().st_mode))
            daemon._stop.set()
            return await running

    try:
        assert EXIT_DONE == asyncio.run(work())
    finally:
        os.umask(before)
    assert [0o660] == modes
    assert not daemon._places.socket.exists()


def test_a_ledger_that_cannot_be_closed_well_is_exit_74(
    make: Callable[[Path], Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails at the very end, when the write-ahead log is moved into the file: a person must look."""
    daemon = make(tmp_path / "control.sock")

    def fail(self: Store) -> None:
        raise LedgerError("the ledger could not be closed well")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "close", fail)
        assert EXIT_LEDGER == asyncio.run(_ended(daemon))
    daemon._store.close()


@pytest.mark.parametrize(
    ("error", "code"), [(ConfigError, EXIT_CONFIG), (LedgerError, EXIT_LEDGER), (InvariantBroken, EXIT_LEDGER)]
)
def test_each_error_of_a_start_has_its_exit_code(
    error: type[Exception], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """78 for what the operator wrote, 74 for what the ledger says; never a traceback."""

    def fail(_path: Path) -> None:
        raise error("so it is")

    monkeypatch.setattr("meterd.edge.catalogue.read_site", fail)
    monkeypatch.setattr("meterd.edge.journal.start", lambda: (Journal(lambda _line: None), None))
    result = CliRunner().invoke(run, ["--config", str(tmp_path / "site.toml")])
    assert code == result.exit_code
    assert "so it is" in result.output


def test_the_stats_tell_how_many_log_lines_were_lost(make: Callable[[Path], Daemon], tmp_path: Path) -> None:
    """An alert watches this number."""
    daemon = make(tmp_path / "control.sock")
    assert 7 == daemon._stats()["log_dropped"]
    daemon._store.close()


def test_a_long_ledger_asks_the_manager_for_time_while_it_is_read(
    make: Callable[[Path], Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a ledger that takes longer than the unit's start limit could never be started on again."""
    told: list[str] = []
    monkeypatch.setattr("meterd.app.compose.TELL_ENTRIES", 5)
    monkeypatch.setattr("meterd.app.compose.notify", told.append)
    daemon = make(tmp_path / "control.sock")
    assert daemon._store.seq // 5 == len(told) > 1
    assert told[0] == "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=reading the ledger, entry 5"
    daemon._store.close()


def test_the_watchdog_is_fed_only_while_the_wire_loop_ticks(
    make: Callable[[Path], Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The money thread feeds it, not more often than needed, and never for a wire loop that hangs."""
    daemon = make(tmp_path / "control.sock")
    now = [1000.0]
    fed: list[str] = []
    monkeypatch.setattr("meterd.app.compose.time.monotonic", lambda: now[0])
    monkeypatch.setattr("meterd.app.compose.notify", fed.append)
    daemon._watchdog_s = 5.0
    daemon._health.tick_s = 999.0
    for now[0] in (1000.0, 1001.5, 1003.0, 1006.0):  # the last tick was at 999
        daemon._feed_watchdog()
    assert ["WATCHDOG=1"] == fed
    daemon._health.tick_s = 1006.0
    daemon._feed_watchdog()
    daemon._feed_watchdog()
    assert 2 == len(fed)
    daemon._store.close()


def test_a_claim_hears_the_highest_figure_that_any_sign_of_its_link_got(
    make: Callable[[Path], Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Per level, in cents; a figure that is CLOSED or unknown says nothing, and other links stay out of it."""
    daemon = make(tmp_path / "control.sock")
    first, *_ = daemon.site.signs
    link = first.shows[0][0]
    got: dict[str, tuple[int | None, ...]] = {sign.id: (7,) * len(sign.shows) for sign in daemon.site.signs}
    got[first.id] = (5000, None, 300)
    twin = replace(first, id="twin")
    daemon.site = replace(daemon.site, signs=(*daemon.site.signs, twin))
    daemon._sign_bus["twin"] = daemon._sign_bus[first.id]
    got["twin"] = (4000, None, 301)
    monkeypatch.setattr("meterd.edge.sign.SignBus.shown_cents", lambda _bus, sign: got[sign])
    (top, _), (_, _), (low, _) = ((level, link) for link, level in first.shows)
    assert {top: 5000, low: 301} == daemon.money._signs_shown(link)
    daemon._store.close()


def test_a_ledger_that_fails_at_the_first_commit_is_never_ready(
    make: Callable[[Path], Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manager hears of the end and of no beginning; exit 74."""
    daemon = make(tmp_path / "control.sock")
    told: list[str] = []

    def fail(self: Store, _records: object) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr("meterd.app.compose.notify", told.append)
    monkeypatch.setattr(Store, "commit", fail)
    assert EXIT_LEDGER == asyncio.run(_ended(daemon))
    assert ["STOPPING=1"] == told
