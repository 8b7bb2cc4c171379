"""Long random histories: the rules, the fold of their entries and the twin, compared after every step.

    python bench/accounting_runs.py [--first SEED] [--runs N] [--steps 200] [--minutes M] [--note TEXT]
    python bench/accounting_runs.py --resume [--runs N] [--minutes M]
    python bench/accounting_runs.py --seed SEED [--steps 200]      one history, told act by act up to where it fails

A run is one floor made from its seed (``tests/accounting/machine_rules.py``) and so many steps on it. A range of seeds
is one line of ``bench/results/accounting_runs.jsonl``; ``--resume`` begins behind the last seed in there of the same
number of steps. A seed that fails is in the line, and stops nothing. The process makes itself nice.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "accounting_runs.jsonl"
#: Seeds to a line of the results.
CHUNK = 250
sys.path.insert(0, str(HERE.parent / "tests" / "accounting"))

from machine_acts import VERBS  # noqa: E402 - the tests' own machine, which is no package
from machine_floor import random_world  # noqa: E402

import meterd.accounting  # noqa: E402


def play(seed: int, steps: int, counts: Counter[str], *, tell: bool = False) -> str | None:
    """One history. Tells the failure, None where all held."""
    numbers = random.Random(seed)
    world = random_world(numbers.randrange)
    verb = ""
    step = 0
    try:
        for step in range(steps):  # noqa: B007 - told where it fails
            verb = VERBS[numbers.randrange(len(VERBS))]
            world.step(verb, numbers.randrange(256), numbers.randrange(256), numbers.randrange(256))
        world.restart()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        last = world.history[-1] if world.history else None
        if tell:
            for act in world.history:
                print(act)
            traceback.print_exc()
        return f"seed {seed} step {step} {verb} {last}: {type(error).__name__}: {str(error).splitlines()[:1]}"
    finally:
        counts.update(world.counts)
    return None


def source() -> str:
    """What was run: a digest of the rules' own text."""
    digest = hashlib.sha256()
    folder = Path(next(iter(meterd.accounting.__path__)))
    for file in sorted([*folder.glob("*.py"), folder.parent / "money.py"]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def begin(arguments: argparse.Namespace) -> int:
    """The first seed of this range."""
    if not arguments.resume or not RESULTS.exists():
        return int(arguments.first)
    lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return max((line["last"] + 1 for line in lines if line["steps_each"] == arguments.steps), default=arguments.first)


def main() -> int:
    """Play a range of seeds and append what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    os.nice(15)
    counts: Counter[str] = Counter()
    if arguments.seed is not None:
        failure = play(arguments.seed, arguments.steps, counts, tell=True)
        print(failure or "all held", dict(counts))
        return int(failure is not None)
    first = begin(arguments)
    started = time.monotonic()
    failed = False
    for chunk in range(first, first + arguments.runs, CHUNK):
        failed |= play_chunk(chunk, min(chunk + CHUNK, first + arguments.runs), arguments.steps, arguments.note)
        if arguments.minutes and time.monotonic() - started > arguments.minutes * 60:
            break
    return int(failed)


def play_chunk(first: int, end: int, steps: int, note: str) -> bool:
    """Play some seeds and append a line; a run that is stopped loses at most one chunk. Tells whether any failed."""
    counts: Counter[str] = Counter()
    started = time.monotonic()
    failures = [failure for seed in range(first, end) if (failure := play(seed, steps, counts)) is not None]
    acts: dict[str, list[int]] = {}
    for name, count in sorted(counts.items()):
        verb, _, refused = name.partition(" ")
        acts.setdefault(verb, [0, 0])[bool(refused)] += count
    line = {
        "bench": "accounting_runs",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "source": source(),
        "first": first,
        "last": end - 1,
        "steps_each": steps,
        "steps": sum(counts.values()),
        "seconds": round(time.monotonic() - started, 1),
        "done_refused": acts,
        "failures": failures,
        "note": note,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(
        f"seeds {first} to {end - 1}: {line['steps']} steps, {line['seconds']} s, {failures or 'all held'}", flush=True
    )
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
