"""What a sign of figures is given: pages that each fit its columns, so that every figure can be read.

A page is a TEXT file in hold mode; a run sequence shows them in turn, each standing still, so a figure changes where it
stands. A caption shares the page with its figure where the widest figure leaves room for it, and has a page of its own
before it otherwise. Measured by readerboard on a BetaBrite Classic: files of a sequence follow each other without a
pause, and the sign does so by itself. Columns and widths are characters at fixed width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocols.alpha import PRIORITY_LABEL, CallString, Code, Mode, Part, StringFile, WriteText
from protocols.errors import Cause, PeerError

#: Labels of pages, in their order.
PAGE_LABELS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a sign: the words before it, the STRING that holds it, and the characters of its widest value."""

    caption: str
    file: StringFile
    widest: int

    def together(self, columns: int) -> bool:
        """Whether caption and figure stand on one page."""
        return len(self.caption) + 1 + self.widest <= columns

    def room(self, columns: int) -> int:
        """The characters its value may have there; a longer one would be shown cut."""
        return columns - len(self.caption) - 1 if self.caption and self.together(columns) else columns


def pages(
    figures: Sequence[Figure], columns: int, notice: str | None = None, colour: Code = Code.RED
) -> tuple[WriteText, ...]:
    """The TEXTs written once: for each figure its page, or the caption's and its; then the ``notice``, moving through.

    Fixed width, so that a changing digit moves no neighbour. The colour is named again behind each call, because
    formatting inside a STRING leaks into what follows it. Raises :class:`PeerError` for a figure or caption wider than
    the display, and for more pages than labels.
    """
    bodies: list[tuple[tuple[Part, ...], Mode]] = []
    for each in figures:
        if each.widest > columns or len(each.caption) > columns:
            raise PeerError(Cause.TOO_LONG, f"{columns} columns do not show {each.caption!r} and {each.widest} digits")
        together = each.together(columns)
        if each.caption and not together:
            bodies.append(((Code.FIXED_WIDTH_ON, colour, each.caption), Mode.HOLD))
        before = (f"{each.caption} ",) if each.caption and together else ()
        call = CallString(each.file.label)
        bodies.append(((Code.FIXED_WIDTH_ON, colour, *before, call, colour), Mode.HOLD))
    if notice:
        bodies.append(((colour, notice), Mode.ROTATE))
    if len(bodies) > len(PAGE_LABELS):
        raise PeerError(Cause.TOO_LONG, f"a sign has {len(PAGE_LABELS)} pages at most, {len(bodies)} are needed")
    return tuple(WriteText(label, parts, mode) for label, (parts, mode) in zip(PAGE_LABELS, bodies, strict=False))


def takeover(text: str, columns: int, string: StringFile | None = None, colour: Code = Code.RED) -> WriteText:
    """A flashing priority message, with the live figure of ``string`` behind it where given.

    What is wider than the display moves through it: a message that stands still would be cut.
    """
    width = len(text) + (1 + string.size if string else 0)
    parts: list[Part] = [colour, Code.FLASH_ON, text, Code.FLASH_OFF]
    if string:
        parts.extend((" ", CallString(string.label), colour))
    return WriteText(PRIORITY_LABEL, tuple(parts), Mode.HOLD if width <= columns else Mode.ROTATE)
