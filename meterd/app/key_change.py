"""Another key for a ledger's checkpoints, put in force by two people while the daemon is stopped."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from meterd.accounting.commands import Actor, Role
from meterd.accounting.commands_day import SetKey
from meterd.app.commit import resume
from meterd.app.rows import stamps
from meterd.edge.clock import Clock
from meterd.edge.store import Store
from meterd.errors import MisuseError
from meterd.ledger.note import PublicKey


def put_in_force(folder: Path, key: PublicKey, *, first: str, second: str, reference: str) -> int:
    """Write the key down in the ledger; the number of the entry.

    Raises:
        LedgerError: the ledger is missing, damaged or in use.
        MisuseError: it was refused.
    """
    with closing(Store.open(folder)) as store:
        committer = resume(store, stamps(Clock()))
        asker, approver = Actor(first, Role.ADMINISTRATOR), Actor(second, Role.ACCOUNTING)
        command = SetKey(actor=asker, second=approver, reference=reference, key=str(key))
        decision = committer.decide(command)
        if decision.refusal is not None:
            raise MisuseError(f"refused: {decision.refusal.refusal.value} {decision.refusal.detail}")
        committer.commit()
        return committer.book.seq
