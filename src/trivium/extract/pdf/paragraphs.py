"""Groups lines into blocks: headings, tables, captions and paragraphs of one column.

What runs over columns and pages is put together by `flow`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Set
from itertools import pairwise

from trivium.extract.divisions import is_part
from trivium.extract.pdf.direction import runs_left
from trivium.extract.pdf.grid import table_block
from trivium.extract.pdf.headings import CAPTION, HeadingRules
from trivium.extract.pdf.line_ends import keeps_lines, kept_lines, written_pages
from trivium.extract.pdf.marks import Block, Line, Role
from trivium.extract.pdf.tables import MAX_LABELS, find_tables, is_row
from trivium.extract.pdf.typography import Typography, is_typewriter, join_lines

BULLET = re.compile(r"(?:[•‣◦▪■●○∙·⁃–—*-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
_ENTRY = re.compile(r"\[\w{1,12}\]\s*\S|\d{1,3}\.\s+[A-Z]")
_RUN_IN = re.compile(r"(abstract|summary|zusammenfassung)\s*(?:[.:—–-]+\s*|\s+(?=[A-Z]))", re.I)
_WORDLIKE = re.compile(r"[^\W\d_]{3,}")
_SIGN = re.compile(r"[^\w\s]|_")
_MONEY = re.compile(r"[$€£¥]")
_ASCII_SIGNS = str.maketrans("", "", string.punctuation)
MOST_LABEL = 120  # characters of a label between two parts of a table
STATEMENT = 8  # words of a sentence; a heading with fewer may end like one ("What now!")
HALF_SENTENCE = 30  # words: headings that long are sentences, and have their end
# With the mark of a note, but not "$1.75".
_END = re.compile(r"(?:[.!?:;…][\"”’)\]]*|(?<!\d)[.!?:;…][\"”’)\]]*\d{1,2})$")
_GLUED = re.compile(r"^((?:Item|Note|Section) \d{1,2}[A-C]?[.:])(?=[A-Z][a-z])")  # "Item 2.Dues"
_INNER_END = re.compile(r"[a-z]{3}[.!?] [A-Z]")
MARK = 12  # characters of a number apart from its entry
SMALL = 0.93  # of the body's size: footnotes, captions, labels in figures


def build_blocks(lines: list[Line], typography: Typography, rules: HeadingRules) -> list[Block]:
    """The blocks of a document in reading order."""
    headings = _headings(lines, rules)
    tables = find_tables(lines, headings)
    stops = {*tables, *headings, len(lines)}
    written = written_pages(
        [
            (above, line)
            for at, (above, line) in enumerate(pairwise(lines), start=1)
            if at not in stops and at - 1 not in headings
        ]
    )
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        if at in tables:
            blocks.append(table_block(tables[at], _table_above(blocks)))
            at = tables[at].end
            continue
        if at in headings:
            end = min([headings[at], *(row for row in range(at, headings[at]) if row in tables)])
            blocks.append(_heading(lines[at:end], typography))
            at = end
            continue
        end = at + 1
        while end not in stops and _goes_on(lines, at, end, typography):
            end += 1
        blocks.extend(_paragraph(lines[at:end], typography, written))
        at = end
    return blocks


def _table_above(blocks: list[Block]) -> Block | None:
    """The table that the next block may go on with, at most a few labels above it."""
    for block in reversed(blocks[-1 - MAX_LABELS :]):
        if block.role == "table":
            return block
        if len(block.text) > MOST_LABEL:
            return None
    return None


def _headings(lines: list[Line], rules: HeadingRules) -> dict[int, int]:
    """Where headings begin, and where each ends."""
    ends: dict[int, int] = {}
    at = 0
    while at < len(lines):
        above = lines[at - 1] if at else None
        below = lines[at + 1] if at + 1 < len(lines) else None
        end = at + 1
        if not lines[at].running and rules.accepts(lines[at], above, below):
            while end < len(lines) and end - at < 4 and rules.continues(lines[end], lines[end - 1]):
                end += 1
            while end - at > 1 and lines[end - 1].text.endswith(","):
                end -= 1  # "Year ended December 31," is over a column
            words = sum(line.text.count(" ") + 1 for line in lines[at:end])
            announces = end - at > 1 and lines[end - 1].text[-1] in ":;"
            long = words >= HALF_SENTENCE and not _is_sentence(lines[at:end])
            if not (announces or long or _is_stated(lines, at, end, words)):
                ends[at] = end
        at = end
    return ends


def _is_sentence(lines: list[Line]) -> bool:
    """Whether long lines are one sentence set apart, as the risks of a report: contracts that are
    only printed larger than the report around them have several."""
    text = " ".join([line.text for line in lines])
    return _is_set_apart(lines[0]) and text[-1] in ".?!" and _INNER_END.search(text) is None


def _is_stated(lines: list[Line], start: int, end: int, words: int) -> bool:
    """Whether lines that are only large are a sentence, or the beginning of one: a scan's sizes
    differ from line to line."""
    if words < STATEMENT or _is_set_apart(lines[start]):
        return False
    last, *below = lines[end - 1 : end + 1]
    goes_on = any(
        line.text[0].islower() and 0 < line.base - last.base < 2 * line.size for line in below
    )
    ends = last.text[-1] in ".!"
    return (
        goes_on
        or ends
        or _INNER_END.search(" ".join([x.text for x in lines[start:end]])) is not None
    )


def _is_set_apart(line: Line) -> bool:
    return line.bold or line.italic


def _heading(lines: list[Line], typography: Typography) -> Block:
    text = join_lines([line.text for line in lines], typography.words)
    return Block(lines, "heading", _GLUED.sub(r"\1 ", text))


def _goes_on(lines: list[Line], start: int, at: int, typography: Typography) -> bool:
    """Whether a line belongs to the paragraph that began at `start`."""
    above, line = lines[at - 1], lines[at]
    if line.first or line.page != above.page or line.column is not above.column:
        return False
    if _is_code(above, typography) and _is_code(line, typography):
        return line.base - above.base < 3 * line.size
    if is_row(line) or is_row(above) or is_part(line.text):
        return False
    gap = line.base - above.base
    lead = max(typography.leading(min(above.size, line.size)), 1.05 * line.size)
    if gap > 1.3 * lead or abs(line.size - above.size) > 0.07 * above.size:
        formula = is_formula(line) or is_formula(above)
        if (not formula or gap > 1.9 * lead) and not _is_double_spaced(lines, at):
            return False
    if CAPTION.match(line.text) and gap > 1.1 * lead:
        return False
    if _marks_item(line, lines[start]):
        return False
    return not _indents(lines, start, at)


def _is_double_spaced(lines: list[Line], at: int) -> bool:
    """Whether a line goes on with a sentence that fills the one above, as in contracts whose lines
    stand twice as far apart as those of the report around them."""
    above, line, *below = lines[at - 1 : at + 2]
    gap = line.base - above.base
    word = line.words[0]
    fills = above.right + word.right - word.left > above.column.right - above.size
    alike = (above.size, above.bold) == (line.size, line.bold) and len(above.cells) == 1
    even = all(b.base - line.base > 0.8 * gap for b in below if not b.first)
    return (
        len(above.text) > 40
        and fills
        and alike
        and even
        and gap < 2.6 * line.size
        and not _END.search(above.text)
    )


def _is_code(line: Line, typography: Typography) -> bool:
    return not typography.typewriter and is_typewriter(line)


def _listing(lines: list[Line]) -> Block:
    """A listing keeps its lines and, since its letters are all .6 of the size wide, its indents."""
    left = min(line.left for line in lines)
    indents = [round((line.left - left) / (0.6 * line.size)) for line in lines]
    texts = (" " * min(n, 60) + line.text for n, line in zip(indents, lines, strict=True))
    return Block(lines, "code", "\n".join(texts))


def _marks_item(line: Line, first: Line) -> bool:
    """Whether the line begins a list item or a numbered entry."""
    text = line.text
    if _ENTRY.match(text) and _ENTRY.match(first.text):
        return abs(line.left - first.left) < 12
    if not BULLET.match(text):
        return False
    mark = text[0]
    if mark in "•‣◦▪■●○∙⁃" or line.left > line.column.left + 4:
        return True
    return BULLET.match(first.text) is not None


def _indents(lines: list[Line], start: int, at: int) -> bool:
    """Whether the left edge says that a new paragraph begins: indented, or back from hanging."""
    line, above = lines[at], lines[at - 1]
    em = line.size
    if runs_left(line.text):  # the edges change places
        short = above.left > line.column.left + 2 * em and bool(_END.search(above.text))
        return short or above.right - line.right > 0.5 * em
    if line.text[:1].islower() and not _END.search(above.text):
        return False
    shift = line.left - above.left
    ended = above.right < line.column.right - 2 * em
    if at - start >= 2 and lines[start + 1].left - lines[start].left > 0.5 * em:
        hanging = all(abs(x.left - lines[start + 1].left) < 0.4 * em for x in lines[start + 1 : at])
        if hanging and abs(line.left - lines[start].left) < 0.4 * em:
            return at - start > 1 and not _first_line_outdent(lines, start, at)
    if at - start == 1 and abs(shift) < 0.4 * em and ended and _END.search(above.text):
        return True  # an entry of one line above another
    if at - start == 1 and _hangs(above, line, ended=ended):
        return False
    far = above.right < line.column.right - 0.25 * (line.column.right - line.column.left)
    if (
        ended
        and (far or _END.search(above.text))  # else the next word had no room
        and shift < -0.5 * em
        and line.left < lines[start].left
        and BULLET.match(lines[start].text)
    ):
        return True  # back from a list
    if shift > 0.5 * em:
        nxt = lines[at + 1] if at + 1 < len(lines) else None
        back = nxt is None or nxt.column is not line.column or nxt.left < line.left - 0.4 * em
        return (back or ended) and shift < 5 * em and not is_formula(line)
    capital = line.text[:1].isupper() or not line.text[:1].isalnum()
    return far and bool(_END.search(above.text)) and capital and abs(shift) < 0.4 * em


def _hangs(first: Line, line: Line, *, ended: bool) -> bool:
    """Whether a line goes on with an item, right below the text behind its mark, or near it where
    the item's first line has no room for more."""
    words = first.words
    if len(first.cells) == 2 and len(first.cells[0].text) <= MARK:  # "10.31*  Form of Notice"
        return abs(line.left - first.cells[1].left) < 0.5 * line.size
    marked = len(words) > 1 and BULLET.match(first.text) is not None
    full = not ended and not _END.search(first.text) and line.left > first.left
    return marked and (full or abs(line.left - words[1].left) < 0.5 * line.size)


def _first_line_outdent(lines: list[Line], start: int, at: int) -> bool:
    """Whether only the first line is indented, as after an initial, and the text continues."""
    return not _END.search(lines[at - 1].text) and lines[at].text[:1].islower()


def is_formula(line: Line) -> bool:
    """Whether a line is mathematics set apart: few words, many signs, away from the edges."""
    if line.formula is None:
        line.formula = _is_formula(line)
    return line.formula


def _is_formula(line: Line) -> bool:
    text = line.text
    if _MONEY.search(text) or not text.strip("-=_*. "):
        return False
    if text.isascii() and len(text) - len(text.translate(_ASCII_SIGNS)) < 0.2 * len(text):
        plain = [len(word) for word in text.split() if len(word) > 2 and word.isalpha()]
        if sum(plain) > 0.5 * len(text):
            return False  # as below, for what nine lines of ten are, in a third of the time
    words = sum(map(len, _WORDLIKE.findall(text)))
    signs = len(_SIGN.findall(text))
    if words > 0.5 * len(text) and signs < 0.2 * len(text):
        return False
    inset = line.left > line.column.left + line.size
    return words < 0.35 * len(text) and (signs > 0.15 * len(text) or inset)


def _paragraph(lines: list[Line], typography: Typography, written: Set[int]) -> list[Block]:
    if len(lines) > 1 and all(_is_code(line, typography) for line in lines):
        return [_listing(lines)]
    on_written = lines[0].page in written
    in_lines = on_written or keeps_lines(lines)
    runs = kept_lines(lines, written=on_written) if in_lines else [[line.text for line in lines]]
    text = "\n".join(filter(None, [join_lines(run, typography.words) for run in runs]))
    if not text:
        return []
    first = lines[0]
    role: Role = "body"
    if first.running:
        role = "running"
    elif CAPTION.match(text):
        role = "caption"
    elif all(is_formula(line) for line in lines):
        role = "formula"
    elif BULLET.match(text) and not _ENTRY.match(text):
        role = "list_item"
    elif first.size < SMALL * typography.size:
        role = "small"
    run_in = _RUN_IN.match(text)
    if run_in and run_in.end() < len(text) and first.words[0].style != first.words[-1].style:
        heading = Block(lines[:1], "heading", run_in[1])
        return [heading, Block(lines, "body", text[run_in.end() :])]
    return [Block(lines, role, text)]
