"""Acts of the machine: what small numbers stand for on a floor, and the command each act is for the real rules.

Seven times in eight an act is one that can be done; else it may be anything, also on what does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from machine_devices import COMMANDS as DEVICE_COMMANDS
from machine_devices import chips_of, event_of, make_device_act
from machine_links import LINK_COMMANDS, make_link_act
from machine_rules import CARDS

from meterd.accounting import commands as ask
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import Kind

if TYPE_CHECKING:
    from machine_world import World
    from twin import Twin

Act = tuple[object, ...]
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
CORRECTOR = Actor("sup-2", Role.SUPERVISOR)
ADMINISTRATOR = Actor("adm-1", Role.ADMINISTRATOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)

NUMBERS: Final = ("0", "00", "1", "2", "3", "5", "8", "20", "35", "36", "37", "x")
#: Verbs by how often a history uses them.
VERBS: Final = (
    *("lock",) * 9,
    *("claim",) * 14,
    *("confirm",) * 7,
    *("end",) * 8,
    *("void",) * 5,
    *("correct",) * 4,
    *("hold", "pay", "undo", "fold", "join") * 2,
    *("void-seat",) * 2,
    *("void-round", "shut", "open", "crash", "restart"),
    *("noise",) * 3,
    *("suspend", "resume", "unclaimed", "late-claim", "dispose"),
    *("split", "void-spin"),
    *("board",) * 2,
    *("number",) * 6,
    *("adjust", "transfer", "limit", "recover-seed", "release"),
    *("press",) * 10,
    *("chips",) * 3,
    *("trust", "trust", "late", "lost", "stopped"),
    *("fund",) * 8,
)
#: Acts that a press stands behind, which may be told twice.
PRESSED: Final = ("lock", "claim", "claim", "end", "fold", "join", "number", "confirm", "void-seat")


def dealer(table: str) -> Actor:
    return Actor(f"dealer@{table}", Role.DEALER)


def wagers(units: dict[int, int], chips: dict[int, tuple[str, int, int]] | None = None) -> tuple[ask.WagerSeen, ...]:
    events = {seat: ask.Event(*chip) for seat, chip in (chips or {}).items()}
    return tuple(ask.WagerSeen(seat, count, events.get(seat)) for seat, count in units.items())


def second(there: bool) -> Actor | None:
    return ACCOUNTANT if there else None


def proof(cards: str | None, there: bool) -> dict[str, object]:
    """Five cards that make a hand, and a second person."""
    return {"cards": {"cards": CARDS[cards]} if cards is not None else None, "second": second(there)}


COMMANDS: dict[str, Callable[..., Command]] = {
    "lock": lambda table, units, chips=None: ask.Lock(actor=dealer(table), table=table, wagers=wagers(units, chips)),
    "claim": lambda table, seat, hand, signs: ask.Claim(
        actor=dealer(table), table=table, seat=seat, hand=hand, signs=signs
    ),
    "fold": lambda table, seat: ask.Fold(actor=dealer(table), table=table, seat=seat),
    "join": lambda table, seats: ask.Join(actor=dealer(table), table=table, seats=seats),
    "claim-by-cards": lambda table, seat, hand, signs: ask.Claim(
        actor=dealer(table), table=table, seat=seat, cards={"cards": CARDS[hand]}, signs=signs
    ),
    "void-seat": lambda table, seat, two=False: ask.VoidSeat(
        actor=SUPERVISOR, table=table, seat=seat, second=second(two)
    ),
    "void-round": lambda table, two=False: ask.VoidRound(actor=SUPERVISOR, table=table, second=second(two)),
    "end": lambda table: ask.EndGame(actor=dealer(table), table=table),
    "confirm": lambda award, cards=None, two=False: ask.Confirm(actor=SUPERVISOR, award=award, **proof(cards, two)),
    "hold": lambda award: ask.Hold(actor=SUPERVISOR, award=award),
    "void": lambda award, two=False: ask.Void(actor=SUPERVISOR, award=award, reason="misread", second=second(two)),
    "pay": lambda award: ask.Pay(actor=SUPERVISOR, award=award),
    "undo": lambda award: ask.Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="r-1"),
    "correct": lambda award, seat, hand: ask.Correct(actor=CORRECTOR, award=award, seat=seat, hand=hand),
    "crash": lambda: ask.Note(actor=SYSTEM, kind=Kind.STARTED),
    "shut": lambda table, doubtful: ask.CloseTable(
        actor=SYSTEM, table=table, reason="device_lost" if doubtful else "stopped"
    ),
    "open": lambda table: ask.OpenTable(actor=SYSTEM, table=table),
    "number": lambda table, number: Number(actor=dealer(table), table=table, number=number),
    "void-spin": lambda table, two=False: VoidSpin(actor=SUPERVISOR, table=table, second=second(two)),
    "board": lambda table, hand: ClaimBoard(actor=dealer(table), table=table, hand=hand),
    "split": lambda table, seat: Split(actor=dealer(table), table=table, seat=seat),
}

#: What must be refused whatever the floor looks like.
NOISE: list[Callable[[World, int, int], Command]] = [
    lambda world, b, c: ask.Lock(actor=ACCOUNTANT, table=_any_table(world, b), wagers=(ask.WagerSeen(1),)),
    lambda world, b, c: ask.Lock(actor=dealer("T99"), table="T99", wagers=(ask.WagerSeen(1),)),
    lambda world, b, c: ask.Claim(actor=SYSTEM, table=_any_table(world, b), seat=1, hand="all-mega"),
    lambda world, b, c: ask.Claim(actor=dealer("T1"), table=_any_table(world, b), seat=99, hand="all-mega"),
    lambda world, b, c: ask.Claim(actor=dealer("T1"), table=_any_table(world, b), seat=1, cards={"cards": "AS"}),
    lambda world, b, c: ask.Confirm(actor=dealer("T1"), award=f"A{b}"),
    lambda world, b, c: ask.Confirm(actor=SUPERVISOR, award=f"A{b}", second=SUPERVISOR),
    lambda world, b, c: ask.Confirm(actor=SUPERVISOR, award="A9999"),
    lambda world, b, c: ask.Void(actor=dealer("T1"), award=f"A{b}", reason=""),
    lambda world, b, c: ask.Void(actor=SUPERVISOR, award="A9999", reason=""),
    lambda world, b, c: ask.Undo(actor=ADMINISTRATOR, award=f"A{b}", second=None, reference="r"),
    lambda world, b, c: ask.Undo(actor=ADMINISTRATOR, award=f"A{b}", second=ADMINISTRATOR, reference="r"),
    lambda world, b, c: ask.Undo(actor=ADMINISTRATOR, award=f"A{b}", second=ACCOUNTANT, reference=" "),
    lambda world, b, c: ask.Pay(actor=SYSTEM, award=f"A{b}"),
    lambda world, b, c: ask.Correct(actor=dealer("T1"), award=f"A{b}", hand="all-mega"),
    lambda world, b, c: ask.EndGame(actor=ACCOUNTANT, table=_any_table(world, b)),
    lambda world, b, c: ask.OpenTable(actor=ACCOUNTANT, table=_any_table(world, b)),
    lambda world, b, c: ask.CreateLedger(actor=SYSTEM, site="twin", currency="USD", demo=False),
]


def _any_table(world: World, number: int) -> str:
    names = list(world.tables)
    return names[number % len(names)]


def make(world: World, verb: str, a: int, b: int, c: int) -> Act | None:
    """The act these numbers stand for, where the history now stands; None where they stand for none."""
    if verb == "suspend" and c % 4:
        verb = "claim"  # a suspended link is a dull one
    if verb in LINK_COMMANDS:
        return make_link_act(world, verb, a, b, c)
    if verb in DEVICE_COMMANDS:
        return make_device_act(world, verb, a, b, c)
    if verb == "press":
        act = make(world, PRESSED[(a ^ b) % len(PRESSED)], a, b, c)
        return None if act is None else ("press", event_of(world, act, a, c), act)
    if verb == "chips":
        _, table, units = _lock(world, a, b, c)
        return ("lock", table, units, chips_of(world, str(table), units, c))  # type: ignore[arg-type]
    if c % 8:
        verb = _possible(world, verb)
    maker = _MAKERS.get(verb)
    act = maker(world, a, b, c) if maker is not None else (verb, _award(world, verb, a, b, c))
    return act if act is None else _proven(world, act, a)


def _proven(world: World, act: Act, a: int) -> Act:
    """With the proof that is needed, seven times in eight; else with another."""
    verb, name, *rest = act if len(act) > 1 else (*act, "")
    twin = world.twin_of(str(name))
    if verb == "confirm":
        win = twin.state.wins.get(str(name))
        needed = twin.needed(win) if win is not None else None
        two = (needed == "second") == bool(a % 8)
        cards: str | None = win.hand if win is not None and needed == "cards" else None
        if twin.ranked and a % 8 == 1:
            cards = [None, *CARDS][a % (1 + len(CARDS))]
        return (verb, name, cards, two)
    if verb == "void":
        win = twin.state.wins.get(str(name))
        return (verb, name, (win is not None and twin.needs_second(win)) == bool(a % 8))
    if verb in {"void-seat", "void-round", "void-spin"}:
        return (*act, twin.two_person is not None and bool(a % 3))
    if verb == "claim" and twin.ranked and rest[1] in twin.rules.rows and a % 3 == 0:
        return ("claim-by-cards", name, *rest)
    return act


def _possible(world: World, verb: str) -> str:
    """Another verb where this one could do nothing now."""
    if verb in {"confirm", "void", "correct", "hold"} and not any(
        world.book.links[name].pending for name in world.twins
    ):
        verb = "claim"
    if verb in {"claim", "fold", "void-seat", "void-round"} and not _free_seats(world):
        verb = "lock"
    return "end" if verb == "lock" and not _open_tables(world) else verb


def _aim(fitting: list[Act], anything: Act, b: int, c: int) -> Act:
    """Seven times in eight something fitting."""
    return fitting[b % len(fitting)] if c % 8 and fitting else anything


def _rounds(world: World) -> list[tuple[str, Twin]]:
    return [(table, world.twins[name]) for table, name in world.tables.items()]


def _open_tables(world: World) -> list[Act]:
    return [
        (table,)
        for table, twin in _rounds(world)
        if twin.state.rounds[table] is None and table not in twin.state.shut_tables
    ]


def _lock(world: World, a: int, b: int, c: int) -> Act:
    (table,) = _aim(_open_tables(world), (_any_table(world, a),), b, c)
    rules = world.twin_of(str(table)).rules
    seats = [seat for seat in range(1, rules.tables[str(table)][0] + 1) if a >> seat & 1]
    return ("lock", table, {seat: 1 + (b >> seat) % rules.units_max for seat in seats})


def _free_seats(world: World) -> list[Act]:
    free: list[Act] = []
    for table, twin in _rounds(world):
        current = twin.state.rounds[table]
        if current is not None:
            claimed = {win.seat for win in twin.wins_of(current)}
            free += [(table, seat) for seat in sorted(set(current.stakes) - claimed)]
    return free


def _claim(world: World, a: int, b: int, c: int) -> Act:
    table, seat = _aim(_free_seats(world), (_any_table(world, a), a % 9), b, c)
    twin = world.twin_of(str(table))
    hand = _hand(twin, a)
    signs = {}
    if not c % 5:
        signs = {name: int(twin.state.meter(name)) + c - 100 for name in twin.rules.levels}
    return ("claim", table, seat, hand, {name: cents for name, cents in signs.items() if cents >= 0})


def _hand(twin: Twin, number: int) -> str:
    """Any hand of the table; those of a whole meter twice as often, for ties are wanted; now and then none of it."""
    rows = twin.rules.rows
    whole = [hand for hand, row in rows.items() if any(pay[:2] == ("percent", "1") for pay in row.pays)]
    hands = [*rows, *rows, *whole, "x"]
    return hands[number % len(hands)]


def _seated(verb: str) -> Callable[[World, int, int, int], Act]:
    def act(world: World, a: int, b: int, c: int) -> Act:
        seats: list[Act] = []
        for table, twin in _rounds(world):
            current = twin.state.rounds[table]
            seats += [] if current is None else [(table, seat) for seat in sorted(current.stakes)]
        return (verb, *_aim(seats, (_any_table(world, a), a % 9), b, c))

    return act


def _about_table(verb: str) -> Callable[[World, int, int, int], Act]:
    def act(world: World, a: int, b: int, c: int) -> Act:
        tables: list[Act] = []
        for table, twin in _rounds(world):
            current, waits = twin.state.rounds[table], twin.state.shut_tables.get(table)
            busy = current is not None and any(w.status == "pending" and not w.held for w in twin.wins_of(current))
            fits = {
                "end": waits or (current is not None and not busy),
                "void-round": current is not None and bool(current.stakes),
                "open": waits is False,
                "shut": waits is None,
                "number": current is not None and bool(twin.rules.longest),
                "void-spin": current is not None and bool(twin.rules.longest) and bool(twin.state.of(current)),
                "board": current is not None and bool(current.stakes) and not twin.rules.longest,
            }
            if fits[verb]:
                tables.append((table,))
        act = (verb, *_aim(tables, (_any_table(world, a),), b, c))
        if verb == "number":
            return (*act, NUMBERS[a % len(NUMBERS)])
        if verb == "board":
            return (*act, _hand(world.twin_of(str(act[1])), a))
        return (*act, bool(c & 1)) if verb == "shut" else act

    return act


def _join(world: World, a: int, b: int, c: int) -> Act:
    table = _any_table(world, b)
    seats = world.twin_of(table).rules.tables[table][0]
    return ("join", table, (1 + a % seats, 1 + c % seats))


def _award(world: World, verb: str, a: int, b: int, c: int) -> str:
    wanted = {"pay": ("confirmed",), "undo": ("confirmed", "paid")}.get(verb, ("pending",))
    fitting: list[Act] = [
        (name,)
        for twin in world.twins.values()
        for name, win in twin.state.wins.items()
        if win.status in wanted and not (verb == "hold" and win.held)
    ]
    return str(_aim(fitting, (f"A{1 + a % (world.claims + 1)}",), b, c)[0])


def _correct(world: World, a: int, b: int, c: int) -> Act | None:
    award = _award(world, "correct", a, b, c)
    twin = world.twin_of(award)
    act: Act = ("correct", award, None, _hand(twin, a))
    if c % 3 == 0:
        act = ("correct", award, 1 + a % 8, None if c & 1 else _hand(twin, a))
    return None if _reaches_back(twin, act) else act


def _reaches_back(twin: Twin, act: Act) -> bool:
    """A correction whose new hand would have changed a tie that is confirmed already.

    Such a tie keeps its amount; who then funds what, the rules do not say.
    """
    if act[3] not in twin.rules.rows or str(act[1]) not in twin.state.wins:
        return False
    win = twin.state.wins[str(act[1])]
    new = set(twin.state.levels_of(str(act[3])))
    for other in twin.state.wins.values():
        if other.percent and other.status != "pending":
            later = int(other.id[1:]) > int(win.id[1:]) and other.tied & (new - win.levels)
            if later or (other.round is win.round and other.tied & new):
                return True
    return False


_MAKERS: Final[dict[str, Callable[[World, int, int, int], Act | None]]] = {
    "lock": _lock,
    "claim": _claim,
    "correct": _correct,
    "join": _join,
    "fold": _seated("fold"),
    "void-seat": _seated("void-seat"),
    "end": _about_table("end"),
    "void-round": _about_table("void-round"),
    "open": _about_table("open"),
    "shut": _about_table("shut"),
    "crash": lambda world, a, b, c: ("crash",),
    "number": _about_table("number"),
    "void-spin": _about_table("void-spin"),
    "board": _about_table("board"),
    "split": _seated("split"),
}
