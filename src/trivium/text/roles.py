"""What a sentence says of a named person, place or thing, and in which role: "born: 1815", "mayor:
Ines Vale", "budget: 40,000 euros".

Two sentences that share a name and give different values of one kind in one role may contradict
each other, however few other words they share. Rules without a language model; pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from trivium.text.dictionary import in_dictionary
from trivium.text.lexicon.dates import dates, times
from trivium.text.lexicon.names import names
from trivium.text.lexicon.quantities import Quantity, quantities
from trivium.text.lexicon.words import MONEY, is_money
from trivium.text.lexicon.words import lexicon as lexicon_of
from trivium.text.normalise import fold
from trivium.text.stems import stem, stop_words

_WORD = re.compile(r"[^\W_]+")
_MOST = 0.5
_LONGEST_NAME = 100  # characters
_WITHIN = 8  # words between a value and the word that says its role
_YEAR = re.compile(r"1\d{3}|20\d\d")
_SPAN = re.compile(r"\d{4}\s*[-–]\s*\d{2,4}|\b(?:from|until|since|von|bis|seit)\b.*\d{4}", re.I)
# With one of these a role has one holder: somebody is or was it, did it, lives there. Two people
# can meet a mayor, but only one is it.
_HOLDS = re.compile(
    r"\b(?:is|was|are|were|been|by|lives?|lived|born|belongs?|elected|headquarters|ist|war|sind|waren"
    r"|wurde|von|durch|wohnt|lebt|geboren|gehört|gewählt|est|était|fut|par|vit|née?|es|era|fue|por"
    r"|vive|nació|è|fu|da|abita|nat[oa]|werd|door|woont|är|av|bor)\b|[’']s\b|[,:] (?=[A-ZÀ-Þ])",
    re.I,
)
_ADDED = re.compile(r"\([^)]*\)")
_KIND = re.compile(r"\b(project|town|city|village|island|river|castle|Projekt|Stadt) (?=[A-ZÀ-Þ])")
_LABEL = re.compile(r"\w+(?: \w+)?:\s*[^a-zß-ÿ\s]")
_LAST_WORD = re.compile(r"\b[A-ZÀ-Þ][^\W\d_]+\s$")
_HOUR = re.compile(r"(\d{1,2})(?::(\d\d))?\s?(am|pm|a\.m\.|p\.m\.)?", re.I)
_WHEN = ("date", "day", "year")
_TOLD = {"name": "names", "year": "dates", "date": "dates", "hour": "times", "day": "times"}
_NO_ROLE = frozenset(
    ("have", "has", "had", "get", "got", "make", "made", "year", "people", "name", "current",
     "cost", "costs", "amounts", "set", "approved", "haben", "hat", "hatte", "jahr", "neu",
     "betragt", "kostet")
)  # fmt: skip
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
    "married wife husband spouse verheiratet ehefrau ehemann gatte gattin",
    "own owned owner owns belongs belonged gehört besitzer besitzerin eigentümer eigentümerin",
    "written wrote author novel geschrieben verfasst autor autorin roman",
    "capital hauptstadt", "mayor bürgermeister bürgermeisterin oberbürgermeister maire alcalde",
    "king könig", "queen königin", "president präsident präsidentin",
    "chancellor kanzler kanzlerin", "director direktor direktorin",
    "chair chairman chairwoman chairperson vorsitzender vorsitzende",
    "captain kapitän kapitänin", "leader leiter leiterin", "warden", "treasurer kassenwart",
    "headmaster headmistress headteacher schulleiter schulleiterin", "landlord landlady vermieter",
    "editor herausgeber", "publisher verlag", "ruler herrscher herrscherin",
)  # fmt: skip
_TIMES, _NUMBERS = 4, 2  # of these roles


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
    role: Role
    quantity: Quantity | None = None

    def same(self, other: Value) -> bool:
        if self.quantity is not None and other.quantity is not None:
            return self.quantity.same(other.quantity) or other.quantity.same(self.quantity)
        if self.kind == "hour":
            return _minutes(self.text) == _minutes(other.text)
        return is_one(self.text, other.text)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence's names and values."""

    names: tuple[str, ...]  # folded
    about: tuple[str, ...]  # names in the title of its document or section
    first: str  # its first word, which may be a name
    values: tuple[Value, ...]
    times: frozenset[str]  # years
    is_span: bool  # from one time to another
    holds: bool  # says who or where somebody is

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
    read = (_untitled(one, language) for one in names(shown, language))
    own = [one for one in dict.fromkeys(read) if _is_name(one, language) and one in shown]
    opening = re.match(r"[A-ZÀ-Þ][\w-]+", shown)
    if opening and opening[0] not in " ".join(own).split() and _is_no_word(opening[0], language):
        own.insert(0, opening[0])  # "Hest has a harbour"
    said = _names_in(own)
    first = fold(next(iter(_WORD.findall(shown)), ""))
    in_longer = any(" " in name and first in name.split() for name in said)
    if (
        _LABEL.match(shown)
        or in_longer
        or not first.isalpha()
        or first in stop_words(language or "en")
    ):
        first = ""  # "Total:", "The", "In", or a part of "Project Falcon"
    values = [*_dated(shown, said, language), *_counted(shown, said, language)]
    for name in own:
        at = shown.find(name)
        values.append(Value("name", name, _role(shown, at, at + len(name), said, language)))
    years = [value.text for value in values if value.kind == "year"]
    return Statement(
        tuple(said),
        tuple(_names_in(names(_ADDED.sub(" ", about), language))),
        first,
        tuple(values),
        frozenset(years),
        bool(_SPAN.search(shown)),
        bool(_HOLDS.search(sentence)),
    )


def _dated(sentence: str, said: list[str], language: str) -> Iterator[Value]:
    """Dates, hours and weekdays. Years are numbers."""
    written = [one for one in dates(sentence, language) if one.month]
    for one in written:
        role = _role(sentence, one.start, one.end, said, language)
        yield Value("date", one.text, role)
        if one.year:
            yield Value("year", str(one.year), role)
    for when in times(sentence, language):
        if not _YEAR.fullmatch(when) and not any(when in one.text for one in written):
            kind, at = "hour" if when[0].isdigit() else "day", sentence.find(when)
            yield Value(kind, when, _role(sentence, at, at + len(when), said, language))


def _counted(sentence: str, said: list[str], language: str) -> Iterator[Value]:
    """Numbers that are no part of a date, by what they count or measure."""
    taken = [m.span() for m in _HOUR.finditer(sentence) if m[2] or m[3]]
    taken += [(one.start, one.end) for one in dates(sentence, language) if one.month]
    for one in quantities(sentence, language):
        if not one.readings or any(start <= one.start < end for start, end in taken):
            continue
        role = _role(sentence, one.start, one.end, said, language)
        if one.unit is None and _YEAR.fullmatch(one.text):
            yield Value("year", one.text, role)
        elif one.unit is None and not _is_numbered(one.text, sentence[: one.start], language):
            of = next(iter(role.has_one_value("number")), next(iter(role.after), ""))
            yield Value(f"number of {of}", one.text, role, one)
        elif one.unit is not None:
            kind = "money" if is_money(one.unit) else one.unit.dimension
            yield Value(kind, one.text, role, one)


def _is_numbered(number: str, before: str, language: str) -> bool:
    """Whether a number belongs to the word before it: Invoice 811, Room 12."""
    word = _LAST_WORD.search(before)
    return (
        number.isdigit()
        and word is not None
        and fold(word[0].strip()) not in stop_words(language or "en")
    )


def shared_names(one: Statement, other: Statement) -> tuple[str, ...]:
    """The names that both have, and at least one of them in the sentence itself."""
    mine, theirs = (*one.names, one.first), (*other.names, other.first)
    shared = [name for name in mine if any(is_one(name, two) for two in (*theirs, *other.about))]
    shared += [name for name in theirs if any(is_one(name, two) for two in one.about)]
    return tuple(dict.fromkeys(shared))


def both_name_it(one: Statement, other: Statement) -> bool:
    """Whether both sentences have a name, which one of them at least uses as such: a first word
    has a capital anyway."""
    return any(
        is_one(name, word)
        for some, others in ((one, other), (other, one))
        for name in some.names
        for word in (*others.names, others.first)
    )


def is_one(one: str, other: str) -> bool:
    mine, theirs = set(_folded(one).split()), set(_folded(other).split())
    return bool(mine) and bool(theirs) and (mine <= theirs or theirs <= mine)


def differing(one: Statement, other: Statement, *, certain: bool = False) -> str:
    """Which values of one kind and role differ, for people; empty: none. For two statements about
    something that both name. `certain`: only in a role that has one value."""
    if one.is_span or other.is_span:
        return ""
    apart_in_time = bool(one.times) and bool(other.times) and not one.times & other.times
    subject = shared_names(one, other)
    others = _others(one, subject), _others(other, subject)
    elsewhere = bool(others[0]) and bool(others[1]) and not others[0] & others[1]
    found: dict[str, str] = {}
    told = ""
    for mine, theirs, alone in _of_one_role(one, other):
        held = _can_hold(one, mine, subject) and _can_hold(other, theirs, subject)
        if mine.kind == "name" and not held:
            continue
        kind = _TOLD.get(mine.kind, "numbers")
        said = f"{kind} differ: {mine.text} and {theirs.text}"
        if alone and (mine.kind in _WHEN or not apart_in_time):
            return said
        found.setdefault(mine.kind, said)
        # Other people's day, or what happens again, is no other day of the same thing.
        if mine.kind not in _WHEN or not (elsewhere or not (one.holds and other.holds)):
            told = told or said
    if "date" in found:
        found.pop("year", None)
    if certain or len(found) > 1 or (apart_in_time and not {"year", "date"} & {*found}):
        return ""  # as it was at another time, or of another thing
    return told


def _of_one_role(one: Statement, other: Statement) -> Iterator[tuple[Value, Value, bool]]:
    """Values of one kind that differ in one role, and that neither sentence has elsewhere; and
    whether that role has one value."""
    for mine in one.values:
        for theirs in other.values:
            if mine.kind != theirs.kind or mine.same(theirs):
                continue
            kind = mine.kind
            alone = bool(mine.role.has_one_value(kind) & theirs.role.has_one_value(kind))
            if not alone and not mine.role.same(theirs.role):
                continue
            is_said = any(mine.kind == v.kind and mine.same(v) for v in other.values)
            if mine.kind == "name" or not is_said:
                yield mine, theirs, alone


def _others(claim: Statement, subject: Iterable[str]) -> frozenset[str]:
    """The names in a sentence that aren't its subject."""
    named = list(subject)
    return frozenset(n for n in claim.names if not any(is_one(n, name) for name in named))


def _can_hold(claim: Statement, value: Value, subject: Iterable[str]) -> bool:
    """Whether the sentence says that this name has the role: not one that both sentences share."""
    return claim.holds and not any(is_one(value.text, name) for name in subject)


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
    return rest if rest and stem([fold(title)], language)[0] in _called(language) else name


def _is_no_word(word: str, language: str) -> bool:
    return not in_dictionary(fold(word), language or "en")


def _names_in(found: Iterable[str]) -> list[str]:
    """Folded. A letter of a formula is no name, nor is a page in capitals."""
    return [name for name in map(_folded, found) if 0 < len(name) <= _LONGEST_NAME]


def _folded(name: str) -> str:
    return " ".join(fold(word) for word in _WORD.findall(name))


def _role(sentence: str, start: int, end: int, said: list[str], language: str) -> Role:
    lexicon = lexicon_of(language)
    apart = {*lexicon.numbers, *lexicon.months, *lexicon.days, *_NO_ROLE}
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
