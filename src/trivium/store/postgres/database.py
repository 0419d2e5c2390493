"""Opens a PostgreSQL database and turns its errors into Trivium's."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from select import POLLIN, poll
from struct import pack
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import ConnStatus, Format
from psycopg.pq.abc import PGconn
from sqlalchemy import URL, Connection, Engine, ExceptionContext, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as NoneFree
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from trivium.core.errors import (
    DatabaseAway,
    DatabaseRefused,
    DatabaseSlow,
    DatabaseUnsuitable,
    DiskFull,
    LibraryBusy,
    LibraryNotFound,
    LibraryReadOnly,
    LibraryTooNew,
    StoreError,
)
from trivium.store.postgres.address import Address

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector

T = TypeVar("T")
CONNECT_SECONDS = 10  # for one host, unless the address says otherwise
AT_ONCE, SPARE = 10, 30  # connections that a process keeps, and how many more it may open
STATEMENT_SECONDS = 300  # no search takes that long; merges and builds set their own limit
_ATTEMPTS = 5  # at a change that collides with another one
_UNUSED_SECONDS = 1  # a search uses five connections: checking each would cost five more messages
_OPTIONS = (
    "-c hnsw.iterative_scan=relaxed_order -c hnsw.max_scan_tuples=100000"
    " -c statement_timeout={seconds}s -c jit=off"
    # Settings of Citus; a server without it ignores them: the coordinator, which has the documents,
    # joins rows of nodes, and settings of a transaction apply on the nodes too. Four connections to
    # each node stay open: with one, every search of 8 shards on 2 nodes opened and closed others
    # (p50 278 ms and 163 of processor time; with four 108 and 64).
    " -c citus.local_table_join_policy=prefer-distributed -c citus.propagate_set_commands=local"
    " -c citus.max_cached_conns_per_worker=4"
)
# A network that fails says nothing: without these a search waits two hours for its answer.
_ALIVE = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",  # milliseconds
}

_BIGINT = 20  # PostgreSQL's number of the type
_READ_ONLY = "25006"
# What Citus says if a node is away: with a code for connections, as an "internal error" (XX000), or
# as an error of a disk (58030), which would blame the document.
_NODE_AWAY = re.compile(
    "(?i)remote node|connection marked as essential|failed to COPY to shard"
    "|could not connect to any active placement"
)


class Sent(bytes):
    """A value in PostgreSQL's binary format, of the type that the statement gives it."""


class _AsItIs(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


psycopg.adapters.register_dumper(Sent, _AsItIs)


def vector_sent(vector: Vector) -> Sent:
    """As text, 384 numbers take us 360 µs of processor time instead of 3."""
    return Sent(pack(">hh", len(vector), 0) + vector.astype(">f4").tobytes())


def ids_sent(ids: NDArray[np.int64]) -> Sent:
    """As text, 1,000 take 230 µs instead of 8; as a list of the driver's, five times as long."""
    items = np.empty(len(ids), dtype=[("size", ">i4"), ("id", ">i8")])
    items["size"], items["id"] = 8, ids
    return Sent(pack(">5i", 1, 0, _BIGINT, len(ids), 1) + items.tobytes())


class Crossed(LibraryBusy):
    """Two changes of the same rows at the same time: try this one again."""

    fix = "Try again."


# By PostgreSQL's code: the error to raise, its sentence, and the fix if the error's class has none.
_TOLD: dict[str, tuple[type[StoreError], str, str | None]] = {
    "40001": (Crossed, "Another change got in the way of this one.", None),
    "40P01": (Crossed, "Another change got in the way of this one.", None),
    "55P03": (LibraryBusy, "Another process is changing the same thing.", "Try again."),
    "28P01": (DatabaseRefused, "The database refused the user or password: {said}.", None),
    "28000": (DatabaseRefused, "The database refused the user or password: {said}.", None),
    _READ_ONLY: (
        LibraryReadOnly,
        "You can only read the database: the server is a replica, or this user may not write.",
        "Name the primary server and a user who may write.",
    ),
    "57014": (DatabaseSlow, "The database stopped a statement that took too long.", None),
    "53100": (DiskFull, "The database's disk is full.", None),
    "53300": (LibraryBusy, "The database has no free connection.", "Try again."),
    "42P01": (
        LibraryNotFound,
        "The database no longer has the library's tables: {said}.",
        "Check the database and schema in the library's address.",
    ),
    "42703": (
        LibraryTooNew,
        "A newer version of Trivium has changed the library's tables: {said}.",
        None,
    ),
    "58P01": (DatabaseUnsuitable, "The database has lost a file: {said}.", ""),
}


# Failed connections come as a sentence without a code. If it isn't in English, we still show it, as
# DatabaseAway.
_NOT_LET_IN = (
    (r"password authentication failed|no password supplied|no pg_hba.conf entry", "28P01"),
    (r'role ".*" (does not exist|is not permitted to log in)', "28P01"),
    (r'database ".*" does not exist', "3D000"),
    (r"permission denied for database", "42501"),
    (r"too many (clients|connections)|remaining connection slots", "53300"),
)


class _Pool(QueuePool):
    """If all connections are in use for too long, raises one of our errors."""

    def _do_get(self) -> ConnectionPoolEntry:
        try:
            return super()._do_get()
        except NoneFree as reason:
            raise LibraryBusy(
                "All connections of this process to the database are in use.", fix="Try again."
            ) from reason


# Otherwise it logs every connection under our own name, where notes of libraries don't belong.
logging.getLogger(f"{__name__}.{_Pool.__name__}").setLevel(logging.WARNING)


def open_database(address: Address, *, patience: int = CONNECT_SECONDS) -> Engine:
    """Opens connections when needed and checks them before reuse, so that a restart of the server
    fails no request. `patience`: how many seconds a connection may take."""
    engine = create_engine(
        # For errors, which name both; the password is only among the arguments.
        URL.create("postgresql+psycopg", username=address.user, database=address.database),
        poolclass=_Pool,
        pool_size=AT_ONCE,
        max_overflow=SPARE,
        pool_timeout=30,
        hide_parameters=True,  # the parameters are text of documents
        connect_args=_arguments(address, patience),
    )

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        if isinstance(error, DBAPIError):
            lost = error.connection_invalidated
            if getattr(error.orig, "sqlstate", "") == _READ_ONLY and len(address.hosts) > 1:
                context.is_disconnect = lost = True  # another host is the primary by now
            store_error = _of_postgres(error.orig, engine.url, lost=lost)
            if store_error is not None:
                raise store_error from error

    @event.listens_for(engine, "engine_connect")
    def in_transactions(connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if driver.autocommit:  # `one_read` leaves it so, for the next one
            driver.autocommit = False

    @event.listens_for(engine, "checkin")
    def note(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info["used"] = monotonic()

    @event.listens_for(engine, "checkout")
    def look(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        unused = monotonic() - record.info.get("used", inf)
        if not _is_there(connection.pgconn, ask=unused > _UNUSED_SECONDS):
            raise InvalidatePoolError  # the pool opens new ones

    return engine


def _arguments(address: Address, patience: int) -> dict[str, str]:
    """What the address says, and our own defaults. Of several hosts the primary is used, as `psql`
    does if it is told to."""
    options = _OPTIONS.format(seconds=STATEMENT_SECONDS)
    theirs = address.parts.get("options", "")
    chosen = {"target_session_attrs": "primary"} if len(address.hosts) > 1 else {}
    return {
        "application_name": "trivium",
        "connect_timeout": str(patience),
        **_ALIVE,
        **chosen,
        **address.parts,
        "options": f"{options} {theirs} -c search_path={address.schema},public",
    }


def _is_there(connection: PGconn, *, ask: bool) -> bool:
    """Whether the server still has its end. `ask`: send an empty statement, since a failed network
    says nothing; otherwise check only whether something waits to be read, such as a server's
    goodbye."""
    waiting = poll()
    try:
        waiting.register(connection.socket, POLLIN)
        if ask or waiting.poll(0):
            connection.exec_(b"")
    except psycopg.Error:
        return False
    return connection.status == ConnStatus.OK


@contextmanager
def direct(connection: Connection) -> Iterator[Any]:
    """A cursor of psycopg itself: for COPY, and for raw bytes. Its errors are translated like those
    of other statements."""
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor(binary=True) as cursor:
            yield cursor
    except psycopg.Error as error:
        _raise(error, connection.engine.url, connection if driver.closed else None)


def _raise(
    error: psycopg.Error, url: URL, lost: Connection | PoolProxiedConnection | None
) -> NoReturn:
    """Translated. `lost`: a connection that was closed."""
    if lost is not None:
        lost.invalidate(error)
    store_error = _of_postgres(error, url, lost=lost is not None)
    if store_error is None:
        raise error
    raise store_error from error


@contextmanager
def one_read(engine: Engine) -> Iterator[Any]:
    """A cursor of psycopg outside a transaction, to read one thing: a search does it four times,
    and SQLAlchemy's connections and transactions took a fifth of our own processor time."""
    pooled = None
    try:
        pooled = engine.raw_connection()
        driver: Any = pooled.driver_connection
        if not driver.autocommit:
            driver.autocommit = True
        with driver.cursor(binary=True) as cursor:
            yield cursor
    except psycopg.Error as error:
        _raise(error, engine.url, pooled if pooled is not None and driver.closed else None)
    finally:
        if pooled is not None:
            pooled.close()


def rows_of(engine: Engine, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """What a statement reads so."""
    with one_read(engine) as cursor:
        cursor.execute(text, values)
        return list(cursor.fetchall())


def retried(change: Callable[[], T]) -> T:
    """A change in one transaction; tried again if it collided with another one."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return change()
        except (Crossed, IntegrityError):
            continue
    try:
        return change()
    except IntegrityError as reason:
        raise Crossed("Another change got in the way of this one.") from reason


def _of_postgres(error: BaseException | None, url: URL, *, lost: bool) -> StoreError | None:
    """None: a value or a statement is wrong, and the database is fine."""
    state = getattr(error, "sqlstate", None) or ""
    lines = str(error).strip().splitlines()
    reason = lines[0].strip() if lines else "no reason given"
    if not state:
        state = next((code for words, code in _NOT_LET_IN if re.search(words, reason)), "")
    if state == "3D000":
        return LibraryNotFound(
            f"The server has no database {url.database}.",
            fix=f"Create it: createdb {url.database}.",
            on_page="Ask the person who runs this server to create the database.",
        )
    if state == "42501":
        return LibraryReadOnly(
            f"The database user {url.username} may not do this: {reason}.",
            fix="Use a role with the rights that docs/postgresql.md lists.",
            on_page="Ask the person who runs this server to give its database user more rights.",
        )
    if lost and state == _READ_ONLY:
        return DatabaseAway("The database server is no longer the primary.", fix="Try again.")
    if not state and re.search(r"^(connection is bad: )?invalid \S+ value", reason):
        return DatabaseUnsuitable(
            f"A part of the library's address has a wrong value: {reason}.",
            fix="Correct it: PostgreSQL's documentation lists the values of each part.",
        )
    if state in _TOLD:
        kind, text, fix = _TOLD[state]
        return kind(text.format(said=reason, user=url.username), fix=fix)
    of_node = _NODE_AWAY.search(reason) is not None
    gone = lost or of_node or state[:2] in ("08", "57")
    if gone or (not state and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)):
        server = "a node of the database" if of_node else "the database"
        return DatabaseAway(f"Couldn't reach {server}: {reason}.")
    return None
