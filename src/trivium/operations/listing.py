"""Looking: pages of lists, versions and pictures of documents, checks of sources and measurements.

Requests carry these in their query strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from trivium.core.work import TaskState
from trivium.operations.declaring import Carried, like, option
from trivium.operations.searching import (
    LONGEST_FILTER,
    LONGEST_QUERY,
    LONGEST_TYPED,
    MOST_RESULTS,
    Filters,
)

MOST_AROUND = 5  # neighbours of a passage, on each side
_MOST_NUMBER = 2**31


@dataclass(frozen=True, kw_only=True)
class PageOfList:
    cursor: str = option("`next_cursor` from the previous page.", "", max_length=20)
    limit: int = option("How many to list.", 50, ge=1, le=MOST_RESULTS)


@dataclass(frozen=True, kw_only=True)
class ListDocuments(PageOfList):
    where: Annotated[str, Carried(str)] = like(Filters, "where", "", max_length=LONGEST_FILTER)


@dataclass(frozen=True, kw_only=True)
class ListJobs:
    ended: bool = option("Include finished jobs.", True)
    limit: int = like(PageOfList, "limit", 50)


@dataclass(frozen=True, kw_only=True)
class ListTasks(PageOfList):
    state: Annotated[Sequence[TaskState] | None, Carried(list[TaskState])] = option(
        "Only documents in this state; if several, in any of them.", max_length=len(TaskState)
    )


@dataclass(frozen=True, kw_only=True)
class Suggest:
    q: str = option("The text typed so far.", required=True, max_length=LONGEST_TYPED)
    limit: int = option("How many to suggest.", 8, ge=1, le=20)


@dataclass(frozen=True, kw_only=True)
class OfVersion:
    interpretation: int | None = option(
        "Number of an interpretation (version). Default: the active one.",
        metavar="N",
        ge=1,
        le=_MOST_NUMBER,
    )


@dataclass(frozen=True, kw_only=True)
class Diff:
    old: int | None = option("Number of the older interpretation (version).", ge=1, le=_MOST_NUMBER)
    new: int | None = option("Number of the newer interpretation (version).", ge=1, le=_MOST_NUMBER)


@dataclass(frozen=True, kw_only=True)
class ShowPassage:
    around: int = option("Number of neighbours on each side.", 0, ge=0, le=MOST_AROUND)


@dataclass(frozen=True, kw_only=True)
class ShowPage:
    width: int = option("Width of the picture, in pixels.", 1000, ge=50, le=3000)
    passage: int | None = option("Number of a passage to mark.", ge=0, le=_MOST_NUMBER)


@dataclass(frozen=True, kw_only=True)
class Upload:
    wait: bool = option("Wait until the file is added; false: return a job at once.", True)


@dataclass(frozen=True, kw_only=True)
class VerifySync:
    ids: bool = option("Compare only which items exist, not their contents.", False)


@dataclass(frozen=True, kw_only=True)
class RemoveSync:
    keep_documents: bool = option("Keep its documents in the library.", False)


@dataclass(frozen=True, kw_only=True)
class CompareRuns:
    run: str = option("Id of the newer run.", required=True, min_length=1, max_length=100)
    against: str = option("Id of the older run.", required=True, min_length=1, max_length=100)


@dataclass(frozen=True, kw_only=True)
class ListJudgments:
    query: str = option("The query.", required=True, min_length=1, max_length=LONGEST_QUERY)
