"""Reads files in other processes, under limits of time, memory and output.

A file that crashes, hangs or floods its parser costs one typed error and a new process; whoever
asks next does not notice. What the processes do is `worker`'s; which documents are worth reading
is the caller's. The limits protect against accidents and bombs: a file that takes over its parser
has the rights of the user who runs it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Self

from trivium.core import errors
from trivium.core.errors import (
    DocumentFailed,
    FileDamaged,
    FileTimeout,
    FileTooLarge,
    ReadError,
    TriviumError,
)
from trivium.core.types import Extraction
from trivium.extract import box
from trivium.extract.cleaning import cleaned
from trivium.extract.detect import MAX_BYTES
from trivium.extract.process import Failure, Limits, Lost, Reply, Scratch, Worker
from trivium.extract.wire import Order, unpack
from trivium.ports import Blob
from trivium.text.values import clean_text

BUILT_IN = "trivium.extract.detect:BUILT_IN"
START_SECONDS = 60.0  # for a worker to import its extractors: 0.2 s, more on a busy machine
# A worker starts in 0.2 to 0.8 s: over 500 documents that was 1.6 ms each, 4 % of what a short one
# costs to embed. A leak ends sooner: a worker that uses half its memory limit is replaced.
DOCUMENTS_PER_WORKER = 5000
LONGEST = 60  # times the seconds, for an extractor that says it is still working


@dataclass(slots=True)
class _Slot:
    """A right to read. Whoever holds it owns the worker in it."""

    worker: Worker | None = None


class Sandbox:
    """A few worker processes that read files. Threads may share it."""

    def __init__(
        self,
        workers: int,
        seconds: float = 60.0,
        memory_bytes: int = 2 << 30,
        output_bytes: int = 512 << 20,
        *,
        max_bytes: int = MAX_BYTES,
        extractors: str = BUILT_IN,
        chunker: str = "",
        chunks_all: bool = False,
        settings: Mapping[str, str] | None = None,
        longest_seconds: float | None = None,
        documents_per_worker: int = DOCUMENTS_PER_WORKER,
        isolated: bool = True,
        readable: Sequence[str] = (),
    ) -> None:
        """`seconds` is for a file, or for each step of one whose extractor calls
        `pulse.still_working`; then `longest_seconds` is for all of them. `extractors` names a
        sequence of them as "module:attribute", or a function that makes one of `settings`: it is
        imported in the workers, as what `chunker` names, which makes a FileChunker: for large
        files, or with `chunks_all` for every file. `isolated`: close workers in, as far as the
        machine allows (`box`); then they see `readable` besides programs."""
        self._order = Order(
            extractors=extractors,
            settings=dict(settings or {}),
            max_bytes=max_bytes,
            memory_bytes=memory_bytes,
            seconds=seconds,
            parent=os.getpid(),
            chunker=chunker,
            chunks_all=chunks_all,
            readable=box.readable(readable) if isolated else (),
        )
        longest = seconds * LONGEST if longest_seconds is None else longest_seconds
        self._limits = Limits(seconds, longest, memory_bytes, output_bytes)
        self._documents_per_worker = documents_per_worker
        self._workers = workers
        self._closed = False
        self._lock = threading.Lock()
        self._alive: set[Worker] = set()
        self._slots: queue.LifoQueue[_Slot] = queue.LifoQueue()  # the warm worker first
        for _ in range(workers):
            self._slots.put(_Slot())
        self._folder = Scratch("trivium-read-")
        # Linux kills a child when the thread that made it ends, so one that lasts makes them all.
        self._starter = ThreadPoolExecutor(1, "trivium-sandbox")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends every worker; reads under way in other threads raise RuntimeError."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for worker in self._alive:
                worker.kill()
        slots = [self._slots.get() for _ in range(self._workers)]
        for slot in slots:
            self._discard(slot)
            self._slots.put(slot)
        self._starter.shutdown()
        for worker in self._alive:  # started for a caller who was interrupted meanwhile
            worker.end()
        self._folder.cleanup()

    def read(self, blob: Blob) -> Extraction:
        """The text and structure of a file. Raises ReadError with a reason a person understands;
        waits while all workers are busy."""
        (outcome,) = self.read_all([blob])
        if isinstance(outcome, ReadError):
            raise outcome
        return outcome

    def read_all(self, blobs: Sequence[Blob], chunking: str = "") -> list[Extraction | ReadError]:
        """One outcome for each. They go to one worker in one request: for small files, of which
        most of the time was waking up (1.0 ms of processor time each, and .6 so, 16 at once).
        `chunking` is what a FileChunker is made of: what it chunks comes back with its chunks and
        without its elements."""
        slot = self._slots.get()
        try:
            return self._together(slot, blobs, chunking)
        except BaseException:  # interrupted: nobody knows what the worker would say next
            self._discard(slot)
            raise
        finally:
            self._slots.put(slot)

    def _together(
        self, slot: _Slot, blobs: Sequence[Blob], chunking: str
    ) -> list[Extraction | ReadError]:
        if len(blobs) > 1:
            try:
                return self._read_by(slot, self._ready(slot), blobs, chunking)
            except Lost:  # one of them ended it: each alone, so that only that one fails
                self._discard(slot)
        return [self._outcome(slot, blob, chunking) for blob in blobs]

    def _outcome(self, slot: _Slot, blob: Blob, chunking: str) -> Extraction | ReadError:
        while True:
            worker = self._ready(slot)
            first = worker.documents == 0
            try:
                return self._read_by(slot, worker, [blob], chunking)[0]
            except Lost as lost:
                note = self._discard(slot)
                failure = worker.failure(lost.failure, note)
                # An earlier document may have left it in a bad state: only a fresh one is proof.
                if first or failure in ("time", "output") or self._closed:
                    return self._reason(blob, failure, worker.allowed, note)

    def _read_by(
        self, slot: _Slot, worker: Worker, blobs: Sequence[Blob], chunking: str
    ) -> list[Extraction | ReadError]:
        outcomes, peak = [], 0
        for blob, answer in zip(blobs, worker.ask(blobs, chunking), strict=True):
            if answer.verb == "memory":
                raise Lost("memory")
            outcomes.append(_decoded(answer, blob))
            peak = max(peak, answer.peak)
        if worker.documents >= self._documents_per_worker or worker.is_swollen(peak):
            self._discard(slot)
        return outcomes

    def _ready(self, slot: _Slot) -> Worker:
        """The slot's worker; a new one when there is none or something ended it."""
        if slot.worker is not None and not self._closed:
            if slot.worker.is_idle():
                return slot.worker
            self._discard(slot)
        if self._closed:
            raise RuntimeError("The sandbox is closed.")
        slot.worker = worker = self._starter.submit(self._start).result()
        try:
            ready = worker.receive(monotonic() + START_SECONDS)
            why = str(ready.rest[-1]) if ready.verb == "bug" else ""
        except Lost:
            ready = None
            why = "The process ended."
        if ready is None or ready.verb != "ready":
            note = self._discard(slot)
            if self._closed:
                raise RuntimeError("The sandbox is closed.")
            raise TriviumError(f"The process that reads files doesn't start. {why} {note}")
        return worker

    def _start(self) -> Worker:
        worker = Worker(self._order, self._limits, str(self._folder.path))
        with self._lock:
            self._alive.add(worker)
            if self._closed:
                worker.kill()
        return worker

    def _discard(self, slot: _Slot) -> str:
        """Ends the slot's worker; what it printed last comes back."""
        worker, slot.worker = slot.worker, None
        if worker is None:
            return ""
        with self._lock:
            self._alive.discard(worker)
        return worker.end()

    def _reason(self, blob: Blob, failure: Failure, seconds: float, note: str) -> ReadError:
        if self._closed:
            raise RuntimeError("The sandbox is closed.")
        name, limits = blob.name, self._limits
        error: ReadError
        match failure:
            case "time":
                error = FileTimeout(
                    f"{name} took longer than {seconds:g} seconds to read.",
                    fix="Split the file, or raise the setting `read.seconds`.",
                )
            case "memory":
                error = FileTooLarge(
                    f"{name} needs more than {_size(limits.memory)} of memory to read.",
                    fix="Split the file, or raise the setting `read.memory`.",
                )
            case "output":
                error = FileTooLarge(f"{name} unpacks to more than {_size(limits.output)}.")
            case "crash":
                error = FileDamaged(f"{name} crashed its reader.")
            case "nonsense":
                error = _fault(name, "its reader returned an invalid answer")
        if note:
            error.add_note(note)
        return error


def _decoded(answer: Reply, blob: Blob) -> Extraction | ReadError:
    try:
        if answer.verb == "read":
            (structure,) = answer.rest
            return cleaned(unpack(structure, answer.attached))
        first, *texts = [clean_text(str(part)) for part in answer.rest]
        if answer.verb == "refused":
            return _refusal(first, *texts)
        if answer.verb != "bug":
            raise ValueError(answer.verb)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, MemoryError):
        raise Lost("nonsense") from None
    error = _fault(blob.name, first)
    for text in texts:
        error.add_note(text)
    return error


def _fault(name: str, fault: str) -> DocumentFailed:
    """A fault of ours or of a plug-in: saving the file again would not help."""
    return DocumentFailed(
        f"Couldn't read {name} because of a fault in Trivium ({fault}); the file may be fine.",
        fix="Please report it.",
    )


def _refusal(kind: str, message: str, fix: str) -> ReadError:
    """The error that the extractor raised."""
    error_class = getattr(errors, kind, None)
    if not (isinstance(error_class, type) and issubclass(error_class, ReadError)):
        raise ValueError(kind)
    error = error_class.__new__(error_class)
    TriviumError.__init__(error, message, fix=fix)
    return error


def _size(count: int) -> str:
    return f"{count / (1 << 30):g} GiB" if count >= 1 << 30 else f"{count / (1 << 20):g} MiB"
