"""Sentences that may answer a question, and what is picked of them, with the words around them that
say who or what they are about.

Knows nothing of how well one answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from trivium.answer.passages import Passage
from trivium.answer.structure import Sentence
from trivium.text.lexicon.questions import begins_with_pronoun

LONGEST_WHEREABOUTS = 160  # characters


@dataclass(frozen=True, slots=True)
class Picked:
    text: str
    number: int  # of its passage
    score: float
    differs: bool = False  # another source says something different
    value: str = ""  # the figure, date or cell that answers
    cell: bool = False  # it is a cell of a table whose row and column the question names
    lead: str = ""  # who said it and when, of a message


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence, how much of the question it says, and how well it answers."""

    sentence: Sentence
    passage: Passage
    said: float
    score: float
    kind: float = 1.0  # how well it contains what was asked for: a date, a name, an amount
    value: str = ""  # the figure or date that answers

    @property
    def text(self) -> str:
        return self.sentence.text


def spoken(candidate: Candidate) -> str:
    """A message with its speaker's name, if the passage has it in front: who "I" is."""
    speaker = candidate.passage.speaker(candidate.text)
    with_author = f"{speaker.author}: {candidate.text}" if speaker else ""
    return with_author if with_author and with_author in candidate.passage.text else candidate.text


def in_place(candidate: Candidate) -> str:
    """With the heading above it: `Armor Class 15` alone doesn't say whose."""
    return f"{above_it(candidate)}: {candidate.text}"


def above_it(candidate: Candidate) -> str:
    place = candidate.passage.citation
    return candidate.sentence.heading or (place.headings[-1:] or (place.title,))[0]


def whereabouts(candidate: Candidate) -> str:
    """What its document is, and the heading above it: who asks about "the Hollis paper" means a
    name that its sentences don't say."""
    place = candidate.passage.citation
    parts = (name_of_file(place.uri), place.title, above_it(candidate))
    return ", ".join(dict.fromkeys(part for part in parts if part))[:LONGEST_WHEREABOUTS]


def name_of_file(uri: str) -> str:
    """What a file's own name says: `dentist` of dentist.ics, `giro 2024-11` of giro_2024-11.txt."""
    return re.sub(r"[_\W]+(?!\d)|(?<!\d)[_\W]+", " ", PurePosixPath(uri).stem)


def with_antecedent(sentence: Sentence) -> str:
    """A sentence with the question it answers, and with the sentence before it if it begins with a
    pronoun: "It smells of almonds." is about what that one names."""
    before = sentence.before if begins_with_pronoun(sentence.text) else ""
    return f"{sentence.lead} {before} {sentence.text}"


def lead_of(passage: Passage, text: str) -> str:
    """Who said it and when: "nora, 2024-03-04 09:21"."""
    speaker = passage.speaker(text)
    if speaker is None:
        return ""
    iso = speaker.time[10:11] == "T"
    time = speaker.time[:16].replace("T", " ") if iso else speaker.time
    return ", ".join(part for part in (speaker.author, time) if part)
