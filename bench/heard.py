"""Searches judged sets once and keeps what every signal says of every candidate, as columns.

Fusion and the match are then fitted to these columns in seconds (`bench.calibration`). Each set is
asked its own queries and some of every other set, which its library can't answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.config import Settings
from trivium.core.errors import EmptyQuery, QueryTooLong
from trivium.core.types import OWNER, Signal
from trivium.evaluate.dataset import Dataset, load_dataset
from trivium.evaluate.subject import opened
from trivium.library import Library
from trivium.library.asking import request_for
from trivium.library.model import Separations, stored_separation
from trivium.operations.searching import SearchOptions
from trivium.search.coverage import coverage
from trivium.search.decide import decide_anew
from trivium.search.separation import Passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

SETS = (
    "xquad_en", "xquad_de", "cranfield", "locomo10", "dbpedia_5k", "cosqa", "mlquestions",
    "anthropic_codebase", "legalquad_de", "nfcorpus", "scifact",
)  # fmt: skip
# The same texts in two languages: neither is foreign to the other.
SAME = frozenset({"xquad_en", "xquad_de"})
QUERIES = 120  # of a set
FOREIGN = 10  # of each other set
DEPTH = 50  # hits of each signal
JUDGED = 30  # candidates whose token vectors are compared with the query's
SEED = 12
FORMAT = 3  # of the columns: files of earlier versions are made again


@dataclass(frozen=True, slots=True)
class Columns:
    """One row for each candidate of each query; `starts` says where a query's rows begin."""

    table: dict[str, NDArray[Any]]

    @classmethod
    def read(cls, path: Path) -> Columns:
        with np.load(path) as kept:
            return cls({name: kept[name] for name in kept.files})

    def write(self, path: Path) -> None:
        np.savez_compressed(path, **self.table)  # type: ignore[arg-type]


def sampled(dataset: Dataset, most: int) -> list[tuple[str, str]]:
    """Queries that some document answers."""
    answered = sorted(
        (query, text)
        for query, text in dataset.queries.items()
        if any(grade > 0 for grade in dataset.judgments[query].values())
    )
    return answered if len(answered) <= most else random.Random(SEED).sample(answered, most)


class Listener:
    """Searches one library."""

    def __init__(self, library: Library, settings: Settings) -> None:
        self._library = library
        self._store, self._embedder = library.backend, library.embedder
        options = SearchOptions(limit=JUDGED, hyde=False)
        self._request = request_for(settings, self._embedder.fingerprint, ("-",), OWNER, options)
        Separations(self._store, self._embedder).renew()
        known = stored_separation(self._store, self._embedder.fingerprint)
        self._passages = known.shape if known else Passages()

    def rows(self, query: str) -> dict[str, list[Any]] | None:
        """None if the query can't be searched."""
        try:
            heard = self._library.hear(query, DEPTH)
        except (EmptyQuery, QueryTooLong):
            return None
        raw = {s: {h.chunk_id: h.score for h in hits} for s, hits in heard.lists.items()}
        ids = sorted({chunk for of_signal in raw.values() for chunk in of_signal})
        chunks = {c.id: c for c in self._store.documents.chunks(ids, OWNER)}
        ids = [i for i in ids if i in chunks]
        words = heard.corrected.query
        asked = self._embedder.embed_query(words.meaning)
        vectors = self._store.signals.vectors(ids, OWNER)
        fused = decide_anew(self._request, heard, DEPTH, JUDGED)
        best = [one.chunk_id for one in fused]
        late = self._library.judge(words.meaning, best)
        score = {one.chunk_id: one.score for one in fused}
        rarities = partial(self._store.signals.rarities, where=OWNER)
        share = coverage(words, [chunks[i] for i in ids], rarities, heard.corrected.missing)
        empty = [np.nan] * len(ids)
        return {
            "chunk": [float(i) for i in ids],
            "cosine": [float(vectors[i] @ asked) if i in vectors else np.nan for i in ids],
            **{s.value: [raw.get(s, {}).get(i, np.nan) for i in ids] for s in Signal},
            "share": share,
            "late": [late.get(i, np.nan) for i in ids],
            "fused": [score.get(i, np.nan) for i in ids],
            "length": [float(len(chunks[i].chunk.text)) for i in ids],
            "unknown": [heard.corrected.unknown_share] * len(ids),
            "corrected": [float(len(heard.corrected.corrections))] * len(ids),
            "words": [float(len(words.words))] * len(ids),
            "usual": [self._passages.length] * len(ids),
            "alike": [self._passages.alike] * len(ids),
            "relevant": empty,
            "document": [float(chunks[i].document.id) for i in ids],
        } | {"_uris": [chunks[i].document.uri for i in ids]}


def hear(name: str, data: Path, settings: Settings, others: Sequence[str]) -> Columns:
    dataset = load_dataset(data / "retrieval" / name)
    table: dict[str, list[float]] = {}
    starts, foreign, ideal = [0], [], []
    with opened(dataset, settings, lambda *_: None) as subject:
        listener = Listener(subject.library, settings)
        for source, text, judged in _asked(name, data, dataset, others):
            rows = listener.rows(text)
            if rows is None:
                continue
            uris = rows.pop("_uris")
            rows["relevant"] = [float(max(0, judged.get(uri, 0))) for uri in uris]
            for column, values in rows.items():
                table.setdefault(column, []).extend(values)
            starts.append(len(table["chunk"]))
            foreign.append(source)
            best = sorted((g for g in judged.values() if g > 0), reverse=True)[:10]
            ideal.append(sum(g / np.log2(rank + 1) for rank, g in enumerate(best, start=1)))
    columns = {column: np.array(values, np.float32) for column, values in table.items()}
    columns |= {"starts": np.array(starts), "source": np.array(foreign), "ideal": np.array(ideal)}
    return Columns(columns)


def _asked(
    name: str, data: Path, dataset: Dataset, others: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, int]]]:
    for query, text in sampled(dataset, QUERIES):
        yield "", text, dict(dataset.judgments[query])
    for other in others:
        if other == name or {other, name} <= SAME:
            continue
        for _, text in sampled(load_dataset(data / "retrieval" / other), FOREIGN):
            yield other, text, {}
