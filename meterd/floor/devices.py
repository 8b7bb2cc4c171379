"""The devices of one table: modules with inputs, and a pad that tells its presses one by one.

Rule 1: a device says nothing before the book has taken its baseline.
"""

from __future__ import annotations

from collections.abc import Iterator

from meterd.accounting.commands import SYSTEM, TrustDevice
from meterd.accounting.state import DeviceMark
from meterd.config import ModuleRef, TableConfig
from meterd.floor.inputs import Inputs
from meterd.floor.keys import PadNumbers
from protocols.events import DeviceUp


class Devices:
    """What of each device is known since it came up."""

    def __init__(self, table: TableConfig) -> None:
        """Begin with every device away."""
        self._refs = {ref.device: ref for ref in table.devices}
        self._table_id = table.id
        self._up: dict[str, Inputs | PadNumbers] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every device of the table."""
        return tuple(self._refs)

    @property
    def ready(self) -> bool:
        """Whether every device is trusted."""
        return not self.away

    @property
    def away(self) -> tuple[str, ...]:
        """Those that are not trusted."""
        return tuple(name for name in self._refs if name not in self._up or not self._up[name].trusted)

    def inputs(self, device: str) -> Inputs | None:
        """A trusted module's inputs."""
        found = self._up.get(device)
        return found if isinstance(found, Inputs) and found.trusted else None

    def pad(self, device: str) -> PadNumbers | None:
        """A trusted pad's numbering."""
        found = self._up.get(device)
        return found if isinstance(found, PadNumbers) and found.trusted else None

    def up(self, event: DeviceUp) -> TrustDevice | None:
        """A device answers: what asks the book to trust it. None for a device that is not of this table."""
        ref = self._refs.get(event.device)
        if ref is None:
            return None
        found: Inputs | PadNumbers
        if isinstance(ref, ModuleRef):
            found = Inputs(event.device, ref.profile, event.modulus, event.reading)
        else:
            found = PadNumbers(event.device)
        self._up[event.device] = found
        return TrustDevice(
            actor=SYSTEM,
            device=event.device,
            tables=(self._table_id,),
            counts=found.baseline(),
            modulus=found.modulus,
        )

    def of(self, device: str) -> Inputs | PadNumbers | None:
        """What is known of a device that is up, trusted or not."""
        return self._up.get(device)

    def down(self, device: str, marks: dict[str, DeviceMark]) -> dict[str, int]:
        """A device is lost: what was heard of it and led to no entry."""
        found = self._up.pop(device, None)
        return found.heard(marks) if found is not None else {}

    def heard(self, marks: dict[str, DeviceMark]) -> Iterator[tuple[str, int]]:
        """The same of all that are up."""
        for found in self._up.values():
            yield from found.heard(marks).items()
