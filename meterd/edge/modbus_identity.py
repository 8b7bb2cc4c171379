"""Who answers where: the module wired to a table, another one of its kind, or another kind.

Two adapters of one make may swap their names, and a technician may swap two plugs. So a module is asked what it is
before its table goes live, and, where it has a serial number and the site file states it, which one it is. What is
found is named, and where the site file has it, its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from meterd.config import ModuleRef


class StrangerError(Exception):
    """Somebody else answers. ``cause``: identity or serial; the message says who was wanted and who was found."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def words_text(words: Sequence[int]) -> str:
    """Registers as a technician would write them: two ASCII characters each where they are text, else hexadecimal.

    Blanks and zeros around a text are fill and left out.
    """
    raw = b"".join(word.to_bytes(2, "big") for word in words)
    text = raw.strip(b"\x00 ")
    if text and all(0x20 <= byte <= 0x7E for byte in text):
        return text.decode("ascii")
    return "-".join(f"{word:04X}" for word in words)


@dataclass(frozen=True, slots=True)
class Identities:
    """Where each module of the site should be: serial number → device, what a kind says of itself → its profiles.

    ``modules``: all of them.
    """

    places: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    modules: tuple[ModuleRef, ...] = ()

    @classmethod
    def of(cls, modules: Iterable[ModuleRef]) -> Self:
        """What the site file says of its modules."""
        known = list(modules)
        return cls(
            {module.serial: module.device for module in known if module.serial is not None},
            {module.profile.identity.expected: module.profile.id for module in known if module.profile.identity},
            tuple(known),
        )

    def not_of(self, bus: str) -> tuple[ModuleRef, ...]:
        """Modules of other lines whose unit id nobody has on this one."""
        own = {module.unit for module in self.modules if module.bus == bus}
        return tuple(module for module in self.modules if module.bus != bus and module.unit not in own)

    def check_kind(self, module: ModuleRef, found: tuple[int, ...]) -> None:
        """The identity registers were read. Raises :class:`StrangerError`."""
        expected = module.profile.identity.expected if module.profile.identity else found
        if found == expected:
            return
        kind = self.kinds.get(found)
        known = f', which is a "{kind}"' if kind else ", which the site file does not know"
        raise StrangerError(
            "identity",
            f'wanted a "{module.profile.id}" ({words_text(expected)}) at {module.device}, '
            f"found {words_text(found)}{known}",
        )

    def check_serial(self, module: ModuleRef, found: tuple[int, ...]) -> None:
        """The serial registers were read. Raises :class:`StrangerError`."""
        serial = words_text(found)
        if module.serial is None or serial == module.serial:
            return
        place = self.places.get(serial)
        known = f", which belongs at {place}" if place else ", which the site file does not know"
        raise StrangerError("serial", f"wanted {module.serial} at {module.device}, found {serial}{known}")
