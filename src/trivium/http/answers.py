"""Answers that only the HTTP API gives: paged lists, and facts about the server. Shapes like those
in `shapes`, sent the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse

from trivium.config import SettingAnswer
from trivium.core.answers import Conversation, Turn
from trivium.core.results import Suggestion
from trivium.core.shapes import (
    ChunkAnswer,
    DifferenceAnswer,
    DocumentAnswer,
    InterpretationAnswer,
    JobAnswer,
    Part,
    ResultsAnswer,
    Shape,
    SyncAnswer,
    SyncFailureAnswer,
    SyncKindAnswer,
    TaskAnswer,
    TokenAnswer,
    said,
    to_json,
)
from trivium.core.types import Collection
from trivium.evaluate.judged_sets import JudgedSet
from trivium.evaluate.saved import EvaluationAnswer, WholeEvaluation


class Answered(JSONResponse):
    """Starlette's JSON response, for shapes that callers may see."""

    def render(self, content: object) -> bytes:
        text = to_json(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()


class DocumentsAnswer(Shape):
    documents: Sequence[DocumentAnswer]
    next_cursor: str | None = said("Cursor for the next page; null on the last page.")


class PassagesAnswer(Shape):
    document: int
    passages: Sequence[ChunkAnswer]
    next_cursor: str | None


class PassageAnswer(Shape):
    document: DocumentAnswer
    passage: ChunkAnswer
    before: Sequence[ChunkAnswer]
    after: Sequence[ChunkAnswer]


class SearchAnswer(ResultsAnswer, kw_only=True):
    suggestion: str = said("The query with its spelling corrected; empty if unchanged.")


class CollectionsAnswer(Shape):
    collections: Sequence[Collection]
    quotas: Mapping[str, Mapping[str, int]] = said(
        "For the owner, by collection: documents and bytes, and the limits of each; 0: none."
    )


class SuggestAnswer(Shape):
    suggestions: Sequence[Suggestion]


class HistoryAnswer(Shape):
    document: int
    interpretations: Sequence[InterpretationAnswer]


class DiffAnswer(Part, kw_only=True):
    document: int
    old: int
    new: int
    facts: Mapping[str, tuple[object, object]] = said("Fields that differ, with old and new value.")
    lines: Sequence[str] = said("Changes of the text, as a unified diff.")
    added: int
    removed: int


class CallerAnswer(Shape, kw_only=True):
    name: str
    audiences: Sequence[str] | None = said("Labels besides `all`; null: all labels.")
    collections: Sequence[str] | None = said("Collections; null: all collections.")
    rights: Sequence[str]


class SettingsAnswer(Shape):
    file: str = said("Path of the configuration file.")
    settings: Sequence[SettingAnswer]


class PresetsAnswer(Shape):
    presets: Mapping[str, Mapping[str, str]]


class RemovedAnswer(Shape):
    removed: DocumentAnswer


class HealthAnswer(Shape):
    status: str
    version: str


class OutcomeAnswer(Shape, kw_only=True):
    uri: str
    fate: str = said("added, updated, relabelled, unchanged, failed, ...")
    document: DocumentAnswer | None
    code: str = said("Error code if it failed, else empty.")
    message: str


class AddedAnswer(Shape):
    outcomes: Sequence[OutcomeAnswer] = said("Outcomes of the file and of the files inside it.")
    chunks: int
    notes: Sequence[str]


class TakenAnswer(Shape):
    job: JobAnswer = said("Follow it at /v1/jobs/{id}/events.")


class JobsAnswer(Shape):
    jobs: Sequence[JobAnswer]


class TasksAnswer(Shape):
    tasks: Sequence[TaskAnswer]
    next_cursor: str | None


class ConversationsAnswer(Shape):
    conversations: Sequence[Conversation]


class TurnsAnswer(Shape):
    name: str
    turns: Sequence[Turn]


class ForgottenAnswer(Shape):
    forgotten: int = said("Number of turns deleted.")


class _New(Shape):
    token: str = said("Send it as `Authorization: Bearer`. You won't see it again.")
    needed: bool = said(
        "Whether this server requires tokens. A server started without tokens requires them"
        " after a restart."
    )


class NewTokenAnswer(TokenAnswer, _New):
    """A new token, shown once."""


class TokensAnswer(Shape):
    tokens: Sequence[TokenAnswer]
    needed: bool = said("Whether this server requires tokens now.")


class RevokedAnswer(Shape):
    revoked: str


class SourceAnswer(Shape, kw_only=True):
    id: str
    path: str
    collection: str
    category: str | None
    audience: str | None
    ignore: Sequence[str]
    added_at: str
    kind: str
    there: bool = said("Whether the folder exists now.")
    state: str = said(
        "watching, vanished, empty or problem; empty string: not started, or another process"
        " of this server follows it."
    )
    message: str


class SourcesAnswer(Shape):
    sources: Sequence[SourceAnswer]


class SyncsAnswer(Shape):
    sources: Sequence[SyncAnswer]


class SyncDetailAnswer(Shape):
    source: SyncAnswer
    failures: Sequence[SyncFailureAnswer]


class VerifiedAnswer(Shape):
    source: str
    compared: int = said("Number of items in the source.")
    differences: Sequence[DifferenceAnswer]


class RemovedSyncAnswer(Shape):
    removed: str
    documents: int = said("Number of items removed with it.")


class SyncKindsAnswer(Shape):
    kinds: Sequence[SyncKindAnswer]


class ForgottenSourceAnswer(Shape):
    removed: str


class SetsAnswer(Shape):
    sets: Sequence[JudgedSet]


class RunAnswer(Shape):
    id: str
    evaluation: EvaluationAnswer


class RunsAnswer(Shape):
    runs: Sequence[RunAnswer] = said("Newest first.")


class WholeRunAnswer(Shape):
    id: str
    evaluation: WholeEvaluation


class JudgmentAnswer(Shape):
    document: int | None = said("Null if the document is gone.")
    uri: str
    grade: int | None


class JudgmentsAnswer(Shape):
    name: str
    query: str
    judgments: Sequence[JudgmentAnswer]
