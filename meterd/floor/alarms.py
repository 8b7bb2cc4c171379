"""Notes of what went wrong with a device: facts for the ledger, no money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from meterd.accounting.commands import SYSTEM, Note
from meterd.accounting.entries import Kind
from protocols.events import DeviceDown, InputStuck


def lost(event: DeviceDown, table: str, heard: Mapping[str, int]) -> Note:
    """A device is lost, and why; ``heard`` are its counts that led to no entry."""
    facts = {"device": event.device, "cause": event.cause, "heard": dict(heard)}
    if event.found:
        facts["found"] = event.found
    return Note(actor=SYSTEM, device=event.device, kind=Kind.DEVICE_LOST, table=table, facts=facts)


def stuck(event: InputStuck, table: str, wired: Iterable[tuple[int, int]]) -> Note:
    """An input that does not let go; its level stands as off, so its seat is closed. ``wired``: seat, input index."""
    seat = next((seat for seat, index in wired if index == event.index), None)
    what = f"seat {seat}" if seat is not None else "no seat"
    facts = {"reason": "stuck_input", "detail": f"{event.device}/di{event.index} ({what}) on for {event.after_s} s"}
    return Note(actor=SYSTEM, device=event.device, kind=Kind.UNREASONABLE, table=table, facts=facts)
