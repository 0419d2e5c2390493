"""What the routes about evaluations are asked and answer, as types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trivium.http.requests import NotBlank
from trivium.search.run import LONGEST_QUERY

MOST_SYNTHETIC = 1_000  # queries made in one request
SetName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
RunName = Literal["vector", "keyword", "trigram", "hybrid", "reranked"]
EVERY: tuple[RunName, ...] = ("vector", "keyword", "trigram", "hybrid", "reranked")


class _Typed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SyntheticBody(_Typed):
    """A set of queries that are made from the library's own documents."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "synthetic", "queries": 100}]}
    )

    name: SetName
    queries: int = Field(100, ge=1, le=MOST_SYNTHETIC)
    seed: int = Field(0, ge=0, le=2**31)


class SetAnswer(_Typed):
    name: str
    queries: int
    judged: int = Field(description="Documents that were judged, of all queries.")
    relevant: int
    synthetic: bool = Field(description="No person asked or judged any of it.")
    runs: int = Field(description="Evaluations that are saved.")


class SetsAnswer(_Typed):
    sets: list[SetAnswer]


class RunBody(_Typed):
    """Which ways of searching to measure."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"only": ["hybrid", "reranked"]}]}
    )

    only: list[RunName] = Field(list(EVERY), min_length=1, max_length=len(EVERY))


class EvaluationAnswer(_Typed):
    """The figures of one evaluation, by way of searching and measure."""

    format: str
    version: str
    dataset: str
    synthetic: bool
    documents: int
    queries: int
    runs: dict[str, dict[str, float]]
    intervals: dict[str, dict[str, list[float]]] = Field(description="95 %: low and high.")
    latency_ms: dict[str, dict[str, float]]
    settings: dict[str, str]
    notes: list[str]


class RunAnswer(_Typed):
    id: str
    evaluation: EvaluationAnswer


class RunsAnswer(_Typed):
    runs: list[RunAnswer] = Field(description="The newest first.")


class WholeEvaluation(EvaluationAnswer):
    texts: dict[str, str] = Field(description="Of the queries, by id.")
    each: dict[str, dict[str, dict[str, float]]] = Field(description="By run, measure and query.")


class WholeRunAnswer(_Typed):
    id: str
    evaluation: WholeEvaluation


class ChangeAnswer(_Typed):
    query: str
    text: str
    ours: float
    theirs: float
    gain: float


class ComparisonAnswer(_Typed):
    """What a run gained over an earlier one, on the queries that both asked."""

    dataset: str
    queries: int
    differences: dict[str, dict[str, dict[str, Any]]] = Field(
        description="By run and measure: gain, interval, p, wins, losses, ties, real."
    )
    greatest: dict[str, dict[str, list[ChangeAnswer]]]
    changes: dict[str, list[ChangeAnswer]] = Field(description="Every query, greatest win first.")
    settings: dict[str, dict[str, str]] = Field(description="Those that differ.")
    notes: list[str]


class JudgmentBody(_Typed):
    """What a person says of one document for one query."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"query": "drowned crown", "document": 2, "grade": 1}]},
    )

    query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY), NotBlank]
    document: int = Field(ge=1, le=2**53)
    grade: Annotated[int, Field(ge=0, le=2)] | None = Field(
        description="0 not relevant, 1 relevant, 2 exactly that; null: looked at and skipped."
    )


class JudgmentAnswer(_Typed):
    document: int | None = Field(description="Null: it is no longer there.")
    uri: str
    grade: int | None


class JudgmentsAnswer(_Typed):
    name: str
    query: str
    judgments: list[JudgmentAnswer]
