"""Keeps what a query excludes (`-word`, `-"a phrase"`) out of every signal's results.

The keyword signal leaves such chunks out by itself; the others do not look at words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from trivium.text.keywords import Run, plan_keywords
from trivium.text.stems import stems
from trivium.types import Query, StoredChunk

_T = TypeVar("_T")


def without_excluded(
    found: Sequence[_T], query: Query, chunk_of: Callable[[_T], StoredChunk]
) -> list[_T]:
    if not query.excluded:
        return list(found)
    return [one for one in found if not _holds_excluded(chunk_of(one), query)]


def _holds_excluded(stored: StoredChunk, query: Query) -> bool:
    language = stored.document.language
    held = stems(f"{stored.chunk.context}\n{stored.chunk.text}", language)
    runs = plan_keywords(query, [language]).excluded
    return any(_stands_in(run, held) for run in runs)


def _stands_in(run: Run, held: list[str]) -> bool:
    return any(tuple(held[i : i + len(run)]) == run for i in range(len(held) - len(run) + 1))
