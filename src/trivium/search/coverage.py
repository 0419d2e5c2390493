"""How much of a query a passage says in the query's own words. Pure, apart from asking how rare
words are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from trivium.text.normalise import words
from trivium.text.stems import DEFAULT_LANGUAGE, content_words, stem
from trivium.text.trigrams import trigrams
from trivium.types import Phrase, Query, StoredChunk, Term

Rarities: TypeAlias = Callable[[Sequence[str]], Sequence[float]]

# Of all trigrams of two words, from which on they are spelled alike: "Shortsord" and "short sword"
# share .62, "France" and "frame" .30.
_ALIKE = 0.4


def coverage(
    query: Query,
    chunks: Sequence[StoredChunk],
    rarities: Rarities,
    missing: Collection[str] = (),
) -> list[float]:
    """For each passage the share of the query's content words that it, its title or its headings
    hold; a rare word counts more, one that no document holds most. 1 where nothing is asked.
    `missing`: words that no document holds; what a passage spells like them counts in part."""
    asked = list(dict.fromkeys(query.words))
    rarity = dict(zip(asked, rarities(asked), strict=True))
    return [_covered(query, chunk, rarity, missing) for chunk in chunks]


def _covered(
    query: Query, found: StoredChunk, rarity: dict[str, float], missing: Collection[str]
) -> float:
    language = found.document.language
    text = "\n".join((found.document.title, *found.chunk.headings, found.chunk.text))
    read = words(text)
    pairs = [a + b for a, b in pairwise(read)]
    held = {*stem(read, language), *pairs}
    content = set(content_words(query.words, {language, DEFAULT_LANGUAGE}))
    # How much each word counts that the passage writes another way.
    other = dict.fromkeys(_joined(query.words, set(read)), 1.0)
    other |= {w: _likeness(w, {*read, *pairs}) for w in missing if w in content and w not in other}
    whole = covered = 0.0
    for clause in query.clauses:
        parts = [[w for w in _words(part) if w in content] for part in clause]
        weights = [sum(rarity[w] for w in part) for part in parts if part]
        if not weights:
            continue
        whole += max(weights)
        # Of alternatives the one that the passage holds most of.
        covered += max(
            max(weights) * _held(part, held, other, language, rarity) for part in parts if part
        )
    return covered / whole if whole else 1.0


def _held(
    part: Sequence[str],
    held: set[str],
    other: Mapping[str, float],
    language: str,
    rarity: Mapping[str, float],
) -> float:
    whole = sum(rarity[word] for word in part)
    there = [
        1.0 if stemmed in held or word in held else other.get(word, 0.0)
        for word, stemmed in zip(part, stem(list(part), language), strict=True)
    ]
    if not whole:
        return sum(there) / len(part)
    return sum(rarity[word] * share for word, share in zip(part, there, strict=True)) / whole


@lru_cache(maxsize=1 << 16)  # the same words stand in most passages
def _grams(word: str) -> frozenset[str]:
    return frozenset(trigrams(word))


def _likeness(word: str, among: Iterable[str]) -> float:
    """Of the word that is spelled most alike, as the trigram signal counts it: the root."""
    wanted = _grams(word)
    best = 0.0
    for other in among:
        found = _grams(other)
        shared = len(wanted & found)
        if shared >= _ALIKE * len(wanted):
            best = max(best, shared / (len(wanted) + len(found) - shared))
    return best**0.5 if best >= _ALIKE else 0.0


def _joined(asked: Iterable[str], read: set[str]) -> set[str]:
    """Words asked for that the passage writes as one: short sword, shortsword."""
    return {word for pair in pairwise(asked) if "".join(pair) in read for word in pair}


def _words(part: Term | Phrase) -> Sequence[str]:
    return part.words if isinstance(part, Phrase) else (part.text,)
