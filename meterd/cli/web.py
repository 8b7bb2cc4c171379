"""``meterd web``: pages, events and metrics."""

from __future__ import annotations

import contextlib
import socket
import sys
from pathlib import Path

import click

from meterd.cli.client import socket_option
from meterd.cli.run import default_socket
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_USAGE, ConfigError


@click.command()
@socket_option
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="the site file: address and port")
@click.option("--listen", help="address to listen on  [default: the site file's, or 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="port to listen on  [default: the site file's, or 9477]")
@click.option("--fd", type=int, hidden=True, help="a listener that is open already, as a number")
@click.option("--host", "hosts", multiple=True, help="another name under which the pages may be asked for")
def web(
    control: Path | None,
    config: Path | None,
    listen: str | None,
    port: int | None,
    fd: int | None,
    hosts: tuple[str, ...],
) -> None:
    """Serve the sign pages, /metrics, /healthz and /readyz.

    Exit 78 where the site file cannot be used; 2 where nobody can listen on that address.
    """
    import uvicorn

    from meterd.config import WebConfig
    from meterd.edge.catalogue import read_site
    from meterd.edge.web.listen import listeners
    from meterd.edge.web.server import build

    try:
        wanted = read_site(config)[0].web if config is not None else WebConfig()
    except ConfigError as error:
        complain("meterd web", error)
        sys.exit(EXIT_CONFIG)
    listen, port = listen or wanted.listen, port or wanted.port
    try:
        sockets = listeners(listen, port) if fd is None else [socket.socket(fileno=fd)]
    except ConfigError as error:
        complain("meterd web", error)
        sys.exit(EXIT_USAGE)
    names = ["127.0.0.1", "localhost", listen, *hosts]
    app = build(control or default_socket(), names)
    serving = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(serving).run(sockets=sockets)
