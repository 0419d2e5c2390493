"""What callers get, as dataclasses: the terminal's `--json`, the HTTP API's answers and the schemas
of OpenAPI and MCP come from the same classes.

If callers may see every field of a noun, it is its own shape (`answers.Answer`, `types.Collection`
and every other `Told`). For the rest, a class here lists the fields that callers get. A field whose
default is None is left out of the JSON while it is None. Knows nothing of pydantic.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import Any, Self, cast, dataclass_transform

from trivium.core.access import AccessToken, Quota
from trivium.core.results import (
    Boost,
    Correction,
    OrderPart,
    PreferencePart,
    QueryPart,
    RerankPart,
    Result,
    Results,
    SignalPart,
)
from trivium.core.types import Combine, Document, MetaScalar, Signal, StoredChunk, Told, says
from trivium.core.work import KeptSource

# Of a shape with fields that are left out at times.
_MAY_LACK: Mapping[str, object] = {"extra": "forbid"}


def to_json(payload: object, **layout: Any) -> str:
    """Plain values and shapes as JSON text; `layout` as for `json.dumps`."""
    # None of our values contains itself, so nothing looks for that: a tenth less time.
    return json.dumps(payload, default=as_json, check_circular=False, **layout)


def as_json(value: Any) -> dict[str, Any]:
    """The fields of a shape. Raises TypeError for anything else."""
    return _reader(value.__class__)(value)


@cache
def _reader(shape: Any) -> Callable[[Any], dict[str, Any]]:
    if not issubclass(shape, Told):
        raise TypeError(f"{shape.__name__} is not for callers.")
    # Compiled code would make the JSON of ten results in 225 µs, this takes 285: a hundredth of a
    # search.
    names = _names(shape)
    values = attrgetter(*names) if len(names) > 1 else lambda of: [getattr(of, n) for n in names]
    optional = frozenset(f.name for f in fields(shape) if f.default is None)
    if not optional:
        return lambda of: dict(zip(names, values(of)))  # noqa: B905
    return lambda of: {
        name: value
        for name, value in zip(names, values(of))  # noqa: B905
        if value is not None or name not in optional
    }


@cache
def _names(shape: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(shape))


def said(description: str) -> Any:
    """A field with its description."""
    return field(metadata=says(description))


@dataclass_transform(frozen_default=True, field_specifiers=(said,))
class Shape(Told):
    """Makes a dataclass of each subclass."""

    def __init_subclass__(cls, *, frozen: bool = True, kw_only: bool = False) -> None:
        dataclass(frozen=frozen, kw_only=kw_only)(cls)


class Part(Shape):
    """Copies some fields of a thing, by name."""

    @classmethod
    def of(cls, thing: Any, /, **more: Any) -> Self:
        """`more`: what the thing doesn't have so."""
        names = [name for name in _names(cast(Any, cls)) if name not in more]
        return cls(**{name: getattr(thing, name) for name in names}, **more)


class DocumentAnswer(Part):
    id: int
    uri: str
    title: str
    collection: str
    category: str
    audience: str = said("Who can see it: `all`, or a label.")
    media_type: str
    language: str
    content_hash: str
    size: int = said("Size of the file in bytes.")
    interpretation: int = said("Number of the active interpretation (version).")
    fingerprint: str = said("Version of the pipeline that read it.")
    chunks: int
    added_at: str
    updated_at: str
    metadata: Mapping[str, MetaScalar | tuple[MetaScalar, ...]]
    names: tuple[str, ...] = said("Other uris with the same bytes.")


class InterpretationAnswer(Part):
    number: int
    active: bool
    title: str
    media_type: str
    language: str
    content_hash: str
    size: int
    fingerprint: str
    elements: int
    chunks: int
    tokens: int
    created_at: str
    retired_at: str
    restored_from: int | None
    timings: Mapping[str, float]
    metadata: Mapping[str, MetaScalar | tuple[MetaScalar, ...]]
    audience: str | None = said(
        "Its label when it was last active; null: unknown, so only for tokens with all labels."
    )


class JobAnswer(Part):
    id: int
    kind: str
    what: str
    state: str = said("queued, running, done, failed or cancelled.")
    priority: int
    created_at: str
    started_at: str
    ended_at: str
    tasks: int
    size: int
    ended: int = said("Tasks that are done, failed or cancelled.")
    ended_size: int
    failed: int
    tokens: int = said("Tokens of the documents read so far.")
    tokens_done: int = said("Tokens of the passages that are embedded.")
    rate: float
    seconds_left: float | None
    notes: tuple[str, ...]
    lasting: bool = said("Another process can resume it.")


class TaskAnswer(Part):
    id: int
    job: int
    uri: str
    name: str
    size: int
    state: str
    parent: int
    step: str
    fate: str
    attempts: int
    code: str
    message: str
    document: int | None
    passages: int | None = said("Null: it isn't read yet.")
    embedded: int = said("Of its passages.")
    heard: str = said(
        "Of a recording that is being transcribed: seconds done, in all, and left; else empty."
    )
    seconds: Mapping[str, float]


class TokenAnswer(Part):
    id: str
    name: str
    audiences: Sequence[str] | None = said("Labels besides `all`; null: all labels.")
    collections: Sequence[str] | None
    rights: Sequence[str]
    created_at: str
    expires_at: str = said("Empty: never.")
    session: bool = said("Whether someone got it by signing in.")
    quota: Mapping[str, int] = said("Limits of documents, bytes and searches a minute; 0: none.")
    used: Mapping[str, int] = said("What counts towards them; searches: of this process.")

    @classmethod
    def of(
        cls, token: AccessToken, /, quota: Quota | None = None, used: Any = None, **more: Any
    ) -> Self:
        """`quota`: in force, if not the token's own."""
        limits = quota or token.quota
        counted = {"documents": 0, "bytes": 0, "searches": 0} | (used or {})
        return super().of(
            token,
            audiences=None if token.audiences is None else sorted(token.audiences),
            collections=None if token.collections is None else sorted(token.collections),
            rights=sorted(token.rights),
            session=bool(token.person),
            quota={name: getattr(limits, name) for name in counted},
            used=counted,
            **more,
        )


# --- results. The parts aren't frozen: ten frozen results take 112 µs to make, these take 48.


class PlaceAnswer(Shape, frozen=False):
    """Where a passage is, beyond pages: in a table, a conversation or a recording."""

    sheet: str
    rows: Sequence[int] | None = said("First and last row, from 1; null: not a table.")
    authors: Sequence[str] = said("Author of a message.")
    time: str = said("Time of a message, or of the first of several; ISO 8601.")
    link: str = said("Link to open it.")
    seconds: Sequence[float] | None = said(
        "Of a recording: where the passage begins and ends, in seconds; null: not a recording."
    )

    @classmethod
    def of(cls, passage: StoredChunk) -> Self | None:
        """None if the place has no details."""
        place, link = passage.chunk.place, passage.link
        if not (place.sheet or place.rows or place.authors or place.time or link or place.seconds):
            return None
        return cls(place.sheet, place.rows, place.authors, place.time, link, place.seconds)


class ChunkAnswer(Shape, frozen=False):
    __pydantic_config__ = _MAY_LACK

    id: int
    index: int = said("Position in its document, from 0.")
    text: str
    heading: str
    section: str
    section_label: str
    pages: Sequence[int]
    paragraph: int | None
    start: int
    end: int
    place: PlaceAnswer | None = None
    header: str | None = field(
        default=None, metadata=says("Column names, of a table that began in an earlier passage.")
    )

    @classmethod
    def of(cls, passage: StoredChunk) -> Self:
        c = passage.chunk
        return cls(
            passage.id,
            c.index,
            c.text,
            heading(passage),
            c.section,
            c.section_label,
            c.pages,
            c.paragraph,
            c.start,
            c.end,
            PlaceAnswer.of(passage),
            c.header or None,
        )


def heading(passage: StoredChunk) -> str:
    return " › ".join(passage.chunk.headings)


class FoundIn(Shape, frozen=False):
    """The document of a result."""

    id: int
    title: str
    uri: str
    collection: str
    category: str
    interpretation: int

    @classmethod
    def of(cls, d: Document) -> Self:
        return cls(d.id, d.title, d.uri, d.collection, d.category, d.interpretation)


class Around(Shape):
    before: str
    after: str


class ResultAnswer(Shape, frozen=False):
    __pydantic_config__ = _MAY_LACK

    rank: int
    score: float
    match: float = said("How likely it is to be relevant, 0 to 1.")
    why: str = said("Where the match comes from, in words; empty with several queries.")
    weak: bool = said("The match is below `search.floor`.")
    document: FoundIn
    chunk: ChunkAnswer
    signals: Mapping[Signal, SignalPart]
    fields: Sequence[str] = said("Known fields with a word of the query: author, to, tag, …")
    passages: int
    at: float | None = field(
        default=None, metadata=says("Of a recording: the second at which the words are said.")
    )
    queries: Sequence[QueryPart] | None = None
    rerank: RerankPart | None = None
    preferences: Sequence[PreferencePart] | None = None
    in_order: OrderPart | None = None
    context: Around | None = None

    @classmethod
    def of(cls, result: Result, *, weak: bool) -> Self:
        r = result
        return cls(
            rank=r.rank,
            score=r.score,
            match=r.match,
            why=r.why,
            weak=weak,
            document=FoundIn.of(r.found.document),
            chunk=ChunkAnswer.of(r.found),
            signals=r.signals,
            fields=r.fields,
            passages=r.passages,
            at=r.at,
            queries=r.queries or None,
            rerank=r.rerank,
            preferences=r.preferences or None,
            in_order=r.in_order,
            context=Around(r.before, r.after) if r.before or r.after else None,
        )


class SyncRunAnswer(Part):
    started_at: str = said("Start of the run; empty: never run.")
    ended_at: str
    full: bool = said("The run read everything, not only changes.")
    counts: Mapping[str, int] = said("Number of items by outcome.")
    done: int = said("Steps done, such as channels.")
    steps: int = said("Total number of steps; 0: unknown.")
    seconds_left: float | None = said("Seconds left; null: unknown.")
    code: str = said("Code of the error that ended the run.")
    message: str
    not_before: str = said("When the service asked to wait until.")


class SyncFailureAnswer(Part):
    item: str
    code: str
    message: str
    at: str
    tries: int = said("How often it failed.")
    not_before: str = said("When a server tries it again; empty: with the next run.")


class DifferenceAnswer(Part):
    item: str
    kind: str = said("missing, extra, text, metadata, audience, restored or unreadable.")
    reason: str


class CheckedSyncAnswer(Part):
    source: str
    item: str = said("Title of the first item; empty if none could be read.")
    message: str = said("Why not.")


class SyncKindAnswer(Part):
    name: str
    help: str
    options: Mapping[str, str]
    required: Sequence[str]
    secrets: Sequence[str]


class SyncAnswer(Part):
    name: str
    kind: str
    options: Mapping[str, str]
    collection: str
    category: str | None = said("Category; null: from each item.")
    audience: str | None = said("Audience of items if the source doesn't say.")
    every: int = said("Seconds between runs by a server; 0: only on request.")
    added_at: str
    state: str = said("running, paused, waiting, failed, idle or new.")
    items: int = said("Number of items in the library.")
    failed: int = said("Number of items that couldn't be added; later runs try them again.")
    run: SyncRunAnswer = said("The current run, or the last one.")

    @classmethod
    def of(cls, source: KeptSource, /, *, running: bool = False, **more: Any) -> Self:
        """`more`: items and failed."""
        state, run = sync_state(source, running), SyncRunAnswer.of(source.run)
        return super().of(source, state=state, run=run, **more)


def sync_state(source: KeptSource, running: bool) -> str:
    """The state of a source in one word."""
    if source.paused:
        return "paused"
    if running:
        return "running"
    if source.run.code:
        return "failed"
    if source.run.not_before:
        return "waiting"
    return "idle" if source.run.started_at else "new"


class AnalysisAnswer(Part):
    weights: Mapping[Signal, float]
    fusion: str
    k: float
    semantic: int | None
    keyword: int | None
    boosts: Sequence[Boost]
    corrections: Sequence[Correction]
    suggestion: str
    unknown: Sequence[str]
    hypothesis: str
    decided: str
    notes: Sequence[str]


class AnalysedQuery(Shape):
    text: str
    analysis: AnalysisAnswer


class ResultsAnswer(Shape, kw_only=True):
    __pydantic_config__ = _MAY_LACK

    query: str
    analysis: AnalysisAnswer | None = None
    queries: Sequence[AnalysedQuery] | None = None
    combine: Combine | None
    weak: bool = said("No good match: the results are only the closest.")
    took_ms: float
    timings_ms: Mapping[str, float] | None = None
    results: Sequence[ResultAnswer]
    notes: Sequence[str]

    @classmethod
    def of(cls, results: Results, *, explain: bool = True, **more: Any) -> Self:
        analyses = [AnalysisAnswer.of(analysis) for analysis in results.analyses] if explain else []
        return cls(
            query=results.query,
            analysis=analyses[0] if explain else None,
            queries=[*map(AnalysedQuery, results.queries, analyses)] if explain else None,
            combine=results.combine,
            weak=results.weak,
            took_ms=results.took_ms,
            timings_ms=results.timings_ms if explain else None,
            results=[ResultAnswer.of(result, weak=not results.fits(result)) for result in results],
            notes=results.notes,
            **more,
        )
