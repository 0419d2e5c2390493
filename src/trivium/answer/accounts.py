"""Answers a question about a company's accounts from its statements: finds the figures, computes,
and shows the formula and the cells. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trivium.answer.formulas import DEFINED, formula
from trivium.answer.metrics import SCALES, Claim, Metric, Over
from trivium.answer.passages import Passage
from trivium.answer.reported import Reported, find
from trivium.core.types import Document
from trivium.text.normalise import fold, words

# Words of such questions that begin with a capital and name no company.
_NO_COMPANY = frozenset(
    words(
        "FY USD US P&L D&A EBITDA EBIT capex COGS DPO DSO DIO CCC ROA ROE FCF PPNE PP&E AR CAGR"
        " SG&A R&D M&A Q1 Q2 Q3 Q4 GAAP PPE EPS K year end answer define fixed inventory asset"
        " operating working net total free cash days return gross please here what how which was"
        " is by in the N.A. does did do has have had are was were can could should"
    )
)
_WORD = r"(?:[A-Z][\w&.-]*\w|\d+[A-Z]\w*|[A-Z])"
_NAME = re.compile(
    rf"(?<![\w&-])({_WORD}(?: (?:(?:of|and|&) )?{_WORD})*)(?P<owner>['’]s?\b|['’](?= ))?"
)
_YEARLY = re.compile(r"\bFY\s?'?\d{2,4}\b|\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Computed:
    text: str  # the answer, the formula and the cells
    value: float
    cells: tuple[Reported, ...]


def companies(question: str) -> list[str]:
    """Names in a question that may be a company's. A word that begins a sentence counts only as
    the beginning of a longer name, or as an owner: "Aon's revenue"."""
    names = []
    plain = _YEARLY.sub(" ", question)
    for match in _NAME.finditer(plain):
        name_words = [word for word in match[1].split() if not _NO_COMPANY.issuperset(words(word))]
        begins = not match.start() or plain[: match.start()].rstrip()[-1:] in ".?!:"
        begins = begins and match[1].split()[:1] == name_words[:1]
        if name_words and (not begins or match["owner"] or len(name_words) > 1):
            names.append(" ".join(name_words))
    return list(dict.fromkeys(names))


def belongs(document: Document, called: Sequence[str], texts: Iterable[str]) -> float:
    """How surely a document is a company's: its title or file says the name, or its text does."""
    if not called:
        return 1.0
    title = re.sub(r"\W|_", "", fold(f"{document.title} {document.uri.rpartition('/')[2]}"))
    if any(_squashed(name) in title for name in called):
        return 2.0
    body = fold("\n".join(texts))
    return 1.0 if any(fold(name) in body for name in called) else 0.0


def _squashed(name: str) -> str:
    return re.sub(r"\W|_", "", fold(name))


def compute(metric: Metric, passages: Sequence[Passage]) -> Computed | None:
    """None if a figure that the formula needs isn't reported."""
    used: dict[tuple[str, int], Reported] = {}
    figures_by_line: dict[str, dict[int, Reported]] = {}

    def value(line: str, year: int) -> float:
        if line not in figures_by_line:
            figures_by_line[line] = find(line, metric.needed, passages)
        reported = figures_by_line[line].get(year)
        if reported is not None:
            used[line, year] = reported
            return reported.value
        made = formula(DEFINED[line], {}) if line in DEFINED else None
        if made is None:
            raise KeyError(line)
        return made.at(value, year)

    try:
        figures = metric.figures(value)
        number = metric.compute(figures)
    except (KeyError, ZeroDivisionError):
        return None
    cells = tuple(used.values())
    return Computed(_worded(metric, figures, number, cells), number, cells)


def _worded(
    metric: Metric, figures: dict[str, float], number: float, cells: Sequence[Reported]
) -> str:
    years = "–".join(map(str, metric.years))
    amount = _amount(metric, number, cells)
    statement = f"{_verdict(metric, number)}{_name(metric)}, {years}: {amount}"
    sources = "; ".join(cell.told for cell in cells)
    if metric.over in (Over.MOST, Over.LEAST):
        first, *others = sorted(figures, key=lambda name: abs(figures[name] - number))
        rest = "; ".join(f"{name}: {_amount(metric, figures[name], cells)}" for name in others)
        rank = "highest" if metric.over is Over.MOST else "lowest"
        subject = f"{_capital(first)}, {years}" if metric.rivals else f"{first}"
        of_metric = "" if metric.rivals else f" {metric.name}"
        return f"{subject}: the {rank}{of_metric}, {amount} ({rest}) ({sources})"
    if metric.over is Over.CHANGE:
        before, after = figures.values()
        if len(cells) > len(figures):  # no cell says them
            change = replace(metric, over=Over.ONE)
            statement += f" ({_amount(change, before, cells)} → {_amount(change, after, cells)})"
        elif before > 0:
            statement += f" ({100 * number / before:+.1f} %)"
    if metric.over is Over.ONE and len(cells) == 1:
        return f"{statement} ({sources})"
    return f"{statement} = {metric.shown} ({sources})"


def _verdict(metric: Metric, number: float) -> str:
    """Yes or no, if the question wants one."""
    if metric.claim is None or not number:
        return "" if metric.claim is None else "No. "
    return "Yes. " if (metric.claim in (Claim.RISES, Claim.POSITIVE)) == (number > 0) else "No. "


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _name(metric: Metric) -> str:
    name = metric.name if metric.name != metric.formula.text else metric.formula.text
    beginnings = {Over.GROWTH: "Growth of ", Over.CHANGE: "Change in ", Over.MEAN: "Average "}
    return _capital(f"{beginnings.get(metric.over, '')}{name}")


def _amount(metric: Metric, number: float, cells: Sequence[Reported]) -> str:
    if metric.percent:
        unit = "percentage points" if metric.over is Over.CHANGE else "%"
        return f"{100 * number:,.{metric.decimals or 1}f} {unit}"
    if metric.formula.is_ratio or metric.over in (Over.GROWTH, Over.CAGR):
        return f"{number:,.{metric.decimals or 2}f}"
    unit = metric.unit or cells[0].scale
    if not all(cell.scale for cell in cells):
        unit = ""
    money = "$" if any("$" in cell.passage.text for cell in cells) else ""
    amount = abs(number) / SCALES[unit]
    text = f"{amount:,.{metric.decimals if metric.decimals is not None else 2}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'-' if number < 0 else ''}{money}{text} {unit}".strip()


def queries(metric: Metric, called: Sequence[str], question: str) -> tuple[str, str]:
    """What finds the statements: the company and the lines, then the company's report alone."""
    name, year = " ".join(called), metric.years[-1]
    named = dict.fromkeys(
        line for formula in metric.rivals or (metric.formula,) for line in formula.lines
    )
    lines = " ".join(words(f"{name} {year} {' '.join(named)}"))
    return lines, f"{name} {year} annual report" if called else question
