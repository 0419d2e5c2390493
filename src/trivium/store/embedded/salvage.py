"""A new database with everything that can still be read of one whose pages are damaged.

SQLite copies rows by ranges of their rowids; a range that it can't read is halved until only the
damaged rows are left out. A document that lacks a row is taken out as a whole and named, with all
that is needed to read its original again. The damaged file is kept beside the new one.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trivium.core.errors import LibraryDamaged
from trivium.core.upkeep import LostDocument, Salvaged
from trivium.ports import Waiting
from trivium.store.embedded.asof import AS_OF
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.database import open_database, translated
from trivium.store.embedded.leases import FileLeases
from trivium.store.sql.rows import field_values, metadata_of
from trivium.store.sql.schema import SCHEMA, migrate

DAMAGED = f"{DATABASE}.damaged-"  # followed by the date
DERIVED = ("words", "vectors", "vocabulary.txt", AS_OF)
_TOGETHER = 1000  # rows read at a time
_BOUND = 100_000  # rowids tried if nothing readable says how high they go
_COUNTED = {"documents": "document", "interpretations": "interpretation", "chunks": "chunk"}
# An active interpretation with all of its chunks.
_WHOLE = (
    "SELECT d.id FROM documents d JOIN interpretations i ON i.document = d.id"
    " AND i.state = 'active' AND i.number = d.interpretation AND i.first_chunk = d.first_chunk"
    " WHERE d.chunks = (SELECT count(*) FROM chunks c WHERE c.interpretation = i.id)"
)
_BROKEN_PAST = (
    "SELECT id FROM interpretations i WHERE state <> 'active'"
    " AND chunks <> (SELECT count(*) FROM chunks c WHERE c.interpretation = i.id)"
)


def is_damaged(folder: Path) -> bool:
    """Whether SQLite finds a page that it can't read, or an index that contradicts its table."""
    path = folder / DATABASE
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with closing(sqlite3.connect(path)) as connection:
            return list(connection.execute("PRAGMA integrity_check(1)")) != [("ok",)]
    except sqlite3.DatabaseError as error:
        return getattr(error, "sqlite_errorname", "").startswith(
            ("SQLITE_CORRUPT", "SQLITE_NOTADB")
        )


def survey(folder: Path) -> Salvaged:
    """What `salvage` would save and lose. Changes nothing."""
    with tempfile.TemporaryDirectory() as aside:
        return _copy(folder / DATABASE, Path(aside) / DATABASE)


def salvage(folder: Path) -> Salvaged:
    """Replace the database with a new one that has everything readable, and keep the damaged one.
    The caller holds the writer's lock."""
    path, new = folder / DATABASE, folder / f"{DATABASE}.new"
    with translated(folder):
        new.unlink(missing_ok=True)  # left by a process that was killed
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as old:
            old.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # into one file, as far as possible
        saved = _copy(path, new)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        damaged = _unused(folder)
        os.link(path, damaged)
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:  # SQLite would read it as part of the new file
            log.rename(damaged.with_name(f"{damaged.name}-wal"))
        log.unlink(missing_ok=True)
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        new.replace(path)
        for name in DERIVED:
            part = folder / name
            shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)
    return Salvaged(saved.documents, saved.lost, saved.past, damaged)


@contextmanager
def alone(folder: Path, waiting: Waiting | None, seconds: float = 3600) -> Iterator[None]:
    """The writer's lock of the library in this folder, without opening it."""
    leases = FileLeases(folder, seconds)
    with leases.hold("writer", "writing to this library", waiting=waiting):
        yield


def _unused(folder: Path) -> Path:
    stem = f"{DAMAGED}{datetime.now(UTC):%Y-%m-%d}"
    names = (stem, *(f"{stem}-{n}" for n in range(2, 1000)))
    return next(folder / name for name in names if not (folder / name).exists())


def _copy(source: Path, target: Path) -> Salvaged:
    with (
        closing(sqlite3.connect(source)) as old,
        closing(sqlite3.connect(target, isolation_level=None)) as new,
    ):
        # Text that is no longer valid UTF-8 gets replacement characters; its checksum shows it.
        old.text_factory = lambda data: data.decode("utf-8", "replace")
        new.execute("PRAGMA synchronous = OFF")  # the whole file is synced at the end
        try:
            made = list(old.execute("SELECT type, name, sql FROM sqlite_master"))
        except sqlite3.DatabaseError as error:
            raise LibraryDamaged(f"Couldn't read anything from {source}: {error}.") from error
        new.execute("BEGIN")
        for kind, name, sql in made:
            if kind == "table" and name[:7] != "sqlite_":
                new.execute(sql)
                _copy_rows(old, new, name)
        for kind, _, sql in made:
            if kind == "index" and sql:
                new.execute(sql)
        new.execute("INSERT OR IGNORE INTO settings VALUES ('schema', ?)", (str(SCHEMA),))
        new.execute("COMMIT")
        _migrate(target)  # the code below needs today's tables
        new.execute("BEGIN")
        saved = _put_in_order(old, new)
        new.execute("COMMIT")
        return saved


def _migrate(target: Path) -> None:
    engine = open_database(target)
    try:
        migrate(engine)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = DELETE")  # so that it is one file
    finally:
        engine.dispose()


def _copy_rows(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    ranges = [(low, low + _TOGETHER - 1) for low in range(0, _highest(old, table) + 1, _TOGETHER)]
    while ranges:
        low, high = ranges.pop()
        query = f"SELECT * FROM {table} WHERE rowid BETWEEN ? AND ?"
        try:
            rows = old.execute(query, (low, high)).fetchall()
        except sqlite3.DatabaseError:
            if low < high:
                middle = (low + high) // 2
                ranges += [(low, middle), (middle + 1, high)]
            continue
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            new.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)


def _highest(old: sqlite3.Connection, table: str) -> int:
    """A rowid above every row of the table."""
    kinds = old.execute(f"PRAGMA index_list({table})").fetchall()
    ways = [table, *(f'{table} INDEXED BY "{row[1]}"' for row in kinds)]
    for way in ways:
        with suppress(sqlite3.DatabaseError):
            return int(old.execute(f"SELECT max(rowid) FROM {way}").fetchone()[0] or 0)
    counted = f"SELECT value FROM counters WHERE name = '{_COUNTED.get(table, '')}'"
    with suppress(sqlite3.DatabaseError):
        return int((old.execute(counted).fetchone() or (_BOUND,))[0])
    return _BOUND


def _put_in_order(old: sqlite3.Connection, connection: sqlite3.Connection) -> Salvaged:
    """Remove incomplete documents, and compute again what follows from the rest."""
    connection.execute("DELETE FROM interpretations WHERE state = 'staged'")
    connection.execute("DELETE FROM documents WHERE interpretation = 0")
    past = connection.execute(f"DELETE FROM interpretations WHERE id IN ({_BROKEN_PAST})").rowcount
    whole = {row[0] for row in connection.execute(_WHOLE)}
    lost = tuple(document for document in _mentioned(old, connection) if document.id not in whole)
    connection.execute("CREATE TEMP TABLE whole AS " + _WHOLE)
    for table in ("interpretations", "chunks", "shingles", "known_words"):
        connection.execute(f"DELETE FROM {table} WHERE document NOT IN (SELECT id FROM whole)")
    connection.execute("DELETE FROM documents WHERE id NOT IN (SELECT id FROM whole)")
    connection.execute(
        "DELETE FROM chunks WHERE interpretation NOT IN (SELECT id FROM interpretations)"
    )
    connection.execute("DELETE FROM fields")
    for id_, packed in connection.execute("SELECT id, metadata FROM documents").fetchall():
        with suppress(ValueError):  # `doctor --deep` reports it
            connection.executemany(
                "INSERT INTO fields VALUES (:document, :name, :text, :number)",
                field_values(id_, metadata_of(json.loads(packed))),
            )
    connection.execute(
        "DELETE FROM names WHERE document NOT IN (SELECT id FROM documents)"
        " OR NOT EXISTS (SELECT 1 FROM documents d, json_each(d.names) n"
        " WHERE d.id = names.document AND n.value = names.uri)"
    )
    connection.execute(
        "UPDATE documents SET checksum = NULL, names = (SELECT json_group_array(uri) FROM names"
        " WHERE document = documents.id) WHERE json_array_length(names) <>"
        " (SELECT count(*) FROM names WHERE document = documents.id)"
    )
    _count(connection)
    return Salvaged(len(whole), lost, past)


def _mentioned(old: sqlite3.Connection, connection: sqlite3.Connection) -> Iterator[LostDocument]:
    """Every document that something readable mentions."""
    fields_by_id: dict[int, dict[str, Any]] = {}
    with _named_rows(connection), _named_rows(old):
        for table in ("chunks", "interpretations"):
            for row in connection.execute(f"SELECT DISTINCT document FROM {table}"):
                fields_by_id[row["document"]] = {}
        for row in connection.execute("SELECT * FROM interpretations WHERE state = 'active'"):
            names = ("original", "audience", "metadata")
            fields_by_id[row["document"]] = {name: row[name] for name in names}
        # An index may have rows that its table has lost.
        index = "SELECT rowid AS id, collection, uri FROM documents INDEXED BY"
        with suppress(sqlite3.DatabaseError):
            for row in old.execute(f"{index} documents_by_source").fetchall():
                fields_by_id.setdefault(row["id"], {}).update(
                    uri=row["uri"], collection=row["collection"]
                )
        for row in connection.execute("SELECT * FROM documents").fetchall():
            labels = ("uri", "collection", "category", "audience", "sender", "original", "metadata")
            fields_by_id.setdefault(row["id"], {}).update({name: row[name] for name in labels})
    for id_, fields in sorted(fields_by_id.items()):
        try:
            fields["metadata"] = metadata_of(json.loads(fields.get("metadata", "{}")))
        except ValueError:
            fields["metadata"] = {}
        yield LostDocument(id_, **fields)


@contextmanager
def _named_rows(connection: sqlite3.Connection) -> Iterator[None]:
    connection.row_factory = sqlite3.Row
    try:
        yield
    finally:
        connection.row_factory = None


def _count(connection: sqlite3.Connection) -> None:
    """Ids are never used twice, so a lost counter continues above the highest id."""
    highest = {
        name: f"SELECT max(id) FROM (SELECT max(id) AS id FROM {table})"
        for table, name in [
            *_COUNTED.items(),
            ("jobs", "job"),
            ("tasks", "task"),
            ("known_terms", "term"),
        ]
    }
    highest["sequence"] = "SELECT max(changed) FROM documents"
    for name, query in highest.items():
        (at_least,) = connection.execute(f"SELECT coalesce(({query}), 0)").fetchone()
        connection.execute("INSERT OR IGNORE INTO counters VALUES (?, 0)", (name,))
        # One more for the sequence: readers with a cache look again.
        connection.execute(
            "UPDATE counters SET value = max(value, ?) + (name = 'sequence') WHERE name = ?",
            (at_least, name),
        )
    # The model in use, if that was lost: the one with the most vectors.
    most = "FROM embeddings GROUP BY model ORDER BY count(*) DESC LIMIT 1"
    queries = {
        "model": "model",
        "dimensions": "CAST(length(vector) / 2 AS TEXT)",
        "embedded_upto": "0",
    }
    for name, value in queries.items():
        connection.execute(f"INSERT OR IGNORE INTO settings SELECT '{name}', {value} {most}")
    connection.execute(
        "UPDATE settings SET value = (SELECT coalesce(max(chunks.id), 0) FROM chunks"
        " JOIN embeddings ON embeddings.hash = chunks.embedding WHERE embeddings.model ="
        " (SELECT value FROM settings WHERE name = 'model')) WHERE name = 'embedded_upto'"
    )
