"""Whether two sentences about the same thing may disagree: by numbers, dates, names and negation.

Rules without a language model. They give hints, never proofs: "two hands" and "one hand" may both
be true of different axes. Pure; knows nothing of stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from trivium.text import boundaries
from trivium.text.normalise import fold
from trivium.text.stems import content_words, stem

# Of the words that carry a topic, how many two sentences must share to speak of the same thing.
SAME_TOPIC = 0.5
_FEWEST_SHARED = 3
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?![\w])")
_WORDED = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
]  # fmt: skip
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|without|cannot|\w+n't|kein\w*|nicht|nie)\b",
    re.I,
)
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 400  # characters of a sentence: longer ones are tables


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, and what of it can contradict another."""

    text: str
    topic: frozenset[str]  # stems of the words that carry it
    numbers: frozenset[str]
    months: frozenset[str]
    names: frozenset[str]
    negated: bool


def claims(text: str, language: str) -> list[Claim]:
    """The sentences of a passage that state something."""
    cuts = [0, *boundaries.sentences(text), len(text)]
    found = []
    for start, end in pairwise(cuts):
        sentence = " ".join(text[start:end].split())
        if len(sentence) > _LONGEST or sentence.endswith("?"):
            continue
        claim = _claim(sentence, language)
        if len(claim.topic) >= _FEWEST_SHARED:
            found.append(claim)
    return found


def _claim(sentence: str, language: str) -> Claim:
    words = [fold(word) for word in _WORD.findall(sentence)]
    names = frozenset(name.casefold() for name in _NAME.findall(sentence))
    of_names = {fold(word) for name in names for word in _WORD.findall(name)}
    apart = {*_WORDED, *_MONTHS, *of_names}
    plain = [word for word in words if word not in apart and not _NEGATION.fullmatch(word)]
    topic = frozenset(stem(content_words(dict.fromkeys(plain), {language}), language))
    numbers = {_number(found) for found in _NUMBER.findall(sentence)}
    numbers |= {_WORDED[word] for word in words if word in _WORDED}
    return Claim(
        sentence,
        topic,
        frozenset(numbers),
        frozenset(word for word in words if word in _MONTHS),
        names,
        bool(_NEGATION.search(sentence)),
    )


def _number(text: str) -> str:
    bare = text.rstrip(".,").replace(",", "")
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


def disagreement(one: Claim, other: Claim) -> str:
    """Why two claims may disagree, in a few words; empty: nothing speaks for it."""
    shared = one.topic & other.topic
    smaller = min(len(one.topic), len(other.topic))
    if len(shared) < _FEWEST_SHARED or len(shared) / smaller < SAME_TOPIC:
        return ""
    if one.negated != other.negated:
        return "one says the opposite of the other"
    for told, mine, theirs in (
        ("numbers", one.numbers, other.numbers),
        ("dates", one.months, other.months),
        ("names", one.names, other.names),
    ):
        if mine and theirs and not mine & theirs:
            return f"{told} differ: {_listed(mine)} and {_listed(theirs)}"
    return ""


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(values)[:3])
