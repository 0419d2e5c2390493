"""Rectangles, lines and words on a page, written as SVG or painted as PNG.

Pillow paints; its built-in font serves both to measure and to write, so that no font of the machine
is needed. Knows nothing of what is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

Anchor = Literal["start", "middle", "end"]
_PAINTED = 2  # pixels of PNG for each of the drawing: sharp on today's screens
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}  # Pillow's: side, then baseline
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Words:
    x: float
    y: float  # of the baseline
    text: str
    size: int = 12
    anchor: Anchor = "start"
    colour: str = "#1c2330"
    bold: bool = False


@dataclass(slots=True)
class Drawing:
    width: int
    height: int
    shapes: list[Box | Words] = field(default_factory=list)

    def add(self, *shapes: Box | Words) -> None:
        self.shapes.extend(shapes)

    def svg(self) -> str:
        size = (
            f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        )
        paper = f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>'
        drawn = "\n".join(_as_svg(shape) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}">\n'
            f"{paper}\n{drawn}\n</svg>\n"
        )

    def paint(self, path: Path) -> None:
        from PIL import Image, ImageDraw, ImageFont

        picture = Image.new("RGB", (self.width * _PAINTED, self.height * _PAINTED), "#ffffff")
        brush = ImageDraw.Draw(picture)
        for shape in self.shapes:
            x, y = shape.x * _PAINTED, shape.y * _PAINTED
            if isinstance(shape, Box):
                right = x + max(1, shape.width * _PAINTED) - 1
                bottom = y + max(1, shape.height * _PAINTED) - 1
                brush.rectangle((x, y, right, bottom), fill=shape.colour)
            else:
                brush.text(
                    (x, y),
                    shape.text,
                    fill=shape.colour,
                    font=ImageFont.load_default(shape.size * _PAINTED),
                    anchor=_ANCHORS[shape.anchor],
                    stroke_width=0.4 * shape.bold,  # it has no bold face
                )
        picture.save(path)


def _as_svg(shape: Box | Words) -> str:
    if isinstance(shape, Box):
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{max(shape.width, 0.5):.1f}"'
            f' height="{max(shape.height, 0.5):.1f}" fill="{shape.colour}"/>'
        )
    weight = ' font-weight="bold"' if shape.bold else ""
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}"'
        f' text-anchor="{shape.anchor}" fill="{shape.colour}"{weight}>{escape(shape.text)}</text>'
    )
