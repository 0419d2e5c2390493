"""One run of one source: puts what changed there, removes what is gone, records what failed.

A run takes the changes in segments. For each segment it first removes what is gone, then puts the
rest, and the cursor advances in the transaction that shows the last item. So the cursor is never
ahead of the documents, wherever a run is killed; an item read twice has the same hash and needs no
embedding. Nothing is locked while the run reads from a source or waits for it: other writers have
their turn between two segments.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic

from trivium.core.errors import SourceEmpty, TriviumError
from trivium.core.work import KeptSource, SyncFailure, SyncPoint, SyncRun, now
from trivium.ingest.outcomes import Fate, Outcome
from trivium.ingest.tasks import clean_item
from trivium.library.sync.items import (
    SEGMENT,
    ChangeSegment,
    age,
    item_of,
    item_uris,
    segments,
    slices,
    uris_of,
)
from trivium.library.sync.putting import Putting
from trivium.library.sync.verifying import REMOVED
from trivium.library.worker import synced
from trivium.ports import (
    Backend,
    Change,
    Checkpoint,
    Failed,
    Gone,
    Only,
    Put,
    RetryingSource,
    SyncSource,
    Wait,
    Waiting,
)
from trivium.sources import kinds
from trivium.store.identity import WITHIN
from trivium.text.values import clean_text

WAITED = "waiting"
_LIST_HOURS = 24  # between two comparisons of all ids, if a source doesn't report deletions
# Seconds until a server tries a failed item again: with the next run, then later and later.
_PAUSES = (0, 600, 3_600, 21_600, 86_400)
_SHORT_WAIT = 30.0  # seconds: longer pauses end the processes that read files


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """What happens during a run, for progress displays."""

    kind: str  # an outcome, or: removed, failed, waiting, checkpoint
    item: str = ""
    message: str = ""
    run: SyncRun = SyncRun()


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a source is run."""

    full: bool = False  # read everything again, not only changes
    dry: bool = False  # say what would happen, and change nothing
    compare: bool = False  # compare all ids, and remove what the source doesn't have
    force: bool = False  # even if the source lists nothing at all
    longest_wait: float | None = None  # seconds; a longer pause ends the run
    patient: bool = False  # try failed items again only after their pause


INCREMENTAL = SyncOptions()


class SourceRun:
    """One run of one source, under its lease."""

    def __init__(
        self,
        backend: Backend,
        source: KeptSource,
        opened: SyncSource,
        options: SyncOptions,
        putting: Putting,
        *,
        on_event: Callable[[SyncEvent], None] = lambda event: None,
        on_wait: Waiting | None = None,
        stop: Event | None = None,
    ) -> None:
        self._backend = backend
        self._putting = putting
        self._source = source
        self._opened = opened
        self._place = kinds.place_of(source.kind, source.options)
        self._options = options
        self._on_event = on_event
        self._on_wait = on_wait
        self._stop = stop or Event()
        self._counts: Counter[str] = Counter()
        self._failing: set[str] = set()  # in the current segment
        self._failed: set[str] = set()  # in this run
        self._tries: dict[str, int] = {}  # of items that failed before this run
        self._hidden: set[str] = set()  # the source couldn't read items whose ids begin like this
        self._is_partial = False  # a listing failed: what isn't listed may still exist
        self._ends = ""  # why the run ends before the source has reported everything
        self._not_before = ""
        self._was_cut_short = False  # the run before this one
        self._added_beside_cursor = False  # by a comparison of ids
        self._started, self._steps = monotonic(), (0, 0)
        self.record = SyncRun()

    # --- its record

    def _begin(self) -> None:
        before = self._source.run
        is_whole = bool(before.ended_at) and not before.code and not before.message
        self._was_cut_short = bool(before.started_at) and not is_whole
        goes_on = bool(before.not_before) and not before.code and not self._options.full
        self._counts.update(before.counts if goes_on else {})
        self.record = SyncRun(
            started_at=before.started_at if goes_on else now(),
            full=self._options.full or not self._source.cursor,
            counts=dict(self._counts),
            listed_at=before.listed_at,
        )
        self._save()

    def _finish(self, *, code: str = "", message: str = "", listed_at: str) -> None:
        self.record = replace(
            self.record,
            ended_at=now(),
            counts=dict(self._counts),
            seconds_left=self.record.seconds_left if self._not_before else None,
            code=code,
            message=message or self._ends,
            not_before=self._not_before,
            listed_at=listed_at,
        )
        self._save()

    def _save(self) -> None:
        self._backend.sources.record(self._source.name, self.record)

    def _progress(self, checkpoint: Checkpoint) -> None:
        """Time left, from how long the steps of this run took, pauses included."""
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

    def work(self) -> SyncRun:
        """Raises what ended it before the source had reported everything; the record says so
        too."""
        self._begin()
        try:
            listed_at = self._work()
            self._putting.embed_missing(self._on_wait)
            self._finish(listed_at=listed_at)
        except BaseException as error:
            self._finish(**_error_fields(error), listed_at=self.record.listed_at)
            raise
        return self.record

    def _work(self) -> str:
        """When all ids were last compared; empty: the next run must compare them."""
        failures = self._backend.sources.failures(self._source.name)
        self._tries = {failure.item: failure.tries for failure in failures}
        at = now()
        failed = [
            failure.item
            for failure in failures
            if not self._options.patient or failure.not_before <= at
        ]
        if failed and isinstance(self._opened, RetryingSource) and not self._options.full:
            self._follow(self._opened.again(failed))
        cursor = "" if self._options.full else self._source.cursor
        present = self._follow(self._opened.changes(cursor)) if not self._ends else set()
        if not self._ends:
            self._forget_files()
        if self._ends or self._opened.deletions == "kept":
            return self.record.listed_at
        if not cursor and not self._options.compare:
            self._forget_others(present)
        elif self._options.compare or self._is_to_compare():
            self._compare_ids()
        else:
            return self.record.listed_at
        if self._ends:
            return self.record.listed_at
        return "" if self._added_beside_cursor and self._opened.deletions == "told" else now()

    def _follow(self, changes: Iterator[Change]) -> set[str]:
        """The ids that the source reported as existing."""
        present: set[str] = set()
        with closing(segments(changes)) as parts:
            for part in parts:
                if isinstance(part, Wait):
                    if not self._wait(part):
                        break
                    continue
                self._apply(part)
                named = part.changes.items()
                present.update(id_ for id_, change in named if not isinstance(change, Gone))
                self._note_unknown([change for _, change in named if isinstance(change, Failed)])
                if not self._may_go_on():
                    break
        return present

    def _note_unknown(self, failed: Sequence[Failed]) -> None:
        self._hidden |= {failure.hides for failure in failed if failure.hides}
        self._is_partial = self._is_partial or any(failure.partial for failure in failed)

    def _may_go_on(self) -> bool:
        stored = self._backend.sources.get(self._source.name)
        if stored is None or stored.paused:
            self._ends = "Paused."
        elif self._stop.is_set():
            self._ends = "Stopped. The next run continues from here."
        return not self._ends

    def _wait(self, wait: Wait) -> bool:
        longest = self._options.longest_wait
        if longest is not None and wait.seconds > longest:
            self._ends = wait.reason
            self._not_before = now(wait.seconds)
            return False
        message = f"{wait.reason} Trying again." if wait.is_failing else wait.reason
        self._on_event(SyncEvent(WAITED, message=message, run=self.record))
        if wait.seconds > _SHORT_WAIT:
            self._putting.rest()
        until_then = monotonic() + wait.seconds
        while (left := until_then - monotonic()) > 0:
            if self._stop.wait(min(left, 1.0)) or not self._may_go_on():
                break
        return self._may_go_on()

    def _apply(self, segment: ChangeSegment) -> None:
        source, sources = self._source, self._backend.sources
        gone = [change for change in segment.changes.values() if isinstance(change, Gone)]
        failed = [change for change in segment.changes.values() if isinstance(change, Failed)]
        there = [change for change in segment.changes.values() if isinstance(change, Put)]
        point = None
        if segment.checkpoint is not None:
            point = SyncPoint(source.name, segment.checkpoint.cursor)
        taken: list[Gone | Only] = [*segment.only, *gone]
        if taken:
            self._forget(uris_of(self._backend, source, taken))
            before = (failure.item for failure in sources.failures(source.name))
            if over := [item for item in before if any(change.drops(item) for change in taken)]:
                sources.settle(source.name, [], over)
        for failure in failed:
            self._fail(failure.id, failure.code, failure.message)
        if there:
            self._failing.clear()
            failed_before = {failure.item for failure in sources.failures(source.name)}
            with self._backend.writer.writing(self._on_wait):
                items = [clean_item(item_of(source, put)) for put in there]
                for outcome in self._putting.put(items, point):
                    self._take(outcome)
            if over := [put.id for put in there if put.id in failed_before - self._failing]:
                sources.settle(source.name, [], over)
            self._forget_files()
        elif point is not None:
            sources.advance(point)
        if segment.checkpoint is not None:
            self._progress(segment.checkpoint)

    def _take(self, outcome: Outcome) -> None:
        """Failures are recorded before the cursor moves past them."""
        id_ = outcome.uri.removeprefix(self._source.uri_prefix)
        item = id_.partition(WITHIN)[0]
        if outcome.fate is Fate.FAILED and outcome.error is not None:
            self._fail(item, outcome.error.code, str(outcome.error))
            return
        if outcome.unfetched is not None:  # added without that part, which is tried again
            self._fail(item, outcome.unfetched.code, str(outcome.unfetched))
        if not outcome.enclosed:
            self._counts[outcome.fate.value] += 1
        self._on_event(SyncEvent(outcome.fate.value, id_))

    def _fail(self, item: str, code: str, message: str) -> None:
        self._counts[Fate.FAILED.value] += 1
        self._failing.add(item)
        self._failed.add(item)
        tries = self._tries.get(item, 0) + 1
        pause = _PAUSES[min(tries, len(_PAUSES)) - 1]
        later = now(pause) if pause else ""
        failure = SyncFailure(item, code, clean_text(message), tries=tries, not_before=later)
        self._backend.sources.settle(self._source.name, [failure], [])
        self._on_event(SyncEvent(Fate.FAILED.value, item, message))

    def _forget(self, uris: Sequence[str]) -> None:
        for some in slices(uris, SEGMENT):
            with self._backend.writer.writing(self._on_wait):
                for uri in some:
                    if self._backend.writer.forget(uri, self._source.collection):
                        self._counts[REMOVED] += 1
                        id_ = uri.removeprefix(self._source.uri_prefix)
                        self._on_event(SyncEvent(REMOVED, id_))

    # --- what the source doesn't have any more

    def _is_to_compare(self) -> bool:
        """If a run was cut short, or the last comparison added items, the library may have items
        that its cursor doesn't know: nobody would report their deletion."""
        match self._opened.deletions:
            case "told":
                return self._was_cut_short or not self.record.listed_at
            case "compared":
                last = self.record.listed_at
                return not last or age(last) > _LIST_HOURS * 3_600
            case _:
                return False

    def _compare_ids(self) -> None:
        listed: set[str] = set()
        for id_ in self._opened.ids():
            if isinstance(id_, str):
                listed.add(id_)
            elif isinstance(id_, Failed):
                self._note_unknown([id_])
                self._fail(id_.id, id_.code, id_.message)
            elif not self._wait(id_):
                return
        self._forget_others(listed)
        prefix = self._source.uri_prefix
        here = {uri.removeprefix(prefix) for uri in item_uris(self._backend, self._source)}
        missing = sorted(listed - here)
        if missing and isinstance(self._opened, RetryingSource):
            self._follow(self._opened.again(missing))
            self._added_beside_cursor = True

    def _forget_files(self) -> None:
        """A folder that was added as it is, too: each document once, as the source reads it."""
        if not self._place:
            return
        documents, collection = self._backend.documents, self._source.collection
        below = documents.below(f"{self._place}{os.sep}", collection)
        files = dict.fromkeys(uri.partition(WITHIN)[0] for uri in (self._place, *below))
        twice = synced(self._backend, collection, list(files))
        for some in slices(sorted(twice), SEGMENT):
            with self._backend.writer.writing(self._on_wait):
                for uri in some:
                    self._backend.writer.forget(uri, collection)

    def _forget_others(self, listed: set[str]) -> None:
        prefix = self._source.uri_prefix
        here = item_uris(self._backend, self._source)
        hidden = tuple(self._hidden)
        ids = (uri.removeprefix(prefix) for uri in here)
        extra = [id_ for id_ in ids if id_ not in listed and not id_.startswith(hidden)]
        if extra and not listed and not self._options.force:
            raise SourceEmpty(
                f"{self._source.name} lists nothing at all, but the library has"
                f" {len(here):,} of its items. Trivium removed none."
            )
        if self._is_partial:
            # Each of them may be in the part that couldn't be listed: ask for it by its id.
            if isinstance(self._opened, RetryingSource):
                self._follow(self._opened.again(extra))
            return
        self._forget([prefix + id_ for id_ in extra])
        stale = [failure.item for failure in self._backend.sources.failures(self._source.name)]
        listed_or_failed = listed | self._failed
        over = [
            item for item in stale if item not in listed_or_failed and not item.startswith(hidden)
        ]
        self._backend.sources.settle(self._source.name, [], over)


def _error_fields(error: BaseException) -> dict[str, str]:
    if isinstance(error, KeyboardInterrupt | GeneratorExit | SystemExit):
        return {"message": "Interrupted. The next run continues from here."}
    if isinstance(error, TriviumError):
        return {"code": error.code, "message": clean_text(str(error))}
    message = f"Something went wrong inside Trivium: {type(error).__name__}: {error}"
    return {"code": "internal", "message": clean_text(message)}
