"""The queue into the money thread."""

from __future__ import annotations

import threading

from meterd.app.inbox import BATCH_MAX, Inbox


def test_a_full_queue_raises_the_overrun_flag_of_its_source_and_keeps_what_it_has() -> None:
    """What does not fit is dropped, its port is flagged once, and nothing that was queued is lost."""
    inbox = Inbox(waiting_max=2)
    assert [inbox.offer("a", "pit-1"), inbox.offer("b", "pit-2"), inbox.offer("c", "pit-1")] == [True, True, False]
    assert inbox.take(0) == (frozenset({"pit-1"}), ["a", "b"])
    assert inbox.take(0) == (frozenset(), [])


def test_one_batch_is_bounded() -> None:
    """At most ``BATCH_MAX`` items are decided and committed together; the rest waits for the next batch."""
    inbox = Inbox()
    for number in range(BATCH_MAX + 3):
        inbox.offer(number, "pit-1")
    assert inbox.take(0)[1] == list(range(BATCH_MAX))
    assert inbox.take(0)[1] == list(range(BATCH_MAX, BATCH_MAX + 3))


def test_a_closed_queue_gives_out_what_waits_and_takes_nothing_more() -> None:
    """On the way out everything that was taken is decided; what comes later is refused and flags no port."""
    inbox = Inbox()
    inbox.offer("a", "pit-1")
    inbox.close()
    assert inbox.offer("b", "pit-1") is False
    assert inbox.take(20) == (frozenset(), ["a"])
    assert inbox.take(20) == (frozenset(), [])


def test_an_offer_wakes_the_taker() -> None:
    """The money thread sleeps until there is something; it does not poll."""
    inbox = Inbox()
    taken: list[list[object]] = []
    thread = threading.Thread(target=lambda: taken.append(inbox.take(20)[1]))
    thread.start()
    inbox.offer("a", "pit-1")
    thread.join(20)
    assert taken == [["a"]]
