"""Two people who sign what is done to a ledger while its daemon is stopped.

Rule 1: they are two, of two departments (supervisor, accounting, administrator), with the reference of an approval.
Rule 2: the entry says what proves them: their PINs by a people file, or nothing. Whoever may write the ledger's files
        could have left every question out; an honest procedure is told as it was.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from meterd.accounting.commands import Actor, Role
from meterd.accounting.commands_links import TwoPeople
from meterd.accounting.refusals import Refused
from meterd.accounting.two_people import people_refusal
from meterd.app.act_words import refusal_words
from meterd.app.asked import Asked, Proof
from meterd.errors import MisuseError

#: Whom no people file knows: what they are is their word, so an administrator and accounting are taken for it.
UNPROVEN: Final = (Role.ADMINISTRATOR, Role.ACCOUNTING)


class Signatures(NamedTuple):
    """Two people and the reference of an approval.

    ``roles``: of those that PINs proved, by the file ``people``; None where nothing did.
    """

    first: str
    second: str
    reference: str
    roles: tuple[Role, Role] | None = None
    people: str = ""

    @property
    def actors(self) -> tuple[Actor, Actor]:
        """Both as the rules know people."""
        one, two = self.roles or UNPROVEN
        return Actor(self.first, one), Actor(self.second, two)

    def asked(self, what: str) -> Asked:
        """Facts for the entries of what they signed: who ran it, who signed, and what proves that."""
        proof = Proof.NONE if self.roles is None else Proof.PIN
        roles = tuple(role.value for role in self.roles or ())
        words = f'{what} ref "{self.reference}"'
        return Asked(os.getuid(), words, (self.first, self.second), proof=proof, roles=roles, people=self.people)

    def require_two(self) -> None:
        """Rule 1.

        Raises:
            MisuseError: the closed list's reason, in words.
        """
        first, second = self.actors
        refused = people_refusal(TwoPeople(actor=first, second=second, reference=self.reference))
        if refused is not None:
            raise MisuseError(said(refused))


def said(refused: Refused) -> str:
    """A refusal by its name, with its words."""
    return f"{refused.refusal.value}: {refusal_words(refused)}"
