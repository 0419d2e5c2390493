"""Reads the text around sentences with the model's reader: how likely each answers the question.
Knows embedders by their port."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.core.errors import ModelError
from trivium.ports import Embedder, ReadingEmbedder

LANGUAGE = "en"  # in which it is surer than words; in German it is not
MOST_READ = 6  # stretches of a question
LONGEST = 900  # characters of a stretch: 140 words; with 600 fewer answers are seen, with 1,200 too
BESIDE = 120  # characters on each side of a sentence: a stretch with these tells as much
LINE = "•"  # between lines: the model's own sign for it
_LINES = re.compile(r"\s*\n\s*(?![^\W\d_A-ZÄÖÜ])")  # but not where a sentence goes on


@dataclass(frozen=True, slots=True)
class InText:
    """A sentence in its passage. `above`: its document, and the heading it is under."""

    sentence: str
    passage: str
    above: str

    def stretch(self) -> tuple[str, tuple[int, int]]:
        """The text around the sentence, and where that is there."""
        whole = in_lines(self.passage)
        place = self.place(whole)
        if place is None:  # it was shortened, or had the number of a footnote
            whole = " ".join(self.sentence.split())
        first, last = place or (0, len(whole))
        room = max(0, LONGEST - (last - first)) // 2
        start = max(0, min(first - room, len(whole) - LONGEST))
        start = whole.find(" ", start, first) + 1 if start else 0
        end = whole.rfind(" ", last, start + LONGEST)
        end = end if end > 0 and start + LONGEST < len(whole) else start + LONGEST
        lead = f"{self.above}: " if self.above else ""
        moved = len(lead) - start
        return f"{lead}{whole[start:end]}", (first + moved, last + moved)

    def place(self, line: str) -> tuple[int, int] | None:
        """Where the sentence is in a text of one line."""
        words = map(re.escape, self.sentence.split())
        match = re.search(rf"(?: {LINE})? ".join(words), line)
        return match.span() if match else None

    def place_within(self, stretch: str) -> tuple[int, int] | None:
        """The same, if enough of what is around it is there as well."""
        place = self.place(stretch)
        if place is None:
            return None
        whole = in_lines(self.passage)
        first, last = self.place(whole) or place
        before, after = min(first, BESIDE), min(len(whole) - last, BESIDE)
        is_amid = place[0] >= before and len(stretch) - place[1] >= after
        return place if is_amid else None


def in_lines(text: str) -> str:
    """As one line, with marks where lines end."""
    return " ".join(_LINES.sub(f" {LINE} ", text.strip()).split())


def chances(
    embedder: Embedder, question: str, some: Sequence[InText], most: int
) -> list[float | None] | None:
    """For each sentence the chance that it answers; of later ones None, if they aren't in the
    `most` stretches that are read. None: there is no reader."""
    if not some or not isinstance(embedder, ReadingEmbedder):
        return None
    stretches: list[tuple[str, str, str]] = []  # with the passage and the heading they are from
    places: list[tuple[int, tuple[int, int]] | None] = []
    for in_text in some:
        in_read = (
            (number, place)
            for number, (text, *source) in enumerate(stretches)
            if source == [in_text.passage, in_text.above]
            and (place := in_text.place_within(text)) is not None
        )
        where = next(in_read, None)
        if where is None and len(stretches) < most:
            text, place = in_text.stretch()
            where = len(stretches), place
            stretches.append((text, in_text.passage, in_text.above))
        places.append(where)
    try:
        readings = embedder.read(question, [text for text, *_ in stretches])
    except ModelError:
        return None
    if not readings:
        return None
    return [where and readings[where[0]].within(*where[1]) for where in places]
