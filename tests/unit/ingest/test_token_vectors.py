"""Token vectors in the pipeline: stored once, with newly embedded chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tests.reference import open_memory

from trivium.chunk.choose import AutoChunker
from trivium.core.types import OWNER, Extraction, Labels, TokenVectors
from trivium.ingest.embedding import Embedding
from trivium.ingest.preparing import Preparer
from trivium.ingest.run import Pipeline
from trivium.ingest.tasks import Offer
from trivium.ports import Backend, SourceItem
from trivium.testing.samples import ToyEmbedder
from trivium.text.tokens import Cl100kTokens

if TYPE_CHECKING:
    from trivium.core.types import Vector, Vectors


class ToyTokenEmbedder(ToyEmbedder):
    """Packs the first word of a text; one that begins with a question mark has none."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        self.seen += texts
        packed = [text.split()[0].encode() if text[0] != "?" else b"" for text in texts]
        return self.embed_documents(texts), packed

    def embed_query_tokens(self, text: str) -> tuple[Vectors, Vector]:
        raise NotImplementedError


class Texts:
    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def items(self) -> Iterator[SourceItem]:
        for text in self._texts:
            yield SourceItem(text, text, Extraction(text, (), "", "text/plain", "en"))


def run(store: Backend, embedder: ToyTokenEmbedder, *texts: str, keep: bool) -> None:
    preparer = Preparer(
        store,
        AutoChunker(Cl100kTokens(), 400, 80, 40, ceiling=400, most=100, strategy="auto"),
        lambda blobs: [],
        (),
        max_bytes=1,
        max_chunks=10,
    )
    offers = [Offer(item, Labels(), preparer) for item in Texts(*texts).items()]
    embedding = Embedding(store, embedder, embedder if keep else None)
    with Pipeline(store, embedding, readers=1) as pipeline:
        assert len(list(pipeline.run(offers))) == len(texts)


def test_token_vectors_come_out_of_the_embedding_pass() -> None:
    store, embedder = open_memory(), ToyTokenEmbedder()
    run(store, embedder, "amber bell", "copper bell", "? fog", keep=True)
    assert store.signals.token_vectors([1, 2, 3], OWNER, embedder.fingerprint) == {
        1: b"amber",
        2: b"copper",
    }
    assert len(embedder.seen) == 3


def test_what_is_known_is_not_computed_again() -> None:
    store, embedder = open_memory(), ToyTokenEmbedder()
    run(store, embedder, "amber bell", keep=True)
    run(store, embedder, "amber bell", "copper bell", keep=True)
    assert embedder.seen == ["amber bell", "copper bell"]
    assert store.signals.token_vectors([1, 2], OWNER, embedder.fingerprint) == {
        1: b"amber",
        2: b"copper",
    }


def test_none_are_kept_unless_asked_for() -> None:
    store, embedder = open_memory(), ToyTokenEmbedder()
    run(store, embedder, "amber bell", keep=False)
    assert store.signals.token_vectors([1], OWNER, embedder.fingerprint) == {}
    assert embedder.seen == []
