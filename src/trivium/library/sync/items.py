"""What the parts share: items of a source as documents of a library, and instants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from trivium.extract.cleaning import cleaned, cleaned_metadata
from trivium.ingest.hashes import text_digest
from trivium.ports import Backend, Gone, Only, Put, SourceItem
from trivium.store.identity import WITHIN
from trivium.types import EVERYONE, Extraction
from trivium.work import KeptSource


def uri_prefix(source: KeptSource) -> str:
    return f"{source.kind}:{source.name}/"


def held(backend: Backend, source: KeptSource) -> list[str]:
    """The uris of its items; not of what lies within them."""
    found = backend.documents.below(uri_prefix(source), source.collection)
    return list(dict.fromkeys(uri.partition(WITHIN)[0] for uri in found))


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


def digest_of(item: SourceItem) -> tuple[str, str | None]:
    """As the pipeline makes it; and the text, where it needs no reading."""
    if isinstance(item.content, Extraction):
        read = cleaned(item.content)
        return text_digest(read, item.metadata), read.text
    return hashlib.sha256(item.content()).hexdigest(), None


def uris_of(backend: Backend, source: KeptSource, changes: Sequence[Gone | Only]) -> list[str]:
    """Of the items that these take away, those that the library has."""
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
    """Seconds since an instant."""
    then = datetime.fromisoformat(when)
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return (datetime.now(UTC) - then).total_seconds()
