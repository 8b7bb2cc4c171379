"""``meterd run``: the daemon."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from meterd.cli.client import USUAL_LEDGER, socket_option
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, ConfigError, InvariantBroken, LedgerError


def default_ledger() -> Path:
    """The service manager's state folder, or the usual place."""
    return Path(os.environ.get("STATE_DIRECTORY", "/var/lib/meterd").split(":")[0]) / "ledger"


def default_socket() -> Path:
    """The service manager's runtime folder, or the usual place."""
    return Path(os.environ.get("RUNTIME_DIRECTORY", "/run/meterd").split(":")[0]) / "control.sock"


#: What ``--key`` takes, here and in the verbs of the ledger.
KEY_HELP = "the key that signs the ledger's checkpoints; without it the unit's credential `ledger-key`, if any"


@click.command()
@click.option("--config", required=True, type=click.Path(path_type=Path, dir_okay=False), help="the site file")
@click.option(
    "--ledger",
    type=click.Path(path_type=Path, file_okay=False),
    help="folder of the ledger",
    show_default=USUAL_LEDGER,
)
@socket_option
@click.option(
    "--people",
    "people_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="who may act, and what proves them; without it people.toml beside the site file, where there is one",
)
@click.option("--key", "key_file", type=click.Path(path_type=Path, dir_okay=False), help=KEY_HELP)
@click.option("--frames", help='where to keep what passed over the wires, 512 MB at most; "none": nowhere')
@click.option("--demo", is_flag=True, help="for a rehearsal: takes the ledger of a demo, and refuses one of real money")
def run(
    config: Path,
    ledger: Path | None,
    control: Path | None,
    people_file: Path | None,
    key_file: Path | None,
    frames: str | None,
    demo: bool,
) -> None:
    """Count the progressives of a floor: sensors, keypads and signs on real ports, every cent in the ledger.

    Exit codes: 0 stopped, 2 wrong use, 74 the ledger needs a person, 78 the site file cannot be used.
    """
    import asyncio

    from meterd.app.compose import Daemon, Places
    from meterd.edge import journal
    from meterd.edge.catalogue import PEOPLE_FILE, people_beside, read_people, read_site
    from meterd.edge.keypad_keys import keys_file, pads_of, read_keys
    from meterd.edge.keys import default_key_file, read_key

    lines, _ = journal.start()
    folder = ledger or default_ledger()
    kept = None if frames == "none" else Path(frames) if frames else folder / "frames"
    people_there = people_file or config.parent / PEOPLE_FILE
    places = Places(folder, control or default_socket(), folder / "signs", kept, people_there)
    try:
        site, text = read_site(config)
        found = people_file or people_beside(config)
        people = read_people(found) if found is not None else None
        keys = read_keys(keys_file(config), pads_of(site), demo=demo)
        signing = read_key(file) if (file := key_file or default_key_file()) is not None else None
        daemon = Daemon(
            site,
            text,
            places,
            demo=demo,
            log_dropped=lambda: lines.dropped,
            people=people,
            pad_keys=keys,
            key=signing,
        )
        code = asyncio.run(daemon.run())
    except ConfigError as error:
        complain("meterd run", error)
        code = EXIT_CONFIG
    except (LedgerError, InvariantBroken) as error:
        complain("meterd run", error)
        code = EXIT_LEDGER
    finally:
        lines.close()  # also before a traceback: the log says what went before it
    sys.exit(code)
