"""Aggregate limits (M10): what they touch, who gives up how much, when; random rounds against a stupid reckoning."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    SUPERVISOR,
    Casino,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from meterd.accounting.caps import cap_problem, cuts, smallest_cap, touched, touched_parts
from meterd.accounting.commands import (
    SYSTEM,
    Claim,
    Confirm,
    Correct,
    DefineTable,
    EndGame,
    Fold,
    Hold,
    Join,
    OpenTable,
    Undo,
    Void,
)
from meterd.accounting.commands import Pay as PayAward
from meterd.accounting.commands_links import AdjustClaim, PostCaps
from meterd.accounting.entries import Kind
from meterd.accounting.marks import Part
from meterd.accounting.meter import LinkRules
from meterd.accounting.refusals import Refusal as No
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.accounting.state import Award, Caps, RoundSeats, TableStatus, Wager
from meterd.errors import MisuseError
from meterd.paytables.model import Pay, PayKind

TABLE = paytable(
    row("all", percent("100%"), Pay(PayKind.ODDS_TO, n=1000)),
    row("thousand", Pay(PayKind.ODDS_FOR, n=1000)),
    row("hundred", Pay(PayKind.ODDS_TO, n=100), envy="7.00"),
    row("fifty", Pay(PayKind.ODDS_TO, n=50)),
    row("forty-nine", Pay(PayKind.ODDS_TO, n=99, d=2)),
    row("for-fifty", Pay(PayKind.ODDS_FOR, n=50)),
    row("for-fifty-one", Pay(PayKind.ODDS_FOR, n=51)),
    row("fixed-51", fixed("51.00")),
    row("fixed-50", fixed("50.99")),
    row("from-meter", fixed("500.00", from_meter=True)),
)
JANUARY = "2026-01-01T00:00:00.000000Z"


def limited(**limits: Any) -> TableSettings:
    return TableSettings("T1", "nexus", "Test", 7, **limits)


def casino(
    player: int | None = None, table: int | None = None, confirm_above: int = 10_000_00, folded_live: bool = True
) -> Casino:
    """T1 has the limits; the site lets fixed pays confirm themselves."""
    house = Casino(
        link(level(increment="20%", reserve=None), table=TABLE, name="nexus"),
        site=SiteSettings("test", confirm_above_cents=confirm_above),
        tables=0,
    )
    limits = limited(cap_player_cents=player, cap_table_cents=table, folded_live=folded_live)
    house.do(DefineTable(actor=SYSTEM, settings=limits))
    house.do(OpenTable(actor=SYSTEM, table="T1"))
    return house


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("all", [False, True]),
        ("thousand", [True]),
        ("fifty", [True]),
        ("forty-nine", [False]),
        ("for-fifty", [False]),
        ("for-fifty-one", [True]),
        ("fixed-51", [True]),
        ("fixed-50", [False]),
        ("from-meter", [False]),
    ],
)
def test_a_limit_touches_what_the_house_pays_at_fifty_to_one_and_more(hand: str, expected: list[bool]) -> None:
    """Never a share of a meter or a pay out of it; 51 for 1 is 50 to 1."""
    pays = next(row for row in TABLE.rows if row.hand == hand).pays
    assert expected == [touched(TABLE, "test", pay) for pay in pays]


@pytest.mark.parametrize("game", ["caribbean-stud", "let-it-ride"])
def test_no_limit_touches_the_progressive_of_two_games(game: str) -> None:
    """CO 47.1-1099.11(11), 1099.13(15): their limits are of the basic pay table."""
    assert not touched(TABLE, game, Pay(PayKind.ODDS_TO, n=1000))
    assert 1 == smallest_cap(TABLE, game, 100)


def test_a_limit_below_the_smallest_wager_at_the_highest_odds_cannot_be() -> None:
    """At load, and when it is posted."""
    settings = link(table=TABLE, wager="5.00")
    assert 5_000_00 == smallest_cap(TABLE, "Test", 500)
    for limits in ({"cap_player_cents": 4_999_99}, {"cap_table_cents": 4_999_99}):
        table = limited(**limits)
        assert cap_problem(settings, table) is not None
        with pytest.raises(MisuseError, match="highest odds"):
            Casino(settings, tables=0).do(DefineTable(actor=SYSTEM, settings=table))
    assert cap_problem(settings, limited(cap_table_cents=5_000_00)) is None


def test_the_smallest_limit_follows_the_smallest_wager_where_the_pay_does() -> None:
    """$51.00 printed for a $1 wager is $255.00 for $5, unless the pay does not scale; halves of a cent go down."""
    for pay, expected in ((fixed("51.00"), 255_00), (fixed("51.00", scales=False), 51_00)):
        assert expected == smallest_cap(paytable(row("x", pay)), "Test", 500)
    assert 125_50 == smallest_cap(paytable(row("x", Pay(PayKind.ODDS_TO, n=251, d=2))), "Test", 100)
    assert 62 == smallest_cap(paytable(row("x", Pay(PayKind.ODDS_FOR, n=125, d=2))), "Test", 1)


def test_an_award_a_limit_can_touch_is_known_at_end_game() -> None:
    """It does not confirm itself before, is not paid before, and gives its envy with the round's end."""
    house = casino(table=1_000_00)
    house.lock((1, 2, 3))
    mine = house.claim(1, "hundred")
    house.claim(2, "forty-nine")
    assert ["pending", "confirmed"] == [award.state_word for award in house.book.awards.values()]
    house.confirm(mine)
    assert No.NOT_YET is house.refuses(PayAward(actor=DEALER, award=mine))
    house.do(PayAward(actor=DEALER, award="A2"))
    house.end()
    assert {2: 700, 3: 700} == {share.seat: share.cents for share in house.book.tables["T1"].last_envy}
    house.do(PayAward(actor=DEALER, award=mine))
    assert house.folded().awards == house.book.awards


def test_a_sum_with_a_share_of_a_meter_waits_too() -> None:
    """A limit touches the second part of 100 % plus 1,000 to 1: confirmed by a supervisor, paid after END GAME."""
    house = casino(player=1_000_00)
    house.lock({1: 2})
    award = house.claim(1, "all")
    house.confirm(award)
    assert No.NOT_YET is house.refuses(PayAward(actor=DEALER, award=award))
    house.end()
    assert "11,002.40" == house.amount(award)  # the meter, the wager back, and 1,000 of 2,000
    house.pay(award)


def test_an_award_at_the_threshold_waits_for_a_supervisor() -> None:
    """Below it confirms itself, at END GAME as at the claim."""
    house = casino(table=1_000_00, confirm_above=1_000_00)
    house.lock((1,))
    house.claim(1, "thousand")
    assert No.ROUND_HAS_OPEN_AWARD is house.refuses(EndGame(actor=DEALER, table="T1"))
    house = casino(table=1_000_00, confirm_above=1_000_01)
    house.lock((1,))
    house.claim(1, "thousand")
    house.end()
    assert "confirmed" == house.book.awards["A1"].state_word


def test_awards_that_waited_confirm_themselves_in_the_entry_before_the_end() -> None:
    """Capped, Confirmed by rule, GameEnded; the wager that comes back is never cut."""
    house = casino(table=1_000_00)
    house.lock({1: 5, 2: 5, 3: 1})
    for seat in (1, 2):
        house.claim(seat, "hundred")
    house.claim(3, "thousand")
    before = len(house.entries)
    house.end()
    kinds = [entry.kind for entry in house.entries[before:]]
    assert [Kind.CAPPED] * 3 + [Kind.CONFIRMED] * 3 + [Kind.GAME_ENDED] == kinds
    # 500 + 500 + 1,000 become 250 + 250 + 500; five dollars of wager come back to seats 1 and 2
    assert ["255.00", "255.00", "500.00"] == [house.amount(f"A{n}") for n in (1, 2, 3)]
    assert "-1,094.00" == house.account("house/pays/T1")  # envy of 35.00 + 7.00 for each of the two hundreds
    assert 0 == house.book.residual_microcents()


def test_odd_cents_go_to_the_earlier_claims() -> None:
    """1,000.00 over three equal awards."""
    house = casino(table=1_000_00)
    house.lock((1, 2, 3))
    for seat in (3, 1, 2):
        house.claim(seat, "thousand")
    house.end()
    assert ["333.34", "333.33", "333.33"] == [house.amount(f"A{n}") for n in (1, 2, 3)]


def test_a_correction_that_a_limit_cuts_is_told_in_one_answer() -> None:
    """After END GAME a corrected award gets what the others have left, and no more after another correction."""
    house = casino(table=1_000_00, confirm_above=0)
    house.lock((1, 2))
    first, held = house.claim(1, "thousand"), house.claim(2, "hundred")
    house.confirm(first)
    house.do(Hold(actor=SUPERVISOR, award=held))
    house.end()
    assert ("909.10", "91.90") == (house.amount(first), house.amount(held))  # of 1,000 and 100; the wager comes back
    house.correct(held, "thousand", by=OTHER)
    assert ("909.10", "90.90") == (house.amount(first), house.amount(held))
    house.correct(held, "forty-nine")
    assert "50.50" == house.amount(held)
    house.correct(held, "hundred", by=OTHER)
    house.do(Undo(actor=ADMINISTRATOR, award=first, second=ACCOUNTANT, reference="r-1"))
    assert "91.90" == house.amount(held)
    house.void(held)
    assert "0.00" == house.account("house/pays/T1")
    assert house.folded().awards == house.book.awards


def test_a_player_wins_with_one_hand_of_two() -> None:
    """Seats 1 and 2 are one player: one hand that no limit touches beside one that it does is a winner's."""
    house = casino(table=1_000_00)
    house.lock((1, 2, 3))
    house.do(Join(actor=DEALER, table="T1", seats=(1, 2)))
    for seat, hand in ((1, "thousand"), (2, "forty-nine"), (3, "thousand")):
        house.claim(seat, hand)
    house.end()
    assert ["500.00", "50.50", "500.00"] == [house.amount(f"A{n}") for n in (1, 2, 3)]


def claimed(pays: tuple[Pay, ...], cents: tuple[int, ...], **table: Any) -> tuple[int, ...]:
    """What a limit touches of an award with these parts, at three units of $1."""
    settings = link(level(), table=paytable(row("x", *pays), **table))
    parts = tuple(Part("x", amount, house_cents=amount) for amount in cents)
    return touched_parts(LinkRules.of(settings), limited(), replace(award(1, 1), units=3, parts=parts))


def test_the_wager_that_comes_back_is_touched_once_and_only_where_it_does() -> None:
    """It lies in the first pay at odds to one of a row."""
    pays = (Pay(PayKind.ODDS_TO, n=60), Pay(PayKind.ODDS_TO, n=70), Pay(PayKind.LOSS))
    assert (180_00, 210_00) == claimed(pays, (183_00, 210_00))
    assert (180_00, 210_00) == claimed(pays, (180_00, 210_00), original_wager_returned=False)
    assert (0, 210_00) == claimed((Pay(PayKind.ODDS_TO, n=4), pays[1]), (15_00, 210_00))


def test_an_award_of_another_table_of_pays_is_not_touched() -> None:
    """Its parts do not tell what they were paid for."""
    assert (0, 0) == claimed((Pay(PayKind.ODDS_TO, n=60),), (183_00, 210_00))


def test_a_folded_hand_that_is_dead_takes_no_part() -> None:
    """Its award cannot be confirmed, so END GAME does not do it either, and the others keep what is theirs."""
    house = casino(table=1_000_00, folded_live=False)
    house.lock((1, 2))
    house.claim(1, "thousand")
    house.claim(2, "thousand")
    house.do(Fold(actor=DEALER, table="T1", seat=2))
    assert No.ROUND_HAS_OPEN_AWARD is house.refuses(EndGame(actor=DEALER, table="T1"))
    house.do(Hold(actor=SUPERVISOR, award="A2"))
    house.end()
    assert ("1,000.00", "confirmed") == (house.amount("A1"), house.book.awards["A1"].state_word)
    assert ("1,000.00", "held") == (house.amount("A2"), house.book.awards["A2"].state_word)


def test_a_player_with_two_seats_is_one_player() -> None:
    """Joined seats share the limit per player and are one winner for the table's."""
    house = casino(player=1_500_00, table=1_000_00)
    house.lock((1, 2))
    house.do(Join(actor=DEALER, table="T1", seats=(1, 2)))
    house.claim(1, "thousand")
    house.claim(2, "thousand")
    house.end()
    assert ["750.00", "750.00"] == [house.amount("A1"), house.amount("A2")]


def test_posting_is_refused_in_the_order_of_precedence() -> None:
    """People, table, amount, done."""
    house = casino()
    post: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "r-1"}
    low: dict[str, Any] = {"table": "T9", "player_cents": 1, "table_cents": None}
    assert No.NOT_AUTHORISED is house.refuses(PostCaps(actor=DEALER, **low))
    assert No.SAME_PERSON is house.refuses(PostCaps(actor=ADMINISTRATOR, second=ADMINISTRATOR, **low))
    assert No.SECOND_PERSON_REQUIRED is house.refuses(PostCaps(actor=ADMINISTRATOR, second=ACCOUNTANT, **low))
    assert No.TABLE_UNKNOWN is house.refuses(PostCaps(**post, **low))
    low["table"] = "T1"
    assert No.AMOUNT_OUT_OF_BOUNDS is house.refuses(PostCaps(**post, **low))
    none: dict[str, Any] = {"table": "T1", "player_cents": None, "table_cents": None}
    assert No.ALREADY_DONE is house.refuses(PostCaps(**post, **none))
    house.do(PostCaps(**post, **{**low, "player_cents": 1_000_00}, now_utc=JANUARY))
    assert Caps("2026-01-02T00:00:00.000000Z", 1_000_00, None) == house.book.tables["T1"].caps[-1]
    assert house.book.tables["T1"].caps_at("2026-01-01T23:59:59.999999Z") is None
    assert house.book.tables["T1"].caps_at("2026-01-02T00:00:00.000000Z") is not None


def award(number: int, seat: int) -> Award:
    return Award(f"A{number}", "nexus", "T1", 1, seat, "x", 1, 0, "", "")


def stupid(player: int | None, table: int | None, claims: list[tuple[int, int]], joined: frozenset[int]) -> list[int]:
    """What each claim keeps, in fractions; then the odd cents one by one."""
    kept = [cents for _, cents in claims]
    owner = ["joined" if seat in joined else str(seat) for seat, _ in claims]
    for who in dict.fromkeys(owner) if player is not None else ():
        kept = held(player or 0, kept, [place for place, name in enumerate(owner) if name == who])
    winners = {name for name, cents in zip(owner, kept, strict=True) if cents}
    if table is not None and len(winners) > 1:
        kept = held(table, kept, list(range(len(kept))))
    return kept


def held(cap: int, kept: list[int], places: list[int]) -> list[int]:
    total = sum(kept[place] for place in places)
    if total <= cap:
        return kept
    had, kept = kept, list(kept)
    for place in places:
        kept[place] = int(Fraction(kept[place]) * cap / total)
    missing = cap - sum(kept[place] for place in places)
    for place in [place for place in places if had[place]][:missing]:
        kept[place] += 1
    return kept


@given(
    player=st.one_of(st.none(), st.integers(1, 5_000)),
    table=st.one_of(st.none(), st.integers(1, 5_000)),
    amounts=st.lists(st.integers(1, 3_000), max_size=6),
    joined=st.frozensets(st.integers(1, 6), min_size=2, max_size=3),
)
def test_cuts_are_pro_rata_to_the_cent(
    player: int | None, table: int | None, amounts: list[int], joined: frozenset[int]
) -> None:
    """Any limits and awards: as reckoned in fractions; nobody gets more than was his or less than nothing."""
    claims = [(seat, cents) for seat, cents in enumerate(amounts, start=1)]
    seats = RoundSeats({seat: Wager(1, 100) for seat, _ in claims}, (joined,), frozenset())
    given_up = cuts(Caps("", player, table), seats, [(award(seat, seat), cents) for seat, cents in claims])
    kept = [cents - given_up.get(f"A{seat}", 0) for seat, cents in claims]
    assert stupid(player, table, claims, joined) == kept
    assert all(0 <= left <= cents for left, (_, cents) in zip(kept, claims, strict=True))


HANDS = [row.hand for row in TABLE.rows]
VERBS = ["claim"] * 4 + ["hold", "confirm", "void", "correct", "undo", "pay", "end"]
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 99)), max_size=25)


@given(
    player=st.sampled_from([None, 1_000_00, 1_200_00]),
    table=st.sampled_from([None, 1_000_00, 2_500_00]),
    confirm_above=st.sampled_from([0, 600_00, 10_000_00]),
    steps=STEPS,
)
@settings(max_examples=150)
def test_whatever_happens_no_round_is_paid_beyond_its_limits(
    player: int | None, table: int | None, confirm_above: int, steps: list[tuple[str, int]]
) -> None:
    """Claims, holds, corrections and voids in any order around END GAME: books hold, and so does every limit."""
    house = casino(player, table, confirm_above)
    for verb, number in steps:
        if house.book.tables["T1"].state is TableStatus.OPEN:
            house.lock({1: 1 + number % 5, 2: 1, 3: 2, 4: 5})
        take_step(house, verb, number)
        owed = {name: amount for name, amount in house.book.balances.items() if name.startswith(("payable/", "meter/"))}
        assert min(owed.values(), default=0) >= 0
    for past in range(1, house.book.tables["T1"].round):
        require_limits(house, past, player, table)
    folded = house.folded()
    assert (folded.awards, folded.balances, folded.links) == (house.book.awards, house.book.balances, house.book.links)


def take_step(house: Casino, verb: str, number: int) -> None:
    names = list(house.book.awards) or ["A1"]
    name = names[-1 - number % min(len(names), 5)]
    hand, seat = HANDS[number % len(HANDS)], 1 + number % 4
    supervisor = SUPERVISOR if number % 2 else OTHER
    command = {
        "claim": Claim(actor=DEALER, table="T1", seat=seat, hand=hand),
        "hold": Hold(actor=SUPERVISOR, award=name),
        "confirm": Confirm(actor=supervisor, award=name),
        "void": Void(actor=SUPERVISOR, award=name, reason="misread"),
        "correct": Correct(actor=supervisor, award=name, hand=hand),
        "undo": Undo(actor=ADMINISTRATOR, award=name, second=ACCOUNTANT, reference="r-1"),
        "pay": PayAward(actor=DEALER, award=name),
        "end": EndGame(actor=DEALER, table="T1"),
    }[verb]
    decision = house.decide(command)
    house.take(decision)


def require_limits(house: Casino, number: int, player: int | None, table: int | None) -> None:
    """The touched parts of a round's awards that still stand."""
    awards = [award for award in house.book.awards.values() if award.round == number and not award.undone]
    awards = [award for award in awards if award.state_word != "voided"]
    found = {award.seat: sum(touched_cents(house, award)) for award in awards}
    assert player is None or max(found.values(), default=0) <= player
    winners = sum(1 for cents in found.values() if cents)
    assert table is None or winners < 2 or sum(found.values()) <= table


def touched_cents(house: Casino, award: Award) -> tuple[int, ...]:
    """Independent of the rules: by the row, what is above the wager that comes back."""
    pays = next(row for row in TABLE.rows if row.hand == award.hand).pays
    wager = award.units * 100
    free: list[int | None] = [0]
    beside: list[int | None] = [wager]
    reach = {"all": [None, wager], "thousand": free, "hundred": beside, "fifty": beside, "fixed-51": free}
    reach["for-fifty-one"] = free
    back = reach.get(award.hand, [None] * len(pays))
    return tuple(0 if less is None else part.cents - less for part, less in zip(award.parts, back, strict=True))


@given(
    player=st.sampled_from([None, 1_000_00, 1_500_00]),
    table=st.sampled_from([None, 1_000_00, 2_500_00]),
    won=st.lists(st.sampled_from(["thousand", "hundred", "forty-nine"]), max_size=3),
    late=st.lists(
        st.tuples(
            st.sampled_from(["thousand", "hundred", "forty-nine", "all"]),
            st.sampled_from([1_00, 105_00, 500_00, 505_01, 1_000_00, 1_000_01, 1_500_00, 9_000_00]),
        ),
        max_size=3,
    ),
)
def test_late_awards_keep_to_what_the_limits_of_their_round_leave(
    player: int | None, table: int | None, won: list[str], late: list[tuple[str, int]]
) -> None:
    """Reckoned from what was handed out: of odds to 1 the largest wager that may come back is not counted."""
    house = casino(player, table)
    house.lock((1, 2, 3, 4, 5, 6))
    for seat, hand in enumerate(won, 1):
        house.claim(seat, hand)
    house.end()
    standing = [house.book.awards[f"A{place + 1}"].amount_cents for place in range(len(won))]
    back = house.book.links["nexus"].rules.units_max * 1_00
    taken = [
        {"thousand": cents, "hundred": cents - 1_00, "forty-nine": 0}[hand]
        for hand, cents in zip(won, standing, strict=True)
    ]
    house.do(PostCaps(**_post(), now_utc=JANUARY))
    for seat, (hand, cents) in enumerate(late, 4):
        counts = {"thousand": cents, "hundred": max(0, cents - back), "forty-nine": 0, "all": 0}[hand]
        over = player is not None and counts > player
        over = over or (table is not None and sum(taken) > 0 and sum(taken) + counts > table)
        facts = {"actor": SUPERVISOR, "second": ACCOUNTANT, "reference": "film 1", "table": "T1", "round": 1}
        command = AdjustClaim(**facts, seat=seat, hand=hand, cents=cents)  # type: ignore[arg-type]
        if counts and over:
            assert No.AMOUNT_OUT_OF_BOUNDS is house.refuses(command)
            continue
        house.do(command)
        taken.append(counts)
        limits = house.entries[-1].body.get("limits")
        told = (player, table) if counts and (player, table) != (None, None) else None
        assert told == (None if limits is None else (limits["player_cents"], limits["table_cents"]))
    assert house.folded().tables == house.book.tables


def _post() -> dict[str, Any]:
    """A limit posted later, which is not the round's."""
    return {
        "actor": SUPERVISOR,
        "second": ADMINISTRATOR,
        "reference": "sign 9",
        "table": "T1",
        "player_cents": 2_000_00,
        "table_cents": 2_000_00,
    }
