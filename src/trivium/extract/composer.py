"""Collects a reader's pieces, in order, into the text and elements of an extraction.

Knows how pieces are joined, numbered and placed under headings; knows no file format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from trivium.core.errors import FileEmpty, FileTooLarge
from trivium.core.types import Element, ElementKind, Enclosed, Extraction, Kind, Metadata, Place
from trivium.extract.headers import names_of, without_part
from trivium.extract.text import stem
from trivium.ports import Blob
from trivium.text.languages import detect_language
from trivium.text.titles import first_title

# 50 million characters are 30,000 pages; as wide characters, text and parts take 400 MB.
MAX_CHARS = 50_000_000
MAX_ELEMENTS = 1_000_000  # some 400 bytes each
MAX_HEADER_CHARS = 1_000  # of a table: it is repeated in every chunk, and must leave room there
MAX_HEADING_CHARS = 300  # a longer one is a paragraph in the wrong style
EMPTY = "–"  # the first cell of a row that has none

NOWHERE = Place()

_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_LANGUAGE = re.compile(r"([a-z]{2})(?=$|[-_])", re.IGNORECASE)
# Half surrogate pairs and control characters, which no store or model takes.
_UNPRINTABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


class Composer:
    """Text and elements of one document, growing from top to bottom."""

    def __init__(self, name: str) -> None:
        self.first_heading = ""
        self._name = name
        self._parts: list[str] = []
        self._elements: list[Element] = []
        self._length = 0
        self._paragraphs = 0
        self._path: list[tuple[int, str]] = []  # level and text of the headings above
        self._last: ElementKind | None = None

    def __bool__(self) -> bool:
        return bool(self._elements)

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def heading(self, level: int, text: str, place: Place = NOWHERE) -> None:
        text = " ".join(text.split())
        if len(text) > MAX_HEADING_CHARS:
            self.add("paragraph", text, place=place)
            return
        self.leave(level)
        if self.add("heading", text, level=level, place=place):
            self._path.append((level, text))
            self.first_heading = self.first_heading or text

    def leave(self, level: int = 0) -> None:
        """What follows is no longer under headings of this level or below."""
        while self._path and self._path[-1][0] >= level:
            self._path.pop()

    def part(self) -> None:
        """What follows is separate: a second list, a second table."""
        self._last = None

    def add(
        self,
        kind: ElementKind,
        text: str,
        *,
        level: int = 0,
        header: str = "",
        place: Place = NOWHERE,
    ) -> bool:
        """Append a piece; returns whether it had any text. Items of a list and rows of a table are
        lines; everything else is a paragraph."""
        text = clean(text).strip("\n").rstrip()
        text = text if kind == "code" else text.lstrip()
        if not text:
            return False
        if self._parts:
            self._append("\n" if kind in ("list_item", "row") and self._last == kind else "\n\n")
        if kind != "heading":
            self._paragraphs += 1
        self._elements.append(
            Element(
                kind=kind,
                start=self._length,
                end=self._length + len(text),
                headings=tuple(heading for _, heading in self._path),
                level=level,
                paragraph=None if kind == "heading" else self._paragraphs,
                header=header,
                place=place,
            )
        )
        self._append(text)
        self._last = kind
        if self._length > MAX_CHARS or len(self._elements) > MAX_ELEMENTS:
            raise FileTooLarge(
                f"{self._name} holds more than {MAX_CHARS:,} characters "
                f"or {MAX_ELEMENTS:,} paragraphs and rows."
            )
        return True

    def table(
        self,
        rows: Iterable[Sequence[str]],
        *,
        names: Sequence[str] = (),
        has_header: bool | None = None,
        place: Place = NOWHERE,
    ) -> None:
        """A small table inside a text: one element, a line for every row. Without `names` or word
        from its file the rows themselves tell whether the first has names."""
        filled = [row for row in rows if line_of(row)]
        lines = [line_of(row) for row in filled]
        if not names and has_header is not False:
            names = names_of(filled, certain=has_header is True)
        header = cut_header(line_of(without_part(names, filled)))
        self.add("table", "\n".join(lines), header=header, place=place)

    def finish(
        self,
        blob: Blob,
        *,
        media_type: str,
        titles: Sequence[str] = (),
        language: str = "",
        metadata: Metadata | None = None,
        kind: Kind = Kind.TEXT,
        enclosed: Sequence[Enclosed] = (),
    ) -> Extraction:
        """The extraction, under the first of these titles that identifies it; else under the file's
        name."""
        if not self._elements and enclosed:  # a cover for what is inside: that can be found
            self.add("paragraph", "\n".join(f"Attachment: {inner.name}" for inner in enclosed))
        if not self._elements:
            raise FileEmpty(f"{blob.name} has no text.")
        text = self.text
        declared = _LANGUAGE.match(language)
        titled = first_title(*(" ".join(clean(title).split()) for title in titles))
        return Extraction(
            text=text,
            elements=tuple(self._elements),
            title=titled or stem(blob),
            media_type=media_type,
            language=declared[1].lower() if declared else detect_language(text),
            metadata=metadata or {},
            kind=kind,
            enclosed=tuple(enclosed),
        )

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def clean(text: str) -> str:
    """The text without characters that no store can keep."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def line_of(cells: Sequence[str]) -> str:
    """A row of a table as one line, without empty cells at its end. An empty first cell becomes a
    dash: spaces at a line's start get lost, and every name would shift by one."""
    flat = [" ".join(cell.split()) for cell in cells]
    while flat and not flat[-1]:
        flat.pop()
    if flat and not flat[0]:
        flat[0] = EMPTY
    return " | ".join(flat)


def cut_header(line: str) -> str:
    """A header row that can be repeated: whole columns up to the limit."""
    if len(line) <= MAX_HEADER_CHARS:
        return line
    cut = line.rfind(" | ", 0, MAX_HEADER_CHARS)
    return line[: cut if cut > 0 else MAX_HEADER_CHARS]


def describe(fields: Mapping[str, object]) -> Metadata:
    """Metadata without empty fields; `authors` as a tuple, `year` from it or from the date."""
    metadata: dict[str, str | int | float | bool | tuple[str, ...]] = {}
    for name, value in fields.items():
        if isinstance(value, str) and clean(value).strip():
            metadata[name] = " ".join(clean(value).split())
        elif isinstance(value, list | tuple):
            if values := tuple(dict.fromkeys(" ".join(clean(str(v)).split()) for v in value if v)):
                metadata[name] = values
        elif isinstance(value, int | float) and value:
            metadata[name] = value
    year_text = str(fields["year"] or "") if "year" in fields else str(metadata.get("date", ""))[:4]
    metadata.pop("year", None)
    if year := _YEAR.search(year_text):
        metadata["year"] = int(year[1])
    return metadata


def people(line: str) -> tuple[str, ...]:
    """The names in a by-line, as office programs write them."""
    return tuple(name for part in re.split(r"[;\n]", line) if (name := part.strip()))
