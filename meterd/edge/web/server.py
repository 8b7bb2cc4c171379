"""``meterd web``: pages, events and metrics on one listener, loopback unless told otherwise.

It holds no state and no right to write: it is a client of the daemon's control socket and may be restarted at any time.
Every answer carries a policy that lets a page load nothing but what we serve, and a request for a host that is not on
the list is refused, because a page elsewhere could otherwise talk to us through the visitor's browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from meterd.edge.web.hub import Hub
from meterd.edge.web.metrics import exposition

HERE: Final = Path(__file__).parent
TICK_S: Final = 1.0  # a page hears us at least this often; three missed ticks and it says CLOSED
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
HEADERS: Final = {
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class SafeHeaders:
    """Adds the same few headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through; touch only the start of a response."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, with_headers)


def _page(name: str) -> HTMLResponse:
    """One of our pages; all that changes in it comes by the events."""
    return HTMLResponse((HERE / "pages" / name).read_text(encoding="utf-8"))


def _no_link(link: str, links: Iterable[str]) -> Response:
    """A link that is not here, with those that are."""
    return PlainTextResponse(f"no link {link!r} here; links: {', '.join(links) or 'none'}\n", status_code=404)


def view_of(hub: Hub, link: str | None) -> dict[str, Any]:
    """What a page may see: the whole committed snapshot, or one link of it. ``closed`` says why nothing is shown."""
    snapshot = hub.snapshot
    closed = snapshot.get("closed") if hub.alive else "the controller does not answer"
    common = {key: snapshot.get(key) for key in ("seq", "at_utc", "site", "currency", "demo")}
    if link is None:
        return {**snapshot, **common, "closed": closed}
    tables = {k: t for k, t in snapshot.get("tables", {}).items() if t["link"] == link}
    if closed is None and not any(table["state"] != "CLOSED" for table in tables.values()):
        closed = "no table is open"
    return {
        **common,
        "closed": closed,
        "link": snapshot.get("links", {}).get(link),
        "awards": [a for a in snapshot.get("awards", ()) if a["link"] == link],
    }


class Pages:
    """The answers, each a few lines over the hub."""

    def __init__(self, hub: Hub) -> None:
        """``hub`` holds the newest snapshot."""
        self._hub = hub

    async def landing(self, _request: Request) -> Response:
        """What there is to see."""
        return _page("landing.html")

    async def sign(self, request: Request) -> Response:
        """The full-screen sign of one link."""
        link = request.path_params["link"]
        links = self._hub.snapshot.get("links", {})
        if self._hub.alive and link not in links:
            return _no_link(link, links)
        return _page("sign.html")

    async def events(self, request: Request) -> Response:
        """Server-sent events, of all or of ``?link=``."""
        link = request.query_params.get("link")
        links = self._hub.snapshot.get("links", {})
        if link is not None and self._hub.alive and link not in links:
            return _no_link(link, links)
        return StreamingResponse(_stream(self._hub, link), media_type="text/event-stream")

    async def snapshot(self, _request: Request) -> Response:
        """The committed state as JSON."""
        return JSONResponse(view_of(self._hub, None), status_code=200 if self._hub.alive else 503)

    async def metrics(self, _request: Request) -> Response:
        """What Prometheus reads."""
        stats: dict[str, Any] = {}
        up = self._hub.alive
        if up:
            try:
                stats = await self._hub.stats()
            except (OSError, ValueError):
                up = False
        return Response(exposition(self._hub.snapshot, stats, up=up), media_type=METRICS_TYPE)

    async def healthz(self, _request: Request) -> Response:
        """This process lives."""
        return PlainTextResponse("ok\n")

    async def readyz(self, _request: Request) -> Response:
        """The daemon behind it answers, and nothing is wrong with its ledger. How many tables are closed is only told.

        A closed table is for a person, by an alert, and no reason to start a daemon again or to ask another.
        """
        closed = view_of(self._hub, None)["closed"]
        if closed is not None:
            return PlainTextResponse(f"not ready: {closed}\n", status_code=503)
        states = [table["state"] for table in self._hub.snapshot.get("tables", {}).values()]
        shut = states.count("CLOSED")
        told = f", {shut} of {len(states)} tables closed" if shut else ""
        return PlainTextResponse(f"ready{told}\n")


def build(socket: Path, hosts: Sequence[str]) -> Starlette:
    """The application. ``hosts``: names under which it may be asked for."""
    hub = Hub(socket)
    pages = Pages(hub)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(hub.run())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return Starlette(
        lifespan=lifespan,
        middleware=[Middleware(SafeHeaders), Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
        routes=[
            Route("/", pages.landing),
            Route("/sign/{link}", pages.sign),
            Route("/events", pages.events),
            Route("/api/snapshot", pages.snapshot),
            Route("/metrics", pages.metrics),
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
    )


async def _stream(hub: Hub, link: str | None) -> AsyncIterator[str]:
    """Server-sent events: the newest view whenever there is one, and at least once a second."""
    seen = -1
    while True:
        yield f"data: {json.dumps(view_of(hub, link), separators=(',', ':'))}\n\n"
        seen = await hub.newer(seen, TICK_S)
