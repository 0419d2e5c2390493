"""Plans the trigram signal: which words of the index stand for each word of a query, and how much.

The plan is the same for every store, which then only looks whole words up: a chunk's score is
`Σ weight · max(factor · saturation)` over the planned words, divided by the greatest possible sum.
Saturation is BM25's: how often the spelling stands in the chunk, levelled, by the chunk's length.
Knows nothing of how postings are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from trivium.text.stems import content_words
from trivium.text.trigrams import Similar, WordList

# The rarest words decide; more of them cost time (a posting list each relative) and gave nothing.
MOST_PLANNED = 16
_REMEMBERED = 10_000  # plans kept until something changes: people ask for the same words


class Spelling(NamedTuple):
    """A word, or two neighbouring words, to look for in the index."""

    words: tuple[str, ...]
    factor: float  # 0..1


class PlannedWord(NamedTuple):
    """One word of the query and everything it may have been meant to be."""

    word: str
    weight: float  # how rare the likeliest spelling is in the index (BM25's idf)
    spellings: tuple[Spelling, ...]


def plan_spellings(
    words: Sequence[str],
    vocabulary: WordList,
    languages: Iterable[str],
    rarity: Callable[[tuple[str, ...]], float],
    common: float = 0.0,
    plans: dict[str, PlannedWord] | None = None,
) -> list[PlannedWord]:
    """`rarity` gives the idf of one word, or the sum over two. A known word no rarer than `common`
    goes without relatives: their posting lists are the longest, and it counts little. `plans`:
    those made before with the same vocabulary and rarities; new ones are put there."""
    planned = []
    plans = {} if plans is None else plans
    joined = _joined(words, vocabulary)
    for word in dict.fromkeys(content_words(words, languages)):
        if word in joined:
            plan = _planned(word, vocabulary, rarity, common, joined[word])
        else:
            plan = plans.get(word) or _planned(word, vocabulary, rarity, common)
            if plan is not None and word not in plans:
                if len(plans) >= _REMEMBERED:
                    plans.clear()
                plans[word] = plan
        if plan is not None:
            planned.append(plan)
    planned.sort(key=lambda p: -p.weight)
    return planned[:MOST_PLANNED]


def _planned(
    word: str,
    vocabulary: WordList,
    rarity: Callable[[tuple[str, ...]], float],
    common: float,
    joined: Iterable[str] = (),
) -> PlannedWord | None:
    """None where nothing in the index resembles the word. `joined`: it and a neighbour as one."""
    if word in vocabulary and rarity((word,)) <= common:
        similar = [Similar((word,), 1.0, 1.0)]
    else:
        similar = vocabulary.similar(word)
    best = similar[0].likeness if similar else 0.0
    spellings = {s.words: _factor(s, best) for s in similar}
    # "short sword" in the query, "shortsword" in the text: as good as the word itself.
    spellings |= {(compound,): 1.0 for compound in joined}
    if not spellings:
        return None
    likeliest = max(spellings.items(), key=lambda item: (item[1], item[0]))[0]
    parts = tuple(Spelling(w, f) for w, f in spellings.items())
    return PlannedWord(word, rarity(likeliest), parts)


def _factor(similar: Similar, best: float) -> float:
    # Squared against the best: relatives count little once the word itself is there. The root of
    # the best: a misspelled word still counts, or queries with three typos lose .02 nDCG@10.
    return float((similar.likeness / best) ** 2 * best**0.5)


def _joined(words: Sequence[str], vocabulary: WordList) -> dict[str, list[str]]:
    joined: dict[str, list[str]] = {}
    for left, right in pairwise(words):
        if left + right in vocabulary:
            joined.setdefault(left, []).append(left + right)
            joined.setdefault(right, []).append(left + right)
    return joined
