"""Reranks with Cohere's or Amazon's model at Amazon Bedrock. Knows nothing of how scores are
used.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.core.types import StoredChunk
from trivium.models.bedrock.client import BedrockClient
from trivium.models.remote_reranker import in_order
from trivium.models.retrying import HURRIED
from trivium.models.tokenising import encodable
from trivium.ports import LONGEST_PASSAGE


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
