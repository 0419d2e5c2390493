"""Prepares items for the store: reads, compares with the registry, extracts, labels, chunks.

A few items go together, step by step, so that they share one query to the registry and one request
to a reading process. An item that fails drops out; the others continue. It reads the store and
writes only originals, into its archive. It returns what to do, so that several threads can prepare
while one writes. Knows nothing of vectors or batches.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TypeAlias

from trivium.core.errors import FileEmpty, ModelError, UrlFailed
from trivium.core.types import OWNER, Chunk, Document, Extraction, Kind, Labels, Metadata, Processed
from trivium.core.work import Step
from trivium.extract.cleaning import cleaned
from trivium.extract.recordings import has_ending
from trivium.ingest.attached import (
    PARTS,
    Unread,
    adopted,
    described,
    is_library,
    is_said,
    joined,
    papers,
    stand_in,
    with_parts,
)
from trivium.ingest.outcomes import (
    Covered,
    Dropped,
    Fate,
    Naming,
    Outcome,
    Renaming,
    Steps,
    failure,
    hash_of,
    is_of_one_document,
    is_refused,
    labelled,
    not_given,
    recognise,
    text_digest,
)
from trivium.ingest.recordings import (
    TRANSCRIBED_BY,
    heard_before,
    is_same_talk,
    parts_beside,
    recording_beside,
)
from trivium.ingest.summarising import steady
from trivium.ports import (
    Backend,
    Blob,
    Chunker,
    Extractor,
    Reader,
    SourceItem,
    Summariser,
    Transcribed,
)
from trivium.store.identity import ENTRY, WITHIN, parts_from
from trivium.text.summary import ExtractiveSummariser
from trivium.text.values import clean_text

CHUNKING = "chunking"  # metadata: what people should know about how a document was chunked
UNREAD = "unread"  # metadata: files inside a document that couldn't be read, and why
MOST_UNREAD = 20  # that a document names


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be kept, but for its vectors."""

    item: SourceItem
    processed: Processed
    texts: tuple[str, ...]  # to embed, one for each chunk
    before: Document | None

    @property
    def is_known(self) -> bool:
        """The store already has it: it was read for the files inside it."""
        of, before = self.processed, self.before
        return before is not None and (of.content_hash, of.fingerprint) == (
            before.seen_hash,
            before.seen_fingerprint,
        )

    def lacking(self, unread: Sequence[str]) -> Prepared:
        """The same, with a remark on what could not be read within it."""
        metadata = {**self.processed.metadata, UNREAD: tuple(unread[:MOST_UNREAD])}
        return replace(self, processed=replace(self.processed, metadata=metadata))

    def within(self) -> list[SourceItem]:
        """The files it contains and names: each becomes a document."""
        extraction = self.processed.extraction
        enclosed = papers if is_library(extraction) else _enclosed
        return list(enclosed(self.item, extraction))


@dataclass(frozen=True, slots=True)
class Relabelling:
    """A document whose bytes are known, with its labels of today."""

    item: SourceItem
    document: Document
    category: str
    audience: str
    metadata: Metadata


# What to do with an item; an outcome if nothing is left to do.
Decision: TypeAlias = Prepared | Relabelling | Renaming | Naming | Covered | Outcome


@dataclass(slots=True)
class Preparation:
    """An item while it is being prepared."""

    item: SourceItem
    steps: Steps
    anew: bool = False  # though its bytes are known
    blob: Blob | None = None  # none, where its source gives the text
    digest: str = ""
    before: Document | None = None
    extraction: Extraction | None = None
    chunks: tuple[Chunk, ...] = ()
    parts: list[Blob | Extraction] = field(default_factory=list)  # read with it
    unread: Unread = field(default_factory=list)  # of these
    found: Decision | None = None
    is_dropped: Callable[[], bool] = lambda: False

    def hear(self, heard: Transcribed) -> None:
        """Told while a recording is transcribed, which is when its job may be cancelled."""
        if self.is_dropped():
            raise Dropped
        self.steps.hear(heard.done, heard.total)

    @property
    def read(self) -> Extraction:
        assert self.extraction is not None
        return self.extraction

    @property
    def unfetched(self) -> UrlFailed | None:
        failed = ((name, error) for name, error in self.unread if isinstance(error, UrlFailed))
        return next((UrlFailed(f"{name}: {e.message}", fix=e.fix) for name, e in failed), None)

    def fail(self, error: BaseException) -> None:
        item = self.item
        why = failure(item.name, self.steps.now, error)
        self.found = Outcome(item.uri, Fate.FAILED, None, why, item.size, item.enclosed)


@dataclass(eq=False)
class Preparer:
    _backend: Backend
    _chunker: Chunker
    _read: Reader
    # Asked only for their versions: even to look which one takes a file is `_read`'s work, done
    # where a hostile file does no harm.
    _extractors: Sequence[Extractor]
    _: KW_ONLY
    max_bytes: int
    max_chunks: int
    summariser: Summariser | None = None
    keep_originals: bool = True
    # Which of some uris the library has from a synced source.
    synced: Callable[[Sequence[str]], Container[str]] = lambda uris: ()

    def __post_init__(self) -> None:
        self._readers = _readers(self._extractors)

    def prepare(self, preparations: Sequence[Preparation], labels: Labels) -> list[Decision]:
        """The outcome of each. Raises errors that aren't a document's fault."""
        self._each(preparations, Step.EXTRACT, self._fetch)
        self._compare(preparations, labels)
        self._extract([preparation for preparation in preparations if preparation.found is None])
        self._each(preparations, Step.CHUNK, self._chunk)
        self._each(preparations, Step.INTERPRET, partial(self._interpret, labels))
        return [preparation.found for preparation in preparations if preparation.found is not None]

    def _each(
        self, items: Sequence[Preparation], step: Step, work: Callable[[Preparation], None]
    ) -> None:
        """For all that are not settled. Whatever one of them meets must not stop the others, now or
        when they are resumed."""
        for preparation in items:
            if preparation.found is not None:
                continue
            preparation.steps.enter(step)
            try:
                work(preparation)
            except BaseException as error:
                if not is_of_one_document(error):
                    raise
                preparation.fail(error)
            preparation.steps.leave()

    def _fetch(self, preparation: Preparation) -> None:
        preparation.item, preparation.parts, preparation.unread = with_parts(preparation.item)
        item = preparation.item
        if isinstance(item.content, Extraction):
            preparation.extraction = read = cleaned(item.content)
            preparation.digest = text_digest(read, item.metadata)
            return
        if item.size > self.max_bytes:  # before it is in memory
            from trivium.extract.detect import too_many_bytes

            raise too_many_bytes(item.name, item.size, self.max_bytes)
        preparation.blob = Blob(item.name, item.content(), clean_text(item.title), item.uri)
        digest = hashlib.sha256(preparation.blob.data)
        if has_ending(item.name):
            subtitles = parts_beside(item)
            for part in subtitles:
                digest.update(part.data)
            preparation.blob = replace(
                preparation.blob, parts=subtitles, on_transcribed=preparation.hear
            )
        preparation.digest = digest.hexdigest()

    def _compare(self, items: Sequence[Preparation], labels: Labels) -> None:
        left = [preparation for preparation in items if preparation.found is None]
        if not left:
            return
        with Steps.together([preparation.steps for preparation in left], Step.REGISTER):
            documents = self._backend.documents.find_all(
                [preparation.item.uri for preparation in left], labels.collection
            )
            for preparation in left:
                preparation.before = documents.get(preparation.item.uri)
            new = [
                preparation.digest
                for preparation in left
                if preparation.before is None and preparation.blob and not preparation.anew
            ]
            alike: dict[str, list[Document]] = defaultdict(list)
            for document in self._backend.documents.alike(new, labels.collection) if new else ():
                alike[document.seen_hash].append(document)
        synced = self.synced([preparation.item.uri for preparation in left])
        for preparation in left:
            if preparation.item.uri in synced or self._is_of_recording(preparation):
                preparation.found = Covered(preparation.item, preparation.before)
        left = [preparation for preparation in left if preparation.found is None]
        unsettled = [preparation for preparation in left if not preparation.anew]
        self._each(
            unsettled, Step.REGISTER, lambda preparation: self._recall(preparation, labels, alike)
        )
        self._each(left, Step.REGISTER, self._adopt)

    def _is_of_recording(self, preparation: Preparation) -> bool:
        """Whether it is the sound or the subtitles of a recording in the same folder."""
        recording = recording_beside(preparation.item)
        if recording is None or recording.size > self.max_bytes:
            return False
        if preparation.blob is None or not has_ending(preparation.item.name):
            return True
        return is_same_talk(self._read, preparation.blob, recording)

    def _recall(
        self, preparation: Preparation, labels: Labels, alike: Mapping[str, Sequence[Document]]
    ) -> None:
        """Decide what to do if these bytes were seen before; otherwise they must be read.

        Compares with what the source last had, not with the active text: that may be an older
        version which somebody restored. It stays even if the bytes would be read differently now.
        Vectors don't matter here: they are stored by model and text, and change without a new
        interpretation.
        """
        item, digest, before = preparation.item, preparation.digest, preparation.before
        if before is None:
            if preparation.blob is not None:  # without bytes, its source says what it is
                same = alike.get(digest, ())
                preparation.found = recognise(
                    self._backend, same, item, digest, labels, self._is_current
                )
        elif (
            before.seen_hash == digest
            and item.metadata.get(PARTS, before.metadata.get(PARTS)) == before.metadata.get(PARTS)
            and (before.content_hash != digest or self._is_current(before.seen_fingerprint))
        ):
            self._rearchive(before, preparation)
            settled = _relabelled(item, before, labels)
            audience = before.audience if isinstance(settled, Outcome) else settled.audience
            if not parts_from(before, digest, audience, labels.sender):
                preparation.found = settled

    def _adopt(self, preparation: Preparation) -> None:
        """The file of a paper that came by itself, from its folder: it stays that paper's."""
        if (
            preparation.before is None
            or preparation.blob is None
            or ENTRY in preparation.item.metadata
        ):
            return
        if ENTRY in preparation.before.metadata:
            preparation.item, preparation.parts, preparation.unread = with_parts(
                adopted(preparation.item, preparation.before)
            )
            preparation.blob = replace(preparation.blob, title=clean_text(preparation.item.title))

    def _extract(self, left: Sequence[Preparation]) -> None:
        files: list[tuple[Preparation, int | None, Blob]] = [
            (preparation, None, self._recalled(preparation, preparation.blob))
            for preparation in left
            if preparation.blob is not None
        ]
        for preparation in left:
            files += [
                (preparation, at, p)
                for at, p in enumerate(preparation.parts)
                if isinstance(p, Blob)
            ]
        if not files:
            return
        with Steps.together([preparation.steps for preparation in left], Step.EXTRACT):
            outcomes = self._outcomes([blob for _, _, blob in files])
        for (preparation, at, blob), outcome in zip(files, outcomes, strict=True):
            if isinstance(outcome, Extraction):
                if at is None:
                    preparation.extraction = outcome
                else:
                    preparation.parts[at] = outcome
            elif at is None and not (ENTRY in preparation.item.metadata and is_refused(outcome)):
                preparation.fail(outcome)
            else:  # the rest of the paper can be found all the same
                preparation.unread.append((blob.name, outcome))
                if at is None:
                    preparation.extraction = stand_in(preparation.item)

    def _recalled(self, preparation: Preparation, blob: Blob) -> Blob:
        """With what was heard of the same recording by the same model, if it is only to be chunked
        in another way."""
        before = preparation.before
        if before is None or before.content_hash != preparation.digest or not blob.on_transcribed:
            return blob
        by = str(before.metadata.get(TRANSCRIBED_BY, ""))
        if not by or not any(f"+{by}" in f"{reader} " for reader in self._readers if reader):
            return blob
        documents = self._backend.documents
        passages = documents.passages(before.id, OWNER)
        heard = heard_before(documents.text(before.id, OWNER) or "", passages)
        return replace(blob, parts=(*blob.parts, heard))

    def _outcomes(self, blobs: Sequence[Blob]) -> Sequence[Extraction | BaseException]:
        try:
            return self._read(blobs)
        except BaseException as error:  # one of them is why: each alone, so that only it fails
            if not is_of_one_document(error):
                raise
            if len(blobs) == 1:
                return [error]
        return [self._outcomes([blob])[0] for blob in blobs]

    def _chunk(self, preparation: Preparation) -> None:
        preparation.extraction = described(preparation.item, preparation.read)
        preparation.chunks = self._chunks(preparation.extraction)
        for part in preparation.parts:
            if isinstance(part, Extraction) and not is_said(part, preparation.extraction.text):
                more = self._chunks(replace(part, title=preparation.extraction.title))
                preparation.extraction, preparation.chunks = joined(
                    preparation.extraction, preparation.chunks, part, more
                )
        if not preparation.chunks and not preparation.extraction.enclosed:
            raise FileEmpty(f"{preparation.item.name} has no text.")
        from trivium.ingest.extractors import check_count

        check_count(preparation.item.name, len(preparation.chunks), self.max_chunks)

    def _chunks(self, extraction: Extraction) -> tuple[Chunk, ...]:
        """Those that its reader made, if it did."""
        if extraction.chunked is None:
            return self._chunker.chunk(extraction)
        if extraction.chunked.fingerprint != self._chunker.fingerprint:
            raise ValueError(f"chunked by {extraction.chunked.fingerprint}")
        return extraction.chunked.chunks

    def _interpret(self, labels: Labels, preparation: Preparation) -> None:
        item, extraction, chunks = preparation.item, preparation.read, preparation.chunks
        category, audience, metadata = labelled(labels, extraction.metadata, preparation.before)
        chunked = extraction.chunked
        note = chunked.note if chunked else self._chunker.note(extraction, chunks)
        metadata = {n: value for n, value in metadata.items() if n not in (CHUNKING, UNREAD)}
        if note:
            metadata[CHUNKING] = note
        if preparation.unread:
            remarks = (clean_text(f"{name}: {error}") for name, error in preparation.unread)
            metadata[UNREAD] = tuple(islice(remarks, MOST_UNREAD))
        summary, summarised_by = self._summary(preparation, labels.sender)
        texts = tuple(chunk.embedded_under(summary) for chunk in chunks)
        processed = Processed(
            uri=item.uri,
            collection=labels.collection,
            category=category,
            audience=audience,
            metadata=metadata,
            content_hash=preparation.digest,
            size=item.size,
            extraction=extraction,
            chunks=chunks,
            hashes=tuple(hash_of(text) for text in texts),
            vectors=None,
            fingerprint=self._fingerprint(extraction.reader),
            summary=summary,
            summarised_by=summarised_by,
            original=self._archived(preparation),
            sender=labels.sender,
            inherits=not_given(labels, extraction.metadata),
        )
        preparation.found = Prepared(item, processed, texts, preparation.before)

    def _archived(self, preparation: Preparation) -> str:
        """Last, when nothing of the document can fail any more."""
        if not self.keep_originals or preparation.blob is None:
            return ""
        preparation.steps.enter(Step.ARCHIVE)
        return self._backend.originals.keep(preparation.blob.data)

    def _rearchive(self, before: Document, preparation: Preparation) -> None:
        """An original that was lost comes back with its file."""
        is_its_own = (
            before.original and before.content_hash == preparation.digest
        )  # or it was restored
        if self.keep_originals and preparation.blob is not None and is_its_own:
            self._backend.originals.put_back(before.original, preparation.blob.data)

    def _summary(self, preparation: Preparation, sender: str) -> tuple[str, str]:
        """And who said so of these bytes. Of one chunk it would be a repetition, and a conversation
        is about many things."""
        extraction, chunks, before = preparation.read, preparation.chunks, preparation.before
        if self.summariser is None or len(chunks) < 2 or extraction.kind is Kind.MESSAGES:
            return "", ""
        fresh, by = self._summarised(self.summariser, extraction, preparation.digest, sender)
        if before is None or not self._is_current(before.fingerprint):
            return fresh, by
        summary = steady(fresh, chunks, self._backend.documents.summarised(before.id))
        return summary, by if summary == fresh else ""

    def _summarised(
        self, summariser: Summariser, extraction: Extraction, digest: str, sender: str
    ) -> tuple[str, str]:
        """Of a language model, reuses what it said about the same bytes from the same sender. If it
        is unavailable, uses the document's own words."""
        own = ExtractiveSummariser()
        if summariser.fingerprint != own.fingerprint:
            earlier = self._backend.documents.summary(digest, summariser.fingerprint, sender)
            if earlier is not None:
                return earlier, summariser.fingerprint
            with suppress(ModelError):
                return clean_text(summariser.summarise(extraction)), summariser.fingerprint
        chunked = extraction.chunked
        return chunked.summary if chunked else own.summarise(extraction), own.fingerprint

    def _fingerprint(self, reader: str) -> str:
        parts = [self._readers.get(reader, reader), self._chunker.fingerprint]
        if self.summariser:
            parts.append(self.summariser.fingerprint)
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


def _enclosed(item: SourceItem, extraction: Extraction) -> Iterator[SourceItem]:
    """The files inside a file: separate documents, named by their place in it."""
    return (
        SourceItem(
            f"{item.uri}{WITHIN}{inner.name}",
            inner.name.rpartition("/")[2],
            partial(bytes, inner.data),
            len(inner.data),
            enclosed=True,
            exists=item.exists,
        )
        for inner in extraction.enclosed
    )


def _readers(extractors: Sequence[Extractor]) -> Mapping[str, str]:
    """The part of a fingerprint for each reader: its name and version, and the other readers there
    were to choose from. A new format means reading again what another reader took before."""
    from trivium.extract.detect import reader_name  # with every reader: not for who only searches

    formats = hash_of(" ".join(type(extractor).__name__ for extractor in extractors))[:8]
    names = ["", *map(reader_name, extractors)]  # without a name: text that needed no reading
    return {name: f"{name}@{formats}" if name else "text" for name in names}
