"""``meterd``: a group that finds its verbs when they are called; no verb pays for another's imports."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import click

from meterd.cli.rights import not_yours
from meterd.cli.words import NamingGroup

#: verb → (module, attribute). One file per verb group.
VERBS: Final = {
    "run": ("meterd.cli.run", "run"),
    "web": ("meterd.cli.web", "web"),
    "sas": ("meterd.cli.sas", "sas"),
    "outputs": ("meterd.cli.outputs", "outputs"),
    "sign": ("meterd.cli.sign", "sign"),
    "ports": ("meterd.cli.ports", "ports"),
    "monitor": ("meterd.cli.wire", "monitor"),
    "wire": ("meterd.cli.wire", "wire"),
    "demo": ("meterd.cli.demo", "demo"),
    "sim": ("meterd.cli.sim", "sim"),
    "keypad": ("meterd.cli.keypad", "keypad"),
    "check-config": ("meterd.cli.config", "check_config"),
    "act": ("meterd.cli.act", "act"),
    "award": ("meterd.cli.award", "award"),
    "table": ("meterd.cli.table", "table"),
    "person": ("meterd.cli.person", "person"),
    "meters": ("meterd.cli.meters", "meters"),
    "ledger": ("meterd.cli.ledger", "ledger"),
    "backup": ("meterd.cli.backup", "backup"),
    "restore": ("meterd.cli.backup", "restore"),
    "dispute": ("meterd.cli.dispute", "dispute"),
    "rank": ("meterd.cli.rank", "rank"),
    "paytable": ("meterd.cli.paytable", "paytable"),
    "scenario": ("meterd.cli.scenario", "scenario"),
}


class LazyGroup(NamingGroup):
    """A group whose commands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All verbs, in order."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one verb, or None if there is no such verb."""
        if cmd_name not in VERBS:
            return None
        module, attribute = VERBS[cmd_name]
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; a path that this user may not read is told with whose it is, and as whom to work."""
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            step = not_yours(error.message)
            if not step:
                raise
            raise click.BadParameter(error.message + step, error.ctx, error.param, error.param_hint) from error


@click.group(cls=LazyGroup)
@click.version_option(package_name="meterd")
def main() -> None:
    """A table-game progressive jackpot and meter controller."""
