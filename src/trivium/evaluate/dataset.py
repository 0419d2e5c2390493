"""Judged sets in BEIR's layout: corpus.jsonl, queries.jsonl and qrels.tsv in one folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.errors import DatasetInvalid
from trivium.ports import SourceItem
from trivium.text.languages import detect_language
from trivium.types import Element, Extraction

CORPUS = "corpus.jsonl"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Queries with at least one judgment, and what was judged. Documents are read when needed."""

    folder: Path
    queries: dict[str, str]  # by id
    judgments: dict[str, dict[str, int]]  # by query, then document: how relevant

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def items(self) -> Iterator[SourceItem]:
        """The corpus as a source: one document each, its title a heading above its text."""
        for line, row in _rows(self.folder / CORPUS):
            try:
                uri, title, text = str(row["_id"]), str(row.get("title") or ""), str(row["text"])
            except KeyError as reason:
                raise DatasetInvalid(f"{CORPUS}, line {line}: no field {reason}.") from reason
            if title.strip() or text.strip():
                yield SourceItem(uri, uri, _extraction(title.strip(), text.strip()), len(text))


def load_dataset(folder: Path, queries: Path | None = None) -> Dataset:
    """`queries`: another file of queries for the same corpus and judgments."""
    if not (folder / CORPUS).is_file():
        raise DatasetInvalid(f"There is no {CORPUS} in {folder}.")
    judgments: dict[str, dict[str, int]] = {}
    for line, (query, document, score) in _judgments(folder):
        try:
            judgments.setdefault(query, {})[document] = int(score)
        except ValueError as reason:
            raise DatasetInvalid(f"The judgment in line {line} is no number: {score}.") from reason
    rows = _rows(queries or folder / "queries.jsonl")
    asked = {str(row.get("_id")): str(row.get("text", "")) for _, row in rows}
    judged = {i: text for i, text in asked.items() if any(judgments.get(i, {}).values())}
    if not judged:
        raise DatasetInvalid(f"None of the queries of {folder} has a judgment.")
    return Dataset(folder, judged, {i: judgments[i] for i in judged})


def _extraction(title: str, text: str) -> Extraction:
    whole = f"{title}\n\n{text}" if title else text
    start = len(whole) - len(text)
    elements = [Element("paragraph", start, len(whole), (title,) if title else (), paragraph=1)]
    if title:
        elements.insert(0, Element("heading", 0, len(title), level=1))
    return Extraction(whole, tuple(elements), title, "text/plain", detect_language(whole))


def _judgments(folder: Path) -> Iterator[tuple[int, list[str]]]:
    places = (folder / "qrels.tsv", folder / "qrels" / "test.tsv")
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise DatasetInvalid(f"There is no qrels.tsv in {folder}.")
    for number, line in enumerate(found.read_text(encoding="utf-8").splitlines(), start=1):
        columns = line.split("\t")
        if number == 1 and not columns[-1].lstrip("-").isdigit():
            continue  # the header
        if len(columns) != 3:
            raise DatasetInvalid(f"{found.name}, line {number}: three columns are needed.")
        yield number, columns


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except (OSError, ValueError) as reason:
        raise DatasetInvalid(f"{path} cannot be read: {reason}.") from reason
