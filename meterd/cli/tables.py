"""``--tables``: pay tables of a file or folder, besides the catalogue. All verbs about pay tables share it."""

from __future__ import annotations

from pathlib import Path

import click

tables_option = click.option(
    "--tables",
    "extra",
    type=click.Path(exists=True, path_type=Path),
    help="Pay tables besides the catalogue: a file, or a folder of *.toml.",
)
