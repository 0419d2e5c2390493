"""How much of a query a passage covers, in the query's own words. Pure, except that it asks how
rare words are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from trivium.core.types import ChunkId, Figure, Part, Query, StoredChunk, Term
from trivium.text.dictionary import in_dictionary
from trivium.text.figures import is_in
from trivium.text.known import known_text
from trivium.text.lexicon.conditions import are_apart, conditions
from trivium.text.lexicon.questions import measuring
from trivium.text.normalise import LONGEST_WORD, spaced_passage, split
from trivium.text.stems import DEFAULT_LANGUAGE, beginning, content_words, stem
from trivium.text.trigrams import trigram_set

Rarities: TypeAlias = Callable[[Sequence[str]], Sequence[float]]

# Two words are spelled alike if they share this part of all their trigrams: "Shortsord" and "short
# sword" share .62, "France" and "frame" .30.
_ALIKE = 0.4
# How much such a likeness counts if the query's word is in a dictionary: "elvers" are not "elves".
_REAL = 0.5
# How much a word counts that stands only in a tag, a file name and so on.
_LABEL = 0.5
# Words of a passage are cut at LONGEST_WORD characters. A query's word up to this long can't equal
# one that was cut.
_SHORT = 40
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?![\d%]|[.,]\d)")


def coverage(
    query: Query,
    chunks: Sequence[StoredChunk],
    rarities: Rarities,
    missing: Collection[str] = (),
    others: Sequence[str] = (),
) -> list[float]:
    """For each passage: the share of the query's content words in it, its headings, or what is
    known of its document. Rare words count more, and words that no document has count most. 1 if
    the query has no content words. `missing`: words that no document has; a similar spelling in the
    passage counts in part. `others`: metadata fields that count beside the usual ones."""
    query_words = list(dict.fromkeys([*query.words, *map(_as_one, query.figures)]))
    rarity = dict(zip(query_words, rarities(query_words), strict=True))
    by_language: dict[str, _QueryTerms] = {}
    shares = []
    for chunk in chunks:
        language = chunk.document.language
        if language not in by_language:
            by_language[language] = _QueryTerms(query, rarity, missing, language)
        shares.append(by_language[language].share(chunk, others))
    return shares


def lacking_codes(
    query: Query, chunks: Sequence[StoredChunk], others: Sequence[str] = ()
) -> dict[ChunkId, str]:
    """The passages without a code of the query, and which one, as typed."""
    codes = [figure for figure in query.figures if figure.is_code]
    lacking: dict[ChunkId, str] = {}
    for chunk in chunks if codes else ():
        texts = (known_text(chunk.document, others), *chunk.chunk.headings, chunk.chunk.text)
        passage = _Passage(texts, chunk.document.language)
        for code in codes:
            if not passage.has(code):
                typed = re.search(r"\W*".join(code.words), query.text, re.I)
                lacking[chunk.id] = typed[0] if typed else "-".join(code.words)
    return lacking


def of_others(
    query: Query, chunks: Sequence[StoredChunk], others: Sequence[str] = ()
) -> dict[ChunkId, str]:
    """The passages that speak of another year than the query, or of winter instead of summer; and
    how people are told."""
    asked_years = {*_YEAR.findall(query.text)}
    query_conditions = conditions(query.text, DEFAULT_LANGUAGE)
    notes: dict[ChunkId, str] = {}
    for chunk in chunks if asked_years or query_conditions else ():
        document = chunk.document
        text = "\n".join((known_text(document, others), *chunk.chunk.headings, chunk.chunk.text))
        years = {*_YEAR.findall(text)}
        if asked_years and years and not asked_years & years:
            notes[chunk.id] = (
                f"It doesn't say {' or '.join(sorted(asked_years))}, but another year."
            )
        elif query_conditions and are_apart(query_conditions, conditions(text, document.language)):
            notes[chunk.id] = "It is about another season, day or kind than the query."
    return notes


@dataclass(frozen=True, slots=True)
class _CountedPart:
    """One alternative of a clause: its content words and how much each counts."""

    words: Sequence[str]
    weights: Sequence[float]
    whole: float
    figure: Figure | None = None  # which a passage has whole or not at all

    def held(self, shares: Mapping[str, float], figures: Set[Figure]) -> float:
        if self.figure is not None:
            return float(self.figure in figures)
        if len(self.words) == 1:
            return shares[self.words[0]]
        there = [shares[word] for word in self.words]
        if not self.whole:
            return sum(there) / len(there)
        counted = sum(weight * share for weight, share in zip(self.weights, there, strict=True))
        return counted / self.whole


class _QueryTerms:
    """A query, prepared once for all passages in one language."""

    def __init__(
        self, query: Query, rarity: Mapping[str, float], missing: Collection[str], language: str
    ) -> None:
        typed = query.words
        content = set(content_words(typed, {language, DEFAULT_LANGUAGE}))
        content = content - measuring(typed) or content
        self._clauses: list[tuple[float, list[_CountedPart]]] = []
        for clause in query.clauses:
            parts = [part for member in clause if (part := _part(member, content, rarity)).words]
            if parts:
                self._clauses.append((max(part.whole for part in parts), parts))
        self._whole = sum(weight for weight, _ in self._clauses)
        every = [part for _, parts in self._clauses for part in parts]
        self._figures = {part.figure for part in every if part.figure is not None}
        weighed = list(dict.fromkeys(w for part in every if not part.figure for w in part.words))
        # A passage may write two words of the query as one: short sword, shortsword.
        joined: dict[str, set[str]] = {word: set() for word in typed}
        for pair in pairwise(typed):
            for word in pair:
                joined[word].add("".join(pair))
        stems = zip(weighed, stem(weighed, language), strict=True)
        self._wanted = [_Word(word, stemmed, joined[word], language) for word, stemmed in stems]
        languages = {language, DEFAULT_LANGUAGE}
        self._spellings = {
            word: (_Spelling(word), _REAL if any(in_dictionary(word, o) for o in languages) else 1)
            for word in missing
            if word in content and word.isalpha()  # 20417 isn't 20419 misspelled
        }

    def share(self, stored: StoredChunk, others: Sequence[str]) -> float:
        if not self._whole:
            return 1.0
        document, chunk = stored.document, stored.chunk
        names = known_text(document, others, labels=False)
        passage = _Passage((names, *chunk.headings, chunk.text), document.language)
        text = passage.spaced
        shares = dict.fromkeys([w.text for w in self._wanted if w.exact in text], 1.0)
        missing = [w for w in self._wanted if w.text not in shares]
        absent = [wanted for wanted in missing if not wanted.is_otherwise_in(passage)]
        shares |= dict.fromkeys([w.text for w in missing], 1.0)
        figures = {figure for figure in self._figures if passage.has(figure)}
        if absent or len(figures) < len(self._figures):
            about = _Passage((known_text(document, others),), document.language)
            figures |= {figure for figure in self._figures if about.has(figure)}
            # A label beside words of the text says what kind of document it is, not what the
            # passage says; if labels have the whole query, they are what somebody remembers.
            label = 1.0 if all(wanted.is_in(about) for wanted in self._wanted) else _LABEL
            for wanted in absent:
                word = wanted.text
                spelling, counts = self._spellings.get(word, (None, 0.0))
                if wanted.is_in(about):
                    shares[word] = label
                elif spelling is not None:
                    likeness = max(spelling.likeness(passage), spelling.likeness(about))
                    shares[word] = counts * likeness
                else:
                    shares[word] = 0.0
        covered = 0.0
        for weight, parts in self._clauses:
            # Count the alternative that the passage covers best.
            most = parts[0].held(shares, figures)
            for part in parts[1:]:
                most = max(most, part.held(shares, figures))
            covered += weight * most
        return covered / self._whole


class _Passage:
    """The words of a passage and its headings, or of what is known of its document. Splits them
    only if needed."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._texts = texts
        self._language = language
        self.spaced = "".join(map(spaced_passage, texts))
        self.run_together = self.spaced.encode().translate(None, b" ")

    def holds(self, word: str) -> bool:
        """Whether it has this word. Very long words are compared by their beginning."""
        return f" {word} " in self.spaced if len(word) < LONGEST_WORD else word in self.words

    def has(self, figure: Figure) -> bool:
        text = "\n".join(self._texts)
        return is_in(figure, text, f" {' '.join(self.words)} ", self._language)

    @cached_property
    def words(self) -> list[str]:
        return split(self.spaced)

    @cached_property
    def stems(self) -> set[str]:
        return set(stem(list(set(self.words)), self._language))


class _Word:
    """A word of the query, in every form in which a passage may write it."""

    def __init__(self, text: str, stemmed: str, joined: Set[str], language: str) -> None:
        """`joined`: the word and a neighbour, written as one."""
        self.text = text
        self._language = language
        self.exact = f" {text} "
        self._joined = joined
        self._forms = {text, stemmed}
        self._encoded = [(form, form.encode()) for form in self._forms]
        starts = {beginning(form, language) for form in self._forms}
        by_start = all(starts) and max(map(len, self._forms)) <= _SHORT
        self._starts = [f" {start}" for start in starts] if by_start else None
        # If all others begin with the shortest, looking for the shortest is enough.
        least = min(starts, key=len)
        shared = by_start and all(start.startswith(least) for start in starts)
        self._least = least.encode() if shared else b""

    def is_in(self, passage: _Passage) -> bool:
        return self.exact in passage.spaced or self.is_otherwise_in(passage)

    def is_otherwise_in(self, passage: _Passage) -> bool:
        """Whether the passage has it in another form."""
        # In whatever form a passage writes the word, it has these letters. So most words that it
        # lacks take two lookups instead of seven.
        if self._least not in passage.run_together:
            return False
        if self._is_inflected(passage):
            return True
        for joined in self._joined:
            if passage.holds(joined):
                return True
        for form, encoded in self._encoded:
            if encoded in passage.run_together and _as_two(form, passage):
                return True
        return False

    def _is_inflected(self, passage: _Passage) -> bool:
        """Whether the stem of a word in the passage is this word or its stem."""
        if self._starts is None:
            return not self._forms.isdisjoint(passage.stems)
        text = passage.spaced
        begun = [word for start in self._starts if start in text for word in _begun(start, text)]
        return bool(begun) and not self._forms.isdisjoint(stem(begun, self._language))


def _begun(start: str, text: str) -> Iterator[str]:
    """The words of a spaced text that begin with `start`, which has a blank in front."""
    at = text.find(start)
    while at >= 0:
        end = text.find(" ", at + 1)
        yield text[at + 1 : end]
        at = text.find(start, end)


def _holding(gram: str, text: str) -> Iterator[str]:
    """The words of a spaced text with this trigram; a blank in it is the edge of a word."""
    at = text.find(gram)
    while at >= 0:
        start = text.rfind(" ", 0, at + 1) + 1
        end = text.find(" ", start)
        yield text[start:end][:LONGEST_WORD]
        at = text.find(gram, end)


def _as_two(word: str, passage: _Passage) -> bool:
    """Whether the passage, which has its letters, writes a word as two: battleaxe, battle axe."""
    text = passage.spaced
    cuts = range(1, len(word))
    if not any(f" {word[:cut]} " in text and f" {word[cut:]} " in text for cut in cuts):
        return False
    return any(a + b == word for a, b in pairwise(passage.words))


class _Spelling:
    """A word that no document has. Compares it by trigrams with the words of a passage, and with
    each pair of neighbouring words as one."""

    def __init__(self, word: str) -> None:
        self._wanted = trigram_set(word)
        # As they appear in a text with one blank before each word.
        self._written = [gram.replace("  ", " ") for gram in self._wanted]

    def likeness(self, passage: _Passage) -> float:
        """The square root of the best similarity, as in the trigram signal; 0 if none is alike."""
        shared, wanted = self._sharing(passage.spaced), self._wanted
        least = _ALIKE * len(wanted)
        # Where two words meet there are two more trigrams.
        if 2 * max(shared.values(), default=0) + 2 < least:
            return 0.0
        alike = {word for word, count in shared.items() if count >= least}
        passage_words = passage.words
        counts = [shared.get(word, 0) for word in passage_words]
        for at, (left, right) in enumerate(pairwise(counts)):
            if left + right + 2 >= least:
                a, b, both = passage_words[at], passage_words[at + 1], left + right
                both += f" {a}"[-2:] + b[0] in wanted
                both += a[-1] + f"{b} "[:2] in wanted
                if both >= least:
                    alike.add(a + b)
        best = max(map(self._similarity, alike), default=0.0)
        return best**0.5 if best >= _ALIKE else 0.0

    def _sharing(self, text: str) -> dict[str, int]:
        """The words of a spaced text that share trigrams with this one, and how many. Searches the
        text for each trigram: going word by word took ten times as long."""
        shared: dict[str, int] = {}
        for gram in self._written:
            for word in set(_holding(gram, text)):
                shared[word] = shared.get(word, 0) + 1
        return shared

    def _similarity(self, word: str) -> float:
        grams = trigram_set(word)
        common = len(self._wanted & grams)
        return common / (len(self._wanted) + len(grams) - common)


def _part(part: Part, content: Set[str], rarity: Mapping[str, float]) -> _CountedPart:
    typed = (part.text,) if isinstance(part, Term) else part.words
    figure = part if isinstance(part, Figure) else None
    counting = [word for word in typed if figure or word in content]
    weights = [rarity[word] for word in counting]
    whole = max(sum(weights), rarity[_as_one(figure)]) if figure else sum(weights)
    return _CountedPart(counting, weights, whole, figure)


def _as_one(figure: Figure) -> str:
    """7july2026: a day is rarer than its words."""
    return "".join(figure.words)
