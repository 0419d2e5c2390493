"""What adding costs besides the model: unchanged files, an edit, very many small files, and which
part of it takes how long.

    python -m bench.adding unchanged                     1,000 files added again
    python -m bench.adding edited                        one paragraph of 200 pages rewritten
    python -m bench.adding many --documents 100000       memory, rate, and searches meanwhile
    python -m bench.adding stages --words 250            as if the model cost nothing
    python -m bench.adding stages --words 250 --model FOLDER --device cuda

`many` adds documents of about 40 words (or --words), real sentences, each a file of its own, in one
process, and searches in another for a while in the middle of it. The rate is compared with the
model's own on the same texts, timed before and after in the same run. Documents added while the
other process searched don't count. To continue a stopped run, start it again with the same --place.

`stages` tells the processor time of each part, and how fast `reembed` is afterwards. Without
--device the model returns random numbers at once, and documents are read and chunked as on a
machine with a GPU.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.corpus import SEED, Corpus, load_corpus
from bench.harness import Namespace, arguments
from bench.surroundings import surroundings
from bench.timing import memory, percentile, processor_seconds
from trivium.config import Settings, load
from trivium.extract.detect import read
from trivium.ingest.outcomes import Fate
from trivium.ingest.reembed import Reembedder, ReembedProgress
from trivium.ingest.tasks import BATCH_DOCUMENTS
from trivium.library import Library, embedder_for
from trivium.library.assembly import chunker_for, readers_for, token_embedder_for
from trivium.library.jobs import Report
from trivium.models.local import LocalEmbedder
from trivium.ports import Blob
from trivium.store.embedded.backend import open_embedded

if TYPE_CHECKING:
    from trivium.core.types import TokenVectors, Vectors

MODEL_TEXTS = 1024  # that the model is timed with
A_FOLDER = 1000  # files
SEARCHES_FROM = 0.5  # share of the documents that are in when the other process searches
PAUSE = 0.1  # seconds between two searches: a person who types, not a load test


def main() -> None:
    measured = {"unchanged": unchanged, "edited": edited, "many": many, "stages": stages}
    roles = {"add": add, "search": search, "model": model}  # processes of `many`
    given = arguments(
        __doc__,
        "data",
        what={"positional": True, "choices": (*measured, *roles)},
        documents=1000,
        words=(40, "of a document, about"),
        pages=(200, "of `edited`, each of 500 words"),
        place=(Path, "kept, to go on there; else a temporary folder"),
        seconds=(30.0, "of searching, each time"),
        model=(Path, "folder of the model of `stages`"),
        device=({"choices": ("cpu", "cuda")}, "of `stages`; else no model runs"),
    )
    if given.what in roles:
        roles[given.what](given)
        return
    with tempfile.TemporaryDirectory() as temporary:
        given.place = given.place or Path(temporary)
        found = measured[given.what](given)
        print(json.dumps({"measured": given.what, **found, **surroundings()}, indent=2))


# --- unchanged files


def unchanged(given: Namespace) -> dict[str, Any]:
    files = written(given)
    with Library.open(given.place / "library", settings=load().settings) as library:
        first = library.add(files)
        again = library.add(files)
    assert again.count(Fate.UNCHANGED) == given.documents
    return {
        "documents": given.documents,
        "first_per_second": round(given.documents / first.seconds, 1),
        "again_per_second": round(given.documents / again.seconds, 1),
        "again_embedding_seconds": again.embedding_seconds,
    }


# --- an edit of a long document


def edited(given: Namespace) -> dict[str, Any]:
    chance, sentences = random.Random(SEED), load_corpus(given.data).sentences
    book = given.place / "book.md"

    def paragraph(words: int) -> str:
        told: list[str] = []
        while len(told) < words:
            told += chance.choice(sentences).split()
        return " ".join(told)

    pages = [[paragraph(100) for _ in range(5)] for _ in range(given.pages)]
    with Library.open(given.place / "library", settings=load().settings) as library:

        def add() -> tuple[Report, frozenset[str]]:
            parts = (f"## Part {n}\n\n" + "\n\n".join(page) for n, page in enumerate(pages, 1))
            book.write_text("\n\n".join(parts), encoding="utf-8")
            report = library.add(book)
            kept = library.backend.documents.summarised(1)
            assert kept is not None
            return report, kept.hashes

        first, before = add()
        pages[given.pages // 2][2] = paragraph(130)
        again, after = add()
    return {
        "passages": len(before),
        "embedded_again": len(after - before),
        "first_seconds": round(first.seconds, 1),
        "again_seconds": round(again.seconds, 1),
        "again_embedding_seconds": round(again.embedding_seconds, 2),
    }


# --- which part takes how long


class Costless(LocalEmbedder):
    """The built-in model, but for what it costs."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = self._chance.standard_normal((len(texts), self.dimensions), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        # As many bytes as its token vectors have: 11 for each of the uncommon tokens.
        packed = [self._chance.bytes(11 * max(1, len(text) // 10)) for text in texts]
        return self.embed_documents(texts), packed

    @cached_property
    def _chance(self) -> np.random.Generator:
        return np.random.default_rng(SEED)


PARTS = {"MainThread": "writing", "trivium-prepare": "preparing", "trivium-embed": "embedding"}


class Threads:
    """The processor time of this process's threads, by what they do. Seen while they live."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], float] = {}

    def look(self, _: object = None) -> None:
        for thread in threading.enumerate():
            name = thread.name.rpartition("_")[0] or thread.name
            if thread.ident is not None:
                clock = time.pthread_getcpuclockid(thread.ident)
                self._seen[name, thread.ident] = time.clock_gettime(clock)

    def seconds(self) -> dict[str, float]:
        parts: dict[str, float] = {}
        for (name, _), seconds in self._seen.items():
            part = PARTS.get(name, "others")
            parts[part] = round(parts.get(part, 0.0) + seconds, 2)
        return parts


def stages(given: Namespace) -> dict[str, Any]:
    files = written(given)
    settings = replace(load().settings, embed_device=given.device or "cuda")
    if given.model:
        settings = replace(settings, embed_folder=given.model)
    embedder = _measured(given, settings)
    threads = Threads()
    began, of_children = time.process_time(), sum(os.times()[2:4])
    threads.look()
    before = threads.seconds()
    with Library(open_embedded(given.place / "library"), embedder, settings) as library:
        report = library.add(files, on_outcome=threads.look)
    after = threads.seconds()
    again = _reembedded(given, settings)
    return {
        "documents": given.documents,
        "chunks": report.chunks,
        "seconds": round(report.seconds, 2),
        "chunks_per_second": round(report.chunks / report.seconds),
        "readers": readers_for(settings),
        "seconds_in_model": round(report.embedding_seconds, 2),
        "processor_seconds": {
            "all": round(time.process_time() - began, 2),
            **{part: round(after[part] - before.get(part, 0.0), 2) for part in sorted(after)},
            "reading_processes": round(sum(os.times()[2:4]) - of_children, 2),
        },
        "reembedded_per_second": round(again.done / again.seconds),
    }


def _measured(given: Namespace, settings: Settings) -> LocalEmbedder:
    costless = Costless(None, settings.cache, document_prefix=settings.embed_document_prefix)
    embedder = embedder_for(settings) if given.device else costless
    assert isinstance(embedder, LocalEmbedder)
    embedder.embed_documents(["loads it"] * MODEL_TEXTS)
    return embedder


def _reembedded(given: Namespace, settings: Settings) -> ReembedProgress:
    """With the same model, told another prefix, so that it counts as another one."""
    embedder = _measured(given, replace(settings, embed_document_prefix="again: "))
    tokens = token_embedder_for(settings, embedder)
    with closing(open_embedded(given.place / "library")) as backend:
        return Reembedder(backend, embedder, {}, token_embedder=tokens).run()


# --- very many small files


def many(given: Namespace) -> dict[str, Any]:
    written(given)
    before = _ask(given, "model")
    busy, own, started = processor_seconds(), sum(os.times()[2:4]), perf_counter()
    seen, meanwhile = _watched(given)
    others = processor_seconds() - busy - (sum(os.times()[2:4]) - own)
    wall = perf_counter() - started
    idle = _ask(given, "search")
    rates = [before["texts_per_second"], _ask(given, "model")["texts_per_second"]]
    tenth = next(line for line in seen if line["done"] >= given.documents / 10)
    rate = _rate(seen, meanwhile)
    if not meanwhile["overlapped"]:
        print(
            "Adding ended before the searches did: more documents, fewer seconds.", file=sys.stderr
        )
    return {
        "documents": given.documents,
        "words": given.words,
        "per_second": round(rate, 1),
        "model_per_second": rates,
        "share_of_model": round(rate / (sum(rates) / 2), 3),
        "megabytes": {"tenth": tenth["resident"], "end": seen[-1]["resident"]},
        "growth": round(seen[-1]["resident"] / tenth["resident"], 2),
        "search_ms": {"idle": idle, "meanwhile": meanwhile["found"]},
        "slower": round(meanwhile["found"]["p95"] / idle["p95"], 2),
        "searched_while_adding": meanwhile["overlapped"],
        "others": round(max(0.0, others / wall), 2),
    }


def _watched(given: Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What the adding process and the searching one reported, and when."""
    seen: list[dict[str, Any]] = []
    meanwhile: dict[str, Any] = {}
    with _role(given, "add") as adding:
        assert adding.stdout is not None
        searching: subprocess.Popen[str] | None = None
        for line in adding.stdout:
            seen.append(json.loads(line))
            print(line, end="", file=sys.stderr, flush=True)
            if searching is None and seen[-1]["done"] >= given.documents * SEARCHES_FROM:
                searching = _role(given, "search")
                meanwhile["from"] = seen[-1]["at"]
            if searching is not None and "to" not in meanwhile and searching.poll() is not None:
                meanwhile["to"] = seen[-1]["at"]
    assert adding.returncode == 0
    assert searching is not None
    assert searching.stdout is not None
    meanwhile["found"] = json.loads(searching.stdout.read())
    meanwhile["overlapped"] = "to" in meanwhile
    return seen, meanwhile


def _rate(seen: list[dict[str, Any]], meanwhile: dict[str, Any]) -> float:
    """Documents a second while nobody searched, or over the whole run if it was short."""
    parts = [
        [line for line in seen if line["done"] and line["at"] <= meanwhile["from"]],
        [line for line in seen if meanwhile["overlapped"] and line["at"] >= meanwhile["to"]],
    ]
    spans = [(p[-1]["done"] - p[0]["done"], p[-1]["at"] - p[0]["at"]) for p in parts if p]
    if not any(seconds for _, seconds in spans):
        spans = [(seen[-1]["done"], seen[-1]["at"])]
    return float(sum(done for done, _ in spans) / sum(seconds for _, seconds in spans))


def _role(given: Namespace, what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.adding", what]
    for name in ("documents", "words", "data", "place", "seconds"):
        command += [f"--{name}", str(getattr(given, name))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _ask(given: Namespace, what: str) -> dict[str, Any]:
    out, _ = _role(given, what).communicate()
    found: dict[str, Any] = json.loads(out)
    return found


# --- the processes


def add(given: Namespace) -> None:
    """Reports its progress and memory once a second."""
    started = said = perf_counter()
    with Library.open(given.place / "library", settings=load().settings) as library:
        done = len(library.documents.all())

        def say() -> None:
            line = {"at": round(perf_counter() - started, 2), "done": done}
            print(json.dumps(line | {"resident": memory().resident}), flush=True)

        def on_outcome(_: object) -> None:
            nonlocal done, said
            done += 1
            if perf_counter() - said >= 1:
                said = perf_counter()
                say()

        if library.jobs.all(ended=False):
            library.jobs.work(on_outcome=on_outcome)
        else:
            library.add(given.place / "files", on_outcome=on_outcome)
        say()


def search(given: Namespace) -> None:
    """One query after another, with a pause between them."""
    asked = load_corpus(given.data).queries()
    took: list[float] = []
    with Library.open(given.place / "library", settings=load().settings) as library:
        for query in asked[:20]:
            library.search(query)
        until = perf_counter() + given.seconds
        while perf_counter() < until:
            begun = perf_counter()
            library.search(asked[len(took) % len(asked)])
            took.append((perf_counter() - begun) * 1000)
            sleep(PAUSE)
    took.sort()
    found = {f"p{n}": round(percentile(took, n / 100), 2) for n in (50, 95)}
    print(json.dumps(found | {"calls": len(took)}))


def model(given: Namespace) -> None:
    """The rate of the model alone, in batches like those of an add, and with the same texts: a
    passage stands under its document's title."""
    settings = load().settings
    embedder = embedder_for(settings)
    assert isinstance(embedder, LocalEmbedder)
    # With its own embedder: the other one has counted these tokens and would be faster.
    chunker = chunker_for(settings, embedder_for(settings))
    files = islice(sorted((given.place / "files").glob("*/*.txt")), MODEL_TEXTS)
    texts = [
        chunk.embedded_text
        for file in files
        for chunk in chunker.chunk(read(Blob(file.name, file.read_bytes())))
    ]
    embedder.embed_with_tokens(texts[:64])
    started = perf_counter()
    for first in range(0, len(texts), BATCH_DOCUMENTS):
        embedder.embed_with_tokens(texts[first : first + BATCH_DOCUMENTS])
    print(json.dumps({"texts_per_second": round(len(texts) / (perf_counter() - started), 1)}))


def written(given: Namespace) -> Path:
    """The documents as files, once."""
    folder: Path = given.place / "files"
    if not (folder / ".written").exists():
        for number, text in enumerate(small_texts(load_corpus(given.data), given.words)):
            if number == given.documents:
                break
            part = folder / f"{number // A_FOLDER:04}"
            part.mkdir(parents=True, exist_ok=True)
            (part / f"{number:06}.txt").write_text(text, encoding="utf-8")
        (folder / ".written").touch()
    return folder


def small_texts(corpus: Corpus, length: int) -> Iterator[str]:
    """Real sentences, about so many words together, and a number, so that no two are the same."""
    chance = random.Random(SEED)
    number = 0
    while True:
        number += 1
        words = f"Note {number}.".split()
        while len(words) < length:
            words += chance.choice(corpus.sentences).split()
        yield " ".join(words[: length + 10])


if __name__ == "__main__":
    main()
