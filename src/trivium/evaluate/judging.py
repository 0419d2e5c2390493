"""Judgments of one's own library: what to ask a person, and where the answers are kept.

A folder holds judgments.jsonl, to which every query and answer is appended at once and forced to
disk, and what follows from it: queries.jsonl, qrels.tsv and META.json, which `trivium eval` reads.
These are replaced whole, so that a crash leaves either the old or the new ones. Knows nothing of
terminals.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trivium.core.errors import DatasetInvalid, EmptyQuery, ModelUnavailable
from trivium.core.results import Result
from trivium.core.types import Document, Granularity, Mode
from trivium.evaluate.dataset import META, QRELS, QUERIES
from trivium.evaluate.lines import broken
from trivium.library import Library
from trivium.operations.searching import SearchOptions

LOG = "judgments.jsonl"
GRADES = (0, 1, 2)  # not relevant, relevant, exactly what was asked for
DEPTH = 10  # of each way of searching, the documents that are judged


class Judgments:
    """One folder. What one process appends, another does not see until it opens the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.queries: dict[str, str] = {}  # by id
        # By query, then document; None: looked at and skipped.
        self.grades: dict[str, dict[str, int | None]] = {}
        self._order: list[tuple[str, str]] = []  # queries and documents, the last answer last
        self._refuse_others()
        self._load()

    def ask(self, queries: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Keep queries (id, which may be empty, and text), so that judging can continue later;
        returns their texts by id."""
        texts: dict[str, str] = {}
        new = []
        for id_, text in queries:
            known_as = id_ or self._id(text)
            if known_as not in self.queries:
                self.queries[known_as] = text
                new.append({"query": known_as, "text": text})
            elif self.queries[known_as] != text:
                raise DatasetInvalid(
                    f"The query {known_as} is “{self.queries[known_as]}” in {self.folder},"
                    f" not “{text}”.",
                    fix="Give it another id, or judge into another folder with --to.",
                    on_page="Start a new set under another name.",
                )
            texts[known_as] = text
        if new:
            self._append(*new)
        return texts

    def _id(self, text: str) -> str:
        """That of the same query, or a new one."""
        for known_as, other in self.queries.items():
            if other == text:
                return known_as
        number = len(self.queries) + 1
        while f"q{number}" in self.queries:
            number += 1
        return f"q{number}"

    def judge(self, query: str, document: str, grade: int | None) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._append({"query": query, "document": document, "grade": grade, "at": at})
        self._apply(query, document, grade)
        self._publish()

    def undo(self) -> tuple[str, str] | None:
        """Take the last answer back: the query and the document that are open again."""
        if not self._order:
            return None
        query, document = self._order[-1]
        self._append({"undo": True, "query": query, "document": document})
        self._withdraw()
        self._publish()
        return query, document

    def open(self, query: str, documents: Iterable[str]) -> list[str]:
        """Documents that nobody has judged for this query."""
        seen = self.grades.get(query, {})
        return [document for document in documents if document not in seen]

    def counts(self) -> dict[str, int]:
        grades = [grade for of_query in self.grades.values() for grade in of_query.values()]
        answered = [any(grade for grade in of_query.values()) for of_query in self.grades.values()]
        return {
            "queries": len(self.grades),
            "answered": sum(answered),  # with something relevant: those that count
            "judged": sum(grade is not None for grade in grades),
            "relevant": sum(bool(grade) for grade in grades),
            "skipped": sum(grade is None for grade in grades),
        }

    def _refuse_others(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise DatasetInvalid(
                f"{self.folder} isn't a folder.",
                fix="Name another with --to.",
                on_page="Start a new set under another name.",
            )
        if not (self.folder / LOG).exists() and any(
            (self.folder / name).exists() for name in (QUERIES, QRELS, META)
        ):
            raise DatasetInvalid(
                f"{self.folder} has a judged set from somewhere else.",
                fix="Name another folder with --to.",
                on_page="Start a new set under another name.",
            )

    def _load(self) -> None:
        path = self.folder / LOG
        if not path.exists():
            return
        whole = path.read_bytes()
        end = whole.rfind(b"\n") + 1
        if end < len(whole):  # a crash in the middle of a line: that answer was never given
            with path.open("r+b") as file:
                file.truncate(end)
        for number, line in enumerate(whole[:end].split(b"\n")[:-1], start=1):
            try:
                self._replay(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as reason:
                raise broken(path, number, "it isn't a judgment") from reason
        self._publish()

    def _replay(self, row: Any) -> None:
        if "text" in row:
            self.queries[row["query"]] = row["text"]
        elif row.get("undo"):
            self._withdraw()
        elif row["query"] in self.queries:
            self._apply(row["query"], row["document"], row["grade"])
        else:
            raise KeyError(row["query"])

    def _apply(self, query: str, document: str, grade: int | None) -> None:
        self._order.append((query, document))
        self.grades.setdefault(query, {})[document] = grade

    def _withdraw(self) -> None:
        query, document = self._order.pop()
        del self.grades[query][document]
        if not self.grades[query]:
            del self.grades[query]

    def _append(self, *rows: Mapping[str, Any]) -> None:
        with _writing(self.folder), (self.folder / LOG).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())

    def _publish(self) -> None:
        queries = [{"_id": query, "text": self.queries[query]} for query in self.grades]
        rows = [
            (query, document, grade)
            for query, of_query in self.grades.items()
            for document, grade in of_query.items()
            if grade is not None
        ]
        meta = {"judged": "library", "synthetic": False, "grades": list(GRADES)}
        write_set(self.folder, queries, rows, meta)


def write_set(
    folder: Path,
    queries: Iterable[Mapping[str, Any]],
    judgments: Iterable[tuple[str, str, int]],
    meta: Mapping[str, Any],
) -> None:
    """A judged set without a corpus, each file replaced in one step."""
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judgments)]
    texts = {
        QUERIES: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in queries),
        QRELS: "".join(f"{line}\n" for line in lines),
        META: json.dumps(meta, ensure_ascii=False, indent=1) + "\n",
    }
    with _writing(folder):
        for name, text in texts.items():
            new = folder / f".{name}.new"
            new.write_text(text, encoding="utf-8")
            new.replace(folder / name)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as reason:
        raise DatasetInvalid(
            f"Couldn't write {reason.filename or folder}: {reason.strerror}.",
            fix="Name another folder with --to.",
            on_page="Start a new set under another name.",
        ) from reason


def named(document: Document) -> str:
    """How a judgment calls a document: by its uri, which a line of columns must be able to hold."""
    return f"#{document.id}" if set("\t\r\n") & set(document.uri) else document.uri


def pool(library: Library, text: str, depth: int = DEPTH) -> list[Result]:
    """The best documents of every signal, fused and reranked, each once, in an order that doesn't
    reveal where it came from, and the same each time."""
    pooled: dict[str, Result] = {}
    by = Granularity.DOCUMENT
    ways = ((Mode.HYBRID, True), *((mode, False) for mode in Mode))
    for mode, rerank in ways:
        with suppress(ModelUnavailable, EmptyQuery):  # without a model the others still answer
            options = SearchOptions(mode=mode, by=by, rerank=rerank, expand=False)
            results = library.search(text, depth, options=options)
            for result in results:
                pooled.setdefault(named(result.found.document), result)
    order = sorted(pooled)
    random.Random(text).shuffle(order)
    return [pooled[name] for name in order]
