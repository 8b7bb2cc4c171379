"""``meterd`` that never gives the answer of an act: it hangs where its entry is on disk and nobody has been told."""

from __future__ import annotations

import threading
from pathlib import Path

from meterd.app import acts
from meterd.cli.main import main
from meterd.edge.requests import Told, answer_to


def _committed_and_silent(folder: Path, event_id: str) -> tuple[Told, ...]:
    told = answer_to(folder, event_id)
    if told:
        threading.Event().wait()
    return told


acts.answer_to = _committed_and_silent  # type: ignore[attr-defined]
main()
