"""What may be said of a level, and what a line remembers of wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meterd.config import SasConfig
from meterd.edge.sas_memory import Memory
from meterd.edge.sas_values import SAID_KEPT, Hit, Newest, SaidBefore, quotes
from protocols.sas_host import Quote

SAS = SasConfig("sas-1", 3, (("nexus-1", "mega"), None, ("nexus-1", "major"), ("tcp-1", "main")))
RATES = {("nexus-1", "mega"): 120_000}


def level(cents: int, hits: int = 0) -> dict[str, int]:
    return {"display_cents": cents, "seed_cents": 50, "hits": hits}


def snapshot(**changes: Any) -> dict[str, Any]:
    found = {
        "seq": 10,
        "closed": None,
        "links": {
            "nexus-1": {"suspended": None, "levels": {"mega": level(700), "major": level(300)}},
            "tcp-1": {"suspended": None, "levels": {"main": level(90)}},
        },
        "tables": {
            "A": {"link": "nexus-1", "state": "LOCKED"},
            "B": {"link": "nexus-1", "state": "CLOSED"},
            "C": {"link": "tcp-1", "state": "OPEN"},
        },
    }
    return {**found, **changes}


def said(shot: dict[str, Any], hits: dict[int, Hit] | None = None, now_s: float = 100.0) -> dict[int, int]:
    return {number: quote.cents for number, quote in quotes(Newest(shot, 99.0), SAS, hits or {}, now_s).items()}


def test_figures_that_hold_now() -> None:
    """Each level under its number, with base and rate for the long form."""
    assert {1: 700, 3: 300, 4: 90} == said(snapshot())
    assert Quote(700, 50, 120_000) == quotes(Newest(snapshot(), 99.0), SAS, {}, 100.0, RATES)[1]


def test_an_old_figure_is_not_said() -> None:
    """A daemon that was not heard of for stale_ms says nothing any more; nor does one never heard of."""
    assert {} != said(snapshot(), now_s=101.499)
    assert {} == said(snapshot(), now_s=101.5)
    assert {} == quotes(None, SAS, {}, 100.0)


def test_a_level_is_said_where_a_sign_would_show_it() -> None:
    """Not on a closed floor, a suspended link, or one whose tables are all closed; nor a level nobody knows."""
    assert {} == said(snapshot(closed="the ledger failed"))
    shot = snapshot()
    shot["links"]["nexus-1"]["suspended"] = "an inspection"
    assert {4: 90} == said(shot)
    assert {1: 700, 3: 300} == said(snapshot(tables={"A": {"link": "nexus-1", "state": "OPEN"}}))
    shot = snapshot()
    del shot["links"]["nexus-1"]["levels"]["major"]
    assert {1: 700, 4: 90} == said(shot)


@pytest.mark.parametrize(
    ("hit", "shown"),
    [
        (Hit(700, 0), False),  # not in the ledger yet
        (Hit(700, 0, seq=11, booked=True), False),  # a snapshot from before it
        (Hit(700, 0, seq=10, booked=True), True),
        (Hit(700, 0, seq=10), False),  # noted, and nobody has booked an award
        (Hit(701, 0, seq=10), True),  # its meter has fallen since
        (Hit(700, 1, seq=10), True),  # or another count of hits says that it was won
    ],
)
def test_a_level_that_was_won_waits_for_its_new_figure(hit: Hit, shown: bool) -> None:
    """Nobody is shown a jackpot that is won already."""
    assert shown == (1 in said(snapshot(), {1: hit}))
    assert 3 in said(snapshot(), {1: hit})


def test_figures_that_were_said() -> None:
    """A game's win is held against what was really said of that level; not for ever."""
    before = SaidBefore()
    for cents in range(SAID_KEPT + 1):
        before.note({1: cents, 2: 5})
    assert [False, True, True, False] == [before.was(1, 0), before.was(1, 1), before.was(2, 5), before.was(3, 5)]


def told(memory: Memory, cents: int = 700, answer: str = "aa", address: int = 1) -> Any:
    return memory.told(address, 3, [(1, cents)], answer, {1: Hit(cents, 0)})


def test_a_win_keeps_its_number_until_it_is_settled(tmp_path: Path) -> None:
    """Told again, also after a restart, it is the same; after the game let go of it, the next."""
    path = tmp_path / "sas" / "sas-1.json"
    memory = Memory.load(path, {})
    assert (1, 1) == (memory.epoch, told(memory).count)
    memory = Memory.load(path, {})
    assert (1, [(1, 1)]) == (told(memory).count, [(address, win.count) for address, win in memory.undone])
    assert {1: Hit(700, 0)} == memory.hits
    assert not memory.settled(1)
    memory.undone[0][1].done = True
    memory.save()
    memory = Memory.load(path, {1: (1, 1)})
    assert (1, []) == (told(memory).count, memory.undone)
    assert memory.settled(1)
    assert 2 == told(memory).count


def test_whom_we_asked_is_kept_until_it_was_read(tmp_path: Path) -> None:
    """On disk before the question, off it with the number of the win, or once there was none."""
    path = tmp_path / "m.json"
    memory = Memory.load(path, {})
    memory.ask(1)
    assert 1 == Memory.load(path, {}).asking
    told(memory)
    assert (None, [1]) == (Memory.load(path, {}).asking, Memory.load(path, {}).first)
    memory.ask(2)
    assert [2, 1] == Memory.load(path, {}).first
    assert memory.settled(2)
    memory.ask(2)
    assert (True, False) == (memory.read(2), memory.read(2))


def test_several_wins_in_one_answer_have_numbers_of_their_own(tmp_path: Path) -> None:
    """The next answer begins behind the last of them."""
    memory = Memory.load(tmp_path / "m.json", {})
    assert 1 == memory.told(1, 3, [(1, 5), (1, 5), (2, 9)], "aa", {}).count
    assert 4 == memory.told(1, 3, [(1, 5)], "bb", {}).count
    assert 1 == memory.told(2, 3, [(1, 5)], "bb", {}).count


def test_a_list_that_grew_brings_only_the_rest(tmp_path: Path) -> None:
    """A game that adds a hit to what it told and nobody acknowledged: the first keeps its number, the rest is new."""
    path = tmp_path / "m.json"
    memory = Memory.load(path, {})
    assert 1 == memory.told(1, 3, [(2, 500)], "aa", {2: Hit(500, 0)}).count
    memory.undone[0][1].done = True
    memory.save()
    memory = Memory.load(path, {1: (1, 1)})
    assert 2 == memory.told(1, 3, [(0, 0)], "unread", {}).count, "in between it was not to be read"
    del memory.hits[2]
    grown = memory.told(1, 3, [(2, 500), (1, 700)], "aabb", {2: Hit(9, 0), 1: Hit(700, 0)})
    assert (3, [(1, 700)]) == (grown.count, grown.wins)
    assert {1: Hit(700, 0)} == memory.hits
    assert 3 == memory.told(1, 3, [(2, 500), (1, 700)], "aabb", {}).count
    twin = memory.told(1, 3, [(2, 500), (1, 700), (1, 700)], "aabbbb", {})
    assert (4, [(1, 700)]) == (twin.count, twin.wins)
    assert 5 == memory.told(1, 3, [(1, 700)], "bb", {}).count, "another list"
    rest = memory.told(1, 3, [(1, 700), (2, 9)], "bbcc", {})
    assert (6, [(2, 9)]) == (rest.count, rest.wins), "those before it were let go of, and nobody knows yet"
    for _, win in memory.undone:
        win.done = True
    memory.settled(1)
    again = memory.told(1, 3, [(2, 500), (1, 700)], "aabb", {})
    assert (7, 2) == (again.count, len(again.wins)), "they were let go of: the same again is others"


def test_each_loss_has_an_identity_of_its_own_until_it_is_told_again(tmp_path: Path) -> None:
    """A second win that may be lost, before the game has settled, is another entry; one told again is none."""
    memory = Memory.load(tmp_path / "m.json", {})
    counts = []
    for word, again in ((b"lost", False), (b"lost", True), (b"lost", False), (b"unread", True), (b"lost", True)):
        answer = memory.missed(1, word, again=again)
        counts.append(memory.told(1, 3, [(0, 0)], answer.hex(), {}).count)
    assert [1, 1, 2, 3, 2] == counts


@pytest.mark.parametrize("text", ["", "{", "[]", '{"epoch": "x"}', '{"epoch": 1}', "null"])
def test_a_file_that_cannot_be_read_begins_a_new_epoch(tmp_path: Path, text: str) -> None:
    """The ledger's highest mark decides: nothing new may look like something old."""
    path = tmp_path / "m.json"
    path.write_text(text, encoding="utf-8")
    memory = Memory.load(path, {1: (4, 17), 2: (2, 9)})
    assert (5, {}, None) == (memory.epoch, memory.counts, memory.asking)


def test_a_file_older_than_the_ledger_begins_a_new_epoch(tmp_path: Path) -> None:
    """Restored from a backup it knows fewer wins than the ledger; what it holds open is done with."""
    path = tmp_path / "m.json"
    told(Memory.load(path, {}))
    same = Memory.load(path, {1: (1, 1)})
    assert (1, 1) == (same.epoch, len(same.undone))
    older = Memory.load(path, {1: (1, 2)})
    assert (2, []) == (older.epoch, older.undone)


def test_who_is_asked_first_after_a_crash(tmp_path: Path) -> None:
    """The game that was asked last: what it answered may be lost with us. Then those that may hold something."""
    path = tmp_path / "m.json"
    memory = Memory.load(path, {})
    told(memory, address=2)
    memory.ask(7)
    assert [7, 2] == Memory.load(path, {}).first
    memory.settled(7)
    memory.save()
    assert [2] == Memory.load(path, {}).first


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """What cannot be kept must not be acknowledged."""
    (tmp_path / "file").write_text("")
    memory = Memory.load(tmp_path / "file" / "m.json", {})
    for _ in range(2):  # nor is it taken for kept the second time
        with pytest.raises(OSError, match="file"):
            told(memory)
        with pytest.raises(OSError, match="file"):
            memory.ask(1)
    assert ([], {}, None) == (memory.undone, memory.counts, memory.asking)


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    """A technician can read it."""
    memory = Memory.load(tmp_path / "m.json", {})
    told(memory)
    assert 1 == json.loads((tmp_path / "m.json").read_text("utf-8"))["epoch"]
