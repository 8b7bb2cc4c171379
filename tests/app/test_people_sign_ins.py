"""Signing in: who is proven, what a guess costs, and where the work is done."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from meterd.accounting.commands import Role
from meterd.config import People, Person
from meterd.edge import secrets
from meterd.edge.secrets import FORGET_S, FREE_PERSON, FREE_UID, WAIT_MAX_S, Denied, Shown, SignIns, SlowDown

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PEOPLE = People(
    (
        Person("sup-1", Role.SUPERVISOR, pin_hash=CHEAP.hash("112233")),
        Person("adm-1", Role.ADMINISTRATOR, pin_hash=CHEAP.hash("445566")),
        Person("tech-1", Role.TECHNICIAN, badge="26:0123ABC0"),
    )
)
UID = 1000
SUP, ADM = Shown("sup-1", "112233"), Shown("adm-1", "445566")


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


class Desk:
    """Sign-ins with a clock of ours, and a count of how often argon2 was asked."""

    def __init__(self, people: People = PEOPLE) -> None:
        self.clock = Clock()
        self.verified: list[tuple[str, str]] = []
        self.threads: set[str] = set()
        self.niceness: set[int] = set()
        self.sign_ins = SignIns(people, now=self.clock, verify=self._verify)

    def _verify(self, pin_hash: str, pin: str) -> bool:
        self.verified.append((pin_hash, pin))
        self.threads.add(threading.current_thread().name)
        self.niceness.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return secrets.verify_pin(pin_hash, pin)

    def check(self, *shown: Shown, uid: int = UID) -> tuple[Person, ...] | Denied:
        return asyncio.run(self.sign_ins.check(uid, shown))


def wait_of(answer: tuple[Person, ...] | Denied) -> int:
    assert isinstance(answer, Denied), answer
    return answer.wait_s


def test_who_knows_the_pin_is_proven_in_the_order_signed() -> None:
    """The second person stays the second; the case of an id does not matter."""
    desk = Desk()
    assert (PEOPLE.by_id("adm-1"), PEOPLE.by_id("sup-1")) == desk.check(ADM, Shown("SUP-1", "112233"))


@pytest.mark.parametrize("pin", ["", "112234", "112233 ", "445566", "\ud800", "1" * 256])
def test_a_wrong_pin_proves_nobody(pin: str) -> None:
    """Nor does a text that cannot be encoded."""
    answer = Desk().check(Shown("sup-1", pin))
    assert isinstance(answer, Denied)
    assert pin == "" or pin not in answer.text


def test_an_id_nobody_has_costs_the_same_work_and_hears_the_same_words() -> None:
    """Neither time nor words tell which ids exist, or who has a badge only."""
    desk = Desk()
    answers = [desk.check(Shown(name, "999999")) for name in ("sup-1", "sup-9", "tech-1")]
    said = {
        each.text.replace(name, "ID")
        for each, name in zip(answers, ("sup-1", "sup-9", "tech-1"), strict=True)
        if isinstance(each, Denied)
    }
    assert 1 == len(said)
    assert 3 == len(desk.verified)
    costs = {pin_hash.rsplit("$", 2)[0] for pin_hash, _ in desk.verified}
    assert 1 == len(costs), "the decoy is as dear as a person's hash"


def test_behind_a_wrong_pin_the_other_is_checked_too() -> None:
    """So that the time does not tell which of two was wrong."""
    desk = Desk()
    desk.check(Shown("sup-1", "999999"), ADM)
    assert ["999999", "445566"] == [pin for _, pin in desk.verified]


def test_guesses_get_slow_without_end_and_the_answer_says_how_slow() -> None:
    """Three slips are free; then 1, 2, 4 … seconds, never more than the bound. While it waits, nothing is verified."""
    desk = Desk()
    for _ in range(FREE_PERSON):
        assert 0 == wait_of(desk.check(Shown("sup-1", "999999")))
    waits = []
    for _ in range(14):
        verified = len(desk.verified)
        answer = desk.check(SUP)
        waits.append(wait_of(answer))
        assert verified == len(desk.verified), "the right PIN must not be tried while it waits"
        assert str(waits[-1]) in (answer.text if isinstance(answer, Denied) else "")
        desk.clock.s += waits[-1]
        assert 0 == wait_of(desk.check(Shown("sup-1", "999999"), uid=UID + len(waits)))
    assert [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] == waits[:10]
    assert {WAIT_MAX_S} == set(waits[10:])
    desk.clock.s += WAIT_MAX_S
    assert (PEOPLE.by_id("sup-1"),) == desk.check(SUP, uid=1)
    assert 0 == wait_of(desk.check(Shown("sup-1", "999999"), uid=1)), "who knows the PIN starts anew"


def test_a_uid_that_tries_many_ids_waits_too() -> None:
    """Each id once is no way round."""
    desk = Desk()
    for number in range(FREE_UID):
        assert 0 == wait_of(desk.check(Shown(f"sup-{number + 2}", "999999")))
    assert 1 == wait_of(desk.check(SUP))
    assert (PEOPLE.by_id("sup-1"),) == desk.check(SUP, uid=UID + 1)


def test_a_day_without_a_failure_is_forgotten() -> None:
    """Slips of last week do not add up."""
    clock = Clock()
    slow = SlowDown(1, clock)
    slow.failed("a")
    slow.failed("a")
    assert 2 == slow.wait_s("a")
    clock.s += FORGET_S
    slow.failed("a")
    assert 1 == slow.wait_s("a")


def test_invented_ids_do_not_push_out_what_is_known_of_a_person() -> None:
    """However many ids somebody makes up, a person's count stays, and memory is bounded."""
    desk = Desk(PEOPLE)
    for _ in range(FREE_PERSON):
        desk.check(Shown("sup-1", "999999"))
    for number in range(secrets.NAMES_MAX + 10):
        desk.sign_ins._unknown.failed(f"x{number}")
    assert 1 == wait_of(desk.check(SUP, uid=1))
    assert secrets.NAMES_MAX == len(desk.sign_ins._unknown._failed)


def test_guesses_sent_at_once_are_tried_one_after_the_other() -> None:
    """Fifty at the same moment get no more tries than fifty in a row: three."""
    desk = Desk()

    async def at_once() -> Sequence[tuple[Person, ...] | Denied]:
        return await asyncio.gather(*(desk.sign_ins.check(UID, [Shown("sup-1", f"{n:06}")]) for n in range(50)))

    answers = asyncio.run(at_once())
    assert FREE_PERSON == len(desk.verified)
    assert all(isinstance(answer, Denied) for answer in answers)


def test_argon2_runs_in_a_thread_of_its_own_and_the_loop_goes_on() -> None:
    """While a hash is being computed the loop that drives the wires turns."""
    entered, go_on = threading.Event(), threading.Event()

    def verify(_hash: str, _pin: str) -> bool:
        entered.set()
        return go_on.wait(20)

    async def main() -> tuple[Person, ...] | Denied:
        checking = asyncio.create_task(SignIns(PEOPLE, verify=verify).check(UID, [SUP]))
        await asyncio.to_thread(entered.wait, 20)
        assert not checking.done()
        go_on.set()  # reached only because this loop was not held up
        return await checking

    assert (PEOPLE.by_id("sup-1"),) == asyncio.run(main())
    desk = Desk()
    desk.check(SUP, ADM)
    assert all(name.startswith("sign-in") for name in desk.threads)
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert {max(secrets.NICE, ours)} == desk.niceness, "lamps go before sign-ins"


def test_the_service_lets_that_thread_make_way() -> None:
    """Setting a niceness is among the calls that the unit forbids otherwise, and a forbidden call ends the daemon."""
    unit = (Path(__file__).parents[2] / "systemd" / "meterd.service").read_text(encoding="utf-8")
    filters = [line for line in unit.splitlines() if line.startswith("SystemCallFilter=")]
    assert filters.index("SystemCallFilter=setpriority") > filters.index("SystemCallFilter=~@privileged @resources")


def test_a_made_hash_is_what_a_people_file_takes_and_fits_its_pin_only() -> None:
    """The product's own cost, once."""
    made = secrets.hash_pin("271828")
    assert (True, False) == (secrets.verify_pin(made, "271828"), secrets.verify_pin(made, "271829"))
    assert made != secrets.hash_pin("271828"), "a salt of its own each time"


@pytest.mark.parametrize("pin", ["", "12345", "111111", " 123456", "12345\x006", "1" * 65])
def test_a_poor_pin_is_refused(pin: str) -> None:
    """Short, the same character over and over, or with something that cannot be typed again."""
    assert secrets.pin_problem(pin)


def test_no_pin_and_no_hash_is_shown_where_things_are_printed() -> None:
    """A traceback or a log line gives nothing away."""
    assert "112233" not in repr(SUP)
    assert "argon2" not in repr(PEOPLE)
