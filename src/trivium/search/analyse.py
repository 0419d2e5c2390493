"""Decides from the words of a query whether it wants exact words or meaning.

Each sign adds points to the keyword or the semantic side of a balance, which starts at 50:50 and
stays within 20..80. Looks only at the query: `weigh` looks at what the signals answer, `correct` at
which words the library knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from trivium.core.results import Boost
from trivium.core.types import Query, Signal
from trivium.text.lexicon.questions import asking
from trivium.text.normalise import fold
from trivium.text.query import EXCLUDED, REQUIRED

EVEN = 50
LEAST, MOST = 20, 80  # neither side is ever left out
# With evidence (`weigh`), the vector signal's hits count already, so it matters little that a query
# is a question. nDCG@10 of six sets with evidence and the semantic lean at full strength: -.005
# (xquad_de -.017), at .2: -.0006 (cranfield -.0015), at .1: -.0003 (cranfield -.0013). The keyword
# lean at full strength costs nothing (mean +.0001, nfcorpus +.0004).
BESIDE_EVIDENCE = 0.1
# If no word of a query is known, the weight of spelling triples: nDCG@10 +.002 on nfcorpus, and
# +.002 on cranfield and mlquestions with misspelled words that couldn't be corrected. 4 gained no
# more.
SPELLING = 2.0
POINTS: Mapping[str, tuple[Literal["keyword", "semantic"], int]] = {
    "year": ("keyword", 15),
    "author": ("keyword", 20),
    "acronym": ("keyword", 10),
    "phrase": ("keyword", 15),
    "special characters": ("keyword", 10),
    "question": ("semantic", 15),
    "length": ("semantic", 10),  # from four words on
}

_EXCLUDED = re.compile(EXCLUDED)
_REQUIRED = re.compile(REQUIRED)
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?![\w])(?![.,]\d)")
_ET_AL = re.compile(r"\bet\.?\s+al\b\.?", re.IGNORECASE)
# Once for each name, and never given back: a word of 9,000 letters took 1.7 s of processor time.
_NAME = r"(?<![^\W\d])(?!\d)\w[\w'’.-]*+"
# "Smith & Jones", "Müller und Schmidt". Both must look like names: "trust and safety" doesn't.
_JOINED = re.compile(rf"({_NAME}),?\s+(?:&|and|und|et|y|e)\s+({_NAME})")
_ACRONYM = re.compile(r"\b(?!(?:OR|AND|NOT)\b)(?=\d*[A-Z]\d*[A-Z])[A-Z\d]+s?\b")  # AI, H1N1, LLMs
_PHRASE = re.compile(r'"[^"]*\w[^"]*"|„[^“”"]*\w[^“”"]*[“”"]|“[^”]*\w[^”]*”|«[^»]*\w[^»]*»')
_SPECIAL = re.compile(r"[<>=≤≥≠≈±×÷%§°#@$€£^~|\\{}\[\]+*_]")
_WORD = re.compile(r"\w")
_FIRST_WORD = re.compile(r"\w+")
_QUESTION_WORDS = asking()  # a question mark at the end counts too


@dataclass(frozen=True, slots=True)
class Balance:
    """How much meaning and exact words should count for a query, of 100."""

    semantic: int
    boosts: tuple[Boost, ...] = ()

    @property
    def keyword(self) -> int:
        return 100 - self.semantic

    def __str__(self) -> str:
        reasons = "; ".join(map(str, self.boosts)) or "no preference"
        return f"Meaning {self.semantic} : words {self.keyword} ({reasons})."


def analyse(query: Query) -> Balance:
    """The balance of a query, with every boost that led to it."""
    # Excluded words say nothing about what the caller wants, nor does the + of required words.
    text = _REQUIRED.sub("", _EXCLUDED.sub(" ", query.text))
    boosts = tuple(Boost(name, *POINTS[name], because) for name, because in _signs(text))
    semantic = EVEN + sum(b.points if b.side == "semantic" else -b.points for b in boosts)
    return Balance(min(MOST, max(LEAST, semantic)), boosts)


def _signs(text: str) -> Iterator[tuple[str, str]]:
    year, author = _YEAR.search(text), _author(text)
    if year:
        yield "year", year.group()
    if author:
        yield "author", author
    for name, pattern in (
        ("acronym", _ACRONYM),
        ("phrase", _PHRASE),
        ("special characters", _SPECIAL),
    ):
        if match := pattern.search(text):
            yield name, match.group()
    if question := _question(text):
        yield "question", question
    count = sum(1 for part in text.split() if _WORD.search(part))
    if count >= 4 and not year and not author:
        yield "length", f"{count} words"


def _author(text: str) -> str:
    if match := _ET_AL.search(text):
        return match.group()
    for pair in _JOINED.finditer(text):
        if all(name[0].isupper() and not name.isupper() for name in pair.groups()):
            return pair.group()
    return ""


def _question(text: str) -> str:
    first = _FIRST_WORD.search(text)
    # WHO is the organisation, unless the whole text is in capitals.
    if first and (text.isupper() or not first.group().isupper()):
        word = first.group()
        if fold(word) in _QUESTION_WORDS:
            return word
    return "?" if text.rstrip().endswith(("?", "？")) else ""


def lean(
    weights: Mapping[Signal, float],
    balance: Balance,
    strength: float,
    *,
    beside_evidence: bool = False,
) -> dict[Signal, float]:
    """Moves the weights to the side that the balance favours; their sum stays the same. Strength 1
    applies the full shares: at 35:65, .5 and .5 become .35 and .65. Strength 0 changes nothing."""
    if beside_evidence and balance.semantic > EVEN:
        strength *= BESIDE_EVIDENCE
    sides = {True: balance.semantic / EVEN, False: balance.keyword / EVEN}
    moved = {s: w * sides[s is Signal.VECTOR] ** strength for s, w in weights.items()}
    return _rescaled(moved, sum(weights.values()))


def favour_spelling(
    weights: Mapping[Signal, float], unknown: float, strength: float
) -> dict[Signal, float]:
    """Raises the trigram signal's weight by the share (0..1) of words that the library doesn't
    have, and lowers the others."""
    raised = 1 + SPELLING * unknown * strength
    moved = {s: w * (raised if s is Signal.TRIGRAM else 1.0) for s, w in weights.items()}
    return _rescaled(moved, sum(weights.values()))


def _rescaled(weights: Mapping[Signal, float], total: float) -> dict[Signal, float]:
    now = sum(weights.values())
    return {s: w * total / now for s, w in weights.items()} if now else dict(weights)
