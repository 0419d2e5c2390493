"""Ranks the queries of a judged set under other settings, from answers that were heard once.

The signals are asked once for each query; weighing, fusing and blending are then the product's own
code on kept lists, some .3 ms a query. So whatever only decides about answers can be tried a
thousand times: method, weights, k, threshold, strength of analysis, shares of the reranker. What
changes the answers themselves (models, chunks, correction, HyDE) cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from trivium.config import Settings
from trivium.core.errors import EmptyQuery, QueryTooLong
from trivium.core.types import OWNER, ChunkId, Granularity
from trivium.evaluate.metrics import MEASURES, Judged
from trivium.evaluate.subject import Progress, Subject
from trivium.library.asking import request_for
from trivium.operations.searching import SearchOptions
from trivium.search.decide import Heard, decide_anew
from trivium.search.fuse import Fused, Fusion
from trivium.search.request import SearchRequest
from trivium.search.rerank import blend

PAGE = 10  # documents of the page that is judged
# Hits of each signal that are kept. A page of ten asks for 50; where those are of fewer than ten
# documents a search asks for four times as many.
DEPTH = 200


Judge: TypeAlias = Callable[[str, Sequence[ChunkId]], Mapping[ChunkId, float]]  # by a reranker


class Replay:
    """The queries of one set, with the signals' answers."""

    def __init__(
        self,
        heard: Sequence[Heard | None],
        judgments: Sequence[Judged],
        *,
        model: str = "",
        judge: Judge = lambda query, chunks: {},
    ) -> None:
        """The signals' answers for each query, None if it failed, and its judgments. `model`:
        fingerprint of the embedder."""
        self._heard = heard
        self._judgments = judgments
        self._model = model
        self._judge = judge
        # What the reranker said of passages, by query; asked when first needed.
        self._scores: list[dict[ChunkId, float]] = [{} for _ in heard]

    @classmethod
    def listen(cls, subject: Subject, on_progress: Progress) -> Replay:
        """Ask every query of a set once."""
        library, queries = subject.library, subject.dataset.queries
        heard: list[Heard | None] = []
        for done, text in enumerate(queries.values()):
            on_progress("search", done, len(queries))
            try:
                heard.append(library.hear(text, DEPTH))
            except (EmptyQuery, QueryTooLong):
                heard.append(None)  # answers nothing under any settings
        judgments = [subject.dataset.judgments[query] for query in queries]
        return cls(heard, judgments, model=library.models.manifest().model, judge=library.judge)

    def __len__(self) -> int:
        return len(self._heard)

    @property
    def notes(self) -> tuple[str, ...]:
        notes = (note for heard in self._heard if heard for note in heard.notes)
        return tuple(dict.fromkeys(notes))

    def values(self, settings: Settings, measure: str, *, rerank: bool = False) -> list[float]:
        """The value of a page with these settings, for each query."""
        of = MEASURES[measure]
        pages = self.pages(settings, rerank=rerank)
        return [of(page, judged) for page, judged in zip(pages, self._judgments, strict=True)]

    def pages(self, settings: Settings, *, rerank: bool = False) -> list[list[str]]:
        """The uris of the best documents for each query, best first."""
        options = SearchOptions(limit=PAGE, by=Granularity.DOCUMENT, rerank=rerank, hyde=False)
        request = request_for(settings, self._model, ("-",), OWNER, options)
        request.check()
        return [
            [] if heard is None else self._page(request, at, heard)
            for at, heard in enumerate(self._heard)
        ]

    def _page(self, request: SearchRequest, at: int, heard: Heard) -> list[str]:
        documents = self._documents(request, heard)
        if request.rerank is None:
            return list(documents)[:PAGE]
        uris = list(documents)
        scores = self._judged(at, heard, [result.chunk_id for result in documents.values()])
        fused = [result.score for result in documents.values()]
        by_ranks = request.fusion is Fusion.RANKS
        shares = request.rerank.shares
        order = blend(fused, scores, shares, by_ranks=by_ranks, span=heard.span)
        return [uris[reranked.at] for reranked in order[:PAGE]]

    @staticmethod
    def _documents(request: SearchRequest, heard: Heard) -> dict[str, Fused]:
        """As many as a search would show or have judged, each with its best passage."""
        documents: dict[str, Fused] = {}
        depth, most = request.depth, 2 * request.pool
        while True:
            for fused in decide_anew(request, heard, depth, most):
                documents.setdefault(heard.documents[fused.chunk_id], fused)
                if len(documents) == request.pool:
                    return documents
            if most < 3 * DEPTH:  # many passages of few documents: look at all that were found
                most = 3 * DEPTH
            elif depth < DEPTH:
                depth = DEPTH
            else:
                return documents
            documents.clear()

    def _judged(self, at: int, heard: Heard, ids: Sequence[ChunkId]) -> list[float]:
        scores = self._scores[at]
        missing = [chunk for chunk in ids if chunk not in scores]
        if missing:
            scores |= self._judge(heard.corrected.query.meaning, missing)
        return [scores[chunk] for chunk in ids]
