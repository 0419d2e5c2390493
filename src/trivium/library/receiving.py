"""How documents come in from others: under their own labels, and never over what is not theirs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trivium.access import Caller, Right
from trivium.errors import DocumentExists
from trivium.library.adding import Adding
from trivium.library.report import Report
from trivium.ports import SourceItem
from trivium.sources.web import Fetched, fetch
from trivium.types import Compare, Document, Labels, Metadata

_LONGEST_NAME = 150
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class _One:
    """A source of one item."""

    item: SourceItem

    def items(self) -> Iterator[SourceItem]:
        yield self.item


class Receiving(Adding):
    def receive(
        self,
        caller: Caller,
        name: str,
        content: Callable[[], bytes],
        *,
        size: int = 0,
        collection: str | None = None,
        category: str | None = None,
        audience: str | None = None,
        metadata: Metadata | None = None,
    ) -> Report:
        """Add a file that someone sends. The same name again is a new version of it; each token has
        names of its own, so nobody replaces another's document or learns that there is one."""
        safe = safe_name(name)
        uri = f"upload:{caller.id}/{safe}" if caller.id else f"upload:{safe}"
        item = SourceItem(uri, safe, content, size)
        return self._receive(caller, item, collection, category, audience, metadata or {})

    def receive_url(
        self,
        caller: Caller,
        url: str,
        *,
        collection: str | None = None,
        category: str | None = None,
        audience: str | None = None,
        metadata: Metadata | None = None,
        fetcher: Callable[[str], Fetched] | None = None,
    ) -> Report:
        """Add what stands at a public address. `fetcher`: another way to it than `sources.web`."""
        caller.require(Right.ADD)  # before anything is fetched for someone
        fetched = (fetcher or self._fetch)(url)
        uri = f"{url}#by-{caller.id}" if caller.id else url
        item = SourceItem(uri, safe_name(fetched.name), lambda: fetched.data, len(fetched.data))
        return self._receive(caller, item, collection, category, audience, metadata or {})

    def _fetch(self, url: str) -> Fetched:
        s = self._settings
        return fetch(url, max_bytes=s.read_max_bytes, seconds=s.read_seconds)

    def _receive(
        self,
        caller: Caller,
        item: SourceItem,
        collection: str | None,
        category: str | None,
        audience: str | None,
        metadata: Metadata,
    ) -> Report:
        caller.require(Right.ADD)
        place = caller.collection_for(collection)
        label = caller.audience_for(audience)
        before = self._store.find(item.uri, place)
        if before is not None:
            label = self._label_of(caller, before, audience)
        labels = Labels(place, category, label, metadata)
        return self.add_from(_One(item), labels)

    def _label_of(self, caller: Caller, before: Document, asked: str | None) -> str:
        """A new version stays as visible as the document is; who changes that needs `manage`."""
        seen = caller.within(Compare("source", "eq", f"#{before.id}"))
        if not self._store.documents(seen, limit=1):
            raise DocumentExists("A document of this name is there and is not yours any more.")
        if asked is None or asked == before.audience:
            return before.audience
        caller.require(Right.MANAGE)
        return asked


def safe_name(name: str) -> str:
    """A file name without ways, controls and tricks: what is left names a document, never a file
    on this machine."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = _UNWANTED.sub("", last).strip(" .")
    stem, dot, suffix = clean.rpartition(".")
    if not dot:
        return clean[:_LONGEST_NAME] or "upload"
    return f"{stem[: _LONGEST_NAME - 20]}.{suffix[:20]}" if stem else suffix[:20] or "upload"
