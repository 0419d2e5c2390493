"""Knows what Word's paragraph styles mean (headings, titles, code, quotes, lists), and counts its
lists: the marker before a paragraph, as in "2.1" or "(b)".

Reads styles.xml and numbering.xml only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|rubrik) ?([1-9])", re.I)
_MAX_INHERITANCE = 20


@dataclass(frozen=True, slots=True)
class Style:
    name: str = ""  # lower case
    level: int = 0  # of a heading, from 1
    list_id: str = ""
    list_level: int = 0
    based_on: str = ""

    @property
    def is_code(self) -> bool:
        return any(word in self.name for word in ("code", "source", "preformatted", "verbatim"))

    @property
    def is_quote(self) -> bool:
        return "quote" in self.name or "block text" in self.name

    @property
    def is_contents(self) -> bool:
        """A line of the table of contents: repeats a heading."""
        return self.name.startswith("toc ") or self.name == "table of figures"

    @property
    def is_list(self) -> bool:
        return self.name.startswith("list ") and not self.name.startswith("list paragraph")


class Styles:
    def __init__(self, styles: Iterable[Element]) -> None:
        """`styles`: those of paragraphs."""
        self._styles = {style.get("styleId", ""): _style(style) for style in styles}

    def __getitem__(self, style_id: str) -> Style:
        """The style with its inherited values; an unknown one is judged by its id."""
        style = self._styles.get(style_id)
        if style is None:
            match = _HEADING.fullmatch(style_id)
            return Style(name=style_id.lower(), level=int(match[1]) if match else 0)
        parent = style.based_on
        for _ in range(_MAX_INHERITANCE):
            above = self._styles.get(parent)
            if above is None:
                break
            style = replace(
                style,
                level=style.level or (above.level if above.name != "title" else 0),
                list_id=style.list_id or above.list_id,
                list_level=style.list_level or above.list_level,
            )
            parent = above.based_on
        return style


def value(parent: Element | None, path: str) -> str:
    """The `val` of a property, empty when it is not set."""
    element = None if parent is None else parent.find(path)
    return "" if element is None else element.get("val", "")


def outline_level(properties: Element | None) -> int:
    """1 to 9 for a heading, 0 for body text (which Word writes as level 9)."""
    level = value(properties, "outlineLvl")
    return int(level) + 1 if level.isdecimal() and int(level) < 9 else 0


def _style(style: Element) -> Style:
    name = value(style, "name").lower()
    properties = style.find("pPr")
    match = _HEADING.fullmatch(name)
    level = int(match[1]) if match else outline_level(properties)
    list_level = value(properties, "numPr/ilvl")
    return Style(
        name=name,
        level=1 if name == "title" else level,
        list_id=value(properties, "numPr/numId"),
        list_level=int(list_level) if list_level.isdecimal() else 0,
        based_on=value(style, "basedOn"),
    )


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
            defined = abstract.get("" if link is None else link.get("val", ""), {})
            own: dict[int, tuple[str, str, int]] = {}
            for override in num.findall("lvlOverride"):
                own |= _levels(override)
            key = num.get("numId", "")
            self._levels[key] = defined | own
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
