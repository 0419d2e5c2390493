"""How good answers are: a judged set of questions, asked one after the other.

    python -m bench.answers --data ../shared/data [--only made,samples] [--kind table] [--failures]
        [--held-out] [--deep] [--sample 60] [--minutes 35] [--record answers.jsonl]

`asked/questions.jsonl` holds the questions, by kind, each with what a right answer must hold and
the words or cell where it stands (`at`), and `asked/documents` a small library of its own. The
others are the sample documents of this repository and the documents below `--data`, some of which
`open_documents` makes from judged sets (filings, chats, German texts). With `generate.url` set, a
language model writes the answers; `--deep` lets it search more than once. Libraries are built
once, in the cache. These are figures of quality, so other work on the machine doesn't matter;
times are processor time.

A third is *held out*, by document: nobody looked at these answers while writing the rules.
`--held-out` asks only these, `--known` only the others. `--sample` draws this many by a fixed
seed, every kind in proportion. `--minutes` stops earlier; the questions asked until then have
every kind in proportion too. A slow model needs both. `--record` keeps each answer with its
statements.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import quantiles
from time import monotonic, process_time
from zlib import crc32

from bench.harness import arguments
from bench.open_documents import write
from trivium.config import Settings, load
from trivium.core.answers import Answer, AnswerKind, Depth, Turn
from trivium.library import Library

HERE = Path(__file__).parent
ASKED = HERE / "asked"
UNANSWERABLE, CONTRADICTED = "unanswerable", "contradicted"
KINDS = (
    "fact", "table", "calculation", "list", "two-hop", "follow-up", CONTRADICTED, UNANSWERABLE,
)  # fmt: skip
LIBRARIES = ("samples", "made", "documents", "open")
ABOUT = ("filings", "papers", "rulebook", "chat", "tables", "mail", "german")
HELD_OUT = 3  # every third document
SEED = 17
_LOOSE = re.compile(r"[\s  ]+")


@dataclass(frozen=True, slots=True)
class Question:
    """`ask`: one question, or several; only the answer to the last is judged."""

    number: int
    library: str
    kind: str
    ask: tuple[str, ...]
    accept: tuple[tuple[str, ...], ...]  # of each group, one must be in the answer
    reject: tuple[str, ...]  # values that make an answer wrong: neighbours of the right one
    about: str = ""  # the kind of document
    document: str = ""  # that has the answer, or that the question seems to be about
    at: str = ""  # words of the sentence or row that answers

    @property
    def held_out(self) -> bool:
        place = crc32(self.document.encode()) if self.document else self.number
        return place % HELD_OUT == 0


@dataclass(frozen=True, slots=True)
class Judged:
    """How one question was answered."""

    question: Question
    answer: Answer
    right: bool
    cited: tuple[bool, ...]  # of each citation: whether it holds a part of the right answer
    repeats: bool  # a sentence of the answer before
    seconds: float  # of processor time in this process


@dataclass
class Tally:
    """Counts of one kind of question."""

    asked: int = 0
    right: int = 0
    refused: int = 0
    wrong: int = 0  # answered, but not right
    citations: list[bool] = field(default_factory=list)  # of right answers
    resting: int = 0  # right answers with a citation that holds the answer
    repeats: int = 0

    def add(self, judged: Judged) -> None:
        self.asked += 1
        self.right += judged.right
        self.refused += judged.answer.refused
        self.wrong += not judged.right and not judged.answer.refused
        self.repeats += judged.repeats
        if judged.right and judged.question.accept:
            self.citations += judged.cited
            self.resting += any(judged.cited)


def questions(path: Path = ASKED / "questions.jsonl") -> list[Question]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        Question(
            number,
            row["library"],
            row["kind"],
            tuple(row["ask"]),
            tuple(tuple(group) for group in row.get("accept", ())),
            tuple(row.get("reject", ())),
            row["about"],
            row.get("document", ""),
            row.get("at", ""),
        )
        for number, row in enumerate(rows)
    ]


def sampled(every: Sequence[Question], size: int) -> list[Question]:
    """This many, with every kind in proportion, also among the first ones."""
    places = []
    for kind in KINDS:
        some = [one for one in every if one.kind == kind]
        Random(SEED).shuffle(some)
        places += [((at + 0.5) / len(some), one.number, one) for at, one in enumerate(some)]
    return [one for *_, one in sorted(places)[:size]]


def holds(text: str, value: str) -> bool:
    """Whether a text holds a value: not as part of a longer number or word."""
    plain, wanted = (_LOOSE.sub(" ", one).casefold() for one in (text, value))
    return re.search(rf"(?<![\w.,+]){re.escape(wanted)}(?![\w]|[.,]\d)", plain) is not None


def holds_group(text: str, group: Iterable[str]) -> bool:
    return any(holds(text, value) for value in group)


def judge(
    question: Question, answer: Answer, before: Answer | None, seconds: float = 0.0
) -> Judged:
    text = re.sub(r"\s?\[\d+\]", "", answer.text)
    if question.kind == UNANSWERABLE:
        right = answer.refused
    else:
        right = (
            not answer.refused
            and all(holds_group(text, group) for group in question.accept)
            and not any(holds(text, value) for value in question.reject)
        )
    at = _plain(question.at)
    cited = tuple(
        at in _plain(one.text)
        if at
        else any(holds_group(_whole(one.headings, one.text), group) for group in question.accept)
        for one in answer.citations
    )
    said = {one.text for one in before.statements} if before else set()
    repeats = bool(said & {one.text for one in answer.statements})
    return Judged(question, answer, right, cited, repeats, seconds)


def _plain(text: str) -> str:
    return _LOOSE.sub(" ", text.replace("|", " ")).casefold().strip()


def _whole(headings: Sequence[str], text: str) -> str:
    return "\n".join((*headings, text))


def ask(library: Library, question: Question, *, deep: bool) -> Judged:
    said: list[Turn] = []
    before: Answer | None = None
    *leading, last = question.ask
    for one in leading:
        before = _ask(library, one, said, deep=deep)
        said.append(before.turn)
    began = process_time()
    answer = _ask(library, last, said, deep=deep)
    return judge(question, answer, before, process_time() - began)


def _ask(library: Library, question: str, said: Sequence[Turn], *, deep: bool) -> Answer:
    return library.ask(question, history=said, depth=Depth.DEEP if deep else None)


def opened(
    names: Sequence[str], data: Path | None, settings: Settings, stack: ExitStack
) -> dict[str, Library]:
    """Builds each once, or the rest of it. Leaves out those without documents, and says so."""
    places: Mapping[str, Path | None] = {
        "samples": HERE.parent / "examples" / "documents",
        "made": ASKED / "documents",
        "documents": data / "documents" if data else None,
        "open": settings.cache / "answers" / "open" if data else None,
    }
    found = {}
    for name in names:
        folder = places[name]
        if folder and name == "open" and data:
            write(data, folder)
        if folder is None or not folder.is_dir():
            print(f"{name}: not there, left out")
            continue
        place = settings.cache / "answers" / "asked" / name
        library = stack.enter_context(Library.open(place, settings=settings))
        library.add(folder)  # only what is missing: an earlier run may have been stopped
        found[name] = library
    return found


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def table(judged: Sequence[Judged]) -> Iterator[str]:
    yield "| | questions | right | wrong | refused | cited at the right place | citations hold it |"
    yield "|---|---|---|---|---|---|---|"
    answerable = [one for one in judged if one.question.kind != UNANSWERABLE]
    parts = {
        **{kind: [one for one in judged if one.question.kind == kind] for kind in KINDS},
        **{about: [one for one in answerable if one.question.about == about] for about in ABOUT},
        "answerable": answerable,
        "answerable, held out": [one for one in answerable if one.question.held_out],
        "unanswerable, held out": [
            one for one in judged if one.question.held_out and one not in answerable
        ],
    }
    for name, some in parts.items():
        tally = Tally()
        for one in some:
            tally.add(one)
        if tally.asked:
            rests = sum(one.right for one in some if one.question.accept)
            yield (
                f"| {name} | {tally.asked} | {percent(tally.right, tally.asked)}"
                f" | {percent(tally.wrong, tally.asked)} | {tally.refused}"
                f" | {percent(tally.resting, rests)}"
                f" | {percent(sum(tally.citations), len(tally.citations))} |"
            )
    refused = [one for one in judged if one.answer.refused]
    rightly = sum(one.question.kind == UNANSWERABLE for one in refused)
    yield ""
    yield f"Of {len(refused)} refusals {rightly} were right ({percent(rightly, len(refused))})."
    yield f"Follow-ups that repeat a sentence: {sum(one.repeats for one in judged)}."
    kinds = Counter(one.answer.kind.value for one in judged)
    right = Counter(one.answer.kind.value for one in judged if one.right)
    yield ", ".join(f"{n} {kind} ({right[kind]} right)" for kind, n in kinds.most_common()) + "."
    yield from _statements(judged)
    if len(judged) > 1:
        taken = quantiles([1000 * one.seconds for one in judged], n=20)
        yield f"Processor time of an answer: {taken[9]:.0f} ms p50, {taken[18]:.0f} ms p95."


def _statements(judged: Sequence[Judged]) -> Iterator[str]:
    """How much of what the model wrote and a person sees was supported."""
    written = [one for one in judged if one.answer.kind is AnswerKind.WRITTEN]
    told = [statement for one in written for statement in one.answer.statements]
    supported = sum(statement.supported for statement in told)
    if told:
        yield (
            f"Statements in written answers: {len(told)}, supported {supported}"
            f" ({percent(supported, len(told))}), marked {len(told) - supported}."
        )
        whole = sum(not one.answer.unsupported for one in written)
        yield f"Written answers without a marked statement: {whole} of {len(written)}."


def recorded(one: Judged) -> str:
    answer = one.answer
    return json.dumps(
        {
            "number": one.question.number,
            "kind": one.question.kind,
            "ask": one.question.ask,
            "right": one.right,
            "cited": one.cited,
            "answered": answer.kind.value,
            "text": answer.text,
            "statements": [(s.text, s.supported, s.why, s.support) for s in answer.statements],
            "notes": answer.notes,
            "steps": [step.line for step in answer.steps],
        },
        ensure_ascii=False,
    )


def shown(one: Judged) -> str:
    place = "; ".join(f"{c.title}" for c in one.answer.citations)
    return (
        f"{one.question.library} {one.question.kind}: {' / '.join(one.question.ask)}\n"
        f"    wanted {one.question.accept or 'a refusal'}\n    got {one.answer.text!r} ({place})"
    )


def main() -> None:
    given = arguments(
        __doc__,
        data=Path,
        only=(",".join(LIBRARIES), "libraries, comma-separated"),
        kind={"choices": KINDS},
        deep=(False, "ask in depth"),
        held_out=(False, "only these"),
        known=(False, "only those not held out"),
        about=({"choices": ABOUT}, "only questions about such documents"),
        failures=(False, "show them, but those held out"),
        sample=(int, "so many of them, by a fixed seed"),
        minutes=(float, "ask no more questions after this time"),
        record=(Path, "write each answer to this file"),
    )
    names = given.only.split(",")
    every = [one for one in questions() if given.kind in (None, one.kind) and one.library in names]
    every = [one for one in every if one.held_out or not given.held_out]
    every = [one for one in every if not (given.known and one.held_out)]
    every = [one for one in every if given.about in (None, one.about)]
    every = sampled(every, given.sample) if given.sample else every
    judged: list[Judged] = []
    until = monotonic() + given.minutes * 60 if given.minutes else float("inf")
    with ExitStack() as stack:
        asked = opened(names, given.data, load().settings, stack)
        record = (
            stack.enter_context(given.record.open("w", encoding="utf-8")) if given.record else None
        )
        for one in (one for one in every if one.library in asked):
            if monotonic() > until:
                print(f"Stopped after {given.minutes:g} minutes.")
                break
            judged.append(ask(asked[one.library], one, deep=given.deep))
            if record:
                print(recorded(judged[-1]), file=record, flush=True)
            if given.failures and not judged[-1].right and not one.held_out:
                print(shown(judged[-1]), flush=True)
    print("\n".join(table(judged)))


if __name__ == "__main__":
    main()
