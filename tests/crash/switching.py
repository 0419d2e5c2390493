"""Kills a process at every boundary of a change of the model, and at random instants; checks that
the next one finishes.

Run as `python switching.py LIBRARY`. For each boundary a fork of this process embeds the library
again and kills itself there; another fork continues and checks everything. The next round changes
the model back. Starts when its standard input says so; prints a line for every round.

With `search` in front it searches until its standard input ends and checks that every answer is
whole and of one model.
"""

import random
import signal
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.crash.searcher import PAUSE
from tests.crash.steps import Writing, boundaries, fork, killed

from trivium.config import Settings
from trivium.core.types import Signal
from trivium.ingest import reembed
from trivium.ingest.reembed import Reembedder
from trivium.library import Library, model
from trivium.operations.searching import SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.vectors import VectorIndex
from trivium.store.sql import models
from trivium.store.sql.models import SqlModels
from trivium.testing.samples import OTHER, TOY, ToyEmbedder, sample

DOCUMENTS, PARTS = 4, 3
KILLS = 8  # at random instants
QUERY = "lantern"
MODELS = {"": TOY, "toy": TOY, "other": OTHER}
WRITING: Writing = (
    (SqlModels, ("begin", "keep_beside", "_serve", "drop_others")),
    (models, ("_drop",)),
    (VectorIndex, ("start_writing", "append", "stop_writing")),
    (Indexes, ("start_writing", "stop_writing")),
)


def opened(place: Path) -> Library:
    """With toy models in the place of real ones, by the name that the manifest keeps."""
    model.embedder_or_missing = lambda settings: MODELS[settings.embed_model]
    store = open_embedded(place)
    name = store.models.manifest().settings.get("embed.model", "")
    return Library(store, MODELS[name], Settings(embed_model=name))


def fill(place: Path) -> None:
    with opened(place) as library:
        texts = [[f"lantern part{p} of d{d}" for p in range(PARTS)] for d in range(DOCUMENTS)]
        batch = [sample(f"d{number}", *texts) for number, texts in enumerate(texts)]
        library.backend.writer.put(batch, TOY.fingerprint)


def change(place: Path, name: str) -> None:
    """To the model of this name. Writes what it embedded to a file beside the library."""
    embedder = MODELS[name]
    log = place.parent / "embedded"

    class Telling(type(embedder)):  # type: ignore[misc]
        def embed_documents(self, texts: Sequence[str]) -> Any:
            with log.open("a") as file:
                file.write("".join(f"{text}\n" for text in texts))
            return super().embed_documents(texts)

    with opened(place) as library:
        Reembedder(library.backend, Telling(), {"embed.model": name}).run()


def finish(place: Path, name: str) -> None:
    change(place, name)
    with opened(place) as library:
        assert library.models.manifest().model == MODELS[name].fingerprint
        assert library.models.manifest().next_model == ""
        assert check(library) == MODELS[name].fingerprint
        health = library.upkeep.health()
        assert health["chunks"] == health["words"] == health["vectors"] == DOCUMENTS * PARTS
    connection = sqlite3.connect(place / "library.db")
    held = connection.execute("SELECT DISTINCT model FROM embeddings").fetchall()
    connection.close()
    assert held == [(MODELS[name].fingerprint,)]
    assert len(list((place / "vectors").iterdir())) == 1
    # A kill repeats at most the step it was in: one batch.
    told = Counter((place.parent / "embedded").read_text().splitlines())
    assert len(told) == DOCUMENTS * PARTS
    assert sum(told.values()) <= DOCUMENTS * PARTS + reembed.BATCH
    (place.parent / "embedded").unlink()


def check(library: Library) -> str:
    """Search once: every passage is found, each with the score that one and the same model gives
    it. That model comes back."""
    found = library.search(QUERY, 1000, options=SearchOptions(mode="semantic"))
    assert len({result.found.id for result in found}) == len(found) == DOCUMENTS * PARTS
    fitting = [e for e in (TOY, OTHER) if all(_fits(e, result) for result in found)]
    assert len(fitting) == 1, "a mixture of two models"
    return fitting[0].fingerprint


def _fits(embedder: ToyEmbedder, result: Any) -> bool:
    texts = (QUERY, result.found.chunk.embedded_text)
    query, passage = (embedder.embed_query(text) for text in texts)
    return abs(float(query @ passage) - result.signals[Signal.VECTOR].score) < 2e-3


def search(place: Path) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    seen = Counter[str]()
    with opened(place) as library:
        print("ready", flush=True)
        while not ended.wait(PAUSE):
            seen[check(library)] += 1
    print(*(f"{model}={count}" for model, count in sorted(seen.items())), flush=True)


def at_random(place: Path, name: str) -> None:
    """Within the time that a change takes when nothing stops it."""
    chance = random.Random(20261115)
    begun = perf_counter()
    assert fork(lambda: finish(place, name)) == 0
    whole = perf_counter() - begun
    for _ in range(KILLS):
        name = another(name)
        delay = chance.uniform(0, whole)

        def die(delay: float = delay, name: str = name) -> None:
            signal.setitimer(signal.ITIMER_REAL, delay)  # SIGALRM ends a process as SIGKILL does
            change(place, name)

        assert fork(die) in (0, -signal.SIGALRM)
        assert fork(lambda name=name: finish(place, name)) == 0, f"killed after {delay}"  # type: ignore[misc]
        print("at random", flush=True)


def another(name: str) -> str:
    return "toy" if name == "other" else "other"


def rounds(place: Path, act: Callable[[Path, str], None]) -> str:
    """One to the end, then one for each of its boundaries. The model that the library has then
    comes back."""
    name = "other"
    met = boundaries(lambda: act(place, name), WRITING)
    assert fork(lambda: finish(place, name)) == 0, "to the end"
    print("to the end", flush=True)
    for where, number in met:
        name = another(name)
        was_killed = killed(partial(act, place, name), where, number, WRITING)
        assert fork(partial(finish, place, name)) == 0, f"killed {where}, {number}"
        if was_killed:
            print(where, flush=True)
    return name


def main(place: Path) -> None:
    reembed.BATCH = reembed.MOST = 5
    assert fork(lambda: fill(place)) == 0
    print("ready", flush=True)
    sys.stdin.readline()
    last = rounds(place, change)
    at_random(place, another(last))


if __name__ == "__main__":
    if sys.argv[1] == "search":
        search(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
