"""Is this document known, and which labels does it get?

Equal hashes mean equal texts. Known bytes under a new name are a moved file or a copy: `recognise`
only decides, and returns a change that the writer applies to the store later. Knows nothing of
formats: the same bytes under a similar name are read the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from trivium.core.types import EVERYONE, Document, Extraction, Labels, Metadata
from trivium.ingest.progress import Fate, Outcome
from trivium.ports import Backend, SourceItem
from trivium.store.identity import parts_from


def hash_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def text_digest(read: Extraction, metadata: Metadata) -> str:
    """The hash of a text that needed no extraction, with its source's metadata. Not its audience:
    that may change without a new interpretation."""
    said = sorted((name, value) for name, value in metadata.items() if name != "audience")
    parts = (read.title, read.text, repr(said)) if said else (read.title, read.text)
    return hash_of("\n".join(parts))


def labelled(labels: Labels, own: Metadata, before: Document | None) -> tuple[str, str, Metadata]:
    """Category, audience and metadata: from the caller, else from the document itself, else as
    before. So adding a private file again without a label never makes it public."""
    category = labels.category if labels.category is not None else _own(own, "category")
    audience = labels.audience if labels.audience is not None else _own(own, "audience")
    kept = before.metadata if before else {}
    return (
        category if category is not None else (before.category if before else ""),
        audience if audience is not None else (before.audience if before else EVERYONE),
        {**(own or kept), **labels.metadata},
    )


def not_given(labels: Labels, own: Metadata) -> frozenset[str]:
    """The labels that neither the caller nor the document itself says."""
    given = {"category": labels.category, "audience": labels.audience}
    said = (name for name, value in given.items() if value is None and _own(own, name) is None)
    return frozenset(said)


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
        held = backend.documents.find(self.old, self.document.collection)
        fate = Fate.MOVED if held and held.id == self.document.id else Fate.DUPLICATE
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
