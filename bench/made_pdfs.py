"""Makes the PDF files whose rows, headers, heads, order and titles are known beforehand.

Annual reports in many settings, and small files for one trouble each. A seed gives the same bytes
every time. Knows how to print, not how to judge: `bench.reports` does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.pdf_writer import SCRIPT, Sheet, build, width

TOP, FOOT = 72.0, 792 - 72.0
_WORDS_TEXT = (
    "the company believes that its results of operations depend on demand for products and "
    "services in each region where customers buy them under contracts whose terms vary and "
    "management reviews estimates at least once a quarter because changes in cost or price "
    "could affect net income while cash from operations remains sufficient to fund planned "
    "investment during years to come subject to risks described elsewhere in this report "
    "including currency and interest"
)
_WORDS = _WORDS_TEXT.split()
_LABELS_TEXT = (
    "Net sales|Cost of sales|Gross margin|Research and development|Selling, general and "
    "administrative|Operating income|Interest expense|Other income, net|Income before "
    "taxes|Provision for income taxes|Net income|Cash and cash equivalents|Accounts "
    "receivable, net|Inventories|Prepaid expenses and other|Property, plant and "
    "equipment|Goodwill|Intangible assets|Accounts payable|Accrued liabilities|Deferred "
    "revenue|Long-term debt|Retained earnings|Depreciation and amortization|Stock-based "
    "compensation|Capital expenditures|Dividends paid|Repurchases of common stock|Foreign "
    "currency translation|Pension obligations"
)
_LABELS = _LABELS_TEXT.split("|")
_WRAPPED = (
    ("Proceeds from the issuance of common stock under", "employee plans, net of taxes withheld"),
    ("Unrealized gains and losses on derivative contracts", "designated as hedges of cash flows"),
)
_COMPANIES = (
    ("NORTHWIND HARBOR CORPORATION", "Delaware"),
    ("Brackwater Foods, Inc.", "Ohio"),
    ("ALDERMERE ENERGY COMPANY", "Texas"),
    ("Quillfeather Holdings plc", "Ireland"),
)


@dataclass
class Row:
    """A printed row: its label, its values by column (empty where nothing is printed)."""

    label: str
    values: list[str]

    @property
    def printed(self) -> str:
        return " ".join([self.label, *(value for value in self.values if value)])


@dataclass
class Grid:
    """A table: the name of each value's column (empty: it has no header) and its rows."""

    names: list[str]
    rows: list[Row] = field(default_factory=list)


@dataclass
class Made:
    """A file, and what a reader must find in it."""

    name: str
    data: bytes
    grids: list[Grid] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # lines that are text, not running heads
    once: list[str] = field(default_factory=list)  # running heads: one copy at most may stay
    numbers: list[str] = field(default_factory=list)  # page numbers: none should stay
    ordered: list[str] = field(default_factory=list)  # stretches of text in reading order
    title: str = ""  # must stand in the title
    sections: list[str] = field(default_factory=list)  # headings, in order
    pages: int = 1


@dataclass
class Look:
    """How one report is set."""

    face: str
    bold: str
    size: float
    step: float
    years: int
    dollars: str  # "apart": at the column's left edge; "near": before the number; "none"
    closing: bool  # a negative number's ")" is printed by itself, right of the column
    header: str  # "years", "spanned", "units", "dated", "none"
    bold_header: bool
    full: bool  # tables reach both margins, as the prose does
    foot: str  # "number", "dashed", "section", "company"
    head: str  # "", "contents", "company"
    leaders: bool  # dots lead from a label to its first value
    parts: bool  # labels of parts are bold capitals


class Report:
    """An annual report on its way: a cover, prose and tables, page by page."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        serif = pick((True, False))
        self.look = Look(
            face="Times-Roman" if serif else "Helvetica",
            bold="Times-Bold" if serif else "Helvetica-Bold",
            size=pick((8.0, 9.0, 10.0)),
            step=pick((1.15, 1.25, 1.5)),
            years=pick((2, 2, 3, 3, 5)),
            dollars=pick(("apart", "apart", "near", "none")),
            closing=pick((True, False)),
            header=("years", "spanned", "units", "dated", "none")[seed % 5],
            bold_header=pick((True, False)),
            full=pick((True, True, False)),
            foot=("number", "dashed", "section", "company")[seed // 2 % 4],
            head=("", "contents", "company")[seed % 3],
            leaders=seed % 5 == 2,
            parts=seed % 2 == 1,
        )
        self.company, self.state = _COMPANIES[seed % len(_COMPANIES)]
        self.sheets: list[Sheet] = []
        self.made = Made(f"report-{seed}.pdf", b"")
        self.left, self.right = (54.0, 612 - 54.0)
        self.y = TOP
        self._cover()
        self._page()

    def _page(self) -> None:
        sheet = Sheet()
        look, number = self.look, len(self.sheets) + 1
        self.sheets.append(sheet)
        self.y = TOP
        if number == 1:
            return
        foot = {
            "number": str(number),
            "dashed": f"F-{number}",
            "section": f"Part II  {number}",
            "company": f"{self.company} | 2023 Form 10-K | {number}",
        }[look.foot]
        sheet.put_centred(306, 760, foot, look.face, 8)
        self.made.numbers.append(foot)
        if look.head:
            head = "Table of Contents" if look.head == "contents" else self.company
            sheet.put(self.left, 40, head, look.face, 8)

    def _cover(self) -> None:
        self._page()
        sheet, look = self.sheets[0], self.look
        middle = 306
        sheet.put_centred(middle, 80, "UNITED STATES", look.bold, 14)
        sheet.put_centred(middle, 98, "SECURITIES AND EXCHANGE COMMISSION", look.bold, 14)
        sheet.put_centred(middle, 116, "Washington, D.C. 20549", look.bold, 10)
        sheet.put_centred(middle, 150, "FORM 10-K", look.bold, 18)
        sheet.put(60, 180, "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE ACT", look.bold, 9)
        sheet.put_centred(middle, 200, "For the fiscal year ended December 31, 2023", look.face, 9)
        sheet.put_centred(middle, 250, self.company, look.bold, 16)
        caption = "(Exact name of registrant as specified in its charter)"
        sheet.put_centred(middle, 264, caption, look.face, 8)
        sheet.put_centred(180, 300, self.state, look.bold, 9)
        sheet.put_centred(420, 300, "41-0417775", look.bold, 9)
        sheet.put_centred(180, 312, "(State of incorporation)", look.face, 8)
        sheet.put_centred(420, 312, "(IRS Employer Identification No.)", look.face, 8)
        self.y = 340
        self.prose(8)
        self.made.title = self.company

    def room(self, points: float) -> None:
        if self.y + points > FOOT:
            self._page()

    def prose(self, lines: int) -> None:
        """Justified lines, the last one short."""
        look = self.look
        words = [self.random.choice(_WORDS) for _ in range(lines * 40)]
        words[0] = words[0].capitalize()
        at = 0
        for number in range(lines):
            self.room(look.size)
            line: list[str] = []
            while (
                width(" ".join([*line, words[at]]), look.face, look.size) < self.right - self.left
            ):
                line.append(words[at])
                at += 1
            if number == lines - 1:
                half = " ".join(line[: len(line) // 2]) + "."
                self.sheets[-1].put(self.left, self.y, half, look.face, look.size)
            else:
                plain = sum(width(word, look.face, look.size) for word in line)
                gap = (self.right - self.left - plain) / (len(line) - 1)
                x = self.left
                for word in line:
                    self.sheets[-1].put(x, self.y, word, look.face, look.size)
                    x += width(word, look.face, look.size) + gap
            self.y += 1.2 * look.size
        self.y += 0.8 * look.size

    def heading(self, lines: Sequence[str]) -> None:
        look = self.look
        self.room(6 * look.size)
        self.y += 0.8 * look.size
        for line in lines:
            self.sheets[-1].put(self.left, self.y, line, look.bold, look.size)
            self.y += 1.2 * look.size
        self.y += 0.2 * look.size

    def value(self) -> str:
        kind = self.random.random()
        number = f"{self.random.randint(2, 99_999):,}"
        if kind < 0.12:
            return "—"
        if kind < 0.3:
            return f"({self.random.randint(2, 999)})"
        if kind < 0.36:
            return f"{self.random.randint(1, 99)}.{self.random.randint(0, 9)}%"
        return number

    def table(self, count: int, *, header: str = "") -> None:
        look = self.look
        header = header or look.header
        edge = self.right if look.full else self.right - self.random.randint(40, 120)
        across = max(46.0, 6.2 * look.size)
        ends = [edge - across * (look.years - 1 - at) for at in range(look.years)]
        line = look.step * look.size
        self.room(min(count + 4, 12) * line)
        years = [str(2023 - at) for at in range(look.years)]
        grid = Grid([] if header == "none" else years)
        self.made.grids.append(grid)
        self._header(header, years, ends)
        first = ends[0] - across + 6
        fitting = [x for x in _LABELS if width(x, look.bold, look.size) < first - self.left - 12]
        count = min(count, len(fitting))
        labels = self.random.sample(fitting, count)
        for at, name in enumerate(labels):
            label = name
            if at and at % 5 == 3:  # a label that has no figures
                self.y += 0.3 * line
                part = self.random.choice(fitting)
                if look.parts:
                    self._cell_line(self.left, part.upper(), look.bold)
                else:
                    self._cell_line(self.left, f"{part}:")
            indent = self.left + (10 if at % 3 else 0)
            above = ""
            if self.random.random() < 0.08 and look.years < 5:
                above, label = self.random.choice(_WRAPPED)
                self._cell_line(indent, above)
                indent += 10
            values = [self.value() for _ in range(look.years)]
            if all(value == "—" for value in values):
                values[0] = f"{self.random.randint(100, 999)}"
            total = at in (count - 1, count // 2)
            self._row(indent, label, values, ends, dollars=at == 0 or total, bold=total)
            grid.rows.append(Row(f"{above} {label}".strip(), values))
            if total:
                self.y += 0.25 * line
        self.y += 1.2 * look.size

    def _header(self, header: str, years: list[str], ends: list[float]) -> None:
        look = self.look
        face = look.bold if look.bold_header else look.face
        line = look.step * look.size
        if header == "none":
            return
        sheet = self.sheets[-1]
        if header == "spanned":
            middle = (ends[0] - 30 + ends[-1]) / 2
            sheet.put_centred(middle, self.y, "Years Ended December 31,", face, look.size)
            self.y += line
        if header == "dated":
            for end in ends:
                sheet.put_right(end, self.y, "Dec. 31,", face, look.size)
            self.y += line
        if header == "units":
            sheet.put(self.left, self.y, "(Dollars in millions)", face, look.size)
        for year, end in zip(years, ends, strict=True):
            sheet.put_right(end - 4, self.y, year, face, look.size)
        self.y += line

    def _cell_line(self, x: float, text: str, face: str = "") -> None:
        self.room(self.look.size)
        self.sheets[-1].put(x, self.y, text, face or self.look.face, self.look.size)
        self.y += self.look.step * self.look.size

    def _row(
        self,
        indent: float,
        label: str,
        values: list[str],
        ends: list[float],
        *,
        dollars: bool,
        bold: bool,
    ) -> None:
        look = self.look
        self.room(look.size)
        sheet = self.sheets[-1]
        face = look.bold if bold else look.face
        sheet.put(indent, self.y, label, face, look.size)
        across = max(46.0, 6.2 * look.size)
        if look.leaders:
            x = indent + width(label, face, look.size) + 3
            dots = "." * int((ends[0] - across + 4 - x) / width(".", face, look.size))
            sheet.put(x, self.y, dots, face, look.size)
        for value, end in zip(values, ends, strict=True):
            figure = not value.endswith("%")
            if dollars and figure and look.dollars == "apart":
                sheet.put(end - across + 10, self.y, "$", face, look.size)
            shown = f"${value}" if dollars and figure and look.dollars == "near" else value
            if shown.endswith((")", "%")) and look.closing:
                sheet.put_right(end, self.y, shown[:-1], face, look.size)
                sheet.put(end + 0.5, self.y, shown[-1], face, look.size)
            else:
                sheet.put_right(end, self.y, shown, face, look.size)
        self.y += look.step * look.size

    def contents(self) -> None:
        """A page that lists parts and pages, with dots between."""
        look = self.look
        self.heading(["TABLE OF CONTENTS"])
        for item in range(1, 9):
            name = f"Item {item}. {self.random.choice(_LABELS)}"
            self.sheets[-1].put(self.left, self.y, name, look.face, look.size)
            self.sheets[-1].put_right(self.right, self.y, str(item * 7), look.face, look.size)
            self.made.kept.append(f"{name} {item * 7}")
            self.y += 1.3 * look.size

    def end(self) -> Made:
        self.made.data = build(self.sheets)
        self.made.pages = len(self.sheets)
        if self.look.head == "contents":
            self.made.once.append("Table of Contents")
        return self.made


def report(seed: int) -> Made:
    """Some ten pages: prose, large and small tables, tables under headings of two lines."""
    book = Report(seed)
    book.contents()
    for part in range(8):
        book.heading([f"Item {part + 1}. {book.random.choice(_LABELS)}"])
        book.prose(book.random.randint(3, 9))
        book.table(book.random.randint(8, 20))
        book.prose(book.random.randint(2, 5))
        if part % 2:
            book.heading(["CONSOLIDATED STATEMENTS OF", "FINANCIAL POSITION AND CASH FLOWS"])
            book.table(book.random.randint(4, 9))
        book.table(2)
        book.prose(3)
        book.table(3, header="none")
    return book.end()


def numbered_rows() -> Made:
    """Rows at the edges of pages that begin or end with the page's number, rows of bare digits,
    years over a table that goes on."""
    made = Made("numbered-rows.pdf", b"", pages=6)
    sheets = []
    draw = random.Random(5)
    for number in range(1, 7):
        sheet = Sheet()
        sheets.append(sheet)
        sheet.put_centred(306, 770, f"- {number} -", size=9)
        first = f"{number} Harbour dues of quay {draw.choice('ABCDEFGH')}{draw.randint(10, 99)}"
        last = f"Sum of the berths of ward {draw.randint(100, 999)} {number}"
        sheet.put(72, 60, first)
        for at, year in enumerate(("2023", "2022", "2021")):
            sheet.put_right(350 + 80 * at, 82, year)
        grid = Grid(["2023", "2022", "2021"])
        for at in range(38):
            values = [str(draw.randint(1, 9999)) for _ in range(3)]
            label = f"Berth {draw.choice('KLMNPQR')}{draw.randint(100, 999)}"
            sheet.put(72, 98 + 16 * at, label)
            for column, value in enumerate(values):
                sheet.put_right(350 + 80 * column, 98 + 16 * at, value)
            grid.rows.append(Row(label, values))
        sheet.put(72, 730, last)
        made.kept += [first, last]
        made.grids.append(grid)
    made.data = build(sheets)
    return made


def copied_letters() -> Made:
    """Two letters that are alike but for the name: nothing in them is a running head."""
    made = Made("letters.pdf", b"", pages=2)
    sheets = []
    body = [" ".join(_WORDS[at : at + 11]) for at in range(0, 55, 11)]
    for name in ("Ada Byron", "Mary Somerville"):
        sheet = Sheet()
        sheets.append(sheet)
        sheet.put(72, 60, "Harbour Office, 3 Quay Street, Portsmouth")
        sheet.put(72, 100, f"Dear {name},")
        for at, line in enumerate(body):
            sheet.put(72, 130 + 13 * at, line)
        sheet.put(72, 740, "Yours faithfully, the harbour master")
        made.kept += [f"Dear {name},"]
    made.kept += [
        "Harbour Office, 3 Quay Street, Portsmouth",
        "Yours faithfully, the harbour master",
    ]
    made.kept += ["Harbour Office, 3 Quay Street, Portsmouth"]
    made.data = build(sheets)
    return made


def boxes() -> Made:
    """Pages that hold a few boxes of text, as slides do: the first lines differ, the last are
    numbers that count something."""
    made = Made("boxes.pdf", b"", pages=4)
    sheets = []
    draw = random.Random(9)
    for number in range(4):
        sheet = Sheet(across=720, down=405)
        sheets.append(sheet)
        for x, name in ((40, "North"), (260, "South"), (480, "West")):
            first = f"{name} pier {draw.randint(100, 999)}"
            sheet.put(x, 40, first, "Helvetica", 14)
            sheet.put(x, 58, f"{draw.choice(_WORDS)} {draw.choice(_WORDS)}", "Helvetica", 14)
            sheet.put(x, 375, str(draw.randint(10, 9999)), "Helvetica", 14)
            made.kept.append(first)
        sheet.put(40, 200, f"Slide about {_WORDS[number]}", "Helvetica-Bold", 24)
    made.data = build(sheets)
    return made


def only_numbers() -> Made:
    """Pages with nothing but a number: they are the text."""
    sheets = []
    for number in (1200, 1350, 1500):
        sheet = Sheet()
        sheet.put_centred(306, 740, str(number), size=24)
        sheets.append(sheet)
    return Made("numbers.pdf", build(sheets), kept=["1200", "1350", "1500"], pages=3)


def three_columns() -> Made:
    """Prose in three columns below a wide heading, written row by row."""
    made = Made("three-columns.pdf", b"", pages=2)
    sheets = []
    draw = random.Random(3)
    for number in range(2):
        sheet = Sheet()
        sheets.append(sheet)
        if not number:
            sheet.put_centred(306, 70, "The Harbour Gazette in Three Columns", "Times-Bold", 18)
        columns = [[_line(draw, 160, "Times-Roman", 9) for _ in range(50)] for _ in range(3)]
        for at in range(50):
            for x, lines in zip((54, 226, 398), columns, strict=True):
                sheet.put(x, 110 + 11 * at, lines[at], "Times-Roman", 9)
        made.ordered += [
            " ".join(lines[at : at + 2]) for lines in columns for at in range(0, 50, 2)
        ]
    made.data = build(sheets)
    return made


def _line(draw: random.Random, across: float, face: str, size: float) -> str:
    line: list[str] = []
    while True:
        word = draw.choice(_WORDS)
        if width(" ".join([*line, word]), face, size) > across:
            return " ".join(line)
        line.append(word)


def right_to_left() -> Made:
    """Hebrew and Arabic prose with numbers and Latin inside, printed as a reader sees it."""
    texts = (
        "הנמל נפתח בשנת 1903 על ידי חברת Harbour Works והוא משרת",
        "כיום 24 ספינות ביום ומעסיק 310 עובדים בשלוש משמרות קבועות",
        "افتتح الميناء عام 1903 من قبل شركة Harbour Works وهو يخدم",
        "اليوم 24 سفينة في اليوم ويعمل فيه 310 عاملا في ثلاث نوبات",
    )
    sheet = Sheet()
    for at, text in enumerate(texts):
        x = 540.0
        for run in _runs(text):
            wide = width(run, SCRIPT, 10)
            x -= wide
            sheet.put(x, 100 + 14 * at, run if run.isascii() else run[::-1], SCRIPT, 10)
            x -= width(" ", SCRIPT, 10)
    return Made("right-to-left.pdf", build([sheet]), ordered=list(texts))


def _runs(text: str) -> list[str]:
    """Words in logical order, neighbouring Latin words and numbers as one."""
    runs: list[str] = []
    for word in text.split():
        if runs and word.isascii() and runs[-1].isascii():
            runs[-1] += f" {word}"
        else:
            runs.append(word)
    return runs


def ideographs() -> Made:
    """Japanese and Chinese paragraphs of several lines."""
    texts = (
        "港は一九〇三年に開かれ、現在では一日に二十四隻の船が出入りし、三百十人の従業員が三交代で働いている。荷役の大部分は夜間に行われる。",
        "港口于一九〇三年开放，如今每天有二十四艘船只进出，三百一十名员工分三班工作。大部分装卸作业在夜间进行，以避开白天的客运高峰时段。",
    )
    sheet = Sheet()
    y = 100.0
    for text in texts:
        for at in range(0, len(text), 30):
            sheet.put(100, y, text[at : at + 30], SCRIPT, 10)
            y += 14
        y += 20
    return Made("ideographs.pdf", build([sheet]), ordered=list(texts))


def wrapped_cells() -> Made:
    """Labels over several lines, with their figures beside the last or between them, under names
    over several lines; sentences in cells that run over several lines."""
    made = Made("wrapped-cells.pdf", b"", pages=2)
    draw = random.Random(11)
    figures, words = Sheet(), Sheet()
    for line, names in enumerate((("Gross", "Net"), ("carrying", "carrying"), ("2023", "2022"))):
        for at, name in enumerate(names):
            figures.put_centred(380 + 90 * at, 60 + 14 * line, name)
    grid = Grid(["Gross carrying 2023", "Net carrying 2022"])
    y = 108.0
    for at in range(18):
        first, second = f"Berths of quay {draw.randint(100, 999)} let", "to the ferries of the bay"
        values = [f"{draw.randint(1000, 99999):,}" for _ in range(2)]
        figures.put(72, y, first)
        figures.put(72, y + 14, second)
        for column, value in enumerate(values):
            figures.put_right(395 + 90 * column, y + (7 if at % 2 else 14), value)
        grid.rows.append(Row(f"{first} {second}", values))
        y += 32
    made.grids.append(grid)
    cells = (
        ("Leases of", "Recognise them in the", "January 1,"),
        ("land", "balance sheet.", "2019"),
    )
    whole = Row("Leases of land", ["Recognise them in the balance sheet.", "January 1, 2019"])
    for at in range(12):
        for step, row in enumerate(cells):
            for x, cell in zip((72, 160, 360), row, strict=True):
                words.put(x, 80 + 36 * at + 13 * step, cell)
    made.grids.append(Grid([], [whole] * 12))
    made.data = build([figures, words])
    return made


def scanned_prose() -> Made:
    """A text layer in narrower letters than the page: every word stands alone."""
    sheet = Sheet()
    lines = (
        "based upon the relations which are found to hold in",
        "the blocks of the graph, and as well as in the same",
        "block, so that what follows can be moved and changed",
    )
    for at, line in enumerate(lines):
        x = 72.0
        for word in line.split():
            sheet.put(x, 100 + 13 * at, word)
            x += 9.0 * (len(word) + 1)
    return Made("scanned-prose.pdf", build([sheet]), ordered=[" ".join(lines)], pages=1)


def contract() -> Made:
    """Exhibits of a report: titles of sections within their paragraphs, which begin again in each
    exhibit, a foot at any height, and annexes with their own page numbers."""
    foot, names = "All Rights Reserved by Harbour and Sons.", ("Grant of Rights", "Time of Payment")
    made = Made("contract.pdf", b"", once=[foot], numbers=["", *("A-1", "B-1")], pages=12)
    sheets = []
    for page in range(12):
        sheet, y = Sheet(), 60.0
        if page % 4 == 0:
            sheet.put(72, y, f"Exhibit 10.{page // 4 + 1}", "Times-Bold")
            # On the first page, whose lines are short, it counts as a cover's.
            made.sections += [f"Exhibit 10.{page // 4 + 1}"] if page else []
        for at, name in enumerate((*names, "Governing Law", "Counterparts")[page % 2 :: 2]):
            y += 30
            number = 2 * (page % 4) + at + 1
            sheet.put(72, y, f"{number}. {name}. The harbour pays what this section says of it.")
            made.sections.append(f"{number}. {name}.")
            for line in range(3 + page % 4):
                y += 12
                sheet.put(
                    72, y, f"and {'abcdefgh'[line]} of page {'abcdefghijkl'[page]} goes on so"
                )
        if page in (5, 9):
            sheet.put_centred(240, y + 25, f"{'AB'[page // 9]}-1")
        sheet.put_centred(306, y + 45, foot)
        sheets.append(sheet)
    made.data = build(sheets)
    return made


SMALL: tuple[Callable[[], Made], ...] = (
    numbered_rows,
    copied_letters,
    boxes,
    only_numbers,
    three_columns,
    right_to_left,
    ideographs,
    wrapped_cells,
    scanned_prose,
    contract,
)


def made_files(reports: int) -> list[Made]:
    """Every small file and as many reports."""
    return [*(report(seed) for seed in range(reports)), *(make() for make in SMALL)]
