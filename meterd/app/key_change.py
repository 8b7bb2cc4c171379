"""Another key for a ledger's checkpoints, put in force by two people while the daemon is stopped."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from meterd.accounting.commands import Role
from meterd.accounting.commands_day import SetKey
from meterd.app.commit import resume
from meterd.app.rows import stamps
from meterd.app.signatures import Signatures, said
from meterd.edge.clock import Clock
from meterd.edge.store import Store
from meterd.errors import MisuseError
from meterd.ledger.note import PublicKey


def put_in_force(
    folder: Path,
    key: PublicKey,
    *,
    first: str,
    second: str,
    reference: str,
    roles: tuple[Role, Role] | None = None,
    people: str = "",
) -> int:
    """Write the key down in the ledger; the number of the entry. ``roles``: of two that PINs proved, by ``people``.

    A key decides whose checkpoints count, so it is something new in force: one of the two is an administrator.

    Raises:
        LedgerError: the ledger is missing, damaged or in use.
        MisuseError: it was refused.
    """
    signatures = Signatures(first, second, reference, roles, people)
    asker, approver = signatures.actors
    signatures.require_two()
    if Role.ADMINISTRATOR not in {asker.role, approver.role}:
        raise MisuseError("NOT_AUTHORISED: one of the two who put a key in force is an administrator")
    with closing(Store.open(folder)) as store:
        committer = resume(store, stamps(Clock()))
        command = SetKey(actor=asker, second=approver, reference=reference, key=str(key))
        decision = committer.decide(command, signatures.asked(f"ledger key adopt {key.name}"))
        if decision.refusal is not None:
            raise MisuseError(said(decision.refusal))
        committer.commit()
        return committer.book.seq
