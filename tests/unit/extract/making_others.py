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


def field(number: int, value: int | bytes) -> bytes:
    """A field of a protocol buffer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def names(number: int) -> bytes:
    """What refers to another object."""
    return field(1, number)


def iwork_part(*objects: tuple[int, int, bytes]) -> bytes:
    """A part of an iWork document: number, kind and bytes of each object."""
    message = b""
    for number, kind, data in objects:
        info = field(1, number) + field(2, field(1, kind) + field(3, len(data)))
        message += varint(len(info)) + info + data
    size = len(message)
    block = varint(size) + bytes((61 << 2,)) + (size - 1).to_bytes(2, "little") + message
    return b"\x00" + len(block).to_bytes(3, "little") + block


def iwork_text(number: int, text: str, *more: bytes) -> tuple[int, int, bytes]:
    return number, 2001, field(3, text.encode()) + b"".join(more)


def iwork_table(
    number: int, rows: list[list[bytes]], texts: list[str]
) -> list[tuple[int, int, bytes]]:
    """A table with its model, tile and texts, which take the numbers after it."""
    body = b""
    for at, cells in enumerate(rows):
        starts = [sum(map(len, cells[:place])) for place in range(len(cells))]
        places = struct.pack(f"<{len(cells) + 1}h", *starts, -1)
        fields = (3, 4) if cells[0][0] < 5 else (6, 7)
        body += field(
            5, field(1, at) + field(fields[0], b"".join(cells)) + field(fields[1], places)
        )
    tiles = field(1, field(1, 0) + field(2, names(number + 2)))
    store = field(3, tiles) + field(4, names(number + 3))
    entries = (
        field(3, field(1, key) + field(3, text.encode())) for key, text in enumerate(texts, 1)
    )
    return [
        (number, 6000, field(2, names(number + 1))),
        (number + 1, 6001, field(4, store) + field(8, b"Table 1")),
        (number + 2, 6002, body),
        (number + 3, 6005, b"".join(entries)),
    ]
