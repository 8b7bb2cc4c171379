"""A link of a site: what its file says about odds and money, and whether its games may share one schedule.

Read without asking for anything about wires, so that a link can be judged before the first one is drawn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from meterd.errors import ConfigError
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_law import Law, Laws, NoLaw
from meterd.paytables.lint_worth import LevelTerms, Terms, one_in
from meterd.paytables.model import PayTable

#: A full table, where neither the command line nor a site says how many seats it has.
SEATS: Final = 7


@dataclass(frozen=True, slots=True)
class Link:
    """``games``: game → the tables that deal it; ``seats``: of the largest table."""

    id: str
    paytable: PayTable
    terms: Terms
    games: Mapping[str, tuple[str, ...]]


def read_links(text: str, filename: str, tables: Mapping[str, PayTable], seats: int | None = None) -> tuple[Link, ...]:
    """The links of a site file, with what decides odds and money; ``seats`` wins over the file's.

    Raises:
        ConfigError: not TOML, a link without id, or a pay table that does not exist.
    """
    try:
        site = tomllib.loads(text)
    except ValueError as error:
        raise ConfigError(f"{filename}: not valid TOML: {error}") from error
    links = []
    for link in _records(site, "link"):
        if not isinstance(link.get("id"), str):
            raise ConfigError(f"{filename}: a [[link]] without an id")
        members = [each for each in _records(site, "table") if each.get("link") == link["id"]]
        links.append(_link(link, members, tables, seats))
    if not links:
        raise ConfigError(f"{filename}: no [[link]]")
    return tuple(links)


def _link(
    link: dict[str, Any], members: Sequence[dict[str, Any]], tables: Mapping[str, PayTable], seats: int | None
) -> Link:
    paytable = tables.get(str(link.get("paytable")))
    if paytable is None:
        raise ConfigError(f"link {link['id']}: there is no pay table {link.get('paytable')!r}")
    levels = {str(level.get("name")): _level(level) for level in _records(link, "level")}
    games: dict[str, tuple[str, ...]] = {}
    for member in members:
        game = str(member.get("game"))
        games[game] = (*games.get(game, ()), str(member.get("id")))
    full = seats or max((_number(member, "seats") or 0 for member in members), default=0) or SEATS
    terms = Terms(
        _number(link, "wager_cents") or paytable.wager_cents, levels, full, link["id"], frozenset(games) or None
    )
    return Link(link["id"], paytable, terms, games)


def _level(level: dict[str, Any]) -> LevelTerms:
    reserve = 0 if level.get("reserve_ppm") == "none" else _number(level, "reserve_ppm")
    return LevelTerms(_number(level, "seed_cents"), _number(level, "increment_ppm"), reserve)


def _number(data: dict[str, Any], key: str) -> int | None:
    value = data.get(key)
    return value if type(value) is int and value >= 0 else None


def _records(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = data.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def link_findings(link: Link, tables: Mapping[str, PayTable], laws: Laws) -> Iterator[Finding]:
    """Games without approval for the link's schedule, and games in which its rows are not equally likely."""
    approved = []
    for game, members in link.games.items():
        if link.paytable.game_named(game) is None:
            found = f"{', '.join(members)} deals {game}; {_schedules_of(game, link, tables)}"
            yield Finding("GAME_NOT_APPROVED", link.paytable.id, found, link=link.id)
        else:
            approved.append(game)
    yield from _odds(link, approved, laws)


def _schedules_of(game: str, link: Link, tables: Mapping[str, PayTable]) -> str:
    """What the schedule is approved for, and the schedules that the game has."""
    others = [table.id for table in tables.values() if table.kind == link.paytable.kind and table.game_named(game)]
    has = f"{game} has {', '.join(others)}" if others else f"no schedule of this kind names {game}"
    games = ", ".join(each.name for each in link.paytable.games) or "no game"
    return f"{link.paytable.id} is approved for {games}; {has}"


def _odds(link: Link, games: Sequence[str], laws: Laws) -> Iterator[Finding]:
    """Each game's chances against those of the first."""
    known: dict[str, Law] = {}
    for game in games:
        try:
            known[game] = laws.law(_of_one_game(link.paytable, game))
        except NoLaw as reason:
            yield Finding("NOT_MEASURED", link.paytable.id, f"as dealt in {game}: {reason}", link=link.id)
    if not known:
        return
    first, *others = known
    for other in others:
        for row in link.paytable.rows:
            one, two = (known[game].chances.get(row.hand, Fraction(0)) for game in (first, other))
            if one != two:
                found = f"{one_in(one)} in {first}, {one_in(two)} in {other}"
                yield Finding("ODDS_DIFFER", link.paytable.id, found, row.hand, link.id)


def _of_one_game(table: PayTable, game: str) -> PayTable:
    return replace(table, games=tuple(each for each in table.games if each.name == game))
