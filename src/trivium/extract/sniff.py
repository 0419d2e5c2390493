"""Says what kind of file some bytes are, when they are not text. Knows nothing of names."""

from __future__ import annotations

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
)
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
)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\b\x1b")


def binary_kind(data: bytes) -> str:
    """The kind of file, as in "a PDF"; empty for text in some encoding."""
    head = data[: 8 * SAMPLE_BYTES].lstrip()[:SAMPLE_BYTES]
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        inside = (kind for mark, kind in _ZIPPED if mark in head or mark in data[-SAMPLE_BYTES:])
        return next(inside, "a zip archive")
    if data.startswith(BOMS):
        return ""
    is_binary = b"\x00" in data or _control_share(data[:SAMPLE_BYTES]) > MAX_CONTROL_SHARE
    if is_binary and not utf16_without_mark(data):
        weak = (kind for magic, kind in _WEAK_MAGIC if head.startswith(magic))
        return next(weak, "a video" if head[4:8] == b"ftyp" else "a binary file")
    return ""


def _control_share(sample: bytes) -> float:
    return 1 - len(sample.translate(None, _CONTROLS)) / len(sample) if sample else 0.0
