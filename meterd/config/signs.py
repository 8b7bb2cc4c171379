"""Signs in a site file: what each shows, whether it has the room, and what its players must be told on it.

Widths are characters at fixed width, as they stand on the display.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from meterd.accounting.settings import LinkSettings, SiteSettings
from meterd.config.devices import SignModel
from meterd.config.findings import Node, check_bus_of, levels_of, named, nearest
from meterd.config.shapes import SignShape
from meterd.config.site import Catalogue, SignConfig
from meterd.money import format_cents

#: The widest figure a level without a limit is expected to reach.
UNLIMITED_CENTS: Final = 9_999_999_99
#: Different meters on the signs of one line; each has a file label of its own, a to z.
METERS_MAX: Final = 26
#: What a sign, a reading and the rules sheet of a link must say where players' money can become income.
DISCLOSURE: Final = "Part of the contributions may be kept by the house and not be returned to players as awards."


def sign_config(sign: SignShape, catalogue: Catalogue, links: Iterable[LinkSettings], site: SiteSettings) -> SignConfig:
    """A sign as its driver needs it: its own address, the widest value of each figure, what it must say."""
    shows = tuple((link, level) for link, level in (what.split("/", 1) for what in sign.shows))
    limits = {(link.id, level.name): level.limit_cents for link in links for level in link.levels}
    shown = {link for link, _ in shows}
    houses = any(level.overflow == "house" for link in links if link.id in shown for level in link.levels)
    model = catalogue.signs[sign.model]
    if sign.address is not None:
        model = replace(model, address=sign.address)
    if sign.checksum is not None:
        model = replace(model, checksum=sign.checksum)
    return SignConfig(
        id=sign.id,
        bus=sign.bus,
        model=model,
        shows=shows,
        labels=sign.labels,
        widest=tuple(len(widest_figure(limits.get(what))) for what in shows),
        notice=DISCLOSURE if houses or site.release_to_house else None,
    )


def widest_figure(limit_cents: int | None) -> str:
    """The longest text a level shows: its limit, or what one without a limit may reach."""
    return f"${format_cents(UNLIMITED_CENTS if limit_cents is None else limit_cents)}"


def check_signs(root: Node, catalogue: Catalogue) -> None:
    """Note everything about signs that single values cannot show."""
    addresses: dict[tuple[str, str], Node] = {}
    meters: dict[str, set[str]] = {}
    for sign in root.nodes("sign"):
        _check_sign(root, sign, catalogue)
        _check_sign_address(sign, catalogue, addresses)
        on_line = meters.setdefault(sign.text("bus") or "", set())
        on_line |= {what for what in sign.texts("shows") if what is not None}
        if len(on_line) > METERS_MAX:
            sign.finding("shows", f"with this sign its line carries {len(on_line)} meters, {METERS_MAX} are possible")


def _check_sign(root: Node, sign: Node, catalogue: Catalogue) -> None:
    check_bus_of(sign, sign.text("bus"), named(list(root.nodes("bus"))), "alpha")
    name = sign.text("model")
    model = catalogue.signs.get(name) if name is not None else None
    if name is not None and model is None:
        sign.finding("model", f'there is no sign model "{name}"', nearest(name, catalogue.signs))
    shown = sign.texts("shows")
    labels = sign.texts("labels")
    if labels and shown and None not in {*labels, *shown} and len(labels) != len(shown):
        sign.finding("labels", f"expected one label for each of the {len(shown)} things shown, found {len(labels)}")
    levels, complete = levels_of(root)
    for index, what in enumerate(shown):
        if what is None:
            continue
        if what in shown[:index]:
            sign.finding(("shows", index), f'"{what}" stands here twice')
        if what not in levels:
            if complete:
                sign.finding(("shows", index), f'there is no level "{what}"', nearest(what, levels))
        elif model is not None:
            _check_width(sign, index, levels[what], model)
    _check_labels(sign, labels, model)


def _check_labels(sign: Node, labels: Sequence[str | None], model: SignModel | None) -> None:
    for index, label in enumerate(labels):
        if label is not None and not re.fullmatch(r"[ -~]*", label):
            sign.finding(("labels", index), "a sign shows printable ASCII only")
        elif label is not None and model is not None and len(label) > model.columns:
            sign.finding(
                ("labels", index), f'"{model.id}" shows {model.columns} characters, the label has {len(label)}'
            )


def _check_width(sign: Node, index: int, level: Node, model: SignModel) -> None:
    """A figure that does not fit is cut in the eye of the player, or empties its file."""
    limit = level.number("limit_cents")
    figure = widest_figure(limit)
    room = min(model.columns, model.string_bytes)
    if level.wrong("limit_cents"):
        return
    if len(figure) > room:
        why = "the limit" if limit is not None else "what a level without a limit may reach"
        sign.finding(
            ("shows", index),
            f'"{model.id}" shows {room} characters, {why} {figure} needs {len(figure)}',
        )


def _check_sign_address(sign: Node, catalogue: Catalogue, taken: dict[tuple[str, str], Node]) -> None:
    """Two signs of one line that show different things need addresses of their own; "00" reaches every sign."""
    model = catalogue.signs.get(sign.text("model") or "")
    bus = sign.text("bus")
    address = sign.text("address") or (model.address if model else None)
    if bus is None or address is None or sign.wrong("address"):
        return
    for (other_bus, other_address), other in taken.items():
        if bus == other_bus and (address == other_address or "00" in {address, other_address}):
            line = sign.document.line((*other.path, "id"))
            sign.finding(
                "address",
                f'the sign in line {line} listens to this address too ("00" is every sign): give each sign of bus '
                f'"{bus}" an address of its own',
            )
            break
    taken[bus, address] = sign
