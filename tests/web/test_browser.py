"""The pages as a person sees them, in headless Chromium."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser

pytestmark = pytest.mark.peer

MEGA = "return document.querySelector('[data-level=mega] .amount')?.getAttribute('aria-label')"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    window = Browser(tmp_path / "profile")
    yield window
    window.close()


def test_the_sign_counts_up_and_never_shows_more_than_is_committed(web: Any, daemon: Any, browser: Browser) -> None:
    """Between two committed values the figure rises; the largest figure ever painted is the newest committed one."""
    browser.open(f"{web.url}/sign/nexus-1")
    browser.wait(MEGA, "$50,012.34")
    browser.run(
        """window.seen = [];
        const node = document.querySelector('[data-level=mega] .amount');
        new MutationObserver(() => window.seen.push(Number(node.getAttribute('aria-label').replace(/[$,.]/g, ''))))
          .observe(node, {attributes: true, attributeFilter: ['aria-label']});"""
    )
    daemon.show(5_009_900)
    browser.wait(MEGA, "$50,099.00")
    seen = browser.run("return window.seen")
    assert seen == sorted(seen)
    assert seen[-1] == 5_009_900
    daemon.show(1_000_000)
    browser.wait(MEGA, "$10,000.00")
    assert browser.run("return window.seen").count(1_000_000) == 1
    assert browser.run("return window.seen")[-2] == 5_009_900
    assert browser.console() == []


def test_a_demo_is_unmistakable_and_a_win_is_announced(web: Any, daemon: Any, browser: Browser, tmp_path: Path) -> None:
    """The page wears its DEMO mark; a pending award is named with table, seat and amount."""
    browser.open(f"{web.url}/sign/nexus-1")
    browser.wait("return document.getElementById('demo').hidden", False)
    award = {
        "id": "A1", "link": "nexus-1", "table": "T1", "seat": 3, "hand": "royal-flush", "status": "pending",
        "amount_cents": 5_001_234,
    }  # fmt: skip
    daemon.show(5_000_000, awards=[award])
    browser.wait(
        "return document.getElementById('win').textContent", "Winner at T1, seat 3 · $50,012.34 · being verified"
    )
    browser.screenshot(tmp_path / "win.png")
    daemon.show(5_000_000, awards=[{**award, "status": "paid"}])
    browser.wait("return document.getElementById('win').hidden", True)


def test_what_players_must_be_told_stands_on_the_sign(web: Any, daemon: Any, browser: Browser) -> None:
    """Where the house may keep contributions the sign says so in the daemon's words, and says nothing elsewhere."""
    told, hidden = (
        "return document.getElementById('notice').textContent",
        "return document.getElementById('notice').hidden",
    )
    browser.open(f"{web.url}/sign/nexus-1")
    browser.wait(MEGA, "$50,012.34")
    assert browser.run(hidden)
    links = copy.deepcopy(daemon.snapshot["links"])
    links["nexus-1"]["disclosure"] = "Part may be kept by the house."
    daemon.show(5_001_300, links=links)
    browser.wait(told, "Part may be kept by the house.")
    assert not browser.run(hidden)
    box = browser.run(
        "const b = document.getElementById('notice').getBoundingClientRect(); return [b.bottom, b.height]"
    )
    assert 0 < box[1] < box[0] <= browser.run("return window.innerHeight")


def test_a_silent_controller_closes_the_sign(web: Any, daemon: Any, browser: Browser) -> None:
    """A dead daemon, and a dead web process too, leave CLOSED on the screen and no amount."""
    visible = "return getComputedStyle(document.getElementById('levels')).display"
    browser.open(f"{web.url}/sign/nexus-1")
    browser.wait(MEGA, "$50,012.34")
    daemon.show(5_001_300, closed="the ledger's disk failed")
    browser.wait(visible, "none")
    browser.wait("return document.getElementById('stale').textContent", "the ledger's disk failed")
    daemon.show(5_001_400, closed=None)
    browser.wait(visible, "flex")
    web.stop()
    browser.wait(visible, "none")
    assert browser.run("return document.getElementById('closed').innerText").upper() == "CLOSED"


def test_the_landing_page_shows_the_floor(web: Any, browser: Browser, tmp_path: Path) -> None:
    """Links with their meters, tables with their seats, and a way to each sign."""
    browser.open(web.url)
    browser.wait("return document.querySelectorAll('.card .line').length", 3)
    assert browser.run("return document.querySelector('.card').getAttribute('href')") == "/sign/nexus-1"
    assert browser.run("return [...document.querySelectorAll('.seats i')].map(i => i.className)") == [
        "present", "present", "empty", "empty", "empty", "empty", "empty",
    ]  # fmt: skip
    browser.screenshot(tmp_path / "landing.png")
    assert browser.console() == []


def test_a_device_in_a_wrong_place_is_named_on_the_landing_page(web: Any, daemon: Any, browser: Browser) -> None:
    """Which device, why, and what was found there; nothing of it while all are trusted."""
    found = 'wanted a "generic-sensors-16" (MS16) at pit-1/40, found MK32, which is a "generic-keypad-32"'
    browser.open(web.url)
    browser.wait("return document.querySelectorAll('.seats i').length", 7)
    shown = "return getComputedStyle(document.getElementById('away')).display"
    assert "none" == browser.run(shown)
    devices = {
        "pit-1/40": {"up": False, "cause": "identity", "found": found},
        "pit-1/41": {"up": True, "cause": None},
        "keys-2/5": {"up": False, "cause": "key", "found": "00BEBA-02-0000004D"},
    }
    daemon.show(5_000_000, devices=devices)
    browser.wait(shown, "block")
    cells = "return [...document.querySelectorAll('#devices tr')].map(r => [...r.cells].map(each => each.textContent))"
    assert [["pit-1/40", "identity", found], ["keys-2/5", "key", "00BEBA-02-0000004D"]] == browser.run(cells)
    daemon.show(5_000_000, devices={"pit-1/40": {"up": True, "cause": None}})
    browser.wait(shown, "none")


def test_awards_that_wait_for_a_person_stand_first(web: Any, daemon: Any, browser: Browser, tmp_path: Path) -> None:
    """Above the tables, those to confirm before those to pay; what is settled stands below, the newest first."""
    states = ("paid", "pending", "confirmed", "paid", "voided", "held")
    awards = [
        {
            "id": f"A{n}",
            "link": "nexus-1",
            "table": "T1",
            "seat": 3,
            "hand": "flush",
            "status": state,
            "amount_cents": 1,
        }
        for n, state in enumerate(states, 1)
    ]
    browser.open(web.url)
    nothing = "return getComputedStyle(document.getElementById('nothing')).display"
    browser.wait(nothing, "block")
    daemon.show(5_000_000, awards=awards)
    listed = "return [...document.querySelectorAll('#{} td:first-child')].map(each => each.textContent)"
    browser.wait(listed.format("unsettled"), ["A2", "A6", "A3"])
    assert "none" == browser.run(nothing)
    browser.wait(listed.format("awards"), ["A5", "A4", "A1"])
    tops = "return ['unsettled', 'tables', 'awards'].map(id => document.getElementById(id).getBoundingClientRect().top)"
    assert browser.run(tops) == sorted(browser.run(tops))
    browser.screenshot(tmp_path / "awards.png")
    daemon.show(5_000_000, awards=[])
    browser.wait(nothing, "block")


def test_nothing_is_said_of_awards_before_the_daemon_was_heard(web: Any, daemon: Any, browser: Browser) -> None:
    """A page opened before its daemon answers says that it is closed, and not that nothing waits for anybody."""
    daemon.snapshot = {"closed": "the ledger's disk failed"}
    daemon.announce()
    web.wait_ready(status=503)
    browser.open(web.url)
    browser.wait("return document.getElementById('closed').textContent", "Closed: the ledger's disk failed")
    hidden = "return ['nothing', 'none'].map(id => document.getElementById(id).hidden)"
    assert [True, True] == browser.run(hidden)


def test_a_page_that_has_heard_nothing_yet_is_no_alarm(web: Any, browser: Browser) -> None:
    """Grey while it connects; red once the controller is silent or says that it is closed."""
    red = "rgb(124, 29, 29)"
    colour = "return getComputedStyle(document.getElementById('closed')).backgroundColor"
    html = web.get("/")[2]
    assert '<p id="closed" class="waiting" role="alert">Connecting' in html
    assert ['id="nothing" class="sub" hidden', 'id="none" class="sub" hidden'] == re.findall(
        r'id="(?:nothing|none)" [^>]*', html
    )
    browser.open(web.url)
    browser.wait("return document.getElementById('closed').hidden", True)
    browser.run("document.getElementById('closed').className = 'waiting'")
    assert red != browser.run(colour)
    web.stop()
    browser.wait("return document.getElementById('closed').textContent", "Closed: no news from the controller")
    assert red == browser.run(colour)
