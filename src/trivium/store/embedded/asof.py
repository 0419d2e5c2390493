"""A library as it was: a folder like any other, filled with the interpretations of one instant.

    as-of/<digest>/     with the same ids; the digest says which
    as-of/new-*         being built

Derived from the registry, so it can be deleted at any time: a few are kept for the next search, and
any removal deletes them all. Labels are today's, and a view has only what its caller could see then
too: looking back never widens an audience. Knows nothing of searching.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from trivium.core.types import Where
from trivium.ports import Backend
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.database import open_database, translated
from trivium.store.sql.rows import field_values, metadata_of
from trivium.store.sql.schema import migrate
from trivium.store.sql.statements import (
    EMBEDDED_UPTO,
    insert_all,
    label_held,
    set_setting,
    slices,
    visible,
)
from trivium.store.sql.tables import (
    chunks,
    counters,
    documents,
    embeddings,
    fields,
    interpretations,
    names,
    settings,
    token_vectors,
)
from trivium.store.where import kind_of

AS_OF = "as-of"
MOST = 3  # kept at a time: each needs as much space as a library
_NEW = "new-"
_LAYOUT = 2  # the format of a view; views in another format are built again


class PastFolders:
    """Threads and processes may share them: each is built beside its place, then renamed."""

    def __init__(
        self, engine: Engine, open_: Callable[[Path], Backend], place: Path | None = None
    ) -> None:
        """`open_`: opens a folder and builds its indexes. `place`: where they are kept; None: on
        this machine, until `close`."""
        self._engine = engine
        self._open = open_
        self._place = place
        self._own: Path | None = None

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], Backend]]:
        chosen = Chosen(self._engine, when, where)
        return chosen.digest, lambda: self._opened(when, where, chosen)

    def close(self) -> None:
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)

    def _opened(self, when: int | str, where: Where, chosen: Chosen) -> Backend:
        if self._place is None:
            self._own = self._place = Path(mkdtemp(prefix="trivium-as-of-"))
        with translated(self._place.parent):
            while True:
                target = self._place / chosen.digest
                if not target.exists():
                    self._build(target, chosen)
                # Something was removed since then: it must not live on in a view.
                again = Chosen(self._engine, when, where)
                if again.digest == chosen.digest:
                    return self._open(target)
                shutil.rmtree(target, ignore_errors=True)
                chosen = again

    def _build(self, target: Path, chosen: Chosen) -> None:
        """A failure leaves nothing behind. Deletes the oldest ones beyond the limit."""
        views = target.parent
        views.mkdir(exist_ok=True)
        made = Path(mkdtemp(prefix=_NEW, dir=views))
        try:
            file = open_database(made / DATABASE)
            migrate(file)
            with self._engine.connect() as source, file.begin() as rows:
                _fill(source, rows, chosen)
            file.dispose()
            self._open(made).close()  # opening builds the indexes
            with suppress(OSError):  # another process was faster
                made.rename(target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
            with suppress(OSError):  # unless other views are still there
                views.rmdir()
        others = [path for path in views.iterdir() if not path.name.startswith(_NEW)]
        others.sort(key=lambda path: (path != target, -path.stat().st_mtime))
        for path in others[MOST:]:
            shutil.rmtree(path, ignore_errors=True)


class Chosen:
    """Which interpretation of each document is in the view, and what is known about the documents
    now."""

    def __init__(self, engine: Engine, when: int | str, where: Where) -> None:
        """`when`: an interpretation's number, or an instant as the registry writes it."""
        number, made = interpretations.c.number, interpretations.c.created_at
        retired = interpretations.c.retired_at
        if isinstance(when, int):
            then = number <= when
        else:
            then = (made <= when) & ((retired == "") | (retired > when))
        whole = interpretations.c.state.in_(("active", "retired"))
        last = (
            select(interpretations.c.document, func.max(number).label("number"))
            .where(whole, then)
            .group_by(interpretations.c.document)
            .subquery()
        )
        # Joined first: with several nodes, both tables are spread by document, and documents are
        # elsewhere.
        past = (
            select(*(c.label(f"then_{c.name}") for c in interpretations.c if c.name != "text"))
            .join(last, (interpretations.c.document == last.c.document) & (number == last.c.number))
            .subquery()
        )
        query = (
            select(documents, *past.c)
            .join(past, past.c.then_document == documents.c.id)
            .where(visible(where), label_held(past.c.then_audience, where))
            .order_by(documents.c.id)
        )
        with engine.connect() as connection:
            self.rows = [_as_it_was(dict(row)) for row in connection.execute(query).mappings()]
            pairs = connection.exec_driver_sql("SELECT name, value FROM settings").all()
            self.ids = [row.pop("chosen") for row in self.rows]
        state = json.dumps([_LAYOUT, self.rows, self.ids, sorted(map(tuple, pairs))], default=str)
        self.digest = hashlib.blake2b(state.encode(), digest_size=16).hexdigest()


def _as_it_was(row: dict[str, Any]) -> dict[str, Any]:
    """A row for `documents`: today's labels and names, everything else from then."""
    then = {name.removeprefix("then_"): row.pop(name) for name in [*row] if name[:5] == "then_"}
    shown = ("title", "media_type", "language", "content_hash", "size", "fingerprint", "chunks",
             "metadata", "original", "first_chunk")  # fmt: skip
    return (
        row
        | {name: then[name] for name in shown}
        | {
            "kind": kind_of(then["media_type"]),
            "interpretation": then["number"],
            "updated_at": then["created_at"],
            "changed": 1,
            "chosen": then["id"],
            "checksum": None,  # a view is derived
        }
    )


def _fill(source: Connection, target: Connection, chosen: Chosen) -> None:
    insert_all(target, documents, chosen.rows)
    values = (field_values(row["id"], metadata_of(row["metadata"])) for row in chosen.rows)
    insert_all(target, fields, [field for some in values for field in some])
    ids = [row["id"] for row in chosen.rows]
    for some in slices(ids):
        _copy(source, target, names, names.c.document.in_(some))
    for some in slices(chosen.ids):
        _copy(source, target, interpretations, interpretations.c.id.in_(some))
        _copy(source, target, chunks, chunks.c.interpretation.in_(some))
    target.execute(update(interpretations).values(state="active", retired_at=""))
    hashes = list(target.scalars(select(chunks.c.embedding).distinct()))
    for some in slices(hashes):
        for table in (embeddings, token_vectors):
            _copy(source, target, table, table.c.hash.in_(some))
    target.execute(delete(settings).where(settings.c.name != "schema"))
    copied = select(settings).where(settings.c.name.not_in(("schema", "postgres_schema")))
    for row in source.execute(copied).mappings():
        target.execute(insert(settings).values(**row))
    model = target.scalar(select(settings.c.value).where(settings.c.name == "model")) or ""
    last = (
        select(chunks.c.id)
        .join(embeddings, embeddings.c.hash == chunks.c.embedding)
        .where(embeddings.c.model == model)
        .order_by(chunks.c.id.desc())
        .limit(1)
    )
    set_setting(target, EMBEDDED_UPTO, str(target.scalar(last) or 0))
    highest = target.scalar(select(chunks.c.id).order_by(chunks.c.id.desc()).limit(1)) or 0
    for name, value in (("sequence", 1), ("chunk", highest)):
        target.execute(update(counters).where(counters.c.name == name).values(value=value))


def _copy(source: Connection, target: Connection, table: Table, which: ColumnElement[bool]) -> None:
    rows = [dict(row) for row in source.execute(select(table).where(which)).mappings()]
    insert_all(target, table, rows)


def discard(folder: Path) -> None:
    """Delete all views of a library, so that none still has a removed document."""
    shutil.rmtree(folder / AS_OF, ignore_errors=True)
