"""What holds for every file that can be read: places are in order, and chunks lose and double
nothing."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath

import pytest
from tests.property.documents import EVERY, GOLDEN, SAMPLES, content

from trivium.chunk.bibliography import find_bibliography
from trivium.chunk.choose import AutoChunker
from trivium.core.errors import ReadError
from trivium.core.types import Chunk, Extraction, Kind
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import FACTORY
from trivium.ports import Blob
from trivium.text.tokens import Cl100kTokens

SIZE, OVERLAP, MINIMUM = 400, 80, 40
WITHIN = 10  # files of an archive that are looked at too
TOKENS = Cl100kTokens()
# No ceiling on the number of chunks: what is beyond it is left out on purpose.
CHUNKER = AutoChunker(TOKENS, SIZE, OVERLAP, MINIMUM, most=1_000_000)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    settings = {"ocr": "auto" if EVERY else "off"}  # a scan takes seconds, golden/scan.png one
    with Sandbox(2, 60.0, extractors=FACTORY, settings=settings) as made:
        yield made


@pytest.mark.parametrize("name", [*GOLDEN, *SAMPLES])
def test_what_is_read_is_in_order_and_chunks_keep_all_of_it(sandbox: Sandbox, name: str) -> None:
    waiting = [Blob(PurePath(name).name, content(name))]
    for blob in waiting:
        (read,) = sandbox.read_all([blob])
        if not isinstance(read, Extraction):
            assert isinstance(read, ReadError)
            assert read.code.startswith("file.")
            assert read.message.endswith(".")
            continue
        check_elements(read)
        check_chunks(read, CHUNKER.chunk(read))
        if blob is waiting[0]:
            waiting += [Blob(PurePath(e.name).name, e.data) for e in read.enclosed[:WITHIN]]


def check_elements(read: Extraction) -> None:
    end = paragraph = 0
    pages = read.metadata.get("pages")
    for element in read.elements:
        assert end <= element.start < element.end <= len(read.text)
        between = read.text[end : element.start]
        assert not between.strip(), f"no element holds {between[:80]!r}"
        end = element.end
        if element.paragraph is not None:
            assert element.paragraph > paragraph
            paragraph = element.paragraph
        place = element.place
        assert list(place.pages) == sorted(set(place.pages))
        assert all(1 <= page <= (pages or page) for page in place.pages)  # type: ignore[operator]
        assert {box.page for box in place.boxes} <= set(place.pages)
        assert place.rows is None or 1 <= place.rows[0] <= place.rows[1]
    assert not read.text[end:].strip()
    if read.kind is not Kind.PAPER:  # there figures and footnotes step aside for the text
        firsts = [element.place.pages[0] for element in read.elements if element.place.pages]
        assert firsts == sorted(firsts)


def check_chunks(read: Extraction, chunks: tuple[Chunk, ...]) -> None:
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.text == read.text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert list(chunk.pages) == sorted(set(chunk.pages))
    for one, following in pairwise(chunks):
        assert one.start < following.start
        assert one.end < following.end
        doubled = read.text[following.start : one.end]
        assert TOKENS.count(doubled) <= OVERLAP, f"doubled: {doubled[:80]!r}"
    kept = [(chunk.start, chunk.end) for chunk in chunks]
    if read.kind is Kind.PAPER:
        kept += find_bibliography(read)
    end = 0
    for start, stop in sorted(kept):
        assert not read.text[end:start].strip(), f"lost: {read.text[end:start][:80]!r}"
        end = max(end, stop)
    assert not read.text[end:].strip(), f"lost: {read.text[end:][:80]!r}"


def test_the_golden_files_can_all_be_read(sandbox: Sandbox) -> None:
    """Else the laws above would be kept by saying nothing."""
    for name, data in GOLDEN.items():
        if not name.endswith(".png"):
            read = sandbox.read(Blob(name, data))
            assert read.elements or read.enclosed, name
