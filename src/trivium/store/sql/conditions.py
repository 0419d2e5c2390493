"""A filter as SQL over the registry's tables: says exactly what `trivium.store.where` says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import eq, ge, gt, le, lt
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, FromClause, Select, and_, false, func, not_, or_, select, true

from trivium.core.types import EVERYONE, AllOf, AnyOf, Compare, Condition, Exists, Not, Where
from trivium.store.sql.tables import (
    FOLDED_SHEET,
    chunks,
    documents,
    fields,
    interpretations,
    known_terms,
    known_words,
    names,
)
from trivium.store.where import UPLOADED, as_number, comparable_text, metadata_name
from trivium.text.filters import OF_PASSAGES
from trivium.text.known import FILTERS, ONLY_IN, asked_of

_OfPassages: TypeAlias = Callable[[Compare | Exists], ColumnElement[bool]]

_OPERATORS: dict[str, Any] = {"eq": eq, "lt": lt, "le": le, "gt": gt, "ge": ge}
_LONGEST_ID = 19  # characters: what fits into 64 bits, and no database is asked for more
_COLUMNS = {
    "collection": (documents.c.collection,),
    "category": (documents.c.category,),
    "audience": (documents.c.audience,),
    "source": (documents.c.uri,),
    "type": (documents.c.media_type, documents.c.kind),
    "language": (documents.c.language,),
    "added": (documents.c.added_at,),
    "updated": (documents.c.updated_at,),
}


def visible(where: Where) -> ColumnElement[bool]:
    """True for the documents that `where` lets pass; only those with an active interpretation."""
    return _visible(where, _of_documents)


def visible_passages(where: Where) -> ColumnElement[bool]:
    """True for the passages that `where` lets pass, in a query of `chunks` with their documents."""
    return _visible(where, partial(_stands, chunks))


def _visible(where: Where, of_passages: _OfPassages) -> ColumnElement[bool]:
    clause = and_(documents.c.interpretation > 0, _clause(where.condition, of_passages))
    if where.audiences is not None:
        clause = and_(label_held(documents.c.audience, where), clause)
    if where.collections is not None:
        clause = and_(documents.c.collection.in_(sorted(where.collections)), clause)
    return clause


def visible_then(where: Where) -> ColumnElement[bool]:
    """True for the interpretations that `where` lets pass: who asks may see the document today and
    holds the label that the interpretation had."""
    return and_(visible(where), label_held(interpretations.c.audience, where))


def label_held(label: ColumnElement[Any], where: Where) -> ColumnElement[bool]:
    """Whether the caller has this label. An unknown one needs all labels."""
    if where.audiences is None:
        return true()
    return label.in_(sorted(where.audiences | {EVERYONE}))


def _clause(condition: Condition, of_passages: _OfPassages) -> ColumnElement[bool]:
    match condition:
        case AllOf(of):
            return and_(true(), *(_clause(one, of_passages) for one in of))
        case AnyOf(of):
            return or_(false(), *(_clause(one, of_passages) for one in of))
        case Not(of):
            return not_(_clause(of, of_passages))
        case Exists(field) | Compare(field) if field in OF_PASSAGES:
            return of_passages(condition)
        case _:
            return _holds(condition)


def _holds(condition: Compare | Exists) -> ColumnElement[bool]:
    match condition:
        case Exists(field):
            if field in _COLUMNS:
                return _COLUMNS[field][0] != ""
            return _held(field, fields.c.text != "")
        case Compare("source", "eq", value):
            return or_(
                documents.c.uri.in_((str(value), f"{UPLOADED}{value}")),
                documents.c.name == comparable_text(value),
                documents.c.id.in_(_called(str(value))),
                _by_number(str(value)),
            )
        case Compare(field, op, value) if field in _COLUMNS:
            return or_(*(_OPERATORS[op](column, str(value)) for column in _COLUMNS[field]))
        case Compare(field, op, value):
            number = as_number(value) if not isinstance(value, str) else None
            if number is not None:
                return _held(field, _OPERATORS[op](fields.c.number, number))
            held = _held(field, _OPERATORS[op](fields.c.text, comparable_text(value)))
            return or_(held, _known(field, value)) if op == "eq" and field in FILTERS else held


def _known(field: str, value: object) -> ColumnElement[bool]:
    """The document is known by every word of the value, in such fields."""
    wanted, bits = asked_of(field, value)
    found = (
        select(known_words.c.document)
        .join(known_terms, known_terms.c.id == known_words.c.term)
        .where(known_words.c.fields.bitwise_and(bits) != 0)
    )
    held = [documents.c.id.in_(found.where(known_terms.c.word == word)) for word in wanted]
    if held and field in ONLY_IN:
        held.append(documents.c.media_type.in_(ONLY_IN[field]))
    return and_(*held) if held else false()


def _called(value: str) -> Select[Any]:
    """The documents that have it as another name."""
    uris = (value, f"{UPLOADED}{value}")
    either = or_(names.c.uri.in_(uris), names.c.name == comparable_text(value))
    return select(names.c.document).where(either)


def _by_number(value: str) -> ColumnElement[bool]:
    if value.startswith("#") and value[1:].isdecimal():
        number = int(value[1:]) if len(value) < _LONGEST_ID else 0  # which no document has
        return documents.c.id == number
    return false()


def _held(field: str, test: ColumnElement[bool]) -> ColumnElement[bool]:
    name = metadata_name(field)
    return documents.c.id.in_(select(fields.c.document).where(fields.c.name == name, test))


def _of_documents(condition: Compare | Exists) -> ColumnElement[bool]:
    """The document has a passage that stands there."""
    passages, read = chunks.alias("standing"), interpretations.alias("read")
    of = (passages.c.interpretation == read.c.id) & (passages.c.document == read.c.document)
    having = select(passages.c.document).join(read, of)
    return documents.c.id.in_(having.where(read.c.state == "active", _stands(passages, condition)))


def _stands(passages: FromClause, condition: Compare | Exists) -> ColumnElement[bool]:
    """Whether a passage stands in such a sheet, or in such rows. Where a place lacks what is asked
    for, a database answers neither yes nor no: that is no."""
    place = passages.c.place
    sheet = func.coalesce(place[FOLDED_SHEET].as_string(), func.lower(place["sheet"].as_string()))
    ranges = "seconds" if condition.field == "at" else "rows"
    first, last = (place[(ranges, end)].as_float() for end in (0, 1))
    test: ColumnElement[bool]
    match condition:
        case Exists("sheet"):
            test = sheet != ""
        case Exists():
            test = first.is_not(None)
        case Compare("sheet", op, value):
            test = _OPERATORS[op](sheet, comparable_text(value))
        case Compare(_, op, value):
            number = as_number(value)
            if number is None:
                return false()
            if op == "eq":
                test = and_(first <= number, last >= number)
            else:
                test = _OPERATORS[op](first if op in ("lt", "le") else last, number)
    return func.coalesce(test, false())
