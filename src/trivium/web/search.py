"""The Search screen: runs the search that the address describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from trivium.core.counting import counted
from trivium.core.errors import DeadlinePassed, EmptyQuery, InputError, ServingError
from trivium.core.results import Results, SignalPart, Suggestion
from trivium.core.types import (
    AllOf,
    AnyOf,
    Collection,
    Compare,
    Condition,
    Granularity,
    Label,
    Signal,
    Where,
)
from trivium.http.asked import Here, Reader, Server, is_foreign
from trivium.http.problems import PART
from trivium.operations.declaring import Box
from trivium.operations.searching import Filters, SearchOptions
from trivium.search.prefer import boosts_written
from trivium.search.request import MODES
from trivium.text.filters import parse_filter
from trivium.web.explain import Picture, picture
from trivium.web.found import Group, cards, grouped, named
from trivium.web.pages import PageRoute, page
from trivium.web.samples import SAMPLES, SEARCHES
from trivium.web.state import BOXES, LABELS, SearchState

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_SUGGESTED = 5
_COUNTED = 100  # documents that filters are counted among: as many as a page can show


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter: its values, and how many documents have each."""

    name: Label
    title: str
    values: list[tuple[str, int, bool]]  # value, documents, chosen


@dataclass(frozen=True, slots=True)
class SearchView:
    """Everything the screen shows."""

    state: SearchState
    usual: Granularity  # what results are when the address does not say
    facets: list[Facet]
    results: Results | None = None
    groups: list[Group] = field(default_factory=list)
    more: str = ""  # the address of a longer list
    suggestions: tuple[Suggestion, ...] = ()
    picture: Picture | None = None
    collections: list[Collection] = field(default_factory=list)  # before anything is asked
    note: str = ""
    adding: bool = False  # nothing was found, and files are still being added
    is_empty: bool = False  # the library, as far as this caller sees

    @property
    def searches(self) -> tuple[str, ...]:
        """Example searches, if the library has only sample documents or none."""
        if not self.collections or any(
            collection.name == SAMPLES for collection in self.collections
        ):
            return SEARCHES
        return ()

    @property
    def by(self) -> Granularity:
        return self.state.by or self.usual

    @property
    def boxes(self) -> dict[str, Box]:
        """The options that are a checkbox."""
        return BOXES

    @property
    def labels(self) -> dict[str, Mapping[str, str]]:
        """What the values of other options are called."""
        return LABELS

    @property
    def labelled(self) -> bool:
        """Whether to show collection and category: not if all results share them."""
        return any(len(facet.values) > 1 for facet in self.facets if facet.name != "type")

    @property
    def typed(self) -> bool:
        """Whether to show a result's type."""
        return any(len(facet.values) > 1 for facet in self.facets if facet.name == "type")

    @property
    def title(self) -> str:
        return f"{' | '.join(self.state.queries)} · " if self.state.queries else ""

    @property
    def count(self) -> str:
        """The count above the results, which screen readers announce after each search."""
        if self.results is None:
            return self.note
        number, took = len(self.results), self.results.took_ms
        if not number:
            return "No results"
        documents = counted(len(self.groups), "document")
        if self.by is Granularity.DOCUMENT:
            return f"{documents} in {_time(took)}"
        return f"{counted(number, 'passage')} in {documents}, {_time(took)}"

    @property
    def parts(self) -> list[tuple[str, list[Group]]]:
        """Good results without a name; weaker ones under one that counts them."""
        if self.results is None:
            return []
        weak = [group for group in self.groups if self.results.is_folded(group.best.result)]
        good = [group for group in self.groups if group not in weak]
        if self.state.by_date:
            weak, good = (sorted(some, key=Group.day, reverse=True) for some in (weak, good))
        passages = sum(1 + len(group.more) for group in weak)
        name = counted(passages, "weaker match")
        return [("", good)] + ([(name, weak)] if weak else [])

    def named(self, signals: Mapping[Signal, SignalPart]) -> list[tuple[str, str, int]]:
        """Signals as the badges show them."""
        return named(signals)

    @property
    def corrected(self) -> list[tuple[str, str, bool]]:
        """A query with its spelling corrected, its address, and whether it was searched for too."""
        rows = []
        for at, analysis in enumerate(self.results.analyses if self.results else ()):
            if analysis.suggestion:
                applied = any(correction.applied for correction in analysis.corrections)
                text = analysis.suggestion
                rows.append((text, self.state.asking(text, at), applied))
        return rows

    @property
    def shares(self) -> list[tuple[str, str, str, int]]:
        """The three sliders: parameter, signal, name, position of 100."""
        fixed = self.state.weights
        decided: Mapping[Signal, float] = {}
        if self.results is not None and self.state.is_hybrid:
            decided = self.results.analysis.weights
        whole = sum(decided.values()) or 1.0
        usual = {Signal.VECTOR: 50, Signal.KEYWORD: 30, Signal.TRIGRAM: 20}
        at = {s: round(100 * w / whole) for s, w in decided.items()} if decided else usual
        return [(f"w{s.value[0]}", s.value, s.told, (fixed or at).get(s, 0)) for s in Signal]


@router.get("/")
async def search(request: Request, server: Here, caller: Reader) -> Response:
    """Search, by the address alone; without a query, show the collections."""
    state = SearchState.of(request.query_params)
    try:
        if state.queries:
            server.callers.count_search(caller)
        view = await server.read(_look, server, state, caller.within())
    except InputError as error:
        if PART in request.headers:  # a script keeps the page that it is on
            raise
        view = await server.read(_unsearched, server, state, caller.within())
        return page(request, "search.html", {"view": view, "state": state}, error=error)
    except ServingError as error:
        shown = DeadlinePassed(_PREPARING, fix=_LATER) if _is_late(error, state) else error
        if PART in request.headers:
            raise shown from error
        view = SearchView(state, Granularity(server.settings.search_by), [], note="Not searched.")
        return page(request, "search.html", {"view": view, "state": state}, error=shown)
    if view.results is not None and not is_foreign(request):
        server.searched(view.results, caller)
    return page(request, "search.html", {"view": view, "state": state})


_PREPARING = "Trivium is still preparing the documents of that day."
_LATER = "Try again in a moment."


def _is_late(error: ServingError, state: SearchState) -> bool:
    """Whether the first search of a day took too long: the server goes on preparing that day."""
    return isinstance(error, DeadlinePassed) and bool(state.as_of)


def _unsearched(server: Server, state: SearchState, within: Where) -> SearchView:
    """The form as filled in, after an invalid request."""
    plain = replace(state, where="")
    facets = [_facet(server, name, plain, within) for name in _FACETS]
    return SearchView(state, Granularity(server.settings.search_by), facets, note="Not searched.")


def _look(server: Server, state: SearchState, within: Where) -> SearchView:
    usual = Granularity(server.settings.search_by)
    if not state.queries:
        facets = [_facet(server, name, state, within) for name in _FACETS]
        return SearchView(
            state, usual, facets, collections=server.library.documents.collections(within)
        )
    try:
        results = _search(server, state, within)
    except EmptyQuery:
        facets = [_facet(server, name, state, within) for name in _FACETS]
        return SearchView(state, usual, facets, note="Type at least one word to search for.")
    adding = not results and bool(server.library.jobs.all(ended=False, limit=1))
    if not results and not adding and not server.library.documents.collections(within):
        return SearchView(state, usual, [], note="The library is empty.", is_empty=True)
    facets = _found_facets(server, state, within)
    limit = state.limit or server.settings.search_limit
    return SearchView(
        state,
        usual,
        facets,
        results,
        grouped(cards(results, state.queries, state.origin)),
        state.more(limit) if len(results) >= limit else "",
        server.library.suggest(state.queries[-1], _SUGGESTED, within),
        picture(results, state.explain) if state.explain is not None else None,
        adding=adding,
    )


def _time(milliseconds: float) -> str:
    """Number and unit stay on one line."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f}\N{NO-BREAK SPACE}ms"
    return f"{milliseconds / 1000:.1f}\N{NO-BREAK SPACE}s"


def _found_facets(server: Server, state: SearchState, within: Where) -> list[Facet]:
    """Counts among the documents that the query finds, without weak matches unless there are no
    others, so a count is what choosing the value would show. Uses the fused order: a reranker
    would read hundreds of passages for a number."""
    cheap = state.checked - {"rerank", "hyde", "expand"}
    plain = replace(state, limit=_COUNTED, by=Granularity.DOCUMENT, checked=cheap)
    every = _search(server, plain, within)
    facets = []
    for name in _FACETS:
        chosen = getattr(state, name)
        # What the label's own filter leaves out counts too: several values can be chosen.
        results = _search(server, plain.without(name), within) if chosen else every
        fitting = [r for r in results if results.fits(r)] or results
        ids = tuple(Compare("source", "eq", f"#{r.found.document.id}") for r in fitting)
        counts = server.library.documents.counts(name, within.narrowed(AnyOf(ids)))
        facets.append(_made(name, chosen, counts))
    return facets


def _search(server: Server, state: SearchState, within: Where) -> Results:
    s = state
    several = len(s.queries) > 1
    boxed = s.boxed
    if Signal.VECTOR not in MODES[s.mode]:
        boxed["hyde"] = False
    weights = {signal: float(w) for signal, w in s.weights.items()} if s.weights else None
    return server.library.search(
        s.queries if several else s.queries[0],
        options=SearchOptions(
            limit=s.limit,
            mode=s.mode,
            by=s.by,
            combine=s.combine if several else None,
            weights=weights if s.is_hybrid else None,
            boosts=boosts_written(filter(str.strip, s.boost.split(";"))) if s.boost else None,
            as_of=s.as_of or None,
            **boxed,
        ),
        filters=Filters(source=s.source or None, where=_condition(state)),
        within=within,
    )


def _condition(state: SearchState, without: str = "") -> Condition:
    """The chosen filters, optionally without one of them."""
    parts: list[Condition] = [
        AnyOf(tuple(Compare(name, "eq", value) for value in chosen))
        for name in _FACETS
        if name != without and (chosen := getattr(state, name))
    ]
    if state.where:
        parts.append(parse_filter(state.where))
    return AllOf(tuple(parts))


_FACETS: dict[Label, str] = {"collection": "Collection", "category": "Category", "type": "Type"}


def _facet(server: Server, name: Label, state: SearchState, within: Where) -> Facet:
    """Counts among the documents that pass all other filters: what choosing a value would leave."""
    counted = server.library.documents.counts(
        name, within.narrowed(_condition(state, without=name))
    )
    return _made(name, getattr(state, name), counted)


def _made(name: Label, chosen: tuple[str, ...], counted: Mapping[str, int]) -> Facet:
    values = {value: counted.get(value, 0) for value in (*chosen, *counted) if value}
    ordered = sorted(values.items(), key=lambda pair: (pair[0] not in chosen, -pair[1], pair[0]))
    return Facet(name, _FACETS[name], [(v, n, v in chosen) for v, n in ordered])
