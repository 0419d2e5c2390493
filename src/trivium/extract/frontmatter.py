"""Reads the YAML block at the top of a Markdown file into metadata. Never fails a document.

Knows nothing of Markdown itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

import yaml

from trivium.core.types import Metadata, MetaScalar, MetaValue
from trivium.text.values import LONGEST_INTEGER

# Beyond these a front matter is hostile, not helpful.
MAX_CHARS = 64_000
MAX_FIELDS = 200
MAX_VALUES = 200  # of one field

_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIRST_FIELD = re.compile(r"\s*[\w.-]+[ \t]*:(?:\s|$)")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


class _Loader(yaml.SafeLoader):
    """Reads a number of too many digits as the text it is: one field must not cost the others."""

    def whole(self, node: yaml.ScalarNode) -> int | str:
        try:
            number = self.construct_yaml_int(node)
        except ValueError:  # of more digits than Python reads
            return str(node.value)
        return number if number.bit_length() <= LONGEST_INTEGER else str(node.value)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.whole)


def split_front_matter(text: str) -> tuple[str, str]:
    """The block between the two rules at the very top, and the rest; `("", text)` without one."""
    block = _BLOCK.match(text, 0, MAX_CHARS)
    if block is None or not _FIRST_FIELD.match(block[1]):
        return "", text
    return block[1], text[block.end() :]


def parse_front_matter(block: str) -> Metadata | None:
    """Its fields as scalars or tuples of them, nested names joined by dots; None if it is no YAML
    mapping."""
    if "<<" in block and "*" in block:
        return None  # merged aliases: thirty lines of them make PyYAML copy a billion values
    try:
        loaded = yaml.load(block, _Loader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):  # also impossible dates
        return None
    if not isinstance(loaded, dict):
        return None
    fields: dict[str, MetaValue] = {}
    for name, value in _flatten(loaded, "", set()):
        fields.setdefault(name, value)
        if len(fields) == MAX_FIELDS:
            break
    return _canonical(fields, loaded)


def _flatten(
    mapping: dict[object, object], prefix: str, seen: set[int]
) -> Iterator[tuple[str, MetaValue]]:
    """Fields by dotted name. A mapping that aliases name twice is taken once: it may hold itself,
    or stand for a billion."""
    seen.add(id(mapping))
    for key, value in mapping.items():
        name = f"{prefix}{str(key).strip().lower()}"
        if isinstance(value, dict):
            if id(value) not in seen:
                yield from _flatten(value, f"{name}.", seen)
        elif isinstance(value, list):
            values = tuple(v for v in map(_scalar, value[:MAX_VALUES]) if v is not None)
            if values:
                yield name, values
        elif (scalar := _scalar(value)) is not None:
            yield name, scalar


def _scalar(value: object) -> MetaScalar | None:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str):
        return value.strip() or None
    return value if isinstance(value, bool | int | float) else None


def _canonical(fields: dict[str, MetaValue], loaded: dict[object, object]) -> Metadata:
    """The fields under the names that filters and screens know: authors, tags, year."""
    author = fields.pop("author", None)
    authors = fields.pop("authors", None)
    by_line = authors if authors is not None else author
    if by_line is None:
        by_line = _names(loaded.get("authors") or loaded.get("author"))
    if names := _list(by_line, r";|\n|\s+(?:and|und|et|&)\s+"):
        fields["authors"] = names
    if tags := _list(fields.pop("tags", None), r"[,;\n]"):
        fields["tags"] = tags
    if (year := _YEAR.search(str(fields.get("year", fields.get("date", ""))))) is not None:
        fields["year"] = int(year[1])
    return fields


def _names(authors: object) -> tuple[MetaScalar, ...]:
    """Authors written as mappings, the way Quarto and Pandoc have them: only their names."""
    people = authors if isinstance(authors, list) else [authors]
    names = (_scalar(person.get("name")) for person in people if isinstance(person, dict))
    return tuple(name for name in names if name is not None)[:MAX_VALUES]


def _list(value: MetaValue | None, separators: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, tuple):
        return tuple(str(part) for part in value)
    return tuple(part for part in (p.strip() for p in re.split(separators, str(value))) if part)
