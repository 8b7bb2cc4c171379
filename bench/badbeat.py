"""The two-way bad beat against a simulation that shares no code with it: own shuffle, own runs, own comparison.

    python bench/badbeat.py [MILLIONS] [SEED]

Prints, per award, the exact chance, the simulated one and how many standard errors lie between. Ends with 1 if any is
more than four away.
"""

from __future__ import annotations

import random
import sys
import time

from meterd.edge.files import paytable, universe_text
from meterd.paytables.parsheet import parsheet

TABLE = "co/straight-edge/progressive-1"


def longest(cards: list[int]) -> tuple[int, int]:
    """Length and top of the longest run; card n has rank n % 13, the deuce 0, and an ace also stands below it."""
    present = [False] * 14
    for card in cards:
        present[card % 13 + 1] = True
    present[0] = present[13]
    best, run = (0, 0), 0
    for place in range(14):
        run = run + 1 if present[place] else 0
        best = max(best, (run, place))
    return best


def simulate(deals: int, seed: int) -> dict[int, int]:
    """Awards by length of the lower straight."""
    dealt = random.Random(seed)
    deck = list(range(52))
    found = dict.fromkeys((4, 5, 6, 7), 0)
    for _ in range(deals):
        cards = dealt.sample(deck, 15)
        ours, theirs = longest(cards[:7]), longest(cards[7:])
        if ours != theirs and min(ours, theirs)[0] >= 4:
            found[min(ours, theirs)[0]] += 1
    return found


def main() -> None:
    """Simulate and compare."""
    deals = int(float(sys.argv[1]) * 1_000_000) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    began = time.perf_counter()
    found = simulate(deals, seed)
    print(f"{deals:,} deals, seed {seed}, {time.perf_counter() - began:.0f} s")
    worst = 0.0
    for row in parsheet(paytable(TABLE), cached=universe_text).rows:
        exact = row.probability.numerator / row.probability.denominator
        seen = found[int(row.hand[0])] / deals
        errors = (seen - exact) / (exact * (1 - exact) / deals) ** 0.5
        worst = max(worst, abs(errors))
        print(f"{row.hand:<16} exact {exact:.9f}  simulated {seen:.9f}  {errors:+.2f} standard errors")
    sys.exit(int(worst > 4))


if __name__ == "__main__":
    main()
