"""Old Office files: DOC with headings and tables, XLS, PPT, MSG, PST, and what a password
hides."""

import sys
from datetime import datetime
from types import SimpleNamespace

import pytest
from tests.unit.extract.making import check_offsets, compound, pieces
from tests.unit.extract.making_legacy import doc, msg, ppt, xls

from trivium.core.errors import FileDamaged, FileLocked, FormatUnknown
from trivium.extract.detect import read
from trivium.extract.legacy import read_doc, read_xls
from trivium.extract.msg import read_msg, read_pst
from trivium.extract.ole import read_locked_office
from trivium.extract.ppt import read_ppt
from trivium.ports import Blob


def test_doc_has_headings_tables_and_field_results() -> None:
    text = (
        "Boats\rSee \x13 HYPERLINK x \x14the page\x15.\rA\x07B\x07\x071\x072\x07\x07• point\rÜber\r"
    )
    blob = Blob("x.bin", doc(text, {0: 1}))
    assert read_doc.accepts(blob)
    result = read_doc.extract(blob)
    check_offsets(result)
    assert pieces(result) == [
        ("heading", "Boats"),
        ("paragraph", "See the page."),
        ("table", "A | B\n1 | 2"),
        ("list_item", "point"),
        ("paragraph", "Über"),
    ]
    assert result.elements[1].headings == ("Boats",)


def test_doc_that_is_locked_or_damaged() -> None:
    with pytest.raises(FileLocked, match="password"):
        read_doc.extract(Blob("x.doc", doc("x\r", flags=0x0100)))
    with pytest.raises(FileDamaged, match="damaged"):
        read_doc.extract(Blob("x.doc", compound({"WordDocument": b"nothing"})))


def test_xls() -> None:
    blob = Blob("book.bin", xls())
    assert read_xls.accepts(blob)
    result = read_xls.extract(blob)
    assert pieces(result) == [("row", "name | age"), ("row", "Ann | 7.5")]
    last = result.elements[-1]
    assert (last.header, last.place.sheet, last.place.rows) == ("name | age", "S", (2, 2))


def test_locked_workbooks() -> None:
    with pytest.raises(FileLocked, match="password"):
        read_xls.extract(Blob("x.xls", xls(locked=True)))
    new = Blob("x.xlsx", compound({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}))
    assert read_locked_office.accepts(new)
    with pytest.raises(FileLocked, match=r"x\.xlsx is protected by a password"):
        read_locked_office.extract(new)
    with pytest.raises(FormatUnknown, match="without an Office document"):
        read_locked_office.extract(Blob("x.doc", compound({"Other": b"x"})))


def test_ppt_slides_in_the_order_they_are_shown() -> None:
    blob = Blob("deck.bin", ppt())
    assert read_ppt.accepts(blob)
    result = read_ppt.extract(blob)
    check_offsets(result)
    assert pieces(result) == [
        ("heading", "Plan"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("heading", "Slide 2"),
        ("paragraph", "drawn"),
    ]
    assert [e.place.pages for e in result.elements] == [(1,)] * 3 + [(2,)] * 2


def test_ppt_with_a_broken_chain_gives_all_text() -> None:
    result = read_ppt.extract(Blob("x.ppt", ppt(chained=False)))
    assert {"Plan", "drawn"} <= {text for _, text in pieces(result)}


def test_msg() -> None:
    wide = {0x0037: "Grüße", 0x1000: "Hello.\r\n\r\nBye.", 0x0C1A: "Ann Lee", 0x0E04: "Bo; Cy"}
    blob = Blob("x.bin", msg(wide))
    assert read_msg.accepts(blob)
    result = read_msg.extract(blob)
    assert pieces(result) == [("paragraph", "Hello."), ("paragraph", "Bye.")]
    assert (result.title, result.metadata["to"]) == ("Grüße", ("Bo", "Cy"))
    assert result.elements[0].place.authors == ("Ann Lee",)
    assert result.elements[0].place.time == "2001-09-09T01:46:40+00:00"


def test_msg_with_the_addresses_of_its_recipients() -> None:
    """As in apache/tika's testMSG_forwarded.msg and testMSG_att_doc.msg; the last one is of an
    Exchange server."""
    people = (
        {0x3001: "Paul Allan Hill", 0x39FE: "paul@metajure.com", 0x3003: "/O=METAJURE/CN=PAUL"},
        {0x3001: "'nicolas@free.example'", 0x3003: "nicolas@free.example"},
        {0x3001: "Bo", 0x3003: "/O=WORKS/CN=BO"},
    )
    result = read_msg.extract(Blob("x.msg", msg({0x1000: "Hi.", 0x0E04: "Paul"}, *people)))
    assert result.metadata["to"] == (
        "Paul Allan Hill <paul@metajure.com>",
        "nicolas@free.example",
        "Bo",
    )


_OUTLOOK_FIELDS = (
    "subject",
    "sender_name",
    "recipients",
    "plain_text_body",
    "html_body",
    "rtf_body",
)


def _outlook_item(**own: object) -> SimpleNamespace:
    """What libpff says of an item; empty values as it gives them for apache/tika's testPST.pst."""
    names = [*_OUTLOOK_FIELDS, "transport_headers", "client_submit_time", "delivery_time"]
    nothing = dict.fromkeys(names)
    return SimpleNamespace(**{**nothing, "attachments": (), **own})


def test_outlooks_archives_are_mailboxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing writes PST files, so libpff's answers are written down here, as it gave them for
    testPST.pst and testPST_variousBodyTypes.pst of apache/tika and dist-list.pst of
    rjohnsondev/java-libpst, which were read by hand beside it."""
    values = [SimpleNamespace(entry_type=0x3701, value_type=0x0102)]
    part = SimpleNamespace(
        record_sets=[SimpleNamespace(entries=values)], size=4, number_of_sub_items=0,
        long_filename="C:\\plans\\tide.txt", read_buffer=lambda: b"tide",
    )  # fmt: skip
    name = SimpleNamespace(entry_type=0x3001, value_type=0x1F, data_as_string="Bo")
    asked = _outlook_item(
        subject="Tide", sender_name="Ann", plain_text_body=b"When?\r\n", attachments=[part],
        client_submit_time=datetime(2016, 8, 2, 0, 27),
        recipients=SimpleNamespace(record_sets=[SimpleNamespace(entries=[name])]),
    )  # fmt: skip
    headers = "From: Bo <b@x.org>\r\nSubject: Re: Tide\r\nDate: Tue, 2 Aug 2016 01:00:00 +0200\r\n"
    answered = _outlook_item(transport_headers=headers, html_body=b"<p>At <b>noon</b>.</p>")
    formatted = _outlook_item(subject="Reeds", rtf_body=b"{\\rtf1 Herons.}", sender_name="Unknown")
    own = SimpleNamespace()  # a folder's settings, which are no message
    inbox = SimpleNamespace(sub_messages=[asked, formatted, own], sub_folders=[])
    root = SimpleNamespace(
        sub_messages=[],
        sub_folders=[inbox, SimpleNamespace(sub_messages=[answered], sub_folders=[])],
    )
    archive = SimpleNamespace(open_file_object=lambda file: None, root_folder=root)
    monkeypatch.setitem(sys.modules, "pypff", SimpleNamespace(file=lambda: archive))
    result = read_pst.extract(Blob("mail.pst", b"!BDN"))
    assert pieces(result) == [
        ("heading", "Tide"), ("message", "When?\n[tide.txt]"), ("message", "At noon."),
        ("heading", "Reeds"), ("message", "Herons."),
    ]  # fmt: skip
    assert result.elements[1].place.authors == ("Ann",)
    assert result.elements[1].place.time == "2016-08-02T00:27:00+00:00"
    assert result.elements[2].place.time == "2016-08-02T01:00:00+02:00"
    assert [(one.name, one.data) for one in result.enclosed] == [("tide.txt", b"tide")]


def test_outlooks_archives_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    blob = Blob("mail.pst", b"!BDN" + bytes(600))
    with pytest.raises(FileDamaged, match=r"mail\.pst is a damaged Outlook archive"):
        read(blob)
    monkeypatch.setitem(sys.modules, "pypff", None)
    with pytest.raises(FormatUnknown, match="pip install libpff-python"):
        read(blob)
