"""What a question asks for: its kind, and the words and figures that an answer must be about.

What the words of each language ask for is `text.lexicon`'s. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from trivium.text.dictionary import in_dictionary
from trivium.text.lexicon.quantities import figures
from trivium.text.lexicon.questions import (
    SUPERLATIVE,
    Asks,
    asks,
    framing,
    generic,
    wants_least,
)
from trivium.text.normalise import fold, words
from trivium.text.stems import stem, stop_words


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Function words. The lists that search uses have hundreds more ("round", "works", "system"), which
# may be all that tells one row of a table from another.
_FUNCTION = {
    "en": _listed(
        "a an the this that these those i me my we us our you your he him his she her it its"
        " they them their one is are was were be been being am do does did done doing has have"
        " had having can could may might must shall should will would of in on at by for with"
        " about against between into through during before after above below to from up down out"
        " off over under again then once here there all any both each few more most other some"
        " such no nor not only own same so than too very and but if or because as until while"
        " just also yet s t re ve ll d m"
    ),
    "de": _listed(
        "der die das den dem des ein eine einer eines einem einen und oder aber nicht kein"
        " keine ich du er sie es wir ihr mein dein sein unser euer ist sind war waren bin bist"
        " wird werden wurde wurden hat haben hatte hatten kann konnen konnte darf muss mussen"
        " soll sollen will wollen in im an am auf aus bei beim mit nach von vom vor zu zum zur"
        " uber unter fur gegen ohne um durch bis als wie wenn dass weil so auch nur noch schon"
        " sehr mehr hier dort da"
    ),
}
# What is measured, as tables name it, if the question uses an adjective or verb for it.
_MEASURES = {
    word: name
    for name, said in (
        ("weight", "weigh weighs weighed"),
        ("price", "paid pay charge charges"),
        ("cost", "costs spend spent"),
        ("gewicht", "wiegt"),
        ("preis", "kostet kosten"),
    )
    for word in said.split()
}
HOW = {  # after "how" only: a heavy crossbow isn't a weight
    "heavy": "weight", "fast": "speed", "slow": "speed", "expensive": "price", "dear": "price",
    "tall": "height", "old": "age", "far": "distance", "schwer": "gewicht", "teuer": "preis",
    "schnell": "geschwindigkeit", "alt": "alter", "hoch": "hohe",
}  # fmt: skip
# Names that tables use for the same thing, whatever the embedding model knows.
_SAME = {
    "cost": ("price",), "price": ("cost",), "kosten": ("preis",), "preis": ("kosten",),
    "pound": ("lb", "lbs"), "pounds": ("lb", "lbs"), "ounce": ("oz",), "feet": ("ft",),
    "foot": ("ft",), "kilogram": ("kg",), "kilograms": ("kg",), "kilometre": ("km",),
    "hours": ("h",), "minutes": ("min",), "euros": ("eur",), "dollars": ("usd",),
}  # fmt: skip
# What an answer to "how old" must measure.
DIMENSIONS = {
    "heavy": "mass", "schwer": "mass", "old": "time", "alt": "time", "tall": "length",
    "far": "length", "expensive": "money", "dear": "money", "teuer": "money",
}  # fmt: skip
_HOW_MUCH = re.compile(
    r"\bhow much (?:is|are|was|were|for|do|does|did)\b|\bwie viel (?:kostet|kosten)\b", re.I
)
_HOW_MANY = re.compile(r"\bhow many\b|\bwie ?viele\b", re.I)
_COST = _listed("cost price weight preis gewicht")
# Words that go with most measures and say little by themselves.
_VAGUE = _listed(
    "time score value values figure figures rate total per take takes need needs study paper report"
    " document article text chapter page section table note notes according deal deals make makes"
    " give gives use used cover covers require requires required"
)
VAGUE = 0.4
_FIGURE = re.compile(r"\d+(?:[.,'’\u00a0\u202f\u2009 ]\d+)*")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.I)
_NAME = re.compile(r"(?<![.?!]\s)(?<=\s)[A-ZÄÖÜ][\w’'-]*(?<!\bI)\b")
# Two words with a capital, or one after a preposition without an article: in Wales.
_GERMAN_NAME = re.compile(
    r"(?<=\s)[A-ZÄÖÜ][\w’'-]*(?: [A-ZÄÖÜ][\w’'-]*)+"
    r"|\b(?:in|von|aus|nach|bei) ([A-ZÄÖÜ][\w’'-]*)"
)
_TITLE = re.compile(r"\b([a-zäöüß]+) (?=[A-ZÄÖÜ])")  # of a name: project Beacon


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a question is about. `firm`: only the same word will do, as for a figure or a
    name; others may be said in other words."""

    word: str  # folded; the digits of a figure
    weight: float
    figure: bool = False
    firm: bool = False
    generic: bool = False  # "number", "name": every answer of the right kind says it


@dataclass(frozen=True)
class Question:
    text: str
    asks: Asks
    terms: tuple[Term, ...]
    language: str
    measured: str = ""  # after "how": old, heavy, alt

    @cached_property
    def whole(self) -> float:
        return sum(term.weight for term in self.terms)

    @property
    def wants_least(self) -> bool:
        return wants_least(self.text)

    @cached_property
    def focus(self) -> Term | None:
        """What an answer must say itself: `budget` in "what was Beacon's budget", `range` in "what
        is the range of it", `approved` in "when was project Beacon approved"."""
        owned = re.search(r"[’']s\s+([\w-]+)", self.text)
        after = set(words(owned[1])) if owned else set()
        titles = {word for found in _TITLE.findall(self.text) for word in words(found)}
        free = [term for term in self.terms if not term.firm and not term.generic]
        free = [term for term in free if term.word not in titles] or free
        measure = HOW.get(self.measured)  # how old: the age is said by its unit
        free = [term for term in free if term.word != measure] or free
        last = self.text.rstrip(" ?").rpartition(" ")[2]
        if self.language == "de" and last.islower():  # the verb stands last: wann wurde … gegründet
            after |= set(words(last))
        return next((t for t in free if t.word in after), free[0] if free else None)

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """What is counted: `cranes` in "how many cranes has it", with the next word, which may
        belong to it (`hit points`); empty if nothing is named."""
        found = re.search(
            r"\b(?:how many|wie viele|combien d[e’']|cuántos|cuántas|quanti|quante|quantos|quantas"
            r"|hoeveel|hur många|hvor mange)\s*([\w-]+(?: [\w-]+)?)",
            self.text,
            re.I,
        )
        return tuple(words(found[1])) if found else ()


def read(
    text: str, language: str, rarities: Callable[[Sequence[str]], Sequence[float]]
) -> Question:
    """`rarities`: how rare words are in the documents that the caller may see."""
    kind = asks(text, language)
    plain = _ORDINAL.sub(r"\1", text)
    named = list(dict.fromkeys(one for found in _FIGURE.findall(plain) for one in figures(found)))
    ignored = function_words(language) | framing(language)
    ignored |= SUPERLATIVE if kind is Asks.MOST else set()
    names = {word for found in _NAME.findall(text) for word in words(found)}
    if language == "de":  # every noun has a capital
        sure = {word for found in _GERMAN_NAME.finditer(text) for word in words(found[0])}
        names = {word for word in names if word in sure or not in_dictionary(word, language)}
    said = [w for w in words(_FIGURE.sub(" ", plain)) if w not in ignored and len(w) > 1]
    how = re.search(r"\b(?:how|wie) (\w+)", plain, re.I)
    measured = fold(how[1]) if how else ""
    said = [w for w in said if w != measured or w in HOW]  # how large is the garrison
    said = [HOW.get(w, w) if w == measured else _MEASURES.get(w, w) for w in said]
    if _HOW_MUCH.search(text) and not _COST & set(said):
        said.append("cost")
    if kind is Asks.AMOUNT and _HOW_MANY.search(text):  # a column of amounts, if there is one
        said.append("quantity")
    said = list(dict.fromkeys(said))
    said += [name for name in sorted(names) if len(name) == 1]  # Works B
    rare = dict(zip(said, rarities(said), strict=True)) if said else {}
    # The root: a word that no document has counts twice as much as a common one, not ten times.
    weights = {w: max(r, 0.1) ** 0.5 * (VAGUE if w in _VAGUE else 1) for w, r in rare.items()}
    most = max(weights.values(), default=1.0)
    if measured in HOW and HOW[measured] in weights:  # it only helps to choose a column
        weights[HOW[measured]] *= VAGUE
    if kind is Asks.LIST and said:  # steps, effects, types: what kind of things is listed
        weights[said[0]] *= VAGUE
    common = generic(language)
    weights |= {word: weights[word] * VAGUE for word in said if word in common}
    terms = [Term(word, weights[word], firm=word in names, generic=word in common) for word in said]
    terms += [Term(figure, most, figure=True, firm=True) for figure in named]
    return Question(text, kind, tuple(terms), language, measured if measured in HOW else "")


def function_words(language: str) -> frozenset[str]:
    code = language or "en"
    return _FUNCTION[code] if code in _FUNCTION else stop_words(code)


class Bag:
    """The words and figures of a text; can tell whether it says a term."""

    def __init__(self, text: str, language: str) -> None:
        plain = _ORDINAL.sub(r"\1", text)
        self.words = words(plain)
        self.stems = set(stem(self.words, language or "en")) | set(self.words)
        pairs = zip(self.words, self.words[1:], strict=False)
        self.joined = {a + b for a, b in pairs}
        self.figures = {one for found in _FIGURE.findall(plain) for one in figures(found)}
        self.letters = {fold(one) for one in re.findall(r"\b[A-Z]\b", text)}
        self.short = {  # STR, Dex., AC
            fold(one.rstrip(".")) for one in re.findall(r"\b[A-Z]{2,4}\b|\b[A-Z][a-z]{1,4}\.", text)
        }
        self._language = language or "en"

    def says(self, term: Term) -> bool:
        """In the same word, inflected, written as one or two words, or abbreviated."""
        if term.figure:
            return term.word in self.figures
        if len(term.word) == 1:
            return term.word in self.letters
        (stemmed,) = stem([term.word], self._language)
        if term.word in self.stems or stemmed in self.stems or term.word in self.joined:
            return True
        if not self.stems.isdisjoint(_SAME.get(term.word, ())):
            return True
        if any(len(one) > 2 and term.word.startswith(one) for one in self.short):
            return True
        return (
            len(term.word) > 6
            and any(  # longsword, written as two in the question
                term.word == a + b for a, b in zip(self.words, self.words[1:], strict=False)
            )
        )


# A question reads the same headings, paragraphs and labels for each of their sentences and cells.
bag = lru_cache(maxsize=512)(Bag)


def initials(terms: Iterable[Term], name: str) -> set[Term]:
    """Terms that a short name abbreviates together: SP for silver pieces."""
    letters = fold(name.strip())
    some = [term for term in terms if not term.figure]
    for at in range(len(some) - len(letters) + 1):
        run = some[at : at + len(letters)]
        if 2 <= len(letters) <= 4 and "".join(one.word[0] for one in run) == letters:
            return set(run)
    return set()
