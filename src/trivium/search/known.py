"""Known items: a passage that alone has every word of the query, or has them in its title.

People search with what they remember: a name, a number, a few words. If only one document has them
all, it is nearly always the one they mean, whatever its cosine says. On eleven judged sets, 1,502
queries whose content words only one document has: it was relevant in 93 % of the cases if the words
stand together, in 81 % if they are near each other and in 69 % otherwise; of 2,240 queries of other
sets, 1 % have such a document. Where the title or a heading has all words, 58 % are relevant,
however many documents there are like it (docs/log.md). Asks the store which documents have every
word; knows nothing of cosines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from trivium.core.types import ChunkId, Figure, Probe, Query, Signal, StoredChunk, Where
from trivium.ports import Backend
from trivium.text.figures import runs
from trivium.text.known import known_in_order
from trivium.text.normalise import words
from trivium.text.stems import DEFAULT_LANGUAGE, content_words, stem

FULL = 0.999  # share of the query's words from which a passage has them all
MOST_WORDS = 12  # content words of a query; a longer text is no name
_TOGETHER, _NEAR = 2, 8  # words of the passage for each word of the query
_OTHERS = 8  # passages with every word to look at; another document is nearly always among them


@dataclass(frozen=True, slots=True)
class KnownItem:
    """At least how likely the passage is to be relevant, and why."""

    probability: float
    reason: str


_KNOWN_BY = "Its author, date, tags or other known fields have all these words"
_ALONE = {
    "together": KnownItem(0.91, "No other document has all these words, and they stand together."),
    "near": KnownItem(0.8, "No other document has all these words, and they are near each other."),
    "apart": KnownItem(0.66, "No other document has all these words."),
    # An author and a year, an address, a date, a file name: people type these to get that document.
    # Not measured, since judged sets have no such fields; between the first two.
    "known": KnownItem(0.85, f"{_KNOWN_BY}, and no other document has them."),
}
UNKNOWN = KnownItem(0.0, "")
_TITLED = KnownItem(0.6, "Its title or heading has all these words.")
_KNOWN = KnownItem(0.6, f"{_KNOWN_BY}.")
_CITED = KnownItem(0.75, f"{_KNOWN_BY}; other documents only mention them.")


def known_items(
    backend: Backend,
    query: Query,
    passages: Sequence[StoredChunk],
    shares: Sequence[float],
    where: Where,
    others: Sequence[str] = (),
) -> Mapping[ChunkId, KnownItem]:
    """For passages that have every word of the query. `others`: metadata fields that count beside
    the usual ones."""
    full = [passage for passage, share in zip(passages, shares, strict=True) if share >= FULL]
    if not full or query.excluded or any(len(clause) > 1 for clause in query.clauses):
        return {}
    documents = {passage.document.id for passage in full}
    alone = len(documents) == 1 and not _others(backend, query, full[0], where)
    items: dict[ChunkId, KnownItem] = {}
    by_language = _Languages(query)
    known_by = {
        passage.document.id
        for passage in full
        if by_language[passage.document.language].is_known(passage, others)
    }
    for passage in full:
        wanted = by_language[passage.document.language]
        if not 1 <= wanted.count <= MOST_WORDS:
            return {}
        if alone:
            items[passage.id] = _ALONE[wanted.standing(passage, others)]
        elif wanted.is_titled(passage):
            items[passage.id] = _TITLED
        elif passage.document.id in known_by:
            items[passage.id] = _KNOWN if len(known_by) > 1 else _CITED
    return items


def is_known_by(query: Query, passages: Sequence[StoredChunk], others: Sequence[str]) -> bool:
    """Whether authors, year, tags, file and so on of one of these have every word; the title may
    have some. With a number, a date or a code, its text may have them too: meaning knows nothing
    of those."""
    by_language = _Languages(query)
    for passage in passages:
        wanted = by_language[passage.document.language]
        if not 1 <= wanted.count <= MOST_WORDS:
            continue
        if wanted.figures and wanted.standing(passage, others) != "apart":
            return True
        if wanted.is_known(passage, others) and not wanted.is_titled(passage):
            return True
    return False


def _others(backend: Backend, query: Query, passage: StoredChunk, where: Where) -> bool:
    """Whether another document has every word, too."""
    probe = Probe(replace(query, every_word=True))
    hits = backend.signals.search(Signal.KEYWORD, probe, where, _OTHERS)
    ids = [hit.chunk_id for hit in hits if hit.chunk_id != passage.id]
    chunks = backend.documents.chunks(ids, where) if ids else []
    return any(chunk.document.id != passage.document.id for chunk in chunks)


class _Languages(dict[str, "_Wanted"]):
    """A query, prepared once for each language."""

    def __init__(self, query: Query) -> None:
        super().__init__()
        self._query = query

    def __missing__(self, language: str) -> _Wanted:
        self[language] = wanted = _Wanted(self._query, language)
        return wanted


class _Wanted:
    """The content words of a query, in one language."""

    def __init__(self, query: Query, language: str) -> None:
        self.figures = query.figures
        parts = [part for clause in query.clauses for part in clause]
        plain = [part for part in parts if not isinstance(part, Figure)]
        typed = list(dict.fromkeys(replace(query, clauses=((*plain,),)).words))
        content = set(content_words(typed, {language, DEFAULT_LANGUAGE}))
        counting = [word for word in typed if word in content]
        self._language = language
        self._runs = [set(runs(figure, (language,))) for figure in self.figures]
        self._forms = [
            {word, stemmed} for word, stemmed in zip(counting, self._stems(counting), strict=True)
        ]
        self._joined = [{a + b for a, b in pairwise(typed) if word in (a, b)} for word in counting]
        self.count = len(counting) + len(self._runs)

    def _stems(self, tokens: list[str]) -> list[str]:
        return stem(tokens, self._language)

    def standing(self, passage: StoredChunk, others: Sequence[str]) -> str:
        texts = (passage.document.title, *passage.chunk.headings, passage.chunk.text)
        span = self._span(words("\n".join(texts)))
        if span is None:
            return "known" if self.is_known(passage, others) else "apart"
        if span <= _TOGETHER * self.count:
            return "together"
        return "near" if span <= _NEAR * self.count else "apart"

    def is_titled(self, passage: StoredChunk) -> bool:
        titles = (passage.document.title, *passage.chunk.headings)
        return any(self._span(words(title)) is not None for title in titles)

    def is_known(self, passage: StoredChunk, others: Sequence[str]) -> bool:
        return self._span(known_in_order(passage.document, others)) is not None

    def _span(self, passage_words: list[str]) -> int | None:
        """Words in the shortest stretch with every word of the query; None: there is none."""
        places: list[tuple[int, int]] = []
        for number, ways in enumerate(self._runs, len(self._forms)):
            there_at = [at for run in ways for at in _starts(run, passage_words)]
            if not there_at:
                return None
            places += [(at, number) for at in there_at]
        stems = self._stems(passage_words)
        there, spelled, pairs = (
            {*passage_words, *stems},
            {*passage_words},
            {a + b for a, b in pairwise(passage_words)},
        )
        for forms, joined in zip(self._forms, self._joined, strict=True):
            if not (forms & there or joined & spelled or forms & pairs):
                return None  # nearly always, and a tenth of the time
        for at, (word, stemmed) in enumerate(zip(passage_words, stems, strict=True)):
            after = passage_words[at + 1] if at + 1 < len(passage_words) else ""
            for number, (forms, joined) in enumerate(zip(self._forms, self._joined, strict=True)):
                as_two = bool(after) and word + after in forms
                if word in forms or stemmed in forms or word in joined or as_two:
                    places.append((at, number))
        last: dict[int, int] = {}
        best: int | None = None
        for at, number in sorted(places):
            last[number] = at
            if len(last) == self.count:
                span = at - min(last.values()) + 1
                best = span if best is None else min(best, span)
        return best


def _starts(run: Sequence[str], passage_words: list[str]) -> list[int]:
    """Where these words stand side by side."""
    wanted, starts, at = list(run), [], -1
    while wanted[0] in passage_words[at + 1 :]:
        at = passage_words.index(wanted[0], at + 1)
        if passage_words[at : at + len(wanted)] == wanted:
            starts.append(at)
    return starts
