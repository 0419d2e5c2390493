"""By which words documents are known (`trivium.text.known`), as rows that change with them.

Both databases have the same rows. Terms get rising numbers and stay, so a reader that keeps them
only asks for newer ones; `learn_all` starts again. `KnownDocuments` are the documents known by a
word at one moment: what `visible` adds to the words of their passages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, bindparam, delete, select

from trivium.core.errors import LibraryReadOnly
from trivium.core.types import DocumentId
from trivium.store.sql.feed import SEQUENCE, ActiveChunks, ranges
from trivium.store.sql.rows import document_of
from trivium.store.sql.statements import insert_all, set_setting, setting, slices, take, these
from trivium.store.sql.tables import documents, known_terms, known_words
from trivium.text.keywords import Run
from trivium.text.known import LATER, VERSION, fields_holding
from trivium.text.known import known_words as words_of
from trivium.text.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Documents, rising, and the fields of each.
KnownBy: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
# The rows of a statement with its values, without SQLAlchemy: every search asks.
RunQuery: TypeAlias = Callable[[Engine, str, Sequence[Any]], list[tuple[Any, ...]]]
LEARNED = "known"  # the setting: what the rows were made from
_UPTO = "known_upto"  # the setting: the last change whose documents they have
_BEHIND = (
    "SELECT 1 FROM documents WHERE changed >"
    f" (SELECT CAST(value AS bigint) FROM settings WHERE name = '{_UPTO}') LIMIT 1"
)
FIELDS = "known_fields"  # the setting: metadata fields that someone wants beside the usual ones
_CHANGED = (
    select(documents.c.id).where(documents.c.changed > bindparam("upto")).order_by(documents.c.id)
)
_DOCUMENTS = select(documents).where(these(documents.c.id), documents.c.interpretation > 0)
_FORGET = delete(known_words).where(these(known_words.c.document))
_TERMS = select(known_terms).where(known_terms.c.word.in_(bindparam("words", expanding=True)))
_NONE: KnownBy = (np.empty(0, np.int64), np.empty(0, np.int64))


def learn(connection: Connection) -> None:
    """Bring the rows up to date with every document that changed since they were: also those that a
    server of an earlier release changed, which knows nothing of these rows. Within a change that
    has its sequence number: from then on no other change commits, so the numbers of terms rise in
    the order of changes."""
    others = json.loads(setting(connection, FIELDS) or "[]")
    upto = int(setting(connection, _UPTO) or 0)
    ids = connection.scalars(_CHANGED, {"upto": upto}).all()
    for some in slices(ids):
        entries: list[tuple[DocumentId, tuple[str, str], int]] = []
        for row in connection.execute(_DOCUMENTS, {"ids": some}).mappings():
            document = document_of(row)
            words = words_of(document, others)
            stems = stem(list(words), document.language)
            pairs = zip(words.items(), stems, strict=True)
            entries += [(document.id, (word, stemmed), bits) for (word, bits), stemmed in pairs]
        connection.execute(_FORGET, {"ids": some})
        numbers = _numbered(connection, sorted({term for _, term, _ in entries}))
        rows = sorted((numbers[term], document, bits) for document, term, bits in entries)
        names = ("term", "document", "fields")
        insert_all(connection, known_words, [dict(zip(names, row, strict=True)) for row in rows])
    set_setting(connection, _UPTO, str(connection.exec_driver_sql(SEQUENCE).scalar() or 0))


def _numbered(
    connection: Connection, terms: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    old = _there(connection, terms)
    new = [term for term in terms if term not in old]
    numbers = dict(zip(new, take(connection, "term", len(new)), strict=True))
    rows = [{"id": number, "word": term[0], "stem": term[1]} for term, number in numbers.items()]
    insert_all(connection, known_terms, rows)
    return old | numbers


def _there(connection: Connection, terms: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    numbers: dict[tuple[str, str], int] = {}
    for some in slices(list(dict.fromkeys(word for word, _ in terms))):
        rows = connection.execute(_TERMS, {"words": some})
        numbers |= {(row.word, row.stem): row.id for row in rows}
    return numbers


def is_learned(engine: Engine, others: Sequence[str] | None) -> bool:
    """Whether the rows are what this release makes of the documents. `others`: the metadata fields
    that count beside the usual ones; None: as before."""
    with engine.connect() as connection:
        before = setting(connection, FIELDS) or "[]"
        wanted = before if others is None else json.dumps(list(others))
        if setting(connection, LEARNED) != f"{VERSION} {wanted}" or not setting(connection, _UPTO):
            return False
        # A copy or a view of a library has its settings, but not these rows.
        some = connection.scalar(select(known_words.c.term).limit(1))
        return some is not None or not connection.scalar(select(documents.c.id).limit(1))


def learn_missing(engine: Engine) -> None:
    """What a server of an earlier release has changed since; nothing if this user can't write."""
    with suppress(LibraryReadOnly), engine.begin() as connection:
        if connection.exec_driver_sql(_BEHIND).first() is not None:
            take(connection, "sequence", 1)
            learn(connection)


def learn_all(engine: Engine, others: Sequence[str] | None = None) -> None:
    """Make all rows again: after an update, or with other metadata fields."""
    with engine.begin() as connection:
        take(connection, "sequence", 1)  # readers look again, and no other change commits
        wanted = setting(connection, FIELDS) or "[]" if others is None else json.dumps(list(others))
        set_setting(connection, FIELDS, wanted)
        connection.execute(delete(known_words))
        connection.execute(delete(known_terms))
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        set_setting(connection, _UPTO, "0")
        learn(connection)
        set_setting(connection, LEARNED, f"{VERSION} {wanted}")


_SQLITE = (
    "SELECT t.{column}, group_concat(k.document), group_concat(k.fields) FROM known_terms t"
    " JOIN known_words k ON k.term = t.id WHERE t.{column} IN ({marks}) GROUP BY t.{column}"
)
_POSTGRES = (
    "SELECT t.{column}, string_agg(k.document::text, ','), string_agg(k.fields::text, ',')"
    " FROM known_terms t JOIN known_words k ON k.term = t.id WHERE t.{column} = ANY(%s)"
    " GROUP BY t.{column}"
)
_COLUMN = {"spellings": "word", "stems": "stem"}


class KnownWords:
    """Reads the rows."""

    def __init__(self, engine: Engine, read: RunQuery) -> None:
        self._engine = engine
        self._read = read
        # Of all terms so far, also of those that no document has any more.
        self._terms: dict[str, set[str]] = {"spellings": set(), "stems": set()}

    def newer(self, last: int) -> list[tuple[int, str]]:
        """The terms above a number, in order. Others aren't known to `of`."""
        query = "SELECT id, word, stem FROM known_terms WHERE id > {} ORDER BY id"
        rows = self._read(self._engine, query.format(int(last)), ())
        self._terms["spellings"].update(word for _, word, _ in rows)
        self._terms["stems"].update(word if word == stem else stem for _, word, stem in rows)
        return [(number, word) for number, word, _ in rows]

    def of(self, field: str, wanted: Sequence[str]) -> dict[str, KnownBy]:
        """The documents that are known by each word. For most words there are none, and no need to
        ask the database: .2 ms, four times a search."""
        postings = dict.fromkeys(wanted, _NONE)
        is_sqlite = self._engine.dialect.name == "sqlite"
        for some in slices([word for word in postings if word in self._terms[field]]):
            marks = ", ".join("?" * len(some))
            statement = (_SQLITE if is_sqlite else _POSTGRES).format(
                column=_COLUMN[field], marks=marks
            )
            values = tuple(some) if is_sqlite else (some,)
            for word, ids, bits in self._read(self._engine, statement, values):
                postings[word] = _merged(_numbers(ids), _numbers(bits))
        return postings

    def side_by_side(
        self, field: str, run: Sequence[str], ids: Sequence[DocumentId]
    ) -> dict[DocumentId, int]:
        """The fields of these documents in which words follow each other."""
        by_document: dict[DocumentId, int] = {}
        with self._engine.connect() as connection:
            others = json.loads(setting(connection, FIELDS) or "[]")
            for some in slices(ids):
                rows = connection.execute(select(documents).where(documents.c.id.in_(some)))
                for row in rows.mappings():
                    document = document_of(row)
                    by_document[document.id] = fields_holding(document, run, field, others)
        return by_document


def _numbers(listed: str) -> NDArray[np.int64]:
    """Joined by the database: as rows they take three times as long."""
    return np.fromstring(listed, dtype=np.int64, sep=",")


def _merged(ids: NDArray[np.int64], bits: NDArray[np.int64]) -> KnownBy:
    """Rising, each document once: several words may have one stem."""
    order = np.argsort(ids, kind="stable")
    ids, bits = ids[order], bits[order]
    firsts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    return ids[firsts], np.bitwise_or.reduceat(bits, firsts)


_LOOKED_AT = 5_000  # documents
_REMEMBERED = 4_000_000  # documents of words that are kept: 64 MB


class KnownLookup(Protocol):
    def of(self, field: str, wanted: Sequence[str]) -> Mapping[str, KnownBy]: ...

    def side_by_side(
        self, field: str, run: Sequence[str], ids: Sequence[DocumentId]
    ) -> Mapping[DocumentId, int]: ...


class KnownDocuments:
    """Threads may share it."""

    def __init__(self, reader: KnownLookup, active_chunks: ActiveChunks) -> None:
        self._reader = reader
        self.active_chunks = active_chunks
        self._holders: dict[tuple[str, str], KnownBy] = {}
        self._size = 0

    def expect(self, field: str, words: Sequence[str]) -> None:
        """Read what will be asked for, all at once."""
        missing = [word for word in dict.fromkeys(words) if (field, word) not in self._holders]
        if not missing:
            return
        if self._size > _REMEMBERED:
            self._holders, self._size = {}, 0
        for word, (holders, fields) in self._reader.of(field, missing).items():
            # Newer ones are for the next moment.
            within = (
                int(np.searchsorted(holders, len(self.active_chunks.first))) if len(holders) else 0
            )
            self._holders[field, word] = (holders[:within], fields[:within]) if within else _NONE
            self._size += within

    def of(self, field: str, run: Run) -> KnownBy:
        """The documents that have all these words in one field, in any order, and which fields."""
        postings = [self._holders.get((field, word)) or self._read(field, word) for word in run]
        documents, fields = postings[0]
        for others, theirs in postings[1:]:
            at = np.searchsorted(others, documents)
            at[at == len(others)] = 0
            met = others[at] == documents if len(others) else np.zeros(len(documents), bool)
            documents, fields = documents[met], fields[met] & theirs[at[met]]
            documents, fields = documents[fields > 0], fields[fields > 0]
        return documents, fields

    def _read(self, field: str, word: str) -> KnownBy:
        self.expect(field, [word])
        # Another thread may have made room meanwhile.
        return self._holders.get((field, word)) or self._reader.of(field, [word])[word]

    def side_by_side(self, field: str, run: Run, known_by: KnownBy) -> KnownBy:
        """Those of these documents in which the words follow each other. Looks at the documents, at
        5 µs each, so in very many of them any order counts."""
        ids, fields = known_by
        if len(run) > 1 and 0 < len(ids) <= _LOOKED_AT:
            by_document = self._reader.side_by_side(field, run, ids.tolist())
            fields = np.array([by_document.get(i, 0) for i in ids.tolist()], np.int64)
            ids, fields = ids[fields > 0], fields[fields > 0]
        return ids, fields

    def first_chunks(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.active_chunks.first[documents]

    def chunks(
        self, documents: NDArray[np.int64], counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """All chunks of these documents, rising, and what each gets: the first one most."""
        first, count = self.active_chunks.first[documents], self.active_chunks.count[documents]
        ids = ranges(first, count)
        gains = np.repeat(counts * LATER, count)
        gains[np.cumsum(count) - count] = counts
        if (ids[1:] < ids[:-1]).any():  # a document that was read again has the latest chunks
            order = np.argsort(ids)
            ids, gains = ids[order], gains[order]
        return ids.astype(np.int32), gains
