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


def spoken(one: Candidate) -> str:
    """A message with its speaker's name, if the passage has it in front: who "I" is."""
    speaker = one.passage.speaker(one.text)
    said = f"{speaker.author}: {one.text}" if speaker else ""
    return said if said and said in one.passage.text else one.text


def in_place(one: Candidate) -> str:
    """With the heading above it: `Armor Class 15` alone doesn't say whose."""
    return f"{above_it(one)}: {one.text}"


def above_it(one: Candidate) -> str:
    place = one.passage.citation
    return one.sentence.heading or (place.headings[-1:] or (place.title,))[0]


def name_of_file(uri: str) -> str:
    """What a file's own name says: `dentist` of dentist.ics, `giro 2024-11` of giro_2024-11.txt."""
    return re.sub(r"[_\W]+(?!\d)|(?<!\d)[_\W]+", " ", PurePosixPath(uri).stem)


def with_antecedent(one: Sentence) -> str:
    """A sentence with the question it answers, and with the sentence before it if it begins with a
    pronoun: "It smells of almonds." is about what that one names."""
    before = one.before if begins_with_pronoun(one.text) else ""
    return f"{one.lead} {before} {one.text}"


def lead_of(passage: Passage, text: str) -> str:
    """Who said it and when: "nora, 2024-03-04 09:21"."""
    speaker = passage.speaker(text)
    if speaker is None:
        return ""
    iso = speaker.time[10:11] == "T"
    time = speaker.time[:16].replace("T", " ") if iso else speaker.time
    return ", ".join(part for part in (speaker.author, time) if part)
