"""Models behind an address: embeds and writes through OpenAI's way of asking (OpenAI, Azure,
OpenRouter, Ollama, vLLM, TEI, llama.cpp), reranks through a /rerank endpoint as Cohere made it
(Cohere, Jina, OpenRouter, vLLM, llama.cpp) and in its own dialect TEI. Threads may share each.

Knows nothing of documents and stores, how scores are used, or what messages are about.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Generator as Pieces
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from trivium.core.errors import ModelRefused
from trivium.core.types import StoredChunk
from trivium.models.calling import CallingEmbedder
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.retrying import HURRIED
from trivium.ports import LONGEST_PASSAGE, Generated, Message, ToolCall, ToolOffer

_EMBEDDINGS = "/embeddings"


class RemoteEmbedder(CallingEmbedder[Client]):
    """A model behind an address. Threads may share it."""

    def _rows(self, texts: Sequence[str], *, hurried: bool) -> dict[int, Any] | None:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": list(texts)}
        if self._wanted:
            body["dimensions"] = self._wanted
        if hurried:
            seconds = self._query_seconds
            return by_place(
                self._client.post(_EMBEDDINGS, body, attempts=HURRIED, patience=seconds)
            )
        return by_place(self._client.post(_EMBEDDINGS, body))


def by_place(answer: Any) -> dict[int, Any] | None:
    """Embeddings by position; None if this is no answer to the question."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        return None
    # Some servers leave `index` out; then the rows are in the order of the texts.
    rows = {row.get("index", place): row.get("embedding") for place, row in enumerate(data)}
    whole = all(type(place) is int for place in rows) and len(rows) == len(data)
    return rows if whole else None


class RemoteReranker:
    """A model behind an address. Threads may share it."""

    def __init__(self, client: Client) -> None:
        self.fingerprint = client.endpoint.model
        self._client = client
        self._speaks_tei = False  # known once it has refused the other dialect

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        """One for each passage, in order, higher is better, 0..1. Raises ModelError."""
        texts = [passage.chunk.embedded_text[:LONGEST_PASSAGE] for passage in passages]
        if not texts:
            return []
        return in_order(_scores(self._ask(query, texts)), len(texts), self._client.endpoint)

    def _ask(self, query: str, texts: list[str]) -> Any:
        if not self._speaks_tei:
            request = {"query": query, "documents": texts, "top_n": len(texts)}
            try:
                return self._post({"model": self._client.endpoint.model, **request})
            except ModelRefused as refused:
                if "`texts`" not in refused.message:  # TEI: "missing field `texts`"
                    raise
            self._speaks_tei = True
        return self._post({"query": query, "texts": texts, "truncate": True})

    def _post(self, body: Mapping[str, Any]) -> Any:
        return self._client.post("/rerank", body, attempts=HURRIED)


def _scores(answer: Any) -> dict[int, float] | None:
    """Scores by position; None if this is no answer to the question."""
    listed = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(listed, list):
        return None
    scores: dict[int, float] = {}
    for entry in listed:
        if not isinstance(entry, dict):
            return None
        place, score = entry.get("index"), entry.get("relevance_score", entry.get("score"))
        if type(place) is not int or place in scores:
            return None
        if not isinstance(score, int | float) or not math.isfinite(score):
            return None
        scores[place] = float(score)
    return scores


def in_order(scores: dict[int, float] | None, count: int, endpoint: Endpoint) -> list[float]:
    """Scores in the form that a search needs, or an error that says what is wrong with them."""
    if scores is None:
        raise endpoint.nonsense("returned no list of scores")
    if sorted(scores) != list(range(count)):
        raise endpoint.nonsense(f"returned {len(scores)} scores for {count} passages")
    return scaled([scores[i] for i in range(count)])


def scaled(scores: Sequence[float]) -> list[float]:
    """Scores from 0 to 1, in the same order. Most endpoints return that; llama.cpp, and others if
    told so, return values from before the logistic function."""
    if all(0.0 <= score <= 1.0 for score in scores):
        return list(scores)
    return [0.5 * (1.0 + math.tanh(score / 2)) for score in scores]


_CHAT = "/chat/completions"
OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
COUNTED = "stream_options"


class RemoteGenerator:
    """A language model behind an address. Threads may share it."""

    def __init__(self, client: Client, window: int, temperature: float | None = None) -> None:
        """`temperature` None leaves it to the model: some refuse any other."""
        self.name = client.endpoint.model
        self.window = window
        self._client = client
        self._fixed: dict[str, Any] = {"model": client.endpoint.model}
        if temperature is not None:
            self._fixed["temperature"] = temperature
        self._limit = OLD_LIMIT  # every server knows it, but OpenAI's newer models refuse it
        self._streamed: dict[str, Any] = {"stream": True, COUNTED: {"include_usage": True}}

    def generate(self, messages: Sequence[Message], most_tokens: int) -> Generated:
        while True:
            try:
                answer = self._client.post(_CHAT, self._body(messages, most_tokens))
                break
            except ModelRefused as refused:
                if not self._adapts(refused):
                    raise
        text = self._written(answer, "message")
        if not text:
            raise self._client.endpoint.nonsense("wrote nothing")
        return Generated(text, *_usage(answer))

    def stream(self, messages: Sequence[Message], most_tokens: int) -> Pieces[str, None, Generated]:
        """Piece by piece; the generator's return value is the whole, with its tokens."""
        generated = yield from self.converse(messages, (), most_tokens)
        if not generated.text:
            raise self._client.endpoint.nonsense("wrote nothing")
        return generated

    def converse(
        self, messages: Sequence[Message], tools: Sequence[ToolOffer], most_tokens: int
    ) -> Pieces[str, None, Generated]:
        """The same, but the model may call tools; the return value holds its calls."""
        text, declined, usage, ended = "", "", (0, 0), ""
        calls = _Calls()
        with closing(self._events(messages, tools, most_tokens)) as events:
            for event in events:
                if isinstance(event, dict) and (error := event.get("error")):
                    message = error.get("message", error) if isinstance(error, dict) else error
                    raise self._client.endpoint.failing(f"stopped: {message}")
                usage = _usage(event) if _usage(event) != (0, 0) else usage
                piece = self._written(event, "delta")
                text += piece
                delta = _choice(event).get("delta")
                declined += _text(delta.get("refusal")) if isinstance(delta, dict) else ""
                if calls.take(delta) or piece:
                    yield piece  # empty while it writes a call, so that the caller can stop
                ended = ended or str(_choice(event).get("finish_reason") or "")
        if not ended:
            raise self._client.endpoint.failing("stopped in the middle of its answer")
        made = calls.made()
        if not text and not made and (declined or ended == "content_filter"):
            raise self._client.endpoint.failing(f"declined to answer: {declined or ended}")
        if not text and not made and tools:
            raise self._client.endpoint.nonsense("wrote nothing")
        return Generated(text, *usage, made, cut=ended == "length")

    def _events(
        self, messages: Sequence[Message], tools: Sequence[ToolOffer], most_tokens: int
    ) -> Pieces[Any, None, None]:
        offered = {"tools": [_offered(tool) for tool in tools]} if tools else {}
        while True:
            body = {**self._body(messages, most_tokens), **offered, **self._streamed}
            try:
                yield from self._client.stream(_CHAT, body)
                return
            except ModelRefused as refused:  # so nothing has come yet
                if not self._adapts(refused):
                    raise

    def _body(self, messages: Sequence[Message], most_tokens: int) -> dict[str, Any]:
        return {
            **self._fixed,
            "messages": [_message_fields(m) for m in messages],
            self._limit: most_tokens,
        }

    def _adapts(self, refused: ModelRefused) -> bool:
        """Whether the refusal names a parameter that can be said otherwise; then it is, from now
        on, and the same question has another chance."""
        if NEW_LIMIT in refused.message and self._limit == OLD_LIMIT:
            self._limit = NEW_LIMIT
            return True
        if COUNTED in refused.message and COUNTED in self._streamed:
            self._streamed = {"stream": True}
            return True
        return False

    def _written(self, answer: Any, part: str) -> str:
        """The text in the first choice of an answer, or of an event; an event may have none."""
        if not isinstance(answer, dict) or (part == "message" and not _choice(answer)):
            raise self._client.endpoint.nonsense("returned no answer")
        inner = _choice(answer).get(part)
        text = (inner.get("content") if isinstance(inner, dict) else None) or ""
        if not isinstance(text, str):
            raise self._client.endpoint.nonsense("returned something other than text")
        return text


class _Calls:
    """Puts the calls of tools together, which come in pieces, several at a time."""

    def __init__(self) -> None:
        self._parts: dict[object, dict[str, str]] = {}

    def take(self, delta: Any) -> bool:
        """Whether the delta is a part of a call."""
        calls = delta.get("tool_calls") if isinstance(delta, dict) else None
        for at, call in enumerate(calls if isinstance(calls, list) else ()):
            if not isinstance(call, dict):
                continue
            # Without a number, as Ollama sends them, each is whole.
            key = call.get("index", f"{len(self._parts)}.{at}")
            part = self._parts.setdefault(key, {"id": "", "name": "", "arguments": ""})
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            part["id"] = part["id"] or _text(call.get("id"))
            part["name"] += _text(function.get("name"))
            value = function.get("arguments")
            part["arguments"] += json.dumps(value) if isinstance(value, dict) else _text(value)
        return bool(calls)

    def made(self) -> tuple[ToolCall, ...]:
        parts = self._parts.values()
        return tuple(
            ToolCall(part["id"] or f"call_{at}", part["name"], part["arguments"])
            for at, part in enumerate(parts)
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _offered(tool: ToolOffer) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _message_fields(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.calls:
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        fields["tool_call_id"] = message.answers
    return fields


def _content(message: Message) -> str | list[dict[str, Any]]:
    """A text, and pictures within the request itself: a server must not fetch anything."""
    if not message.images:
        return message.text
    pictures = [f"data:{kind};base64,{b64encode(data).decode()}" for kind, data in message.images]
    return [
        {"type": "text", "text": message.text},
        *({"type": "image_url", "image_url": {"url": url}} for url in pictures),
    ]


def _choice(answer: Any) -> dict[str, Any]:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _usage(answer: Any) -> tuple[int, int]:
    """Tokens of prompt and answer; zeros where the endpoint does not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return 0, 0
    prompt, written = (usage.get(f"{name}_tokens") for name in ("prompt", "completion"))
    return (prompt if type(prompt) is int else 0, written if type(written) is int else 0)
