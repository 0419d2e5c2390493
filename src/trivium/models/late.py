"""Reranks by late interaction: every token of a query looks for its nearest token in a passage.

The mean of those similarities, rare tokens counting more, is the passage's score (MaxSim: Khattab
and Zaharia, "ColBERT", SIGIR 2020). The vectors are those of the embedding model's last layer, so
no other weights are needed; a passage's are kept as signs when it is embedded, a query's are exact.

Knows embedders by their port and stored vectors as bytes. Knows nothing of fusion and blending.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import TYPE_CHECKING, Any, TypeAlias

from trivium.core.errors import ModelUnavailable
from trivium.core.types import OWNER, ChunkId, StoredChunk, TokenVectors, Where
from trivium.ports import LONGEST_PASSAGE, TokenEmbedder, model_name
from trivium.text.normalise import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector, Vectors

Rarities: TypeAlias = Callable[[Sequence[str], Where], Sequence[float]]
Stored: TypeAlias = Callable[[Sequence[ChunkId]], Mapping[ChunkId, TokenVectors]]

FORMAT = 1  # first byte of packed vectors, so that no other version of Trivium misreads them
# Dimensions that are kept: every second. Within a query, scores of signs go with exact ones by
# r = .98, of every second sign by .96; nDCG@10 over six sets gained .0047 and .0051, exact .0053.
# As many signs of a random or a principal projection, or fewer dimensions of 2 bits, do no better.
EVERY = 2
# The similarities that mean 0 and 1. A fixed scale, since one from the worst to the best passage of
# each query blows up small differences: it lost .003 nDCG@10 on cranfield and .004 on nfcorpus,
# where this one gains .004 and .001. From .2 to .8 gained as much, from 0 to 1 .001 less.
LEAST, MOST = 0.1, 0.9
# Scores of one query are within .3 of each other, so how far a passage is below the best counts by
# this. nDCG@10 on eleven sets, 600 queries of each at most, chosen on the others: .6843 instead of
# .6795 (fused: .6717). bge-small's tokens say less: .6801 at .5, .6806 as they are (fused: .6778).
SPANS = {"all-MiniLM-L6-v2": 0.4}
# Passages whose vectors are computed during a search where none are kept. 20 of 300 tokens take
# 1.7 s on 2 cores, and a search waits 2.
MOST_COMPUTED = 20
_ALONE = 250_000  # products of a matrix that OpenBLAS computes on one thread
_KEPT = (2 / pi) ** 0.5  # what signs keep of the length of a vector of normal numbers


def pack(vectors: Vectors) -> TokenVectors:
    """The signs of every second dimension: 24 bytes a token of 384 instead of 1,536."""
    import numpy as np

    return bytes([FORMAT]) + np.packbits(vectors[:, ::EVERY] > 0, axis=1).tobytes()


def unpack(packed: TokenVectors, dimensions: int) -> NDArray[Any]:
    """Rows of 0 and 1, one for each token."""
    import numpy as np

    rows = np.frombuffer(packed, np.uint8, offset=1).reshape(-1, -(-dimensions // 8))
    return np.unpackbits(rows, axis=1, count=dimensions)


def similarities(query: Vectors, passages: Sequence[TokenVectors]) -> Vectors:
    """For each passage and each token of the query the similarity of its nearest token.

    A unit vector times signs, over the root of the dimensions, is .80 of the cosine.
    """
    import numpy as np

    sampled = query[:, ::EVERY]
    sampled = sampled / np.maximum(np.linalg.norm(sampled, axis=1, keepdims=True), 1e-9)
    dimensions = sampled.shape[1]
    # With b in 0..1 for signs in -1..1: q·(2b-1) = 2q·b - Σq, and no second copy of the passages.
    highest = [_highest(unpack(packed, dimensions), sampled.T) for packed in passages]
    nearest: Vectors = (2 * np.stack(highest) - sampled.sum(axis=1)).astype(np.float32)
    return nearest * np.float32(1 / (_KEPT * dimensions**0.5))


def _highest(bits: NDArray[Any], query: Vectors) -> Vectors:
    """The highest product of each column. A few rows at a time: for more, numpy's library of
    matrices starts threads that go on spinning (30 passages: 20 ms of processor time, not 6)."""
    import numpy as np

    step = max(1, _ALONE // query.size)
    slices = (bits[at : at + step].astype(np.float32) for at in range(0, len(bits), step))
    highest: Vectors = np.max([np.max(some @ query, axis=0) for some in slices], axis=0)
    return highest


class LateReranker:
    """The built-in `Reranker`. Threads may share it."""

    def __init__(
        self, embedder: TokenEmbedder, stored: Stored, rarities: Rarities, where: Where = OWNER
    ) -> None:
        """`stored` returns a store's token vectors of chunks that the caller may see, `rarities`
        how rare words are in what passes `where`."""
        self._where = where
        self.span = SPANS.get(model_name(embedder.fingerprint), 1.0)
        self.fingerprint = f"late-{FORMAT}-{embedder.fingerprint}"
        self._embedder = embedder
        self._stored = stored
        self._rarities = rarities

    def within(self, where: Where) -> LateReranker:
        return LateReranker(self._embedder, self._stored, self._rarities, where)

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        if not passages:
            return []
        vectors, belonging = self._embedder.embed_query_tokens(query)
        weights = self._weights(belonging)
        tokens = dict(self._stored([passage.id for passage in passages]))
        missing = [p for p in passages if tokens.get(p.id, b"")[:1] != bytes([FORMAT])]
        if missing:
            tokens |= self._computed(missing)
        scores = similarities(vectors, [tokens[p.id] for p in passages]) @ weights
        return [min(1.0, max(0.0, (float(s) - LEAST) / (MOST - LEAST))) for s in scores]

    def _weights(self, belonging: Sequence[str]) -> Vector:
        """Of each token the rarity of its word, so that all add up to 1; punctuation counts 0."""
        import numpy as np

        folded = [words(word) for word in belonging]
        distinct = sorted({word for parts in folded for word in parts})
        rarity = dict(zip(distinct, self._rarities(distinct, self._where), strict=True))
        array = np.array([sum(rarity[word] for word in parts) for parts in folded], np.float32)
        if not array.any():
            array = np.ones_like(array)
        weights: Vector = array / array.sum()
        return weights

    def _computed(self, passages: Sequence[StoredChunk]) -> dict[ChunkId, TokenVectors]:
        if len(passages) > MOST_COMPUTED:
            raise ModelUnavailable(
                f"{len(passages)} passages have no token vectors; a search computes at most"
                f" {MOST_COMPUTED}.",
                fix="Ask for fewer results, or set `rerank.store` to on and add the documents to a"
                " new library.",
            )
        texts = [p.chunk.embedded_text[:LONGEST_PASSAGE] for p in passages]
        _, packed = self._embedder.embed_with_tokens(texts)
        return {p.id: tokens for p, tokens in zip(passages, packed, strict=True)}
