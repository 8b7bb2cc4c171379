"""Modules of other lines, looked for where nobody of a line's own answers: two plugs that were swapped.

Modules with unit ids of their own are silent behind a wrong plug, and silence looks like a cut cable. So a line on
which everybody is silent is asked for the modules of the other lines, a few at a time, and who answers is named.
Nothing is taken from such a module but that it is there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from meterd.config import ModuleRef
from meterd.edge.modbus_line import Line, ModuleRefusedError, NoReplyError, Request

#: Asked at one look: with a time limit of 100 ms they keep the line for less than half a second.
AT_ONCE: Final = 4


class Elsewhere:
    """Looks for ``modules`` of other lines on this one. Every unit id stands for one of them."""

    def __init__(self, line: Line, bus: str, modules: Iterable[ModuleRef], timeout_s: float) -> None:
        """``timeout_s``: for one answer, besides its line time."""
        self._line = line
        self._bus = bus
        self._timeout_s = timeout_s
        self._waiting = deque({module.unit: module for module in modules}.values())

    async def look(self) -> str:
        """Ask the next few; who answers here, in words, or nothing. Who was found is asked first the next time.

        Raises :class:`~meterd.edge.serialport.PortLostError`.
        """
        for _ in range(min(AT_ONCE, len(self._waiting))):
            module = self._waiting[0]
            if await self._answers(module):
                return f"{module.device} answers here: are the plugs of {self._bus} and {module.bus} swapped?"
            self._waiting.rotate(-1)
        return ""

    async def _answers(self, module: ModuleRef) -> bool:
        block, profile = module.profile.inputs, module.profile
        request = Request(module.unit, block.function, block.address, block.count)
        line_s = self._line.pace.line_s(request.request_bytes + request.reply_bytes)
        try:
            await self._line.ask(request, line_s + profile.turnaround_ms / 1000 + self._timeout_s)
        except (NoReplyError, ModuleRefusedError):  # a gateway refuses in the name of who is not there
            return False
        return True
