"""Weights that follow the library: what is measured, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pytest

from trivium.core.types import Chunk, Document, Hit, Signal, StoredChunk
from trivium.search.separation import LEAST, alike, measure, usual_length, usual_likeness
from trivium.search.weigh import MINILM, TRACE, weigh
from trivium.text.normalise import words

if TYPE_CHECKING:
    from trivium.core.types import Vector

_DOCUMENT = Document(1, "u", "T", "c", "", "all", "text/plain", "en", "h", 1, 1, "f", 1, "", "")
_WEIGHTS = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.2}
_LISTS = {
    Signal.VECTOR: [Hit(n, 0.6 - n / 50) for n in range(10)],
    Signal.KEYWORD: [Hit(n, 9.0 - n / 2) for n in range(10)],
}


def bag(text: str, blind: float = 0.0) -> Vector:
    """Words as directions; `blind`: how much of every text is the same to this model."""
    vector = np.zeros(512, np.float32)
    for word in words(text):
        vector[1 + crc32(word.encode()) % 511] += 1
    vector /= max(1.0, float(np.linalg.norm(vector)))
    vector[0] = blind
    return vector / np.float32(np.linalg.norm(vector) or 1)


def separation_of(text: Callable[[int], str], blind: float, count: int = 300) -> float | None:
    chunks = [StoredChunk(n + 1, _DOCUMENT, Chunk(n, 0, 9, text(n))) for n in range(count)]
    vectors = {c.id: bag(c.chunk.text, blind) for c in chunks}
    return measure(chunks, vectors, lambda query: bag(query, blind))


def distinct(n: int) -> str:
    return " ".join(f"harbour{n}x{k}" for k in range(8))


def test_passages_that_the_model_tells_apart_are_well_ahead_of_their_neighbours() -> None:
    clear, dim = separation_of(distinct, 0.0), separation_of(distinct, 3.0)
    assert clear is not None
    assert dim is not None
    assert clear > 0.4
    assert 0 < dim < 0.1
    assert separation_of(lambda n: "the same harbour everywhere", 0.0) == pytest.approx(0, abs=1e-3)


def chunk(number: int, document: int) -> StoredChunk:
    return StoredChunk(number, replace(_DOCUMENT, id=document), Chunk(number, 0, 9, "x"))


def test_how_alike_passages_of_different_documents_are() -> None:
    # 1 and 2 are of one document; 3 is of another.
    chunks = [chunk(1, 10), chunk(2, 10), chunk(3, 20)]
    vectors = {n: bag(f"word{n}") for n in (1, 2, 3)}
    similar = {(1, 2): 0.9, (1, 3): 0.5, (2, 3): 0.3}

    def nearest(vector: Vector) -> list[Hit]:
        own = next(n for n, known in vectors.items() if known is vector)
        hits = [Hit(n, 1.0 if n == own else similar[min(own, n), max(own, n)]) for n in vectors]
        return sorted(hits, key=lambda hit: -hit.score)

    of = {c.id: c.document.id for c in chunks}
    found = alike(chunks, vectors, nearest, lambda ids: {n: of[n] for n in ids})
    assert found == pytest.approx((0.5 + 0.3 + 0.5) / 3, abs=1e-3)
    # No passage of another document among the nearest: the last of them is the most it can be.
    assert alike(chunks[:2], vectors, lambda v: nearest(v)[:2], lambda ids: of) == 0.9
    assert alike([], {}, nearest, lambda ids: of) is None


@pytest.mark.parametrize(
    ("found", "likeness"), [(0.7, 0.0), (0.6, -0.1), (0.3, -0.2), (0.95, 0.05), (None, 0.0)]
)
def test_likeness_beside_most_libraries(found: float | None, likeness: float) -> None:
    assert usual_likeness(found) == pytest.approx(likeness)


def test_too_few_passages_say_nothing() -> None:
    assert separation_of(distinct, 0.0, LEAST - 1) is None


@pytest.mark.parametrize(
    ("characters", "length"), [(665, 0.0), (400, -0.509), (20, -1.0), (5000, 0.5)]
)
def test_how_long_passages_are(characters: int, length: float) -> None:
    chunks = [StoredChunk(1, _DOCUMENT, Chunk(0, 0, 9, "x" * characters))]
    assert usual_length(chunks) == pytest.approx(length, abs=0.001)
    assert usual_length([]) == 0.0


@pytest.mark.parametrize(
    ("separation", "share"), [(0.22, 0.95), (0.02, 0.5), (-0.06, 0.32), (None, 0.5)]
)
def test_a_library_moves_the_share_of_meaning(separation: float | None, share: float) -> None:
    usual = replace(MINILM, offset=0.0, similarity=0.0, lead=0.0, word_lead=0.0)
    moved, why, _ = weigh(_WEIGHTS, _LISTS, usual.in_library(separation))
    assert moved[Signal.VECTOR] == pytest.approx(share, abs=0.001)
    assert sum(moved.values()) == pytest.approx(1)
    assert ("This library:" in why) == (share != 0.5)


def test_no_signal_is_left_out() -> None:
    for separation in (-1.0, 1.0):
        moved, _, _ = weigh(_WEIGHTS, _LISTS, MINILM.in_library(separation))
        assert min(moved.values()) > 0
        assert TRACE - 1e-9 <= moved[Signal.VECTOR] <= 1 - TRACE + 1e-9
