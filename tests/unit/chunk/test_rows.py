"""Rows are grouped under their header, and every chunk knows its sheet and rows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.chunk.laws import check_cover

from trivium.chunk.messages import RowsChunker
from trivium.core.types import Chunk, Element, Extraction, Kind, Place
from trivium.extract.tables import read_table
from trivium.ports import Blob
from trivium.text.tokens import Cl100kTokens

TOKENS = Cl100kTokens()

Row = tuple[str, str, str]  # sheet, header, cells


def table(*rows: Row) -> Extraction:
    text = ""
    elements = []
    for number, (sheet, header, cells) in enumerate(rows, 1):
        text += "\n" if text else ""
        start = len(text)
        text += cells
        place = Place(sheet=sheet, rows=(number, number))
        elements.append(Element("row", start, len(text), header=header, place=place))
    return Extraction(text, tuple(elements), "Prices", "text/csv", kind=Kind.TABLE)


def csv(source: str) -> Extraction:
    return read_table.extract(Blob("prices.csv", source.encode()))


def check(extraction: Extraction, chunks: tuple[Chunk, ...], size: int, overlap: int) -> None:
    check_cover(extraction, chunks, TOKENS, size, overlap)
    for chunk in chunks:
        header = TOKENS.count(chunk.header) if chunk.header else 0
        assert chunk.tokens + header <= size or header > size // 2


CELLS = st.lists(
    st.sampled_from(["a", "12", "3.14", "naïve", "日本語", "x" * 30, "words in a cell."]),
    min_size=1,
    max_size=30,
).map(" | ".join)
ROW = st.tuples(
    st.sampled_from(["", "Sheet2"]), st.sampled_from(["", "h", "name | price", "h | " * 60]), CELLS
)


@settings(deadline=None)
@given(st.lists(ROW, min_size=1, max_size=30), st.sampled_from([(400, 80), (64, 16), (32, 0)]))
def test_any_table(rows: list[Row], sizes: tuple[int, int]) -> None:
    extraction = table(*rows)
    chunks = RowsChunker(TOKENS, *sizes, minimum=0).chunk(extraction)
    check(extraction, chunks, *sizes)
    for chunk in chunks:
        touched = [e for e in extraction.elements if e.start < chunk.end and chunk.start < e.end]
        assert {e.place.sheet for e in touched} == {chunk.place.sheet}
        numbers = [n for e in touched if e.place.rows for n in e.place.rows]
        assert chunk.place.rows == (min(numbers), max(numbers))
        assert {e.header for e in touched} - {""} <= {chunk.header, touched[-1].header}
    for element in extraction.elements:
        inside = [c for c in chunks if c.start < element.end and element.start < c.end]
        if TOKENS.count(extraction.text[element.start : element.end]) <= sizes[0] // 2:
            assert len(inside) == 1  # whole, and once


def test_every_chunk_but_the_first_repeats_the_header() -> None:
    rows = "\n".join(f"item {n},{n} gold pieces" for n in range(200))
    extraction = csv(f"name,price\n{rows}\n")
    chunks = RowsChunker(TOKENS).chunk(extraction)
    check(extraction, chunks, 400, 0)
    assert len(chunks) > 3
    assert chunks[0].text.startswith("name | price\nitem 0")
    assert chunks[0].header == ""
    assert all(chunk.header == "name | price" for chunk in chunks[1:])
    assert chunks[1].embedded_text.startswith("prices\nname | price\nitem ")
    assert chunks[0].place.rows is not None
    assert chunks[0].place.rows[0] == 1
    assert chunks[-1].place.rows is not None
    assert chunks[-1].place.rows[1] == 201
    assert all(chunk.tokens > 350 for chunk in chunks[:-1])


def test_sheets_and_tables_stay_apart() -> None:
    extraction = table(
        ("One", "", "a | b"),
        ("One", "a | b", "1 | 2"),
        ("One", "", "c | d"),
        ("One", "c | d", "3 | 4"),
        ("Two", "c | d", "5 | 6"),
    )
    chunks = RowsChunker(TOKENS).chunk(extraction)
    assert [(c.text, c.header, c.place.sheet, c.place.rows) for c in chunks] == [
        ("a | b\n1 | 2", "", "One", (1, 2)),
        ("c | d\n3 | 4", "", "One", (3, 4)),
        ("5 | 6", "c | d", "Two", (5, 5)),
    ]


def test_a_header_that_is_not_in_the_text_is_given() -> None:
    chunks = RowsChunker(TOKENS).chunk(table(("", "a | b", "1 | 2"), ("", "a | b", "3 | 4")))
    assert [(c.text, c.header) for c in chunks] == [("1 | 2\n3 | 4", "a | b")]


def test_a_long_row_is_cut_and_keeps_header_and_place() -> None:
    long = "The quick brown fox jumps over the lazy dog. " * 90
    extraction = table(("S", "a", "short"), ("S", "a", long.strip()), ("S", "a", "end"))
    chunks = RowsChunker(TOKENS).chunk(extraction)
    check(extraction, chunks, 400, 80)
    assert chunks[0].text == "short"
    assert chunks[-1].text == "end"
    for chunk in chunks[1:-1]:
        assert (chunk.header, chunk.place.sheet, chunk.place.rows) == ("a", "S", (2, 2))


def test_a_header_as_long_as_the_size_leaves_half_of_it() -> None:
    header = " | ".join(f"column {n}" for n in range(150))
    chunks = RowsChunker(TOKENS).chunk(table(*[("", header, "a | b | c | d")] * 100))
    assert all(chunk.tokens <= 200 for chunk in chunks)
    assert len(chunks) < 10


@pytest.mark.timeout(300)  # a hang, not a speed: that is measured in bench/
def test_time_is_linear_in_length() -> None:
    extraction = table(*[("S", "name | price", f"item {n} | {n}") for n in range(30_000)])
    chunks = RowsChunker(TOKENS).chunk(extraction)
    assert chunks[-1].place.rows == (chunks[-2].place.rows[1] + 1, 30_000)  # type: ignore[index]


def test_fingerprint_names_everything_that_decides() -> None:
    assert RowsChunker(TOKENS, 300, 60, 30).fingerprint == (
        "RowsChunker/2 size=300 overlap=60 minimum=30 tokens=cl100k_base"
    )


def test_the_parts_of_a_row_that_is_cut_repeat_its_name() -> None:
    notes = " | ".join(f"note {n} on the harbour" for n in range(200))
    chunks = RowsChunker(TOKENS, 100, 20, 10).chunk(table(("", "id | notes", f"Heron 7 | {notes}")))
    assert len(chunks) > 5
    assert all(chunk.headings[-1] == "Heron 7" for chunk in chunks[1:])
