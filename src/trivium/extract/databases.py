"""Reads files of tables that programs write: SQLite, dBASE (DBF) and Parquet, under limits.

A table is a sheet, as in a workbook. Knows nothing of relations between tables.
"""

from __future__ import annotations

import io
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, islice

from trivium.core.errors import FileDamaged, FormatUnknown
from trivium.core.types import Extraction, Kind, MetaValue
from trivium.extract.composer import Composer
from trivium.extract.sheets import SheetWriter
from trivium.ports import Blob, reads

MAX_TABLES = 500
MAX_ROWS = 200_000  # of one file: some 30,000 passages; a log of years has more than anybody asks
MAX_CELL = 2_000  # characters
_SQLITE = b"SQLite format 3\x00"
_DBF_VERSIONS = frozenset(b"\x02\x03\x04\x05\x30\x31\x32\x43\x63\x83\x8b\x8c\xcb\xf5")
_CODE_PAGES = {1: "cp437", 2: "cp850", 3: "cp1252", 0x57: "cp1252", 0x64: "cp852", 0x65: "cp866"}
_CODE_PAGES |= {0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254", 0xCB: "cp1253", 0x13: "cp932"}

Rows = Iterator[Sequence[object]]


@reads("database/1", lambda blob: bool(_kind(blob)))
def read_database(blob: Blob) -> Extraction:
    """Takes SQLite and Parquet by their first bytes, DBF by its head and name."""
    kind = _kind(blob)
    out = Composer(blob.name)
    left_out = written = 0
    tables = {"sqlite": _sqlite, "dbf": _dbf, "parquet": _parquet}[kind](blob)
    try:
        for name, names, rows in islice(tables, MAX_TABLES):
            if name:
                out.heading(2, name)
            writer = SheetWriter(out, blob.name, name)
            kept = islice(rows, max(0, MAX_ROWS - written))
            writer.write(enumerate(tuple(map(_cell, row)) for row in chain([names], kept)))
            written += writer.rows - 1
            left_out += sum(1 for _ in rows)
    except sqlite3.Error as reason:
        raise FileDamaged(f"{blob.name} is damaged: a table can't be read.") from reason
    metadata: dict[str, MetaValue] = {"rows": max(0, written)}
    if left_out:
        metadata["rows_left_out"] = left_out
    media_type = {
        "sqlite": "application/vnd.sqlite3",
        "dbf": "application/vnd.dbf",
        "parquet": "application/vnd.apache.parquet",
    }[kind]
    return out.finish(blob, media_type=media_type, metadata=metadata, kind=Kind.TABLE)


def _kind(blob: Blob) -> str:
    data = blob.data
    if data.startswith(_SQLITE):
        return "sqlite"
    if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        return "parquet"
    is_named = blob.suffix == ".dbf"
    return "dbf" if is_named and len(data) > 32 and data[0] in _DBF_VERSIONS else ""


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value):,} bytes)"
    return str(value)[:MAX_CELL]


def _sqlite(blob: Blob) -> Iterator[tuple[str, Sequence[str], Rows]]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(blob.data)
        database.execute("PRAGMA trusted_schema = OFF")
        tables = database.execute(
            "SELECT name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master"
            " WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ).fetchall()
        # A search index has tables of its own, which hold nothing that a person wrote.
        inner = tuple(f"{name}_" for name, is_virtual in tables if is_virtual)
        for name, is_virtual in tables:
            if is_virtual or (inner and name.startswith(inner)):
                continue
            quoted = name.replace('"', '""')
            rows = database.execute(f'SELECT * FROM "{quoted}"')
            yield name, [str(column[0]) for column in rows.description], rows


def _dbf(blob: Blob) -> Iterator[tuple[str, Sequence[str], Rows]]:
    data = blob.data
    count, head, size = struct.unpack_from("<IHH", data, 4)
    encoding = _CODE_PAGES.get(data[29], "cp1252")
    columns: list[tuple[str, str, int]] = []
    at = 32
    while at + 32 <= min(head, len(data)) and data[at] != 0x0D:
        name = data[at : at + 11].split(b"\x00")[0].decode(encoding, "replace")
        columns.append((name, chr(data[at + 11]), data[at + 16]))
        at += 32
    if not columns or size < 1 or sum(width for *_, width in columns) >= size + 1:
        raise FileDamaged(f"{blob.name} is a dBASE table with a damaged head.")

    def rows() -> Rows:
        for start in range(head, min(len(data), head + count * size), size):
            if data[start : start + 1] == b"*":  # deleted
                continue
            cells, at = [], start + 1
            for _, kind, width in columns:
                cells.append(_dbf_value(kind, data[at : at + width].decode(encoding, "replace")))
                at += width
            yield cells

    yield "", [name for name, *_ in columns], rows()


def _dbf_value(kind: str, text: str) -> str:
    text = text.strip(" \x00")
    if kind == "D" and len(text) == 8:
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    if kind == "L":
        return {"T": "yes", "Y": "yes", "F": "no", "N": "no"}.get(text.upper(), "")
    return text if kind in "CNFD" else ""  # notes are in another file


def _parquet(blob: Blob) -> Iterator[tuple[str, Sequence[str], Rows]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise FormatUnknown(
            f"{blob.name} is a Parquet table, and Trivium needs pyarrow to read it.",
            fix="Run `pip install pyarrow`, or export the table as CSV.",
            on_page="Export the table as CSV, or ask whoever runs this server to install it.",
        ) from None

    def rows() -> Rows:
        for batch in file.iter_batches(batch_size=1_000):
            yield from (tuple(row.values()) for row in batch.to_pylist())

    try:
        file = ParquetFile(io.BytesIO(blob.data))
        yield "", list(file.schema_arrow.names), rows()
    except ArrowException as reason:
        raise FileDamaged(f"{blob.name} is a Parquet table that can't be read.") from reason
