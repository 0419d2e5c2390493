"""One item on its way to the store: read, compared with the registry, extracted, labelled, cut.

Reads the store and writes nothing but originals, into its archive: what is to be done comes back,
so that several threads may prepare at once while one writes. Knows nothing of vectors or batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from trivium.errors import FileDamaged, FileEmpty, ModelError, ReadError
from trivium.extract.detect import reader_name, too_many_bytes
from trivium.ingest.attached import attached, described, is_library
from trivium.ingest.hashes import hash_of
from trivium.ingest.identity import Naming, Renaming, recognise
from trivium.ingest.labels import labelled
from trivium.ingest.outcomes import Fate, Outcome
from trivium.ingest.steps import Steps
from trivium.ingest.summaries import steady
from trivium.ports import Blob, Chunker, Extractor, SourceItem, Store, Summariser
from trivium.store.identity import WITHIN, parts_from
from trivium.text.summary import ExtractiveSummariser
from trivium.types import Chunk, Document, Extraction, Kind, Labels, Metadata, Processed
from trivium.work import Step

CHUNKING = "chunking"  # metadata: what a person must know about how a document was cut


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be kept, but for its vectors."""

    item: SourceItem
    processed: Processed
    texts: tuple[str, ...]  # to embed, one for each chunk
    before: Document | None

    @property
    def is_known(self) -> bool:
        """The store has it just so: it was read for what it holds within."""
        of, before = self.processed, self.before
        return before is not None and (of.content_hash, of.fingerprint) == (
            before.seen_hash,
            before.seen_fingerprint,
        )

    def within(self) -> list[SourceItem]:
        """What it encloses and what it names: documents of their own."""
        extraction = self.processed.extraction
        return [*_enclosed(self.item, extraction), *attached(self.item, extraction)]


@dataclass(frozen=True, slots=True)
class Relabelling:
    """A document whose bytes are known, and what is said about it now."""

    item: SourceItem
    document: Document
    category: str
    audience: str
    metadata: Metadata


class Preparer:
    def __init__(
        self,
        store: Store,
        chunker: Chunker,
        read: Callable[[Blob], Extraction],
        extractors: Sequence[Extractor],
        *,
        max_bytes: int,
        summariser: Summariser | None = None,
        keep_originals: bool = True,
    ) -> None:
        self._store = store
        self._keep_originals = keep_originals
        self._chunker = chunker
        self._read = read
        # Asked only for their versions: even to look which one takes a file is `read`'s work, done
        # where a hostile file does no harm.
        self._readers = _readers(extractors)
        self._max_bytes = max_bytes
        self._summariser = summariser

    def prepare(
        self, item: SourceItem, labels: Labels, *, steps: Steps | None = None, anew: bool = False
    ) -> Prepared | Relabelling | Renaming | Naming | Outcome:
        """An outcome, where nothing is left to do. `anew`: though its bytes are known."""
        steps = steps or Steps()
        try:
            steps.enter(Step.EXTRACT)
            content = self._content(item)
            digest = _digest(content)
            steps.enter(Step.REGISTER)
            before = self._store.find(item.uri, labels.collection)
            known = None if anew else self._known(item, content, digest, before, labels)
            if known is not None:
                return known
            steps.enter(Step.EXTRACT)
            extraction = described(item, self._extract(content))
            steps.enter(Step.CHUNK)
            chunks = self._chunker.chunk(extraction)
            if not chunks and not extraction.enclosed:
                raise FileEmpty(f"{item.name} holds no text.")
        except ReadError as error:
            size, enclosed = item.size, item.enclosed
            return Outcome(item.uri, Fate.FAILED, error=error, size=size, enclosed=enclosed)
        steps.enter(Step.INTERPRET)
        category, audience, metadata = labelled(labels, extraction.metadata, before)
        note = self._chunker.note(extraction, chunks)
        metadata = {name: value for name, value in metadata.items() if name != CHUNKING}
        if note:
            metadata[CHUNKING] = note
        summary, summarised_by = self._summary(extraction, chunks, digest, before)
        original = ""
        if self._keep_originals and isinstance(content, Blob):
            steps.enter(Step.ARCHIVE)
            original = self._store.archive(content.data)
        texts = tuple(chunk.embedded_under(summary) for chunk in chunks)
        processed = Processed(
            uri=item.uri,
            collection=labels.collection,
            category=category,
            audience=audience,
            metadata=metadata,
            content_hash=digest,
            size=item.size,
            extraction=extraction,
            chunks=chunks,
            hashes=tuple(hash_of(text) for text in texts),
            vectors=None,
            fingerprint=self._fingerprint(extraction.reader),
            summary=summary,
            summarised_by=summarised_by,
            original=original,
        )
        return Prepared(item, processed, texts, before)

    def _known(
        self,
        item: SourceItem,
        content: Blob | Extraction,
        digest: str,
        before: Document | None,
        labels: Labels,
    ) -> Relabelling | Renaming | Naming | Outcome | None:
        """What is to be done where these bytes were met before; None: they must be read.

        Compared with what was last seen at the source, not with the active text: that may be an
        older one which somebody restored. The model has no part in this: vectors are kept by model
        and text, and change without a new interpretation."""
        if before is None:
            if isinstance(content, Extraction):  # no bytes: its source says what it is
                return None
            return recognise(self._store, item, digest, labels, self._is_current)
        if before.seen_hash != digest or not self._is_current(before.seen_fingerprint):
            return None
        settled = _relabelled(item, before, labels)
        if isinstance(settled, Relabelling) and parts_from(before, digest, settled.audience):
            return None
        return settled

    def _content(self, item: SourceItem) -> Blob | Extraction:
        if isinstance(item.content, Extraction):
            return item.content
        if item.size > self._max_bytes:  # before it is in memory
            raise too_many_bytes(item.name, item.size, self._max_bytes)
        return Blob(item.name, item.content())

    def _extract(self, content: Blob | Extraction) -> Extraction:
        if isinstance(content, Extraction):
            return content
        try:
            return self._read(content)
        except ReadError:
            raise
        except Exception as reason:  # a parser's bug must not stop the other documents
            what = f"{type(reason).__name__}: {reason}"
            raise FileDamaged(f"{content.name} could not be read ({what}).") from reason

    def _summary(
        self, extraction: Extraction, chunks: Sequence[Chunk], digest: str, before: Document | None
    ) -> tuple[str, str]:
        """And who said so of these bytes. Of one chunk it would be a repetition, and a conversation
        is about many things."""
        if self._summariser is None or len(chunks) < 2 or extraction.kind is Kind.MESSAGES:
            return "", ""
        fresh, by = self._summarised(self._summariser, extraction, digest)
        if before is None or not self._is_current(before.fingerprint):
            return fresh, by
        kept = steady(fresh, chunks, self._store.summarised(before.id))
        return kept, by if kept == fresh else ""

    def _summarised(
        self, summariser: Summariser, extraction: Extraction, digest: str
    ) -> tuple[str, str]:
        """What was said of the same bytes before is not asked for again. Where a language model is
        away, the document's own words serve."""
        known = self._store.summary(digest, summariser.fingerprint)
        if known is not None:
            return known, summariser.fingerprint
        try:
            return summariser.summarise(extraction), summariser.fingerprint
        except ModelError:
            own = ExtractiveSummariser()
            return own.summarise(extraction), own.fingerprint

    def _fingerprint(self, reader: str) -> str:
        parts = [self._readers.get(reader, reader), self._chunker.fingerprint]
        if self._summariser:
            parts.append(self._summariser.fingerprint)
        return "/".join(parts)

    def _is_current(self, fingerprint: str) -> bool:
        """Whether what read a document then would read it in the same way now."""
        return any(fingerprint == self._fingerprint(reader) for reader in self._readers)


def _relabelled(item: SourceItem, before: Document, labels: Labels) -> Relabelling | Outcome:
    own = {**before.metadata, **item.metadata} if item.metadata else {}
    category, audience, metadata = labelled(labels, own, before)
    wanted = (category, audience, dict(metadata))
    if wanted == (before.category, before.audience, dict(before.metadata)):
        return Outcome(item.uri, Fate.UNCHANGED, before, None, item.size, item.enclosed)
    return Relabelling(item, before, category, audience, metadata)


def _enclosed(item: SourceItem, extraction: Extraction) -> list[SourceItem]:
    """What a file holds within: documents of their own, known by where they lie in it."""
    return [
        SourceItem(
            f"{item.uri}{WITHIN}{inner.name}",
            inner.name.rpartition("/")[2],
            partial(bytes, inner.data),
            len(inner.data),
            enclosed=True,
            beside=item.beside if is_library(extraction) else None,
            exists=item.exists,
        )
        for inner in extraction.enclosed
    ]


def _readers(extractors: Sequence[Extractor]) -> Mapping[str, str]:
    """What stands in a fingerprint for each reader: its name and version, and which others there
    were to choose from. A new format means reading again what another took until then."""
    formats = hash_of(" ".join(type(extractor).__name__ for extractor in extractors))[:8]
    names = ["", *map(reader_name, extractors)]  # without a name: text that needed no reading
    return {name: f"{name}@{formats}" if name else "text" for name in names}


def _digest(content: Blob | Extraction) -> str:
    if isinstance(content, Extraction):
        return hash_of(f"{content.title}\n{content.text}")
    return hashlib.sha256(content.data).hexdigest()
