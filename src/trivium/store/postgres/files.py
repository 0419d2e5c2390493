"""Bytes stored in the database, so that every server of a library has them: originals, uploads,
judged sets."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO
from uuid import uuid4

from sqlalchemy import Engine, text

from trivium.core.errors import FileTooLarge, FileUnreadable
from trivium.store.blobs import address_of, check_room, present, unchanged

_LARGEST = 1_000_000_000  # bytes of one value in PostgreSQL
_ROOM = 7_411_006  # lock of whoever stores an upload
_SHELF = 7_411_007  # lock of whoever writes judgments
_PATIENCE = 5_000  # milliseconds for another judgment to be written


class RowBlobs:
    """Each file once, under its hash."""

    address = staticmethod(address_of)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, data: bytes) -> str:
        if len(data) > _LARGEST:
            raise FileTooLarge(
                f"The database can't store a file of {len(data):,} bytes.",
                fix="Set `archive.folder` to a folder that all servers share, or leave it out.",
            )
        address = self.address(data)
        with self._engine.begin() as connection:
            # If the bytes are already there, only the time is updated, so that nobody takes them
            # for orphans.
            renewed = connection.execute(
                text(
                    "UPDATE blobs SET put_at = now() WHERE address = :address"
                    " AND length(data) = :size"
                ),
                {"address": address, "size": len(data)},
            )
            if not renewed.rowcount:
                connection.execute(
                    text(
                        "INSERT INTO blobs (address, data) VALUES (:address, :data)"
                        " ON CONFLICT (address) DO UPDATE SET data = excluded.data,"
                        " put_at = excluded.put_at"
                    ),
                    {"address": address, "data": data},
                )
        return address

    def get(self, address: str) -> bytes:
        with self._engine.connect() as connection:
            query = text("SELECT data FROM blobs WHERE address = :address")
            data = connection.scalar(query, {"address": address})
        return bytes(unchanged(data, address, "database"))

    def part(self, address: str, start: int, end: int) -> bytes:
        query = text("SELECT substring(data FROM :first FOR :count) FROM blobs WHERE address = :at")
        with self._engine.connect() as connection:
            fields = {"first": start + 1, "count": end - start, "at": address}
            data = connection.scalar(query, fields)
        return bytes(present(data, address, "database"))

    def size(self, address: str) -> int | None:
        with self._engine.connect() as connection:
            query = text("SELECT length(data) FROM blobs WHERE address = :address")
            length = connection.scalar(query, {"address": address})
        return None if length is None else int(length)

    def link(self, address: str, seconds: int) -> str | None:
        return None

    def place(self, address: str) -> str:
        return f"{address} in the database's table blobs"

    def delete(self, address: str) -> None:
        with self._engine.begin() as connection:
            # Another process may have added a document with the same bytes just now.
            query = text(
                "DELETE FROM blobs WHERE address = :address AND NOT EXISTS"
                " (SELECT 1 FROM interpretations WHERE original = :address)"
            )
            connection.execute(query, {"address": address})

    def addresses(self) -> Iterator[tuple[str, float]]:
        query = text("SELECT address, extract(epoch FROM now() - put_at) AS age FROM blobs")
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        for row in rows:
            yield row.address, float(row.age)


class RowSpool:
    def __init__(self, engine: Engine, most: int | None = None) -> None:
        """`most`: how many bytes all files may have together."""
        self._engine = engine
        self._most = most

    def keep(self, file: BinaryIO, *, limited: bool = True) -> str:
        data, name = file.read(), uuid4().hex
        with self._engine.begin() as connection:
            # Finding room and reserving it is one step, whoever else stores something at the same
            # time.
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ROOM})"))
            used = connection.scalar(text("SELECT coalesce(sum(size), 0) FROM incoming"))
            if limited:
                check_room(int(used or 0) + len(data), self._most)
            connection.execute(
                text("INSERT INTO incoming (name, data, size) VALUES (:name, :data, :size)"),
                {"name": name, "data": data, "size": len(data)},
            )
        return name

    def sizes(self) -> dict[str, int]:
        with self._engine.connect() as connection:
            rows = connection.execute(text("SELECT name, size FROM incoming")).all()
        return {row.name: int(row.size) for row in rows}

    def put_back(self, name: str, data: bytes) -> None:
        insertion = text(
            "INSERT INTO incoming (name, data, size) VALUES (:name, :data, :size)"
            " ON CONFLICT DO NOTHING"
        )
        with self._engine.begin() as connection:
            connection.execute(insertion, {"name": name, "data": data, "size": len(data)})

    def size(self, name: str) -> int:
        with self._engine.connect() as connection:
            query = text("SELECT size FROM incoming WHERE name = :name")
            return int(connection.scalar(query, {"name": name}) or 0)

    def read(self, name: str) -> bytes:
        with self._engine.connect() as connection:
            query = text("SELECT data FROM incoming WHERE name = :name")
            data = connection.scalar(query, {"name": name})
        if data is None:
            raise FileUnreadable("The upload is gone.", fix="Send it again.")
        return bytes(data)

    def drop(self, name: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(text("DELETE FROM incoming WHERE name = :name"), {"name": name})

    def sweep(self, needed: Collection[str], older: float) -> int:
        query = text(
            "DELETE FROM incoming WHERE NOT name = ANY(:needed)"
            " AND touched < clock_timestamp() - :older * interval '1 second'"
        )
        with self._engine.begin() as connection:
            values = {"needed": list(needed), "older": older}
            return connection.execute(query, values).rowcount


class RowShelf:
    """Judged sets: readers get a folder made from rows, writers turn the folder into rows."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def names(self) -> list[str]:
        with self._engine.connect() as connection:
            return list(connection.scalars(text("SELECT DISTINCT name FROM shelf ORDER BY name")))

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        query = text("SELECT file, data FROM shelf WHERE name = :name")
        with TemporaryDirectory(prefix="trivium-shelf-") as made:
            folder = Path(made) / name  # readers go by the folder's name
            with self._engine.connect() as connection:
                for row in connection.execute(query, {"name": name}).all():
                    path = folder / row.file
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(row.data)
            yield folder

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with self._engine.begin() as connection:
            connection.execute(text(f"SET LOCAL lock_timeout = {_PATIENCE}"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_SHELF})"))
            with self.reading(name) as folder:
                yield folder
                files = [path for path in folder.rglob("*") if path.is_file()]
                rows = [
                    {"name": name, "file": str(p.relative_to(folder)), "data": p.read_bytes()}
                    for p in files
                ]
            connection.execute(text("DELETE FROM shelf WHERE name = :name"), {"name": name})
            if rows:
                connection.execute(text("INSERT INTO shelf VALUES (:name, :file, :data)"), rows)
