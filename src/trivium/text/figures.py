"""Numbers, dates and codes as people type them: each is one thing, however a text writes it.

`3918` is £3,918.00, `7 July 2026` is 2026-07-07, BL20417 is BL-20417. A query asks for the runs of
words that such a thing may be written as, so every store finds them in the index that it has. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from trivium.core.types import Figure
from trivium.text.lexicon.dates import dates
from trivium.text.lexicon.words import lexicon
from trivium.text.normalise import words

_SEPARATORS = ".,'’\u00a0\u202f"
_NUMBER = re.compile(
    rf"(?<![\w.,/:-])(?:(?P<plain>\d{{4,}})|(?P<grouped>\d{{1,3}}(?:[{_SEPARATORS}]\d{{3}})+))"
    rf"(?:[.,](?P<cents>\d{{1,2}}))?(?![\w/:-]|[.,]\d)"
    r"|(?<![\w.,/:-])(?P<whole>\d+)[.,](?P<part>\d+)(?![\w/:-]|[.,]\d)"
)
# Letters, and digits of which at least four stand together: covid-19 and B12 are words. Or groups
# of digits: an account, a policy.
_CODE = re.compile(
    r"(?<![\w/.-])(?=[\w/.-]*\d{4})(?=[\w/.-]*[^\W\d_])\w+(?:[/.-]\w+)*(?![\w-])"
    r"|(?<![\w/.,-])(?P<groups>\d+(?:[/-]\d+)+)(?![\w/-]|[.,]\d)"
)
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_YEARS = re.compile(r"(\d{3,4})[/-](\d{3,4})")
_DECADE = re.compile(r"\D*(?:1[4-9]|20)\d\d\D*")  # 1970s, mid-1990s, post-2008
_LAST_YEAR = 2100
_GROUPED = 7  # digits of such groups; 2019/20 and 24-7 are none
_LONGEST_CODE = 40
_ENGLISH = "en"
_TELLING = 3  # characters: "bl" and "07" are in many documents
_MONTHS, _DAYS = 12, 31
_LATIN = ("es", "pt", "ca")  # 7 de julio de 2026


def figures(text: str) -> Iterator[tuple[int, int, Figure]]:
    """Where they are, in order; none inside another. Nothing is a date that no calendar has."""
    if not any(map(str.isdigit, text)):
        return
    written = [*_dates(text), *_numbers(text), *_codes(text)]
    end = 0
    for start, stop, figure in sorted(written, key=lambda place: (place[0], -place[1])):
        if start >= end:
            yield start, stop, figure
            end = stop


def runs(figure: Figure, codes: Iterable[str]) -> list[tuple[str, ...]]:
    """Every way to write it, as words, in these languages and in English."""
    forms = dict.fromkeys(figure.forms)
    languages = tuple(sorted({_ENGLISH, *codes}))
    for day in figure.days:
        forms |= dict.fromkeys(_written(*day, languages))
    return [*forms]


def nearly(figure: Figure) -> list[tuple[str, ...]]:
    """What may mean it: words of a date or a code that say something by themselves, such as a month
    or the number of an order, and 8/7/2026 for 7 August."""
    if figure.digits:
        return []
    runs_of_words: list[tuple[str, ...]] = [
        (word,) for word in figure.words if len(word) >= _TELLING
    ]
    for year, month, day in figure.days:
        if year and day and month != day:
            runs_of_words += [
                (f"{month}", f"{day}", f"{year}"),
                (f"{month:02}", f"{day:02}", f"{year}"),
            ]
    return runs_of_words


def is_in(figure: Figure, text: str, spaced: str, language: str) -> bool:
    """Whether a text, `spaced` as its words with one blank around each, has it."""
    if figure.digits:
        return bool(_alone(figure.digits, figure.decimals).search(text))
    if any(f" {' '.join(run)} " in spaced for run in runs(figure, (language,))):
        return True
    return any(
        re.search(rf"(?<!\d)0?{month}/0?{day}/{year}(?!\d)", text)
        for year, month, day in figure.days
        if year and day
    )


def date_words(language: str, year: int, month: int, day: int) -> list[str]:
    """The words by which a document of this day is known: 20260707, 202607, 7 july 2026, 7 jul
    2026."""
    if not 0 < month <= _MONTHS:
        return [f"{year:04}"]
    named = [word for name in _names(language)[month] for word in (str(day), name, f"{year:04}")]
    if not 0 < day <= _DAYS:
        return [f"{year:04}{month:02}", *(word for word in named if word != str(day))]
    return [f"{year:04}{month:02}{day:02}", f"{year:04}{month:02}", *named]


def _dates(text: str) -> Iterator[tuple[int, int, Figure]]:
    """Days, and months in figures ("July 2026" is two words); none inside a code or a path."""
    for date in dates(text, None):
        around = {text[max(0, date.start - 1) : date.start], text[date.end : date.end + 1]}
        is_month = date.text[0].isdigit() and "/" not in date.text  # "1/2000 of the people"
        if (date.day or is_month) and not around & {"-", "/"}:
            yield date.start, date.end, Figure(tuple(words(date.text)), days=date.readings)


def _numbers(text: str) -> Iterator[tuple[int, int, Figure]]:
    for match in _NUMBER.finditer(text):
        yield *match.span(), _number(match)


def _number(match: re.Match[str]) -> Figure:
    """`.00` says nothing; `3.918` may be in thousands, `0.355` can't."""
    typed = tuple(words(match[0]))
    whole = match["plain"] or match["grouped"]
    if whole is None or whole[0] == "0":
        part = match["part"] or "".join(typed[1:])
        return Figure(typed, (typed,), digits=typed[0], decimals=part)
    digits, cents = "".join(filter(str.isdigit, whole)), match["cents"] or ""
    after = (cents,) if cents.strip("0") else ()
    groups = tuple(words(f"{int(digits):,}"))
    forms = dict.fromkeys([(digits, *after), (*groups, *after)])
    return Figure(typed, tuple(forms), digits=digits, decimals="".join(after))


def _codes(text: str) -> Iterator[tuple[int, int, Figure]]:
    for match in _CODE.finditer(text):
        if _is_code(match[0]):
            typed = tuple(words(match[0]))
            parts = tuple(_PARTS.findall(" ".join(typed)))
            forms = dict.fromkeys([typed, ("".join(typed),), parts])
            yield *match.span(), Figure(typed, tuple(forms))


def _is_code(typed: str) -> bool:
    if len(typed) > _LONGEST_CODE or _DECADE.fullmatch(typed):
        return False
    if any(map(str.isalpha, typed)):
        return True
    span = _YEARS.fullmatch(typed)
    if span and int(span[1]) < int(span[2]) <= _LAST_YEAR:
        return False
    return sum(map(str.isdigit, typed)) >= _GROUPED


@lru_cache(maxsize=256)
def _alone(digits: str, decimals: str) -> re.Pattern[str]:
    """A number that is no part of a longer one: 3,918 isn't in 3,918,000. 1990s and 1990a are."""
    marks = f"[{_SEPARATORS} ]?"
    first = len(digits) % 3 or 3
    groups = [digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))]
    whole = marks.join(groups)
    before = rf"(?<![^\W_])(?<!\d[{_SEPARATORS}])"
    if decimals:
        return re.compile(rf"{before}{whole}[.,\s]{decimals}(?!\d)")
    return re.compile(rf"{before}{whole}(?!\d|[{_SEPARATORS}]\d{{3}}(?!\d))")


@lru_cache(maxsize=256)
def _written(
    year: int, month: int, day: int, codes: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    months = sorted({str(month), f"{month:02}"})
    names = {name: code for code in codes for name in _names(code)[month]}
    if not day:
        forms = [(f"{year}{month:02}",), *((f"{year}", m) for m in months)]
        forms += [(m, f"{year}") for m in months]
        return (*forms, *((name, f"{year}") for name in names))
    figures = {str(day), f"{day:02}", _ordinal(day)}
    ends = ((f"{year}",),) if year else ((),)
    forms = [] if not year else [(f"{year}{month:02}{day:02}",)]
    for name, code in names.items():
        for d in sorted(figures):
            forms += [(d, name, *end) for end in ends] + [(name, d, *end) for end in ends]
            forms += [(d, "of", name, *end) for end in ends if code == _ENGLISH]
            forms += [
                (d, "de", name, *(("de", *end) if end else ())) for end in ends if code in _LATIN
            ]
    if year:
        plain = [(d, m) for d in {str(day), f"{day:02}"} for m in months]
        for d, m in sorted(plain):
            forms += [(f"{year}", m, d), (d, m, f"{year}")]
            forms.append((d, m, f"{year % 100:02}"))
    return tuple(dict.fromkeys(forms))


def _ordinal(day: int) -> str:
    teens = range(11, 14)
    ending = "th" if day in teens else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


@cache
def _names(language: str) -> dict[int, list[str]]:
    """The folded names of each month."""
    names: dict[int, list[str]] = {month: [] for month in range(1, _MONTHS + 1)}
    for name, month in lexicon(language).months.items():
        names[month] += [name] if len(words(name)) == 1 else []
    return names
