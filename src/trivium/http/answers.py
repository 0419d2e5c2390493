"""What only the HTTP API answers: pages of things, and the things of a server. Shapes like those
of `shapes`, and sent like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.responses import JSONResponse

from trivium.answers import Conversation, Turn
from trivium.evaluate.judged_sets import JudgedSet
from trivium.evaluate.saved import EvaluationAnswer, WholeEvaluation
from trivium.results import Suggestion
from trivium.shapes import (
    ChunkAnswer,
    DocumentAnswer,
    InterpretationAnswer,
    JobAnswer,
    ResultsAnswer,
    TaskAnswer,
    TokenAnswer,
    to_json,
)
from trivium.types import Collection, Told, says


class Answered(JSONResponse):
    """Starlette's, for what callers may be told."""

    def render(self, content: object) -> bytes:
        text = to_json(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()


@dataclass(frozen=True)
class DocumentsAnswer(Told):
    documents: Sequence[DocumentAnswer]
    next_cursor: str | None = field(metadata=says("For the next page; null: there is none."))


@dataclass(frozen=True)
class PassagesAnswer(Told):
    document: int
    passages: Sequence[ChunkAnswer]
    next_cursor: str | None


@dataclass(frozen=True)
class PassageAnswer(Told):
    document: DocumentAnswer
    passage: ChunkAnswer
    before: Sequence[ChunkAnswer]
    after: Sequence[ChunkAnswer]


@dataclass(frozen=True, kw_only=True)
class SearchAnswer(ResultsAnswer):
    suggestion: str = field(metadata=says("The query as it was probably meant; empty: as typed."))


@dataclass(frozen=True)
class CollectionsAnswer(Told):
    collections: Sequence[Collection]


@dataclass(frozen=True)
class SuggestAnswer(Told):
    suggestions: Sequence[Suggestion]


@dataclass(frozen=True)
class HistoryAnswer(Told):
    document: int
    interpretations: Sequence[InterpretationAnswer]


@dataclass(frozen=True, kw_only=True)
class DiffAnswer(Told):
    document: int
    old: int
    new: int
    facts: Mapping[str, tuple[object, object]] = field(
        metadata=says("What is said of them, where it differs.")
    )
    lines: Sequence[str] = field(metadata=says("Of the text, as a unified diff."))
    added: int
    removed: int


@dataclass(frozen=True, kw_only=True)
class CallerAnswer(Told):
    name: str
    audiences: Sequence[str] | None = field(metadata=says("Beside `all`; null: every one."))
    collections: Sequence[str] | None = field(metadata=says("Null: every one."))
    rights: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class SettingAnswer(Told):
    name: str
    value: str
    default: str
    origin: str = field(
        metadata=says("default, the file's path, environment, command line, preset.")
    )
    variable: str = field(metadata=says("The environment variable that would set it."))
    help: str


@dataclass(frozen=True)
class SettingsAnswer(Told):
    file: str = field(metadata=says("Where settings may be written down."))
    settings: Sequence[SettingAnswer]


@dataclass(frozen=True)
class PresetsAnswer(Told):
    presets: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class RemovedAnswer(Told):
    removed: DocumentAnswer


@dataclass(frozen=True)
class HealthAnswer(Told):
    status: str
    version: str


@dataclass(frozen=True, kw_only=True)
class OutcomeAnswer(Told):
    uri: str
    fate: str = field(metadata=says("added, updated, relabelled, unchanged, failed, ..."))
    document: DocumentAnswer | None
    code: str = field(metadata=says("Of what failed; else empty."))
    message: str


@dataclass(frozen=True)
class AddedAnswer(Told):
    outcomes: Sequence[OutcomeAnswer] = field(metadata=says("Of the file, and of those within it."))
    chunks: int
    notes: Sequence[str]


@dataclass(frozen=True)
class TakenAnswer(Told):
    job: JobAnswer = field(metadata=says("Follow it at /v1/jobs/{id}/events."))


@dataclass(frozen=True)
class JobsAnswer(Told):
    jobs: Sequence[JobAnswer]


@dataclass(frozen=True)
class TasksAnswer(Told):
    tasks: Sequence[TaskAnswer]
    next_cursor: str | None


@dataclass(frozen=True)
class ConversationsAnswer(Told):
    conversations: Sequence[Conversation]


@dataclass(frozen=True)
class TurnsAnswer(Told):
    name: str
    turns: Sequence[Turn]


@dataclass(frozen=True)
class ForgottenAnswer(Told):
    forgotten: int = field(metadata=says("Turns that went."))


@dataclass(frozen=True)
class _New(Told):
    token: str = field(metadata=says("Send it as `Authorization: Bearer`. It is not shown again."))
    needed: bool = field(
        metadata=says(
            "Whether this server asks for tokens; one that was started without any does so from"
            " its next start on."
        )
    )


@dataclass(frozen=True)
class NewTokenAnswer(TokenAnswer, _New):
    """A token, and what is said of it once."""


@dataclass(frozen=True)
class TokensAnswer(Told):
    tokens: Sequence[TokenAnswer]
    needed: bool = field(metadata=says("Whether this server asks for tokens now."))


@dataclass(frozen=True)
class RevokedAnswer(Told):
    revoked: str


@dataclass(frozen=True, kw_only=True)
class SourceAnswer(Told):
    id: str
    path: str
    collection: str
    category: str | None
    audience: str | None
    ignore: Sequence[str]
    added_at: str
    kind: str
    there: bool = field(metadata=says("Whether the folder is there now."))
    state: str = field(
        metadata=says(
            "watching, vanished, empty or problem; empty: not yet, or another process of this"
            " server follows it."
        )
    )
    message: str


@dataclass(frozen=True)
class SourcesAnswer(Told):
    sources: Sequence[SourceAnswer]


@dataclass(frozen=True)
class ForgottenSourceAnswer(Told):
    removed: str


@dataclass(frozen=True)
class SetsAnswer(Told):
    sets: Sequence[JudgedSet]


@dataclass(frozen=True)
class RunAnswer(Told):
    id: str
    evaluation: EvaluationAnswer


@dataclass(frozen=True)
class RunsAnswer(Told):
    runs: Sequence[RunAnswer] = field(metadata=says("The newest first."))


@dataclass(frozen=True)
class WholeRunAnswer(Told):
    id: str
    evaluation: WholeEvaluation


@dataclass(frozen=True)
class JudgmentAnswer(Told):
    document: int | None = field(metadata=says("Null: it is no longer there."))
    uri: str
    grade: int | None


@dataclass(frozen=True)
class JudgmentsAnswer(Told):
    name: str
    query: str
    judgments: Sequence[JudgmentAnswer]
