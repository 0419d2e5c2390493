"""Reads old PowerPoint presentations: the text of every slide, in order, with its notes.

Follows [MS-PPT]: the chain of edits says where each slide is now. If that chain is broken, takes
all text in the order of the file. Knows nothing of shapes or layout.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Place
from trivium.extract.composer import Composer
from trivium.extract.embedded import embedded_in_slides
from trivium.extract.legacy import summary
from trivium.extract.ole import has_stream, locked, open_ole, stream
from trivium.extract.pptx import SLIDE_LEVEL
from trivium.ports import Blob, reads

_STREAM = "PowerPoint Document"
_SLIDE, _NOTES, _LIST, _PERSIST, _HEADER = 1006, 1008, 4080, 1011, 3999
_CHARS, _BYTES, _EDIT, _DIRECTORY, _NOTES_ATOM = 4000, 4008, 4085, 6002, 1009
_TITLES = (0, 6)  # kinds of text: title, centred title
_ENCRYPTED = 0xF3D1C4DF
MAX_EDITS = 1_000
MAX_DEPTH = 30

Text = tuple[int, str]  # its kind, its words


@reads("ppt/1", lambda blob: has_stream(blob, _STREAM))
def read_ppt(blob: Blob) -> Extraction:
    """Takes compound files with a presentation in them."""
    with open_ole(blob) as ole:
        data = stream(ole, _STREAM)
        user = stream(ole, "Current User")
        metadata = dict(summary(ole))
    if len(user) >= 16 and struct.unpack_from("<I", user, 12)[0] == _ENCRYPTED:
        raise locked(blob.name)
    try:
        slides = list(_slides(data, user))
    except (struct.error, IndexError, KeyError, ValueError):
        slides = []
    if not any(texts for texts, _ in slides):
        slides = [(list(_texts(data, 0, len(data))), [])]
    if not slides[0][0] and len(slides) == 1:
        raise FileDamaged(f"{blob.name} is a presentation without text, or damaged.")
    out = Composer(blob.name)
    first = ""
    for number, (texts, notes) in enumerate(slides, start=1):
        title = _write(out, number, texts, notes)
        first = first or title
    return out.finish(
        blob,
        titles=(str(metadata.pop("title", "")), first),
        media_type="application/vnd.ms-powerpoint",
        metadata={**metadata, "pages": len(slides)},
        enclosed=embedded_in_slides(data),
    )


def _write(out: Composer, number: int, texts: list[Text], notes: list[Text]) -> str:
    place = Place(pages=(number,))
    title = next((words for kind, words in texts if kind in _TITLES and words.strip()), "")
    out.heading(SLIDE_LEVEL, title or f"Slide {number}", place)
    for kind, words in texts:
        lines = [line for line in words.split("\r") if line.strip()]
        for line in lines if words != title else ():
            listed = kind == 1 and len(lines) > 1
            out.add("list_item" if listed else "paragraph", line, place=place)
    note = "\n".join(words.replace("\r", "\n") for _, words in notes)
    out.add("paragraph", f"Notes: {note}" if note.strip() else "", place=place)
    return " ".join(title.split())


def _slides(data: bytes, user: bytes) -> Iterator[tuple[list[Text], list[Text]]]:
    """Texts and notes of each slide, as the last edit left them."""
    places, document = _directory(data, struct.unpack_from("<I", user, 16)[0])
    start, end = _body(data, places[document])
    lists = {
        instance: (at, stop)
        for kind, instance, at, stop in _records(data, start, end)
        if kind == _LIST
    }
    notes: dict[int, list[Text]] = {}
    for reference, _, _ in _persisted(data, *lists.get(2, (0, 0))):
        at, stop = _body(data, places[reference])
        atom = next((p for kind, _, p, _ in _records(data, at, stop) if kind == _NOTES_ATOM), None)
        if atom is not None:
            slide = struct.unpack_from("<I", data, atom)[0]
            notes[slide] = [text for text in _texts(data, at, stop) if text[0] == 2]
    for reference, slide, texts in _persisted(data, *lists.get(0, (0, 0))):
        at, stop = _body(data, places[reference])
        outline_texts = {words for _, words in texts}
        drawn = [text for text in _texts(data, at, stop) if text[1] not in outline_texts]
        yield [*texts, *drawn], notes.get(slide, [])


def _persisted(data: bytes, start: int, end: int) -> list[tuple[int, int, list[Text]]]:
    """Entries of a list of slides: reference, slide id, the texts of its outline."""
    entries: list[tuple[int, int, list[Text]]] = []
    kind = 4
    for type_, _, at, stop in _records(data, start, end):
        if type_ == _PERSIST:
            reference = struct.unpack_from("<I", data, at)[0]
            entries.append((reference, struct.unpack_from("<I", data, at + 12)[0], []))
        elif type_ == _HEADER:
            kind = struct.unpack_from("<I", data, at)[0]
        elif type_ in (_CHARS, _BYTES) and entries:
            entries[-1][2].append((kind, _decode(type_, data[at:stop])))
    return entries


def _directory(data: bytes, edit: int) -> tuple[dict[int, int], int]:
    """The position of each object (newer edits win), and the object that is the document."""
    places: dict[int, int] = {}
    document = 0
    for _ in range(MAX_EDITS):
        type_ = struct.unpack_from("<H", data, edit + 2)[0]
        if type_ != _EDIT:
            raise ValueError("broken chain of edits")
        previous, table, root = struct.unpack_from("<III", data, edit + 16)
        document = document or root
        at, stop = _body(data, table)
        while at + 4 <= stop:
            first = struct.unpack_from("<I", data, at)[0]
            count = first >> 20
            offsets = struct.unpack_from(f"<{count}I", data, at + 4)
            for step, offset in enumerate(offsets):
                places.setdefault((first & 0xFFFFF) + step, offset)
            at += 4 + 4 * count
        if not previous:
            break
        edit = previous
    return places, document


def _texts(data: bytes, start: int, end: int, depth: int = 0) -> Iterator[Text]:
    """Every text below a record, in the order of the file."""
    kind = 4
    for type_, version, at, stop in _records(data, start, end, versions=True):
        if type_ == _HEADER and stop - at >= 4:
            kind = struct.unpack_from("<I", data, at)[0]
        elif type_ in (_CHARS, _BYTES):
            if words := _decode(type_, data[at:stop]).strip():
                yield kind, words
        elif version == 0xF and depth < MAX_DEPTH:
            yield from _texts(data, at, stop, depth + 1)


def _records(
    data: bytes, start: int, end: int, *, versions: bool = False
) -> Iterator[tuple[int, int, int, int]]:
    """Type, instance (or version), and the range of each record's body."""
    while start + 8 <= end:
        first, type_, size = struct.unpack_from("<HHI", data, start)
        yield type_, first & 0xF if versions else first >> 4, start + 8, min(start + 8 + size, end)
        start += 8 + size


def _body(data: bytes, at: int) -> tuple[int, int]:
    size = struct.unpack_from("<I", data, at + 4)[0]
    return at + 8, min(at + 8 + size, len(data))


def _decode(type_: int, raw: bytes) -> str:
    text = raw.decode("utf-16-le" if type_ == _CHARS else "latin-1", "replace")
    return text.replace("\v", "\n")
