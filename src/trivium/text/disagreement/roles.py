"""The role of a value in its sentence: the words around it that say what it is, as *born* of
"born: 1815" and *budget* of "the budget is 40,000 euros".

Knows nothing of values themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from trivium.text.lexicon.words import lexicon as lexicon_of
from trivium.text.normalise import fold
from trivium.text.stems import stem, stop_words

_WORD = re.compile(r"[^\W_]+")
_MOST = 0.5  # of the words of the shorter
_WITHIN = 8  # words between a value and the word that says its role
_KIND = re.compile(r"\b(project|town|city|village|island|river|castle|Projekt|Stadt) (?=[A-ZÀ-Þ])")
TITLES = frozenset(
    ("mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "herr", "frau", "aunt", "uncle",
     "tante", "onkel", "mme", "m", "father", "mother", "grandfather", "grandmother", "grandma",
     "grandpa", "vater", "mutter", "grossvater", "grossmutter", "opa", "oma", "lord", "lady",
     "duke", "duchess", "prince", "princess", "count", "countess")
)  # fmt: skip
_NO_ROLE = frozenset(
    ("spring", "summer", "autumn", "winter", "fruhling", "fruhjahr", "sommer", "herbst",
     "have", "has", "had", "get", "got", "make", "made", "year", "people", "name", "current",
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
# one name that differ in such a role contradict each other, whatever else they say.
_OF_ONE_TIME = (
    "born birth birthday birthplace geboren geburt geburtstag née nació nacido",
    "died death dead gestorben starb tod todestag mort murió",
    "founded founding established foundation gegründet gründung fondée fundada",
    "deadline due frist fällig abgabe",
)
_OF_ONE_NUMBER = (
    "population inhabitants einwohner einwohnerzahl habitants habitantes",
    "budget budgeted eingeplant veranschlagt bewilligt presupuesto",
    "weight weigh weighs weighed gewicht wiegt wog",
    "rent miete kaltmiete loyer alquiler",
)
_OF_ONE_NAME = (
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
TIMES = ("date", "day", "year")  # kinds of values
_SHORT = 4  # letters of a word that keeps its s


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
    roles = _OF_ONE_TIME if kind in TIMES else _OF_ONE_NAME if kind == "name" else _OF_ONE_NUMBER
    return frozenset(words.split()[0] for words in roles)


@cache
def called(language: str) -> dict[str, str]:
    """The stem of each word for a role of one value, and how we call that role."""
    names: dict[str, str] = {}
    for role in (*_OF_ONE_TIME, *_OF_ONE_NUMBER, *_OF_ONE_NAME):
        words = [fold(word) for word in role.split()]
        names |= dict.fromkeys([*words, *stem(words, language)], words[0])
    return names


def _most(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    fewer = min(len(set(some)), len(set(others)))
    return fewer > 0 and len(set(some) & set(others)) / fewer > _MOST


def role_of(sentence: str, start: int, end: int, named: list[str], language: str) -> Role:
    """Of the value that stands there. `named`: the names in the sentence, which are no role."""
    lexicon = lexicon_of(language)
    apart = {*lexicon.numbers, *lexicon.months, *lexicon.days, *_NO_ROLE, *TITLES}
    apart |= {word for name in named for word in name.split()}
    if sentence[start:end] not in named:  # "project" of "project Falcon" is no role of a number
        apart |= {fold(kind) for kind in _KIND.findall(sentence)}
    before = _stems(reversed(_WORD.findall(sentence[:start])[-_WITHIN:]), apart, language)
    after = _stems(_WORD.findall(sentence[end:])[:_WITHIN], apart, language)
    first, *more = _WORD.findall(sentence[end:])[:3] or [""]
    right = _stems(more if fold(first) in _FOR else [first], apart, language)[:1]
    return Role(tuple(before), tuple(after), "".join(right))


def _stems(words: Iterable[str], apart: set[str], language: str) -> list[str]:
    plain = (stop_words(language or "en") - _ROLES_TOO) | apart
    folded = dict.fromkeys(word for word in map(fold, words) if not word.isdigit())
    names = called(language)
    stems = stem([word for word in folded if word not in plain], language)
    return [names.get(word, word) for word in stems]


def folded_name(name: str) -> str:
    """Without the s of a genitive."""
    words = (fold(word) for word in _WORD.findall(name))
    return " ".join(word.removesuffix("s") if len(word) > _SHORT else word for word in words)
