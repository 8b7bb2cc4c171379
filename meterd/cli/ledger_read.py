"""``meterd ledger``: what can be read out of one; none of these verbs can write into it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Any

import click

from meterd.cli.files import FileToRead, FileToWrite
from meterd.cli.run import KEY_HELP
from meterd.cli.words import complain, counted
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, EXIT_USAGE, ConfigError, LedgerError, MisuseError

_PLACE = click.argument("folder", type=click.Path(path_type=Path, exists=True), metavar="FOLDER|FILE")
_OUT = click.option("--out", type=FileToWrite(), metavar="FILE", help="write to this file")
_KEY = click.option("--key", "key_file", type=FileToRead(), metavar="FILE", help=KEY_HELP)

_NAMES_SHOWN = 10


def _told(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Errors as one line and an exit code."""

    def around(verb: Callable[..., None]) -> Callable[..., None]:
        @wraps(verb)
        def told(*arguments: Any, **options: Any) -> None:
            try:
                verb(*arguments, **options)
            except MisuseError as error:
                complain(f"meterd ledger {name}", error)
                sys.exit(EXIT_USAGE)
            except ConfigError as error:
                complain(f"meterd ledger {name}", error)
                sys.exit(EXIT_CONFIG)
            except (LedgerError, OSError) as error:
                complain(f"meterd ledger {name}", error)
                sys.exit(EXIT_LEDGER)

        return told

    return around


@click.command()
@_PLACE
@click.option("--out", type=FileToWrite(replaced=True), metavar="FILE", help="write to this file")
@_KEY
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
@_told("checkpoint")
def checkpoint(folder: Path, out: Path | None, key_file: Path | None, as_json: bool) -> None:
    """Sign what the ledger is now, and keep it beside the ledger as checkpoint-SIZE.txt.

    Print it and keep the paper: `meterd ledger verify --since` proves later that nothing before it was changed.

    Exit codes: 0 kept, 74 the ledger does not hold, 78 there is no key, or it cannot be used.
    """
    from meterd.app.checkpoints import keep, write_whole
    from meterd.app.past import checkpoint_now

    key = _key(key_file)
    made = checkpoint_now(folder)
    if out is None:
        path = keep(made, key, [folder if folder.is_dir() else folder.parent])
    else:
        write_whole(out, key.sign_note(made.text))
        path = out
    if as_json:
        document = {"path": str(path), "origin": made.origin, "size": made.size, "root": made.root.hex()}
        click.echo(json.dumps({**document, "key": str(key.public)}))
    else:
        click.echo(path.read_text(encoding="utf-8"), nl=False)
        click.echo(f"kept: {path}", err=True)


def _key(file: Path | None) -> Any:
    from meterd.edge.keys import default_key_file, read_key

    found = file or default_key_file()
    if found is None:
        raise ConfigError("there is no key to sign with: --key FILE, or make one with `meterd ledger key new FILE`")
    return read_key(found)


@click.command()
@_PLACE
@click.argument("seq", type=click.IntRange(min=1))
@_OUT
@click.option("--checkpoint", "note", type=FileToRead(exists=True), metavar="FILE", help="prove up to this one")
@_KEY
@_told("prove")
def prove(folder: Path, seq: int, out: Path | None, note: Path | None, key_file: Path | None) -> None:
    """Write the proof that entry SEQ stands in the ledger: a JSON file that needs nothing beside it.

    Up to the checkpoint given; else to the smallest one kept beside the ledger that covers the entry; else to the
    ledger's end, signed where a key is at hand.

    Exit codes: 0 written, 2 no such entry, 74 the ledger does not hold, or is another than the checkpoint's.
    """
    from meterd.app.checkpoints import read_checkpoint, remembered
    from meterd.app.past import prove as prove_entry
    from meterd.edge.keys import default_key_file, read_key
    from meterd.ledger.note import Checkpoint, NoteError

    try:
        kept = [read_checkpoint(note)] if note is not None else remembered([folder] if folder.is_dir() else [])
    except NoteError as cause:
        raise MisuseError(f"{note} is no checkpoint: {cause}") from cause
    covering = next((one for one in kept if one.checkpoint.size >= seq), None)
    if note is not None and covering is None:
        raise MisuseError(f"{note} ends before entry {seq}")
    proof = prove_entry(folder, seq, covering.checkpoint.size if covering is not None else None)
    if covering is not None:
        if (covering.checkpoint.origin, covering.checkpoint.root.hex()) != (proof["origin"], proof["root"]):
            raise LedgerError(f"{covering.path} was made of other entries than these")
        proof["checkpoint"] = covering.path.read_text(encoding="utf-8")
    elif (file := key_file or default_key_file()) is not None:
        made = Checkpoint(proof["origin"], proof["tree_size"], bytes.fromhex(proof["root"]))
        proof["checkpoint"] = read_key(file).sign_note(made.text)
    text = json.dumps(proof, ensure_ascii=False, indent=1) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
        click.echo(f"{out}: entry {seq} among {counted(proof['tree_size'], 'entry', 'entries')}", err=True)


@click.command()
@_PLACE
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="an entry a line, or a posting a row",
)
@click.option("--from", "first", type=click.IntRange(min=1), default=1, show_default=True, help="the first entry")
@click.option("--to", "last", type=click.IntRange(min=1), help="the last entry", show_default="the ledger's end")
@_OUT
@click.option("--json", "as_json", is_flag=True, hidden=True, help="JSON Lines, as without it")
@_told("export")
def export(folder: Path, form: str, first: int, last: int | None, out: Path | None, as_json: bool) -> None:
    """Write the entries out: JSON Lines (one entry a line), or CSV (one posting a row).

    Exit codes: 0 written, 2 no such entry, 74 the ledger cannot be read.
    """
    from meterd.app.past import between, csv_rows, json_lines

    if as_json and form == "csv":
        raise click.UsageError("--json and --format csv exclude each other")
    if last is not None and last < first:
        raise click.UsageError(f"--from {first} lies behind --to {last}")
    write = json_lines if form == "jsonl" else csv_rows
    records = between(folder, first, last)
    begins = next(records, None)
    if begins is None:
        raise MisuseError(f"there is no entry {first} in {folder}")
    records = chain([begins], records)
    if out is None:
        write(records, sys.stdout)
        sys.stdout.flush()
        return
    with out.open("w", encoding="utf-8", newline="") as file:
        count = write(records, file)
    click.echo(f"{out}: {counted(count, 'entry', 'entries')}", err=True)


@click.command()
@_PLACE
@click.option("-n", "--lines", type=click.IntRange(min=0), default=10, show_default=True, help="how many to begin with")
@click.option("-f", "--follow", "following", is_flag=True, help="go on with new entries as they are committed")
@click.option("--json", "as_json", is_flag=True, help="one JSON object a line")
@_told("tail")
def tail(folder: Path, lines: int, following: bool, as_json: bool) -> None:
    """Show the last entries; with --follow also each new one, until it is interrupted.

    Exit codes: 0 shown, 74 the ledger cannot be read.
    """
    from meterd.app.past import between, follow, json_lines, last_seq

    end = last_seq(folder)
    first = max(1, end - lines + 1)
    records = follow(folder, first - 1) if following else between(folder, first, end) if lines else iter(())
    try:
        for record in records:
            if as_json:
                json_lines([record], sys.stdout)
            else:
                where = " ".join(filter(None, (record.link_id, record.table_id)))
                click.echo(f"{record.seq:>9}  {record.at_utc}  {record.kind:<20} {where:<20} {record.body[:120]}")
            sys.stdout.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.stderr.close()  # whoever read has gone


@click.command()
@_PLACE
@click.argument("when", metavar="SEQ|TIME")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
@_told("at")
def at(folder: Path, when: str, as_json: bool) -> None:
    """Show every meter, round and award as they were behind entry SEQ, or at a moment (UTC without an offset).

    Awards that were settled long before are looked up in the sealed volumes; which one is missing is said.

    Exit codes: 0 shown, 2 no such entry or moment, 74 the ledger does not hold.
    """
    from meterd.app.past import moment, seq_at, standing_at
    from meterd.app.past_stood import as_it_stood

    seq = int(when) if re.fullmatch("[0-9]{1,18}", when) else seq_at(folder, moment(when))
    found = as_it_stood(standing_at(folder, seq), folder)
    click.echo(json.dumps(found, ensure_ascii=False) if as_json else "\n".join(_words(found)))


def _words(found: dict[str, Any]) -> list[str]:
    from meterd.money import format_cents

    lines = [f"entry {found['seq']} of {found['at_utc']}, {found['site']}"]
    lines.append(f"{'level':<28}{'meter':>18}{'hits':>8}")
    for link, state in found["links"].items():
        for name, level in state["levels"].items():
            lines.append(f"{link + '/' + name:<28}{format_cents(level['display_cents']):>18}{level['hits']:>8}")
    for table, state in found["tables"].items():
        wagers = ", ".join(f"seat {seat} {format_cents(one['wager_cents'])}" for seat, one in state["wagers"].items())
        lines.append(f"table {table}: {state['state']}, round {state['round']}" + (f": {wagers}" if wagers else ""))
    for award in found["awards"]:
        amount = format_cents(award["amount_cents"])
        lines.append(f"{award['id']} {award['table']} seat {award['seat']} {award['hand']} {amount} {award['status']}")
    for share in found["shares"]:
        amount = format_cents(share["amount_cents"])
        lines.append(f"{share['id']} {share['fund']}/{share['pool']} win {share['win']} {amount} {share['status']}")
    lacking = found["not_here"]
    if names := lacking["awards"] + lacking["shares"]:
        shown = ", ".join(names) if len(names) <= _NAMES_SHOWN else f"{names[0]} … {names[-1]} ({len(names)} of them)"
        lines.append(f"not here: {shown}. They stand in {', '.join(lacking['volumes'])} or before, which is missing")
    return lines
