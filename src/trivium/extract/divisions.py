"""Knows divisions of reports, books and contracts that name themselves (Part II, Item 8, Note 3,
Section 5.07), and their levels."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
# What stands behind the last item of a report, but belongs to none.
_CLOSING = re.compile(r"signatures?|(?:index to )?exhibits?(?: index)?", re.I)
_STATEMENTS = re.compile(
    r"(?i)(?:(?:notes|index) to )?(?:the )?(?:condensed )?"
    r"(?:consolidated (?:\w+ ){0,4}(?:statements?|balance sheets?)|financial statements)\b"
    r"|reports? of independent (?:registered|auditor)"
)
CONTINUED = re.compile(r"\W*\b(?:continued|cont[’']?d|fortsetzung)(?:[.)]*$|\).*)", re.I)
CONTENTS = re.compile(r"(?:table of )?contents|inhalt(?:sverzeichnis)?", re.I)


def division_levels(headings: Sequence[str]) -> dict[int, int]:
    """The levels of headings that name what they begin, by their position: those of the widest
    kind that the document has are at the top, and so is what stands behind the last item: 0 for
    what holds nothing itself, as signatures. One alone proves nothing."""
    names = [
        (at, match["name"].casefold())
        for at, text in enumerate(headings)
        if (match := DIVISION.match(text))
    ]
    used = [kinds for kinds in _DIVISIONS if any(name in kinds for _, name in names)]
    if len(names) < 3:
        return {}
    levels = {
        at: next(level for level, kinds in enumerate(used, 1) if name in kinds)
        for at, name in names
    }
    last = max((at for at, name in names if name == "item"), default=len(headings))
    holds_statements = last < len(headings) and "financial statement" in headings[last].casefold()
    stated = False
    for at in range(last + 1, len(headings)):
        text = headings[at]
        if _CLOSING.fullmatch(text):
            levels[at], stated = 0, False
        elif not holds_statements or _closes(headings[last + 1 : at]):
            if _STATEMENTS.match(text):
                stated = text.casefold().startswith("notes")
                levels[at] = int(stated)
            elif at in levels and not stated:
                levels[at] = 1  # Note 1, without a heading over all of them
    return levels


def _closes(headings: Sequence[str]) -> bool:
    return any(_CLOSING.fullmatch(text) for text in headings)
