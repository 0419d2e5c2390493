"""Writes small files of foreign formats for the tests of their readers: zip packages, compound
files, BIFF records. Only what the tests need."""

import io
import struct
import zipfile

import numpy as np
from numpy.typing import NDArray
from tests.unit.extract.test_pdf_maker import PdfMaker

from trivium.core.types import Extraction


def pieces(result: Extraction) -> list[tuple[str, str]]:
    return [(e.kind, result.text[e.start : e.end]) for e in result.elements]


def check_offsets(result: Extraction) -> None:
    """Elements lie in the text, in order, none empty, none overlapping."""
    end = 0
    for element in result.elements:
        assert end <= element.start < element.end <= len(result.text)
        end = element.end


def zipped(files: dict[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file (OLE) with these streams, at its root or in a folder (`FOLDER/NAME`), each
    padded beyond the 4,096 bytes from which streams lie in sectors of their own."""
    sector = 512
    bodies = {
        name: data.ljust(max(4096, -(-len(data) // sector) * sector), b"\x00")
        for name, data in streams.items()
    }
    folders: dict[str, list[str]] = {"": []}
    for name in bodies:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    folders[""] += [folder for folder in folders if folder]
    names = [
        name for of in folders.values() for name in sorted(of, key=lambda n: (len(n), n.upper()))
    ]
    directory_sectors = -(-(len(names) + 1) // 4)
    fat = [0xFFFFFFFD]
    fat += [n + 1 for n in range(1, directory_sectors)] + [0xFFFFFFFE]
    entries = [_entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1 if bodies else 0xFFFFFFFF)]
    content = b""
    for number, name in enumerate(names, start=1):
        last = number == len(names) or names[number].rpartition("/")[0] != name.rpartition("/")[0]
        right = 0xFFFFFFFF if last else number + 1
        if name in folders:
            child = 1 + next(at for at, n in enumerate(names) if n.startswith(f"{name}/"))
            entries.append(_entry(name, 1, 0, 0, child=child, right=right))
            continue
        start = len(fat)
        count = len(bodies[name]) // sector
        fat += [start + n + 1 for n in range(count - 1)] + [0xFFFFFFFE]
        entries.append(_entry(name.rpartition("/")[2], 2, start, len(bodies[name]), right=right))
        content += bodies[name]
    assert len(fat) <= 128
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 16
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<109I", 0, *([0xFFFFFFFF] * 108))
    table = struct.pack("<128I", *fat, *([0xFFFFFFFF] * (128 - len(fat))))
    directory = b"".join(entries).ljust(directory_sectors * sector, b"\x00")
    return header + table + directory + content


def _entry(
    name: str, kind: int, start: int, size: int, *, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF
) -> bytes:
    raw = name.encode("utf-16-le") + b"\x00\x00"
    return (
        raw.ljust(64, b"\x00")
        + struct.pack("<HBBIII", len(raw), kind, 1, 0xFFFFFFFF, right, child)
        + b"\x00" * 36
        + struct.pack("<IQ", start, size)
    )


def record(kind: int, body: bytes = b"") -> bytes:
    """One record of Excel's binary format."""
    return struct.pack("<HH", kind, len(body)) + body


def printed(lines: list[str], width: float = 400, height: float = 120) -> bytes:
    """A PDF of one page with these lines as text."""
    maker = PdfMaker()
    maker.page(width, height).lines(40, 40, lines, size=14, step=20)
    return maker.build()


def photographed(pdf: bytes, *, dpi: int = 200) -> NDArray[np.uint8]:
    """The first page as a scanner would see it, in grey."""
    from pypdfium2 import PdfDocument

    document = PdfDocument(pdf)
    image = document[0].render(scale=dpi / 72, grayscale=True).to_numpy().copy()
    document.close()
    return np.asarray(image.reshape(image.shape[:2]), dtype=np.uint8)


def scanned(lines: list[str], width: float = 400, height: float = 120) -> bytes:
    """A PDF whose only page is a picture of these lines: no text layer."""
    image = photographed(printed(lines, width, height), dpi=300)
    maker = PdfMaker()
    maker.page(width, height).image = (image.shape[1], image.shape[0], image.tobytes())
    return maker.build()
