"""SQLite FTS5 and faiss joined by reciprocal ranks, as people put it together by hand.

An external-content FTS5 table with porter stems, any of the query's words, ordered by bm25(); a
faiss HNSW graph over the vectors; 50 of each, summed as 1 / (60 + rank).
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from bench.peers import VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes

SETTINGS = (
    "FTS5 porter, words joined by OR, bm25(); faiss HNSW with 32 links, efSearch 64, filter by"
    " IDSelectorBatch; 50 of each, RRF k 60"
)
DEPTH = 50
RRF_K = 60
LINKS = 32
EF_SEARCH = 64
_WORD = re.compile(r"\w+")


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    folder.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(folder / "rows.db")
    database.executescript(
        "PRAGMA journal_mode=WAL;"
        "CREATE TABLE rows(id INTEGER PRIMARY KEY, shard INTEGER NOT NULL, text TEXT NOT NULL);"
        "CREATE VIRTUAL TABLE words USING"
        " fts5(text, content='rows', content_rowid='id', tokenize='porter unicode61');"
    )
    index: Any = None
    for rows in blocks:
        numbered = list(zip(rows.ids, rows.shards, rows.texts, strict=True))
        with database:
            database.executemany("INSERT INTO rows VALUES (?, ?, ?)", numbered)
            database.executemany(
                "INSERT INTO words(rowid, text) VALUES (?, ?)", [(i, t) for i, _, t in numbered]
            )
        if index is None:
            size = rows.vectors.shape[1]
            index = faiss.IndexHNSWFlat(size, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.add(rows.vectors)
    database.execute("CREATE INDEX rows_by_shard ON rows(shard)")
    database.commit()
    database.close()
    faiss.write_index(index, str(folder / "vectors.faiss"))
    return {"hybrid": Built(blocks.elapsed(), folder_bytes(folder))}


class Engine(InProcess):
    def __init__(self, folder: Path) -> None:
        self._path = folder / "rows.db"
        self._index = faiss.read_index(str(folder / "vectors.faiss"))
        self._local = threading.local()
        self.ways = {"hybrid": Way((VECTOR, WORDS), self.hybrid)}

    def hybrid(self, asked: Asked, k: int) -> Sequence[Found]:
        scores: dict[int, float] = defaultdict(float)
        for leg in (self.near(asked, DEPTH), self.words(asked, DEPTH)):
            for rank, row in enumerate(leg, start=1):
                scores[row] += 1 / (RRF_K + rank)
        best = sorted(scores, key=lambda row: (-scores[row], row))[:k]
        marks = ",".join("?" * len(best))
        texts = dict(
            self._database.execute(f"SELECT id, text FROM rows WHERE id IN ({marks})", best)
        )
        return [Found(row, texts[row]) for row in best]

    def words(self, asked: Asked, k: int) -> list[int]:
        """Rows with any of the words."""
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(asked.text))
        if not match:
            return []
        # The plus keeps FTS5 from matching once for each row that passes: 27 ms became 1.
        within = "AND +rowid IN (SELECT id FROM rows WHERE shard < ?)" if asked.filtered else ""
        found = self._database.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? {within} ORDER BY bm25(words) LIMIT ?",
            (match, PASSING, k) if asked.filtered else (match, k),
        )
        return [row for (row,) in found]

    def versions(self) -> Mapping[str, str]:
        return {"SQLite": sqlite3.sqlite_version, "faiss": faiss.__version__}

    def near(self, asked: Asked, k: int) -> list[int]:
        options: Any = faiss.SearchParametersHNSW(efSearch=EF_SEARCH)  # type: ignore[attr-defined]
        chosen: Any = None  # kept here while it is used: the options only point at it
        if asked.filtered:
            passing = self._database.execute("SELECT id FROM rows WHERE shard < ?", (PASSING,))
            allowed = np.array([row for (row,) in passing], np.int64)
            chosen = faiss.IDSelectorBatch(allowed)
            options.sel = chosen
        _, rows = self._index.search(asked.vector[None], k, params=options)
        return [int(row) for row in rows[0] if row >= 0]

    @property
    def _database(self) -> sqlite3.Connection:
        """One for each thread."""
        if not hasattr(self._local, "database"):
            self._local.database = sqlite3.connect(self._path, check_same_thread=False)
        found: sqlite3.Connection = self._local.database
        return found

    def close(self) -> None:
        self._database.close()


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder)
