"""The tools that answer in depth, within what one caller may see: every one of them asks the
library as the caller would, so none shows more than a search of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trivium.answer.passages import summary
from trivium.answer.tools import MOST_FOUND, ToolResult
from trivium.core.types import Combine, Mode, Signal, StoredChunk, Where
from trivium.library.documents import Documents
from trivium.library.history import History
from trivium.library.searching import Searching
from trivium.operations.searching import Filters, SearchOptions
from trivium.search.request import MODES

MOST_HEADINGS = 120  # of an outline
MOST_VERSIONS = 20
MOST_ROWS = 12  # passages of one table


def outline(passages: Sequence[StoredChunk]) -> list[tuple[tuple[str, ...], int, tuple[int, ...]]]:
    """The headings of a document in order, each once: its path, the index of its first passage and
    the pages of that."""
    firsts: dict[tuple[str, ...], StoredChunk] = {}
    for passage in passages:
        firsts.setdefault(passage.chunk.headings, passage)
    return [(path, passage.chunk.index, passage.chunk.pages) for path, passage in firsts.items()]


def table_of(passages: Sequence[StoredChunk], index: int) -> list[StoredChunk]:
    """The passages that one table runs over, the one asked for among them."""
    at = next((i for i, passage in enumerate(passages) if passage.chunk.index == index), None)
    if at is None or " | " not in passages[at].chunk.text:
        return []
    first = last = at
    while first and passages[first].chunk.header and at - first < MOST_ROWS:
        first -= 1
    follows = passages[at].chunk.header or passages[first].chunk.text
    while last + 1 < len(passages) and last - at < MOST_ROWS:
        header = passages[last + 1].chunk.header
        if not header or header not in follows:
            break
        last += 1
    return list(passages[first : last + 1])


@dataclass(frozen=True, slots=True)
class LibraryToolbox:
    """A `Toolbox`."""

    _searching: Searching
    _documents: Documents
    _history: History
    _within: Where  # what the caller may see and asked for; no tool widens it
    _options: SearchOptions

    def search(
        self, queries: Sequence[str], *, mode: str, collection: str, where: str, as_of: str
    ) -> ToolResult:
        options = replace(
            self._options,
            limit=MOST_FOUND,
            mode=mode,
            combine=Combine.MAXIMUM if len(queries) > 1 else None,
            hyde=self._options.hyde and Signal.VECTOR in MODES[Mode(mode)],
            as_of=as_of or None,
        )
        filters = Filters(collection=collection or None, where=where)
        results = self._searching.search(
            list(queries), options=options, filters=filters, within=self._within
        )
        fitting = tuple(result for result in results if results.fits(result))
        listed = " / ".join(f"“{query}”" for query in queries)
        beside = "".join(
            (
                f" in {collection}" if collection else "",
                f" where {where}" if where else "",
                f" as of {as_of}" if as_of else "",
            )
        )
        line = f"Searched for {listed}{beside}: {summary(fitting)}"
        return ToolResult(line, "" if fitting else "No good match.", fitting)

    def get_passage(self, document: int, index: int, *, around: int) -> ToolResult:
        passage, near = self._documents.passage(
            document, index, before=around, after=around, within=self._within
        )
        line = f"Read {passage.document.title}, passage {index}"
        line += f" and {around} on each side" if around else ""
        return ToolResult(line, chunks=(*near.before, passage, *near.after))

    def get_outline(self, document: int) -> ToolResult:
        stored = self._documents.get(document, self._within)
        parts = outline(self._documents.passages(stored.id, self._within))
        lines = [f"{index}: {' › '.join(path) or stored.title}" for path, index, _ in parts]
        more = f"\n({len(lines) - MOST_HEADINGS} more)" if len(lines) > MOST_HEADINGS else ""
        text = "\n".join(lines[:MOST_HEADINGS])
        return ToolResult(f"Looked at the outline of {stored.title}", listing=f"{text}{more}")

    def get_table(self, document: int, index: int) -> ToolResult:
        stored = self._documents.get(document, self._within)
        parts = table_of(self._documents.passages(stored.id, self._within), index)
        text = "" if parts else "That passage has no table."
        return ToolResult(f"Looked at a table of {stored.title}", text, chunks=tuple(parts))

    def list_collections(self) -> ToolResult:
        collections = self._documents.collections(self._within)
        lines = [
            f"{collection.name}: {collection.documents} documents, {collection.chunks} passages"
            for collection in collections
        ]
        many = "1 collection" if len(collections) == 1 else f"{len(collections)} collections"
        return ToolResult(f"Listed {many}", listing="\n".join(lines))

    def similar(self, document: int, index: int | None) -> ToolResult:
        results = self._searching.similar(document, MOST_FOUND, passage=index, within=self._within)
        title = self._documents.get(document, self._within).title
        line = f"Looked for documents like {title}: {summary(results)}"
        return ToolResult(line, results=tuple(results))

    def history(self, document: int) -> ToolResult:
        title = self._documents.get(document, self._within).title
        versions = self._history.of(document, self._within)[-MOST_VERSIONS:]
        lines = [
            f"version {version.number}, from {version.created_at}"
            + (f" to {version.retired_at}" if version.retired_at else ", active")
            for version in versions
        ]
        return ToolResult(f"Looked at the history of {title}", "\n".join(lines))
