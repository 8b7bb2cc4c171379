"""Pays as short text."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from meterd.paytables.model import Pay, PayKind
from meterd.paytables.pays import FORMS, parse_pay, pay_text

PAYS = [
    ("100% meter", Pay(PayKind.METER_PERCENT, percent_ppm=1_000_000)),
    ("10% mega", Pay(PayKind.METER_PERCENT, percent_ppm=100_000, level="mega")),
    ("2.375% meter", Pay(PayKind.METER_PERCENT, percent_ppm=23_750)),
    ("500 for 1", Pay(PayKind.ODDS_FOR, n=500)),
    ("3,000 for 1", Pay(PayKind.ODDS_FOR, n=3_000)),
    ("250 to 1", Pay(PayKind.ODDS_TO, n=250)),
    ("3 to 2", Pay(PayKind.ODDS_TO, n=3, d=2)),
    ("2.5 to 1", Pay(PayKind.ODDS_TO, n=5, d=2)),
    ("$2,500 from meter", Pay(PayKind.FIXED, cents=250_000, from_meter=True)),
    ("$100 from mega", Pay(PayKind.FIXED, cents=10_000, from_meter=True, level="mega")),
    ("$10", Pay(PayKind.FIXED, cents=1_000)),
    ("$1,000 unscaled", Pay(PayKind.FIXED, cents=100_000, scales=False)),
    ("push", Pay(PayKind.PUSH)),
    ("loss", Pay(PayKind.LOSS)),
]


@pytest.mark.parametrize(("text", "expected"), PAYS)
def test_each_form_reads_as_one_pay(text: str, expected: Pay) -> None:
    """Shares in ppm, sums in cents, odds as whole ratios."""
    assert expected == parse_pay(text)


def test_the_forms_named_in_the_message_are_forms() -> None:
    """An error teaches only what works."""
    for text in FORMS:
        parse_pay(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "100%", "101% meter", "0% meter", "500 for", "5 to 0", "0 for 1", "$0", "$1.234", "$ 5", "from meter"),
        *(
            "5,00 for 1",
            "1,2,3 to 1",
            ",, for 1",
            "1,000,00 for 1",
            "$1,00",
            "$10,0 from meter",
            ",500 for 1",
            "5, to 1",
        ),
        *("Loss", "500", "1e3 for 1", "5% of meter", "\u0665 for 1", "1.00001% meter"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """No form, no pay: nothing is guessed, rounded or read as nothing."""
    with pytest.raises(ValueError, match=r"."):
        parse_pay(text)


@pytest.mark.parametrize(("text", "pay"), PAYS)
def test_a_pay_survives_its_json_form(text: str, pay: Pay) -> None:
    """A ledger keeps pay tables as JSON, so every form comes back as it was; numbers that are not whole are text."""
    form = json.loads(json.dumps(pay.to_json()))
    assert parse_pay(text) == Pay.from_json(form)
    assert not [value for value in form.values() if isinstance(value, float)]


@given(st.integers(1, 1_000_000))
@example(23_750)
@example(20_375)
@example(1)
@example(10_000)
@example(999_999)
def test_every_rate_survives_its_json_form(ppm: int) -> None:
    """2.375 % and 2.0375 % are two rates: all ppm up to the whole, by their text and by their JSON."""
    pay = parse_pay(f"{ppm // 10_000}.{ppm % 10_000:04d}% meter")
    assert ppm == pay.percent_ppm
    assert ppm == Pay.from_json(pay.to_json()).percent_ppm
    assert Fraction(ppm, 10_000) == Fraction(pay.to_json()["percent"])


@given(st.text(max_size=12))
def test_no_text_does_worse_than_a_value_error(text: str) -> None:
    """Any text is a pay or a ValueError."""
    try:
        pay = parse_pay(text)
    except ValueError:
        return
    assert text == text.strip()
    assert isinstance(pay, Pay)


@pytest.mark.parametrize(("text", "pay"), PAYS)
def test_a_pay_is_told_as_a_file_writes_it(text: str, pay: Pay) -> None:
    """For a row that the print does not have, a person reads our reading of it."""
    assert pay == parse_pay(pay_text(pay))
    assert text == pay_text(pay) or text == "2.5 to 1"
