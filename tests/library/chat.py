"""A chat endpoint that answers each kind of question as a test says: guess, rewrite, answer."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.endpoint import Reply, ScriptedEndpoint, Seen, events

from trivium.answer.rewrite import RULES as REWRITE
from trivium.config import load
from trivium.core.types import Processed
from trivium.library import Library
from trivium.search.hyde import PROMPT as HYDE
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

USED = {"prompt_tokens": 50, "completion_tokens": 7}


def streamed(text: str, *, size: int = 7, ended: bool = True) -> Reply:
    """The text in pieces; not ended, it stops in the middle."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    told = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    if ended:
        told += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
        told += [{"choices": [], "usage": USED}]
    return Reply(events(*told, done=ended), then="close")


def calling(*calls: tuple[str, Any], text: str = "", split: int = 9, counted: bool = True) -> Reply:
    """Calls of tools as endpoints stream them: names first, then arguments in pieces. Not counted:
    the endpoint doesn't say how many tokens they took."""
    told: list[object] = [{"choices": [{"delta": {"role": "assistant", "content": text}}]}]
    for at, (name, given) in enumerate(calls):
        written = given if isinstance(given, str) else json.dumps(given)
        first = {"index": at, "id": f"call_{at}", "type": "function"}
        told.append(call_delta({**first, "function": {"name": name, "arguments": ""}}))
        for start in range(0, len(written), split):
            part = {"index": at, "function": {"arguments": written[start : start + split]}}
            told.append(call_delta(part))
    told.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    told += [{"choices": [], "usage": USED}] if counted else []
    return Reply(events(*told), then="close")


def call_delta(call: object) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


class Chat:
    """Set `answer` to a text, a reply or a function; `rewrite` and `hyde` likewise."""

    def __init__(self) -> None:
        self.answer: str | Reply | Callable[[Seen], Reply] = "Nothing."
        self.rewrite: str | Reply = Reply({}, 500)
        self.hyde: str | Reply = Reply({}, 400)
        self.guessed: list[str] = []  # what an answer was to be guessed for
        self.prompts: list[str] = []  # of questions that were to be answered

    def __call__(self, seen: Seen) -> Reply:
        system = seen.body["messages"][0]["content"]
        if system == HYDE:
            self.guessed.append(seen.body["messages"][-1]["content"])
            return _as_reply(self.hyde)
        if system == REWRITE:
            return _as_reply(self.rewrite)
        self.prompts.append(seen.body["messages"][-1]["content"])
        told = self.answer(seen) if callable(self.answer) else self.answer
        return _as_reply(told)


def _as_reply(told: str | Reply) -> Reply:
    return streamed(told) if isinstance(told, str) else told


@contextmanager
def asked(
    folder: Path, chat: Chat, documents: Sequence[Processed], **settings: str
) -> Iterator[Library]:
    """A library of these documents whose model is the chat."""
    with ScriptedEndpoint(chat) as server:
        given = {"generate.url": server.url, "generate.model": "writer"}
        given |= {name.replace("_", ".", 1): value for name, value in settings.items()}
        store = open_embedded(folder / "library")
        with Library(store, TOY, load(given).settings) as library:
            store.writer.put(documents, TOY.fingerprint)
            yield library


def quoted(prompt: str) -> list[int]:
    """The numbers of the passages in a prompt."""
    numbers = [line.partition('n="')[2].partition('"')[0] for line in prompt.splitlines()]
    return [int(number) for number in numbers if number]


def dumped(value: object) -> str:
    return json.dumps(value, default=str)
