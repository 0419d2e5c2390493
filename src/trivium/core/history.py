"""Nouns for a document's history. Frozen dataclasses like `types`. The library keeps every
processing of a document as a numbered interpretation; exactly one is active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trivium.core.types import DocumentId, Metadata, Where


@dataclass(frozen=True, slots=True)
class Interpretation:
    """One processing of a document and its result. Get its text by its number."""

    document: DocumentId
    number: int  # from 1; the highest is the active one
    active: bool
    title: str
    media_type: str
    language: str
    content_hash: str  # of the bytes it was read from
    size: int  # of those bytes
    fingerprint: str  # of the pipeline that made it
    elements: int
    chunks: int
    tokens: int
    created_at: str  # ISO 8601, UTC
    retired_at: str = ""  # when another became active; empty while it is
    restored_from: int | None = None  # the number whose text it took over
    original: str = ""  # address of the bytes in the archive; empty: not kept
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds of each step
    metadata: Metadata = field(default_factory=dict)
    # The label it had when last active: callers must hold it beside the document's. None: made by a
    # release that did not write it down, so only for callers who hold every label.
    audience: str | None = None

    def seen_by(self, where: Where) -> Interpretation:
        """The part that callers get. How long each step took depends on other documents in the
        library: bytes already in the archive aren't written again."""
        return self if where.sees_all else replace(self, timings={})


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between two interpretations of a document."""

    old: Interpretation
    new: Interpretation
    # Fields that differ: title, size, fingerprint, metadata.year, ...
    facts: Mapping[str, tuple[object, object]]
    lines: tuple[str, ...]  # of the text, unified: @@ places, - gone, + new, blank unchanged

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines)
