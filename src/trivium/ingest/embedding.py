"""Vectors for texts: known ones, and as many of the others as the model returns.

If the model fails, only the texts of that call lack vectors. Knows nothing of documents; the caller
checks which of them lack a vector.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from trivium.core.errors import ModelNonsense, ModelRefused, ModelUnavailable
from trivium.ingest.faults import is_of_one_document
from trivium.ports import Backend, CalledEmbedder, Embedder, TokenEmbedder

if TYPE_CHECKING:
    from trivium.core.types import TokenVectors, Vector

# Seconds in which a model that failed is not asked again: every call to one that hangs takes
# minutes, and its client has tried five times already.
PAUSE = 60.0
# Characters that a model on this machine gets at once, and less than twice as many, so that people
# see how far a long document is: on 2 cores 64 full passages, 4 seconds. For each core, because
# it waits for the others at the end of a call: half of one run (512 tokens) of sixteen.
PART = 32_768 * (os.cpu_count() or 2)
# Batches whose vectors may not be in the store yet when the next one is embedded: one is being
# written, one waits for that.
_UNSTORED = 3


@dataclass(slots=True)
class Made:
    """What came of some texts, by their hashes."""

    vectors: dict[str, Vector] = field(default_factory=dict)
    tokens: dict[str, TokenVectors] = field(default_factory=dict)
    reasons: dict[str, ModelUnavailable] = field(default_factory=dict)  # of those without a vector
    faults: dict[str, BaseException] = field(default_factory=dict)  # of texts that broke the model

    def take(self, other: Made) -> None:
        """Combine with the results for other texts. A text that has a vector after all lacks
        nothing."""
        self.vectors |= other.vectors
        self.tokens |= other.tokens
        self.reasons |= other.reasons
        self.faults |= other.faults
        self.reasons = {h: why for h, why in self.reasons.items() if h not in self.vectors}
        self.faults = {h: why for h, why in self.faults.items() if h not in self.vectors}


class Embedding:
    """One thread at a time asks it."""

    def __init__(
        self, backend: Backend, embedder: Embedder, token_embedder: TokenEmbedder | None = None
    ) -> None:
        self._backend = backend
        self._embedder = embedder
        self._token_embedder = token_embedder  # the embedder, where token vectors are to be kept
        self._recent: deque[tuple[str, Made]] = deque(maxlen=_UNSTORED)  # with their senders
        self.failed: ModelUnavailable | None = None  # why it gave nothing when last asked
        self._failed_at = 0.0
        self.is_failing = False  # it was asked for something, and gave nothing
        self.seconds = 0.0  # inside the model
        self.texts = 0  # that it was asked for

    @property
    def model(self) -> str:
        return self._embedder.fingerprint

    @property
    def missing(self) -> ModelUnavailable | None:
        """Why there is no model at all. Not used for a model that fails for a while."""
        failed = self.failed
        return failed if failed is not None and type(failed) is ModelUnavailable else None

    def embed(
        self, texts: Mapping[str, str], sender: str = "", done: set[str] | None = None
    ) -> Made:
        """Embed `texts`, given by hash. Hashes that the model is done with are added to `done`, for
        those who watch.

        Trivium embeds what a token sends again, unless that token sent it before: a known vector
        would save time, and so confirm that a hidden document holds the same passage. The owner
        sees every document.
        """
        made = Made(dict(self._backend.models.known(self.model, list(texts), sender)))
        for of, recent in self._recent:
            if sender in ("", of):
                made.vectors |= {h: recent.vectors[h] for h in texts if h in recent.vectors}
        wanted = [hash_ for hash_ in texts if hash_ not in made.vectors]
        done = set() if done is None else done
        done.update(made.vectors)
        if wanted:
            started = perf_counter()
            for part in self._in_calls(wanted, texts, done):
                made.take(part)
            self.seconds += perf_counter() - started
        self._recent.append((sender, made))
        return made

    def _rests(self) -> bool:
        if self.failed is None:
            return False
        return self.missing is not None or monotonic() - self._failed_at < PAUSE

    def _in_calls(self, wanted: list[str], texts: Mapping[str, str], done: set[str]) -> list[Made]:
        embedder, parallel = self._embedder, 1
        if isinstance(embedder, CalledEmbedder):
            size, parallel = embedder.batch, embedder.parallel
            calls = [wanted[i : i + size] for i in range(0, len(wanted), size)]
        else:
            calls = list(_parts(wanted, texts))

        def call(hashes: list[str]) -> Made:
            made = self._call(hashes, texts)
            done.update(hashes)
            return made

        if len(calls) == 1 or parallel == 1:
            return [call(hashes) for hashes in calls]
        with ThreadPoolExecutor(parallel, "trivium-embed") as threads:
            return list(threads.map(call, calls))

    def _call(self, hashes: list[str], texts: Mapping[str, str]) -> Made:
        """One call; if the model may refuse one text in it, then each half of it."""
        if self._rests():
            return self._lost(hashes, self.failed)
        try:
            return self._ask(hashes, [texts[hash_] for hash_ in hashes])
        except (ModelRefused, ModelNonsense) as reason:
            if len(hashes) > 1:
                return self._halved(hashes, texts)
            return self._lost(hashes, reason)
        except ModelUnavailable as reason:
            return self._gone(hashes, reason)
        except BaseException as fault:
            if not is_of_one_document(fault):
                raise
            if len(hashes) > 1:
                return self._halved(hashes, texts)
            return Made(faults={hashes[0]: fault})

    def _halved(self, hashes: list[str], texts: Mapping[str, str]) -> Made:
        middle = len(hashes) // 2
        made = self._call(hashes[:middle], texts)
        made.take(self._call(hashes[middle:], texts))
        refused = not made.vectors and not made.faults
        if refused and not self._rests():  # it is not the text: nothing is accepted
            return self._gone(hashes, next(iter(made.reasons.values())))
        return made

    def _ask(self, hashes: Sequence[str], texts: list[str]) -> Made:
        self.texts += len(texts)
        tokens: dict[str, TokenVectors] = {}
        if self._token_embedder is not None:
            vectors, packed = self._token_embedder.embed_with_tokens(texts)
            tokens = {hash_: one for hash_, one in zip(hashes, packed, strict=True) if one}
        else:
            vectors = self._embedder.embed_documents(texts)
        self.failed, self.is_failing = None, False
        return Made(dict(zip(hashes, vectors, strict=True)), tokens)

    def _gone(self, hashes: Sequence[str], reason: ModelUnavailable) -> Made:
        self.failed, self._failed_at = reason, monotonic()
        return self._lost(hashes, reason)

    def _lost(self, hashes: Sequence[str], reason: ModelUnavailable | None) -> Made:
        assert reason is not None
        self.is_failing = True
        return Made(reasons=dict.fromkeys(hashes, reason))


def _parts(wanted: Sequence[str], texts: Mapping[str, str]) -> Iterator[list[str]]:
    """In order, of nearly equal length."""
    total = sum(len(texts[hash_]) for hash_ in wanted)
    length = total / max(1, total // PART)
    part: list[str] = []
    taken = 0
    for hash_ in wanted:
        part.append(hash_)
        taken += len(texts[hash_])
        if taken >= length:
            yield part
            part, taken = [], 0
    if part:
        yield part
