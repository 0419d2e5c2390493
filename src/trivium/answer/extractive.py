"""An answer without a language model: the sentences of the passages that fit the question best.

Each stands as it stands in its document, with its citation. Knows nothing of how passages were
found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.answer.passages import Passage
from trivium.answer.support import Read, Words, nearest, pieces
from trivium.ports import Embedder
from trivium.text.normalise import words

MOST = 3  # sentences: more is reading the passages
MOST_COMPARED = 100  # sentences; 25 tokens each take .6 s on 2 cores
SHORTEST = 4  # words: less is a heading or a scrap
# Of the best sentence's score: what is further behind is about something else.
NEAR = 0.8
MEANING, WORDS, RANK = 0.5, 0.4, 0.1  # what each counts
ALIKE = 0.7  # share of words that two sentences have in common: neighbouring chunks overlap


@dataclass(frozen=True, slots=True)
class Picked:
    text: str
    number: int  # of its passage
    score: float


def pick(
    question: str, passages: Sequence[Passage], embedder: Embedder, measure: Words
) -> list[Picked]:
    """In the order of the passages, and within one as they stand there."""
    found: dict[str, tuple[Passage, int]] = {}
    for passage in passages:
        for sentence in _sentences(passage):
            if len(found) < MOST_COMPARED:
                found.setdefault(sentence, (passage, len(found)))
    if not found:
        return []
    meaning = nearest(embedder, [question], {at: [text] for text, (_, at) in found.items()})
    scored = []
    for text, (passage, at) in found.items():
        shared = measure.share(question, [Read(text, passage.language)])
        score = WORDS * shared + RANK / passage.number
        score += MEANING * meaning[question, at] if meaning else 0.0
        scored.append((Picked(text, passage.number, score), at))
    scored.sort(key=lambda one: (-one[0].score, one[1]))
    chosen: list[tuple[Picked, int]] = []
    for one, at in scored:
        if len(chosen) == MOST or one.score < NEAR * scored[0][0].score:
            break
        if not any(_alike(one.text, other.text) for other, _ in chosen):
            chosen.append((one, at))
    return [one for one, _ in sorted(chosen, key=lambda pair: pair[1])]


def _sentences(passage: Passage) -> list[str]:
    """Of the passage itself, without its headings; scraps only where there is nothing else."""
    headings = set(passage.citation.headings)
    every = [" ".join(one.split()) for one in pieces(passage.citation.text)]
    every = [one for one in every if one not in headings]
    return [one for one in every if len(words(one)) >= SHORTEST] or every


def _alike(one: str, other: str) -> bool:
    first, second = set(words(one)), set(words(other))
    return len(first & second) >= ALIKE * max(1, min(len(first), len(second)))
