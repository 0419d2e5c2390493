"""Annual reports and their like: rows, headers, running heads, order and titles come through."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench.made_pdfs import (
    Made,
    boxes,
    contract,
    copied_letters,
    ideographs,
    numbered_rows,
    only_numbers,
    report,
    right_to_left,
    scanned_prose,
    three_columns,
    wrapped_cells,
)
from bench.pdf_writer import SCRIPT, Sheet, build
from bench.reports import judge

from trivium.core.types import Extraction
from trivium.extract.pdf import PdfExtractor, compose
from trivium.ports import Blob


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


def test_sections_of_a_contract_are_headings_and_its_feet_go() -> None:
    measures = judge([contract()])["measures"]
    for name in ("sections", "not repeated", "numbers dropped"):
        assert measures[name] == 100.0, name


@pytest.mark.parametrize(
    "make", [three_columns, right_to_left, ideographs, wrapped_cells, scanned_prose]
)
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


def test_a_header_of_many_lines_over_a_named_part_is_one_line_of_names() -> None:
    sheet = Sheet()
    for y, *names in ((58, "Gross", "Net"), (72, "carrying", "carrying"), (86, "amount", "amount")):
        for name, middle in zip(names, (300, 400), strict=True):
            sheet.put_centred(middle, y, str(name))
    rows = [("(Millions)", "2023", "2022"), ("Assets",), ("Licences", "40", "38")]
    rows_at(sheet, 100, [*rows, ("Brands", "7", "9"), ("Sum", "47", "47")], (312, 412))
    got = read(sheet)
    names = "(Millions) | Gross carrying amount 2023 | Net carrying amount 2022"
    assert got.elements[0].header == names
    assert got.text.split("\n")[:3] == [names, "Assets", "Licences | 40 | 38"]


def test_years_beside_their_figures_make_no_empty_columns() -> None:
    sheet = Sheet()
    rows_at(sheet, 100, [("(Per cent)", "2023", "2022")], (240, 340))
    rows = [("Cost", "53.4%", "50.9%"), ("Margin", "19.2%", "22.0%"), ("Tax", "7.1%", "9.0%")]
    rows_at(sheet, 114, rows, (290, 390))
    assert read(sheet).text.split("\n")[:2] == ["(Per cent) | 2023 | 2022", "Cost | 53.4% | 50.9%"]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (  # the figures beside the last line of their label
            [("Derivatives not subject to",), ("netting agreements", "5", "7")],
            "Derivatives not subject to netting agreements | 5 | 7",
        ),
        (  # between the lines of their label
            [("Income attributable to the",), ("", "5", "7"), ("holders of common stock",)],
            "Income attributable to the holders of common stock | 5 | 7",
        ),
        (
            [("Deposits at banks", "5", "7"), ("and brokers",)],
            "Deposits at banks and brokers | 5 | 7",
        ),
        ([("Assets held for",), ("Sale", "5", "7")], "Assets held for Sale | 5 | 7"),
    ],
)
def test_a_label_over_several_lines_stands_with_its_figures(
    rows: list[tuple[str, ...]], wanted: str
) -> None:
    sheet = Sheet()
    head = [("", "2023", "2022"), ("Cash at the end of the year", "4", "2"), ("Fixed assets:",)]
    rows_at(sheet, 100, [*head, *rows, ("Tax", "1", "2")], (300, 400))
    lines = read(sheet).text.split("\n")
    assert lines[2:] == ["Fixed assets:", wanted, "Tax | 1 | 2"]


def test_cells_of_words_over_several_lines_are_one_row() -> None:
    """As in the lists of standards in annual reports (patronus-ai/financebench, American Water
    Works 2015, page 76)."""
    sheet = Sheet()
    rows = [
        ("Standard", "Description", "Adopted", "Effect"),
        ("Leases", "Asks to recognise leases in the", "January 1,", "The company reduced"),
        ("of land", "balance sheet, with few", "2019", "other assets by the"),
        ("", "exceptions.", "", "amount owed."),
        ("Revenue", "Asks to recognise revenue as", "January 1,", "None."),
        ("", "control passes.", "2018", ""),
    ]
    for at, cells in enumerate(rows):
        for x, cell in zip((60, 130, 330, 430), cells, strict=True):
            sheet.put(x, 100 + 14 * at, cell)
    assert read(sheet).text.split("\n")[1:] == [
        "Leases of land | Asks to recognise leases in the balance sheet, with few exceptions."
        " | January 1, 2019 | The company reduced other assets by the amount owed.",
        "Revenue | Asks to recognise revenue as control passes. | January 1, 2018 | None.",
    ]


def test_prose_of_a_scan_is_no_table() -> None:
    """A text layer set in narrower letters than the page (docling's a_catalogue_of_optimizing_
    transformations): every word stands alone, and many begin below each other."""
    sheet = Sheet()
    prose = (
        "based upon the dependency relations which are",
        "found to exist between expressions in different",
        "basic blocks as well as in the same",
        "block and in the graph that represents the",
    )
    for at, line in enumerate(prose):
        x = 72.0
        for word in line.split():
            sheet.put(x, 100 + 14 * at, word)
            x += 9.0 * (len(word) + 1)
    assert read(sheet).text == " ".join(prose)
    assert [element.kind for element in read(sheet).elements] == ["paragraph"]


def test_lines_far_apart_that_fill_their_column_are_one_paragraph() -> None:
    """As in the plans that reports enclose (patronus-ai/financebench, PepsiCo 2020)."""
    sheet = Sheet()
    prose = "the harbour of the company has a quay for every ship that comes in at night and it"
    for at in range(30):
        sheet.put(72, 100 + 12 * at, f"{prose} {at}")
    for at, word in enumerate(("Salaried", "Plan", "Factors", "are")):
        sheet.put(72, 500 + 24 * at, f"{word} {prose} x")
    last = read(sheet).text.split("\n\n")[-1]
    assert last.startswith("Salaried")
    assert last.endswith(f"are {prose} x")


def test_small_capitals_are_one_word_with_their_large_letter() -> None:
    sheet = Sheet()
    places = (("MGM", 72, 19), ("R", 134, 19), ("ESORTS", 152, 13), ("A", 210, 19))
    for word, x, size in (*places, ("Ship", 228, 13)):
        sheet.put(x, 100, word, size=size)
    assert read(sheet).text == "MGM RESORTS A Ship"


def test_labels_of_a_drawing_are_no_rows_of_empty_cells() -> None:
    sheet = Sheet()
    for row in range(8):
        sheet.put(40, 100 + 14 * row, f"Device {row}")
        for label, column in enumerate((row, row + 1, row + 5)):
            sheet.put(110 + 30 * column, 100 + 14 * row, str(label))
    lines = read(sheet).text.split("\n")
    assert lines == [f"Device {row} | 0 | 1 | 2" for row in range(8)]


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
    ("info", "title"),
    [
        ({"Title": "Dues of the Harbour"}, "Dues of the Harbour"),
        ({"Title": "Q4 22_HarbourRelease"}, "file"),
        ({}, "file"),
    ],
)
def test_what_the_file_says_of_itself_comes_before_its_name(
    info: dict[str, str], title: str
) -> None:
    sheet = Sheet()
    sheet.put_centred(306, 80, "FORM 7-B", "Times-Bold", 24)
    sheet.put(72, 200, "The harbour was open on every day of the year but two.")
    assert read(sheet, info=info).title == title


def test_a_sign_like_the_mark_for_numbers_is_no_number() -> None:
    """A filing was lost: "# 1 of 20" on one page and "3 1 of 20" on another were the same line
    with one number and with two."""
    sheets = []
    for at in range(1, 5):
        sheet = Sheet()
        sheet.put(72, 300, f"Berth {at} of the quay was dredged in the spring.")
        sheet.put(72, 760, "# 1 of 20" if at % 2 else "3 1 of 20", size=8)
        sheets.append(sheet)
    text = read(*sheets).text
    assert all(f"Berth {at} of the quay" in text for at in range(1, 5))


def test_a_fault_of_ours_keeps_the_words_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(pages: object) -> None:
        raise ValueError("zip() argument 2 is longer than argument 1")

    monkeypatch.setattr(compose, "drop_running", faulty)
    sheets = []
    for at in range(3):
        sheets.append(Sheet())
        sheets[-1].put(72, 100, f"Quay {at} was dredged")
        sheets[-1].put(72, 114, "in the spring.")
    got = read(*sheets)
    assert [got.text[e.start : e.end] for e in got.elements] == [
        f"Quay {at} was dredged\nin the spring." for at in range(3)
    ]
    assert [e.place.pages for e in got.elements if e.place] == [(1,), (2,), (3,)]
    assert "ValueError: zip()" in str(got.metadata["reading_fault"])


def test_a_fault_on_one_page_costs_that_page(monkeypatch: pytest.MonkeyPatch) -> None:
    from trivium.extract.pdf import glyphs

    sound = glyphs.read_page

    def faulty(page: object, text: object, number: int) -> object:
        if number == 2:
            raise IndexError("list index out of range")
        return sound(page, text, number)

    monkeypatch.setattr(glyphs, "read_page", faulty)
    sheets = [Sheet() for _ in range(3)]
    for at, sheet in enumerate(sheets, 1):
        sheet.put(72, 100, f"Quay {at} was dredged in the spring.")
    got = read(*sheets)
    assert "Quay 1" in got.text
    assert "Quay 3" in got.text
    assert got.metadata["pages_failed"] == 1
    assert "IndexError" in str(got.metadata["reading_fault"])
    monkeypatch.setattr(glyphs, "read_page", lambda *_: 1 / 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        read(*sheets)


def floating(numbers: list[str]) -> Extraction:
    """A page for each number, which stands right below text of another height on every page."""
    sheets = []
    for at, number in enumerate(numbers):
        sheet = Sheet()
        y = 80.0
        for line in range(6 + 5 * (at % 4)):
            tide = "abcdefghijklmnopqrstuvwxyz"[line]
            sheet.put(72, y, f"of berth {tide} the harbour master noted the tide and went on to")
            y += 12
        sheet.put_centred(306, y + 4, number)
        sheets.append(sheet)
    return read(*sheets)


@pytest.mark.parametrize(
    "form",
    ["{}", "- {} -", "F-{}", "Page {} of 90", "2022 Form 10-K Page {}", "Annual Report | {}"],
)
def test_a_page_number_that_floats_under_the_text_goes(form: str) -> None:
    text = floating([form.format(number) for number in range(17, 26)]).text
    left = [number for number in range(17, 26) if f"{number}" in text]
    assert left in ([], [17])  # the first copy of words stays
    assert left == [] or "Annual" in form or "Form" in form
    assert text.count("went on to of berth a") >= 7


def test_a_contract_in_larger_type_has_page_numbers_too() -> None:
    """130 numbers of Pfizer's 10-K of 2018 stayed in the contract behind it."""
    sheets = []
    for at in range(30):
        sheet, y = Sheet(), 60.0
        for line in range(12 + at % 4):
            sheet.put(
                72,
                y,
                f"of berth {'abcdefghijklmnopq'[line]} they noted the tide",
                size=8 if at < 20 else 12,
            )
            y += 15
        sheet.put_centred(306, y + 12, str(at + 5), size=8 if at < 20 else 12)
        sheets.append(sheet)
    text = read(*sheets).text
    assert not any(sign.isdecimal() for sign in text)


def test_page_numbers_may_be_missing_from_some_pages() -> None:
    skipping = ["14", "15", "17", "18", "19", "20", "22", "23"]
    skipping[2:2] = ["is"]
    skipping[-2:-2] = ["was"]
    text = floating(skipping).text
    assert not any(sign.isdecimal() for sign in text)


def test_numbers_that_count_no_pages_stay() -> None:
    for numbers in (["4", "9", "2", "7", "1", "8"], ["10", "20", "30", "40", "50", "60"]):
        assert set(numbers) <= set(floating(numbers).text.split())


def test_letters_of_a_ligature_that_runs_left_stand_as_they_are_typed() -> None:
    """A glyph of lam and alef: the word is meshkilat, "problems"."""
    sheet = Sheet()
    sheet.put(100, 100, "\u062a\uab00\u0643\u0634\u0645", SCRIPT)  # as printed, from the left
    data = build([sheet])
    old, next_old = b"<AB00> <ABFF> <AB00>", b"<AC00> <ACFF> <AC00>"
    assert old in data
    data = data.replace(old, b"<AB00><AB00><06440627>")  # one glyph, two letters
    data = data.replace(next_old, next_old.replace(b" ", b""))  # the file keeps its length
    got = PdfExtractor().extract(Blob("a.pdf", data))
    assert got.text == "\u0645\u0634\u0643\u0644\u0627\u062a"


def filing() -> Sheet:
    """The beginning of an annual report: parts, items and subheadings as companies set them."""
    sheet = Sheet()
    prose = "Our operations depend on suppliers and customers in many countries of the world, and"
    bold, italic = "Times-Bold", "Times-Italic"
    sheet.put(72, 72, "Fabrikam Mining Corporation", bold, 18)
    y = 90.0
    for label, face in (
        ("PART I", bold), ("Item 1.|Business", bold), ("Overview", bold), ("", ""),
        ("Seasonality", italic), ("", ""), ("Item 1A.|Risk Factors", bold), ("", ""),
        ("PART II", bold), ("Item 5.|Market for Shares", bold), ("", ""),
        ("SELECT NAME FROM STAFF WHERE ID = 5", bold), ("", ""),
    ):  # fmt: skip
        y += 12
        name, _, title = label.partition("|")
        if title:
            sheet.put(72, y, name, face)
            sheet.put(140, y, title, face)
        elif name:
            sheet.put(72, y, name, face)
        for _ in range(0 if label else 3):
            sheet.put(72, y, prose)
            y += 12
        y += 12
    return sheet


def test_headings_that_are_only_set_apart_are_found_with_their_level() -> None:
    """526 of 3,893 chunks of real filings ended in a heading that wasn't recognised."""
    read_back = read(filing())
    headings = [
        (e.level, read_back.text[e.start : e.end])
        for e in read_back.elements
        if e.kind == "heading"
    ]
    assert headings == [
        (1, "Fabrikam Mining Corporation"),
        (1, "PART I"),
        (2, "Item 1. Business"),
        (3, "Overview"),
        (4, "Seasonality"),
        (2, "Item 1A. Risk Factors"),
        (1, "PART II"),
        (2, "Item 5. Market for Shares"),
    ]


def test_bold_lines_that_end_within_a_sentence_are_no_heading() -> None:
    """As in the award agreements behind Nike's 10-K of 2015 (financebench)."""
    clause = (
        "The Recipient who directly or indirectly owns or manages",
        "or controls or takes part in the ownership or management",
        "or control of or becomes employed by or consults for any",
        "business that is engaged anywhere in the world in the",
    )
    sheet = Sheet()
    sheet.put(72, 60, "Section 101. Competition", "Helvetica-Bold")
    for row in range(6):
        sheet.put(72, 84 + 12 * row, "The terms below hold for every award that the plan has made")
    for row, text in enumerate(clause):
        sheet.put(72, 180 + 12 * row, text, "Helvetica-Bold")
    for row in range(4):
        sheet.put(72, 250 + 12 * row, "Shares that are not settled by then are forfeited, and none")
    result = read(sheet)
    headings = [result.text[e.start : e.end] for e in result.elements if e.kind == "heading"]
    assert headings == ["Section 101. Competition"]
    assert "anywhere in the world in the" in result.text


def test_a_listing_keeps_its_lines_and_indents() -> None:
    sheet = Sheet()
    for row in range(6):
        sheet.put(72, 72 + 12 * row, "The program below adds the two numbers that it is given, and")
    for row, (indent, text) in enumerate(
        ((0, "def add(a, b):"), (4, "total = a + b"), (4, "return total"))
    ):
        sheet.put(72 + indent * 6, 160 + 12 * row, text, "Courier")
    result = read(sheet)
    code = [result.text[e.start : e.end] for e in result.elements if e.kind == "code"]
    assert code == ["def add(a, b):\n    total = a + b\n    return total"]


def headings_of(got: Extraction) -> list[tuple[int, str]]:
    return [(e.level, got.text[e.start : e.end]) for e in got.elements if e.kind == "heading"]


PROSE = "The harbour master noted the tide and went on to the mole, where he"


def test_heads_of_several_lines_go_from_the_pages_of_their_part() -> None:
    """PART II and Item 8 stand one below the other on 103 pages of Microsoft's 10-K of 2017."""
    sheets = []
    for at in range(14):
        sheet = Sheet()
        sheet.put_centred(306, 20, "PART II", size=8)
        sheet.put_centred(306, 29, "Item 8" if at > 3 else "Item 7", size=8)
        for line in range(8):
            sheet.put(72, 80 + 12 * line, f"Of berth {'abcdefghijklmnop'[at]} {PROSE}")
        sheet.put_centred(306, 770, str(at + 40))
        sheets.append(sheet)
    text = read(*sheets).text
    assert text.count("PART II") == 1
    assert text.count("Item") == 1


def test_a_line_beside_page_numbers_that_float_goes_with_them() -> None:
    """As the copyright on 204 pages of Corning's 10-K of 2015."""
    sheets = []
    for at in range(9):
        sheet, y = Sheet(), 80.0
        for _ in range(6 + 5 * (at % 4)):
            sheet.put(72, y, PROSE)
            y += 12
        sheet.put_centred(306, y + 16, "Harbour Board. All rights reserved.")
        sheet.put_centred(306, y + 32, f"-{at + 17}-")
        sheets.append(sheet)
    assert read(*sheets).text.count("rights reserved") == 1


def test_forms_that_are_copied_every_few_pages_keep_their_names() -> None:
    sheets = []
    for at in range(40):
        sheet = Sheet()
        if at % 4 == 0:
            sheet.put_centred(306, 40, "HARBOUR BOARD", "Times-Bold")
            sheet.put_centred(306, 51, "2014 PLAN OF INCENTIVES", "Times-Bold")
        for line in range(8):
            sheet.put(72, 80 + 12 * line, PROSE)
        sheets.append(sheet)
    assert read(*sheets).text.count("2014 PLAN OF INCENTIVES") == 10


def test_a_contract_in_larger_type_is_no_heap_of_headings() -> None:
    """As the agreement behind AES's 10-K of 2016: hundreds of its lines were headings."""
    report, contract = Sheet(), Sheet()
    for line in range(50):
        report.put(72, 60 + 13 * line, PROSE)
    contract.put(72, 60, "Section 7.03. Certain Fees and Expenses.", size=12)
    y = 90
    for clause in range(6):
        for text in (
            "Representative and the Majority Member shall negotiate, in good faith, and",
            "Majority Member and its accountants shall have access to the books.",
        ):
            contract.put(72, y, text, size=12)
            y += 15
        y += 14 + clause % 2
    got = read(report, report, contract)
    assert [text for _, text in headings_of(got)] == ["Section 7.03. Certain Fees and Expenses."]


def test_parts_and_numbers_with_a_blank_have_their_own_level() -> None:
    """PepsiCo sets its part right above its item, AES writes "1 . GENERAL" for its notes."""
    sheet, y = Sheet(), 100
    sheet.put(72, 72, "Fabrikam Mining Corporation", "Times-Bold", 18)
    for face, text in (
        ("Times-Bold", "PART I"), ("Times-Bold", "Item 1. Business."), ("", PROSE), ("", PROSE),
        ("Times-Bold", "Item 8. Statements"), ("", PROSE), ("", PROSE),
        ("Times-Bold", "1 . GENERAL POLICIES"), ("", PROSE), ("", PROSE),
    ):  # fmt: skip
        y += 12 if text in (PROSE, "Item 1. Business.") else 26
        sheet.put(72, y, text, face or "Times-Roman")
    assert headings_of(read(sheet))[1:] == [
        (1, "PART I"),
        (2, "Item 1. Business."),
        (2, "Item 8. Statements"),
        (3, "1 . GENERAL POLICIES"),
    ]


def test_the_company_stands_beside_its_caption_or_behind_a_cover() -> None:
    cover, form = Sheet(), Sheet()
    cover.put_centred(306, 300, "Annual Report", "Times-Bold", 30)
    form.put_centred(306, 60, "UNITED STATES", "Times-Bold", 14)
    form.put_centred(306, 90, "FORM 10-K (Mark One)", "Times-Bold", 12)
    form.put_centred(306, 110, "For the Fiscal Year Ended January 31, 2023")
    form.put(72, 140, "Quay Stores")
    form.put(200, 140, "(Exact name of registrant as specified in its charter)")
    form.put(72, 180, PROSE)
    assert read(cover, form).title == "Quay Stores, FORM 10-K, January 31, 2023"
    own = {"Title": "10K Doc & Exhibits-2023-03-03"}  # JPMorgan's; Adobe's was "ADBE 10K FY21"
    assert read(form, info=own).title == "Quay Stores, FORM 10-K, January 31, 2023"


def test_a_font_that_is_turned_twice_stands_upright() -> None:
    """On the covers that EDGAR Online put before filings every word stood in reverse order: the
    size is negative and the matrix turned, so the letters stand upright."""
    sheet = Sheet()
    for y, text in ((80, b"Best Harbour Company"), (120, b"Terms of use apply to this document")):
        sheet.parts.append(b"BT /F0 -12 Tf -1 0 0 -1 72 %d Tm (%s) Tj ET" % (792 - y, text))
    assert read(sheet).text.split()[:3] == ["Best", "Harbour", "Company"]


def test_a_series_name_is_no_title_and_a_cover_holds_no_sections() -> None:
    """As an IBM Redpaper: its series stands at the foot of the cover, larger than the title."""
    cover, text = Sheet(), Sheet()
    cover.put(40, 140, "Access Control for Harbours", "Times-Bold", 40)
    cover.put(40, 300, "Leverage permissions of rows", "Times-Bold", 14)
    cover.put(300, 740, "Quaypaper", "Times-Bold", 70)
    text.put(72, 72, "Chapter 1. Securing the quay", "Times-Bold", 24)
    for at, name in enumerate(("1.1 Fundamentals", "1.2 Current state")):
        text.put(72, 160 + 120 * at, name, "Times-Bold", 16)
        for line in range(5):
            text.put(72, 185 + 120 * at + 12 * line, PROSE)
    got = read(cover, text)
    assert got.title == "Access Control for Harbours"
    assert headings_of(got) == [
        (1, "Access Control for Harbours"),
        (2, "Chapter 1. Securing the quay"),
        (3, "1.1 Fundamentals"),
        (3, "1.2 Current state"),
    ]


def test_labels_half_a_line_above_their_figures_are_one_row() -> None:
    """As in PepsiCo's 10-K of 2017, where each label was a row of its own."""
    sheet, y = Sheet(), 100.0
    sheet.put_right(300, 80, "2015")
    sheet.put_right(380, 80, "2014")
    for label, *values in (("Reported measure", "28,731", "34,325"), ("Tax benefit", "18", "29"),
                           ("Core measure", "28,713", "34,343")):  # fmt: skip
        sheet.put(72, y, label)
        for end, value in zip((300, 380), values, strict=True):
            sheet.put_right(end, y + 4.5, value)
        y += 18
    text = read(sheet).text
    assert "Reported measure | 28,731 | 34,325" in text
    assert "Tax benefit | 18 | 29" in text


def test_notes_whose_lines_hang_are_one_item_each() -> None:
    """Under tables of Verizon's 10-K of 2022 a note broke behind its first line, and the rest of
    it took the next notes along."""
    sheet, y = Sheet(), 100
    for mark, lines in (
        ("(1)", ("Goodwill is net of impairment charges related to our unit, which included",
                 "Harbour Media. On September 1 we sold it.")),
        ("(2)", ("Changes are related to quays and other insignificant transactions made",
                 "See Note 3 for them.")),
        ("(3)", ("Changes are related to the mole.",)),
    ):  # fmt: skip
        sheet.put(72, y, mark)
        for line in lines:
            sheet.put(90, y, line)
            y += 12
    parts = read(sheet).text.split("\n\n")
    assert [part[:12] for part in parts] == ["(1) Goodwill", "(2) Changes ", "(3) Changes "]
    assert "included Harbour Media" in parts[0]


def test_a_ragged_sentence_goes_on_overleaf() -> None:
    first, second = Sheet(), Sheet()
    for line in range(40):
        first.put(72, 60 + 12 * line, f"{PROSE} met {line} men")
    first.put(72, 60 + 12 * 40, "The surviving company shall be owned in whole by the resulting or")
    second.put(72, 60, "corporation-holders immediately after the event, and by no one")
    second.put(72, 72, "else but them.")
    assert "resulting or corporation-holders immediately" in read(first, second).text


def test_labels_between_rows_and_items_of_lists_are_no_headings() -> None:
    """Balance sheets have bold labels between their rows, and McDonald's 10-K of 2022 stood whole
    under "4. Community – We are good neighbors; and"."""
    sheet = Sheet()
    for line in range(5):
        sheet.put(72, 60 + 12 * line, PROSE)
    sheet.put(72, 150, "4. Community and being good neighbours; and", "Times-Bold")
    for line in range(5):
        sheet.put(72, 175 + 12 * line, PROSE)
    for at, (label, value) in enumerate(
        (("Total liabilities", "7,104"), ("Commitments and contingencies", ""),
         ("Shares of the owners", "1,213"), ("Retained earnings", "2,020"), ("Total", "10,337"))
    ):  # fmt: skip
        sheet.put(72, 260 + 15 * at, label, "Times-Bold" if not value else "Times-Roman")
        sheet.put_right(400, 260 + 15 * at, value)
        sheet.put_right(480, 260 + 15 * at, value)
    assert headings_of(read(sheet)) == []
