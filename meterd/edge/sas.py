"""One SAS line: a thread that says what holds, asks games for their wins, and lets none go before it is on disk.

A loop of one step after another: wait for the turn, take the figures that hold now, transmit, listen, act on what was
heard. A win is numbered on our own disk, then asked of the daemon; only when the daemon has answered that its entry is
committed may the line go on. While the daemon is away the same poll is repeated and nothing else is said.

Its thread may block: nothing else lives in it. All errors of a port are one, and a port that comes back begins with its
test again. A driver that cannot carry the ninth bit ends the line: trying again cures nothing.

Units: ``*_s`` seconds, ``*_ms`` milliseconds of the monotonic clock, cents.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import structlog

from meterd.config import BusConfig, SasConfig, Site
from meterd.edge.sas_memory import Memory, OpenWin
from meterd.edge.sas_values import Hit, SaidBefore, Values, levels_of, quotes
from meterd.edge.sas_wire import ParityIgnoredError, SasWire, open_wire
from meterd.edge.serialport import Backoff, PortLostError, program_fault
from protocols.errors import PeerError
from protocols.sas import (
    HANDPAY_PENDING,
    NO_PROGRESSIVE_5_S,
    PROGRESSIVE_WIN,
    SAS_LEVEL_HIT,
    TO_ALL,
    AskWins,
    ExtendedLevels,
    MultiLevel,
    Request,
    SingleLevel,
    encode,
)
from protocols.sas_host import Event, Host, HostPlan, MaybeLost, Odd, Presence, Said, Settled, Unread, Won

ASK_S: Final = 1.5  # a commit on a slow disk; a game waits 5 s for a word
STATUS_S: Final = 5.0
UNREAD: Final = b"unread"  # stands for what a game told and nobody could read
LOST: Final = b"lost"  # for what a game may have told, unread, before it fell silent
FIRST_SNAPSHOT_S: Final = 1.0
LOOK_S: Final = 0.25
EXCEPTIONS: Final = {
    HANDPAY_PENDING: "a handpay is pending",
    NO_PROGRESSIVE_5_S: "it heard nothing of a level for 5 s",
    PROGRESSIVE_WIN: "it paid a progressive win",
    SAS_LEVEL_HIT: "a level was hit",
}

log = structlog.get_logger()

Ask = Callable[[dict[str, Any], float], dict[str, Any]]


class RehearsalError(Exception):
    """A line without a ninth bit on a floor that is no demo."""


class SasLine(threading.Thread):
    """One line. ``ask`` puts a request to the daemon and returns its answer, or raises OSError or ValueError."""

    def __init__(
        self,
        site: Site,
        sas: SasConfig,
        values: Values,
        ask: Ask,
        memory: Path,
        trace: Callable[[str, bytes], None] = lambda _way, _data: None,
    ) -> None:
        """Nothing is opened before it is started. ``trace`` is told every byte and must neither wait nor raise."""
        super().__init__(name=f"sas {sas.bus}", daemon=True)
        self._bus: BusConfig = site.bus(sas.bus)
        self._sas = sas
        self._values = values
        self._ask = ask
        self._memory_path = memory
        self._trace = trace
        self._rates = {(link.id, level.name): level.increment_ppm for link in site.links for level in link.levels}
        self._stopping = threading.Event()
        self._memory = Memory(memory)
        self._host = self._new_host()
        self._said = SaidBefore()
        self._ups: dict[int, bool] = {}
        self._told_s = 0.0
        self.up = False
        self.refusal: str | None = None
        self.counts: dict[str, int] = {"wins": 0, "port_losses": 0, "not_on_disk": 0}

    def _new_host(self) -> Host:
        sas = self._sas
        addresses = tuple(game.address for game in sas.games)
        return Host(HostPlan(sas.group, tuple(sas.numbered), addresses, sas.broadcast, sas.win_poll, sas.grid_ms))

    def stop(self) -> None:
        """End after the word that is just being said."""
        self._stopping.set()

    # ---- the thread

    def run(self) -> None:
        """Until stopped, or refused for good (:attr:`refusal`)."""
        try:
            if self._begin():
                self._serve_forever()
        except (ParityIgnoredError, RehearsalError) as refused:
            self.refusal = str(refused)
            log.critical("sas.refused", bus=self._bus.id, cause=self.refusal)
        finally:
            self.up = False

    def _begin(self) -> bool:
        """Wait for the daemon, and take over what it and our own file know; False where we are stopped before."""
        newest = None
        while newest is None and not self._stopping.is_set():
            newest = self._values.first(FIRST_SNAPSHOT_S)
        if newest is None or self._stopping.is_set():
            return False
        if self._sas.rehearsal and not newest.snapshot.get("demo"):
            raise RehearsalError(
                f'parity = "none-for-rehearsal" on {self._bus.id}: no real game understands it. It is for a demo'
            )
        marks = {
            int(name.rpartition("/")[2]): (int(mark[0]), int(mark[1]))
            for name, mark in newest.snapshot.get("sas", {}).items()
            if name.rpartition("/")[0] == self._bus.id
        }
        self._memory = Memory.load(self._memory_path, marks)
        return True

    def _serve_forever(self) -> None:
        backoff, cause = Backoff(), ""
        while not self._stopping.is_set():
            wire = None
            try:
                wire = open_wire(self._bus, self._sas, self._trace)
                self.up, cause = True, ""
                log.info("sas.up", bus=self._bus.id, port=self._bus.port, games=len(self._sas.games))
                self._serve(wire, backoff)
            except PortLostError as lost:
                cause = self._lost(str(lost), cause)
            except (ParityIgnoredError, RehearsalError):
                raise
            except Exception as fault:  # noqa: BLE001 - the other lines go on, and this one begins again
                cause = self._lost(str(program_fault(self._bus, fault)), cause)
            finally:
                if wire is not None:
                    wire.close()
            self._wait_for_port(backoff.next_s())

    def _wait_for_port(self, wait_s: float) -> None:
        """Wait so long, or until an adapter that was gone is there again."""
        by_s, port = time.monotonic() + wait_s, Path(self._bus.port)
        there = port.exists()
        while not self._stopping.wait(min(LOOK_S, max(0.0, by_s - time.monotonic()))):
            came, there = not there and port.exists(), port.exists()
            if came or time.monotonic() >= by_s:
                return

    def _lost(self, cause: str, told: str) -> str:
        """The port is gone; each cause is told once."""
        self.counts["port_losses"] += self.up
        self.up = False
        if cause != told:
            log.warning("sas.port_lost", bus=self._bus.id, cause=cause)
        return cause

    def _serve(self, wire: SasWire, backoff: Backoff) -> None:
        """Turn after turn."""
        counts = self._host.counts
        self._host = self._new_host()
        self._host.counts.update(counts)
        for address in self._memory.first:
            self._host.hold(address, doubtful=address == self._memory.asking)
        while True:
            wait_s = (self._host.due_ms(_now_ms()) - _now_ms()) / 1000
            if self._stopping.wait(max(0.0, wait_s)):
                return
            self._write_down()
            self._turn(wire)
            backoff.reset()
            self._tell()

    def _turn(self, wire: SasWire) -> None:
        """One transmission and its answer. What still comes from before is no answer to it."""
        late = wire.receive(0.0, 0.0)
        self._host.counts["late_words"] += len(late)
        newest = self._values.newest
        allowed = quotes(newest, self._sas, self._memory.hits, time.monotonic(), self._rates)
        self._release(allowed)
        request = self._host.step(_now_ms(), allowed)
        if request is None:
            return
        try:
            frame = encode(request)
            if isinstance(request, AskWins):
                self._memory.ask(request.address)
        except (PeerError, OSError) as fault:
            log.critical("sas.not_said", bus=self._bus.id, cause=str(fault))
            self._host.unsaid()
            return
        torn = wire.torn
        wire.transmit(frame)
        self._host.counts["torn"] += wire.torn - torn
        if request.address == TO_ALL:
            self._said.note(_figures(request))
            return
        for event in self._host.heard(request, wire.receive(), _now_ms()):
            self._on(event)
        if isinstance(request, AskWins) and not self._host.unread and self._memory.read(request.address):
            self._save()

    # ---- what games tell

    def _on(self, event: Event) -> None:
        bus = self._bus.id
        match event:
            case Won(address, group, wins, answer):
                self._told_wins(address, group, [(win.level, win.cents) for win in wins], answer)
            case Settled(address):
                if self._memory.settled(address):
                    self._save()
            case Said(address, code):
                say = log.warning if code == NO_PROGRESSIVE_5_S else log.info
                say("sas.exception", bus=bus, address=address, code=f"{code:02X}", means=EXCEPTIONS.get(code))
            case Unread(address, raw, again):
                log.critical("sas.win_unread", bus=bus, address=address, raw=raw.hex(), advice="read it at the game")
                self._told_wins(address, self._sas.group, [(0, 0)], self._memory.missed(address, UNREAD, again=again))
            case MaybeLost(address, again):
                advice = "a win may have been lost: look at its last wins, and claim what the ledger does not have"
                log.critical("sas.win_may_be_lost", bus=bus, address=address, advice=advice)
                self._told_wins(address, self._sas.group, [(0, 0)], self._memory.missed(address, LOST, again=again))
            case Odd(address, cause, raw):
                log.info("sas.odd", bus=bus, address=address, cause=cause, raw=raw.hex())
            case Presence(address, up):
                self._ups[address] = up
                (log.info if up else log.warning)("sas.game", bus=bus, address=address, up=up)

    def _told_wins(self, address: int, group: int, wins: list[tuple[int, int]], answer: bytes) -> None:
        """Number the wins on our disk, stop saying their levels, and have the ledger hold them."""
        levels = levels_of(self._values.newest, self._sas) if group == self._sas.group else {}
        fresh = {
            level: Hit(levels[level]["display_cents"], levels[level]["hits"])
            for level, _ in wins
            if level in levels and level not in self._memory.hits
        }
        try:
            win = self._memory.told(address, group, wins, answer.hex(), fresh)
            if win.done:
                self._host.durable(address, answer)  # told again after a restart, or because nothing else got through
                return
        except OSError as fault:
            log.critical("sas.not_kept", bus=self._bus.id, cause=str(fault), file=str(self._memory_path))
            self._host.not_kept()
            return
        log.warning("sas.win", bus=self._bus.id, address=address, group=group, wins=win.wins)
        self._write_down()

    def _write_down(self) -> None:
        """Ask the daemon for the entries of all wins that are not there yet; the line goes on for those that are."""
        for address, win in self._memory.undone:
            try:
                self._ask_for(address, win)
            except (OSError, ValueError, KeyError) as fault:
                self.counts["not_on_disk"] += 1
                log.critical("sas.win_not_on_disk", bus=self._bus.id, address=address, cause=str(fault))
                return
            win.done = True
            self._save()  # where that fails the next start asks again, and hears that it is done
            self.counts["wins"] += len(win.wins)
            self._host.durable(address, bytes.fromhex(win.answer))

    def _ask_for(self, address: int, win: OpenWin) -> None:
        """One entry for each win. Raises ValueError where the daemon refuses to write one."""
        for number, (level, cents) in enumerate(win.wins):
            known = level > 0
            answer = self._ask(
                {
                    "op": "sas_win",
                    "bus": self._bus.id,
                    "address": address,
                    "epoch": self._memory.epoch,
                    "count": win.count + number,
                    "group": win.group,
                    "level": level if known else None,
                    "amount_cents": cents if known else None,
                    "said": known and self._said.was(level, cents),
                    "raw": win.answer,
                },
                ASK_S,
            )
            if "seq" not in answer:
                raise ValueError(f"the daemon did not write it: {answer.get('error', answer)}")
            self._booked(address, win.group, level, cents, answer)

    def _booked(self, address: int, group: int, level: int, cents: int, answer: Mapping[str, Any]) -> None:
        """What became of a win that the ledger holds; one that no award came of needs a person."""
        ours = group == self._sas.group and level in self._sas.numbered
        booked = bool(answer.get("award"))
        if level in self._memory.hits and ours:
            self._memory.hits[level] = self._memory.hits[level]._replace(seq=int(answer["seq"]), booked=booked)
            advice = "claim it at its table; the level is not said until its meter falls"
        elif level and not ours:
            advice = "this line has no such level: look at the group and level that are set in the game, and at its win"
        else:
            return
        if not booked and "ALREADY_DONE" not in str(answer.get("refused")):
            log.critical(
                "sas.win_without_award",
                bus=self._bus.id,
                address=address,
                group=group,
                level=level,
                cents=cents,
                cause=answer.get("refused"),
                advice=advice,
            )

    def _release(self, allowed: Mapping[int, object]) -> None:
        """Levels that are said again after a win."""
        again = [level for level in self._memory.hits if level in allowed]
        for level in again:
            del self._memory.hits[level]
        if again:
            self._save()

    def _save(self) -> None:
        try:
            self._memory.save()
        except OSError as fault:
            log.critical("sas.not_kept", bus=self._bus.id, cause=str(fault), file=str(self._memory_path))

    # ---- status

    def status(self) -> dict[str, Any]:
        """Plain JSON values for metrics."""
        now_ms = _now_ms()
        return {
            "up": self.up,
            "refusal": self.refusal,
            "counts": {**self._host.counts, **self.counts},
            "games": {str(game.address): self._ups.get(game.address) for game in self._sas.games},
            "level_age_ms": {
                f"{link}/{level}": now_ms - self._host.said_ms[number] if number in self._host.said_ms else None
                for number, (link, level) in self._sas.numbered.items()
            },
        }

    def _tell(self) -> None:
        """The daemon's metrics carry ours; whoever does not listen misses nothing. Never while a win waits."""
        now_s = time.monotonic()
        if now_s - self._told_s < STATUS_S or self._host.waiting:
            return
        self._told_s = now_s
        try:
            self._ask({"op": "sas_status", "bus": self._bus.id, "status": self.status()}, 0.1)
        except (OSError, ValueError):
            return


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _figures(request: Request) -> dict[int, int]:
    """Level → cents of a broadcast."""
    match request:
        case SingleLevel(_, _, amount):
            return {amount.level: amount.cents}
        case MultiLevel(_, _, amounts):
            return {one.level: one.cents for one in amounts}
        case ExtendedLevels(_, _, levels):
            return {one.level: one.cents for one in levels}
    return {}
