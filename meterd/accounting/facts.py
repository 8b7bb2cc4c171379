"""Which facts each kind of entry tells: those that every version of the program wrote, and those that some did.

Every version: from 30 November 2026, 12:00 UTC on; ``tests/ledgers`` holds a ledger of that one. Ledgers of the hours
before it, when facts were still being decided on, are not read.

Rule 1: an entry tells all of the first and nothing beside the second. What an entry tells is for ``--rules`` to decide
        again; that it tells it at all, whoever hashes a ledger anew cannot leave out unseen.
Rule 2: a fact that a later version adds stands behind the bar, for older ledgers lack it.
Rule 3: an entry moves money only where its kind has the sign for it.
Rule 4: the table is that of ``schema/README.md``, word for word.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from meterd.accounting.entries import Entry, Kind

#: ``Kind [$] facts… [| facts…]``: ``$`` may move money; behind the bar what may be missing.
TABLE: Final = """
Adjusted $ cents from_microcents level levels reference second shifts
Adjustment $ amount_cents award hand reference round seat second | awards_left limits
BaseRunner $ count paid_cents pools runners seat
BetsReturned $ cents pools seat
BookCarried balances book day format keys levels origin pools sealed tree
Capped $ amount_cents award cuts from_cents parts player_cents table_cents
CapsPosted from_utc player_cents reference second table_cents | tip_cents
Claimed $ amount_cents award awards envy_cents flags hand late levels marks parts round seat signs units | cards chip_cents out_of_order_after
ClockStep now_utc step_ms
CommonClaimed $ awards claims hand levels marks round | cards
Confirmed $ award awards by envy envy_cents marks verified | cards envy_waits second toke_cents tokes
Corrected $ award awards before envy_cents hand late levels marks seat sent shifts units was
Correction $ amount_cents award levels reference second was
CountMismatch accepted
DayConfirmed day reference second was
DayRead day left levels links moved next_day pools since_seq since_utc tables
DeviceLost cause heard | device found
DeviceTrusted counts epoch modulus
Discontinued $ levels moved_microcents reference second shifts target top_award_won was | licensee
Disposed $ amount_cents award reference second shifts to | levels
Folded round seat
FundClosed $ paid pools
FundOpened settings sha256
FundReopened at_utc
GameEnded $ envy envy_cents open_awards round toke_cents tokes was | envy_waits
GameWin amount_cents level link raw said sas_group sas_level
HandSplit $ cents means round seat units
HandWon $ pools returned_cents seat to_pool_cents
Held award | verified
Joined round seats
KeySet key reference replaces second
LateBet ms_max ms_min round seat
LedgerCreated currency demo format site
LimitSet level limit_cents overflow reference second was
LinkOpened $ levels settings sha256
LinkResumed reference second was
LinkSuspended reason
Locked $ round wagers | landed levels over sent
MissedWhileAway epoch inputs modulus
NoticeGiven reference second until_utc
NumberKeyed ended hand length number numbers round
Paid $ amount_cents award cashier method payee payee_sha256 slip
PoolTransferred $ from game_ended microcents pools reference second to
PoolWinUndone $ awards pools postings_restored reference second win
PoolWon $ awards before pool pools posted_cents second shares source win
Posted $ at_utc gaming_day pools reseeded | days_missed
PotBets $ cents pools seats
PotUndone $ came_back paid_cents pools rake_cents reference runners second
PotWon $ paid pools rake_cents rolls_over_cents
Raked $ cents pools | at_table seats
Refused command detail keyed refusal | round step
Released $ cents level levels part reference second shifts
Restored backup entries lost reference verified_at_utc | second
Revalued amount_cents award because from_cents
RolledOver $ paid percent_ppm pools rake_cents rolls_over_cents
RulesEased findings paytable reference second sha256 verdict was
RunnersReturned count runners seat
SeedRecovered $ cents level levels reference second shifts
ShareDisposed $ amount_cents award reference second to | pools
SharePaid $ amount_cents award cashier method slip
ShareUnclaimed $ amount_cents award since
SiteSet settings | reference second was
SpinVoided ended hand length number numbers round
Started | boot site_sha256 version
Stopped | heard
StrikeOuts $ cents pools seats
TableChanged reference second settings was
TableClosed needs_end_game reason was
TableDefined settings
TableOpened
TipPaid $ amount_cents award cut_cents limit_cents seat tip_cents | second
TipUndone $ amount_cents award reason seat second
Transferred $ cents level levels reference second shifts target
Unclaimed $ amount_cents award confirmed_at_utc
UnreasonableContribution detail | command keyed reason refusal round step
Voided $ amount_cents award awards before levels marks reason second sent shifts
WagerVoided $ cents levels round seats
"""  # noqa: E501 - a line is a kind

#: What is told of an award that a supervisor confirmed, and not of one that a rule did.
BY_A_SUPERVISOR: Final = frozenset({"second", "toke_cents", "tokes"})
#: Who asked, over the socket or while the daemon was stopped: any entry may tell it.
ASKED: Final = "asked"
FORMATS: Final = frozenset({1, 2})


#: What an entry tells of a level: the money, and beside it, where it is no LOCK, what the level counts.
MONEY: Final = frozenset({"display_microcents", "reserve_microcents", "overflow_microcents"})
COUNTED: Final = frozenset({"standing_seed_microcents", "resets", "hits", "won_cents"})
_LATER_COUNTED: Final = frozenset({"adjusted_microcents"})


class Facts(NamedTuple):
    """What an entry of one kind tells."""

    money: bool
    always: frozenset[str]
    may: frozenset[str]


def _read(line: str) -> tuple[Kind, Facts]:
    always, _, may = line.partition("|")
    kind, *names = always.split()
    return Kind(kind), Facts("$" in names, frozenset(names) - {"$"}, frozenset(may.split()) | {ASKED})


FACTS: Final = dict(map(_read, TABLE.strip().splitlines()))


def wrong_facts(entry: Entry) -> str | None:
    """What an entry lacks that its kind always tells, has that it never tells, or moves; None where it is in form."""
    money, always, may = FACTS[entry.kind]
    if entry.kind is Kind.CONFIRMED and entry.body.get("by") == "supervisor":
        always = always | BY_A_SUPERVISOR
    if missing := always - entry.body.keys():
        return f"{entry.kind} without {', '.join(sorted(missing))}"
    if unknown := entry.body.keys() - always - may:
        return f"{entry.kind} tells nothing of {', '.join(sorted(unknown))}"
    if entry.postings and not money:
        return f"{entry.kind} moves no money"
    for key, told in entry.body.get("levels", {}).items():
        of_lock = entry.kind is Kind.LOCKED
        if told.keys() - _LATER_COUNTED != (MONEY if of_lock else MONEY | COUNTED) or (
            of_lock and told.keys() != MONEY
        ):
            return f"{entry.kind} tells of {key}: {', '.join(sorted(told))}"
    if entry.kind is Kind.LEDGER_CREATED and (
        type(entry.body["format"]) is not int or entry.body["format"] not in FORMATS
    ):
        return f"a ledger began in a format of {', '.join(map(str, sorted(FORMATS)))}, not in {entry.body['format']}"
    return None
