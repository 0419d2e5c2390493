"""Quoting: where a pasted text comes from."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.operations.declaring import option, requests
from trivium.operations.searching import Filters

LONGEST_QUOTE = 50_000  # characters
MOST_PLACES = 20


@dataclass(frozen=True, kw_only=True)
class QuoteOptions:
    """How many places to name."""

    limit: int = option(
        "Maximum number of places, if several documents have the text.",
        3,
        flags=("-n", "--limit"),
        ge=1,
        le=MOST_PLACES,
    )


@dataclass(frozen=True, kw_only=True)
class Quote(QuoteOptions, Filters):
    """A sentence or a paragraph, as pasted."""

    __pydantic_config__ = requests(
        {"text": "Divers raised the crown from the harbour of Port Amble."}
    )

    text: str = option(
        "The pasted sentence or paragraph.", required=True, min_length=1, max_length=LONGEST_QUOTE
    )
