"""The dates of a text, in words or figures: day, month and year, as far as it says them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from trivium.text.lexicon.words import lexicon
from trivium.text.normalise import fold

_WORD = r"[^\W\d_]{3,}"
_NUMERIC = (
    r"\b(?P<iso_year>\d{4})-(?P<iso_month>\d\d)-(?P<iso_day>\d\d)\b"
    r"|\b(?P<dot_day>\d{1,2})\.\s?(?P<dot_month>\d{1,2})\.\s?(?P<dot_year>\d{4})\b"
)
_WORDED = (
    # 5th of March 2024, 5. März 2024, 5 de marzo de 2024
    rf"|\b(?P<day_a>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?\s(?:of\s|de\s)?(?P<a>{_WORD})\.?"
    r"(?:,?\s(?:de\s|del\s)?(?P<year_a>\d{4}))?\b"
    # March 5, 2024; March 2024; March
    rf"|\b(?P<b>{_WORD})\.?(?:\s(?P<day_b>\d{{1,2}})(?:st|nd|rd|th)?(?!\d),?)?"
    r"(?:\s(?:de\s)?(?P<year_b>\d{4}))?\b"
)
_PATTERN = re.compile(_NUMERIC + _WORDED)
_NUMBERS = re.compile(_NUMERIC)
_MONTH = re.compile(  # of a year: 2025-03, 3/2025
    r"(?<![\w.,/-])(?:(?P<year_a>(?:19|20)\d\d)-(?P<a>0[1-9]|1[0-2])"
    r"|(?P<b>0?[1-9]|1[0-2])/(?P<year_b>(?:19|20)\d\d))(?![\w/-])"
)

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
    r"(?:day|week|month|quarter)|(?:every|each) (?:\w+ )?(?:day|week|month|quarter|year)"
    r"|daily|weekly|monthly|quarterly|annually|yearly"
    r"|(?:jede[nsr]?) (?:\w+ )?(?:Tag|Woche|Monat|Quartal|Jahr)|täglich|wöchentlich|monatlich"
    r"|vierteljährlich|jährlich)\b",
    re.I,
)
_UNTIL = re.compile(
    r"(?i)\b(?:until|till|through|to|by|bis|zum|jusqu[’']au?|hasta(?: el)?|fino al?|até|tot)\s+"
    r"(?:the\s|zum\s|einschließlich\s)?$"
    r"|\b(?:expires?|ends?|runs? out|lapses?|endet|läuft|expiry|ablauf\w*)\b[^.]{0,20}$"
)


@dataclass(frozen=True, slots=True)
class Date:
    text: str  # as written
    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None

    def fits(self, other: Date) -> bool:
        """Whether the other one says all that this one says."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
            )
        )


@cache
def months(language: str) -> tuple[tuple[str, int], ...]:
    """Folded names and numbers."""
    return tuple(lexicon(language).months.items())


@cache
def _months(language: str) -> dict[str, int]:
    return dict(months(language))


def numeric(text: str) -> list[Date]:
    """Dates in figures alone: 2025-02-04, 4.2.2025, 2025-02."""
    days = [date for found in _NUMBERS.finditer(text) for date in dates(found[0])]
    return days + [
        Date(m[0], *m.span(), int(m["year_a"] or m["year_b"]), int(m["a"] or m["b"]))
        for m in _MONTH.finditer(text)
    ]


def dates(text: str, language: str = "") -> list[Date]:
    """In order. A month by itself counts if it is capitalised: "in May", not "may"."""
    known, found = _months(language), []
    at = 0
    while match := _PATTERN.search(text, at):
        given = match.groupdict()
        name = given["a"] or given["b"]
        month = known.get(fold(name)) if name else None
        at = match.end()
        if name and month is None:
            at = match.end("a") if given["a"] else match.end("b")
            continue
        alone = bool(name) and not any(
            given[part] for part in ("day_a", "year_a", "day_b", "year_b")
        )
        if alone and (not name[0].isupper() or len(name) < 3):
            continue
        number = given["iso_month"] or given["dot_month"]
        year = given["iso_year"] or given["dot_year"] or given["year_a"] or given["year_b"]
        day = given["iso_day"] or given["dot_day"] or given["day_a"] or given["day_b"]
        found.append(
            Date(
                match[0].rstrip(" ,"),
                match.start(),
                match.end(),
                int(year) if year else None,
                int(number) if number else month,
                int(day) if day else None,
            )
        )
    return found


def times(text: str, language: str = "") -> list[str]:
    """Everything that says when, as written: dates, weekdays, years, hours, seasons."""
    days = lexicon(language).days
    found = [(date.start, date.end, date.text) for date in dates(text, language)]
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
    for at, said in others:
        if not any(start <= at < end for start, end, _ in found):
            found.append((at, at + len(said), said))
    return [said for _, _, said in sorted(found)]


def recurring(text: str) -> list[str]:
    """Days that come again, as written: "the fifth day", "every Monday"."""
    return [match[0] for match in _RECURRING.finditer(text)]


def until(text: str, language: str = "") -> str:
    """The last day of a span, as written: "until 14 March"; empty if the text has none."""
    ends = [date.text for date in dates(text, language) if _UNTIL.search(text[: date.start])]
    return ends[-1] if ends else ""


def unmatched(text: str, language: str, among: Sequence[tuple[str, str]]) -> list[str]:
    """The dates of a text that match none of the others' (text and language): another day, month
    or year."""
    known = [date for other, code in among for date in dates(other, code)]
    return [date.text for date in dates(text, language) if not any(map(date.fits, known))]
