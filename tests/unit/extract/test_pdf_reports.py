"""Annual reports and their like: rows, headers, running heads, order and titles come through."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench.made_pdfs import (
    Made,
    boxes,
    copied_letters,
    ideographs,
    numbered_rows,
    only_numbers,
    report,
    right_to_left,
    three_columns,
)
from bench.pdf_writer import Sheet, build
from bench.reports import judge

from trivium.extract.pdf import PdfExtractor
from trivium.ports import Blob
from trivium.types import Extraction


def read(*sheets: Sheet, info: dict[str, str] | None = None) -> Extraction:
    return PdfExtractor().extract(Blob("folder/file.pdf", build(list(sheets), info)))


def rows_at(sheet: Sheet, y: float, rows: list[tuple[str, ...]], ends: tuple[float, ...]) -> float:
    """Labels at the left margin, values right-aligned; returns the next baseline."""
    for label, *values in rows:
        if label:
            sheet.put(72, y, label)
        for value, end in zip(values, ends, strict=False):
            sheet.put_right(end, y, value)
        y += 14
    return y


@pytest.mark.parametrize("seed", range(4))
def test_every_row_of_a_report_is_a_line_under_the_right_names(seed: int) -> None:
    measures = judge([report(seed)])["measures"]
    assert measures["own line"] >= 99.0
    for name in ("right header", "under name", "has header", "titles", "numbers dropped", "kept"):
        assert measures[name] == 100.0, name


@pytest.mark.parametrize("make", [numbered_rows, copied_letters, boxes, only_numbers])
def test_text_that_looks_like_running_heads_stays(make: Callable[[], Made]) -> None:
    assert judge([make()])["measures"]["kept"] == 100.0


@pytest.mark.parametrize("make", [three_columns, right_to_left, ideographs])
def test_lines_are_read_in_order(make: Callable[[], Made]) -> None:
    assert judge([make()])["missed"] == []


def test_a_header_without_a_first_cell_shifts_nothing() -> None:
    sheet = Sheet()
    rows_at(
        sheet,
        100,
        [("", "2023", "2022"), ("Sales", "$ 40", "$ 38"), ("Loss", "(40)", "—"), ("", "80", "38")],
        (300, 400),
    )
    got = read(sheet)
    assert got.text == "– | 2023 | 2022\nSales | $40 | $38\nLoss | (40) | —\n– | 80 | 38"
    assert got.elements[0].header == "– | 2023 | 2022"


def test_names_over_several_columns_go_to_each() -> None:
    sheet = Sheet()
    sheet.put_centred(340, 86, "Years ended May 31,")
    rows_at(
        sheet, 100, [("", "2023", "2022"), ("Sales", "40", "38"), ("Loss", "4", "3")], (300, 400)
    )
    header = read(sheet).elements[0].header
    assert header == "– | Years ended May 31, 2023 | Years ended May 31, 2022"


def test_a_table_that_begins_with_data_has_no_header() -> None:
    sheet = Sheet()
    rows_at(
        sheet, 100, [("Sales", "40", "38"), ("Loss", "(4)", "(3)"), ("Sum", "36", "35")], (300, 400)
    )
    assert [element.header for element in read(sheet).elements] == [""]


def test_a_table_that_goes_on_overleaf_keeps_its_header() -> None:
    first, second = Sheet(), Sheet()
    rows = [(f"Quay {at}", str(10 * at + 101), str(7 * at + 103)) for at in range(80)]
    rows_at(first, 100, [("", "2023", "2022"), *rows[:40]], (300, 400))
    rows_at(second, 100, rows[40:], (300, 400))
    assert [element.header for element in read(first, second).elements] == ["– | 2023 | 2022"] * 2


def test_numbers_counted_in_one_margin_of_one_page_are_a_table() -> None:
    sheet = Sheet()
    for at in range(1, 21):
        sheet.put(60, 80 + 20 * at, str(at))
        sheet.put(120, 80 + 20 * at, f"Berth of the {'abcdefghijklmnopqrst'[at - 1]} quay")
    text = read(sheet).text.replace(" | ", " ")
    assert "7 Berth of the g quay" in text


def test_a_forms_name_is_no_title_but_the_company_is() -> None:
    sheet = Sheet()
    sheet.put_centred(306, 80, "ANNUAL REPORT", "Times-Bold", 24)
    sheet.put_centred(306, 140, "Harbour & Sons Ltd.", "Times-Bold", 12)
    sheet.put_centred(306, 160, "For the year ended March 31, 2021")
    sheet.put(72, 200, "The harbour was open on every day of the year but two.")
    got = read(sheet)
    assert got.title == "Harbour & Sons Ltd., ANNUAL REPORT, March 31, 2021"
    assert not any("REPORT" in heading for e in got.elements for heading in e.headings)


@pytest.mark.parametrize(
    ("info", "title"), [({"Title": "Dues of the Harbour"}, "Dues of the Harbour"), ({}, "file")]
)
def test_what_the_file_says_of_itself_comes_before_its_name(
    info: dict[str, str], title: str
) -> None:
    sheet = Sheet()
    sheet.put_centred(306, 80, "FORM 7-B", "Times-Bold", 24)
    sheet.put(72, 200, "The harbour was open on every day of the year but two.")
    assert read(sheet, info=info).title == title
