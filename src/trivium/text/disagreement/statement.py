"""What a sentence says of a named person, place or thing, and in which role: "born: 1815", "mayor:
Ines Vale", "budget: 40,000 euros".

Knows nothing of other sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from trivium.text.dictionary import in_dictionary
from trivium.text.disagreement.roles import TITLES, Role, called, folded_name, role_of
from trivium.text.lexicon.conditions import conditions, intervals
from trivium.text.lexicon.dates import Date, dates, times
from trivium.text.lexicon.grammar import function_words
from trivium.text.lexicon.names import PHONE, names
from trivium.text.lexicon.quantities import Quantity, quantities
from trivium.text.lexicon.words import MONEY, is_money, money
from trivium.text.normalise import fold
from trivium.text.stems import stem, stop_words

_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[,;:]\s")
_ENDS = re.compile(r"[,;](?= \S+ \S+ \S)")
_OWN_DIGITS = 6  # of a phone number: what stands before may be left out
_SHORTEST = 20  # characters of what is said of a value, without what leads to it
_LONGEST_NAME = 100  # characters
_YEAR = re.compile(r"1\d{3}|20\d\d")
# Of an invented world, or long ago: "in 612", "the year 431", "- 618: death of King Aldous".
_SHORT_YEAR = re.compile(
    r"(?:\b(?:in|since|until|by|around|AD|um|seit|bis|anno|en)\s|^\W*)(?P<year>\d{3})"
    r"(?=\s*[.,;:)]|\s*$|\s(?:the|was|at|in|of|by|war|der|die|wurde)\b)",
    re.I,
)
_YEAR_ALONE = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")
# Whatever the dictionary says of the two words.
_GERMAN = re.compile(r"\b(?:ist|war|heißt|hieß|durch|von) ([A-ZÄÖÜ]\w+ [A-ZÄÖÜ]\w+)(?=[.,;]|$)")
_LISTED = re.compile(r"\s*(?:,|&|,?\s(?:and|or|und|oder|et|y|e))\s+")
_OF_A_FORM = re.compile(r"\W*([A-ZÀ-Þ][a-zß-ÿ]+(?: [^\W\d_]+){0,3}) ?(?=[\d+:(–-])")
_LABELLED = re.compile(
    r"\b(?P<noun>[^\W\d_]{3,}) (?P<number>\d{1,4})(?![\w%€$£°]|[.,:/-]\d|\s[%€$£°])"
    r"(?:\s(?P<after>\w+))?"
)
_NAMED_YEAR = re.compile(r"[^\W\d]\s(\d+)$")  # the year 431
# After a name: Odile Fontaine (1893–1971), Otto Lind 1911-1986.
_LIFE = re.compile(
    r"(?<=[\w.,] )(?:\((?P<born>\d{3,4})\s?[-–]\s?(?P<died>\d{3,4})\)"
    r"|(?<=[a-zß-ÿ,] )(?P<b>1\d{3}|20\d\d)\s?[-–]\s?(?P<d>1\d{3}|20\d\d)\.?$)"
)
_SPAN = re.compile(r"\d{4}\s*[-–]\s*\d{2,4}|\b(?:from|until|since|von|bis|seit)\b.*\d{4}", re.I)
# With one of these a role has one holder: somebody is or was it, did it, lives there. Two people
# can meet a mayor, but only one is it.
_HOLDS = re.compile(
    r"\b(?:is|was|are|were|been|by|lives?|lived|born|belongs?|owns?|leads?|married|elected|headquarters|ist|war|sind|waren"
    r"|wurde|von|durch|wohnt|lebt|geboren|gehört|gewählt|est|était|fut|par|vit|née?|es|era|fue|por"
    r"|vive|nació|è|fu|da|abita|nat[oa]|werd|door|woont|är|av|bor)\b|[’']s\b|[,:] (?=[A-ZÀ-Þ])",
    re.I,
)
_ADDED = re.compile(r"\([^)]*\)")
_LABEL = re.compile(r"\w+(?: \w+)?:\s*[^a-zß-ÿ\s]")
_LAST_WORD = re.compile(r"\b[A-ZÀ-Þ][^\W\d_]+\s$")
# "needs Python 3" is a version; Invoice 811 is none.
_NEEDS = re.compile(
    r"(?i)\b(?:needs?|requires?|uses?|runs?(?: on| with)?|works with|braucht|benötigt"
    r"|läuft (?:auf|mit|unter)) \w+ $"
)
_HOUR = re.compile(r"(\d{1,2})(?::(\d\d))?\s?(am|pm|a\.m\.|p\.m\.)?", re.I)
_SIZES = {
    stem: words.split()[0]
    for words in ("long length lang lang", "wide width breadth breit breit", "deep depth tief tief",
                 "high height tall altitude hoch hoh")
    for stem in words.split()
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A number, a date or a name, with the words that say what it is."""

    kind: str  # what it can be compared with: "year", "EUR", "length", "name", …
    text: str
    start: int
    end: int
    role: Role
    quantity: Quantity | None = None
    date: Date | None = None
    days: int = 0  # until something comes again

    def same(self, other: Value) -> bool:
        if self.quantity is not None and other.quantity is not None:
            return self.quantity.same(other.quantity) or other.quantity.same(self.quantity)
        if self.date is not None and other.date is not None:
            return self.date.fits(other.date) or other.date.fits(self.date)
        if self.days:
            return self.days == other.days
        if self.kind == "hour":
            return _minutes(self.text) == _minutes(other.text)
        if self.kind == "phone":
            mine, theirs = (re.sub(r"\D", "", value.text)[-_OWN_DIGITS:] for value in (self, other))
            return mine == theirs
        return is_one(self.text, other.text) or _is_initial(self.text, other.text)

    @property
    def size(self) -> str:
        """What a length measures: `deep` of "9 m deep" and of "depth: 9 m"."""
        near = (self.role.next, *self.role.before[:1]) if self.kind == "length" else ()
        return next((_SIZES[word] for word in near if word in _SIZES), "")

    def counts_other(self, other: Value) -> bool:
        """Whether one counts chairs and the other tables, or one says how long, the other how high
        something is."""
        mine, theirs = self.role.next, other.role.next
        return self.size != other.size or (self.kind == "number" and "" != mine != theirs != "")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence's names and values."""

    text: str
    language: str
    names: tuple[str, ...]  # folded
    about: tuple[str, ...]  # names in the title of its document or section
    first: str  # its first word, which may be a name
    values: tuple[Value, ...]
    times: frozenset[str]  # years
    label: str  # what it begins with, as a line of a form: `speed` of "Speed 30 ft."
    labels: Mapping[str, str]  # flat 7, sprint 14
    is_span: bool  # from one time to another
    holds: bool  # says who or where somebody is
    conditions: Mapping[int, frozenset[int]]  # in summer, on Sundays, for children
    row: str = ""  # of a table: its label, folded

    def around(self, value: Value) -> str:
        """Its part of the sentence, between commas."""
        before, after = self.text[: value.start], self.text[value.end :]
        return f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(after)[0]}"

    def without(self, value: Value) -> str:
        """What it says of a value, with a blank to fill in."""
        before, after = self.text[: value.start], self.text[value.end :]
        before = before[before.rfind(": ", 0, max(0, len(before) - _SHORTEST)) + 1 :].lstrip()
        end = _ENDS.search(after)
        return f"{before}___{after[: end.start()] if end else after}"

    @property
    def may_name(self) -> tuple[str, ...]:
        return self.names or ((self.first,) if self.first else ())

    @property
    def only_names(self) -> bool:
        """Whether it says that one name has a role, and nothing else."""
        values = all(value.kind == "name" for value in self.values)
        return self.holds and values and len(self.may_name) == 1


def statement(sentence: str, language: str, about: str = "") -> Statement:
    """`about`: the title of its document or section, whose names count as named."""
    plain = re.sub(r"[’']s\b", "", sentence)
    written = dict.fromkeys(name.rstrip(".'’") for name in names(plain, language))
    own = [_untitled(name, language) for name in written if _is_name(name, language)]
    opening = re.match(r"[A-ZÀ-Þ][\w-]+", plain)
    if opening and opening[0] not in " ".join(own).split() and _is_no_word(opening[0], language):
        own.insert(0, opening[0])  # "Hest has a harbour"
    if language == "de":
        own += [name for name in _GERMAN.findall(plain) if name not in own]
    labels = _labels(plain, language)
    named = [*_names_in(own), *(f"{noun} {number}" for noun, number in labels.items())]
    first = fold(next(iter(_WORD.findall(plain)), ""))
    in_longer = any(" " in name and first in name.split() for name in named)
    if (
        _LABEL.match(plain)
        or in_longer
        or not first.isalpha()
        or first in stop_words(language or "en")
    ):
        first = ""  # "Total:", "The", "In", or a part of "Project Falcon"
    values = [*_dated(plain, named, language)]
    for start, end, days in intervals(plain, language):
        role = role_of(plain, start, end, named, language)
        values.append(Value("interval", plain[start:end], start, end, role, days=days))
    taken = [(value.start, value.end) for value in values]
    values += _counted(plain, named, language, taken)
    for name, at in _alone(plain, own):
        role = role_of(plain, at, at + len(name), named, language)
        values.append(Value("name", name, at, at + len(name), role))
    years = [value.text for value in values if value.kind == "year"]
    return Statement(
        plain,
        language,
        tuple(named),
        tuple(_names_in(names(_ADDED.sub(" ", about), language))),
        first,
        tuple(values),
        frozenset(years or _YEAR_ALONE.findall(about)),
        _label(plain, language),
        labels,
        bool(_SPAN.search(_LIFE.sub("", plain))),
        bool(_HOLDS.search(sentence)),
        {**conditions(about, language), **conditions(plain, language)},
    )


def _label(sentence: str, language: str) -> str:
    line = _OF_A_FORM.match(sentence)
    label = folded_name(line[1]) if line else ""
    return label if all(in_dictionary(word, language or "en") for word in label.split()) else ""


def _labels(sentence: str, language: str) -> dict[str, str]:
    """What is called by a number: `flat 7` of "the deposit for flat 7 is paid"."""
    stops = stop_words(language or "en")
    labels = {}
    for match in _LABELLED.finditer(sentence):
        noun, after = fold(match["noun"]), fold(match["after"] or "")
        is_counted = after and after not in function_words(language)  # closed 31 tickets
        if noun not in stops and not is_counted and not _YEAR.fullmatch(match["number"]):
            labels[noun] = match["number"]
    return labels


def _alone(sentence: str, own: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The names and where they are, without those that stand in a list: "A, B and C came"."""
    placed = sorted((sentence.find(name), name) for name in own)
    listed: list[int] = []
    for (at, name), (then, _) in pairwise(placed):
        if _LISTED.fullmatch(sentence, at + len(name), then):
            listed += [at, then]
    for at, name in placed:
        if listed.count(at) + (len(listed) > 2) < 2:  # "The mayor of Hest, Ines Vale" isn't one
            yield name, at


def _dated(sentence: str, named: list[str], language: str) -> Iterator[Value]:
    """Dates, hours and weekdays. Years are numbers."""
    written = [date for date in dates(sentence, language) if date.month]
    for date in written:
        role = role_of(sentence, date.start, date.end, named, language)
        yield Value("date", date.text, date.start, date.end, role, date=date)
        if date.year:
            yield Value("year", str(date.year), date.start, date.end, role)
    for when in times(sentence, language):
        if not _YEAR.fullmatch(when) and not any(when in date.text for date in written):
            at = sentence.find(when)
            role = role_of(sentence, at, at + len(when), named, language)
            year = _NAMED_YEAR.search(when)
            kind = "year" if year else "hour" if when[0].isdigit() else "day"
            yield Value(kind, year[1] if year else when, at, at + len(when), role)
    for match in _SHORT_YEAR.finditer(sentence):
        start, end = match.span("year")
        role = role_of(sentence, start, end, named, language)
        yield Value("year", match["year"], start, end, role)
    for match in _LIFE.finditer(sentence):
        for event, short in (("born", "b"), ("died", "d")):
            group = event if match[event] else short
            yield Value("year", match[group], *match.span(group), Role((event,), ()))


def _counted(
    sentence: str, named: list[str], language: str, taken: list[tuple[int, int]]
) -> Iterator[Value]:
    """Numbers that are no part of a date, by what they count or measure; and phone numbers."""
    for match in PHONE.finditer(sentence):
        if not any(start <= match.start() < end for start, end in taken):
            taken.append(match.span())
            role = role_of(sentence, *match.span(), named, language)
            yield Value("phone", match[0], *match.span(), role)
    for counted in quantities(sentence, language):
        start, end = counted.start, counted.end
        if not counted.readings or any(first <= start < last for first, last in taken):
            continue
        role = role_of(sentence, start, end, named, language)
        if counted.unit is None and _YEAR.fullmatch(counted.text):
            yield Value("year", counted.text, start, end, role)
        elif kind := _measured(counted, sentence[:start], language):
            if fold(counted.text).endswith(("pound", "pounds")):  # of money, mostly
                pounds = replace(counted, unit=money("GBP"))
                yield Value("money", counted.text, start, end, role, pounds)
            else:
                yield Value(kind, counted.text, start, end, role, counted)


def _measured(number: Quantity, before: str, language: str) -> str:
    """What a number can be compared with: "money", "length", "number", or `python` of Python 3.
    Empty: Invoice 811 and room 12 are things of their own."""
    if number.unit is not None:
        return "money" if is_money(number.unit) else number.unit.dimension
    word = _LAST_WORD.search(before) if number.text.isdigit() else None
    name = fold(word[0].strip()) if word is not None else ""
    if not name or name in stop_words(language or "en"):
        return "number"
    return name if _is_no_word(name, language) or _NEEDS.search(before) else ""


def _minutes(hour: str) -> int:
    written = _HOUR.match(hour)
    if written is None:
        return -1
    half = (written[3] or "").lower()  # am, pm
    of_day = int(written[1]) % 12 if half else int(written[1])
    return (of_day + (12 if half.startswith("p") else 0)) * 60 + int(written[2] or 0)


def _is_name(name: str, language: str) -> bool:
    """In German every noun has a capital; those that the language has are no names."""
    if fold(name) in MONEY:
        return False
    return language != "de" or " " in name or _is_no_word(name, language)


def _untitled(name: str, language: str) -> str:
    """Mayor Ines Vale is Ines Vale."""
    title, _, rest = name.partition(" ")
    plain = fold(title).strip(".")
    is_title = plain in TITLES or stem([plain], language)[0] in called(language)
    return rest if rest and is_title else name


def _is_initial(name: str, other: str) -> bool:
    """Whether two names may be one person's: Ines Calloway, I. Calloway."""
    mine, theirs = folded_name(name).split(), folded_name(other).split()
    same = len(mine) > 1 and len(theirs) > 1 and mine[-1] == theirs[-1]
    return same and mine[0][0] == theirs[0][0]


def _is_no_word(word: str, language: str) -> bool:
    return not in_dictionary(fold(word), language or "en")


def _names_in(written: Iterable[str]) -> list[str]:
    """Folded. A letter of a formula is no name, nor is a page in capitals."""
    return [name for name in map(folded_name, written) if 0 < len(name) <= _LONGEST_NAME]


def is_one(name: str, other: str) -> bool:
    mine, theirs = set(folded_name(name).split()), set(folded_name(other).split())
    return bool(mine) and bool(theirs) and (mine <= theirs or theirs <= mine)
