"""A pay table as data: rows with what is printed and our reading of it.

Reading pays: ``N to 1`` is a net win and the wager comes back on top; ``N for 1`` is the whole return.
Units: ``*_cents``, shares and rates in ppm (100 % is 1,000,000). ``wager_cents`` is the wager the table prints.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from meterd.paytables.hands import hand_key


class PayKind(StrEnum):
    """The forms a pay can take (interfaces: pay kinds)."""

    METER_PERCENT = "meter_percent"
    FIXED = "fixed"
    ODDS_TO = "odds_to"
    ODDS_FOR = "odds_for"
    PUSH = "push"
    LOSS = "loss"


@dataclass(frozen=True, slots=True)
class Pay:
    """One part of what a row pays. Fields without meaning for the kind keep their default.

    ``level`` None means the link's only level. ``scales``: a fixed pay grows with the wager ÷ printed wager.
    """

    kind: PayKind
    percent_ppm: int = 0
    level: str | None = None
    cents: int = 0
    from_meter: bool = False
    scales: bool = True
    n: int = 0
    d: int = 1

    def to_json(self) -> dict[str, Any]:
        """The public form of the interfaces; numbers that are not whole are strings."""
        match self.kind:
            case PayKind.METER_PERCENT:
                whole, part = divmod(self.percent_ppm, 10_000)
                percent = f"{whole}.{part:04d}".rstrip("0") if part else str(whole)
                return {"kind": self.kind.value, "percent": percent, "level": self.level}
            case PayKind.FIXED:
                return {
                    "kind": self.kind.value,
                    "cents": self.cents,
                    "from_meter": self.from_meter,
                    "level": self.level,
                    "scales": self.scales,
                }
            case PayKind.ODDS_TO | PayKind.ODDS_FOR:
                return {"kind": self.kind.value, "n": self.n, "d": self.d}
            case _:
                return {"kind": self.kind.value}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Pay:
        """The inverse of :meth:`to_json`."""
        kind = PayKind(data["kind"])
        percent_ppm = 0
        if kind is PayKind.METER_PERCENT:
            whole, _, part = str(data["percent"]).partition(".")
            percent_ppm = int(whole) * 10_000 + int(part.ljust(4, "0") or "0")
        return cls(
            kind=kind,
            percent_ppm=percent_ppm,
            level=data.get("level"),
            cents=data.get("cents", 0),
            from_meter=data.get("from_meter", False),
            scales=data.get("scales", True),
            n=data.get("n", 0),
            d=data.get("d", 1),
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ``hand`` is the key, ``printed_*`` the cells as printed, ``pays`` our reading of them.

    ``pays`` is empty where the cell is blank or "N/A": the table does not offer the hand, and it counts as the next row
    that holds. ``match`` says which hands the row means (``match.py``); empty means the category named like the row.
    ``derived``: not a printed row, but one that a sentence of the rule adds. ``printed_note``: what else its line says.
    ``also``: a friendlier key, understood on input beside ``hand`` and never written.
    """

    hand: str
    printed_hand: str
    printed_pay: str
    printed_envy: str | None
    pays: tuple[Pay, ...]
    envy_cents: int = 0
    match: str = ""
    derived: bool = False
    printed_note: str = ""
    also: str = ""

    @property
    def offered(self) -> bool:
        """Whether the table has a pay for this hand, be it a loss."""
        return bool(self.pays)

    def called(self, key: str) -> bool:
        """Whether this key names the row."""
        return key == self.hand or (key == self.also != "")

    @property
    def loses(self) -> bool:
        """Whether the printed pay is a loss."""
        return self.pays == (Pay(PayKind.LOSS),)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "hand": self.hand,
            "printed_hand": self.printed_hand,
            "printed_pay": self.printed_pay,
            "printed_envy": self.printed_envy,
            "pays": [pay.to_json() for pay in self.pays],
            "envy_cents": self.envy_cents,
            "match": self.match,
            "derived": self.derived,
            "printed_note": self.printed_note,
            "also": self.also,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Row:
        """The inverse of :meth:`to_json`."""
        return cls(
            hand=data["hand"],
            printed_hand=data["printed_hand"],
            printed_pay=data["printed_pay"],
            printed_envy=data["printed_envy"],
            pays=tuple(Pay.from_json(pay) for pay in data["pays"]),
            envy_cents=data["envy_cents"],
            match=data.get("match", ""),
            derived=data.get("derived", False),
            printed_note=data.get("printed_note", ""),
            also=data.get("also", ""),
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table is printed. ``prints``: cells that this rule prints otherwise: (as the row has it, as here)."""

    jurisdiction: str
    rule: str
    table: str
    prints: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "jurisdiction": self.jurisdiction,
            "rule": self.rule,
            "table": self.table,
            "prints": dict(self.prints),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Source:
        """The inverse of :meth:`to_json`."""
        return cls(data["jurisdiction"], data["rule"], data["table"], tuple(sorted(data.get("prints", {}).items())))


@dataclass(frozen=True, slots=True)
class Game:
    """A game this table is approved for: which cards make the hand there, and whether a folded hand stays live.

    ``community_dealt``: cards on the board in the end, of which the first ``community_cards`` count; 0: just those.
    ``own_dealt`` and ``dealer_dealt``: how far a hand that is drawn to may grow. ``dealer_cards``: how many of the
    dealer's cards the game shows; 0: none that count.
    """

    name: str
    basis: str
    own_cards: int
    community_cards: int = 0
    folded_live: bool = True
    community_dealt: int = 0
    own_dealt: int = 0
    dealer_cards: int = 0
    dealer_dealt: int = 0

    @property
    def own_most(self) -> int:
        """The largest number of own cards."""
        return max(self.own_cards, self.own_dealt)

    @property
    def community_most(self) -> int:
        """The largest number of community cards."""
        return max(self.community_cards, self.community_dealt)

    @property
    def dealer_most(self) -> int:
        """The largest number of dealer's cards; 0 where they do not count."""
        return max(self.dealer_cards, self.dealer_dealt)


_LISTS: Final = ("decks_allowed", "lint_accepts", "wagers_allowed_cents")


@dataclass(frozen=True, slots=True)
class PayTable:
    """One pay table. ``evaluator`` names how hands are ranked; None means the rule text does not say how.

    ``games`` are the games the table is approved for. ``reserve_ppm``: None is not printed, -1 is printed "N/A".
    ``rows`` stand as printed; ``rows_printed`` says from which end they are tried. ``decks_allowed`` is empty where
    only ``decks`` is known; ``without_ranks`` are the ranks taken out of each deck. ``depends_on_play``: which cards
    count is somebody's choice, so that no chance of a row follows from the cards alone. ``envy_to`` ("players" or
    "dealer") and ``envy_trigger`` ("every" or "highest" envy hand of a round) are facts of the print, as are
    ``envy_min_cents`` and ``settlement``. ``split`` is what the print says a hand split in two means for the wager:
    ``no-effect``, ``two-hands`` (each with a wager of its own) or ``dead``; None: it does not say. ``lint_accepts`` are
    findings of the linter that are meant to be so. ``wagers_allowed_cents``: the only wagers a house may choose; empty
    for any. ``base_least`` and ``base_most``: the wager is at least, or at most, so many times the base wager beside it
    (``"1"``, ``"1/2"``); empty where the print does not say.
    """

    id: str
    game: str
    wager: str
    kind: str
    sources: tuple[Source, ...]
    basis: str
    evaluator: str | None
    games: tuple[Game, ...]
    rows: tuple[Row, ...]
    decks: int = 1
    joker: bool = False
    wager_cents: int = 100
    seed_cents: int | None = None
    increment_ppm: int | None = None
    reserve_ppm: int | None = None
    original_wager_returned: bool = True
    envy_scales: bool = True
    seed_scales: bool = True
    common_outcome: bool = False
    depends_on_play: bool = False
    note: str = ""
    rows_printed: str = "best-first"
    decks_allowed: tuple[int, ...] = ()
    without_ranks: str = ""
    envy_to: str = "players"
    envy_trigger: str = "every"
    envy_min_cents: int = 0
    settlement: str = ""
    split: str | None = None
    lint_accepts: tuple[str, ...] = ()
    wagers_allowed_cents: tuple[int, ...] = ()
    base_least: str = ""
    base_most: str = ""

    def __hash__(self) -> int:
        """By identifier: tables are kept in caches, and a few share one."""
        return hash(self.id)

    @property
    def trial_order(self) -> tuple[int, ...]:
        """Indexes of the rows in the order they are tried, best first."""
        forwards = tuple(range(len(self.rows)))
        return forwards[::-1] if self.rows_printed == "worst-first" else forwards

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels the rows pay from, in order of first mention; ``main`` for an unnamed one."""
        names: dict[str, None] = {}
        for row in self.rows:
            for pay in row.pays:
                if pay.kind is PayKind.METER_PERCENT or (pay.kind is PayKind.FIXED and pay.from_meter):
                    names[pay.level or "main"] = None
        return tuple(names)

    def row(self, hand: str) -> Row | None:
        """The offered row with this hand key, or that is also called so; None if there is none.

        ``4-of-a-kind`` is understood as ``four-of-a-kind``.
        """
        wanted = hand_key(hand)
        for row in self.rows:
            if row.called(wanted) and row.offered:
                return row
        return None

    def game_named(self, name: str) -> Game | None:
        """The approved game of this name, or None."""
        for game in self.games:
            if game.name == name:
                return game
        return None

    def to_json(self) -> dict[str, Any]:
        """The public form (``meterd paytable export``), with ``evaluator``, ``games`` and ``note`` besides."""
        return {
            "id": self.id,
            "game": self.game,
            "wager": self.wager,
            "kind": self.kind,
            "sources": [source.to_json() for source in self.sources],
            "basis": self.basis,
            "evaluator": self.evaluator,
            "games": [
                {
                    "name": g.name,
                    "basis": g.basis,
                    "own_cards": g.own_cards,
                    "community_cards": g.community_cards,
                    "folded_live": g.folded_live,
                    "community_dealt": g.community_dealt,
                    "own_dealt": g.own_dealt,
                    "dealer_cards": g.dealer_cards,
                    "dealer_dealt": g.dealer_dealt,
                }
                for g in self.games
            ],
            "decks": self.decks,
            "joker": self.joker,
            "wager_cents": self.wager_cents,
            "seed_cents": self.seed_cents,
            "increment_ppm": self.increment_ppm,
            "reserve_ppm": self.reserve_ppm,
            "original_wager_returned": self.original_wager_returned,
            "envy_scales": self.envy_scales,
            "seed_scales": self.seed_scales,
            "common_outcome": self.common_outcome,
            "depends_on_play": self.depends_on_play,
            "note": self.note,
            "rows_printed": self.rows_printed,
            "decks_allowed": list(self.decks_allowed),
            "without_ranks": self.without_ranks,
            "envy_to": self.envy_to,
            "envy_trigger": self.envy_trigger,
            "envy_min_cents": self.envy_min_cents,
            "settlement": self.settlement,
            "split": self.split,
            "lint_accepts": list(self.lint_accepts),
            "wagers_allowed_cents": list(self.wagers_allowed_cents),
            "base_least": self.base_least,
            "base_most": self.base_most,
            "rows": [row.to_json() for row in self.rows],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PayTable:
        """The inverse of :meth:`to_json`; also reads what an earlier or a later version wrote.

        Keys that are missing have their usual value. Keys that this version does not know are passed over, here and in
        rows, sources and games: a later version may add keys, but none that changes what the others mean.
        """
        known = {field.name for field in fields(cls)} - {"sources", "rows", "games"}
        values = {key: data[key] for key in data if key in known}
        values |= {key: tuple(data[key]) for key in _LISTS if key in data}
        of_game = {field.name for field in fields(Game)}
        return cls(
            sources=tuple(Source.from_json(source) for source in data["sources"]),
            rows=tuple(Row.from_json(row) for row in data["rows"]),
            games=tuple(Game(**{key: game[key] for key in game if key in of_game}) for game in data.get("games", ())),
            **{"evaluator": None, **values},
        )
