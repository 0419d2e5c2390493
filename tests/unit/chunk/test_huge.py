"""Huge and hostile texts: no call on all of a text at once, nothing repeated without a bound."""

import pytest

from trivium.chunk.choose import AutoChunker
from trivium.chunk.outline import MOST_HEADER, MOST_HEADING
from trivium.chunk.recursive import WINDOW
from trivium.extract.detect import read
from trivium.ports import Blob
from trivium.text import boundaries
from trivium.text.tokens import Cl100kTokens, SlicedTokens

MEGABYTE = 1_000_000


class Longest:
    """Counts as cl100k does, and remembers the longest text that it was given."""

    name = "cl100k_base"

    def __init__(self) -> None:
        self._tokens = Cl100kTokens()
        self.seen = 0

    def count(self, text: str) -> int:
        self.seen = max(self.seen, len(text))
        return self._tokens.count(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("quotes.csv", '"' * MEGABYTE),
        ("cell.csv", "a,b\n" + '"' * MEGABYTE),
        ("header.csv", "h" * (MEGABYTE // 4) + ",b\n" + "1,2\n" * 5_000),
        ("letter.txt", "a" * MEGABYTE),
        ("blanks.txt", "a" + " " * MEGABYTE + "b"),
        ("words.txt", "word " * (MEGABYTE // 5)),
        ("heading.md", "# " + "h" * (MEGABYTE // 4) + "\n\n" + "A sentence of words.\n\n" * 5_000),
    ],
)
def test_what_is_looked_at_and_repeated_is_bounded(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = Longest()
    searched = 0
    for function in ("paragraphs", "lines", "sentences", "words"):
        find = getattr(boundaries, function)

        def seen(content: str, find=find) -> list[int]:  # type: ignore[no-untyped-def]
            nonlocal searched
            searched = max(searched, len(content))
            found: list[int] = find(content)
            return found

        monkeypatch.setattr(boundaries, function, seen)
    chunker = AutoChunker(
        SlicedTokens(longest), 400, 80, 40, ceiling=2000, most=100, strategy="auto"
    )
    extraction = read(Blob(name, text.encode()))
    chunks = chunker.chunk(extraction)
    assert longest.seen <= 20_000
    assert searched <= WINDOW
    assert all(len(chunk.header) <= MOST_HEADER for chunk in chunks)
    assert all(len(heading) <= MOST_HEADING for chunk in chunks for heading in chunk.headings)
    assert all(chunk.text == extraction.text[chunk.start : chunk.end] for chunk in chunks)
    covered = 0
    for chunk in chunks:  # nothing but white space lies between two chunks
        assert not extraction.text[covered : chunk.start].strip()
        covered = max(covered, chunk.end)
    assert not extraction.text[covered:].strip()
