"""The log of queries and the saved searches in the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, Engine, delete, insert, select, update

from trivium.queries import Alert, AlertHit, LoggedQuery
from trivium.store.sql.tables import alert_hits, alerts, query_log

_COLUMNS = [query_log.c[name] for name in ("at", "text", "asked", "empty", "took_ms", "caller")]


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
        with self._engine.begin() as connection:
            # In one order: two processes that count the same never wait for each other.
            for query in sorted(queries, key=lambda one: (one.at, one.text, one.caller)):
                _count(connection, query)

    def all(self, since: str = "") -> list[LoggedQuery]:
        asked = select(*_COLUMNS).where(query_log.c.at >= since)
        with self._engine.connect() as connection:
            rows = connection.execute(asked.order_by(query_log.c.at.desc(), query_log.c.id.desc()))
            return [LoggedQuery(**row._mapping) for row in rows]

    def forget(self, before: str) -> int:
        with self._engine.begin() as connection:
            return connection.execute(delete(query_log).where(query_log.c.at < before)).rowcount


def _count(connection: Connection, query: LoggedQuery) -> None:
    same = (query_log.c.at == query.at) & (query_log.c.text == query.text)
    ours = same & (query_log.c.caller == query.caller)
    row = connection.execute(select(query_log).where(ours).limit(1)).first()
    if row is None:
        connection.execute(insert(query_log).values(asdict(query)))
        return
    counted = {
        "asked": query_log.c.asked + query.asked,
        "empty": query_log.c.empty + query.empty,
        "took_ms": max(row.took_ms, query.took_ms),
    }
    connection.execute(update(query_log).where(query_log.c.id == row.id).values(counted))


class SqlAlerts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, alert: Alert) -> None:
        same = alerts.c.id == alert.id
        with self._engine.begin() as connection:
            known = connection.execute(update(alerts).where(same).values(asdict(alert))).rowcount
            if not known:
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
