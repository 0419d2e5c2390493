"""Finds page numbers by their sequence, wherever on the page they stand: filings printed from web
pages have them right below the text, at another height on every page. Knows nothing of other heads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from trivium.extract.pdf.marks import Fragment, Page

CHAIN = 5  # pages in a row that a number must count
SHORT_CHAIN = 3  # if it is the page's own number, at the end of its text
GAP = 6  # pages that may lack theirs: full-page tables, blank pages
STRETCH = 3  # pages that one numbered page may fill when it is printed again
WORDS = 8  # in a line with a number ("2022 Form 10-K Page 17"); more are a sentence
PER_PAGE = 3  # numbers of pages on a page, where short ones are printed again without a break
FULL = 10  # fragments of a page that say in which size it is set
LARGE = 1.3  # of the page's text: chapters are numbered too
# "17", "- 17 -", "(17)", "F-17", "Page 17 of 90", "xvii"
PAGE_NUMBER = re.compile(
    r"(?i)[-–—\s(\[]*(?:(?:page|seite|p\.|s\.|[a-z]-)\s*)?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|of|von)\s*\d{1,4})?[-–—\s)\].]*$"
)
LONG = 10  # pages of a document that may have annexes
CENTRED = 0.06  # of the text's width
_LETTERED = re.compile(r"[A-Z]-\d{1,2}")
_ROMAN = re.compile(r"[ivxlc]{1,7}")
_NUMBER = re.compile(r"\d+")
# For any number. No other sign is sure to be missing from a text without its numbers, so that texts
# with the same key have as many: under "#", "# 1 of 20" and "3 1 of 20" were the same.
_HOLE = "0"


@dataclass(slots=True)
class _Counted:
    """A line that may be a page number."""

    page: int  # index
    value: int
    fragment: Fragment
    at_end: bool  # nothing stands below it
    is_own: bool  # the number is the page's
    length: int = 1  # of the chain that ends here
    before: _Counted | None = None


def page_numbers(pages: list[tuple[Page, list[Fragment]]]) -> set[int]:
    """The ids of fragments that count the pages."""
    groups: dict[tuple[str, int, int], list[_Counted]] = defaultdict(list)
    sizes = [_median([fragment.size for fragment in fragments]) for _, fragments in pages]
    usual = _median([size for size in sizes if size])
    for index, ((page, fragments), size) in enumerate(zip(pages, sizes, strict=True)):
        own = size if len(fragments) >= FULL else 0.0  # contracts are set larger than their report
        for fragment, key, numbers, at_end in _lines(fragments, max(usual, own)):
            for at, value in enumerate(numbers):
                # The other numbers must stay as they are: the year of a report, the count of pages.
                rest = (*numbers[:at], *numbers[at + 1 :])
                counted = _Counted(index, value, fragment, at_end, value == page.number)
                groups[f"{key}{rest}", at, round(fragment.size)].append(counted)
    return _lettered(pages) | {
        id(counted.fragment)
        for group in groups.values()
        if len(group) >= SHORT_CHAIN
        for counted in _counting(group)
    }


def _lettered(pages: list[tuple[Page, list[Fragment]]]) -> set[int]:
    """The ids of "A-1" in the middle below the text of a page: an annex may have one page."""
    numbers: set[int] = set()
    for _, fragments in pages if len(pages) >= LONG else ():
        last = max(fragments, key=lambda fragment: fragment.middle, default=None)
        if last is not None and _LETTERED.fullmatch(last.text) and len(fragments) > 1:
            left, right = min(f.left for f in fragments), max(f.right for f in fragments)
            off = abs(last.left + last.right - left - right) / 2
            if off < CENTRED * (right - left) and _is_alone(last, fragments):
                numbers.add(id(last))
    return numbers


def split_numbers(text: str) -> tuple[str, tuple[int, ...]]:
    """The text without its numbers, and the numbers."""
    plain = text.casefold()
    if _ROMAN.fullmatch(plain):
        return _HOLE, (_roman(plain),)
    numbers = _NUMBER.findall(plain)
    if not numbers:
        return plain, ()
    return _NUMBER.sub(_HOLE, plain), tuple(int(number[:9]) for number in numbers)


def _median(sizes: list[float]) -> float:
    return sorted(sizes)[len(sizes) // 2] if sizes else 0.0


def _lines(
    fragments: list[Fragment], usual: float
) -> list[tuple[Fragment, str, tuple[int, ...], bool]]:
    """Fragments with a row of their own: numbers anywhere on the page, and few words with a number
    at its end. `usual` is the size of the text, of the document or of this page."""
    if not fragments:
        return []
    lowest = max([fragment.middle for fragment in fragments])
    lines = []
    for fragment in fragments:
        at_end = fragment.middle == lowest
        if len(fragment.words) > (WORDS if at_end else 4) or fragment.size > LARGE * usual:
            continue
        text = fragment.text
        key, numbers = split_numbers(text)
        if numbers and (at_end or PAGE_NUMBER.match(text)) and _is_alone(fragment, fragments):
            lines.append((fragment, key, numbers, at_end))
    return lines


def _is_alone(fragment: Fragment, fragments: list[Fragment]) -> bool:
    """Whether nothing but a copy of it stands beside it: it is no cell, and no footnote's mark."""
    reach = 0.4 * fragment.height
    top, bottom = fragment.top + reach, fragment.bottom - reach
    return not any(
        other.top < bottom and other.bottom > top and abs(other.left - fragment.left) > 1
        for other in fragments
    )


def _counting(group: list[_Counted]) -> list[_Counted]:
    """Those that are part of chains: long ones first, then shorter ones that look like them."""
    counting: list[_Counted] = []
    left = group
    while chain := _longest(left, counting):
        counting += chain
        used = {id(counted) for counted in chain}
        left = [counted for counted in left if id(counted) not in used]
    return counting


def _longest(group: list[_Counted], page_numbers: list[_Counted]) -> list[_Counted]:
    """The longest chain of numbers that count pages, if it is long enough. Where some
    `page_numbers` are known, two are enough."""
    by_value: dict[int, list[_Counted]] = defaultdict(list)
    longest: _Counted | None = None
    for counted in group:  # page by page
        counted.length, counted.before = 1, None
        for less in range(1, GAP + 1):
            for other in by_value.get(counted.value - less, ()):
                if other.length >= counted.length and _follows(counted, other):
                    counted.length, counted.before = other.length + 1, other
        by_value[counted.value].append(counted)
        if longest is None or counted.length > longest.length:
            longest = counted
    chain: list[_Counted] = []
    while longest is not None:
        chain.append(longest)
        longest = longest.before
    enough = CHAIN
    if any(
        same_place(chain[0].fragment, counted.fragment) for counted in page_numbers[:2] if chain
    ):
        enough = 2
    elif all(counted.at_end and counted.is_own for counted in chain):
        enough = SHORT_CHAIN
    pages = len({counted.page for counted in chain})
    return chain if pages >= enough and len(chain) <= PER_PAGE * pages else []


def _follows(counted: _Counted, other: _Counted) -> bool:
    pages, more = counted.page - other.page, counted.value - other.value
    if not (pages == more or (more == 1 and 0 <= pages <= STRETCH)):
        return False
    return same_place(counted.fragment, other.fragment)


def same_place(a: Fragment, b: Fragment) -> bool:
    """Whether two are at the same place across: one edge, the middle, or the outer corners of left
    and right pages."""
    return (
        abs(a.left - b.left) < 8
        or abs(a.right - b.right) < 8
        or abs((a.left + a.right) - (b.left + b.right)) < 8
        or abs(a.left - b.left) > 200
    )


def _roman(number: str) -> int:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    signs = [values[sign] for sign in number]
    return signs[-1] + sum(-a if a < b else a for a, b in pairwise(signs))
