"""What a question about a company's accounts asks for, as a formula over lines of its statements:
"operating margin in FY2018", "growth of revenue from 2016 to 2017", or a definition that the
question gives itself ("defined as: cash from operations / total current liabilities"). Pure; in
English, as such reports are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import fmean

from trivium.answer.calculate import OPERATORS
from trivium.text.normalise import fold


class Sheet(StrEnum):
    """Which statement has a line."""

    INCOME = "income statement"
    BALANCE = "balance sheet"
    CASH = "cash flow statement"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a statement: what people call it, and patterns of how reports name it, the best
    first (compared with the whole label, without punctuation)."""

    name: str
    sheet: Sheet
    asked: str  # names, with | between
    labels: str
    outflow: bool = False  # reported as a negative or a positive figure, and meant as an amount


_NET = r"(?: less| net)?(?: of)?(?: allowances?.*| accumulated depreciation.*| current)?"
_INCOME, _BALANCE, _CASH = Sheet
LINES = (
    Line("revenue", _INCOME, "total net revenue|total revenues|total revenue|net revenues"
         "|net revenue|net sales|total sales|revenues|revenue|sales|turnover",
         r"total (?:net )?(?:operating )?(?:revenues?|sales);;net (?:operating )?(?:revenue"
         r"s?|sales)"
         r";;(?:operating )?(?:revenues?|sales)(?: net)?;;total revenues? and other income"
         r";;(?:sales|revenues?) and other operating (?:revenues?|income)"),
    Line("cost of sales", _INCOME, "cost of goods sold|cost of sales|cost of revenues"
         "|cost of revenue|cogs",
         r"total costs? of (?:sales|(?:net )?revenues?|goods sold);;costs? of (?:sales|(?:ne"
         r"t )?revenues?"
         r"|goods sold|products sold|goods|merchandise sold)(?: and .*| exclusive .*| exclu.*)?"),
    Line("gross profit", _INCOME, "gross profit", r"gross (?:profit|margin|income)"),
    Line("operating income", _INCOME, "unadjusted operating income|operating income|operatin"
         "g profit"
         "|operating earnings|income from operations|ebit",
         r"(?:total )?operating (?:income|profit|earnings)(?: loss)?;;(?:net )?(?:income|ear"
         r"nings|profit|loss)"
         r"(?: loss)? from (?:continuing )?operations;;operating loss(?: income)?"),
    Line("net income", _INCOME, "net income attributable to shareholders|net earnings|net income"
         "|net profit|net loss",
         r"(?:consolidated )?net (?:income|earnings|profit|loss)(?: loss| income)?"
         r";;net (?:income|earnings|loss)(?: loss| income)? attributable to (?!non|redeem).*"
         r";;(?:consolidated )?net (?:income|earnings)(?: loss)? (?:including|before) .*inte"
         r"rests?"),
    Line("pretax income", _INCOME, "income before taxes|pretax income|earnings before taxes",
         r"(?:net )?(?:income|earnings|loss)(?: loss)? (?:from continuing operations )?befor"
         r"e .*tax.*"),
    Line("income taxes", _INCOME, "income tax expense|provision for income taxes|income taxes",
         r"(?:provision|benefit|expense)?(?: benefit| provision)?(?: for| from)? ?income tax"
         r"(?:es)?"
         r"(?: expense| provision| benefit)*(?: expense| benefit)?;;taxes on .*", outflow=True),
    Line("interest expense", _INCOME, "interest expense", r"interest expense.*", outflow=True),
    Line("research and development", _INCOME, "research and development expenses"
         "|research and development|r&d", r"research (?:and|&) development.*", outflow=True),
    Line("selling, general and administrative", _INCOME,
         "selling, general and administrative|sg&a",
         r"selling general (?:and|&) administrative.*|selling and administrative.*", outflow=True),
    Line("total assets", _BALANCE, "total assets", r"total assets"),
    Line("total current assets", _BALANCE, "total current assets|current assets",
         r"total current assets"),
    Line("total current liabilities", _BALANCE, "total current liabilities|current liabilities",
         r"total current liabilities"),
    Line("total liabilities", _BALANCE, "total liabilities", r"total liabilities"),
    Line("equity", _BALANCE, "total stockholders equity|total shareholders equity|total equity"
         "|shareholders equity|stockholders equity|equity",
         r"total (?:stockholders|shareholders|shareowners|shareholder|stockholder)s? .*equity"
         r"(?: deficit)?;;total equity(?: deficit)?"),
    Line("inventories", _BALANCE, "total amount of inventories|inventories|inventory",
         r"total inventor(?:y|ies);;(?:merchandise )?inventor(?:y|ies)" + _NET),
    Line("receivables", _BALANCE, "net accounts receivable|accounts receivable|trade receivables"
         "|receivables|net ar",
         r"(?:total )?(?:trade |accounts |customer )?(?:accounts |trade )?(?:and other )?rec"
         r"eivables?"
         + _NET + r";;(?:accounts|trade) (?:and (?:notes|other) )?receivables?.*"),
    Line("accounts payable", _BALANCE, "accounts payable|trade payables",
         r"(?:trade )?accounts payable(?: trade)?;;(?:trade|accounts) payables?.*"),
    Line("property, plant and equipment", _BALANCE, "net property, plant, and equipment"
         "|property, plant and equipment|property and equipment|fixed assets|net ppne|net pp&e"
         "|ppne|pp&e|ppe",
         r"(?:net )?property (?:plant )?(?:buildings )?(?:and )?equipment (?:less .*|net.*)"
         r";;net property .*;;total property .*net;;property (?:plant )?and equipment"),
    Line("cash", _BALANCE, "cash and cash equivalents", r"cash and (?:cash )?equivalents?"),
    Line("long-term debt", _BALANCE, "long-term debt", r"(?:total )?long term debt.*"),
    Line("goodwill", _BALANCE, "goodwill", r"goodwill(?: net)?"),
    Line("depreciation and amortization", _CASH, "depreciation and amortization|d&a",
         r"(?:total )?depreciation (?:and )?(?:depletion )?(?:and )?amortization.*"
         r";;depreciation(?: expense)?;;.*depreciation.*amortization.*"),
    Line("cash from operations", _CASH, "cash flow from operating activities"
         "|cash from operating activities|net cash provided by operating activities"
         "|cash from operations|operating cash flow|cash flow from operations",
         r"(?:net )?cash (?:flows? )?(?:provided by|from|generated by|generated from|provide"
         r"d from)"
         r"(?: used (?:in|for))? (?:operating activities|operations)(?: net.*)?;;(?:net cash )?"
         r"provided by operating activities"),
    Line("capital expenditure", _CASH, "capital expenditures|capital expenditure|capital spending"
         "|capex", r"(?:purchases? of|additions? to|payments? for|acquisitions? of|expenditu"
         r"res? for"
         r"|investments? in|payments to acquire) (?:the )?(?:purchases? of |acquisitions? of )?"
         r"(?:property|land buildings|fixed assets|properties).*;;(?:payments for )?capital"
         r" (?:expenditures?|spending).*", outflow=True),
    Line("dividends paid", _CASH, "total cash dividends paid|cash dividends paid|cash dividends"
         "|dividends paid|dividends",
         r"(?:cash )?dividends? paid.*;;(?:payments? of|cash) (?:cash )?dividends?.*"
         r";;(?:common stock )?dividends?(?: to .*)?", outflow=True),
)  # fmt: skip
BY_NAME = {line.name: line for line in LINES}
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
    "interest coverage": "operating income / interest expense",
}
_CALLED = {
    "gross profit margin": "gross margin", "operating profit margin": "operating margin",
    "operating income margin": "operating margin", "net profit margin": "net margin",
    "net income margin": "net margin", "profit margin": "net margin",
    "working capital ratio": "current ratio", "roa": "return on assets",
    "roe": "return on equity", "dpo": "days payable outstanding",
    "dso": "days sales outstanding", "dio": "days inventory outstanding",
    "dividend payout ratio": "payout ratio", "fcf": "free cash flow",
    "net working capital": "working capital", "unadjusted ebitda": "ebitda",
    "debt-to-equity": "debt to equity",
}  # fmt: skip
_PERCENT = re.compile(r"%|percent|margin|\brate\b|growth|\bgrow|\bshare of\b|proportion", re.I)
_YEARS = re.compile(
    r"(?i)\b(?:FY\s?'?|fiscal (?:year )?|year end )?(?P<year>(?:19|20)\d\d)\b|\bFY\s?'?(?P<short"
    r">\d\d)\b"
)
_DEFINED = re.compile(
    r"(?i)(?P<name>[\w&/% -]{2,60}?)\s*(?:\([^)]*\))?\s*(?:here )?"
    r"(?:is|are)?\s*(?:defined as|calculated as)\s*:?\s*(?P<as>.+?)"
    r"(?:\.\s|\.?$|\?)"
)
_DEFINE = re.compile(r"\bdefine (?P<name>.+?) as (?P<as>.+?)(?:\.\s|\.?$|\?)", re.I)
_AVERAGE = re.compile(r"\b(?:three|two|four|five|\d)[ -]year average\b|\baverage of\b", re.I)
_GROWTH = re.compile(
    r"(?i)\bgrowth\b|\bgr[oe]w\b|year-over-year|\bincreas\w+|\bdecreas\w+|\bchange[ds]?\b|\brise"
    r"\b|\brose\b"
    r"|\bfall\b|\bfell\b|\bdeclin\w+|\bdrop(?:ped)?\b|\bdifference\b"
)
_BETWEEN = re.compile(r"\bbetween (?:fy)?\s?\d{4} and (?:fy)?\s?\d{4}")
_CAGR = re.compile(r"\bCAGR\b|compound annual growth", re.I)
_UNIT = re.compile(
    r"(?i)\bin (?:units of )?(?:US ?D|US dollars|dollars|\$)?\s?(?:in )?(thousand|million|billio"
    r"n)s?\b"
)
_ROUND = re.compile(r"\b(?:to|round\w*)\s(one|two|three|four|\d) decimal", re.I)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}
SCALES = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
# Words that say that a company's accounts are meant.
_ACCOUNTS = re.compile(
    r"(?i)\bFY\s?'?\d|\bfiscal\b|balance sheet|income statement|statements? of|cash flow statement"
    r"|\bP&L\b|10-K|annual report|\bin (?:USD|US dollars)\b|\bUSD (?:thousand|million|billion)"
)

# What may stand right before and after the name of a line.
_BEFORE = re.compile(
    r"the|its|their|total|net|unadjusted|average|annual|in|of|and|year(?:-end)?|much|amount|for|is|was"
    r"|were|what|did|as|an?|using|both|adjusted|reported|gross|consolidated|to|from|[-+*/]|minus"
    r"|less|plus|over|change|growth|.*(?:'s|s'|[:?.])"
)
_AFTER = re.compile(
    r"for|in|from|of|to|and|as|between|at|by|over|did|do|does|amount|margin|%|growth|gr[eo]w"
    r"|increase|decrease|change|rise|fall|decline|drop|cagr|less|minus|plus|during|was|were|is|are"
    r"|have|has|attributable|year|on|with|divided|per|compared|rate|ratio"
)
Value = Callable[[str, int], float]  # of a line in a year; raises KeyError


@dataclass(frozen=True, slots=True)
class Formula:
    """`text` as people read it; `at` computes it for a year."""

    text: str
    lines: tuple[str, ...]
    at: Callable[[Value, int], float]
    reaches_back: bool = False  # needs the year before too
    is_ratio: bool = False


class Over(StrEnum):
    """How the years of a question go together."""

    ONE = "one"
    GROWTH = "growth"
    CHANGE = "change"
    MEAN = "mean"
    CAGR = "cagr"


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    formula: Formula
    years: tuple[int, ...]  # first and last, or one
    over: Over = Over.ONE
    percent: bool = False
    unit: str = ""  # that was asked for: million
    decimals: int | None = None

    @property
    def needed(self) -> tuple[int, ...]:
        first, last = self.years[0], self.years[-1]
        years = range(first, last + 1) if self.over is Over.MEAN else (first, last)
        back = [year - 1 for year in years] if self.formula.reaches_back else []
        return tuple(sorted({*years, *back}))

    def compute(self, value: Value) -> float:
        """Raises KeyError for a line that isn't reported, ZeroDivisionError."""
        first, last = self.years[0], self.years[-1]
        at = self.formula.at
        match self.over:
            case Over.GROWTH:
                return at(value, last) / at(value, first) - 1
            case Over.CHANGE:
                return at(value, last) - at(value, first)
            case Over.MEAN:
                return fmean(at(value, year) for year in range(first, last + 1))
            case Over.CAGR:
                growth = at(value, last) / at(value, first)
                if growth <= 0:
                    raise ZeroDivisionError
                return float(growth ** (1 / (last - first)) - 1)
        return at(value, last)

    @property
    def shown(self) -> str:
        """The formula with its years."""
        first, last = self.years[0], self.years[-1]
        text = self.formula.text
        inner = f"({text})" if re.search(r"[-+/*]", text) else text
        match self.over:
            case Over.GROWTH:
                return f"{inner} {last} / {inner} {first} - 1"
            case Over.CHANGE:
                return f"{inner} {last} - {inner} {first}"
            case Over.MEAN:
                return f"mean of {inner} over {first} to {last}"
            case Over.CAGR:
                return f"({inner} {last} / {inner} {first}) ^ (1 / {last - first}) - 1"
        return text


def read(question: str) -> Metric | None:
    """None if the question names no line of a statement and no ratio, or no year."""
    years = [_year(match) for match in _YEARS.finditer(question)]
    if not years:
        return None
    text, defined = _definitions(question)
    main = _main(text, defined)
    if main is None:
        return None
    name, formula = main
    body = _DEFINE.sub(" ", _DEFINED.sub(" ", question))
    asked = [_year(match) for match in _YEARS.finditer(body)] or years
    first, last = min(asked), max(asked)
    over = Over.ONE
    if first < last:
        if _CAGR.search(body):
            over = Over.CAGR
        elif _AVERAGE.search(body):
            over = Over.MEAN
        elif _GROWTH.search(body):
            over = Over.CHANGE if formula.is_ratio or not _PERCENT.search(body) else Over.GROWTH
        else:
            return None
    elif _GROWTH.search(body) and _PERCENT.search(body) and not formula.is_ratio:
        first, over = last - 1, Over.GROWTH
    if over is Over.ONE and not _ACCOUNTS.search(question) and not formula.is_ratio:
        return None
    percent = bool(_PERCENT.search(body)) and (formula.is_ratio or over in (Over.GROWTH, Over.CAGR))
    unit, rounded = _UNIT.search(body), _ROUND.search(question)
    decimals = None
    if rounded:
        decimals = _NUMBERS.get(rounded[1].lower()) or int(rounded[1])
    return Metric(
        name,
        formula,
        (last,) if over is Over.ONE else (first, last),
        over,
        percent,
        unit[1].lower() if unit else "",
        decimals,
    )


def _year(match: re.Match[str]) -> int:
    return int(match["year"]) if match["year"] else 2000 + int(match["short"])


def _definitions(question: str) -> tuple[str, dict[str, str]]:
    """The question without the definitions it gives, and these."""
    defined = {}
    for pattern in (_DEFINE, _DEFINED):
        for match in pattern.finditer(question):
            name = re.split(r"[.?:]\s", match["name"])[-1]
            defined[" ".join(fold(name).split())] = match["as"].strip()
        question = pattern.sub(". ", question)
    return question, defined


def _main(text: str, defined: dict[str, str]) -> tuple[str, Formula] | None:
    """What the question asks for: its own definition, a known ratio, one line over another, or a
    line."""
    low = _plain(text)
    known = {**{name: name for name in (*DEFINED, *RATIOS)}, **_CALLED}
    for name in sorted((*defined, *known), key=len, reverse=True):
        if not re.search(rf"(?<![\w&]){re.escape(name)}(?!\w)", low):
            continue
        over_sales = re.search(rf"{re.escape(name)} (?:% )?margin", low)
        meant = known.get(name, name)
        own = next((said for one, said in defined.items() if known.get(one, one) == meant), None)
        body = own or RATIOS.get(meant) or DEFINED.get(meant, "")
        less = re.search(
            rf"{re.escape(name)} (?:less|minus) ([\w &]+?)(?: for\b| in\b|\?|\.|$)", low
        )
        if less:
            body = f"({body}) - {less[1]}"
        if over_sales and "/" not in body:
            body = f"({body}) / revenue"
        made = formula(body, defined)
        if made is not None:
            return (name, made)
    return None if _is_qualified(text) else _from_lines(low)


def _from_lines(low: str) -> tuple[str, Formula] | None:
    plus = re.search(r"([\w &,]+?) \+ ([\w &,]+?)(?: from\b| in\b|\(|\?|$)", low)
    lines = _lines_in(low)
    if not lines:
        return None
    if plus and len(lines) > 1 and (made := formula(f"{lines[0]} + {lines[1]}", {})):
        return (made.text, made)
    share = re.search(r"(?:as )?an? (?:%|percent(?:age)?|share|proportion) of|%|\bratio of\b", low)
    if re.search(r"% margin|\bmargin\b", low):
        over = f"{lines[0]} / revenue"
    elif share and len(lines) > 1 and "average" not in low.split(lines[0], maxsplit=1)[0][-9:]:
        over = f"{lines[0]} / {lines[1]}"
    else:
        over = lines[0]
    made = formula(over, {})
    return (over, made) if made else None


def _is_qualified(text: str) -> bool:
    """Whether a line is named as a part of something: "HR Solutions revenue", "total assets
    acquired" are other figures than revenue and total assets."""
    plain = " ".join(fold(text).replace("’", "'").replace(",", " ").split())
    for name, _ in _ASKED:
        for match in re.finditer(rf"(?<![\w&]){re.escape(name)}(?![\w-])", plain):
            before = plain[: match.start()].rstrip("( ").rpartition(" ")[2]
            after = re.match(r"\s*([\w&'%]+)?", plain[match.end() :])
            for word, allowed in ((before, _BEFORE), (after[1] if after else "", _AFTER)):
                known = not word or any(word in one.split() for one, _ in _ASKED)
                if not (known or allowed.fullmatch(word) or _YEARS.fullmatch(word)):
                    return True
    return False


def _plain(text: str) -> str:
    plain = fold(text).replace("’", "'").replace("'s", "")
    return " ".join(re.sub(r"[^\w&%+*/().\- ]", " ", plain).replace("(", " ( ").split())


_ASKED = sorted(
    (
        (" ".join(name.replace(",", " ").split()), line.name)
        for line in LINES
        for name in line.asked.split("|")
    ),
    key=lambda pair: -len(pair[0]),
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<op>[-+*/()])|(?P<line>"
    + "|".join(re.escape(name) for name, _ in _ASKED)
    + r")(?!\w)|(?P<call>average|change in)\b|(?P<word>[\w&%.]+))"
)
_LINE_OF = dict(_ASKED)
_NEEDLESS = re.compile(r"\(((?:(?! [-+*/] )[^()])*)\)")  # brackets around one thing
_READ = (
    ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.UnaryOp,
    ast.Invert, ast.UAdd,
)  # fmt: skip


def _lines_in(low: str) -> list[str]:
    """The lines that a text names, in order; each part of the text counts once, for the longest
    name."""
    found: list[tuple[int, int, str]] = []
    for name, line in _ASKED:
        for match in re.finditer(rf"(?<![\w&]){re.escape(name)}(?!\w)", low):
            if not any(a < match.end() and match.start() < b for a, b, _ in found):
                found.append((match.start(), match.end(), line))
    return list(dict.fromkeys(line for _, _, line in sorted(found)))


def formula(text: str, defined: dict[str, str]) -> Formula | None:
    """A formula as people write it; None if it isn't one over lines of statements."""
    for said, sign in (("divided by", "/"), ("less", "-"), ("minus", "-"), ("plus", "+"),
                       ("times", "*"), ("×", "*"), ("÷", "/"), ("–", "-"), ("−", "-")):  # fmt: skip
        text = re.sub(rf"(?<!\w){re.escape(said)}(?!\w)", f" {sign} ", text)
    text = re.sub(r"\[[^\]]*\]|\((?:from|as)\b[^)]*\)", " ", text)
    text = _YEARS.sub(" ", _BETWEEN.sub(" ", _plain(text)))
    for name in sorted(defined, key=len, reverse=True):
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if re.sub(r"\W", "", name) != re.sub(r"\W", "", text) and whole.search(text):
            inner = _YEARS.sub(" ", _BETWEEN.sub(" ", _plain(defined[name])))
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
    shown = " ".join(_LINE_OF.get(token, token) for kind, token in tokens if kind != "word")
    try:
        tree = ast.parse(" ".join(code), mode="eval").body
    except SyntaxError:
        return None
    if not names or not all(isinstance(node, _READ) for node in ast.walk(tree)):
        return None
    shown = _NEEDLESS.sub(r"\1", re.sub(r"\( | \)", lambda m: m[0].strip(), shown))
    back = any(isinstance(node, ast.UnaryOp) for node in ast.walk(tree))
    meant = {code: name for name, code in names.items()}
    return Formula(shown, tuple(names), partial(_value, tree, meant), back, "/" in shown)


def _value(node: ast.expr, names: dict[str, str], value: Value, year: int) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return value(names[name], year)
        case ast.UnaryOp(op=op, operand=inner):
            now, before = (_value(inner, names, value, one) for one in (year, year - 1))
            return (now + before) / 2 if isinstance(op, ast.Invert) else now - before
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](
                _value(left, names, value, year), _value(right, names, value, year)
            )
    raise KeyError(ast.dump(node))
