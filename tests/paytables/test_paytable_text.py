"""Pay-table files: what is read, and how an error names its place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import ascii_lowercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.accounting.settings import LinkSettings, SplitHand
from meterd.edge.files import load_paytables
from meterd.paytables.hands import hand_key
from meterd.paytables.model import PayTable
from meterd.paytables.parse import PaytableError, parse_paytables

GOOD = """\
[shared]
game = "Sample"
wager = "bonus"
kind = "bonus"
basis = "player's three cards"
evaluator = "three-card"
games = [{ name = "sample", basis = "player's three cards", own_cards = 3 }]

[[paytable]]
id = "xx/sample/one"
sources = [{ jurisdiction = "XX", rule = "1.2", table = "One" }]
seed_cents = 5_000
increment = "12.5%"
reserve = "N/A"
rows = [
    { printed_hand = "Straight Flush", printed_pay = "50 to 1", pays = ["50 to 1"] },
    { printed_hand = "3 of a Kind", printed_pay = "?", printed_envy = "$1,000", pays = ["10% meter", "20 to 1"] },
    { printed_hand = "Pair of Jacks or better", printed_pay = "1 to 1", pays = ["1 to 1"], match = "pair top:J+" },
    { printed_hand = "Flush", printed_pay = "N/A", pays = [] },
]

[[paytable]]
id = "xx/sample/two"
kind = "base"
sources = [{ jurisdiction = "XX", rule = "1.3", table = "Two" }]
rows = [{ printed_hand = "Pair", printed_pay = "Push", pays = ["push"] }]
"""


def test_a_file_reads_as_its_tables() -> None:
    """Shared keys reach every table, a table's own win, keys and envy come from the print."""
    one, two = parse_paytables(GOOD, "sample.toml")
    assert ("bonus", "base") == (one.kind, two.kind)
    assert (5_000, 125_000, -1) == (one.seed_cents, one.increment_ppm, one.reserve_ppm)
    assert (None, None, None) == (two.seed_cents, two.increment_ppm, two.reserve_ppm)
    assert ["straight-flush", "three-of-a-kind", "pair-of-jacks-or-better", "flush"] == [row.hand for row in one.rows]
    assert [0, 100_000, 0, 0] == [row.envy_cents for row in one.rows]
    assert 2 == len(one.rows[1].pays)
    assert ("main",) == one.levels


def test_a_row_that_is_not_offered_is_kept_as_printed_and_never_found() -> None:
    """A blank or N/A cell is a fact, but no claim can name it; the digit form of a hand is understood."""
    one = parse_paytables(GOOD, "sample.toml")[0]
    assert one.row("flush") is None
    assert one.row("3-of-a-kind") is one.rows[1]
    assert one.row("three-of-a-kind") is one.rows[1]
    assert one.row("royal-flush") is None


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "says"),
    [
        ('wager = "bonus"', 'wagger = "bonus"', 3, "wagger", "did you mean 'wager'?"),
        ('kind = "base"', 'kind = "bse"', 24, "kind", "did you mean 'base'?"),
        ('id = "xx/sample/one"', 'id = "sample-one"', 10, "id", "jurisdiction/family/table"),
        ('id = "xx/sample/two"', 'id = "xx/sample/one"', 23, "id", "stands twice"),
        ("seed_cents = 5_000", 'seed_cents = "5000"', 12, "seed_cents", "expected a whole number"),
        ("seed_cents = 5_000", "seed_cents = true", 12, "seed_cents", "expected a whole number"),
        ("seed_cents = 5_000", "seed_cents = -1", 12, "seed_cents", "below zero"),
        ('"12.5%"', '"12.5"', 13, "increment", "is not a rate"),
        ('"N/A"\n', '"none"\n', 14, "reserve", "is not a rate"),
        ('evaluator = "three-card"', 'evaluator = "tree-card"', 6, "evaluator", "did you mean 'three-card'?"),
        ('evaluator = "three-card"', "", 9, "note", "says in its note what is missing"),
        ('pays = ["50 to 1"]', 'pays = ["50 two 1"]', 16, "pays", "is not a pay; the forms are"),
        ('pays = ["50 to 1"]', 'pays = "50 to 1"', 16, "pays", "expected a list of pays"),
        ('pays = ["50 to 1"]', 'pay = ["50 to 1"]', 16, "pay", "did you mean 'pays'?"),
        ('printed_pay = "50 to 1", ', "", 16, "printed_pay", "missing"),
        ('"Straight Flush"', '"Straight Flash"', 16, "printed_hand", "did you mean 'straight-flush'?"),
        ('"Straight Flush"', '"3 of a Kind"', 17, "hand", "stands twice in this table"),
        ('"$1,000"', '"lots"', 17, "printed_envy", "needs envy_cents"),
        ("pair top:J+", "pairs top:J+", 18, "match", "did you mean 'pair'?"),
        ("pair top:J+", "pair tip:J+", 18, "match", "unknown qualifier 'tip:J+'; did you mean 'top:J+'?"),
        ("pair top:J+", "pair top:X", 18, "match", "unknown qualifier 'top:X'"),
        ("pair top:J+", "pair first:4", 18, "match", "unknown qualifier 'first:4'"),
        ("own_cards = 3", "own_card = 3", 7, "games.own_card", "did you mean 'own_cards'?"),
        ("own_cards = 3", 'own_cards = "3"', 7, "games.own_cards", "expected a whole number"),
        ('rule = "1.2", ', "", 11, "sources.rule", "missing"),
        ("[[paytable]]", "[paytables]", 9, "paytables", "did you mean 'paytable'?"),
        ('"Push"', '"Push', 26, "TOML", "line 26"),
        ('pays = ["push"]', f"pays = {'[' * 5000}", 26, "TOML", "too deep to be read"),
        ("seed_cents = 5_000", f"seed_cents = {'9' * 30}", 12, "seed_cents", "above the largest amount"),
        ("seed_cents = 5_000", "decks = 0", 12, "decks", "0 is not a number of decks from 1 to 8"),
        ("seed_cents = 5_000", "decks_allowed = 6", 12, "decks_allowed", "expected a list"),
        ("seed_cents = 5_000", "decks_allowed = [6, 9]", 12, "decks_allowed", "9 is not a number of decks"),
        ("seed_cents = 5_000", "joker = true", 12, "joker", "the evaluator three-card knows no joker"),
        ("seed_cents = 5_000", 'without_ranks = "10"', 12, "without_ranks", "'1' is no rank"),
        ("seed_cents = 5_000", 'rows_printed = "worst"', 12, "rows_printed", "did you mean 'worst-first'?"),
        ("seed_cents = 5_000", 'envy_to = "player"', 12, "envy_to", "did you mean 'players'?"),
        ("seed_cents = 5_000", 'envy_trigger = "each"', 12, "envy_trigger", "known are: every, highest"),
        ("seed_cents = 5_000", "envy_min_cents = -1", 12, "envy_min_cents", "below zero"),
        ("seed_cents = 5_000", "settlement = 3", 12, "settlement", "expected text"),
        ("seed_cents = 5_000", 'lint_accepts = ["so be it"]', 12, "lint_accepts", "is not 'CODE: reason'"),
        ("seed_cents = 5_000", "depends_on_play = 1", 12, "depends_on_play", "expected true or false"),
        ('printed_pay = "50 to 1",', 'printed_pay = "50 to 1", derived = true,', 16, "derived", "printed_pay is empty"),
        ('printed_hand = "Straight Flush"', 'printed_hand = ""', 16, "hand", "needs a hand"),
        (
            '"50 to 1",',
            '"50 to 1", hand = "sf", match = "flush",',
            16,
            "hand",
            "the printed hand is the key, 'straight-flush'",
        ),
        (
            'printed_hand = "Straight Flush"',
            'printed_hand = "", hand = "S F", match = "flush"',
            16,
            "hand",
            "did you mean 's-f'?",
        ),
        ('"50 to 1",', '"50 to 1", also = "S F",', 16, "also", "did you mean 's-f'?"),
        ('printed_pay = "?",', 'printed_pay = "?", also = "straight-flush",', 17, "also", "stands twice"),
        ('"50 to 1",', '"50 to 1", also = "flush",', 19, "hand", "'flush' stands twice"),
        ('"50 to 1",', '"50 to 1", also = "straight-flush",', 16, "also", "stands twice"),
        ('"50 to 1",', '"50 to 1", also = 3,', 16, "also", "expected text"),
        ("own_cards = 3", "own_cards = 3, dealer_card = 2", 7, "games.dealer_card", "did you mean 'dealer_cards'?"),
        ('table = "One" }', 'table = "One", prints = { Flush = 1 } }', 11, "sources.prints", "expected text"),
    ],
)
def test_an_error_names_file_line_key_and_nearest_word(old: str, new: str, line: int, key: str, says: str) -> None:
    """One planted mistake each."""
    assert old in GOOD
    with pytest.raises(PaytableError) as caught:
        parse_paytables(GOOD.replace(old, new, 1), "sample.toml")
    assert says in str(caught.value)
    assert ("sample.toml", key) == (caught.value.file, caught.value.key)
    assert line == caught.value.line
    assert str(caught.value).startswith(f"sample.toml:{line}: {key}: ")


@pytest.mark.parametrize("text", ["", "[shared]\n", "paytable = []\n", "paytable = 3\n", "# nothing\n"])
def test_a_file_without_a_table_is_an_error(text: str) -> None:
    """An empty file is a mistake of its author, not an empty catalogue."""
    with pytest.raises(PaytableError, match="expected at least one table"):
        parse_paytables(text, "sample.toml")


@given(st.data())
def test_no_value_of_a_wrong_kind_does_worse_than_a_paytable_error(data: st.DataObject) -> None:
    """Any value of the file put in the place of any other is read, or refused with its place."""
    values = [match.span() for match in re.finditer(r"(?<== )(?:\"[^\"]*\"|\[.*\]|[0-9_]+|\[[^]]*\])", GOOD)]
    begin, end = data.draw(st.sampled_from(values))
    other = data.draw(
        st.sampled_from(
            ["3", "-3", "1.5", "true", '""', '"x"', "[]", "{}", "[3]", '[["x"]]', "[{}]", '{ a = "b" }', "2026-01-01"]
        )
    )
    line = 1
    try:
        parse_paytables(GOOD[:begin] + other + GOOD[end:], "sample.toml")
    except PaytableError as error:
        line = error.line
    assert 1 <= line <= GOOD.count("\n") + 1


@given(st.one_of(st.text(), st.binary()))
def test_any_text_and_any_bytes_are_tables_or_a_paytable_error(text: str | bytes) -> None:
    """Nothing else ever comes out, and the place of an error is a line of the text."""
    line = 1
    try:
        parse_paytables(text, "sample.toml")
    except PaytableError as error:
        line = error.line
    assert 1 <= line <= len(text) + 1


_PIECES = st.sampled_from(
    [
        *re.findall(r"[\w.%-]+|[^\w\s]|\n", GOOD),
        "[[paytable]]\n",
        "[shared]\n",
        "rows = [",
        '"""',
        "\\",
        "\0",
        "\r",
        "\ud800",
    ]
)


@given(st.data())
def test_a_damaged_file_is_tables_or_a_paytable_error(data: st.DataObject) -> None:
    """A good file with a piece cut out and another one put there."""
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(GOOD))] * 2)))
    end = min(end, begin + 40)
    piece = "".join(data.draw(st.lists(_PIECES, max_size=4)))
    try:
        tables = parse_paytables(GOOD[:begin] + piece + GOOD[end:], "sample.toml")
    except PaytableError as error:
        assert "sample.toml" == error.file  # noqa: PT017 - a damaged file may still be a good one
    else:
        assert all(table == PayTable.from_json(table.to_json()) for table in tables)


def test_bytes_that_are_no_utf_8_are_an_error_with_their_line() -> None:
    """The byte and where it stands."""
    with pytest.raises(PaytableError, match=r"sample\.toml:2: UTF-8: byte 0xff is no UTF-8 text"):
        parse_paytables(b"[shared]\ngame = '\xff'\n", "sample.toml")


def test_an_entry_of_before_reads_without_the_newer_keys() -> None:
    """A ledger holds tables as they were written then; what they do not say has its usual value."""
    table = parse_paytables(GOOD, "sample.toml")[0]
    old = table.to_json()
    for key in (
        "rows_printed", "decks_allowed", "without_ranks", "depends_on_play", "envy_to", "envy_trigger",
        "envy_min_cents", "settlement", "lint_accepts", "split", "wagers_allowed_cents", "base_least", "base_most",
    ):  # fmt: skip
        del old[key]
    for row in old["rows"]:
        del row["derived"], row["printed_note"]
    for game in old["games"]:
        del game["own_dealt"], game["dealer_cards"], game["dealer_dealt"]
    for source in old["sources"]:
        del source["prints"]
    assert table == PayTable.from_json(old)


def test_newer_keys_are_read_and_exported() -> None:
    """Each key of a table, a row, a game and a source, with a value that is not the usual one."""
    text = (
        GOOD.replace(
            "seed_cents = 5_000",
            'rows_printed = "worst-first"\ndecks = 2\ndecks_allowed = [2, 6]\nwithout_ranks = "T"\nenvy_to = "dealer"\n'
            'envy_trigger = "highest"\nenvy_min_cents = 500\nsettlement = "last"\nsplit = "dead"\n'
            "depends_on_play = true\n"
            'lint_accepts = ["ROW_NEVER_REACHED flush: as printed"]',
        )
        .replace(
            'printed_pay = "N/A", pays = []', 'printed_pay = "", derived = true, printed_note = "x", pays = ["push"]'
        )
        .replace("own_cards = 3", "own_cards = 3, own_dealt = 5, dealer_cards = 2, dealer_dealt = 4")
        .replace("three-card", "shoe")
        .replace('table = "One" }', 'table = "One", prints = { "3 of a Kind" = "Trips" } }')
    )
    table = parse_paytables(text, "sample.toml")[0]
    game, source, row = table.games[0], table.sources[0], table.rows[-1]
    assert ("worst-first", (2, 6), "T", "dealer") == (
        table.rows_printed,
        table.decks_allowed,
        table.without_ranks,
        table.envy_to,
    )
    assert ("highest", 500, "last", "dead", True) == (
        table.envy_trigger,
        table.envy_min_cents,
        table.settlement,
        table.split,
        table.depends_on_play,
    )
    assert ("ROW_NEVER_REACHED flush: as printed",) == table.lint_accepts
    assert (5, 2, 4) == (game.own_most, game.dealer_cards, game.dealer_most)
    assert (("3 of a Kind", "Trips"),) == source.prints
    assert (True, "x", "") == (row.derived, row.printed_note, row.printed_pay)
    assert (3, 2, 1, 0) == table.trial_order
    assert table == PayTable.from_json(json.loads(json.dumps(table.to_json())))


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("AKQ Hearts/ Diamonds/Clubs", "akq-hearts-diamonds-clubs"),
        ("4 of a Kind", "four-of-a-kind"),
        ("3 of a kind", "three-of-a-kind"),
        ("Three 7’s – Suited (other)", "three-7s-suited-other"),
        ("Three 7's - Diamonds", "three-7s-diamonds"),
        ("Either of the First Two Cards – 7", "either-of-the-first-two-cards-7"),
        ("Four-of-a-Kind", "four-of-a-kind"),
        ("Royal flush-First 5 cards", "royal-flush-first-5-cards"),
        ("14 of a Kind", "14-of-a-kind"),
        ("four-of-a-kind", "four-of-a-kind"),
    ],
)
def test_hand_keys_come_from_the_printed_name(printed: str, expected: str) -> None:
    """Lower case, no apostrophes, hyphens between words, a digit of a kind as a word; a key is its own key."""
    assert expected == hand_key(printed)
    assert expected == hand_key(expected)


@pytest.mark.parametrize("table", load_paytables().values(), ids=lambda table: table.id)
def test_a_table_survives_its_json_form(table: PayTable) -> None:
    """What a ledger entry stores is the table."""
    assert table == PayTable.from_json(table.to_json())


def test_the_public_form_of_a_table_has_the_agreed_keys() -> None:
    """Programs outside read these; more may come, none may go."""
    form = load_paytables()["co/three-card-poker/progressive-1"].to_json()
    assert {
        "id", "game", "wager", "kind", "sources", "basis", "decks", "joker", "wager_cents", "seed_cents",
        "increment_ppm",
        "reserve_ppm", "original_wager_returned", "envy_scales", "seed_scales", "rows", "evaluator", "note",
    } <= form.keys()  # fmt: skip
    row = {
        key: value for key, value in form["rows"][0].items() if key not in {"match", "derived", "printed_note", "also"}
    }
    assert {
        "hand": "akq-spades",
        "printed_hand": "AKQ Spades",
        "printed_pay": "100 percent",
        "printed_envy": "$100",
        "pays": [{"kind": "meter_percent", "percent": "100", "level": None}],
        "envy_cents": 10_000,
    } == row


def test_a_row_is_found_by_what_it_is_also_called() -> None:
    """The key comes from the print; a friendlier name finds the same row, and no name finds none."""
    text = GOOD.replace('"Push",', '"Push", also = "couple",')
    two = parse_paytables(text, "sample.toml")[1]
    assert [two.rows[0]] * 3 == [two.row("pair"), two.row("couple"), two.row("Couple")]
    assert two.row("") is None
    assert two == PayTable.from_json(two.to_json())


def test_every_key_of_the_catalogue_is_the_printed_name() -> None:
    """Lower case, no apostrophes, the rest hyphens, 4 of a Kind in words; only blank and repeated names have others."""
    numbers = ("two", "three", "four", "five", "six", "seven", "eight")
    others = []
    for table in load_paytables().values():
        keys = []
        for row in table.rows:
            plain = "".join(
                c if c in ascii_lowercase + digits else "-" for c in re.sub("['’‘]", "", row.printed_hand.lower())
            )
            key = "-".join(part for part in plain.split("-") if part)
            for digit, word in enumerate(numbers, start=2):
                key = re.sub(rf"(^|-){digit}-of-a-kind", rf"\1{word}-of-a-kind", key)
            keys.append(f"streak-{key}" if table.evaluator == "rising-streak" and key.isdecimal() else key)
        others += [
            (table.id, row.hand)
            for row, key in zip(table.rows, keys, strict=True)
            if key != row.hand and key and keys.count(key) == 1
        ]
    assert [] == others


def test_what_a_split_means_is_said_only_where_it_is_printed() -> None:
    """CO 47.1-899.09(5), 47.1-1099.38: a second wager; .16: dead; .13(17) and (18), .15(7): the one wager goes on."""
    said: dict[str, set[str]] = {}
    for table in load_paytables().values():
        if table.split is not None:
            said.setdefault(table.split, set()).add(f"{table.id.rpartition('/')[0]}: {table.wager}")
    assert {
        "two-hands": {"co/buffalo-blackjack: 21 Magic", "co/texas-shootout: shootout bonus"},
        "dead": {"co/spanish-21: blackjack"},
        "no-effect": {
            "co/bet-the-set-21: progressive",
            "co/blazing-sevens: progressive",
            "co/dead-mans-hand: Dead Man's Hand",
        },
    } == said
    assert SplitHand.NO_EFFECT is LinkSettings("x", 100, 1, load_paytables()["co/straight-jack/sjp1"], ()).split_hand


def test_a_table_stored_before_a_key_existed_reads() -> None:
    """Ledgers carry pay tables: what was not said then has its default."""
    table = load_paytables()["co/emperors-challenge/treasure-a"]
    stored = table.to_json()
    stored["split"] = "no-effect"
    for row in stored["rows"]:
        del row["also"]
    read = PayTable.from_json(stored)
    assert ("no-effect", {""}) == (read.split, {row.also for row in read.rows})
    assert [row.hand for row in table.rows] == [row.hand for row in read.rows]


def test_the_documented_file_is_a_file() -> None:
    """The example of the documentation reads as written."""
    text = (Path(__file__).parents[2] / "docs/paytables.md").read_text(encoding="utf-8")
    (table,) = parse_paytables(text.partition("```toml\n")[2].partition("```")[0], "paytables.md")
    assert ["akq-spades", "straight"] == [row.hand for row in table.rows]


def test_only_a_reserve_is_not_applicable() -> None:
    """The cell "N/A" is one of the reserve column; an increment has a rate or none."""
    assert -1 == parse_paytables(GOOD, "sample.toml")[0].reserve_ppm
    with pytest.raises(PaytableError, match=r"sample\.toml:13: increment: 'N/A' is not a rate"):
        parse_paytables(GOOD.replace('"12.5%"', '"N/A"'), "sample.toml")


def test_an_export_of_the_public_form_alone_reads() -> None:
    """The keys agreed on for programs outside, without those that were added for our own; a blank envy is none."""
    table = PayTable.from_json(
        {
            "id": "co/three-card-poker/progressive-1",
            "game": "Three Card Poker",
            "wager": "progressive",
            "kind": "progressive",
            "sources": [{"jurisdiction": "CO", "rule": "47.1-1099.18", "table": "Progressive Pay Schedule 1"}],
            "basis": "player's three cards",
            "decks": 1,
            "joker": False,
            "wager_cents": 100,
            "seed_cents": None,
            "increment_ppm": None,
            "reserve_ppm": None,
            "original_wager_returned": False,
            "envy_scales": True,
            "common_outcome": False,
            "rows": [
                {
                    "hand": "akq-spades",
                    "printed_hand": "AKQ Spades",
                    "printed_pay": "100 percent",
                    "printed_envy": "$100",
                    "pays": [{"kind": "meter_percent", "percent": "2.375", "level": None}],
                    "envy_cents": 10_000,
                }
            ],
        }
    )
    assert (None, ()) == (table.evaluator, table.games)
    assert 23_750 == table.rows[0].pays[0].percent_ppm


def test_keys_of_a_later_version_are_passed_over() -> None:
    """In the table, a row, a source and a game; what this version knows is read as it stands."""
    table = parse_paytables(GOOD, "sample.toml")[0]
    later = table.to_json()
    for part in (later, later["rows"][0], later["sources"][0], later["games"][0], later["rows"][0]["pays"][0]):
        part["a_later_key"] = ["anything"]
    assert table == PayTable.from_json(later)
    later["rows"][0]["pays"] = [{"kind": "a_later_kind"}]
    with pytest.raises(ValueError, match="a_later_kind"):
        PayTable.from_json(later)
