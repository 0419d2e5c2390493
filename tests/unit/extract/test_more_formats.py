"""Files that people have beside the office's: calendars, subtitles, light markup, LaTeX, books,
drawings, databases, iWork, Apple's mail. Tried on real files of docling-project/docling,
kreuzberg-dev/kreuzberg and Unstructured-IO/unstructured; these are made here."""

from __future__ import annotations

import base64
import io
import plistlib
import sqlite3
import zipfile
import zlib
from pathlib import Path

import numbers_parser
import pytest
from tests.unit.extract.making import compound, pieces
from tests.unit.extract.making_others import dbf, iwork_part, iwork_text, mobi

from trivium.core.errors import FileLocked, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.detect import read
from trivium.extract.images import frames, image_type, taken
from trivium.ports import Blob


def extract(name: str, data: str | bytes) -> Extraction:
    return read(Blob(name, data.encode() if isinstance(data, str) else data))


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_an_event_says_who_when_and_where() -> None:
    got = extract(
        "invite.ics",
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Dredging of the\r\n  quay\r\n"
        "DTSTART;TZID=Europe/Lisbon:20240503T140000\r\nDTEND:20240503T153000Z\r\n"
        "LOCATION:Harbour office\\, room 3\r\nORGANIZER;CN=Ann Roe:mailto:ann@example.org\r\n"
        'ATTENDEE;CN="Bo Lind";ROLE=REQ:MAILTO:bo@example.org\r\n'
        "DESCRIPTION:Bring the charts.\\nAnd boots.\r\n"
        "BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    )
    assert got.title == "Dredging of the quay"
    assert got.media_type == "text/calendar"
    assert got.metadata["date"] == "2024-05-03T14:00:00"
    assert got.metadata["location"] == "Harbour office, room 3"
    assert "When: Friday 3 May 2024, 14:00 Europe/Lisbon to 15:30 UTC (2024-05-03)" in got.text
    assert "Who: Bo Lind <bo@example.org>" in got.text
    assert "Bring the charts.\nAnd boots." in got.text
    assert "Reminder" not in got.text
    assert got.elements[0].place.time == "2024-05-03T14:00:00"


def test_cards_are_people() -> None:
    got = extract(
        "people.vcf",
        "BEGIN:VCARD\nVERSION:3.0\nN:Roe;Ann;;;\nFN:Ann Roe\nORG:Harbour;Charts\n"
        "TEL;TYPE=CELL:+351 1\nitem1.EMAIL:ann@example.org\nADR:;;3 Quay;Lisbon;;;PT\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:2.1\nFN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:J=C3=BCrgen\n"
        "NOTE:Knows tides\nEND:VCARD\n",
    )
    assert [text for kind, text in pieces(got) if kind == "heading"] == ["Ann Roe", "Jürgen"]
    assert (
        "Organisation: Harbour, Charts\nE-mail: ann@example.org\nPhone (cell): +351 1" in got.text
    )
    assert "Address: 3 Quay, Lisbon, PT" in got.text
    assert got.metadata["contacts"] == 2


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "talk.srt",
            "1\n00:00:01,000 --> 00:00:03,500\nThe tide <i>turns</i>\n\n2\n"
            "00:00:03,600 --> 00:00:05,000\nat noon.\n\n3\n01:02:03,000 --> 01:02:04,000\nLater.\n",
        ),
        (
            "talk.vtt",
            "WEBVTT\n\nNOTE made\n\n00:01.000 --> 00:03.500 align:start\nThe tide <b>turns</b>\n\n"
            "00:03.600 --> 00:05.000\nat noon.\n\nlast\n01:02:03.000 --> 01:02:04.000\nLater.\n",
        ),
    ],
)
def test_subtitles_say_when_it_is_said(name: str, data: str) -> None:
    got = extract(name, data)
    assert pieces(got) == [
        ("paragraph", "The tide turns at noon."),
        ("paragraph", "Later."),
    ]
    assert [element.place.seconds[0] for element in got.elements] == [1.0, 3723.0]
    assert got.metadata["duration"] == 3724.0


def test_a_voice_of_subtitles_is_a_speaker() -> None:
    got = extract(
        "talk.vtt",
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Tide?\n\n00:02.500 --> 00:04.000\n<v Bo>Noon.\n",
    )
    assert [element.place.authors for element in got.elements] == [("Ann",), ("Bo",)]
    assert "Bo: Noon." in got.text


def test_timed_text_markup_is_subtitles() -> None:
    """Its times: W3C TTML2, section 12.3.1 (clock times with fractions or frames, offsets)."""
    got = extract(
        "talk.ttml",
        """<tt xml:lang="en" xmlns="http://www.w3.org/ns/ttml" ttp:frameRate="25"
        xmlns:ttm="http://www.w3.org/ns/ttml#metadata"
        xmlns:ttp="http://www.w3.org/ns/ttml#parameter"><head><metadata>
        <ttm:agent xml:id="a" type="person"><ttm:name type="full">Ann</ttm:name></ttm:agent>
        </metadata></head><body><div>
        <p begin="00:00:01.500" end="00:00:03" ttm:agent="a">The tide<br/>turns
        <span>at noon.</span></p><p begin="00:01:00:05" dur="2s">Later.</p>
        <p begin="3600.25s">Much later.</p></div></body></tt>""",
    )
    assert pieces(got) == [
        ("paragraph", "Ann: The tide turns at noon."),
        ("paragraph", "Later."),
        ("paragraph", "Much later."),
    ]
    seconds = [element.place.seconds for element in got.elements]
    assert seconds == [(1.5, 3.0), (60.2, 62.2), (3600.25, 3600.25)]
    assert (got.language, got.media_type) == ("en", "application/ttml+xml")


RST = """
Harbour
=======

:Author: Ann Roe

See the `chart <https://example.org>`_ and :ref:`tides <t>`, **now**.

Quays
-----

* first
  goes on
* second

.. note:: Mind the ``mud``.

.. code-block:: python

   def tide():
       return 1

.. image:: a.png

== =====
No Depth
== =====
1  7
2  9
== =====

+----+-------+
| A  | B     |
+====+=======+
| 1  | long  |
|    | cell  |
+----+-------+
"""

ORG = """#+TITLE: Harbour
#+AUTHOR: Ann Roe
* TODO Quays :work:
:PROPERTIES:
:ID: 7
:END:
See the [[https://example.org][chart]] and *tides*.
- first
  goes on
- second
#+BEGIN_SRC python
def tide():
    return 1
#+END_SRC
| No | Depth |
|----+-------|
| 1  | 7     |
| 2  | 9     |
"""

ADOC = """= Harbour
Ann Roe <ann@example.org>
:toc:

== Quays

See the https://example.org[chart] and *tides*.

* first
* second

[source,python]
----
def tide():
    return 1
----

|===
|No |Depth

|1 |7
|2 |9
|===
"""

LATEX = r"""\documentclass{article} % a comment
\title{Harbour}\author{Ann Roe}
\begin{document}\maketitle
\section{Quays}\label{q}
See \cite{roe2020} and \textbf{tides} of $10\,\%$.
\begin{itemize} \item first
  goes on \item second \end{itemize}
\begin{verbatim}
def tide():
    return 1
\end{verbatim}
\begin{table}[h]\begin{tabular}{l|r}\hline No & Depth \\ \hline 1 & 7 \\ 2 & 9 \\ \end{tabular}
\caption{Depths of quays}\end{table}
\end{document}
"""


@pytest.mark.parametrize(
    ("name", "data"), [("a.rst", RST), ("a.org", ORG), ("a.adoc", ADOC), ("a.tex", LATEX)]
)
def test_markup_keeps_headings_lists_code_and_tables(name: str, data: str) -> None:
    got = extract(name, data)
    found = pieces(got)
    assert got.title == "Harbour"
    assert got.metadata["authors"] == ("Ann Roe",)
    assert ("heading", "Quays") in found
    assert next(text for kind, text in found if kind == "list_item").startswith("first")
    assert ("code", "def tide():\n    return 1") in found
    assert ("table", "No | Depth\n1 | 7\n2 | 9") in found
    assert next(e.header for e in got.elements if e.kind == "table") == "No | Depth"
    assert not any(
        sign in got.text for sign in ("**", "`", "[[", "\\", "::", "----", "#+", "https")
    )
    assert "goes on" not in got.text or "first goes on" in got.text


def test_a_grid_of_restructured_text_joins_lines_of_a_cell() -> None:
    assert "A | B\n1 | long cell" in extract("a.rst", RST).text


def test_a_book_of_fb2() -> None:
    got = extract(
        "book.fb2",
        '<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">'
        "<description><title-info><author><first-name>Ann</first-name><last-name>Roe</last-name>"
        "</author><book-title>The Harbour</book-title><lang>en</lang></title-info></description>"
        "<body><section><title><p>Chapter of mud</p></title><p>The <emphasis>tide</emphasis> turns."
        "</p></section></body><binary id='a'>QUJD</binary></FictionBook>",
    )
    assert (got.title, got.language) == ("The Harbour", "en")
    assert got.metadata["authors"] == ("Ann Roe",)
    assert pieces(got) == [("heading", "Chapter of mud"), ("paragraph", "The tide turns.")]


def test_outlines_and_drawings_are_their_words() -> None:
    outline = '<opml version="2.0"><head><title>Feeds</title></head><body><outline text="Tides">'
    outline += '<outline text="Noon" htmlUrl="https://example.org"/></outline></body></opml>'
    assert pieces(extract("a.opml", outline)) == [
        ("heading", "Tides"),
        ("list_item", "Noon https://example.org"),
    ]
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><style>a{}</style><text>The <tspan>quay</tspan>'
    assert extract("a.svg", f"{svg}</text><path d='M0 0'/></svg>").text == "The quay"
    cell = '<mxGraphModel><root><mxCell value="&lt;b&gt;North&lt;/b&gt;&lt;br&gt;pier"/></root>'
    plain = f'<mxfile><diagram name="P">{cell}</mxGraphModel></diagram></mxfile>'
    assert extract("a.drawio", plain).text == "North pier"
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = pack.compress(f"{cell}</mxGraphModel>".encode()) + pack.flush()
    text = base64.b64encode(packed).decode()
    assert extract("b.drawio", f"<mxfile><diagram>{text}</diagram></mxfile>").text == "North pier"


def test_a_visio_drawing_has_its_labels_by_page() -> None:
    page = b"<PageContents><Shapes><Shape><Text>%s</Text></Shape></Shapes></PageContents>"
    got = extract(
        "plan.vsdx",
        zipped(
            {
                "visio/document.xml": b"<VisioDocument/>",
                "visio/pages/pages.xml": b'<Pages><Page Name="Quays"/><Page Name="Tides"/></Pages>',
                "visio/pages/page1.xml": page % b"North pier",
                "visio/pages/page2.xml": page % b"Noon",
            }
        ),
    )
    assert [text for _, text in pieces(got)] == ["Quays", "North pier", "Tides", "Noon"]
    assert got.elements[-1].place.pages == (2,)


@pytest.mark.parametrize("form", [plistlib.FMT_XML, plistlib.FMT_BINARY])
def test_a_property_list_is_lines(form: plistlib.PlistFormat) -> None:
    data = plistlib.dumps({"Title": "The Harbour", "Icon": b"\x00\x01", "Tides": [6, 18]}, fmt=form)
    got = extract("a.plist", data)
    assert got.title == "The Harbour"
    assert got.text == "Title: The Harbour\nTides: 6, 18" or "Tides: 6, 18" in got.text
    assert "<" not in got.text


def test_tables_of_a_database_are_sheets() -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE quays (name TEXT, depth REAL, plan BLOB)")
        database.executemany("INSERT INTO quays VALUES (?, ?, ?)", [("North", 7.5, b"abc")] * 2)
        database.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
        data = database.serialize()
    got = extract("harbour.sqlite", data)
    assert got.text == (
        "quays\n\nname | depth | plan\nNorth | 7.5 | (3 bytes)\nNorth | 7.5 | (3 bytes)"
    )
    assert got.elements[-1].header == "name | depth | plan"
    assert (got.elements[-1].place.sheet, got.elements[-1].place.rows) == ("quays", (2, 2))
    assert got.metadata["rows"] == 2


def test_a_dbase_table() -> None:
    fields = [(b"NAME", b"C", 8), (b"DUG", b"D", 8), (b"DEEP", b"L", 1)]
    got = extract("quays.dbf", dbf(fields, [b" North   20240503T", b"*South   20240504F"]))
    assert got.text == "NAME | DUG | DEEP\nNorth | 2024-05-03 | yes"


def test_a_mobi_book() -> None:
    html = b"<html><h1>Chapter of mud</h1><p>The tide turns at noon, the tide turns.</p></html>"
    packed = html[:60] + bytes([0x80 | (23 << 3 >> 8), (23 << 3 & 0xFF) | 5]) + html[68:]
    for data in (mobi(html), mobi(packed, compression=2)):
        got = extract("book.mobi", data)
        assert pieces(got)[0] == ("heading", "Chapter of mud")
        assert "The tide turns at noon" in got.text
    with pytest.raises(FileLocked, match="DRM"):
        extract("book.azw", mobi(packed, compression=2, locked=2))
    with pytest.raises(FormatUnknown, match="Calibre"):
        extract("book.mobi", mobi(packed, compression=3))


def test_pages_and_keynote_have_their_texts() -> None:
    text = iwork_part(iwork_text(1, "The harbour\nTide at noon"))
    pages = zipped({"Index/Document.iwa": text})
    assert pieces(extract("a.pages", pages)) == [
        ("paragraph", "The harbour"),
        ("paragraph", "Tide at noon"),
    ]
    with pytest.raises(FormatUnknown, match=r"it is damaged.*Excel or CSV"):
        extract("a.numbers", pages)


@pytest.mark.parametrize(
    ("stream", "kind"),
    [("VisioDocument", "a Visio drawing"), ("Props12", "a plan"), ("Other", "a compound file")],
)
def test_other_compound_files_are_refused_by_name(stream: str, kind: str) -> None:
    """Streams as apache/tika's testVISIO.vsd and testPROJECT2007.mpp have them."""
    with pytest.raises(FormatUnknown, match=f"a.bin is {kind}"):
        extract("a.bin", compound({stream: b"x"}))


def test_xml_that_does_not_say_so_is_no_markup() -> None:
    """As testTMX.tmx and testWindowsMediaMeta.asx of apache/tika."""
    assert extract("a.tmx", b"<tmx v='1'><seg>Hello</seg><seg>Salut</seg></tmx>\n").text == (
        "Hello\n\nSalut"
    )
    assert extract("a.txt", b"<note> is a sign that we use <so></note>").text.startswith("<note>")


def test_tables_of_numbers_are_sheets(tmp_path: Path) -> None:
    """Made by numbers-parser from a document of Apple's; those of its tests were read by hand."""
    document = numbers_parser.Document(num_rows=3, num_cols=2)
    rows = [("Port", "Tide"), ("Hull", 4.5), ("Ostend", 3.25)]
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            document.sheets[0].tables[0].write(at, column, value)
    document.save(tmp_path / "a.numbers")
    got = extract("a.numbers", (tmp_path / "a.numbers").read_bytes())
    assert got.text == "Port | Tide\nHull | 4.5\nOstend | 3.25"
    assert got.elements[1].header == "Port | Tide"


def test_apples_mail_is_a_message() -> None:
    message = b"From: Ann <a@b.org>\nTo: b@b.org\nSubject: The harbour\n\nTide at noon.\n"
    got = extract("7.emlx", b"%d\n%s<?xml version='1.0'?><plist/>" % (len(message), message))
    assert (got.title, got.text) == ("The harbour", "Tide at noon.")


@pytest.mark.parametrize(
    ("data", "kind", "advice"),
    [
        (b"AT&TFORM\x00\x00DJVM", "a DjVu document", "Convert it to PDF"),
        (b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1", "a OneNote notebook", "Export the pages"),
        (b"\x00\x01\x00\x00Standard ACE DB\x00", "an Access database", "CSV or Excel"),
        (b"%FDF-1.2\n1 0 obj\n<</FDF<</F(a.pdf)>>>>", "the data of a PDF form", "save it as PDF"),
        (b"01448nam a2200169 a 4500001001400000\x1eabc\x1e\x1d", "library catalogue", "RIS"),
        (b"\xd9\xd9\xf7\xa1aqa1", "a CBOR file", "JSON"),
        (b"%!PS-Adobe-3.0\n%%Title: a", "a PostScript file", "ps2pdf"),
    ],
)
def test_what_is_not_read_is_refused_by_name_with_what_helps(
    data: bytes, kind: str, advice: str
) -> None:
    with pytest.raises(FormatUnknown) as caught:
        extract("file.bin", data)
    assert kind in caught.value.message
    assert advice in caught.value.fix


@pytest.mark.parametrize("name", ["a.tei", "a", "a.kml", "a.jats"])
def test_xml_of_any_name_is_its_text_and_no_markup(name: str) -> None:
    data = '<?xml version="1.0"?><TEI><text><p>The <hi>tide</hi> turns.</p></text></TEI>'
    assert extract(name, data).text == "The tide turns."
    assert extract(name, data.encode("utf-16")).text == "The tide turns."


def test_more_pictures_are_pictures() -> None:
    from PIL import Image

    for form, kind in (("BMP", "bmp"), ("JPEG2000", "jp2"), ("AVIF", "avif")):
        out = io.BytesIO()
        Image.new("RGB", (40, 20), "white").save(out, form)
        blob = Blob(f"a.{kind}", out.getvalue())
        assert image_type(blob.data) == f"image/{kind}"
        assert [frame.size for frame in frames(blob, "L")] == [(40, 20)]
    assert image_type(b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic") == "image/heic"
    assert image_type(b"BMW and other cars") == ""


def test_a_picture_says_when_and_where_it_was_taken() -> None:
    from PIL import Image

    exif = Image.Exif()
    exif[0x8769] = {0x9003: "2024:05:03 14:00:00"}
    exif[0x8825] = {1: "N", 2: (38.0, 42.0, 36.0), 3: "W", 4: (9.0, 8.0, 24.0)}
    out = io.BytesIO()
    Image.new("RGB", (40, 20)).save(out, "JPEG", exif=exif)
    assert taken(Blob("a.jpg", out.getvalue())) == {
        "date": "2024-05-03T14:00:00",
        "year": 2024,
        "latitude": 38.71,
        "longitude": -9.14,
    }
    assert taken(Blob("a.jpg", b"no picture")) == {}
