"""What each tool does: asks the library within what the caller may see, and limits the answer.

Knows nothing of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import TypeAdapter

from trivium.answer import calculate as calculating
from trivium.core.access import Caller, Right
from trivium.core.answers import Quotation
from trivium.core.errors import BadSetting
from trivium.core.results import Result, Results
from trivium.core.shapes import PlaceAnswer, heading
from trivium.core.types import Combine, Document, StoredChunk, Told
from trivium.library import Library
from trivium.library.toolbox import outline, table_of
from trivium.library.uploads import Wanted
from trivium.mcp import shapes
from trivium.operations.catalogue import OPERATIONS
from trivium.operations.declaring import part
from trivium.operations.searching import SearchOptions

# Characters of one answer: some 6,000 tokens, a part of any assistant's window.
MOST_TEXT = 24_000
MOST_PASSAGE = 2_000  # of one result; a chunk of 400 tokens has 1,600
_DEEPEST_RESULT = 10_000  # of a search: each page ranks all results before it again
_MOST_CHANGES = 50  # words of a quotation
_MOST_FIELDS = 50  # of a document's metadata
_MOST_VALUE = 500
_MOST_HEADINGS = 200
_DOCUMENT = TypeAdapter(shapes.DocumentShape)


Input = TypeVar("Input")
Do = Callable[[Library, Caller, Input], Told]
TOOLS: list[Tool[Any]] = []
_NEEDS = {operation.tool: operation.needs for operation in OPERATIONS.values()}


@dataclass(frozen=True, slots=True)
class Tool(Generic[Input]):
    """One tool, as its function below declares it."""

    name: str
    title: str
    description: str
    input: type[Input]
    output: type[Told]
    right: Right
    do: Do[Input]
    destroys: bool = False

    @property
    def writes(self) -> bool:
        return self.right is not Right.SEARCH


Function = TypeVar("Function", bound=Do[Any])


def _tool(
    title: str, description: str, *, destroys: bool = False
) -> Callable[[Function], Function]:
    """Offers a function to assistants under its own name, if they have the right that its operation
    needs; one that is no operation only reads."""

    def offer(do: Function) -> Function:
        types, name = get_type_hints(do), do.__name__
        right = Right(_NEEDS.get(name, Right.SEARCH))
        input_, output = types["request"], types["return"]
        TOOLS.append(Tool(name, title, description, input_, output, right, do, destroys))
        return do

    return offer


@_tool(
    "Search the library",
    "Search the user's own documents by meaning, exact words and spelling at once. Returns"
    " passages with document id, passage index, title, heading and pages: cite them. Search"
    " again with other words if you don't find the answer; get_passage reads around a passage.",
)
def search(library: Library, caller: Caller, request: shapes.SearchInput) -> shapes.SearchOutput:
    first = _number(request.cursor, _DEEPEST_RESULT)
    options = part(
        SearchOptions,
        request,
        limit=first + request.limit + 1,
        combine=Combine.MAXIMUM if request.others else None,
    )
    queries = [request.query, *request.others]
    hits = library.search(queries, options=options, filters=request, within=caller.within())
    results = _listed(hits, first, first + request.limit)
    end = first + len(results)
    return shapes.SearchOutput(
        results=results,
        weak=hits.weak,
        suggestion=hits.analysis.suggestion,
        notes=list(hits.notes),
        next_cursor=str(end) if end < len(hits) else None,
    )


def _listed(results: Results, first: int, end: int) -> list[shapes.Found]:
    """As many of these results as an answer has room for, and at least one."""
    listed: list[shapes.Found] = []
    room = MOST_TEXT
    for result in results[first:end]:
        shape = _found(result, weak=not results.fits(result))
        room -= len(shape.text)
        if room < 0 and listed:
            break
        listed.append(shape)
    return listed


def _found(result: Result, *, weak: bool) -> shapes.Found:
    document, chunk = result.found.document, result.found.chunk
    return shapes.Found(
        rank=result.rank,
        match=round(result.match, 4),
        weak=weak,
        document=document.id,
        title=document.title,
        uri=document.uri,
        collection=document.collection,
        index=chunk.index,
        heading=heading(result.found),
        pages=list(chunk.pages),
        place=PlaceAnswer.of(result.found),
        at=result.at,
        text=chunk.with_header[:MOST_PASSAGE],
        truncated=len(chunk.with_header) > MOST_PASSAGE,
        signals=[signal.value for signal in result.signals],
        fields=result.fields,
    )


@_tool(
    "Read a document",
    "Get the full text and metadata of one document, in parts: pass next_cursor to read on.",
)
def get_document(
    library: Library, caller: Caller, request: shapes.GetDocumentInput
) -> shapes.GetDocumentOutput:
    within, first = caller.within(), _number(request.cursor)
    document = library.documents.get(request.document, within)
    text = library.documents.text(request.document, within)
    end = first + MOST_TEXT
    return shapes.GetDocumentOutput(
        document=_document(document),
        text=text[first:end],
        next_cursor=str(end) if end < len(text) else None,
    )


@_tool("Read around a passage", "Get one passage in full, with the passages before and after it.")
def get_passage(
    library: Library, caller: Caller, request: shapes.GetPassageInput
) -> shapes.GetPassageOutput:
    passage, near = library.documents.passage(
        request.document,
        request.index,
        before=request.around,
        after=request.around,
        within=caller.within(),
    )
    chunks = (*near.before, passage, *near.after)
    share = MOST_TEXT // len(chunks)
    return shapes.GetPassageOutput(
        document=_document(passage.document),
        passages=[_passage(chunk, share) for chunk in chunks],
        truncated=any(len(chunk.chunk.text) > share for chunk in chunks),
    )


@_tool(
    "Read a document's outline",
    "Get the headings of a document in order, each with the index of its first passage.",
)
def get_outline(
    library: Library, caller: Caller, request: shapes.GetOutlineInput
) -> shapes.GetOutlineOutput:
    within = caller.within()
    document = library.documents.get(request.document, within)
    parts = outline(library.documents.passages(document.id, within))
    return shapes.GetOutlineOutput(
        _document(document),
        [
            shapes.HeadingShape(
                path=[text[:_MOST_VALUE] for text in path], index=index, pages=pages
            )
            for path, index, pages in parts[:_MOST_HEADINGS]
        ],
        truncated=len(parts) > _MOST_HEADINGS,
    )


@_tool(
    "Read a whole table",
    "Get the whole table that a passage belongs to, with the names of its columns.",
)
def get_table(
    library: Library, caller: Caller, request: shapes.GetTableInput
) -> shapes.GetTableOutput:
    within = caller.within()
    document = library.documents.get(request.document, within)
    library.documents.numbered_passage(document, request.index, within)
    parts = table_of(library.documents.passages(document.id, within), request.index)
    share = MOST_TEXT // max(1, len(parts))
    header = next((passage.chunk.header for passage in parts if passage.chunk.header), "")
    return shapes.GetTableOutput(
        _document(document),
        header,
        [_passage(passage, share) for passage in parts],
        truncated=any(len(passage.chunk.text) > share for passage in parts),
    )


@_tool("Find similar", "Find similar documents or, with the index of a passage, similar passages.")
def similar(library: Library, caller: Caller, request: shapes.SimilarInput) -> shapes.SimilarOutput:
    results = library.similar(
        request.document, request.limit, passage=request.index, within=caller.within()
    )
    return shapes.SimilarOutput(_listed(results, 0, len(results)))


@_tool(
    "Find the source of a quote",
    "Find the document, page and paragraph that a sentence or paragraph comes from, and the words"
    " that were changed. No places: it is not in the documents; `similar` has nearly the same words"
    " with other figures or dates.",
)
def quote(library: Library, caller: Caller, request: shapes.QuoteInput) -> Quotation:
    quotation = library.quote(request.text, request.limit, filters=request, within=caller.within())
    places, similar = (
        tuple(
            replace(place, text=place.text[:MOST_PASSAGE], changes=place.changes[:_MOST_CHANGES])
            for place in some
        )
        for some in (quotation.places, quotation.similar)
    )
    return Quotation(places, similar)


@_tool(
    "List a document's versions",
    "List the versions of a document with their dates; search with as_of to search them.",
)
def history(library: Library, caller: Caller, request: shapes.HistoryInput) -> shapes.HistoryOutput:
    within = caller.within()
    document = library.documents.get(request.document, within)
    versions = library.history.of(document.id, within)
    return shapes.HistoryOutput(
        _document(document),
        [shapes.VersionShape.of(version) for version in versions[-_MOST_FIELDS:]],
    )


@_tool(
    "Calculate",
    "Calculate with numbers you read in passages: + - * / % ** and sum, min, max, average,"
    " round, abs.",
)
def calculate(
    library: Library, caller: Caller, request: shapes.CalculateInput
) -> shapes.CalculateOutput:
    value = calculating.calculate(request.expression)
    return shapes.CalculateOutput(value, f"{request.expression} = {calculating.told(value)}")


@_tool(
    "Ask the library",
    "Let the library answer a question itself, with citations; it may refuse. Without a"
    " language model of its own, it quotes the documents.",
)
def ask(library: Library, caller: Caller, request: shapes.AskInput) -> shapes.AskOutput:
    answer = library.ask(
        request.question, filters=request, within=caller.within(), depth=request.depth
    )
    return shapes.AskOutput(
        kind=answer.kind.value,
        text=answer.text[:MOST_TEXT],
        citations=[
            shapes.CitedShape.of(
                citation,
                place=PlaceAnswer(
                    sheet=citation.sheet or "",
                    rows=citation.rows,
                    authors=citation.authors or (),
                    time=citation.time or "",
                    link=citation.link,
                    seconds=citation.seconds,
                ),
                text=f"{citation.header or ''}\n{citation.text}".lstrip("\n")[:MOST_PASSAGE],
            )
            for citation in answer.citations
        ],
        unsupported=[sentence.text for sentence in answer.unsupported],
        steps=[step.line for step in answer.steps],
        notes=answer.notes,
    )


@_tool("List collections", "List the collections, with the number of documents in each.")
def list_collections(
    library: Library, caller: Caller, request: shapes.ListCollectionsInput
) -> shapes.ListCollectionsOutput:
    collections = library.documents.collections(caller.within())
    return shapes.ListCollectionsOutput(
        collections=[
            shapes.CollectionShape(
                name=collection.name, documents=collection.documents, passages=collection.chunks
            )
            for collection in collections
        ]
    )


@_tool("List documents", "List documents with their metadata, by id; takes a filter.")
def list_documents(
    library: Library, caller: Caller, request: shapes.ListDocumentsInput
) -> shapes.ListDocumentsOutput:
    matches = library.documents.all(
        caller.within(), where=request.where, after=_number(request.cursor), limit=request.limit + 1
    )
    listed: list[shapes.DocumentShape] = []
    room = MOST_TEXT
    for document in matches[: request.limit]:
        shape = _document(document)
        room -= len(_DOCUMENT.dump_json(shape))
        if room < 0 and listed:
            break
        listed.append(shape)
    more = len(matches) > len(listed)
    return shapes.ListDocumentsOutput(
        documents=listed, next_cursor=str(listed[-1].id) if more and listed else None
    )


def _document(document: Document) -> shapes.DocumentShape:
    fields = list(document.metadata.items())[:_MOST_FIELDS]
    return shapes.DocumentShape.of(
        document,
        passages=document.chunks,
        metadata={
            name: list(value) if isinstance(value, tuple) else _cut(value) for name, value in fields
        },
    )


def _cut(value: str | int | float | bool) -> str | int | float | bool:
    return value[:_MOST_VALUE] if isinstance(value, str) else value


def _passage(passage: StoredChunk, most: int) -> shapes.PassageShape:
    chunk = passage.chunk
    return shapes.PassageShape(
        index=chunk.index,
        heading=heading(passage),
        pages=list(chunk.pages),
        place=PlaceAnswer.of(passage),
        text=chunk.with_header[:most],
    )


def _number(cursor: str, most: int = 2**53) -> int:
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdecimal()) or int(cursor) > most:
        raise BadSetting(f"`cursor` can't be {cursor!r}.", fix="Use `next_cursor` from an answer.")
    return int(cursor)


@_tool(
    "Remove a document",
    "Remove one document from the library for good: text, passages, history. Ask the user first.",
    destroys=True,
)
def remove_document(
    library: Library, caller: Caller, request: shapes.RemoveDocumentInput
) -> shapes.RemoveDocumentOutput:
    (gone,) = library.remove([request.document], within=caller.within())
    return shapes.RemoveDocumentOutput(removed=_document(gone))


@_tool(
    "Add a document",
    "Add a text to the library under a name. The same name again makes a new version.",
)
def add_document(
    library: Library, caller: Caller, request: shapes.AddDocumentInput
) -> shapes.AddDocumentOutput:
    name = request.name if "." in request.name else f"{request.name}.md"
    report = library.uploads.receive(
        caller,
        name,
        BytesIO(request.text.encode()),
        Wanted(request.collection, None, request.audience),
    )
    outcome = report.outcomes[0]
    if outcome.error is not None or outcome.document is None:
        raise outcome.error or BadSetting("Nothing was added.")
    document = library.documents.get(outcome.document.id, caller.within())
    return shapes.AddDocumentOutput(fate=outcome.fate.value, document=_document(document))
