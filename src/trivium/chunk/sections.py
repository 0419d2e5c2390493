"""Splits papers: whole paragraphs, by section, each passage labelled with its kind of section.

Joins paragraphs up to a ceiling, and splits a paragraph only if it alone exceeds it. Nothing
overlaps, and the list of references is left out. Knows nothing of file formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, TypeAlias

from trivium.chunk.bibliography import find_bibliography, spellings
from trivium.chunk.outline import Outline
from trivium.chunk.recursive import RecursiveChunker
from trivium.core.errors import BadSetting
from trivium.core.types import Chunk, Element, Extraction
from trivium.ports import Tokens

SectionsMode: TypeAlias = Literal["full", "abstract"]

SUMMARY, METHODS, FINDINGS, CONTENT = "summary", "methods", "findings", "content"
MAX_HEADING_WORDS = 8  # a longer one talks about methods, it does not announce them

# ZotSeek's lists and their usual variants, English and German. What comes first in a heading wins.
_SUMMARY = (
    r"abstracts?|(?:executive |plain[- ]language |extended )?summary|synopsis|highlights|key ?words"
    r"|key ?points|index terms|abstrakt|zusammenfassung|kurzfassung|kurzbeschreibung"
    r"|schlüssel(?:wörter|begriffe)|schlagwörter|résumé|resumen"
)
_METHODS = (
    r"introduction|background|preliminaries|related (?:works?|literature|research)"
    r"|(?:prior|previous) (?:work|research|studies)|motivation"
    r"|literature review|review of (?:the )?literature|theor(?:y|etical (?:framework|background))"
    r"|methods?|methodolog(?:y|ies|ical approach)|materials?|data ?sets?|data collection"
    r"|data and|participants|procedures?|(?:study|research|experimental) design|study area"
    r"|(?:experimental|experiment|evaluation) (?:set[- ]?ups?|settings?)|experimental section"
    r"|implementation(?: details)?|(?:our|the|proposed) approach"
    r"|einleitung|einführung|hintergrund|stand der (?:forschung|technik)|verwandte arbeiten"
    r"|methoden?|methodik|methodisches vorgehen|materialien|datenerhebung|versuchsaufbau"
    r"|theoretischer rahmen|grundlagen"
)
_FINDINGS = (
    r"results?|findings|evaluations?|discussions?|conclusions?|concluding remarks|implications"
    r"|limitations?|experiments?|experimental (?:results|evaluation)|analys[ie]s|outlook"
    r"|future (?:work|directions|research)"
    r"|ergebnisse?|befunde|auswertung|diskussion|schlussfolgerung(?:en)?|schluss|fazit|ausblick"
    r"|limitationen|implikationen|experimente"
)
_KINDS = re.compile(
    rf"\b(?:(?P<summary>{_SUMMARY})|(?P<methods>{_METHODS})|(?P<findings>{_FINDINGS}))(?!\w)"
)


class SectionsChunker:
    """For papers. `ceiling` is in tokens, `most` the passages of one document; `abstract` keeps the
    summary only."""

    def __init__(
        self,
        tokens: Tokens,
        ceiling: int = 2000,
        most: int = 100,
        mode: SectionsMode = "full",
        *,
        wanted: int = 0,
    ) -> None:
        """`wanted`: the ceiling that was asked for, where the model reads less of a text."""
        if most < 1:
            raise BadSetting(f"The limit of chunks can't be {most}.", fix="Use 1 or more.")
        if mode not in ("full", "abstract"):
            raise BadSetting(f"`mode` can't be {mode!r}.", fix="Give full or abstract.")
        # Without overlap and minimum it does exactly what is asked for here: a paragraph is cut
        # only when alone above the size, and then at lines and sentences.
        self._splitter = RecursiveChunker(tokens, ceiling, overlap=0, minimum=0, apart=True)
        self._ceiling, self._wanted = ceiling, wanted
        self._most = most
        self._mode = mode
        self.fingerprint = (
            f"SectionsChunker/5 ceiling={ceiling} most={most} mode={mode} tokens={tokens.name}"
        )

    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]:
        return self._all(extraction)[: self._most]

    def note(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        """What people should know about this chunking: a sentence, or nothing."""
        notes = []
        if self._wanted > self._ceiling and len(chunks) > 1:
            notes.append(
                f"Passages have at most {self._ceiling:,} tokens, not {self._wanted:,}: the"
                " embedding model reads no more."
            )
        everything = len(self._all(extraction)) if len(chunks) >= self._most else 0
        if everything > self._most:
            notes.append(
                f"You can search only the first {self._most:,} of {everything:,} passages."
            )
        return " ".join(notes)

    def _all(self, extraction: Extraction) -> tuple[Chunk, ...]:
        outline = Outline(extraction)
        chunks: list[Chunk] = []
        for start, end in _text_ranges(extraction):
            elements = outline.touched(start, end)
            chunks += chunk_part(self._splitter, extraction, start, end, elements, len(chunks))
        chunks = list(_numbered_within_pages(chunks, extraction))
        chunks = list(_labelled(chunks, _titles(extraction)))
        if self._mode == "abstract":
            summary = [chunk for chunk in chunks if chunk.section == SUMMARY]
            chunks = [replace(chunk, index=index) for index, chunk in enumerate(summary)]
            chunks = chunks or self._title(extraction)
        return tuple(chunks)

    def _title(self, extraction: Extraction) -> list[Chunk]:
        """The title alone, for a paper without a recognisable summary: where the text says it, else
        its first line."""
        title = extraction.title.strip()
        start = extraction.text.find(title) if title else -1
        if start < 0:
            title = extraction.text.strip().partition("\n")[0]
            start = extraction.text.find(title)
        outline = Outline(extraction)
        elements = outline.touched(start, start + len(title))
        chunks = chunk_part(self._splitter, extraction, start, start + len(title), elements, 0)
        return [replace(chunk, section=SUMMARY) for chunk in chunks][:1]


def _numbered_within_pages(chunks: Sequence[Chunk], extraction: Extraction) -> Iterator[Chunk]:
    """With paragraphs counted from 1 on each page, as people point at them: p. 3 ¶ 2."""
    numbers: dict[int, int] = {}
    counted: dict[int, int] = {}
    for element in extraction.elements:
        if element.paragraph and element.place.pages and element.paragraph not in numbers:
            page = element.place.pages[0]
            counted[page] = numbers[element.paragraph] = counted.get(page, 0) + 1
    for chunk in chunks:
        yield replace(chunk, paragraph=numbers.get(chunk.paragraph or 0, chunk.paragraph))


def section_kind(heading: str) -> str:
    """The kind of section that a heading announces; empty if it doesn't say."""
    for spelling in spellings(heading):
        match = _KINDS.search(spelling)
        if match and len(spelling.split()) <= MAX_HEADING_WORDS:
            return match.lastgroup or ""
    return ""


def chunk_part(
    splitter: RecursiveChunker,
    extraction: Extraction,
    start: int,
    end: int,
    elements: Iterable[Element],
    index: int,
) -> Iterator[Chunk]:
    """The splitter's chunks of a range that holds these elements, counted from `index`, at their
    places in the whole text."""
    inside = tuple(
        replace(e, start=max(e.start, start) - start, end=min(e.end, end) - start) for e in elements
    )
    part = replace(extraction, text=extraction.text[start:end], elements=inside)
    for chunk in splitter.chunk(part):
        yield replace(
            chunk, index=index + chunk.index, start=start + chunk.start, end=start + chunk.end
        )


def _text_ranges(extraction: Extraction) -> list[tuple[int, int]]:
    """The text without its list of references. A text that is only a list stays whole."""
    left_out = find_bibliography(extraction)
    edges = [0, *(edge for pair in left_out for edge in pair), len(extraction.text)]
    ranges = [(a, b) for a, b in list(pairwise(edges))[::2] if extraction.text[a:b].strip()]
    return ranges or [(0, len(extraction.text))]


def _titles(extraction: Extraction) -> frozenset[str]:
    """Headings that name the whole document: its title, and a first heading above all others."""
    headings = [element for element in extraction.elements if element.kind == "heading"]
    titles = {extraction.title.strip()}
    if len(headings) > 1 and all(h.level > headings[0].level for h in headings[1:]):
        titles.add(extraction.text[headings[0].start : headings[0].end])
    return frozenset(titles)


def _labelled(chunks: Sequence[Chunk], titles: frozenset[str]) -> Iterator[Chunk]:
    """Paragraphs with their kind of section, from the outermost heading that names one.

    Text before the first section is the summary, if the paper has recognisable sections at all. A
    section whose name says nothing ("3 Our Network") counts as the one before it, as long as a
    recognisable one follows.
    """
    paths = [[h for h in chunk.headings if h not in titles] for chunk in chunks]
    kinds = [next(filter(None, map(section_kind, path)), "") for path in paths]
    last = max((at for at, kind in enumerate(kinds) if kind), default=-1)
    sections = next((at for at, path in enumerate(paths) if path), len(chunks))
    before = ""  # the kind of the last section that says one
    for at, chunk in enumerate(chunks):
        if at < min(sections, last):
            kind = SUMMARY
        elif kinds[at] == SUMMARY and before:
            kind = FINDINGS  # a "Summary" at the end draws the conclusions
        else:
            kind = kinds[at] or (before if at < last else "")
        before = kind if kind in (METHODS, FINDINGS) else before
        yield replace(chunk, section=kind or CONTENT)
