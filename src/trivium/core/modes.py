"""The choices of a search, as enums. Part of `types`, which exports them; in their own file because
the terminal's help needs nothing else of it: dataclasses take time to make."""

from __future__ import annotations

from enum import StrEnum


class Signal(StrEnum):
    """A way of finding chunks. Listed in the order in which they are always shown."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    TRIGRAM = "trigram"

    @property
    def told(self) -> str:
        """Its name for people; programs read the value."""
        return {"vector": "meaning", "keyword": "words", "trigram": "spelling"}[self]


class Mode(StrEnum):
    """Which signals a search uses."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    FUZZY = "fuzzy"


class Granularity(StrEnum):
    """What a result is: a passage, a document, or a thread of messages."""

    PASSAGE = "passage"  # every chunk on its own
    DOCUMENT = "document"  # a document once, with its best chunk
    THREAD = "thread"  # a chat's thread once, with its best message; other documents as above


class Combine(StrEnum):
    """How the scores of several queries become one. With the first three only what every query
    finds counts (AND), with the last whatever any of them finds (OR)."""

    MINIMUM = "minimum"
    PRODUCT = "product"  # the geometric mean
    AVERAGE = "average"
    MAXIMUM = "maximum"
