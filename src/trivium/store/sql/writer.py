"""Changes documents, as far as every database does it alike: names and labels, and removals.

A document's first name is in its row, the others both there (to be read with it) and in the table
`names` (to be looked up).

Removals take everything that belongs to documents or old interpretations. Rows go by cascade
(interpretations, chunks, metadata, names), and so do turns of conversations made from a document.
Vectors that no chunk uses any more go, and so do originals that nothing refers to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Engine, delete, func, insert, select

from trivium.core.errors import DocumentNotFound
from trivium.core.types import Document, DocumentId, Metadata, Processed, Where
from trivium.core.work import now
from trivium.ports import Waiting
from trivium.store.blobs import KeptOriginals
from trivium.store.identity import is_within
from trivium.store.sql.documents import all_names, locked, named, there, within
from trivium.store.sql.jobs import forget_documents
from trivium.store.sql.known import learn
from trivium.store.sql.models import free_vectors
from trivium.store.sql.queries import forget_turns_of
from trivium.store.sql.rows import change, field_values, metadata_values, name_values
from trivium.store.sql.statements import KEPT, insert_all, label_held, slices, take, visible
from trivium.store.sql.tables import (
    chunks,
    collections,
    documents,
    fields,
    interpretations,
    leftovers,
    names,
    removals,
)
from trivium.store.where import comparable_text, name_of
from trivium.text.titles import followed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Removed:
    """How many were removed, and the addresses of originals that nothing refers to any more."""

    count: int = 0
    originals: tuple[str, ...] = ()


class Changes(Protocol):
    """How a database makes the changes of documents."""

    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]: ...

    def rest(self, seconds: float) -> None: ...

    def together(self) -> AbstractContextManager[None]:
        """Around changes that follow each other in one call."""

    def change(self, act: Callable[[], T]) -> T: ...

    def remove(self, act: Callable[[], Removed]) -> Removed: ...

    def put_first(self, batch: Sequence[Processed], model: str) -> list[Document]:
        """As many of the batch as fit in one put."""

    def restore(self, document: DocumentId, number: int) -> Document: ...

    def undo(self) -> None:
        """After a put that failed."""

    def tidy_removed(self) -> None:
        """After a removal, once its originals are deleted."""


class SqlWriter:
    """The writer of every database: what all of them change alike, made as `changes` says."""

    def __init__(self, engine: Engine, originals: KeptOriginals, changes: Changes) -> None:
        self._originals = originals
        self._changes = changes
        self._names = DocumentNames(engine)
        self._removal = Removal(engine)
        self.writing = changes.writing
        self.rest = changes.rest
        self.restore = changes.restore

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        done: list[Document] = []
        with self._changes.together() if batch else nullcontext():
            try:
                while len(done) < len(batch):
                    done += self._changes.put_first(batch[len(done) :], model)
            except BaseException as reason:
                self._changes.undo()
                if not done or not isinstance(reason, Exception):  # Ctrl-C ends the run
                    raise
            finally:
                self._originals.registered(processed.original for processed in batch[: len(done)])
        return done

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        labels = {"category": category, "audience": audience}
        self._changes.change(lambda: self._names.relabel(document, **labels, metadata=metadata))

    def add_name(self, document: DocumentId, uri: str) -> Document:
        return self._changes.change(lambda: self._names.add_name(document, uri))

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        return self._changes.change(lambda: self._names.rename(document, old, new))

    def set_chunker(self, collection: str, chunker: str) -> None:
        self._changes.change(lambda: self._names.set_chunker(collection, chunker))

    def remove(self, documents: Iterable[DocumentId]) -> int:
        ids = list(documents)
        return self._remove(lambda: self._removal.remove(ids))

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        return self._remove(lambda: self._removal.prune(where, keep=keep, before=before))

    def forget(self, uri: str, collection: str) -> list[Document]:
        with self._changes.together():
            nameless = self._changes.change(lambda: self._names.unname(uri, collection))
            self.remove(document.id for document in nameless)
        return nameless

    def _remove(self, act: Callable[[], Removed]) -> int:
        """Deletes originals after the registry has let go: a crash in between leaves bytes that
        `compact` finds."""
        with self._changes.together():
            gone = self._changes.remove(act)
            self._originals.drop(gone.originals)
            self._changes.tidy_removed()
        return gone.count


class DocumentNames:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add_name(self, document: DocumentId, uri: str) -> Document:
        with self._engine.begin() as connection:
            return _add(connection, _locked_document(connection, document), uri)

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        with self._engine.begin() as connection:
            stored = _locked_document(connection, document)
            inside = within(connection, old, stored.collection)
            uris = all_names(stored)
            if old not in uris:
                return _add(connection, stored, new)
            for inner in locked(connection, inside):
                moved = (
                    new + u.removeprefix(old) if is_within(u, old) else u for u in all_names(inner)
                )
                set_names(connection, inner, list(moved))
            if old == stored.uri:
                title = followed(stored.title, old, new)
                _set_title(connection, document, title)
            set_names(connection, stored, [new if uri == old else uri for uri in uris])
            forget_documents(connection, (), [old])  # the old name is to be found nowhere
            return _locked_document(connection, document)

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


class Removal:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remove(self, ids: Iterable[DocumentId]) -> Removed:
        wanted = sorted(set(ids))
        with self._engine.begin() as connection:
            rows: list[Any] = []
            for some in slices(wanted):
                query = select(
                    documents.c.id, documents.c.uri, documents.c.first_chunk, documents.c.chunks
                )
                rows += connection.execute(query.where(documents.c.id.in_(some))).all()
            if not rows:
                return Removed()
            gone = [row.id for row in rows]
            hashes: set[str] = set()
            addresses: set[str] = set()
            for some in slices(gone):
                of = interpretations.c.document.in_(some)
                theirs = chunks.c.interpretation.in_(select(interpretations.c.id).where(of))
                embedded = select(chunks.c.embedding).where(theirs)
                hashes |= set(connection.scalars(embedded.distinct()))
                addressed = select(interpretations.c.original).where(of)
                addresses |= set(connection.scalars(addressed.distinct()))
                # By hand: on several nodes no key leads from these to their document.
                connection.execute(delete(interpretations).where(of))
                connection.execute(delete(documents).where(documents.c.id.in_(some)))
            forget_turns_of(connection, gone)
            free_vectors(connection, sorted(hashes))
            forget_documents(connection, gone, [row.uri for row in rows])
            sequence = take(connection, "sequence", 1).start
            insert_all(connection, removals, [{"document": i, "changed": sequence} for i in gone])
            ranges = [{"first_chunk": r.first_chunk, "chunks": r.chunks} for r in rows if r.chunks]
            insert_all(connection, leftovers, ranges)
            return Removed(len(gone), unused_originals(connection, sorted(addresses)))

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> Removed:
        """Drop retired interpretations, and what only they used."""
        rank = func.row_number().over(
            partition_by=interpretations.c.document, order_by=interpretations.c.number.desc()
        )
        ranked = (
            select(
                interpretations.c.id,
                interpretations.c.state,
                interpretations.c.retired_at,
                interpretations.c.audience,
                rank.label("rank"),
            )
            .join(documents, interpretations.c.document == documents.c.id)
            .where(KEPT, visible(where))
            .subquery()
        )
        query = select(ranked.c.id).where(
            ranked.c.state == "retired", ranked.c.rank > keep, label_held(ranked.c.audience, where)
        )
        if before:
            query = query.where(ranked.c.retired_at < before)
        with self._engine.begin() as connection:
            ids = list(connection.scalars(query))
            hashes: set[str] = set()
            addresses: set[str] = set()
            for some in slices(ids):
                embedded = select(chunks.c.embedding).where(chunks.c.interpretation.in_(some))
                hashes |= set(connection.scalars(embedded.distinct()))
                these = interpretations.c.id.in_(some)
                addresses |= set(
                    connection.scalars(select(interpretations.c.original).where(these))
                )
                connection.execute(delete(interpretations).where(these))
            free_vectors(connection, sorted(hashes))
            return Removed(len(ids), unused_originals(connection, sorted(addresses)))


def unused_originals(connection: Connection, addresses: Sequence[str]) -> tuple[str, ...]:
    """Those of the addresses that no interpretation refers to."""
    used: set[str] = set()
    for some in slices(addresses):
        query = select(interpretations.c.original).where(interpretations.c.original.in_(some))
        used |= set(connection.scalars(query.distinct()))
    return tuple(address for address in addresses if address and address not in used)


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


def _locked_document(connection: Connection, document: DocumentId) -> Document:
    visible = there(connection, documents.c.id == document)
    rows = locked(connection, visible.values())
    if not rows:
        raise DocumentNotFound(f"There is no document #{document}.")
    return rows[0]


def _add(connection: Connection, document: Document, uri: str) -> Document:
    uris = all_names(document)
    if uri in uris:
        return document
    set_names(connection, document, [*uris, uri])
    return _locked_document(connection, document.id)


def _set_title(connection: Connection, document: DocumentId, title: str) -> None:
    change(connection, documents, documents.c.id == document, {"title": title})
    of, state = interpretations.c.document, interpretations.c.state
    change(connection, interpretations, (of == document) & (state == "active"), {"title": title})
