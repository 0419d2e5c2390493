"""Knows divisions of reports, books and contracts that name themselves (Part II, Item 8, Note 3,
Section 5.07), and their levels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# From the widest: each is inside those before it.
DIVISION = re.compile(
    r"(?i)(?P<name>part|book|chapter|exhibit|annex|item|article|note|section)\s+\*?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*[a-z]?(?:\(\w{1,5}\)){0,2}|[ivx]{1,5})(?:[.:)—–-]|\s|$)"
)
_DIVISIONS = (
    ("part", "book", "exhibit", "annex"),
    ("chapter", "item", "article"),
    ("note", "section"),
)
# What stands behind the last item of a report, but belongs to none.
_CLOSING = re.compile(
    r"(?i)(?:signatures?|(?:index (?:to|of) )?exhibits?(?: index)?|power of attorney)[\s\W\d]*"
)
_ITEM = re.compile(r"(?i)item\s+(\d{1,2})([a-c]?)")
_COUNTED = re.compile(r"(?i)(?:note )?\(?(\d{1,2})\b(?!\.\d)[ .:)—–-]+[^\W\d]")
MISSED = 2  # a note may follow the one before the last: one heading wasn't recognised
_STATEMENTS = re.compile(
    r"(?i)(?:(?:notes|index) to )?(?:the )?(?:condensed )?"
    r"(?:consolidated (?:\w+ ){0,4}(?:statements?|balance sheets?)|financial statements)\b"
    r"|statements? of consolidated |reports? of independent (?:registered|auditor)"
)
NOTES = re.compile(r"(?i)notes to (?:the )?(?:condensed )?(?:consolidated )?financial statements")
# The whole name of one, however it is set: Comcast's are plain lines under the company's name.
STATEMENT = re.compile(
    r"(?i)(?:condensed )?consolidated (?:balance sheets?|statements? of (?:[\w’'(),]+ ?){1,9})"
)
CONTINUED = re.compile(r"\W*\b(?:continued|cont[’']?d|fortsetzung)(?:[.)]*$|\).*)", re.I)
CONTENTS = re.compile(r"(?:table of )?contents|inhalt(?:sverzeichnis)?", re.I)


def division_kind(text: str) -> str:
    """What kind of division a text begins with the name of: "item"; empty for other texts."""
    match = DIVISION.match(text)
    return match["name"].casefold() if match else ""


def is_part(text: str) -> bool:
    """Whether a text is the name of a part and nothing else: "Part II"."""
    return DIVISION.fullmatch(text) is not None and division_kind(text) == "part"


def division_levels(headings: Sequence[str]) -> dict[int, int]:
    """The levels of headings that name what they begin, by their position: those of the widest
    kind that the document has are at the top, and so is what stands behind the last item: 0 for
    what holds nothing itself, as signatures. One alone proves nothing. The statements of a report
    are below their item, and notes that only have a number below the heading over them."""
    names = {
        at: match["name"].casefold()
        for at, text in enumerate(headings)
        if (match := DIVISION.match(text))
    }
    used = [kinds for kinds in _DIVISIONS if any(name in kinds for name in names.values())]
    if len(names) < 3:
        return {}
    levels = {
        at: next(level for level, kinds in enumerate(used, 1) if name in kinds)
        for at, name in names.items()
    }
    last = _last_items(headings, names)
    above: int | None = None  # the level of what holds statements; 0: they are behind a report
    behind = False  # the last item of a report
    notes = number = 0  # the level of the heading over the notes, and the last note's number
    for at, text in enumerate(headings):
        name = names.get(at)
        if name in ("part", "item", "exhibit", "annex"):
            behind, notes = at in last, 0
            holds = name in ("exhibit", "annex") or "financial statement" in text.casefold()
            above = levels[at] if holds else 0 if behind else None
        elif behind and _CLOSING.fullmatch(text):
            levels[at] = above = notes = 0
        elif above is not None and _STATEMENTS.match(text):
            is_notes = text.casefold().startswith("notes")
            levels[at] = above + 1 if above or is_notes else 0
            notes, number = (above + 1 if is_notes else 0), 0
        elif notes and (counted := _COUNTED.match(text)):
            count = int(counted[1])
            if number < count and (name or count <= number + MISSED):
                levels[at], number = notes + 1, count
        elif name and above == 0:
            levels[at] = 1  # Note 1, without a heading over all of them
    return levels


def _last_items(headings: Sequence[str], names: Mapping[int, str]) -> set[int]:
    """Where the last item of each report in a file is: behind it items begin again, or end."""
    last: set[int] = set()
    before: tuple[int, float] | None = None
    for at, name in names.items():
        if name == "part":
            before = None  # the items of each part count from 1
        elif name == "item" and (number := _ITEM.match(headings[at])):
            count = int(number[1]) + (number[2] != "") / 2
            if before is not None and count < before[1]:
                last.add(before[0])
            before = at, count
    ends = [at for at, name in names.items() if name == "item"]
    return last | set(ends[-1:])
