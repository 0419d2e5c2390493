"""Chooses the few lines of a passage that answer a query, and the words in them to highlight.

It highlights a query word wherever its stem occurs. If the word occurs nowhere, it highlights
similar words ("battleaxe": battle axe), unless another passage has the word itself. Pure; knows
nothing of terminals, stores and scores.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from trivium.core.types import Chunk
from trivium.text.normalise import fold
from trivium.text.stems import content_words, stem
from trivium.text.trigrams import trigram_set, word_similarity

_STRETCH = 400  # characters that are about one thing
ALIKE = 0.5  # word_similarity: lower marks words that no reader would call alike
_SHORTEST_ALIKE = 4  # shorter words share their trigrams with too many others
_LEAD = 2.0  # seconds
_FOCUS = 45  # words: two sentences, some 15 s of speech
_SLIP = 2  # words that the speech model may add or leave out within a phrase
_WORD = re.compile(r"[^\W_]+")
INDENTED = 0.25  # of the lines of code, at least
_CELLS = " | "  # between the cells of a row, as extractors write tables
_BAR = re.compile(r"(?:^|(?<= ))\|(?= |$)")
_RULE = re.compile(r"(?<!\S)([-=_*~#.])\1{4,}(?!\S)")  # a line drawn with characters


@dataclass(frozen=True, slots=True)
class Snippet:
    text: str
    marks: tuple[tuple[int, int], ...]  # ranges of text to highlight


@dataclass(frozen=True, slots=True)
class _Match:
    """A place in the passage, and the query word it answers."""

    start: int
    end: int
    word: str


def snip(
    passage: str,
    words: tuple[str, ...],
    language: str,
    width: int,
    exact_words: Collection[str] = (),
) -> Snippet:
    """At most `width` characters of a passage, where it says most about the words.
    `exact_words`: those that occur somewhere (`said_in`); for these, no similar word is marked."""
    text = _on_one_line(passage)
    places = _places(text, content_words(dict.fromkeys(words), {language}), language, exact_words)
    start, end = _window(text, places, width)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    shift = len(before) - start
    marks = {(f.start + shift, f.end + shift) for f in places if start <= f.start and f.end <= end}
    return Snippet(f"{before}{text[start:end]}{after}", tuple(sorted(marks)))


def without_headings(text: str, headings: tuple[str, ...]) -> str:
    """A passage without its leading headings, where the line above shows them."""
    body = text.lstrip()
    for heading in headings:
        body = body.removeprefix(heading).lstrip()
    return body or text


def _on_one_line(passage: str) -> str:
    """A passage without line breaks, unless it is code. Rows of a table become `Longsword · 15 gp;
    Dagger · 2 gp`: bars would run into each other. One line with a bar alone may be code, and
    stays. Drawn lines, as receipts have them, say nothing and are left out."""
    if _is_code(passage):
        return "\n".join(line.rstrip() for line in passage.splitlines())
    passage = _RULE.sub("", passage)
    if _CELLS not in passage:
        return " ".join(passage.split())
    parts = []
    for is_row, lines in groupby(passage.splitlines(), lambda line: _CELLS in line):
        run = [" ".join(line.split()) for line in lines]
        if is_row and len(run) > 1:
            rows = ([cell.strip() for cell in _BAR.split(line)] for line in run)
            filled = (" · ".join(filter(_WORD.search, row)) for row in rows)
            parts.append("; ".join(filter(None, filled)) + ";")
        else:
            parts.append(" ".join(filter(None, run)))
    return " ".join(filter(None, parts)).removesuffix(";")


def _is_code(passage: str) -> bool:
    """Whether lines are indented, as only code is: prose comes here without its indents."""
    lines = [line for line in passage.splitlines() if line.strip()]
    return len(lines) > 2 and sum(line[0] in " \t" for line in lines) >= INDENTED * len(lines)


def said_in(passages: Iterable[tuple[str, str]], words: tuple[str, ...]) -> frozenset[str]:
    """The words that occur, as they are, in any of the passages (text, language)."""
    present: set[str] = set()
    for text, language in passages:
        wanted = content_words(dict.fromkeys(words), {language})
        there = {_folded(m.group()) for m in _WORD.finditer(text)}
        stems = set(stem(sorted(there), language))
        roots = zip(wanted, stem(wanted, language), strict=True)
        present |= {word for word, root in roots if root in stems or word in there}
    return frozenset(present)


def marks(
    text: str, words: tuple[str, ...], language: str, exact_words: Collection[str] = ()
) -> list[tuple[int, int]]:
    """The ranges of a text to highlight, in order; none overlaps another."""
    places = _places(text, content_words(dict.fromkeys(words), {language}), language, exact_words)
    ranges: list[tuple[int, int]] = []
    for place in places:
        if not ranges or place.start >= ranges[-1][1]:
            ranges.append((place.start, place.end))
    return ranges


def second_said(chunk: Chunk, words: tuple[str, ...], language: str) -> float | None:
    """When a passage of a recording begins to say these words; None for other documents."""
    place, text = chunk.place, chunk.text
    if place.seconds is None:
        return None
    words = words[:_FOCUS]
    wanted = list(dict.fromkeys(words))
    starts = [m.start() for m in _WORD.finditer(text)]
    numbers: dict[str, set[int]] = {word: set() for word in wanted}  # the numbers of its words
    for hit in _places(text, wanted, language, ()):
        numbers[hit.word].add(bisect_left(starts, hit.start))
    telling = content_words(wanted, {language})

    def score(begin: int) -> tuple[int, int]:
        near = range(begin, begin + _FOCUS)
        exact = sum(begin + at in numbers[word] for at, word in enumerate(words))
        aligned = sum(
            not numbers[word].isdisjoint(range(begin + at - _SLIP, begin + at + _SLIP + 1))
            for at, word in enumerate(words)
        )
        return aligned + sum(not numbers[word].isdisjoint(near) for word in telling), exact

    # Where the passage would begin to say them if it said them in this order. Words like "the"
    # count too: often they are all that tells one sentence from another, or all that was heard.
    begins = sorted({there - at for at, word in enumerate(words) for there in numbers[word]})
    if not begins:
        return place.second_at(0)
    begin = max(begins, key=score)
    first = min(there for all_said in numbers.values() for there in all_said if there >= begin)
    before, begin = max(begin - _SLIP, 0), max(begin, 0)
    for at in range(before, first):  # a sentence that begins about there is played whole
        if re.search("[.!?]", text[starts[at] : starts[at + 1]]):
            begin = at + 1
    earlier, heard = place.second_at(starts[begin]) or 0.0, place.second_at(starts[first]) or 0.0
    return max(earlier, heard - _LEAD)


def _places(
    text: str, wanted: list[str], language: str, exact_words: Collection[str]
) -> list[_Match]:
    tokens = [(m.start(), m.end(), _folded(m.group())) for m in _WORD.finditer(text)]
    stems = stem([word for _, _, word in tokens], language)
    places: list[_Match] = []
    for word, root in zip(wanted, stem(wanted, language), strict=True):
        exact = [
            _Match(start, end, word)
            for (start, end, there), own in zip(tokens, stems, strict=True)
            if own == root or there == word
        ]
        places += exact or ([] if word in exact_words else _alike(word, tokens))
    return sorted(places, key=lambda f: (f.start, f.end))


def _alike(word: str, tokens: list[tuple[int, int, str]]) -> list[_Match]:
    """The words, or pairs of neighbours, that are similar to a word that occurs nowhere."""
    if len(word) < _SHORTEST_ALIKE or word.isdigit():
        return []
    wanted = trigram_set(word)
    different = {there for _, _, there in tokens}
    common = {there: shared for there in different if (shared := wanted & trigram_set(there))}
    degrees = {there: _similarity(word, (there,), common) for there in common}
    near = [at for at, (_, _, there) in enumerate(tokens) if there in common]
    marked = {at for at in near if degrees[tokens[at][2]] >= ALIKE}
    for at, after in pairwise(near):
        left, right = tokens[at][2], tokens[after][2]
        if (
            after == at + 1
            and _both_needed(common[left], common[right])
            and _similarity(word, (left, right), common)
            >= max(ALIKE, degrees[left], degrees[right])
        ):
            marked |= {at, after}
    return [_Match(tokens[at][0], tokens[at][1], word) for at in marked]


@lru_cache(maxsize=10_000)
def _folded(word: str) -> str:
    return fold(word)


def _both_needed(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether each of two words holds at least two trigrams of a word that the other lacks."""
    return len(left - right) >= 2 and len(right - left) >= 2


def _similarity(word: str, text: tuple[str, ...], common: Mapping[str, frozenset[str]]) -> float:
    # The share of common trigrams bounds it from above, and spares most of the work.
    shared = sum(len(common[part]) for part in text)
    return word_similarity(word, text) if shared / len(trigram_set(word)) >= ALIKE / 2 else 0.0


def _window(text: str, places: list[_Match], width: int) -> tuple[int, int]:
    """The range with the most different words, then the most places; the first of equals."""
    if len(text) <= width:
        return 0, len(text)
    return _at_words(text, _sentence_start(text, _densest(places, width), width // 4), width)


def _densest(places: list[_Match], width: int) -> int:
    best, start = (0, 0), 0
    for at, first in enumerate(places):
        inside = Counter(f.word for f in places[at:] if f.end <= first.start + width * 3 // 4)
        score = (len(inside), inside.total())
        if score > best:
            best, start = score, first.start
    return start


def hit_in(text: str, words: tuple[str, ...], language: str) -> int:
    """Where a passage says most about the words; 0 if it has none of them."""
    wanted = content_words(dict.fromkeys(words), {language})
    return _densest(_places(text, wanted, language, ()), _STRETCH)


def _sentence_start(text: str, at: int, reach: int) -> int:
    """The beginning of the sentence around a place, if it is near; else a few words before."""
    earliest = max(0, at - reach)
    if earliest == 0:
        return 0
    ends = [m.end() for m in re.finditer(r"[.!?:;]\s+", text[earliest:at])]
    return earliest + ends[-1] if ends else max(0, at - reach // 2)


def _at_words(text: str, start: int, width: int) -> tuple[int, int]:
    """The range moved to the borders of words."""
    if start and text[start - 1] != " ":
        blank = text.find(" ", start, start + 40)
        start = blank + 1 if blank >= 0 else start
    end = min(len(text), start + width)
    if end < len(text):
        blank = text.rfind(" ", max(start, end - 40), end)
        end = blank if blank > start else end
    return start, end
