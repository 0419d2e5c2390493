"""What each option of a search costs: milliseconds compared with a plain search, in one run.

    python -m bench.options --chunks 100000

On the library that `python -m bench.search` builds. The options take turns query by query, so that
other work on the machine slows all of them equally. `ratio` is to the plain search. Reranking
has a bench of its own (`bench.rerank`): this library holds no token vectors.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from time import perf_counter

from bench.build import place
from bench.corpus import WARM_UP, load_corpus
from bench.harness import Namespace, arguments
from trivium.config import load
from trivium.core.results import Results
from trivium.library import Library
from trivium.operations.searching import SearchOptions

Ask = Callable[[Library, str, str], Results]  # of a library, a query and another one
OPTIONS: Mapping[str, Ask] = {
    "plain": lambda library, query, other: library.search(query),
    "not corrected": lambda library, query, other: library.search(
        query, options=SearchOptions(correct=False)
    ),
    "by document": lambda library, query, other: library.search(
        query, options=SearchOptions(by="document")
    ),
    "with context": lambda library, query, other: library.search(
        query, options=SearchOptions(expand=True)
    ),
    "two queries, AND": lambda library, query, other: library.search([query, other]),
    "two queries, OR": lambda library, query, other: library.search(
        [query, other], options=SearchOptions(combine="maximum")
    ),
    "excluded word": lambda library, query, other: library.search(f"{query} -{other.split()[0]}"),
    "only meaning": lambda library, query, other: library.search(
        query, options=SearchOptions(mode="semantic")
    ),
    "only words": lambda library, query, other: library.search(
        query, options=SearchOptions(mode="keyword")
    ),
    "only spelling": lambda library, query, other: library.search(
        query, options=SearchOptions(mode="fuzzy")
    ),
}


def main() -> None:
    asked = _arguments()
    settings = load().settings
    at = place(settings, load_corpus(asked.data), asked.chunks)
    if not at.built.exists():
        command = [sys.executable, "-m", "bench.build", "--chunks", str(at.chunks)]
        subprocess.run([*command, "--data", str(asked.data)], check=True)
    warm_up = min(WARM_UP, asked.queries)
    queries = at.prepared.queries[: warm_up + asked.queries]
    took: dict[str, list[float]] = {name: [] for name in OPTIONS}
    with Library.open(at.library, settings=settings, create=False) as library:
        for number, (query, other) in enumerate(
            zip(queries, queries[1:] + queries[:1], strict=True)
        ):
            for name, ask in OPTIONS.items():
                started = perf_counter()
                ask(library, query, other)
                if number >= warm_up:
                    took[name].append((perf_counter() - started) * 1000)
    found = {name: _summary(times, took["plain"]) for name, times in took.items()}
    if asked.json:
        print(json.dumps({"chunks": asked.chunks, "milliseconds": found}, indent=1))
        return
    print(f"{'option':<22}{'p50':>8}{'p95':>8}{'ratio':>8}")
    for name, row in found.items():
        print(f"{name:<22}{row['p50']:>8.1f}{row['p95']:>8.1f}{row['ratio']:>8.2f}")


def _summary(times: list[float], plain: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    middle = sorted(t / p for t, p in zip(times, plain, strict=True))[len(times) // 2]
    return {
        "p50": round(ordered[len(ordered) // 2], 2),
        "p95": round(ordered[int(len(ordered) * 0.95)], 2),
        "ratio": round(middle, 2),
    }


def _arguments() -> Namespace:
    return arguments(__doc__, "chunks", "data", "json", queries=100)


if __name__ == "__main__":
    main()
