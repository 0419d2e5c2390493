"""Reads a filter as people type it and gives the typed tree that every store understands.

    year>=2020 type:pdf                  both must hold
    type:pdf,docx  year:2019..2021       any of these values; a range, both ends included
    authors:"Le Guin" OR category:rules   either; OR binds less than standing side by side
    -language:de  NOT (a:1 OR b:2)       not
    isbn:*                               the document has a value
    sheet:Budget row:10..20              passages of a table, by where they stand in it
    at:10:00..20:00                      passages of a recording, by when they are said

Fields are those every document has (`BUILT_IN`), those of passages of tables and recordings
(`OF_PASSAGES`), and any of a document's metadata. Raises BadFilter, which names what it did not
understand; knows nothing of which metadata a library holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from trivium.core.errors import BadFilter, BadValue
from trivium.core.types import AllOf, AnyOf, Compare, Condition, Exists, MetaScalar, Not, Operator
from trivium.operations.searching import LONGEST_FILTER
from trivium.text.known import FILTERS, asked_of
from trivium.text.lexicon.dates import dates
from trivium.text.times import seconds_of
from trivium.text.values import check_scalar, check_text

# Fields every document has; any other name is looked up in its metadata. `metadata.NAME` reaches
# a metadata field that bears one of these names.
BUILT_IN = ("collection", "category", "audience", "source", "type", "language", "added", "updated")
DATES = ("added", "updated")
# Where a passage stands in a workbook or a recording. A search finds the passages that have them; a
# list of documents those with such a passage. `row` holds for every row between a passage's first
# and last, and so does `at` for seconds.
OF_PASSAGES = ("sheet", "row", "at")
_AFTER_ANY_TIME = "\uffff"  # sorts behind every time of a day: 2024-05-01T12:00 < 2024-05-01\uffff
_DEEPEST = 50
_FEWER = "Give the documents a label or a metadata field, and filter by that."
_LARGEST_EXACT = 2.0**63
MOST_CONDITIONS = 200  # SQLite takes a tree of 1,000
_HELP = "Write filters like `year>=2020 type:pdf`; put quotes around values with spaces."

_TOKEN = re.compile(
    r"""
    \s*(?:
        (?P<open>\()
      | (?P<close>\))
      | (?P<either>OR(?![^\s()]))
      | (?P<both>AND(?![^\s()]))
      | (?P<no>NOT(?![^\s()])|-(?=[^\s)]))
      | (?P<field>[^\W\d][\w.\-]*)\s*(?P<op>>=|<=|!=|:|=|>|<)\s*(?!=)
        (?P<values>(?:"[^"]*"|[^\s()",]+)(?:,(?:"[^"]*"|[^\s()",]+))*)
    )
    """,
    re.VERBOSE,
)
# What people type into a query: `author:Smith`. Only these names, so that other words with a colon
# in them are still searched.
_TYPED = re.compile(
    r'(?<!\S)(-?)(?:author|from|to|tag|year|channel|slackAuthor):("[^"]+"|[^\s"]+)(?!\S)'
)
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])([T ][\d:.+Z-]*)?)?)?")
_VALUE = re.compile(r'"([^"]*)"|([^\s()",]+)')
_MORE_OPERATOR = re.compile(r"(?P<op>[<>]=?|=)(?P<number>-?\d)?")
_OPERATORS: dict[str, Operator] = {">": "gt", ">=": "ge", "<": "lt", "<=": "le"}


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    quoted: bool


def typed_filters(query: str) -> tuple[str, str]:
    """The words of a query and the filters that people typed into it. Without other words, the
    values are the words."""
    typed = list(_TYPED.finditer(query))
    rest = " ".join(_TYPED.sub(" ", query).split()) if typed else query
    return rest or " ".join(m[2] for m in typed if not m[1]), " ".join(m[0] for m in typed)


def parse_filter(text: str) -> Condition:
    """The condition that `text` says. Nothing but blanks passes everything."""
    if len(text) > LONGEST_FILTER:
        raise BadFilter(
            f"The filter has {len(text):,} characters; the limit is {LONGEST_FILTER:,}.", fix=_FEWER
        )
    tokens = list(_tokens(text))
    condition, rest = _either(tokens, 0)
    if rest:
        raise _not_understood(rest[0])
    return condition


def check_filter(condition: Condition) -> None:
    """Raises BadFilter if a condition is too large for a database, or compares with a value that no
    document can have."""
    for leaf in _leaves(condition):
        try:
            check_text("field", leaf.field)
            if isinstance(leaf, Compare):
                check_scalar(leaf.field, leaf.value)
        except BadValue as reason:
            raise BadFilter(f"Couldn't use the filter: {reason.message}", fix=reason.fix) from None
    if sum(map(_size, _leaves(condition))) > MOST_CONDITIONS:
        raise BadFilter(
            f"The filter has more than {MOST_CONDITIONS} conditions or names.", fix=_FEWER
        )


def _size(leaf: Compare | Exists) -> int:
    """A store looks for each word of a known field by itself."""
    if isinstance(leaf, Compare) and leaf.field in FILTERS:
        return max(1, len(asked_of(leaf.field, leaf.value)[0]))
    return 1


def _leaves(condition: Condition) -> Iterator[Compare | Exists]:
    match condition:
        case AllOf(of) | AnyOf(of):
            for part in of:
                yield from _leaves(part)
        case Not(of):
            yield from _leaves(of)
        case Compare() | Exists():
            yield condition


def _tokens(text: str) -> Iterator[re.Match[str]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadFilter(f"Couldn't understand the filter at `{text[at:].strip()}`.", fix=_HELP)
        yield match
        at = match.end()


def _either(tokens: list[re.Match[str]], depth: int) -> tuple[Condition, list[re.Match[str]]]:
    condition, tokens = _all(tokens, depth)
    choices = [condition]
    while tokens and tokens[0]["either"]:
        if condition == AllOf() or len(tokens) == 1:
            raise BadFilter("`OR` needs a condition on both sides.", fix=_HELP)
        condition, tokens = _all(tokens[1:], depth)
        choices.append(condition)
    return (choices[0] if len(choices) == 1 else AnyOf(tuple(choices))), tokens


def _all(tokens: list[re.Match[str]], depth: int) -> tuple[Condition, list[re.Match[str]]]:
    parts: list[Condition] = []
    while tokens and not (tokens[0]["either"] or tokens[0]["close"]):
        if tokens[0]["both"]:
            if not parts or len(tokens) == 1:
                raise BadFilter("`AND` needs a condition on both sides.", fix=_HELP)
            tokens = tokens[1:]
        part, tokens = _condition(tokens, depth)
        parts.append(part)
    return (parts[0] if len(parts) == 1 else AllOf(tuple(parts))), tokens


def _condition(tokens: list[re.Match[str]], depth: int) -> tuple[Condition, list[re.Match[str]]]:
    if depth > _DEEPEST:
        raise BadFilter("The filter is nested too deeply.", fix=_HELP)
    first, rest = tokens[0], tokens[1:]
    if first["no"]:
        if not rest:
            raise BadFilter("`NOT` needs a condition after it.", fix=_HELP)
        condition, rest = _condition(rest, depth + 1)
        return Not(condition), rest
    if first["open"]:
        condition, rest = _either(rest, depth + 1)
        if not rest or not rest[0]["close"]:
            raise BadFilter("A parenthesis isn't closed.", fix=_HELP)
        if condition == AllOf():
            raise BadFilter("Two parentheses have nothing between them.", fix=_HELP)
        return condition, rest[1:]
    if first["field"]:
        return _comparison(first), rest
    raise _not_understood(first)


def _comparison(token: re.Match[str]) -> Condition:
    field, op = token["field"], token["op"]
    values = [
        _Value(m[1] if m[1] is not None else m[2], m[1] is not None)
        for m in _VALUE.finditer(token["values"])
    ]
    _check_operator(field, op, values[0])
    if op in _OPERATORS:
        if len(values) > 1:
            raise BadFilter(f"`{field}{op}` takes one value.", fix=_HELP)
        return _ordered(field, _OPERATORS[op], values[0])
    choices = tuple(_equal(field, value) for value in values)
    condition = choices[0] if len(choices) == 1 else AnyOf(choices)
    return Not(condition) if op == "!=" else condition


def _check_operator(field: str, op: str, value: _Value) -> None:
    """Refuse `year>>3`, `year=>3` and `year:>3`: as values, `>3` and the like find nothing."""
    more = _MORE_OPERATOR.match(value.text)
    if value.quoted or more is None or not (op in _OPERATORS or more["number"]):
        return
    meant = next((operator for operator in (op, more["op"]) if operator in _OPERATORS), ">")
    rest = value.text[more.end("op") :]
    raise BadFilter(
        f"`{op}{more['op']}` isn't an operator.",
        fix=f"Write `{field}{meant}{rest}`, or put quotes around the value.",
    )


def _equal(field: str, value: _Value) -> Condition:
    if not value.quoted:
        if value.text == "*":
            return Exists(field)
        first, dots, last = value.text.partition("..")
        if dots and (first or last):
            ends: list[tuple[Operator, str]] = [("ge", first), ("le", last)]
            bounds = [_ordered(field, op, _Value(end, False)) for op, end in ends if end]
            return AllOf(tuple(bounds))
    if field in DATES:  # a day holds all its hours, a year all its days
        return AllOf((_ordered(field, "ge", value), _ordered(field, "le", value)))
    return Compare(field, "eq", _second(value.text) if field == "at" else value.text)


def _second(text: str) -> float:
    seconds = seconds_of(text)
    if seconds is None:
        raise BadFilter(f"`{text}` isn't a time.", fix="Write 12:41, 1:12:41 or seconds.")
    return seconds


def _ordered(field: str, op: Operator, value: _Value) -> Compare:
    if field == "sheet" or (field in BUILT_IN and field not in DATES):
        raise BadFilter(f"You can't compare `{field}` with < or >.", fix=f"Write `{field}:VALUE`.")
    if field == "at":
        return Compare(field, op, _second(value.text))
    if field in DATES:
        day = value.text if _DATE.fullmatch(value.text) else _written_date(value.text)
        if not day:
            raise BadFilter(
                f"`{value.text}` isn't a date.",
                fix='Write 2026, 2026-11, 2026-11-15 or "15 November 2026".',
            )
        return Compare(field, op, day + (_AFTER_ANY_TIME if op in ("le", "gt") else ""))
    return Compare(field, op, value.text if value.quoted else _number_or_text(value.text))


def _written_date(text: str) -> str:
    """`5 March 2024`, `März 2024` or `5.3.2024` as 2024-03-05; empty if it's no whole date."""
    for date in dates(text, None):
        if date.text == text.strip() and date.year:
            parts = [f"{date.year:04}", *(f"{n:02}" for n in (date.month, date.day) if n)]
            return "-".join(parts)
    return ""


def _number_or_text(text: str) -> MetaScalar:
    """Numbers are compared as numbers: 9 is less than 10. Raises BadFilter."""
    try:
        number = float(text)
    except ValueError:
        return text
    if "_" in text:
        return text
    if not isfinite(number):
        if any(letter.isdecimal() for letter in text):  # the words `inf` and `nan` are text
            raise BadFilter(f"The number `{text[:20]}…` is too large.", fix="Use a smaller number.")
        return text
    # A database compares whole numbers of 64 bits exactly, and larger ones as floating point.
    exact = text.strip("+-").isdecimal() and abs(number) < _LARGEST_EXACT
    return int(text) if exact else number


def _not_understood(token: re.Match[str]) -> BadFilter:
    return BadFilter(f"Couldn't understand the filter at `{token[0].strip()}`.", fix=_HELP)


def fields_of(condition: Condition) -> frozenset[str]:
    """Every field that a condition looks at."""
    return frozenset(leaf.field for leaf in _leaves(condition))


def looks_at_passages(condition: Condition) -> bool:
    return any(leaf.field in OF_PASSAGES for leaf in _leaves(condition))
