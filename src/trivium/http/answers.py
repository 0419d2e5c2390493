"""What the routes answer, as types, for the API's description. `plain` makes the values; a test
holds both against each other."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from trivium.types import Combine, MetaScalar, Signal


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DocumentAnswer(_Answer):
    id: int
    uri: str
    title: str
    collection: str
    category: str
    audience: str = Field(description="Who may see it: `all`, or a label.")
    media_type: str
    language: str
    content_hash: str
    size: int = Field(description="Bytes of the file.")
    interpretation: int = Field(description="Number of the active one.")
    fingerprint: str = Field(description="Of the pipeline that read it.")
    chunks: int
    added_at: str
    updated_at: str
    metadata: dict[str, MetaScalar | list[MetaScalar]]
    names: list[str] = Field(description="Other uris under which the same bytes were met.")


class DocumentsAnswer(_Answer):
    documents: list[DocumentAnswer]
    next_cursor: str | None = Field(description="For the next page; null: there is none.")


class ChunkAnswer(_Answer):
    id: int
    index: int = Field(description="Position in its document, from 0.")
    text: str
    heading: str
    section: str
    section_label: str
    pages: list[int]
    paragraph: int | None
    start: int
    end: int


class PassagesAnswer(_Answer):
    document: int
    passages: list[ChunkAnswer]
    next_cursor: str | None


class PassageAnswer(_Answer):
    document: DocumentAnswer
    passage: ChunkAnswer
    before: list[ChunkAnswer]
    after: list[ChunkAnswer]


class FoundIn(_Answer):
    id: int
    title: str
    uri: str
    collection: str
    category: str
    interpretation: int


class SignalAnswer(_Answer):
    rank: int
    score: float
    weight: float
    contribution: float


class QueryAnswer(_Answer):
    match: float
    score: float
    signals: dict[Signal, SignalAnswer]


class RerankAnswer(_Answer):
    judged: float
    before: int
    rerank: float
    hybrid: float
    position: float


class PreferenceAnswer(_Answer):
    name: str
    factor: float
    contribution: float


class Around(_Answer):
    before: str
    after: str


class ResultAnswer(_Answer):
    rank: int
    score: float
    match: Annotated[float, Field(description="0..1, how likely it is to be relevant.")]
    weak: Annotated[bool, Field(description="It matches less than `search.floor`.")]
    document: FoundIn
    chunk: ChunkAnswer
    signals: dict[Signal, SignalAnswer]
    passages: int
    queries: list[QueryAnswer] = []
    rerank: RerankAnswer | None = None
    preferences: list[PreferenceAnswer] = []
    context: Around | None = None


class BoostAnswer(_Answer):
    name: str
    side: str
    points: int
    because: str


class CorrectionAnswer(_Answer):
    typed: str
    meant: str
    sure: float
    applied: bool


class AnalysisAnswer(_Answer):
    weights: dict[Signal, float]
    fusion: str
    k: float
    semantic: int | None
    keyword: int | None
    boosts: list[BoostAnswer]
    corrections: list[CorrectionAnswer]
    suggestion: str
    unknown: list[str]
    hypothesis: str
    decided: str = ""
    notes: list[str]


class AnalysedQuery(_Answer):
    text: str
    analysis: AnalysisAnswer


class SearchAnswer(_Answer):
    query: str
    results: list[ResultAnswer]
    suggestion: str = Field(description="The query as it was probably meant; empty: as typed.")
    combine: Combine | None
    weak: bool = Field(description="Nothing fits well; the results are only the nearest.")
    took_ms: float
    notes: list[str]
    analysis: AnalysisAnswer | None = None
    queries: list[AnalysedQuery] | None = None
    timings_ms: dict[str, float] | None = None


class CollectionAnswer(_Answer):
    name: str
    documents: int
    chunks: int
    chunker: str


class CollectionsAnswer(_Answer):
    collections: list[CollectionAnswer]


class SuggestionAnswer(_Answer):
    text: str
    kind: str = Field(description="`completion` of the last word, or another `spelling` of it.")
    chunks: int = Field(description="That hold the word, counted up to 100.")


class SuggestAnswer(_Answer):
    suggestions: list[SuggestionAnswer]


class InterpretationAnswer(_Answer):
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
    timings: dict[str, float]
    metadata: dict[str, MetaScalar | list[MetaScalar]]
    audience: str | None = Field(
        description="Its label when it was last active; null: not known, so only for tokens of all"
        " audiences."
    )


class HistoryAnswer(_Answer):
    document: int
    interpretations: list[InterpretationAnswer]


class DiffAnswer(_Answer):
    document: int
    old: int
    new: int
    facts: dict[str, list[object]] = Field(description="What is said of them, where it differs.")
    lines: list[str] = Field(description="Of the text, as a unified diff.")
    added: int
    removed: int


class CallerAnswer(_Answer):
    name: str
    audiences: list[str] | None = Field(description="Beside `all`; null: every one.")
    collections: list[str] | None = Field(description="Null: every one.")
    rights: list[str]


class SettingAnswer(_Answer):
    name: str
    value: str
    default: str
    origin: str = Field(description="default, the file's path, environment, command line, preset.")
    variable: str = Field(description="The environment variable that would set it.")
    help: str


class SettingsAnswer(_Answer):
    file: str = Field(description="Where settings may be written down.")
    settings: list[SettingAnswer]


class PresetsAnswer(_Answer):
    presets: dict[str, dict[str, str]]


class RemovedAnswer(_Answer):
    removed: DocumentAnswer


class HealthAnswer(_Answer):
    status: str
    version: str


class OutcomeAnswer(_Answer):
    uri: str
    fate: str = Field(description="added, updated, relabelled, unchanged, failed, ...")
    document: DocumentAnswer | None
    code: str = Field(description="Of what failed; else empty.")
    message: str


class AddedAnswer(_Answer):
    outcomes: list[OutcomeAnswer] = Field(description="Of the file, and of those within it.")
    chunks: int
    notes: list[str]


class JobAnswer(_Answer):
    id: int
    kind: str
    what: str
    state: str = Field(description="queued, running, done, failed or cancelled.")
    priority: int
    created_at: str
    started_at: str
    ended_at: str
    tasks: int
    size: int
    ended: int = Field(description="Tasks that are done, failed or cancelled.")
    ended_size: int
    failed: int
    rate: float
    seconds_left: float | None
    notes: list[str]
    lasting: bool = Field(description="Another process can go on with it.")


class TakenAnswer(_Answer):
    job: JobAnswer = Field(description="Follow it at /v1/jobs/{id}/events.")


class JobsAnswer(_Answer):
    jobs: list[JobAnswer]


class TaskAnswer(_Answer):
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
    seconds: dict[str, float]


class TasksAnswer(_Answer):
    tasks: list[TaskAnswer]
    next_cursor: str | None
