"""Plans the keyword signal: which stems, or runs of stems, a query asks for.

The plan is the same for every store: a chunk's score is the sum of BM25 over all runs it holds; it
must hold one run of every required clause and none of the excluded. Knows nothing of postings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from trivium.text.stems import content_words, stem
from trivium.types import Phrase, Query, Term

Run: TypeAlias = tuple[str, ...]  # stems that stand next to each other; mostly just one


@dataclass(frozen=True, slots=True)
class KeywordClause:
    runs: tuple[Run, ...]  # alternatives: `a OR b`, and the stems of each language
    required: bool  # a phrase is demanded, a word is only welcome


@dataclass(frozen=True, slots=True)
class KeywordPlan:
    clauses: tuple[KeywordClause, ...]
    excluded: tuple[Run, ...]


def plan_keywords(query: Query, languages: Iterable[str]) -> KeywordPlan:
    """`languages`: those of the library's documents, whose stemmers made the index's terms."""
    languages = list(languages) or [""]
    content = set(content_words(query.words, languages))
    clauses: dict[KeywordClause, None] = {}  # in order, each once
    for parts in query.clauses:
        kept = [p for p in parts if isinstance(p, Phrase) or p.text in content]
        if kept:
            runs = dict.fromkeys(run for part in kept for run in _runs(part, languages))
            required = any(isinstance(part, Phrase) for part in kept)
            clauses[KeywordClause(tuple(runs), required)] = None
    excluded = dict.fromkeys(run for part in query.excluded for run in _runs(part, languages))
    return KeywordPlan(tuple(clauses), tuple(excluded))


def _runs(part: Term | Phrase, languages: Iterable[str]) -> list[Run]:
    tokens = list(part.words) if isinstance(part, Phrase) else [part.text]
    return [tuple(stem(tokens, language)) for language in languages]
