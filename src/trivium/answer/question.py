"""What a question asks for: its kind, and the words and figures that an answer must be about.

What the words of each language ask for is `text.lexicon`'s. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from trivium.text.dictionary import in_dictionary
from trivium.text.lexicon import measures
from trivium.text.lexicon.dates import months, numeric
from trivium.text.lexicon.grammar import NOT_AFTER_KIND, TITLES, WHO_DOES, function_words, is_form
from trivium.text.lexicon.measures import HOW
from trivium.text.lexicon.quantities import figures, is_unit
from trivium.text.lexicon.questions import (
    SUPERLATIVE,
    Asks,
    asks,
    framing,
    generic,
    implied,
    spans,
    wants_least,
)
from trivium.text.lexicon.synonyms import in_a_word, instead, same
from trivium.text.normalise import fold, words
from trivium.text.stems import stem

VAGUE = 0.4  # weight of a word that says little by itself
SHORTEST_PART = 5  # letters of a German compound's last word: `Kontostand`; shorter ones end names
_TOWN = "stadt"  # Neustadt
_WITHIN = re.compile(  # a month, which is all that counts
    r"\b(?:Anfang|Mitte|Ende|(?:the )?(?:beginning|start|middle|end) of) (?=(?P<month>[A-ZÄÖÜ]\w+))"
)


_FIGURE = re.compile(r"\d+(?:[.,'’\u00a0\u202f\u2009 ]\d+)*")
_WHICH = re.compile(
    r"(?i)^\W*(?:\w+ )?(?:what|which|welche[mnrs]?)\s"
    r"(?:(?:kind|type|sort|Art|Sorte)s?\s(?:of|von)\s)?"
)
LONGEST_NAME = 4  # words: "what South African law"
_CODE = re.compile(r"\b(?!q[1-4]\b|h[12]\b|fy|m[23]\b)[a-z]{1,2}\d{1,4}\b", re.I)  # E4, B12
_KIND_OF_CODE = re.compile(rf"\b([^\W\d_]+) (?={_CODE.pattern})", re.I)  # error E4
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.I)
_NAME = re.compile(r"(?<![.?!]\s)(?<=\s)[A-ZÄÖÜ][\w’'-]*(?<!\bI)\b")
# Two words with a capital, or one after a preposition without an article: in Wales.
_GERMAN_NAME = re.compile(
    r"(?<=\s)[A-ZÄÖÜ][\w’'-]*(?: [A-ZÄÖÜ][\w’'-]*)+"
    r"|\b(?:in|von|aus|nach|bei) ([A-ZÄÖÜ][\w’'-]*)"
)
_CAPITAL = re.compile(r"(?<=\s)[A-ZÄÖÜ]\w+")
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
    def spans(self) -> bool:
        return spans(self.text)

    @property
    def sums(self) -> bool:
        """Whether it asks what was spent, in all rows of a table that say the rest."""
        return self.asks is Asks.AMOUNT and bool(measures.SPENT.search(self.text))

    @property
    def wants_least(self) -> bool:
        return wants_least(self.text)

    @cached_property
    def focus(self) -> Term | None:
        """What an answer must say itself: `budget` in "what was Beacon's budget", `range` in "what
        is the range of it", `approved` in "when was project Beacon approved"."""
        owned = re.search(r"[’']s\s+([\w-]+)", self.text)
        after = set(words(owned[1])) if owned else set()
        titles = {word for title in _TITLE.findall(self.text) for word in words(title)}
        free = [term for term in self.terms if not term.firm and not term.generic]
        free = [term for term in free if term.word not in titles] or free
        free = [term for term in free if term.word not in measures.VAGUE] or free
        free = [term for term in free if term.word not in measures.QUALIFYING] or free
        measure = HOW.get(self.measured)  # how old: the age is said by its unit
        free = [term for term in free if term.word != measure] or free
        free = [term for term in free if term is not self.category] or free
        last = self.text.rstrip(" ?").rpartition(" ")[2]
        if self.language == "de" and last.islower():  # the verb stands last: wann wurde … gegründet
            after |= set(words(last))
        return next((t for t in free if t.word in after), free[0] if free else None)

    @cached_property
    def category(self) -> Term | None:
        """The kind of thing that is asked for, which an answer needn't say: `activity` of "What
        activity did she enjoy?", where "She went riding" is the answer."""
        if self.asks in (Asks.LIST, Asks.AMOUNT):
            return None
        begun = _WHICH.match(self.text)
        run = words(self.text[begun.end() :]) if begun else []
        terms = {term.word: term for term in self.terms}
        for word, after in zip(run[:LONGEST_NAME], [*run[1:], ""], strict=False):
            term = terms.get(word)
            # "What is", "what poisoned the ferryman"; "what kind of forest is" is told by "forest".
            if term is None or after in NOT_AFTER_KIND:
                return None
            if not term.firm:
                return term
        return None

    @cached_property
    def done(self) -> str:
        """What the person did that is asked for: `leaving` of "who is leaving the practice"."""
        did = WHO_DOES.match(self.text.strip())
        return fold(did["verb"]) if did else ""

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """What is counted: `cranes` in "how many cranes has it", with the next word, which may
        belong to it (`hit points`); empty if nothing is named."""
        match = measures.COUNTED.search(self.text)
        return tuple(words(match[1])) if match else ()


def read(
    text: str, language: str, rarities: Callable[[Sequence[str]], Sequence[float]]
) -> Question:
    """`rarities`: how rare words are in the documents that the caller may see."""
    kind = asks(text, language)
    month_names = months(language)
    whole, text = text, instead(text)
    text = _WITHIN.sub(lambda m: "" if fold(m["month"]) in month_names else m[0], text)
    codes = list(dict.fromkeys(map(fold, _CODE.findall(text))))
    kinds = {fold(kind) for kind in _KIND_OF_CODE.findall(text)}  # error F22
    plain = _ORDINAL.sub(r"\1", _CODE.sub(" ", text))
    named = list(
        dict.fromkeys(
            figure for figure_text in _FIGURE.findall(plain) for figure in figures(figure_text)
        )
    )
    ignored = function_words(language) | framing(language)
    ignored |= TITLES
    ignored |= SUPERLATIVE if kind is Asks.MOST else set()
    names = {word for name in _NAME.findall(text) for word in words(name)}
    if language == "de":  # every noun has a capital
        runs = [
            [
                word
                for word in words(match[0])
                if word not in month_names and not is_unit(word, language)
            ]
            for match in _GERMAN_NAME.finditer(text)
        ]
        sure = {word for run in runs if len(run) > 1 for word in run}
        names = {word for word in names if word in sure or not _is_noun(word)}
    capitals = [fold(word) for word in _CAPITAL.findall(text)]
    of_year = {word for word in capitals if word in month_names}
    names, ignored = names | of_year, ignored - of_year  # "in May" names a month
    content = [w for w in words(_FIGURE.sub(" ", plain)) if w not in ignored and len(w) > 1]
    how = measures.MEASURED.search(plain)
    measured = fold(how[1] or how[2]) if how else ""
    content = [w for w in content if w != measured or w in HOW]  # how large is the garrison
    many = measures.COUNTED.search(plain)
    counted = set(words(many[1])) if many else set()  # "how many charges" asks for no price
    content = [
        HOW.get(w, w) if w == measured else w if w in counted else measures.MEASURES.get(w, w)
        for w in content
    ]
    if kind is Asks.WHO:
        new = [measures.APPOINTED[w] for w in content if w in measures.APPOINTED]
        content = [
            w for w in content if w not in measures.APPOINTED
        ] + new  # the office comes first
    measured_words = {*measures.COSTS, "weight", "gewicht"} & set(content)
    is_vague = bool(measures.HOW_MUCH.search(text)) and not measured_words
    content += ["cost"] if is_vague else []
    if kind is Asks.AMOUNT and measures.HOW_MANY.search(
        text
    ):  # a column of amounts, if there is one
        content.append("quantity")
    content = list(dict.fromkeys(content))
    content += [name for name in sorted(names) if len(name) == 1]  # Works B
    rare = dict(zip(content, rarities(content), strict=True)) if content else {}
    # The root: a word that no document has counts twice as much as a common one, not ten times.
    weights = {
        w: max(r, 0.1) ** 0.5 * (VAGUE if w in measures.VAGUE else 1) for w, r in rare.items()
    }
    most = max(weights.values(), default=1.0)
    if measured in HOW and HOW[measured] in weights:  # it only helps to choose a column
        weights[HOW[measured]] *= VAGUE
    if kind is Asks.LIST and content:  # steps, effects, types: what kind of things is listed
        weights[content[0]] *= VAGUE
    common = generic(language) | (implied(text, kind) if len(content) > 1 else frozenset())
    common |= {"cost"} if is_vague else set()  # "how much is", which may be no price
    weights |= {word: weights[word] * VAGUE for word in content if word in common | kinds}
    terms = [
        Term(word, weights[word], firm=word in names, generic=word in common) for word in content
    ]
    terms += [Term(figure, most, figure=True, firm=True) for figure in named]
    terms += [Term(code, most, firm=True) for code in codes]
    return Question(
        whole,
        kind,
        tuple(terms),
        language,
        measured if measured in measures.DIMENSIONS or measured in HOW else "",
    )


def _is_noun(word: str) -> bool:
    """Whether German has it, also as a compound of two words: no name."""
    parts = ((word[:at], word[at:]) for at in range(3, len(word) - SHORTEST_PART + 1))
    return in_dictionary(word, "de") or any(
        last != _TOWN and in_dictionary(last, "de") and in_dictionary(first.removesuffix("s"), "de")
        for first, last in parts
    )


class Bag:
    """The words and figures of a text; can tell whether it says a term."""

    def __init__(self, text: str, language: str) -> None:
        plain = _ORDINAL.sub(r"\1", text)
        self.words = words(plain)
        verbs = words(in_a_word(plain))  # "responsible" of "looks after"
        self.stems = set(stem([*self.words, *verbs], language or "en")) | {*self.words, *verbs}
        pairs = zip(self.words, self.words[1:], strict=False)
        self.joined = {a + b for a, b in pairs}
        # "+5" is another column than "5th", and .22 another figure than 22, but not in F.22.
        signed = r"(?<![+\d,])(?<![^A-Za-z]\.)(?<!^\.)" + _FIGURE.pattern
        self.figures = {
            figure for figure_text in re.findall(signed, plain) for figure in figures(figure_text)
        }
        for date in numeric(plain):  # 2025-02-04 says "4 February"
            for year, month, day in date.readings:
                self.stems |= {name for name, at in months(language).items() if at == month}
                self.figures |= {str(number) for number in (day, year) if number}
        self.letters = {fold(letter) for letter in re.findall(r"\b[A-Z]\b", text)}
        self.short = {  # STR, Dex., AC
            fold(abbreviation.rstrip("."))
            for abbreviation in re.findall(r"\b[A-Z]{2,4}\b|\b[A-Z][a-z]{1,4}\.", text)
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
        if not self.stems.isdisjoint(measures.SAME.get(term.word, ())):
            return True
        if not term.firm and not self.stems.isdisjoint(same(term.word, self._language)):
            return True
        if any(
            len(abbreviation) > 2 and term.word.startswith(abbreviation)
            for abbreviation in self.short
        ):
            return True
        if any(is_form(term.word, word, self._language) for word in set(self.words)):
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
        if 2 <= len(letters) <= 4 and "".join(term.word[0] for term in run) == letters:
            return set(run)
    return set()
