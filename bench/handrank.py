"""The hand-ranking core against public evaluators, on the same hands and in one run.

`category` of four suit masks stands beside `evaluate_7cards` and `evaluate_cards` of phevaluator (card numbers in) and
`Evaluator.evaluate` of treys (its own integers in): each gets what it wants, nobody converts within the timed loop.
Contenders take turns, so that all see the same neighbours; a figure is the best of the rounds, a ratio the median of
the ratios within a round. Times within this process are its processor time, so that a busy machine is not counted.
`rank` is timed with its checks, deciding ranks and cards used. Universes are counted by suit-permutation classes and
must come out whole. Import and `meterd rank` are fresh processes, timed by the clock on the wall.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from phevaluator import evaluate_5cards, evaluate_7cards, evaluate_cards
from treys import Card as TreysCard
from treys import Evaluator

from meterd.handrank import JOKER, RANKINGS, Card, category, rank
from meterd.handrank.classes import suit_classes

RESULTS = Path(__file__).with_name("results") / "handrank.jsonl"
SEED = 20240607
DECK = tuple(Card(rank_, suit) for suit in "cdhs" for rank_ in range(2, 15))
SUITS = "cdhs"


class Row(NamedTuple):
    """One measured line. ``target`` is a bound on ``value``: at most, or at least where ``at_least``."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the target holds, if there is one."""
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target


def masks_of(cards: Sequence[Card]) -> tuple[int, ...]:
    """Four suit masks, as ``category`` takes them."""
    masks = dict.fromkeys(SUITS, 0)
    for rank_, suit in cards:
        masks[suit] |= 1 << (rank_ - 2)
    return tuple(masks.values())


def numbers_of(cards: Sequence[Card]) -> tuple[int, ...]:
    """Card numbers of phevaluator."""
    return tuple((rank_ - 2) * 4 + SUITS.index(suit) for rank_, suit in cards)


def treys_of(cards: Sequence[Card]) -> tuple[list[int], list[int]]:
    """Board and hand of treys."""
    integers = [TreysCard.new(str(card)) for card in cards]
    return integers[2:], integers[:2]


def spent(function: Callable[..., object], calls: Sequence[Sequence[Any]]) -> float:
    """Microseconds a call."""
    began = time.process_time()
    for arguments in calls:
        function(*arguments)
    return (time.process_time() - began) / len(calls) * 1e6


def side_by_side(size: int, hands: int, rounds: int) -> Iterator[Row]:
    """Category of five or seven cards beside the public calls of others."""
    chooser = random.Random(SEED)
    dealt = [tuple(chooser.sample(DECK, size)) for _ in range(hands)]
    theirs = {5: evaluate_5cards, 7: evaluate_7cards}[size]
    contenders: dict[str, tuple[Callable[..., object], list[Sequence[Any]]]] = {
        "category": (category, [masks_of(cards) for cards in dealt]),
        f"phevaluator evaluate_{size}cards": (theirs, [numbers_of(cards) for cards in dealt]),
        "phevaluator evaluate_cards": (evaluate_cards, [numbers_of(cards) for cards in dealt]),
        "treys evaluate": (Evaluator().evaluate, [treys_of(cards) for cards in dealt]),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, (function, calls) in contenders.items():
            times[name].append(spent(function, calls))
    for name, each in times.items():
        yield Row(f"{size} cards: {name}", min(each), "us")
    for name, target in ((f"phevaluator evaluate_{size}cards", 1.0), ("treys evaluate", 10.0)):
        ratio = statistics.median(a / b for a, b in zip(times[name], times["category"], strict=True))
        yield Row(f"{size} cards: {name} / category", ratio, "x", target if size == 7 else None, at_least=True)


def ranks(hands: int, rounds: int) -> Iterator[Row]:
    """``rank`` with all it gives, for each ranking; with the joker or a wild deuce where there are any."""
    chooser = random.Random(SEED)
    for name, ranking in RANKINGS.items():
        size = {3: 3, 4: 5}.get(ranking.size, 7)
        dealt = [tuple(chooser.sample(DECK, size)) for _ in range(hands)]
        times = [spent(rank, [(cards, name) for cards in dealt]) for _ in range(rounds)]
        yield Row(f"rank {name}, {size} cards", min(times), "us", 10.0 if name == "five-card" else None)
        if ranking.jokers:
            with_joker = [((*cards[:-1], JOKER), name) for cards in dealt]
            times = [spent(rank, with_joker) for _ in range(rounds)]
            yield Row(f"rank {name}, {size - 1} cards and the joker", min(times), "us")


def universes() -> Iterator[Row]:
    """All hands of one deck by their classes."""
    for size, target in ((5, 1.5), (6, None), (7, 40.0)):
        gc.collect()
        began = time.process_time()
        counts = [0] * 10
        for masks, weight in suit_classes(size):
            counts[category(*masks)] += weight
        took = time.process_time() - began
        assert sum(counts) == comb(52, size)
        yield Row(f"all {comb(52, size):,} hands of {size}", took, "s", target)


def processes(runs: int) -> Iterator[Row]:
    """Fresh interpreters: the import as ``-X importtime`` tells it, and the whole of ``meterd rank``."""
    imports, whole = [], []
    meterd = shutil.which("meterd") or str(Path(sys.executable).with_name("meterd"))
    for _ in range(runs):
        told = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", "import meterd.handrank"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        line = next(line for line in told.splitlines() if line.endswith("| meterd.handrank"))
        imports.append(int(line.split("|")[1]) / 1000)
        began = time.perf_counter()
        subprocess.run(
            [meterd, "rank", "co/nexus/pmg-ml-02", "--cards", "Ah Kh Qh Jh Th"], capture_output=True, check=True
        )
        whole.append((time.perf_counter() - began) * 1000)
    yield Row("import meterd.handrank, cumulative", min(imports), "ms", 40.0)
    yield Row("meterd rank, whole", min(whole), "ms", 300.0)


def main() -> None:
    """Measure, print the table, append it to the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--note", default="", help="a word for the results")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    rows: list[Row] = []
    for part in (
        side_by_side(5, arguments.hands, arguments.rounds),
        side_by_side(7, arguments.hands, arguments.rounds),
        ranks(arguments.hands // 5, arguments.rounds),
        universes(),
        processes(2 * arguments.rounds),
    ):
        for row in part:
            target = "" if row.target is None else f"{'≥' if row.at_least else '≤'} {row.target:g}"
            print(
                f"{row.name:<52}{row.value:>10.3f} {row.unit:<3}{target:>8}{'' if row.met else '  missed'}", flush=True
            )
            rows.append(row)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(_result(arguments, rows, load), ensure_ascii=False) + "\n")


def _result(arguments: argparse.Namespace, rows: list[Row], load: float) -> dict[str, Any]:
    return {
        "bench": "handrank",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(load, 1),
        "hands": arguments.hands,
        "rounds": arguments.rounds,
        "note": arguments.note,
        "rows": {row.name: round(row.value, 3) for row in rows},
        "missed": [row.name for row in rows if not row.met],
    }


if __name__ == "__main__":
    main()
