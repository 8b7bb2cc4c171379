"""Whole rounds of every catalogue table with a meter against the twin, each account compared after each round.

    python bench/catalogue_rounds.py [--rounds 200000] [--first SEED] [--minutes M] [--resume] [--note TEXT]

A seed is one floor of one table (level settings of any kind) and 25 rounds on it. Results are appended to
``bench/results/catalogue_rounds.jsonl``; ``--resume`` begins behind the last seed in there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "catalogue_rounds.jsonl"
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "accounting")]

from accounting_runs import source  # noqa: E402 - its neighbour
from machine_catalogue import floor_of, tables, whole_round  # noqa: E402 - the tests' own machine

ROUNDS_EACH = 25


def play(seed: int) -> str | None:
    """One floor. Tells the failure, None where all held."""
    table = tables()[seed % len(tables())]
    numbers = random.Random(f"{table.id} {seed}")
    world = floor_of(table, numbers.randrange, light=True)
    try:
        for _ in range(ROUNDS_EACH):
            whole_round(world, numbers.randrange)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"seed {seed} {table.id} {world.history[-1]}: {type(error).__name__}: {str(error).splitlines()[:1]}"
    return None


def main() -> int:
    """Play so many rounds and append what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    os.nice(15)
    first = arguments.first
    if arguments.resume and RESULTS.exists():
        first = max(json.loads(line)["last"] + 1 for line in RESULTS.read_text(encoding="utf-8").splitlines())
    started = time.monotonic()
    failures = []
    seed = first
    while (seed - first) * ROUNDS_EACH < arguments.rounds:
        failure = play(seed)
        if failure is not None:
            print(failure, flush=True)
            failures.append(failure)
        seed += 1
        if arguments.minutes and time.monotonic() - started > arguments.minutes * 60:
            break
    line = {
        "bench": "catalogue_rounds",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "source": source(),
        "tables": len(tables()),
        "first": first,
        "last": seed - 1,
        "rounds": (seed - first) * ROUNDS_EACH,
        "seconds": round(time.monotonic() - started, 1),
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
