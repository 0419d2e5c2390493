"""An error with one document, in any step and of any kind, fails only that document: it gets a
code, a sentence and an entry in the log, and the others are added."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DataError
from tests.unit.extract.test_pdf_maker import PdfMaker

from trivium.chunk.choose import AutoChunker
from trivium.core.errors import DiskFull, StoreError
from trivium.core.work import JobState
from trivium.extract.sandbox import Sandbox
from trivium.ingest.outcomes import Fate
from trivium.ingest.preparing import Preparer
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.sources import folder as folder_source
from trivium.store.blobs import KeptOriginals
from trivium.store.embedded.indexes import Indexes
from trivium.store.sql.documents import SqlDocuments
from trivium.store.sql.staging import Staging
from trivium.testing.samples import ToyEmbedder
from trivium.text.summary import ExtractiveSummariser

ROOT = Path(__file__).parents[2]


class PanicException(BaseException):
    """As pyo3 raises it for a panic in Rust: no `Exception`."""


KINDS: dict[str, Callable[[], BaseException]] = {
    "value": lambda: ValueError("no such value"),
    "unicode": lambda: UnicodeEncodeError("utf-8", "\ud835", 0, 1, "surrogates not allowed"),
    "memory": MemoryError,
    "recursion": lambda: RecursionError("maximum recursion depth exceeded"),
    "panic": lambda: PanicException("index out of bounds: the len is 1 but the index is 7"),
    "os": lambda: OSError(errno.EIO, "Input/output error"),
    "data": lambda: DataError("INSERT INTO chunks", {}, Exception("string or blob too big")),
    "overflow": lambda: OverflowError("Python int too large to convert to SQLite INTEGER"),
}
POISON = re.compile(r"poison-(\w+)")
EACH = 4  # documents for each kind of error


def strike(told: object, kinds: set[str]) -> None:
    """Raise what the document asks for that is named here."""
    found = POISON.search(str(told))
    if found and found[1] in kinds:
        raise KINDS[found[1]]()


def words(processed: Any) -> str:
    return " ".join(one.extraction.text for one in processed)


# Each step: where it is done, and what tells there which documents are worked on.
STEPS: dict[str, tuple[Any, str, Callable[..., object]]] = {
    "fetch": (folder_source, "read", lambda path: path.name),
    "compare": (SqlDocuments, "find_all", lambda _, uris, __: uris),
    "recall": (Preparer, "_recall", lambda _, one, *__: one.item.name),
    "extract": (Sandbox, "read_all", lambda _, blobs: [blob.name for blob in blobs]),
    "chunk": (AutoChunker, "chunk", lambda _, extraction: extraction.text),
    "summarise": (ExtractiveSummariser, "summarise", lambda _, extraction: extraction.text),
    "archive": (KeptOriginals, "keep", lambda _, data: data),
    "embed": (ToyEmbedder, "embed_documents", lambda _, texts: texts),
    "stage": (Staging, "stage", lambda _, batch, __: words(batch)),
    "index": (Indexes, "add", lambda _, chunks: [chunk.text for chunk in chunks]),
    "activate": (
        Staging,
        "activate",
        lambda _, staged, *__: [chunk.text for one in staged for chunk in one.indexed],
    ),
}
STORED = ("stage", "index", "activate")


def inject(patch: pytest.MonkeyPatch, step: str, kinds: set[str]) -> None:
    owner, name, told = STEPS[step]
    real = getattr(owner, name)

    def struck(*given: Any, **named: Any) -> Any:
        strike(told(*given), kinds)
        return real(*given, **named)

    patch.setattr(owner, name, struck)


def write(folder: Path, kinds: set[str]) -> list[Path]:
    """So many documents for each kind of error, one of which meets it. Long enough for a
    summary."""
    paths = []
    for number, kind in enumerate(sorted(kinds)):
        for n in range(EACH):
            name = f"poison-{kind}" if n == EACH // 2 else f"good-{number}-{n}"
            path = folder / f"{name}.txt"
            sentences = " ".join(f"Sentence {i} of the note {name} speaks." for i in range(120))
            path.write_text(f"{name} begins here.\n\n{sentences}")
            paths.append(path)
    return paths


@pytest.mark.parametrize("step", STEPS)
def test_all_but_one_are_added(
    step: str,
    library: Library,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    kinds = set(KINDS)
    if step in STORED:
        kinds.remove("os")  # the store's own disk: see below
    write(files, kinds)
    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR, "trivium.ingest"):
        inject(patch, step, kinds)
        report = library.add(files)
    assert report.counts == {Fate.ADDED: (EACH - 1) * len(kinds), Fate.FAILED: len(kinds)}
    failed = {POISON.search(one.uri)[1]: one.error for one in report.failed}  # type: ignore[index]
    assert set(failed) == kinds
    for kind, error in failed.items():
        assert error is not None
        assert error.code == "document.failed"
        assert f"Couldn't add poison-{kind}.txt" in str(error)
        assert type(KINDS[kind]()).__name__ in str(error)
        entry = re.search(r"entry ([0-9a-f]{8}) of the log", str(error))
        assert entry, error
        (record,) = [r for r in caplog.records if entry[1] in r.getMessage()]
        assert record.exc_info
        assert record.exc_info[1] is not None
    assert report.job is not None
    assert report.job.state is JobState.FAILED
    assert {t.code for t in library.jobs.tasks(report.job.id) if t.code} == {"document.failed"}
    health = library.upkeep.health()
    assert health["chunks"] == health["words"] == health["vectors"]
    assert len(library.search("good note", 100)) > 0
    again = library.add(files)
    assert again.counts == {Fate.UNCHANGED: (EACH - 1) * len(kinds), Fate.ADDED: len(kinds)}
    with library.backend.writer.writing():
        pass  # the next writer clears up
    assert library.upkeep.health()["leftovers"] == 0


@pytest.mark.parametrize("step", STORED)
def test_what_concerns_the_store_still_stops_the_job(
    step: str, library: Library, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(files, {"os"})
    for kind, number in ((DiskFull, errno.ENOSPC), (StoreError, errno.EIO)):
        with monkeypatch.context() as patch:
            patch.setitem(KINDS, "os", lambda number=number: OSError(number, os.strerror(number)))
            inject(patch, step, {"os"})
            for _ in range(3):  # it is no document's fault, so none is ever set aside
                with pytest.raises(kind):
                    library.jobs.work() if library.jobs.all(ended=False) else library.add(files)
    report = library.jobs.work()
    assert Fate.FAILED not in report.counts
    assert len(library.documents.all()) == EACH


def test_one_that_kills_the_program_twice_is_set_aside(tmp_path: Path) -> None:
    """The chunker ends the process, as one does that the system kills for its memory."""
    files = tmp_path / "files"
    files.mkdir()
    write(files, {"value"})
    program = """
import os, signal, sys
from pathlib import Path
from trivium.chunk.choose import AutoChunker
from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

real = AutoChunker.chunk
def chunk(self, extraction):
    if "poison" in extraction.text:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, extraction)
AutoChunker.chunk = chunk
with Library(open_embedded(Path(sys.argv[1])), TOY, Settings()) as library:
    library.jobs.work() if library.jobs.all(ended=False) else library.add(sys.argv[2])
    (job,) = library.jobs.all()
    print(job.ended, job.failed, len(library.documents.all()))
    print(*(f"{t.name} {t.code} {t.message}" for t in library.jobs.tasks(job.id) if t.code))
"""
    command = [sys.executable, "-c", program, str(tmp_path / "library"), str(files)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(3)]
    assert [run.returncode for run in runs] == [-signal.SIGKILL, -signal.SIGKILL, 0], runs
    counts, failed = runs[2].stdout.splitlines()
    assert counts == f"{EACH} 1 {EACH - 1}"
    assert failed.startswith("poison-value.txt document.set_aside Couldn't add poison-value.txt")


def test_the_program_says_where_its_log_is(tmp_path: Path) -> None:
    files, place = tmp_path / "files", tmp_path / "library"
    files.mkdir()
    (files / "good.txt").write_text("A note about amber.")
    (files / "bad.txt").write_text("A poison note.")
    program = """
import sys
from trivium.chunk.choose import AutoChunker
from trivium.cli.main import run
real = AutoChunker.chunk
def chunk(self, extraction):
    if "poison" in extraction.text and "well" not in sys.argv:
        raise IndexError("list index out of range")
    return real(self, extraction)
AutoChunker.chunk = chunk
sys.exit(run([a for a in sys.argv[1:] if a != "well"]))
"""

    def call(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, "add", str(files), "--library", str(place), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    answer = call()
    assert answer.returncode == 1, answer
    assert "1 added, 1 failed" in answer.stdout
    assert "document.failed" in answer.stdout
    assert "Traceback" not in answer.stdout + answer.stderr
    log = place / "trivium.log"
    assert str(log) in answer.stderr.replace("\n", "")
    entry = re.search(r"entry ([0-9a-f]{8}) of", answer.stdout)
    assert entry
    told = log.read_text()
    assert f"[{entry[1]}] bad.txt failed at the step chunk" in told
    assert "IndexError: list index out of range" in told
    assert call("well").returncode == 0


def test_a_pdf_with_characters_above_the_first_plane(library: Library, files: Path) -> None:
    """Word's equations and emoji: pdfium gives each as two halves of a surrogate pair."""
    maker = PdfMaker(meanings={"#": "\U0001d465", "@": "\U0001f600", "~": "\ud835"})
    maker.page().text(72, 72, "Solve # squared for me @ and a#b ~ here")
    (files / "equation.pdf").write_bytes(maker.build())
    for n in range(3):
        (files / f"{n}.txt").write_text(f"A good file beside it, number {n}.")
    report = library.add(files)
    assert report.counts == {Fate.ADDED: 4}
    (found,) = library.search("squared", options=SearchOptions(limit=1, mode="keyword"))
    text = found.found.chunk.text
    assert "Solve \U0001d465 squared for me \U0001f600 and a\U0001d465b" in text
    assert library.documents.text(found.found.document.id).encode()
