"""What a sentence says of a named person, place or thing, and in which role: "born: 1815", "mayor:
Ines Vale", "budget: 40,000 euros".

Two sentences that share a name and give different values of one kind in one role may contradict
each other, however few other words they share. Rules without a language model; pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from trivium.text.dictionary import in_dictionary
from trivium.text.lexicon.conditions import are_apart, conditions, intervals
from trivium.text.lexicon.dates import Date, dates, times
from trivium.text.lexicon.grammar import function_words
from trivium.text.lexicon.names import PHONE, names
from trivium.text.lexicon.negation import denies
from trivium.text.lexicon.quantities import Quantity, quantities
from trivium.text.lexicon.words import MONEY, is_money, money
from trivium.text.lexicon.words import lexicon as lexicon_of
from trivium.text.normalise import fold
from trivium.text.stems import stem, stop_words

_WORD = re.compile(r"[^\W_]+")
_MOST = 0.5
_FOUR = 4
_SHORTEST = 20  # characters of what is said of a value, without what leads to it
_CLAUSE = re.compile(r"[,;:]\s")
_ENDS = re.compile(r"[,;](?= \S+ \S+ \S)")
_OWN_DIGITS = 6  # of a phone number: what stands before may be left out
_LONGEST_NAME = 100  # characters
_WITHIN = 8  # words between a value and the word that says its role
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
_TITLES = frozenset(
    ("mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "herr", "frau", "aunt", "uncle",
     "tante", "onkel", "mme", "m", "father", "mother", "grandfather", "grandmother", "grandma",
     "grandpa", "vater", "mutter", "grossvater", "grossmutter", "opa", "oma", "lord", "lady",
     "duke", "duchess", "prince", "princess", "count", "countess")
)  # fmt: skip
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
# What was so at one time only.
_ONCE = re.compile(
    r"(?i)\b(?:last (?:week|month|year|night|time|spring|summer|autumn|winter)|yesterday|gestern"
    r"|letzte[nsr]? (?:Woche|Monat|Jahr|Mal|Sommer|Winter))\b"
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
_KIND = re.compile(r"\b(project|town|city|village|island|river|castle|Projekt|Stadt) (?=[A-ZÀ-Þ])")
_LABEL = re.compile(r"\w+(?: \w+)?:\s*[^a-zß-ÿ\s]")
_LAST_WORD = re.compile(r"\b[A-ZÀ-Þ][^\W\d_]+\s$")
# "needs Python 3" is a version; Invoice 811 is none.
_NEEDS = re.compile(
    r"(?i)\b(?:needs?|requires?|uses?|runs?(?: on| with)?|works with|braucht|benötigt"
    r"|läuft (?:auf|mit|unter)) \w+ $"
)
_AGENT = re.compile(r"\b(?:by|von|durch|par|por)\s(?:\w+\.?\s)?$")  # by Duke
_HOUR = re.compile(r"(\d{1,2})(?::(\d\d))?\s?(am|pm|a\.m\.|p\.m\.)?", re.I)
_WHEN = ("date", "day", "year")
_TOLD = {
    "name": "names", "year": "dates", "date": "dates", "hour": "times", "day": "times",
    "interval": "times",
}  # fmt: skip
_NO_ROLE = frozenset(
    ("spring", "summer", "autumn", "winter", "fruhling", "fruhjahr", "sommer", "herbst",
     "have", "has", "had", "get", "got", "make", "made", "year", "people", "name", "current",
     "cost", "costs", "amounts", "set", "approved", "haben", "hat", "hatte", "jahr", "neu",
     "betragt", "kostet")
)  # fmt: skip
_SIZES = {
    stem: said.split()[0]
    for said in ("long length lang lang", "wide width breadth breit breit", "deep depth tief tief",
                 "high height tall altitude hoch hoh")
    for stem in said.split()
}  # fmt: skip
_FOR = ("for", "per", "für", "fur", "je", "pro")  # 12 euros for adults
# Function words to others, but what happened in a year, or what something does.
_ROLES_TOO = frozenset(
    ("open", "opens", "opened", "began", "begin", "begins", "end", "ends", "ended", "took", "found",
     "needs", "old", "part", "long", "high", "due", "novel", "fällig", "lang", "hoch")
)  # fmt: skip
# Roles in which somebody or something has one value, each with the words that say it. Sentences on
# one name that differ in such a role contradict each other, whatever else they say. The first have
# a time as value, the next a number, all others a name.
_ONE_VALUE = (
    "born birth birthday birthplace geboren geburt geburtstag née nació nacido",
    "died death dead gestorben starb tod todestag mort murió",
    "founded founding established foundation gegründet gründung fondée fundada",
    "deadline due frist fällig abgabe",
    "population inhabitants einwohner einwohnerzahl habitants habitantes",
    "budget budgeted eingeplant veranschlagt bewilligt presupuesto",
    "weight weigh weighs weighed gewicht wiegt wog", "rent miete kaltmiete loyer alquiler",
    "married wife husband spouse verheiratet ehefrau ehemann gatte gattin",
    "own owned owner owns belongs belonged gehört besitzer besitzerin eigentümer eigentümerin",
    "written wrote author novel geschrieben verfasst autor autorin roman",
    "capital hauptstadt", "mayor bürgermeister bürgermeisterin oberbürgermeister maire alcalde",
    "king könig", "queen königin", "president präsident präsidentin",
    "chancellor kanzler kanzlerin", "director direktor direktorin",
    "chair chairman chairwoman chairperson vorsitzender vorsitzende",
    "captain kapitän kapitänin", "leader leiter leiterin", "warden", "treasurer kassenwart",
    "headmaster headmistress headteacher schulleiter schulleiterin", "landlord landlady vermieter",
    "lead leads led leading leitet leitete geleitet leitung", "editor herausgeber",
    "publisher verlag", "ruler herrscher herrscherin",
)  # fmt: skip
_TIMES, _NUMBERS = 4, 4  # of these roles


# Whether the meanings of two texts are this near, as the cosine of vectors.
Alike: TypeAlias = Callable[[str, str, float], bool]
# Of two sentences without their values: what they speak of is the same. "Sofia was born in" and
# "Sofia lives in" have .88.
NUMBERS, NAMES = 0.7, 0.9
_EXACT = (
    "name",
    "day",
    "interval",
)  # "Every ___ Ada walks" and "every ___ Ada buys bread" have .75


def never(_one: str, _other: str, _least: float) -> bool:
    """Without a model."""
    return False


class Same(Enum):
    """Why two values have one role."""

    ALONE = auto()  # a role that has one value
    WORDS = auto()  # the words around them
    MEANING = auto()  # the sentences without them mean the same


@dataclass(frozen=True, slots=True)
class Role:
    """Stems of the content words around a value, the nearest first."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    next: str = ""  # the word right after it: "long" of "120 metres long"

    def has_one_value(self, kind: str) -> frozenset[str]:
        """The role nearest to it in which a value of this kind is the only one."""
        return _of_one_value(kind) & {*self.before[:1], *self.after[:1]}

    def same(self, other: Role) -> bool:
        """A nearest word is the same, no other subject is named before, and nothing else is
        measured."""
        if self.next and other.next and self.next != other.next:
            return False
        if len(self.before) > 1 and len(other.before) > 1 and not _most(self.before, other.before):
            return False
        near = {*self.before[:1], *self.after[:1]} & {*other.before[:1], *other.after[:1]}
        return bool(near) or _most((*self.before, *self.after), (*other.before, *other.after))


@cache
def _of_one_value(kind: str) -> frozenset[str]:
    first = [said.split()[0] for said in _ONE_VALUE]
    if kind in _WHEN:
        return frozenset(first[:_TIMES])
    return frozenset(first[_TIMES + _NUMBERS :] if kind == "name" else first[_TIMES:][:_NUMBERS])


@cache
def _called(language: str) -> dict[str, str]:
    """The stem of each word for a role of one value, and how we call that role."""
    found: dict[str, str] = {}
    for said in _ONE_VALUE:
        words = [fold(word) for word in said.split()]
        found |= dict.fromkeys([*words, *stem(words, language)], words[0])
    return found


def _most(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    fewer = min(len(set(some)), len(set(others)))
    return fewer > 0 and len(set(some) & set(others)) / fewer > _MOST


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
            mine, theirs = (re.sub(r"\D", "", one.text)[-_OWN_DIGITS:] for one in (self, other))
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
    shown = re.sub(r"[’']s\b", "", sentence)
    read = [one.rstrip(".'’") for one in names(shown, language)]
    own = [_untitled(one, language) for one in dict.fromkeys(read) if _is_name(one, language)]
    opening = re.match(r"[A-ZÀ-Þ][\w-]+", shown)
    if opening and opening[0] not in " ".join(own).split() and _is_no_word(opening[0], language):
        own.insert(0, opening[0])  # "Hest has a harbour"
    own += [one for one in _GERMAN.findall(shown) if language == "de" and one not in own]
    labels = _labels(shown, language)
    said = [*_names_in(own), *(f"{noun} {number}" for noun, number in labels.items())]
    first = fold(next(iter(_WORD.findall(shown)), ""))
    in_longer = any(" " in name and first in name.split() for name in said)
    if (
        _LABEL.match(shown)
        or in_longer
        or not first.isalpha()
        or first in stop_words(language or "en")
    ):
        first = ""  # "Total:", "The", "In", or a part of "Project Falcon"
    values = [*_dated(shown, said, language)]
    for start, end, days in intervals(shown, language):
        role = _role(shown, start, end, said, language)
        values.append(Value("interval", shown[start:end], start, end, role, days=days))
    taken = [(value.start, value.end) for value in values]
    values += _counted(shown, said, language, taken)
    for name, at in _alone(shown, own):
        role = _role(shown, at, at + len(name), said, language)
        values.append(Value("name", name, at, at + len(name), role))
    years = [value.text for value in values if value.kind == "year"]
    return Statement(
        shown,
        language,
        tuple(said),
        tuple(_names_in(names(_ADDED.sub(" ", about), language))),
        first,
        tuple(values),
        frozenset(years or _YEAR_ALONE.findall(about)),
        _label(shown, language),
        labels,
        bool(_SPAN.search(_LIFE.sub("", shown))),
        bool(_HOLDS.search(sentence)),
        {**conditions(about, language), **conditions(shown, language)},
    )


def _label(sentence: str, language: str) -> str:
    found = _OF_A_FORM.match(sentence)
    label = _folded(found[1]) if found else ""
    return label if all(in_dictionary(word, language or "en") for word in label.split()) else ""


def _labels(sentence: str, language: str) -> dict[str, str]:
    """What is called by a number: `flat 7` of "the deposit for flat 7 is paid"."""
    stops = stop_words(language or "en")
    found = {}
    for match in _LABELLED.finditer(sentence):
        noun, after = fold(match["noun"]), fold(match["after"] or "")
        is_counted = after and after not in function_words(language)  # closed 31 tickets
        if noun not in stops and not is_counted and not _YEAR.fullmatch(match["number"]):
            found[noun] = match["number"]
    return found


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


def _dated(sentence: str, said: list[str], language: str) -> Iterator[Value]:
    """Dates, hours and weekdays. Years are numbers."""
    written = [one for one in dates(sentence, language) if one.month]
    for one in written:
        role = _role(sentence, one.start, one.end, said, language)
        yield Value("date", one.text, one.start, one.end, role, date=one)
        if one.year:
            yield Value("year", str(one.year), one.start, one.end, role)
    for when in times(sentence, language):
        if not _YEAR.fullmatch(when) and not any(when in one.text for one in written):
            at = sentence.find(when)
            role = _role(sentence, at, at + len(when), said, language)
            year = _NAMED_YEAR.search(when)
            kind = "year" if year else "hour" if when[0].isdigit() else "day"
            yield Value(kind, year[1] if year else when, at, at + len(when), role)
    for match in _SHORT_YEAR.finditer(sentence):
        start, end = match.span("year")
        yield Value("year", match["year"], start, end, _role(sentence, start, end, said, language))
    for match in _LIFE.finditer(sentence):
        for what, short in (("born", "b"), ("died", "d")):
            group = what if match[what] else short
            yield Value("year", match[group], *match.span(group), Role((what,), ()))


def _counted(
    sentence: str, said: list[str], language: str, taken: list[tuple[int, int]]
) -> Iterator[Value]:
    """Numbers that are no part of a date, by what they count or measure; and phone numbers."""
    for match in PHONE.finditer(sentence):
        if not any(start <= match.start() < end for start, end in taken):
            taken.append(match.span())
            role = _role(sentence, *match.span(), said, language)
            yield Value("phone", match[0], *match.span(), role)
    for one in quantities(sentence, language):
        if not one.readings or any(start <= one.start < end for start, end in taken):
            continue
        role = _role(sentence, one.start, one.end, said, language)
        if one.unit is None and _YEAR.fullmatch(one.text):
            yield Value("year", one.text, one.start, one.end, role)
        elif kind := _measured(one, sentence[: one.start], language):
            is_pounds = fold(one.text).endswith(("pound", "pounds"))  # of money, mostly
            one_of = replace(one, unit=money("GBP")) if is_pounds else one
            yield Value("money" if is_pounds else kind, one.text, one.start, one.end, role, one_of)


def _measured(one: Quantity, before: str, language: str) -> str:
    """What a number can be compared with: "money", "length", "number", or `python` of Python 3.
    Empty: Invoice 811 and room 12 are things of their own."""
    if one.unit is not None:
        return "money" if is_money(one.unit) else one.unit.dimension
    word = _LAST_WORD.search(before) if one.text.isdigit() else None
    name = fold(word[0].strip()) if word is not None else ""
    if not name or name in stop_words(language or "en"):
        return "number"
    return name if _is_no_word(name, language) or _NEEDS.search(before) else ""


def shared_names(one: Statement, other: Statement) -> tuple[str, ...]:
    """The names that both have, and at least one of them in the sentence itself."""
    mine, theirs = (*one.names, one.first), (*other.names, other.first)
    shared = [name for name in mine if any(is_one(name, two) for two in (*theirs, *other.about))]
    shared += [name for name in theirs if any(is_one(name, two) for two in one.about)]
    shared += [a.row for a, b in ((one, other), (other, one)) if a.row and _says(b, a.row)]
    return tuple(dict.fromkeys(shared))


def both_name_it(one: Statement, other: Statement) -> bool:
    """Whether both sentences have a name, which one of them at least uses as such: a first word
    has a capital anyway. Or one is a row of a table whose label the other says."""
    if any(a.row and _says(b, a.row) for a, b in ((one, other), (other, one))):
        return True
    return any(
        is_one(name, word)
        for some, others in ((one, other), (other, one))
        for name in some.names
        for word in (*others.names, others.first)
    )


def _says(statement: Statement, label: str) -> bool:
    return not statement.row and f" {label} " in f" {_folded(statement.text)} "


def is_one(one: str, other: str) -> bool:
    mine, theirs = set(_folded(one).split()), set(_folded(other).split())
    return bool(mine) and bool(theirs) and (mine <= theirs or theirs <= mine)


def apart_in_time(one: Statement, other: Statement) -> bool:
    """Whether each says a year or a day, and none is the other's."""
    if one.times and other.times and not one.times & other.times:
        return True
    mine, theirs = ([v for v in some.values if v.kind == "date"] for some in (one, other))
    return bool(mine) and bool(theirs) and not any(a.same(b) for a in mine for b in theirs)


def differing(
    one: Statement, other: Statement, alike: Alike = never, *, certain: bool = False
) -> str:
    """Which values of one kind and role differ, for people; empty: none. For two statements about
    something that both name. `certain`: only in a role that has one value."""
    if one.is_span or other.is_span:
        return ""
    apart = apart_in_time(one, other)
    subject = shared_names(one, other)
    others = _others(one, subject), _others(other, subject)
    elsewhere = bool(others[0]) and bool(others[1]) and not others[0] & others[1]
    apart |= is_once(one) != is_once(other)
    is_other = of_other_things(one, other)
    found: dict[str, str] = {}
    told = ""
    for mine, theirs in _that_differ(one, other, subject):
        why = _one_role(one, mine, other, theirs, alike)
        if why is None:
            continue
        kind = _TOLD.get(mine.kind, "numbers")
        said = f"{kind} differ: {mine.text} and {theirs.text}"
        is_time = mine.kind in _WHEN
        if why is Same.ALONE and (is_time or not apart) and not is_other:
            return said
        found.setdefault(mine.kind, said)
        if is_other and mine.text not in one.labels.values():
            return ""
        if mine.kind != "day" and are_apart(one.conditions, other.conditions):
            return ""
        # As it was at another time, or other people's day.
        if not (elsewhere if is_time else apart):
            told = told or said
    if "date" in found:
        found.pop("year", None)
    return "" if certain or len(found) > 1 else told


def compare_others(one: Statement, other: Statement) -> bool:
    """Whether their values can't be compared: they are of other things or of other times, or each
    counts something else."""
    if of_other_things(one, other) or are_apart(one.conditions, other.conditions):
        return True
    if is_once(one) != is_once(other):
        return True
    pairs = [(a, b) for a in one.values for b in other.values if a.kind == b.kind != "name"]
    return bool(pairs) and all(a.counts_other(b) for a, b in pairs)


def is_once(statement: Statement) -> bool:
    return bool(_ONCE.search(statement.text))


def of_other_things(one: Statement, other: Statement) -> bool:
    """Whether they speak of flat 7 and of flat 9, of summer and of winter."""
    labels = any(other.labels.get(noun, number) != number for noun, number in one.labels.items())
    return labels or are_apart(one.conditions, other.conditions, week=False)


def _that_differ(
    one: Statement, other: Statement, subject: Sequence[str]
) -> Iterator[tuple[Value, Value]]:
    """Values of one kind that neither sentence has elsewhere."""
    for mine in one.values:
        for theirs in other.values:
            if mine.kind != theirs.kind or mine.same(theirs):
                continue
            if subject and all(is_one(mine.kind, name) for name in subject):
                continue  # Python 3 and Python 4, and nothing else
            if mine.kind == "name":
                holds = (one.holds and other.holds) or _did(one, mine, theirs)
                holds = holds or _did(other, theirs, mine)
                if holds and _can_hold(mine, theirs, one, other, subject):
                    yield mine, theirs
            elif not _has(other, mine) and not _has(one, theirs):
                yield mine, theirs


def _one_role(
    one: Statement, mine: Value, other: Statement, theirs: Value, alike: Alike
) -> Same | None:
    """Why two values have one role; None: they don't, or one of them is denied."""
    if denies(one.around(mine), one.language) != denies(other.around(theirs), other.language):
        return None
    if mine.role.has_one_value(mine.kind) & theirs.role.has_one_value(mine.kind):
        return Same.ALONE
    if mine.counts_other(theirs):
        return None
    if mine.size or _did(one, mine, theirs) or _did(other, theirs, mine):
        return Same.WORDS
    holds = mine.kind not in _WHEN or (one.holds and other.holds)
    if holds and mine.role.same(theirs.role):
        return Same.WORDS
    least = NAMES if mine.kind in _EXACT else NUMBERS
    return Same.MEANING if alike(one.without(mine), other.without(theirs), least) else None


def _has(statement: Statement, value: Value) -> bool:
    return any(value.kind == one.kind and value.same(one) for one in statement.values)


def _others(claim: Statement, subject: Iterable[str]) -> frozenset[str]:
    """The names in a sentence that aren't its subject."""
    named = list(subject)
    return frozenset(n for n in claim.names if not any(is_one(n, name) for name in named))


def _did(passive: Statement, by: Value, active: Value) -> bool:
    """Whether it was burned by the one and the other burned it."""
    is_agent = _AGENT.search(passive.text[: by.start])
    return bool(is_agent) and by.role.before[:1] == (active.role.next,)


def _can_hold(
    mine: Value, theirs: Value, one: Statement, other: Statement, subject: Sequence[str]
) -> bool:
    """Whether two names may have the role: neither is in both sentences, or all they speak of."""
    return (
        not any(is_one(mine.text, name) for name in (*other.names, other.first))
        and not any(is_one(theirs.text, name) for name in (*one.names, one.first))
        and not all(is_one(mine.text, name) or is_one(theirs.text, name) for name in subject)
    )


def _minutes(hour: str) -> int:
    found = _HOUR.match(hour)
    if found is None:
        return -1
    of_day = int(found[1]) % 12 if found[3] else int(found[1])
    return (of_day + (12 if (found[3] or "").lower().startswith("p") else 0)) * 60 + int(
        found[2] or 0
    )


def _is_name(name: str, language: str) -> bool:
    """In German every noun has a capital; those that the language has are no names."""
    if fold(name) in MONEY:
        return False
    return language != "de" or " " in name or _is_no_word(name, language)


def _untitled(name: str, language: str) -> str:
    """Mayor Ines Vale is Ines Vale."""
    title, _, rest = name.partition(" ")
    plain = fold(title).strip(".")
    is_title = plain in _TITLES or stem([plain], language)[0] in _called(language)
    return rest if rest and is_title else name


def _is_initial(one: str, other: str) -> bool:
    """Whether two names may be one person's: Ines Calloway, I. Calloway."""
    mine, theirs = _folded(one).split(), _folded(other).split()
    same = len(mine) > 1 and len(theirs) > 1 and mine[-1] == theirs[-1]
    return same and mine[0][0] == theirs[0][0]


def _is_no_word(word: str, language: str) -> bool:
    return not in_dictionary(fold(word), language or "en")


def _names_in(found: Iterable[str]) -> list[str]:
    """Folded. A letter of a formula is no name, nor is a page in capitals."""
    return [name for name in map(_folded, found) if 0 < len(name) <= _LONGEST_NAME]


def _folded(name: str) -> str:
    """Without the s of a genitive."""
    words = (fold(word) for word in _WORD.findall(name))
    return " ".join(word.removesuffix("s") if len(word) > _FOUR else word for word in words)


def _role(sentence: str, start: int, end: int, said: list[str], language: str) -> Role:
    lexicon = lexicon_of(language)
    apart = {*lexicon.numbers, *lexicon.months, *lexicon.days, *_NO_ROLE, *_TITLES}
    apart |= {word for name in said for word in name.split()}
    if sentence[start:end] not in said:  # "project" of "project Falcon" is no role of a number
        apart |= {fold(kind) for kind in _KIND.findall(sentence)}
    before = _stems(reversed(_WORD.findall(sentence[:start])[-_WITHIN:]), apart, language)
    after = _stems(_WORD.findall(sentence[end:])[:_WITHIN], apart, language)
    first, *more = _WORD.findall(sentence[end:])[:3] or [""]
    right = _stems(more if fold(first) in _FOR else [first], apart, language)[:1]
    return Role(tuple(before), tuple(after), "".join(right))


def _stems(words: Iterable[str], apart: set[str], language: str) -> list[str]:
    plain = (stop_words(language or "en") - _ROLES_TOO) | apart
    kept = dict.fromkeys(word for word in map(fold, words) if not word.isdigit())
    called = _called(language)
    stems = stem([word for word in kept if word not in plain], language)
    return [called.get(word, word) for word in stems]
