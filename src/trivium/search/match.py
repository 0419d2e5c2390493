"""The match score: how well a result fits, from 0 to 1, for people to read.

Unlike the fused score it can be compared between queries. A chunk that the vector signal found is
shown with its similarity; one that only words or spelling found, by how the words lie in its
title, year and authors. Decides nothing about the order.
"""

from __future__ import annotations

from collections.abc import Mapping

from trivium.results import SignalPart
from trivium.text.normalise import words
from trivium.types import Document, Query, Signal

BASE = 0.50
TITLE_SHARE = 0.30  # times the share of the query's words that the title holds
WHOLE_TITLE = 0.15
YEAR = 0.15
AUTHOR = 0.10
_SHORTEST_NAME = 3


def match_score(query: Query, document: Document, parts: Mapping[Signal, SignalPart]) -> float:
    found = parts.get(Signal.VECTOR)
    if found is not None:
        return min(1.0, max(0.0, found.score))
    asked = set(query.words)
    title = set(words(document.title))
    share = len(asked & title) / len(asked) if asked else 0.0
    score = BASE + TITLE_SHARE * share
    score += WHOLE_TITLE if share == 1.0 else 0.0
    score += YEAR if str(document.metadata.get("year", "")) in asked else 0.0
    score += AUTHOR if asked & _names(document) else 0.0
    return min(1.0, score)


def _names(document: Document) -> set[str]:
    authors = document.metadata.get("authors", ())
    listed = authors if isinstance(authors, tuple) else (authors,)
    return {w for author in listed for w in words(str(author)) if len(w) >= _SHORTEST_NAME}
