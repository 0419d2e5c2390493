"""The objects of an iWork document since 2013: messages by number that name one another. Gives the
texts and tables of a slide or a page in order. Knows nothing of files (`iwork`) or styles."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeAlias

from trivium.core.types import Place
from trivium.extract.composer import Composer

# Kinds of messages. Of Keynote, then Numbers, then all three.
_SHOW, _NODE, _SLIDE = 2, 4, 5
_DOCUMENT, _SHEET = 1, 2
_STORAGES = frozenset({2001, 2005})  # a text with its styles
_TABLE, _MODEL = 6000, 6001
# What holds a text or a table: placeholders, notes, attachments, text boxes, groups.
_HOLDERS = frozenset({7, 15, 2003, 2008, 2011, 3008})
_BODY, _HEADER = 0, 1  # kinds of texts
_ANCHOR = "\ufffc"
_EPOCH = datetime(2001, 1, 1)
_MAX_DEPTH = 5
_MAX_ROWS, _MAX_COLUMNS = 100_000, 1_000  # a table of Numbers may have no more columns
# Of a cell: what is before its value takes four bytes for each of these flags.
_OLD_IDS = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x400 | 0x800 | 0x1000
_CHOSEN = 0x80  # from a list: the number is its place there
_NUMBER, _TEXT, _DATE, _BOOL, _DURATION, _RICH, _CURRENCY = 2, 3, 5, 6, 7, 9, 10

Fields: TypeAlias = dict[int, list["int | bytes"]]


class Objects:
    """A document's messages: kind and bytes by number, and the part each is in."""

    def __init__(self, objects: Mapping[int, tuple[int, bytes, str]]) -> None:
        self._objects = objects
        self._written: set[int] = set()

    def slides(self) -> list[int]:
        """In the order of the show, with those that it skips."""
        shows = [data for kind, data, part in self._objects.values() if kind == _SHOW]
        for show in shows:
            tree = _first(fields(show), 3)
            nodes = [_reference(node) for node in fields(tree).get(2, ())] if tree else []
            slides = [self._refer(node, 2) for node in nodes if self._kind(node) == _NODE]
            slides = [slide for slide in slides if self._kind(slide) == _SLIDE]
            if slides:
                return slides
        return []

    def slide(self, out: Composer, slide: int, place: Place) -> None:
        """The title as its heading, then what is on it from back to front, then its notes."""
        inside = self._fields(slide)
        self._written.add(slide)
        title = [_reference(reference) for reference in inside.get(5, ())]
        lines = [line for holder in title for line in self._lines(holder)]
        if lines:
            out.heading(2, " ".join(lines), place)
        for number in map(_reference, inside.get(20, ())):  # the page's number
            self._written |= {number, *self._references(number)}
        order = [reference for field in (6, 42, 7, 30, 27) for reference in inside.get(field, ())]
        for reference in order:
            self._write(out, _reference(reference), place)
        part = self._objects[slide][2]
        for number, (kind, _, where) in self._objects.items():
            if where == part and kind in _STORAGES:
                self._write(out, number, place)

    def pages(self, out: Composer, parts: frozenset[str]) -> None:
        """The text first, then what floats beside it, then heads and feet."""
        storages = [
            (number, _first_number(fields(data), 1, 3))
            for number, (kind, data, part) in self._objects.items()
            if kind in _STORAGES and part in parts
        ]
        body = [number for number, kind in storages if kind == _BODY]
        feet = [number for number, kind in storages if kind == _HEADER]
        others = [number for number, kind in storages if kind not in (_BODY, _HEADER)]
        for number in (*body, *others):
            self._write(out, number, Place())
        for number, (kind, *_) in self._objects.items():
            if kind == _TABLE:
                self._write(out, number, Place())
        for number in feet:
            self._write(out, number, Place())

    def sheets(self) -> Iterator[tuple[str, list[list[str]]]]:
        """The tables of Numbers, by sheet and name."""
        documents = [data for kind, data, _ in self._objects.values() if kind == _DOCUMENT]
        for document in documents:
            for sheet in map(_reference, fields(document).get(1, ())):
                if self._kind(sheet) != _SHEET:
                    continue
                inside = self._fields(sheet)
                tables = [n for n in map(_reference, inside.get(2, ())) if self._kind(n) == _TABLE]
                name = _words(inside, 1)
                for table in tables:
                    model = self._fields(self._refer(table, 2))
                    alone = len(tables) == 1
                    yield name if alone else f"{name}: {_words(model, 8)}", self._rows(model)

    def _write(self, out: Composer, number: int, place: Place) -> None:
        if number in self._written or number not in self._objects:
            return
        kind = self._objects[number][0]
        if kind in _STORAGES:
            self._text(out, number, place)
        elif kind == _TABLE:
            self._written.add(number)
            model = self._refer(number, 2)
            if self._kind(model) == _MODEL:
                out.table(self._rows(self._fields(model)), place=place)
        elif kind in _HOLDERS:
            self._written.add(number)
            for inner in self._references(number):
                self._write(out, inner, place)

    def _text(self, out: Composer, number: int, place: Place) -> None:
        """Paragraphs; a table stands where its anchor is."""
        self._written.add(number)
        inside = self._fields(number)
        anchored: dict[int, int] = {}
        for table in inside.get(9, ()):
            for entry in fields(table).get(1, ()) if isinstance(table, bytes) else ():
                where = fields(entry) if isinstance(entry, bytes) else {}
                anchored[_first_number(where, 1, 0)] = _reference(_first(where, 2))
        at = 0
        for piece in _words(inside, 3).split(_ANCHOR):
            for line in lines_of(piece):
                out.add("paragraph", line, place=place)
            at += len(piece.encode("utf-16-le")) // 2
            if at in anchored:
                self._write(out, anchored[at], place)
            at += 1

    def _lines(self, holder: int) -> list[str]:
        lines = []
        self._written.add(holder)
        for number in self._references(holder):
            if self._kind(number) in _STORAGES and number not in self._written:
                self._written.add(number)
                lines += lines_of(_words(self._fields(number), 3).replace(_ANCHOR, " "))
        return lines

    def _rows(self, model: Fields) -> list[list[str]]:
        store = _first(model, 4)
        if not isinstance(store, bytes):
            return []
        inside = fields(store)
        texts, rich, menu = self._list(inside, 4), self._list(inside, 17), self._menu(inside)
        rows: dict[int, dict[int, str]] = {}
        storage = _first(inside, 3)
        tiles = fields(storage) if isinstance(storage, bytes) else {}
        size = _first_number(tiles, 2, 256)
        for tile in tiles.get(1, ()):
            where = fields(tile) if isinstance(tile, bytes) else {}
            first = _first_number(where, 1, 0) * size
            number = _reference(_first(where, 2))
            for row in self._fields(number).get(5, ()):
                if isinstance(row, bytes):
                    parts = fields(row)
                    cells = _cells(parts)
                    values = {
                        at: self._value(cell, texts, rich, menu) for at, cell in cells.items()
                    }
                    rows[first + _first_number(parts, 1, 0)] = values
        filled = [
            (row, at)
            for row, cells in rows.items()
            for at, text in cells.items()
            if text and row < _MAX_ROWS and at < _MAX_COLUMNS
        ]
        height = max((row for row, _ in filled), default=-1) + 1
        width = max((at for _, at in filled), default=-1) + 1
        empty: dict[int, str] = {}
        return [[rows.get(row, empty).get(at, "") for at in range(width)] for row in range(height)]

    def _list(self, store: Fields, field: int) -> dict[int, str]:
        """The texts that cells name by a key."""
        texts: dict[int, str] = {}
        lists = [_reference(_first(store, field))]
        read: set[int] = set()  # in a damaged document one may name itself
        while lists:
            number = lists.pop()
            if number not in self._objects or number in read:
                continue
            read.add(number)
            inside = self._fields(number)
            lists += [_reference(reference) for reference in inside.get(4, ())]
            for entry in inside.get(3, ()):
                parts = fields(entry) if isinstance(entry, bytes) else {}
                text = _words(parts, 3)
                if payload := _reference(_first(parts, 9)):
                    storage = self._refer(payload, 1)
                    self._written.add(storage)
                    text = _words(self._fields(storage), 3)
                texts[_first_number(parts, 1, 0)] = " ".join(lines_of(text.replace(_ANCHOR, " ")))
        return texts

    def _menu(self, store: Fields) -> list[str]:
        """What may be chosen in a table's cells. With several such lists none is taken: which is a
        cell's own isn't known."""
        entries = self._fields(_reference(_first(store, 16))).get(3, [])
        model = _reference(_first(fields(entries[0]), 4)) if len(entries) == 1 else 0
        items = self._fields(model)
        chosen = [fields(item) for item in items.get(2, []) or items.get(1, [])]
        return [_words(fields(_first(item, 5)), 1) for item in chosen]

    def _value(
        self, cell: bytes, texts: Mapping[int, str], rich: Mapping[int, str], menu: list[str]
    ) -> str:
        try:
            kind, number, key = (_new_cell if cell[0] >= 5 else _old_cell)(cell)
            if cell[0] < 5 and cell[10] & _CHOSEN and number is not None:
                return menu[int(number)] if 0 <= number < len(menu) else ""
        except (IndexError, OverflowError, ValueError, struct.error):
            return ""
        if kind in (_TEXT, _RICH):
            return (rich if kind == _RICH else texts).get(key, "")
        if number is None:
            return ""
        if kind == _BOOL:
            return "yes" if number else "no"
        if kind == _DATE:
            try:
                moment = _EPOCH + timedelta(seconds=round(number))
            except (OverflowError, ValueError):
                return ""
            return moment.isoformat(" ").removesuffix(" 00:00:00")
        return f"{number:.12g}" if kind in (_NUMBER, _CURRENCY, _DURATION) else ""

    def _kind(self, number: int) -> int:
        return self._objects[number][0] if number in self._objects else 0

    def _refer(self, number: int, field: int) -> int:
        return _reference(_first(self._fields(number), field))

    def _fields(self, number: int) -> Fields:
        """Of an object; empty where there is none."""
        return fields(self._objects[number][1]) if number in self._objects else {}

    def _references(self, number: int) -> list[int]:
        return (
            list(_referred(self._objects[number][1], _MAX_DEPTH)) if number in self._objects else []
        )


def objects_of(part: bytes, name: str) -> Iterator[tuple[int, tuple[int, bytes, str]]]:
    """The messages of an unpacked part."""
    at = 0
    while at < len(part):
        length, at = varint(part, at)
        head = _whole(part[at : at + length])
        at += length
        for info in head.get(2, ()):
            described = fields(info) if isinstance(info, bytes) else {}
            size = _first_number(described, 3, 0)
            kind = _first_number(described, 1, 0)
            yield _first_number(head, 1, 0), (kind, part[at : at + size], name)
            at += size


def fields(message: int | bytes | None) -> Fields:
    """A message's values by field, as far as it can be read. Empty for what is none."""
    values: Fields = {}
    with suppress(IndexError, ValueError):
        _read(message, values)
    return values


def _whole(message: bytes) -> Fields:
    """The same; raises IndexError or ValueError where it is no whole message."""
    values: Fields = {}
    _read(message, values)
    return values


def _read(message: int | bytes | None, numbered: Fields) -> None:
    if not isinstance(message, bytes):
        return
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(message, at)
            numbered.setdefault(key >> 3, []).append(value)
        elif kind == 2:
            length, at = varint(message, at)
            numbered.setdefault(key >> 3, []).append(message[at : at + length])
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("no protocol buffer")


def lines_of(text: str) -> list[str]:
    """The lines, without blanks around them; they end with columns, pages and sections too."""
    for sign in "\r\x04\x05\x06\x0b\x0c\u2028\u2029":
        text = text.replace(sign, "\n")
    return [line.strip() for line in text.split("\n") if line.strip()]


def _referred(message: bytes, depth: int) -> Iterator[int]:
    """The numbers that a message names: of `{1: number}`, however deep."""
    try:
        inside = _whole(message)
    except (IndexError, ValueError):  # bytes that are no message
        return
    for values in inside.values():
        for value in values:
            if not isinstance(value, bytes):
                continue
            if number := _reference(value):
                yield number
            elif depth:
                yield from _referred(value, depth - 1)


def _reference(value: int | bytes | None) -> int:
    if not isinstance(value, bytes) or not value or value[0] != 8 or len(value) > 11:
        return 0
    try:
        inside = _whole(value)
    except (IndexError, ValueError):
        return 0
    return _first_number(inside, 1, 0) if set(inside) == {1} else 0


def _first(inside: Fields, field: int) -> int | bytes | None:
    return next(iter(inside.get(field, ())), None)


def _first_number(inside: Fields, field: int, default: int) -> int:
    value = _first(inside, field)
    return value if isinstance(value, int) else default


def _words(inside: Fields, field: int) -> str:
    parts = (part for part in inside.get(field, ()) if isinstance(part, bytes))
    return b"".join(parts).decode("utf-8", "replace")


def _cells(row: Fields) -> dict[int, bytes]:
    """The cells of a row by column: where each begins is in a list of places, -1 for none."""
    is_new = bool(_first(row, 6))
    data, places = (_first(row, field) for field in ((6, 7) if is_new else (3, 4)))
    if not isinstance(data, bytes) or not isinstance(places, bytes):
        return {}
    wide = 4 if is_new and _first_number(row, 8, 0) else 1
    starts = struct.unpack(f"<{len(places) // 2}h", places[: len(places) // 2 * 2])
    begins = [(column, start * wide) for column, start in enumerate(starts) if start >= 0]
    ends = [*(start for _, start in begins[1:]), len(data)]
    return {column: data[start:end] for (column, start), end in zip(begins, ends, strict=True)}


def _old_cell(cell: bytes) -> tuple[int, float | None, int]:
    """Kind, number, and key of a text, as written until 2019."""
    flags = int.from_bytes(cell[4:6], "little")
    at = 12 + 4 * (flags & _OLD_IDS).bit_count()
    number, key = None, 0
    for flag in (0x200, 0x10):
        if flags & flag:
            key = int.from_bytes(cell[at : at + 4], "little")
            at += 4
    for flag in (0x20, 0x40):
        if flags & flag:
            (number,) = struct.unpack_from("<d", cell, at)
            at += 8
    return cell[1], number, key


def _new_cell(cell: bytes) -> tuple[int, float | None, int]:
    """The same since 2019: numbers are decimal ones of 16 bytes."""
    flags, at = int.from_bytes(cell[8:12], "little"), 12
    number, key = None, 0
    if flags & 1:
        power = ((cell[at + 15] & 0x7F) << 7 | cell[at + 14] >> 1) - 0x1820
        digits = int.from_bytes(cell[at : at + 14], "little") | (cell[at + 14] & 1) << 112
        number = float(f"{'-' if cell[at + 15] & 0x80 else ''}{digits}e{power}")
        at += 16
    for flag in (2, 4):
        if flags & flag:
            (number,) = struct.unpack_from("<d", cell, at)
            at += 8
    for flag in (8, 0x10):
        if flags & flag:
            key = int.from_bytes(cell[at : at + 4], "little")
            at += 4
    return cell[1], number, key


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of as many bytes as it needs, and where the next value begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without end")
