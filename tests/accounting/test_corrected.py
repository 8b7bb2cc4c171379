"""A claim keyed wrong and corrected is the claim keyed right, whatever lies between."""

from __future__ import annotations

from accounting_build import Casino
from hypothesis import given, settings
from hypothesis import strategies as st
from test_properties import HANDS, OTHERS, links, others

from meterd.accounting.settings import LinkSettings


@given(
    settings_=links(spills=False),
    before=OTHERS,
    between=OTHERS,
    wrong=st.sampled_from(HANDS[:-1]),
    right=st.sampled_from(HANDS[:-1]),
    seats=st.sampled_from([(1, 1), (1, 3), (2, 1)]),
)
@settings(max_examples=250)
def test_a_corrected_claim_is_a_claim_keyed_right(
    settings_: LinkSettings,
    before: list[tuple[str, int, int]],
    between: list[tuple[str, int, int]],
    wrong: str,
    right: str,
    seats: tuple[int, int],
) -> None:
    """Wrong hand and seat, anything on other tables, CORRECT: all money and all awards as if keyed right at once."""
    if (wrong, seats[0]) == (right, seats[1]):
        return
    keyed_wrong, keyed_right = Casino(settings_, tables=3), Casino(settings_, tables=3)
    for casino in (keyed_wrong, keyed_right):
        others(casino, before)
        casino.lock({1: 1, 2: 3, 3: 2})
        mine = casino.claim(seats[casino is keyed_right], right if casino is keyed_right else wrong)
        others(casino, between)
    keyed_wrong.correct(mine, right, seats[1])
    money = [{name: amount for name, amount in c.book.balances.items() if amount} for c in (keyed_right, keyed_wrong)]
    assert money[0] == money[1]
    for name, award in keyed_right.book.awards.items():
        corrected = keyed_wrong.book.awards[name]
        assert award.state_word == corrected.state_word
        if award.state_word != "voided":  # a voided award keeps the amount it had
            assert (award.amount_cents, award.parts) == (corrected.amount_cents, corrected.parts)
    assert keyed_right.book.links["nexus"].levels == keyed_wrong.book.links["nexus"].levels
