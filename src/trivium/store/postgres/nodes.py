"""A library on several nodes with the extension Citus: the large tables are on the nodes.

    on the nodes           interpretations and chunks, by document; vectors_N, by chunk;
                           embeddings and token_vectors, by the hash of the embedded text;
                           blobs, by address
    on the coordinator     everything else: documents, names, words, jobs

Citus's own tables say whether a library is spread, so every process knows. See
docs/decisions/010. Knows nothing of searching.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, text

from trivium.core.errors import DatabaseUnsuitable, LibraryBusy
from trivium.core.upkeep import Spread
from trivium.store.postgres.shards import (
    drop_hidden_rows,
    gather_table,
    has_citus,
    nodes_of,
    shards_of,
    split_table,
    spread_table,
)
from trivium.store.postgres.vectors import VectorTables
from trivium.store.sql.statements import NEXT_MODEL, setting

# Name, key, and the table to lie beside, which must come first.
_TABLES = (
    ("interpretations", "document", ""),
    ("chunks", "document", "interpretations"),
    ("embeddings", "hash", ""),
    ("token_vectors", "hash", "embeddings"),
    ("blobs", "address", ""),
)
_PER_NODE = 4  # shards of each table per node, so that a new node can take some over
# A foreign key can't lead from a node to the coordinator. `Removal` deletes what this one would.
_CUT = (
    "ALTER TABLE chunks DROP CONSTRAINT IF EXISTS chunks_interpretation_fkey",
    "ALTER TABLE interpretations DROP CONSTRAINT IF EXISTS interpretations_document_fkey",
)
_JOIN_CHUNKS = (
    "ALTER TABLE chunks ADD CONSTRAINT chunks_interpretation_fkey"
    " FOREIGN KEY (document, interpretation) REFERENCES interpretations (document, id)"
    " ON DELETE CASCADE"
)
_JOIN_DOCUMENTS = (
    "ALTER TABLE interpretations ADD CONSTRAINT interpretations_document_fkey"
    " FOREIGN KEY (document) REFERENCES documents (id) ON DELETE CASCADE"
)
_HAS_KEY = text(
    "SELECT 1 FROM pg_constraint WHERE conname = :name AND conrelid = CAST(:table AS regclass)"
)


@dataclass(eq=False)
class CitusNodes:
    _engine: Engine
    _vectors: VectorTables
    _alone: Callable[[], AbstractContextManager[None]]  # keeps all other changes out

    def spread(self) -> Spread:
        with self._engine.connect() as connection:
            return Spread(nodes_of(connection), shards_of(connection))

    def distribute(self, shards: int | None = None) -> Spread:
        spread = self._checked()
        wanted = shards or spread.shards or _PER_NODE * len(spread.nodes)
        with self._alone():
            self._run(*_CUT)
            for table, column, beside in _TABLES:
                with self._engine.begin() as connection:
                    has = shards_of(connection, table)
                    if has and has != wanted:
                        others = [name for name, _, near in _TABLES if near == table]
                        split_table(connection, table, wanted, others)
                    if has:
                        continue
                    spread_table(connection, table, column, wanted, beside)
                with self._engine.begin() as connection:
                    drop_hidden_rows(connection, table)
            with self._engine.begin() as connection:
                if not _has_key(connection, "chunks", "chunks_interpretation_fkey"):
                    _change(connection, _JOIN_CHUNKS)
            self._vectors.follow_passages()
        return self.spread()

    def gather(self) -> Spread:
        self._checked()
        with self._alone():
            self._run("ALTER TABLE chunks DROP CONSTRAINT IF EXISTS chunks_interpretation_fkey")
            for table, _, _ in reversed(_TABLES):
                with self._engine.begin() as connection:
                    if shards_of(connection, table):
                        gather_table(connection, table)
            with self._engine.begin() as connection:
                for table, key, statement in (
                    ("chunks", "chunks_interpretation_fkey", _JOIN_CHUNKS),
                    ("interpretations", "interpretations_document_fkey", _JOIN_DOCUMENTS),
                ):
                    if not _has_key(connection, table, key):
                        _change(connection, statement)
            self._vectors.follow_passages()
        return self.spread()

    def _checked(self) -> Spread:
        """Raises DatabaseUnsuitable, LibraryBusy."""
        with self._engine.connect() as connection:
            if not has_citus(connection):
                raise DatabaseUnsuitable(
                    "The database has no extension Citus.",
                    fix="Install Citus on every node, then let a superuser run in this database:"
                    " CREATE EXTENSION citus;",
                    on_page="Ask the person who runs the database to install Citus.",
                )
            if setting(connection, NEXT_MODEL):
                raise LibraryBusy(
                    "The library is changing to another model.",
                    fix="Wait until `trivium reembed` has finished, or stop it.",
                    on_page="Wait until the change of the model has finished.",
                )
        spread = self.spread()
        if not spread.nodes:
            raise DatabaseUnsuitable(
                "Citus has no nodes for rows.",
                fix="Add each one on the coordinator: SELECT citus_add_node('HOST', 5432);",
                on_page="Ask the person who runs the database to add nodes.",
            )
        return spread

    def _run(self, *statements: str) -> None:
        with self._engine.begin() as connection:
            for statement in statements:
                _change(connection, statement)


def _has_key(connection: Connection, table: str, name: str) -> bool:
    return connection.scalar(_HAS_KEY, {"table": table, "name": name}) is not None


def _change(connection: Connection, statement: str) -> None:
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text(statement))
