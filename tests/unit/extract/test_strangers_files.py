"""Faults found on files that nobody here wrote: the test files of other projects. Each is made here
again, as small as it can be; the docstrings say whose file showed it."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest
from tests.unit.extract.making_others import field, iwork_part, iwork_table, iwork_text, names

from trivium.core.errors import FileDamaged, FileEmpty, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.detect import read
from trivium.ports import Blob


def extract(name: str, data: str | bytes) -> Extraction:
    return read(Blob(name, data.encode() if isinstance(data, str) else data))


# --- subtitles -----------------------------------------------------------------------------------

ROLLING = """WEBVTT
Kind: captions
Language: en

00:00:00.000 --> 00:00:02.500 align:start position:0%
 
the<00:00:00.500><c> ferry</c><c> leaves</c>

00:00:02.500 --> 00:00:02.510 align:start position:0%
the ferry leaves
 

00:00:02.510 --> 00:00:05.000 align:start position:0%
the ferry leaves
at<00:00:03.000><c> seven</c><c> in</c><c> winter</c>

00:00:05.000 --> 00:00:05.010 align:start position:0%
at seven in winter
 

00:00:05.010 --> 00:00:07.010 align:start position:0%
at seven in winter
no no no
"""  # noqa: W293


def test_captions_that_roll_say_each_line_once() -> None:
    """As YouTube's are (glut23/webvtt-py, youtube_dl.vtt)."""
    got = extract("talk.vtt", ROLLING)
    assert got.text == "the ferry leaves at seven in winter no no no"
    assert got.elements[0].place.spoken[1][1] == 2.51


def test_captions_that_grow_by_a_word_say_it_once() -> None:
    words = ["Seven", "boats", "left"]
    cues = "".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n + 1},000\n{' '.join(words[:n])}\n\n" for n in (1, 2, 3)
    )
    assert extract("live.srt", cues).text == "Seven boats left"


def test_what_people_repeat_is_kept() -> None:
    lines = ["Are you sure?", "Yes.", "Yes. I saw it.", "Then we go.", "Bring a lamp."]
    cues = "".join(
        f"00:00:0{n}.000 --> 00:00:0{n + 1}.000\n{line}\n\n" for n, line in enumerate(lines)
    )
    assert extract("film.vtt", f"WEBVTT\n\n{cues}").text == " ".join(lines)


def test_a_cue_without_a_blank_line_before_it() -> None:
    """glut23/webvtt-py, youtube_dl.vtt: the times stood in the text."""
    got = extract("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nOne\n00:02.000 --> 00:03.000\nTwo\n")
    assert got.text == "One Two"


def test_a_cue_with_a_blank_line_in_it_or_without_times() -> None:
    """glut23/webvtt-py, missing_timeframe.srt; a number that somebody says stays."""
    got = extract(
        "a.srt",
        "1\n00:00:01,000 --> 00:00:02,000\nOne\n\nand a half\n\n2\nTwo\n\n"
        "3\n00:00:02,000 --> 00:00:03,000\n2024\n\n4\n00:00:03,000 --> 00:00:04,000\nFour\n",
    )
    assert got.text == "One and a half Two 2024 Four"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_subtitles_in_wide_characters(encoding: str) -> None:
    """byroot/pysrt, bom-utf-16-le.srt: they were read as a text with its times."""
    mark = "\ufeff" if encoding.endswith("be") else ""
    data = f"{mark}1\n00:00:06,500 --> 00:00:09,000\nAbout two months ago\n".encode(encoding)
    got = extract("a.srt", data)
    assert got.media_type == "application/x-subrip"
    assert got.text == "About two months ago"


@pytest.mark.parametrize(
    "source",
    ["0:00:00.378,0:00:11.378\nHigh water\n\n", "1\n00:00:01 --> 00:00:10\nHigh water\n"],
    ids=["sbv", "whole seconds"],
)
def test_other_times_of_subtitles(source: str) -> None:
    """glut23/webvtt-py, sample.sbv; byroot/pysrt, invalid.srt."""
    got = extract("a.sbv", source)
    assert got.text == "High water"
    assert got.metadata["duration"] in (11.4, 10.0)


# --- dBASE ---------------------------------------------------------------------------------------


def dbf(
    version: int, columns: list[tuple[bytes, bytes, int, int]], rows: list[bytes], mark: int = 0
) -> bytes:
    """A table: name, kind, width and decimals of each column, and its records' bytes."""
    size = 1 + sum(width for _, _, width, _ in columns)
    if version == 2:
        head = struct.pack("<BH3xH", version, len(rows), size)
        fields = b"".join(struct.pack("<11scBHB", *c[:3], 0, c[3]) for c in columns)
        return (head + fields + b"\r").ljust(521, b"\x00") + b"".join(b" " + row for row in rows)
    is_seven = version & 7 == 4
    form = "<32scBB13x" if is_seven else "<11sc4xBB14x"
    fields = b"".join(struct.pack(form, *column) for column in columns) + b"\r"
    length = (68 if is_seven else 32) + len(fields)
    head = struct.pack("<B3xIHH17xB2x", version, len(rows), length, size, mark)
    head = head.ljust(68 if is_seven else 32, b"\x00")
    return head + fields + b"".join(b" " + row for row in rows)


def test_values_of_foxpro_that_are_no_text() -> None:
    """infused/dbf, dbase_31.dbf and foxprodb/calls.dbf: their cells were empty."""
    columns = [
        (b"ID", b"I", 4, 0),
        (b"PRICE", b"Y", 8, 4),
        (b"WEIGHT", b"B", 8, 2),
        (b"SEEN", b"T", 8, 0),
        (b"AT", b"T", 8, 0),
        (b"_NullFlags", b"0", 1, 0),
    ]
    row = struct.pack("<iqd", -7, 213_500, 2.5) + struct.pack("<ii", 2_449_678, 48_938_999)
    row += struct.pack("<ii", 2_415_019, 43_200_000) + b"\x00"
    got = extract("stock.dbf", dbf(0x30, columns, [row], 3))
    assert got.text.splitlines()[0] == "ID | PRICE | WEIGHT | SEEN | AT"
    assert got.text.splitlines()[-1] == "-7 | 21.35 | 2.50 | 1994-11-21 13:35:39 | 12:00:00"


def test_a_table_that_ends_amid_a_number() -> None:
    """Nothing is added: a number of which half is there is none."""
    columns = [(b"DAY", b"C", 2, 0), (b"SUM", b"I", 4, 0)]
    rows = [b"MO" + struct.pack("<i", 7), b"TU" + struct.pack("<i", 513)]
    assert extract("a.dbf", dbf(0x30, columns, rows)[:-3]).text == "DAY | SUM\nMO | 7\nTU"


def test_tables_of_dbase_7_and_dbase_2() -> None:
    """infused/dbf, dbase_8c.dbf ("damaged") and dbase_02.dbf (cells cut at wrong places)."""
    columns = [(b"Species", b"C", 10, 0), (b"Count", b"+", 4, 0), (b"Size", b"O", 8, 1)]
    size = struct.pack(">d", 1.5)
    row = b"Moray     " + b"\x80\x00\x00\x05" + bytes((size[0] | 0x80,)) + size[1:]
    assert extract("fish.dbf", dbf(0x8C, columns, [row])).text.splitlines()[-1] == "Moray | 5 | 1.5"
    old = dbf(2, [(b"LAST", b"C", 8, 0), (b"PAY", b"N", 5, 2)], [b"Stegman  6.00"])
    assert extract("staff.dbf", old).text.splitlines() == ["LAST | PAY", "Stegman | 6.00"]


@pytest.mark.parametrize(
    ("mark", "encoding"), [(0xF0, "utf-8"), (0, "utf-8"), (0xC9, "cp1251"), (0x26, "cp866")]
)
def test_letters_of_a_table(mark: int, encoding: str) -> None:
    """apache/tika, testDBF.dbf; infused/dbf, dbase_03_cyrillic.dbf: UTF-8 was taken for cp1252."""
    words = "больничное учреждение".encode(encoding).ljust(48)
    data = dbf(3, [(b"NAME", b"C", 48, 0)], [words], mark)
    assert extract("a.dbf", data).text.endswith("больничное учреждение")


def test_letters_of_a_table_that_names_none() -> None:
    """infused/dbf, dbase_f5.dbf: DOS letters ("penedŠs")."""
    names = ["baix penedès", "químic, professor", "tarragonès", "amèrica", "benicarló"]
    rows = [name.encode("cp850").ljust(20) for name in names]
    got = extract("a.dbf", dbf(0xF5, [(b"NOM", b"C", 20, 0)], rows))
    assert got.text.splitlines()[1:] == names


def test_dates_that_are_none() -> None:
    """olemb/dbfread, invalid_value.dbf ("NotA-Ye-ar")."""
    rows = [b"NotAYear", b"00000000", b"19870301"]
    got = extract("a.dbf", dbf(3, [(b"BORN", b"D", 8, 0)], rows))
    assert got.text.splitlines() == ["BORN", "NotAYear", "1987-03-01"]


def test_a_table_without_columns_is_empty() -> None:
    """infused/dbf, polygon.dbf: it was called damaged."""
    with pytest.raises(FileEmpty):
        extract("polygon.dbf", dbf(3, [], []))


# --- calendars and cards -------------------------------------------------------------------------


def event(*lines: str) -> Extraction:
    return extract("a.ics", "\r\n".join(("BEGIN:VEVENT", "SUMMARY:Tide", *lines, "END:VEVENT", "")))


def test_an_event_without_its_calendar() -> None:
    """collective/icalendar, issue_53_description_parsed_properly.ics: its lines were the text."""
    got = event("DTSTART;TZID=America/New_York:20120712T183000", "DESCRIPTION:Small\\nteams")
    assert got.title == "Tide"
    assert got.text.endswith("18:30 America/New York (2012-07-12)\n\nSmall\nteams")


@pytest.mark.parametrize(
    ("lines", "when"),
    [
        (
            ("DTSTART;VALUE=DATE:20220222", "DTEND;VALUE=DATE:20220223"),
            "Tuesday 22 February 2022 (2022-02-22)",
        ),
        (
            ("DTSTART;VALUE=DATE:20220222", "DTEND;VALUE=DATE:20220225"),
            "Tuesday 22 February 2022 to Thursday 24 February 2022 (2022-02-22)",
        ),
        (
            ("DTSTART:20220222T230000Z", "DURATION:PT1H30M"),
            "Tuesday 22 February 2022, 23:00 UTC to Wednesday 23 February 2022, 00:30 UTC"
            " (2022-02-22)",
        ),
        (
            (
                "DTSTART;TZID=Europe/Vienna:20120327T100000",
                "DTEND;TZID=Europe/Vienna:20120327T180000",
            ),
            "Tuesday 27 March 2012, 10:00 to 18:00 Europe/Vienna (2012-03-27)",
        ),
        (
            (
                "DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20220822T120000",
                "DTEND;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20220822T120000",
            ),
            "Monday 22 August 2022, 12:00 Europe/Berlin (2022-08-22)",
        ),
    ],
)
def test_when_an_event_is(lines: tuple[str, ...], when: str) -> None:
    """collective/icalendar: a whole day lasted two, an event had no end or no zone."""
    assert f"When: {when}" in event(*lines).text.splitlines()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=WEEKLY;UNTIL=20120703T080000Z;BYDAY=TU", "every week on Tuesday until 3 July 2012"),
        (
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=3WE;COUNT=9;WKST=SU",
            "every 2 months on the third Wednesday, 9 times",
        ),
        (
            "FREQ=YEARLY;BYMONTH=11;BYDAY=-1SU;",
            "every year on the last Sunday (BYMONTH=11)",
        ),
        ("FREQ=NEVER", "FREQ=NEVER"),
        ("FREQ=MONTHLY;BYDAY=-2MO", "FREQ=MONTHLY;BYDAY=-2MO"),
    ],
)
def test_how_often_an_event_is(rule: str, words: str) -> None:
    assert f"Repeats: {words}" in event(f"RRULE:{rule}").text.splitlines()


def test_a_letter_that_a_fold_divides() -> None:
    """Programs fold after 75 bytes (collective/icalendar, tzid_8bit.ics of py-vobject/vobject)."""
    line = "SUMMARY:Größe".encode()
    at = line.index("ß".encode()) + 1
    folded = line[:at] + b"\r\n " + line[at:]
    data = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + folded + b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    assert extract("a.ics", data).title == "Größe"


def test_a_description_in_html_and_a_named_calendar() -> None:
    said = "<p>Bring <b>boots</b><br>and rope</p>"
    one = f"BEGIN:VEVENT\nSUMMARY:Tide\nDESCRIPTION:{said}\nEND:VEVENT\n"
    got = extract("a.ics", f"BEGIN:VCALENDAR\nX-WR-CALNAME:The quay\n{one}{one}END:VCALENDAR\n")
    assert got.title == "The quay"
    assert "<" not in got.text
    assert "Bring boots" in got.text


def test_a_photo_does_not_take_the_line_behind_it() -> None:
    """Base64 ends in an equals sign, as a soft break of quoted-printable does."""
    got = extract(
        "a.vcf",
        "BEGIN:VCARD\r\nVERSION:2.1\r\n"
        "N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=F6rgensen;B=F8=\r\nrge\r\n"
        "PHOTO;JPEG;ENCODING=BASE64:AAAA=\r\nTEL;CELL;VOICE:+45 123\r\nTEL;TYPE=work:+45 9\r\n"
        "ADR;TYPE=home:;;Kajen 3\\, 2. th;Aarhus\\; C;;8000;\r\nEND:VCARD\r\n",
    )
    assert got.title == "Børge Jörgensen"
    assert got.text.splitlines()[2:] == [
        "Phone (cell): +45 123",
        "Phone (work): +45 9",
        "Address (home): Kajen 3, 2. th, Aarhus; C, 8000",
    ]


# --- iWork before 2013 ---------------------------------------------------------------------------

NAMESPACES = (
    'xmlns:sf="http://developer.apple.com/namespaces/sf"'
    ' xmlns:sfa="http://developer.apple.com/namespaces/sfa"'
    ' xmlns:key="http://developer.apple.com/namespaces/keynote2"'
    ' xmlns:ls="http://developer.apple.com/namespaces/ls"'
    ' xmlns:sl="http://developer.apple.com/namespaces/sl"'
)


def zipped(members: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def text_of(*paragraphs: str) -> str:
    body = "".join(f"<sf:p>{words}</sf:p>" for words in paragraphs)
    return f"<sf:text-storage><sf:text-body>{body}</sf:text-body></sf:text-storage>"


def grid(*cells: str) -> str:
    return f"<sf:grid><sf:datasource>{''.join(cells)}</sf:datasource></sf:grid>"


def test_slides_of_keynote_before_2013() -> None:
    """apache/tika, testKeynote.key and testTables.key: no slides, tables as single words, and the
    words of templates among them."""
    cells = [f'<sf:t sf:ct="{step}"><sf:ct sfa:s="c{step}"/></sf:t>' for step in (0, 1, 255)]
    cells.append('<sf:n sf:v="-872.39999999999998"/>')
    slides = (
        f"<key:slide><key:title-placeholder>{text_of('The quay')}</key:title-placeholder>"
        f"<key:body>{text_of('Built in <sf:span>1934</sf:span>')}</key:body>"
        f"<key:page><sf:tabular-model sf:name='T'>{grid(*cells)}</sf:tabular-model></key:page>"
        f"<key:notes>{text_of('Speak slowly')}</key:notes></key:slide>"
        f"<key:slide><key:body-placeholder>{text_of('The end')}</key:body-placeholder></key:slide>"
    )
    data = (
        f"<key:presentation {NAMESPACES}><key:theme-list>{text_of('Double-click to edit')}"
        f"</key:theme-list><key:slide-list>{slides}</key:slide-list></key:presentation>"
    )
    got = extract("a.key", zipped({"index.apxl": data}))
    assert [(e.kind, got.text[e.start : e.end], e.place.pages) for e in got.elements] == [
        ("heading", "The quay", (1,)),
        ("paragraph", "Built in 1934", (1,)),
        ("table", "c0 | c1\nc255 | -872.4", (1,)),
        ("paragraph", "Speak slowly", (1,)),
        ("paragraph", "The end", (2,)),
    ]


def test_a_letter_of_pages_before_2013() -> None:
    """apache/tika, testPages.pages: the words of its template ("Lorem ipsum") were the text; a word
    with a comment was lost (testPagesComments.pages)."""
    cells = grid('<sf:t sf:ct="0"><sf:ct sfa:s="Tide table"/></sf:t>')
    table = f"<sf:tabular-model>{cells}</sf:tabular-model>"
    data = (
        f"<sl:document {NAMESPACES}>"
        "<sl:metadata><sl:title><sl:string sfa:string='Dredging'/></sl:title>"
        "<sl:authors><sl:string sfa:string='Ann Roe'/></sl:authors></sl:metadata>"
        f"<sl:section-prototypes>{text_of('Lorem ipsum')}</sl:section-prototypes>"
        "<sl:stylesheet><sf:paragraphstyle sf:name='Heading 2' sf:ident='p-2'/>"
        "<sf:paragraphstyle sf:parent-ident='p-2' sfa:ID='S-7'/></sl:stylesheet>"
        f"<sl:drawables>{text_of('A box beside it')}</sl:drawables>"
        "<sf:text-storage><sf:attachments>"
        f"<sf:attachment sfa:ID='A-1'>{table}</sf:attachment></sf:attachments>"
        "<sf:text-body><sf:page-start sf:page-index='0'/><sf:section><sf:layout>"
        "<sf:p sf:style='S-7'>The plan<sf:br/></sf:p>"
        "<sf:p>In <sf:annotation-field>May</sf:annotation-field> we dredge.<sf:br/></sf:p>"
        "<sf:p><sf:attachment-ref sfa:IDREF='A-1'/></sf:p>"
        "<sf:page-start sf:page-index='1'/><sf:p>Then we rest.</sf:p>"
        "</sf:layout></sf:section></sf:text-body></sf:text-storage></sl:document>"
    )
    got = extract("a.pages", zipped({"index.xml": data}))
    assert got.title == "Dredging"
    assert got.metadata["authors"] == ("Ann Roe",)
    assert [(e.kind, got.text[e.start : e.end], e.place.pages) for e in got.elements] == [
        ("heading", "The plan", (1,)),
        ("paragraph", "In May we dredge.", (1,)),
        ("table", "Tide table", (1,)),
        ("paragraph", "Then we rest.", (2,)),
        ("paragraph", "A box beside it", (2,)),
    ]


def test_tables_of_numbers_before_2013() -> None:
    """apache/tika, testNumbers.numbers: refused."""
    cells = (
        '<sf:t sf:ct="0"><sf:ct sfa:s="Paid"/></sf:t><sf:t><sf:ct sfa:s="Kind"/></sf:t>'
        '<sf:t><sf:ct sfa:s="Amount"/></sf:t><sf:d sf:ct="254" sf:cell-date="277257600"/>'
        '<sf:pm><sf:menu-choices><sf:t sfa:ID="c1"><sf:ct sfa:s="Home"/></sf:t>'
        '<sf:t sfa:ID="c2"><sf:ct sfa:s="Gas"/></sf:t></sf:menu-choices>'
        '<sf:proxied-cell-ref sfa:IDREF="c2"/></sf:pm>'
        '<sf:f><sf:fo sf:fs="=1+1"/><sf:r><sf:rn sf:v="2"/></sf:r></sf:f>'
    )
    data = (
        f"<ls:document {NAMESPACES}><ls:workspace ls:workspace-name='Checking'>"
        f"<sf:tabular-model sf:name='Accounts'>{grid(cells)}</sf:tabular-model></ls:workspace>"
        "</ls:document>"
    )
    got = extract("a.numbers", zipped({"index.xml": data}))
    assert got.text == "Checking: Accounts\n\nPaid | Kind | Amount\n2009-10-15 | Gas | 2"
    assert got.media_type == "application/vnd.apple.numbers"
    assert got.elements[1].place.sheet == "Checking: Accounts"


def test_a_document_before_2013_that_holds_itself_ends() -> None:
    """Damaged: an attachment within itself, a page and a cell that are nowhere."""
    near = '<sf:t><sf:ct sfa:s="near"/></sf:t>'
    far = "".join('<sf:t sf:ct="999999999"><sf:ct sfa:s="far"/></sf:t>' for _ in range(3))
    data = (
        f"<sl:document {NAMESPACES}><sf:text-storage><sf:attachments>"
        "<sf:attachment sfa:ID='A-1'><sf:text-storage><sf:text-body>"
        "<sf:p>Tide<sf:attachment-ref sfa:IDREF='A-1'/></sf:p></sf:text-body></sf:text-storage>"
        f"<sf:tabular-model>{grid(near, far)}</sf:tabular-model>"
        "</sf:attachment></sf:attachments><sf:text-body><sf:page-start sf:page-index='first'/>"
        "<sf:p>Quay<sf:attachment-ref sfa:IDREF='A-1'/></sf:p>"
        "</sf:text-body></sf:text-storage></sl:document>"
    )
    got = extract("a.pages", zipped({"index.xml": data}))
    assert [got.text[e.start : e.end] for e in got.elements] == ["Quay", "Tide", "near"]


# --- iWork since 2013 ----------------------------------------------------------------------------


def placeholder(number: int, storage: int) -> tuple[int, int, bytes]:
    return number, 7, field(1, field(1, field(4, 0)) + field(4, names(storage)))


def old_cell(kind: int, flags: int, value: bytes, more: int = 0) -> bytes:
    return bytes((4, kind, 0, 0)) + struct.pack("<II", flags, more) + value


def new_cell(kind: int, flags: int, value: bytes) -> bytes:
    return bytes((5, kind)) + bytes(6) + struct.pack("<I", flags) + value


OLD_CELLS = [
    [
        old_cell(3, 0x94, struct.pack("<III", 9, 9, 1)),
        old_cell(2, 0x2C, struct.pack("<IIdI", 9, 9, -97.4, 9)),
    ],
    [
        old_cell(5, 0xC4, struct.pack("<IIdI", 9, 9, 277_257_600, 9)),
        old_cell(6, 0x24, struct.pack("<Id", 9, 1.0)),
    ],
]
DECIMAL = (9740).to_bytes(14, "little") + ((0x1820 - 2) << 1).to_bytes(2, "little")
NEW_CELLS = [
    [
        new_cell(3, 8, struct.pack("<I", 1)),
        new_cell(2, 1, DECIMAL[:15] + bytes((DECIMAL[15] | 0x80,))),
    ],
    [new_cell(5, 4, struct.pack("<d", 277_257_600)), new_cell(6, 2, struct.pack("<d", 1.0))],
]


@pytest.mark.parametrize("cells", [OLD_CELLS, NEW_CELLS], ids=["before 2019", "since"])
def test_slides_of_keynote_come_in_the_order_of_the_show(cells: list[list[bytes]]) -> None:
    """apache/tika, testKeynote2013.key: slides by the number in their parts' names, no tables."""
    show = (1, 2, field(3, field(2, names(12)) + field(2, names(11))))
    nodes = [(11, 4, field(2, names(21))), (12, 4, field(2, names(22)))]
    first = [
        (
            22,
            5,
            field(5, names(31)) + field(6, names(32)) + field(42, names(40)) + field(27, names(33)),
        ),
        iwork_text(51, "Built in 1934"),
        iwork_text(52, "The quay"),
        iwork_text(53, "Speak slowly"),
        placeholder(31, 52),
        placeholder(32, 51),
        (33, 15, field(1, names(53))),
    ]
    members = {
        "Index/Document.iwa": iwork_part(show, *nodes),
        "Index/Slide-1.iwa": iwork_part((21, 5, b""), iwork_text(54, "The end")),
        "Index/Slide-2.iwa": iwork_part(*first),
        "Index/MasterSlide.iwa": iwork_part(iwork_text(60, "Double-click to edit")),
        "Index/CalculationEngine.iwa": iwork_part(*iwork_table(40, cells, ["Paid"])),
    }
    got = extract("a.key", zipped(members))
    assert [(e.kind, got.text[e.start : e.end], e.place.pages) for e in got.elements] == [
        ("heading", "The quay", (1,)),
        ("paragraph", "Built in 1934", (1,)),
        ("table", "Paid | -97.4\n2009-10-15 | yes", (1,)),
        ("paragraph", "Speak slowly", (1,)),
        ("paragraph", "The end", (2,)),
    ]
    folder = zipped({"Show.key/Index.zip": zipped(members), "Show.key/Metadata/a.plist": b"x"})
    assert extract("mailed.zip", folder).text == got.text


def test_an_archive_with_a_folder_of_keynote_is_still_an_archive() -> None:
    parts = zipped({"Index/Document.iwa": iwork_part(iwork_text(1, "The quay"))})
    archive = zipped({"Show.key/Index.zip": parts, "notes.txt": "High water at noon"})
    got = extract("all.zip", archive)
    assert [blob.name for blob in got.enclosed] == ["Show.key/Index.zip", "notes.txt"]


def test_a_table_of_pages_stands_where_its_anchor_is() -> None:
    """apache/tika, testPages2013.pages: no tables, and a box before the text."""
    anchor = field(9, field(1, field(1, 4) + field(2, names(5))))
    body = iwork_text(2, "Tide\ufffc\nThen we rest.", field(1, 0), anchor)
    part = iwork_part(
        iwork_text(3, "A box"),
        body,
        (5, 2003, field(1, names(40))),
        *iwork_table(40, NEW_CELLS, ["P"]),
    )
    got = extract("a.pages", zipped({"Index/Document.iwa": part}))
    assert [got.text[e.start : e.end] for e in got.elements] == [
        "Tide",
        "P | -97.4\n2009-10-15 | yes",
        "Then we rest.",
        "A box",
    ]


def test_numbers_of_2013_is_read_without_its_library() -> None:
    """apache/tika, testNumbers2013.numbers: numbers-parser refuses it. On the first 60 of its own
    test files 24,457 of 24,967 cells are as it reads them; the others' tables in other order."""
    part = iwork_part(
        (1, 1, field(1, names(2))),
        (2, 2, field(1, b"Checking") + field(2, names(40))),
        *iwork_table(40, OLD_CELLS, ["Paid"]),
    )
    got = extract("a.numbers", zipped({"Index/Document.iwa": part}))
    assert got.text == "Paid | -97.4\n2009-10-15 | yes"
    assert got.elements[0].place.sheet == "Checking"


# --- books ---------------------------------------------------------------------------------------


def book(head: bytes, *records: bytes) -> bytes:
    every = (head, *records)
    start = 78 + 8 * len(every)
    data = b"book".ljust(60, b"\0") + b"BOOKMOBI" + bytes(8) + struct.pack(">H", len(every))
    for at in range(len(every)):
        data += struct.pack(">II", start + sum(map(len, every[:at])), at)
    return data + b"".join(every)


def book_head(
    packing: int, *, version: int = 6, at: int = 0, count: int = 0, flows: int = 0
) -> bytes:
    head = bytearray(264)
    struct.pack_into(">HxxIHH", head, 0, packing, 0, 1, 4096)
    head[16:20] = b"MOBI"
    struct.pack_into(">IIIII", head, 20, 248, 2, 65001, 0, version)
    struct.pack_into(">II", head, 112, at, count)
    struct.pack_into(">I", head, 192, flows)
    return bytes(head)


def test_a_book_of_kf8_is_its_parts_without_styles() -> None:
    """bfabiszewski/libmobi, sample-obfuscated-fonts.mobi: no text was found, since it stands behind
    the first document's end."""
    text = (
        b"<?xml version='1.0'?><html><head><title>T</title></head><body></body></html>"
        b"<h1>The quay</h1><p>Built in 1934.</p><html><head/><body/></html><p>Rebuilt.</p>"
    )
    flows = struct.pack(">4sIIIIII", b"FDST", 12, 2, 0, len(text), len(text), len(text) + 20)
    got = extract(
        "a.azw3", book(book_head(1, version=8, flows=2), text + b"p { margin: 0 5pt } ", flows)
    )
    assert got.text == "The quay\n\nBuilt in 1934.\n\nRebuilt."


def test_a_book_that_is_packed_by_huffmans_codes() -> None:
    """bfabiszewski/libmobi, sample-unicode-huffdic.mobi: refused; now its text is the same as that
    of sample-unicode-uncompressed.mobi. Here four words have codes of two bits; one is packed."""
    words = [b"<p>tide</p>", b"<p>mud</p>", b"\x50", b"<html>"]
    flags = [0x8000, 0x8000, 0, 0x8000]
    # The code of a word is the largest one, 3, less its number.
    table = [2 | 0x80 | 3 << 8 for _ in range(256)]
    codes = b"HUFF" + struct.pack(">III", 24, 24, 24 + 1024) + bytes(8)
    codes += struct.pack(">256I", *table) + bytes(256)
    places, entries = [], b""
    for word, flag in zip(words, flags, strict=True):
        places.append(2 * len(words) + len(entries))
        entries += struct.pack(">H", len(word) | flag) + word
    lists = b"CDIC" + struct.pack(">III", 16, len(words), 2)
    lists += struct.pack(">4H", *places) + entries
    # 00: <html>; 11: tide; 10: mud; 01: the packed word, whose first bits are its own code.
    data = bytes((0b00111011,))
    with pytest.raises(FileDamaged):
        extract("a.mobi", book(book_head(17480, at=2, count=2), bytes((0b01000000,)), codes, lists))
    words_of_it = extract("a.mobi", book(book_head(17480, at=2, count=2), data, codes, lists))
    assert words_of_it.text == "tide\n\nmud\n\ntide"


# --- drawings ------------------------------------------------------------------------------------


def test_a_shape_of_visio_shows_the_words_of_its_master() -> None:
    """dave-howard/vsdx, test_master.vsdx and test_master_multiple_child_shapes.vsdx ("no text").
    The order of pages is that of their list, not of their files' numbers."""
    relations = (
        "<Relationships>"
        "<Relationship Id='r1' Target='page2.xml'/><Relationship Id='r2' Target='page1.xml'/>"
        "<Relationship Id='m' Target='master1.xml'/></Relationships>"
    )
    namespace = "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'"
    got = extract(
        "plan.vsdx",
        zipped(
            {
                "visio/document.xml": "<VisioDocument/>",
                "visio/pages/pages.xml": f"<Pages {namespace}>"
                "<Page Name='Frame' Background='1'><Rel r:id='r2'/></Page>"
                "<Page Name='Quays'><Rel r:id='r1'/></Page></Pages>",
                "visio/pages/_rels/pages.xml.rels": relations,
                "visio/masters/_rels/masters.xml.rels": relations,
                "visio/masters/masters.xml": f"<Masters {namespace}>"
                "<Master ID='2'><Rel r:id='m'/></Master></Masters>",
                "visio/masters/master1.xml": "<MasterContents><Shapes><Shape ID='5'>"
                "<Text>Crane</Text>"
                "<Shapes><Shape ID='6'><Text>Hook</Text></Shape></Shapes></Shape></Shapes>"
                "</MasterContents>",
                "visio/pages/page1.xml": "<PageContents><Shapes><Shape><Text>Harbour office</Text>"
                "</Shape></Shapes></PageContents>",
                "visio/pages/page2.xml": "<PageContents><Shapes><Shape Master='2'><Shapes>"
                "<Shape MasterShape='6'/></Shapes></Shape><Shape Master='2'><Text>Crane 2</Text>"
                "</Shape><Shape/></Shapes></PageContents>",
            }
        ),
    )
    assert [(got.text[e.start : e.end], e.place.pages) for e in got.elements] == [
        ("Quays", ()),
        ("Crane", (1,)),
        ("Hook", (1,)),
        ("Crane 2", (1,)),
        ("Frame", ()),
        ("Harbour office", (2,)),
    ]


# --- LaTeX ---------------------------------------------------------------------------------------

PAPER = r"""\documentclass{article}
\newcommand{\ie}{\emph{i.e.}\xspace}
\newcommand{\method}[2][Harbour]{#1-#2}
\def\tide{tide table}
\DeclareMathOperator{\argmax}{arg\,max}
\title{The \method{Net}: a study\thanks{Supported by a fund}}
\author{Ann Roe\textsuperscript{1}, Bo Lind$^{2}$ \\ University of Porto \and Cy Poe \\ MIT}
\begin{document}
We propose \method{Net} and \method[Quay]{Net}, \ie a net. % nobody reads this
The \tide{} has $\frac{a+b}{c}$ and \verb|x_1 & %y|. 50\% of it. \rule{3in}{0.4pt}
\iffalse hidden words \fi
\begin{tabular}{l|cc}
\toprule
 & \multicolumn{2}{c}{Score} \\ \cmidrule(lr){2-3}
Model & F1 & EM \\ \midrule
\multirow{2}{*}{Ours} & \begin{tabular}{@{}c@{}}90.1\\best\end{tabular} & \makecell{80 \\ old} \\
\end{tabular}
\begin{align} a &= b \\ c &= d \end{align}
\begin{lstlisting}
50 % of code
\end{lstlisting}
\begin{thebibliography}{9}
\bibitem[{Smith et~al.(2001)}]{smith} A. Smith, \emph{Tides}, 2001.
\end{thebibliography}
\end{document}
"""


def test_a_paper_with_its_own_commands_and_tables_in_tables() -> None:
    """jgm/pandoc, latex-reader.latex, and as authors write: their commands' words were lost, a
    table within a cell ended the outer one, where people work was their name, and the references
    were left out."""
    got = extract("paper.tex", PAPER)
    assert got.title == "The Harbour-Net: a study"
    assert got.metadata["authors"] == ("Ann Roe", "Bo Lind", "Cy Poe")
    assert [got.text[e.start : e.end] for e in got.elements] == [
        "We propose Harbour-Net and Quay-Net, i.e. a net. The tide table has (a+b)/c"
        " and x_1 & %y. 50% of it.",
        "– | Score\nModel | F1 | EM\nOurs | 90.1 best | 80 old",
        "a = b c = d",
        "50 % of code",
        "References",
        "A. Smith, Tides, 2001.",
    ]


def test_a_command_that_uses_itself_ends() -> None:
    got = extract("a.tex", r"\newcommand{\a}{x\a\a}\newcommand{\b}{\b}Tide \a and \b{} turn.")
    assert got.text.startswith("Tide x")


# --- light markup --------------------------------------------------------------------------------


def elements(got: Extraction) -> list[tuple[str, str]]:
    return [(element.kind, got.text[element.start : element.end]) for element in got.elements]


def test_names_and_macros_of_asciidoc() -> None:
    """asciidoctor/asciidoctor, README.adoc, and jgm/pandoc, asciidoc-reader.adoc: addresses by name
    stood in the text, pictures with their parameters, and commands were prose."""
    got = extract(
        "a.adoc",
        "= Quay\n:url-docs: https://docs.example.org\n:url: {url-docs}/tide\n\n"
        "See {url}[the table^] or link:{url}[*Noon*,role=x]. +\n"
        "Press kbd:[F11] &amp; menu:File[Save].\n"
        "image:{url}/a.png[A crane, 300] [[here]]H~2~O, tide{sp}2, {unknown}, an__chor__.\n"
        "Version\n8. is no item\n\n $ make tide\n\n* one\n* two\n\n====\nIn a box\n====\n",
    )
    assert elements(got) == [
        ("heading", "Quay"),
        (
            "paragraph",
            "See the table or Noon. Press F11 & File > Save. A crane H2O, tide 2, {unknown},"
            " anchor. Version 8. is no item",
        ),
        ("code", "$ make tide"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("paragraph", "In a box"),
    ]


def test_names_of_asciidoc_that_would_grow_without_end_stay() -> None:
    names = "".join(f":a{n}: {f'{{a{n + 1}}}' * 100}\n" for n in range(6))
    assert len(extract("a.adoc", f"= Quay\n{names}\nThe tide {{a0}}.\n").text) < 50_000


def test_paragraphs_and_fields_of_restructured_text() -> None:
    """jgm/pandoc, rst-reader.rst: "Version 8." became an item without its number, a quote ended as
    code, and a field lost the lines below it."""
    got = extract(
        "a.rst",
        "Quay\n====\n\nIn earlier times. Version\n8. This goes on.\n\n"
        "    Code in a quote::\n\n        make tide\n\n    Then words.\n\n"
        ":city: Porto,\n  Portugal\n:phone: 1\n\nThe end.\n",
    )
    assert elements(got) == [
        ("heading", "Quay"),
        ("paragraph", "In earlier times. Version 8. This goes on."),
        ("paragraph", "Code in a quote:"),
        ("code", "make tide"),
        ("paragraph", "Then words."),
        ("paragraph", "city: Porto, Portugal"),
        ("paragraph", "phone: 1"),
        ("paragraph", "The end."),
    ]


def test_macros_of_org_are_their_words() -> None:
    """bzg/org-mode, org-guide.org: `{{{kbd(TAB)}}}`."""
    assert extract("a.org", "* Keys\nPress {{{kbd(TAB)}}} now.\n").text == "Keys\n\nPress TAB now."


def test_xps_is_refused_by_name() -> None:
    """apache/tika, testPPT.xps: its parts became fifteen documents of glyphs and fonts."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<t/>",
        "FixedDocSeq.fdseq": "<s/>",
        "Documents/1/Pages/1.fpage": "<p/>",
    }
    with pytest.raises(FormatUnknown, match=r"XPS document.*PDF"):
        extract("a.xps", zipped(parts))
    unpacked = zipped({**{f"old/{name}": xml for name, xml in parts.items()}, "a.txt": "Noon"})
    assert "a.txt" in [enclosed.name for enclosed in extract("all.zip", unpacked).enclosed]


@pytest.mark.parametrize("count", ["9" * 5000, "-", "-3"])
def test_a_cell_over_an_absurd_number_of_columns_is_no_fault(count: str) -> None:
    table = (
        rf"\begin{{tabular}}{{ll}} \multicolumn{{{count}}}{{c}}{{Score}} & F1 \\ \end{{tabular}}"
    )
    got = extract("a.tex", rf"\documentclass{{article}}\begin{{document}}{table}\end{{document}}")
    assert "Score" in got.text
