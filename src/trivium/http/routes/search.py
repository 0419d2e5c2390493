"""Routes for searching, suggestions and collections."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter

from trivium.core.answers import Quotation
from trivium.core.results import Results
from trivium.http.answers import Answered, CollectionsAnswer, SearchAnswer, SuggestAnswer
from trivium.http.asked import Here, Reader, Searcher
from trivium.http.declared import in_query
from trivium.http.problems import responses
from trivium.operations.listing import Suggest
from trivium.operations.quoting import Quote
from trivium.operations.searching import Search

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search", response_model=SearchAnswer, responses=responses(408, 413))
async def search(server: Here, caller: Searcher, body: Search) -> Answered:
    """Search by meaning, words and spelling at once."""
    call = partial(
        server.library.search,
        body.query,
        options=body,
        filters=body,
        within=caller.within(),
    )
    found = await server.read(call)
    server.searched(found, caller)
    return Answered(answer(found, explain=body.explain))


def answer(results: Results, *, explain: bool) -> SearchAnswer:
    suggestion = next((a.suggestion for a in results.analyses if a.suggestion), "")
    return SearchAnswer.of(results, explain=explain, suggestion=suggestion)


@router.post("/quote", response_model=Quotation, responses=responses(408, 413))
async def quote(server: Here, caller: Searcher, body: Quote) -> Answered:
    """Find the document, page and paragraph that a pasted text comes from, and what was changed in
    it. No places: it is not in the documents."""
    call = partial(
        server.library.quote, body.text, body.limit, filters=body, within=caller.within()
    )
    return Answered(await server.read(call))


@router.get("/suggest", response_model=SuggestAnswer, responses=responses())
async def suggest(
    server: Here, caller: Reader, asked: Annotated[Suggest, in_query(Suggest)]
) -> Answered:
    """Suggest completions, in words of documents that the caller may see."""
    call = partial(server.library.suggest, asked.q, asked.limit, caller.within())
    return Answered(SuggestAnswer(await server.read(call)))


@router.get("/collections", response_model=CollectionsAnswer, responses=responses())
async def list_collections(server: Here, caller: Reader) -> Answered:
    """List collections, with what this caller may see of them."""
    found = await server.read(server.library.documents.collections, caller.within())
    quotas = server.library.quotas.of_collections
    return Answered(CollectionsAnswer(found, await server.read(quotas) if caller.is_owner else {}))
