"""Documents that were read get their vectors: known ones, and as many others as the model returns.

If the model fails, only the texts of that call lack vectors (`Embedding`, which knows nothing of
documents). One thread runs it (`Batches`): it takes documents by priority, as many as one call
handles well, more for a fast model, and steps back for people who search.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from threading import Thread
from time import monotonic, perf_counter

from trivium.core.errors import ModelNonsense, ModelRefused, ModelUnavailable
from trivium.core.types import TokenVectors, Vector
from trivium.core.work import Priority, Step
from trivium.ingest.outcomes import is_of_one_document
from trivium.ingest.tasks import BATCH_DOCUMENTS, InFlight
from trivium.ports import Backend, CalledEmbedder, Embedder, TokenEmbedder

# Seconds in which a model that failed is not asked again: every call to one that hangs takes
# minutes, and its client has tried five times already.
PAUSE = 60.0
# Characters that a model on this machine gets at once, at most: on 2 idle cores 64 full passages, 4
# seconds. For each core, because it waits for the others at the end of a call: half of one run (512
# tokens) of sixteen. On a slower or busy machine as many as take the seconds below, so that people
# see how far it is: with 64 each the bar stood still for 80 s where eight others worked.
PART = 32_768 * (os.cpu_count() or 2)
_SECONDS = 2.0
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
        self._length = PART // 4  # characters of the next call

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
            return [self._timed(part, texts, done) for part in self._parts(wanted, texts)]

        def call(hashes: list[str]) -> Made:
            made = self._call(hashes, texts)
            done.update(hashes)
            return made

        if len(calls) == 1 or parallel == 1:
            return [call(hashes) for hashes in calls]
        with ThreadPoolExecutor(parallel, "trivium-embed") as threads:
            return list(threads.map(call, calls))

    def _timed(self, hashes: list[str], texts: Mapping[str, str], done: set[str]) -> Made:
        """One call, which says how long the next may be."""
        started = perf_counter()
        made = self._call(hashes, texts)
        pace = sum(len(texts[hash_]) for hash_ in hashes) / max(1e-3, perf_counter() - started)
        self._length = round(min(PART, max(PART / 8, pace * _SECONDS)))
        done.update(hashes)
        return made

    def _parts(self, wanted: Sequence[str], texts: Mapping[str, str]) -> Iterator[list[str]]:
        """In order. A rest that is shorter than half a part goes with the one before."""
        part: list[str] = []
        taken, left = 0, sum(len(texts[hash_]) for hash_ in wanted)
        for hash_ in wanted:
            part.append(hash_)
            taken += len(texts[hash_])
            if taken >= self._length and left - taken > self._length / 2:
                yield part
                part, left, taken = [], left - taken, 0
        if part:
            yield part

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
            tokens = {hash_: row for hash_, row in zip(hashes, packed, strict=True) if row}
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


_QUICK = 0.5  # seconds; a model that takes less for all that it may get gets twice as much
_SLOW = 4.0  # seconds; after that many it gets the least again


class BatchSize:
    def __init__(self, least: int, most: int) -> None:
        self.now = self._least = least
        self._most = most

    def learn(self, passages: int, seconds: float) -> None:
        """The model took so long for the last batch."""
        if seconds > _SLOW:
            self.now = self._least
        elif seconds < _QUICK and passages >= self.now:
            self.now = min(2 * self.now, self._most)


# The niceness of the thread: beside a search it gets a quarter of a core's time. With 10 it got a
# tenth, and other programs that kept all cores busy starved it.
_NICER = 5


def step_back() -> None:
    """Lower the priority of this thread, and of threads and processes that it starts, for good.
    Linux alone knows priorities of threads."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        now = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(19, max(now, _NICER)))


# Tokens in a batch: 64 full chunks, 4 seconds of embedding on 2 cores. A commit costs 30 ms, so
# less than 1 % of the time; and no one waits longer for a first document to be searchable.
BATCH_TOKENS = 16_384
# For a fast model: 15 s of processor time for 4,036 chunks became 12 (docs/log.md).
MOST_TOKENS = 8 * BATCH_TOKENS
_LULL = 0.25  # seconds without a new document after which a batch is not waited for any longer
_LEAVE = 10.0  # seconds for the thread to end; a model that hangs can't delay it
_HURRY, _STOP = int(Priority.BULK) + 1, -1  # after every document, and before


class Batches:
    def __init__(
        self,
        embedding: Embedding,
        on_batch: Callable[[list[InFlight], Made], None],
        on_bug: Callable[[BaseException], None],
    ) -> None:
        """Both are called in the thread of the model."""
        self._embedding = embedding
        self._on_batch = on_batch
        self._on_bug = on_bug
        self._ready: queue.PriorityQueue[tuple[int, int, InFlight | None]] = queue.PriorityQueue()
        self._order = count(1)
        self._hurried = False
        self._size = BatchSize(BATCH_TOKENS, MOST_TOKENS)
        self._thread = Thread(target=self._run, name="trivium-embed", daemon=True)
        self.waiting = 0  # documents whose batch the caller has not taken

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the call under way."""
        self._ready.put((_STOP, 0, None))

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join(_LEAVE)

    def add(self, flight: InFlight) -> None:
        self.waiting += 1
        self._hurried = False
        self._ready.put((flight.offer.priority, next(self._order), flight))

    def hurry(self) -> None:
        """Nothing more comes soon: embed what is waiting."""
        if self.waiting and not self._hurried:
            self._hurried = True
            self._ready.put((_HURRY, next(self._order), None))

    def _run(self) -> None:
        step_back()
        try:
            while (batch := self._next()) is not None:
                seconds, texts = self._embedding.seconds, self._embedding.texts
                made = Made()
                for sender in dict.fromkeys(flight.offer.labels.sender for flight in batch):
                    mine = [flight for flight in batch if flight.offer.labels.sender == sender]
                    made.take(self._embedded(mine, sender))
                if self._embedding.texts - texts > len(made.vectors) // 2:  # few were known before
                    tokens = sum(flight.tokens for flight in batch)
                    self._size.learn(tokens, self._embedding.seconds - seconds)
                self._on_batch(batch, made)
        except BaseException as bug:  # to be raised where someone sees it
            self._on_bug(bug)

    def _embedded(self, flights: list[InFlight], sender: str) -> Made:
        before = self._embedding.seconds
        texts = {
            hash_: text
            for ready in (flight.ready for flight in flights)
            for hash_, text in zip(ready.processed.hashes, ready.texts, strict=True)
        }
        done: set[str] = set()
        for flight in flights:
            flight.embedded = done
        made = self._embedding.embed(texts, sender, done)
        _share(flights, self._embedding.seconds - before)
        return made

    def _next(self) -> list[InFlight] | None:
        """None: it is over."""
        batch: list[InFlight] = []
        tokens = 0
        while tokens < self._size.now and len(batch) < BATCH_DOCUMENTS:
            try:
                priority, _, flight = self._ready.get(timeout=_LULL if batch else None)
            except queue.Empty:
                break
            if priority == _STOP:
                return None
            if flight is not None:
                flight.steps.now = Step.EMBED.value
                batch.append(flight)
                tokens += flight.tokens
            elif batch:
                break
        # In the order offered: of two equal files the first is the document, the other a name of
        # it.
        return sorted(batch, key=lambda flight: flight.number)


def _share(batch: list[InFlight], seconds: float) -> None:
    """The model's time, shared by the length of each document."""
    total = sum(flight.tokens for flight in batch) or 1
    for flight in batch:
        flight.steps.spend(Step.EMBED.value, seconds * flight.tokens / total)
