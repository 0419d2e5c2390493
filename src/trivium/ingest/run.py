"""How documents get into a library: some threads read, one embeds, another writes.

    offers ─▶ prepare (pool) ─▶ embed (one thread) ─▶ put (the caller's thread) ─▶ outcomes

`run` is the recipe; the steps follow below it in order. `in_flight` says where each document is and
which waits for which.

Documents in progress are limited by bytes and by number, so memory stays the same however much a
source offers. While one batch is written, the next is embedded. Outcomes come in the order in which
documents are done. A file that contains others is stored after them: if it is in the store, they
are too, even if a process died in between. An error in any step of one document fails only that
document; an error of the store or a model ends the run (`faults`). Knows sources, models, stores
and queues only through their ports.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from trivium.core.errors import ModelUnavailable
from trivium.core.types import Extraction, Processed
from trivium.core.work import JobId, Offered, Step, SyncPoint
from trivium.ingest.attached import is_library
from trivium.ingest.embedding import Batches, Embedding, Made, step_back
from trivium.ingest.outcomes import (
    Covered,
    Dropped,
    Fate,
    Naming,
    Outcome,
    Renaming,
    failure,
    is_of_one_document,
    is_refused,
)
from trivium.ingest.preparing import Decision, Preparation, Relabelling
from trivium.ingest.tasks import OFTEN, InFlight, InFlightDocuments, Offer, TaskRecords
from trivium.ports import Backend, SourceItem
from trivium.text.values import clean_text

# Small files are prepared together: waking up a thread or a process, and asking the database, takes
# longer than most of the work on one of them. Larger files are worth it alone.
TOGETHER = 16
SMALL = 8 << 10  # bytes
DEEPEST = 3  # a file in an archive in a message in a mailbox; deeper ones are counted as its bytes

# What other threads tell the caller's: documents that were read, a batch with its vectors, an error
# that ends it all.
_Event: TypeAlias = tuple[list[InFlight], list[Decision] | Made] | BaseException


class Pipeline:
    """Use it as a context manager: leaving it waits for its threads."""

    def __init__(
        self,
        backend: Backend,
        embedding: Embedding,
        *,
        readers: int = 2,
        records: TaskRecords | None = None,
        on_note: Callable[[str], None] = lambda note: None,
        point: SyncPoint | None = None,
    ) -> None:
        """`point`: how far a source is synced once everything that is offered is done."""
        self._backend = backend
        self._embedding = embedding
        self._records = records or TaskRecords(None)
        self._on_note = on_note
        self._noted = False
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(readers, "trivium-prepare", initializer=step_back)
        # Recordings, one after the other: each may take hours, and others shall not wait for it.
        self._hearing = ThreadPoolExecutor(1, "trivium-hear", initializer=step_back)
        self._batches = Batches(
            embedding, lambda batch, made: self._events.put((batch, made)), self._events.put
        )
        self._in_flight = InFlightDocuments(readers)
        self._cancelled: set[JobId] = set()
        self._point = point
        self._all_offered = False

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._hearing.shutdown(cancel_futures=True)
        self._batches.join()

    def run(
        self, offers: Iterable[Offer], more: Callable[[bool], Iterable[Offer]] = lambda hears: ()
    ) -> Iterator[Outcome]:
        """Yields an outcome for every item, once its store has it. Stop asking to stop early.
        `more` is asked now and then while documents are under way and nothing else is offered: new
        ones may be more urgent. Its argument says whether a recording is among those under way, as
        new ones may be done long before that."""
        feed: Iterator[Offer] | None = iter(offers)
        lost = False
        self._batches.start()
        try:
            while True:
                feed = self._feed(feed)
                self._all_offered = feed is None
                if not self._in_flight.is_empty:
                    yield from self._take_next()
                    if self._look() and feed is None:
                        feed = iter(more(any(f.is_recording for f in self._in_flight.all())))
                elif self._in_flight.is_tied:  # they wait for what waits for them
                    yield self._untied()
                elif feed is None and self._in_flight.is_done:
                    break
            self._records.settle(now=True)
            if self._point is not None:  # no document carried it
                self._backend.sources.advance(self._point)
        except BaseException as error:
            lost = is_of_one_document(error)  # and nobody could say which one
            raise
        finally:
            self._batches.stop()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._hearing.shutdown(wait=False, cancel_futures=True)
            unfinished = (f.offer.task for f in self._in_flight.unfinished())
            self._records.release(unfinished, lost=lost)

    # --- 1. start as many documents as there is room for

    def _feed(self, feed: Iterator[Offer] | None) -> Iterator[Offer] | None:
        """None: nothing more will be offered."""
        group: list[InFlight] = []
        while self._in_flight.has_room:
            flight = self._in_flight.take_first()
            if flight is None and feed is not None:
                offer = next(feed, None)
                if offer is None:
                    feed = None
                    continue
                flight = InFlight(offer)
            if flight is None:
                break
            if flight.offer.alone and not self._in_flight.is_empty:
                self._in_flight.put_first([flight])
                break
            self._records.begin(flight.offer)
            if group and not _go_together(group, flight):
                self._submit(group)
                group = []
            if self._in_flight.begin(flight):
                group.append(flight)
        if group:
            self._submit(group)
        if not self._in_flight.reading:
            self._batches.hurry()
        self._records.settle()
        return feed

    def _submit(self, group: list[InFlight]) -> None:
        pool = self._hearing if group[0].is_recording else self._pool
        pool.submit(self._prepare, group)

    # --- 2. they are read, compared, labelled and cut, in a thread of the pool

    def _prepare(self, group: list[InFlight]) -> None:
        dropped = [flight for flight in group if self._is_dropped(flight)]
        if dropped:
            self._drop(dropped)
        remaining = [flight for flight in group if flight not in dropped]
        if remaining:
            self._find_out(remaining)

    def _drop(self, group: list[InFlight]) -> None:
        outcomes = [Outcome(flight.offer.item.uri, Fate.CANCELLED) for flight in group]
        self._events.put((group, list[Decision](outcomes)))

    def _find_out(self, group: list[InFlight]) -> None:
        try:
            first = group[0].offer
            preparations = [
                Preparation(
                    flight.offer.item,
                    flight.steps,
                    flight.offer.anew,
                    is_dropped=partial(self._is_dropped, flight),
                )
                for flight in group
            ]
            outcomes = first.preparer.prepare(preparations, first.labels)
            for flight, preparation in zip(group, preparations, strict=True):
                flight.unfetched = preparation.unfetched
            self._events.put((group, outcomes))
        except Dropped:
            self._drop(group)
            return
        except BaseException as error:
            if not is_of_one_document(error):
                self._events.put(error)  # to be raised where someone sees it
                return
            if len(group) == 1:
                self._events.put((group, [self._failed(group[0], error)]))
                return
        else:
            return
        for flight in group:  # one of them is why: each alone
            self._prepare([flight])

    # --- 3. carry out the decisions: only this thread writes

    def _take_next(self) -> Iterator[Outcome]:
        """What another thread is done with, unless nothing comes for a while."""
        try:
            if self._in_flight.are_recordings and self._events.empty():
                self._backend.writer.rest(OFTEN)  # it takes hours: others may write meanwhile
                event = self._events.get_nowait()
            else:
                event = self._events.get(timeout=OFTEN)
        except queue.Empty:
            return
        if isinstance(event, BaseException):
            raise event
        flights, results = event
        if isinstance(results, Made):
            self._batches.waiting -= len(flights)
            yield from self._put(flights, results)
        else:
            self._in_flight.reading -= sum(not flight.is_recording for flight in flights)
            for each in zip(flights, results, strict=True):
                yield from self._take(*each)

    def _take(self, flight: InFlight, decision: Decision) -> Iterator[Outcome]:
        try:
            done, within = self._apply(flight, decision)
        except BaseException as error:
            done, within = self._failed(flight, error), []
        if done is not None:
            yield (
                self._unread(flight, done) if _is_unread(flight, done) else self._end(flight, done)
            )
        elif within:
            self._in_flight.park(flight, [self._inner(flight, item) for item in within])
        else:
            yield from self._proceed(flight)

    def _apply(
        self, flight: InFlight, decision: Decision
    ) -> tuple[Outcome | None, list[SourceItem]]:
        """Its outcome; or none, and the files inside it, if it must be stored."""
        if isinstance(decision, Outcome):
            return decision, []
        if isinstance(decision, Renaming | Naming | Covered):
            return decision.apply(self._backend), []
        if isinstance(decision, Relabelling):
            return self._relabel(decision), []
        flight.prepared = decision
        if flight.depth >= DEEPEST or flight.opened:
            return None, []
        within, processed = decision.within(), decision.processed
        if decision.before is not None and is_library(processed.extraction):
            offered = {item.uri for item in within}
            documents = self._backend.documents.within(processed.uri, processed.collection)
            flight.gone = [document.id for document in documents if document.uri not in offered]
        return None, within

    def _failed(self, flight: InFlight, error: BaseException) -> Outcome:
        """Raises errors that don't concern this document alone."""
        if not is_of_one_document(error):
            raise error
        item = flight.offer.item
        why = failure(item.name, flight.steps.now, error)
        return Outcome(item.uri, Fate.FAILED, None, why, item.size, item.enclosed)

    def _inner(self, flight: InFlight, item: SourceItem) -> InFlight:
        of = flight.offer
        task = self._records.meet(of.job, of.task, Offered(item.uri, item.name, item.size))
        return InFlight(replace(of, item=item, task=task, anew=False), flight, flight.depth + 1)

    def _unread(self, flight: InFlight, failed: Outcome) -> Outcome:
        """A remark on the document that contains it: a message counts as read even if its logo
        doesn't."""
        assert flight.parent is not None
        error = failed.error
        flight.parent.unread.append(clean_text(f"{flight.offer.item.name}: {error}"))
        self._records.end(flight.ending(Fate.UNREAD, error))
        return self._over(flight, replace(failed, fate=Fate.UNREAD, error=None))

    def _proceed(self, flight: InFlight) -> Iterator[Outcome]:
        """The files inside it are done: now the document itself."""
        if flight.gone:
            self._backend.writer.remove(flight.gone)
        if flight.unread:
            flight.prepared = flight.ready.lacking(flight.unread)
        item, ready = flight.offer.item, flight.ready
        if flight.offer.anew and ready.is_known:
            same = Outcome(item.uri, Fate.UNCHANGED, ready.before, None, item.size, item.enclosed)
            yield self._end(flight, same)
        else:
            self._batches.add(flight)

    # --- 4. they are embedded (`batches`), and put

    def _put(self, batch: list[InFlight], made: Made) -> Iterator[Outcome]:
        self._records.settle(now=True)  # what ends with a document must be written before
        whole: list[InFlight] = []
        for flight in batch:
            fault = next((made.faults[h] for h in flight.hashes if h in made.faults), None)
            if self._is_dropped(flight):
                yield self._end(flight, Outcome(flight.offer.item.uri, Fate.CANCELLED))
            elif fault is not None:
                yield self._end(flight, self._failed(flight, fault))
            else:
                whole.append(flight)
        yield from self._store_all(whole, made)

    def _store_all(self, flights: Sequence[InFlight], made: Made) -> Iterator[Outcome]:
        """Together; where that fails, each alone, so that only the one fails which is why."""
        while flights:
            stored: list[Outcome] = []
            try:
                stored = self._stored(flights, made)
            except BaseException as error:
                if not is_of_one_document(error):
                    raise
                if len(flights) == 1:
                    flights[0].steps.now = Step.STORE.value
                    yield self._end(flights[0], self._failed(flights[0], error))
                    return
            if not stored:
                for flight in flights:
                    yield from self._store_all([flight], made)
                return
            for flight, done in zip(flights, stored, strict=False):
                yield self._over(flight, done)
            flights = flights[len(stored) :]

    def _stored(self, flights: Sequence[InFlight], made: Made) -> list[Outcome]:
        """Of the first of them, as many as the store could keep."""
        reasons = [self._reason(flight, made) for flight in flights]
        processed = [
            self._processed(flight, made, why) for flight, why in zip(flights, reasons, strict=True)
        ]
        # Who takes the outcome notes what a document lacks, and only then may the cursor move on.
        is_whole = not any(flight.unfetched for flight in flights)
        carried = self._point if is_whole and self._is_last(flights) else None
        if carried is not None:
            processed[-1] = replace(processed[-1], point=carried)
        half = [entry for entry in processed if entry.vectors is None]
        vectors = {h: made.vectors[h] for entry in half for h in entry.hashes if h in made.vectors}
        if vectors:
            self._backend.models.keep(self._embedding.model, vectors)
        outcomes = []
        documents = self._backend.writer.put(processed, self._embedding.model)
        if carried is not None and len(documents) == len(processed):
            self._point = None  # it is saved, in the transaction that shows the last of them
        for flight, document, why in zip(flights, documents, reasons, strict=False):
            item, fate = flight.offer.item, flight.fate
            if flight.ready.before is None and document.uri != item.uri:
                fate = Fate.DUPLICATE  # of another that was under way
            outcomes.append(Outcome(item.uri, fate, document, why, item.size, item.enclosed))
        return outcomes

    def _is_last(self, flights: Sequence[InFlight]) -> bool:
        """Whether everything is done once these are there."""
        return self._all_offered and len(list(self._in_flight.unfinished())) == len(flights)

    def _processed(
        self, flight: InFlight, made: Made, reason: ModelUnavailable | None
    ) -> Processed:
        """With its vectors, if it has them all, and with the end of its task."""
        processed = flight.ready.processed
        is_whole = processed.hashes and not any(hash_ in made.reasons for hash_ in processed.hashes)
        vectors = _vectors(processed.hashes, made) if is_whole else {}
        end = flight.ending(flight.fate, reason) if flight.offer.task else None
        end = self._records.signed(end) if end else None
        return replace(processed, timings=dict(flight.steps.seconds), task=end, **vectors)

    def _reason(self, flight: InFlight, made: Made) -> ModelUnavailable | None:
        """Why it has no vectors, if there is a model and it failed."""
        reason = next((made.reasons[h] for h in flight.hashes if h in made.reasons), None)
        if reason is not None and not self._noted:
            self._noted = True
            self._on_note(
                f"Added without vectors: you can search by words and spelling only. {reason}"
            )
        return None if self._embedding.missing is not None else reason

    def _relabel(self, change: Relabelling) -> Outcome:
        item, before = change.item, change.document
        category, audience, metadata = change.category, change.audience, change.metadata
        self._backend.writer.relabel(
            before.id, category=category, audience=audience, metadata=metadata
        )
        after = replace(before, category=category, audience=audience, metadata=metadata)
        return Outcome(item.uri, Fate.RELABELLED, after, None, item.size, item.enclosed)

    # --- 5. they end, and whoever waited for them goes on

    def _end(self, flight: InFlight, outcome: Outcome) -> Outcome:
        """It ends without a document being put."""
        self._records.end(flight.ending(outcome.fate, outcome.error, outcome.document))
        return self._over(flight, outcome)

    def _over(self, flight: InFlight, outcome: Outcome) -> Outcome:
        holder = self._in_flight.end(flight)
        if holder is not None:  # all that it holds is done: now itself
            self._events.put(([holder], [holder.ready]))
        return replace(outcome, job=flight.offer.job, unfetched=flight.unfetched)

    def _untied(self) -> Outcome:
        flight = self._in_flight.untie()
        item = flight.offer.item
        return self._end(flight, Outcome(item.uri, Fate.UNCHANGED, None, None, item.size, True))

    def _is_dropped(self, flight: InFlight) -> bool:
        return flight.offer.job in self._cancelled

    def _look(self) -> bool:
        """Look at what other processes ask for, if it is time to."""
        if not self._records.is_due():
            return False
        flights = list(self._in_flight.all())
        progress = {flight.offer.task: flight.progress for flight in flights if flight.steps.now}
        self._cancelled |= self._records.look(progress, (flight.offer.job for flight in flights))
        return True


def _is_unread(flight: InFlight, outcome: Outcome) -> bool:
    """A fault of ours is no remark: somebody should report it."""
    return outcome.fate is Fate.FAILED and is_refused(outcome.error) and flight.is_part


def _go_together(group: list[InFlight], flight: InFlight) -> bool:
    """Small documents, of one job or of several alike: one thread can prepare them together."""
    first, other = group[0].offer, flight.offer
    if first.alone or other.alone or flight.is_recording or group[0].is_recording:
        return False
    if len(group) == TOGETHER or not (_is_small(first.item) and _is_small(other.item)):
        return False
    alike = (first.preparer, first.priority) == (other.preparer, other.priority)
    return alike and first.labels == other.labels


def _is_small(item: SourceItem) -> bool:
    """What has an unknown size may come slowly, from a network."""
    if isinstance(item.content, Extraction):
        return len(item.content.text) <= SMALL
    return 0 < item.size <= SMALL


def _vectors(hashes: Sequence[str], made: Made) -> dict[str, Any]:
    import numpy as np

    new = {hash_: made.tokens[hash_] for hash_ in hashes if hash_ in made.tokens}
    return {"vectors": np.array([made.vectors[hash_] for hash_ in hashes]), "tokens": new}
