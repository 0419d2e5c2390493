"""What a sentence says of a named person, place or thing, and in which role: "born: 1815", "mayor:
Ines Vale", "budget: 40,000 euros".

Two sentences that share a name and give different values of one kind in one role may contradict
each other, however few other words they share. Rules without a language model; pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trivium.text.dictionary import in_dictionary
from trivium.text.lexicon.dates import dates, times
from trivium.text.lexicon.names import names
from trivium.text.lexicon.quantities import Quantity, quantities
from trivium.text.lexicon.words import is_money
from trivium.text.lexicon.words import lexicon as lexicon_of
from trivium.text.normalise import fold
from trivium.text.stems import stem, stop_words

_WORD = re.compile(r"[^\W_]+")
_MOST = 0.5
_WITHIN = 8  # words between a value and the word that says its role
_YEAR = re.compile(r"1\d{3}|20\d\d")
_SPAN = re.compile(r"\d{4}\s*[-–]\s*\d{2,4}|\b(?:from|until|since|von|bis|seit)\b.*\d{4}", re.I)
# With one of these a role has one holder: somebody is or was it, did it, lives there. Two people
# can meet a mayor, but only one is it.
_HOLDS = re.compile(
    r"\b(?:is|was|are|were|been|by|lives?|lived|born|belongs?|elected|headquarters|ist|war|sind|waren"
    r"|wurde|von|durch|wohnt|lebt|geboren|gehört|gewählt|est|était|fut|par|vit|née?|es|era|fue|por"
    r"|vive|nació|è|fu|da|abita|nat[oa]|werd|door|woont|är|av|bor)\b|[’']s\b|, (?=[A-ZÀ-Þ])",
    re.I,
)
_ADDED = re.compile(r"\([^)]*\)")
_KIND = re.compile(r"\b(project|town|city|village|island|river|castle|Projekt|Stadt) (?=[A-ZÀ-Þ])")
_HOUR = re.compile(r"(\d{1,2})(?::(\d\d))?\s?(am|pm|a\.m\.|p\.m\.)?", re.I)
_TOLD = {"name": "names", "year": "dates", "date": "dates", "hour": "times", "day": "times"}
_NO_ROLE = frozenset(
    ("have", "has", "had", "get", "got", "make", "made", "year", "people", "name", "current",
     "haben", "hat", "hatte", "jahr", "neu")
)  # fmt: skip
# Function words to others, but what happened in a year, or what something does.
_ROLES_TOO = frozenset(
    ("open", "opens", "opened", "began", "begin", "begins", "end", "ends", "ended", "took", "found",
     "needs", "old", "part")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Role:
    """Stems of the content words around a value, the nearest first."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    next: str = ""  # the word right after it: "long" of "120 metres long"

    def same(self, other: Role) -> bool:
        """A nearest word is the same, no other subject is named before, and nothing else is
        measured."""
        if self.next and other.next and self.next != other.next:
            return False
        if len(self.before) > 1 and len(other.before) > 1 and not _most(self.before, other.before):
            return False
        near = {*self.before[:1], *self.after[:1]} & {*other.before[:1], *other.after[:1]}
        return bool(near) or _most((*self.before, *self.after), (*other.before, *other.after))


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
    own = [one for one in dict.fromkeys(names(shown, language)) if _is_name(one, language)]
    opening = re.match(r"[A-ZÀ-Þ][\w-]+", shown)
    if opening and opening[0] not in " ".join(own).split() and _is_no_word(opening[0], language):
        own.insert(0, opening[0])  # "Hest has a harbour"
    said = [_folded(one) for one in own]
    first = fold(next(iter(_WORD.findall(shown)), ""))
    in_longer = any(" " in name and first in name.split() for name in said)
    if in_longer or not first.isalpha() or first in stop_words(language or "en"):
        first = ""  # "The", "In", or a part of "Project Falcon"
    values = [*_dated(shown, said, language), *_counted(shown, said, language)]
    for name in own:
        at = shown.find(name)
        values.append(Value("name", name, _role(shown, at, at + len(name), said, language)))
    years = [value.text for value in values if value.kind == "year"]
    return Statement(
        tuple(said),
        tuple(map(_folded, names(_ADDED.sub(" ", about), language))),
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
        yield Value("date", one.text, _role(sentence, one.start, one.end, said, language))
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
        elif one.unit is None:
            yield Value(f"number of {next(iter(role.after), '')}", one.text, role, one)
        else:
            kind = "money" if is_money(one.unit) else one.unit.dimension
            yield Value(kind, one.text, role, one)


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


def differing(one: Statement, other: Statement) -> str:
    """Which values of one kind and role differ, for people; empty: none. For two statements about
    something that both name."""
    if one.is_span or other.is_span:
        return ""
    apart_in_time = bool(one.times) and bool(other.times) and not one.times & other.times
    subject = shared_names(one, other)
    found: dict[str, str] = {}
    for mine in one.values:
        for theirs in other.values:
            if mine.kind != theirs.kind or not mine.role.same(theirs.role) or mine.same(theirs):
                continue
            if mine.kind == "name":
                if not _can_hold(one, mine, subject) or not _can_hold(other, theirs, subject):
                    continue
            elif any(mine.kind == v.kind and mine.same(v) for v in other.values):
                continue
            kind = _TOLD.get(mine.kind, "numbers")
            found.setdefault(mine.kind, f"{kind} differ: {mine.text} and {theirs.text}")
    if len(found) > 1 or (apart_in_time and "year" not in found):
        return ""  # as it was at another time, or of another thing
    return next(iter(found.values()), "")


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
    return language != "de" or " " in name or _is_no_word(name, language)


def _is_no_word(word: str, language: str) -> bool:
    return not in_dictionary(fold(word), language or "en")


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
    right = _stems(_WORD.findall(sentence[end:])[:1], apart, language)
    return Role(tuple(before), tuple(after), "".join(right))


def _stems(words: Iterable[str], apart: set[str], language: str) -> list[str]:
    plain = (stop_words(language or "en") - _ROLES_TOO) | apart
    kept = dict.fromkeys(word for word in map(fold, words) if not word.isdigit())
    return stem([word for word in kept if word not in plain], language)
