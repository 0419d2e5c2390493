"""Reads pages that were laid out for paper and saved as HTML, as reports and letters are: headings
that only look so, page numbers and running heads at page ends, sentences that a page parts.

Knows blocks of text with their look, nothing of tags.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trivium.core.types import ElementKind
from trivium.extract.cover import COMPANY
from trivium.extract.divisions import (
    CONTENTS,
    CONTINUED,
    DIVISION,
    STATEMENT,
    division_kind,
    division_levels,
)
from trivium.extract.headers import names_of
from trivium.text.titles import is_cut

MAX_WORDS = 30  # of a heading
MAX_SENTENCE = 60  # words of a bold sentence that is one: a risk of a report may take three lines
MAX_ITALIC = 12  # words; longer ones are notes
LARGER = 1.08  # of the body's size
MAX_HEAD = 120  # characters of a running head
AROUND = 5  # blocks on each side of a page's end that may be heads, feet and numbers
REPEATED = 3  # pages that have the same there
COVERED = 2  # pages behind a first one that may be a cover
PROSE = 120  # characters of a paragraph
STACK = 4  # headings without text between them: a cover, or names under a letter
DEEPEST = 5  # levels below a division
LABELLED = 2  # blocks above a heading that a link to it may lead to
_NUMBERS = re.compile(r"\d+|\b[ivxl]+\b")
_END = re.compile(r"[.!?:;…][\"”’)\]]*$")
_INNER_END = re.compile(r"[a-z]{3}[.!?] [A-Z]")
_SEPARATORS = (".", ":", "—", "–", "-")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LETTERED = re.compile(r"\((?:[a-z]|[ivx]{1,4}|\d{1,2})\) [^\W\da-z]")  # "(b) Exhibits"
_MARK = re.compile(r"\((?:\d{1,2}|[a-z])\)|[*†‡]{1,3}")  # of a note
# Of a heading on two lines: "MANAGEMENT'S REPORT ON INTERNAL CONTROL" "OVER FINANCIAL REPORTING".
_SECOND_LINE = re.compile(
    r"(?:and|for|in|of|on|or|over|to|with|(?i:condition and)) \S"
    r"|(?:AND|FOR|IN|OF|ON|OR|OVER|TO|WITH) [A-Z]{2}"
)
# What stands over a table and names no section: a unit, a column, a day, a sentence.
_OF_TABLE = re.compile(
    r"(?i:exhibit (?:no\b|number).*|\(?(?:[\w$]+ )?in (?:thousands|millions|billions)\b.*"
    r"|.*\bfollow(?:s|ing)\b.*:)|(?:As of |At )?[A-Z][a-z]{2,8} \d{1,2}, \d{4}"
)
_SIGNED = re.compile(r"/s/|by:|name:|title:|date:", re.I)


class Look(NamedTuple):
    """How letters are set; of two looks the greater stands above."""

    size: float = 0.0  # points; 0: nobody says
    bold: bool = False
    capitals: bool = False
    underlined: bool = False
    italic: bool = False
    coloured: bool = False

    @property
    def rank(self) -> tuple[float, bool, bool, bool, bool]:
        return (self.size, self.bold, self.capitals, self.underlined, not self.italic)


@dataclass(slots=True)
class Block:
    """A piece of a page, as a composer takes it."""

    kind: ElementKind
    text: str
    look: Look = Look()
    level: int = 0
    ends_page: bool = False  # no text, but the end of a page
    page: int = 0  # counted from the first
    linked: bool = False  # all of it leads to another place in the page
    labels: tuple[str, ...] = ()  # what links to it say
    rows: Sequence[Sequence[str]] = ()
    names: Sequence[str] = ()  # of the columns, if they are known
    named: bool | None = None  # whether the first row has names; None: look at it


def as_printed(blocks: list[Block], *, bare: bool) -> list[Block]:
    """The blocks in reading order without what belongs to paper. `bare`: the file has few headings
    of its own, so those that only look so are headings."""
    blocks = _joined(_without_heads(blocks))
    if bare:
        _find_headings(blocks)
    return _without_continued(blocks)


def _without_heads(blocks: list[Block]) -> list[Block]:
    """Without numbers, heads and feet of pages; of a head with words the first stays."""
    ends = [at for at, block in enumerate(blocks) if block.ends_page]
    near: dict[str, set[int]] = defaultdict(set)
    for end in [-1, *ends, len(blocks)] if ends else []:
        for around in (range(end - 1, -1, -1), range(end + 1, len(blocks))):
            for other in around[:AROUND]:
                if blocks[other].ends_page or not _may_be_head(blocks[other]):
                    break
                near[_key(blocks[other].text)].add(other)
    dropped: set[int] = set()
    for key, places in near.items():
        if len(places) >= REPEATED:
            keeps = _LETTERS.search(key) and not CONTENTS.fullmatch(key) and "#" not in key
            dropped |= places - {min(places)} if keeps else places
    remaining: list[Block] = []
    labels: tuple[str, ...] = ()  # of places that were at a head
    for at, block in enumerate(blocks):
        if at in dropped:
            labels += block.labels
            continue
        if not block.ends_page:
            block.labels, labels = labels + block.labels, ()
        remaining.append(block)
    return remaining


def _may_be_head(block: Block) -> bool:
    return block.kind == "paragraph" and len(block.text) <= MAX_HEAD


def _key(text: str) -> str:
    plain = CONTINUED.sub("", text).casefold()
    return plain if DIVISION.match(plain) else _NUMBERS.sub("#", plain)


def _joined(blocks: list[Block]) -> list[Block]:
    """With sentences whole that the end of a page parts."""
    joined: list[Block] = []
    ended, page = False, 0
    for block in blocks:
        if block.ends_page:
            ended, page = True, page + bool(joined)
            continue
        block.page = page
        last = joined[-1] if joined else None
        if last is not None and _is_beginning(last, block):
            last.text, last.look = f"{last.text} {block.text}", block.look
        elif ended and last is not None and _is_rest(last, block):
            last.rows = [*last.rows, *block.rows]
        elif (
            ended
            and last is not None
            and block.kind == "paragraph"
            and last.kind in ("paragraph", "list_item")
            and not _END.search(last.text[-10:])
            and (block.text[0].islower() or _goes_on(last, block))
        ):
            last.text = f"{last.text} {block.text}"
        else:
            joined.append(block)
        ended = False
    return joined


def _is_beginning(above: Block, block: Block) -> bool:
    """Whether a block is a note's mark, or a division without its title: "ITEM 1A."."""
    if above.kind != "paragraph" or block.kind != "paragraph":
        return False
    if _MARK.fullmatch(above.text):
        return True
    if block.text.count(" ") >= MAX_WORDS or _END.search(block.text[-10:]):
        return False
    if DIVISION.fullmatch(above.text.rstrip(" :")):
        alike = above.look.size == block.look.size and above.look.bold == block.look.bold
        return alike and not DIVISION.match(block.text) and block.text[0].isupper()
    capitals = block.look.capitals and above.look.capitals
    alike = block.look._replace(capitals=above.look.capitals) == above.look
    distinct = alike and (block.look.bold or capitals)
    goes_on = _SECOND_LINE.match(block.text) is not None or (
        DIVISION.match(above.text) is not None and is_cut(above.text)
    )
    return distinct and goes_on and not _END.search(above.text[-10:])


def _is_rest(above: Block, block: Block) -> bool:
    """Whether a table goes on with one on the page before: it has its columns, but not their
    names."""
    if above.kind != "table" or block.kind != "table" or block.names or block.named:
        return False
    wide = {len(row) for row in (above.rows[0], block.rows[0])}
    return len(wide) == 1 and wide != {1} and not names_of(block.rows)


def _goes_on(above: Block, below: Block) -> bool:
    """Whether a long paragraph that stops without a stop goes on with a capital."""
    return min(len(above.text), len(below.text)) > PROSE / 2 and above.look == below.look


def _find_headings(blocks: list[Block]) -> None:
    weights: Counter[Look] = Counter()
    for block in blocks:
        if block.kind in ("paragraph", "list_item"):
            look = Look(block.look.size, bold=block.look.bold, coloured=block.look.coloured)
            weights[look] += len(block.text)
    if not weights:
        return
    body = max(weights, key=lambda look: weights[look])
    places = [at for at in range(len(blocks)) if _is_heading(blocks, at, body)]
    if blocks[-1].page > COVERED:
        places = [at for at in places if blocks[at].page or not _is_on_cover(blocks, at)]
    over = {at - 1 for at in places}  # a company's name over a statement holds nothing itself
    for at in _without_stacks(blocks, places):
        text = blocks[at].text
        if " | " not in text and (at not in over or not _is_company(text)):
            blocks[at].kind = "heading"
    _set_levels([block for block in blocks if block.kind == "heading"])


def _is_company(text: str) -> bool:
    return text.isupper() and COMPANY.search(text) is not None


def _is_heading(blocks: list[Block], at: int, body: Look) -> bool:
    """Whether a paragraph looks different from the text and stands over something."""
    block, below = blocks[at], blocks[at + 1 : at + 2]
    text, look = block.text, block.look
    if block.kind != "paragraph" or block.linked or not below:
        return False
    if "\n" in text and not (DIVISION.match(text) or block.labels):
        return False
    words = text.count(" ") + 1
    if (
        words > (MAX_SENTENCE if look.bold and _is_sentence(text) else MAX_WORDS)
        or not _LETTERS.search(text)
        or not (text[0].isupper() or text[0].isdigit() or _LETTERED.match(text))
    ):
        return False
    if text[-1] in ",;" or _SIGNED.match(text) or CONTENTS.fullmatch(text):
        return False
    if _OF_TABLE.fullmatch(text):
        return False
    near = blocks[max(0, at - LABELLED) : at + 1]  # a link may lead to the company's name above
    if any(_says_the_same(label, text) for other in near for label in other.labels):
        return True
    if (look.bold and not body.bold) or (body.size and look.size > LARGER * body.size):
        return True
    is_apart = look != below[0].look or look.capitals
    if is_apart and words <= MAX_ITALIC and DIVISION.match(text):
        return True
    if _is_titled(text, below[0].text) or (STATEMENT.fullmatch(text) and below[0].kind == "table"):
        return True
    distinct = look.italic or look.underlined or (look.capitals and " " in text)
    distinct = distinct or (look.coloured and not body.coloured)
    return distinct and words <= MAX_ITALIC and text[-1] not in ".:" and below[0].look != look


def _is_sentence(text: str) -> bool:
    return text[-1] in ".?!" and _INNER_END.search(text) is None


def _is_titled(text: str, below: str) -> bool:
    """Whether a text is the name of a division and its title, whatever it looks like: "Item 12 —
    Security Ownership". Not so in a list of them."""
    division = DIVISION.match(text)
    if not division or division_kind(below) == division_kind(text):
        return False
    title = text[division.end("number") :].lstrip()
    words = [word for word in title.split() if len(word) > 4 and word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    return title[:1] in _SEPARATORS and bool(words) and capitals >= 0.7 * len(words)


def _says_the_same(label: str, text: str) -> bool:
    """Whether one of the two is the other, or half of it: a number may be missing."""
    short, long = sorted((_letters(label), _letters(text)), key=len)
    return 2 * len(short) >= len(long) > 0 and short in long


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _is_on_cover(blocks: list[Block], at: int) -> bool:
    return len(blocks[at + 1].text) < PROSE and not DIVISION.match(blocks[at].text)


def _without_stacks(blocks: list[Block], places: list[int]) -> Iterator[int]:
    """The headings but for many without text between them: those are a cover or an address, or a
    list of items."""
    run: list[int] = []
    for at in [*places, -1]:
        if run and at != run[-1] + 1:
            few = len(run) < STACK
            kinds = [division_kind(blocks[n].text) for n in run]
            yield from (
                n
                for n, kind in zip(run, kinds, strict=True)
                if few or (kind and kinds.count(kind) < STACK)
            )
            run = []
        run.append(at)


def _set_levels(headings: list[Block]) -> None:
    """Divisions have their level; what looks smaller than the headings above is below them."""
    divisions = division_levels([block.text for block in headings])
    base, above = 0, list[Look]()
    for at, block in enumerate(headings):
        if at in divisions:
            base, above = divisions[at], []
            block.level = max(base, 1)
            continue
        if block.look in above:
            del above[above.index(block.look) :]
        else:
            while above and above[-1].rank < block.look.rank:
                above.pop()
        above.append(block.look)
        block.level = base + min(len(above), DEEPEST)


def _without_continued(blocks: list[Block]) -> list[Block]:
    """Without headings that only say that the text goes on: "(Continued)", or the division again
    on another page."""
    remaining: list[Block] = []
    headings: set[str] = set()
    divisions: dict[str, str] = {}  # the last of each kind
    for block in blocks:
        if block.kind == "heading":
            text = _letters(block.text)
            name = _letters(CONTINUED.sub("", block.text))
            kind = division_kind(block.text)
            if (name != text and name in headings) or (kind and divisions.get(kind) == name):
                continue
            headings.add(name)
            if kind:
                divisions[kind] = name
        remaining.append(block)
    return remaining
