"""Searches the reachable part of a library while nodes are away.

    words              on the coordinator: scored over the whole library, as always
    texts of passages  by document: every signal leaves out passages whose text is away
    vectors            by passage: only words find a passage whose vector is away

So each signal gives a passage the score it always gives it. Access control doesn't change: the
coordinator has the audiences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trivium.ports import Missing, Rest
from trivium.store.postgres.reach import Reach
from trivium.store.postgres.signals import RowPostings
from trivium.store.postgres.snapshots import Snapshot, Snapshots
from trivium.store.postgres.vectors import VectorTables
from trivium.store.signals import PlannedSignals, spread
from trivium.store.sql.census import Allowed
from trivium.store.sql.documents import SqlDocuments
from trivium.store.sql.feed import Feed
from trivium.text.filters import looks_at_passages
from trivium.types import ChunkId, Document, Neighbours, StoredChunk, TokenVectors, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector

_DOCUMENTS = 10_000  # per statement


def rest_of(reach: Reach, feed: Feed, snapshots: Snapshots, tables: VectorTables) -> Rest:
    signals = ReachableSignals(reach, feed, snapshots, tables)
    return Rest(ReachableDocuments(reach, snapshots), signals, signals.missing)


@dataclass(frozen=True)
class _Part:
    """The reachable part of a snapshot."""

    of: Snapshot
    snapshot: Snapshot  # the same, but it never reads texts
    readable: NDArray[np.bool_]  # by chunk id: its text is on a node that answers
    allowed: dict[Where, Allowed] = field(default_factory=dict)


class ReachableSignals(PlannedSignals):
    """The signals, without unreadable passages. Words are as rare as in the whole library."""

    def __init__(
        self, reach: Reach, feed: Feed, snapshots: Snapshots, tables: VectorTables
    ) -> None:
        super().__init__(self._postings)
        self._reach = reach
        self._feed = feed
        self._snapshots = snapshots
        self._tables = tables
        self._last: _Part | None = None

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        part = self._part()
        chunks = self._allowed(part, where).chunks
        seen = [i for i in ids if i < len(chunks) and chunks[i]]
        return self._tables.of_chunks(part.snapshot.serving.model, seen, self._reach)

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        return {}  # they may be on any node; a reranker computes what it doesn't get

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        return spread(np.flatnonzero(self._allowed(self._part(), where).chunks), most)

    def refresh(self) -> None:
        self._snapshots.current()

    def missing(self, where: Where) -> Missing:
        """What is missing of the passages that the caller may see, whatever the filter."""
        part = self._part()
        seen = self._snapshots.allowed(part.snapshot, where.access).chunks
        read = np.flatnonzero(seen & part.readable)
        found = self._tables.reachable(part.snapshot.serving.model, read, self._reach)
        return Missing(
            nodes=len(self._reach.away),
            of_nodes=self._reach.nodes,
            passages=int(np.count_nonzero(seen)) - len(read),
            of_passages=int(np.count_nonzero(seen)),
            without_vector=len(read) - int(np.count_nonzero(found)),
        )

    def _part(self) -> _Part:
        snapshot, last = self._snapshots.latest(), self._last
        if last is None or last.of is not snapshot:
            # Phrases are checked with positions on the coordinator, not with the texts.
            occurrences = replace(snapshot.occurrences, read_texts=False)
            there = replace(snapshot, occurrences=occurrences, allowed={}, visible={})
            documents = self._reach.texts_of(np.arange(len(snapshot.census.first)))
            last = self._last = _Part(snapshot, there, documents[snapshot.census.owner])
        return last

    def _allowed(self, part: _Part, where: Where) -> Allowed:
        known = part.allowed.get(where)
        if known is None:
            if looks_at_passages(where.condition):
                known = self._passing_passages(part, where)
            else:
                all_ = self._snapshots.allowed(part.snapshot, where)
                known = replace(all_, chunks=all_.chunks & part.readable)
            part.allowed[where] = known
        return known

    def _passing_passages(self, part: _Part, where: Where) -> Allowed:
        census = part.snapshot.census
        documents = np.unique(census.owner[part.readable & (census.owner > 0)]).tolist()
        chunks = np.zeros(len(census.owner), dtype=bool)
        for start in range(0, len(documents), _DOCUMENTS):
            some = documents[start : start + _DOCUMENTS]
            found = np.array(self._feed.passing_passages(where, some), dtype=np.int64)
            chunks[found[found < len(chunks)]] = True
        chunks &= part.readable & (census.owner > 0)
        return Allowed(chunks, None, int(np.count_nonzero(census.owner)))

    def _postings(self, where: Where) -> RowPostings:
        part = self._part()
        allowed = partial(self._allowed, part, where)
        nearest = partial(self._tables.nearest, reach=self._reach)
        return RowPostings(part.snapshot, where, self._snapshots, allowed, nearest)


class ReachableDocuments(SqlDocuments):
    """Documents, and passages of those documents whose texts can be read."""

    def __init__(self, reach: Reach, snapshots: Snapshots) -> None:
        super().__init__(reach.engine)
        self._reach = reach
        self._snapshots = snapshots

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        census = self._snapshots.latest().census
        known = [i for i in ids if 0 < i < len(census.owner) and census.owner[i]]
        owners = np.unique(census.owner[known]).astype(np.int64)
        read = owners[self._reach.texts_of(owners)]
        return self._chunks_of(known, read.tolist(), where) if len(read) else []

    def beside(self, document: Document, prefix: str, most: int, where: Where) -> Neighbours:
        return Neighbours((), ())  # they belong to other documents, which may be on any node
