"""What the parts share: items of a source as documents of a library, and the changes of a source
cut into segments. Each segment is stored as a whole, and the cursor advances with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

from trivium.core.errors import FileUnreadable
from trivium.core.types import EVERYONE, Extraction
from trivium.core.work import KeptSource
from trivium.extract.cleaning import cleaned, cleaned_metadata
from trivium.ingest.outcomes import text_digest
from trivium.ports import Backend, Change, Checkpoint, Failed, Gone, Only, Put, SourceItem, Wait
from trivium.store.identity import WITHIN


def item_uris(backend: Backend, source: KeptSource) -> list[str]:
    """The uris of its items, without the files inside them."""
    below = backend.documents.below(source.uri_prefix, source.collection)
    return list(dict.fromkeys(uri.partition(WITHIN)[0] for uri in below))


def item_of(source: KeptSource, put: Put) -> SourceItem:
    """As the pipeline takes it. A label from the source wins, then the label that the source was
    added with; otherwise public items are for everyone, and the rest for those who have the
    source's name as a label."""
    label = put.audience
    if label in (None, EVERYONE):
        label = source.audience or (source.name if label is None else EVERYONE)
    metadata = {**put.metadata, "sync": source.name, "audience": label}
    return SourceItem(
        uri=source.uri_prefix + put.id,
        name=put.name,
        content=put.content,
        size=put.size,
        title=put.title,
        metadata=cleaned_metadata(metadata),
        parts=tuple(item_of(source, part) for part in put.parts),
    )


def digest_of(item: SourceItem) -> tuple[str, str | None]:
    """The same digest as the pipeline's; and the text, if it needs no extraction. Raises
    ReadError, also if the bytes aren't as many as the source announced."""
    if isinstance(item.content, Extraction):
        read = cleaned(item.content)
        return text_digest(read, item.metadata), read.text
    data = item.content()
    if item.size and len(data) != item.size:
        raise FileUnreadable(
            f"The source announces {item.size:,} bytes, but sent {len(data):,}.",
            fix="Open it at the source, to see what is there.",
        )
    return hashlib.sha256(data).hexdigest(), None


def uris_of(backend: Backend, source: KeptSource, changes: Sequence[Gone | Only]) -> list[str]:
    """The uris that these changes take away, if the library has them."""
    prefix = source.uri_prefix
    matches: dict[str, None] = {}
    for change in changes:
        if isinstance(change, Gone):
            matches[prefix + change.id] = None
            if not change.below:
                continue
            uris = backend.documents.below(f"{prefix}{change.id}/", source.collection)
        else:
            first, last = (prefix + edge if edge else "" for edge in (change.since, change.before))
            uris = backend.documents.below(
                prefix + change.prefix, source.collection, since=first, before=last
            )
        outer = (uri.partition(WITHIN)[0] for uri in uris)
        matches |= {uri: None for uri in outer if change.drops(uri.removeprefix(prefix))}
    return list(matches)


def slices(uris: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(uris), size):
        yield uris[start : start + size]


def age(when: str) -> float:
    """Seconds since a time."""
    then = datetime.fromisoformat(when)
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return (datetime.now(UTC) - then).total_seconds()


# Items per segment: as many as the pipeline puts in one transaction. A commit takes 30 ms.
SEGMENT = 256
_GATHER = 2.0  # seconds after which fewer are put, so that people can find them
_MOST_PENDING = 4 * SEGMENT  # items, if a source gives no checkpoint for a long time
_MOST_HELD = 32 << 20  # bytes of items that a source has already read


@dataclass(slots=True)
class ChangeSegment:
    changes: dict[str, Put | Gone | Failed] = field(default_factory=dict)
    only: list[Only] = field(default_factory=list)
    checkpoint: Checkpoint | None = None

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.only and self.checkpoint is None

    def take(self, change: Put | Gone | Only | Failed) -> None:
        """The last change of an item counts."""
        if isinstance(change, Gone | Only):
            for id_ in [text for text in self.changes if change.drops(text)]:
                del self.changes[id_]
        if isinstance(change, Only):
            self.only.append(change)
            return
        self.changes.pop(change.id, None)
        self.changes[change.id] = change


def segments(changes: Iterable[Change]) -> Generator[ChangeSegment | Wait, None, None]:
    segment, since, size = ChangeSegment(), monotonic(), 0
    for change in changes:
        if isinstance(change, Wait):
            if not segment.is_empty:
                yield segment
            yield change
            segment, since, size = ChangeSegment(), monotonic(), 0
            continue
        if isinstance(change, Checkpoint):
            segment.checkpoint = change
            is_due = len(segment.changes) >= SEGMENT or monotonic() - since > _GATHER
        else:
            segment.take(change)
            size += change.size if isinstance(change, Put) else 0
            is_due = len(segment.changes) >= _MOST_PENDING or size >= _MOST_HELD
        if is_due:
            yield segment
            segment, since, size = ChangeSegment(), monotonic(), 0
    if not segment.is_empty:
        yield segment
