"""Finds the figures that a company reports: the line of a statement, the column of a year, and the
scale that the page gives ("in millions"). Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.answer.lines import BY_NAME, Line, Sheet
from trivium.answer.metrics import SCALES
from trivium.answer.passages import Passage
from trivium.answer.structure import Table, tables
from trivium.text.normalise import fold

_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_FIGURE = re.compile(r"[-–−(]?\s?[$€£]?\s?[-–−(]?\s?(\d[\d,]*(?:\.\d+)?)\s?\)?")
_NOTHING = frozenset({"-", "–", "—", "$—", "$ —", "$-"})
_SCALE = re.compile(r"\b(?:in|dollars in|amounts in)\s(thousand|million|billion)s\b|\((milli"
r"on|thousand|billion)s\b", re.I)  # fmt: skip
_SIGNS = {
    Sheet.CASH: re.compile(r"(?:operating|investing|financing) activities|cash flows?\b", re.I),
    Sheet.BALANCE: re.compile(
        r"(?i)balance sheet|financial (?:position|condition)|total assets|(?:current|total) liab"
        r"ilities"
        r"|current assets"
    ),
    Sheet.INCOME: re.compile(
        r"(?i)statements? of (?:consolidated )?(?:income|operations|earnings)|per share|cost o"
        r"f|income tax"
        r"|operating expenses|income statement"
    ),
}
_TITLES = {
    Sheet.CASH: re.compile(r"statements? of (?:consolidated )?cash flows?|cash flows? statem"
    r"ents?", re.I),
    Sheet.BALANCE: re.compile(r"balance sheets?|statements? of financial (?:position|conditi"
    r"on)", re.I),
    Sheet.INCOME: re.compile(
        r"statements? of (?:consolidated )?(?:income|operations|earnings)|income statements?", re.I
    ),
}  # fmt: skip
HEADS = 3  # rows below the names of a table that may name one year alone
# Columns and reports of a part of a year.
_INTERIM = re.compile(
    r"\b(?:three|six|nine|[369])[ -]months?\b|\bquarter|\b[1-4]Q|\bQ[1-4]\b"
    r"|\b(?:twelve|thirteen|fourteen|twenty-?\s?\w+|thirty-?\s?\w+|forty|[123]\d|40)[ -]weeks?\b",
    re.I,
)
_OF_A_QUARTER = re.compile(r"\b10-?Q\b")
FAINT = 0.3  # a label or table that fits less is another one


@dataclass(frozen=True, slots=True)
class Reported:
    """One figure, with what a reader needs to find it."""

    line: str
    label: str  # as the report names it
    year: int
    cell: str
    value: float  # with its scale
    scale: str
    passage: Passage
    fit: float

    @property
    def told(self) -> str:
        pages = self.passage.citation.pages
        page = f" (p. {pages[0]})" if pages else ""
        scale = f" {self.scale}" if self.scale else ""
        return f"{self.label}, {self.year}: {self.cell}{scale}{page}"


def find(name: str, years: Sequence[int], passages: Sequence[Passage]) -> dict[int, Reported]:
    """The figures of a line, by year. `passages` in the order of their documents. All years come
    from the same row if one has them all."""
    line = BY_NAME[name]
    rows: list[dict[int, Reported]] = []
    usual = _usual_scale(passages)
    before: tuple[Passage, list[int | None]] | None = None
    of_a_year = line.sheet is not Sheet.BALANCE
    for passage in passages:
        if of_a_year and _OF_A_QUARTER.search(" ".join(_above(passage))):
            continue
        for table in tables(passage):
            interim = [of_a_year and bool(_INTERIM.search(name)) for name in table.names]
            columns = _years(table.names)
            if not any(columns) and before and _continues(before[0], passage):
                columns = before[1]
            scale = _scale(table, passage) or usual.get(passage.citation.document, "")
            sheet = _sheet_fit(line.sheet, table, passage)
            for at, row in enumerate(table.rows):
                years_of_row = _years(row.cells)
                if at < HEADS or len(set(filter(None, years_of_row))) > 1:
                    columns = years_of_row or columns  # tables may follow each other without a gap
                    names = [of_a_year and bool(_INTERIM.search(cell)) for cell in row.cells]
                    interim = names if any(names) else interim
                fit = _label_fit(line, row.cell(0), row.group) * sheet
                rows.append({})
                for year in years if fit >= FAINT else ():
                    cell = _cell(row.cells, columns, interim, year)
                    value = _value(cell) if cell is not None else None
                    if cell is not None and value is not None:
                        value = SCALES[scale] * (abs(value) if line.outflow else value)
                        rows[-1][year] = Reported(
                            name, row.cell(0), year, cell, value, scale, passage, fit
                        )
            if any(columns):
                before = (passage, columns)
    filled = [row for row in rows if row]
    filled.sort(key=lambda row: (-len(row), -max(figure.fit for figure in row.values())))
    return {year: figure for row in reversed(filled) for year, figure in row.items()}


def _continues(before: Passage, passage: Passage) -> bool:
    citation, other = before.citation, passage.citation
    return citation.document == other.document and 0 <= other.index - citation.index <= 1


def _years(cells: Sequence[str]) -> list[int | None]:
    """The year of each column, if these are its names; otherwise nothing."""
    years = [_year(cell) for cell in cells]
    is_head = any(years[1:]) and not any(
        year is None and _value(cell) is not None and cell.strip() not in _NOTHING
        for cell, year in zip(cells[1:], years[1:], strict=True)
    )
    return years if is_head else []


def _year(cell: str) -> int | None:
    years = _YEAR.findall(cell)
    return int(years[-1]) if years and len(cell) < 60 else None


def _above(passage: Passage) -> tuple[str, ...]:
    return passage.citation.title, *passage.citation.headings


def _cell(
    cells: Sequence[str], columns: Sequence[int | None], interim: Sequence[bool], year: int
) -> str | None:
    """The first column of this year, and of all of it, that has a figure. A label that takes a cell
    more or less than the header has moves the row; then its figures are counted from the end."""
    places = [
        at
        for at, column_year in enumerate(columns)
        if column_year == year and at and not (at < len(interim) and interim[at])
    ]
    if not places:
        return None
    shift = len(cells) - len(columns)
    for at in places:
        for place in dict.fromkeys((at, at + shift)):
            if 0 < place < len(cells) and (
                cells[place] in _NOTHING or _value(cells[place]) is not None
            ):
                return cells[place]
    return None


def _value(cell: str) -> float | None:
    if cell.strip() in _NOTHING:
        return 0.0
    match = _FIGURE.fullmatch(cell.strip())
    if match is None:
        return None
    number = float(match[1].replace(",", ""))
    return -number if set("(-–−") & set(cell) else number


def _label(text: str) -> str:
    plain = re.sub(r"\([^)]*\)", " ", fold(text).replace("’", "'")).replace("'", "")
    return " ".join(re.sub(r"[^\w&]", " ", plain).split())


def _label_fit(line: Line, label: str, group: str) -> float:
    own_label = _label(label)
    for at, pattern in enumerate(line.labels):
        if re.fullmatch(pattern, own_label):
            return 1.0 - 0.1 * at
    whole = _label(f"{group} {label}")
    if own_label in ("total", "net", "total net") and any(
        re.fullmatch(pattern, f"{own_label} {_label(group)}") or re.fullmatch(pattern, whole)
        for pattern in line.labels
    ):
        return 0.7
    return 0.0


def _sheet_fit(sheet: Sheet, table: Table, passage: Passage) -> float:
    """Whether a table belongs to the statement that has the line: inventories in a cash flow
    statement are a change."""
    rows = "\n".join(f"{row.group} {row.cell(0)}" for row in table.rows)
    text = "\n".join((table.caption, *table.names, *passage.citation.headings, rows))
    signs = Counter({kind: len(pattern.findall(text)) for kind, pattern in _SIGNS.items()})
    titled = [kind for kind, pattern in _TITLES.items() if pattern.search(text)]
    most = max(signs.values())
    if sheet in titled:
        return 1.0
    if not most:
        return 0.5
    return 0.9 if signs[sheet] == most else 0.6 if signs[sheet] and not titled else 0.35


def _scale(table: Table, passage: Passage) -> str:
    text = "\n".join((passage.header, *table.names, table.caption, passage.text))
    match = _SCALE.search(text)
    return table.scale or ((match[1] or match[2]).lower() if match else "")


def _usual_scale(passages: Sequence[Passage]) -> dict[int, str]:
    """The scale that most tables of a document have: a page of a statement may not repeat it."""
    scales: dict[int, Counter[str]] = {}
    for passage in passages:
        for match in _SCALE.finditer(passage.text):
            counts = scales.setdefault(passage.citation.document, Counter())
            counts[(match[1] or match[2]).lower()] += 1
    return {document: counts.most_common(1)[0][0] for document, counts in scales.items()}
