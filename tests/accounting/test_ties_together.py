"""Awards that share, when one of them goes: what completes a tie, and what must not."""

from __future__ import annotations

from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    ROYAL,
    SUPERVISOR,
    Casino,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)

from meterd.accounting.commands import Confirm, Hold, Undo, VoidRound
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings

BOTH = paytable(
    row("both", percent("100%", "a"), percent("100%", "b")),
    row("all-a", percent("100%", "a")),
    row("all-b", percent("100%", "b")),
    row("house", fixed("50")),
)


def split_both() -> Casino:
    return Casino(link(level("a", ties="split"), level("b", ties="split"), table=BOTH))


def test_one_void_completes_two_ties_and_both_stay_closed() -> None:
    """An award in the ties of two levels is voided: both ties are confirmed, and a later claim changes neither."""
    casino = split_both()
    casino.lock((1, 2, 3, 4, 5))
    both, first, second = casino.claim(1, "both"), casino.claim(2, "all-a"), casino.claim(3, "all-b")
    casino.confirm(first)
    casino.confirm(second)
    casino.void(both)
    late = [casino.claim(4, "all-a"), casino.claim(5, "all-b")]
    assert ["10,001.00", "10,001.00"] == [casino.amount(award) for award in (first, second)]
    assert ["confirmed", "confirmed"] == [casino.book.awards[award].state_word for award in (first, second)]
    assert ["5,000.50", "5,000.50"] == [casino.amount(award) for award in late]
    assert "-10,001.00" == casino.account("house/pays/T1")


def test_a_tie_is_not_completed_past_an_earlier_award() -> None:
    """The tie's first member is corrected away: the second, verified, now comes after another table's award."""
    casino = split_both()
    casino.lock((1, 2))
    casino.lock((1,), "T2")
    first, between, last = casino.claim(1, "all-a"), casino.claim(1, "all-a", "T2"), casino.claim(2, "all-a")
    casino.confirm(last)
    casino.correct(first, "all-b", by=OTHER)
    assert "pending" == casino.book.awards[last].state_word
    assert Refusal.EARLIER_AWARD_PENDING == casino.refuses(Confirm(actor=SUPERVISOR, award=last))
    casino.void(between)  # as if it had never been claimed: the correction would have completed the tie
    assert "confirmed" == casino.book.awards[last].state_word


def test_whatever_a_tie_waited_for_completes_it_when_confirmed() -> None:
    """Its first member is corrected away and confirmed: the second, verified, waits for nobody any more."""
    casino = split_both()
    casino.lock((1, 2))
    casino.lock((1,), "T2")
    first, between, last = casino.claim(1, "all-a"), casino.claim(1, "all-a", "T2"), casino.claim(2, "all-a")
    casino.confirm(last)
    casino.correct(first, "all-b", by=OTHER)
    casino.confirm(first)
    assert "pending" == casino.book.awards[last].state_word
    casino.confirm(between)
    assert ["confirmed", "confirmed"] == [casino.book.awards[award].state_word for award in (between, last)]
    assert casino.book.links["nexus"].marks["T1#1"].ties["a"].closed


def test_a_disputed_member_of_a_tie_is_unverified_until_it_is_confirmed_again() -> None:
    """Nothing that happens to another award confirms it; whoever disputes it may do so after it was verified."""
    casino = split_both()
    casino.lock((1, 2, 3))
    first, second, other = casino.claim(1, "all-a"), casino.claim(2, "all-a"), casino.claim(3, "all-b")
    casino.confirm(second)
    for award in (first, second, other):
        casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.correct(first, "house", by=OTHER)
    casino.confirm(first)
    casino.end()
    casino.void(other)
    assert ("held", None) == (casino.book.awards[second].state_word, casino.book.awards[second].verified_by)
    assert Refusal.ALREADY_DONE == casino.refuses(Hold(actor=SUPERVISOR, award=second))
    casino.confirm(second)
    assert "confirmed" == casino.book.awards[second].state_word


def test_a_tie_is_not_completed_where_the_amount_now_asks_for_two() -> None:
    """Half was confirmed by one; the whole, above the threshold, is not confirmed by a void of the other half."""
    casino = Casino(link(level(ties="split"), table=ROYAL), site=SiteSettings("test", cards_above_cents=600_000))
    casino.lock((1, 2, 3))
    first, second = casino.claim(1, "royal-flush"), casino.claim(2, "royal-flush")
    casino.confirm(first)
    casino.void(second)
    assert ("10,000.60", "pending") == (casino.amount(first), casino.book.awards[first].state_word)
    assert Refusal.SECOND_PERSON_REQUIRED == casino.refuses(Confirm(actor=SUPERVISOR, award=first))
    casino.do(Confirm(actor=SUPERVISOR, award=first, second=OTHER))
    assert "confirmed" == casino.book.awards[first].state_word


def test_void_round_counts_what_a_share_grows_to() -> None:
    """Two halves below the two-person threshold are one whole above it: VOID ROUND is no way around."""
    casino = Casino(link(level(ties="split"), table=ROYAL), site=SiteSettings("test", two_person_cents=600_000))
    casino.lock((1, 2))
    casino.claim(1, "royal-flush")
    casino.claim(2, "royal-flush")
    assert Refusal.SECOND_PERSON_REQUIRED == casino.refuses(VoidRound(actor=SUPERVISOR, table="T1"))


def test_undo_names_the_wrong_second_before_the_missing_reference() -> None:
    """NOT_AUTHORISED and SAME_PERSON come before SECOND_PERSON_REQUIRED."""
    casino = Casino()
    casino.lock()
    award = casino.claim(1, "royal-flush")
    casino.confirm(award)
    for second, why in ((ADMINISTRATOR, Refusal.SAME_PERSON), (DEALER, Refusal.NOT_AUTHORISED)):
        assert why == casino.refuses(Undo(actor=ADMINISTRATOR, award=award, second=second, reference=""))


def test_an_undone_award_of_two_parts_of_a_level_counts_one_hit_less() -> None:
    """A claim is one hit of a level however many of its parts pay from it, and so is its undo."""
    table = paytable(row("x", percent("100%"), fixed("5", from_meter=True)))
    casino = Casino(link(level(), table=table))
    casino.lock()
    award = casino.claim(1, "x")
    assert 1 == casino.book.links["nexus"].levels["main"].hits
    casino.confirm(award)
    casino.do(Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="R"))
    assert 0 == casino.book.links["nexus"].levels["main"].hits


def test_confirmed_shares_of_another_table_stand_when_an_earlier_hand_is_corrected() -> None:
    """A1 is corrected onto a level that a tie of T2 has won and had confirmed: the house funds what is missing."""
    casino = split_both()
    casino.lock((1, 2, 3))
    casino.lock((1, 2, 3), "T2")
    wrong, *pair = casino.claim(1, "all-b"), casino.claim(1, "all-a", "T2"), casino.claim(2, "all-a", "T2")
    for award in pair:
        casino.confirm(award)
    casino.pay(pair[0])
    casino.correct(wrong, "all-a", by=OTHER)
    assert ["5,000.60", "5,000.60"] == [casino.amount(award) for award in pair]
    assert ("0.00", "5,000.60") == tuple(casino.account(f"payable/{award}") for award in pair)
    # A1 has the meter; the tie has the next one, seed and reserve, and nothing more is in it
    assert "10,001.20" == casino.amount(wrong)
    assert ("-0.96", "10,000.00") == (casino.account("house/pays/T2"), casino.display("nexus/a"))
    casino.void(wrong)
    assert ("0.00", "10,000.24") == (casino.account("house/pays/T2"), casino.display("nexus/a"))
    assert "5,000.60" == casino.account(f"payable/{pair[1]}")


def test_a_hand_corrected_into_a_confirmed_tie_comes_after_it() -> None:
    """Seat 1's hand turns out to be a royal too, after seat 2's was confirmed: the house pays it half, seat 2 keeps."""
    casino = Casino(link(level(ties="split"), table=ROYAL))
    casino.lock((1, 2, 3))
    wrong, right = casino.claim(1, "fixed-fifty"), casino.claim(2, "royal-flush")
    casino.confirm(right)
    casino.pay(right)
    casino.correct(wrong, "royal-flush", by=OTHER)
    assert ["5,000.30", "10,000.60"] == [casino.amount(award) for award in (wrong, right)]
    assert ("-5,000.30", "0.00") == (casino.account("house/pays/T1"), casino.account(f"payable/{right}"))
    third = casino.claim(3, "royal-flush")
    assert ["5,000.30", "3,333.53"] == [casino.amount(award) for award in (wrong, third)]
    casino.void(wrong)
    assert ["10,000.60", "5,000.30"] == [casino.amount(award) for award in (right, third)]


def test_void_round_confirms_nothing_on_its_way() -> None:
    """A verified and an unverified member are both voided: the first is not confirmed between the two voids."""
    casino = Casino(link(level(ties="split"), table=ROYAL))
    casino.lock((1, 2))
    first, _ = casino.claim(1, "royal-flush"), casino.claim(2, "royal-flush")
    casino.confirm(first)
    decision = casino.do(VoidRound(actor=SUPERVISOR, table="T1"))
    assert ["Voided", "Revalued", "Voided", "WagerVoided"] == [entry.kind.value for entry in decision.entries]


def test_a_tie_of_another_seat_is_still_completed_by_void_seat() -> None:
    """The unverified member's wager goes back: what is left of the tie is verified, and so confirmed."""
    casino = Casino(link(level(ties="split"), table=ROYAL))
    casino.lock((1, 2))
    first, _ = casino.claim(1, "royal-flush"), casino.claim(2, "royal-flush")
    casino.confirm(first)
    casino.void_seat(2)
    assert ("confirmed", "10,000.40") == (casino.book.awards[first].state_word, casino.amount(first))


def test_a_mate_verified_before_waits_for_a_hand_corrected_since() -> None:
    """A1 is corrected onto a level of A2, which was verified and waits for A3: A3 cannot take A2 along past A1."""
    casino = split_both()
    casino.lock((1, 2))
    casino.lock((1,), "T2")
    early = casino.claim(1, "house", "T2")
    both, single = casino.claim(1, "both"), casino.claim(2, "all-a")
    casino.confirm(both)
    casino.correct(early, "all-b", by=OTHER)
    assert Refusal.EARLIER_AWARD_PENDING == casino.refuses(Confirm(actor=SUPERVISOR, award=single))
    casino.confirm(early)
    casino.confirm(single)
    assert ["confirmed"] * 3 == [casino.book.awards[award].state_word for award in (early, both, single)]


def test_what_a_sign_raised_a_tie_to_stays_when_the_past_is_told_again() -> None:
    """A3's sign raised the tie to 5.55, confirmed; A2 between them is voided: a late claim is still a third of 5.55."""
    casino = Casino(link(level(seed="5.00", increment="0%", reserve=None, ties="split"), table=ROYAL))
    casino.lock((1, 2, 3, 4))
    first, between = casino.claim(1, "royal-flush"), casino.claim(2, "fixed-fifty")
    second = casino.claim(3, "royal-flush", signs={"main": 555})
    casino.confirm(first)
    casino.confirm(second)
    casino.void(between)
    assert ["2.78", "2.77", "1.85"] == [casino.amount(name) for name in (first, second, casino.claim(4, "royal-flush"))]


def test_the_second_person_of_a_grown_share_is_asked_for_whoever_is_confirmed_last() -> None:
    """A1 was verified by one as a third; as a half, above the threshold, it is not confirmed by A3's CONFIRM."""
    casino = Casino(link(level(ties="split"), table=ROYAL), site=SiteSettings("test", cards_above_cents=400_000))
    casino.lock((1, 2, 3))
    first, gone, last = (casino.claim(seat, "royal-flush") for seat in (1, 2, 3))
    casino.confirm(first)
    casino.void(gone)
    casino.do(Confirm(actor=SUPERVISOR, award=last, second=OTHER))
    assert ["pending", "pending"] == [casino.book.awards[award].state_word for award in (first, last)]
    assert Refusal.ALREADY_DONE == casino.refuses(Confirm(actor=SUPERVISOR, award=last, second=OTHER))
    assert Refusal.SECOND_PERSON_REQUIRED == casino.refuses(Confirm(actor=SUPERVISOR, award=first))
    casino.do(Confirm(actor=SUPERVISOR, award=first, second=OTHER))
    assert ["confirmed", "confirmed"] == [casino.book.awards[award].state_word for award in (first, last)]


def test_a_share_proved_from_the_start_is_confirmed_when_it_grows() -> None:
    """Two people verified a half: the whole, which needs two, is confirmed by the void of the other half."""
    casino = Casino(link(level(ties="split"), table=ROYAL), site=SiteSettings("test", cards_above_cents=600_000))
    casino.lock((1, 2))
    first, second = casino.claim(1, "royal-flush"), casino.claim(2, "royal-flush")
    casino.do(Confirm(actor=SUPERVISOR, award=first, second=OTHER))
    casino.void(second)
    assert ("10,000.40", "confirmed") == (casino.amount(first), casino.book.awards[first].state_word)


def test_what_was_shown_of_a_hand_is_not_shown_of_the_hand_that_it_is_corrected_to() -> None:
    """A correction keys the hand anew: the proof starts anew with it."""
    casino = split_both()
    casino.lock((1, 2))
    first, _ = casino.claim(1, "all-a"), casino.claim(2, "all-a")
    casino.do(Confirm(actor=SUPERVISOR, award=first, second=OTHER))
    assert frozenset({"second"}) == casino.book.awards[first].shown
    casino.correct(first, "both", by=OTHER)
    assert (None, frozenset()) == (casino.book.awards[first].verified_by, casino.book.awards[first].shown)


def test_two_ties_of_two_tables_on_the_same_two_levels_do_not_wait_for_each_other() -> None:
    """Each tie has one member on both levels: the tie that began first is confirmed, then the other."""
    casino = split_both()
    casino.lock((1, 2))
    casino.lock((1, 2), "T2")
    first, second = casino.claim(1, "all-a"), casino.claim(1, "all-b", "T2")
    third, fourth = casino.claim(2, "both"), casino.claim(2, "both", "T2")
    casino.confirm(first)
    assert Refusal.EARLIER_AWARD_PENDING == casino.refuses(Confirm(actor=SUPERVISOR, award=fourth))
    casino.confirm(third)
    casino.confirm(second)
    casino.confirm(fourth)
    assert ["confirmed"] * 4 == [award.state_word for award in casino.book.awards.values()]
