"""Writes small PDF files for the tests, byte by byte: no library, so nothing hides what is in them.

Everything is set in Courier, whose letters are all .6 of the size wide: lines of the same length
end at the same edge, as in justified text.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field

FONTS = {"plain": "Courier", "bold": "Courier-Bold", "italic": "Courier-Oblique"}
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass
class PageMaker:
    """One page; positions are points from its top left corner, texts stand on their baseline."""

    width: float = 612
    height: float = 792
    rotate: int = 0
    parts: list[bytes] = field(default_factory=list)
    image: tuple[int, int, bytes] | None = None  # width, height, grey

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 10,
        font: str = "plain",
        turn: str = "",
    ) -> PageMaker:
        matrix = {"": "1 0 0 1", "up": "0 1 -1 0", "aslant": ".7 .7 -.7 .7"}[turn]
        letters = text.encode("cp1252").replace(b"\\", b"\\\\")
        letters = letters.replace(b"(", b"\\(").replace(b")", b"\\)")
        name = list(FONTS).index(font)
        self.parts.append(
            f"BT /F{name} {size} Tf {matrix} {x} {self.height - y} Tm (".encode()
            + letters
            + b") Tj ET"
        )
        return self

    def lines(
        self,
        x: float,
        y: float,
        lines: list[str],
        *,
        size: float = 10,
        step: float = 12,
        font: str = "plain",
    ) -> float:
        """Lines below each other; returns the baseline of the line that would follow."""
        for line in lines:
            self.text(x, y, line, size=size, font=font)
            y += step
        return y

    def content(self) -> bytes:
        picture = b""
        if self.image:
            picture = f"q {self.width} 0 0 {self.height} 0 0 cm /Im0 Do Q\n".encode()
        return picture + b"\n".join(self.parts)


@dataclass
class PdfMaker:
    pages: list[PageMaker] = field(default_factory=list)
    outline: list[tuple[str, int]] = field(default_factory=list)  # title, page from 0
    info: dict[str, str] = field(default_factory=dict)
    unmapped: bool = False  # the fonts say that every letter is a private character
    meanings: dict[str, str] = field(default_factory=dict)  # what the fonts say that letters are

    def page(self, width: float = 612, height: float = 792, rotate: int = 0) -> PageMaker:
        self.pages.append(PageMaker(width, height, rotate))
        return self.pages[-1]

    def build(self, *, password: str = "") -> bytes:
        objects: dict[int, bytes] = {}
        count = len(self.pages)
        first_page, first_font = 3, 3 + 3 * count
        first_mark = first_font + len(FONTS) + 1
        kids = " ".join(f"{first_page + 3 * i} 0 R" for i in range(count))
        outlines = f"/Outlines {first_mark} 0 R" if self.outline else ""
        objects[1] = f"<< /Type /Catalog /Pages 2 0 R {outlines} >>".encode()
        objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()
        for index, page in enumerate(self.pages):
            objects |= _page(page, first_page + 3 * index, first_font)
        is_mapped = self.unmapped or self.meanings
        mapping = f"/ToUnicode {first_font + len(FONTS)} 0 R" if is_mapped else ""
        for index, name in enumerate(FONTS.values()):
            objects[first_font + index] = (
                f"<< /Type /Font /Subtype /Type1 /BaseFont /{name}"
                f" /Encoding /WinAnsiEncoding {mapping} >>"
            ).encode()
        ranges = _PRIVATE if self.unmapped else _meanings(self.meanings)
        objects[first_font + len(FONTS)] = _stream(_MAP % ranges)
        objects |= _outline(self.outline, first_mark, first_page)
        info = max(objects) + 1
        objects[info] = (
            "<< " + " ".join(f"/{key} ({value})" for key, value in self.info.items()) + " >>"
        ).encode()
        return _file(objects, info, password)


_MAP = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /P def /CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange
%s endcmap end end"""
_PRIVATE = b"1 beginbfrange <20> <7E> <E020> endbfrange"


def _meanings(meanings: dict[str, str]) -> bytes:
    """What each letter means, in UTF-16 as the format wants it: above U+FFFF two units."""
    lines = [
        f"<{ord(letter):02X}> <{meaning.encode('utf-16-be', 'surrogatepass').hex()}>"
        for letter, meaning in meanings.items()
    ]
    return f"{len(lines)} beginbfchar {' '.join(lines)} endbfchar".encode()


def _page(page: PageMaker, number: int, first_font: int) -> dict[int, bytes]:
    fonts = " ".join(f"/F{i} {first_font + i} 0 R" for i in range(len(FONTS)))
    image = f"/XObject << /Im0 {number + 2} 0 R >>" if page.image else ""
    objects = {
        number: (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width} {page.height}]"
            f" /Rotate {page.rotate} /Contents {number + 1} 0 R"
            f" /Resources << /Font << {fonts} >> {image} >> >>"
        ).encode(),
        number + 1: _stream(page.content()),
        number + 2: b"null",
    }
    if page.image:
        width, height, grey = page.image
        objects[number + 2] = _stream(
            grey,
            f"/Type /XObject /Subtype /Image /Width {width} /Height {height}"
            " /ColorSpace /DeviceGray /BitsPerComponent 8",
        )
    return objects


def _stream(data: bytes, entries: str = "") -> bytes:
    packed = zlib.compress(data)
    head = f"<< {entries} /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
    return head + packed + b"\nendstream"


def _outline(marks: list[tuple[str, int]], first: int, first_page: int) -> dict[int, bytes]:
    if not marks:
        return {}
    last = first + len(marks)
    objects = {first: f"<< /First {first + 1} 0 R /Last {last} 0 R /Count {len(marks)} >>".encode()}
    for index, (title, page) in enumerate(marks, start=first + 1):
        following = f"/Next {index + 1} 0 R" if index < last else ""
        target = f"/Dest [{first_page + 3 * page} 0 R /Fit]"
        objects[index] = f"<< /Title ({title}) /Parent {first} 0 R {target} {following} >>".encode()
    return objects


def _file(objects: dict[int, bytes], info: int, password: str) -> bytes:
    identity = hashlib.md5(b"test").digest()
    trailer = f"/Root 1 0 R /Info {info} 0 R /ID [<{identity.hex()}> <{identity.hex()}>]"
    if password:
        number = max(objects) + 1
        lock, key = _lock(password, identity)
        objects = {n: _encrypted(data, n, key) for n, data in objects.items()}
        objects[number] = lock
        trailer += f" /Encrypt {number} 0 R"
    out = bytearray(b"%PDF-1.4\n")
    starts = {}
    for number in sorted(objects):
        starts[number] = len(out)
        out += f"{number} 0 obj\n".encode() + objects[number] + b"\nendobj\n"
    table = len(out)
    size = max(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
    for number in range(1, size):
        out += f"{starts.get(number, 0):010} 00000 {'n' if number in starts else 'f'} \n".encode()
    return bytes(out + f"trailer\n<< /Size {size} {trailer} >>\nstartxref\n{table}\n%%EOF".encode())


def _encrypted(data: bytes, number: int, key: bytes) -> bytes:
    """An object with its stream encrypted, if it has one."""
    head, mark, rest = data.partition(b"stream\n")
    body, end, tail = rest.rpartition(b"\nendstream")
    own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
    return head + mark + _rc4(own, body) + end + tail if mark else data


def _lock(password: str, identity: bytes) -> tuple[bytes, bytes]:
    """The encryption dictionary of the oldest kind, RC4 with 40 bits, and its key."""
    padded = (password.encode() + _PADDING)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    rights = (-44).to_bytes(4, "little", signed=True)
    key = hashlib.md5(padded + owner + rights + identity).digest()[:5]
    user = _rc4(key, _PADDING)
    lock = f"<< /Filter /Standard /V 1 /R 2 /O <{owner.hex()}> /U <{user.hex()}> /P -44 >>"
    return lock.encode(), key


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def column(word: str, count: int, width: int = 36) -> list[str]:
    """Lines of one paragraph, every one as wide as the column: `word` says whose they are."""
    line = (f"{word} " * width)[:width].rstrip().ljust(width, "x")
    return [line] * (count - 1) + [line[: width - 1] + "."]


def paper() -> PdfMaker:
    maker = PdfMaker(info={"CreationDate": "D:20190304120000Z"})
    page = maker.page()
    page.text(150, 60, "On the Making of Indexes", size=18, font="bold")
    page.text(200, 90, "Ada Lovelace and Charles Babbage")
    page.text(200, 104, "University of Somewhere")
    page.text(260, 140, "Abstract", size=12, font="bold")
    y = page.lines(72, 160, column("summary", 6, 70))
    page.text(72, y + 14, "1 Introduction", size=12, font="bold")
    y = page.lines(72, y + 34, column("opening", 6, 70))
    page.text(72, y + 14, "1.1 Why indexes", font="bold")
    y = page.lines(72, y + 34, column("reason", 6, 70))
    page.text(72, y + 14, "2 Methods", size=12, font="bold")
    page.lines(72, y + 34, column("method", 6, 70))
    page = maker.page()
    page.text(72, 100, "References", size=12, font="bold")
    page.lines(
        72,
        120,
        [
            "Donald Knuth. 1973. Sorting and Searching.",
            "Gerard Salton. 1975. A Theory of Indexing.",
        ],
        step=30,
    )
    return maker


def test_a_made_file_is_a_pdf_with_its_pages() -> None:
    maker = PdfMaker()
    maker.page().text(72, 72, "Hello")
    maker.page()
    made = maker.build()
    assert made.startswith(b"%PDF-1.4")
    assert b"/Count 2" in made
