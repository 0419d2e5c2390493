"""Puts the words of right-to-left lines in the order a person reads them.

Knows which letters run left. pdfium gives the letters inside a word in that order already.
"""

from __future__ import annotations

import re

from trivium.extract.pdf.marks import Fragment, Word

# Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
_LEFTWARD = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_RIGHTWARD = re.compile(r"[^\W\d_]")
NEAR = 1.0  # sizes of the font: words closer than this are one phrase, not two cells


def runs_left(text: str) -> bool:
    """Whether a text has a letter that is read from right to left."""
    return not text.isascii() and _LEFTWARD.search(text) is not None


def in_order(row: list[Fragment]) -> list[Fragment]:
    """A row's fragments, given from left to right, in reading order: as they are, or from the right
    when most of its words run left. Latin words and numbers beside each other stay as printed."""
    words = [word for fragment in row for word in fragment.words]
    left = sum(runs_left(word.text) for word in words)
    if not left or left < 0.5 * sum(bool(_RIGHTWARD.search(word.text)) for word in words):
        return row
    cells: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.left):
        if cells and word.left - cells[-1][-1].right < NEAR * word.style.size:
            cells[-1].append(word)
        else:
            cells.append([word])
    return [Fragment(_logical(cell)) for cell in reversed(cells)]


def _logical(words: list[Word]) -> list[Word]:
    """Words from left to right as they are read."""
    ordered: list[Word] = []
    inside: list[Word] = []  # a stretch that runs right
    for word in reversed(words):
        if runs_left(word.text):
            ordered += inside[::-1]
            ordered.append(word)
            inside = []
        else:
            inside.append(word)
    return ordered + inside[::-1]
