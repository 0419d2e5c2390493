"""Random histories of every connector, against its local service: changes, failures, pauses,
duplicate and reordered pages, answers that are cut off, kills.

    python -m bench.sync_histories --histories 10000 --seed 0

After each of them the library must equal the source, and nothing unchanged may have been embedded
again. If one fails, exits with 1 and names it: `--only slack --seed 17
--histories 1` runs that one again.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections import Counter
from random import Random

from tests.sources.grounds import Grounds, standing
from tests.sources.worlds import WORLDS, world_of

from trivium.store.memory.backend import open_memory
from trivium.testing.sync_histories import Life, live


def lived(kind: str, seed: int, grounds: Grounds) -> Life:
    life = Life(Random(f"{kind} {seed}"))
    live(life, world_of(kind, life, grounds), open_memory)
    return life


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000, help="of all kinds together")
    parser.add_argument("--seed", type=int, default=0, help="of the first history")
    parser.add_argument("--only", choices=WORLDS, help="one kind")
    asked = parser.parse_args()
    kinds = [asked.only] if asked.only else list(WORLDS)
    ran: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    spent = dict.fromkeys(kinds, 0.0)
    kills = writes = 0
    with standing() as grounds:
        for number in range(asked.histories):
            kind, seed = kinds[number % len(kinds)], asked.seed + number // len(kinds)
            begun = time.process_time()
            try:
                life = lived(kind, seed, grounds)
                kills, writes = kills + life.kills, writes + life.words
            except Exception as reason:  # an error that nobody expected is a fault too
                wrong[kind] += 1
                told = f"{type(reason).__name__}: {str(reason)[:300]}"
                print(f"{kind}, seed {seed}: {told}", flush=True)
            ran[kind] += 1
            spent[kind] += time.process_time() - begun
            if (number + 1) % 1_000 == 0:
                print(f"{number + 1:,} of {asked.histories:,}", file=sys.stderr, flush=True)
    print("| kind | histories | library and source differ | processor s |\n|---|---|---|---|")
    for kind in kinds:
        print(f"| {kind} | {ran[kind]:,} | {wrong[kind]:,} | {spent[kind]:.0f} |")
    print(f"| all | {ran.total():,} | {wrong.total():,} | {sum(spent.values()):.0f} |")
    print(f"{kills:,} runs killed, {writes:,} items written at the services")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
