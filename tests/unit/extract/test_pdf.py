"""A PDF becomes the text a person reads, in order, with headings, tables, pages and boxes."""

from __future__ import annotations

import pytest
from tests.unit.extract.test_pdf_maker import PageMaker, PdfMaker, column, paper

from trivium.core.types import Extraction, Kind
from trivium.extract.pdf import PdfExtractor
from trivium.ports import Blob

LEFT, RIGHT = 72, 324  # where the two columns begin; 36 letters of 6 points fill one


def extract(maker: PdfMaker) -> Extraction:
    return PdfExtractor().extract(Blob("folder/file.pdf", maker.build()))


def pieces(read: Extraction, kind: str = "") -> list[str]:
    return [read.text[e.start : e.end] for e in read.elements if kind in ("", e.kind)]


def two_columns(page: PageMaker, left: list[str], right: list[str], top: float = 150) -> None:
    page.lines(LEFT, top, left)
    page.lines(RIGHT, top, right)


# --- reading order ---------------------------------------------------------------------------


def test_two_columns_are_read_one_after_the_other_below_a_wide_title() -> None:
    maker = PdfMaker()
    page = maker.page()
    page.text(130, 80, "A Title Across Both Columns", size=20, font="bold")
    # Row by row, as some programs write: only the positions tell the columns.
    for index in range(20):
        page.text(LEFT, 150 + 12 * index, column("left", 20)[index])
        page.text(RIGHT, 150 + 12 * index, column("right", 20)[index])
    read = extract(maker)
    assert read.title == "A Title Across Both Columns"
    assert pieces(read)[0] == read.title
    assert read.text.rindex("left") < read.text.index("right")


def test_a_wide_line_between_columns_parts_them() -> None:
    maker = PdfMaker()
    page = maker.page()
    two_columns(page, column("one", 12), column("two", 12), top=100)
    page.text(LEFT, 290, "Figure 1: a caption that runs across both columns of the page.")
    two_columns(page, column("three", 12), column("four", 12), top=340)
    read = extract(maker)
    order = [read.text.index(word) for word in ("one", "two", "Figure", "three", "four")]
    assert order == sorted(order)


def test_a_paragraph_runs_on_over_columns_and_pages_and_a_footnote_stays_out() -> None:
    maker = PdfMaker()
    page = maker.page()
    first = [*column("alpha", 12)[:-1], "alpha alpha alpha alpha alpha and co"]
    two_columns(page, first, ["ntinues here at the top of the right", *column("beta", 10)])
    page.text(LEFT, 310, "1 A footnote below the column.", size=7)
    read = extract(maker)
    body = next(piece for piece in pieces(read) if piece.startswith("alpha"))
    assert "alpha and co ntinues here at the top" in body
    assert "footnote" not in body
    assert "1 A footnote below the column." in pieces(read)


def test_a_paragraph_that_a_page_parts_is_one_element_on_two_pages() -> None:
    maker = PdfMaker()
    width = 70
    maker.page().lines(72, 100, [line.rstrip(".") + "x" for line in column("text", 40, width)])
    maker.page().lines(72, 100, ["goes on", *column("more", 5, width)])
    element = extract(maker).elements[0]
    assert element.place.pages == (1, 2)
    assert [box.page for box in element.place.boxes] == [1, 2]


def test_a_paragraph_on_three_pages_says_where_each_begins() -> None:
    maker = PdfMaker()
    for number in (1, 2, 3):
        lines = [line.rstrip(".") + "x" for line in column(f"page{number}", 40, 70)]
        maker.page().lines(72, 100, ["goes on", *lines] if number > 1 else lines)
    read = extract(maker)
    element = read.elements[0]
    overleaf = [at for at in range(len(read.text)) if read.text.startswith("goes on", at)]
    assert [start.number for start in element.place.page_starts] == [1, 2, 3]
    assert [start.start for start in element.place.page_starts] == [0, *overleaf]


# --- words -----------------------------------------------------------------------------------


def test_words_broken_at_a_lines_end_are_joined_and_real_hyphens_kept() -> None:
    maker = PdfMaker()
    lines = [
        "A long-term study of the search en-",
        "gine shows that a well-known method",
        "is a long-",
        "term success, and so is the state-of-",
        "the-art. Nothing else is said here.",
    ]
    maker.page().lines(72, 100, lines)
    text = extract(maker).text
    assert "search engine shows" in text
    assert "is a long-term success" in text
    assert "state-of-the-art" in text


# --- what belongs to no page -----------------------------------------------------------------


def reviewed(pages: int) -> PdfMaker:
    maker = PdfMaker()
    for number in range(1, pages + 1):
        page = maker.page()
        page.text(150, 40, "Confidential review copy of paper 17")
        page.text(300, 760, str(number))
        for index in range(40):
            page.text(20, 100 + 15 * index, f"{(number - 1) * 40 + index:03}", size=7)
        page.lines(120, 100, column(f"word{'abc'[number - 1]}", 40, 60), step=15)
    return maker


def test_running_heads_page_numbers_and_line_numbers_are_dropped() -> None:
    text = extract(reviewed(3)).text
    assert text.count("Confidential review copy of paper 17") == 1  # the first copy stays
    assert not any(part.isdigit() for part in text.replace("paper 17", "").split())
    assert text.startswith("worda")


def test_numbers_of_a_list_are_no_line_numbers() -> None:
    maker = PdfMaker()
    page = maker.page()
    for index in range(6):
        page.text(72, 100 + 15 * index, str(index + 1))
        page.text(100, 100 + 15 * index, f"entry {'abcdef'[index]} of the list")
    assert "3 entry c of the list" in extract(maker).text.replace("|", "").replace("  ", " ")


def test_watermarks_and_stamps_in_the_margin_are_dropped() -> None:
    maker = PdfMaker()
    page = maker.page()
    page.text(30, 500, "arXiv:1234.5678v1 [cs.CL] 1 Jan 2020", size=14, turn="up")
    page.text(100, 700, "DRAFT", size=80, turn="aslant")
    page.lines(100, 100, column("body", 20, 60))
    text = extract(maker).text
    assert "arXiv" not in text
    assert "DRAFT" not in text
    assert text.startswith("body")


# --- structure -------------------------------------------------------------------------------


def test_a_papers_sections_get_headings_with_levels_and_paths() -> None:
    read = extract(paper())
    headings = [(e.level, read.text[e.start : e.end]) for e in read.elements if e.kind == "heading"]
    assert headings == [
        (1, "On the Making of Indexes"),
        (2, "Abstract"),
        (2, "1 Introduction"),
        (3, "1.1 Why indexes"),
        (2, "2 Methods"),
        (2, "References"),
    ]
    paths = {read.text[e.start : e.start + 6]: e.headings for e in read.elements}
    assert paths["reason"] == ("On the Making of Indexes", "1 Introduction", "1.1 Why indexes")
    assert paths["Donald"] == ("On the Making of Indexes", "References")
    numbers = [e.paragraph for e in read.elements if e.kind != "heading"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_paper_is_known_by_abstract_and_references_and_says_who_and_when() -> None:
    read = extract(paper())
    assert read.kind is Kind.PAPER
    assert read.metadata["authors"] == ("Ada Lovelace", "Charles Babbage")
    assert read.metadata["year"] == 2019
    assert read.metadata["pages"] == 2
    assert read.title == "On the Making of Indexes"


def test_an_abstract_whose_name_opens_its_text_gets_a_heading_too() -> None:
    maker = PdfMaker()
    page = maker.page()
    page.text(72, 100, "Abstract.", font="bold")
    page.text(132, 100, "This text tells in short what the")
    page.lines(72, 112, column("rest", 8, 43))
    assert pieces(extract(maker))[:1] == ["Abstract"]
    assert pieces(extract(maker))[1].startswith("This text tells")


def test_the_outline_makes_headings_of_lines_that_look_like_any_other() -> None:
    def made(outline: list[tuple[str, int]]) -> list[str]:
        maker = PdfMaker(outline=outline)
        page = maker.page()
        page.lines(72, 100, column("before", 5, 60))
        page.text(72, 160, "of ships and sealing wax")
        page.lines(72, 172, column("after", 5, 60))
        return pieces(extract(maker), "heading")

    assert made([("Of Ships and Sealing Wax", 0)]) == ["of ships and sealing wax"]
    assert made([]) == []


def test_a_table_keeps_its_rows_and_names_its_header() -> None:
    maker = PdfMaker()
    page = maker.page()
    y = page.lines(72, 100, column("text", 4, 70)) + 20
    for row in (("Model", "Precision", "Recall"), ("Tree", "0.71", "0.50"), ("Net", "", "0.93")):
        for x, cell in zip((72, 200, 300), row, strict=True):
            if cell:
                page.text(x, y, cell)
        y += 12
    page.text(72, y, "Forest")
    page.text(200, y, "0.75")
    page.text(300, y, "0.61")
    page.text(72, y + 24, "Table 1: What was measured.")
    read = extract(maker)
    table = next(e for e in read.elements if e.kind == "table")
    assert read.text[table.start : table.end].split("\n") == [
        "Model | Precision | Recall",
        "Tree | 0.71 | 0.50",
        "Net |  | 0.93",
        "Forest | 0.75 | 0.61",
    ]
    assert table.header == "Model | Precision | Recall"


def test_items_of_a_list_are_elements_of_their_own() -> None:
    maker = PdfMaker()
    page = maker.page()
    y = page.lines(72, 100, column("text", 4, 60))
    page.text(84, y + 4, "\u2022 the first thing that counts")
    page.text(84, y + 16, "\u2022 the second thing that counts")
    assert pieces(extract(maker), "list_item") == [
        "\u2022 the first thing that counts",
        "\u2022 the second thing that counts",
    ]


def test_captions_among_the_references_stand_before_them() -> None:
    maker = paper()
    maker.pages[-1].text(72, 300, "Figure 9: A curve that the printer put here.")
    read = extract(maker)
    caption = next(e for e in read.elements if read.text.startswith("Figure 9", e.start))
    assert "References" not in caption.headings


# --- places ----------------------------------------------------------------------------------


def test_the_box_of_a_paragraph_covers_its_lines() -> None:
    maker = PdfMaker()
    maker.page().lines(100, 200, column("text", 5, 50))
    box = extract(maker).elements[0].place.boxes[0]
    assert box.page == 1
    assert box.left == pytest.approx(100, abs=1)
    assert box.right == pytest.approx(100 + 50 * 6, abs=1)
    assert 188 < box.top < 194
    assert 248 < box.bottom < 254


def test_a_page_turned_by_its_viewer_is_measured_as_it_is_seen() -> None:
    maker = PdfMaker()
    page = maker.page(612, 792, rotate=90)
    # Written upwards on the sheet, so that it is level once the viewer turns the page.
    for index, line in enumerate(column("text", 5, 50)):
        page.text(100 + 12 * index, 700, line, turn="up")
    read = extract(maker)
    assert read.text.startswith("text text")
    box = read.elements[0].place.boxes[0]
    assert (box.left, box.right) == (pytest.approx(92, abs=2), pytest.approx(392, abs=2))
    assert 88 < box.top < 100
    assert 146 < box.bottom < 155


def test_a_table_set_sideways_beside_level_text_is_kept() -> None:
    maker = PdfMaker()
    page = maker.page()
    page.lines(72, 100, column("level", 20, 60))
    for index in range(6):
        page.text(400 + 14 * index, 700, f"Sideways row number {index} of the table", turn="up")
    read = extract(maker).text
    assert read.index("level") < read.index("Sideways row number 0")
    assert "Sideways row number 5 of the table" in read


def test_a_page_printed_sideways_is_read_and_its_box_lies_on_the_page() -> None:
    maker = PdfMaker()
    page = maker.page()
    for index, line in enumerate(column("text", 5, 50)):
        page.text(100 + 12 * index, 700, line, turn="up")
    read = extract(maker)
    assert len(read.elements) == 1
    box = read.elements[0].place.boxes[0]
    assert (box.top, box.bottom) == (pytest.approx(400, abs=2), pytest.approx(700, abs=2))
    assert 88 < box.left < 100
    assert 146 < box.right < 155
