"""Managing: versions of documents, access tokens, and measuring the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from trivium.core.access import MOST_OF_QUOTA, Quota, Right
from trivium.core.errors import RequestInvalid
from trivium.operations.adding import Text
from trivium.operations.declaring import Carried, NotBlank, option, requests
from trivium.operations.searching import LONGEST_QUERY, MOST_NAMES

MOST_SYNTHETIC = 1_000  # queries made in one request

SetName = Annotated[str, Carried(str, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
RunName = Literal["vector", "keyword", "trigram", "hybrid", "reranked"]
EVERY: tuple[RunName, ...] = ("vector", "keyword", "trigram", "hybrid", "reranked")


@dataclass(frozen=True, kw_only=True)
class Restore:
    """Which interpretation (version) to make active again."""

    __pydantic_config__ = requests({"number": 1})

    number: int = option("Number of the interpretation.", required=True, ge=1, le=2**31)


@dataclass(frozen=True, kw_only=True)
class CreateToken:
    """What a new token may see and do. Without audiences: public documents (`all`) only."""

    __pydantic_config__ = requests(
        {"name": "den", "audiences": ["player"], "collections": ["rules"], "expires": "30d"}
    )

    name: str = option("Who uses it, as a reminder.", "", max_length=200)
    audiences: Annotated[Sequence[str], Carried(list[Text], max_length=MOST_NAMES)] = option(
        "Access labels its holder can see. Without any: public documents only.",
        (),
        flags=("--audience",),
    )
    all_audiences: bool = option("All labels, now and in future.", False, strict=True)
    collections: Annotated[
        Sequence[str] | None, Carried(list[Text], or_none=True, max_length=MOST_NAMES)
    ] = option("Only these collections. Without any: all collections.", flags=("--collection",))
    rights: Annotated[
        Sequence[Right | str], Carried(list[Right], min_length=1, max_length=len(Right))
    ] = option("What it allows; no right includes another.", (Right.SEARCH,), flags=("--right",))
    expires: str = option(
        "When it expires: after 12h, 30d, 8w. Default: never.", "", metavar="PERIOD", max_length=20
    )
    max_documents: int = option(
        "Documents it may add; 0: the setting quota.documents.", 0, ge=0, le=MOST_OF_QUOTA
    )
    max_bytes: int = option(
        "Bytes it may add; 0: the setting quota.bytes.", 0, ge=0, le=MOST_OF_QUOTA
    )
    max_searches: int = option(
        "Searches a minute; 0: the setting quota.searches.", 0, ge=0, le=MOST_OF_QUOTA
    )

    @property
    def quota(self) -> Quota:
        return Quota(self.max_documents or 0, self.max_bytes or 0, self.max_searches or 0)

    @property
    def labels(self) -> Sequence[str] | None:
        """None: all. Raises RequestInvalid."""
        if self.audiences and self.all_audiences:
            raise RequestInvalid(
                "You chose all labels and named some.", fix="Leave one of the two out."
            )
        return None if self.all_audiences else self.audiences


# --- measuring


@dataclass(frozen=True, kw_only=True)
class GenerateEvaluation:
    """A set of queries generated from the library's documents."""

    __pydantic_config__ = requests({"name": "synthetic", "queries": 100})

    name: SetName = option("Name of the set.", required=True)
    queries: int = option("Number of queries.", 100, ge=1, le=MOST_SYNTHETIC)
    seed: int = option("The same seed chooses the same passages.", 0, ge=0, le=2**31)


@dataclass(frozen=True, kw_only=True)
class RunEvaluation:
    """Which ways of searching to measure."""

    __pydantic_config__ = requests({"only": ["hybrid", "reranked"]})

    only: Annotated[
        Sequence[RunName], Carried(list[RunName], min_length=1, max_length=len(EVERY))
    ] = option("Ways of searching to measure.", EVERY)


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A judgment of one document for one query."""

    __pydantic_config__ = requests({"query": "drowned crown", "document": 2, "grade": 1})

    query: Annotated[str, Carried(str, min_length=1, max_length=LONGEST_QUERY), NotBlank()] = (
        option("The query.", required=True)
    )
    document: int = option("The document's id.", required=True, ge=1, le=2**53)
    grade: int | None = option(
        "0 not relevant, 1 relevant, 2 exactly right; null: skipped.", required=True, ge=0, le=2
    )
