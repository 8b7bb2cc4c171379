from __future__ import annotations

import json
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.errors import MisuseError
from meterd.ledger.canonical import canonical, is_canonical, parse

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_reading_gives_the_value_back(value: object) -> None:
    """Canonical JSON says all of the value: it reads back equal, and once more gives the same text."""
    text = canonical(value)
    assert value == json.loads(text)
    assert text == canonical(json.loads(text))


@given(st.dictionaries(texts, values, min_size=2))
def test_order_of_keys_in_memory_does_not_matter(value: dict[str, object]) -> None:
    """The same facts put together in another order give the same text."""
    assert canonical(value) == canonical(dict(reversed(value.items())))


def test_its_exact_form() -> None:
    """Keys by code point, no spaces, text unescaped but for quotes, backslashes and control characters."""
    value = {"é": [1, -2, True, None], "Z": 'a"\\\n\x1f\x7f€😀', "a": {}}
    assert '{"Z":"a\\"\\\\\\n\\u001f\x7f€😀","a":{},"é":[1,-2,true,null]}' == canonical(value)


class _Word(StrEnum):
    OPEN = "open"


def test_words_of_a_closed_list_are_text() -> None:
    """An enumeration of words is stored as its word; a tuple as a list."""
    assert '{"open":["open"]}' == canonical({_Word.OPEN: (_Word.OPEN,)})


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        {"amount": 0.1},
        [[{"deep": [float("nan")]}]],
        {1: "a number as key"},
        {None: "nothing as key"},
        {"set": {1, 2}},
        {"bytes": b"ab"},
        "\ud800",
        {"\udfff": 1},
    ],
)
def test_what_has_no_exact_form_is_refused(value: object) -> None:
    """A float, a key that is no text, half a character: refused, never turned into something near it."""
    with pytest.raises(MisuseError, match="no canonical JSON"):
        canonical(value)


def test_endless_nesting_is_refused() -> None:
    """A value that contains itself is refused and does not end the daemon."""
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(MisuseError):
        canonical(loop)


@pytest.mark.parametrize("text", ["1.0", "[1e3]", '{"a":NaN}', "-Infinity", "{", "", '"' + "x"])
def test_reading_refuses_what_is_not_whole(text: str) -> None:
    """A text with a fraction, an exponent or no JSON at all is not read as something near it."""
    with pytest.raises(ValueError):
        parse(text)


@given(values)
def test_only_the_canonical_text_passes(value: object) -> None:
    """A text is canonical for the value read from it, and the same value written otherwise is not."""
    text = canonical(value)
    assert is_canonical(text, parse(text))
    other = json.dumps(value, indent=1)
    assert is_canonical(other, parse(other)) is (other == text)
