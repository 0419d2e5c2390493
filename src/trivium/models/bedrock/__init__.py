"""Models of Amazon Bedrock: who turns text into vectors, judges passages and writes, at Amazon's.

`client` asks; `models` are thin over it. boto3 comes with the extra.
"""

from __future__ import annotations

from trivium.models.endpoint import Endpoint
from trivium.models.kinds import ModelKind


def amazon() -> ModelKind:
    from trivium.models.bedrock.client import BedrockClient, BedrockEndpoint
    from trivium.models.bedrock.models import BedrockEmbedder, BedrockGenerator, BedrockReranker

    def client(there: Endpoint) -> BedrockClient:
        t = there  # boto3 finds the key, not we
        return BedrockClient(
            BedrockEndpoint(t.role, t.url, t.model, seconds=t.seconds, patience=t.patience)
        )

    return ModelKind(
        embedder=lambda there, calls: BedrockEmbedder(client(there), **calls),
        reranker=lambda there: BedrockReranker(client(there)),
        generator=lambda there, *how: BedrockGenerator(client(there), *how),
    )
