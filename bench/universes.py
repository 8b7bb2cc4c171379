"""Works out the universes kept under ``schema/universes`` and writes them: about two minutes on one core.

    python bench/universes.py [NAME…]

The format stands in ``meterd/paytables/parsheet/universes.py``; a slow test works them out again and compares.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from meterd.paytables.parsheet.tallies import BAD_BEAT_UNIVERSE, beaten_classes, render_beaten
from meterd.paytables.parsheet.universes import PLANS, build

FOLDER = Path(__file__).resolve().parent.parent / "schema" / "universes"


def main() -> None:
    """Work out the universes named on the command line, or all."""
    wanted = set(sys.argv[1:])
    FOLDER.mkdir(exist_ok=True)
    makers = {plan.name: lambda plan=plan: build(plan).render() for plan in PLANS} | {
        BAD_BEAT_UNIVERSE: lambda: render_beaten(beaten_classes())
    }
    for name, make in makers.items():
        if wanted and name not in wanted:
            continue
        began = time.perf_counter()
        text = make()
        (FOLDER / f"{name}.txt").write_text(text, encoding="ascii")
        print(f"{name}: {text.count(chr(10))} lines, {len(text):,} bytes, {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
