"""What becomes of a document: which step it is in and how long each took, whether a fault concerns
only that document, whether it is known, and which labels it gets.

Equal hashes mean equal texts. Known bytes under a new name are a moved file or a copy: `recognise`
only decides, and returns a change that the writer applies to the store later. Knows nothing of
formats: the same bytes under a similar name are read the same way. The program decides where the
log goes.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from time import perf_counter
from uuid import uuid4

from trivium.core.errors import DocumentFailed, ReadError, TriviumError, UrlFailed
from trivium.core.types import EVERYONE, Document, Extraction, Labels, Metadata
from trivium.core.work import JobId, Step
from trivium.ports import Backend, SourceItem
from trivium.store.identity import parts_from
from trivium.text.values import clean_text


class Steps:
    """A stopwatch that one document carries. Only one thread has the document at a time."""

    def __init__(self) -> None:
        self.now: str = ""
        self.seconds: dict[str, float] = {}
        self._since = 0.0
        self.heard = ""  # of a recording: seconds done, in all, and left
        self._hearing: tuple[float, float] | None = None  # when it began, and where

    def hear(self, done: float, total: float) -> None:
        """How far the transcription of a recording is."""
        now = perf_counter()
        if self._hearing is None:
            self._hearing = (now, done)
        began, first = self._hearing
        gained = done - first
        left = f" {(total - done) * (now - began) / gained:.0f}" if gained > 0 else ""
        self.heard = f"{done:.0f} {total:.0f}{left}"

    def enter(self, step: Step) -> None:
        self.leave()
        self.now, self._since = step.value, perf_counter()

    def leave(self) -> None:
        """Waiting for its turn is no step."""
        if self._since:
            self.spend(self.now, perf_counter() - self._since)
            self._since = 0.0

    @classmethod
    @contextmanager
    def together(cls, some: Sequence[Steps], step: Step) -> Iterator[None]:
        """A step done for several documents at once; each gets its share of the time."""
        started = perf_counter()
        for steps in some:
            steps.now = step.value
        yield
        seconds = perf_counter() - started
        for steps in some:
            steps.spend(step.value, seconds / len(some))

    def spend(self, step: str, seconds: float) -> None:
        """A share of a step done for several documents at once."""
        self.now = step
        self.seconds[step] = round(self.seconds.get(step, 0.0) + seconds, 6)


class Fate(StrEnum):
    """What became of an item."""

    ADDED = "added"
    UPDATED = "updated"
    RELABELLED = "relabelled"
    MOVED = "moved"  # it has another name now
    DUPLICATE = "duplicate"  # the same bytes are there: one more name of that document
    UNCHANGED = "unchanged"
    UNREAD = "unread"  # it is inside a document, which was added and mentions it
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Outcome:
    uri: str
    fate: Fate
    document: Document | None = None
    # Why it failed; or, with a document, why that is found by words and spelling only.
    error: TriviumError | None = None
    size: int = 0
    enclosed: bool = False  # it is inside another item
    job: JobId = 0
    unfetched: UrlFailed | None = None  # of a part: the document is there without it


log = logging.getLogger("trivium.ingest")

_LONGEST = 300  # characters of a library's error message; the log has all of it


class Dropped(BaseException):
    """Somebody cancelled the job of a document while it was being read."""


def is_of_one_document(error: BaseException) -> bool:
    """Whether the other documents can continue. Not if the store or a model can't be used (every
    error of ours but read errors), and not if someone ends the program. Everything else is a fault,
    including what isn't an `Exception`, such as a panic in a Rust library."""
    if isinstance(error, TriviumError):
        return isinstance(error, ReadError)
    return not isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | Dropped)


def is_refused(error: BaseException | None) -> bool:
    """Whether a file can't be read, and not through a fault of ours."""
    return isinstance(error, ReadError) and not isinstance(error, DocumentFailed)


def failure(name: str, step: str, error: BaseException) -> ReadError:
    """The document's error, with the entry of the log that shows where it happened."""
    if isinstance(error, ReadError) and is_refused(error):
        return error
    entry = uuid4().hex[:8]
    fix = f"Please report it with entry {entry} of the log."
    if isinstance(error, DocumentFailed):  # in a process that reads files: its notes say where
        where = "\n".join(getattr(error, "__notes__", ()))
        log.error("[%s] %s %s", entry, error.message, where)
        return DocumentFailed(error.message, fix=fix)
    log.error("[%s] %s failed at the step %s", entry, name, step or "read", exc_info=error)
    why = " ".join(clean_text(_message_of(error)).split())
    why = why if len(why) <= _LONGEST else f"{why[: _LONGEST - 3]}..."
    return DocumentFailed(
        f"Couldn't add {name}: something went wrong at the step {step or 'read'} ({why}).", fix=fix
    )


def _message_of(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {error}" if str(error) else kind
    except Exception:  # an error that cannot even be written
        return kind


def hash_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def text_digest(read: Extraction, metadata: Metadata) -> str:
    """The hash of a text that needed no extraction, with its source's metadata. Not its audience:
    that may change without a new interpretation."""
    fields = sorted((name, value) for name, value in metadata.items() if name != "audience")
    parts = (read.title, read.text, repr(fields)) if fields else (read.title, read.text)
    return hash_of("\n".join(parts))


def labelled(labels: Labels, own: Metadata, before: Document | None) -> tuple[str, str, Metadata]:
    """Category, audience and metadata: from the caller, else from the document itself, else as
    before. So adding a private file again without a label never makes it public."""
    category = labels.category if labels.category is not None else _own(own, "category")
    audience = labels.audience if labels.audience is not None else _own(own, "audience")
    former = before.metadata if before else {}
    return (
        category if category is not None else (before.category if before else ""),
        audience if audience is not None else (before.audience if before else EVERYONE),
        {**(own or former), **labels.metadata},
    )


def not_given(labels: Labels, own: Metadata) -> frozenset[str]:
    """The labels that neither the caller nor the document itself says."""
    wanted = {"category": labels.category, "audience": labels.audience}
    missing = (name for name, value in wanted.items() if value is None and _own(own, name) is None)
    return frozenset(missing)


def _own(own: Metadata, name: str) -> str | None:
    value = own.get(name)
    return value if isinstance(value, str) and value else None


@dataclass(frozen=True, slots=True)
class Renaming:
    """A document whose source was renamed, with its labels."""

    item: SourceItem
    document: Document
    old: str  # the name that is gone
    category: str
    audience: str
    metadata: Metadata

    def apply(self, backend: Backend) -> Outcome:
        # Another copy may have taken its place since this was decided: then it is one more name.
        document = backend.documents.find(self.old, self.document.collection)
        fate = Fate.MOVED if document and document.id == self.document.id else Fate.DUPLICATE
        after = backend.writer.rename(self.document.id, self.old, self.item.uri)
        wanted = (self.category, self.audience, dict(self.metadata))
        if wanted != (after.category, after.audience, dict(after.metadata)):
            backend.writer.relabel(
                after.id, category=self.category, audience=self.audience, metadata=self.metadata
            )
            after = backend.documents.find(self.item.uri, after.collection) or after
        return Outcome(self.item.uri, fate, after, None, self.item.size, self.item.enclosed)


@dataclass(frozen=True, slots=True)
class Naming:
    """A document whose bytes are in one more place."""

    item: SourceItem
    document: Document

    def apply(self, backend: Backend) -> Outcome:
        after = backend.writer.add_name(self.document.id, self.item.uri)
        item = self.item
        return Outcome(item.uri, Fate.DUPLICATE, after, None, item.size, item.enclosed)


@dataclass(frozen=True, slots=True)
class Covered:
    """A file that another document shows: the recording beside it, whose subtitles or sound it is,
    or an item of a synced source."""

    item: SourceItem
    own: Document | None  # that it was before the other came

    def apply(self, backend: Backend) -> Outcome:
        item = self.item
        if self.own is not None:
            backend.writer.forget(item.uri, self.own.collection)
        return Outcome(item.uri, Fate.DUPLICATE, None, None, item.size, item.enclosed)


def recognise(
    backend: Backend,
    alike: Iterable[Document],
    item: SourceItem,
    digest: str,
    labels: Labels,
    is_current: Callable[[str], bool],
) -> Renaming | Naming | None:
    """What an unknown item is, given documents with the same bytes: one that moved here, else a
    copy. None: a new document. `is_current` says whether a pipeline's fingerprint is today's."""
    if item.title or item.metadata:  # its source knows it by more than its bytes
        return None
    copy = None
    for document in alike:
        if document.sender != labels.sender:  # theirs, whatever it holds
            continue
        if _suffix(document.uri) != _suffix(item.uri):  # may be read in another way
            continue
        category, audience, metadata = labelled(labels, {}, document)
        old = _gone(document, item)
        if old is not None and not parts_from(document, digest, audience, labels.sender):
            return Renaming(item, document, old, category, audience, metadata)
        if (
            copy is None
            and document.content_hash == digest  # not where an older text was restored
            and is_current(document.seen_fingerprint)
            and (category, audience) == (document.category, document.audience)
            and dict(metadata) == dict(document.metadata)
            and not backend.documents.within(document.uri, document.collection)
        ):
            copy = Naming(item, document)
    return copy


def _gone(document: Document, item: SourceItem) -> str | None:
    """The first of its names that its source no longer has."""
    if item.exists is None:
        return None
    return next((uri for uri in (document.uri, *document.names) if not item.exists(uri)), None)


def _suffix(uri: str) -> str:
    return PurePosixPath(uri.replace("\\", "/")).suffix.lower()
