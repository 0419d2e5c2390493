"""The recipe of an answer, top to bottom: stand alone, search, [look further], [refuse], write and
check, or extract.

Everything on the way is told as an event; the last one holds the whole answer. Knows searching by
its recipe, models by their ports, and nothing of shells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Generator as Events
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from trivium.answer import accounts
from trivium.answer.agent import Limits, explore
from trivium.answer.candidates import Picked
from trivium.answer.check import Cell, Checker
from trivium.answer.cite import MARK
from trivium.answer.decompose import Join, Plan, decompose, joined
from trivium.answer.extractive import Extractor
from trivium.answer.likeness import WordVectors
from trivium.answer.metrics import Metric
from trivium.answer.metrics import read as read_metric
from trivium.answer.numbering import Numbering
from trivium.answer.passages import Passage, numbered, passage_of, summary
from trivium.answer.prompt import compose, unmarked
from trivium.answer.rewrite import stand_alone
from trivium.answer.statements import NOTHING_SAID, Before
from trivium.answer.support import Words
from trivium.answer.tools import Toolbox
from trivium.answer.write import Written, read_off, write
from trivium.core.answers import (
    Answer,
    AnswerEvent,
    AnswerKind,
    Citation,
    Depth,
    Done,
    Statement,
    Step,
    Token,
    Turn,
    Usage,
)
from trivium.core.counting import counted
from trivium.core.errors import EmptyQuery, ModelError, ModelRefused, QueryTooLong
from trivium.core.results import Results
from trivium.core.types import Granularity, StoredChunk
from trivium.operations.searching import LONGEST_QUERY
from trivium.ports import Backend, Embedder, Generator
from trivium.search.request import SearchRequest
from trivium.text.languages import detect_language
from trivium.text.lexicon.dates import times
from trivium.text.lexicon.measures import SPENT
from trivium.text.lexicon.quantities import covers, figures, shared
from trivium.text.lexicon.questions import differing
from trivium.text.normalise import words
from trivium.text.query import parse

SHARES = (1.0, 0.5, 0.25)  # of the window, smaller each time a model says that it was too much
MOST_SUMMED = 500  # passages of a table that are read to add up some of its rows
NOTHING_FOUND = "I found nothing in your documents that answers this."
NOTHING_HELD = "The passages I found don't answer this."
NOTHING_NEW = "Your documents say no more about this than the answer before."
UNANSWERED = "I found no answer to this part:"
CALCULATED = "it follows from its sources"
_ARTICLES = frozenset({"The", "A", "An", "Der", "Die", "Das", "It", "In"})
QUOTED = "quoted from the passage"
FIGURE_SAYS = "Your documents say:"
QUOTED_INSTEAD = "so Trivium quotes your documents instead."
NOTHING_READ = f"The model read nothing until then, {QUOTED_INSTEAD}"
NO_MODEL = (
    "No language model is set up, so this answer quotes your documents. To get written answers, set"
    " `generate.url`."
)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, the turns before it, and how to search for it."""

    question: str
    history: tuple[Turn, ...]
    request: SearchRequest  # its query is replaced by the standalone question
    depth: Depth = Depth.ONCE
    box: Toolbox | None = None  # tools to search further, for this caller; None if there are none
    limits: Limits = Limits()


@dataclass
class _Draft:
    """What an answer consists of so far."""

    started: float
    asked: str
    measure: Words  # weighs words by what the caller may see
    kind: AnswerKind = AnswerKind.REFUSED
    text: str = ""
    cited: list[int] = field(default_factory=list)
    passages: tuple[Passage, ...] = ()
    read: tuple[Passage, ...] = ()  # what the model was given of the passages
    statements: tuple[Statement, ...] = ()
    steps: list[Step] = field(default_factory=list)
    usage: Usage = Usage()
    notes: list[str] = field(default_factory=list)
    complete: bool = True
    model: str = ""
    results: Results | None = None
    computed: tuple[str, ...] = ()  # results of calculations
    quotes: list[Picked] | None = None  # from the passages, without a model; None: not looked for

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
        word_vectors: WordVectors,
        *,
        fitted: bool,
    ) -> None:
        """`count`: tokens of a text. `word_vectors`: of earlier answers. `fitted`: the embedder has
        the similarities that the limits for support were measured with; otherwise only words
        decide."""
        self._find = search
        self._embedder = embedder
        self._generator = generator
        self._count = count
        self._word_vectors = word_vectors
        self._backend = backend
        self._judge = embedder if fitted else None

    def answer(self, inquiry: Inquiry) -> Events[AnswerEvent, None, None]:
        numbering = Numbering()
        with closing(self._answer(inquiry)) as events:
            for event in events:
                yield numbering.told(event)

    def _answer(self, inquiry: Inquiry) -> Events[AnswerEvent, None, None]:
        if len(inquiry.question) > LONGEST_QUERY:
            raise QueryTooLong(
                f"The question has {len(inquiry.question):,} characters;"
                f" the limit is {LONGEST_QUERY:,}.",
                fix="Shorten the question. To ask about a long text, add it as a document.",
            )
        if not parse(inquiry.question).clauses:
            raise EmptyQuery("The question has no words.")
        where = inquiry.request.where
        measure = Words(partial(self._backend.signals.rarities, where=where))
        draft = _Draft(perf_counter(), inquiry.question, measure)
        yield from self._stand_alone(inquiry, draft)
        metric = read_metric(draft.asked) if self._generator is None else None
        if metric is not None and (yield from self._account(inquiry, draft, metric)):
            draft.notes.append(NO_MODEL)
        elif self._generator is None and (plan := decompose(draft.asked)) and plan.is_figured:
            yield from self._part_by_part(inquiry, draft, NO_MODEL)
        elif inquiry.depth is Depth.DEEP:
            yield from self._look_further(inquiry, draft)
        else:
            yield from self._look_once(inquiry, draft)
        if draft.kind is AnswerKind.WRITTEN:
            yield from self._beside(draft)
        yield draft.usage
        yield Done(_finished(inquiry, draft))

    def _account(
        self, inquiry: Inquiry, draft: _Draft, metric: Metric
    ) -> Events[AnswerEvent, None, bool]:
        """A figure of a company's accounts, computed from its statements. False if they don't have
        all of it, or if two companies could be meant and report different figures."""
        since = perf_counter()
        called = accounts.companies(draft.asked)
        where = inquiry.request.where
        chunks_by_document: dict[int, list[StoredChunk]] = {}
        for query in accounts.queries(metric, called, draft.asked):
            search = replace(
                inquiry.request, queries=(query[:LONGEST_QUERY],), by=Granularity.DOCUMENT
            )
            for result in self._find(search):
                chunks_by_document.setdefault(result.found.document.id, []).append(result.found)
        reports = []
        for chunks in chunks_by_document.values():
            document, texts = chunks[0].document, [passage.chunk.text for passage in chunks]
            owned = accounts.belongs(document, called, texts)
            dated = str(metric.years[-1]) in f"{document.title} {document.uri}"
            if owned:
                reports.append((-owned, not dated, document.id))
        # The report of that year first; pages that are documents of their own count together.
        answers = []
        for group in _groups(sorted(reports)):
            chunks = [
                c
                for document_id in group
                for c in self._backend.documents.passages(document_id, where)
            ]
            pages = [passage_of(at, chunk) for at, chunk in enumerate(chunks, 1)]
            computed = accounts.compute(metric, pages)
            if computed is not None:
                answers.append(computed)
            if len({round(answer.value, 6) for answer in answers}) > 1:
                return False
            if answers and (called or len(group) > 1):
                break
        if not answers:
            return False
        computed = answers[0]
        cited = {cell.passage.number: cell.passage for cell in computed.cells}
        draft.passages = tuple(cited.values())
        yield draft.step(
            "search", f"Read {counted(len(reports), 'document')} with such figures", since
        )
        yield from _cite(draft, tuple(cited))
        draft.kind = AnswerKind.EXTRACTED
        yield _say(draft, f"{computed.text} {''.join(f'[{number}]' for number in cited)}.")
        draft.statements = (Statement(computed.text, tuple(cited), True, CALCULATED, 1.0),)
        return True

    def _look_once(self, inquiry: Inquiry, draft: _Draft) -> Iterator[AnswerEvent]:
        yield from self._search(inquiry, draft)
        weak = draft.results is None or draft.results.weak
        further = inquiry.depth is Depth.AUTO and inquiry.box is not None
        sure = self._picked_of_weak(inquiry, draft) if weak and self._generator is None else []
        if sure:
            yield from self._extracted(inquiry, draft, sure, NO_MODEL)
        elif weak and further:
            yield from self._look_further(inquiry, draft)
        elif weak:
            draft.passages = ()
            yield _say(draft, NOTHING_FOUND)
        elif self._generator is not None:
            yield from self._write(self._generator, inquiry, draft)
        else:
            picked = self._picked(inquiry, draft)
            if not picked and further:
                yield from self._look_further(inquiry, draft)
            else:
                yield from self._extracted(inquiry, draft, picked, NO_MODEL)

    def _look_further(self, inquiry: Inquiry, draft: _Draft) -> Iterator[AnswerEvent]:
        """More than one search: as a language model calls for it, or by rules."""
        if inquiry.box is None:
            raise AssertionError("nothing can look further")
        if self._generator is None:
            yield from self._part_by_part(inquiry, draft, NO_MODEL)
            return
        gathered = yield from explore(
            self._generator, draft.asked, inquiry.box, inquiry.limits, self._count
        )
        draft.steps += gathered.steps
        draft.usage += gathered.usage
        draft.notes += gathered.notes
        draft.passages = draft.read = tuple(gathered.passages)
        draft.computed = tuple(gathered.computed)
        draft.complete = gathered.ended
        if gathered.failure is not None and draft.passages:
            picked = self._picked(inquiry, draft)
            yield from self._extracted(inquiry, draft, picked, _because(gathered.failure))
        elif gathered.failure is not None:
            yield from self._part_by_part(inquiry, draft, _because(gathered.failure))
        elif not draft.passages and not gathered.ended:
            yield from self._part_by_part(inquiry, draft, NOTHING_READ)
        elif not draft.passages:  # whatever a model says then, no document says it
            yield _say(draft, NOTHING_FOUND)
        elif gathered.text.strip():
            since = perf_counter()
            checker = self._checker(inquiry, draft, draft.passages)
            written = yield from read_off(
                gathered.text, draft.passages, checker, _before(inquiry, draft)
            )
            yield from self._take(inquiry, draft, written, draft.passages, since)
        else:
            yield from self._write(self._generator, inquiry, draft)

    def _part_by_part(self, inquiry: Inquiry, draft: _Draft, why: str) -> Iterator[AnswerEvent]:
        """Rules split the question, and each part is searched and answered separately. `why`: the
        reason that no language model does it."""
        since = perf_counter()
        before = _before(inquiry, draft)
        plan = decompose(draft.asked) or Plan((draft.asked,), Join.EACH)
        if len(plan.parts) > 1:
            parts = "; ".join(part for part in plan.parts if "{}" not in part)
            yield draft.step("plan", f"Split the question: {parts}", since)
        answers: list[Picked] = []
        passages: list[Passage] = []
        last = ""
        # A figure that was given before is still needed for comparing or continuing.
        said_before = before if plan.join is Join.EACH else NOTHING_SAID
        for part in plan.parts:
            question = part.replace("{}", last) if last else part
            if "{}" in question:
                break
            picked = yield from self._part(inquiry, draft, question, passages, said_before)
            last = _entity(picked[0], question) if picked else ""
            if not picked and len(plan.parts) > 1:
                draft.notes.append(f"{UNANSWERED} “{question}”")
            answers += picked[:1] if plan.join is not Join.EACH else picked
        draft.passages = tuple(passages)
        whole = len(answers) >= len(plan.parts)
        if plan.join is Join.THEN and whole:
            answers = answers[-1:]
        if plan.join is not Join.EACH and not (
            whole and (not plan.is_figured or _are_clear(plan, answers))
        ):
            answers = []
        new = [answer for answer in answers if not before.says(answer.text)]
        conclusion = joined(plan, [answer.value or answer.text for answer in answers])
        if new or not conclusion:
            yield from self._extracted(inquiry, draft, new, why)
        else:
            draft.notes.append(why)
        if conclusion:
            yield from self._concluded(draft, conclusion, answers)

    def _part(
        self,
        inquiry: Inquiry,
        draft: _Draft,
        question: str,
        passages: list[Passage],
        said_before: Before,
    ) -> Events[AnswerEvent, None, list[Picked]]:
        """The answer to one part; searched by keywords if its own words find nothing."""
        for query in (question, self._extractor(draft).keywords(question)):
            near = (yield from self._searched(inquiry, draft, query, passages)) if query else []
            picked = self._extractor(draft).pick(question, near, said_before)
            if picked:
                return picked
        return []

    def _searched(
        self, inquiry: Inquiry, draft: _Draft, query: str, passages: list[Passage]
    ) -> Events[AnswerEvent, None, list[Passage]]:
        """What a search finds, as passages; new ones get numbers. Nothing if every match is
        weak."""
        since = perf_counter()
        first_results = draft.results if query == draft.asked else None
        results = (
            self._find(replace(inquiry.request, queries=(query,)))
            if first_results is None
            else first_results
        )
        weak = results.weak
        if first_results is None:
            text = summary(() if weak else results)
            yield draft.step("search", f"Searched for “{query}”: {text}", since)
        if weak:
            return []
        fresh = [result for result in results if not _is_among(result.found, passages)]
        start = len(passages)
        passages += [
            passage_of(start + at, r.found, r.before, r.after, r.match)
            for at, r in enumerate(fresh, 1)
        ]
        places = {(r.found.document.id, r.found.id) for r in results}
        return [p for p in passages if (p.citation.document, p.citation.chunk) in places]

    def _concluded(
        self, draft: _Draft, conclusion: str, answers: Sequence[Picked]
    ) -> Iterator[AnswerEvent]:
        numbers = tuple(dict.fromkeys(picked.number for picked in answers))
        yield from _cite(draft, numbers)
        draft.kind = AnswerKind.EXTRACTED
        marks = "".join(f"[{number}]" for number in numbers)
        yield _say(draft, f"{' ' if draft.text else ''}{conclusion} {marks}")
        draft.statements += (Statement(conclusion, numbers, True, CALCULATED, 1.0),)

    def _stand_alone(self, inquiry: Inquiry, draft: _Draft) -> Iterator[AnswerEvent]:
        if inquiry.history:
            since = perf_counter()
            rewritten = stand_alone(inquiry.question, inquiry.history, self._generator)
            draft.asked, draft.usage = rewritten.text, draft.usage + rewritten.usage
            draft.notes += [rewritten.note] if rewritten.note else []
            yield draft.step("rewrite", draft.asked, since)

    def _search(self, inquiry: Inquiry, draft: _Draft) -> Iterator[AnswerEvent]:
        since = perf_counter()
        draft.results = self._find(replace(inquiry.request, queries=(draft.asked,)))
        draft.passages = numbered(draft.results)
        draft.notes += draft.results.notes
        results = () if draft.results.weak else draft.results
        yield draft.step("search", f"Found {summary(results)}", since)

    def _write(
        self, generator: Generator, inquiry: Inquiry, draft: _Draft
    ) -> Iterator[AnswerEvent]:
        """Written by the model; extracted if it gives nothing."""
        since = perf_counter()
        for share in SHARES:
            prompt = compose(
                draft.asked, draft.passages, generator.window, self._count, share=share
            )
            checker = self._checker(inquiry, draft, prompt.passages)
            try:
                written = yield from write(generator, prompt, checker, _before(inquiry, draft))
                break
            except ModelError as reason:
                if not _is_too_long(reason) or share == SHARES[-1]:
                    picked = self._picked(inquiry, draft)
                    yield from self._extracted(inquiry, draft, picked, _because(reason))
                    return
        draft.notes += prompt.notes
        yield from self._take(inquiry, draft, written, prompt.passages, since)

    def _take(
        self,
        inquiry: Inquiry,
        draft: _Draft,
        written: Written,
        passages: Sequence[Passage],
        since: float,
    ) -> Iterator[AnswerEvent]:
        """The model's text becomes the answer, unless no passage supports any of it."""
        model = self._generator.name if self._generator is not None else ""
        draft.complete = draft.complete and written.whole
        draft.usage += written.usage
        draft.read = tuple(passages)
        draft.notes += written.notes
        yield draft.step("write", f"{model}, from {counted(len(passages), 'passage')}", since)
        if written.unsupported or written.again:
            why = "nothing new" if written.again else "nothing that the passages support"
            picked = self._picked(inquiry, draft)
            text = QUOTED_INSTEAD if picked else "so it isn't shown."
            yield from self._extracted(inquiry, draft, picked, f"{model} wrote {why}, {text}")
            return
        draft.kind = AnswerKind.REFUSED if written.refused else AnswerKind.WRITTEN
        draft.text, draft.cited, draft.model = written.text, list(written.cited), model
        if not draft.text.strip():
            yield _say(draft, NOTHING_HELD)
        draft.statements = written.statements
        if draft.kind is AnswerKind.WRITTEN:
            borne_out = sum(statement.supported for statement in draft.statements)
            detail = f"{borne_out} of {len(draft.statements)} statements supported"
            yield draft.step("check", detail, perf_counter())

    def _checker(self, inquiry: Inquiry, draft: _Draft, passages: Sequence[Passage]) -> Checker:
        known_text = "\n".join((inquiry.question, draft.asked, *draft.computed))
        best = self._quotes(draft)[:1]
        cells = [
            Cell(draft.asked, picked.text, picked.value) for picked in best if _is_figure(picked)
        ]
        return Checker(
            draft.measure, self._judge, passages, known_text, cells[0] if cells else None
        )

    def _quotes(self, draft: _Draft) -> list[Picked]:
        """What would be quoted without a model."""
        if draft.quotes is None:
            draft.quotes = self._extractor(draft).pick(draft.asked, draft.passages)
        return draft.quotes

    def _extractor(self, draft: _Draft) -> Extractor:
        return Extractor(self._embedder, draft.measure, self._word_vectors)

    def _with_whole_tables(self, inquiry: Inquiry, draft: _Draft) -> tuple[Passage, ...]:
        """For a sum, every passage of the documents whose tables were found; none of a table that
        is too long to add up."""
        passages = list(draft.passages)
        for document in {p.citation.document for p in draft.passages if " | " in p.text}:
            every = self._backend.documents.passages(document, inquiry.request.where)
            if len(every) > MOST_SUMMED:
                passages = [p for p in passages if p.citation.document != document]
                continue
            fresh = [chunk for chunk in every if not _is_among(chunk, passages)]
            last = max((p.number for p in passages), default=0)
            passages += [passage_of(last + at, chunk) for at, chunk in enumerate(fresh, 1)]
        return tuple(passages)

    def _picked_of_weak(self, inquiry: Inquiry, draft: _Draft) -> list[Picked]:
        before = _before(inquiry, draft)
        return self._extractor(draft).pick_of_weak(draft.asked, draft.passages, before)

    def _picked(self, inquiry: Inquiry, draft: _Draft) -> list[Picked]:
        before = _before(inquiry, draft)
        if SPENT.search(draft.asked):
            draft.passages = self._with_whole_tables(inquiry, draft)
        return self._extractor(draft).pick(draft.asked, draft.passages, before)

    def _extracted(
        self, inquiry: Inquiry, draft: _Draft, picked: Sequence[Picked], why: str
    ) -> Iterator[AnswerEvent]:
        since = perf_counter()
        draft.read = draft.passages
        draft.kind = AnswerKind.EXTRACTED if picked else AnswerKind.REFUSED
        if picked or why != NO_MODEL:  # a refusal quotes nothing
            draft.notes.append(why)
        differ = any(quote.differs for quote in picked)
        both, differs = differing(detect_language(draft.asked))
        for quote in picked:
            yield from _cite(draft, [quote.number])
            text = unmarked(quote.text)
            between = f" {differs} " if quote.differs else " " if draft.text else ""
            between = f"{both} " if differ and not draft.text else between
            lead = f"{quote.lead}: " if quote.lead else ""
            where = f" ({_dated(draft, quote.number)})" if differ else ""
            yield _say(draft, f"{between}{lead}{text} [{quote.number}]{where}{_stop(text)}")
            draft.statements += (Statement(text, (quote.number,), True, QUOTED, 1.0),)
        if not picked:
            known_answers = inquiry.history and self._extractor(draft).pick(
                draft.asked, draft.passages
            )
            refusal = NOTHING_HELD if draft.passages else NOTHING_FOUND
            yield _say(draft, NOTHING_NEW if known_answers else refusal)
        yield draft.step("extract", f"from {counted(len(draft.passages), 'passage')}", since)

    def _beside(self, draft: _Draft) -> Iterator[AnswerEvent]:
        """What is quoted below a written answer: two sources that disagree, if the answer gives
        only one of them; and the figure that was asked for, if the answer gives none, or not the
        one that a table has."""
        picked = self._quotes(draft)
        text = MARK.sub("", draft.text)
        others = [quote for quote in picked if quote.differs]
        sides = [picked[0], *others] if others else []
        value = picked[0].value if picked else ""
        silent = covers(draft.asked, text)
        if not all(covers(text, side.value or side.text) for side in sides):
            yield from self._quoted(
                draft, differing(detect_language(draft.asked))[0], sides, dated=True
            )
        elif figures(value) and (silent or (_is_figure(picked[0]) and not shared(text, value))):
            yield from self._quoted(draft, FIGURE_SAYS, picked[:1])

    def _quoted(
        self, draft: _Draft, lead: str, picked: Sequence[Picked], *, dated: bool = False
    ) -> Iterator[AnswerEvent]:
        quotes = []
        for quote in picked:
            yield from _cite(draft, [quote.number])
            text = unmarked(quote.text)
            speaker = f"{quote.lead}: " if quote.lead else ""
            where = f" ({_dated(draft, quote.number)})" if dated else ""
            quotes.append(f"{speaker}“{text}” [{quote.number}]{where}")
            draft.statements += (Statement(text, (quote.number,), True, QUOTED, 1.0),)
        yield _say(draft, f"\n\n{lead} {'; '.join(quotes)}.")


def _are_clear(plan: Plan, answers: Sequence[Picked]) -> bool:
    """Whether nothing is computed from a guess: each is a cell, or a sentence whose only figure
    must be the one that was asked for; and two years of the same thing are in equal rows."""
    rows = {re.sub(r"\d+", "", picked.text.partition(":")[0]) for picked in answers if picked.cell}
    if all(label.isdigit() for label in plan.labels) and len(rows) > 1:
        return False
    return all(
        picked.cell or len({*figures(picked.text)} - {*figures(" ".join(times(picked.text)))}) == 1
        for picked in answers
    )


def _groups(reports: Sequence[tuple[float, bool, int]]) -> Iterator[list[int]]:
    """Each document that is as surely the company's as the first, then all of these together."""
    best = [document for owned, _, document in reports if owned == reports[0][0]]
    yield from ([document] for document in best)
    if len(best) > 1:
        yield best


def _before(inquiry: Inquiry, draft: _Draft) -> Before:
    """What earlier answers said, except those to the same question: whoever asks again gets the
    same answer again."""
    now = {tuple(words(inquiry.question)), tuple(words(draft.asked))}
    return Before(t.answer for t in inquiry.history if tuple(words(t.question)) not in now)


def _dated(draft: _Draft, number: int) -> str:
    """A source by its title and date: whoever must choose between two needs both."""
    passage = next(source for source in draft.passages if source.number == number)
    title = passage.citation.title
    return title if times(title, passage.language) else f"{title}, {passage.date}"


def _because(failure: ModelError) -> str:
    return f"{failure} Trivium quotes your documents instead."


def _is_figure(picked: Picked) -> bool:
    """Whether it is the figure that a table gives for the question."""
    return picked.cell and bool(figures(picked.value))


def _stop(text: str) -> str:
    """Ends a cell or a list after its mark; a sentence has its own end."""
    return "" if text.endswith((".", "!", "?", "…", ":")) else "."


def _is_among(passage: StoredChunk, passages: Sequence[Passage]) -> bool:
    return any(
        p.citation.chunk == passage.id and p.citation.document == passage.document.id
        for p in passages
    )


def _entity(picked: Picked, question: str) -> str:
    """What an answer names, for the next question: a name, or the beginning of its sentence."""
    if picked.value and not any(character.isdigit() for character in picked.value):
        return picked.value
    question_words = set(words(question))
    for name in re.findall(r"[A-ZÄÖÜ][\w’'-]+(?: [A-ZÄÖÜ][\w’'-]+)*", picked.text):
        if name.split()[0] not in _ARTICLES and not set(words(name)) <= question_words:
            return str(name)
    begun = re.match(r"(?:The|A|An|Der|Die|Das) [\w-]+", picked.text)
    return begun[0].lower() if begun else ""


def _cite(draft: _Draft, numbers: Sequence[int]) -> Iterator[AnswerEvent]:
    by_number = {passage.number: passage.citation for passage in draft.passages}
    for number in numbers:
        if number not in draft.cited:
            draft.cited.append(number)
            yield by_number[number]


def _say(draft: _Draft, text: str) -> Token:
    draft.text += text
    return Token(text)


def _is_too_long(reason: ModelError) -> bool:
    """Whether a model refuses because of its window: llama.cpp, vLLM and OpenAI all name it so."""
    message = reason.message.lower()
    return isinstance(reason, ModelRefused) and ("context" in message or "too long" in message)


def _finished(inquiry: Inquiry, draft: _Draft) -> Answer:
    passages: Sequence[Citation] = [passage.citation for passage in draft.passages]
    return Answer(
        question=inquiry.question,
        asked=draft.asked,
        kind=draft.kind,
        text=draft.text,
        citations=tuple(citation for citation in passages if citation.number in draft.cited),
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
