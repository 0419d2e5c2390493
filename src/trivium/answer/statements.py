"""Takes an answer apart: its sentences, the passages that each cites, and which of them state
something. Pure over text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from trivium.answer.cite import MARK
from trivium.text import boundaries

_LEADING_MARKS = re.compile(r"\s*(?:\[\d{1,3}\]\s*)+[.;,]?")
_TIGHT_MARK = re.compile(r"(?<=[.!?…])((?:\[\d{1,3}\])+)")  # no blank before it: no boundary
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)])\s+")
_DECORATION = re.compile(r"[*_`#>]+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
FEWEST_WORDS = 3  # "Yes." and "In short:" state nothing by themselves


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str  # without marks
    citations: tuple[int, ...]
    states: bool  # something that must be borne out


def sentences(text: str) -> tuple[Sentence, ...]:
    return tuple(one for _, one in pieces(text) if one.text or one.citations)


def pieces(text: str) -> list[tuple[str, Sentence]]:
    """Each sentence as it stands, with its marks, and what it says. A mark behind a full stop
    belongs to the sentence before it."""
    text = _TIGHT_MARK.sub(r" \1", text)
    cuts = [0, *boundaries.sentences(text), len(text)]
    parts: list[str] = []
    for start, end in pairwise(cuts):
        part = text[start:end]
        marks = _LEADING_MARKS.match(part)
        if marks and parts and not parts[-1].endswith("\n\n"):
            parts[-1] += marks[0]
            part = part[marks.end() :]
        if part.strip():
            parts.append(part)
    return [(part, _sentence(part)) for part in parts]


def _sentence(part: str) -> Sentence:
    cited = tuple(dict.fromkeys(int(number) for number in MARK.findall(part)))
    plain = _BULLET.sub("", MARK.sub("", part))
    plain = " ".join(_DECORATION.sub("", plain).split())
    plain = re.sub(r"\s+([.,;:!?])", r"\1", plain)
    wordy = len(_LETTERS.findall(plain)) >= FEWEST_WORDS
    heads = part.lstrip().startswith("#") or plain.endswith((":", "?"))
    return Sentence(plain, cited, bool(cited) or (wordy and not heads))
