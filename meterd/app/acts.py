"""Acts over the control socket: a statement and the people who sign it, decided once, answered from the ledger.

Rule 1: a statement is a line of the scenario language that asks for something: never one that sets up, expects or moves
the clock, and none that says what only a device can have seen.
Rule 2: who acts is who signed in, in the role of the people file. A name in the statement gives nothing.
Rule 3: the answer is what the ledger holds after COMMIT. A request asked again is answered from there and does nothing.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog

from meterd.accounting.commands import Command
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision
from meterd.app.act_words import refusal_of, refusal_words, words
from meterd.app.asked import Asked, event_id
from meterd.app.inbox import Inbox
from meterd.app.loop import Ask
from meterd.app.scenario_commands import COMMANDS
from meterd.app.scenario_parse import PageError, Statement, parse_page
from meterd.config import People, Person
from meterd.edge.requests import Told, answer_to
from meterd.edge.secrets import Denied, Shown, SignIns
from meterd.errors import MeterdError

STATEMENT_MAX: Final = 1000
ID_MAX: Final = 64
PEOPLE_MAX: Final = 2
PIN_TYPED_MAX: Final = 256

#: Lines that no person may say in a running house, and why.
NOT_ACTS: Final[Mapping[str, str]] = {
    "lock": "the lock button of the table says it, together with its sensors",
    "late": "the sensors of the table say it",
    "spin": "the wheel of the table says it",
    "crash": "the daemon says it",
    "ease": "another pay table is compared with the one in force first, which takes a while: name it in the site file, "
    "and let two people adopt it (`meterd ledger adopt`)",
}
ACTS: Final = frozenset(COMMANDS) - frozenset(NOT_ACTS)

_SIGNED: Final = ("by", "and")
_REQUEST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_REFERENCE: Final = "expected ref "
_AMOUNT: Final = re.compile(r": expected an amount(?!.*; the line ends)")

log = structlog.get_logger()


class Unreadable(MeterdError):  # noqa: N818 - an answer for whoever asked, not a fault
    """A statement that is no act. ``reason`` is a refusal's name where one fits."""

    def __init__(self, text: str, reason: Refusal | None = None) -> None:
        super().__init__(text)
        self.reason = reason


class _Request(NamedTuple):
    """A request as it came, in shape: nobody is proven, nothing is read."""

    statement: str
    shown: tuple[Shown, ...]
    id: str


def read_act(statement: str, persons: Sequence[Person]) -> Command:
    """The command of a statement, signed by these people.

    Raises:
        Unreadable: it is no act, or not one for so many people.
    """
    line = _parsed(statement, persons)
    if line.name not in COMMANDS:
        raise Unreadable(
            f"{line.name.replace('-', ' ')} asks for nothing: it belongs on a page of the scenario language"
        )
    actors = [person.actor for person in persons]
    signed = Statement(line.file, line.line, line.text, line.name, {**line.values, "by": actors[0], "and": None})
    try:
        command = COMMANDS[line.name](signed)
    except PageError as error:
        raise Unreadable(_without_place(error)) from error
    has = {field.name for field in dataclasses.fields(command)}
    if len(actors) > 1 and "second" not in has:
        raise Unreadable(f"{statement.split(maxsplit=1)[0]} is the act of one person: leave out {actors[1].id}")
    changes: dict[str, Any] = {"actor": actors[0]}
    if "second" in has:
        changes["second"] = actors[1] if len(actors) > 1 else None
    if "cashier" in has:
        changes["cashier"] = actors[0].id
    return dataclasses.replace(command, **changes)


def _parsed(statement: str, persons: Sequence[Person]) -> Statement:
    """A statement as one line of the language. Who signed may be named in it, or is added where a line needs it."""
    words_of = statement.split()
    if words_of and words_of[0] in NOT_ACTS:
        raise Unreadable(f"{words_of[0]} is nobody's to ask for: {NOT_ACTS[words_of[0]]}")
    ids = [person.id for person in persons]
    line, errors = None, []
    for named in ("", "".join(f" {word} {name}" for word, name in zip(_SIGNED, ids, strict=False)), f" by {ids[0]}"):
        try:
            line = _one_line(statement + named)
            break
        except PageError as error:
            errors.append(error)
    if line is None:
        reason = Refusal.AMOUNT_OUT_OF_BOUNDS if _AMOUNT.search(str(errors[1])) else None
        raise Unreadable(_without_place(errors[1]), reason)
    said = [line.get(word).id for word in _SIGNED if line.get(word) is not None]
    if not errors and said and [each.casefold() for each in said] != [each.casefold() for each in ids]:
        raise Unreadable(f"the statement names {' and '.join(said)}, but {' and '.join(ids)} signed")
    return line


def _one_line(text: str) -> Statement:
    lines = parse_page(text, "act")
    if len(lines) != 1 or len(text.splitlines()) != 1:
        raise Unreadable("an act is one statement on one line")
    return lines[0]


def _without_place(error: PageError) -> str:
    """What is wrong; a reference that is missing is named as `meterd act` takes it."""
    message = error.findings[0].message
    if _REFERENCE in message:
        return f"{message}: name the reference of the approval (--ref TEXT)"
    return message


class ActDesk:
    """Takes acts from the wire loop, hands them to the money thread, and answers from the ledger."""

    def __init__(
        self,
        people: People | None,
        sign_ins: SignIns,
        inbox: Inbox,
        ledger: Path,
        snapshot: Callable[[], Mapping[str, Any]],
        people_file: Path | None = None,
    ) -> None:
        """``people`` None: no people file, and so nobody may act. ``snapshot``: the newest committed state.

        ``people_file``: where it would be looked for.
        """
        self._people_file = people_file
        self._people = people
        self._sign_ins = sign_ins
        self._inbox = inbox
        self._ledger = ledger
        self._snapshot = snapshot
        self._running: dict[str, asyncio.Task[dict[str, Any]]] = {}  # request id → the one that is being decided

    async def act(self, request: Mapping[str, Any], uid: int) -> dict[str, Any]:
        """One act: ``ok`` with ``seq`` and words, or ``refused`` with a reason and words, or ``error``."""
        asked = _shape(request)
        if isinstance(asked, str):
            return {"error": asked}
        if self._people is None:
            return _refused(Refusal.NOT_AUTHORISED, self._no_people())
        signed = await self._sign_ins.check(uid, asked.shown)
        if isinstance(signed, Denied):
            log.warning("act.denied", uid=uid, people=[each.id for each in asked.shown], wait_s=signed.wait_s)
            answer = _refused(Refusal.NOT_AUTHORISED, signed.text)
            return {**answer, "wait_s": signed.wait_s} if signed.wait_s else answer
        try:
            command = read_act(asked.statement, signed)
        except Unreadable as error:
            return {"error": str(error)} if error.reason is None else _refused(error.reason, str(error))
        about = Asked(uid, asked.statement, tuple(person.id for person in signed), asked.id)
        return await self._once(command, about)

    def _no_people(self) -> str:
        where = f" at {self._people_file}" if self._people_file is not None else ""
        return (
            f"there is no people file{where}, so that nobody may act: make one (see `meterd person --help`), then "
            "restart the daemon"
        )

    async def _once(self, command: Command, about: Asked) -> dict[str, Any]:
        """Decide a request, or wait for the one of the same identity that is being decided."""
        while (before := self._running.get(about.request)) is not None:
            await asyncio.wait([before])
        running = asyncio.ensure_future(self._decided(command, about))
        self._running[about.request] = running
        running.add_done_callback(lambda _: self._running.pop(about.request, None))
        return await asyncio.shield(running)  # whose asker leaves is decided all the same

    async def _decided(self, command: Command, about: Asked) -> dict[str, Any]:
        try:
            told = await asyncio.to_thread(answer_to, self._ledger, event_id(about.request))
            if told:
                return self._again(told, about)
            future: Future[Decision] = Future()
            if not self._inbox.offer(Ask(command, future, about), "control"):
                return {
                    "error": "the daemon takes nothing now: it is stopping or has too much to do",
                    "request_id": about.request,
                }
            await asyncio.wrap_future(future)
            told = await asyncio.to_thread(answer_to, self._ledger, event_id(about.request))
        except MeterdError as error:
            return _unknown(about.request, str(error))
        return self._answer(told, about.request) if told else _unknown(about.request, "the ledger has no entry of it")

    def _again(self, told: Sequence[Told], about: Asked) -> dict[str, Any]:
        """The same request once more is answered as before; another one under its identity is not."""
        before = told[0].body["asked"]
        if (before["statement"], tuple(before["by"])) != (about.statement, about.by):
            was = f"request {about.request} was {before['statement']!r} by {' and '.join(before['by'])}"
            return _refused(Refusal.ALREADY_DONE, f"{was}: give another one a new id")
        answer = {**self._answer(told, about.request), "repeated": True}
        if "refused" in answer:
            answer["text"] += (
                f" This is the answer of entry {told[0].seq} once more, and may be untrue by now: nothing was tried. "
                "For another try give no request id (--request)."
            )
        return answer

    def _answer(self, told: Sequence[Told], request: str) -> dict[str, Any]:
        refused = refusal_of(told)
        if refused is not None:
            return {**_refused(refused.refusal, refusal_words(refused)), "seq": told[0].seq, "request_id": request}
        snapshot = self._snapshot()
        amounts = {each["id"]: each["amount_cents"] for each in snapshot.get("awards", ())}
        return {
            "ok": True,
            "seq": told[-1].seq,
            "entries": [each.seq for each in told],
            "text": words(told, snapshot.get("currency", ""), amounts),
            "request_id": request,
        }


def _refused(reason: Refusal, text: str) -> dict[str, Any]:
    return {"refused": reason.value, "text": text}


def _unknown(request: str, why: str) -> dict[str, Any]:
    text = f"what became of it is not known: {why}. Ask again with the same request id"
    return {"error": text, "unknown": True, "request_id": request}


def _shape(request: Mapping[str, Any]) -> _Request | str:
    """A request, or what is wrong with its shape."""
    statement, by = request.get("statement"), request.get("by")
    if not isinstance(statement, str) or not statement.strip() or len(statement) > STATEMENT_MAX:
        return f"statement is a text of 1 to {STATEMENT_MAX} characters"
    if not statement.isprintable():
        return "a statement is one line of text that can be seen"
    if not isinstance(by, list) or not 1 <= len(by) <= PEOPLE_MAX:
        return 'by is a list of one or two people, each {"id": …, "pin": …}'
    shown = [_person(each) for each in by]
    people = [each for each in shown if each is not None]
    if len(people) != len(shown):
        return 'a person is {"id": …, "pin": …}, both texts'
    request_id = request.get("request_id", uuid.uuid4().hex)
    if not isinstance(request_id, str) or not _REQUEST.fullmatch(request_id):
        return "request_id is 1 to 64 letters, digits, '.', '_' and '-'"
    return _Request(statement.strip(), tuple(people), request_id)


def _person(value: Any) -> Shown | None:
    match value:
        case {"id": str(name), "pin": str(pin)} if (
            len(name) <= ID_MAX and name.isprintable() and len(pin) <= PIN_TYPED_MAX
        ):
            return Shown(name, pin)
        case _:
            return None
