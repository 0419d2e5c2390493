"""What people asked, in the registry: the log of queries, saved searches, and conversations.

Callers see a turn of a conversation if they have every audience it was asked with and may see every
document it was made from; it is deleted with the first of these documents. Needs no writer's lock:
no index knows of it, and the database orders writes itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from sqlalchemy import (
    Connection,
    Engine,
    Float,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    select,
    update,
)

from trivium.core.answers import Conversation, KeptTurn, Turn
from trivium.core.queries import Alert, AlertHit, Asked, LoggedQuery, LogPage
from trivium.core.types import DocumentId, Where
from trivium.core.work import now
from trivium.store.sql.statements import insert_all, one_state, slices, visible
from trivium.store.sql.tables import alert_hits, alerts, documents, query_log, turn_documents, turns
from trivium.store.where import holds

_COLUMNS = [query_log.c[name] for name in ("at", "text", "asked", "empty", "took_ms", "caller")]
_Key: TypeAlias = tuple[str, str, str]

_SLOWEST = bindparam("of_took_ms", type_=Float())
_ADD = (
    update(query_log)
    .where(query_log.c.id == bindparam("of_id"))
    .values(
        asked=query_log.c.asked + bindparam("of_asked"),
        empty=query_log.c.empty + bindparam("of_empty"),
        took_ms=case((query_log.c.took_ms < _SLOWEST, _SLOWEST), else_=query_log.c.took_ms),
    )
)


class SqlQueryLog:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # One transaction for all: each ends on the disk, and makes SQLite's readers drop what they have
    # cached.

    def note(self, queries: Sequence[LoggedQuery]) -> None:
        if not queries:
            return
        with self._engine.begin() as connection:
            connection.execute(insert(query_log), [asdict(query) for query in queries])

    def count(self, queries: Sequence[LoggedQuery]) -> None:
        if not queries:
            return
        # In one order: two processes that count the same never wait for each other.
        ordered = sorted(queries, key=_key)
        with self._engine.begin() as connection:
            # All at once: looking for one query reads the entries of its whole day.
            entries = _entries(connection, ordered)
            new = [key for key in dict.fromkeys(map(_key, ordered)) if key not in entries]
            if new:
                empty = [LoggedQuery(at, text, 0, caller=caller) for at, text, caller in new]
                connection.execute(insert(query_log), [asdict(query) for query in empty])
                entries |= _entries(connection, ordered)
            added = [
                {
                    "of_id": entries[_key(query)],
                    "of_asked": query.asked,
                    "of_empty": query.empty,
                    "of_took_ms": query.took_ms,
                }
                for query in ordered
            ]
            connection.execute(_ADD, added)

    def all(self, since: str = "") -> list[LoggedQuery]:
        query = select(*_COLUMNS).where(query_log.c.at >= since)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(query_log.c.at.desc(), query_log.c.id.desc()))
            return [LoggedQuery(**row._mapping) for row in rows]

    def totals(self, since: str = "", page: LogPage = LogPage()) -> list[Asked]:
        log, times = query_log.c, func.sum(query_log.c.asked)
        slowest = func.max(log.took_ms)
        text = cast(log.text, log.at.type)  # in the order of its bytes, as everywhere
        query = (
            select(log.text, times, func.sum(log.empty), slowest, func.max(log.at))
            .where(log.at >= since)
            .group_by(log.text)
            .having(slowest >= page.slower_than)
            .order_by((slowest if page.slower_than else times).desc(), text)
            .limit(page.limit)
            .offset(page.offset)
        )
        if page.unfound:
            query = query.having(func.sum(log.empty) > 0)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return [Asked(row[0], int(row[1]), int(row[2]), row[3], row[4]) for row in rows]

    def trim(self, most: int) -> int:
        log = query_log.c
        order = (log.at.desc(), log.id.desc())
        first = select(log.at, log.id).order_by(*order).offset(most).limit(1)
        with self._engine.begin() as connection:
            oldest = connection.execute(first).first()
            if oldest is None:
                return 0
            older = (log.at < oldest.at) | ((log.at == oldest.at) & (log.id <= oldest.id))
            return connection.execute(delete(query_log).where(older)).rowcount

    def forget(self, before: str) -> int:
        with self._engine.begin() as connection:
            return connection.execute(delete(query_log).where(query_log.c.at < before)).rowcount


def _key(query: LoggedQuery) -> _Key:
    return query.at, query.text, query.caller


def _entries(connection: Connection, queries: Sequence[LoggedQuery]) -> dict[_Key, int]:
    """The ids of the entries of these queries. If processes that began at once made several of one
    query, the first."""
    log = query_log.c
    listed = select(log.at, log.text, log.caller, log.id).where(
        log.at.in_({query.at for query in queries}), log.text.in_({q.text for q in queries})
    )
    rows = connection.execute(listed.order_by(log.id.desc()))
    return {(at, text, caller): id_ for at, text, caller, id_ in rows}


class SqlAlerts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, alert: Alert) -> None:
        same = alerts.c.id == alert.id
        with self._engine.begin() as connection:
            updated = connection.execute(update(alerts).where(same).values(asdict(alert))).rowcount
            if not updated:
                connection.execute(insert(alerts).values(asdict(alert)))

    def all(self) -> list[Alert]:
        order = (alerts.c.created_at, alerts.c.id)
        with self._engine.connect() as connection:
            rows = connection.execute(select(alerts).order_by(*order)).mappings()
            return [Alert(**row) for row in rows]

    def forget(self, id_: str) -> bool:
        with self._engine.begin() as connection:
            connection.execute(delete(alert_hits).where(alert_hits.c.alert == id_))
            return connection.execute(delete(alerts).where(alerts.c.id == id_)).rowcount > 0

    def note(self, hits: Sequence[AlertHit]) -> None:
        with self._engine.begin() as connection:
            for hit in hits:
                same = (alert_hits.c.alert == hit.alert) & (alert_hits.c.document == hit.document)
                connection.execute(delete(alert_hits).where(same))
                connection.execute(insert(alert_hits).values(asdict(hit)))

    def hits(self, limit: int | None = None) -> list[AlertHit]:
        order = (alert_hits.c.at.desc(), alert_hits.c.alert, alert_hits.c.document.desc())
        with self._engine.connect() as connection:
            rows = connection.execute(select(alert_hits).order_by(*order).limit(limit)).mappings()
            return [AlertHit(**row) for row in rows]


class SqlConversations:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, conversation: str, kept_turn: KeptTurn) -> None:
        audiences = None if kept_turn.audiences is None else sorted(kept_turn.audiences)
        row = {
            "conversation": conversation,
            "question": kept_turn.turn.question,
            "answer": kept_turn.turn.answer,
            "audiences": audiences,
            "at": now(),
        }
        with self._engine.begin() as connection:
            added = connection.execute(insert(turns), row).inserted_primary_key
            id_ = added[0] if added else None
            rows = [{"turn": id_, "document": document} for document in sorted(kept_turn.documents)]
            insert_all(connection, turn_documents, rows)

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        with one_state(self._engine) as connection:
            return [turn for _, turn in _seen(connection, where, conversation)]

    def all(self, where: Where) -> list[Conversation]:
        by_name: dict[str, list[KeptTurn]] = {}
        with one_state(self._engine) as connection:
            for name, turn in _seen(connection, where):
                by_name.setdefault(name, []).append(turn)
        return [
            Conversation(name, len(talk), talk[0].at, talk[-1].at)
            for name, talk in sorted(by_name.items())
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
