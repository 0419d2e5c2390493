"""Watched folders in the registry."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Engine, delete, insert, select

from trivium.core.work import WatchedFolder
from trivium.store.sql.tables import watched_folders


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
