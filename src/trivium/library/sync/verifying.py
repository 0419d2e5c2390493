"""Compares a source and the library item by item, and says what a run would do; changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from trivium.errors import ReadError
from trivium.ingest.outcomes import Fate
from trivium.library.sync.items import digest_of, held, item_of, uri_prefix, uris_of
from trivium.ports import Backend, Failed, Gone, Only, Put, SyncSource, Wait
from trivium.types import OWNER, Document
from trivium.work import KeptSource, SyncFailure

REMOVED = "removed"


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


class Verifying:
    """One source beside the library."""

    def __init__(self, backend: Backend, source: KeptSource, opened: SyncSource) -> None:
        self._backend = backend
        self._source = source
        self._opened = opened

    def verify(self, wait: Callable[[Wait], None], *, ids_only: bool) -> Verified:
        source, opened = self._source, self._opened
        failed = {one.item: one for one in self._backend.sources.failures(source.name)}
        hidden: tuple[str, ...] = ()
        found: dict[str, list[Difference]] = {}  # by item: what is told last of it counts
        for item in _listing(opened) if ids_only else opened.changes(""):
            if isinstance(item, Wait):
                wait(item)
            elif isinstance(item, Put | Failed):
                found[item.id] = list(self._compared(item, failed, ids_only))
                if isinstance(item, Failed) and item.hides:
                    hidden += (item.hides,)
            elif isinstance(item, Gone | Only):
                for id_ in [one for one in found if item.drops(one)]:
                    del found[id_]
        compared = len(found)
        prefix = uri_prefix(source)
        for uri in held(self._backend, source) if opened.deletions != "kept" else ():
            id_ = uri.removeprefix(prefix)
            if id_ not in found and not id_.startswith(hidden):
                found[id_] = [Difference(id_, "extra", "The source no longer has it.")]
        every = tuple(one for id_ in sorted(found) for one in found[id_])
        return Verified(source.name, compared, every)

    def would_do(self, cursor: str) -> tuple[Counter[str], str]:
        """What a run from this cursor would count; and where the service asks for a pause, why that
        isn't all."""
        source, prefix = self._source, uri_prefix(self._source)
        last: dict[str, str] = {}
        for change in self._opened.changes(cursor):
            if isinstance(change, Put):
                document = self._document(change.id)
                fate = Fate.ADDED if document is None else Fate.UPDATED
                if document and not list(self._differences(change, document)):
                    fate = Fate.UNCHANGED
                last[change.id] = fate.value
            elif isinstance(change, Failed):
                last[change.id] = Fate.FAILED.value
            elif isinstance(change, Gone | Only):
                last = {id_: fate for id_, fate in last.items() if not change.drops(id_)}
                uris = uris_of(self._backend, source, [change])
                last |= {uri.removeprefix(prefix): REMOVED for uri in uris}
            elif isinstance(change, Wait):
                return Counter(last.values()), f"That isn't all: {change.reason}"
        if not cursor and self._opened.deletions != "kept":
            ids = (uri.removeprefix(prefix) for uri in held(self._backend, source))
            last |= {id_: REMOVED for id_ in ids if id_ not in last}
        return Counter(last.values()), ""

    def _document(self, id_: str) -> Document | None:
        uri = uri_prefix(self._source) + id_
        return self._backend.documents.find(uri, self._source.collection)

    def _compared(
        self, item: Put | Failed, failed: Mapping[str, SyncFailure], ids_only: bool
    ) -> Iterator[Difference]:
        if isinstance(item, Failed):
            yield Difference(item.id, "unreadable", item.message)
            return
        document, run = self._document(item.id), self._source.run
        if document is None:
            if item.id in failed:
                why = f"Couldn't add it: {failed[item.id].message}"
            elif not run.ended_at:
                why = "No run has finished yet."
            else:
                why = f"It is newer than the last run ({run.ended_at}), or was removed here."
            yield Difference(item.id, "missing", why)
        elif not ids_only:
            yield from self._differences(item, document)

    def _differences(self, put: Put, document: Document) -> Iterator[Difference]:
        item = item_of(self._source, put)
        try:
            digest, text = digest_of(item)
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


def _listing(source: SyncSource) -> Iterator[Put | Wait]:
    for one in source.ids():
        yield Put(one, one, bytes) if isinstance(one, str) else one
