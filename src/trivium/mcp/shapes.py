"""Arguments and results of the tools; the schemas that assistants read come from these types.

Results are `Shape`s like everything callers get, but limited to what an assistant needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from trivium.answers import Depth
from trivium.search.prefer import MOST
from trivium.shapes import PlaceAnswer, Shape, said
from trivium.types import Granularity, MetaScalar, Mode

Cursor = Annotated[
    str, Field(max_length=20, description="`next_cursor` of the previous answer; empty: start")
]
DocumentNumber = Annotated[
    int,
    # Whatever an answer calls it, `document` or `id`, it can be given back under that name.
    Field(
        ge=1,
        le=2**53,
        description="The document's id.",
        validation_alias=AliasChoices("document", "id"),
    ),
]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


# --- in


Query = Annotated[str, Field(max_length=10_000)]


class SearchInput(_Shape):
    query: str = Field(
        max_length=10_000,
        description='What to search for: a question or words; "a phrase", a OR b, +required and'
        " -not work.",
    )
    others: list[Query] = Field(
        [], max_length=3, description="Up to three more queries; results match any of them."
    )
    as_of: str | None = Field(
        None, max_length=40, description="Search documents as they were on this day: 2024-03-31."
    )
    limit: int = Field(8, ge=1, le=50, description="Number of results.")
    mode: Mode = Field(
        Mode.HYBRID,
        description="hybrid (best), or one signal: semantic (meaning), keyword (words), fuzzy"
        " (spelling).",
    )
    by: Granularity = Field(
        Granularity.PASSAGE, description="passage: every match; document: each document once."
    )
    collection: str | None = Field(None, max_length=1000, description="Only in this collection.")
    where: str = Field(
        "",
        max_length=10_000,
        description="Filter: `year>=2020 type:pdf,docx -language:de author:Smith`.",
    )
    every_word: bool | None = Field(
        None, description="Keyword search: require every word; if nothing has all, accept any."
    )
    prefer: Literal["recent", ""] | None = Field(
        None, description="`recent` ranks newer documents higher."
    )
    half_life: float | None = Field(
        None, gt=0, description="Days after which the bonus for newer documents halves."
    )
    boosts: dict[str, float] | None = Field(
        None,
        max_length=MOST,
        description="Multiply the scores that match a filter or `section:NAME`.",
    )
    partial: bool | None = Field(
        None,
        description="While a database node is away, return results from the others, marked as"
        " partial.",
    )
    cursor: Cursor = ""


class GetDocumentInput(_Shape):
    document: DocumentNumber
    cursor: Cursor = ""


class GetPassageInput(_Shape):
    document: DocumentNumber
    index: int = Field(ge=0, le=2**31, description="Index of the passage, from `search`.")
    around: int = Field(1, ge=0, le=5, description="Number of passages before and after it.")


class GetOutlineInput(_Shape):
    document: DocumentNumber


class GetTableInput(_Shape):
    document: DocumentNumber
    index: int = Field(ge=0, le=2**31, description="Index of a passage in the table.")


class SimilarInput(_Shape):
    document: DocumentNumber
    index: int | None = Field(
        None,
        ge=0,
        le=2**31,
        description="Index of a passage, to find similar passages instead of documents.",
    )
    limit: int = Field(8, ge=1, le=50)


class HistoryInput(_Shape):
    document: DocumentNumber


class CalculateInput(_Shape):
    expression: str = Field(
        min_length=1, max_length=200, description="For example `(47.5 - 44.8) / 44.8 * 100`."
    )


class AskInput(_Shape):
    question: str = Field(min_length=1, max_length=10_000)
    depth: Depth | None = Field(
        None,
        description="`once`: search once; `deep`: search several times; default: the library's"
        " setting.",
    )
    collection: str | None = Field(None, max_length=1000, description="Only from this collection.")
    where: str = Field("", max_length=10_000, description="Filter, as for `search`.")


class ListCollectionsInput(_Shape):
    pass


class ListDocumentsInput(_Shape):
    where: str = Field("", max_length=10_000, description="Filter, as for `search`.")
    limit: int = Field(50, ge=1, le=100)
    cursor: Cursor = ""


class AddDocumentInput(_Shape):
    name: str = Field(min_length=1, max_length=200, description="File name, such as `notes.md`.")
    text: str = Field(min_length=1, max_length=1_000_000, description="Markdown or plain text.")
    collection: str | None = Field(None, max_length=200)
    audience: str | None = Field(None, max_length=200, description="Who can see it.")


class RemoveDocumentInput(_Shape):
    document: DocumentNumber


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
    place: PlaceAnswer | None = said("Sheet and rows, or author, time and link of a message.")
    text: str
    truncated: bool = said("The passage is longer; get_passage returns all of it.")
    signals: Sequence[str]


class SearchOutput(Shape, kw_only=True):
    results: Sequence[Found]
    weak: bool = said("No good match: the results are only the closest.")
    partial: bool = said("Part of the library is away, so results may be missing; see the notes.")
    suggestion: str = said("The query with its spelling corrected; empty if unchanged.")
    notes: Sequence[str]
    next_cursor: str | None


class DocumentShape(Shape, kw_only=True):
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


class VersionShape(Shape, kw_only=True):
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


class CitedShape(Shape, kw_only=True):
    number: int = said("Its number in the text: [1].")
    document: int
    index: int
    title: str
    uri: str
    pages: Sequence[int]
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
