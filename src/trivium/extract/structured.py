"""Reads JSON and JSON Lines: records of equal shape as rows, all else as `name: value` lines.

Nesting is followed to a limit and written as dotted names. Knows nothing of particular schemas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Kind, Metadata, Place
from trivium.extract.composer import Composer
from trivium.extract.sheets import SheetWriter
from trivium.extract.sniff import binary_kind
from trivium.extract.text import MAX_TITLE_CHARS, decode
from trivium.ports import Blob, reads

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".geojson", ".jsonld", ""})
MAX_DEPTH = 30  # deeper values are written as JSON
MAX_ROW_CELL = 200  # characters; longer values read better under their names
MAX_ROW_FIELDS = 50
MIN_SHARED = 0.8  # of the fields that a table names, records have at least so many
LINES_TOGETHER = 40  # of one object in one paragraph

Record = dict[str, object]


def _is_json(blob: Blob) -> bool:
    head = blob.data[:256].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith((b"{", b"[")) or binary_kind(blob.data):
        return False
    if blob.suffix not in SUFFIXES:
        return False
    return head.startswith(b"{\\rtf") is False and _loads(decode(blob)) is not None


@reads("json/3", _is_json)
def read_json(blob: Blob) -> Extraction:
    """Takes texts that are JSON, or have a JSON object on every line."""
    loaded = _loads(decode(blob))
    if loaded is None:
        raise FileDamaged(f"{blob.name} isn't valid JSON, or is nested too deeply.")
    value, lines = loaded
    out = Composer(blob.name)
    media_type = "application/x-ndjson" if lines else "application/json"
    if isinstance(value, list) and _is_table(value):
        return _table(out, blob, value, media_type)
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            place = Place(rows=(number, number))
            out.add("paragraph", "\n".join(flatten(item)), place=place)
    elif isinstance(value, dict):
        _object(out, value, 1)
    else:
        out.add("paragraph", _scalar(value))
    return out.finish(blob, titles=_titles(value), media_type=media_type, metadata=_count(value))


def flatten(value: object, path: str = "", depth: int = 0) -> Iterator[str]:
    """A value as lines, each with its dotted name."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for name, inner in value.items():
            yield from flatten(inner, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH:
        if all(not isinstance(item, dict | list) for item in value):
            line = ", ".join(text for text in map(_scalar, value) if text)
            yield from flatten(line, path, MAX_DEPTH)
        else:
            for number, item in enumerate(value, start=1):
                yield from flatten(item, f"{path}.{number}" if path else str(number), depth + 1)
    elif text := _scalar(value):
        yield f"{path}: {text}" if path else text


def _object(out: Composer, value: Record, level: int) -> None:
    """Plain fields first, then each field that holds more under its name."""
    lines: list[str] = []
    larger: list[tuple[str, object]] = []
    for name, inner in value.items():
        if isinstance(inner, dict | list) and len(list(flatten(inner))) > 1:
            larger.append((name, inner))
        else:
            lines.extend(flatten(inner, name))
    _paragraphs(out, lines)
    for name, inner in larger:
        out.heading(level, name)
        if isinstance(inner, dict) and level < 3:
            _object(out, inner, level + 1)
        elif isinstance(inner, list):
            for item in inner:
                _paragraphs(out, list(flatten(item)))
        else:
            _paragraphs(out, list(flatten(inner)))
        out.leave(level)


def _paragraphs(out: Composer, lines: list[str]) -> None:
    for start in range(0, len(lines), LINES_TOGETHER):
        out.add("paragraph", "\n".join(lines[start : start + LINES_TOGETHER]))


def _table(out: Composer, blob: Blob, records: list[Record], media_type: str) -> Extraction:
    names = list(dict.fromkeys(name for record in records for name in record))
    rows = [names, *([_scalar(record.get(name)) for name in names] for record in records)]
    # The header is a separate row: records keep the numbers of their lines.
    SheetWriter(out, blob.name).write(enumerate(rows))
    return out.finish(blob, media_type=media_type, metadata={"rows": len(records)}, kind=Kind.TABLE)


def _is_table(records: list[object]) -> bool:
    """Flat records of the same short fields."""
    if len(records) < 2 or not all(isinstance(record, dict) and record for record in records):
        return False
    flat = [record for record in records if isinstance(record, dict)]
    names = {name for record in flat for name in record}
    filled = sum(len(record) for record in flat)
    if not 2 <= len(names) <= MAX_ROW_FIELDS or filled < MIN_SHARED * len(names) * len(flat):
        return False
    return all(
        not isinstance(value, dict | list) and len(str(value)) <= MAX_ROW_CELL
        for record in flat
        for value in record.values()
    )


def _loads(text: str) -> tuple[object, bool] | None:
    """The value, and whether it came line by line; None when it is no JSON."""
    try:
        return json.loads(text), False
    except (ValueError, RecursionError):
        pass
    try:
        values = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return None
    return (values, True) if len(values) > 1 else None


def _scalar(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else json.dumps(value, default=str)


def _titles(value: object) -> list[str]:
    """What may be its title: its own, that of a part of it (`metadata`), its name."""
    if not isinstance(value, dict):
        return []
    parts = (value, *(part for part in value.values() if isinstance(part, dict)))
    titles = [*(part.get("title") for part in parts), value.get("name")]
    return [title for title in titles if isinstance(title, str) and len(title) <= MAX_TITLE_CHARS]


def _count(value: object) -> Metadata:
    return {"records": len(value)} if isinstance(value, list) else {}
