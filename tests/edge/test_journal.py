"""The log may lose lines; it may neither raise nor wait."""

from __future__ import annotations

import json
import threading

import pytest
import structlog

from meterd.edge import journal
from meterd.edge.journal import Journal


def _say(target: Journal, **event: object) -> None:
    with pytest.raises(structlog.DropEvent):
        target.processor(None, "info", dict(event))


def test_a_line_is_json_with_a_level_for_journald() -> None:
    """One event is one line; under journald it carries its level as a prefix."""
    lines: list[str] = []
    target = Journal(lines.append, prefix=True)
    _say(target, event="award.reserved", level="warning", amount_cents=500_023, raw=b"\x01\xff")
    target.close(20)
    assert len(lines) == 1
    assert lines[0].startswith("<4>")
    assert json.loads(lines[0][3:]) == {
        "event": "award.reserved",
        "level": "warning",
        "amount_cents": 500_023,
        "raw": "01ff",
    }


class _Broken:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("value", [_Broken(), float("nan"), object()])
def test_what_json_cannot_say_never_raises(value: object) -> None:
    """A broken repr or a NaN costs at most its own line."""
    lines: list[str] = []
    target = Journal(lines.append, prefix=False)
    _say(target, event="x", value=value)
    target.close(20)
    assert len(lines) == 1
    assert isinstance(json.loads(lines[0]), dict)


def test_a_failing_writer_is_counted() -> None:
    """A full disk or a closed pipe drops lines and says how many."""

    def full(_line: str) -> None:
        raise OSError(28, "No space left on device")

    target = Journal(full, prefix=False)
    _say(target, event="a")
    _say(target, event="b")
    target.close(20)
    assert target.dropped == 2


def test_a_stopped_reader_never_blocks_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """While nobody reads, the queue fills to its bound and the rest is dropped at once."""
    monkeypatch.setattr(journal, "QUEUE_LINES", 8)
    release = threading.Event()

    def stuck(_line: str) -> None:
        release.wait(20)

    target = Journal(stuck, prefix=False)
    for number in range(50):
        _say(target, event=str(number))
    assert target.dropped >= 50 - 8 - 1
    release.set()
    target.close(20)
