"""A filter as SQL over the registry's tables: says exactly what `trivium.store.where` says."""

from __future__ import annotations

from operator import eq, ge, gt, le, lt
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, false, not_, or_, select, true

from trivium.store.sql.tables import documents, fields, interpretations, names
from trivium.store.where import as_number, comparable_text, metadata_name
from trivium.types import EVERYONE, AllOf, AnyOf, Compare, Condition, Exists, Not, Where

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
    clause = and_(documents.c.interpretation > 0, _clause(where.condition))
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


def _clause(condition: Condition) -> ColumnElement[bool]:
    match condition:
        case AllOf(of):
            return and_(true(), *map(_clause, of))
        case AnyOf(of):
            return or_(false(), *map(_clause, of))
        case Not(of):
            return not_(_clause(of))
        case Exists(field):
            if field in _COLUMNS:
                return _COLUMNS[field][0] != ""
            return _held(field, fields.c.text != "")
        case Compare("source", "eq", value):
            return or_(
                documents.c.uri == str(value),
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
            return _held(field, _OPERATORS[op](fields.c.text, comparable_text(value)))


def _called(value: str) -> Select[Any]:
    """The documents that have it as another name."""
    either = or_(names.c.uri == value, names.c.name == comparable_text(value))
    return select(names.c.document).where(either)


def _by_number(value: str) -> ColumnElement[bool]:
    if value.startswith("#") and value[1:].isdecimal():
        number = int(value[1:]) if len(value) < _LONGEST_ID else 0  # which no document has
        return documents.c.id == number
    return false()


def _held(field: str, test: ColumnElement[bool]) -> ColumnElement[bool]:
    name = metadata_name(field)
    return documents.c.id.in_(select(fields.c.document).where(fields.c.name == name, test))
