"""Turns what a caller asks for, and the settings behind it, into one typed request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from trivium.config import Settings
from trivium.errors import BadSetting
from trivium.search.fuse import Fusion
from trivium.search.request import SearchRequest
from trivium.search.weigh import MINILM, Evidence
from trivium.types import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    MetaScalar,
    Mode,
    Signal,
    Where,
)

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_Choice = TypeVar("_Choice", bound=StrEnum)


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


def request_for(
    settings: Settings,
    model: str,
    query: str,
    within: Where,
    *,
    limit: int | None,
    mode: Mode | str,
    weights: Mapping[Signal, float] | None,
    k: float | None,
    threshold: float | None,
) -> SearchRequest:
    """`model`: fingerprint of the embedder in use. What is None comes from the settings."""
    s = settings
    default = {
        Signal.VECTOR: s.fusion_vector,
        Signal.KEYWORD: s.fusion_keyword,
        Signal.TRIGRAM: s.fusion_trigram,
    }
    return SearchRequest(
        query=query,
        where=within,
        limit=s.search_limit if limit is None else limit,
        mode=one_of(Mode, "mode", mode),
        weights=default if weights is None else weights,
        # A rank constant makes sense for ranks only: whoever gives one asks for them.
        fusion=Fusion.RANKS if k is not None else one_of(Fusion, "fusion.method", s.fusion_method),
        evidence=_evidence(s, model) if weights is None else None,
        k=s.fusion_k if k is None else k,
        threshold=s.search_threshold if threshold is None else threshold,
    )


def _evidence(settings: Settings, model: str) -> Evidence | None:
    """Weights move only for the model whose cosines they were fitted to."""
    adaptive = one_of(Switch, "fusion.adaptive", settings.fusion_adaptive)
    return MINILM if model.startswith(DEFAULT_MODEL) and adaptive is Switch.ON else None


def where(
    audiences: Iterable[str] | None = None,
    *,
    collection: str | Sequence[str] | None = None,
    source: str | Sequence[str] | None = None,
    category: str | Sequence[str] | None = None,
    metadata: Mapping[str, MetaScalar] | None = None,
) -> Where:
    """A filter from plain values. Several values of one field: any of them."""
    parts = [
        _any_of(name, values)
        for name, values in (
            ("collection", collection),
            ("source", source),
            ("category", category),
        )
        if values is not None
    ]
    parts += [Compare(f"metadata.{name}", "eq", v) for name, v in (metadata or {}).items()]
    labels = None if audiences is None else frozenset(audiences)
    return Where(labels, AllOf(tuple(parts)))


def _any_of(name: str, values: str | Sequence[str]) -> Condition:
    listed = [values] if isinstance(values, str) else values
    return AnyOf(tuple(Compare(name, "eq", value) for value in listed))


def one_of(kind: type[_Choice], name: str, value: str) -> _Choice:
    try:
        return kind(value)
    except ValueError as reason:
        known = ", ".join(kind)
        raise BadSetting(f"`{name}` is {value!r}.", fix=f"It takes one of: {known}.") from reason
