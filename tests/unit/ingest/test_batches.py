"""How many documents are embedded and stored at once."""

import queue
from dataclasses import replace
from typing import cast

import pytest
from tests.reference import open_memory

from trivium.core.types import Labels
from trivium.ingest import embedding
from trivium.ingest.embedding import BATCH_TOKENS, Batches, Embedding, Made
from trivium.ingest.preparing import Prepared, Preparer
from trivium.ingest.tasks import InFlight, Offer
from trivium.ports import SourceItem
from trivium.testing.samples import ToyEmbedder, sample

PREPARED = cast("Preparer", None)  # by nobody: these documents are ready


def flight(number: int) -> InFlight:
    """A document that fills a batch."""
    text = f"Lantern number {number} burns."
    processed = sample(f"text:{number}", text, embedded=False)
    chunks = (replace(processed.chunks[0], tokens=BATCH_TOKENS),)
    item = SourceItem(processed.uri, "", processed.extraction)
    prepared = Prepared(item, replace(processed, chunks=chunks), (text,), None)
    return InFlight(Offer(item, Labels(), PREPARED), prepared=prepared, number=number)


@pytest.mark.parametrize(("seconds", "sizes"), [(0.0, [1, 2, 4, 1]), (1.0, [1] * 8)])
def test_a_fast_model_gets_more_documents_at_once(
    monkeypatch: pytest.MonkeyPatch, seconds: float, sizes: list[int]
) -> None:
    """`seconds`: of each batch."""
    clock = iter(n * seconds for n in range(1000))
    monkeypatch.setattr(embedding, "perf_counter", lambda: next(clock))
    stored: queue.Queue[list[int]] = queue.Queue()
    bugs: list[BaseException] = []

    def store(batch: list[InFlight], made: Made) -> None:
        assert set(made.vectors) == {hash_ for one in batch for hash_ in one.hashes}
        stored.put([one.number for one in batch])

    batches = Batches(Embedding(open_memory(), ToyEmbedder()), store, bugs.append)
    for number in range(8):
        batches.add(flight(number))
    batches.hurry()
    batches.start()
    found = [stored.get(timeout=60) for _ in sizes]
    batches.stop()
    batches.join()
    assert [len(batch) for batch in found] == sizes
    assert [number for batch in found for number in batch] == list(range(8))
    assert bugs == []
