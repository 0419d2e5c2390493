"""PDF files that are locked, damaged, empty or too large, and pages that are images."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.unit.extract.test_pdf_maker import PdfMaker, column, paper

from trivium.core.errors import FileDamaged, FileEmpty, FileLocked, FileTooLarge, ReadError
from trivium.extract.pdf import PdfExtractor
from trivium.ports import Blob

# --- files that cannot be read ---------------------------------------------------------------


def simple() -> bytes:
    maker = PdfMaker()
    maker.page().lines(72, 100, column("text", 10, 60))
    return maker.build()


def test_a_locked_file_says_so() -> None:
    maker = PdfMaker()
    maker.page().text(72, 100, "secret")
    with pytest.raises(FileLocked, match="protected by a password"):
        PdfExtractor().extract(Blob("a.pdf", maker.build(password="x")))


@pytest.mark.parametrize("data", [b"%PDF-1.4\n", b"%PDF-1.4 nonsense" * 9, simple()[:60]])
def test_a_damaged_file_says_so(data: bytes) -> None:
    with pytest.raises(FileDamaged, match=r"a\.pdf"):
        PdfExtractor().extract(Blob("a.pdf", data))


def test_a_file_with_a_wrong_table_of_objects_is_mended() -> None:
    data = simple().replace(b"0000000009 00000 n", b"0000000077 00000 n")
    read = PdfExtractor().extract(Blob("a.pdf", data[: data.rindex(b"startxref")]))
    assert read.text.startswith("text")


def test_files_without_pages_or_text_are_empty() -> None:
    with pytest.raises(FileEmpty, match="is empty"):
        PdfExtractor().extract(Blob("a.pdf", b"  "))
    with pytest.raises(ReadError):
        PdfExtractor().extract(Blob("a.pdf", PdfMaker().build()))
    blank = PdfMaker()
    blank.page()
    with pytest.raises(FileEmpty, match=r"^a.pdf has no text\. If you can read"):
        PdfExtractor().extract(Blob("a.pdf", blank.build()))


def test_too_many_pages_are_refused() -> None:
    maker = PdfMaker()
    for _ in range(3):
        maker.page().text(72, 100, "text")
    with pytest.raises(FileTooLarge, match="3 pages; the limit is 2"):
        PdfExtractor(max_pages=2).extract(Blob("a.pdf", maker.build()))


def test_a_pdf_is_known_by_its_bytes_even_behind_some_junk() -> None:
    assert PdfExtractor().accepts(Blob("note.txt", b"\r\n\x00junk" + simple()))
    assert not PdfExtractor().accepts(Blob("a.pdf", b"plain text about %PDF"))


def test_mutated_files_are_read_or_refused_and_never_crash() -> None:
    source = paper().build()
    chance = random.Random(7)
    for _ in range(150):
        data = bytearray(source)
        for _ in range(chance.randint(1, 30)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        try:
            read = PdfExtractor().extract(Blob("a.pdf", bytes(data)))
        except ReadError:
            continue
        assert all(0 <= e.start < e.end <= len(read.text) for e in read.elements)


# --- pages that are images -------------------------------------------------------------------


class Word:
    """What an OCR program says of one word."""

    def __init__(self, text: str, left: float, top: float, line: int, confidence: float) -> None:
        self.text, self.line, self.confidence = text, line, confidence
        self.left, self.top = left, top
        self.right, self.bottom = left + 25.0 * len(text), top + 40.0


class Reader:
    """Stands in for an OCR program: reads three lines, but only off an upright page."""

    name = "reader"

    def __init__(self, upright_at: int = 0, otherwise: float = 20.0) -> None:
        self._upright_at = upright_at
        self._otherwise = otherwise  # how sure it is of a page that lies wrong
        self.images: list[tuple[int, int]] = []

    def __call__(self, image: bytes, *, dpi: int) -> Sequence[Word]:
        width, height = (int(part) for part in image.split(b" ", 3)[1:3])
        self.images.append((width, height))
        sure = 95.0 if len(self.images) > self._upright_at else self._otherwise
        return [
            Word(text, 300.0 + 200 * at, 300.0 + 60 * line, line, sure)
            for line in range(3)
            for at, text in enumerate(("seen", "on", "the", "image"))
        ]

    def advice(self, image: bytes, text: str) -> str:
        return "Clean the glass."


def scan() -> PdfMaker:
    """A page of text, then a page that is only a picture."""
    maker = PdfMaker()
    maker.page().lines(72, 100, column("printed", 10, 60))
    maker.page().image = (8, 8, bytes(range(64)))
    return maker


def test_only_the_page_without_text_is_read_as_an_image() -> None:
    reader = Reader()
    read = PdfExtractor(reader, dpi=100).extract(Blob("a.pdf", scan().build()))
    assert reader.images == [(850, 1100)]
    assert read.text.startswith("printed")
    assert "seen on the image" in read.text
    assert read.metadata["pages_recognised"] == 1
    element = read.elements[-1]
    assert element.place.pages == (2,)
    assert element.place.boxes[0].left == pytest.approx(300 * 0.72, abs=1)


def test_without_ocr_the_page_is_counted_as_unread() -> None:
    read = PdfExtractor(Reader(), ocr="off").extract(Blob("a.pdf", scan().build()))
    assert "seen" not in read.text
    assert read.metadata["pages_without_text"] == 1


def test_a_file_of_images_without_ocr_says_what_to_do() -> None:
    maker = scan()
    del maker.pages[0]
    with pytest.raises(FileEmpty, match="OCR is off"):
        PdfExtractor(ocr="off").extract(Blob("a.pdf", maker.build()))


def test_every_page_is_read_as_an_image_when_forced() -> None:
    reader = Reader()
    read = PdfExtractor(reader, ocr="force").extract(Blob("a.pdf", scan().build()))
    assert len(reader.images) == 2
    assert "printed" not in read.text


def test_letters_without_a_meaning_are_read_as_an_image() -> None:
    maker = PdfMaker(unmapped=True)
    maker.page().lines(72, 100, column("printed", 10, 60))
    read = PdfExtractor(Reader()).extract(Blob("a.pdf", maker.build()))
    assert read.text.startswith("seen on the image")
    with pytest.raises(FileEmpty):
        PdfExtractor().extract(Blob("a.pdf", maker.build()))


@pytest.mark.parametrize(
    ("layer", "is_read_again"),
    [
        # What tesseract makes of a page of English upside down (shared scan `linn.png`).
        ("AN XATALL IE18-80L BUBZIRY, PIEUXO Uy uuff e pasueyo oq pue posn oq AWW AWLL eo", True),
        ("The sequencer records up to thirty two tracks of music and plays all of them", False),
        ("1234 2345 3456 4567 5678 6789 Sum 7890", False),  # figures are nobody's language
    ],
)
def test_a_text_layer_whose_words_are_none_is_read_again(layer: str, is_read_again: bool) -> None:
    maker = scan()
    del maker.pages[0]
    maker.pages[0].lines(72, 100, [layer] * 4)
    read = PdfExtractor(Reader()).extract(Blob("a.pdf", maker.build()))
    assert ("seen on the image" in read.text) is is_read_again
    assert (layer[:20] in read.text) is not is_read_again


def test_letters_under_other_codes_are_read_as_an_image() -> None:
    """A font without a mapping whose codes are 29 less than the letters, as kreuzberg's
    non_ascii_text.pdf has it; capitals alone are fine."""
    for layer, is_read in (
        ("8QVHUHHUVWH0lQQHUPDQQVFKDIWPXVVGDJHJHQDP6DPVWDJXP8KULQGHU6SRUWKDOOHDQWUHWHQ", True),
        ("THE HARBOUR OF THE COMPANY HAS A QUAY FOR EVERY SHIP THAT COMES IN", False),
    ):
        maker = PdfMaker()
        maker.page().lines(72, 100, [layer] * 4)
        read = PdfExtractor(Reader()).extract(Blob("a.pdf", maker.build()))
        assert ("seen on the image" in read.text) is is_read


def test_a_scan_that_lies_on_its_side_is_turned() -> None:
    reader = Reader(upright_at=2)  # the page as it is, and on its head: both poor
    maker = scan()
    del maker.pages[0]
    read = PdfExtractor(reader, dpi=72).extract(Blob("a.pdf", maker.build()))
    assert reader.images == [(612, 792), (612, 792), (792, 612)]
    box = read.elements[0].place.boxes[0]
    assert 0 <= box.left < box.right <= 612
    assert 0 <= box.top < box.bottom <= 792


def test_a_few_words_on_their_head_are_turned_though_ocr_is_fairly_sure() -> None:
    """Eleven words of an OCR test page on its head had a mean confidence of 70, upright 95."""
    reader = Reader(upright_at=1, otherwise=70.0)
    maker = scan()
    del maker.pages[0]
    PdfExtractor(reader, dpi=72).extract(Blob("a.pdf", maker.build()))
    assert reader.images == [(612, 792)] * 2


def test_a_huge_page_is_rendered_within_bounds() -> None:
    reader = Reader()
    maker = PdfMaker()
    maker.page(14_000, 14_000).image = (8, 8, bytes(64))
    PdfExtractor(reader).extract(Blob("a.pdf", maker.build()))
    width, height = reader.images[0]
    assert width * height <= 31_000_000


def test_the_version_names_what_changes_the_text() -> None:
    assert PdfExtractor().version == PdfExtractor(Reader(), ocr="off").version
    assert PdfExtractor(Reader()).version != PdfExtractor().version
    assert PdfExtractor(Reader(), ocr="force").version != PdfExtractor(Reader()).version


def test_a_page_of_noise_is_reported_as_unread_and_not_indexed() -> None:
    noise = Reader(upright_at=99)
    read = PdfExtractor(noise, dpi=100).extract(Blob("a.pdf", scan().build()))
    assert "seen" not in read.text
    assert read.metadata["pages_without_text"] == 1
    assert read.metadata["pages_without_text_advice"] == "Clean the glass."
    maker = PdfMaker()
    maker.page().image = (8, 8, bytes(range(64)))
    with pytest.raises(FileEmpty, match=r"no readable text. Clean the glass."):
        PdfExtractor(Reader(upright_at=99), dpi=100).extract(Blob("a.pdf", maker.build()))


def test_what_was_filled_into_a_form_is_text() -> None:
    """Beside its label, as a person sees it; a button's state is none."""
    stream = b"BT /F1 12 Tf 72 700 Td (Name of the quay:) Tj 0 -40 Td (Depth:) Tj ET"
    field = b"<< /Type /Annot /Subtype /Widget /FT /%s /T (%s) /V %s /Rect [%s] /P 3 0 R >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 8 0 R] >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R 7 0 R 8 0 R] >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        field % (b"Tx", b"name", b"(North pier)", b"200 695 400 715"),
        field % (b"Tx", b"depth", b"(seven fathoms)", b"200 655 400 675"),
        field % (b"Btn", b"box", b"/Yes", b"200 600 210 610"),
    ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    data = out + b"xref\n0 9\n0000000000 65535 f \n" + table
    data += b"trailer\n<< /Size 9 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(out)
    text = PdfExtractor().extract(Blob("form.pdf", data)).text.replace(" | ", " ")
    assert "Name of the quay: North pier" in text
    assert "Depth: seven fathoms" in text
    assert "Yes" not in text
