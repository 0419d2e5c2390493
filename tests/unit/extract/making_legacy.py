"""Writes small files of old Office programs for the tests, byte by byte: DOC, XLS, PPT, MSG."""

import struct

from tests.unit.extract.making import compound, record


def doc(text: str, headings: dict[int, int] | None = None, *, flags: int = 0) -> bytes:
    """A Word 97 file whose paragraphs have styles by their position in the text."""
    start = 1024
    bounds = [0]
    for position, character in enumerate(text):
        if character in "\r\x07":
            bounds.append(position + 1)
    runs = len(bounds) - 1
    page = struct.pack(f"<{runs + 1}I", *(start + 2 * bound for bound in bounds))
    properties = b""
    for number in range(runs):
        style = (headings or {}).get(number, 0)
        at = 200 + 4 * number
        page += struct.pack("<B12x", at // 2)
        properties += struct.pack("<BHx", 2, style)
    page = (page.ljust(200, b"\x00") + properties).ljust(511, b"\x00") + bytes([runs])
    pieces_ = struct.pack("<2IHIH", 0, len(text), 0, start, 0)
    table = b"\x02" + struct.pack("<I", len(pieces_)) + pieces_
    places = struct.pack("<2II", start, start + 2 * len(text), 1)
    main = bytearray(512)
    struct.pack_into("<HH", main, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", main, 0x0A, flags)
    struct.pack_into("<i", main, 0x4C, len(text))
    struct.pack_into("<II", main, 0x01A2, 0, len(table))
    struct.pack_into("<II", main, 0x0102, len(table), len(places))
    body = bytes(main) + page + text.encode("utf-16-le")
    return compound({"WordDocument": body, "0Table": table + places})


def xls(name: str = "Ann", *, locked: bool = False) -> bytes:
    def label(row: int, column: int, text: str) -> bytes:
        return record(
            0x0204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("ascii")
        )

    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 6))
    sheet += label(0, 0, "name") + label(0, 1, "age") + label(1, 0, name)
    sheet += record(0x0203, struct.pack("<HHHd", 1, 1, 0, 7.5)) + record(0x000A)
    begin = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 6))
    begin += record(0x002F, b"\x00" * 54) if locked else b""
    place = len(begin) + 4 + 9 + 4
    bound = record(0x0085, struct.pack("<IBBBB", place, 0, 0, 1, 0) + b"S")
    return compound({"Workbook": begin + bound + record(0x000A) + sheet})


def atom(kind: int, body: bytes, *, instance: int = 0) -> bytes:
    return struct.pack("<HHI", instance << 4, kind, len(body)) + body


def container(kind: int, *parts: bytes, instance: int = 0) -> bytes:
    body = b"".join(parts)
    return struct.pack("<HHI", instance << 4 | 0xF, kind, len(body)) + body


def ppt(title: str = "Plan", *, chained: bool = True) -> bytes:
    """Two slides, stored in the order opposite to the one they are shown in. Without the chain of
    edits nobody knows that order."""

    def text(kind: int, words: str) -> bytes:
        return atom(3999, struct.pack("<I", kind)) + atom(4000, words.encode("utf-16-le"))

    slide_2 = container(1006, container(1036, container(0xF00D, text(4, "drawn"))))
    slide_1 = container(1006)
    slides = container(
        4080,
        atom(1011, struct.pack("<5I", 2, 0, 0, 256, 0)),
        text(0, title),
        text(1, "one\rtwo"),
        atom(1011, struct.pack("<5I", 3, 0, 0, 257, 0)),
    )
    document = container(1000, slides)
    data = slide_2 + slide_1 + document
    places = (len(slide_2 + slide_1), len(slide_2), 0)
    directory = atom(6002, struct.pack("<4I", 3 << 20 | 1, *places))
    edit = len(data) + len(directory)
    data += directory + atom(4085, struct.pack("<IIIII", 0, 0, 0, edit - len(directory), 1))
    user = b"\x00" * 16 + struct.pack("<I", edit)
    return compound({"PowerPoint Document": data, **({"Current User": user} if chained else {})})


def msg(texts: dict[int, str], *recipients: dict[int, str]) -> bytes:
    """A message with these properties and recipients, sent at a round second."""
    moment = (1_000_000_000 + 11_644_473_600) * 10**7
    fixed = b"\x00" * 32 + struct.pack("<HHIQ", 0x0040, 0x0039, 6, moment)
    folders = {"": texts}
    folders |= {f"__recip_version1.0_#{n:08X}/": one for n, one in enumerate(recipients)}
    streams = {
        f"{folder}__substg1.0_{number:04X}001F": text.encode("utf-16-le")
        for folder, properties in folders.items()
        for number, text in properties.items()
    }
    return compound({"__properties_version1.0": fixed, **streams})
