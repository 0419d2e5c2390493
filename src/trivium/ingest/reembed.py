"""Embeds a library again with another model while it is in use, then switches to it at once.

It keeps everything done so far: started again, it continues where it stopped. It holds the writer's
lock only for the switch, so documents can change meanwhile; new ones are embedded before the
switch. Knows stores and models only through their ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from time import perf_counter

from trivium.core.types import ChunkId
from trivium.ingest.embedding import BatchSize
from trivium.ports import Backend, Embedder, TokenEmbedder, Unembedded, Waiting

BATCH = 128  # passages embedded and stored at a time: 8 s on 2 cores, the most that a kill can cost
# For a fast model. 6,825 passages, as if the model cost nothing: 1,764 a second with 128 at a time,
# 3,752 with 512, 4,989 with 2,048.
MOST = 16 * BATCH
REEMBEDDING = "reembed"  # the lease
_DOING = "embedding this library again"
ROUNDS = 5  # after which what others still add is embedded while they wait


@dataclass(frozen=True, slots=True)
class ReembedProgress:
    """How far it is. `total` grows while others add."""

    done: int
    total: int
    seconds: float
    switched: bool = False

    @property
    def rate(self) -> float:
        """Passages a second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None where nobody can tell yet."""
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(eq=False)
class Reembedder:
    _backend: Backend
    _embedder: Embedder
    _settings: Mapping[str, str]  # how to load the embedder, for the manifest
    _: KW_ONLY
    token_embedder: TokenEmbedder | None = None
    on_progress: Callable[[ReembedProgress], None] = lambda progress: None

    def __post_init__(self) -> None:
        self._size = BatchSize(BATCH, MOST)
        self._done = 0
        self._total = 0
        self._started = perf_counter()

    def run(self, waiting: Waiting | None = None) -> ReembedProgress:
        """Raises ModelUnavailable if the model fails, ReembedStopped if the change was
        cancelled."""
        model = self._embedder.fingerprint
        with self._backend.leases.hold(REEMBEDDING, _DOING, waiting=waiting):
            if self._backend.models.manifest().model == model:
                self._backend.models.abandon()  # an unfinished change to another model
            else:
                self._backend.models.begin(model, self._settings)
                self._change(model, waiting)
            self._backend.models.drop_others()
        return self._tell(switched=True)

    def _change(self, model: str, waiting: Waiting | None) -> None:
        for _ in range(ROUNDS):
            if not self._embed_lacking():
                break
        self._backend.models.prepare(model)
        with self._backend.writer.writing(waiting):
            self._embed_lacking()
            self._backend.models.switch(model)

    def _embed_lacking(self) -> int:
        """Embed what has no vector of the model; how many passages that were comes back."""
        model = self._embedder.fingerprint
        lacking = self._backend.models.count_unembedded(model)
        self._total = self._done + lacking
        self._tell()
        last: ChunkId = 0
        while batch := self._backend.models.unembedded(model, last, self._size.now):
            self._done += self._embed(batch)
            last = batch[-1].id
            self._tell()
        return lacking

    def _embed(self, batch: Sequence[Unembedded]) -> int:
        texts = {row.hash: row.text for row in batch}
        unique = list(texts.values())
        started = perf_counter()
        if self.token_embedder is not None:
            vectors, packed = self.token_embedder.embed_with_tokens(unique)
        else:
            vectors, packed = self._embedder.embed_documents(unique), [b""] * len(unique)
        self._size.learn(len(batch), perf_counter() - started)
        self._backend.models.keep_beside(
            self._embedder.fingerprint,
            dict(zip(texts, vectors, strict=True)),
            {hash_: tokens for hash_, tokens in zip(texts, packed, strict=True) if tokens},
        )
        return len(texts)

    def _tell(self, *, switched: bool = False) -> ReembedProgress:
        total = max(self._total, self._done)
        progress = ReembedProgress(self._done, total, perf_counter() - self._started, switched)
        self.on_progress(progress)
        return progress
