"""One OSDP pad: whether it is trusted, what it tells, what it should show. Its line moves it.

Rule 1: a pad is trusted once its secure channel stands, it is what the site file says, and it has answered one request
with nothing to tell: a pad keeps keys that were pressed while nobody listened, and those are nothing.
Rule 2: each key and card has a number, from 1 since the pad came up.
Rule 3: a pad that lost its session and has a new one within :data:`RESUME_S` was not away: one broken frame ends a
session, and a table must not close for that. A press may have been lost with it, so whatever was half keyed goes
(:data:`~protocols.events.KEY_LOST`), and what the pad tells of the time between is nothing.
Rule 4: what it should show is a level; what it showed is known only after the pad acknowledged it.
Units: ``*_ms`` milliseconds of the monotonic clock, ``*_s`` seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, Final

import osdp_sys  # type: ignore[import-not-found]

from meterd.config import PadRef, UnitWanted
from protocols import pad_words
from protocols.events import KEY_LOST, CardRead, DeviceDown, DeviceUp, KeyPressed, Reading
from protocols.key_sequences import KeySequences
from protocols.osdp_keys import DeviceId, badge

PadEvent = DeviceUp | DeviceDown | KeyPressed | CardRead
Sink = Callable[[PadEvent], None]

#: How long a pad may take to a new session. As long as one may be silent.
RESUME_S: Final = 8.0
#: A text that a pad has refused this often in a row is not sent again until it comes up anew.
REFUSALS_MAX: Final = 3
#: Answers that a pad beeps for: the words that refuse.
_BEEPS: Final = (pad_words.REFUSED, pad_words.KEYS_TOO_FAST, pad_words.CARDS_AT_THE_PIT)
_GREEN: Final = 2
_RED: Final = 1


class State(Enum):
    """Where a pad stands on its way to trust."""

    AWAY = "away"
    SETTLING = "settling"  # the secure channel stands; it may still tell of the time before
    UP = "up"
    RESUMING = "resuming"  # trusted, and without a session for a moment
    REFUSED = "refused"  # it answers, and is another one than the site file says


class Pad:
    """One pad of a line, ``index`` in the library's list."""

    def __init__(self, ref: PadRef, index: int, sink: Sink) -> None:
        """Begin away."""
        self.ref = ref
        self.index = index
        self.device = ref.device
        self.state = State.AWAY
        self.cause: str | None = None
        self.reported: str | None = None  # the cause that was last logged
        self.online = False  # as the library says, not yet looked at
        self.revive_s: float | None = None  # when it is asked anew
        self.found: DeviceId | None = None
        self._sink = sink
        self._keys = KeySequences(ref.profile.keys)
        self._count = 0
        self._asked_ms = self._idle_ms = 0
        self._told = False  # since the last request
        self.resume_by_s: float | None = None  # until then a new session goes on with the old trust
        self._asked_online = False  # the last request left after the secure channel stood
        self.wanted: UnitWanted | None = None
        self._shown: dict[str, Any] = {}
        self._sent: dict[str, Any] = {}
        self._refusals = 0
        self._beep_for = ""

    # ── trust ───────────────────────────────────────────────────────────────────────────────────────────────────

    def came_online(self, found: DeviceId) -> None:
        """The secure channel stands; ``found`` is what answers."""
        if self.found is not None and self.found.known and found != self.found:
            self.resume_by_s = None  # another one with the same key: a life of its own
        self.found = found
        if self.ref.identity is not None and found.identity != self.ref.identity:
            self.went(State.REFUSED, "identity")
            return
        self.state = State.SETTLING
        self._asked_online = False

    def asked(self, now_ms: int) -> None:
        """A new request leaves for the pad, so the one before was answered."""
        if not self._told:
            self._idle_ms = self._asked_ms
            if self.state is State.SETTLING and self._asked_online:
                self._resumed(now_ms) if self.resume_by_s is not None else self._came_up(now_ms)
        self._told = False
        self._asked_online = self.state is State.SETTLING
        self._asked_ms = now_ms

    def went(self, state: State, cause: str) -> None:
        """It is not trusted, for ``cause``; told once for each cause."""
        was_up, self.state, self.online = self.trusted, state, False
        self.resume_by_s = None
        self._shown, self._sent, self._refusals = {}, {}, 0
        if was_up or cause != self.cause:
            self.cause = cause
            wrong = cause in {"identity", "key"} and self.found is not None and self.found.known
            self._sink(DeviceDown(self.device, cause, self.found.identity if wrong and self.found else ""))

    @property
    def trusted(self) -> bool:
        """Whether the floor takes it for up."""
        return self.state is State.UP or self.resume_by_s is not None

    def lost_session(self, now_s: float) -> None:
        """The session is gone and the pad is there: a new one is asked for."""
        if self.resume_by_s is None:
            self.resume_by_s = now_s + RESUME_S
        self.state, self.online = State.RESUMING, False
        self._shown, self._sent, self._refusals = {}, {}, 0

    def rebaseline(self) -> None:
        """Events were lost on their way to the floor: a new life, told when the pad has nothing left to tell."""
        self.resume_by_s = None
        if self.state is State.UP:
            self.state = State.SETTLING
            self._asked_online = False
        elif self.state is State.RESUMING:
            self.state = State.AWAY

    def _resumed(self, now_ms: int) -> None:
        self.state, self.resume_by_s = State.UP, None
        self._keys.reset()
        self._press(KEY_LOST, now_ms)

    def _came_up(self, now_ms: int) -> None:
        self.state, self.cause, self._count = State.UP, None, 0
        self._keys.reset()
        self._shown, self._sent = {}, {}
        self._sink(DeviceUp(self.device, Reading(self.device, self._asked_ms, now_ms, self._idle_ms, (), ()), 1))

    # ── what it tells ───────────────────────────────────────────────────────────────────────────────────────────

    def pressed(self, codes: Sequence[int], now_ms: int) -> None:
        """A keypad reply: one code or several, in order."""
        self._told = True
        if self.state is not State.UP:
            return
        for key in self._keys.take(codes):
            self._press(key, now_ms)

    def _press(self, key: str, now_ms: int) -> None:
        self._count += 1
        self._sink(KeyPressed(self.device, self._count, key, now_ms, self._asked_ms, self._idle_ms))

    def card(self, bits: int, data: bytes, now_ms: int) -> None:
        """A card reply."""
        self._told = True
        held = badge(bits, data)
        if self.state is State.UP and held is not None:
            self._count += 1
            self._sink(CardRead(self.device, self._count, held, now_ms))

    # ── what it shows ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def showing(self) -> bool:
        """Whether commands are on their way to it."""
        return bool(self._sent)

    @property
    def stale(self) -> bool:
        """Whether it shows something else than it should."""
        return self.state is State.UP and any(True for _ in self.commands(note=False))

    @property
    def shows_wanted(self) -> bool:
        """Whether it is trusted, and has acknowledged all that it should show."""
        return self.state is State.UP and self._refusals < REFUSALS_MAX and not self.stale and not self.showing

    def commands(self, *, note: bool = True) -> Iterator[dict[str, Any]]:
        """What brings the display, the lamp and the buzzer to what is wanted. ``note``: they are about to be sent."""
        wanted, profile = self.wanted, self.ref.profile
        if wanted is None or self.state is not State.UP or self._refusals >= REFUSALS_MAX:
            return
        lines = (wanted.text or ())[: profile.text.lines] if profile.text is not None else ()
        # The last line first: it answers the key, and whoever pressed it looks for that.
        for number, text in reversed(tuple(enumerate(lines, start=1))):
            shown = text[: profile.text.columns].ljust(profile.text.columns) if profile.text is not None else text
            yield from self._unless_shown(f"line {number}", shown, _text(number, shown), note)
        if profile.led is not None and wanted.outputs:
            colour = _GREEN if wanted.outputs[0] else _RED
            yield from self._unless_shown("led", colour, _led(profile.led, colour), note)
        answer = (wanted.text or ("", ""))[-1]
        if profile.buzzer and answer.startswith(_BEEPS) and answer != self._beep_for and note:
            yield _BUZZER
        if note:
            self._beep_for = answer

    def _unless_shown(self, what: str, value: Any, command: dict[str, Any], note: bool) -> Iterator[dict[str, Any]]:
        if self._shown.get(what) != value and what not in self._sent:
            if note:
                self._sent[what] = value
            yield command

    def done(self, command: dict[str, Any], *, taken: bool) -> None:
        """The pad has acknowledged a command, or has not."""
        what = _what(command)
        if what in self._sent:
            value = self._sent.pop(what)
            if taken:
                self._shown[what] = value
        self._refusals = 0 if taken else self._refusals + 1

    def unsent(self, command: dict[str, Any]) -> None:
        """The library did not take a command."""
        self._sent.pop(_what(command), None)


_BUZZER: Final = {
    "command": osdp_sys.CMD_BUZZER,
    "reader": 0,
    "control_code": 2,
    "on_count": 2,
    "off_count": 1,
    "rep_count": 2,
}


def _text(row: int, text: str) -> dict[str, Any]:
    """A whole line, until the next one is written there."""
    return {
        "command": osdp_sys.CMD_TEXT,
        "reader": 0,
        "control_code": 1,
        "temp_time": 0,
        "offset_row": row,
        "offset_col": 1,
        "data": text,
    }


def _led(number: int, colour: int) -> dict[str, Any]:
    """A lamp that is on until it is told something else."""
    return {
        "command": osdp_sys.CMD_LED,
        "reader": 0,
        "led_number": number,
        "temporary": False,
        "control_code": 1,
        "on_count": 10,
        "off_count": 0,
        "on_color": colour,
        "off_color": colour,
    }


def _what(command: dict[str, Any]) -> str:
    if command.get("command") == osdp_sys.CMD_TEXT:
        return f"line {command['offset_row']}"
    return "led" if command.get("command") == osdp_sys.CMD_LED else "buzzer"
