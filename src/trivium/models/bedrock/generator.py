"""Writes text through Amazon Bedrock's Converse, which has one form for all its language models.
Knows nothing of what the messages are about.
"""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from trivium.models.bedrock.client import BedrockClient
from trivium.models.tokenising import encodable
from trivium.ports import Generated, Message


class BedrockGenerator:
    """A language model at Amazon's. Threads may share it."""

    def __init__(
        self, client: BedrockClient, window: int, temperature: float | None = None
    ) -> None:
        """`temperature` None leaves it to the model: some refuse any other."""
        self.name = client.endpoint.model
        self.window = window
        self._client = client
        self._fixed = {} if temperature is None else {"temperature": temperature}

    def generate(self, messages: Sequence[Message], most_tokens: int) -> Generated:
        answer = self._client.converse(self._asked(messages, most_tokens))
        blocks = answer.get("output", {}).get("message", {}).get("content", [])
        text = "".join(block.get("text", "") for block in blocks)
        if not text:
            raise self._client.endpoint.nonsense("wrote nothing")
        return Generated(text, *_usage(answer))

    def stream(self, messages: Sequence[Message], most_tokens: int) -> Pieces[str, None, Generated]:
        """Piece by piece; the generator's return value is the whole, with its tokens."""
        text, usage, ended = "", (0, 0), ""
        with closing(self._events(messages, most_tokens)) as events:
            for event in events:
                if piece := event.get("contentBlockDelta", {}).get("delta", {}).get("text", ""):
                    text += piece
                    yield piece
                if "messageStop" in event:
                    ended = event["messageStop"].get("stopReason", "end_turn")
                usage = _usage(event["metadata"]) if "metadata" in event else usage
        if not ended:
            raise self._client.endpoint.failing("stopped in the middle of its answer")
        if not text:
            raise self._client.endpoint.nonsense("wrote nothing")
        return Generated(text, *usage, cut=ended == "max_tokens")

    def _events(self, messages: Sequence[Message], most_tokens: int) -> Pieces[Any, None, None]:
        yield from self._client.stream(self._asked(messages, most_tokens))

    def _asked(self, messages: Sequence[Message], most_tokens: int) -> dict[str, Any]:
        system = [
            {"text": encodable(message.text)} for message in messages if message.role == "system"
        ]
        turns = [
            {"role": message.role, "content": _content(message)}
            for message in messages
            if message.role != "system"
        ]
        request = {"messages": turns, "inferenceConfig": {"maxTokens": most_tokens, **self._fixed}}
        return {**request, "system": system} if system else request


def _content(message: Message) -> list[dict[str, Any]]:
    """A text, and pictures as they are: boto3 packs them."""
    pictures = [
        {"image": {"format": kind.removeprefix("image/"), "source": {"bytes": data}}}
        for kind, data in message.images
    ]
    return [{"text": encodable(message.text)}, *pictures]


def _usage(answer: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens of prompt and answer; zeros where nobody says."""
    usage = answer.get("usage", {})
    return usage.get("inputTokens", 0), usage.get("outputTokens", 0)
