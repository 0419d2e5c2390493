"""Copies a library's rows from one database to another: ids, history and jobs stay the same.

Rows go in the order of their keys, so that an interrupted copy continues where it stopped. Derived
data isn't copied. Knows nothing of which databases they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table, func, select, tuple_

from trivium.store.sql.statements import insert_all
from trivium.store.sql.tables import (
    counters,
    known_terms,
    known_words,
    leftovers,
    metadata,
    settings,
)

ROWS = 2_000  # in one transaction
Copied = Callable[[str, int, int], None]  # table, rows done, of how many

# `settings` and `counters` are last: if they are there, everything else is. Tables that others name
# come first; rows of indexes are made again.
LAST: tuple[Table, ...] = (counters, settings)
_MADE_AGAIN = (known_terms, known_words, leftovers)
TABLES: tuple[Table, ...] = tuple(
    table for table in metadata.sorted_tables if table not in (*LAST, *_MADE_AGAIN)
)


def key_of(table: Table) -> list[Column[Any]]:
    """The columns that order a table's rows and identify them."""
    return list(table.primary_key.columns) or list(table.columns)


def count(connection: Connection, table: Table) -> int:
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def pages(
    connection: Connection, table: Table, after: Sequence[Any] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Rows above a key, in order, some at a time."""
    key = key_of(table)
    while True:
        query = select(table).order_by(*key).limit(ROWS)
        if after is not None:
            query = query.where(tuple_(*key) > tuple_(*after))
        rows = [dict(row) for row in connection.execute(query).mappings()]
        if not rows:
            return
        yield rows
        after = [rows[-1][column.name] for column in key]


def copy_table(
    source: Connection, target: Connection, table: Table, copied: Copied = lambda *_: None
) -> None:
    """Bring a table of the target up to the source's. The target commits page by page."""
    total = count(source, table)
    done = count(target, table)
    last = None
    if not table.primary_key.columns:  # `fields`: nothing shows where it stopped
        target.execute(table.delete())
        done = 0
    elif done:
        key = key_of(table)
        query = select(*key).order_by(*(column.desc() for column in key)).limit(1)
        row = target.execute(query).first()
        last = None if row is None else list(row)
    copied(table.name, done, total)
    for rows in pages(source, table, last):
        insert_all(target, table, rows)
        target.commit()
        done += len(rows)
        copied(table.name, done, total)
    target.commit()
