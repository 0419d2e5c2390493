"""Collects documents that were read and hands them on in batches with their vectors.

One thread runs the model: it takes documents by priority, as many as one call handles well, more
for a fast model. It steps back for people who search. Knows nothing of stores.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from itertools import count
from threading import Thread

from trivium.core.work import Priority, Step
from trivium.ingest.embedding import Embedding, Made
from trivium.ingest.in_flight import BATCH_DOCUMENTS, InFlight

_QUICK = 0.5  # seconds; a model that takes less for all that it may get gets twice as much
_SLOW = 4.0  # seconds; after that many it gets the least again


class BatchSize:
    def __init__(self, least: int, most: int) -> None:
        self.now = self._least = least
        self._most = most

    def learn(self, given: int, seconds: float) -> None:
        """The model took so long for the last batch."""
        if seconds > _SLOW:
            self.now = self._least
        elif seconds < _QUICK and given >= self.now:
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
