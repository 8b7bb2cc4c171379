"""Asks one sign what it is and shows it a pattern, without the daemon; says in words what was found.

Nothing of a sign's memory is touched: reads, and a message in its priority file that is released again. A sign hears
nothing at all where baud, data bits, parity or checksum are set otherwise than it is; so where nothing answers, the
settings that signs are sold with are tried one after another, and the one that is answered is named.

Units: ``*_s`` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

from meterd.config import BusConfig, SignConfig
from meterd.edge.serialport import PortLostError, SerialLink, open_link
from meterd.edge.sign_state import SignState
from protocols.alpha import (
    NEAREST_MS,
    Command,
    ConfigureMemory,
    ReadInformation,
    ReadMemory,
    ReleasePriority,
    Tone,
    quiet_ms,
    transmission,
)
from protocols.alpha_pages import takeover
from protocols.alpha_replies import Answer, Information, ReplyParser, same_files

ANSWER_S: Final = 3.0  # a sign answers within a second; a busy one in two
MARGIN_S: Final = 0.05
PATTERN_S: Final = 5.0

Setting = tuple[int, Literal[7, 8], Literal["N", "E", "O"], Literal[1, 2]]
#: What signs are found set to, the commonest first.
SETTINGS: Final[tuple[Setting, ...]] = (
    (9600, 8, "N", 1),
    (9600, 7, "E", 1),
    (9600, 7, "E", 2),
    (4800, 7, "E", 2),
    (4800, 7, "E", 1),
    (4800, 8, "N", 1),
    (2400, 7, "E", 2),
    (19200, 8, "N", 1),
    (38400, 8, "N", 1),
)


@dataclass
class Found:
    """What was found of one sign. ``says``: sentences for a technician; ``ok``: nothing is left to be done."""

    sign: str
    port: str
    setting: str
    ok: bool = False
    information: Information | None = None
    memory: Literal["as planned", "other", "empty", "unknown"] = "unknown"
    answers_at: str | None = None
    hears_checksum: bool | None = None
    says: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        told = self.information
        fields = {name: getattr(told, name) for name in Information.__slots__} if told is not None else None
        return {**self.__dict__, "information": fields}


def setting_text(bus: BusConfig) -> str:
    """``9600 8N1``."""
    return f"{bus.baud} {bus.bytesize}{bus.parity}{bus.stopbits}"


class SignTest:
    """Tests one sign of a line. ``told`` is called with each sentence as it is found out."""

    def __init__(
        self,
        bus: BusConfig,
        sign: SignConfig,
        *,
        pattern_s: float = PATTERN_S,
        beep: bool = False,
        answer_s: float = ANSWER_S,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Prepare; nothing is opened yet."""
        self._bus = bus
        self._sign = sign
        self._pattern_s = pattern_s
        self._beep = beep
        self._answer_s = answer_s
        self._told = told
        self.found = Found(sign.id, bus.port, setting_text(bus))

    async def run(self) -> Found:
        """Ask, look elsewhere where nothing answers, show the pattern. Raises :class:`PortLostError`."""
        checked = self._sign.model.checksum
        asked = self._sign.model.answers
        if asked:
            async with _Ear(self._bus) as ear:
                await self._ask(ear, checked)
        if asked and self.found.information is None:
            await self._look_elsewhere()
        async with _Ear(self._bus) as ear:
            await self._show(ear)
        if not asked:
            self._say(f"{self._sign.model.id} answers no reads: only your eyes can tell. Was the pattern on it?")
        self.found.ok = self.found.information is not None or not asked
        self.found.ok = self.found.ok and self.found.memory != "other"
        return self.found

    async def _ask(self, ear: _Ear, checked: bool) -> None:
        """What is it, which files has it; with the checksum as the site file says, and the other way."""
        found = self.found
        information = await self._answer(ear, ReadInformation(), checked)
        if not isinstance(information, Information):
            found.hears_checksum = False if checked else None
            if checked and isinstance(await self._answer(ear, ReadInformation(), False), Information):
                found.answers_at = "without checksums"
                self._say(
                    "It answers only where no checksum is sent: write checksum = false into its [[sign]] of the site"
                    " file. It will then show whatever a bad cable makes of a figure: have the cable looked at"
                )
            return
        found.information = information
        found.hears_checksum = checked or None
        self._say(
            f"It answers: firmware {information.firmware}{information.revision} of {information.released}, its clock"
            f" says {information.clock}, {information.free} of {information.pool} bytes of memory free"
        )
        await self._compare(await self._answer(ear, ReadMemory(), checked))

    async def _compare(self, memory: Answer | None) -> None:
        """Whether it has the files the daemon writes to."""
        labels = {meter: chr(ord("a") + n) for n, meter in enumerate(self._sign.shows)}
        planned = SignState(self._sign, labels).memory
        if memory is None:
            self._say("It does not say which files it has")
        elif isinstance(memory, ConfigureMemory) and not memory.files:
            self.found.memory = "empty"
            self._say("Its memory holds no files: the daemon will set it up when it starts")
        elif isinstance(memory, ConfigureMemory) and _alike(planned, memory):
            self.found.memory = "as planned"
            self._say("Its memory holds the files of this site file")
        else:
            self.found.memory = "other"
            self._say(
                "Its memory holds other files than this site file needs. A daemon that remembers having set it up will"
                " not do so again: remove the sign's .plan file beside the ledger (signs/), then start the daemon"
            )

    async def _look_elsewhere(self) -> None:
        """Try what signs are sold with. Says which setting is answered, or what else to look at."""
        tried = [self.found.setting]
        if self.found.answers_at is None:
            self._say(f"Nothing answers at {self.found.setting}; looking at other settings")
            for setting in SETTINGS:
                baud, bytesize, parity, stopbits = setting
                bus = replace(self._bus, baud=baud, bytesize=bytesize, parity=parity, stopbits=stopbits)
                if setting_text(bus) != self.found.setting and await self._answers_at(bus):
                    self.found.answers_at = setting_text(bus)
                    self._say(
                        f"It answers at {setting_text(bus)}: write baud = {bus.baud}, bytesize = {bus.bytesize},"
                        f' parity = "{bus.parity}", stopbits = {bus.stopbits} into its [[bus]] of the site file'
                    )
                    return
                tried.append(setting_text(bus))
        if self.found.answers_at is None:
            self._say(
                f"Nothing answers at {', '.join(dict.fromkeys(tried))}. Look at: its power; the cable (TX and RX"
                f" crossed? the RS-232 plug, not the RS-485 one?); its address ({self._sign.model.address} here);"
                " another program's settings on it, such as 1200 baud"
            )

    async def _answers_at(self, bus: BusConfig) -> bool:
        try:
            async with _Ear(bus) as ear:
                return isinstance(await self._answer(ear, ReadInformation(), False, self._answer_s / 2), Information)
        except PortLostError as refused:
            self._say(f"cannot be tried: {refused}")
            return False

    async def _show(self, ear: _Ear) -> None:
        """A pattern that lights every column, and its end."""
        columns = self._sign.model.columns
        pattern = takeover(f"{self._sign.id[: columns - 2]} {'8' * columns}"[:columns], columns)
        if self._beep:
            await self._write(ear, Tone(beeps=True))
        await self._write(ear, pattern)
        self._say(f"The pattern was written: {columns} characters, flashing, for {self._pattern_s:g} s")
        await asyncio.sleep(self._pattern_s)
        await self._write(ear, ReleasePriority())

    async def _write(self, ear: _Ear, command: Command) -> None:
        await ear.say(self._frame(command, self._sign.model.checksum))
        await asyncio.sleep(quiet_ms(command) / 1000 + MARGIN_S)

    async def _answer(self, ear: _Ear, command: Command, checked: bool, limit_s: float | None = None) -> Answer | None:
        answer = await ear.ask(self._frame(command, checked), self._answer_s if limit_s is None else limit_s)
        await asyncio.sleep(NEAREST_MS / 1000 + MARGIN_S)
        return answer

    def _frame(self, command: Command, checked: bool) -> bytes:
        model = self._sign.model
        return transmission(command, model.type_code, model.address, checked=checked)

    def _say(self, sentence: str) -> None:
        self.found.says.append(sentence)
        self._told(sentence)


def _alike(planned: ConfigureMemory, memory: ConfigureMemory) -> bool:
    """The same kinds and sizes; labels depend on the other signs of the line."""
    if len(planned.files) != len(memory.files):
        return False
    renamed = tuple(replace(mine, label=its.label) for mine, its in zip(planned.files, memory.files, strict=True))
    return same_files(ConfigureMemory(renamed), memory)


class _Ear(asyncio.Protocol):
    """A port of our own for as long as the ``async with`` lasts."""

    def __init__(self, bus: BusConfig) -> None:
        self._bus = bus
        self._link: SerialLink | None = None
        self._parser = ReplyParser()
        self._answers: asyncio.Queue[Answer | PortLostError] = asyncio.Queue()
        self._character_s = bus.bits_per_character / bus.baud

    async def __aenter__(self) -> Self:
        self._link = await open_link(self._bus, self, dtr=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._link is not None:
            self._link.close()

    def data_received(self, data: bytes) -> None:
        for answer in self._parser.receive(data):
            self._answers.put_nowait(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(exc, PortLostError):
            self._answers.put_nowait(exc)

    async def say(self, frame: bytes) -> None:
        """Send; returns when the last byte has had its time on the line."""
        if self._link is not None:
            self._link.write(frame)
            await asyncio.sleep(len(frame) * self._character_s)

    async def ask(self, frame: bytes, limit_s: float) -> Answer | None:
        """Send a read; its answer, or None where none comes in time. Raises :class:`PortLostError`."""
        while not self._answers.empty():
            self._answers.get_nowait()
        await self.say(frame)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                answer = await self._answers.get()
                if isinstance(answer, PortLostError):
                    raise answer
                return answer
        return None
