"""Rows of the registry's tables from and to the nouns of `trivium.core.types`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import RowMapping

from trivium.core.history import Interpretation
from trivium.core.types import (
    Box,
    Chunk,
    Document,
    HeadingStart,
    Metadata,
    MetaValue,
    PageStart,
    Place,
    Processed,
    Speaker,
)
from trivium.store.sql.tables import FOLDED_SHEET
from trivium.store.where import comparable_text, kind_of, name_of, texts_and_numbers
from trivium.text.nearness import sketch
from trivium.text.values import clean_metadata

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


def document_of(row: RowMapping | Mapping[str, Any], prefix: str = "") -> Document:
    held = {name: row[prefix + name] for name in DOCUMENT_COLUMNS}
    return Document(
        **held,
        metadata=metadata_of(row[prefix + "metadata"]),
        names=tuple(row[prefix + "names"]),
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
    return Interpretation(
        document=row["document"],
        number=row["number"],
        active=row["state"] == "active",
        title=row["title"],
        media_type=row["media_type"],
        language=row["language"],
        content_hash=row["content_hash"],
        size=row["size"],
        fingerprint=row["fingerprint"],
        elements=row["elements"],
        chunks=row["chunks"],
        tokens=row["tokens"],
        created_at=row["created_at"],
        retired_at=row["retired_at"],
        restored_from=row["restored_from"],
        original=row["original"],
        timings=row["timings"],
        metadata=metadata_of(row["metadata"]),
        audience=row["audience"],
    )


def name_values(uris: Sequence[str]) -> dict[str, Any]:
    """A document's names from its row: the first name, and the others."""
    first, *others = uris
    return {"uri": first, "name": comparable_text(name_of(first)), "names": others}


def document_values(processed: Processed) -> dict[str, Any]:
    """Everything about a document's row that a new interpretation decides."""
    extraction = processed.extraction
    return {
        "category": processed.category,
        "audience": processed.audience,
        "title": extraction.title,
        "media_type": extraction.media_type,
        "kind": kind_of(extraction.media_type),
        "language": extraction.language,
        "content_hash": processed.content_hash,
        "size": processed.size,
        "fingerprint": processed.fingerprint,
        "chunks": len(processed.chunks),
        "metadata": metadata_values(processed.metadata),
        "original": processed.original,
        "seen_hash": processed.content_hash,
        "seen_fingerprint": processed.fingerprint,
        "sender": processed.sender,
    }


def interpretation_values(processed: Processed) -> dict[str, Any]:
    """Everything about an interpretation's row but who and when."""
    extraction = processed.extraction
    return {
        "fingerprint": processed.fingerprint,
        "content_hash": processed.content_hash,
        "title": extraction.title,
        "language": extraction.language,
        "text": extraction.text,
        "chunks": len(processed.chunks),
        "summary": processed.summary,
        "summarised_by": processed.summarised_by,
        "restored_from": None,
        "media_type": extraction.media_type,
        "size": processed.size,
        "elements": extraction.element_count,
        "tokens": sum(chunk.tokens for chunk in processed.chunks),
        "timings": dict(processed.timings),
        "metadata": metadata_values(processed.metadata),
        "original": processed.original,
        "sketch": extraction.chunked.sketch if extraction.chunked else sketch(extraction.text),
        "audience": processed.audience,
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
    told = {name: value for name, value in asdict(place).items() if value}
    return {**told, FOLDED_SHEET: comparable_text(place.sheet)} if place.sheet else told


def place_of(held: Mapping[str, Any]) -> Place:
    if not held:
        return _NOWHERE
    return Place(
        pages=tuple(held.get("pages", ())),
        boxes=tuple(Box(**box) for box in held.get("boxes", ())),
        sheet=held.get("sheet", ""),
        rows=tuple(held["rows"]) if "rows" in held else None,
        authors=tuple(held.get("authors", ())),
        time=held.get("time", ""),
        link=held.get("link", ""),
        speakers=tuple(Speaker(**speaker) for speaker in held.get("speakers", ())),
        page_starts=tuple(PageStart(**page) for page in held.get("page_starts", ())),
        heading_starts=tuple(
            HeadingStart(one["start"], tuple(one["path"])) for one in held.get("heading_starts", ())
        ),
        seconds=tuple(held["seconds"]) if "seconds" in held else None,
        spoken=tuple((start, second) for start, second in held.get("spoken", ())),
    )


def field_values(document: int, metadata: Metadata) -> list[dict[str, Any]]:
    return [
        {"document": document, "name": name, "text": text, "number": number}
        for name, value in metadata.items()
        for text, number in texts_and_numbers(value)
    ]


def metadata_values(metadata: Metadata) -> dict[str, Any]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in metadata.items()}


def metadata_of(held: Mapping[str, Any]) -> dict[str, MetaValue]:
    """Libraries of before may hold values that no door lets in any more, such as NaN."""
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in held.items()}
    # Floats alone can be what is wrong. They are rare, and cleaning takes ten times as long.
    types = {kind for v in values.values() for kind in map(type, v if type(v) is tuple else (v,))}
    return dict(clean_metadata(values)[0]) if float in types else values
