"""Reads the registry: documents, their names, texts and history. Every method sees one state of the
database. Knows nothing of which database that is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Executable,
    Select,
    and_,
    bindparam,
    func,
    select,
    true,
    union,
    union_all,
)

from trivium.core.history import Interpretation
from trivium.core.types import (
    OWNER,
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Label,
    Neighbours,
    StoredChunk,
    Where,
)
from trivium.ports import SenderUsage, Summarised
from trivium.store.identity import WITHIN
from trivium.store.sql.rows import (
    CHECKED_COLUMNS,
    DOCUMENT_COLUMNS,
    chunk_of,
    document_of,
    interpretation_of,
    passage_check,
)
from trivium.store.sql.statements import (
    KEPT,
    active,
    behind_all,
    last_number,
    leniently,
    one_state,
    one_statement,
    slices,
    visible,
    visible_passages,
    visible_then,
)
from trivium.store.sql.tables import (
    chunks,
    collections,
    documents,
    fields,
    interpretations,
    names,
    shingles,
)
from trivium.text.nearness import ENOUGH_KEYS, MOST_OF_A_KEY, sketch

_LAST = 2**63 - 1  # no document has a higher id
_LISTED = documents.c.chunks > 0
_CHUNKER = select(collections.c.chunker).where(collections.c.name == bindparam("collection"))
_first, _others = (
    select(table.c.uri).where(
        table.c.collection == bindparam("collection"),
        table.c.uri >= bindparam("first"),
        table.c.uri < bindparam("behind"),
    )
    for table in (documents, names)
)
_BELOW = union(_first.where(documents.c.interpretation > 0), _others)


class SqlDocuments:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None, listed: bool = False
    ) -> list[Document]:
        query = select(documents).where(visible(where), documents.c.id > after)
        query = query.where(_LISTED) if listed else query
        query = query.order_by(documents.c.id).limit(limit)
        with self._engine.connect() as connection:
            return [document_of(row) for row in connection.execute(query).mappings()]

    def changed(self, since: int, where: Where) -> tuple[int, list[tuple[int, Document]]]:
        with one_state(self._engine) as connection:
            upto = last_number(connection, "sequence")
            fresh = (documents.c.changed > since) & (documents.c.changed <= upto)
            query = select(documents).where(fresh, visible(where)).order_by(documents.c.changed)
            rows = connection.execute(query).mappings().all()
        return upto, [(int(row["changed"]), document_of(row)) for row in rows]

    def find(self, uri: str, collection: str) -> Document | None:
        return self.find_all([uri], collection).get(uri)

    def find_all(self, uris: Sequence[str], collection: str) -> dict[str, Document]:
        with one_state(self._engine) as connection:
            stored = named(connection, [(collection, uri) for uri in uris])
        wanted = set(uris)
        return {
            uri: document for document in stored for uri in all_names(document) if uri in wanted
        }

    def alike(self, hashes: Sequence[str], collection: str) -> list[Document]:
        with one_state(self._engine) as connection:
            return seen_with(connection, [(collection, hash_) for hash_ in hashes])

    def below(
        self, prefix: str, collection: str, *, since: str = "", before: str = ""
    ) -> list[str]:
        behind = behind_all(prefix)
        values = {
            "collection": collection,
            "first": max(prefix, since),
            "behind": min(behind, before or behind),
        }
        with self._engine.connect() as connection:
            return sorted(connection.scalars(_BELOW, values))

    def within(self, uri: str, collection: str) -> list[Document]:
        with one_state(self._engine) as connection:
            return within(connection, uri, collection)

    def collections(self, where: Where) -> list[Collection]:
        name = documents.c.collection
        counted = select(name, func.count(), func.sum(documents.c.chunks))
        counted = counted.where(visible(where), _LISTED)
        with one_state(self._engine) as connection:
            chunkers = {row.name: row.chunker for row in connection.execute(select(collections))}
            counts = connection.execute(counted.group_by(name)).all()
        by_name = {
            row[0]: Collection(row[0], row[1], row[2], chunkers.get(row[0], "")) for row in counts
        }
        if where == OWNER:
            by_name = {n: Collection(n, 0, 0, chunker) for n, chunker in chunkers.items()} | by_name
        return [by_name[n] for n in sorted(by_name)]

    def usage(
        self, *, sender: str | None = None, collection: str | None = None
    ) -> list[SenderUsage]:
        of = documents.c
        query = select(of.sender, of.collection, func.count(), func.sum(of.size))
        query = query.where(of.interpretation > 0).group_by(of.sender, of.collection)
        if sender is not None:
            query = query.where(of.sender == sender)
        if collection is not None:
            query = query.where(of.collection == collection)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(of.sender, of.collection))
            return [SenderUsage(row[0], row[1], row[2], int(row[3])) for row in rows]

    def chunker(self, collection: str) -> str:
        with self._engine.connect() as connection:
            return connection.scalar(_CHUNKER, {"collection": collection}) or ""

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        column = documents.c["kind" if label == "type" else label]
        query = select(column, func.count()).where(visible(where), _LISTED).group_by(column)
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def field_names(self, where: Where) -> frozenset[str]:
        query = (
            select(fields.c.name)
            .join(documents, fields.c.document == documents.c.id)
            .where(visible(where))
            .distinct()
        )
        with self._engine.connect() as connection:
            return frozenset(connection.scalars(query))

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> dict[DocumentId, bytes]:
        query = (
            select(interpretations.c.document, interpretations.c.sketch)
            .join(documents, interpretations.c.document == documents.c.id)
            .where(interpretations.c.state == "active", visible(where))
        )
        with one_state(self._engine) as connection:
            if like is None:
                rows = connection.execute(query).all()
            else:
                near = _near(connection, like, where)
                rows = []
                for some in slices(sorted(near)):
                    rows += connection.execute(query.where(documents.c.id.in_(some))).all()
            sketches = {row.document: row.sketch for row in rows}
            for document in [d for d, stored in sketches.items() if stored is None]:
                sketches[document] = sketch(_text(connection, document))  # of an older library
        return sketches

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        of = interpretations.c
        query = select(of.summary).where(
            of.content_hash == content_hash, of.summarised_by == summariser
        )
        if sender:
            query = query.join(documents, of.document == documents.c.id)
            query = query.where(documents.c.sender == sender)
        with self._engine.connect() as connection:
            return connection.scalar(query.order_by(of.id.desc()).limit(1))

    def summarised(self, document: DocumentId) -> Summarised | None:
        summary = select(interpretations.c.id, interpretations.c.summary).where(
            interpretations.c.document == document, interpretations.c.state == "active"
        )
        hashes = select(chunks.c.embedding).where(
            chunks.c.interpretation == bindparam("of"), chunks.c.document == document
        )
        with one_state(self._engine) as connection:
            row = connection.execute(summary).first()
            if row is None:
                return None
            scalar_result = connection.scalars(hashes, {"of": row.id})
            return Summarised(row.summary, frozenset(scalar_result))

    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        # Everything but the text, which may be long.
        columns = [c for c in interpretations.c if c.name not in ("text", "summary")]
        query = (
            select(*columns)
            .join(documents, interpretations.c.document == documents.c.id)
            .where(documents.c.id == document, KEPT, visible_then(where))
            .order_by(interpretations.c.number)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).mappings()
            return [interpretation_of(row).seen_by(where) for row in rows]

    def text(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> str | None:
        with self._engine.connect() as connection:
            text: str | None = connection.scalar(_text_of(interpretation, where), {"of": document})
            return text

    def passages(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> list[StoredChunk]:
        query = (
            _chunks_with_documents()
            .join(
                interpretations,
                (chunks.c.interpretation == interpretations.c.id)
                & (chunks.c.document == interpretations.c.document),
            )
            .where(documents.c.id == document, _numbered(interpretation), visible_then(where))
        )
        return self._chunks(query)

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        passages: dict[ChunkId, StoredChunk] = {}
        for some in slices(ids):
            passages |= {c.id: c for c in self._chunks(chunks_by_id(where), {"ids": some})}
        return [passages[i] for i in ids if i in passages]

    def _chunks(
        self, query: Select[Any], values: dict[str, Any] | None = None
    ) -> list[StoredChunk]:
        # A byte that is no UTF-8 any more must not hide the other passages: its checksum tells.
        with one_statement(self._engine) as connection, leniently(connection):
            rows = connection.execute(query, values or {}).mappings().all()
        by_id: dict[DocumentId, Document] = {}
        for row in rows:
            if row["document_id"] not in by_id:
                by_id[row["document_id"]] = document_of(row, "document_")
        return [
            StoredChunk(
                row["id"],
                by_id[row["document_id"]],
                chunk_of(row),
                passage_check(row, row["document_id"]),
            )
            for row in rows
        ]

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> Mapping[ChunkId, Neighbours]:
        return neighbours(ids, before, after, lambda wanted: self.chunks(wanted, where))

    def beside(self, document: Document, prefix: str, most: int, where: Where) -> Neighbours:
        uri, id_ = documents.c.uri, chunks.c.id
        near = (
            _visible_chunks(where)
            .where(
                documents.c.collection == document.collection,
                documents.c.media_type == document.media_type,
            )
            .limit(most)
            .order_by(None)
        )
        before = near.where(uri >= prefix, uri < document.uri).order_by(uri.desc(), id_.desc())
        after = near.where(uri > document.uri, uri < behind_all(prefix)).order_by(uri, id_)
        return Neighbours(tuple(reversed(self._chunks(before))), tuple(self._chunks(after)))


@lru_cache(maxsize=256)  # building the query takes as long as running it
def chunks_by_id(where: Where) -> Select[Any]:
    """Chunks and their documents, of those `ids` that the caller may see."""
    return _visible_chunks(where).where(chunks.c.id.in_(bindparam("ids", expanding=True)))


@lru_cache(maxsize=256)
def _text_of(interpretation: int | None, where: Where) -> Select[Any]:
    return (
        select(interpretations.c.text)
        .join(documents, interpretations.c.document == documents.c.id)
        .where(documents.c.id == bindparam("of"))
        .where(_numbered(interpretation), visible_then(where))
    )


def _visible_chunks(where: Where) -> Select[Any]:
    return _chunks_with_documents().where(active, visible_passages(where))


def _chunks_with_documents() -> Select[Any]:
    """Only the columns that are read: all 41 take SQLite a fifth longer."""
    own = [chunks.c[name] for name in ("id", *CHECKED_COLUMNS)]
    of = [documents.c[name] for name in (*DOCUMENT_COLUMNS, "metadata", "names")]
    labelled = [column.label(f"document_{column.name}") for column in of]
    joined = select(*own, *labelled).join(documents, chunks.c.document == documents.c.id)
    return joined.order_by(chunks.c.id)


def _numbered(number: int | None) -> ColumnElement[bool]:
    if number is None:
        return interpretations.c.state == "active"
    return KEPT & (interpretations.c.number == number)


def _near(connection: Connection, ids: Sequence[DocumentId], where: Where) -> set[DocumentId]:
    """These documents, and those that share enough keys with one of them. Looks only at the first
    few documents of a key, by the order of its index, so that a text costs much the same however
    many share a sentence with it: 500 of them take 50 ms among 100,000. Takes the first few that
    the caller may see, or hidden ones could take their places."""
    others, counted = shingles.alias("known"), shingles.alias("counted")
    visible_ones: ColumnElement[bool] = true()
    if where.access != OWNER:
        visible_ones = counted.c.document.in_(select(documents.c.id).where(visible(where.access)))
    label = func.count().over(partition_by=shingles.c.document).label("held")
    near = set(ids)
    for some in slices(ids):
        mine = shingles.c.document.in_(some)
        own = select(shingles.c.document, shingles.c.hash, label).where(mine).subquery("own")
        last = (
            select(counted.c.document)
            .where(counted.c.hash == own.c.hash, visible_ones)
            .order_by(counted.c.document)
            .offset(MOST_OF_A_KEY - 1)
            .limit(1)
            .scalar_subquery()
        )
        query = (
            select(others.c.document)
            .join(own, others.c.hash == own.c.hash)
            .where(others.c.document <= func.coalesce(last, _LAST))
            .group_by(own.c.document, others.c.document)
            .having(func.count() >= func.max(own.c.held) * ENOUGH_KEYS)
        )
        near |= set(connection.scalars(query))
    return near


def _text(connection: Connection, document: DocumentId) -> str:
    query = select(interpretations.c.text).where(
        interpretations.c.document == document, interpretations.c.state == "active"
    )
    return connection.scalar(query) or ""


def neighbours(
    ids: Sequence[ChunkId],
    before: int,
    after: int,
    fetch: Callable[[Sequence[ChunkId]], Sequence[StoredChunk]],
) -> dict[ChunkId, Neighbours]:
    """The chunks around others: those of one document are numbered without gaps. `fetch` is called
    once, for everything."""
    wanted = sorted({i + step for i in ids for step in range(-before, after + 1)})
    passages = {chunk.id: chunk for chunk in fetch(wanted)}

    def beside(middle: StoredChunk, steps: range) -> tuple[StoredChunk, ...]:
        near = (passages.get(middle.id + step) for step in steps)
        return tuple(c for c in near if c and c.document.id == middle.document.id)

    return {
        i: Neighbours(
            beside(passages[i], range(-before, 0)), beside(passages[i], range(1, after + 1))
        )
        for i in ids
        if i in passages
    }


# --- by name

_AFTER_WITHIN = WITHIN[:-1] + chr(ord(WITHIN[-1]) + 1)  # sorts after every file inside it

# Asked for every few files of an `add`: built once, `find` takes .2 ms and not 1.3.
_is_there = documents.c.interpretation > 0
_BY_FIRST_NAME = select(documents).where(
    documents.c.collection == bindparam("collection"),
    documents.c.uri.in_(bindparam("uris", expanding=True)),
    _is_there,
)
_BY_OTHER_NAME = (
    select(documents)
    .join(names, names.c.document == documents.c.id)
    .where(
        names.c.collection == bindparam("collection"),
        names.c.uri.in_(bindparam("uris", expanding=True)),
        _is_there,
    )
)
_BY_NAME = union_all(_BY_FIRST_NAME, _BY_OTHER_NAME)
_BY_BYTES = (
    select(documents)
    .where(documents.c.collection == bindparam("collection"))
    .where(documents.c.seen_hash.in_(bindparam("hashes", expanding=True)), _is_there)
)


def all_names(document: Document) -> list[str]:
    return [document.uri, *document.names]


def named(connection: Connection, keys: Iterable[tuple[str, str]]) -> list[Document]:
    """The documents known by these collections and uris, by id."""
    return _documents_by(connection, _BY_NAME, "uris", keys)


def seen_with(connection: Connection, keys: Iterable[tuple[str, str]]) -> list[Document]:
    """The documents of these collections that were last seen with these bytes, by id."""
    return _documents_by(connection, _BY_BYTES, "hashes", keys)


def _documents_by(
    connection: Connection, query: Executable, parameter: str, keys: Iterable[tuple[str, str]]
) -> list[Document]:
    """Collection by collection: for a list of pairs SQLite reads every document there is (30 ms of
    60,000, with each batch)."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for collection, key in keys:
        wanted[collection].append(key)
    by_id: dict[DocumentId, Document] = {}
    for collection, mine in wanted.items():
        for some in slices(mine):
            rows = connection.execute(query, {"collection": collection, parameter: some}).mappings()
            by_id |= {row["id"]: document_of(row) for row in rows}
    return [by_id[i] for i in sorted(by_id)]


def locked(connection: Connection, wanted: Iterable[Document]) -> list[Document]:
    """The same documents as they are now, which nobody else changes until the transaction ends."""
    ids = sorted({document.id for document in wanted})
    if connection.dialect.name == "sqlite":  # one writes at a time
        return list(wanted)
    rows: list[Document] = []
    for some in slices(ids):
        query = select(documents).where(_is_there, documents.c.id.in_(some))
        query = query.order_by(documents.c.id).with_for_update(key_share=True)
        rows += [document_of(row) for row in connection.execute(query).mappings()]
    return rows


def within(connection: Connection, uri: str, collection: str) -> list[Document]:
    """The documents inside this file, by id."""

    def inside(table: Any) -> ColumnElement[bool]:
        return and_(
            table.c.collection == collection,
            table.c.uri >= uri + WITHIN,
            table.c.uri < uri + _AFTER_WITHIN,
        )

    others = select(names.c.document).where(inside(names))
    visible = there(connection, inside(documents))
    visible |= there(connection, documents.c.id.in_(others))
    return [visible[i] for i in sorted(visible)]


def there(connection: Connection, clause: ColumnElement[bool]) -> dict[DocumentId, Document]:
    query = select(documents).where(_is_there, clause)
    return {row["id"]: document_of(row) for row in connection.execute(query).mappings()}
