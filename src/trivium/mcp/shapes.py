"""What the tools take and give, as types: the schemas that assistants read are made of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from trivium.search.prefer import MOST
from trivium.types import Granularity, MetaScalar, Mode

Cursor = Annotated[
    str, Field(max_length=20, description="`next_cursor` of the answer before; empty: from the top")
]
DocumentNumber = Annotated[int, Field(ge=1, le=2**53, description="The document's id.")]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


# --- in


class SearchInput(_Shape):
    query: str = Field(
        max_length=10_000,
        description='What to look for: a question, or words; "a phrase", a OR b, +required and'
        " -not work.",
    )
    limit: int = Field(8, ge=1, le=50, description="Results of one answer.")
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
        None, description="By keyword, find only what holds every word; where nothing does, any."
    )
    prefer: Literal["recent", ""] | None = Field(
        None, description="`recent`: newer documents count more."
    )
    half_life: float | None = Field(
        None, gt=0, description="Days after which being recent adds half as much."
    )
    boosts: dict[str, float] | None = Field(
        None,
        max_length=MOST,
        description="What scores are multiplied by where a filter or `section:NAME` holds.",
    )
    cursor: Cursor = ""


class GetDocumentInput(_Shape):
    id: DocumentNumber
    cursor: Cursor = ""


class GetPassageInput(_Shape):
    document: DocumentNumber
    index: int = Field(ge=0, le=2**31, description="Of the passage, as `search` gave it.")
    around: int = Field(1, ge=0, le=5, description="Passages before and after it.")


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
    audience: str | None = Field(None, max_length=200, description="Who may see it.")


class RemoveDocumentInput(_Shape):
    id: DocumentNumber


# --- out


class Found(_Shape):
    rank: int
    match: float = Field(description="0..1, how likely it is to be relevant")
    weak: bool = Field(description="It fits badly: only the nearest there is.")
    document: int
    title: str
    uri: str
    collection: str
    index: int = Field(description="Of the passage in its document; get_passage takes it.")
    heading: str
    pages: list[int]
    text: str
    truncated: bool = Field(description="The passage is longer; get_passage gives all of it.")
    signals: list[str]


class SearchOutput(_Shape):
    results: list[Found]
    weak: bool = Field(description="Nothing fits well; the results are only the nearest.")
    suggestion: str = Field(description="The query as it was probably meant; empty: as typed.")
    notes: list[str]
    next_cursor: str | None


class DocumentShape(_Shape):
    id: int
    title: str
    uri: str
    collection: str
    category: str
    media_type: str
    language: str
    passages: int
    updated_at: str
    metadata: dict[str, MetaScalar | list[MetaScalar]]


class GetDocumentOutput(_Shape):
    document: DocumentShape
    text: str
    next_cursor: str | None = Field(description="Where the text goes on; null: that was all.")


class PassageShape(_Shape):
    index: int
    heading: str
    pages: list[int]
    text: str


class GetPassageOutput(_Shape):
    document: DocumentShape
    passages: list[PassageShape] = Field(description="In order; the one asked for among them.")
    truncated: bool


class CollectionShape(_Shape):
    name: str
    documents: int
    passages: int


class ListCollectionsOutput(_Shape):
    collections: list[CollectionShape]


class ListDocumentsOutput(_Shape):
    documents: list[DocumentShape]
    next_cursor: str | None


class AddDocumentOutput(_Shape):
    fate: str = Field(description="added, updated, unchanged, ...")
    document: DocumentShape


class RemoveDocumentOutput(_Shape):
    removed: DocumentShape
