"""A ledger of three volumes changed in every way somebody with the files has, and what two verifiers say.

    python bench/tampering.py [--entries 10000] [--changes 1005] [--seed 20261130] [--note TEXT]

Each change is of a copy: a column, a posting, a row more or less, two swapped, the cleanest cut of the tail, a volume
less, a trigger, a bit, a file cut short, a checkpoint. Either both verifiers name the row (or its neighbour, where a
page cannot be read), or both report the unchanged head, because the byte carried no fact. Results are appended to
``bench/results/tampering.jsonl``; ``tests/app/test_tampering.py`` is the short version.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "tampering.jsonl"
sys.path[:0] = [str(HERE.parent / "tests" / "app")]

from tampering import CHANGES, attempt, first_word, write  # noqa: E402 - the tests' own attacker


def main() -> int:
    """Change, compare, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=1_005)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    os.nice(10)
    numbers = random.Random(arguments.seed)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="meterd-tampering-"))
    wrong, tally = [], Counter[str]()
    try:
        write(folder / "original", arguments.entries, numbers)
        sound = first_word(folder / "original", sorted((folder / "original").glob("checkpoint-*.txt")))
        for n in range(arguments.changes):
            change = CHANGES[n % len(CHANGES)]
            what, outcome, words = attempt(folder / "original", folder / "changed", change, numbers, sound.head)
            tally[f"{change.__name__}: {outcome}"] += 1
            if words:
                wrong.append(f"{what}: {words}")
                print(wrong[-1])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = {
        "bench": "tampering",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seed": arguments.seed,
        "entries": arguments.entries,
        "changes": arguments.changes,
        "seconds": round(time.monotonic() - began, 1),
        "tally": dict(sorted(tally.items())),
        "wrong": wrong,
        "note": arguments.note,
    }
    print(json.dumps(result["tally"], indent=1))
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(result) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
