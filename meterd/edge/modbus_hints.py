"""What a Modbus line shows of its adapter and of modules that answer too late. Advice in words, never a cause.

Rule 1: a hint stands as long as what it says is seen, and is taken back when it is seen no more.
Rule 2: an adapter's latency timer holds back every module's replies. If one module's
come in time, the others are slow.

Units: ``*_s`` seconds of the monotonic clock, ``*_ms`` milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from protocols.modbus_crc import is_sealed

if TYPE_CHECKING:
    from meterd.edge.modbus_line import Request

#: As often as this is no accident of a bad cable.
ECHOES_TOLD: Final = 3
#: So many exchanges in a row without one, and the adapter is another, or was set right.
QUIET_EXCHANGES: Final = 10
#: Replies so much later than line and module need, on the whole, come through something that holds them back.
LATENCY_TOLD_MS: Final = 8.0
LATENCY_EXCHANGES: Final = 50
ECHOES: Final = "this adapter hears what it sends: set echo = true for its bus"
ECHOES_NOT: Final = "this adapter does not hear what it sends: set echo = false for its bus"

#: A reply that comes later than this is not waited for by anybody.
LATE_MAX_S: Final = 2.0
#: So many late replies are no frame that noise or a doubling adapter made.
LATE_TOLD: Final = 2
_GAP_S: Final = 0.02  # bytes further apart are not of one frame
_HEARD_MAX: Final = 264
_READS: Final = (1, 2, 3, 4)


class EchoHint:
    """Whether the adapter's echo is as the site file has it."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.words = ""
        self._seen = 0
        self._quiet = 0
        self._now = ""

    def reset(self) -> None:
        """The port is opened anew; the adapter may be another."""
        self.__init__()  # type: ignore[misc]

    def note(self, advice: str) -> None:
        """In this exchange it was not; ``advice`` says what to set."""
        self._now = advice

    def exchanged(self) -> bool:
        """One exchange is over; True when there is something to tell that was not told yet."""
        advice, self._now = self._now, ""
        if not advice:
            self._quiet += 1
            if self._quiet >= QUIET_EXCHANGES:
                self.words, self._seen = "", 0
            return False
        self._quiet = 0
        self._seen += 1
        if self._seen < ECHOES_TOLD or self.words == advice:
            return False
        self.words = advice
        return True


class LatencyHint:
    """How much later than line and module need replies come, module by module."""

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._late: dict[int, tuple[int, float]] = {}

    def reset(self) -> None:
        """The port is opened anew; the adapter may be another."""
        self._late.clear()

    def took(self, unit: int, late_ms: float) -> None:
        """One reply came so much later than it had to."""
        count, mean_ms = self._late.get(unit, (0, 0.0))
        count = min(count + 1, LATENCY_EXCHANGES)
        self._late[unit] = count, mean_ms + (late_ms - mean_ms) / count

    @property
    def words(self) -> str:
        """What to set, where even the quickest module's replies are held back; else nothing."""
        least_ms = min((ms for count, ms in self._late.values() if count == LATENCY_EXCHANGES), default=0.0)
        if least_ms <= LATENCY_TOLD_MS:
            return ""
        return (
            f"replies come {round(least_ms)} ms later than the line and the modules need: set the adapter's "
            "latency timer to 1 ms"
        )


class LateReplies:
    """Replies that came after their request was given up, found among whatever is heard."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin with nothing given up."""
        self._clock = clock
        self._given_up: list[tuple[Request, float]] = []
        self._seen: dict[int, int] = {}
        self._words: dict[int, str] = {}
        self._heard, self._heard_s = b"", 0.0

    def gave_up(self, request: Request, began_s: float) -> None:
        """Nobody waits for the reply any longer."""
        self._forget_old()
        self._given_up.append((request, began_s))

    def heard(self, data: bytes, asked: Request | None) -> None:
        """Bytes came; ``asked`` is the request whose reply is waited for now: that one is not late."""
        now_s = self._clock()
        self._heard = ((b"" if now_s - self._heard_s > _GAP_S else self._heard) + data)[-_HEARD_MAX:]
        self._heard_s = now_s
        self._forget_old()
        for place, (request, began_s) in enumerate(self._given_up):
            if asked is not None and (asked.unit, asked.shape) == (request.unit, request.shape):
                continue
            end = _reply_end(request, self._heard)
            if end:
                self._heard = self._heard[end:]
                del self._given_up[place]
                self._late(request.unit, now_s - began_s)
                return

    def words(self, unit: int) -> str:
        """By how much a module's replies are too late and what to do, the same until :meth:`forget`; else nothing."""
        return self._words.get(unit, "")

    def forget(self, unit: int) -> None:
        """It answers in time."""
        self._seen.pop(unit, None)
        self._words.pop(unit, None)

    def _late(self, unit: int, took_s: float) -> None:
        self._seen[unit] = self._seen.get(unit, 0) + 1
        if self._seen[unit] >= LATE_TOLD and unit not in self._words:
            self._words[unit] = (
                f"its replies come {round(took_s * 1000)} ms after the question, which is too late: look for what "
                "holds them back, a gateway or a busy module; if it cannot be quicker, set turnaround_ms of its profile"
            )

    def _forget_old(self) -> None:
        now_s = self._clock()
        self._given_up = [each for each in self._given_up if now_s - each[1] <= LATE_MAX_S]


def _reply_end(request: Request, heard: bytes) -> int:
    """Where a good reply to ``request`` ends in what was heard; 0: there is none."""
    head = bytes((request.unit, request.function))
    if request.function in _READS:
        head += bytes((request.reply_bytes - 5,))
    start = heard.find(head)
    while start >= 0:
        end = start + request.reply_bytes
        if is_sealed(heard[start:end]) and end <= len(heard):
            return end
        start = heard.find(head, start + 1)
    return 0
