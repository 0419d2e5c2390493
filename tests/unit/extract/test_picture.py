"""Pages as pictures, with places marked: of PDF files and of scans, which are pages too."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from tests.unit.extract.making import photographed, printed

from trivium.core.types import Box, Extraction
from trivium.extract.pdf.picture import NO_PAGE, ImagePainter, Order, PagePainter
from trivium.extract.pdf.scans import straightened
from trivium.ports import Blob


def drawn(found: Extraction) -> Image.Image:
    return Image.open(io.BytesIO(found.enclosed[0].data)).convert("RGB")


def png(width: int, height: int, dpi: int | None = None) -> bytes:
    written = io.BytesIO()
    told = {} if dpi is None else {"dpi": (dpi, dpi)}
    Image.new("RGB", (width, height), "white").save(written, "PNG", **told)
    return written.getvalue()


@pytest.mark.parametrize(("dpi", "assumed"), [(None, 200), (100, 100)])
def test_a_place_on_a_scan_is_marked_where_its_points_say(dpi: int | None, assumed: int) -> None:
    """An inch, 72 points, from the top left corner, an inch wide and high."""
    box = Box(1, 72, 72, 144, 144)
    blob = Blob(Order(1, 500, (box,)).as_name(), png(1000, 800, dpi))
    painter = ImagePainter()
    assert painter.accepts(blob)
    picture = drawn(painter.extract(blob))
    assert picture.size == (500, 400)
    inch = assumed // 2  # pixels: the picture is drawn at half its size
    assert picture.getpixel((inch * 3 // 2, inch * 3 // 2)) != (255, 255, 255)
    for outside in ((inch // 2, inch // 2), (inch * 5 // 2, inch * 3 // 2)):
        assert picture.getpixel(outside) == (255, 255, 255)


def test_a_page_of_a_fax_is_found_by_its_number() -> None:
    pages = [Image.new("L", (100, 80), shade) for shade in (0, 255)]
    written = io.BytesIO()
    pages[0].save(written, "TIFF", save_all=True, append_images=pages[1:])
    second = ImagePainter().extract(Blob(Order(2, 100).as_name(), written.getvalue()))
    assert drawn(second).getpixel((50, 40)) == (255, 255, 255)
    third = ImagePainter().extract(Blob(Order(3, 100).as_name(), written.getvalue()))
    assert third.text == NO_PAGE


def test_a_page_of_a_pdf_is_as_wide_as_asked_for() -> None:
    blob = Blob(Order(1, 600).as_name(), printed(["The harbour"], width=400, height=120))
    assert not ImagePainter().accepts(blob)
    assert drawn(PagePainter().extract(blob)).size == (600, 180)


@pytest.mark.parametrize("degrees", [-10, 2, 10])
def test_a_page_that_lies_aslant_is_straightened(degrees: int) -> None:
    """Of a page of linn.png at 10 degrees .35 of the words were read, and .99 straight."""
    lines = [f"The lighthouse keeper counts {n} ships at midnight." for n in range(12)]
    level = photographed(printed(lines, 500, 400))
    assert straightened(level) is level
    tilted = Image.fromarray(level).rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
    straight = straightened(np.asarray(tilted))
    white = (straight[:, 200:800] > 200).all(axis=1)  # rows between the lines
    assert int(np.diff(white.astype(int)).clip(0).sum()) >= len(lines) - 1
