"""What the parts share: items of a source as documents of a library, and times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from trivium.core.errors import FileUnreadable
from trivium.core.types import EVERYONE, Extraction
from trivium.core.work import KeptSource
from trivium.extract.cleaning import cleaned, cleaned_metadata
from trivium.ingest.identity import text_digest
from trivium.library.synced import uri_prefix
from trivium.ports import Backend, Gone, Only, Put, SourceItem
from trivium.store.identity import WITHIN


def held(backend: Backend, source: KeptSource) -> list[str]:
    """The uris of its items, without the files inside them."""
    found = backend.documents.below(uri_prefix(source), source.collection)
    return list(dict.fromkeys(uri.partition(WITHIN)[0] for uri in found))


def item_of(source: KeptSource, put: Put) -> SourceItem:
    """As the pipeline takes it. A label from the source wins, then the label that the source was
    added with; otherwise public items are for everyone, and the rest for those who have the
    source's name as a label."""
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
    prefix = uri_prefix(source)
    found: dict[str, None] = {}
    for one in changes:
        if isinstance(one, Gone):
            found[prefix + one.id] = None
            if not one.below:
                continue
            uris = backend.documents.below(f"{prefix}{one.id}/", source.collection)
        else:
            first, last = (prefix + edge if edge else "" for edge in (one.since, one.before))
            uris = backend.documents.below(
                prefix + one.prefix, source.collection, since=first, before=last
            )
        outer = (uri.partition(WITHIN)[0] for uri in uris)
        found |= {uri: None for uri in outer if one.drops(uri.removeprefix(prefix))}
    return list(found)


def slices(uris: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(uris), size):
        yield uris[start : start + size]


def age(when: str) -> float:
    """Seconds since a time."""
    then = datetime.fromisoformat(when)
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return (datetime.now(UTC) - then).total_seconds()
