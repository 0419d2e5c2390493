"""Hears about jobs that other processes add, as soon as they do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from trivium.core.errors import StoreError
from trivium.store.postgres.address import Address

log = logging.getLogger("trivium.postgres")
_LOOK = 1.0  # seconds between two checks whether to stop
_AGAIN = 5.0  # seconds before a lost connection is opened again


@contextmanager
def listening(engine: Engine, address: Address, wake: Callable[[], None]) -> Iterator[None]:
    """A thread with its own connection. If it is lost, it opens another one."""
    stop = Event()
    thread = Thread(target=_listen, args=(engine, address, wake, stop), name="listening")
    thread.daemon = True
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _listen(engine: Engine, address: Address, wake: Callable[[], None], stop: Event) -> None:
    import psycopg

    while not stop.is_set():
        try:
            with engine.connect() as connection:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                driver: Any = connection.connection.driver_connection
                driver.execute(f"LISTEN trivium_{address.schema}")
                try:
                    while not stop.is_set():
                        for _ in driver.notifies(timeout=_LOOK, stop_after=1):
                            wake()
                finally:
                    connection.invalidate()  # nobody else should get its notifications
        except (StoreError, DBAPIError, psycopg.Error) as error:
            log.warning("Not listening for jobs: %s", error)
            stop.wait(_AGAIN)
