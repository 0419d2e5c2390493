"""Routes for questions, with streamed answers, and for saved conversations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Annotated

from fastapi import Path, Request
from starlette.responses import Response

from trivium.core.answers import Answer, AnswerEvent, Done, whole
from trivium.core.types import Told
from trivium.http.answers import Answered, ConversationsAnswer, ForgottenAnswer, TurnsAnswer
from trivium.http.asked import Here, Reader, Searcher
from trivium.http.routing import Routes
from trivium.http.streaming import Tell, described, stream
from trivium.operations.asking import LONGEST_NAME, Ask

router = Routes(prefix="/v1", tags=["query"])

Name = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME + 50)]
_EVENTS = (
    "With `stream`, server-sent events: `step`, `token`, `citation` and `usage`, then"
    " `done` with the whole answer, or `error` with a problem document."
)


@router.post(
    "/query",
    response_model=Answer,
    responses=described(_EVENTS, "step", "token", "citation", "usage", "done", "error"),
)
async def ask(server: Here, caller: Searcher, request: Request, body: Ask) -> Response:
    """Answer a question from the documents, with citations for every statement. Without a language
    model the answer quotes the documents, and says so."""
    b, name = body, body.conversation
    answered = await server.read(
        server.library.ask_stream,
        b.question,
        history=b.history,
        limit=b.limit,
        filters=b,
        within=caller.within(),
        conversation=None if name is None else caller.conversation(name),
        depth=b.depth,
        deep=True,
    )
    events = server.library.queries.answering(b.question, answered, caller.id)

    def work(tell: Tell) -> None:
        with closing(events):
            for event in events:
                tell(*_said(event, name or ""))

    if b.stream:
        return await stream(server, request, server.asking, work)
    answer = await server.asking.run(whole, events)
    return Answered(replace(answer, conversation=name or ""))


def _said(event: AnswerEvent, conversation: str) -> tuple[str, Told]:
    """An event, with the caller's own name of the conversation."""
    shown = replace(event.answer, conversation=conversation) if isinstance(event, Done) else event
    return type(event).__name__.lower(), shown


@router.get("/conversations")
async def list_conversations(server: Here, caller: Reader) -> ConversationsAnswer:
    """List your saved conversations; with access to everything, those of everyone."""
    conversations = await server.read(server.library.conversations.all, caller.within())
    named = [
        (caller.conversation_seen(conversation.name), conversation)
        for conversation in conversations
    ]
    return ConversationsAnswer(
        [replace(conversation, name=name) for name, conversation in named if name is not None]
    )


@router.get("/conversations/{name:path}")
async def show_conversation(server: Here, caller: Reader, name: Name) -> TurnsAnswer:
    called = caller.conversation(name)
    turns = await server.read(server.library.conversations.get, called, caller.within())
    return TurnsAnswer(name, turns)


@router.delete("/conversations/{name:path}")
async def forget_conversation(server: Here, caller: Reader, name: Name) -> ForgottenAnswer:
    called = caller.conversation(name)
    gone = await server.read(server.library.conversations.forget, called, caller.within())
    return ForgottenAnswer(gone)
