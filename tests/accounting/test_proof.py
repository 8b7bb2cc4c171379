"""What a large award is proved by where no cards make its hand: the numbers of its round, or a second person (M5)."""

from __future__ import annotations

from accounting_build import DEALER, OTHER, SUPERVISOR, Casino, level, link, paytable, percent, row

from meterd.accounting.commands import Confirm, Hold
from meterd.accounting.commands_streak import ClaimBoard, Number
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings
from meterd.paytables.model import Pay, PayKind

UP = paytable(
    row("streak-3", percent("100%")),
    row("streak-2", Pay(PayKind.ODDS_FOR, n=25)),
    row("streak-1", Pay(PayKind.LOSS)),
    evaluator="rising-streak",
    common_outcome=True,
)
WAGERS = paytable(row("any", percent("100%")), evaluator="wagers")
LARGE = SiteSettings("test", cards_above_cents=100_000)


def wheel() -> Casino:
    """A meter of $10,000 to be won by three numbers in a row."""
    casino = Casino(link(level(ties="split"), table=UP), site=LARGE)
    casino.lock((1, 2))
    return casino


def test_the_numbers_in_the_ledger_are_the_proof_also_after_end_game() -> None:
    """A disputed award is confirmed in a later round by a supervisor alone: its own round's numbers prove it."""
    casino = wheel()
    for number in ("1", "2", "3"):
        casino.do(Number(actor=DEALER, table="T1", number=number))
    for award in ("A1", "A2"):
        casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.end()
    casino.lock((1, 2))
    casino.confirm("A1")
    casino.confirm("A2")
    assert ["confirmed", "confirmed"] == [award.state_word for award in casino.book.awards.values()]
    assert Refusal.AWARD_NOT_PENDING is casino.refuses(Confirm(actor=SUPERVISOR, award="A1"))


def test_a_streak_kept_on_the_layout_needs_two() -> None:
    """No number stands in the ledger: nothing proves the hand but another person."""
    casino = wheel()
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="streak-3"))
    assert Refusal.SECOND_PERSON_REQUIRED is casino.refuses(Confirm(actor=SUPERVISOR, award="A1"))
    for award in ("A1", "A2"):
        casino.do(Confirm(actor=SUPERVISOR, award=award, second=OTHER))
    assert ["confirmed", "confirmed"] == [award.state_word for award in casino.book.awards.values()]


def test_one_of_a_list_of_wagers_needs_two() -> None:
    """The core ranks no cards for it, though the table names an evaluator."""
    casino = Casino(link(level(ties="split"), table=WAGERS), site=LARGE)
    casino.lock((1, 2))
    award = casino.claim(1, "any")
    assert Refusal.SECOND_PERSON_REQUIRED is casino.refuses(Confirm(actor=SUPERVISOR, award=award))
    casino.do(Confirm(actor=SUPERVISOR, award=award, second=OTHER))
    assert "confirmed" == casino.book.awards[award].state_word
