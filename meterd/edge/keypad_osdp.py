"""OSDP pads: libosdp (framing, sequence numbers, retries, AES secure channel) in one thread for all lines.

Rule 1: the library's ``refresh`` is called from this one thread, which nothing else waits for. Ports are ours: opened
exclusively, never blocking, one kind of loss.
Rule 2: only secure sessions with the pad's own key. A pad without one, or with another, is never online.
Rule 3: the library leaves a pad alone for five minutes after it went offline. Here it is asked again at once where it
was silent (the library then asks once a second) or lost its session, and after :data:`PROBE_S` where it answered
wrongly; asking begins with sequence number 0.
Rule 4: a request without an answer is repeated with the same bytes and the same number, for 8 seconds; the library
does that, a test holds it to it.
Units: ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import osdp_sys  # type: ignore[import-not-found]
import structlog

from meterd.config import BusConfig, PadRef, UnitWanted
from meterd.edge.keypad_channel import Channel, Trace
from meterd.edge.keypad_pad import Pad, Sink, State
from meterd.edge.serialport import Backoff, PortLostError
from protocols.osdp_keys import DeviceId

#: How long the thread sleeps where no byte comes. The library wants to be called every 50 ms at least.
TURN_S: Final = 0.01
#: Steps of the library in one turn, while bytes go and come.
STEPS_MAX: Final = 6
PROBE_S: Final = 1.5
AGAIN_S: Final = 0.2  # between tries for a new session
#: A session stands within a second; a pad that has none so long behind the opening of the port is not there.
SILENT_S: Final = 3.0
#: A pad that sent bytes so shortly before it was given up was not silent.
ANSWERED_MS: Final = 1_000
REOPEN_MAX_S: Final = 1.0  # plugged in again, a pad is back within two seconds
SAFE_LIMIT_S: Final = 1.0

log = structlog.get_logger()


class PadStats:
    """Numbers of one line of pads: written by its thread, read by anybody."""

    def __init__(self) -> None:
        """Begin with nothing counted and the port down."""
        self.port_up = False
        self.port_losses = 0
        self.port_cause = ""
        self.requests = self.retries = self.bytes_in = self.bytes_out = self.revived = self.refused = self.resumed = 0
        self.pads_up = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return dict(vars(self))


class OsdpLine:
    """The pads of one line. All but :meth:`want`, :meth:`rebaseline` and :meth:`go_safe` belong to the pad thread."""

    def __init__(
        self,
        bus: BusConfig,
        pads: Sequence[PadRef],
        keys: Mapping[str, bytes],
        sink: Sink,
        *,
        trace: Trace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``keys``: device → the key of its secure channel; each pad needs one."""
        self.bus = bus
        self.stats = PadStats()
        self._keys = keys
        self._trace = trace
        self._clock = clock
        self._pads = [Pad(ref, index, sink) for index, ref in enumerate(pads)]
        self._by_address = {pad.ref.unit: pad for pad in self._pads}
        self._channel: Channel | None = None
        self._library: Any = None
        self._backoff = Backoff(max_s=REOPEN_MAX_S)
        self._open_s = self._silent_s = 0.0
        self._rebaseline = threading.Event()
        self._stopping = False

    # ── from any thread ─────────────────────────────────────────────────────────────────────────────────────────

    def want(self, unit: int, wanted: UnitWanted) -> None:
        """What a pad should show from now on. An older ``seq`` than the last is ignored; so is all after go_safe."""
        pad = self._by_address[unit]
        if not self._stopping and (pad.wanted is None or wanted.seq >= pad.wanted.seq):
            pad.wanted = wanted

    def rebaseline(self) -> None:
        """Events of this line were lost on their way: every pad begins again."""
        self._rebaseline.set()

    async def go_safe(self) -> None:
        """CLOSED on every display, for good; waits at most a second."""
        self._stopping = True
        for pad in self._pads:
            seq = pad.wanted.seq if pad.wanted is not None else 0
            pad.wanted = UnitWanted(seq, (False,), (False,), ("CLOSED", ""))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SAFE_LIMIT_S):
                while any(pad.stale or pad.showing for pad in self._pads):  # noqa: ASYNC110 - another thread's doing
                    await asyncio.sleep(TURN_S)

    def is_up(self, unit: int) -> bool:
        """Whether a pad is trusted at this moment."""
        return self._by_address[unit].state is State.UP

    def shows_wanted(self, unit: int) -> bool:
        """Whether a pad is trusted and has acknowledged all that it should show."""
        return self._by_address[unit].shows_wanted

    # ── the pad thread ──────────────────────────────────────────────────────────────────────────────────────────

    @property
    def fd(self) -> int | None:
        """The open port."""
        return self._channel.fd if self._channel is not None else None

    def turn(self) -> None:
        """Once every :data:`TURN_S` or when bytes came: let the library work, then look at what it found."""
        channel = self._channel or self._open()
        if channel is None:
            return
        for _ in range(STEPS_MAX):
            channel.busy = False
            self._library.refresh()
            if not channel.busy:
                break
        if channel.lost is not None:
            self._lose(channel.lost)
            return
        self._look()
        self._count(channel)

    def close(self) -> None:
        """Give the port back; the pads are told nothing."""
        self._library = None
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self.stats.port_up = False

    def _open(self) -> Channel | None:
        if self._clock() < self._open_s:
            return None
        try:
            channel = Channel(self.bus, self._asked, trace=self._trace, clock=self._clock)
        except PortLostError as lost:
            self._lose(str(lost))
            return None
        self._channel = channel
        self._library = osdp_sys.ControlPanel([self._info(pad, channel) for pad in self._pads])
        self._library.set_event_callback(self._event)
        self._library.set_command_completion_callback(self._done)
        self._backoff.reset()
        self.stats.port_up, self.stats.port_cause = True, ""
        self._silent_s = self._clock() + SILENT_S
        return channel

    def _info(self, pad: Pad, channel: Channel) -> dict[str, Any]:
        """A pad as the library wants it described; what a panel does not need of it is nothing."""
        nothing = dict.fromkeys(("version", "model", "vendor_code", "serial_number", "firmware_version"), 0)
        return {
            "name": pad.device,
            "address": pad.ref.unit,
            "flags": osdp_sys.FLAG_ENFORCE_SECURE | osdp_sys.FLAG_ENABLE_NOTIFICATION,
            "scbk": self._keys[pad.device],
            "channel": channel,
            **nothing,
        }

    def _lose(self, cause: str) -> None:
        """The port is gone: close at once, say so for every pad, try again soon."""
        if self.stats.port_up:
            self.stats.port_losses += 1
        if cause != self.stats.port_cause:
            log.warning("pads.port_lost", bus=self.bus.id, cause=cause)
        self.close()
        self.stats.port_cause = cause
        self._open_s = self._clock() + self._backoff.next_s()
        for pad in self._pads:
            pad.found, pad.revive_s = None, None
            pad.went(State.AWAY, "port_lost")
        self.stats.pads_up = 0

    # ── called by the library, within refresh ───────────────────────────────────────────────────────────────────

    def _asked(self, address: int) -> None:
        pad = self._by_address.get(address)
        if pad is not None and self._channel is not None:
            pad.asked(self._channel.now_ms())

    def _event(self, index: int, event: dict[str, Any]) -> int:
        """One event of a pad. Nothing may be raised into the library."""
        try:
            self._take(self._pads[index], event)
        except Exception as fault:
            log.critical("pads.fault", bus=self.bus.id, exc_info=fault)
        return 0

    def _take(self, pad: Pad, event: dict[str, Any]) -> None:
        now_ms = int(self._clock() * 1000)
        match event.get("event"):
            case osdp_sys.EVENT_KEYPRESS:
                pad.pressed(event["data"], now_ms)
            case osdp_sys.EVENT_CARDREAD:
                data = event["data"]
                pad.card(event.get("length", 8 * len(data)), data, now_ms)
            case osdp_sys.EVENT_NOTIFICATION if event.get("type") == osdp_sys.EVENT_NOTIFICATION_PD_STATUS:
                if event["arg0"]:
                    pad.online = True
                else:
                    self._went_offline(pad, now_ms)

    def _went_offline(self, pad: Pad, now_ms: int) -> None:
        """The library has given a pad up: why, and when it is asked again."""
        if pad.revive_s is not None:
            return  # it is being taken out and put in again
        answered_ms = self._channel.answered_ms.get(pad.ref.unit) if self._channel is not None else None
        answers = answered_ms is not None and now_ms - answered_ms <= ANSWERED_MS
        now_s = self._clock()
        if answers and pad.trusted:
            pad.revive_s = now_s + (0.0 if pad.resume_by_s is None else AGAIN_S)
            pad.lost_session(now_s)
            self.stats.resumed += 1
            return
        cause = "key" if answers else "timeout"
        if answers:
            pad.found = self._identity(pad)
        pad.went(State.AWAY, cause)
        pad.revive_s = now_s + (PROBE_S if answers else 0.0)

    def _done(self, index: int, command: dict[str, Any], status: int) -> None:
        try:
            self._pads[index].done(command, taken=status == osdp_sys.COMPLETION_OK)
        except Exception as fault:
            log.critical("pads.fault", bus=self.bus.id, exc_info=fault)

    # ── between its calls ───────────────────────────────────────────────────────────────────────────────────────

    def _look(self) -> None:
        if self._rebaseline.is_set():
            self._rebaseline.clear()
            for pad in self._pads:
                pad.rebaseline()
        silent = self._clock() > self._silent_s
        for pad in self._pads:
            if silent and pad.state is State.AWAY and pad.cause in {None, "port_lost"} and not pad.online:
                pad.went(State.AWAY, "timeout")  # the port is there, and nobody has answered since
            if pad.online and pad.state in {State.AWAY, State.RESUMING}:
                pad.online = False
                pad.came_online(self._identity(pad))
            if pad.resume_by_s is not None and self._clock() > pad.resume_by_s:
                pad.went(State.AWAY, "restarted")
            if pad.state is State.UP:
                self._show(pad)
            self._revive(pad)
            if pad.cause != pad.reported:
                pad.reported = pad.cause
                if pad.cause in {"key", "identity"}:
                    self._refused(pad)
        self.stats.pads_up = sum(pad.state is State.UP for pad in self._pads)

    def _refused(self, pad: Pad) -> None:
        """Say what answered where."""
        self.stats.refused += 1
        log.warning(
            "pads.refused",
            bus=self.bus.id,
            address=pad.ref.unit,
            cause=pad.cause,
            found=pad.found.identity if pad.found is not None else "",
            expected=pad.ref.identity or "any with its key",
        )

    def _identity(self, pad: Pad) -> DeviceId:
        told = self._library.get_pd_id(pad.index)
        return DeviceId(
            told["vendor_code"], told["model"], told["version"], told["serial_number"], told["firmware_version"]
        )

    def _show(self, pad: Pad) -> None:
        for command in pad.commands():
            try:
                taken = self._library.submit_command(pad.index, command)
            except (ValueError, SystemError):
                taken = False
            if not taken:
                pad.unsent(command)

    def _revive(self, pad: Pad) -> None:
        """Begin anew with a pad that the library would leave alone: taken out, and put in again."""
        if pad.revive_s is None or self._clock() < pad.revive_s:
            return
        if self._library.is_pd_enabled(pad.index):
            self._library.disable_pd(pad.index)
        elif self._library.enable_pd(pad.index):
            self.stats.revived += 1
            pad.revive_s = None

    def _count(self, channel: Channel) -> None:
        for name in ("requests", "retries", "bytes_in", "bytes_out"):
            setattr(self.stats, name, getattr(channel, name))


class OsdpThread:
    """The one thread of all OSDP lines."""

    def __init__(self, lines: Sequence[OsdpLine]) -> None:
        """Prepare; :meth:`run` starts it."""
        self._lines = lines
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    async def run(self) -> None:
        """Until cancelled."""
        if not self._lines:
            return
        osdp_sys.set_loglevel(osdp_sys.LOG_EMERG)  # it writes to standard error; what counts is counted here
        self._thread = threading.Thread(target=self._turn, name="pads", daemon=True)
        self._thread.start()
        try:
            await asyncio.Event().wait()
        finally:
            self._stop.set()
            self._thread.join(SAFE_LIMIT_S)

    def _turn(self) -> None:
        while not self._stop.is_set():
            for line in self._lines:
                try:
                    line.turn()
                except Exception as fault:
                    log.critical("pads.fault", bus=line.bus.id, exc_info=fault)
                    line._lose(f"a fault of the program, {fault!r}")  # noqa: SLF001 - its own thread
            fds = [line.fd for line in self._lines if line.fd is not None]
            with contextlib.suppress(OSError, ValueError):
                select.select(fds, [], [], TURN_S)
            if not fds:
                self._stop.wait(TURN_S)
        for line in self._lines:
            line.close()
