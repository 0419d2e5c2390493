"""The documents that are known by a word, at one moment: what `visible` adds to the words of their
passages. Knows nothing of who may see what, nor where the words are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from trivium.core.types import DocumentId
from trivium.store.sql.census import Census, ranges
from trivium.store.sql.known import Known
from trivium.text.keywords import Run
from trivium.text.known import LATER

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOOKED_AT = 5_000  # documents
_REMEMBERED = 4_000_000  # documents of words that are kept: 64 MB


class Reader(Protocol):
    def of(self, field: str, wanted: Sequence[str]) -> Mapping[str, Known]: ...

    def side_by_side(
        self, field: str, run: Sequence[str], ids: Sequence[DocumentId]
    ) -> Mapping[DocumentId, int]: ...


class KnownDocuments:
    """Threads may share it."""

    def __init__(self, reader: Reader, census: Census) -> None:
        self._reader = reader
        self.census = census
        self._kept: dict[tuple[str, str], Known] = {}
        self._size = 0

    def expect(self, field: str, words: Sequence[str]) -> None:
        """Read what will be asked for, all at once."""
        missing = [word for word in dict.fromkeys(words) if (field, word) not in self._kept]
        if not missing:
            return
        if self._size > _REMEMBERED:
            self._kept, self._size = {}, 0
        for word, (documents, fields) in self._reader.of(field, missing).items():
            # Newer ones are for the next moment.
            within = np.searchsorted(documents, len(self.census.first))
            self._kept[field, word] = documents[:within], fields[:within]
            self._size += int(within)

    def of(self, field: str, run: Run) -> Known:
        """The documents that have all these words in one field, in any order, and which fields."""
        kept = [self._kept.get((field, word)) or self._read(field, word) for word in run]
        documents, fields = kept[0]
        for others, theirs in kept[1:]:
            at = np.searchsorted(others, documents)
            at[at == len(others)] = 0
            met = others[at] == documents if len(others) else np.zeros(len(documents), bool)
            documents, fields = documents[met], fields[met] & theirs[at[met]]
            documents, fields = documents[fields > 0], fields[fields > 0]
        return documents, fields

    def _read(self, field: str, word: str) -> Known:
        self.expect(field, [word])
        # Another thread may have made room meanwhile.
        return self._kept.get((field, word)) or self._reader.of(field, [word])[word]

    def side_by_side(self, field: str, run: Run, known: Known) -> Known:
        """Those of these documents in which the words follow each other. Looks at the documents, at
        5 µs each, so in very many of them any order counts."""
        ids, fields = known
        if len(run) > 1 and 0 < len(ids) <= _LOOKED_AT:
            found = self._reader.side_by_side(field, run, ids.tolist())
            fields = np.array([found.get(i, 0) for i in ids.tolist()], np.int64)
            ids, fields = ids[fields > 0], fields[fields > 0]
        return ids, fields

    def first_chunks(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.census.first[documents]

    def chunks(
        self, documents: NDArray[np.int64], counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """All chunks of these documents, rising, and what each gets: the first one most."""
        first, count = self.census.first[documents], self.census.count[documents]
        ids = ranges(first, count)
        gains = np.repeat(counts * LATER, count)
        gains[np.cumsum(count) - count] = counts
        if (ids[1:] < ids[:-1]).any():  # a document that was read again has the latest chunks
            order = np.argsort(ids)
            ids, gains = ids[order], gains[order]
        return ids.astype(np.int32), gains
