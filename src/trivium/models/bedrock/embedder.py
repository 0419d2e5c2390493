"""Embeds text with Titan or Cohere at Amazon Bedrock. Knows nothing of documents and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.core.errors import BadSetting
from trivium.models.bedrock.client import BedrockClient
from trivium.models.calling import CallingEmbedder
from trivium.models.retrying import ATTEMPTS, HURRIED

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
