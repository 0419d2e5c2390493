"""The words of active chunks in tantivy: stems for the keyword signal, spellings for trigrams.

Derived from the registry, so it can be deleted at any time. `trivium.text` folds and stems words
before they come here, so that every store counts the same ones; tantivy only splits at spaces.
Knows nothing of SQL: callers pass in chunks and ask with plans.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.errors import IndexDamaged
from trivium.store.bm25 import K1, B, idf
from trivium.store.embedded.damage import check_sums, guarded
from trivium.store.ranking import Counts, Ids, kept_length
from trivium.store.sql.census import Allowed
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.normalise import words
from trivium.text.spelling import PlannedWord
from trivium.text.stems import stem
from trivium.types import ChunkId, Hit, hits_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tantivy import Index, IndexWriter, Query, Schema, Searcher

    from trivium.store.indexed import IndexedChunk

_HEAP = 64_000_000  # bytes a writer collects before it writes a segment; tantivy's least is 15 MB
# When the index is rewritten: 100,000 chunks become one segment instead of six, for 170 MB more of
# memory, and each segment costs a search .14 ms. While adding, every commit writes one anyway.
_HEAP_ANEW = 500_000_000
# A filter of up to this many documents goes into the query as a union of terms (100k chunks: 1,000
# documents 4 ms, 4,000 14 ms); above that, more hits are fetched and then filtered (2,000: 2 ms).
_FILTERED_INSIDE = 1000
_EVERY = "chunk"  # a word in every chunk: its frequency counts all chunks
_FEW = 50  # documents: a filter of so few costs almost nothing
_UNFILTERED = 4000  # hits to look through before a filter pays off: 2 ms
_ENDINGS = ("fast", "fieldnorm", "idx", "pos", "store", "term")  # of a segment's files
_REMEMBERED = 50_000  # words of a view whose counts are cached: 10 MB at most
_LOOKS = 50  # .5 s; far longer than the time between two renames
_DEEPER = 8  # how much deeper, each time a fetch wasn't enough
_LAST_CHUNK = 2**63 - 1
_AVERAGE = re.compile(r'"value": ([\d.e+-]+),\s*"description": "avgdl')
_NO_CHUNKS = np.empty(0, dtype=np.int32)


@guarded("words")
def check(folder: Path, most: int | None = None) -> None:
    """Compare an index's files with their checksums: all of them, or `most` bytes chosen at random.
    Raises IndexDamaged."""
    files = [(path, path.stat().st_size) for path in _files(folder) if path.exists()]
    random.shuffle(files)
    chosen, bytes_ = [], 0
    for path, size in files:
        if most is None or bytes_ + size <= most:
            chosen.append(path)
            bytes_ += size
    check_sums(chosen)


def _files(folder: Path) -> Iterator[Path]:
    """The files that the last commit names. Others may be half written."""
    try:
        described = json.loads((folder / "meta.json").read_bytes())
    except FileNotFoundError:
        return
    for segment in described["segments"]:
        name = segment["segment_id"].replace("-", "")
        for ending in _ENDINGS:
            yield folder / f"{name}.{ending}"
        if segment["deletes"]:
            yield folder / f"{name}.{segment['deletes']['opstamp']}.del"


class WordIndex:
    """The index on disk. One process writes, any number hold a `WordView`. Damaged files raise
    IndexDamaged, from every method here and of the view."""

    @guarded("words")
    def __init__(self, folder: Path | None) -> None:
        """Without a folder: an empty index in memory, in place of a damaged one."""
        self._folder = folder
        self._links: TemporaryDirectory[str] | None = None
        self._writer: IndexWriter | None = None
        if folder is None or os.access(folder if folder.exists() else folder.parent, os.W_OK):
            self._index = _open(folder)
        else:  # tantivy takes a lock to read, so it needs a folder that it can write to
            self._links = TemporaryDirectory(prefix="trivium-words-")
            try:
                self._link()
                self._index = _open(Path(self._links.name))
            except BaseException:
                self._links.cleanup()
                raise

    def _link(self) -> None:
        """Links to all files of a read-only folder, in a writable one."""
        if self._links is not None and self._folder is not None:
            have = set(os.listdir(self._links.name))
            for name in os.listdir(self._folder):
                if name not in have and not name.endswith(".lock"):
                    os.symlink(self._folder.absolute() / name, Path(self._links.name) / name)

    @guarded("words")
    def view(self) -> WordView:
        """What is committed now; later commits don't change it."""
        for _ in range(_LOOKS):  # a rebuilt index replaces the old one with two renames
            if self._folder is None or (self._folder / "meta.json").exists():
                break
            sleep(0.01)
        self._link()
        self._index.reload()
        return WordView(self._index.searcher(), self._index.schema)

    @guarded("words")
    def add(self, chunks: Iterable[IndexedChunk]) -> list[list[str]]:
        """Write chunks; returns the spellings of each, for the vocabulary."""
        from tantivy import Document

        writer = self._writing()
        found = []
        for chunk in chunks:
            spellings = words(chunk.text)
            row = Document()
            row.add_unsigned("chunk", chunk.id)
            row.add_unsigned("document", chunk.document)
            row.add_unsigned("length", len(spellings))
            row.add_text("stems", " ".join(stem(spellings, chunk.language)))
            row.add_text("spellings", " ".join(spellings))
            row.add_text("every", _EVERY)
            writer.add_document(row)
            found.append(spellings)
        return found

    @guarded("words")
    def drop(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        from tantivy import FieldType, Query

        for first, count in ranges:
            query = Query.range_query(
                self._index.schema, "chunk", FieldType.Unsigned, first, first + count - 1
            )
            self._writing().delete_documents_by_query(query)

    @guarded("words")
    def commit(self) -> None:
        if self._writer:
            self._writer.commit()

    @guarded("words")
    def stop_writing(self) -> None:
        """Let merges finish and release tantivy's lock."""
        if self._writer:
            writer, self._writer = self._writer, None
            writer.wait_merging_threads()

    def abandon(self) -> None:
        """Drop what isn't committed and release tantivy's lock, whatever went wrong before."""
        if self._writer:
            # A full disk refuses even this; the lock is released all the same.
            with suppress(OSError, IndexDamaged):
                self._roll_back(self._writer)
            self._writer = None

    def close(self) -> None:
        self.abandon()
        if self._links is not None:
            self._links.cleanup()
            self._links = None

    @staticmethod
    @guarded("words")
    def _roll_back(writer: IndexWriter) -> None:
        writer.rollback()

    @guarded("words")
    def collect_garbage(self) -> None:
        """Delete the files that neither the index nor a view in this process needs."""
        self._writing().garbage_collect_files()

    @guarded("words")
    def clear(self) -> None:
        """Delete everything with the next commit, and write what comes until then in few segments.
        Drops what isn't committed."""
        self.stop_writing()
        self._writing(_HEAP_ANEW).delete_all_documents()

    def _writing(self, heap: int = _HEAP) -> IndexWriter:
        if self._writer is None:
            # One thread: one segment per commit, and the embedding model needs the cores.
            self._writer = self._index.writer(heap_size=heap, num_threads=1)
        return self._writer


@dataclass(frozen=True, slots=True)
class WordView:
    """A snapshot of the index that answers both word signals. It never changes, so it caches what
    it learns about words: a lookup in an index of eight segments takes 5 µs, and a query needs a
    hundred."""

    searcher: Searcher
    schema: Schema
    plans: dict[str, PlannedWord] = field(default_factory=dict, compare=False)
    _rarities: dict[tuple[str, Run], float] = field(default_factory=dict, compare=False)
    _frequencies: dict[tuple[str, str], int] = field(default_factory=dict, compare=False)
    _alternatives: dict[int, tuple[PlannedWord, Query]] = field(default_factory=dict, compare=False)

    @property
    def count(self) -> int:
        return int(self.searcher.num_docs)

    @guarded("words")
    def last_chunk(self) -> ChunkId:
        """The highest chunk id, 0 if there is none."""
        from tantivy import Query

        found = self.searcher.search(Query.all_query(), 1, count=False, order_by_field="chunk").hits
        return int(found[0][0]) if found else 0

    @guarded("words")
    def chunk_ids(self) -> list[ChunkId]:
        """All of them, ascending: for checks and repairs."""
        from tantivy import Order, Query

        limit = max(1, self.count)
        hits = self.searcher.search(
            Query.all_query(), limit, count=False, order_by_field="chunk", order=Order.Asc
        ).hits
        return [int(key) for key, _ in hits]

    def rarity(self, run: Run, field: str = "spellings") -> float:
        """BM25's idf, summed over the words of a run, as tantivy computes it: it counts dropped
        chunks until their segment is merged away."""
        known = self._rarities.get((field, run))
        if known is None:
            total = self._total()
            known = sum(idf(self._frequency(field, word), total) for word in run)
            _make_room(self._rarities)
            self._rarities[field, run] = known
        return known

    def rarity_of(self, holding: int) -> float:
        """The rarity of a word that this many chunks contain."""
        total = self._total()
        return idf(min(holding, total), total)

    def _total(self) -> int:
        return self._frequency("every", _EVERY)

    def _frequency(self, field: str, word: str) -> int:
        """How many chunks contain a word."""
        known = self._frequencies.get((field, word))
        if known is None:
            known = self._counted(field, word)
            _make_room(self._frequencies)
            self._frequencies[field, word] = known
        return known

    @guarded("words")
    def _counted(self, field: str, word: str) -> int:
        return int(self.searcher.doc_freq(field, word))

    @guarded("words")
    def keyword(self, plan: KeywordPlan, allowed: Allowed, k: int) -> list[Hit]:
        from tantivy import Occur, Query

        parts: list[tuple[Occur, Query]] = []
        for clause in plan.clauses:
            runs = [(Occur.Should, self._run("stems", run)) for run in clause.runs]
            occur = Occur.Must if clause.required else Occur.Should
            parts += [(occur, Query.boolean_query(runs))] if clause.required else runs
        if not parts:
            return []
        parts += [(Occur.MustNot, self._run("stems", run)) for run in plan.excluded]
        return self._best(Query.boolean_query(parts), allowed, k, 1.0)

    @guarded("words")
    def holding(self, runs: Sequence[Run]) -> list[ChunkId]:
        """Every chunk that contains one of these runs of stems, in no particular order."""
        from tantivy import Occur, Query

        either = Query.boolean_query([(Occur.Should, self._run("stems", run)) for run in runs])
        found = self.searcher.search(
            Query.const_score_query(either, 1.0), max(1, self.count), count=False
        ).hits
        ids = self.searcher.fast_field_values("chunk", [address for _, address in found])
        return [int(i) for i in ids if i is not None]

    @guarded("words")
    def trigram(
        self, plan: Sequence[PlannedWord], words: KeywordPlan, allowed: Allowed, k: int
    ) -> list[Hit]:
        from tantivy import Occur, Query

        most = sum(planned.weight for planned in plan) * (K1 + 1)
        if not most:
            return []
        parts = [(Occur.Should, self._alternative(planned)) for planned in plan]
        if words.required:  # otherwise chunks with only those would match
            parts = [(Occur.Must, Query.boolean_query(parts))]
        for runs in words.required:
            held = [(Occur.Should, self._run("stems", run)) for run in runs]
            parts.append((Occur.Must, Query.const_score_query(Query.boolean_query(held), 0.0)))
        parts += [(Occur.MustNot, self._run("stems", run)) for run in words.excluded]
        return self._best(Query.boolean_query(parts), allowed, k, 1 / most)

    def _alternative(self, planned: PlannedWord) -> Query:
        """What finds one planned word. Cached by identity: plans of single words are cached too."""
        from tantivy import Query

        known = self._alternatives.get(id(planned))
        if known is not None and known[0] is planned:
            return known[1]
        spellings = [
            Query.boost_query(
                self._run("spellings", s.words),
                # tantivy multiplies by the spelling's own rarity: divide it out again
                planned.weight * s.factor / self.rarity(s.words),
            )
            for s in planned.spellings
        ]
        query = Query.disjunction_max_query(spellings)
        _make_room(self._alternatives)
        self._alternatives[id(planned)] = (planned, query)
        return query

    @guarded("words")
    def occurrences(self, field: str, run: Run, after: ChunkId) -> tuple[Ids, Counts]:
        """The chunks above `after` that contain a run, ascending, and how often each does. About
        1.5 µs per chunk."""
        held = min(self._frequency(field, word) for word in run)
        found = self._above(self._run(field, run), after, held)
        if not found:
            return _NO_CHUNKS, _NO_CHUNKS
        addresses = [address for _, address in found]
        ids, lengths = self._numbers("chunk", addresses), self._numbers("length", addresses)
        # tantivy returns scores, not counts, but they follow from count, length and average.
        first = self._run(field, run[:1]).explain(self.searcher, addresses[0]).to_json()
        average = float(_AVERAGE.findall(first)[0])
        total = self._total()
        weight = sum(_idf(self._frequency(field, word), total) for word in run)
        scores = np.fromiter((score for score, _ in found), np.float64, len(found)) / weight
        steady = K1 * (1 - B + B * kept_length(lengths) / average)
        counts = np.rint(scores * steady / (K1 + 1 - scores)).astype(np.int32)
        order = np.argsort(ids)
        return ids[order], counts[order]

    @guarded("words")
    def lengths(self, after: ChunkId) -> tuple[Ids, Counts]:
        """The chunks above `after` and how many words each has."""
        from tantivy import Query

        query = Query.term_query(self.schema, "every", _EVERY, "basic")
        addresses = [address for _, address in self._above(query, after, self._total())]
        return self._numbers("chunk", addresses), self._numbers("length", addresses)

    def _above(self, query: Query, after: ChunkId, most: int) -> list[Any]:
        from tantivy import FieldType, Occur, Query

        if after:
            newer = Query.range_query(
                self.schema, "chunk", FieldType.Unsigned, after + 1, _LAST_CHUNK
            )
            inside = Query.const_score_query(newer, 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, inside)])
        return list(self.searcher.search(query, most, count=False).hits) if most else []

    def _numbers(self, field: str, addresses: list[Any]) -> NDArray[np.int32]:
        values = self.searcher.fast_field_values(field, addresses)
        return np.array(values, dtype=np.int32)

    def held(self, word: str) -> int:
        """Chunks that contain this spelling; dropped ones count until their segment is merged
        away."""
        return self._frequency("spellings", word)

    def count_holding(self, run: Run, allowed: Allowed, most: int) -> int:
        """How many allowed chunks contain the spellings of a run, counted up to `most`."""
        held = min([self._frequency("spellings", word) for word in run])
        if not held or not allowed.count:
            return 0
        if len(run) == 1:
            # If more chunks contain it than are dropped or hidden, some are allowed: at least the
            # difference. In a library that the caller sees completely, this decides every word
            # within microseconds.
            others = self._total() - allowed.count
            if others == 0 or held - others >= most:
                return min(held, most)
        return self._some(self._run("spellings", run), allowed, most)

    @guarded("words")
    def _some(self, query: Query, allowed: Allowed, most: int) -> int:
        """How many allowed chunks match, counted up to `most`. Unlike `_best` it looks without the
        filter first: any chunk will do, and most words are found at once (8 words at 100k chunks, a
        filter of 800 documents: 58 ms with it)."""
        if allowed.documents is not None and len(allowed.documents) <= _FEW:
            return len(self._best(query, allowed, most, 1.0))
        share = max(allowed.count, 1) / max(self.count, 1)
        depth = int(2 * most / min(1.0, share)) + 16
        while depth <= _UNFILTERED:
            found = self.searcher.search(query, depth, count=False).hits
            ids = self.searcher.fast_field_values("chunk", [address for _, address in found])
            passing = sum(
                i < len(allowed.chunks) and bool(allowed.chunks[i])
                for i in map(int, filter(None, ids))
            )
            if passing >= most or len(found) < depth:
                return min(passing, most)
            depth *= _DEEPER
        return len(self._best(query, allowed, most, 1.0))

    def _run(self, field: str, run: Run) -> Query:
        from tantivy import Query

        if len(run) == 1:
            return Query.term_query(self.schema, field, run[0], "freq")
        return Query.phrase_query(self.schema, field, list(run))

    def _best(self, query: Query, allowed: Allowed, k: int, scale: float) -> list[Hit]:
        """The k best allowed chunks. Fetches more until k are allowed and the last one isn't tied
        with the next, so that chunk ids decide between equal scores, not chance."""
        from tantivy import Occur, Query

        count = self.count
        share = max(allowed.count, 1) / max(count, 1)
        if allowed.documents is not None and len(allowed.documents) <= _FILTERED_INSIDE:
            ours = [
                (Occur.Should, Query.term_query(self.schema, "document", int(d)))
                for d in allowed.documents
            ]
            inside = Query.const_score_query(Query.boolean_query(ours), 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, inside)])
            share = 1.0
        depth = min(count, int(k / min(1.0, share)) + 16)
        while depth:
            ids, scores = self._found(query, depth)
            scores *= scale
            last = scores[-1] if len(scores) else 0.0
            passing = ids < len(allowed.chunks)
            passing[passing] = allowed.chunks[ids[passing]]
            if not passing.all():
                ids, scores = ids[passing], scores[passing]
            order = np.lexsort((ids, -scores))[: k + 1]
            complete = len(passing) < depth or depth == count
            if complete or (len(order) > k and scores[order[k - 1]] > last):
                return hits_of(ids[order[:k]], scores[order[:k]])
            depth = min(count, depth * _DEEPER)
        return []

    def _found(self, query: Query, depth: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The chunks of the best hits, and their scores, descending."""
        hits = self.searcher.search(query, depth, count=False).hits
        if not hits:
            return np.empty(0, np.int64), np.empty(0)
        scores, addresses = zip(*hits, strict=True)
        ids = self.searcher.fast_field_values("chunk", list(addresses))
        if None in ids:
            raise ValueError("a chunk of the word index has no number")
        return np.array(ids, np.int64), np.array(scores)


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= _REMEMBERED:
        kept.clear()


def _idf(holding: int, total: int) -> float:
    """As tantivy computes it, in single precision: this matters for a word in nearly every
    chunk."""
    x = (np.float32(total - holding) + np.float32(0.5)) / (np.float32(holding) + np.float32(0.5))
    return float(np.log(np.float32(1) + x))


def _open(folder: Path | None) -> Index:
    from tantivy import Index, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    builder = SchemaBuilder()
    builder.add_unsigned_field("chunk", indexed=True, fast=True)
    builder.add_unsigned_field("document", indexed=True)
    builder.add_unsigned_field("length", fast=True)  # words of the chunk
    for name in ("stems", "spellings"):
        builder.add_text_field(name, tokenizer_name="blanks", index_option="position")
    builder.add_text_field("every", tokenizer_name="blanks", index_option="basic")
    index = Index(builder.build(), path=None if folder is None else str(folder))
    index.register_tokenizer("blanks", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    index.config_reader("manual")
    return index
