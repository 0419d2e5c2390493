"""Sources and folders that are kept in step, in the registry. A cursor is written by `save_points`
in the transaction that shows the last document it covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, bindparam, delete, insert, select, update

from trivium.core.work import KeptSource, SyncFailure, SyncPoint, SyncRun, WatchedFolder, now
from trivium.store.sql.statements import insert_all, slices
from trivium.store.sql.tables import source_failures, sources, watched_folders

# Asked for several times in each run.
_SOURCE = select(sources).where(sources.c.name == bindparam("source"))
_CHANGE = update(sources).where(sources.c.name == bindparam("source"))
_SOURCES = select(sources).order_by(sources.c.added_at, sources.c.name)
_failed = source_failures.c
_FAILURES = (
    select(_failed.item, _failed.code, _failed.message, _failed.at, _failed.tries)
    .add_columns(_failed.not_before)
    .where(_failed.source == bindparam("of"))
    .order_by(_failed.item)
)


class SqlSources:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, source: KeptSource) -> None:
        row = _row(source)
        mine = sources.c.name == source.name
        with self._engine.begin() as connection:
            if connection.execute(update(sources).where(mine).values(row)).rowcount == 0:
                connection.execute(insert(sources).values(row))

    def get(self, name: str) -> KeptSource | None:
        with self._engine.connect() as connection:
            row = connection.execute(_SOURCE, {"source": name}).mappings().first()
        return None if row is None else _source(row)

    def all(self) -> list[KeptSource]:
        with self._engine.connect() as connection:
            return [_source(row) for row in connection.execute(_SOURCES).mappings()]

    def forget(self, name: str) -> bool:
        with self._engine.begin() as connection:
            connection.execute(delete(source_failures).where(source_failures.c.source == name))
            gone = connection.execute(delete(sources).where(sources.c.name == name))
            return gone.rowcount > 0

    def advance(self, point: SyncPoint) -> None:
        with self._engine.begin() as connection:
            save_points(connection, [point])

    def record(self, name: str, run: SyncRun) -> None:
        self._set(name, run=_run_row(run))

    def pause(self, name: str, paused: bool) -> None:
        self._set(name, paused=paused)

    def failures(self, name: str) -> list[SyncFailure]:
        with self._engine.connect() as connection:
            return [SyncFailure(*row) for row in connection.execute(_FAILURES, {"of": name})]

    def settle(self, name: str, failed: Sequence[SyncFailure], done: Sequence[str] | None) -> None:
        mine = source_failures.c.source == name
        over = list({*(done or ()), *(failure.item for failure in failed)})
        with self._engine.begin() as connection:
            if connection.scalar(select(sources.c.name).where(sources.c.name == name)) is None:
                return
            if done is None:
                connection.execute(delete(source_failures).where(mine))
            for some in slices(over):
                connection.execute(
                    delete(source_failures).where(mine, source_failures.c.item.in_(some))
                )
            rows = {
                failure.item: asdict(failure) | {"source": name, "at": failure.at or now()}
                for failure in failed
            }
            insert_all(connection, source_failures, list(rows.values()))

    def _set(self, name: str, **values: Any) -> None:
        with self._engine.begin() as connection:
            connection.execute(_CHANGE, {"source": name, **values})


def save_points(connection: Connection, points: Sequence[SyncPoint]) -> None:
    """Inside the transaction of whoever shows the documents that these cover."""
    for point in points:
        connection.execute(_CHANGE, {"source": point.source, "cursor": point.cursor})


def _row(source: KeptSource) -> dict[str, Any]:
    fields = {column.name: getattr(source, column.name) for column in sources.columns}
    fields["options"], fields["secrets"] = dict(source.options), dict(source.secrets)
    return fields | {"run": _run_row(source.run)}


def _run_row(run: SyncRun) -> dict[str, Any]:
    return asdict(run) | {"counts": dict(run.counts)}


def _source(row: RowMapping) -> KeptSource:
    return KeptSource(**{**row, "run": SyncRun(**row["run"])})


class SqlFolders:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, folder: WatchedFolder) -> None:
        with self._engine.begin() as connection:
            same = watched_folders.c.id == folder.id
            connection.execute(delete(watched_folders).where(same))
            row = asdict(folder) | {"ignore": list(folder.ignore)}
            connection.execute(insert(watched_folders).values(row))

    def all(self) -> list[WatchedFolder]:
        order = (watched_folders.c.added_at, watched_folders.c.id)
        with self._engine.connect() as connection:
            rows = connection.execute(select(watched_folders).order_by(*order)).mappings()
            return [WatchedFolder(**{**row, "ignore": tuple(row["ignore"])}) for row in rows]

    def forget(self, id_: str) -> bool:
        gone = delete(watched_folders).where(watched_folders.c.id == id_)
        with self._engine.begin() as connection:
            return connection.execute(gone).rowcount > 0
