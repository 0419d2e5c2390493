"""Figures that a blank parts are one value, under one name."""

import pytest
from bench.made_pdfs import Grid, Made, Row
from bench.pdf_writer import Sheet, build, width
from bench.reports import Counts, judge_tables, judge_text

from trivium.extract.pdf import PdfExtractor
from trivium.ports import Blob

WORDS = "The company believes that results depend on demand in each region where it sells. " * 9
SIZE, STEP = 9.0, 12.0


def page(names: list[str], rows: list[list[str]], ends: list[float]) -> Made:
    """Prose, a table whose values end at `ends`, and prose."""
    sheet, y = Sheet(), 80.0
    y = prose(sheet, y) + STEP
    for end, name in zip(ends, names, strict=True):
        sheet.put_right(end, y, name, "Times-Bold", SIZE)
    for label, *values in rows:
        y += STEP
        sheet.put(72, y, label, size=SIZE)
        for end, value in zip(ends, values, strict=True):
            sheet.put_right(end, y, value, size=SIZE)
    prose(sheet, y + 2 * STEP)
    grid = Grid(names, [Row(label, values) for label, *values in rows])
    return Made("made.pdf", build([sheet]), [grid])


def prose(sheet: Sheet, y: float) -> float:
    line = ""
    for word in WORDS.split():
        if width(f"{line} {word}", "Times-Roman", 10) > 460:
            sheet.put(72, y, line.strip())
            line, y = "", y + 12
        line += f" {word}"
    sheet.put(72, y, line.strip())
    return y


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (
            ["2023", "2022"],
            [["Sales", "1 200", "1 100"], ["Cost", "800", "700"], ["Sum", "11 400,5", "(10 400)"]],
        ),
        (
            ["Note", "2023"],
            [["Revenue", "4", "1,234"], ["Cost", "5, 6", "(612)"], ["Other", "7, 11", "—"]],
        ),
    ],
)
def test_a_blank_inside_a_value_makes_no_column(names: list[str], rows: list[list[str]]) -> None:
    made = page(names, rows, [400, 480])
    read = PdfExtractor().extract(Blob(made.name, made.data))
    counts = Counts()
    judge_text(made, read.text, counts)
    judge_tables(made, read, counts)
    assert not counts.missed
    assert counts.found["under name"] == [6, 6]


def test_columns_that_stand_close_stay_apart() -> None:
    rows = [["North", "12", "345"], ["South", "14", "678"], ["West", "15", "912"]]
    made = page(["Units", "Total"], rows, [400, 400 + width("9120", "Times-Roman", SIZE)])
    read = PdfExtractor().extract(Blob(made.name, made.data))
    assert "North | 12 | 345" in read.text


def test_years_at_the_top_of_every_page_are_names_not_page_numbers() -> None:
    sheets = []
    for number in range(4):
        sheet = Sheet()
        for x, year in ((300, "2023"), (400, "2022")):
            sheet.put(x, 60, year, "Times-Bold")
        for row in range(10):
            y = 80 + 14 * row
            sheet.put(72, y, f"Item {chr(65 + row)} of part {'abcd'[number]}")
            sheet.put(300, y, f"{100 * number + row}")
            sheet.put(400, y, f"{200 * number + row}")
        sheet.put(300, 760, f"{number + 1}")
        sheets.append(sheet)
    read = PdfExtractor().extract(Blob("years.pdf", build(sheets)))
    headers = [element.header for element in read.elements if element.kind == "table"]
    assert headers == ["– | 2023 | 2022"] * 4
    assert read.text.count("2023") == 4
    assert not any(line in "1234" for line in read.text.split("\n") if line)


@pytest.mark.parametrize("below", [80, 95])
def test_names_at_the_top_of_every_page_stay_over_their_columns(below: float) -> None:
    columns = (72.0, 300.0, 400.0)
    sheets = []
    for part in "abcde":
        sheet = Sheet()
        sheet.put(72, 30, "Statement of account", size=8)
        for x, name in zip(columns, ("Description", "Amount", "Balance carried"), strict=True):
            sheet.put(x, 60, name, "Times-Bold")
        for row in range(10):
            cells = (f"Item {chr(65 + row)} of {part}", f"{ord(part) + row}", f"{7 * row}")
            for x, cell in zip(columns, cells, strict=True):
                sheet.put(x, below + 14 * row, cell)
        sheets.append(sheet)
    read = PdfExtractor().extract(Blob("statement.pdf", build(sheets)))
    headers = [element.header for element in read.elements if element.kind == "table"]
    assert headers == ["Description | Amount | Balance carried"] * 5
    assert read.text.count("Statement of account") == 1
