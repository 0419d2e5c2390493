"""One small valid file of every format, written byte by byte, without any library.

Each holds the word "lantern". Knows nothing of extractors.
"""

import base64
import io
import json
import plistlib
import sqlite3
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from tests.unit.extract.making import compound
from tests.unit.extract.making_legacy import doc, msg, ppt, xls
from tests.unit.extract.making_others import dbf, iwork_part, iwork_text, mobi

SENTENCE = "The old lantern burns above the gate of the city until morning comes."
VISIO_PAGE = "<p><Shapes><Shape><Text>Lantern</Text></Shape></Shapes></p>"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
_OFFICE = "http://schemas.openxmlformats.org"
_RELATION = f"{_OFFICE}/officeDocument/2006/relationships"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pdf(content: bytes | None = None, *, box: str = "0 0 612 792", packed: bool = False) -> bytes:
    """Two pages, a standard font, an outline and a cross-reference table with the right places."""
    if content is None:
        lines = b"".join(b"(%s) Tj T* " % SENTENCE.encode() for _ in range(12))
        content = b"BT /F1 18 Tf 72 720 Td (Lanterns) Tj /F1 11 Tf 14 TL T* T* " + lines + b"ET"
    stream = zlib.compress(content) if packed else content
    filter_ = b"/Filter /FlateDecode " if packed else b""
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents 4 0 R" % box.encode()
    page += b" /Resources << /Font << /F1 5 0 R >> >> >>"
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 7 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 6 0 R] /Count 2 >>",
        page,
        b"<< %s/Length %d >>\nstream\n%s\nendstream" % (filter_, len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        page,
        b"<< /Type /Outlines /First 8 0 R /Last 8 0 R /Count 1 >>",
        b"<< /Title (Lanterns) /Parent 7 0 R /Dest [3 0 R /Fit] >>",
        b"<< /Title (Of lanterns) /Author (A. Keeper) >>",
    ]
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(bodies, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 9 0 R >>\n" % (len(bodies) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _package(main: str, kind: str, parts: Mapping[str, str]) -> bytes:
    """An Office file: its list of types, the relation to its main part, and its parts."""
    types = (
        f'{_XML}<Types xmlns="{_OFFICE}/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/{main}" ContentType='
        f'"application/vnd.openxmlformats-officedocument.{kind}.main+xml"/></Types>'
    )
    root = relations({"rId1": ("officeDocument", main)})
    return zipped({"[Content_Types].xml": types, "_rels/.rels": root, **parts})


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="{id_}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for id_, (kind, target) in targets.items()
    )
    start = f'{_XML}<Relationships xmlns="{_OFFICE}/package/2006/relationships">'
    return f"{start}{inner}</Relationships>"


def docx(body: str | None = None, prolog: str = _XML) -> bytes:
    if body is None:
        cell = "<w:tc><w:p><w:r><w:t>lantern</w:t></w:r></w:p></w:tc>"
        body = (
            '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Lanterns</w:t></w:r></w:p>'
            f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p><w:tbl><w:tr>{cell}{cell}</w:tr></w:tbl>"
        )
    main = f'{prolog}<w:document xmlns:w="{_OFFICE}/wordprocessingml/2006/main">'
    document = f"{main}<w:body>{body}</w:body></w:document>"
    return _package(
        "word/document.xml", "wordprocessingml.document", {"word/document.xml": document}
    )


def xlsx(rows: str | None = None, *, dimension: str = "A1:B2") -> bytes:
    if rows is None:
        rows = (
            '<row r="1"><c r="A1" t="inlineStr"><is><t>thing</t></is></c>'
            '<c r="B1" t="inlineStr"><is><t>count</t></is></c></row>'
            '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2"><v>7</v></c></row>'
        )
    space = f'xmlns="{_OFFICE}/spreadsheetml/2006/main"'
    parts = {
        "xl/workbook.xml": f'{_XML}<workbook {space} xmlns:r="{_RELATION}"><sheets>'
        '<sheet name="Stock" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            {
                "rId1": ("worksheet", "worksheets/sheet1.xml"),
                "rId2": ("sharedStrings", "sharedStrings.xml"),
            }
        ),
        "xl/worksheets/sheet1.xml": f'{_XML}<worksheet {space}><dimension ref="{dimension}"/>'
        f"<sheetData>{rows}</sheetData></worksheet>",
        "xl/sharedStrings.xml": f"{_XML}<sst {space}><si><t>lantern</t></si></sst>",
    }
    return _package("xl/workbook.xml", "spreadsheetml.sheet", parts)


def pptx() -> bytes:
    space = f'xmlns:p="{_OFFICE}/presentationml/2006/main" xmlns:r="{_RELATION}"'
    slide = (
        f'{_XML}<p:sld {space} xmlns:a="{_OFFICE}/drawingml/2006/main"><p:cSld><p:spTree><p:sp>'
        f"<p:txBody><a:p><a:r><a:t>{SENTENCE}</a:t></a:r></a:p></p:txBody>"
        "</p:sp></p:spTree></p:cSld></p:sld>"
    )
    parts = {
        "ppt/presentation.xml": f"{_XML}<p:presentation {space}><p:sldIdLst>"
        '<p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relations({"rId1": ("slide", "slides/slide1.xml")}),
        "ppt/slides/slide1.xml": slide,
    }
    return _package("ppt/presentation.xml", "presentationml.presentation", parts)


def open_document(kind: str, body: str) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{name}="{space}:{name}:1.0"' for name in ("office", "text", "table"))
    names += f' xmlns:draw="{space}:drawing:1.0" xmlns:presentation="{space}:presentation:1.0"'
    media = f"application/vnd.oasis.opendocument.{kind}"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{space}:manifest:1.0"><manifest:file-entry '
        f'manifest:full-path="/" manifest:media-type="{media}"/></manifest:manifest>'
    )
    content = (
        f'{_XML}<office:document-content {names} office:version="1.2"><office:body>{body}'
        "</office:body></office:document-content>"
    )
    return zipped(
        {"mimetype": media, "META-INF/manifest.xml": _XML + manifest, "content.xml": content}
    )


def epub() -> bytes:
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">1'
        "</dc:identifier><dc:title>Lanterns</dc:title><dc:language>en</dc:language></metadata>"
        '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{SENTENCE}</p></body></html>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": _XML + container,
            "book.opf": _XML + book,
            "a.xhtml": _XML + page,
        }
    )


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("notes/a.txt")
        info.size = len(SENTENCE)
        archive.addfile(info, io.BytesIO(SENTENCE.encode()))
    return out.getvalue()


def png(width: int, height: int) -> bytes:
    """A picture whose header says how large it is, and whose data says little."""

    def block(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = block(b"IHDR", header) + block(b"IDAT", zlib.compress(bytes(1000))) + block(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


def eml() -> bytes:
    picture = base64.encodebytes(PNG).decode()
    text = f"""From: Ada <ada@example.org>
To: Bob <bob@example.org>
Subject: Lanterns
Date: Mon, 02 Mar 2020 10:00:00 +0000
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b1"

--b1
Content-Type: text/plain; charset=utf-8

{SENTENCE}
--b1
Content-Type: text/plain; name="a.txt"
Content-Disposition: attachment; filename="a.txt"

{SENTENCE}
--b1
Content-Type: image/png; name="a.png"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="a.png"

{picture}
--b1--
"""
    return text.encode()


def html() -> bytes:
    cells = "<tr><td>lantern</td><td>7</td></tr>" * 3
    text = (
        f"<!doctype html><html lang=en><head><title>Lanterns</title></head><body><h1>Lanterns</h1>"
        f"<p>{SENTENCE}</p><ul><li>one<li>two</ul><table>{cells}</table><pre>code</pre></body></html>"
    )
    return text.encode()


def notebook() -> bytes:
    cell = {"cell_type": "markdown", "metadata": {}, "source": [f"# Lanterns\n\n{SENTENCE}"]}
    code = {"cell_type": "code", "metadata": {}, "source": "x = 1", "outputs": []}
    kernel = {"kernelspec": {"language": "python", "name": "p"}}
    book = {"cells": [cell, code], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book).encode()


def slack() -> bytes:
    messages = [{"type": "message", "user": "U1", "text": SENTENCE, "ts": "1580000000.000100"}]
    return zipped(
        {
            "users.json": json.dumps([{"id": "U1", "name": "ada", "profile": {}}]),
            "channels.json": json.dumps([{"id": "C1", "name": "general"}]),
            "general/2020-01-26.json": json.dumps(messages),
        }
    )


_CITE = {"id": "a", "type": "book", "title": "Lanterns", "author": [{"family": "Keeper"}]}
_TEXT_BODY = f"<office:text><text:h>Lanterns</text:h><text:p>{SENTENCE}</text:p></office:text>"
_SHEET_BODY = (
    '<office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell>'
    "<text:p>lantern</text:p></table:table-cell></table:table-row></table:table>"
    "</office:spreadsheet>"
)
_SLIDE_BODY = (
    '<office:presentation><draw:page draw:name="1"><draw:frame><draw:text-box><text:p>'
    f"{SENTENCE}</text:p></draw:text-box></draw:frame></draw:page></office:presentation>"
)


def database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE TABLE lanterns (name TEXT, n REAL, b BLOB)")
        made.execute("INSERT INTO lanterns VALUES (?, 7.5, x'00ff')", (SENTENCE,))
        made.commit()
        return made.serialize()


# Written by 7-Zip 26.03: a.txt ("Alpha words") and sub/b.md ("# Beta").
SEVEN_ZIP = bytes.fromhex(
    "377abcaf271c000438b54770870000000000000021000000000000002fb1a11a010010416c70686120776f7264732320"
    "42657461000000813307ae0fcf4b6f8c07c8437f41b1fafde46179e96d3d28cbd0674e1eb0c315dc7a041c25f1bf9dc4"
    "7f15ae898819aa8c50386dbfb398e37963a398f027ba3c951f6d865dae707dda9b89c70ffceaf14a1137511d30bb0550"
    "601cd10e714219121b1e359ed96408812346d00780000017061501097200070b01000123030101055d001000000c808a"
    "0a01789c578e0000"
)

SEEDS: dict[str, bytes] = {
    "lantern.xlsb": (Path(__file__).parents[1] / "golden" / "files" / "workbook.xlsb").read_bytes(),
    "a.txt": f"Lanterns\n\n{SENTENCE}\n\n{SENTENCE} Grüße.\n".encode(),
    "a16.txt": f"Lanterns\n\n{SENTENCE}".encode("utf-16"),
    "a.md": (
        f"---\ntitle: Lanterns\ntags: [a, b]\n---\n# Lanterns\n\n{SENTENCE}\n\n- one\n  - two\n\n"
        "> quoted\n\n| a | b |\n|---|---|\n| 1 | lantern |\n\n```python\nx = 1\n```\n"
    ).encode(),
    "a.pdf": pdf(),
    "packed.pdf": pdf(packed=True),
    "a.docx": docx(),
    "a.xlsx": xlsx(),
    "a.pptx": pptx(),
    "a.odt": open_document("text", _TEXT_BODY),
    "a.ods": open_document("spreadsheet", _SHEET_BODY),
    "a.odp": open_document("presentation", _SLIDE_BODY),
    "a.epub": epub(),
    "a.html": html(),
    "a.eml": eml(),
    "a.mbox": b"From ada@example.org Mon Mar  2 10:00:00 2020\n" + eml() + b"\n",
    "a.zip": zipped({"a.txt": SENTENCE, "b/a.md": f"# Lanterns\n\n{SENTENCE}", "b/a.pdf": pdf()}),
    "a.tar": tar(),
    "a.7z": SEVEN_ZIP,
    "slack.zip": slack(),
    "a.csv": b'thing,count\nlantern,7\n"a, b",8\n',
    "a.tsv": b"thing\tcount\nlantern\t7\n",
    "a.json": json.dumps({"title": "Lanterns", "list": [SENTENCE, 1, None, {"a": True}]}).encode(),
    "a.jsonl": b'{"text": "lantern", "n": 1}\n{"text": "gate", "n": 2}\n',
    "a.ipynb": notebook(),
    "a.rtf": b"{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 %s\\par}" % SENTENCE.encode(),
    "a.bib": b"@book{a, title = {Lanterns}, author = {Keeper, A. and Doe, J.}, year = 1999}\n",
    "a.ris": b"TY  - BOOK\nTI  - Lanterns\nAU  - Keeper, A.\nPY  - 1999\nER  - \n",
    "a.enw": b"%0 Book\n%T Lanterns\n%A Keeper, A.\n%D 1999\n%K light\n\n%0 Book\n%T Gates\n",
    "endnote.xml": b'<xml><records><record><ref-type name="Book">6</ref-type><titles><title>'
    b"Lanterns</title></titles><urls><pdf-urls><url>internal-pdf://1/a.pdf</url></pdf-urls></urls>"
    b"</record></records></xml>",
    "csl.json": json.dumps([_CITE]).encode(),
    "a.py": b'"""About lanterns."""\n\n\ndef light(n: int) -> int:\n    return n + 1\n',
    "a.xml": f"<rss><channel><title>Lanterns</title><item><title>One</title><description>{SENTENCE}"
    "</description></item></channel></rss>".encode(),
    "channel.slack.json": json.dumps(
        {
            "format": "trivium-channel/1",
            "channel": "general",
            "messages": [{"author": "ada", "time": "2020-01-26T00:00:00", "text": SENTENCE}],
        }
    ).encode(),
    "a.doc": doc(f"Lanterns\r{SENTENCE}\ra\x07b\x07\x07", {0: 1}),
    "a.xls": xls("lantern"),
    "a.ppt": ppt("Lanterns"),
    "a.msg": msg({0x0037: "Lanterns", 0x1000: SENTENCE, 0x0C1A: "Ada", 0x0E04: "Bob"}),
    "locked.docx": compound({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}),
    "empty.doc": compound({}),
    "a.png": png(40, 8),
    "a.ics": f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:{SENTENCE}\nDTSTART:20200126T101500Z\n"
    "ATTENDEE;CN=Ada:mailto:ada@example.org\nEND:VEVENT\nEND:VCALENDAR\n".encode(),
    "a.vcf": b"BEGIN:VCARD\nFN:Ada Lantern\nADR:;;3 Quay;Lisbon;;;PT\nEND:VCARD\n",
    "a.srt": f"1\n00:00:01,000 --> 00:00:03,000\n{SENTENCE}\n".encode(),
    "a.tex": f"\\title{{Lanterns}}\n\\section{{One}}\n{SENTENCE}\n\\begin{{tabular}}{{ll}}a & b"
    " \\\\ 1 & 2\\end{tabular}\n".encode(),
    "a.rst": f"Lanterns\n========\n\n{SENTENCE}\n\n.. note:: x\n\n== ==\na  b\n== ==\n1  2\n== ==\n"
    "\n+---+---+\n| 1 | 2 |\n+---+---+\n".encode(),
    "a.org": f"#+TITLE: Lanterns\n* A\n{SENTENCE}\n| a | b |\n#+BEGIN_SRC\nx\n#+END_SRC\n".encode(),
    "a.adoc": f"= Lanterns\n\n== A\n\n{SENTENCE}\n\n|===\n|a |b\n|===\n\n----\nx\n----\n".encode(),
    "a.sqlite": database(),
    "a.dbf": dbf([(b"NAME", b"C", 8), (b"DUG", b"D", 8)], [b" lantern 20200126"]),
    "a.mobi": mobi(f"<h1>Lanterns</h1><p>{SENTENCE}</p>".encode()),
    "a.plist": plistlib.dumps({"Title": "Lanterns", "n": [1, 2]}, fmt=plistlib.FMT_BINARY),
    "a.pages": zipped({"Index/Document.iwa": iwork_part(iwork_text(1, "A lantern at the gate"))}),
    "a.vsdx": zipped(
        {
            "visio/document.xml": "<d/>",
            "visio/pages/page1.xml": "<p><Shapes><Shape><Text>Lantern</Text></Shape></Shapes></p>",
        }
    ),
    "a.svg": f'<svg xmlns="http://www.w3.org/2000/svg"><text>{SENTENCE}</text></svg>'.encode(),
}
