"""Counts Word's lists: gives the marker before a paragraph, as in "2.1" or "(b)". Knows
numbering.xml, nothing of the numbered text."""

from __future__ import annotations

import re
from collections import defaultdict
from xml.etree.ElementTree import Element

_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_PLACEHOLDER = re.compile(r"%([1-9])")


class Numbering:
    """The lists of one document and how far each has been counted."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}  # format, pattern, start
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._shared: dict[str, str] = {}  # list to the definition it counts with
        if root is None:
            return
        abstract = {a.get("abstractNumId", ""): _levels(a) for a in root.findall("abstractNum")}
        for num in root.findall("num"):
            link = num.find("abstractNumId")
            known = abstract.get("" if link is None else link.get("val", ""), {})
            own: dict[int, tuple[str, str, int]] = {}
            for override in num.findall("lvlOverride"):
                own |= _levels(override)
            key = num.get("numId", "")
            self._levels[key] = known | own
            restarts = num.find("lvlOverride") is not None
            self._shared[key] = key if restarts or link is None else "a" + link.get("val", "")

    def marker(self, list_id: str, level: int) -> str:
        """The marker of the next paragraph of this list; empty for bullets."""
        levels = self._levels.get(list_id, {})
        format_, pattern, start = levels.get(level, ("bullet", "", 1))
        counts = self._counts[self._shared.get(list_id, list_id)]
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [key for key in counts if key > level]:
            del counts[deeper]
        if format_ in ("bullet", "none", ""):
            return ""

        def count(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            kind, _, first = levels.get(at, ("decimal", "", 1))
            return _written(counts.get(at, first), kind)

        return _PLACEHOLDER.sub(count, pattern).strip()


def _levels(parent: Element) -> dict[int, tuple[str, str, int]]:
    levels = {}
    for level in parent.findall("lvl"):
        values = {child.tag: child.get("val", "") for child in level}
        index = level.get("ilvl", "0")
        start = values.get("start", "1")
        if index.isdecimal():
            levels[int(index)] = (
                values.get("numFmt", ""),
                values.get("lvlText", ""),
                int(start) if start.isdecimal() else 1,
            )
    return levels


def _written(number: int, format_: str) -> str:
    if format_ in ("lowerLetter", "upperLetter") and 0 < number <= 26:
        letter = chr(ord("a") + number - 1)
        return letter.upper() if format_ == "upperLetter" else letter
    if format_ in ("lowerRoman", "upperRoman") and 0 < number < 40:
        roman = ""
        for value, letters in _ROMAN:
            while number >= value:
                roman, number = roman + letters, number - value
        return roman.upper() if format_ == "upperRoman" else roman
    return str(number)
