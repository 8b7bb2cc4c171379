"""What the reading of a gaming day says, down to the cent, which awards leave the book, and how a book is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from accounting_build import ACCOUNTANT, ADMINISTRATOR, DEALER, SUPERVISOR, Casino, level, link
from pools_build import CardRoom, fund, pool, winning

from meterd.accounting import rules_day
from meterd.accounting.book import Book
from meterd.accounting.carry import carried
from meterd.accounting.commands import SYSTEM, Hold, Undo
from meterd.accounting.commands_day import ReadDay, SetKey
from meterd.accounting.commands_links import AdjustClaim
from meterd.accounting.commands_pools import PayShare, UndoWin
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.journal import UndoOp
from meterd.accounting.plain import codec
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision
from meterd.errors import MisuseError

TWO = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "case 7"}
MICRO = 1_000_000
Body = Mapping[str, Any]


def reading(number: int) -> ReadDay:
    return ReadDay(actor=SYSTEM, day=f"2026-01-{number:02d}", next_day=f"2026-01-{number + 1:02d}")


def read(house: Casino, number: int = 1) -> Body:
    """What the reading says; after it a new volume has begun."""
    body = house.do(reading(number)).entries[0].body
    house.take(Decision((Entry(Kind.BOOK_CARRIED, "meterd", body=carried(house.book)),), None))
    return body


def moved(entries: list[Entry]) -> dict[str, int]:
    """What entries posted, account by account."""
    sums: dict[str, int] = {}
    for posting in (posting for entry in entries for posting in entry.postings):
        sums[posting.account] = sums.get(posting.account, 0) + posting.microcents
    return {account: amount for account, amount in sums.items() if amount}


def handed(house: Casino, hand: str, seat: int = 1, table: str = "T1") -> str:
    """A round in which a seat wins and is paid."""
    house.lock([1, 2], table)
    award = house.claim(seat, hand, table)
    if house.book.awards[award].pending:
        house.confirm(award)
    house.pay(award)
    house.end(table)
    return award


def two_days() -> tuple[Casino, Body, Body, list[Entry], list[Entry]]:
    """Day one: T1 has two rounds with $5 wagered, a royal and fifty dollars of the house. Day two: two claims more."""
    house = Casino(link(), link(level("other"), name="second"))
    house.lock({1: 1, 2: 2})
    royal = house.claim(1, "royal-flush")
    house.confirm(royal)
    house.pay(royal)
    house.end()
    house.lock({1: 1, 2: 1})
    house.confirm(house.claim(2, "fixed-fifty"))
    first = read(house, 1)
    began = len(house.entries)
    house.pay("A2")
    house.end()
    house.lock({3: 2})
    house.claim(3, "straight-flush")
    second = read(house, 2)
    return house, first, second, house.entries[:began], house.entries[began:]


def test_a_link_is_told_what_was_wagered_and_won_on_it_that_day() -> None:
    """$5 on day one, $2 on day two; a royal on the one, a tenth of the meter on the other; nothing on another link."""
    _, first, second, _, _ = two_days()
    figures = ("wagers", "units", "wagered_cents")
    assert 1 == first["since_seq"]
    assert (4, 5, 500) == tuple(first["links"]["nexus"][name] for name in figures)
    assert (1, 2, 200) == tuple(second["links"]["nexus"][name] for name in figures)
    assert {"main": {"hits": 1, "won_cents": 1000060}} == first["links"]["nexus"]["levels"]
    assert {"main": {"hits": 1, "won_cents": 100009}} == second["links"]["nexus"]["levels"]
    for day in (first, second):
        assert (0, 0, 0) == tuple(day["links"]["second"][name] for name in figures)
        assert {"other": {"hits": 0, "won_cents": 0}} == day["links"]["second"]["levels"]


def test_an_award_is_counted_on_the_day_on_which_it_comes_to_a_state() -> None:
    """Claimed and confirmed on day one, paid on day two; one that still waits was claimed, and no more."""
    _, first, second, _, _ = two_days()
    fifty = {"awards": 1, "cents": 5000}
    royal = {"awards": 1, "cents": 1000060}
    both = {"awards": 2, "cents": 1005060}
    assert {"claimed": both, "paid": royal, "confirmed": fifty} == first["links"]["nexus"]["awards"]
    assert {"claimed": {"awards": 1, "cents": 100009}, "paid": fifty} == second["links"]["nexus"]["awards"]
    assert [{}, {}] == [day["links"]["second"]["awards"] for day in (first, second)]


def test_a_table_is_told_its_rounds_and_what_passed_over_it_that_day() -> None:
    """Of each dollar 76 cents are held; a royal pays $2,000 of envy besides; a table nobody played at moves nothing."""
    _, first, second, _, _ = two_days()
    assert {
        "state": "LOCKED",
        "rounds": 2,
        "dropped_microcents": 500 * MICRO,
        "paid_microcents": (1000060 + 200000) * MICRO,
        "house_hold_microcents": 380 * MICRO,
        "house_pays_microcents": -(200000 + 5000) * MICRO,
    } == first["tables"]["T1"]
    assert {
        "state": "LOCKED",
        "rounds": 1,
        "dropped_microcents": 200 * MICRO,
        "paid_microcents": 5000 * MICRO,
        "house_hold_microcents": 152 * MICRO,
        "house_pays_microcents": 0,
    } == second["tables"]["T1"]
    assert {"state": "OPEN", **dict.fromkeys(tuple(first["tables"]["T1"])[1:], 0)} == first["tables"]["T2"]


def test_what_moved_is_the_postings_of_the_day() -> None:
    """Account by account, and none that stands as it stood, such as what was owed and paid on one day."""
    _, first, second, entries, later = two_days()
    assert moved(entries) == first["moved"]
    assert moved(later) == second["moved"]
    assert "payable/A1" not in first["moved"]


def test_a_day_follows_the_one_that_is_read_and_the_one_that_is_running() -> None:
    """The same day twice, or one before today, is not yet; the answer names the later of the two."""
    house = Casino()
    read(house, 4)
    for day, later in (("2026-01-03", "2026-01-05"), ("2026-01-05", "2026-01-05")):
        refused = house.decide(ReadDay(actor=SYSTEM, day=day, next_day="2026-01-05")).refusal
        assert refused is not None
        assert Refusal.NOT_YET is refused.refusal
        assert refused.detail.endswith(f"follow {later}")
    refused = house.decide(ReadDay(actor=SYSTEM, day="2026-01-07", next_day="2026-01-06")).refusal
    assert refused is not None
    assert refused.detail.endswith("follow 2026-01-07")
    assert "2026-01-05" == house.book.gaming_day
    assert Refusal.NOT_AUTHORISED is house.refuses(ReadDay(actor=DEALER, day="2026-01-05", next_day="2026-01-06"))


def test_a_key_replaces_the_last_one() -> None:
    """Two people set three and the first again; one in force is set already; the next volume begins with them all."""
    house = Casino()
    for key, before in (("a", None), ("b", "a"), ("c", "b"), ("a", "c")):
        body = house.do(SetKey(**TWO, key=key)).entries[0].body
        assert (key, before) == (body["key"], body["replaces"])
        assert Refusal.ALREADY_DONE is house.refuses(SetKey(**TWO, key=key))
    read(house)
    volume = Book()
    volume.apply(1, "2026-01-02T00:00:00.000000Z", house.entries[-1])
    assert ("a", "b", "c", "a") == house.book.keys == volume.keys
    assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(SetKey(actor=ADMINISTRATOR, key="d"))


@pytest.mark.parametrize(("hand", "at_hand"), [("push", 1000), ("straight-flush", 2000)])
def test_how_many_settled_awards_stay_at_hand(hand: str, at_hand: int) -> None:
    """The last thousand; of those that took a share of a meter, the last two thousand."""
    house = Casino(strict=False)
    award = house.book.awards[handed(house, hand)]
    awards = house.book.awards
    awards.update({f"A{n}": replace(award, id=f"A{n}") for n in range(2, at_hand + 3)})
    assert ["A1", "A2"] == read(house)["left"]["awards"]


@pytest.fixture
def few_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two settled awards stay at hand, and one that took a share of a meter."""
    monkeypatch.setattr(rules_day, "SETTLED_KEPT", 2)
    monkeypatch.setattr(rules_day, "SHARES_OF_METERS_KEPT", 1)


@pytest.mark.usefixtures("few_at_hand")
def test_the_oldest_settled_awards_leave() -> None:
    """Of five pushes three leave; the next award is the sixth, and no account of nothing is left behind."""
    house = Casino()
    for _ in range(5):
        handed(house, "push")
    assert ["A1", "A2", "A3"] == read(house)["left"]["awards"]
    assert ["A4", "A5"] == list(house.book.awards)
    assert (3, 3) == (house.book.gone_awards, house.book.tables["T1"].left_round)
    assert all(house.book.balances.values())
    assert house.book.balances["house/pays/T1"] != 0
    assert "A6" == handed(house, "push")
    assert ["A4"] == read(house, 2)["left"]["awards"]
    assert (4, 4) == (house.book.gone_awards, house.book.tables["T1"].left_round)


@pytest.mark.usefixtures("few_at_hand")
def test_the_latest_round_of_which_an_award_has_left_is_remembered() -> None:
    """A claim of round 1 proved after others of round 2 were settled leaves last, and round 2 stays the latest."""
    house = Casino()
    house.lock([1, 2])
    house.end()
    handed(house, "push")
    house.do(AdjustClaim(**TWO, table="T1", round=1, seat=1, hand="fixed-fifty", cents=5000))
    house.pay("A2")
    for _ in range(3):
        handed(house, "push", table="T2")
    assert ["A1", "A2", "A3"] == read(house)["left"]["awards"]
    assert (2, 1) == (house.book.tables["T1"].left_round, house.book.tables["T2"].left_round)


@pytest.mark.usefixtures("few_at_hand")
def test_the_newest_award_of_each_hand_stays_unless_it_is_a_late_one_or_undone() -> None:
    """Fifty dollars won at the table keep their place; the same proved late, or undone, leave it to the one before."""
    house = Casino()
    for _ in range(3):
        handed(house, "fixed-fifty")
    house.do(Undo(actor=SUPERVISOR, second=ACCOUNTANT, award="A3", reference="case 7"))
    house.do(AdjustClaim(**TWO, table="T1", round=1, seat=2, hand="fixed-fifty", cents=5000))
    house.pay("A4")
    for _ in range(3):
        handed(house, "push")
    assert ["A1", "A3", "A4", "A5"] == read(house)["left"]["awards"]
    assert ["A2", "A6", "A7"] == list(house.book.awards)


@pytest.mark.usefixtures("few_at_hand")
def test_what_a_pending_award_may_be_decided_against_stays() -> None:
    """While a jackpot is held, claims on its link made since stay at hand, and so does an older one undone since."""
    house = Casino()
    old = handed(house, "straight-flush", table="T2")
    handed(house, "straight-flush", table="T2")
    house.lock([1, 2])
    held = house.claim(1, "royal-flush")
    house.do(Hold(actor=SUPERVISOR, award=held))
    house.end()
    house.do(Undo(actor=SUPERVISOR, second=ACCOUNTANT, award=old, reference="case 7"))
    since = [handed(house, "push", table="T2") for _ in range(4)]
    assert [] == read(house)["left"]["awards"]
    house.void(held)
    assert [old, *since[:2]] == read(house, 2)["left"]["awards"]


@pytest.mark.usefixtures("few_at_hand")
def test_a_round_that_is_not_over_keeps_its_awards() -> None:
    """Paid before END GAME; and paid in a round of which another award is held: limits are shared among them."""
    house = Casino()
    house.lock([1, 2])
    paid = house.claim(2, "push")
    house.confirm(paid)
    house.pay(paid)
    others = [handed(house, "push", table="T2") for _ in range(3)]
    assert [others[0]] == read(house)["left"]["awards"]
    held = house.claim(1, "royal-flush")
    house.do(Hold(actor=SUPERVISOR, award=held))
    house.end()
    assert [] == read(house, 2)["left"]["awards"]
    house.void(held)
    assert [paid, others[1]] == read(house, 3)["left"]["awards"]


def share(room: CardRoom, name: str = "P1", *, pay: bool = True) -> str:
    """A posted pool is won; the share is handed out, or waits."""
    room.rake(200, 5, name)
    room.post(name)
    room.do(winning(name=name))
    won = next(reversed(room.book.fund_awards))
    if pay:
        room.do(PayShare(actor=SUPERVISOR, award=won))
    return won


def undone(room: CardRoom, name: str) -> str:
    """A win that was none; the next POST has come since."""
    won = share(room, name, pay=False)
    room.do(UndoWin(**TWO, fund=name, win=room.state(name).wins))
    room.post(name)
    return won


@pytest.mark.usefixtures("few_at_hand")
def test_shares_of_jackpots_leave_when_nothing_of_their_win_is_owed() -> None:
    """J1 is paid, J2 waits; of J3 and J4, one win, J4 waits; then three more are paid, of which two stay at hand."""
    room = CardRoom(fund())
    share(room)
    share(room, pay=False)
    room.rake(100)
    room.post()
    room.do(winning(("50%", 2)))
    room.do(PayShare(actor=SUPERVISOR, award="J3"))
    for _ in range(3):
        share(room)
    assert ["J1", "J5"] == room.do(reading(1)).entries[0].body["left"]["shares"]
    assert (["J2", "J3", "J4", "J6", "J7"], 2) == (list(room.book.fund_awards), room.book.gone_shares)
    room.do(PayShare(actor=SUPERVISOR, award="J4"))
    assert ["J3", "J4"] == room.do(reading(2)).entries[0].body["left"]["shares"]
    assert (["J2", "J6", "J7"], 4) == (list(room.book.fund_awards), room.book.gone_shares)
    assert "J8" == share(room)


@pytest.mark.usefixtures("few_at_hand")
def test_a_win_that_can_give_its_posting_back_stays() -> None:
    """Paid, and three wins of another fund paid after it: until the next POST it can be undone and posted again."""
    room = CardRoom(fund(), fund(name="P2"))
    first = share(room)
    others = [share(room, "P2") for _ in range(3)]
    assert others[:1] == room.do(reading(1)).entries[0].body["left"]["shares"]
    room.post()
    assert [first] == room.do(reading(2)).entries[0].body["left"]["shares"]


@pytest.mark.usefixtures("few_at_hand")
def test_shares_that_are_owed_take_no_place_of_those_that_are_settled() -> None:
    """Two wait for their players; the two last paid stay beside them."""
    room = CardRoom(fund())
    shares = [share(room, pay=number < 3) for number in range(5)]
    assert shares[:1] == room.do(reading(1)).entries[0].body["left"]["shares"]


@pytest.mark.usefixtures("few_at_hand")
def test_an_undone_win_stays_while_it_tells_a_pool_s_clock_and_no_longer() -> None:
    """Not where the pool has no cap, nor once a win after it that stands has left."""
    capped = pool(cap="10.00", at_cap="stop")
    room = CardRoom(fund(capped), fund(capped, name="P2"), fund(name="P3"), fund(name="P4"))
    before = [share(room, "P4") for _ in range(2)]
    over = undone(room, "P2")
    room.do(winning(name="P2"))
    over_by = next(reversed(room.book.fund_awards))
    room.do(PayShare(actor=SUPERVISOR, award=over_by))
    room.post("P2")
    clock = undone(room, "P1")
    uncapped = undone(room, "P3")
    last = [share(room, "P4") for _ in range(3)]
    left = room.do(reading(1)).entries[0].body["left"]["shares"]
    assert [*before, over, over_by, uncapped, last[0]] == left
    assert [clock, *last[1:]] == list(room.book.fund_awards)


def test_an_account_of_nothing_is_not_carried() -> None:
    """What was owed and is paid takes no room in a new volume."""
    house = Casino()
    award = handed(house, "royal-flush")
    assert 0 == house.book.balances[f"payable/{award}"]
    assert f"payable/{award}" not in carried(house.book)["balances"]


@dataclass(frozen=True)
class Slip:
    """A record as the book has them: one field that is always told, others where they are not at their default."""

    number: int
    seats: frozenset[int] = frozenset()
    sums: dict[str, int] = field(default_factory=dict)
    seen: frozenset[int] | None = None


@pytest.mark.parametrize(
    ("hint", "value", "told"),
    [
        (Slip, Slip(7), {"number": 7}),
        (
            Slip,
            Slip(7, frozenset({2, 1}), {"b": 1, "a": 2}, frozenset({3})),
            {"number": 7, "seats": [1, 2], "sums": [["b", 1], ["a", 2]], "seen": [3]},
        ),
        (frozenset[int] | None, None, None),
        (frozenset[int] | None, frozenset({2, 1}), [1, 2]),
        (tuple[int, frozenset[int]], (1, frozenset({3, 2})), [1, [2, 3]]),
        (tuple[frozenset[int], int, str], (frozenset({3, 2}), 1, "a"), [[2, 3], 1, "a"]),
        (tuple[frozenset[int], ...], (frozenset({2, 1}), frozenset[int]()), [[1, 2], []]),
        (tuple[int, ...], (3, 1, 2), [3, 1, 2]),
        (Sequence[Slip], (Slip(2), Slip(1)), [{"number": 2}, {"number": 1}]),
        (list[Slip], [Slip(2), Slip(1)], [{"number": 2}, {"number": 1}]),
        (list[int], [2, 1], [2, 1]),
        (dict[str, None], {"b": None, "a": None}, ["b", "a"]),
        (dict[str, Slip], {"b": Slip(1)}, [["b", {"number": 1}]]),
        (Mapping[str, int], {"b": 1, "a": 2}, [["a", 2], ["b", 1]]),
    ],
)
def test_a_value_is_written_short_and_comes_back_as_what_it_was(hint: Any, value: Any, told: Any) -> None:
    """Defaults are left out, sets are sorted, order is kept where it says something; a tuple stays a tuple."""
    write, read = codec(hint)
    assert told == write(value)
    again = read(told)
    assert value == again
    assert type(value) is type(again)


def test_an_older_row_reads_what_came_later_as_its_default() -> None:
    """An undone award of a ledger from before it was told what still owed it."""
    assert UndoOp("A1", "T1", (), paid=True) == codec(UndoOp).read(["A1", "T1", [], True])


def test_a_pair_of_three_is_not_cut_short() -> None:
    """What does not fit its type stops the writing."""
    with pytest.raises(ValueError, match="longer"):
        codec(tuple[int, str]).write((1, "a", "b"))


@pytest.mark.parametrize("hint", [complex, int | str, int | str | None, "int", float, tuple])
def test_a_type_without_a_plain_form_is_refused(hint: Any) -> None:
    """Rather than written as something that does not come back."""
    with pytest.raises(MisuseError, match="no plain form"):
        codec(hint)
