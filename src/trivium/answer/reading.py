"""Reads the text around sentences with the model's reader: how likely each answers the question.
Knows embedders by their port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.core.errors import ModelError
from trivium.ports import Embedder, ReadingEmbedder

LANGUAGE = "en"  # that the reader was trained in
MOST_READ = 5  # sentences of a question: 30 ms of processor time each
LONGEST = 720  # characters around a sentence: 110 words


@dataclass(frozen=True, slots=True)
class InText:
    """A sentence in its passage. `above`: the heading it is under."""

    sentence: str
    passage: str
    above: str

    def stretch(self) -> tuple[str, int]:
        """The text around the sentence, and where it begins there."""
        whole, sentence = (" ".join(text.split()) for text in (self.passage, self.sentence))
        at = whole.find(sentence)
        if at < 0:  # it was shortened, or had the number of a footnote
            whole, at = sentence, 0
        room = max(0, LONGEST - len(sentence)) // 2
        start = max(0, min(at - room, len(whole) - LONGEST))
        start = whole.find(" ", start, at) + 1 if start else 0
        end = whole.rfind(" ", at + len(sentence), start + LONGEST)
        end = end if end > 0 and start + LONGEST < len(whole) else start + LONGEST
        lead = f"{self.above}: " if self.above else ""
        return f"{lead}{whole[start:end]}", len(lead) + at - start


def chances(embedder: Embedder, question: str, some: Sequence[InText]) -> list[float] | None:
    """For each sentence the chance that it answers; None: there is no reader."""
    if not some or not isinstance(embedder, ReadingEmbedder):
        return None
    stretches = [in_text.stretch() for in_text in some]
    try:
        readings = embedder.read(question, [text for text, _ in stretches])
    except ModelError:
        return None
    return (
        [
            reading.within(at, at + len(" ".join(in_text.sentence.split())))
            for in_text, (_, at), reading in zip(some, stretches, readings, strict=True)
        ]
        if readings
        else None
    )
