"""A library as it was: a separate store, filled with the interpretations of one instant.

    as-of/<digest>/     a library like any other, with the same ids; the digest says which
    as-of/new-*         being built

Derived from the registry, so it can be deleted at any time: a few are kept for the next search, and
any removal deletes them all. Labels are today's, and a view has only what its caller could see then
too: looking back never widens an audience. Knows nothing of searching.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, func, select

from trivium.core.types import Where
from trivium.store.sql.conditions import label_held, visible
from trivium.store.sql.rows import field_values, metadata_of
from trivium.store.sql.tables import documents, interpretations
from trivium.store.where import kind_of

AS_OF = "as-of"
MOST = 3  # kept at a time: each needs as much space as a library
# Copied unchanged; `documents` and `fields` are built from two tables.
_COPIES = (
    "INSERT INTO names SELECT * FROM src.names WHERE document IN (SELECT id FROM documents)",
    "INSERT INTO interpretations SELECT * FROM src.interpretations WHERE id IN chosen",
    "UPDATE interpretations SET state = 'active', retired_at = ''",
    "INSERT INTO chunks SELECT * FROM src.chunks WHERE interpretation IN chosen",
    "INSERT INTO embeddings SELECT * FROM src.embeddings WHERE hash IN"
    " (SELECT embedding FROM chunks)",
    "INSERT INTO token_vectors SELECT * FROM src.token_vectors WHERE hash IN"
    " (SELECT embedding FROM chunks)",
    "INSERT OR REPLACE INTO settings SELECT * FROM src.settings WHERE name <> 'schema'",
    "UPDATE settings SET value = (SELECT coalesce(max(chunks.id), 0) FROM chunks JOIN embeddings"
    " ON embeddings.hash = chunks.embedding WHERE embeddings.model ="
    " (SELECT value FROM settings WHERE name = 'model')) WHERE name = 'embedded_upto'",
    "UPDATE counters SET value = 1 WHERE name = 'sequence'",
    "UPDATE counters SET value = (SELECT coalesce(max(id), 0) FROM chunks) WHERE name = 'chunk'",
)
_LAYOUT = 2  # the format of a view; views in another format are built again


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
        kept = interpretations.c.state.in_(("active", "retired"))
        last = (
            select(interpretations.c.document, func.max(number).label("number"))
            .where(kept, then)
            .group_by(interpretations.c.document)
            .subquery()
        )
        # Joined first: with several nodes, both tables are spread by document, and documents are
        # elsewhere.
        past = (
            select(*(c.label(f"then_{c.name}") for c in interpretations.c if c.name != "text"))
            .join(
                last,
                (interpretations.c.document == last.c.document) & (number == last.c.number),
            )
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
            held = connection.exec_driver_sql("SELECT name, value FROM settings").all()
            self.ids = [row.pop("chosen") for row in self.rows]
        said = json.dumps([_LAYOUT, self.rows, self.ids, sorted(map(tuple, held))], default=str)
        self.digest = hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


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


def fill(database: Path, source: Path, chosen: Chosen) -> None:
    """Copy the chosen rows into the database of an empty library."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("ATTACH ? AS src", (str(source),))
        connection.execute("CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO chosen VALUES (?)", [(i,) for i in chosen.ids])
        _insert(connection, "documents", [_plain(row) for row in chosen.rows])
        fields = (field_values(row["id"], metadata_of(row["metadata"])) for row in chosen.rows)
        _insert(connection, "fields", [field for some in fields for field in some])
        for statement in _COPIES:
            connection.execute(statement)
        connection.commit()


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        names, marks = ", ".join(rows[0]), ", ".join(f":{name}" for name in rows[0])
        connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: json.dumps(row[name]) for name in ("metadata", "names")}


@contextmanager
def place(folder: Path) -> Iterator[Path]:
    """A new folder for a view that is being built. A failure leaves nothing behind."""
    views = folder / AS_OF
    views.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="new-", dir=views))
    try:
        yield made
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        with suppress(OSError):  # other views are still there
            views.rmdir()
        raise


def settle(made: Path, target: Path) -> None:
    """Rename a finished view to its final name, and delete the oldest ones beyond the limit."""
    with suppress(OSError):  # another process was faster
        made.rename(target)
    shutil.rmtree(made, ignore_errors=True)
    others = [path for path in target.parent.iterdir() if path.name[:4] != "new-"]
    others.sort(key=lambda path: (path != target, -path.stat().st_mtime))
    for path in others[MOST:]:
        shutil.rmtree(path, ignore_errors=True)


def discard(folder: Path) -> None:
    """Delete all views, so that none still has a removed document."""
    shutil.rmtree(folder / AS_OF, ignore_errors=True)
