"""How fast Trivium searches, signal by signal, and how that grows.

    python -m bench.search --chunks 100000
    python -m bench.search --growth 10000,100000,1000000

Real text; vectors mixed from those of real texts (see `rows.py`). One client, one query after
another. `python -m bench.compare` runs other systems on the same rows. Libraries stay in the cache
folder and are used again. Read `others` in the output: the cores that
other processes kept busy meanwhile. Only figures of a quiet machine (near 0) count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from bench.build import Place, code_digest, place
from bench.corpus import load_corpus
from bench.filters import filtered
from bench.harness import Namespace, arguments, say
from bench.interpreter import native_time, spent
from bench.ours import Ours, cold_start, on_disk, timings
from bench.search_report import growth_table, table
from bench.surroundings import surroundings
from bench.timing import Timing, memory
from trivium.config import Settings, load
from trivium.core.types import OWNER, Where

LIMIT = 10
_MET = ("first", "again")
# Whoever asks over HTTP has a token. This one has no labels, and these documents need none.
_CALLERS = {"the owner": OWNER, "a token": Where(audiences=frozenset())}


def main() -> None:
    asked = _arguments()
    sizes = [int(size) for size in asked.growth.split(",")] if asked.growth else []
    if sizes:
        found: Any = [_in_own_process(size, asked) for size in sizes]
        print(json.dumps(found, indent=1) if asked.json else growth_table(found))
    else:
        found = run(asked)
        print(json.dumps(found, indent=1) if asked.json else table(found))


def run(asked: Namespace) -> dict[str, Any]:
    settings = load().settings
    at = place(settings, load_corpus(asked.data), asked.chunks)
    _build(at, asked)
    built = json.loads(at.built.read_text(encoding="utf-8"))
    found: dict[str, Any] = {
        "chunks": at.chunks,
        "build": built | {"current": built["code"] == code_digest()},
        "disk_mb": on_disk(at.library),
        **surroundings(),
    }
    query = at.prepared.queries[0]
    cold_start(at, query, dropped=False)  # the interpreter's own files into the page cache
    found["cold_start_s"] = {
        "new process": cold_start(at, query, dropped=False),
        "library not in the page cache": cold_start(at, query, dropped=True),
    }
    found |= _measure(at, settings, asked)
    found["load_average_after"] = os.getloadavg()
    return found


def _measure(at: Place, settings: Settings, asked: Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {"interpreter_ms": _interpreter(at, settings, asked)}
    ours = Ours.open(at, settings, LIMIT, asked.seconds)
    found |= {"limit": LIMIT, "candidates": ours.candidates}
    try:
        say("Searching …")
        hybrid = {"hybrid": ours.hybrid(ours.embedding)}
        hybrid["hybrid, vector given"] = ours.hybrid(ours.given)
        found["signals_ms"] = timings(ours.signals())
        found["stages_ms"] = ours.stages(ours.embedding)
        found["memory_mb"] = asdict(memory())
        hybrid["hybrid, vector given, again"] = ours.hybrid(ours.given)
        hybrid["hybrid, again"] = ours.hybrid(ours.embedding)
        found["hybrid_ms"] = timings(hybrid)
        found["vector_recall"] = ours.recall()
        if asked.filter:
            say("With filters …")
            found["filters"] = filtered(ours, at)
    finally:
        ours.store.close()
    found["hybrid_ms"] |= timings(_callers(at, settings, asked))
    return found


def _callers(at: Place, settings: Settings, asked: Namespace) -> dict[str, Timing]:
    """Each in a library opened anew, so that every word is a new one."""
    found = {}
    for name, where in _CALLERS.items():
        ours = Ours.open(at, settings, LIMIT, asked.seconds)
        found[f"hybrid, opened anew, {name}"] = ours.hybrid(ours.embedding, where)
        ours.store.close()
    return found


def _interpreter(at: Place, settings: Settings, asked: Namespace) -> dict[str, Any]:
    """Processor time outside native calls, for new and for repeated queries."""
    with native_time() as native:
        ours = Ours.open(at, settings, LIMIT, asked.seconds)

        def ask(query: str) -> None:
            ours.given.search(ours.request(query))

        for query in ours.queries[: ours.warm]:
            ask(query)
        found = {name: asdict(spent(native, ask, ours.queries[ours.warm :])) for name in _MET}
        ours.store.close()
    return found


def _build(at: Place, asked: Namespace) -> None:
    if at.built.exists():
        made_by = json.loads(at.built.read_text(encoding="utf-8"))["code"]
        if asked.reuse or made_by == code_digest():
            return
        say("The store's code has changed, so the library is built again (--reuse keeps it).")
        at.built.unlink()
    say(f"Building a library of {at.chunks:,} chunks …")
    command = [sys.executable, "-m", "bench.build", "--chunks", str(at.chunks)]
    subprocess.run([*command, "--data", str(asked.data)], check=True)


def _in_own_process(chunks: int, asked: Namespace) -> Any:
    """So that memory is that of one library alone."""
    command = [sys.executable, "-m", "bench.search", "--chunks", str(chunks), "--json"]
    command += ["--data", str(asked.data), "--seconds", str(asked.seconds)]
    command += [f"--{flag}" for flag in ("filter", "reuse") if getattr(asked, flag)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "chunks",
        "json",
        "data",
        growth=("", "sizes, with commas: one after another"),
        filter=(False, "measure and check filters too"),
        reuse=(False, "use a library that older code built"),
        seconds=(60.0, "the most that one measurement may take"),
    )


if __name__ == "__main__":
    main()
