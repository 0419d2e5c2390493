"""Old Office files: DOC with headings and tables, XLS, PPT, MSG, and what a password hides."""

import pytest
from tests.unit.extract.making import check_offsets, compound, pieces
from tests.unit.extract.making_legacy import doc, msg, ppt, xls

from trivium.core.errors import FileDamaged, FileLocked
from trivium.extract.legacy import DocExtractor, XlsExtractor
from trivium.extract.msg import MsgExtractor
from trivium.extract.ole import LockedOfficeExtractor
from trivium.extract.ppt import PptExtractor
from trivium.ports import Blob


def test_doc_has_headings_tables_and_field_results() -> None:
    text = (
        "Boats\rSee \x13 HYPERLINK x \x14the page\x15.\rA\x07B\x07\x071\x072\x07\x07• point\rÜber\r"
    )
    blob = Blob("x.bin", doc(text, {0: 1}))
    assert DocExtractor().accepts(blob)
    result = DocExtractor().extract(blob)
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
        DocExtractor().extract(Blob("x.doc", doc("x\r", flags=0x0100)))
    with pytest.raises(FileDamaged, match="damaged"):
        DocExtractor().extract(Blob("x.doc", compound({"WordDocument": b"nothing"})))


def test_xls() -> None:
    blob = Blob("book.bin", xls())
    assert XlsExtractor().accepts(blob)
    result = XlsExtractor().extract(blob)
    assert pieces(result) == [("row", "name | age"), ("row", "Ann | 7.5")]
    last = result.elements[-1]
    assert (last.header, last.place.sheet, last.place.rows) == ("name | age", "S", (2, 2))


def test_locked_workbooks() -> None:
    with pytest.raises(FileLocked, match="password"):
        XlsExtractor().extract(Blob("x.xls", xls(locked=True)))
    new = Blob("x.xlsx", compound({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}))
    assert LockedOfficeExtractor().accepts(new)
    with pytest.raises(FileLocked, match=r"x\.xlsx is protected by a password"):
        LockedOfficeExtractor().extract(new)
    with pytest.raises(FileDamaged, match="without a document"):
        LockedOfficeExtractor().extract(Blob("x.doc", compound({"Other": b"x"})))


def test_ppt_slides_in_the_order_they_are_shown() -> None:
    blob = Blob("deck.bin", ppt())
    assert PptExtractor().accepts(blob)
    result = PptExtractor().extract(blob)
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
    result = PptExtractor().extract(Blob("x.ppt", ppt(chained=False)))
    assert {"Plan", "drawn"} <= {text for _, text in pieces(result)}


def test_msg() -> None:
    wide = {0x0037: "Grüße", 0x1000: "Hello.\r\n\r\nBye.", 0x0C1A: "Ann Lee", 0x0E04: "Bo; Cy"}
    blob = Blob("x.bin", msg(wide))
    assert MsgExtractor().accepts(blob)
    result = MsgExtractor().extract(blob)
    assert pieces(result) == [("paragraph", "Hello."), ("paragraph", "Bye.")]
    assert (result.title, result.metadata["to"]) == ("Grüße", ("Bo", "Cy"))
    assert result.elements[0].place.authors == ("Ann Lee",)
    assert result.elements[0].place.time == "2001-09-09T01:46:40+00:00"
