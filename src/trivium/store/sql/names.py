"""Names and labels of documents: add a name, rename, forget.

A document's first name is in its row, the others both there (to be read with it) and in the table
`names` (to be looked up).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Executable,
    and_,
    bindparam,
    delete,
    insert,
    select,
    union_all,
)

from trivium.core.errors import DocumentNotFound
from trivium.core.types import Document, DocumentId, Metadata
from trivium.core.work import now
from trivium.store.identity import WITHIN, is_within
from trivium.store.sql.jobs import forget_documents
from trivium.store.sql.known import learn
from trivium.store.sql.rows import change, document_of, field_values, metadata_values, name_values
from trivium.store.sql.statements import insert_all, slices, take
from trivium.store.sql.tables import collections, documents, fields, interpretations, names
from trivium.store.where import comparable_text, name_of
from trivium.text.titles import followed

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


class Names:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add_name(self, document: DocumentId, uri: str) -> Document:
        with self._engine.begin() as connection:
            return _add(connection, _held(connection, document), uri)

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        with self._engine.begin() as connection:
            known = _held(connection, document)
            inside = within(connection, old, known.collection)
            uris = all_names(known)
            if old not in uris:
                return _add(connection, known, new)
            for inner in locked(connection, inside):
                moved = (
                    new + u.removeprefix(old) if is_within(u, old) else u for u in all_names(inner)
                )
                set_names(connection, inner, list(moved))
            if old == known.uri:
                title = followed(known.title, old, new)
                _set_title(connection, document, title)
            set_names(connection, known, [new if uri == old else uri for uri in uris])
            forget_documents(connection, (), [old])  # the old name is to be found nowhere
            return _held(connection, document)

    def unname(self, uri: str, collection: str) -> list[Document]:
        """Take the name away, and those within it. The documents that have no other still have
        it and come back: they are to be removed."""
        with self._engine.begin() as connection:
            nameless = []
            those = [*named(connection, [(collection, uri)]), *within(connection, uri, collection)]
            for document in locked(connection, those):
                uris = all_names(document)
                left = [name for name in uris if name != uri and not is_within(name, uri)]
                if left:
                    set_names(connection, document, left)
                else:
                    nameless.append(document)
        return nameless

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        values = metadata_values(metadata)
        of, state = interpretations.c.document, interpretations.c.state
        with self._engine.begin() as connection:
            changed = take(connection, "sequence", 1).start
            labels = {"metadata": values, "audience": audience}
            set_to = {**labels, "category": category, "changed": changed}
            change(connection, documents, documents.c.id == document, set_to)
            change(connection, interpretations, (of == document) & (state == "active"), labels)
            connection.execute(delete(fields).where(fields.c.document == document))
            insert_all(connection, fields, field_values(document, metadata))
            learn(connection)

    def set_chunker(self, collection: str, chunker: str) -> None:
        ours = collections.c.name == collection
        with self._engine.begin() as connection:
            connection.execute(delete(collections).where(ours))
            insert_all(connection, collections, [{"name": collection, "chunker": chunker}])


def all_names(document: Document) -> list[str]:
    return [document.uri, *document.names]


def named(connection: Connection, keys: Iterable[tuple[str, str]]) -> list[Document]:
    """The documents known by these collections and uris, by id."""
    return _asked(connection, _BY_NAME, "uris", keys)


def seen_with(connection: Connection, keys: Iterable[tuple[str, str]]) -> list[Document]:
    """The documents of these collections that were last seen with these bytes, by id."""
    return _asked(connection, _BY_BYTES, "hashes", keys)


def _asked(
    connection: Connection, query: Executable, what: str, keys: Iterable[tuple[str, str]]
) -> list[Document]:
    """Collection by collection: for a list of pairs SQLite reads every document there is (30 ms of
    60,000, with each batch)."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for collection, key in keys:
        wanted[collection].append(key)
    by_id: dict[DocumentId, Document] = {}
    for collection, mine in wanted.items():
        for some in slices(mine):
            rows = connection.execute(query, {"collection": collection, what: some}).mappings()
            by_id |= {row["id"]: document_of(row) for row in rows}
    return [by_id[i] for i in sorted(by_id)]


def locked(connection: Connection, found: Iterable[Document]) -> list[Document]:
    """The same documents as they are now, which nobody else changes until the transaction ends."""
    ids = sorted({document.id for document in found})
    if connection.dialect.name == "sqlite":  # one writes at a time
        return list(found)
    rows: list[Document] = []
    for some in slices(ids):
        query = select(documents).where(_is_there, documents.c.id.in_(some))
        query = query.order_by(documents.c.id).with_for_update(key_share=True)
        rows += [document_of(row) for row in connection.execute(query).mappings()]
    return rows


def set_names(connection: Connection, document: Document, uris: list[str]) -> None:
    """Rename a document; searches by name notice."""
    changed = take(connection, "sequence", 1).start
    ours = documents.c.id == document.id
    connection.execute(delete(names).where(names.c.document == document.id))
    change(connection, documents, ours, {**name_values(uris), "changed": changed})
    insert_names(connection, document.id, document.collection, uris[1:])
    learn(connection)


def insert_names(
    connection: Connection, document: DocumentId, collection: str, uris: Iterable[str]
) -> None:
    for uri in uris:
        connection.execute(
            insert(names).values(
                document=document,
                collection=collection,
                uri=uri,
                name=comparable_text(name_of(uri)),
                added_at=now(),
            )
        )


def within(connection: Connection, uri: str, collection: str) -> list[Document]:
    """The documents inside this file, by id."""

    def inside(table: Any) -> ColumnElement[bool]:
        return and_(
            table.c.collection == collection,
            table.c.uri >= uri + WITHIN,
            table.c.uri < uri + _AFTER_WITHIN,
        )

    others = select(names.c.document).where(inside(names))
    visible = _visible(connection, inside(documents))
    visible |= _visible(connection, documents.c.id.in_(others))
    return [visible[i] for i in sorted(visible)]


def _visible(connection: Connection, clause: ColumnElement[bool]) -> dict[DocumentId, Document]:
    query = select(documents).where(_is_there, clause)
    return {row["id"]: document_of(row) for row in connection.execute(query).mappings()}


def _held(connection: Connection, document: DocumentId) -> Document:
    visible = _visible(connection, documents.c.id == document)
    rows = locked(connection, visible.values())
    if not rows:
        raise DocumentNotFound(f"There is no document #{document}.")
    return rows[0]


def _add(connection: Connection, document: Document, uri: str) -> Document:
    uris = all_names(document)
    if uri in uris:
        return document
    set_names(connection, document, [*uris, uri])
    return _held(connection, document.id)


def _set_title(connection: Connection, document: DocumentId, title: str) -> None:
    change(connection, documents, documents.c.id == document, {"title": title})
    of, state = interpretations.c.document, interpretations.c.state
    change(connection, interpretations, (of == document) & (state == "active"), {"title": title})
