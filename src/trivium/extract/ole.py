"""Opens the compound files of old Office programs and says which program wrote one.

Knows streams by name, nothing of what is in them.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from trivium.core.errors import FileDamaged, FileLocked
from trivium.core.types import Extraction
from trivium.ports import Blob

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


def locked(name: str) -> FileLocked:
    return FileLocked(f"{name} is protected by a password.")


class LockedOfficeExtractor:
    """Takes new Office files that a password turned into a compound file, to say so. Damaged
    compound files end here too: list it last among the readers of Office files."""

    version = "locked/1"

    def accepts(self, blob: Blob) -> bool:
        return is_ole(blob.data)

    def extract(self, blob: Blob) -> Extraction:
        with open_ole(blob) as ole:
            if ole.exists("EncryptedPackage") or ole.exists("EncryptionInfo"):
                raise locked(blob.name)
        raise FileDamaged(
            f"{blob.name} is an old Office file without a document, table or presentation in it."
        )
