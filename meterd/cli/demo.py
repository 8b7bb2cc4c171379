"""``meterd demo``: a floor without hardware."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import click

from meterd.cli.words import Finite, complain, counted
from meterd.errors import EXIT_FINDING, EXIT_USAGE, MeterdError


@click.command()
@click.option("--seconds", type=Finite(1), help="stop by itself after so many seconds")
@click.option("--speed", default=1.0, show_default=True, type=Finite(0.1, 50), help="divides people's pauses")
@click.option("--headless", is_flag=True, help="open no browser; pages are served all the same")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="keep the ledger in this folder")
@click.option("--json", "as_json", is_flag=True, help="end with one JSON document on standard output")
def demo(seconds: float | None, speed: float, headless: bool, data: Path | None, as_json: bool) -> None:
    """Play eight tables on pseudo-terminals with real protocol bytes. Nothing here is real money.

    Exit codes: 0 done and the ledger verifies, 1 it does not, 2 wrong use or a folder that cannot be used.
    """
    import math

    from meterd.app.demo import Demo, DemoOptions

    if math.isnan(speed) or (seconds is not None and math.isnan(seconds)):  # which click lets through every range
        raise click.UsageError("--seconds and --speed take numbers")
    try:
        floor = Demo(DemoOptions(seconds, speed, headless, data), _say)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: floor.stop())
        report = floor.run()
    except MeterdError as error:
        complain("meterd demo", error)
        sys.exit(EXIT_USAGE)
    verdict = "verified" if report["ledger_ok"] else "DOES NOT VERIFY"
    floor.tell(
        f"{counted(report['rounds'], 'round')}, {counted(report['wagers'], 'wager')}, "
        f"{counted(report['awards'], 'award')}, {counted(report['late_bets'], 'late bet')} refused; "
        f"ledger {verdict}: {floor.folder}"
    )
    if as_json:
        click.echo(json.dumps(report))
    if not report["ledger_ok"]:
        sys.exit(EXIT_FINDING)


def _say(line: str) -> None:
    """One line on standard error.

    Raises:
        BrokenPipeError: nobody reads it any more. What is still to be written goes nowhere, or the interpreter would
            end with an exit code of its own.
    """
    try:
        click.echo(line, err=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        raise
