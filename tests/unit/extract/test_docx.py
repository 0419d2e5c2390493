"""A Word document becomes headings, lists, tables and notes, with the pages Word laid out."""

import pytest
from tests.unit.extract.making import check_offsets, pieces, zipped

from trivium.core.errors import FileDamaged, FileEmpty, FileTooLarge
from trivium.core.types import Extraction
from trivium.extract.docx import read_docx
from trivium.ports import Blob

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="H2"/>
  <w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
</w:styles>"""
NUMBERING = f"""<w:numbering {W}>
<w:abstractNum w:abstractNumId="0">
  <w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="1">
  <w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl>
</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
</w:numbering>"""
NOTES = f"""<w:footnotes {W}><w:footnote w:id="0" w:type="separator"/>
<w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"""
CORE = """<cp xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Ferry</dc:title>
<dc:creator>Ada Byron; B. Pascal</dc:creator><created>2021-03-04T05:06:07Z</created></cp>"""


def p(text: str, style: str = "", numbering: tuple[int, int] | None = None, extra: str = "") -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if numbering:
        properties += (
            f'<w:numPr><w:ilvl w:val="{numbering[1]}"/><w:numId w:val="{numbering[0]}"/></w:numPr>'
        )
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r>{extra}<w:t>{text}</w:t></w:r></w:p>"


def extract(body: str, **parts: str) -> Extraction:
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": STYLES,
        "word/numbering.xml": NUMBERING,
        "word/footnotes.xml": NOTES,
        "docProps/core.xml": CORE,
    }
    blob = Blob("folder/ferry.bin", zipped({**files, **parts}))
    assert read_docx.accepts(blob)
    result = read_docx.extract(blob)
    check_offsets(result)
    return result


def test_headings_lists_code_and_metadata() -> None:
    result = extract(
        p("Contents 3", "TOC1")
        + p("River", "H1")
        + p("Water flows.")
        + p("Banks", "Mine")
        + p("first", numbering=(1, 0))
        + p("below", numbering=(1, 1))
        + p("below again", numbering=(1, 1))
        + p("second", numbering=(1, 0))
        + p("point", numbering=(2, 0))
        + p("x = 1", "Code")
        + p("y = 2", "Code")
    )
    assert pieces(result) == [
        ("heading", "River"),
        ("paragraph", "Water flows."),
        ("heading", "Banks"),
        ("list_item", "1. first"),
        ("list_item", "1.a) below"),
        ("list_item", "1.b) below again"),
        ("list_item", "2. second"),
        ("list_item", "point"),
        ("code", "x = 1\ny = 2"),
    ]
    assert result.elements[3].headings == ("River", "Banks")
    assert result.title == "The Ferry"
    assert result.metadata["authors"] == ("Ada Byron", "B. Pascal")
    assert (result.metadata["date"], result.metadata["year"]) == ("2021-03-04T05:06:07", 2021)


def test_pages_follow_rendered_breaks_and_count_explicit_ones_once() -> None:
    rendered = "<w:lastRenderedPageBreak/>"
    result = extract(
        p("one")
        + f"<w:p><w:r><w:t>one and </w:t>{rendered}<w:t>two</w:t></w:r></w:p>"
        + '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
        + p("three", extra=rendered)
        + p("four", "H1", extra=rendered)
    )
    assert [element.place.pages for element in result.elements] == [(1,), (1, 2), (3,), (4,)]
    assert result.metadata["pages"] == 4


def test_without_breaks_no_page_is_claimed() -> None:
    assert extract(p("text")).elements[0].place.pages == ()


def test_tables_notes_deletions_and_boxes() -> None:
    cell = "<w:tc>{}</w:tc>".format
    row = "<w:tr>{}</w:tr>".format
    table = "<w:tbl>{}</w:tbl>".format(
        row(cell(p("Name")) + cell(p("Age"))) + row(cell(p("Ann") + p("Lee")) + cell(p("7")))
    )
    result = extract(
        "<w:p><w:r><w:t>Claim</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r>"
        "<w:del><w:r><w:t>gone</w:t></w:r></w:del>"
        "<w:r><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent></w:r></w:p>"
        + table
    )
    assert pieces(result) == [
        ("paragraph", "Claim[2]"),
        ("paragraph", "Box"),
        ("paragraph", "[2] A note."),
        ("table", "Name | Age\nAnn Lee | 7"),
    ]
    assert result.elements[-1].header == "Name | Age"


def test_charts_give_their_figures() -> None:
    relation = (
        '<Relationships><Relationship Id="c" Type="x/chart" Target="charts/chart1.xml"/>'
        "</Relationships>"
    )
    chart = (
        "<c><chart><title><t>Birds</t></title><ser><tx><v>Ducks</v></tx>"
        '<cat><pt idx="0"><v>May</v></pt></cat><val><pt idx="0"><v>5</v></pt></val></ser>'
        "</chart></c>"
    )
    parts = {"word/_rels/document.xml.rels": relation, "word/charts/chart1.xml": chart}
    shown = f'<w:drawing><c:chart xmlns:c="c" xmlns:r="{R}" r:id="c"/></w:drawing>'
    got = extract(p("Seen:", extra=shown), **parts)
    assert got.text == "Seen:\n\nBirds\n\n| Ducks\nMay | 5"


def test_equations_are_readable() -> None:
    math = (
        "<m:oMath xmlns:m='m'><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>c</m:t></m:r></m:den></m:f></m:oMath>"
    )
    result = extract(f"<w:p><w:r><w:t>so</w:t></w:r>{math}</w:p>")
    assert result.text == "so (a+b)/c"


def test_hostile_files_have_typed_reasons() -> None:
    entity = '<!DOCTYPE d [<!ENTITY a "ha">]><d><body>&a;</body></d>'
    with pytest.raises(FileDamaged, match="entities"):
        extract("", **{"word/document.xml": entity})
    with pytest.raises(FileDamaged, match="levels deep"):
        extract("<w:p>" * 5000 + "</w:p>" * 5000)
    with pytest.raises(FileTooLarge, match="zip bomb"):
        extract(p("a" * 30_000_000))
    with pytest.raises(FileDamaged, match="well-formed"):
        extract("<w:p>")
    with pytest.raises(FileEmpty):
        extract(p(" "))


def test_deepest_allowed_nesting_is_read() -> None:
    depth = 190
    result = extract(
        "<w:p>" + "<w:ins>" * depth + "<w:t>deep</w:t>" + "</w:ins>" * depth + "</w:p>"
    )
    assert result.text == "deep"


def test_a_cut_file_is_damaged_not_another_format() -> None:
    whole = zipped({"word/document.xml": "<a/>"})
    assert not read_docx.accepts(Blob("x.docx", whole[: len(whole) // 2]))


def test_a_line_that_is_only_bold_is_a_heading_over_text() -> None:
    bold, off = "<w:rPr><w:b/></w:rPr>", '<w:rPr><w:b w:val="0"/></w:rPr>'
    got = extract(
        p("The ferry", "H1")
        + p("Introduction", extra=bold)
        + p("They turn at noon.")
        + p("Mind the mud.", extra=bold)  # a sentence
        + p("It is deep.")
        + p("Not so bold", extra=off)
        + p("One of two", extra=bold)
        + p("bold lines in a row", extra=bold)
    )
    assert [(e.level, got.text[e.start : e.end]) for e in got.elements if e.kind == "heading"] == [
        (1, "The ferry"),
        (2, "Introduction"),
    ]
    assert got.elements[2].headings == ("The ferry", "Introduction")
