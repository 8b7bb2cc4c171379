"""OSDP pads end to end: ``meterd run`` and the other end as processes, real frames between them."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from floor_rig import Floor, TableSpec, named, site_text

from protocols.osdp_keys import DEFAULT_KEY

TABLE = TableSpec("LIR-1", "let-it-ride", "nexus-1", 7, "pit-1", "keys-1")
PEOPLE = '[[person]]\nid = "s-ann"\nrole = "supervisor"\nbadge = "26:0123ABC0"\n'
PAD = 'keypad = { bus = "keys-1", unit = 80, profile = "generic-keypad-32" }'


@pytest.fixture
def make(make_floor: Callable[..., Floor], tmp_path: Path) -> Callable[..., Floor]:
    """A floor of one table whose pad speaks OSDP; its key is the one from the factory, as in a demo."""

    def made(pad: str = "", key: bytes | None = DEFAULT_KEY, **options: Any) -> Floor:
        text = site_text(tmp_path / "floor" / "ports", (TABLE,), signs=False)
        assert PAD in text
        text = text.replace(PAD, f'keypad = {{ bus = "keys-1", unit = 5, profile = "osdp-keypad-16"{pad} }}')
        text = text.replace('id = "keys-1"\nkind = "modbus"', 'id = "keys-1"\nkind = "osdp"')
        floor = make_floor(site=text, **options)
        for bus in floor.plan["buses"]:
            for each in bus["pads"]:
                each["badge"] = "26:0123ABC0"
        (floor.folder / "people.toml").write_text(PEOPLE, encoding="utf-8")
        if key is not None:
            keys = floor.folder / "osdp-keys"
            keys.write_text(f"keys-1/5 {key.hex()}\n")
            keys.chmod(0o600)
        return floor

    return made


def table(floor: Floor) -> dict[str, Any]:
    found: dict[str, Any] = floor.snapshot()["tables"]["LIR-1"]
    return found


def pad_of(floor: Floor) -> dict[str, Any]:
    found: dict[str, Any] = floor.snapshot()["devices"].get("keys-1/5", {})
    return found


def test_a_table_is_dealt_by_an_osdp_pad(make: Callable[..., Floor]) -> None:
    """Rounds with claims, read from the display before ENTER, confirmed and paid by badge; identities of presses."""
    floor = make(habits={"lucky": 1.0, "late": 0.0, "void_round": 0.0}, speed=8)
    floor.start_sim()
    run = floor.start_run()
    floor.until_kinds(2, "Claimed", run)
    floor.until_kinds(1, "Paid", run)
    floor.until_kinds(2, "GameEnded", run)
    assert 0 == floor.end(run)
    claims = floor.of_kind("Claimed")
    assert all(str(claim.event_id).startswith("keys-1/5/key:1:") for claim in claims)
    shown = floor.seen("claim")
    assert [json.loads(claim.body)["amount_cents"] for claim in claims][: len(shown)] == [
        round(float(one["shown"]) * 100) for one in shown
    ][: len(claims)]
    assert {"s-ann"} == {record.actor for kind in ("Confirmed", "Paid") for record in floor.of_kind(kind)}
    ends = [str(end.event_id) for end in floor.of_kind("GameEnded")]
    assert len(ends) == len(set(ends))


def test_a_pad_with_a_wrong_key_keeps_its_table_closed_and_is_named(make: Callable[..., Floor]) -> None:
    """Snapshot, log and ledger say what was found at which address of which bus."""
    floor = make(people=False, key=bytes(16))
    floor.start_sim()
    run = floor.start_run()
    floor.until(lambda: pad_of(floor).get("cause") == "key", "the pad is refused", run)
    assert "00BEBA-02-0000004D" == pad_of(floor)["found"]
    floor.until(lambda: floor.snapshot()["devices"].get("pit-1/60", {}).get("up"), "the sensors are up", run)
    assert "CLOSED" == table(floor)["state"]
    lost = json.loads(floor.of_kind("DeviceLost")[-1].body)
    assert ("keys-1/5", "key", "00BEBA-02-0000004D") == (lost["device"], lost["cause"], lost["found"])
    said = named(run.log.read(), "pads.refused")
    assert ("keys-1", 5, "key", "00BEBA-02-0000004D") == tuple(
        said[-1][word] for word in ("bus", "address", "cause", "found")
    )
    assert 0 == floor.end(run)


def test_another_pad_than_the_site_file_says_keeps_its_table_closed(make: Callable[..., Floor]) -> None:
    """Swapped cables, with the right key."""
    floor = make(people=False, pad=', identity = "00BEBA-02-00000099"')
    floor.start_sim()
    run = floor.start_run()
    floor.until(lambda: pad_of(floor).get("cause") == "identity", "the pad is refused", run)
    assert ("00BEBA-02-0000004D", "CLOSED") == (pad_of(floor)["found"], table(floor)["state"])
    assert 0 == floor.end(run)


def test_without_a_key_nothing_starts(make: Callable[..., Floor]) -> None:
    """Exit 78, and the command that makes one."""
    floor = make(people=False, key=None)
    run = floor.spawn_run()
    assert 78 == run.wait()
    assert "meterd keypad key keys-1/5 --file" in run.log.path.read_text("utf-8")


def test_the_key_from_the_factory_is_refused_on_a_real_floor(make: Callable[..., Floor]) -> None:
    """Everybody knows it."""
    floor = make(people=False, demo=False)
    run = floor.spawn_run(demo=False)
    assert 78 == run.wait()
    assert "from the factory" in run.log.path.read_text("utf-8")


def test_after_a_kill_the_display_says_closed(make: Callable[..., Floor]) -> None:
    """A pad cannot know that the daemon died: what runs after any exit tells it."""
    floor = make()
    floor.start_sim()
    run = floor.start_run()
    floor.until(lambda: any(event["lines"][0].startswith("OPEN") for event in floor.seen("text")), "OPEN", run)
    floor.end(run, signal.SIGKILL)
    closed = floor.spawn("closed", sys.executable, "-m", "meterd", "outputs", "closed", "--config",
                         str(floor.site_file), "--json")  # fmt: skip
    closed.wait()
    told = closed.log.path.read_text("utf-8")
    assert "keys-1/5" in json.loads(told[told.index("{") :])["closed"], told
    floor.until(lambda: floor.seen("text")[-1]["lines"] == ["CLOSED", ""], "CLOSED on the display")
