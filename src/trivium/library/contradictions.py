"""Pairs of passages about the same thing that may disagree: hints for a person to check.

Rules (`text.disagreement`) compare passages that are near in meaning or have a name in common,
sentence by sentence; the embedding model says whether two sentences mean the same but for their
values. If a language model is set up, it judges each pair that the rules found, and pairs it
rejects are left out; it also reads the nearest passages itself and reports what the rules miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from trivium.answer.support import Nearness
from trivium.core.errors import ModelError, NotEmbedded
from trivium.core.types import OWNER, Mode, StoredChunk, Where
from trivium.extract.bibliography import BIBTEX, CSL
from trivium.library.documents import Documents
from trivium.library.model import CurrentModel
from trivium.library.searching import Searching
from trivium.operations.searching import SearchOptions
from trivium.ports import Message
from trivium.text.disagreement.claims import Claim, claims
from trivium.text.disagreement.compare import are_of_a_series, disagreement, says
from trivium.text.lexicon.grammar import function_words
from trivium.text.normalise import words

NEIGHBOURS = 5  # similar passages that each one is compared with
_MOST_NAMES = 3  # of a passage, whose other passages are compared with it
_READ = 2  # similar passages that the language model reads beside each one
_FIELD = 3  # other documents, each with a value of its own
_ENDS = (".", "!", "?")
_MOST_PASSAGES = 20_000  # of one run: each asks for its neighbours, some ms
_JUDGING = (
    "Do these two statements contradict each other? Answer with one word, yes or no.\n\n"
    "First: {one}\nSecond: {other}\n"
)
_READING = (
    "Does a sentence of the second text contradict a sentence of the first? If so, copy the first"
    " such pair word by word, one sentence on each line:\nFIRST: ...\nSECOND: ...\nIf not, answer"
    " NONE.\n\nFirst text: {one}\n\nSecond text: {other}\n"
)
# Of these, each entry is its own story, whose days and numbers differ by nature.
_OF_ENTRIES = ("rss+xml", "atom+xml", "feed+json", "text/calendar", "text/vcard")
_READ_PAIR = re.compile(r"FIRST:\s*(?P<one>.+?)\s*\n\s*SECOND:\s*(?P<other>.+)")
_SEEN = "the language model sees a contradiction"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences that may disagree, and where they are."""

    one: StoredChunk
    first: str
    other: StoredChunk
    second: str
    why: str
    judged: bool  # by a language model, too


@dataclass(eq=False)
class Contradictions:
    _model: CurrentModel
    _searching: Searching
    _documents: Documents
    _naming: dict[str, list[StoredChunk]] = field(default_factory=dict)  # of one run
    _fields: set[str] = field(default_factory=set)  # first words of lines of forms, of one run
    _nearness: Nearness = field(default_factory=lambda: Nearness(None))  # of one document

    def find(
        self,
        within: Where = OWNER,
        *,
        limit: int = 50,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> list[Contradiction]:
        """The first pairs, by document; those of two documents before those within one. A document
        is not held against its own copies, nor an entry of a feed against the others."""
        documents = self._documents.all(within)
        total = min(_MOST_PASSAGES, sum(document.chunks for document in documents))
        between: list[Contradiction] = []
        inside: list[Contradiction] = []
        met: set[tuple[str, str]] = set()
        self._naming, self._fields = {}, set()
        done = 0
        for document in documents:
            self._nearness = Nearness(self._model.embedder)
            for passage in self._documents.passages(document.id, within):
                done += 1
                on_progress(min(done, total), total)
                between = [pair for pair in between if not self._is_field(pair)]
                if done > total or len(between) >= limit:
                    return [*between, *inside][:limit]
                for pair in self._against(passage, within):
                    key = tuple(sorted((pair.first, pair.second)))
                    if key not in met:
                        met.add((key[0], key[1]))
                        is_inside = pair.one.document.id == pair.other.document.id
                        if is_inside and len(inside) >= limit:
                            continue
                        if (judged := self._judged(pair)) is not None:
                            (inside if is_inside else between).append(judged)
        between = [pair for pair in between if not self._is_field(pair)]
        return [*between, *inside][:limit]

    def _against(self, passage: StoredChunk, within: Where) -> list[Contradiction]:
        mine = _claims(passage)
        if not mine:
            return []
        near = self._near(passage, within)
        near = [other for other in near if _may_differ(passage, other)]
        pairs = [pair for other in near[:_READ] if (pair := self._read(passage, other))]
        named = {name for claim in mine for name in claim.statement.names}
        for name in sorted(named, key=lambda name: (-len(name), name))[:_MOST_NAMES]:
            near += self._who_name(name, within)
        for other in {other.id: other for other in near if _may_differ(passage, other)}.values():
            theirs = _claims(other)
            certain = are_of_a_series(_titled(passage), _titled(other))
            pairs += [
                Contradiction(passage, first.text, other, second.text, why, judged=False)
                for first, second, why in self._disagreeing(mine, theirs, certain=certain)
                # A sentence with both means two things: 7th-level and 8th-level slots, say.
                if not says(theirs, first) and not says(mine, second)
            ]
        return self._without_fields(pairs)

    def _without_fields(self, pairs: list[Contradiction]) -> list[Contradiction]:
        """Without lines that several other documents have with a value of their own each: a field
        of a form, such as the skills of a monster, is about its own document."""
        values: dict[str, dict[int, str]] = {}
        for pair in pairs:
            if _label(pair) and pair.one.document.id != pair.other.document.id:
                values.setdefault(pair.first, {})[pair.other.document.id] = pair.why
        self._fields |= {
            words(first)[0] for first, why in values.items() if len({*why.values()}) >= _FIELD
        }
        return [pair for pair in pairs if not self._is_field(pair)]

    def _is_field(self, pair: Contradiction) -> bool:
        return not pair.judged and _label(pair) in self._fields

    def _disagreeing(
        self, mine: list[Claim], theirs: list[Claim], *, certain: bool
    ) -> list[tuple[Claim, Claim, str]]:
        alike = self._nearness.alike
        return [
            (claim, other, why)
            for claim in mine
            for other in theirs
            if claim.text != other.text
            and (why := disagreement(claim, other, alike, certain=certain))
        ]

    def _near(self, passage: StoredChunk, within: Where) -> list[StoredChunk]:
        try:
            near = self._searching.similar(
                passage.document.id, NEIGHBOURS, passage=passage.chunk.index, within=within
            )
        except NotEmbedded:
            return []
        return [result.found for result in near]

    def _who_name(self, name: str, within: Where) -> list[StoredChunk]:
        """Passages with a name: two notes on one person may be far apart in meaning."""
        if name not in self._naming:
            options = SearchOptions(mode=Mode.KEYWORD, limit=NEIGHBOURS, correct=False)
            results = self._searching.search(f'"{name}"', options=options, within=within)
            self._naming[name] = [result.found for result in results]
        return self._naming[name]

    def _read(self, passage: StoredChunk, other: StoredChunk) -> Contradiction | None:
        """What the language model sees itself. Only sentences that are there count."""
        generator = self._model.generator
        if generator is None or passage.id > other.id:  # each pair once
            return None
        prompt = _READING.format(one=passage.chunk.text, other=other.chunk.text)
        try:
            quoted = _READ_PAIR.search(generator.generate([Message("user", prompt)], 200).text)
        except ModelError:
            return None
        if quoted is None or not _has(passage, quoted["one"]) or not _has(other, quoted["other"]):
            return None
        return Contradiction(passage, quoted["one"], other, quoted["other"], _SEEN, judged=True)

    def _judged(self, pair: Contradiction) -> Contradiction | None:
        """None: the language model says that they agree. If it fails, the hint stays."""
        generator = self._model.generator
        if generator is None or pair.judged:
            return pair
        prompt = _JUDGING.format(one=pair.first, other=pair.second)
        try:
            verdict = generator.generate([Message("user", prompt)], 5).text
        except ModelError:
            return pair
        if verdict.strip().lower().startswith("no"):
            return None
        return Contradiction(pair.one, pair.first, pair.other, pair.second, pair.why, judged=True)


def _titled(passage: StoredChunk) -> tuple[str, str]:
    return passage.document.title, passage.chunk.text


def _has(passage: StoredChunk, sentence: str) -> bool:
    return " ".join(sentence.split()) in " ".join(passage.chunk.text.split())


def _may_differ(first: StoredChunk, second: StoredChunk) -> bool:
    feed = first.document.metadata.get("feed")
    if feed and feed == second.document.metadata.get("feed"):
        return False
    of_entries = first.document.media_type.endswith(_OF_ENTRIES)
    return first.id != second.id and not (of_entries and first.document.id == second.document.id)


def _label(pair: Contradiction) -> str:
    """The word that both begin with, if they are lines and not sentences: `Skills`, not `we`."""
    mine, theirs = pair.first.rstrip(), pair.second.rstrip()
    if mine.endswith(_ENDS) or theirs.endswith(_ENDS) or words(mine)[:1] != words(theirs)[:1]:
        return ""
    label = next(iter(words(mine)), "")
    return "" if label in function_words(pair.one.document.language) else label


def _claims(passage: StoredChunk) -> list[Claim]:
    chunk, document = passage.chunk, passage.document
    if document.media_type in (BIBTEX, CSL):  # two editions of a book have other pages and years
        return []
    section = chunk.headings[-1] if chunk.headings else ""
    return claims(chunk.text, document.language, document.title, section, chunk.header)
