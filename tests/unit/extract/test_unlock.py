"""Files that a password protects are opened with it: PDF, Office, 7z, and both ways ZIP
encrypts."""

from __future__ import annotations

import io
import random
import zipfile

import pytest
from tests.fuzz.seeds import SEVEN_ZIP as OPEN_SEVEN_ZIP
from tests.unit.extract.making import zipped
from tests.unit.extract.test_docx import W, p
from tests.unit.extract.test_pdf_maker import paper

from trivium.core.errors import FileLocked
from trivium.extract.archives import read_zip
from trivium.extract.detect import read
from trivium.extract.pdf import PdfExtractor
from trivium.extract.unlock import unlocked
from trivium.ports import Blob

TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
# Made by `zip -P secret locked.zip note.txt` (Info-ZIP 3.0): "The heron stands in the reeds."
ZIPCRYPTO = bytes.fromhex(
    "504b03040a00090000007035725daa3fd1282b0000001f00000008001c006e6f74652e74787455540900031449"
    "fd6a1449fd6a75780b000104000000000400000000a4f14dc99c17a3c4e3f02f66990240bc73a4ad73d198af34"
    "835f90e2ddc5b607e02d169ac68aa6f4802539504b0708aa3fd1282b0000001f000000504b01021e030a000900"
    "00007035725daa3fd1282b0000001f000000080018000000000001000000a481000000006e6f74652e74787455"
    "540500031449fd6a75780b000104000000000400000000504b050600000000010001004e0000007d0000000000"
)
# The same with AES-256, as 7-Zip and WinZip write it: made by pyzipper 0.4.0.
WINZIP_AES = bytes.fromhex(
    "504b03041400010063007035725d000000003c0000001f00000008000b006e6f74652e74787401990700020041"
    "4503080043d1619dcd7af13fcbfd8efdd8f8d3332a80518c8a491ae5a69aefaebb8c7de4e97625d4a4e9347f74"
    "a237c0ee2cdb2e737f488fce9a2442fdb06bfb504b010214031400010063007035725d000000003c0000001f00"
    "000008000b000000000000000000a481000000006e6f74652e7478740199070002004145030800504b05060000"
    "000001000100410000006d0000000000"
)

# The same by 7-Zip 26.03 (`7zz a -psecret`), with the names readable and (`-mhe=on`) not.
SEVEN_ZIP = bytes.fromhex(
    "377abcaf271c0004c76cd94b30000000000000006a00000000000000e68e91cb68952edee8724363ee15d4bbac"
    "d6f92d1f9b79af0b034ffa4a6736f97d1ba2cc63d46b6d00b13b467891d16c37e7fdd40104060001093000070b"
    "0100022406f1070112530f7b15974664a478801e1e51766024fb2a2121010001000c231f00080a01aa3fd12800"
    "0005011901001113006e006f00740065002e0074007800740000001900140a01008d1e13a55b77dd0115060100"
    "2080a4810000"
)
SEVEN_ZIP_NAMES = bytes.fromhex(
    "377abcaf271c0004693b8b2ca0000000000000002e00000000000000c4bcaea54e2d1b23949a4c9f540252646c"
    "c08f2c7e79af4d0966eb4294b1643447b0294e482e990762b7427d8ec3e8099921b5c0d97897d151a35bb8f0c9"
    "4e03b4b1cb50def02769fc0a5d81d24d5aee2e2e1a6bd2cbd9fbe8c2799362a892aafaf299ee058d8a8e3a5e62"
    "24faa26e3ae044e0c6a7a86242c87bce2a5c283602ba52795bf71ec08df373f061276eca873b9efc12c29c1e74"
    "31a59898e44c8fbf637212ba17063001097000070b0100012406f1070112530f590614b46a3f3cd45b22cf46c9"
    "60397a0c6a0a01c7934b8b0000"
)


def test_a_pdf() -> None:
    blob = Blob("a.pdf", paper().build(password="secret"))
    opened = Blob("a.pdf", unlocked(blob, "secret"))
    assert "On the Making of Indexes" in PdfExtractor().extract(opened).text


def test_an_office_file() -> None:
    from msoffcrypto.format.ooxml import OOXMLFile

    locked = io.BytesIO()
    body = f"<w:document {W}><w:body>{p('The heron stands.')}</w:body></w:document>"
    noise = random.Random(1).randbytes(9000)  # msoffcrypto writes no file below 4 KB
    parts = {"[Content_Types].xml": TYPES, "word/document.xml": body, "word/media/a.bin": noise}
    OOXMLFile(io.BytesIO(zipped(parts))).encrypt("secret", locked)
    blob = Blob("a.docx", locked.getvalue())
    with pytest.raises(FileLocked):
        read(blob)
    opened = Blob("a.docx", unlocked(blob, "secret"))
    assert read(opened).text == "The heron stands."


@pytest.mark.parametrize("data", [ZIPCRYPTO, WINZIP_AES])
def test_a_zip(data: bytes) -> None:
    blob = Blob("a.zip", data)
    with pytest.raises(FileLocked):
        read_zip.extract(blob)
    (member,) = read_zip.extract(Blob("a.zip", unlocked(blob, "secret"))).enclosed
    assert (member.name, member.data) == ("note.txt", b"The heron stands in the reeds.\n")


@pytest.mark.parametrize("data", [SEVEN_ZIP, SEVEN_ZIP_NAMES])
def test_an_archive_that_a_program_opens(data: bytes) -> None:
    """Tried by hand beside it: rar5-psw, rar5-hpsw and rar202-comment-psw of markokr/rarfile
    (test/files), which WinRAR wrote."""
    blob = Blob("a.7z", data)
    with pytest.raises(FileLocked, match="protected by a password"):
        read(blob)
    (member,) = read(Blob("a.7z", unlocked(blob, "secret"))).enclosed
    assert (member.name, member.data) == ("note.txt", b"The heron stands in the reeds.\n")


@pytest.mark.parametrize(
    "data", [paper().build(password="secret"), ZIPCRYPTO, WINZIP_AES, SEVEN_ZIP, SEVEN_ZIP_NAMES]
)
def test_a_wrong_password_is_told(data: bytes) -> None:
    with pytest.raises(FileLocked, match="isn't the password of a"):
        unlocked(Blob("a", data), "other")


def test_a_file_without_a_password_stays_as_it_is() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "text")
    for data in (paper().build(), made.getvalue(), OPEN_SEVEN_ZIP, b"plain text"):
        assert unlocked(Blob("a", data), "secret") == data
