"""The errors of meterd, drawn once.

Blame is in the name, so a reader of a traceback knows who must act:

    MeterdError
     ├─ MisuseError      our own caller broke a contract        → a bug: fix it
     ├─ ConfigError      the operator wrote something impossible → refuse to start, name the line (exit 78)
     ├─ LedgerError      the ledger needs a person               → stop (exit 74)
     └─ InvariantBroken  money no longer adds up                 → close every table, stop (exit 74)

A *refusal* of the floor (``accounting.refusals``) is not here: it is an answer, not an error.
Faults of a peer on a wire have their own root in ``protocols.errors``.
"""

from __future__ import annotations

EXIT_DONE = 0
EXIT_FINDING = 1
EXIT_USAGE = 2
EXIT_LEDGER = 74
EXIT_CONFIG = 78


class MeterdError(Exception):
    """Root of all errors raised by meterd itself."""


class MisuseError(MeterdError):
    """A caller inside meterd broke a contract. This is a bug of ours."""


class ConfigError(MeterdError):
    """The operator's configuration cannot work. The message names the place and the next step."""


class LedgerError(MeterdError):
    """The ledger needs a person: missing, foreign, damaged, held by another, or its disk failed."""


class InvariantBroken(MeterdError):
    """Money no longer adds up, or a second lock fired. Every table closes."""


def require(condition: bool, message: str, **facts: object) -> None:
    """Raise :class:`InvariantBroken` unless ``condition`` holds.

    Used instead of ``assert``, which Python drops under ``-O``.
    """
    if not condition:
        detail = ", ".join(f"{name}={value!r}" for name, value in facts.items())
        raise InvariantBroken(f"{message} ({detail})" if detail else message)
