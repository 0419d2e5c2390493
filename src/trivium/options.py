"""Options and filters of one search: how to search, and in which documents.

Every way in uses these two values: terminal, HTTP, MCP, page, Python, LangChain and LlamaIndex.
`library.asking` checks that they go together and fills in the settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

from trivium.types import Combine, Condition, Granularity, MetaScalar, Mode, Signal

# An interpretation's number, or an instant.
When: TypeAlias = int | str | date | datetime
OneOrMore: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search. Fields that are None come from the settings."""

    limit: int | None = None  # most results
    mode: Mode | str = Mode.HYBRID
    by: Granularity | str | None = None  # every passage, or each document once
    # Of two to four queries: `minimum`, `product` and `average` keep what all of them find,
    # `maximum` keeps what any of them finds. None: the minimum.
    combine: Combine | str | None = None
    weights: Mapping[Signal, float] | None = None  # fixes what each signal counts
    k: float | None = None  # fuse by reciprocal ranks with this constant
    threshold: float | None = None  # least similarity of a vector hit
    expand: bool | None = None  # add the text around each passage
    hyde: bool | None = None  # search with a generated answer, too
    analysis: bool | None = None  # let the query's own words move the weights
    correct: bool | None = None  # look for what misspelled words were meant to be
    every_word: bool | None = None  # by keyword, find only what holds all words, if anything does
    rerank: bool | None = None  # let a reranker order the best results
    prefer: str | None = None  # `recent`: newer documents count more; empty: age doesn't count
    half_life: float | None = None  # days after which being recent adds half as much
    # Factors for scores that match a filter, or `section:methods`: `{"type:pdf": 2}`.
    boosts: Mapping[str, float] | None = None
    partial: bool | None = None  # accept results without the database nodes that are away
    # Search documents as they were: in the interpretation of this number (or their last before
    # it), or at a date or time. Filters look at what they were then. Callers find what they may
    # see today and could see then.
    as_of: When | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which documents to search. Filters apply before the search, to every signal. With several
    values of a field, any of them may match."""

    audiences: Iterable[str] | None = None  # labels the caller holds; None: the owner, every one
    collection: OneOrMore = None
    source: OneOrMore = None  # file name, path or #id
    category: OneOrMore = None
    metadata: Mapping[str, MetaScalar] | None = None
    where: Condition | str = ""  # any other filter: `year>=2020 type:pdf`, or as a tree
