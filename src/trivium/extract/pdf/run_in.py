"""Parts the titles of numbered sections from their text where both stand in one paragraph, as in
contracts: "10. Assignment. No party may …". Knows blocks, nothing of type: such titles are often
only underlined, and rules aren't read."""

from __future__ import annotations

import re
from dataclasses import replace

from trivium.extract.pdf.headings import NUMBER, REFERENCES
from trivium.extract.pdf.marks import Block

MAX_TITLE = 100  # characters
LEAST = 3  # sections that count up; fewer are a list that looks so
SMALL_WORD = 4  # letters; longer words of a title have a capital
_RUN_IN = re.compile(
    r"(?:(?:section|article) )?(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})\.? "
    rf"(?P<title>[A-Z][^.:;()]{{2,{MAX_TITLE}}}?) ?\.(?: (?=[A-Z(“\"])|$)",
    re.I,
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:[A-Z]|Inc|Co|Corp|Ltd|No|Mr|Mrs|Ms|Dr|St|vs?|et al)| [A-Z]\w?)$"
)

_Number = tuple[int, ...]


def part_run_ins(blocks: list[Block]) -> list[Block]:
    """The blocks with the titles of such sections as headings, where at least three count up."""
    if any(block.role == "heading" and REFERENCES.match(block.text) for block in blocks):
        return blocks  # "12. World Health Organization. Guidelines for …"
    counted: list[tuple[int, _Number, int]] = []  # block, number, end of the title; 0: a heading
    for at, block in enumerate(blocks):
        if block.role == "heading":
            if (match := NUMBER.match(block.text)) and match["number"][0].isdecimal():
                counted.append((at, _number(match["number"]), 0))
        elif block.role in ("body", "list_item"):
            match = _RUN_IN.match(block.text)
            if match is not None and _is_title(match["title"]):
                counted.append((at, _number(match["number"]), match.end()))
    ends: dict[int, int] = {}
    run: list[tuple[int, _Number, int]] = []
    for entry in [*counted, (len(blocks), (), 0)]:
        if run and not _follows(entry[1], run[-1][1]):
            if len(run) >= LEAST:
                ends |= {at: end for at, _, end in run if end}
            run = []
        run.append(entry)
    return [part for at, block in enumerate(blocks) for part in _parted(block, ends.get(at, 0))]


def _number(text: str) -> _Number:
    return tuple(map(int, text.strip(".").split(".")))


def _follows(number: _Number, before: _Number) -> bool:
    """Whether a section's number is the next one, at its own level or another."""
    return (
        bool(number)
        and any(
            number
            in ((*before[:depth], before[depth] + 1), (*before[:depth], before[depth] + 1, 1))
            for depth in range(len(before))
        )
    ) or number == (*before, 1)


def _is_title(text: str) -> bool:
    words = [word for word in _WORD.findall(text) if len(word) > SMALL_WORD]
    capitals = sum(word[0].isupper() for word in words)
    return bool(words) and capitals == len(words) and _ABBREVIATED.search(text) is None


def _parted(block: Block, end: int) -> list[Block]:
    if not end:
        return [block]
    title = block.text[:end].rstrip().removesuffix(".").rstrip()
    heading = Block(block.lines[:1], "heading", f"{title}.")
    rest = block.text[end:]
    turns = [(max(0, at - end), page) for at, page in block.turns]
    return [heading, replace(block, role="body", text=rest, turns=turns)] if rest else [heading]
