"""Damages files the way disks, networks and enemies do. The same seed gives the same files."""

import gzip
import io
import random
import re
import zipfile
from collections.abc import Callable, Iterator

from tests.fuzz.seeds import SEEDS, SENTENCE, docx, open_document, pdf, png, unzipped, xlsx, zipped

from trivium.ports import Blob

Chance = random.Random


def truncated(data: bytes, chance: Chance) -> bytes:
    return data[: chance.randrange(len(data))]


def flipped(data: bytes, chance: Chance) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def repeated(data: bytes, chance: Chance) -> bytes:
    start, end = _range(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 2, 30, 300)) + data[end:]


def cut_out(data: bytes, chance: Chance) -> bytes:
    start, end = _range(data, chance)
    return data[:start] + data[end:]


def blanked(data: bytes, chance: Chance) -> bytes:
    start, end = _range(data, chance)
    return data[:start] + bytes([chance.choice((0, 32, 255))]) * (end - start) + data[end:]


def swapped(data: bytes, chance: Chance) -> bytes:
    start, end = _range(data, chance)
    return data[:start] + data[end : 2 * end - start] + data[start:end] + data[2 * end - start :]


def inflated(data: bytes, chance: Chance) -> bytes:
    """A number becomes absurd: a size, a count, a place, a dimension."""
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return flipped(data, chance)
    found = chance.choice(numbers)
    absurd = chance.choice((b"0", b"-1", b"99999999", b"2147483648", b"1e400", b"9" * 5000))
    return data[: found.start()] + absurd + data[found.end() :]


def mixed(data: bytes, chance: Chance) -> bytes:
    other = chance.choice(list(SEEDS.values()))
    start, end = _range(data, chance)
    return data[:start] + other[: chance.randrange(1, len(other))] + data[end:]


MUTATIONS: tuple[Callable[[bytes, Chance], bytes], ...] = (
    truncated, flipped, repeated, cut_out, blanked, swapped, inflated, mixed,
)  # fmt: skip


def _range(data: bytes, chance: Chance) -> tuple[int, int]:
    start = chance.randrange(len(data))
    return start, min(len(data), start + chance.choice((1, 4, 16, 100, 400)))


def mutated(name: str, data: bytes, chance: Chance) -> bytes:
    """One damage; two times in three inside a member where the file is a zip, which its checksums
    would otherwise hide from the parser behind them."""
    mutation = chance.choice(MUTATIONS)
    if not zipfile.is_zipfile(io.BytesIO(data)) or chance.random() < 1 / 3:
        return mutation(data, chance)
    members = unzipped(data)
    inner = chance.choice([member for member in members if members[member]])
    members[inner] = mutation(members[inner], chance)
    return zipped(members)


def hostile() -> Iterator[Blob]:
    """Files made to hurt: bombs, depths and sizes that no honest program writes."""
    deep, wide = 20_000, 100_000
    zeros = bytes(100 << 20)
    bomb = zipped({"zeros.txt": zeros})
    del zeros
    yield Blob("bomb.zip", bomb)
    yield Blob("bomb.txt.gz", gzip.compress(bytes(30 << 20)))
    yield Blob("bombs.zip", zipped({f"{n}.zip": bomb for n in range(10)}))
    yield Blob("members.zip", zipped({f"{n}.txt": b"x" for n in range(3000)}))
    yield Blob("climbs.zip", zipped({"../../etc/lantern": "x", "/abs": "y", "a\0b": "z"}))
    nested = SENTENCE.encode()
    for level in range(60):
        nested = zipped({f"{level}.zip" if level else "a.txt": nested})
    yield Blob("nested.zip", nested)
    yield Blob("bomb.docx", docx("<w:p>" + "<w:r><w:t>x</w:t></w:r>" * 150_000 + "</w:p>"))
    yield Blob("space.docx", docx(" " * (70 << 20)))
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    laughs = f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e0 "ha">{entities}]>'
    yield Blob("laughs.docx", docx("<w:p><w:r><w:t>&e12;</w:t></w:r></w:p>", laughs))
    outside = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    yield Blob("outside.docx", docx("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>", outside))
    table, end = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    yield Blob("deep.docx", docx(table * deep + end * deep))
    span = '<w:tcPr><w:gridSpan w:val="2147483647"/></w:tcPr>'
    yield Blob("span.docx", docx(f"<w:tbl><w:tr><w:tc>{span}<w:p/></w:tc></w:tr></w:tbl>"))
    last = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    yield Blob("far.xlsx", xlsx(last, dimension="A1:XFD1048576"))
    yield Blob("beyond.xlsx", xlsx(f'<row r="{"9" * 30}"><c r="ZZZZZZ1"><v>1</v></c></row>'))
    yield Blob("index.xlsx", xlsx('<row r="1"><c r="A1" t="s"><v>999999999</v></c></row>'))
    cell = '<table:table-cell table:number-columns-repeated="2000000000"><text:p>x</text:p>'
    row = f'<table:table-row table:number-rows-repeated="2000000000">{cell}</table:table-cell>'
    sheet = f'<table:table table:name="S">{row}</table:table-row></table:table>'
    sheets = f"<office:spreadsheet>{sheet}</office:spreadsheet>"
    yield Blob("far.ods", open_document("spreadsheet", sheets))
    yield Blob("page.pdf", pdf(box="0 0 1e9 1e9"))
    yield Blob("page0.pdf", pdf(box="0 0 0 0"))
    yield Blob("bomb.pdf", pdf(b" " * (30 << 20), packed=True))
    yield Blob("text.pdf", pdf(b"BT /F1 9 Tf (lantern) Tj T* ET " * wide, packed=True))
    yield Blob("states.pdf", pdf(b"q " * 1_000_000, packed=True))
    yield Blob("array.pdf", pdf(b"[" * wide + b"]" * wide + b" TJ"))
    yield Blob("objects.pdf", pdf().replace(b"/Kids [3 0 R 6 0 R]", b"/Kids [2 0 R 2 0 R]"))
    yield Blob("count.pdf", pdf().replace(b"/Count 2", b"/Count 2147483647"))
    yield Blob("brackets.pdf", b"%PDF-1.4\n1 0 obj\n" + b"<<" * wide + b"\nendobj\n%%EOF")
    yield Blob("loop.pdf", pdf().replace(b"/First 8 0 R", b"/First 7 0 R"))
    yield Blob("deep.html", b"<div>" * wide + b"lantern")
    yield Blob("bold.html", b"<b><p>" * deep + b"lantern")
    yield Blob("span.html", b'<table><tr><td colspan="99999999" rowspan="99999999">lantern</table>')
    tables = b"<table><tr><td>" * 3000 + b"lantern"
    yield Blob("tables.html", tables)
    yield Blob("open.html", b"<!--" * wide + b"<![CDATA[" * 1000)
    yield Blob("attributes.html", b"<p " + b"a=1 " * wide + b">lantern")
    yield Blob("quotes.md", b">" * deep + b" lantern")
    yield Blob("lists.md", b"".join(b"%s- x\n" % (b" " * (2 * n)) for n in range(600)))
    yield Blob("brackets.md", b"[" * 5000 + b"lantern" + b"](" * 5000)
    yield Blob("stars.md", b"*a_" * deep)
    yield Blob("ticks.md", b"`a``b" * deep)
    yield Blob("tags.md", b"<div>\n" + b"<a " * wide)
    yield Blob("newlines", b"\n" * wide + b"lantern")
    yield Blob("alias.md", b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\nlantern")
    ninefold = (b",".join([b"*l%d" % n] * 9) for n in range(9))
    anchors = b"".join(b"l%d: &l%d [%s]\n" % (n, n, of) for n, of in enumerate(ninefold, start=1))
    yield Blob("laughs.md", b"---\nl0: &l0 [ha]\n" + anchors + b"---\nlantern")
    yield Blob("flow.md", b"---\na: " + b"[" * 5000 + b"\n---\nlantern")
    yield Blob("line.txt", b"x" * (5 << 20))
    yield Blob("lines.txt", b"x\n" * wide)
    yield Blob("blank.txt", b" \n" * wide)
    yield Blob("marks.txt", "e\u0301\u202e\ufeff".encode() * wide)
    yield Blob("deep.json", b"[" * wide + b"]" * wide)
    yield Blob("keys.json", b'{"a":' * deep + b"1" + b"}" * deep)
    yield Blob("number.json", b'{"a": ' + b"9" * wide + b"}")
    yield Blob("wide.csv", b"a," * wide + b"\n1\n")
    yield Blob("quote.csv", b'a,b\n"' + b"x,\n" * wide)
    part = b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n'
    parts = b"".join(part % (n, n) for n in range(1200))
    yield Blob("deep.eml", b"From: a@b.c\nSubject: lantern\nMIME-Version: 1.0\n" + parts)
    message = b"From: a@b.c\nSubject: lantern\nContent-Type: message/rfc822\n\n"
    yield Blob("russian.eml", message * 2000)
    yield Blob("header.eml", b"From: a@b.c\nSubject: " + b"=?utf-8?q?x?= " * wide + b"\n\nx")
    yield Blob("deep.rtf", b"{\\rtf1 " + b"{" * wide + b"lantern")
    yield Blob("deep.bib", b"@book{a, title = " + b"{" * deep + b"lantern")
    for size in (30_000, 2**31 - 1, 2**32 - 1):
        yield Blob(f"{size}.png", png(size, size))
    yield Blob("huge.gif", b"GIF89a\xff\xff\xff\xff\x80\x00\x00" + bytes(20))
    yield Blob("huge.bmp", b"BM" + bytes(12) + b"\x28\0\0\0" + b"\xff\xff\xff\x7f" * 2 + bytes(28))
    yield Blob("x" * 5000 + ".pdf", b"%PDF-")
    yield Blob("\ud800\n\0.md", b"# lantern")


def corpus(count: int, seed: int = 0) -> Iterator[Blob]:
    """The hostile files, then mutations of every format in turn."""
    chance = Chance(seed)
    given = 0
    for blob in hostile():
        given += 1
        yield blob
    names = list(SEEDS)
    for number in range(count - given):
        name = names[number % len(names)]
        yield Blob(name, mutated(name, SEEDS[name], chance))
