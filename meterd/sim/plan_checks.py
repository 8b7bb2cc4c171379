"""What a plan says that cannot be: speeds, shares and seats out of range, the same line or device twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from meterd.sim.plan import LinePlan, Plan, PlanError


def check_numbers(plan: Plan) -> None:
    """Raise :class:`PlanError` naming the place of the first thing that cannot be played as it is written."""
    _once((line.id for line in plan.lines), "bus {} stands there twice")
    _once((line.port for line in plan.lines), "port {} is of two buses")
    _once((table.id for table in plan.tables), "table {} stands there twice")
    for line in plan.lines:
        _check_line(line)
    for field in fields(plan.habits):
        _share(getattr(plan.habits, field.name), f"habits.{field.name}")
    seats = {(line.id, module.unit): len(module.shape.seats) for line in plan.lines for module in line.modules}
    for table in plan.tables:
        _whole(table.seats, 1, seats.get(table.sensors, 0), f"table {table.id}: seats")
        _whole(table.decks, 1, 8, f"table {table.id}: decks")


def _check_line(line: LinePlan) -> None:
    _whole(line.baud, 1, 4_000_000, f"bus {line.id}: baud")
    units = [module.unit for module in line.modules] + [pad.address for pad in line.pads]
    _once(units + [game.address for game in line.games], f"bus {line.id} has two devices with the address {{}}")
    for name in ("drop", "flip", "stray"):
        _share(getattr(line.noise, name), f"bus {line.id}: noise.{name}")
    _share(line.noise.byte, f"bus {line.id}: noise.byte", 1 / 3)  # of three faults each


def _once(names: Iterable[object], says: str) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise PlanError(says.format(name))
        seen.add(name)


def _share(value: object, place: str, most: float = 1.0) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise PlanError(f"{place} is a share from 0 to {most:.3g}, not {value!r}")


def _whole(value: object, least: int, most: int, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise PlanError(f"{place} is a whole number from {least} to {most}, not {value!r}")
