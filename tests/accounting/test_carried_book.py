"""A book carried into a new volume is the book of all volumes: same fields, same answers, in any history."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from machine_acts import VERBS
from machine_floor import random_world
from machine_world import START, World, retold

from meterd.accounting import rules_day
from meterd.accounting.book import Book
from meterd.accounting.carry import carried
from meterd.accounting.commands import SYSTEM
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.plain import codec
from meterd.accounting.state import Award

NUMBERS = st.integers(0, 255)


def first_entry(book: Book) -> Entry:
    """The entry a volume begins with, as it comes back from the ledger."""
    return retold(Entry(Kind.BOOK_CARRIED, "meterd", body=carried(book)))


def roll(world: World, day: int) -> None:
    """End the gaming day. From here on the shadow is the fold of the new volume alone."""
    world.decide(ReadDay(actor=SYSTEM, day=f"2026-01-{day:02d}", next_day=f"2026-01-{day + 1:02d}"))
    before = carried(world.book)
    entry = first_entry(world.book)
    seq = world.book.seq + 1
    alone = Book()
    alone.apply(seq, START, entry)
    world.book.apply(seq, START, entry)
    assert vars(world.book) == vars(alone), "the carried book is another"
    assert before == carried(alone)
    assert_same_order(world.book, alone)
    world.shadow = alone
    world.write(entry)


def assert_same_order(one: Any, other: Any) -> None:
    """Dicts compare equal in any order; a rule that walks one would notice."""
    if isinstance(one, Book):
        for name in ("links", "tables", "awards", "open_awards", "funds", "fund_awards", "open_shares"):
            assert list(getattr(one, name)) == list(getattr(other, name)), name
        for name, link in one.links.items():
            assert list(link.pending) == list(other.links[name].pending)
            assert list(link.rules.levels) == list(other.links[name].rules.levels)
            assert list(link.marks) == list(other.links[name].marks)
        for name, table in one.tables.items():
            assert list(table.wagers) == list(other.tables[name].wagers)
            assert list(table.past) == list(other.tables[name].past)


class RollingFloor(RuleBasedStateMachine):
    """A floor on which the gaming day ends at any moment."""

    @initialize(data=st.data())
    def link(self, data: st.DataObject) -> None:
        self.world = random_world(lambda below: data.draw(st.integers(0, below - 1)))
        self.day = 0

    @rule(verb=st.sampled_from(["lock", "claim", "claim", "confirm", "end"]), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def play_on(self, verb: str, a: int, b: int, c: int) -> None:
        self.world.step(verb, a, b, c)

    @rule(verb=st.sampled_from(sorted(set(VERBS))), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def anything(self, verb: str, a: int, b: int, c: int) -> None:
        self.world.step(verb, a, b, c)

    @rule()
    def the_day_ends(self) -> None:
        self.day += 1
        if self.day < 30:
            roll(self.world, self.day)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.restart()


TestRollingFloor = RollingFloor.TestCase
TestRollingFloor.settings = settings(max_examples=60, stateful_step_count=50, phases=[Phase.explicit, Phase.generate])


@pytest.mark.parametrize("seed", range(6))
def test_settled_awards_leave_the_book_and_nothing_else_changes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three settled awards at hand a long history goes on as before; the fold of the last volume is the book."""
    monkeypatch.setattr(rules_day, "SETTLED_KEPT", 3)
    monkeypatch.setattr(rules_day, "SHARES_OF_METERS_KEPT", 2)
    random = Random(f"leaving {seed}")
    print("seed", seed)
    world = random_world(random.randrange)
    monkeypatch.setattr(World, "compare", lambda self: None)
    monkeypatch.setattr(World, "claims", property(lambda self: self.book.gone_awards + len(self.book.awards)))
    left = 0
    for step in range(400):
        verb = random.choice(VERBS)
        if verb not in {
            "undo",
            "late-claim",
            "restart",
            "void",
            "correct",
            "confirm",
            "pay",
            "hold",
            "dispose",
            "unclaimed",
        }:
            world.step(verb, random.randrange(256), random.randrange(256), random.randrange(256))
        if step % 40 == 39:
            for twin in world.twins.values():
                world.settle(twin, hold=False)
            for name in list(world.book.open_awards)[:-2]:
                world.act(("pay", name))
            numbered = world.book.gone_awards + len(world.book.awards)
            roll(world, 1 + step // 40)
            assert numbered == world.book.gone_awards + len(world.book.awards)
            left = world.book.gone_awards
            hands = sum(len(link.rules.rows) * link.rules.units_max for link in world.book.links.values())
            rounds = sum(award.round in world.book.tables[award.table].past for award in world.book.awards.values())
            assert len(world.book.awards) - len(world.book.open_awards) <= 3 + 2 + hands + rounds
            assert all(amount for amount in world.book.balances.values())
    assert left > 0


def test_every_field_of_the_book_is_carried() -> None:
    """A field added to the book and not carried is noticed here."""
    derived = {"seq", "at_utc", "began", "counts_by_key", "day_confirmed"}  # the reading before a border ends the last
    named = {"day": "gaming_day"}
    body = carried(Book())
    told = {named.get(name, name) for name in (*body, *body["book"])} - {"levels", "pools", "book"}
    assert vars(Book()).keys() - derived == told


def test_a_value_at_its_default_is_left_out_and_comes_back() -> None:
    """Short for the many, whole for the few; a field nobody knows is refused."""
    award = Award("A1", "L", "T1", 3, 2, "royal-flush", 1, 500, "dealer@T1", "2026-01-01T00:00:00.000000Z")
    write, read = codec(Award)
    assert {field.name for field in dataclasses.fields(Award) if field.default is dataclasses.MISSING} <= {
        *write(award)
    }
    assert "held" not in write(award)
    assert award == read(json.loads(json.dumps(write(award))))
    changed = dataclasses.replace(award, held=True, shown=frozenset({"cards"}), corrected_by=("sup-1",))
    assert changed == read(json.loads(json.dumps(write(changed))))
    data: Mapping[str, Any] = {**write(award), "colour": "red"}
    with pytest.raises(ValueError, match="colour"):
        read(data)
