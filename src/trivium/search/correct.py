"""Finds the words of a query that the caller's documents lack, and how they should be spelled.

A misspelled word spoils the embedding of a short query and finds nothing by keyword. If the right
word is clear enough, both signals search for it instead; the trigram signal gets the query as
typed. Suggests only words that the caller may see: `spellings` returns no others. Knows no store
and no model, only what it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import TypeAlias

from trivium.core.results import Correction
from trivium.core.types import Query, Spelled
from trivium.text.dictionary import in_dictionary
from trivium.text.misspelling import SHORTEST, distance
from trivium.text.normalise import words
from trivium.text.query import EXCLUDED, parse
from trivium.text.stems import DEFAULT_LANGUAGE, content_words

# Search for a correction, and show it, if it is at least this sure. With three misspelled words in
# each query, at .2 75.9 % of them are corrected rightly on mlquestions and 67.2 % on xquad_en, at
# .15 76.2 and 67.9, and clean queries change as rarely (docs/log.md, 2026-11-16, known words).
SURE = 0.15
# Some words need more certainty. UNTAUGHT: neither model nor dictionary knows the correction, so
# the typed word may be right and merely missing in the library. NAME: one letter turns PGK or UreH
# into another abbreviation. FOREIGN: German forms new words all the time (a quarter of the
# German questions about 240 paragraphs had a right word that resembled another; with this value 1
# in 200 does). CAPITALISED: a capital inside a sentence means a name, such as "Mims" or
# "Passeriformes" (.16 and .32 sure); no misspelled word of xquad_en is lost by this.
SURE_OF_UNTAUGHT = 0.7
SURE_OF_CAPITALISED = 0.5
SURE_OF_NAME = 0.9
SURE_OF_FOREIGN = 0.95
# How sure a correction is, as a logistic function. Fitted to the misspellings of Norvig and
# codespell, and to rare words of other corpora, which must not change.
_ALWAYS = 3.1
_PER_DISTANCE = -22.8  # times the distance divided by the length of the word
_PER_LEAD = 1.24  # times the lead over the second best
_PER_COMMON = 0.35  # times the logarithm of the number of chunks that have it
_MOST_LEAD = 3.0
# How much distance a common candidate may make up for, times the logarithm of its chunks.
_COMMON = 0.15
_LANGUAGES = ("en", "de")  # function words of these say nothing about what a library knows

_WORD = re.compile(r"[^\W_]+")
_NOT_WANTED = re.compile(EXCLUDED)
_AS_TYPED = re.compile(EXCLUDED + r'|"[^"]*"|[“„«][^“”»]*[“”»]')  # and phrases: meant exactly

# Last letters of inflected words: "Wesleys" is a form of "Wesley", "randome" isn't one of "random".
_INFLECTED = ("s", "n", "d", "g", "r", "t", "y")
_VOICED = re.compile(r"(.+)v(?:en|es|ish)")  # elven, wolves, dwarvish: from elf, wolf, dwarf
_PREFIX = 2  # this many letters before a word make a new one: "unchecking", "Ölproduktion"
_PART = 4  # letters in each half of a compound; with 3, half of all misspelled words look like one

Taught: TypeAlias = Callable[[str], bool]
Spellings: TypeAlias = Callable[[Sequence[str]], Mapping[str, tuple[Spelled, ...]]]


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected query, and what is known about its words."""

    query: Query  # with the applied corrections, for the vector and keyword signals
    corrections: tuple[Correction, ...] = ()
    suggestion: str = ""  # the whole text with all corrections; empty if there are none
    unknown: tuple[str, ...] = ()  # content words that no visible chunk has and nothing corrects
    unknown_share: float = 0.0  # share of these among the content words
    missing: tuple[str, ...] = ()  # all words that no visible chunk has as typed

    def as_typed(self, query: Query) -> Corrected:
        """Keeps the unknown words, but corrects nothing."""
        return Corrected(
            query, unknown=self.unknown, unknown_share=self.unknown_share, missing=self.missing
        )

    def only_suggested(self, query: Query) -> Corrected:
        """Suggests the corrections, but searches for what was typed."""
        corrections = tuple(replace(c, applied=False) for c in self.corrections)
        return replace(self, query=query, corrections=corrections)

    @property
    def notes(self) -> tuple[str, ...]:
        """The corrections, as sentences."""
        replaced = [
            f"{'Searched for' if c.applied else 'You perhaps meant'} {c.meant} instead of {c.typed}"
            f" ({c.sure:.0%} sure)."
            for c in self.corrections
        ]
        return tuple(replaced)


def correct(
    query: Query,
    spellings: Spellings,
    lexicon: Callable[[], Taught | None],
    languages: Callable[[], Iterable[str]] = tuple,
) -> Corrected:
    """`spellings`: the store's `spellings` with the caller's filter. `lexicon` returns a function
    that tells whether the embedding model was taught a word as a whole, or None if it can't say.
    `languages` returns the languages of documents that the caller may see. A word stays as it is if
    the model or a dictionary of English or these languages knows it, even if no document has it.
    Both are called only if a word is missing, because they may load a model."""
    query_words = [w for w in dict.fromkeys(query.words) if len(w) >= SHORTEST and w.isalpha()]
    spellings_of = spellings(query_words)
    missing = [w for w in query_words if not any(s.words == (w,) for s in spellings_of[w])]
    if not missing:
        return Corrected(query)
    content = content_words(query.words, _LANGUAGES)
    known_words = _KnownWords(lexicon(), languages())
    judge = _Judge(
        known_words,
        names=_names(query.text),
        capitalised=_capitalised(query.text),
        accented=_accented(query.text),
        foreign=known_words.foreign([w for w in query_words if w not in missing]),
    )
    guesses: dict[str, _Guess] = {}
    unknown: list[str] = []
    for word in missing:
        ranked = sorted(spellings_of[word], key=lambda s: (_cost(word, s), s.words))
        if judge.is_held(word, ranked):
            continue
        guess = _guess(word, ranked)
        if judge.accepts(word, guess):
            guesses[word] = guess
        elif word in content:
            unknown.append(word)
    text, applied = _rewritten(query.text, guesses, _AS_TYPED)
    suggestion, replaced = _rewritten(query.text, guesses, _NOT_WANTED)
    return Corrected(
        query=parse(text) if applied else query,
        corrections=tuple(
            Correction(typed, meant, guesses[word].sure, word in applied)
            for word, (typed, meant) in replaced.items()
        ),
        suggestion=suggestion if replaced else "",
        unknown=tuple(unknown),
        unknown_share=len(unknown) / len(set(content)),
        missing=tuple(missing),
    )


@dataclass(frozen=True, slots=True)
class _Guess:
    meant: str
    sure: float


def _cost(word: str, spelled: Spelled) -> float:
    return distance(word, spelled.words) - _COMMON * log(spelled.chunks + 1)


def _guess(word: str, ranked: Sequence[Spelled]) -> _Guess:
    """The best candidate, and how sure it is."""
    if not ranked:
        return _Guess(word, 0.0)
    best = ranked[0]
    lead = _cost(word, ranked[1]) - _cost(word, best) if len(ranked) > 1 else _MOST_LEAD
    logit = (
        _ALWAYS
        + _PER_DISTANCE * distance(word, best.words) / len(word)
        + _PER_LEAD * min(lead, _MOST_LEAD)
        + _PER_COMMON * log(best.chunks + 1)
    )
    return _Guess(best.words[0], 1 / (1 + exp(-logit)))


class _KnownWords:
    """The words of the embedding model and of dictionaries."""

    def __init__(self, taught: Taught | None, languages: Iterable[str]) -> None:
        self._taught = taught or (lambda _word: False)
        self._others = [language for language in languages if language != DEFAULT_LANGUAGE]

    def __contains__(self, word: str) -> bool:
        return self._english(word) or any(in_dictionary(word, other) for other in self._others)

    def _english(self, word: str) -> bool:
        return self._taught(word) or in_dictionary(word, DEFAULT_LANGUAGE)

    def foreign(self, words_of_query: Sequence[str]) -> bool:
        """Whether these words are in a language that the model doesn't know."""
        english = sum(map(self._english, words_of_query))
        other = max(
            (sum(in_dictionary(w, o) for w in words_of_query) for o in self._others), default=0
        )
        return english < len(words_of_query) / 2 or other > english

    def derives(self, word: str) -> bool:
        """Whether it is a form, missing in every list, of a known word."""
        voiced = _VOICED.fullmatch(word)
        return voiced is not None and f"{voiced[1]}f" in self

    def composes(self, word: str) -> bool:
        """Whether it is made of two known words, with or without an s between them."""
        for at in range(_PART, len(word) - _PART + 1):
            left, right = word[:at], word[at:]
            if right in self and (left in self or (left[-1] == "s" and left[:-1] in self)):
                return True
        return False


@dataclass(frozen=True, slots=True)
class _Judge:
    """Decides about the words of one query that the library lacks."""

    known: _KnownWords
    names: set[str]
    capitalised: set[str]
    accented: set[str]
    foreign: bool

    def is_held(self, word: str, ranked: Sequence[Spelled]) -> bool:
        """Whether the library has it with another ending or as two words: signals find those."""
        if not ranked:
            return False
        ending = self.foreign or word in self.known or word.endswith(_INFLECTED)
        return len(ranked[0].words) > 1 or (ranked[0].inflected and ending)

    def accepts(self, word: str, guess: _Guess) -> bool:
        before = len(word) - len(guess.meant)  # tTregs and Tregs are different cells
        prefixed = before >= (1 if word in self.names else _PREFIX) and word.endswith(guess.meant)
        return (
            guess.sure >= self._demanded(word, guess)
            and not prefixed
            and word not in self.known
            and not self.known.derives(word)
            and not (self.foreign and self.known.composes(word))
        )

    def _demanded(self, word: str, guess: _Guess) -> float:
        """How sure the guess must be."""
        if self.foreign:
            return SURE_OF_FOREIGN
        if word in self.accented:
            return 1.0  # nobody types an accent by mistake
        if word in self.names:
            return SURE_OF_NAME
        if guess.meant not in self.known:
            return SURE_OF_UNTAUGHT
        return SURE_OF_CAPITALISED if word in self.capitalised else SURE


def _accented(text: str) -> set[str]:
    typed = (match.group() for match in _WORD.finditer(text))
    return {word for t in typed if not t.isascii() for word in words(t)}


def _names(text: str) -> set[str]:
    """Words with capitals inside, unless the whole text is in capitals."""
    if text.isupper():
        return set()
    typed = (match.group() for match in _WORD.finditer(text))
    return {word for t in typed if t[1:] != t[1:].lower() for word in words(t)}


def _capitalised(text: str) -> set[str]:
    """Words that begin with a capital, as names do, in a text where most words don't. Ignores the
    first word."""
    typed = [match.group() for match in _WORD.finditer(text)]
    named = [t for t in typed[1:] if t[0].isupper()]
    if 2 * len(named) >= len(typed):
        return set()
    return {word for t in named for word in words(t)}


def _rewritten(
    text: str, guesses: Mapping[str, _Guess], fixed: re.Pattern[str]
) -> tuple[str, dict[str, tuple[str, str]]]:
    """The text with corrections, except where `fixed` matches; and for each corrected word, how it
    was typed and what it is now."""
    spans = [match.span() for match in fixed.finditer(text)]
    replaced: dict[str, tuple[str, str]] = {}

    def replace(match: re.Match[str]) -> str:
        typed = match.group()
        folded = words(typed)
        inside = any(start <= match.start() < end for start, end in spans)
        if inside or len(folded) != 1 or folded[0] not in guesses:
            return typed
        meant = _cased(typed, guesses[folded[0]].meant)
        replaced.setdefault(folded[0], (typed, meant))
        return meant

    return _WORD.sub(replace, text), replaced


def _cased(typed: str, meant: str) -> str:
    if typed.isupper():
        return meant.upper()
    return meant.capitalize() if typed[0].isupper() else meant
