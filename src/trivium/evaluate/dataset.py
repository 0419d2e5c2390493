"""Judged sets: queries, what was judged, and the documents, found in a folder by their names.

    BEIR    corpus.jsonl, queries.jsonl, qrels.tsv or qrels/test.tsv
    TREC    a corpus file or a folder of them, topics, qrels in four columns

A set without a corpus is judged against a library that exists: that is what `trivium judge` writes.
META.json may say that the queries are synthetic. Knows where things are; how they are written,
`corpus` and `topics` know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.core.errors import DatasetInvalid
from trivium.evaluate.corpus import Corpus
from trivium.evaluate.topics import read_judgments, read_queries
from trivium.ports import SourceItem

META = "META.json"
QUERIES = "queries.jsonl"
QRELS = "qrels.tsv"
# By name, the likeliest first; a star stands for anything. The files of a folder with such a
# name are one corpus.
_CORPORA = ("corpus.jsonl", "corpus.*", "collection.*", "documents.*", "docs.*", "*.trectext*")
_FOLDERS = ("corpus", "collection", "documents", "docs")
_QUERIES = (QUERIES, "queries.tsv", "queries.*", "topics", "topics.*", "topics*")
_QRELS = (QRELS, "qrels/test.tsv", "qrels", "qrels.*", "qrels*", "*.qrels", "*.qrels.*")


@dataclass(frozen=True, slots=True)
class Files:
    """Paths that a person gives for the parts of a set; None: found in the folder by name."""

    folder: Path | None = None
    queries: Path | None = None
    qrels: Path | None = None
    corpus: Path | None = None
    part: str = "title"  # of a TREC topic


@dataclass(frozen=True, slots=True)
class Dataset:
    """Queries with at least one relevant document, and their judgments."""

    name: str
    queries: dict[str, str]  # by id
    judgments: dict[str, dict[str, int]]  # by query, then document: how relevant
    corpus: Corpus | None = None  # None: the documents of a library
    synthetic: bool = False  # no person asked or judged any of it

    def items(self) -> Iterator[SourceItem]:
        """The corpus as a source of documents."""
        return self.corpus.items() if self.corpus else iter(())

    def among(self, names: dict[str, str]) -> Dataset:
        """With documents called as in a library; those it does not know keep their names."""
        renamed = {
            query: {names.get(document, document): score for document, score in judged.items()}
            for query, judged in self.judgments.items()
        }
        return replace(self, judgments=renamed)


def load_dataset(files: Files | Path, *, own_library: bool = False) -> Dataset:
    """`own_library`: without a corpus, the judgments are of the caller's library."""
    files = files if isinstance(files, Files) else Files(files)
    folder = files.folder
    if folder is not None and not folder.is_dir():
        raise DatasetInvalid(f"There is no folder {folder}.")
    meta = _meta(folder)
    corpus = _corpus(files)
    if corpus is None and not own_library and meta.get("judged") != "library":
        where = f" in {folder}" if folder else ""
        raise DatasetInvalid(
            f"No corpus{where}.",
            fix="Name one with --corpus, or a library of yours with --library.",
            on_page="Start a new set under another name.",
        )
    queries = read_queries(_path_of(files.queries, folder, _QUERIES, "queries"), files.part)
    judgments = read_judgments(_path_of(files.qrels, folder, _QRELS, "qrels"))
    judged = {
        query: text
        for query, text in queries.items()
        if any(score > 0 for score in judgments.get(query, {}).values())
    }
    if not judged:
        raise DatasetInvalid(
            "None of the queries has a relevant document.",
            fix="Check that queries and qrels belong together: their query ids must be the same.",
        )
    name = (folder or files.queries or Path()).resolve()
    return Dataset(
        name.name if name.is_dir() else name.stem,
        judged,
        {query: judgments[query] for query in judged},
        corpus,
        bool(meta.get("synthetic")),
    )


def is_synthetic(folder: Path) -> bool:
    """Whether the folder says so of itself; one that cannot be read does not."""
    try:
        return _meta(folder).get("synthetic") is True
    except DatasetInvalid:
        return False


def _meta(folder: Path | None) -> dict[str, object]:
    path = folder / META if folder else None
    if path is None or not path.is_file():
        return {}
    try:
        payload = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        raise DatasetInvalid(f"Couldn't read {path}: {reason}.") from reason
    return payload if isinstance(payload, dict) else {}


def _corpus(files: Files) -> Corpus | None:
    if files.corpus is not None:
        return Corpus(_files(files.corpus))
    if files.folder is None:
        return None
    file = _named(files.folder, _CORPORA)
    if file is not None:
        return Corpus((file,))
    for name in _FOLDERS:
        if (files.folder / name).is_dir():
            return Corpus(_files(files.folder / name))
    return None


def _files(path: Path) -> tuple[Path, ...]:
    """The file itself, or all files in the folder, by name."""
    if path.is_file():
        return (path,)
    inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
    if not inside:
        raise DatasetInvalid(f"No corpus at {path}.")
    return tuple(inside)


def _path_of(named: Path | None, folder: Path | None, names: Sequence[str], part: str) -> Path:
    path = named or (_named(folder, names) if folder else None)
    if path is None:
        where = f"in {folder}" if folder else "given"
        raise DatasetInvalid(
            f"No {part} {where}.",
            fix=f"Name them with --{part}.",
            on_page="Start a new set under another name.",
        )
    return path


def _named(folder: Path, names: Sequence[str]) -> Path | None:
    """The file with the likeliest name. Several that are as likely are a question to the person."""
    for name in names:
        paths = sorted(path for path in folder.glob(name) if path.is_file())
        if len(paths) > 1:
            listed = ", ".join(path.name for path in paths)
            raise DatasetInvalid(
                f"Several files in {folder} match: {listed}.", fix="Name one with an option."
            )
        if paths:
            return paths[0]
    return None
