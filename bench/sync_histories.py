"""Random histories of every connector, against its local service: changes, failures, pauses,
duplicate and reordered pages, answers that are cut off, kills.

    python -m bench.sync_histories --histories 10000 --seed 0

After each of them the library must equal the source, and nothing unchanged may have been embedded
again. If one fails, exits with 1 and names it: `--only slack --seed 17
--histories 1` runs that one again.

    python -m bench.sync_histories --calls --seed 0

Instead of chance, every call of every service fails in each of eight ways (400, 403, 404, 429, 500,
half a body, a sign-in page, no answer), in the first run and in a later one: after the next good
run the library must equal the source, and the failure must not have removed anything.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from itertools import product
from random import Random
from typing import Any

from tests.reference import open_memory
from tests.sources.grounds import Grounds, standing
from tests.sources.worlds import SERVICES, WORLDS, world_of

from bench.harness import arguments
from trivium.testing.sync_histories import TROUBLES, Life, fail_call, live


def lived(kind: str, seed: int, grounds: Grounds) -> Life:
    life = Life(Random(f"{kind} {seed}"))
    live(life, world_of(kind, life, grounds), open_memory)
    return life


def fail_calls(kinds: list[str], seed: int) -> None:
    """Every call of these services, in every way."""
    print(
        "| kind | calls that failed | library and source differ | processor s |\n|---|---|---|---|"
    )
    of_all = wrong_of_all = 0
    with standing() as grounds:
        for kind in kinds:
            begun, tried, wrong = time.process_time(), 0, 0
            for first in (True, False):
                calls = failed(kind, seed, grounds, first=first)
                for call, trouble in product(range(calls), TROUBLES):
                    tried += 1
                    try:
                        failed(kind, seed, grounds, call=call, trouble=trouble, first=first)
                    except Exception as reason:  # an error that nobody expected is a fault too
                        wrong += 1
                        run = "the first run" if first else "a later run"
                        told = f"{type(reason).__name__}: {str(reason)[:300]}"
                        print(f"{kind}, seed {seed}, call {call} of {run}, {trouble}: {told}")
            of_all, wrong_of_all = of_all + tried, wrong_of_all + wrong
            spent = time.process_time() - begun
            print(f"| {kind} | {tried:,} | {wrong:,} | {spent:.0f} |", flush=True)
    print(f"| all | {of_all:,} | {wrong_of_all:,} | |")
    if wrong_of_all:
        sys.exit(1)


def failed(kind: str, seed: int, grounds: Grounds, **how: Any) -> int:
    life = Life(Random(f"{kind} {seed}"))
    return fail_call(SERVICES[kind](life, grounds), life, open_memory, **how)


def main() -> None:
    asked = arguments(
        __doc__,
        histories=(10_000, "of all kinds together"),
        seed=(0, "of the first history"),
        only=({"choices": WORLDS}, "one kind"),
        calls=(False, "fail every call instead"),
    )
    if asked.calls:
        fail_calls([asked.only] if asked.only else list(SERVICES), asked.seed)
        return
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
