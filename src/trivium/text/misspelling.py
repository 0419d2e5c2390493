"""What a misspelled word was meant to be: words of an index that are near it, and how near.

`spell` is the plan that every store executes; `nearest` proposes, `distance` judges. Trigrams alone
miss short words ("etst" shares one of nine with "test"), single mistakes alone miss "hirarcical";
together they propose the right word for 97 % of Norvig's misspellings whose right word an index of
5,000 abstracts knows. Pure: knows nothing of chunks or callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate, islice

from trivium.core.types import Spelled
from trivium.text.stems import stem
from trivium.text.trigrams import THRESHOLD, WordList

# Costs of single mistakes, set on the lists of Norvig and codespell: the right word comes first for
# 91 % of them, and for 87 % when every mistake costs 1. Vowels for vowels, and letters that sound
# alike, gained nothing at any lower cost.
DOUBLED = 0.5  # "regresssion", "acount"
SWAPPED = 0.7  # "netowrks"
SILENT = 0.6  # "alghorithm": one of these too many or too few
SILENTS = "eh"
OTHER = 1.0
FIRST = 0.5  # in addition: people rarely get the first letter wrong
BLANK = 0.9  # two words written as one

SHORTEST = 3  # shorter words are abbreviations: any of them is one letter from many others
MOST_COUNTED = 100  # chunks: beyond, a word is common (30: .2 % fewer right, unbounded: .1 % more)
_MOST_PROPOSED = 10  # being common makes up for two thirds of a mistake: the eleventh never wins
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def spell(
    words: Iterable[str],
    vocabulary: WordList,
    languages: Iterable[str],
    holding: Callable[[tuple[str, ...], int], int],
) -> dict[str, tuple[Spelled, ...]]:
    """For each word: the word itself, if a chunk has it; else similar words in chunks, nearest
    first. `holding` counts, up to a limit, the chunks that have a word or two neighbouring words;
    it must not count what the caller may not see."""
    languages = list(languages) or [""]
    spellings: dict[str, tuple[Spelled, ...]] = {}
    for word in dict.fromkeys(words):
        if word in vocabulary and (chunks := holding((word,), 1)):
            spellings[word] = (Spelled((word,), chunks),)
            continue
        counted = ((near, holding(near, MOST_COUNTED)) for near in nearest(word, vocabulary))
        spellings[word] = tuple(
            Spelled(near, chunks, _inflected(word, near, languages))
            for near, chunks in islice((c for c in counted if c[1]), _MOST_PROPOSED)
        )
    return spellings


def _inflected(word: str, near: tuple[str, ...], languages: Iterable[str]) -> bool:
    """The same stem and another end. The same end is a mistake before it: stemmers forgive
    "learnning" its second n."""
    (other, *more) = near
    return (
        not more
        and word[-1] != other[-1]
        and any(stem([word], language) == stem([other], language) for language in languages)
    )


def nearest(word: str, vocabulary: WordList) -> list[tuple[str, ...]]:
    """Words of the vocabulary, or pairs, that `word` may stand for, nearest first."""
    if len(word) < SHORTEST or not word.isalpha():
        return []
    among = vocabulary.among(_edits(word))
    among.update(vocabulary.alike(word, THRESHOLD))
    among.discard(word)
    pairs = [similar.words for similar in vocabulary.similar(word) if len(similar.words) > 1]
    singles = [(w,) for w in among if len(w) >= SHORTEST and w.isalpha()]
    return sorted([*singles, *pairs], key=lambda near: (distance(word, near), near))


def _edits(word: str) -> list[str]:
    """Everything one mistake away, some of it twice. In lists: a generator of these 600 words takes
    twice as long."""
    cuts = [(word[:i], word[i:], word[i + 1 :]) for i in range(len(word) + 1)]
    missing = [f"{left}{letter}{right}" for left, right, _ in cuts for letter in _LETTERS]
    wrong = [f"{left}{letter}{rest}" for left, _, rest in cuts[:-1] for letter in _LETTERS]
    added = [left + rest for left, _, rest in cuts[:-1]]
    swapped = [left + right[1] + right[0] + right[2:] for left, right, _ in cuts[:-2]]
    return missing + wrong + added + swapped


def distance(word: str, meant: tuple[str, ...]) -> float:
    """The least cost of the mistakes that turn `meant` into `word`."""
    return _distance(word, "".join(meant)) + BLANK * (len(meant) - 1)


@lru_cache(maxsize=16384)
def _distance(a: str, b: str) -> float:
    """Weighted Damerau-Levenshtein (optimal string alignment). Common beginnings and ends cost
    nothing, so only the part between is compared."""
    start, most = 0, min(len(a), len(b))
    while start < most and a[start] == b[start]:
        start += 1
    end = 0
    while end < most - start and a[-1 - end] == b[-1 - end]:
        end += 1
    between = b[start : len(b) - end]
    extra_a = [_extra(a, i) for i in range(start, len(a) - end)]
    extra_b = [_extra(b, j) for j in range(start, len(b) - end)]
    above = [*accumulate(extra_b, initial=0.0)]
    before, last = above, ""
    for i, missing in enumerate(extra_a, start):
        letter, beside = a[i], ""
        diagonal, cost = above[0], above[0] + missing
        row = [cost]
        for at, other in enumerate(between):
            up = above[at + 1]
            if letter != other:
                diagonal += OTHER if i or at else OTHER + FIRST
            cost, down = cost + extra_b[at], up + missing
            cost = down if down < cost else cost  # `min` took 40 % of the time
            cost = diagonal if diagonal < cost else cost
            if letter == beside and last == other:
                swapped = SWAPPED + (FIRST if i == at + start == 1 else 0.0)
                cost = min(cost, before[at - 1] + swapped)
            row.append(cost)
            diagonal, beside = up, other
        before, above, last = above, row, letter
    return above[-1]


def _extra(word: str, i: int) -> float:
    letter = word[i]
    if letter in (word[i - 1 : i], word[i + 1 : i + 2]):
        return DOUBLED
    return (SILENT if letter in SILENTS else OTHER) + (FIRST if i == 0 else 0.0)
