"""Writes small files of formats that have no writer here: books of Palm's kind, dBASE tables, parts
of iWork documents. Only what the tests need."""

import struct


def mobi(text: bytes, *, compression: int = 1, locked: int = 0) -> bytes:
    records = [struct.pack(">HHIHHHH", compression, 0, len(text), 1, 4096, locked, 0), text]
    start = 78 + 8 * len(records)
    data = b"book".ljust(32, b"\0") + bytes(28) + b"BOOKMOBI" + bytes(8)
    data += struct.pack(">H", len(records))
    for at in range(len(records)):
        data += struct.pack(">II", start + sum(map(len, records[:at])), at)
    return data + b"".join(records)


def dbf(fields: list[tuple[bytes, bytes, int]], rows: list[bytes]) -> bytes:
    """Fields with kind and width; each row begins with a blank, or a star if it is deleted."""
    head = bytearray(32)
    width = 1 + sum(size for *_, size in fields)
    count, length = len(rows), 33 + 32 * len(fields)
    struct.pack_into("<BBBBIHH", head, 0, 3, 124, 5, 3, count, length, width)
    for name, kind, size in fields:
        head += struct.pack("<11sc4xB15x", name, kind, size)
    return bytes(head) + b"\r" + b"".join(row.ljust(width) for row in rows) + b"\x1a"


def iwork_part(text: str) -> bytes:
    """A part that holds one text of fewer than 50 bytes."""
    words = text.encode()
    storage = bytes([0x1A, len(words)]) + words
    info = bytes([0x08, 0xD1, 0x0F, 0x18, len(storage)])  # the kind of a text (2001), its length
    archive = bytes([0x08, 1, 0x12, len(info)]) + info
    message = bytes([len(archive)]) + archive + storage
    block = bytes([len(message), 60 << 2, len(message) - 1]) + message
    return b"\x00" + len(block).to_bytes(3, "little") + block
