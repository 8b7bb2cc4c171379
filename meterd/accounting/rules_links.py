"""Rules of a live link as a whole: suspend and resume, other rules, notice, discontinue.

Sources: money rules M12; requirements R74, R78, R97-R100; CO 47.1-899.11(16)(g), 47.1-1046(6), 47.1-1099.11(3)(c).
Units: moves in microcents.

Not here: the house maximum and fixed wagers (the configuration refuses them), a wager out of proportion to its base
wager (LOCK). Periods are checked when somebody acts; what has run out is listed by ``due``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from meterd.accounting import commands_links as ask
from meterd.accounting import rules_limits, rules_meters, rules_unclaimed, when
from meterd.accounting.answer import SECONDS, Answer, entry, level_facts, not_authorised, site_of
from meterd.accounting.book import Book
from meterd.accounting.caps import cap_problem
from meterd.accounting.commands import Command, Role
from meterd.accounting.commands_links import Discontinue, EaseRules, GiveNotice, ResumeLink, SuspendLink
from meterd.accounting.entries import Kind
from meterd.accounting.meter import LevelMoney, LinkRules, Moves, add
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings import Ties
from meterd.accounting.state import LinkState
from meterd.accounting.steps import steps_problem
from meterd.accounting.two_people import (
    does_not_fit,
    ended,
    in_play,
    level_of,
    out_of_bounds,
    pending_on,
    people_refusal,
    shifts,
    signed,
    unknown,
)
from meterd.errors import MisuseError
from meterd.paytables.model import Pay, PayKind, Row

STOPPERS: Final = SECONDS | {Role.SYSTEM}
EASIER: Final = "easier"  # the one word of the linter that lets a change through


def suspend(book: Book, command: SuspendLink) -> Answer:
    """No wagers and no claims on a link from now on. One authorised person is enough: stopping must never wait.

    Rounds that are locked keep their wagers: they end once the link is resumed, or give the wagers back.
    """
    refused = not_authorised(command.actor, STOPPERS)
    if refused:
        return refused
    link = book.links.get(command.link)
    if link is None:
        return unknown(f"link {command.link}")
    if link.suspended is not None:
        return Refused(Refusal.ALREADY_DONE, f"{command.link} is suspended: {link.suspended}", "Nothing to do.")
    body = {"reason": command.reason.strip() or "no reason given"}
    return (entry(command, Kind.LINK_SUSPENDED, body, link=command.link),)


def resume(book: Book, command: ResumeLink) -> Answer:
    """Wagers are taken again. Choice: it takes two departments and a reference, as other changes of a live link do."""
    refused = people_refusal(command)
    if refused:
        return refused
    link = book.links.get(command.link)
    if link is None:
        return unknown(f"link {command.link}")
    refused = ended(link)
    if refused:
        return refused
    if link.suspended is None:
        return Refused(Refusal.ALREADY_DONE, f"{command.link} is not suspended")
    return (entry(command, Kind.LINK_RESUMED, {"was": link.suspended, **signed(command)}, link=command.link),)


def ease_rules(book: Book, command: EaseRules) -> Answer:
    """Another pay table for a live link, where the linter found it easier to win and nothing else (CO 47.1-1046(6)).

    Choice: no pending award of the link may wait, whatever its level: it would be decided again by another table.
    """
    if command.verdict != EASIER:
        step = "Keep this pay table, or discontinue the link and open another."
        return Refused(Refusal.NOT_AUTHORISED, "rules of a live link may only become easier to win", step)
    refused = people_refusal(command)
    if refused:
        return refused
    link = book.links.get(command.link)
    if link is None:
        return unknown(f"link {command.link}")
    refused = ended(link) or _table_does_not_fit(link, command)
    if not refused and link.pending:
        refused = Refused(Refusal.LEVEL_HAS_PENDING_AWARD, f"{next(iter(link.pending))} on {command.link} is pending")
    refused = refused or _limits_too_small(book, link, command) or in_play(book, [command.link])
    if refused:
        return refused
    if command.paytable == link.settings.paytable:
        return Refused(Refusal.ALREADY_DONE, f"{command.link} has this pay table")
    body = {
        "was": link.settings.paytable.id,
        "paytable": command.paytable.to_json(),
        "verdict": command.verdict,
        "findings": list(command.findings),
        "sha256": command.sha256,
        **signed(command),
    }
    return (entry(command, Kind.RULES_EASED, body, link=command.link),)


def _table_does_not_fit(link: LinkState, command: EaseRules) -> Refused | None:
    """Every level is paid from by a row, no row pays from a level the link lacks, and no order of keying decides."""
    problem = steps_problem(replace(link.settings, paytable=command.paytable))
    if problem is not None:
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, problem)
    try:
        rules = LinkRules.of(replace(link.settings, paytable=command.paytable))
    except MisuseError as error:
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, str(error))
    paid = {rules.level_named(pay.level).name for row in rules.rows.values() for pay in row.pays if _from_meter(pay)}
    stranded = [name for name in rules.levels if name not in paid]
    if stranded:
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, f"no row of {command.paytable.id} pays from {stranded[0]}")
    ordered = [level.name for level in rules.settings.levels if level.ties is Ties.SEQUENTIAL]
    if command.paytable.common_outcome and ordered and not link.settings.paytable.common_outcome:
        return Refused(Refusal.HAND_NOT_IN_PAYTABLE, f"TIES_ORDER_DECIDES: all seats win {ordered[0]} together")
    return None


def _limits_too_small(book: Book, link: LinkState, command: EaseRules) -> Refused | None:
    """An aggregate limit that holds, or will, stays at or above the smallest wager at the new highest odds."""
    moment = when.now(book, command)
    settings = replace(link.settings, paytable=command.paytable)
    for name, table in book.tables.items():
        if table.settings.link != link.settings.id:
            continue
        now = table.caps_at(moment)
        for posted in [now] * (now is not None) + [caps for caps in table.caps if caps.from_utc > moment]:
            problem = cap_problem(settings, table.settings, posted)
            if problem is not None:
                return out_of_bounds(f"{name}: {problem}")
    return None


def _from_meter(pay: Pay) -> bool:
    return pay.kind is PayKind.METER_PERCENT or (pay.kind is PayKind.FIXED and pay.from_meter)


def give_notice(book: Book, command: GiveNotice) -> Answer:
    """The end of a link is announced: its notice clock starts."""
    refused = people_refusal(command)
    if refused:
        return refused
    link = book.links.get(command.link)
    if link is None:
        return unknown(f"link {command.link}")
    if link.discontinued or link.notice_utc:
        return Refused(Refusal.ALREADY_DONE, f"{command.link}: announced {link.notice_utc}")
    until = when.plus_days(when.now(book, command), site_of(book).discontinue_notice_days)
    return (entry(command, Kind.NOTICE_GIVEN, {"until_utc": until, **signed(command)}, link=command.link),)


def top_row(rules: LinkRules) -> Row | None:
    """The highest award of a link: of the rows with the largest share of a meter the one tried first, else the first.

    Choice: with several levels at 100 % it is the level of the best hand.
    """
    table = rules.settings.paytable
    rows = [table.rows[index] for index in table.trial_order if table.rows[index].offered]
    rows = [row for row in rows if not row.loses]
    best = max((pay.percent_ppm for row in rows for pay in row.pays), default=0)
    if not best:
        return rows[0] if rows else None
    return next(row for row in rows if any(pay.percent_ppm == best for pay in row.pays))


def top_award_won(book: Book, link: LinkState) -> bool:
    """Whether the highest award was confirmed since the link opened, in full: with fewer units it was a part of it.

    Choice: an award proved after END GAME does not count. The house paid it, whatever two people stated, and the meter
    has not been won; a petition's reference ends such a link.
    """
    row = top_row(link.rules)
    if row is None:
        return True
    scaled = any(
        link.rules.level_named(pay.level).share_scales for pay in row.pays if pay.kind is PayKind.METER_PERCENT
    )
    return any(
        award.link == link.settings.id
        and award.hand == row.hand
        and award.stands
        and not award.late
        and (not scaled or award.units == link.rules.units_max)
        for award in book.awards.values()
    )


def discontinue(book: Book, command: Discontinue) -> Answer:
    """A link ends: standing seeds go back to the house, all the rest to the approved target, in one entry.

    Choices: the target is a level of another link; or, on a petition, the liability goes together with the fund to
    another licensee (CO 47.1-1099.11(3)(c)), and the money is handed out at the link (``paid/LINK``). A confirmed award
    nobody has collected stays owed by the ended link. The reference stands for the petition, so it is needed for a
    licensee, and while the highest award has not been won. A notice period runs from the notice to the act. A link that
    has ended is ended again where an award undone since has put money back into it, so that none is stranded there.
    """
    refused = people_refusal(command, reference_needed=command.licensee)
    if refused:
        return refused
    link = book.links.get(command.link)
    if link is None:
        return unknown(f"link {command.link}")
    goal = None if command.target is None else level_of(book, command.target)
    if isinstance(goal, Refused):
        return goal
    refused = _may_not_end(book, command, link, goal)
    if refused:
        return refused
    moves: Moves = {}
    rest = 0
    levels = list(book.money(command.link).levels.values())
    was = level_facts(levels)
    for level in levels:
        rest += _emptied(level, moves)
    moved: list[dict[str, Any]] = []
    if goal is not None:
        target = goal[1]
        target.meter += rest
        add(moves, target.rules.meter, rest)
        moved = shifts((target, rest, "meter"))
        levels.append(target)
    elif command.licensee:
        add(moves, f"paid/{command.link}", rest)
    body = {
        "target": command.target,
        **({"licensee": True} if command.licensee else {}),
        "moved_microcents": rest,
        "was": was,
        "top_award_won": top_award_won(book, link),
        "shifts": moved,
        "levels": level_facts(levels),
        **signed(command),
    }
    return (entry(command, Kind.DISCONTINUED, body, link=command.link, moves=moves),)


def _emptied(level: LevelMoney, moves: Moves) -> int:
    """Empty a level: its standing seed to the house; returns the rest, which is the players'."""
    rest = level.meter - level.standing + level.reserve + level.overflow
    add(moves, level.rules.meter, -level.meter)
    add(moves, level.rules.reserve, -level.reserve)
    add(moves, level.rules.overflow, -level.overflow)
    add(moves, level.rules.seed, level.standing)
    level.meter = level.reserve = level.overflow = level.standing = 0
    return rest


def _may_not_end(
    book: Book, command: Discontinue, link: LinkState, goal: tuple[LinkState, LevelMoney] | None
) -> Refused | None:
    links = [link.settings.id] if goal is None else [link.settings.id, goal[0].settings.id]
    if goal is not None:
        refused = ended(goal[0]) if goal[0] is not link else None
        if refused:
            return refused
    if link.pending:
        return Refused(Refusal.LEVEL_HAS_PENDING_AWARD, f"{next(iter(link.pending))} on {command.link} is pending")
    if goal is not None:
        refused = pending_on(book, goal[0], [goal[1].rules.name])
        if refused:
            return refused
    if not command.reference.strip() and not top_award_won(book, link):
        return Refused(Refusal.TOP_AWARD_NOT_WON, command.link)
    return (
        _rest_does_not_fit(book.money(command.link).levels.values(), command, link, goal)
        or _notice_running(book, command, link)
        or in_play(book, links)
        or _nothing_to_end(book, link)
    )


def _nothing_to_end(book: Book, link: LinkState) -> Refused | None:
    levels = book.money(link.settings.id).levels.values()
    if not link.discontinued or any(level.meter or level.reserve or level.overflow for level in levels):
        return None
    return Refused(Refusal.ALREADY_DONE, link.settings.id)


def _rest_does_not_fit(
    levels: Iterable[LevelMoney], command: Discontinue, link: LinkState, goal: tuple[LinkState, LevelMoney] | None
) -> Refused | None:
    rest = sum(_emptied(level, {}) for level in levels)
    if command.licensee:
        return out_of_bounds("a level of this house or another licensee, not both") if goal is not None else None
    if goal is None:
        step = "Name it: `to LINK/LEVEL` of this house, or `to licensee`."
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, "players' money needs an approved target", step) if rest else None
    if goal[0] is link:
        return out_of_bounds("the target is a level of the link that ends")
    return does_not_fit(goal[1], rest)


def _notice_running(book: Book, command: Discontinue, link: LinkState) -> Refused | None:
    days = site_of(book).discontinue_notice_days
    if not days:
        return None
    if not link.notice_utc:
        return Refused(Refusal.NOT_YET, f"no notice has been given; it runs {days} days", "Give notice first.")
    until = when.plus_days(link.notice_utc, days)
    if when.reached(when.now(book, command), until):
        return None
    return Refused(Refusal.NOT_YET, f"not before {until}", "Wait until then.")


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {
    ask.SuspendLink: suspend,
    ask.ResumeLink: resume,
    ask.EaseRules: ease_rules,
    ask.GiveNotice: give_notice,
    ask.Discontinue: discontinue,
    ask.Adjust: rules_meters.adjust,
    ask.Transfer: rules_meters.transfer,
    ask.SetLimit: rules_meters.set_limit,
    ask.RecoverSeed: rules_meters.recover_seed,
    ask.Release: rules_meters.release,
    ask.MarkUnclaimed: rules_unclaimed.mark_unclaimed,
    ask.Dispose: rules_unclaimed.dispose,
    ask.AdjustClaim: rules_unclaimed.adjust_claim,
    ask.PostCaps: rules_limits.post_caps,
}
