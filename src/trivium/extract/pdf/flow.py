"""Puts paragraphs together that a column's end, a page's end, a formula or a figure parts.

Knows the roles of blocks, not how they were found.
"""

from __future__ import annotations

import re

from trivium.extract.pdf.headings import REFERENCES
from trivium.extract.pdf.marks import Block
from trivium.extract.pdf.typography import Typography, join_lines

_FINISHED = re.compile(
    r"(?<!\bal)(?<!e\.g)(?<!i\.e)(?<!\bFig)(?<!\bcf)"
    r"(?:[.!?:][\"”’)\]]*|(?<!\d)[.!?:][\"”’)\]]*\d{1,2})$"  # not "$1.75"
)
_OPEN = re.compile(
    r"(?:,|\b(?:an?|and|at|by|for|from|in|its|of|on|or|our|that|the|their|to|which|with))$"
)
_MORE = re.compile(r"\w|[$€£¥“\"(]\w")
_ITEM = re.compile(r"[•[]|\d{1,2}[:.)]\s")  # of a list, of references or of an algorithm
# "as shown in Table" and, overleaf, "3. It": no item of a list.
_NUMBERED = re.compile(r"(?i)\b(?:table|figure|section|note|item|equation|page)s?$")
MAX_CHARACTERS = 20_000  # of a paragraph put together: some five pages; more is a listing
LEAST_OPEN = 60  # characters of a paragraph whose sentence goes on overleaf; a label is shorter
MAX_ASIDES = 40  # blocks between two halves: labels of a figure are many


def join_flow(blocks: list[Block], typography: Typography) -> list[Block]:
    """Blocks in order, each paragraph whole; whatever was between its halves follows it."""
    joined: list[Block] = []
    opened: Block | None = None
    asides = 0
    for block in blocks:
        if block.role == "heading":
            opened = None
        elif block.role == "formula" and opened is not None and joined[-1] is opened:
            if _below(opened, block):
                _append(opened, block, typography)
                continue
        elif block.role in ("body", "list_item", "small"):
            if opened is not None and _continues(opened, block):
                _append(opened, block, typography)
                asides = 0
                continue
            if opened is None or _replaces(opened, block, typography):
                opened, asides = block, 0
        asides += 1
        if asides > MAX_ASIDES:
            opened = None
        joined.append(block)
    return joined


def lift_floats(blocks: list[Block]) -> list[Block]:
    """Moves captions and tables out of the list of references, before it: leaving out the
    bibliography must not lose them."""
    lifted: list[Block] = []
    start: int | None = None
    for index, block in enumerate(blocks):
        if block.role == "heading":
            start = len(lifted) if REFERENCES.match(block.text) else None
        elif start is not None and _is_float(blocks, index):
            lifted.insert(start, block)
            start += 1
            continue
        lifted.append(block)
    return lifted


def _is_float(blocks: list[Block], index: int) -> bool:
    if blocks[index].role == "caption":
        return True
    near = [*blocks[max(0, index - 1) : index], *blocks[index + 1 : index + 2]]
    return blocks[index].role == "table" and any(block.role == "caption" for block in near)


def _append(block: Block, more: Block, typography: Typography) -> None:
    last, first = block.lines[-1].page, more.lines[0].page
    block.text = join_lines([block.text, more.text], typography.words)
    begin = len(block.text) - len(more.text)
    block.turns += [(begin, first)] if first != last else []
    block.turns += [(begin + at, page) for at, page in more.turns]
    block.lines = [*block.lines, *more.lines]


def _below(block: Block, formula: Block) -> bool:
    """Whether a formula is in the paragraph's column, right below it."""
    last, first = block.lines[-1], formula.lines[0]
    return last.column is first.column and 0 < first.base - last.base < 5 * last.size


def _replaces(opened: Block, block: Block, typography: Typography) -> bool:
    """Whether the open paragraph is given up for a new one: small print does not close body."""
    if block.role == "small" and opened.role != "small":
        return False
    return abs(block.size - opened.size) < 0.05 * opened.size or block.size >= typography.size


def _is_number_of(text: str, opened: Block) -> bool:
    """Whether a text begins with the number of what the open paragraph's last word names."""
    return text[0].isdecimal() and _NUMBERED.search(opened.text[-12:]) is not None


def _continues(opened: Block, block: Block) -> bool:
    """Whether the block is the second half of the open one."""
    last, first = opened.lines[-1], block.lines[0]
    if abs(block.size - opened.size) > 0.05 * opened.size or first.page - last.page > 1:
        return False
    text, more = opened.text, block.text
    if _FINISHED.search(text[-12:]) or len(text) > MAX_CHARACTERS:
        return False
    if _is_number_of(more, opened):
        return True
    if block.role == "list_item":
        return False
    broken = text.endswith(("-", "‐", "\u00ad")) and more[0].isalpha()
    lower = more[0].islower()
    if last.column is first.column and last.page == first.page:
        after_formula = 0 < first.base - last.base < 3 * first.size
        return after_formula and (lower or more[0] in "([,;")
    full = last.right > last.column.right - 2.5 * last.size
    unfinished = (
        lower or broken or (_OPEN.search(text[-12:]) is not None and _MORE.match(more) is not None)
    )
    if unfinished and first.page > last.page and len(text) > LEAST_OPEN:
        return True  # in ragged text the line may be short
    flush = first.left < first.column.left + 0.6 * first.size
    if not full:
        return False
    return broken or lower or (flush and len(more) > 30 and not _ITEM.match(more))
