"""The cures of the 23 failure modes that users of serial libraries report, each with a switch that takes it out.

A test of a mode carries ``@failure_mode(number, "switch", …)``. Its body runs once as it is and must pass, and once
without each of its cures, where the same body must fail by an AssertionError or a TimeoutError: a test that passes
without the cure shows nothing. Waits inside the body take ``limit_s()``, which is generous with the cure and short
without it.

A switch is a function that patches the product; it is registered with ``@switch("name", "what goes missing")`` and
imports what it patches itself, so that this file needs no driver's library. ``tests/test_failure_modes.py`` holds the
list of modes against the tests.
"""

# ruff: noqa: PLC0415 - a switch imports what it patches, so that no test pulls in every driver

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest

WITH_S: Final = 20.0
WITHOUT_S: Final = 2.0


class Switch(NamedTuple):
    """One cure: ``off`` takes it out of the product for as long as the patch lasts."""

    name: str
    missing: str
    off: Callable[[pytest.MonkeyPatch], None]


#: What is reported, by the number under which docs/wiring.md tells of it.
MODES: Final[dict[int, str]] = {
    1: "after an unplug, calls raise three kinds of errors",
    2: "an adapter comes back under another name because the old node is still open",
    3: "two identical adapters share one name, so cables are swapped",
    4: "two programs on one port get half of the bytes each",
    5: "a late reply is taken for the next request's",
    6: "one stray byte before a reply hides it",
    7: "the own request comes back and is taken for a reply",
    8: "one dead module stalls the whole line",
    9: "endless noise makes a read hang for ever",
    10: "no silence between frames",
    11: "the wait before a reconnect doubles without bound",
    12: "a short press is lost, a stuck sensor stays on",
    13: "a duplicated event is counted twice",
    14: "parity is switched before the byte has left",
    15: "mark and space parity are ignored by the driver",
    16: "an adapter's latency timer adds up to 16 ms to each reply",
    17: "nobody is told that a port is gone",
    18: "OSDP: the sequence number rises on a retry",
    19: "OSDP: a device never recovers from garbage",
    20: "Alpha: a write into a resetting sign disappears",
    21: "Alpha: wrong data bits, the sign ignores all",
    22: "SAS: machines answer differently",
    23: "a port that says one byte waits when more do",
}

SWITCHES: Final[dict[str, Switch]] = {}
_limit_s = WITH_S


def limit_s() -> float:
    """How long a test of a failure mode waits for an event."""
    return _limit_s


def switch(
    name: str, missing: str
) -> Callable[[Callable[[pytest.MonkeyPatch], None]], Callable[[pytest.MonkeyPatch], None]]:
    """Register the function that takes the cure ``name`` out."""

    def register(off: Callable[[pytest.MonkeyPatch], None]) -> Callable[[pytest.MonkeyPatch], None]:
        assert name not in SWITCHES, f"two switches called {name}"
        SWITCHES[name] = Switch(name, missing, off)
        return off

    return register


def failure_mode(number: int, *switches: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test of a mode: run as it is, and without each of ``switches``, where it must fail.

    The test is an ordinary function: fixtures and parametrize marks work, and it starts an event loop if it needs one.
    """
    assert number in MODES, f"there is no failure mode {number}"
    assert switches, "a failure mode needs a cure"
    assert set(switches) <= SWITCHES.keys(), f"no such switch: {set(switches) - SWITCHES.keys()}"

    def wrap(body: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(body)
        def run(*, cure: str, **fixtures: Any) -> None:
            if cure == "with":
                body(**fixtures)
            else:
                _must_fail(SWITCHES[cure.removeprefix("without ")], lambda: body(**fixtures))

        parameters = [*inspect.signature(body).parameters.values()]
        added = inspect.Parameter("cure", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*parameters, added])  # type: ignore[attr-defined]
        cases = ["with", *(f"without {name}" for name in switches)]
        return pytest.mark.parametrize("cure", cases)(run)

    return wrap


def _must_fail(taken_out: Switch, body: Callable[[], None]) -> None:
    """Run ``body`` without one cure; passing is the failure."""
    global _limit_s  # noqa: PLW0603 - one test runs at a time
    _limit_s = WITHOUT_S
    try:
        with pytest.MonkeyPatch.context() as patch:
            taken_out.off(patch)
            try:
                body()
            except (AssertionError, TimeoutError) as failed:
                print(f"without {taken_out.name} ({taken_out.missing}): {type(failed).__name__} {failed}"[:300])
                return
    finally:
        _limit_s = WITH_S
    pytest.fail(f"passes without its cure {taken_out.name} ({taken_out.missing}): the test shows nothing")


# ── Modbus and serial ports ─────────────────────────────────────────────────────────────────────────────────────────


@switch("one-kind-of-error", "only pyserial's own error is taken for the loss of a port")
def _one_kind_of_error(patch: pytest.MonkeyPatch) -> None:
    import serial

    from meterd.edge import serialport

    patch.setattr(serialport, "_FAULTS", (serial.SerialException,))


@switch("port-back-off", "a lost port is tried again at once, without end")
def _port_back_off(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.serialport import Backoff

    patch.setattr(Backoff, "next_s", lambda _: 0.0)


@switch("closed-at-once", "a lost port stays open, so its adapter comes back under another name")
def _closed_at_once(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge import serialport

    held: list[object] = []  # one that nobody refers to would close itself
    patch.setattr(serialport, "close_port", held.append)


@switch("stable-names", "nobody is told that a port's name changes with the order of plugging")
def _stable_names(patch: pytest.MonkeyPatch) -> None:
    import re

    from meterd.config import wiring_checks

    patch.setattr(wiring_checks, "_UNSTABLE_PORT", re.compile("(?!)"))


@switch("kind-asked", "a module is not asked what it is")
def _kind_asked(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_unit import Unit

    patch.setattr(Unit, "identity_request", lambda _: None)


@switch("serial-asked", "a module is not asked which one of its kind it is")
def _serial_asked(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_unit import Unit

    patch.setattr(Unit, "serial_request", lambda _: None)


@switch("exclusive", "a port may be opened by several programs")
def _exclusive(patch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    import serial

    from meterd.edge import serialport

    patch.setattr(serial.Serial, "exclusive", property(lambda _: None, lambda _, __: None))
    patch.setattr(serialport, "fcntl", SimpleNamespace(ioctl=lambda *_: 0))


@switch("guard", "the library alone decides which bytes are the reply")
def _guard(patch: pytest.MonkeyPatch) -> None:
    from protocols.modbus_guard import Guard

    patch.setattr(Guard, "receiving", lambda _, heard: bytes(heard))


@switch("alternation", "successive polls of a module are of one length")
def _alternation(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_line import Request
    from meterd.edge.modbus_unit import Unit

    def same(self: Unit) -> Request:
        block = self.profile.inputs
        return Request(self.plan.unit, block.function, block.address, block.count)

    patch.setattr(Unit, "levels_request", same)


@switch("late-reply-let-pass", "after a timeout the same is asked again at once")
def _late_reply_let_pass(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_talk import Talk

    patch.setattr(Talk, "ask", Talk._exchange)


@switch("unit-advice", "nobody is told that a unit id looks like a function code")
def _unit_advice(patch: pytest.MonkeyPatch) -> None:
    from meterd.config import wiring_checks

    patch.setattr(wiring_checks, "UNIT_ADVISED", range(256))
    patch.setattr(wiring_checks, "UNIT_LIKE_FUNCTION", -1)


@switch("read-back", "what a module acknowledged is believed")
def _read_back(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_unit import Unit

    patch.setattr(Unit, "check_request", lambda _: None)


@switch("echo-told", "nobody is told that an adapter echoes, or does not")
def _echo_told(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_hints import EchoHint

    patch.setattr(EchoHint, "note", lambda *_: None)


@switch("quarantine", "a dead module is asked as often and as patiently as a living one")
def _quarantine(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge import modbus_talk
    from meterd.edge.modbus import ModbusBus

    patch.setattr(ModbusBus, "_probe_later", lambda *_: None)
    patch.setattr(modbus_talk, "SUSPECT_S", 0.1)


@switch("deadline", "an exchange ends when the library says so")
def _deadline(patch: pytest.MonkeyPatch) -> None:
    import asyncio
    import contextlib
    from types import SimpleNamespace

    from meterd.edge import modbus_line

    @contextlib.asynccontextmanager
    async def for_ever(_: float) -> Any:
        yield None

    names = {name: getattr(asyncio, name) for name in dir(asyncio) if not name.startswith("__")}
    patch.setattr(modbus_line, "asyncio", SimpleNamespace(**{**names, "timeout": for_ever}))


@switch("silence", "the next request follows the last reply at once")
def _silence(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.serialport import Pace

    patch.setattr(Pace, "wait_s", lambda _: 0.0)


@switch("capped-back-off", "the wait doubles without bound")
def _capped_back_off(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.serialport import Backoff

    def doubling(self: Backoff) -> float:
        wait_s, self._next_s = self._next_s, self._next_s * 2
        return wait_s

    patch.setattr(Backoff, "next_s", doubling)


@switch("hot-plug", "a port that is back is noticed only when the back-off ends")
def _hot_plug(patch: pytest.MonkeyPatch) -> None:
    import asyncio

    from meterd.edge import modbus

    async def sleep(_: str, seconds: float) -> None:
        await asyncio.sleep(seconds)

    patch.setattr(modbus, "wait_for_port", sleep)


@switch("counters", "only levels are looked at")
def _counters(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_unit import Unit

    patch.setattr(Unit, "counters_request", lambda _: None)


@switch("stuck-inputs", "a sensor that stays on is believed for ever")
def _stuck_inputs(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.modbus_unit import Unit

    patch.setattr(Unit, "_believed", lambda _, raw, __: raw)


@switch("event-identity", "an event is taken as often as it is told")
def _event_identity(patch: pytest.MonkeyPatch) -> None:
    from meterd.accounting import rules

    patch.setattr(rules, "seen_before", lambda *_: False)


@switch("latency-told", "nobody is told that an adapter holds replies back")
def _latency_told(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge import modbus_hints

    patch.setattr(modbus_hints, "LATENCY_TOLD_MS", float("inf"))


@switch("low-latency", "an adapter's latency timer stays as it is")
def _low_latency(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge import serialport

    patch.setattr(serialport, "_low_latency", lambda _: None)


@switch("loss-told", "a transport that is lost tells nobody")
def _loss_told(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.serialport import SerialLink

    def quietly(self: SerialLink, _: object, __: object = None) -> None:
        self._loop.remove_reader(self._fd)

    patch.setattr(SerialLink, "_lose", quietly)


@switch("all-that-waits", "as many bytes are read as the port says are waiting, once")
def _all_that_waits(patch: pytest.MonkeyPatch) -> None:
    import contextlib
    import os

    from meterd.edge.serialport import SerialLink

    def one(self: SerialLink) -> None:
        data = os.read(self._fd, 1)
        with contextlib.suppress(BlockingIOError):
            os.read(self._fd, 4096)  # what was not counted is gone with the flush before the next request
        self._protocol.data_received(data)

    patch.setattr(SerialLink, "_read_ready", one)


# ---- SAS


@switch("sas-drain", "parity is switched as soon as the first byte was handed to the driver")
def _sas_drain(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.sas_wire import SasWire

    patch.setattr(SasWire, "_let_it_leave", lambda _self: None)


@switch("sas-settle", "an adapter's word that a byte has left is taken for it")
def _sas_settle(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.sas_wire import SasWire

    patch.setattr(SasWire, "_let_it_leave", lambda self: self._ninth.drain())


@switch("sas-read-back", "what the driver made of mark and space is not read back")
def _sas_read_back(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.sas_wire import Uart

    patch.setattr(Uart, "check", lambda _self, **_held: None)


@switch("sas-proof", "nobody listens whether the marks are on the wire")
def _sas_proof(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge import sas_wire

    patch.setattr(sas_wire, "check_heard", lambda _heard: None)


@switch("sas-tolerance", "an answer has to stand alone, in the one form of the document")
def _sas_tolerance(patch: pytest.MonkeyPatch) -> None:
    from protocols import sas_host
    from protocols.errors import Cause
    from protocols.sas import Answer, GeneralPoll, Told, Wins, encode
    from protocols.sas_read import Heard, answer_to

    def strict(request: Any, line: Any) -> Heard:
        data = bytes(word.byte for word in line)
        answer: Answer | None = Told(data[0]) if isinstance(request, GeneralPoll) and len(data) == 1 else None
        found = answer_to(request, line).answer
        if isinstance(found, Wins) and encode(found) == data:
            answer = found
        return Heard(answer, Cause.STRAY if data and answer is None else None)

    patch.setattr(sas_host, "answer_to", strict)


@switch("sas-goes-on", "a game that does not answer is waited for")
def _sas_goes_on(patch: pytest.MonkeyPatch) -> None:
    from protocols.sas_host import Host

    patch.setattr(Host, "_not_read", lambda *_args, **_busy: [])


@switch("alpha-quiet", "no quiet time behind what restarts or sounds a sign")
def _alpha_quiet(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("meterd.edge.sign_queue.quiet_ms", lambda _command: 250)
    patch.setattr("meterd.edge.sign_test.quiet_ms", lambda _command: 250)


@switch("alpha-repush", "what was written once is never written again")
def _alpha_repush(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("meterd.edge.sign_queue.REPUSH_S", float("inf"))


@switch("alpha-settings", "every line is opened with 8N1")
def _alpha_settings(patch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from meterd.edge import serialport

    as_asked = serialport.open_port
    patch.setattr(
        serialport, "open_port", lambda bus, **how: as_asked(replace(bus, bytesize=8, parity="N", stopbits=1), **how)
    )


@switch("alpha-sign-test", "nobody looks for the setting a sign hears")
def _alpha_sign_test(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("meterd.edge.sign_test.SETTINGS", ())


@switch("osdp-asked-anew", "a pad that went offline is left to the library, which waits five minutes")
def _osdp_asked_anew(patch: pytest.MonkeyPatch) -> None:
    from meterd.edge.keypad_osdp import OsdpLine

    patch.setattr(OsdpLine, "_revive", lambda _self, _pad: None)


@switch("osdp-same-request", "a request that was not answered is repeated with the next sequence number")
def _osdp_same_request(patch: pytest.MonkeyPatch) -> None:
    """The library repeats by itself; taken out is what it does: each repetition is dressed as a new request."""
    from meterd.edge.keypad_channel import Channel

    write, count = Channel.write, {"same": 0, "last": b""}

    def renumbered(self: Channel, data: bytes) -> int:
        data = bytes(data)
        count["same"] = count["same"] + 1 if data == count["last"] else 0
        count["last"] = data
        if count["same"]:
            at = data.index(0x53) + 4
            raised = data[:at] + bytes([data[at] & ~3 | (data[at] + count["same"]) & 3]) + data[at + 1 : -2]
            body = raised[raised.index(0x53) :]
            check = 0x1D0F
            for byte in body:
                check ^= byte << 8
                for _ in range(8):
                    check = (check << 1 ^ 0x1021 if check & 0x8000 else check << 1) & 0xFFFF
            return write(self, raised + check.to_bytes(2, "little"))
        return write(self, data)

    patch.setattr(Channel, "write", renumbered)
