"""Properties of every chunker that covers the whole text, shared by their tests."""

from itertools import pairwise

from trivium.core.types import Chunk, Extraction
from trivium.ports import Tokens


def check_cover(
    extraction: Extraction, chunks: tuple[Chunk, ...], tokens: Tokens, size: int, overlap: int
) -> None:
    """Exact slices in order, none too large, nothing lost, nothing doubled beyond the overlap."""
    text = extraction.text
    covered = 0
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert chunk.tokens == tokens.count(chunk.text) <= size
        assert text[covered : chunk.start].strip() == ""
        assert chunk.end > covered
        covered = chunk.end
    assert text[covered:].strip() == ""
    for before, after in pairwise(chunks):
        assert after.start > before.start
        assert tokens.count(text[after.start : before.end]) <= overlap


def only_headings(extraction: Extraction, start: int, end: int) -> bool:
    """Whether nothing but headings stands in the range."""
    return all(e.kind == "heading" for e in extraction.elements if start <= e.start < end)
