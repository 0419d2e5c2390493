"""Files inside Office files are passed on; boxes, drawings and foreign parts are read."""

import struct
import zlib

import pytest
from tests.unit.extract.making import compound, pieces, printed, zipped
from tests.unit.extract.making_legacy import doc, xls
from tests.unit.extract.test_docx import extract as read_docx
from tests.unit.extract.test_docx import p
from tests.unit.extract.test_pptx import FILES as SLIDES

from trivium.extract.detect import read
from trivium.extract.embedded import embedded_in_slides
from trivium.extract.legacy import read_xls
from trivium.extract.ole import open_ole, stream
from trivium.ports import Blob

R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def native(name: str, data: bytes) -> bytes:
    """A file as Windows' packager wraps it."""
    label, path = name.encode(), f"C:\\Temp\\{name}".encode()
    body = b"\x02\x00" + label + b"\x00" + path + b"\x00" + b"\x00\x00\x03\x00"
    body += struct.pack("<I", len(path) + 1) + path + b"\x00"
    body += struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(body)) + body


def relation(number: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{number}" Type="http://x/{kind}" Target="{target}"/>'


def test_every_kind_of_embedded_file_is_handed_on() -> None:
    pdf = printed(["The tide tables of 1988."])
    sheet = b"PK\x03\x04 xl/workbook"
    found = read_docx(
        p("Text."),
        **{
            "word/embeddings/sheet.xlsx": sheet,
            "word/embeddings/oleObject1.bin": compound({"\x01Ole10Native": native("a b.pdf", pdf)}),
            "word/embeddings/oleObject2.bin": compound({"CONTENTS": pdf}),
            "word/embeddings/oleObject3.bin": doc("An old letter.\r"),
            "word/embeddings/oleObject4.bin": compound({"Package": sheet}),
            "word/embeddings/oleObject5.bin": compound({"Equation Native": b"x"}),
            "word/embeddings/z.bin": compound({"\x01Ole10Native": native("a b.pdf", pdf)}),
        },
    )
    assert [part.name for part in found.enclosed] == [
        "a b.pdf",
        "oleObject2.pdf",
        "oleObject3.doc",
        "oleObject4.xlsx",
        "sheet.xlsx",
        "a b-2.pdf",
    ]
    assert found.enclosed[0].data == pdf


def test_the_workbook_behind_a_chart_is_not_read_twice() -> None:
    files = dict(SLIDES)
    files["ppt/charts/_rels/chart1.xml.rels"] = (
        "<R>" + relation("r1", "package", "../embeddings/data.xlsx") + "</R>"
    )
    files["ppt/embeddings/data.xlsx"] = b"PK\x03\x04 xl/"
    files["ppt/embeddings/notes.docx"] = b"PK\x03\x04 word/"
    found = read(Blob("slides.pptx", zipped(files)))
    assert [part.name for part in found.enclosed] == ["notes.docx"]


def test_text_boxes_of_old_word_and_smartart_follow_their_paragraph() -> None:
    box = "<w:pict><shape><textbox><w:txbxContent>" + p("In a box.") + "</w:txbxContent>"
    box += "</textbox></shape></w:pict>"
    art = f'<w:drawing><relIds {R} r:dm="d1"/></w:drawing>'
    points = "<data><pt><t><p><r><t>Plan</t></r></p></t></pt><pt/>"
    points += "<pt><t><p><r><t>Build</t></r></p></t></pt></data>"
    found = read_docx(
        p("Before.", extra=box) + p("Steps:", extra=art),
        **{
            "word/_rels/document.xml.rels": "<R>"
            + relation("d1", "diagramData", "diagrams/data1.xml")
            + "</R>",
            "word/diagrams/data1.xml": points,
        },
    )
    assert pieces(found) == [
        ("paragraph", "Before."),
        ("paragraph", "In a box."),
        ("paragraph", "Steps:"),
        ("list_item", "Plan"),
        ("list_item", "Build"),
    ]


def test_pages_inside_a_word_document_are_read_in_place() -> None:
    page = "<html><body><h2>Prices</h2><table><tr><th>Boat</th><th>Price</th></tr>"
    page += "<tr><td>Oar</td><td>5</td></tr></table></body></html>"
    mht = (
        "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=X\r\n\r\n--X\r\n"
        "Content-Type: text/html; charset=utf-8\r\n\r\n<p>Größe</p>\r\n--X--\r\n"
    )
    parts = "".join(f'<w:altChunk {R} r:id="a{n}"/>' for n in (1, 2, 3))
    found = read_docx(
        p("Before.") + parts + p("After."),
        **{
            "word/_rels/document.xml.rels": "<R>"
            + relation("a1", "aFChunk", "afchunk1.html")
            + relation("a2", "aFChunk", "afchunk2.mht")
            + relation("a3", "aFChunk", "afchunk3.rtf")
            + "</R>",
            "word/afchunk1.html": page,
            "word/afchunk2.mht": mht,
            "word/afchunk3.rtf": r"{\rtf1 Inner.\par}",
        },
    )
    assert pieces(found) == [
        ("paragraph", "Before."),
        ("heading", "Prices"),
        ("table", "Boat | Price\nOar | 5"),
        ("paragraph", "Größe"),
        ("paragraph", "After."),
    ]
    assert [part.name for part in found.enclosed] == ["afchunk3.rtf"]


def test_boxes_over_a_sheet_and_files_in_a_workbook() -> None:
    drawing = "<d><sp><txBody><p><r><t>Prices rise</t></r></p><p><r><t>in May</t></r></p>"
    drawing += "</txBody></sp></d>"
    sheet = '<w xmlns="m"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Boat</t></is></c>'
    files: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<w {R}><sheets><sheet name="S" r:id="r0"/></sheets></w>',
        "xl/_rels/workbook.xml.rels": "<R>" + relation("r0", "worksheet", "s.xml") + "</R>",
        "xl/s.xml": sheet + "</row></sheetData></w>",
        "xl/_rels/s.xml.rels": "<R>" + relation("d", "drawing", "drawings/d.xml") + "</R>",
        "xl/drawings/d.xml": drawing,
        "xl/embeddings/letter.docx": b"PK\x03\x04 word/",
    }
    found = read(Blob("book.xlsx", zipped(files)))
    assert pieces(found) == [("row", "Boat"), ("paragraph", "Prices rise\nin May")]
    assert found.elements[1].place.sheet == "S"
    assert [part.name for part in found.enclosed] == ["letter.docx"]


def test_tables_of_html_in_markdown_keep_their_cells() -> None:
    source = (
        "# Boats\n\n<table>\n  <tr>\n    <th>Name</th>\n\n    <th>Length</th>\n  </tr>\n\n"
        "  <tr><td>Ferry</td><td>40</td></tr>\n</table>\n\nAfter.\n\n"
        "```\n<table>\n\n</table>\n```\n"
    )
    found = read(Blob("boats.md", source.encode()))
    assert pieces(found) == [
        ("heading", "Boats"),
        ("table", "Name | Length\nFerry | 40"),
        ("paragraph", "After."),
        ("code", "<table>\n\n</table>"),
    ]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (r"\trowd\cellx1\cellx2\pard\intbl A\cell B\cell}", [("table", "A | B")]),
        (
            r"\trowd\cellx1\cellx2\intbl A\cell B\cell\trowd\cellx1\cellx2\intbl 1\cell 2\cell"
            r"\pard After.\par}",
            [("table", "A | B\n1 | 2"), ("paragraph", "After.")],
        ),
        (
            r"\trowd\cellx1\cellx2\intbl A\par a\cell B\cell\row\pard After.\par}",
            [("table", "A a | B"), ("paragraph", "After.")],
        ),
    ],
)
def test_cells_of_rtf_without_the_end_of_a_row_are_kept(
    body: str, wanted: list[tuple[str, str]]
) -> None:
    assert pieces(read(Blob("x.rtf", (r"{\rtf1 " + body).encode()))) == wanted


def test_old_workbooks_that_only_xlrd_opens() -> None:
    bare = xls()[512 * 2 :]  # the stream without the compound file around it
    start = bare.index(bytes.fromhex("0908"))
    found = read(Blob("old.xls", bare[start:]))
    assert found.reader.startswith(type(read_xls).__name__)
    assert "Ann" in found.text


NOTE = b"The tide turns at noon."


def test_files_inside_old_documents_are_passed_on() -> None:
    with open_ole(Blob("a.doc", doc("Text.\r"))) as ole:
        streams = {path[0]: stream(ole, path) for path in ole.listdir()}
    inside = compound({**streams, "\x01Ole10Native": native("tide.txt", NOTE)})
    got = read(Blob("a.doc", inside))
    assert got.media_type == "application/msword"
    assert [(one.name, one.data) for one in got.enclosed] == [("tide.txt", NOTE)]


def test_files_inside_old_slides_and_rtf_are_passed_on() -> None:
    holder = compound({"\x01Ole10Native": native("tide.txt", NOTE)})
    packed = struct.pack("<I", len(holder)) + zlib.compress(holder)
    for version, body in ((0x10, packed), (0, holder)):
        record = struct.pack("<HHI", version, 0x1011, len(body)) + body
        (one,) = embedded_in_slides(struct.pack("<HHI", 0xF, 1000, len(record)) + record)
        assert (one.name, one.data) == ("tide.txt", NOTE)
    body = native("tide.txt", NOTE)[4:]
    objdata = struct.pack("<III", 0x501, 2, 8) + b"Package\x00" + bytes(8)
    objdata += struct.pack("<I", len(body)) + body
    source = b"{\\rtf1 {\\object\\objemb{\\*\\objdata %s}}}" % objdata.hex().encode()
    got = read(Blob("a.rtf", source))
    assert got.text == "Attachment: tide.txt"  # the only thing in it
    assert [one.data for one in got.enclosed] == [NOTE]


def test_comments_and_charts_of_a_workbook_are_text() -> None:
    from tests.fuzz.seeds import unzipped, xlsx
    from tests.fuzz.seeds import zipped as packed

    rel = '<Relationship Id="r%d" Type="http://x/relationships/%s" Target="%s"/>'
    members: dict[str, bytes | str] = dict(unzipped(xlsx()))
    sheet = next(name for name in members if name.startswith("xl/worksheets/sheet"))
    base = sheet.rsplit("/", 1)[1]
    members[f"xl/worksheets/_rels/{base}.rels"] = (
        f"<Relationships>{rel % (1, 'comments', '../comments1.xml')}"
        f"{rel % (2, 'drawing', '../drawings/drawing1.xml')}</Relationships>"
    )
    members["xl/comments1.xml"] = (
        "<comments><authors><author>Ann</author></authors><commentList>"
        '<comment ref="B2" authorId="0"><text><r><t>Ann:</t></r><r><t> too deep</t></r></text>'
        "</comment></commentList></comments>"
    )
    members["xl/drawings/drawing1.xml"] = (
        '<d xmlns:r="http://x/relationships"><graphicData><chart r:id="r1"/></graphicData></d>'
    )
    members["xl/drawings/_rels/drawing1.xml.rels"] = (
        f"<Relationships>{rel % (1, 'chart', '../charts/chart1.xml')}</Relationships>"
    )
    members["xl/charts/chart1.xml"] = (
        "<chartSpace><chart><title><tx><rich><p><r><t>Tides</t></r></p></rich></tx></title>"
        "<ser><tx><strRef><strCache><pt><v>North pier</v></pt></strCache></strRef></tx></ser>"
        "</chart></chartSpace>"
    )
    got = read(Blob("a.xlsx", packed(members)))
    assert "Comment on B2 by Ann: too deep" in got.text
    assert "Chart: Tides\nSeries: North pier" in got.text
