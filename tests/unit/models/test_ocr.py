"""Tesseract reads words off images, with places and lines."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.unit.extract.making import photographed, printed
from tests.unit.extract.test_pdf_maker import PdfMaker

from trivium.core.errors import FileDamaged, FileEmpty, FileTimeout, FileTooLarge, ModelUnavailable
from trivium.extract import pulse
from trivium.extract.images import USUAL_DPI, ImageExtractor
from trivium.extract.pdf import PdfExtractor
from trivium.extract.pdf.scans import pgm
from trivium.models import ocr
from trivium.models.ocr import SCRIPTS, RecognisedWord, Tesseract, parse, parse_script
from trivium.ports import Blob

LINES = [
    "The quick brown fox jumps over the",
    "lazy dog while seven wizards boil",
    "quite exquisite potions at midnight.",
]


def picture(quarters: int = 0, dpi: int = 200) -> np.ndarray:
    """The lines as a scanner would see them."""
    return np.rot90(photographed(printed(LINES), dpi=dpi), quarters)


def png(image: np.ndarray, **options: object) -> bytes:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(image).save(out, "PNG", **options)
    return out.getvalue()


def test_words_come_in_order_with_lines_and_places() -> None:
    words = Tesseract("eng")(pgm(picture()), dpi=200)
    assert [word.text for word in words] == " ".join(LINES).split()
    assert [word.line for word in words] == [0] * 7 + [1] * 6 + [2] * 5
    first = words[0]
    assert first.left == pytest.approx(40 * 200 / 72, abs=6)
    assert first.bottom == pytest.approx(40 * 200 / 72, abs=6)
    assert first.confidence > 80


def test_what_is_no_image_has_no_words() -> None:
    assert Tesseract("eng")(b"no image at all", dpi=0) == []


def test_a_page_that_takes_too_long_is_given_up_and_said() -> None:
    slow = Tesseract("eng", max_seconds=0.001)
    with pytest.raises(TimeoutError):
        slow(pgm(picture()), dpi=200)
    with pytest.raises(FileTimeout, match="too long"):
        ImageExtractor(slow).extract(Blob("a.png", png(picture())))
    image = picture(dpi=300)
    maker = PdfMaker()
    maker.page(400, 120).image = (image.shape[1], image.shape[0], image.tobytes())
    with pytest.raises(FileTimeout, match="too long"):
        PdfExtractor(slow).extract(Blob("a.pdf", maker.build()))
    maker.page().text(72, 72, "A page of text beside it.")
    read = PdfExtractor(slow).extract(Blob("a.pdf", maker.build()))
    assert read.text == "A page of text beside it."
    assert read.metadata["pages_given_up"] == 1


def test_a_language_without_data_is_named() -> None:
    with pytest.raises(ModelUnavailable, match="no data for xyz"):
        Tesseract("eng+xyz")


def test_without_a_choice_it_reads_the_usual_languages_that_it_has() -> None:
    assert Tesseract().name == "tesseract:eng+deu"
    assert Tesseract(" deu + eng ").name == "tesseract:deu+eng"


def test_the_table_is_read_without_doubtful_words_and_specks() -> None:
    head = "level page_num block_num par_num line_num word_num left top width height conf text"
    rows = [
        "5 1 1 1 1 1 10 20 30 8 96.5 Good",
        "5 1 1 1 1 2 50 20 30 8 12.0 doubtful",
        "5 1 1 1 2 1 10 40 30 8 90.0 |",
        '5 1 1 1 2 2 50 40 30 8 90.0 "quoted',
        "4 1 1 1 3 0 0 60 90 8 -1 ",
    ]
    table = "\n".join(line.replace(" ", "\t") for line in (head, *rows))
    words = parse(table)
    assert [(word.text, word.line) for word in words] == [("Good", 0), ('"quoted', 1)]
    assert (words[0].left, words[0].right, words[0].bottom) == (10, 40, 28)


def test_an_image_file_is_read_and_its_boxes_are_points() -> None:
    read = ImageExtractor(Tesseract("eng")).extract(Blob("a.png", png(picture(), dpi=(200, 200))))
    assert " ".join(read.text.split()) == " ".join(LINES)
    assert read.media_type == "image/png"
    assert read.elements[0].place.boxes[0].left == pytest.approx(40, abs=3)


def test_a_sideways_scan_inside_a_pdf_is_read() -> None:
    image = picture(quarters=1, dpi=300)
    maker = PdfMaker()
    page = maker.page(120, 400)
    page.image = (image.shape[1], image.shape[0], image.tobytes())
    read = PdfExtractor(Tesseract("eng")).extract(Blob("a.pdf", maker.build()))
    assert " ".join(read.text.split()) == " ".join(LINES)
    box = read.elements[0].place.boxes[0]
    assert box.bottom - box.top > box.right - box.left


def test_images_without_text_without_ocr_or_without_sense_are_refused(tmp_path: Path) -> None:
    white = png(np.full((300, 300), 255, dtype=np.uint8))
    with pytest.raises(FileEmpty, match="no readable text"):
        ImageExtractor(Tesseract("eng")).extract(Blob("a.png", white))
    with pytest.raises(FileEmpty, match="is an image"):
        ImageExtractor().extract(Blob("a.png", white))
    with pytest.raises(FileDamaged):
        ImageExtractor(Tesseract("eng")).extract(Blob("a.png", white[:50]))
    huge = bytearray(white)
    huge[16:24] = (100_000).to_bytes(4, "big") * 2
    with pytest.raises((FileTooLarge, FileDamaged)):
        ImageExtractor(Tesseract("eng")).extract(Blob("a.png", bytes(huge)))


def test_a_long_scan_says_at_every_page_that_it_still_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    maker = PdfMaker()
    image = picture(dpi=300)
    for _ in range(3):
        page = maker.page(400, 120)
        page.image = (image.shape[1], image.shape[0], image.tobytes())
    read: list[int] = []
    steps: list[int] = []  # pages recognised when it said so

    class Reader:
        name = "counting"

        def __call__(self, image: bytes, *, dpi: int) -> list[RecognisedWord]:
            read.append(dpi)
            return Tesseract("eng")(image, dpi=dpi)

        def advice(self, image: bytes, text: str) -> str:
            return ""

    monkeypatch.setattr(pulse, "_listeners", [lambda *_: steps.append(len(read))])
    PdfExtractor(Reader()).extract(Blob("a.pdf", maker.build()))
    assert set(steps) == {0, 1, 2}


def test_a_picture_too_large_says_what_to_do() -> None:
    import zlib

    made = bytearray(png(np.full((30, 30), 255, dtype=np.uint8)))
    made[16:24] = (12_000).to_bytes(4, "big") * 2
    made[29:33] = zlib.crc32(made[12:29]).to_bytes(4, "big")
    with pytest.raises(FileTooLarge, match=r"12,000 × 12,000 pixels.* lower resolution"):
        ImageExtractor(Tesseract("eng")).extract(Blob("a.png", bytes(made)))


def test_a_program_that_is_slow_to_take_a_large_image_gets_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "PULSE_SECONDS", 0.01)
    program = tmp_path / "tesseract"
    head = "level page_num block_num par_num line_num word_num left top width height conf text"
    row = "5 1 1 1 1 1 0 0 9 9 90"
    program.write_text(
        f"#!{sys.executable}\nimport sys, threading\n"
        "if '--list-langs' in sys.argv:\n    print('List\\neng')\n    sys.exit()\n"
        "threading.Event().wait(0.2)\n"
        f"print({head!r}.replace(' ', '\\t'))\n"
        f"print({row!r}.replace(' ', '\\t'), len(sys.stdin.buffer.read()), sep='\\t')\n"
    )
    program.chmod(0o755)
    waits: list[int] = []
    slow = Tesseract("eng", program=str(program), on_wait=lambda: waits.append(1))
    (word,) = slow(bytes(5_000_000), dpi=300)
    assert word.text == "5000000"
    assert waits


@pytest.mark.parametrize("quarters", [0, 1, 2])
def test_a_small_picture_is_enlarged_and_turned(quarters: int) -> None:
    small = png(picture(quarters, dpi=72))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trivium.extract.images.enlargement", lambda pixels: 1)
        try:
            plain = ImageExtractor(Tesseract("eng")).extract(Blob("a.png", small)).text.split()
        except FileEmpty:
            plain = []
    read = ImageExtractor(Tesseract("eng")).extract(Blob("a.png", small))
    wanted = " ".join(LINES).split()
    found = set(read.text.split()) & set(wanted)
    assert len(found) >= 0.9 * len(set(wanted))
    assert len(found) > len(set(plain) & set(wanted)) or set(plain) >= found
    assert read.metadata["dpi"] == USUAL_DPI  # of the picture as it is


def test_advice_names_the_package_that_is_missing(tmp_path: Path) -> None:
    assert "`fra`" in Tesseract("eng").advice(
        b"", "Tous les êtres humains naissent libres et égaux"
    )
    assert "for its language" in Tesseract("eng").advice(b"", "xq vv")
    program = tmp_path / "tesseract"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if '--list-langs' in sys.argv:\n    print('List\\neng\\nosd\\nell')\n    sys.exit()\n"
        "print('Page number: 0\\nScript: Cyrillic\\nScript confidence: 3.1')\n"
    )
    program.chmod(0o755)
    ours = Tesseract("eng", program=str(program))
    assert ours.advice(b"P5 1 1 255\n0", "BcE noDnp").startswith("Install tesseract's data `rus`")
    assert parse_script("Script: Greek\n") == "Greek"
    assert parse_script("nothing") == ""
    assert all(SCRIPTS.values())
