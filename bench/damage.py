"""Flips bits in a library's files and counts what happens: a table for docs/security.md.

    python -m bench.damage [--flips 60] [--seed 1]

Every flip hits a fresh copy of a small library, in a process of its own, since what a damaged file
does to native code cannot be caught from within. A third of the flips go to derived files, a third
to the database, and a third set a whole page of it to zero. For each the process searches in three
modes and runs `examine(deep=True)`; it neither adds nor repairs anything. Some 5 to 10 s a flip on
two busy cores.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.harness import arguments
from trivium.config import Settings
from trivium.core.errors import TriviumError
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

QUERIES = ("lantern", "harbour 7", "lanterm", "signal -harbour")
DATABASE = "library.db"
KINDS = ("derived", "database", "pages")  # one bit of an index, or of the database; a page of it
PAGE = 4096
SECONDS = 120  # for one copy, on a busy machine


def main() -> None:
    told = arguments(
        __doc__, flips=60, seed=1, look=(Path, "only look at the library in this folder")
    )
    if told.look:
        print(json.dumps(look(told.look)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for kind, counts in attack(Path(folder), told.flips, told.seed).items():
            for outcome, count in sorted(counts.items()):
                print(f"| {kind} | {outcome} | {count} |")


def attack(folder: Path, flips: int, seed: int) -> dict[str, Counter[str]]:
    """How often each outcome came, for each kind of damage."""
    whole = folder / "whole"
    make(whole, folder / "files")
    expected = look(whole)["answers"]
    choose = random.Random(seed)
    files = [path for path in sorted(whole.rglob("*")) if path.is_file() and path.stat().st_size]
    derived = [path for path in files if {"words", "vectors"} & {*path.parts}]
    counts = {kind: Counter[str]() for kind in KINDS}
    for number in range(flips):
        kind = KINDS[number % len(KINDS)]
        path = choose.choice(derived) if kind == "derived" else whole / DATABASE
        copy = folder / "copy"
        shutil.copytree(whole, copy)
        target = copy / path.relative_to(whole)
        data = bytearray(target.read_bytes())
        at = choose.randrange(len(data))
        if kind == "pages":
            at -= at % PAGE
            data[at : at + PAGE] = bytes(PAGE)
        else:
            data[at] ^= 1 << choose.randrange(8)
        target.write_bytes(data)
        outcome = judge(copy, expected)
        counts[kind][outcome] += 1
        print(f"{path.relative_to(whole)} {at}: {outcome}", file=sys.stderr)
        shutil.rmtree(copy)
    return counts


def make(place: Path, files: Path) -> None:
    files.mkdir()
    for n in range(40):
        text = f"The lantern of harbour {n} burns. " * 40 + f"Signal {n * 7} is word{n}."
        (files / f"{n}.md").write_text(f"# Note {n}\n\n{text}")
    with Library(open_embedded(place), TOY, Settings()) as library:
        library.add(files)


def look(place: Path) -> dict[str, object]:
    """What a person would see of this library, typed errors included."""
    try:
        with Library(open_embedded(place), TOY, Settings()) as library:
            answers = [
                [[r.found.id, round(r.score, 5), r.found.chunk.text] for r in found]
                for query in QUERIES
                for mode in ("keyword", "fuzzy", "semantic")
                for found in [library.search(query, options=SearchOptions(mode=mode))]
            ]
            wrong = [one.name for one in library.upkeep.examine(deep=True) if not one.ok]
            return {"answers": answers, "wrong": wrong}
    except TriviumError as error:
        return {"error": error.code}


def judge(place: Path, expected: object) -> str:
    command = [sys.executable, "-m", "bench.damage", "--look", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return f"UNTYPED FAILURE: {last[:80]}"
    seen = json.loads(done.stdout)
    if "error" in seen:
        return f"refused with {seen['error']}"
    if seen["answers"] != expected:
        return (
            f"results changed, named by doctor ({', '.join(seen['wrong'])})"
            if seen["wrong"]
            else ("RESULTS CHANGED UNNOTICED")
        )
    if seen["wrong"]:
        return "same results, named by doctor"
    said = "Rebuilt" in done.stderr
    return "same results, index rebuilt" if said else "same results, nothing to mend"


if __name__ == "__main__":
    main()
