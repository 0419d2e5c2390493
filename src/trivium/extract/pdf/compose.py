"""Builds a document from its pages: lines, blocks, headings, text, metadata. The recipe, top to
bottom; each step has its own file. Knows nothing of where pages come from."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from trivium.core.errors import FileEmpty, ReadError
from trivium.core.types import Extraction, Kind, MetaValue
from trivium.extract.pdf import front
from trivium.extract.pdf.assemble import assemble
from trivium.extract.pdf.columns import common_gutter, find_gutter
from trivium.extract.pdf.flow import join_flow, lift_floats
from trivium.extract.pdf.headings import (
    Bookmark,
    HeadingRules,
    drop_items,
    set_levels,
    without_repeats,
)
from trivium.extract.pdf.layout import fragments_of, head_lines, read_lines
from trivium.extract.pdf.marks import Block, Column, Fragment, Line, Page
from trivium.extract.pdf.paragraphs import build_blocks
from trivium.extract.pdf.run_in import part_run_ins
from trivium.extract.pdf.running import drop_running
from trivium.extract.pdf.typography import Typography, measure, with_lost_letters
from trivium.extract.text import stem
from trivium.ports import Blob
from trivium.text.languages import detect_language
from trivium.text.titles import first_title


@dataclass(slots=True)
class PagesRead:
    """The pages that were read, and how."""

    pages: list[Page]
    count: int
    recognised: int = 0  # read as images
    unread: int = 0  # would have had to be, or gave noise
    advice: str = ""  # what would help to read those
    given_up: int = 0  # took too long
    damaged: int = 0
    failed: int = 0  # by a fault of ours
    fault: str = ""  # the first one

    def note(self, fault: Exception) -> None:
        """A fault of ours: the document says so, for somebody to report it."""
        last = traceback.extract_tb(fault.__traceback__)[-1:]
        where = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)
        self.fault = self.fault or f"{type(fault).__name__}: {str(fault)[:200]}{where}"


def compose(
    pages_read: PagesRead, marks: list[Bookmark], info: dict[str, str], blob: Blob, media_type: str
) -> Extraction:
    """The document from its pages, its outline and what its file declares. If a rule of ours fails
    on it, the words of its pages without structure: a person who asks for one must find it."""
    try:
        return _composed(pages_read, marks, info, blob, media_type)
    except (ReadError, MemoryError):
        raise
    except Exception as fault:
        pages_read.note(fault)
    blocks = [_plain(page) for page in pages_read.pages if page.words]
    text, elements = assemble(blocks, {page.number: page for page in pages_read.pages})
    return Extraction(
        text=text,
        elements=elements,
        title=first_title(info.get("Title", "")) or stem(blob),
        media_type=media_type,
        language=detect_language(text),
        metadata=_metadata(pages_read, info, [], ""),
    )


def _composed(
    pages_read: PagesRead, marks: list[Bookmark], info: dict[str, str], blob: Blob, media_type: str
) -> Extraction:
    lines, margins = _lines(pages_read.pages)
    if not lines:
        raise FileEmpty(f"{blob.name} has no text.")
    typography = measure(lines)
    declared = info.get("Title", "")
    start, end = front.find_title(lines, typography, declared)
    printed = front.title_text(lines[start:end], typography) if end else ""
    title = front.identify(lines, printed, declared)
    if title != printed:  # what is set largest names no document: no section stands under it
        start = end = 0
    blocks = _blocks(lines, start, end, typography, marks)
    if printed and title != printed:
        front.clear_cover(blocks, title)
    title = first_title(title, front.first_heading(blocks))
    front.clear_empty_cover(blocks)
    front.clear_form_cover(blocks)
    texts = with_lost_letters([block.text for block in blocks], typography.words)
    for block, whole in zip(blocks, texts, strict=True):
        block.text = whole
    text, elements = assemble(blocks, {page.number: page for page in pages_read.pages})
    return Extraction(
        text=text,
        elements=elements,
        title=title or stem(blob),
        media_type=media_type,
        language=detect_language(text),
        metadata=_metadata(pages_read, info, front.front_matter(lines, end), margins),
        kind=Kind.PAPER if front.is_paper(blocks) else Kind.TEXT,
    )


def _lines(pages: list[Page]) -> tuple[list[Line], str]:
    """Every line of the document in reading order, and what its first page's margins say."""
    pairs = [(page, fragments_of(page)) for page in pages]
    parted = drop_running(pairs)
    left = {id(fragment) for fragment in parted[0].text}
    dropped = [fragment.text for fragment in pairs[0][1] if id(fragment) not in left]
    pairs = [(page, part.text) for (page, _), part in zip(pairs, parted, strict=True)]
    gutters = [find_gutter(fragments) for _, fragments in pairs]
    shared = common_gutter(pages, gutters)
    lines: list[Line] = []
    for (page, fragments), part, gutter in zip(pairs, parted, gutters, strict=True):
        lines += read_lines(page, fragments, gutter, shared)
        lines += head_lines(page, part.heads)
    # Letters that a font doesn't map may leave nothing of a line.
    return [line for line in lines if line.text], " ".join(dropped)


def _blocks(
    lines: list[Line], start: int, end: int, typography: Typography, marks: list[Bookmark]
) -> list[Block]:
    """The document's blocks, its title first among equals."""
    rules = HeadingRules(typography, marks, lines)
    before = build_blocks(lines[:start], typography, rules)
    after = build_blocks(lines[end:], typography, rules)
    blocks = part_run_ins(join_flow(without_repeats([*before, *after]), typography))
    drop_items(blocks)
    blocks = lift_floats(blocks)
    set_levels(blocks, marks, typography, titled=bool(end))
    if end:
        front.clear_front(blocks[len(before) :])
        heading = Block(
            lines[start:end], "title", front.title_text(lines[start:end], typography), level=1
        )
        blocks.insert(len(before) if blocks[: len(before)] == before else 0, heading)
    return blocks


def _plain(page: Page) -> Block:
    """A page's words as its file has them, a line for each baseline."""
    column = Column(min(word.left for word in page.words), max(word.right for word in page.words))
    lines = [
        Line(page.number, [Fragment(list(words))], column)
        for _, words in groupby(page.words, key=lambda word: round(word.base))
    ]
    return Block(lines, "body", "\n".join(line.text for line in lines))


def _metadata(
    pages_read: PagesRead, info: dict[str, str], matter: list[Line], margins: str
) -> dict[str, MetaValue]:
    metadata: dict[str, MetaValue] = {"pages": pages_read.count}
    if authors := front.find_authors(matter, info.get("Author", "")):
        metadata["authors"] = authors
    printed = " ".join([margins, *(line.text for line in matter)])
    if (year := front.find_year(printed, info)) is not None:
        metadata["year"] = year
    counts = {
        "pages_recognised": pages_read.recognised,
        "pages_without_text": pages_read.unread,
        "pages_given_up": pages_read.given_up,
        "pages_damaged": pages_read.damaged,
        "pages_failed": pages_read.failed,
    }
    metadata.update({name: count for name, count in counts.items() if count})
    if pages_read.advice:
        metadata["pages_without_text_advice"] = pages_read.advice
    if pages_read.fault:
        metadata["reading_fault"] = pages_read.fault
    return metadata
