"""Paths of a floor that this user may not use: whose they are, and as whom to work."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

#: What click says of a path; one in a folder that may not be entered does not exist for it.
_REFUSED: Final = re.compile(r"'(.+)' (is not readable|is not writable|does not exist)\.", re.DOTALL)


def not_yours(message: str) -> str:
    """The next step behind a message on a path that another user may use; empty where that is not the trouble."""
    match = _REFUSED.search(message)
    if match is None or os.geteuid() == 0:
        return ""
    path = Path(match[1])
    if match[2] == "does not exist" and not forbidden(path):
        return ""
    from meterd.edge.folder import owner_of

    return f" {owner_of(path)}"


def forbidden(path: Path) -> bool:
    """Whether this user may not even look at a path."""
    try:
        path.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return False
