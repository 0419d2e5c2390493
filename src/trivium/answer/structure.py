"""Finds tables, lists and sentences in the text of a passage again. Pure.

A passage is text: blocks have an empty line between them, the items of a list and the rows of a
table stand on a line each, and ` | ` parts the cells of a row (`extract.composer` writes them so).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.answer.passages import MESSAGE, Passage
from trivium.extract.headers import names_of
from trivium.text import boundaries
from trivium.text.lexicon.dates import dates
from trivium.text.lexicon.grammar import function_words
from trivium.text.lexicon.names import EMAIL, PHONE
from trivium.text.lexicon.questions import is_asked
from trivium.text.normalise import words

EMPTY = frozenset({"", "-", "–", "—"})
LONGEST_LEAD = 240  # characters of a line above a list or table that says what it is
LONGEST_ITEM = 240
MOST_ITEMS = 40
MOST_IN_NOTE = 2  # blocks of a passage that is a short note: its title and its lines
FEWEST_IN_SENTENCE = 4  # words
FEWEST_WRAPPED = 30  # characters of a line that was broken at a width
FEWEST_FULL = 60  # and of one before a capital: a shorter one may be an item of a list
LONGEST = 400  # characters of a sentence that are compared
MOST_IN_CONTACT, LONGEST_CONTACT = 10, 80  # lines of a signature, characters of each
MOST_IN_HEADING = 6  # words: in capitals or each capitalised, they are an unmarked heading
_BULLET = re.compile(r"^\s*(?:[-*•·◦▪＊]|\(?\d{1,2}[.)]|[a-z][.)])\s+")
_RUN_IN = re.compile(
    r"(?:\d[\d./]* )?([^\W\d_][\w’'/-]*(?: [\w’'/-]+){0,4}?)(?:(?<!\d)\.|:) (?=\S)"
)
_LABELLED = re.compile(r"[^\W\d_][\w .’'/()-]{1,30}:\s+\S")
_SAID = re.compile(r"^\s*(?:\[\d|\d{1,2}:\d\d|<)")  # a line of a chat, with its time
_AS_SET = re.compile(r"[={}]|\(\)|;$|\S {3,}\S")  # code, and columns
_ASKED = re.compile(r"\?\s+(?=[a-z])")  # in a chat, where sentences may begin small
_FOOTNOTE = re.compile(r"(?<=\S)(?:\[\d{1,3}\])+(?::\s?\d+(?:[–-]\d+)?)?")
_CAPTION = re.compile(r"^(?:Table|Tab\.|Tabelle)\b", re.I)
_INGREDIENT = re.compile(r"\d[\d.,/½¼¾]*\s?(?:[a-zäöü]{1,3}|EL|TL|Liter|Gramm|Prise)\b\.?\s")
# `2.1 Market Stops`, `Figure 3: Results`
_NUMBERED = re.compile(
    r"\d+(?:\.\d+)+\.?\s+[A-ZÄÖÜ][^\d.?!]{0,60}$|(?:Table|Tab\.|Figure|Fig\.|Tabelle|Abb(?:ildung|\.))\s*\d+[.:]"
)
_UNIT = (
    r"\s+in\s+(?P<unit>(?:(?:thousands?|millions?|billions?|Tausend|Millionen)\s(?:of\s)?)?"
    r"(?:[^\W\d_]+|[€$£%]))"
)
_MEASURED = re.compile(  # "Prices are in euros", "All figures are in million euros"
    r"\b(?P<what>figure|price|value|amount|number|sum|cost|weight|Angabe|Wert|Preis)(?:s|e|n)?\b"
    rf"[^.|\n]{{0,30}}?{_UNIT}",
    re.I,
)
# "(dollars in millions)" above a table, "(in millions)" in its first cell
_SCALE = re.compile(r"\bin (?P<scale>thousand|million|billion)s\b", re.I)
_NO_UNITS = function_words("en") | function_words("de")
_EVERY = frozenset(("figure", "value", "amount", "number", "sum", "angabe", "wert"))
_LIKE = {"price": "cost", "cost": "price"}


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[str, ...]
    group: str = ""  # the line above that names several rows

    def cell(self, at: int) -> str:
        return self.cells[at] if at < len(self.cells) else ""


@dataclass(frozen=True, slots=True)
class Table:
    names: tuple[str, ...]  # of the columns
    rows: tuple[Row, ...]
    caption: str  # the line above or below it
    units: tuple[str, ...] = ()  # of each column, if a sentence says so
    scale: str = ""  # "million", if the table or the lines around it say so

    def unit(self, at: int) -> str:
        return self.units[at] if at < len(self.units) else ""

    def name(self, at: int) -> str:
        return self.names[at] if at < len(self.names) else ""


@dataclass(frozen=True, slots=True)
class Listing:
    items: tuple[str, ...]
    lead: str  # the line above


def blocks(text: str) -> list[list[str]]:
    split = [[line.strip() for line in part.splitlines()] for part in re.split(r"\n\s*\n", text)]
    return [filled for lines in split if (filled := [line for line in lines if line])]


def tables(passage: Passage) -> Iterator[Table]:
    header = passage.header
    every = blocks(passage.citation.text)
    for at, lines in enumerate(every):
        rows = [line for line in lines if " | " in line]
        if not rows or (len(rows) < 2 and not header):
            continue
        if len(rows) * 2 < len(lines):  # a paragraph that contains a bar
            continue
        above = every[at - 1] if at else []
        below = every[at + 1] if at + 1 < len(every) else []
        leads = [_last_sentence(line) for line in above[-1:]]
        captions = [line for line in (*leads, *below[:1]) if _is_caption(line)]
        table = _table(lines, header, " ".join(captions), " ".join((*above, *below)))
        header = ""  # it belongs to the first table
        if table.rows:
            yield table


def _is_caption(line: str) -> bool:
    return bool(_CAPTION.match(line)) or (len(line) <= LONGEST_LEAD and " | " not in line)


def _units(names: Sequence[str], around: str) -> tuple[str, ...]:
    """The unit of each column's figures, from the lines around a table: a unit of prices goes to
    the column with prices, a unit of figures to every column."""
    measured = [
        (m["what"].lower(), " ".join(m["unit"].split())) for m in _MEASURED.finditer(around)
    ]
    units = [(thing, unit) for thing, unit in measured if _is_unit(unit)]
    own = []
    for name in names:
        parts = {word.rstrip("s") for word in words(name)}
        stated = name and re.search(
            rf"\b{re.escape(name)}s?\s+(?:is|are)(?:\s\w+)?{_UNIT}", around, re.I
        )
        fits = (unit for thing, unit in units if {thing, _LIKE.get(thing, thing)} & parts)
        if stated and _is_unit(stated["unit"]):
            own.append(" ".join(stated["unit"].split()))
        else:
            own.append(next(fits, ""))
    every = next((unit for thing, unit in units if thing in _EVERY or unit not in own), "")
    return tuple(unit or every for unit in own)


def _is_unit(unit: str) -> bool:
    """Whether a word can be one: "used in the valuation" has none."""
    return _NO_UNITS.isdisjoint(words(unit)[-1:])  # of a sign such as €, no words


def _table(lines: Sequence[str], header: str, caption: str, around: str) -> Table:
    split = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    if header:
        names = [cell.strip() for cell in header.split(" | ")]
    else:
        cleared = [[c if c not in EMPTY else "" for c in row] for row in split]
        wide = next((i for i, row in enumerate(split) if len(row) > 1), 0)  # a title may be above
        caption = " ".join([caption, *(row[0] for row in split[:wide])]).strip()
        split = split[wide:]
        names = names_of(cleared[wide:])
        if names:
            split = split[1 if names == cleared[wide] else 2 :]
    rows: list[Row] = []
    group, label = "", ""
    marked = any(row[0].startswith("~") for row in split)  # the rows below a group's name
    for line in split:
        if len(line) == 1:
            group = line[0]
            continue
        if marked and not line[0].startswith("~"):
            group = ""
        cells = [cell.lstrip("~ ") for cell in line]
        if cells[0] in EMPTY and label:
            cells[0] = label  # of a cell that spans several rows
        label = cells[0] if cells[0] not in EMPTY else label
        rows.append(Row(tuple(cells), group))
    names = ["" if name in EMPTY else name for name in names]
    scaled = _SCALE.search(" ".join((header, *lines[:1], caption, around)))
    scale = scaled["scale"].lower() if scaled else ""
    return Table(tuple(names), tuple(rows), caption, _units(names, around), scale)


def listings(passage: Passage) -> Iterator[Listing]:
    """Lists, and successive paragraphs that each begin with a word or two and a full stop or
    colon."""
    every = blocks(passage.citation.text)
    headings = passage.citation.headings
    for at, block in enumerate(every):
        if any(" | " in line for line in block) or any(map(_SAID.match, block)):
            continue
        lead = _lead(every[at - 1] if at else [], headings)
        lines = _unwrapped(block)
        if _heads_prose(lines):
            continue
        led = len(lines) > 1 and lines[0].endswith(":")
        items = lines[1:] if led else lines
        is_short = len(every) <= MOST_IN_NOTE and len(headings) <= 1
        is_note = is_short and not led and all(map(_is_sentence, items))
        if len(items) > 1 and not is_note:
            shortened = tuple(_item(line) for line in items[:MOST_ITEMS])
            yield Listing(shortened, lines[0] if led else lead)
    yield from _run_in(every, headings)


def _heads_prose(lines: Sequence[str]) -> bool:
    """Whether a block is a heading with its sentences: `4. Roof` above "Jo asked two firms."."""
    first, *others = lines
    return (
        bool(others)
        and len(first.split()) <= MOST_IN_HEADING
        and first[-1] not in ".!?:…,;"
        and all(map(_is_sentence, others))
    )


def _is_sentence(line: str) -> bool:
    """Whether a line is a sentence: the lines of a short note aren't items of a list."""
    plain = not _BULLET.match(line) and line[-1] in ".!?…" and ":" not in line
    return plain and len(line.split()) >= FEWEST_IN_SENTENCE


def _run_in(every: Sequence[Sequence[str]], headings: Sequence[str]) -> Iterator[Listing]:
    named = [_RUN_IN.match(lines[0]) if len(lines) == 1 else None for lines in every]
    start = 0
    while start < len(named):
        end = start
        while end < len(named) and named[end]:
            end += 1
        if end - start > 1:
            items = tuple(match[1] for match in named[start:end] if match)
            yield Listing(items, _lead(every[start - 1] if start else [], headings))
        start = max(end, start + 1)


def _lead(above: Sequence[str], headings: Sequence[str]) -> str:
    line = _last_sentence(above[-1]) if above else ""
    if line and len(line) <= LONGEST_LEAD and " | " not in line:
        return line
    return headings[-1] if headings else ""


def _last_sentence(line: str) -> str:
    """Of a long paragraph, which leads to the list or table below it."""
    cuts = boundaries.sentences(line) if len(line) > LONGEST_LEAD else ()
    return line[cuts[-1] :].strip() if cuts else line


def _item(line: str) -> str:
    text = _BULLET.sub("", line).strip()
    return text if len(text) <= LONGEST_ITEM else text[:LONGEST_ITEM].rsplit(" ", 1)[0] + " …"


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    paragraph: str  # that it is in
    after: tuple[str, ...] = ()  # the sentences that follow in its paragraph
    lead: str = ""  # the question that it answers, or the line with a colon above it
    before: str = ""  # the sentence before it in its paragraph
    record: bool = False  # its paragraph is a block of labels and values about one thing
    heading: str = ""  # the first line of its block: `4. Roof` of numbered minutes


def sentences(passage: Passage) -> list[Sentence]:
    """Sentences of running text and lists, each short enough to compare; no headings, no rows, no
    end of a sentence at the start of a chunk, and no numbers of footnotes. In a chat, a message
    answers the question that another speaker asked right before it."""
    headings = {*passage.citation.headings, passage.citation.title}
    pieces: list[Sentence] = []
    last_question, asker = "", None
    every = blocks(passage.citation.text)
    begins = [_RUN_IN.match(_BULLET.sub("", line)) for lines in every for line in lines]
    labelled = sum(map(bool, begins)) > 1
    for at, lines in enumerate(every):
        rows = sum(" | " in line for line in lines)
        if rows * 2 >= len(lines):
            continue
        contact = "\n".join(lines) if not passage.is_chat and _is_contact(lines) else ""
        record = (
            " ".join(lines) if not contact and not passage.is_chat and _is_record(lines) else ""
        )
        led = ""
        whole = lines if contact or record else _unwrapped(lines)
        heading = _BULLET.sub("", whole[0]) if _heads_prose(whole) else ""
        for line in whole:
            led = line if line.endswith(":") else led
            message = MESSAGE.match(line)
            plain = _FOOTNOTE.sub("", line[message.end() :] if message else line)
            plain = _BULLET.sub("", plain) if labelled else plain
            inner = set() if contact else set(boundaries.sentences(plain))
            is_message = bool(message or passage.speakers)
            inner |= {match.end() for match in _ASKED.finditer(plain)} if is_message else set()
            cuts = [0, *sorted(inner), len(plain)]
            label = _RUN_IN.match(plain) if labelled else None
            if label and len(cuts) > 2:
                del cuts[1]  # "Speed. You walk 25 feet.": a label and what it labels
            parts = [_short(" ".join(plain[a:b].split())) for a, b in pairwise(cuts)]
            cut = passage.citation.index > 0 and not passage.speakers  # a message begins by itself
            begun = cut and not at and line is whole[0]
            speaker = passage.speaker(parts[0])
            answered = last_question if speaker and asker and speaker.author != asker else ""
            # Who asks in a chat doesn't answer in the same message.
            before = ["" if is_message and part.endswith("?") else part for part in ("", *parts)]
            pieces += [
                Sentence(
                    part,
                    contact or record or plain,
                    tuple(parts[nth + 1 :]),
                    before[nth] if before[nth].endswith("?") else answered or led,
                    before[nth],
                    bool(record),
                    heading or (label[1] if label and nth else ""),
                )
                for nth, part in enumerate(parts)
                if (message or not _is_heading(part, headings))
                and (len(words(part)) > 1 or answered)
                and not (begun and not nth and part[:1].islower())
            ]
            if not plain.endswith(":"):  # the line above a message that says whose it is
                last_question, asker = "", speaker.author if speaker else None
                questions = [part for part in parts if part.endswith("?")]
                if asker and is_asked(parts[-1]):
                    questions.append(parts[-1])
                if questions and (asker or parts[-1] == questions[-1]):
                    last_question = f"{asker}: {questions[-1]}" if asker else questions[-1]
    return pieces


def _unwrapped(lines: Sequence[str]) -> Sequence[str]:
    """The lines of a paragraph that was broken at a width, as one; others as they are. A paragraph
    is one if a line runs on in small letters, or a long one is full and open; code does, too, and
    so do columns set with spaces."""
    widest = max(map(len, lines))
    wrapped = any(
        _runs_on(before, line)
        or (_is_open(before) and FEWEST_FULL <= widest - len(line.split()[0]) <= len(before))
        for before, line in pairwise(lines)
    )
    if not wrapped or any(map(_AS_SET.search, lines)):
        return lines
    whole = [lines[0]]
    for before, line in pairwise(lines):
        bullet = _BULLET.match(line) and not (_is_open(before) and _begins_with_day(line))
        begins = " | " in line or bullet or any(sign.match(line) for sign in (_SAID, MESSAGE))
        is_full = len(before) + len(line.split(maxsplit=1)[0]) >= widest  # no word more fits in
        if not begins and (is_full or _runs_on(before, line)):
            whole[-1] += f" {line}"
        else:
            whole.append(line)
    return whole


def _begins_with_day(line: str) -> bool:
    """Whether a line goes on with a day: "14. Dezember" is no item of a list."""
    return any(not date.start for date in dates(line, None))


def _runs_on(before: str, line: str) -> bool:
    return _is_open(before) and line[0].islower() and len(before) >= FEWEST_WRAPPED


def _is_open(line: str) -> bool:
    return line[-1].isalnum() or line[-1] in ",–-"


def _is_contact(lines: Sequence[str]) -> bool:
    """Whether a block is a signature or an address: short lines, one of them with a number."""
    return (
        1 < len(lines) <= MOST_IN_CONTACT
        and all(len(line) <= LONGEST_CONTACT and line[-1] not in ".!?" for line in lines)
        and any(PHONE.search(line) or EMAIL.search(line) for line in lines)
    )


def _is_record(lines: Sequence[str]) -> bool:
    """Whether most lines of a block are a label and its value: they are about one thing."""
    return len(lines) > 1 and sum(map(bool, map(_LABELLED.match, lines))) * 2 > len(lines)


def _is_heading(part: str, headings: set[str]) -> bool:
    """Captions too. But a heading with a value says something: `TOTAL $821.14`, `150 ml Sahne`."""
    if _NUMBERED.match(part):
        return True
    if not part or _INGREDIENT.match(part) or _LABELLED.match(part):
        return False
    if any(map(str.isdigit, part[1:])) and not part[0].isdigit():
        return False
    named = part[-1] not in ".!?:…" and all(w[0].isupper() for w in part.split() if len(w) > 3)
    return part in headings or (len(part.split()) <= MOST_IN_HEADING and (named or part.isupper()))


def _short(part: str) -> str:
    return part if len(part) <= LONGEST else part[:LONGEST].rsplit(" ", 1)[0] + " …"
