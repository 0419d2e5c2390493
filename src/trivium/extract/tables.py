"""Reads tables written as text: comma, semicolon, tab or bar between the cells.

The separator is found from the rows, not from the name. Knows nothing of spreadsheets.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from trivium.core.errors import FileDamaged, FileEmpty, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction, Kind
from trivium.extract.composer import Composer
from trivium.extract.sheets import MAX_COLUMNS, SheetWriter
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".psv"})
UNSURE = frozenset({"", ".txt", ".dat"})  # databases export with tabs under these names
SEPARATORS = ",;\t|"
SAMPLE_ROWS = 50
MAX_FIELD = 10_000_000  # characters of one cell
MIN_NAMELESS_ROWS = 3  # prose with a comma in every line is seldom that regular


def _is_table(blob: Blob) -> bool:
    if binary_kind(blob.data):
        return False
    suffix = blob.suffix
    if suffix not in UNSURE:
        return suffix in SUFFIXES
    if suffix and b"\t" not in blob.data[:4096]:
        return False
    try:
        head = decode(Blob(blob.name, blob.data[:65536]))
    except (FormatUnknown, FileEmpty):
        return False
    widths = [len(row) for row in _sample(head, "\t" if suffix else find_separator(head))][:-1]
    return len(widths) >= MIN_NAMELESS_ROWS and len(set(widths)) == 1 and widths[0] > 2


@reads("tables/4", _is_table)
def read_table(blob: Blob) -> Extraction:
    """Takes texts named as tables, and nameless ones whose rows all have the same cells."""
    text = decode(blob)
    separator = find_separator(text)
    _check_width(blob.name, text, separator)
    out = Composer(blob.name)
    writer = SheetWriter(out, blob.name)
    writer.write(_rows(text, separator, blob.name))
    return out.finish(
        blob,
        media_type="text/tab-separated-values" if separator == "\t" else "text/csv",
        metadata={"rows": writer.rows},
        kind=Kind.TABLE,
    )


def find_separator(text: str) -> str:
    """The separator that gives the most rows the same number of cells."""

    def regularity(separator: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in _sample(text, separator) if row)
        if not widths:
            return (0.0, 0)
        width, rows = max(widths.items(), key=lambda item: (item[1], item[0]))
        return (rows / widths.total(), width) if width > 1 else (0.0, 0)

    return max(SEPARATORS, key=regularity)


def _sample(text: str, separator: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(io.StringIO(text[:65536], newline=""), delimiter=separator):
            rows.append(row)
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:
        return []
    return rows


def _rows(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_FIELD)
    try:
        yield from enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator), 1)
    except csv.Error as reason:
        raise FileDamaged(f"{name} can't be read as a table: {reason}.") from reason


def _check_width(name: str, text: str, separator: str) -> None:
    """Before a line of a million cells is taken apart."""
    longest = max((line.count(separator) for line in text.split("\n")), default=0)
    if longest >= MAX_COLUMNS:
        raise FileTooLarge(
            f"{name} has a row of {longest + 1:,} columns; the limit is {MAX_COLUMNS:,}."
        )
