"""Plays a page of the scenario language against the real rules and checks what it says to expect.

Rule 1: a command that is refused must be followed by a ``refused`` line before the next thing is done.
Rule 2: the first expectation that does not hold ends the page; the failure names line, expected and actual.
Rule 3: ``restart`` keeps the ledger, the chips on the sensors and the page's own setup, nothing else.
Units: ``*_cents``; amounts in a failure are written as on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from meterd.accounting import commands as ask
from meterd.accounting.commands import Command
from meterd.accounting.commands_links import EaseRules
from meterd.accounting.commands_streak import ClaimBoard, Number
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules import Decision
from meterd.app.scenario_commands import COMMANDS, dealer
from meterd.app.scenario_expect import EXPECT, Unmet
from meterd.app.scenario_links import signed
from meterd.app.scenario_parse import Statement
from meterd.app.scenario_setup import Setup, fault
from meterd.app.scenario_world import World
from meterd.errors import InvariantBroken
from meterd.paytables.model import PayTable

_SETUP: Final = frozenset({"site", "link", "level", "table", "pool"})
_CLOCK: Final = frozenset({"clock", "after"})
#: The last year of a page: what runs out later than that still has a date.
_LAST_YEAR: Final = 2999
#: Lines that may stand between a refused command and its ``refused`` line.
_LOOKS: Final = frozenset({"restart", "refused", *EXPECT})


class Failure(NamedTuple):
    """The first line of a page that did not hold."""

    file: str
    line: int
    statement: str
    expected: str
    actual: str


class Outcome(NamedTuple):
    """How a page went. ``entries`` and ``head`` are of its ledger."""

    file: str
    statements: int
    entries: int
    head: str
    failure: Failure | None
    notes: tuple[str, ...]


def play(
    file: str,
    page: Sequence[Statement],
    *,
    paytables: Mapping[str, PayTable],
    folder: Path,
    restart_after_each: bool = False,
) -> Outcome:
    """Play a page from an empty ledger. ``restart_after_each`` folds everything again after every line.

    Raises:
        PageError: the page asks for something that cannot be set up.
    """
    player = _Player(World.create(), Setup(paytables, folder))
    failure = _first_failure(player, page, restart_after_each)
    world = player.world
    return Outcome(file, len(page), len(world.records), world.head.hex(), failure, tuple(player.setup.notes))


def _first_failure(player: _Player, page: Sequence[Statement], restart_after_each: bool) -> Failure | None:
    at: Statement | None = None
    try:
        for at in page:
            player.step(at)
            if restart_after_each:
                player.world.restart()
        if at is not None:
            player.finish(at)
    except Unmet as unmet:
        where = unmet.statement or at
        if where is None:
            raise
        return Failure(where.file, where.line, where.text, unmet.expected, unmet.actual)
    except InvariantBroken as broken:
        if at is None:
            raise
        return Failure(at.file, at.line, at.text, "books that hold", str(broken))
    return None


class _Answer(NamedTuple):
    """What the rules said to a line: the refusal of the whole, or of single seats of a lock that was accepted."""

    line: Statement
    refusal: Refused | None
    seats: tuple[Refused, ...]

    @classmethod
    def to(cls, line: Statement, decision: Decision) -> _Answer:
        """The answer to a line, from what was decided."""
        if decision.refusal is not None:
            return cls(line, decision.refusal, ())
        bodies = [entry.body for entry in decision.entries if "refusal" in entry.body]
        return cls(line, None, tuple(Refused(Refusal(body["refusal"]), body["detail"]) for body in bodies))


class _Player:
    """Plays line by line. Keeps what a floor would: chips on the sensors, and the answer to the last command."""

    def __init__(self, world: World, setup: Setup) -> None:
        self.world = world
        self.setup = setup
        self._chips: dict[str, dict[int, int]] = {}  # table → seat → units
        self._no_base: dict[str, set[int]] = {}
        self._bases: dict[str, dict[int, int | None]] = {}  # table → seat → cents, None where it is not said
        self._signs: dict[str, dict[str, int]] = {}  # link → level → cents
        self._last: _Answer | None = None
        self._answered = True
        self._played = False  # anything beside setup and clock

    def step(self, line: Statement) -> None:
        """Play one line.

        Raises:
            Unmet: what it expects does not hold.
            PageError: it cannot be set up.
        """
        if line.name not in _LOOKS:
            self._require_answered()
        if line.name in _SETUP:
            self.setup.add(line)
            return
        if line.name not in _CLOCK:
            self._put_in_force(line)
            self._played = True
        if line.name in EXPECT:
            self._expect(line)
        elif line.name in _HERE:
            _HERE[line.name](self, line)
        else:
            self._ask(line, COMMANDS[line.name](line))

    def finish(self, last: Statement) -> None:
        """The page ends: its last refusal must have been expected, and what was set up last can be put in force.

        Raises:
            PageError: it cannot.
        """
        self._require_answered()
        self._put_in_force(last)
        if not self._played:
            self.setup.notes.append(f"{last.file}:{last.line}: note: the page plays nothing: nothing was checked")

    def _put_in_force(self, line: Statement) -> None:
        """Everything set up since the last line that played."""
        for source, command in self.setup.commands():
            refusal = self.world.act(command).refusal
            if refusal is not None:
                raise fault(source or line, f"cannot be put in force: {_words(refusal)}")

    def _ask(self, line: Statement, command: Command) -> None:
        """Decide one command and remember the answer. One that may make a claim takes along what the signs show."""
        if isinstance(command, ask.Claim | Number | ClaimBoard):
            table = self.world.book.tables.get(command.table)
            command = replace(command, signs=self._signs.get(table.settings.link, {}) if table is not None else {})
        self._remember(_Answer.to(line, self.world.act(command)))

    def _remember(self, answer: _Answer) -> None:
        self._last, self._answered = answer, answer.refusal is None
        for refusal in answer.seats:
            self.setup.notes.append(f"{answer.line.file}:{answer.line.line}: note: left out: {_words(refusal)}")

    def _expect(self, line: Statement) -> None:
        """Check one expectation; where it fails because a command was refused, that command is what is reported."""
        try:
            EXPECT[line.name](self.world.book, line)
        except Unmet:
            self._require_answered()
            raise

    def _require_answered(self) -> None:
        if self._last is not None and self._last.refusal is not None and not self._answered:
            raise Unmet("accepted", f"refused {_words(self._last.refusal)}", self._last.line)

    # lines that are no command

    def clock(self, line: Statement) -> None:
        """Set the virtual clock; it never goes back."""
        try:
            wanted = datetime.strptime(line["time"], "%Y-%m-%dT%H:%M").replace(tzinfo=UTC)
        except ValueError as cause:
            raise fault(line, f"{line['time']} is no day of the calendar") from cause
        self._require_calendar(line, wanted.year)
        if wanted < self.world.now:
            raise fault(line, f"the clock stands at {self.world.now:%Y-%m-%dT%H:%M} already and does not go back")
        self.world.now = wanted

    def after(self, line: Statement) -> None:
        """Move the virtual clock on."""
        wanted = self.world.now.toordinal() + line["count"]
        last = date(_LAST_YEAR, 12, 31).toordinal()
        self._require_calendar(line, _LAST_YEAR if wanted <= last else _LAST_YEAR + 1)
        self.world.now += timedelta(days=line["count"])

    @staticmethod
    def _require_calendar(line: Statement, year: int) -> None:
        if year > _LAST_YEAR:
            raise fault(line, f"the clock of a page ends with the year {_LAST_YEAR}")

    def wagers(self, line: Statement) -> None:
        """Put chips on sensors; a seat named again has its chips replaced."""
        chips = self._chips.setdefault(self._table(line), {})
        for seat in line["seats"]:
            chips[seat] = line.get("units", 1)
            self._bases.setdefault(line["table"], {})[seat] = line.get("base")
            if line.get("base") == 0:
                self._no_base.setdefault(line["table"], set()).add(seat)

    def without_base(self, line: Statement) -> None:
        """Take the base wager of these seats away, for the round to come."""
        self._no_base.setdefault(self._table(line), set()).update(line["seats"])

    def sign(self, line: Statement) -> None:
        """The signs of a level show an amount; ``none``: what the meter holds."""
        link, _, level = line["level"].partition("/")
        if link not in self.world.book.links or level not in self.world.book.links[link].levels:
            raise fault(line, f"there is no level {line['level']} on this page")
        shown = self._signs.setdefault(link, {})
        shown.pop(level, None)
        if line["amount"] is not None:
            shown[level] = line["amount"]

    def restart(self, _line: Statement) -> None:
        """Drop the book and fold it again."""
        self.world.restart()

    def rounds(self, line: Statement) -> None:
        """Whole rounds, one after the other; stops at the first refusal, also of a single seat."""
        table = line["table"]
        seen = tuple(ask.WagerSeen(seat, line.get("units", 1)) for seat in line["seats"])
        keyed_by = dealer(line)
        lock = ask.Lock(actor=keyed_by, table=table, wagers=seen)
        end = ask.EndGame(actor=keyed_by, table=table)
        act = self.world.act
        for _ in range(line["count"]):
            locked = act(lock)
            decision = act(end) if locked.refusal is None else locked
            if decision.refusal is not None or len(locked.entries) > 1:
                break
        self._remember(_Answer.to(line, decision if decision.refusal is not None else locked))

    def rakes(self, line: Statement) -> None:
        """So many rakes; stops at the first refusal."""
        command = COMMANDS["rake"](line)
        for _ in range(line["count"]):
            decision = self.world.act(command)
            if decision.refusal is not None:
                break
        self._remember(_Answer.to(line, decision))

    def refused(self, line: Statement) -> None:
        """Check the reason of the last command's refusal."""
        if self._last is None:
            raise fault(line, "there is no command before this line")
        said = [self._last.refusal] if self._last.refusal is not None else list(self._last.seats)
        if not said:
            raise Unmet(f"refused {line['refusal'].value}", "accepted")
        if all(refusal.refusal is not line["refusal"] for refusal in said):
            raise Unmet(f"refused {line['refusal'].value}", "refused " + ", ".join(_words(refusal) for refusal in said))
        self._answered = True

    # commands

    def lock(self, line: Statement) -> None:
        """The chips on the sensors become wagers; the dealer takes all of them off when the lock is accepted."""
        table = line["table"]
        no_base = self._no_base.get(table, set())
        chips = sorted(self._chips.get(table, {}).items())
        bases = self._bases.get(table, {})
        seen = tuple(ask.WagerSeen(s, n, base=s not in no_base, base_cents=bases.get(s)) for s, n in chips)
        self._ask(line, ask.Lock(actor=dealer(line), table=table, wagers=seen))
        if self._answered:
            self._chips.pop(table, None)
            self._no_base.pop(table, None)
            self._bases.pop(table, None)

    def ease(self, line: Statement) -> None:
        """Rules that are easier to win; the verdict is the line's, as it is the linter's outside a page."""
        paytable = self.setup.paytable(line)
        self._ask(line, EaseRules(link=line["link"], paytable=paytable, verdict=line["verdict"], **signed(line)))

    def _table(self, line: Statement) -> str:
        table: str = line["table"]
        if table not in self.world.book.tables:
            raise fault(line, f"there is no table {table} on this page")
        return table


def _words(refused: Refused) -> str:
    """A refusal and what it speaks of."""
    return f"{refused.refusal.value} ({refused.detail})" if refused.detail else refused.refusal.value


#: Lines the player carries out itself.
_HERE: Final[Mapping[str, Callable[[_Player, Statement], None]]] = {
    "clock": _Player.clock,
    "after": _Player.after,
    "wagers": _Player.wagers,
    "without-base": _Player.without_base,
    "sign": _Player.sign,
    "restart": _Player.restart,
    "rounds": _Player.rounds,
    "rakes": _Player.rakes,
    "refused": _Player.refused,
    "lock": _Player.lock,
    "ease": _Player.ease,
}


def unplayed(forms: Iterable[str]) -> set[str]:
    """Names of forms that no line of code plays; empty, or the language and the player disagree."""
    return set(forms) - _SETUP - set(_HERE) - set(COMMANDS) - set(EXPECT)
