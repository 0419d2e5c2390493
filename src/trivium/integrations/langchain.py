"""A LangChain retriever over a library. Needs `trivium[langchain]`.

>>> retriever = TriviumRetriever(library=library, limit=5)      # doctest: +SKIP
>>> retriever.invoke("who stole the crown")                     # doctest: +SKIP
"""

from __future__ import annotations

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from trivium.core.types import OWNER, Where
from trivium.integrations.found import details, name, text
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions


class TriviumRetriever(BaseRetriever):
    """The best passages for a query, as LangChain's documents, best first."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    library: Library
    limit: int | None = None  # as the settings say
    options: SearchOptions = SearchOptions()  # SearchOptions(rerank=True)
    filters: Filters = Filters()  # Filters(where="year>=2020 type:pdf")
    within: Where = OWNER  # what may be seen: `Caller.within()`

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        results = self.library.search(
            query, self.limit, options=self.options, filters=self.filters, within=self.within
        )
        return [
            Document(
                page_content=text(result),
                metadata=details(result, weak=not results.fits(result)),
                id=name(result),
            )
            for result in results
        ]
