"""Knows divisions of reports, books and contracts that name themselves (Part II, Item 8, Note 3,
Section 5.07), and their levels."""

from __future__ import annotations

import re
from collections.abc import Iterable

# From the widest: each is inside those before it.
DIVISION = re.compile(
    r"(?i)(?P<name>part|book|chapter|exhibit|annex|item|article|note|section)\s+"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*[a-c]?|[ivx]{1,5})(?:[.:)—–-]|\s|$)"
)
_DIVISIONS = (
    ("part", "book", "exhibit", "annex"),
    ("chapter", "item", "article"),
    ("note", "section"),
)
CONTINUED = re.compile(r"\W*\b(?:continued|cont[’']?d|fortsetzung)(?:[.)]*$|\).*)", re.I)
CONTENTS = re.compile(r"(?:table of )?contents|inhalt(?:sverzeichnis)?", re.I)


def division_levels(headings: Iterable[str]) -> dict[int, int]:
    """The levels of headings that name what they begin, by their position: those of the widest
    kind that the document has are at the top. One alone proves nothing."""
    names = [
        (at, match["name"].casefold())
        for at, text in enumerate(headings)
        if (match := DIVISION.match(text))
    ]
    used = [kinds for kinds in _DIVISIONS if any(name in kinds for _, name in names)]
    if len(names) < 3:
        return {}
    return {
        at: next(level for level, kinds in enumerate(used, 1) if name in kinds)
        for at, name in names
    }
