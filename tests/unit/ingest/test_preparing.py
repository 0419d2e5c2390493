"""Documents prepared together: an error with one of them doesn't affect the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reference import open_memory

from trivium.chunk.choose import AutoChunker
from trivium.core.errors import DocumentFailed, FileEmpty, FileUnreadable, ReadError
from trivium.core.types import OWNER, Chunk, Extraction, Labels
from trivium.extract.detect import BUILT_IN, read
from trivium.ingest.embedding import Embedding
from trivium.ingest.outcomes import Fate, Outcome, Steps
from trivium.ingest.preparing import Decision, Preparation, Prepared, Preparer
from trivium.ingest.run import TOGETHER, Pipeline
from trivium.ingest.tasks import Offer, TaskRecords
from trivium.ports import Backend, Blob, SourceItem
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, ToyEmbedder
from trivium.text.tokens import Cl100kTokens

if TYPE_CHECKING:
    from trivium.core.types import Vectors


def here(blobs: Sequence[Blob]) -> list[Extraction | ReadError]:
    """Reads in this process. A file that says so breaks its reader."""
    outcomes: list[Extraction | ReadError] = []
    for blob in blobs:
        if b"broken reader" in blob.data:
            raise ZeroDivisionError("no sense")
        try:
            outcomes.append(read(blob))
        except ReadError as error:
            outcomes.append(error)
    return outcomes


class Clumsy(AutoChunker):
    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]:
        if "broken chunker" in extraction.text:
            raise IndexError("out of range")
        return super().chunk(extraction)


def gone() -> bytes:
    raise FileUnreadable("c.txt is no longer there.")


def preparer(store: Backend, kind: type[Preparer] = Preparer) -> Preparer:
    chunker = Clumsy(Cl100kTokens(), 400, 80, 40, ceiling=400, most=100, strategy="auto")
    return kind(store, chunker, here, BUILT_IN, max_bytes=1000, max_chunks=1)


def item(name: str, data: bytes) -> SourceItem:
    return SourceItem(f"/{name}", name, lambda: data, len(data))


def prepared(store: Backend, *items: SourceItem) -> list[Decision]:
    return preparer(store).prepare([Preparation(one, Steps()) for one in items], Labels())


def kind(found: Decision) -> str:
    return type(found.error).__name__ if isinstance(found, Outcome) else type(found).__name__


def test_each_has_its_own_outcome() -> None:
    found = prepared(
        open_memory(),
        item("a.txt", b"amber"),
        item("b.txt", b"a broken reader"),
        SourceItem("/c.txt", "c.txt", gone, 5),
        item("d.txt", b"a broken chunker"),
        item("e.txt", b"   "),
        item("f.txt", b"x" * 1001),
        SourceItem("/g", "g", Extraction("told by its source", (), "G", "text/plain")),
        item("h.txt", b"silver"),
        item("i.md", b"# One\n\n" + b"slate " * 60 + b"\n\n# Two\n\n" + b"flint " * 60),
    )
    assert [kind(one) for one in found] == [
        "Prepared",
        DocumentFailed.__name__,
        FileUnreadable.__name__,
        DocumentFailed.__name__,
        FileEmpty.__name__,
        "FileTooLarge",
        "Prepared",
        "Prepared",
        "FileTooLarge",
    ]
    texts = [one.processed.extraction.text for one in found if isinstance(one, Prepared)]
    assert texts == ["amber", "told by its source", "silver"]
    assert "b.txt: something went wrong at the step extract (ZeroDivisionError: no sense)" in str(
        found[1].error  # type: ignore[union-attr]
    )
    assert "d.txt: something went wrong at the step chunk (IndexError: out of range)" in str(
        found[3].error  # type: ignore[union-attr]
    )


def test_what_is_known_is_told_from_what_is_new() -> None:
    store = open_memory()
    embedding = Embedding(store, TOY)
    many = [item(f"{n}.txt", b"text %d" % n) for n in range(3 * TOGETHER)]

    def fates(*items: SourceItem) -> list[Fate]:
        maker = preparer(store)
        with Pipeline(store, embedding, readers=2) as pipeline:
            done = list(pipeline.run(Offer(one, Labels(), maker) for one in items))
        return [
            one.fate for one in sorted(done, key=lambda one: [i.uri for i in items].index(one.uri))
        ]

    assert fates(*many) == [Fate.ADDED] * len(many)
    changed = [*many[:2], item("2.txt", b"another"), item("copy.txt", b"text 4"), *many[5:]]
    wanted = (
        [Fate.UNCHANGED] * 2 + [Fate.UPDATED, Fate.DUPLICATE] + [Fate.UNCHANGED] * len(many[5:])
    )
    assert fates(*changed) == wanted
    twins = [item("one.txt", b"the same"), item("two.txt", b"the same"), item("x.txt", b"other")]
    assert fates(*twins) == [Fate.ADDED, Fate.DUPLICATE, Fate.ADDED]
    assert store.documents.find("/two.txt", "default") == store.documents.find(
        "/one.txt", "default"
    )
    assert len(store.documents.all(OWNER)) == len(many) + 2


def test_small_documents_of_several_jobs_are_prepared_together() -> None:
    groups: list[list[str]] = []

    class Noting(Preparer):
        def prepare(self, asked: Sequence[Preparation], labels: Labels) -> list[Decision]:
            groups.append([one.item.uri for one in asked])
            return super().prepare(asked, labels)

    store = open_memory()
    maker, wanted = preparer(store, Noting), [f"/{n}.txt" for n in range(TOGETHER)]
    offers = [
        Offer(item(uri[1:], uri.encode()), Labels(), maker, n) for n, uri in enumerate(wanted)
    ]
    with Pipeline(store, Embedding(store, TOY), readers=1) as pipeline:
        pipeline._cancelled.add(3)
        fates = {outcome.uri: outcome.fate for outcome in pipeline.run(offers)}
    assert fates.pop(wanted.pop(3)) is Fate.CANCELLED
    assert fates == dict.fromkeys(wanted, Fate.ADDED)
    assert groups == [wanted]


def test_what_comes_while_the_last_are_embedded_does_not_wait_for_the_end(tmp_path: Path) -> None:
    asked = threading.Event()

    class Slow(ToyEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            assert asked.wait(600), "nobody looked for more"
            return super().embed_documents(texts)

    store = open_embedded(tmp_path / "library")
    with closing(store), store.writer.writing():
        maker = preparer(store)

        def more(hears: bool) -> Iterator[Offer]:
            assert not hears
            if not asked.is_set():
                asked.set()
                yield Offer(item("urgent.txt", b"at once"), Labels(), maker, priority=0)

        embedding, records = Embedding(store, Slow()), TaskRecords(store.queue)
        with Pipeline(store, embedding, readers=1, records=records) as pipeline:
            bulk = [Offer(item(f"{n}.txt", b"text %d" % n), Labels(), maker) for n in range(3)]
            done = [outcome.uri for outcome in pipeline.run(bulk, more)]
    assert sorted(done) == ["/0.txt", "/1.txt", "/2.txt", "/urgent.txt"]


def test_time_spent_together_is_shared() -> None:
    steps = [Steps() for _ in range(4)]
    asked = [Preparation(item(f"{n}.txt", b"text %d" % n), one) for n, one in enumerate(steps)]
    preparer(open_memory()).prepare(asked, Labels())
    assert all(
        set(one.seconds) == {"extract", "register", "chunk", "interpret", "archive"}
        for one in steps
    )
