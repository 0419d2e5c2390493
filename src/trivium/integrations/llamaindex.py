"""A LlamaIndex retriever over a library. Needs `trivium[llamaindex]`.

>>> retriever = TriviumRetriever(library, limit=5)              # doctest: +SKIP
>>> retriever.retrieve("who stole the crown")                   # doctest: +SKIP
"""

from __future__ import annotations

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from trivium.core.types import OWNER, Where
from trivium.integrations.found import details, name, text
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions


class TriviumRetriever(BaseRetriever):
    """The best passages for a query, as LlamaIndex's nodes with their scores, best first."""

    def __init__(
        self,
        library: Library,
        *,
        limit: int | None = None,
        options: SearchOptions = SearchOptions(),
        filters: Filters = Filters(),
        within: Where = OWNER,
    ) -> None:
        """`limit` is short for that of the options. `within`: what the caller may see,
        `Caller.within()`."""
        super().__init__()
        self._library = library
        self._limit = limit
        self._options = options
        self._filters = filters
        self._within = within

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        results = self._library.search(
            query_bundle.query_str,
            self._limit,
            options=self._options,
            filters=self._filters,
            within=self._within,
        )
        return [
            NodeWithScore(
                node=TextNode(
                    id_=name(result),
                    text=text(result),
                    metadata=details(result, weak=not results.fits(result)),
                ),
                score=result.score,
            )
            for result in results
        ]
