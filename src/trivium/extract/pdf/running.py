"""Takes out what is printed on every page and belongs to none: running heads, page numbers,
the line numbers of manuscripts under review. Knows nothing of columns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from trivium.extract.pdf.marks import Fragment, Page, Word

MARGIN = 0.16  # of the page's width: where line numbers stand
MIN_NUMBERS = 10  # fewer in a column are a list, not line numbers
ZONE = 0.13  # of the page's height, at top and bottom: where heads and feet stand
FOOT = 0.25  # where a page number may stand: LaTeX's own classes leave wide margins
ROWS = 3  # the outermost rows that may be heads or feet
MAX_DIGITS = 4  # of a line's number
_LETTER = re.compile(r"[^\W\d_]")
_PAGE_NUMBER = re.compile(
    r"[-–—\s(\[]*(?:(?:page|seite|p\.|s\.)\s*)?(?:\d{1,4}|[ivxlc]{1,6})"
    r"(?:\s*(?:/|of|von)\s*\d{1,4})?[-–—\s)\].]*$",
    re.I,
)


def drop_line_numbers(page: Page) -> None:
    """Remove columns of numbers in the outer margins that count up evenly down the page."""
    margins: dict[tuple[str, int], list[Word]] = defaultdict(list)
    for word in page.words:
        if len(word.text) <= MAX_DIGITS and word.text.isdecimal():
            if word.right < MARGIN * page.across:
                margins["left", round(word.right / 4)].append(word)
            elif word.left > (1 - MARGIN) * page.across:
                margins["right", round(word.left / 4)].append(word)
    numbers: set[int] = set()
    for column in margins.values():
        column.sort(key=lambda word: word.top)
        steps = [int(b.text) - int(a.text) for a, b in pairwise(column)]
        even = sum(step in (1, 5) for step in steps)
        if len(column) >= MIN_NUMBERS and even >= 0.8 * len(steps):
            numbers.update(id(word) for word in column)
    if numbers:
        page.words = [word for word in page.words if id(word) not in numbers]


def drop_running(pages: list[tuple[Page, list[Fragment]]]) -> list[list[Fragment]]:
    """The fragments of every page without heads, feet and page numbers."""
    seen: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)  # pages by height
    candidates: list[list[tuple[tuple[str, str], Fragment]]] = []
    for page, fragments in pages:
        outer = [((side, _key(f.text)), f) for side, f in _outermost(page, fragments)]
        candidates.append(outer)
        for key, step in {key: _step(fragment) for key, fragment in outer}.items():
            seen[key][step] += 1
    least = 2 if len(pages) <= 4 else max(3, len(pages) // 5)
    most = max(least, 0.6 * len(pages))
    kept = []
    for (page, fragments), outer in zip(pages, candidates, strict=True):
        dropped = {
            id(fragment)
            for key, fragment in outer
            if (
                _repeats(fragment, seen[key], least if _apart(fragment, fragments) else most)
                and not _is_large(fragment, fragments)
            )
            or (_is_number(page, fragment.text) and _alone(page, fragment, fragments))
        }
        heights = [f.middle for f in fragments if id(f) in dropped and _PAGE_NUMBER.match(f.text)]
        for fragment in _beside(fragments, heights):
            dropped.add(id(fragment))
        kept.append([f for f in fragments if id(f) not in dropped])
    return kept


def _beside(fragments: list[Fragment], heights: list[float]) -> list[Fragment]:
    """What shares its row with a page number: a head that names the section, on this page only."""
    row = [f for f in fragments if any(abs(f.middle - height) < 4 for height in heights)]
    return row if sum(len(f.text) for f in row) < 120 else []


def _step(fragment: Fragment) -> int:
    return round(fragment.middle / 4)


def _repeats(fragment: Fragment, seen: Counter[int], least: float) -> bool:
    """Whether the same stands at the same height of enough pages. Numbers must be page numbers:
    cells of tables look alike on every page."""
    text = fragment.text
    if len(_LETTER.findall(text)) < 3 and not _PAGE_NUMBER.match(text):
        return False
    return sum(seen[_step(fragment) + shift] for shift in (-1, 0, 1)) >= least


def _apart(fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether white parts it from what stands below and above: the first row of a table that is
    at the top of several pages has none."""
    near = 0.5 * fragment.size
    return not any(
        other.top - near < fragment.bottom and other.bottom + near > fragment.top
        for other in fragments
        if abs(other.middle - fragment.middle) >= 4
    )


def _is_large(fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether it is set so much larger than the page's text that it must be a title."""
    sizes = sorted(other.size for other in fragments)
    return fragment.size > 1.3 * sizes[len(sizes) // 2]


def _is_number(page: Page, text: str) -> bool:
    """Whether a line is a page number, or a head that begins or ends with this page's."""
    words = text.split()
    return bool(_PAGE_NUMBER.match(text)) or str(page.number) in (words[0], words[-1])


def _key(text: str) -> str:
    return re.sub(r"\d+", "#", text).casefold()


def _outermost(page: Page, fragments: list[Fragment]) -> Iterator[tuple[str, Fragment]]:
    """The fragments of the first and last rows, as far as they stand near the page's edge."""
    top, bottom = [], []
    for fragment in fragments:
        if FOOT * page.down <= fragment.middle <= (1 - FOOT) * page.down:
            continue
        reach = FOOT if _PAGE_NUMBER.match(fragment.text) else ZONE
        if fragment.middle < reach * page.down:
            top.append(fragment)
        elif fragment.middle > (1 - reach) * page.down:
            bottom.append(fragment)
    for side, zone, step in (("top", top, 1), ("bottom", bottom, -1)):
        zone.sort(key=lambda f: (step * f.middle, f.left))
        rows, last = 0, float("-inf")
        for fragment in zone:
            if step * fragment.middle - last > 4.0:
                rows, last = rows + 1, step * fragment.middle
            if rows > ROWS:
                break
            yield side, fragment


def _alone(page: Page, fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether nothing stands between the fragment's row and the page's nearer edge, and white
    parts it from the text."""
    above = fragment.middle < page.down / 2
    for other in fragments:
        if other is fragment or abs(other.middle - fragment.middle) < 4:
            continue
        near = 0.6 * fragment.size
        if other.top < fragment.bottom + near if above else other.bottom > fragment.top - near:
            return False
    return True
