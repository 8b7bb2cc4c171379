"""Words of the command line that several verbs share: numbers with their noun, messages of many lines, near names."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from math import isfinite
from typing import Any

import click


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 entry``, ``2 entries``; ``many`` is needed where it is not ``one`` with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def complain(verb: str, error: object) -> None:
    """A message on standard error, with the verb before each of its lines, so that none is lost in a log."""
    for line in str(error).splitlines() or [""]:
        click.echo(f"{verb}: {line}", err=True)


class Finite(click.FloatRange):
    """A number in a range; ``nan`` and ``inf`` are none, though they are within every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails as a range does."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is no number to count with.", param, ctx)
        return number


class NamingGroup(click.Group):
    """A group that shows first sentences whole and names the nearest verb for one that it does not know."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs, each with the first sentence of its help."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, verb.get_short_help_str(limit=400)) for name, verb in found if verb and not verb.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which was probably meant."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command {name!r}.{_hint(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)


def _hint(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(known)}."
