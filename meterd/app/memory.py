"""How the daemon lives with Python's garbage collector.

The book is large and lives as long as the process; what a command leaves behind is freed by counting references. A
collector that walks the whole book again and again, in the middle of a commit, finds nothing and costs a tenth of the
money thread.
"""

from __future__ import annotations

import gc
from typing import Final

#: Objects made since the last look before the collector looks again at the young ones (Python's own choice is 700).
YOUNG: Final = 50_000


def settle() -> None:
    """Call once, after the fold: all that exists now stays, and cycles are looked for seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 50)
