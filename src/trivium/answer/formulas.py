"""Formulas over the lines of a company's statements, as people write them: "net income / average
equity". Knows the usual ratios by name, and computes a formula for a year from what a caller says
of the lines. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from trivium.answer.calculate import OPERATORS
from trivium.answer.lines import LINES
from trivium.text.normalise import fold

# Worked out from lines, in the notation that questions use for their own definitions.
DEFINED = {
    "gross profit": "revenue - cost of sales",
    "ebitda": "operating income + depreciation and amortization",
    "free cash flow": "cash from operations - capital expenditure",
    "working capital": "total current assets - total current liabilities",
}
RATIOS = {
    "gross margin": "(revenue - cost of sales) / revenue",
    "operating margin": "operating income / revenue",
    "net margin": "net income / revenue",
    "effective tax rate": "income taxes / pretax income",
    "current ratio": "total current assets / total current liabilities",
    "quick ratio": "(total current assets - inventories) / total current liabilities",
    "operating cash flow ratio": "cash from operations / total current liabilities",
    "return on assets": "net income / average total assets",
    "return on equity": "net income / average equity",
    "fixed asset turnover": "revenue / average property, plant and equipment",
    "asset turnover": "revenue / average total assets",
    "inventory turnover": "cost of sales / average inventories",
    "days payable outstanding": "365 * average accounts payable / cost of sales",
    "days sales outstanding": "365 * average receivables / revenue",
    "days inventory outstanding": "365 * average inventories / cost of sales",
    "payout ratio": "dividends paid / net income",
    "retention ratio": "1 - dividends paid / net income",
    "debt to equity": "long-term debt / equity",
    "cash conversion cycle": "365 * average inventories / cost of sales + 365 * average receivables"
    " / revenue - 365 * average accounts payable / cost of sales",
    "free cash flow conversion": "(cash from operations - capital expenditure) / net income",
    "capital intensity": "capital expenditure / revenue",
    "interest coverage": "operating income / interest expense",
}
CALLED = {
    "gross profit margin": "gross margin", "operating profit margin": "operating margin",
    "operating income margin": "operating margin", "net profit margin": "net margin",
    "net income margin": "net margin", "profit margin": "net margin",
    "working capital ratio": "current ratio", "roa": "return on assets",
    "roe": "return on equity", "dpo": "days payable outstanding",
    "dso": "days sales outstanding", "dio": "days inventory outstanding",
    "dividend payout ratio": "payout ratio", "fcf": "free cash flow",
    "net working capital": "working capital", "unadjusted ebitda": "ebitda",
    "debt-to-equity": "debt to equity", "ccc": "cash conversion cycle",
    "fcf conversion": "free cash flow conversion", "capital-intensive": "capital intensity",
    "capital intensive": "capital intensity", "ratio of current assets": "current ratio",
}  # fmt: skip
YEARS = re.compile(
    r"(?i)\b(?:FY\s?'?|fiscal (?:year )?|year end )?(?P<year>(?:19|20)\d\d)\b|\bFY\s?'?(?P<short"
    r">\d\d)\b"
)
_BETWEEN = re.compile(r"\bbetween (?:fy)?\s?\d{4} and (?:fy)?\s?\d{4}")
Value = Callable[[str, int], float]  # of a line in a year; raises KeyError


@dataclass(frozen=True, slots=True)
class Formula:
    """`text` as people read it; `at` computes it for a year."""

    text: str
    lines: tuple[str, ...]
    at: Callable[[Value, int], float]
    reaches_back: bool = False  # needs the year before too
    is_ratio: bool = False


def plain(text: str) -> str:
    """Without punctuation that formulas don't need."""
    folded = fold(text).replace("’", "'").replace("'s", "").replace("cashflow", "cash flow")
    return " ".join(re.sub(r"[^\w&%+*/().\- ]", " ", folded).replace("(", " ( ").split())


ASKED = sorted(
    (
        (" ".join(name.replace(",", " ").split()), line.name)
        for line in LINES
        for name in line.asked
    ),
    key=lambda pair: -len(pair[0]),
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<op>[-+*/()])|(?P<line>"
    + "|".join(re.escape(name) for name, _ in ASKED)
    + r")(?!\w)|(?P<call>average|change in)\b|(?P<word>[\w&%.]+))"
)
_LINE_OF = dict(ASKED)
_NEEDLESS = re.compile(r"\(((?:(?! [-+*/] )[^()])*)\)")  # brackets around one thing
_READ = (
    ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.UnaryOp,
    ast.Invert, ast.UAdd,
)  # fmt: skip


def lines_in(low: str) -> list[str]:
    """The lines that a text names, in order; each part of the text counts once, for the longest
    name."""
    matches: list[tuple[int, int, str]] = []
    for name, line in ASKED:
        for match in re.finditer(rf"(?<![\w&]){re.escape(name)}(?!\w)", low):
            if not any(a < match.end() and match.start() < b for a, b, _ in matches):
                matches.append((match.start(), match.end(), line))
    return list(dict.fromkeys(line for _, _, line in sorted(matches)))


def formula(text: str, defined: dict[str, str]) -> Formula | None:
    """A formula as people write it; None if it isn't one over lines of statements."""
    for phrase, sign in (("divided by", "/"), ("less", "-"), ("minus", "-"), ("plus", "+"),
                       ("times", "*"), ("×", "*"), ("÷", "/"), ("–", "-"), ("−", "-")):  # fmt: skip
        text = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", f" {sign} ", text)
    text = re.sub(r"\[[^\]]*\]|\((?:from|as)\b[^)]*\)", " ", text)
    text = YEARS.sub(" ", _BETWEEN.sub(" ", plain(text)))
    for name in sorted(defined, key=len, reverse=True):
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if re.sub(r"\W", "", name) != re.sub(r"\W", "", text) and whole.search(text):
            inner = YEARS.sub(" ", _BETWEEN.sub(" ", plain(defined[name])))
            text = whole.sub(f" ( {inner} ) ", text)
    tokens = [(m.lastgroup, m[m.lastgroup or 0]) for m in _TOKEN.finditer(text)]
    lines = [_LINE_OF[token] for kind, token in tokens if kind == "line"]
    names = {name: f"line_{at}" for at, name in enumerate(lines)}
    # Python's own grammar reads it, with a sign for each word that stands before a line.
    signs = {"average": "~", "change in": "+"}
    code = [
        names[_LINE_OF[token]] if kind == "line" else signs.get(token, token)
        for kind, token in tokens
        if kind != "word"
    ]
    display = " ".join(_LINE_OF.get(token, token) for kind, token in tokens if kind != "word")
    try:
        tree = ast.parse(" ".join(code), mode="eval").body
    except SyntaxError:
        return None
    if not names or not all(isinstance(node, _READ) for node in ast.walk(tree)):
        return None
    display = _NEEDLESS.sub(r"\1", re.sub(r"\( | \)", lambda m: m[0].strip(), display))
    back = any(isinstance(node, ast.UnaryOp) for node in ast.walk(tree))
    meant = {code: name for name, code in names.items()}
    return Formula(display, tuple(names), partial(_value, tree, meant), back, "/" in display)


def _value(node: ast.expr, names: dict[str, str], value: Value, year: int) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return value(names[name], year)
        case ast.UnaryOp(op=op, operand=inner):
            now, before = (_value(inner, names, value, at_year) for at_year in (year, year - 1))
            return (now + before) / 2 if isinstance(op, ast.Invert) else now - before
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](
                _value(left, names, value, year), _value(right, names, value, year)
            )
    raise KeyError(ast.dump(node))
