"""``meterd`` with law 1 broken on purpose: effects leave before their COMMIT. The control of the law's own test."""

from __future__ import annotations

from typing import Any

from meterd.accounting.entries import Entry
from meterd.app.commit import Committer
from meterd.app.loop import MoneyLoop
from meterd.cli.main import main

_built = MoneyLoop.__init__
_commit = Committer.commit


def _built_early(self: MoneyLoop, *args: Any, **kwargs: Any) -> None:
    _built(self, *args, **kwargs)
    committer = self.committer

    def commit() -> tuple[Entry, ...]:
        if committer.waiting and self.started.is_set():
            self._after(tuple(committer._entries))
        return _commit(committer)

    committer.commit = commit  # type: ignore[method-assign]


MoneyLoop.__init__ = _built_early  # type: ignore[method-assign]
main()
