"""Opens the compound files of old Office programs and says which program wrote one.

Knows streams by name, nothing of what is in them.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from trivium.core.errors import FileDamaged, FileLocked, FormatUnknown
from trivium.core.types import Extraction
from trivium.ports import Blob, reads

if TYPE_CHECKING:
    from olefile import OleFileIO

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_STREAM = 256 << 20


def is_ole(data: bytes) -> bool:
    return data.startswith(MAGIC)


def open_ole(blob: Blob) -> OleFileIO:
    import olefile

    try:
        return olefile.OleFileIO(io.BytesIO(blob.data))
    except (OSError, ValueError, IndexError, TypeError, OverflowError, RecursionError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged Office file: it may be cut short.") from reason


def has_stream(blob: Blob, *names: str) -> bool:
    """Whether a compound file holds one of these streams."""
    if not is_ole(blob.data):
        return False
    try:
        with open_ole(blob) as ole:
            return any(ole.exists(name) for name in names)
    except FileDamaged:
        return False


def stream(ole: OleFileIO, name: str | list[str]) -> bytes:
    """The bytes of a stream, empty when it is missing or broken."""
    try:
        if not ole.exists(name) or ole.get_size(name) > MAX_STREAM:
            return b""
        data: bytes = ole.openstream(name).read()
    except (OSError, ValueError, IndexError, TypeError, OverflowError):
        return b""
    return data


def paths(ole: OleFileIO, *, storages: bool = False) -> list[list[str]]:
    """Of all streams; none when a damaged folder is inside itself."""
    try:
        names: list[list[str]] = ole.listdir(storages=storages)
    except RecursionError:
        return []
    return names


def locked(name: str, fix: str | None = None) -> FileLocked:
    return FileLocked(f"{name} is protected by a password.", fix=fix)


# What else comes as a compound file: a stream that only it has, its name, and what helps.
_OTHERS = (
    ("VisioDocument", "a Visio drawing of before 2013", "Save it as VSDX or PDF."),
    ("Quill", "a Publisher document", "Export it as PDF."),
    ("Props9", "a plan of Microsoft Project", "Export it as Excel or PDF."),
    ("Props12", "a plan of Microsoft Project", "Export it as Excel or PDF."),
    ("Props14", "a plan of Microsoft Project", "Export it as Excel or PDF."),
    ("BodyText", "a Hangul document (HWP)", "Save it as DOCX or PDF."),
    ("SfxDocumentInfo", "a StarOffice document", "Open it in LibreOffice and save it as ODT."),
    ("PerfectOffice_MAIN", "a WordPerfect Office file", "Save it as DOCX, XLSX or PDF."),
    ("NativeContent_MAIN", "a Quattro Pro workbook", "Save it as XLSX."),
    ("CONTENTS", "a Microsoft Works document", "Open it in LibreOffice and save it as ODT."),
    ("MN0", "a Microsoft Works document", "Open it in LibreOffice and save it as ODT."),
)


@reads("locked/1", lambda blob: is_ole(blob.data))
def read_locked_office(blob: Blob) -> Extraction:
    """Takes new Office files that a password turned into a compound file, to say so. Damaged
    compound files end here too: list it last among the readers of Office files."""
    with open_ole(blob) as ole:
        if ole.exists("EncryptedPackage") or ole.exists("EncryptionInfo"):
            raise locked(blob.name)
        names = {path[0] for path in paths(ole)}
        others = [(kind, fix) for name, kind, fix in _OTHERS if name in names]
    kind, fix = next(iter(others), ("a compound file without an Office document in it", None))
    raise FormatUnknown(f"{blob.name} is {kind}, which Trivium can't read yet.", fix=fix)
