"""Cross checks of a link's envy and splits, and of outcomes that all seats share, against the printed pay table.

Source of the rules: money rules M8 and M9. As in ``money_checks``, each check stays silent about what the shapes said.
"""

from __future__ import annotations

from meterd.config.findings import Node
from meterd.money import format_cents
from meterd.paytables.model import PayKind, PayTable

AS_PRINTED = "as-printed"


def check_envy(link: Node, levels: list[Node], paytable: PayTable) -> None:
    """Note what of a link's envy and splits cannot be, or differs from the print without an approval."""
    printed = {
        "envy_trigger": "highest" if paytable.envy_trigger == "highest" else "all",
        "envy_to": paytable.envy_to,
        "split": paytable.split or "no-effect",
    }
    approved = link.text("approval") is not None
    for key, prints in printed.items():
        here = link.text(key)
        if here not in {None, AS_PRINTED, prints} and not approved:
            silent = key == "split" and paytable.split is None
            _differs(link, key, f'nothing about it, read as "{prints}"' if silent else f'"{prints}"', f'"{here}"')
    smallest = link.number("envy_min_cents")
    if smallest is not None and smallest != paytable.envy_min_cents and not approved:
        _differs(link, "envy_min_cents", format_cents(paytable.envy_min_cents), format_cents(smallest))
    means = link.text("split")
    if levels and (paytable.split if means in {None, AS_PRINTED} else means) == "two-hands":
        link.finding("split", "a second wager for a split hand comes after LOCK, and a meter takes nothing then")


def _differs(link: Node, key: str, printed: str, here: str) -> None:
    link.finding(
        key,
        f"PRINTED_FIGURE_DIFFERS: the pay table has {printed}; the site file says {here}: expected that,"
        " or an approval for the link",
    )


def check_common(levels: list[Node], paytable: PayTable) -> None:
    """All seats that win together must not have their shares decided by the order in which they are settled."""
    shared = {
        pay.level or "main"
        for row in paytable.rows
        for pay in row.pays
        if pay.kind is PayKind.METER_PERCENT and (paytable.common_outcome or "board" in row.match.split())
    }
    for level in levels:
        if level.text("name") in shared and level.text("ties") == "sequential":
            level.finding(
                "ties",
                "TIES_ORDER_DECIDES: all seats win together here, so the order of keying would decide who is paid what:"
                ' expected "split" or "full_each"',
            )
