"""A link's envy and splits in a site file: as printed unless said, another value only with an approval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from meterd.accounting.settings import EnvyRules, EnvyTo, EnvyTrigger, Settlement, SplitHand
from meterd.config import Catalogue, Finding, Site

Findings = Callable[..., tuple[Finding, ...]]
TCP = "co/three-card-poker/progressive-1"
LINK = f'paytable = "{TCP}"\n'
APPROVAL = 'approval = "DIR-7"\n'


def with_table(catalogue: Catalogue, **changes: object) -> Catalogue:
    """The catalogue with Three Card Poker printed otherwise."""
    table = replace(catalogue.paytables[TCP], **changes)  # type: ignore[arg-type]
    return catalogue._replace(paytables={**catalogue.paytables, TCP: table})


def test_what_is_not_said_is_as_printed(site: Callable[..., Site], catalogue: Catalogue) -> None:
    """Trigger, smallest wager and receiver come from the pay table; a hand from the board gives no envy."""
    printed = with_table(catalogue, envy_trigger="highest", envy_min_cents=500, envy_to="dealer")
    link = site(catalogue=printed).links[1]
    assert EnvyRules(EnvyTrigger.HIGHEST, 500, EnvyTo.DEALER, board_triggers=False) == link.envy
    assert SplitHand.NO_EFFECT is link.split_hand
    assert (EnvyTrigger.ALL, 0, EnvyTo.PLAYERS) == site().links[1].envy[:3]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('envy_trigger = "highest"\n', "envy_trigger"),
        ("envy_min_cents = 500\n", "envy_min_cents"),
        ('envy_to = "dealer"\n', "envy_to"),
        ('split = "dead"\n', "split"),
    ],
)
def test_another_value_than_printed_needs_an_approval(
    line: str, key: str, findings: Findings, site: Callable[..., Site]
) -> None:
    """PRINTED_FIGURE_DIFFERS names the key; with the link's approval it holds."""
    (found,) = findings((LINK, LINK + line))
    assert (f"link[1].{key}", True) == (found.key, found.message.startswith("PRINTED_FIGURE_DIFFERS"))
    link = site((LINK, LINK + line + APPROVAL)).links[1]
    said = {
        "envy_trigger": EnvyTrigger.HIGHEST,
        "envy_min_cents": 500,
        "envy_to": EnvyTo.DEALER,
        "split": SplitHand.DEAD,
    }
    assert said[key] == getattr(link, key)


def test_the_print_may_be_repeated(site: Callable[..., Site]) -> None:
    """Writing what is printed anyway is no difference."""
    lines = 'envy_trigger = "all"\nenvy_min_cents = 0\nenvy_to = "players"\nsplit = "no-effect"\n'
    assert EnvyTrigger.ALL is site((LINK, LINK + lines)).links[1].envy_trigger


def test_whether_the_board_gives_envy_is_the_house_s_choice(site: Callable[..., Site]) -> None:
    """No pay table prints it."""
    assert site((LINK, LINK + 'board_triggers = "yes"\n')).links[1].envy.board_triggers


def test_a_meter_takes_no_second_wager(findings: Findings, catalogue: Catalogue) -> None:
    """Two hands of a split need a wager after LOCK, also where the pay table prints them."""
    (found,) = findings((LINK, LINK + 'split = "two-hands"\n' + APPROVAL))
    assert ("link[1].split", True) == (found.key, "a meter takes nothing then" in found.message)
    (found,) = findings(catalogue=with_table(catalogue, split="two-hands"))
    assert "link[1].split" == found.key


def test_a_row_of_the_board_that_pays_from_a_meter_must_not_pay_in_sequence(
    findings: Findings, catalogue: Catalogue
) -> None:
    """TIES_ORDER_DECIDES also where only one row is common to all seats."""
    rows = catalogue.paytables[TCP].rows
    board = with_table(catalogue, rows=(replace(rows[0], match=f"{rows[0].match} board"), *rows[1:]))
    (found,) = findings(catalogue=board)
    assert ("link[1].level[0].ties", True) == (found.key, found.message.startswith("TIES_ORDER_DECIDES"))


def test_the_order_of_settlement_is_the_table_s(site: Callable[..., Site]) -> None:
    """Counter-clockwise unless said."""
    clockwise = ('link = "nexus-1"\n', 'link = "nexus-1"\nsettlement = "clockwise"\n')
    orders = [table.settings.settlement for table in site(clockwise).tables]
    assert [Settlement.CLOCKWISE, *[Settlement.COUNTER_CLOCKWISE] * 3] == orders


def test_a_link_that_pays_from_no_meter_has_no_level(site: Callable[..., Site], findings: Findings) -> None:
    """A bonus wager with envy is counted without a progressive; a level that a row pays from must still be there."""
    end = "# ---- tables"
    bonus = '[[link]]\nid = "treasure"\npaytable = "co/emperors-challenge/treasure-a"\nwager_cents = 500\n'
    bonus += "units_max = 5\n\n"
    link = site((end, bonus + end)).links[2]
    assert ((), 500) == (link.levels, link.envy.min_cents)
    (found,) = findings((end, bonus.replace("emperors-challenge/treasure-a", "three-card-poker/progressive-1") + end))
    assert "link[2].level" == found.key
