"""``meterd act``: ask the running daemon for something that only people may do."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any, Final

import click

from meterd.cli.client import nobody_answers, socket_option
from meterd.cli.signing import typed_pins
from meterd.cli.words import complain
from meterd.errors import EXIT_DONE, EXIT_FINDING, EXIT_USAGE

ANSWER_S: Final = 60.0  # others may be signing in


@click.command()
@click.argument("statement")
@click.option("--by", "first", required=True, metavar="ID", help="who does it; the PIN is asked for")
@click.option("--and", "second", metavar="ID", help="the second person, where the act needs two")
@click.option("--ref", "reference", metavar="TEXT", help="the approval's reference, where the act needs one")
@click.option("--pins-from", metavar="FILE|-", type=click.File(), help="read the PINs, a line each, in this order")
@click.option(
    "--request", "request_id", metavar="ID", help="the id of a request that was sent before; nothing is done twice"
)
@socket_option
@click.option("--json", "as_json", is_flag=True, help="print the answer as one JSON document")
def act(
    statement: str,
    first: str,
    second: str | None,
    reference: str | None,
    pins_from: Any,
    request_id: str | None,
    control: Path | None,
    *,
    as_json: bool,
) -> None:
    """Do something that moves money or changes what is in force, such as `meterd act "confirm A1" --by sup-1`.

    STATEMENT is one line of the scenario language that asks for something; the page people.md lists them with their
    roles (on a floor: /usr/share/doc/meterd/docs/people.md).

    Exit codes: 0 done, 1 what became of it is not known (ask again with --request), 2 refused or wrong use.
    """
    from meterd.cli.run import default_socket
    from meterd.edge.control import ask

    people = [name for name in (first, second) if name is not None]
    request = {
        "op": "act",
        "statement": with_reference(statement, reference),
        "by": [{"id": name, "pin": pin} for name, pin in zip(people, typed_pins(people, pins_from), strict=True)],
        "request_id": request_id or uuid.uuid4().hex,
    }
    path = control or default_socket()
    try:
        answer = ask(path, request, ANSWER_S)
    except (ConnectionRefusedError, FileNotFoundError, PermissionError) as error:
        click.echo(nobody_answers("act", path, error), err=True)
        sys.exit(EXIT_USAGE)
    except (OSError, ValueError) as error:
        again = f"Ask again with --request {request['request_id']}: it is not done twice"
        text = f"what became of it is not known ({error}). {again}"
        answer = {"error": text, "unknown": True, "request_id": request["request_id"]}
    _tell(answer, _missing(answer, second, reference), as_json=as_json)
    sys.exit(exit_code(answer))


def with_reference(statement: str, reference: str | None) -> str:
    """The statement with the reference as its ``ref``."""
    if reference is None:
        return statement
    if '"' in reference or not reference.isprintable() or not reference.strip():
        raise click.UsageError("--ref is a text without quotation marks")
    return f'{statement} ref "{reference}"'


def exit_code(answer: dict[str, Any]) -> int:
    """0 done, 2 refused or not understood, 1 where nobody can say."""
    if answer.get("ok"):
        return EXIT_DONE
    return EXIT_FINDING if answer.get("unknown") else EXIT_USAGE


def _missing(answer: dict[str, Any], second: str | None, reference: str | None) -> str:
    """Which options name what a refusal asks for."""
    if answer.get("refused") != "SECOND_PERSON_REQUIRED":
        return ""
    options = [("--and ID: the second person", second), ("--ref TEXT: the approval's reference", reference)]
    return "; ".join(words for words, given in options if given is None)


def _tell(answer: dict[str, Any], missing: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer))
    elif answer.get("ok"):
        click.echo(answer["text"])
        click.echo(
            f"entry {answer['seq']}{' (as before: nothing was done again)' if answer.get('repeated') else ''}", err=True
        )
    elif "refused" in answer:
        complain("meterd act", f"refused {answer['refused']}: {answer['text']}{f' ({missing})' if missing else ''}")
    else:
        complain("meterd act", answer.get("error", answer))
