"""The judged sets that a library keeps in its own folder, and the evaluations saved beside them.

    evaluation/NAME/             what `trivium judge` writes: judgments, queries, qrels
    evaluation/NAME/runs/*.json  saved evaluations, by the time they were made

Finds and keeps; what judging, making up and measuring are, others know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from filelock import FileLock, Timeout

from trivium.errors import DatasetInvalid, EvaluationNotFound, LibraryBusy, LibraryNotFound
from trivium.evaluate import saved
from trivium.evaluate.dataset import META, QRELS, QUERIES, is_synthetic
from trivium.evaluate.judging import LOG, Judgments
from trivium.evaluate.run import Evaluation
from trivium.evaluate.synthetic import Synthetic, write_synthetic
from trivium.evaluate.topics import read_judgments, read_queries

FOLDER = "evaluation"
RUNS = "runs"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # no way, no dot: it becomes a folder
_PATIENCE = 5.0  # seconds for another judgment to be written


@dataclass(frozen=True, slots=True)
class JudgedSet:
    name: str
    queries: int
    judged: int  # documents, of all queries
    relevant: int
    synthetic: bool  # no person asked or judged any of it
    runs: int  # saved evaluations


@dataclass(frozen=True, slots=True)
class SavedRun:
    id: str
    found: Evaluation


class Shelf:
    """Of one library, by its folder."""

    def __init__(self, library: Path) -> None:
        self._folder = library / FOLDER

    def sets(self) -> list[JudgedSet]:
        """By name."""
        folders = sorted(self._folder.glob("*")) if self._folder.is_dir() else []
        return [_told(one) for one in folders if _NAME.fullmatch(one.name) and _is_set(one)]

    def set_of(self, name: str) -> Path:
        """The folder of a set that there is."""
        folder = self._place(name)
        if not _is_set(folder):
            raise EvaluationNotFound(f"The library keeps no judged set {name}.")
        return folder

    def judgments(self, name: str) -> Judgments:
        """What people said. A synthetic set has none."""
        return Judgments(self.set_of(name))

    def judge(self, name: str, query: str, document: str, grade: int | None) -> str:
        """What someone says of one document for one query, which it is asked under from now on;
        None: looked at and skipped. Begins the set where there is none. The query's id."""
        with self._alone(name):
            judgments = Judgments(self._place(name))
            (known_as,) = judgments.ask([("", query)])
            judgments.judge(known_as, document, grade)
        return known_as

    def synthesise(self, name: str, made: list[Synthetic], seed: int) -> JudgedSet:
        """Keep a set of queries that were made up. Replaces an older one of the same kind."""
        with self._alone(name):
            write_synthetic(self._place(name), made, seed)
        return _told(self._place(name))

    def runs(self, name: str) -> list[SavedRun]:
        """The newest first."""
        files = sorted((self.set_of(name) / RUNS).glob("*.json"), reverse=True)
        return [SavedRun(file.stem, saved.recall(file)) for file in files]

    def run(self, name: str, id_: str) -> SavedRun:
        file = self.set_of(name) / RUNS / f"{id_}.json"
        if not _NAME.fullmatch(id_) or not file.is_file():
            raise EvaluationNotFound(f"There is no saved evaluation {id_} of {name}.")
        return SavedRun(id_, saved.recall(file))

    def keep(self, name: str, found: Evaluation) -> str:
        """Save an evaluation; its id, by which those of a set are in order of time."""
        folder = self.set_of(name) / RUNS
        folder.mkdir(exist_ok=True)
        id_ = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(2)}"
        new = folder / f".{id_}.new"
        saved.save(new, found)
        new.replace(folder / f"{id_}.json")
        return id_

    def compared(self, name: str, now: str, before: str) -> saved.Comparison:
        """Two saved evaluations, on the queries that both asked."""
        earlier = self.run(name, before).found
        return saved.compared(self.run(name, now).found, saved.kept(earlier))

    def _place(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise DatasetInvalid(
                f"{name!r} is no name of a judged set.",
                fix="It takes letters, digits, - and _, up to 100.",
            )
        return self._folder / name

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        self._place(name)
        try:
            self._folder.mkdir(exist_ok=True)
        except FileNotFoundError as reason:
            raise LibraryNotFound(
                f"The library's folder {self._folder.parent} is gone."
            ) from reason
        try:
            with FileLock(self._folder / ".lock").acquire(timeout=_PATIENCE):
                yield
        except Timeout as reason:
            raise LibraryBusy("Another process is writing judgments.") from reason


def _is_set(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (LOG, QUERIES, META))


def _told(folder: Path) -> JudgedSet:
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
