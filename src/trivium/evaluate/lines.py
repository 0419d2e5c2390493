"""Reads the text files of judged sets line by line, plain or packed with gzip. Whatever is wrong
with one is said with its name and line. Knows no layout."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trivium.core.errors import DatasetInvalid

_BOM = "\ufeff"


def lines(path: Path, *, any_encoding: bool = False) -> Iterator[tuple[int, str]]:
    """Every line that says something, with its number from 1. `any_encoding`: lines that are not
    UTF-8 are read as Latin-1, which the oldest collections are written in."""
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = _decoded(raw, any_encoding).rstrip("\r\n")
                if number == 1:
                    line = line.removeprefix(_BOM)
                if line.strip():
                    yield number, line
    except UnicodeDecodeError as reason:
        raise broken(path, number, "it isn't UTF-8") from reason
    except (OSError, EOFError) as reason:
        raise DatasetInvalid(f"Couldn't read {path}: {reason}.") from reason


def _decoded(raw: bytes, any_encoding: bool) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        if not any_encoding:
            raise
        return raw.decode("latin-1")


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every line of JSON, which must be an object."""
    for number, line in lines(path):
        try:
            row = json.loads(line)
        except ValueError as reason:
            raise broken(path, number, f"it isn't JSON: {reason}") from reason
        if not isinstance(row, dict):
            raise broken(path, number, "expected an object with fields")
        yield number, row


def field(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these fields that the row has, as text."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value).strip()
    return None


def broken(path: Path, line: int, problem: str) -> DatasetInvalid:
    return DatasetInvalid(f"{path.name}, line {line}: {problem}.")
