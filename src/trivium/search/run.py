"""A search from top to bottom: parse, correct, analyse, [HyDE], ask each signal, weigh, fuse,
gather, [rerank], [expand].

Knows stores and models only through their ports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from trivium.core.errors import (
    EmptyQuery,
    IndexDamaged,
    LibraryBusy,
    ModelUnavailable,
    QueryTooLong,
)
from trivium.core.results import Analysis, Results, Suggestion
from trivium.core.types import (
    ChunkId,
    Combine,
    Document,
    Granularity,
    Hit,
    Part,
    Query,
    Signal,
    StoredChunk,
    Term,
    Where,
)
from trivium.operations.searching import LONGEST_QUERY
from trivium.ports import (
    Backend,
    Embedder,
    Generator,
    Lexicon,
    Reranker,
)
from trivium.search.correct import Corrected, correct
from trivium.search.decide import Heard, decide, join
from trivium.search.fuse import Fused, by_document
from trivium.search.gather import Matcher, by_rule, gather
from trivium.search.hyde import hypothesise
from trivium.search.in_order import LOOKED_AT, in_order, with_bonus
from trivium.search.known import is_known_by
from trivium.search.language import weak_language
from trivium.search.match import Candidate
from trivium.search.matching import Matching
from trivium.search.progress import SearchProgress
from trivium.search.request import LEAST_CANDIDATES, SearchRequest
from trivium.search.reranking import Reranking
from trivium.search.separation import Passages
from trivium.search.shown import intact, result, results, with_enough_match
from trivium.search.signals import ReadyQuery, Signals
from trivium.search.similar import similar
from trivium.search.suggest import suggest
from trivium.search.turns import Turns, turns_for
from trivium.text.query import parse

# If documents change during a search, it starts again. Four attempts were too few beside a watcher
# with many changes while both cores were busy. Each attempt takes about 10 ms, and is needed only
# after another change.
_ATTEMPTS = 20
_FEW = 3  # of the best by words, looked at for what is known of their documents
_DEEPER = 4  # ask each signal for this many times more if the results don't fill the page
_KEPT_CHANGING = "Documents kept changing during the search."
_NOT_EVERY_QUERY = "No result matches every query."
_NONE_HOLDS = "No passage has everything you require ({wanted}), so these words are optional."
_NO_GENERATOR = (
    "Searched without a generated answer (HyDE): no language model is set up (`generate.url`)."
)
_DEEPEST = 1000  # hits of a signal; any further ones have nothing to do with the query


@dataclass(frozen=True, slots=True)
class _QueryAnswer:
    """What the signals answered to one query."""

    analysis: Analysis
    fused: list[Fused]
    complete: bool  # no signal has more hits
    usual: float | None = None  # similarity of the usual passage, if meaning was searched


class Searcher:
    """Searches one store. Threads may share it."""

    def __init__(
        self,
        backend: Backend,
        embedder: Embedder,
        generator: Generator | None = None,
        reranker: Reranker | None = None,
        separation: Callable[[Where], float | None] = lambda where: None,
        passages: Callable[[Where], Passages] = lambda where: Passages(),
        deep: Reranker | None = None,
    ) -> None:
        """`separation`: how well the model tells the passages that a caller may see apart, if
        known; `passages`: how long and how alike they are; `deep`: a cross-encoder for English
        prose."""
        self._backend = backend
        self._embedder = embedder
        self._generator = generator
        self._separation = separation
        self._passages = passages
        # A database computes elsewhere: a search that waits for it doesn't use our cores.
        at_once = sys.maxsize if backend.is_elsewhere else turns_for(os.cpu_count() or 2)
        self._turns = Turns(at_once)
        self._reranking = Reranking(reranker, deep, self._turns)
        self._signals = Signals(backend, embedder, self._turns)

    @property
    def can_deepen(self) -> bool:
        """Whether there is a cross-encoder for deep reranking."""
        return self._reranking.can_deepen

    @property
    def model(self) -> str:
        """Fingerprint of the embedder."""
        return self._embedder.fingerprint

    def search(self, request: SearchRequest) -> Results:
        """Raises ModelChanged if the store's vectors come from another model than the embedder, and
        DatabaseAway."""
        request.check()
        with self._turns.taken():
            return self._searched(request)

    def _searched(self, request: SearchRequest) -> Results:
        if request.evidence is not None:
            separation = self._separation(request.where)
            request = replace(request, evidence=request.evidence.in_library(separation))
        progress = SearchProgress()
        self._backend.signals.refresh()
        progress.clock.lap("refresh")
        prepared = [self._prepare(request, _parsed(text), progress) for text in request.queries]
        answers, candidates = self._find(request, prepared, progress)
        if request.rerank is not None:
            query = " ".join(ready.words.meaning for ready, _ in prepared)
            pool = candidates[: request.pool]
            candidates = self._reranking.reranked(request, request.rerank, pool, query, progress)
        candidates = intact(self._backend, candidates, request.limit, progress)
        candidates = with_enough_match(request, candidates, progress)
        stored = [candidate.found for candidate in candidates]
        if note := weak_language(stored, request.languages, answers[0].analysis.weights):
            progress.tell(note)
        words = tuple(word for ready, _ in prepared for word in ready.query.words)
        items = results(self._backend, request, candidates, words, progress)
        return Results(
            queries=request.queries,
            analyses=tuple(answer.analysis for answer in answers),
            items=items,
            timings_ms=progress.clock.laps,
            took_ms=progress.clock.total(),
            combine=request.combine if len(request.queries) > 1 else None,
            floor=request.floor,
            notes=tuple(progress.notes),
        )

    def similar(
        self, like: Document | StoredChunk, where: Where, limit: int, by: Granularity
    ) -> Results:
        """Documents or passages like this one, by meaning alone."""
        candidates, progress = similar(self._backend, like, where, limit, by)
        title = like.title if isinstance(like, Document) else like.document.title
        return Results(
            queries=(f"like {title}",),
            analyses=(Analysis({Signal.VECTOR: 1.0}),),
            items=tuple(result(rank, c, None) for rank, c in enumerate(candidates, start=1)),
            timings_ms=progress.clock.laps,
            took_ms=progress.clock.total(),
        )

    def suggest(self, typed: str, limit: int, where: Where) -> tuple[Suggestion, ...]:
        """Completions of what someone types, or likely spellings of its last word."""
        return suggest(self._backend, typed, limit, where, self._lexicon)

    def hear(self, request: SearchRequest) -> Heard:
        """What every signal answers to one query, down to the request's depth, whatever its weight
        and the threshold."""
        request.check()
        progress = SearchProgress()
        self._backend.signals.refresh()
        query = _parsed(request.queries[0])
        corrected = self._corrected(request, query)
        ready = self._ready(request, query, corrected, progress)
        with self._turns.taken():
            lists = self._signals.ask(ready, Signal, request.where, request.depth, -1.0, progress)
        ids = list(dict.fromkeys(hit.chunk_id for hits in lists.values() for hit in hits))
        chunks = self._backend.documents.chunks(ids, request.where)
        documents = {chunk.id: chunk.document.uri for chunk in chunks}
        for signal, hits in lists.items():  # leave out what has been removed since
            lists[signal] = [hit for hit in hits if hit.chunk_id in documents]
        separation, notes = self._separation(request.where), tuple(progress.notes)
        order = in_order(corrected.query, chunks)
        return Heard(
            query, corrected, lists, documents, order, notes, separation, self._reranking.span
        )

    def judge(self, query: str, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, float]:
        """The reranker's scores of these passages, however long it takes. Raises ModelError."""
        passages = self._backend.documents.chunks(ids, where)
        scores = self._reranking.scores(query, passages, where)
        return {passage.id: score for passage, score in zip(passages, scores, strict=True)}

    def _prepare(
        self, request: SearchRequest, query: Query, progress: SearchProgress
    ) -> tuple[ReadyQuery, Analysis]:
        """Prepares a query before any signal is asked."""
        corrected = self._corrected(request, query)
        analysis = decide(request, query, corrected)
        ready = self._ready(request, query, corrected, progress)
        progress.clock.lap("analyse")
        if request.hyde:
            ready, analysis = self._with_hypothesis(ready, analysis)
            progress.clock.lap("hyde")
        return ready, analysis

    def _ready(
        self, request: SearchRequest, query: Query, corrected: Corrected, progress: SearchProgress
    ) -> ReadyQuery:
        """The query for the signals. If no passage has all required words, they become optional,
        and a note says so."""
        words = corrected.query
        ready = ReadyQuery(
            query, words, words.meaning, corrected.missing, request.every_word, request.strict
        )
        if not words.required:
            return ready
        try:
            if self._signals.any_holds(words, request.where):
                return ready
            progress.tell(_NONE_HOLDS.format(wanted=_listed(words.required)))
        except IndexDamaged as reason:
            progress.tell(f"Couldn't check the required words. {reason}")
        return ready.without_required()

    def _corrected(self, request: SearchRequest, query: Query) -> Corrected:
        """The query with corrected words, if the request wants that, and its unknown words."""
        if not request.correct and not request.analysis:
            return Corrected(query)
        # Everything the caller may see: a filter doesn't make a word unknown.
        access = request.where.access
        spellings = partial(self._backend.signals.spellings, where=access)
        languages = partial(self._backend.documents.counts, "language", access)
        corrected = correct(query, spellings, self._lexicon, languages)
        if not request.correct:
            return corrected.as_typed(query)
        if not {Signal.VECTOR, Signal.KEYWORD} & request.signal_weights().keys():
            return corrected.only_suggested(query)
        return corrected

    def _lexicon(self) -> Callable[[str], bool] | None:
        """A function that tells whether the model was taught a word; None if it can't say."""
        if isinstance(self._embedder, Lexicon):
            with suppress(ModelUnavailable):
                self._embedder.knows("a")
                return self._embedder.knows
        return None

    def _with_hypothesis(
        self, ready: ReadyQuery, analysis: Analysis
    ) -> tuple[ReadyQuery, Analysis]:
        if self._generator is None:
            return ready, replace(analysis, notes=(*analysis.notes, _NO_GENERATOR))
        with self._turns.given_up():
            written = hypothesise(self._generator, ready.meaning)
        if not written.text:
            return ready, replace(analysis, notes=(*analysis.notes, written.note))
        meaning = f"{ready.meaning}\n{written.text}"
        return replace(ready, meaning=meaning), replace(analysis, hypothesis=written.text)

    def _find(
        self,
        request: SearchRequest,
        prepared: Sequence[tuple[ReadyQuery, Analysis]],
        progress: SearchProgress,
    ) -> tuple[list[_QueryAnswer], list[Candidate]]:
        """Candidates, best first. Searches deeper if they don't fill a page, and again if documents
        changed."""
        depth, attempts = request.depth, _ATTEMPTS
        most = request.pool if _one_for_one(request) else None
        while True:
            answers = [
                self._answer(request, *prepared_query, depth, most, progress)
                for prepared_query in prepared
            ]
            gathered = gather(
                request,
                [ready.query for ready, _ in prepared],
                [answer.fused for answer in answers],
                partial(self._fetched, request.where, progress),
                self._matcher(request, prepared, progress, [answer.usual for answer in answers]),
            )
            progress.clock.lap("fetch")
            if gathered is None:
                attempts -= 1
                if not attempts:
                    raise LibraryBusy(_KEPT_CHANGING, fix="Try again.")
                self._backend.signals.refresh()
                progress.passages.clear()
                progress.clock.lap("refresh")
                continue
            exhausted = all(answer.complete for answer in answers) or depth >= _DEEPEST
            if most is not None or exhausted or len(gathered) >= _enough(request):
                if not gathered and len(prepared) > 1 and request.combine is not Combine.MAXIMUM:
                    progress.tell(_NOT_EVERY_QUERY)
                return answers, gathered
            depth = min(_DEEPEST, depth * _DEEPER)

    def _answer(
        self,
        request: SearchRequest,
        ready: ReadyQuery,
        analysis: Analysis,
        depth: int,
        most: int | None,
        progress: SearchProgress,
    ) -> _QueryAnswer:
        lists = self._signals.ask(
            ready, analysis.weights, request.where, depth, request.threshold, progress
        )
        complete = all(len(hits) < depth for hits in lists.values())
        near = [hit.score for hit in lists.get(Signal.VECTOR, ())[:LEAST_CANDIDATES]]
        if request.of_documents:
            ids = list({hit.chunk_id for hits in lists.values() for hit in hits})
            stored = {
                chunk.id: chunk.document.id
                for chunk in self._backend.documents.chunks(ids, request.where)
            }
            lists = by_document(lists, stored)
        enough = None if most is None else max(most, LOOKED_AT)
        before, (analysis, fused) = analysis, join(request, analysis, lists, enough)
        if self._is_known(request, ready, lists, [] if most is None else fused, progress):
            analysis, fused = join(request, before, lists, enough, known_item=True)
        if request.counts_order:
            ids = [result.chunk_id for result in fused[:LOOKED_AT]]
            passages = self._fetched(request.where, progress, ids)
            fused = with_bonus(fused, in_order(ready.words, passages))
        progress.clock.lap("fuse")
        return _QueryAnswer(analysis, fused[:most], complete, median(near) if near else None)

    def _fetched(
        self, where: Where, progress: SearchProgress, ids: Sequence[ChunkId]
    ) -> list[StoredChunk]:
        """Each passage once a search: the best by words are looked at before they are results."""
        there = progress.passages
        missing = [i for i in ids if i not in there]
        if missing:
            there |= {chunk.id: chunk for chunk in self._backend.documents.chunks(missing, where)}
        return [there[i] for i in ids if i in there]

    def _is_known(
        self,
        request: SearchRequest,
        ready: ReadyQuery,
        lists: Mapping[Signal, Sequence[Hit]],
        results: Sequence[Fused],
        progress: SearchProgress,
    ) -> bool:
        """Whether one of the best by words is known by every word of the query: an author and a
        year, an address. Fetched with the results that there are if none is, as nearly always."""
        if not request.analysis or Signal.VECTOR not in lists:
            return False
        ids = [hit.chunk_id for hit in lists.get(Signal.KEYWORD, ())[:_FEW]]
        wanted = dict.fromkeys([*ids, *(result.chunk_id for result in results)])
        fetched = self._fetched(request.where, progress, list(wanted))
        best = [passage for passage in fetched if passage.id in ids]
        return is_known_by(ready.words, best, request.fields)

    def _matcher(
        self,
        request: SearchRequest,
        prepared: Sequence[tuple[ReadyQuery, Analysis]],
        progress: SearchProgress,
        usual: Sequence[float | None],
    ) -> Matcher:
        if request.match is None:
            return by_rule([ready.query for ready, _ in prepared])
        queries = [ready for ready, _ in prepared]
        passages = self._passages(request.where)
        return Matching(
            self._backend,
            self._embedder,
            request,
            request.match,
            queries,
            progress,
            passages,
            usual,
        )


def _parsed(text: str) -> Query:
    if len(text) > LONGEST_QUERY:
        raise QueryTooLong(
            f"The query has {len(text):,} characters; the limit is {LONGEST_QUERY:,}."
        )
    query = parse(text)
    if not query.clauses:
        raise EmptyQuery("The query has no words to search for.")
    return query


def _listed(clauses: Sequence[Sequence[Part]]) -> str:
    """Words and phrases as a person would write them: `crown, "old harbour" or port`."""
    texts = (
        [p.text if isinstance(p, Term) else f'"{" ".join(p.words)}"' for p in parts]
        for parts in clauses
    )
    return ", ".join(" or ".join(alternatives) for alternatives in texts)


def _one_for_one(request: SearchRequest) -> bool:
    """Whether the results are simply the top of the fused list, one for each entry."""
    alone = len(request.queries) == 1 and request.by is Granularity.PASSAGE
    return alone and request.prefer is None


def _enough(request: SearchRequest) -> int:
    """With this many results, don't search deeper. If several queries must all match, one result is
    enough: deeper lists add few, but "nothing" must be certain."""
    shared = len(request.queries) > 1 and request.combine is not Combine.MAXIMUM
    return 1 if shared else request.pool
