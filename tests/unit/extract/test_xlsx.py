"""A workbook becomes rows with their header, sheet and number; values as Excel shows them."""

import pytest
from tests.unit.extract.making import check_offsets, zipped

from trivium.core.errors import FileEmpty, FileTooLarge
from trivium.core.types import Extraction, Kind
from trivium.extract.composer import Composer
from trivium.extract.xlsx import look_of, read_xlsx, write_sheet
from trivium.ports import Blob

R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
STYLES = """<s><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm"/></numFmts>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="170"/></cellXfs>
</s>"""


def extract(*sheets: str, strings: str = "") -> Extraction:
    names = "".join(f'<sheet name="S{n}" r:id="r{n}"/>' for n in range(len(sheets)))
    relations = "".join(
        f'<Relationship Id="r{n}" Type="x/worksheet" Target="sheet{n}.xml"/>'
        for n in range(len(sheets))
    )
    files: dict[str, str | bytes] = {
        "xl/workbook.xml": f"<workbook {R}><sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<R>{relations}</R>",
        "xl/sharedStrings.xml": f"<sst>{strings}</sst>",
        "xl/styles.xml": STYLES,
    }
    for number, rows in enumerate(sheets):
        files[f"xl/sheet{number}.xml"] = f"<w xmlns='m'><sheetData>{rows}</sheetData></w>"
    blob = Blob("book.bin", zipped(files))
    assert read_xlsx.accepts(blob)
    result = read_xlsx.extract(blob)
    check_offsets(result)
    return result


def words(row: int, *cells: str, first: str = "A") -> str:
    inside = "".join(
        f'<c r="{chr(ord(first) + at)}{row}" t="inlineStr"><is><t>{cell}</t></is></c>'
        for at, cell in enumerate(cells)
        if cell
    )
    return f'<row r="{row}">{inside}</row>'


def rows(result: Extraction) -> list[tuple[str, str, tuple[int, int] | None]]:
    return [
        (result.text[e.start : e.end], e.header, e.place.rows)
        for e in result.elements
        if e.kind == "row"
    ]


def test_values_as_they_are_shown() -> None:
    cells = (
        '<c r="A2" t="s"><v>0</v></c><c r="B2" s="1"><v>44197</v></c>'
        '<c r="C2" s="2"><v>0.125</v></c><c r="D2"><f>1+1</f><v>2.50</v></c>'
        '<c r="E2" t="b"><v>1</v></c><c r="F2" t="e"><v>#N/A</v></c>'
        '<c r="H2" s="3"><v>44197.5</v></c>'
    )
    result = extract(
        words(1, "name", "day", "share", "sum", "ok", "bad") + f'<row r="2">{cells}</row>',
        strings="<si><r><t>Ann </t></r><r><t>Lee</t></r><rPh><t>x</t></rPh></si>",
    )
    header = "name | day | share | sum | ok | bad"
    assert rows(result) == [
        (header, "", (1, 1)),
        (
            "Ann Lee | 2021-01-01 | 12.5% | 2.5 | TRUE | #N/A |  | 2021-01-01 12:00:00",
            header,
            (2, 2),
        ),
    ]
    assert result.kind == Kind.TABLE
    assert result.title == "book"


def test_titles_gaps_and_a_second_table() -> None:
    result = extract(
        words(2, "Ducks by year", first="B")
        + words(4, "Year", "Ducks", first="B")
        + words(5, "2019", "5", first="B")
        + words(7, "2020", "6", first="B")
        + words(9, "Town", "River", "Boats", first="B")
        + words(10, "Ulm", "Donau", "12", first="B")
    )
    assert rows(result) == [
        ("Ducks by year", "", (2, 2)),
        ("Year | Ducks", "", (4, 4)),
        ("2019 | 5", "Year | Ducks", (5, 5)),
        ("2020 | 6", "Year | Ducks", (7, 7)),
        ("Town | River | Boats", "", (9, 9)),
        ("Ulm | Donau | 12", "Town | River | Boats", (10, 10)),
    ]


def test_a_column_of_labels_without_a_name_shifts_no_header() -> None:
    result = extract(
        words(1, "2023", "2022", first="C")
        + words(2, "Ulm", "5", "4", first="B")
        + words(3, "Bonn", "7", "", first="B")
        + words(4, "", "12", "9", first="B")
        + words(5, "Sum", "", "12", "9", first="A")
    )
    header = "– | 2023 | 2022"
    assert rows(result) == [
        (header, "", (1, 1)),
        ("Ulm | 5 | 4", header, (2, 2)),
        ("Bonn | 7", header, (3, 3)),
        ("– | 12 | 9", header, (4, 4)),
        ("Sum | 12 | 9", header, (5, 5)),
    ]


def test_sheets_have_headings_when_there_are_several() -> None:
    result = extract(words(1, "a", "b"), "", words(1, "c", "d"))
    assert [(e.kind, e.place.sheet, e.headings) for e in result.elements] == [
        ("heading", "", ()),
        ("row", "S0", ("S0",)),
        ("heading", "", ()),
        ("row", "S2", ("S2",)),
    ]
    assert result.metadata["sheets"] == 3


def test_hostile_sheets() -> None:
    with pytest.raises(FileEmpty):
        extract("")
    far = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 1300))
    with pytest.raises(FileTooLarge):
        extract(far)
    with pytest.raises(FileTooLarge, match="columns"):
        extract('<row r="1"><c r="ZZZ1"><v>1</v></c></row>')


@pytest.mark.parametrize(
    ("code", "look"),
    [("0.00", ""), ("0%", "percent"), ("d.m.yy", "date"), ("[h]:mm:ss", "time"), ('0 "days"', "")],
)
def test_number_formats(code: str, look: str) -> None:
    assert look_of(200, code) == look


def test_a_cell_over_several_rows_names_each_of_them() -> None:
    """A region merged over its quarters stood in the row of the first one only."""
    sheet = words(1, "region", "quarter", "sales") + words(2, "North", "Q1", "4")
    sheet += (
        words(3, "Q2", "5", first="B") + words(4, "Q3", "6", first="B") + words(5, "South", "Q1")
    )
    merged = '<mergeCells count="2"><mergeCell ref="A2:A4"/><mergeCell ref="A7:C7"/></mergeCells>'
    result = extract(f"{sheet}</sheetData>{merged}<sheetData>")
    assert [text for text, *_ in rows(result)][1:] == [
        "North | Q1 | 4", "North | Q2 | 5", "North | Q3 | 6", "South | Q1",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "heads"), [("Duck sales", True), ("Tabelle1", False)])
def test_the_only_sheet_has_a_heading_if_a_person_named_it(name: str, heads: bool) -> None:
    out = Composer("book.xlsx")
    write_sheet(out, "book.xlsx", name, iter([(1, ["a", "b"]), (2, ["1", "2"])]), alone=True)
    assert out.text.startswith(name) is heads
