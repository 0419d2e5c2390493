"""The files of the snapshots: texts from `files/`; this makes the packed and binary ones.

Written for the purpose, byte by byte; the same bytes every time.
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from tests.fuzz.seeds import open_document, relations, zipped
from tests.unit.extract.making import photographed, printed
from tests.unit.extract.making_legacy import doc, msg, ppt, xls
from tests.unit.extract.test_pdf_maker import PdfMaker, column

FOLDER = Path(__file__).parent / "files"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_CORE = (
    '<cp xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Ferry</dc:title>'
    "<dc:creator>Mara Reed</dc:creator><created>2021-03-04T05:06:07Z</created></cp>"
)


def files() -> dict[str, bytes]:
    """Every file by name."""
    texts = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir())}
    return texts | {
        "paper.pdf": paper(),
        "report.docx": docx(),
        "slides.pptx": pptx(),
        "book.xlsx": xlsx(),
        "text.odt": odt(),
        "sheet.ods": ods(),
        "slides.odp": odp(),
        "novel.epub": epub(),
        "old.doc": doc(
            "Crossing\rThe ferry leaves at dawn.\rtide\x07hour\x07\x07low\x076\x07\x07", {0: 1}
        ),
        "old.xls": xls(),
        "old.ppt": ppt(),
        "letter.msg": msg(
            {0x0037: "Ferry", 0x1000: "It leaves\r\nat dawn.", 0x0C1A: "Mara Reed", 0x0E04: "Per"}
        ),
        "scan.png": scan(),
        "export.zip": slack(),
        "folder.zip": zipped({"a/note.md": "# Bread\n\nBring it.", "b.txt": "Rope."}),
        "folder.tar": tar({"a/note.md": b"# Bread\n\nBring it.", "b.txt": b"Rope."}),
    }


def paper() -> bytes:
    """Two columns, a running head, page numbers, a table, a broken word and references."""
    maker = PdfMaker(info={"CreationDate": "D:20190304120000Z"}, outline=[("Introduction", 0)])
    for number in (1, 2):
        page = maker.page()
        page.text(72, 40, "Journal of Piers", size=8)
        page.text(300, 760, str(number), size=8)
    first, second = maker.pages
    first.text(150, 80, "On the Making of Ferries", size=18, font="bold")
    first.text(200, 104, "Mara Reed and Per Holm")
    first.text(72, 150, "Introduction", size=12, font="bold")
    first.lines(
        72, 170, [*column("left", 18), "The keeper rings the bell and the fer-", "ry leaves."]
    )
    first.lines(324, 170, column("right", 20))
    second.text(72, 80, "Tides", size=12, font="bold")
    second.text(72, 104, "Table 1: Hours of the tides.")
    for row, cells in enumerate(
        (("tide", "hour", "depth"), ("low", "6", "2"), ("high", "12", "9"), ("neap", "3", "4"))
    ):
        for at, cell in enumerate(cells):
            second.text(90 + 90 * at, 124 + 14 * row, cell)
    second.text(72, 220, "References", size=12, font="bold")
    second.text(72, 240, "Ina Voss. 1988. Tides and their hours.")
    return maker.build()


def docx() -> bytes:
    def p(text: str, style: str = "", inside: str = "") -> str:
        look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>'
        return f"<w:p>{look}<w:r>{inside}<w:t>{text}</w:t></w:r></w:p>"

    row = "<w:tr>{}</w:tr>".format
    cells = "".join(f"<w:tc>{p('{}')}</w:tc>" for _ in range(2)).format
    body = (
        p("Crossing", "Heading1")
        + p("The ferry leaves at dawn.")
        + p("Tides", "Heading2", "<w:lastRenderedPageBreak/>")
        + f"<w:tbl>{row(cells('tide', 'hour'))}{row(cells('low', '6'))}</w:tbl>"
        + p("It waits for nobody.")
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}">'
        f'<w:name w:val="heading {n}"/></w:style>'
        for n in (1, 2)
    )
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
            "word/styles.xml": f'<w:styles xmlns:w="{_W}">{styles}</w:styles>',
            "docProps/core.xml": _CORE,
        }
    )


def pptx() -> bytes:
    def shape(role: str, *lines: str) -> str:
        text = "".join(f"<p><r><t>{line}</t></r></p>" for line in lines)
        return f'<sp><nvSpPr><nvPr><ph type="{role}"/></nvPr></nvSpPr><txBody>{text}</txBody></sp>'

    def slide(*shapes: str) -> str:
        return f"<sld {_R}><cSld><spTree>{''.join(shapes)}</spTree></cSld></sld>"

    listed = '<sldId id="1" r:id="r1"/><sldId id="2" r:id="r2"/>'
    targets = {f"r{n}": ("slide", f"slides/slide{n}.xml") for n in (1, 2)}
    return zipped(
        {
            "ppt/presentation.xml": f"<p {_R}><sldIdLst>{listed}</sldIdLst></p>",
            "ppt/_rels/presentation.xml.rels": relations(targets),
            "ppt/slides/slide1.xml": slide(
                shape("title", "Crossing"), shape("body", "Rope", "Bread")
            ),
            "ppt/slides/slide2.xml": slide(shape("title", "Tides"), shape("", "Low at six.")),
            "docProps/core.xml": _CORE,
        }
    )


def xlsx() -> bytes:
    def row(number: int, *cells: str) -> str:
        inside = "".join(
            f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
            for at, cell in enumerate(cells)
        )
        return f'<row r="{number}">{inside}</row>'

    def sheet(*rows: str) -> str:
        return f"<w xmlns='m'><sheetData>{''.join(rows)}</sheetData></w>"

    names = "".join(
        f'<sheet name="{name}" r:id="r{n}"/>' for n, name in enumerate(("Tides", "Stops"), 1)
    )
    targets = {f"r{n}": ("worksheet", f"sheet{n}.xml") for n in (1, 2)}
    dated = (
        '<row r="3"><c r="A3" t="inlineStr"><is><t>high</t></is></c><c r="B3"><v>12</v></c></row>'
    )
    return zipped(
        {
            "xl/workbook.xml": f"<workbook {_R}><sheets>{names}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(targets),
            "xl/sheet1.xml": sheet(row(1, "tide", "hour"), row(2, "low", "6"), dated),
            "xl/sheet2.xml": sheet(row(1, "stop", "pier"), row(5, "Amble", "north")),
            "docProps/core.xml": _CORE,
        }
    )


def odt() -> bytes:
    return open_document(
        "text",
        '<office:text><text:h text:outline-level="1">Crossing</text:h>'
        "<text:p>The ferry leaves<text:tab/>at dawn.</text:p>"
        "<text:list><text:list-item><text:p>Rope</text:p></text:list-item></text:list>"
        "<text:p>First page.<text:soft-page-break/>Second page.</text:p></office:text>",
    )


def ods() -> bytes:
    def row(*cells: str) -> str:
        inside = "".join(
            f"<table:table-cell><text:p>{c}</text:p></table:table-cell>" for c in cells
        )
        return f"<table:table-row>{inside}</table:table-row>"

    rows = row("tide", "hour") + row("low", "6") + row("high", "12")
    table = f'<table:table table:name="Tides">{rows}</table:table>'
    return open_document("spreadsheet", f"<office:spreadsheet>{table}</office:spreadsheet>")


def odp() -> bytes:
    def page(title: str, text: str) -> str:
        return (
            f'<draw:page draw:name="{title}"><draw:frame presentation:class="title"><draw:text-box>'
            f"<text:p>{title}</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box>"
            f"<text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>"
        )

    pages = page("Crossing", "At dawn.") + page("Tides", "Low at six.")
    return open_document("presentation", f"<office:presentation>{pages}</office:presentation>")


def epub() -> bytes:
    container = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
    book = (
        '<package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The Ferry</dc:title><dc:creator>Mara Reed</dc:creator>"
        "<dc:language>en</dc:language><dc:date>2021</dc:date>"
        '</metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
    )
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>{}</h1><p>{}</p></body></html>'.format
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "book.opf": book,
            "a.xhtml": page("Dusk", "It comes back."),
            "b.xhtml": page("Dawn", "The ferry leaves."),
        }
    )


def slack() -> bytes:
    users = [{"id": "U1", "name": "mara", "profile": {"display_name": "Mara"}}]
    messages = [
        {
            "user": "U1",
            "ts": "1583143200.000100",
            "text": "Ferry at dawn, <@U1>!",
            "type": "message",
        },
        {
            "user": "U1",
            "ts": "1583146800.000200",
            "text": "Bring rope &amp; bread",
            "type": "message",
        },
    ]
    return zipped(
        {
            "users.json": json.dumps(users),
            "channels.json": json.dumps([{"id": "C1", "name": "ferry"}]),
            "ferry/2020-03-02.json": json.dumps(messages),
        }
    )


def tar(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def scan() -> bytes:
    from PIL import Image

    lines = ["The ferry leaves at dawn and the", "keeper waits for nobody at all."]
    out = io.BytesIO()
    Image.fromarray(photographed(printed(lines))).save(out, "PNG", dpi=(200, 200))
    return out.getvalue()
