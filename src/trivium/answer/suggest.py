"""Questions that passages look able to answer: headings that ask one, cells of tables, sentences
with a figure, a year or a name. Pure; whoever shows them asks them first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trivium.answer.passages import Passage
from trivium.answer.structure import EMPTY, Table, sentences, tables

_LONGEST_LABEL = 4  # words of a row's name that reads well in a question
_LONGEST_CELL = 40  # characters
_PEOPLE = "manager|chair|author|owner|director|conductor|captain|editor|head"
_COLUMN = re.compile(  # that a row can have one of; most names of columns make no question
    rf"(?i)(?:{_PEOPLE}|(?:\w+ )?(?:price|cost|fee|rate|weight|height|length|size|age|speed|value"
    r"|amount|total|excess|phone|telephone|e-?mail|address|city|country|capital|date|year|deadline|status"
    r"|population|temperature|salary|budget|duration|version|role|department|language))"
)
_LABEL = re.compile(r"[^\W\d_][\w’' -]{2,40}")
_COUNT = re.compile(r"\d[\d,. ]*")
_THE = r"(?P<what>[Tt]he [a-z][\w-]*(?: [\w-]+){0,3}?)"
_NAME = r"(?P<what>(?:The )?[A-Z][\w’'-]*(?: (?:of|the|for|and|[A-Z][\w’'-]*)){0,4})"
_AMOUNT = r"(?:[$€£]\s?[\d.,]*\d|[\d.,]*\d (?:euros?|dollars?|pounds?|€|EUR|USD|francs?))"
_SUM = "deposit|fee|fine|penalty|allowance|rent|price|discount|refund|profit|loss|excess|salary"
_MADE = "founded|established|built|opened|published|written|signed|created|introduced|completed"
_BY = "discovered|invented|founded|built|designed|written|created|developed|directed|composed"
_PERSON = r"[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)+"
_DID = {"written": "wrote"}
_DEFINED = "What {be} {what}?"
# What a sentence says, and the question; `value` is what its answer must hold.
_PATTERNS = tuple(
    (re.compile(pattern), question)
    for pattern, question in (
        (
            rf"{_THE} (?P<be>is|was) (?P<value>[\d.,]+ \w+) (?P<how>long|high|deep|wide|old)\b",
            "How {how} {be} {what}?",
        ),
        (rf"{_THE} costs? .{{0,20}}?(?P<value>{_AMOUNT})", "How much does {what} cost?"),
        (rf"{_THE} (?P<be>is|was) (?P<value>{_AMOUNT})", "How much {be} {what}?"),
        (rf".*\ban? (?P<what>{_SUM}) of (?P<value>{_AMOUNT})", "How much is the {what}?"),
        (
            rf"{_NAME} was (?P<done>{_MADE}) (?:[^.]{{0,20}} )?in (?P<value>\d{{4}})\b",
            "When was {what} {done}?",
        ),
        (rf"{_NAME} was (?P<done>{_BY}) (?:\w+ )?by (?P<value>{_PERSON})", "Who {did} {what}?"),
        (
            r".*\b(?:present|propose|introduce) (?P<what>[A-Z]{3,}), (?P<value>an? [^,.]{10,30})",
            "What is {what}?",
        ),
        (rf"{_NAME} (?P<be>is|are) (?P<value>(?:an?|the) [a-z].{{20}})", _DEFINED),
        (
            r"(?P<die>Der|Die|Das) (?P<what>[A-ZÄÖÜ][\w-]+) beträgt .{0,20}?(?P<value>\d[\d.,]*\d)",
            "Wie hoch ist {die} {what}?",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Suggested:
    question: str
    holds: str  # what a right answer says; empty: any answer from the passage
    passage: Passage


def candidates(passage: Passage) -> Iterator[Suggested]:
    """Any that the passage may answer."""
    for heading in passage.citation.headings[-1:]:
        if heading.endswith("?") and len(heading.split()) > 2:
            yield Suggested(heading, "", passage)
    for table in tables(passage):
        yield from _of_cells(table, passage)
    for sentence in sentences(passage):
        for pattern, question in _PATTERNS:
            match = pattern.match(sentence.text)
            if match and (question != _DEFINED or _is_name(match["what"])):
                values = {**match.groupdict(), "what": match["what"].replace("The ", "the ", 1)}
                values["did"] = _DID.get(values.get("done", ""), values.get("done", ""))
                values["die"] = values.get("die", "").lower()
                yield Suggested(question.format(**values), values["value"], passage)
                break


def _of_cells(table: Table, passage: Passage) -> Iterator[Suggested]:
    """One of each column that makes a question, of different rows."""
    rows = [row for row in table.rows if _is_label(row.cell(0))]
    for at in range(1, len(table.names) if rows else 0):
        row, column = rows[at % len(rows)], table.name(at)
        cell = row.cell(at)
        if cell in EMPTY or len(cell) > _LONGEST_CELL:
            continue
        if _COLUMN.fullmatch(column):
            pronoun = "Who" if re.fullmatch(_PEOPLE, column, re.IGNORECASE) else "What"
            yield Suggested(
                f"{pronoun} is the {column.lower()} of {_named(row.cell(0))}?", cell, passage
            )
        elif column.isalpha() and column.endswith("s") and _COUNT.fullmatch(cell):
            yield Suggested(
                f"How many {column.lower()} does {_named(row.cell(0))} have?", cell, passage
            )


def _named(label: str) -> str:
    """A row's name within a question: the scale hauberk, but Lisbon and Ada Quill."""
    first, *others = label.split()
    is_thing = others and first.istitle() and " ".join(others).islower()
    return f"the {first.lower()} {' '.join(others)}" if is_thing else label


def _is_name(text: str) -> bool:
    """Not a word that is only capitalised because a sentence begins with it."""
    return any(map(str.isupper, text.removeprefix("The ")[1:]))


def _is_label(text: str) -> bool:
    return bool(_LABEL.fullmatch(text)) and len(text.split()) <= _LONGEST_LABEL
