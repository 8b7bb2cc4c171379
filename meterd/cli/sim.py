"""``meterd sim``: the other end of every wire, for demos, tests and rehearsals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from meterd.cli.words import Finite, NamingGroup, complain
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_LEDGER, EXIT_USAGE

if TYPE_CHECKING:
    from meterd.sim.journal import Journal
    from meterd.sim.orders import Orders
    from meterd.sim.plan import Plan
    from meterd.sim.ports import Mode, PortRefusedError

_RATE = Finite(0, 1)


@click.group(cls=NamingGroup, invoke_without_command=True)
@click.option("--plan", "plan_file", type=click.Path(path_type=Path, dir_okay=False), help="lines and tables")
@click.option("--log", "log_file", type=click.Path(path_type=Path, dir_okay=False), help="one JSON line an event")
@click.option("--seed", type=int, default=0, show_default=True, help="of the people's choices and the cards")
@click.option("--speed", type=Finite(0.1, 1000), default=1.0, show_default=True, help="divides pauses of people")
@click.option("--seconds", type=Finite(0, min_open=True), help="stop by itself")
@click.option(
    "--orders",
    "orders_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help='what happens to cables and devices, such as "at 5 unplug pit-1"; - reads them as they are typed',
)
@click.pass_context
def sim(
    context: click.Context,
    plan_file: Path | None,
    log_file: Path | None,
    seed: int,
    speed: float,
    seconds: float | None,
    orders_file: Path | None,
) -> None:
    """Serve modules, keypads and signs on pseudo-terminals, and play at the tables of a plan.

    The first line on standard output says that the ports exist, the last one what was seen and done.

    Exit codes: 0 stopped, 2 the plan or an order cannot be read or played.
    """
    if context.invoked_subcommand is not None:
        return
    if plan_file is None:
        raise click.UsageError("name a plan with --plan; meterd sim prepare makes one from a site file")
    from meterd.sim.journal import Journal
    from meterd.sim.orders import OrderError
    from meterd.sim.plan import Plan, PlanError
    from meterd.sim.world import loop_factory

    with ExitStack() as files:
        try:
            plan = Plan.parse(_text_of(plan_file))
            log = files.enter_context(log_file.open("a", encoding="utf-8")) if log_file else None
            orders = _opened(orders_file, files)
            with asyncio.Runner(loop_factory=loop_factory) as runner:
                runner.run(_play(plan, Journal(log), seed, speed, seconds, orders))
        except PlanError as error:
            click.echo(f"meterd sim: {plan_file}: {error}", err=True)
            sys.exit(EXIT_USAGE)
        except OrderError as error:
            click.echo(f"meterd sim: {orders_file}: {error}", err=True)
            sys.exit(EXIT_USAGE)
        except OSError as error:
            where = f"{error.filename or 'the ports'}: {error.strerror}" if error.strerror else error
            click.echo(f"meterd sim: {where}", err=True)
            sys.exit(EXIT_USAGE)


def _text_of(path: Path) -> str:
    from meterd.sim.plan import PlanError

    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise PlanError(f"no text: {error}") from error


def _opened(path: Path | None, files: ExitStack) -> TextIO | None:
    if path is None:
        return None
    return sys.stdin if str(path) == "-" else files.enter_context(path.open(encoding="utf-8"))


async def _play(
    plan: Plan, journal: Journal, seed: int, speed: float, seconds: float | None, orders: TextIO | None
) -> None:
    from meterd.sim.orders import Orders
    from meterd.sim.world import World

    stop = _stopped()
    loop = asyncio.get_running_loop()
    world = World(plan, journal, seed=seed, speed=speed)
    try:
        if orders is not None:
            _take(orders, Orders(world, loop.time, loop.call_later, str(seed)))
        _ready({name: str(line.path) for name, line in world.lines.items()})
        await world.run(seconds, stop)
    finally:
        click.echo(json.dumps(journal.summary()))


def _stopped() -> asyncio.Event:
    """Set by SIGTERM or Ctrl-C."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _ready(ports: dict[str, str]) -> None:
    click.echo(json.dumps({"ready": True, "ports": ports}))
    sys.stdout.flush()


def _take(source: TextIO, orders: Orders) -> None:
    """A file's orders are all read before anything begins; typed ones as they come."""
    from meterd.sim.orders import OrderError, timed

    loop = asyncio.get_running_loop()
    if source is sys.stdin:
        rest = bytearray()

        def typed() -> None:
            data = os.read(source.fileno(), 4096)
            if not data:
                loop.remove_reader(source.fileno())
            rest.extend(data)
            while b"\n" in rest:
                line, _, after = bytes(rest).partition(b"\n")
                rest[:] = after
                _later(orders, line.decode("utf-8", "replace"))

        loop.add_reader(source.fileno(), typed)
        return
    found = []
    try:
        lines = source.readlines()
    except UnicodeDecodeError as error:
        raise OrderError(f"no text: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            order = timed(line)
            if order is not None:
                orders.read(order.text)
                found.append(order)
        except OrderError as error:
            raise OrderError(f"line {number}: {error}") from error
    for order in found:
        loop.call_later(order.after_s, _now, orders, order.text)


def _later(orders: Orders, line: str) -> None:
    from meterd.sim.orders import OrderError, timed

    try:
        order = timed(line)
    except OrderError as error:
        click.echo(f"meterd sim: {error}", err=True)
        return
    if order is not None:
        asyncio.get_running_loop().call_later(order.after_s, _now, orders, order.text)


def _now(orders: Orders, text: str) -> None:
    """One order; what it came to is a line on standard error."""
    from meterd.sim.orders import OrderError

    try:
        orders.carry_out(text)
        click.echo(f"done: {text}", err=True)
    except OrderError as error:
        click.echo(f"meterd sim: {text}: {error}", err=True)


@sim.command()
@click.option("--config", "config", type=click.Path(path_type=Path), required=True, help="The site file.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def prepare(config: Path, folder: Path) -> None:
    """Make a rehearsal of a site in FOLDER: its site file with ports of our own, a plan, and a demo ledger.

    Nothing of the real site is touched. The commands to run are printed; and people are made who can sign in it.

    Exit codes: 0 done, 2 the site cannot be simulated or FOLDER is in use, 74 no ledger, 78 the site file is wrong.
    """
    from meterd.app.rehearsal import prepare as made
    from meterd.errors import ConfigError, LedgerError, MisuseError

    try:
        rehearsal = made(config, folder)
    except ConfigError as error:
        complain("meterd sim prepare", error)
        sys.exit(EXIT_CONFIG)
    except LedgerError as error:
        complain("meterd sim prepare", error)
        sys.exit(EXIT_LEDGER)
    except (MisuseError, OSError) as error:
        complain("meterd sim prepare", error)
        sys.exit(EXIT_USAGE)
    for left in rehearsal.left_out:
        click.echo(f"left out: {left}", err=True)
    click.echo("# each in a terminal of its own:")
    for command in rehearsal.commands:
        click.echo(command)
    click.echo("# from one more, whenever you like:")
    for command in rehearsal.asks:
        click.echo(command)
    sys.exit(EXIT_DONE)


@sim.command()
@click.argument("near", type=click.Path(path_type=Path))
@click.argument("far", type=click.Path(path_type=Path))
@click.option("--drop", type=_RATE, default=0.0, help="a byte does not arrive")
@click.option("--flip", type=_RATE, default=0.0, help="one of its bits arrives the other way")
@click.option("--duplicate", type=_RATE, default=0.0, help="it arrives twice")
@click.option("--stray", type=_RATE, default=0.0, help="a byte that nobody sent arrives before it")
@click.option("--cut", type=_RATE, default=0.0, help="it and the rest of its piece do not arrive")
@click.option("--delay", type=_RATE, default=0.0, help="it and what follows come later")
@click.option("--delay-ms", type=Finite(0), default=50.0, show_default=True, help="by how much")
@click.option("--echo", is_flag=True, help="what is sent is heard by its sender too")
@click.option("--baud", type=click.IntRange(1), default=9600, show_default=True, help="how FAR is set")
@click.option("--mode", "word", default="8N1", show_default=True, help="how FAR is set: data bits, parity, stop bits")
@click.option("--seed", default="0", show_default=True, help="of the faults")
@click.option("--seconds", type=Finite(0, min_open=True), help="stop by itself")
def cable(near: Path, far: Path, seed: str, seconds: float | None, baud: int, word: str, **rates: Any) -> None:
    """Put a bad cable between NEAR, a port it makes, and FAR, a port that exists. Rates are per byte, 0 to 1.

    FAR is taken for this alone. Typed lines act on the cable: unplug, plug, to PORT. The last line on standard output
    counts what happened.

    Exit codes: 0 stopped, 2 wrong use, FAR cannot be used or is held by another program, NEAR is something else.
    """
    from meterd.sim.faults import Rates
    from meterd.sim.ports import Mode, PortRefusedError

    try:
        asyncio.run(_cable(near, far, Rates(**rates), seed, seconds, Mode.of(baud, word)))
    except PortRefusedError as refused:
        complain("meterd sim cable", _refused(refused, far))
        sys.exit(EXIT_USAGE)
    except ValueError as error:
        complain("meterd sim cable", error)
        sys.exit(EXIT_USAGE)


def _refused(refused: PortRefusedError, port: Path) -> str:
    from meterd.edge.ports import held_by

    return f"{refused}{held_by(str(port)) if refused.held else ''}"


async def _cable(near: Path, far: Path, rates: Any, seed: str, seconds: float | None, mode: Mode) -> None:
    from contextlib import suppress

    from meterd.sim.faults import NoiseProxy

    stop = _stopped()
    proxy = NoiseProxy(near, far, rates, seed, mode=mode)
    if proxy.refused is not None:
        proxy.close()
        raise proxy.refused
    acts: dict[str, Callable[[], None]] = {"unplug": proxy.unplug, "plug": proxy.plug}

    def typed() -> None:
        data = os.read(sys.stdin.fileno(), 4096)
        if not data:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        for line in data.decode("utf-8", "replace").splitlines():
            verb, _, where = line.strip().partition(" ")
            if verb == "to" and where:
                proxy.lead_to(Path(where))
                if proxy.refused is not None:
                    complain("meterd sim cable", f"{_refused(proxy.refused, Path(where))}; it is tried again")
            elif verb in acts:
                acts[verb]()
            elif verb:
                click.echo(f"meterd sim cable: no {verb!r}: there are unplug, plug, to PORT", err=True)

    with suppress(OSError, ValueError):  # no standard input, or one that is a plain file
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), typed)
    _ready({"near": str(near)})
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await stop.wait()
    finally:
        proxy.close()
        click.echo(json.dumps({"carried": proxy.carried, **{str(kind): n for kind, n in proxy.counts.items()}}))
