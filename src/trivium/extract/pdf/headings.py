"""Recognises headings by numbering, type and place, and gives them levels. Knows nothing of a
section's content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise

from trivium.extract.cover import COMPANY
from trivium.extract.divisions import CONTENTS, CONTINUED, DIVISION, NOTES, division_levels
from trivium.extract.pdf.characters import clean
from trivium.extract.pdf.direction import runs_left
from trivium.extract.pdf.marks import Block, Line, dominant
from trivium.extract.pdf.typography import Typography, is_typewriter

MAX_WORDS = 18
MAX_BOLD = 30  # words of a line: a risk of a report may take two of them
MAX_ITALIC = 12  # words; longer ones are quotations
MAX_LINE = 120  # characters of a heading's second line that isn't bold
LARGER = 1.08  # of the body's size
DISPLAY = 2.0  # of the body's size: a title's
SAME_TITLE = 0.1  # of its size, between its lines
MANY_LINES = 12  # of text on a page: they say in which size it is set
ROW_GAP = 1.8  # sizes of the font between the rows of a table
WHOLE_LINE = 50  # characters
LONG = 30  # characters of a line that says in which size a page is set: columns are narrow
NUMBER = re.compile(
    r"(?P<number>(?:\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})\.?)"
    r"(?: \.)?[ :]+(?=[^\W\d_a-z]|[a-z]?[A-Z]|[“\"(])"
)
KNOWN = re.compile(
    r"(?i)(?:(?:\d{1,2}|[IVX]{1,4}|[A-Z])\.? +)?(?:abstract|summary|(?:general )?introduction"
    r"|related works?|background|motivation|preliminaries|materials and methods|methods?"
    r"|methodology|experiments?(?:al (?:results|setup))?|results|evaluation|discussions?"
    r"|(?:discussions? and )?conclusions?(?: and (?:future work|discussion|outlook))?"
    r"|future work|limitations|acknowledge?ments?|references|bibliography|works cited"
    r"|literature cited|appendix|appendices|supplementary (?:materials?|information)"
    r"|(?:table of )?contents|inhaltsverzeichnis"
    r"|zusammenfassung|einleitung|literatur(?:verzeichnis)?|fazit|anhang|danksagung|quellen)[.:]?$"
)
LONGEST_KNOWN = 60  # characters; KNOWN matches none longer than 50
CAPTION = re.compile(
    r"(?i)(?:figure|fig\.?|table|tab\.|algorithm|listing|abbildung|abb\.|tabelle|scheme|chart)"
    r"(?:\s*\d++(?:\.\d+)*+[a-z]?+|\s+(?:[IVX]++|[A-Z]\d*+)\b)"
    r"(?!(?-i: [a-z]))"  # not "Table 3 shows"
)
REFERENCES = re.compile(
    r"(?i)(?:(?:\d{1,2}|[IVX]{1,4}|[A-Z])\.? +)?(?:references(?: and notes| cited)?|bibliography"
    r"|works cited|literature cited|literatur(?:verzeichnis)?|quellen(?:verzeichnis)?)[.:]?$"
)
_TOP = re.compile(r"(\d{1,2})((?:\.\d+)*) ?\.? +\S")
_LETTER = re.compile(r"[^\W\d_]")
# "Section 5.07. Employee Matters"
_NAMED_DIVISION = re.compile(
    r"(?:part|book|chapter|exhibit|annex|item|article|note|section)\s+[\d.]*\d[.:—–-]\s+[A-Z]", re.I
)
_LABEL = re.compile(
    r"(?i)(?:exhibit|annex) \d{1,2}(?:\.\d{1,3}|\(\w{1,3}\))*[a-z]?"
)  # at a page's top
_EXHIBIT = re.compile(r"(?i)exhibit|annex")  # holds all up to the next, however it is set
_NEVER = re.compile(
    r"[$€£]\s?-?\d[\d,.]*$"  # "SUBTOTAL $863.91"
    r"|^(?:WHEREAS|NOW,? THEREFORE|IN WITNESS WHEREOF)\b"  # a contract's own sentences
    r"|^(?i:exhibit (?:no\b|number))"  # over a column
)
# "Section 18.25 Guaranty . Tenant warrants and represents that"
_RUNS_ON = re.compile(r"[a-z]{3} ?\. [A-Z][a-z]* [a-z]")
_LISTED = re.compile(r"[;,] (?:and|or)$")  # an item of a list
# Code that is set in capitals or bold: signs and words that no heading has.
_CODE = re.compile(
    r"[<>{}=|;]|\w_\w|::"
    r"|^(?:(?:SELECT|WHEN|WHERE|THEN|ELSE|RETURNS?|INSERT INTO|(?:CREATE|ALTER|DROP) [A-Z]+ [A-Z]"
    r"|GROUP BY|ORDER BY|FROM|AND|OR|ON|FOR) [A-Z(]|(?:END|RETURN|CASE);?$)"
)
# More than .15 of a line of 60 letters, and of one of 130: it is not in capitals.
_SMALL_LETTERS = (re.compile(r"(?:[a-z][^a-z]*){9}"), re.compile(r"(?:[a-z][^a-z]*){20}"))
_SIGNS = re.compile(r"[\W_]+")
_ROMAN = re.compile(r"(?:I{2,3}|I?V|VI{1,3}|I?X|XI{1,3}|I)\.? +\S")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the file's outline."""

    title: str
    level: int  # from 1
    page: int  # from 1; 0 when it points nowhere


_Type = tuple[float, bool, bool, bool]  # size, bold, in capitals, upright


class HeadingRules:
    """Decides for one line with its neighbours whether it is a heading, or part of one."""

    def __init__(
        self, typography: Typography, bookmarks: list[Bookmark], lines: Iterable[Line] = ()
    ) -> None:
        self._type = typography
        self._own = _own_sizes(lines, typography.size)
        self._marked: dict[int, set[str]] = {}
        for mark in bookmarks:
            self._marked.setdefault(mark.page, set()).add(bare(mark.title))

    def accepts(self, line: Line, above: Line | None, below: Line | None) -> bool:
        text = line.text
        bold = line.bold and not self._type.bold
        if text.count(" ") >= (MAX_BOLD if bold else MAX_WORDS) or self._is_ordinary(line, text):
            return False
        if not text or _NEVER.search(text) or "..." in text or ". . ." in text:
            return False
        letters = len(_LETTER.findall(text))
        if letters < 3 or letters < 0.5 * len(text) or CAPTION.match(text) or "@" in text:
            return False
        if _LISTED.search(text) and not (bold and self._goes_on(line, below)):
            return False
        marked = self._marked.get(line.page)
        if (marked and bare(text) in marked) or (line.first and _LABEL.fullmatch(text)):
            return True
        spaced = self._spaced(line, above) or self._ends_above(line, above, below)
        if KNOWN.match(text):
            return (spaced or self._distinct(line, text)) and not _in_table(line, below)
        if self._in_rows(line, above):
            return False
        return self._looks(line, text, below, spaced=spaced)

    def _in_rows(self, line: Line, above: Line | None) -> bool:
        """Whether the line stands as close to a row above it as rows of a table do."""
        if above is None or above.column is not line.column or line.first:
            return False
        if NUMBER.match(line.text) or DIVISION.match(line.text):
            return False
        near = line.base - above.base < ROW_GAP * line.size
        return near and line.peak <= LARGER * self._body(line) and is_parted(above)

    def _looks(self, line: Line, text: str, below: Line | None, *, spaced: bool) -> bool:
        """Whether number, type and place say so."""
        number = NUMBER.match(text)
        if len(line.cells) > (1 if number is None else 2) and is_parted(line):
            return False
        if number is None and _CODE.search(text):
            return False
        if not self._type.typewriter and is_typewriter(line):
            return False
        if number is not None:
            return self._numbered(line, text, number["number"], below, spaced=spaced)
        if DIVISION.match(text) and _RUNS_ON.search(text):
            return False
        if DIVISION.match(text) and (text[-1] not in ",;" or self._goes_on(line, below)):
            named = _NAMED_DIVISION.match(text) is not None and _is_short(line)
            return spaced and (named or self._distinct(line, text)) and not _in_table(line, below)
        return self._plain(line, text, below, spaced=spaced)

    def _body(self, line: Line) -> float:
        """The size of the text around a line: contracts at the end of a report have their own."""
        return max(self._own.get(line.page, 0.0), self._type.size)

    def _is_ordinary(self, line: Line, text: str) -> bool:
        """Whether a line is text beyond doubt: set as all others, in small letters, with neither
        a number nor a known name. Nine lines of ten are, and need no closer look."""
        return (
            not line.bold
            and not line.italic
            and line.peak <= LARGER * self._body(line)
            and line.page not in self._marked
            and _SMALL_LETTERS[len(text) > 60].search(text) is not None
            and not NUMBER.match(text)
            and not DIVISION.match(text)
            and (len(text) > LONGEST_KNOWN or not KNOWN.match(text))
        )

    def _numbered(
        self, line: Line, text: str, number: str, below: Line | None, *, spaced: bool
    ) -> bool:
        if text.endswith((",", ";", ":")) or (text.endswith("-") and below is None):
            return False
        if self._distinct(line, text) or line.italic:
            return spaced or line.bold or line.peak > LARGER * self._body(line)
        if number.strip(".").isalpha():  # A plain "I think" is no section
            return False
        # Plain type: the only signs are space above and a short line without a full stop.
        return spaced and _is_short(line) and not text.endswith(".")

    def _plain(self, line: Line, text: str, below: Line | None, *, spaced: bool) -> bool:
        """Without a number it must look different, be separate, and have text below it."""
        first = next(character for character in text if character.isalpha())
        if first.islower() or (_is_far_right(line) and not runs_left(text)):
            return False
        if text[-1] in ".,;:-" and not (
            self._is_claim(line, text, below) or (text.isupper() and COMPANY.search(text))
        ):
            return False
        if not spaced or not (text[0].isalnum() or text[0] in "“\"'¿("):
            return False
        distinct = self._distinct(line, text)
        if below is None or below.column is not line.column:
            return distinct and line.peak > LARGER * self._body(line)
        size = self._own.get(line.page, self._type.size)  # smaller ones count here only
        if line.peak < 0.95 * size:
            return False
        if not distinct:
            return line.italic and self._set_apart(line, text, below)
        body = any(abs(below.size - usual) < 0.1 * usual for usual in (size, self._type.size))
        near = below.base - line.base < 4 * size
        large = line.peak > 1.15 * self._body(line)
        parted = len(below.text) > 20 or (below.italic and not line.italic)  # or a subheading
        return (body and near and parted) or large or self._same(line, below)

    def _is_claim(self, line: Line, text: str, below: Line | None) -> bool:
        """Whether a line in bold alone above prose ends as a sentence, as the risks of a report, or
        with a colon."""
        if below is None or not line.bold or self._type.bold or below.bold:
            return False
        apart = below.base - line.base > 1.12 * self._type.leading(self._type.size)
        ends = (text[-1] == "." and apart) or text[-1] == ":"
        return ends and " " in text and len(below.text) > WHOLE_LINE

    def _set_apart(self, line: Line, text: str, below: Line) -> bool:
        """Whether an italic line stands alone above upright text, as subheadings of reports do."""
        lead = self._type.leading(self._type.size)
        return (
            not below.italic
            and text[0].isalpha()
            and text.count(" ") < MAX_ITALIC
            and 1.1 * lead < below.base - line.base < 3 * lead
            and len(below.text) > 20
        )

    def _same(self, line: Line, below: Line) -> bool:
        return below.bold == line.bold and below.size == line.size and len(below.text) > 3

    def _distinct(self, line: Line, text: str) -> bool:
        if line.bold and not self._type.bold:
            return True
        letters = _LETTER.findall(text)
        caps = len(letters) >= 4 and sum(c.isupper() for c in letters) > 0.85 * len(letters)
        # One large sign among small letters (a trade mark) makes no heading.
        return caps or (line.size if line.size == self._type.size else line.peak) > (
            LARGER * self._body(line)
        )

    def _spaced(self, line: Line, above: Line | None) -> bool:
        """Whether more than a line's distance separates it from the text above."""
        if above is None or line.first or above.column is not line.column:
            return True
        if DIVISION.match(above.text) and DIVISION.match(line.text):
            return True  # an item right under its part
        size = min(above.size, self._type.size)
        lead = self._type.leading(size)
        if size < self._type.size:  # small print in tables stands far apart
            lead = min(lead, 1.4 * size)
        return line.base - above.base > 1.12 * lead

    def _ends_above(self, line: Line, above: Line | None, below: Line | None) -> bool:
        """Whether a line right under the short last line of a paragraph has its white below."""
        if above is None or below is None or below.column is not line.column:
            return False
        lead = self._type.leading(self._type.size)
        ends = above.text[-1] in ".!?" and _is_short(above) and abs(above.size - line.size) < 0.5
        return ends and below.base - line.base > 1.12 * lead

    def _goes_on(self, line: Line, below: Line | None) -> bool:
        return below is not None and self.continues(below, line)

    def _tolerance(self, line: Line) -> float:
        """By how much the lines of one heading differ in size: a large title's second line may be
        set smaller."""
        return SAME_TITLE * line.peak if line.peak > DISPLAY * self._body(line) else 0.3

    def continues(self, line: Line, above: Line) -> bool:
        """Whether a line continues the heading above it."""
        text = line.text
        same = (
            above.column is line.column
            and abs(line.peak - above.peak) < self._tolerance(above)
            and line.bold == above.bold
            and line.italic == above.italic
        )
        parts = DIVISION.match(above.text) and DIVISION.match(
            text
        )  # not "pursuant to / Section 906"
        begins = NUMBER.match(text) or _NAMED_DIVISION.match(text) or parts
        if not same or begins or KNOWN.match(above.text) or is_parted(line):
            return False
        reach = 1.3 if KNOWN.match(text) else 1.9 if _is_centred(line, above) else 1.6
        if DIVISION.fullmatch(above.text) and _is_centred(line, above):
            reach = 2.6  # its title, even with twice the distance between lines
        close = line.base - above.base < reach * max(line.size, above.size)
        distinct = self._distinct(line, text) or line.italic
        bold = line.bold and not self._type.bold and "..." not in text  # dots lead to a figure
        is_line = len(text) < MAX_LINE or bold
        return close and distinct and is_line and not CAPTION.match(text)


def _in_table(line: Line, below: Line | None) -> bool:
    """Whether the line heads a column of cells."""
    if below is None or below.column is not line.column:
        return False
    gaps = [b.left - a.right for a, b in pairwise(below.cells)]
    return sum(gap > 1.5 * below.size for gap in gaps) >= 2


def _is_centred(line: Line, above: Line) -> bool:
    """Whether two lines of different lengths share their middle."""
    shift = (line.left + line.right - above.left - above.right) / 2
    return abs(shift) < 0.5 * line.size < abs(line.left - above.left)


def _is_far_right(line: Line) -> bool:
    """Whether a line begins beyond the middle of its column, as the names over figures do."""
    return line.left > (line.column.left + line.column.right) / 2


def _is_short(line: Line) -> bool:
    """Whether a line is a few words that leave room beside them."""
    room = line.column.right - line.left
    return line.right - line.left < 0.75 * room and line.text.count(" ") < 10


def _own_sizes(lines: Iterable[Line], size: float) -> dict[int, float]:
    """The pages that are set in another size than the document, and in which."""
    sizes: dict[int, float] = {}
    for page, group in groupby(lines, key=lambda line: line.page):
        weighed = [(line.size, len(line.text)) for line in group if len(line.text) > LONG]
        usual = dominant(weighed) if len(weighed) >= MANY_LINES else 0.0
        if usual and usual != size:
            sizes[page] = usual
    return sizes


def is_parted(line: Line, times: int = 1) -> bool:
    """Whether wide white parts the line, other than behind its number: then it is a row."""
    first = line.cells[0].text
    counted = NUMBER.match(f"{first} A") or DIVISION.fullmatch(first)
    cells = line.cells[1:] if counted else line.cells
    return sum(b.left - a.right > 1.5 * b.size for a, b in pairwise(cells)) >= times


def bare(text: str) -> str:
    """Only letters and digits, for comparing headings."""
    return _SIGNS.sub("", clean(text).casefold())


def without_repeats(blocks: list[Block]) -> list[Block]:
    """The blocks but for headings that say again overleaf what the text is about: it goes on."""
    remaining: list[Block] = []
    headings: set[str] = set()
    for block in blocks:
        if block.role == "heading":
            name = CONTINUED.sub("", block.text)
            if name != block.text and any(heading.startswith(bare(name)) for heading in headings):
                continue
            headings.add(bare(name))
        remaining.append(block)
    return remaining


def drop_items(blocks: list[Block]) -> None:
    """Numbered lines that do not follow the numbers of the sections are items of lists, unless
    they look like the sections themselves: a second part may begin again."""
    last = 0
    looks: set[tuple[float, bool]] = set()
    for block in blocks:
        match = _TOP.match(block.text) if block.role == "heading" else None
        if match is None:
            if block.role == "heading" and (DIVISION.match(block.text) or NOTES.match(block.text)):
                last = 0  # exhibits and the notes of a report count from 1
            continue
        number, look = int(match[1]), (block.lines[0].peak, block.lines[0].bold)
        nearest = last if match[2] else last + 1
        follows = not last or nearest <= number <= last + 2 or look in looks
        if number > 40 or not follows:
            block.role = "body"
        else:
            last = number
            looks.add(look)


def set_levels(
    blocks: list[Block], bookmarks: list[Bookmark], typography: Typography, *, titled: bool
) -> None:
    """Give every heading its level: by the outline, its number, its division (Part, Item, Note), a
    known name, or its type below the last division. All are below a title, but divisions stay at
    the top: passages never cross one."""
    marked = {(mark.page, bare(mark.title)): mark.level for mark in bookmarks}
    headings = [block for block in blocks if block.role == "heading"]
    contents = [block for block in headings if CONTENTS.fullmatch(block.text)]
    levels = division_levels([block.text for block in headings])
    divisions = {id(headings[at]): level for at, level in levels.items()}
    roman = sum(bool(_ROMAN.match(block.text)) for block in headings) >= 2
    by_type: dict[_Type, int] = {}
    for block in headings:
        named = divisions.get(id(block))
        block.level = _numbered_level(block.text, roman=roman) if named is None else max(named, 1)
        if block in contents:
            continue
        if not divisions and (block.level or KNOWN.match(block.text)):
            block.level = block.level or 1
            by_type.setdefault(_type(block), block.level)
    kinds = sorted({_type(b) for b in headings if _type(b) not in by_type}, reverse=True)
    base = 1 if not by_type else 2
    division: Block | None = None
    for block in headings:
        outlined = marked.get((block.page, bare(block.text)))
        kind = _type(block)
        if id(block) in divisions:
            division = block if divisions[id(block)] else None
        elif division is not None and block.level:
            block.level = outlined or division.level + block.level
        elif division is not None and (
            _EXHIBIT.match(division.text) or kind[0] <= LARGER * _type(division)[0]
        ):
            below = [other for other in kinds if kind <= other <= max(kind, _type(division))]
            block.level = outlined or division.level + min(len(below), 3)
            continue
        fallback = by_type.get(kind) or min(base + kinds.index(kind), 4)
        if not block.level and kind[0] > LARGER * typography.size and by_type:
            fallback = by_type.get(kind) or _above(by_type, kind)
        block.level = block.level or outlined or fallback
    deepest = max((block.level for block in headings), default=0)
    for block in headings:
        block.level = deepest if block in contents else block.level  # it holds none of them
        block.level += titled and not divisions


def _above(by_type: dict[_Type, int], kind: _Type) -> int:
    """The level of a type by those of numbered headings that are set no larger: above them if all
    are smaller, as a chapter is above its 1.1."""
    least = min([level for other, level in by_type.items() if other[0] <= kind[0] + 0.2], default=1)
    largest = max(other[0] for other in by_type)
    return max(1, least - 1) if largest < kind[0] - 0.5 else least


def _numbered_level(text: str, *, roman: bool) -> int:
    match = NUMBER.match(text)
    if match is None:
        return 0
    number = match["number"].strip(".")
    if roman and number.isalpha() and not _ROMAN.match(text):
        return 2  # I., A., B., II.: as the IEEE numbers
    return number.count(".") + 1


def _type(block: Block) -> _Type:
    """How a heading looks; of two the greater stands above."""
    line = block.lines[0]
    return (line.peak, line.bold, block.text.isupper(), not line.italic)
