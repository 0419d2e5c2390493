"""Conversations in SQL: saved questions and answers.

Callers see a turn if they have every audience it was asked with and may see every document it was
made from; it is deleted with the first of these documents. Needs no writer's lock: no index knows
of it, and the database orders writes itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select

from trivium.core.answers import Conversation, KeptTurn, Turn
from trivium.core.types import DocumentId, Where
from trivium.store.clock import now
from trivium.store.sql.conditions import visible
from trivium.store.sql.statements import insert_all, one_state, slices
from trivium.store.sql.tables import documents, turn_documents, turns
from trivium.store.where import holds


class SqlConversations:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, conversation: str, kept: KeptTurn) -> None:
        audiences = None if kept.audiences is None else sorted(kept.audiences)
        row = {
            "conversation": conversation,
            "question": kept.turn.question,
            "answer": kept.turn.answer,
            "audiences": audiences,
            "at": now(),
        }
        with self._engine.begin() as connection:
            added = connection.execute(insert(turns), row).inserted_primary_key
            id_ = added[0] if added else None
            rows = [{"turn": id_, "document": document} for document in sorted(kept.documents)]
            insert_all(connection, turn_documents, rows)

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        with one_state(self._engine) as connection:
            return [kept for _, kept in _seen(connection, where, conversation)]

    def all(self, where: Where) -> list[Conversation]:
        found: dict[str, list[KeptTurn]] = {}
        with one_state(self._engine) as connection:
            for name, kept in _seen(connection, where):
                found.setdefault(name, []).append(kept)
        return [
            Conversation(name, len(kept), kept[0].at, kept[-1].at)
            for name, kept in sorted(found.items())
        ]

    def forget(self, conversation: str, where: Where) -> int:
        with self._engine.connect() as connection:
            gone = [row["id"] for row in _rows(connection, where, conversation)]
        with self._engine.begin() as connection:
            for some in slices(gone):
                connection.execute(delete(turns).where(turns.c.id.in_(some)))
        return len(gone)


def forget_turns_of(connection: Connection, gone: Sequence[DocumentId]) -> None:
    """Deletes the turns made from documents that are being removed."""
    for some in slices(gone):
        about = select(turn_documents.c.turn).where(turn_documents.c.document.in_(some))
        connection.execute(delete(turns).where(turns.c.id.in_(about)))


def _seen(
    connection: Connection, where: Where, conversation: str | None = None
) -> list[tuple[str, KeptTurn]]:
    rows = _rows(connection, where, conversation)
    used: dict[int, set[DocumentId]] = {row["id"]: set() for row in rows}
    for some in slices(list(used)):
        query = select(turn_documents).where(turn_documents.c.turn.in_(some))
        for row in connection.execute(query):
            used[row.turn].add(row.document)
    return [
        (
            row["conversation"],
            KeptTurn(
                Turn(row["question"], row["answer"]),
                _audiences(row),
                frozenset(used[row["id"]]),
                row["at"],
            ),
        )
        for row in rows
    ]


def _rows(connection: Connection, where: Where, conversation: str | None) -> list[Any]:
    """Turns that may be seen, in order."""
    passing = select(documents.c.id).where(visible(where))
    hidden = select(turn_documents.c.turn).where(turn_documents.c.document.not_in(passing))
    query = select(turns).where(turns.c.id.not_in(hidden)).order_by(turns.c.id)
    if conversation is not None:
        query = query.where(turns.c.conversation == conversation)
    rows = connection.execute(query).mappings().all()
    return [row for row in rows if holds(where.audiences, _audiences(row))]


def _audiences(row: Any) -> frozenset[str] | None:
    return None if row["audiences"] is None else frozenset(row["audiences"])
