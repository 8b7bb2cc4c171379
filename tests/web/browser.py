"""Headless Chromium over plain WebDriver: no package, one HTTP conversation with chromedriver."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LIMIT_S = 20
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
]  # fmt: skip


class Browser:
    """One window."""

    def __init__(self, profile: Path, size: tuple[int, int] = (1280, 720)) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._base = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + LIMIT_S
        while True:
            try:
                if self._call("GET", "/status")["ready"]:
                    break
            except (urllib.error.URLError, ConnectionError):
                assert time.monotonic() < until, "chromedriver never became ready"
        flags = [*FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        capabilities = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {"args": flags}}}
        self._session = self._call("POST", "/session", {"capabilities": capabilities})["sessionId"]

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._base + path, data, headers, method=method)  # noqa: S310 - our own driver
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        self._call("POST", f"/session/{self._session}/url", {"url": url})

    def run(self, script: str) -> Any:
        """The value of a JavaScript function body in the page."""
        return self._call("POST", f"/session/{self._session}/execute/sync", {"script": script, "args": []})

    def wait(self, script: str, wanted: Any) -> None:
        """Until the script gives ``wanted``, within the one generous limit."""
        until = time.monotonic() + LIMIT_S
        while (value := self.run(script)) != wanted:
            assert time.monotonic() < until, f"{script}: {value!r}, wanted {wanted!r}"

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", f"/session/{self._session}/screenshot")))

    def console(self) -> list[str]:
        """Errors the page wrote."""
        log = self._call("POST", f"/session/{self._session}/se/log", {"type": "browser"})
        return [line["message"] for line in log if line["level"] == "SEVERE"]

    def close(self) -> None:
        try:
            self._call("DELETE", f"/session/{self._session}")
        finally:
            self._driver.terminate()
            self._driver.wait(LIMIT_S)
