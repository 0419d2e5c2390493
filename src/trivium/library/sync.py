"""Sources that a library keeps in step: adding, running, verifying, pausing, removing them.

A run takes what changed from the source in segments. Of a segment first everything goes that is
gone, then everything is put that is there, and the cursor moves on in the transaction that shows
the last of it. So a cursor is never ahead of the documents, wherever a run is killed; what it reads
twice has the same hash and costs no embedding. Nothing is locked while a source is read or waited
for: other writers have their turn between two segments.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic

from trivium import config
from trivium.errors import (
    BadSetting,
    LibraryBusy,
    ReadError,
    SourceEmpty,
    SourceExists,
    SourceNotFound,
    SourcePaused,
    TriviumError,
)
from trivium.extract.cleaning import cleaned, cleaned_metadata
from trivium.ingest.embedding import Embedding
from trivium.ingest.hashes import text_digest
from trivium.ingest.in_flight import Offer, clean_item
from trivium.ingest.outcomes import Fate, Outcome
from trivium.ingest.pipeline import Pipeline
from trivium.library.assembly import readers_for, token_embedder_for
from trivium.library.current import CurrentModel
from trivium.library.model import description
from trivium.library.readers import Readers, check, options_for
from trivium.ports import (
    Backend,
    Change,
    Checkpoint,
    Failed,
    Gone,
    Only,
    Put,
    RetryingSource,
    SourceAsked,
    SourceItem,
    SyncSource,
    Wait,
    Waiting,
)
from trivium.sources import kinds
from trivium.store.clock import now
from trivium.store.identity import WITHIN
from trivium.text.values import check_labels, check_text, clean_text
from trivium.types import EVERYONE, OWNER, Document, Extraction, Labels
from trivium.work import Job, JobState, KeptSource, Priority, SyncFailure, SyncPoint, SyncRun

# Items of a segment: as many as the pipeline puts in one transaction. A commit is 30 ms.
SEGMENT = 256
_GATHER = 2.0  # seconds after which fewer are put, so that they can be found
_MOST_PENDING = 4 * SEGMENT  # items of a source that gives no checkpoint for a long time
_MOST_HELD = 32 << 20  # bytes of items that a source has read already
_LIST_HOURS = 24  # between two comparisons of all ids, where a source doesn't tell deletions
_SHORT_WAIT = 30.0  # seconds: for longer pauses the processes that read files are ended
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_EVERY = re.compile(r"(\d+)\s*(s|m|h|d)?")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, None: 1}
_REMOVED, _WAITED = "removed", "waiting"


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a source and the library aren't the same."""

    item: str
    kind: str  # missing, extra, text, metadata, audience, restored, unreadable
    reason: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` found."""

    source: str
    compared: int  # items of the source
    differences: tuple[Difference, ...]

    @property
    def in_step(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """What happens during a run, for whoever watches."""

    kind: str  # a fate, or: removed, failed, waiting, checkpoint
    item: str = ""
    message: str = ""
    run: SyncRun = SyncRun()


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a source is run."""

    full: bool = False  # read everything again, not only what changed
    dry: bool = False  # say what would happen, and change nothing
    compare: bool = False  # compare all ids, and forget what the source doesn't have
    force: bool = False  # even where the source lists nothing at all
    longest_wait: float | None = None  # seconds; a longer pause ends the run until then


INCREMENTAL = SyncOptions()


@dataclass(slots=True)
class _Segment:
    changes: dict[str, Put | Gone | Failed] = field(default_factory=dict)
    only: list[Only] = field(default_factory=list)
    checkpoint: Checkpoint | None = None

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.only and self.checkpoint is None

    def take(self, change: Put | Gone | Only | Failed) -> None:
        """The last change of an item counts."""
        if isinstance(change, Only):
            self.only.append(change)
            for id_ in [one for one in self.changes if change.drops(one)]:
                del self.changes[id_]
            return
        self.changes.pop(change.id, None)
        if isinstance(change, Gone) and change.below:
            for id_ in [one for one in self.changes if one.startswith(f"{change.id}/")]:
                del self.changes[id_]
        self.changes[change.id] = change


def uri_prefix(source: KeptSource) -> str:
    return f"{source.kind}:{source.name}/"


def seconds_of(every: str) -> int:
    """`10m`, `1h`, `90` (seconds); nothing or 0: only when asked. Raises BadSetting."""
    found = _EVERY.fullmatch(every.strip().lower() or "0")
    if found is None:
        raise BadSetting(f"{every!r} isn't a period.", fix="Write 90s, 10m, 1h or 1d.")
    return int(found[1]) * _SECONDS[found[2]]


class Sync:
    def __init__(
        self,
        backend: Backend,
        model: CurrentModel,
        make: Callable[[KeptSource], SyncSource] | None = None,
    ) -> None:
        """`make`: how a source is opened; else by its kind, as registered."""
        self._backend = backend
        self._model = model
        self._make = make or partial(_opened, [backend.folder] if backend.folder else [])

    # --- the sources

    def add(self, source: KeptSource) -> KeptSource:
        """Keep a source in step from now on. Its first run reads everything."""
        if not _NAME.fullmatch(source.name):
            raise BadSetting(
                f"A source can't be named {source.name[:80]!r}.",
                fix="Use small letters, digits, dots, dashes and underscores.",
            )
        check_labels(Labels(source.collection, source.category, source.audience))
        for name, value in {**source.options, **source.secrets}.items():
            check_text(name, value)
        if self._backend.sources.get(source.name) is not None:
            raise SourceExists(f"You already have a source named {source.name}.")
        self._make(source)  # raises now what its first run would meet
        kept = replace(source, added_at=now(), cursor="", run=SyncRun(), paused=False)
        self._backend.sources.keep(kept)
        return kept

    def all(self) -> list[KeptSource]:
        return self._backend.sources.all()

    def get(self, name: str) -> KeptSource:
        found = self._backend.sources.get(name)
        if found is None:
            raise SourceNotFound(
                f"You have no source named {name!r}.",
                fix="`trivium sync status` lists them.",
                on_page="It may have been removed. Reload the page.",
            )
        return found

    def is_running(self, name: str) -> bool:
        return self._backend.leases.is_held(_lease(name))

    def failures(self, name: str) -> list[SyncFailure]:
        return self._backend.sources.failures(self.get(name).name)

    def count(self, name: str) -> int:
        """Its items in the library."""
        return len(self._held(self.get(name)))

    def pause(self, name: str) -> KeptSource:
        """A run that is under way ends after the documents that were begun."""
        self._backend.sources.pause(self.get(name).name, True)
        return self.get(name)

    def resume(self, name: str) -> KeptSource:
        self._backend.sources.pause(self.get(name).name, False)
        return self.get(name)

    def remove(
        self, name: str, *, keep_documents: bool = False, on_wait: Waiting | None = None
    ) -> int:
        """Keep it in step no longer, and remove its documents; how many comes back."""
        source = self.pause(name)  # so that a run under way ends
        with self._backend.leases.hold(_lease(name), f"syncing {name}", waiting=on_wait):
            held = [] if keep_documents else self._held(source)
            for some in _slices(held, SEGMENT):
                with self._backend.writer.writing(on_wait):
                    for uri in some:
                        self._backend.writer.forget(uri, source.collection)
            self._backend.sources.forget(name)
        return len(held)

    def due(self) -> list[KeptSource]:
        """Those that a server should run now: their time has come, or a pause is over that the
        service asked for."""
        at = now()
        return [one for one in self._backend.sources.all() if _is_due(one, at)]

    def ask(self, name: str, *, full: bool = False) -> KeptSource:
        """Let whoever serves this library run it now. `full`: it reads everything again."""
        source = self.get(name)
        if source.paused:
            raise SourcePaused(f"{name} is paused.")
        if full:
            self._backend.sources.advance(SyncPoint(name, ""))
        self._backend.sources.record(name, replace(source.run, not_before=now(), code=""))
        return self.get(name)

    # --- running

    def run(
        self,
        name: str,
        options: SyncOptions = INCREMENTAL,
        *,
        on_event: Callable[[SyncEvent], None] = lambda event: None,
        on_wait: Waiting | None = None,
        stop: Event | None = None,
    ) -> SyncRun:
        """Bring the library up to the source. Raises SourceError where the source can't be read;
        what was taken until then stays, and the next run goes on from there."""
        source = self.get(name)
        if source.paused:
            raise SourcePaused(f"{name} is paused.")
        opened = self._make(source)
        if options.dry:
            return self._dry(source, opened, options)
        check(self._model.settings, self._model.embedder)
        with ExitStack() as held:
            try:
                lease = self._backend.leases.hold(_lease(name), f"syncing {name}", patience=0)
                held.enter_context(lease)
            except LibraryBusy as reason:
                raise LibraryBusy(
                    f"{name} is already syncing.", fix="Wait for it to finish."
                ) from reason
            run = _Run(self, self._backend, source, opened, options, on_event, on_wait, stop)
            try:
                run.begin()
                run.finish(**run.work(self._model))
            except BaseException as error:
                run.finish(**_told(error))
                raise
            return run.record

    def verify(
        self,
        name: str,
        *,
        ids_only: bool = False,
        wait: Callable[[float], object] | None = None,
        on_event: Callable[[SyncEvent], None] = lambda event: None,
    ) -> Verified:
        """Compare the source and the library item by item; nothing is changed. `ids_only`: only
        which items are there, not what they say."""
        source = self.get(name)
        opened = self._make(source)
        pause = wait or Event().wait
        failed = {one.item: one for one in self._backend.sources.failures(name)}
        seen: set[str] = set()
        found: list[Difference] = []
        for item in _listing(opened) if ids_only else opened.changes(""):
            if isinstance(item, Wait):
                on_event(SyncEvent(_WAITED, message=item.reason))
                pause(item.seconds)
            elif isinstance(item, Put | Failed):
                if isinstance(item, Put) and item.id in seen:
                    found = [one for one in found if one.item != item.id]  # the last one counts
                seen.add(item.id)
                found += self._compared(source, item, failed, ids_only)
            elif isinstance(item, Gone):
                seen.discard(item.id)
                found = [one for one in found if one.item != item.id]
        prefix = uri_prefix(source)
        for uri in self._held(source) if opened.deletions != "kept" else ():
            if (id_ := uri.removeprefix(prefix)) not in seen:
                found.append(Difference(id_, "extra", "The source no longer has it."))
        return Verified(name, len(seen), tuple(sorted(found, key=lambda one: one.item)))

    def _compared(
        self, source: KeptSource, item: Put | Failed, failed: Mapping[str, SyncFailure], ids: bool
    ) -> Iterator[Difference]:
        if isinstance(item, Failed):
            yield Difference(item.id, "unreadable", item.message)
            return
        document = self._backend.documents.find(uri_prefix(source) + item.id, source.collection)
        if document is None:
            if item.id in failed:
                why = f"Couldn't add it: {failed[item.id].message}"
            elif not source.run.ended_at:
                why = "No run has finished yet."
            else:
                why = f"It is newer than the last run ({source.run.ended_at}), or was removed here."
            yield Difference(item.id, "missing", why)
        elif not ids:
            yield from self._differences(source, item, document)

    def _differences(
        self, source: KeptSource, put: Put, document: Document
    ) -> Iterator[Difference]:
        item = item_of(source, put)
        try:
            digest, text = _digest(item)
        except ReadError as reason:
            yield Difference(put.id, "unreadable", str(reason))
            return
        if document.content_hash != document.seen_hash:
            yield Difference(put.id, "restored", "Someone restored an older version here.")
        if digest != document.seen_hash:
            here = self._backend.documents.text(document.id, OWNER) if text is not None else None
            if here is not None and here == text:
                said = sorted(
                    n for n, value in item.metadata.items() if document.metadata.get(n) != value
                )
                names = ", ".join(said) or "one of its fields"
                yield Difference(put.id, "metadata", f"The source has other values for: {names}.")
            else:
                yield Difference(put.id, "text", "The source changed it after the last run.")
        label = item.metadata["audience"]
        if label != document.audience:
            why = f"The source shows it to `{label}`, the library to `{document.audience}`."
            yield Difference(put.id, "audience", why)

    def _dry(self, source: KeptSource, opened: SyncSource, options: SyncOptions) -> SyncRun:
        """What a run would do."""
        counts: Counter[str] = Counter()
        last: dict[str, str] = {}
        for change in opened.changes("" if options.full else source.cursor):
            if isinstance(change, Put):
                uri = uri_prefix(source) + change.id
                document = self._backend.documents.find(uri, source.collection)
                fate = Fate.ADDED if document is None else Fate.UPDATED
                if document and not list(self._differences(source, change, document)):
                    fate = Fate.UNCHANGED
                last[change.id] = fate.value
            elif isinstance(change, Gone):
                last[change.id] = _REMOVED
            elif isinstance(change, Failed):
                last[change.id] = Fate.FAILED.value
            elif isinstance(change, Wait):
                break  # what can be said at once
        counts.update(last.values())
        return SyncRun(started_at=now(), ended_at=now(), full=options.full, counts=dict(counts))

    def _held(self, source: KeptSource) -> list[str]:
        """The uris of its items; not of what lies within them."""
        found = self._backend.documents.below(uri_prefix(source), source.collection)
        return list(dict.fromkeys(uri.partition(WITHIN)[0] for uri in found))


class _Run:
    """One run of one source, under its lease."""

    def __init__(
        self,
        sync: Sync,
        backend: Backend,
        source: KeptSource,
        opened: SyncSource,
        options: SyncOptions,
        on_event: Callable[[SyncEvent], None],
        on_wait: Waiting | None,
        stop: Event | None,
    ) -> None:
        self._sync = sync
        self._backend = backend
        self._source = source
        self._opened = opened
        self._options = options
        self._on_event = on_event
        self._on_wait = on_wait
        self._stop = stop or Event()
        self._counts: Counter[str] = Counter()
        self._failing: set[str] = set()  # in the segment under way
        self._ends = ""  # why the run ends before the source has told everything
        self._not_before = ""
        self._started, self._steps = monotonic(), (0, 0)
        self.record = SyncRun()

    # --- its record

    def begin(self) -> None:
        before = self._source.run
        goes_on = bool(before.not_before) and not before.code and not self._options.full
        self._counts.update(before.counts if goes_on else {})
        self.record = SyncRun(
            started_at=before.started_at if goes_on else now(),
            full=self._options.full or not self._source.cursor,
            counts=dict(self._counts),
            listed_at=before.listed_at,
        )
        self._save()

    def finish(self, *, code: str = "", message: str = "", listed_at: str = "") -> None:
        self.record = replace(
            self.record,
            ended_at=now(),
            counts=dict(self._counts),
            seconds_left=self.record.seconds_left if self._not_before else None,
            code=code,
            message=message or self._ends,
            not_before=self._not_before,
            listed_at=listed_at or self.record.listed_at,
        )
        self._save()

    def _save(self) -> None:
        self._backend.sources.record(self._source.name, self.record)

    def _progress(self, checkpoint: Checkpoint) -> None:
        """Time left by what the steps of this run took, pauses included."""
        first = self._steps[0] if self._steps[1] else checkpoint.done
        self._steps = (first, checkpoint.of)
        made, left = checkpoint.done - first, checkpoint.of - checkpoint.done
        seconds = (monotonic() - self._started) / made * left if made > 0 and left >= 0 else None
        self.record = replace(
            self.record,
            done=checkpoint.done,
            steps=checkpoint.of,
            seconds_left=seconds,
            counts=dict(self._counts),
        )
        self._save()
        self._on_event(SyncEvent("checkpoint", run=self.record))

    # --- its work

    def work(self, model: CurrentModel) -> dict[str, str]:
        """What the record is to say beside counts."""
        model.follow()
        embedder, settings = model.embedder, model.settings
        self._backend.models.describe(embedder.fingerprint, description(settings))
        embedding = Embedding(self._backend, embedder, token_embedder_for(settings, embedder))
        source = self._source
        labels = Labels(source.collection, source.category, None, {})
        job = _job(options_for(labels, settings, None))
        threads = readers_for(settings) + 1
        with ExitStack() as reading:
            readers: list[Readers] = []

            def offers(items: Sequence[SourceItem]) -> Iterator[Offer]:
                if not readers:
                    made = Readers(self._backend, embedder, settings)
                    readers.append(reading.enter_context(made))
                for item in items:
                    yield readers[0].offer_here(job, item, 0)

            def put(items: Sequence[SourceItem], point: SyncPoint | None) -> None:
                pipeline = Pipeline(self._backend, embedding, readers=threads, point=point)
                with pipeline:
                    for outcome in pipeline.run(offers(items)):
                        self._take(outcome)

            def rest() -> None:
                reading.close()
                readers.clear()

            said = self._work(put, rest)
        if embedding.texts and not embedding.is_failing:
            with self._backend.writer.writing(self._on_wait):
                self._backend.models.embed_missing(
                    embedding.model, lambda texts: embedding.embed(texts).vectors
                )
            model.renew_grasp()
        return said

    def _work(
        self,
        put: Callable[[Sequence[SourceItem], SyncPoint | None], None],
        rest: Callable[[], None],
    ) -> dict[str, str]:
        failed = [one.item for one in self._backend.sources.failures(self._source.name)]
        if failed and isinstance(self._opened, RetryingSource) and not self._options.full:
            self._follow(self._opened.again(failed), put, rest)
        cursor = "" if self._options.full else self._source.cursor
        reads_all = not cursor
        if not self._ends:
            seen = self._follow(self._opened.changes(cursor), put, rest)
        if self._ends:
            return {}
        if self._opened.deletions == "kept":
            return {}
        if reads_all and not self._options.compare:
            self._forget_others(seen)
            return {"listed_at": now()}
        if self._options.compare or self._is_to_compare():
            self._compare_ids(put, rest)
            return {} if self._ends else {"listed_at": now()}
        return {}

    def _follow(
        self,
        changes: Iterator[Change],
        put: Callable[[Sequence[SourceItem], SyncPoint | None], None],
        rest: Callable[[], None],
    ) -> set[str]:
        """The ids that were told of as being there."""
        seen: set[str] = set()
        with closing(_segments(changes)) as parts:
            for part in parts:
                if isinstance(part, Wait):
                    if not self._wait(part, rest):
                        break
                    continue
                self._apply(part, put)
                for only in part.only:
                    seen -= {one for one in seen if only.drops(one)}
                for id_, change in part.changes.items():
                    (seen.discard if isinstance(change, Gone) else seen.add)(id_)
                if not self._may_go_on():
                    break
        return seen

    def _may_go_on(self) -> bool:
        kept = self._backend.sources.get(self._source.name)
        if kept is None or kept.paused:
            self._ends = "Paused."
        elif self._stop.is_set():
            self._ends = "Stopped. The next run continues from here."
        return not self._ends

    def _wait(self, wait: Wait, rest: Callable[[], None]) -> bool:
        longest = self._options.longest_wait
        if longest is not None and wait.seconds > longest:
            self._ends = wait.reason
            self._not_before = now(wait.seconds)
            return False
        self._on_event(SyncEvent(_WAITED, message=wait.reason, run=self.record))
        if wait.seconds > _SHORT_WAIT:
            rest()
        until_then = monotonic() + wait.seconds
        while (left := until_then - monotonic()) > 0:
            if self._stop.wait(min(left, 1.0)) or not self._may_go_on():
                break
        return self._may_go_on()

    def _apply(
        self,
        segment: _Segment,
        put: Callable[[Sequence[SourceItem], SyncPoint | None], None],
    ) -> None:
        source, sources = self._source, self._backend.sources
        gone = [one for one in segment.changes.values() if isinstance(one, Gone)]
        failed = [one for one in segment.changes.values() if isinstance(one, Failed)]
        there = [one for one in segment.changes.values() if isinstance(one, Put)]
        point = None
        if segment.checkpoint is not None:
            point = SyncPoint(source.name, segment.checkpoint.cursor)
        for one in failed:
            self._fail(one.id, one.code, one.message)
        if gone or segment.only:
            uris = _uris_of(self._backend, source, gone, segment.only)
            self._forget(uris)
            prefix = uri_prefix(source)
            sources.settle(source.name, [], [uri.removeprefix(prefix) for uri in uris])
        if there:
            self._failing.clear()
            known = {one.item for one in sources.failures(source.name)}
            with self._backend.writer.writing(self._on_wait):
                put([clean_item(item_of(source, one)) for one in there], point)
            if over := [one.id for one in there if one.id in known - self._failing]:
                sources.settle(source.name, [], over)
        elif point is not None:
            sources.advance(point)
        if segment.checkpoint is not None:
            self._progress(segment.checkpoint)

    def _take(self, outcome: Outcome) -> None:
        """Failures are written down before the cursor moves past them."""
        id_ = outcome.uri.removeprefix(uri_prefix(self._source))
        if outcome.fate is Fate.FAILED and outcome.error is not None:
            self._fail(id_.partition(WITHIN)[0], outcome.error.code, str(outcome.error))
            return
        if not outcome.enclosed:
            self._counts[outcome.fate.value] += 1
        self._on_event(SyncEvent(outcome.fate.value, id_))

    def _fail(self, item: str, code: str, message: str) -> None:
        self._counts[Fate.FAILED.value] += 1
        self._failing.add(item)
        said = SyncFailure(item, code, clean_text(message))
        self._backend.sources.settle(self._source.name, [said], [])
        self._on_event(SyncEvent(Fate.FAILED.value, item, message))

    def _forget(self, uris: Sequence[str]) -> None:
        for some in _slices(uris, SEGMENT):
            with self._backend.writer.writing(self._on_wait):
                for uri in some:
                    if self._backend.writer.forget(uri, self._source.collection):
                        self._counts[_REMOVED] += 1
                        id_ = uri.removeprefix(uri_prefix(self._source))
                        self._on_event(SyncEvent(_REMOVED, id_))

    # --- what the source doesn't have any more

    def _is_to_compare(self) -> bool:
        if self._opened.deletions == "told":
            return False
        last = self.record.listed_at
        return not last or _age(last) > _LIST_HOURS * 3_600

    def _compare_ids(
        self,
        put: Callable[[Sequence[SourceItem], SyncPoint | None], None],
        rest: Callable[[], None],
    ) -> None:
        listed: set[str] = set()
        for one in self._opened.ids():
            if isinstance(one, str):
                listed.add(one)
            elif not self._wait(one, rest):
                return
        self._forget_others(listed)
        prefix = uri_prefix(self._source)
        here = {uri.removeprefix(prefix) for uri in self._sync._held(self._source)}
        missing = sorted(listed - here)
        if missing and isinstance(self._opened, RetryingSource):
            self._follow(self._opened.again(missing), put, rest)

    def _forget_others(self, listed: set[str]) -> None:
        prefix = uri_prefix(self._source)
        held = self._sync._held(self._source)
        extra = [uri for uri in held if uri.removeprefix(prefix) not in listed]
        if extra and not listed and not self._options.force:
            raise SourceEmpty(
                f"{self._source.name} lists nothing at all, but the library has"
                f" {len(held):,} of its items. Trivium removed none."
            )
        self._forget(extra)
        stale = [one.item for one in self._backend.sources.failures(self._source.name)]
        over = [item for item in stale if item not in listed]
        self._backend.sources.settle(self._source.name, [], over)


def _segments(changes: Iterable[Change]) -> Generator[_Segment | Wait, None, None]:
    segment, since, held = _Segment(), monotonic(), 0
    for change in changes:
        if isinstance(change, Wait):
            if not segment.is_empty:
                yield segment
            yield change
            segment, since, held = _Segment(), monotonic(), 0
            continue
        if isinstance(change, Checkpoint):
            segment.checkpoint = change
            is_due = len(segment.changes) >= SEGMENT or monotonic() - since > _GATHER
        else:
            segment.take(change)
            held += change.size if isinstance(change, Put) else 0
            is_due = len(segment.changes) >= _MOST_PENDING or held >= _MOST_HELD
        if is_due:
            yield segment
            segment, since, held = _Segment(), monotonic(), 0
    if not segment.is_empty:
        yield segment


def _listing(source: SyncSource) -> Iterator[Put | Wait]:
    for one in source.ids():
        yield Put(one, one, bytes) if isinstance(one, str) else one


def item_of(source: KeptSource, put: Put) -> SourceItem:
    """As the pipeline takes it. A label that the source gives holds. Else the one that it was added
    with; without that, what is public is for all, and the rest for who holds the source's name."""
    label = put.audience
    if label in (None, EVERYONE):
        label = source.audience or (source.name if label is None else EVERYONE)
    metadata = {**put.metadata, "sync": source.name, "audience": label}
    return SourceItem(
        uri=uri_prefix(source) + put.id,
        name=put.name,
        content=put.content,
        size=put.size,
        title=put.title,
        metadata=cleaned_metadata(metadata),
    )


def _digest(item: SourceItem) -> tuple[str, str | None]:
    """As the pipeline makes it; and the text, where it needs no reading."""
    if isinstance(item.content, Extraction):
        read = cleaned(item.content)
        return text_digest(read, item.metadata), read.text
    return hashlib.sha256(item.content()).hexdigest(), None


def _uris_of(
    backend: Backend, source: KeptSource, gone: Sequence[Gone], only: Sequence[Only]
) -> list[str]:
    prefix = uri_prefix(source)
    found: dict[str, None] = {}
    for part in only:
        held = backend.documents.below(prefix + part.prefix, source.collection)
        outer = (uri.partition(WITHIN)[0] for uri in held)
        found |= {uri: None for uri in outer if part.drops(uri.removeprefix(prefix))}
    for one in gone:
        found[prefix + one.id] = None
        if one.below:
            below = backend.documents.below(f"{prefix}{one.id}/", source.collection)
            found |= dict.fromkeys(uri.partition(WITHIN)[0] for uri in below)
    return list(found)


def _opened(own: Sequence[Path], source: KeptSource) -> SyncSource:
    """By its kind. Secrets are looked up now, and kept nowhere."""
    kind = kinds.kind_of(source.kind)
    for name in source.secrets:
        if name not in kind.secrets:
            known = ", ".join(kind.secrets) or "none"
            raise BadSetting(f"{kind.name} has no secret `{name}`.", fix=f"Choose from {known}.")
    secrets = {name: config.secret(name, place) for name, place in source.secrets.items()}
    return kinds.make(kind, SourceAsked(source.options, secrets, own))


def _job(options: Mapping[str, object]) -> Job:
    """What the readers of a run are made by. It is in no queue: the cursor is what lasts."""
    return Job(0, "sync", "", JobState.RUNNING, Priority.BULK, "", options=options)


def _told(error: BaseException) -> dict[str, str]:
    if isinstance(error, KeyboardInterrupt | GeneratorExit | SystemExit):
        return {"message": "Interrupted. The next run continues from here."}
    if isinstance(error, TriviumError):
        return {"code": error.code, "message": clean_text(str(error))}
    said = f"Something went wrong inside Trivium: {type(error).__name__}: {error}"
    return {"code": "internal", "message": clean_text(said)}


def _lease(name: str) -> str:
    return f"sync-{name}"


def _is_due(source: KeptSource, at: str) -> bool:
    run = source.run
    if source.paused:
        return False
    if run.not_before:
        return run.not_before <= at
    if not source.every:
        return False
    return not run.ended_at or _age(run.ended_at) >= source.every


def _age(when: str) -> float:
    """Seconds since an instant."""
    then = datetime.fromisoformat(when)
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return (datetime.now(UTC) - then).total_seconds()


def _slices(uris: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(uris), size):
        yield uris[start : start + size]
