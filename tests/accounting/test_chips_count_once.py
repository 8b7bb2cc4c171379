"""One device event is one wager."""

from __future__ import annotations

from accounting_build import DEALER, Casino, event

from meterd.accounting.commands import Lock, WagerSeen


def test_one_event_is_not_the_wager_of_two_seats() -> None:
    """Two seats with one event in one LOCK: the first counts, the second is refused for its seat alone."""
    casino = Casino()
    chip = event(5, "m/1/di1")
    decision = casino.do(Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1, 1, chip), WagerSeen(2, 1, chip))))
    assert ["Locked", "UnreasonableContribution"] == [entry.kind.value for entry in decision.entries]
    assert {1} == set(casino.book.tables["T1"].wagers)
    assert "-1.00" == casino.account("drop/T1")
