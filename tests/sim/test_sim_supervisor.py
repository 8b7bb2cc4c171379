"""The supervisor of a rehearsal: what the pad cannot take is proved with its cards at the pit, or voided by two."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sim_floor import FIVE_CARD_ROWS, Stage

from meterd.edge.files import load_paytables
from meterd.paytables.outcome import outcome
from meterd.sim.pit import Pit, Said
from meterd.sim.plan import Habits, PersonPlan, PitPlan, Plan, PlanError

LUCKY = Habits(lucky=1, late=0, take_back=0, mistype=0, void_seat=0, void_round=0)
PEOPLE = (PersonPlan("sup-1", "11223344"), PersonPlan("sup-2", "55667788"))


class ScriptedPit:
    """The daemon's end of the control socket: it takes cards, or refuses them with each of ``refuses`` in turn."""

    def __init__(self, stage: Stage, *refuses: str) -> None:
        self._stage = stage
        self._refuses = list(refuses)
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = json.loads(await reader.readline())
        writer.write(json.dumps(self._answer(request)).encode() + b"\n")
        await writer.drain()
        writer.close()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        floor = self._stage.floor
        if request["op"] == "snapshot":
            return {"awards": [{"id": award, "seat": seat} for award, seat in floor.open_awards().items()]}
        self.asked.append(request)
        verb, award, *_ = request["statement"].split()
        if verb == "confirm" and self._refuses:
            refused = self._refuses.pop(0)
            return {"refused": refused, "text": "no"} if refused.isupper() else {"error": refused}
        floor.settle_at_the_pit(award, "PAY" if verb == "confirm" else "")
        return {"ok": True}


def play(folder: Path, rounds: int, *refuses: str) -> tuple[Stage, ScriptedPit]:
    """Rounds in which every award needs its cards."""

    async def scene() -> tuple[Stage, ScriptedPit]:
        stage = Stage(LUCKY, 20261130, pit=Pit(PitPlan(str(folder / "pit.sock"), PEOPLE)))
        stage.floor.needs_cards = True
        pit = ScriptedPit(stage, *refuses)
        async with await asyncio.start_unix_server(pit, folder / "pit.sock"):
            await stage.play(rounds)
        return stage, pit

    return asyncio.run(scene())


def test_cards_are_entered_at_the_pit(tmp_path: Path) -> None:
    """Each award is confirmed there with the cards dealt to its seat, by one person, and paid at the pad."""
    table = load_paytables()["co/nexus/pmg-ml-02"]
    stage, pit = play(tmp_path, 5)
    counts = stage.journal.summary()
    assert counts["claims"] == counts["confirmed"] == counts["paid"] >= 5
    assert 0 == counts["awards_voided"]
    assert all([{"id": "sup-1", "pin": "11223344"}] == each["by"] for each in pit.asked)
    deals = {event["lock"]: event for event in stage.events("dealt")}
    claims = stage.events("claim")
    for claim, said in zip(claims, stage.events("pit"), strict=False):
        deal = deals[claim["lock"]]
        cards = deal["seats"][str(claim["seat"])]
        assert f'confirm {said["award"]} cards "{cards}" community "{deal["board"]}"' == said["statement"]
        won = outcome(table, cards=cards, community=deal["board"]).row
        assert won is not None
        assert won.hand == claim["hand"] in FIVE_CARD_ROWS
        assert "OK" == said["answer"]


def test_only_what_was_taken_is_counted(tmp_path: Path) -> None:
    """The pad's CARDS AT THE PIT is no confirmation: the summary counts an award once."""
    stage, _ = play(tmp_path, 3)
    answers = [event["answer"] for event in stage.events("supervisor")]
    pads = sum(answer.startswith("OK") for answer in answers)
    assert any(answer.startswith("CARDS AT THE PIT") for answer in answers)
    counts = stage.journal.counts
    assert pads + len(stage.events("pit")) == counts["confirmed"] + counts["paid"]


def test_cards_that_do_not_prove_are_voided_by_two(tmp_path: Path) -> None:
    """Two people sign, since a large award takes two; nothing of it is paid."""
    stage, pit = play(tmp_path, 2, "CARDS_DISAGREE")
    confirm, void = pit.asked[:2]
    award = confirm["statement"].split()[1]
    assert f"void {award} reason no-proof" == void["statement"]
    assert ["sup-1", "sup-2"] == [each["id"] for each in void["by"]]
    assert 1 == stage.journal.summary()["awards_voided"]
    assert ["PAY", award] not in [event["asked"] for event in stage.events("supervisor")]


@pytest.mark.parametrize("answer", ["EARLIER_AWARD_PENDING", "the daemon takes nothing now"])
def test_an_earlier_award_is_waited_for(tmp_path: Path, answer: str) -> None:
    """Another table has to settle its own first, or nobody took the act: asked again, never voided."""
    stage, pit = play(tmp_path, 2, answer, answer)
    assert pit.asked[0]["statement"] == pit.asked[1]["statement"] == pit.asked[2]["statement"]
    counts = stage.journal.summary()
    assert (0, counts["claims"]) == (counts["awards_voided"], counts["confirmed"])


def test_where_nobody_answers_the_pit_says_so(tmp_path: Path) -> None:
    """No daemon there: an answer in words, and no award is known."""

    async def scene() -> tuple[int | None, Said]:
        pit = Pit(PitPlan(str(tmp_path / "nothing"), PEOPLE))
        return await pit.seat_of("A1"), await pit.act("hold A1")

    seat, said = asyncio.run(scene())
    assert (None, False, "") == (seat, said.done, said.refused)
    assert said.text.startswith(f"nobody answers at {tmp_path}/nothing")


@pytest.mark.parametrize(
    ("pit", "says"),
    [
        ({"socket": "/x", "people": [{"id": "a", "pin": "1"}]}, "two people"),
        ({"socket": "/x", "people": [{"id": "a", "pin": "1"}, {"id": "a", "pin": "2"}]}, "two people"),
        ({"socket": "/x", "people": [{"id": "a", "pin": 123456}, {"id": "b", "pin": "2"}]}, "texts"),
        ({"socket": "/x", "persons": []}, "no persons"),
        ({"people": []}, "lacks socket"),
        ({"socket": "/x", "people": [{"id": "a"}, {"id": "b"}]}, "lacks pin"),
    ],
)
def test_a_plan_names_what_its_pit_lacks(pit: dict[str, Any], says: str) -> None:
    """Each mistake with its place."""
    bus = {"id": "s", "kind": "alpha", "port": "/nowhere/s", "baud": 9600}
    with pytest.raises(PlanError, match=says):
        Plan.parse(json.dumps({"buses": [bus], "pit": pit}))
