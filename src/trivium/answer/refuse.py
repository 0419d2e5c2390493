"""When there is no answer: nothing relevant was found, or the model says that nothing holds it.

Knows nothing of prompts and streams.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trivium.answer.passages import Passage
from trivium.answer.support import Read, Words
from trivium.errors import ModelUnavailable
from trivium.ports import Embedder, Store
from trivium.types import ChunkId, Where

# What is relevant, tried on 394 questions with a judged passage among the eight found and on 532 of
# other corpora (scifact, xquad_en, xquad_de; `python -m bench.answers` tries a sample): words .3,
# meaning .7, at least .3 refuses 1.0 % of the first and 92 % of the second; half and half 1.5 and
# 88. A limit of .25 refuses .3 and 85 %, of .35 4.6 and 96. Whoever is refused wrongly has no
# second chance, and the model may still refuse.
BY_WORDS = 0.3
LEAST = 0.3
LEAST_WORDS = 0.25  # where no model says anything about meaning: 1.0 and 67 %
LONGEST_EXCUSE = 400  # characters: what is longer says something too
# In English, German, French and Spanish; other languages have the sign that the rules ask for.
_SOURCES = (
    r"(?:passages?|sources?|documents?|context|texts?|abschnitte?n?|quellen?|dokumente?n?|passagen"
    r"|textes?|fuentes?|pasajes?|documentos?)"
)
_LACK = (
    r"(?:do(?:es)? not|don[’']t|doesn[’']t|cannot|can[’']t|no information|not (?:contain|mention"
    r"|provid|includ|specif|answer)\w*|kein\w*|nicht|ne .{1,20} pas|aucun\w*|no (?:contien|mencion"
    r"|dice)\w*)"
)
_EXCUSE = re.compile(
    rf"\b{_SOURCES}\b.{{0,80}}\b{_LACK}|\b{_LACK}\b.{{0,80}}\b{_SOURCES}\b", re.I | re.S
)


def is_excuse(text: str, cited: Sequence[int]) -> bool:
    """Whether a model says in its own words that the passages do not hold it: shortly, and without
    a citation."""
    return not cited and len(text) <= LONGEST_EXCUSE and bool(_EXCUSE.search(text))


class Relevance:
    """Whether what was found has to do with the question at all."""

    def __init__(self, store: Store, measure: Words, embedder: Embedder | None) -> None:
        self._store = store
        self._measure = measure
        self._embedder = embedder

    def holds(self, question: str, passages: Sequence[Passage], where: Where) -> bool:
        if not passages:
            return False
        shares = {p.citation.chunk: self._measure.share(question, [_read(p)]) for p in passages}
        near = self._similar(question, list(shares), where)
        if near is None:
            return max(shares.values()) >= LEAST_WORDS
        return (
            max(BY_WORDS * shares[c] + (1 - BY_WORDS) * near.get(c, 0.0) for c in shares) >= LEAST
        )

    def _similar(
        self, question: str, chunks: Sequence[ChunkId], where: Where
    ) -> Mapping[ChunkId, float] | None:
        """Of the question itself: what was found may have been found by a guessed answer."""
        if self._embedder is None:
            return None
        try:
            asked = self._embedder.embed_query(question)
        except ModelUnavailable:
            return None
        return {i: float(v @ asked) for i, v in self._store.vectors(chunks, where).items()}


def _read(passage: Passage) -> Read:
    place = passage.citation
    context = "\n".join((place.title, *place.headings))
    return Read(f"{context}\n{place.text}", passage.language)
