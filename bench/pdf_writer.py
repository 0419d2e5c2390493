"""Writes PDF files with known words at known places, in proportional type and in any script.

Needs no font file: the four Latin faces are those every reader has, and `script` names each
character's code point itself. Knows nothing of the content.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_WIDTHS = {
    "Helvetica": (
        "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556"
        " 556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667"
        " 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556"
        " 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722"
        " 500 500 500 334 260 334 584"
    ),
    "Helvetica-Bold": (
        "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556"
        " 556 556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722"
        " 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556"
        " 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778"
        " 556 556 500 389 280 389 584"
    ),
    "Times-Roman": (
        "250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500"
        " 500 500 500 500 278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722"
        " 611 889 722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500 333 444"
        " 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722"
        " 500 500 444 480 200 480 541"
    ),
    "Times-Bold": (
        "250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500"
        " 500 500 500 500 333 333 570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778"
        " 667 944 722 778 611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500 333 500"
        " 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722"
        " 500 500 444 394 220 394 520"
    ),
}
WIDTHS = {
    face: dict(zip(map(chr, range(32, 127)), map(int, widths.split()), strict=True))
    | {"—": 1000, "–": 500 if "Times" in face else 556, "•": 350, "’": 250}
    for face, widths in _WIDTHS.items()
}
WIDTHS["Times-Italic"] = WIDTHS["Times-Roman"]  # near enough
WIDTHS["Courier"] = dict.fromkeys(WIDTHS["Times-Roman"], 600)
FACES = tuple(WIDTHS)
SCRIPT = "script"  # any character below U+10000; all are `SCRIPT_WIDTH` wide, ASCII half of it
SCRIPT_WIDTH = 1000


def width(text: str, face: str, size: float) -> float:
    """How wide a text is in points."""
    if face == SCRIPT:
        return sum(SCRIPT_WIDTH / (2 if ord(c) < 0x2E80 else 1) for c in text) * size / 1000
    return sum(WIDTHS[face].get(c, 500) for c in text) * size / 1000


@dataclass
class Sheet:
    """One page; positions are points from its top left corner, texts stand on their baseline."""

    across: float = 612
    down: float = 792
    parts: list[bytes] = field(default_factory=list)

    def put(
        self, x: float, y: float, text: str, face: str = "Times-Roman", size: float = 10
    ) -> None:
        if face == SCRIPT:
            shown = f"<{text.encode('utf-16-be').hex()}>".encode()
        else:
            shown = text.encode("cp1252")
            for sign in (b"\\", b"(", b")"):
                shown = shown.replace(sign, b"\\" + sign)
            shown = b"(" + shown + b")"
        name = "S" if face == SCRIPT else f"F{FACES.index(face)}"
        place = f"BT /{name} {size} Tf 1 0 0 1 {x:.2f} {self.down - y:.2f} Tm ".encode()
        self.parts.append(place + shown + b" Tj ET")

    def put_right(
        self, x: float, y: float, text: str, face: str = "Times-Roman", size: float = 10
    ) -> None:
        self.put(x - width(text, face, size), y, text, face, size)

    def put_centred(
        self, x: float, y: float, text: str, face: str = "Times-Roman", size: float = 10
    ) -> None:
        self.put(x - width(text, face, size) / 2, y, text, face, size)


def build(sheets: list[Sheet], info: dict[str, str] | None = None) -> bytes:
    """The file's bytes; the same every time."""
    faces = [
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{face} /Encoding /WinAnsiEncoding >>".encode()
        for face in FACES
    ]
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", *faces, *_script()]
    fonts = " ".join(f"/F{at} {3 + at} 0 R" for at in range(len(FACES)))
    fonts += f" /S {3 + len(FACES)} 0 R"
    kids = []
    for sheet in sheets:
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {sheet.across} {sheet.down}]"
            f" /Contents {len(objects) + 2} 0 R /Resources << /Font << {fonts} >> >> >>".encode()
        )
        objects.append(_stream(b"\n".join(sheet.parts)))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    said = " ".join(f"/{key} ({value})" for key, value in (info or {}).items())
    objects.append(f"<< {said} >>".encode())
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return (
        out
        + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
        + table
        + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
        + f"startxref\n{len(out)}\n%%EOF".encode()
    )


def _stream(data: bytes) -> bytes:
    return f"<< /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def _script() -> list[bytes]:
    """A font whose character codes are code points, without glyphs: only its text is read."""
    first = 3 + len(FACES)
    ranges = "".join(f"<{high:02X}00> <{high:02X}FF> <{high:02X}00>\n" for high in range(0xD8))
    blocks = [ranges.splitlines()[at : at + 100] for at in range(0, 0xD8, 100)]
    mapped = "\n".join(
        f"{len(block)} beginbfrange\n" + "\n".join(block) + "\nendbfrange" for block in blocks
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /U def"
        " /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        f"{mapped}\nendcmap end end"
    )
    return [
        f"<< /Type /Font /Subtype /Type0 /BaseFont /Script /Encoding /Identity-H"
        f" /DescendantFonts [{first + 1} 0 R] /ToUnicode {first + 3} 0 R >>".encode(),
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Script"
        f" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
        f" /FontDescriptor {first + 2} 0 R /DW {SCRIPT_WIDTH}"
        f" /W [0 {0x2E7F} {SCRIPT_WIDTH // 2}] >>".encode(),
        b"<< /Type /FontDescriptor /FontName /Script /Flags 4 /FontBBox [0 -200 1000 900]"
        b" /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>",
        _stream(cmap.encode()),
    ]
