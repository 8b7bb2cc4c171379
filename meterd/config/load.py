"""Site text → :class:`Site`, or every finding at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, TypeVar

from meterd.accounting.settings import (
    EnvyTo,
    EnvyTrigger,
    Floor,
    LevelSettings,
    LinkSettings,
    NumbersFrom,
    ResetMode,
    Settlement,
    SiteSettings,
    SplitHand,
    TableSettings,
    Ties,
)
from meterd.config.budget import LIMIT_PERCENT, BusBudget, bus_budget, percent
from meterd.config.devices import ModuleRef, Profile
from meterd.config.envy_checks import AS_PRINTED
from meterd.config.explain import check_shape
from meterd.config.findings import Document, Node, SiteErrors
from meterd.config.funds import check_funds, fund_settings
from meterd.config.money_checks import check_caps, check_chips, check_links
from meterd.config.pad_checks import check_pads
from meterd.config.pads import PadProfile, PadRef
from meterd.config.sas import check_sas, sas_config
from meterd.config.shapes import (
    BusShape,
    KeypadShape,
    LevelShape,
    LinkShape,
    ModuleShape,
    SiteFile,
    SiteShape,
    TableShape,
)
from meterd.config.signs import sign_config
from meterd.config.site import BusConfig, Catalogue, PollConfig, Site, TableConfig, WebConfig
from meterd.config.wiring_checks import check_wiring, wired_modules
from meterd.errors import MisuseError

#: Speeds that a finding may propose. Faster ones exist, but long cables do not carry them.
BAUDS_PROPOSED: Final = (9600, 19200, 38400, 57600, 115200)

Value = TypeVar("Value", int, str)


def load_site(text: str, filename: str, catalogue: Catalogue) -> Site:
    """A site from the text of its file.

    Raises:
        SiteErrors: the one syntax error, or else everything that is wrong, in order of lines.
    """
    document = Document.parse(text, filename)
    shape = check_shape(document, SiteFile)
    check_links(document.root(), catalogue)
    check_caps(document.root(), catalogue)
    check_chips(document.root(), catalogue)
    check_wiring(document, catalogue)
    check_pads(document, catalogue)
    check_sas(document.root(), catalogue)
    _check_budget(document, catalogue)
    if shape is not None:
        check_funds(document.root(), shape.fund)
    if document.findings:
        raise SiteErrors(document.findings)
    if shape is None:
        raise MisuseError("a shape error without a finding")
    return _site(shape, catalogue, document)


def _check_budget(document: Document, catalogue: Catalogue) -> None:
    """No bus is asked for more than 80 % of its time. A bus whose own settings are wrong is left alone."""
    root = document.root()
    section = root.node("poll")
    if section is not None and (section.wrong("levels_ms") or section.wrong("counters_ms")):
        return
    poll = _poll(root)
    modules = wired_modules(root, catalogue)
    for node in root.nodes("bus"):
        bus = _bus(node)
        mine = [(each, module) for each, module in modules if bus is not None and module.bus == bus.id]
        if bus is None or bus.kind != "modbus" or not bus.baud or not mine:
            continue
        refs = [module for _, module in mine]
        budget = bus_budget(bus, refs, poll)
        if not budget.fits:
            node.finding(
                "baud",
                f'bus "{bus.id}" is busy {budget.percent} % of each second, at most {LIMIT_PERCENT} % is allowed: '
                f"{_remedy(bus, refs, poll, budget)}",
            )


def _remedy(bus: BusConfig, modules: list[ModuleRef], poll: PollConfig, budget: BusBudget) -> str:
    """The speed that would do, or the units that have to go; where neither does alone, both, or fewer polls."""
    faster = [baud for baud in BAUDS_PROPOSED if baud > bus.baud]
    budgets = {baud: bus_budget(replace(bus, baud=baud), modules, poll) for baud in faster}
    ways = [f"set baud = {baud}" for baud in faster if budgets[baud].fits][:1]
    if _each_fits(budget):
        ways.append(f"move {_units_to_move(budget)} to another bus")
    if not ways:
        ways = [
            f"set baud = {baud} and move {_units_to_move(budgets[baud])} to another bus"
            for baud in faster
            if _each_fits(budgets[baud])
        ][-1:]
    return ", or ".join(ways) or "even one unit alone is too much for this line: ask less often ([poll] levels_ms)"


def _each_fits(budget: BusBudget) -> bool:
    """Whether a line of its own would do for each unit."""
    return all(percent(unit.used_us) <= LIMIT_PERCENT for unit in budget.units)


def _units_to_move(budget: BusBudget) -> str:
    """The last units of the file, as many as have to go."""
    rest, moved = budget.used_us, []
    for unit in reversed(budget.units):
        if percent(rest) <= LIMIT_PERCENT:
            break
        rest -= unit.used_us
        moved.append(f"{unit.name} ({percent(unit.used_us)} %)")
    return " and ".join(reversed(moved))


def _poll(root: Node) -> PollConfig:
    """The poll settings as far as they are usable."""
    node = root.node("poll")
    usual = PollConfig()
    if node is None:
        return usual
    levels, counters = node.number("levels_ms"), node.number("counters_ms")
    levels_ms = levels if levels is not None and levels > 0 else usual.levels_ms
    counters_ms = counters if counters is not None and counters > 0 else usual.counters_ms
    return PollConfig(levels_ms=levels_ms, counters_ms=max(levels_ms, counters_ms))


def _bus(node: Node) -> BusConfig | None:
    """A bus as far as the line budget needs it."""
    try:
        return _bus_config(BusShape.model_validate(node.raw))
    except ValueError:
        return None


def _bus_config(bus: BusShape) -> BusConfig:
    return BusConfig(**{**bus.model_dump(), "baud": bus.baud or 0})


def _site(shape: SiteFile, catalogue: Catalogue, document: Document) -> Site:
    links = tuple(_link(link, catalogue) for link in shape.link)
    hashes = catalogue.paytable_sha256 or {}
    settings = _settings(shape.site)
    return Site(
        settings=settings,
        links=links,
        tables=tuple(_table(table, links, catalogue, shape.pads.badge_ms) for table in shape.table),
        buses=tuple(_bus_config(bus) for bus in shape.bus),
        signs=tuple(sign_config(sign, catalogue, links, settings) for sign in shape.sign),
        funds=tuple(fund_settings(fund) for fund in shape.fund),
        sas=tuple(sas_config(each) for each in shape.sas),
        link_sha256={link.id: hashes[link.paytable] for link in shape.link if link.paytable in hashes},
        approvals={link.id: link.approval for link in shape.link if link.approval is not None},
        timezone=shape.site.timezone,
        gaming_day_starts=shape.site.gaming_day_starts,
        checkpoints_to=shape.site.checkpoints_to,
        poll=PollConfig(**shape.poll.model_dump()),
        web=WebConfig(**shape.web.model_dump()),
        warnings=tuple(document.warnings),
    )


def _or_none(value: Value | Literal["none"]) -> Value | None:
    return None if value == "none" else value


def _settings(site: SiteShape) -> SiteSettings:
    return SiteSettings(
        id=site.id,
        currency=site.currency,
        confirm_above_cents=site.confirm_above_cents,
        cards_above_cents=_or_none(site.cards_above_cents),
        two_person_cents=_or_none(site.two_person_cents),
        envy_confirm_above_cents=_or_none(site.envy_confirm_above_cents),
        seed_recovery=site.seed_recovery == "yes",
        release_to_house=site.release_to_house == "yes",
        unclaimed_days=_or_none(site.unclaimed_days),
        discontinue_notice_days=site.discontinue_notice_days,
    )


def _link(link: LinkShape, catalogue: Catalogue) -> LinkSettings:
    return LinkSettings(
        id=link.id,
        wager_cents=link.wager_cents,
        units_max=link.units_max,
        paytable=catalogue.paytables[link.paytable],
        levels=tuple(_level(level) for level in link.level),
        envy_trigger=None if link.envy_trigger == AS_PRINTED else EnvyTrigger(link.envy_trigger),
        envy_min_cents=link.envy_min_cents if isinstance(link.envy_min_cents, int) else None,
        envy_to=None if link.envy_to == AS_PRINTED else EnvyTo(link.envy_to),
        board_triggers=link.board_triggers == "yes",
        split=None if link.split == AS_PRINTED else SplitHand(link.split),
        steps=tuple(catalogue.paytables[step] for step in link.steps),
    )


def _level(level: LevelShape) -> LevelSettings:
    return LevelSettings(
        name=level.name,
        seed_cents=level.seed_cents,
        increment_ppm=level.increment_ppm,
        reserve_ppm=_or_none(level.reserve_ppm),
        reset=ResetMode(level.reset),
        ties=Ties(level.ties),
        floor=Floor(level.floor),
        limit_cents=_or_none(level.limit_cents),
        overflow=_or_none(level.overflow),
        share_scales=level.share_scales == "yes",
    )


def _table(table: TableShape, links: tuple[LinkSettings, ...], catalogue: Catalogue, badge_ms: int) -> TableConfig:
    """A table. Whether a folded hand still wins is the pay table's word for this game, not the site's."""
    paytable = next(link.paytable for link in links if link.id == table.link)
    game = paytable.game_named(table.game)
    return TableConfig(
        settings=TableSettings(
            id=table.id,
            link=table.link,
            game=table.game,
            seats=table.seats,
            folded_live=game.folded_live if game is not None else True,
            settlement=Settlement(table.settlement),
            numbers=NumbersFrom(table.numbers),
            lowest_chip_cents=table.lowest_chip_cents,
            cap_player_cents=_or_none(table.player_cap_cents),
            cap_table_cents=_or_none(table.table_cap_cents),
            cap_tip_cents=_or_none(table.tip_cap_cents),
        ),
        sensors=_module(table.sensors, catalogue),
        keypad=_keypad(table.keypad, catalogue) if table.keypad is not None else None,
        badge_ms=badge_ms,
    )


def _module(module: ModuleShape, catalogue: Catalogue) -> ModuleRef:
    profile = catalogue.profiles[module.profile]
    if not isinstance(profile, Profile):
        raise MisuseError(f"{module.profile} is no module: a check was passed over")
    return ModuleRef(module.bus, module.unit, profile, module.serial)


def _keypad(keypad: KeypadShape, catalogue: Catalogue) -> ModuleRef | PadRef:
    profile = catalogue.profiles[keypad.profile]
    if isinstance(profile, PadProfile):
        return PadRef(keypad.bus, keypad.unit, profile, keypad.identity and keypad.identity.upper())
    return _module(keypad, catalogue)
