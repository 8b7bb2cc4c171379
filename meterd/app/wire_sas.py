"""A SAS line in words: what games are told and asked, and what they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from meterd.edge.trace import Piece
from meterd.money import format_cents
from protocols import sas
from protocols.sas_read import Misheard, RequestReader, answer_to

_EXCEPTIONS: Final = {
    0x00: "nothing new",
    sas.HANDPAY_PENDING: "a handpay is pending",
    sas.NO_PROGRESSIVE_5_S: "I have heard nothing of a level for 5 s",
    sas.PROGRESSIVE_WIN: "I paid a progressive win",
    sas.SAS_LEVEL_HIT: "a level was hit",
}


class SasReader:
    """A line of games."""

    def __init__(self) -> None:
        """Begin with a silent line."""
        self._requests = RequestReader()
        self._asked: sas.Request | None = None

    def read(self, piece: Piece) -> list[str]:
        """Requests one way, answers the other."""
        if piece.way == "tx":
            said = []
            for request in self._requests.feed(sas.words(piece.data)):
                self._asked = None if isinstance(request, Misheard) else request
                said.append(f"not understood: {request.cause}" if isinstance(request, Misheard) else _asks(request))
            return said
        if self._asked is None:
            return [f"{len(piece.data)} bytes nobody asked for"]
        heard = answer_to(self._asked, [sas.Word(byte, mark=False) for byte in piece.data])
        return [_answers(heard.answer) if heard.answer is not None else f"not understood: {heard.cause}"]

    def end(self) -> list[str]:
        """Nothing is kept."""
        return []


def _asks(request: sas.Request) -> str:
    whom = "all games" if request.address == 0 else f"game {request.address}"
    match request:
        case sas.GeneralPoll():
            said = "anything new?"
        case sas.SingleLevel(_, group, amount):
            said = f"group {group}: {_levels([amount])}"
        case sas.MultiLevel(_, group, amounts):
            said = f"group {group}: {_levels(amounts)}"
        case sas.ExtendedLevels(_, group, levels):
            said = f"group {group}: {_levels(sas.LevelAmount(each.level, each.cents) for each in levels)}"
        case sas.AskWins(_, poll):
            said = f"which wins? ({poll:X})"
        case sas.AskCumulative():
            said = "all wins together?"
        case _:
            said = f"something else: {request}"
    return f"{whom}: {said}"


def _answers(answer: sas.Answer) -> str:
    match answer:
        case sas.Told(code):
            said = _EXCEPTIONS.get(code, f"exception {code:02X}")
        case sas.Wins(_, _, group, wins):
            said = f"group {group}: won {_levels(wins)}" if wins else "no win"
        case sas.Cumulative(_, _, cents):
            said = f"all wins together ${format_cents(cents)}"
        case sas.Ack():
            said = "taken"
        case sas.Nack():
            said = "not taken"
        case sas.Busy():
            said = "busy"
    return said


def _levels(amounts: Iterable[sas.LevelAmount]) -> str:
    return ", ".join(f"level {each.level} ${format_cents(each.cents)}" for each in amounts)
