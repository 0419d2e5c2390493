"""Joins neighbouring results of one document, so that people can read them as one passage.

Only for display: the results keep their ranks and scores. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trivium.core.results import Result
from trivium.core.types import DocumentId


@dataclass(frozen=True, slots=True)
class Block:
    """One or more neighbouring results of one document."""

    results: tuple[Result, ...]  # best first
    text: str  # all of them, in the document's order, without repeats

    @property
    def best(self) -> Result:
        return self.results[0]


def merge_neighbours(results: Iterable[Result]) -> list[Block]:
    """Blocks in the order of their best result."""
    at: dict[tuple[DocumentId, int], list[Result]] = {}  # for each result, those it is joined with
    for result in results:
        document, index = result.found.document.id, result.found.chunk.index
        before, after = at.get((document, index - 1), []), at.get((document, index + 1), [])
        together = [*before, result, *(r for r in after if after is not before)]
        for member in together:
            at[document, member.found.chunk.index] = together
    groups = {id(group): group for group in at.values()}
    blocks = [_block(group) for group in groups.values()]
    return sorted(blocks, key=lambda block: block.best.rank)


def _block(group: list[Result]) -> Block:
    ordered = sorted((r.found.chunk for r in group), key=lambda chunk: chunk.index)
    text, end = "", 0
    for chunk in ordered:
        if text and chunk.start > end:
            text += "\n\n"
        text += chunk.text[max(0, end - chunk.start) if text else 0 :]
        end = max(end, chunk.end)
    return Block(tuple(sorted(group, key=lambda r: r.rank)), text)
