"""How fast real texts are added, model included, compared with the model alone.

For the cost of indexing without the model, see the build times of `bench.compare`: there every
system gets the same rows with their vectors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from trivium.config import Settings
from trivium.core.types import Extraction, Labels
from trivium.evaluate.dataset import Dataset, load_dataset
from trivium.library import Library, embedder_for
from trivium.ports import Embedder, SourceItem

SET = "scifact"  # abstracts: about one chunk each
TEXTS = 200


@dataclass(frozen=True, slots=True)
class First:
    """The first documents of a set, as a source."""

    of: Dataset
    count: int

    def items(self) -> Iterator[SourceItem]:
        return islice(self.of.items(), self.count)


def rates(data: Path, settings: Settings) -> dict[str, Any]:
    """The model is timed before and after, so that a machine that changes is seen."""
    source = First(load_dataset(data / "retrieval" / SET), TEXTS)
    embedder = embedder_for(settings)
    texts = [item.content.text for item in source.items() if isinstance(item.content, Extraction)]
    before = _model_rate(embedder, texts)
    with (
        tempfile.TemporaryDirectory() as folder,
        Library.open(Path(folder) / "library", settings=settings) as library,
    ):
        report = library.add_from(source, Labels())
    return {
        "set": SET,
        "texts": len(texts),
        "chunks": report.chunks,
        "model_texts_per_second": [before, _model_rate(embedder, texts)],
        "trivium_texts_per_second": round(len(texts) / report.seconds, 2),
        "share_in_model": round(report.embedding_seconds / report.seconds, 3),
    }


def _model_rate(embedder: Embedder, texts: list[str]) -> float:
    embedder.embed_documents(texts[:8])  # loads it
    started = perf_counter()
    embedder.embed_documents(texts)
    return round(len(texts) / (perf_counter() - started), 2)
