"""Where in a text a quotation stands, and what was changed in it. Pure.

Words are compared folded, so that case, accents, ligatures, quotation marks, dashes and words
hyphenated at the end of a line make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from trivium.core.answers import QuoteChange
from trivium.text.lexicon.dates import months
from trivium.text.lexicon.grammar import ORDINALS
from trivium.text.lexicon.quantities import quantities
from trivium.text.normalise import fold

_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|\d+(?:[.,]\d+)+(?![^\W_])|[^\W_{_UNSPACED}]+")
_BROKEN = re.compile(r"(?<=[^\W\d_])(?:[\u00ad\x02\ufffe]|[-\u2010\u2011]\s*\n)\s*(?=[^\W\d_])")
MOST_WORDS = 1_500  # of a quotation: three pages; of a longer one, the beginning


@dataclass(frozen=True, slots=True)
class Word:
    text: str  # folded
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """The part of a text that a quotation is nearest to. `kept`: 0..1, the share of the quotation's
    words that stand there, in order, less those that were added or left out."""

    start: int  # offsets in the text
    end: int
    kept: float
    changes: tuple[QuoteChange, ...]

    @property
    def has_other_figures(self) -> bool:
        """Whether a figure or a date stands there instead of another: next quarter's report says
        the same words, and something else."""
        return any(_is_other(change.quoted, change.source) for change in self.changes)


def quoted_words(text: str) -> tuple[list[Word], str]:
    """The words of a pasted text, and the text with words joined that a line break cut."""
    whole = _BROKEN.sub("", text)
    return words_of(whole)[:MOST_WORDS], whole


def words_of(text: str) -> list[Word]:
    """A figure is one word, whatever its sign for decimals."""
    return [Word(fold(m[0]).replace(",", "."), m.start(), m.end()) for m in _WORD.finditer(text)]


def align(quoted: Sequence[Word], whole: str, text: str) -> Alignment | None:
    """The nearest part of a text; None if it shares no word."""
    source = _joined(words_of(text), text, {word.text for word in quoted})
    quoted = _joined(quoted, whole, {word.text for word in source})
    if not quoted or not source:
        return None
    mine, theirs = _numbered(quoted, source)
    costs = _costs(mine, theirs, anchored=False)
    last = int(np.argmin(costs))
    if costs[last] >= len(mine):
        return None
    back = _costs(mine[::-1], theirs[:last][::-1], anchored=True)
    first = last - int(np.argmin(back))
    part = source[first:last]
    if not part:
        return None
    share = max(0.0, 1 - float(costs[last]) / len(mine))
    changes = _changes(quoted, whole, part, text)
    return Alignment(part[0].start, part[-1].end, share, changes)


def _joined(words: Sequence[Word], text: str, other: set[str]) -> list[Word]:
    """Words that a line break cut become one, if the other text has them as one. Of a quotation
    too: many fields turn the line breaks of what is pasted into blanks."""
    joined: list[Word] = []
    for word in words:
        before = joined[-1] if joined else None
        if (
            before is not None
            and 0 < word.start - before.end <= 4
            and text[before.end] in "-\u00ad\u2010"
            and before.text + word.text in other
        ):
            joined[-1] = Word(before.text + word.text, before.start, word.end)
        else:
            joined.append(word)
    return joined


def _numbered(
    words: Sequence[Word], other: Sequence[Word]
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], np.ndarray[tuple[int], np.dtype[np.int32]]]:
    ids: dict[str, int] = {}
    numbers = [
        np.fromiter((ids.setdefault(w.text, len(ids)) for w in some), np.int32, len(some))
        for some in (words, other)
    ]
    return numbers[0], numbers[1]


def _costs(
    mine: np.ndarray[tuple[int], np.dtype[np.int32]],
    theirs: np.ndarray[tuple[int], np.dtype[np.int32]],
    *,
    anchored: bool,
) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """For each end in the source, the least number of words to change, add or leave out (Sellers).
    Anchored: the source begins where the quotation does."""
    at = np.arange(len(theirs) + 1, dtype=np.int32)
    row = at.copy() if anchored else np.zeros_like(at)
    for number, word in enumerate(mine, start=1):
        new = row + 1
        new[1:] = np.minimum(new[1:], row[:-1] + (theirs != word))
        new[0] = number
        row = np.minimum.accumulate(new - at) + at
    return row


def _changes(
    quoted: Sequence[Word], whole: str, part: Sequence[Word], text: str
) -> tuple[QuoteChange, ...]:
    matcher = SequenceMatcher(
        None, [w.text for w in quoted], [w.text for w in part], autojunk=False
    )
    return tuple(
        QuoteChange(_between(quoted, a, b, whole), _between(part, c, d, text))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    )


def _between(some: Sequence[Word], start: int, end: int, text: str) -> str:
    return " ".join(text[some[start].start : some[end - 1].end].split()) if end > start else ""


def _is_other(quoted: str, source: str) -> bool:
    mine, theirs = _ordered(quoted), _ordered(source)
    if mine and theirs and mine.isdisjoint(theirs):
        return True
    amounts, others = quantities(quoted), quantities(source)
    return bool(amounts and others) and not any(a.agrees(b) for a in amounts for b in others)


def _ordered(text: str) -> set[str]:
    """The months and ordinals of a text: `April`, `second`."""
    every = months(None)
    return {
        fold(word)
        for word in text.split()
        if fold(word) in ORDINALS or (word[0].isupper() and fold(word) in every)
    }
