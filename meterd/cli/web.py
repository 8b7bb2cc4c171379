"""``meterd web``: pages, events and metrics."""

from __future__ import annotations

from pathlib import Path

import click

from meterd.cli.run import default_socket


@click.command()
@click.option(
    "--socket", "control", type=click.Path(path_type=Path, dir_okay=False), help="the daemon's control socket"
)
@click.option("--listen", default="127.0.0.1", show_default=True, help="address to listen on")
@click.option("--port", default=9477, show_default=True, type=click.IntRange(1, 65535))
@click.option("--host", "hosts", multiple=True, help="another name under which the pages may be asked for")
def web(control: Path | None, listen: str, port: int, hosts: tuple[str, ...]) -> None:
    """Serve the sign pages, /metrics, /healthz and /readyz."""
    import uvicorn

    from meterd.edge.web.server import build

    names = ["127.0.0.1", "localhost", "[::1]", listen, *hosts]
    app = build(control or default_socket(), names)
    uvicorn.run(app, host=listen, port=port, log_level="warning", timeout_graceful_shutdown=1)
