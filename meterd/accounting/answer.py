"""What the rules share: how an answer is put together, who may do what, and the checks of a round.

Rule 1: a rule returns entries, or one ``Refused``; it never changes the book.
Rule 2: checks run in the order of precedence of the refusals, so the first that holds is the answer.
Units: microcents in postings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from meterd.accounting.awards import Settled
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Role
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.meter import LevelMoney, LinkRules
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings import SiteSettings
from meterd.accounting.state import Award, LinkState, RoundSeats, TableState, TableStatus
from meterd.errors import MeterdError
from meterd.paytables.model import Row

Answer = tuple[Entry, ...] | Refused

#: What a refusal repeats of the command, so that a dispute can show what was asked.
KEYED: Final = (
    "table",
    "fund",
    "pool",
    "link",
    "level",
    "target",
    "to",
    "award",
    "round",
    "seat",
    "seats",
    "cents",
    "limit_cents",
    "hand",
    "cards",
    "number",
    "reference",
    "day",
    "gaming_day",
    "part",
    "overflow",
    "licensee",
    "player_cents",
    "table_cents",
    "tip_cents",
    "to_fund",
    "to_pool",
    "game_ended",
    "win",
    "rake_cents",
    "percent_ppm",
    "came_back",
)

#: Thresholds where no site is in force yet: everything needs a supervisor, nothing needs cards or two people.
NO_SITE: Final = SiteSettings(id="")

PIT: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.SYSTEM})
KEYS: Final = frozenset({Role.DEALER, Role.SUPERVISOR})
SUPERVISORS: Final = frozenset({Role.SUPERVISOR})
SECONDS: Final = frozenset({Role.SUPERVISOR, Role.ACCOUNTING, Role.ADMINISTRATOR})
CASHIERS: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.ACCOUNTING})
SETUP: Final = frozenset({Role.SYSTEM, Role.ADMINISTRATOR})
ANYBODY: Final = frozenset(Role) - {Role.REGULATOR}
DEVICES: Final = frozenset({Role.SYSTEM, Role.TECHNICIAN, Role.SUPERVISOR, Role.ADMINISTRATOR, Role.DEALER})


def postings(moves: Mapping[str, int]) -> tuple[Posting, ...]:
    """Moves as postings; zeros are left out."""
    return tuple([Posting(account, amount) for account, amount in moves.items() if amount])


def entry(
    command: Command,
    kind: Kind,
    body: Mapping[str, Any],
    *,
    table: str | None = None,
    link: str | None = None,
    moves: Mapping[str, int] | None = None,
    first: bool = True,
) -> Entry:
    """An entry in answer to a command. Only the first of an answer carries the event's identity."""
    return Entry(
        kind=kind,
        actor=command.actor.id,
        table=table,
        link=link,
        device=command.device,
        event_id=str(command.event) if first and command.event is not None else None,
        body=body,
        postings=postings(moves) if moves else (),
    )


def not_authorised(actor: Actor, roles: frozenset[Role]) -> Refused | None:
    """Refuse a role that may not do this."""
    if actor.role in roles:
        return None
    who = [role.value for role in Role if role in roles and role is not Role.SYSTEM]
    step = f"Who may: {', '.join(who)}." if who else "The daemon alone may."
    return Refused(Refusal.NOT_AUTHORISED, f"{actor.id} may not do this as {actor.role.value}", step)


def site_of(book: Book) -> SiteSettings:
    """The thresholds in force."""
    return book.site or NO_SITE


def find_table(book: Book, table_id: str) -> tuple[TableState, LinkState] | Refused:
    """A table and its link, or TABLE_UNKNOWN."""
    table = book.tables.get(table_id)
    if table is None:
        return Refused(Refusal.TABLE_UNKNOWN, table_id)
    return table, book.links[table.settings.link]


def table_for(
    book: Book, actor: Actor, roles: frozenset[Role], table_id: str
) -> tuple[TableState, LinkState] | Refused:
    """A table and its link for somebody with one of these roles; who may not is told so before anything else."""
    return not_authorised(actor, roles) or find_table(book, table_id)


def round_refusal(table: TableState, link: LinkState, *, suspended_too: bool = False) -> Refused | None:
    """Why no act of a locked round is possible, in order of precedence.

    ``suspended_too``: an act that a suspended link allows. Choice: a table that is open after a round has ended
    answers ROUND_CLOSED, one on which none was ever locked TABLE_NOT_LOCKED; both keys would be true of the first, and
    the second tells the dealer what happened.
    """
    name = table.settings.id
    if table.state is TableStatus.CLOSED:
        return closed_refusal(table)
    if link.suspended is not None and not suspended_too:
        return suspended_refusal(link)
    if table.state is TableStatus.OPEN:
        return Refused(Refusal.ROUND_CLOSED if table.round else Refusal.TABLE_NOT_LOCKED, name)
    return None


def not_confirmed(award: Award) -> Refused:
    """An act that only a confirmed award allows."""
    step = "Confirm it first." if award.pending else ""
    return Refused(Refusal.AWARD_NOT_PENDING, f"{award.id} is {award.state_word}, not confirmed", step)


def closed_refusal(table: TableState) -> Refused:
    """A closed table: for which reason, and what opens it again."""
    if table.needs_end_game:
        step = "END GAME opens it, once its devices answer."
    elif table.closed_reason in {"new", "stopped"}:
        step = "It opens by itself once its devices answer."
    else:
        step = "open-table opens it again."
    return Refused(Refusal.TABLE_CLOSED, f"{table.settings.id} is closed ({table.closed_reason})", step)


def suspended_refusal(link: LinkState, step: str = "") -> Refused:
    """A link that takes no wagers and no claims, and why."""
    return Refused(Refusal.LINK_SUSPENDED, f"{link.settings.id} is suspended: {link.suspended}", step)


def level_facts(levels: Iterable[LevelMoney]) -> dict[str, dict[str, int]]:
    """Values of levels after an entry, as the entry stores them."""
    return {level.rules.key: level.facts() for level in levels}


def award_facts(settled: Settled) -> dict[str, Any]:
    """What a claim came to, as an entry stores it."""
    flags = []
    if settled.sign_above_meter:
        flags.append("SIGN_ABOVE_METER")
    if settled.meter_empty:
        flags.append("METER_EMPTY")
    return {"amount_cents": settled.cents, "parts": [part.to_json() for part in settled.parts], "flags": flags}


def revalued(command: Command, awards: Iterable[tuple[Award, int]], because: str) -> tuple[Entry, ...]:
    """One Revalued entry per pending award whose amount changed; the money is in the entry before it."""
    return tuple(
        entry(
            command,
            Kind.REVALUED,
            {"award": award.id, "from_cents": award.amount_cents, "amount_cents": cents, "because": because},
            table=award.table,
            link=award.link,
            first=False,
        )
        for award, cents in awards
        if cents != award.amount_cents
    )


def refused_entry(command: Command, refused: Refused) -> Entry:
    """The entry of a refusal: what was asked, and why it was not done. It moves nothing."""
    keyed: dict[str, Any] = {}
    for name in KEYED:
        value = getattr(command, name, None)
        if value is not None:
            keyed[name] = (
                dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
            )
    second: Actor | None = getattr(command, "second", None)
    if second is not None:
        keyed["second"] = second.id
    return entry(
        command,
        Kind.REFUSED,
        {
            "command": type(command).__name__,
            "refusal": refused.refusal.value,
            "detail": refused.detail,
            **({"step": refused.step} if refused.step else {}),
            "keyed": keyed,
        },
        table=getattr(command, "table", None),
    )


def rank_cards(rules: LinkRules, cards: Mapping[str, str]) -> Row | Refused | None:
    """What the ranking core makes of the cards; CARDS_DISAGREE where it cannot read or rank them."""
    from meterd.paytables.outcome import outcome  # noqa: PLC0415 - the ranking core loads when cards are entered

    try:
        return outcome(
            rules.settings.paytable,
            cards=cards.get("cards", ""),
            community=cards.get("community", ""),
            dealer=cards.get("dealer", ""),
        ).row
    except (ValueError, MeterdError) as error:
        return Refused(Refusal.CARDS_DISAGREE, str(error))


def words_of_streak(table: TableState) -> str:
    """How far the numbers of a table have come, for a refusal."""
    if table.streak is None:
        return f"{table.settings.id}: no number yet"
    return f"{table.settings.id}: length {table.streak.length} after {table.streak.numbers[-1]}"


def dead_hand(table: TableState, seats: RoundSeats, seat: int) -> bool:
    """Whether a seat has folded at a table where a folded hand wins nothing."""
    return seat in seats.folded and not table.settings.folded_live
