"""Arguments and results of the tools; the schemas that assistants read come from these types.

Results are `Shape`s like everything callers get, but limited to what an assistant needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AliasChoices

from trivium.core.shapes import Part, PlaceAnswer, Shape, said
from trivium.core.types import Granularity, MetaScalar
from trivium.operations.adding import LabelOptions, Text
from trivium.operations.asking import Ask
from trivium.operations.declaring import Carried, for_assistants, like, option
from trivium.operations.quoting import Quote
from trivium.operations.searching import (
    LONGEST_FILTER,
    LONGEST_QUERY,
    MOST_QUERIES,
    Filters,
    Query,
    Search,
    SearchOptions,
    Similar,
)

Cursor = Annotated[str, Carried(str, max_length=20)]
MOST_LISTED = 50  # results of one answer


def cursor() -> Any:
    return option("`next_cursor` of the previous answer; empty: start", "")


def document_number() -> Any:
    # Whatever an answer calls it, `document` or `id`, it can be given back under that name.
    return option(
        "The document's id.",
        required=True,
        ge=1,
        le=2**53,
        validation_alias=AliasChoices("document", "id"),
    )


def passage_index(says: str) -> Any:
    return option(says, required=True, ge=0, le=2**31)


# --- in


@for_assistants
class SearchInput(Search):
    query: str = option(
        'What to search for: a question or words; "a phrase", a OR b, +required and -not work.',
        required=True,
        max_length=LONGEST_QUERY,
    )
    others: list[Query] = option(
        "Up to three more queries; results match any of them.", [], max_length=MOST_QUERIES - 1
    )
    limit: int = like(SearchOptions, "limit", 8, le=MOST_LISTED)
    by: Granularity = like(SearchOptions, "by", Granularity.PASSAGE)
    cursor: Cursor = cursor()


@for_assistants
class AskInput(Ask):
    pass


@for_assistants
class _Document:
    document: int = document_number()


@for_assistants
class GetDocumentInput(_Document):
    cursor: Cursor = cursor()


@for_assistants
class GetPassageInput(_Document):
    index: int = passage_index("Index of the passage, from `search`.")
    around: int = option("Number of passages before and after it.", 1, ge=0, le=5)


@for_assistants
class GetOutlineInput(_Document):
    pass


@for_assistants
class GetTableInput(_Document):
    index: int = passage_index("Index of a passage in the table.")


@for_assistants
class SimilarInput(_Document):
    index: int | None = like(Similar, "passage", None)
    limit: int = like(SearchOptions, "limit", 8, le=MOST_LISTED)


@for_assistants
class QuoteInput(Quote):
    pass


@for_assistants
class HistoryInput(_Document):
    pass


@for_assistants
class CalculateInput:
    expression: str = option(
        "For example `(47.5 - 44.8) / 44.8 * 100`.", required=True, min_length=1, max_length=200
    )


@for_assistants
class ListCollectionsInput:
    pass


@for_assistants
class ListDocumentsInput:
    where: str = like(Filters, "where", "", max_length=LONGEST_FILTER)
    limit: int = like(SearchOptions, "limit", 50)
    cursor: Cursor = cursor()


@for_assistants
class AddDocumentInput:
    name: str = option(
        "File name, such as `notes.md`.", required=True, min_length=1, max_length=200
    )
    text: str = option("Markdown or plain text.", required=True, min_length=1, max_length=1_000_000)
    collection: Text | None = like(LabelOptions, "collection", None)
    audience: Text | None = like(LabelOptions, "audience", None)


@for_assistants
class RemoveDocumentInput(_Document):
    pass


# --- out


class Found(Shape, kw_only=True):
    rank: int
    match: float = said("How likely it is to be relevant, 0 to 1")
    weak: bool = said("Weak match: only the closest result.")
    document: int
    title: str
    uri: str
    collection: str
    index: int = said("Index of the passage in its document, for get_passage.")
    heading: str
    pages: Sequence[int]
    place: PlaceAnswer | None = said(
        "Sheet and rows, author, time and link of a message, or seconds of a recording."
    )
    at: float | None = said("Of a recording: the second at which the words are said.")
    text: str
    truncated: bool = said("The passage is longer; get_passage returns all of it.")
    signals: Sequence[str]
    fields: Sequence[str] = said("Known fields with a word of the query: author, to, tag, …")


class SearchOutput(Shape, kw_only=True):
    results: Sequence[Found]
    weak: bool = said("No good match: the results are only the closest.")
    suggestion: str = said("The query with its spelling corrected; empty if unchanged.")
    notes: Sequence[str]
    next_cursor: str | None


class DocumentShape(Part, kw_only=True):
    id: int
    title: str
    uri: str
    collection: str
    category: str
    media_type: str
    language: str
    passages: int
    updated_at: str
    metadata: Mapping[str, MetaScalar | Sequence[MetaScalar]]


class GetDocumentOutput(Shape):
    document: DocumentShape
    text: str
    next_cursor: str | None = said("Where the text continues; null: the end.")


class PassageShape(Shape, kw_only=True):
    index: int
    heading: str
    pages: Sequence[int]
    place: PlaceAnswer | None
    text: str


class GetPassageOutput(Shape):
    document: DocumentShape
    passages: Sequence[PassageShape] = said("In order, including the one you asked for.")
    truncated: bool


class HeadingShape(Shape, kw_only=True):
    path: Sequence[str] = said("The headings above it, outermost first, then the heading itself.")
    index: int = said("Index of its first passage.")
    pages: Sequence[int]


class GetOutlineOutput(Shape):
    document: DocumentShape
    headings: Sequence[HeadingShape]
    truncated: bool


class GetTableOutput(Shape):
    document: DocumentShape
    header: str = said("Names of the columns; empty: they are in the first passage.")
    passages: Sequence[PassageShape] = said("The passages of the table; empty: no table.")
    truncated: bool


class SimilarOutput(Shape):
    results: Sequence[Found]


class VersionShape(Part, kw_only=True):
    number: int
    active: bool
    created_at: str
    retired_at: str = said("When another version replaced it; empty: it is active.")


class HistoryOutput(Shape):
    document: DocumentShape
    versions: Sequence[VersionShape] = said("Oldest first; the last one is active.")


class CalculateOutput(Shape):
    value: float
    text: str


class CitedShape(Part, kw_only=True):
    number: int = said("Its number in the text: [1].")
    document: int
    index: int
    title: str
    uri: str
    pages: Sequence[int]
    place: PlaceAnswer = said("Sheet and rows, author, time, link, seconds of a recording.")
    text: str


class AskOutput(Shape, kw_only=True):
    kind: str = said("written, extracted or refused")
    text: str
    citations: Sequence[CitedShape]
    unsupported: Sequence[str] = said("Statements that their citations don't support.")
    steps: Sequence[str]
    notes: Sequence[str]


class CollectionShape(Shape, kw_only=True):
    name: str
    documents: int
    passages: int


class ListCollectionsOutput(Shape):
    collections: Sequence[CollectionShape]


class ListDocumentsOutput(Shape):
    documents: Sequence[DocumentShape]
    next_cursor: str | None


class AddDocumentOutput(Shape):
    fate: str = said("added, updated, unchanged, ...")
    document: DocumentShape


class RemoveDocumentOutput(Shape):
    removed: DocumentShape
