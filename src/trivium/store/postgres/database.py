"""Opens a PostgreSQL database and turns its complaints into Trivium's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError

from trivium.errors import (
    DatabaseAway,
    DatabaseRefused,
    DatabaseSlow,
    DatabaseUnsuitable,
    DiskFull,
    LibraryBusy,
    LibraryNotFound,
    LibraryReadOnly,
    StoreError,
)
from trivium.store.postgres.address import Address

T = TypeVar("T")
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 300  # no search takes so long; a merge or a build sets its own
_ATTEMPTS = 5  # at a change that another one crossed
# What a search sees of the graph before it is filtered: measured for recall, see decision 008.
_OPTIONS = (
    "-c hnsw.iterative_scan=relaxed_order -c hnsw.ef_search={ef} -c hnsw.max_scan_tuples=100000"
    " -c statement_timeout={seconds}s -c jit=off -c search_path={schema},public"
)
EF_SEARCH = 400


class Crossed(LibraryBusy):
    """Two changes of the same rows at the same time: this one is to be tried again."""

    fix = "Try again."


# By PostgreSQL's code: what to raise, the sentence, and what to do where the kind doesn't say.
_TOLD: dict[str, tuple[type[StoreError], str, str | None]] = {
    "40001": (Crossed, "Another change crossed this one.", None),
    "40P01": (Crossed, "Another change crossed this one.", None),
    "55P03": (LibraryBusy, "Another process is changing the same thing.", "Try again."),
    "28P01": (DatabaseRefused, "The database refused the user or password: {said}.", None),
    "28000": (DatabaseRefused, "The database refused the user or password: {said}.", None),
    "42501": (
        LibraryReadOnly,
        "The database user {user} may not do this: {said}.",
        "Use a role with the rights that docs/postgresql.md lists.",
    ),
    "25006": (
        LibraryReadOnly,
        "This database server only reads: it is a replica.",
        "Name the primary server.",
    ),
    "57014": (DatabaseSlow, "The database stopped a statement that took too long.", None),
    "53100": (DiskFull, "The database's disk is full.", None),
    "53300": (LibraryBusy, "The database has no free connection.", "Try again."),
    "58P01": (DatabaseUnsuitable, "The database lacks a file: {said}.", ""),
}


def open_database(address: Address) -> Engine:
    """Connections are made when they are needed and looked at before they are used again, so that
    a restart of the server costs no request."""
    options = _OPTIONS.format(ef=EF_SEARCH, seconds=STATEMENT_SECONDS, schema=address.schema)
    engine = create_engine(
        address.url,
        pool_size=10,
        max_overflow=30,
        pool_timeout=30,
        pool_pre_ping=True,
        hide_parameters=True,  # what a statement was given is text of documents
        connect_args={
            "options": options,
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "trivium",
        },
    )

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        if isinstance(error, DBAPIError):
            told = _of_postgres(error, address)
            if told is not None:
                raise told from error

    return engine


def retried(change: Callable[[], T]) -> T:
    """A change that is one transaction, tried again where another one crossed it."""
    for attempt in range(_ATTEMPTS):
        try:
            return change()
        except (Crossed, IntegrityError):
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _of_postgres(error: DBAPIError, address: Address) -> StoreError | None:
    """None: a value or a statement is wrong, and the database is well."""
    state = getattr(error.orig, "sqlstate", None) or ""
    said = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no reason given"
    if state == "3D000":
        return LibraryNotFound(
            f"There is no database {address.url.database} on the server.",
            fix=f"Make it: createdb {address.url.database}.",
            on_page="Whoever runs this server must make the database.",
        )
    if state in _TOLD:
        kind, told, fix = _TOLD[state]
        return kind(told.format(said=said, user=address.url.username), fix=fix)
    lost = state[:2] in ("08", "57") or error.connection_invalidated
    if lost or (not state and type(error).__name__ in ("OperationalError", "InterfaceError")):
        return DatabaseAway(f"The database can't be reached: {said}.")
    return None
