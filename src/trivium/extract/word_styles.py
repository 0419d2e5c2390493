"""Knows what Word's paragraph styles mean: headings, titles, code, quotes, lists.

Reads styles.xml only.
"""

from __future__ import annotations

import re
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
        self._known = {style.get("styleId", ""): _style(style) for style in styles}

    def __getitem__(self, style_id: str) -> Style:
        """The style with its inherited values; an unknown one is judged by its id."""
        style = self._known.get(style_id)
        if style is None:
            match = _HEADING.fullmatch(style_id)
            return Style(name=style_id.lower(), level=int(match[1]) if match else 0)
        parent = style.based_on
        for _ in range(_MAX_INHERITANCE):
            above = self._known.get(parent)
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
    found = None if parent is None else parent.find(path)
    return "" if found is None else found.get("val", "")


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
