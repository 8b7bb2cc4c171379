"""Long random histories of posted jackpots, Home Run and Trips Poker tables, compared with their twins after every act.

    python bench/pool_runs.py [--first SEED] [--runs N] [--acts 120] [--minutes M] [--note TEXT]
    python bench/pool_runs.py --resume [--runs N] [--minutes M]

A run is one jackpot, one Home Run table and one Trips table made from its seed, with so many acts on each; the same
code as in ``tests/accounting/test_pool_twin.py``. A range of seeds is one line of ``bench/results/pool_runs.jsonl``;
``--resume`` begins behind the last seed in there. A seed that fails is in the line, and stops nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "pool_runs.jsonl"
sys.path.insert(0, str(HERE.parent / "tests" / "accounting"))

import pool_steps  # noqa: E402 - the tests' own twin, which is no package
import test_pool_twin as twins  # noqa: E402
from pools_build import CardRoom  # noqa: E402

from meterd.accounting.commands import Command  # noqa: E402
from meterd.accounting.rules import Decision  # noqa: E402

counts: Counter[str] = Counter()
_act = CardRoom.act


def _counted(room: CardRoom, command: Command) -> Decision:
    decision = _act(room, command)
    counts[type(command).__name__ + (" refused" if decision.refusal else "")] += 1
    return decision


def play(seed: int, acts: int) -> str | None:
    """One run. Tells the failure, None where all held."""
    numbers = random.Random(seed)
    ways = pool_steps.Ways(*(numbers.randrange(100) for _ in pool_steps.Ways._fields))
    histories = [[pool_steps.Act(*(numbers.randrange(100) for _ in range(4))) for _ in range(acts)] for _ in range(3)]
    try:
        twins.test_a_jackpot_and_its_twin.hypothesis.inner_test(ways, histories[0])
        twins.test_a_home_run_table_and_its_twin.hypothesis.inner_test(histories[1])
        posted = numbers.randrange(41)
        twins.test_a_trips_table_and_its_twin.hypothesis.inner_test(posted, histories[2])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"seed {seed}: {type(error).__name__}: {str(error).splitlines()[:1]}"
    return None


def begin(arguments: argparse.Namespace) -> int:
    """The first seed of this range."""
    if not arguments.resume or not RESULTS.exists():
        return int(arguments.first)
    lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return max((line["last"] + 1 for line in lines if line["acts_each"] == arguments.acts), default=arguments.first)


def main() -> int:
    """Play a range of seeds and append what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--acts", type=int, default=120)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    os.nice(15)
    CardRoom.act = _counted
    first = seed = begin(arguments)
    started = time.monotonic()
    failures = []
    while seed < first + arguments.runs:
        failure = play(seed, arguments.acts)
        if failure is not None:
            print(failure, flush=True)
            failures.append(failure)
        seed += 1
        if arguments.minutes and time.monotonic() - started > arguments.minutes * 60:
            break
    line = {
        "bench": "pool_runs",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "first": first,
        "last": seed - 1,
        "acts_each": arguments.acts,
        "commands": sum(counts.values()),
        "seconds": round(time.monotonic() - started, 1),
        "acts": dict(sorted(counts.items())),
        "failures": failures,
        "note": arguments.note,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
