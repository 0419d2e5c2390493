"""Routes for documents: list, show, compare versions, restore, remove."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request
from starlette.responses import PlainTextResponse, Response

from trivium.core.errors import RequestInvalid
from trivium.core.shapes import ChunkAnswer, DocumentAnswer, InterpretationAnswer
from trivium.core.types import Document, Where
from trivium.http.answers import (
    DiffAnswer,
    DocumentsAnswer,
    HistoryAnswer,
    PassageAnswer,
    PassagesAnswer,
    RemovedAnswer,
    SearchAnswer,
)
from trivium.http.asked import Here, Keeper, Reader
from trivium.http.caching import not_modified, tag
from trivium.http.problems import responses
from trivium.http.routes.search import answer
from trivium.http.routing import Routes
from trivium.library import Library
from trivium.operations.listing import Diff, ListDocuments, OfVersion, PageOfList, ShowPassage
from trivium.operations.managing import Restore
from trivium.operations.searching import Filters, Similar

router = Routes(prefix="/v1", tags=["documents"])

_LARGEST = 2**53  # ids that any JSON reader keeps exactly
Id = Annotated[int, Path(ge=1, le=_LARGEST, description="The document's id.")]


@router.get("/documents")
async def list_documents(server: Here, caller: Reader, options: ListDocuments) -> DocumentsAnswer:
    """List documents by id, a page at a time."""
    documents = await server.read(
        server.library.documents.all,
        caller.within(),
        where=options.where,
        after=after(options.cursor),
        limit=options.limit + 1,
    )
    listed = documents[: options.limit]
    more = str(listed[-1].id) if len(documents) > options.limit else None
    return DocumentsAnswer([DocumentAnswer.of(document) for document in listed], more)


def after(cursor: str) -> int:
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdecimal()) or int(cursor) > _LARGEST:
        raise RequestInvalid(
            "query.cursor: this isn't a valid cursor.",
            fix="Use `next_cursor` from an answer.",
            on_page="Start at the first page again.",
        )
    return int(cursor)


@router.get("/documents/{id}")
async def show_document(server: Here, caller: Reader, id: Id) -> DocumentAnswer:
    """Show a document without its text."""
    document = await server.read(server.library.documents.get, id, caller.within())
    return DocumentAnswer.of(document)


@router.get(
    "/documents/{id}/text",
    response_class=PlainTextResponse,
    responses={304: {"description": "Unchanged since `If-None-Match`."}},
)
async def read_text(
    server: Here, caller: Reader, request: Request, id: Id, options: OfVersion
) -> Response:
    """Get the text of a document, now or in an earlier interpretation (version)."""
    library, within = server.library, caller.within()
    document = await server.read(library.documents.get, id, within)
    etag = tag(document, "text", options.interpretation or document.interpretation)
    if not_modified(request, etag):
        return Response(status_code=304, headers=etag.headers)
    text = await server.read(library.documents.text, id, within, options.interpretation)
    return PlainTextResponse(text.encode("utf-8", "replace"), headers=etag.headers)


@router.get("/documents/{id}/passages")
async def list_passages(
    server: Here, caller: Reader, id: Id, options: PageOfList
) -> PassagesAnswer:
    """List the passages of a document in order, a page at a time."""
    first = after(options.cursor)
    passages = await server.read(server.library.documents.passages, id, caller.within())
    end = first + options.limit
    listed = [ChunkAnswer.of(passage) for passage in passages[first:end]]
    return PassagesAnswer(id, listed, str(end) if len(passages) > end else None)


@router.get("/documents/{id}/passages/{index}")
async def show_passage(
    server: Here,
    caller: Reader,
    id: Id,
    index: Annotated[int, Path(ge=0, le=2**31)],
    options: ShowPassage,
) -> PassageAnswer:
    """Get one passage, counted from 0, with its neighbours."""
    passage, neighbours = await server.read(
        server.library.documents.passage,
        id,
        index,
        before=options.around,
        after=options.around,
        within=caller.within(),
    )
    return PassageAnswer(
        DocumentAnswer.of(passage.document),
        ChunkAnswer.of(passage),
        before=[ChunkAnswer.of(other) for other in neighbours.before],
        after=[ChunkAnswer.of(other) for other in neighbours.after],
    )


@router.get("/documents/{id}/similar", responses=responses(409))
async def similar(server: Here, caller: Reader, id: Id, options: Similar) -> SearchAnswer:
    """Find similar documents; with the number of a passage, similar passages."""
    results = await server.read(
        server.library.similar,
        id,
        options.limit,
        passage=options.passage,
        by=options.by,
        filters=Filters(where=options.where),
        within=caller.within(),
    )
    return answer(results, explain=options.explain)


@router.get("/documents/{id}/interpretations")
async def history(server: Here, caller: Reader, id: Id) -> HistoryAnswer:
    """List all interpretations (versions) by number; the last one is active."""
    versions = await server.read(server.library.history.of, id, caller.within())
    return HistoryAnswer(id, [InterpretationAnswer.of(version) for version in versions])


@router.get("/documents/{id}/diff")
async def diff(server: Here, caller: Reader, id: Id, options: Diff) -> DiffAnswer:
    """Compare two interpretations; without numbers, the last two."""
    difference = await server.read(
        server.library.history.diff, id, options.old, options.new, caller.within()
    )
    old, new = difference.old.number, difference.new.number
    return DiffAnswer.of(difference, document=id, old=old, new=new)


@router.post("/documents/{id}/restore")
async def restore(server: Here, caller: Keeper, id: Id, body: Restore) -> DocumentAnswer:
    """Make an old interpretation's text the active one again, as a new interpretation."""
    restored = await server.writing.run(
        server.library.restore, id, body.number, within=caller.within()
    )
    return DocumentAnswer.of(restored)


@router.delete("/documents/{id}")
async def remove(server: Here, caller: Keeper, id: Id) -> RemovedAnswer:
    """Remove a document: text, passages, vectors, history. Your original file stays."""
    gone = await server.writing.run(_remove, server.library, id, caller.within())
    return RemovedAnswer(DocumentAnswer.of(gone))


def _remove(library: Library, id_: int, within: Where) -> Document:
    (gone,) = library.remove([id_], within=within)
    return gone
