"""Acts over the socket of a real daemon: proven people, once, answered after COMMIT."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from floor_rig import LIMIT_S, Child, Floor, named

from meterd.app.verify import verify
from meterd.edge.control import ask

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PINS = {"sup-1": "112233", "adm-1": "445566", "acc-1": "778899", "dlr-1": "135790", "reg-1": "246801"}
ROLES = {"sup": "supervisor", "adm": "administrator", "acc": "accounting", "dlr": "dealer", "reg": "regulator"}
LOST = str(Path(__file__).with_name("answer_lost.py"))
PAPER = 'ref "paper 7"'


def people_file(floor: Floor) -> None:
    lines = [
        f'[[person]]\nid = "{name}"\nrole = "{ROLES[name[:3]]}"\npin_hash = "{CHEAP.hash(pin)}"\n'
        for name, pin in PINS.items()
    ]
    floor.site_file.with_name("people.toml").write_text("\n".join(lines), encoding="utf-8")


Start = Callable[..., tuple[Floor, Child]]


@pytest.fixture
def start(make_floor: Callable[..., Floor]) -> Start:
    """A daemon whose ports nobody opened: its tables are closed, its links take acts all the same."""

    def make(*, people: bool = True, program: tuple[str, ...] = ("-m", "meterd")) -> tuple[Floor, Child]:
        floor = make_floor(people=False)
        if people:
            people_file(floor)
        run = floor.start_run(program=program)
        floor.until_kinds(2 * len(floor.site.tables), "DeviceLost", run)  # from now on acts alone write
        return floor, run

    return make


def by(*names: str, **pins: str) -> list[dict[str, str]]:
    return [{"id": name, "pin": pins.get(name.replace("-", "_"), PINS.get(name.lower(), "000001"))} for name in names]


def act(floor: Floor, statement: str, *names: str, request_id: str | None = None, **pins: str) -> dict[str, Any]:
    request: dict[str, Any] = {"op": "act", "statement": statement, "by": by(*names, **pins)}
    if request_id is not None:
        request["request_id"] = request_id
    return ask(floor.socket, request, 20.0)


def body(record: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record.body)
    return found


def test_two_people_adjust_a_meter_and_hear_of_it_after_the_commit(start: Start) -> None:
    """The answer names an entry that is on disk; it holds who asked, from which uid, in which words."""
    floor, run = start()
    answer = act(floor, f"adjust nexus-1/mega amount 12.34 {PAPER}", "sup-1", "adm-1")
    (entry,) = floor.of_kind("Adjusted")
    assert (True, entry.seq) == (answer["ok"], answer["seq"])
    assert "USD 12.34" in answer["text"]
    assert "nexus-1/mega shows USD 50,012.34" in answer["text"]
    assert "sup-1" == entry.actor
    assert {"uid": os.getuid(), "by": ["sup-1", "adm-1"]}.items() <= body(entry)["asked"].items()
    assert ("adm-1", "paper 7") == (body(entry)["second"], body(entry)["reference"])
    assert 5_001_234 == floor.snapshot()["links"]["nexus-1"]["levels"]["mega"]["display_cents"]
    assert 0 == floor.end(run)
    assert verify(floor.ledger).ok


REFUSED = [
    (f"adjust nexus-1/mega amount 1.00 {PAPER}", ("sup-1",), "SECOND_PERSON_REQUIRED", True),
    (f"adjust nexus-1/mega amount 1.00 {PAPER}", ("sup-1", "sup-1"), "SAME_PERSON", True),
    (f"adjust nexus-1/mega amount 1.00 {PAPER}", ("sup-1", "SUP-1"), "SAME_PERSON", True),
    (f"adjust nexus-1/mega amount 1.00 {PAPER}", ("sup-1", "dlr-1"), "NOT_AUTHORISED", True),
    (f"adjust nexus-1/mega amount 1.00 {PAPER}", ("reg-1", "adm-1"), "NOT_AUTHORISED", True),
    ("adjust nexus-1/mega amount 1.00", ("sup-1", "adm-1"), "SECOND_PERSON_REQUIRED", True),
    (f"adjust nexus-1/mega amount -1.00 {PAPER}", ("sup-1", "adm-1"), "AMOUNT_OUT_OF_BOUNDS", True),
    (f"adjust nexus-1/mega amount 1.001 {PAPER}", ("sup-1", "adm-1"), "AMOUNT_OUT_OF_BOUNDS", False),
    (f"adjust nexus-1/mega amount NaN {PAPER}", ("sup-1", "adm-1"), "AMOUNT_OUT_OF_BOUNDS", False),
    (f"adjust nexus-1/maga amount 1.00 {PAPER}", ("sup-1", "adm-1"), "TABLE_UNKNOWN", True),
    ("void-round LIR-9", ("sup-1",), "TABLE_UNKNOWN", True),
    ("confirm A1", ("sup-1",), "AWARD_UNKNOWN", True),
    ("confirm A1", ("dlr-1",), "NOT_AUTHORISED", True),
    ("open-table LIR-1", ("sup-1",), "TABLE_CLOSED", True),
    ("suspend nexus-1 reason late", ("sup-1",), "NOT_AUTHORISED", False),  # with a PIN that is wrong
]


def test_what_is_refused_changes_no_account_and_says_why(start: Start) -> None:
    """A rule's refusal is an entry and moves nothing; what no rule was asked leaves none; each has its reason."""
    floor, _run = start()
    for statement, names, reason, is_entry in REFUSED:
        before = floor.records()
        pins = {"sup_1": "999999"} if statement.endswith("late") else {}
        answer = act(floor, statement, *names, **pins)
        assert reason == answer.get("refused"), (statement, answer)
        assert len(answer["text"]) > 10
        new = floor.records()[len(before) :]
        assert ["Refused"] * is_entry == [record.kind for record in new], (statement, new)
        assert [()] * is_entry == [record.postings for record in new]
    assert floor.snapshot()["residual_microcents"] == 0


def test_a_wrong_pin_writes_nothing_but_a_line_of_the_log(start: Start) -> None:
    """Who could not be proven did not ask: the ledger says nothing, the log says who was named and from which uid."""
    floor, run = start()
    before = [record.hash for record in floor.records()]
    for names in (("sup-1", "adm-1"), ("sup-2", "adm-1")):
        answer = act(floor, f"adjust nexus-1/mega amount 1.00 {PAPER}", *names, sup_1="999999")
        assert "NOT_AUTHORISED" == answer["refused"]
    assert before == [record.hash for record in floor.records()]
    floor.until(lambda: len(named(run.log.read(), "act.denied")) == 2, "two log lines", run)
    denied = named(run.log.read(), "act.denied")
    assert [["sup-1", "adm-1"], ["sup-2", "adm-1"]] == [line["people"] for line in denied]
    assert {os.getuid()} == {line["uid"] for line in denied}
    said = run.log.path.read_text(encoding="utf-8")
    assert not [pin for pin in (*PINS.values(), "999999") if pin in said]


def test_a_people_file_with_findings_starts_nothing(make_floor: Callable[..., Floor]) -> None:
    """Exit 78 with line and key, before the ledger is touched; a PIN in clear is not repeated."""
    floor = make_floor(people=False)
    page = '[[person]]\nid = "sup-1"\nrole = "supervisor"\npin_hash = "271828"\n'
    floor.site_file.with_name("people.toml").write_text(page, encoding="utf-8")
    before = len(floor.records())
    run = floor.spawn_run()
    assert 78 == run.wait()
    said = run.log.path.read_text(encoding="utf-8")
    assert "people.toml:4: person[0].pin_hash" in said
    assert "271828" not in said
    assert before == len(floor.records())


def test_without_a_people_file_nobody_acts(start: Start) -> None:
    """And it says what is missing."""
    floor, _run = start(people=False)
    answer = act(floor, "suspend nexus-1 reason x", "sup-1")
    assert "NOT_AUTHORISED" == answer["refused"]
    assert "people file" in answer["text"]


def test_a_request_sent_again_is_answered_as_before_and_done_once(start: Start) -> None:
    """One after the other, and ten at the same moment; a refusal too; across a restart."""
    floor, run = start()
    line = f"adjust nexus-1/mega amount 1.00 {PAPER}"
    with ThreadPoolExecutor(10) as clients:
        answers = list(clients.map(lambda _: act(floor, line, "sup-1", "adm-1", request_id="shift-7.1"), range(10)))
    again = act(floor, line, "sup-1", "adm-1", request_id="shift-7.1")
    assert {True} == {each["ok"] for each in (*answers, again)}
    assert 1 == len({each["seq"] for each in (*answers, again)})
    assert [True] == [each["repeated"] for each in (again,)]
    refusal = act(floor, "confirm A9", "sup-1", request_id="shift-7.2")
    repeated = act(floor, "confirm A9", "sup-1", request_id="shift-7.2")
    assert {**refusal, "repeated": True, "text": repeated["text"]} == repeated
    assert repeated["text"].startswith(f"{refusal['text']} This is the answer of entry {refusal['seq']} once more")
    assert 0 == floor.end(run)
    floor.start_run()
    assert (
        again["text"].splitlines()[0]
        == act(floor, line, "sup-1", "adm-1", request_id="shift-7.1")["text"].splitlines()[0]
    )
    assert 1 == len(floor.of_kind("Adjusted"))
    assert 1 == len([record for record in floor.of_kind("Refused") if body(record)["command"] == "Confirm"])


def test_another_request_under_the_same_id_is_refused(start: Start) -> None:
    """An id is one request's: other words, or other people, are another one."""
    floor, _run = start()
    assert act(floor, "suspend nexus-1 reason x", "sup-1", request_id="r1")["ok"]
    before = len(floor.records())
    other_words = act(floor, "suspend tcp-1 reason x", "sup-1", request_id="r1")
    other_people = act(floor, "suspend nexus-1 reason x", "adm-1", request_id="r1")
    assert ["ALREADY_DONE"] * 2 == [other_words["refused"], other_people["refused"]]
    wrong_pin = act(floor, "suspend nexus-1 reason x", "sup-1", request_id="r1", sup_1="999999")
    assert "NOT_AUTHORISED" == wrong_pin["refused"], "an old answer is nobody's to read either"
    assert before == len(floor.records())


def test_killed_between_commit_and_answer_a_repeat_does_it_once(start: Start) -> None:
    """The client never heard; it asks again with the same id and hears what happened."""
    floor, run = start(program=(LOST,))
    line = f"adjust nexus-1/mega amount 5.00 {PAPER}"
    request = {"op": "act", "statement": line, "by": by("sup-1", "adm-1"), "request_id": "lost-1"}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(floor.socket))
        client.sendall(json.dumps(request).encode() + b"\n")
        floor.until_kinds(1, "Adjusted", run)
        floor.end(run, signal.SIGKILL)
        client.settimeout(20)
        assert b"" == client.recv(1), "nobody was told"
    floor.start_run()
    answer = act(floor, line, "sup-1", "adm-1", request_id="lost-1")
    assert (True, True) == (answer["ok"], answer["repeated"])
    (entry,) = floor.of_kind("Adjusted")
    assert entry.seq == answer["seq"]
    assert 5_000_500 == floor.snapshot()["links"]["nexus-1"]["levels"]["mega"]["display_cents"]
    assert verify(floor.ledger).ok


def test_a_client_that_leaves_changes_nothing_of_what_it_asked(start: Start) -> None:
    """The act is decided all the same, once."""
    floor, run = start()
    request = {"op": "act", "statement": "suspend nexus-1 reason x", "by": by("sup-1"), "request_id": "gone"}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(floor.socket))
        client.sendall(json.dumps(request).encode() + b"\n")
    floor.until_kinds(1, "LinkSuspended", run)
    assert act(floor, "suspend nexus-1 reason x", "sup-1", request_id="gone")["repeated"]


SHAPES: list[dict[str, Any]] = [
    {},
    {"statement": 7, "by": by("sup-1")},
    {"statement": "confirm A1"},
    {"statement": "confirm A1", "by": []},
    {"statement": "confirm A1", "by": "sup-1"},
    {"statement": "confirm A1", "by": [{"id": "sup-1"}]},
    {"statement": "confirm A1", "by": [{"id": "sup-1", "pin": 112233}]},
    {"statement": "confirm A1", "by": [None]},
    {"statement": "confirm A1", "by": by("sup-1", "adm-1", "acc-1")},
    {"statement": "confirm A1\npay A1", "by": by("sup-1")},
    {"statement": "suspend nexus-1 reason \ud800", "by": by("sup-1")},
    {"statement": "suspend nexus-1 reason " + "x" * 2000, "by": by("sup-1")},
    {"statement": "confirm A1", "by": by("sup-1"), "request_id": "a:1:1"},
    {"statement": "confirm A1", "by": by("sup-1"), "request_id": ["a"]},
    {"statement": "confirm A1", "by": by("sup-1"), "request_id": ""},
    {"statement": "confirm A1", "by": [{"id": "\ud800", "pin": "1"}]},
    {"statement": "expect accounts sum 0", "by": by("sup-1")},
    {"statement": "restart", "by": by("sup-1")},
    {"statement": "lock LIR-1", "by": by("sup-1")},
]


def test_requests_of_any_shape_are_answered_and_leave_no_trace(start: Start) -> None:
    """The daemon lives, and the ledger says nothing of what was no act."""
    floor, _run = start()
    before = len(floor.records())
    for request in SHAPES:
        answer = ask(floor.socket, {"op": "act", **request}, 20.0)
        assert {"error"} == set(answer), (request, answer)
    assert before == len(floor.records())
    assert act(floor, "suspend nexus-1 reason still-here", "sup-1")["ok"]


def test_the_command_line_says_what_happened_in_words(start: Start) -> None:
    """Exit 0 with amounts, 2 with a reason; PINs from standard input; nothing on standard output but the answer."""
    floor, _run = start()

    def run_act(*words: str, pins: str) -> subprocess.CompletedProcess[str]:
        where = () if "--socket" in words else ("--socket", str(floor.socket))
        command = (sys.executable, "-m", "meterd", "act", *words, *where, "--pins-from", "-")
        return subprocess.run(command, input=pins, capture_output=True, text=True, timeout=20, check=False)

    both = f"{PINS['sup-1']}\n{PINS['adm-1']}\n"
    words = ("adjust tcp-1/main amount 1,000.00", "--by", "sup-1", "--and", "adm-1", "--ref", "paper 9")
    done = run_act(*words, "--request", "c1", pins=both)
    assert 0 == done.returncode, done
    assert "tcp-1/main: adjusted (USD 1,000.00)\ntcp-1/main shows USD 2,000.00\n" == done.stdout
    again = run_act(*words, "--request", "c1", "--json", pins=both)
    assert (0, True) == (again.returncode, json.loads(again.stdout)["repeated"])
    refused = run_act("confirm A1", "--by", "sup-1", pins=both)
    assert (2, "") == (refused.returncode, refused.stdout)
    assert "refused AWARD_UNKNOWN" in refused.stderr
    wrong = run_act("confirm A1", "--by", "sup-1", pins="000000\n")
    assert (2, True) == (wrong.returncode, "NOT_AUTHORISED" in wrong.stderr)
    too_few = run_act(*words, pins=f"{PINS['sup-1']}\n")
    assert (2, True) == (too_few.returncode, "2 people sign" in too_few.stderr)
    nobody = run_act("confirm A1", "--by", "sup-1", "--socket", str(floor.socket) + "x", pins=both)
    assert (2, True) == (nobody.returncode, "no daemon answers" in nobody.stderr)


def test_killed_again_and_again_each_act_is_done_once(start: Start) -> None:
    """Four clients ask for forty cents, one by one, while the daemon dies under them; who is not answered repeats."""
    floor, run = start()
    todo = [f"cent-{number}" for number in range(40)]
    answered: set[str] = set()
    line = f"adjust nexus-1/mega amount 0.01 {PAPER}"

    def ask_for(request_id: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            answer = act(floor, line, "sup-1", "adm-1", request_id=request_id)
            if answer.get("ok"):
                answered.add(request_id)

    for kill_at in (7, 19, 33, None):
        with ThreadPoolExecutor(4) as clients:
            asked = [clients.submit(ask_for, each) for each in todo if each not in answered]
            if kill_at is not None:
                floor.until(lambda at=kill_at: len(answered) >= at, f"{kill_at} answers", run)  # type: ignore[misc]
                floor.end(run, signal.SIGKILL)
            for each in asked:
                each.result(LIMIT_S * 2)
        if kill_at is not None:
            run = floor.start_run()
    for request_id in todo:
        assert act(floor, line, "sup-1", "adm-1", request_id=request_id)["repeated"]
    assert len(todo) == len(floor.of_kind("Adjusted")) == len({record.event_id for record in floor.of_kind("Adjusted")})
    assert 5_000_000 + len(todo) == floor.snapshot()["links"]["nexus-1"]["levels"]["mega"]["display_cents"]
    assert 0 == floor.end(run)
    assert verify(floor.ledger).ok
