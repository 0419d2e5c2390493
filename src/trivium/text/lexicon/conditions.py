"""When, where and for whom a sentence holds: in summer, on Sundays, for children; and how often
something comes again. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from trivium.text.lexicon.words import lexicon
from trivium.text.normalise import fold

# Words of one line exclude each other; those with a + between them are one.
_APART = (
    "spring+fruhling summer+sommer autumn+fall+herbst winter",
    "morning+mornings+morgens+vormittags afternoon+afternoons+nachmittags evening+evenings+abends"
    " night+nights+nachts",
    "adult+adults+erwachsene+erwachsenen child+children+kids+kinder+kindern"
    " student+students+studenten+studierende youth+jugendliche senior+seniors+senioren",
    "single+einzelzimmer double+doppelzimmer twin",
    "old+alte+alten new+neue+neuen", "left+links right+rechts", "upper+obere lower+untere",
    "north+northern south+southern east+eastern west+western", "small large medium",
    "minimum+minimal+mindestens maximum+maximal+hochstens", "net+netto gross+brutto",
    "first+erste+ersten second+zweite+zweiten third+dritte+dritten fourth+vierte fifth+funfte",
)  # fmt: skip
_KNOWN: dict[str, tuple[int, int]] = {
    word: (line, number)
    for line, line_words in enumerate(_APART)
    for number, same in enumerate(line_words.split())
    for word in same.split("+")
}
_OF_WEEK = len(_APART)
_SHORTEST = 3  # letters: "sun" and "mit" are other words
_WORKDAYS = ("weekdays", "weekday", "werktags", "workdays", "wochentags")
_WEEKEND = ("weekend", "weekends", "wochenende", "wochenenden")
_WORD = re.compile(r"[^\W\d_]+")
_UNITS = {
    "day": 1, "tag": 1, "tage": 1, "tagen": 1, "week": 7, "woche": 7, "wochen": 7, "month": 30,
    "monat": 30, "monate": 30, "monaten": 30, "year": 365, "jahr": 365, "jahre": 365, "jahren": 365,
}  # fmt: skip
_ADVERBS = {
    "daily": 1, "taglich": 1, "weekly": 7, "wochentlich": 7, "fortnightly": 14, "monthly": 30,
    "monatlich": 30, "quarterly": 91, "vierteljahrlich": 91, "halbjahrlich": 182, "yearly": 365,
    "annually": 365, "jahrlich": 365,
}  # fmt: skip
_COUNTS = {"once": 1, "twice": 2, "einmal": 1, "zweimal": 2, "dreimal": 3}
_NTH = {
    "other": 2, "second": 2, "third": 3, "fourth": 4, "zweite": 2, "zweiten": 2, "zweites": 2,
    "dritte": 3, "dritten": 3, "drittes": 3, "vierte": 4, "vierten": 4,
}  # fmt: skip
_EVERY = re.compile(
    r"(?i)\b(?:every|each|alle|jede[nsrm]?)(?:\s(?P<count>[^\W_]+))??\s(?P<unit>"
    r"(?:day|week|month|year)s?|Tage?n?|Wochen?|Monate?n?|Jahre?n?)\b"
    r"|\b(?P<times>once|twice|einmal|zweimal|dreimal|\d+ times)\s(?:an?|per|pro|im|am|in der)\s"
    r"(?P<per>day|week|month|year|Tag|Woche|Monat|Jahr)\b"
    r"|\b(?P<adverb>[^\W\d_]+(?:ly|lich))\b(?=\s*(?:[.,;:)!]|$|(?:by|in|on|at|from|for|am|im|vom|von)\s))"
)


def conditions(text: str, language: str) -> Mapping[int, frozenset[int]]:
    """For each kind of condition which ones the text names."""
    held_on: dict[int, set[int]] = {}
    days = _days(language)
    for word in map(fold, _WORD.findall(text)):
        if word in _KNOWN:
            kind, number = _KNOWN[word]
            held_on.setdefault(kind, set()).add(number)
        elif word in days:
            held_on.setdefault(_OF_WEEK, set()).update(days[word])
    return {kind: frozenset(numbers) for kind, numbers in held_on.items()}


def are_apart(
    mine: Mapping[int, frozenset[int]],
    other: Mapping[int, frozenset[int]],
    *,
    week: bool = True,
) -> bool:
    """Whether the one holds in summer and the other in winter; `week`: or on other weekdays."""
    return any(
        not numbers & other[kind]
        for kind, numbers in mine.items()
        if kind in other and (week or kind != _OF_WEEK)
    )


@cache
def _days(language: str) -> Mapping[str, tuple[int, ...]]:
    weekdays = lexicon(language or "en").days
    days: dict[str, tuple[int, ...]]
    days = {name: (number,) for name, number in weekdays.items() if len(name) > _SHORTEST}
    days |= {f"{name}s": numbers for name, numbers in days.items()}
    days |= dict.fromkeys(_WORKDAYS, (1, 2, 3, 4, 5))
    return days | dict.fromkeys(_WEEKEND, (6, 7))


def intervals(text: str, language: str) -> Iterator[tuple[int, int, int]]:
    """How often something comes again: where it is said, and after how many days."""
    numbers = lexicon(language or "en").numbers
    for match in _EVERY.finditer(text):
        if match["adverb"]:
            days = _ADVERBS.get(fold(match["adverb"]), 0)
        elif match["times"]:
            first = fold(match["times"]).split()[0]
            times = _COUNTS.get(first) or int(first)
            days = _UNITS[fold(match["per"])] // max(1, times)
        else:
            unit = fold(match["unit"])
            each = _UNITS.get(unit) or _UNITS[unit.removesuffix("s")]
            count = fold(match["count"] or "")
            counts = {**numbers, **_NTH, "": 1}
            days = each * int(count if count.isdecimal() else counts.get(count, 0))
        if days:
            yield match.start(), match.end(), days
