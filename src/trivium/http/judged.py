"""What the routes about evaluations are asked, as types."""

from __future__ import annotations

from typing import Annotated, Literal

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


class RunBody(_Typed):
    """Which ways of searching to measure."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"only": ["hybrid", "reranked"]}]}
    )

    only: list[RunName] = Field(list(EVERY), min_length=1, max_length=len(EVERY))


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
