"""Turns what is said, with its times, into paragraphs and headings: for transcripts and subtitles
alike. Knows neither sound nor formats of subtitles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trivium.core.types import Place
from trivium.extract.composer import Composer, clean

TOGETHER = 30.0  # seconds of one paragraph, unless a pause or another speaker ends it
# Seconds of silence: after a sentence the first ends a paragraph, the second everywhere.
PAUSE, LONG_PAUSE = 2.0, 4.0
_SENTENCE_END = re.compile(r"[.!?…。！？][\"”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Segment:
    """Some words of one speaker. A word has its own blank in front, if its language writes one;
    the cue of a subtitle is a single word."""

    start: float  # seconds
    end: float
    words: tuple[tuple[float, str], ...]
    speaker: str = ""

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.words).strip()


@dataclass(frozen=True, slots=True)
class Chapter:
    start: float
    title: str


def cue(start: float, end: float, text: str, speaker: str = "") -> Segment:
    return Segment(start, end, ((start, text),), speaker)


def compose(out: Composer, segments: Sequence[Segment], chapters: Sequence[Chapter] = ()) -> None:
    """Paragraphs at pauses, under the chapters as headings."""
    left = sorted(chapters, key=lambda chapter: chapter.start)
    for paragraph in _paragraphs(segments, [chapter.start for chapter in left]):
        while left and left[0].start <= paragraph[0].start + 1:
            chapter = left.pop(0)
            out.heading(2, chapter.title)
        _add(out, paragraph)


def _add(out: Composer, paragraph: Sequence[Segment]) -> None:
    first, last = paragraph[0], paragraph[-1]
    text = f"{clean(first.speaker)}: " if first.speaker else ""
    spoken: list[tuple[int, float]] = []
    is_first = True
    for segment in paragraph:
        for second, word in ((at, clean(part)) for at, part in segment.words):
            body = word.strip()
            if not body:
                continue
            # Between segments a blank, as between the cues of subtitles.
            begins = word[0].isspace() or (segment.words[0][1] == word and not is_first)
            text += " " if begins and not is_first else ""
            spoken.append((len(text), round(second, 2)))
            text += " ".join(body.split())
            is_first = False
    place = Place(
        authors=(first.speaker,) if first.speaker else (),
        seconds=(round(first.start, 2), round(last.end, 2)),
        spoken=tuple(spoken),
    )
    out.add("paragraph", text, place=place)


def _paragraphs(segments: Iterable[Segment], cuts: Sequence[float]) -> Iterator[list[Segment]]:
    """Segments that belong together: one speaker, one chapter, no pause, up to a sentence's end."""
    paragraph: list[Segment] = []
    for segment in segments:
        if not segment.text:
            continue
        if paragraph:
            last, first = paragraph[-1], paragraph[0]
            if segment.text == last.text and len(segment.words) == 1:
                continue  # shown twice, as programs that roll lines do
            is_over = bool(_SENTENCE_END.search(last.text))
            length, pause = segment.start - first.start, segment.start - last.end
            is_long = length > (TOGETHER if is_over else 2 * TOGETHER)
            is_pause = pause > (PAUSE if is_over else LONG_PAUSE)
            is_chapter = any(first.start + 1 < cut <= segment.start + 1 for cut in cuts)
            if is_long or is_pause or is_chapter or segment.speaker != first.speaker:
                yield paragraph
                paragraph = []
        paragraph.append(segment)
    if paragraph:
        yield paragraph
