"""The terminal at the pit: where supervisors look an award up, enter its cards and sign with their PINs.

It asks the daemon over its control socket, as the terminal of a real pit does, and nothing it says goes round what the
daemon asks for: a person of the rehearsal's people file, his PIN, and a second person where the amount needs one.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final, NamedTuple

from meterd.sim.plan import PitPlan

#: Others may be signing in.
ANSWER_S: Final = 30.0
#: A snapshot of a large floor is one line.
LINE_BYTES_MAX: Final = 1 << 24


class Said(NamedTuple):
    """What became of an act: done, refused for a reason of the closed list, or neither: then nobody took it."""

    done: bool
    refused: str
    text: str


class Pit:
    """One terminal; whoever comes waits until it is free."""

    def __init__(self, plan: PitPlan) -> None:
        self._plan = plan
        self._free = asyncio.Lock()

    async def seat_of(self, award: str) -> int | None:
        """At which seat an award stands; None where the terminal does not know it."""
        snapshot = await self._ask({"op": "snapshot"})
        return next((each["seat"] for each in snapshot.get("awards", ()) if each.get("id") == award), None)

    async def act(self, statement: str, people: int = 1) -> Said:
        """Ask for an act, signed by so many supervisors."""
        signed = [{"id": each.id, "pin": each.pin} for each in self._plan.people[:people]]
        answer = await self._ask({"op": "act", "statement": statement, "by": signed})
        if answer.get("ok"):
            return Said(True, "", "OK")
        refused = str(answer.get("refused", ""))
        return Said(False, refused, f"{refused}: {answer.get('text', '')}" if refused else str(answer.get("error")))

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The daemon's answer; one with ``error`` where there is none."""
        async with self._free:
            try:
                async with asyncio.timeout(ANSWER_S):
                    reader, writer = await asyncio.open_unix_connection(self._plan.socket, limit=LINE_BYTES_MAX)
                    try:
                        writer.write(json.dumps(request).encode() + b"\n")
                        await writer.drain()
                        answer = json.loads(await reader.readline())
                    finally:
                        writer.close()
            except (OSError, ValueError, TimeoutError) as error:
                return {"error": f"nobody answers at {self._plan.socket}: {error}"}
        return answer if isinstance(answer, dict) else {"error": "no answer that could be read"}
