"""The tools that answer in depth: what a language model is told of them, and how its arguments are
read. What each does within a library is `library.toolbox`'s. Knows nothing of endpoints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from trivium.core.errors import BadValue
from trivium.core.results import Result
from trivium.core.types import Mode, StoredChunk
from trivium.ports import ToolOffer
from trivium.text.normalise import clean

MOST_QUERIES = 4
MOST_FOUND = 10  # passages of one search
MOST_AROUND = 3
LONGEST_QUERY = 500  # characters
MOST_NUMBER = 2**53  # of a document or an index
_DOCUMENT = {"type": "integer", "description": "The document's id, as a passage names it."}
_INDEX = {"type": "integer", "description": "The passage's index in its document."}


def _offer(name: str, description: str, needed: Sequence[str], **properties: object) -> ToolOffer:
    schema = {"type": "object", "properties": properties, "required": list(needed)}
    return ToolOffer(name, description, {**schema, "additionalProperties": False})


OFFERS: tuple[ToolOffer, ...] = (
    _offer(
        "search",
        "Search the user's documents by meaning, words and spelling. Several queries find what any"
        " of them finds. Search again with other words if the answer isn't among the passages.",
        ["queries"],
        queries={"type": "array", "items": {"type": "string"}, "maxItems": MOST_QUERIES},
        mode={"type": "string", "enum": [mode.value for mode in Mode]},
        collection={"type": "string", "description": "Only in this collection."},
        where={"type": "string", "description": "Filter: `year>=2020 type:pdf author:Smith`."},
        as_of={"type": "string", "description": "Documents as they were on this day: 2024-03-31."},
    ),
    _offer(
        "get_passage",
        "Read a passage in full, with the passages before and after it.",
        ["document", "index"],
        document=_DOCUMENT,
        index=_INDEX,
        around={"type": "integer", "minimum": 0, "maximum": MOST_AROUND},
    ),
    _offer(
        "get_outline",
        "The headings of a document, each with the index of its first passage.",
        ["document"],
        document=_DOCUMENT,
    ),
    _offer(
        "get_table",
        "The whole table that a passage belongs to, with the names of its columns.",
        ["document", "index"],
        document=_DOCUMENT,
        index=_INDEX,
    ),
    _offer("list_collections", "The collections, with how much each holds.", []),
    _offer(
        "similar",
        "Documents like one; with an index, passages like that one.",
        ["document"],
        document=_DOCUMENT,
        index=_INDEX,
    ),
    _offer(
        "history",
        "The versions of a document that are kept, with dates. `search` with as_of reads them.",
        ["document"],
        document=_DOCUMENT,
    ),
    _offer(
        "calculate",
        "Arithmetic on numbers that you read in passages: `(47.5 - 44.8) / 44.8 * 100`. Never"
        " calculate in your head.",
        ["expression"],
        expression={"type": "string"},
    ),
)
BY_NAME = {offer.name: offer for offer in OFFERS}
_KINDS = {"string": str, "integer": int, "array": list}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: our own text, names and headings of documents, passages, and a line for
    people."""

    line: str
    text: str = ""
    results: tuple[Result, ...] = ()
    chunks: tuple[StoredChunk, ...] = ()
    listing: str = ""


class Toolbox(Protocol):
    """The tools, within what one caller may see. Each may raise TriviumError."""

    def search(
        self, queries: Sequence[str], *, mode: str, collection: str, where: str, as_of: str
    ) -> ToolResult: ...

    def get_passage(self, document: int, index: int, *, around: int) -> ToolResult: ...

    def get_outline(self, document: int) -> ToolResult: ...

    def get_table(self, document: int, index: int) -> ToolResult: ...

    def list_collections(self) -> ToolResult: ...

    def similar(self, document: int, index: int | None) -> ToolResult: ...

    def history(self, document: int) -> ToolResult: ...


def arguments(name: str, written: str) -> dict[str, Any]:
    """The model's arguments, checked against the tool's schema. Raises BadValue, which says what to
    write instead."""
    if name not in BY_NAME:
        raise BadValue(f"There is no tool {name[:50]!r}.", fix=f"There are: {', '.join(BY_NAME)}.")
    try:
        inputs = json.loads(written or "{}")
    except (ValueError, RecursionError) as reason:
        raise BadValue(
            f"The arguments of {name} aren't valid JSON.", fix="Write one JSON object."
        ) from reason
    inputs = _cleaned(inputs)
    if not isinstance(inputs, dict):
        raise BadValue(f"The arguments of {name} aren't an object.", fix="Write one JSON object.")
    schema = BY_NAME[name].parameters
    properties = cast(Mapping[str, Mapping[str, Any]], schema["properties"])
    needed = cast(Sequence[str], schema["required"])
    for missing in (key for key in needed if key not in inputs):
        raise BadValue(f"{name} needs `{missing}`.", fix=f"Give {', '.join(properties)}.")
    for key, value in inputs.items():
        if key not in properties:
            raise BadValue(f"{name} takes no `{key}`.", fix=f"Give {', '.join(properties)}.")
        kind = properties[key]["type"]
        if isinstance(value, bool) or not isinstance(value, _KINDS[kind]):
            raise BadValue(
                f"`{key}` of {name} can't be {str(value)[:50]!r}.",
                fix=f"Give {'an' if kind[0] in 'aio' else 'a'} {kind}.",
            )
        if "enum" in properties[key] and value not in properties[key]["enum"]:
            choices = ", ".join(properties[key]["enum"])
            raise BadValue(
                f"`{key}` of {name} can't be {str(value)[:50]!r}.", fix=f"Choose one of {choices}."
            )
    return inputs


def _cleaned(value: Any) -> Any:
    """Without lone surrogates and control characters, which neither a store nor a model takes, and
    with numbers that a database can hold."""
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {clean(str(name)): _cleaned(item) for name, item in value.items()}
        case int():
            return max(-MOST_NUMBER, min(value, MOST_NUMBER))
    return value


def use(box: Toolbox, name: str, inputs: Mapping[str, Any]) -> ToolResult:
    """Everything except `calculate`, which needs what was read."""
    match name:
        case "search":
            queries = [str(query)[:LONGEST_QUERY] for query in inputs["queries"][:MOST_QUERIES]]
            queries = [query for query in queries if query.strip()]
            if not queries:
                raise BadValue("`queries` of search is empty.", fix="Give one query or more.")
            return box.search(
                queries,
                mode=inputs.get("mode", Mode.HYBRID),
                collection=inputs.get("collection", ""),
                where=inputs.get("where", ""),
                as_of=inputs.get("as_of", ""),
            )
        case "get_passage":
            around = max(0, min(inputs.get("around", 1), MOST_AROUND))
            return box.get_passage(inputs["document"], inputs["index"], around=around)
        case "get_outline":
            return box.get_outline(inputs["document"])
        case "get_table":
            return box.get_table(inputs["document"], inputs["index"])
        case "list_collections":
            return box.list_collections()
        case "similar":
            return box.similar(inputs["document"], inputs.get("index"))
        case "history":
            return box.history(inputs["document"])
    raise AssertionError(name)
