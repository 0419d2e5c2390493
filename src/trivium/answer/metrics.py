"""What a question about a company's accounts asks for, as a formula over lines of its statements:
"operating margin in FY2018", "growth of revenue from 2016 to 2017", or a definition that the
question gives itself ("defined as: cash from operations / total current liabilities"). Pure; in
English, as such reports are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from trivium.answer.formulas import (
    ASKED,
    CALLED,
    DEFINED,
    RATIOS,
    YEARS,
    Formula,
    Value,
    formula,
    lines_in,
    plain,
)
from trivium.text.normalise import fold

_PERCENT = re.compile(
    r"%|percent|margin|intensi|\brate\b|growth|\bgrow|\bshare of\b|proportion", re.I
)
_SHARE = r"(?:as )?an? (?:%|percent(?:age)?|share|proportion) of"
_DEFINED = re.compile(
    r"(?i)(?P<name>[\w&/% -]{2,60}?)\s*(?:\([^)]*\))?\s*(?:here )?"
    r"(?:is|are)?\s*(?:defined as|calculated as)\s*:?\s*(?P<as>.+?)"
    r"(?:\.\s|\.?$|\?)"
)
_DEFINE = re.compile(r"\bdefine (?P<name>.+?) as (?P<as>.+?)(?:\.\s|\.?$|\?)", re.I)
_UP = re.compile(
    r"\b(?:improv\w+|gr[eo]w\w*|increas\w+|rises?|risen|rising|rose|expand\w*|higher)\b", re.I
)
_DOWN = re.compile(
    r"\b(?:declin\w+|decreas\w+|fall(?:s|en|ing)?|fell|drop(?:s|ped|ping)?|shr[aiu]nk\w*|worsen\w*"
    r"|deteriorat\w+|lower)\b",
    re.I,
)
# Of these a higher figure isn't better.
_BURDENS = re.compile(r"days |debt|payout|tax|cost|expense|liabilit|conversion cycle|intensity")
_AVERAGE = re.compile(r"\b(?:three|two|four|five|\d)[ -]year average\b|\baverage of\b", re.I)
_GROWTH = re.compile(
    r"(?i)\bgrowth\b|year[- ]o(?:ver|n)[- ]year|\bchange[ds]?\b|\bdifference\b"
    rf"|{_UP.pattern}|{_DOWN.pattern}"
)
_QUARTER = re.compile(  # of which statements of a year say nothing
    r"(?<![A-Za-z])Q[1-4]|\bH[12]\b|(?i:\bquarter|\bhalf[- ]year|\b(?:three|six|nine) months)"
)
_WHY = re.compile(r"(?i)\bwhy\b|\breasons?\b|\bwhat (?:\w+ )?(?:drove|caused|led to|explains?)\b")
_IS_IT = re.compile(r"(?i)(?:^|[,:;]\s)(?:does|did|do|has|have|is|are|was|were)\b")
_WHICH = re.compile(r"(?i)\bwhich\b|\bwhat year\b")
_WHICH_YEAR = re.compile(r"(?i)\b(?:which|what)(?: \w+){0,4} years?\b")
_MOST = re.compile(
    r"(?i)\b(?:highest|largest|greatest|biggest|most|best|higher|larger|greater|more)\b"
)
_LEAST = re.compile(r"(?i)\b(?:lowest|smallest|least|worst|fewest|lower|smaller|less)\b")
_ACTIVITIES = re.compile(r"(?i)\boperat\w+, investing,? (?:and|or) financing\b")
_CASH_FLOWS = ("cash from operations", "cash from investing", "cash from financing")
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
    r"|less|plus|over|change|growth|positive|negative|.*(?:'s|s'|[:?.])"
)
_AFTER = re.compile(
    r"for|in|from|of|to|and|as|between|at|by|over|did|do|does|amount|margin|%|growth|gr[eo]w"
    r"|increase|decrease|change|rise|fall|decline|drop|cagr|less|minus|plus|during|was|were|is|are"
    r"|have|has|positive|negative|attributable|year|on|with|divided|per|compared|rate|ratio"
)


class Over(StrEnum):
    """How the years of a question go together."""

    ONE = "one"
    GROWTH = "growth"
    CHANGE = "change"
    MEAN = "mean"
    CAGR = "cagr"
    MOST = "most"
    LEAST = "least"


class Claim(StrEnum):
    """What a question that wants a yes or a no says of the figure."""

    RISES = "rises"
    FALLS = "falls"
    POSITIVE = "positive"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    formula: Formula
    years: tuple[int, ...]  # first and last, or one
    over: Over = Over.ONE
    percent: bool = False
    unit: str = ""  # that was asked for: million
    decimals: int | None = None
    claim: Claim | None = None
    rivals: tuple[Formula, ...] = ()  # of which one has the most, or the least

    @property
    def meant(self) -> tuple[int, ...]:
        """The years whose figures the answer is made of."""
        first, last = self.years[0], self.years[-1]
        if self.over in (Over.MEAN, Over.MOST, Over.LEAST):
            return tuple(range(first, last + 1))
        return tuple(dict.fromkeys((first, last)))

    @property
    def needed(self) -> tuple[int, ...]:
        years = self.meant
        back = [year - 1 for year in years] if self.formula.reaches_back else []
        return tuple(sorted({*years, *back}))

    def figures(self, value: Value) -> dict[str, float]:
        """What the answer is made of, by year, or by name if lines are compared. Raises KeyError
        for a line that isn't reported, ZeroDivisionError."""
        if self.rivals:
            return {rival.text: rival.at(value, self.years[-1]) for rival in self.rivals}
        return {str(year): self.formula.at(value, year) for year in self.meant}

    def compute(self, figures: dict[str, float]) -> float:
        """Raises ZeroDivisionError."""
        first, *_, last = *figures.values(), *figures.values()
        match self.over:
            case Over.GROWTH:
                return last / first - 1
            case Over.CHANGE:
                return last - first
            case Over.MEAN:
                return fmean(figures.values())
            case Over.CAGR:
                if last / first <= 0:
                    raise ZeroDivisionError
                return float((last / first) ** (1 / (self.years[-1] - self.years[0])) - 1)
            case Over.MOST:
                return max(figures.values())
            case Over.LEAST:
                return min(figures.values())
        return last

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
    """None if the question names no line of a statement and no ratio, or no year; if it asks for a
    reason, or for a part of a year."""
    years = [_year(match) for match in YEARS.finditer(question)]
    if not years or _QUARTER.search(question):
        return None
    text, defined = _definitions(question)
    asking = _asking(text)
    if _WHY.search(asking):
        return None
    body = _DEFINE.sub(" ", _DEFINED.sub(" ", question))
    asked_years = [_year(match) for match in YEARS.finditer(body)] or years
    first, last = min(asked_years), max(asked_years)
    rivals = _rivals(asking) if first == last else ()
    main = (rivals[0].text, rivals[0]) if rivals else _main(text, asking, defined)
    if main is None:
        return None
    name, formula = main
    claim = _claim(asking, name)
    over = _most(asking) if rivals else _over(asking, body, formula, claim, first < last)
    if over is None:
        return None
    if over in (Over.GROWTH, Over.CHANGE) and first == last:
        first = last - 1
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
        (last,) if over is Over.ONE or rivals else (first, last),
        over,
        percent,
        unit[1].lower() if unit else "",
        decimals,
        claim,
        rivals,
    )


def _asking(text: str) -> str:
    """The sentences that ask: the others say how to answer ("assume that you are an analyst")."""
    parts = re.split(r"(?<=[.?!:])\s+", text)
    return " ".join(part for part in parts if part.endswith("?")) or text


def _over(
    asking: str, body: str, formula: Formula, claim: Claim | None, several: bool
) -> Over | None:
    """How the years go together; None if several are named and nothing says how."""
    if several and _CAGR.search(body):
        return Over.CAGR
    if several and _AVERAGE.search(body):
        return Over.MEAN
    if several and _WHICH_YEAR.search(asking) and (most := _most(asking)):
        return most
    if claim in (Claim.RISES, Claim.FALLS):
        return Over.CHANGE
    if _GROWTH.search(asking):
        return Over.CHANGE if formula.is_ratio or not _PERCENT.search(body) else Over.GROWTH
    return None if several else Over.ONE


def _claim(asking: str, name: str) -> Claim | None:
    if not _IS_IT.search(asking):
        return None
    if re.search(r"(?i)\bimprov|\bworsen|\bdeteriorat", asking) and _BURDENS.search(name):
        return None
    matches = {
        Claim.RISES: _UP.search(asking),
        Claim.FALLS: _DOWN.search(asking),
        Claim.POSITIVE: re.search(r"(?i)\bpositive\b", asking),
        Claim.NEGATIVE: re.search(r"(?i)\bnegative\b", asking),
    }
    claims = [claim for claim, match in matches.items() if match]
    return claims[0] if len(claims) == 1 else None


def _most(asking: str) -> Over | None:
    most, least = _MOST.search(asking), _LEAST.search(asking)
    if most and (not least or most.start() < least.start()):
        return Over.MOST
    return Over.LEAST if least else None


def _rivals(asking: str) -> tuple[Formula, ...]:
    """The lines of which a question asks for the largest or the smallest."""
    if not _WHICH.search(asking) or _WHICH_YEAR.search(asking) or not _most(asking):
        return ()
    names = _CASH_FLOWS if _ACTIVITIES.search(asking) else lines_in(plain(asking))
    rivals = [made for name in names if (made := formula(name, {}))]
    return tuple(rivals) if len(rivals) > 1 else ()


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


def _main(text: str, asking: str, defined: dict[str, str]) -> tuple[str, Formula] | None:
    """What the question asks for: its own definition, a known ratio, one line over another, or a
    line. A line counts only where it asks."""
    low = plain(text)
    meanings = {**{name: name for name in (*DEFINED, *RATIOS)}, **CALLED}
    for name in sorted((*defined, *meanings), key=len, reverse=True):
        if not re.search(rf"(?<![\w&]){re.escape(name)}s?(?!\w)", low):
            continue
        over_sales = re.search(rf"{re.escape(name)} (?:% )?margin", low)
        meant = meanings.get(name, name)
        own = next(
            (
                definition
                for term, definition in defined.items()
                if meanings.get(term, term) == meant
            ),
            None,
        )
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
            return (meant, made)
    return None if _is_qualified(asking) else _from_lines(plain(asking))


def _from_lines(low: str) -> tuple[str, Formula] | None:
    plus = re.search(r"([\w &,]+?) \+ ([\w &,]+?)(?: from\b| in\b|\(|\?|$)", low)
    lines = lines_in(low)
    if not lines:
        return None
    if plus and len(lines) > 1 and (made := formula(f"{lines[0]} + {lines[1]}", {})):
        return (made.text, made)
    share = re.search(rf"{_SHARE}|%|\bratio of\b", low)
    if len(lines) == 1 and re.search(_SHARE, low):
        return None  # of something that no statement has
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
    folded = " ".join(fold(text).replace("’", "'").replace(",", " ").split())
    for name, _ in ASKED:
        for match in re.finditer(rf"(?<![\w&]){re.escape(name)}(?![\w-])", folded):
            before = folded[: match.start()].rstrip("( ").rpartition(" ")[2]
            after = "".join(re.findall(r"^\s*([\w&'%]+)", folded[match.end() :]))
            for word, allowed in ((before, _BEFORE), (after, _AFTER)):
                is_line = not word or any(word in phrase.split() for phrase, _ in ASKED)
                compares = any(pattern.fullmatch(word) for pattern in (_UP, _DOWN, _MOST, _LEAST))
                if not (is_line or compares or allowed.fullmatch(word) or YEARS.fullmatch(word)):
                    return True
    return False
