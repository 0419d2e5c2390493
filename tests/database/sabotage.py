"""Makes things go wrong inside a database server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from tests import postgres

KILL = "PERFORM pg_terminate_backend(pg_backend_pid());"
CANCEL = "PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(5);"


@contextmanager
def sabotage(schema: str, table: str, body: str) -> Iterator[None]:
    """Something that happens inside the server whenever a row comes into a table."""
    with postgres.as_owner() as connection:
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
        with postgres.as_owner() as connection:
            connection.execute(text(f"DROP FUNCTION {schema}.sabotage() CASCADE"))
