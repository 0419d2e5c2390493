"""Reads title, authors and year from the first page and the file's own information.

Knows what names look like, not whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trivium.extract.pdf.headings import KNOWN, bare
from trivium.extract.pdf.marks import Block, Line
from trivium.extract.pdf.typography import Typography, clean, join_lines

MAX_TITLE = 300
MAX_AUTHORS = 60
MAX_NAME = 100  # characters
_NO_TITLE = re.compile(
    r"^(?:removed|untitled|title|document|(?:table of )?contents|inhalt(?:sverzeichnis)?"
    r"|\(anonymous\)|microsoft word.*|.*\.(?:pdf|docx?|tex|dvi"
    r"|indd|qxd|ps)|[\W\d_]*|layout \d+|slide \d+|powerpoint .*|arxiv:.*)$",
    re.I,
)
_NO_NAME = re.compile(
    r"universit|institut|department|dept|school|laborator|\blabs?\b|research|college|faculty|inc\b"
    r"|corp|gmbh|google|microsoft|facebook|anonymous|submission|conference|proceeding|workshop"
    r"|@|http|www|\bthe\b|\bof\b|\bfor\b|science|engineering|technolog|street|email|e-mail"
    r"|abstract|keywords|author|\bteam\b|center|centre|academy|\d{3,}",
    re.I,
)
_NAME = re.compile(
    r"(?:[^\W\d_]\.?[ -]?)*[^\W\d_][^\W\d_.’'-]+"
    r"(?: (?:(?:de|van|von|der|den|la|di|du|da|el|al|bin)\b ?)*[^\W\d_][^\W\d_’'.-]*"
    r"(?:[-’'][^\W\d_]+)*\.?){1,4}$"
)
_MARKS = re.compile(r"[\d*†‡§¶∗♠♣♥♦⋆#]+|\(\s*\)|[ab](?=,|$)(?<= .)")
_YEAR = re.compile(r"(?<!\d)(?:19[5-9]\d|20[0-4]\d)(?!\d{3})")
_SECTION = re.compile(r"\d{1,2}(?:\.\d+)*\.? +[A-Z]")
_OPENING = re.compile(
    r"(?:(?:1|I)\.? +)?(?:abstract|summary|introduction|zusammenfassung|einleitung)\b", re.I
)


def find_title(lines: list[Line], typography: Typography, declared: str) -> tuple[int, int]:
    """The range of the first page's lines that are the title; empty when none stands out."""
    page = [line for line in lines if line.page == 1 and not line.running]
    upper = [
        index
        for index, line in enumerate(page)
        if sum(c.isalpha() for c in line.text) >= 4
        and not _NO_TITLE.match(clean(line.text))
        and not KNOWN.match(clean(line.text))
    ][:40]
    if not upper:
        return 0, 0
    wanted = bare(declared) if is_title(declared) else ""
    largest = max(page[index].peak for index in upper)
    start = next((i for i in upper if page[i].peak > largest - 0.3), upper[0])
    if wanted:
        start = next(
            (
                i
                for i in upper
                if len(bare(page[i].text)) > 5 and wanted.startswith(bare(page[i].text))
            ),
            start,
        )
    elif largest < 1.12 * typography.size and not page[start].bold:
        return 0, 0
    end = start + 1
    while end < len(page) and end - start < 6 and _goes_on(page[end], page[end - 1]):
        end += 1
    text = " ".join(line.text for line in page[start:end])
    return (start, end) if len(text) <= MAX_TITLE and not _SECTION.match(text) else (0, 0)


def _goes_on(line: Line, above: Line) -> bool:
    same = abs(line.peak - above.peak) < 0.4
    return same and 0 < line.base - above.base < 1.9 * above.size


def is_title(text: str) -> bool:
    """Whether what a file calls its title is one: most name the program or the file."""
    return bool(text.strip()) and not _NO_TITLE.match(text.strip()) and len(text.split()) > 1


def title_text(lines: list[Line], typography: Typography) -> str:
    return join_lines([line.text for line in lines], typography.words)


def front_matter(lines: list[Line], title_end: int) -> list[Line]:
    """What a paper prints between its title and its abstract or first section; empty when the
    first page has neither."""
    page = [line for line in lines[title_end:] if line.page == 1] if title_end else []
    for index, line in enumerate(page[:60]):
        if _opens(clean(line.text)):
            return page[:index]
    return []


def clear_front(blocks: list[Block]) -> None:
    """Names and places under a title are set like headings: they are none."""
    for index, block in enumerate(blocks[:40]):
        if block.page > 2:
            return
        if block.role == "heading" and _opens(block.text):
            for between in blocks[:index]:
                between.role = "body" if between.role == "heading" else between.role
            return


def _opens(text: str) -> bool:
    return bool(_OPENING.match(text))


def find_authors(matter: list[Line], declared: str) -> tuple[str, ...]:
    """Names between title and abstract; those the file declares when none are printed."""
    names = [name for line in matter for cell in line.cells for name in _names(clean(cell.text))]
    if not names and declared and not _NO_NAME.search(declared):
        parts = re.split(r"\s*[;,]\s*|\s+and\s+", declared)
        names = [name for name in parts if _is_name(name)]
    return tuple(dict.fromkeys(names))[:MAX_AUTHORS]


def _names(text: str) -> list[str]:
    if _NO_NAME.search(text) or len(text) > 300:
        return []
    parts = re.split(r"\s*[,;]\s*|\s+(?:and|und|&)\s+|\s*[·•]\s*", _MARKS.sub(" ", text))
    parts = [" ".join(part.split()) for part in parts]
    names = [part for part in parts if _is_name(part)]
    return names if len(names) >= 0.6 * sum(bool(part) for part in parts) else []


def _is_name(text: str) -> bool:
    # Beyond this the pattern takes the square of the length: 2,000 letters 0.1 s.
    if len(text) > MAX_NAME or not _NAME.match(text):
        return False
    words = text.split()
    upper = sum(word[0].isupper() for word in words)
    return 2 <= len(words) <= 5 and words[0][0].isupper() and upper >= len(words) - 2


def find_year(printed: str, info: Mapping[str, str]) -> int | None:
    """The year printed in a head or under the title; else that of the file's making."""
    made = _YEAR.search(info.get("CreationDate", "")[:8].removeprefix("D:"))
    years = [int(year) for year in _YEAR.findall(printed)]
    if made:  # an older number is a postcode, a newer one a typing error
        years = [year for year in years if int(made[0]) - 3 <= year <= int(made[0]) + 1]
    return max(years, default=int(made[0]) if made else None)


def is_paper(blocks: list[Block]) -> bool:
    """Whether it looks like a paper: an abstract and a list of references."""
    names = {bare(block.text).lstrip("0123456789") for block in blocks if block.role == "heading"}
    abstract = {"abstract", "summary", "zusammenfassung"} & names
    cited = {
        "references",
        "bibliography",
        "literature",
        "literatur",
        "literaturverzeichnis",
    } & names
    return bool(abstract and cited)
