"""Uploads from other people: under their own labels, and never over documents of others.

An upload stays in the library's spool until its job is done, so that a crash loses nothing that was
acknowledged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from io import SEEK_END, BytesIO
from threading import Event
from typing import BinaryIO

from trivium.core.access import Caller, Right
from trivium.core.errors import DocumentExists, ServerBusy
from trivium.core.types import Compare, Document, Labels, Metadata
from trivium.core.work import UPLOAD, Job, Priority
from trivium.ingest.outcomes import Fate, Outcome
from trivium.library.documents import Documents
from trivium.library.jobs import Jobs, Report
from trivium.library.model import CurrentModel
from trivium.library.quotas import Quotas, Use
from trivium.library.unlocking import unlock
from trivium.ports import Backend
from trivium.sources.spool import SpoolSource, spool_key, spool_name
from trivium.sources.web import Fetched, fetch
from trivium.store.where import UPLOADED
from trivium.text.values import check_labels

_LONGEST_NAME = 150
_UNWANTED = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
# Seconds after which what no job names is left over: between a file and its job lie milliseconds.
_SETTLED = 600.0
_SHARES = 4  # of the space for uploads: a token has one at most


@dataclass(frozen=True, slots=True)
class Wanted:
    """The labels that the sender gives; None: as their token says."""

    collection: str | None = None
    category: str | None = None
    audience: str | None = None
    metadata: Metadata | None = None
    password: str = field(default="", repr=False)  # of the file; used once


@dataclass(eq=False)
class Uploads:
    _backend: Backend
    _model: CurrentModel
    _documents: Documents
    _jobs: Jobs
    _quotas: Quotas

    def receive(
        self,
        caller: Caller,
        name: str,
        file: BinaryIO,
        wanted: Wanted | None = None,
        *,
        stop: Event | None = None,
    ) -> Report:
        """Add an uploaded file and wait for it. The same name again makes a new version. Each token
        has its own names and documents, so nobody can change another's document or learn that it
        exists, even with the same bytes. `stop`: once set, nobody waits; raises LibraryBusy, and
        the job stays queued."""
        uri, safe = _named(caller, name)
        return self._received(caller, uri, safe, file, _checked(wanted), stop)

    def receive_later(
        self, caller: Caller, name: str, file: BinaryIO, wanted: Wanted | None = None
    ) -> Job:
        """The same, but only a job: the file is kept until someone works it off (`work_next`)."""
        uri, safe = _named(caller, name)
        return self._enqueued(caller, uri, safe, file, _checked(wanted))[0]

    def receive_url(
        self,
        caller: Caller,
        url: str,
        wanted: Wanted | None = None,
        *,
        fetcher: Callable[[str], Fetched] | None = None,
    ) -> Report:
        """Add a page or file from a public address. `fetcher` replaces `sources.web`."""
        if fetcher is None:
            return self.receive_fetched(caller, url, self.fetch(caller, url, wanted), wanted)
        self._check(caller, wanted)
        return self.receive_fetched(caller, url, fetcher(url), wanted)

    def fetch(
        self, caller: Caller, url: str, wanted: Wanted | None = None, stop: Event | None = None
    ) -> Fetched:
        """The first half of `receive_url`: it may take long, and needs nothing of the library."""
        self._check(caller, wanted)
        s = self._model.settings
        return fetch(url, max_bytes=s.read_max_bytes, seconds=s.read_seconds, stop=stop)

    def receive_fetched(
        self,
        caller: Caller,
        url: str,
        fetched: Fetched,
        wanted: Wanted | None = None,
        *,
        stop: Event | None = None,
    ) -> Report:
        """The second half."""
        uri = f"{url}#by-{caller.id}" if caller.id else url
        name, data = safe_name(fetched.name), BytesIO(fetched.data)
        return self._received(caller, uri, name, data, _checked(wanted), stop)

    def _check(self, caller: Caller, wanted: Wanted | None) -> None:
        """Before anything is fetched for someone."""
        caller.require(Right.ADD)
        _checked(wanted)

    def sweep(self) -> int:
        """Drop files that were sent in and that no job needs any more; how many."""
        needed = [spool_name(retryable.key) for retryable in self._backend.jobs.retryable(UPLOAD)]
        return self._backend.spool.sweep(needed, _SETTLED)

    def _enqueued(
        self, caller: Caller, uri: str, name: str, file: BinaryIO, wanted: Wanted
    ) -> tuple[Job, str]:
        """The job, and where the spool has the file."""
        labels = self._labels(caller, uri, wanted)
        if wanted.password:
            file = BytesIO(unlock(self._model.settings, name, file.read(), wanted.password))
        size = _size(file)
        before = self._backend.documents.find(uri, labels.collection)
        self._quotas.check(caller, labels.collection, size, before, self._waiting(caller))
        self._make_room(caller, size)
        stored = self._backend.spool.keep(file, limited=not caller.is_owner)
        try:
            source = SpoolSource(self._backend.spool, [spool_key(stored, uri, name)])
            purpose, first = f"add {name}", Priority.INTERACTIVE
            job = self._jobs.enqueue(
                source, labels, what=purpose, priority=first, kind=UPLOAD, by=caller.id
            )
        except BaseException:
            self._backend.spool.drop(stored)
            raise
        return job, stored

    def _received(
        self,
        caller: Caller,
        uri: str,
        name: str,
        file: BinaryIO,
        wanted: Wanted,
        stop: Event | None,
    ) -> Report:
        job, stored = self._enqueued(caller, uri, name, file, wanted)
        # Raises LibraryBusy on closing, or if nobody waits: then the file is kept.
        report = self._jobs.work(job.id, stop=stop)
        self._backend.spool.drop(stored)  # the sender knows the outcome, and has the file
        place = job.options["labels"]["collection"]
        outcomes = tuple(self._with_document(outcome, place) for outcome in report.outcomes)
        report = replace(report, outcomes=outcomes)
        if Right.SEARCH not in caller.rights:  # notes may name similar documents
            return replace(report, notes=())
        if caller.sees_all:
            return report
        notes = self._documents.near_notes(_fresh(report), caller.within())
        return replace(report, notes=tuple(notes))

    def _waiting(self, caller: Caller) -> Use:
        """What they have sent that isn't added yet."""
        sizes = self._backend.spool.sizes()
        unread = [
            spool_name(retryable.key)
            for retryable in self._backend.jobs.retryable(UPLOAD)
            if retryable.by == caller.id and not retryable.ended
        ]
        return Use(len(unread), sum(sizes.get(name, 0) for name in unread))

    def _make_room(self, caller: Caller, size: int) -> None:
        """Drop the oldest failed uploads while there is too much: the token's own, then any. Each
        token has a share of the space, so that nobody fills it for the others. The owner can always
        upload. Raises ServerBusy; the spool itself refuses what would be too much of all."""
        most = self._model.settings.serve_incoming_bytes
        share = most // _SHARES
        spool, sizes = self._backend.spool, self._backend.spool.sizes()
        uploads = [
            (spool_name(retryable.key), retryable.by == caller.id, retryable.ended)
            for retryable in self._backend.jobs.retryable(UPLOAD)
        ]
        mine = sum(sizes.get(name, 0) for name, is_mine, _ in uploads if is_mine) + size
        total = sum(sizes.values()) + size
        for name, is_mine, _ in sorted(
            (upload for upload in uploads if upload[2]), key=lambda upload: not upload[1]
        ):
            if total > most or (is_mine and mine > share):
                spool.drop(name)
                total -= sizes.get(name, 0)
                mine -= sizes.get(name, 0) if is_mine else 0
        if mine > share and not caller.is_owner:
            raise ServerBusy(
                f"Your uploads that wait would take {mine:,} bytes; a token may have {share:,}, a"
                " quarter of `serve.incoming_bytes`.",
                fix="Try again when they are added.",
            )

    def _with_document(self, outcome: Outcome, collection: str) -> Outcome:
        """If another thread did the work, only the queue knows the outcome."""
        if outcome.document is not None or outcome.error is not None:
            return outcome
        return replace(outcome, document=self._backend.documents.find(outcome.uri, collection))

    def _labels(self, caller: Caller, uri: str, wanted: Wanted) -> Labels:
        caller.require(Right.ADD)
        place = caller.collection_for(wanted.collection)
        label = caller.audience_for(wanted.audience)
        before = self._backend.documents.find(uri, place)
        if before is not None:
            label = self._label_of(caller, before, wanted.audience)
        return Labels(place, wanted.category, label, wanted.metadata or {})

    def _label_of(self, caller: Caller, before: Document, label: str | None) -> str:
        """A new version stays as visible as the document is; who changes that needs `manage`."""
        visible = caller.within(Compare("source", "eq", f"#{before.id}"))
        if not self._backend.documents.all(visible, limit=1):
            raise DocumentExists("A document of this name exists, and you may no longer change it.")
        if label is None or label == before.audience:
            return before.audience
        caller.require(Right.MANAGE)
        return label


def _size(file: BinaryIO) -> int:
    size = file.seek(0, SEEK_END)
    file.seek(0)
    return size


def _checked(wanted: Wanted | None) -> Wanted:
    """Before anything is looked up or fetched with it. Raises BadValue."""
    sent = wanted or Wanted()
    labels = Labels(sent.collection or "", sent.category, sent.audience, sent.metadata or {})
    return replace(sent, metadata=check_labels(labels).metadata)


def _named(caller: Caller, name: str) -> tuple[str, str]:
    """The uri for an upload with this name, and the cleaned name."""
    safe = safe_name(name)
    return f"{UPLOADED}{caller.id}/{safe}" if caller.id else f"{UPLOADED}{safe}", safe


def _fresh(report: Report) -> list[int]:
    new = (Fate.ADDED, Fate.UPDATED)
    return [
        outcome.document.id
        for outcome in report.outcomes
        if outcome.document and outcome.fate in new
    ]


def safe_name(name: str) -> str:
    """A file name without paths, control characters and tricks: the rest names a document, never a
    file on this machine."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = _UNWANTED.sub("", last).strip(" .")
    stem, dot, suffix = clean.rpartition(".")
    if not dot:
        return clean[:_LONGEST_NAME] or "upload"
    return f"{stem[: _LONGEST_NAME - 20]}.{suffix[:20]}" if stem else suffix[:20] or "upload"
