"""What frameworks get besides a passage's text: plain values only."""

from __future__ import annotations

from trivium.core.results import Result
from trivium.core.shapes import heading
from trivium.core.types import MetaScalar


def details(result: Result, *, weak: bool) -> dict[str, MetaScalar | list[MetaScalar]]:
    """The document's own metadata, under ours: where the passage is and how it was found."""
    document, chunk = result.found.document, result.found.chunk
    place = chunk.place
    own = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in document.metadata.items()
    }
    stands: dict[str, MetaScalar | list[MetaScalar] | None] = {
        "sheet": place.sheet,
        "rows": list(place.rows) if place.rows else None,
        "authors": list(place.authors),
        "time": place.time,
        "link": result.found.link,
        "seconds": list(place.seconds) if place.seconds else None,
        "at": result.at,
    }
    filled = {name: value for name, value in stands.items() if value}
    return (
        own
        | filled
        | {
            "document": document.id,
            "passage": chunk.index,
            "title": document.title,
            "source": document.uri,
            "collection": document.collection,
            "heading": heading(result.found),
            "pages": list(chunk.pages),
            "score": result.score,
            "match": result.match,
            "weak": weak,
            "signals": [signal.value for signal in result.signals],
            "fields": list(result.fields),
        }
    )


def text(result: Result) -> str:
    """The passage, a table's rows under the names of their columns, between the text around it
    where that was asked for."""
    parts = (result.before, result.found.chunk.with_header, result.after)
    return "\n".join(part for part in parts if part)


def name(result: Result) -> str:
    """The same for the same passage: document and number."""
    return f"{result.found.document.id}-{result.found.chunk.index}"
