"""Finds a paper's list of references: what it cites, not what it says.

By its heading; without such a heading, by several entries in a row that look like citations, in the
second half of the text. Knows nothing of chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from trivium.chunk.outline import Outline
from trivium.core.types import Element, Extraction
from trivium.text import boundaries

Range = tuple[int, int]

# Two could be a pair of footnotes; a paper that cites fewer than three loses nothing by them.
LEAST_ENTRIES = 3
MAX_ENTRY = 1200  # characters; longer paragraphs are prose, or a page whose lines were lost
MAX_GAP = 500  # characters between two entries: parts of an entry that a page broke, a footnote
# A heading that claims more than this share of the text, over too few citations, claims too much.
DOUBTFUL_SHARE = 0.5
LEAST_SHAPED = 0.3
MAX_DOUBTS = 20  # such claims, each of which reads the rest of the text; then nobody is believed

_NUMBER = re.compile(r"^\W*(?:(?:\d+|[ivxlc]+|[a-z])(?:\.\d+)*(?:[.):]\s*|\s+))?", re.I)
_SPACED = re.compile(r"\b([A-Z]) (?=[A-Z]{2,}\b)")  # small capitals, as PDF gives them: R EFERENCES
_HEADING = re.compile(
    r"(?:selected |cited |general |list of |main )?"
    r"(?:references?|bibliograph(?:y|ies|ie)|works cited|literature(?: cited)?|citations|sources"
    r"|literatur(?:verzeichnis|angaben|hinweise|liste)?|quellen(?:verzeichnis|angaben)?"
    r"|schrifttum|références|références bibliographiques|bibliograf[ií]a|referencias|riferimenti)"
    r"(?: cited| list| and (?:foot)?notes| (?:und|and) (?:quellen|literature|bibliography"
    r"|further reading)| bibliographiques| bibliográficas)?"
    r"|(?:foot|end)?notes and references|quellen- und literaturverzeichnis"
)
# These head other sections too: entries must follow.
_AMBIGUOUS = frozenset({"reference", "literature", "citations", "sources", "quellen"})
_AFTER = re.compile(
    r"\b(?:appendi(?:x|ces|xes)|annex(?:es)?|anhang|anhänge|supplement\w*|supporting information"
    r"|acknowledge?ments?|danksagung|author (?:contributions|information|biograph\w*)|funding"
    r"|biograph(?:y|ies)|glossary|glossar|index|methods?|figures?|tables?|abbreviations)\b",
    re.I,
)
_APPENDIX = re.compile(r"(?:[A-Z\d]{1,3}\.?\s+)?(?:appendi(?:x|ces)|anhang|supplement)", re.I)

# What an entry begins with.
_LABEL = re.compile(r"\s*\[[\w+.’'-]{1,12}\]\s*")  # [12] or [Smi+20]
_COUNT = re.compile(r"\s*(?:\d{1,3}[.)]?|\(\d{1,3}\))\s+(?=[^\W\d_])")
_SURNAME = r"(?:(?:de|der|den|van|von|la|le|di|da|du|el|al|bin|ter)\s+)*[^\W\d_a-z][\w’'-]+"
_INITIALS = r"(?:[^\W\d_a-z]\.?[ -]?){1,4}"
_AUTHOR = re.compile(
    rf"\s*(?:{_SURNAME}(?:\s{_SURNAME})?,\s*{_INITIALS}(?=[.,;&(]|\s|$)"  # Smith, J. A.
    rf"|{_SURNAME}\s[^\W\d_a-z]{{1,3}}(?=[,.;])"  # Smith JA,
    # J. A. Smith,
    rf"|(?:[^\W\d_a-z](?:\.[ -]?|[ -])){{1,4}}\s*{_SURNAME}(?=[,.:;]|\sand\s|\s&|\set\s|\sund\s)"
    # Jane Smith, John Doe, and ... or Jane B Smith. 2021.
    rf"|{_SURNAME}(?:\s(?:{_SURNAME}|[^\W\d_a-z]\.?)){{1,4}}"
    r"(?=,|\s(?:and|et|und)\s|\.\s*\(?(?:19|20)\d\d)"
    rf"|{_SURNAME}\set\sal)"  # Smith et al.
)
# And what it holds.
_YEAR = re.compile(r"(?<!\d)(?:1[6-9]\d\d|20\d\d)[a-z]?(?!\d)")
_SET_APART = re.compile(r"(?<!\d)(?:1[6-9]\d\d|20\d\d)[a-z]?(?:[.,;:)]|$)")  # (2021) or 2021.
_DETAILS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\bdoi\b|\b10\.\d{4,9}/\S+",
        r"https?://|\bwww\.|\barxiv\b|\burl\b|\bisbn\b|\bissn\b",
        r"\b(?:pp?|pages|seiten|s)\.?\s*\d+\s*[-–—]{1,2}\s*\d+|\b\d+\s*[-–—]{1,2}\s*\d+\.?\s*$",
        r"\bvol(?:ume|\.)?\s*\d+|\b\d+\s*\(\d+(?:[-–/]\d+)?\)\s*[:,]|\b\d+\s*:\s*[a-z]?\d+[-–]",
        r"\bin:?\s+(?:proc\b|proceedings|advances|international|annual)|\bproceedings of\b"
        r"|\bproc\.|\bconference\b|\bworkshop\b|\btransactions\b|\bjournal\b|\bj\.\s",
        r"\bpress\b|\bverlag\b|\bspringer\b|\bthesis\b|\bdissertation\b|\btech(?:nical|\.)? rep"
        r"|\beds?\.|\bhrsg\b|\bin press\b|\bpreprint\b",
        r"\bet al\b",
    )
)


@dataclass(frozen=True, slots=True)
class _Paragraph:
    start: int
    end: int
    element: Element | None
    entries: int  # that it looks like: 0 for prose


def find_bibliography(extraction: Extraction) -> list[Range]:
    """The ranges of the text that list references, headings included, in order."""
    paragraphs = list(_paragraphs(extraction))
    headed = list(_headed(extraction, paragraphs))
    return united([*headed, *_shaped(paragraphs, len(extraction.text) // 2)])


def bare(heading: str) -> str:
    """A heading without its number, in small letters."""
    words = heading.split()
    if len(words) > 3 and all(len(word) == 1 for word in words):  # A B S T R A C T
        return "".join(words).casefold()
    return _NUMBER.sub("", " ".join(words), count=1).strip(" .:*_#-–—").casefold()


def spellings(heading: str) -> tuple[str, ...]:
    """The heading as `bare` gives it, and as it would read if its capitals were set apart."""
    return tuple(dict.fromkeys((bare(heading), bare(_SPACED.sub(r"\1", heading)))))


def is_bibliography_heading(heading: str) -> bool:
    return any(_HEADING.fullmatch(spelling) for spelling in spellings(heading))


def count_entries(text: str) -> int:
    """How many entries of a list of references the paragraph looks like; 0 for prose."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) >= LEAST_ENTRIES:
        single = sum(_is_entry(line) for line in lines)
        if single >= LEAST_ENTRIES and single * 3 >= len(lines):  # entries of up to three lines
            return single
    return int(len(text) <= MAX_ENTRY and _is_entry(" ".join(text.split())))


def _is_entry(text: str) -> bool:
    label = _LABEL.match(text)
    count = None if label else _COUNT.match(text)
    begun = label or count
    author = bool(_AUTHOR.match(text, begun.end() if begun else 0))
    year = bool(_YEAR.search(text))
    details = sum(bool(pattern.search(text)) for pattern in _DETAILS)
    if label:
        return year or details > 0
    if author:
        return bool(_SET_APART.search(text)) or (year and details > 0) or details > 1
    return bool(count) and year and details > 1


def _paragraphs(extraction: Extraction) -> Iterable[_Paragraph]:
    """Elements, split at blank lines; together they cover the text."""
    text = extraction.text
    outline = Outline(extraction)
    for start, end, _ in outline.blocks(0, len(text)):
        element = next(iter(outline.touched(start, end)), None)
        heading = element is not None and element.kind == "heading"
        inner = [] if heading else boundaries.paragraphs(text[start:end])
        edges = [start, *(start + at for at in inner), end]
        for begin, stop in pairwise(edges):
            content = text[begin:stop].strip()
            table = element is not None and element.kind in ("table", "row", "code")
            entries = 0 if heading or table else count_entries(content)
            yield _Paragraph(begin, stop, element, entries)


def _headed(extraction: Extraction, paragraphs: list[_Paragraph]) -> Iterable[Range]:
    """From each heading of a list of references to the next thing that is none."""
    text = extraction.text
    position = doubts = 0
    while position < len(paragraphs) and doubts < MAX_DOUBTS:
        first = paragraphs[position]
        position += 1
        level = _opens(text, first, paragraphs[position : position + LEAST_ENTRIES])
        if level is None:
            continue
        after = position
        while after < len(paragraphs) and not _closes(text, paragraphs[after], level):
            after += 1
        within = paragraphs[position:after]
        size = sum(p.end - p.start for p in within)
        shaped = sum(p.end - p.start for p in within if p.entries)
        if size <= DOUBTFUL_SHARE * len(text) or shaped >= LEAST_SHAPED * size:
            yield first.start, paragraphs[after - 1].end
            position = after
        else:
            doubts += 1


def _opens(text: str, paragraph: _Paragraph, following: list[_Paragraph]) -> int | None:
    """The level of the heading, if this is one of a list of references: a real heading, or a
    short line with entries under it."""
    content = text[paragraph.start : paragraph.end].strip()
    if len(content) > 60 or not is_bibliography_heading(content):
        return None
    element = paragraph.element
    heading = element is not None and element.kind == "heading"
    sure = heading and bare(content) not in _AMBIGUOUS
    if not sure and sum(p.entries for p in following) < LEAST_ENTRIES - 1:
        return None
    return element.level if element is not None and heading else 1


def _closes(text: str, paragraph: _Paragraph, level: int) -> bool:
    """Whether a list of references under a heading of this level ends here. A reader of PDF may
    take an entry for a heading: that one does not count."""
    content = text[paragraph.start : paragraph.end].strip()
    if paragraph.element is None or paragraph.element.kind != "heading":
        return len(content) <= 60 and not paragraph.entries and bool(_APPENDIX.match(content))
    if count_entries(content):
        return False
    return paragraph.element.level <= level or bool(_AFTER.search(content))


def _shaped(paragraphs: list[_Paragraph], earliest: int) -> Iterable[Range]:
    """Runs of entries, announced or not, with little in between."""
    run: list[_Paragraph] = []
    for paragraph in paragraphs:
        heading = paragraph.element is not None and paragraph.element.kind == "heading"
        if paragraph.entries and paragraph.start >= earliest:
            run.append(paragraph)
        elif run and (heading or paragraph.end - run[-1].end > MAX_GAP):
            yield from _range(run)
            run = []
    yield from _range(run)


def _range(run: list[_Paragraph]) -> Iterable[Range]:
    if sum(paragraph.entries for paragraph in run) >= LEAST_ENTRIES:
        yield run[0].start, run[-1].end


def united(ranges: Iterable[Range]) -> list[Range]:
    """The same characters as disjoint ranges, in order."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
