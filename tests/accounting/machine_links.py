"""Acts of the machine that change a live link, and those about awards nobody collected or claimed too late.

A link is changed only while no round is on, so seven in eight of these acts come after its rounds have been ended.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from twin_caps import CapState, CapTwin, Limits
from twin_links import LinkTwin
from twin_proof import ProofState, ProofTwin
from twin_records import Win

from meterd.accounting import commands_links as change
from meterd.accounting.commands import Actor, Command, Role

if TYPE_CHECKING:
    from machine_rules import FloorRules
    from machine_world import World

Act = tuple[object, ...]
START, LATER = "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"
ADMINISTRATOR = Actor("adm-1", Role.ADMINISTRATOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)

MOVES: Final = ("adjust", "transfer", "limit", "recover-seed", "release", "dispose")
#: These verbs name a link behind the verb; the twin of that link is asked.
LINK_VERBS: Final = ("suspend", "resume", *MOVES[:-1])
LATE_VERBS: Final = ("unclaimed", "dispose", "late-claim")


class FloorState(ProofState, CapState):
    """All that a link can do, and that money can go from it to another one."""

    def _gives(self, win: Win) -> bool:
        """An award disposed of was confirmed, and its hand counts among those of the round."""
        with self.as_paid():
            return super()._gives(win)

    def transfer_out(self, level: str, cents: int, table: str) -> None:
        self._leave("elsewhere", level, "meter", Fraction(cents), table)

    def transfer_in(self, level: str, cents: int) -> None:
        self.receive("elsewhere", level, Fraction(cents))


class FloorTwin(ProofTwin, CapTwin):
    """One of several links of a floor."""

    state: FloorState

    def __init__(self, rules: FloorRules, limits: Limits) -> None:
        self.makes = type("LimitedState", (FloorState,), {"limits": limits})
        self.cards_above, self.two_person, self.ranked = rules.cards_above, rules.two_person, rules.ranked
        super().__init__(rules)

    def late_bet_why_not(self, table: str, seat: int) -> str | None:
        """A chip that comes after LOCK is noted where a round is on, whoever has a wager."""
        if table in self.state.shut_tables:
            return "TABLE_CLOSED"
        if self.state.suspended:
            return "LINK_SUSPENDED"
        if self.state.rounds[table] is None:
            return "ROUND_CLOSED" if table in self.state.ended else "TABLE_NOT_LOCKED"
        return None if 1 <= seat <= self.rules.tables[table][0] else "SEAT_UNKNOWN"

    def _about_table_why_not(self, act: Act, table: str) -> str | None:
        stopped = self.state.suspended and table not in self.state.shut_tables
        if stopped and act[0] in {"number", "void-spin", "board", "split", "claim"}:
            return "LINK_SUSPENDED"
        return super()._about_table_why_not(act, table)

    def transfer_to(self, level: str, other: FloorTwin, target: str, cents: int) -> str | None:
        """Money of this link to another: what either says against it, else both carry out their half."""
        fits = 0 < cents <= self._players(level) and other._room(target, cents)
        reason = (
            ("LINK_SUSPENDED" if getattr(other.state, "ended_for_good", False) else None)
            or self._waits(level)
            or other._waits(target)
            or (None if fits else "AMOUNT_OUT_OF_BOUNDS")
            or self._played()
            or other._played()
        )
        if reason is None:
            pending = [win for win in self.state.wins.values() if win.status == "pending"]
            first = min(pending, key=lambda win: int(win.id[1:]), default=None)
            self._add(("transfer-out", level, cents, first.round.table if first is not None else ""))
            other._add(("transfer-in", target, cents))
        return reason


def signed(make_command: Callable[..., Command], **facts: object) -> Command:
    return make_command(actor=ADMINISTRATOR, second=ACCOUNTANT, reference="r-1", **facts)


def _to(link: str, to: str) -> str:
    return to if to in {"authority", "house"} else f"{link}/{to}"


LINK_COMMANDS: dict[str, Callable[..., Command]] = {
    "suspend": lambda link: change.SuspendLink(actor=ACCOUNTANT, link=link, reason="short"),
    "resume": lambda link: signed(change.ResumeLink, link=link),
    "adjust": lambda link, level, cents: signed(change.Adjust, level=f"{link}/{level}", cents=cents),
    "transfer": lambda link, level, other, target, cents: signed(
        change.Transfer, level=f"{link}/{level}", target=f"{other}/{target}", cents=cents
    ),
    "limit": lambda link, level, cents, overflow: signed(
        change.SetLimit, level=f"{link}/{level}", limit_cents=cents, overflow=overflow
    ),
    "recover-seed": lambda link, level, cents: signed(change.RecoverSeed, level=f"{link}/{level}", cents=cents),
    "release": lambda link, level, part, cents: signed(change.Release, level=f"{link}/{level}", part=part, cents=cents),
    "unclaimed": lambda award, late: change.MarkUnclaimed(
        actor=ACCOUNTANT, award=award, now_utc=LATER if late else START
    ),
    "dispose": lambda award, link, to: signed(change.Dispose, award=award, to=_to(link, to)),
    "late-claim": lambda table, number, seat, hand, cents: signed(
        change.AdjustClaim, table=table, round=number, seat=seat, hand=hand, cents=cents
    ),
}


def make_link_act(world: World, verb: str, a: int, b: int, c: int) -> Act:
    """The change these numbers stand for: amounts lie about the bounds."""
    names = list(world.twins)
    link = names[a % len(names)]
    twin = world.twins[link]
    if verb in MOVES and c % 8:
        world.settle(twin, hold=bool(c & 1))
    if verb in LATE_VERBS:
        return _late(world, verb, a, b, c)
    levels = list(twin.state.rules.levels)
    return (verb, link, *_MAKERS[verb](world, twin, levels[b % len(levels)], c))


def _players(twin: LinkTwin, level: str) -> int:
    return int(twin.state.meter(level) - twin.state.standing[level])


def _adjust(world: World, twin: LinkTwin, level: str, c: int) -> Act:
    down = -int(twin.state.adjusted[level])
    return (level, [50, 333, -20, -1, 0, down, down - 1, -_players(twin, level)][c % 8])


def _transfer(world: World, twin: LinkTwin, level: str, c: int) -> Act:
    goals = [(name, other) for name, twin_ in world.twins.items() for other in twin_.state.rules.levels]
    players = _players(twin, level)
    return (level, *goals[c % len(goals)], [1, 40, players, players + 1][c // 8 % 4])


def _limit(world: World, twin: LinkTwin, level: str, c: int) -> Act:
    old = twin.state.rules.levels[level]
    shown = int(twin.state.meter(level))
    cents = [None, shown, shown - 1, shown + 30, old.seed][c % 5]
    overflow = old.overflow if old.limit is not None and c % 11 else ["next_meter", "house"][c & 1]
    return (level, cents, None if cents is None else overflow)


def _recover(world: World, twin: LinkTwin, level: str, c: int) -> Act:
    above = int(twin.state.meter(level)) - twin.state.rules.levels[level].seed
    return (level, [1, 25, int(twin.state.standing[level]), above, above + 1][c % 5])


def _release(world: World, twin: LinkTwin, level: str, c: int) -> Act:
    part = "reserve" if c & 1 else "overflow"
    held = int(twin.state.accounts[f"{part}/{level}"])
    return (level, part, [1, held, held + 1][c // 2 % 3])


def _late(world: World, verb: str, a: int, b: int, c: int) -> Act:
    if verb == "late-claim":
        tables = list(world.tables)
        table = tables[a % len(tables)]
        twin = world.twins[world.tables[table]]
        hands = [*twin.rules.rows, "x"]
        return (
            verb,
            table,
            c % (twin.state.locks[table] + 2),
            1 + b % 8,
            hands[c % len(hands)],
            (0, 75, 9_000, 25_000)[c % 4],
        )
    wanted = [
        (award, twin)
        for twin in world.twins.values()
        for award, win in twin.state.wins.items()
        if win.status == "confirmed" and (award in twin.state.unclaimed_awards) == (verb == "dispose")
    ]
    award = wanted[b % len(wanted)][0] if wanted and c % 8 else f"A{1 + b % (world.claims + 1)}"
    if verb == "unclaimed":
        return (verb, award, bool(c % 4))
    twin = world.twin_of(award)
    places = [*twin.state.rules.levels, "authority", "house"]
    return (verb, award, twin.rules.name, places[c % len(places)])


_MAKERS: Final[dict[str, Callable[[World, LinkTwin, str, int], Act]]] = {
    "suspend": lambda world, twin, level, c: (),
    "resume": lambda world, twin, level, c: (),
    "adjust": _adjust,
    "transfer": _transfer,
    "limit": _limit,
    "recover-seed": _recover,
    "release": _release,
}
