"""Which lines end because somebody ended them? An address, a receipt and a form keep their lines,
where prose only has no room for the next word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from trivium.extract.pdf.marks import Line

LEAST_BREAKS = 6  # of a page that is written in lines: fewer prove nothing
SPARE = 2.0  # sizes of the font that a line of prose may lack at its end, beside the next word
_HYPHENS = ("-", "‐", "\u00ad")


def written_pages(pairs: Iterable[tuple[Line, Line]]) -> frozenset[int]:
    """The pages on which most lines of text end early. `pairs` are neighbours outside tables."""
    breaks, early = Counter[int](), Counter[int]()
    for above, line in pairs:
        if line.column is above.column and 0 < line.base - above.base < 2 * line.size:
            breaks[line.page] += 1
            early[line.page] += _ends_early(above, line, line.column.right)
    return frozenset(
        page for page, count in breaks.items() if count >= LEAST_BREAKS and early[page] * 2 >= count
    )


def keeps_lines(lines: list[Line]) -> bool:
    """Whether a paragraph is one line below the other, on a page of prose: half of them had room
    for more in its own width, or all had in the column's."""
    widest = max(line.right - SPARE * line.size for line in lines)
    early = sum(_ends_early(above, line, widest) for above, line in pairwise(lines))
    if early and early * 2 >= len(lines) - 1:
        return True
    right = lines[0].column.right
    return len(lines) > 2 and all(_ends_early(a, b, right) for a, b in pairwise(lines))


def kept_lines(lines: list[Line], *, written: bool) -> list[list[str]]:
    """The texts of a paragraph's lines, together where one goes on with the one above: prose that
    fills its column stays whole. `written`: its page is written in lines."""
    right = lines[0].column.right
    early = [_ends_early(above, line, right) for above, line in pairwise(lines)]
    if not any(early):
        return [[line.text for line in lines]]
    runs = [[lines[0].text]]
    for line, ended in zip(lines[1:], early, strict=True):
        within = line.text[:1].islower() or runs[-1][-1].endswith(_HYPHENS)
        if within and not (ended and written):
            runs[-1].append(line.text)
        else:
            runs.append([line.text])
    return runs


def _ends_early(above: Line, line: Line, right: float) -> bool:
    """Whether a line could have held the next one's first word."""
    if above.text.endswith(_HYPHENS) and above.text[-2:-1].isalpha():
        return False
    if not (any(map(str.isalnum, above.text)) and any(map(str.isalnum, line.text))):
        return True  # a rule of dashes
    word = line.words[0]
    end = above.right + 0.5 * above.size + word.right - word.left
    if abs(above.left + above.right - line.left - line.right) < above.size:  # centred
        return end - abs(above.left - line.left) < right
    return end < right
