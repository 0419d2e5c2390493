"""Which services with models there are, by the scheme of their address: ours, and those that other
packages registered.

A kind is registered under the entry point group `trivium.models`, by its scheme, as a `ModelKind`:
`https` for addresses like https://…, `bedrock` for bedrock:REGION. Loaded on call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TypedDict

from trivium.core.plugins import loading, registered
from trivium.models.endpoint import GROUP, Endpoint
from trivium.ports import Embedder, Generator, Reranker

# As in pyproject.toml, so that they work without an installation too.
_OURS = {
    "http": "trivium.models.kinds:compatible",
    "https": "trivium.models.kinds:compatible",
    "bedrock": "trivium.models.bedrock:amazon",
}


class Calls(TypedDict):
    """The settings of an embedder behind an address."""

    dimensions: int  # 0: as many as the model has
    query_prefix: str
    document_prefix: str
    batch: int  # texts of a call
    parallel: int  # calls at the same time
    query_seconds: float


@dataclass(frozen=True, slots=True)
class ModelKind:
    """How to use the models of a service. None: it has none for this."""

    embedder: Callable[[Endpoint, Calls], Embedder] | None = None
    reranker: Callable[[Endpoint], Reranker] | None = None
    # With the tokens of its window, and the temperature; None: the model's own.
    generator: Callable[[Endpoint, int, float | None], Generator] | None = None


def kind_of(endpoint: Endpoint) -> ModelKind:
    """Raises BadSetting."""
    scheme = endpoint.url.partition(":")[0].lower()
    value = _OURS.get(scheme)
    entry = EntryPoint(scheme, value, GROUP) if value else registered(GROUP)[scheme]
    with loading(f"the models for `{endpoint.role}.url` ({scheme}:)", entry):
        made = entry.load()
        kind = made if isinstance(made, ModelKind) else made()
        if not isinstance(kind, ModelKind):
            raise TypeError("it isn't a ModelKind")
    return kind


def compatible() -> ModelKind:
    """OpenAI's and Cohere's ways of asking, which most servers know."""
    from trivium.models.http import Client
    from trivium.models.remote import RemoteEmbedder, RemoteGenerator, RemoteReranker

    return ModelKind(
        embedder=lambda there, calls: RemoteEmbedder(Client(there), **calls),
        reranker=lambda there: RemoteReranker(Client(there)),
        generator=lambda there, *how: RemoteGenerator(Client(there), *how),
    )
