"""The quantities of a text: value, scale, sign and unit, as `3.5 %`, `1.75 million euros`, `(12)`,
`sechs Stunden`. Compared by what they mean, never by their digits. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isclose, isfinite

from trivium.text.lexicon.words import Lexicon, Unit, is_money, lexicon, symbols
from trivium.text.normalise import fold

_GAPS = "\u00a0\u202f\u2009 '’"  # between thousands, beside comma and point
_FIGURE = re.compile(
    rf"\d{{1,3}}(?:(?P<gap>[{_GAPS}])\d{{3}})(?:(?P=gap)\d{{3}})*(?:[.,]\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)*"
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
# `$`, `US$`, `EUR` right before a figure, with its sign or bracket
_BEFORE = re.compile(
    r"(?P<sign>[-−–+±(]\s?)?(?P<money>(?:US|A|C)?\$|[€£¥₹]|\b[A-Z]{3}|\bRs\.?)?\s?(?P<inner>[-−–+(]\s?)?$"
)
_MINUS = frozenset("-−–")
# A letter scale stands at the figure: `5M`, `5bn`; a small m is a metre unless money stands before.
_LETTER = re.compile(r"(?P<letter>[kKMBT]|bn|mn|tn)(?![^\W\d_])")
_MONEY_LETTER = re.compile(r"[\s\u00a0]?(?P<letter>[mbMB])(?![^\W\d_])")
_AFTER = re.compile(r"[\s\u00a0\u202f-]{0,2}(?P<word>[^\W\d_]+\.?|[%％‰°€£¥₹$]|°[CF])")
_SYMBOL = re.compile(
    r"[\s\u00a0\u202f]?(?P<symbol>km/h|m/s|°[CF]|[A-Za-zµμ]{1,5}[²³]|[A-Za-zµμ]{1,4}\.?|[%％‰°])(?![^\W_])"
)
_PERCENTAGE = re.compile(r"%|‰|\b(?:per\s?cent|percentage|prozent|procent|pct)", re.I)
# "(in millions)" around a table: its bare figures are scaled.
_TABLE_SCALE = re.compile(
    r"(?i)\bin\s+(?:(?:us|u\.s\.)?\s?(?:\$|€|£|dollars|euros?|eur|usd|chf|gbp)?\s?(?:in\s)?)?"
    r"(?P<scale>thousand|million|billion|tausend|millionen|milliarden|tsd|mio|mrd)s?\b"
    r"|(?<!\d\s)\b(?P<short>tsd|teur|mio|mrd)\.?\s?(?:eur|€|euro)"
)
_SIZES = (("t", 1e3), ("milliard", 1e9), ("mi", 1e6), ("b", 1e9), ("mrd", 1e9))
_ROUGH = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?|etwa|rund"
    r"|ungefähr|knapp|environ|près de|casi|unos|quasi|ongeveer|ungefär|over|more than|mehr als"
    r"|über)"
    r"\s+(?:(?:US)?[$€£])?$",
    re.I,
)
# A change or amount that these words make negative.
_FALLS = re.compile(
    r"\b(?:minus|negative|loss(?:es)?|lost|fell|falls?|fallen|drop(?:s|ped)?|declin\w+|decreas\w+"
    r"|down|reduc\w+|below|deficit|less|lower\w*|shrank|shrunk|outflow\w*|used|paid|expens\w+"
    r"|verlust\w*|gesunken|sank|fiel|gefallen|rückgang|weniger|unter|perte|baisse|pérdida|perdita)\b",
    re.I,
)
_NEAR = 60  # characters around a figure in which such a word counts
_ROUNDED = 3  # digits at least, so that 17.6 billion may be 17,606 million, and 4 % not 3.5 %
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_RANGE = re.compile(r"\s?(?:-|–|—|to|bis|and|und|à)\s?$")


@dataclass(frozen=True, slots=True)
class Quantity:
    text: str  # as written
    start: int
    end: int
    readings: tuple[float, ...]  # with its scale; two if `1.234` may be either; none: a code
    unit: Unit | None = None
    sign: int = 0  # -1, 1, or 0: not written
    falls: bool = False  # a word near it says less, or it is in brackets
    rough: float = 0.0  # how far another one may be from it, if it says "about"
    worded: bool = False  # written in words
    percentage: bool = False  # the text around it speaks of percent
    scales: tuple[float, ...] = ()  # that the table around it says
    scale: float = 1.0  # that it says itself
    figure: str = ""  # its digits as written
    step: float = 0.0  # the last digit written, if there are enough for it to be rounded

    @property
    def value(self) -> float:
        """The likeliest reading, with its sign."""
        first = self.readings[0] if self.readings else 0.0
        return -first if self.sign < 0 else first

    def same(self, other: Quantity) -> bool:
        """Whether both mean the same amount of the same thing, as far as both say. This one may be
        the other one rounded, to three digits or more."""
        if not self.readings or not other.readings:
            return self.text == other.text
        if not _units_agree(self, other) or not _signs_agree(self, other):
            return False
        converted = self.unit is not None and other.unit is not None
        mine, theirs = _values(self, converted), _values(other, converted)
        factor = self.unit.factor if converted and self.unit is not None else 1.0
        near = max(self.rough, other.rough, self.step * 0.5000001) * factor
        return any(_equal(a, b) or abs(a - b) <= near for a in mine for b in theirs)

    def agrees(self, other: Quantity) -> bool:
        """Whether a calculation may use it for the other: the same number, whatever its sign and
        unit, with or without its scale (1.75 for 1.75 million), or a share for a percentage."""
        shares = (1, 100) if other.unit is not None and other.unit.dimension == "percent" else (1,)
        return any(
            _equal(mine, theirs / part)
            for mine in self.readings
            for theirs in (
                *_values(other, False),
                *(reading / other.scale for reading in other.readings),
            )
            for part in shares
        )


@lru_cache(maxsize=1024)
def quantities(text: str, language: str = "") -> tuple[Quantity, ...]:
    """In order. Words count from two on, or with a unit: "one" is mostly no number."""
    words = lexicon(language)
    percentage = bool(_PERCENTAGE.search(text))
    scales = _table_scales(text)
    written: list[Quantity] = []
    for match in _FIGURE.finditer(text):
        for start, raw in _parts(match):
            written.append(_quantity(text, start, raw, language, words, percentage, scales))
    written += _worded(text, words, percentage)
    written.sort(key=lambda quantity: quantity.start)
    return tuple(_shared_units(text, written))


def is_unit(word: str, language: str = "") -> bool:
    """Whether a word is a measure: `Liter`, `Kilowattstunde`."""
    return any(quantity.unit is not None for quantity in quantities(f"2 {word}", language))


def unmatched(
    text: str, language: str, among: Iterable[tuple[str, str]], skip: Sequence[tuple[int, int]] = ()
) -> list[Quantity]:
    """The quantities of a text that none of the others (text and language) has. `skip`: ranges of
    the text, such as its dates. A number in words needs a source only with a unit or scale."""
    sourced = [quantity for other, code in among for quantity in quantities(other, code)]
    return [
        quantity
        for quantity in quantities(text, language)
        if not any(a <= quantity.start < b for a, b in skip)
        and (not quantity.worded or quantity.unit is not None or quantity.value > 100)
        and not any(quantity.same(other) for other in sourced)
    ]


def figures(text: str, language: str = "") -> list[str]:
    """The bare figures of a text in order, written one way: 1,000 is `1000`, 3,5 is `3.5`, twelve
    is `12`; without scale, sign and unit. For the figures that a question names."""
    digits = []
    for quantity in quantities(text, language):
        digits += [f"{value / quantity.scale:.12g}" for value in quantity.readings] or [
            quantity.text
        ]
    return digits


def shared(text: str, other: str, language: str = "") -> bool:
    """Whether two texts have a quantity in common."""
    theirs = quantities(other, language)
    return any(a.same(b) for a in quantities(text, language) for b in theirs)


def differ(text: str, other: str, language: str = "") -> bool:
    """Whether two texts have quantities and none in common. A bare figure may be one whose unit and
    scale stand elsewhere, as in a table."""
    mine, theirs = quantities(text, language), quantities(other, language)
    return bool(mine and theirs) and not any(
        a.same(b)
        or b.same(a)
        or (a.unit is None and a.scale == 1 and a.agrees(b))
        or (b.unit is None and b.scale == 1 and b.agrees(a))
        for a in mine
        for b in theirs
    )


def covers(text: str, other: str, language: str = "") -> bool:
    """Whether a text has every quantity of another."""
    mine = quantities(text, language)
    return all(any(a.same(b) for a in mine) for b in quantities(other, language))


def money(text: str, language: str = "") -> bool:
    """Whether a text has an amount of money."""
    return any(
        quantity.unit is not None and is_money(quantity.unit)
        for quantity in quantities(text, language)
    )


def _parts(match: re.Match[str]) -> list[tuple[int, str]]:
    """A run of figures as one number, or as several: `1,2,3` is a list, `2.3.1` a version."""
    raw = match[0]
    if match["gap"] or "," not in raw or _is_grouped(raw) or raw.count(",") == 1:
        return [(match.start(), raw)]
    return [(match.start() + part.start(), part[0]) for part in re.finditer(r"[^,]+", raw)]


def _is_grouped(raw: str) -> bool:
    return bool(re.fullmatch(r"\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}|\d{1,3}(?:,\d{2,3})+(?:\.\d+)?"
                             r"|\d{1,3}(?:\.\d{3})+(?:,\d+)?", raw))  # fmt: skip


def _readings(raw: str, language: str, decimal: str) -> tuple[float, ...]:
    """The numbers that figures may mean; none for a version or another code."""
    bare = re.sub(f"[{_GAPS}]", "", raw)
    marks = re.findall("[.,]", bare)
    if not marks:
        return _numbers(bare)
    last = marks[-1]
    if len(set(marks)) == 2:
        if marks.count(last) > 1:  # 42.33,83.05 is two numbers
            return ()
        other = "," if last == "." else "."
        return _numbers(bare.replace(other, "").replace(last, "."))
    if len(marks) > 1:
        return _numbers(bare.replace(last, "")) if _is_grouped(bare) else ()
    whole, rest = bare.split(last)
    as_decimal, as_thousands = f"{whole}.{rest}", whole + rest
    if len(rest) != 3 or len(whole) > 3 or whole.startswith("0") or raw != bare:
        return _numbers(as_decimal)
    if not language:
        both = (as_thousands, as_decimal) if last == "," else (as_decimal, as_thousands)
        return _numbers(*both)
    return _numbers(as_decimal if last == decimal else as_thousands)


def _numbers(*texts: str) -> tuple[float, ...]:
    return tuple(number for text in texts if isfinite(number := float(text)))


def _quantity(
    text: str,
    start: int,
    raw: str,
    language: str,
    words: Lexicon,
    percentage: bool,
    scales: tuple[float, ...],
) -> Quantity:
    end = start + len(raw)
    readings = _readings(raw, language, words.decimal)
    before = text[max(0, start - 24) : start]
    lead = _BEFORE.search(before)
    glued = bool(before) and before[-1].isalpha() and not (lead and lead["money"])
    if glued or _ORDINAL.match(text, end):  # H200, 21st
        return Quantity(raw, start, end, readings, percentage=percentage)
    sign, bracket, unit, begin = 0, False, None, start
    if lead is not None:
        code = fold(lead["money"].strip(" .")) if lead["money"] else ""
        unit = words.units.get(code) if code else None
        unit = unit if unit and is_money(unit) else None
        marks = ((lead["sign"] or "") if unit or not lead["money"] else "") + (lead["inner"] or "")
        at = len(before) - len(lead[0])
        apart = at == 0 or not (before[at - 1].isalnum() or before[at - 1] in ")]%")
        tight = not marks.endswith(" ")
        bracket = "(" in marks and bool(re.match(r"\s?%?\)", text[end : end + 3]))
        if apart and tight:
            sign = -1 if _MINUS & set(marks) else 1 if "+" in marks else 0
        if unit is not None or sign:
            begin = start - len(lead[0].lstrip())
    scale, end = _scale(text, end, words, unit)
    unit_after, end = _unit(text, end, words)
    unit = unit or unit_after
    around = text[max(0, begin - _NEAR) : end + _NEAR]
    decimals = len(repr(readings[0]).partition(".")[2]) if len(readings) == 1 else 0
    step = 10.0**-decimals * scale if readings and readings[0] % 1 else scale
    digits = len(re.sub(r"\D", "", raw).lstrip("0"))
    return Quantity(
        text[begin:end].strip(" ("),
        start,
        end,
        tuple(reading * scale for reading in readings),
        unit,
        sign,
        bracket or bool(_FALLS.search(around)),
        step * 10 ** max(0, len(raw) - len(raw.rstrip("0")))
        if _ROUGH.search(text[max(0, begin - 24) : start])
        else 0.0,
        percentage=percentage,
        scale=scale,
        figure=raw,
        step=step if digits >= _ROUNDED and len(readings) == 1 else 0.0,
        scales=scales if scale == 1 and (unit is None or is_money(unit)) else (),
    )


def _scale(text: str, end: int, words: Lexicon, money: Unit | None) -> tuple[float, int]:
    letter = _LETTER.match(text, end) or (_MONEY_LETTER.match(text, end) if money else None)
    if letter:
        size = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}[letter["letter"][0].lower()]
        return size, letter.end()
    total = 1.0
    while (word := _AFTER.match(text, end)) and "-" not in word[0][: word.start("word") - end]:
        named = words.scales.get(fold(word["word"]).rstrip("."))
        if named is None or len(word["word"]) < 2:
            break
        total, end = total * named, word.end()
    return total, end


def _unit(text: str, end: int, words: Lexicon) -> tuple[Unit | None, int]:
    """The unit after a figure: the longest name of up to three words, or a symbol."""
    run = re.match(
        r"[\s\u00a0\u202f-]{0,2}(?:of\s|de\s|d[’'])?((?:[^\W\d_]+[\s.-]?\s?){1,3})",
        text[end : end + 48],
    )
    if run:
        parts = re.findall(r"[^\W\d_]+", run[1])
        for count in range(len(parts), 0, -1):
            for joint in (" ", "-"):
                named = words.units.get(fold(joint.join(parts[:count])))
                if named is not None:
                    at = end + run.start(1)
                    for part in parts[:count]:
                        at = text.index(part, at) + len(part)
                    return named, at
    sign = _SYMBOL.match(text, end)
    if sign:
        units = symbols()
        unit = units.get(sign["symbol"]) or units.get(sign["symbol"].rstrip("."))
        if unit is not None:
            return unit, sign.end()
    mark = re.match(r"[\s\u00a0\u202f]?([€£¥₹$])", text[end : end + 2])
    if mark:
        return words.units[mark[1]], end + mark.end()
    return None, end


def _worded(text: str, words: Lexicon, percentage: bool) -> list[Quantity]:
    worded = []
    for match in _WORD.finditer(text):
        word = fold(match[0])
        number = words.numbers.get(word)
        start = match.start()
        if number is None and "-" in word:  # six-hour
            number = words.numbers.get(word.split("-")[0])
            if number is not None:
                match_end = start + match[0].index("-")
        else:
            match_end = match.end()
        if number is None:
            continue
        scale, end = _scale(text, match_end, words, None)
        unit, end = _unit(text, end, words)
        around = text[max(0, start - _NEAR) : end + _NEAR]
        falls = bool(_FALLS.search(around))
        worded.append(
            Quantity(
                text[start:end], start, end, (number * scale,), unit, 0, falls,
                worded=True, percentage=percentage,
            )
        )  # fmt: skip
    return worded


def _shared_units(text: str, in_text: Sequence[Quantity]) -> list[Quantity]:
    """`3–5 %`, `from 3 to 5 million`: the first figure has the unit of the second."""
    shared = list(in_text)
    for at in range(len(shared) - 2, -1, -1):
        quantity, other = shared[at], shared[at + 1]
        between = text[quantity.end : other.start]
        if quantity.unit is None and other.unit is not None and _RANGE.fullmatch(between):
            scaled = (value * other.scale for value in quantity.readings if other.scale != 1)
            shared[at] = replace(quantity, unit=other.unit, readings=(*quantity.readings, *scaled))
    return shared


def _table_scales(text: str) -> tuple[float, ...]:
    scales = set()
    for match in _TABLE_SCALE.finditer(text):
        word = (match["scale"] or match["short"]).lower()
        scales.add(next(size for name, size in _SIZES if word.startswith(name)))
    return tuple(sorted(scales))


def _equal(number: float, other: float) -> bool:
    return isclose(number, other, rel_tol=1e-9, abs_tol=1e-12)


def _units_agree(quantity: Quantity, other: Quantity) -> bool:
    if quantity.unit is not None and other.unit is not None:
        return quantity.unit.dimension == other.unit.dimension
    unit = quantity.unit or other.unit
    if unit is None or unit.dimension not in ("percent", "points"):
        return True
    bare = quantity if quantity.unit is None else other
    return bare.percentage  # a column of percent; else 35 patients aren't 35 %


def _signs_agree(quantity: Quantity, other: Quantity) -> bool:
    if (quantity.sign < 0) == (other.sign < 0):
        return True
    return (other if quantity.sign < 0 else quantity).falls


def _values(quantity: Quantity, converted: bool) -> list[float]:
    factor = quantity.unit.factor if converted and quantity.unit is not None else 1.0
    return [
        value * scale * factor for value in quantity.readings for scale in (1.0, *quantity.scales)
    ]
