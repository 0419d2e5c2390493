"""Takes an answer apart: its sentences, the passages that each cites, which of them state
something, and what earlier answers said already. Pure over text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.answer.cite import MARK
from trivium.text import boundaries
from trivium.text.normalise import words

_LEADING_MARKS = re.compile(r"\s*(?:\[\d{1,3}\]\s*)+[.;,]?")
_TIGHT_MARK = re.compile(r"(?<=[.!?…])((?:\[\d{1,3}\])+)")  # no space before it, so no boundary
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)])\s+")
_DECORATION = re.compile(r"[*_`#>]+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_END = re.compile(r"[.!?…:;,\"'”’)\]*_]*\s*$")
FEWEST_WORDS = 3  # "Yes." and "In short:" state nothing by themselves


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str  # without marks
    citations: tuple[int, ...]
    states: bool  # something that needs support


def sentences(text: str) -> tuple[Sentence, ...]:
    return tuple(sentence for _, sentence in pieces(text) if sentence.text or sentence.citations)


def pieces(text: str) -> list[tuple[str, Sentence]]:
    """Each sentence as written, with its marks, and its text. A mark after a full stop belongs to
    the sentence before it."""
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


def cited_as(part: str, numbers: Sequence[int]) -> str:
    """A sentence as written, with these marks instead of its own."""
    plain = re.sub(rf"\s*{MARK.pattern}", "", part)
    end = _END.search(plain)
    at = end.start() if end else len(plain)
    return f"{plain[:at]} {''.join(f'[{number}]' for number in numbers)}{plain[at:]}"


class Before:
    """What earlier answers of a conversation said, whatever their punctuation."""

    def __init__(self, answers: Iterable[str] = ()) -> None:
        self._sentences: set[str] = set()
        self._runs: list[str] = []  # of words, where a part of them says the same
        for answer in answers:
            for part in re.split(r"\n", answer):
                cuts = [0, *boundaries.sentences(part), len(part)]
                sentences = [part[a:b] for a, b in pairwise(cuts)]
                self._sentences |= {_run(sentence) for sentence in (*sentences, part)}
                self._runs += [
                    _run(sentence) for sentence in (*sentences, part) if ";" not in sentence
                ]

    def says(self, text: str) -> bool:
        """Whether an answer said it in the same words. An item of a list is more than its list."""
        run = _run(text)
        return bool(run.strip()) and (
            run in self._sentences or any(run in longer for longer in self._runs)
        )


NOTHING_SAID = Before()


def _run(text: str) -> str:
    return f" {' '.join(words(text))} "
