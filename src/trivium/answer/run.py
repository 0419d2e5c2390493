"""The recipe of an answer, top to bottom: stand alone, search, [refuse], write or extract, check.

Everything on the way is told as an event; the last one holds the whole answer. Knows searching by
its recipe, models by their ports, and nothing of shells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Generator as Events
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from trivium.answer.check import Checker
from trivium.answer.extractive import pick
from trivium.answer.passages import Passage, numbered
from trivium.answer.prompt import compose, unmarked
from trivium.answer.rewrite import stand_alone
from trivium.answer.support import Words
from trivium.answer.write import write
from trivium.answers import (
    Answer,
    AnswerEvent,
    AnswerKind,
    Citation,
    Done,
    Statement,
    Step,
    Token,
    Turn,
    Usage,
)
from trivium.errors import ModelError, ModelRefused, QueryTooLong
from trivium.ports import Backend, Embedder, Generator
from trivium.results import Results
from trivium.search.request import SearchRequest
from trivium.search.run import LONGEST_QUERY

SHARES = (1.0, 0.5, 0.25)  # of the window, as long as a model says that it was too much
NOTHING_FOUND = "Nothing in the library comes near an answer to this."
NOTHING_HELD = "The passages that were found do not hold the answer to this."
QUOTED = "it stands so in the passage"
NO_MODEL = "No language model is set up (`generate.url`): these are sentences of the documents."


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, what was said before it, and how to search for it."""

    question: str
    history: tuple[Turn, ...]
    request: SearchRequest  # its query is replaced by the question, made to stand alone


@dataclass
class _Draft:
    """What an answer is made of so far."""

    started: float
    asked: str
    measure: Words  # weighs words by what the caller may see
    kind: AnswerKind = AnswerKind.REFUSED
    text: str = ""
    cited: list[int] = field(default_factory=list)
    passages: tuple[Passage, ...] = ()
    read: tuple[Passage, ...] = ()  # what the model was given of them
    statements: tuple[Statement, ...] = ()
    steps: list[Step] = field(default_factory=list)
    usage: Usage = Usage()
    notes: list[str] = field(default_factory=list)
    complete: bool = True
    model: str = ""
    results: Results | None = None

    def step(self, name: str, detail: str, since: float) -> Step:
        self.steps.append(Step(name, detail, round(perf_counter() - since, 3)))
        return self.steps[-1]


class Answerer:
    """Answers from one store. Threads may share it."""

    def __init__(
        self,
        search: Callable[[SearchRequest], Results],
        backend: Backend,
        embedder: Embedder,
        generator: Generator | None,
        count: Callable[[str], int],
        *,
        fitted: bool,
    ) -> None:
        """`count`: tokens of a text. `fitted`: the embedder's similarities are those that the
        limits for support were measured with; else words alone decide."""
        self._find = search
        self._embedder = embedder
        self._generator = generator
        self._count = count
        self._backend = backend
        self._judge = embedder if fitted else None

    def answer(self, inquiry: Inquiry) -> Events[AnswerEvent, None, None]:
        if len(inquiry.question) > LONGEST_QUERY:
            raise QueryTooLong(
                f"The question has {len(inquiry.question):,} characters;"
                f" {LONGEST_QUERY:,} are the most."
            )
        where = inquiry.request.where
        measure = Words(partial(self._backend.signals.rarities, where=where))
        draft = _Draft(perf_counter(), inquiry.question, measure)
        yield from self._search(inquiry, draft)
        # By the best alone: a passage that holds the answer may rank below one that doesn't.
        if not draft.results or draft.results.best < draft.results.floor:
            draft.passages = ()
            yield _say(draft, NOTHING_FOUND)
        elif self._generator is None:
            yield from self._extract(draft, NO_MODEL)
        else:
            yield from self._write(self._generator, draft)
        if draft.kind is AnswerKind.WRITTEN:
            yield self._check(inquiry, draft)
        yield draft.usage
        yield Done(_finished(inquiry, draft))

    def _search(self, inquiry: Inquiry, draft: _Draft) -> Iterator[AnswerEvent]:
        since = perf_counter()
        if inquiry.history:
            rewritten = stand_alone(inquiry.question, inquiry.history, self._generator)
            draft.asked, draft.usage = rewritten.text, draft.usage + rewritten.usage
            draft.notes += [rewritten.note] if rewritten.note else []
            yield draft.step("rewrite", draft.asked, since)
            since = perf_counter()
        draft.results = self._find(replace(inquiry.request, queries=(draft.asked,)))
        draft.passages = numbered(draft.results)
        draft.notes += draft.results.notes
        documents = len({passage.citation.document for passage in draft.passages})
        found = f"{len(draft.passages)} passages of {documents} documents"
        yield draft.step("search", found, since)

    def _write(self, generator: Generator, draft: _Draft) -> Iterator[AnswerEvent]:
        """By the model; by extraction where it gives nothing."""
        since = perf_counter()
        for share in SHARES:
            prompt = compose(
                draft.asked, draft.passages, generator.window, self._count, share=share
            )
            try:
                written = yield from write(generator, prompt)
                break
            except ModelError as reason:
                if not _is_too_long(reason) or share == SHARES[-1]:
                    why = f"{reason} These are sentences of the documents."
                    yield from self._extract(draft, why)
                    return
        draft.kind = AnswerKind.REFUSED if written.refused else AnswerKind.WRITTEN
        draft.text, draft.cited = written.text, list(written.cited)
        draft.complete = written.failure is None
        draft.usage += written.usage
        draft.model, draft.read = generator.name, prompt.passages
        draft.notes += [*prompt.notes, *written.notes]
        if not draft.text.strip():
            yield _say(draft, NOTHING_HELD)
        yield draft.step("write", f"{generator.name}, from {len(prompt.passages)} passages", since)

    def _extract(self, draft: _Draft, why: str) -> Iterator[AnswerEvent]:
        since = perf_counter()
        draft.kind, draft.read = AnswerKind.EXTRACTED, draft.passages
        draft.notes.append(why)
        by_number = {passage.number: passage.citation for passage in draft.passages}
        for one in pick(draft.asked, draft.passages, self._embedder, draft.measure):
            if one.number not in draft.cited:
                draft.cited.append(one.number)
                yield by_number[one.number]
            text = unmarked(one.text)
            yield _say(draft, f"{' ' if draft.text else ''}{text} [{one.number}]")
            draft.statements += (Statement(text, (one.number,), True, QUOTED, 1.0),)
        draft.cited.sort()
        yield draft.step("extract", f"from {len(draft.passages)} passages", since)

    def _check(self, inquiry: Inquiry, draft: _Draft) -> Step:
        since = perf_counter()
        checker = Checker(draft.measure, self._judge)
        draft.statements = checker.check(draft.text, inquiry.question, draft.read)
        borne_out = sum(one.supported for one in draft.statements)
        detail = f"{borne_out} of {len(draft.statements)} statements borne out"
        return draft.step("check", detail, since)


def _say(draft: _Draft, text: str) -> Token:
    draft.text += text
    return Token(text)


def _is_too_long(reason: ModelError) -> bool:
    """Whether a model refuses because of its window: llama.cpp, vLLM and OpenAI all name it so."""
    said = reason.message.lower()
    return isinstance(reason, ModelRefused) and ("context" in said or "too long" in said)


def _finished(inquiry: Inquiry, draft: _Draft) -> Answer:
    passages: Sequence[Citation] = [passage.citation for passage in draft.passages]
    return Answer(
        question=inquiry.question,
        asked=draft.asked,
        kind=draft.kind,
        text=draft.text,
        citations=tuple(one for one in passages if one.number in draft.cited),
        passages=tuple(passages),
        statements=draft.statements,
        steps=tuple(draft.steps),
        usage=draft.usage,
        notes=tuple(draft.notes),
        complete=draft.complete,
        model=draft.model,
        timings_ms=draft.results.timings_ms if draft.results else {},
        took_ms=round((perf_counter() - draft.started) * 1000, 3),
    )
