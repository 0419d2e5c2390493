"""Types of requests, which FastAPI checks and describes.

Only limits each value; the library decides which values go together.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from trivium.access import Right
from trivium.operations.declaring import NotBlank
from trivium.operations.searching import LONGEST_QUERY, MOST_NAMES
from trivium.types import MetaScalar

MOST_SYNTHETIC = 1_000  # queries made in one request

_Name = Annotated[str, Field(min_length=1, max_length=1000)]
_Text = Annotated[str, Field(min_length=1, max_length=200)]
Label = Annotated[str | None, Field(min_length=1, max_length=200)]
SetName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
RunName = Literal["vector", "keyword", "trigram", "hybrid", "reranked"]
EVERY: tuple[RunName, ...] = ("vector", "keyword", "trigram", "hybrid", "reranked")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RestoreBody(_Body):
    """Which interpretation (version) to make active again."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"number": 1}]})

    number: int = Field(ge=1, le=2**31)


class AddUrlBody(_Body):
    """A public web address to add, with labels."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"url": "https://example.org/paper.pdf", "collection": "papers"}]
        },
    )

    url: str = Field(min_length=1, max_length=2000)
    collection: Label = None
    category: Label = None
    audience: Label = None
    metadata: dict[_Name, MetaScalar | list[MetaScalar]] | None = Field(None, max_length=MOST_NAMES)


# --- for the owner: tokens, sources, evaluations


class TokenBody(_Body):
    """What a new token may see and do. Without audiences: public documents (`all`) only."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "den", "audiences": ["player"], "collections": ["rules"], "expires": "30d"}
            ]
        },
    )

    name: str = Field("", max_length=200, description="Who uses it, as a reminder.")
    audiences: list[_Text] = Field([], max_length=MOST_NAMES, description="Labels besides `all`.")
    all_audiences: StrictBool = Field(
        False, description="All labels, now and in future; leave out `audiences`."
    )
    collections: list[_Text] | None = Field(
        None, max_length=MOST_NAMES, description="Only these collections; null: all collections."
    )
    rights: list[Right] = Field([Right.SEARCH], min_length=1, max_length=len(Right))
    expires: str = Field("", max_length=20, description="After 12h, 30d, 8w; empty: never.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> TokenBody:
        if self.audiences and self.all_audiences:
            raise ValueError("`audiences` and `all_audiences` can't be combined")
        return self


class SourceBody(_Body):
    """A folder on the server's machine, and labels for its documents."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"path": "/home/ann/notes", "collection": "notes"}]},
    )

    path: str = Field(min_length=1, max_length=4000)
    collection: _Text = "default"
    category: _Text | None = None
    audience: _Text | None = Field(None, description="Null: from each document.")
    ignore: list[Annotated[str, Field(max_length=1000)]] = Field(
        [], max_length=MOST_NAMES, description=".gitignore rules for files to ignore."
    )


class SyncBody(_Body):
    """A source to sync. A secret is sent as it is, or as `name:NAME` of one that the server's
    operator listed in `sync.secrets`. The server stores it and never shows it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "work",
                    "kind": "slack",
                    "secrets": {"token": "name:slack"},
                    "every": 600,
                }
            ]
        },
    )

    name: str = Field(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9._-]*$")
    kind: str = Field(min_length=1, max_length=64)
    options: dict[_Text, Annotated[str, Field(max_length=4000)]] = Field({}, max_length=50)
    secrets: dict[_Text, Annotated[str, Field(max_length=4000)]] = Field(
        {}, max_length=10, description="Each secret, or name:NAME of one in sync.secrets."
    )
    collection: _Text = "default"
    category: _Text | None = None
    audience: _Text | None = Field(
        None, description="Who can see the items, if the source doesn't say."
    )
    every: int = Field(
        0, ge=0, le=31_536_000, description="Seconds between runs; 0: only on request."
    )


class SyncRunBody(_Body):
    """How to run a source."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"full": True}]})

    full: bool = Field(False, description="Read everything again, not only what changed.")


class SyntheticBody(_Body):
    """A set of queries generated from the library's documents."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "synthetic", "queries": 100}]}
    )

    name: SetName
    queries: int = Field(100, ge=1, le=MOST_SYNTHETIC)
    seed: int = Field(0, ge=0, le=2**31)


class RunBody(_Body):
    """Which ways of searching to measure."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"only": ["hybrid", "reranked"]}]}
    )

    only: list[RunName] = Field(list(EVERY), min_length=1, max_length=len(EVERY))


class JudgmentBody(_Body):
    """A judgment of one document for one query."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"query": "drowned crown", "document": 2, "grade": 1}]},
    )

    query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY), NotBlank()]
    document: int = Field(ge=1, le=2**53)
    grade: Annotated[int, Field(ge=0, le=2)] | None = Field(
        description="0 not relevant, 1 relevant, 2 exactly right; null: skipped."
    )
