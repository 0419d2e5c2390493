"""A book is its chapters in reading order, with the names its contents give them."""

import pytest
from tests.unit.extract.making import check_offsets, pieces, zipped

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction
from trivium.extract.epub import read_epub
from trivium.ports import Blob

CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"""
BOOK = """<package xmlns="http://www.idpf.org/2007/opf">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The Ferry</dc:title><dc:creator>Ann Lee</dc:creator><dc:creator>Bo</dc:creator>
<dc:language>de-AT</dc:language><dc:date>1999-01-02</dc:date></metadata>
<manifest><item id="a" href="text/a%20b.xhtml"/><item id="b" href="b.xhtml"/>
<item id="n" href="nav.xhtml" properties="nav"/>
<item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/><itemref idref="gone"/></spine>
</package>"""
CONTENTS = """<ncx><navMap><navPoint><navLabel><text>Zwei</text></navLabel>
<content src="text/a%20b.xhtml#top"/></navPoint></navMap></ncx>"""


def extract(**parts: str) -> Extraction:
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": BOOK,
        "OEBPS/toc.ncx": CONTENTS,
        "OEBPS/nav.xhtml": "<html><body><p>Contents</p></body></html>",
        "OEBPS/b.xhtml": "<html><body><h1>Eins</h1><p>Erster Text.</p></body></html>",
        "OEBPS/text/a b.xhtml": "<html><body><p>Zweiter Text.</p></body></html>",
    }
    blob = Blob("x.bin", zipped({**files, **parts}))
    assert read_epub.accepts(blob)
    result = read_epub.extract(blob)
    check_offsets(result)
    return result


def test_chapters_in_order() -> None:
    result = extract()
    assert pieces(result) == [
        ("heading", "Eins"),
        ("paragraph", "Erster Text."),
        ("heading", "Zwei"),
        ("paragraph", "Zweiter Text."),
    ]
    assert (result.title, result.language) == ("The Ferry", "de")
    assert result.metadata["authors"] == ("Ann Lee", "Bo")
    assert result.metadata["year"] == 1999


def test_locked_books_say_so_and_hidden_fonts_do_not_matter() -> None:
    lock = "<e><EncryptionMethod Algorithm='{}'/></e>".format
    with pytest.raises(FileDamaged, match="DRM"):
        extract(**{"META-INF/encryption.xml": lock("http://www.w3.org/2001/04/xmlenc#aes128-cbc")})
    fonts = lock("http://www.idpf.org/2008/embedding")
    assert extract(**{"META-INF/encryption.xml": fonts}).title == "The Ferry"


def test_a_book_without_its_list_is_damaged() -> None:
    with pytest.raises(FileDamaged, match="chapters"):
        extract(**{"META-INF/container.xml": "<container/>"})
