"""What ``meterd sas`` must know after a crash: which wins a game told, under which identity, what became of them.

A win has no number of its own in SAS. So each gets one here, *before* the daemon is asked to write it down, and keeps
it for as long as the game might tell the same win again. With it no win counts twice; the ledger's mark of the highest
number decides where this file is gone or older than the ledger.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from meterd.edge.sas_values import Hit

Mark = tuple[int, int]


@dataclass(slots=True)
class OpenWin:
    """What a game told last. ``count`` is the number of its first win; ``done``: all are in the ledger."""

    group: int
    wins: list[tuple[int, int]]
    answer: str
    count: int
    done: bool = False


@dataclass(slots=True)
class Memory:
    """One line. ``counts``: address → number of its last win.

    ``asking``: the game that was asked for wins and whose answer was not read yet; it may have been lost with us.
    """

    path: Path
    epoch: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    open: dict[int, list[OpenWin]] = field(default_factory=dict)
    hits: dict[int, Hit] = field(default_factory=dict)
    asking: int | None = None

    @classmethod
    def load(cls, path: Path, marks: Mapping[int, Mark]) -> Self:
        """What the file says, made to fit the ledger's marks (address → epoch, count); a new epoch where it does not.

        A file that cannot be read counts as gone.
        """
        memory = cls(path)
        try:
            memory._read(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            memory = cls(path)
        epochs = [epoch for epoch, _ in marks.values()]
        behind = any(mark > (memory.epoch, memory.counts.get(address, 0)) for address, mark in marks.items())
        if behind:
            memory.open.clear()  # the ledger knows what became of them
        if not memory.epoch or behind:
            memory.epoch = max([memory.epoch, *epochs]) + 1
        return memory

    def told(
        self, address: int, group: int, wins: list[tuple[int, int]], answer: str, hits: Mapping[int, Hit]
    ) -> OpenWin:
        """The identity of what a game told: the one it had, or the next; on disk when this returns.

        A list that begins with what the game told and still holds has grown: only the rest of it is new, and that is
        what is returned. ``hits`` are the levels that from now on wait for it, where it was not known.

        Raises:
            OSError: it cannot be kept. Nothing may be acknowledged then.
        """
        for known in self.open.get(address, ()):
            if known.answer == answer:
                return known
        wins = self._rest(address, group, wins)
        before = deepcopy((self.counts, self.open, self.hits, self.asking))
        self._forget_asking(address)
        first = self.counts.get(address, 0) + 1
        self.counts[address] = first + len(wins) - 1
        fresh = OpenWin(group, wins, answer, first)
        self.open.setdefault(address, []).append(fresh)
        levels = {level for level, _ in wins}
        self.hits.update({level: hit for level, hit in hits.items() if level in levels})
        try:
            self.save()
        except OSError:
            self.counts, self.open, self.hits, self.asking = before
            raise
        return fresh

    def missed(self, address: int, word: bytes, *, again: bool) -> bytes:
        """What stands for an answer that nobody read: that of the last one, where it is told again, or a new one."""
        held = [bytes.fromhex(win.answer) for win in self.open.get(address, ())]
        known = [answer for answer in held if answer.partition(b" ")[0] == word]
        return known[-1] if again and known else b"%b %d" % (word, self.counts.get(address, 0) + 1)

    def _rest(self, address: int, group: int, wins: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """What of a list of wins was not told before: it begins with the last of those that were, or with all.

        Those before them the game has let go of, though we do not know it yet. One that could not be read (level 0) is
        no beginning of any. A list of known ones alone is taken for others.
        """
        known = [(each.group, win) for each in self.open.get(address, ()) for win in each.wins if win[0] > 0]
        told = [(group, win) for win in wins]
        for held in (known[at:] for at in range(len(known))):
            if len(held) < len(told) and told[: len(held)] == held:
                return wins[len(held) :]
        return wins

    def ask(self, address: int) -> None:
        """A game is about to be asked for wins: after a crash it has to be asked again before anything else is said.

        Raises:
            OSError: it cannot be kept. It must not be asked then.
        """
        if self.asking == address:
            return
        before, self.asking = self.asking, address
        try:
            self.save()
        except OSError:
            self.asking = before
            raise

    def read(self, address: int) -> bool:
        """What this game was asked for was read, or given up and told of; whether that has to be kept."""
        return self._forget_asking(address)

    def _forget_asking(self, address: int) -> bool:
        found = self.asking == address
        if found:
            self.asking = None
        return found

    @property
    def first(self) -> list[int]:
        """Games to be asked first after a start, in this order."""
        games = [] if self.asking is None else [self.asking]
        return games + [address for address in self.open if address != self.asking]

    @property
    def undone(self) -> list[tuple[int, OpenWin]]:
        """What games told and the ledger may not have yet."""
        return [(address, win) for address, wins in self.open.items() for win in wins if not win.done]

    def settled(self, address: int) -> bool:
        """The game has let go of what it told; whether there was anything to forget."""
        asked = self._forget_asking(address)
        wins = self.open.pop(address, [])
        left = [win for win in wins if not win.done]
        if left:
            self.open[address] = left
        return asked or len(left) != len(wins)

    def save(self) -> None:
        """Write it, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        stored: dict[str, Any] = {
            "epoch": self.epoch,
            "asking": self.asking,
            "counts": self.counts,
            "open": {address: [asdict(win) for win in wins] for address, wins in self.open.items()},
            "hits": {level: list(hit) for level, hit in self.hits.items()},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(stored, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _read(self, stored: dict[str, Any]) -> None:
        self.epoch = int(stored["epoch"])
        self.counts = {int(address): int(count) for address, count in stored["counts"].items()}
        self.open = {
            int(address): [OpenWin(**{**win, "wins": [(int(lv), int(ct)) for lv, ct in win["wins"]]}) for win in wins]
            for address, wins in stored["open"].items()
        }
        self.asking = None if stored["asking"] is None else int(stored["asking"])
        self.hits = {int(level): Hit(*hit) for level, hit in stored["hits"].items()}
