"""Fits how sure an answer is (`trivium.answer.confidence`) over the questions of the judged set
that aren't held out.

    python -m bench.confidence --data ../shared/data [--only open,made,samples] [--sample 8]

Every sentence that may answer becomes a row: what speaks for it, and whether it holds the answer.
For sentences that the reader read (English) and for others, prints the coefficients of a logistic
regression, and from which limit on how many questions would be answered rightly and wrongly by a
sentence, each with coefficients fitted without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.answers import UNANSWERABLE, Question, holds, holds_group, opened, questions, sampled
from bench.harness import arguments
from trivium.answer.confidence import Evidence, signs
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

KINDS = ("fact", "contradicted", UNANSWERABLE)  # that sentences answer, not tables
PARTS = 8  # of the questions: each is judged by a fit of the others
RIDGE = 1.0
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gathered:
    question: Question
    rows: list[tuple[tuple[float, ...], bool]]


def gathered(library: Library, question: Question, embedder: LocalEmbedder) -> Gathered:
    text = question.ask[0]
    settings = load().settings
    found = library.search(
        text, settings.ask_limit, options=SearchOptions(rerank=True, expand=settings.ask_expand)
    )
    passages = numbered(found) if not found.weak else ()
    measure = Words(partial(library.backend.signals.rarities, where=OWNER))
    asked = read(text, detect_language(text), measure.rarities)
    extractor, kept = Extractor(embedder, measure, WordVectors()), WordVectors()
    rows = []
    for one, evidence in extractor.evidence(asked, passages, Likeness(embedder, kept)):
        is_right = bool(question.accept) and all(
            holds_group(one.text, group) for group in question.accept
        )
        is_wrong = any(holds(one.text, value) for value in question.reject)
        rows.append((signs(evidence), is_right and not is_wrong))
    return Gathered(question, rows)


def fitted(rows: Sequence[tuple[tuple[float, ...], bool]], count: int) -> Array:
    """Newton's steps, for so many signs; the constant comes last."""
    x = np.array([(*values, 1.0) for values, _ in rows]).reshape(-1, count + 1)
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


def report(every: Sequence[Gathered], count: int) -> None:
    best: list[tuple[float, bool, bool]] = []  # how sure, whether right, whether it has an answer
    for part in range(PARTS):
        rest = [row for at, one in enumerate(every) if at % PARTS != part for row in one.rows]
        coefficients = fitted(rest, count)
        for one in every[part::PARTS]:
            x = np.array([(*values, 1.0) for values, _ in one.rows])
            scores = sure(x, coefficients) if one.rows else np.zeros(1)
            at = int(scores.argmax())
            is_right = bool(one.rows) and one.rows[at][1]
            best.append((float(scores[at]), is_right, one.question.kind != UNANSWERABLE))
    able = [one for one in best if one[2]]
    unable = [one for one in best if not one[2]]
    print(f"Of {len(able)} questions with an answer and {len(unable)} without:")
    for limit in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5):
        right = sum(score >= limit and ok for score, ok, _ in able) / max(1, len(able))
        wrong = sum(score >= limit and not ok for score, ok, _ in able) / max(1, len(able))
        refused = sum(score < limit for score, *_ in unable) / max(1, len(unable))
        print(f"from {limit:.2f}: {right:.0%} right, {wrong:.0%} wrong, {refused:.0%} refused")


def main() -> None:
    given = arguments(
        __doc__,
        data=Path,
        only=("open,made,samples", "libraries, comma-separated"),
        sample=(int, "so many questions, by a fixed seed"),
    )
    names = given.only.split(",")
    settings = load().settings
    embedder = LocalEmbedder(None, settings.cache)
    some = [q for q in questions() if q.library in names and q.kind in KINDS and not q.held_out]
    some = sampled(some, given.sample) if given.sample else some
    with ExitStack() as stack:
        libraries = opened(names, given.data, settings, stack)
        every = [
            gathered(libraries[one.library], one, embedder)
            for one in some
            if one.library in libraries and len(one.ask) == 1
        ]
    names = [field.name for field in fields(Evidence)]
    for title, count in (("Read", len(names)), ("Not read", len(names) - 1)):
        own = [one for one in every if all(len(values) == count for values, _ in one.rows)]
        rows = [row for one in own for row in one.rows]
        if not rows:
            continue
        pairs = zip((*names[:count], "constant"), fitted(rows, count), strict=True)
        print(f"{title}: " + ", ".join(f"{name}={value:.2f}" for name, value in pairs))
        report(own, count)


if __name__ == "__main__":
    main()
