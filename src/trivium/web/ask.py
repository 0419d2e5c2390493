"""The Ask screen: streams answers to a script, or returns whole ones without script.

A conversation is saved under its first question unless the person says no: then earlier turns
travel in the form, and the server keeps nothing of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count, pairwise
from textwrap import shorten
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Query, Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import RedirectResponse, Response

from trivium.answer.cite import MARK
from trivium.answer.statements import pieces
from trivium.core.access import Caller
from trivium.core.answers import (
    Answer,
    AnswerEvent,
    Citation,
    Depth,
    Done,
    Statement,
    Step,
    Token,
    Turn,
    whole,
)
from trivium.core.errors import ConversationNotFound, RequestInvalid, TriviumError
from trivium.core.shapes import to_json
from trivium.http.asked import Here, Reader, Searcher, Server, is_foreign
from trivium.http.problems import PART
from trivium.http.streaming import Tell, stream
from trivium.operations.asking import LONGEST_NAME, EarlierTurn
from trivium.operations.searching import LONGEST_QUERY, Filters
from trivium.text import boundaries
from trivium.text.languages import detect_language
from trivium.text.snippet import snip, without_headings
from trivium.text.times import place_parts
from trivium.web.found import SNIPPET, Piece, words_of
from trivium.web.found import pieces as cut_at
from trivium.web.pages import PageRoute, fragment, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_LONGEST_GIVEN = 70  # characters of a name that a conversation gets by itself
KEPT_TURNS = 6  # of a conversation without a name: what a follow-up can refer to
_MOST_COLLECTIONS = 50
_EARLIER = TypeAdapter(EarlierTurn)
_WORDS = re.compile(r"\d[\d.,]*\d|[^\W_]+")


@dataclass(frozen=True, slots=True)
class Bit:
    """A piece of a sentence: text, or the mark of a passage."""

    text: str
    citation: Citation | None = None
    cited: str = ""  # which characters of the passage support the sentence


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence on the page. `doubt`: why its source doesn't support it, or empty."""

    bits: tuple[Bit, ...]
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn on the page. An earlier one has only its question and answer."""

    question: str
    sentences: tuple[ShownSentence, ...]
    carried: str = ""  # for the form; empty: the library keeps it
    answer: Answer | None = None
    cited: tuple[tuple[Citation, list[Piece]], ...] = ()  # each with what it says

    def place_of(self, citation: Citation) -> str:
        """Which characters of a passage the answer cites first."""
        bits = (bit for sentence in self.sentences for bit in sentence.bits)
        return next((bit.cited for bit in bits if bit.citation == citation), "")

    @property
    def plain(self) -> str:
        """The answer as plain text for copying, with its sources below."""
        texts = [f"[{citation.number}] {_source(citation)}" for citation, _ in self.cited]
        return "\n".join([self.answer.text if self.answer else "", "", *texts]).strip()


@dataclass(frozen=True, slots=True)
class AskForm:
    """The values of the form."""

    question: str
    turns: tuple[Turn, ...]  # those said before, of a conversation without a name
    conversation: str
    collections: tuple[str, ...]
    deep: bool = False  # think longer
    save: bool = False  # a conversation that begins, under a name of its own


async def _asked(
    q: Annotated[str, Form(max_length=LONGEST_QUERY)] = "",
    turn: Annotated[list[str] | None, Form()] = None,
    conversation: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
    collection: Annotated[list[str] | None, Form(max_length=_MOST_COLLECTIONS)] = None,
    depth: Annotated[Literal["", "deep"], Form()] = "",
    save: Annotated[Literal["", "1"], Form()] = "",
) -> AskForm:
    if not q.strip():
        raise RequestInvalid("You didn't type a question.", fix="Type one.")
    name = conversation.strip()
    turns = () if name else tuple(_carried(text) for text in (turn or [])[-KEPT_TURNS:])
    chosen = tuple(label for label in collection or () if label)
    saved = bool(save) and not name and not turns
    return AskForm(q.strip(), turns, name, chosen, depth == "deep", saved)


AskedForm = Annotated[AskForm, Depends(_asked)]


def _carried(text: str) -> Turn:
    try:
        return _EARLIER.validate_json(text)
    except ValidationError as reason:
        raise RequestInvalid(
            "Couldn't read the earlier turns of this conversation.", fix="Start a new conversation."
        ) from reason


@router.get("/ask")
async def show(
    request: Request,
    server: Here,
    caller: Reader,
    q: Annotated[str, Query(max_length=LONGEST_QUERY)] = "",
    conversation: Annotated[str, Query(max_length=LONGEST_NAME)] = "",
    collection: Annotated[list[str] | None, Query(max_length=_MOST_COLLECTIONS)] = None,
) -> Response:
    """Doesn't answer by itself: a script asks the question in the address at once, unless a page of
    another site linked here."""
    question = "" if is_foreign(request) else q
    form = AskForm(question, (), conversation.strip(), tuple(collection or ()))
    turns = await server.read(_before, server, caller, form)
    return await _page(request, server, caller, form, turns)


@router.post("/ask")
async def ask(request: Request, server: Here, caller: Searcher, form: AskedForm) -> Response:
    """The whole answer in one piece."""
    form = await server.read(_named, server, caller, form)
    before = await server.read(_before, server, caller, form)
    try:
        events = await _begun(server, caller, form)
        answer = await server.asking.run(whole, events)
    except TriviumError as error:
        return await _page(request, server, caller, form, before, error)
    turns = [*before, _said(answer, form)]
    return await _page(request, server, caller, replace(form, question=""), turns)


@router.post("/ask/stream")
async def ask_stream(request: Request, server: Here, caller: Searcher, form: AskedForm) -> Response:
    """Streams `step` and `token`, then `done` with the finished turn."""
    form = await server.read(_named, server, caller, form)
    events = await _begun(server, caller, form)

    def work(tell: Tell) -> None:
        with closing(events):
            for event in events:
                match event:
                    case Step():
                        tell("step", {"name": event.name, "line": event.line})
                    case Token():
                        tell("token", {"text": event.text})
                    case Done():
                        shown = fragment("turn.html", {"turn": _said(event.answer, form)})
                        kind, name = event.answer.kind, form.conversation
                        tell("done", {"html": shown, "kind": kind, "conversation": name})

    return await stream(server, request, server.asking, work)


@router.post("/ask/forget")
async def forget(
    server: Here, caller: Reader, conversation: Annotated[str, Form(max_length=LONGEST_NAME)]
) -> Response:
    called = caller.conversation(conversation)
    await server.read(server.library.conversations.forget, called, caller.within())
    return RedirectResponse("/ask", 303)


def _named(server: Server, caller: Caller, form: AskForm) -> AskForm:
    """A conversation that begins is called after its first question."""
    if not form.save:
        return form
    saved = server.library.conversations.all(caller.within())
    taken = {caller.conversation_seen(conversation.name) for conversation in saved}
    name = shorten(form.question, _LONGEST_GIVEN, placeholder=" …")
    names = (f"{name} ({n})" if n > 1 else name for n in count(1))
    return replace(form, conversation=next(text for text in names if text not in taken))


async def _begun(
    server: Server, caller: Caller, form: AskForm
) -> Generator[AnswerEvent, None, None]:
    events = await server.read(
        server.library.ask_stream,
        form.question,
        history=form.turns,
        filters=Filters(collection=form.collections or None),
        within=caller.within(),
        conversation=caller.conversation(form.conversation) if form.conversation else None,
        depth=Depth.DEEP if form.deep else None,
    )
    return server.library.queries.answering(form.question, events, caller.id)


def _before(server: Server, caller: Caller, form: AskForm) -> list[Said]:
    """Earlier turns, from the form or from the library."""
    if not form.conversation:
        return [_earlier(turn, carried=True) for turn in form.turns]
    try:
        name = caller.conversation(form.conversation)
        saved = server.library.conversations.get(name, caller.within())
    except ConversationNotFound:  # it begins
        return []
    return [_earlier(turn, carried=False) for turn in saved]


def _earlier(turn: Turn, *, carried: bool) -> Said:
    return Said(
        turn.question, (ShownSentence((Bit(turn.answer),)),), _carry(turn) if carried else ""
    )


def _carry(turn: Turn) -> str:
    return to_json(turn)


def _said(answer: Answer, form: AskForm) -> Said:
    from trivium.answer.run import NO_MODEL  # whoever has an answer has loaded what made it

    answer = replace(answer, notes=tuple(note for note in answer.notes if note != NO_MODEL))
    carried = "" if form.conversation else _carry(answer.turn)
    cited = tuple((citation, _excerpt(citation, answer.asked)) for citation in answer.citations)
    return Said(answer.question, sentences(answer), carried, answer, cited)


def _source(citation: Citation) -> str:
    path = (
        citation.headings[1:] if citation.headings[:1] == (citation.title,) else citation.headings
    )
    parts = (citation.title, " › ".join(path), *place_parts(citation))
    return ", ".join(part for part in parts if part)


def _excerpt(citation: Citation, question: str) -> list[Piece]:
    body = without_headings(citation.text, citation.headings)
    cut = snip(body, words_of([question]), detect_language(body), SNIPPET)
    return cut_at(cut.text, cut.marks)


def sentences(answer: Answer) -> tuple[ShownSentence, ...]:
    """The text of an answer with links to its passages and unsupported sentences marked."""
    cited = {citation.number: citation for citation in answer.citations}
    doubts: dict[str, Statement] = {statement.text: statement for statement in answer.unsupported}
    shown = []
    for text, sentence in pieces(answer.text):
        doubt = doubts.get(sentence.text)
        body = text.lstrip() if doubt else text  # the blank before it is not in doubt
        if body != text:
            shown.append(ShownSentence((Bit(text[: -len(body)]),)))
        bits = _bits(body, cited, sentence.text)
        shown.append(ShownSentence(tuple(bits), doubt.why if doubt else ""))
    return tuple(shown)


def bearing(passage: str, sentence: str) -> str:
    """Which characters of a passage support a sentence, for the document's address: the sentence
    or the row of a table that shares most words and figures. One that few others have counts
    more: of a table's rows, the one with the figure."""
    wanted = _terms(sentence)
    sayings = [(start, end, _terms(passage[start:end])) for start, end in _sayings(passage)]
    common = Counter(term for _, _, terms in sayings for term in terms & wanted)
    best, place = 0.0, ""
    for start, end, terms in sayings:
        shared = sum(1 / common[term] for term in terms & wanted)
        shared /= len(wanted | terms) ** 0.5 or 1.0
        if shared > best:
            best, place = shared, f"{start}-{end}"
    return place


def _terms(text: str) -> set[str]:
    return {word for word in _WORDS.findall(text.casefold()) if len(word) > 2 or word.isdigit()}


def _sayings(passage: str) -> Iterator[tuple[int, int]]:
    """The sentences of a passage and the rows of its tables, without blanks around them."""
    rows = [m.span() for m in re.finditer(r"^.* \| .*$", passage, re.MULTILINE)]
    cuts = {0, *boundaries.sentences(passage), len(passage), *(at for row in rows for at in row)}
    within = {at for start, end in rows for at in cuts if start < at < end}
    for start, end in pairwise(sorted(cuts - within)):
        body = passage[start:end]
        if body.strip():
            yield start + len(body) - len(body.lstrip()), start + len(body.rstrip())


def _bits(text: str, cited: dict[int, Citation], sentence: str) -> list[Bit]:
    bits: list[Bit] = []
    for at, piece in enumerate(MARK.split(text)):  # every second one is a number
        if at % 2:
            citation = cited.get(int(piece))
            if citation:
                bits.append(Bit(piece, citation, bearing(citation.text, sentence)))
            else:
                bits.append(Bit(f"[{piece}]"))
        elif piece:
            bits.append(Bit(piece))
    return bits


async def _page(
    request: Request,
    server: Server,
    caller: Caller,
    form: AskForm,
    turns: Sequence[Said],
    error: TriviumError | None = None,
) -> Response:
    within = caller.within()
    # Only for a script that asks for them when the page is there: they may take seconds.
    wanted = request.headers.get(PART) == "suggested"
    questions = await server.asking.run(server.library.questions, within) if wanted else ()
    collections = await server.read(server.library.documents.collections, within)
    saved = await server.read(server.library.conversations.all, within)
    named = [(caller.conversation_seen(conversation.name), conversation) for conversation in saved]
    values: dict[str, Any] = {
        "asked": form,
        "turns": turns,
        "questions": questions,
        "collections": collections,
        "is_empty": not any(collection.documents for collection in collections),
        "conversations": [(name, conversation) for name, conversation in named if name is not None],
        "has_model": bool(server.settings.generate_url),
        "seconds": round(server.settings.ask_seconds),
        "longest": LONGEST_QUERY,
    }
    return page(request, "ask.html", values, error=error)
