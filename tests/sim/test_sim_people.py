"""The people of a table do what players and dealers do, and only on what lamps and pad tell them."""

from __future__ import annotations

import asyncio

import pytest
from sim_floor import FIVE_CARD_ROWS, LIMIT_S, Stage

from meterd.edge.files import load_paytables
from meterd.paytables.outcome import outcome
from meterd.sim.plan import Habits
from protocols import pad_words

QUIET = Habits(lucky=0, late=0, take_back=0, mistype=0, void_seat=0, void_round=0)


def play(habits: Habits, rounds: int, *, seed: int = 20261130, confirm: bool = True, refused: int = 0) -> Stage:
    print("seed", seed)

    async def scene() -> Stage:
        stage = Stage(habits, seed, confirm=confirm)
        stage.floor.refused_confirms = refused
        await stage.play(rounds)
        return stage

    return asyncio.run(scene())


def test_a_quiet_night() -> None:
    """Every chip that stood at LOCK has a steady lamp, timed from the press; nothing is keyed that nobody won."""
    stage = play(QUIET, 20)
    locks = {event["lock"]: set(event["seats"]) for event in stage.events("lock")}
    steady: dict[int, set[int]] = {}
    for event in stage.events("lamp"):
        if event["lamp"] == "steady":
            steady.setdefault(event["lock"], set()).add(event["seat"])
            assert event["ms"] >= 0
    assert locks == steady
    summary = stage.journal.summary()
    assert sum(map(len, locks.values())) == summary["steady_lamps_seen"] == summary["wagers"]
    assert (0, 0, 0) == (summary["late_bets"], summary["mistyped"], summary["keys_unanswered"])
    assert summary["lamp_ms"]["p50"] <= summary["lamp_ms"]["p99"]


def test_what_is_keyed_is_what_was_dealt() -> None:
    """With a lucky deck each claim is the row that the pay table gives those cards, and none is missing."""
    table = load_paytables()["co/nexus/pmg-ml-02"]
    stage = play(Habits(lucky=1, late=0, take_back=0.1, mistype=0.3, void_seat=0, void_round=0), 12)
    expected = []
    for deal in stage.events("dealt"):
        for seat in sorted(map(int, deal["seats"]), reverse=True):
            won = outcome(table, cards=deal["seats"][str(seat)], community=deal["board"]).row
            if won is not None:
                expected.append((seat, FIVE_CARD_ROWS.index(won.hand) + 1))
    assert expected[: len(stage.floor.claims)] == stage.floor.claims
    assert stage.journal.counts["claims"] >= 12
    assert {1, 2, 3} <= {hand for _, hand in stage.floor.claims}


def test_mistypes_are_cleared_before_enter() -> None:
    """A line that reads wrong is cleared and keyed again; ENTER only ever follows the right one."""
    stage = play(Habits(lucky=1, late=0, take_back=0, mistype=0.5, void_seat=0, void_round=0), 8)
    assert stage.journal.counts["mistyped"] >= 3
    assert stage.floor.keyed.count(pad_words.KEY_CLEAR) >= stage.journal.counts["mistyped"]
    assert [(event["seat"], FIVE_CARD_ROWS.index(event["hand"]) + 1) for event in stage.events("claim")] == (
        stage.floor.claims[: len(stage.events("claim"))]
    )


def test_a_supervisor_confirms_and_pays() -> None:
    """Every award that waits is confirmed and paid before the round ends."""
    stage = play(Habits(lucky=1, late=0, take_back=0, mistype=0, void_seat=0, void_round=0), 6)
    counts = stage.journal.counts
    assert counts["claims"] >= 6
    assert counts["claims"] == counts["confirmed"] == counts["paid"]


def test_awards_that_need_no_supervisor_are_paid() -> None:
    """Where claims are confirmed at once the supervisor only pays."""
    stage = play(Habits(lucky=1, late=0, take_back=0, mistype=0, void_seat=0, void_round=0), 6, confirm=False)
    assert stage.journal.counts["claims"] == stage.journal.counts["paid"]
    assert 0 == stage.journal.counts["confirmed"]


def test_an_award_that_cannot_be_confirmed_is_voided() -> None:
    """Refused twice, the supervisor voids the award, so that the game goes on."""
    stage = play(Habits(lucky=1, late=0, take_back=0, mistype=0, void_seat=0, void_round=0), 2, refused=2)
    voids = [event for event in stage.events("supervisor") if event["answer"].startswith("OK void")]
    assert 1 == len(voids)


def test_late_bets_are_late() -> None:
    """A late chip is put after LOCK on a seat that has none, its lamp stays dark, and it goes before END GAME."""
    stage = play(Habits(lucky=0, late=1, take_back=0, mistype=0, void_seat=0, void_round=0, busy=0.4), 6)
    assert stage.journal.counts["late_bets"] >= 4
    assert len(set(stage.floor.late)) == len({event["seat"] for event in stage.events("late")})
    assert 0 == stage.journal.counts["late_lamps_lit"]
    lit = {(event["lock"], event["seat"]) for event in stage.events("lamp") if event["lamp"] == "steady"}
    assert not lit & {(event["lock"], event["seat"]) for event in stage.events("late")}


def test_seats_and_rounds_are_voided() -> None:
    """A voided seat is not claimed; a misdeal claims nothing."""
    stage = play(Habits(lucky=0.5, late=0, take_back=0, mistype=0, void_seat=1, void_round=0.3), 10)
    assert len(stage.floor.voided) == stage.journal.counts["seats_voided"] >= 4
    assert stage.journal.counts["rounds_voided"] >= 1


def test_the_same_seed_plays_the_same_cards() -> None:
    """Cards and choices come from the seed alone."""
    first, second = (play(QUIET, 4, seed=7) for _ in range(2))
    other = play(QUIET, 4, seed=8)

    def dealt(stage: Stage) -> list[object]:
        return [(event["board"], event["seats"]) for event in stage.events("dealt")][:4]

    assert dealt(first) == dealt(second) != dealt(other)


@pytest.mark.parametrize("state", ["CLOSED END GAME", "LOCKED 3 $3.00"])
def test_after_a_fault_the_dealer_presses_end_game(state: str) -> None:
    """Only END GAME opens such a table; a round left LOCKED is ended, and not counted as one of ours."""

    async def scene() -> Stage:
        stage = Stage(QUIET, 3)
        stage.floor.begin_with(state)
        floor, people = asyncio.create_task(stage.floor.serve()), asyncio.create_task(stage.people.play())
        assert await stage.table.until(stage.table.is_open, LIMIT_S)
        people.cancel()
        floor.cancel()
        return stage

    stage = asyncio.run(scene())
    assert stage.floor.keyed[0] == pad_words.KEY_END_GAME
    assert 0 == stage.journal.counts["rounds"]


def test_a_dead_pad_stops_nobody() -> None:
    """With nobody polling, keys stay unanswered, lamps stay dark, and no round is counted."""

    async def scene() -> Stage:
        stage = Stage(QUIET, 3)
        stage.floor.ask("50100000001020" + "OPEN 0 BETS".ljust(32).encode().hex())
        people = asyncio.create_task(stage.people.play())
        assert not await stage.table.until(stage.table.is_locked, 0.2)
        people.cancel()
        return stage

    stage = asyncio.run(scene())
    assert 0 == stage.journal.counts["rounds"] + stage.journal.counts["wagers"]
    assert [] == stage.events("lock")
