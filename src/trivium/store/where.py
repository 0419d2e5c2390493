"""What a filter means, in plain Python: every store's own filter must give the same result. Knows
nothing of SQL; `trivium.store.sql.statements` is the same in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from operator import eq, ge, gt, le, lt
from posixpath import basename
from typing import Any, TypeAlias

from trivium.core.types import (
    EVERYONE,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Document,
    Exists,
    MetaScalar,
    MetaValue,
    Not,
    Place,
    Where,
)
from trivium.text.filters import BUILT_IN, OF_PASSAGES
from trivium.text.known import is_asked
from trivium.text.normalise import fold

_METADATA = "metadata."
UPLOADED = "upload:"  # begins the uri of a file that the owner sent: people know it without

Places: TypeAlias = Callable[[], Iterable[Place]]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {"eq": eq, "lt": lt, "le": le, "gt": gt, "ge": ge}


def matches(document: Document, where: Where, places: Places = tuple) -> bool:
    """Whether a caller may see this document and asks for it. `places`: of the passages that are
    meant, one of them or all that the document has."""
    allowed = holds_label(document.audience, where)
    inside = where.collections is None or document.collection in where.collections
    return allowed and inside and _passes(document, where.condition, places)


def holds_label(label: str | None, where: Where) -> bool:
    """Whether the caller has a label; None (unknown) needs all labels."""
    return where.audiences is None or label in (where.audiences | {EVERYONE})


def holds(audiences: frozenset[str] | None, wanted: frozenset[str] | None) -> bool:
    """Whether a caller holds every label of another; None holds all, and only None holds None."""
    if audiences is None:
        return True
    return wanted is not None and wanted <= audiences | {EVERYONE}


def kind_of(media_type: str) -> str:
    """The short name of a media type, as people type it: text/markdown → markdown."""
    kind = media_type.rpartition("/")[2].removeprefix("x-")
    return "text" if kind == "plain" else kind


def name_of(uri: str) -> str:
    """The last part of a uri: a file's name."""
    return basename(uri.rstrip("/")) or uri


def metadata_name(field: str) -> str:
    return field.removeprefix(_METADATA)


def texts_and_numbers(value: MetaValue) -> list[tuple[str, float | None]]:
    """Each value of a metadata field as folded text and, if it is one, as a number."""
    values = value if isinstance(value, tuple) else (value,)
    return [(comparable_text(v), as_number(v)) for v in values]


def comparable_text(value: MetaScalar) -> str:
    return fold(str(value)).strip()


def _passes(document: Document, condition: Condition, places: Places) -> bool:
    match condition:
        case AllOf(of):
            return all(_passes(document, part, places) for part in of)
        case AnyOf(of):
            return any(_passes(document, part, places) for part in of)
        case Not(of):
            return not _passes(document, of, places)
        case Exists(field) | Compare(field) if field in OF_PASSAGES:
            return any(_stands(place, condition) for place in places())
        case _:
            return _holds(document, condition)


def _holds(document: Document, condition: Compare | Exists) -> bool:
    match condition:
        case Exists(field) if field in BUILT_IN:
            return _labels(document, field)[0] != ""
        case Exists(field):
            return any(text for text, _ in _values(document, field))
        case Compare("source", "eq", value):
            uris = (document.uri, *document.names)
            own_name = comparable_text(value) in {comparable_text(name_of(uri)) for uri in uris}
            return own_name or value in (*uris, f"#{document.id}") or f"{UPLOADED}{value}" in uris
        case Compare(field, op, value) if field in BUILT_IN:
            return any(_ORDER[op](label, str(value)) for label in _labels(document, field))
        case Compare(field, op, value):
            number = as_number(value) if not isinstance(value, str) else None
            if number is not None:  # a number is compared with numbers only
                numbers = [n for _, n in _values(document, field) if n is not None]
                return any(_ORDER[op](n, number) for n in numbers)
            text = comparable_text(value)
            if any(_ORDER[op](t, text) for t, _ in _values(document, field)):
                return True
            return op == "eq" and is_asked(document, field, value)


def _stands(place: Place, condition: Compare | Exists) -> bool:
    """Whether a passage stands in such a sheet, or in such rows."""
    match condition:
        case Exists("sheet"):
            return bool(place.sheet)
        case Exists(field):
            return _range(place, field) is not None
        case Compare("sheet", op, value):
            sheet = comparable_text(place.sheet)
            return sheet != "" and _ORDER[op](sheet, comparable_text(value))
        case Compare(field, op, value):
            number, ends = as_number(value), _range(place, field)
            if ends is None or number is None:
                return False
            first, last = ends
            if op == "eq":
                return first <= number <= last
            return _ORDER[op](first if op in ("lt", "le") else last, number)


def _range(place: Place, field: str) -> tuple[float, float] | None:
    return place.seconds if field == "at" else place.rows


def _labels(document: Document, field: str) -> tuple[str, ...]:
    """A built-in field: a label, compared to the letter."""
    match field:
        case "source":
            return (document.uri,)
        case "type":
            return (document.media_type, kind_of(document.media_type))
        case "added" | "updated":
            return (getattr(document, f"{field}_at"),)
        case _:
            return (str(getattr(document, field)),)


def _values(document: Document, field: str) -> list[tuple[str, float | None]]:
    value = document.metadata.get(metadata_name(field))
    return [] if value is None else texts_and_numbers(value)


def as_number(value: MetaScalar) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
