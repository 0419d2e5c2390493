"""What one process does alone, as rows that expire: the holder renews its row every few seconds.

Rows outlive a restart of the server, and a process that dies loses its rows within `LIFE` seconds.
The database's clock decides.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from uuid import uuid4

from sqlalchemy import Engine, text

from trivium.core.errors import LibraryBusy, StoreError
from trivium.ports import Waiting

LIFE = 15.0  # seconds
_BEATS = 3  # per life of a lease: two may be missed
_KEPT = 3600.0  # seconds that an expired lease is kept: its holder may only be suspended
_FAREWELL = 10.0  # seconds, as long as a connection may take
_LOOK = 0.25  # seconds between two looks at a lease that another process has
_TAKE = text(
    "INSERT INTO leases (name, owner, doing, until)"
    " VALUES (:name, :owner, :doing, clock_timestamp() + :life * interval '1 second')"
    " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, doing = excluded.doing,"
    " until = excluded.until WHERE leases.until < clock_timestamp() RETURNING name"
)
_RENEW = text(
    "UPDATE leases SET until = clock_timestamp() + :life * interval '1 second'"
    " WHERE owner = ANY(:owners)"
)
_COUNT = text(
    "SELECT count(*) FROM leases WHERE starts_with(name, :beginning) AND until >= clock_timestamp()"
)
_RELEASE = text(
    "DELETE FROM leases WHERE owner = :owner"
    " OR until < clock_timestamp() - :kept * interval '1 second'"
)


class RowLeases:
    def __init__(self, engine: Engine, wait: float, life: float = LIFE) -> None:
        """`wait`: how many seconds to wait by default. `life`: how many seconds a lease lasts if
        its holder says nothing."""
        self._engine = engine
        self._wait = wait
        self._life = life
        self._place = f"{socket.gethostname()}:{os.getpid()}"
        self._owners: set[str] = set()
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._beating: threading.Thread | None = None

    @contextmanager
    def hold(
        self,
        name: str,
        doing: str,
        *,
        waiting: Waiting | None = None,
        patience: float | None = None,
    ) -> Iterator[None]:
        seconds = self._wait if patience is None else patience
        owner = f"{self._place}:{uuid4().hex}"
        until, has_told = monotonic() + seconds, False
        while not self._take(name, owner, doing):
            if waiting and not has_told:
                waiting(f"Another process is {doing}; waiting for it to finish.")
                has_told = True
            if monotonic() >= until:
                raise LibraryBusy(f"Another process has been {doing} for {seconds:.0f} s.")
            self._closed.wait(min(_LOOK, max(0.0, until - monotonic())))
        with self._turn:
            self._owners.add(owner)
            self._beat()
        try:
            yield
        finally:
            with self._turn:
                self._owners.discard(owner)
            with suppress(StoreError):  # the server is away: the lease expires by itself
                self._release(owner)

    def is_held(self, name: str) -> bool:
        query = text("SELECT 1 FROM leases WHERE name = :name AND until >= clock_timestamp()")
        with self._engine.connect() as connection:
            return connection.scalar(query, {"name": name}) is not None

    def count_held(self, beginning: str) -> int:
        with self._engine.connect() as connection:
            return int(connection.scalar(_COUNT, {"beginning": beginning}) or 0)

    def close(self) -> None:
        """A heartbeat still under way would return its connection to a closed pool."""
        self._closed.set()
        beating = self._beating
        if beating is not None:
            beating.join(_FAREWELL)

    def _take(self, name: str, owner: str, doing: str) -> bool:
        values = {"name": name, "owner": owner, "doing": doing, "life": self._life}
        with self._engine.begin() as connection:
            return connection.scalar(_TAKE, values) is not None

    def _release(self, owner: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(_RELEASE, {"owner": owner, "kept": _KEPT})

    def _beat(self) -> None:
        """One thread renews all leases of this process, as long as there are any."""
        if self._beating is None or not self._beating.is_alive():
            self._beating = threading.Thread(target=self._renew, name="leases", daemon=True)
            self._beating.start()

    def _renew(self) -> None:
        while not self._closed.wait(self._life / _BEATS):
            with self._turn:
                owners = list(self._owners)
                if not owners:
                    self._beating = None
                    return
            with suppress(StoreError), self._engine.begin() as connection:  # or at the next beat
                connection.execute(_RENEW, {"owners": owners, "life": self._life})
