"""What is refused and why, who may do what, and what devices and restarts do to tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    SUPERVISOR,
    THREE,
    Casino,
    event,
    level,
    link,
    percent,
    row,
)
from accounting_build import paytable as printed

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    CloseTable,
    Command,
    Confirm,
    Correct,
    CreateLedger,
    DefineTable,
    EndGame,
    Event,
    Fold,
    Hold,
    LateBet,
    Lock,
    Note,
    OpenTable,
    Pay,
    Role,
    SetSite,
    TrustDevice,
    Undo,
    Void,
    VoidRound,
    VoidSeat,
    WagerSeen,
)
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import decide
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.accounting.state import TableStatus
from meterd.edge.files import paytable
from meterd.errors import MisuseError


def claim(seat: int = 1, hand: str = "royal-flush", table: str = "T1", actor: Actor = DEALER) -> Claim:
    return Claim(actor=actor, table=table, seat=seat, hand=hand)


def test_claims_are_refused_in_order_of_precedence() -> None:
    """From the table to the hand, the first that holds is the answer."""
    casino = Casino()
    accountant = claim(actor=ACCOUNTANT, table="T9")
    assert casino.refuses(accountant) is Refusal.NOT_AUTHORISED
    assert casino.refuses(claim(table="T9")) is Refusal.TABLE_UNKNOWN
    assert casino.refuses(claim(9)) is Refusal.TABLE_NOT_LOCKED
    casino.lock((1, 2))
    assert casino.refuses(claim(9, "no-such")) is Refusal.SEAT_UNKNOWN
    assert casino.refuses(claim(5, "no-such")) is Refusal.SEAT_HAS_NO_WAGER
    assert casino.refuses(claim(1, "no-such")) is Refusal.HAND_NOT_IN_PAYTABLE
    assert casino.refuses(claim(1, "nothing")) is Refusal.HAND_NOT_IN_PAYTABLE
    casino.claim(1, "royal-flush")
    assert casino.refuses(claim(1, "no-such")) is Refusal.SEAT_ALREADY_CLAIMED
    casino.void("A1")
    casino.end()
    assert casino.refuses(claim(9)) is Refusal.ROUND_CLOSED
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason="device_lost"))
    assert casino.refuses(claim(9)) is Refusal.TABLE_CLOSED


def test_a_folded_hand_is_dead_where_the_table_says_so() -> None:
    """SEAT_FOLDED at one table, an award at the other."""
    casino = Casino()
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T3", "nexus", "Test", 7, folded_live=False)))
    casino.do(OpenTable(actor=SYSTEM, table="T3"))
    for table in ("T1", "T3"):
        casino.lock((1,), table)
        casino.do(Fold(actor=DEALER, table=table, seat=1))
    assert casino.refuses(claim(table="T3")) is Refusal.SEAT_FOLDED
    assert casino.claim(1, "royal-flush") == "A1"
    assert casino.refuses(Fold(actor=DEALER, table="T1", seat=1)) is Refusal.SEAT_FOLDED


def test_a_refusal_takes_no_award_number() -> None:
    """The next accepted claim is A1."""
    casino = Casino()
    casino.lock((1,))
    casino.refuses(claim(3))
    assert casino.claim(1, "push") == "A1"


def test_the_digit_form_of_a_hand_is_accepted() -> None:
    """4-of-a-kind is four-of-a-kind."""
    casino = Casino(link(level("mega"), level("major"), level("minor"), table=THREE))
    casino.lock((1,))
    assert casino.book.awards[casino.claim(1, "4-of-a-kind")].hand == "four-of-a-kind"


def test_a_claim_by_what_a_hand_is_also_called_is_stored_under_its_key() -> None:
    """A claim, a correction and the entry know one key; the other name of the hand it has already is no correction."""
    called = printed(
        replace(row("royal-flush-pays", percent("100%")), also="royal-flush"),
        replace(row("straight-flush-pays", percent("10%")), also="straight-flush"),
    )
    casino = Casino(link(level("main"), table=called))
    casino.lock((1, 2))
    decision = casino.do(claim(1, "Straight-Flush"))
    assert "straight-flush-pays" == decision.entries[0].body["hand"]
    assert "straight-flush-pays" == casino.book.awards["A1"].hand
    assert Refusal.ALREADY_DONE is casino.refuses(Correct(actor=SUPERVISOR, award="A1", hand="straight-flush"))
    casino.correct("A1", hand="royal-flush")
    assert "royal-flush-pays" == casino.book.awards["A1"].hand
    casino.confirm("A1", by=OTHER)
    assert Refusal.HAND_NOT_IN_PAYTABLE is casino.refuses(claim(2, ""))


def test_confirm_needs_a_supervisor_who_did_not_key() -> None:
    """Neither the keyer nor a corrector confirms; a dealer never does."""
    casino = Casino()
    casino.lock((1,))
    casino.do(claim(hand="straight-flush", actor=SUPERVISOR))
    assert casino.refuses(Confirm(actor=DEALER, award="A1")) is Refusal.NOT_AUTHORISED
    assert casino.refuses(Confirm(actor=SUPERVISOR, award="A1")) is Refusal.SAME_PERSON
    casino.correct("A1", "royal-flush", by=OTHER)
    assert casino.refuses(Confirm(actor=OTHER, award="A1")) is Refusal.SAME_PERSON
    third = Actor("sup-3", Role.SUPERVISOR)
    casino.confirm("A1", third)
    assert casino.refuses(Confirm(actor=third, award="A1")) is Refusal.AWARD_NOT_PENDING
    assert casino.refuses(Confirm(actor=third, award="A2")) is Refusal.AWARD_UNKNOWN


def test_a_small_fixed_award_confirms_itself() -> None:
    """Below the threshold and without a share of a meter; at the threshold it waits."""
    casino = Casino(site=SiteSettings("test", confirm_above_cents=600))
    casino.lock((1, 2, 3))
    assert casino.book.awards[casino.claim(1, "five-for-one")].state_word == "confirmed"
    assert casino.book.awards[casino.claim(2, "five-to-one")].state_word == "pending"
    assert casino.book.awards[casino.claim(3, "straight-flush")].state_word == "pending"
    assert casino.book.links["nexus"].journal is not None
    casino.confirm("A2")
    casino.confirm("A3")
    assert casino.book.links["nexus"].journal is None


def test_a_share_waits_for_earlier_awards_of_its_level_over_all_tables() -> None:
    """EARLIER_AWARD_PENDING for a later share, also on another table and behind a held one; not for a fixed pay."""
    casino = Casino()
    casino.lock((1, 2), "T1")
    casino.lock((1,), "T2")
    first = casino.claim(1, "straight-flush")
    fixed = casino.claim(2, "push")
    later = casino.claim(1, "royal-flush", "T2")
    casino.do(Hold(actor=SUPERVISOR, award=first))
    assert casino.refuses(Confirm(actor=SUPERVISOR, award=later)) is Refusal.EARLIER_AWARD_PENDING
    casino.confirm(fixed)
    casino.confirm(first)
    casino.confirm(later)


def test_large_awards_need_cards_or_a_second_person() -> None:
    """A table without an evaluator asks for a second person from the cards threshold up."""
    casino = Casino(site=SiteSettings("test", cards_above_cents=1_000_000, two_person_cents=1_000_000))
    casino.lock((1,))
    award = casino.claim(1, "royal-flush")
    assert casino.refuses(Confirm(actor=SUPERVISOR, award=award)) is Refusal.SECOND_PERSON_REQUIRED
    assert casino.refuses(Confirm(actor=SUPERVISOR, award=award, second=SUPERVISOR)) is Refusal.SAME_PERSON
    assert casino.refuses(Confirm(actor=SUPERVISOR, award=award, second=DEALER)) is Refusal.NOT_AUTHORISED
    assert casino.refuses(Void(actor=SUPERVISOR, award=award, reason="x")) is Refusal.SECOND_PERSON_REQUIRED
    assert casino.refuses(VoidRound(actor=SUPERVISOR, table="T1")) is Refusal.SECOND_PERSON_REQUIRED
    casino.do(Confirm(actor=SUPERVISOR, award=award, second=ADMINISTRATOR))


def test_a_void_takes_two_people_by_the_most_an_award_ever_had() -> None:
    """Half of a tie and then corrected to a small hand: it was all of the meter once."""
    casino = Casino(link(level(ties="split")), site=SiteSettings("test", two_person_cents=600_000))
    casino.lock((1, 2))
    award = casino.claim(1, "royal-flush")
    casino.claim(2, "royal-flush")
    assert casino.book.awards[award].amount_cents < 600_000 < casino.book.awards[award].highest_cents
    void = Void(actor=SUPERVISOR, award=award, reason="x")
    assert Refusal.SECOND_PERSON_REQUIRED == casino.refuses(void)
    casino.correct(award, "push")
    assert Refusal.SECOND_PERSON_REQUIRED == casino.refuses(void)
    assert casino.folded().awards == casino.book.awards
    casino.do(Void(actor=SUPERVISOR, award=award, reason="x", second=ADMINISTRATOR))
    casino.do(VoidSeat(actor=DEALER, table="T1", seat=1))


def test_a_dealer_gives_a_wager_back_and_voids_no_award_by_it() -> None:
    """NOT_AUTHORISED while one is pending on the seat or in the round."""
    casino = Casino()
    casino.lock((1, 2))
    casino.claim(1, "royal-flush")
    for command in (VoidSeat(actor=DEALER, table="T1", seat=1), VoidRound(actor=DEALER, table="T1")):
        assert Refusal.NOT_AUTHORISED == casino.refuses(command)
    casino.do(VoidSeat(actor=DEALER, table="T1", seat=2))
    casino.do(VoidSeat(actor=SUPERVISOR, table="T1", seat=1))


def test_only_pending_awards_are_voided_held_or_corrected() -> None:
    """After confirmation: AWARD_NOT_PENDING; its seat and round cannot be voided either."""
    casino = Casino()
    casino.lock((1, 2))
    award = casino.claim(1, "royal-flush")
    assert casino.refuses(EndGame(actor=DEALER, table="T1")) is Refusal.ROUND_HAS_OPEN_AWARD
    assert casino.refuses(Pay(actor=DEALER, award=award)) is Refusal.AWARD_NOT_PENDING
    casino.confirm(award)
    for command in (
        Void(actor=SUPERVISOR, award=award, reason="x"),
        Hold(actor=SUPERVISOR, award=award),
        Correct(actor=SUPERVISOR, award=award, hand="push"),
    ):
        assert casino.refuses(command) is Refusal.AWARD_NOT_PENDING
    assert casino.refuses(VoidSeat(actor=SUPERVISOR, table="T1", seat=1)) is Refusal.ROUND_HAS_CONFIRMED_AWARD
    assert casino.refuses(VoidRound(actor=SUPERVISOR, table="T1")) is Refusal.ROUND_HAS_CONFIRMED_AWARD
    casino.void_seat(2)
    casino.pay(award)
    assert casino.refuses(Pay(actor=DEALER, award=award)) is Refusal.AWARD_NOT_PENDING


def test_an_undo_takes_two_people_and_a_reference() -> None:
    """One person, the same person twice, or no reference: refused."""
    casino = Casino()
    casino.lock((1,))
    award = casino.claim(1, "royal-flush")

    def undo(second: Actor | None, reference: str = "R-1", actor: Actor = ADMINISTRATOR) -> Undo:
        return Undo(actor=actor, award=award, second=second, reference=reference)

    assert casino.refuses(undo(ACCOUNTANT)) is Refusal.AWARD_NOT_PENDING
    casino.confirm(award)
    assert casino.refuses(undo(None)) is Refusal.SECOND_PERSON_REQUIRED
    assert casino.refuses(undo(ACCOUNTANT, " ")) is Refusal.SECOND_PERSON_REQUIRED
    assert casino.refuses(undo(ADMINISTRATOR)) is Refusal.SAME_PERSON
    assert casino.refuses(undo(ACCOUNTANT, actor=DEALER)) is Refusal.NOT_AUTHORISED
    casino.do(undo(ACCOUNTANT))
    assert casino.book.awards[award].state_word == "voided"
    assert casino.claim(1, "push") == "A2"


def test_a_supervisor_ends_a_round_with_much_envy() -> None:
    """Above the threshold the dealer is not authorised."""
    casino = Casino(site=SiteSettings("test", envy_confirm_above_cents=99_999))
    casino.lock((1, 2))
    casino.confirm(casino.claim(1, "royal-flush"))
    assert casino.refuses(EndGame(actor=DEALER, table="T1")) is Refusal.NOT_AUTHORISED
    casino.do(EndGame(actor=SUPERVISOR, table="T1"))


def test_a_bad_wager_is_refused_alone() -> None:
    """Two on one seat, a seat the table lacks, too many units, no base wager: an entry each, the LOCK stands."""
    casino = Casino()
    seen = (WagerSeen(1), WagerSeen(2), WagerSeen(2), WagerSeen(8), WagerSeen(3, 6), WagerSeen(4, base=False))
    decision = casino.do(Lock(actor=DEALER, table="T1", wagers=seen))
    assert list(casino.book.tables["T1"].wagers) == [1]
    kinds = [entry.kind for entry in decision.entries]
    assert kinds == [Kind.LOCKED, *[Kind.UNREASONABLE] * 4, Kind.REFUSED]
    assert [entry.body["refusal"] for entry in decision.entries[1:]] == [
        *["UNREASONABLE_CONTRIBUTION"] * 4,
        "NO_BASE_WAGER",
    ]


def test_a_wager_without_its_base_is_told_so_before_anything_else() -> None:
    """NO_BASE_WAGER precedes UNREASONABLE_CONTRIBUTION where a wager is both."""
    casino = Casino()
    decision = casino.do(Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1, 6, base=False), WagerSeen(2))))
    assert [2] == list(casino.book.tables["T1"].wagers)
    assert ["NO_BASE_WAGER"] == [entry.body["refusal"] for entry in decision.entries[1:]]


def test_an_empty_lock_is_a_round_without_wagers() -> None:
    """LOCKED without postings; END GAME opens again."""
    casino = Casino()
    casino.lock(())
    assert casino.entries[-1].postings == ()
    assert casino.book.tables["T1"].state is TableStatus.LOCKED
    assert casino.refuses(VoidRound(actor=SUPERVISOR, table="T1")) is Refusal.SEAT_HAS_NO_WAGER
    assert casino.refuses(Lock(actor=DEALER, table="T1", wagers=())) is Refusal.ALREADY_DONE
    casino.end()
    assert casino.refuses(EndGame(actor=DEALER, table="T1")) is Refusal.TABLE_NOT_LOCKED


def test_late_bets_move_no_money() -> None:
    """Noted while LOCKED, refused while OPEN."""
    casino = Casino()
    late = LateBet(actor=SYSTEM, table="T1", seat=3, ms_min=10, ms_max=110)
    assert casino.refuses(late) is Refusal.TABLE_NOT_LOCKED
    casino.lock((1,))
    casino.do(late)
    assert casino.book.tables["T1"].late == 1
    assert casino.entries[-1].postings == ()


# device events


def test_no_event_counts_twice() -> None:
    """A repeated LOCK is ALREADY_DONE without an entry; a chip counted before is refused alone."""
    casino = Casino()
    chip = event(5, "pit-1/40/di1")
    lock = Lock(actor=DEALER, table="T1", event=event(9, "pit-1/40/di0"), wagers=(WagerSeen(1, event=chip),))
    casino.do(lock)
    assert casino.entries[-1].event_id == "pit-1/40/di0:1:9"
    assert casino.book.tables["T1"].lock_event == "pit-1/40/di0:1:9"
    again = casino.decide(lock)
    assert (again.entries, again.refusal is not None) == ((), True)
    casino.end()
    assert casino.decide(lock).entries == ()
    later = Lock(
        actor=DEALER, table="T1", event=event(10, "pit-1/40/di0"), wagers=(WagerSeen(1, event=chip), WagerSeen(2))
    )
    decision = casino.do(later)
    assert list(casino.book.tables["T1"].wagers) == [2]
    assert decision.entries[1].kind is Kind.UNREASONABLE


def test_a_refused_key_is_marked_too() -> None:
    """The same press of a refused key gets no second entry."""
    casino = Casino()
    press = Claim(actor=DEALER, table="T1", seat=1, hand="push", event=event(3))
    assert casino.refuses(press) is Refusal.TABLE_NOT_LOCKED
    assert casino.decide(press).entries == ()


def test_trusting_a_device_again() -> None:
    """A new epoch and baseline; what moved is one MissedWhileAway; OPEN closes until END GAME, LOCKED stays."""
    casino = Casino()

    def trust(**counts: int) -> TrustDevice:
        named = {f"pit-1/40/{name}": count for name, count in counts.items()}
        return TrustDevice(actor=SYSTEM, device="pit-1/40", tables=("T1",), counts=named, modulus=65_536)

    book = casino.book
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason="stopped"))
    first = casino.do(trust(di0=7, di1=9))
    assert [entry.kind for entry in first.entries] == [Kind.DEVICE_TRUSTED]
    assert tuple(book.devices["pit-1/40/di0"]) == (1, 7)
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    second = casino.do(trust(di0=7, di1=11))
    kinds = [entry.kind for entry in second.entries]
    assert kinds == [Kind.DEVICE_TRUSTED, Kind.MISSED_WHILE_AWAY, Kind.TABLE_CLOSED]
    assert second.entries[1].body["inputs"] == {"pit-1/40/di1": {"before": 9, "now": 11}}
    assert tuple(book.devices["pit-1/40/di1"]) == (2, 11)
    assert casino.refuses(OpenTable(actor=SYSTEM, table="T1")) is Refusal.TABLE_CLOSED
    old = Lock(actor=DEALER, table="T1", event=Event("pit-1/40/di0", 1, 8), wagers=())
    assert casino.decide(old).entries == ()
    casino.end()
    assert book.tables["T1"].state is TableStatus.OPEN
    casino.lock((1,))
    casino.do(trust(di0=8, di1=11))
    assert book.tables["T1"].state is TableStatus.LOCKED


def test_a_crash_closes_open_tables_only() -> None:
    """Started: OPEN → CLOSED until END GAME; LOCKED stays LOCKED with its wagers; CLOSED stays as it was."""
    casino = Casino(tables=3)
    casino.lock((1, 2), "T2")
    casino.do(CloseTable(actor=SYSTEM, table="T3", reason="stopped"))
    casino.do(Note(actor=SYSTEM, kind=Kind.STARTED, facts={"boot": "x"}))
    tables = casino.book.tables
    assert (tables["T1"].state, tables["T1"].closed_reason, tables["T1"].needs_end_game) == (
        TableStatus.CLOSED,
        "crash",
        True,
    )
    assert list(tables["T2"].wagers) == [1, 2]
    assert tables["T2"].state is TableStatus.LOCKED
    assert not tables["T3"].needs_end_game
    casino.do(OpenTable(actor=SYSTEM, table="T3"))
    casino.end("T1")
    assert tables["T1"].state is TableStatus.OPEN


@pytest.mark.parametrize(("reason", "needs_end_game"), [("device_lost", True), ("overrun", True), ("stopped", False)])
def test_reasons_for_closing(reason: str, *, needs_end_game: bool) -> None:
    """A doubt about what lies on the sensors asks for END GAME; a clean stop does not."""
    casino = Casino()
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason=reason))
    assert casino.book.tables["T1"].needs_end_game is needs_end_game
    assert casino.refuses(Lock(actor=DEALER, table="T1", wagers=())) is Refusal.TABLE_CLOSED
    assert casino.refuses(CloseTable(actor=SYSTEM, table="T1", reason="stopped")) is Refusal.ALREADY_DONE
    if not needs_end_game:
        assert casino.refuses(EndGame(actor=DEALER, table="T1")) is Refusal.TABLE_CLOSED


def test_a_locked_table_notes_the_reason_and_stays_locked() -> None:
    """The round can be finished when the device is back."""
    casino = Casino()
    casino.lock((1,))
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason="device_lost"))
    table = casino.book.tables["T1"]
    assert (table.state, table.closed_reason) == (TableStatus.LOCKED, "device_lost")
    casino.claim(1, "push")


# parameters


def test_a_ledger_is_created_once_and_settings_enter_once() -> None:
    """The first entry carries site, currency and demo; the same settings again are ALREADY_DONE."""
    book = Book()
    created = decide(book, CreateLedger(actor=SYSTEM, site="riverside", currency="USD", demo=True))
    book.apply(1, "t", created.entries[0])
    assert (book.site_id, book.currency, book.demo) == ("riverside", "USD", True)
    casino = Casino()
    same: tuple[Command, ...] = (
        CreateLedger(actor=SYSTEM, site="x", currency="USD", demo=False),
        SetSite(actor=SYSTEM, settings=SiteSettings("test")),
    )
    for command in same:
        assert casino.refuses(command) is Refusal.ALREADY_DONE


def test_links_that_cannot_be_are_misuse() -> None:
    """A row paying from a level the link lacks, a limit without overflow, overflow in a circle."""
    for wrong in (
        link(level("a"), level("b")),
        link(level(limit="20000")),
        link(level(limit="20000", overflow="level:main")),
        link(level(limit="20000", overflow="level:other")),
    ):
        with pytest.raises(MisuseError):
            Casino(wrong)


def test_only_facts_are_notes() -> None:
    """Nobody writes an award by a note."""
    with pytest.raises(MisuseError):
        Casino().do(Note(actor=SYSTEM, kind=Kind.CLAIMED))


def test_cards_are_ranked_where_the_table_can() -> None:
    """A claim by cards finds its row; a confirmation with other cards is refused, with none above the threshold too."""
    table = paytable("co/nexus/pmg-ml-02")
    levels = tuple(level(name, ties="sequential") for name in table.levels)
    casino = Casino(link(*levels, table=table), site=SiteSettings("test", cards_above_cents=1))
    casino.lock((1, 2))
    royal = {"cards": "As Ks Qs", "community": "Js Ts"}
    casino.do(Claim(actor=DEALER, table="T1", seat=1, cards=royal))
    assert casino.book.awards["A1"].hand == "royal-flush"
    confirm = {"actor": SUPERVISOR, "award": "A1"}
    assert casino.refuses(Confirm(**confirm)) is Refusal.CARDS_DISAGREE
    assert (
        casino.refuses(Confirm(**confirm, cards={"cards": "9s Ks Qs", "community": "Js Ts"})) is Refusal.CARDS_DISAGREE
    )
    assert casino.refuses(Confirm(**confirm, cards={"cards": "no cards"})) is Refusal.CARDS_DISAGREE
    casino.do(Confirm(**confirm, cards=royal))
    nothing = Claim(actor=DEALER, table="T1", seat=2, cards={"cards": "2s 7d 9h", "community": "Jc Kd"})
    assert casino.refuses(nothing) is Refusal.HAND_NOT_IN_PAYTABLE
