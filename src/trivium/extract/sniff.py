"""Says what kind of file some bytes are, when they are not text. Knows nothing of names."""

from __future__ import annotations

import re

from trivium.extract.charsets import utf16_without_mark

BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # UTF-16 and UTF-32, where NUL is normal
SAMPLE_BYTES = 8192
# Compressed or encrypted bytes are a tenth such characters (25 of 256); text has hardly any.
MAX_CONTROL_SHARE = 0.05

# Beginnings that no text has.
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"AT&TFORM", "a DjVu document"),
    (b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d", "a OneNote notebook"),
    (b"!BDN", "an Outlook archive (PST)"),
    (b"\x00\x01\x00\x00Standard Jet DB", "an Access database"),
    (b"\x00\x01\x00\x00Standard ACE DB", "an Access database"),
    (b"ITSF", "a compiled help file (CHM)"),
    (b"8BPS", "a Photoshop image"),
    (b"%!PS", "a PostScript file"),
    (b"\xc5\xd0\xd3\xc6", "a PostScript file"),
    (b"bplist0", "a property list"),
    (b"PAR1", "a Parquet table"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x00asm", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"AC10", "an AutoCAD drawing"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"%FDF-", "the data of a PDF form"),
    (b"\x7f\x0cD+", "a lighting show"),
    (b"\xd9\xd9\xf7", "a CBOR file"),
)
_CATALOGUE = re.compile(rb"\d{5}[acdnp][a-z]{2}[ a-z][ a]22\d{5}")  # the leader of a MARC record
# A drawing in text (DXF): pairs of lines, a code and its value, nearly all of them coordinates.
_DRAWING = re.compile(rb"(?:\s*999\r?\n[^\n]{0,200}\n)*\s*0\r?\nSECTION\r?\n\s*2\r?\n[A-Z]+\r?\n")
# What helps to get at the text of a kind. Anything else: "Convert the file to text or Markdown."
ADVICE = {
    "an xz archive": "Unpack it and add the files, or pack them as tar.xz or ZIP.",
    "a bzip2 archive": "Unpack it and add the files, or pack them as ZIP.",
    "a DjVu document": "Convert it to PDF, for example with `ddjvu -format=pdf`.",
    "a OneNote notebook": "Export the pages in OneNote as PDF or Word.",
    "an Access database": "Export its tables as CSV or Excel.",
    "a Photoshop image": "Export it as PNG or PDF.",
    "a PostScript file": "Convert it to PDF, for example with `ps2pdf`.",
    "an AutoCAD drawing": "Export it as PDF.",
    "an HDF5 file": "Export its tables as CSV.",
    "the data of a PDF form": "Open the form with its data in a PDF viewer and save it as PDF.",
    "a library catalogue (MARC)": "Export it as RIS or BibTeX.",
    "a CBOR file": "Convert it to JSON.",
    "a program": "Programs have no text to search.",
    "a font": "Fonts have no text to search.",
}
# Beginnings that a text may have too: they count only in bytes that are not text.
_WEAK_MAGIC = (
    (b"II*", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"BM", "a BMP image"),
    (b"RIFF", "a WebP image, a sound or a video"),
    (b"BZh", "a bzip2 archive"),
    (b"Rar!", "a RAR archive"),
    (b"MZ", "a program"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound"),
)
_ZIPPED = (
    (b"word/", "a Word document"),
    (b"xl/", "an Excel workbook"),
    (b"ppt/", "a PowerPoint presentation"),
    (b"application/epub+zip", "an EPUB book"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
    (b"Index/CalculationEngine", "a Numbers spreadsheet"),
    (b"Index/Document.iwa", "an iWork document"),
)
STILL_IMAGES = frozenset(
    {b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1", b"avif", b"avis"}
)
MOST_SLIPS = 0.01  # of the characters
LETTER_PAIRS = 0.7  # of the characters: Chinese has a tenth, letters read in pairs nearly all
_BEGINNINGS = tuple(magic for magic, _ in _MAGIC)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\b\x1b")


def binary_kind(data: bytes) -> str:
    """The kind of file, as in "a PDF"; empty for text in some encoding."""
    head = data[: 8 * SAMPLE_BYTES].lstrip()[:SAMPLE_BYTES]
    if head.startswith(_BEGINNINGS):
        return next(kind for magic, kind in _MAGIC if head.startswith(magic))
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        inside = (kind for mark, kind in _ZIPPED if mark in head or mark in data[-SAMPLE_BYTES:])
        return next(inside, "a zip archive")
    if _CATALOGUE.match(head) and b"\x1e" in head:
        return "a library catalogue (MARC)"
    if _DRAWING.match(head):
        return "an AutoCAD drawing"
    if data.startswith(BOMS):
        return "" if _holds_wide_text(data[:SAMPLE_BYTES]) else "a binary file"
    many_nuls = b"\x00" in data and not _is_utf8_with_slips(data)
    is_binary = many_nuls or _control_share(data[:SAMPLE_BYTES]) > MAX_CONTROL_SHARE
    if is_binary and not utf16_without_mark(data):
        weak = (kind for magic, kind in _WEAK_MAGIC if head.startswith(magic))
        if head[4:8] == b"ftyp":
            brand = head[8:12]
            return "an HEIC or AVIF image" if brand in STILL_IMAGES else "a video"
        return next(weak, "a binary file")
    return ""


def _holds_wide_text(data: bytes) -> bool:
    """Whether bytes that begin with the mark of UTF-16 or UTF-32 go on as such a text: without
    control characters, and not as letters of a byte each."""
    if data.startswith(BOMS[2]) or data[2:4] == b"\x00\x00":
        return True
    text = data[: len(data) // 2 * 2].decode("utf-16", "replace")
    pairs = [data[at : at + 2] for at in range(2, len(data) - 1, 2)]
    controls = sum(
        character < " " and character not in "\t\n\v\f\r\b\x1b\x00" for character in text
    )
    letters = sum(pair.isalpha() and pair.isascii() for pair in pairs)
    return controls <= MAX_CONTROL_SHARE * len(text) and letters < LETTER_PAIRS * max(1, len(pairs))


def is_text_with_slips(text: str) -> bool:
    """Whether it has hardly a NUL, as a field of a database leaves one in an export."""
    return text.count("\x00") <= MOST_SLIPS * len(text)


def _is_utf8_with_slips(data: bytes) -> bool:
    try:
        return is_text_with_slips(data.decode())
    except UnicodeDecodeError:
        return False


def _control_share(sample: bytes) -> float:
    return 1 - len(sample.translate(None, _CONTROLS)) / len(sample) if sample else 0.0
