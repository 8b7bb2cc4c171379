"""Faults of a peer on a wire, and contents that a wire cannot carry. Their own root: no fault here is a bug of meterd.

What arrives is counted by :class:`Cause` and never raised: bytes may be anything. What leaves is checked before it is
built, and a :class:`PeerError` says why it cannot be said on that wire.
"""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    """Why bytes were not taken, or why a content cannot be sent. The list is closed: metrics carry it as a label."""

    CRC = "crc"
    """A frame of the right shape whose check does not hold."""
    CUT = "cut"
    """A frame that began and did not end."""
    ECHO = "echo"
    """Our own request, heard back on a half-duplex line."""
    WRONG_UNIT = "wrong_unit"
    """A whole frame of another unit."""
    WRONG_FUNCTION = "wrong_function"
    """A whole frame of our unit that answers another kind of request."""
    MISMATCH = "mismatch"
    """A whole frame of our unit and function that does not fit this request: another length or other echo fields."""
    STRAY = "stray"
    """Bytes that belong to no frame."""
    UNREADABLE_TEXT = "unreadable_text"
    """Text with characters the display cannot show, or that would end the frame."""
    TOO_LONG = "too_long"
    """A content longer than the place it goes to."""
    BAD_LABEL = "bad_label"
    """A file label the protocol does not allow there."""


class PeerError(Exception):
    """Something a wire cannot carry, or a peer that does not keep its protocol. ``cause`` says which."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause
