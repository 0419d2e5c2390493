"""The screen of one document: its pages or text with a passage marked, the hits of a query,
similar documents, and removal."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from trivium.core.advice import advice
from trivium.core.errors import EmptyQuery, NotEmbedded
from trivium.core.types import Document, Granularity, StoredChunk, Where
from trivium.http.asked import Here, Keeper, Reader, Server
from trivium.http.routes.documents import Id
from trivium.http.routes.files import PLAYED
from trivium.operations.searching import LONGEST_QUERY, Filters, SearchOptions
from trivium.text.snippet import second_said
from trivium.web.found import Card, cards, words_of
from trivium.web.pages import PageRoute, page, query
from trivium.web.reading import ShownText, read
from trivium.web.state import SearchState

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_MOST_HITS = 50
_ALIKE = 5
_OUTLINED = 200  # headings
_DRAWN = ("application/pdf", "image/")  # what has pages that can be drawn
Index = Annotated[int | None, Query(ge=0, le=2**31)]
Queries = Annotated[list[str] | None, Query(max_length=4)]


@dataclass(frozen=True, slots=True)
class OpenedAt:
    """Where a document is opened."""

    passage: int | None
    page: int | None
    cited: tuple[int, int] | None  # of the passage's characters


@dataclass(frozen=True, slots=True)
class Player:
    """What plays a recording: from where, how far, and when each word of the text is said."""

    tag: str  # audio or video
    start: float
    end: float | None  # of a cited sentence; None: on to the end
    spoken: str  # JSON: pairs of characters before a word, blanks not counted, and its second


@dataclass(frozen=True, slots=True)
class DocumentView:
    """Everything the screen shows of a document."""

    document: Document
    passages: list[StoredChunk]
    current: StoredChunk | None
    origin: SearchState  # the search that led here
    reading: ShownText
    hits: list[Card]  # in the order of the document
    page: int | None  # drawn; None: the text is shown
    pages: int
    alike: list[Card] | None  # None: not asked for
    alike_note: str = ""
    player: Player | None = None  # of a recording whose file is in the archive

    @property
    def queries(self) -> tuple[str, ...]:
        return self.origin.queries

    @property
    def address(self) -> str:
        return f"/documents/{self.document.id}"

    def at(self, passage: int | None = None, page: int | None = None, alike: bool = False) -> str:
        """The address of another place in this document, with the same queries."""
        pairs = [("q", text) for text in self.queries]
        if self.origin.origin:
            pairs.append(("from", self.origin.origin))
        if passage is not None:
            pairs.append(("passage", str(passage)))
        if page is not None:
            pairs.append(("page", str(page)))
        if alike:
            pairs.append(("similar", "1"))
        return f"{self.address}?{query(pairs)}#here" if pairs else self.address

    @property
    def results(self) -> str:
        """The address of all results."""
        return self.origin.address

    @property
    def index(self) -> int:
        return self.current.chunk.index if self.current else 0

    @property
    def hit(self) -> int | None:
        """The number of this hit, from 0."""
        places = [card.result.found.chunk.index for card in self.hits]
        return places.index(self.index) if self.current and self.index in places else None

    @property
    def hit_before(self) -> Card | None:
        before = [card for card in self.hits if card.result.found.chunk.index < self.index]
        return before[-1] if before else None

    @property
    def hit_after(self) -> Card | None:
        after = (c for c in self.hits if c.result.found.chunk.index > self.index)
        return next(after, None)

    @property
    def outline(self) -> list[tuple[int, str, int]]:
        """The headings in order: depth, text, first passage."""
        outline: list[tuple[int, str, int]] = []
        before: tuple[str, ...] = ()
        for passage in self.passages:
            path = passage.chunk.headings
            for depth, heading in enumerate(path):
                if path[: depth + 1] != before[: depth + 1]:
                    outline.append((depth, heading, passage.chunk.index))
            before = path
        return outline[:_OUTLINED]

    @property
    def picture(self) -> str:
        """The address of the page image, with the passage marked if it is on that page."""
        text = f"/v1/documents/{self.document.id}/pages/{self.page}?width=1400"
        here = self.current is not None and self.page in self.current.chunk.pages
        return f"{text}&passage={self.index}" if here else text


@router.get("/documents/{id}")
async def document(
    request: Request,
    server: Here,
    caller: Reader,
    id: Id,
    q: Queries = None,
    passage: Index = None,
    page_: Annotated[int | None, Query(alias="page", ge=1, le=100_000)] = None,
    similar: bool = False,
    cited: Annotated[str, Query(pattern=r"^(\d{1,7}-\d{1,7})?$")] = "",
    from_: Annotated[str, Query(alias="from", max_length=4000)] = "",
) -> Response:
    """A document at a passage, or at its beginning. `cited`: the characters of the passage that an
    answer cites, marked instead of the words of a query."""
    queries = tuple(text[:LONGEST_QUERY] for text in q or () if text.strip())
    origin = replace(SearchState.of(QueryParams(from_)), queries=queries, explain=None)
    start, _, end = cited.partition("-")
    place = OpenedAt(passage, page_, (int(start), int(end)) if cited else None)
    view = await server.read(_look, server, id, caller.within(), origin, place, similar)
    return page(request, "document.html", {"view": view})


def _look(
    server: Server, id_: int, within: Where, origin: SearchState, place: OpenedAt, similar: bool
) -> DocumentView:
    passage, page_ = place.passage, place.page
    library = server.library
    shown = library.documents.get(id_, within)
    passages = library.documents.passages(id_, within)
    hits = _hits(server, shown, within, origin)
    if passage is None and page_ is None and hits:
        passage = hits[0].result.found.chunk.index
    current = next((p for p in passages if p.chunk.index == passage), None)
    drawn = shown.original and shown.media_type.startswith(_DRAWN)
    if drawn and page_ is None:
        page_ = current.chunk.pages[0] if current and current.chunk.pages else 1
    pages = max([p for stored in passages for p in stored.chunk.pages], default=1)
    length = shown.metadata.get("pages")
    alike, note = _alike(server, shown, passage, within) if similar else (None, "")
    text = library.documents.text(id_, within)
    words = words_of(origin.queries)
    reading = read(text, passages, passage, words, place.cited)
    return DocumentView(
        document=shown,
        passages=passages,
        current=current,
        origin=origin,
        reading=reading,
        hits=hits,
        page=page_ if drawn else None,
        pages=max(pages, length) if isinstance(length, int) else pages,
        alike=alike,
        alike_note=note,
        player=_player(shown, passages, current, reading, words, place.cited),
    )


def _player(
    document: Document,
    passages: list[StoredChunk],
    current: StoredChunk | None,
    reading: ShownText,
    words: tuple[str, ...],
    cited: tuple[int, int] | None,
) -> Player | None:
    kind = document.media_type
    if not document.original or not kind.startswith(PLAYED):
        return None
    start, end = 0.0, None
    if current is not None:
        where = current.chunk.place
        start = second_said(current.chunk, words, document.language) or 0.0
        if cited is not None:
            start = where.second_at(cited[0]) or 0.0
            after = [second for at, second in where.spoken if at >= cited[1]]
            end = after[0] if after else where.seconds[1] if where.seconds else None
    seconds = {
        p.chunk.start + at: second
        for p in passages
        for at, second in p.chunk.place.spoken
        if reading.start <= p.chunk.start + at < reading.start + len(reading.text)
    }
    letters = list(accumulate((not c.isspace() for c in reading.text), initial=0))
    spoken = [(letters[at - reading.start], second) for at, second in sorted(seconds.items())]
    return Player(kind.partition("/")[0], start, end, json.dumps(spoken, separators=(",", ":")))


def _hits(server: Server, document: Document, within: Where, origin: SearchState) -> list[Card]:
    """The hits of a search in this document, in reading order."""
    if not origin.queries:
        return []
    try:
        results = server.library.search(
            " ".join(origin.queries),
            _MOST_HITS,
            options=SearchOptions(by=Granularity.PASSAGE),
            filters=Filters(source=f"#{document.id}"),
            within=within,
        )
    except EmptyQuery:
        return []
    # By words or spelling, or among the best by meaning: every passage has some meaning.
    best = max((r.match for r in results), default=0.0)
    hits = [c for c in cards(results, origin.queries, origin.origin) if _counts(c, best)]
    return sorted(hits, key=lambda card: card.result.found.chunk.index)


def _counts(card: Card, best: float) -> bool:
    return len(card.result.signals) > 1 or card.result.match >= best * 0.8


def _alike(
    server: Server, document: Document, passage: int | None, within: Where
) -> tuple[list[Card], str]:
    try:
        results = server.library.similar(document.id, _ALIKE, passage=passage, within=within)
    except NotEmbedded as error:
        return [], f"{error.message} {advice(error)}"
    return cards(results, ()), ""


@router.post("/documents/{id}/remove")
async def remove(server: Here, caller: Keeper, id: Id) -> Response:
    """Remove a document for good; the file it came from stays where it is."""
    await server.writing.run(server.library.remove, [id], within=caller.within())
    return RedirectResponse("/documents?removed=1", 303)
