"""Searching: how to search, in which documents, and the settings behind both.

To add an option, add a field here and use it where a search runs; docs/decisions/012 says what
comes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal, TypeAlias

from trivium.core.conditions import Condition, MetaScalar
from trivium.core.modes import Combine, Granularity, Mode, Signal
from trivium.operations.declaring import (
    Box,
    Carried,
    OneIsAList,
    like,
    option,
    requests,
    setting,
    usual,
)

LONGEST_QUERY = 10_000  # characters: some four pages
LONGEST_TYPED = 500  # characters of what is being typed that are looked at, from the end
LONGEST_FILTER = 10_000
MOST_QUERIES = 4
MOST_RESULTS = 100  # of one request over a network; Python and the terminal get 1,000
MOST_NAMES = 50  # values of one field of a filter
MOST_BOOSTS = 20

# An interpretation's number, or an instant.
When: TypeAlias = int | str | date | datetime
OneOrMore: TypeAlias = str | Sequence[str] | None

Name = Annotated[str, Carried(str, min_length=1, max_length=1000)]
Names = Annotated[OneOrMore, Carried(list[Name], or_none=True, max_length=MOST_NAMES), OneIsAList()]
Number = Annotated[float, Carried(float, allow_inf_nan=False)]
Switch = Annotated[bool, Carried(bool, strict=True)]
Query = Annotated[str, Carried(str, max_length=LONGEST_QUERY)]
FilterText = Annotated[Condition | str, Carried(str, max_length=LONGEST_FILTER)]
Moment = Annotated[
    When,
    Carried(
        Annotated[int, Carried(int, ge=1, le=2**31)] | Annotated[str, Carried(str, max_length=40)]
    ),
]


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search. Options that are None come from the settings."""

    limit: int | None = option(
        "Maximum number of results.",
        setting="search.limit",
        flags=("-n", "--limit"),
        ge=1,
        le=MOST_RESULTS,
    )
    mode: Annotated[Mode | str, Carried(Mode)] = option(
        "Which signals to use: hybrid (all, best), semantic (meaning), keyword (words) or fuzzy"
        " (spelling).",
        Mode.HYBRID,
        labels={"hybrid": "All", "semantic": "Meaning", "keyword": "Words", "fuzzy": "Spelling"},
    )
    by: Annotated[Granularity | str | None, Carried(Granularity | None)] = option(
        "List every passage, or each document or chat thread once with its best passage.",
        setting="search.by",
        labels={"passage": "Passages", "document": "Documents", "thread": "Threads"},
    )
    combine: Annotated[Combine | str | None, Carried(Combine | None)] = option(
        "How to combine the scores of several queries: minimum, product and average keep what all"
        " of them find, maximum what any of them finds. Default: minimum.",
        labels={
            "minimum": "the weakest match (and)",
            "product": "the geometric mean (and)",
            "average": "the average (and)",
            "maximum": "the best match (or)",
        },
        assistants=False,
    )
    weights: Mapping[Signal, Number] | None = option(
        "Weights of the signals: vector (meaning), keyword (words) and trigram (spelling).",
        metavar="M,W,S",
        assistants=False,
    )
    k: Number | None = option(
        "Fuse by reciprocal rank with this k; a smaller k favours the top ranks.", assistants=False
    )
    threshold: Number | None = option(
        "Hide matches by meaning below this cosine similarity, -1 to 1.",
        setting="search.threshold",
        assistants=False,
    )
    rerank: Annotated[bool | str | None, Carried(Switch | Literal["deep"], or_none=True)] = option(
        "Rerank the top results (more accurate, slightly slower).",
        setting="search.rerank",
        box=Box(
            name="rerank", label="Rerank the top results", hint="more accurate, slightly slower"
        ),
        assistants=False,
    )
    deep: bool | None = option(
        "Rerank, and have a cross-encoder read the top results (most accurate, up to 2 s longer).",
        setting="search.deep",
        box=Box(name="deep", label="Read the top results", hint="most accurate, up to 2 s longer"),
        assistants=False,
        strict=True,
    )
    hyde: bool | None = option(
        "HyDE: also search with a generated answer (needs a language model).",
        setting="search.hyde",
        box=Box(
            name="hyde", label="HyDE: search with a generated answer", hint="needs a language model"
        ),
        assistants=False,
        strict=True,
    )
    expand: bool | None = option(
        "Show the text before and after each passage.",
        setting="search.expand",
        box=Box(name="expand", label="Show context", hint="the text before and after"),
        assistants=False,
        strict=True,
    )
    analysis: bool | None = option(
        "Adjust the weights to the words of the query.",
        setting="analysis.strength",
        assistants=False,
        strict=True,
    )
    correct: bool | None = option(
        "Correct misspelled words in queries.",
        setting="search.correct",
        assistants=False,
        strict=True,
    )
    min_match: Number | None = option(
        "Hide results with a lower match than this, 0 to 1.", setting="search.min_match", ge=0, le=1
    )
    every_word: bool | None = option(
        "Keyword search: require every word; if no passage has them all, accept any word.",
        setting="search.every_word",
        flags=("--every-word/--any-word",),
        box=Box(name="every", label="Require every word", hint="in keyword search", unchecked=None),
        strict=True,
    )
    strict: bool | None = option(
        "Keyword search: require every word, and find nothing if no passage has them all.",
        setting="search.strict",
        strict=True,
    )
    prefer: Annotated[str | None, Carried(Literal["recent", ""] | None)] = option(
        "`recent` ranks newer documents higher; empty: age doesn't matter.",
        setting="search.prefer",
        box=Box(
            name="recent",
            label="Prefer recent",
            hint="rank newer documents higher",
            checked="recent",
            unchecked=None,
        ),
    )
    half_life: Number | None = option(
        "Days after which the bonus for newer documents halves.",
        setting="search.half_life",
        metavar="DAYS",
        gt=0,
    )
    boosts: Annotated[
        Mapping[str, float] | None,
        Carried(dict[Name, Number], or_none=True, max_length=MOST_BOOSTS),
    ] = option(
        "Multiply scores that match a filter or a section, e.g. `type:pdf` by 2 or"
        " `section:methods` by 1.5.",
        flags=("--boost",),
        metavar="FILTER*WEIGHT",
    )
    # Filters look at what documents were then. Callers find what they may see today and could see
    # then.
    as_of: Moment | None = option(
        "Search documents as they were: in the interpretation (version) of this number, or at a"
        " date or time such as 2026-11-01[T18:00].",
        metavar="N|DATE",
    )


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which documents to search. Filters apply before the search, to every signal. With several
    values of a field, any of them may match."""

    audiences: Annotated[
        Iterable[str] | None, Carried(list[Name], or_none=True, max_length=MOST_NAMES)
    ] = option(
        "Only what someone with these access labels may see. Default: everything you may see.",
        flags=("--audience",),
        assistants=False,
    )
    collection: Names = option("Only in this collection; if several, in any of them.")
    source: Names = option(
        "Only in this document: file name, path or #id; if several, in any of them.",
        assistants=False,
    )
    category: Names = option("Only in this category; if several, in any of them.", assistants=False)
    metadata: Annotated[
        Mapping[str, MetaScalar] | None,
        Carried(dict[Name, MetaScalar], or_none=True, max_length=MOST_NAMES),
    ] = option(
        "Only documents with these values in their metadata.", metavar="KEY=VALUE", assistants=False
    )
    where: FilterText = option(
        "Any other filter, e.g. `year>=2020 type:pdf -language:de`.",
        "",
        metavar="FILTER",
        repeated="all must match",
    )


@dataclass(frozen=True, kw_only=True)
class Search(SearchOptions, Filters):
    """One search. Only the query is required; the rest comes from the settings."""

    __pydantic_config__ = requests(
        {"query": "who stole the drowned crown"},
        {
            "query": ["machine learning", "healthcare"],
            "combine": "minimum",
            "by": "document",
            "where": "year>=2020 type:pdf",
            "limit": 5,
            "explain": True,
        },
    )

    query: Annotated[
        Sequence[str], Carried(list[Query], min_length=1, max_length=MOST_QUERIES), OneIsAList()
    ] = option(
        'One query, or two to four. Use "a phrase", a OR b, +required and -not.', required=True
    )
    explain: bool = option("Show how each score adds up, and timings.", False, strict=True)


@dataclass(frozen=True, kw_only=True)
class Similar:
    """How to find documents like a given one."""

    passage: int | None = option(
        "Find passages like this passage of the document, counted from 0.", ge=0, le=2**31
    )
    limit: int | None = like(SearchOptions, "limit", None)
    by: Annotated[Granularity | str | None, Carried(Granularity | None)] = option(
        "List documents or passages. Default: documents; with `passage`, passages."
    )
    where: Annotated[str, Carried(str, max_length=LONGEST_FILTER)] = like(
        Filters, "where", "", max_length=LONGEST_FILTER
    )
    explain: bool = like(Search, "explain", False)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search is like if its caller doesn't say."""

    search_limit: int = usual(SearchOptions, "limit", 10)
    search_by: str = usual(SearchOptions, "by", "passage")
    search_rerank: bool = usual(SearchOptions, "rerank", False)
    search_deep: bool = usual(SearchOptions, "deep", False)
    search_expand: bool = usual(SearchOptions, "expand", False)
    search_hyde: bool = usual(SearchOptions, "hyde", False)
    search_threshold: float = usual(SearchOptions, "threshold", -1.0)
    search_correct: bool = usual(SearchOptions, "correct", True)
    search_min_match: float = usual(SearchOptions, "min_match", 0.0)
    search_every_word: bool = usual(SearchOptions, "every_word", False)
    search_strict: bool = usual(SearchOptions, "strict", False)
    search_prefer: str = usual(SearchOptions, "prefer", "")
    analysis_strength: float = setting(
        "analysis.strength",
        1.0,
        "how strongly the words of a query change the weights; 0: not at all",
    )
    search_half_life: float = usual(SearchOptions, "half_life", 365.0)
