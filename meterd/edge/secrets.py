"""PINs: making and checking their hashes, and making guesses slow.

Rule 1: argon2 runs in a thread of its own, never in the wire loop: a check takes as long as ten lamps may.
Rule 2: an id that nobody has costs the same work as a wrong PIN and hears the same words.
Rule 3: who guesses waits: per person and per uid, longer each time, never longer than ``WAIT_MAX_S``, and is told so.
Rule 4: no PIN and no hash ever goes into a log line, an answer or the ledger.
Units: seconds of a clock that never goes back.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from meterd.config.people import People, Person, folded

PIN_MIN: Final = 6  # a hundred guesses a day get through; of a million that is nothing
PIN_MAX: Final = 64

FREE_PERSON: Final = 3  # wrong PINs before somebody waits: fingers slip
FREE_UID: Final = 10  # a shared terminal has several people's slips
WAIT_MAX_S: Final = 900
FORGET_S: Final = 24 * 3600
NAMES_MAX: Final = 1024  # ids that nobody has are the asker's to invent

WAITING_MAX: Final = 16  # sign-ins that wait for the thread; more is no terminal's doing

#: KiB, passes, lanes of a new hash: the least that OWASP's password storage page advises for argon2id. More would not
#: save a short PIN from whoever holds its hash, and is taken from the machine that drives the lamps.
USUAL_COST: Final = (19456, 2, 1)
NICE: Final = 10  # lamps before sign-ins

_COST: Final = re.compile(r"\$m=(\d+),t=(\d+),p=(\d+)\$")


class Shown(NamedTuple):
    """Who somebody says he is, and the PIN he typed."""

    id: str
    pin: str

    def __repr__(self) -> str:
        """Without the PIN."""
        return f"Shown(id={self.id!r})"


class Denied(NamedTuple):
    """A sign-in that failed, in words; ``wait_s`` where only time helps, else 0."""

    text: str
    wait_s: int = 0


def pin_problem(pin: str) -> str | None:
    """Why a text cannot be a new PIN, or None."""
    if not PIN_MIN <= len(pin) <= PIN_MAX:
        return f"a PIN has {PIN_MIN} to {PIN_MAX} characters"
    if not pin.isprintable() or pin != pin.strip():
        return "a PIN has no blank at its ends and nothing that cannot be seen"
    return "a PIN is not one character over and over" if len(set(pin)) == 1 else None


def hash_pin(pin: str) -> str:
    """The argon2id hash that a people file holds."""
    memory, passes, lanes = USUAL_COST
    return PasswordHasher(memory_cost=memory, time_cost=passes, parallelism=lanes).hash(pin)


def verify_pin(pin_hash: str, pin: str) -> bool:
    """Whether a PIN is the one of a hash. Takes as long as the hash asks for, right or wrong."""
    try:
        return PasswordHasher().verify(pin_hash, pin)
    except (Argon2Error, InvalidHashError, UnicodeEncodeError):
        return False


def decoy(people: People) -> str:
    """A hash that no PIN fits, of the highest cost among the people's: the work for whoever is none of them."""
    costs = [_COST.search(person.pin_hash) for person in people.persons if person.pin_hash is not None]
    found = [tuple(int(each) for each in cost.groups()) for cost in costs if cost is not None]
    memory, passes, lanes = max(found, key=lambda cost: (cost[0] * cost[1], cost)) if found else USUAL_COST
    salt, digest = (base64.b64encode(secrets.token_bytes(size)).decode().rstrip("=") for size in (16, 32))
    return f"$argon2id$v=19$m={memory},t={passes},p={lanes}${salt}${digest}"


class SlowDown:
    """How long each of some names has to wait after failures: ``free`` cost nothing, then 1 s, 2 s, 4 s and so on."""

    def __init__(self, free: int, now: Callable[[], float], names_max: int = NAMES_MAX) -> None:
        """Nobody waits."""
        self._free = free
        self._now = now
        self._names_max = names_max
        self._failed: dict[Hashable, tuple[int, float]] = {}  # name → failures, when the last one was; oldest first

    def wait_s(self, name: Hashable) -> int:
        """Whole seconds until this name may try again; 0 for now."""
        failures, last = self._failed.get(name, (0, 0.0))
        passed = self._now() - last
        if failures < self._free or passed >= FORGET_S:
            return 0
        return max(0, -int(-(self._length_s(failures) - passed) // 1))

    def failed(self, name: Hashable) -> None:
        """One more failure."""
        now = self._now()
        failures, last = self._failed.pop(name, (0, now))
        self._failed[name] = (1 if now - last >= FORGET_S else failures + 1, now)
        while len(self._failed) > self._names_max:
            del self._failed[next(iter(self._failed))]

    def succeeded(self, name: Hashable) -> None:
        """Who knows the PIN starts anew."""
        self._failed.pop(name, None)

    def _length_s(self, failures: int) -> int:
        return min(WAIT_MAX_S, 1 << min(failures - self._free, 30))


class SignIns:
    """Checks who somebody is, one sign-in after the other, without holding up the loop it is asked in."""

    def __init__(
        self,
        people: People,
        *,
        now: Callable[[], float] = time.monotonic,
        verify: Callable[[str, str], bool] = verify_pin,
    ) -> None:
        """``verify(hash, pin)`` is called in the thread only."""
        self.people = people
        self._verify = verify
        self._decoy = decoy(people)
        self._known = SlowDown(FREE_PERSON, now, max(NAMES_MAX, len(people.persons)))
        self._unknown = SlowDown(FREE_PERSON, now)
        self._uids = SlowDown(FREE_UID, now)
        self._one_by_one = asyncio.Lock()
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, "sign-in", initializer=_give_way)

    async def check(self, uid: int, shown: Sequence[Shown]) -> tuple[Person, ...] | Denied:
        """The people who signed, in the order they did; or why not. All PINs are checked, also behind a wrong one."""
        if self._waiting >= WAITING_MAX:
            return Denied("too many sign-ins wait: try again in a moment", 1)
        self._waiting += 1
        try:
            async with self._one_by_one:  # what one attempt leads to, the next one finds
                return await self._check(uid, shown)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """End the thread; a check that runs is waited for by nobody."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _check(self, uid: int, shown: Sequence[Shown]) -> tuple[Person, ...] | Denied:
        waits = [
            (self._uids.wait_s(uid), f"uid {uid}"),
            *((self._slow(each).wait_s(_key(each)), each.id) for each in shown),
        ]
        longest, name = max(waits, key=lambda wait: wait[0])
        if longest:
            return Denied(f"too many wrong PINs for {name}: try again in {longest} s", longest)
        found = [self.people.by_id(each.id) for each in shown]
        pairs = [
            (person.pin_hash if person is not None and person.pin_hash is not None else self._decoy, each.pin)
            for person, each in zip(found, shown, strict=True)
        ]
        loop = asyncio.get_running_loop()
        right = await loop.run_in_executor(self._thread, lambda: [self._verify(*pair) for pair in pairs])
        wrong = [each.id for each, ok in zip(shown, right, strict=True) if not ok]
        for each, ok in zip(shown, right, strict=True):
            if ok:
                self._slow(each).succeeded(_key(each))
            else:
                self._slow(each).failed(_key(each))
                self._uids.failed(uid)
        if wrong:
            return Denied(f"{' and '.join(wrong)}: the PIN is wrong, or nobody with a PIN has this id")
        return tuple(person for person in found if person is not None)

    def _slow(self, shown: Shown) -> SlowDown:
        """Invented ids must not push out what is known of real ones."""
        return self._unknown if self.people.by_id(shown.id) is None else self._known


def _give_way() -> None:
    """Linux gives each thread a niceness of its own, and the threads it starts inherit it."""
    thread = threading.get_native_id()
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, max(NICE, os.getpriority(os.PRIO_PROCESS, thread)))


def _key(shown: Shown) -> str:
    return folded(shown.id)
