"""``python -m meterd.cli.child PARENT meterd VERB ...``: a verb that ends, in order, when its parent does.

A demo that is killed cannot stop what it started. So each child asks the kernel for a SIGTERM at the death of its
parent; it does so in its own process, because nothing but an exec is safe behind a fork in a process with threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

from meterd.cli.main import main

PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def end_with(parent: int) -> None:
    """Have SIGTERM sent to this process when the process ``parent`` is gone; exit where it is gone already.

    Raises:
        OSError: the kernel does not do that.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        sys.exit(0)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    main(args=sys.argv[3:], prog_name=sys.argv[2])
