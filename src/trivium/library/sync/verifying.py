"""Compares a source and the library item by item, and says what a run would do; changes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from trivium.core.errors import ReadError
from trivium.core.types import OWNER, Document
from trivium.core.work import KeptSource, SyncFailure
from trivium.ingest.attached import PARTS, with_parts
from trivium.ingest.outcomes import Fate
from trivium.library.sync.items import SEGMENT, digest_of, item_of, item_uris, uris_of
from trivium.ports import Backend, Change, Failed, Gone, Only, Put, SyncSource, Wait

REMOVED = "removed"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ItemDifference:
    """One difference between a source and the library."""

    item: str
    kind: str  # missing, extra, text, metadata, audience, restored, unreadable
    reason: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` found."""

    source: str
    compared: int  # items of the source
    differences: tuple[ItemDifference, ...]

    @property
    def in_step(self) -> bool:
        return not self.differences


class _Latest(Generic[T]):
    """By item: the last report counts. Slack reports which items of each thread exist, so what is
    below an id is found without looking at all others."""

    def __init__(self) -> None:
        self.items: dict[str, T] = {}
        self._below: defaultdict[str, set[str]] = defaultdict(set)

    def take(self, id_: str, value: T) -> None:
        if id_ not in self.items:
            for end in (at + 1 for at, letter in enumerate(id_) if letter == "/"):
                self._below[id_[:end]].add(id_)
        self.items[id_] = value

    def drop(self, change: Gone | Only) -> None:
        above = f"{change.id}/" if isinstance(change, Gone) else change.prefix
        near = self._below.get(above, set()) if above.endswith("/") else self.items
        if isinstance(change, Gone):
            near = {change.id, *near}
        for id_ in [text for text in near if change.drops(text)]:
            self.items.pop(id_, None)
            self._below[above].discard(id_)


@dataclass(eq=False)
class Verifying:
    """Compares one source with the library."""

    _backend: Backend
    _source: KeptSource
    _opened: SyncSource

    def verify(self, wait: Callable[[Wait], None], *, ids_only: bool) -> Verified:
        source, opened = self._source, self._opened
        failed = {failure.item: failure for failure in self._backend.sources.failures(source.name)}
        hidden: tuple[str, ...] = ()
        is_partial = False
        differences: _Latest[list[ItemDifference]] = _Latest()
        listed = _listing(opened) if ids_only else opened.changes("")
        for item, document in self._looked_up(listed):
            if isinstance(item, Wait):
                wait(item)
            elif isinstance(item, Put | Failed):
                differences.take(item.id, list(self._compared(item, document, failed, ids_only)))
                if isinstance(item, Failed):
                    hidden += (item.hides,) if item.hides else ()
                    is_partial = is_partial or item.partial
            elif isinstance(item, Gone | Only):
                differences.drop(item)
        by_id = differences.items
        compared = len(by_id)
        prefix = source.uri_prefix
        keeps_others = is_partial or opened.deletions == "kept"
        for uri in () if keeps_others else item_uris(self._backend, source):
            id_ = uri.removeprefix(prefix)
            if id_ not in by_id and not id_.startswith(hidden):
                by_id[id_] = [ItemDifference(id_, "extra", "The source no longer has it.")]
        every = tuple(difference for id_ in sorted(by_id) for difference in by_id[id_])
        return Verified(source.name, compared, every)

    def would_do(self, cursor: str) -> tuple[Counter[str], str]:
        """What a run from this cursor would count; and if the service asks for a pause, why that
        isn't all."""
        source, prefix = self._source, self._source.uri_prefix
        fates: _Latest[str] = _Latest()
        for change, document in self._looked_up(self._opened.changes(cursor)):
            if isinstance(change, Put):
                fate = Fate.ADDED if document is None else Fate.UPDATED
                if document and not list(self._differences(change, document)):
                    fate = Fate.UNCHANGED
                fates.take(change.id, fate.value)
            elif isinstance(change, Failed):
                fates.take(change.id, Fate.FAILED.value)
            elif isinstance(change, Gone | Only):
                fates.drop(change)
                for uri in uris_of(self._backend, source, [change]):
                    fates.take(uri.removeprefix(prefix), REMOVED)
            elif isinstance(change, Wait):
                return Counter(fates.items.values()), f"That isn't all: {change.reason}"
        if not cursor and self._opened.deletions != "kept":
            ids = (uri.removeprefix(prefix) for uri in item_uris(self._backend, source))
            fates.items.update({id_: REMOVED for id_ in ids if id_ not in fates.items})
        return Counter(fates.items.values()), ""

    def _looked_up(self, changes: Iterable[Change]) -> Iterator[tuple[Change, Document | None]]:
        """With the documents of existing items, looked up in batches: one by one takes 1 ms
        each."""
        prefix = self._source.uri_prefix
        for some in _batches(changes):
            uris = [prefix + change.id for change in some if isinstance(change, Put)]
            documents = (
                self._backend.documents.find_all(uris, self._source.collection) if uris else {}
            )
            for change in some:
                yield change, documents.get(prefix + change.id) if isinstance(change, Put) else None

    def _compared(
        self,
        item: Put | Failed,
        document: Document | None,
        failed: Mapping[str, SyncFailure],
        ids_only: bool,
    ) -> Iterator[ItemDifference]:
        if isinstance(item, Failed):
            yield ItemDifference(item.id, "unreadable", item.message)
            return
        if document is None:
            run = self._source.run
            if item.id in failed:
                why = f"Couldn't add it: {failed[item.id].message}"
            elif not run.ended_at:
                why = "No run has finished yet."
            else:
                why = f"It is newer than the last run ({run.ended_at}), or was removed here."
            yield ItemDifference(item.id, "missing", why)
        elif not ids_only:
            yield from self._differences(item, document)

    def _differences(self, put: Put, document: Document) -> Iterator[ItemDifference]:
        item, _, _ = with_parts(item_of(self._source, put))
        try:
            digest, text = digest_of(item)
        except ReadError as reason:
            yield ItemDifference(put.id, "unreadable", str(reason))
            return
        if document.content_hash != document.seen_hash:
            yield ItemDifference(put.id, "restored", "Someone restored an older version here.")
        if item.metadata.get(PARTS) != document.metadata.get(PARTS):
            yield ItemDifference(put.id, "text", "The source changed its notes after the last run.")
        elif digest != document.seen_hash:
            here = self._backend.documents.text(document.id, OWNER) if text is not None else None
            if here is not None and here == text:
                differing = sorted(
                    n for n, value in item.metadata.items() if document.metadata.get(n) != value
                )
                names = ", ".join(differing) or "one of its fields"
                yield ItemDifference(
                    put.id, "metadata", f"The source has other values for: {names}."
                )
            else:
                yield ItemDifference(put.id, "text", "The source changed it after the last run.")
        label = item.metadata["audience"]
        if label != document.audience:
            why = f"The source shows it to `{label}`, the library to `{document.audience}`."
            yield ItemDifference(put.id, "audience", why)


def _batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """A pause that a service asks for ends a batch, so that nobody waits for it early."""
    some: list[Change] = []
    for change in changes:
        some.append(change)
        if isinstance(change, Wait) or len(some) >= SEGMENT:
            yield some
            some = []
    yield some


def _listing(source: SyncSource) -> Iterator[Put | Wait | Failed]:
    for id_ in source.ids():
        yield Put(id_, id_, bytes) if isinstance(id_, str) else id_
