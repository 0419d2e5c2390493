"""Turns text into comparable words: folds case, accents and compatibility forms.

Indexing and searching use the same folding, on every store, so that they always agree. Knows
nothing of stems, languages or trigrams.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# A longer "word" is data (base64, a hash, a rule of dashes); its first characters identify it.
LONGEST_WORD = 64

_POSSESSIVE = re.compile(r"['’]s\b")
_PLAIN_POSSESSIVE = re.compile(r"'s\b")  # a third of the time: it looks for these letters first
_WORD = re.compile(r"[^\W_]+")
# Scripts written without spaces: a run of them is no word but a sentence, so it is cut into
# overlapping pairs of characters, the usual unit for searching Chinese, Japanese and Thai.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
# Combining marks: of Latin, Greek and Cyrillic, Hebrew points, Arabic vowels, and symbols.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_ASCII = bytes(range(128))
_BLANKED = bytes(i if i > 127 or chr(i).isalnum() else 32 for i in range(256))  # of UTF-8
_LONE = "surrogatepass"
_MANY = 16  # different characters beyond ASCII, from which on replacing one by one takes longer
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def clean(text: str) -> str:
    """Without control characters and lone surrogates, which neither SQLite nor a model takes."""
    return _CONTROL.sub(" ", text)


def fold(text: str) -> str:
    """Lower case, without accents, compatibility forms unified (ﬁ → fi, Ｗ → w)."""
    if text.isascii():
        return text.lower()
    beyond = _beyond_ascii(text)
    if len(beyond) <= _MANY and not any(map(_is_mark, beyond)):
        for character in beyond:  # each on its own: only marks would change places
            text = text.replace(character, _folded(character))
        return text.lower() if text.isascii() else text.casefold()
    text = unicodedata.normalize("NFKD", text)
    beyond = _beyond_ascii(text)
    if len(beyond) > _MANY:
        return _MARKS.sub("", text.casefold())
    for character in beyond:
        text = text.replace(character, _MARKS.sub("", character.casefold()))
    return text.casefold()


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character)
    return _MARKS.sub("", decomposed.casefold())


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    """Whether something remains of it that joins what stands before it, in an order of its own."""
    return any(map(unicodedata.combining, _folded(character)))


def words(text: str) -> list[str]:
    """The folded words of a text in order; hyphens separate, a possessive 's is dropped."""
    return split(spaced(text))


def split(apart: str) -> list[str]:
    """The words of a text that `spaced` made."""
    parts = apart.split()
    if max(map(len, parts), default=0) > LONGEST_WORD:
        return [word[:LONGEST_WORD] for word in parts]
    return parts


def spaced(text: str) -> str:
    """The folded words of a text, of any length, with one blank or more around each."""
    quick = _quickly_spaced(text)
    if quick:
        return quick
    if "\n" in text:  # a line has fewer odd characters: 71 µs a passage of a long text, not 424
        return "".join(map(spaced, text.split("\n")))
    return _slowly_spaced(text)


@lru_cache(maxsize=1 << 12)
def spaced_passage(text: str) -> str:
    """The same of a passage. Kept, because a search looks at one more than once, and the same ones
    answer many queries: 15 MB at most (about 4 kB each)."""
    return spaced(text)


def _quickly_spaced(text: str) -> str:
    """The same where few characters are beyond ASCII, each replaced by what remains of it: a third
    of the time for a text with a dash or a quote, as most have. Nothing where that will not do."""
    beyond = _beyond_ascii(text)
    if len(beyond) > _MANY:
        return ""
    for character in beyond:
        remains = _remains(character)
        if remains is None:
            return ""
        text = text.replace(character, remains)
    folded = text.lower() if text.isascii() else text.casefold()
    if "'s" in folded:
        folded = _PLAIN_POSSESSIVE.sub("", folded)
    return f" {folded.encode().translate(_BLANKED).decode()} "


@lru_cache(maxsize=4096)
def _remains(character: str) -> str | None:
    """What a character beyond ASCII becomes in a word; None if its neighbours matter."""
    folded = _folded(character)
    if _is_mark(character) or _UNSPACED.search(folded):
        return None
    if folded == "’":
        return "'"
    return "".join(c if c.isascii() or c.isalnum() else " " for c in folded)


def _slowly_spaced(text: str) -> str:
    folded = fold(text)
    if "'s" in folded or "’s" in folded:
        folded = _POSSESSIVE.sub("", folded)
    beyond = _beyond_ascii(folded)
    if len(beyond) > _MANY or any(map(_UNSPACED.match, beyond)):
        units = (part for word in _WORD.findall(folded) for part in _units(word))
        return f" {' '.join(units)} "
    for character in beyond:
        if not character.isalnum():
            folded = folded.replace(character, " ")
    # A fifth of the time that the pattern takes.
    return f" {folded.encode().translate(_BLANKED).decode()} "


def _beyond_ascii(text: str) -> set[str]:
    if text.isascii():
        return set()
    return set(text.encode(errors=_LONE).translate(None, _ASCII).decode(errors=_LONE))


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
