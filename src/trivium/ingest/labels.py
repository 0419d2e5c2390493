"""Which category, audience and metadata a document gets, of the three that may say so."""

from __future__ import annotations

from trivium.types import EVERYONE, Document, Labels, Metadata


def labelled(labels: Labels, own: Metadata, before: Document | None) -> tuple[str, str, Metadata]:
    """Category, audience and metadata: from the caller, else from the document itself, else as
    before. So adding a private file again without a label never makes it public."""
    category = labels.category if labels.category is not None else _own(own, "category")
    audience = labels.audience if labels.audience is not None else _own(own, "audience")
    kept = before.metadata if before else {}
    return (
        category if category is not None else (before.category if before else ""),
        audience if audience is not None else (before.audience if before else EVERYONE),
        {**(own or kept), **labels.metadata},
    )


def not_given(labels: Labels, own: Metadata) -> frozenset[str]:
    """The labels that neither the caller nor the document itself says."""
    given = {"category": labels.category, "audience": labels.audience}
    said = (name for name, value in given.items() if value is None and _own(own, name) is None)
    return frozenset(said)


def _own(own: Metadata, name: str) -> str | None:
    value = own.get(name)
    return value if isinstance(value, str) and value else None
