"""Reads title, authors and year from the first page and the file's own information.

Knows what names look like, not whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby

from trivium.extract.cover import COMPANY, MAX_ENTITY, NAME_CAPTION, form_of, tidy
from trivium.extract.divisions import DIVISION
from trivium.extract.pdf.characters import clean
from trivium.extract.pdf.headings import KNOWN, NUMBER, bare, is_parted
from trivium.extract.pdf.marks import Block, Fragment, Line
from trivium.extract.pdf.typography import Typography, join_lines
from trivium.text.lexicon.words import lexicon
from trivium.text.titles import identifies, is_cut, names

MAX_TITLE = 300
PROSE = 120  # characters of a paragraph
BRAND = 0.75  # of the page's height
COVER_PAGES = 6  # before the form of a report that begins with pictures and letters
MAX_AUTHORS = 60
MAX_NAME = 100  # characters
# Lines that are never part of a title. A form's name may be: it says that the company is missing.
_NO_TITLE = re.compile(
    r"(?i)^(?:removed|untitled|title|document|(?:table of )?contents|inhalt(?:sverzeichnis)?"
    r"|\(anonymous\)|[\W\d_]*|layout \d+|slide \d+|powerpoint .*|arxiv:.*)$"
)
# Words that say what kind of document this is, not which one.
_FORMS = (
    "form report annual quarterly interim current half-year yearly statement statements "
    "schedule amendment registration prospectus proxy filing notice letter memo memorandum "
    "invoice receipt agenda minutes presentation slides draft confidential final version "
    "copy document documents exhibit incorporated reference submission contents part item section "
    "page pursuant act united states "
    "securities exchange commission washington d.c government department ministry fiscal "
    "year quarter period ended month and or of the for to a an in on by with from under its"
    " no number file financial consolidated geschäftsbericht jahresbericht bericht rechnung"
    " brief rapport annuel"
)
_FORM_WORDS = frozenset((*_FORMS.split(), *lexicon("en").months))
_NAME_COLUMN = re.compile(r"(?:exact )?names? of (?:the )?registrants?\b", re.I)
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
    """The range of the first page's lines that are the title; empty if none stands out."""
    page = first_page(lines)
    upper = [
        index
        for index, line in enumerate(page)
        if sum(c.isalpha() for c in line.text) >= 4
        and not is_parted(line, 2)
        and not _NO_TITLE.match(line.text)
        and not KNOWN.match(line.text)
    ][:40]
    if not upper:
        return 0, 0
    upper = _without_brand(page, upper, typography)
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


def _without_brand(page: list[Line], upper: list[int], typography: Typography) -> list[int]:
    """Without lines far down the page, if a title may stand above them: a series prints its name
    there, larger than any title."""
    lowest = BRAND * max(line.base for line in page)
    above = [at for at in upper if page[at].base < lowest]
    large = [at for at in above if page[at].peak > 1.5 * typography.size]
    return above if any(" " in page[at].text for at in large) else upper


def identify(lines: list[Line], printed: str, declared: str) -> str:
    """A title that identifies this document; empty if its first page has none. `printed`: the
    largest text on that page; `declared`: the file's own title."""
    own_title = declared if is_title(declared) and not is_generic(declared) else ""
    printed = printed if names(printed) else ""
    page = first_page(lines)[:60]
    captioned = _captioned(page)
    entity = captioned or _largest_company(page)
    if captioned and captioned.split()[0].casefold() not in own_title.casefold():
        own_title = ""  # the file's own title names nobody: "10Q Doc & Exhibits-2022-08-03"
    is_name = bare(printed) == bare(entity) or COMPANY.search(printed)
    if printed and not is_generic(printed) and not is_name:
        return printed
    if not entity and not own_title and is_generic(printed):  # a cover of pictures
        page, entity = _inside(lines)
    if entity and (is_generic(printed) or bare(printed) == bare(entity)):
        only_name = set(own_title.casefold().split()) <= set(entity.casefold().split())
        return (
            ", ".join([entity, *form_of([line.text for line in page])]) if only_name else own_title
        )
    return own_title if is_generic(printed) else printed


def first_heading(blocks: list[Block]) -> str:
    """The first heading of the first two pages that could name a document; empty when none can."""
    for block in blocks:
        if block.page > blocks[0].page + 1:
            break
        text = block.text
        plain = block.role == "heading" and not KNOWN.match(text) and not NUMBER.match(text)
        if plain and names(text) and not is_generic(text):
            return text
    return ""


def is_generic(text: str) -> bool:
    """Whether a title could be on a thousand documents: a form's name, an authority's, a date."""
    words = re.findall(r"[^\W\d_][\w.’'-]*", clean(text).casefold())
    left = [w for w in words if w.rstrip(".") not in _FORM_WORDS]
    return not any(len(word) > 1 for word in left) or "anonymous" in words


def _inside(lines: list[Line]) -> tuple[list[Line], str]:
    """The page behind the cover that names the company above a caption, and the name."""
    for _, group in groupby(lines, key=lambda line: line.page):
        page = [line for line in group if not line.running][:60]
        if page and page[0].page > lines[0].page + COVER_PAGES:
            break
        if page and (name := _captioned(page)):
            return page, name
    return [], ""


def _captioned(page: list[Line]) -> str:
    """The company above or before a caption that says so, or below a column's name that does."""
    for at, line in enumerate(page):
        above = page[at - 1].cells if at else []
        for index, cell in enumerate(line.cells):
            if NAME_CAPTION.match(cell.text):
                beside = line.cells[:index] or [c for c in above if _overlap(c, line)]
                name = tidy(NAME_CAPTION.sub("", clean(" ".join(c.text for c in beside))))
                if 2 < len(name) <= MAX_ENTITY and not is_generic(name):
                    return name
            elif len(line.cells) > 1 and _NAME_COLUMN.match(cell.text):
                below = [c for row in page[at + 1 : at + 5] for c in row.cells]
                named = [c.text for c in below if _overlap(c, cell) and COMPANY.search(c.text)]
                if named:
                    return tidy(named[0])
    return ""


def _overlap(a: Fragment | Line, b: Fragment | Line) -> bool:
    return a.left < b.right and a.right > b.left


def _largest_company(page: list[Line]) -> str:
    """The largest line that ends as companies' names do."""
    named = [
        line
        for line in page
        if len(line.text) <= MAX_ENTITY
        and len(line.cells) == 1
        and COMPANY.search(tidy(line.text))
        and len(line.text.split()) > 1
        and not is_generic(line.text)
    ]
    largest = max(named, key=lambda line: line.peak, default=None)
    return tidy(NAME_CAPTION.sub("", largest.text)) if largest else ""


def first_page(lines: list[Line]) -> list[Line]:
    """The lines of the first page that has any."""
    return [line for line in lines if line.page == lines[0].page and not line.running]


def _goes_on(line: Line, above: Line) -> bool:
    same = abs(line.peak - above.peak) < 0.4
    reach = 3.5 if is_cut(above.text) else 1.9
    return same and 0 < line.base - above.base < reach * above.size


def is_title(text: str) -> bool:
    """Whether a file's own title is one: most name the program or the file."""
    return identifies(text) and len(text.split()) > 1 and "_" not in text


def title_text(lines: list[Line], typography: Typography) -> str:
    """The lines as one title, without a form's caption ("(Exact name of registrant …)")."""
    text = join_lines([line.text for line in lines], typography.words)
    return tidy(NAME_CAPTION.sub("", text) or text)


def front_matter(lines: list[Line], title_end: int) -> list[Line]:
    """The text between a paper's title and its abstract or first section; empty if the first page
    has neither."""
    page = [line for line in lines[title_end:] if line.page == lines[0].page] if title_end else []
    for index, line in enumerate(page[:60]):
        if _opens(line.text):
            return page[:index]
    return []


def clear_cover(blocks: list[Block], title: str) -> None:
    """A cover is set like headings, but no section belongs under the name of a form."""
    for block in blocks:
        if block.page > blocks[0].page:
            return
        if block.role == "heading" and (is_generic(block.text) or bare(block.text) in bare(title)):
            block.role = "body"


def clear_form_cover(blocks: list[Block]) -> None:
    """Nothing on the page where a registrant's name stands over its caption is about what follows:
    addresses, boxes to tick, securities."""
    for block in blocks:
        if block.page > blocks[0].page + COVER_PAGES:
            return
        if _NAME_COLUMN.search(block.text):
            for other in blocks:
                is_on_cover = other.page <= block.page and other.role == "heading"
                if is_on_cover and not DIVISION.match(other.text):
                    other.role = "body"
            return


def clear_empty_cover(blocks: list[Block]) -> None:
    """On a first page without prose nothing has a section below it: names, series, news."""
    first = [block for block in blocks if block.page == blocks[0].page]
    has_prose = any(block.role != "heading" and len(block.text) > PROSE for block in first)
    if has_prose or len(first) == len(blocks):
        return
    for block in first:
        block.role = "body" if block.role == "heading" else block.role


def clear_front(blocks: list[Block]) -> None:
    """Names and places under a title are set like headings, but aren't."""
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
