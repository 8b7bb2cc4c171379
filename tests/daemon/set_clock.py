"""``meterd`` on a wall clock that a test sets: real time and so many nanoseconds as stand in a file.

``python set_clock.py FILE run …``. Only the wall clock of the ledger is set; time itself passes as it does.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

from meterd.cli.main import main
from meterd.edge import clock

_AHEAD = Path(sys.argv.pop(1))


def _time_ns() -> int:
    return time.time_ns() + int(_AHEAD.read_text("ascii"))


vars(clock)["time"] = SimpleNamespace(time_ns=_time_ns, monotonic_ns=time.monotonic_ns)
if __name__ == "__main__":
    main()
