"""Turns text into comparable words: case, accents and compatibility forms folded away.

The same folding is used for indexing and asking, on every store, so that they always agree.
Knows nothing of stems, languages or trigrams.
"""

from __future__ import annotations

import re
import unicodedata

# A longer "word" is data (base64, a hash, a rule of dashes); its first characters identify it, and
# tantivy refuses terms above 65,530 bytes.
LONGEST_WORD = 64

_POSSESSIVE = re.compile(r"['’]s\b")
_WORD = re.compile(r"[^\W_]+")
# Scripts written without spaces: a run of them is no word but a sentence, so it is cut into
# overlapping pairs of characters, the usual unit for searching Chinese, Japanese and Thai.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
# Combining marks: of Latin, Greek and Cyrillic, Hebrew points, Arabic vowels, and symbols.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def clean(text: str) -> str:
    """Without control characters and lone surrogates, which neither SQLite nor a model takes."""
    return _CONTROL.sub(" ", text)


def fold(text: str) -> str:
    """Lower case, without accents, compatibility forms unified (ﬁ → fi, Ｗ → w)."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())


def words(text: str) -> list[str]:
    """The folded words of a text in order; hyphens separate, a possessive 's is dropped."""
    folded = fold(text)
    found = _WORD.findall(_POSSESSIVE.sub("", folded))
    if not folded.isascii() and _UNSPACED.search(folded):
        found = [part for word in found for part in _units(word)]
    return [word if len(word) <= LONGEST_WORD else word[:LONGEST_WORD] for word in found]


def _units(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word]
    units: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            units.append(word[end : run.start()])
        characters = run.group()
        units += [characters[i : i + 2] for i in range(max(1, len(characters) - 1))]
        end = run.end()
    if end < len(word):
        units.append(word[end:])
    return units
