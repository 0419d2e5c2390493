"""A checksum for each row, written with it, so that `doctor --deep` notices a changed bit.

CRC-32 finds every run of up to 32 changed bits. It takes 17 µs a passage and 1.5 µs a vector on a
busy machine, where adding a passage takes milliseconds.
It is against rot, not against people. NULL means unknown: a row from before there were checksums.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, select, update

from trivium.store.sql.tables import chunks, documents, embeddings, interpretations, token_vectors

Row = Mapping[str, Any] | RowMapping
CHECKSUM = "checksum"
# Leaves out columns that change while the row stays the same, and the sketch, which is derived.
# `contradictions` covers states, and SQLite's integrity check everything with an index.
_LEFT_OUT = {
    documents: {"interpretation", "changed", CHECKSUM},
    interpretations: {"state", "retired_at", "sketch", CHECKSUM},
    chunks: {"id", "interpretation", CHECKSUM},  # a restored interpretation copies the rest
}
_COVERED = {
    table: [c.name for c in table.columns if c.name not in {*left_out, "text"}]
    for table, left_out in _LEFT_OUT.items()
}
_BYTES = {embeddings: "vector", token_vectors: "vectors"}
CHECKED: tuple[Table, ...] = (*_LEFT_OUT, *_BYTES)


def checksum(table: Table, row: Row) -> int:
    """Of a row's values, as they are given to the database or as they come back."""
    if table in _BYTES:
        return crc32(row[_BYTES[table]])
    named = crc32(json.dumps([row[name] for name in _COVERED[table]]).encode())
    return crc32(row["text"].encode("utf-8", "surrogatepass"), named) if "text" in row else named


def is_sound(table: Table, row: Row) -> bool:
    return row[CHECKSUM] is None or row[CHECKSUM] == checksum(table, row)


def passage_check(row: Row, document: int) -> Callable[[], bool]:
    """Whether a passage's row is sound, computed when it is asked: only what is shown is looked at,
    11 µs a passage."""
    return lambda: is_sound(chunks, {**row, "document": document})


def changed_checksum(table: Table, row: Row, values: Mapping[str, Any]) -> int:
    """The checksum of a row with new values. A damaged row keeps its old checksum, so that the
    change doesn't vouch for the rest of it."""
    new: dict[str, Any] = {**row, **values}
    if is_sound(table, row) or values.keys() >= {*_COVERED[table]}:
        return checksum(table, new)
    return int(row[CHECKSUM])


def change(
    connection: Connection, table: Table, which: ColumnElement[bool], values: Mapping[str, Any]
) -> None:
    """Update the rows of a table with an id, and their checksums."""
    held = select(table).where(which).with_for_update()
    for row in connection.execute(held).mappings().all():
        new = {**values, CHECKSUM: changed_checksum(table, row, values)}
        mine = which & (table.c.id == row["id"])  # with `which`, so that one node is asked
        connection.execute(update(table).where(mine).values(**new))
