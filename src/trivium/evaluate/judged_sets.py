"""The judged sets that a library keeps, and the evaluations saved beside them.

    NAME/             what `trivium judge` writes: judgments, queries, qrels
    NAME/runs/*.json  saved evaluations, by the time they were made

Finds and keeps; what judging, making up and measuring are, others know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from trivium.core.errors import DatasetInvalid, EvaluationNotFound
from trivium.core.types import Told, says
from trivium.evaluate import saved
from trivium.evaluate.dataset import META, QRELS, QUERIES, is_synthetic
from trivium.evaluate.judging import LOG, Judgments
from trivium.evaluate.run import Evaluation
from trivium.evaluate.synthetic import Synthetic, write_synthetic
from trivium.evaluate.topics import read_judgments, read_queries
from trivium.ports import Shelf

RUNS = "runs"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # no way, no dot: it becomes a folder


@dataclass(frozen=True, slots=True)
class JudgedSet(Told):
    name: str
    queries: int
    judged: int = field(metadata=says("Number of judged documents, over all queries."))
    relevant: int
    synthetic: bool = field(metadata=says("Generated: no person asked or judged these queries."))
    runs: int = field(metadata=says("Number of saved evaluations."))


@dataclass(frozen=True, slots=True)
class SavedRun:
    id: str
    found: Evaluation


class JudgedSets:
    """Of one library."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def all(self) -> list[JudgedSet]:
        """By name."""
        judged_sets: list[JudgedSet] = []
        for name in filter(_NAME.fullmatch, self._shelf.names()):
            with self._shelf.reading(name) as folder:
                judged_sets += [_judged_set(folder)] if _is_set(folder) else []
        return judged_sets

    def check(self, name: str) -> None:
        """Raises EvaluationNotFound if there is no such set."""
        with self.folder_of(name):
            pass

    @contextmanager
    def folder_of(self, name: str) -> Iterator[Path]:
        """The files of an existing set, for reading."""
        with self._shelf.reading(_checked(name)) as folder:
            if not _is_set(folder):
                raise EvaluationNotFound(f"No judged set {name} in this library.")
            yield folder

    def judgments(self, name: str) -> Judgments:
        """What people said. A synthetic set has none."""
        with self.folder_of(name) as folder:
            return Judgments(folder)

    def judge(self, name: str, query: str, document: str, grade: int | None) -> str:
        """Store a judgment of one document for one query; None: seen and skipped. Creates the set
        if needed. Returns the query's id."""
        with self._shelf.writing(_checked(name)) as folder:
            judgments = Judgments(folder)
            (known_as,) = judgments.ask([("", query)])
            judgments.judge(known_as, document, grade)
        return known_as

    def synthesise(self, name: str, made: list[Synthetic], seed: int) -> JudgedSet:
        """Keep a set of queries that were made up. Replaces an older one of the same kind."""
        with self._shelf.writing(_checked(name)) as folder:
            write_synthetic(folder, made, seed)
            return _judged_set(folder)

    def runs(self, name: str) -> list[SavedRun]:
        """The newest first."""
        with self.folder_of(name) as folder:
            files = sorted((folder / RUNS).glob("*.json"), reverse=True)
            return [SavedRun(file.stem, saved.recall(file)) for file in files]

    def run(self, name: str, id_: str) -> SavedRun:
        with self.folder_of(name) as folder:
            file = folder / RUNS / f"{id_}.json"
            if not _NAME.fullmatch(id_) or not file.is_file():
                raise EvaluationNotFound(f"No saved evaluation {id_} of {name}.")
            return SavedRun(id_, saved.recall(file))

    def keep(self, name: str, evaluation: Evaluation) -> str:
        """Save an evaluation; its id, by which those of a set are in order of time."""
        self.check(name)
        id_ = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(2)}"
        with self._shelf.writing(name) as folder:
            (folder / RUNS).mkdir(exist_ok=True)
            new = folder / RUNS / f".{id_}.new"
            saved.save(new, evaluation)
            new.replace(folder / RUNS / f"{id_}.json")
        return id_

    def compared(self, name: str, now: str, before: str) -> saved.Comparison:
        """Two saved evaluations, on the queries that both asked."""
        earlier = self.run(name, before).found
        return saved.compared(self.run(name, now).found, saved.as_saved(earlier))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise DatasetInvalid(
            f"A judged set can't be named {name!r}.", fix="Use up to 100 letters, digits, - and _."
        )
    return name


def _is_set(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (LOG, QUERIES, META))


def _judged_set(folder: Path) -> JudgedSet:
    queries = read_queries(folder / QUERIES) if (folder / QUERIES).is_file() else {}
    judged = read_judgments(folder / QRELS) if (folder / QRELS).is_file() else {}
    grades = [grade for of_query in judged.values() for grade in of_query.values()]
    return JudgedSet(
        folder.name,
        len(queries),
        len(grades),
        sum(grade > 0 for grade in grades),
        is_synthetic(folder),
        len(list((folder / RUNS).glob("*.json"))),
    )
