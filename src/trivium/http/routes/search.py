"""Routes for searching, suggestions and collections."""

from __future__ import annotations

from trivium.core.answers import Quotation
from trivium.core.results import Results
from trivium.http.answers import CollectionsAnswer, SearchAnswer, SuggestAnswer
from trivium.http.asked import Here, Reader, Searcher
from trivium.http.routing import Routes
from trivium.operations.listing import Suggest
from trivium.operations.quoting import Quote
from trivium.operations.searching import Search

router = Routes(prefix="/v1", tags=["search"])


@router.post("/search")
async def search(server: Here, caller: Searcher, body: Search) -> SearchAnswer:
    """Search by meaning, words and spelling at once."""
    results = await server.read(
        server.library.search, body.query, options=body, filters=body, within=caller.within()
    )
    server.searched(results, caller)
    return answer(results, explain=body.explain)


def answer(results: Results, *, explain: bool) -> SearchAnswer:
    suggestion = next((a.suggestion for a in results.analyses if a.suggestion), "")
    return SearchAnswer.of(results, explain=explain, suggestion=suggestion)


@router.post("/quote")
async def quote(server: Here, caller: Searcher, body: Quote) -> Quotation:
    """Find the document, page and paragraph that a pasted text comes from, and what was changed in
    it. No places: it is not in the documents; `similar` has nearly the same words with other
    figures or dates."""
    return await server.read(
        server.library.quote, body.text, body.limit, filters=body, within=caller.within()
    )


@router.get("/suggest")
async def suggest(server: Here, caller: Reader, options: Suggest) -> SuggestAnswer:
    """Suggest completions, in words of documents that the caller may see."""
    within = caller.within()
    suggestions = await server.read(server.library.suggest, options.q, options.limit, within)
    return SuggestAnswer(suggestions)


@router.get("/collections")
async def list_collections(server: Here, caller: Reader) -> CollectionsAnswer:
    """List collections, with what this caller may see of them."""
    collections = await server.read(server.library.documents.collections, caller.within())
    quotas = server.library.quotas.of_collections
    return CollectionsAnswer(collections, await server.read(quotas) if caller.is_owner else {})
