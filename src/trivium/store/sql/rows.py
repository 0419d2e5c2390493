"""Rows of the registry's tables from and to the nouns of `trivium.core.types`, and to what search
indexes take up; with a checksum for each row, so that `doctor --deep` notices a changed bit.

CRC-32 finds every run of up to 32 changed bits. It takes 17 µs a passage and 1.5 µs a vector on a
busy machine, where adding a passage takes milliseconds.
It is against rot, not against people. NULL means unknown: a row from before there were checksums.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, select, update

from trivium.core.history import Interpretation
from trivium.core.types import (
    Box,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    HeadingStart,
    Metadata,
    MetaValue,
    PageStart,
    Place,
    Processed,
    Speaker,
)
from trivium.store.sql.tables import (
    FOLDED_SHEET,
    chunks,
    documents,
    embeddings,
    interpretations,
    token_vectors,
)
from trivium.store.where import comparable_text, kind_of, name_of, texts_and_numbers
from trivium.text.nearness import sketch
from trivium.text.values import clean_metadata

if TYPE_CHECKING:
    from trivium.core.types import Vector

# Columns of a document's row that a new active interpretation sets.
DOCUMENT_COLUMNS = (
    "id", "uri", "title", "collection", "category", "audience", "media_type", "language",
    "content_hash", "size", "interpretation", "fingerprint", "chunks", "added_at", "updated_at",
    "original", "seen_hash", "seen_fingerprint", "sender",
)  # fmt: skip
# Columns of a chunk's row, in the order of the fields of `Chunk`.
CHUNK_COLUMNS = (
    "position", "start", "end", "text", "headings", "section", "header", "paragraph", "tokens",
    "place",
)  # fmt: skip

# And what its checksum needs besides.
CHECKED_COLUMNS = (*CHUNK_COLUMNS, "embedding", "checksum")

_NOWHERE = Place()
T = TypeVar("T")


def document_of(row: RowMapping | Mapping[str, Any], prefix: str = "") -> Document:
    values = {name: row[prefix + name] for name in DOCUMENT_COLUMNS}
    return Document(
        **values, metadata=metadata_of(row[prefix + "metadata"]), names=tuple(row[prefix + "names"])
    )


def chunk_of(row: RowMapping | Mapping[str, Any]) -> Chunk:
    return Chunk(
        index=row["position"],
        start=row["start"],
        end=row["end"],
        text=row["text"],
        headings=tuple(row["headings"]),
        section=row["section"],
        header=row["header"],
        paragraph=row["paragraph"],
        tokens=row["tokens"],
        place=place_of(row["place"]),
    )


def interpretation_of(row: RowMapping) -> Interpretation:
    metadata = metadata_of(row["metadata"])
    return noun_of(Interpretation, row, active=row["state"] == "active", metadata=metadata)


def noun_of(kind: Callable[..., T], row: RowMapping | Mapping[str, Any], **overrides: Any) -> T:
    """A dataclass from the columns of its fields' names; `overrides`: what a row says otherwise."""
    return kind(**{name: row[name] for name in _names(kind) if name in row} | overrides)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def name_values(uris: Sequence[str]) -> dict[str, Any]:
    """A document's names from its row: the first name, and the others."""
    first, *others = uris
    return {"uri": first, "name": comparable_text(name_of(first)), "names": others}


def _shared_values(processed: Processed) -> dict[str, Any]:
    """What the rows of a document and of its active interpretation both have."""
    extraction = processed.extraction
    return {
        "audience": processed.audience,
        "title": extraction.title,
        "media_type": extraction.media_type,
        "language": extraction.language,
        "content_hash": processed.content_hash,
        "size": processed.size,
        "fingerprint": processed.fingerprint,
        "chunks": len(processed.chunks),
        "metadata": metadata_values(processed.metadata),
        "original": processed.original,
    }


def document_values(processed: Processed) -> dict[str, Any]:
    """Everything about a document's row that a new interpretation decides."""
    return _shared_values(processed) | {
        "category": processed.category,
        "kind": kind_of(processed.extraction.media_type),
        "seen_hash": processed.content_hash,
        "seen_fingerprint": processed.fingerprint,
        "sender": processed.sender,
    }


def interpretation_values(processed: Processed) -> dict[str, Any]:
    """Everything about an interpretation's row but who and when."""
    extraction = processed.extraction
    return _shared_values(processed) | {
        "text": extraction.text,
        "summary": processed.summary,
        "summarised_by": processed.summarised_by,
        "restored_from": None,
        "elements": extraction.element_count,
        "tokens": sum(chunk.tokens for chunk in processed.chunks),
        "timings": dict(processed.timings),
        "sketch": extraction.chunked.sketch if extraction.chunked else sketch(extraction.text),
    }


def chunk_values(chunk: Chunk, embedding: str) -> dict[str, Any]:
    return {
        "position": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "headings": list(chunk.headings),
        "section": chunk.section,
        "header": chunk.header,
        "paragraph": chunk.paragraph,
        "place": _place_values(chunk.place),
        "tokens": chunk.tokens,
        "embedding": embedding,
    }


def _place_values(place: Place) -> dict[str, Any]:
    """Only known fields: most places are empty or a page."""
    if place == _NOWHERE:
        return {}
    filled = {name: value for name, value in asdict(place).items() if value}
    return {**filled, FOLDED_SHEET: comparable_text(place.sheet)} if place.sheet else filled


def place_of(stored: Mapping[str, Any]) -> Place:
    if not stored:
        return _NOWHERE
    return Place(
        pages=tuple(stored.get("pages", ())),
        boxes=tuple(Box(**box) for box in stored.get("boxes", ())),
        sheet=stored.get("sheet", ""),
        rows=tuple(stored["rows"]) if "rows" in stored else None,
        authors=tuple(stored.get("authors", ())),
        time=stored.get("time", ""),
        link=stored.get("link", ""),
        speakers=tuple(Speaker(**speaker) for speaker in stored.get("speakers", ())),
        page_starts=tuple(PageStart(**page) for page in stored.get("page_starts", ())),
        heading_starts=tuple(
            HeadingStart(at["start"], tuple(at["path"])) for at in stored.get("heading_starts", ())
        ),
        seconds=tuple(stored["seconds"]) if "seconds" in stored else None,
        spoken=tuple((start, second) for start, second in stored.get("spoken", ())),
    )


def field_values(document: int, metadata: Metadata) -> list[dict[str, Any]]:
    return [
        {"document": document, "name": name, "text": text, "number": number}
        for name, value in metadata.items()
        for text, number in texts_and_numbers(value)
    ]


def metadata_values(metadata: Metadata) -> dict[str, Any]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in metadata.items()}


def metadata_of(stored: Mapping[str, Any]) -> dict[str, MetaValue]:
    """Libraries of earlier releases may hold values that are refused today, such as NaN."""
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in stored.items()}
    # Floats alone can be what is wrong. They are rare, and cleaning takes ten times as long.
    types = {kind for v in values.values() for kind in map(type, v if type(v) is tuple else (v,))}
    return dict(clean_metadata(values)[0]) if float in types else values


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
    query = select(table).where(which).with_for_update()
    for row in connection.execute(query).mappings().all():
        new = {**values, CHECKSUM: changed_checksum(table, row, values)}
        mine = which & (table.c.id == row["id"])  # with `which`, so that one node is asked
        connection.execute(update(table).where(mine).values(**new))


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as an index takes it up."""

    id: ChunkId
    document: DocumentId
    language: str
    text: str  # context and passage
    vector: Vector | None


def searched_text(chunk: Chunk) -> str:
    """The text for the keyword and trigram signals: the headings above a passage count too."""
    return f"{chunk.context}\n{chunk.text}"
