"""Wins that games on a SAS line report, as ``meterd sas`` tells them over the control socket.

Rule 1: every win becomes an entry, GameWin, with what the game said: level, amount, the raw answer. It moves no money:
the meter in the ledger is the truth, a game's figure is a claim about it.
Rule 2: where the site file seats the game at a table, the win is claimed there at once, as if its dealer had keyed the
one hand that wins the level: same rules, same refusals, pending until a supervisor confirms. An amount that we had said
on that line counts as what a sign showed (money rules M4); any other amount only stands in the note.
Rule 3: a win has an identity; asked again it is answered as done, and does nothing.
Rule 4: only our own user, and the one ``meterd sas`` runs as, may report wins; the socket's group is not enough.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from meterd.accounting.commands import Actor, Claim, Command, Event, Note, Role
from meterd.accounting.entries import Kind
from meterd.accounting.rules import Decision
from meterd.app.inbox import Inbox
from meterd.app.loop import Ask
from meterd.config import SasConfig, SasGame, Site
from meterd.config.sas import hand_of
from meterd.edge.control import Answer
from meterd.errors import MeterdError

USER: Final = "meterd-sas"
CENTS_MAX: Final = 9_999_999_999
COUNT_MAX: Final = 2**53
RAW_MAX: Final = 1200
SILENT_S: Final = 15.0  # a line tells of itself every five seconds
STATUS_KEYS: Final = ("up", "refusal", "counts", "games", "level_age_ms")


@dataclass(frozen=True, slots=True)
class _Win:
    """A request that was understood. ``meter`` None: no level of this line, or a win that nobody could read."""

    sas: SasConfig
    game: SasGame
    epoch: int
    count: int
    group: int
    level: int | None
    amount_cents: int | None
    said: bool
    raw: str
    meter: tuple[str, str] | None

    @property
    def device(self) -> str:
        """The name the ledger knows the game by."""
        return f"{self.sas.bus}/{self.game.address}"


class SasDesk:
    """Takes reports of wins and of how the lines do. All methods belong to the wire loop's thread."""

    def __init__(self, site: Site, inbox: Inbox, seq: Callable[[], int]) -> None:
        """``seq``: the newest entry that was published."""
        self._site = site
        self._inbox = inbox
        self._seq = seq
        self._lines = {sas.bus: sas for sas in site.sas}
        self._told: dict[str, tuple[float, dict[str, Any]]] = {}

    def status(self) -> dict[str, Any]:
        """How each line does; one that was not heard of lately is down, whatever it said last."""
        found = {}
        for bus, sas in self._lines.items():
            told_s, status = self._told.get(bus, (0.0, {}))
            alive = bus in self._told and time.monotonic() - told_s < SILENT_S
            heard = (status.get("games") or {}) if alive else {}
            games = {str(game.address): bool(heard.get(str(game.address))) for game in sas.games}
            found[bus] = {**status, "up": alive and bool(status.get("up")), "games": games}
        return found

    def told(self, request: Mapping[str, Any], uid: int) -> Answer:
        """``sas_status``: numbers for metrics."""
        bus, status = request.get("bus"), request.get("status")
        if uid in allowed_uids() and bus in self._lines and isinstance(status, dict):
            self._told[str(bus)] = (time.monotonic(), {key: status.get(key) for key in STATUS_KEYS})
        return {"ok": True}

    async def win(self, request: Mapping[str, Any], uid: int) -> Answer:
        """``sas_win``: write it down; answered once it is committed. ``award`` where it was claimed."""
        if uid not in allowed_uids():
            return {"error": f"uid {uid} may not report wins: run meterd sas as {USER}"}
        win = self._understood(request)
        if win is None:
            return {"error": "no such win: bus, address, epoch, count, group, level, amount_cents, said and raw"}
        try:
            await self._decided(self._note(win))
            claim = self._claim(win)
            decision = await self._decided(claim) if claim is not None else None
        except MeterdError as failed:
            return {"error": f"not written: {failed}"}
        answer: Answer = {"seq": self._seq(), "award": None, "refused": None}
        if decision is not None and decision.refusal is not None:
            answer["refused"] = f"{decision.refusal.refusal.value} {decision.refusal.detail}".strip()
        elif decision is not None:
            answer["award"] = decision.entries[0].body["award"]
        return answer

    def _understood(self, request: Mapping[str, Any]) -> _Win | None:
        sas = self._lines.get(str(request.get("bus")))
        address = request.get("address")
        game = next((one for one in sas.games if one.address == address), None) if sas is not None else None
        numbers = [request.get(key) for key in ("epoch", "count", "group")]
        level, cents, raw = request.get("level"), request.get("amount_cents"), request.get("raw")
        if sas is None or game is None or not all(_whole(number, COUNT_MAX) for number in numbers):
            return None
        if (level is None) != (cents is None) or not isinstance(raw, str) or len(raw) > RAW_MAX:
            return None
        if level is not None and not (_whole(level, 32) and _whole(cents, CENTS_MAX)):
            return None
        epoch, count, group = (int(number or 0) for number in numbers)
        meter = sas.numbered.get(level) if level is not None and group == sas.group else None
        return _Win(sas, game, epoch, count, group, level, cents, request.get("said") is True, raw, meter)

    def _note(self, win: _Win) -> Command:
        link, meter = win.meter or (None, None)
        return Note(
            actor=Actor(f"game@{win.device}", Role.SYSTEM),
            device=win.device,
            event=Event(f"{win.device}/win", win.epoch, win.count),
            kind=Kind.GAME_WIN,
            table=win.game.table,
            facts={
                "link": link,
                "level": meter,
                "sas_group": win.group,
                "sas_level": win.level,
                "amount_cents": win.amount_cents,
                "said": win.said,
                "raw": win.raw,
            },
        )

    def _claim(self, win: _Win) -> Command | None:
        table = next((one for one in self._site.tables if one.id == win.game.table), None)
        if table is None or win.game.seat is None or win.meter is None or win.meter[0] != table.settings.link:
            return None
        link = next(one for one in self._site.links if one.id == table.settings.link)
        hand = hand_of(link.paytable, win.meter[1])
        if hand is None:
            return None
        return Claim(
            actor=Actor(f"game@{win.device}", Role.DEALER),
            device=win.device,
            event=Event(f"{win.device}/claim", win.epoch, win.count),
            table=table.id,
            seat=win.game.seat,
            hand=hand,
            signs={win.meter[1]: win.amount_cents} if win.said and win.amount_cents is not None else {},
        )

    async def _decided(self, command: Command) -> Decision:
        """The answer after COMMIT. Raises :class:`MeterdError` where there will be none."""
        answer: Future[Decision] = Future()
        if not self._inbox.offer(Ask(command, answer), "sas"):
            raise MeterdError("too much waits to be decided")
        return await asyncio.wrap_future(answer)


def allowed_uids() -> frozenset[int]:
    """Who may report wins: this user, and the one of ``meterd sas``, where there is one."""
    try:
        return frozenset((os.getuid(), pwd.getpwnam(USER).pw_uid))
    except KeyError:
        return frozenset((os.getuid(),))


def _whole(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most
