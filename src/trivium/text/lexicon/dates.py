"""The dates of a text, in words or figures: day, month and year, as far as it says them. Pure."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import TypeAlias

from trivium.text.lexicon.words import languages, lexicon
from trivium.text.normalise import fold

_WORD = r"[^\W\d_]{3,}"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_NUMERIC = (
    # 2024-03-05, 2024/3/5, 2024-03. Not 2024/03: files of courts and seasons are numbered so.
    r"(?<!\w)(?<!\d[.,])(?:(?P<year_first>1\d{3}|20\d\d)"
    rf"(?:(?P<mark>[-/.])(?P<month>{_MONTH})(?P=mark)(?P<day_last>{_DAY})"
    r"|-(?P<month_alone>0[1-9]|1[0-2])(?!-\d))"
    # 3/2025
    rf"|(?<![/-])(?P<month_before>{_MONTH})/(?P<year_after>(?:19|20)\d\d)(?![/-])"
    # 5.3.2024, 5. 3. 24, 5/3/2024
    r"|(?P<one>\d\d?)(?P<sign>[-/.])\s?(?P<two>\d\d?)(?P=sign)\s?(?P<year_last>\d{4}|\d\d(?!\.\d)))"
    r"(?!\w)"
)
_WORDED = (
    # 5th of March 2024, 5. März 2024, 5 de marzo de 2024; March 5, 2024; March 2024; March
    rf"|(?:(?<!\w)(?<!\d[.,])(?P<before>{_DAY})(?:st|nd|rd|th|er|\.|º)?[\s-](?:of\s|de\s)?)?"
    rf"\b(?P<name>{_WORD})\b\.?(?(before)|(?:\s(?P<after>{_DAY})(?:st|nd|rd|th)?(?!\w|[.:]\d))?)"
    r"(?:,?[\s-](?:de\s|del\s)?(?P<year>\d{4})(?!\w))?"
)
_PATTERN = re.compile(_NUMERIC + _WORDED)
_NUMBERS = re.compile(_NUMERIC)
_GOES_ON = re.compile(r"\s[^\W\d_]")
_FOUR = 4
_MOST_MONTHS, _MOST_DAYS = 12, 31
_LAST_CENTURY = 69  # 5.3.84 is in 1984, as strptime has it

_TIME = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\b\d{1,2}:\d\d\b"
    # "on 4.10" and "4.10. bis 9.10." are days; "4.10 euros", "5.6 kilometres" and "7/10" aren't.
    r"|(?:(?i:\b(?:am|vom|zum|bis|ab|seit|on|by|from|until|since|le|el|il|dal|del)\s))"
    r"(?:0?[1-9]|[12]\d|3[01])[./-](?:0?[1-9]|1[0-2])(?![\d,]|\.\d|\s?[%€$£]|\s[^\W\d_]?[mgl]\b)"
    r"|(?<![\d.,$€£])(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?=\s?(?:[–-]|bis\b))"
    r"|\b\d{1,2}\s?(?:am|pm|a\.m\.|p\.m\."
    r"|o[’']clock|Uhr|heures?)(?!\w)|\b(?:dawn|noon|midnight|sunset|sunrise|spring|summer|autumn|winter"
    r"|yesterday|today|tomorrow|Mittag|Mitternacht|Frühling|Frühjahr|Sommer|Herbst|Winter|gestern|heute"
    r"|morgen)\b|\b(?:year|Jahr|an|año|anno|ano|jaar|år)\s\d+"
)
_RECURRING = re.compile(
    r"\b(?:(?:first|second|third|fourth|fifth|sixth|seventh|last|\d+(?:st|nd|rd|th)) (?:working )?"
    r"(?:day|week|month|quarter)|(?:first|last|\d+(?:st|nd|rd|th)) of the month"
    r"|(?:every|each) (?:\w+ )?(?:day|week|month|quarter|year)"
    r"|daily|weekly|monthly|quarterly|annually|yearly"
    r"|(?:ersten|zweiten|dritten|vierten|fünften|letzten|\d{1,2}\.) (?:(?:Werk|Arbeits)?tag )?"
    r"(?:des|jedes|im|eines jeden) (?:\w+ )?(?:Monats?|Quartals?|Jahr(?:es)?)"
    r"|(?:jede[nsr]?) (?:\w+ )?(?:Tag|Woche|Monat|Quartal|Jahr)|täglich|wöchentlich|monatlich"
    r"|vierteljährlich|jährlich)\b",
    re.I,
)
_NUMBER_OF = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen"
    r"|eine[rnms]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|vierzehn)"
    r" (?:(?:working|calendar|business|full|volle[nr]?) )?"
    r"(?:(?:day|week|month|year|hour|minute)s?"
    r"|(?:Werk|Arbeits)?Tag(?:en?)?|Wochen?|Monat(?:en?)?|Jahr(?:en?)?|Stunden?|Minuten?)"
)
_RELATIVE = re.compile(
    rf"(?i)\b(?:within|no later than|innerhalb(?: von)?|binnen|spätestens(?: nach)?) {_NUMBER_OF}\b"
    rf"|\b{_NUMBER_OF} (?:before|after|ahead|in advance|beforehand|afterwards|vor|nach|vorher"
    r"|danach|im Voraus)\b"
)
_TO = re.compile(r"(?i),?\s?(?:to|until|till|through|bis(?: zum)?|[–-])\s?(?:the )?")
_DAY_TO = re.compile(  # the first day, of the same month as the last
    r"(?i)(?<![\w.,:/£$€])(?P<day>[12]?\d|3[01])(?:st|nd|rd|th|\.)?"
    r"\s?(?:to|until|till|through|bis(?: zum)?|[–-])\s?(?:the )?$"
)
_MARCH, _COMMON_YEAR = 3, 2025
_UNTIL = re.compile(
    r"(?i)\b(?:until|till|through|to|by|bis|zum|jusqu[’']au?|hasta(?: el)?|fino al?|até|tot):?\s+"
    r"(?:the\s|zum\s|einschließlich\s)?$"
    r"|\b(?:expires?|ends?|runs? out|lapses?|endet|läuft|expiry|ablauf\w*)\b[^.]{0,20}$"
)


Reading: TypeAlias = tuple[int, int, int]  # year, month and day; 0 for what isn't said


@dataclass(frozen=True, slots=True)
class Date:
    text: str  # as written
    start: int
    end: int
    readings: tuple[Reading, ...]  # two if 7/8/2026 may be in July or in August

    @property
    def year(self) -> int:
        return self.readings[0][0]

    @property
    def month(self) -> int:
        return self.readings[0][1]

    @property
    def day(self) -> int:
        return self.readings[0][2]

    def fits(self, other: Date) -> bool:
        """Whether the other one says all that this one says."""
        return any(
            all(not own or own == theirs for own, theirs in zip(mine, theirs_read, strict=True))
            for mine in self.readings
            for theirs_read in other.readings
        )


@cache
def months(language: str | None) -> Mapping[str, int]:
    """Folded names and numbers. None: of every language; English and German first, where two have
    one word for different months."""
    if language is not None:
        return lexicon(language).months
    numbers: dict[str, int] = {}
    for code in ("en", "de", *languages()):
        for name, month in lexicon(code).months.items():
            numbers.setdefault(name, month)
    return numbers


def dates(text: str, language: str | None = "") -> list[Date]:
    """In order; None: of every language. A month by itself counts if it is capitalised: "in May",
    not "may"."""
    return [*_matching(_PATTERN, text, language)]


def numeric(text: str) -> list[Date]:
    """Dates in figures alone: 2025-02-04, 4.2.2025, 2025-02."""
    return [*_matching(_NUMBERS, text, "")]


def _matching(pattern: re.Pattern[str], text: str, language: str | None) -> Iterator[Date]:
    month_numbers, at = months(language), 0
    while match := pattern.search(text, at):
        at = match.end()
        if name := match.groupdict().get("name"):
            month = month_numbers.get(fold(name))
            readings = () if month is None else _in_words(match, month, language)
            at = at if readings else match.end("name")
        else:
            readings = _in_figures(match)
        if readings:
            written = match[0].rstrip(" ,.")
            yield Date(written, match.start(), match.start() + len(written), readings)


def _in_words(match: re.Match[str], month: int, language: str | None) -> tuple[Reading, ...]:
    name, day, year = match["name"], match["before"] or match["after"], match["year"]
    if not year and not day and name[0].islower():
        return ()
    if not year and name == "may" and _GOES_ON.match(match.string, match.end()):
        return ()  # "section 5 may not", "may 5 people"
    # "out 2" and "set 5" are Portuguese and Italian.
    if language is None and not year and len(name) < _FOUR and fold(name) not in _short():
        return ()
    return ((int(year or 0), month, int(day or 0)),)


@cache
def _short() -> frozenset[str]:
    return frozenset({*lexicon("en").months, *lexicon("de").months})


def _in_figures(match: re.Match[str]) -> tuple[Reading, ...]:
    if match["month_before"]:
        return ((int(match["year_after"]), int(match["month_before"]), 0),)
    if match["year_first"]:
        month, day = match["month_alone"] or match["month"], match["day_last"]
        return ((int(match["year_first"]), int(month), int(day or 0)),)
    year, first, second = (int(match[part]) for part in ("year_last", "one", "two"))
    if len(match["year_last"]) == 2:
        year += 2000 if year < _LAST_CENTURY else 1900
    readings = [(year, second, first)]
    if match["sign"] == "/" and first != second:
        readings.append((year, first, second))
    fits = (1 <= month <= _MOST_MONTHS and 1 <= day <= _MOST_DAYS for _, month, day in readings)
    return tuple(compress(readings, fits))


def times(text: str, language: str = "") -> list[str]:
    """Everything that says when, as written: dates, weekdays, years, hours, seasons."""
    days = lexicon(language).days
    placed = [(date.start, date.end, date.text) for date in dates(text, language)]
    others = [(match.start(), match[0]) for match in _TIME.finditer(text)]
    others += [
        (match.start(), match[0])
        for match in re.finditer(r"[^\W\d_]{3,}", text)
        if len(match[0]) > 3
        and not days.keys().isdisjoint(
            {fold(match[0]), fold(match[0]).removesuffix("s")}
        )  # "on Mondays"
        and (match[0][0].isupper() or language)
    ]
    for at, written in others:
        if not any(start <= at < end for start, end, _ in placed):
            placed.append((at, at + len(written), written))
    return [written for _, _, written in sorted(placed)]


def recurring(text: str) -> list[str]:
    """Days that come again, as written: "the fifth day", "every Monday"."""
    return [match[0] for match in _RECURRING.finditer(text)]


def until(text: str, language: str = "") -> str:
    """The last day of a span, as written: "until 14 March"; empty if the text has none."""
    ends = [date.text for date in dates(text, language) if _UNTIL.search(text[: date.start])]
    return ends[-1] if ends else ""


def relative(text: str) -> list[str]:
    """Days counted from another one, as written: "within ten days", "three weeks before"."""
    return [match[0] for match in _RELATIVE.finditer(text)]


@dataclass(frozen=True, slots=True)
class Span:
    text: str  # as written
    nights: int


def span(text: str, language: str = "") -> Span | None:
    """The first span of days that is written from its first to its last: "9 to 14 June"."""
    sourced = dates(text, language)
    for at, last in enumerate(sourced):
        first = sourced[at - 1] if at else None
        if first is not None and _TO.fullmatch(text, first.end, last.start):
            begins, start = first.readings[0], first.start
        elif bare := _DAY_TO.search(text, 0, last.start):
            begins, start = (0, 0, int(bare["day"])), bare.start()
        else:
            continue
        nights = _nights(begins, last.readings[0])
        if nights > 0:
            return Span(text[start : last.end], nights)
    return None


def _nights(first: Reading, last: Reading) -> int:
    """0 if days aren't said, or if they are in the wrong order."""
    year = last[0] or first[0]
    try:
        ends = datetime.date(year or _COMMON_YEAR, last[1], last[2])
        begins = datetime.date(first[0] or ends.year, first[1] or ends.month, first[2])
    except ValueError:
        return 0
    over_february = not year and begins.month < _MARCH <= ends.month
    return 0 if over_february else (ends - begins).days


def unmatched(text: str, language: str, among: Sequence[tuple[str, str]]) -> list[str]:
    """The dates of a text that match none of the others' (text and language): another day, month
    or year."""
    sourced = [date for other, code in among for date in dates(other, code)]
    return [date.text for date in dates(text, language) if not any(map(date.fits, sourced))]
