"""Reads how an element of HTML looks (letters, white space, page breaks), by its tag and its
own style. Knows no style sheets."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from trivium.extract.printed import Look

if TYPE_CHECKING:
    from lxml.etree import _Element

_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_WEIGHT = re.compile(r"font(?:-weight)?\s*:\s*(?:[\w.-]+ )*(bold|bolder|[1-9]00|normal)\b", re.I)
_HEAVY = frozenset({"bold", "bolder", "600", "700", "800", "900"})
_SLANT = re.compile(r"font(?:-style)?\s*:\s*(?:[\w.-]+ )*(italic|oblique|normal)\b", re.I)
_LINE = re.compile(r"text-decoration[a-z-]*\s*:\s*(?:[\w-]+ )*(underline|none)\b", re.I)
_SIZE = re.compile(r"font(?:-size)?\s*:\s*(?:[\w-]+ )*(\d+(?:\.\d+)?)\s*(pt|px)", re.I)
_APART = re.compile(r"(?:padding|margin)-left\s*:\s*(?!-|0(?![.\d])|0\.0)", re.I)
_COLOUR = re.compile(r"(?<!-)color\s*:\s*(#\w+|rgb\([^)]*\)|\w+)", re.I)
_DARK = frozenset({"#000000", "#000", "black", "windowtext", "inherit", "rgb(0,0,0)"})
_RAISED = re.compile(r"vertical-align\s*:\s*super|position\s*:\s*relative\s*;\s*top\s*:\s*-", re.I)
_IN_LINE = re.compile(r"display\s*:\s*inline\s*(?:;|$)", re.I)
_PAGE = re.compile(r"break-(after|before)\s*:\s*(?:always|page|left|right)", re.I)
ALL = 0.95  # of the letters: a mark behind them may look different


@dataclass(frozen=True, slots=True)
class Style:
    """What an element's style says of type and paper."""

    bold: bool | None = None  # None: as around it
    italic: bool | None = None
    underlined: bool | None = None
    size: float = 0.0
    colour: str = ""  # as written; empty: as around it
    apart: bool = False  # white before it
    raised: bool = False  # above the line, as the mark of a note
    inline: bool = False  # no block, whatever its tag
    page: str = ""  # ends before or after it
    hidden: bool = False


@lru_cache(8192)
def style_of(style: str) -> Style:
    weight, slant, size = (pattern.search(style) for pattern in (_WEIGHT, _SLANT, _SIZE))
    page, line, colour = (pattern.search(style) for pattern in (_PAGE, _LINE, _COLOUR))
    points = float(size[1]) * (0.75 if size[2].lower() == "px" else 1.0) if size else 0.0
    return Style(
        bold=weight[1].lower() in _HEAVY if weight else None,
        italic=slant[1].lower() != "normal" if slant else None,
        underlined=line[1].lower() == "underline" if line else None,
        size=points,
        colour=colour[1].lower().replace(" ", "") if colour else "",
        apart=bool(_APART.search(style)),
        raised=_RAISED.search(style) is not None,
        inline=_IN_LINE.search(style) is not None,
        page=page[1].lower() if page else "",
        hidden=_HIDDEN.search(style) is not None,
    )


def look_of(element: _Element, style: Style, around: Look) -> Look:
    """The look of letters in an element."""
    tag = element.tag
    bold = tag in ("b", "strong", "th") or around.bold if style.bold is None else style.bold
    italic = tag in ("i", "em") or around.italic if style.italic is None else style.italic
    underlined = tag == "u" or around.underlined if style.underlined is None else style.underlined
    size = style.size or around.size
    coloured = style.colour not in _DARK if style.colour else around.coloured
    if (bold, italic, underlined, size, coloured) == (
        around.bold, around.italic, around.underlined, around.size, around.coloured
    ):  # fmt: skip
        return around
    return Look(size, bold=bold, underlined=underlined, italic=italic, coloured=coloured)


def main_look(runs: Counter[Look], text: str) -> Look:
    """The look of a paragraph: that of all its letters but a mark or two, and whether they are
    capitals."""
    if len(runs) == 1 and not text.isupper():
        return next(iter(runs))
    total = runs.total()
    return Look(
        max(runs, key=lambda look: runs[look]).size,
        bold=sum(n for look, n in runs.items() if look.bold) > ALL * total,
        capitals=text.isupper(),
        underlined=sum(n for look, n in runs.items() if look.underlined) > ALL * total,
        italic=sum(n for look, n in runs.items() if look.italic) > ALL * total,
        coloured=sum(n for look, n in runs.items() if look.coloured) > ALL * total,
    )
