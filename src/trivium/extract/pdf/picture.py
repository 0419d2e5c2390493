"""Draws a page of a PDF or a scan, perhaps with places marked on it. Runs in the sandbox, as
reading does.

An order goes in as the name of the file, the picture comes out as an enclosed file, so that the
sandbox needs no second language. Knows pdfium and pillow, nothing of documents.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from trivium.core.errors import FileTooLarge
from trivium.core.types import Box, Enclosed, Extraction
from trivium.extract.images import frames, image_type, resolution
from trivium.extract.pdf.document import opened
from trivium.ports import Blob, Extractor

if TYPE_CHECKING:
    from PIL.Image import Image

FACTORY = "trivium.extract.pdf.picture:painters"
NO_PAGE = "no such page"
_NOTHING = Extraction(NO_PAGE, (), "", "text/plain")
_MOST_PIXELS = 40_000_000  # some 8,000 by 5,000
_MARK = (255, 214, 10, 96)  # yellow; a third of the page shines through


@dataclass(frozen=True, slots=True)
class Order:
    """Which page, how wide in pixels, and the places to mark on it."""

    page: int
    width: int
    boxes: tuple[Box, ...] = ()

    def as_name(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_name(cls, name: str) -> Order:
        payload = json.loads(name)
        return cls(payload["page"], payload["width"], tuple(Box(**box) for box in payload["boxes"]))


class PagePainter:
    version = "1"

    def accepts(self, blob: Blob) -> bool:
        return b"%PDF-" in blob.data[:1024]

    def extract(self, blob: Blob) -> Extraction:
        order = Order.of_name(blob.name)
        with opened(Blob("The file", blob.data)) as document:
            if not 1 <= order.page <= len(document):
                return _NOTHING
            page = document[order.page - 1]
            width, height = page.get_size()
            scale = order.width / max(1.0, width)
            if order.width * height * scale > _MOST_PIXELS:
                raise FileTooLarge("The page is too long to draw.", fix="Ask for less width.")
            picture = page.render(scale=scale).to_pil().convert("RGB")
            page.close()
        return _marked(picture, order, scale)


class ImagePainter:
    """A picture is a page, and a TIFF may hold several."""

    version = "1"

    def accepts(self, blob: Blob) -> bool:
        return bool(image_type(blob.data))

    def extract(self, blob: Blob) -> Extraction:
        order = Order.of_name(blob.name)
        for number, frame in enumerate(frames(Blob("The file", blob.data), "RGB"), start=1):
            if number == order.page:
                # Boxes are in points, of which the resolution makes pixels.
                scale = order.width / max(1.0, frame.width * 72 / resolution(frame))
                height = max(1, round(frame.height * order.width / frame.width))
                if order.width * height > _MOST_PIXELS:
                    raise FileTooLarge("The picture is too long to draw.")
                return _marked(frame.resize((order.width, height)), order, scale)
        return _NOTHING


def _marked(picture: Image, order: Order, scale: float) -> Extraction:
    from PIL import Image, ImageDraw

    marks = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(marks)
    for box in order.boxes:
        if box.page == order.page:
            corners = (box.left, box.top, box.right, box.bottom)
            draw.rectangle([edge * scale for edge in corners], fill=_MARK)
    marked = Image.alpha_composite(picture.convert("RGBA"), marks).convert("RGB")
    written = io.BytesIO()
    marked.save(written, "PNG", optimize=False)
    return Extraction("", (), "", "image/png", enclosed=(Enclosed("", written.getvalue()),))


def painters(settings: Mapping[str, str]) -> tuple[Extractor, ...]:
    """For the sandbox, which imports it by name."""
    return (PagePainter(), ImagePainter())
