"""What the world should show, derived from the book and the sessions: lamps, keypad texts, signs.

Effects are levels, not messages: each output holds one wanted value and the entry it comes from. All are made after a
commit, so no value here can speak of a fact that is not on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.state import TableStatus
from meterd.config import ModuleRef, PadRef, SignConfig, Site, TableConfig, UnitWanted
from meterd.edge.sign import SignWanted
from meterd.floor.session import TableSession
from meterd.floor.view import Lamp, TableView
from meterd.money import format_cents, whole_cents

CLOSED: Final = "CLOSED"

UnitKey = tuple[str, int]  # bus, unit


class Effects(NamedTuple):
    """One publication of the money thread: what changed since the last, and the whole committed snapshot."""

    seq: int
    units: Mapping[UnitKey, UnitWanted]
    signs: Mapping[str, SignWanted]
    snapshot: Mapping[str, Any]


def sensor_wanted(seq: int, table: TableConfig, view: TableView) -> UnitWanted:
    """Lamps and the lockout lamp of a table's sensor module."""
    profile = table.sensors.profile
    size = profile.outputs.count if profile.outputs else 0
    outputs = [False] * size
    flash = [False] * size
    for index, lamp in zip(profile.lamps, view.lamps, strict=False):
        outputs[index] = lamp is not Lamp.DARK
        flash[index] = lamp is Lamp.BLINK
    if profile.lockout is not None:
        outputs[profile.lockout] = view.lockout
    return UnitWanted(seq, tuple(outputs), tuple(flash), None)


def keypad_wanted(seq: int, keypad: ModuleRef | PadRef, view: TableView) -> UnitWanted:
    """The text of a dealer's keypad. The one output of a pad with its own lamp says whether betting is open."""
    if isinstance(keypad, PadRef):
        return UnitWanted(seq, (not view.lockout,), (False,), view.text)
    size = keypad.profile.outputs.count if keypad.profile.outputs else 0
    dark = (False,) * size
    return UnitWanted(seq, dark, dark, view.text if keypad.profile.text else None)


def table_wanted(seq: int, table: TableConfig, session: TableSession, book: Book) -> dict[UnitKey, UnitWanted]:
    """Everything one table should show."""
    view = session.view(book)
    wanted = {(table.sensors.bus, table.sensors.unit): sensor_wanted(seq, table, view)}
    if table.keypad is not None:
        wanted[table.keypad.bus, table.keypad.unit] = keypad_wanted(seq, table.keypad, view)
    return wanted


def link_is_playing(book: Book, link_id: str) -> bool:
    """Whether any table of the link is open or in a round; else its signs say CLOSED."""
    if book.links[link_id].suspended:
        return False
    return any(t.settings.link == link_id and t.state is not TableStatus.CLOSED for t in book.tables.values())


def sign_wanted(seq: int, sign: SignConfig, book: Book) -> SignWanted:
    """The figures of one sign: whole cents, rounded down, never above the committed meter; a win takes the screen."""
    values = []
    for link_id, level in sign.shows:
        if link_is_playing(book, link_id):
            state = book.links[link_id].levels[level]
            values.append("$" + format_cents(whole_cents(state.display_microcents)))
        else:
            values.append(CLOSED)
    told = any(book.links[link_id].gives_to_house(book.site) for link_id, _ in sign.shows)
    return SignWanted(seq, tuple(values), _win_text(sign, book), told)


def _win_text(sign: SignConfig, book: Book) -> str | None:
    """The oldest jackpot that still waits for its confirmation on a link this sign shows, in words."""
    links = {link for link, _ in sign.shows}
    for award_id in book.open_awards:
        award = book.awards[award_id]
        if award.link in links and award.state_word in {"pending", "held"} and award.has_percent:
            return f"WIN {award.table} ${format_cents(award.amount_cents)}"
    return None


def closed_outputs(seq: int, site: Site) -> tuple[dict[UnitKey, UnitWanted], dict[str, SignWanted]]:
    """The safe state of the whole floor: lamps dark, betting closed, signs CLOSED."""
    units: dict[UnitKey, UnitWanted] = {}
    for table in site.tables:
        dark = TableView(lamps=(Lamp.DARK,) * table.settings.seats, lockout=True, text=(CLOSED, ""))
        units[table.sensors.bus, table.sensors.unit] = sensor_wanted(seq, table, dark)
        if table.keypad is not None:
            units[table.keypad.bus, table.keypad.unit] = keypad_wanted(seq, table.keypad, dark)
    signs = {sign.id: SignWanted(seq, (CLOSED,) * len(sign.shows), None) for sign in site.signs}
    return units, signs
