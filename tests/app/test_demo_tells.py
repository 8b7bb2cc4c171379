"""What the demo says of the daemon's log lines."""

from __future__ import annotations

import json

from meterd.app.demo import _told


def test_a_void_wager_names_its_seats() -> None:
    """In words, one seat or several; what is not worth telling is not told."""
    for seats, words in (([2], "2"), ([2, 5], "2, 5")):
        line = json.dumps({"event": "WagerVoided", "table": "TCP-2", "seats": seats}).encode()
        assert f"TCP-2  wager void, seats {words}" == _told(line)
    assert None is _told(b'{"event": "TableDefined", "table": "TCP-2"}')
    assert None is _told(b"no JSON")
