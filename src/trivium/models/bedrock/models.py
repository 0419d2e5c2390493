"""Models of Amazon Bedrock: embeds with Titan or Cohere, reranks with Cohere's or Amazon's model,
and writes through Converse, which has one form for all its language models. Threads may share each.

Knows nothing of documents and stores, how scores are used, or what messages are about.
"""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from trivium.core.errors import BadSetting
from trivium.core.types import StoredChunk
from trivium.models.bedrock.client import BedrockClient
from trivium.models.calling import CallingEmbedder
from trivium.models.remote import in_order
from trivium.models.retrying import ATTEMPTS, HURRIED
from trivium.models.tokenising import encodable
from trivium.ports import LONGEST_PASSAGE, Generated, Message

TITAN, COHERE, COHERE_V3 = "titan-embed-text", "cohere.embed", "-v3"
# Of one call, as Amazon's documentation has it: Titan takes one text, Cohere 96.
_MOST = {TITAN: 1, COHERE: 96}
# Characters of a text beyond which Cohere's third version refuses the whole call; it is told to
# leave out what is beyond its 512 tokens, which come later than that in hardly any text.
LONGEST_V3 = 2048


class BedrockEmbedder(CallingEmbedder[BedrockClient]):
    """A model at Amazon's. Threads may share it."""

    def _most(self, model: str) -> int:
        self._family = next((family for family in _MOST if family in model), "")
        if not self._family:
            raise BadSetting(
                f"`embed.model` is {model!r}, which Trivium can't use at Bedrock.",
                fix=f"Choose one whose name contains {TITAN} or {COHERE}.",
            )
        return _MOST[self._family]

    def _rows(self, texts: Sequence[str], *, hurried: bool) -> dict[int, Any] | None:
        request = self._titan(texts) if self._family == TITAN else self._cohere(texts, hurried)
        attempts, patience = (HURRIED, self._query_seconds) if hurried else (ATTEMPTS, None)
        answer = self._client.invoke(request, attempts=attempts, patience=patience)
        if not isinstance(answer, dict):
            return None
        if self._family == TITAN:
            return {0: answer.get("embedding")}
        listed = answer.get("embeddings")
        rows = listed.get("float") if isinstance(listed, dict) else listed
        return dict(enumerate(rows)) if isinstance(rows, list) else None

    def _titan(self, texts: Sequence[str]) -> dict[str, Any]:
        (text,) = texts
        request: dict[str, Any] = {"inputText": text}
        return {**request, "dimensions": self._wanted} if self._wanted else request

    def _cohere(self, texts: Sequence[str], is_query: bool) -> dict[str, Any]:
        """It was trained with a mark for queries and another for documents."""
        kind = "search_query" if is_query else "search_document"
        request: dict[str, Any] = {"input_type": kind, "embedding_types": ["float"]}
        if self._wanted:
            request["output_dimension"] = self._wanted
        if COHERE_V3 in self._endpoint.model:
            return {**request, "texts": [text[:LONGEST_V3] for text in texts], "truncate": "END"}
        return {**request, "texts": list(texts), "truncate": "RIGHT"}


class BedrockReranker:
    """A model at Amazon's. Threads may share it."""

    def __init__(self, client: BedrockClient) -> None:
        self.fingerprint = client.endpoint.model
        self._client = client

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        """One for each passage, in order, higher is better, 0..1. Raises ModelError."""
        texts = [encodable(p.chunk.embedded_text[:LONGEST_PASSAGE]) for p in passages]
        if not texts:
            return []
        answer = self._client.rerank(
            {
                "queries": [{"type": "TEXT", "textQuery": {"text": encodable(query)}}],
                "sources": [
                    {
                        "type": "INLINE",
                        "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}},
                    }
                    for text in texts
                ],
            },
            most=len(texts),
            attempts=HURRIED,
        )
        # boto3 has held the answer against Amazon's description: what is there is a number.
        listed = answer.get("results", [])
        by_place = {entry.get("index", -1): entry.get("relevanceScore", 0.0) for entry in listed}
        return in_order(by_place, len(texts), self._client.endpoint)


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
        answer = self._client.converse(self._request(messages, most_tokens))
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
        yield from self._client.stream(self._request(messages, most_tokens))

    def _request(self, messages: Sequence[Message], most_tokens: int) -> dict[str, Any]:
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
