"""The bytes decide first, the name second, and a refusal says what the file is."""

import pytest

from trivium.core.errors import FileEmpty, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.code import read_code
from trivium.extract.detect import BUILT_IN, choose, read
from trivium.extract.markdown import read_markdown
from trivium.extract.text import read_text
from trivium.ports import Blob, Extractor


@pytest.mark.parametrize(
    ("name", "data", "extractor"),
    [
        ("a.md", b"plain words", read_markdown),
        ("A.MARKDOWN", b"plain words", read_markdown),
        ("a.txt", b"# not a heading\n\n## nor this\n\nx", read_text),
        ("a.py", b"# comment\n\n# another\n\nx = 1", read_code),
        ("README", b"# Title\n\nText\n\n## Part\n\nMore", read_markdown),
        ("note", b"---\ntitle: A note\n---\nText", read_markdown),
        ("script", b"#!/bin/sh\n\n# one\n\n# two\n\necho", read_code),
        ("Makefile", b"# build\nall:\n\tcc x.c\n# end", read_code),
        ("letter", b"BMW and II* and RIFF are words here", read_text),
        ("log", b"\x1b[31mred\x1b[0m text", read_text),
        ("wide.txt", "words".encode("utf-16"), read_text),
    ],
)
def test_choice(name: str, data: bytes, extractor: Extractor) -> None:
    assert choose(Blob(name, data)) is extractor


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n...", "a PDF"),
        (b"\x89PNG\r\n\x1a\n\x00", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00", "a JPEG image"),
        (b"BM\x00\x00\x01", "a BMP image"),
        (b"\x00\x00\x00\x20ftypisom", "a video"),
        (b"words\x00and more", "a binary file"),
        (b"  999\r\nFreeCAD\r\n  0\r\nSECTION\r\n  2\r\nENTITIES\r\n  0\r\n", "an AutoCAD drawing"),
    ],
)
@pytest.mark.parametrize("name", ["file.md", "file.txt", "file"])
def test_a_refusal_names_the_format_whatever_the_name(name: str, data: bytes, kind: str) -> None:
    with pytest.raises(FormatUnknown, match=f"{name} is {kind}"):
        read(Blob(name, data))


@pytest.mark.parametrize("data", [b"", b" \n\t", b"\xef\xbb\xbf\n", b"\xff\xfe\n\x00"])
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a"])
def test_empty(name: str, data: bytes) -> None:
    with pytest.raises(FileEmpty, match=name):
        read(Blob(name, data))


def test_size_limit() -> None:
    blob = Blob("a.txt", b"12345 7890")
    assert read(blob, max_bytes=10).text == "12345 7890"
    with pytest.raises(FileTooLarge, match="10 bytes; the limit is 9"):
        read(blob, max_bytes=9)


def test_a_later_format_plugs_in_front() -> None:
    class Pdf:
        version = "pdf/1"

        def accepts(self, blob: Blob) -> bool:
            return blob.data.startswith(b"%PDF-")

        def extract(self, blob: Blob) -> Extraction:
            return Extraction("read", (), blob.name, "application/pdf")

    assert read(Blob("a.pdf", b"%PDF-1"), extractors=(Pdf(), *BUILT_IN)).text == "read"


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.txt", "a"])
@pytest.mark.parametrize("data", [b"\xff\xfe\0garbage", b"\xfe\xff\x00\x01\x02\x03\x00\x07ab"])
def test_the_mark_of_utf_16_alone_makes_no_text(name: str, data: bytes) -> None:
    with pytest.raises(FormatUnknown, match="binary file"):
        read(Blob(name, data))


@pytest.mark.parametrize(
    "text", ["Ann", "好", "漢字かな交じり文", "Привет, мир", "שלום", "a\tb\r\n1\t2"]
)
def test_short_texts_in_utf_16_are_read(text: str) -> None:
    for encoding in ("utf-16", "utf-16-be", "utf-32"):
        mark = "\ufeff" if encoding == "utf-16-be" else ""
        assert read(Blob("a.txt", f"{mark}{text}".encode(encoding))).text.split() == text.split()
