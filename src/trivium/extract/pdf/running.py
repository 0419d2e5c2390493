"""Removes what is printed on every page and belongs to none: running heads, page numbers, the line
numbers of manuscripts under review. Knows nothing of columns.

Removes a line only if the same line is at the same place on enough pages, separate from the text
and outside tables, or if it counts the pages (`counting`); the first copy of words stays. If in
doubt, everything stays: an extra head costs a search nothing, a lost row can't be found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from trivium.extract.divisions import CONTENTS, CONTINUED
from trivium.extract.pdf.counting import PAGE_NUMBER, page_numbers, same_place, split_numbers
from trivium.extract.pdf.headings import LARGER
from trivium.extract.pdf.marks import Fragment, Page, Word

MARGIN = 0.16  # of the page's width: where line numbers stand
MIN_NUMBERS = 10  # fewer in a column are a list, not line numbers
ZONE = 0.13  # of the page's height, at top and bottom: where heads and feet stand
FOOT = 0.25  # where a page number may stand: LaTeX's own classes leave wide margins
ROWS = 3  # the outermost rows that may be heads or feet
ALIKE = 6  # so many rows from the edge that all repeat are a form or a copied letter
SMALL = 0.93  # of the size of the page's text
RUN = 8  # pages that follow one another: a chapter with a head of its own
STACKED = 4  # such pages, for lines that touch one another
BESIDE = 5  # pages on which the same line stands beside their number
FEW = 12  # words of such a line
OTHER = 0.7  # of the lines above a foot differ; else the pages are copies of a form
REACH = 5  # sizes of the number between the two
LARGE = 1.3  # a line set larger must be a title
MAX_DIGITS = 4  # of a line's number
CELL = 8.0  # sizes of the font that a cell is wide at most; a line of a column is wider
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(slots=True)
class Parted:
    """A page's fragments: its text, and the first copies of running heads."""

    text: list[Fragment]
    heads: list[Fragment] = field(default_factory=list)


@dataclass(slots=True)
class _Outer:
    """A fragment near an edge of its page."""

    page: int  # index
    side: str
    fragment: Fragment
    text: str
    key: str
    numbers: tuple[int, ...]
    row: int  # from the edge


def drop_line_numbers(pages: list[Page]) -> None:
    """Remove columns of numbers in the outer margins that count up evenly, where at least two
    pages and half of them have one: on a single page it may be a table."""
    numbers_by_page = {page.number: _line_numbers(page) for page in pages}
    having = sum(bool(numbers) for numbers in numbers_by_page.values())
    if having < 2 or having < 0.5 * sum(bool(page.words) for page in pages):
        return
    for page in pages:
        if numbers := numbers_by_page[page.number]:
            page.words = [word for word in page.words if id(word) not in numbers]


def _line_numbers(page: Page) -> set[int]:
    margins: dict[tuple[str, int], list[Word]] = {}
    low, high = MARGIN * page.across, (1 - MARGIN) * page.across
    for word in [word for word in page.words if word.right < low or word.left > high]:
        if len(word.text) <= MAX_DIGITS and word.text.isdecimal():
            side = "left" if word.right < low else "right"
            edge = word.right if side == "left" else word.left
            margins.setdefault((side, round(edge / 4)), []).append(word)
    numbers: set[int] = set()
    for column in margins.values():
        if len(column) < MIN_NUMBERS:
            continue
        column.sort(key=lambda word: word.top)
        steps = [int(b.text) - int(a.text) for a, b in pairwise(column)]
        if sum(step in (1, 5) for step in steps) >= 0.8 * len(steps):
            numbers.update(id(word) for word in column)
    return numbers


def drop_running(pages: list[tuple[Page, list[Fragment]]]) -> list[Parted]:
    """Every page's fragments without heads, feet and page numbers."""
    outers = [
        outer
        for index, (page, fragments) in enumerate(pages)
        for outer in _outermost(index, page, fragments)
    ]
    repeated = _Repetition(outers, pages)
    by_page: dict[int, list[_Outer]] = defaultdict(list)
    for outer in outers:
        by_page[outer.page].append(outer)
    last = _last_lines(pages)
    counting = page_numbers(
        [(page, [f for f in fragments if id(f) not in last]) for page, fragments in pages]
    )
    beside = _beside_numbers(pages, counting) | last
    links = _links_to_contents(pages)
    seen: set[tuple[str, str]] = set()
    parted = []
    for index, (page, fragments) in enumerate(pages):
        dropped, heads = {id(f) for f in fragments if id(f) in counting or id(f) in links}, []
        for fragment in [f for f in fragments if id(f) in beside]:
            dropped.add(id(fragment))
            if ("", fragment.text) not in seen:
                seen.add(("", fragment.text))
                heads.append(fragment)
        candidates = _candidates(by_page[index], repeated)
        stacked = {id(o.fragment) for o in candidates if repeated.runs_on(o, STACKED)}
        others = [f for f in fragments if id(f) not in stacked]
        for outer in candidates:
            if id(outer.fragment) in dropped:
                continue
            words = not PAGE_NUMBER.match(outer.text)
            is_counting = id(outer.fragment) in counting
            around = others if id(outer.fragment) in stacked else fragments
            if not is_counting and not _is_running(
                outer, page, fragments, repeated, around, words=words
            ):
                continue
            dropped.add(id(outer.fragment))
            if words and (outer.side, outer.key) not in seen and not CONTINUED.search(outer.text):
                seen.add((outer.side, outer.key))
                heads.append(outer.fragment)
        text = [f for f in fragments if id(f) not in dropped]
        # A page of nothing else: what repeats is what it says, unless it is only the number.
        keeps = not text and not counting.issuperset(dropped)
        parted.append(Parted(fragments) if keeps else Parted(text, heads))
    if not any(part.text for part in parted):
        return [Parted(fragments) for _, fragments in pages]
    return parted


def _beside_numbers(pages: list[tuple[Page, list[Fragment]]], counting: set[int]) -> set[int]:
    """The ids of fragments that stand right above or below page numbers, wherever those are: the
    same words on enough pages. Filings printed from web pages have such feet within the text."""
    feet = set(counting)
    for _ in (1, 2):  # a foot of two lines
        near: dict[str, list[tuple[int, Fragment]]] = defaultdict(list)
        for index, (_, fragments) in enumerate(pages):
            if feet.isdisjoint([id(fragment) for fragment in fragments]):
                continue
            for pair in pairwise(sorted(fragments, key=lambda f: f.middle)):
                foot, other = pair if id(pair[0]) in feet else pair[::-1]
                if id(foot) in feet and id(other) not in feet and _is_foot(other, foot, fragments):
                    near[other.text].append((index, other))
        for alike in near.values():
            if len({index for index, _ in alike}) >= BESIDE:
                feet |= {id(fragment) for _, fragment in alike}
    return feet - counting


def _last_lines(pages: list[tuple[Page, list[Fragment]]]) -> set[int]:
    """The ids of fragments that end many pages in a row with the same words, at any height, below
    text that differs: "© 2016 Corning Incorporated." right under what a web page printed."""
    ends: dict[str, list[tuple[int, Fragment, str]]] = defaultdict(list)
    for index, (_, fragments) in enumerate(pages):
        if len(fragments) > 1:
            *_, above, foot = sorted(fragments, key=lambda f: f.middle)
            if _is_foot(foot, foot, fragments):
                ends[foot.text].append((index, foot, above.text))
    feet: set[int] = set()
    for alike in ends.values():
        near = sum(b[0] - a[0] <= 2 for a, b in pairwise(alike))
        texts = {above for _, _, above in alike}
        if len(alike) >= BESIDE and 2 * near > len(alike) and len(texts) > OTHER * len(alike):
            feet |= {id(foot) for _, foot, _ in alike}
    return feet


def _links_to_contents(pages: list[tuple[Page, list[Fragment]]]) -> set[int]:
    """The ids of "Table of Contents" where filings print it on every page; the contents' own
    heading stays if it is set larger."""
    links = [
        fragment
        for _, fragments in pages
        for fragment in fragments
        if len(fragment.words) <= FEW and CONTENTS.fullmatch(fragment.text)
    ]
    if len(links) < BESIDE:
        return set()
    least = min(fragment.size for fragment in links)
    return {id(fragment) for fragment in links if fragment.size < LARGER * least}


def _is_foot(fragment: Fragment, number: Fragment, fragments: list[Fragment]) -> bool:
    """Whether a few words have a row for themselves beside a page number."""
    close = abs(fragment.middle - number.middle) < REACH * number.size
    if not close or len(fragment.words) > FEW or not _LETTER.search(fragment.text):
        return False
    return not any(
        abs(other.middle - fragment.middle) < 4 for other in fragments if other is not fragment
    )


class _Repetition:
    """Text at the same place, with its pages."""

    def __init__(self, outers: list[_Outer], pages: list[tuple[Page, list[Fragment]]]) -> None:
        self.count = len(pages)
        self._numbers = {index: page.number for index, (page, _) in enumerate(pages)}
        self._places: dict[tuple[str, str], dict[int, list[_Outer]]] = {}
        self._pages: dict[int, set[int]] = {}
        for outer in outers:
            steps = self._places.setdefault((outer.side, outer.key), {})
            steps.setdefault(_step(outer.fragment), []).append(outer)

    def pages(self, outer: _Outer) -> int:
        """On how many pages the same stands at this height: the same words, and numbers that are
        the same or count the pages."""
        return len(self._alike(outer))

    def runs_on(self, outer: _Outer, least: int) -> bool:
        """Whether it stands on pages that follow one another: a head of forms that are copied
        every few pages doesn't."""
        pages = self._alike(outer)
        near = sum(not pages.isdisjoint((page - 2, page - 1, page + 1, page + 2)) for page in pages)
        return len(pages) >= least and 2 * near > len(pages)

    def _alike(self, outer: _Outer) -> set[int]:
        alike = self._pages.get(id(outer))
        if alike is None:
            alike = self._pages[id(outer)] = self._pages_of(outer)
        return alike

    def _pages_of(self, outer: _Outer) -> set[int]:
        steps = self._places[outer.side, outer.key]
        at = _step(outer.fragment)
        alike = [other for shift in (-1, 0, 1) for other in steps.get(at + shift, ())]
        if len(alike) < 2:
            return {outer.page}
        if not outer.numbers:
            return {other.page for other in alike}
        here = self._numbers[outer.page]
        same = {outer.page}
        # A number alone must count the pages: the same on each is a year over a column.
        counts = PAGE_NUMBER.match(outer.text) is not None
        for other in alike:
            there = self._numbers[other.page]
            pairs = list(zip(outer.numbers, other.numbers, strict=True))
            if (
                all(a == b or a - here == b - there for a, b in pairs)
                and (not counts or any(a - here == b - there for a, b in pairs))
                # Words may change sides from page to page.
                and (len(outer.key) > 6 or same_place(outer.fragment, other.fragment))
            ):
                same.add(other.page)
        return same

    def counts_pages(self, outer: _Outer) -> bool:
        """Whether it is this page's own number."""
        return outer.numbers[:1] == (self._numbers[outer.page],)


def _candidates(outers: list[_Outer], repeated: _Repetition) -> list[_Outer]:
    """What may be a head by its row; nothing on a side where the text repeats far into the page."""
    candidates = []
    for side in ("top", "bottom"):
        rows: dict[int, list[_Outer]] = {}
        for outer in outers:
            if outer.side == side:
                rows.setdefault(outer.row, []).append(outer)
        alike = 0
        for row in sorted(rows):
            if not all(repeated.pages(outer) > 1 for outer in rows[row]):
                break
            alike += 1
        form = alike >= ALIKE or (alike >= 2 and alike == len(rows))
        candidates += [
            outer
            for outer in outers
            if outer.side == side
            and outer.row < ROWS
            and (not form or PAGE_NUMBER.match(outer.text))
        ]
    return candidates


def _is_running(
    outer: _Outer,
    page: Page,
    fragments: list[Fragment],
    repeated: _Repetition,
    around: list[Fragment],
    *,
    words: bool,
) -> bool:
    """`around`: the page without other lines that repeat, from which white must part it."""
    fragment = outer.fragment
    near = min(fragment.middle, page.down - fragment.middle) / page.down
    if near > (ZONE if words else FOOT):
        return False
    times = repeated.pages(outer)
    if not words:
        few = 2 if repeated.count <= 4 and repeated.counts_pages(outer) else 3
        return times >= few and _alone(page, fragment, fragments)
    size = _compared(fragment, fragments)
    # On all pages of a few it must be small print; else the pages may be copies of a letter.
    enough = 3 if size > SMALL else min(3, max(2, repeated.count))
    if times < enough or size > LARGE or len(_LETTER.findall(outer.text)) < 3:
        return False
    if _in_table(fragment, fragments):
        return False
    if _apart(fragment, around):
        beside = any(
            abs(other.middle - fragment.middle) < 4 and PAGE_NUMBER.match(other.text)
            for other in fragments
            if other is not fragment
        )
        often = times >= repeated.count // 5 or repeated.runs_on(outer, RUN)
        return beside or bool(outer.numbers) or often
    return times >= max(4, 0.6 * repeated.count)


def _step(fragment: Fragment) -> int:
    return round(fragment.middle / 4)


def _apart(fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether white parts it from what stands below and above: the first row of a table that is
    at the top of several pages has none."""
    near, middle = 0.5 * fragment.size, fragment.middle
    top, bottom = fragment.top - near, fragment.bottom + near
    for other in fragments:
        if other.top < bottom and other.bottom > top and abs(other.middle - middle) >= 4:
            return False
    return True


def _in_table(fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether its row has cells that stand over or under those of the next row."""
    middle = fragment.middle
    row = [f for f in fragments if abs(f.middle - middle) < 4]
    if len(row) < 2:
        return False
    cells = sorted(row, key=lambda f: f.left)[1:]
    reach = 4 * fragment.size
    above = [f for f in fragments if 4 <= middle - f.middle < reach]
    below = [f for f in fragments if 4 <= f.middle - middle < reach]
    return any(_aligned(cells, side, middle) for side in (above, below) if side)


def _aligned(cells: list[Fragment], others: list[Fragment], middle: float) -> bool:
    """Whether one of the cells shares an edge or its middle with one of the nearest row."""
    nearest = min(abs(f.middle - middle) for f in others)
    next_row = [f for f in others if abs(f.middle - middle) < nearest + 4]
    return len(next_row) > 1 and any(
        abs(a.right - b.right) < 6
        or abs(a.left + a.right - b.left - b.right) < 8
        or (abs(a.left - b.left) < 3 and b.width < CELL * b.size)
        for a in cells
        for b in sorted(next_row, key=lambda f: f.left)[1:]
    )


def _compared(fragment: Fragment, fragments: list[Fragment]) -> float:
    """How large it is set, as a share of the page's text."""
    sizes = sorted([other.size for other in fragments])
    return fragment.size / (sizes[len(sizes) // 2] or 1.0)


def _outermost(index: int, page: Page, fragments: list[Fragment]) -> list[_Outer]:
    """The fragments of the first and last rows of a page."""
    ordered = sorted(fragments, key=lambda f: f.top + f.bottom)
    outermost: list[_Outer] = []
    for side, rising in (("top", ordered), ("bottom", ordered[::-1])):
        row, last = -1, float("-inf")
        for fragment in rising:
            middle = fragment.middle
            if row < 0 or abs(middle - last) > 4.0:
                row, last = row + 1, middle
            if row >= ALIKE or (row >= ROWS and 2 * len(outermost) > len(fragments) > 60):
                break
            text = fragment.text
            key, numbers = split_numbers(text)
            outermost.append(_Outer(index, side, fragment, text, key, numbers, row))
    return outermost


def _alone(page: Page, fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether nothing stands between the fragment's row and the page's nearer edge, and white
    parts it from the text."""
    above = fragment.middle < page.down / 2
    near = 0.6 * fragment.size
    for other in fragments:
        close = other.top < fragment.bottom + near if above else other.bottom > fragment.top - near
        if close and abs(other.middle - fragment.middle) >= 4:
            return False
    return True
