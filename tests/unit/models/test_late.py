"""Late interaction with the real model: what is packed, what it weighs and how it ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import open_memory

from trivium.core.errors import ModelUnavailable
from trivium.core.types import OWNER, ChunkId, StoredChunk, TokenVectors, Where
from trivium.models.late import MOST_COMPUTED, LateReranker, pack, similarities, unpack
from trivium.models.local import QUERIES, LocalEmbedder
from trivium.models.tokenising import uncommon
from trivium.ports import Reranker, TokenEmbedder
from trivium.testing.samples import sample

TEXTS = (
    "The crown lies at the bottom of the lake.",
    "A mill grinds flour for the village bakery.",
    "The queen lost her crown when the boat sank in deep water.",
)
QUESTION = "where did the ruler's crown sink?"


@pytest.fixture(scope="module")
def embedder(cache_folder: Path) -> LocalEmbedder:
    return LocalEmbedder(None, cache_folder, threads=2, max_tokens=256)


@pytest.fixture(scope="module")
def passages() -> list[StoredChunk]:
    store = open_memory()
    store.writer.put([sample("a.md", *TEXTS)], "model")
    return store.documents.chunks([1, 2, 3], OWNER)


def nothing_stored(ids: Sequence[ChunkId]) -> Mapping[ChunkId, TokenVectors]:
    return {}


def all_alike(words: Sequence[str], where: Where) -> Sequence[float]:
    return [1.0] * len(words)


# --- what the embedder gives ---------------------------------------------------------------------


def test_the_same_pass_gives_the_same_vectors(embedder: LocalEmbedder) -> None:
    model: TokenEmbedder = embedder
    vectors, packed = model.embed_with_tokens(TEXTS)
    assert np.array_equal(vectors, embedder.embed_documents(TEXTS))
    assert len(packed) == len(TEXTS)


def test_libraries_of_before_token_vectors_keep_their_vectors(embedder: LocalEmbedder) -> None:
    """The graph gained an output; the vectors are the same to the last bit, and so is the name."""
    assert embedder.fingerprint == "all-MiniLM-L6-v2-c96f8b89efa4-v1-256"


def test_common_words_punctuation_and_marks_are_not_kept(embedder: LocalEmbedder) -> None:
    _, (packed, empty) = embedder.embed_with_tokens(["The crown, and the lake!", "?"])
    assert len(unpack(packed, 192)) == 2
    assert len(packed) == 1 + 2 * 24
    assert len(unpack(empty, 192)) == 1, "something must stand for every text"


def test_a_querys_tokens_know_their_words(embedder: LocalEmbedder) -> None:
    vectors, belonging = embedder.embed_query_tokens("Leukozyten, the Crown?")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert len(vectors) == len(belonging)
    pieces = belonging.count("Leukozyten")
    assert pieces > 1
    assert belonging == ["", *["Leukozyten"] * pieces, ",", "the", "Crown", "?", ""]


def test_a_query_that_was_just_embedded_gives_the_same_tokens(embedder: LocalEmbedder) -> None:
    """From that run of the model; of a query long ago from another."""
    fresh, belonging = embedder.embed_query_tokens(QUESTION)
    embedder.embed_query(QUESTION)
    after, again = embedder.embed_query_tokens(QUESTION)
    assert np.allclose(fresh, after, atol=1e-6)
    assert belonging == again
    for number in range(QUERIES + 1):
        embedder.embed_query(f"{number} crowns")
    assert np.allclose(fresh, embedder.embed_query_tokens(QUESTION)[0], atol=1e-6)


def test_common_words_are_the_first_of_a_vocabulary() -> None:
    words = [f"w{n:04}" for n in range(900)]
    found = uncommon({w: n for n, w in enumerate(["[CLS]", "!", "x", *words, "##ing"])})
    assert list(found[:7]) == [False, False, True, False, False, False, True]
    assert found[6:].all()


# --- similarities --------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 40), st.integers(0, 99))
def test_signs_are_as_a_plain_loop_says(
    passages: int, tokens: int, dimensions: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    query = rng.standard_normal((3, dimensions)).astype(np.float32)
    texts = [
        rng.standard_normal((1 + n % tokens, dimensions)).astype(np.float32)
        for n in range(passages)
    ]
    found = similarities(query, [pack(text) for text in texts])
    seen = query[:, ::2] / np.linalg.norm(query[:, ::2], axis=1, keepdims=True)
    for row, text in zip(found, texts, strict=True):
        signs = np.where(text[:, ::2] > 0, 1, -1)
        expected = (seen @ signs.T).max(axis=1) / (2 / np.pi * signs.shape[1]) ** 0.5
        assert row == pytest.approx(expected, abs=1e-4)


def test_a_long_passage_is_compared_whole() -> None:
    rng = np.random.default_rng(7)
    query, text = (rng.standard_normal((rows, 384)).astype(np.float32) for rows in (20, 3_000))
    text[2_999] = query[4]  # the nearest token is the last one
    (found,) = similarities(query, [pack(text)])
    assert found.argmax() == 4
    assert found[4] > 0.9


# --- ranking -------------------------------------------------------------------------------------


def test_the_passage_that_answers_is_best(
    embedder: LocalEmbedder, passages: list[StoredChunk]
) -> None:
    reranker: Reranker = LateReranker(embedder, nothing_stored, all_alike)
    lake, mill, boat = reranker.scores(QUESTION, passages)
    assert 1 >= min(boat, lake) > mill + 0.1 > 0.1
    assert embedder.fingerprint in reranker.fingerprint


def test_stored_vectors_are_used(embedder: LocalEmbedder, passages: list[StoredChunk]) -> None:
    """Those of the mill stand for the boat, and the other way round."""
    _, packed = embedder.embed_with_tokens([TEXTS[0], TEXTS[2], TEXTS[1]])
    swapped = dict(zip((1, 2, 3), packed, strict=True))
    plain = LateReranker(embedder, nothing_stored, all_alike).scores(QUESTION, passages)
    found = LateReranker(embedder, lambda ids: {i: swapped[i] for i in ids}, all_alike).scores(
        QUESTION, passages
    )
    assert found == pytest.approx([plain[0], plain[2], plain[1]], abs=0.01)


def test_what_another_version_packed_is_computed_anew(
    embedder: LocalEmbedder, passages: list[StoredChunk]
) -> None:
    foreign = LateReranker(
        embedder, lambda ids: dict.fromkeys(ids, b"\xffsomething else"), all_alike
    )
    plain = LateReranker(embedder, nothing_stored, all_alike).scores(QUESTION, passages)
    assert foreign.scores(QUESTION, passages) == plain


def test_too_many_without_vectors_are_refused_before_any_work(
    embedder: LocalEmbedder, passages: list[StoredChunk]
) -> None:
    many = passages * (MOST_COMPUTED // 3 + 1)
    with pytest.raises(ModelUnavailable, match=r"rerank\.store"):
        LateReranker(embedder, nothing_stored, all_alike).scores(QUESTION, many)


def test_rare_words_decide(embedder: LocalEmbedder, passages: list[StoredChunk]) -> None:
    def only(rare: str) -> LateReranker:
        return LateReranker(
            embedder, nothing_stored, lambda words, _: [float(w == rare) for w in words]
        )

    query = "mill, or crown?"
    lake, mill, boat = only("mill").scores(query, passages)
    assert mill > max(lake, boat)
    lake, mill, boat = only("crown").scores(query, passages)
    assert mill < min(lake, boat)


def test_a_query_of_punctuation_is_judged_too(
    embedder: LocalEmbedder, passages: list[StoredChunk]
) -> None:
    found = LateReranker(embedder, nothing_stored, all_alike).scores("?!", passages)
    assert all(0 <= score <= 1 for score in found)


def test_nothing_to_judge(embedder: LocalEmbedder) -> None:
    assert LateReranker(embedder, nothing_stored, all_alike).scores(QUESTION, []) == []
