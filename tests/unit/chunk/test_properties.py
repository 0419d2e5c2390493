"""Properties of every chunker, on generated documents and on a file of every format."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.seeds import SEEDS

from trivium.chunk.bibliography import find_bibliography
from trivium.chunk.choose import BY_KIND, STRATEGIES, AutoChunker
from trivium.core.errors import ReadError
from trivium.core.types import Chunk, Element, Extraction, Kind, Place
from trivium.extract.composer import Composer
from trivium.extract.detect import choose
from trivium.ingest.extractors import extractors
from trivium.ports import Blob
from trivium.text.tokens import Cl100kTokens

TOKENS = Cl100kTokens()
SIZE, OVERLAP, CEILING, MOST = 48, 12, 64, 4
ENTRY = "Smith, J. A., & Doe, J. (2019). A study of foxes. Journal of Foxes, 12(3), 45-67."
CHUNKERS = {
    name: AutoChunker(TOKENS, SIZE, OVERLAP, 8, ceiling=CEILING, most=MOST, strategy=name)
    for name in STRATEGIES
}

PIECES = [
    "fox",
    "jumps over.",
    "Dr. Who",
    "naïve",
    "日本語。",
    "x" * 40,
    "two\nlines",
    "a | b",
    "🏳️‍🌈",
]
TEXTS = st.lists(st.sampled_from([*PIECES, ENTRY, "para\n\ngraph"]), min_size=1, max_size=40)
KINDS = st.sampled_from(
    ["heading", "paragraph", "list_item", "quote", "table", "code", "row", "message", "references"]
)
PARTS = st.lists(
    st.tuples(KINDS, st.integers(1, 4), TEXTS.map(" ".join), st.integers(1, 3)), max_size=16
)


@st.composite
def extractions(draw: st.DrawFn) -> Extraction:
    """Any structure that a reader can compose, as any kind of document."""
    composer = Composer("any.md")
    for number, (kind, level, text, page) in enumerate(draw(PARTS), 1):
        place = Place(
            pages=(page,), rows=(number, number), authors=(f"a{page}",), link=f"#{number}"
        )
        if kind == "references":
            composer.heading(2, "References", place)
        elif kind == "heading":
            composer.heading(level, text, place)
        elif kind == "table":
            composer.table([["name", "price"], *([text, "1"] for _ in range(level))], place=place)
        else:
            header = "name | price" if kind == "row" and level > 1 else ""
            composer.add(kind, text, header=header, place=place)  # type: ignore[arg-type]
    composer.add("paragraph", "The end.")
    title = draw(st.sampled_from(["", "Of Foxes"]))
    blob = Blob("any.md", b"")
    return composer.finish(
        blob,
        media_type="text/plain",
        titles=(title,),
        language="en",
        kind=draw(st.sampled_from(Kind)),
    )


def check(strategy: str, extraction: Extraction) -> None:
    chunks = CHUNKERS[strategy].chunk(extraction)
    used = BY_KIND[extraction.kind] if strategy == "auto" else strategy
    papers = used in ("sections", "abstract")
    _check_each(extraction, chunks, CEILING if papers else SIZE)
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        doubled = extraction.text[after.start : before.end]
        assert TOKENS.count(doubled) <= (0 if papers else OVERLAP)
    said = CHUNKERS[strategy].note(extraction, chunks)
    if used == "abstract":
        return  # leaves out what is not the summary
    lost = _lost(extraction, chunks)
    if not papers:
        assert not lost
        assert not said
    elif said:
        assert len(chunks) == MOST
        assert lost
    else:
        left_out = find_bibliography(extraction)
        assert all(any(start <= at < end for start, end in left_out) for at in lost)


def _numbers(extraction: Extraction, first: Element | None) -> set[int | None]:
    """A paragraph's number in the document, and for papers that on its page."""
    if first is None:
        return {None}
    page = first.place.pages[:1]
    before = {
        e.paragraph
        for e in extraction.elements
        if e.paragraph and e.place.pages[:1] == page and e.start <= first.start
    }
    return {first.paragraph, len(before)}


def _check_each(extraction: Extraction, chunks: tuple[Chunk, ...], size: int) -> None:
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.text == extraction.text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert chunk.tokens == TOKENS.count(chunk.text) <= size
        assert not extraction.title or extraction.title in chunk.headings
        touched = [e for e in extraction.elements if e.start < chunk.end and chunk.start < e.end]
        assert set(chunk.pages) == {page for e in touched for page in e.place.pages}
        assert set(chunk.place.authors) == {a for e in touched for a in e.place.authors}
        assert chunk.place.link == next((e.place.link for e in touched if e.place.link), "")
        for element in touched:
            begins = element.kind == "table" and chunk.start <= element.start
            assert (
                begins
                or element.header in (*chunk.header.split("\n"), "")
                or (element.header in chunk.text)
            )
        first = next((e for e in touched if e.paragraph), None)
        assert chunk.paragraph in _numbers(extraction, first)


def _lost(extraction: Extraction, chunks: tuple[Chunk, ...]) -> list[int]:
    """Where there is a character, not white space, that no chunk holds."""
    held = bytearray(len(extraction.text))
    for chunk in chunks:
        held[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    return [at for at, c in enumerate(extraction.text) if not held[at] and not c.isspace()]


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None, max_examples=25)
@given(extraction=extractions())
def test_slices_in_order_nothing_lost_nothing_doubled(
    strategy: str, extraction: Extraction
) -> None:
    check(strategy, extraction)


@pytest.mark.parametrize("name", SEEDS)
def test_a_file_of_every_format(name: str) -> None:
    blob = Blob(name, SEEDS[name])
    readers = extractors({"ocr": "off", "languages": "eng"})
    try:
        extraction = choose(blob, readers).extract(blob)
    except ReadError:
        return  # an image without text, an archive that only holds others
    for strategy in STRATEGIES:
        check(strategy, extraction)
