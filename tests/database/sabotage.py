"""Makes things go wrong inside a database server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection, text
from tests import postgres

KILL = "PERFORM pg_terminate_backend(pg_backend_pid());"
CANCEL = "PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(5);"


@contextmanager
def sabotage(
    schema: str,
    table: str,
    body: str,
    as_owner: Callable[[], AbstractContextManager[Connection]] = postgres.as_owner,
) -> Iterator[None]:
    """Something that happens inside the server whenever a row comes into a table."""
    with as_owner() as connection:
        connection.execute(
            text(
                f"CREATE FUNCTION {schema}.sabotage() RETURNS trigger LANGUAGE plpgsql AS"
                f" $$BEGIN {body} RETURN NEW; END$$"
            )
        )
        connection.execute(
            text(
                f"CREATE TRIGGER sabotage BEFORE INSERT ON {schema}.{table}"
                f" FOR EACH ROW EXECUTE FUNCTION {schema}.sabotage()"
            )
        )
    try:
        yield
    finally:
        with as_owner() as connection:
            connection.execute(text(f"DROP FUNCTION {schema}.sabotage() CASCADE"))
