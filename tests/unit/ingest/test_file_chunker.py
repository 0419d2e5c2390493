"""Documents are chunked where they are read: by another process, under its limits."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from trivium.chunk.choose import AutoChunker
from trivium.config import Settings
from trivium.core.errors import FileTooLarge
from trivium.core.types import Box, Chunk, Chunked, Extraction, Place
from trivium.extract.cleaning import cleaned
from trivium.extract.detect import read
from trivium.extract.sandbox import Sandbox
from trivium.extract.wire import pack_chunked, structure_of, unpack
from trivium.extract.worker import LARGE_ELEMENTS, LARGE_TEXT
from trivium.ingest.extractors import CHUNKER, ChunkingPlan
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.models import cuda
from trivium.ports import Blob
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder
from trivium.text.nearness import sketch
from trivium.text.summary import ExtractiveSummariser
from trivium.text.tokens import Cl100kTokens

ROOT = Path(__file__).parents[3]
PLAN = ChunkingPlan(400, 80, 40, 2000, 100, "auto", 50_000)
PARAGRAPH = "The harbour has seven cranes. A bell is rung when fog comes in from the sea.\n\n"
LARGE = "# Harbour\n\n" + PARAGRAPH * (LARGE_TEXT // len(PARAGRAPH) + 1)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(1, chunker=CHUNKER) as made:
        yield made


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("text.md", LARGE),
        ("rows.csv", "id,name\n" + "".join(f"{n},n\n" for n in range(LARGE_ELEMENTS + 1))),
    ],
)
def test_chunks_summary_and_note_are_what_this_process_would_make(
    name: str, text: str, sandbox: Sandbox
) -> None:
    blob = Blob(name, text.encode())
    expected = cleaned(read(blob))
    chunker = PLAN.chunker(Cl100kTokens())
    (found,) = sandbox.read_all([blob], PLAN.as_text())
    assert isinstance(found, Extraction)
    assert found.chunked is not None
    assert found.chunked.chunks == chunker.chunk(expected)
    assert found.chunked.fingerprint == chunker.fingerprint
    assert found.chunked.sketch == sketch(expected.text)
    assert found.chunked.summary == ExtractiveSummariser().summarise(expected)
    assert (found.elements, found.element_count) == ((), len(expected.elements))
    assert replace(found, chunked=None, elements=expected.elements) == expected


def test_a_title_that_the_source_knows_stands_over_every_chunk(sandbox: Sandbox) -> None:
    (found,) = sandbox.read_all([Blob("a.txt", LARGE.encode(), "Known")], PLAN.as_text())
    assert isinstance(found, Extraction)
    assert found.chunked is not None
    assert {chunk.headings[0] for chunk in found.chunked.chunks} == {"Known"}


def test_a_library_is_the_same_wherever_its_documents_are_chunked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "Harbour"
    shutil.copytree(ROOT / "tests" / "golden" / "files", files)

    def chunks(name: str) -> dict[str, list[Chunk]]:
        with Library(open_embedded(tmp_path / name), ToyEmbedder(), Settings()) as library:
            library.add(files)
            documents = library.documents
            return {
                f"{one.uri} {one.title}": [kept.chunk for kept in documents.passages(one.id)]
                for one in documents.all()
            }

    here = chunks("here")
    monkeypatch.setattr(cuda, "likely", lambda: True)
    monkeypatch.setattr(AutoChunker, "chunk", None)  # nothing is chunked in this process
    assert chunks("there") == here
    assert any(name.endswith(" Harbour/table.csv") for name in here)


def test_small_documents_and_callers_without_a_plan_get_elements(sandbox: Sandbox) -> None:
    small, large = Blob("a.md", b"# One\n\nfirst"), Blob("a.md", LARGE.encode())
    for blob, plan in ((small, PLAN.as_text()), (large, "")):
        (found,) = sandbox.read_all([blob], plan)
        assert isinstance(found, Extraction)
        assert found.chunked is None
        assert found.elements


def test_too_many_chunks_are_one_documents_failure(sandbox: Sandbox) -> None:
    few = replace(PLAN, limit=10).as_text()
    large, small = sandbox.read_all([Blob("a.md", LARGE.encode()), Blob("b.md", b"Words.")], few)
    assert isinstance(large, FileTooLarge)
    assert "the limit is 10" in large.message
    assert "chunk.limit" in large.fix
    assert isinstance(small, Extraction)


def test_a_text_is_cleaned_before_it_is_chunked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "fuzz")
    blob = Blob("told.txt", b"say " + b"wo\x00rd " * (LARGE_TEXT // 5))
    with Sandbox(1, extractors="nasty:EXTRACTORS", chunker=CHUNKER) as sandbox:
        (found,) = sandbox.read_all([blob], PLAN.as_text())
    assert isinstance(found, Extraction)
    assert found.chunked is not None
    assert found.text.split() == ["word"] * (LARGE_TEXT // 5)
    assert found.chunked.chunks == PLAN.chunker(Cl100kTokens()).chunk(found)


def test_chunking_beyond_the_memory_is_a_typed_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "fuzz")
    with Sandbox(1, memory_bytes=400 << 20, chunker="nasty:swelling") as sandbox:
        large, small = sandbox.read_all([Blob("a.md", LARGE.encode()), Blob("b.md", b"x")], "any")
    assert isinstance(large, FileTooLarge)
    assert "memory" in large.message
    assert isinstance(small, Extraction)


def test_a_library_chunks_large_files_elsewhere_and_small_ones_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunked: list[int] = []
    real = AutoChunker.chunk

    def chunk(self: AutoChunker, extraction: Extraction) -> tuple[Chunk, ...]:
        chunked.append(len(extraction.text))
        return real(self, extraction)

    monkeypatch.setattr(AutoChunker, "chunk", chunk)
    files = tmp_path / "files"
    files.mkdir()
    (files / "large.md").write_text(LARGE)
    (files / "small.md").write_text("# Bell\n\nA bell.")
    with Library(open_embedded(tmp_path / "l"), ToyEmbedder(), Settings()) as library:
        report = library.add(files)
        assert {outcome.fate for outcome in report.outcomes} == {Fate.ADDED}
        counts = {o.document.title: o.document.chunks for o in report.outcomes if o.document}
    assert counts["Harbour"] > 50
    assert chunked
    assert max(chunked) < LARGE_TEXT


def _wired(chunk: Chunk, text: str = "some text", sketched: bytes = b"") -> Extraction:
    attached: list[bytes] = []
    extraction = Extraction(text, (), "Title", "text/plain")
    structure = pack_chunked(extraction, Chunked((chunk,), "by", sketch=sketched), attached)
    return cleaned(unpack(structure_of(json.dumps(structure).encode()), b"".join(attached)))


def test_chunks_come_through_the_wire_as_they_were() -> None:
    place = Place(pages=(1, 2), boxes=(Box(1, 0.0, 0.0, 1.0, 1.0),), rows=(1, 2))
    chunk = Chunk(0, 5, 9, "text", ("h" * 5000,), "methods", "a,b", 3, 7, place)
    sketched = sketch("some text of more words")
    assert _wired(chunk, sketched=sketched).chunked == Chunked((chunk,), "by", sketch=sketched)


@pytest.mark.parametrize("size", [3, 516])
def test_a_sketch_that_no_text_has_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="sketch"):
        _wired(Chunk(0, 5, 9, "text"), sketched=bytes(size))


@pytest.mark.parametrize(
    "chunk",
    [
        Chunk(0, 5, 10, "beyond"),
        Chunk(0, -1, 4, "before"),
        Chunk(0, 4, 4, ""),
        Chunk(0, 0, 4, "some", ("\x00",)),
        Chunk(0, 0, 4, "some", header="\ud800"),
        Chunk(0, 0, 4, "some", place=Place(boxes=(Box(1, float("nan"), 0.0, 1.0, 1.0),))),
    ],
)
def test_a_chunk_that_no_reader_of_ours_makes_is_refused(chunk: Chunk) -> None:
    with pytest.raises(ValueError, match=r"beyond|clean"):
        _wired(chunk)
