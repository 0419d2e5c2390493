"""Types of requests, which FastAPI checks and describes.

Only limits each value; the library decides which values go together.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    model_validator,
)

from trivium.access import Right
from trivium.answers import Depth
from trivium.options import Filters, SearchOptions
from trivium.search.prefer import MOST
from trivium.search.run import LONGEST_QUERY
from trivium.text.filters import LONGEST
from trivium.types import Combine, Granularity, MetaScalar, Mode, Signal

MOST_RESULTS = 100  # of one request
MOST_NAMES = 50  # values of one field of a filter
MOST_TURNS = 20  # of a history: a model's window holds fewer
MOST_PASSAGES = 20
LONGEST_SAID = 20_000  # characters of an answer in a history
LONGEST_NAME = 150  # of a conversation; the library puts the token's id before it
MOST_SYNTHETIC = 1_000  # queries made in one request


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("it is empty")
    return value


NotBlank = AfterValidator(_said)
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
# One text, or several.
Names = Annotated[
    Annotated[list[_Name], Field(max_length=MOST_NAMES)] | None,
    BeforeValidator(_listed),
    Field(default=None),
]
Number = Annotated[float, Field(allow_inf_nan=False)]
_Text = Annotated[str, Field(min_length=1, max_length=200)]
Label = Annotated[str | None, Field(min_length=1, max_length=200)]
Limit = Annotated[int | None, Field(default=None, ge=1, le=MOST_RESULTS)]
ConversationName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), NotBlank]
SetName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
RunName = Literal["vector", "keyword", "trigram", "hybrid", "reranked"]
EVERY: tuple[RunName, ...] = ("vector", "keyword", "trigram", "hybrid", "reranked")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Filtered(_Body):
    """Which documents to search."""

    audiences: list[_Name] | None = Field(
        None, max_length=MOST_NAMES, description="Search as someone with only these labels."
    )
    collection: Names
    source: Names
    category: Names
    metadata: dict[_Name, MetaScalar] | None = Field(None, max_length=MOST_NAMES)
    where: str = Field(
        "", max_length=LONGEST, description="Any other filter: `year>=2020 type:pdf -language:de`."
    )

    def filters(self) -> Filters:
        return Filters(**{f.name: getattr(self, f.name) for f in fields(Filters)})


class SearchBody(Filtered):
    """One search. Only the query is required; the rest comes from the settings."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"query": "who stole the drowned crown"},
                {
                    "query": ["machine learning", "healthcare"],
                    "combine": "minimum",
                    "by": "document",
                    "where": "year>=2020 type:pdf",
                    "limit": 5,
                    "explain": True,
                },
            ]
        },
    )

    query: Annotated[
        list[Annotated[str, Field(max_length=LONGEST_QUERY)]],
        BeforeValidator(_listed),
        Field(
            min_length=1,
            max_length=4,
            description='One query, or two to four. Use "a phrase", a OR b, +required, -not.',
        ),
    ]
    limit: Limit
    mode: Mode = Mode.HYBRID
    by: Granularity | None = Field(None, description="List every passage, or each document once.")
    combine: Combine | None = Field(
        None, description="How to combine the scores of several queries."
    )
    weights: dict[Signal, Number] | None = Field(None, description="Weight of each signal.")
    k: Number | None = Field(None, description="Fuse by reciprocal rank with this k.")
    threshold: Number | None = Field(None, description="Minimum similarity of a vector hit.")
    analysis: StrictBool | None = Field(
        None, description="Adjust the weights to the query's words."
    )
    correct: StrictBool | None = Field(None, description="Correct misspelled words.")
    every_word: StrictBool | None = Field(
        None, description="Keyword search: require every word; if nothing has all, accept any."
    )
    prefer: Literal["recent", ""] | None = Field(
        None, description="`recent` ranks newer documents higher."
    )
    half_life: Number | None = Field(
        None, description="Days after which the bonus for newer documents halves."
    )
    boosts: dict[_Name, Number] | None = Field(
        None,
        max_length=MOST,
        description='Multiply the scores of documents that match a filter: `{"type:pdf": 2}`.',
    )
    rerank: StrictBool | None = Field(None, description="Rerank the top results.")
    hyde: StrictBool | None = Field(None, description="HyDE: also search with a generated answer.")
    expand: StrictBool | None = Field(None, description="Include the text around each passage.")
    partial: StrictBool | None = Field(
        None,
        description="While a database node is away, return results from the others, marked as"
        " partial.",
    )
    as_of: Annotated[int, Field(ge=1, le=2**31)] | Annotated[str, Field(max_length=40)] | None = (
        Field(
            None,
            description="Search documents as they were: in the interpretation of this number, or"
            " at a date or time such as `2026-11-01`.",
        )
    )
    explain: StrictBool = Field(False, description="Include how each score adds up, and timings.")

    def options(self) -> SearchOptions:
        named = [f.name for f in fields(SearchOptions) if f.name in type(self).model_fields]
        return SearchOptions(**{name: getattr(self, name) for name in named})


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


# --- questions


class TurnSaid(_Body):
    """An earlier question and its answer."""

    question: str = Field(max_length=LONGEST_QUERY)
    answer: str = Field(max_length=LONGEST_SAID)


class QueryBody(Filtered):
    """One question. The search uses reranking, the text around each passage and, if a language
    model is set up, a generated answer (HyDE)."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": "who raised the drowned crown?"},
                {
                    "question": "and where?",
                    "history": [
                        {"question": "who raised the drowned crown?", "answer": "Divers did."}
                    ],
                    "where": "type:markdown",
                    "stream": False,
                },
            ]
        },
    )

    question: str = Field(min_length=1, max_length=LONGEST_QUERY)
    stream: StrictBool = Field(
        True, description="Stream server-sent events; false: return the whole answer at once."
    )
    history: list[TurnSaid] = Field(
        [], max_length=MOST_TURNS, description="Earlier turns, oldest first."
    )
    conversation: ConversationName | None = Field(
        None,
        description="Continue the saved conversation of this name, or start it.",
    )
    limit: int | None = Field(
        None, ge=1, le=MOST_PASSAGES, description="Number of passages to read."
    )
    depth: Depth | None = Field(
        None,
        description="`once`: search once; `auto`: search again if nothing relevant is found;"
        " `deep`: search several times, within limits. Default: the setting `ask.depth`.",
    )


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

    query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY), NotBlank]
    document: int = Field(ge=1, le=2**53)
    grade: Annotated[int, Field(ge=0, le=2)] | None = Field(
        description="0 not relevant, 1 relevant, 2 exactly right; null: skipped."
    )
