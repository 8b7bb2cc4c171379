"""``meterd sim``: the other end of every wire, for demos and tests."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from meterd.errors import EXIT_USAGE

if TYPE_CHECKING:
    from meterd.sim.journal import Journal
    from meterd.sim.plan import Plan


@click.command()
@click.option(
    "--plan", "plan_file", required=True, type=click.Path(path_type=Path, dir_okay=False), help="lines and tables"
)
@click.option("--log", "log_file", type=click.Path(path_type=Path, dir_okay=False), help="one JSON line an event")
@click.option("--seed", type=int, default=0, show_default=True, help="of the people's choices and the cards")
@click.option(
    "--speed", type=click.FloatRange(0.1, 1000), default=1.0, show_default=True, help="divides pauses of people"
)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="stop by itself")
def sim(plan_file: Path, log_file: Path | None, seed: int, speed: float, seconds: float | None) -> None:
    """Serve modules, keypads and signs on pseudo-terminals, and play at the tables of a plan.

    The first line on standard output says that the ports exist, the last one what was seen and done.

    Exit codes: 0 stopped, 2 the plan cannot be read or played.
    """
    from meterd.sim.journal import Journal
    from meterd.sim.plan import Plan, PlanError
    from meterd.sim.world import loop_factory

    with ExitStack() as files:
        try:
            plan = Plan.parse(plan_file.read_text("utf-8"))
            log = files.enter_context(log_file.open("a", encoding="utf-8")) if log_file else None
            with asyncio.Runner(loop_factory=loop_factory) as runner:
                runner.run(_play(plan, Journal(log), seed, speed, seconds))
        except PlanError as error:
            click.echo(f"meterd sim: {plan_file}: {error}", err=True)
            sys.exit(EXIT_USAGE)
        except OSError as error:
            click.echo(f"meterd sim: {error.filename or 'the ports'}: {error.strerror or error}", err=True)
            sys.exit(EXIT_USAGE)


async def _play(plan: Plan, journal: Journal, seed: int, speed: float, seconds: float | None) -> None:
    from meterd.sim.world import World

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    world = World(plan, journal, seed=seed, speed=speed)
    click.echo(json.dumps({"ready": True, "ports": {name: str(line.path) for name, line in world.lines.items()}}))
    sys.stdout.flush()
    try:
        await world.run(seconds, stop)
    finally:
        click.echo(json.dumps(journal.summary()))
