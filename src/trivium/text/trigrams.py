"""Compares words by their runs of three characters, as PostgreSQL's pg_trgm does.

`word_similarity` is the definition. `Vocabulary` finds the words of an index that resemble a query
word, one or two words long, so that a store only has to look up whole words. Pure: the caller
says which words there are; knows nothing of chunks, files or ranking.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property, lru_cache, partial
from heapq import heappush, heappushpop
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

THRESHOLD = 0.3  # pg_trgm's default: less alike than this is not alike
# A word that the index knows needs no distant relatives: below .5 they cost postings and gave
# nothing on six judged sets (nDCG@10 within .003 with and without).
KNOWN_THRESHOLD = 0.5
# 10 relatives measured like 20 and 40 (nDCG@10 of the signal within .002, clean and misspelled),
# and for a word that is known 4, itself among them, like 8 (signal and hybrid: xquad_en .9690 and
# .9747, with 8 .9683 and .9747; cranfield .5243 and .5643, .5213 and .5629): each costs a list.
MOST_SIMILAR = 10
MOST_KNOWN = 4
_COMPARED = 20  # candidates that may be compared in full (40 propose for 1 % more, twice the time)
_LONGEST = 32  # longer strings are identifiers: found exactly, never by resemblance
_SHORTEST_HALF = 3  # of a compound; shorter halves ("in", "a") match everywhere
_REMEMBERED = 10_000  # answers kept until the vocabulary grows: people ask for the same words
_BITS = 21  # enough for any code point
_BLANK = 32
_AT_ONCE = 4_096  # words whose trigrams are taken at a time

# How promising a word is, from 0 to 2, and the word.
Promising: TypeAlias = tuple[float, str]


class Similar(NamedTuple):
    """A word of the index, or two neighbouring ones, that a query word may have meant."""

    words: tuple[str, ...]
    similarity: float  # word_similarity(query word, these words): decides whether it is alike
    likeness: float  # its mean with the similarity to the whole words: decides how much


def trigrams(word: str) -> tuple[str, ...]:
    """In order, with pg_trgm's padding: two blanks in front, one behind."""
    padded = f"  {word} "
    return tuple([padded[i : i + 3] for i in range(len(padded) - 2)])


def word_similarity(word: str, text: tuple[str, ...]) -> float:
    """The greatest similarity of `word` to any run of trigrams of the words of `text`.

    Similarity is the share of common trigrams among all of both: |A ∩ B| / |A ∪ B|.
    """
    wanted = trigram_set(word)
    run = [gram for part in text for gram in trigrams(part)]
    return _similarity(wanted, run, len(set(run)) == len(run))


def _similarity(wanted: frozenset[str], run: Sequence[str], distinct: bool) -> float:
    """`distinct`: no trigram stands in the run twice, as in nearly every word."""
    hits = [i for i, gram in enumerate(run) if gram in wanted]
    if not hits:
        return 0.0
    if hits[-1] - hits[0] + 1 == len(hits):  # all in a row, as for a common beginning or end
        return (len(hits) if distinct else len({run[i] for i in hits})) / len(wanted)
    if distinct:
        return _of_distinct(len(wanted), hits)
    best = 0.0
    for first, start in enumerate(hits):
        if (len(hits) - first) / len(wanted) <= best:
            break  # even if everything that follows matched
        extent: set[str] = set()
        common: set[str] = set()
        at = start
        for hit in hits[first:]:
            extent.update(run[at : hit + 1])
            at = hit + 1
            common.add(run[hit])
            best = max(best, len(common) / (len(wanted) + len(extent) - len(common)))
    return best


def _of_distinct(wanted: int, hits: Sequence[int]) -> float:
    """The same by counting alone: a run from one hit to another has as many trigrams as it is long,
    and as many in common as hits lie within."""
    best = 0.0
    for first, start in enumerate(hits):
        if (len(hits) - first) / wanted <= best:
            break
        rest = wanted - start + 1
        for common, hit in enumerate(hits[first:], start=1):
            similarity = common / (rest + hit - common)
            best = max(best, similarity)
    return best


@lru_cache(maxsize=65536)
def trigram_set(word: str) -> frozenset[str]:
    return frozenset(trigrams(word))


class WordList(ABC):
    """Distinct words, searchable by resemblance."""

    def __init__(self) -> None:
        self._answers: dict[str, list[Similar]] = {}
        self._proposals: dict[tuple[str, float], list[Promising]] = {}

    @abstractmethod
    def __contains__(self, word: str) -> bool: ...

    @abstractmethod
    def among(self, words: Iterable[str]) -> set[str]:
        """Those of these words that it has."""

    @abstractmethod
    def beginning(self, start: str) -> list[str]:
        """Words that begin so, in no order."""

    @abstractmethod
    def _candidates(self, word: str, threshold: float, most: int) -> list[Promising]:
        """Words that share trigrams with this one, most promising first."""

    def _compared(self, word: str, threshold: float) -> list[Promising]:
        """Those that are worth comparing in full. Correction and spelling ask for the same."""
        proposals, key = self._proposals, (word, threshold)
        candidates = proposals.get(key)
        if candidates is None:
            candidates = self._candidates(word, threshold, _COMPARED)
            if len(proposals) >= _REMEMBERED:
                proposals.clear()
            proposals[key] = candidates
        return candidates

    def similar(self, word: str) -> list[Similar]:
        """The words that resemble `word`, most alike first; itself first if known."""
        answers = self._answers  # of the words there are now, whoever adds some meanwhile
        words = answers.get(word)
        if words is None:
            words = self._similar(word)
            if len(answers) >= _REMEMBERED:
                answers.clear()
            answers[word] = words
        return words

    def alike(self, word: str, threshold: float) -> list[str]:
        """Some single words by shared trigrams alone, most promising first; itself if known."""
        return [w for _, w in self._compared(word, threshold)] if _comparable(word) else []

    def _similar(self, word: str) -> list[Similar]:
        is_known = word in self
        similar = [Similar((word,), 1.0, 1.0)] if is_known else []
        most = MOST_KNOWN if is_known else MOST_SIMILAR
        if _comparable(word):
            similar += self._single(
                word, KNOWN_THRESHOLD if is_known else THRESHOLD, most - len(similar)
            )
            # Two words count only where the second adds to the resemblance of the first.
            similar += [
                s
                for s in map(partial(_compare, word), self._compounds(word))
                if s.likeness > max(_compare(word, (part,)).likeness for part in s.words)
            ]
        return sorted(similar, key=lambda s: (-s.likeness, s.words))[:most]

    def _single(self, word: str, threshold: float, most: int) -> list[Similar]:
        """Single words that resemble this one: at least the `most` most alike, and not itself."""
        words: list[Similar] = []
        best: list[float] = []  # a heap of the greatest likenesses
        for promise, single in self._compared(word, threshold):
            # What a word promises is twice the most that it can be alike, and the next promise
            # less: half of the candidates need not be compared.
            if len(best) == most and promise / 2 < best[0]:
                break
            if single == word:
                continue
            similar = _compare(word, (single,))
            if similar.similarity >= threshold:
                words.append(similar)
                (heappush if len(best) < most else heappushpop)(best, similar.likeness)
        return words

    def _compounds(self, word: str) -> list[tuple[str, str]]:
        """Pairs of known words that `word` may be a joined, perhaps misspelled, writing of."""
        pairs: list[tuple[str, str]] = []
        for cut in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
            left, right = word[:cut], word[cut:]
            if left in self and right in self:
                pairs.append((left, right))
            elif word in self:
                continue  # spelled as the index spells it: no guessing at its halves
            elif left in self:
                pairs += [(left, w) for w in self._half(right)]
            elif right in self:
                pairs += [(w, right) for w in self._half(left)]
        return pairs

    def _half(self, half: str) -> list[str]:
        promising = self._candidates(half, THRESHOLD, 12)
        alike = [w for _, w in promising if abs(len(w) - len(half)) <= 1]
        return sorted(alike, key=lambda w: (-_compare(half, (w,)).likeness, w))[:2]


class Vocabulary(WordList):
    """The distinct words of an index. Grows, never shrinks."""

    def __init__(self) -> None:
        super().__init__()
        self._all_words: set[str] = set()
        # A large sorted part and a small recent one: adding words re-sorts the small part only.
        self._settled = _TrigramIndex([])
        self._recent = _TrigramIndex([])

    def __len__(self) -> int:
        return len(self._all_words)

    def __contains__(self, word: str) -> bool:
        return word in self._all_words

    def add(self, words: Iterable[str]) -> list[str]:
        """Learn words; those that were new come back, sorted."""
        # An index gives its words sorted: keeping their order spares half of the sorting.
        vocabulary = self._all_words
        fresh = sorted([word for word in dict.fromkeys(words) if word not in vocabulary])
        if not fresh:
            return []
        self._all_words.update(fresh)
        recent = self._recent.words + list(filter(_comparable, fresh))
        if len(recent) > max(2048, len(self._settled.words) // 8):
            self._settled, recent = _TrigramIndex(self._settled.words + recent), []
        self._recent = _TrigramIndex(recent)
        self._answers, self._proposals = {}, {}
        return fresh

    def among(self, words: Iterable[str]) -> set[str]:
        return self._all_words.intersection(words)

    def beginning(self, start: str) -> list[str]:
        return [w for part in (self._settled, self._recent) for w in part.beginning(start)]

    def _candidates(self, word: str, threshold: float, most: int) -> list[Promising]:
        wanted = trigram_set(word)
        scored: list[Promising] = []
        for part in (self._settled, self._recent):
            scored += part.resembling(wanted, threshold, most)
        scored.sort(key=lambda item: (-item[0], item[1]))
        return scored[:most]


class VisibleWords(WordList):
    """The words of a vocabulary that one caller may see, as if there were no others."""

    def __init__(
        self, vocabulary: Vocabulary, visible: Callable[[Sequence[str]], list[str]]
    ) -> None:
        """`visible`: those of some words that the caller may see, in order."""
        super().__init__()
        self._vocabulary = vocabulary
        self._visible = visible
        self._there: dict[str, bool] = {}  # a search asks a dozen times for each of its words

    def __contains__(self, word: str) -> bool:
        if word not in self._there and word in self._vocabulary:
            self._there[word] = bool(self._visible([word]))
        return self._there.get(word, False)

    def among(self, words: Iterable[str]) -> set[str]:
        return set(self._visible(list(self._vocabulary.among(words))))

    def beginning(self, start: str) -> list[str]:
        """Hidden ones too: whoever asks counts the visible chunks of each."""
        return self._vocabulary.beginning(start)

    def _candidates(self, word: str, threshold: float, most: int) -> list[Promising]:
        looked_at = 2 * most
        while True:
            promising = self._vocabulary._candidates(word, threshold, looked_at)
            visible = set(self._visible([w for _, w in promising]))
            candidates = [candidate for candidate in promising if candidate[1] in visible][:most]
            if len(candidates) == most or len(promising) < looked_at:
                return candidates
            looked_at *= 4


def _compare(word: str, text: tuple[str, ...]) -> Similar:
    # The mean of both similarities: word_similarity alone cannot tell "rational" from
    # "rationalization" for "rationaly"; the mean gave +.02 nDCG@10 on queries with three typos.
    wanted = trigram_set(word)
    run = [gram for part in text for gram in trigrams(part)]
    there = set(run)
    similarity = _similarity(wanted, run, len(there) == len(run))
    common = len(wanted & there)
    whole = common / (len(wanted) + len(there) - common)
    return Similar(text, similarity, (similarity + whole) / 2)


class _Grams(NamedTuple):
    """The words of a part by trigram, in flat arrays."""

    sizes: NDArray[np.int64]  # trigrams of each word
    grams: NDArray[np.int64]
    starts: NDArray[np.int64]  # of each trigram's words, and the end
    owners: NDArray[np.int64]  # places of words


class _TrigramIndex:
    """An immutable set of words with an inverted index from trigram to word."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._runs: dict[str, NDArray[np.int64]] = {}  # of trigrams that were asked for
        self._sorted: list[str] | None = None  # once somebody asks how words begin

    def beginning(self, start: str) -> list[str]:
        ordered = self._sorted
        if ordered is None:
            ordered = self._sorted = sorted(self.words)
        first = bisect_left(ordered, start)
        last = bisect_left(ordered, start[:-1] + chr(ord(start[-1]) + 1), lo=first)
        return ordered[first:last]

    @cached_property
    def _grams(self) -> _Grams:
        """Built when somebody asks: adding documents only needs to know which words are new."""
        count = len(self.words)
        parts = [_grams_of(self.words, first) for first in range(0, count, _AT_ONCE)]
        grams = np.concatenate([arrays for arrays, _ in parts])
        owners = np.concatenate([arrays for _, arrays in parts])
        del parts
        order = np.argsort(grams, kind="stable")  # of each trigram, the words in order
        grams, owners = grams[order], owners[order]
        once = np.ones(len(grams), dtype=bool)  # a trigram counts once in a word
        once[1:] = (grams[1:] != grams[:-1]) | (owners[1:] != owners[:-1])
        grams, owners = grams[once], owners[once]
        distinct, first = np.unique(grams, return_index=True)
        sizes = np.bincount(owners, minlength=count)
        return _Grams(sizes, distinct, np.append(first, len(grams)), owners)

    def resembling(self, wanted: Set[str], threshold: float, most: int) -> list[Promising]:
        """Words by the share of the wanted trigrams they hold plus their plain similarity: the
        first bounds word_similarity from above, the second from below."""
        if not self.words:
            return []
        longest, *runs = sorted(map(self._holding, wanted), key=len, reverse=True)
        # No word is twice in a run, so adding by places is safe. In bytes: 80 µs for 110,000 words;
        # `np.bincount` has eight for each word and takes 150.
        counts = np.zeros(len(self.words), np.uint8)
        counts[longest] = 1
        for run in runs:
            counts[run] += 1
        rows = np.flatnonzero(counts >= ceil(threshold * len(wanted)))
        common = counts[rows].astype(np.int64)
        promise = common / len(wanted) + common / (len(wanted) + self._grams.sizes[rows] - common)
        if len(rows) > most:
            # All that are as promising as the last: the caller cuts ties by spelling, so that the
            # choice does not depend on which other words there are.
            best = promise >= np.partition(promise, -most)[-most]
            rows, promise = rows[best], promise[best]
        return [
            (p, self.words[row]) for row, p in zip(rows.tolist(), promise.tolist(), strict=True)
        ]

    def _holding(self, gram: str) -> NDArray[np.int64]:
        """The words that have this trigram."""
        holders = self._runs.get(gram)
        if holders is None:
            a, b, c = map(ord, gram)
            key = (a << 2 * _BITS) | (b << _BITS) | c
            _, grams, starts, owners = self._grams
            at = int(np.searchsorted(grams, key))
            if at == len(grams) or grams[at] != key:
                return owners[:0]
            holders = self._runs[gram] = owners[starts[at] : starts[at + 1]]
        return holders


def _grams_of(words: Sequence[str], first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The trigrams of some words from this place on, word by word, and the place of each one's
    word. Not of all at once: letters in a table take 130 MB for 110,000 words, and the process
    keeps them."""
    some = words[first : first + _AT_ONCE]
    lengths = np.fromiter(map(len, some), np.int64, len(some))
    longest = int(lengths.max())
    letters = np.array(some, f"<U{longest}").view(np.int32).reshape(len(some), longest)
    padded = np.zeros((len(some), longest + 3), np.int64)
    padded[:, :2] = _BLANK
    padded[:, 2:-1] = letters
    padded[np.arange(len(some)), lengths + 2] = _BLANK
    keys = (padded[:, :-2] << 2 * _BITS) | (padded[:, 1:-1] << _BITS) | padded[:, 2:]
    grams = keys[np.arange(longest + 1) < (lengths + 1)[:, None]]
    return grams, np.repeat(np.arange(first, first + len(some)), lengths + 1)


def _comparable(word: str) -> bool:
    """Numbers and identifiers are found exactly or not at all: 2020 does not resemble 2021."""
    return 1 < len(word) <= _LONGEST and not word.isdigit()
