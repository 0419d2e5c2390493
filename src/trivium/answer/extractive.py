"""An answer without a language model: the sentences of the passages that fit the question best.

Each stands as it stands in its document, with its citation. Knows nothing of how passages were
found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trivium.answer.passages import Passage
from trivium.answer.support import Read, Words, nearest, pieces
from trivium.ports import Embedder
from trivium.text.normalise import words

MOST = 3  # sentences: more is reading the passages
MOST_COMPARED = 40  # sentences by meaning, the best by words; 25 tokens each take .3 s on 2 cores
SHORTEST = 4  # words: less is a heading or a scrap
# Of 76 questions on a long speech (chunking_evaluation), a sentence that answers it is among those
# picked for 87 %, and 54 % of those picked answer. By meaning alone 83 and 43, by words alone 80
# and 56; comparing 100 sentences by meaning instead of 40 changes nothing.
MEANING, WORDS, RANK = 0.5, 0.4, 0.1  # what each counts
# Of the best sentence's score: what is further behind is about something else. At .7 87 and 44, at
# .9 80 and 62.
NEAR = 0.8
ALIKE = 0.7  # share of words that two sentences have in common: neighbouring chunks overlap


@dataclass(frozen=True, slots=True)
class Picked:
    text: str
    number: int  # of its passage
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    number: int
    at: int  # its place among all of them
    score: float

    def order(self) -> tuple[float, int]:
        return (-self.score, self.at)


def pick(
    question: str, passages: Sequence[Passage], embedder: Embedder, measure: Words
) -> list[Picked]:
    """In the order of the passages, and within one as they stand there."""
    found: dict[str, _Candidate] = {}
    for passage in passages:
        for text in _sentences(passage):
            if text not in found:
                shared = measure.share(question, [Read(text, passage.language)])
                score = WORDS * shared + RANK / passage.number
                found[text] = _Candidate(text, passage.number, len(found), score)
    best = sorted(found.values(), key=_Candidate.order)[:MOST_COMPARED]
    meaning = nearest(embedder, [question], {one.at: [one.text] for one in best}) if best else None
    if meaning:
        best = [replace(o, score=o.score + MEANING * meaning[question, o.at]) for o in best]
    chosen: list[_Candidate] = []
    for one in sorted(best, key=_Candidate.order):
        if len(chosen) == MOST or (chosen and one.score < NEAR * chosen[0].score):
            break
        if not any(_alike(one.text, other.text) for other in chosen):
            chosen.append(one)
    ordered = sorted(chosen, key=lambda one: one.at)
    return [Picked(one.text, one.number, one.score) for one in ordered]


def _sentences(passage: Passage) -> list[str]:
    """Of the passage itself, without its headings; scraps only where there is nothing else."""
    headings = set(passage.citation.headings)
    every = [" ".join(one.split()) for one in pieces(passage.citation.text)]
    every = [one for one in every if one not in headings]
    return [one for one in every if len(words(one)) >= SHORTEST] or every


def _alike(one: str, other: str) -> bool:
    first, second = set(words(one)), set(words(other))
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second)))
