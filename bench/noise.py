"""A shift through bad cables: how many rounds come about, how often tables close, whether anything is counted wrong.

    .venv/bin/python bench/noise.py [--rounds 2000] [--rates 0 1e-4 1e-3 1e-2] [--tables 8] [--minutes 40]

Each byte on every line, either way, is flipped, lost and doubled with this chance each. People deal, bet and act on
what they see; pauses are divided by ``--speed``. A rate ends after ``--rounds`` rounds played to their end, or after
``--minutes``: a limit for a cable through which hardly anything comes about, not the measure. Modules are asked every
``--levels-ms``. The oracle is the log of the other end (``tests/daemon/noise_shift.py``): every steady lamp one wager,
every wager one steady lamp, none twice. One line for each rate goes to ``bench/results/noise.jsonl``; the exit code is
1 where anything was found.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "daemon")]

from noise_shift import noisy_floor, shift  # noqa: E402 - a neighbour of the tests

RESULTS = ROOT / "bench" / "results" / "noise.jsonl"


def main() -> int:
    """Run each rate on a floor of its own."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=2000)
    arguments.add_argument("--rates", type=float, nargs="+", default=[0.0, 1e-4, 1e-3, 1e-2])
    arguments.add_argument("--tables", type=int, default=8)
    arguments.add_argument("--minutes", type=float, default=40.0)
    arguments.add_argument("--speed", type=float, default=40.0)
    arguments.add_argument("--levels-ms", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    given = arguments.parse_args()
    wrong = 0
    for rate in given.rates:
        folder = Path(tempfile.mkdtemp(prefix="noise-"))
        pace = {"seed": given.seed, "speed": given.speed, "levels_ms": given.levels_ms}
        with noisy_floor(folder / "floor", given.tables, rate, **pace) as floor:
            found = shift(floor, given.rounds, given.minutes * 60)
        if found["findings"]:
            print(f"kept to be looked at: {folder}", flush=True)
        else:
            shutil.rmtree(folder)
        row = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "rate_per_byte_each": rate,
            "tables": given.tables,
            "speed": given.speed,
            "levels_ms": given.levels_ms,
            "seed": given.seed,
            "load": round(os.getloadavg()[0], 1),
            **found,
            "findings": len(found["findings"]),
        }
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)
        for sentence in found["findings"][:10]:
            print(f"  {sentence}", flush=True)
        wrong += len(found["findings"])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
