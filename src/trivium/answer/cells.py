"""Finds the cell of a table that answers a question: its row and its column both have labels that
the question names. Also whole columns, and the row with the most of something. Pure but for the
likeness of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isnan, nan

from trivium.answer.likeness import Likeness
from trivium.answer.passages import Passage
from trivium.answer.question import Bag, Question, Term, bag, initials
from trivium.answer.structure import EMPTY, Row, Table
from trivium.text.lexicon.dates import times
from trivium.text.lexicon.grammar import DENIED, ORDINALS
from trivium.text.lexicon.measures import COSTS, NONE, SUMMED, SUMS
from trivium.text.lexicon.quantities import figures, quantities
from trivium.text.lexicon.questions import COUNTS, Asks
from trivium.text.normalise import words

AROUND = 0.9  # weight of a term that a heading or caption says, compared with one in the labels
BESIDE = 0.75  # and of a name that only the text beside the table says
# The share of a question's terms, by weight, that labels, headings and caption must say together.
LEAST_SAID = 0.75
LEAST_LIKE = 0.6  # from this likeness on, a column's name says a term in another word
MOST_IN_ROW = 4  # cells of a row that is an answer as a whole
MOST_SUMMANDS = 8  # that a sum shows one by one
_ASIDE = re.compile(r"\([^)]*\)")
_LEADS = re.compile(r"[-–(+]?[$€£]?\d")
_MONEY = re.compile(r"[(-]?\s?[$€£¥]\s?[\d.,]*\d\)?|[(-]?\d[\d.,]*\)?")
_UNSCALED = re.compile(r"\bper[ -]\w+|percent|%|\bshare\b|\bratio\b|\bnumber of\b", re.I)


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """A cell, or several, that answer a question."""

    text: str  # row, column, value and unit
    value: str
    said: float  # 0..1, of the question's terms by weight
    fit: float  # the same, but lower for labels that say more than was asked
    passage: Passage


@dataclass(frozen=True)
class TableReading:
    """A table in the light of a question: which cells, names and headings say which terms."""

    table: Table
    question: Question
    passage: Passage
    likeness: Likeness

    @cached_property
    def names(self) -> list[dict[Term, float]]:
        """What each column's name says."""
        columns = []
        for name in self.table.names:
            named = bag(name, self.passage.language)
            short = initials(self.question.terms, _ASIDE.sub("", name))
            shares = {}
            for term in self.question.terms:
                if _says(named, term) or term in short:
                    shares[term] = 1.0
                elif not term.firm:
                    like = self.likeness.between(term.word, named.words)
                    shares[term] = like if like >= LEAST_LIKE else 0.0
            columns.append({term: share for term, share in shares.items() if share})
        counts = [t for t in self.question.terms if t.generic and t.word in COUNTS][:1]
        self._say_instead(counts, COUNTS, columns)  # quantity: the column may say "Stock"
        costs = [t for t in self.question.terms if t.word in COSTS]
        self._say_instead(costs, SUMMED, columns)  # what was spent: the column says "Amount"
        return columns

    def _say_instead(
        self, terms: Sequence[Term], others: frozenset[str], columns: Sequence[dict[Term, float]]
    ) -> None:
        """Terms that no column says, of those with other names for them."""
        if any(term in some for term in terms for some in columns):
            return
        for name, some in zip(self.table.names, columns, strict=True):
            if not others.isdisjoint(words(name)):
                some.update(dict.fromkeys(terms, 1.0))

    @cached_property
    def around(self) -> dict[Term, float]:
        place = self.passage.citation
        units = " ".join(dict.fromkeys(self.table.units))
        text = "\n".join((place.title, *place.headings, self.table.caption, units))
        above = bag(text, self.passage.language)
        lines = self.passage.citation.text.splitlines()
        prose = [line for line in lines if " | " not in line]
        beside = bag("\n".join(prose), self.passage.language)
        shares = {}
        for term in self.question.terms:
            if above.says(term):
                shares[term] = AROUND
            elif term.firm and not term.figure and len(term.word) > 1 and beside.says(term):
                shares[term] = BESIDE  # the company that the paragraph above the table names
            elif not term.firm:
                shares[term] = AROUND * self.likeness.between(term.word, above.words)
        return shares

    @cached_property
    def rows(self) -> list[list[set[Term]]]:
        """For each row and cell, the terms that it says itself; the row's group comes last."""
        return [
            [self._in_cell(cell) for cell in (*row.cells, row.group)] for row in self.table.rows
        ]

    @cached_property
    def told_apart(self) -> set[Term]:
        """Names that some rows say and others don't: of "Works B", the row of Works A is none, even
        if the text beside the table names both."""
        every: list[set[Term]] = [set().union(*row) for row in self.rows]
        return {
            term
            for term in self.question.terms
            if term.firm and not term.figure and 0 < sum(term in s for s in every) < len(every)
        }

    def _in_cell(self, cell: str) -> set[Term]:
        if cell in EMPTY:
            return set()
        cell_words = bag(cell, self.passage.language)
        return {term for term in self.question.terms if _says(cell_words, term)}

    def cells(self) -> list[TableAnswer]:
        everywhere = [set().union(*row) for row in self.rows]
        common = set.intersection(*everywhere) if len(everywhere) > 1 else set()
        answers = []
        for row, terms_by_cell in zip(self.table.rows, self.rows, strict=True):
            for at, value in enumerate(row.cells):
                cell = self._cell(row, terms_by_cell, at, value, common)
                if cell is not None:
                    answers.append(cell)
        return answers

    def _cell(
        self, row: Row, terms_by_cell: Sequence[set[Term]], at: int, value: str, common: set[Term]
    ) -> TableAnswer | None:
        question = self.question
        if value in EMPTY or not _fits(question, value):
            return None
        if question.counted and not _LEADS.match(value):  # how many: no code such as VS-221
            return None
        by_name = self.names[at] if at < len(self.names) else {}
        others = [terms - by_name.keys() for i, terms in enumerate(terms_by_cell) if i != at]
        by_row = set().union(*others)
        alone = len(self.table.rows) == 1 and any(self.around.values())
        if self.told_apart - by_row - by_name.keys() or not (by_row - common or alone):
            return None
        if not by_name and not self._is_only_value(row, at):
            return None
        units = {term for term in terms_by_cell[at] if term.word in question.counted}
        if terms_by_cell[at] - units and not by_name:  # it says what was asked, so it is a label
            return None
        shares = {
            term: max(
                1.0 if term in by_row or term in units or (term.generic and by_name) else 0.0,
                by_name.get(term, 0.0),
                self.around.get(term, 0.0),
                AROUND * max((names.get(term, 0.0) for names in self.names), default=0.0),
            )
            for term in question.terms
        }
        if any(term.firm and not share for term, share in shares.items()):
            return None
        covered = sum(term.weight * share for term, share in shares.items()) / question.whole
        if covered < LEAST_SAID:
            return None
        label_at = _label(row, others, at)
        label = row.cell(label_at) if label_at is not None else ""
        exact = _precision(label, question, self.passage.language) if label else 1.0
        named = _precision(self.table.name(at), question, self.passage.language, by_name)
        fit = covered * (0.6 + 0.4 * exact) * (0.75 + 0.25 * named)
        text = self._value(row, at)
        return TableAnswer(self._worded(row, label, at), text, covered, fit, self.passage)

    def _is_only_value(self, row: Row, at: int) -> bool:
        """Whether no other figure, or time, in the row could be confused with it."""
        kind = {Asks.AMOUNT: figures, Asks.WHEN: times}.get(self.question.asks)
        if kind is None or (not at and kind is figures):
            return False
        return all(bool(kind(cell)) == (i == at) for i, cell in enumerate(row.cells))

    def _worded(self, row: Row, label: str, at: int) -> str:
        above = self.passage.citation.headings
        who = ", ".join(dict.fromkeys(part for part in (row.group, label) if part))
        who = who or (above[-1] if above else self.passage.citation.title)
        name = self.table.name(at)
        pages = self.passage.citation.pages
        page = f" (p. {pages[0]})" if pages else ""
        page = f" (pp. {pages[0]}–{pages[-1]})" if len(pages) > 1 else page
        return f"{who}{', ' if name else ''}{name}: {self._value(row, at)}{page}"

    def _value(self, row: Row, at: int) -> str:
        """A cell, with its column's unit if it has none; money with the scale of its table:
        "$17,606 million"."""
        value, unit = row.cell(at), self.table.unit(at)
        if unit and _is_bare(value):
            return f"{value} {unit}"
        is_scaled = (
            self.table.scale and _MONEY.fullmatch(value) and not _UNSCALED.search(row.cell(0))
        )
        return f"{value} {self.table.scale}" if is_scaled else value

    def column(self) -> TableAnswer | None:
        """The values of the column that the question names, in all rows, or in those that say the
        rest of it. "Which site makes no lamps" asks for the rows with nothing in that column."""
        question = self.question
        denied = {
            t
            for word in DENIED.findall(question.text)
            for t in question.terms
            if bag(word, self.passage.language).says(t)
        }
        best: TableAnswer | None = None
        for at, by_name in enumerate(self.names):
            first = next((term for term in question.terms if not term.figure), None)
            if question.sums:
                first = next((term for term in by_name if term.word in COSTS), None)
            if first is None or first not in by_name:
                continue
            rest = [term for term in question.terms if term not in by_name]
            terms_by_row = [
                (row, set().union(*terms_by_cell))
                for row, terms_by_cell in zip(self.table.rows, self.rows, strict=True)
            ]
            filters = {
                t for t in rest if any(t in s for _, s in terms_by_row) and not self.around.get(t)
            }
            matching = [
                row for row, s in terms_by_row if filters <= s and row.cell(at) not in EMPTY
            ]
            if denied:
                lacking = [i for i, by in enumerate(self.names) if i != at and denied & by.keys()]
                matching = [row for row in matching if any(_is_none(row.cell(i)) for i in lacking)]
            values = [row.cell(at) for row in matching if _is_no_sum(row.cell(at))]
            shares = {
                t: 1.0 if t in filters or t in by_name or t in denied else self.around.get(t, 0.0)
                for t in question.terms
            }
            if any(t.firm and not share for t, share in shares.items()):
                continue
            covered = sum(t.weight * s for t, s in shares.items()) / question.whole
            several = len(values) > 1 or bool(values and (denied or question.sums))
            if not several or covered < LEAST_SAID or (best is not None and covered <= best.said):
                continue
            if question.sums and filters:
                best = self._sum(matching, at, filters, covered)
            elif not question.sums:
                values = list(dict.fromkeys(values))
                text = f"{self.table.name(at)}: {'; '.join(values)}"
                best = TableAnswer(text, "; ".join(values), covered, covered, self.passage)
        return best

    def _sum(
        self, rows: Sequence[Row], at: int, filters: set[Term], covered: float
    ) -> TableAnswer | None:
        """What some rows add up to, with every summand."""
        cells = [row.cell(at) for row in rows if _is_no_sum(row.cell(0))]
        numbers = [_number(cell) for cell in cells]
        places = max((len(cell.rpartition(".")[2]) for cell in cells if "." in cell), default=0)
        label = [c for c in rows[0].cells if filters & self._in_cell(c)]
        named = f"{', '.join(label)}, {self.table.name(at)}"
        if any(isnan(number) for number in numbers):
            return None
        total = f"{fsum(numbers):,.{places}f}" if len(cells) > 1 else cells[0]
        text = f"{' + '.join(cells)} = {total}" if len(cells) > 1 else total
        text = text if len(cells) <= MOST_SUMMANDS else f"{total} ({len(cells)} rows)"
        return TableAnswer(f"{named}: {text}", total, covered, covered, self.passage)

    def row(self) -> TableAnswer | None:
        """The whole row that the question names, and no column of it: "What does E4 mean?"."""
        question, language = self.question, self.passage.language
        named = [
            at
            for at, terms_by_cell in enumerate(self.rows)
            if terms_by_cell[0]
            and _precision(self.table.rows[at].cell(0), question, language) == 1.0
        ]
        if len(named) != 1 or not 1 < len(self.table.rows[named[0]].cells) <= MOST_IN_ROW:
            return None
        row, row_terms = self.table.rows[named[0]], set().union(*self.rows[named[0]])
        shares = {t: 1.0 if t in row_terms else self.around.get(t, 0.0) for t in question.terms}
        covered = sum(term.weight * share for term, share in shares.items()) / question.whole
        if covered < LEAST_SAID or any(term.firm and not share for term, share in shares.items()):
            return None
        values = [
            f"{self.table.name(at)}: {cell}" if self.table.name(at) else cell
            for at, cell in enumerate(row.cells)
            if at and cell not in EMPTY
        ]
        text = f"{row.cell(0)}, {'; '.join(values)}"
        return TableAnswer(text, "; ".join(row.cells[1:]), covered, covered, self.passage)

    def most(self) -> TableAnswer | None:
        """The row with the most, or the least, in the column that the question names."""
        question = self.question
        best: TableAnswer | None = None
        for at, by_name in enumerate(self.names):
            if not at or not by_name:
                continue
            rows = [r for r in self.table.rows if figures(r.cell(at)) and _is_no_sum(r.cell(0))]
            shares = {
                t: max(
                    by_name.get(t, 0.0),
                    self.around.get(t, 0.0),
                    *(AROUND * n.get(t, 0.0) for n in self.names),
                )
                for t in question.terms
            }
            if len(rows) < 2 or any(t.firm and not share for t, share in shares.items()):
                continue
            covered = sum(t.weight * s for t, s in shares.items()) / question.whole
            named = sum(t.weight * s for t, s in by_name.items()) / question.whole
            if covered < LEAST_SAID:
                continue
            order = sorted(
                rows, key=lambda r: _number(r.cell(at)), reverse=not question.wants_least
            )
            row = order[0]
            rank = "lowest" if question.wants_least else "highest"
            text = f"{self._worded(row, row.cell(0), at)}, the {rank} of {len(rows)}"
            fit = covered * (0.8 + 0.2 * named)
            if best is None or fit > best.fit:
                best = TableAnswer(text, row.cell(0), covered, fit, self.passage)
        return best


def _says(label: Bag, term: Term) -> bool:
    """Of the name of a row or column; `Week 2` is the second week."""
    nth = ORDINALS.index(term.word) + 1 if term.word in ORDINALS else 0
    return label.says(term) or (nth > 0 and str(nth) in label.figures)


def _is_none(cell: str) -> bool:
    return cell in EMPTY or cell.casefold() in NONE


def _is_no_sum(label: str) -> bool:
    return SUMS.isdisjoint(bag(label, "").words)


def _number(cell: str) -> float:
    return next((quantity.value for quantity in quantities(cell) if quantity.readings), nan)


def _fits(question: Question, value: str) -> bool:
    """Whether a value is of the kind that was asked for."""
    if question.asks in (Asks.AMOUNT, Asks.WHEN):
        return bool(figures(value))
    if question.asks in (Asks.WHO, Asks.WHERE, Asks.NAME):
        return any(character.isalpha() for character in value)
    return True


def _label(row: Row, terms_by_cell: Sequence[set[Term]], at: int) -> int | None:
    """The cell that says most of the question, the first one if several do; otherwise the first
    cell."""
    order = [i for i in range(len(row.cells)) if i != at]
    if not order:
        return None
    places = dict(zip(order, terms_by_cell, strict=False))
    best = max(order, key=lambda i: (sum(t.weight for t in places[i]), -i))
    if places[best]:
        return best
    return 0 if at and not figures(row.cells[0]) else None


def _precision(
    label: str, question: Question, language: str, also: dict[Term, float] | None = None
) -> float:
    """The share of a label's words that the question says. "Total" may be there unasked: the
    revenue of a year is its total revenue, and not its cost of revenue."""
    plain = _ASIDE.sub(" ", label)
    parts = bag(plain, language).words
    in_question = [any(bag(part, language).says(t) for t in question.terms) for part in parts]
    counted = [
        is_said
        for part, is_said in zip(parts, in_question, strict=True)
        if is_said or part not in SUMS
    ]
    if not counted:
        return 1.0
    like = sum(share for share in (also or {}).values() if share < 1)
    return min(1.0, (sum(counted) + like) / len(counted))


def _is_bare(value: str) -> bool:
    """A figure without a unit of its own."""
    return re.fullmatch(r"[-+±]?[\d.,\s]+", value) is not None
