"""The words of posted jackpots and of pools of table games: their forms and fields.

Rule 1: these are part of ``FORMS`` and ``FIELDS`` like all others; nothing else is here.
Units: amounts become cents, rates ppm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from meterd.accounting.commands_pools import Share
from meterd.accounting.settings_pools import AtCap, PoolGame
from meterd.accounting.state_pools import ShareStatus
from meterd.accounting.when import is_day
from meterd.app.scenario_words import NAME, Field, Form, count, matching, name, one_of, or_none
from meterd.money import parse_rate

POOL_FORMS: Final = (
    Form(
        "pool",
        "pool POOL [share RATE] [cap AMOUNT_OR_NONE] [at_cap AT_CAP] [then RATE] [reseeds POOL_OR_NONE]"
        " [offered YES_OR_NO] [game POOL_GAME] [most AMOUNT] [seats COUNT] [high_hand RATE] [days COUNT]",
        "one pool of a posted jackpot, or the pool of a table game",
    ),
    # posted jackpots
    Form("rake", "rake FUND AMOUNT [at TABLE] [by PERSON]", "the jackpot rake of one pot"),
    Form("rakes", "rakes FUND COUNT AMOUNT", "the jackpot rakes of so many pots, each of this amount"),
    Form("drop", "drop FUND seat|seats SEATS (each AMOUNT) [by PERSON]", "jackpot wagers go into the drop box"),
    Form("post", "post FUND [day DAY] [by PERSON]", "the amounts are posted"),
    Form("win", "win POOL (shares SHARES) (by PERSON) [and PERSON]", "a posted jackpot is won; names shares J1, J2, …"),
    Form("pay-share", "pay SHARE [by PERSON]", "a share is handed out"),
    Form("unclaimed-share", "unclaimed SHARE [by PERSON]", "a share was not claimed in time"),
    Form(
        "dispose-share",
        "dispose SHARE (to POOL_OR_OUT) (by PERSON) [and PERSON] [ref TEXT]",
        "an unclaimed share goes where the approved rules say",
    ),
    Form("undo-win", "undo-win FUND COUNT (by PERSON) [and PERSON] [ref TEXT]", "a win that was none goes back"),
    Form(
        "transfer-pool",
        "transfer-pool POOL (to POOL_OR_LICENSEE) [amount AMOUNT] [game_ended YES_OR_NO] (by PERSON) [and PERSON]"
        " [ref TEXT]",
        "money of a pool moves; without an amount all of it, with what is posted",
    ),
    # pools of table games
    Form("strike-out", "strike-out FUND seat|seats SEATS (each AMOUNT) [by PERSON]", "strike-out wagers are gathered"),
    Form("hand", "hand FUND seat SEAT [by PERSON]", "a seat wins the hand; the other strike-outs are pool"),
    Form("runner", "runner FUND seat SEAT [by PERSON]", "a base runner; with the fourth the seat takes the pool"),
    Form("leave", "leave FUND seat SEAT [by PERSON]", "a player leaves and returns his base runners"),
    Form("bet", "bet FUND seat|seats SEATS (each AMOUNT) [by PERSON]", "bets go to the pot that may roll over"),
    Form("pot", "pot FUND seat|seats SEATS [rake AMOUNT] [by PERSON]", "the highest qualifying hands take the pot"),
    Form("rollover", "rollover FUND RATE seat|seats SEATS [rake AMOUNT] [by PERSON]", "the best hands get a share"),
    Form("rollover", "rollover FUND RATE [rake AMOUNT] [by PERSON]", "the best hand gets a share, the rest rolls over"),
    Form("rollover", "rollover FUND [rake AMOUNT] [by PERSON]", "all have folded, the pot rolls over"),
    Form(
        "undo-pot",
        "undo-pot FUND [came_back YES_OR_NO] (by PERSON) [and PERSON] [ref TEXT]",
        "the last award or base runner was keyed wrong",
    ),
    Form("return", "return FUND seat SEAT [by PERSON]", "what a seat put in during this hand goes back"),
    Form("close", "close FUND [by PERSON]", "the table closes; a Home Run pool goes by base runners"),
    Form("reopen", "reopen FUND [by PERSON]", "play goes on at a closed table"),
    # checks
    Form("expect-posted", "expect posted POOL MONEY", "what is posted"),
    Form("expect-pool", "expect pool POOL MONEY", "what the pool holds, rounded down to the cent"),
    Form("expect-share", "expect share SHARE STATE", "a share's state"),
    Form("expect-share", "expect share SHARE STATE MONEY", "a share's state and amount"),
    Form("expect-runners", "expect runners FUND seat SEAT WHOLE", "base runners on a seat"),
)


def _shares(text: str) -> tuple[Share, ...]:
    """``"50% to 1, 25% to 6"`` as shares; without a number it is one player."""
    found = []
    for part in text.split(","):
        rate, to, players = part.strip().partition(" to ")
        found.append(Share(parse_rate(rate), count(players.strip()) if to else 1))
    return tuple(found)


def _day(text: str) -> str:
    if not is_day(text):
        raise ValueError
    return text


_pool = matching(f"{NAME}/{NAME}")

POOL_FIELDS: Final[Mapping[str, Field]] = {
    "AT_CAP": Field(AtCap, "stop or grow"),
    "DAY": Field(_day, "a day such as 2026-12-01"),
    "FUND": Field(name, "the name of a posted jackpot or pool table"),
    "POOL": Field(_pool, "a pool such as P1/primary"),
    "POOL_GAME": Field(PoolGame, "a game: " + ", ".join(PoolGame)),
    "POOL_OR_OUT": Field(name, "the name of a pool, or authority, or house"),
    "POOL_OR_LICENSEE": Field(
        lambda text: None if text == "licensee" else _pool(text), "a pool such as P1/primary, or licensee"
    ),
    "POOL_OR_NONE": Field(or_none(name), "the name of a pool, or none"),
    "SHARE": Field(matching(r"J[1-9]\d*"), "a share such as J1"),
    "STATE": Field(one_of(*ShareStatus), "one of " + ", ".join(ShareStatus)),
    "SHARES": Field(_shares, 'shares such as "50% to 1, 25% to 1, 25% to 6"'),
}

POOL_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "AT_CAP": tuple(AtCap),
    "POOL_GAME": tuple(PoolGame),
    "STATE": tuple(ShareStatus),
}
