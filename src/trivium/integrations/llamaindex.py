"""A LlamaIndex retriever over a library. Needs `trivium[llamaindex]`.

>>> retriever = TriviumRetriever(library, limit=5)              # doctest: +SKIP
>>> retriever.retrieve("who stole the crown")                   # doctest: +SKIP
"""

from __future__ import annotations

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from trivium.integrations.found import details, name, text
from trivium.library import Library
from trivium.types import OWNER, Where


class TriviumRetriever(BaseRetriever):
    """The best passages for a query, as LlamaIndex's nodes with their scores, best first."""

    def __init__(
        self,
        library: Library,
        *,
        limit: int | None = None,
        where: str = "",
        within: Where = OWNER,
        rerank: bool | None = None,
        hyde: bool | None = None,
        expand: bool | None = None,
    ) -> None:
        """`where`: a filter, `year>=2020 type:pdf`. `within`: what may be seen, `Caller.within()`.
        What is None is as the settings say."""
        super().__init__()
        self._library = library
        self._limit = limit
        self._where = where
        self._within = within
        self._rerank = rerank
        self._hyde = hyde
        self._expand = expand

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._library.search(
            query_bundle.query_str,
            self._limit,
            where=self._where,
            within=self._within,
            rerank=self._rerank,
            hyde=self._hyde,
            expand=self._expand,
        )
        return [
            NodeWithScore(
                node=TextNode(id_=name(result), text=text(result), metadata=details(result)),
                score=result.score,
            )
            for result in found
        ]
