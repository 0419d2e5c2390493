"""Queries made from a library's own documents, for want of any that people asked.

Three kinds in turn: a heading; the rarest words of a telling sentence; one of these misspelled, as
people mistype. Only the document that a query was taken from counts as relevant, although others
may answer it as well; and a document's own words are easier to find than those of someone who
doesn't know it. Everything that uses these queries says that they are synthetic.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path

from trivium.core.errors import DatasetInvalid
from trivium.core.types import Document, StoredChunk
from trivium.evaluate.dataset import is_synthetic
from trivium.evaluate.judging import named, write_set
from trivium.library import Library
from trivium.text import boundaries
from trivium.text.normalise import fold
from trivium.text.stems import stop_words

KINDS = ("heading", "sentence", "misspelled")
_READ = 5  # documents for each query wanted: enough to know which words and headings are common
_LEAST_READ = 200
_SENTENCE = (6, 40)  # words; shorter says too little, longer is a table or a list
_ASKED = 7  # words of a query that is made of a sentence
_SHORTEST = 5  # letters of a word that is misspelled: of shorter ones no one could tell
_WORD = re.compile(r"[^\W\d_][\w'’-]*\w|\d+")
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Synthetic:
    id: str
    kind: str
    text: str
    document: str


@dataclass(frozen=True, slots=True)
class _Whole:
    """A document, and its parts that queries are made from."""

    document: Document
    chunks: tuple[StoredChunk, ...]


def synthesise(library: Library, count: int, seed: int = 0) -> list[Synthetic]:
    """Up to this many queries; fewer if the library yields no more. The same for a seed."""
    chance = random.Random(seed)
    documents = sorted(library.documents.all(), key=lambda d: d.uri)
    chance.shuffle(documents)
    read = [
        _Whole(d, library.show(d.id).passages) for d in documents[: max(_LEAST_READ, _READ * count)]
    ]
    maker = _Maker(read, chance)
    made: list[Synthetic] = []
    folded: set[str] = set()
    for document, kind in _turns(read):
        if len(made) == count:
            break
        text = maker.make(document, kind)
        if text and fold(text) not in folded:
            folded.add(fold(text))
            name = f"synthetic-{kind}-{len(made) + 1:04d}"
            made.append(Synthetic(name, kind, text, named(document.document)))
    return made


def write_synthetic(folder: Path, made: Iterable[Synthetic], seed: int) -> None:
    """As a judged set. Replaces an older synthetic one, and nothing else."""
    made = list(made)
    others = folder.exists() and any(folder.iterdir())
    if others and not is_synthetic(folder):
        raise DatasetInvalid(
            f"{folder} has other files than synthetic queries.",
            fix="Name another folder with --to.",
            on_page="Start a new set under another name.",
        )
    queries = [{"_id": q.id, "text": q.text, "kind": q.kind, "synthetic": True} for q in made]
    meta = {
        "judged": "library",
        "synthetic": True,
        "made": "by `trivium judge --synthetic` from the documents; no person asked or judged it",
        "seed": seed,
        "kinds": dict(Counter(q.kind for q in made)),
    }
    write_set(folder, queries, [(q.id, q.document, 1) for q in made], meta)


def _turns(read: list[_Whole]) -> Iterator[tuple[_Whole, str]]:
    """Every document with every kind, all documents once before any comes again."""
    for turn in range(len(KINDS)):
        for at, document in enumerate(read):
            yield document, KINDS[(at + turn) % len(KINDS)]


class _Maker:
    """Knows how common the words and headings of the documents are that were read."""

    def __init__(self, read: list[_Whole], chance: random.Random) -> None:
        self._chance = chance
        self._documents = len(read)
        self._holding: Counter[str] = Counter()  # documents that hold a word
        self._headed: Counter[str] = Counter()  # documents that have a heading
        for doc in read:
            self._holding.update({fold(w) for c in doc.chunks for w in _WORD.findall(c.chunk.text)})
            self._headed.update({fold(h) for c in doc.chunks for h in c.chunk.headings})

    def make(self, entry: _Whole, kind: str) -> str:
        """A query, or nothing if the document yields none of this kind."""
        if kind == "heading":
            return self._heading(entry)
        if kind == "sentence":
            return self._sentence(entry)
        right = self._sentence(entry) or self._heading(entry)
        return self._misspelled(right)

    def _heading(self, entry: _Whole) -> str:
        """A heading that no other document has; a short one with the title before it."""
        title = entry.document.title
        headings = dict.fromkeys(h for c in entry.chunks for h in c.chunk.headings)
        own = [h for h in headings if self._headed[fold(h)] == 1 and _WORD.search(h)]
        if not own:
            return ""
        heading = " ".join(self._chance.choice(own).split())
        if len(_WORD.findall(heading)) < 3 and fold(heading) not in fold(title):
            heading = f"{title} {heading}"
        return " ".join(_WORD.findall(heading)[:10])

    def _sentence(self, entry: _Whole) -> str:
        """The rarest words, in their order, of one of the three sentences that say most."""
        ignored = stop_words(entry.document.language)
        rated = []
        for sentence in _sentences(entry.chunks):
            words = _WORD.findall(sentence)
            if _SENTENCE[0] <= len(words) <= _SENTENCE[1]:
                telling = [
                    w for w in dict.fromkeys(words) if fold(w) not in ignored and not w.isdigit()
                ]
                rarest = sorted(telling, key=self._rarity, reverse=True)[:_ASKED]
                rated.append((sum(map(self._rarity, rarest)), [w for w in telling if w in rarest]))
        rated.sort(key=lambda pair: (-pair[0], pair[1]))
        return " ".join(self._chance.choice(rated[:3])[1]) if rated else ""

    def _rarity(self, word: str) -> float:
        return log(1 + self._documents / (1 + self._holding[fold(word)]))

    def _misspelled(self, right: str) -> str:
        """With one word wrong, or two of six and more."""
        words = right.split()
        long = [at for at, w in enumerate(words) if len(w) >= _SHORTEST and w.isalpha()]
        if not long:
            return ""
        for at in self._chance.sample(long, min(len(long), 2 if len(words) > 5 else 1)):
            words[at] = misspell(words[at], self._chance)
        wrong = " ".join(words)
        return wrong if wrong != right else ""


def _sentences(chunks: Iterable[StoredChunk]) -> Iterator[str]:
    for chunk in chunks:
        text = chunk.chunk.text
        starts = [0, *boundaries.sentences(text), len(text)]
        for start, end in pairwise(starts):
            yield text[start:end]


def misspell(word: str, chance: random.Random) -> str:
    """One mistake, not in the first letter. Of 60 real mistyped queries a quarter swap neighbours,
    a quarter lack a letter, a quarter have one too many, a quarter another one; 3 err at once."""
    mistakes: tuple[Callable[[str, int], str], ...] = (_swap, _drop, _double, _exchange)
    for mistake in chance.sample(mistakes, len(mistakes)):
        places = list(range(1, len(word)))
        chance.shuffle(places)
        for at in places:
            wrong = mistake(word, at)
            if wrong != word:
                return wrong
    return word


def _swap(word: str, at: int) -> str:
    return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]


def _drop(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int) -> str:
    return word[:at] + word[at] + word[at:]


def _exchange(word: str, at: int) -> str:
    """A vowel for the next one; other letters stay."""
    vowel = _VOWELS.find(word[at])
    return word if vowel < 0 else word[:at] + _VOWELS[(vowel + 1) % 5] + word[at + 1 :]
