"""Finds where a text may be split: at lines, sentences, words, and between characters.

Every function returns the offsets at which a new part begins, without 0, in order; the parts cover
the text. Knows nothing of sizes or documents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from trivium.text.lexicon.words import lexicon
from trivium.text.normalise import fold

_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_LINE = re.compile(r"\n+")
_CLAUSE = re.compile(r"[;:](?=\s)")
# After a full stop and its closing quotes: at the white space, unless a small letter follows. The
# white space starts the next part, because " word" is one token and "word" would be another.
# Scripts without spaces have stops of their own.
_CLOSING = r"[\"')\]\u201d\u2019\xbb]{0,3}"  # quotes and brackets
_SENTENCE = re.compile(
    rf"(?<=[.!?\u2026\u061f\u0964]){_CLOSING}(?=[^\S\n]+[^\sa-z\xdf-\xff])"  # . ! ? … ؟ ।
    r"|[\u3002\uff01\uff1f\uff61][\u300d\u300f\uff09\u201d\u2019]{0,3}(?=\S)"  # ideographic
    r"|\n+"
)
# Scripts that write words without spaces: every character may be the last of one.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"(?<=\S)(?=\s)|(?<=[{_UNSPACED}])(?=[{_UNSPACED}])")
# Words before a full stop that doesn't end a sentence, lower case.
_ABBREVIATIONS = frozenset(
    {"al", "approx", "bzw", "ca", "cf", "ch", "dr", "e.g", "eq", "etc", "fig", "figs", "i.e", "inc"}
    | {"jr", "mr", "mrs", "ms", "nr", "p", "pp", "prof", "ref", "sec", "sr", "st", "usw", "vgl"}
    | {"vol", "vs", "z.b"}
)
_LAST_WORD = re.compile(r"([\w.]{1,8})\.\Z")
_NTH = re.compile(r"\b(?:im|am|zum|zur|vom|beim|der|die|das|dem|den|des|jede[nrs]?)\s\d{1,2}\.\Z")
_LED_BY_DAY = re.compile(r"(?:^|\n)\d{1,2}\.\d{1,2}\.\Z")  # a line of a statement: 05.11. Gehalt
_NEXT_WORD = re.compile(r"[^\S\n]+([^\W\d_]{3,})")
_ORDINAL_DAYS = ("de", "da", "no", "fi", "cs", "hu")  # languages that write "12. Mai"

_LONGEST_BEFORE = 12  # characters: "jedes 12."
_ZERO_WIDTH_JOINER = 0x200D
_GRAPHEME_REACH = 32  # longer clusters are decoration (stacked accents), and may be cut


def paragraphs(text: str) -> list[int]:
    return _inside(text, [gap.end() for gap in _BLANK_LINES.finditer(text)])


def lines(text: str) -> list[int]:
    return _inside(text, [gap.end() for gap in _LINE.finditer(text)])


def sentences(text: str) -> list[int]:
    """Sentences and lines: both are places where a reader can start."""
    ends = (stop.end() for stop in _SENTENCE.finditer(text))
    return _inside(text, [end for end in ends if not _is_abbreviation(text, end)])


def clauses(text: str) -> list[int]:
    """Parts of a long sentence, as contracts have them."""
    return _inside(text, [stop.end() for stop in _CLAUSE.finditer(text)])


def words(text: str) -> list[int]:
    """White space belongs to the word after it; where script has none, every character counts."""
    starts = [gap.end() for gap in _WORD.finditer(text)]
    return _inside(text, [start for start in starts if not _joins(text, start)])


def slices(text: str, length: int) -> list[int]:
    """Parts of about `length` characters, never inside what a reader sees as one character."""
    starts = []
    position = length
    while position < len(text):
        cut = next(
            (
                at
                for at in range(position, max(position - min(_GRAPHEME_REACH, length), 0), -1)
                if not _joins(text, at)
            ),
            position,
        )
        starts.append(cut)
        position = cut + length
    return starts


def _inside(text: str, starts: list[int]) -> list[int]:
    return [start for start in starts if 0 < start < len(text)]


def _is_abbreviation(text: str, end: int) -> bool:
    if text[end - 1] != ".":
        return False
    before = text[max(0, end - _LONGEST_BEFORE) : end]
    if _NTH.search(before) or _LED_BY_DAY.search(before):
        return True
    word = _LAST_WORD.search(text, max(0, end - 9), end)
    if word is None:
        return False
    if word[1].isdigit() and len(word[1]) <= 2:
        after = _NEXT_WORD.match(text, end)
        return after is not None and fold(after[1]) in _months()
    # A single capital is an initial: "J. Smith".
    return word[1].lower() in _ABBREVIATIONS or (len(word[1]) == 1 and word[1].isupper())


@cache
def _months() -> frozenset[str]:
    return frozenset(month for code in _ORDINAL_DAYS for month in lexicon(code).months)


def _joins(text: str, at: int) -> bool:
    """Whether the characters before and after this offset are parts of one."""
    before, after = ord(text[at - 1]), ord(text[at])
    if after < 0x300:
        return before == 0x0D and after == 0x0A
    return (
        unicodedata.category(text[at]) in ("Mn", "Mc", "Me")  # also variation selectors
        or _ZERO_WIDTH_JOINER in (before, after)
        or 0x1F3FB <= after <= 0x1F3FF  # skin tones
        or (0x1F1E6 <= after <= 0x1F1FF and 0x1F1E6 <= before <= 0x1F1FF)  # halves of a flag
        or (0xD800 <= before <= 0xDBFF and 0xDC00 <= after <= 0xDFFF)  # halves of a surrogate pair
    )
