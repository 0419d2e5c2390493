"""Plans the keyword signal: which stems, or runs of stems, a query asks for.

The plan is the same for every store: a chunk's score is the sum of BM25 over all runs it holds; it
must hold one run of every required clause and none of the excluded. `required` and `excluded` hold
for every signal, what a clause itself demands only for this one. Knows nothing of postings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trivium.core.types import Figure, Part, Phrase, Query, Term
from trivium.text.figures import nearly
from trivium.text.figures import runs as figure_runs
from trivium.text.stems import KOREAN, content_words, stem

Run: TypeAlias = tuple[str, ...]  # stems that stand next to each other; mostly just one

# What counts that may mean a date or a code: a rare month must not come before the very day in
# figures, 7.8.2026.
_NEARLY = 0.3


@dataclass(frozen=True, slots=True)
class KeywordClause:
    runs: tuple[Run, ...]  # alternatives: `a OR b`, and the stems of each language
    required: bool  # a phrase is demanded; a word is only welcome, unless the query says otherwise
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class KeywordPlan:
    clauses: tuple[KeywordClause, ...]
    excluded: tuple[Run, ...]
    required: tuple[tuple[Run, ...], ...] = ()  # of each of these one run


def plan_keywords(query: Query, languages: Iterable[str]) -> KeywordPlan:
    """`languages`: those of the library's documents, whose stemmers made the index's terms."""
    languages = list(languages) or [""]
    content = set(content_words(query.words, languages))
    clauses: dict[KeywordClause, None] = {}  # in order, each once
    for parts in query.clauses:
        demanded = parts in query.required  # then even a function word
        counting = [p for p in parts if demanded or not isinstance(p, Term) or p.text in content]
        if counting:
            required = demanded or query.every_word or any(isinstance(p, Phrase) for p in counting)
            clauses[KeywordClause(_all_runs(counting, languages), required)] = None
            for run in (run for p in counting if isinstance(p, Figure) for run in nearly(p)):
                clauses[KeywordClause(_all_runs([Phrase(run)], languages), False, _NEARLY)] = None
    return KeywordPlan(
        tuple(clauses),
        _all_runs(query.excluded, languages),
        tuple(_all_runs(parts, languages) for parts in query.required),
    )


def _all_runs(parts: Iterable[Part], languages: Sequence[str]) -> tuple[Run, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(run for part in parts for run in _runs(part, languages)))


def _runs(part: Part, languages: Sequence[str]) -> list[Run]:
    if isinstance(part, Figure):
        spellings = [list(run) for run in figure_runs(part, languages)]
    else:
        spellings = [list(part.words) if isinstance(part, Phrase) else [part.text]]
    runs = [tuple(stem(tokens, language)) for language in languages for tokens in spellings]
    if KOREAN in languages:  # indexes made before Korean had stems have its words as they stand
        runs += map(tuple, spellings)
    return runs
