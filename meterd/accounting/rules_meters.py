"""Rules of changes to a meter of a live link: adjust, transfer, limit, seed recovery, release.

Sources: money rules M2 and M12; requirements R93-R96, R99, R101. Each is two people of two departments, a reference,
one entry that sums to zero, and never while the link is in play.
Units: ``*_cents``; moves in microcents.
"""

from __future__ import annotations

from dataclasses import replace

from meterd.accounting.answer import Answer, entry, level_facts, site_of
from meterd.accounting.book import Book
from meterd.accounting.commands_links import Adjust, RecoverSeed, Release, SetLimit, Transfer
from meterd.accounting.entries import Kind
from meterd.accounting.meter import HOUSE, REVENUE, LevelMoney, LinkRules, Moves
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings import LinkSettings
from meterd.accounting.state import LinkState
from meterd.accounting.two_people import (
    amount_refusal,
    does_not_fit,
    ended,
    in_play,
    level_of,
    out_of_bounds,
    pending_on,
    people_refusal,
    shifts,
    signed,
)
from meterd.errors import MisuseError
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_PER_CENT


def adjust(book: Book, command: Adjust) -> Answer:
    """Put right what a meter shows.

    Choice: the house lays the difference out (``house/seed``), but it is players' money from then on: it does not stand
    as seed and is not recovered. A meter falls by an adjustment only as far as it takes back what earlier adjustments
    put into this same meter; contributions of players cannot be adjusted away.
    """
    found = people_refusal(command) or level_of(book, command.level)
    if isinstance(found, Refused):
        return found
    link, level = found
    refused = ended(link) or pending_on(book, link, [level.rules.name]) or _adjusted_too_far(level, command.cents)
    refused = refused or in_play(book, [link.settings.id])
    if refused:
        return refused
    amount = command.cents * MICROCENTS_PER_CENT
    moves: Moves = {level.rules.seed: -amount, level.rules.meter: amount}
    before = level.meter
    level.meter += amount
    level.adjusted += amount
    body = {
        "level": command.level,
        "cents": command.cents,
        "from_microcents": before,
        "shifts": shifts((level, amount, "adjusted")),
        "levels": level_facts([level]),
        **signed(command),
    }
    return (entry(command, Kind.ADJUSTED, body, link=link.settings.id, moves=moves),)


def _adjusted_too_far(level: LevelMoney, cents: int) -> Refused | None:
    amount = cents * MICROCENTS_PER_CENT
    if cents > 0:
        return amount_refusal(cents) or does_not_fit(level, amount)
    if cents == 0:
        return amount_refusal(cents)
    if -amount > min(level.adjusted, level.meter - level.standing):
        return out_of_bounds(f"{level.rules.key} may fall by what adjustments have put in and not further")
    return None


def transfer(book: Book, command: Transfer) -> Answer:
    """Players' money goes from one meter to another: never the standing seed, never beyond the target's limit."""
    found = people_refusal(command) or level_of(book, command.level)
    if isinstance(found, Refused):
        return found
    goal = level_of(book, command.target)
    if isinstance(goal, Refused):
        return goal
    (link, level), (other, target) = found, goal
    refused = (
        ended(other)
        or pending_on(book, link, [level.rules.name])
        or pending_on(book, other, [target.rules.name])
        or _transfer_bounds(level, target, command.cents)
        or in_play(book, [link.settings.id, other.settings.id])
    )
    if refused:
        return refused
    amount = command.cents * MICROCENTS_PER_CENT
    level.meter -= amount
    target.meter += amount
    body = {
        "level": command.level,
        "target": command.target,
        "cents": command.cents,
        "shifts": shifts((level, -amount, "meter"), (target, amount, "meter")),
        "levels": level_facts([level, target]),
        **signed(command),
    }
    moves: Moves = {level.rules.meter: -amount, target.rules.meter: amount}
    return (entry(command, Kind.TRANSFERRED, body, link=link.settings.id, moves=moves),)


def _transfer_bounds(level: LevelMoney, target: LevelMoney, cents: int) -> Refused | None:
    if level.rules.key == target.rules.key:
        return out_of_bounds("source and target are one level")
    amount = cents * MICROCENTS_PER_CENT
    if amount > level.meter - level.standing:
        return out_of_bounds(f"{level.rules.key} holds less above its standing seed")
    return amount_refusal(cents) or does_not_fit(target, amount)


def set_limit(book: Book, command: SetLimit) -> Answer:  # noqa: PLR0911 - one return per refusal
    """Another limit: at or above what the sign shows, never below the seed.

    Choices: compared with the display in whole cents, as the players read it. A level without a limit is told where
    what arrives above goes; one with a limit keeps its way unless it holds no overflow. ``house`` needs a site that
    may release players' money. A limit is not taken away while its overflow holds money: that money waits for the
    next meter.
    """
    site = site_of(book)
    if command.overflow == HOUSE and not site.release_to_house:
        return Refused(Refusal.NOT_AUTHORISED, "this site gives no players' money to the house", "Nobody may.")
    found = people_refusal(command) or level_of(book, command.level)
    if isinstance(found, Refused):
        return found
    link, level = found
    refused = ended(link) or pending_on(book, link, [level.rules.name])
    if refused:
        return refused
    limit = command.limit_cents
    if limit is not None and limit < level.display_cents:
        return Refused(Refusal.LIMIT_BELOW_METER, f"{command.level} shows more")
    overflow = None if limit is None else command.overflow or level.rules.overflow_to
    refused = _limit_bounds(link, level, limit, overflow) or in_play(book, [link.settings.id])
    if refused:
        return refused
    was = next(one for one in link.settings.levels if one.name == level.rules.name)
    if (was.limit_cents, was.overflow) == (limit, overflow):
        return Refused(Refusal.ALREADY_DONE, f"{command.level} has this limit")
    body = {
        "level": command.level,
        "limit_cents": limit,
        "overflow": overflow,
        "was": {"limit_cents": was.limit_cents, "overflow": was.overflow},
        **signed(command),
    }
    return (entry(command, Kind.LIMIT_SET, body, link=link.settings.id),)


def _limit_bounds(link: LinkState, level: LevelMoney, limit: int | None, overflow: str | None) -> Refused | None:
    """A limit fits the level, and its overflow has a place to go to that is not a circle."""
    rules = level.rules
    if overflow != rules.overflow_to and level.overflow:
        return out_of_bounds(f"the overflow of {rules.key} holds money that waits for the next meter")
    if limit is None:
        return None
    if not rules.seed_microcents <= limit * MICROCENTS_PER_CENT or limit > AMOUNT_CENTS_MAX:
        return out_of_bounds(f"a limit of {rules.key} is at least its seed and below the largest amount")
    if overflow is None:
        return out_of_bounds("a limit needs to know where what arrives above it goes")
    try:
        LinkRules.of(_with_limit(link, rules.name, limit, overflow))
    except MisuseError as error:
        return out_of_bounds(str(error))
    return None


def _with_limit(link: LinkState, name: str, limit: int, overflow: str) -> LinkSettings:
    levels = tuple(
        replace(one, limit_cents=limit, overflow=overflow) if one.name == name else one for one in link.settings.levels
    )
    return replace(link.settings, levels=levels)


def recover_seed(book: Book, command: RecoverSeed) -> Answer:
    """The house takes back standing seed, where the site allows it; the display stays at the seed or above."""
    if not site_of(book).seed_recovery:
        return Refused(Refusal.NOT_AUTHORISED, "this site recovers no seeds", "Nobody may.")
    found = people_refusal(command) or level_of(book, command.level)
    if isinstance(found, Refused):
        return found
    link, level = found
    amount = command.cents * MICROCENTS_PER_CENT
    refused = pending_on(book, link, [level.rules.name]) or amount_refusal(command.cents)
    if not refused and amount > level.standing:
        refused = out_of_bounds(f"less than that stands as seed in {command.level}")
    if not refused and level.meter - amount < level.rules.seed_microcents:
        refused = out_of_bounds(f"{command.level} would show less than its seed")
    refused = refused or in_play(book, [link.settings.id])
    if refused:
        return refused
    level.meter -= amount
    level.standing -= amount
    body = {
        "level": command.level,
        "cents": command.cents,
        "shifts": shifts((level, -amount, "seed")),
        "levels": level_facts([level]),
        **signed(command),
    }
    moves: Moves = {level.rules.meter: -amount, level.rules.seed: amount}
    return (entry(command, Kind.SEED_RECOVERED, body, link=link.settings.id, moves=moves),)


def release(book: Book, command: Release) -> Answer:
    """Reserve or overflow becomes the house's income, where the site allows it and so discloses it to the players."""
    if not site_of(book).release_to_house:
        return Refused(Refusal.NOT_AUTHORISED, "this site gives no players' money to the house", "Nobody may.")
    found = people_refusal(command) or level_of(book, command.level)
    if isinstance(found, Refused):
        return found
    link, level = found
    held = {"reserve": level.reserve, "overflow": level.overflow}.get(command.part, 0)
    amount = command.cents * MICROCENTS_PER_CENT
    refused = pending_on(book, link, [level.rules.name]) or amount_refusal(command.cents)
    if not refused and amount > held:
        refused = out_of_bounds(f"the {command.part} of {command.level} holds less")
    refused = refused or in_play(book, [link.settings.id])
    if refused:
        return refused
    if command.part == "reserve":
        level.reserve -= amount
    else:
        level.overflow -= amount
    account = level.rules.reserve if command.part == "reserve" else level.rules.overflow
    body = {
        "level": command.level,
        "part": command.part,
        "cents": command.cents,
        "shifts": shifts((level, -amount, command.part)),
        "levels": level_facts([level]),
        **signed(command),
    }
    return (entry(command, Kind.RELEASED, body, link=link.settings.id, moves={account: -amount, REVENUE: amount}),)
