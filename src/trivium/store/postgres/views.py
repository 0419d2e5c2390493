"""A library in PostgreSQL as it was: a folder on this machine, filled with the rows of that time.

Derived, so it can be deleted at any time. Labels are today's, see `store.embedded.asof`.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from sqlalchemy import Connection, Engine, Table, delete, insert, select, update
from sqlalchemy.sql.elements import ColumnElement

from trivium.core.types import Where
from trivium.ports import Backend
from trivium.store.embedded.asof import MOST, Chosen
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.database import open_database
from trivium.store.sql.rows import field_values, metadata_of
from trivium.store.sql.statements import EMBEDDED_UPTO, insert_all, set_setting, slices
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


class PostgresViews:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._folder: Path | None = None
        self._made: list[Path] = []  # the oldest first
        self._turn = threading.Lock()

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], Backend]]:
        chosen = Chosen(self._engine, when, where)
        return chosen.digest, lambda: self._opened(when, where, chosen)

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _opened(self, when: int | str, where: Where, chosen: Chosen) -> Backend:
        with self._turn:
            while True:
                folder = self._place() / chosen.digest
                if folder not in self._made:
                    self._make(folder, chosen)
                # Something was removed since then: it must not live on in a view.
                again = Chosen(self._engine, when, where)
                if again.digest == chosen.digest:
                    return open_embedded(folder)
                chosen = again

    def _place(self) -> Path:
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="trivium-as-of-"))
        return self._folder

    def _make(self, folder: Path, chosen: Chosen) -> None:
        try:
            open_embedded(folder).close()
            file = open_database(folder / DATABASE)
            with self._engine.connect() as source, file.begin() as target:
                _fill(source, target, chosen)
            file.dispose()
            open_embedded(folder).close()  # opening builds the indexes
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._made.append(folder)
        while len(self._made) > MOST:
            shutil.rmtree(self._made.pop(0), ignore_errors=True)


def _fill(source: Connection, target: Connection, chosen: Chosen) -> None:
    insert_all(target, documents, chosen.rows)
    held = (field_values(row["id"], metadata_of(row["metadata"])) for row in chosen.rows)
    insert_all(target, fields, [field for some in held for field in some])
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
    kept = select(settings).where(settings.c.name.not_in(("schema", "postgres_schema")))
    for row in source.execute(kept).mappings():
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
