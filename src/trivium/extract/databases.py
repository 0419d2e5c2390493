"""Reads files of tables that programs write: SQLite, dBASE (DBF) and Parquet, under limits.

A table is a sheet, as in a workbook. Knows nothing of relations between tables.
"""

from __future__ import annotations

import io
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice

from trivium.core.errors import FileDamaged, FileEmpty, FormatUnknown
from trivium.core.types import Extraction, Kind, MetaValue
from trivium.extract.charsets import encoding_of
from trivium.extract.composer import Composer
from trivium.extract.sheets import SheetWriter
from trivium.ports import Blob, reads

MAX_TABLES = 500
MAX_ROWS = 200_000  # of one file: some 30,000 passages; a log of years has more than anybody asks
MAX_CELL = 2_000  # characters
_SQLITE = b"SQLite format 3\x00"
_DBF_VERSIONS = frozenset(b"\x02\x03\x04\x05\x30\x31\x32\x43\x63\x83\x8b\x8c\xcb\xf5")
# By the byte of the head that names it: DOS's by country, Windows' and Apple's. Without one the
# text itself is looked at, as programs of the web write UTF-8 and set none.
_CODE_PAGES = {
    "cp437": b"\x01\x09\x0b\x0d\x0f\x11\x15\x18\x19\x1b",
    "cp850": b"\x02\x0a\x0e\x10\x12\x14\x16\x1a\x1d\x25\x37",
    "cp852": b"\x1f\x22\x23\x40\x64\x87", "cp737": b"\x6a", "cp857": b"\x6b\x88", "cp860": b"\x24",
    "cp861": b"\x67", "cp863": b"\x1c\x6c", "cp865": b"\x08\x17\x66", "cp866": b"\x26\x65",
    "cp874": b"\x50\x7c", "cp932": b"\x13\x7b", "gbk": b"\x4d\x7a", "cp949": b"\x4e\x79",
    "cp950": b"\x4f\x78", "cp1250": b"\xc8", "cp1251": b"\xc9", "cp1252": b"\x03\x57\x58\x59",
    "cp1253": b"\xcb", "cp1254": b"\xca", "cp1255": b"\x7d", "cp1256": b"\x7e", "cp1257": b"\xcc",
    "mac_roman": b"\x04", "mac_cyrillic": b"\x96", "mac_latin2": b"\x97", "mac_greek": b"\x98",
}  # fmt: skip
_UTF8 = 0xF0
_VISUAL_FOXPRO = b"\x30\x31\x32"
_SAMPLE = 200_000  # bytes of records in which the table of characters is looked for
_ONLY_A_TIME = "1899-12-30"  # the day of times without a day
_JULIAN_DAY_0 = 1_721_425  # of datetime's day 0

Rows = Iterator[Sequence[object]]


@reads("database/2", lambda blob: bool(_kind(blob)))
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
            first_rows = islice(rows, max(0, MAX_ROWS - written))
            writer.write(enumerate(tuple(map(_cell, row)) for row in chain([names], first_rows)))
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


@dataclass(frozen=True, slots=True)
class _Column:
    name: bytes
    kind: str
    width: int
    decimals: int = 0


def _dbf(blob: Blob) -> Iterator[tuple[str, Sequence[str], Rows]]:
    """The head says how many records there are, where they begin, and how long each is."""
    data = blob.data
    if data[0] == 2:  # dBASE II
        (count,), (size,), head = _numbers("<H", data, 1), _numbers("<H", data, 6), 521
        columns = _columns(data, 8, head, "<11scB", 16)
    else:
        count, head, size = _numbers("<IHH", data, 4)
        is_seven = data[0] & 7 == 4
        form = "<32scBB" if is_seven else "<11sc4xBB"
        columns = _columns(data, 68 if is_seven else 32, head, form, 48 if is_seven else 32)
    if not columns or size < 1:
        raise FileEmpty(f"{blob.name} is a dBASE table without columns.")
    if sum(column.width for column in columns) >= size + 1:
        raise FileDamaged(f"{blob.name} is a dBASE table with a damaged head.")
    encoding = _dbf_encoding(data, head, columns)
    is_fox = data[0] in _VISUAL_FOXPRO

    def rows() -> Rows:
        for start in range(head, min(len(data), head + count * size), size):
            if data[start : start + 1] == b"*":  # deleted
                continue
            cells, at = [], start + 1
            for column in columns:
                field = data[at : at + column.width]
                at += column.width
                if column.kind != "0":  # which of the others are empty
                    cells.append(_dbf_value(column, field, encoding, is_fox))
            yield cells

    names = [column.name.decode(encoding, "replace") for column in columns if column.kind != "0"]
    yield "", names, rows()


def _numbers(form: str, data: bytes, at: int) -> tuple[int, ...]:
    return struct.unpack_from(form, data, at)


def _columns(data: bytes, at: int, end: int, form: str, step: int) -> list[_Column]:
    columns = []
    while at + step <= min(end, len(data)) and data[at] != 0x0D:
        name, kind, width, *decimals = struct.unpack_from(form, data, at)
        columns.append(_Column(name.split(b"\x00")[0], kind.decode("latin-1"), width, *decimals))
        at += step
    return columns


def _dbf_encoding(data: bytes, head: int, columns: Sequence[_Column]) -> str:
    mark = data[29] if data[0] != 2 else 0
    if mark == _UTF8:
        return "utf-8"
    for name, marks in _CODE_PAGES.items():
        if mark in marks:
            return name
    size = 1 + sum(column.width for column in columns)
    texts = [b" ".join(column.name for column in columns)]
    for start in range(head, min(len(data), head + _SAMPLE), size):
        at = start + 1
        for column in columns:
            if column.kind == "C":
                texts.append(data[at : at + column.width].strip(b" \x00"))
            at += column.width
    encoding = encoding_of(b"\n".join(text for text in texts if not text.isascii()) or b"a")
    return "utf-8" if encoding.startswith("utf") else encoding


def _dbf_value(column: _Column, field: bytes, encoding: str, is_fox: bool) -> str:
    kind = column.kind
    if kind in "IBYT@O+" and (is_fox or kind in "@O+" or (kind == "I" and len(field) == 4)):
        return _dbf_number(column, field, is_fox)
    text = field.decode(encoding, "replace").strip(" \x00\r\n\t")
    if kind == "D":
        is_date = len(text) == 8 and text.isascii() and text.isdecimal()
        if is_date:
            return f"{text[:4]}-{text[4:6]}-{text[6:]}" if text.strip("0") else ""
        return text
    if kind == "L":
        return {"T": "yes", "Y": "yes", "F": "no", "N": "no"}.get(text.upper(), "")
    if kind in "NF" and not text.strip("*"):  # too wide for its column
        return ""
    return text if kind in "CNFV" else ""  # notes are in another file


def _dbf_number(column: _Column, field: bytes, is_fox: bool) -> str:
    """A value that is no text: numbers, money and times of FoxPro and dBASE 7."""
    if len(field) < column.width:  # the file ends amid it
        return ""
    try:
        if column.kind in "I+":
            if is_fox:
                return str(int.from_bytes(field, "little", signed=True))
            return str(int.from_bytes(bytes((field[0] ^ 0x80,)) + field[1:], "big", signed=True))
        if column.kind == "Y":
            return f"{int.from_bytes(field, 'little', signed=True) / 10_000:.2f}"
        if column.kind in "BO":
            if is_fox:
                return f"{struct.unpack('<d', field)[0]:.{column.decimals}f}"
            # The sign is turned round, and a negative number's other bits too, so that bytes sort.
            turned = bytes(byte ^ 0xFF for byte in field) if field[0] < 0x80 else field
            value = struct.unpack(">d", bytes((turned[0] & 0x7F,)) + turned[1:])[0]
            return f"{-value if field[0] < 0x80 else value:.{min(column.decimals, 15)}f}"
        day, thousandths = struct.unpack("<ii", field)
        if not day:
            return ""
        seconds = timedelta(seconds=round(thousandths / 1000))  # FoxPro writes 13:35:38.999
        date, time = str(datetime.fromordinal(day - _JULIAN_DAY_0) + seconds).split()
        return time if date == _ONLY_A_TIME else f"{date} {time}"
    except (IndexError, OverflowError, ValueError, struct.error):
        return ""


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
