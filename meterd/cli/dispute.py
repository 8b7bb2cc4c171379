"""``meterd dispute``: everything about one round in one file that somebody else can check."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from meterd.cli.files import FileToRead, FileToWrite, Folder
from meterd.cli.words import complain, counted
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, EXIT_USAGE, ConfigError, LedgerError, MisuseError


@click.command()
@click.argument("folder", type=Folder(exists=True))
@click.argument("table")
@click.argument("number", type=click.IntRange(1), metavar="ROUND")
@click.option(
    "--frames",
    type=Folder(),
    metavar="FOLDER",
    multiple=True,
    help="a recorder's folder, else FOLDER/frames; once more for that of `meterd sas`",
)
@click.option(
    "--line",
    "lines",
    metavar="LINE",
    multiple=True,
    help="a line besides those of the table's devices: one of games over which no win of this table came",
)
@click.option(
    "--out", type=FileToWrite(), metavar="FILE", help="the file to write; else standard output, if no terminal"
)
@click.option("--key", type=FileToRead(), metavar="FILE", help="the ledger's signing key; else the unit's credential")
def dispute(
    folder: Path,
    table: str,
    number: int,
    frames: tuple[Path, ...],
    lines: tuple[str, ...],
    out: Path | None,
    key: Path | None,
) -> None:
    """Gather round ROUND of TABLE from the ledger in FOLDER. Reads only, and may run beside the daemon.

    In the file: the LOCK with its instant, accepted and late bets with their lamps, keys, awards and what became of
    them, the link's amounts before and after, hashes of pay table and site file, every entry from LOCK to END GAME,
    and for each the path to a root that the ledger's key has signed. Whoever has it checks it with

        python3 second_verifier.py --key NAME+ID+KEY --pack FILE

    and needs nothing else of ours. The raw frames of the table's lines are in it as the recorders kept them; no hash
    covers these. A line of which nothing was found is named.

    Exit codes: 0 gathered, 2 wrong use, or no such table or round, 74 the ledger does not hold, 78 the key cannot be
    used.
    """
    from meterd.app.dispute import find_round, frames_span, pack
    from meterd.edge.keys import default_key_file, read_key
    from meterd.edge.recorder import read_frames
    from meterd.edge.store import read_records

    if out is None and sys.stdout.isatty():
        raise click.UsageError("the pack is some thousand lines: give --out FILE, or lead standard output elsewhere")
    try:
        file = key or default_key_file()
        signing = read_key(file) if file else None
        found = find_round(read_records(folder), table, number)
        boot, from_ns, to_ns, ours = frames_span(found)
        wanted, places = ours | frozenset(lines), frames or (folder / "frames",)
        passed = [frame for place in places for frame in read_frames(place, boot, from_ns, to_ns, wanted)]
        kept = sorted(passed, key=lambda frame: frame["at_ns"])
        document = pack(found, sign=signing.sign_note if signing else None, frames=kept)
    except (LedgerError, OSError) as error:
        complain("meterd dispute", error)
        sys.exit(EXIT_LEDGER)
    except ConfigError as error:
        complain("meterd dispute", error)
        sys.exit(EXIT_CONFIG)
    except MisuseError as error:
        complain("meterd dispute", error)
        sys.exit(EXIT_USAGE)
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    try:
        if out is None:
            click.echo(text, nl=False)
        else:
            out.write_text(text, encoding="utf-8")
    except OSError as error:
        complain("meterd dispute", error)
        sys.exit(EXIT_LEDGER)
    _say_what_lacks(document, wanted, places, signed=signing is not None)
    if out is not None:
        proven = counted(len(document["entries"]), "entry", "entries")
        heard = counted(len(document["frames"]), "exchange")
        click.echo(f"{out}: round {number} of {table}, {proven} with their paths, {heard} of its lines", err=True)


def _say_what_lacks(
    document: Mapping[str, Any], wanted: Iterable[str], places: Sequence[Path], *, signed: bool
) -> None:
    """Name lines of which the recorders kept nothing, and say where a pack proves nothing without a checkpoint."""
    if unheard := sorted({*wanted} - {frame["line"] for frame in document["frames"]}):
        complain(
            "meterd dispute",
            f"no frame of {', '.join(unheard)} in {', '.join(map(str, places))}. `meterd sas` keeps those of its lines"
            " in a folder of its own: give --frames for each; of a USB keyboard there are none",
        )
    if not signed:
        complain(
            "meterd dispute",
            "without a key nothing is signed, and nobody can hold it against the ledger: make it again with --key, "
            f"or hand over a checkpoint of just {document['tree_size']} entries beside it",
        )
