"""SAS 6.02, the progressive part: messages of host and game, as values; values to bytes and bytes to values.

A line carries nine-bit words: eight data bits and a *wakeup mark*, set on the first byte of each message of the host
and clear on every other byte. :func:`words` and :class:`MarkReader` carry marks through a stream of bytes the way a
terminal with ``PARMRK`` hands them over: a marked byte as ``FF 00 byte``, a plain FF as ``FF FF``.

:func:`encode` is either role's; what is heard is read in ``sas_read``, and when a host says what in ``sas_host``. What
cannot be said raises :class:`~protocols.errors.PeerError`.

Amounts are whole cents, 0 to 9,999,999,999. BCD goes most significant byte first, the check least significant first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from protocols.crc import Crc16
from protocols.errors import Cause, PeerError

BAUD: Final = 19_200
BITS_PER_WORD: Final = 11
ADDRESS_MAX: Final = 0x7F
TO_ALL: Final = 0x00
LEVELS_MAX: Final = 32
EXTENDED_LEVELS_MAX: Final = 16
GROUP_MAX: Final = 0xFF
CENTS_MAX: Final = 9_999_999_999
GAME_MAX: Final = 9_999
RATE_MAX: Final = 999_999
FRAME_MAX: Final = 255 + 5

POLL_BIT: Final = 0x80
BUSY: Final = 0x00
EXTENDED: Final = 0x7A
SINGLE: Final = 0x80
CUMULATIVE: Final = 0x83
WIN: Final = 0x84
SAS_WIN: Final = 0x85
MULTI: Final = 0x86
SAS_WINS: Final = 0x87
REAL_TIME_EVENT: Final = 0xFF

#: Exceptions that matter here, as a general poll tells them.
NO_ACTIVITY: Final = 0x00
HANDPAY_PENDING: Final = 0x51
NO_PROGRESSIVE_5_S: Final = 0x53
PROGRESSIVE_WIN: Final = 0x54
SAS_LEVEL_HIT: Final = 0x56

AMOUNT_BYTES: Final = 5
LEVEL_BYTES: Final = 1 + AMOUNT_BYTES
EXTENDED_LEVEL_BYTES: Final = 1 + 2 * AMOUNT_BYTES + 3


class Word(NamedTuple):
    """One word of the line: its byte, and whether the wakeup mark was set."""

    byte: int
    mark: bool = False


class LevelAmount(NamedTuple):
    """A level (1 is the top award) and its amount."""

    level: int
    cents: int


class ExtendedLevel(NamedTuple):
    """A level with what it starts again from, and its rate of increment in millionths."""

    level: int
    cents: int
    base_cents: int
    rate_ppm: int


# ---- what a host says


@dataclass(frozen=True, slots=True)
class GeneralPoll:
    """Asks one game for its oldest exception."""

    address: int


@dataclass(frozen=True, slots=True)
class SingleLevel:
    """80: one level of a group. To address 0 it is a broadcast and never answered."""

    address: int
    group: int
    amount: LevelAmount


@dataclass(frozen=True, slots=True)
class MultiLevel:
    """86: up to 32 levels of a group."""

    address: int
    group: int
    amounts: tuple[LevelAmount, ...]


@dataclass(frozen=True, slots=True)
class ExtendedLevels:
    """7A, of later versions: as 86, with base and rate. Only for games that ask for it."""

    address: int
    group: int
    levels: tuple[ExtendedLevel, ...]


@dataclass(frozen=True, slots=True)
class AskWins:
    """84 (last progressive win), 85 (oldest SAS win) or 87 (all SAS wins that wait)."""

    address: int
    poll: int = SAS_WIN


@dataclass(frozen=True, slots=True)
class AskCumulative:
    """83: the sum of all progressive wins. ``game`` 0 is the whole machine."""

    address: int
    game: int = 0


@dataclass(frozen=True, slots=True)
class OtherRequest:
    """A poll of another part of SAS, from the address on. Its check is included where it has one."""

    address: int
    body: bytes


Request = GeneralPoll | SingleLevel | MultiLevel | ExtendedLevels | AskWins | AskCumulative | OtherRequest


# ---- what a game says


@dataclass(frozen=True, slots=True)
class Told:
    """The answer to a general poll: one exception."""

    code: int


@dataclass(frozen=True, slots=True)
class Ack:
    """A message to this address was taken."""

    address: int


@dataclass(frozen=True, slots=True)
class Nack:
    """A message to this address was not understood."""

    address: int


@dataclass(frozen=True, slots=True)
class Busy:
    """The game has no time for this poll now."""

    address: int


@dataclass(frozen=True, slots=True)
class Wins:
    """The answer to 84, 85 or 87. ``wins`` is empty where none waits."""

    address: int
    poll: int
    group: int
    wins: tuple[LevelAmount, ...]


@dataclass(frozen=True, slots=True)
class Cumulative:
    """The answer to 83."""

    address: int
    game: int
    cents: int


Answer = Told | Ack | Nack | Busy | Wins | Cumulative


# ---- check, BCD, marks


#: CRC-16/KERMIT: polynomial 1021 reflected, seed 0; of ``b"123456789"`` it is 2189.
crc16: Final = Crc16(0x8408, 0)
#: A body from the address on, with its check behind it.
sealed: Final = crc16.sealed


def is_sealed(frame: bytes) -> bool:
    """Whether the last two bytes are the check over those before; over a whole good frame it is zero."""
    return len(frame) > 2 and crc16(frame) == 0


def bcd(value: int, size: int) -> bytes:
    """A number as ``size`` bytes of two decimal digits each.

    Raises:
        PeerError: negative, or more digits than that.
    """
    if not 0 <= value < 100**size:
        raise PeerError(Cause.TOO_LONG, f"{value} does not fit {2 * size} digits")
    return bytes.fromhex(f"{value:0{2 * size}d}")


def from_bcd(data: bytes) -> int | None:
    """The number; None where a half byte is no digit."""
    text = data.hex()
    return int(text) if text.isdecimal() else None


def words(frame: bytes) -> tuple[Word, ...]:
    """A host's message: the mark on its first byte alone."""
    return tuple(Word(byte, place == 0) for place, byte in enumerate(frame))


def marked_stream(line: Iterable[Word]) -> bytes:
    """Words as a terminal with ``PARMRK`` hands them over."""
    out = bytearray()
    for byte, mark in line:
        out += bytes((0xFF, 0x00, byte)) if mark else b"\xff\xff" if byte == 0xFF else bytes((byte,))
    return bytes(out)


class MarkReader:
    """Such a stream back to words, in any pieces. An FF followed by neither 00 nor FF stands for itself."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> list[Word]:
        """The words that are whole by now."""
        data, found, at = self._held + data, [], 0
        while at < len(data):
            rest = data[at : at + 3]
            if rest[0] != 0xFF or rest[1:2] not in {b"", b"\x00", b"\xff"}:
                found.append(Word(rest[0]))
                at += 1
            elif rest[1:2] == b"\xff":
                found.append(Word(0xFF))
                at += 2
            elif len(rest) == 3:
                found.append(Word(rest[2], mark=True))
                at += 3
            else:
                break
        self._held = data[at:]
        return found

    def silence(self) -> list[Word]:
        """The line was quiet: what hangs half is a plain FF and what followed it."""
        held, self._held = self._held, b""
        return [Word(byte) for byte in held]


# ---- values to bytes


def encode(message: Request | Answer) -> bytes:
    """The bytes of a message, check included where it has one.

    Raises:
        PeerError: an address, group, level, amount or number of levels that SAS does not have.
    """
    match message:
        case GeneralPoll(address):
            frame = bytes((POLL_BIT | _address(address),))
        case SingleLevel(address, group, amount):
            frame = sealed(bytes((_address(address, TO_ALL), SINGLE, _group(group))) + _level(amount))
        case MultiLevel(address, group, amounts):
            body = bytes((_group(group),)) + b"".join(map(_level, _some(amounts)))
            frame = sealed(bytes((_address(address, TO_ALL), MULTI, len(body))) + body)
        case ExtendedLevels(address, group, levels):
            body = bytes((_group(group),)) + b"".join(map(_extended, _some(levels, EXTENDED_LEVELS_MAX)))
            frame = sealed(bytes((_address(address, TO_ALL), EXTENDED, len(body))) + body)
        case AskWins(address, poll):
            frame = bytes((_address(address), _win_poll(poll)))
        case AskCumulative(address, game):
            frame = sealed(bytes((_address(address), CUMULATIVE)) + bcd(game, 2))
        case OtherRequest(_, body):
            frame = body
        case _:
            frame = _encode_answer(message)
    return frame


def _encode_answer(message: Answer) -> bytes:
    match message:
        case Told(code):
            frame = bytes((code,))
        case Ack(address):
            frame = bytes((_address(address),))
        case Nack(address):
            frame = bytes((POLL_BIT | _address(address),))
        case Busy(address):
            frame = bytes((_address(address), BUSY))
        case Wins():
            frame = _encode_wins(message)
        case Cumulative(address, game, cents):
            frame = sealed(bytes((_address(address), CUMULATIVE)) + bcd(game, 2) + bcd(cents, 4))
    return frame


def _encode_wins(message: Wins) -> bytes:
    head = bytes((_address(message.address), _win_poll(message.poll)))
    group = _group(message.group, 0)
    if message.poll == SAS_WINS:
        body = bytes((group, len(message.wins))) + b"".join(map(_level, message.wins))
        return sealed(head + bytes((len(body),)) + body)
    if len(message.wins) > 1:
        raise PeerError(Cause.TOO_LONG, f"{message.poll:02X} tells one win, not {len(message.wins)}")
    return sealed(head + bytes((group,)) + (_level(message.wins[0]) if message.wins else bytes(LEVEL_BYTES)))


def _address(address: int, least: int = 1) -> int:
    if not least <= address <= ADDRESS_MAX:
        raise PeerError(Cause.BAD_LABEL, f"there is no address {address}: {least} to {ADDRESS_MAX}")
    return address


def _group(group: int, least: int = 1) -> int:
    if not least <= group <= GROUP_MAX:
        raise PeerError(Cause.BAD_LABEL, f"there is no group {group}: 1 to 255, 0 is for progressives without SAS")
    return group


def _level_number(level: int) -> int:
    if not 1 <= level <= LEVELS_MAX:
        raise PeerError(Cause.BAD_LABEL, f"there is no level {level}: 1 to {LEVELS_MAX}")
    return level


def _level(amount: LevelAmount) -> bytes:
    return bytes((_level_number(amount.level),)) + bcd(amount.cents, AMOUNT_BYTES)


def _extended(one: ExtendedLevel) -> bytes:
    return _level(LevelAmount(one.level, one.cents)) + bcd(one.base_cents, AMOUNT_BYTES) + bcd(one.rate_ppm, 3)


_Level = TypeVar("_Level", LevelAmount, ExtendedLevel)


def _some(levels: Sequence[_Level], most: int = LEVELS_MAX) -> Sequence[_Level]:
    if not 1 <= len(levels) <= most:
        raise PeerError(Cause.TOO_LONG, f"{len(levels)} levels in one message: 1 to {most}")
    if len({one.level for one in levels}) != len(levels):
        raise PeerError(Cause.BAD_LABEL, "a level twice in one message")
    return levels


def _win_poll(poll: int) -> int:
    if poll not in {WIN, SAS_WIN, SAS_WINS}:
        raise PeerError(Cause.BAD_LABEL, f"{poll:02X} asks for no win")
    return poll
