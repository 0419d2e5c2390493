"""Which values a library can keep: every text encodable, every number finite, everything bounded.

One place for all doors. What a person asks for is checked and refused with a sentence that names
the value (`check_*`); what a document says about itself is repaired, or dropped with a remark
(`clean_*`): a document never fails because of it. Knows nothing of where values come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from math import isfinite

from trivium.core.errors import BadValue
from trivium.core.types import Labels, Metadata, MetaScalar, MetaValue

# A 64-bit number is what databases call an integer; a longer one is a name made of digits.
LARGEST = 2**63 - 1
MOST_FIELDS = 200  # of one document
MOST_VALUES = 5_000  # of one field: papers of large collaborations have 3,000 authors
LONGEST_NAME = 200  # characters of a field's name
LONGEST_TEXT = 64_000  # characters of one value
MOST_CHARACTERS = 1_000_000  # of all values together
LONGEST_INTEGER = 13_000  # bits; Python writes no number of more than 4,300 digits

# No database keeps NUL in a text, and no encoding has half of a surrogate pair.
_PIECE = re.compile("\x00|[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


# --- texts ---------------------------------------------------------------------------------------


def is_clean(text: str) -> bool:
    """Whether every store can keep this text."""
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()  # looks for lone surrogates faster than a pattern does
    except UnicodeEncodeError:
        return False
    return True


def clean_text(text: str) -> str:
    """The same text as any store can keep it: halves of surrogate pairs joined, lone ones replaced,
    NUL left out."""
    return text if is_clean(text) else _PIECE.sub(lambda match: _usable(match[0]), text)


def shortened_at(text: str) -> list[int]:
    """The offsets of characters that `clean_text` removes."""
    match = _PIECE.finditer(text)
    return [piece.end() - 1 for piece in match if len(_usable(piece[0])) < len(piece[0])]


def _usable(piece: str) -> str:
    if piece == "\x00":
        return ""
    if len(piece) == 2:
        return piece.encode("utf-16", "surrogatepass").decode("utf-16")
    return "\N{REPLACEMENT CHARACTER}"


def check_text(name: str, text: str | None, most: int = LONGEST_TEXT) -> None:
    """Raises BadValue if a store can't keep a text that a person gives."""
    if text is None:
        return
    if not isinstance(text, str):
        raise BadValue(f"`{name}` can't be {_shown(text)}.", fix="Give a text.")
    if not is_clean(text):
        raise BadValue(
            f"`{name}` has a character that isn't text: {_shown(text)}.",
            fix="Leave out NUL characters and halves of surrogate pairs.",
        )
    if len(text) > most:
        raise BadValue(f"`{name}` has {len(text):,} characters; the limit is {most:,}.")


def check_scalar(name: str, value: object) -> None:
    """Raises BadValue where a store cannot keep or compare a value that a person gives."""
    match value:
        case str():
            check_text(name, value)
        case bool():
            pass
        case int():
            if abs(value) > LARGEST:
                raise BadValue(
                    f"The number `{name}` has more than 64 bits.", fix="Give it as text."
                )
        case float():
            if not isfinite(value):
                raise BadValue(f"`{name}` can't be {value}.", fix="Give a finite number, or text.")
        case _:
            raise BadValue(
                f"`{name}` can't be {_shown(value)}.",
                fix="Give a text, a number, true or false, or a list of those.",
            )


# --- metadata ------------------------------------------------------------------------------------


def check_metadata(metadata: Mapping[str, object]) -> Metadata:
    """The metadata that a person gives, lists as tuples. Raises BadValue, which names the field."""
    if len(metadata) > MOST_FIELDS:
        raise BadValue(f"The metadata has {len(metadata)} fields; the limit is {MOST_FIELDS}.")
    checked: dict[str, MetaValue] = {}
    characters = 0
    for name, value in metadata.items():
        check_text("metadata", name, LONGEST_NAME)
        called = f"metadata.{name}"
        several = value if isinstance(value, list | tuple) else (value,)
        if len(several) > MOST_VALUES:
            raise BadValue(f"`{called}` has {len(several):,} values; the limit is {MOST_VALUES:,}.")
        for scalar in several:
            check_scalar(called, scalar)
            characters += len(scalar) if isinstance(scalar, str) else 0
        checked[name] = tuple(value) if isinstance(value, list) else value  # type: ignore[assignment]
    if characters > MOST_CHARACTERS:
        raise BadValue(
            f"The metadata has {characters:,} characters; the limit is {MOST_CHARACTERS:,}."
        )
    return checked


def check_labels(labels: Labels) -> Labels:
    """What a person says about documents when adding them. Raises BadValue."""
    check_text("collection", labels.collection, LONGEST_TEXT)
    check_text("category", labels.category, LONGEST_TEXT)
    check_text("audience", labels.audience, LONGEST_TEXT)
    return replace(labels, metadata=check_metadata(labels.metadata))


def clean_metadata(metadata: Mapping[str, object]) -> tuple[Metadata, tuple[str, ...]]:
    """What a document says about itself, as a library can keep it, and the names of the fields of
    which something could not be kept."""
    cleaned: dict[str, MetaValue] = {}
    lost: list[str] = []
    room = MOST_CHARACTERS
    for raw_name, value in metadata.items():
        name = clean_text(str(raw_name))[:LONGEST_NAME]
        usable, is_whole = _clean_value(value)
        room -= _length(usable)
        if usable is None or room < 0 or len(cleaned) == MOST_FIELDS:
            lost.append(name)
            continue
        cleaned[name] = usable
        if not is_whole:
            lost.append(name)
    return cleaned, tuple(lost)


def _clean_value(value: object) -> tuple[MetaValue | None, bool]:
    """None: nothing of it can be kept. And whether all of it is."""
    if not isinstance(value, list | tuple):
        scalar = _clean_scalar(value)
        is_whole = not isinstance(value, str) or len(value) <= LONGEST_TEXT
        return scalar, scalar is not None and is_whole
    scalars = [_clean_scalar(item) for item in islice(value, MOST_VALUES)]
    cleaned = tuple(scalar for scalar in scalars if scalar is not None)
    cut = any(isinstance(item, str) and len(item) > LONGEST_TEXT for item in value)
    return cleaned if cleaned or not value else None, len(cleaned) == len(value) and not cut


def _clean_scalar(value: object) -> MetaScalar | None:
    match value:
        case str():
            return clean_text(value)[:LONGEST_TEXT]
        case bool():
            return value
        case int():
            if abs(value) <= LARGEST:
                return value
            return str(value) if value.bit_length() <= LONGEST_INTEGER else None
        case float():
            return value if isfinite(value) else None
        case _:
            return None


def _length(value: MetaValue | None) -> int:
    several: Iterable[object] = value if isinstance(value, tuple) else (value,)
    return sum(len(item) for item in several if isinstance(item, str))


def _shown(value: object) -> str:
    """A value in a sentence: short, and of characters that can be printed."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return "a number of more than 64 bits"
    try:
        text = ascii(value) if isinstance(value, str) else type(value).__name__
    except Exception:  # whatever somebody's own type does
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
