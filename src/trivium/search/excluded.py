"""Keeps what a query excludes (`-word`, `-"a phrase"`) out of every signal's results.

The keyword signal leaves such chunks out by itself; the others do not look at words.
"""

from __future__ import annotations

from trivium.text.keywords import Run, plan_keywords
from trivium.text.stems import stems
from trivium.types import Query, StoredChunk


def holds_excluded(stored: StoredChunk, query: Query) -> bool:
    if not query.excluded:
        return False
    language = stored.document.language
    held = stems(f"{stored.chunk.context}\n{stored.chunk.text}", language)
    runs = plan_keywords(query, [language]).excluded
    return any(_stands_in(run, held) for run in runs)


def _stands_in(run: Run, held: list[str]) -> bool:
    return any(tuple(held[i : i + len(run)]) == run for i in range(len(held) - len(run) + 1))
