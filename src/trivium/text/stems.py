"""Reduces words to stems by the rules of a language, and knows each language's function words.

Snowball's stemmers (PyStemmer), our own for Korean, and stop-words' lists; all are loaded on first
use. Knows nothing of how the language was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from threading import local

from trivium.text.normalise import fold, words

KOREAN = "ko"
DEFAULT_LANGUAGE = "en"  # for texts whose language nobody could tell: short and mostly English

SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

# Stems by algorithm and word: a text repeats its words, and looking one up takes a tenth of the
# time. Threads share it; at worst two of them find the same stem.
_stems_by_algorithm: dict[str, dict[str, str]] = {}
_REMEMBERED = 200_000
_UMLAUT = re.compile("[aou]")
_stemmers = local()  # a Snowball stemmer is not safe to share between threads


@dataclass(frozen=True, slots=True)
class _Stemming:
    algorithm: str
    find: Callable[[list[str]], list[str]]


def stem(tokens: list[str], language: str) -> list[str]:
    """The stems of folded words; words of a language without a stemmer stay as they are."""
    stemmer = _stemmer(language)
    if stemmer is None:
        return tokens
    stems = _stems_by_algorithm.get(stemmer.algorithm)
    if stems is None or len(stems) > _REMEMBERED:
        stems = _stems_by_algorithm[stemmer.algorithm] = {}
    try:
        return list(map(stems.__getitem__, tokens))
    except KeyError:
        new = [word for word in dict.fromkeys(tokens) if word not in stems]
        stems.update(zip(new, stemmer.find(new), strict=True))
        return list(map(stems.__getitem__, tokens))


def beginning(stemmed: str, language: str) -> str:
    """What every word with this stem begins with, as far as the rules of the language say; nothing
    where we don't know them that well."""
    algorithm = SNOWBALL.get(language or DEFAULT_LANGUAGE)
    if algorithm == "english":  # changes up to two letters at the end: skies, sky; dying, die
        return stemmed[:-2] or stemmed[:1]
    if algorithm == "german":  # reads ae, oe and ue as one letter: maenner, mann
        vowel = _UMLAUT.search(stemmed)
        return stemmed[: vowel.end()] if vowel else stemmed
    return ""


def stems(text: str, language: str) -> list[str]:
    """The stems of a text's words, in order, function words included (phrases need them)."""
    return stem(words(text), language)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Function words that carry no topic: dropped from a query as long as others remain."""
    from stop_words import StopWordError, get_stop_words

    try:
        listed = get_stop_words(language or DEFAULT_LANGUAGE)
    except StopWordError:
        return frozenset()
    return frozenset(word for entry in listed for word in words(fold(entry)))


def content_words(tokens: Iterable[str], languages: Iterable[str]) -> list[str]:
    """The content words of a text; all words if nothing else is left."""
    tokens = list(tokens)
    ignored = _ignored(frozenset(languages))
    return [word for word in tokens if word not in ignored] or tokens


@cache
def _ignored(languages: frozenset[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(stop_words, languages))


def _stemmer(language: str) -> _Stemming | None:
    algorithm = SNOWBALL.get(language or DEFAULT_LANGUAGE)
    if algorithm is None:
        return _korean() if language == KOREAN else None
    loaded: dict[str, _Stemming] = _stemmers.__dict__
    if algorithm not in loaded:
        import Stemmer

        loaded[algorithm] = _Stemming(algorithm, Stemmer.Stemmer(algorithm).stemWords)
    return loaded[algorithm]


@cache
def _korean() -> _Stemming:
    from trivium.text.korean import without_particles

    return _Stemming(KOREAN, lambda words: list(map(without_particles, words)))
