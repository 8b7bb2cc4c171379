"""SAS messages as they are heard, by either role: any bytes, in any pieces, and no error comes out.

:func:`answer_to` is the host's ear. Machines of different makers answer differently: before the answer may stand an
echo of the poll, stray bytes or the chirp of a game that thought the line was dead; the length byte of 87 is counted in
three ways. All of that is passed over. What is not passed over is a wrong check: a win without its check is no win.

:class:`RequestReader` is the game's ear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from protocols.errors import Cause
from protocols.sas import (
    AMOUNT_BYTES,
    BUSY,
    CUMULATIVE,
    EXTENDED,
    EXTENDED_LEVEL_BYTES,
    FRAME_MAX,
    LEVEL_BYTES,
    LEVELS_MAX,
    MULTI,
    POLL_BIT,
    REAL_TIME_EVENT,
    SAS_WIN,
    SAS_WINS,
    SINGLE,
    WIN,
    Ack,
    Answer,
    AskCumulative,
    AskWins,
    Busy,
    Cumulative,
    ExtendedLevel,
    ExtendedLevels,
    GeneralPoll,
    LevelAmount,
    MultiLevel,
    Nack,
    OtherRequest,
    Request,
    SingleLevel,
    Told,
    Wins,
    Word,
    encode,
    from_bcd,
    is_sealed,
)

_WIN_BYTES: Final = 3 + LEVEL_BYTES + 2
_CUMULATIVE_BYTES: Final = 2 + 2 + 4 + 2
_LENGTHS: Final = {SINGLE: 3 + LEVEL_BYTES + 2, WIN: 2, SAS_WIN: 2, SAS_WINS: 2, CUMULATIVE: 2 + 2 + 2}


class Heard(NamedTuple):
    """What came back: the answer, or why there is none (None and no cause: silence); and the chirps among it."""

    answer: Answer | None
    cause: Cause | None = None
    chirps: tuple[int, ...] = ()


def answer_to(request: Request, line: Sequence[Word]) -> Heard:
    """Read the answer to ``request`` out of the words heard until the line was quiet."""
    chirps = tuple(word.byte for word in line if word.mark)
    data = bytes(word.byte for word in line if not word.mark)
    if not data:
        return Heard(None, None, chirps)
    if isinstance(request, GeneralPoll):
        return _told(request, data, chirps)
    asked = encode(request)
    found = (_read(request, data[at:]) for at in range(len(data)))
    answer = next((one for one in found if one is not None), None) or _short(request, data.removeprefix(asked))
    if answer is not None:
        return Heard(answer, None, chirps)
    return Heard(None, Cause.ECHO if data == asked else _why(request, data), chirps)


def _short(request: Request, data: bytes) -> Answer | None:
    """An answer of one byte."""
    if data == bytes((request.address,)):
        return Ack(request.address)
    return Nack(request.address) if data == bytes((POLL_BIT | request.address,)) else None


def _told(request: GeneralPoll, data: bytes, chirps: tuple[int, ...]) -> Heard:
    """One byte, whatever it is. More: after an echo, or a real-time event, which tells its code in its third byte."""
    if len(data) == 1:
        return Heard(Told(data[0]), None, chirps)
    if len(data) == 2 and data[0] == POLL_BIT | request.address:
        return Heard(Told(data[1]), None, chirps)
    for at in range(len(data) - 4):
        frame = data[at:]
        if frame[:2] == bytes((request.address, REAL_TIME_EVENT)) and is_sealed(frame):
            return Heard(Told(frame[2]), None, chirps)
    return Heard(None, _why(request, data), chirps)


def _why(request: Request, data: bytes) -> Cause:
    """The nearest cause."""
    head = encode(request)[:2]
    at = data.find(head)
    if at >= 0 and len(head) == 2:
        return Cause.CRC if len(data) - at >= _WIN_BYTES else Cause.CUT
    return Cause.WRONG_FUNCTION if data[0] == request.address else Cause.STRAY


def _read(request: Request, data: bytes) -> Answer | None:
    """The answer that begins with the first byte of ``data``; what follows it does not matter."""
    if data[0] != request.address or len(data) < 2:
        return None
    if data[:2] == bytes((request.address, BUSY)) and len(data) == 2:
        return Busy(request.address)
    match request:
        case AskWins(address, poll) if data[1] == poll:
            return _many(address, data) if poll == SAS_WINS else _one(address, poll, data)
        case AskCumulative(address) if data[1] == CUMULATIVE:
            frame = data[:_CUMULATIVE_BYTES]
            game, cents = from_bcd(frame[2:4]), from_bcd(frame[4:8])
            if len(frame) == _CUMULATIVE_BYTES and is_sealed(frame) and game is not None and cents is not None:
                return Cumulative(address, game, cents)
    return None


def _one(address: int, poll: int, data: bytes) -> Wins | None:
    frame = data[:_WIN_BYTES]
    if len(frame) < _WIN_BYTES or not is_sealed(frame):
        return None
    if not any(frame[3 : 3 + LEVEL_BYTES]):
        return Wins(address, poll, frame[2], ())
    won = _level(frame[3:])
    return Wins(address, poll, frame[2], (won,)) if won is not None else None


def _many(address: int, data: bytes) -> Wins | None:
    """87. Its length counts what follows it; some leave out the group, some the number of levels, some both."""
    if len(data) >= 5 and data[2] == 0 and is_sealed(data[:5]):
        return Wins(address, SAS_WINS, 0, ())
    if len(data) < 7 or data[4] > LEVELS_MAX:
        return None
    count = data[4]
    frame = data[: 5 + LEVEL_BYTES * count + 2]
    lengths = {LEVEL_BYTES * count + extra for extra in (0, 1, 2)}
    if len(frame) < 7 + LEVEL_BYTES * count or not is_sealed(frame) or frame[2] not in lengths:
        return None
    wins = [_level(frame[5 + LEVEL_BYTES * n :]) for n in range(count)]
    read = tuple(win for win in wins if win is not None)
    return Wins(address, SAS_WINS, frame[3], read) if len(read) == count else None


def _level(data: bytes) -> LevelAmount | None:
    cents = from_bcd(data[1 : 1 + AMOUNT_BYTES])
    return LevelAmount(data[0], cents) if 1 <= data[0] <= LEVELS_MAX and cents is not None else None


# ---- the game's ear


class Misheard(NamedTuple):
    """A message that a game cannot take; where it was addressed to it, it says NACK."""

    address: int
    cause: Cause


class RequestReader:
    """Host words to requests. A marked word begins a message, whatever came before it."""

    def __init__(self) -> None:
        self.faults: Counter[Cause] = Counter()
        self._frame = bytearray()

    def feed(self, line: Iterable[Word]) -> Iterator[Request | Misheard]:
        """The messages that are whole by now."""
        for byte, mark in line:
            if mark:
                if self._frame:
                    yield from self._end()
                self._frame = bytearray((byte,))
            elif self._frame and len(self._frame) < FRAME_MAX:
                self._frame.append(byte)
            else:
                self.faults[Cause.STRAY] += 1
                continue
            if len(self._frame) == _length(self._frame):
                found = _request(bytes(self._frame))
                self._frame.clear()
                if isinstance(found, Misheard):
                    self.faults[found.cause] += 1
                yield found

    def silence(self) -> list[Request | Misheard]:
        """The line was quiet for 5 ms: what is not whole by now ends here."""
        return list(self._end()) if self._frame else []

    def _end(self) -> Iterator[Request | Misheard]:
        """A message of a kind without a known length, or one that was cut."""
        frame = bytes(self._frame)
        self._frame.clear()
        if len(frame) >= 2 and _length(frame) is None and frame[1] not in {MULTI, EXTENDED}:
            yield OtherRequest(frame[0], frame)
        else:
            self.faults[Cause.CUT] += 1


def _length(frame: bytes | bytearray) -> int | None:
    """How long the whole message is; None where that is not known yet, or never."""
    if frame[0] & POLL_BIT:
        return 1
    if len(frame) > 2 and frame[1] in {MULTI, EXTENDED}:
        return 3 + frame[2] + 2
    return _LENGTHS.get(frame[1]) if len(frame) > 1 else None


def _request(frame: bytes) -> Request | Misheard:
    address = frame[0] & ~POLL_BIT
    if frame[0] & POLL_BIT:
        return GeneralPoll(address)
    if frame[1] in {WIN, SAS_WIN, SAS_WINS}:
        return AskWins(address, frame[1])
    if not is_sealed(frame):
        return Misheard(address, Cause.CRC)
    found: Request | None
    match frame[1]:
        case 0x80:
            found = _single(address, frame)
        case 0x86:
            found = _multi(address, frame)
        case 0x7A:
            found = _extended(address, frame)
        case _:
            game = from_bcd(frame[2:4])
            found = AskCumulative(address, game) if game is not None else None
    return found or Misheard(address, Cause.MISMATCH)


def _single(address: int, frame: bytes) -> SingleLevel | None:
    amount = _level(frame[3:])
    return SingleLevel(address, frame[2], amount) if amount is not None and frame[2] else None


def _multi(address: int, frame: bytes) -> MultiLevel | None:
    body = frame[4:-2]
    count, rest = divmod(len(body), LEVEL_BYTES)
    if rest or not 1 <= count <= LEVELS_MAX or not frame[3]:
        return None
    read = [_level(body[LEVEL_BYTES * n :]) for n in range(count)]
    amounts = tuple(amount for amount in read if amount is not None)
    return MultiLevel(address, frame[3], amounts) if len(amounts) == count else None


def _extended(address: int, frame: bytes) -> ExtendedLevels | None:
    body = frame[4:-2]
    count, rest = divmod(len(body), EXTENDED_LEVEL_BYTES)
    if rest or not count or not frame[3]:
        return None
    levels = []
    for n in range(count):
        part = body[EXTENDED_LEVEL_BYTES * n : EXTENDED_LEVEL_BYTES * (n + 1)]
        amount = _level(part)
        base, rate = from_bcd(part[LEVEL_BYTES : LEVEL_BYTES + AMOUNT_BYTES]), from_bcd(part[-3:])
        if amount is None or base is None or rate is None:
            return None
        levels.append(ExtendedLevel(amount.level, amount.cents, base, rate))
    return ExtendedLevels(address, frame[3], tuple(levels))
