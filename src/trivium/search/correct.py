"""Finds the words of a query that the caller's documents lack, and what they were meant to be.

A misspelled word breaks the embedding of a short query and finds nothing by keyword, so where the
intended word is clear enough both signals are asked for that one; the trigram signal sees the query
as typed. Only words that the caller may see are ever put forward: `spellings` answers for them.
Knows no store and no model, only what it is handed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import TypeAlias

from trivium.results import Correction
from trivium.text.misspelling import SHORTEST, distance
from trivium.text.normalise import words
from trivium.text.query import EXCLUDED, parse
from trivium.text.stems import content_words
from trivium.types import Query, Spelled

# As sure as that, a correction is searched for and shown. nDCG@10 at .1, .2, .3 and .5: mlquestions
# with three misspelled words .522 .524 .517 .511, clean xquad_en .986 .987 .987 .987.
SURE = 0.2
# Where the model was not taught what was meant either, it cannot vouch for right words that the
# library merely lacks; one letter makes another abbreviation of PGK or UreH; and in a language that
# the model does not speak no word is vouched for (a quarter of the German questions to 240
# paragraphs held a right word that resembled another; so it is 3 in 100).
SURE_OF_UNTAUGHT = 0.7
SURE_OF_NAME = 0.9
SURE_OF_FOREIGN = 0.95
# How sure a correction is, as a logistic function: fitted to the lists of Norvig and codespell and
# to rare words of other corpora, which must stay as they are.
_ALWAYS = 3.1
_PER_DISTANCE = -22.8  # of the mistakes, for each letter of the word
_PER_LEAD = 1.24  # ahead of the second best
_PER_COMMON = 0.35  # logarithm of the chunks that hold it
_MOST_LEAD = 3.0
# What being common is worth when candidates are compared, in units of distance.
_COMMON = 0.15
_LANGUAGES = ("en", "de")  # whose function words say nothing about what a library knows

_WORD = re.compile(r"[^\W_]+")
_NOT_WANTED = re.compile(EXCLUDED)
_AS_TYPED = re.compile(EXCLUDED + r'|"[^"]*"|[“„«][^“”»]*[“”»]')  # and phrases: asked for exactly

Taught: TypeAlias = Callable[[str], bool]
Spellings: TypeAlias = Callable[[Sequence[str]], Mapping[str, tuple[Spelled, ...]]]


@dataclass(frozen=True, slots=True)
class Corrected:
    """What was found out about the words of a query."""

    query: Query  # with the corrections that were applied: for the vector and keyword signals
    corrections: tuple[Correction, ...] = ()
    suggestion: str = ""  # the whole text as it was probably meant; empty if it is as typed
    unknown: tuple[str, ...] = ()  # words that stay, although no visible chunk holds their like
    unknown_share: float = 0.0  # of those among the words that carry a topic
    missing: tuple[str, ...] = ()  # all words that no visible chunk holds as they are typed

    def as_typed(self, query: Query) -> Corrected:
        """What is unknown, but nothing put in its place."""
        return Corrected(
            query,
            unknown=self.unknown,
            unknown_share=self.unknown_share,
            missing=self.missing,
        )

    def only_suggested(self, query: Query) -> Corrected:
        """For signals that look at what was typed."""
        corrections = tuple(replace(c, applied=False) for c in self.corrections)
        return replace(self, query=query, corrections=corrections)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided, in sentences."""
        told = [
            f"{'Searched for' if c.applied else 'Perhaps meant:'} {c.meant} instead of {c.typed}"
            f" ({c.sure:.0%} sure)."
            for c in self.corrections
        ]
        return tuple(told)


def correct(query: Query, spellings: Spellings, lexicon: Callable[[], Taught | None]) -> Corrected:
    """`spellings`: `Store.spellings` under the caller's filter. `lexicon` gives a way to ask if the
    embedding model was taught a word as a whole (then it stays, known to the library or not), or
    None where nobody can tell. It is called only where a word is missing: it may load a model."""
    asked = [w for w in dict.fromkeys(query.words) if len(w) >= SHORTEST and w.isalpha()]
    found = spellings(asked)
    missing = [w for w in asked if not any(s.words == (w,) for s in found[w])]
    if not missing:
        return Corrected(query)
    content = content_words(query.words, _LANGUAGES)
    names = _names(query.text)
    taught = lexicon()
    held = [taught(w) for w in asked if w not in missing] if taught else []
    foreign = sum(held) < len(held) / 2
    taught = taught or _nothing
    guesses: dict[str, _Guess] = {}
    unknown: list[str] = []
    for word in missing:
        ranked = sorted(found[word], key=lambda s: (_cost(word, s), s.words))
        if ranked and (ranked[0].inflected or len(ranked[0].words) > 1):
            continue  # there with another ending, or as two words: every signal copes with that
        guess = _guess(word, ranked)
        if not taught(word) and guess.sure >= _demanded(word, guess, names, foreign, taught):
            guesses[word] = guess
        elif word in content:
            unknown.append(word)
    text, applied = _rewritten(query.text, guesses, _AS_TYPED)
    suggestion, shown = _rewritten(query.text, guesses, _NOT_WANTED)
    return Corrected(
        query=parse(text) if applied else query,
        corrections=tuple(
            Correction(typed, meant, guesses[word].sure, word in applied)
            for word, (typed, meant) in shown.items()
        ),
        suggestion=suggestion if shown else "",
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
    """The best of the candidates, and how sure it is."""
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


def _nothing(_word: str) -> bool:
    return False


def _demanded(word: str, guess: _Guess, names: set[str], foreign: bool, taught: Taught) -> float:
    """How sure the guess must be."""
    if foreign:
        return SURE_OF_FOREIGN
    if word in names:
        return SURE_OF_NAME
    return SURE if taught(guess.meant) else SURE_OF_UNTAUGHT


def _names(text: str) -> set[str]:
    """Words with capitals inside, unless the whole text is in capitals."""
    if text.isupper():
        return set()
    typed = (match.group() for match in _WORD.finditer(text))
    return {word for t in typed if t[1:] != t[1:].lower() for word in words(t)}


def _rewritten(
    text: str, guesses: Mapping[str, _Guess], kept: re.Pattern[str]
) -> tuple[str, dict[str, tuple[str, str]]]:
    """The text with what was meant in place of what was typed, except where `kept` matches; and
    for each word replaced, how it was typed and what stands there now."""
    spans = [match.span() for match in kept.finditer(text)]
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
