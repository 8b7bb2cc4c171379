"""What a page sets up before it is played: site, links with their levels, and tables.

Rule 1: setup lines are collected and put in force together, just before the first line that plays.
Rule 2: nothing is guessed: a level the pay table lacks, a missing level or an unknown pay table is a finding.
Rule 3: a page may differ from what the pay table prints; a note says where.
Units: ``*_cents``, ``*_ppm``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from meterd.accounting.caps import cap_problem
from meterd.accounting.commands import SYSTEM, Command, DefineTable, OpenLink, OpenTable, SetSite
from meterd.accounting.settings import (
    LevelSettings,
    LinkSettings,
    NumbersFrom,
    Settlement,
    SiteSettings,
    TableSettings,
    Ties,
    split_problem,
)
from meterd.accounting.settings_pools import DAYS_MAX
from meterd.accounting.steps import steps_problem
from meterd.app.scenario_parse import Finding, PageError, Statement
from meterd.app.scenario_pools import PoolSetup
from meterd.app.scenario_world import SITE_ID
from meterd.errors import ConfigError
from meterd.money import AMOUNT_CENTS_MAX, PPM_PER_WHOLE, format_cents, format_rate
from meterd.paytables.model import PayTable
from meterd.paytables.parse import parse_paytables

_SEATS_MAX: Final = 99  # what a seat number on a page can be


@dataclass(slots=True)
class Setup:
    """The setup lines read so far. ``folder`` is where ``file:NAME.toml`` is looked for."""

    paytables: Mapping[str, PayTable]
    folder: Path
    notes: list[str] = field(default_factory=list)
    _site: Statement | None = None
    _site_in_force: bool = False
    _links: dict[str, Statement] = field(default_factory=dict)
    _levels: dict[str, dict[str, Statement]] = field(default_factory=dict)
    _tables: list[Statement] = field(default_factory=list)
    _known: dict[str, LinkSettings] = field(default_factory=dict)
    _pools: PoolSetup = field(default_factory=PoolSetup)

    def add(self, statement: Statement) -> None:
        """Take one setup line.

        Raises:
            PageError: it names a link that was not set up, or sets something up twice.
        """
        if statement.name == "site":
            self._site, self._site_in_force = statement, False
        elif statement.name == "link":
            if statement["link"] in self._known or statement["link"] in self._links:
                raise fault(statement, f"link {statement['link']} is set up already")
            self._links[statement["link"]] = statement
        elif statement.name == "level":
            link, _, level = statement["level"].partition("/")
            if link not in self._links:
                known = "is in force already" if link in self._known else "is not set up: write its link line first"
                raise fault(statement, f"link {link} {known}")
            self._levels.setdefault(link, {})[level] = statement
        elif statement.name == "pool":
            self._pools.add(statement, {**self._known, **self._links})
        else:
            self._tables.append(statement)

    def commands(self) -> list[tuple[Statement | None, Command]]:
        """The commands that put in force what was added since the last call, each with the line it comes from.

        Raises:
            PageError: a link or table cannot be put in force as written.
        """
        commands: list[tuple[Statement | None, Command]] = []
        if not self._site_in_force:
            commands.append((self._site, SetSite(actor=SYSTEM, settings=self._site_settings())))
            self._site_in_force = True
        for link, statement in self._links.items():
            settings = self._link_settings(link, statement)
            self._known[link] = settings
            commands.append((statement, OpenLink(actor=SYSTEM, settings=settings)))
        for statement in self._tables:
            commands.append((statement, DefineTable(actor=SYSTEM, settings=self._table_settings(statement))))
            commands.append((statement, OpenTable(actor=SYSTEM, table=statement["table"])))
        self._links, self._tables = {}, []
        return [*commands, *self._pools.commands()]

    def _site_settings(self) -> SiteSettings:
        values = self._site.values if self._site else {}
        for word in ("unclaimed_days", "notice_days"):
            if self._site is not None and values.get(word, 0) > DAYS_MAX:
                raise fault(self._site, f"{word}: a hundred years ({DAYS_MAX} days) at most")
        return SiteSettings(
            id=SITE_ID,
            confirm_above_cents=values.get("confirm_above", 0),
            cards_above_cents=values.get("cards_above"),
            two_person_cents=values.get("two_person"),
            envy_confirm_above_cents=values.get("envy_confirm_above"),
            seed_recovery=values.get("seed_recovery", True),
            release_to_house=values.get("release_to_house", True),
            unclaimed_days=values.get("unclaimed_days"),
            discontinue_notice_days=values.get("notice_days", 0),
        )

    def _link_settings(self, link: str, statement: Statement) -> LinkSettings:
        if statement["wager"] * statement.get("units", 1) * _SEATS_MAX > AMOUNT_CENTS_MAX:
            raise fault(statement, "the wagers of one round could be above the largest amount")
        paytable = self.paytable(statement)
        lines = self._levels.get(link, {})
        for name, line in lines.items():
            if name not in paytable.levels:
                raise fault(line, f"{paytable.id} has no level {name}{near(name, paytable.levels)}")
        for name in paytable.levels:
            if name not in lines:
                raise fault(
                    statement, f"{paytable.id} pays from level {name}: a line `level {link}/{name} …` is missing"
                )
        levels = tuple(self._level_settings(name, lines[name], statement, paytable) for name in paytable.levels)
        if sum(level.increment_ppm + (level.reserve_ppm or 0) for level in levels) > PPM_PER_WHOLE:
            raise fault(statement, "increments and reserves of its levels together are above 100%")
        self._note_order(statement, paytable, levels)
        settings = LinkSettings(
            link,
            statement["wager"],
            statement.get("units", 1),
            paytable,
            levels,
            envy_trigger=statement.get("envy_trigger"),
            envy_min_cents=statement.get("envy_min"),
            envy_to=statement.get("envy_to"),
            board_triggers=statement.get("board_triggers", False),
            split=statement.get("split"),
            steps=(self._named(statement, statement["step"]),) if statement.get("step") is not None else (),
        )
        problem = split_problem(settings) or steps_problem(settings)
        if problem is not None:
            raise fault(statement, problem)
        return settings

    def _note_order(self, link: Statement, paytable: PayTable, levels: tuple[LevelSettings, ...]) -> None:
        """Note where the order of settlement decides who wins a meter that all seats win together."""
        for level in levels:
            if paytable.common_outcome and level.ties is Ties.SEQUENTIAL:
                at = f"{link.file}:{link.line}"
                self.notes.append(f"{at}: note: TIES_ORDER_DECIDES on {level.name}; a site file with it is refused")

    def _level_settings(self, name: str, line: Statement, link: Statement, paytable: PayTable) -> LevelSettings:
        limit, overflow = line.get("limit"), line.get("overflow")
        if (limit is None) != (overflow is None):
            raise fault(line, "a limit needs an overflow and an overflow a limit")
        if limit is not None and limit < line["seed"]:
            raise fault(line, "the limit is below the seed")
        if line["increment"] + (line["reserve"] or 0) > PPM_PER_WHOLE:
            raise fault(line, "increment and reserve together are above 100%")
        self._note_differences(line, link, paytable)
        return LevelSettings(
            name=name,
            seed_cents=line["seed"],
            increment_ppm=line["increment"],
            reserve_ppm=line["reserve"],
            reset=line["reset"],
            ties=line["ties"],
            floor=line["floor"],
            limit_cents=limit,
            overflow=overflow,
            share_scales=line.get("share_scales", False),
        )

    def _note_differences(self, line: Statement, link: Statement, paytable: PayTable) -> None:
        """Note where the page differs from the printed seed and rates; the page holds."""
        if paytable.seed_cents is not None:
            scale = link["wager"] if paytable.seed_scales else paytable.wager_cents
            printed = paytable.seed_cents * scale // paytable.wager_cents
            if printed != line["seed"]:
                self._note(line, paytable, f"seed {format_cents(printed)}, not {format_cents(line['seed'])}")
        for word, rate in (("increment", paytable.increment_ppm), ("reserve", paytable.reserve_ppm)):
            wanted = line[word]
            if rate is not None and (rate if rate >= 0 else None) != wanted:
                words = [format_rate(ppm) if ppm is not None and ppm >= 0 else "none" for ppm in (rate, wanted)]
                self._note(line, paytable, f"{word} {words[0]}, not {words[1]}")

    def _note(self, line: Statement, paytable: PayTable, what: str) -> None:
        self.notes.append(f"{line.file}:{line.line}: note: {paytable.id} prints {what}; the page's figure is used")

    def _table_settings(self, statement: Statement) -> TableSettings:
        link = self._known.get(statement["link"])
        if link is None:
            raise fault(statement, f"link {statement['link']} is not set up{near(statement['link'], self._known)}")
        game = link.paytable.game_named(statement["game"])
        if game is None:
            at = f"{statement.file}:{statement.line}"
            self.notes.append(f"{at}: note: {link.paytable.id} is not approved for {statement['game']}")
        folded = statement.get("folded")
        live = folded == "live" if folded else game is None or game.folded_live
        settings = TableSettings(
            statement["table"],
            link.id,
            statement["game"],
            statement["seats"],
            folded_live=live,
            settlement=statement.get("settlement", Settlement.COUNTER_CLOCKWISE),
            cap_player_cents=statement.get("player_cap"),
            cap_table_cents=statement.get("table_cap"),
            cap_tip_cents=statement.get("tip_cap"),
            numbers=statement.get("numbers", NumbersFrom.DEALER),
            lowest_chip_cents=statement.get("lowest_chip", 1),
        )
        if not settings.lowest_chip_cents:
            raise fault(statement, "a chip is worth a cent at least")
        problem = cap_problem(link, settings)
        if problem is not None:
            raise fault(statement, problem)
        return settings

    def paytable(self, statement: Statement) -> PayTable:
        """The pay table a line names.

        Raises:
            PageError: there is none of this name, or its file cannot be read.
        """
        return self._named(statement, statement["paytable"])

    def _named(self, statement: Statement, name: str) -> PayTable:
        if not name.startswith("file:"):
            if name not in self.paytables:
                raise fault(statement, f"there is no pay table {name}{near(name, self.paytables)}")
            return self.paytables[name]
        path = self.folder / name.removeprefix("file:")
        try:
            tables = parse_paytables(path.read_text(encoding="utf-8"), path.name)
        except (OSError, UnicodeDecodeError, ConfigError) as cause:
            raise fault(statement, f"{path.name} cannot be read as a pay table: {cause}") from cause
        if len(tables) != 1:
            raise fault(statement, f"{path.name} holds {len(tables)} pay tables; a page needs a file with one")
        return tables[0]


def fault(statement: Statement, message: str) -> PageError:
    """A page that cannot be played because of this line."""
    return PageError([Finding(statement.file, statement.line, message)])


def near(word: str, known: Iterable[str]) -> str:
    """The known word that comes closest, as the end of a message; nothing where none comes close."""
    close = get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
