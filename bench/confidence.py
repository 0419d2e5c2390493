"""Fits how sure an answer is (`trivium.answer.confidence`) over our own documents that the reader
wasn't trained on (`bench/reader/documents`, every fifth).

    python -m bench.confidence --folder FOLDER [--parts home,work,lore,public,german] [--every 2]

Every sentence that was read becomes a row: what speaks for it, and whether it holds the answer.
Prints the coefficients of a logistic regression, and from which limit on how many questions would
be answered rightly and wrongly by a sentence, each with coefficients fitted to other documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bench.harness import arguments
from bench.reader.documents import DOCUMENTS, Written, documents, is_to_fit
from bench.written import holds, opened
from trivium.answer.confidence import READ_SIGNS, signs
from trivium.answer.extractive import Extractor
from trivium.answer.likeness import Likeness, WordVectors
from trivium.answer.passages import numbered
from trivium.answer.question import read
from trivium.answer.support import Words
from trivium.config import load
from trivium.core.types import OWNER
from trivium.library import Library
from trivium.models.local import LocalEmbedder
from trivium.operations.searching import SearchOptions
from trivium.text.languages import detect_language

GROUPS = 5  # of the documents: each is judged by a fit to the others
RIDGE = 1.0
LIMITS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
Array = NDArray[np.float64]
Row = tuple[tuple[float, ...], bool]


@dataclass(frozen=True)
class Gathered:
    document: str
    has_answer: bool
    rows: list[Row]  # what speaks for each sentence, and whether it holds the answer

    def in_group(self, number: int) -> bool:
        return crc32(self.document.encode()[::-1]) % GROUPS == number


def gathered(
    library: Library, some: Sequence[Written], embedder: LocalEmbedder, every: int
) -> Iterator[Gathered]:
    settings = load().settings
    options = SearchOptions(rerank=True, expand=settings.ask_expand)
    measure = Words(partial(library.backend.signals.rarities, where=OWNER))
    extractor, vectors = Extractor(embedder, measure, WordVectors()), WordVectors()
    for document in some:
        for asked in document.questions[::every]:
            passages = numbered(library.search(asked.text, settings.ask_limit, options=options))
            language = detect_language(asked.text) or (passages[0].language if passages else "")
            question = read(asked.text, language, measure.rarities)
            evidence = extractor.evidence(question, passages, Likeness(embedder, vectors))
            rows = [
                (signs(each), bool(asked.answers) and holds(candidate.text, asked))
                for candidate, each in evidence
                if each.read is not None
            ]
            yield Gathered(document.name, bool(asked.answers), rows)


def fitted(rows: Sequence[Row]) -> Array:
    """Newton's steps; the constant comes last."""
    x = np.array([(*values, 1.0) for values, _ in rows]).reshape(-1, len(READ_SIGNS) + 1)
    y = np.array([float(is_right) for _, is_right in rows])
    found = np.zeros(x.shape[1])
    penalty = np.diag([RIDGE] * (x.shape[1] - 1) + [1e-3])
    for _ in range(30):
        p = sure(x, found)
        gradient = x.T @ (p - y) + penalty @ found
        found -= np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + penalty, gradient)
    return found


def sure(x: Array, coefficients: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-x @ coefficients))
    return found


def judged(every: Sequence[Gathered]) -> Iterator[tuple[float, bool, bool]]:
    """For each question how sure its best sentence is, whether that holds the answer, and whether
    there is one."""
    for group in range(GROUPS):
        mine = [one for one in every if one.in_group(group)]
        coefficients = fitted([row for one in every if one not in mine for row in one.rows])
        for one in mine:
            x = np.array([(*values, 1.0) for values, _ in one.rows])
            scores = sure(x, coefficients) if one.rows else np.zeros(1)
            at = int(scores.argmax())
            yield float(scores[at]), bool(one.rows) and one.rows[at][1], one.has_answer


def report(every: Sequence[Gathered]) -> None:
    best = list(judged(every))
    able = [one for one in best if one[2]]
    unable = [one for one in best if not one[2]]
    print(f"Of {len(able)} questions with an answer and {len(unable)} without:")
    for limit in LIMITS:
        right = sum(score >= limit and ok for score, ok, _ in able) / max(1, len(able))
        wrong = sum(score >= limit and not ok for score, ok, _ in able) / max(1, len(able))
        refused = sum(score < limit for score, *_ in unable) / max(1, len(unable))
        print(f"from {limit:.2f}: {right:.0%} right, {wrong:.0%} wrong, {refused:.0%} refused")


def main() -> None:
    given = arguments(
        __doc__,
        folder={"type": Path, "required": True},
        parts=("home,work,lore,public,german", "files of bench/reader/documents, with commas"),
        every=(1, "take every so many questions"),
        most=(1000, "documents of each"),
    )
    embedder = LocalEmbedder(None, load().settings.cache)
    every: list[Gathered] = []
    for part in given.parts.split(","):
        own = [one for one in documents(DOCUMENTS / f"{part}.txt") if is_to_fit(one.name)]
        own = own[: given.most]
        with opened(given.folder / part, own) as library:
            every += gathered(library, own, embedder, given.every)
    pairs = zip(
        (*READ_SIGNS, "constant"), fitted([r for one in every for r in one.rows]), strict=True
    )
    print(", ".join(f"{name}={value:.2f}" for name, value in pairs))
    report(every)


if __name__ == "__main__":
    main()
