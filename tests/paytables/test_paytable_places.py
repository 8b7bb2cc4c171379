"""Places of errors: any TOML that says the same has them, at its own lines."""

from __future__ import annotations

import pytest

from meterd.paytables.model import PayTable
from meterd.paytables.parse import PaytableError, parse_paytables
from meterd.paytables.place import lines_of

GOOD = """\
[shared]
game = "G"
wager = "bonus"
kind = "bonus"
basis = "cards"
evaluator = "three-card"
games = [{ name = "g", basis = "cards", own_cards = 3 }]
sources = [{ jurisdiction = "XX", rule = "1", table = "T" }]

[[paytable]]
id = "xx/g/one"
rows = [
    # printed_hand stands in this comment
    { printed_hand = "Straight", pays = [], printed_pay = "" }, { printed_hand = "Flush", pays = [], printed_pay = "" },
    { printed_hand = "Pair", pays = [
        "1 to 1",
    ], printed_pay = "1 to 1" },
]

[[paytable]]
id = "xx/g/two"
note = '''
[[paytable]]
rows = 3
'''
"rows" = [{ printed_hand = "Straight", printed_pay = "2 to 1", pays = ["2 to 1"] }]
"""


def place(text: str) -> tuple[int, str]:
    """Line and key of the error."""
    with pytest.raises(PaytableError) as caught:
        parse_paytables(text, "f.toml")
    return caught.value.line, caught.value.key


def tables(text: str | bytes) -> list[PayTable]:
    return parse_paytables(text, "f.toml")


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ('"rows" = [', '"row" = [', 26, "row"),
        ('"rows" = [{ printed_hand = "Straight", printed_pay = "2 to 1", pays = ["2 to 1"] }]\n', "", 20, "rows"),
        ('printed_hand = "Flush", ', "", 14, "printed_hand"),
        ('printed_hand = "Pair", ', "", 15, "printed_hand"),
        ('printed_hand = "Straight", ', "", 14, "printed_hand"),
        ('        "1 to 1",\n', '        "1 for",\n', 15, "pays"),
        ('    ], printed_pay = "1 to 1" }', "    ], printed_pay = 1 }", 17, "printed_pay"),
        ('    ], printed_pay = "1 to 1" }', '    ], printed_pay = "", hand = "pear" }', 17, "hand"),
        ('printed_hand = "Pair"', 'printed_hand = "Pear"', 15, "printed_hand"),
        ('id = "xx/g/two"', 'id = "xx/g/two"\n"decks" = 0', 22, "decks"),
        ("own_cards = 3 }", 'own_cards = 3 },\n  { name = "h", basis = "b", own_card = 3 }', 8, "games.own_card"),
        ("own_cards = 3 }", 'own_cards = 3 },\n  { name = "h", basis = "b" }', 8, "games.own_cards"),
        ('table = "T" }', 'table = "T" },\n {}', 9, "sources.jurisdiction"),
        ('table = "T" }', 'table = "T", prints = { Nonsense = "X" } }', 8, "sources.prints"),
        ('sources = [{ jurisdiction = "XX", rule = "1", table = "T" }]', "sources = []", 8, "sources"),
        ('id = "xx/g/two"', "a = " + "9" * 10_000, 21, "TOML"),
        ('id = "xx/g/two"', "id = xx", 21, "TOML"),
    ],
)
def test_an_error_stands_at_the_line_it_is_about(old: str, new: str, line: int, key: str) -> None:
    """Two rows on a line, a row over several, comments, quoted keys; a missing key: the head of its table or row."""
    assert old in GOOD
    assert (line, key) == place(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[paytable]]\nid", "[[paytable]] # a comment\nid"),
        ("[[paytable]]\nid", "[[ paytable ]]\nid"),
        ("[[paytable]]\nid", '[["paytable"]]\nid'),
        ("[[paytable]]\nid", "  [[paytable]]\nid"),
        ("[shared]", "[ shared ] # what they share"),
        ("\n", "\r\n"),
        ("[shared]", "\ufeff[shared]"),
    ],
)
def test_every_legal_form_of_a_head_is_read(old: str, new: str) -> None:
    """Comments, spaces and quotes in heads, line ends of Windows, the mark of an editor before the first line."""
    text = GOOD.replace(old, new)
    found = tables(text.encode())
    assert ["xx/g/one", "xx/g/two"] == [table.id for table in found]
    assert tables(GOOD)[0] == found[0]
    assert 20 == place(text.replace('id = "xx/g/two"', "", 1))[0]


def test_tables_and_rows_may_be_written_out() -> None:
    """Rows as [[paytable.rows]], tables as a list of inline tables: the same tables, errors at their lines."""
    head, _, rest = GOOD.partition("[[paytable]]")
    row = 'printed_hand = "Pair"\nprinted_pay = "1 to 1"\npays = ["1 to 1"]\n'
    rows = f"[[paytable.rows]]\n{row}[[paytable.rows]]\n{row.replace('Pair', 'Flush')}"
    text = f'{head}[[paytable]]\nid = "xx/g/a"\n{rows}'
    assert ["pair", "flush"] == [row.hand for row in tables(text)[0].rows]
    assert (19, "pays") == place(f'{text.rpartition("pays")[0]}pays = ["x"]')
    inline = f'paytable = [\n{{ id = "xx/g/a", rows = [{{ {row.replace(chr(10), ", ")[:-2]} }}] }}\n]\n{head}'
    assert ["pair"] == [row.hand for row in tables(inline)[0].rows]
    assert (2, "pays") == place(inline.replace('["1 to 1"]', '["1"]'))
    assert rest


def test_messages_cut_what_they_repeat_and_say_what_to_do() -> None:
    """Nobody reads ten thousand digits; no words of the inside of Python."""
    for old, new, says in (
        ('id = "xx/g/two"', "a = " + "9" * 10_000, "a number of so many digits cannot be read; correct it"),
        ('id = "xx/g/two"', "id = xx", "expected TOML, key = value lines below [[paytable]]"),
        ('game = "G"', f"game = [{'1, ' * 5000}]", "expected text, not [1, 1"),
        ('game = "G"', f'{"g" * 5000} = "G"', "unknown key"),
        ('kind = "bonus"', f'kind = "{"b" * 5000}"', "unknown kind"),
        ('evaluator = "three-card"', f'evaluator = "{"b" * 5000}"', "unknown evaluator"),
        ('id = "xx/g/two"', f'id = "{"b" * 5000}"', "is not jurisdiction/family/table"),
        ('pays = ["2 to 1"] }]', f'pays = ["2 to 1"], match = "pair {"x" * 5000}" }}]', "unknown qualifier"),
        ('pays = ["2 to 1"] }]', f'pays = ["2 to 1"], match = "{"x" * 5000}" }}]', "unknown category"),
        ('pays = ["2 to 1"] }]', f'pays = ["2 to 1"], printed_envy = "{"5" * 5000}" }}]', "needs envy_cents"),
    ):
        with pytest.raises(PaytableError) as caught:
            tables(GOOD.replace(old, new, 1))
        assert says in str(caught.value)
        assert "sys." not in str(caught.value)
        assert len(str(caught.value)) < 1_000, str(caught.value)[:200]


def test_lines_are_found_in_any_document() -> None:
    """Every key and element of a document has the line it begins in."""
    assert {
        ("a",): 1,
        ("a", 0): 1,
        ("a", 1): 2,
        ("a", 1, "b"): 2,
        ("c",): 3,
        ("c", "d e"): 3,
        ("f",): 5,
        ("f", 0): 5,
        ("f", 0, "g"): 6,
        ("f", 0, "h"): 7,
        ("f", 0, "h", "i"): 8,
        ("f", 1): 9,
    } == lines_of("a = [1,\n{ b = '#' }] # x = 1\nc.\"d e\" = '''\n'''\n[[f]]\ng = 1\n[f.h]\ni = 2\n[[f]]")
